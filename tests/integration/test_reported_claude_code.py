"""Shapes of Claude Code transcripts that readers of other tools were reported to fail on.

Each test names the public report whose shape it has; the words are made up.
"""

import json

import pytest

from tests.claude_talk import Talk
from tests.reported import Taken, jsonl, said

S1 = "5e551010-0000-4000-8000-000000000001"
S2 = "5e551010-0000-4000-8000-000000000002"


@pytest.fixture
def talk():
    return Talk(S1)


def read(talk, folder, **options):
    return Taken(talk.write(folder), **options)


def text(words):
    return {"type": "text", "text": words}


# --- new kinds of records and fields


def test_records_of_newer_kinds_are_bookkeeping(talk, tmp_path):
    """Bhavya6187/tandem#4, lanegrid/agtrace#57, basicmachines-co/basic-memory#1527: no uuid."""
    talk.ask("Which graph has no cycles?")
    for record in (
        {"type": "permission-mode", "permissionMode": "plan"},
        {"type": "agent-name", "agentName": "Rosa"},
        {"type": "file-history-delta", "messageId": "x1"},
        {"type": "worktree-state", "worktree": None},
        {"type": "relocated", "from": "/w/a", "to": "/w/b"},
        {"type": "mode", "mode": "normal"},
        {"type": "last-prompt", "lastPrompt": "Which graph has no cycles?"},
        {"type": "pr-link", "prNumber": 4},
        {"type": "continued-in", "continuedIn": S2},
    ):
        talk.lines.append({**record, "sessionId": S1})
    talk.answer("A forest.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Which graph has no cycles?", "a A forest."]
    assert (taken.codes, taken.exit) == ({}, 0)
    assert taken.counts == {"turn": 2, "meta": 9}


def test_a_kind_that_nobody_knows_costs_one_record_and_is_told(talk, tmp_path):
    """datadog-labs/trajectory#78: one unknown kind ended the import of the whole file."""
    talk.ask("Is a tree bipartite?")
    talk.lines.append({"type": "atis-latch", "atis": "", "sessionId": S1})
    talk.answer("Always.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Is a tree bipartite?", "a Always."]
    assert (taken.codes, taken.exit) == ({"unknown_record": 1}, 0)


def test_notices_of_the_system_are_no_turns(talk, tmp_path):
    """lanegrid/agtrace#57, meawoppl/rust-code-agent-sdks#97: newer kinds of system records."""
    talk.ask("Start")
    for kind in ("away_summary", "api_error", "informational", "turn_duration"):
        talk.add(type="system", subtype=kind, content="While you were away the tests ran.")
    talk.add(type="system", subtype="microcompact_boundary", content="Context microcompacted")
    talk.answer("Done.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Start", "a Done."]
    assert (taken.codes, taken.counts) == ({}, {"turn": 2, "meta": 5})


def test_workflow_records_are_bookkeeping_and_the_call_is_counted(talk, tmp_path):
    """delexw/claude-code-trace#115: a new tool and fields of workflows."""
    talk.ask("Check every module")
    call = {"type": "tool_use", "id": "t1", "name": "Workflow", "input": {"name": "verify"}}
    talk.say("m1", call)
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "started"}
    talk.add(
        type="user",
        message={"role": "user", "content": [result]},
        toolUseResult={"workflowId": "w1", "runUrl": None},
    )
    talk.answer("All seven hold.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Check every module", "a All seven hold."]
    assert taken.calls == {"Workflow": 1}
    assert taken.codes == {}


def test_the_first_lines_say_nothing_about_the_format(talk, tmp_path):
    """Digital-Process-Tools/claude-remember#543: files that open with bookkeeping."""
    talk.lines.append({"type": "queue-operation", "operation": "dequeue", "sessionId": S1})
    for count in range(40):
        talk.lines.append({"type": "file-history-snapshot", "messageId": f"f{count}"})
    talk.ask("What is a clique?")
    talk.answer("All joined to all.")
    taken = Taken(talk.write(tmp_path, "export.txt"))
    assert taken.ids == [f"claude-code:{S1}"]
    assert taken.said == ["h What is a clique?", "a All joined to all."]


# --- messages that are written in another way


def test_a_message_without_a_role_goes_by_the_kind_of_its_record(talk, tmp_path):
    """siteboon/claudecodeui#739: the desktop program leaves the role out of the message."""
    talk.add(type="user", message={"content": "Name a planar graph."})
    talk.add(type="assistant", message={"id": "m1", "content": [text("K4 is one.")]})
    assert read(talk, tmp_path).said == ["h Name a planar graph.", "a K4 is one."]


