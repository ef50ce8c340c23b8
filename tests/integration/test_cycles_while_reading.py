import gc
import weakref

import pytest

from ingest import reading
from ingest.options import Options
from ingest.pace import Pace
from ingest.run import run
from tests.claude_talk import Talk
from tests.ingest_memory import NOW, SALT, Memory

IDS = [f"{one}{one}{one}{one}{one}{one}{one}{one}-0000-4000-8000-000000000001" for one in "abcd"]


class Loop:
    def __init__(self):
        self.own = self


@pytest.fixture
def folder(tmp_path):
    for ident in IDS:
        talk = Talk(ident)
        talk.ask("why")
        (tmp_path / f"{ident}.jsonl").write_bytes(b"".join(talk.encoded()))
    return tmp_path


def left(folder):
    """How many cycles that are made while each file is read are still there at the end of it."""
    made: list[weakref.ref[Loop]] = []
    alive = []

    def tell(_step):
        alive.append(sum(one() is not None for one in made))
        made.append(weakref.ref(Loop()))

    list(run([str(folder)], Memory(), Options(salt=SALT), NOW, Pace(tell)))
    return alive


def test_cycles_are_looked_for_in_a_long_reading(folder, monkeypatch):
    monkeypatch.setattr(reading, "CYCLES_AFTER", 1)
    alive = left(folder)
    assert max(alive) < len(alive) / 2


@pytest.mark.parametrize("was_on", [True, False])
def test_a_reading_leaves_the_search_for_cycles_as_it_was(folder, was_on):
    if not was_on:
        gc.disable()
    try:
        left(folder)
        assert gc.isenabled() is was_on
    finally:
        gc.enable()
