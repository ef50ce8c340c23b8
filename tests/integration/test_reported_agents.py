"""Shapes of sessions of Gemini CLI, OpenCode, pi and llm that other readers failed on.

Each test names the public report whose shape it has; the words are made up.
"""

import json
import sqlite3
from contextlib import closing

import pytest

from tests.reported import Taken, document, jsonl, said

# --- Gemini CLI

HEAD = {"sessionId": "g1", "projectHash": "ab12", "startTime": "2026-04-01T09:00:00.000Z"}
CONTEXT = "<session_context>\nThis is the setup.\n- /w/a\n</session_context>"


def user(key, content, **more):
    return {"id": key, "type": "user", "content": content, **more}


def gemini(key, content, **more):
    return {"id": key, "type": "gemini", "content": content, **more}


def session(folder, *records, name="session-1.jsonl"):
    return Taken(jsonl(folder, name, HEAD, *records))


def test_messages_in_batches_and_by_themselves_are_one_talk(tmp_path):
    """lyfuci/ai-terminal-manager#27, Piebald-AI/splitrail#171: both ways in one file, and a
    context that nobody typed before them."""
    taken = session(
        tmp_path,
        {"$set": {"messages": [user("1", [{"text": CONTEXT}])]}},
        user("2", [{"text": "What is a tree?"}]),
        gemini("3", "A connected graph"),
        {
            "$set": {
                "messages": [user("2", [{"text": "What is a tree?"}]), gemini("3", "No cycles.")]
            }
        },
        gemini("4", "And connected."),
    )
    assert taken.said == ["h What is a tree?", "a No cycles.", "a And connected."]
    assert taken.thread.title == "What is a tree?"
    assert (taken.codes, taken.counts["injected"]) == ({}, 1)


def test_an_update_of_a_message_leaves_its_words(tmp_path):
    """MemPalace/mempalace#1234: counts of tokens that come after the message."""
    taken = session(
        tmp_path,
        user("1", [{"text": "Hello"}]),
        gemini("2", [{"text": "Hi"}]),
        {"id": "2", "type": "message_update", "tokens": {"input": 10, "output": 5}},
    )
    assert taken.said == ["h Hello", "a Hi"]
    assert (taken.codes, taken.counts["duplicate"]) == ({}, 1)


def test_an_answer_that_is_written_again_is_the_last_one_written(tmp_path):
    """rajbos/ai-engineering-fluency#748: an answer grows from record to record."""
    calls = [{"id": "t", "name": "read_file", "args": {"file_path": "/w/a/x.py"}, "result": []}]
    taken = session(
        tmp_path,
        user("1", "Explain x.py"),
        gemini("2", ""),
        gemini("2", "Reading.", toolCalls=calls),
        gemini("3", "It"),
        gemini("3", "It adds."),
    )
    assert taken.said == ["h Explain x.py", "a It adds."]
    assert taken.calls == {"read_file": 1}


def test_notices_and_odd_results_change_nothing(tmp_path):
    """yigitkonur/cli-continues#52: results as text or object, notices between the messages."""
    shown = {"fileDiff": "-a\n+b", "fileName": "a"}
    calls = [
        {"id": "t", "name": "edit", "args": None, "resultDisplay": shown},
        {"id": "u", "name": "shell", "resultDisplay": "text", "result": None},
    ]
    taken = session(
        tmp_path,
        {"id": "i", "type": "info", "content": "Update available"},
        user("1", "Fix it"),
        gemini("2", "", toolCalls=calls, thoughts=[{"subject": "s"}]),
        {"id": "w", "type": "warning", "content": [{"text": "Slow"}]},
        {"id": "e", "type": "error", "content": "Quota"},
        gemini("3", "Fixed."),
    )
    assert taken.said == ["h Fix it", "a Fixed."]
    assert taken.calls == {"edit": 1, "shell": 1}
    assert taken.counts == {"meta": 4, "turn": 2, "tool": 1}


def test_a_session_of_an_agent_lies_below_its_parents(tmp_path):
    """zszz3/AgentRecall#530: chats/<parent>/<session>.jsonl, and files that are no sessions."""
    chats = tmp_path / "tmp" / "ab12" / "chats"
    jsonl(chats, "session-1.jsonl", HEAD, user("1", "Ask around"), gemini("2", "Asked."))
    agent = {**HEAD, "sessionId": "g2", "kind": "subagent"}
    jsonl(chats, "g1/g2.jsonl", agent, user("3", "Look into it"), gemini("4", "Nothing."))
    document(chats, "session-1.jsonl.unreadable-77", "{")
    taken = Taken(tmp_path)
    assert taken.ids == ["gemini-cli:g1", "gemini-cli:g2"]
    assert [said(one) for one in taken.threads] == [["h Ask around", "a Asked."], ["a Nothing."]]
    assert [(one.kind.value, one.parent) for one in taken.threads[1].lineage] == [
        ("subagent_of", "gemini-cli:g1")
    ]
    assert taken.exit == 0


