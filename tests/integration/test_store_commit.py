# ruff: noqa: SLF001 - looks at, or breaks, what no public call gives away
"""Committing, reading back, querying and verifying with the real ledger and engine."""

from threading import Thread as Worker

import pytest

from graphstore import open_store
from graphstore.errors import QueryRefused, StoreError
from graphstore.ids import question_id
from graphstore.model.conversation import Committed, Unchanged
from graphstore.model.hypothesis import HypothesisState, Resonates
from graphstore.model.knowledge import (
    Anchored,
    Cites,
    Concept,
    Lineage,
    Marks,
    Passes,
    Question,
    SeedRow,
    SourceRefNode,
    ThreadNode,
)
from graphstore.model.record import EpochRecord, OutcomeRecord, ReviewRecord, TurnChange
from graphstore.model.refs import RefUnresolved
from graphstore.taking import StopRewritten
from graphstore.threads import TurnRewritten
from tests.fake_derive import (
    NOW,
    FakeDerive,
    a_cycle_record,
    a_hypothesis,
    a_journey_record,
    a_stop,
    a_thread_record,
    child_of,
    everything,
    refs_of,
)

WHY = "Why do locks fail under load?"


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "ws", FakeDerive()) as opened:
        yield opened


def fill(store):
    store.commit(a_thread_record("a", WHY, "Because threads wait", "thanks, that holds"), NOW)
    store.commit(a_thread_record("b", WHY, "Because threads wait", "What about ladders?"), NOW)
    return store


def test_a_new_store_is_empty_and_whole(store):
    assert list(store.threads()) == []
    assert store.epoch() is None
    assert store.verify() == ()
    assert store.notices == ()
    assert store.meta()["applied"] == "0"


def test_the_workspace_is_private(store):
    modes = {path.name: path.stat().st_mode & 0o077 for path in (store.path, *store.path.iterdir())}
    assert set(modes.values()) == {0}


def test_a_commit_is_in_the_ledger_and_in_the_graph(store):
    record = a_thread_record("a", WHY, "Because threads wait")
    assert store.commit(record, NOW) == Committed(seq=1)
    assert store.thread("test:a").turns == record.turns
    assert [node.ref for node in store.nodes(SourceRefNode)] == list(refs_of("a", 1, 2))
    assert store.meta()["applied"] == "1"
    assert store.verify() == ()


@pytest.mark.parametrize(
    "record",
    [
        a_thread_record("a", WHY),
        a_journey_record(a_stop(1, "a", 1)),
        EpochRecord(extractor="x", lineages=1),
        a_cycle_record(),
        ReviewRecord(act="approve", target="h:1", at=NOW),
    ],
    ids=lambda record: record.kind,
)
def test_saying_it_twice_is_saying_it_once(store, record):
    assert store.commit(record, NOW) == Committed(seq=1)
    assert store.commit(record, NOW) == Unchanged()
    assert store.ledger.last_seq() == 1


def test_a_failed_cycle_may_land_later(store):
    assert store.commit(a_cycle_record(outcome="failed"), NOW) == Committed(seq=1)
    assert store.commit(a_cycle_record(), NOW) == Committed(seq=2)
    assert store.commit(a_cycle_record(next_action="other"), NOW) == Unchanged()
    assert len(store.cycles()) == 2


def test_a_question_of_two_threads_is_one_node(store):
    fill(store)
    (shared,) = (node for node in store.nodes(Question) if node.question_id == question_id(WHY))
    assert shared.ref_count == 2
    assert shared.status.value == "answered"
    (concept,) = (node for node in store.nodes(Concept) if node.label == "locks")
    assert (concept.df, concept.cf) == (2, 2)


def test_a_rejected_record_leaves_no_trace(store):
    fill(store)
    with pytest.raises(TurnRewritten):
        store.commit(a_thread_record("a", "Other words"), NOW)
    assert store.ledger.last_seq() == 2
    assert store.verify() == ()


def test_stops_of_a_journey_are_only_added(store):
    store.commit(a_journey_record(a_stop(1, "a", 1)), NOW)
    with pytest.raises(StopRewritten):
        store.commit(a_journey_record(a_stop(1, "a", 1, moment="other")), NOW)
    assert store.commit(a_journey_record(a_stop(2, "b", 1)), NOW) == Committed(seq=2)
    assert len(store.journey_records()) == 2


