from datetime import datetime

import pytest

from graphstore.model.conversation import Role
from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers import aider

HEADER = "# aider chat started at 2026-01-02 03:04:05"
LATER = "# aider chat started at 2026-01-03 00:00:00"


def read_bytes(content, name="history.md"):
    tally = Tally(name)
    found = list(aider.read(Source.of_bytes(content, name), tally))
    for one in found:
        if isinstance(one, RawThread):
            tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def read(*lines, **more):
    return read_bytes("\n".join(lines).encode(), **more)


def run(*lines, **more):
    (found,), tally = read(HEADER, "", *lines, **more)
    return found, tally


def words(found):
    return [(turn.role.value, *turn.blocks) for turn in found.turns]


def test_a_run_has_its_head_and_its_turns():
    found, tally = run("> Aider v0.80.0  ", "> Main model: m-1 with diff edit format  ", "",
                       "#### Ask  ", "", "Answer.", "")  # fmt: skip
    assert (found.source, found.rank, found.agent, found.tree) == ("aider", 1, False, False)
    assert (found.started_at, found.models) == (datetime(2026, 1, 2, 3, 4, 5), ("m-1",))  # noqa: DTZ001
    assert (found.slash_commands, found.project, found.turns[0].at) == (True, None, None)
    assert words(found) == [("human", "Ask"), ("assistant", "Answer.")]
    assert tally.codes == {}
    assert tally.dispositions == {"meta": 2, "turn": 2}


def test_the_place_of_a_turn_is_its_lines():
    raw = f"{HEADER}\n\n#### \u00e9  \n#### more  \n\nAnswer\ngoes on\n".encode()
    (found,), _ = read_bytes(raw)
    told = [(one.line, raw[one.offset :][: one.length].decode()) for one in found.turns]
    assert told == [(3, "#### \u00e9  \n#### more  \n"), (6, "Answer\ngoes on\n")]


# --- runs


def test_every_header_begins_a_run():
    found, _ = read(HEADER, "#### One", "", LATER, "#### Two")
    assert [words(one) for one in found] == [[("human", "One")], [("human", "Two")]]
    assert [one.native_id for one in found] == list({one.native_id: 1 for one in found})


@pytest.mark.parametrize("fence", ["```", "~~~~ md", "```python"])
def test_an_open_fence_hides_no_header(fence):
    found, _ = read(HEADER, "#### One", "", fence, "code", LATER, "#### Two", "", "Answer")
    assert words(found[1]) == [("human", "Two"), ("assistant", "Answer")]


@pytest.mark.parametrize(
    "line",
    [
        "# aider chat started at fake",
        "# aider chat started at 2026-13-40 00:00:00",
        "# aider chat started at 2026-01-03 00:00:00 or so",
        " # aider chat started at 2026-01-03 00:00:00",
        "## aider chat started at 2026-01-03 00:00:00",
        "> # aider chat started at 2026-01-03 00:00:00",
    ],
)
def test_what_only_looks_like_a_header_begins_no_run(line):
    found, _ = read(HEADER, "#### One", "", line, "Answer")
    assert len(found) == 1


def test_the_id_of_a_run_is_its_time_its_place_and_its_first_prompt():
    text = [HEADER, "#### One", HEADER, "#### One", HEADER, "#### Two", LATER, "#### One"]
    found, _ = read(*text)
    ids = [one.native_id for one in found]
    assert len(set(ids)) == 4
    again, _ = read("stray", *text[:2], "", "Answer", "", "#### More")
    assert again[0].native_id == ids[0]
    other, _ = read(HEADER, "#### Other")
    assert other[0].native_id != ids[0]
    assert [one.where.endswith(")") for one in found] == [False, True, True, False]


def test_text_before_the_first_header_is_stray():
    found, tally = read("", "stray text", "more", HEADER, "#### Ask")
    assert len(found) == 1
    assert (tally.places, tally.dispositions["lost"]) == ({"stray_text": ["history.md:2"]}, 1)
    _, tally = read("", " ", HEADER)
    assert tally.codes == {}


