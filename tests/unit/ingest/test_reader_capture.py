from datetime import UTC, datetime

import pytest

from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers import capture
from ingest.sniff import choose
from tests.ingest_memory import Memory

LATE = datetime(2100, 1, 1, tzinfo=UTC)
WELCOME = """$ claude
╭───────────────────────╮
│ ✻ Welcome             │
│   cwd: /w/a           │
╰───────────────────────╯

 ※ Tip: press a key
"""


def read(text):
    tally = Tally("day.md")
    raw = text if isinstance(text, bytes) else text.encode()
    found = list(capture.read(Source.of_bytes(raw, "day.md"), tally))
    for one in found:
        if isinstance(one, RawThread):
            tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def words(text):
    ((found,), _) = read(text)
    assert isinstance(found, RawThread)
    return [(turn.role.value, *turn.blocks) for turn in found.turns]


def ingested(tmp_path, text, **options):
    file = tmp_path / "day.md"
    file.write_text(text, "utf-8")
    store = Memory()
    store.ingest(file, now=LATE, **options)
    (thread,) = store.threads.values()
    return thread


def test_prompts_and_answers_go_on_in_indented_lines():
    text = """> First line of what is asked
  goes on here

  and after a blank line
⏺ The answer
  - one
    - nested

  the end

> Again
"""
    assert words(WELCOME + text) == [
        ("human", "First line of what is asked\ngoes on here\n\nand after a blank line"),
        ("assistant", "The answer\n- one\n  - nested\n\nthe end"),
        ("human", "Again"),
    ]


def test_frames_spinners_and_figures_are_no_words():
    text = """> ask
⏺ answer
  ┌────┬────┐
  │ a  │ b  │
  └────┴────┘
· Working… (3s · esc to interrupt)
Total cost:   $1
Total duration: 3s
----
A remark of my own
╭──────╮
│ > a draft │
╰──────╯
"""
    ((found,), tally) = read(WELCOME + text)
    assert found.turns[1].blocks == ("answer\n│ a  │ b  │",)
    assert len(found.turns) == 2
    assert tally.codes == {}
    assert tally.dispositions["meta"] >= 2


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Bash(ls -la)…", "Bash"),
        ('Read(file_path: "a.py")', "Read"),
        ("Web Search(x)", "Web Search"),
        ("github:create_issue (MCP)(title: x)", "github:create_issue (MCP)"),
        ("mcp__git__log(x)", "mcp__git__log"),
    ],
)
def test_a_dot_before_a_call_is_a_tool(line, name):
    ((found,), tally) = read(f"> ask\n\n⏺ {line}\n  ⎿  out\n     more\n\n     more still\n⏺ done\n")
    assert [(turn.role.value, *turn.blocks) for turn in found.turns] == [
        ("human", "ask"), ("assistant", "done"),
    ]  # fmt: skip
    assert found.turns[1].calls == ((name, 1),)
    assert tally.dispositions == {"tool": 1, "turn": 2}


@pytest.mark.parametrize(
    "line", ["Perfect (mostly): it works", "list_books(limit) is the one", "See f(x)", "I am done."]
)
def test_a_dot_before_words_is_an_answer(line):
    assert words(f"> ask\n⏺ {line}\n") == [("human", "ask"), ("assistant", line)]


def test_a_name_with_a_result_right_below_is_a_tool():
    text = "> ask\n⏺ Update Todos            Cost: $0.07 (10.1s)\n  ⎿ \xa0☐ one\n⏺ done\n"
    assert words(text) == [("human", "ask"), ("assistant", "done")]
    said = "> ask\n⏺ This is a whole sentence of an answer.\n  ⎿  Interrupted by user\n"
    assert words(said)[1] == ("assistant", "This is a whole sentence of an answer.")


def test_results_under_a_prompt_and_shell_lines_are_tools():
    text = "> look at this\n  ⎿  Selected 3 lines\n! ls\n  ⎿  a.py\n⏺ seen\n"
    ((found,), tally) = read(text)
    assert [turn.blocks for turn in found.turns] == [("look at this",), ("seen",)]
    assert found.turns[1].calls == ()
    assert tally.dispositions == {"tool": 2, "turn": 2}


def test_thinking_is_no_answer():
    text = "> ask\n\n✻ Thinking…\n\n  hm\n\n  and so on\n\n⏺ answer\n"
    ((found,), tally) = read(text)
    assert [turn.blocks for turn in found.turns] == [("ask",), ("answer",)]
    assert tally.dispositions == {"thinking": 1, "turn": 2}


def test_what_is_said_on_the_way_is_interim(tmp_path):
    text = """> ask
⏺ Let me look
⏺ Read(src/a.py)
  ⎿  Read 3 lines
⏺ Then this
⏺ Edit(file_path: "src/b.py", old: 1)
  ⎿  done
⏺ The answer
"""
    found = ingested(tmp_path, text)
    assert [turn.text for turn in found.turns] == ["ask", "The answer"]
    assert [(one.name, one.count) for one in found.turns[1].tools.counts] == [
        ("Edit", 1), ("Read", 1),
    ]  # fmt: skip
    assert found.turns[1].tools.touched == ("src/a.py", "src/b.py")


def test_commands_and_a_continued_session_are_no_turns(tmp_path):
    text = """> /cost
  ⎿  Total cost: $1
=========== Previous Conversation Compacted ===========
> This session is being continued from a previous conversation that ran out of context.
  <analysis> of it
> ask
⏺ answer
"""
    found = ingested(tmp_path, text)
    assert [turn.text for turn in found.turns] == ["ask", "answer"]
    assert [event.kind for event in found.events] == ["compaction", "command"]


def test_a_capture_that_grows_is_the_same_thread(tmp_path):
    first = ingested(tmp_path, "> ask\n⏺ answer\n")
    second = ingested(tmp_path, "> ask\n⏺ answer\n> more\n")
    assert first.thread_id == second.thread_id
    assert first.source == "capture"
    assert first.title == "ask"


def test_results_of_tools_are_side_turns_where_the_owner_asks_for_them(tmp_path):
    found = ingested(tmp_path, "> ask\n⏺ Bash(ls)\n  ⎿  a.py\n⏺ done\n", keep_context=True)
    assert [turn.taint.value for turn in found.turns] == ["human", "tool", "assistant"]
    assert "a.py" in found.turns[1].text


def test_places_are_those_of_the_file():
    text = "before\n> ask\n  more\n⏺ answer\n"
    ((found,), _) = read(text)
    one = found.turns[0]
    assert (one.line, text.encode()[one.offset : one.offset + one.length]) == (
        2, b"> ask\n  more\n",
    )  # fmt: skip


def test_without_prompt_and_answer_there_is_no_conversation():
    ((failure,), tally) = read("just words\n  ⎿  out\n")
    assert isinstance(failure, ReadFailure)
    assert failure.code == "no_conversation"
    assert tally.dispositions == {"meta": 1, "tool": 1}


@pytest.mark.parametrize(
    ("text", "is_capture"),
    [
        ("> ask\n\n⏺ answer\n", True),
        ("# Day\n\n> ask\n\n⏺\xa0answer\n", True),
        ("> ask\n\n● Bash(ls)\n  ⎿  out\n", True),
        ("> a quote\n\n● and a bullet\n", False),
        ("> a quote\n\nof a note\n", False),
        ("⏺ a dot\n", False),
        ("  > ask\n  ⏺ answer\n", False),
    ],
)
def test_it_is_known_by_prompts_together_with_dots(text, is_capture):
    found = choose(Source.of_bytes(text.encode(), "x.bin"))
    assert (found is capture) == is_capture
