import sqlite3

import pytest

from benchmarks.ingest import NOW, Nothing
from fuzz.mutate import zipped
from fuzz.samples import samples
from graphstore.model.record import ThreadRecord
from ingest.archives import members
from ingest.lines import RECORD_LIMIT
from ingest.model import IngestReport, RawThread, ReadFailure, Source, Tally
from ingest.options import Options
from ingest.readers import llm
from ingest.resume import shaping
from ingest.run import run
from ingest.sniff import choose, readers
from ingest.walk import Found
from service.settings import IngestSettings
from service.taking import options_of
from tests.claude_talk import Talk

FORMATS = samples(real=False)
ONE = "11111111-1111-4111-8111-111111111111"
DATABASES = {"cursor", "llm", "opencode"}


def carriers(name):
    for sample in FORMATS[name]:
        path, content = sample.files[0]
        if len(sample.files) == 1 and not content.startswith(b"PK"):
            found = [Source.of_bytes(content, path)]
        else:
            whole = content if len(sample.files) == 1 else zipped(sample.files)
            archive = Source.of_bytes(whole, "archive.zip")
            found = [one for one in members(archive, Found()) if isinstance(one, Source)]
        for src in found:
            src.as_note = True
            chosen = choose(src)
            if chosen is not None and not isinstance(chosen, ReadFailure) and name == chosen.NAME:
                yield src, chosen


@pytest.mark.parametrize("name", [one.NAME for one in readers()])
def test_every_reader_loses_a_record_over_the_limit_and_says_so(name):
    codes = set()
    for src, reader in carriers(name):
        src.record_limit = 20
        tally = Tally("f")
        found = list(reader.read(src, tally))
        turns = [turn for one in found if isinstance(one, RawThread) for turn in one.turns]
        held = sum(turn.records for turn in turns)
        assert tally.records == held + sum(tally.dispositions.values())
        codes |= set(tally.codes) | {one.code for one in found if isinstance(one, ReadFailure)}
    assert ("unreadable_file" if name in DATABASES else "too_big") in codes


def taken(folder, options):
    *given, report = run([str(folder)], Nothing(), options, NOW)
    assert isinstance(report, IngestReport)
    return [one for one in given if isinstance(one, ThreadRecord)], report


def test_the_setting_says_how_large_a_record_is_read(tmp_path):
    talk = Talk(ONE)
    talk.ask("short")
    talk.ask("x" * 2**20)
    talk.ask("short again")
    (tmp_path / f"{ONE}.jsonl").write_bytes(b"".join(talk.encoded()))
    (thread,), report = taken(tmp_path, options_of(IngestSettings(max_record_mb=1), b""))
    assert [turn.text for turn in thread.turns] == ["short", "short again"]
    assert [(one.code, one.count) for one in report.codes if one.code == "too_big"] == [
        ("too_big", 1)
    ]
    (thread,), _ = taken(tmp_path, options_of(IngestSettings(max_record_mb=2), b""))
    assert len(thread.turns) == 3


def test_without_a_choice_the_limit_is_that_of_the_readers():
    assert options_of(IngestSettings(), b"").record_bytes == Options().record_bytes == RECORD_LIMIT


def test_another_limit_makes_what_was_read_be_read_again():
    assert shaping(Options(record_bytes=1)) != shaping(Options())


def test_a_database_is_read_under_any_limit_that_may_be_set(tmp_path):
    file = tmp_path / "logs.db"
    with sqlite3.connect(file) as database:
        database.execute("create table conversations (id text, name text, model text)")
        database.execute(
            "create table responses (id text, conversation_id text, datetime_utc text,"
            " prompt text, response text, model text)"
        )
        database.execute("insert into conversations values ('c', 'talk', 'm')")
        database.execute(
            "insert into responses values ('r', 'c', '2026-01-01T00:00:00', 'ask', 'answer', 'm')"
        )
    database.close()
    src = Source.of_file(file)
    src.record_limit = options_of(IngestSettings(max_record_mb=4096), b"").record_bytes
    (thread,) = llm.read(src, Tally("f"))
    assert isinstance(thread, RawThread)
    assert [turn.blocks for turn in thread.turns] == [("ask",), ("answer",)]
