import json

import pytest

from graphstore.model.conversation import Attachment, LineageKind, Role, Taint
from ingest.model import Pointer, RawThread, ReadFailure, Source, Tally, TitleCandidate
from ingest.readers import codex

ID = "aaaaaaaa-0000-4000-8000-000000000001"
AT = "2026-04-01T09:00:00.000Z"


def line(kind, at=AT, **payload):
    return {"timestamp": at, "type": kind, "payload": payload}


def meta(native="s1", **more):
    return line("session_meta", id=native, timestamp=AT, cwd="/w/a", **more)


def said(role, text, **more):
    kind = "input_text" if role == "user" else "output_text"
    content = [{"type": kind, "text": text}]
    return line("response_item", type="message", role=role, content=content, **more)


def event(kind, **more):
    return line("event_msg", type=kind, **more)


def told(role, text, **more):
    return event("user_message" if role == "user" else "agent_message", message=text, **more)


def completed(kind, text, **more):
    content = [{"type": "text", "text": text}]
    return event("item_completed", item={"type": kind, "id": "i", "content": content}, **more)


def turn(turn_id, **more):
    return line("turn_context", turn_id=turn_id, **more)


def call(name="shell", arguments="{}", **more):
    return line("response_item", type="function_call", name=name, arguments=arguments, **more)


def read_bytes(content, name="rollout.jsonl", **source):
    src = Source.of_bytes(content, name)
    for key, value in source.items():
        setattr(src, key, value)
    tally = Tally(name)
    found = list(codex.read(src, tally))
    for one in found:
        if isinstance(one, RawThread):
            tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def read(*lines, **more):
    return read_bytes("".join(json.dumps(one) + "\n" for one in lines).encode(), **more)


def thread(*lines, **more):
    (found,), tally = read(meta(), *lines, **more)
    return found, tally


def words(found):
    return [(turn.role.value, *turn.blocks) for turn in found.turns]


def test_a_session_has_its_head_and_its_turns():
    found, tally = thread(turn("t1", model="m-1"), said("user", "Ask"), said("assistant", "Answer"))
    assert (found.source, found.native_id, found.project) == ("codex", "s1", "/w/a")
    assert (found.agent, found.tree, found.rank, found.sharing) == (True, False, 1, "words")
    assert found.models == ("m-1",)
    assert found.started_at.isoformat() == "2026-04-01T09:00:00+00:00"
    assert words(found) == [("human", "Ask"), ("assistant", "Answer")]
    assert [(one.line, one.key) for one in found.turns] == [(3, "t1:1"), (4, "t1:2")]
    assert tally.codes == {}


def test_the_place_of_a_turn_is_its_line():
    lines = [meta(), said("user", "\u00e9"), said("assistant", "Answer")]
    raw = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines).encode()
    (found,), _ = read_bytes(raw)
    for one, whole in zip(found.turns, lines[1:], strict=True):
        assert json.loads(raw[one.offset :][: one.length]) == whole


# --- which copy


@pytest.mark.parametrize("with_turns", [True, False])
@pytest.mark.parametrize(
    "order",
    [
        lambda one, two: (one, two),
        lambda one, two: (two, one),
        lambda one, two: (two, event("token_count"), line("response_item", type="reasoning"), one),
    ],
)
def test_an_event_is_a_copy_of_the_equal_item(order, with_turns):
    lines = [turn("t1")] if with_turns else []
    for role, text in (("user", "Ask"), ("assistant", "On it")):
        lines.extend(order(said(role, text), told(role, text)))
    lines.append(call())
    found, tally = thread(*lines)
    assert words(found) == [("human", "Ask"), ("assistant", "On it")]
    assert tally.dispositions["duplicate"] == 2
    assert found.turns[1].calls_tool
    items = [n for n, one in enumerate([meta(), *lines], 1) if "role" in one["payload"]]
    assert [one.line for one in found.turns] == items


