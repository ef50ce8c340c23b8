import json
import zipfile
from datetime import UTC, datetime

import pytest

from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers import librechat
from ingest.sniff import choose
from tests.ingest_memory import Memory

ROOT = "00000000-0000-0000-0000-000000000000"
LATE = datetime(2100, 1, 1, tzinfo=UTC)


def message(key, parent, text, *children, **more):
    """One message; odd numbers are a person's."""
    mine = int(key[-1]) % 2 == 1
    told = {
        "messageId": key,
        "parentMessageId": parent,
        "text": text,
        "isCreatedByUser": mine,
        "createdAt": f"2026-01-01T00:00:0{key[-1]}.000Z",
    }
    if children:
        told["children"] = list(children)
    return {**told, **more}


def talk(*messages, under="messages", **more):
    return {"conversationId": "l1", "endpoint": "openAI", "title": "Bridges", "branches": True,
            "exportAt": "10:00:00 GMT+0000", under: list(messages), **more}  # fmt: skip


def read(document, **more):
    src = Source.of_bytes(json.dumps(document).encode(), "x.json")
    for name, value in more.items():
        setattr(src, name, value)
    assert choose(src) is librechat
    tally = Tally("f")
    found = list(librechat.read(src, tally))
    for one in found:
        for turn in one.turns if isinstance(one, RawThread) else ():
            tally.drop("turn", turn.records)
    assert tally.balanced
    return found, tally


def words(found, *, off=False):
    return [(turn.role.value, *turn.blocks) for turn in found.turns if turn.alternative is off]


NESTED = talk(
    message("m1", ROOT, "why", message("m2", "m1", "so"),
            message("m4", "m1", "thus", message("m5", "m4", "and"))),
    under="messagesTree",
)  # fmt: skip
FLAT = talk(
    message("m1", ROOT, "why"), message("m2", "m1", "so"), message("m4", "m1", "thus"),
    message("m5", "m4", "and"),
)  # fmt: skip
BARE = json.loads(json.dumps(NESTED).replace('"parentMessageId"', '"p"'))


@pytest.mark.parametrize("document", [NESTED, FLAT, BARE])
def test_the_path_ends_at_the_newest_leaf_however_the_tree_is_written(document):
    ((found,), tally) = read(document)
    assert words(found) == [("human", "why"), ("assistant", "thus"), ("human", "and")]
    assert words(found, off=True) == [("assistant", "so")]
    assert [(turn.key, turn.parent) for turn in found.turns] == [
        ("m1", None), ("m4", "m1"), ("m5", "m4"), ("m2", "m1"),
    ]  # fmt: skip
    assert (found.native_id, found.titles[0].text) == ("l1", "Bridges")
    assert found.turns[0].at == datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert (tally.records, tally.codes) == (4, {})


def test_a_list_without_parents_is_a_line():
    lines = [message(f"m{number}", None, f"t{number}") for number in (1, 2, 3)]
    for one in lines:
        del one["parentMessageId"]
    ((found,), tally) = read(talk(*lines))
    assert [turn.blocks for turn in found.turns] == [("t1",), ("t2",), ("t3",)]
    assert (words(found, off=True), tally.codes) == ([], {})


def test_a_missing_parent_leaves_a_message_behind_the_one_before_it():
    lines = (message("m1", "gone", "why"), message("m2", "m1", "so"), message("m3", "lost", "and"))
    ((found,), tally) = read(talk(*lines))
    assert words(found) == [("human", "why"), ("assistant", "so"), ("human", "and")]
    assert found.turns[2].parent == "m2"
    assert tally.codes == {"orphan_parent": 2}


@pytest.mark.parametrize("root", [ROOT, "", None])
def test_an_edited_first_message_is_another_root(root):
    lines = (message("m1", root, "whi"), message("m2", "m1", "so"), message("m3", root, "why"))
    ((found,), tally) = read(talk(*lines))
    assert words(found) == [("human", "why")]
    assert words(found, off=True) == [("human", "whi"), ("assistant", "so")]
    assert tally.codes == {}


