"""What becomes of a question, in every language: accepted, thanked for, told, chosen, dropped."""

import pytest

from ingest.extract.lexicon import codes
from tests.talk import facts_of

ASKED = {
    "en": ("Why does the escape wheel stop?", "> The pivot is dry."),
    "de": ("Warum bleibt das Hemmungsrad stehen?", "> Der Zapfen ist trocken."),
    "fr": ("Pourquoi la roue d'échappement s'arrête-t-elle ?", "> Le pivot est sec."),
    "es": ("¿Por qué se para la rueda de escape?", "> El pivote está seco."),
    "hi": ("एस्केप पहिया क्यों रुकता है?", "> धुरी सूखी है।"),
    "ja": ("脱進輪はなぜ止まるのですか\uff1f", "> 軸が乾いています。"),
    "zh": ("擒纵轮为什么会停\uff1f", "> 轴是干的。"),
}
ACCEPTED = {
    "en": ("That worked.", "Thanks!", "Great! Now the other wheel.", "Ok, thanks for the help",
           "This looks good. Next: the case.", "Got it.", "Fixed, thanks"),
    "de": ("Hat geklappt, danke.", "Vielen Dank!", "Super! Jetzt das andere Rad.", "Sehr gut.",
           "Das sieht gut aus. Weiter mit dem Gehäuse."),
    "fr": ("Ça marche.", "Merci beaucoup !", "Génial ! Maintenant l'autre roue.", "Très bien."),
    "es": ("Ya funciona.", "¡Muchas gracias!", "Genial. Ahora la otra rueda.", "Muy bien."),
    "hi": ("काम कर गया।", "बहुत धन्यवाद।", "बहुत अच्छा। अब दूसरा पहिया।"),
    "ja": ("動きました。", "ありがとうございます。", "素晴らしい。次は別の歯車です。"),
    "zh": ("通了。", "谢谢\uff01", "太好了。现在看另一个轮子。"),
}  # fmt: skip
LEFT_OPEN = {
    "en": ("Great, but it stops again.", "Please look at the case too. Thanks!", "The great wheel",
           "Thanks, but that is not it.", "Resolved 28 packages in 192ms", "yes", "Proceed."),
    "de": ("Super, aber es bleibt wieder stehen.", "Schau auch ins Gehäuse. Danke!", "ja",
           "Danke, aber das ist es nicht."),
    "fr": ("Merci, mais ce n'est pas ça.", "Regarde aussi le boîtier. Merci !", "oui"),
    "es": ("Gracias, pero no es eso.", "Mira también la caja. ¡Gracias!", "sí"),
    "hi": ("बहुत अच्छा, लेकिन यह नहीं।", "डिब्बा भी देखो। धन्यवाद।"),
    "ja": ("ありがとう、でも止まります。", "箱も見てください。ありがとう。"),
    "zh": ("谢谢\uff0c但是还是停。", "也看看盒子。谢谢\uff01"),
}  # fmt: skip
DROPPED = {
    "en": ("Never mind.", "Let's skip it, there is no need."),
    "de": ("Vergiss es.", "Hat sich erledigt."),
    "fr": ("Laisse tomber.",),
    "es": ("Olvídalo.",),
    "hi": ("रहने दो।",),
    "ja": ("もう必要ありません。",),
    "zh": ("不必了。",),
}
TOLD = {
    "en": "It turned out that the escape wheel was bent.",
    "de": "Es stellte sich heraus: das Hemmungsrad war verbogen, darum bleibt es stehen.",
    "fr": "La cause était la roue d'échappement tordue.",
    "es": "Resulta que la rueda de escape estaba torcida.",
    "hi": "पता चला कि एस्केप पहिया टेढ़ा था।",
    "ja": "原因は脱進輪でした。",
    "zh": "原来是擒纵轮弯了。",
}
CHOSEN = {
    "en": ("Should we use brass or steel for the escape wheel?", "Let's go with brass."),
    "de": ("Sollen wir Messing oder Stahl nehmen?", "Wir nehmen Messing."),
    "fr": ("Pour la roue, du laiton ou de l'acier ?", "On part sur le laiton."),
    "es": ("¿Latón o acero, cuál elegimos?", "Vamos con latón."),
    "hi": ("पीतल या इस्पात, कौन सा चुनें?", "हमने पीतल चुना।"),
    "ja": ("真鍮と鋼鉄、どちらがいいですか\uff1f", "真鍮にします。"),
    "zh": ("用黄铜还是钢铁\uff1f", "决定用黄铜。"),
}


def status(*turns: str) -> str:
    """Of the first question."""
    found = facts_of(*turns)
    first = min(found.asks, key=lambda row: int(row.src.rpartition(":")[2]))
    (one,) = [one for one in found.questions if one.question_id == first.dst]
    return one.status.value


def each(said):
    return [(code, text) for code, texts in sorted(said.items()) for text in texts]


def test_every_language_is_here():
    for said in (ASKED, ACCEPTED, LEFT_OPEN, DROPPED, TOLD, CHOSEN):
        assert sorted(said) == sorted(codes())


@pytest.mark.parametrize(("code", "text"), each(ACCEPTED))
def test_a_later_human_turn_that_accepts_or_thanks_answers(code, text):
    assert status(*ASKED[code], text) == "answered"


@pytest.mark.parametrize(("code", "text"), each(ACCEPTED))
def test_the_same_words_of_an_assistant_answer_nothing(code, text):
    assert status(*ASKED[code], f"> {text}") == "open"


@pytest.mark.parametrize(("code", "text"), each(LEFT_OPEN))
def test_what_only_looks_like_it_leaves_it_open(code, text):
    assert status(*ASKED[code], text) == "open"


@pytest.mark.parametrize(("code", "text"), each(DROPPED))
def test_dropped_when_the_human_says_so(code, text):
    assert status(*ASKED[code], text) == "dropped"


@pytest.mark.parametrize("code", codes())
def test_stating_the_answer_answers_what_it_names(code):
    assert status(*ASKED[code], TOLD[code]) == "answered"


@pytest.mark.parametrize("code", codes())
def test_a_choice_answers_the_question_that_asked_for_it(code):
    asked, chosen = CHOSEN[code]
    assert status(asked, ASKED[code][1], chosen) == "answered"
    # a choice is no answer to a question for a reason, nor to one about something else
    assert status(*ASKED[code], chosen) == "open"


def test_a_choice_answers_the_last_of_several():
    asked = CHOSEN["en"][0]
    found = facts_of(asked, "> Both.", "Oil or grease for the pivot?", "> Oil.", "We'll use brass.")
    assert {one.text: one.status.value for one in found.questions} == {
        asked: "answered",
        "Oil or grease for the pivot?": "open",
    }


def test_a_rejection_chooses_nothing():
    assert status(CHOSEN["en"][0], "> Both.", "I rejected the brass.") == "open"


def test_thanks_of_a_turn_that_asks_for_more_counts_for_what_was_before_it():
    asked, answer = ASKED["en"]
    found = facts_of(asked, answer, "Thanks! Why does the winding drum slip?")
    assert {one.text: one.status.value for one in found.questions} == {
        asked: "answered",
        "Why does the winding drum slip?": "open",
    }
