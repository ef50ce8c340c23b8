import base64
import json

import pytest

from graphstore.ids import digest_bytes
from graphstore.model.conversation import LineageKind, Role
from ingest.model import RawThread, Source, Tally
from ingest.readers.claude_code import read
from tests.claude_talk import Talk

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
TWO = "bbbbbbbb-0000-4000-8000-000000000002"


def threads(talk, path=f"/p/-w-graph/{ONE}.jsonl"):
    lines = talk.encoded() if isinstance(talk, Talk) else talk
    src = Source.of_bytes(b"".join(lines), path)
    tally = Tally("x")
    found = [one for one in read(src, tally) if isinstance(one, RawThread)]
    held = sum(turn.records for one in found for turn in one.turns)
    assert tally.records == held + sum(tally.dispositions.values())
    return found, tally


def only(talk, path=f"/p/-w-graph/{ONE}.jsonl"):
    (found,), tally = threads(talk, path)
    return found, tally


def texts(thread, role=None):
    return [" ".join(turn.blocks) for turn in thread.turns if role in (None, turn.role)]


def test_a_call_in_the_next_message_makes_the_one_before_interim():
    talk = Talk(ONE).play(["ask"])
    talk.answer("First")
    talk.think()
    talk.call()
    talk.answer("Second")
    thread, _ = only(talk)
    assert [turn.calls_tool for turn in thread.turns] == [False, True, False]
    assert thread.turns[2].calls == (("Read", 1),)
    assert thread.turns[2].touched == ("/w/graph/a.py",)


def test_gateways_that_reuse_one_id_do_not_melt_replies():
    talk = Talk(ONE).play(["ask"])
    talk.say("same", {"type": "text", "text": "One"})
    talk.ask("next")
    talk.say("same", {"type": "text", "text": "Two"})
    assert texts(only(talk)[0], Role.ASSISTANT) == ["One", "Two"]


@pytest.mark.parametrize(("request_id", "messages"), [("r", 1), (None, 2), ("other", 2)])
def test_after_a_tool_result_a_message_goes_on_only_with_its_request(request_id, messages):
    talk = Talk(ONE).play(["ask"])
    talk.say("m", {"type": "text", "text": "One"}, {"type": "tool_use", "name": "f", "input": {}})
    talk.lines[-1]["requestId"] = "r"
    talk.add(type="user", message={"content": [{"type": "tool_result", "content": "x"}]})
    talk.say("m", {"type": "text", "text": "Two"})
    talk.lines[-1]["requestId"] = request_id
    assert len(texts(only(talk)[0], Role.ASSISTANT)) == messages


def test_records_without_a_persons_words_are_told_apart():
    talk = Talk(ONE).play(["ask"])
    talk.add(type="user", isCompactSummary=True, message={"content": "summary"})
    talk.add(type="user", isVisibleInTranscriptOnly=True, message={"content": "x"})
    talk.add(type="assistant", isApiErrorMessage=True, message={"content": "API Error"})
    talk.say("m", {"type": "text", "text": "No response requested."})
    talk.lines[-1]["message"]["model"] = "<synthetic>"
    talk.add(type="attachment", attachment={"type": "file"})
    talk.add(type="system", subtype="local_command")
    talk.add(type="saved_hook_context")
    talk.add(type="some-new-thing")
    thread, tally = only(talk)
    assert len(thread.turns) == 1
    assert tally.dispositions == {"meta": 4, "injected": 3, "command": 1}
    assert tally.codes == {"unknown_record": 1}


def test_a_plan_is_a_side_turn():
    talk = Talk(ONE)
    talk.add(type="user", planContent="# P", message={"content": "Implement the following plan: P"})
    assert only(talk)[0].turns[0].role is Role.OTHER


def test_damaged_messages_are_lost_one_by_one():
    talk = Talk(ONE).play(["ask"])
    talk.add(type="user", message="x")
    talk.add(type="assistant", message={"content": 7})
    talk.say("m", "no block", {"type": "new"}, {"type": "text", "text": "ok"})
    thread, tally = only(talk)
    assert texts(thread)[1:] == ["ok"]
    assert (tally.dispositions["lost"], tally.codes) == (
        2,
        {"bad_message": 2, "unknown_content": 2},
    )


