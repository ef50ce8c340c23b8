import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from graphstore.model.knowledge import Links, LinkType
from graphstore.model.record import EpochRecord
from graphstore.near import jaccard
from ingest.extract.figures import figures
from ingest.link.ground import Known, known
from ingest.link.questions import Index, Score, clusters, link_type, links, score
from tests.talk import a_thread, derived


def a_question(text: str, *keys: str, **more) -> Known:
    values = {
        "question_id": f"q:{text}",
        "text": text,
        "keys": frozenset(keys),
        "intent": "explain",
        "phase": "start",
        "salience": 0.7,
        "trackable": True,
        "project": None,
        "first_seen": None,
        "refs": (f"thread:{text}#turn:1",),
        "threads": frozenset({text}),
        "lineages": frozenset({text}),
        "concepts": frozenset(),
        "paths": frozenset(),
        "participants": frozenset(),
    }
    return Known(**{**values, **more})


def test_the_score_by_hand():
    left = a_question("a", "w", "x", "y", concepts=frozenset("pq"), project="P",
                      paths=frozenset("f"), participants=frozenset({"mira"}))  # fmt: skip
    right = a_question("b", "w", "x", "z", concepts=frozenset("pq"), project="P",
                       paths=frozenset("fg"), participants=frozenset({"mira", "jo"}))  # fmt: skip
    told = score(left, right, 0.75)
    # .68 x (.5 + .75) / 1.7 + .16 x 1 + .07 x 1 + .04 x 1 + .03 x .5 + .08
    assert told.likeness == pytest.approx(1.25 / 1.7, abs=1e-6)
    assert told.total == pytest.approx(0.5 + 0.16 + 0.07 + 0.04 + 0.015 + 0.08)
    assert told.words == 0.5
    # what .18, where .12, intent .16, phase .08, salience .06
    assert told.completion == pytest.approx(0.60)
    assert told.separation == 0
    assert told.strong == pytest.approx(0.80 - 0.12 * 0.60)
    assert told.borderline == pytest.approx(0.66 - 0.09 * 0.60)


def test_everything_that_separates():
    left = a_question("a", "x", "y", "z", concepts=frozenset("p"), project="P", trackable=False)
    right = a_question("b", "w", "x", concepts=frozenset("q"), project="Q", intent="fix",
                       phase="end", salience=0.5)  # fmt: skip
    told = score(left, right, 0.6)
    # .68 x (.25 + .6) / 1.7 - .10, nothing else
    assert told.total == pytest.approx(0.24)
    assert told.completion == 0
    # what .10, where .10, intent .22, phase .06, untrackable .26
    assert told.separation == pytest.approx(0.74)
    assert told.strong == pytest.approx(0.80 + 0.12 * 0.74)
    assert told.borderline == pytest.approx(0.66 + 0.09 * 0.74)


def test_words_and_vectors_must_agree():
    router, server = (a_question(one, "restart", "night", one) for one in ("router", "server"))
    large, big = (
        a_question(one, "parser", "slow", "file", one, project="P") for one in ("large", "big")
    )
    assert score(router, server, 0.93).total < score(router, server, 0.93).strong
    assert score(large, big, 0.97).total >= score(large, big, 0.97).strong
    assert score(large, big, 0.7).total < score(large, big, 0.7).strong
    assert score(big, big, 0.5).likeness < score(big, big, 0.7).likeness == 1.0


@pytest.mark.parametrize(
    ("one", "other", "words", "same"),
    [
        ("decide", "explain", "", True),
        ("verify", "plan", "", True),
        ("fix", "problem", "", True),
        ("explain", "fix", "", False),
        ("task", "decide", "", False),
        ("task", "decide", "same", True),
    ],
)
def test_intents_that_only_wording_tells_apart_are_one(one, other, words, same):
    left, right = a_question("a", "x", intent=one), a_question("b", words or "x", "y", intent=other)
    if words:
        left = a_question("a", words, "y", intent=one)
    assert score(left, right, 0).same_intent is same