def test_a_record_without_a_kind_goes_by_the_role_of_its_message(talk, tmp_path):
    """Signet-AI/signetai#280: assistant records whose only mark is the role inside."""
    talk.ask("What is a walk?")
    talk.add(message={"role": "assistant", "content": [text("Edges one after the other.")]})
    taken = read(talk, tmp_path)
    assert taken.said == ["h What is a walk?", "a Edges one after the other."]
    assert taken.codes == {}


def test_thoughts_that_are_only_a_signature_are_thoughts(talk, tmp_path):
    """lanegrid/agtrace#57: the text of thinking is empty, its signature is not."""
    talk.ask("Think.")
    talk.say("m1", {"type": "thinking", "thinking": "", "signature": "c2lnbmVk"})
    talk.say("m2", {"type": "redacted_thinking", "data": "c2VjcmV0"})
    talk.say("m3", text("Thought."), stop="end_turn")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Think.", "a Thought."]
    assert taken.counts == {"turn": 2, "thinking": 2}


def test_files_and_images_of_a_message_are_attachments(talk, tmp_path):
    """delexw/claude-code-trace#37: messages that hold images and documents since 2.1.97."""
    image = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
    paper = {"type": "base64", "media_type": "application/pdf", "data": "cGRm"}
    content = [
        text("Read both."),
        {"type": "image", "source": image},
        {"type": "document", "title": "trees.pdf", "source": paper},
    ]
    talk.add(type="user", message={"role": "user", "content": content})
    talk.add(type="user", message={"role": "user", "content": content[1:2]})
    talk.answer("Read.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Read both.", "a Read."]
    found = [(one.name, one.media_type, one.size) for one in taken.thread.turns[0].attachments]
    assert found == [(None, "image/png", 5), ("trees.pdf", "application/pdf", 3)]
    assert taken.counts == {"turn": 2, "empty": 1}


def test_a_field_of_another_shape_costs_its_own_record_only(talk, tmp_path):
    """wakatime/wakatime-cli#1519: one unexpected field threw away the whole transcript."""
    talk.ask("First")
    talk.add(type="user", message="no object")
    talk.add(type="assistant", message={"id": 7, "model": ["x"], "content": [text("Still here.")]})
    talk.add(type="user", message={"role": "user", "content": {"text": "an object"}})
    talk.add(
        type="user",
        toolUseResult="Error: none",
        message={"role": "user", "content": [{"type": "tool_result", "content": 5}]},
    )
    talk.lines[-1]["timestamp"] = {"at": 1}
    talk.answer("Last")
    taken = read(talk, tmp_path)
    assert taken.said == ["h First", "a Still here.", "a Last"]
    assert (taken.codes, taken.exit) == ({"bad_message": 2}, 0)
    assert taken.counts == {"turn": 3, "lost": 2, "tool": 1}


# --- one message written several times


def test_a_message_written_again_while_it_streams_is_told_once(talk, tmp_path):
    """ccusage/ccusage#976, ccusage/ccusage#985: gateways write every state of a message."""
    talk.ask("Tell me of cuts.")
    for words in (
        "A cut",
        "A cut splits",
        "A cut splits the vertices.",
        "A cut splits the vertices.",
    ):
        talk.add(
            type="assistant", message={"id": "m1", "role": "assistant", "content": [text(words)]}
        )
    taken = read(talk, tmp_path)
    assert taken.said == ["h Tell me of cuts.", "a A cut splits the vertices."]
    assert taken.counts == {"turn": 5}


def test_a_call_written_again_while_it_streams_is_one_call(talk, tmp_path):
    """ccusage/ccusage#797, jhlee0409/claude-code-history-viewer#283: rows of one message id."""
    talk.ask("Look it up.")
    call = {"type": "tool_use", "id": "t1", "name": "Grep", "input": {"pattern": "cut"}}
    talk.say("m1", {"type": "thinking", "thinking": "where"})
    talk.say("m1", call)
    talk.say("m1", call)
    talk.add(
        type="user",
        message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1"}]},
    )
    talk.answer("Found.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Look it up.", "a Found."]
    assert taken.calls == {"Grep": 1}


def test_parallel_calls_are_no_branches(talk, tmp_path):
    """anthropics/claude-code#37779: a walk along parents drops sisters of parallel calls."""
    talk.ask("Write two files.")
    first = talk.parent
    for name in ("a", "b"):
        tool = {
            "type": "tool_use",
            "id": name,
            "name": "Write",
            "input": {"file_path": f"/w/graph/{name}"},
        }
        talk.parent = first
        talk.say("m1", tool)
        result = {"type": "tool_result", "tool_use_id": name, "content": "ok"}
        talk.add(type="user", message={"role": "user", "content": [result]})
    talk.answer("Both are there.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Write two files.", "a Both are there."]
    assert (taken.off, taken.calls) == ([], {"Write": 2})
    assert taken.thread.turns[1].tools.touched == ("a", "b")


