"""Shapes of Markdown, plain JSON, archives and databases that other readers failed on.

Each test names the public report whose shape it has; the words are made up.
"""

import json
import sqlite3
import zipfile
from contextlib import closing

import pytest

from tests.claude_talk import Talk
from tests.reported import Taken, document, jsonl, said


def text(folder, *lines, name="log.md"):
    return Taken(document(folder, name, "\n".join(lines) + "\n"))


# --- Markdown


def test_a_fence_in_a_fence_hides_no_head(tmp_path):
    """sho7650/obsidian-AI-exporter#433: the inner fence closes the outer one too early."""
    taken = text(
        tmp_path,
        "## User",
        "A file with a block in it?",
        "## Assistant",
        "```markdown",
        "# Title",
        "```python",
        "one()",
        "```",
        "End of the file.",
        "```",
        "## User",
        "And now?",
        "## Assistant",
        "```python",
        "two()",
        "```",
        "## User",
        "Thanks.",
    )
    assert [line[0] for line in taken.said] == ["h", "a", "h", "a", "h"]
    assert taken.said[2:] == ["h And now?", "a ```python\ntwo()\n```", "h Thanks."]


def test_a_fence_on_the_line_of_a_head_belongs_to_the_words(tmp_path):
    """logancyang/obsidian-copilot#1438: a message that begins with a code block."""
    taken = text(
        tmp_path,
        "**user**: ```js",
        "one()",
        "```",
        "What does it do?",
        "**ai**: ```py",
        "two()",
        "```",
        "**user**: Fine.",
        "**ai**: Good.",
    )
    assert taken.said == [
        "h ```js\none()\n```\nWhat does it do?",
        "a ```py\ntwo()\n```",
        "h Fine.",
        "a Good.",
    ]


def test_heads_of_one_speaker_in_a_row_are_turns_of_their_own(tmp_path):
    """endolith/open-interpreter#127: two messages of the user were melted into one."""
    taken = text(tmp_path, "## user", "One.", "## user", "Two.", "## assistant", "Three.")
    assert taken.said == ["h One.", "h Two.", "a Three."]


def test_heads_of_a_plugin_for_notes_are_heads(tmp_path):
    """bramses/chatgpt-md#86: roles written as fields, parted by rules of HTML."""
    taken = text(
        tmp_path,
        "---",
        "system_commands: ['Be kind.']",
        "---",
        "## role::user",
        "Which modules?",
        "",
        '<hr class="__chatgpt_plugin">',
        "",
        "## role::assistant",
        "The new ones.",
        "",
        '<hr class="__chatgpt_plugin">',
        "",
        "## role::user",
        "Sure?",
    )
    assert taken.said == ["h Which modules?", "a The new ones.", "h Sure?"]


def test_heads_without_any_time_are_heads(tmp_path):
    """specstoryai/getspecstory#21: histories from before there were times and ids."""
    taken = text(
        tmp_path,
        "## SpecStory",
        "",
        "## A new repository (1/14/2025, 11:45:05 AM)",
        "",
        "_**User**_",
        "",
        "Create it.",
        "",
        "---",
        "",
        "_**Assistant**_",
        "",
        "Created.",
        "",
        "---",
    )
    assert taken.said == ["h Create it.", "a Created."]
    assert taken.thread.source == "specstory"


def test_marks_of_aider_inside_snippets_are_snippets(tmp_path):
    """vshulcz/deja-vu#60, kenn-io/agentsview#740: prompts and output look like Markdown."""
    taken = text(
        tmp_path,
        "# aider chat started at 2026-01-05 10:00:00",
        "",
        "> Aider v0.86.1  ",
        "",
        "#### How do I write a heading?  ",
        "",
        "Like this:",
        "",
        "```markdown",
        "#### A heading",
        "> a quote",
        "```",
        "",
        "> So it says.",
        "",
        "Enough?",
        "",
        "> Applied edit to a.md  ",
        "",
        "#### Yes  ",
        "#### thanks  ",
        "",
        "Welcome.",
        name=".aider.chat.history.md",
    )
    assert taken.said == [
        "h How do I write a heading?",
        "a Like this:\n\n```markdown\n#### A heading\n> a quote\n```\n\n> So it says.\n\nEnough?",
        "h Yes\nthanks",
        "a Welcome.",
    ]
    assert taken.thread.turns[1].tools.touched == ("a.md",)


