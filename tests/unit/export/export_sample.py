"""A tiny store for export tests: every table, every hypothesis kind, nulls and hostile words."""

import json
from datetime import UTC, datetime, timedelta

from export import ExportView, Judged, Switches, shown
from graphstore.derivation import Ground
from graphstore.model.hypothesis import (
    HYPOTHESES,
    Hypothesis,
    HypothesisState,
    ReviewDue,
    Valid,
)
from graphstore.model.knowledge import (
    Anchored,
    Answers,
    Asks,
    Cites,
    Concept,
    ConceptKind,
    Edge,
    HasTurn,
    Journey,
    JourneyStatus,
    Lineage,
    Links,
    LinkType,
    Marks,
    Mentions,
    Passes,
    Question,
    QuestionStatus,
    Relates,
    SeedRow,
    SourceRefNode,
    ThreadNode,
    Waypoint,
)

THEN = datetime(2025, 11, 3, 8, 30, tzinfo=UTC)
HOSTILE = "=cmd|' /C calc'!A0 </script>\x00\x0b\ufffe \"quoted\" 'single', a;b\r\nnext\tline \u2028"
SPOKEN = "the canary sang in the kitchen"
PATH = "/home/someone/secret/plan.md"
ALL = Switches(with_text=True, with_paths=True, with_hypotheses=True)


def thread(number: int, **changes) -> ThreadNode:
    base = ThreadNode(
        thread_id=f"notes:{number}",
        title=f"Thread {number}",
        source="notes",
        project=PATH,
        participants=("Robin Example",),
        started_at=THEN,
        ended_at=None,
        turn_count=1,
        models=(),
        native_ids=(f"native-{number}",),
        scope_labels=("garden",),
        flags=(),
        lineage_root=f"notes:{number}",
        touched=("src/valve/timer.py",),
        events=json.dumps([{"kind": "compaction", "at": None, "detail": SPOKEN}]),
        state="closed",
    )
    return base.replace(**changes)


def turn(thread_number: int, number: int, **changes) -> SourceRefNode:
    base = SourceRefNode(
        ref=f"thread:notes:{thread_number}#turn:{number}",
        thread_id=f"notes:{thread_number}",
        turn=number,
        position=number,
        role="human",
        speaker="Robin Example",
        text=f"{SPOKEN}, take {number}",
        at=THEN + timedelta(hours=number),
        fingerprint="b2:00",
        taint="human",
        interim=False,
        alternative=False,
        superseded_by=None,
        attachments=json.dumps([{"name": PATH, "media_type": "text/plain", "size": 3}]),
        links=("https://example.org/valve",),
        tools=json.dumps({"counts": [{"name": "read", "count": 2}], "touched": [PATH]}),
        signals=json.dumps([{"kind": "frontier", "type": "next", "clip": SPOKEN, "concepts": []}]),
        masked=json.dumps([{"kind": "api_key", "offset": 4, "keyed_hash": "feedfacefeedface"}]),
        source_gone=False,
        file=PATH,
        line=7,
        offset=100,
        length=50,
    )
    return base.replace(**changes)


def question(number: int, text: str = "Why does the valve stick?", **changes) -> Question:
    base = Question(
        question_id=f"q:{number:032x}",
        text=text,
        status=QuestionStatus.OPEN,
        salience=0.5,
        intent="fix",
        phase="start",
        where=PATH,
        first_seen=THEN,
        last_seen=None,
        ref_count=1,
    )
    return base.replace(**changes)


def concept(number: int, label: str, kind: str = "term", **changes) -> Concept:
    base = Concept(
        concept_id=f"c:{number:032x}",
        label=label,
        aliases=(f"{label}s",),
        df=2,
        cf=3,
        generic=False,
        kind=ConceptKind(kind),
    )
    return base.replace(**changes)


