import base64
import json
import zipfile
from datetime import UTC, datetime

import pytest

from graphstore.ids import digest_bytes
from graphstore.model.conversation import LineageKind, Role, Taint
from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers import copilot_cli
from ingest.readers.copilot_cli import without_reminders
from ingest.sniff import choose
from tests.ingest_memory import Memory

LATE = datetime(2100, 1, 1, tzinfo=UTC)
SESSION = "5e000000-0000-4000-8000-000000000001"


class Log:
    """The events of a session, one after the other."""

    def __init__(self, session: str | None = SESSION, **more):
        self.lines: list[dict[str, object]] = []
        if session is not None:
            self.add("session.start", sessionId=session, version=1, **more)

    def add(self, kind, /, envelope=None, **data):
        number = len(self.lines) + 1
        self.lines.append({
            "type": kind, "data": data, "id": f"e{number}", "parentId": f"e{number - 1}",
            "timestamp": f"2026-01-01T00:00:{number:02}.000Z", **(envelope or {}),
        })  # fmt: skip
        return self

    def ask(self, text, **more):
        return self.add("user.message", content=text, **more)

    def say(self, text, *tools, **more):
        requests = [{"toolCallId": f"t{len(self.lines)}-{one}", "name": one,
                     "arguments": {"path": f"/w/a/{one}.py"}} for one in tools]  # fmt: skip
        return self.add("assistant.message", content=text, toolRequests=requests, **more)

    def encoded(self):
        return b"".join(json.dumps(one).encode() + b"\n" for one in self.lines)


def read(content, **more):
    content = content.encoded() if isinstance(content, Log) else content
    src = Source.of_bytes(content, "x.log")
    for name, value in more.items():
        setattr(src, name, value)
    assert choose(src) is copilot_cli
    tally = Tally("f")
    found = [one for one in copilot_cli.read(src, tally) if isinstance(one, RawThread)]
    for one in found:
        tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def words(found, *, off=False):
    return [(turn.role.value, *turn.blocks) for turn in found.turns if turn.alternative is off]


def test_messages_are_words_and_all_else_is_counted_by_what_it_is():
    log = Log(context={"cwd": "/w/a"}, selectedModel="m-1", startTime="2026-01-01T00:00:00Z")
    log.add("system.message", content="be kind").ask("why").add("assistant.turn_start", turnId="0")
    log.add("assistant.reasoning", content="hm").add("assistant.intent", intent="look")
    log.add("tool.execution_start", toolCallId="x", toolName="view", arguments={"path": "/w/a/b"})
    log.add("hook.start").add("permission.requested").add("skill.invoked", content="steps")
    log.add("command.execute", command="/model").add("assistant.message_delta", deltaContent="s")
    log.say("so", model="m-2").add("assistant.turn_end").add("session.shutdown").add("new.kind")
    ((found,), tally) = read(log)
    assert words(found) == [("human", "why"), ("assistant", "so")]
    assert (found.native_id, found.project, found.models) == (SESSION, "/w/a", ("m-1", "m-2"))
    assert found.started_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert (found.turns[1].calls, found.turns[1].touched) == ((("view", 1),), ("/w/a/b",))
    assert [turn.stopped for turn in found.turns] == [False, True]
    assert tally.dispositions == {
        "meta": 7, "injected": 2, "thinking": 2, "tool": 1, "command": 1, "duplicate": 1, "turn": 2,
    }  # fmt: skip
    assert tally.codes == {"unknown_record": 1}
    assert found.turns[0].line == 3


def test_what_is_said_before_a_tool_is_interim(tmp_path):
    log = Log(context={"gitRoot": "/w/a"}).ask("why").say("I look.", "view").say("And again.")
    log.say("", "grep", reasoningText="hm").say("So it is.").say("More.")
    file = tmp_path / "events.jsonl"
    file.write_bytes(log.encoded())
    store = Memory()
    store.ingest(file, now=LATE)
    turns = store.threads[f"copilot-cli:{SESSION}"].turns
    assert [turn.text for turn in turns] == ["why", "So it is.", "More."]
    assert {one.name: one.count for one in turns[1].tools.counts} == {"view": 1, "grep": 1}
    assert turns[1].tools.touched == ("grep.py", "view.py")


