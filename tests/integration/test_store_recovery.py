"""Whatever happens to the files of a graph, the ledger brings everything back, and says so."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graphstore import graphfiles, open_store
from graphstore.engine import Engine, marker
from graphstore.errors import DiskFull, LedgerDamaged
from graphstore.ids import question_id
from graphstore.model.knowledge import ThreadNode
from tests.fake_derive import NOW, FakeDerive, everything
from tests.integration.crashing_store import WHY, record

ROOT = Path(__file__).parents[2]
GRAPH = graphfiles.FILES[os.environ.get("CLEW_STORE__ENGINE", "kuzu")]
LOG = GRAPH + ".wal"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two threads; the first is in the file of the graph, the second in its log."""
    path = tmp_path_factory.mktemp("made") / "ws"
    with open_store(path, FakeDerive()) as store:
        store.commit(record(1), NOW)
        store.checkpoint()
        store.commit(record(2), NOW)
    return path


@pytest.fixture
def workspace(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "ws"))


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
    graph = workspace / GRAPH
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
    assert (workspace / "quarantine" / "20260115T120000Z" / GRAPH).exists()


def test_a_large_graph_is_not_copied_before_a_checkpoint(workspace, monkeypatch):
    monkeypatch.setattr(graphfiles, "COPY_LIMIT", 0)
    with open_store(workspace, FakeDerive()) as store:
        store.commit(record(3), NOW)
        with graphfiles.guarded(workspace / GRAPH):
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
    damage(workspace / GRAPH)
    with open_store(workspace, FakeDerive()) as store:
        assert "rebuilt" in kinds(store)
        assert len(store.nodes(ThreadNode)) == 2
        assert store.verify() == ()
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == []


def test_the_log_of_another_graph_is_not_replayed_silently(workspace, tmp_path):
    with open_store(tmp_path / "other", FakeDerive()) as other:
        other.commit(record(9), NOW)
    (tmp_path / "other" / LOG).replace(workspace / LOG)
    with open_store(workspace, FakeDerive()) as store:
        assert "rebuilt" in kinds(store)
        assert store.verify() == ()


@pytest.mark.parametrize("keep", [0, 1, 60, 1000])
def test_a_torn_or_lost_log_costs_nothing_and_is_said(workspace, keep):
    log = workspace / LOG
    log.write_bytes(log.read_bytes()[:keep] + b"torn" * (keep > 1))
    with open_store(workspace, FakeDerive()) as store:
        assert "rebuilt" in kinds(store)
        assert len(store.nodes(ThreadNode)) == 2
        assert store.verify() == ()


def flip(path, share):
    """Other bits for a few bytes."""
    content = bytearray(path.read_bytes())
    at = int(len(content) * share)
    content[at : at + 8] = bytes(byte ^ 0x5A for byte in content[at : at + 8])
    path.write_bytes(content)


def swap(workspace):
    aside = workspace / "aside"
    (workspace / GRAPH).replace(aside)
    (workspace / LOG).replace(workspace / GRAPH)
    aside.replace(workspace / LOG)


ODD = {
    "graph at 0.2": lambda w: flip(w / GRAPH, 0.2),
    "graph at 0.5": lambda w: flip(w / GRAPH, 0.5),
    "graph at 0.9": lambda w: flip(w / GRAPH, 0.9),
    "log at 0.01": lambda w: flip(w / LOG, 0.01),
    "log at 0.4": lambda w: flip(w / LOG, 0.4),
    "log at 0.9": lambda w: flip(w / LOG, 0.9),
    "graph is longer": lambda w: (w / GRAPH).write_bytes((w / GRAPH).read_bytes() + b"\0" * 4096),
    "log is longer": lambda w: (w / LOG).write_bytes((w / LOG).read_bytes() * 2),
    "log is noise": lambda w: (w / LOG).write_bytes(b"\xa5" * 5000),
    "log is gone": lambda w: (w / LOG).unlink(),
    "graph and log swapped": swap,
    "graph is its log": lambda w: shutil.copyfile(w / LOG, w / GRAPH),
    "seal is noise": lambda w: (w / (GRAPH + ".seal")).write_bytes(b"noise"),
}


@pytest.mark.parametrize("how", ODD)
def test_whatever_is_odd_is_said_and_costs_nothing(workspace, how):
    ODD[how](workspace)
    with open_store(workspace, FakeDerive(), since=NOW) as store:
        said = {"quarantined", "rebuilt"} & set(kinds(store))
        assert said or how == "log is longer", kinds(store)
        assert len(store.nodes(ThreadNode)) == 2
        assert store.verify() == ()
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == []
        assert {event.kind for event in store.recent(5)} >= said
        assert {event.at for event in store.recent(5)} <= {NOW}


@pytest.mark.parametrize("content", [b"", b"noise" * 2000])
def test_a_stray_shadow_costs_nothing(workspace, content):
    (workspace / (GRAPH + ".shadow")).write_bytes(content)
    with open_store(workspace, FakeDerive()) as store:
        assert len(store.nodes(ThreadNode)) == 2
        assert store.verify() == ()


