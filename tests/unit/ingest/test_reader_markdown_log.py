from datetime import UTC, datetime

import pytest

from graphstore.model.conversation import Role
from ingest.model import RawThread, ReadFailure, Source, Tally, TitleCandidate
from ingest.readers import markdown_log
from ingest.readers.markdown_log import head_of, heads


def read_bytes(content, name="log.md"):
    tally = Tally(name)
    found = list(markdown_log.read(Source.of_bytes(content, name), tally))
    for one in found:
        if isinstance(one, RawThread):
            tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def log(*lines):
    (found,), tally = read_bytes("\n".join(lines).encode())
    return found, tally


def words(found):
    return [(turn.role.value, *turn.blocks) for turn in found.turns]


TALK = ["**You:** Ask", "", "**Claude:** Answer"]


def sniffed(text, **more):
    src = Source.of_bytes(text.encode(), **more)
    return markdown_log.sniff(src.peek(), src) is not None


# --- heads


@pytest.mark.parametrize(
    ("human", "assistant"),
    [
        ("#### You:", "#### ChatGPT:"),
        ("## User", "## Assistant"),
        ("# USER", "# assistant"),
        ("**You:**", "**Claude:**"),
        ("**You**:", "**ChatGPT**:"),
        ("__Me:__", "__Gemini 2.5 Pro:__"),
        ("You:", "Assistant:"),
        ("Human:", "AI:"),
        ("user:", "claude-3-opus:"),
        ("## User  ", "## GPT-4o"),
        ("### Me:", "### Model:"),
        ("You said:", "ChatGPT said:"),
        ("**You said:**", "**ChatGPT said:**"),
        ("#### You said:", "#### Claude said:"),
        ("## Prompt:", "## Response:"),
        ("**User**", "**Cursor**"),
        ("**User**  ", "**Assistant**"),
    ],
)
def test_every_style_of_heads_is_known(human, assistant):
    lines = [human, "", "Ask", "", assistant, "", "Answer", human, "More"]
    found, tally = log(*lines)
    assert words(found) == [("human", "Ask"), ("assistant", "Answer"), ("human", "More")]
    assert (found.source, found.native_id, found.growing, found.rank) == (
        "markdown-log",
        None,
        True,
        3,
    )
    assert (found.agent, found.tree, tally.codes) == (False, False, {})
    assert sniffed("\n".join(lines))
    assert sniffed("\r\n".join(lines))


@pytest.mark.parametrize(
    "text",
    [
        "## Users",
        "## User guide",
        "## Model",
        "#### Details",
        "##User",
        " ## User",
        "> **You:** x",
        "**You** said",
        "**Bold:** x",
        "Yours: x",
        "You said: x",
        "Claude says hi: x",
        "You:x",
        "You",
        "- You: x",
        "",
    ],
)
def test_other_lines_are_no_heads(text):
    assert head_of(text) is None


def test_words_may_follow_the_name():
    found, _ = log("You: Ask", "more", "AI: Answer", "", "You:", "Go on")
    assert [one[1] for one in words(found)] == ["Ask\nmore", "Answer", "Go on"]


def test_only_heads_like_the_first_part_turns():
    found, _ = log("#### You:", "Ask", "#### ChatGPT:", "A", "## User", "AI: no", "#### Details")
    assert words(found) == [("human", "Ask"), ("assistant", "A\n## User\nAI: no\n#### Details")]


def test_the_first_head_counts_only_if_its_like_comes_again():
    found, _ = log("You: see below", "## User", "Ask", "## Assistant", "Answer")
    assert words(found) == [("human", "Ask"), ("assistant", "Answer")]


def test_heads_in_fences_are_none():
    code = ["```", "**You:** not me", "```"]
    found, _ = log(*TALK, "", *code)
    assert words(found)[1] == ("assistant", "\n".join(["Answer", "", *code]))


def test_a_fence_that_nothing_closes_hides_no_head():
    found, _ = log(*TALK, "", "````py", "x", "", "**You:** More")
    assert [one[0] for one in words(found)] == ["human", "assistant", "human"]


@pytest.mark.parametrize("head", ["You said:", "## Prompt:", "## Response:", "**Cursor**"])
def test_weak_heads_must_be_of_both_speakers(head):
    assert not sniffed(f"{head}\n\nWords\n\n{head}\n\nMore")
    assert head_of(f"{head} and words") is None