def test_a_native_mark_of_an_answer_wins():
    log = Log().ask("why").say("on the way", phase="commentary").say("so", phase="final_answer")
    ((found,), _) = read(log.say("and", phase="thinking"))
    assert [turn.final for turn in found.turns] == [None, False, True, None]


@pytest.mark.parametrize(
    ("more", "typed"),
    [({}, True), ({"source": "user"}, True), ({"source": ""}, True),
     ({"source": "skill-pdf"}, False), ({"source": "autopilot"}, False),
     ({"source": ["odd"]}, False), ({"isAutopilotContinuation": True}, False)],
)  # fmt: skip
def test_only_what_a_person_typed_is_a_persons(more, typed):
    ((found,), tally) = read(Log().ask("why", **more))
    assert words(found) == ([("human", "why")] if typed else [])
    assert tally.dispositions.get("injected", 0) == (not typed)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("<current_datetime>now</current_datetime>\n\nwhy\n<reminder>be kind</reminder>\n", "why"),
        ("why\n<system_reminder><reminder>a</reminder></system_reminder>", "why"),
        ("what does <reminder>x</reminder> mean", "what does <reminder>x</reminder> mean"),
        ("<reminder>never closed", "<reminder>never closed"),
        ("closed only</reminder>", "closed only</reminder>"),
        ("<reminder>be kind</reminder>", None),
    ],
)
def test_what_the_tool_wrote_around_a_prompt_is_taken_off(text, typed):
    ((found,), tally) = read(Log().ask(text))
    assert words(found) == ([("human", typed)] if typed else [])
    assert tally.dispositions.get("injected", 0) == (typed is None)


def test_many_reminders_cost_their_length_once():
    many = "<reminder></reminder>\n" * 50_000
    assert without_reminders(f"{many}why\n{many}") == ("why", True)
    unclosed = "<reminder>" + "x<tagged_files></tagged_files>" * 20_000
    assert without_reminders(unclosed) == (f"{unclosed[:-29]}", True)


def test_messages_without_words_are_counted_by_what_they_hold():
    log = Log().say("").say("", "view").say("", reasoningText="hm").say("", reasoningOpaque="x")
    log.add("user.message").add("assistant.message")
    ((found,), tally) = read(log)
    assert (found.turns, found.tail_calls) == ([], (("view", 1),))
    assert tally.dispositions == {
        "meta": 1, "empty": 2, "tool": 1, "thinking": 2, "lost": 1, "turn": 0,
    }  # fmt: skip
    assert tally.codes == {"bad_message": 1}


def test_an_agent_is_a_thread_of_its_own(tmp_path):
    log = Log().ask("first").say("one").ask("second").say("", "task")
    log.add("subagent.started", toolCallId="c1")
    log.add("user.message", {"agentId": "g1"}, content="delegated", parentToolCallId="c1")
    log.say("found it", parentToolCallId="c1").add("assistant.turn_end", {"agentId": "g1"})
    log.add("tool.execution_start", toolCallId="y", toolName="ls", parentToolCallId="c1")
    log.say("two")
    file = tmp_path / "events.jsonl"
    file.write_bytes(log.encoded())
    store = Memory()
    store.ingest(file, now=LATE)
    child = store.threads[f"copilot-cli:{SESSION}:agent-g1"]
    assert [(turn.role, turn.text) for turn in child.turns] == [
        (Role.OTHER, "delegated"), (Role.ASSISTANT, "found it"),
    ]  # fmt: skip
    (link,) = child.lineage
    assert (link.kind, link.parent, link.split_turn) == (
        LineageKind.SUBAGENT_OF, f"copilot-cli:{SESSION}", 3,
    )  # fmt: skip
    main = store.threads[f"copilot-cli:{SESSION}"]
    assert [turn.text for turn in main.turns] == ["first", "one", "second", "two"]


