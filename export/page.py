"""The explorer's data: an export view as columns, positions instead of ids."""

import re
from base64 import urlsafe_b64encode
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final

import orjson

from export.place import Places, places
from export.view import Cell, EdgeRow, ExportView, NodeRow
from graphstore.ids import Json
from graphstore.model.hypothesis import HYPOTHESIS_WORDS

KINDS: Final = ("Thread", "Question", "Concept", "Journey", "Waypoint")
TIES: Final = (
    "asks",
    "answers",
    "mentions",
    "links",
    "relates",
    "lineage",
    "cites",
    "passes",
    "anchored",
)
ROLES: Final = ("human", "assistant", "other")
LABEL: Final[Mapping[str, str]] = {
    "Thread": "title",
    "Question": "text",
    "Concept": "label",
    "Journey": "path_label",
    "Waypoint": "moment",
}
NOTE: Final[Mapping[str, str]] = {
    "Thread": "source",
    "Question": "status",
    "Concept": "kind",
    "Journey": "status",
    "Waypoint": "arc",
}
"""The one word that says most about a node of a kind."""

LABEL_LIMIT: Final = 200
TURNS_PER_NODE: Final = 200
CLIPS: Final = (20_000, 6_000, 3_000, 1_500, 800, 400, 200)
TEXT_BUDGET: Final = 16_000_000
"""Characters of turn text in one page; longer turns are clipped until all of them fit."""
UNKNOWN: Final = -1


HASHED: Final = re.compile(r"[qcj]:[0-9a-f]{32}")


def pack(key: str) -> str:
    """A hashed id in 22 characters; the kind of its node gives the tag back."""
    if HASHED.fullmatch(key) is None:
        return key
    return urlsafe_b64encode(bytes.fromhex(key[2:])).decode().rstrip("=")


class Words:
    """A string table: each word once, rows hold its position."""

    def __init__(self) -> None:
        self.words: list[Json] = []
        self._at: dict[str, int] = {}

    def put(self, word: Cell) -> int:
        """Position of a word, -1 for null."""
        if not isinstance(word, str):
            return UNKNOWN
        if word not in self._at:
            self._at[word] = len(self.words)
            self.words.append(word)
        return self._at[word]


@lru_cache(maxsize=100_000)
def _day(day: str) -> int:
    return date.fromisoformat(day).toordinal() - date(1970, 1, 1).toordinal()


def _days(moment: Cell) -> int | None:
    return _day(moment[:10]) if isinstance(moment, str) else None


def _seconds(moment: Cell) -> int | None:
    if not isinstance(moment, str):
        return None
    return int(datetime.fromisoformat(moment).astimezone(UTC).timestamp())


def _clip(text: Cell, limit: int) -> str:
    if not isinstance(text, str):
        return ""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}\u2026"


def _list(text: Cell) -> list[Json]:
    if not isinstance(text, str):
        return []
    found = orjson.loads(text)
    return found if isinstance(found, list) else []


def _refs(refs: Cell) -> tuple[str, ...]:
    return refs if isinstance(refs, tuple) else ()


def _label(row: NodeRow) -> str:
    """What a node is called on the map: without the marks of Markdown, which are for texts."""
    return _clip(row.columns.get(LABEL[row.table]), LABEL_LIMIT).replace("**", "").replace("`", "")


