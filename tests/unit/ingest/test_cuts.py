"""What stands before a place, by hashes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.cuts import Older, hash_of

keys = st.lists(st.text(max_size=40), max_size=50)


@given(keys, keys)
def test_none_of_them_is_ever_missed(some, more):
    older = Older.of_text(Older(map(hash_of, some)).and_more(map(hash_of, more)).text())
    assert all(older.has(key) for key in (*some, *more))


def test_others_are_not_among_them():
    older = Older(hash_of(f"uuid-{number}") for number in range(1000))
    assert sum(older.has(f"other-{number}") for number in range(1000)) == 0
    assert not Older(()).has("")


@pytest.mark.parametrize("text", ["no base 64!", "AAA", "ä"])
def test_what_is_no_such_text_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        Older.of_text(text)
