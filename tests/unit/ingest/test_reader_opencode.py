import json
import sqlite3
import zipfile
from datetime import UTC, datetime
from typing import Any

import pytest

from graphstore.model.conversation import LineageKind, Role
from ingest.archives import members
from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers import opencode
from ingest.sniff import choose
from ingest.walk import Found, find
from tests.ingest_memory import Memory

MS = 1767225600000
AT = datetime(2026, 1, 1, tzinfo=UTC)
LATE = datetime(2100, 1, 1, tzinfo=UTC)
INDEX = "CREATE INDEX part_message ON part(message_id)"


class Kept:
    """Sessions, written as tables or as a tree of files."""

    def __init__(self):
        self.held: dict[str, list[dict[str, Any]]] = {"session": [], "message": [], "part": []}
        self.clock = MS

    def session(self, key, parent=None, title="Titled", folder="/w/a"):
        self.held["session"].append(
            {"id": key, "parentID": parent, "directory": folder, "title": title,
             "time": {"created": MS, "updated": MS}}
        )  # fmt: skip
        return self

    def say(self, session, key, role, *parts, **more):
        self.clock += 1000
        value = {"role": role, "time": {"created": self.clock}, **more}
        self.held["message"].append({"id": key, "of": session, "value": value})
        for number, part in enumerate(parts):
            told = {"type": "text", "text": part} if isinstance(part, str) else part
            name = f"prt_{key}_{number}"
            self.held["part"].append({"id": name, "of": key, "session": session, "value": told})
        return self

    def tables(self, folder, *extra):
        file = folder / "opencode.db"
        connection = sqlite3.connect(file)
        connection.executescript("""
        CREATE TABLE session(id text primary key, parent_id text, directory text, title text,
          time_created integer);
        CREATE TABLE message(id text primary key, session_id text, time_created integer, data text);
        CREATE TABLE part(id text primary key, message_id text, session_id text,
          time_created integer, data text);
        """)
        for one in self.held["session"]:
            row = (one["id"], one["parentID"], one["directory"], one["title"], MS)
            connection.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", row)
        for one in reversed(self.held["message"]):
            made = one["value"]["time"]["created"]
            told = (one["id"], one["of"], made, json.dumps(one["value"]))
            connection.execute("INSERT INTO message VALUES (?, ?, ?, ?)", told)
        for one in reversed(self.held["part"]):
            part = (one["id"], one["of"], one["session"], MS, json.dumps(one["value"]))
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", part)
        for statement in extra:
            connection.execute(statement)
        connection.commit()
        connection.close()
        return file

    def tree(self, folder):
        root = folder / "opencode" / "storage"
        for kind in self.held:
            (root / kind).mkdir(parents=True)
        for one in self.held["session"]:
            put(root / "session" / "project" / f"{one['id']}.json", one)
        for one in self.held["message"]:
            put(root / "message" / one["of"] / f"{one['id']}.json", one["value"])
        for one in self.held["part"]:
            put(root / "part" / one["of"] / f"{one['id']}.json", one["value"])
        return root


def put(file, value):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value))


def tool(name="read", **state):
    return {"type": "tool", "tool": name, "state": {"status": "completed", **state}}


def read(path):
    (src,) = [one for one in find((str(path),), Found()) if isinstance(one, Source)]
    tally = Tally("f")
    found = list(opencode.read(src, tally))
    for one in found:
        if isinstance(one, RawThread):
            tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def words(found):
    return [(turn.role.value, *turn.blocks) for turn in found.turns if turn.blocks]


@pytest.fixture(params=["tables", "indexed", "tree"])
def written(request, tmp_path):
    """Both storages must tell the same."""

    def write(kept):
        if request.param == "tree":
            return kept.tree(tmp_path)
        return kept.tables(tmp_path, *([INDEX] if request.param == "indexed" else ()))

    return write