def test_a_message_told_three_times_is_one():
    found, tally = thread(
        turn("t1"),
        completed("UserMessage", "Ask", turn_id="t1"),
        told("user", "Ask"),
        said("user", "Ask"),
        completed("AgentMessage", "Answer", turn_id="t1"),
        told("assistant", "Answer"),
        said("assistant", "Answer"),
    )
    assert words(found) == [("human", "Ask"), ("assistant", "Answer")]
    assert tally.dispositions["duplicate"] == 4


def test_a_message_that_is_only_an_event_counts():
    found, _ = thread(told("user", "Ask"), completed("agent_message", "Answer", turn_id="t1"))
    assert words(found) == [("human", "Ask"), ("assistant", "Answer")]


@pytest.mark.parametrize("turns", [("t1", "t2"), (None, None)])
def test_the_same_words_in_another_turn_are_another_turn(turns):
    lines = []
    for turn_id, kind in zip(turns, (said, told), strict=True):
        lines += [turn(turn_id), kind("user", "yes"), said("assistant", "ok")]
    found, tally = thread(*lines)
    assert [one[1] for one in words(found)] == ["yes", "ok", "yes", "ok"]
    assert "duplicate" not in tally.dispositions


def test_the_same_item_twice_in_one_turn_is_two_turns():
    found, _ = thread(
        turn("t1"),
        said("user", "yes"),
        told("user", "yes"),
        said("user", "yes"),
        told("user", "yes"),
    )
    assert [one.key for one in found.turns] == ["t1:1", "t1:2"]


def test_the_same_words_before_and_after_a_tool_are_two_turns():
    found, _ = thread(said("user", "Go"), told("assistant", "ok"), call(), said("assistant", "ok"))
    assert [one[1] for one in words(found)] == ["Go", "ok", "ok"]


def test_an_event_repeats_one_block_of_an_item():
    parts = [{"type": "input_text", "text": "<image>"}, {"type": "input_text", "text": "Look"}]
    found, tally = thread(
        line("response_item", type="message", role="user", content=parts), told("user", "Look")
    )
    assert words(found) == [("human", "<image>", "Look")]
    assert tally.dispositions["duplicate"] == 1


def test_a_turn_context_between_two_copies_changes_nothing():
    found, _ = thread(said("user", "Ask"), turn("t1"), told("user", "Ask"))
    assert words(found) == [("human", "Ask")]


# --- what is no turn


@pytest.mark.parametrize(
    ("one", "disposition"),
    [
        (said("developer", "rules"), "injected"),
        (said("system", "rules"), "injected"),
        (said("tool", "out"), "tool"),
        (line("response_item", type="reasoning", encrypted_content="gA"), "thinking"),
        (line("response_item", type="ghost_snapshot"), "meta"),
        (call(), "tool"),
        (line("response_item", type="function_call_output", output="x"), "tool"),
        (line("response_item", type="local_shell_call"), "tool"),
        (event("agent_reasoning", text="hm"), "thinking"),
        (event("token_count"), "meta"),
        (event("exec_command_end"), "tool"),
        (event("mcp_tool_call_begin"), "tool"),
        (event("error", message="x"), "meta"),
        (completed("Reasoning", "hm"), "thinking"),
        (completed("CommandExecution", "ls"), "tool"),
        (completed("Plan", "first"), "meta"),
        (line("compacted", message="so far", replacement_history=[said("user", "x")]), "meta"),
        (line("world_state", text="x"), "meta"),
        ({"record_type": "state"}, "meta"),
    ],
)
def test_what_is_no_turn_is_disposed_of(one, disposition):
    found, tally = thread(said("user", "Ask"), one)
    assert words(found) == [("human", "Ask")]
    assert tally.dispositions[disposition] == 1 + (disposition == "meta")
    assert tally.codes == {}


@pytest.mark.parametrize(
    "one",
    [
        line("response_item", type="message", role="narrator", content=[]),
        line("response_item", type=["message"]),
        line("event_msg", type=None),
        {"type": "response_item", "payload": "text"},
        {"timestamp": AT},
    ],
)
def test_what_cannot_be_understood_is_lost_alone(one):
    found, tally = thread(said("user", "Ask"), one)
    assert words(found) == [("human", "Ask")]
    assert tally.places == {"bad_message": ["rollout.jsonl:3"]}