def test_context_of_hooks_is_nobodys_words(tmp_path):
    """vshulcz/deja-vu#649: what a hook gave stands escaped in a context of its own."""
    hook = "<hook_context>&lt;recall&gt;Seen before&lt;/recall&gt;</hook_context>"
    taken = session(tmp_path, user("1", [{"text": f"Why?\n\n{hook}"}]), gemini("2", "Because."))
    assert taken.said == ["h Why?", "a Because."]


def test_an_old_document_and_new_lines_of_a_session_are_one_thread(tmp_path):
    """jhlee0409/claude-code-history-viewer#393: the same session before and after migration."""
    talk = [user("1", "Before"), gemini("2", "Then.")]
    document(tmp_path, "session-1.json", {**HEAD, "messages": talk})
    jsonl(tmp_path, "session-1.jsonl", HEAD, *talk, user("3", "After"))
    taken = Taken(tmp_path)
    assert taken.said == ["h Before", "a Then.", "h After"]
    assert taken.codes == {"duplicate_carrier": 1}


# --- OpenCode

PARTED = """
CREATE TABLE session(id text primary key, parent_id text, directory text, title text,
    time_created integer);
CREATE TABLE message(id text primary key, session_id text, time_created integer, data text);
CREATE TABLE part(id text primary key, message_id text, session_id text, time_created integer,
    data text);
"""
WHOLE = """
CREATE TABLE session_message(id text primary key, session_id text, type text, seq integer,
    time_created integer, time_updated integer, data text);
"""
V2 = """
CREATE TABLE session_v2(id text primary key, parent_id text, directory text, title text,
    time_created integer);
"""
START = 1780000000000


class Kept:
    """A database of OpenCode."""

    def __init__(self, folder, *scripts):
        self.file = folder / "opencode.db"
        self.count = 0
        with closing(sqlite3.connect(self.file)) as connection:
            connection.executescript("".join(scripts))

    def put(self, table, **row):
        self.count += 1
        row.setdefault("time_created", START + self.count)
        if "data" in row:
            row["data"] = json.dumps(row["data"])
        marks = ", ".join("?" * len(row))
        insert = f"INSERT INTO {table}({', '.join(row)}) VALUES ({marks})"  # noqa: S608 - our own
        with closing(sqlite3.connect(self.file)) as connection, connection:
            connection.execute(insert, tuple(row.values()))
        return self

    def say(self, session, role, *parts):
        key = f"m{self.count}"
        self.put("message", id=key, session_id=session, data={"role": role})
        for part in parts:
            data = {"type": "text", "text": part} if isinstance(part, str) else part
            self.put("part", id=f"p{self.count}", message_id=key, session_id=session, data=data)
        return self

    def whole(self, session, kind, **data):
        key = f"w{self.count}"
        return self.put(
            "session_message", id=key, session_id=session, type=kind, seq=self.count, data=data
        )


def test_parts_that_the_program_wrote_are_nobodys_words(tmp_path):
    """vshulcz/deja-vu#3299: synthetic parts under the user's role, hundreds in one store."""
    going_on = {"type": "text", "text": "Continue if you have next steps.", "synthetic": True}
    kept = Kept(tmp_path, PARTED).put("session", id="s1", title="T")
    kept.say("s1", "user", "Sort it.").say("s1", "assistant", "Sorted.")
    kept.say("s1", "user", going_on).say("s1", "assistant", "Nothing left.")
    taken = Taken(kept.file)
    assert taken.said == ["h Sort it.", "a Sorted.", "a Nothing left."]
    assert taken.counts["injected"] == 2


def test_sessions_of_agents_are_threads_below_their_root(tmp_path):
    """getagentseal/codeburn#343: a root, its child and its grandchild."""
    kept = Kept(tmp_path, PARTED).put("session", id="s1", title="Root")
    kept.put("session", id="s2", parent_id="s1", title="Child")
    kept.put("session", id="s3", parent_id="s2", title="Grandchild")
    for key in ("s1", "s2", "s3"):
        kept.say(key, "user", f"Ask {key}").say(key, "assistant", f"Answer {key}")
    taken = Taken(kept.file)
    assert [said(one) for one in taken.threads] == [
        ["h Ask s1", "a Answer s1"],
        ["a Answer s2"],
        ["a Answer s3"],
    ]
    links = [(one.native_id, link.parent) for one in taken.threads for link in one.lineage]
    assert links == [("s2", "opencode:s1"), ("s3", "opencode:s2")]