def hypothesis(table: type[Hypothesis], kind: str, src: str, dst: str, **changes) -> Hypothesis:
    ref = "thread:notes:1#turn:1"
    base = table(
        src_table=kind,
        src=src,
        dst_table=kind,
        dst=dst,
        hypothesis_id=f"h:{table.TABLE.lower()}",
        function="amplification",
        rule="cross_thread_resonance",
        mode="replay",
        method="deterministic",
        model=None,
        title="Two valves may be one",
        summary="Both turn on the same spring.",
        why_not_fact="No turn says so.",
        claims=json.dumps([{"text": SPOKEN, "side": "a", "refs": [ref]}]),
        refs=(ref,),
        ref_fingerprints=("b2:00",),
        counter_evidence=json.dumps([{"kind": "rival", "statement": SPOKEN, "refs": [ref]}]),
        counter_refs=(ref,),
        source_fingerprint="b2:11",
        cues=("valve",),
        voices=(),
        seed_id=None,
        shape=None,
        provenance="computed",
        pack_id="p:1",
        job_id="job:1",
        cycle_id="cycle:1",
        state=HypothesisState.ACCEPTED,
        start_points=20,
        points=30,
        confirmations=1,
        contradictions=0,
        validation_ids=(),
        retention=0.5,
        quality=0.25,
        declared_confidence=None,
        divergence=0.0,
        coefficients="conservative_v1",
        sensitivity="none",
        next_check="source_reopen_check",
        extras=json.dumps({"invitation": SPOKEN}),
        created_at=THEN,
        validated_at=None,
        review_after=THEN + timedelta(days=14),
        expires_at=THEN + timedelta(days=45),
        validated_by="dream_adjudication",
        invalidation_triggers=("source_gone",),
        supersedes=None,
        superseded_by=None,
        closed_at=None,
        closed_reason=None,
    )
    return base.replace(**changes)


JOURNEY = "j:" + "0" * 31 + "1"
Q1, Q2 = (f"q:{number:032x}" for number in (1, 2))
C1, C2, C3 = (f"c:{number:032x}" for number in (1, 2, 3))
R1, R2, R3 = "thread:notes:1#turn:1", "thread:notes:1#turn:2", "thread:notes:2#turn:1"


def ground() -> Ground:
    journey = Journey(
        journey_id=JOURNEY,
        path_label=f"valve \u00b7 {PATH}",
        core_inquiry="Why does the valve stick?",
        status=JourneyStatus.TRAVELING,
        frontier=SPOKEN,
        frontier_refs=(R2,),
        first_seen=THEN,
        last_seen=None,
        last_activity_at=THEN + timedelta(days=70),
        expires_at=THEN + timedelta(days=170),
        merged_into=None,
    )
    waypoint = Waypoint(
        waypoint_id=f"{JOURNEY}/1",
        journey_id=JOURNEY,
        seq=1,
        moment=SPOKEN,
        arc="unmapped",
        arc_provenance="none",
        upper=None,
        lower=None,
        at=None,
        frontier_hint=SPOKEN,
        labels=("valve", PATH),
    )
    return Ground(
        threads=(thread(2, title=HOSTILE), thread(1)),
        turns=(turn(1, 1), turn(1, 2, role="assistant", at=None), turn(2, 1, file=None, line=None)),
        questions=(question(1), question(2, HOSTILE, status="answered")),
        concepts=(concept(1, "valve"), concept(2, HOSTILE), concept(3, PATH, "path")),
        asks=tuple(
            Asks(src_table="SourceRef", src=ref, dst_table="Question", dst=q, source_refs=(ref,))
            for ref, q in ((R1, Q1), (R3, Q2))
        ),
        answers=(
            Answers(
                src_table="SourceRef",
                src=R2,
                dst_table="Question",
                dst=Q2,
                source_refs=(R2,),
                kind="resolved",
            ),
        ),
        mentions=(
            *(
                Mentions(
                    src_table="SourceRef",
                    src=ref,
                    dst_table="Concept",
                    dst=c,
                    source_refs=(ref,),
                    salience=0.5,
                )
                for ref, c in ((R1, C1), (R1, C3), (R3, C2))
            ),
            Mentions(
                src_table="Question",
                src=Q1,
                dst_table="Concept",
                dst=C1,
                source_refs=(R1,),
                salience=1.0,
            ),
        ),
        links=(
            Links(
                src_table="Question",
                src=Q1,
                dst_table="Question",
                dst=Q2,
                source_refs=(R1, R3),
                link_type=LinkType.RELATED,
                score=0.75,
                evidence=json.dumps({"terms": [PATH], "cosine": 0.5}),
            ),
        ),
        relates=(
            Relates(
                src_table="Concept",
                src=C1,
                dst_table="Concept",
                dst=C2,
                source_refs=(R1,),
                edge_type="co_occurs",
                why=SPOKEN,
            ),
        ),
        journeys=(journey,),
        waypoints=(waypoint,),
    )


