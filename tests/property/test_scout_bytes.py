"""The same record gives the same bytes: whatever the hash seed, the threads and the order."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUN = """
import random, sys
sys.path.insert(0, {folder!r})
from test_scout_finds_planted_shapes import Record, add_hubs, background, plant
import topology
from graphstore.model.view import from_edges
from topology.model import Limits
from topology.report import report, to_json

record = Record(5)
plant(record, background(record, 1200))
add_hubs(record, 3)
nodes, edges = list(record.nodes.values()), record.edges
random.Random({shuffle}).shuffle(nodes)
random.Random({shuffle}).shuffle(edges)
found = topology.scout(from_edges(nodes, edges), None, Limits())
sys.stdout.buffer.write(to_json(report(found, {{}})))
"""


def report_of(seed, threads):
    """The report of one process with its own hash seed, threads and order of rows."""
    limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    code = RUN.format(folder=str(Path(__file__).parent), shuffle=seed)
    environment = {**os.environ, **limits, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True, cwd=ROOT
    )
    return done.stdout


def test_a_report_is_the_same_bytes_in_every_process():
    one, other = report_of(1, threads=1), report_of(2, threads=2)
    assert one == other
    assert b'"verdict":"communities_agree"' in one
    assert b'"level":2' in one
