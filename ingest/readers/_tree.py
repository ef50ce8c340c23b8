"""Conversations that are trees: the main line, the newest leaf, the nearest turn above."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

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
