"""Shapes of Codex sessions that readers of other tools were reported to fail on.

Each test names the public report whose shape it has; the words are made up.
"""

import pytest

from tests.codex_talk import Talk
from tests.reported import Taken, jsonl, said

S1 = "019c0de0-0000-7000-8000-000000000001"
S2 = "019c0de0-0000-7000-8000-000000000002"


@pytest.fixture
def talk():
    return Talk(S1)


def read(talk, folder):
    return Taken(talk.write(folder))


def completed(talk, item_type, **item):
    talk.add(
        "event_msg",
        type="item_completed",
        turn_id=f"a-t{talk.turns}",
        item={"type": item_type, **item},
    )


def words(text, kind="text"):
    return [{"type": kind, "text": text}]


# --- where the messages stand


def test_messages_that_are_only_completed_items_are_read(talk, tmp_path):
    """Daily-Nerd/daimon#623, graykode/abtop#170: since 0.147 the old events are gone."""
    talk.begin()
    completed(talk, "UserMessage", id="u1", content=words("What is a lattice?"))
    completed(talk, "Reasoning", id="r1", summary_text=["hm"])
    completed(talk, "AgentMessage", id="a1", phase="commentary", content=words("Looking.", "Text"))
    completed(talk, "CommandExecution", id="c1", command="ls")
    completed(talk, "FileChange", id="f1", changes=[])
    completed(talk, "Extension", id="e1", kind="web")
    completed(
        talk, "AgentMessage", id="a2", phase="final_answer", content=words("An order.", "Text")
    )
    taken = read(talk, tmp_path)
    assert taken.said == ["h What is a lattice?", "a An order."]
    assert (taken.codes, taken.exit) == ({}, 0)
    assert taken.counts == {"turn": 2, "thinking": 1, "interim": 1, "tool": 3, "meta": 2}


def test_a_completed_item_and_its_mirror_are_one_message(talk, tmp_path):
    """apache/maka#3520: completed items beside response items with the same words."""
    talk.begin()
    completed(talk, "UserMessage", id="u1", content=words("Is it dense?"))
    talk.item("user", "Is it dense?")
    completed(talk, "AgentMessage", id="a1", content=words("No.", "Text"))
    talk.item("assistant", "No.")
    talk.begin()
    completed(talk, "UserMessage", id="u2", content=words("Is it dense?"))
    completed(talk, "AgentMessage", id="a2", content=words("Still no.", "Text"))
    taken = read(talk, tmp_path)
    assert taken.said == ["h Is it dense?", "a No.", "h Is it dense?", "a Still no."]
    assert taken.counts["duplicate"] == 2


def test_messages_that_are_only_response_items_are_read(talk, tmp_path):
    """neilberkman/ccrider#7: readers of events alone lost the assistant and half of the user."""
    talk.begin()
    talk.item("developer", "You are a careful engineer.")
    talk.item("user", "Name a sorted list.")
    talk.add("response_item", type="function_call", name="shell", arguments="{}", call_id="c")
    talk.add("response_item", type="function_call_output", call_id="c", output="ok")
    talk.item("assistant", "1, 2, 3.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Name a sorted list.", "a 1, 2, 3."]
    assert (taken.calls, taken.codes) == ({"shell": 1}, {})


# --- final and on the way


def test_without_a_phase_the_last_message_of_a_turn_is_the_answer(talk, tmp_path):
    """duolahypercho/codex-router#702, paradigmxyz/centaur#136: other models send no phase."""
    talk.begin()
    talk.item("user", "Count the files.")
    talk.item("assistant", "I will list them.")
    talk.add("response_item", type="function_call", name="shell", arguments="{}")
    talk.item("assistant", "There are nine.")
    talk.begin()
    talk.item("user", "Thanks.")
    talk.item("assistant", "Welcome.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Count the files.", "a There are nine.", "h Thanks.", "a Welcome."]
    assert taken.counts["interim"] == 1


def test_a_phase_says_what_is_only_commentary(talk, tmp_path):
    """agentclientprotocol/codex-acp#169: commentary without any call was shown as the answer."""
    talk.begin()
    talk.item("user", "Rename it.")
    for phase, text in (("commentary", "Renaming now."), ("final_answer", "Renamed.")):
        content = words(text, "output_text")
        talk.add("response_item", type="message", role="assistant", phase=phase, content=content)
    taken = read(talk, tmp_path)
    assert taken.said == ["h Rename it.", "a Renamed."]


# --- whose words they are


def test_rules_of_the_project_name_nothing(talk, tmp_path):
    """xintaofei/codeg#789: the title was the head of AGENTS.md."""
    talk.begin()
    rules = "# AGENTS.md instructions\n\n<INSTRUCTIONS>\n## Python\n\n- Use it.\n</INSTRUCTIONS>"
    talk.item("user", rules)
    talk.item("user", "<environment_context>\n  <cwd>/w/a</cwd>\n</environment_context>")
    talk.item("user", "Check this project.")
    talk.item("assistant", "It is sound.")
    taken = read(talk, tmp_path)
    assert taken.thread.title == "Check this project."
    assert taken.said == ["h Check this project.", "a It is sound."]


def test_what_an_editor_puts_around_a_request_is_no_words(talk, tmp_path):
    """NazzarenoGiannelli/tuiboard#20: the request stands behind a heading."""
    talk.begin()
    text = (
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n"
        "## My request for Codex:\nExplain a.py\n\n## And b.py"
    )
    talk.item("user", text)
    talk.event("user", text)
    talk.item("assistant", "It adds.")
    taken = read(talk, tmp_path)
    assert taken.said == ["h Explain a.py\n\n## And b.py", "a It adds."]
    assert taken.counts["duplicate"] == 1


