"""Files that are one source only together: exports of rooms with a file for each day."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

PEOPLE: Final = "users.json"
ROOMS: Final = ("channels.json", "groups.json", "mpims.json", "dms.json")
"""Lists of rooms: public, private, of several people, of two."""
_DAY: Final = re.compile(r"[^/]+/\d{4}-\d\d-\d\d[^/]*\.json")
_LIST: Final = re.compile(r"[^/]+\.json")


def exports(names: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Exports among files: the folder of each, ending in a slash, and its files below it.

    ``names`` are paths with slashes. An export has people, a list of rooms, and days.
    """
    for name in sorted(names):
        folder, _, file = name.rpartition("/")
        prefix = f"{folder}/" if folder else ""
        if file != PEOPLE or not any(f"{prefix}{one}" in names for one in ROOMS):
            continue
        below = (one.removeprefix(prefix) for one in sorted(names) if one.startswith(prefix))
        files = tuple(one for one in below if is_day(one) or _LIST.fullmatch(one))
        if any(map(is_day, files)):
            yield prefix, files


def is_day(name: str) -> bool:
    """Whether a path below an export is the file of a day in a room."""
    return _DAY.fullmatch(name) is not None


def files_of(folder: Path) -> tuple[str, ...]:
    """Files of a folder that is such an export, by their path below it; none if it is not."""
    try:
        if not (folder / PEOPLE).is_file():
            return ()
        files = [*folder.glob("*.json"), *folder.glob("*/*.json")]
        names = {one.relative_to(folder).as_posix() for one in files if _is_own(one)}
    except OSError:  # a folder that cannot be looked into is met again, and told, by the walk
        return ()
    return dict(exports(names)).get("", ())


def _is_own(file: Path) -> bool:
    return file.is_file() and not file.is_symlink() and not file.parent.is_symlink()