def test_bytes_of_images_are_measured_and_dropped():
    data = base64.b64encode(b"picture").decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    broken = {"type": "image", "source": {"type": "base64", "data": "x"}}
    talk = Talk(ONE)
    content = [{"type": "text", "text": "See"}, image, broken, {"type": "document"}, "and"]
    talk.add(type="user", message={"content": content})
    thread, _ = only(talk)
    first, second, third = thread.turns[0].attachments
    assert (first.media_type, first.size, first.content_hash) == (
        "image/png",
        7,
        digest_bytes(b"picture"),
    )
    assert second.size is None
    assert third.media_type is None
    assert texts(thread) == ["See and"]


def queue(talk, operation, content=None):
    line = {"type": "queue-operation", "operation": operation, "sessionId": talk.session}
    talk.lines.append({**line, "timestamp": talk.at(), "content": content})


def test_a_queued_prompt_is_one_message_where_it_was_typed():
    talk = Talk(ONE).play(["ask"])
    queue(talk, "enqueue", "Typed ahead")
    talk.answer("First")
    queue(talk, "dequeue")
    talk.ask("Typed ahead")
    thread, _ = only(talk)
    assert texts(thread)[1:] == ["Typed ahead", "First"]
    assert (thread.turns[1].records, thread.turns[1].key) == (2, talk.lines[-1]["uuid"])
    assert [turn.ahead for turn in thread.turns] == [False, True, False]
    assert not any(turn.alternative for turn in thread.turns)


def test_a_queued_prompt_that_came_as_an_attachment_is_the_same_one():
    talk = Talk(ONE).play(["ask"])
    queue(talk, "enqueue", "Typed ahead")
    queue(talk, "remove")
    prompt = [{"type": "text", "text": "Typed ahead"}]
    talk.add(type="attachment", attachment={"type": "queued_command", "prompt": prompt})
    talk.add(type="attachment", attachment={"type": "queued_command", "prompt": "Alone"})
    assert texts(only(talk)[0])[1:] == ["Typed ahead", "Alone"]


@pytest.mark.parametrize("operation", ["remove", "popAll"])
def test_a_prompt_that_was_taken_back_is_no_turn(operation):
    talk = Talk(ONE).play(["ask"])
    queue(talk, "enqueue", "Never mind")
    queue(talk, operation, "Never mind")
    talk.play(["answer", "ask"])
    thread, _ = only(talk)
    assert "Never mind" not in texts(thread)
    assert not any(turn.alternative for turn in thread.turns)


def test_prompts_that_ran_together_stay_the_ones_that_were_typed():
    talk = Talk(ONE).play(["ask"])
    for words in ("one", "two"):
        queue(talk, "enqueue", words)
    talk.ask("one\ntwo")
    queue(talk, "enqueue", "three")
    queue(talk, "enqueue", "four")
    talk.add(
        type="user", message={"content": [{"type": "text", "text": w} for w in ("three", "four")]}
    )
    assert texts(only(talk)[0])[1:] == ["one", "two", "three", "four"]


def test_a_queued_command_is_a_command():
    talk = Talk(ONE).play(["ask"])
    queue(talk, "enqueue", "/model")
    thread, tally = only(talk)
    assert (len(thread.turns), tally.dispositions) == (1, {"command": 1})


def test_the_branch_of_the_last_record_is_the_path():
    talk = Talk(ONE)
    talk.ask("Q1")
    talk.answer("A1")
    fork = talk.parent
    talk.ask("Left behind")
    talk.answer("Also")
    talk.parent = fork
    talk.ask("Taken")
    taken = talk.parent
    talk.parent = fork
    talk.ask("[Request interrupted by user]")
    talk.parent = taken
    talk.answer("Last")
    thread, _ = only(talk)
    path = [" ".join(turn.blocks) for turn in thread.turns if not turn.alternative]
    assert path == ["Q1", "A1", "Taken", "Last"]


