"""Cuts of a graph that lies in a lake: parts are summarised by Spark, the root is this process.

The only pyspark import. It is for graphs that do not fit into one memory: for one that does, Spark
spends several times the work of one process.
"""

import sys
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from graphstore.errors import ExecutorUnavailable
from topology.cuts import Longs
from topology.partition import Cuts, Summary, finish, merge, partition_summary

SENT: Final = "summary binary"
COLUMNS: Final = ("u", "v", "u_shared", "v_shared")
LOCAL: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
}
"""A Spark of this machine that nobody else reaches."""


def cuts_by_spark(  # pragma: no cover - needs Java
    session: Any,  # noqa: ANN401 - a SparkSession
    path: str,
    parts: int,
    *,
    contracted: bool = True,
) -> Cuts:
    """Cuts of the edges in a Parquet data set with whole-number columns u, v and shard.

    Each pair of vertices must be there once. Edges of one shard go to one of ``parts`` tasks.
    Nothing is shuffled but the edges, once, and the vertices of each shard.
    """
    edges = session.read.parquet(path).select("u", "v", "shard")
    marked = _with_marks(edges) if contracted else _without_marks(edges)
    summed = marked.repartition(parts, "shard").select(*COLUMNS)
    task = _summarise_contracted if contracted else _summarise_whole
    rows = summed.mapInArrow(task, SENT).collect()
    found = [Summary.from_bytes(bytes(row.summary)) for row in rows]
    return finish(merge(found, contracted=contracted), contracted=contracted)


def cuts_here(u: Longs, v: Longs, shard: Longs, parts: int) -> Cuts:
    """Cuts of the edges u-v by a Spark of this machine, which is stopped again.

    Raises ExecutorUnavailable without pyspark or Java.
    """
    import shutil

    try:
        import pyspark  # noqa: F401 - to see whether it is there
    except ImportError as cause:
        raise ExecutorUnavailable("spark", "pyspark is not installed") from cause
    if shutil.which("java") is None:
        raise ExecutorUnavailable("spark", "no Java is found")
    return _cuts_by_own_session(u, v, shard, parts)  # pragma: no cover - needs Java


def _cuts_by_own_session(  # pragma: no cover - needs Java
    u: Longs, v: Longs, shard: Longs, parts: int
) -> Cuts:
    import tempfile

    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master("local[2]")
    for name, value in {**LOCAL, "spark.sql.shuffle.partitions": str(parts)}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.pythonExec = sys.executable  # else workers run whatever python3 there is
    try:
        with tempfile.TemporaryDirectory() as folder:
            table: Any = pa.table({"u": u, "v": v, "shard": shard})
            pq.write_table(table, f"{folder}/edges.parquet")
            return cuts_by_spark(session, f"{folder}/edges.parquet", parts)
    finally:
        session.stop()


def _with_marks(edges: Any) -> Any:  # pragma: no cover - needs Java  # noqa: ANN401
    """Mark the ends that edges of another shard touch as well."""
    from pyspark.sql import functions as f

    ends = edges.select(f.col("u").alias("x"), "shard").union(edges.select("v", "shard"))
    seen = ends.groupBy("x").agg(f.min("shard").alias("low"), f.max("shard").alias("high"))
    shared = seen.where("low < high").select("x", f.lit(col=True).alias("hit"))
    for end in ("u", "v"):
        mark = shared.select(f.col("x").alias(end), f.col("hit").alias(f"{end}_shared"))
        edges = edges.join(mark, on=end, how="left")
    return edges.na.fill(value=False)


def _without_marks(edges: Any) -> Any:  # pragma: no cover - needs Java  # noqa: ANN401
    from pyspark.sql import functions as f

    return edges.select("*", f.lit(col=True).alias("u_shared"), f.lit(col=True).alias("v_shared"))


def _summarise_contracted(batches: Iterator[Any]) -> Iterator[Any]:
    """Summary of the edges of one task, as one row of bytes."""
    u, v, u_shared, v_shared = _columns(batches)
    boundary = np.unique(np.concatenate((u[u_shared > 0], v[v_shared > 0])))
    yield _row(partition_summary(u, v, boundary))


def _summarise_whole(batches: Iterator[Any]) -> Iterator[Any]:
    u, v, *_ = _columns(batches)
    yield _row(partition_summary(u, v, None))


def _columns(batches: Iterator[Any]) -> list[Longs]:
    """The columns of all batches as arrays; empty where a task has no edges."""
    held: list[list[Longs]] = [[np.empty(0, np.int64)] for _ in COLUMNS]
    for batch in batches:
        for column, array in zip(held, batch.columns, strict=True):
            column.append(np.asarray(array.to_numpy(zero_copy_only=False)).astype(np.int64))
    return [np.concatenate(column) for column in held]


def _row(summary: Summary) -> Any:  # noqa: ANN401 - a record batch
    import pyarrow as pa

    return pa.record_batch([pa.array([summary.to_bytes()], pa.binary())], names=["summary"])
