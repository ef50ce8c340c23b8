"""The scout over a store and over a file: what is kept, compared, narrowed, and told."""

import json
from datetime import UTC, datetime

import networkx as nx
import pytest
from typer.testing import CliRunner

from cli import call
from cli.main import app
from graphstore.errors import GraphTooLarge, GraphUnreadable
from graphstore.model.knowledge import SeedRow
from service import operations, scouting, settings
from service.moments import WrongValue
from service.session import Session

THEN = datetime(2025, 12, 1, tzinfo=UTC)


def session_at(folder, **values):
    given = {"store.home": str(folder), **values}
    return Session(loaded=settings.load(given, folder), folder=folder, now=lambda: THEN)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scouted")
    operations.up(session_at(folder), example=True)
    return folder


@pytest.fixture
def session(home):
    return session_at(home)


def rows(session):
    with session.store("test") as store:
        return {row.seed_id: row for row in store.nodes(SeedRow)}


def test_the_same_store_again_is_the_same_run_and_nothing_is_new(session):
    first, again = operations.scout(session), operations.scout(session)
    assert first.run_id == again.run_id == again.baseline
    assert again.diff is not None
    assert (again.diff.new, again.diff.resolved, again.diff.not_checked) == ((), (), ())
    assert {each.seed_id for each in again.diff.persisting} == {s.seed_id for s in again.seeds}


def test_another_parameter_has_no_baseline(session):
    operations.scout(session)
    narrow = operations.scout(session, k_min=9)
    assert (narrow.baseline, narrow.diff) == (None, None)
    assert "history" in narrow.cannot_claim


def test_what_a_narrow_run_did_not_look_at_stays(session):
    operations.scout(session)
    before = rows(session)
    for asked in ({"store": False, "k_min": 5}, {"themes": False}, {"hub_df": 9}, {"max_cycle": 4}):
        operations.scout(session, **asked)
        assert rows(session) == before


def test_a_thread_of_its_own_is_a_scope(session):
    thread = operations.threads(session, limit=1)[0].thread_id
    found = operations.scout(session, threads=(thread,))
    assert found.view.lineages == 1
    assert operations.scout(session, labels=("no such label",)).view.lineages == 0


def test_a_stop_list_sets_concepts_aside(session, tmp_path):
    concept = operations.concepts(session, limit=1)[0]
    (tmp_path / "stop.txt").write_text(f"# mine\n{concept.label.upper()}\n", "utf-8")
    found = operations.scout(session, stop=str(tmp_path / "stop.txt"))
    assert [hub.rule for hub in found.hidden_hubs if hub.label == concept.label] == ["stop_list"]
    with pytest.raises(WrongValue):
        operations.scout(session, stop=str(tmp_path / "missing.txt"))


def test_a_graph_file_is_scouted_and_nothing_is_kept(session, tmp_path):
    before = rows(session)
    file = tmp_path / "club.graphml"
    nx.write_graphml(nx.karate_club_graph(), file)
    found = operations.scout(session, graph=str(file))
    assert found.ok
    assert {seed.shape for seed in found.seeds} >= {"cut_point", "cycle"}
    assert '"0"' in next(s for s in found.seeds if s.shape == "cut_point").sentence
    public = operations.scout(session, graph=str(file), public=True)
    assert '"' not in "".join(seed.sentence for seed in public.seeds)
    assert rows(session) == before
    with pytest.raises(GraphUnreadable):
        operations.scout(session, graph=str(tmp_path / "no.csv"))


def test_notes_are_judged_with_the_turns_of_the_store(session, tmp_path):
    before = rows(session)
    ref = operations.scout(session).seeds[0].refs[0].ref
    lines = [
        {"note_id": "good", "shape": "island", "refs": [{"ref": ref}]},
        {"note_id": "old", "shape": "island", "refs": [{"ref": ref, "fingerprint": "b2:0"}]},
        {"note_id": "gone", "shape": "knot", "refs": [{"ref": "thread:x:y#turn:1"}]},
    ]
    file = tmp_path / "notes.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = operations.scout(session, notes=str(file))
    named = {row.subject: row.reasons for row in found.rejected}
    assert "good" not in named
    assert named["old"] == ("missing_source_ref", "ref_stale")
    assert named["gone"] == ("missing_source_ref", "ref_unresolved")
    assert found.run_id != operations.scout(session).run_id
    assert rows(session) == before
    with pytest.raises(WrongValue):
        operations.scout(session, notes=str(tmp_path / "missing.jsonl"))


def test_a_graph_that_memory_cannot_hold_is_refused(session, monkeypatch):
    monkeypatch.setattr(scouting, "free_memory", lambda: 1000)
    with pytest.raises(GraphTooLarge) as caught:
        operations.scout(session)
    assert caught.value.edges > 100


def test_free_memory_is_known_or_boundless(monkeypatch):
    assert scouting.free_memory() > 1_000_000
    monkeypatch.delattr("os.sysconf")
    assert scouting.free_memory() > 2**62


def test_the_command_takes_a_graph_and_a_level(home, tmp_path):
    file = tmp_path / "les.json"
    file.write_text(json.dumps(nx.node_link_data(nx.les_miserables_graph(), edges="links")))
    token = call.OPTIONS.set(call.Options())
    try:
        words = ("scout", "--graph", str(file), "--level", "1", "--k-min", "2", "--no-themes")
        done = CliRunner().invoke(app, ["--home", str(home), *words, "--json"])
    finally:
        call.OPTIONS.reset(token)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {seed["level"] for seed in found["seeds"]} == {1}
    assert "source_backed" in found["cannot_claim"]