def test_text_beside_a_question_to_the_user_stays_with_its_message(talk, tmp_path):
    """anthropics/claude-code#74806: long words in the message that also asks the user back."""
    talk.ask("Plan it.")
    words = "First the data, then the page, last the tests. " * 8
    question = {
        "type": "tool_use",
        "id": "q",
        "name": "AskUserQuestion",
        "input": {"questions": []},
    }
    talk.say("m1", text(words))
    talk.say("m1", question)
    talk.add(
        type="user",
        message={
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "q",
                    "content": "Your questions have been answered",
                }
            ],
        },
    )
    talk.answer("Then the data first.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Plan it.", f"a {words.strip()}", "a Then the data first."]
    assert [turn.interim for turn in taken.thread.turns] == [False, True, False]


# --- whose words they are


@pytest.mark.parametrize(
    "words",
    [
        '<teammate-message teammate_id="lead" summary="go">Check it.</teammate-message>',
        '<teammate-message from="a">1</teammate-message>\n<teammate-message>2</teammate-message>',
        "<task-notification>\n<task-id>b1</task-id>\n</task-notification>",
        '<scheduled-task name="inbox">This is an automated run.</scheduled-task>',
        "UserPromptSubmit says: three notes were recalled",
        "⎿ SessionStart:startup says: ready",
        "Stop hook feedback:\n[lint]: failed",
    ],
)
def test_what_a_harness_writes_as_the_user_is_nobodys_words(talk, tmp_path, words):
    """daaain/claude-code-log#91 and #309, anthropics/claude-code#20920 and #89714,
    vshulcz/deja-vu#3168: notices of mates, tasks and hooks under the user's role."""
    talk.ask(words)
    talk.ask("What is girth?")
    talk.answer("The shortest cycle.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h What is girth?", "a The shortest cycle."]
    assert taken.thread.title == "What is girth?"
    assert taken.counts == {"turn": 2, "injected": 1}


def test_words_that_only_speak_of_a_hook_stay(talk, tmp_path):
    """vshulcz/deja-vu#3168: the control, a person's sentence with the same words in it."""
    talk.ask("My log: UserPromptSubmit says: nothing. Why?")
    talk.answer("It has nothing to say.")
    assert read(talk, tmp_path).said[0] == "h My log: UserPromptSubmit says: nothing. Why?"


def test_a_companion_record_of_a_turn_is_no_second_prompt(talk, tmp_path):
    """Untrivial-ai/agent-orchestrator#5688: records stamped as meta beside the prompt."""
    talk.ask("Draw K5.")
    talk.add(
        type="user",
        isMeta=True,
        turnCompanion=True,
        message={"role": "user", "content": "Context of the editor"},
    )
    talk.answer("Drawn.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Draw K5.", "a Drawn."]
    assert taken.counts == {"turn": 2, "injected": 1}


def test_a_summary_of_a_compaction_names_nothing(talk, tmp_path):
    """anthropics/claude-code#6641, anthropics/claude-code#26212: all titles were the summary."""
    talk.add(type="system", subtype="compact_boundary", content="Conversation compacted")
    summary = "This session is being continued from a previous conversation that ran out.\nSummary:"
    talk.add(
        type="user",
        isCompactSummary=True,
        isVisibleInTranscriptOnly=True,
        message={"role": "user", "content": summary},
    )
    talk.ask("Go on with the matching.")
    talk.answer("It is maximal.")
    taken = read(talk, tmp_path)
    assert taken.thread.title == "Go on with the matching."
    assert taken.said == ["h Go on with the matching.", "a It is maximal."]
    assert [event.kind for event in taken.thread.events] == ["compaction"]


# --- prompts typed ahead


def test_prompts_that_were_only_queued_are_told_once_each(talk, tmp_path):
    """simonw/claude-code-transcripts#98: prompts that stand only in queue operations."""
    talk.ask("Build the page.")
    talk.call()
    queued = {"type": "queue-operation", "operation": "enqueue", "sessionId": S1}
    for words in ("Use the smaller font.", "And a dark theme."):
        talk.lines.append({**queued, "timestamp": talk.at(), "content": words})
    talk.add(
        type="attachment",
        attachment={"type": "queued_command", "prompt": "Use the smaller font."},
    )
    talk.answer("Built.")
    taken = read(talk, tmp_path)
    assert taken.said == [
        "h Build the page.",
        "h Use the smaller font.",
        "h And a dark theme.",
        "a Built.",
    ]


