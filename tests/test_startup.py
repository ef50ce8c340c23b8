"""What a fresh interpreter loads."""

import subprocess
import sys

import pytest

HEAVY = {
    *("graphstore", "ingest", "topology", "dream", "export", "service"),
    *("kuzu", "igraph", "numpy", "scipy", "pyarrow", "networkx"),
    *("openai", "fastapi", "mcp", "httpx2"),
}  # typer itself loads pydantic for the help of a command with parameters


def loaded_by(*arguments):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True
    )
    rows = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line]
    return {name.partition(".")[0] for name in rows}


@pytest.mark.parametrize("words", [["--help"], ["recall", "--help"], ["up", "--help"]])
def test_help_loads_nothing_heavy(words):
    assert loaded_by("-m", "cli", *words).isdisjoint(HEAVY)


def test_the_vocabulary_loads_no_engine_and_no_arrays():
    assert loaded_by("-c", "import graphstore").isdisjoint({"kuzu", "ladybug", "numpy", "pyarrow"})


def test_topology_does_not_load_igraph():
    assert "igraph" not in loaded_by("-c", "import topology.engine")
