import json
import sqlite3
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphstore.model.conversation import LineageKind, Role
from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers import cursor
from ingest.sniff import choose
from tests.ingest_memory import Memory

MS = 1767225600000
LATE = datetime(2100, 1, 1, tzinfo=UTC)
CHAT = "11111111-0000-4000-8000-000000000001"
OTHER = "11111111-0000-4000-8000-000000000002"
SECRET = "words that nobody may read"  # noqa: S105 - of nothing
TABLES = """
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
"""


def bubble_id(number):
    return f"bbbbbbbb-0000-4000-8000-{number:012}"


class Editor:
    """What the editor keeps: rows of two tables."""

    def __init__(self):
        self.rows: dict[str, object] = {}
        self.items: dict[str, object] = {"cursorAuth/accessToken": SECRET}
        self.rows["agentKv:blob:1"] = SECRET
        self.rows["secret.composerData:x"] = SECRET

    def chat(self, native, *bubbles, **more):
        heads = []
        for number, one in enumerate(bubbles, start=len(self.rows)):
            key = bubble_id(number)
            heads.append({"bubbleId": key, "type": one.get("type")})
            self.rows[f"bubbleId:{native}:{key}"] = one
        self.rows[f"composerData:{native}"] = {
            "composerId": native,
            "name": "Bridges",
            "createdAt": MS,
            "lastUpdatedAt": MS + 5000,
            "fullConversationHeadersOnly": heads,
            **more,
        }
        return self

    def write(self, file, *extra, blob=False):
        connection = sqlite3.connect(file)
        connection.executescript(TABLES)
        for table, held in (("cursorDiskKV", self.rows), ("ItemTable", self.items)):
            for key, value in held.items():
                cell = value if value is None or isinstance(value, str) else json.dumps(value)
                stored = cell.encode() if blob and cell is not None else cell
                text = f"INSERT INTO {table} VALUES (?, ?)"  # noqa: S608 - two fixed words
                connection.execute(text, (key, stored))
        for statement in extra:
            connection.execute(statement)
        connection.commit()
        connection.close()
        return file


def ask(text, **more):
    return {"type": 1, "text": text, **more}


def say(text, **more):
    return {"type": 2, "text": text, **more}


def use(name="read_file", **more):
    args = json.dumps({"target_file": "/w/a/x.py"})
    return {"type": 2, "text": "", "toolFormerData": {"name": name, "rawArgs": args, **more}}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "state.vscdb"


def read(file, **more):
    src = Source.of_file(file)
    for name, value in more.items():
        setattr(src, name, value)
    assert choose(src) is cursor
    tally = Tally("f")
    found = list(cursor.read(src, tally))
    for one in found:
        for turn in one.turns if isinstance(one, RawThread) else ():
            tally.drop("turn", turn.records)
    assert tally.balanced
    return found, tally


def words(found):
    return [(turn.role.value, *turn.blocks) for turn in found.turns if turn.blocks]


@pytest.mark.parametrize("blob", [True, False])
def test_bubbles_stand_in_the_order_of_the_heads(file, blob):
    editor = Editor().chat(CHAT, ask("one"), say("two"), ask("three"))
    editor.rows[f"composerData:{CHAT}"]["fullConversationHeadersOnly"].reverse()
    ((found,), tally) = read(editor.write(file, blob=blob))
    assert words(found) == [("human", "three"), ("assistant", "two"), ("human", "one")]
    assert (found.native_id, found.titles[0].text) == (CHAT, "Bridges")
    assert found.started_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert found.ended_at == datetime(2026, 1, 1, 0, 0, 5, tzinfo=UTC)
    assert (tally.records, tally.codes) == (3, {})


def test_only_what_the_heads_name_is_said(file):
    editor = Editor().chat(CHAT, ask("kept"))
    editor.rows[f"bubbleId:{CHAT}:{bubble_id(99)}"] = ask("taken back")
    ((found,), tally) = read(editor.write(file))
    assert (words(found), tally.records) == ([("human", "kept")], 1)


