"""Other choices over the same files: what they shape is read again, and what stays is told."""

import json
import os
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ingest.reports import joined
from tests.claude_talk import Talk
from tests.ingest_memory import Memory

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
TALK = f"claude-code:{ONE}"
SECRET = "gh" + "p_" + "Ab3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3eF6"


def codes(report):
    return {one.code: one.count for one in report.codes}


def flat(file, *texts):
    pairs = zip(texts, ("user", "assistant") * len(texts), strict=False)
    lines = (json.dumps({"role": role, "content": text}) + "\n" for text, role in pairs)
    file.write_text("".join(lines), "utf-8")
    os.utime(file, (1000, 1000))  # at rest: nothing is held back
    return file


@pytest.mark.parametrize(
    "choice",
    [
        {"me": ("Ann",)},
        {"mask": False},
        {"format": "claude-code"},
        {"group_gap": 5},
        {"keep_context": True},
        {"interim_min_chars": 0},
    ],
)
def test_a_file_is_read_again_for_another_choice_and_once_only(tmp_path, choice):
    file = Talk(ONE).play(["ask", "answer"]).write(tmp_path)
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(file, "x.jsonl")
    for path in (file, archive):
        store = Memory()
        store.ingest(path)
        assert [row.skipped for row in store.ingest(path).carriers] == [True]
        assert [row.skipped for row in store.ingest(path, **choice).carriers] == [False]
        assert [row.skipped for row in store.ingest(path, **choice).carriers] == [True]


def test_what_is_said_on_the_way_comes_with_the_choice_to_keep_it(tmp_path):
    file = Talk(ONE).play(["ask", "call", "answer"])
    file.say("m9", {"type": "text", "text": "Let me look"})
    file.call()
    file = file.play(["answer"]).write(tmp_path)
    late, at_once = Memory(), Memory()
    late.ingest(file)
    late.ingest(file, interim_min_chars=0)
    at_once.ingest(file, interim_min_chars=0)
    told = [[one.text for one in store.threads[TALK].on_path()] for store in (late, at_once)]
    assert told[0] == told[1]
    assert "Let me look" in told[0]


def test_masking_a_store_tells_that_words_stay_as_they_were(tmp_path):
    talk = Talk(ONE)
    talk.ask(f"Use {SECRET} please")
    file = talk.play(["answer"]).write(tmp_path)
    store = Memory()
    store.ingest(file, mask=False)
    assert store.threads[TALK].flags == ("unmasked",)
    report = store.ingest(file)
    thread = store.threads[TALK]
    assert codes(report) == {"turn_revised": 1, "unmasked_before": 1}
    assert [SECRET in one.text for one in thread.on_path()] == [False, False]
    assert "unmasked" in thread.flags  # the store still holds the first turn


def test_a_log_that_masking_gives_another_name_is_told_of_as_well(tmp_path):
    file = flat(tmp_path / "x.jsonl", f"Use {SECRET} please", "I did.")
    store = Memory()
    store.ingest(file, mask=False)
    report = store.ingest(file)
    (told,) = [one for one in report.codes if one.code == "unmasked_before"]
    assert told.count == 1
    assert store.threads[told.places[0]].flags == ("unmasked",)
    assert len(store.threads) == 2


# --- what was lost stays told


def chats(*good, bad=0):
    """ChatGPT conversations of one question each, and some that cannot be read."""
    told = [
        {
            "conversation_id": name,
            "current_node": name,
            "mapping": {
                name: {
                    "id": name,
                    "message": {
                        "id": name,
                        "author": {"role": "user"},
                        "content": {"content_type": "text", "parts": [f"Why {name}?"]},
                    },
                }
            },
        }
        for name in good
    ]
    return json.dumps([*told, *({"conversation_id": f"lost{at}"} for at in range(bad))])


def test_a_conversation_lost_beside_another_is_told_by_every_run(tmp_path):
    file = tmp_path / "x.json"
    file.write_text(chats("k1", bad=1))
    store = Memory()
    for skipped in (False, True, True):
        report = store.ingest(file)
        (row,) = report.carriers
        assert (row.skipped, report.exit_code) == (skipped, 1)
        assert codes(report) == {"bad_conversation": 1}
        assert [one.code for one in row.codes] == ["bad_conversation"]


