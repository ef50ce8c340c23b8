"""One trial: start a worker, end it, and see what is left."""

import json
import shutil
import subprocess
import sys
import zipfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Timer

from graphstore.backup import restore
from graphstore.errors import Error

ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class Outcome:
    """What one trial found."""

    number: int
    engine: str
    action: str
    end: str
    """Seconds until the kill, or the boundary."""
    said: int = 0
    """Last record that the worker said was committed."""
    found: int = 0
    failures: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    opened: float = 0.0


def worker(*words: str) -> list[str]:
    """Command of a worker."""
    return [sys.executable, "-m", "benchmarks.reliability.worker", *words]


def lines_of(output: bytes) -> list[dict[str, object]]:
    """What a worker said; a torn last line was never said."""
    return [json.loads(line) for line in output.split(b"\n")[:-1]]


def killed(
    outcome: Outcome,
    folder: Path,
    *,
    after: float = 60.0,
    boundary: str = "",
    while_opening: bool = False,
) -> None:
    """Work until the kill, then check what is there; the time runs from the opening on."""
    words = ["work", str(folder), outcome.engine, outcome.action, *([boundary] if boundary else [])]
    with subprocess.Popen(
        worker(*words), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        first = b"" if while_opening else process.stdout.readline()
        timer = Timer(after, process.kill)
        timer.start()
        out, err = process.communicate()
        timer.cancel()
    said = lines_of(first + out)
    outcome.said = max((int(str(line["seq"])) for line in said), default=0)
    if process.returncode != -9:
        outcome.failures.append(f"worker ended with {process.returncode}: {err[-300:]!r}")
    checked(outcome, folder)


def checked(outcome: Outcome, folder: Path) -> None:
    """Nothing committed is lost, nothing is half there, and the store opens."""
    command = worker("check", str(folder), outcome.engine)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        outcome.failures.append(f"unopenable ({done.returncode}): {done.stderr[-300:]!r}")
        return
    report = lines_of(done.stdout)[-1]
    outcome.found = int(str(report["seq"]))
    outcome.opened = float(str(report["opened"]))
    outcome.notices = list(map(str, _list(report["notices"])))
    outcome.failures += [f"half applied: {fault}" for fault in _list(report["faults"])]
    if outcome.found < outcome.said:
        outcome.failures.append(f"lost: {outcome.said - outcome.found} records")
    outcome.failures += list(backup_faults(folder))


def _list(found: object) -> list[object]:
    return found if isinstance(found, list) else []


def backup_faults(folder: Path) -> list[str]:
    """A backup is whole or not there."""
    file, again = folder.parent / "one.backup", folder.parent / "again"
    if not file.exists():
        return []
    shutil.rmtree(again, ignore_errors=True)
    try:
        restore(file, again)
    except (Error, zipfile.BadZipFile) as error:
        return [f"backup: {error}"]
    return []


def keep(outcome: Outcome, file: Path | None) -> None:
    """Print a line; add it to the results, so that a run can be taken up again."""
    state = "; ".join(outcome.failures) or "ok"
    notices = ",".join(outcome.notices) or "-"
    print(
        f"{outcome.number:>4} {outcome.engine:<8} {outcome.action:<11} {outcome.end:<26}"
        f" said {outcome.said:>4} found {outcome.found:>4} opened {outcome.opened:>6.2f} s"
        f"  {notices:<22} {state}",
        flush=True,
    )
    if file is not None:
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(asdict(outcome)) + "\n")


def known(file: Path | None) -> list[Outcome]:
    """Trials of an earlier run."""
    if file is None or not file.exists():
        return []
    return [Outcome(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]


def total(outcomes: list[Outcome]) -> int:
    """The table that counts; the exit code."""
    for engine in sorted({each.engine for each in outcomes}):
        mine = [each for each in outcomes if each.engine == engine]
        print(f"\n{engine}: {len(mine)} trials, {sum(bool(each.failures) for each in mine)} failed")
        for action in sorted({each.action for each in mine}):
            those = [each for each in mine if each.action == action]
            lost = sum("lost" in failure for each in those for failure in each.failures)
            shut = sum("unopenable" in failure for each in those for failure in each.failures)
            half = sum("half" in failure for each in those for failure in each.failures)
            repaired = sum(bool(each.notices) for each in those)
            print(
                f"  {action:<11} {len(those):>4} trials  {lost} lost  {shut} unopenable"
                f"  {half} half applied  {repaired} repaired with a notice"
            )
    return int(any(each.failures for each in outcomes))