def test_the_same_project_alone_is_half_a_place():
    left, right = a_question("a", "x", project="P"), a_question("b", "x", project="P")
    assert score(left, right, 0).where == 0.5
    assert score(left, a_question("b", "x"), 0).where == 0


def test_scores_stay_between_0_and_1():
    same = a_question("a", "x", concepts=frozenset("p"), project="P", paths=frozenset("f"),
                      participants=frozenset("m"))  # fmt: skip
    assert score(same, same, 1.0).total == 1.0
    assert score(a_question("a"), a_question("b", intent="fix", phase="end"), 0).total == 0.0


def test_the_borderline_stays_below_the_strong_threshold():
    told = Score(0, 0, 0, 0, 0, 0, same_intent=True, completion=5.0, separation=0)
    assert told.borderline == pytest.approx(told.strong - 0.05)


STRONG = Score(0.9, 1.0, 1, 0, 1, 0, same_intent=True, completion=0.4, separation=0)


@pytest.mark.parametrize(
    ("earlier", "later", "kind", "how"),
    [
        (a_question("a", "x", "y"), a_question("b", "y", "x"), LinkType.RECURRING, "same_keys"),
        (a_question("a", "x"), a_question("b", "x", "y"), LinkType.EVOLVING, "narrower"),
        (a_question("a", "x", "y"), a_question("b", "x"), LinkType.EVOLVING, "broader"),
        (a_question("a", "x", "y"), a_question("b", "x", "y", "z"), LinkType.RECURRING,
         "same_words"),
        (a_question("a", "x", "y"), a_question("use z instead?", "x", "z"), LinkType.EVOLVING,
         "instead"),
        (a_question("a", "x", "y"), a_question("b", "x", "z"), LinkType.RECURRING, "same_words"),
    ],
)  # fmt: skip
def test_link_types(earlier, later, kind, how):
    nested = earlier.keys < later.keys or later.keys < earlier.keys
    words = jaccard(earlier.keys, later.keys) if nested else STRONG.words
    assert link_type(earlier, later, replace(STRONG, words=words)) == (kind, how)


def test_another_identifier_is_another_question():
    first, second = a_question("a", "add", "cmd_diff"), a_question("b", "add", "cmd_web")
    assert link_type(first, second, STRONG) == (LinkType.RELATED, "alike")


def test_other_words_are_only_related():
    weak = Score(0.5, 0.6, 1, 1, 1, 1, same_intent=True, completion=0.6, separation=0)
    told = link_type(a_question("a", "x", "y"), a_question("b", "x", "z"), weak)
    assert told == (LinkType.RELATED, "alike")


TALK = (
    a_thread("a", "What stops the escape wheel?", "> Oil. The escape wheel is dry."),
    a_thread("b", "why does the escape wheel stop?", "> The escape wheel wants oil.", day=3),
    a_thread("c", "Should the banneton be floured with rice flour?", "> Yes.", day=5),
)


def test_links_paraphrases_and_nothing_else():
    ground, _ = derived(TALK)
    ((row,)) = ground.links
    texts = {one.question_id: one.text for one in ground.questions}
    assert {texts[row.src], texts[row.dst]} == {
        "What stops the escape wheel?",
        "why does the escape wheel stop?",
    }
    assert row.link_type is LinkType.RECURRING
    assert row.source_refs == ("thread:test:a#turn:1", "thread:test:b#turn:1")
    assert json.loads(row.evidence)["how"] == "same_keys"
    assert row.score == row.weight >= json.loads(row.evidence)["strong"]


def test_an_evolving_link_leads_from_the_earlier_to_the_later():
    talk = (
        a_thread("z", "What stops the escape wheel?", "> Oil. The escape wheel.", day=0),
        a_thread("a", "What stops the escape wheel in the tide?", "> The escape wheel.", day=9),
    )
    ground, _ = derived(talk)
    (row,) = ground.links
    texts = {one.question_id: one.text for one in ground.questions}
    assert row.link_type is LinkType.EVOLVING
    assert texts[row.src] == "What stops the escape wheel?"