def test_a_run_without_a_prompt_has_no_turn():
    found, tally = run("> Aider v0.80.0  ", "", "# A heading", "", "Words.")
    assert found.turns == []
    assert tally.dispositions["meta"] == tally.records == 3


def test_a_file_without_a_run_fails():
    found, tally = read("#### Ask", "", "Answer")
    assert [(type(one), one.code) for one in found] == [(ReadFailure, "no_conversation")]
    assert tally.codes == {"stray_text": 1}


def test_only_the_last_answer_may_still_grow():
    found, _ = read(HEADER, "#### One", "", "A", "", LATER, "#### Two", "", "B")
    assert [one.turns[1].stopped for one in found] == [True, False]


def test_the_project_is_the_folder_of_a_history():
    found, _ = run("#### Ask", name="/home/x/tool/.aider.chat.history.md")
    assert (found.project, found.project_sure) == ("/home/x/tool", False)
    packed, _ = run("#### Ask", name="/home/x/old.zip!tool/.aider.chat.history.md")
    assert packed.project is None


# --- prompts


def test_consecutive_prompt_lines_are_one_prompt():
    found, _ = run("#### One  ", "####   ", "####", "#### two", "", "#### Three  ")
    assert words(found) == [("human", "One\n\n\ntwo"), ("human", "Three")]


@pytest.mark.parametrize("line", ["##### Five", "### Three", "####No blank", " #### Indented"])
def test_other_headings_are_no_prompts(line):
    found, _ = run("#### Ask  ", "", "Answer", "", line)
    assert words(found)[1:] == [("assistant", f"Answer\n\n{line}")]


def test_a_fence_hides_a_prompt():
    code = ["```md", "#### not a prompt", "", "#### nor this", "#### nor this  ", "```"]
    found, _ = run("#### Ask  ", "", *code, "", "#### More")
    assert words(found) == [
        ("human", "Ask"),
        ("assistant", "\n".join(code)),
        ("human", "More"),
    ]


def test_a_prompt_as_the_program_writes_it_closes_an_open_fence():
    found, _ = run("#### Ask  ", "", "```py", "x", "", "#### Next  ", "", "A", "", "#### Last")
    assert [one[1] for one in words(found)] == ["Ask", "```py\nx", "Next", "A", "Last"]


@pytest.mark.parametrize("text", ["<blank>", "", "  "])
def test_a_blank_prompt_is_empty(text):
    found, tally = run("#### Ask", "", f"#### {text}")
    assert words(found) == [("human", "Ask")]
    assert tally.dispositions["empty"] == 1


def test_a_command_for_the_shell_is_no_prompt():
    found, tally = run("#### !ls -la")
    assert (found.turns, tally.dispositions["command"]) == ([], 1)


# --- output and answers


def test_a_quote_inside_an_answer_belongs_to_it():
    found, _ = run("#### Ask", "", "Before", "", "> quoted", ">", "> more", "", "After")
    assert words(found)[1:] == [("assistant", "Before\n\n> quoted\n>\n> more\n\nAfter")]
    assert found.turns[1].records == 3


@pytest.mark.parametrize(
    "after", [["", "#### More"], ["", LATER], [""], ["", "", "", "#### <blank>"]]
)
def test_a_quote_before_a_prompt_a_header_or_the_end_is_output(after):
    found, tally = read(HEADER, "#### Ask", "", "Answer", "", "> Applied edit to a.py", *after)
    assert words(found[0])[1] == ("assistant", "Answer")
    assert tally.dispositions["tool"] == 1
    assert found[0].turns[1].touched == ("a.py",)


def test_a_quote_with_two_blanks_at_the_end_of_a_line_is_output():
    found, tally = run("#### Ask", "", "One", "", "> Tokens: 5", "> Cost: 1  ", "", "Two")
    assert words(found)[1:] == [("assistant", "One\n\nTwo")]
    assert tally.dispositions["tool"] == 1


def test_output_may_go_on_without_its_mark():
    found, tally = run("#### Ask", "", "One", "", "> Tokens: 5 sent.", "Cost: 1.  ", "", "Two")
    assert words(found)[1:] == [("assistant", "One\n\nTwo")]
    assert tally.dispositions["tool"] == 1
    found, _ = run("#### Ask", "", "> quoted", "lazily", "", "Two")
    assert words(found)[1:] == [("assistant", "> quoted\nlazily\n\nTwo")]


