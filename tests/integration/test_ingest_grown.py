"""Threads that come in several runs: what was an answer for a time, halves, new readers, titles."""

import json
from datetime import UTC, datetime

from ingest.readers import claude_code
from tests.claude_talk import Talk
from tests.ingest_memory import Memory

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
TWO = "bbbbbbbb-0000-4000-8000-000000000002"
THREAD = f"claude-code:{ONE}"
LATE = datetime(2100, 1, 1, tzinfo=UTC)
EARLY = datetime(2000, 1, 1, tzinfo=UTC)


def codes(report):
    return {one.code: one.count for one in report.codes}


def on_path(store, thread=THREAD):
    return [turn.text for turn in store.threads[thread].on_path()]


def at_once(*files):
    store = Memory()
    store.ingest(*files, now=LATE)
    return store


# --- a file at rest that goes on


def interrupted(tmp_path):
    talk = Talk(ONE)
    talk.ask()
    talk.split_call()
    store = Memory()
    store.ingest(talk.write(tmp_path), now=LATE)
    assert store.threads[THREAD].on_path()[-1].text.startswith("Let me look")
    return store, talk


def test_what_was_said_last_gives_way_to_the_answer_that_comes_after_all(tmp_path):
    store, talk = interrupted(tmp_path)
    talk.answer()
    file = talk.write(tmp_path)
    assert codes(store.ingest(file, now=LATE)) == {"turn_revised": 1}
    thread = store.threads[THREAD]
    assert on_path(store) == on_path(at_once(file))
    assert [(turn.number, turn.superseded_by) for turn in thread.turns] == [
        (1, None),
        (2, 3),
        (3, None),
    ]
    before = len(store.records)
    store.files.clear()
    store.ingest(file, now=LATE)
    assert len(store.records) == before


def test_as_long_as_nothing_better_is_said_it_stays_the_answer(tmp_path):
    store, talk = interrupted(tmp_path)
    talk.call()
    store.ingest(talk.write(tmp_path), now=EARLY)
    assert len(on_path(store)) == 2
    talk.ask()
    file = talk.write(tmp_path)
    store.ingest(file, now=EARLY)
    assert on_path(store) == on_path(at_once(file))
    assert len(store.threads[THREAD].turns) == 3


def test_a_later_word_on_the_way_takes_its_place(tmp_path):
    store, talk = interrupted(tmp_path)
    talk.split_call()
    talk.ask()
    file = talk.write(tmp_path)
    store.ingest(file, now=LATE)
    assert on_path(store) == on_path(at_once(file))


# --- halves of a session in several runs


def test_halves_are_one_whichever_comes_first(tmp_path):
    lines = Talk(ONE).play(["ask", "split call", "answer", "ask", "call", "answer"]).encoded()
    for cut in range(1, len(lines)):
        one, two = tmp_path / f"{cut} one.jsonl", tmp_path / f"{cut} two.jsonl"
        one.write_bytes(b"".join(lines[:cut]))
        two.write_bytes(b"".join(lines[cut:]))
        whole = at_once(one, two)
        for order in ((one, two), (two, one)):
            store = Memory()
            seen = {}
            for file in order:
                seen = codes(store.ingest(file, now=LATE))
            assert "id_collision" not in seen
            assert list(store.threads) == [THREAD]
            assert on_path(store) == on_path(whole)


def test_a_half_whose_other_half_is_gone_is_still_joined_at_its_end(tmp_path):
    lines = Talk(ONE).play(["ask", "answer", "ask", "answer"]).encoded()
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    one.write_bytes(b"".join(lines[:2]))
    two.write_bytes(b"".join(lines[2:]))
    store = Memory()
    store.ingest(one, now=LATE)
    one.unlink()
    store.ingest(two, now=LATE)
    assert list(store.threads) == [THREAD]
    assert len(on_path(store)) == 4


# --- another version of a reader


def test_a_file_that_grew_under_another_reader_version_is_read_whole(tmp_path, monkeypatch):
    talk = Talk(ONE).play(["ask", "answer"] * 5)
    store = Memory()
    store.ingest(talk.write(tmp_path), now=LATE, resume_bytes=0)
    row = store.files[str(tmp_path / f"{ONE}.jsonl")]
    assert row.resume is not None
    file = talk.play(["ask", "answer"]).write(tmp_path)
    monkeypatch.setattr(claude_code, "VERSION", claude_code.VERSION + 1)
    report = store.ingest(file, now=LATE, resume_bytes=0)
    assert report.records == len(talk.lines)
    assert store.told() == at_once(file).told()
    assert store.files[str(file)].version == claude_code.VERSION


def test_an_unchanged_file_is_read_again_by_another_version(tmp_path, monkeypatch):
    file = Talk(ONE).play(["ask", "answer"]).write(tmp_path)
    store = Memory()
    store.ingest(file, now=LATE)
    assert store.ingest(file, now=LATE).carriers[0].skipped
    monkeypatch.setattr(claude_code, "VERSION", claude_code.VERSION + 1)
    assert not store.ingest(file, now=LATE).carriers[0].skipped


# --- titles


def test_a_title_from_another_file_stays_when_the_thread_grows(tmp_path):
    talk = Talk(ONE).play(["ask", "answer"])
    file = talk.write(tmp_path)
    summary = {"type": "summary", "leafUuid": talk.lines[-1]["uuid"], "summary": "Of sensors"}
    other = Talk(TWO, "b").play(["ask"])
    other.lines.insert(0, summary)
    store = Memory()
    store.ingest(file, other.write(tmp_path), now=LATE)
    assert store.threads[THREAD].title == "Of sensors"
    store.ingest(talk.play(["ask", "answer"]).write(tmp_path), now=LATE)
    assert store.threads[THREAD].title == "Of sensors"


def test_a_title_offered_later_for_what_was_read_before_is_found_while_reading_on(tmp_path):
    talk = Talk(ONE).play(["ask", "answer"] * 4)
    store = Memory()
    store.ingest(talk.write(tmp_path), now=LATE, resume_bytes=0)
    summary = {"type": "summary", "leafUuid": talk.lines[1]["uuid"], "summary": "Of sensors"}
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(summary) + "\n")
    grown = talk.play(["ask", "answer"]).write(tmp_path)
    store.ingest(grown, other, now=LATE, resume_bytes=0)
    assert store.threads[THREAD].title == "Of sensors"
