"""The scout beside networkx scripts and raw igraph, from a database file to ranked places.

Every contender runs in a process of its own; figures are medians of CPU seconds (user and system)
and peak memory above a bare interpreter, all from one run on one machine.

    python -m benchmarks.topology.scout 100000 1000000 --repeat 5 -o FILE
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.topology.contenders import CONTENDERS
from benchmarks.topology.kg import Kg, write

CONVERTED_UP_TO = 300_000
"""Edges beyond which the converter of the database is not asked: it takes many minutes."""
FEWER = {"networkx via get_as_networkx": (0, 3), "networkx via rows": (2_000_000, 1)}
"""Contenders of minutes: edges from which they run only so often."""
PACKAGES = ("igraph", "kuzu", "networkx", "numpy", "scipy")


def main() -> None:
    """Make the files, run the contenders in turns, print ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("edges", type=int, nargs="*", default=[92_000])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", action="append", choices=sorted(CONTENDERS), default=[])
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--show", type=Path, action="append", help="print files of earlier runs")
    asked = parser.parse_args()
    if asked.show:
        print("\n\n".join(table(json.loads(file.read_text("utf-8"))) for file in asked.show))
        return
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "load before": os.getloadavg(),
        "sizes": {},
    }
    with tempfile.TemporaryDirectory() as folder:
        for edges in asked.edges:
            found["sizes"][str(edges)] = measured(Path(folder), edges, asked)
            found["load after"] = os.getloadavg()
            if asked.out:
                asked.out.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(table(found))


def measured(folder: Path, edges: int, asked: argparse.Namespace) -> dict[str, Any]:
    """Medians of every contender at one size, and ratios to ours."""
    path = folder / f"kg-{edges}.kuzu"
    kg = Kg(edges)
    pairs = np.unique(kg.pairs(), axis=0)
    np.save(path.with_suffix(".npy"), _dense(pairs))
    write(kg, path)
    names = [name for name in CONTENDERS if not asked.only or name in asked.only]
    if edges > CONVERTED_UP_TO:
        names = [name for name in names if "get_as" not in name]
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for number in range(asked.repeat):
        for name in names:
            least, most = FEWER.get(name, (edges, asked.repeat))
            if number < most or edges < least:
                runs[name].append(run(name, path))
    return {name: summed(found) for name, found in runs.items()} | {"ratios": ratios(runs)}


def table(found: dict[str, Any]) -> str:
    """What was measured, for people."""
    packages = ", ".join(f"{name} {number}" for name, number in found["packages"].items())
    load = "load {:.1f} before, {:.1f} after".format(
        found["load before"][0], found["load after"][0]
    )
    lines = [f"Python {found['python']}, {packages}; {load}"]
    for edges, size in found["sizes"].items():
        lines += ["", f"{edges} edges asked for", f"{'':34}CPU s   wall s  B/edge  runs"]
        ratios = size["ratios"]
        for name, one in size.items():
            if name == "ratios":
                continue
            held = one["bytes per edge"] or "-"
            lines.append(
                f"{name:32}{one['cpu']:7.2f}{one['wall']:9.2f}{held:>8}{one['runs']:6}  "
                + ", ".join(f"{count} {what}" for what, count in one["counts"].items())
            )
            lines += [f"    {stage:40}{spent:7.3f}" for stage, spent in one["stages"].items()]
        lines += [f"{ratio:6.2f}  {names}" for names, ratio in ratios.items()]
    return "\n".join(lines)


def _dense(pairs: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int32]]:
    """The same edges on nodes without gaps, as sorted pairs."""
    names, numbers = np.unique(pairs, return_inverse=True)
    del names
    ends = np.sort(numbers.reshape(-1, 2), axis=1)
    return np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0).astype(np.int32)


def run(name: str, path: Path) -> dict[str, Any]:
    """One run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.topology.contenders", name, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def summed(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians over runs; counts must not differ."""
    counts = [one["counts"] for one in runs]
    if any(one != counts[0] for one in counts):
        message = "two runs of one contender counted differently"
        raise SystemExit(message)
    edges = counts[0].get("edges")
    memory = median(one["bytes"] for one in runs)
    return {
        "cpu": round(median(one["cpu"] for one in runs), 3),
        "wall": round(median(one["wall"] for one in runs), 3),
        "runs": len(runs),
        "bytes": memory,
        "bytes per edge": round(memory / edges) if edges else None,
        "counts": counts[0],
        "stages": {
            stage: round(median(one["stages"][stage] for one in runs), 3)
            for stage in runs[0]["stages"]
        },
    }


def ratios(runs: dict[str, list[dict[str, Any]]]) -> dict[str, float]:
    """CPU of each contender over that of our cuts from the same start."""
    cpu = {name: median(one["cpu"] for one in found) for name, found in runs.items()}
    pairs = {
        "networkx via rows": "clew, cuts of level 0",
        "networkx via get_as_networkx": "clew, cuts of level 0",
        "igraph from an array": "clew, cuts from an array",
    }
    return {
        f"{name} / {ours}": round(cpu[name] / cpu[ours], 2)
        for name, ours in pairs.items()
        if name in cpu and ours in cpu
    }


if __name__ == "__main__":
    main()