def test_absent_null_and_broken_bubbles_are_lost_one_by_one(file):
    editor = Editor().chat(CHAT, ask("ask"), say("a"), say("b"), say("c"), say("answer"))
    first, second, third = list(editor.rows)[3:6]
    del editor.rows[first]
    editor.rows[second] = None
    editor.rows[third] = "{"
    heads = editor.rows[f"composerData:{CHAT}"]["fullConversationHeadersOnly"]
    heads.extend([7, {"bubbleId": 3}, heads[0]])
    ((found,), tally) = read(editor.write(file))
    assert words(found) == [("human", "ask"), ("assistant", "answer")]
    assert tally.codes == {"missing_message": 2, "bad_message": 3, "duplicate_record": 1}
    assert tally.places["missing_message"] == [CHAT, CHAT]


def test_a_value_over_the_size_of_a_record_costs_one_record(file):
    editor = Editor().chat(CHAT, ask("ask"), say("w" * 5000), say("answer"))
    editor.chat(OTHER, name="n" * 5000)
    editor.write(file)
    ((found, failure), tally) = read(file, record_limit=3000)
    assert words(found) == [("human", "ask"), ("assistant", "answer")]
    assert (failure.where, failure.code, failure.detail) == (OTHER, "bad_conversation", "too_big")
    assert tally.codes == {"too_big": 1}


def test_a_conversation_has_so_many_bubbles_at_most(file, monkeypatch):
    monkeypatch.setattr(cursor, "BUBBLES", 2)
    ((found,), tally) = read(Editor().chat(CHAT, ask("1"), say("2"), ask("3")).write(file))
    assert (words(found), tally.codes) == ([("human", "1"), ("assistant", "2")], {"bad_message": 1})


def test_bytes_that_are_no_text_are_replaced_and_counted(file):
    editor = Editor().chat(CHAT, ask("ask"))
    value = json.dumps(ask("caf@@")).encode().replace(b"@@", b"\xe9").hex()
    key = next(one for one in editor.rows if one.startswith("bubbleId"))
    editor.write(file, f"UPDATE cursorDiskKV SET value = x'{value}' WHERE key = '{key}'")  # noqa: S608
    ((found,), tally) = read(file)
    assert words(found) == [("human", "caf\ufffd")]
    assert (tally.codes, tally.places["bad_utf8"]) == ({"bad_utf8": 1}, [CHAT])


RENDERED = f"""<!-- Generated by SpecStory -->

# Bridges

<!-- Cursor IDE Session {CHAT} (2026-01-01 00:00:00Z) -->

_**User (2026-01-01 00:00:01Z)**_

ask

---

_**Agent (m-1 2026-01-01 00:00:02Z)**_

answer

---
"""


def test_a_rendering_of_a_conversation_is_the_same_thread(file, tmp_path):
    Editor().chat(CHAT, ask("ask"), say("I look."), use(), say("answer")).write(file)
    (tmp_path / "rendered.md").write_text(RENDERED)
    store = Memory()
    report = store.ingest(file, tmp_path / "rendered.md", now=LATE)
    (thread,) = store.threads.values()
    assert [turn.text for turn in thread.turns] == ["ask", "answer"]
    assert [one.code for one in report.codes] == ["duplicate_carrier"]


def test_a_row_without_a_value_is_an_empty_thread_and_a_broken_one_is_lost(file):
    editor = Editor().chat(CHAT)
    editor.rows[f"composerData:{OTHER}"] = None
    editor.rows["composerData:zzz"] = "[]"
    store = Memory()
    report = store.ingest(editor.write(file), now=LATE)
    codes = {one.code: (one.count, one.places) for one in report.codes}
    assert codes == {"empty_thread": (2, (CHAT, OTHER)), "bad_conversation": (1, ("zzz",))}
    assert report.exit_code == 3


def test_what_is_said_before_a_tool_is_interim(file):
    editor = Editor().chat(
        CHAT, ask("ask"), say("I look."), {"type": 2, "thinking": {"text": "hm"}}, use(),
        say("And again.", toolFormerData={"name": "grep"}), say("Done."), say("More."),
    )  # fmt: skip
    store = Memory()
    report = store.ingest(editor.write(file), now=LATE)
    turns = store.threads[f"cursor:{CHAT}"].turns
    assert [turn.text for turn in turns] == ["ask", "Done.", "More."]
    assert {one.name: one.count for one in turns[1].tools.counts} == {"read_file": 1, "grep": 1}
    counts = {one.name: one.count for one in report.dispositions}
    assert counts == {"turn": 3, "interim": 2, "thinking": 1, "tool": 1}