def test_what_was_taken_back_is_off_the_main_line():
    log = Log().ask("kept").say("yes").ask("wrong").say("no")
    log.add("session.snapshot_rewind", upToEventId="e4", eventsRemoved=2).ask("right").say("good")
    log.add("session.snapshot_rewind", upToEventId="gone").add("session.snapshot_rewind")
    ((found,), tally) = read(log)
    assert words(found) == [
        ("human", "kept"), ("assistant", "yes"), ("human", "right"), ("assistant", "good"),
    ]  # fmt: skip
    assert words(found, off=True) == [("human", "wrong"), ("assistant", "no")]
    assert [event.kind for event in found.events] == ["rewind"] * 3
    assert tally.codes == {}


def test_what_happened_to_a_session_is_an_event_or_a_fact():
    log = Log().add("session.title_changed", title="Bridges").ask("why")
    log.add("session.compaction_complete", summaryContent="no turn").add("abort", reason="user")
    log.add("session.context_cleared").add("session.resume", context={"cwd": "/w/b"})
    log.add("session.model_change", newModel="m-3").add("session.title_changed", title="")
    ((found,), _) = read(log)
    assert [event.kind for event in found.events] == ["compaction", "abort", "clear"]
    assert (found.titles[0].text, found.project, found.models) == ("Bridges", "/w/b", ("m-3",))


def test_a_session_of_the_first_versions_is_told_not_read():
    ((found,), tally) = read(Log().add("session.import_legacy", legacySession={}).ask("why"))
    assert (words(found), tally.codes) == ([("human", "why")], {"unknown_content": 1})


def test_another_start_is_another_session_and_the_same_goes_on():
    again = Log().ask("and").lines
    for one in again:
        one["id"] = f"again {one['id']}"
    log = Log().ask("why")
    log.lines.extend(again)
    ((found, second), tally) = read(log.encoded() + Log("other").ask("else").encoded())
    assert words(found) == [("human", "why"), ("human", "and")]
    assert (second.native_id, words(second)) == ("other", [("human", "else")])
    assert tally.codes == {}


def test_a_log_without_a_start_is_known_by_its_first_words(tmp_path):
    for name, more in (
        ("a.jsonl", Log(None).ask("why")),
        ("b.jsonl", Log(None).ask("why").say("so")),
    ):
        (tmp_path / name).write_bytes(more.encoded())
    store = Memory()
    report = store.ingest(tmp_path, now=LATE)
    (thread,) = store.threads.values()
    assert [turn.text for turn in thread.turns] == ["why", "so"]
    assert {one.code for one in report.codes} == {"duplicate_carrier"}
    agents = Log(None).ask("why").say("found", parentToolCallId="c1")
    ((main, agent), _) = read(agents)
    assert (main.native_id, agent.native_id, agent.pointers) == (None, "agent-c1", ())


def test_copies_and_odd_lines_cost_one_record_each():
    log = Log().ask("why")
    log.lines.append(log.lines[-1])
    log.lines.append({"type": 7, "data": {}})
    log.lines.append({"type": "user.message", "data": []})
    ((found,), tally) = read(log.say("so", at=1).encoded() + b"[1]\n{broken\n")
    assert words(found) == [("human", "why"), ("assistant", "so")]
    assert tally.codes == {
        "duplicate_record": 1, "bad_message": 2, "not_an_object": 1, "bad_json": 1,
    }  # fmt: skip


def test_a_line_broken_inside_a_tools_result_is_joined_and_zeros_are_stripped():
    raw = Log().ask("why").add("tool.execution_complete", result={"content": "a\nb"}).say("so")
    content = raw.encoded().replace(b"a\\nb", b"a\nb") + b"\0" * 100
    ((found,), tally) = read(content)
    assert words(found) == [("human", "why"), ("assistant", "so")]
    assert tally.codes == {"joined_lines": 1, "nul_bytes": 1}


