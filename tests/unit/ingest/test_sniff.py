import json
from pathlib import Path

import pytest

from graphstore.errors import UnknownReader
from ingest import sniff as sniffing
from ingest.model import ReadFailure, Score, Source
from ingest.shape import look, partial
from ingest.sniff import choose, reader_named, readers
from tests.claude_talk import Talk

DATA = Path(__file__).parents[2] / "data" / "ingest"
SAMPLES = {
    "claude-code": (DATA / "03-split-assistant-message-id.jsonl").read_bytes(),
    "chatgpt": (DATA / "30-chatgpt-null-title.json").read_bytes(),
    "generic": (DATA / "74-openai-messages.jsonl").read_bytes(),
    "specstory": (DATA / "61-specstory-a.md").read_bytes(),
    "markdown-log": (DATA / "62-markdown-you-chatgpt.md").read_bytes(),
    "aider": (DATA / "60-aider-history.md").read_bytes(),
    "gemini-cli": (DATA / "50-gemini-session.json").read_bytes(),
    "claude-ai": (DATA / "41-claudeai-bare-array.json").read_bytes(),
    "llm": (DATA / "94-llm-both.db").read_bytes(),
    "opencode": (DATA / "71-opencode.db").read_bytes(),
    "oasst": (DATA / "90-oasst-ranked.jsonl").read_bytes(),
    "pi": (DATA / "91-pi-branches.jsonl").read_bytes(),
    "capture": (DATA / "92-capture.md").read_bytes(),
    "codex": (DATA / "23-codex-double-written.jsonl").read_bytes(),
    "cursor": (DATA / "70-cursor-state.vscdb").read_bytes(),
    "openwebui": (DATA / "72-openwebui.json").read_bytes(),
    "librechat": (DATA / "73-librechat.json").read_bytes(),
    "copilot-cli": (DATA / "95-copilot-events.jsonl").read_bytes(),
    "discord": (DATA / "96-discord.json").read_bytes(),
    "issues": (DATA / "97-issues.json").read_bytes(),
    "takeout": (DATA / "98-takeout.json").read_bytes(),
}


def chosen(content, forced=None):
    found = choose(Source.of_bytes(content, "x.bin"), forced)
    return found.code if isinstance(found, ReadFailure) else found and found.NAME


def refused(src):
    found = choose(src)
    assert isinstance(found, ReadFailure)
    return found


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_content_decides_whatever_the_name(name):
    assert chosen(SAMPLES[name]) == name
    if not SAMPLES[name].startswith(b"SQLite"):
        assert chosen(b"\xef\xbb\xbf" + SAMPLES[name]) == name


@pytest.mark.parametrize(
    "name",
    ["claude-code", "chatgpt", "generic", "openwebui", "librechat", "copilot-cli", "discord",
     "issues", "takeout"],
)  # fmt: skip
def test_comments_and_blank_lines_before_json_are_passed(name):
    assert chosen(b"\n// a header\n\n" + SAMPLES[name]) == name


@pytest.mark.parametrize("name", ["chatgpt", "openwebui", "librechat", "discord", "issues"])
def test_a_document_may_be_pretty_printed(name):
    pretty = json.dumps(json.loads(SAMPLES[name]), indent=2).encode()
    assert chosen(pretty) == name


def test_one_conversation_of_an_export_may_be_pretty_printed():
    single = json.dumps(json.loads(SAMPLES["chatgpt"])[0], indent=2).encode()
    assert chosen(single) == "chatgpt"