@pytest.mark.parametrize("command", ["/run pytest", "/test", "!pytest", "/git log", "/map"])
def test_what_a_command_shows_is_output_to_its_end(command):
    shown = ["> ==== tests ====", "", "def test():", ">   assert x", "inner  ", "E  failed", "",
             "one failed  "]  # fmt: skip
    found, tally = run(f"#### {command}", *shown, "", "> Add? y  ", "", "Answer", "", "#### More")
    assert [one[1] for one in words(found) if one[1] != command] == ["Answer", "More"]
    assert tally.dispositions["tool"] == 2
    found, _ = run("#### /run x", "> never ends", "", "Answer", "", "#### More  ")
    assert ("assistant", "> never ends\n\nAnswer") in words(found)


@pytest.mark.parametrize(
    ("before", "marked"),
    [(["> Applied edit to a.py  "], "> Commit 1a2b Sharper"), ([], "> Now at: 1a2b Sharper")],
)
def test_what_the_program_says_at_once_is_output_to_its_end(before, marked):
    asked = ["#### Sharpen", "", "Done", ""] if before else ["#### /undo"]
    told = [marked, "", "Its long reason.", "", "Its other reason.  "]
    found, tally = run(*asked, *before, *told, "", "#### More")
    assert "reason" not in str(words(found))
    assert tally.dispositions["tool"] == 1
    found, _ = run("#### Ask", "", "> a  ", "> b", "", "Answer", "", "> Tokens: 5  ", "", "#### M")
    assert ("assistant", "Answer") in words(found)  # a message without an end hides no answer


def test_words_that_answer_a_question_of_the_program_are_a_prompt():
    asked = ["> one failed  ", "> Add the output to the chat?", "[Y/n/instructions] mend it  "]
    found, tally = run("#### /test", "> ran  ", *asked, "> ran again  ", "", "Mended")
    assert words(found) == [("human", "/test"), ("human", "mend it"), ("assistant", "Mended")]
    assert tally.dispositions["tool"] == 2
    found, _ = run("#### /test", "> Add? (y/n/instructions): mend it  ", "", "Mended")
    assert words(found)[1] == ("human", "mend it")
    found, _ = run("#### /test", "> ran  ", "> Add?", "(Y/n/instructions) N  ")
    assert words(found) == [("human", "/test")]


def test_lines_of_an_edit_are_no_quotes():
    edit = ["a.py", "```py", "<<<<<<< SEARCH", ">>> x", "=======", ">>>>>>> REPLACE", "```"]
    found, _ = run("#### Ask", "", *edit)
    assert words(found)[1:] == [("assistant", "\n".join(edit))]


def test_edits_told_after_the_answer_are_its_own():
    found, _ = run(
        "#### Ask", "", "Answer", "", "> Applied edit to a.py  ", "> Applied edit to b c.py  ", "",
        "#### /undo", "> Applied edit to c.py  ",
    )  # fmt: skip
    assert [one.touched for one in found.turns] == [(), ("a.py", "b c.py"), ()]
    assert [one.role for one in found.turns] == [Role.HUMAN, Role.ASSISTANT, Role.HUMAN]


# --- sniffing


@pytest.mark.parametrize(
    ("text", "is_ours"),
    [
        (HEADER, True),
        (f"stray\r\n{HEADER}\r\n", True),
        (f"{HEADER} or so", False),
        ("# aider chat started at 2026-13-40 00:00:00", False),
        ("#### Ask\n", False),
        ('{"a": 1}', False),
    ],
)
def test_a_header_tells_the_format(text, is_ours):
    src = Source.of_bytes(text.encode())
    assert (aider.sniff(src.peek(), src) is not None) == is_ours


def test_a_history_is_looked_at_further():
    text = b"x" * 70000 + b"\n" + HEADER.encode()
    for name, is_ours in (("/w/.aider.chat.history.md", True), ("/w/notes.md", False)):
        src = Source.of_bytes(text, name)
        assert (aider.sniff(src.peek(), src) is not None) == is_ours
