"""Spark gives what one process gives: needs Java and `pip install 'clew[spark]'`."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from topology.partition import finish, partition_summary

EDGES, SHARDS = 100_000, 4
SESSION = """
import json, sys
from pyspark.sql import SparkSession
from topology.spark import cuts_by_spark

settings = {
    "spark.ui.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
}
builder = SparkSession.builder.master("local[2]")
for name, value in settings.items():
    builder = builder.config(name, value)
session = builder.getOrCreate()
found = []
for contracted in (True, False):
    cuts = cuts_by_spark(session, sys.argv[1], 4, contracted=contracted)
    points = None if cuts.cut_points is None else cuts.cut_points.tolist()
    found.append([cuts.components.tolist(), cuts.bridges.tolist(), points])
session.stop()
print(json.dumps(found))
"""


pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("pyspark") is None, reason="pyspark is not installed"),
    pytest.mark.skipif(shutil.which("java") is None, reason="no Java is installed"),
]


def test_spark_gives_what_one_process_gives(tmp_path):
    rng = np.random.default_rng(5)
    nodes = EDGES // 2
    u = rng.integers(0, nodes, EDGES)
    near = u // 100 * 100 + rng.integers(0, 100, EDGES)
    v = np.where(rng.random(EDGES) < 0.98, near, rng.integers(0, nodes, EDGES))
    pairs = np.unique(np.sort(np.column_stack((u, v))[u != v], axis=1), axis=0)
    shard = pairs[:, 0] * SHARDS // nodes
    table = pa.table({"u": pairs[:, 0], "v": pairs[:, 1], "shard": shard})
    pq.write_table(table, tmp_path / "edges.parquet")
    # a process of its own: Spark opens ports and leaves threads behind
    done = subprocess.run(
        [sys.executable, "-c", SESSION, str(tmp_path / "edges.parquet")],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
    )
    contracted, whole = json.loads(done.stdout.splitlines()[-1])
    expected = finish(partition_summary(pairs[:, 0], pairs[:, 1], None), contracted=False)
    assert expected.cut_points is not None
    answer = [expected.components.tolist(), expected.bridges.tolist()]
    assert contracted == [*answer, None]
    assert whole == [*answer, expected.cut_points.tolist()]


def test_the_scout_says_the_same_by_spark(tmp_path):
    rows = ["source,target", *(f"{at // 3},{at}" for at in range(1, 200)), "150,199", "12,13"]
    (tmp_path / "graph.csv").write_text("\n".join(rows) + "\n", "utf-8")
    asked = ["scout", "--graph", str(tmp_path / "graph.csv"), "--json", "--executor"]
    here, spark = (
        subprocess.run(
            [sys.executable, "-m", "cli", "--home", str(tmp_path / "home"), *asked, executor],
            check=True,
            capture_output=True,
        ).stdout
        for executor in ("inline", "spark")
    )
    assert b"order_1" in here
    assert spark == here
