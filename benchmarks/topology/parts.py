"""What the root of a graph in parts is sent, beside the graph itself, and what it costs.

python -m benchmarks.topology.parts 1000000 --shards 16 -o FILE
"""

import argparse
import json
import os
from pathlib import Path
from time import process_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.topology.kg import Kg
from topology.partition import (
    Cuts,
    Summary,
    finish,
    merge,
    partition_summary,
    shared_vertices,
)

Longs = NDArray[np.int64]


def main() -> None:
    """Summarise parts by theme and by chance, and compare with one part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("edges", type=int, nargs="?", default=100_000)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("-o", "--out", type=Path)
    asked = parser.parse_args()
    kg = Kg(asked.edges)
    pairs, shard = by_theme(kg, asked.shards)
    u, v = pairs[:, 0].copy(), pairs[:, 1].copy()
    nothing = np.empty(0, np.int64)
    finish(partition_summary(u[:9], v[:9], nothing), contracted=True)  # imports are not measured
    start = process_time()
    whole = finish(partition_summary(u, v, nothing), contracted=True)
    one = process_time() - start
    drawn = np.random.default_rng(2).integers(0, asked.shards, len(u))
    found = {
        "edges": len(u),
        "shards": asked.shards,
        "load": os.getloadavg(),
        "one part, CPU s": round(one, 3),
        "by theme": measured(u, v, shard, whole, one),
        "by chance": measured(u, v, drawn, whole, one),
    }
    text = json.dumps(found, indent=1)
    print(text)
    if asked.out:
        asked.out.write_text(text + "\n", "utf-8")


def by_theme(kg: Kg, shards: int) -> tuple[Longs, Longs]:
    """Each pair once, with the shard of the topic of its first thread or question."""
    pairs = np.unique(kg.pairs(), axis=0)
    topic = np.concatenate((kg.topic, kg.topic[kg.thread]))
    return pairs, topic[pairs[:, 0]] * shards // kg.topics


def measured(u: Longs, v: Longs, shard: Longs, whole: Cuts, one: float) -> dict[str, object]:
    """Size of what is sent, as shares of the edges; the answer must be that of one part."""
    start = process_time()
    boundary = shared_vertices(u, v, shard)
    sent = [
        partition_summary(u[shard == at], v[shard == at], boundary)
        for at in np.unique(shard).tolist()
    ]
    summary: Summary = merge(sent, contracted=True)
    cuts = finish(summary, contracted=True)
    spent = process_time() - start
    assert np.array_equal(cuts.bridges, whole.bridges)
    assert np.array_equal(cuts.components, whole.components)
    return {
        "shared vertices": round(len(boundary) / len(np.unique((u, v))), 3),
        "forest edges / edges": round(len(summary.edge) / len(u), 3),
        "unions / edges": round(len(summary.union) / len(u), 3),
        "both / edges": round((len(summary.edge) + len(summary.union)) / len(u), 3),
        "CPU / one part": round(spent / one, 2),
    }


if __name__ == "__main__":
    main()
