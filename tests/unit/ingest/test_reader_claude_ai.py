import json
from datetime import UTC, datetime

import pytest

from graphstore.model.conversation import Attachment, Role, Taint
from ingest.model import RawThread, ReadFailure, Source, Tally, TitleCandidate
from ingest.readers import claude_ai

UUIDS = [f"{n}1111111-2222-4333-8444-555555555555" for n in range(4)]
ROOT = "00000000-0000-4000-8000-000000000000"
AT = "2026-01-01T10:00:00.000000Z"


def message(sender="human", text="words", uuid=None, **more):
    content = [{"type": "text", "text": text}]
    told = {"sender": sender, "text": text, "content": content, "created_at": AT, **more}
    return told if uuid is None else {"uuid": uuid, **told}


def blocks(*content, sender="assistant", **more):
    return message(sender, **{"content": list(content), "text": "", **more})


def talk(*messages, **more):
    named = [{"uuid": f"m{n}", **one} for n, one in enumerate(messages, start=1)]
    return {"uuid": "c1", "name": "A talk", "chat_messages": named, **more}


def read(document, **source):
    src = Source.of_bytes(json.dumps(document).encode(), "export.json")
    for key, value in source.items():
        setattr(src, key, value)
    tally = Tally("export.json")
    found = list(claude_ai.read(src, tally))
    for one in found:
        if isinstance(one, RawThread):
            tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def thread(*messages, **more):
    (found,), tally = read(talk(*messages, **more))
    return found, tally


def words(found):
    return [(turn.role.value, *turn.blocks) for turn in found.turns]


def branches(found):
    main = [turn.key for turn in found.turns if not turn.alternative]
    return main, [(turn.key, turn.parent) for turn in found.turns if turn.alternative]


def test_a_conversation_has_its_head_and_its_turns():
    found, tally = thread(
        message("human", "Ask"),
        message("assistant", "Answer"),
        created_at="2026-01-01T09:00:00Z",
        updated_at="2026-01-01T11:00:00Z",
        model="m-1",
        project={"uuid": "p", "name": "Graphs"},
    )
    assert (found.source, found.native_id, found.native_ids) == ("claude-ai", "c1", ("c1",))
    assert (found.agent, found.tree, found.rank, found.models) == (False, False, 2, ("m-1",))
    assert (found.project, found.titles) == ("Graphs", (TitleCandidate("native", "A talk"),))
    assert found.started_at == datetime(2026, 1, 1, 9, tzinfo=UTC)
    assert found.ended_at == datetime(2026, 1, 1, 11, tzinfo=UTC)
    assert words(found) == [("human", "Ask"), ("assistant", "Answer")]
    assert [(turn.key, turn.parent) for turn in found.turns] == [("m1", None), ("m2", "m1")]
    assert tally.codes == {}


@pytest.mark.parametrize("wrap", [lambda t: [t], lambda t: t, lambda t: {"conversations": [t]}])
@pytest.mark.parametrize("key", ["chat_messages", "messages"])
def test_every_wrapping_is_read(wrap, key):
    document = talk(message())
    document[key] = document.pop("chat_messages")
    (found,), _ = read(wrap(document))
    assert words(found) == [("human", "words")]
    src = Source.of_bytes(json.dumps(wrap(document), indent=1).encode())
    assert claude_ai.sniff(src.peek(), src) is not None


def test_the_place_of_a_turn_is_its_conversation():
    document = [talk(message(text="\u00e9")), talk(message())]
    raw = json.dumps(document).encode()
    found, _ = read(document)
    for one, whole in zip(found, document, strict=True):
        turn = one.turns[0]
        assert json.loads(raw[turn.offset :][: turn.length]) == whole


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (blocks({"type": "text", "text": "a"}, {"type": "text", "text": "b"}), ("a", "b")),
        (blocks({"type": "text", "text": "a"}, text="other"), ("a",)),
        (blocks({"type": "text", "text": ""}, text="plain"), ("plain",)),
        (blocks({"type": "text", "text": 5}, text="plain"), ("plain",)),
        (blocks(text="plain"), ("plain",)),
        (message(content="plain", text="other"), ("plain",)),
        (message(content=None), ("words",)),
        (message(content=["plain"]), ("plain",)),
        (message(role="user", sender=None), ("words",)),
        (blocks({"type": "voice_note", "title": "v", "text": "spoken"}), ("spoken",)),
        (blocks({"type": "thinking", "thinking": "hm"}, {"text": "a"}), ("a",)),
        (blocks({"type": "tool_use", "name": "f"}, {"type": "text", "text": "a"}), ("a",)),
        (message("assistant", "<antThinking>hm\n</antThinking>\n\nSo"), ("So",)),
        (message("assistant", "<antThinking>a</antThinking>b<antThinking>c</antThinking> d"),
         ("bd",)),
        (message("assistant", "so <antThinking>a"), ("so <antThinking>a",)),
        (message("human", "What is <antThinking>x</antThinking>"),
         ("What is <antThinking>x</antThinking>",)),
    ],
)  # fmt: skip
def test_words_are_those_of_the_text_blocks(one, told):
    found, tally = thread(one)
    assert [turn.blocks for turn in found.turns] == [told]
    assert tally.codes == {}


