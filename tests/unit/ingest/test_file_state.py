from datetime import UTC, datetime, timedelta

from graphstore.model.carrier import ResumePoint
from ingest.model import Source, Tally
from ingest.state import appended, at_rest, row_of, unchanged

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLACE = ResumePoint(thread_id="a:b", line=2, offset=4, state="", keys="", options="")


def row(file, offset, *, settled=True):
    tally = Tally("x", end_offset=offset)
    return row_of(
        Source.of_file(file),
        "claude-code",
        1,
        tally,
        ("a:b",),
        settled=settled,
        resume=PLACE,
    )


def test_a_file_that_only_grew_is_told_from_one_that_was_rewritten(tmp_path):
    file = tmp_path / "x"
    file.write_bytes(b"one\ntwo\n")
    before = row(file, 8)
    assert not appended(Source.of_file(file), before)
    file.write_bytes(b"one\ntwo\nthree\n")
    assert appended(Source.of_file(file), before)
    file.write_bytes(b"one\ntwO\nthree\n")
    assert not appended(Source.of_file(file), before)


def test_a_file_is_left_closed_while_nothing_can_have_changed(tmp_path):
    file = tmp_path / "x"
    file.write_bytes(b"one\n")
    src = Source.of_file(file)
    changed = datetime.fromtimestamp(src.mtime_ns / 1e9, UTC)
    assert unchanged(src, row(file, 4), changed, 600)
    assert not unchanged(src, None, changed, 600)
    assert unchanged(src, row(file, 4, settled=False), changed + timedelta(seconds=599), 600)
    assert not unchanged(src, row(file, 4, settled=False), changed + timedelta(seconds=601), 600)
    assert at_rest(src, changed + timedelta(seconds=601), 600)
    file.write_bytes(b"two and more\n")
    assert not unchanged(Source.of_file(file), row(file, 4).replace(size=4), changed, 600)


def test_a_file_that_went_away_has_a_state_without_hashes(tmp_path):
    file = tmp_path / "x"
    file.write_bytes(b"one\n")
    src = Source.of_file(file)
    file.unlink()
    state = row_of(src, "claude-code", 1, Tally("x"), (), resume=PLACE)
    assert (state.head_hash, state.tail_hash) == (None, None)
    assert row_of(Source.of_bytes(b"x"), "generic", 1, Tally("x"), ()).head_hash is None


def test_a_file_is_hashed_only_where_it_may_be_read_on(tmp_path):
    file = tmp_path / "x"
    file.write_bytes(b"one\n")
    src = Source.of_file(file)
    assert row_of(src, "claude-code", 1, Tally("x"), ()).head_hash is None
    assert row_of(src, "claude-code", 1, Tally("x"), (), resume=PLACE).head_hash is not None
