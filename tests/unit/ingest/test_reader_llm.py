import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.model.conversation import LineageKind
from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers import _sqlite, llm
from ingest.sniff import choose
from tests.ingest_memory import Memory

NEW = """
CREATE TABLE threads(id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT,
  datetime_utc TEXT);
CREATE TABLE turns(id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT,
  tip_message_hash TEXT, model TEXT, datetime_utc TEXT);
CREATE TABLE messages(hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT);
CREATE TABLE parts(id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT,
  tool_name TEXT, text TEXT);
"""
OLD = """
CREATE TABLE conversations(id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE responses(id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, response TEXT,
  conversation_id TEXT, datetime_utc TEXT);
"""
AT = "2026-03-01T08:00:00+00:00"


class Logs:
    """A database of the tool, filled by hand."""

    def __init__(self, folder, schema=OLD + NEW, name="logs.db"):
        self.file = folder / name
        self.connection = sqlite3.connect(self.file)
        self.connection.executescript(schema)

    def put(self, table, *rows):
        for row in rows:
            marks = ", ".join("?" * len(row))
            text = f"INSERT INTO {table} VALUES ({marks})"  # noqa: S608 - names of the test
            self.connection.execute(text, row)
        self.connection.commit()
        return self

    def say(self, key, parent, role, *texts):
        self.put("messages", (key, parent, role))
        for place, text in enumerate(texts):
            self.put("parts", (None, key, place, "text", None, text))
        return self

    def thread(self, name, tip, forked=None, title=None):
        return self.put("threads", (name, title, tip, forked, AT))

    def done(self):
        self.connection.close()
        return self.file


@pytest.fixture
def logs(tmp_path):
    made = Logs(tmp_path)
    yield made
    made.connection.close()


def read(file, tally=None):
    src = Source.of_file(file) if hasattr(file, "open") else Source.of_bytes(file, "x.db")
    tally = tally or Tally("logs.db")
    found = list(llm.read(src, tally))
    for one in found:
        if isinstance(one, RawThread):
            tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def only(file):
    (found,), tally = read(file)
    assert isinstance(found, RawThread)
    return found, tally


def beside(file):
    return {one.name: one.read_bytes() for one in file.parent.glob(f"{file.name}*")}


def words(found):
    return [(turn.role.value, *turn.blocks) for turn in found.turns]


def test_the_main_line_is_read_from_its_end_up(logs):
    logs.say("a", None, "user", "ask").say("b", "a", "assistant", "answer")
    logs.say("c", "b", "user", "more", "and more").say("x", "b", "user", "elsewhere")
    logs.thread("t", "c", title="Asked")
    logs.put("turns", ("1", "t", "a", "b", "m-1", AT), ("2", "t", "c", "c", "m-2", None))
    found, tally = only(logs.done())
    assert words(found) == [
        ("human", "ask"), ("assistant", "answer"), ("human", "more", "and more"),
    ]  # fmt: skip
    assert (found.native_id, found.titles[0].text, found.models) == ("t", "Asked", ("m-1", "m-2"))
    when = datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert [turn.at for turn in found.turns] == [when, when, None]
    assert [turn.key for turn in found.turns] == ["a", "b", "c"]
    assert (tally.records, tally.codes) == (3, {})


def test_parts_go_by_position_and_only_text_is_words(logs):
    logs.put("messages", ("a", None, "assistant"))
    logs.put(
        "parts",
        (None, "a", 2, "text", None, "last"),
        (None, "a", 0, "text", None, "first"),
        (None, "a", 1, "reasoning", None, "hm"),
        (None, "a", 3, "tool_call", "search", "{}"),
    )
    found, _ = only(logs.thread("t", "a").done())
    assert words(found) == [("assistant", "first", "last")]
    assert found.turns[0].calls == (("search", 1),)


def test_system_words_and_tools_are_no_turns(logs):
    logs.say("s", None, "system", "be terse").say("a", "s", "user", "ask")
    logs.say("t", "a", "tool", "result").say("q", "t", "alien", "?")
    found, tally = only(logs.thread("t", "q").done())
    assert words(found) == [("human", "ask")]
    assert tally.dispositions == {"injected": 1, "tool": 1, "meta": 1, "turn": 1}
    assert tally.codes == {"unknown_record": 1}


def test_results_of_tools_are_side_turns_where_the_owner_asks_for_them(logs):
    logs.put("messages", ("t", None, "tool"))
    logs.put("parts", (None, "t", 0, "tool_result", "search", "found"))
    store = Memory()
    store.ingest(logs.thread("t", "t").done(), keep_context=True)
    (turn,) = store.threads["llm:t"].turns
    assert (turn.role, turn.taint, turn.text) == ("other", "tool", "found")


