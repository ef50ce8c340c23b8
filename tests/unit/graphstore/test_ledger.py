import sqlite3
from contextlib import closing

import orjson
import pytest

from graphstore.errors import DiskFull, LedgerDamaged, LedgerUnreadable, StoreDamaged, Unwritable
from graphstore.ledger import Ledger, body_of, told
from tests.fake_derive import NOW, a_journey_record, a_stop, a_thread_record


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path):
    with closing(Ledger(path)) as opened:
        yield opened


def filled(ledger, count=4):
    for number in range(1, count + 1):
        ledger.append(a_thread_record(f"t{number}", "Why?"), NOW)
    return ledger


def change(ledger, sql, *parameters):
    with ledger.transaction() as connection:
        connection.execute(sql, parameters)


def test_an_empty_ledger_has_no_last_record(ledger):
    assert ledger.last() is None
    assert ledger.last_seq() == 0
    assert ledger.newest("thread", "test:t1") is None
    assert ledger.verify() == ()
    assert ledger.check_last() is None


def test_records_are_numbered_and_chained(ledger):
    filled(ledger)
    assert [entry.seq for entry in ledger.entries()] == [1, 2, 3, 4]
    assert len({entry.checksum for entry in ledger.entries()}) == 4
    assert ledger.verify() == ()
    ledger.check_last()


def test_reading_begins_after_a_position(ledger):
    assert [entry.seq for entry in filled(ledger).entries(after=2)] == [3, 4]


def test_a_record_comes_back_as_it_went_in(ledger):
    record = a_thread_record("a", "Why?", "Because")
    ledger.append(record, NOW)
    entry = ledger.last()
    assert entry.record() == record
    assert entry.at == "2026-01-15T12:00:00Z"
    assert (entry.kind, entry.subject) == ("thread", "test:a")


def test_the_chain_value_of_a_position_is_that_of_its_record(ledger):
    filled(ledger, 2)
    assert ledger.checksum_at(2) == ledger.last().checksum
    assert ledger.checksum_at(9) == b""


def test_records_are_found_by_kind_and_subject(ledger):
    filled(ledger, 2)
    journey = a_journey_record(a_stop(1, "t1", 1))
    ledger.append(journey, NOW)
    ledger.append(a_thread_record("t1", "Why?", "Because"), NOW)
    assert [entry.seq for entry in ledger.of_kind("thread")] == [1, 2, 4]
    assert [entry.seq for entry in ledger.of_kind("thread", "test:t1")] == [1, 4]
    assert ledger.newest("thread", "test:t1").seq == 4
    assert ledger.kinds() == {"thread", "journey"}


def test_the_newest_of_some_kinds_is_found(ledger):
    assert ledger.last_seq_of("thread", "journey") == 0
    ledger.append(a_thread_record("t1", "Why?"), NOW)
    ledger.append(a_journey_record(a_stop(1, "t1", 1)), NOW)
    assert ledger.last_seq_of("thread") == 1
    assert ledger.last_seq_of("thread", "journey") == 2
    assert ledger.last_seq_of("epoch") == 0


def test_it_survives_closing(path):
    with closing(Ledger(path)) as first:
        filled(first)
    with closing(Ledger(path)) as second:
        assert second.last_seq() == 4
        assert second.verify() == ()


def test_the_file_is_private(ledger, path):
    assert path.stat().st_mode & 0o077 == 0
    assert ledger.last_seq() == 0


@pytest.mark.parametrize("column", ["at", "kind", "subject", "body"])
def test_a_silent_edit_is_found(ledger, column):
    filled(ledger)
    edit = f"UPDATE record SET {column} = {column} || ' ' WHERE seq = 2"  # noqa: S608 - our names
    change(ledger, edit)
    assert [found.seq for found in ledger.verify()] == [2]


def test_an_edit_with_its_own_checksum_made_again_breaks_the_next_link(ledger):
    filled(ledger)
    first, second = list(ledger.entries())[:2]
    forged = type(second)(2, second.at, second.kind, "test:other", second.body, b"")
    change(
        ledger,
        "UPDATE record SET subject = ?, checksum = ? WHERE seq = 2",
        forged.subject,
        forged.expected(first.checksum),
    )
    assert [found.seq for found in ledger.verify()] == [3]


def test_a_lost_row_is_found(ledger):
    filled(ledger)
    change(ledger, "DELETE FROM record WHERE seq = 3")
    assert [(found.seq, found.reason) for found in ledger.verify()] == [
        (4, "records 3 to 3 are gone")
    ]