def test_cycles_are_cut_and_copies_counted():
    lines = (
        message("m1", "m2", "why"), message("m2", "m1", "so"),
        message("m2", "m1", "so"), message("m2", "m1", "so it is"),
    )  # fmt: skip
    ((found,), tally) = read(talk(*lines))
    assert sorted(turn.blocks[0] for turn in found.turns) == ["so", "so it is", "why"]
    assert tally.codes == {"parent_cycle": 1, "duplicate_record": 1, "duplicate_uuid": 1}
    assert len({turn.key for turn in found.turns}) == 3


PARTS = [
    {"type": "think", "think": "hm"},
    {"type": "text", "text": "first"},
    {"type": "tool_call", "tool_call": {"name": "search", "args": "{}", "output": "x"}},
    {"type": "tool_call", "tool_call": {"type": "function", "function": {"name": "draw"}}},
    {"type": "tool_call", "tool_call": {"type": "code_interpreter"}},
    {"type": "tool_call"},
    {"type": "image_file", "image_file": {"file_id": "f"}},
    {"type": "text", "text": {"value": "second"}},
    {"type": "text", "text": {"value": 3}},
    {"type": "error", "error": "no"},
    {"type": ["odd"]},
    7,
]


def test_words_are_text_or_else_parts():
    parts = message("m2", "m1", "", content=PARTS)
    both = message("m4", "m3", "the text", content=PARTS[:2])
    lines = (message("m1", ROOT, "why"), parts, message("m3", "m2", "and"), both)
    ((found,), tally) = read(talk(*lines))
    assert words(found) == [
        ("human", "why"), ("assistant", "first", "second"), ("human", "and"),
        ("assistant", "the text"),
    ]  # fmt: skip
    assert found.turns[1].calls == (
        ("search", 1), ("draw", 1), ("code_interpreter", 1), ("unnamed", 1),
    )  # fmt: skip
    assert [one.media_type for one in found.turns[1].attachments] == ["image"]
    assert tally.codes == {"unknown_content": 1}


def test_what_tools_gave_is_kept_above_the_answer_where_the_owner_asks_for_it():
    lines = (
        message("m1", ROOT, "why"),
        message("m2", "m1", "so", content=PARTS),
        message("m4", "m2", "", content=PARTS[2:3]),
    )
    ((found,), tally) = read(talk(*lines), keep_context=True)
    assert words(found) == [
        ("human", "why"), ("other", "x"), ("assistant", "so"), ("other", "x"),
    ]  # fmt: skip
    assert [(turn.key, turn.parent) for turn in found.turns] == [
        ("m1", None), ("m2#1", "m1"), ("m2", "m2#1"), ("m4#1", "m2"),
    ]  # fmt: skip
    assert (tally.records, found.turns[1].taint) == (3, "tool")


def test_messages_without_words_are_counted_by_what_they_hold():
    lines = (
        message("m1", ROOT, " "),
        message("m2", "m1", "", content=PARTS[:1]),
        message("m4", "m2", "", content=PARTS[2:3]),
        message("m6", "m4", '{"type": "rate_limit"}', error=True),
        message("m8", "m6", ":::thinking\nhm\n:::\n"),
        "words",
    )
    ((found,), tally) = read(talk(*lines))
    assert (found.turns, found.tail_calls) == ([], (("search", 1),))
    assert tally.dispositions == {"empty": 1, "thinking": 2, "tool": 1, "meta": 1, "lost": 1}
    assert tally.codes == {"bad_message": 1}


def test_thoughts_written_into_an_answer_are_taken_out():
    thought = ":::thinking\nfirst this\n:::\n\nso"
    ((found,), _) = read(talk(message("m1", ROOT, thought), message("m2", "m1", thought)))
    assert [turn.blocks[0].strip() for turn in found.turns] == [thought, "so"]