def test_a_command_typed_ahead_is_a_command(talk, tmp_path):
    """anthropics/claude-code#18399: a slash command that was queued reaches the file as text."""
    talk.ask("Wait for it.")
    fields = {"type": "queue-operation", "sessionId": S1, "timestamp": talk.at()}
    talk.lines.append({**fields, "operation": "enqueue", "content": "/commit"})
    talk.answer("Waiting.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Wait for it.", "a Waiting."]
    assert taken.counts == {"turn": 2, "command": 1}


# --- agents


def agent_lines(name, *, session=S1, copied=()):
    agent = Talk(session, f"-{name}")
    agent.lines = [
        {
            **line,
            "isSidechain": True,
            "agentId": name,
            "forkedFrom": {"sessionId": session, "messageUuid": line["uuid"]},
        }
        for line in copied
    ]
    before = len(agent.lines)
    agent.ask("Count the cycles.")
    agent.answer("There are three.")
    agent.lines[before:] = [
        {**line, "isSidechain": True, "agentId": name} for line in agent.lines[before:]
    ]
    return agent.lines


def test_agents_of_a_workflow_lie_two_folders_down(talk, tmp_path):
    """kenn-io/agentsview#602, hoangsonww/Claude-Code-Agent-Monitor#176: nested agent files."""
    talk.ask("Verify.")
    talk.answer("Verified.")
    talk.write(tmp_path / "-w-graph")
    nested = f"-w-graph/{S1}/subagents/workflows/run1"
    jsonl(tmp_path, f"{nested}/agent-a7.jsonl", *agent_lines("a7"))
    jsonl(tmp_path, f"{nested}/journal.jsonl", {"type": "started", "agent": "a7"})
    taken = Taken(tmp_path)
    assert taken.ids == [f"claude-code:{S1}", f"claude-code:{S1}:agent-a7"]
    (link,) = taken.threads[1].lineage
    assert (link.kind.value, link.parent) == ("subagent_of", f"claude-code:{S1}")
    assert said(taken.threads[1]) == ["a There are three."]
    assert taken.side == ["o Count the cycles."]
    assert taken.threads[1].project == "/w/graph"
    assert (taken.report.side_files, taken.codes) == (1, {})


def test_an_agent_written_twice_is_one_thread(talk, tmp_path):
    """steipete/CodexBar#646: an agent's records in its own file and in the session's too."""
    lines = agent_lines("b1")
    talk.ask("Count.")
    talk.lines += lines
    talk.answer("Three.")
    talk.write(tmp_path)
    jsonl(tmp_path, f"{S1}/subagents/agent-b1.jsonl", *lines)
    taken = Taken(tmp_path)
    assert taken.ids == [f"claude-code:{S1}", f"claude-code:{S1}:agent-b1"]
    assert [said(one) for one in taken.threads] == [
        ["h Count.", "a Three."],
        ["a There are three."],
    ]
    assert taken.codes == {"duplicate_carrier": 1}


def test_a_session_of_which_only_agents_are_left_is_read(tmp_path):
    """anthropics/claude-code#60594: a folder of agents without the session's own file."""
    jsonl(
        tmp_path,
        f"-w-graph/{S2}/subagents/agent-acompact-c1.jsonl",
        *agent_lines("acompact-c1", session=S2),
    )
    taken = Taken(tmp_path)
    assert taken.ids == [f"claude-code:{S2}:agent-acompact-c1"]
    assert (taken.codes, taken.exit) == ({"parent_missing": 1}, 0)


def test_what_a_forked_agent_inherits_is_not_stored_again(talk, tmp_path):
    """delexw/claude-code-trace#255: agents that begin with a copy of the whole conversation."""
    talk.ask("Prove it.")
    talk.answer("By induction.")
    inherited = list(talk.lines)
    talk.ask("Now fork.")
    talk.answer("Forked.")
    talk.write(tmp_path)
    lines = agent_lines("f1", copied=inherited)
    jsonl(tmp_path, f"{S1}/subagents/agent-f1.jsonl", *lines)
    taken = Taken(tmp_path)
    session, agent = taken.threads
    assert said(session) == ["h Prove it.", "a By induction.", "h Now fork.", "a Forked."]
    assert said(agent)[-1] == "a There are three."
    assert agent.title != "Prove it."