def test_talk_among_agents_and_other_new_records_are_no_turns(talk, tmp_path):
    """TheGaySupreme123/yoetz#418, openai/codex#33196: kinds of lines of 2026."""
    talk.do_ask()
    for kind in (
        "security_risk_score",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "realtime_item",
        "world_state",
    ):
        talk.add(kind, author="/root/a", recipient="/root", content="gA==", text="Look here.")
    talk.add(
        "response_item",
        type="agent_message",
        author="/root/a",
        content=[{"encrypted_content": "gA"}],
    )
    talk.do_answer()
    taken = read(talk, tmp_path)
    assert taken.said == ["h a1", "a a2"]
    assert (taken.codes, taken.exit) == ({}, 0)


# --- copies of a history


def test_a_compaction_never_repeats_the_history(talk, tmp_path):
    """openai/codex#31198, openai/codex#21269: replacement histories with every message again."""
    talk.do_ask()
    talk.do_answer()
    history = [
        {"type": "message", "role": "user", "content": words("a1", "input_text")},
        {"type": "message", "role": "assistant", "content": words("a2", "output_text")},
    ]
    for _ in range(3):
        talk.add("compacted", message="Summary of all.", replacement_history=history)
    talk.do_ask()
    talk.do_answer()
    taken = read(talk, tmp_path)
    assert taken.said == ["h a1", "a a2", "h a3", "a a4"]
    assert [event.kind for event in taken.thread.events] == ["compaction"] * 3


def turn_of(talk, moment, *moves):
    """Moves in a turn whose id tells a moment, as the real ids do."""
    talk.add(
        "event_msg", type="task_started", turn_id=f"019c0de0-{moment:04x}-7000-8000-00000000000a"
    )
    talk.turn_ids = False
    talk.play(moves)


@pytest.mark.parametrize("with_head", [True, False])
def test_what_a_spawned_agent_replays_is_told_by_its_parent_alone(tmp_path, with_head):
    """getagentseal/codeburn#1383, kenn-io/agentsview#1381, ccusage/ccusage#950: the parent's
    history at the head of an agent's file, with the parent's head or without."""
    parent = Talk("019c0de0-0001-7000-8000-000000000001")
    turn_of(parent, 2, "ask", "work", "answer")
    source = {"subagent": {"thread_spawn": {"parent_thread_id": parent.native, "depth": 1}}}
    child = Talk("019c0de0-0003-7000-8000-000000000002", words="c", source=source)
    child.records += parent.records if with_head else parent.records[1:]
    turn_of(child, 4, "ask", "answer")
    parent.write(tmp_path)
    child.write(tmp_path)
    taken = Taken(tmp_path)
    told, agent = taken.threads
    assert said(told) == ["h a1", "a a3"]
    assert said(agent) == ["a c2"]
    assert taken.side == ["o c1"]
    (link,) = agent.lineage
    assert (link.kind.value, link.parent) == ("subagent_of", told.thread_id)
    assert taken.counts["duplicate"] > len(parent.records) - 3


def test_a_session_that_was_archived_is_one_thread(talk, tmp_path):
    """openai/codex#45251: the same session below sessions and below archived_sessions."""
    talk.do_ask()
    talk.do_answer()
    talk.write(tmp_path / "archived_sessions")
    talk.do_ask()
    talk.write(tmp_path / "sessions" / "2026" / "04" / "01")
    taken = Taken(tmp_path)
    assert taken.ids == [f"codex:{S1}"]
    assert taken.said == ["h a1", "a a2", "h a3"]
    assert taken.codes == {"duplicate_carrier": 1}


# --- files of another kind


def test_a_compressed_session_is_no_success(talk, tmp_path):
    """vshulcz/deja-vu#3640, PixelPaw-Labs/codex-trace#109: sessions older than a week."""
    packed = b"\x28\xb5\x2f\xfd" + bytes(range(200)) * 3
    file = tmp_path / f"rollout-2026-04-01T09-00-00-{S2}.jsonl.zst"
    file.write_bytes(packed)
    named = Taken(file)
    assert (named.exit, list(named.codes)) == (3, ["unknown_format"])
    talk.do_ask()
    talk.do_answer()
    talk.write(tmp_path)
    among = Taken(tmp_path)
    assert among.said == ["h a1", "a a2"]
    assert [(one.name, one.count) for one in among.report.ignored] == [("unknown_format", 1)]


def test_the_events_of_a_run_are_no_session(tmp_path):
    """affaan-m/ECC#480: lines that the program prints in a pipe, another format of its own."""
    file = jsonl(
        tmp_path,
        "run.jsonl",
        {"type": "thread.started", "thread_id": "t"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}},
    )
    taken = Taken(file)
    assert (taken.exit, list(taken.codes)) == (3, ["unknown_format"])


def test_a_separator_of_lines_in_a_prompt_splits_nothing(talk, tmp_path):
    """getpaseo/paseo#2021: text pasted from notes holds U+2028."""
    talk.begin()
    talk.item("user", "before\u2028after")
    talk.item("assistant", "Both.")
    records = talk.records
    file = jsonl(tmp_path, f"rollout-2026-04-01T09-00-00-{S1}.jsonl", *records)
    assert Taken(file).said == ["h before\u2028after", "a Both."]
