import base64
import json
from datetime import UTC, datetime

import pytest

from graphstore.model.conversation import LineageKind
from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers import pi
from ingest.sniff import choose
from tests.ingest_memory import Memory

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
TWO = "bbbbbbbb-0000-4000-8000-000000000002"
AT = "2026-03-01T08:00:00.000Z"
LATE = datetime(2100, 1, 1, tzinfo=UTC)


def header(native=ONE, **more):
    return {"type": "session", "version": 3, "id": native, "timestamp": AT, "cwd": "/w/a", **more}


def entry(key, parent, kind="message", **more):
    return {"type": kind, "id": key, "parentId": parent, "timestamp": AT, **more}


def user(key, parent, content):
    return entry(key, parent, message={"role": "user", "content": content})


def agent(key, parent, *parts, stop="stop", **more):
    content = [{"type": "text", "text": one} if isinstance(one, str) else one for one in parts]
    message = {"role": "assistant", "content": content, "model": "m-1", "stopReason": stop, **more}
    return entry(key, parent, message=message)


def call(name="read", **arguments):
    return {"type": "toolCall", "id": "c", "name": name, "arguments": arguments}


def lines(*entries):
    return b"".join(json.dumps(one).encode() + b"\n" for one in entries)


def read(*entries, content=None):
    tally = Tally("f")
    found = list(pi.read(Source.of_bytes(content or lines(*entries), "f"), tally))
    for one in found:
        if isinstance(one, RawThread):
            tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def thread(*entries):
    (found,), tally = read(*entries)
    return found, tally


def words(found):
    return [(turn.role.value, *turn.blocks) for turn in found.turns]


def ingested(tmp_path, *files, **options):
    store = Memory()
    paths = []
    for name, content in enumerate(files):
        (tmp_path / f"{name}.jsonl").write_bytes(content)
        paths.append(tmp_path / f"{name}.jsonl")
    store.ingest(*paths, now=LATE, **options)
    return store


def test_a_session_has_its_head_and_its_turns():
    found, tally = thread(
        header(),
        entry("m", None, "model_change", modelId="m-0"),
        user("a", "m", "ask"),
        agent("b", "a", {"type": "thinking", "thinking": "hm"}, "answer", "and more"),
        entry("n", "b", "session_info", name="Named"),
    )
    assert words(found) == [("human", "ask"), ("assistant", "answer", "and more")]
    assert (found.native_id, found.project, found.models) == (ONE, "/w/a", ("m-0", "m-1"))
    assert (found.titles[0].kind, found.titles[0].text) == ("user", "Named")
    assert found.started_at == found.turns[0].at == datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert [(turn.key, turn.parent) for turn in found.turns] == [("a", None), ("b", "a")]
    assert tally.dispositions == {"meta": 3, "turn": 2}


def test_the_main_line_is_from_the_last_entry_up():
    found, _ = thread(
        header(),
        user("a", None, "ask"),
        agent("b", "a", "one"),
        user("c", "b", "left"),
        entry("s", "b", "branch_summary", summary="was left", fromId="c"),
        user("d", "s", "right"),
        entry("l", "d", "label", targetId="a", label="x"),
    )
    assert [(turn.key, turn.alternative) for turn in found.turns] == [
        ("a", False), ("b", False), ("c", True), ("d", False),
    ]  # fmt: skip
    assert found.turns[-1].parent == "b"
    assert [event.kind for event in found.events] == ["branch"]


def test_the_first_version_is_linear():
    old = [{"type": "message", "message": {"role": "user", "content": "ask"}},
           {"type": "message", "message": {"role": "assistant", "content": "yes"}}]  # fmt: skip
    found, _ = thread({"type": "session", "id": ONE, "cwd": "/w"}, *old)
    assert words(found) == [("human", "ask"), ("assistant", "yes")]
    assert not any(turn.alternative for turn in found.turns)
    assert found.sharing == "words"


@pytest.mark.parametrize(
    ("role", "disposition"),
    [("toolResult", "tool"), ("bashExecution", "tool"), ("custom", "injected"),
     ("hookMessage", "injected"), ("branchSummary", "meta"), ("compactionSummary", "meta")],
)  # fmt: skip
def test_other_roles_are_no_words(role, disposition):
    found, tally = thread(
        user("a", None, "ask"), entry("b", "a", message={"role": role, "content": "not words"})
    )
    assert words(found) == [("human", "ask")]
    assert tally.dispositions == {disposition: 1, "turn": 1}
    assert tally.codes == {}


def test_entries_of_extensions_and_compactions_are_no_words():
    found, tally = thread(
        header(),
        user("a", None, "ask"),
        entry("c", "a", "custom_message", content="injected"),
        entry("d", "c", "compaction", summary="so far"),
        entry("e", "d", "from_the_future", content="?"),
        entry("f", "e", message={"role": "alien"}),
        entry("g", "f", message="none"),
    )
    assert words(found) == [("human", "ask")]
    assert tally.dispositions == {"meta": 4, "injected": 1, "lost": 1, "turn": 1}
    assert tally.codes == {"unknown_record": 2, "bad_message": 1}
    assert [event.kind for event in found.events] == ["compaction"]


def test_what_is_said_on_the_way_is_interim(tmp_path):
    content = lines(
        header(),
        user("a", None, "ask"),
        agent("b", "a", "let me see", call("read", path="/w/a/x.py"), stop="toolUse"),
        entry("r", "b", message={"role": "toolResult", "toolName": "read", "content": []}),
        agent("c", "r", "then this", stop="toolUse"),
        agent("d", "c", call("bash"), stop="toolUse"),
        agent("e", "d", "the answer"),
    )
    (found,) = ingested(tmp_path, content).threads.values()
    assert [turn.text for turn in found.turns] == ["ask", "the answer"]
    tools = found.turns[1].tools
    assert [(one.name, one.count) for one in tools.counts] == [("bash", 1), ("read", 1)]
    assert tools.touched == ("x.py",)


