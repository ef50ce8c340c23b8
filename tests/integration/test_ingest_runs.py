"""Runs over a store: families, what changed between exports, live files, outcomes, secrets."""

import json
import os
import zipfile
from datetime import UTC, datetime, timedelta

import pytest

from graphstore.errors import UnknownReader
from graphstore.model.conversation import LineageKind, LineageLink, Role, ThreadState
from ingest.model import IngestReport
from ingest.options import Options
from ingest.run import run
from ingest.walk import SourceNotFound
from tests.claude_talk import START, Talk
from tests.ingest_memory import NOW, SALT, Memory

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
TWO = "bbbbbbbb-0000-4000-8000-000000000002"
THREE = "cccccccc-0000-4000-8000-000000000003"
PARENT, CHILD, THIRD = (f"claude-code:{one}" for one in (ONE, TWO, THREE))


def link(kind, parent, split):
    return LineageLink(kind=kind, parent=parent, split_turn=split)


def codes(report):
    return {one.code: one.count for one in report.codes}


def chat(texts, native="c1", **facts):
    """A ChatGPT conversation: a chain of messages with these (key, role, text)."""
    mapping = {}
    above = None
    for at, (key, role, text) in enumerate(texts):
        message = {
            "id": key,
            "author": {"role": role},
            "create_time": 1756000000 + at,
            "content": {"content_type": "text", "parts": [text]},
        }
        mapping[key] = {"id": key, "parent": above, "children": [], "message": message}
        above = key
    return {
        "title": "T",
        "mapping": mapping,
        "current_node": above,
        "conversation_id": native,
        **facts,
    }


def flat(texts):
    """A log of question and answer in turn, without ids and times."""
    pairs = zip(texts, ("user", "assistant") * len(texts), strict=False)
    return "".join(json.dumps({"role": role, "content": text}) + "\n" for text, role in pairs)


def write(file, value):
    file.write_text(json.dumps(value), "utf-8")
    return file


# --- families


def family(tmp_path, *, child_own=("ask", "answer"), parent_own=()):
    parent = Talk(ONE).play(["ask", "answer"])
    child = parent.copy(TWO).play(child_own)
    parent.play(parent_own)
    return parent.write(tmp_path), child.write(tmp_path)


def test_a_child_of_a_parent_with_own_turns_is_a_fork(tmp_path):
    store = Memory()
    store.ingest(*family(tmp_path, parent_own=("ask", "answer")))
    assert store.threads[CHILD].lineage == (link(LineageKind.FORKED_FROM, PARENT, 2),)
    assert [turn.number for turn in store.threads[CHILD].turns] == [3, 4]
    assert store.threads[CHILD].path == (1, 2, 3, 4)


def test_a_pure_copy_points_to_the_smaller_id(tmp_path):
    store = Memory()
    store.ingest(*family(tmp_path, child_own=()))
    assert store.threads[CHILD].lineage == (link(LineageKind.DUPLICATE_OF, PARENT, 2),)
    assert store.threads[CHILD].turns == ()


def test_a_background_copy_is_the_child_whatever_its_id(tmp_path):
    talk = Talk(TWO).play(["ask", "answer"])
    copy = talk.copy(ONE)
    for line in copy.lines:
        line["sessionKind"] = "bg"
    store = Memory()
    store.ingest(copy.write(tmp_path), talk.write(tmp_path))
    assert store.threads[PARENT].lineage == (link(LineageKind.FORKED_FROM, CHILD, 2),)


def test_a_fork_says_so_and_waits_for_its_parent(tmp_path):
    parent, child = Talk(ONE).play(["ask", "answer"]), Talk(ONE)
    child = parent.copy(TWO).play(["ask"])
    for line in child.lines[:2]:
        line["forkedFrom"] = {"sessionId": ONE, "messageUuid": line["uuid"]}
    store = Memory()
    report = store.ingest(child.write(tmp_path))
    assert codes(report) == {"parent_missing": 1}
    assert store.threads[CHILD].lineage == (link(LineageKind.FORKED_FROM, PARENT, None),)
    assert len(store.threads[CHILD].turns) == 3
    store.ingest(parent.write(tmp_path))
    assert store.threads[CHILD].lineage == (link(LineageKind.FORKED_FROM, PARENT, 2),)
    assert [turn.number for turn in store.threads[CHILD].turns] == [3]


