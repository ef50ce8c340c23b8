"""What may leave the store: columns and words that each switch holds back."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import orjson

from graphstore.ids import Json
from graphstore.model.knowledge import Concept, ConceptKind

Cells: TypeAlias = Mapping[str, str | int | float | bool | tuple[str, ...] | None]
Shown: TypeAlias = dict[str, str | int | float | bool | tuple[str, ...] | None]

ILLEGAL: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 does not allow, lone surrogates among it."""

# A path from the root, the home folder or a drive; or a relative one that names a file.
PATH: Final = re.compile(
    r"(?<![\w:/.])(?:"
    r"file://[^\s\"'<>)]+"
    r"|(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/][\w.@+\-]+){2,}[\\/]?"
    r"|[A-Za-z]:\\[\w.@+\\\-]+"
    r"|(?:[\w.@+\-]+[\\/])+[\w@+\-]+\.\w{1,8}"
    r")"
)
MASK: Final = "[path]"

TEXT: Final[Mapping[str, frozenset[str]]] = {
    "Thread": frozenset({"events"}),
    "SourceRef": frozenset({"text", "links"}),
    "Journey": frozenset({"frontier"}),
    "Waypoint": frozenset({"moment", "frontier_hint"}),
    "RELATES": frozenset({"why"}),
    "CITES": frozenset({"target"}),
}
"""Columns made of the words of turns: clips are turn text too."""

PATHS: Final[Mapping[str, frozenset[str]]] = {
    "Thread": frozenset({"project", "touched", "native_ids"}),
    "SourceRef": frozenset({"file", "line", "offset", "length"}),
    "Question": frozenset({"where"}),
}

DREAMT: Final = frozenset({"COMPENSATES", "ANTICIPATES", "RESONATES", "IMAGINES"})
DREAMT_WORDS: Final = frozenset(
    {"title", "summary", "why_not_fact", "cues", "voices", "extras", "claims", "counter_evidence"}
)
WORDS: Final[Mapping[str, frozenset[str]]] = {
    "Thread": frozenset({"title", "scope_labels", "participants"}),
    "SourceRef": frozenset({"speaker"}),
    "Question": frozenset({"text"}),
    "Concept": frozenset({"label", "aliases"}),
    "Journey": frozenset({"path_label", "core_inquiry"}),
    "Waypoint": frozenset({"labels"}),
    "Seed": frozenset({"sentence"}),
    "LINKS": frozenset({"evidence"}),
    **dict.fromkeys(sorted(DREAMT), DREAMT_WORDS),
}
"""Titles, labels, names and question texts: what ``public`` leaves out."""

CLOCK: Final[Mapping[str, frozenset[str]]] = {
    "Journey": frozenset({"last_activity_at", "expires_at"}),
}
"""Set when something was done, not when it was said: two stores of the same words differ."""

NOTHING: Final[frozenset[str]] = frozenset()


def strip(text: str) -> str:
    """Remove what XML and UTF-8 cannot carry."""
    return ILLEGAL.sub("", text)


def _object(text: object) -> Json:
    if not isinstance(text, str):
        return None
    try:
        found: Json = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found


def _rows(text: object) -> list[dict[str, Json]]:
    found = _object(text)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _dump(found: Json) -> str:
    return orjson.dumps(found, option=orjson.OPT_SORT_KEYS).decode()


def _keep(text: object, names: frozenset[str]) -> str:
    kept = [{name: row[name] for name in sorted(row) if name in names} for row in _rows(text)]
    return _dump(list[Json](kept))


JSON_COLUMNS: Final = frozenset(
    {"claims", "counter_evidence", "events", "evidence", "extras", "signals"}
)
MASKED_KEYS: Final = frozenset({"kind", "offset"})
SIGNAL_KEYS: Final = frozenset({"kind", "type", "question_id", "concepts"})
ATTACHMENT_KEYS: Final = frozenset({"media_type", "size", "content_hash"})
CLAIM_KEYS: Final = frozenset({"side", "refs"})
COUNTER_KEYS: Final = frozenset({"kind", "refs"})


