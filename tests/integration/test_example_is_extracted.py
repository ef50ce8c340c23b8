"""The bundled conversations give what their own list says that extraction must find."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphstore.derivation import Ground
from graphstore.ids import question_id
from graphstore.model.conversation import LineageKind, Thread
from ingest.derive import Derivation
from tests.ingest_memory import Memory
from tests.talk import derived

EXAMPLE = Path(__file__).parent.parent.parent / "service" / "example"
ROW = re.compile(r"\| E\d+ \| (\w+) \| (.*?) \| .*? \|")


def rows(*checks: str) -> Iterator[tuple[str, ...]]:
    for found in ROW.finditer((EXAMPLE / "EXPECTED.md").read_text("utf-8")):
        if found[1] in checks:
            yield found[1], *found[2].split(" ; ")


def root_of(thread: Thread, threads: dict[str, Thread]) -> str:
    for link in thread.lineage:
        if link.kind is not LineageKind.DUPLICATE_OF and link.parent in threads:
            return root_of(threads[link.parent], threads)
    return thread.thread_id


@pytest.fixture(scope="module")
def example():
    memory = Memory()
    memory.ingest(EXAMPLE)
    threads = [memory.threads[name] for name in sorted(memory.threads)]
    roots = {one.thread_id: root_of(one, memory.threads) for one in threads}
    ground, epoch = derived(threads, roots)
    return ground, Derivation().journeys(ground, (), epoch)


def signals(ground: Ground, ref: str, kind: str) -> list[tuple[str, str]]:
    turn = next(one for one in ground.turns if one.ref == ref)
    return [(one["type"], one["clip"]) for one in json.loads(turn.signals) if one["kind"] == kind]


def test_questions_are_asked_where_they_should_be(example):
    ground, _ = example
    asked = {(row.dst, row.src) for row in ground.asks}
    expected = [(question_id(text), ref) for _, text, ref in rows("asked_at")]
    assert expected
    assert [pair for pair in expected if pair not in asked] == []


def test_questions_stand_as_they_should(example):
    ground, _ = example
    status = {one.question_id: one.status.value for one in ground.questions}
    expected = {question_id(text): state for _, text, state in rows("status")}
    assert expected
    assert {name: status[name] for name in expected} == expected
    resolved = {(row.dst, row.src) for row in ground.answers if row.kind == "resolved"}
    for _, text, ref in rows("answered_by"):
        assert (question_id(text), ref) in resolved


def test_corrections_decisions_and_frontiers_are_heard(example):
    ground, _ = example
    expected = list(rows("correction", "decision", "frontier", "rejected_route"))
    assert expected
    for check, ref, *words in expected:
        if check == "frontier":
            assert words[0] in {kind for kind, _ in signals(ground, ref, "frontier")}
        elif check == "rejected_route":
            clips = [clip for kind, clip in signals(ground, ref, "decision") if kind == "rejected"]
            assert any(all(word in clip for word in words) for clip in clips), ref
        else:
            assert any(words[0] in clip for _, clip in signals(ground, ref, check)), ref


def test_concepts_meet_where_they_should(example):
    ground, _ = example
    labels = {one.concept_id: one.label for one in ground.concepts}
    named = {
        (labels[row.dst], row.src.removeprefix("thread:").split("#")[0])
        for row in ground.mentions
        if row.src_table == "SourceRef"
    }
    for _, label, thread in rows("concept_in"):
        assert (label, thread) in named
    for _, left, right in rows("never_together"):
        threads = [{thread for label, thread in named if label == one} for one in (left, right)]
        assert all(threads)
        assert not threads[0] & threads[1]


def test_journeys_begin_with_their_core_inquiry(example):
    _, journeys = example
    core = {one.path_label: question_id(one.core_inquiry) for one in journeys}
    expected = {label: question_id(text) for _, label, text in rows("journey_core")}
    assert expected
    assert {label: core.get(label) for label in expected} == expected
    assert {one.status.value for one in journeys} == {"traveling"}
