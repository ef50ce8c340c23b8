"""The small tables beside the records: carriers, parts, migrations."""

from contextlib import closing
from dataclasses import replace

import pytest

from graphstore.errors import MigrationFailed, SchemaTooNew
from graphstore.files import Files
from graphstore.ledger import Ledger
from graphstore.migrations import MIGRATIONS, applied, migrate
from graphstore.model.carrier import FileState
from graphstore.model.knowledge import Company, Concept, ConceptKind
from graphstore.model.record import EpochRecord
from graphstore.parts import Parts
from graphstore.shards import Part, Shard


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


EPOCH = EpochRecord(extractor="x", lineages=9, turns=40)


def a_concept(name, **changes):
    return Concept(
        concept_id=name, label=name, aliases=(), df=1, cf=2, generic=False, kind=ConceptKind.TERM
    ).replace(**changes)


def a_shard(thread, *concepts, root=None, company=()):
    named = tuple(one if isinstance(one, Concept) else a_concept(one) for one in concepts)
    return Shard(thread, root or thread, (), (), (), named, company)


def met(name, *turns, df=1):
    return Company(concept_id=name, df=df, turns=turns)


def test_changing_parts_marks_the_nodes_that_came_and_went(ledger):
    parts = Parts(ledger)
    parts.put([a_shard("a", "c:1", "c:2")], EPOCH)
    parts.settle(1)
    assert parts.dirty("node") == ()
    parts.put([a_shard("a", "c:2", "c:3")], EPOCH)
    assert parts.dirty("node") == ("c:1", "c:3")
    assert [
        row.concept_id for row in parts.shared(("c:1", "c:2", "c:3")) if isinstance(row, Concept)
    ] == ["c:2", "c:3"]


def test_a_crash_before_settling_leaves_them_marked(ledger):
    Parts(ledger).put([a_shard("a", "c:1")], EPOCH)
    assert Parts(ledger).dirty("node") == ("c:1",)


def lineages(sums):
    return [row.df for row in sums.shared(("c:1", "c:2")) if isinstance(row, Concept)]


def test_the_sums_that_the_graph_has_are_read_while_others_are_put(tmp_path):
    with closing(Ledger(tmp_path / "ledger.db")) as ledger:
        parts = Parts(ledger)
        parts.put([a_shard("a", "c:1")], EPOCH)
        parts.settle(1)
        with parts.earlier() as earlier:
            parts.put([a_shard("b", "c:1", "c:2")], EPOCH)
            assert lineages(earlier) == [1]
        assert lineages(parts) == [2, 1]


def test_nobody_knows_the_sums_of_the_graph_while_some_are_due(tmp_path):
    with closing(Ledger(tmp_path / "ledger.db")) as ledger:
        parts = Parts(ledger)
        parts.put([a_shard("a", "c:1")], EPOCH)
        with parts.earlier() as earlier:
            assert earlier is None
    with closing(Ledger(None)) as ledger, Parts(ledger).earlier() as earlier:
        assert earlier is None


def test_a_concept_counts_lineages_and_mentions(ledger):
    parts = Parts(ledger)
    other = a_concept("c:1", generic=True, kind=ConceptKind.ERROR, aliases=("latch", "locks"))
    shards = [
        a_shard("c", "c:1", root="r1"),
        a_shard("a", a_concept("c:1", aliases=("lock",)), root="r1"),
        a_shard("b", other, root="r2"),
    ]
    parts.put(shards, EPOCH)
    (joined,) = parts.shared(("c:1",))
    assert isinstance(joined, Concept)
    assert (joined.df, joined.cf, joined.generic) == (2, 6, True)
    assert (joined.label, joined.aliases) == ("c:1", ("latch", "lock", "locks"))
    assert joined.kind is ConceptKind.TERM


def test_a_pair_that_meets_again_is_a_relation_and_one_that_no_longer_does_is_none(ledger):
    parts = Parts(ledger)
    for thread in "ab":
        parts.put([a_shard(thread, company=(met("c:1", 1), met("c:2", 2)))], EPOCH)
    assert parts.dirty("pair") == ("c:1 c:2",)
    (relation,) = parts.meetings.relations(parts.dirty("pair"))
    assert relation.why == "together in 0 turns and 2 threads"
    parts.settle(1)
    parts.put([a_shard("b", company=(met("c:1", 1),))], EPOCH)
    assert parts.dirty("pair") == ("c:1 c:2",)
    assert list(parts.meetings.relations(("c:1 c:2",))) == []


def test_a_concept_keeps_its_strongest_pairs_whichever_came_first(ledger):
    parts = Parts(ledger)
    names = [f"c:{n:02}" for n in range(13)]
    for place, name in enumerate(names[1:], 1):
        company = (met(names[0], 1, df=2), met(name, 1, df=1 + place % 4))
        parts.put([a_shard(f"a{name}", company=company)], EPOCH)
        parts.put([a_shard(f"b{name}", company=company)], EPOCH)
    kept = {row.dst for row in parts.meetings.relations([f"c:00 {name}" for name in names[1:]])}
    # every other concept has one pair only, and keeps it
    assert kept == set(names[1:])
    again = Parts(ledger)
    rows = again.all()
    with closing(Ledger(None)) as aside:
        fresh = Parts(aside)
        fresh.clear()
        for place, name in enumerate(names[1:], 1):
            company = (met(names[0], 1, df=2), met(name, 1, df=1 + place % 4))
            fresh.add(a_shard(f"a{name}", company=company))
            fresh.add(a_shard(f"b{name}", company=company))
        fresh.finish(EPOCH)
        assert fresh.all() == rows


def test_many_nodes_are_asked_for_in_pages(ledger):
    parts = Parts(ledger)
    nodes = [f"q:{n:04}" for n in range(1200)]
    shard = a_shard("a")
    parts.add(replace(shard, parts=tuple(Part(node, "a", "mention", "[]") for node in nodes)))
    assert [part.node for part in parts.of(nodes)] == nodes
    assert parts.of([]) == ()


def test_starting_again_forgets_what_was_marked(ledger):
    parts = Parts(ledger)
    parts.put([a_shard("a", "c:1")], EPOCH)
    parts.clear()
    assert parts.dirty("node") == ()
    assert parts.all() == ()
    parts.settle(7)
    assert parts.settled() == 7


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