def test_files_and_tables_side_by_side_are_both_read(tmp_path):
    """kenn-io/agentsview#403: a root with a database and the older folders of files."""
    kept = Kept(tmp_path, PARTED).put("session", id="s1", title="New")
    kept.say("s1", "user", "In the table").say("s1", "assistant", "Yes.")
    storage = tmp_path / "storage"
    document(storage, "session/p/s0.json", {"id": "s0", "title": "Old", "directory": "/w/a"})
    document(storage, "message/s0/m0.json", {"id": "m0", "role": "user"})
    document(storage, "part/m0/p0.json", {"id": "p0", "type": "text", "text": "In a file"})
    taken = Taken(tmp_path)
    assert [said(one) for one in taken.threads] == [["h In a file"], ["h In the table", "a Yes."]]


def test_a_table_of_mere_switches_hides_no_messages(tmp_path):
    """ctxrs/ctx#63: the newer table is there, and holds only changes of the model."""
    kept = Kept(tmp_path, PARTED, WHOLE).put("session", id="s1", title="T")
    kept.whole("s1", "model-switched", model={"id": "m"}).whole("s1", "agent-switched", agent="b")
    kept.say("s1", "user", "Still there?").say("s1", "assistant", "All of it.")
    taken = Taken(kept.file)
    assert taken.said == ["h Still there?", "a All of it."]
    assert (taken.counts["meta"], taken.codes) == (2, {})


def text(words):
    return {"type": "text", "id": "x", "text": words}


def test_whole_messages_of_the_second_version_are_read(tmp_path):
    """Dicklesworthstone/cross_agent_session_resumer#30, nicosuave/memex#195: new tables."""
    kept = Kept(tmp_path, V2, WHOLE).put("session_v2", id="s1", title="Two", directory="/w/a")
    call = {"type": "tool", "id": "c", "name": "read", "state": {"input": {"path": "/w/a/x"}}}
    kept.whole("s1", "system", text="You are an engineer.")
    kept.whole("s1", "user", text="Read x.", files=[{"name": "x.png", "mime": "image/png"}])
    kept.whole("s1", "synthetic", text="A reminder.", sessionID="s1")
    kept.whole(
        "s1", "assistant", content=[{"type": "reasoning", "text": "hm"}, text("Reading."), call]
    )
    kept.whole("s1", "shell", command="ls", output="x")
    kept.whole("s1", "compaction", reason="auto", summary="All so far.", recent="")
    kept.whole(
        "s1", "assistant", model={"id": "m-1", "providerID": "p"}, content=[text("It is short.")]
    )
    kept.whole("s1", "location-switched", directory="/w/b")
    taken = Taken(kept.file)
    assert taken.said == ["h Read x.", "a It is short."]
    assert (taken.thread.project, taken.thread.models) == ("/w/a", ("m-1",))
    assert (taken.calls, taken.codes) == ({"read": 1}, {})
    assert [one.name for one in taken.thread.turns[0].attachments] == ["x.png"]
    assert [event.kind for event in taken.thread.events] == ["compaction"]


def test_a_session_that_moved_to_the_new_tables_is_one_talk(tmp_path):
    """anomalyco/opencode#33447: the first half was left in the older tables."""
    kept = Kept(tmp_path, PARTED, V2, WHOLE).put("session", id="s1", title="Old title")
    kept.put("session_v2", id="s1", title="New title")
    kept.say("s1", "user", "Before").say("s1", "assistant", "Old.")
    kept.put("message", id="both", session_id="s1", data={"role": "user"})
    kept.put("part", id="pb", message_id="both", session_id="s1", data=text("In both"))
    kept.put(
        "session_message", id="both", session_id="s1", type="user", seq=1, data={"text": "In both"}
    )
    kept.whole("s1", "assistant", content=[text("New.")])
    kept.put("session", id="s0", title="Only old").say("s0", "user", "Stranded")
    taken = Taken(kept.file)
    assert [said(one) for one in taken.threads] == [
        ["h Stranded"],
        ["h Before", "a Old.", "h In both", "a New."],
    ]
    assert taken.threads[1].title == "New title"


# --- pi


def entry(key, parent, role=None, words=None, **more):
    fields = {"id": key, "parentId": parent, "timestamp": "2026-04-01T09:00:00.000Z"}
    if role is None:
        return {**fields, **more}
    return {"type": "message", **fields, "message": {"role": role, "content": words, **more}}


