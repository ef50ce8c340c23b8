"""What extraction makes of conversations of one's own: figures, Journeys and why others failed.

``python -m benchmarks.extract.corpora FOLDER... [-o FILE] [--journeys N]`` ingests each folder
into a store of its own. Questions and concepts per thread, the share that is trackable or generic,
links, Journeys and the reasons why groups of questions began none; megabytes of clean text read
per CPU second, the derivation of facts alone. ``--journeys`` prints so many in full: they hold
words of the conversations, so nothing of that goes into the file.
"""

import argparse
from collections import Counter
from pathlib import Path
from time import process_time

from benchmarks.extract.store import ingested
from graphstore.model.hubs import generic_ids
from graphstore.model.knowledge import Asks, Concept, Links, Question
from graphstore.store import Store
from ingest.derive import Derivation
from ingest.extract.questions import TRACKABLE
from ingest.link.journeys import find

COLUMNS = (
    "corpus", "threads", "questions", "a thread", "trackable", "answered", "concepts", "a thread",
    "generic", "recurring", "evolving", "related", "journeys", "no journey because", "MB/CPU-s",
)  # fmt: skip


def speed(store: Store) -> float:
    """Megabytes of clean text per CPU second, from threads to facts, in a fresh derivation."""
    epoch = store.epoch()
    threads = list(store.threads())
    if epoch is None:
        return 0.0
    size = sum(len(turn.text.encode()) for one in threads for turn in one.clean())
    derive = Derivation()
    start = process_time()
    for thread in threads:
        derive.facts(thread, epoch)
    return size / 1e6 / max(1e-9, process_time() - start)


def row(name: str, store: Store, shown: int) -> tuple[str, ...]:
    """Figures of one corpus."""
    epoch, ground = store.epoch(), store.ground()
    if epoch is None:
        return (name, *("-" for _ in COLUMNS[1:]))
    threads = len(ground.threads)
    concepts, questions = store.nodes(Concept), store.nodes(Question)
    generic = generic_ids(concepts, len(set(store.roots().values())))
    links = Counter(one.link_type.value for one in store.edges(Links))
    status = Counter(one.status.value for one in questions)
    found = find(ground, (), epoch)
    for journey in found.records[:shown]:
        print(f"\n{name}: {journey.path_label}\n  {journey.core_inquiry}")
        for stop in journey.stops:
            print(f"    {stop.at or '-'} {', '.join(stop.labels)}: {stop.moment}")
    return (
        name,
        str(threads),
        str(len(questions)),
        f"{len(store.edges(Asks)) / threads:.1f}",
        f"{sum(one.salience >= TRACKABLE for one in questions) / max(1, len(questions)):.2f}",
        str(status["answered"]),
        str(len(concepts)),
        f"{sum(one.df for one in concepts) / threads:.1f}",
        f"{len(generic) / max(1, len(concepts)):.3f}",
        *(str(links[kind]) for kind in ("recurring", "evolving", "related")),
        str(len(found.records)),
        ", ".join(f"{one.count} {one.name}" for one in found.failures) or "-",
        f"{speed(store):.2f}",
    )


def main() -> None:
    """Measure, print, and keep the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--journeys", type=int, default=0)
    given = parser.parse_args()
    rows = [COLUMNS]
    for folder in given.folders:
        with ingested((str(folder),)) as store:
            rows.append(row(folder.name, store, given.journeys))
    widths = [max(len(one[at]) for one in rows) for at in range(len(COLUMNS))]
    text = "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(one, widths, strict=True)).rstrip()
        for one in rows
    )
    print(text)
    if given.out:
        given.out.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