def test_a_copy_that_names_its_parent_in_its_records_is_the_child(tmp_path):
    older = Talk(TWO).play(["ask", "answer"])
    newer = older.copy(ONE)
    for line in newer.lines:
        line["sessionId"] = TWO
    newer.play(["ask"])
    older.play(["ask"])
    store = Memory()
    store.ingest(newer.write(tmp_path), older.write(tmp_path))
    assert store.threads[PARENT].lineage == (link(LineageKind.FORKED_FROM, CHILD, 2),)


def test_a_child_grows_after_its_parent_is_known(tmp_path):
    parent, child = family(tmp_path)
    store = Memory()
    store.ingest(parent)
    store.ingest(child)
    grown = Talk(ONE).play(["ask", "answer"]).copy(TWO).play(["ask", "answer", "ask", "answer"])
    report = store.ingest(grown.write(tmp_path))
    assert [(row.status, row.new_turns) for row in report.threads] == [("grown", 2)]
    assert [turn.number for turn in store.threads[CHILD].turns] == [3, 4, 5, 6]


def agent(name, session=ONE):
    talk = Talk(session, name).play(["ask", "answer"])
    for line in talk.lines:
        line.update(isSidechain=True, agentId=name)
    return talk


def spawning(session, name, talk=None):
    talk = (talk or Talk(session)).play(["ask", "answer"])
    talk.ask("Send one")
    talk.call()
    talk.lines[-1]["toolUseResult"] = {"agentId": name}
    return talk.play(["answer"])


def test_agents_belong_to_the_message_that_sent_them_in_any_order(tmp_path):
    main = spawning(ONE, "ag1").write(tmp_path / "a")
    sent = agent("ag1").write(tmp_path / "a" / ONE / "subagents", "agent-ag1.jsonl")
    told = link(LineageKind.SUBAGENT_OF, PARENT, 3)
    for paths in ((main, sent), (sent, main), (tmp_path / "a",)):
        store = Memory()
        for path in paths:
            store.ingest(path)
        assert store.threads[f"{PARENT}:agent-ag1"].lineage == (told,)
        assert store.threads[PARENT].title == f"Question 0 of {ONE}?"
    alone = Memory()
    assert codes(alone.ingest(sent)) == {"parent_missing": 1}


def test_an_agent_of_an_agent_points_to_its_session(tmp_path):
    main = spawning(ONE, "ag1").write(tmp_path)
    sent = agent("ag1")
    sent.call()
    sent.lines[-1]["toolUseResult"] = {"agentId": "ag2"}
    for line in sent.lines:
        line.update(isSidechain=True, agentId="ag1")
    store = Memory()
    below = tmp_path / ONE / "subagents"
    store.ingest(
        main, sent.write(below, "agent-ag1.jsonl"), agent("ag2").write(below, "agent-ag2.jsonl")
    )
    assert len(store.threads) == 3
    assert all(one.lineage[0].parent == PARENT for one in store.threads.values() if one.lineage)


def test_an_agent_nobody_tells_of_belongs_to_the_last_question_before_it(tmp_path):
    talk = Talk(ONE).play(["ask", "answer"])
    sent = agent("ag9")
    for line in sent.lines:
        line["timestamp"] = (START + timedelta(seconds=2)).isoformat()
    talk.play(["ask"])
    talk.lines[-1]["timestamp"] = (START + timedelta(hours=1)).isoformat()
    store = Memory()
    store.ingest(talk.write(tmp_path))
    store.ingest(sent.write(tmp_path, "agent-ag9.jsonl"))
    assert store.threads[f"{PARENT}:agent-ag9"].lineage == (
        link(LineageKind.SUBAGENT_OF, PARENT, 1),
    )


