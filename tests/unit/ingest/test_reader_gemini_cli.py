import json

import pytest

from graphstore.model.conversation import LineageKind, Role, Taint
from ingest.model import Pointer, RawThread, ReadFailure, Source, Tally, TitleCandidate
from ingest.readers import gemini_cli

AT = "2026-02-01T10:00:00.000Z"
HEAD = {"sessionId": "g1", "projectHash": "abab", "startTime": AT, "lastUpdated": AT}


def user(key, content="Ask", **more):
    return {"id": key, "timestamp": AT, "type": "user", "content": content, **more}


def model(key, content="Answer", **more):
    return {"id": key, "timestamp": AT, "type": "gemini", "content": content, **more}


def call(name="shell", **args):
    response = {"functionResponse": {"response": {"output": "out"}}}
    return {"id": "t", "name": name, "args": args, "result": [response]}


def read_bytes(content, name="session.json", **source):
    src = Source.of_bytes(content, name)
    for key, value in source.items():
        setattr(src, key, value)
    tally = Tally(name)
    found = list(gemini_cli.read(src, tally))
    for one in found:
        if isinstance(one, RawThread):
            tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def read(*lines, **more):
    return read_bytes("".join(json.dumps(one) + "\n" for one in lines).encode(), **more)


def thread(*messages, head=HEAD, **more):
    (found,), tally = read_bytes(json.dumps({**head, "messages": messages}).encode(), **more)
    return found, tally


def lines(*records):
    (found,), tally = read(HEAD, *records)
    return found, tally


def words(found):
    return [(turn.role.value, *turn.blocks) for turn in found.turns]


def branches(found):
    main = [turn.key for turn in found.turns if not turn.alternative]
    return main, [turn.key for turn in found.turns if turn.alternative]


def test_a_document_has_its_head_and_its_turns():
    found, tally = thread(user("1"), model("2", model="m-1"), head={**HEAD, "summary": "A talk"})
    assert (found.source, found.native_id, found.project) == ("gemini-cli", "g1", "abab")
    assert (found.agent, found.tree, found.rank, found.sharing) == (True, False, 1, "keys")
    assert (found.models, found.titles) == (("m-1",), (TitleCandidate("ai", "A talk"),))
    assert found.started_at == found.ended_at == found.turns[0].at
    assert words(found) == [("human", "Ask"), ("assistant", "Answer")]
    assert [one.key for one in found.turns] == ["1", "2"]
    assert (tally.codes, tally.dispositions["meta"]) == ({}, 1)


def test_lines_are_read_like_a_document():
    found, _ = lines(user("1"), model("2"))
    assert words(found) == words(thread(user("1"), model("2"))[0])
    assert [one.line for one in found.turns] == [2, 3]


def test_the_place_of_a_turn_is_its_line():
    records = [HEAD, user("1", "\u00e9"), model("2")]
    raw = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records).encode()
    (found,), _ = read_bytes(raw)
    for one, whole in zip(found.turns, records[1:], strict=True):
        assert json.loads(raw[one.offset :][: one.length]) == whole


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (user("1", "text"), ("text",)),
        (user("1", [{"text": "a"}, "b", {"text": " "}]), ("a", "b")),
        (user("1", {"text": "a"}), ("a",)),
        (user("1", "expanded", displayContent="typed"), ("typed",)),
        (user("1", "expanded", displayContent=[{"text": "typed"}]), ("typed",)),
        (user("1", "plain", displayContent=None), ("plain",)),
        (model("1", [{"text": "hm", "thought": True}, {"text": "a"}]), ("a",)),
        (
            user("1", "See @a\n--- Content from referenced files ---\nx\n--- End of content ---"),
            ("See @a\n",),
        ),
        (
            user(
                "1",
                [
                    {"text": "See @a"},
                    {"text": "\n--- Content from referenced files ---"},
                    {"text": "file"},
                    {"text": "\n--- End of content ---"},
                    {"text": "and on"},
                ],
            ),
            ("See @a", "and on"),
        ),
    ],
)
def test_what_is_said_is_a_turn(one, told):
    found, tally = thread(one)
    assert [turn.blocks for turn in found.turns] == [told]
    assert tally.codes == {}