class Page:
    """Positions of nodes and turns, and the columns that are made of them."""

    def __init__(self, view: ExportView) -> None:
        self.view = view
        rank = {table: number for number, table in enumerate(KINDS)}
        drawn = [row for row in view.nodes if row.table in rank]
        self.nodes = sorted(drawn, key=lambda row: (rank[row.table], row.key))
        self.rank = rank
        self.at = {(row.table, row.key): number for number, row in enumerate(self.nodes)}
        self.by_key = {row.key: number for number, row in enumerate(self.nodes)}
        self.words = Words()
        self.turns = self._ordered_turns()
        self.turn_at = {row.key: number for number, row in enumerate(self.turns)}
        self.thread_of = [self._thread(row) for row in self.turns]
        self.seen: dict[int, list[int]] = defaultdict(list)
        """Node position to days on which a turn names it."""
        self.said: dict[int, list[int]] = defaultdict(list)
        """Node position to positions of the turns it rests on."""

    def _ordered_turns(self) -> list[NodeRow]:
        rows = [row for row in self.view.nodes if row.table == "SourceRef"]
        return sorted(rows, key=lambda row: (self._thread(row), _number(row.columns["turn"])))

    def _thread(self, turn: NodeRow) -> int:
        return self.at.get(("Thread", str(turn.columns["thread_id"])), UNKNOWN)

    def _end(self, table: str, key: str) -> int:
        """Node that stands for an end on the map: a turn is drawn as its thread."""
        if table == "SourceRef":
            turn = self.turn_at.get(key)
            return UNKNOWN if turn is None else self.thread_of[turn]
        return self.at.get((table, key), UNKNOWN)

    def ties(self) -> set[tuple[int, int, int]]:
        """Edges of the map as (tie, smaller, larger position); notes turns on the way."""
        found: set[tuple[int, int, int]] = set()
        codes = {name.upper(): number for number, name in enumerate(TIES)}
        for edge in self.view.edges:
            code = codes.get(edge.table)
            if code is None:
                continue
            u, v = self._end(edge.src_table, edge.src), self._end(edge.dst_table, edge.dst)
            self._note(edge, u, v)
            if UNKNOWN not in (u, v) and u != v:
                found.add((code, min(u, v), max(u, v)))
        return found

    def _note(self, edge: EdgeRow, u: int, v: int) -> None:
        if edge.src_table == "SourceRef":
            turn, node = self.turn_at.get(edge.src), v
        elif edge.dst_table == "SourceRef":
            turn, node = self.turn_at.get(edge.dst), u
        else:
            return
        if turn is None or node == UNKNOWN:
            return
        self.said[node].append(turn)
        day = _days(self.turns[turn].columns.get("at"))
        if day is not None:
            self.seen[node].append(day)

    def node_columns(self) -> dict[str, Json]:
        """What the map and the lists show of a node."""
        spans = [self._span(position) for position in range(len(self.nodes))]
        return {
            "id": [pack(row.key) for row in self.nodes],
            "kind": [self.rank[row.table] for row in self.nodes],
            "label": [_label(row) for row in self.nodes],
            "note": [self.words.put(self._word(row)) for row in self.nodes],
            "project": [self.words.put(row.columns.get("project")) for row in self.nodes],
            "first": [first for first, _ in spans],
            "days": [_lasted(first, last) for first, last in spans],
        }

    def _word(self, row: NodeRow) -> Cell:
        now = self.view.statuses.get(row.key)
        return row.columns.get(NOTE[row.table]) if now is None else now

    def _span(self, position: int) -> tuple[int | None, int | None]:
        columns = self.nodes[position].columns
        begins = _days(columns.get("started_at") or columns.get("first_seen") or columns.get("at"))
        ends = _days(columns.get("ended_at") or columns.get("last_seen"))
        days = [day for day in (begins, ends, *self.seen.get(position, ())) if day is not None]
        return (min(days), max(days)) if days else (None, None)

    def turn_columns(self) -> dict[str, Json]:
        """Every stored turn; its text only where the view holds it."""
        rows = [row.columns for row in self.turns]
        limit = clip_limit(row.get("text") for row in rows)
        texts: Json = [_clip(row.get("text"), limit) for row in rows]
        return {
            "thread": list[Json](self.thread_of),
            "number": [row["turn"] for row in rows],
            "role": [_role(row.get("role")) for row in rows],
            "aside": [int(bool(row.get("alternative"))) for row in rows],
            "at": [_seconds(row.get("at")) for row in rows],
            "text": texts if self.view.switches.with_text else None,
            "clip": limit,
            "file": [self.words.put(row.get("file")) for row in rows],
            "line": [row.get("line") for row in rows],
        }

    def said_columns(self) -> dict[str, Json]:
        """Turns of each node: how many, and all of them in one list."""
        counts: list[Json] = []
        turns: list[Json] = []
        for position in range(len(self.nodes)):
            own = sorted(set(self.said.get(position, ())))[:TURNS_PER_NODE]
            counts.append(len(own))
            turns += own
        return {"count": counts, "turn": turns}

    def _turns(self, refs: Iterable[str]) -> list[Json]:
        return [self.turn_at[ref] for ref in refs if ref in self.turn_at]

    def seed(self, row: NodeRow) -> Json:
        """One seed: sentence, members with their roles, source turns."""
        columns = row.columns
        pairs = (member.partition("=") for member in _refs(columns["members"]))
        return {
            "id": row.key,
            "shape": columns["shape"],
            "kind": columns["kind"],
            "level": columns["level"],
            "score": columns["score"],
            "provenance": columns["provenance"],
            "sentence": columns.get("sentence"),
            "members": [[role, self._member(key)] for role, _, key in pairs],
            "refs": self._turns(_refs(columns["source_refs"])),
        }

    def _member(self, key: str) -> int:
        found = self.by_key.get(key)
        if found is not None:
            return found
        turn = self.turn_at.get(key)
        return UNKNOWN if turn is None else self.thread_of[turn]

    def hypothesis(self, row: EdgeRow) -> Json:
        """One dreamt edge with both sides of its evidence."""
        plain = ("hypothesis_id", "function", "rule", "mode", "method", "title", "summary")
        more = ("why_not_fact", "state", "points", "next_check", "sensitivity", "closed_reason")
        dates = ("created_at", "validated_at", "review_after", "expires_at")
        shown: dict[str, Json] = {name: row.columns.get(name) for name in (*plain, *more, *dates)}
        return shown | {
            "table": row.table,
            "standing": row.standing,
            "src": self._end(row.src_table, row.src),
            "dst": self._end(row.dst_table, row.dst),
            "refs": self._turns(_refs(row.columns.get("refs"))),
            "claims": self._evidence(row.columns.get("claims")),
            "counter": self._evidence(row.columns.get("counter_evidence")),
            "triggers": row.columns.get("invalidation_triggers"),
        }

    def _evidence(self, text: Cell) -> list[Json]:
        rows = (row for row in _list(text) if isinstance(row, dict))
        return [{**row, "refs": self._turns(map(str, _listed(row.get("refs"))))} for row in rows]

    def journeys(self) -> list[Json]:
        """Each Journey with its waypoints in their sequence."""
        stops: dict[str, list[NodeRow]] = defaultdict(list)
        for row in self.nodes:
            if row.table == "Waypoint":
                stops[str(row.columns["journey_id"])].append(row)
        return [self._journey(row, stops[row.key]) for row in self.nodes if row.table == "Journey"]

    def _journey(self, row: NodeRow, stops: list[NodeRow]) -> Json:
        stops.sort(key=lambda stop: _number(stop.columns["seq"]))
        columns = row.columns
        return {
            "node": self.by_key[row.key],
            "inquiry": columns.get("core_inquiry"),
            "frontier": columns.get("frontier"),
            "refs": self._turns(_refs(columns["frontier_refs"])),
            "into": self.by_key.get(str(columns["merged_into"])),
            "stops": [self._stop(stop) for stop in stops],
        }

    def _stop(self, row: NodeRow) -> Json:
        columns = row.columns
        return {
            "node": self.by_key[row.key],
            "at": _seconds(columns.get("at")),
            "hint": columns.get("frontier_hint"),
            "labels": columns.get("labels"),
        }


