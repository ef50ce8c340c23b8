"""With the extraction that is shipped: what grew thread by thread is what is made at once."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore import open_store
from graphstore.model.knowledge import Links, Relates
from ingest.derive import Derivation
from tests.fake_derive import NOW, everything
from tests.talk import a_thread, record_of

THINGS = ("escape wheel", "vent stack", "salt film", "oak post", "hall sensor", "quay wall")
SAYINGS = (
    "Why does the {} stop after the {}?",
    "What stops the {} after the {}?",
    "> The {} leads to the {}.",
    "The {} needs the {}.",
    "> A {} instead of a {}, then the {} again.",
    "thanks, the {} works now",
)
EXAMPLES = max(4, settings().max_examples // 12)  # each makes two databases

turns = st.builds(
    lambda saying, things: saying.replace("{}", "%s") % tuple(things[: saying.count("{}")]),
    st.sampled_from(SAYINGS),
    st.permutations(THINGS),
)
talks = st.lists(st.lists(turns, min_size=1, max_size=6), min_size=4, max_size=9)


def record(place, texts):
    return record_of(a_thread(f"t{place}", *texts, day=place))


@pytest.mark.slow
@settings(max_examples=EXAMPLES)
@given(talks, st.integers(1, 3), st.randoms())
def test_grown_after_an_epoch_and_made_at_once_are_one(talk, late, shuffler):
    first, rest = talk[:-late], talk[-late:]
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as other,
        open_store(Path(one), Derivation()) as grown,
        open_store(Path(other), Derivation()) as later,
    ):
        derive = Derivation()
        with grown.deferred(), later.deferred():
            for place, texts in enumerate(first):
                for store in (grown, later):
                    store.commit(record(place, texts), NOW)
            epoch = derive.epoch(grown.threads(), grown.roots())
            for store in (grown, later):
                store.commit(epoch, NOW)
        added = [record(len(first) + place, texts) for place, texts in enumerate(rest)]
        for each in added:
            cut = each.replace(turns=each.turns[:1], path=each.path[:1])
            grown.commit(cut, NOW)
            grown.commit(each, NOW)
        shuffler.shuffle(added)
        with later.deferred():
            for each in added:
                later.commit(each, NOW)
        rows = {**everything(grown), "Meta": ()}
        assert rows == {**everything(later), "Meta": ()}
        grown.rebuild(NOW)
        assert {**everything(grown), "Meta": ()} == rows
        assert grown.verify() == ()


def test_such_talk_has_links_and_relations(tmp_path):
    with open_store(tmp_path / "s", Derivation()) as store, store.deferred():
        for place in range(3):
            said = (SAYINGS[place % 2].replace("{}", THINGS[0], 1).replace("{}", THINGS[1]),
                    "> The escape wheel leads to the vent stack.")  # fmt: skip
            store.commit(record(place, said), NOW)
    with open_store(tmp_path / "s", Derivation()) as store:
        assert store.edges(Links)
        assert {row.edge_type for row in store.edges(Relates)} >= {"causes", "co_occurs"}