@pytest.mark.parametrize(
    ("bubble", "disposition"),
    [
        ({"type": 2, "text": "", "thinking": {"text": "hm", "signature": "s"}}, "thinking"),
        ({"type": 2, "thinking": "hm"}, "thinking"),
        ({"type": 2, "allThinkingBlocks": [{"thinking": "hm"}]}, "thinking"),
        ({"type": 2, "capabilityType": 30}, "thinking"),
        ({"type": 2, "capabilityType": 15}, "tool"),
        ({"type": 2, "toolResults": [{}]}, "tool"),
        ({"type": 2, "capabilityType": 22}, "meta"),
        ({"type": 2, "text": " \n"}, "empty"),
        ({"type": 1, "text": ""}, "empty"),
        ({"type": 9, "text": ""}, "empty"),
        ({"type": 9, "text": "words of nobody"}, "lost"),
        ({"type": [1], "text": ""}, "empty"),
    ],
)
def test_bubbles_without_words_are_counted_by_what_they_are(file, bubble, disposition):
    ((found,), tally) = read(Editor().chat(CHAT, bubble).write(file))
    assert (found.turns, tally.dispositions) == ([], {disposition: 1})
    assert [one.kind for one in found.events] == ["compaction"] * (disposition == "meta")


@pytest.mark.parametrize(
    "rich",
    [
        {"root": {"children": [
            {"type": "paragraph", "children": [
                {"type": "text", "text": "Why "}, {"type": "mention", "text": "@pier"},
                {"type": "linebreak"}, {"type": "text", "text": "so?"}]},
            {"type": "paragraph", "children": []},
            {"type": "paragraph", "children": [{"type": "text", "text": "End."}]}]}},
        {"type": "doc", "content": [
            {"type": "paragraph", "content": [
                {"type": "text", "text": "Why @pier"}, {"type": "hardBreak"},
                {"type": "text", "text": "so?"}]},
            {"type": "paragraph"},
            {"type": "paragraph", "content": [{"type": "text", "text": "End."}]}]},
    ],
)  # fmt: skip
def test_the_editors_document_stands_in_for_a_missing_text(file, rich):
    stored = {"type": 1, "text": "", "richText": json.dumps(rich)}
    parsed = {"type": 2, "richText": rich}
    ((found,), _) = read(Editor().chat(CHAT, stored, parsed, ask("t", richText="{")).write(file))
    told = "Why @pier\nso?\n\nEnd."
    assert words(found) == [("human", told), ("assistant", told), ("human", "t")]


def test_facts_beside_the_words(file):
    asked = ask(
        "ask",
        createdAt="2026-01-01T00:00:01.000Z",
        images=[{"path": "C:\\shots\\a.png"}, {"uuid": "u"}],
        context={"fileSelections": [{"uri": {"fsPath": "/w/a/x.py"}}, {"uri": None}]},
    )
    answered = say("answer", createdAt="soon", modelInfo={"modelName": "m-2"})
    editor = Editor().chat(
        CHAT, asked, answered,
        modelConfig={"modelName": "default"},
        workspaceIdentifier={"uri": {"fsPath": "/w/a"}},
    )  # fmt: skip
    ((found,), tally) = read(editor.write(file))
    assert (found.project, found.models) == ("/w/a", ("m-2",))
    assert found.turns[0].at == datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    names = [(one.name, one.media_type) for one in found.turns[0].attachments]
    assert names == [("x.py", None), ("a.png", "image"), (None, "image")]
    assert tally.codes == {"bad_timestamp": 1}


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "edit_file", "rawArgs": '{"target_file": "/w/a/x.py"}'},
        {"name": "edit_file", "rawArgs": "{", "params": '{"relativeWorkspacePath": "/w/a/x.py"}'},
        {"name": "edit_file", "params": {"path": "/w/a/x.py"}},
    ],
)
def test_paths_of_tools_are_touched(file, tool):
    editor = Editor().chat(CHAT, ask("ask"), {"type": 2, "toolFormerData": tool})
    ((found,), _) = read(editor.write(file))
    assert (found.turns[1].touched, found.turns[1].calls) == (("/w/a/x.py",), (("edit_file", 1),))