def test_plain_heads_must_be_of_both_speakers():
    assert heads(["user: root", "x", "user: other"]) == {}
    assert [one.role for one in heads(["user: a", "ai: b"]).values()] == [
        Role.HUMAN,
        Role.ASSISTANT,
    ]
    assert len(heads(["## User", "x", "## User"])) == 2


# --- turns


def test_the_place_of_a_turn_is_its_lines():
    raw = "---\na: b\n---\n\n**You:** \u00e9\n\n**Claude:**\nAnswer\n".encode()
    (found,), _ = read_bytes(raw)
    told = [(one.line, raw[one.offset :][: one.length].decode()) for one in found.turns]
    assert told == [(5, "**You:** \u00e9\n\n"), (7, "**Claude:**\nAnswer\n")]


def test_a_head_without_words_is_empty():
    found, tally = log("You:", "", "AI: Answer", "You:")
    assert words(found) == [("assistant", "Answer")]
    assert tally.dispositions["empty"] == 2


def test_a_rule_after_every_turn_parts_them():
    found, _ = log("You: Ask", "", "---", "", "AI: A", "***", "", "You: More", "", "---")
    assert [one[1] for one in words(found)] == ["Ask", "A", "More"]
    found, _ = log("You: Ask", "", "AI: A", "", "---", "", "You: More")
    assert [one[1] for one in words(found)] == ["Ask", "A\n\n---", "More"]


# --- front matter and what else stands before the first head


def test_text_before_the_first_head_is_no_turn():
    found, tally = log("# A talk", "saved by hand", "", *TALK)
    assert found.titles == (TitleCandidate("heading", "A talk"),)
    assert (len(found.turns), tally.dispositions["meta"]) == (2, 1)


def test_front_matter_gives_title_times_and_model():
    found, tally = log(
        "---", "title: 'A: [[talk]] | #1'", "created: 2026-01-02T03:04:05Z",
        "updated: 2026-01-03T00:00:00Z", "model: m-1", "user: x", "ai: y", "---", *TALK,
    )  # fmt: skip
    assert found.titles == (TitleCandidate("native", "A: [[talk]] | #1"),)
    assert found.started_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert found.ended_at == datetime(2026, 1, 3, tzinfo=UTC)
    assert (found.models, len(found.turns), tally.codes) == (("m-1",), 2, {})


def test_front_matter_that_is_not_understood_is_noted():
    found, tally = log("---", "title: T", "a: {b: c}", "date: soon", "---", *TALK)
    assert (len(found.turns), found.started_at) == (2, None)
    assert tally.codes == {"front_matter": 1, "bad_timestamp": 1}
    assert tally.places["front_matter"] == ["log.md:3"]


@pytest.mark.parametrize(
    ("link", "source", "native"),
    [
        ("source: https://chatgpt.com/c/x-1", "chatgpt", "x-1"),
        ("url: https://chat.openai.com/g/g-5/c/abc?model=x", "chatgpt", "abc"),
        ("source: me\nlink: 'https://claude.ai/chat/u-1'", "claude-ai", "u-1"),
        ("source: https://gemini.google.com/u/0/app/77", "gemini", "77"),
        ("source: https://chatgpt.com/share/x", "markdown-log", None),
        ("source: https://example.org/https://chatgpt.com/c/x", "markdown-log", None),
    ],
)
def test_the_page_that_it_was_copied_from_gives_the_id(link, source, native):
    found, _ = log("---", *link.split("\n"), "---", *TALK)
    assert (found.source, found.native_id) == (source, native)
    assert found.native_ids == ((native,) if native else ())


# --- sniffing


@pytest.mark.parametrize(
    "text",
    [
        "You: Ask",
        "# Title\n\nText",
        "---\nuser: x\nai: y\n---\ntext",
        "```\nYou: a\nAI: b\n```\n",
        '{"You": 1}',
        "",
    ],
)
def test_a_text_without_two_heads_is_not_ours(text):
    assert not sniffed(text)


def test_a_second_head_may_stand_far_down():
    assert sniffed("**You:** Ask\n" + "long words\n" * 9000 + "**AI:** Answer")
    assert not sniffed("x\n" * 40000 + "**You:** Ask\n**AI:** Answer")


@pytest.mark.parametrize("raw", [b"", b"\n", b"text\n"])
def test_a_file_without_heads_fails(raw):
    found, _ = read_bytes(raw)
    assert [(type(one), one.code) for one in found] == [(ReadFailure, "no_conversation")]