def test_records_of_unknown_kinds_are_noted():
    _, tally = thread(line("novelty", a=1), line("response_item", type="novelty"))
    assert tally.places == {"unknown_record": ["rollout.jsonl:2", "rollout.jsonl:3"]}


def test_a_bad_time_is_unknown_and_counted():
    found, tally = thread({**said("user", "Ask"), "timestamp": 5})
    assert found.turns[0].at is None
    assert tally.codes == {"bad_timestamp": 1}


def test_what_an_editor_puts_before_the_words_is_no_words():
    text = (
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nAsk\n"
    )
    found, _ = thread(said("user", text), told("user", text))
    assert words(found) == [("human", "Ask")]
    assert words(thread(said("user", "# Context from my IDE setup: ?"))[0])[0][1].endswith("?")


def test_images_are_attachments_without_their_bytes():
    parts = [
        {"type": "input_text", "text": "Look"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_image", "image_url": "https://example.org/a.png"},
        {"type": "input_file", "filename": "a.txt"},
        {"type": "novelty"},
    ]
    found, tally = thread(line("response_item", type="message", role="user", content=parts))
    (png, web, file) = found.turns[0].attachments
    assert (png.media_type, png.size, png.content_hash is not None) == ("image/png", 3, True)
    assert (web, file) == (
        Attachment(name="https://example.org/a.png"),
        Attachment(name="a.txt"),
    )
    assert tally.codes == {"unknown_content": 1}


# --- marks, calls and paths


def test_the_tools_own_mark_says_what_is_final():
    found, _ = thread(
        said("user", "Ask"),
        said("assistant", "First", phase="commentary"),
        told("assistant", "Done"),
        said("assistant", "Done", phase="final_answer"),
    )
    assert [(one.final, one.stopped) for one in found.turns[1:]] == [(False, False), (True, True)]


def test_the_end_of_a_task_stops_its_last_message():
    found, _ = thread(said("user", "Ask"), said("assistant", "Done"), event("task_complete"))
    assert found.turns[1].stopped
    found, _ = thread(said("assistant", "On it"), call(), event("task_complete"))
    assert not found.turns[0].stopped


def test_only_what_directly_follows_a_message_makes_it_interim():
    found, _ = thread(
        said("user", "Ask"),
        said("assistant", "On it"),
        line("response_item", type="reasoning"),
        event("token_count"),
        call(),
        said("assistant", "Done"),
        said("user", "More"),
        call("apply_patch"),
    )
    assert [one.calls_tool for one in found.turns] == [False, True, False, False]
    assert found.turns[2].calls == (("shell", 1),)
    assert found.tail_calls == (("apply_patch", 1),)


def test_touched_paths_come_from_patches_and_path_arguments():
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n*** Add File: b.py\n*** End Patch"
    found, _ = thread(
        said("user", "Ask"),
        line("response_item", type="custom_tool_call", name="apply_patch", input=patch),
        call("shell", json.dumps({"command": ["apply_patch", "*** Delete File: c.py\n"]})),
        call("read_file", json.dumps({"file_path": "/w/a/d.py"})),
        call("odd", "no json"),
        said("assistant", "Done"),
    )
    assert found.turns[1].touched == ("src/a.py", "b.py", "c.py", "/w/a/d.py")


def test_output_of_tools_is_kept_only_when_asked_for():
    lines = [said("user", "Ask"), line("response_item", type="function_call_output", output="x")]
    found, _ = thread(*lines, keep_context=True)
    assert [(one.role, one.taint) for one in found.turns[1:]] == [(Role.OTHER, Taint.TOOL)]
    nested = line("response_item", type="function_call_output", output={"content": "y"})
    assert thread(nested, keep_context=True)[0].turns[0].blocks == ("y",)


# --- what happens to a thread


def test_events_of_a_thread_are_told():
    found, _ = thread(
        said("user", "Ask"), line("compacted", message="m"), event("turn_aborted", reason="x")
    )
    assert [one.kind for one in found.events] == ["compaction", "turn_aborted"]
    assert words(found) == [("human", "Ask")]


def test_a_time_without_zone_is_none_for_an_event():
    naive = {**event("turn_aborted"), "timestamp": "2026-04-01T09:00:00"}
    found, _ = thread({**said("user", "Ask"), "timestamp": "2026-04-01T09:00:00"}, naive)
    assert [one.at for one in found.events] == [None]
    assert found.turns[0].at.tzinfo is None


TALK = [
    said("user", "one"), said("assistant", "1"),
    said("user", "two"), said("user", "too"), said("assistant", "2"), said("assistant", "2b"),
    said("user", "three"), said("user", "<turn_aborted>x</turn_aborted>"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "kept"), [(0, 8), (1, 6), (2, 2), (3, 0), (9, 0), (True, 8), ("1", 8)]
)
def test_a_rollback_takes_the_last_exchanges_off_the_path(count, kept):
    found, _ = thread(*TALK, event("thread_rolled_back", num_turns=count))
    assert [one.alternative for one in found.turns] == [False] * kept + [True] * (8 - kept)


def test_a_second_rollback_counts_from_what_is_left():
    back = event("thread_rolled_back", num_turns=1)
    found, _ = thread(*TALK, back, said("user", "four"), said("assistant", "4"), back, back)
    assert [turn.alternative for turn in found.turns] == [False] * 2 + [True] * 8


def test_a_note_of_the_tool_is_no_exchange_of_its_own():
    note = said("user", "<turn_aborted>x</turn_aborted>")
    found, _ = thread(*TALK[:6], note, event("thread_rolled_back", num_turns=1))
    assert [one.alternative for one in found.turns] == [False] * 2 + [True] * 5


def test_a_name_given_to_the_thread_is_its_title():
    found, _ = thread(event("thread_name_updated", thread_name="Knots"))
    assert found.titles == (TitleCandidate("user", "Knots"),)


# --- heads


def test_the_first_head_wins_and_the_fork_parents_is_a_copy():
    (found,), _ = read(
        meta("child", forked_from_id="parent"),
        meta("parent", forked_from_id="grandparent"),
        meta("grandparent"),
        said("user", "Ask"),
        meta("child"),
    )
    assert found.native_id == "child"
    assert found.pointers == (Pointer(LineageKind.FORKED_FROM, "parent"),)


def test_a_head_of_another_session_begins_another_thread():
    found, _ = read(
        meta("a"), said("user", "A"), meta("b"), said("user", "B"), meta("b"), said("user", "B2")
    )
    assert [(one.native_id, len(one.turns)) for one in found] == [("a", 1), ("b", 2)]


def test_a_fork_and_its_parent_in_one_file_are_two_threads():
    history = [said("user", "Ask"), said("assistant", "Answer")]
    child = [meta("child", forked_from_id="parent"), meta("parent"), *history, said("user", "New")]
    parent = [meta("parent"), *history]
    for lines in (child + parent, parent + child):
        found, _ = read(*lines)
        told = {one.native_id: len(one.turns) for one in found}
        assert told == {"child": 3, "parent": 2}


@pytest.mark.parametrize(
    "source",
    [
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}}},
        {"source": {"subagent": "review"}},
        {"thread_source": "subagent"},
    ],
)
def test_what_is_asked_of_an_agent_is_a_side_turn(source):
    context = "<environment_context>x</environment_context>"
    (found,), tally = read(
        meta(**source), said("user", context), said("user", "Task"), said("assistant", "Result")
    )
    assert words(found) == [("other", "Task"), ("assistant", "Result")]
    assert tally.dispositions["injected"] == 1
    named = any("thread_spawn" in str(value) for value in source.values())
    assert found.pointers == ((Pointer(LineageKind.SUBAGENT_OF, "p"),) if named else ())


