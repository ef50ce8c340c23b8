import json
import zipfile
from datetime import UTC, datetime

import pytest

from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers import openwebui
from ingest.readers._openwebui_words import without_details
from ingest.sniff import choose
from tests.ingest_memory import Memory

SECONDS = 1767225600
LATE = datetime(2100, 1, 1, tzinfo=UTC)


def at(number):
    return datetime(2026, 1, 1, 0, 0, number, tzinfo=UTC)


def message(key, parent, role, content, **more):
    second = int(key[1:]) if key[1:].isdigit() else 0
    return {"id": key, "parentId": parent, "childrenIds": [], "role": role, "content": content,
            "timestamp": SECONDS + second, **more}  # fmt: skip


def chat(*messages, current=None, **more):
    named = {one["id"]: one for one in messages}
    history = {"messages": named, "currentId": current or messages[-1]["id"]}
    inner = {"title": "Bridges", "models": ["m-0"], "history": history}
    return {"id": "w1", "user_id": "u", "title": "Bridges", "created_at": SECONDS,
            "updated_at": (SECONDS + 9) * 10**9, "chat": inner, **more}  # fmt: skip


def read(document, **more):
    src = Source.of_bytes(json.dumps(document).encode(), "x.json")
    for name, value in more.items():
        setattr(src, name, value)
    assert choose(src) is openwebui
    tally = Tally("f")
    found = list(openwebui.read(src, tally))
    for one in found:
        for turn in one.turns if isinstance(one, RawThread) else ():
            tally.drop("turn", turn.records)
    assert tally.balanced
    return found, tally


def words(found, *, off=False):
    return [(turn.role.value, *turn.blocks) for turn in found.turns if turn.alternative is off]


QUESTION = message("a1", None, "user", "why")


def test_the_path_runs_from_the_current_message_up():
    talk = chat(
        QUESTION,
        message("b2", "a1", "assistant", "old answer"),
        message("b3", "a1", "assistant", "new answer", model="m-1"),
        message("c4", "b3", "user", "and then"),
        message("d5", "c4", "assistant", "that"),
        current="d5",
    )
    ((found,), tally) = read([talk])
    assert words(found) == [
        ("human", "why"), ("assistant", "new answer"), ("human", "and then"), ("assistant", "that"),
    ]  # fmt: skip
    assert words(found, off=True) == [("assistant", "old answer")]
    assert [(turn.key, turn.parent) for turn in found.turns] == [
        ("a1", None), ("b3", "a1"), ("c4", "b3"), ("d5", "c4"), ("b2", "a1"),
    ]  # fmt: skip
    assert (found.native_id, found.titles[0].text, found.models) == ("w1", "Bridges", ("m-1",))
    assert (found.started_at, found.ended_at) == (at(0), at(9))
    assert found.turns[0].at == at(1)
    assert (tally.records, tally.codes) == (5, {})


@pytest.mark.parametrize("current", ["gone", 7])
def test_without_a_current_message_the_newest_leaf_ends_the_path(current):
    talk = chat(
        QUESTION,
        message("b3", "a1", "assistant", "later"),
        message("b2", "a1", "assistant", "earlier"),
        current=current,
    )
    ((found,), tally) = read([talk])
    assert words(found) == [("human", "why"), ("assistant", "later")]
    assert tally.codes == {"current_node": 1}


def test_lost_parents_and_cycles_are_cut():
    talk = chat(
        message("a1", "b2", "user", "why"),
        message("b2", "a1", "assistant", "so"),
        message("c3", "gone", "user", "and"),
        current="b2",
    )
    ((found,), tally) = read([talk])
    assert words(found) == [("human", "why"), ("assistant", "so")]
    assert words(found, off=True) == [("human", "and")]
    assert tally.codes == {"parent_cycle": 1, "orphan_parent": 1}