def test_results_of_tools_are_side_turns_where_the_owner_asks_for_them():
    log = Log().ask("why").say("", "view")
    log.add("tool.execution_complete", toolCallId="x", result={"content": "found"})
    log.add("tool.execution_complete", toolCallId="y", error={"message": "no"}).say("so")
    ((found,), _) = read(log, keep_context=True)
    assert [(turn.role, turn.taint) for turn in found.turns] == [
        (Role.HUMAN, None), (Role.OTHER, Taint.TOOL), (Role.ASSISTANT, None),
    ]  # fmt: skip
    ((without,), _) = read(log)
    assert words(without) == [("human", "why"), ("assistant", "so")]


def test_attachments_are_kept_without_their_bytes():
    listed = [
        {"type": "file", "path": "/w/a/x.md", "displayName": "x"},
        {"type": "selection", "filePath": "C:\\a\\y.py", "text": "no"},
        {"type": "blob", "data": base64.b64encode(b"abc").decode(), "mimeType": "image/png"},
        {"type": "github_reference", "title": "An issue", "data": "~"},
        7,
    ]
    ((found,), tally) = read(Log().ask("why", attachments=listed))
    told = [(one.name, one.media_type, one.size) for one in found.turns[0].attachments]
    assert told == [
        ("x", "file", None), ("y.py", "selection", None), (None, "image/png", 3),
        ("An issue", "github_reference", 0),
    ]  # fmt: skip
    assert found.turns[0].attachments[2].content_hash == digest_bytes(b"abc")
    ((bad,), _) = read(Log().ask("why", attachments=[{"data": "a"}]))
    assert bad.turns[0].attachments[0].size is None
    assert tally.codes == {}


def test_times_that_are_none_are_told():
    log = Log().ask("why")
    log.lines[-1]["timestamp"] = "soon"
    ((found,), tally) = read(log)
    assert (found.turns[0].at, tally.codes) == (None, {"bad_timestamp": 1})


@pytest.mark.parametrize(
    "lines",
    [
        [{"type": "user.message", "content": "no data"}],
        [{"type": "hook.start", "data": {}}],
        [{"type": "message", "data": {}}],
        [{"type": 3, "data": {}}],
    ],
)
def test_other_lines_are_left_to_others(lines):
    content = b"".join(json.dumps(one).encode() + b"\n" for one in lines)
    assert isinstance(choose(Source.of_bytes(content, "x")), ReadFailure)


def test_a_half_written_last_line_is_no_loss():
    log = Log().ask("why").say("so").encoded()
    ((found,), tally) = read(log + b'{"type": "user.mess')
    assert words(found) == [("human", "why"), ("assistant", "so")]
    assert (tally.codes, tally.pending_offset) == ({"pending_tail": 1}, len(log))


def test_the_last_answer_waits_until_it_is_complete(tmp_path):
    file = tmp_path / "events.jsonl"
    said = Log().ask("why").say("so").encoded()
    done = Log().ask("why").say("so").add("assistant.turn_end").encoded()
    for content, turns in ((said, ["why"]), (done, ["why", "so"])):
        file.write_bytes(content)
        store = Memory()
        store.ingest(file, now=datetime.fromtimestamp(file.stat().st_mtime, UTC))
        (thread,) = store.threads.values()
        assert [turn.text for turn in thread.turns] == turns


def test_a_zipped_folder_gives_the_same_threads(tmp_path):
    folder = tmp_path / "session-state" / SESSION
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_bytes(Log().ask("why").say("so").encoded())
    (folder / "workspace.yaml").write_text("id: x\n")
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"session-state/{SESSION}/{file.name}")
    one, other = Memory(), Memory()
    one.ingest(folder.parent, now=LATE)
    other.ingest(tmp_path / "x.zip", now=LATE)
    assert list(one.threads) == list(other.threads) == [f"copilot-cli:{SESSION}"]