@pytest.mark.parametrize(
    "lines",
    [
        [
            call("spawn_agent", call_id="c1"),
            line(
                "response_item",
                type="function_call_output",
                call_id="c1",
                output=json.dumps({"agent_id": "sub"}),
            ),
        ],
        [event("collab_agent_spawn_end", new_thread_id="sub")],
    ],
)
def test_a_spawned_agent_is_known_at_the_message_that_asked(lines):
    found, _ = thread(said("user", "Ask"), said("assistant", "On it"), *lines)
    assert [one.spawned for one in found.turns] == [("sub",), ()]


def test_without_a_head_the_file_name_tells_the_session():
    name = f"sessions/2026/rollout-2026-04-01T09-00-00-{ID}.jsonl"
    (found,), _ = read(said("user", "Ask"), name=name)
    assert (found.native_id, found.growing) == (ID, False)
    (found,), _ = read(said("user", "Ask"))
    assert (found.native_id, found.growing) == (None, True)


def test_a_worktree_is_its_repository():
    (found,), _ = read(line("session_meta", id="s", cwd="/w/a/.worktrees/x"))
    assert found.project == "/w/a"


def test_a_file_without_a_session_fails():
    found, _ = read({"record_type": "state"})
    assert [type(one) for one in found] == [ReadFailure]
    assert found[0].code == "no_conversation"


