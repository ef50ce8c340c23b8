"""How the scout grows: time and memory per edge from arrays, each size in a process of its own.

    python -m benchmarks.topology.growth 100000 1000000 10000000 -o FILE

A single new thread is put into each graph as well: what it joins and closes, at once.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.topology.contenders import high_water
from benchmarks.topology.kg import Kg, view_of

TALKS = 100
"""Threads that are put in, one after the other."""


def main() -> None:
    """Measure each size; or, as a child, one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("edges", type=int, nargs="+")
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--child", action="store_true")
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(measured(asked.edges[0])))
        return
    sizes: list[dict[str, Any]] = []
    for edges in asked.edges:
        sizes.append(run(edges))
        for name in ("cuts", "scout"):
            grown = sizes[-1][f"{name}, CPU us per edge"] / sizes[0][f"{name}, CPU us per edge"]
            sizes[-1][f"{name}, per edge against the first size"] = round(grown, 2)
        print(json.dumps(sizes[-1], indent=1))
        if asked.out:
            text = json.dumps({"load": os.getloadavg(), "sizes": sizes}, indent=1)
            asked.out.write_text(text + "\n", "utf-8")


def run(edges: int) -> dict[str, Any]:
    """One size in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.topology.growth", "--child", str(edges)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(edges: int) -> dict[str, Any]:
    """Cuts of level 0, one thread more, then the whole scout."""
    import igraph  # noqa: F401 - imports are not measured
    import scipy.sparse.csgraph  # noqa: F401 - the same

    from topology.model import Limits
    from topology.report import report, to_json
    from topology.scout import scout
    from topology.structure import Structure

    view = view_of(Kg(edges))
    m, before = len(view.u), high_water()
    start = process_time()
    level = Structure(view, Limits()).level(0)
    _ = level.two_cuts, level.blocks
    cuts, held = process_time() - start, high_water()
    told = one_more(level)
    del level
    start, wall = process_time(), perf_counter()
    found = scout(view, None, Limits())
    shown = to_json(report(found, {}))
    spent, wall = process_time() - start, perf_counter() - wall
    return {
        "edges": m,
        "nodes": len(view.ids),
        "cuts, CPU s": round(cuts, 3),
        "cuts, CPU us per edge": round(cuts / m * 1e6, 3),
        "cuts, bytes per edge": round((held - before) * 1024 / m),
        **told,
        "scout, CPU s": round(spent, 3),
        "scout, wall s": round(wall, 3),
        "scout, CPU us per edge": round(spent / m * 1e6, 3),
        "scout, bytes per edge": round((high_water() - before) * 1024 / m),
        "seeds": len(found.seeds),
        "bytes of report": len(shown),
    }


def one_more(level: Any) -> dict[str, Any]:  # noqa: ANN401 - a Level
    """Threads of seven questions with four concepts each, put in edge by edge."""
    from graphstore.model.view import CONCEPT
    from topology.live import Live

    start = process_time()
    live = Live.of(level)
    made = process_time() - start
    rng = np.random.default_rng(3)
    known = rng.choice(np.flatnonzero(level.kind == CONCEPT), (TALKS, 7, 4)).tolist()
    spent, each = [], []
    for talk in known:
        began = perf_counter()
        thread = live.add_node()
        for words in talk:
            question = live.add_node()
            for a, b in ((thread, question), *((question, word) for word in words)):
                at = perf_counter()
                live.insert(a, b)
                each.append(perf_counter() - at)
        spent.append(perf_counter() - began)
    return {
        "live: state made, CPU s": round(made, 3),
        "live: a thread of 7 questions and 35 edges, median ms": _ms(spent, 50),
        "live: such a thread, 95th of 100, ms": _ms(spent, 95),
        "live: one edge, median us": round(_ms(each, 50) * 1000, 2),
        "live: one edge, 99 of 100 below, us": round(_ms(each, 99) * 1000, 2),
    }


def _ms(seconds: list[float], share: int) -> float:
    return round(float(np.percentile(seconds, share)) * 1000, 4)


if __name__ == "__main__":
    main()