def test_words_are_text_that_somebody_wrote(written):
    kept = Kept().session("ses_1")
    kept.say("ses_1", "msg_1", "user", "ask", {"type": "text", "text": "put in", "synthetic": True},
             "and more", {"type": "text", "text": "not this", "ignored": True})  # fmt: skip
    kept.say("ses_1", "msg_2", "assistant", {"type": "step-start"},
             {"type": "reasoning", "text": "hm"}, "answer", {"type": "step-finish"},
             modelID="m-1", finish="stop")  # fmt: skip
    ((found,), tally) = read(written(kept))
    assert words(found) == [("human", "ask", "and more"), ("assistant", "answer")]
    assert (found.native_id, found.project, found.models) == ("ses_1", "/w/a", ("m-1",))
    assert (found.titles[0].text, found.started_at) == ("Titled", AT)
    assert found.turns[0].at == datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert [turn.key for turn in found.turns] == ["msg_1", "msg_2"]
    assert tally.dispositions == {"injected": 2, "meta": 2, "thinking": 1, "turn": 5}
    assert tally.codes == {}


def test_messages_without_words_are_counted_by_what_they_hold(written):
    kept = Kept().session("ses_1")
    kept.say("ses_1", "msg_1", "user", {"type": "text", "text": "put in", "synthetic": True})
    kept.say("ses_1", "msg_2", "assistant", {"type": "reasoning", "text": "hm"})
    kept.say("ses_1", "msg_3", "assistant", "  ")
    kept.say("ses_1", "msg_4", "assistant", error={"name": "MessageAbortedError"})
    ((found,), tally) = read(written(kept))
    assert found.turns == []
    assert tally.dispositions == {"injected": 2, "thinking": 2, "empty": 3, "turn": 0}


def test_what_is_said_on_the_way_is_interim(written):
    kept = Kept().session("ses_1").say("ses_1", "msg_1", "user", "ask")
    kept.say("ses_1", "msg_2", "assistant", "let me see", tool(input={"filePath": "/w/a/x.py"}))
    kept.say("ses_1", "msg_3", "assistant", "and then")
    kept.say("ses_1", "msg_4", "assistant", tool("bash"))
    kept.say("ses_1", "msg_5", "assistant", "the answer")
    store = Memory()
    store.ingest(written(kept), now=LATE)
    turns = store.threads["opencode:ses_1"].turns
    assert [turn.text for turn in turns] == ["ask", "the answer"]
    counts = [(one.name, one.count) for one in turns[1].tools.counts]
    assert (counts, turns[1].tools.touched) == ([("bash", 1), ("read", 1)], ("x.py",))


def test_results_of_tools_are_side_turns_where_the_owner_asks_for_them(written):
    kept = Kept().session("ses_1").say("ses_1", "msg_1", "user", "ask")
    kept.say("ses_1", "msg_2", "assistant", "answer", tool(output="found"))
    store = Memory()
    store.ingest(written(kept), now=LATE, keep_context=True)
    side = [one for one in store.threads["opencode:ses_1"].turns if one.role is Role.OTHER]
    assert [(one.text, one.taint) for one in side] == [("found", "tool")]


def test_a_child_session_belongs_to_the_question_it_was_spawned_for(written):
    kept = Kept().session("ses_1").session("ses_2", parent="ses_1", title="Child")
    kept.say("ses_1", "msg_1", "user", "first").say("ses_1", "msg_2", "assistant", "one")
    kept.say("ses_1", "msg_3", "user", "second")
    kept.say("ses_1", "msg_4", "assistant", tool("task", metadata={"sessionId": "ses_2"}))
    kept.say("ses_2", "msg_5", "user", "delegated").say("ses_2", "msg_6", "assistant", "done")
    store = Memory()
    store.ingest(written(kept), now=LATE)
    child = store.threads["opencode:ses_2"]
    (link,) = child.lineage
    assert (link.kind, link.parent, link.split_turn) == (
        LineageKind.SUBAGENT_OF, "opencode:ses_1", 3,
    )  # fmt: skip
    assert [turn.role for turn in child.turns] == ["other", "assistant"]


def test_files_are_attachments_and_summaries_are_events(written):
    kept = Kept().session("ses_1")
    kept.say("ses_1", "msg_1", "user", "look", {"type": "file", "filename": "a.png",
             "mime": "image/png", "url": "data:image/png;base64,AAAA"})  # fmt: skip
    kept.say("ses_1", "msg_2", "user", {"type": "compaction", "auto": True})
    kept.say("ses_1", "msg_3", "assistant", "so far", summary=True)
    ((found,), tally) = read(written(kept))
    (one,) = found.turns[0].attachments
    assert (one.name, one.media_type) == ("a.png", "image/png")
    assert words(found) == [("human", "look")]
    assert [event.kind for event in found.events] == ["compaction", "compaction"]
    assert tally.codes == {}


