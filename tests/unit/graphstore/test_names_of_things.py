"""Words of names, and which names may be of one thing."""

import pytest

from graphstore.model.names import may_be_one, words


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("src/getUserNames.py", ("src", "get", "user", "name", "py")),
        ("HTTPServer", ("http", "server")),
        ("read_only-names", ("read", "only", "name")),
        ("GPT-4o", ("gpt", "4", "o")),
        ("gas", ("gas",)),
        ("glass", ("glass",)),
        ("Gezeitenuhren", ("gezeitenuhren",)),
        ("潮汐 时钟", ("潮汐", "时钟")),
        ("--", ()),
    ],
)
def test_a_name_is_its_words_folded_and_in_order(name, expected):
    assert words(name) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("analytics", "src/analytics.py"),
        ("winding drum", "drums"),
        ("read_only_names", "self.readOnlyNames"),
        ("synchronizer", "synchroniser"),
        ("CLI", "cli"),
    ],
)
def test_one_thing_under_two_names(one, other):
    assert may_be_one(one, other)
    assert may_be_one(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("vent stack", "salt film"), ("pager", "page"), ("map", "nap"), ("", ""), ("", "tide")],
)
def test_two_things(one, other):
    assert not may_be_one(one, other)
    assert not may_be_one(other, one)
