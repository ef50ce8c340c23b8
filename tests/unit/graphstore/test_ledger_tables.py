"""The small tables beside the records: carriers, parts, migrations."""

from contextlib import closing

import pytest

from graphstore.errors import MigrationFailed, SchemaTooNew
from graphstore.files import Files
from graphstore.fold import Part, Shard
from graphstore.ledger import Ledger
from graphstore.migrations import MIGRATIONS, applied, migrate
from graphstore.model.carrier import FileState
from graphstore.parts import Parts


@pytest.fixture
def ledger():
    with closing(Ledger(None)) as opened:
        yield opened


def a_file(path="/a", **changes):
    return FileState(path=path, size=3, mtime_ns=4, reader="x", version=1).replace(**changes)


def test_carriers_are_kept_by_path(ledger):
    files = Files(ledger)
    files.put([a_file("/b"), a_file("/a")])
    files.put([a_file("/b", size=9)])
    assert [row.path for row in files.all()] == ["/a", "/b"]
    assert files.get("/b") == a_file("/b", size=9)
    files.remove(["/b"])
    assert files.get("/b") is None


def a_shard(thread, *nodes):
    parts = tuple(Part(node, thread, "concept", f'"{thread}"') for node in nodes)
    return Shard(thread, (), (), parts)


def test_changing_parts_marks_old_and_new_nodes(ledger):
    parts = Parts(ledger)
    parts.put([a_shard("a", "c:1", "c:2")])
    parts.settle(3)
    assert parts.settled() == 3
    parts.put([a_shard("a", "c:2", "c:3")])
    assert parts.dirty() == ("c:1", "c:2", "c:3")
    assert [part.node for part in parts.of(["c:1", "c:2", "c:3"])] == ["c:2", "c:3"]


def test_a_crash_before_settling_leaves_them_marked(ledger):
    Parts(ledger).put([a_shard("a", "c:1")])
    assert Parts(ledger).dirty() == ("c:1",)


def test_parts_of_several_threads_are_found_by_node(ledger):
    parts = Parts(ledger)
    parts.put([a_shard("b", "c:1"), a_shard("a", "c:1")])
    assert [part.thread_id for part in parts.of(["c:1"])] == ["a", "b"]
    assert parts.of([]) == ()


def test_many_nodes_are_asked_for_in_pages(ledger):
    parts = Parts(ledger)
    nodes = [f"c:{n:04}" for n in range(1200)]
    parts.put([a_shard("a", *nodes)])
    assert [part.node for part in parts.of(nodes)] == nodes


def test_starting_again_forgets_what_was_marked(ledger):
    parts = Parts(ledger)
    parts.put([a_shard("a", "c:1")])
    parts.replace_all([Part("c:2", "b", "concept", "1")])
    assert parts.dirty() == ()
    assert parts.all() == (Part("c:2", "b", "concept", "1"),)


def m001_first(connection):
    connection.execute("CREATE TABLE one(x)")


def m002_second(connection):
    connection.execute("INSERT INTO one VALUES (1)")


def m003_broken(connection):
    connection.execute("INSERT INTO one VALUES (2)")
    connection.execute("INSERT INTO nowhere VALUES (1)")


def test_each_migration_runs_once_in_order(ledger):
    assert migrate(ledger, [m001_first]) == ("m001_first",)
    assert migrate(ledger, [m001_first, m002_second]) == ("m002_second",)
    assert migrate(ledger, [m001_first, m002_second]) == ()
    assert applied(ledger) == ((1, "m001_first"), (2, "m002_second"))
    assert ledger.select("SELECT x FROM one") == [(1,)]


def test_a_failed_migration_leaves_the_file_as_it_was(ledger):
    migrate(ledger, [m001_first])
    with pytest.raises(MigrationFailed) as caught:
        migrate(ledger, [m001_first, m003_broken])
    assert caught.value.name == "m003_broken"
    assert ledger.select("SELECT * FROM one") == []
    assert len(applied(ledger)) == 1


def test_a_newer_file_is_refused(ledger):
    migrate(ledger, [m001_first, m002_second])
    with pytest.raises(SchemaTooNew):
        migrate(ledger, [m001_first])


def test_the_migrations_of_clew_are_numbered_in_order(ledger):
    assert migrate(ledger) == tuple(step.__name__ for step in MIGRATIONS)
    numbers = [int(step.__name__[1:4]) for step in MIGRATIONS]
    assert numbers == list(range(1, len(MIGRATIONS) + 1))
