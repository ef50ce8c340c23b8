from datetime import UTC, datetime, timedelta

import pytest

from graphstore.model.conversation import LineageKind, LineageLink
from ingest.lineage import Bead, Descent, Strand, descents, holder, pending_links, shared_prefix

AT = datetime(2026, 1, 1, tzinfo=UTC)


def strand(name, beads, **facts):
    """A strand whose turns are named by letters: the same letter is the same record."""
    made = tuple(Bead(one, one, AT + timedelta(minutes=ord(one))) for one in beads)
    return Strand(f"s:{name}", "s", name, made, len(made), **facts)


def told(*strands):
    found = descents(strands)
    assert found == descents(tuple(reversed(strands)))
    return {one: (d.parent, d.kind.value, d.shared) for one, d in found.items()}


def test_only_equal_records_from_the_start_are_shared():
    one = strand("a", "abc")
    assert shared_prefix(one, strand("b", "abd")) == 2
    assert shared_prefix(one, strand("b", "xbc")) == 0
    keyless = Strand("s:k", "s", "k", (Bead(None, "a"),), 1)
    assert shared_prefix(keyless, one) == 0
    assert shared_prefix(keyless, one, by_words=True) == 1
    changed = Strand("s:k", "s", "k", (Bead("a", "other words"),), 1)
    assert shared_prefix(changed, one) == 0


def test_a_chain_of_resumes_has_each_one_below_the_longest():
    a, b, c = strand("a", "ab"), strand("b", "abcd"), strand("c", "abcdef")
    assert told(a, b, c) == {
        "s:b": ("s:a", "continues", 2),
        "s:c": ("s:b", "continues", 4),
    }


def test_forks_of_one_parent_are_siblings():
    a, b, c = strand("a", "abcd"), strand("b", "abxy"), strand("c", "abz")
    assert told(a, b, c) == {
        "s:b": ("s:a", "forked_from", 2),
        "s:c": ("s:a", "forked_from", 2),
    }


def test_copies_point_to_the_smaller_id():
    assert told(strand("b", "ab"), strand("a", "ab")) == {"s:b": ("s:a", "duplicate_of", 2)}


def test_a_pointer_wins_over_everything():
    child = strand("a", "ab", forks=("b",))
    assert told(child, strand("b", "abcd")) == {"s:a": ("s:b", "forked_from", 2)}
    stranger = strand("a", "xy", forks=("b",))
    assert descents([stranger, strand("b", "ab")])["s:a"].link == LineageLink(
        kind=LineageKind.FORKED_FROM, parent="s:b"
    )


def test_a_background_copy_is_below_the_file_without_a_stamp():
    assert told(strand("a", "abc", background=True), strand("b", "abd")) == {
        "s:a": ("s:b", "forked_from", 2)
    }


def test_a_copy_that_names_the_other_is_below_it():
    newer = strand("a", "abc", names=frozenset({"a", "b"}))
    assert told(newer, strand("b", "abd", names=frozenset({"b"})))["s:a"][0] == "s:b"


def test_the_earlier_own_record_then_fewer_turns_then_the_id_decide():
    assert told(strand("b", "abc"), strand("a", "abd")) == {"s:a": ("s:b", "forked_from", 2)}
    one, two = strand("b", "abcd"), strand("a", "abce")
    two.beads = (*two.beads[:3], Bead("e", "e", one.beads[3].at))
    assert told(one, two) == {"s:b": ("s:a", "forked_from", 3)}


def test_a_pointer_in_a_circle_closes_no_cycle():
    one, two = strand("a", "ab", forks=("b",)), strand("b", "ab", forks=("a",))
    assert len(told(one, two)) == 1


def test_the_holder_of_a_prefix_never_comes_below_its_child():
    child = strand("b", "abc", above="s:a")
    assert told(strand("a", "abd"), child) == {}
    assert told(strand("a", "ab"), child) == {"s:b": ("s:a", "continues", 2)}


@pytest.mark.parametrize("sharing", ["none", "words"])
def test_local_keys_and_words_alone_make_no_family(sharing):
    assert told(strand("a", "ab", sharing=sharing), strand("b", "abc", sharing="none")) == {}


def test_sources_never_meet():
    other = Strand("t:a", "t", "a", strand("a", "ab").beads, 2)
    assert told(strand("b", "abc"), other) == {}


def test_a_fork_of_words_needs_its_pointer():
    parent = strand("a", "ab", sharing="words")
    beads = tuple(one._replace(key=None) for one in parent.beads)
    child = Strand("s:b", "s", "b", beads, 2, "words", ("a",))
    assert told(parent, child) == {"s:b": ("s:a", "forked_from", 2)}
    assert told(parent, Strand("s:b", "s", "b", beads, 2, "words")) == {}
    keyed = tuple(one._replace(key="x" + one.fingerprint) for one in parent.beads)
    assert told(parent, Strand("s:b", "s", "b", keyed, 2, "words", ("a",)))["s:b"][2] == 0


def test_links_wait_for_parents_that_are_not_at_hand():
    child = strand("b", "ab", forks=("a", "c"))
    assert [one.parent for one in pending_links(child, ["s:a"])] == ["s:c"]
    held = LineageLink(kind=LineageKind.CONTINUES, parent="s:a", split_turn=2)
    assert (
        holder((LineageLink(kind=LineageKind.SUBAGENT_OF, parent="s:z", split_turn=1), held))
        == "s:a"
    )
    assert Descent("s:a", LineageKind.CONTINUES, 2).link == held