# --- one thread in several carriers, and changed ones


def test_strangers_with_one_id_are_two_threads(tmp_path):
    store = Memory()
    first = Talk(ONE).play(["ask"]).write(tmp_path, "a.jsonl")
    stranger = Talk(ONE, "z")
    stranger.count = 50
    second = stranger.play(["ask"]).write(tmp_path, "b.jsonl")
    assert codes(store.ingest(first, second)) == {"id_collision": 1}
    apart = sorted(store.threads)
    assert apart[0] == PARENT
    assert apart[1].startswith(f"{PARENT}~")
    later = Memory()
    later.ingest(first)
    assert codes(later.ingest(second)) == {"id_collision": 1}
    assert sorted(later.threads) == apart
    assert later.ingest(second).same == 1


def test_logs_that_only_begin_alike_are_two_threads(tmp_path):
    tides = ("Hello there", "The moon pulls.", "And the sun?", "Less.")
    brass = ("Hello there", "Wax it.", "Which wax?", "Carnauba.")
    (tmp_path / "a.jsonl").write_text(flat(tides))
    (tmp_path / "b.jsonl").write_text(flat(brass[:2]))
    (tmp_path / "c.jsonl").write_text(flat(tides[:2]))
    for file in tmp_path.iterdir():
        os.utime(file, (1000, 1000))  # at rest: nothing is held back
    stores = [Memory(), Memory()]
    for store, order in zip(stores, ("abc", "cba"), strict=True):
        report = store.ingest(*(tmp_path / f"{one}.jsonl" for one in order))
        assert codes(report) == {"duplicate_carrier": 1, "id_collision": 1}
    assert sorted(stores[0].threads) == sorted(stores[1].threads)
    (tmp_path / "b.jsonl").write_text(flat(brass))
    os.utime(tmp_path / "b.jsonl", (2000, 2000))
    assert [(row.new, row.grown) for row in stores[0].ingest(tmp_path / "b.jsonl").carriers] == [
        (0, 1)
    ]
    told = sorted(tuple(turn.text for turn in one.on_path()) for one in stores[0].threads.values())
    assert told == [tides, brass]


def test_a_changed_message_takes_the_next_number(tmp_path):
    store = Memory()
    old = [("a", "user", "Q"), ("b", "assistant", "Old answer"), ("c", "user", "More")]
    store.ingest(write(tmp_path / "old.json", [chat(old)]))
    new = [old[0], ("b", "assistant", "New answer"), old[2]]
    report = store.ingest(write(tmp_path / "new.json", [chat(new)]))
    thread = store.threads["chatgpt:c1"]
    assert codes(report) == {"turn_revised": 1}
    assert thread.path == (1, 4, 3)
    assert [(turn.number, turn.superseded_by) for turn in thread.turns][1] == (2, 4)
    again = store.ingest(tmp_path / "old.json")
    assert codes(again) == {}
    assert [turn.text for turn in store.threads["chatgpt:c1"].turns][3] == "New answer"


def test_what_a_file_no_longer_holds_stays_and_is_marked(tmp_path):
    file = tmp_path / "x.json"
    talk = [
        ("a", "user", "Q"),
        ("b", "assistant", "A"),
        ("c", "user", "More"),
        ("d", "assistant", "B"),
    ]
    store = Memory()
    store.ingest(write(file, [chat(talk)]))
    changed = [talk[0], talk[1], ("e", "user", "Else"), ("f", "assistant", "C"), ("g", "user", "D")]
    report = store.ingest(write(file, [chat(changed)]))
    thread = store.threads["chatgpt:c1"]
    assert codes(report) == {"source_gone": 2}
    assert [turn.number for turn in thread.turns if turn.source_gone] == [3, 4]
    assert thread.path == (1, 2, 5, 6, 7)