def test_what_a_command_printed_is_no_answer(tmp_path):
    """Aider-AI/aider#4782, Aider-AI/aider#5410: output of /run, and output at the very end."""
    taken = text(
        tmp_path,
        "# aider chat started at 2026-01-05 10:00:00",
        "",
        "#### /run pytest  ",
        "",
        "> ==== test session starts ====  ",
        "> 2 passed  ",
        "",
        "#### /ask What do the tests prove?  ",
        "",
        "That two pass.",
        "",
        "> Tokens: 1k sent.  ",
        name=".aider.chat.history.md",
    )
    assert taken.said == ["h What do the tests prove?", "a That two pass."]
    assert taken.counts["tool"] == 2


def test_what_an_editor_exports_has_bare_names_for_heads(tmp_path):
    """saharmor/cursor-view#7, kirodotdev/Kiro#1335: Cursor's own export, kept as a document."""
    lines = [
        "# Kettles", "_Exported on 9/1/2026 at 10:00:00 GMT+2 from Cursor (1.5.5)_", "", "---", "",
        "**User**", "", "why does it hum", "", "---", "",
        "**Cursor**", "", "water sings", "", "```md", "**User**", "```", "", "---", "",
        "**User**", "", "and the pan", "", "---", "", "**Cursor**", "", "no", "",
    ]  # fmt: skip
    taken = Taken(document(tmp_path, "kettles.md", "\n".join(lines)))
    assert taken.said == [
        "h why does it hum", "a water sings\n\n```md\n**User**\n```", "h and the pan", "a no",
    ]  # fmt: skip
    assert taken.thread.title == "Kettles"


# --- JSON of no tool in particular


def test_entries_that_are_no_messages_are_lost_alone(tmp_path):
    """ai-dynamo/aiperf#828, ai-dynamo/aiperf#798: odd entries, and more than two turns."""
    talk = [
        {"from": "human", "value": "One"},
        "odd",
        {"from": "gpt", "value": "Two"},
        {"value": "whose?"},
        {"from": "human", "value": "Three"},
        {"from": "gpt", "value": "Four"},
    ]
    taken = Taken(jsonl(tmp_path, "set.jsonl", {"id": "x", "conversations": talk}))
    assert taken.said == ["h One", "a Two", "h Three", "a Four"]
    assert (taken.codes, taken.exit) == ({"bad_message": 2}, 0)


def test_nothing_said_is_not_the_word_none(tmp_path):
    """NVIDIA-NeMo/Megatron-Bridge#5742, odysseus-dev/odysseus#1983: null words, lists of parts."""
    talk = [
        {"from": "human", "value": "Go"},
        {"from": "gpt", "value": None},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "ls"}}]},
        {"role": "tool", "content": "a b"},
        {"role": "assistant", "content": [{"type": "text", "text": "Two files."}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "And this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            ],
        },
    ]
    taken = Taken(jsonl(tmp_path, "set.jsonl", {"conversations": talk}))
    assert taken.said == ["h Go", "a Two files.", "h And this?"]
    assert taken.calls == {"ls": 1}
    assert [one.size for one in taken.thread.turns[-1].attachments] == [2]


@pytest.mark.parametrize("key", ["conversations", "messages"])
def test_roles_go_by_any_of_their_names(tmp_path, key):
    """hiyouga/LlamaFactory#6878, NVIDIA-NeMo/Automodel#2375 and #3144, Tencent/AngelSlim#345."""
    talk = [
        {"from": "system", "value": "Be brief."},
        {"from": "user", "value": "Name one."},
        {"role": "gpt", "content": "One."},
        {"from": "function_call", "value": "{}"},
        {"from": "observation", "value": "found"},
        {"role": "model", "content": "Found one."},
    ]
    taken = Taken(document(tmp_path, "set.json", [{key: talk, "system": "Be brief."}]))
    assert taken.said == ["h Name one.", "a One.", "a Found one."]
    assert taken.counts == {"injected": 1, "turn": 3, "tool": 2}


