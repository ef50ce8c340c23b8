"""Which note a written link names: by what notes are called, the nearest folder first."""

from collections.abc import Sequence
from typing import Final

import orjson

from graphstore.ledger import Ledger

_NAMES: Final = (
    "SELECT thread_id, title, json_extract(body, '$.native_ids') FROM thread"
    " WHERE thread_id >= 'note:' AND thread_id < 'note;' ORDER BY thread_id"
)
_FILES: Final = (
    "SELECT thread_id, json_extract(body, '$.anchor.file'), MIN(number) FROM turn"
    " WHERE thread_id >= 'note:' AND thread_id < 'note;' GROUP BY thread_id"
)
_ENDING: Final = ".md"


class Notes:
    """Names and folders of all notes of a ledger, read once."""

    def __init__(self, ledger: Ledger) -> None:
        self._called: dict[str, dict[str, None]] = {}
        self._folders: dict[str, tuple[str, ...]] = {}
        for thread_id, title, listed in ledger.select(_NAMES):
            for name in (title, *orjson.loads(listed or "[]")):
                if name:
                    self._called.setdefault(_folded(name), {})[thread_id] = None
        for thread_id, file, _ in ledger.select(_FILES):
            self._folders[thread_id] = _parts(file or "")[:-1]

    def named(self, target: str, by: str) -> str | None:
        """The note that a link of the thread ``by`` names, whatever the case of its letters.

        Of several that are called alike the one in the nearest folder; a thread that is no
        note lies in no folder, so there only a name that one note has says anything.
        """
        *folders, name = _parts(target) or ("",)
        found = [
            one
            for one in self._called.get(_folded(name), ())
            if _ends_with(self._folders.get(one, ()), folders)
        ]
        home = self._folders.get(by)
        if home is None:
            return found[0] if len(found) == 1 else None
        return min(found, key=lambda one: self._distance(home, one), default=None)

    def _distance(self, home: Sequence[str], thread_id: str) -> tuple[int, tuple[str, ...], str]:
        """Steps from folder to folder; the order of paths and ids breaks ties."""
        there = self._folders.get(thread_id, ())
        shared = 0
        for one, other in zip(home, there, strict=False):
            if one != other:
                break
            shared += 1
        return len(home) + len(there) - 2 * shared, there, thread_id


def _parts(path: str) -> tuple[str, ...]:
    parts = path.replace("\\", "/").replace("!", "/").split("/")
    return tuple(part.strip() for part in parts if part.strip() not in {"", ".", ".."})


def noted(target: str) -> str:
    """What a note must be called for a written link to name it."""
    return _folded((_parts(target) or ("",))[-1])


def _folded(name: str) -> str:
    folded = name.strip().casefold()
    return folded.removesuffix(_ENDING)


def _ends_with(folders: Sequence[str], wanted: Sequence[str]) -> bool:
    last = folders[len(folders) - len(wanted) :] if len(wanted) <= len(folders) else None
    return last is not None and [_folded(one) for one in last] == [_folded(one) for one in wanted]
