from time import process_time

import pytest

from ingest.extract.lexicon import codes, find, language
from ingest.extract.questions import explicit, implicit
from ingest.extract.status import accepts
from ingest.extract.turns import Sentence


def said(text: str, code: str = "en") -> Sentence:
    return Sentence(text, find(text, code), code)


FAMILIES = {
    "ask", "task", "problem", "rhetorical", "greeting", "accept", "answer", "drop", "frontier",
    "correction", "decision", "texture", "continuity", "scope", "relation", "target", "unless",
    "praise", "choice",
}  # fmt: skip


def test_seven_languages_are_there():
    assert codes() == ("de", "en", "es", "fr", "hi", "ja", "zh")


@pytest.mark.parametrize("code", codes())
def test_every_language_has_every_family(code):
    spoken = language(code)
    cues = [cue for group in spoken.spaced.values() for cue in group] + list(spoken.unspaced)
    assert {cue.family for cue in cues} >= FAMILIES
    assert all(0 < cue.confidence <= 1 and all(cue.parts) for cue in cues)
    assert {cue.kind for cue in cues if cue.family == "frontier"} == {
        "blocked", "deferred", "next", "unresolved",
    }  # fmt: skip
    assert {cue.kind for cue in cues if cue.family == "decision"} == {
        "chose", "decided", "rejected",
    }  # fmt: skip


@pytest.mark.parametrize("code", [*codes(), "und"])
def test_a_greeting_alone_is_one_in_every_language(code):
    for text in ("hello", "Moin!", "hola", "Bonsoir", "你好", "こんにちは", "नमस्ते"):
        assert [hit.family for hit in find(text, code)] == ["greeting"]


def test_what_is_more_than_a_greeting_is_heard_in_its_own_language_only():
    assert {hit.family for hit in find("Bist du da sicher?", "de")} == {"greeting"}
    assert find("Bist du da sicher?", "fr") == find("Moin, alles trocken", "fr") == ()


# family, kind, a sentence that shows it, one that only looks like it
ENGLISH = [
    ("ask", "fix", "How do I fix the drum?", "The drum is fixed how I like it."),
    ("ask", "explain", "why does the wheel stop", "He told us the reason."),
    ("ask", "decide", "Should we seal the lid?", "It should be sealed."),
    ("ask", "compare", "difference between oil and grease", "it makes a difference"),
    ("ask", "plan", "What's the plan for May?", "The plan is good."),
    ("ask", "verify", "Is it the oil?", "So it is the oil."),
    ("ask", "reflect", "What do you think of it?", "You think of it."),
    ("task", "fix", "Fix the drum.", "The fix is in."),
    ("task", "task", "I need to measure the drum", "They need to measure."),
    ("task", "task", "I can't get the drum to work", "I can get the drum."),
    ("problem", "problem", "The drum doesn't work.", "The drum works."),
    ("rhetorical", "", "That is the drum, right?", "Turn it to the right side?"),
    ("greeting", "", "How are you?", "I know how are you sure."),
    ("accept", "", "That worked, thanks.", "It may work."),
    ("praise", "", "Great work!", "A great work of art."),
    ("praise", "", "Ok, thanks.", "The thanks they owe."),
    ("choice", "", "Oak or ash?", "The oral ore."),
    ("answer", "", "It turned out to be the oil.", "It turned to the left."),
    ("drop", "", "Never mind.", "I mind it."),
    ("frontier", "blocked", "Blocked: waiting for the mason.", "I unblocked the mason."),
    ("frontier", "deferred", "Let's defer this.", "The referee agreed."),
    ("frontier", "next", "Next: seal the lid.", "The text next to it."),
    ("frontier", "unresolved", "It is still unclear.", "It is clear."),
    ("correction", "", "No, that is wrong.", "There is no wrong here."),
    ("decision", "chose", "I chose the anchor escapement.", "The choice is yours."),
    ("decision", "decided", "We decided on May.", "A decisive moment."),
    ("decision", "rejected", "I rejected the resin.", "The ejected resin."),
    ("texture", "uncertainty", "I'm not sure it fits.", "I made sure it fits."),
    ("texture", "process_note", "Note to self: oil first.", "A note for the post."),
    ("texture", "abandoned_direction", "That was a dead end.", "The dead-beat end."),
    ("texture", "rejected_route", "I tried grease but it froze.", "I try grease."),
    ("texture", "self_correction", "Sorry, I was wrong.", "The sign was wrong."),
    ("texture", "affect", "This is frustrating.", "A frost ring."),
    ("continuity", "", "It stopped again.", "It leans against the wall."),
    ("scope", "technical_work", "The database is slow.", "The data was based on it."),
    ("scope", "reading_notes", "I read this book.", "Book a table."),
    ("scope", "idea_seed", "I have an idea for a dial.", "No idea."),
    ("scope", "personal_reflection", "I feel old.", "It feels old."),
    ("scope", "preference", "I prefer oak.", "They preferred oak."),
    ("scope", "life_context", "My wife likes it.", "My wifi likes it."),
    ("relation", "causes", "Salt leads to rust.", "Salt in lead tins."),
    ("relation", "depends_on", "The page depends on the ribbon.", "Independent pages."),
    ("relation", "alternative_to", "oil instead of grease", "install the grease"),
]


