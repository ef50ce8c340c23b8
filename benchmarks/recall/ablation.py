"""Recall with one part taken away at a time, to see what each is worth."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

from benchmarks.recall.baselines import Answer, clew
from benchmarks.recall.workspace import Workspace
from graphstore.queries import corpus, cue, meaning, recall

Method = Callable[[Workspace], Answer]

PARTS: dict[str, tuple[tuple[ModuleType, str, object], ...]] = {
    "without wording": ((recall, "LEXICAL", 0.0),),
    "without vectors": ((recall, "LEXICAL", 1.0),),
    "turns by themselves": (
        (corpus, "NEIGHBOURS", (0.0, 0.0)),
        (meaning, "VECTOR_NEIGHBOURS", (0.0, 0.0)),
    ),
    "without the speaker": ((recall, "SPEAKER", 0.0),),
    "without times": ((recall, "TIME", 0.0),),
    "with function words": ((cue, "FUNCTION_WORDS", frozenset()),),
    "usual BM25 k1, b": ((corpus, "K1", 1.2), (corpus, "B", 0.75)),
    "threads by best turn": ((recall, "NEXT_TURNS", 0.0),),
}


@contextmanager
def set_to(parts: tuple[tuple[ModuleType, str, object], ...]) -> Iterator[None]:
    """Constants of modules as given, for a while."""
    before = [(module, name, getattr(module, name)) for module, name, _ in parts]
    for module, name, value in parts:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def without(parts: tuple[tuple[ModuleType, str, object], ...]) -> Method:
    """Recall under other constants."""

    def method(workspace: Workspace) -> Answer:
        def answer(cue: str) -> tuple[list[str], list[str]]:
            with set_to(parts):
                return ask(cue)

        with set_to(parts):
            ask = clew(workspace.again())
        return answer

    return method


def ablations() -> dict[str, Method]:
    """Each part away, then the whole."""
    return {name: without(parts) for name, parts in PARTS.items()} | {"recall": clew}