def test_deferred_commits_reach_the_graph_at_the_end(store):
    with store.deferred():
        fill(store)
        assert store.nodes(ThreadNode) == ()
        assert len(list(store.threads())) == 2
    assert len(store.nodes(ThreadNode)) == 2
    assert store.verify() == ()


def test_an_interrupted_run_catches_up_with_the_next_commit(store):
    def stop():
        with store.deferred():
            store.commit(a_thread_record("a", WHY), NOW)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()
    assert store.nodes(ThreadNode) == ()
    store.commit(a_thread_record("b", WHY), NOW)
    assert len(store.nodes(ThreadNode)) == 2


def test_few_grown_threads_of_many_are_projected_in_place(store):
    with store.deferred():
        for native in "abcdefgh":
            store.commit(a_thread_record(native, WHY, "Because threads wait"), NOW)
    with store.deferred():
        store.commit(a_thread_record("a", WHY, "Because threads wait", "thanks"), NOW)
        store.commit(a_thread_record("i", WHY, "ladders"), NOW)
    assert store.verify() == ()
    before = everything(store)
    store.rebuild(NOW)
    assert everything(store) == before


@pytest.mark.parametrize("grown", [1, 12])
def test_threads_of_a_store_that_was_closed_grow_in_place(tmp_path, grown):
    with open_store(tmp_path / "ws", FakeDerive()) as store, store.deferred():
        for number in range(40):
            store.commit(a_thread_record(f"t{number}", WHY, "Because threads wait"), NOW)
    with open_store(tmp_path / "ws", FakeDerive()) as store:
        with store.deferred():
            for number in range(grown):
                record = a_thread_record(f"t{number}", WHY, "Because threads wait", "And locks?")
                store.commit(record, NOW)
        assert len(store.nodes(SourceRefNode)) == 80 + grown
        assert store.verify() == ()


def test_a_new_epoch_derives_every_thread_again(store):
    with store.deferred():
        for native in "abcde":
            store.commit(a_thread_record(native, WHY, "Because threads wait"), NOW)
    assert "locks" in {node.label for node in store.nodes(Concept)}
    epoch = FakeDerive().epoch(store.threads(), store.roots())
    store.commit(epoch, NOW)
    assert "locks" not in {node.label for node in store.nodes(Concept)}
    assert store.epoch() == epoch
    assert store.verify() == ()


def test_another_extractor_derives_again_at_opening(tmp_path):
    with open_store(tmp_path, FakeDerive()) as store:
        fill(store)
    with open_store(tmp_path, FakeDerive(version="fake/2")) as store:
        assert [notice.kind for notice in store.notices] == ["rebuilt"]
        assert store.meta()["extractor"] == "fake/2"
        assert store.verify() == ()
    with open_store(tmp_path, FakeDerive(version="fake/2")) as store:
        assert store.notices == ()


def test_forks_share_their_prefix(store):
    fill(store)
    store.commit(
        a_thread_record("c", WHY, "Because threads wait", "another way", lineage=child_of("a", 2)),
        NOW,
    )
    assert [n.ref for n in store.nodes(SourceRefNode) if n.thread_id == "test:c"] == list(
        refs_of("c", 3)
    )
    assert store.roots()["test:c"] == "test:a"
    assert store.edges(Lineage)[0].split_turn == 2
    resolved = store.resolve(refs_of("c", 1)[0])
    assert (resolved.ref, resolved.thread.thread_id) == (refs_of("a", 1)[0], "test:a")
    assert resolved.thread.turns == ()
    assert store.verify() == ()


def test_copies_leave_the_graph_when_the_parent_arrives(store):
    store.commit(
        a_thread_record("c", WHY, "Because threads wait", "another way", lineage=child_of("a", 2)),
        NOW,
    )
    assert len(store.nodes(SourceRefNode)) == 3
    assert len(store.search.docs()) == 3
    assert store.edges(Lineage) == ()
    store.commit(a_thread_record("a", WHY, "Because threads wait"), NOW)
    assert [n.ref for n in store.nodes(SourceRefNode)] == [*refs_of("a", 1, 2), *refs_of("c", 3)]
    assert {doc.ref for doc in store.search.docs()} == {n.ref for n in store.nodes(SourceRefNode)}
    assert [n.df for n in store.nodes(Concept) if n.label == "locks"] == [1]
    assert store.verify() == ()