def _listed(found: Json) -> list[Json] | tuple[Json, ...]:
    return found if isinstance(found, list | tuple) else []


def _lasted(first: int | None, last: int | None) -> int | None:
    return None if first is None or last is None else last - first


def _number(value: Cell) -> int:
    return value if isinstance(value, int) else 0


def _role(role: Cell) -> int:
    return ROLES.index(role) if role in ROLES else len(ROLES) - 1


def clip_limit(texts: Iterable[Cell]) -> int:
    """Longest clip of a turn with which all texts fit into one page."""
    lengths = [len(text) for text in texts if isinstance(text, str)]
    for limit in CLIPS:
        if sum(min(length, limit) for length in lengths) <= TEXT_BUDGET:
            return limit
    return CLIPS[-1]


def _edge_columns(ties: Iterable[tuple[int, int, int]]) -> dict[str, Json]:
    """Edges by tie, then ends; the first end as the step from the edge before it."""
    rows = sorted(ties)
    counts = Counter(tie for tie, _, _ in rows)
    steps: list[Json] = []
    before = (0, 0)
    for tie, u, _ in rows:
        steps.append(u - (before[1] if before[0] == tie else 0))
        before = (tie, u)
    return {
        "count": [counts[tie] for tie in range(len(TIES))],
        "step": steps,
        "v": [v for _, _, v in rows],
    }


def _place_columns(found: Places) -> dict[str, Json]:
    return {"x": [x for x, _ in found], "y": [y for _, y in found]}


def page(view: ExportView) -> dict[str, Json]:
    """Everything the explorer shows, ready for canonical JSON."""
    made = Page(view)
    ties = made.ties()
    nodes = made.node_columns()
    turns = made.turn_columns()
    keys = [row.key for row in made.nodes]
    found = places(keys, [(u, v) for _, u, v in sorted(ties)], view.places)
    switches: dict[str, Json] = {name: bool(value) for name, value in view.switches}
    return {
        "schema": "clew.page/1",
        "switches": switches,
        "kinds": [kind.lower() for kind in KINDS],
        "ties": list[Json](TIES),
        "roles": list[Json](ROLES),
        "nodes": nodes | _place_columns(found),
        "edges": _edge_columns(ties),
        "turns": turns,
        "said": made.said_columns(),
        "seeds": [made.seed(row) for row in view.seeds],
        "hypotheses": [made.hypothesis(row) for row in view.hypotheses],
        "journeys": made.journeys(),
        "words": made.words.words,
        "marked": HYPOTHESIS_WORDS,
    }
