"""Links between notes become edges of the graph, the nearest note of a name first."""

import pytest

from graphstore import open_store
from graphstore.model.knowledge import Cites
from tests.fake_derive import NOW, FakeDerive, a_thread_record
from tests.ingest_memory import Memory

NOTES = {
    "Home.md": "---\ntitle: The start\naliases: [door]\n---\nsee [[locks]] and [[b/Cuts]]",
    "a/Locks.md": "# About locks\n\nsee [[cuts|near ones]], [[Home]] and [[Nowhere]]",
    "a/Cuts.md": "# Near\n\nback to [[DOOR]] and [[The start]]",
    "b/Cuts.md": "# Far\n\nwords",
}


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "ws", FakeDerive()) as opened:
        yield opened


def linked(store, tmp_path):
    home = tmp_path / "vault"
    (home / ".obsidian").mkdir(parents=True)
    for name, text in NOTES.items():
        file = home / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    memory = Memory()
    memory.ingest(home, now=NOW)
    for record in memory.records:
        store.commit(record, NOW)
    names = {one.thread_id: one.title for one in memory.threads.values()}
    return sorted((names[edge.src], edge.target, names[edge.dst]) for edge in store.edges(Cites))


def test_names_aliases_titles_and_paths_lead_to_notes(store, tmp_path):
    assert linked(store, tmp_path) == [
        ("About locks", "Home", "The start"),
        ("About locks", "cuts", "Near"),
        ("Near", "DOOR", "The start"),
        ("Near", "The start", "The start"),
        ("The start", "b/Cuts", "Far"),
        ("The start", "locks", "About locks"),
    ]


def test_a_talk_cites_a_note_only_by_a_name_that_one_note_has(store, tmp_path):
    linked(store, tmp_path)
    talk = a_thread_record("t", "about [[Cuts]] and [[Locks]]", citations=("Cuts", "Locks"))
    store.commit(talk, NOW)
    found = [edge for edge in store.edges(Cites) if edge.src == "test:t"]
    assert [edge.target for edge in found] == ["Locks"]
    assert store.verify() == ()


def test_a_note_that_comes_later_is_linked_then(store, tmp_path):
    before = Memory()
    home = tmp_path / "notes"
    home.mkdir()
    (home / "a.md").write_text("see [[b]]", "utf-8")
    before.ingest(home, notes=True)
    for record in before.records:
        store.commit(record, NOW)
    assert store.edges(Cites) == ()
    (home / "b.md").write_text("# Late\n\nwords", "utf-8")
    done = len(before.records)
    before.ingest(home, notes=True)
    for record in before.records[done:]:
        store.commit(record, NOW)
    (edge,) = store.edges(Cites)
    assert before.threads[edge.dst].title == "Late"