@pytest.mark.parametrize(
    ("one", "disposition"),
    [
        (blocks({"type": "tool_use", "name": "f"}, text="not supported here"), "tool"),
        (blocks({"type": "tool_result", "content": "x"}), "tool"),
        (blocks({"type": "thinking", "thinking": "hm"}), "thinking"),
        (blocks({"type": "token_budget"}), "empty"),
        (message(text="  "), "empty"),
        (message("assistant", "<antThinking>hm</antThinking>"), "empty"),
    ],
)
def test_what_is_no_turn_is_disposed_of(one, disposition):
    found, tally = thread(message(), one)
    assert len(found.turns) == 1
    assert (tally.dispositions[disposition], tally.codes) == (1, {})


@pytest.mark.parametrize("kind", ["novelty", ["novelty"]])
def test_an_unknown_block_is_noted_and_the_conversation_stays(kind):
    found, tally = thread(message(), blocks({"type": kind}, {"type": "text", "text": "a"}))
    assert [turn.blocks for turn in found.turns] == [("words",), ("a",)]
    assert tally.codes == {"unknown_content": 1}


@pytest.mark.parametrize("bad", [5, None, message("narrator"), message(["human"])])
def test_a_message_of_another_shape_is_lost_alone(bad):
    document = talk(message())
    document["chat_messages"].insert(0, bad)
    (found,), tally = read(document)
    assert words(found) == [("human", "words")]
    assert tally.places == {"bad_message": ["c1"]}


def test_tool_calls_count_to_the_next_answer():
    found, _ = thread(
        message(),
        blocks({"type": "tool_use", "name": "search"}, {"type": "tool_result", "name": "search"}),
        blocks({"type": "tool_use", "name": "f"}, {"type": "text", "text": "Answer"}),
        blocks({"type": "tool_use"}),
    )
    assert found.turns[1].calls == (("search", 1), ("f", 1))
    assert found.tail_calls == (("tool", 1),)


def test_text_of_an_attachment_is_a_side_turn_before_its_message():
    files = [
        {"file_name": "a.txt", "file_type": "txt", "file_size": 9, "extracted_content": "inside"},
        {"file_name": "b.pdf", "extracted_content": "  "},
    ]
    pictures = [{"file_name": "c.png", "file_uuid": "f"}, {"file_name": "c.png", "file_uuid": "f"}]
    found, tally = thread(
        message("human", "Ask", attachments=files, files=pictures, files_v2=pictures),
        message("assistant", "Answer"),
    )
    assert words(found) == [("other", "inside"), ("human", "Ask"), ("assistant", "Answer")]
    side, own, answer = found.turns
    assert side.attachments == (Attachment(name="a.txt", media_type="txt", size=9),)
    assert [one.name for one in own.attachments] == ["b.pdf", "c.png"]
    assert [(one.key, one.parent) for one in found.turns] == [
        ("m1#1", None),
        ("m1", "m1#1"),
        ("m2", "m1"),
    ]
    assert [one.records for one in (side, own, answer)] == [0, 1, 1]
    assert tally.codes == {}


def test_a_message_of_attachments_only_is_its_side_turn():
    files = [{"file_name": "a.txt", "file_size": True, "extracted_content": "inside"}]
    found, tally = thread(
        message("human", "", attachments=files, files=[{"file_name": "c.png"}]),
        message("assistant", "Answer"),
    )
    assert words(found) == [("other", "inside"), ("assistant", "Answer")]
    assert [one.name for one in found.turns[0].attachments] == ["a.txt", "c.png"]
    assert (found.turns[0].records, found.turns[1].parent) == (1, "m1#1")
    assert "empty" not in tally.dispositions


def test_context_is_kept_only_when_asked_for():
    told = [
        {"type": "tool_use", "name": "web_search"},
        {"type": "tool_result", "name": "web_search", "content": [{"text": "page"}, {"a": 1}]},
        {"type": "tool_result", "name": "repl", "content": "4"},
        {"type": "text", "text": "Answer"},
    ]
    (found,), _ = read(talk(message(), blocks(*told)), keep_context=True)
    assert [(one.role, one.taint) for one in found.turns[1:3]] == [
        (Role.OTHER, Taint.WEB),
        (Role.OTHER, Taint.TOOL),
    ]
    assert words(thread(message(), blocks(*told))[0]) == [
        ("human", "words"),
        ("assistant", "Answer"),
    ]


# --- the tree