def test_a_parent_that_is_not_named_is_the_one_that_names_the_child():
    first = {**QUESTION, "childrenIds": ["b2", "c3", 7, "a1"]}
    second = message("b2", None, "assistant", "so")
    del second["parentId"]
    talk = chat(first, second, message("c3", "gone", "assistant", "thus"), current="c3")
    ((found,), tally) = read([talk])
    assert words(found) == [("human", "why"), ("assistant", "thus")]
    assert words(found, off=True) == [("assistant", "so")]
    assert tally.codes == {"orphan_parent": 1}


def test_a_stray_entry_named_as_current_ends_no_line():
    talk = chat(QUESTION, message("b2", "a1", "assistant", "so"))
    history = talk["chat"]["history"]
    history["messages"]["x"] = {"timestamp": SECONDS + 60, "content": ""}
    history["currentId"] = "x"
    ((found,), tally) = read([talk])
    assert words(found) == [("human", "why"), ("assistant", "so")]
    assert tally.codes == {"current_node": 1}


def test_a_plain_list_of_messages_is_a_line():
    talk = {"chat": {"id": "w2", "timestamp": SECONDS * 1000, "messages": [
        {"role": "user", "content": "why"}, {"role": "assistant", "content": "so", "id": "x"},
        {"role": "user", "content": "again", "id": "x"}, 7]}}  # fmt: skip
    ((found,), tally) = read([talk])
    assert words(found) == [("human", "why"), ("assistant", "so")]
    assert (found.native_id, found.started_at) == ("w2", at(0))
    assert tally.codes == {"bad_message": 1, "duplicate_record": 1}


def test_an_empty_tree_gives_way_to_the_list():
    talk = chat(QUESTION)
    talk["chat"]["history"]["messages"] = {}
    talk["chat"]["messages"] = [{"role": "user", "content": "why"}]
    ((found,), tally) = read([talk])
    assert words(found) == [("human", "why")]
    assert tally.codes == {}


THOUGHT = (
    '<details type="reasoning" done="true" duration="3">\n'
    "<summary>Thought</summary>\n&gt; hm\n</details>\n"
)
CALL = (
    '<details type="tool_calls" done="true" id="c1" name="search" arguments="&quot;{}&quot;"'
    ' result="&quot;&lt;b&gt;&quot;">\n<summary>Tool Executed</summary>\n</details>\n'
)
CODE = (
    '<details type="code_interpreter" done="true">\n'
    "<summary>Ran</summary>\n```py\n1\n```\n</details>\n"
)


@pytest.mark.parametrize(
    ("text", "left", "calls", "thought"),
    [
        ("plain", "plain", (), False),
        (f"{THOUGHT}answer", "answer", (), True),
        (f"{THOUGHT}{CALL}{THOUGHT}answer", "answer", (("search", 1),), True),
        (f"before\n{CALL}after", "before\n\nafter", (("search", 1),), False),
        (f"{CODE}```\n{THOUGHT}```", f"```\n{THOUGHT}```", (("code_interpreter", 1),), False),
        (f"on a line: {THOUGHT}", f"on a line: {THOUGHT}", (), False),
        ("<details>\n<summary>More</summary>\nkept\n</details>",
         "<details>\n<summary>More</summary>\nkept\n</details>", (), False),
        ('<details type="reasoning">\n<details>in</details>\n</details>answer', "answer", (), True),
        ('<details type="reasoning">\nodd <details\n</details>\nanswer', "\nanswer", (), True),
        ('<details type="reasoning">\nno end', '<details type="reasoning">\nno end', (), False),
        ("<details type=unended", "<details type=unended", (), False),
    ],
)  # fmt: skip
def test_blocks_of_reasoning_and_tools_are_taken_out(text, left, calls, thought):
    said = without_details(text)
    assert (said.text.strip(), said.calls, said.thought) == (left.strip(), calls, thought)


def test_many_blocks_cost_their_length_once():
    text = '<details type="reasoning">\n' * 20_000
    assert without_details(text).text == text
    assert without_details(THOUGHT * 5_000).text == "\n" * 5_000


