import io

import pytest

from ingest.model import Tally
from ingest.rows import Fence, fenced, rows


def read(content, **more):
    tally = Tally("x")
    return list(rows(io.BytesIO(content), tally, **more)), tally


def test_lines_have_their_places():
    found, tally = read("\ufeffa\u00e9\r\n\nb".encode())
    assert [(row.text, row.number) for row in found] == [("a\u00e9", 1), ("", 2), ("b", 3)]
    assert [(row.offset, row.end) for row in found] == [(3, 8), (8, 9), (9, 10)]
    assert (tally.codes, tally.records) == ({}, 0)


def test_bad_bytes_are_replaced_and_counted():
    found, tally = read(b"a\xffb\nc\0d\n")
    assert [row.text for row in found] == ["a\ufffdb", "cd"]
    assert tally.places == {"bad_utf8": ["x:1"], "nul_bytes": ["x:2"]}


def test_a_line_over_the_bound_is_a_lost_record():
    found, tally = read(b"too long\nb\n", limit=7)
    assert [row.text for row in found] == ["b"]
    assert (tally.codes, tally.balanced, tally.records) == ({"too_big": 1}, True, 1)


@pytest.mark.parametrize(
    ("lines", "is_open"),
    [
        (["```"], True),
        (["```py", "x", "```"], False),
        (["  ~~~", "```", "~~~~  "], False),
        (["````", "```"], True),
        (["```", "~~~"], True),
        (["```", "```py"], True),
        (["``` a`b"], False),
        (["~~~ a`b"], True),
        (["    ```"], False),
        (["``"], False),
        (["x ```"], False),
    ],
)
def test_a_fence_is_open_until_its_like_closes_it(lines, is_open):
    fence = Fence()
    for line in lines:
        fence.pass_over(line)
    assert fence.is_open == is_open
    fence.close()
    assert not fence.is_open


@pytest.mark.parametrize(
    ("lines", "inside"),
    [
        (["a", "```", "b", "```", "c"], [False, True, True, True, False]),
        (["```", "b"], [False, False]),
        (["````", "```", "b", "```"], [False, True, True, True]),
        (["~~~", "```", "~~~", "```"], [True, True, True, False]),
        (["```a", "```b", "x"], [False, False, False]),
    ],
)
def test_a_fence_that_nothing_closes_hides_nothing(lines, inside):
    assert fenced(lines) == inside
