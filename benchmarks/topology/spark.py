"""Cuts of a record by Spark local[2], beside those of one process: equal, how large, how dear.

Needs Java and ``pip install 'clew[spark]'``.

    python -m benchmarks.topology.spark 1000000 --shards 16 -o FILE
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.topology.kg import Kg
from benchmarks.topology.parts import by_theme
from topology.partition import finish, merge, partition_summary, shared_vertices

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
}


def main() -> None:
    """Write the edges as Parquet, ask Spark twice, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("edges", type=int, nargs="?", default=100_000)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("-o", "--out", type=Path)
    asked = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    pairs, shard = by_theme(Kg(asked.edges), asked.shards)
    u, v = pairs[:, 0].copy(), pairs[:, 1].copy()
    start = process_time()
    whole = finish(partition_summary(u, v, None), contracted=False)
    one = process_time() - start
    boundary = shared_vertices(u, v, shard)
    parts = [shard == number for number in np.unique(shard).tolist()]
    root = merge([partition_summary(u[own], v[own], boundary) for own in parts], contracted=True)
    found: dict[str, Any] = {
        "edges": len(u),
        "shards": len(parts),
        "load": os.getloadavg(),
        "forest edges / edges": round(len(root.edge) / len(u), 3),
        "forest edges and unions / edges": round((len(root.edge) + len(root.union)) / len(u), 3),
        "one process, CPU s": round(one, 2),
        "spark": by_spark(u, v, shard, whole),
    }
    text = json.dumps(found, indent=1)
    print(text)
    if asked.out:
        asked.out.write_text(text + "\n", "utf-8")


def by_spark(u: Any, v: Any, shard: Any, whole: Any) -> dict[str, Any]:  # noqa: ANN401 - arrays, Cuts
    """Seconds of both modes; raises AssertionError where an answer differs from one process."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyspark.sql import SparkSession

    from topology.spark import cuts_by_spark

    table: Any = pa.table({"u": u, "v": v, "shard": shard})
    wall = perf_counter()
    builder: Any = SparkSession.builder.master("local[2]")
    parts = len(np.unique(shard))
    for name, value in {**SETTINGS, "spark.sql.shuffle.partitions": str(parts)}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    told: dict[str, Any] = {"session, wall s": round(perf_counter() - wall, 1)}
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/edges.parquet"
        pq.write_table(table, path)
        for name, contracted in (("contracted", True), ("certificates", False)):
            wall = perf_counter()
            cuts = cuts_by_spark(session, path, parts, contracted=contracted)
            told[f"{name}, wall s"] = round(perf_counter() - wall, 1)
            assert np.array_equal(cuts.components, whole.components)
            assert np.array_equal(cuts.bridges, whole.bridges)
            assert contracted or np.array_equal(cuts.cut_points, whole.cut_points)
        told["CPU s of Java and workers"] = round(below(os.getpid()), 1)
    session.stop()
    told["equal to one process"] = True
    return told


def below(process: int) -> float:
    """Seconds of CPU of all processes below one, while they run: Spark waits for none of them."""
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        fields = file.read_text().rpartition(")")[2].split()
        own = int(file.parent.name)
        children.setdefault(int(fields[1]), []).append(own)
        ticks[own] = sum(map(int, fields[11:15]))
    found, front = 0, children.get(process, [])
    while front:
        found += sum(ticks[one] for one in front)
        front = [child for one in front for child in children.get(one, [])]
    return found / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