def test_a_person_may_write_such_a_block():
    ((found,), _) = read([chat(message("a1", None, "user", THOUGHT))])
    assert words(found) == [("human", THOUGHT)]


def test_messages_without_words_are_counted_and_their_calls_go_to_the_next_answer():
    talk = chat(
        message("a1", None, "user", ""),
        message("b2", "a1", "assistant", CALL),
        message("c3", "b2", "assistant", THOUGHT),
        message("d4", "c3", "system", "be kind"),
        message("e5", "d4", "tool", "result"),
        message("f6", "e5", "assistant", "answer"),
        message("g7", "f6", "assistant", CALL),
        message("h8", "g7", "alien", " "),
        message("i9", "h8", "alien", "words"),
    )
    ((found,), tally) = read([talk])
    assert words(found) == [("assistant", "answer")]
    assert (found.turns[0].calls, found.tail_calls) == ((("search", 1),), (("search", 1),))
    assert found.turns[0].parent is None
    assert tally.dispositions == {
        "empty": 2, "tool": 3, "thinking": 1, "injected": 1, "lost": 1, "turn": 1,
    }  # fmt: skip


def test_words_may_stand_in_parts_or_in_the_outputs():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    outputs = [
        {"type": "reasoning", "content": [{"type": "output_text", "text": "hm"}]},
        {"type": "function_call", "name": "search"},
        {"type": "function_call"},
        {"type": "message", "content": [{"type": "output_text", "text": "so"}]},
    ]
    talk = chat(
        message("a1", None, "user", [{"type": "text", "text": "why"}, picture, 7]),
        message("b2", "a1", "assistant", "", output=outputs),
        message("c3", "b2", "assistant", None, output=outputs[:1]),
    )
    ((found,), tally) = read([talk])
    assert words(found) == [("human", "why"), ("assistant", "so")]
    assert [one.media_type for one in found.turns[0].attachments] == ["image"]
    assert found.turns[1].calls == (("search", 1), ("unnamed", 1))
    assert tally.dispositions == {"thinking": 1, "turn": 2}


def test_what_tools_gave_is_kept_above_the_answer_where_the_owner_asks_for_it():
    outputs = [
        {"type": "function_call", "name": "f"},
        {"type": "function_call_output", "output": [{"type": "input_text", "text": "given"}]},
        {"type": "message", "content": [{"text": "and"}]},
    ]
    broken = '<details type="code" output="[1">\n</details>'
    talk = chat(
        QUESTION,
        message("b2", "a1", "assistant", f"{CALL}{broken}so"),
        message("c3", "b2", "assistant", "", output=outputs),
        message("d4", "c3", "tool", "result"),
        message("e5", "d4", "assistant", CALL),
    )
    ((found,), tally) = read([talk], keep_context=True)
    assert words(found) == [
        ("human", "why"), ("other", "<b>"), ("other", "[1"), ("assistant", "\nso"),
        ("other", "given"), ("assistant", "and"), ("other", "result"), ("other", "<b>"),
    ]  # fmt: skip
    assert [(turn.key, turn.parent) for turn in found.turns[1:5]] == [
        ("b2#1", "a1"), ("b2#2", "b2#1"), ("b2", "b2#2"), ("c3#1", "b2"),
    ]  # fmt: skip
    assert {turn.taint for turn in found.turns if turn.role == "other"} == {"tool"}
    assert tally.records == 5
    ((without,), _) = read([talk])
    assert words(without) == [("human", "why"), ("assistant", "\nso"), ("assistant", "and")]