def test_what_does_not_resolve_says_why(store):
    fill(store)
    assert store.resolve("nonsense") == RefUnresolved(reason="malformed")
    assert store.resolve("thread:test:z#turn:1") == RefUnresolved(reason="no_thread")
    assert store.resolve("thread:test:a#turn:99") == RefUnresolved(reason="no_turn")


def test_fingerprints_are_null_for_turns_that_left(store):
    fill(store)
    change = (TurnChange(number=3, source_gone=True),)
    store.commit(a_thread_record("a", changes=change, path=(1, 2)), NOW)
    refs = refs_of("a", 1, 3, 99)
    found = store.fingerprints(refs)
    assert found[refs[0]] == store.thread("test:a").turns[0].fingerprint
    assert found[refs[1]] is None
    assert found[refs[2]] is None
    assert store.verify() == ()


def test_citations_join_threads_by_title(store):
    store.commit(a_thread_record("a", WHY, title="Locks"), NOW)
    cite = a_thread_record("b", "See Locks for more", citations=("Locks", "Nowhere"))
    store.commit(cite, NOW)
    (edge,) = store.edges(Cites)
    assert (edge.src, edge.dst, edge.source_refs) == ("test:b", "test:a", refs_of("b", 1))
    store.commit(a_thread_record("a", WHY, title="Other"), NOW)
    assert store.edges(Cites) == ()
    assert store.verify() == ()


def test_journeys_and_hypotheses_follow_their_records(store):
    fill(store)
    asked = [node.question_id for node in store.nodes(Question)]
    record = a_journey_record(a_stop(1, "a", 1), a_stop(2, "b", 1), questions=tuple(asked))
    store.commit(record, NOW)
    assert len(store.edges(Passes)) == 3
    assert len(store.edges(Anchored)) == 4
    hypothesis = a_hypothesis(Resonates, asked[0], asked[1])
    store.commit(a_cycle_record(hypothesis), NOW)
    assert store.edges(Resonates) == (hypothesis,)
    refuted = hypothesis.replace(state=HypothesisState.REFUTED, closed_at=NOW)
    store.commit(a_cycle_record(refuted, cycle_id="dc:2"), NOW)
    assert store.edges(Resonates) == (refuted,)
    assert store.verify() == ()
    before = everything(store)
    store.rebuild(NOW)
    assert everything(store) == before


def test_a_hypothesis_is_what_the_last_record_on_it_says(store):
    fill(store)
    one, other = [node.question_id for node in store.nodes(Question)][:2]
    born = a_hypothesis(Resonates, one, other)
    confirmed = born.replace(points=50, confirmations=1, validation_ids=("e:1",))
    outcome = OutcomeRecord(
        event_id="e:1",
        hypothesis_id=born.hypothesis_id,
        verdict="confirmed",
        ref=None,
        lineage=None,
        by="owner",
        at=NOW,
        after=confirmed,
    )
    approved = confirmed.replace(state=HypothesisState.VALIDATED)
    review = ReviewRecord(act="approve", target=born.hypothesis_id, at=NOW, after=(approved,))
    expired = approved.replace(state=HypothesisState.EXPIRED, closed_at=NOW)
    for record, expected in (
        (a_cycle_record(born), born),
        (outcome, confirmed),
        (review, approved),
        (a_cycle_record(cycle_id="dc:2", changes=(expired,)), expired),
    ):
        assert store.commit(record, NOW) != Unchanged()
        assert store.edges(Resonates) == (expected,)
    assert store.commit(outcome, NOW) == Unchanged()
    assert store.verify() == ()
    before = everything(store)
    store.rebuild(NOW)
    assert everything(store) == before


def test_ground_holds_every_extracted_row(store):
    ground = fill(store).ground()
    assert ground.turns == store.nodes(SourceRefNode)
    assert len(ground.threads) == 2
    assert ground.mentions


def a_seed(key="s:1", **changes):
    base = SeedRow(
        seed_id=key,
        shape="cycle",
        kind="order_1",
        level=0,
        score=0.5,
        provenance="computed",
        sentence="",
        members=("member=test:a",),
        source_refs=(),
        detail="{}",
        view_hash="v",
        run_id="run:1",
        first_run="run:1",
        last_run="run:1",
        resolved_run=None,
    )
    return base.replace(**changes)