def test_a_regenerated_branch_that_becomes_the_main_one_keeps_its_numbers(tmp_path):
    talk = chat([("a", "user", "Q"), ("b", "assistant", "One")])
    other = chat([("a", "user", "Q"), ("z", "assistant", "Two")])["mapping"]["z"]
    other["message"]["create_time"] += 5
    talk["mapping"]["z"] = other
    file = tmp_path / "x.json"
    store = Memory()
    store.ingest(write(file, [talk]))
    assert store.threads["chatgpt:c1"].path == (1, 2)
    talk["current_node"] = "z"
    store.ingest(write(file, [talk]))
    assert store.threads["chatgpt:c1"].path == (1, 3)
    assert [turn.number for turn in store.threads["chatgpt:c1"].turns] == [1, 2, 3]


def test_a_rendering_adds_nothing_to_the_native_transcript(tmp_path):
    talk = Talk(ONE)
    talk.ask("How  do islands form?")
    talk.answer("No edges\nto the rest.")
    page = (
        "<!-- Generated by SpecStory -->\n\n"
        f"<!-- Claude Code Session {ONE} (2026-02-01 00:00:00Z) -->\n\n"
        "_**User (2026-02-01T00:00:01.000Z)**_\n\nHow do islands form?\n\n---\n\n"
        "_**Agent (claude-x 2026-02-01T00:00:02.000Z)**_\n\nNo edges to the rest.\n\n---\n"
    )
    native = talk.write(tmp_path)
    rendering = tmp_path / "x.md"
    rendering.write_text(page, "utf-8")
    for paths in ((native, rendering), (rendering, native)):
        at_once = Memory()
        assert codes(at_once.ingest(*paths)) == {"duplicate_carrier": 1}
        (thread,) = at_once.threads.values()
        assert [turn.text for turn in thread.turns] == [
            "How  do islands form?",
            "No edges\nto the rest.",
        ]
    later = Memory()
    later.ingest(native)
    records = len(later.records)
    later.ingest(rendering)
    assert len(later.records) == records


def test_two_exports_of_one_conversation_are_one_thread(tmp_path):
    short = [("a", "user", "Q"), ("b", "assistant", "A")]
    one = write(tmp_path / "conversations-000.json", [chat(short)])
    two = write(tmp_path / "conversations-001.json", [chat([*short, ("c", "user", "More")])])
    store = Memory()
    assert codes(store.ingest(one, two)) == {"duplicate_thread": 1}
    assert len(store.threads["chatgpt:c1"].turns) == 3
    other = write(tmp_path / "export.json", [chat(short)])
    assert codes(Memory().ingest(one, other)) == {"duplicate_carrier": 1}


def test_a_title_finds_its_thread_over_all_files_and_runs(tmp_path):
    talk = Talk(ONE).play(["ask", "answer"])
    titles = tmp_path / "titles.jsonl"
    titles.write_text(
        json.dumps({"type": "summary", "summary": "S", "leafUuid": talk.parent}) + "\n"
    )
    file = talk.write(tmp_path)
    store = Memory()
    assert codes(store.ingest(titles)) == {"empty_thread": 1, "foreign_summary": 1}
    assert codes(store.ingest(file)) == {}
    assert store.threads[PARENT].title == "S"
    for paths in ([file, titles], [titles, file]):
        at_once = Memory()
        assert codes(at_once.ingest(*paths)) == {"empty_thread": 1}
        assert at_once.threads[PARENT].title == "S"
    late = Memory()
    late.ingest(file)
    assert codes(late.ingest(titles)) == {"empty_thread": 1}
    assert late.threads[PARENT].title == "S"


def test_a_title_given_by_the_user_stays(tmp_path):
    talk = Talk(ONE).play(["ask", "answer"])
    talk.lines.append({"type": "custom-title", "customTitle": "Mine", "sessionId": ONE})
    titles = tmp_path / "titles.jsonl"
    titles.write_text(
        json.dumps({"type": "summary", "summary": "S", "leafUuid": talk.parent}) + "\n"
    )
    store = Memory()
    store.ingest(talk.write(tmp_path))
    store.ingest(titles)
    assert store.threads[PARENT].title == "Mine"


# --- live files


