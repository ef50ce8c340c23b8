"""Well-known places: what is found in made-up homes of three systems, and what is left alone."""

import os
import zipfile
from datetime import UTC, datetime

import pytest

from graphstore.plugins import names
from ingest.discover import PLACES, Discovered, discover, system_of

DAY = 86_400
THEN = 1_760_000_000


def put(path, size=10, age_days=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    when = THEN - age_days * DAY
    os.utime(path, (when, when))
    return path


def pack(path, *members):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for member in members:
            archive.writestr(member, "[]")


def search(home, system="linux", here=None, environment=None, **more):
    return discover(system, home, here or home / "elsewhere", environment or {}, **more)


def told(found):
    return [(place.tool, place.path) for place in found.places]


def test_nothing_is_found_in_an_empty_home(tmp_path):
    assert search(tmp_path) == Discovered()
    assert search(tmp_path / "no such folder") == Discovered()


def test_a_place_is_told_with_files_bytes_and_the_oldest_and_newest_date(tmp_path):
    put(tmp_path / ".claude/projects/p/a.jsonl", 100)
    put(tmp_path / ".claude/projects/p/a/subagents/agent-1.jsonl", 20, age_days=9)
    put(tmp_path / ".claude/projects/p/a/subagents/agent-1.meta.json", 5)
    (place,) = search(tmp_path).places
    assert (place.tool, place.path, place.files, place.size) == (
        "claude-code",
        "~/.claude/projects",
        2,
        120,
    )
    assert place.newest_at == datetime.fromtimestamp(THEN, UTC)
    assert place.oldest_at == datetime.fromtimestamp(THEN - 9 * DAY, UTC)


def test_a_folder_without_files_is_no_find(tmp_path):
    (tmp_path / ".claude/projects/p").mkdir(parents=True)
    assert search(tmp_path) == Discovered()


HOMES = {
    "linux": {
        "llm": ".config/io.datasette.llm/logs.db",
        "opencode": ".local/share/opencode/opencode.db",
        "cursor": ".config/Cursor/User/globalStorage/state.vscdb",
    },
    "mac": {
        "llm": "Library/Application Support/io.datasette.llm/logs.db",
        "opencode": ".local/share/opencode/opencode.db",
        "cursor": "Library/Application Support/Cursor/User/globalStorage/state.vscdb",
    },
    "windows": {
        "llm": "AppData/Roaming/io.datasette.llm/logs.db",
        "opencode": ".local/share/opencode/opencode.db",
        "cursor": "AppData/Roaming/Cursor/User/globalStorage/state.vscdb",
    },
}


@pytest.mark.parametrize("system", sorted(HOMES))
def test_each_system_has_its_own_places(tmp_path, system):
    for other, paths in HOMES.items():
        for path in paths.values():
            put(tmp_path / other / path)
    for path in (
        ".claude/projects/p/a.jsonl",
        ".codex/history.jsonl",
        ".pi/agent/sessions/a.jsonl",
        ".copilot/session-state/s/events.jsonl",
    ):
        put(tmp_path / system / path)
    found = search(tmp_path / system, system)
    assert {place.tool: place.paths for place in found.places if place.tool in HOMES[system]} == {
        tool: (str(tmp_path / system / path),) for tool, path in HOMES[system].items()
    }
    always = {"claude-code", "codex", "pi", "copilot-cli"}
    assert always <= {place.tool for place in found.places}


@pytest.mark.parametrize("system", sorted(HOMES))
def test_transcripts_of_an_agent_lie_below_each_project(tmp_path, system):
    put(tmp_path / ".cursor/projects/p/agent-transcripts/s/s.jsonl")
    put(tmp_path / ".cursor/projects/p/terminals/1.txt")
    (place,) = search(tmp_path, system).places
    assert (place.tool, place.files) == ("cursor", 1)
    assert place.paths == (str(tmp_path / ".cursor/projects/p/agent-transcripts"),)


def test_application_data_of_windows_may_be_elsewhere(tmp_path):
    put(tmp_path / "roaming/io.datasette.llm/logs.db")
    environment = {"APPDATA": str(tmp_path / "roaming")}
    found = search(tmp_path / "home", "windows", environment=environment)
    assert [place.tool for place in found.places] == ["llm"]


@pytest.mark.parametrize(
    ("variable", "file", "usual"),
    [
        ("CLAUDE_CONFIG_DIR", "projects/p/a.jsonl", ".claude/projects/p/b.jsonl"),
        ("CODEX_HOME", "sessions/2025/a.jsonl", ".codex/sessions/b.jsonl"),
        ("LLM_USER_PATH", "logs.db", ".config/io.datasette.llm/logs.db"),
        ("XDG_DATA_HOME", "opencode/opencode.db", ".local/share/opencode/opencode.db"),
        ("COPILOT_HOME", "session-state/a.jsonl", ".copilot/session-state/b.jsonl"),
    ],
)
def test_a_variable_replaces_the_usual_place(tmp_path, variable, file, usual):
    put(tmp_path / "moved" / file)
    put(tmp_path / "home" / usual)
    home = tmp_path / "home"
    moved = search(home, environment={variable: str(tmp_path / "moved")})
    assert [path.startswith(str(tmp_path / "moved")) for path in moved.paths] == [True]
    for unset in ({}, {variable: ""}, {variable: " "}):
        assert search(home, environment=unset).paths[0].startswith(str(home))


def test_a_variable_may_name_the_home_by_a_tilde(tmp_path):
    put(tmp_path / "agents/projects/p/a.jsonl")
    found = search(tmp_path, environment={"CLAUDE_CONFIG_DIR": "~/agents"})
    assert told(found) == [("claude-code", "~/agents/projects")]


def test_a_star_stands_for_any_name_and_is_one_place(tmp_path):
    put(tmp_path / ".gemini/tmp/one/chats/a.json")
    put(tmp_path / ".gemini/tmp/two/chats/b.json")
    put(tmp_path / ".gemini/tmp/two/logs.json")
    found = search(tmp_path)
    assert told(found) == [("gemini-cli", "~/.gemini/tmp/*/chats")]
    assert found.places[0].files == 2
    assert found.paths == tuple(str(tmp_path / f".gemini/tmp/{n}/chats") for n in ("one", "two"))


def test_the_current_folder_and_the_root_of_its_repository_are_searched(tmp_path):
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    put(repository / ".specstory/history/a.md")
    put(repository / "inner/.aider.chat.history.md")
    inner = search(tmp_path / "home", here=repository / "inner")
    assert [place.tool for place in inner.places] == ["aider", "specstory"]
    root = search(tmp_path / "home", here=repository)
    assert [place.tool for place in root.places] == ["specstory"]


def test_one_folder_under_two_names_is_found_once(tmp_path):
    put(tmp_path / ".claude/projects/p/a.jsonl")
    (tmp_path / ".config").mkdir()
    (tmp_path / ".config/claude").symlink_to(tmp_path / ".claude")
    assert told(search(tmp_path)) == [("claude-code", "~/.claude/projects")]


def test_only_what_is_asked_for_is_looked_for(tmp_path):
    put(tmp_path / ".claude/projects/p/a.jsonl")
    put(tmp_path / ".codex/history.jsonl")
    pack(tmp_path / "Downloads/x.zip", "conversations.json", "chat.html")
    found = search(tmp_path, only=("codex",))
    assert told(found) == [("codex", "~/.codex/history.jsonl")]
    assert found.downloads == ()


def test_downloaded_exports_are_told_by_the_names_in_them_and_are_no_paths(tmp_path):
    downloads = tmp_path / "Downloads"
    pack(downloads / "a.zip", "conversations-000.json", "user.json")
    pack(downloads / "B.ZIP", "data/conversations.json", "data/users.json")
    pack(downloads / "holiday.zip", "beach.jpg")
    pack(downloads / "other.zip", "conversations.json")
    pack(downloads / "deep/inner.zip", "conversations.json", "chat.html")
    put(downloads / "broken.zip")
    put(downloads / "notes.txt")
    found = search(tmp_path)
    assert [(one.tool, one.path) for one in found.downloads] == [
        ("claude-ai", str(downloads / "B.ZIP")),
        ("chatgpt", str(downloads / "a.zip")),
    ]
    assert found.paths == ()


def test_the_download_folder_may_be_named_by_a_variable(tmp_path):
    pack(tmp_path / "down/a.zip", "conversations.json", "chat.html")
    found = search(tmp_path / "home", environment={"XDG_DOWNLOAD_DIR": str(tmp_path / "down")})
    assert [one.tool for one in found.downloads] == ["chatgpt"]


def test_no_file_is_opened(tmp_path, monkeypatch):
    from ingest.model import Source

    put(tmp_path / ".claude/projects/p/a.jsonl")
    monkeypatch.setattr(Source, "open", lambda _: pytest.fail("opened"))
    assert search(tmp_path).places


def test_a_time_that_is_none_is_unknown():
    from ingest.discover import _moment

    assert _moment(10**30) is None
    assert _moment(THEN * 10**9) == datetime.fromtimestamp(THEN, UTC)


def test_a_place_is_found_twice_alike(tmp_path):
    for name in "cab":
        put(tmp_path / f".gemini/tmp/{name}/chats/x.json")
        pack(tmp_path / f"Downloads/{name}.zip", "conversations.json", "chat.html")
    assert search(tmp_path) == search(tmp_path)
    assert [one.path[-5:] for one in search(tmp_path).downloads] == ["a.zip", "b.zip", "c.zip"]


def test_every_place_is_told_for_every_system_once():
    tools = [place.tool for place in PLACES]
    assert len(tools) == len(set(tools))
    assert all(place.paths(one) for place in PLACES for one in ("linux", "mac", "windows"))


def test_every_tool_that_is_searched_for_has_a_reader():
    assert {place.tool for place in PLACES} <= set(names("ingest.readers"))


@pytest.mark.parametrize(
    ("platform", "system"),
    [("linux", "linux"), ("darwin", "mac"), ("win32", "windows"), ("freebsd14", "linux")],
)
def test_systems_are_told_by_their_platform(platform, system):
    assert system_of(platform) == system
