import io
import re

import pytest

from ingest.lines import CHUNK, SKIP_TAIL, Line, Skip, lines

SKIP = Skip(b"progress", re.compile(rb'\{"type":"progress"'))


def split(raw, **options):
    return list(lines(io.BytesIO(raw), **options))


def test_splits_on_newlines_only():
    raw = "a\u2028b\u2029c\u0085d\x0be\nf\n".encode()
    assert [line.raw.decode() for line in split(raw)] == ["a\u2028b\u2029c\u0085d\x0be", "f"]


def test_numbers_and_offsets_tell_where_a_line_stands():
    assert split(b"ab\ncd\r\n\nef") == [
        Line(1, 0, b"ab", "whole", 3),
        Line(2, 3, b"cd", "whole", 7),
        Line(3, 7, b"", "whole", 8),
        Line(4, 8, b"ef", "tail", 10),
    ]


def test_one_carriage_return_is_stripped():
    assert [line.raw for line in split(b"a\r\r\n\r\nb\r")] == [b"a\r", b"", b"b"]


def test_a_bom_is_no_part_of_the_first_line():
    assert split(b"\xef\xbb\xbfab\n") == [Line(1, 3, b"ab", "whole", 6)]


def test_nothing_has_no_lines():
    assert split(b"") == []
    assert split(b"\xef\xbb\xbf") == []


def test_a_line_over_the_limit_is_told_and_the_next_one_is_read():
    found = split(b"x" * 50 + b"\nok\n", limit=20)
    assert found == [Line(1, 0, b"", "too_big", 51), Line(2, 51, b"ok", "whole", 54)]


def test_a_line_longer_than_a_chunk_is_one_line():
    long = b"y" * (2 * CHUNK + 7)
    found = split(long + b"\nz\n")
    assert [(line.offset, len(line.raw)) for line in found] == [(0, len(long)), (len(long) + 1, 1)]


@pytest.mark.parametrize("size", [10, 5000, 2 * CHUNK])
def test_a_line_to_be_skipped_is_not_kept_at_any_size(size):
    raw = b'{"type":"progress","x":"' + b"p" * size + b'"}\n{"a":1}\n'
    first, second = split(raw, skip=SKIP, limit=CHUNK)
    assert first.state == "skipped"
    assert len(first.raw) <= SKIP_TAIL
    assert raw.startswith(first.raw, first.end - 1 - len(first.raw))
    assert second.raw == b'{"a":1}'
    assert first.end == second.offset


def test_the_skip_mark_must_stand_at_the_start():
    (line,) = split(b'{"a":"{\\"type\\":\\"progress\\"","type":"progress"}\n', skip=SKIP)
    assert line.state == "whole"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_a_mark_has_offsets_of_the_carrier(encoding):
    text = "\ufeff\u00e9\U0001f600\r\nsecond\nlast"
    raw = text.encode(encoding)
    found = split(raw)
    assert [line.raw.decode() for line in found] == ["\u00e9\U0001f600", "second", "last"]
    for line in found:
        cut = raw[line.offset : line.end].decode(encoding)
        assert cut.rstrip("\r\n") == line.raw.decode()
    assert found[-1].state == "tail"