@dataclass(frozen=True, slots=True)
class Screen:
    """The switches as rules on columns."""

    with_text: bool
    with_paths: bool
    public: bool
    path_labels: frozenset[str]
    """Labels and aliases of path concepts, casefolded."""

    @classmethod
    def of(
        cls, concepts: Iterable[Concept], *, with_text: bool, with_paths: bool, public: bool
    ) -> "Screen":
        """The rules of the switches; ``public`` wins over the two others."""
        paths = (row for row in concepts if row.kind is ConceptKind.PATH)
        labels = frozenset(
            label.casefold() for row in paths for label in (row.label, *row.aliases) if label
        )
        return cls(
            with_text=with_text and not public,
            with_paths=with_paths and not public,
            public=public,
            path_labels=labels,
        )

    def hidden(self, table: str) -> frozenset[str]:
        """Columns of a table that do not leave."""
        out = CLOCK.get(table, NOTHING)
        if not self.with_text:
            out |= TEXT.get(table, NOTHING)
        if not self.with_paths:
            out |= PATHS.get(table, NOTHING)
        return out | WORDS.get(table, NOTHING) if self.public else out

    def show(self, table: str, cells: Cells) -> Shown:
        """The columns of one row as they may be shown."""
        hidden = self.hidden(table)
        row: Shown = {name: value for name, value in cells.items() if name not in hidden}
        if not self.with_paths:
            if table == "Concept" and row.get("kind") == ConceptKind.PATH.value:
                return {name: value for name, value in row.items() if name not in WORDS["Concept"]}
            self._unpath(table, row)
        if table == "SourceRef":
            self._turn(row)
        elif table in DREAMT:
            self._dream(row)
        return row

    def _turn(self, row: Shown) -> None:
        row["masked"] = _keep(row["masked"], MASKED_KEYS)
        if not self.with_text:
            row["signals"] = _keep(row["signals"], SIGNAL_KEYS)
        if not self.with_paths:
            row["attachments"] = _keep(row["attachments"], ATTACHMENT_KEYS)
            tools = _object(row["tools"])
            counts = tools.get("counts", []) if isinstance(tools, dict) else []
            row["tools"] = _dump({"counts": counts})

    def _dream(self, row: Shown) -> None:
        """Claims and counter-evidence quote turns; without text their refs and sides stay."""
        if self.with_text or self.public:
            return
        row["claims"] = _keep(row["claims"], CLAIM_KEYS)
        row["counter_evidence"] = _keep(row["counter_evidence"], COUNTER_KEYS)
        row["extras"] = "{}"

    def _unpath(self, table: str, row: Shown) -> None:
        """Titles, labels and clips name files too; a turn is shown as it was said or not at all."""
        words = WORDS.get(table, NOTHING) | TEXT.get(table, NOTHING) | {"signals"}
        for name in sorted((words - {"text"} if table == "SourceRef" else words) & row.keys()):
            value = row[name]
            if name in JSON_COLUMNS:
                row[name] = _dump(self._within(_object(value)))
            elif isinstance(value, str):
                row[name] = self.unpath(value)
            elif isinstance(value, tuple):
                row[name] = tuple(self.unpath(part) for part in value)

    def _within(self, found: Json) -> Json:
        if isinstance(found, str):
            return self.unpath(found)
        if isinstance(found, dict):
            return {name: self._within(part) for name, part in found.items()}
        return [self._within(part) for part in found] if isinstance(found, list) else found

    def unpath(self, text: str) -> str:
        """Put a mark in the place of every path and of every label of a path concept."""
        masked = PATH.sub(MASK, text)
        if not self.path_labels:
            return masked
        return re.sub(r"\S+", self._word, masked)

    def _word(self, found: re.Match[str]) -> str:
        word = found[0]
        bare = word.strip("\"'`()[]{}<>,;:!?.\u201c\u201d\u2018\u2019\u2026")
        if bare and bare.casefold() in self.path_labels:
            return word.replace(bare, MASK)
        return word
