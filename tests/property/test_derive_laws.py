"""Laws of derivation: order, process and masking change nothing; more threads lose nothing."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphstore.model.conversation import Thread
from ingest.derive import Derivation
from tests.talk import a_thread, derived, grounded, own_roots

ROOT = Path(__file__).parent.parent.parent

HUMAN = (
    "What stops the escape wheel after every spring tide?",
    "why does the escape wheel stop at spring tide",
    "Is it the oil after all?",
    "Fix the winding drum in `cad/drum.scad`.",
    "No, heights are above chart datum, not mean sea level.",
    "That worked, thanks.",
    "Blocked: waiting for the mason and the oak post.",
    "I chose the anchor escapement instead of the dead-beat escapement.",
    "Never mind.",
    "为什么数据库超时\uff1f",
    "ValueError: bad drum 12",
)
ASSISTANT = (
    "> The **escape wheel** is dry, the spring tide leads to salt film.",
    "> See `sim/escapement.py`, it calls `wind_up()`.",
    "> The oak post instead of the quay wall. Next: measure.",
    "> Because the winding drum needs a float line.",
)
TURNS = st.lists(st.sampled_from(HUMAN + ASSISTANT), min_size=1, max_size=6)
STORES = st.lists(TURNS, min_size=1, max_size=4)
FEW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def threads_of(store: list[list[str]]) -> list[Thread]:
    return [a_thread(f"t{n}", *turns, day=n) for n, turns in enumerate(store)]


@FEW
@given(STORES, st.randoms(use_true_random=False))
def test_the_order_of_threads_changes_nothing(store, chance):
    threads = threads_of(store)
    shuffled = list(threads)
    chance.shuffle(shuffled)
    assert derived(shuffled) == derived(threads)


@FEW
@given(STORES)
def test_what_was_derived_before_changes_nothing(store):
    threads = threads_of(store)
    used, fresh = Derivation(), Derivation()
    epoch = used.epoch(threads, own_roots(threads))
    again = used.epoch(threads, own_roots(threads))
    assert epoch == again
    for thread in reversed(threads):
        assert used.facts(thread, epoch) == fresh.facts(thread, epoch)


def refs_of(threads, facts):
    ground = grounded(threads, facts, own_roots(threads))
    return {
        (type(row).__name__, row.src, row.dst, ref)
        for row in (*ground.asks, *ground.answers, *ground.mentions)
        for ref in row.source_refs
    }


@FEW
@given(STORES, TURNS)
def test_a_new_thread_removes_no_ref_between_epochs(store, more):
    threads = threads_of(store)
    derive = Derivation()
    epoch = derive.epoch(threads, own_roots(threads))
    before = refs_of(threads, [derive.facts(one, epoch) for one in threads])
    larger = [*threads, a_thread("new", *more, day=99)]
    assert before <= refs_of(larger, [derive.facts(one, epoch) for one in larger])


@FEW
@given(STORES)
def test_masking_a_secret_moves_no_row_of_other_turns(store):
    threads = threads_of(store)
    plain = [
        *threads,
        a_thread("s", "The key is sk-abc123. What stops the drum wheel?", "> Oil.", HUMAN[5]),
    ]
    masked = [
        *threads,
        a_thread("s", "The key is [masked:key]. What stops the drum wheel?", "> Oil.", HUMAN[5]),
    ]
    left, _ = derived(plain)
    right, _ = derived(masked)
    assert {one.question_id for one in left.questions} == {
        one.question_id for one in right.questions
    }
    assert left.asks == right.asks
    assert left.answers == right.answers


@FEW
@given(STORES)
def test_every_row_has_refs_into_its_own_store(store):
    threads = threads_of(store)
    known = {thread.ref(turn.number) for thread in threads for turn in thread.turns}
    ground, epoch = derived(threads)
    rows = [*ground.asks, *ground.answers, *ground.mentions, *ground.links, *ground.relates]
    for row in rows:
        assert row.source_refs
        assert list(row.source_refs) == sorted(set(row.source_refs))
        assert set(row.source_refs) <= known
    for record in Derivation().journeys(ground, (), epoch):
        assert {ref for stop in record.stops for ref in stop.refs} <= known


@FEW
@given(STORES)
def test_assistant_turns_alone_ask_and_correct_nothing(store):
    threads = [
        a_thread(f"t{n}", *("> " + one.removeprefix("> ") for one in turns))
        for n, turns in enumerate(store)
    ]
    derive = Derivation()
    epoch = derive.epoch(threads, own_roots(threads))
    for thread in threads:
        found = derive.facts(thread, epoch)
        assert (found.questions, found.asks, found.answers) == ((), (), ())
        kinds = {one.kind for _, signals in found.signals for one in signals}
        assert kinds <= {"frontier"}


@FEW
@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_read(human, assistant):
    ground, _ = derived([a_thread("a", human.removeprefix("> "), "> " + assistant)])
    assert len(ground.turns) == 2


PROGRAM = """
from graphstore.ids import digest
from ingest.derive import Derivation
from tests.property.test_derive_laws import ASSISTANT, HUMAN
from tests.talk import a_thread, derived

talk = [a_thread(f"t{n}", *HUMAN[n:], *ASSISTANT, day=n) for n in range(5)]
ground, epoch = derived(talk)
journeys = Derivation().journeys(ground, (), epoch)
rows = [*ground.questions, *ground.concepts, *ground.mentions, *ground.asks, *ground.answers,
        *ground.links, *ground.relates, *ground.turns, epoch, *journeys]
print(digest(*(row.model_dump(mode="json") for row in rows)))
"""


@pytest.mark.slow
def test_the_hash_seed_changes_nothing():
    seen = set()
    for seed in ("0", "1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        seen.add(done.stdout.strip())
    assert len(seen) == 1