def test_many_roots_are_normal():
    talk = Talk(ONE).play(["ask", "answer"])
    talk.parent = None
    talk.play(["ask", "answer"])
    thread, tally = only(talk)
    assert not any(turn.alternative for turn in thread.turns)
    assert tally.codes == {}


def test_chains_lead_through_progress_lines():
    talk = Talk(ONE).play(["progress", "ask", "progress", "answer", "progress", "ask"])
    _, tally = only(talk)
    assert tally.codes == {}
    for line in talk.lines:
        line["uuid"] = line.pop("uuid")  # to the end of the line, behind what is not read
    assert only(talk)[1].codes == {}


def test_a_repeated_record_is_kept_once_and_a_reused_uuid_twice():
    talk = Talk(ONE).play(["ask", "answer"])
    talk.lines.append(dict(talk.lines[0]))
    talk.lines.append({**talk.lines[0], "message": {"content": "Other words"}})
    thread, tally = only(talk)
    assert len(thread.turns) == 3
    assert tally.codes == {"duplicate_record": 1, "duplicate_uuid": 1}
    assert tally.dispositions == {"duplicate": 1}


def test_sessions_in_one_file_are_told_apart_unless_one_goes_on():
    one, two = Talk(ONE).play(["ask", "answer"]), Talk(TWO, "b").play(["ask"])
    found, _ = threads([*one.encoded(), *two.encoded()])
    assert [thread.native_id for thread in found] == [ONE, TWO]
    two.lines[0]["parentUuid"] = one.parent
    thread, _ = only([*one.encoded(), *two.encoded()], "/p/no uuid.jsonl")
    assert (thread.native_id, thread.native_ids) == (TWO, (ONE, TWO))
    assert only([*one.encoded(), *two.encoded()])[0].native_id == ONE


def agent_talk(**facts):
    talk = Talk(ONE).play(["ask", "answer"])
    for line in talk.lines:
        line.update({"isSidechain": True, **facts})
    return talk


def test_an_agent_is_a_thread_of_its_own_whose_prompts_are_side_turns():
    path = f"/p/-w-graph/{ONE}/subagents/agent-ag1.jsonl"
    thread, _ = only(agent_talk(agentId="ag1"), path)
    assert thread.native_id == f"{ONE}:agent-ag1"
    assert [(one.kind, one.native_id) for one in thread.pointers] == [
        (LineageKind.SUBAGENT_OF, ONE)
    ]
    assert [turn.role for turn in thread.turns] == [Role.OTHER, Role.ASSISTANT]
    assert thread.project == "/w/graph"


def test_an_old_sidechain_in_the_main_file_is_keyed_by_its_root():
    main = Talk(ONE).play(["ask", "answer"])
    side = agent_talk()
    for line in side.lines:
        line["uuid"], line["parentUuid"] = (
            "s" + line["uuid"],
            line["parentUuid"] and "s" + line["parentUuid"],
        )
    found, tally = threads([*main.encoded()[:1], *side.encoded(), *main.encoded()[1:]])
    assert [one.native_id for one in found] == [ONE, f"{ONE}:agent-s{main.lines[0]['uuid']}"]
    assert tally.codes == {}


def test_the_message_that_spawned_an_agent_is_known():
    talk = Talk(ONE).play(["ask", "call"])
    talk.lines[-1]["toolUseResult"] = {"agentId": "ag1"}
    assert only(talk)[0].turns[0].spawned == (f"{ONE}:agent-ag1",)


def test_forks_and_background_copies_are_marked():
    talk = Talk(ONE).play(["ask"])
    talk.lines[0].update(forkedFrom={"sessionId": TWO, "messageUuid": "u"}, sessionKind="bg")
    thread, _ = only(talk)
    assert [(one.kind, one.native_id) for one in thread.pointers] == [
        (LineageKind.FORKED_FROM, TWO)
    ]
    assert (thread.background, thread.turns[0].copied) == (True, True)