def a_mark(dst, seed="s:1", role="member"):
    return Marks(src_table="Seed", src=seed, dst_table="Thread", dst=dst, role=role)


def test_seeds_are_stored_without_a_record(store):
    fill(store)
    given = ((a_seed(),), (a_mark("test:a"), a_mark("test:b"), a_mark("test:gone")))
    assert store.put_seeds("run:1", *given) == Committed(seq=2)
    assert store.put_seeds("run:1", *given) == Unchanged()
    assert store.ledger.last_seq() == 2
    assert [edge.dst for edge in store.edges(Marks)] == ["test:a", "test:b"]
    assert store.meta()["seeds"] == "run:1"
    assert store.verify() == ()


def test_marks_of_a_seed_are_replaced_and_other_seeds_stay(store):
    fill(store)
    store.put_seeds("run:1", (a_seed(), a_seed("s:2")), (a_mark("test:a"), a_mark("test:a", "s:2")))
    store.put_seeds("run:2", (a_seed(score=0.9),), (a_mark("test:b"),))
    assert {(edge.src, edge.dst) for edge in store.edges(Marks)} == {
        ("s:1", "test:b"),
        ("s:2", "test:a"),
    }
    assert [node.score for node in store.nodes(SeedRow)] == [0.9, 0.5]


def test_a_query_reads_with_parameters_a_limit_and_plain_cells(store):
    fill(store)
    cypher = "MATCH (n:SourceRef) WHERE n.thread_id = $thread RETURN n.turn, n.at ORDER BY n.turn;"
    table = store.query(cypher, {"thread": "test:a"})
    assert table.columns == ("n.turn", "n.at")
    assert table.rows[0] == (1, "2026-01-01T00:01:00Z")
    assert not table.truncated
    short = store.query("MATCH (n:SourceRef) RETURN n.ref", {}, limit=2)
    assert (len(short.rows), short.truncated) == (2, True)
    whole = store.query(
        "MATCH (t:Thread) RETURN t, collect(t.title), 1.0 / 0.0, t.project", {}, limit=1
    )
    assert '"title":"Thread a"' in whole.rows[0][0]
    assert whole.rows[0][1:] == ('["Thread a"]', "inf", None)
    assert store.query("MATCH (t:Thread) WHERE t.title = $x RETURN t", {"x": "\ud800"}).rows == ()


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (n:Nowhere) RETURN n",
        "MATCH (n:Thread) RETURN n.nothing",
        "MATCH (n RETURN n",
        "MATCH (n:Thread) WHERE n.title = $missing RETURN n",
        "RETURN tointeger('canary')",
    ],
)
def test_a_query_that_cannot_run_is_refused(store, cypher):
    fill(store)
    with pytest.raises(QueryRefused):
        store.query(cypher, {})
    assert len(store.nodes(ThreadNode)) == 2


def test_a_query_runs_out_of_time(store):
    fill(store)
    cypher = "UNWIND range(1, 30000) AS a UNWIND range(1, 30000) AS b RETURN sum(a * b)"
    with pytest.raises(QueryRefused) as caught:
        store.query(cypher, {}, timeout_s=0.2)
    assert "time" in str(caught.value)
    assert store.verify() == ()


def test_a_query_cannot_write_even_past_the_guard(store):
    fill(store)
    with pytest.raises(StoreError), store._space.graph.reader() as statement:
        statement.run("MATCH (n:Thread) SET n.title = 'x'")
    assert [node.title for node in store.nodes(ThreadNode)] == ["Thread a", "Thread b"]


