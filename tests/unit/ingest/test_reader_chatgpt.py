import json
from datetime import UTC, datetime

import pytest

from graphstore.model.conversation import Attachment, Role, Taint
from ingest.model import RawThread, ReadFailure, Source, Tally, TitleCandidate
from ingest.readers import chatgpt

UUIDS = [f"{n}1111111-2222-4333-8444-555555555555" for n in range(4)]


def message(role="user", text="words", **more):
    told = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}}
    return {**told, "create_time": 1756000000.5, "recipient": "all", "metadata": {}, **more}


def talk(*messages, **more):
    """A chain of messages with keys m1, m2 ..., the last one current."""
    mapping = {"root": {"id": "root", "parent": None, "message": None}}
    for n, one in enumerate(messages, start=1):
        mapping[f"m{n}"] = {"parent": f"m{n - 1}" if n > 1 else "root", "message": one}
    return {"id": "c1", "current_node": f"m{len(messages)}", "mapping": mapping, **more}


def read(document, **source):
    src = Source.of_bytes(json.dumps(document).encode(), "export.json")
    for key, value in source.items():
        setattr(src, key, value)
    tally = Tally("export.json")
    found = list(chatgpt.read(src, tally))
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


def test_a_conversation_has_its_head_and_its_turns():
    found, tally = thread(
        message("user", "Ask"),
        message("assistant", "Answer", metadata={"model_slug": "m-4"}),
        title="A talk",
        create_time=1756000000.1,
        update_time=1756000100,
        conversation_id="c9",
    )
    assert (found.source, found.native_id, found.native_ids) == ("chatgpt", "c9", ("c9",))
    assert (found.tree, found.agent, found.rank, found.models) == (True, False, 2, ("m-4",))
    assert found.titles == (TitleCandidate("native", "A talk"),)
    assert found.ended_at == datetime(2025, 8, 24, 1, 48, 20, tzinfo=UTC)
    assert words(found) == [("human", "Ask"), ("assistant", "Answer")]
    assert [(turn.key, turn.parent) for turn in found.turns] == [("m1", None), ("m2", "m1")]
    assert found.turns[0].at == datetime(2025, 8, 24, 1, 46, 40, 500000, tzinfo=UTC)
    assert tally.codes == {}
    assert tally.dispositions["meta"] == 1


@pytest.mark.parametrize("wrap", [lambda t: [t], lambda t: t, lambda t: {"conversations": [t]}])
def test_every_wrapping_is_read(wrap):
    (found,), _ = read(wrap(talk(message())))
    assert found.native_id == "c1"


def test_the_place_of_a_turn_is_its_conversation():
    document = [talk(message(text="\u00e9")), talk(message())]
    raw = json.dumps(document).encode()
    found, _ = read(document)
    for one, whole in zip(found, document, strict=True):
        turn = one.turns[0]
        assert json.loads(raw[turn.offset :][: turn.length]) == whole


def test_the_main_line_goes_up_from_the_current_node():
    mapping = {
        "u1": {"parent": None, "message": message("user", "Ask")},
        "old": {"parent": "u1", "message": message("assistant", "Old", create_time=1756000009)},
        "new": {"parent": "u1", "message": message("assistant", "New")},
        "u2": {"parent": "new", "message": message("user", "Go on")},
    }
    (found,), tally = read({"id": "c", "current_node": "u2", "mapping": mapping})
    main = [turn.key for turn in found.turns if not turn.alternative]
    off = [(turn.key, turn.parent) for turn in found.turns if turn.alternative]
    assert (main, off, tally.codes) == (["u1", "new", "u2"], [("old", "u1")], {})


@pytest.mark.parametrize("current", [None, "gone", 7])
def test_without_a_current_node_the_latest_leaf_ends_the_main_line(current):
    mapping = {
        "u1": {"parent": None, "message": message("user", "Ask")},
        "a": {"parent": "u1", "message": message("assistant", "A", create_time=1756000005)},
        "b": {"parent": "u1", "message": message("assistant", "B", create_time=1756000009)},
        "c": {"parent": "u1", "message": message("assistant", "C", create_time=None)},
    }
    (found,), tally = read({"id": "c", "current_node": current, "mapping": mapping})
    assert [turn.key for turn in found.turns if not turn.alternative] == ["u1", "b"]
    assert tally.codes == {"current_node": 1}


def test_of_leaves_of_one_time_the_deepest_then_the_greatest_id_wins():
    mapping = {
        "u1": {"parent": None, "message": message()},
        "z": {"parent": "u1", "message": message()},
        "b": {"parent": "u1", "message": message()},
        "c1": {"parent": "b", "message": message()},
        "c2": {"parent": "b", "message": message()},
    }
    (found,), _ = read({"id": "c", "mapping": mapping})
    assert [turn.key for turn in found.turns if not turn.alternative] == ["u1", "b", "c2"]