def test_an_answer_given_twice_is_an_alternative(logs):
    logs.say("a", None, "user", "ask").say("b", "a", "assistant", "one")
    logs.say("c", "a", "assistant", "two").thread("t", "c")
    logs.put("turns", ("1", "t", "a", "b", "m", AT), ("2", "t", "a", "c", "m", AT))
    found, _ = only(logs.done())
    assert [(turn.key, turn.alternative) for turn in found.turns] == [
        ("a", False), ("c", False), ("b", True),
    ]  # fmt: skip


def test_messages_shared_by_hash_are_a_shared_prefix(logs):
    logs.say("a", None, "user", "ask").say("b", "a", "assistant", "one")
    logs.say("c", "b", "user", "this way").say("d", "b", "user", "that way")
    logs.thread("p", "c").thread("k", "d", forked="p")
    store = Memory()
    store.ingest(logs.done())
    child = store.threads["llm:k"]
    assert [turn.text for turn in child.turns] == ["that way"]
    (link,) = child.lineage
    assert (link.kind, link.parent, link.split_turn) == (LineageKind.FORKED_FROM, "llm:p", 2)


def test_a_missing_message_a_cycle_and_an_empty_thread_end_the_walk(logs):
    logs.say("b", "gone", "user", "ask").thread("t", "b")
    logs.say("x", "y", "user", "1").say("y", "x", "user", "2").thread("u", "x")
    logs.thread("v", None)
    found, tally = read(logs.done())
    assert [words(one) for one in found] == [
        [("human", "ask")], [("human", "2"), ("human", "1")], [],
    ]  # fmt: skip
    assert tally.codes == {"missing_message": 1, "parent_cycle": 1}


def test_the_older_storage_has_two_turns_a_row(logs):
    logs.put("conversations", ("k", "Named", "m-1"), ("none", None, None))
    logs.put(
        "responses",
        ("2", "m-2", "second", "be terse", "two", "k", "2026-03-02T00:00:00"),
        ("1", "m-1", "first", None, "one", "k", "2026-03-01T00:00:00"),
        ("3", "m-1", "alone", None, "", None, "soon"),
        ("4", "m-1", None, None, "unasked", "k", None),
    )
    found, tally = read(logs.done())
    told = {one.native_id: words(one) for one in found}
    assert told == {
        "3": [("human", "alone")],
        "k": [
            ("assistant", "unasked"),
            ("human", "first"), ("assistant", "one"), ("human", "second"), ("assistant", "two"),
        ],
        "none": [],
    }  # fmt: skip
    named = next(one for one in found if one.native_id == "k")
    assert (named.titles[0].text, named.models) == ("Named", ("m-1", "m-2"))
    assert named.turns[1].at == datetime(2026, 3, 1, tzinfo=UTC)
    assert (tally.records, tally.codes) == (4, {"bad_timestamp": 1})


def test_columns_that_are_not_there_are_unknown(tmp_path):
    schema = """CREATE TABLE conversations(id TEXT);
    CREATE TABLE responses(id TEXT, prompt TEXT, response TEXT, conversation_id TEXT);"""
    logs = Logs(tmp_path, schema)
    logs.put("responses", ("1", "ask", "answer", "k"))
    found, _ = only(logs.done())
    assert words(found) == [("human", "ask"), ("assistant", "answer")]


def test_rows_of_the_log_are_read_and_nothing_is_written(tmp_path):
    logs = Logs(tmp_path, OLD)
    logs.connection.execute("PRAGMA journal_mode=WAL")
    logs.put("conversations", ("k", None, None))
    logs.put("responses", ("1", "m", "newest", None, "yes", "k", AT))
    before = beside(logs.file)
    assert len(before) == 3
    found, _ = only(logs.file)
    assert words(found) == [("human", "newest"), ("assistant", "yes")]
    assert beside(logs.file) == before
    logs.connection.close()


def test_tables_that_only_the_log_has_are_known(tmp_path):
    file = tmp_path / "logs.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(OLD)
        assert _sqlite.tables(Source.of_file(file)).keys() == {"conversations", "responses"}
        assert choose(Source.of_file(file)) is not None


