"""The project of a Claude Code session: its working folders, and what its file lies in."""

import re
from typing import Final

_WORKTREE: Final = re.compile(r"[\\/]\.(?:claude[\\/])?worktrees[\\/][^\\/]+")
_NOT_ALPHANUMERIC: Final = re.compile(r"[^A-Za-z0-9]")
_ENCODED: Final = re.compile(r"-|[A-Za-z]--")


def project_of(
    folders: tuple[str, ...], parts: tuple[str, ...], *, agent: bool
) -> tuple[str | None, bool]:
    """The project of a session: the first working folder that the folder's name encodes."""
    above = parts[:-1]
    if agent and "subagents" in above:
        above = above[: above.index("subagents") - 1]
    name = above[-1] if above else ""
    for folder in folders:
        if _NOT_ALPHANUMERIC.sub("-", folder) == name:
            return folded(folder), True
    if folders:
        return folded(folders[0]), True
    return (name, False) if _ENCODED.match(name) else (None, True)


def folded(folder: str) -> str:
    """A path inside a worktree, as it is in its repository."""
    return _WORKTREE.sub("", folder)
