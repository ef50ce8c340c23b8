"""Conversations that are trees: the main line, the newest leaf, the nearest turn above."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from ingest.model import RawTurn

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
Up: TypeAlias = dict[str, str | None]
"""Parent by node: a node of the tree, or ``None`` at a root."""


def cut_cycles(up: Up, starts: Iterable[str]) -> int:
    """Take the parent off each node whose parent was passed on the way to it; count them."""
    done: set[str] = set()
    cut = 0
    for start in starts:
        passed: dict[str, None] = {}
        at: str | None = start
        while at is not None and at not in done:
            passed[at] = None
            parent = up[at]
            if parent in passed:
                up[at] = parent = None
                cut += 1
            at = parent
        done.update(passed)
    return cut


def depths(up: Up) -> dict[str, int]:
    """Nodes from the root to each node, itself included."""
    found: dict[str, int] = {}
    for key in up:
        chain: list[str] = []
        at: str | None = key
        while at is not None and at not in found:
            chain.append(at)
            at = up[at]
        depth = found[at] if at is not None else 0
        for one in reversed(chain):
            depth += 1
            found[one] = depth
    return found


def line(up: Up, leaf: str | None) -> list[str]:
    """Nodes from the root down to a leaf; there must be no cycle."""
    path: list[str] = []
    at = leaf
    while at is not None:
        path.append(at)
        at = up[at]
    return path[::-1]


def newest_leaf(up: Up, seconds: Mapping[str, float]) -> str | None:
    """The leaf with the latest time, depth, id."""
    inner = set(up.values())
    deep = depths(up)
    leaves = [key for key in up if key not in inner]
    return max(leaves, key=lambda key: (seconds[key], deep[key], key), default=None)


def linked(turns: list[RawTurn], up: Up) -> list[RawTurn]:
    """Give each turn the nearest one above it as parent; each node is passed once."""
    given = {turn.key for turn in turns}
    above: dict[str, str | None] = {}
    for turn in turns:
        if turn.key is not None:
            turn.parent = nearest(up, turn.key, given, above)
    return turns


def have_uuids(turns: Iterable[RawTurn]) -> bool:
    """Whether all keys are UUIDs: short ones are local and say nothing about other threads."""
    return all(_UUID.fullmatch((turn.key or "").partition("#")[0]) for turn in turns)


def nearest(up: Up, key: str, given: set[str | None], above: dict[str, str | None]) -> str | None:
    """Nearest ancestor that is given as a turn; ``above`` keeps what was found on the way."""
    passed: list[str] = []
    at = key
    while at not in above:
        passed.append(at)
        parent = up[at]
        if parent is None or parent in given:
            above[at] = parent
        else:
            at = parent
    found = above[at]
    above.update(dict.fromkeys(passed, found))
    return found