def test_two_flat_messages_on_one_line_are_two(tmp_path):
    """NousResearch/hermes-agent#13695: two writers, one line end."""
    glued = '{"role": "user", "content": "hello"}{"role": "assistant", "content": "hi"}'
    taken = Taken(jsonl(tmp_path, "log.jsonl", glued, {"role": "user", "content": "on"}))
    assert taken.said == ["h hello", "a hi", "h on"]
    assert taken.codes == {"glued_records": 1}


def test_line_ends_inside_a_string_are_joined(tmp_path):
    """github/copilot-cli#2649: words written with real line ends."""
    broken = '{"role": "assistant", "content": "one\ntwo\n\nthree"}'
    taken = Taken(
        jsonl(
            tmp_path,
            "log.jsonl",
            {"role": "user", "content": "Count"},
            broken,
            {"role": "user", "content": "Thanks"},
        )
    )
    assert taken.said == ["h Count", "a one\ntwo\n\nthree", "h Thanks"]
    assert set(taken.codes) == {"joined_lines"}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_what_a_shell_wrote_in_two_bytes_is_read(tmp_path, encoding):
    """jqlang/jq#2351, jotaen/klog#217: redirected output with a mark of the byte order."""
    talk = [{"role": "user", "content": "Grüße 👋"}, {"role": "assistant", "content": "Hallo"}]
    lines = "\ufeff" + "".join(json.dumps(one, ensure_ascii=False) + "\r\n" for one in talk)
    file = tmp_path / "log.jsonl"
    file.write_bytes(lines.encode(encoding))
    taken = Taken(file)
    assert (taken.said, taken.exit) == (["h Grüße 👋", "a Hallo"], 0)


def test_a_torn_character_costs_one_line(tmp_path):
    """Tracer-Cloud/opensre#5871: a crash inside a character, and the next record behind it."""
    torn = b'{"role": "assistant", "content": "Gr' + "ü".encode()[:1] + b"\n"
    taken = Taken(
        jsonl(
            tmp_path,
            "log.jsonl",
            {"role": "user", "content": "Hello"},
            torn,
            {"role": "assistant", "content": "Again"},
        )
    )
    assert taken.said == ["h Hello", "a Again"]
    assert taken.codes["bad_json"] == 1


def test_messages_for_a_model_are_no_transcript(tmp_path):
    """XortexAI/XMem#168: any lines with roles were taken for one tool's."""
    requests = [
        {"messages": [{"role": "user", "content": f"Q{n}"}, {"role": "assistant", "content": "A"}]}
        for n in range(2)
    ]
    taken = Taken(jsonl(tmp_path, "-w-graph/requests.jsonl", *requests))
    assert [one.source for one in taken.threads] == ["generic", "generic"]
    assert sorted(said(one)[0] for one in taken.threads) == ["h Q0", "h Q1"]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf\r\n"])
def test_a_file_without_a_word_is_no_success(tmp_path, content):
    """oguzbilgic/kern-ai#300: a session file that a crash emptied."""
    file = tmp_path / "session.jsonl"
    file.write_bytes(content)
    taken = Taken(file)
    assert (taken.codes, taken.exit) == ({"empty_file": 1}, 3)


# --- archives and databases


def packed(folder, *members):
    file = folder / "export.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file


CLAUDE = json.dumps(
    [{"uuid": "k1", "chat_messages": [{"uuid": "1", "sender": "human", "text": "In a zip"}]}]
)


def test_what_a_mac_packs_beside_a_file_is_no_loss(tmp_path):
    """taurheim/scrobblify#77: one sidecar for every member, counted as a broken export."""
    sidecar = b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        " + bytes(80)
    file = packed(
        tmp_path,
        ("data/conversations.json", CLAUDE),
        ("__MACOSX/data/._conversations.json", sidecar),
        ("data/.DS_Store", b"\x00\x00\x00\x01Bud1" + bytes(40)),
    )
    taken = Taken(file)
    assert taken.said == ["h In a zip"]
    assert (taken.codes, taken.exit) == ({}, 0)