def test_a_graph_that_ended_the_program_is_not_opened_again(workspace):
    marker(workspace / GRAPH).touch()  # what an abort inside the engine leaves behind
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == ["quarantined", "rebuilt"]
        assert store.verify() == ()
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == []


def test_an_older_graph_put_back_is_made_again(workspace, tmp_path):
    older = tmp_path / "older"
    older.mkdir()
    for part in graphfiles.file_set(workspace / GRAPH):
        shutil.copy2(part, older)
    with open_store(workspace, FakeDerive()) as store:
        store.commit(record(3), NOW)
        store.checkpoint()
    graphfiles.remove_set(workspace / GRAPH)
    for part in older.iterdir():
        shutil.copy2(part, workspace)
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == ["rebuilt"]
        assert len(store.nodes(ThreadNode)) == 3
        assert store.verify() == ()


@pytest.mark.parametrize("odd", ["there already", "without its end"])
def test_a_graph_that_the_newest_records_do_not_fit_into_is_made_again(workspace, odd, engine):
    crash(workspace, "ledger_committed")
    thread = record(3).thread_id if odd == "there already" else record(2).thread_id
    opened = Engine(workspace / GRAPH, name=engine)
    with opened.autocommit() as statement:
        if odd == "there already":
            statement.run(f"CREATE (:Thread {{thread_id: '{thread}'}})")
        else:
            question = question_id(WHY)
            found = f"MATCH (n:Question {{question_id: '{question}'}})"
            for ways in ("<-[r]-()", "-[r]->()"):
                statement.run(f"{found}{ways} DELETE r")
            statement.run(f"{found} DELETE n")
    opened.close()
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == ["quarantined", "rebuilt"]
        assert len(store.nodes(ThreadNode)) == 3
        assert store.verify() == ()


def test_a_copied_workspace_is_no_damage(workspace, tmp_path):
    copy = Path(shutil.copytree(workspace, tmp_path / "copy", copy_function=shutil.copyfile))
    for _ in range(2):
        with open_store(copy, FakeDerive()) as store:
            assert kinds(store) == []
            assert store.verify() == ()


def test_a_graph_is_sealed_from_its_first_closing_on(tmp_path):
    open_store(tmp_path, FakeDerive()).close()
    flip(tmp_path / GRAPH, 0.5)
    with open_store(tmp_path, FakeDerive()) as store:
        assert kinds(store) == ["quarantined", "rebuilt"]


def test_a_graph_without_a_seal_is_taken_as_it_is(workspace):
    (workspace / (GRAPH + ".seal")).unlink()
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == []
        assert store.verify() == ()


# little space


def little_space(monkeypatch):
    usage = type("Usage", (), {"free": 1_000_000})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)


def test_with_little_space_the_store_is_read_as_it_was(workspace, monkeypatch):
    crash(workspace, "ledger_committed")
    little_space(monkeypatch)
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == ["behind"]
        assert len(list(store.threads())) == 3
        assert len(store.nodes(ThreadNode)) == 2
        assert [notice.kind for notice in store.recent(5)] == ["behind"]
        with pytest.raises(DiskFull):
            store.commit(record(4), NOW)
    monkeypatch.undo()
    with open_store(workspace, FakeDerive()) as store:
        assert kinds(store) == []
        assert len(store.nodes(ThreadNode)) == 3
        assert store.verify() == ()


def test_with_little_space_nothing_half_is_committed(workspace, monkeypatch):
    with open_store(workspace, FakeDerive()) as store:
        little_space(monkeypatch)
        with pytest.raises(DiskFull):
            store.commit(record(3), NOW)
        with pytest.raises(DiskFull), store.deferred():
            store.commit(record(3), NOW)
        assert store.ledger.last_seq() == 2
        monkeypatch.undo()
        store.commit(record(3), NOW)
        assert len(store.nodes(ThreadNode)) == 3
        assert store.verify() == ()


def test_a_second_quarantine_gets_its_own_folder(workspace):
    for _ in range(2):
        damage_foreign(workspace / GRAPH)
        open_store(workspace, FakeDerive()).close()
    assert len(list((workspace / "quarantine").iterdir())) == 2


def test_a_missing_graph_is_made_again(workspace):
    (workspace / GRAPH).unlink()
    with open_store(workspace, FakeDerive()) as store:
        assert store.verify() == ()
        assert len(store.nodes(ThreadNode)) == 2


def test_a_graph_of_another_ledger_is_made_again(workspace, tmp_path):
    other = tmp_path / "other"
    open_store(other, FakeDerive()).close()
    graphfiles.remove_set(other / GRAPH)
    for part in graphfiles.file_set(workspace / GRAPH):
        part.replace(other / part.name)
    with open_store(other, FakeDerive()) as store:
        assert kinds(store) == ["quarantined", "rebuilt"]
        assert store.nodes(ThreadNode) == ()


def test_a_damaged_graph_beside_an_empty_ledger(tmp_path):
    open_store(tmp_path, FakeDerive()).close()
    damage_foreign(tmp_path / GRAPH)
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