def test_the_main_line_goes_up_from_the_current_leaf():
    found, tally = thread(
        message(parent_message_uuid=ROOT),
        message("assistant", "Old", parent_message_uuid="m1"),
        message("human", "More", parent_message_uuid="m2"),
        message("assistant", "New", parent_message_uuid="m1"),
        current_leaf_message_uuid="m4",
    )
    assert found.tree
    assert branches(found) == (["m1", "m4"], [("m2", "m1"), ("m3", "m2")])
    assert tally.codes == {}


@pytest.mark.parametrize(("current", "codes"), [(None, {}), ("gone", {"current_node": 1})])
def test_without_a_current_leaf_the_newest_ends_the_main_line(current, codes):
    late = "2026-01-01T12:00:00Z"
    found, tally = thread(
        message(),
        message("assistant", "Late", parent_message_uuid="m1", created_at=late),
        message("assistant", "Early", parent_message_uuid="m1"),
        message("assistant", "Never", parent_message_uuid="m1", created_at=None),
        current_leaf_message_uuid=current,
    )
    assert branches(found)[0] == ["m1", "m2"]
    assert tally.codes == codes


def test_a_child_may_stand_before_its_parent():
    found, _ = thread(
        message("assistant", "Two", parent_message_uuid="m2"),
        message("human", "One"),
        message("human", "Other", parent_message_uuid="m4"),
        message("assistant", "Off", parent_message_uuid="m2"),
        current_leaf_message_uuid="m1",
    )
    assert branches(found) == (["m2", "m1"], [("m4", "m2"), ("m3", "m4")])


def test_a_parent_that_is_missing_is_the_message_before():
    found, tally = thread(
        message(),
        message("assistant", "A", parent_message_uuid="m1"),
        message("human", "B", parent_message_uuid="gone"),
    )
    assert branches(found) == (["m1", "m2", "m3"], [])
    assert tally.codes == {"orphan_parent": 1}


def test_a_cycle_of_parents_is_cut():
    found, tally = thread(
        message(parent_message_uuid="m2"), message("assistant", "A", parent_message_uuid="m1")
    )
    assert branches(found) == (["m1", "m2"], [])
    assert tally.codes == {"parent_cycle": 1}


def test_a_parent_passes_over_what_gave_no_turn():
    found, _ = thread(
        message(),
        blocks({"type": "tool_use", "name": "f"}, parent_message_uuid="m1"),
        message("assistant", "A", parent_message_uuid="m2"),
    )
    assert [(one.key, one.parent) for one in found.turns] == [("m1", None), ("m3", "m1")]


def test_without_parents_the_order_of_the_list_is_the_main_line():
    found, _ = thread(
        message(), message("assistant", "A"), message(), current_leaf_message_uuid="m1"
    )
    assert (found.tree, branches(found)) == (False, (["m1", "m2", "m3"], []))


def test_prefixes_are_looked_for_among_global_ids_only():
    assert thread(message())[0].sharing == "none"
    assert thread(message(uuid=UUIDS[0]))[0].sharing == "keys"


# --- what fails, what is empty


def test_a_conversation_without_messages_is_empty():
    for document in (talk(), {"uuid": "c1", "name": "No list"}):
        (found,), tally = read(document)
        assert (found.turns, found.native_id, tally.records, tally.codes) == ([], "c1", 0, {})


@pytest.mark.parametrize("bad", [5, None, {"uuid": "x"}, {"chat_messages": 5, "uuid": "x"}, []])
def test_a_conversation_of_another_shape_fails_alone(bad):
    found, tally = read([bad, talk(message())])
    assert (type(found[0]), found[0].code) == (ReadFailure, "bad_conversation")
    assert found[1].native_id == "c1"
    assert tally.dispositions["lost"] == 1


def test_messages_over_the_bound_are_lost(monkeypatch):
    monkeypatch.setattr(claude_ai, "MESSAGES", 2)
    found, tally = thread(message(), message("assistant"), message())
    assert (len(found.turns), tally.codes) == (2, {"bad_message": 1})


def test_a_bad_time_is_unknown_and_counted():
    found, tally = thread(message(created_at="soon"), created_at=7, name=None)
    assert (found.started_at, found.turns[0].at, found.titles) == (None, None, ())
    assert tally.places == {"bad_timestamp": ["c1", "c1"]}


@pytest.mark.parametrize(
    ("document", "is_ours"),
    [
        ([talk(message())], True),
        ([{"uuid": "u", "messages": []}], True),
        ([{"uuid": "u", "full_name": "x"}], False),
        ([{"mapping": {}}], False),
        ({"messages": [{"role": "user", "content": "x"}]}, False),
        ({"conversations": [{"from": "human"}]}, False),
        ({"conversations": 5}, False),
        ([1, 2], False),
    ],
)
def test_the_list_of_messages_tells_the_format(document, is_ours):
    src = Source.of_bytes(json.dumps(document, indent=1).encode())
    assert (claude_ai.sniff(src.peek(), src) is not None) == is_ours


def test_text_is_not_ours():
    src = Source.of_bytes(b"chat_messages\n")
    assert claude_ai.sniff(src.peek(), src) is None
