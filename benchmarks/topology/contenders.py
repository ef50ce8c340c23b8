"""One contender in a process of its own: from the database file to ranked places.

Prints one line of JSON: seconds of CPU, bytes above a bare interpreter, counts, stages.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

ASKED = (
    "MATCH (a:`Thread`)-[:`HAS_TURN`]->(:`SourceRef`)-[:`ASKS`]->(b:`Question`) "
    "RETURN a.`thread_id`, b.`question_id`"
)
ROWS = (
    ASKED,
    "MATCH (a:`Question`)-[:`MENTIONS`]->(b:`Concept`) RETURN a.`question_id`, b.`concept_id`",
    "MATCH (a:`Question`)-[:`LINKS`]->(b:`Question`) RETURN a.`question_id`, b.`question_id`",
)


IMPORTS = "imports"
"""The stage that is told but not counted: every contender has it once."""


class Stages:
    """Seconds of CPU per stage."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._last = process_time()

    def mark(self, name: str) -> None:
        """What was done since the last mark."""
        now = process_time()
        self.spent[name] = round(self.spent.get(name, 0) + now - self._last, 3)
        self._last = now


def clew(path: Path, stages: Stages) -> dict[str, int]:
    """The whole scout, from the file to the report, stage by stage; nothing is done twice."""
    from topology import scout as scouting
    from topology.model import Limits
    from topology.report import report, to_json
    from topology.structure import Structure

    view = _view(path, stages)
    graph = Structure(view, Limits())
    for level in (0, 1):
        _ = graph.level(level).two_cuts
        stages.mark(f"level {level}: components, bridges, 2-edge cuts")
        _ = graph.level(level).blocks
        stages.mark(f"level {level}: blocks")
    _ = graph.themes
    stages.mark("communities")
    module: Any = sys.modules[scouting.__module__]
    search = module._search  # noqa: SLF001 - to look at the clock after each shape

    def timed(graph: Structure, shape: Any) -> Any:  # noqa: ANN401 - a module, a run
        found = search(graph, shape)
        stages.mark(f"shape {shape.NAME}")
        return found

    module._search, module.Structure = timed, lambda *_: graph  # noqa: SLF001 - the same
    found = scouting(view, None, Limits())
    shown = to_json(report(found, {}))
    stages.mark("ranks, hashes, report")
    return {
        "edges": len(view.u),
        "nodes": len(view.ids),
        "seeds": len(found.seeds),
        "bytes of report": len(shown),
    }


def clew_cuts(path: Path, stages: Stages) -> dict[str, int]:
    """Islands, cut points, bridges and 2-edge cuts of level 0 with sizes, ranked, as the others."""
    from topology.model import Limits
    from topology.structure import Structure

    view = _view(path, stages)
    graph = Structure(view, Limits(level=0, themes=False))
    return _ranked_cuts(graph, stages)


def clew_array(path: Path, stages: Stages) -> dict[str, int]:
    """The same cuts with sizes, from an array that is ready."""
    import numpy as np  # noqa: F401 - it reads the array
    import scipy.sparse.csgraph  # noqa: F401 - what the cuts are made with

    from topology import cuts
    from topology.blocks import blocks

    stages.mark(IMPORTS)
    u, v, n = _array(path)
    stages.mark("array")
    tree = cuts.forest(cuts.adjacency(n, u, v))
    cover = cuts.cover(tree, u, v)
    bridges = cuts.bridges(cover)
    child = cover.child[bridges]
    sizes = tree.size[child]
    _ = (-sizes).argsort(kind="stable")
    rings = cuts.rings(tree, cover)
    stages.mark("cuts")
    held = blocks(tree, u, v)
    stages.mark("blocks and articulation points")
    return {
        "components": int(tree.component.max()) + 1,
        "bridges": len(bridges),
        "cut points": len(held.cut_nodes),
        "2-edge cut classes": len(rings.around),
    }


def igraph_array(path: Path, stages: Stages) -> dict[str, int]:
    """Raw igraph from an array that is ready: build, components, bridges, articulation points."""
    import igraph
    import numpy as np

    stages.mark(IMPORTS)
    u, v, n = _array(path)
    stages.mark("array")
    graph = igraph.Graph(n=n, edges=memoryview(np.column_stack((u, v)).astype(np.int64)))
    stages.mark("build")
    components = len(graph.connected_components())
    bridges = len(graph.bridges())
    points = len(graph.articulation_points())
    stages.mark("components, bridges, articulation points")
    return {"components": components, "bridges": bridges, "cut points": points}


def networkx_rows(path: Path, stages: Stages) -> dict[str, int]:
    """What one would write: rows into networkx, then its algorithms, ranked by size."""
    import kuzu
    import networkx as nx

    stages.mark(IMPORTS)
    connection = kuzu.Connection(kuzu.Database(str(path), read_only=True, max_db_size=2**38))
    graph: Any = nx.Graph()
    for cypher in ROWS:
        result: Any = connection.execute(cypher)
        while result.has_next():
            graph.add_edge(*result.get_next())
    stages.mark("rows into networkx")
    return _networkx(graph, stages)