@pytest.mark.parametrize(
    ("told", "role"),
    [({"isCreatedByUser": True}, "human"), ({"sender": "User"}, "human"),
     ({"sender": "Claude"}, "assistant"),
     ({"isCreatedByUser": "yes", "sender": "user"}, "human"), ({}, "assistant")],
)  # fmt: skip
def test_who_spoke_is_told_by_the_mark_or_by_the_name(told, role):
    ((found,), _) = read(talk({"messageId": "m1", "text": "words", **told}))
    assert words(found) == [(role, "words")]


def test_facts_beside_the_words():
    files = [{"filename": "a.png", "type": "image/png", "bytes": 12}, {"bytes": -1}]
    lines = (message("m1", ROOT, "why", files=files), message("m2", "m1", "so", createdAt="soon"))
    given = talk(*lines, options={"model": "m-0"}, createdAt="2026-01-01T00:00:00Z")
    ((found,), tally) = read(given)
    told = [(one.name, one.media_type, one.size) for one in found.turns[0].attachments]
    assert told == [("a.png", "image/png", 12), (None, None, None)]
    assert (found.models, found.started_at) == (("m-0",), datetime(2026, 1, 1, tzinfo=UTC))
    assert tally.codes == {"bad_timestamp": 1}
    ((named,), _) = read(talk(message("m2", ROOT, "so", model="m-1", unfinished=True)))
    assert (named.models, named.turns[0].stopped) == (("m-1",), False)


def test_one_message_may_stand_without_a_list():
    only = message("m1", ROOT, "why", message("m2", "m1", "so"))
    ((found,), _) = read({**talk(), "messages": only})
    assert words(found) == [("human", "why"), ("assistant", "so")]


def test_a_conversation_in_which_nothing_was_said_is_an_empty_thread():
    said: tuple[object, ...] = ([], None)
    for nothing in said:
        ((found,), tally) = read({**talk(), "messages": nothing})
        assert (found.native_id, found.turns, tally.records) == ("l1", [], 0)


def test_a_conversation_without_a_list_is_lost():
    ((failure,), tally) = read({**talk(), "messages": "words"})
    assert isinstance(failure, ReadFailure)
    assert (failure.where, failure.code, tally.records) == ("l1", "bad_conversation", 1)


def test_a_deep_tree_is_gone_through_and_one_too_deep_is_told():
    def deep(levels):
        told = message("m1", ROOT, "end")
        for number in range(levels):
            told = {**message("m1", ROOT, "t"), "messageId": f"k{number}", "children": [told]}
        return json.dumps(talk(told)).encode()

    (found,) = librechat.read(Source.of_bytes(deep(200)), Tally())
    assert isinstance(found, RawThread)
    assert len(found.turns) == 201
    tally = Tally()
    assert list(librechat.read(Source.of_bytes(deep(300)), tally)) == []
    assert tally.codes == {"bad_json": 1}


@pytest.mark.parametrize("document", [{"conversationId": "l1"}, [talk()], {"messages": []}])
def test_what_is_no_export_is_left_alone(document):
    src = Source.of_bytes(json.dumps(document).encode(), "x.json")
    assert librechat.sniff(src.peek(), src) is None


def test_exports_in_an_archive_keep_their_ids(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("one.txt", json.dumps(FLAT, indent=1))
        archive.writestr("two.txt", json.dumps({**NESTED, "conversationId": "l2"}))
    store = Memory()
    report = store.ingest(tmp_path / "x.zip", now=LATE)
    assert (sorted(store.threads), report.exit_code) == (["librechat:l1", "librechat:l2"], 0)
    one, two = (store.threads[f"librechat:{name}"] for name in ("l1", "l2"))
    assert [turn.fingerprint for turn in one.turns] == [turn.fingerprint for turn in two.turns]
    assert one.path == two.path == (1, 3, 4)
