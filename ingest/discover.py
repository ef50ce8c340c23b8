"""Well-known places of conversations: where tools keep them, and what of it is here."""

import os
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias

from graphstore.model.base import Instant, Value
from ingest.model import READ_ERRORS, Source
from ingest.walk import SKIPPED, Found, find

System: TypeAlias = Literal["linux", "mac", "windows"]

ZIPS: Final = 1_000
"""Archives looked into in the download folder, the newest first."""
_BILLION: Final = 1_000_000_000
_CONVERSATIONS: Final = re.compile(r"conversations(?:-\d+)?\.json")
_EXPORTS: Final = (
    ("chatgpt", frozenset({"user.json", "chat.html", "message_feedback.json"})),
    ("claude-ai", frozenset({"users.json", "projects.json", "memories.json"})),
)
"""Readers of exports, and what only theirs hold beside the conversations."""

_CURSOR_LOGS: Final = "~/.cursor/projects/*/agent-transcripts"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tool keeps its conversations.

    ``~`` is the home folder, ``.`` the current one and its git root, ``%APPDATA%`` the folder
    of settings on Windows; ``*`` stands for any one name.
    """

    tool: str
    linux: tuple[str, ...]
    mac: tuple[str, ...]
    windows: tuple[str, ...]
    variable: str | None = None
    """Environment variable that names the tool's folder elsewhere."""
    below_variable: tuple[str, ...] = ()

    def paths(self, system: System) -> tuple[str, ...]:
        """Its paths on a system."""
        if system == "windows":
            return self.windows
        return self.mac if system == "mac" else self.linux


def _same(
    tool: str, *paths: str, variable: str | None = None, below: tuple[str, ...] = ()
) -> Place:
    home = tuple(f"~/{path}" for path in paths)
    return Place(tool, home, home, home, variable, below)


def _here(tool: str, path: str) -> Place:
    return Place(tool, (f"./{path}",), (f"./{path}",), (f"./{path}",))


PLACES: Final = (
    _same(
        "claude-code",
        ".claude/projects",
        ".config/claude/projects",
        variable="CLAUDE_CONFIG_DIR",
        below=("projects",),
    ),
    _same(
        "codex",
        ".codex/sessions",
        ".codex/archived_sessions",
        ".codex/history.jsonl",
        variable="CODEX_HOME",
        below=("sessions", "archived_sessions", "history.jsonl"),
    ),
    _same("gemini-cli", ".gemini/tmp/*/chats"),
    Place(
        "llm",
        ("~/.config/io.datasette.llm/logs.db",),
        ("~/Library/Application Support/io.datasette.llm/logs.db",),
        ("%APPDATA%/io.datasette.llm/logs.db",),
        "LLM_USER_PATH",
        ("logs.db",),
    ),
    _same(
        "opencode",
        ".local/share/opencode/opencode.db",
        ".local/share/opencode/storage",
        variable="XDG_DATA_HOME",
        below=("opencode/opencode.db", "opencode/storage"),
    ),
    _same("pi", ".pi/agent/sessions"),
    _same(
        "copilot-cli",
        ".copilot/session-state",
        variable="COPILOT_HOME",
        below=("session-state",),
    ),
    Place(
        "cursor",
        ("~/.config/Cursor/User/globalStorage/state.vscdb", _CURSOR_LOGS),
        ("~/Library/Application Support/Cursor/User/globalStorage/state.vscdb", _CURSOR_LOGS),
        ("%APPDATA%/Cursor/User/globalStorage/state.vscdb", _CURSOR_LOGS),
    ),
    _here("aider", ".aider.chat.history.md"),
    _here("specstory", ".specstory/history"),
)
"""Every place that is searched when no path is given, in the order in which it is shown."""


class FoundPlace(Value):
    """One well-known place with conversations in it."""

    tool: str
    """Name of the reader."""
    path: str
    """As a user knows it: ``~`` for the home folder, ``*`` for any one name."""
    paths: tuple[str, ...]
    """What to ingest."""
    files: int
    size: int
    """Bytes."""
    newest_at: Instant | None = None
    """Time of the last change of the newest file."""
    oldest_at: Instant | None = None
    """The same of the oldest: some tools delete what is older than a month."""


class Download(Value):
    """An export that was downloaded: shown with the command to run, never read unasked."""

    tool: str
    path: str