def edges() -> tuple[Edge, ...]:
    return (
        *(
            HasTurn(
                src_table="Thread",
                src=f"notes:{t}",
                dst_table="SourceRef",
                dst=f"thread:notes:{t}#turn:{n}",
                source_refs=(),
                turn=n,
            )
            for t, n in ((1, 1), (1, 2), (2, 1))
        ),
        Lineage(
            src_table="Thread",
            src="notes:2",
            dst_table="Thread",
            dst="notes:1",
            source_refs=(),
            kind="continues",
            split_turn=None,
        ),
        Cites(
            src_table="Thread",
            src="notes:2",
            dst_table="Thread",
            dst="notes:1",
            source_refs=(R3,),
            target=f"[[{PATH}]]",
        ),
        Passes(
            src_table="Journey",
            src=JOURNEY,
            dst_table="Waypoint",
            dst=f"{JOURNEY}/1",
            source_refs=(),
            seq=1,
        ),
        Anchored(
            src_table="Waypoint",
            src=f"{JOURNEY}/1",
            dst_table="SourceRef",
            dst=R2,
            source_refs=(R2,),
        ),
        Anchored(src_table="Journey", src=JOURNEY, dst_table="Question", dst=Q1, source_refs=(R1,)),
    )


def judged() -> tuple[Judged, ...]:
    kinds = {"COMPENSATES": "Question", "ANTICIPATES": "Concept", "RESONATES": "Question"}
    made = []
    for table in HYPOTHESES:
        kind = kinds.get(table.TABLE, "Concept")
        src, dst = (Q1, Q2) if kind == "Question" else (C1, C2)
        due = table.TABLE == "IMAGINES"
        made.append(
            Judged.model_validate(
                {
                    "hypothesis": hypothesis(table, kind, src, dst),
                    "standing": ReviewDue() if due else Valid(),
                }
            )
        )
    return tuple(made)


def seed(number: int = 1, **changes) -> SeedRow:
    base = SeedRow(
        seed_id=f"s:{number}",
        shape="cut_point",
        kind="node",
        level=None,
        score=1.5,
        provenance="computed",
        sentence=f"Without \u201c{PATH}\u201d, 3 nodes and 4 nodes are no longer connected.",
        members=(f"cut={C1}", f"side_a={R1}", "side_b=notes:2", "via=c:gone"),
        source_refs=(R1, "thread:gone#turn:1"),
        detail="{}",
        view_hash="v",
        run_id="run:1",
        first_run="run:1",
        last_run="run:1",
        resolved_run=None,
    )
    return base.replace(**changes)


def mark() -> Marks:
    return Marks(src_table="Seed", src="s:1", dst_table="Concept", dst=C1, role="cut")


def tiny(switches: Switches = ALL) -> ExportView:
    return shown(
        ground(),
        edges(),
        hypotheses=judged(),
        seeds=(seed(2, provenance="annotated"), seed(1)),
        marks=(mark(),),
        switches=switches,
        places={Q1: (0.0, 1.0), C1: (-2.0, 4.5)},
    )