def test_results_of_tools_are_side_turns_where_the_owner_asks_for_them(tmp_path):
    content = lines(header(), user("a", None, "ask"), entry("r", "a", message={
        "role": "toolResult", "content": [{"type": "text", "text": "found"}]}))  # fmt: skip
    (found,) = ingested(tmp_path, content, keep_context=True).threads.values()
    assert [(turn.role, turn.taint, turn.text) for turn in found.turns[1:]] == [
        ("other", "tool", "found")
    ]


def test_commands_are_no_turns(tmp_path):
    content = lines(header(), user("a", None, "/model"), user("b", "a", "ask"))
    (found,) = ingested(tmp_path, content).threads.values()
    assert [turn.text for turn in found.turns] == ["ask"]


@pytest.mark.parametrize(
    "pointer",
    [{"parentSession": f"/home/x/.pi/2026-03-01T08-00-00-000Z_{ONE}.jsonl"},
     {"branchedFrom": f"C:\\pi\\2026_{ONE}.jsonl"}],
)  # fmt: skip
def test_a_branch_in_a_file_of_its_own_is_a_fork(tmp_path, pointer):
    shared = [user("a", None, "ask"), agent("b", "a", "one")]
    parent = lines(header(), *shared, user("c", "b", "left"))
    child = lines(header(TWO, **pointer), *shared, user("d", "b", "right"))
    store = ingested(tmp_path, child, parent)
    forked = store.threads[f"pi:{TWO}"]
    (link,) = forked.lineage
    assert (link.kind, link.parent, link.split_turn) == (
        LineageKind.FORKED_FROM, f"pi:{ONE}", 2,
    )  # fmt: skip
    assert [turn.text for turn in forked.turns] == ["right"]


def test_a_parent_without_uuid_is_named_by_the_end_of_its_stem():
    found, _ = thread(header(parentSession="/x/2026_abc123.jsonl"), user("a", None, "ask"))
    assert found.pointers[0].native_id == "abc123"


def test_sessions_one_after_the_other_are_two_and_a_copied_entry_is_one():
    content = lines(header(), user("a", None, "ask"), header(TWO), user("b", None, "other"))
    found, _ = read(content=content)
    assert [(one.native_id, words(one)) for one in found] == [
        (ONE, [("human", "ask")]), (TWO, [("human", "other")]),
    ]  # fmt: skip
    half = lines(header(), user("a", None, "ask"))
    (once,), tally = read(content=half + half)
    assert words(once) == [("human", "ask")]
    assert tally.codes == {"duplicate_record": 1}
    assert tally.dispositions["duplicate"] == 2


def test_images_are_attachments_not_words():
    data = base64.b64encode(b"picture").decode()
    parts = [
        {"type": "image", "data": data, "mimeType": "image/png"},
        {"type": "text", "text": "?"},
    ]
    found, _ = thread(header(), user("a", None, parts), user("b", "a", [{"type": "image"}, 7]))
    assert [one.size for one in found.turns[0].attachments] == [7]
    assert found.turns[0].blocks == ("?",)
    assert found.turns[1].attachments[0].content_hash is None


def test_broken_parents_end_the_walk():
    found, tally = thread(header(), user("a", "b", "1"), user("b", "a", "2"))
    assert [turn.alternative for turn in found.turns] == [False, False]
    assert tally.codes == {"parent_cycle": 1}
    found, tally = thread(header(), user("a", None, "1"), user("b", "gone", "2"))
    assert [turn.alternative for turn in found.turns] == [True, False]
    assert tally.codes == {"orphan_parent": 1}


def test_a_session_read_while_it_grows_is_the_whole_at_the_end(tmp_path):
    content = lines(
        header(),
        user("a", None, "ask"),
        agent("b", "a", "let me see", call("read"), stop="toolUse"),
        entry("r", "b", message={"role": "toolResult", "content": []}),
        agent("c", "r", "one"),
        user("d", "c", "left"),
        agent("e", "d", "gone"),
        user("f", "c", "right"),
        agent("g", "f", "two"),
    )
    file = tmp_path / "0.jsonl"
    whole = ingested(tmp_path, content).told()
    fresh = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    for cut in range(1, len(content), 41):
        store = Memory()
        file.write_bytes(content[:cut])
        store.ingest(file, now=fresh)
        file.write_bytes(content)
        store.ingest(file, now=LATE)
        assert store.told() == whole, cut


def test_a_title_may_stand_before_the_header():
    found, tally = thread({"type": "title", "title": "Slot"}, header(), user("a", None, "ask"))
    assert [(one.kind, one.text) for one in found.titles] == [("native", "Slot")]
    assert tally.codes == {}


def test_a_bad_time_is_told():
    found, tally = thread(header(), user("a", None, "ask") | {"timestamp": "soon"})
    assert found.turns[0].at is None
    assert tally.codes == {"bad_timestamp": 1}


def test_it_is_known_by_its_header():
    assert choose(Source.of_bytes(lines(header(), user("a", None, "ask")), "x.bin")) is pi
    assert choose(Source.of_bytes(lines(header()), "x.bin")) is pi
    titled = lines({"title": "slot"}, header(), user("a", None, "ask"))
    assert choose(Source.of_bytes(titled, "x.bin")) is pi
    decoy = lines({"type": "message", "message": {"role": "user"}})
    assert isinstance(choose(Source.of_bytes(decoy, "x.bin")), ReadFailure)