def test_an_archive_that_kept_something_tells_its_losses_in_every_run(tmp_path):
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("x.json", chats("k1", bad=2))
        packed.writestr("../up.json", "[]")
        packed.writestr("inner.zip", b"PK\x03\x04 and more")
        packed.writestr("y.txt", "words")
    store = Memory()
    first = store.ingest(archive)
    assert codes(first) == {"bad_conversation": 2, "nested_zip": 1, "unsafe_path": 1}
    assert [(one.name, one.count) for one in first.ignored] == [("unknown_format", 1)]
    for _ in range(2):
        again = store.ingest(archive)
        assert [row.skipped for row in again.carriers] == [True]
        assert (codes(again), again.ignored) == (codes(first), first.ignored)
        assert (again.exit_code, again.records) == (1, 0)
    both = joined([first, again], strict=False)
    assert (codes(both), both.dispositions) == (codes(first), first.dispositions)


def test_a_revision_is_told_once(tmp_path):
    talk = Talk(ONE)
    talk.ask(f"Use {SECRET} please")
    file = talk.write(tmp_path)
    store = Memory()
    store.ingest(file, mask=False)
    assert codes(store.ingest(file)) == {"turn_revised": 1, "unmasked_before": 1}
    assert codes(store.ingest(file)) == {"unmasked_before": 1}


def test_an_answer_that_waits_for_its_file_to_rest_is_told(tmp_path):
    file = flat(tmp_path / "x.jsonl", "Why tides?", "The moon pulls.")
    changed = datetime.fromtimestamp(1000, UTC)
    store = Memory()
    for _ in range(2):  # left closed the second time: the answer still waits
        report = store.ingest(file, now=changed + timedelta(seconds=5))
        assert (codes(report)["held_back"], report.exit_code) == (1, 0)
    rested = store.ingest(file, now=changed + timedelta(seconds=601))
    assert "held_back" not in codes(rested)
    (thread,) = store.threads.values()
    assert [one.text for one in thread.turns] == ["Why tides?", "The moon pulls."]


# --- each loss once


def test_an_archive_that_cannot_be_read_is_one_loss(tmp_path):
    archive = tmp_path / "a.zip"
    archive.write_bytes(b"PK\x03\x04 and nothing that a list could be read from")
    report = Memory().ingest(archive)
    assert (codes(report), report.reasons) == ({"unreadable_file": 1}, ("unreadable_file",))


def test_a_reason_is_named_once(tmp_path):
    (tmp_path / "a.txt").write_text("words")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "b.txt").write_text("words")
    assert Memory().ingest(tmp_path / "a.txt", tmp_path / "in").reasons == ("unknown_format",)


def test_a_folder_that_cannot_be_listed_is_a_loss(tmp_path, monkeypatch):
    Talk(ONE).play(["ask"]).write(tmp_path)
    (tmp_path / "shut").mkdir()
    listed = os.scandir

    def refused(folder):
        if Path(folder).name == "shut":
            raise PermissionError
        return listed(folder)

    monkeypatch.setattr(os, "scandir", refused)
    report = Memory().ingest(tmp_path)
    assert (codes(report), report.exit_code, report.new) == ({"unreadable_file": 1}, 1, 1)
    assert report.codes[0].places == (str(tmp_path / "shut"),)


def test_over_runs_a_stored_thread_keeps_its_id_and_no_word_depends_on_the_order(tmp_path):
    first = Talk(ONE).play(["ask"]).write(tmp_path, "a.jsonl")
    stranger = Talk(ONE, "z")
    stranger.count = 50
    second = stranger.play(["ask"]).write(tmp_path, "b.jsonl")
    told = []
    for order in ((first, second), (second, first)):
        store = Memory()
        reports = [store.ingest(file) for file in order]
        assert "id_collision" in codes(reports[1])
        both = store.ingest(first, second, keep_context=True)  # read again, together
        assert (both.new, both.grown, len(store.threads)) == (0, 0, 2)
        plain = store.threads[TALK].turns[0]
        assert plain.anchor.file == str(order[0])
        told.append(
            sorted(
                [(turn.number, turn.fingerprint) for turn in one.turns]
                for one in store.threads.values()
            )
        )
    assert told[0] == told[1]
