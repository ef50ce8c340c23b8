import io
import json

import pytest

from ingest.document import elements
from ingest.lines import CHUNK
from ingest.model import Tally


def read(raw, **options):
    tally = Tally("f")
    found = list(elements(io.BytesIO(raw), tally, **options))
    assert tally.balanced
    return found, tally


def values(raw, **options):
    return [one.value for one in read(raw, **options)[0]]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"[]", []),
        (b" [ ] ", []),
        (b"", []),
        (b'[{"a":1},{"b":[1,{"c":"]}"}]}]', [{"a": 1}, {"b": [1, {"c": "]}"}]}]),
        (b'\xef\xbb\xbf[{"a":1}\r\n,\r\n{"b":2}]\r\n', [{"a": 1}, {"b": 2}]),
        (b'// made by hand\n\n[{"a":1}]', [{"a": 1}]),
        (b'{"mapping":{},"id":"c"}', [{"mapping": {}, "id": "c"}]),
        (b'{"n":1,"conversations":[{"a":1}],"z":[2]}', [{"a": 1}]),
        (b'{"conversations":{"a":1}}', [{"conversations": {"a": 1}}]),
        (b'[{"a":1}]\n[{"b":2}]', [{"a": 1}, {"b": 2}]),
        (b'{"a":1}\n{"b":2}\n', [{"a": 1}, {"b": 2}]),
        (b'[1,"two",null,[3]]', [1, "two", None, [3]]),
    ],
)
def test_every_shape_of_document_gives_its_elements(raw, expected):
    found, tally = read(raw)
    assert [one.value for one in found] == expected
    assert tally.codes == {}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_offsets_are_bytes_of_the_carrier(encoding):
    mark = "\ufeff" if encoding != "utf-8" else ""
    text = mark + '[{"a":"\u00e9\U0001f600"}, {"b":"x"},\n{"c":"\u65e5"}]'
    raw = text.encode(encoding)
    for one in read(raw)[0]:
        assert json.loads(raw[one.offset :][: one.length].decode(encoding)) == one.value


def test_elements_over_chunk_borders_are_whole():
    items = [{"n": n, "t": "wort \u00fc" * 4000} for n in range(90)]
    raw = json.dumps(items, ensure_ascii=False).encode()
    assert len(raw) > 2 * CHUNK
    assert values(raw) == items


def test_an_element_of_several_chunks_is_whole():
    items = [{"t": "x" * (3 * CHUNK)}, {"u": 1}]
    assert values(json.dumps(items).encode()) == items


class Slow(io.BytesIO):
    """A stream that gives one byte at a time."""

    def read(self, size=-1):
        return super().read(min(size, 1))


@pytest.mark.parametrize(
    "raw", [b'[{"a": tr\\u0065}, 12345, -1.5e3, true, {"b":"\\ud83d\\ude00"}]', b"[1 , 22,333 ]"]
)
def test_no_token_is_cut_where_a_read_ends(raw):
    whole, tally = read(raw)
    slow = Tally("f")
    assert list(elements(Slow(raw), slow)) == whole
    assert slow.codes == tally.codes


@pytest.mark.parametrize(
    ("raw", "expected", "lost"),
    [
        (b'[{"a":1},{"b":nope},{"c":1}]', [{"a": 1}, {"c": 1}], 1),
        (b'[{"a":1},{"b":"x" "y,{]"},{"c":1}]', [{"a": 1}, {"c": 1}], 1),
        (b'[{"a":1},oops,{"c":1}]', [{"a": 1}, {"c": 1}], 1),
        (b'[{"a":1},{"b":[1', [{"a": 1}], 1),
        (b'[{"a":1},', [{"a": 1}], 1),
        (b'[{"a":1}', [{"a": 1}], 1),
        (b'[}{"a":1}]', [{"a": 1}], 1),
        (b'{"a":1,"b"', [], 1),
        (b'{"a":1,2:3}[{"c":1}]', [{"c": 1}], 1),
        (b'{"a":{]}}[{"c":1}]', None, 1),
        (b"[1] trailing", [1], 1),
    ],
)
def test_a_broken_element_is_counted_and_reading_goes_on(raw, expected, lost):
    found, tally = read(raw)
    if expected is not None:
        assert [one.value for one in found] == expected
    assert tally.codes["bad_json"] >= lost
    assert tally.dispositions == {"lost": tally.codes["bad_json"]}


def test_an_element_nested_too_deep_is_lost_alone():
    deep = b"[" * 100_000 + b"]" * 100_000
    found, tally = read(b'[{"d":' + deep + b'},{"e":' + b"[" * 600 + b"]" * 600 + b'},{"c":1}]')
    assert [one.value for one in found] == [{"c": 1}]
    assert tally.codes == {"bad_json": 2}


def test_an_element_over_the_limit_is_lost_though_it_lies_at_hand():
    found, tally = read(b'[{"a":1},{"b":"' + b"x" * 200 + b'"},{"c":1}]', limit=100)
    assert [one.value for one in found] == [{"a": 1}, {"c": 1}]
    assert tally.codes == {"too_big": 1}


def test_an_element_over_the_limit_is_lost_alone():
    big = json.dumps({"t": "x" * (2 * CHUNK), "u": ["y" * CHUNK, "z"]})
    found, tally = read(f'[{big},{{"c":1}}]'.encode(), limit=CHUNK)
    assert [one.value for one in found] == [{"c": 1}]
    assert tally.codes == {"too_big": 1}


def test_bad_bytes_become_replacement_characters():
    found, tally = read(b'[{"a":"\xc3"},{"b":"\xc3\xa9"}]')
    assert [one.value for one in found] == [{"a": "\ufffd"}, {"b": "\u00e9"}]
    assert tally.codes == {"bad_utf8": 1}
    assert [(one.offset, one.length) for one in found] == [(1, 9), (11, 10)]


def test_numbers_too_long_to_read_lose_one_element():
    found, tally = read(b'[{"a":' + b"9" * 5000 + b'},{"c":1}]')
    assert [one.value for one in found] == [{"c": 1}]
    assert tally.codes == {"bad_json": 1}