def test_rows_that_are_new_in_the_log_make_it_read_again(tmp_path):
    logs = Logs(tmp_path, OLD)
    logs.connection.execute("PRAGMA journal_mode=WAL")
    logs.put("responses", ("1", "m", "first", None, "yes", "k", AT))
    store = Memory()
    late = datetime(2100, 1, 1, tzinfo=UTC)
    store.ingest(logs.file, now=late)
    logs.put("responses", ("2", "m", "second", None, "yes", "k", AT))
    assert store.ingest(logs.file, now=late).grown == 1
    assert len(store.threads["llm:k"].turns) == 4
    logs.connection.close()


def test_an_empty_log_leaves_the_database_where_it_is(logs, monkeypatch):
    file = logs.thread("t", None).done()
    _sqlite.log_of(file).touch()
    monkeypatch.setattr(_sqlite, "_copied", None)
    assert only(file)[0].native_id == "t"


def test_a_database_that_keeps_changing_is_given_up(logs, monkeypatch):
    file = logs.done()
    _sqlite.log_of(file).write_bytes(b"x")
    states = iter(range(100))
    monkeypatch.setattr(_sqlite, "_state", lambda _: next(states))
    ((failure,), _) = read(file)
    assert (failure.code, failure.detail) == ("unreadable_file", "Changing")
    assert next(states) == 6


def test_a_database_in_memory_is_read_even_if_it_asks_for_a_log(tmp_path):
    logs = Logs(tmp_path, OLD)
    logs.connection.execute("PRAGMA journal_mode=WAL")
    logs.put("responses", ("1", "m", "ask", None, "yes", "k", AT))
    content = logs.done().read_bytes()
    assert content[18:20] == b"\2\2"
    assert words(only(content)[0]) == [("human", "ask"), ("assistant", "yes")]
    chosen = choose(Source.of_bytes(content, "any name"))
    assert not isinstance(chosen, ReadFailure)
    assert chosen is not None
    assert chosen.NAME == "llm"


def test_a_database_too_large_for_memory_is_told(logs, monkeypatch):
    content = logs.done().read_bytes()
    monkeypatch.setattr(_sqlite, "MEMORY_LIMIT", 100)
    ((failure,), _) = read(content)
    assert failure.code == "unreadable_file"
    src = Source("x", "x", 10, 0, Source.of_bytes(content).opener)
    assert [one.code for one in llm.read(src, Tally()) if isinstance(one, ReadFailure)] == [
        "unreadable_file"
    ]


def test_bad_text_is_replaced_and_counted(logs):
    logs.say("a", None, "user")
    logs.connection.execute(
        "INSERT INTO parts VALUES (1, 'a', 0, 'text', NULL, CAST(X'61FF62' AS TEXT))"
    )
    logs.put("threads", ("t", b"blob", "a", None, 7))
    found, tally = only(logs.done())
    assert words(found) == [("human", "a\ufffdb")]
    assert tally.codes["bad_utf8"] >= 1


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    logs = Logs(tmp_path_factory.mktemp("logs"))
    for number in range(40):
        logs.say(f"m{number}", f"m{number - 1}", "user", "word " * 50)
    logs.put("responses", *[(f"r{n}", "m", "ask", None, "yes " * 40, "k", AT) for n in range(40)])
    content = logs.thread("t", "m39").done().read_bytes()
    return lambda: content


@given(st.integers(16, 40_000), st.binary(min_size=1, max_size=300), st.integers(0, 60_000))
def test_a_damaged_database_is_told_and_accounted_for(sound, at, junk, cut):
    hurt = sound()[:at] + junk + sound()[at + len(junk) :]
    read(hurt)
    read(hurt[:cut])
    choose(Source.of_bytes(hurt, "x.db"))


def test_what_was_in_hand_when_a_database_broke_off_is_lost():
    tally = Tally("x")

    def breaking():
        tally.read(3)
        tally.drop("tool")
        yield RawThread("llm", "t")
        tally.read(2)
        tally.drop("tool")
        raise sqlite3.DatabaseError

    found = list(_sqlite.guarded(breaking(), Source.of_bytes(b""), tally))
    assert [one.code for one in found if isinstance(one, ReadFailure)] == ["unreadable_file"]
    assert tally.dispositions == {"tool": 2, "lost": 1}


def test_other_databases_are_left_to_others(tmp_path):
    logs = Logs(tmp_path, "CREATE TABLE threads(id TEXT); CREATE TABLE other(id TEXT);")
    found = choose(Source.of_file(logs.done()))
    assert isinstance(found, ReadFailure)
    assert found.code == "unknown_format"
    assert _sqlite.tables(Source.of_bytes(b"no database")) == {}
    assert _sqlite.tables(Source.of_bytes(b"SQLite format 3\0 but no more")) == {}