def test_a_cycle_of_parents_is_cut_and_all_reached_is_kept():
    mapping = {
        "x": {"parent": "y", "message": message("user", "Loop?")},
        "y": {"parent": "x", "message": message("assistant", "Loop!")},
    }
    (found,), tally = read({"id": "c", "current_node": "y", "mapping": mapping})
    assert words(found) == [("human", "Loop?"), ("assistant", "Loop!")]
    assert tally.codes == {"parent_cycle": 1}


def test_parents_are_taken_from_children_where_they_are_not_told():
    mapping = {
        "u1": {"children": ["a1", 5], "message": message("user", "Ask")},
        "a1": {"message": message("assistant", "Answer")},
    }
    (found,), _ = read({"id": "c", "current_node": "a1", "mapping": mapping})
    assert [(turn.key, turn.alternative) for turn in found.turns] == [("u1", False), ("a1", False)]


def test_a_parent_passes_over_what_gave_no_turn():
    found, _ = thread(
        message(), message("tool", "out"), message("system", "s"), message("assistant")
    )
    assert [(turn.key, turn.parent) for turn in found.turns] == [("m1", None), ("m4", "m1")]


@pytest.mark.parametrize(
    ("one", "disposition"),
    [
        (message("system", "rules"), "injected"),
        (message("system", "mine", metadata={"is_user_system_message": True}), "injected"),
        (message(metadata={"is_visually_hidden_from_conversation": True}), "injected"),
        (message("tool", "result"), "tool"),
        (message("assistant", "query", recipient="browser"), "tool"),
        (message("assistant", "why", channel="analysis"), "thinking"),
        (message("assistant", content={"content_type": "thoughts", "thoughts": []}), "thinking"),
        (message("assistant", content={"content_type": "reasoning_recap"}), "thinking"),
        (message("assistant", content={"content_type": "system_error", "text": "x"}), "meta"),
        (message(content={"content_type": "user_editable_context", "text": "x"}), "injected"),
        (message("assistant", content={"content_type": "tether_quote", "text": "x"}), "tool"),
        (message("tool", content={"content_type": "execution_output", "text": "4"}), "tool"),
        (
            message("assistant", recipient=None, content={"content_type": "code", "text": "2+2"}),
            "tool",
        ),
        (message(text="  \n"), "empty"),
        (message("assistant", text=""), "empty"),
        (message(content=None), "empty"),
        (message(content={"content_type": "multimodal_text", "parts": [None]}), "empty"),
        (message(author=None, content=None), "empty"),
        ({}, "empty"),
    ],
)
def test_what_is_no_turn_is_disposed_of(one, disposition):
    found, tally = thread(message(), one)
    assert len(found.turns) == 1
    assert (tally.dispositions[disposition], tally.codes) == (1 + (disposition == "meta"), {})


@pytest.mark.parametrize(
    ("one", "blocks"),
    [
        (message(text="text"), ("text",)),
        (message(content="plain"), ("plain",)),
        (message(content={"parts": ["no type"]}), ("no type",)),
        (message(weight=0), ("words",)),
        (message(content={"content_type": "text", "parts": ["one", "", "two"]}), ("one", "two")),
        (
            message(
                content={
                    "content_type": "multimodal_text",
                    "parts": [
                        {"content_type": "audio_transcription", "text": "spoken"},
                        {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://f"},
                        None,
                        "typed",
                    ],
                }
            ),
            ("spoken", "typed"),
        ),
        (message("assistant", content={"content_type": "code", "text": "x = 1"}), ("x = 1",)),
        (message("assistant", channel="final"), ("words",)),
        (message("assistant", recipient=None), ("words",)),
    ],
)
def test_what_is_said_is_a_turn(one, blocks):
    found, tally = thread(one)
    assert [turn.blocks for turn in found.turns] == [blocks]
    assert tally.codes == {}


def test_an_unknown_kind_of_content_is_noted():
    found, tally = thread(
        message(), message("assistant", content={"content_type": "new", "text": "x"})
    )
    assert len(found.turns) == 1
    assert (tally.codes, tally.dispositions["empty"]) == ({"unknown_content": 1}, 1)


def test_tool_calls_count_to_the_next_answer():
    found, _ = thread(
        message(),
        message("assistant", "q", recipient="browser"),
        message("tool", "r"),
        message("assistant", "q", recipient="browser"),
        message("assistant", "Answer"),
        message("assistant", "q", recipient="python"),
    )
    assert found.turns[1].calls == (("browser", 1), ("browser", 1))
    assert found.tail_calls == (("python", 1),)


def test_commentary_is_marked_as_not_final():
    found, _ = thread(
        message(), message("assistant", "On it", channel="commentary"), message("assistant", "Done")
    )
    assert found.agent
    assert [turn.final for turn in found.turns] == [None, False, True]


def test_files_and_pointers_are_attachments():
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"},
        {
            "content_type": "image_asset_pointer",
            "asset_pointer": "file-service://file-2",
            "size_bytes": 9,
        },
        "look",
    ]
    files = [{"id": "file-1", "name": "cat.png", "mime_type": "image/png", "size": 5}, "odd"]
    found, _ = thread(
        message(
            content={"content_type": "multimodal_text", "parts": parts},
            metadata={"attachments": files},
        )
    )
    assert found.turns[0].attachments == (
        Attachment(name="cat.png", media_type="image/png", size=5),
        Attachment(name="file-service://file-2", media_type="image", size=9),
    )