@pytest.mark.parametrize(
    ("title", "kept"),
    [("New session - 2026-01-01T00:00:00.000Z", False), ("Child session - 2026-01-01T00:00", False),
     ("New session - my own", True)],
)  # fmt: skip
def test_a_title_that_says_nothing_is_none(written, title, kept):
    ((found,), _) = read(written(Kept().session("ses_1", title=title)))
    assert [one.text for one in found.titles] == ([title] if kept else [])


def test_what_cannot_be_read_costs_one_record(written):
    kept = Kept().session("ses_1").say("ses_1", "msg_1", "user", "ask", {"type": "new"}, {"no": 1})
    kept.say("ses_1", "msg_2", "alien", "?")
    ((found,), tally) = read(written(kept))
    assert words(found) == [("human", "ask")]
    assert tally.codes == {"unknown_content": 1, "bad_message": 2}


def test_broken_json_costs_one_row(tmp_path):
    kept = Kept().session("ses_1").say("ses_1", "msg_1", "user", "ask")
    hurt = (
        "UPDATE part SET data = '{'",
        "INSERT INTO message VALUES ('m', 'ses_1', 1, '[]')",
        "INSERT INTO session VALUES (NULL, NULL, NULL, NULL, NULL)",
    )
    (failure, found), tally = read(kept.tables(tmp_path, *hurt))
    assert failure.code == "bad_conversation"
    assert found.turns == []
    assert tally.codes == {"bad_message": 2}


def test_broken_files_of_a_tree_cost_one_file(tmp_path):
    root = Kept().session("ses_1").say("ses_1", "msg_1", "user", "ask").tree(tmp_path)
    put(root / "session" / "project" / "ses_0.json", "{")
    put(root / "message" / "ses_1" / "msg_0.json", "[]")
    put(root / "message" / "ses_1" / "note.txt", "x")
    put(root / "part" / "msg_1" / "prt_z.json", "nul")
    (root / "part" / "msg_1" / "prt_y.json").symlink_to(root / "session" / "project" / "ses_0.json")
    (failure, found), tally = read(root)
    assert failure.code == "bad_conversation"
    assert words(found) == [("human", "ask")]
    assert tally.codes == {"bad_message": 2}


def test_ids_cannot_lead_out_of_the_tree(tmp_path):
    root = Kept().tree(tmp_path)
    put(root / "session" / "project" / "ses_1.json", {"id": "../../../secret"})
    put(root.parent.parent / "secret" / "msg_1.json", {"role": "user"})
    ((found,), tally) = read(root)
    assert (found.turns, tally.records) == ([], 0)


def test_a_tree_is_one_source_wherever_it_lies(tmp_path):
    kept = Kept().session("ses_1").say("ses_1", "msg_1", "user", "ask")
    root = kept.tree(tmp_path)
    found = Found()
    for place in (root, root.parent, tmp_path / "opencode"):
        (src,) = find((str(place),), found)
        assert isinstance(src, Source)
        assert choose(src) is opencode
    (named,) = find((str(root),), found)
    assert isinstance(named, Source)
    assert named.name == "storage"
    assert found.ignored == {}


def test_a_tree_is_read_again_only_when_something_changed(tmp_path):
    kept = Kept().session("ses_1").say("ses_1", "msg_1", "user", "ask")
    root = kept.tree(tmp_path)
    store = Memory()
    store.ingest(root, now=LATE)
    assert store.ingest(root, now=LATE).carriers[0].skipped
    put(
        root / "message" / "ses_1" / "msg_2.json", {"role": "user", "time": {"created": MS * 1.001}}
    )
    put(root / "part" / "msg_2" / "prt_1.json", {"type": "text", "text": "more"})
    assert store.ingest(root, now=LATE).grown == 1