def test_readers_work_while_a_writer_commits(store):
    fill(store)
    seen: list[int] = []
    failures: list[Exception] = []

    def read():
        try:
            seen.extend(len(store.nodes(ThreadNode)) for _ in range(10))
        except Exception as error:  # noqa: BLE001 - shown by the assertion
            failures.append(error)

    readers = [Worker(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    store.commit(a_thread_record("c", WHY), NOW)
    store.rebuild(NOW)
    store.commit(a_thread_record("d", WHY), NOW)
    for reader in readers:
        reader.join()
    assert failures == []
    assert set(seen) <= {2, 3, 4}


def test_checkpoint_folds_the_log_in(store):
    fill(store)
    assert store.log_size > 0
    store.checkpoint()
    assert store.log_size == 0
    assert store.verify() == ()
    assert [path.name for path in store.path.glob("checkpoint*")] == []


def test_a_rebuild_reports_what_the_graph_holds(store):
    fill(store)
    report = store.rebuild(NOW)
    assert (report.at, report.applied) == (NOW, 2)
    assert report.nodes == sum(
        len(rows) for name, rows in everything(store).items() if rows and hasattr(rows[0], "key")
    )


# what verify finds


def test_verify_finds_an_edited_record(store):
    fill(store)
    with store.ledger.transaction() as connection:
        connection.execute("UPDATE record SET body = replace(body, 'locks', 'rocks') WHERE seq = 1")
    assert [(fault.kind, fault.subject) for fault in store.verify()] == [("chain", "1")]


def test_verify_finds_a_lost_record(store):
    fill(store)
    store.commit(a_thread_record("c", WHY), NOW)
    with store.ledger.transaction() as connection:
        connection.execute("DELETE FROM record WHERE seq = 2")
    assert [(fault.kind, fault.subject) for fault in store.verify()] == [("chain", "3")]


def test_verify_finds_a_body_under_another_subject(store):
    fill(store)
    entry = next(store.ledger.entries())
    forged = type(entry)(1, entry.at, entry.kind, "test:x", "{}", b"")
    with store.ledger.transaction() as connection:
        connection.execute("DELETE FROM record WHERE seq = 2")
        connection.execute(
            "UPDATE record SET subject = 'test:x', checksum = ?",
            (type(entry)(1, entry.at, entry.kind, "test:x", entry.body, b"").expected(b""),),
        )
    assert [fault.kind for fault in store.verify()] == ["record"]
    with store.ledger.transaction() as connection:
        connection.execute("UPDATE record SET body = '{}', checksum = ?", (forged.expected(b""),))
    assert [fault.kind for fault in store.verify()] == ["record"]


def test_verify_finds_a_changed_turn_without_quoting_it(store):
    fill(store)
    with store.ledger.transaction() as connection:
        connection.execute(
            "UPDATE turn SET body = replace(body, 'wait', 'canary') WHERE number = 2"
        )
    faults = store.verify()
    assert {"derived", "fingerprint", "graph"} <= {fault.kind for fault in faults}
    assert "canary" not in repr(faults)


def test_verify_finds_rows_that_the_ledger_does_not_give(store):
    fill(store)
    with store._space.graph.opened().write() as statement:
        statement.run("MATCH (n:Thread {thread_id: 'test:a'}) SET n.title = 'x'")
        statement.run(
            "CREATE (n:Concept {concept_id: 'c:x', label: 'x', aliases: [], df: 1, cf: 1, "
            "generic: false, kind: 'term'})"
        )
        statement.run("MATCH (:SourceRef)-[m:MENTIONS]->(c:Concept {label: 'locks'}) DELETE m")
        statement.run(
            "MATCH (a:Thread {thread_id: 'test:a'})-[h:HAS_TURN]->(b:SourceRef) "
            "CREATE (a)-[:HAS_TURN {source_refs: ['thread:x:x#turn:1', 'broken'], weight: 1.0, "
            "extractor: '', turn: 1}]->(b)"
        )
    faults = store.verify()
    found = {(fault.kind, fault.subject.split()[0]) for fault in faults}
    assert {("graph", "Thread"), ("graph", "Concept"), ("graph", "MENTIONS")} <= found
    assert {("ref", "HAS_TURN"), ("count", "HAS_TURN")} <= found


def test_verify_finds_ids_that_are_not_derived(store):
    fill(store)
    asked = [node.question_id for node in store.nodes(Question)]
    store.commit(a_journey_record(a_stop(1, "a", 1), journey_id="j:made-up"), NOW)
    store.commit(a_journey_record(journey_id="j:empty"), NOW)
    made_up = a_hypothesis(Resonates, *asked, hypothesis_id="h:made-up")
    store.commit(a_cycle_record(made_up), NOW)
    assert {f.subject for f in store.verify() if f.kind == "id"} == {
        "j:made-up",
        "j:empty",
        "h:made-up",
    }


def test_verify_finds_parts_that_are_off(store):
    fill(store)
    with store.ledger.transaction() as connection:
        connection.execute("DELETE FROM part WHERE thread_id = 'test:a'")
    assert [(fault.kind, fault.subject) for fault in store.verify()] == [("derived", "part")]