def networkx_converted(path: Path, stages: Stages) -> dict[str, int]:
    """The same with the converter of the database, as far as it can say what is asked."""
    import kuzu
    import networkx as nx

    stages.mark(IMPORTS)
    connection = kuzu.Connection(kuzu.Database(str(path), read_only=True, max_db_size=2**38))
    result: Any = connection.execute(
        "MATCH (a:`Question`)-[r:`MENTIONS`|`LINKS`]->(b) RETURN a, r, b"
    )
    graph = result.get_as_networkx(directed=False)
    whole = nx.Graph(graph)
    result = connection.execute(ASKED)
    while result.has_next():
        thread, question = result.get_next()
        whole.add_edge(f"Thread_{thread}", f"Question_{question}")
    stages.mark("get_as_networkx")
    return _networkx(whole, stages)


def _networkx(graph: Any, stages: Stages) -> dict[str, int]:  # noqa: ANN401 - a networkx graph
    import networkx as nx

    parts = sorted(nx.connected_components(graph), key=len, reverse=True)
    blocks = list(nx.biconnected_components(graph))
    bridges = [block for block in blocks if len(block) == 2]
    members: dict[Any, int] = {}
    for block in blocks:
        for node in block:
            members[node] = members.get(node, 0) + 1
    points = [node for node, count in members.items() if count > 1]
    sizes = _sides(graph, parts)
    ranked = sorted((min(sizes[frozenset(edge)]) for edge in bridges), reverse=True)
    stages.mark("components, bridges, articulation points, sizes")
    return {
        "edges": graph.number_of_edges(),
        "components": len(parts),
        "bridges": len(ranked),
        "cut points": len(points),
    }


def _sides(graph: Any, parts: Any) -> dict[frozenset[Any], tuple[int, int]]:  # noqa: ANN401 - networkx
    """Both side sizes of every tree edge, by subtree sums."""
    import networkx as nx

    found = {}
    for part in parts:
        order = list(nx.bfs_edges(graph, next(iter(part))))
        below: dict[Any, int] = dict.fromkeys(part, 1)
        for parent, child in reversed(order):
            below[parent] += below[child]
            found[frozenset((parent, child))] = (below[child], len(part) - below[child])
    return found


def _view(path: Path, stages: Stages) -> Any:  # noqa: ANN401 - a GraphView
    import igraph  # noqa: F401 - what the scout imports later on
    import pyarrow.compute  # noqa: F401 - the same
    import scipy.sparse.csgraph  # noqa: F401 - the same

    from graphstore.engine import Engine
    from graphstore.view import Scope, view

    stages.mark(IMPORTS)
    engine = Engine(path)
    stages.mark("open")
    with engine.read() as statement:
        found = view(statement, Scope())
    engine.close()
    stages.mark("file to arrays")
    return found


def _ranked_cuts(graph: Any, stages: Stages) -> dict[str, int]:  # noqa: ANN401 - a Structure
    import numpy as np

    from topology import cuts
    from topology.shapes import cut_point

    level = graph.level(0)
    _ = level.two_cuts
    stages.mark("components, bridges, sizes, 2-edge cuts")
    found = cut_point.pieces(level)
    _, first = np.unique(found.node, return_index=True)
    _ = np.argsort(-found.size[first + 1], kind="stable")
    stages.mark("articulation points with pieces, ranked")
    child = level.cover.child[level.bridges]
    size, total = level.forest.size[child], level.forest.total[child]
    _ = np.argsort(-np.minimum(size, total - size), kind="stable")
    pairs = cuts.best_arcs(level.two_cuts, np.ones(len(level.u), np.bool_))
    _ = np.argsort(-pairs[3], kind="stable")
    _ = np.argsort(-np.bincount(level.components), kind="stable")
    stages.mark("bridges, 2-edge cuts and islands, ranked")
    return {
        "edges": len(level.u),
        "components": int(level.components.max()) + 1,
        "bridges": len(level.bridges),
        "cut points": len(level.blocks.cut_nodes),
    }


def _array(path: Path) -> tuple[Any, Any, int]:
    import numpy as np

    pairs = np.load(path.with_suffix(".npy"))
    return pairs[:, 0].copy(), pairs[:, 1].copy(), int(pairs.max()) + 1


CONTENDERS: dict[str, Callable[[Path, Stages], dict[str, int]]] = {
    "clew": clew,
    "clew, cuts of level 0": clew_cuts,
    "clew, cuts from an array": clew_array,
    "igraph from an array": igraph_array,
    "networkx via rows": networkx_rows,
    "networkx via get_as_networkx": networkx_converted,
}


def high_water() -> int:
    """Most memory that this process ever held, in KiB; not that of its parent."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def main() -> None:
    """Run the contender that is named on the file that is named."""
    stages = Stages()
    before = process_time()
    base = high_water()
    wall = perf_counter()
    counts = CONTENDERS[sys.argv[1]](Path(sys.argv[2]), stages)
    peak = high_water()
    line = {
        "cpu": round(process_time() - before - stages.spent.get(IMPORTS, 0), 3),
        "wall": round(perf_counter() - wall, 3),
        "bytes": (peak - base) * 1024,
        "counts": counts,
        "stages": stages.spent,
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
