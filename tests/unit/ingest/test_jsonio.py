import io
import json
import re

import pytest

from ingest.jsonio import DEPTH_LIMIT, JOIN_LINES, loads, records
from ingest.lines import Line, Skip
from ingest.model import Tally

KNOWN = frozenset({"a", "text"})


def read(raw, **options):
    tally = Tally("f")
    found = list(records(io.BytesIO(raw), tally, KNOWN, **options))
    tally.drop("turn", len(found))
    assert tally.balanced
    return [one.value for one in found], tally


def nested(depth):
    return b'{"a":' * depth + b"1" + b"}" * depth


def test_sound_lines_are_read_with_their_places():
    raw = b'\xef\xbb\xbf{"a":1}\r\n\n  {"a":2}\n{"a":3}'
    found = list(records(io.BytesIO(raw), Tally(), KNOWN))
    assert [(one.line, one.offset, one.length) for one in found] == [
        (1, 3, 7),
        (3, 13, 9),
        (4, 23, 7),
    ]
    assert [one.value for one in found] == [{"a": 1}, {"a": 2}, {"a": 3}]


def test_sound_lines_leave_no_code():
    values, tally = read(b'{"a":1}\n\n \t\n{"a":2}')
    assert (len(values), tally.codes, tally.end_offset) == (2, {}, 19)


def test_comment_lines_are_meta():
    values, tally = read(b'// from a sample\n{"a":1}\n  // again\n')
    assert (values, tally.dispositions["meta"], tally.codes) == ([{"a": 1}], 2, {})


def test_nul_bytes_are_stripped_and_lines_with_them_counted():
    values, tally = read(b'{"a":"x\0y"}\n\0\0\0\n\0{"a":2}\n')
    assert (values, tally.codes) == ([{"a": "xy"}, {"a": 2}], {"nul_bytes": 3})


def test_several_records_on_one_line_are_read_apart():
    raw = b'{"a":"}{"}{"a":2} {"a":3}\n{"a":4}\n'
    found = list(records(io.BytesIO(raw), tally := Tally("f"), KNOWN))
    assert [one.value["a"] for one in found] == ["}{", 2, 3, 4]
    assert tally.codes == {"glued_records": 1}
    assert [raw[one.offset :][: one.length].strip() for one in found] == [
        b'{"a":"}{"}', b'{"a":2}', b'{"a":3}', b'{"a":4}',
    ]  # fmt: skip


def test_what_follows_the_last_sound_record_of_a_line_is_lost():
    values, tally = read(b'{"a":1}{"a":2}{"a":\n{"a":3}\n')
    assert [one["a"] for one in values] == [1, 2, 3]
    assert tally.codes == {"glued_records": 1, "bad_json": 1}


def test_a_string_broken_over_lines_is_joined():
    values, tally = read(b'{"a":"one\ntwo\n\n3\r\nfour"}\n{"a":2}\n')
    assert values == [{"a": "one\ntwo\n\n3\nfour"}, {"a": 2}]
    assert tally.codes == {"joined_lines": 1}


def test_a_raw_control_character_in_a_string_is_repaired():
    values, tally = read(b'{"a":"tab\there"}\n')
    assert (values, tally.codes) == ([{"a": "tab\there"}], {"joined_lines": 1})


def test_no_line_that_is_a_record_is_joined_to_a_broken_one():
    values, tally = read(b'{"a":"open\n{"a":2}\n"}\n')
    assert values == [{"a": 2}]
    assert tally.places["bad_json"] == ["f:1", "f:3"]


def test_only_so_many_lines_are_joined():
    within = b'{"a":"' + b"\nx" * JOIN_LINES + b'"}\n'
    assert read(within)[1].codes == {"joined_lines": 1}
    beyond = b'{"a":"' + b"\nx" * (JOIN_LINES + 1) + b'"}\n{"a":2}\n'
    values, tally = read(beyond)
    assert values == [{"a": 2}]
    assert tally.codes == {"bad_json": JOIN_LINES + 2}


def test_a_joined_record_must_have_a_known_key():
    values, tally = read(b'{"b":"one\ntwo"}\n{"a":2}\n')
    assert (values, tally.codes) == ([{"a": 2}], {"bad_json": 2})


def test_lines_are_not_joined_over_one_that_is_too_big():
    raw = b'{"a":"one\n' + b"x" * 100 + b'\ntwo"}\n{"a":2}\n'
    values, tally = read(raw, limit=50)
    assert (values, tally.codes) == ([{"a": 2}], {"bad_json": 2, "too_big": 1})


def test_a_broken_line_is_counted_with_its_number_and_reading_goes_on():
    values, tally = read(b'{"a":1}\n{"a":[REDACTED].1}\n2026 not json\n{"a":2}\n')
    assert values == [{"a": 1}, {"a": 2}]
    assert tally.places["bad_json"] == ["f:2", "f:3"]