class Discovered(Value):
    """What was found when no path was given."""

    places: tuple[FoundPlace, ...] = ()
    downloads: tuple[Download, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """What to ingest, all places together."""
        return tuple(path for place in self.places for path in place.paths)


def discover(
    system: System,
    home: Path,
    here: Path,
    environment: Mapping[str, str],
    only: Collection[str] = (),
    skip: frozenset[str] = SKIPPED,
) -> Discovered:
    """Look for conversations where tools keep them; files are counted, none is opened.

    Only the lists of archives in the download folder are read.

    Args:
        system: Whose places to look at.
        home: The home folder; what does not exist is not found.
        here: The current folder; it and the root of its git repository are searched.
        environment: Variables by name; one that names a tool's folder replaces the usual one.
        only: Names of the readers that are wanted; all if empty.
        skip: Names of folders left out, as in a walk.
    """
    search = _Search(system, home, here, environment)
    met: set[Path] = set()
    places = [
        found
        for place in PLACES
        if not only or place.tool in only
        for pattern, shown in search.patterns(place)
        if (found := _found(place.tool, shown, _new(search.matching(pattern), met), skip))
    ]
    downloads = [one for one in search.downloads() if not only or one.tool in only]
    return Discovered(places=tuple(places), downloads=tuple(downloads))


def system_of(platform: str) -> System:
    """The system of a ``sys.platform``; what is none of the three is taken for Linux."""
    if platform in ("win32", "cygwin"):
        return "windows"
    return "mac" if platform == "darwin" else "linux"


class _Search:
    """Patterns of places to paths, on one system for one person."""

    def __init__(
        self, system: System, home: Path, here: Path, environment: Mapping[str, str]
    ) -> None:
        self.system = system
        self.home = home
        self.here = here
        self.environment = environment

    def patterns(self, place: Place) -> Iterator[tuple[Path, str]]:
        """Paths of a place, and how to show them; ``*`` may stand in them."""
        named = self._named(place.variable)
        if named is not None:
            for below in place.below_variable:
                yield named / below, self._shown(named / below)
            return
        for path in place.paths(self.system):
            base, _, rest = path.partition("/")
            for folder in self._bases(base):
                yield folder / rest, self._shown(folder / rest)

    def _named(self, variable: str | None) -> Path | None:
        """The folder that a variable names, if it is set."""
        value = self.environment.get(variable, "").strip() if variable else ""
        if not value:
            return None
        if value == "~" or value.startswith(("~/", "~\\")):
            return self.home / value[2:]
        return self.here / value

    def _bases(self, base: str) -> tuple[Path, ...]:
        if base == ".":
            root = _git_root(self.here)
            return (self.here,) if root in (None, self.here) else (self.here, root)
        if base == "%APPDATA%":
            return (self._named("APPDATA") or self.home / "AppData" / "Roaming",)
        return (self.home,)

    def _shown(self, path: Path) -> str:
        if path.is_relative_to(self.home):
            return f"~/{path.relative_to(self.home).as_posix()}"
        return path.as_posix() if self.system != "windows" else str(path)

    def matching(self, pattern: Path) -> list[Path]:
        """What is there of a pattern, in the order of names."""
        parts = pattern.parts
        if "*" not in parts:
            return [pattern] if os.path.lexists(pattern) else []
        star = parts.index("*")
        try:
            return sorted(Path(*parts[:star]).glob("/".join(parts[star:])))
        except OSError:
            return []

    def downloads(self) -> Iterator[Download]:
        """Exports in the download folder, told by the names of their members."""
        folder = self._named("XDG_DOWNLOAD_DIR") or self.home / "Downloads"
        for file in sorted(_newest(folder)):
            tool = _exporter(file)
            if tool is not None:
                yield Download(tool=tool, path=str(file))


def _git_root(folder: Path) -> Path | None:
    """The root of the repository that a folder is in."""
    for one in (folder, *folder.parents):
        if (one / ".git").exists():
            return one
    return None


def _new(paths: Iterable[Path], met: set[Path]) -> list[Path]:
    """Paths that were not reached under another name."""
    found: list[Path] = []
    for path in paths:
        real = Path(os.path.realpath(path))
        if real not in met:
            met.add(real)
            found.append(path)
    return found


def _found(tool: str, shown: str, paths: list[Path], skip: frozenset[str]) -> FoundPlace | None:
    """What a place holds; None if there is no file."""
    given = find(tuple(str(path) for path in paths), Found(), skip)
    files = [one for one in given if isinstance(one, Source)]
    if not files:
        return None
    times = [one.mtime_ns for one in files]
    return FoundPlace(
        tool=tool,
        path=shown,
        paths=tuple(str(path) for path in paths),
        files=len(files),
        size=sum(one.size for one in files),
        newest_at=_moment(max(times)),
        oldest_at=_moment(min(times)),
    )


def _moment(mtime_ns: int) -> datetime | None:
    """A file's time; null for one that is none."""
    try:
        return datetime.fromtimestamp(mtime_ns // _BILLION, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _newest(folder: Path) -> list[Path]:
    """The archives of a folder, the newest first, bounded."""
    dated: list[tuple[int, str]] = []
    try:
        with os.scandir(folder) as entries:
            dated.extend(
                (one.stat().st_mtime_ns, one.path)
                for one in entries
                if one.name.lower().endswith(".zip") and one.is_file()
            )
    except OSError:
        return []
    return [Path(path) for _, path in sorted(dated, reverse=True)[:ZIPS]]


def _exporter(archive: Path) -> str | None:
    """The reader of an export, told by the names in an archive."""
    try:
        with zipfile.ZipFile(archive) as opened:
            inside = {name.rpartition("/")[2] for name in opened.namelist()}
    except (*READ_ERRORS, ValueError):
        return None
    if not any(_CONVERSATIONS.fullmatch(name) for name in inside):
        return None
    return next((tool for tool, marks in _EXPORTS if not marks.isdisjoint(inside)), None)
