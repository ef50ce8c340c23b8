"""Cuts found part by part: the same report, byte for byte."""

import importlib.machinery
import sys
from types import ModuleType

import numpy as np
import pytest

from graphstore.errors import ExecutorUnavailable
from topology import executors, pool
from topology.executors import EXECUTORS, PARTS, shards
from topology.model import Limits
from topology.partition import finish, merge, partition_summary, shared_vertices
from topology.report import report, to_json
from topology.scout import scout
from topology.structure import Structure

WIDE = Limits(k_min=2, side_threads=1)


@pytest.fixture
def record(sketch):
    """Three groups in a chain of single mentions, an island, and nodes without edges."""
    for group in range(4):
        for at in range(4):
            words = [f"c:{group}-{at}", f"c:{group}-{(at + 1) % 4}"]
            sketch.ask(f"s:{group}{at}", f"q:{group}-{at}", *words, day=at)
    for group in range(2):
        sketch.mention(f"q:{group}-0", f"c:{group + 1}-0", (f"s:{group}0", 3))
    sketch.thread("s:alone")
    sketch.node("c:alone")
    return sketch


def by_parts_here(u, v, shard, _workers):
    """What processes do, without them."""
    shared = shared_vertices(u, v, shard)
    parts = [
        partition_summary(u[shard == one], v[shard == one], shared) for one in np.unique(shard)
    ]
    return finish(merge(parts, contracted=True), contracted=True)


def shown(record, executor):
    return to_json(report(scout(record.view(), None, WIDE, executor=executor), {}))


def test_the_report_is_the_same_wherever_cuts_are_found(record, monkeypatch):
    monkeypatch.setattr(pool, "cuts_by_processes", by_parts_here)
    here = shown(record, "inline")
    assert b"order_1" in here
    assert shown(record, "processes") == here


def test_processes_of_their_own_give_the_same_report(record):
    assert shown(record, "processes") == shown(record, "inline")


def test_what_comes_back_in_parts_is_what_is_told(record, monkeypatch):
    # a part that hides the bridges would show in the report: nothing is found twice
    monkeypatch.setitem(EXECUTORS, "processes", lambda level: hidden(executors.by_processes(level)))
    monkeypatch.setattr(pool, "cuts_by_processes", by_parts_here)
    found = scout(record.view(), ["weak_bridge"], WIDE, executor="processes")
    assert "order_1" not in {seed.kind for seed in found.seeds}


def hidden(cuts):
    return type(cuts)(cuts.components, cuts.bridges[:0], None)


def test_what_one_lineage_says_lies_in_one_part(record):
    level = Structure(record.view(), WIDE).level(0)
    part = shards(level)
    assert set(part.tolist()) == set(range(PARTS))
    first = np.where(level.lineage[level.u] >= 0, level.lineage[level.u], level.lineage[level.v])
    for lineage in np.unique(first):
        assert len(set(part[first == lineage].tolist())) == 1


def test_without_pyspark_the_hint_says_what_to_install(record, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ExecutorUnavailable) as caught:
        shown(record, "spark")
    assert caught.value.message == "The executor spark cannot run: pyspark is not installed."
    assert "clew[spark]" in caught.value.hint


def test_without_java_spark_does_not_start(record, monkeypatch):
    made = ModuleType("pyspark")
    made.__spec__ = importlib.machinery.ModuleSpec("pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark", made)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ExecutorUnavailable) as caught:
        shown(record, "spark")
    assert caught.value.reason == "no Java is found"
