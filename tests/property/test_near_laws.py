"""However questions come and go, the nearest are those that a fresh look finds."""

from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore import near
from graphstore.ledger import Ledger
from graphstore.near import Near, Worded, jaccard, probes
from graphstore.vectors import Static

WORDS = ("lock", "load", "lamp", "wick", "oil", "tide")
ASKED = {
    f"q:{n:02}": Worded(f"q:{n:02}", "why " + " ".join(words), frozenset(words))
    for n, words in enumerate(
        tuple(word for bit, word in enumerate(WORDS) if mask >> bit & 1) for mask in range(1, 64)
    )
}
STATIC = Static(9, ())
steps = st.lists(
    st.tuples(
        st.lists(st.sampled_from(sorted(ASKED)), max_size=5, unique=True),
        st.lists(st.sampled_from(sorted(ASKED)), max_size=4, unique=True),
    ),
    min_size=1,
    max_size=5,
)


@pytest.fixture(autouse=True)
def _short_lists(monkeypatch):
    monkeypatch.setattr(near, "MOST", 3)


def rows(ledger):
    return ledger.select("SELECT * FROM near ORDER BY question, other")


def filled(names):
    with closing(Ledger(None)) as ledger:
        fresh = Near(ledger, None)
        fresh.fill([[ASKED[name] for name in sorted(names)]], STATIC)
        return rows(ledger), set(fresh.pairs())


@given(steps)
def test_lists_that_grew_and_shrank_are_those_of_a_fresh_look(plan):
    with closing(Ledger(None)) as ledger:
        index = Near(ledger, None)
        held: set[str] = set()
        for come, go in plan:
            before = set(index.pairs())
            gone = sorted(set(go) & held)
            fresh = sorted(set(come) - held)
            told = index.update(gone, [ASKED[name] for name in fresh], STATIC)
            held = (held - set(gone)) | set(fresh)
            wanted, pairs = filled(held)
            assert rows(ledger) == wanted
            assert {pair[:2] for pair in before ^ pairs} <= told
            for one, other, cosine in pairs:
                assert index.cosine((one, other)) == cosine
                assert index.of(one)[other] == cosine


@given(st.sets(st.sampled_from(WORDS)), st.sets(st.sampled_from(WORDS)), st.floats(0.3, 1))
def test_who_shares_enough_words_shares_one_of_those_looked_up(left, right, least):
    mine, theirs = frozenset(left), frozenset(right)
    if jaccard(mine, theirs) >= least:
        for order in (sorted(mine), sorted(mine, reverse=True)):
            assert set(order[: probes(len(mine), least)]) & theirs


def test_vectors_on_the_disk_are_those_in_memory_and_a_lost_file_is_noticed(tmp_path):
    questions = [ASKED[name] for name in sorted(ASKED)[:20]]
    with closing(Ledger(None)) as ledger:
        index = Near(ledger, tmp_path)
        index.update([], questions[:12], STATIC)
        index.update([], questions[12:], STATIC)
        assert rows(ledger) == filled([one.question for one in questions])[0]
        assert index.sound()
        (file,) = tmp_path.glob("questions-*.f32")
        index.clear()
        index.fill([questions], STATIC)
        assert len(list(tmp_path.glob("questions-*.f32"))) == 2
        index.tidy()
        (other,) = tmp_path.glob("questions-*.f32")
        assert other != file
        assert index.sound()
        other.unlink()
        assert not index.sound()