@pytest.mark.parametrize(
    ("one", "disposition"),
    [
        ({"id": "9", "type": "info", "content": "update"}, "meta"),
        ({"id": "9", "type": "warning", "content": "w"}, "meta"),
        ({"id": "9", "type": "error", "content": "e"}, "meta"),
        (model("9", "", toolCalls=[call()]), "tool"),
        (model("9", "", thoughts=[{"subject": "s"}]), "thinking"),
        (model("9", [{"text": "hm", "thought": True}]), "thinking"),
        (model("9", ""), "empty"),
        (model("9", None), "empty"),
        (user("9", " "), "empty"),
        (user("9", [{"functionResponse": {"name": "f"}}]), "tool"),
        (user("9", "System: Please continue."), "injected"),
        (user("9", "--- Content from referenced files ---\nx"), "injected"),
    ],
)
def test_what_is_no_turn_is_disposed_of(one, disposition):
    found, tally = thread(user("1"), one)
    assert words(found) == [("human", "Ask")]
    assert tally.dispositions[disposition] == 1 + (disposition == "meta")
    assert tally.codes == {}


@pytest.mark.parametrize("bad", [5, None, {"id": "x"}, {"type": ["user"]}])
def test_a_message_of_another_shape_is_lost_alone(bad):
    found, tally = thread(user("1"), bad)
    assert words(found) == [("human", "Ask")]
    assert tally.codes == {"bad_message": 1}


def test_unknown_kinds_are_noted():
    found, tally = thread(user("1", [{"text": "a"}, {"novelty": 1}]), {"id": "2", "type": "new"})
    assert words(found) == [("human", "a")]
    assert tally.codes == {"unknown_content": 1, "unknown_record": 1}


def test_images_are_attachments_without_their_bytes():
    parts = [
        {"text": "Look"},
        {"inlineData": {"mimeType": "image/png", "data": "AAAA", "displayName": "a.png"}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "files/1"}},
        {"inlineData": {"data": "A"}},
    ]
    found, _ = thread(user("1", parts))
    told = [(one.name, one.media_type, one.size) for one in found.turns[0].attachments]
    assert told == [
        ("a.png", "image/png", 3),
        ("files/1", "video/mp4", None),
        (None, None, None),
    ]


def test_a_bad_time_is_unknown_and_counted():
    found, tally = thread(user("1", timestamp="soon"))
    assert found.turns[0].at is None
    assert tally.codes == {"bad_timestamp": 1}


# --- calls


def test_tool_calls_count_to_the_next_answer_and_make_a_message_interim():
    found, _ = thread(
        user("1"),
        model("2", "On it", toolCalls=[call("read_file", file_path="/w/a.py"), 5]),
        model("3", "", toolCalls=[call("shell", command="ls")]),
        model("4", "Look", thoughts=[]),
        {"id": "5", "type": "info", "content": "x"},
        model("6", "", toolCalls=[call("write_file", absolute_path="/w/b.py")]),
        model("7", "Done"),
        model("8", "", toolCalls=[call()]),
        user("9"),
        model("10", "", toolCalls=[{"id": "t"}]),
    )
    assert [(one.blocks[0], one.calls_tool) for one in found.turns] == [
        ("Ask", False),
        ("On it", True),
        ("Look", True),
        ("Done", True),
        ("Ask", False),
    ]
    assert [one.calls for one in found.turns[1:4]] == [
        (("read_file", 1),),
        (("shell", 1),),
        (("write_file", 1),),
    ]
    assert [one.touched for one in found.turns[1:4]] == [("/w/a.py",), (), ("/w/b.py",)]
    assert found.tail_calls == (("shell", 1), ("tool", 1))


def test_context_is_kept_only_when_asked_for():
    messages = [
        user("1"),
        model("2", "", toolCalls=[call("web_fetch"), call("shell")]),
        model("3"),
    ]
    found, _ = thread(*messages, keep_context=True)
    assert [(one.role, one.taint, one.records) for one in found.turns[1:3]] == [
        (Role.OTHER, Taint.WEB, 0),
        (Role.OTHER, Taint.TOOL, 0),
    ]
    assert len(thread(*messages)[0].turns) == 2


# --- lines


def test_the_same_id_again_replaces_in_place():
    found, tally = lines(user("1"), model("2", "Draft"), user("3", "More"), model("2", "Final"))
    assert [one[1] for one in words(found)] == ["Ask", "Final", "More"]
    assert tally.dispositions["duplicate"] == 1