def test_results_of_tools_are_side_turns_where_the_owner_asks_for_them(file):
    editor = Editor().chat(
        CHAT, ask("ask"), use(result="found"),
        say("answer", toolFormerData={"name": "x", "result": "more"}),
    )  # fmt: skip
    ((found,), tally) = read(editor.write(file), keep_context=True)
    assert words(found) == [
        ("human", "ask"), ("other", "found"), ("assistant", "answer"), ("other", "more"),
    ]  # fmt: skip
    assert tally.records == 3
    ((without,), _) = read(file)
    assert words(without) == [("human", "ask"), ("assistant", "answer")]


def test_an_agents_conversation_belongs_to_the_one_that_spawned_it(file):
    editor = Editor().chat(CHAT, ask("ask"), say("answer"))
    editor.chat(OTHER, ask("delegated"), say("done"), subagentInfo={"parentComposerId": CHAT})
    store = Memory()
    store.ingest(editor.write(file), now=LATE)
    child = store.threads[f"cursor:{OTHER}"]
    assert [turn.role for turn in child.turns] == [Role.OTHER, Role.ASSISTANT]
    (link,) = child.lineage
    assert (link.kind, link.parent) == (LineageKind.SUBAGENT_OF, f"cursor:{CHAT}")


def test_bubbles_may_stand_in_the_conversation_itself(file):
    editor = Editor()
    editor.rows[f"composerData:{CHAT}"] = {
        "conversation": [ask("ask", bubbleId="b1"), say("answer", bubbleId="b2"), None, ask("x")],
    }
    editor.rows[f"composerData:{OTHER}"] = {
        "fullConversationHeadersOnly": [{"bubbleId": "b1", "type": 1}],
        "conversationMap": {"b1": {"text": "inside"}},
    }
    ((found, mapped), tally) = read(editor.write(file))
    assert words(found) == [("human", "ask"), ("assistant", "answer"), ("human", "x")]
    assert [turn.key for turn in found.turns] == ["b1", "b2", None]
    assert words(mapped) == [("human", "inside")]
    assert tally.codes == {"bad_message": 1}


LEGACY = {
    "composer.composerData": {
        "allComposers": [
            {"composerId": CHAT, "name": "Old", "conversation": [ask("ask"), say("answer")]},
            {"composerId": OTHER, "name": "a head, its words are elsewhere"},
            {"conversation": [ask("nobody's")]},
        ]
    },
    "workbench.panel.aichat.view.aichat.chatdata": {
        "tabs": [
            {
                "tabId": "t1",
                "chatTitle": "Older",
                "lastSendTime": MS,
                "bubbles": [
                    {"type": "user", "id": "u1", "text": "why"},
                    {"type": "ai", "id": "a1", "rawText": "so", "modelType": "m"},
                ],
            },
            {"tabId": "t2", "bubbles": []},
        ]
    },
}


def test_early_keys_are_read_only_where_there_is_no_later_one(file, tmp_path):
    early = Editor()
    early.items.update(LEGACY)
    ((composed, chatted), tally) = read(early.write(file))
    assert (composed.native_id, composed.titles[0].text) == (CHAT, "Old")
    assert words(composed) == [("human", "ask"), ("assistant", "answer")]
    assert (chatted.native_id, chatted.titles[0].text) == ("t1", "Older")
    assert words(chatted) == [("human", "why"), ("assistant", "so")]
    assert chatted.ended_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert tally.codes == {}
    later = Editor().chat(OTHER, ask("now"))
    later.items.update(LEGACY)
    ((found,), _) = read(later.write(tmp_path / "later.vscdb"))
    assert found.native_id == OTHER


def test_an_editor_without_conversations_gives_none(file):
    assert read(Editor().write(file))[0] == []


def test_keys_are_looked_up_and_no_other_row_is_read(file, monkeypatch):
    """Each statement goes by an index, and none can reach a row of another key."""
    editor = Editor().chat(CHAT, ask("ask"), say("answer"))
    editor.write(file)
    told: list[str] = []
    connect = sqlite3.connect

    def watched(*given, **more):
        connection = connect(*given, **more)
        connection.set_trace_callback(told.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", watched)
    read(file)
    monkeypatch.undo()
    asked = [one for one in told if "FROM cursorDiskKV" in one or "FROM ItemTable" in one]
    values = [one for one in asked if "value" in one]
    assert len(values) == 3
    assert all(f"WHERE key = 'composerData:{CHAT}'" in one or "bubbleId:" in one for one in values)
    connection = sqlite3.connect(file)
    for one in asked:
        plan = " ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {one}"))
        assert plan.startswith("SEARCH")
    connection.close()