def test_a_half_written_last_line_is_pending_and_no_loss():
    values, tally = read(b'{"a":1}\n{"a":"hal')
    assert values == [{"a": 1}]
    assert (tally.codes, tally.pending_offset, tally.end_offset) == ({"pending_tail": 1}, 8, 8)
    assert tally.records == 1


@pytest.mark.parametrize("tail", [b'{"a":1}{"a":', b"{", b"//", b"\0\0", b'{"a":"x\x01'])
def test_no_half_written_tail_is_lost(tail):
    assert "lost" not in read(b'{"a":1}\n' + tail)[1].dispositions


def test_a_last_line_that_parses_is_used_without_its_newline():
    values, tally = read(b'{"a":1}\n{"a":2}{"a":3}')
    assert (len(values), tally.codes, tally.pending_offset) == (3, {"glued_records": 1}, None)


@pytest.mark.parametrize("value", [b"1", b'"text"', b"null", b"[1]", b"true"])
def test_a_value_that_is_no_object_is_lost(value):
    values, tally = read(value + b"\n")
    assert (values, tally.codes) == ([], {"not_an_object": 1})


def test_a_record_over_the_limit_is_lost_and_the_next_one_read():
    values, tally = read(b'{"a":"' + b"x" * 200 + b'"}\n{"a":2}\n', limit=100)
    assert (values, tally.codes) == ([{"a": 2}], {"too_big": 1})


def test_lines_to_be_skipped_are_disposed_of_as_told():
    raw = b'{"type":"progress","a":[broken\n{"a":2}\n'
    values, tally = read(
        raw, skip=Skip(b"progress", re.compile(rb'\{"type":"progress"')), skipped="meta"
    )
    assert (values, tally.dispositions["meta"], tally.codes) == ([{"a": 2}], 1, {})


def test_bad_bytes_become_replacement_characters():
    values, tally = read(b'{"a":"bad \x9d"}\n')
    assert (values, tally.codes) == ([{"a": "bad \ufffd"}], {"bad_utf8": 1})


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"a":"\\udcb2 \\ud83d\\ude00"}', "\udcb2 \U0001f600"),
        (b'{"a":' + b"9" * 400 + b"}", int("9" * 400)),
        (b'{"a":1e999}', float("inf")),
        (b'{"a":Infinity}', float("inf")),
    ],
)
def test_what_json_readers_disagree_on_is_read(raw, value):
    values, tally = read(raw + b"\n")
    assert (values, tally.codes) == ([{"a": value}], {})


@pytest.mark.parametrize("depth", [DEPTH_LIMIT + 1, 800, 1500, 100_000])
def test_a_record_nested_too_deep_is_bad(depth):
    values, tally = read(nested(depth) + b'\n{"a":2}\n')
    assert (values, tally.codes) == ([{"a": 2}], {"bad_json": 1})


def test_the_shortest_objects_that_nest_too_deep_are_told_from_those_that_may():
    def objects(depth):
        return b'{"":' * (depth - 1) + b"{}" + b"}" * (depth - 1)

    assert read(objects(DEPTH_LIMIT + 1) + b"\n")[1].codes == {"bad_json": 1}
    assert read(objects(DEPTH_LIMIT) + b"\n")[1].codes == {}


def test_a_record_nested_as_deep_as_allowed_is_read():
    values, tally = read(nested(DEPTH_LIMIT) + b"\n")
    assert (len(values), tally.codes) == (1, {})


def test_a_wide_record_is_not_a_deep_one():
    wide = json.dumps({"a": [{}] * 2000}).encode()
    assert len(read(wide + b"\n")[0]) == 1


def test_utf_16_lines_are_read():
    raw = '\ufeff{"a":"\u00e9"}\r\n{"a":2}\n'.encode("utf-16-le")
    assert read(raw)[0] == [{"a": "\u00e9"}, {"a": 2}]


def test_one_value_alone_is_parsed_or_refused():
    assert loads(b'{"a": "\xff"}') == ({"a": "\ufffd"}, (("bad_utf8", 1),))
    with pytest.raises(ValueError, match="Expecting value"):
        loads(b"nothing")


def test_a_line_that_is_not_wanted_is_skipped_though_its_value_is_known():
    raw = b'{"gone":1}\n{"a":1}\n{"a":2}\n'
    skip = Skip(b'"gone"', re.compile(rb'\{"gone"'))
    known = {0: (b'{"gone":1}', {"gone": 1}), 11: (b'{"a":1}', {"a": 1, "first": True})}
    met: list[Line] = []
    values, tally = read(raw, skip=skip, on_skip=met.append, parsed=known)
    assert values == [{"a": 1, "first": True}, {"a": 2}]
    assert [one.raw for one in met] == [b'{"gone":1}']
    assert (tally.dispositions["tool"], known) == (1, {})


def test_a_known_value_is_not_taken_for_other_bytes():
    known = {0: (b'{"a":1}', {"a": "old"})}
    assert read(b'{"a":2}\n', parsed=known)[0] == [{"a": 2}]