def test_context_is_kept_only_when_asked_for():
    messages = [
        message(),
        message("tool", "output"),
        message("tool", content={"content_type": "tether_quote", "text": "page"}),
    ]
    (found,), tally = read(talk(*messages), keep_context=True)
    assert [(turn.role, turn.taint) for turn in found.turns[1:]] == [
        (Role.OTHER, Taint.TOOL),
        (Role.OTHER, Taint.WEB),
    ]
    assert "tool" not in tally.dispositions


@pytest.mark.parametrize("title", [None, "", "  ", 5])
def test_no_title_is_offered_where_there_is_none(title):
    assert thread(message(), title=title)[0].titles == ()


@pytest.mark.parametrize("value", [None, "", "absent"])
def test_an_absent_time_is_unknown(value):
    found, tally = thread(
        message(create_time=None), **({} if value == "absent" else {"create_time": value})
    )
    assert (found.started_at, found.turns[0].at, tally.codes) == (None, None, {})


def test_a_bad_time_is_unknown_and_counted():
    found, tally = thread(message(create_time=12), create_time=True)
    assert (found.started_at, found.turns[0].at) == (None, None)
    assert tally.places == {"bad_timestamp": ["c1", "c1"]}


@pytest.mark.parametrize("bad", [5, None, {"title": "no mapping"}, {"mapping": []}, []])
def test_a_conversation_without_mapping_fails_alone(bad):
    found, tally = read([bad, talk(message())])
    assert isinstance(found[0], ReadFailure)
    assert found[0].code == "bad_conversation"
    assert found[1].native_id == "c1"
    assert tally.dispositions["lost"] == 1


def test_nodes_and_messages_of_another_shape_are_lost_one_by_one():
    mapping = {"a": 5, "b": {"message": "text"}, "c": {"message": message()}}
    nameless = {"message": message(author=None)}
    (found,), tally = read({"id": "c", "current_node": "c", "mapping": {**mapping, "d": nameless}})
    assert len(found.turns) == 1
    assert tally.codes == {"bad_message": 3}


def test_a_conversation_without_messages_is_an_empty_thread():
    (found,), tally = read({"id": "c", "mapping": {"root": {"message": None}}})
    assert (found.turns, tally.codes, tally.records) == ([], {}, 1)


def test_nodes_over_the_bound_are_lost(monkeypatch):
    monkeypatch.setattr(chatgpt, "NODES", 2)
    found, tally = thread(message(), message(), message())
    assert len(found.turns) == 1
    assert tally.codes["bad_message"] == 2


def test_prefixes_are_looked_for_among_global_ids_only():
    assert thread(message())[0].sharing == "none"
    mapping = {key: {"parent": None, "message": message()} for key in UUIDS[:1]}
    (found,), _ = read({"id": "c", "current_node": UUIDS[0], "mapping": mapping})
    assert found.sharing == "keys"


def test_a_conversation_without_id_has_none():
    document = talk(message())
    del document["id"]
    (found,), _ = read(document)
    assert (found.native_id, found.native_ids) == (None, ())


@pytest.mark.parametrize(
    ("document", "is_ours"),
    [
        ([talk(message())], True),
        (talk(message()), True),
        ({"conversations": [talk(message())]}, True),
        ([{"title": "T"}, talk(message())], True),
        ([{"chat_messages": []}], False),
        ({"conversations": [{"from": "human"}]}, False),
        ({"conversations": 5}, False),
        ({"a": 1}, False),
        ([1, 2], False),
    ],
)
def test_mapping_tells_the_format(document, is_ours):
    src = Source.of_bytes(json.dumps(document, indent=1).encode())
    assert (chatgpt.sniff(src.peek(), src) is not None) == is_ours


def test_text_is_not_ours():
    src = Source.of_bytes(b"# mapping\n")
    assert chatgpt.sniff(src.peek(), src) is None


def test_a_part_whose_type_is_no_word_is_no_text():
    parts = [{"content_type": ["text"], "text": "x"}, "words"]
    message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": parts}}
    talk = {"id": "c", "mapping": {"a": {"id": "a", "message": message}}, "current_node": "a"}
    (thread,) = read([talk])[0]
    assert [turn.blocks for turn in thread.turns] == [("words",)]
