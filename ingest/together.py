"""Files that are one source only together: exports with a file for each day, trees of records."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

PEOPLE: Final = "users.json"
ROOMS: Final = ("channels.json", "groups.json", "mpims.json", "dms.json")
"""Lists of rooms: public, private, of several people, of two."""
_LAST: Final = "\U0010ffff"
"""Sorts behind every name."""
_DAY: Final = re.compile(r"[^/]+/\d{4}-\d\d-\d\d[^/]*\.json")
_LIST: Final = re.compile(r"[^/]+\.json")
TREE: Final = ("session", "message", "part")
"""Folders of a tree of records, in a folder named ``storage``."""
_IN_TREE: Final = re.compile(rf"((?:.*/)?storage/)({'|'.join(TREE)})/.+\.json")


def exports(names: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Exports among files: the folder of each, ending in a slash, and its files below it.

    ``names`` are paths with slashes. An export has people, a list of rooms, and days.
    """
    ordered = sorted(names)
    for name in ordered:
        folder, _, file = name.rpartition("/")
        prefix = f"{folder}/" if folder else ""
        if file != PEOPLE or not any(f"{prefix}{one}" in names for one in ROOMS):
            continue
        first, end = (bisect_left(ordered, one) for one in (prefix, prefix + _LAST))
        below = (one.removeprefix(prefix) for one in ordered[first:end])
        files = tuple(one for one in below if _is_own(one))
        if any(map(is_day, files)):
            yield prefix, files


def _is_own(name: str) -> bool:
    return is_day(name) or is_list(name)


def trees(names: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Trees of records among files: the folder of each, ending in a slash, and its files below.

    ``names`` are paths with slashes. A tree has sessions, messages and parts.
    """
    kinds: dict[str, set[str]] = {}
    for name in names:
        if (found := _IN_TREE.fullmatch(name)) is not None:
            kinds.setdefault(found[1], set()).add(found[2])
    for prefix in sorted(one for one, seen in kinds.items() if seen >= set(TREE)):
        below = (one.removeprefix(prefix) for one in sorted(names) if one.startswith(prefix))
        yield prefix, tuple(below)


def is_list(name: str) -> bool:
    """Whether a path below an export is a list of people or rooms, or the like."""
    return _LIST.fullmatch(name) is not None


def is_day(name: str) -> bool:
    """Whether a path below an export is the file of a day in a room."""
    return _DAY.fullmatch(name) is not None


def files_of(folder: Path) -> tuple[str, ...]:
    """Files of a folder that is such an export, by their path below it; none if it is not."""
    try:
        if not (folder / PEOPLE).is_file():
            return ()
        files = [*folder.glob("*.json"), *folder.glob("*/*.json")]
        names = {one.relative_to(folder).as_posix() for one in files if _is_plain(one)}
    except OSError:  # a folder that cannot be looked into is met again, and told, by the walk
        return ()
    return dict(exports(names)).get("", ())


def _is_plain(file: Path) -> bool:
    return file.is_file() and not file.is_symlink() and not file.parent.is_symlink()
