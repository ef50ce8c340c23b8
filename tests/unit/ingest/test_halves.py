"""Files put end to end: read as one stream, and every turn told where it really stands."""

import io
from datetime import UTC, datetime

from graphstore.model.conversation import Role
from ingest.clean import CleanThread, CleanTurn
from ingest.halves import can_join, joined, placed
from ingest.identity import chains, merge
from ingest.model import RawThread, RawTurn, Source, Tally
from ingest.options import Options

AT = datetime(2026, 1, 1, tzinfo=UTC)


def parts(*contents):
    return [Source.of_bytes(content, f"{n}.jsonl") for n, content in enumerate(contents)]


def turn(key, role=Role.HUMAN, offset=None, line=None, calls=()):
    raw = RawTurn(role=role, blocks=(), key=key, offset=offset, line=line)
    return CleanTurn(raw, key, f"b2:{key}", AT, (), (), 0, 0, calls)


def thread(*turns, carrier=0, **facts):
    return CleanThread(RawThread("s", "n", agent=True, **facts), list(turns), carrier)


def test_several_files_are_one_stream_however_it_is_read():
    one = joined(parts(b"ab\n", b"", b"cd\n"))
    assert one.size == 6
    with one.open() as stream:
        assert stream.readable()
        assert stream.read() == b"ab\ncd\n"
        assert stream.read(3) == b""
    with one.open() as stream:
        assert [stream.read(2) for _ in range(5)] == [b"ab", b"\n", b"cd", b"\n", b""]


def test_a_stream_may_be_left_in_the_middle():
    first, second = io.BytesIO(b"ab"), io.BytesIO(b"cd")
    sources = parts(b"ab", b"cd")
    sources[0].opener, sources[1].opener = (lambda: first), (lambda: second)
    with joined(sources).open() as stream:
        stream.read(1)
    assert (first.closed, second.closed) == (True, False)


def test_standing_input_and_files_with_a_mark_are_not_joined():
    assert can_join(parts(b"a", b"b"))
    assert can_join(parts(b"\xef\xbb\xbfa", b"b"))
    assert not can_join(parts(b"a", b"\xef\xbb\xbfb"))
    assert not can_join([*parts(b"a"), Source.of_bytes(b"b", "-")])


def test_turns_are_told_where_they_stand_in_their_own_file():
    whole = thread(turn("a", offset=0, line=1), turn("b", offset=7, line=3), turn("c", offset=7))
    placed(whole, parts(b"1\n2\n", b"345678\n"), [4, 5])
    assert [(one.carrier, one.raw.offset, one.raw.line) for one in whole.turns] == [
        (4, 0, 1),
        (5, 3, 1),
        (5, 3, None),
    ]


def test_calls_at_the_end_of_a_half_count_to_the_first_answer_of_the_next():
    first = thread(turn("a"), record_keys=("r",), tail_calls=(("Read", 2),))
    asked, said = turn("b"), turn("c", Role.ASSISTANT, calls=(("Edit", 1),))
    second = thread(asked, said, carrier=1, first_parent="r")
    assert chains([second, first]) == [[first, second]]
    (whole,) = merge("n", [second, first], [Tally(), Tally()], Options())
    assert [one.raw.key for one in whole.turns] == ["a", "b", "c"]
    assert whole.turns[-1].calls == (("Read", 2), ("Edit", 1))
    assert whole.carriers == [0, 1]


def test_calls_that_no_answer_follows_are_let_go():
    first = thread(turn("a"), record_keys=("r",), tail_calls=(("Read", 2),))
    second = thread(turn("b"), carrier=1, first_parent="r")
    (whole,) = merge("n", [first, second], [Tally(), Tally()], Options())
    assert [one.calls for one in whole.turns] == [(), ()]