def test_titles_and_summaries_are_taken_from_their_records():
    talk = Talk(ONE).play(["ask"])
    talk.lines.insert(0, {"type": "summary", "summary": "S", "leafUuid": "leaf"})
    talk.lines.append({"type": "ai-title", "aiTitle": "A", "sessionId": ONE})
    talk.lines.append({"type": "custom-title", "customTitle": "C", "sessionId": ONE})
    talk.lines.append({"type": "custom-title", "customTitle": "X", "sessionId": TWO})
    talk.lines.append({"type": "summary"})
    thread, tally = only(talk)
    assert [(one.kind, one.text) for one in thread.titles] == [("user", "C"), ("ai", "A")]
    assert [(one.leaf, one.text) for one in thread.summaries] == [("leaf", "S")]
    assert tally.dispositions == {"meta": 5}


@pytest.mark.parametrize(
    ("folders", "path", "project"),
    [
        (["/w/my/app", "/w/my-app/.worktrees/x"], "/p/-w-my-app/s.jsonl", ("/w/my/app", True)),
        (["/x", "/w/my-app"], "/p/-w-my-app/s.jsonl", ("/w/my-app", True)),
        (["/w/r/.worktrees/x/sub"], "/p/other/s.jsonl", ("/w/r/sub", True)),
        ([], "/p/-w-my-app/s.jsonl", ("-w-my-app", False)),
        ([], "/p/downloads/s.jsonl", (None, True)),
    ],
)  # fmt: skip
def test_the_project_is_the_folder_that_the_files_folder_encodes(folders, path, project):
    talk = Talk("s").play(["ask", "ask"])
    for line in talk.lines:
        line["cwd"] = folders[min(talk.lines.index(line), len(folders) - 1)] if folders else ""
    thread, _ = only(talk, path)
    assert (thread.project, thread.project_sure) == project


def test_a_file_of_titles_alone_is_an_empty_thread():
    thread, _ = only([b'{"type": "summary", "summary": "S", "leafUuid": "x"}\n'])
    assert (thread.turns, len(thread.summaries)) == ([], 1)


def test_records_without_a_session_belong_to_the_one_before():
    talk = Talk(ONE).play(["ask"])
    line = {"type": "user", "uuid": "z", "parentUuid": talk.parent, "message": {"content": "More"}}
    side = {**line, "uuid": "y", "isSidechain": True, "parentUuid": None}
    thread, _ = only([*talk.encoded(), json.dumps(line).encode() + b"\n"])
    assert len(thread.turns) == 2
    found, _ = threads([*talk.encoded(), json.dumps(side).encode() + b"\n"])
    assert [one.native_id for one in found] == [ONE, f"{ONE}:agent-y"]


def test_bad_times_are_told():
    talk = Talk(ONE).play(["ask"])
    talk.lines[0]["timestamp"] = "yesterday"
    thread, tally = only(talk)
    assert (thread.turns[0].at, tally.codes) == (None, {"bad_timestamp": 1})


def test_the_name_of_an_agents_file_tells_what_its_records_do_not():
    talk = Talk(ONE).play(["ask", "answer"])
    for line in talk.lines:
        del line["sessionId"]
    thread, _ = only(talk, f"/p/-w-graph/{ONE}/subagents/agent-ag7.jsonl")
    assert thread.native_id == f"{ONE}:agent-ag7"
    assert thread.turns[0].role is Role.OTHER


def test_a_compaction_whose_time_names_no_zone_has_none():
    talk = Talk(ONE).play(["ask", "answer"])
    bare = {"type": "system", "subtype": "compact_boundary", "sessionId": ONE, "uuid": "b"}
    line = json.dumps({**bare, "timestamp": "2026-01-01T00:00:00"}).encode() + b"\n"
    thread, _ = only([*talk.encoded(), line])
    assert [(event.kind, event.at) for event in thread.events] == [("compaction", None)]
