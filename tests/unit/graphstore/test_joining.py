from graphstore.ids import concept_id
from graphstore.joining import joined
from graphstore.model.knowledge import Relates
from graphstore.said import Said
from tests.talk import facts_of

MINE, OTHER = "escapement_wheel", "escape_wheel"
INTO = Said(merged={concept_id(MINE): concept_id(OTHER)})
TALK = (
    f"What stops the `{MINE}`?",
    f"> The `{MINE}` and the `{OTHER}` need the `spring_tide`.",
    f"Todo: measure the `{MINE}`, the `{OTHER}`.",
)


def test_facts_without_a_merged_concept_are_the_same_object():
    facts = facts_of(*TALK)
    assert joined(facts, Said(merged={"c:unknown": concept_id(OTHER)})) is facts
    assert joined(facts, Said()) is facts


def test_rows_of_both_become_rows_of_one():
    facts = facts_of(*TALK)
    known = {one.label: one for one in facts.concepts}
    made = joined(facts, INTO)
    (one,) = (row for row in made.concepts if row.label == OTHER)
    assert MINE not in {row.label for row in made.concepts}
    assert one.cf == known[MINE].cf + known[OTHER].cf
    assert MINE in one.aliases
    gone = concept_id(MINE)
    assert gone not in {row.dst for row in made.mentions}
    weights = {row.src: row.weight for row in made.mentions if row.dst == one.concept_id}
    assert weights["thread:test:one#turn:2"] == 2
    assert gone not in {row.concept_id for row in made.company}
    signals = [signal for _, found in made.signals for signal in found]
    assert any(signal.concepts.count(one.concept_id) == 1 for signal in signals)
    assert all(gone not in signal.concepts for signal in signals)
    assert all(gone not in asking.concepts for asking in made.askings)
    assert [asking.keys for asking in made.askings] == [asking.keys for asking in facts.askings]


def test_a_relation_of_a_thing_with_itself_is_none():
    facts = facts_of(*TALK)
    mine, other, tide = map(concept_id, (MINE, OTHER, "spring_tide"))

    def row(src: str, dst: str, turn: int) -> Relates:
        return Relates(
            src_table="Concept", src=src, dst_table="Concept", dst=dst, edge_type="depends_on",
            source_refs=(f"thread:test:one#turn:{turn}",), extractor="x", why="needs",
        )  # fmt: skip

    told = (row(mine, other, 2), row(mine, tide, 3), row(other, tide, 2))
    (left,) = joined(facts.replace(told=told), INTO).told
    assert (left.src, left.dst, left.weight) == (other, tide, 2)
    assert left.source_refs == ("thread:test:one#turn:2", "thread:test:one#turn:3")


def test_a_spelling_alone_takes_the_id_and_keeps_its_words():
    facts = facts_of(f"What stops the `{MINE}`?", f"> The `{MINE}`.")
    (one,) = joined(facts, INTO).concepts
    assert (one.concept_id, one.label, one.generic) == (concept_id(OTHER), MINE, False)