def test_a_live_file_shows_no_half_turn_and_comes_to_rest(tmp_path):
    talk = Talk(ONE).play(["ask"])
    talk.say("m", {"type": "text", "text": "May grow"})
    file = talk.write(tmp_path)
    changed = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    store = Memory()
    report = store.ingest(file, now=changed)
    assert [turn.text for turn in store.threads[PARENT].turns] == [f"Question 0 of {ONE}?"]
    assert (store.threads[PARENT].state, report.records) == (ThreadState.LIVE, 1)
    assert store.ingest(file, now=changed).carriers[0].skipped
    store.ingest(file, now=changed + timedelta(seconds=601))  # file times are finer than ours
    assert [turn.role for turn in store.threads[PARENT].turns] == [Role.HUMAN, Role.ASSISTANT]
    assert store.threads[PARENT].state is ThreadState.CLOSED


def test_a_renamed_reader_version_reads_again(tmp_path):
    file = Talk(ONE).play(["ask"]).write(tmp_path)
    store = Memory()
    store.ingest(file, now=NOW)
    row = store.files[str(file)]
    store.files[str(file)] = row.replace(version=row.version + 1)
    assert not store.ingest(file).carriers[0].skipped


def test_an_archive_is_left_closed_and_its_members_are_known_by_their_sum(tmp_path):
    file = Talk(ONE).play(["ask"]).write(tmp_path)
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(file, "x.jsonl")
    store = Memory()
    store.ingest(archive)
    assert [row.same for row in store.ingest(archive).carriers] == [1]
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr("y.jsonl", b"".join(Talk(TWO, "b").play(["ask"]).encoded()))
    report = store.ingest(archive)
    assert [(row.skipped, row.new, row.same) for row in report.carriers] == [
        (True, 0, 1),
        (False, 1, 0),
    ]


def test_an_archive_is_opened_again_when_more_of_it_is_wanted(tmp_path):
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("x.jsonl", b"".join(Talk(ONE).play(["ask"]).encoded()))
        packed.writestr("y.json", json.dumps([chat([("k1", "user", "Why?")])]))
        packed.writestr("z.md", "# Tides\n\nThe moon pulls.\n")
    store = Memory()
    assert store.ingest(archive, format="chatgpt").new == 1
    assert store.ingest(archive).new == 1
    assert store.ingest(archive, notes=True).new == 1
    assert [row.skipped for row in store.ingest(archive, notes=True).carriers] == [True]


def test_an_archive_is_opened_again_by_another_version_of_a_reader(tmp_path, monkeypatch):
    from ingest.readers import claude_code

    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("x.jsonl", b"".join(Talk(ONE).play(["ask"]).encoded()))
    store = Memory()
    store.ingest(archive)
    monkeypatch.setattr(claude_code, "VERSION", claude_code.VERSION + 1)
    assert [row.skipped for row in store.ingest(archive).carriers] == [False]


# --- outcomes


def test_what_was_lost_whole_is_told_by_every_run(tmp_path):
    lost = write(tmp_path / "a.json", [{"uuid": "u1", "chat_messages": 5}])
    archive = tmp_path / "b.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("x.txt", "words")
    store = Memory()
    for file, code in ((lost, "bad_conversation"), (archive, "unknown_format")) * 2:
        report = store.ingest(file)
        assert (report.exit_code, codes(report)) == (3, {code: 1})


