"""What packs have in common is read off cards without a word of a turn."""

from dream.atlas import CARD, HEAD, REF, TAIL, atlas
from dream.model import Focus, PackConcept
from tests.dreamt import a_pack, a_question, a_turn

WINDOW = 32_000


def concept(name, **changes):
    base = PackConcept(concept_id=f"c:{name}", label=name, df=2, idf=1.0, aliases=("sr0",))
    return base.replace(**changes)


def made(name, focus, *concepts, threads=("x", "y"), **changes):
    """A ready pack on a focus, with turns of some threads that name its concepts."""
    keys = tuple(f"c:{each}" for each in concepts)
    turns = tuple(
        a_turn(f"sr{n}", lineage=f"test:{t}", concepts=keys) for n, t in enumerate(threads)
    )
    return a_pack(
        pack_id=f"pack:{name}",
        focus=Focus(kind="concept_edge", id=focus, family="ready_pack"),
        turns=turns,
        concepts=tuple(concept(each) for each in concepts),
        **changes,
    )


def four():
    return (
        made("1", "c:mast c:boom", "mast", "boom"),
        made("2", "c:mast c:sail", "mast", "sail", "rope"),
        made("3", "c:keel c:hull", "keel", "hull", "rope"),
        made("4", "c:helm c:deck", "helm", "deck", "tar", threads=("z",)),
    )


def test_four_packs_give_one_cycle_and_one_bridge():
    found = atlas(four(), WINDOW).crossings
    assert [(each.kind, each.node, each.label, each.packs, each.lineages) for each in found] == [
        ("cross_pack_bridge", "c:rope", "rope", ("pack:2", "pack:3"), 2),
        ("cross_pack_cycle", "c:mast", "mast", ("pack:1", "pack:2"), 2),
    ]


def test_a_concept_of_one_thread_bridges_nothing():
    one = (made(n, f"c:{n} c:{n}{n}", "rope", threads=("x",)) for n in "ab")
    assert atlas(one, WINDOW).crossings == ()


def test_a_card_holds_no_word_of_a_turn():
    text = "salt film"
    cards = atlas(four(), WINDOW).cards
    assert len(cards) == 4
    assert all(text not in each.model_dump_json() for each in cards)


def test_what_is_not_ready_without_turns_or_on_a_person_gets_no_card():
    packs = (
        made("1", "c:mast c:boom", "mast", readiness="single_thread"),
        made("2", "c:mast c:boom", "mast", threads=()),
        made("3", "c:soul c:x", "soul").replace(
            concepts=(concept("soul", label="deep down it is fear"),)
        ),
    )
    found = atlas(packs, WINDOW)
    assert found.cards == ()
    assert {each.name: each.count for each in found.left_out} == {
        "not_ready": 1,
        "no_refs": 1,
        "profile": 1,
    }
    assert found.tokens == HEAD + TAIL


def test_cards_cost_by_rule_and_a_small_window_leaves_some_out():
    whole = atlas(four(), WINDOW)
    each = [CARD + REF * card.refs + len(card.topic) // 4 for card in whole.cards]
    assert [card.tokens for card in whole.cards] == each
    assert whole.tokens == HEAD + TAIL + sum(each)
    less = atlas(four(), whole.tokens - 1)
    assert len(less.cards) == 3
    assert [(left.name, left.count) for left in less.left_out] == [("window", 1)]
    assert atlas(four(), whole.tokens).left_out == ()


def test_journeys_stand_together_then_topics_and_the_richest_first():
    journey = a_pack(
        pack_id="pack:j", focus=Focus(kind="journey", id="j:1", family="journey_frontier")
    )
    poor = made("p", "c:mast c:boom", "mast", "boom", pairs=())
    found = atlas((journey, poor, *four()), WINDOW).cards
    assert [card.pack_id for card in found][-1] == "pack:j"
    topics = [card.topic for card in found[:-1]]
    assert topics == sorted(topics)
    assert [card.pack_id for card in found if card.topic == "mast / boom"] == ["pack:1", "pack:p"]


def test_seeds_are_about_their_members_and_questions_name_a_pack():
    seed = a_pack(
        focus=Focus(
            kind="seed", id="s:1", family="ready_pack", members=(("a", "q:a"), ("b", "q:b"))
        )
    )
    (card,) = atlas((seed,), WINDOW).cards
    assert card.focus == ("q:a", "q:b")
    assert card.topic == "Does the salt film stay? / Is the hall sensor dry?"


def test_without_a_name_of_its_own_a_pack_is_called_by_its_rarest_concept():
    frontier = a_pack(
        focus=Focus(kind="frontier", id="test:a", family="journey_frontier"),
        questions=(a_question("q:z", "Elsewhere?"),),
    )
    assert [card.topic for card in atlas((frontier,), WINDOW).cards] == ["hall sensor"]


def test_the_order_of_packs_changes_nothing():
    assert atlas(four()[::-1], WINDOW) == atlas(four(), WINDOW)
