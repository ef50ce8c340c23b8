"""Lines that are not wanted: skipped with both their ends, wherever chunks begin."""

import io
import re

import pytest

from ingest.lines import CHUNK, SKIP_TAIL, Skip, lines

SKIP = Skip(b'"gone"', re.compile(rb'\s*\{"type":"gone"'))


def seen(content):
    return list(lines(io.BytesIO(content), skip=SKIP))


@pytest.mark.parametrize("size", [10, SKIP_TAIL, SKIP_TAIL + 1, 5000, CHUNK + 5])
@pytest.mark.parametrize("before", [0, CHUNK - 3])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_a_skipped_line_is_known_by_both_its_ends(size, before, ending):
    first = b"x" * before + b"\n" if before else b""
    gone = b'{"type":"gone","more":"' + b"y" * size + b'"}'
    *_, skipped, last = seen(first + gone + ending + b"kept\n")
    assert (skipped.state, last.state, last.raw) == ("skipped", "whole", b"kept")
    assert (skipped.offset, skipped.end) == (len(first), len(first) + len(gone + ending))
    assert skipped.end == last.offset
    assert skipped.head == gone[:SKIP_TAIL] or skipped.head == (gone + ending[:-1])[:SKIP_TAIL]
    assert gone.endswith(skipped.raw)
    assert len(skipped.raw) >= min(len(gone), SKIP_TAIL) - 1


def test_a_line_that_only_speaks_of_it_is_kept():
    line = b'{"text":"it is \\"gone\\"","also":"gone"}'
    assert [one.state for one in seen(line + b"\n" + line + b"\r\n\n")] == ["whole"] * 3
    assert [one.raw for one in seen(line + b"\n\r\n" + line + b"\r\n")] == [line, b"", line]
