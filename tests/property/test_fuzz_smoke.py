"""The fuzzer itself: it damages, it repeats itself, it catches, and what it once found holds."""

import random

import pytest

from fuzz.check import Broken, execute, hold
from fuzz.mutate import damaged, zipped
from fuzz.samples import samples
from ingest.sniff import readers

HELD = samples()
OTHERS = tuple(content for one in HELD.values() for kept in one for _, content in kept.files)


def chance(number):
    return random.Random(number)  # noqa: S311 - nothing to guard here


def made(name, number):
    rng = chance(f"0/{name}/{number}")
    return damaged(rng, rng.choice(HELD[name]).files, OTHERS)


def test_every_reader_has_samples():
    assert set(HELD) == {one.NAME for one in readers()}
    assert all(HELD.values())


@pytest.mark.parametrize("name", sorted(HELD))
def test_damaged_conversations_keep_the_laws(name, tmp_path):
    seen = [execute(chance(n), name, made(name, n), tmp_path) for n in range(20)]
    assert sum(one.records for one in seen) > 0


def test_an_execution_is_known_by_its_number():
    assert [made("codex", n) for n in range(30)] == [made("codex", n) for n in range(30)]
    assert len({made("codex", n) for n in range(30)}) > 25


def test_a_broken_law_is_told():
    with pytest.raises(Broken, match="a law"):
        hold([], "a law")


def test_archives_are_made_the_same_of_the_same():
    files = (("a.json", b"[]"), ("b/c.json", b"{}"))
    assert zipped(files) == zipped(files)