def test_the_newest_link_is_checked_alone(ledger):
    filled(ledger)
    change(ledger, "UPDATE record SET body = '{}' WHERE seq = 4")
    with pytest.raises(LedgerDamaged) as caught:
        ledger.check_last()
    assert caught.value.seq == 4


def test_a_first_record_is_checked_against_the_beginning(ledger):
    filled(ledger, 1)
    ledger.check_last()
    change(ledger, "UPDATE record SET body = '{}' WHERE seq = 1")
    with pytest.raises(LedgerDamaged):
        ledger.check_last()


def test_a_body_that_is_no_record_is_damage_without_its_words(ledger):
    filled(ledger, 1)
    change(ledger, """UPDATE record SET body = '{"kind":"canary"}' WHERE seq = 1""")
    with pytest.raises(LedgerDamaged) as caught:
        ledger.last().record()
    assert "canary" not in str(caught.value)


def test_a_failed_transaction_leaves_nothing(ledger):
    def fail():
        with ledger.transaction():
            filled(ledger, 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert ledger.last_seq() == 0


def test_an_inner_failure_ends_the_outer_transaction(ledger):
    def fail():
        with ledger.transaction():
            filled(ledger, 1)
            with ledger.transaction():
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    filled(ledger, 1)
    assert ledger.last_seq() == 1


def test_a_foreign_file_is_no_ledger(path):
    path.write_bytes(b"not a database, surely not one" * 100)
    with pytest.raises(StoreDamaged):
        Ledger(path)


def test_pages_do_not_lose_records(ledger):
    with ledger.transaction():
        filled(ledger, 1101)
    assert [entry.seq for entry in ledger.entries()] == list(range(1, 1102))


def test_deleted_bytes_are_overwritten_and_every_commit_is_synced(ledger):
    assert ledger.select("PRAGMA secure_delete") == [(1,)]
    assert ledger.select("PRAGMA synchronous") == [(2,)]
    assert ledger.select("PRAGMA journal_mode") == [("wal",)]


def test_the_export_is_one_json_object_a_line(ledger):
    filled(ledger)
    lines = [orjson.loads(line) for line in ledger.export()]
    assert [line["seq"] for line in lines] == [1, 2, 3, 4]
    record = a_thread_record("t1", "Why?")
    assert lines[0]["body"] == orjson.loads(body_of(record))
    assert bytes.fromhex(lines[3]["checksum"]) == ledger.last().checksum


def test_a_ledger_in_memory_makes_no_file(tmp_path):
    with closing(Ledger(None)) as ledger:
        filled(ledger)
        assert ledger.verify() == ()
    assert list(tmp_path.glob("*.db")) == []


def test_another_connection_may_read_while_it_is_open(ledger, path):
    filled(ledger)
    with closing(sqlite3.connect(path)) as reader:
        assert reader.execute("SELECT count(*) FROM record").fetchone() == (4,)


def test_what_was_is_read_while_more_is_written(ledger):
    filled(ledger, count=1)
    with ledger.earlier() as before:
        ledger.append(a_thread_record("t2", "Why?"), NOW)
        assert before.select("SELECT count(*) FROM record") == [(1,)]
        assert list(before.each("SELECT seq FROM record")) == [(1,)]
    assert ledger.last_seq() == 2


def test_a_ledger_in_memory_has_no_earlier_one():
    with closing(Ledger(None)) as opened, opened.earlier() as before:
        assert before is None


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        (sqlite3.SQLITE_FULL, DiskFull),
        (sqlite3.SQLITE_CORRUPT, LedgerUnreadable),
        (sqlite3.SQLITE_READONLY, Unwritable),
        (sqlite3.SQLITE_SCHEMA, sqlite3.DatabaseError),
    ],
)
def test_what_sqlite_says_is_told_in_our_words(tmp_path, code, meant):
    error = sqlite3.DatabaseError("said by the database")
    error.sqlite_errorcode = code
    with pytest.raises(meant), told(tmp_path / "ledger.db"):
        raise error
    with pytest.raises(sqlite3.DatabaseError), told(None):  # in memory it is a fault of ours
        raise error


def test_nothing_to_rewrite_changes_nothing(ledger):
    before = tuple(ledger.entries())
    ledger.rewrite({})
    assert tuple(ledger.entries()) == before