# --- other shapes


def test_bare_items_after_a_header_are_read():
    (found,), _ = read(
        {"id": "l1", "timestamp": AT, "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Q"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A"}]},
    )
    assert (found.native_id, words(found)) == ("l1", [("human", "Q"), ("assistant", "A")])


@pytest.mark.parametrize("indent", [None, 2])
def test_the_oldest_document_is_read(indent):
    items = [{"role": "user", "type": "message", "content": "Q"}, {"type": "reasoning"}, 5]
    document = {"session": {"id": "o1", "timestamp": AT, "instructions": ""}, "items": items}
    (found,), tally = read_bytes(json.dumps(document, indent=indent).encode())
    assert (found.native_id, words(found)) == ("o1", [("human", "Q")])
    assert tally.codes == {"bad_message": 1}


def test_a_document_of_another_shape_fails_alone():
    (found,), _ = read_bytes(json.dumps({"session": 5, "items": []}).encode())
    assert (type(found), found.code) == (ReadFailure, "bad_conversation")


def test_a_prompt_history_is_a_thread_of_each_session():
    rows = [
        {"session_id": "a", "ts": 1761959019, "text": "One"},
        {"session_id": "b", "ts": 5, "text": "Other"},
        {"session_id": "a", "ts": 1761959020, "text": "Two"},
        {"session_id": 5, "ts": 1761959020, "text": "Lost"},
    ]
    (one, other), tally = read(*rows)
    assert (one.native_id, one.rank, words(one)) == ("a", 4, [("human", "One"), ("human", "Two")])
    assert (other.native_id, other.turns[0].at) == ("b", None)
    assert tally.codes == {"bad_timestamp": 1, "bad_message": 1}


@pytest.mark.parametrize(
    ("lines", "is_ours"),
    [
        ([meta()], True),
        ([said("user", "Ask")], True),
        ([{"id": "l1", "timestamp": AT, "instructions": None}], True),
        ([{"session_id": "a", "ts": 1, "text": "x"}], True),
        ([{"session_id": "a", "ts": 1, "text": "x", "role": "user"}], False),
        ([{"session": {}, "items": []}], True),
        ([{"type": "message", "role": "user", "content": "x"}], False),
        ([{"type": "response_item"}], False),
        ([{"type": ["session_meta"], "payload": {}}], False),
    ],
)
def test_the_shape_of_the_lines_tells_the_format(lines, is_ours):
    src = Source.of_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in lines))
    assert (codex.sniff(src.peek(), src) is not None) == is_ours


def test_a_list_or_a_text_is_not_ours():
    for raw in (json.dumps([meta()]).encode(), b"session_meta\n"):
        src = Source.of_bytes(raw)
        assert codex.sniff(src.peek(), src) is None
