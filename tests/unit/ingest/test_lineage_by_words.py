from datetime import UTC, datetime

from graphstore.model.conversation import LineageKind
from ingest.lineage import Bead, Strand, descents

AT = datetime(2026, 1, 1, tzinfo=UTC)


def strand(name, *beads, forks=(), sharing="words"):
    told = tuple(Bead(key, words, AT) for key, words in beads)
    return Strand(f"codex:{name}", "codex", name, told, len(told), sharing=sharing, forks=forks)


PARENT = strand("parent", ("t1:1", "ask"), ("t1:2", "answer"), ("t2:1", "go on"))


def test_a_pointer_and_equal_turns_make_a_shared_prefix():
    child = strand("child", ("t1:1", "ask"), ("t1:2", "answer"), forks=("parent",))
    found = descents([PARENT, child])
    assert found["codex:child"][1:] == (LineageKind.FORKED_FROM, 2)


def test_the_same_words_in_another_turn_are_the_childs_own():
    own = strand("child", ("t1:1", "ask"), ("t1:2", "answer"), ("t9:1", "go on"), forks=("parent",))
    assert descents([PARENT, own])["codex:child"].shared == 2


def test_without_turn_ids_the_first_words_that_differ_are_the_childs_own():
    parent = strand("parent", (None, "ask"), (None, "answer"))
    child = strand("child", (None, "ask"), (None, "answer"), (None, "more"), forks=("parent",))
    assert descents([parent, child])["codex:child"].shared == 2


def test_without_a_pointer_nothing_is_shared_by_words():
    stranger = strand("stranger", ("t1:1", "ask"), ("t1:2", "answer"))
    stored = strand("stored", ("t1:1", "ask"), ("t1:2", "answer"), sharing="keys")
    assert descents([PARENT, stranger, stored]) == {}
