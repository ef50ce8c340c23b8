"""Agents of Codex whose files begin with a copy of their spawner's history, without telling ids."""

from pathlib import Path

import pytest

from graphstore.model.conversation import LineageKind
from tests.codex_talk import Talk
from tests.ingest_memory import LATE, Memory
from tests.reported import said

PARENT, CHILD = "spawner-1", "agent-1"
SOURCE = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}


def spawner(moves=("ask", "work", "answer", "ask", "answer")):
    return Talk(PARENT, turn_ids=False).play(moves)


def agent(copied, moves=("ask", "answer"), *, shift=0, with_head=True, start=0):
    """An agent's file: its head, a copy of records, and what it did itself."""
    child = Talk(CHILD, turn_ids=False, words="c", source=SOURCE)
    for one in copied if with_head else copied[1:]:
        minute = f"09:{shift:02d}:"
        child.records.append({**one, "timestamp": one["timestamp"].replace("09:00:", minute)})
    child.count = start
    return child.play(moves)


def ingest(store, *files):
    return store.ingest(*files, now=LATE)


def links(thread):
    return {(one.kind, one.split_turn) for one in thread.lineage}


def both(store):
    return store.threads[f"codex:{PARENT}"], store.threads[f"codex:{CHILD}"]


@pytest.mark.parametrize("with_head", [True, False])
@pytest.mark.parametrize("shift", [0, 7])
def test_a_copied_history_is_the_spawners(tmp_path, with_head, shift):
    parent = spawner()
    child = agent(parent.records, shift=shift, with_head=with_head)
    store = Memory()
    ingest(store, parent.write(tmp_path), child.write(tmp_path))
    told, own = both(store)
    assert said(told) == ["h a1", "a a3", "h a4", "a a5"]
    assert [(one.number, one.text) for one in own.turns] == [(5, "c1"), (6, "c2")]
    assert own.path == (1, 2, 3, 4, 5, 6)
    assert (LineageKind.FORKED_FROM, 4) in links(own)
    assert LineageKind.SUBAGENT_OF in {kind for kind, _ in links(own)}


def test_the_copy_is_found_when_the_spawner_comes_later(tmp_path):
    parent = spawner()
    first, second = parent.write(tmp_path), agent(parent.records).write(tmp_path)
    at_once, later = Memory(), Memory()
    ingest(at_once, first, second)
    ingest(later, second)
    assert len(later.threads[f"codex:{CHILD}"].turns) == 6
    ingest(later, first)
    for store in (at_once, later):
        assert (LineageKind.FORKED_FROM, 4) in links(both(store)[1])
    assert both(at_once)[1].path == both(later)[1].path
    numbers = {one.text: one.number for one in both(later)[1].turns}
    assert (numbers["c1"], numbers["c2"]) == (5, 6)


@pytest.mark.parametrize("order", ["at once", "spawner first", "agent first"])
def test_an_agent_with_a_copy_grows_by_what_is_new(tmp_path, order):
    parent, store = spawner(), Memory()
    child = agent(parent.records)
    first, second = parent.write(tmp_path), child.write(tmp_path)
    runs: dict[str, list[tuple[Path, ...]]] = {
        "at once": [(first, second)],
        "spawner first": [(first,), (second,)],
        "agent first": [(second,), (first,)],
    }
    for files in runs[order]:
        ingest(store, *files)
    before = both(store)
    assert ingest(store, second).grown == 0
    assert both(store) == before
    child.play(("ask", "answer")).write(tmp_path)
    ingest(store, second)
    grown = both(store)[1]
    assert [one.text for one in grown.turns][-2:] == ["c3", "c4"]
    assert [one.number for one in grown.turns][-2:] == [7, 8]
    assert (LineageKind.FORKED_FROM, 4) in links(grown)
    assert not any(one.superseded_by for one in grown.turns)


def test_an_order_passed_on_is_no_copy(tmp_path):
    parent, store = spawner(), Memory()
    child = Talk(CHILD, turn_ids=False, source=SOURCE)
    child.records[0]["timestamp"] = "2026-04-01T09:30:00.000Z"
    child.do_ask()  # the same words as the spawner's first question, later
    child.words = "c"
    child.do_answer()
    for one in child.records:
        one["timestamp"] = one["timestamp"].replace("09:00:", "09:30:")
    ingest(store, parent.write(tmp_path), child.write(tmp_path))
    own = both(store)[1]
    assert [(one.number, one.text) for one in own.turns] == [(1, "a1"), (2, "c2")]
    assert {kind for kind, _ in links(own)} == {LineageKind.SUBAGENT_OF}


def test_a_question_alone_is_a_copy_if_it_was_asked_at_that_very_time(tmp_path):
    parent, store = spawner(("ask", "work", "answer")), Memory()
    head = parent.records[:4]  # up to the first question
    child = agent(head)
    ingest(store, parent.write(tmp_path), child.write(tmp_path))
    own = both(store)[1]
    assert [(one.number, one.text) for one in own.turns] == [(2, "c1"), (3, "c2")]
    assert (LineageKind.FORKED_FROM, 1) in links(own)


def test_a_copy_ends_where_the_agent_goes_its_own_way(tmp_path):
    parent, store = spawner(), Memory()
    child = agent(parent.records[:-5])  # the second exchange was not there yet
    ingest(store, parent.write(tmp_path), child.write(tmp_path))
    own = both(store)[1]
    assert (LineageKind.FORKED_FROM, 2) in links(own)
    assert [one.text for one in own.turns] == ["c1", "c2"]


def test_an_agent_of_an_agent_begins_with_both_their_histories(tmp_path):
    parent, store = spawner(), Memory()
    child = agent(parent.records)
    source = {"subagent": {"thread_spawn": {"parent_thread_id": CHILD, "depth": 2}}}
    grandchild = Talk("agent-2", turn_ids=False, words="d", source=source)
    grandchild.records += child.records
    grandchild.play(("ask", "answer"))
    files = [one.write(tmp_path) for one in (parent, child, grandchild)]
    ingest(store, *files)
    own = store.threads["codex:agent-2"]
    assert [(one.number, one.text) for one in own.turns] == [(7, "d1"), (8, "d2")]
    assert (LineageKind.FORKED_FROM, 6) in links(own)