def test_first_lines_may_be_no_messages():
    talk = Talk("aaaaaaaa-0000-4000-8000-000000000001").play(["snapshot"] * 5 + ["ask"])
    summary = json.dumps({"type": "summary", "summary": "s", "leafUuid": "x"}).encode() + b"\n"
    assert chosen(summary + b"".join(talk.encoded())) == "claude-code"
    assert chosen(b"{broken\n" + b"".join(talk.encoded())) == "claude-code"
    one_line = b"".join(Talk("aaaaaaaa-0000-4000-8000-000000000001").play(["ask"]).encoded())
    assert chosen(one_line) == "claude-code"
    assert chosen(one_line.strip() + one_line) == "claude-code"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty_file"),
        (b"\xef\xbb\xbf \n\n", "empty_file"),
        (b"[1, 2, 3]", "no_conversation"),
        (b"[]", "no_conversation"),
        (b'{"a": 1}', "no_conversation"),
        (b'[{"a": 1}]', "no_conversation"),
        (b'{"a": 1}\n{"b": 2}\n', "unknown_format"),
        (b'{"sessionId": "x"}\n{"sessionId": "x"}\n', "unknown_format"),
        (b"plain words", "unknown_format"),
        (b"[a link](http://x) in Markdown", "unknown_format"),
        (b"SQLite format 3\0 and more", "unknown_format"),
        (b"[" * 100_000, "unknown_format"),
    ],
)
def test_what_nobody_reads_is_told_why(content, code):
    assert chosen(content) == code


def test_a_side_file_is_known_by_its_shape():
    assert chosen(b'[{"conversations_memory": "x"}]') is None


def test_a_long_first_record_is_judged_without_reading_all(monkeypatch):
    monkeypatch.setattr("ingest.shape.PEEK_LIMIT", 2**17)
    long = "x" * 2**18
    talk = json.dumps({"title": "t", "mapping": {}, "x": long}).encode()
    assert chosen(talk) == "chatgpt"
    assert chosen(b"[" + talk + b"]") == "chatgpt"
    line = json.dumps({"sessionId": "s", "uuid": "u", "parentUuid": None, "x": long}).encode()
    assert chosen(line + b"\n" + line + b"\n") == "claude-code"


def test_an_unreadable_file_is_told(tmp_path):
    file = tmp_path / "x"
    file.write_text("{}")
    src = Source.of_file(file)
    file.unlink()
    assert refused(src).code == "unreadable_file"


def test_a_forced_reader_may_refuse():
    assert chosen(SAMPLES["generic"], "generic") == "generic"
    assert chosen(SAMPLES["generic"], "specstory") == "unknown_format"
    with pytest.raises(UnknownReader, match="There is no reader named nobody"):
        reader_named("nobody")


class Outsider:
    NAME = "outsider"
    VERSION = 1
    APPENDABLE = False
    TIER = "unproven"

    @staticmethod
    def sniff(*_):
        return Score.by(6, 1.0, "c")


def test_two_equal_readers_are_both_named(monkeypatch):
    monkeypatch.setattr(sniffing, "readers", lambda: (*readers(), Outsider))
    found = refused(Source.of_bytes(SAMPLES["claude-code"], "x"))
    assert (found.code, found.detail) == ("ambiguous_format", "claude-code, outsider")


def test_an_earlier_rule_then_the_share_then_the_letter_decide():
    assert Score.by(4) > Score.by(5) > Score.by(6)
    assert Score.by(6, 0.9, "g") > Score.by(6, 0.5, "a")
    assert Score.by(6, 0.5, "a") > Score.by(6, 0.5, "c")


def test_keys_of_an_object_that_is_cut_are_seen():
    assert partial('{"a": 1, "b": [{"c": 2}, {"d', 0) == {"a": 1, "b": [{"c": 2}]}
    assert partial('{"a": {"x": 1', 0) == {"a": {"x": 1}}
    assert partial('{"a":' * 9, 0) == {"a": {"a": {"a": {"a": {}}}}}
    assert partial('{"a":[' * 9, 0) == {"a": [{"a": [{"a": [{"a": []}]}]}]}
    assert partial('{"a": [{"x": 1, "y', 0) == {"a": [{"x": 1}]}
    assert partial('{"a": "cut', 0) == {"a": None}
    assert partial('{"a": [', 0) == {"a": []}
    assert partial('{"a" 1}', 0) == {}
    assert partial('{"a":', 0) == {"a": None}


def test_the_head_is_read_once():
    opened = []

    def opener():
        opened.append(1)
        import io

        return io.BytesIO(b'{"a": 1}\n')

    src = Source("x", "x", 9, 0, opener)
    assert look(src) is look(src)
    src.peek()
    assert len(opened) == 1


def test_utf16_is_known_by_its_mark():
    assert chosen("plain words".encode("utf-16")) == "unknown_format"
    assert look(Source.of_bytes('[{"a": 1}]'.encode("utf-16"))).kind == "list"
