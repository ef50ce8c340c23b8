"""Whatever happens to the files of a graph, the ledger brings everything back, and says so."""

import subprocess
import sys
from pathlib import Path

import pytest

from graphstore import engine as engines
from graphstore import open_store
from graphstore.errors import LedgerDamaged
from graphstore.model.knowledge import ThreadNode
from tests.fake_derive import NOW, FakeDerive, everything
from tests.integration.crashing_store import record

ROOT = Path(__file__).parents[2]


@pytest.fixture
def workspace(tmp_path):
    path = tmp_path / "ws"
    with open_store(path, FakeDerive()) as store:
        store.commit(record(1), NOW)
        store.commit(record(2), NOW)
    return path


def crash(workspace, boundary, action="commit", times=1):
    command = [sys.executable, "-m", "tests.integration.crashing_store", str(workspace), boundary]
    done = subprocess.run(
        [*command, action, str(times)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 9, done.stderr


def kinds(store):
    return [notice.kind for notice in store.notices]


@pytest.mark.parametrize(
    ("boundary", "threads"),
    [
        ("ledger_written", 2),
        ("ledger_committed", 3),
        ("graph_written", 3),
        ("graph_committed", 3),
    ],
)
def test_a_crash_while_committing_loses_nothing_committed(workspace, boundary, threads):
    crash(workspace, boundary)
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == []
        assert len(list(store.threads())) == threads
        assert len(store.nodes(ThreadNode)) == threads
        assert store.verify() == ()
        grown = everything(store)
        store.rebuild(NOW)
        assert everything(store) == grown


@pytest.mark.parametrize(
    "boundary", ["bulk_written", "old_graph_removed", "new_graph_in_place", "graph_committed"]
)
def test_a_crash_while_rebuilding_leaves_a_whole_graph(workspace, boundary):
    crash(workspace, boundary, "rebuild")
    with open_store(workspace, FakeDerive()) as store:
        assert len(store.nodes(ThreadNode)) == 3
        assert store.verify() == ()
        assert not (workspace / "rebuild").exists()


def test_a_crash_in_a_checkpoint_restores_the_pair(workspace):
    crash(workspace, "checkpoint_marked", "checkpoint")
    assert (workspace / "checkpoint.marker").exists()
    graph = workspace / "graph.kuzu"
    graph.write_bytes(graph.read_bytes()[: graph.stat().st_size // 2])
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == ["restored"]
        assert len(store.nodes(ThreadNode)) == 3
        assert store.verify() == ()
        assert not (workspace / "checkpoint.marker").exists()


def test_a_crash_after_a_checkpoint_is_undone_too(workspace):
    crash(workspace, "checkpoint_done", "checkpoint")
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == ["restored"]
        assert store.verify() == ()


def test_without_a_copy_the_graph_is_made_again(workspace):
    (workspace / "checkpoint.marker").write_text('{"copied": false}')
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == ["quarantined"]
        assert store.verify() == ()
    assert (workspace / "quarantine" / "20260115T120000Z" / "graph.kuzu").exists()


def test_a_large_graph_is_not_copied_before_a_checkpoint(workspace, monkeypatch):
    monkeypatch.setattr(engines, "COPY_LIMIT", 0)
    with open_store(workspace, FakeDerive()) as store:
        store.commit(record(3), NOW)
        with engines.guarded(workspace / "graph.kuzu"):
            assert not (workspace / "checkpoint").exists()
            assert (workspace / "checkpoint.marker").exists()


def damage_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage_head(path):
    path.write_bytes(b"\0" * 4096 + path.read_bytes()[4096:])


def damage_foreign(path):
    path.write_bytes(b"this is no graph at all" * 999)


def damage_empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [damage_half, damage_head, damage_foreign, damage_empty])
def test_a_damaged_graph_is_set_aside_and_made_again(workspace, damage):
    damage(workspace / "graph.kuzu")
    with open_store(workspace, FakeDerive()) as store:
        assert "rebuilt" in kinds(store)
        assert len(store.nodes(ThreadNode)) == 2
        assert store.verify() == ()
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == []


def test_the_log_of_another_graph_is_not_replayed_silently(workspace, tmp_path):
    with open_store(tmp_path / "other", FakeDerive()) as other:
        other.commit(record(9), NOW)
    (tmp_path / "other" / "graph.kuzu.wal").replace(workspace / "graph.kuzu.wal")
    with open_store(workspace, FakeDerive()) as store:
        assert "rebuilt" in kinds(store)
        assert store.verify() == ()


@pytest.mark.parametrize("keep", [0, 1, 60, 1000])
def test_a_torn_or_lost_log_costs_nothing(workspace, keep):
    log = workspace / "graph.kuzu.wal"
    log.write_bytes(log.read_bytes()[:keep] + b"torn" * (keep > 1))
    with open_store(workspace, FakeDerive()) as store:
        assert len(store.nodes(ThreadNode)) == 2
        assert store.verify() == ()


def test_a_second_quarantine_gets_its_own_folder(workspace):
    for _ in range(2):
        damage_foreign(workspace / "graph.kuzu")
        open_store(workspace, FakeDerive()).close()
    assert len(list((workspace / "quarantine").iterdir())) == 2


def test_a_missing_graph_is_made_again(workspace):
    (workspace / "graph.kuzu").unlink()
    with open_store(workspace, FakeDerive()) as store:
        assert store.verify() == ()
        assert len(store.nodes(ThreadNode)) == 2


def test_a_graph_of_another_ledger_is_made_again(workspace, tmp_path):
    other = tmp_path / "other"
    open_store(other, FakeDerive()).close()
    engines.remove_set(other / "graph.kuzu")
    for part in engines.file_set(workspace / "graph.kuzu"):
        part.replace(other / part.name)
    with open_store(other, FakeDerive()) as store:
        assert kinds(store) == ["quarantined", "rebuilt"]
        assert store.nodes(ThreadNode) == ()


def test_a_damaged_graph_beside_an_empty_ledger(tmp_path):
    open_store(tmp_path, FakeDerive()).close()
    damage_foreign(tmp_path / "graph.kuzu")
    with open_store(tmp_path, FakeDerive()) as store:
        assert store.verify() == ()
    assert (tmp_path / "quarantine" / "empty").is_dir()


def test_a_damaged_ledger_is_said_with_its_position(workspace):
    with open_store(workspace, FakeDerive()) as store, store.ledger.transaction() as connection:
        connection.execute("UPDATE record SET at = 'x' WHERE seq = 2")
    with pytest.raises(LedgerDamaged) as caught:
        open_store(workspace, FakeDerive())
    assert caught.value.seq == 2
    with pytest.raises(LedgerDamaged):
        open_store(workspace, FakeDerive(), wait_s=0.2)  # the lock was let go


def test_killed_again_and_again_nothing_is_lost(workspace):
    for times in (1, 2, 3):
        crash(workspace, "ledger_committed", "commit", times=1)
        with open_store(workspace, FakeDerive()) as store:
            assert len(store.nodes(ThreadNode)) == 2 + times
            assert store.verify() == ()
