import pytest

from ingest.link import sightings
from ingest.link.sightings import Sightings, hashed


def test_a_label_is_new_once():
    seen = Sightings()
    assert seen.add(["salt film", "oak post"]) == [False, False]
    assert seen.add(["oak post", "quay wall"]) == [True, False]
    assert seen.add([]) == []


@pytest.mark.parametrize("pending", [1, 3, 7])
def test_sorting_in_forgets_and_invents_nothing(monkeypatch, pending):
    monkeypatch.setattr(sightings, "_PENDING", pending)
    seen = Sightings()
    for start in range(0, 40, 4):
        labels = [f"label {number}" for number in range(start, start + 8)]
        known = [start > 0 and number < start + 4 for number in range(start, start + 8)]
        assert seen.add(labels) == known


def test_a_hash_is_the_same_in_every_process():
    assert hashed("salt film") == hashed("salt film") < 2**64
    assert hashed("salt film") != hashed("salt films")
    assert hashed("\ud800") == hashed("?")