def test_the_agent_tool_goes_by_either_name(talk, tmp_path):
    """matt1398/claude-devtools#237, kenn-io/agentsview#76: the tool was renamed."""
    talk.ask("Send two.")
    for name in ("Task", "Agent"):
        talk.say(f"m{name}", {"type": "tool_use", "id": name, "name": name, "input": {}})
        talk.add(
            type="user",
            toolUseResult={"agentId": f"x{name}", "status": "completed"},
            message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": name}]},
        )
    talk.answer("Sent.")
    talk.write(tmp_path)
    for name in ("xTask", "xAgent"):
        jsonl(tmp_path, f"{S1}/subagents/agent-{name}.jsonl", *agent_lines(name))
    taken = Taken(tmp_path)
    splits = [link.split_turn for one in taken.threads for link in one.lineage]
    assert (splits, taken.calls) == ([1, 1], {"Task": 1, "Agent": 1})


# --- damaged files


def test_zeros_of_a_crash_cost_nothing_but_themselves(talk, tmp_path):
    """anthropics/claude-code#49876, anthropics/claude-code#76059: runs of NUL in the middle,
    behind a record, and at the end."""
    talk.ask("One")
    talk.answer("Two")
    talk.ask("Three")
    talk.answer("Four")
    one, two, three, four = talk.encoded()
    zeros = b"\0" * 300
    file = tmp_path / f"{S1}.jsonl"
    file.write_bytes(
        one + zeros + b"\n" + two.rstrip() + zeros + b"\n" + three + zeros + four + zeros
    )
    taken = Taken(file)
    assert taken.said == ["h One", "a Two", "h Three", "a Four"]
    assert (set(taken.codes), taken.exit) == ({"nul_bytes"}, 0)


def test_records_glued_on_one_line_are_all_read(talk, tmp_path):
    """anthropics/claude-code#81843, QwenLM/qwen-code#3656: a line end that was never written."""
    talk.ask('A brace } { and a quote " in it')
    talk.answer("Kept.")
    talk.ask("And on?")
    talk.answer("On.")
    one, two, three, four = talk.encoded()
    file = tmp_path / f"{S1}.jsonl"
    file.write_bytes(one.rstrip() + two.rstrip() + b"  " + three + four)
    taken = Taken(file)
    assert taken.said == ['h A brace } { and a quote " in it', "a Kept.", "h And on?", "a On."]
    assert taken.codes == {"glued_records": 1}


def test_a_record_cut_off_by_the_next_one_is_lost_alone(talk, tmp_path):
    """anthropics/claude-code#81843, anthropics/claude-code#50347: a torn record in the middle."""
    talk.ask("Before")
    talk.answer("Torn away")
    talk.ask("After")
    talk.answer("Whole")
    one, two, three, four = talk.encoded()
    file = tmp_path / f"{S1}.jsonl"
    file.write_bytes(one + two[:60] + b"\n" + three + four)
    taken = Taken(file)
    assert taken.said == ["h Before", "h After", "a Whole"]
    assert (taken.codes["bad_json"], taken.exit) == (1, 0)


def test_separators_of_lines_inside_words_are_words(talk, tmp_path):
    """siteboon/claudecodeui#1002, volcengine/OpenViking#3984: U+2028 and its like, unescaped."""
    words = "one\u2028two\u2029three\u0085four"
    talk.ask(words)
    talk.answer("Four lines.")
    raw = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in talk.lines)
    file = tmp_path / f"{S1}.jsonl"
    file.write_bytes(raw.encode())
    taken = Taken(file)
    assert (taken.said[0], taken.codes) == (f"h {words}", {})


def test_a_line_that_is_no_object_is_lost_alone(talk, tmp_path):
    """dwarvesf/dwarves-kit#571: valid JSON that is no object."""
    talk.ask("Left")
    talk.answer("Right")
    one, two = talk.encoded()
    file = tmp_path / f"{S1}.jsonl"
    file.write_bytes(one + b'["x"]\n3\nnull\n' + two)
    taken = Taken(file)
    assert taken.said == ["h Left", "a Right"]
    assert (taken.codes, taken.counts) == ({"not_an_object": 3}, {"turn": 2, "lost": 3})


def test_a_session_that_never_answered_is_read(talk, tmp_path):
    """anthropics/claude-code#53821: a file that a power loss ended inside its first answer."""
    talk.ask("Are you there?")
    talk.answer("Yes, and")
    one, two = talk.encoded()
    file = tmp_path / f"{S1}.jsonl"
    file.write_bytes(one + two[:90])
    taken = Taken(file)
    assert taken.said == ["h Are you there?"]
    assert (taken.codes, taken.exit) == ({"pending_tail": 1}, 0)