def pi(folder, *entries, **head):
    header = {"type": "session", "version": 3, "id": "019c-pi", "cwd": "/w/a", **head}
    return Taken(jsonl(folder, "2026-04-01_019c-pi.jsonl", header, *entries))


def test_the_trunk_is_what_was_said_and_the_rest_is_kept_beside(tmp_path):
    """specstoryai/getspecstory#254, tuo-lei/vibe-replay#318: branches, compactions, shell."""
    taken = pi(
        tmp_path,
        entry("1", None, "user", "One way?"),
        entry("2", "1", "assistant", [text("This way.")]),
        entry("3", None, "user", "No, another?"),
        entry("4", "3", "bashExecution", None, command="ls", output="x", exitCode=0),
        entry("5", "4", type="compaction", summary="So far: two ways."),
        entry("6", "5", "custom", "Context of an extension", customType="x"),
        entry("7", "6", "assistant", [{"type": "thinking", "thinking": "hm"}, text("That way.")]),
        entry("8", "7", type="branch_summary", summary="Left behind: one."),
    )
    assert taken.said == ["h No, another?", "a That way."]
    assert sorted(taken.off) == ["a This way.", "h One way?"]
    assert taken.codes == {}


@pytest.mark.parametrize(("names", "title"), [(["A", "B"], "B"), (["A", ""], "Ask")])
def test_the_last_name_of_a_session_counts_and_may_take_it_back(tmp_path, names, title):
    """cosmtrek/mindwalk#20: the newest name wins, an empty one clears it."""
    given = [
        entry(f"n{place}", "1", type="session_info", name=name) for place, name in enumerate(names)
    ]
    taken = pi(tmp_path, entry("1", None, "user", "Ask"), *given)
    assert taken.thread.title == title


def test_the_first_version_is_a_line_without_ids(tmp_path):
    """kenn-io/agentsview#75: old sessions, and the file that one was branched off from."""
    header = {"type": "session", "id": "019c-b", "branchedFrom": "/x/2026-04-01_019c-a.jsonl"}
    records = [
        {"type": "message", "message": {"role": "user", "content": "First"}},
        {"type": "message", "message": {"role": "assistant", "content": [text("Second.")]}},
    ]
    taken = Taken(jsonl(tmp_path, "old.jsonl", header, *records))
    assert taken.said == ["h First", "a Second."]
    assert taken.codes == {"parent_missing": 1}


# --- llm

LLM = """
CREATE TABLE conversations(id text primary key, name text, model text);
CREATE TABLE responses(id text primary key, model text, prompt text, system text, response text,
    conversation_id text, datetime_utc text);
CREATE TABLE threads(id text primary key, name text, tip_message_hash text, forked_from text,
    datetime_utc text);
CREATE TABLE turns(id text primary key, thread_id text, parent_message_hash text,
    tip_message_hash text, model text, datetime_utc text);
CREATE TABLE messages(hash text primary key, parent_hash text, role text);
CREATE TABLE parts(id integer primary key, message_hash text, position integer, type text,
    tool_name text, text text, payload text);
"""


def logs(folder, script):
    file = folder / "logs.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(LLM + script)
    return Taken(file)


def test_a_prompt_of_fragments_alone_has_no_words(tmp_path):
    """simonw/llm#859: the prompt is empty, the answer is there all the same."""
    taken = logs(
        tmp_path,
        """
        INSERT INTO conversations VALUES ('c1', 'one line', 'm');
        INSERT INTO responses VALUES ('r1', 'm', '', NULL, 'It forbids robots.', 'c1',
            '2026-01-01T00:00:00');
        INSERT INTO responses VALUES ('r2', 'm', 'two more', 'Be brief', 'Two lines.', 'c1',
            '2026-01-01T00:00:01');
        """,
    )
    assert taken.said == ["a It forbids robots.", "h two more", "a Two lines."]


def test_a_part_whose_words_are_borrowed_is_told(tmp_path):
    """simonw/llm#1562: since 0.36 a part that holds fragments has no text of its own."""
    taken = logs(
        tmp_path,
        """
        INSERT INTO threads VALUES ('t1', 'T', 'h2', NULL, '2026-07-01T00:00:00');
        INSERT INTO messages VALUES ('h1', NULL, 'user'), ('h2', 'h1', 'assistant');
        INSERT INTO parts VALUES (1, 'h1', 0, 'text', NULL, NULL, '{"text": {"$r": []}}');
        INSERT INTO parts VALUES (2, 'h2', 0, 'text', NULL, 'A summary.', NULL);
        """,
    )
    assert taken.said == ["a A summary."]
    assert taken.codes == {"unknown_content": 1}