def test_a_borderline_pair_is_listed_and_not_linked():
    talk = (
        a_thread("a", "Should we seal the vent stack with a lid?", "> The vent stack."),
        a_thread("b", "Should we close the vent stack with a lid?", "> The vent stack, yes."),
    )
    ground, epoch = derived(talk)
    accepted, asked = links(ground, epoch)
    assert accepted == ground.links == ()
    ((pair,),) = ({(row.src, row.dst)} for row in asked)
    for verdict in (True, False):
        assert links(replace(ground, said={pair: verdict}), epoch) == ((), ())


def test_templates_never_link():
    wrapped = "You are a careful reader. Is the drawing of the drum complete? Answer briefly."
    talk = [a_thread(f"t{n}", wrapped, "> Yes.") for n in range(5)]
    talk += [a_thread("u", wrapped.replace("drawing", "drawings"), "> No.")]
    ground, epoch = derived(talk)
    assert len(epoch.templates) == 1
    assert len(ground.questions) == 1
    assert ground.links == ()


def test_an_order_given_alone_again_and_again_is_a_template():
    order, question = "Translate the drum notes into French.", "What stops the escape wheel?"
    talk = [a_thread(f"t{n}", order, "> Voil\u00e0.") for n in range(5)]
    talk += [a_thread(f"u{n}", question, "> The oil.") for n in range(5)]
    ground, _ = derived(talk)
    assert [one.text for one in ground.questions] == [question]
    ground, _ = derived(talk[1:])
    assert {one.text for one in ground.questions} == {order, question}


def _link(left: str, right: str) -> Links:
    return Links(
        src_table="Question", src=left, dst_table="Question", dst=right, source_refs=("r",),
        link_type=LinkType.RECURRING, score=0.9, evidence="{}",
    )  # fmt: skip


def test_a_chain_is_split_at_its_farthest_members():
    chain = tuple(
        a_question(name, *keys, intent=intent)
        for name, keys, intent in (
            ("salt", "abcd", "explain"),
            ("salts", "abcd", "explain"),
            ("bread", "wxyz", "fix"),
        )
    )
    index = Index(chain, EpochRecord(extractor="x", lineages=3))
    rows = [_link("q:salt", "q:salts"), _link("q:salts", "q:bread")]
    assert clusters(index, rows) == (("q:bread",), ("q:salt", "q:salts"))
    assert clusters(index, rows[:1]) == (("q:salt", "q:salts"),)


def test_a_close_chain_stays_whole():
    chain = tuple(a_question(name, "a", "b") for name in ("one", "two", "three"))
    index = Index(chain, EpochRecord(extractor="x", lineages=3))
    rows = [_link("q:one", "q:two"), _link("q:three", "q:two")]
    assert clusters(index, rows) == (("q:one", "q:three", "q:two"),)
    related = rows[0].replace(link_type=LinkType.RELATED)
    assert clusters(index, [related]) == ()


def test_a_question_knows_its_surroundings():
    ground, epoch = derived(
        (
            a_thread("a", "What stops the escape wheel?", "> `sim/a.py`", project="/w/clock",
                     touched={2: ["sim/a.py"]}),
            a_thread("b", "What stops the escape wheel?", "> `sim/a.py`", project="/w/clock"),
            a_thread("c", "Is the oak tall?", "> No."),
        )
    )  # fmt: skip
    one = next(one for one in known(ground, figures(epoch)) if "wheel" in one.text)
    assert one.refs == ("thread:test:a#turn:1", "thread:test:b#turn:1")
    assert len(one.lineages) == 2
    assert one.paths
    assert one.participants == {"mira"}
    assert one.first_seen == datetime(2025, 3, 1, 9, 1, tzinfo=UTC)
    labels = {row.concept_id: row.label for row in ground.concepts}
    assert {labels[name] for name in one.concepts} == {"escape wheel"}