def test_an_export_is_read_as_it_was_downloaded(tmp_path):
    """tutti-os/tutti#1270, elizaOS/eliza#12008: nobody has to unpack it, whatever its name."""
    file = packed(
        tmp_path,
        ("users.json", '[{"uuid": "u", "email_address": "a@b.example"}]'),
        ("conversations.json", CLAUDE),
        ("projects.json", "[]"),
    ).rename(tmp_path / "data-2026.bin")
    taken = Taken(file)
    assert taken.said == ["h In a zip"]
    assert taken.report.side_files == 2


def llm(file, journal="delete"):
    """A database of llm with one exchange; its writer keeps it open."""
    connection = sqlite3.connect(file)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.executescript(
        "CREATE TABLE conversations(id text primary key, name text, model text);"
        "CREATE TABLE responses(id text primary key, model text, prompt text, system text,"
        " response text, conversation_id text, datetime_utc text);"
        "INSERT INTO conversations VALUES ('c1', 'T', 'm');"
        "INSERT INTO responses VALUES ('r1', 'm', 'Old?', NULL, 'Old.', 'c1', '2026-01-01');"
    )
    return connection


def test_a_path_may_hold_any_characters(tmp_path):
    """kenn-io/agentsview#413: marks of an address in the path of a database."""
    folder = tmp_path / "100% done? #1 [a]"
    folder.mkdir()
    llm(folder / "logs ü.db").close()
    assert Taken(folder / "logs ü.db").said == ["h Old?", "a Old."]


def test_the_newest_rows_are_in_the_log_and_are_read(tmp_path):
    """constellation-works/orbit#1901, robinebers/openusage#65: read as immutable, a database in
    use shows what was there before; and nothing may be written beside it."""
    file = tmp_path / "logs.db"
    with closing(llm(file, "wal")) as writer:
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        writer.execute(
            "INSERT INTO responses VALUES ('r2', 'm', 'New?', NULL, 'New.', 'c1',"
            " '2026-01-01T00:00:01')"
        )
        writer.commit()
        before = {one.name: one.stat().st_size for one in tmp_path.iterdir() if one.is_file()}
        taken = Taken(file)
        after = {one.name: one.stat().st_size for one in tmp_path.iterdir() if one.is_file()}
    assert taken.said == ["h Old?", "a Old.", "h New?", "a New."]
    assert before == after


def test_a_database_that_is_being_written_blocks_nobody(tmp_path):
    """vshulcz/deja-vu#3195: a locked store made an empty index in silence."""
    file = tmp_path / "logs.db"
    with closing(llm(file)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        taken = Taken(file)
    assert taken.said == ["h Old?", "a Old."]


def test_a_folder_of_sessions_in_an_archive_is_the_same_folder(tmp_path):
    """kenn-io/agentsview#677: agents find their session inside the archive as beside it."""
    native = "5e551010-0000-4000-8000-000000000009"
    session, agent = Talk(native), Talk(native, "-x")
    session.ask("Look.")
    session.answer("Looked.")
    agent.ask("Look for me.")
    agent.answer("Seen.")
    agent.lines = [{**one, "isSidechain": True, "agentId": "x1"} for one in agent.lines]
    file = packed(
        tmp_path,
        (f"-w-graph/{native}.jsonl", b"".join(session.encoded())),
        (f"-w-graph/{native}/subagents/agent-x1.jsonl", b"".join(agent.encoded())),
        (f"-w-graph/{native}/tool-results/b1.txt", "a long output"),
    )
    taken = Taken(file)
    assert taken.ids == [f"claude-code:{native}", f"claude-code:{native}:agent-x1"]
    assert [link.parent for link in taken.threads[1].lineage] == [f"claude-code:{native}"]
    assert taken.exit == 0
