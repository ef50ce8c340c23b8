"""Every shared case of the formats that are read: one fault or format trap each."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphstore.model.conversation import Role
from tests.ingest_memory import Memory

DATA = Path(__file__).parents[1] / "data" / "ingest"
CASES = json.loads((DATA / "expected.json").read_text("utf-8"))
LATER = datetime(2100, 1, 1, tzinfo=UTC)
"""The files have come to rest: nothing of them is held back."""


def in_order(store):
    """Threads with turns, by the path of their carrier and their place in it."""

    def place(thread):
        first = thread.turns[0].anchor
        return first.file, first.offset if first.offset is not None else 0, thread.turns[0].number

    return sorted((one for one in store.threads.values() if one.turns), key=place)


def ingest(case):
    store = Memory()
    steps = case.get("steps") or [{"inputs": case["inputs"]}]
    reports = [store.ingest(*(DATA / one for one in step["inputs"]), now=LATER) for step in steps]
    return store, reports


def edge(child, link, store):
    return {
        "kind": link.kind.value,
        "child": child,
        "parent": link.parent,
        "split_turn": link.split_turn,
        "pending": link.parent not in store.threads,
    }


@pytest.mark.parametrize("name", list(CASES))
def test_case_is_read_as_told(name):
    case = CASES[name]
    store, reports = ingest(case)
    threads = in_order(store)
    codes: Counter[str] = Counter()
    for report in reports:
        codes.update({one.code: one.count for one in report.codes})
    assert sorted(codes) == sorted(case["warnings"])
    assert dict(codes) == case["counts"]
    assert len(threads) == case["threads"]
    ids = [thread.thread_id for thread in threads]
    assert [want or have for want, have in zip(case["thread_ids"], ids, strict=True)] == ids
    assert [len(thread.clean()) for thread in threads] == case["turns"]
    assert [[turn.role.value for turn in one.clean()] for one in threads] == case["roles"]
    off = [[turn for turn in one.turns if turn.number not in one.path] for one in threads]
    assert [len(some) for some in off] == case["alternatives"]
    side = [[turn for turn in one.turns if turn.role is Role.OTHER] for one in threads]
    assert [len(some) for some in side] == case["side_turns"]
    if "texts" in case:
        assert [[turn.text for turn in one.clean()] for one in threads] == case["texts"]
    if "side_texts" in case:
        assert [[turn.text for turn in some] for some in side] == case["side_texts"]
    if "path_numbers" in case:
        assert [[turn.number for turn in one.clean()] for one in threads] == case["path_numbers"]
    edges = [edge(one.thread_id, link, store) for one in threads for link in one.lineage]
    assert edges == case["edges"]
    assert reports[-1].exit_code == case["exit"]
    check_extras(case, store, threads, reports)


def check_extras(case, store, threads, reports):
    if "titles" in case:
        assert [one.title for one in threads] == case["titles"]
    if "projects" in case:
        assert [one.project for one in threads] == case["projects"]
    if "started_at" in case:
        told = [one.started_at.isoformat().replace("+00:00", "Z") for one in threads]
        assert told == case["started_at"]
    if "ended_at" in case:
        told = [one.ended_at.isoformat().replace("+00:00", "Z") for one in threads]
        assert told == case["ended_at"]
    if "events" in case:
        assert [[event.kind for event in one.events] for one in threads] == case["events"]
    if "tool_calls" in case:
        counts: Counter[str] = Counter()
        for thread in threads:
            for turn in thread.turns:
                counts.update({one.name: one.count for one in turn.tools.counts})
        assert dict(counts) == case["tool_calls"]
    if "places" in case:
        by_code = {one.code: one.places for one in reports[-1].codes}
        for code, lines in case["places"].items():
            assert [int(place.rpartition(":")[2]) for place in by_code[code]] == lines
    if "pending_offset" in case:
        assert [row.pending_offset for row in reports[-1].carriers] == [case["pending_offset"]]
    if "side_files" in case:
        assert reports[-1].side_files == case["side_files"]
    for alias in case.get("aliases", ()):
        child = store.threads[alias["thread"]]
        assert not {turn.number for turn in child.turns} & set(alias["from"])
        assert [link.parent for link in child.lineage] == [alias["to_thread"]]
        parent = {turn.number for turn in store.threads[alias["to_thread"]].turns}
        assert set(alias["to"]) <= parent


def test_a_chain_of_three_thousand_messages_is_one_thread(tmp_path):
    size = 3000
    mapping: dict[str, object] = {
        "n0": {"id": "n0", "message": None, "parent": None, "children": ["n1"]}
    }
    for place in range(1, size + 1):
        mapping[f"n{place}"] = {
            "id": f"n{place}",
            "parent": f"n{place - 1}",
            "children": [f"n{place + 1}"] if place < size else [],
            "message": {
                "id": f"n{place}",
                "author": {"role": "user" if place % 2 else "assistant"},
                "create_time": 1756000000.0 + place,
                "content": {"content_type": "text", "parts": [f"t{place}"]},
            },
        }
    file = tmp_path / "deep.json"
    talk = {"title": "T", "mapping": mapping, "current_node": f"n{size}", "id": "c1"}
    file.write_text(json.dumps([talk]), "utf-8")
    store = Memory()
    report = store.ingest(file)
    (thread,) = store.threads.values()
    assert thread.thread_id == "chatgpt:c1"
    assert [turn.text for turn in thread.clean()] == [f"t{place}" for place in range(1, size + 1)]
    assert (report.codes, report.exit_code) == ((), 0)
