import base64
import json
from datetime import UTC, datetime

import pytest

from graphstore.model.conversation import Role
from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers.generic import read


def given(content):
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    tally = Tally("x")
    found = list(read(Source.of_bytes(raw), tally))
    held = sum(turn.records for one in found if isinstance(one, RawThread) for turn in one.turns)
    assert tally.records == held + sum(tally.dispositions.values())
    return found, tally


def lines(*values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def said(thread):
    return [(turn.role, turn.blocks) for turn in thread.turns]


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("user", Role.HUMAN),
        ("Human", Role.HUMAN),
        ("gpt", Role.ASSISTANT),
        ("chatgpt", Role.ASSISTANT),
        ("model", Role.ASSISTANT),
        ("narrator", Role.OTHER),
    ],
)
def test_roles_are_known_by_many_names(name, role):
    (thread,), _ = given([{"conversations": [{"from": name, "value": "hi"}]}])
    assert said(thread) == [(role, ("hi",))]
    assert thread.turns[0].speaker == (name if role is Role.OTHER else None)


@pytest.mark.parametrize(
    ("name", "disposition"),
    [("system", "injected"), ("developer", "injected"), ("tool", "tool"), ("observation", "tool")],
)
def test_what_is_no_talk_is_counted_as_what_it_is(name, disposition):
    (thread,), tally = given({"messages": [{"role": name, "content": "x"}]})
    assert (thread.turns, tally.dispositions) == ([], {disposition: 1})


def test_calls_stay_with_their_message():
    call = {"function": {"name": "f"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call, {}, "x"]}
    (thread,), _ = given({"messages": [message]})
    assert thread.turns[0].calls == (("f", 1), ("unnamed", 1), ("unnamed", 1))


def test_parts_are_texts_and_files():
    data = "data:image/png;base64," + base64.b64encode(b"picture").decode()
    parts = [
        "one",
        {"type": "text", "text": "two"},
        {"text": "three"},
        {"type": "image_url", "image_url": {"url": data}},
        {"type": "image_url", "image_url": "https://x/y.png"},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:;base64,x"}},
        {"type": "input_audio", "input_audio": {}},
        {"type": "new"},
        7,
    ]
    (thread,), tally = given({"messages": [{"role": "user", "content": parts}]})
    (turn,) = thread.turns
    assert turn.blocks == ("one", "two", "three")
    told = [(one.name, one.media_type, one.size) for one in turn.attachments]
    assert told == [
        (None, "image/png", 7),
        ("https://x/y.png", None, None),
        ("a.pdf", None, None),
        (None, None, None),
    ]
    assert tally.codes == {"unknown_content": 1}


def test_flat_lines_are_one_growing_thread():
    (thread,), _ = given(
        lines(
            {"role": "user", "content": "Q", "timestamp": 1756000000},
            {"role": "gpt", "content": "A"},
        )
    )
    assert (thread.growing, thread.native_id) == (True, None)
    assert thread.turns[0].at == datetime(2025, 8, 24, 1, 46, 40, tzinfo=UTC)
    assert [turn.line for turn in thread.turns] == [1, 2]


@pytest.mark.parametrize(("native", "told"), [("a", "a"), (7, "7"), ("", None), (None, None)])
def test_a_conversation_may_be_named(native, told):
    talk = {"messages": [{"role": "user", "content": "Q", "id": "k"}], "title": "T"}
    (thread,), _ = given(lines({**talk, "conversation_id": native}, {"x": 1})[:-1])[0][:1], None
    assert (thread.native_id, thread.titles[0].text, thread.turns[0].key) == (told, "T", "k")


def test_bad_records_cost_only_themselves():
    found, tally = given(
        lines(
            {"messages": ["x", {"content": "y"}, {"role": "user", "content": "Q"}]}, {"x": 1}, [1]
        )
    )
    assert said(found[0]) == [(Role.HUMAN, ("Q",))]
    assert found[1] == ReadFailure("x:2", "bad_conversation")
    assert tally.codes == {"bad_message": 2, "not_an_object": 1}
    assert tally.dispositions == {"lost": 4}
    _, tally = given([7])
    assert tally.codes == {"not_an_object": 1}


def test_an_empty_conversation_is_one_without_turns():
    (thread,), tally = given({"messages": []})
    assert (thread.turns, tally.records) == ([], 0)


def test_bad_times_are_told():
    _, tally = given({"messages": [{"role": "user", "content": "Q", "timestamp": "soon"}]})
    assert tally.codes == {"bad_timestamp": 1}
