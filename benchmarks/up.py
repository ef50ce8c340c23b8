"""The main job on real input, measured: figures, CPU and memory per stage, and whether it holds.

``python -m benchmarks.up PATH... [-o FILE]`` runs ``clew up`` in an empty home, again, and in a
second home with the paths in another order and another hash seed; compares exports; rebuilds;
verifies; fetches every ref of every seed and hypothesis.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any


def clew(home: Path, *words: str, seed: str = "1") -> tuple[int, str, float, float]:
    """Run a command: exit code, output, CPU seconds, peak MB of the largest child so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "cli", "--home", str(home), *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.stderr.strip():
        print(done.stderr, file=sys.stderr)
    return done.returncode, done.stdout, cpu, after.ru_maxrss / 1024


def figures(home: Path, paths: list[str]) -> dict[str, Any]:
    """The first run."""
    code, out, cpu, peak = clew(home, "up", *paths, "--no-open", "--json")
    report = json.loads(out)
    taken = report.pop("ingest")
    return {
        "exit": code,
        "cpu_s": round(cpu, 1),
        "peak_mb": round(peak),
        **{
            name: report[name]
            for name in (
                "threads",
                "turns",
                "questions",
                "concepts",
                "links",
                "journeys",
                "parked",
                "dream",
            )
        },
        "seeds": {each["name"]: each["count"] for each in report["seeds"]},
        "hypotheses": {each["name"]: each["count"] for each in report["hypotheses"]},
        "stages": report["stages"],
        "codes": {each["code"]: each["count"] for each in taken["codes"]},
        "human": taken["human"],
        "assistant": taken["assistant"],
        "records": taken["records"],
        "page_mb": round(Path(report["page"]).stat().st_size / 1e6, 2),
    }


def checks(home: Path, paths: list[str]) -> dict[str, Any]:
    """Whether the run is repeatable, rebuildable, verified and anchored."""
    code, out, cpu, _ = clew(home, "up", *paths, "--no-open", "--json")
    again = json.loads(out)["ingest"]
    plain = clew(home, "export", "jsonl")[1]
    whole = clew(home, "export", "jsonl", "--with-text", "--with-paths", "--with-hypotheses")[1]
    with tempfile.TemporaryDirectory() as other:
        clew(Path(other), "up", *reversed(paths), "--no-open", seed="77")
        mirrored = clew(Path(other), "export", "jsonl", seed="78")[1]
    rebuilt = clew(home, "rebuild")
    after = clew(home, "export", "jsonl", "--with-text", "--with-paths", "--with-hypotheses")[1]
    verified = json.loads(clew(home, "verify", "--json")[1])
    return {
        "again_exit": code,
        "again_cpu_s": round(cpu, 1),
        "again_new": again["new"] + again["grown"],
        "export_lines": plain.count("\n"),
        "other_order_and_seed_identical": plain == mirrored,
        "rebuild_cpu_s": round(rebuilt[2], 1),
        "rebuild_identical": whole == after,
        "verify_faults": len(verified["faults"]),
        **anchored(home),
    }


def anchored(home: Path) -> dict[str, Any]:
    """Refs of seeds and hypotheses that ``clew fetch`` resolves; pairs within one lineage."""
    clew(home, "scout")
    seeds = json.loads(clew(home, "scout", "--json")[1])["seeds"]
    hypotheses = json.loads(clew(home, "hypotheses", "-n", "1000", "--json")[1])
    refs = sorted(
        {ref["ref"] for seed in seeds for ref in seed["refs"]}
        | {
            ref
            for row in hypotheses
            for ref in (*row["hypothesis"]["refs"], *row["hypothesis"]["counter_refs"])
        }
    )
    found: Counter[str] = Counter()
    for start in range(0, len(refs), 100):
        turns = json.loads(clew(home, "fetch", *refs[start : start + 100], "--json")[1])
        found.update(turn["outcome"] for turn in turns)
    return {
        "seeds": len(seeds),
        "hypotheses": len(hypotheses),
        "refs": len(refs),
        "refs_fetched": dict(found),
        "hypotheses_within_one_lineage": within(home, hypotheses),
    }


def within(home: Path, hypotheses: list[dict[str, Any]]) -> int:
    """RESONATES edges whose premises all lie in one lineage."""
    threads = json.loads(clew(home, "threads", "-n", "1000", "--json")[1])
    root = {row["thread_id"]: row["lineage_root"] for row in threads}
    count = 0
    for row in hypotheses:
        edge = row["hypothesis"]
        lineages = {root[ref.removeprefix("thread:").rpartition("#")[0]] for ref in edge["refs"]}
        count += edge["edge"] == "RESONATES" and len(lineages) < 2
    return count


def last(path: str) -> str:
    """The last part of a path: results name no folder of this machine."""
    return Path(path).name


def main() -> None:
    """Measure and print; keep the result where asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="+")
    parser.add_argument("-o", dest="out")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        found = {
            "command": "python -m benchmarks.up " + " ".join(map(last, chosen.paths)),
            "figures": figures(Path(home), chosen.paths),
            "checks": checks(Path(home), chosen.paths),
        }
    text = json.dumps(found, indent=2)
    print(text)
    if chosen.out:
        Path(chosen.out).write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
