"""A made-up record of any size, as a graph database file and as arrays.

Questions in threads of one topic, mentions by a Zipf law, mostly of the topic's own words; two
threads in a hundred talk of nothing that others know.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphstore.engine import Engine
from graphstore.model.knowledge import (
    Asks,
    Concept,
    Edge,
    HasTurn,
    Links,
    Mentions,
    Node,
    Question,
    SourceRefNode,
    ThreadNode,
)
from graphstore.model.view import (
    CONCEPT_LINEAGE,
    CONTAINMENT,
    LINK,
    MENTION,
    NO_DAY,
    OPEN,
    VOICED,
    GraphView,
)
from graphstore.schema import columns, copy_edges, copy_nodes, ddl

Longs = NDArray[np.int64]
CHUNK = 100_000
_TYPES = {
    "STRING": pa.string(),
    "INT64": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOL": pa.bool_(),
    "TIMESTAMP": pa.timestamp("us"),
    "STRING[]": pa.list_(pa.string()),
}


class Kg:
    """Arrays of one record of about ``edges`` edges; the same seed, the same record."""

    def __init__(self, edges: int, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.questions = int(edges / 5.6)
        self.threads = max(1, self.questions // 7)
        self.concepts = max(8, edges // 9)
        self.thread = rng.integers(0, self.threads, self.questions)
        """Thread of each question."""
        alone = rng.random(self.threads) < 0.02
        self._mentions(rng, alone)
        self._links(rng, alone)

    def _mentions(self, rng: np.random.Generator, alone: NDArray[np.bool_]) -> None:
        topics = max(8, int(np.sqrt(self.threads)))
        own = max(1, self.concepts // topics)
        self.topics, self.topic = topics, rng.integers(0, topics, self.threads)
        """Topic of each thread."""
        many = np.minimum(rng.geometric(1 / 3.9, self.questions), 20)
        holder = np.repeat(np.arange(self.questions), many)
        home = self.topic[self.thread[holder]]
        word = home * own + _zipf(rng, own, len(holder))
        anywhere = rng.random(len(holder)) >= 0.8
        shuffled = rng.permutation(self.concepts)
        word[anywhere] = shuffled[_zipf(rng, self.concepts, int(anywhere.sum()))]
        private = alone[self.thread[holder]]
        lonely = self.thread[holder[private]] * 5 + rng.integers(0, 5, int(private.sum()))
        word[private] = self.concepts + lonely
        self.words = self.concepts + 5 * self.threads
        self.holder, self.word = _distinct(holder, word)
        """Question and concept of each mention."""

    def _links(self, rng: np.random.Generator, alone: NDArray[np.bool_]) -> None:
        order = np.argsort(self.thread, kind="stable")
        follows = np.flatnonzero(np.diff(self.thread[order]) == 0)
        follows = follows[rng.random(len(follows)) < 0.5]
        known = np.flatnonzero(~alone[self.thread])
        count = self.questions // 20
        across = rng.choice(known, (count, 2))
        pairs = np.concatenate((np.stack((order[follows], order[follows + 1]), axis=1), across))
        low, high = pairs.min(axis=1), pairs.max(axis=1)
        self.older, self.newer = _distinct(low[low != high], high[low != high])

    def pairs(self) -> Longs:
        """All edges as node numbers, k x 2: threads, questions, concepts in this order."""
        question, word = self.threads, self.threads + self.questions
        asks = np.stack((self.thread, question + np.arange(self.questions)), axis=1)
        mentions = np.stack((question + self.holder, word + self.word), axis=1)
        links = np.stack((question + self.older, question + self.newer), axis=1)
        return np.concatenate((asks, mentions, links))

    @property
    def nodes(self) -> int:
        """Node numbers in use are below this."""
        return self.threads + self.questions + self.words


def _zipf(rng: np.random.Generator, size: int, count: int) -> Longs:
    heap = np.cumsum(1 / np.arange(1, size + 1))
    return np.searchsorted(heap, rng.random(count) * heap[-1]).astype(np.int64)


def _distinct(a: Longs, b: Longs) -> tuple[Longs, Longs]:
    width = int(b.max(initial=0)) + 1
    first, second = np.divmod(np.unique(a * width + b), width)
    return first, second


def view_of(kg: Kg) -> GraphView:
    """The arrays that the file of a record is read into, made without it."""
    asked, used = np.unique(kg.thread), np.unique(kg.word)
    thread = np.searchsorted(asked, kg.thread)
    concept = len(asked) + kg.questions + np.searchsorted(used, kg.word)
    question = len(asked) + np.arange(kg.questions)
    n = len(asked) + kg.questions + len(used)
    ends = np.concatenate(
        (
            np.stack((thread, question), axis=1),
            np.stack((question[kg.holder], concept), axis=1),
            np.stack((question[kg.older], question[kg.newer]), axis=1),
        )
    )
    said_in = np.concatenate((np.arange(kg.questions), kg.holder, kg.newer))
    order = np.argsort(ends[:, 0] * n + ends[:, 1])
    u, v, said_in = ends[order, 0], ends[order, 1], said_in[order]
    parts = (kg.questions, len(kg.holder), len(kg.older))
    roles = np.repeat(np.array((CONTAINMENT, MENTION, LINK), np.uint8), parts)[order]
    lineage = np.concatenate((np.arange(len(asked)), thread, np.full(len(used), CONCEPT_LINEAGE)))
    key = thread * kg.questions + np.arange(kg.questions)
    first = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(first, thread, key)
    first[question] = key
    np.minimum.at(first, concept, key[kg.holder])
    spoken, _ = _distinct(concept, thread[kg.holder])
    names = [*(f"x:t{at:08d}" for at in asked.tolist())]
    unknown = np.full(n, NO_DAY, np.int32)
    flags = np.zeros(n, np.uint8)
    flags[question] = OPEN
    turn = (said_in + 1).astype(np.int32)
    return GraphView(
        ids=(
            *names,
            *(f"q:{at:08d}" for at in range(kg.questions)),
            *(f"c:{at:08d}" for at in used.tolist()),
        ),
        kind=np.repeat(np.arange(3, dtype=np.int8), (len(asked), kg.questions, len(used))),
        lineage=lineage.astype(np.int32),
        ref_thread=(first // kg.questions).astype(np.int32),
        ref_turn=(first % kg.questions + 1).astype(np.int32),
        day=unknown,
        flags=flags,
        u=u.astype(np.int32),
        v=v.astype(np.int32),
        weight=np.ones(len(u), np.int32),
        roles=roles | np.uint8(VOICED),
        edge_ref_thread=thread[said_in].astype(np.int32),
        edge_ref_turn=turn,
        arcs=np.empty((0, 3), np.int32),
        threads=tuple(names),
        lineages=tuple(names),
        df=np.bincount(spoken, minlength=n).astype(np.int32),
        began=unknown,
        settled=unknown,
        carried=np.zeros(n, np.int32),
        labels=("",) * n,
        turn_thread=thread[said_in].astype(np.int32),
        turn_number=turn,
        turn_edge=np.arange(len(u), dtype=np.int32),
        undated=kg.questions,
    )


def write(kg: Kg, path: Path) -> None:
    """Load a record into a fresh database file, and close it."""
    engine = Engine(path, buffer_pool_mb=2048)
    with engine.autocommit() as statement:
        for text in ddl():
            statement.run(text)
        _nodes(statement, kg)
        _edges(statement, kg)
    engine.checkpoint()
    engine.close()


def _nodes(statement: Any, kg: Kg) -> None:  # noqa: ANN401 - a transaction of the engine
    threads = _names("x:t", np.arange(kg.threads))
    used = np.unique(kg.word)
    texts = {"thread_id": threads, "lineage_root": threads}
    _copy(statement, copy_nodes(ThreadNode), ThreadNode, kg.threads, texts)
    refs = _refs(kg, np.arange(kg.questions))
    turns = {"ref": refs, "turn": pa.array(np.arange(1, kg.questions + 1))}
    turns["taint"] = pa.array(["human"] * kg.questions)
    turns["thread_id"] = pa.array(threads.take(pa.array(kg.thread)))
    _copy(statement, copy_nodes(SourceRefNode), SourceRefNode, kg.questions, turns)
    asked = {"question_id": _names("q:", np.arange(kg.questions))}
    asked["status"] = pa.array(["open"] * kg.questions)
    asked["ref_count"] = pa.array([1] * kg.questions)
    _copy(statement, copy_nodes(Question), Question, kg.questions, asked)
    words = {"concept_id": _names("c:", used), "label": _names("word ", used)}
    _copy(statement, copy_nodes(Concept), Concept, len(used), words)


def _edges(statement: Any, kg: Kg) -> None:  # noqa: ANN401 - a transaction of the engine
    questions = _names("q:", np.arange(kg.questions))
    refs = _refs(kg, np.arange(kg.questions))
    threads = _names("x:t", np.arange(kg.threads)).take(pa.array(kg.thread))
    for cls, ends, extra in (
        (HasTurn, (threads, refs), {}),
        (Asks, (refs, questions), {}),
        (
            Mentions,
            (questions.take(pa.array(kg.holder)), _names("c:", kg.word)),
            {"source_refs": _lists(refs.take(pa.array(kg.holder)))},
        ),
        (
            Links,
            (questions.take(pa.array(kg.older)), questions.take(pa.array(kg.newer))),
            {"source_refs": _lists(refs.take(pa.array(kg.newer)))},
        ),
    ):
        pair = cls.PAIRS[0] if cls is not Mentions else ("Question", "Concept")
        columns_of = {"from": ends[0], "to": ends[1], **extra}
        _copy(statement, copy_edges(cls, *pair), cls, len(ends[0]), columns_of)


def _names(prefix: str, numbers: Longs) -> Any:  # noqa: ANN401 - an arrow array
    return pa.array([f"{prefix}{number:08d}" for number in numbers.tolist()])


def _refs(kg: Kg, questions: Longs) -> Any:  # noqa: ANN401 - an arrow array
    rows = zip(kg.thread[questions].tolist(), questions.tolist(), strict=True)
    return pa.array([f"thread:x:t{thread:08d}#turn:{turn + 1}" for thread, turn in rows])


def _lists(values: Any) -> Any:  # noqa: ANN401 - an arrow array
    return pa.ListArray.from_arrays(pa.array(range(len(values) + 1), pa.int32()), values)


def _copy(
    statement: Any,  # noqa: ANN401 - a transaction of the engine
    cypher: str,
    cls: type[Node] | type[Edge],
    rows: int,
    given: dict[str, Any],
) -> None:
    names = [column.name for column in columns(cls)]
    kinds = {column.name: column.kind for column in columns(cls)}
    ends = ["from", "to"] if issubclass(cls, Edge) else []
    arrays = [
        given[name] if name in given else pa.nulls(rows, _TYPES[kinds[name]])
        for name in (*ends, *names)
    ]
    statement.run(cypher, rows=pa.table(arrays, names=[*ends, *names]))