def test_nothing_found_is_never_success(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    report = Memory().ingest(empty)
    assert (report.exit_code, report.reasons) == (3, ("no_files",))
    (empty / "a.txt").write_text("words")
    (empty / "b.json").write_text("[1]")
    report = Memory().ingest(empty)
    assert (report.exit_code, report.reasons) == (3, ("no_conversation", "unknown_format"))
    assert {one.name: one.count for one in report.ignored} == {
        "no_conversation": 1,
        "unknown_format": 1,
    }
    report = Memory().ingest(empty / "a.txt")
    assert (report.exit_code, codes(report)) == (3, {"unknown_format": 1})


def test_one_lost_file_among_threads_is_told_by_the_outcome(tmp_path):
    file = Talk(ONE).play(["ask"]).write(tmp_path)
    lost = tmp_path / "x.txt"
    lost.write_text("words")
    assert Memory().ingest(file, lost).exit_code == 1
    assert Memory().ingest(tmp_path).exit_code == 0


def test_bad_lines_beside_good_ones_are_a_loss_only_if_strict(tmp_path):
    talk = Talk(ONE).play(["ask"])
    file = tmp_path / "x.jsonl"
    file.write_bytes(b"".join(talk.encoded()) + b'{"broken": oops}\n')
    report = Memory().ingest(file)
    assert (report.exit_code, codes(report)) == (0, {"bad_json": 1})
    assert report.codes[0].places == ("x.jsonl:2",)
    assert Memory().ingest(file, strict=True).exit_code == 1


def test_a_fault_of_one_reader_stops_only_its_file(tmp_path, monkeypatch, caplog):
    caplog.set_level("DEBUG")
    from ingest.readers import claude_code

    read = claude_code.read

    def failing(src, tally):
        if "bad" in src.name:
            raise ValueError("secret words")
        return read(src, tally)

    monkeypatch.setattr(claude_code, "read", failing)
    bad = Talk(TWO, "b").play(["ask"]).write(tmp_path, "bad.jsonl")
    report = Memory().ingest(bad, Talk(ONE).play(["ask"]).write(tmp_path))
    assert (codes(report), report.exit_code, report.new) == ({"reader_error": 1}, 1, 1)
    assert "ValueError" in caplog.text
    assert "secret words" not in caplog.text.replace('ValueError("secret words")', "")


def test_a_file_that_goes_away_while_it_is_read_is_unreadable(tmp_path, monkeypatch):
    from ingest.readers import claude_code

    def gone(_, tally):
        tally.read()
        raise FileNotFoundError

    monkeypatch.setattr(claude_code, "read", gone)
    report = Memory().ingest(Talk(ONE).play(["ask"]).write(tmp_path))
    assert codes(report) == {"unreadable_file": 1}


def test_archives_tell_what_they_hold(tmp_path):
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("x.txt", "words")
        packed.writestr("../up.json", "[]")
        packed.writestr("inner.zip", b"PK\x03\x04 and more")
    report = Memory().ingest(archive)
    assert codes(report) == {"nested_zip": 1, "unknown_format": 1, "unsafe_path": 1}
    assert report.exit_code == 3


def test_a_swollen_member_ends_its_archive(tmp_path, monkeypatch):
    monkeypatch.setattr("ingest.archives.MEMBER_TOTAL", 100_000)
    lines = b"".join(Talk(ONE).play(["ask", "answer"] * 500).encoded())
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("x.jsonl", lines)
        packed.writestr("y.jsonl", b"".join(Talk(TWO, "b").play(["ask"]).encoded()))
    report = Memory().ingest(archive)
    assert codes(report) == {"zip_bomb": 1}
    assert report.exit_code == 3


def test_what_is_asked_for_is_read(tmp_path):
    file = Talk(ONE).play(["ask"]).write(tmp_path)
    os.utime(file, (1000, 1000))
    since = datetime(2020, 1, 1, tzinfo=UTC)
    assert Memory().ingest(tmp_path, since=since).ignored[0].name == "older"
    assert Memory().ingest(tmp_path, only=("chatgpt",)).ignored[0].name == "not_asked_for"
    assert Memory().ingest(file, format="claude-code").new == 1
    assert Memory().ingest(file, dry_run=True).dry_run
    with pytest.raises(SourceNotFound):
        Memory().ingest(tmp_path / "nowhere")
    with pytest.raises(UnknownReader):
        Memory().ingest(file, only=("nobody",))


def test_what_tools_gave_is_kept_as_side_turns_if_asked_for(tmp_path):
    talk = Talk(ONE).play(["ask", "call"])
    fetch = {"type": "tool_use", "id": "w", "name": "WebFetch", "input": {}}
    talk.say("m", fetch)
    page = {
        "type": "tool_result",
        "tool_use_id": "w",
        "content": [{"type": "text", "text": "A page"}],
    }
    talk.add(type="user", message={"content": [page]})
    file = talk.play(["answer"]).write(tmp_path)
    store = Memory()
    store.ingest(file, keep_context=True)
    told = [(turn.role.value, turn.taint.value) for turn in store.threads[PARENT].turns]
    assert told == [
        ("human", "human"),
        ("other", "tool"),
        ("other", "web"),
        ("assistant", "assistant"),
    ]
    plain = Memory()
    plain.ingest(file)
    assert [turn.role.value for turn in plain.threads[PARENT].turns] == ["human", "assistant"]


def test_a_forgotten_thread_stays_forgotten(tmp_path):
    file = Talk(ONE).play(["ask"]).write(tmp_path)
    store = Memory()
    store.gone.add(PARENT)
    report = store.ingest(file)
    assert (codes(report), store.threads, report.exit_code) == ({"forgotten": 1}, {}, 3)


def test_large_runs_wait_in_a_file_and_give_the_same(tmp_path, monkeypatch):
    for at in range(5):
        Talk(f"{at}" * 8, str(at)).play(["ask", "answer", "long call", "answer"]).write(tmp_path)
    plain = Memory()
    plain.ingest(tmp_path)
    from ingest import reading
    from ingest.family import Spool

    monkeypatch.setattr(reading, "Spool", lambda: Spool(10))
    spilled = Memory()
    spilled.ingest(tmp_path)
    assert spilled.told() == plain.told()


def test_records_come_before_the_states_of_their_files(tmp_path):
    Talk(ONE).play(["ask"]).write(tmp_path)
    given = list(run([str(tmp_path)], Memory(), Options(salt=SALT), NOW))
    assert [type(one).__name__ for one in given] == ["ThreadRecord", "FileState", "IngestReport"]
    assert isinstance(given[-1], IngestReport)


# --- secrets

SECRETS = (
    "sk-ant-" + "api03-" + "Zk3Qw9Lm2Xv7Tb5Rn8Hd" * 4,
    "gh" + "p_" + "Ab3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3eF6",
    "AK" + "IA" + "QX7TB5RN8HDK3ZP2",
)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_in_any_field_appears_nowhere(tmp_path, caplog, secret):
    caplog.set_level("DEBUG")
    talk = Talk(ONE).play(["ask", "answer", "call", "answer"])
    for line in talk.lines:
        line["cwd"] = f"/w/{secret}"
    talk.ask(f"Use {secret} please, see https://x/{secret} and [[{secret}]]")
    talk.answer(f"I used {secret}.")
    talk.lines[2]["message"]["content"][0]["name"] = secret
    talk.lines[2]["message"]["content"][0]["input"]["file_path"] = f"/w/{secret}/a.py"
    talk.lines[1]["message"]["model"] = secret
    talk.lines[0]["uuid"] = secret
    talk.lines[1]["parentUuid"] = secret
    talk.lines.append({"type": "custom-title", "customTitle": f"T {secret}", "sessionId": ONE})
    talk.lines.append({"type": "summary", "summary": f"S {secret}", "leafUuid": "nobody"})
    other = chat([("a", "user", f"Q {secret}"), (f"b {secret}", "assistant", "A")], native=secret)
    other["title"] = secret
    lines = [{"messages": [{"role": "user", "content": secret}], "id": secret, "title": secret}]
    store = Memory()
    report = store.ingest(
        talk.write(tmp_path),
        write(tmp_path / "chat.json", [other, {"conversation_id": secret}]),
        write(tmp_path / "lines.json", lines),
    )
    kept = [*store.records, *store.files.values(), report]
    assert len(store.threads) == 3
    assert [one for one in kept if secret in one.model_dump_json()] == []
    assert secret not in caplog.text
    assert sum(one.count for one in report.masked) >= 5
    assert {one.distinct for one in report.masked} == {1}