def test_text_of_attached_files_is_a_side_turn_before_the_message():
    inner = {"filename": "a.txt", "data": {"content": "the file says"}, "meta": {"size": 13}}
    files = [
        {"type": "file", "file": inner, "name": "a.txt"},
        {"type": "file", "name": "b.pdf", "size": 9, "file": {"meta": {"content_type": "pdf"}}},
    ]
    talk = chat(
        message("a1", None, "user", "why", files=files),
        message("b2", "a1", "assistant", "so"),
        message("c3", "b2", "user", "", files=files[:1]),
    )
    ((found,), tally) = read([talk])
    side = ("other", "the file says")
    assert words(found) == [side, ("human", "why"), ("assistant", "so"), side]
    assert [(turn.key, turn.parent) for turn in found.turns] == [
        ("a1#1", None), ("a1", "a1#1"), ("b2", "a1"), ("c3#1", "b2"),
    ]  # fmt: skip
    told = [
        (one.name, one.media_type, one.size) for turn in found.turns for one in turn.attachments
    ]
    assert told == [("a.txt", "file", 13), ("b.pdf", "pdf", 9), ("a.txt", "file", 13)]
    assert tally.records == 3


def test_one_bad_chat_does_not_cost_the_others():
    bad = [{"id": "w0", "chat": None}, {"chat": {"messages": 3}}, 7]
    found, tally = read([chat(QUESTION), *bad])
    failures = [one for one in found if isinstance(one, ReadFailure)]
    assert [one.where for one in failures] == [
        "w0", "x.json: conversation 3", "x.json: conversation 4",
    ]  # fmt: skip
    assert (len(found), tally.dispositions["lost"]) == (4, 3)


@pytest.mark.parametrize("inner", [{}, {"history": {}}, {"history": None, "messages": None}])
def test_a_chat_in_which_nothing_was_said_is_an_empty_thread(inner):
    found, tally = read([chat(QUESTION), {"id": "w0", "title": "New Chat", "chat": inner}])
    assert [len(one.turns) for one in found if isinstance(one, RawThread)] == [1, 0]
    assert tally.codes == {}


def test_one_chat_alone_and_a_named_list_are_read_too():
    for document in (chat(QUESTION), {"conversations": [chat(QUESTION)]}):
        ((found,), _) = read(document)
        assert words(found) == [("human", "why")]


def test_a_chat_longer_than_the_first_bytes_is_known_by_its_beginning():
    long = chat(message("a1", None, "user", "w" * 200_000), message("b2", "a1", "assistant", "so"))
    found, _ = read([long, long])
    assert [len(one.turns) for one in found if isinstance(one, RawThread)] == [2, 2]


@pytest.mark.parametrize(
    "document",
    [
        [{"chat": {"title": "no messages"}}],
        [{"chat": "words"}],
        {"chat": {"history": {}}},
        {"conversations": [{"chat": {}}]},
    ],
)
def test_what_is_no_chat_is_left_alone(document):
    found = choose(Source.of_bytes(json.dumps(document).encode(), "x.json"))
    assert isinstance(found, ReadFailure)


def test_chats_in_an_archive_keep_their_ids(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("chats.dat", json.dumps([chat(QUESTION), chat(QUESTION, id="w2")]))
    store = Memory()
    report = store.ingest(tmp_path / "x.zip", now=LATE)
    assert (sorted(store.threads), report.exit_code) == (["openwebui:w1", "openwebui:w2"], 0)


def test_a_copied_chat_shares_its_beginning_only_under_global_ids(tmp_path):
    def talk(native, prefix):
        first, second, third = (f"{prefix}{number}" for number in range(3))
        return chat(
            message(first, None, "user", "why"),
            message(second, first, "assistant", "so"),
            message(third, second, "user", f"more of {native}"),
            id=native,
        )

    for prefix, links in (("11111111-0000-4000-8000-00000000000", 1), ("m", 0)):
        file = tmp_path / f"{links}.json"
        file.write_text(json.dumps([talk("w1", prefix), talk("w2", prefix)]))
        store = Memory()
        store.ingest(file, now=LATE)
        assert sum(len(one.lineage) for one in store.threads.values()) == links