def test_no_token_is_in_anything_that_is_given(file):
    editor = Editor().chat(CHAT, ask("ask"), say("answer"))
    editor.items.update(LEGACY)
    store = Memory()
    report = store.ingest(editor.write(file), now=LATE)
    kept = [report.model_dump_json(), *(one.model_dump_json() for one in store.records)]
    assert not any(SECRET in one for one in kept)


def test_rows_in_the_log_beside_the_database_are_read(file):
    Editor().chat(CHAT, ask("ask")).write(file)
    writer = sqlite3.connect(file)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("PRAGMA wal_autocheckpoint=0")
    value = {"fullConversationHeadersOnly": [], "conversation": [ask("new")]}
    writer.execute(
        "INSERT INTO cursorDiskKV VALUES (?, ?)", (f"composerData:{OTHER}", json.dumps(value))
    )
    writer.commit()
    before = sorted((one.name, one.stat().st_size) for one in file.parent.iterdir())
    ((old, new), _) = read(file)
    assert sorted((one.name, one.stat().st_size) for one in file.parent.iterdir()) == before
    writer.close()
    assert (words(old), words(new)) == ([("human", "ask")], [("human", "new")])


def test_a_database_in_an_archive_is_read(file, tmp_path):
    Editor().chat(CHAT, ask("ask"), say("answer")).write(file)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.write(file, "User/globalStorage/state.vscdb")
    store = Memory()
    store.ingest(tmp_path / "x.zip", now=LATE)
    assert list(store.threads) == [f"cursor:{CHAT}"]


def test_a_damaged_database_is_told_and_others_are_left_alone(file, tmp_path):
    whole = Editor().chat(CHAT, *[ask("x" * 3000) for _ in range(40)]).write(file).read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    report = Memory().ingest(file, now=LATE)
    assert report.exit_code in (1, 3)
    assert "reader_error" not in {one.code for one in report.codes}
    plain = tmp_path / "plain.db"
    connection = sqlite3.connect(plain)
    connection.execute("CREATE TABLE ItemTable (key TEXT, value BLOB)")
    connection.close()
    assert isinstance(choose(Source.of_file(plain)), ReadFailure)


SIZED = """
import resource, sys
from ingest.model import Source, Tally
from ingest.readers import cursor
src = Source.of_file(__import__("pathlib").Path(sys.argv[1]))
assert cursor.sniff(b"", src) is not None
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count = sum(len(one.turns) for one in cursor.read(src, Tally("f")))
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(count, after - before, resource.getrusage(resource.RUSAGE_SELF).ru_utime)
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="memory is measured in kB on Linux only")
def test_what_is_not_asked_for_costs_neither_time_nor_memory(tmp_path):
    """Sixty megabytes of other keys, before, between and after, cost next to nothing."""

    def cost(file):
        told = subprocess.run(
            [sys.executable, "-c", SIZED, str(file)], capture_output=True, text=True, check=True
        )
        count, grown, seconds = told.stdout.split()
        return int(count), int(grown), float(seconds)

    editor = Editor()
    for number in range(20):
        editor.chat(f"{number:08}-0000-4000-8000-000000000000", *[ask("w" * 500)] * 10)
    small = editor.write(tmp_path / "small.vscdb")
    big = editor.write(tmp_path / "big.vscdb")
    connection = sqlite3.connect(big)
    filler = "x" * 100_000
    for prefix in ("agentKv:blob", "checkpointId", "messageRequestContext"):
        connection.executemany(
            "INSERT INTO cursorDiskKV VALUES (?, ?)",
            ((f"{prefix}:{number}", filler) for number in range(200)),
        )
    connection.commit()
    connection.close()
    assert big.stat().st_size > 60_000_000
    (few, _, alone), (same, grown, among) = cost(small), cost(big)
    assert few == same == 200
    assert grown < 20_000
    assert among < 3 * alone + 0.2


def test_a_bubble_whose_name_no_table_can_hold_is_missing(file):
    heads = [{"bubbleId": "\ud800", "type": 1}]
    Editor().chat(CHAT, ask("Why?"), fullConversationHeadersOnly=heads).write(file)
    _, tally = read(file)
    assert tally.codes["missing_message"] == 1