@pytest.mark.parametrize(("family", "kind", "planted", "decoy"), ENGLISH)
def test_finds_the_planted_cue_and_not_the_decoy(family, kind, planted, decoy):
    shown = {(hit.family, hit.kind) for hit in find(planted, "en")}
    assert (family, kind) in shown
    assert (family, kind) not in {(hit.family, hit.kind) for hit in find(decoy, "en")}


ASKED = [
    ("de", "Warum bleibt das Rad stehen?", "Das Rad bleibt stehen."),
    ("fr", "Pourquoi la roue ne tourne plus ?", "La roue tourne bien."),
    ("es", "¿Por qué se para la rueda?", "La rueda gira."),
    ("zh", "为什么轮子会停", "轮子在转"),
    ("ja", "なぜ車輪が止まるのですか", "車輪は回っている"),
    ("hi", "पहिया क्यों रुकता है?", "पहिया चलता है।"),
]


@pytest.mark.parametrize(("code", "planted", "decoy"), ASKED)
def test_asks_in_every_language(code, planted, decoy):
    assert explicit(said(planted, code)) is not None
    assert explicit(said(decoy, code)) is None


ACCEPTED = [
    ("en", "That worked, thanks.", "That never worked."),
    ("de", "Das hat funktioniert, danke.", "Das hat noch nicht funktioniert."),
    ("fr", "Parfait, merci.", "Merci pour la réponse."),
    ("es", "Solucionado.", "No está solucionado."),
    ("zh", "通了", "还是没有通了"),
    ("ja", "動きました", "まだ動きません"),
    ("hi", "हल हो गया", "अभी हल हो गया नहीं"),
]


@pytest.mark.parametrize(("code", "planted", "decoy"), ACCEPTED)
def test_accepts_in_every_language(code, planted, decoy):
    assert accepts(said(planted, code))
    assert not accepts(said(decoy, code))


OTHER_FAMILIES = [
    ("de", "frontier", "blocked", "Ich warte auf den Maurer.", "Er wartet gern."),
    ("de", "correction", "", "Nein, das ist falsch.", "Nein danke."),
    ("de", "decision", "rejected", "Wir haben das Harz verworfen.", "Das Harz ist fest."),
    ("fr", "frontier", "next", "Il reste à sceller le couvercle.", "Le reste est bon."),
    ("fr", "correction", "", "Non, c'est faux.", "Un faux plafond."),
    ("fr", "decision", "decided", "J'ai décidé de le sceller.", "Une idée décisive."),
    ("es", "frontier", "deferred", "Lo dejamos para mayo.", "La tarde es larga."),
    ("es", "correction", "", "No, eso no es el nivel medio.", "Eso es el nivel medio."),
    ("es", "texture", "uncertainty", "No estoy seguro.", "Es un sitio seguro."),
    ("zh", "frontier", "blocked", "在等许可证", "许可证到了"),
    ("zh", "correction", "", "不对\uff0c是海图基准面", "海图基准面"),
    ("zh", "decision", "chose", "我们用锚式擒纵", "锚式擒纵很好"),
    ("ja", "frontier", "next", "次はふたを閉める", "ふたは閉まった"),
    ("ja", "correction", "", "いいえ、違います", "はい、そうです"),
    ("ja", "texture", "self_correction", "私の間違いでした", "正しかった"),
    ("hi", "frontier", "next", "अगला कदम ढक्कन है", "ढक्कन बंद है"),
    ("hi", "correction", "", "यह गलत है", "यह सही है"),
    ("hi", "texture", "affect", "मैं निराश हूँ", "मैं यहाँ हूँ"),
]


@pytest.mark.parametrize(("code", "family", "kind", "planted", "decoy"), OTHER_FAMILIES)
def test_signals_in_other_languages(code, family, kind, planted, decoy):
    assert (family, kind) in {(hit.family, hit.kind) for hit in find(planted, code)}
    assert (family, kind) not in {(hit.family, hit.kind) for hit in find(decoy, code)}


def test_a_cue_at_the_start_may_follow_fillers():
    assert said("ok so how do I do this").of("ask")
    assert not said("the manual says how do birds fly").of("ask")


def test_a_cue_at_the_end_ends_the_sentence():
    assert said("That is it, right?").of("rhetorical")
    assert not said("right now it runs?").of("rhetorical")


def test_four_times_the_words_that_may_end_a_sentence_are_not_sixteen_times_the_work():
    def cost(words):
        start = process_time()
        assert len(find.__wrapped__("right " * words, "en")) == 1
        return process_time() - start

    cost(10)
    small = min(cost(500) for _ in range(3))
    assert min(cost(2000) for _ in range(3)) < 10 * small + 0.05


def test_of_several_cues_at_one_place_the_longest_counts():
    (hit,) = said("how do i fix the drum").of("ask")
    assert hit.kind == "fix"


def test_a_gap_has_an_end():
    assert said("I can't get the drum to work").of("task")
    far = "I can't get " + "the very " * 10 + "old drum to work"
    assert not said(far).of("task")


def test_english_is_understood_in_every_language():
    assert said("TODO: Ventil prüfen", "de").of("frontier", "next")


def test_tasks_and_problems_are_no_explicit_questions():
    assert explicit(said("Fix the winding drum.")) is None
    assert implicit(said("Fix the winding drum.")) == ("fix", 0.85)
    assert implicit(said("The winding drum doesn't work.")) == ("problem", 0.8)
