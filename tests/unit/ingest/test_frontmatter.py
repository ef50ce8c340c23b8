import pytest

from ingest.frontmatter import LIMIT, front_matter


def read(*lines, end="---"):
    return front_matter(["---", *lines, end, "text"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("key: a word", ("a word",)),
        ("Key:   a: b #c  ", ("a: b #c",)),
        ("key: https://example.org/x?y=1", ("https://example.org/x?y=1",)),
        ('key: "a \\"b\\": [c], \\n"', ('a "b": [c], \n',)),
        ("key: 'it''s'", ("it's",)),
        ("key: [a, 'b, c', \"d\", e f]", ("a", "b, c", "d", "e f")),
        ("key: ['a' b, c,]", ("'a' b", "c", "")),
        ("key: []", ()),
        ("key: [ ]", ()),
        ("key:", ()),
        ("key : a", ("a",)),
    ],
)
def test_a_key_has_words(line, words):
    told = read(line)
    assert (told.lines, told.odd) == (3, ())
    assert list(told.values.values()) == [words]
    assert all(key == key.lower().strip() for key in told.values)


def test_dashed_items_belong_to_the_key_above():
    told = read("tags:", "  - one", "- 'two'", "", "# a comment", "other: x", "- three")
    assert told.values == {"tags": ("one", "two"), "other": ("x", "three")}
    assert told.odd == ()


@pytest.mark.parametrize(
    "line", ["key: |", "key: {a: b}", "key: &x", "key: [a", 'key: "a', "- a", "words", "  in: x",
             "key:value", "42: x"],
)  # fmt: skip
def test_what_is_more_than_words_is_odd(line):
    told = read(line, "fine: x")
    assert (told.values, told.odd) == ({"fine": ("x",)}, (1,))


def test_items_under_an_odd_key_are_odd():
    told = read("a: 1", "nested: {", "- x", "b: - y")
    assert told.odd == (2, 3)
    assert told.values == {"a": ("1",), "b": ("- y",)}


@pytest.mark.parametrize("end", ["---", "...", "---  "])
def test_it_ends_at_a_rule(end):
    assert read("a: 1", end=end).lines == 3


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["a: 1", "---"],
        ["---", "a: 1"],
        ["", "---", "a: 1", "---"],
        ["---", *["a: 1"] * LIMIT, "---"],
    ],
)
def test_without_both_rules_there_is_none(texts):
    assert front_matter(texts) == (0, {}, ())


def test_the_first_word_under_the_first_key_that_has_one():
    told = read("a:", "b: ''", "c: x", "d: y")
    assert (told.first("a", "b", "c", "d"), told.first("a"), told.first("z")) == ("x", None, None)
