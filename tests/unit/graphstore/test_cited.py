"""Addresses and numbers that stand for threads."""

import pytest

from graphstore.cited import is_reference, meant

CHAT = "0d2b3c4e-1111-4222-8333-444455556666"


@pytest.mark.parametrize(
    ("written", "thread"),
    [
        ("o/r#12", ("issues", "o/r#12")),
        ("g/sub/p!3", ("issues", "g/sub/p!3")),
        ("https://github.com/o/r/issues/12", ("issues", "o/r#12")),
        ("https://github.com/o/r/pull/12/files#r1", ("issues", "o/r#12")),
        ("http://github.com/o/r/issues/12?a=b", ("issues", "o/r#12")),
        ("https://git.example/g/sub/p/-/issues/3#note_1", ("issues", "g/sub/p#3")),
        ("https://git.example/g/p/-/merge_requests/3", ("issues", "g/p!3")),
        (f"https://chatgpt.com/c/{CHAT}", ("chatgpt", CHAT)),
        (f"https://chat.openai.com/g/g-1/c/{CHAT}?x=1", ("chatgpt", CHAT)),
        (f"https://claude.ai/chat/{CHAT}", ("claude-ai", CHAT)),
        (
            "https://team.slack.com/archives/C1/p1767225600000100",
            ("slack", "C1:1767225600.000100"),
        ),
        (
            "https://team.slack.com/archives/C1/p1767225699000100?thread_ts=1767225600.000100",
            ("slack", "C1:1767225600.000100"),
        ),
    ],
)
def test_what_stands_for_a_thread_anywhere(written, thread):
    assert is_reference(written)
    assert meant(written) == thread
    assert meant(written, "issues", "other/place#1") == thread


@pytest.mark.parametrize(
    ("written", "native", "cited"),
    [
        ("#12", "o/r#1", "o/r#12"),
        ("!12", "g/p#1", "g/p!12"),
        ("#12", "g/p!1", "g/p#12"),
        ("#12", "1", "12"),
    ],
)
def test_a_number_alone_counts_in_its_repository(written, native, cited):
    assert meant(written, "issues", native) == ("issues", cited)


@pytest.mark.parametrize(
    ("source", "native"), [("", ""), ("chatgpt", "o/r#1"), ("issues", "strange")]
)
def test_a_number_alone_says_nothing_anywhere_else(source, native):
    assert is_reference("#12")
    assert meant("#12", source, native) is None


@pytest.mark.parametrize(
    "written",
    ["[[o/r#12]]", "#tag", "#1234567890", "r#12", "https://x.example/issues/12",
     "https://github.com/o/r/issues", "https://github.com/o/r/issues/12x",
     "https://chatgpt.com/share/1", "https://slack.com/archives/C1", "", "/issues/1"],
)  # fmt: skip
def test_what_stands_for_no_thread(written):
    assert not is_reference(written)
    assert meant(written, "issues", "o/r#1") is None