def test_tree_and_tables_of_one_session_are_one_thread(tmp_path):
    kept = Kept().session("ses_1").say("ses_1", "msg_1", "user", "ask")
    store = Memory()
    report = store.ingest(kept.tables(tmp_path), kept.tree(tmp_path), now=LATE)
    assert list(store.threads) == ["opencode:ses_1"]
    assert [one.code for one in report.codes] == ["duplicate_carrier"]


def packed(root, archive, under="opencode/storage"):
    with zipfile.ZipFile(archive, "w") as opened:
        for file in sorted(root.rglob("*"), reverse=True):
            opened.write(file, f"{under}/{file.relative_to(root).as_posix()}")
    return archive


@pytest.mark.parametrize("under", ["storage", "home/opencode/storage"])
def test_a_tree_in_an_archive_is_read_like_the_folder(tmp_path, under):
    kept = Kept().session("ses_1").session("ses_2", parent="ses_1")
    kept.say("ses_1", "msg_1", "user", "ask", {"type": "text", "text": "in", "synthetic": True})
    kept.say("ses_1", "msg_2", "assistant", tool("task", metadata={"sessionId": "ses_2"}), "answer")
    kept.say("ses_2", "msg_3", "user", "delegated")
    root = kept.tree(tmp_path)
    put(root / "project" / "p.json", {"messages": [{"role": "user", "content": "no"}]})
    archive = packed(root, tmp_path / "x.zip", under)
    one, other = Memory(), Memory()
    one.ingest(root, now=LATE)
    report = other.ingest(archive, now=LATE)
    assert [row.file for row in report.carriers] == [f"x.zip!{under}"]
    assert (report.codes, report.ignored, report.exit_code) == ((), (), 0)
    assert list(other.threads) == list(one.threads) == ["opencode:ses_1", "opencode:ses_2"]
    for name, thread in one.threads.items():
        told = other.threads[name]
        assert [(turn.number, turn.fingerprint, turn.at) for turn in told.turns] == [
            (turn.number, turn.fingerprint, turn.at) for turn in thread.turns
        ]
        assert (told.title, told.lineage) == (thread.title, thread.lineage)
    assert other.ingest(archive, now=LATE).carriers[0].skipped


def test_half_a_tree_in_an_archive_is_no_source(tmp_path):
    root = Kept().session("ses_1").tree(tmp_path)
    report = Memory().ingest(packed(root, tmp_path / "x.zip"), now=LATE)
    assert (report.threads, report.exit_code) == ((), 3)


def test_an_archive_of_many_files_is_opened_once(tmp_path):
    kept = Kept().session("ses_1")
    for number in range(40):
        kept.say("ses_1", f"msg_{number:03}", "user", f"ask {number}")
    (src,) = find((str(packed(kept.tree(tmp_path), tmp_path / "x.zip")),), Found())
    assert isinstance(src, Source)
    opened = []
    whole = src.opener

    def counted():
        opened.append(1)
        return whole()

    src.opener = counted
    for one in members(src, Found()):
        assert isinstance(one, Source)
        (thread,) = opencode.read(one, Tally("f"))
        assert isinstance(thread, RawThread)
        assert len(thread.turns) == 40
        inside = one.inside or ()
    assert len(opened) == 1
    with inside[0][1].open() as late:
        assert late.read()


def test_other_databases_and_folders_are_left_to_others(tmp_path):
    file = tmp_path / "x.db"
    connection = sqlite3.connect(file)
    connection.executescript(
        "CREATE TABLE session(id); CREATE TABLE message(id); CREATE TABLE part(id)"
    )
    connection.close()
    assert isinstance(choose(Source.of_file(file)), ReadFailure)
    (tmp_path / "storage" / "session").mkdir(parents=True)
    put(tmp_path / "storage" / "session" / "x.json", {"a": 1})
    sources = list(find((str(tmp_path / "storage"),), Found()))
    assert [one.name for one in sources if isinstance(one, Source)] == ["storage/session/x.json"]
    folder = Source.of_folder(tmp_path, name="x", root="x")
    assert isinstance(choose(folder), ReadFailure)
    tally = Tally()
    (failure,) = opencode.read(Source.of_bytes(b"SQLite format 3\0"), tally)
    assert isinstance(failure, ReadFailure)
