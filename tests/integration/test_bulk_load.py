"""Rows loaded at once: many edges wait in files, and get the memory that they need."""

import pytest

from graphstore import arrow, bulk, open_store
from tests.fake_derive import NOW, FakeDerive, a_thread_record, everything

TEXTS = [f"How does the grommet {number} bend the sprocket?" for number in range(30)]


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "ws", FakeDerive()) as opened:
        opened.commit(a_thread_record("one", *TEXTS), NOW)
        yield opened


@pytest.mark.parametrize("bytes_of_pool", [0, 2**22], ids=["in one opening", "in a larger pool"])
def test_edges_that_waited_in_files_are_all_there(store, monkeypatch, bytes_of_pool):
    before = everything(store)
    monkeypatch.setattr(arrow, "BATCH", 7)
    monkeypatch.setattr(bulk, "_POOL", bytes_of_pool)
    store.rebuild(NOW)
    assert everything(store) == before
    assert store.verify() == ()
    assert not list(store.path.rglob("edges-*"))