def test_a_rewind_takes_a_message_and_all_later_ones_off_the_path():
    found, tally = lines(
        user("1"), model("2"), user("3"), model("4"), {"$rewindTo": "3"}, user("5"), model("6")
    )
    assert branches(found) == (["1", "2", "5", "6"], ["3", "4"])
    assert [one.kind for one in found.events] == ["rewind"]
    assert tally.codes == {}


def test_a_message_written_again_after_a_rewind_is_back_on_the_path():
    found, tally = lines(user("1"), model("2"), {"$rewindTo": "1"}, user("1"), model("3"))
    assert branches(found) == (["1", "3"], ["2"])
    assert tally.dispositions["duplicate"] == 1


@pytest.mark.parametrize("key", ["gone", 5])
def test_a_rewind_to_an_unknown_message_changes_nothing(key):
    found, tally = lines(user("1"), {"$rewindTo": key})
    assert branches(found) == (["1"], [])
    assert tally.places == {"missing_reference": ["session.json:3"]}


def test_calls_off_the_path_stay_there():
    found, _ = lines(
        user("1"), model("2", "", toolCalls=[call()]), {"$rewindTo": "1"}, user("3"), model("4")
    )
    assert [one.calls for one in found.turns] == [(), (), ()]


def test_a_change_of_the_head_is_metadata():
    found, tally = lines(
        user("1"),
        {"$set": {"summary": "A talk", "directories": [5, "/w/a"], "sessionId": "other"}},
        {"$set": {"messages": [user("1", "New"), model("2")]}},
        {"$set": 5},
    )
    assert (found.native_id, found.project) == ("g1", "/w/a")
    assert found.titles == (TitleCandidate("ai", "A talk"),)
    assert words(found) == [("human", "New"), ("assistant", "Answer")]
    assert tally.dispositions["duplicate"] == 1


def test_a_head_of_another_session_begins_another_thread():
    found, _ = read(HEAD, user("1"), HEAD, user("2"), {**HEAD, "sessionId": "g2"}, user("1"))
    assert [(one.native_id, len(one.turns)) for one in found] == [("g1", 2), ("g2", 1)]


def test_lines_without_a_head_are_a_thread_without_id():
    (found,), _ = read(user("1"), model("2"))
    assert (found.native_id, found.growing, len(found.turns)) == (None, True, 2)


def test_a_head_alone_is_an_empty_thread():
    (found,), tally = read(HEAD)
    assert (found.native_id, found.turns, tally.codes) == ("g1", [], {})


@pytest.mark.parametrize(
    ("more", "name", "parent"),
    [
        ({"parentSessionId": "p"}, "s.json", "p"),
        ({}, "/home/x/.gemini/tmp/h/chats/p/s.json", "p"),
        ({}, "/home/x/s.json", None),
    ],
)
def test_what_is_asked_of_an_agent_is_a_side_turn(more, name, parent):
    head = {**HEAD, "kind": "subagent", **more}
    found, _ = thread(user("1", "Task"), model("2"), head=head, name=name)
    assert words(found) == [("other", "Task"), ("assistant", "Answer")]
    expected = (Pointer(LineageKind.SUBAGENT_OF, parent),) if parent else ()
    assert found.pointers == expected


def test_a_file_without_a_session_fails():
    for raw in (b"5\n", b"[5]", b"{broken\n"):
        found, _ = read_bytes(raw)
        assert [(type(one), one.code) for one in found] == [(ReadFailure, "no_conversation")]


@pytest.mark.parametrize(
    ("records", "is_ours"),
    [
        ([HEAD], True),
        ([{**HEAD, "messages": []}], True),
        ([user("1"), model("2")], True),
        ([{"$set": {}}, {"$rewindTo": "1"}], True),
        ([{"sessionId": "x"}], False),
        ([{"type": "user", "uuid": "x", "parentUuid": None, "id": "1"}], False),
        ([{"type": ["user"], "id": "1"}], False),
        ([{"messages": [{"role": "user", "content": "x"}]}], False),
    ],
)
def test_head_and_messages_tell_the_format(records, is_ours):
    src = Source.of_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in records))
    assert (gemini_cli.sniff(src.peek(), src) is not None) == is_ours


def test_a_list_or_a_text_is_not_ours():
    for raw in (json.dumps([HEAD]).encode(), b"sessionId projectHash\n"):
        src = Source.of_bytes(raw)
        assert gemini_cli.sniff(src.peek(), src) is None
