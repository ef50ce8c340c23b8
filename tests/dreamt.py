"""Values of the dream layer with defaults, so that a test states only what matters."""

from datetime import timedelta

from dream.adjudicate import adjudicate
from dream.drafting import make
from dream.index import Index
from dream.landing import Judged, horizon
from dream.model import (
    Accepted,
    CounterSearch,
    Draft,
    Focus,
    Pack,
    PackConcept,
    PackQuestion,
    PackTurn,
    Pair,
)
from dream.pack import pack
from dream.settings import DreamSettings
from graphstore.ids import fingerprint, ref
from graphstore.model.hypothesis import Claim, Compensates, HypothesisState
from graphstore.model.job import Job
from graphstore.model.knowledge import SeedRow
from graphstore.model.record import CycleRecord, JobEnd
from graphstore.store import Store
from tests.planted import NOW, days_ago

SETTINGS = DreamSettings()
__all__ = ["NOW", "SETTINGS", "SeedRow", "Store"]


def packed(plot, kind, key, **changes):
    """A pack of what was planted, about one focus; or why it is too thin."""
    focus = Focus(kind=kind, id=key, family="ready_pack").replace(**changes)
    return pack(focus, Index(plot.ground()), (), SETTINGS, NOW)


def only(drafts):
    """The one draft there is."""
    (found,) = drafts
    return found


def is_sound(made, drafted):
    """Whether a draft passes every check against its pack."""
    return isinstance(adjudicate(drafted, made, horizon(SETTINGS, NOW), NOW), Accepted)


def a_turn(
    alias: str, text: str = "the salt film on the hall sensor", **changes: object
) -> PackTurn:
    """A human turn of thread ``test:<alias>``."""
    thread = f"test:{alias}"
    base = PackTurn(
        alias=alias,
        ref=ref(thread, 1),
        fingerprint=fingerprint("human", text),
        role="human",
        at=days_ago(5),
        thread_id=thread,
        lineage=thread,
        thread_title=f"Thread {alias}",
        text=text,
        concepts=("c:salt", "c:hall"),
    )
    return base.replace(**changes)


def a_question(key: str, text: str, **changes: object) -> PackQuestion:
    base = PackQuestion(
        question_id=key,
        text=text,
        status="open",
        cluster=key,
        askings=1,
        lineages=1,
        first_seen=days_ago(9),
        last_seen=days_ago(5),
        days_open=9,
        resolved=False,
        concepts=("c:salt", "c:hall"),
        last_thread_id="test:sr1",
        asked_in=("test:sr1",),
    )
    return base.replace(**changes)


def a_pair(**changes: object) -> Pair:
    base = Pair(
        pair_id="p",
        src_table="Question",
        src="q:a",
        src_label="Does the salt film stay?",
        dst_table="Question",
        dst="q:b",
        dst_label="Is the hall sensor dry?",
        a=("sr0",),
        b=("sr1",),
        shared=("c:salt", "c:hall"),
        common_neighbours=2,
        adamic_adar=1.0,
        resource_allocation=1.0,
        distance=2,
        is_linked=False,
        same_lineage=False,
        newest=days_ago(5),
    )
    return base.replace(**changes)


def a_pack(**changes: object) -> Pack:
    base = Pack(
        pack_id="pack:1",
        focus=Focus(kind="concept_edge", id="c:hall c:salt", family="ready_pack"),
        readiness="ready",
        lineages=2,
        turns=(a_turn("sr0"), a_turn("sr1")),
        counter_turns=(a_turn("sr2"),),
        questions=(
            a_question("q:a", "Does the salt film stay?"),
            a_question("q:b", "Is the hall sensor dry?", first_seen=days_ago(7)),
        ),
        concepts=(
            PackConcept(
                concept_id="c:salt", label="salt film", df=3, idf=1.0, aliases=("sr0", "sr1")
            ),
            PackConcept(
                concept_id="c:hall", label="hall sensor", df=2, idf=1.5, aliases=("sr0", "sr1")
            ),
        ),
        pairs=(a_pair(),),
        counter_search=CounterSearch(searched=("base_rate",), found=()),
        eligible=("amplification",),
        store_lineages=9,
    )
    return base.replace(**changes)


def a_draft(**changes: object) -> Draft:
    """A rhyme of the pack of ``a_pack`` that passes every check."""
    base = make(
        a_pack(),
        a_pair(),
        function="amplification",
        edge="RESONATES",
        rule="cross_thread_resonance",
        start=30,
        support=1.0,
        title='"Does the salt film stay?" rhymes with "Is the hall sensor dry?"',
        summary='Both turn on "salt film".',
        claims=(
            Claim(text="One turns on the salt film.", side="a", refs=("sr0",)),
            Claim(text="The other turns on the salt film.", side="b", refs=("sr1",)),
        ),
    )
    return base.replace(**changes)


def a_job(number: int = 1, **changes: object) -> Job:
    base = Job(
        job_id=f"job:{number}",
        function="amplification",
        focus_kind="concept_edge",
        focus_id="c:hall c:salt",
        pack_id="pack:1",
        family="ready_pack",
        provenance="computed",
        priority=39,
        created_at=NOW,
        not_before=NOW + timedelta(hours=24),
        expires_at=NOW + timedelta(hours=168),
    )
    return base.replace(**changes)


def judged(draft: Draft | None = None, **changes: object) -> Judged:
    base = Judged(job=a_job(), pack=a_pack(), verdict=Accepted(draft=draft or a_draft()))
    return base.replace(**changes)


def a_hypothesis(**changes: object) -> Compensates:
    dates = horizon(SETTINGS, NOW)
    base = Compensates(
        src_table="Thread",
        src="test:a",
        dst_table="Question",
        dst="q:a",
        hypothesis_id="h:1",
        function="compensatory",
        rule="recurring_question",
        mode="replay",
        method="deterministic",
        model=None,
        title="Keeps coming back",
        summary="It does.",
        why_not_fact="No turn states it.",
        claims="[]",
        refs=("thread:test:a#turn:1",),
        ref_fingerprints=("b2:1",),
        counter_evidence="[]",
        counter_refs=(),
        source_fingerprint="b2:0",
        cues=("salt film",),
        voices=(),
        seed_id=None,
        shape=None,
        provenance="computed",
        pack_id="pack:0",
        job_id="job:0",
        cycle_id="dc:0",
        state=HypothesisState.ACCEPTED,
        start_points=30,
        points=30,
        confirmations=0,
        contradictions=0,
        validation_ids=(),
        retention=0.5,
        quality=0.5,
        declared_confidence=None,
        divergence=0.0,
        coefficients="conservative_v1",
        sensitivity="none",
        next_check="source_reopen_check",
        extras="{}",
        created_at=NOW,
        validated_at=None,
        review_after=dates.review_after,
        expires_at=dates.expires_at,
        validated_by="dream_adjudication",
        invalidation_triggers=dates.invalidation_triggers,
        supersedes=None,
        superseded_by=None,
        closed_at=None,
        closed_reason=None,
    )
    return base.replace(**changes)


def an_end(**changes: object) -> JobEnd:
    base = JobEnd(
        job_id="job:1",
        function="compensatory",
        focus="frontier test:a",
        pack_id="pack:1",
        state="done",
        reason="accepted",
    )
    return base.replace(**changes)


def a_cycle(**changes: object) -> CycleRecord:
    base = CycleRecord(
        cycle_id="dc:1",
        generation=1,
        trigger="manual",
        gate=(),
        leased_seq=1,
        started_at=NOW,
        ended_at=NOW,
        outcome="landed",
        jobs=(an_end(),),
    )
    return base.replace(**changes)
