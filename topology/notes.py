"""Annotated shapes: what records made elsewhere say of a place, once they pass the hard negatives.

A note never outranks structure. It is checked first for what is forbidden, whatever shape it looks
like; then the first trigger that it meets names its shape.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote

from pydantic import Field, ValidationError

from graphstore.model.base import Value
from topology.evidence import seed_id
from topology.gates import shortfall
from topology.model import (
    Amount,
    Control,
    Demand,
    Diagnostic,
    Limits,
    Member,
    Rejection,
    ReviewTask,
    Seed,
    SeedRef,
    Truncation,
)

MOST: Final = 100_000
LONGEST_LINE: Final = 65_536
ANCHORS: Final = 8
RESOLVED: Final = "resolved"
KNOWN: Final = frozenset(
    {"cut_point", "cycle", "island", "knot", "missing_middle", "shadow_route", "weak_bridge"}
)
_ANCHOR: Final = re.compile(r"[\w\-:#]{1,80}")
_STUCK: Final = frozenset({"stale", "rejected", "blocked"})
_REOPENED: Final = 3
_OBLIGED: Final = 3


class NoteRef(Value):
    """A turn that a note rests on; with a fingerprint, as its content was then."""

    ref: str
    side: str = ""
    fingerprint: str = ""


class Note(Value):
    """One record. Unknown keys are an error."""

    note_id: str
    shape: str | None = None
    refs: tuple[NoteRef, ...] = ()
    members: tuple[str, ...] = ()
    scope: Literal["public", "private", "restricted"] = "private"
    freshness: Literal["current", "stale", "superseded", "retired", "archived", "local_only"] = (
        "current"
    )
    anchors: tuple[str, ...] = ()
    """Labels of other systems; never evidence."""
    finding_id: str = ""
    # what forbids
    profile_claim: bool = False
    user_diagnosis: bool = False
    private_psychological_interpretation: bool = False
    symbolic: bool = False
    # what names a shape
    route_ids: tuple[str, ...] = ()
    shadow_probe: bool = False
    visible_refs: tuple[str, ...] = ()
    latent_refs: tuple[str, ...] = ()
    failed_route_residue_count: int = Field(default=0, ge=0)
    partial_glue: bool = False
    weak_bridge: bool = False
    bridge_side_count: int = Field(default=0, ge=0)
    islanded_useful_cluster: bool = False
    useful_source_cluster: bool = False
    recall_entry_count: int | None = None
    missing_middle: bool = False
    declared_gap: str = ""
    repeated_failed_route: bool = False
    reopen_attempt_count: int = Field(default=0, ge=0)
    route_state: str = ""
    obligation_count: int = Field(default=0, ge=0)
    unlinking_move_present: bool = False
    # how it relates to the one who reads it
    navigation_as_evidence: bool = False
    macro_as_instruction: bool = False
    candidate_as_certainty: bool = False
    handle_as_fact: bool = False
    agency_suppression: bool = False
    relation_preserved: bool = False
    foreground: bool = False
    """Meant to be shown unasked."""
    source_side: bool = False
    need_side: bool = False
    agency_side: bool = False


@dataclass(frozen=True, slots=True)
class Notes:
    """Notes that could be read, what could not, and the state of every turn that they name."""

    notes: tuple[Note, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    truncated: tuple[Truncation, ...] = ()
    states: Mapping[tuple[str, str], str] | None = None
    """``resolved``, or the reason why not, by ``key_of``; None: every ref counts as resolved."""


def parse(lines: Iterable[str]) -> Notes:
    """Notes from JSON Lines; a bad line costs itself, and its field is named, never its content."""
    notes: list[Note] = []
    rejected: list[Rejection] = []
    beyond = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if len(notes) >= MOST:
            beyond += 1
            continue
        try:
            if len(line.encode()) > LONGEST_LINE:
                rejected.append(_bad(number, "line"))
            else:
                notes.append(Note.model_validate_json(line))
        except ValidationError as error:
            rejected.append(_bad(number, ".".join(map(str, error.errors()[0]["loc"])) or "line"))
    cut = [Truncation(shape="notes", what="notes", done=MOST, of=MOST + beyond)] if beyond else []
    return Notes(tuple(notes), tuple(rejected), tuple(cut))


def _bad(number: int, field: str) -> Rejection:
    return Rejection(shape="", seed_id="", subject=f"line {number}: {field}", reasons=("bad_note",))


@dataclass(frozen=True, slots=True)
class Annotated:
    """What came of the notes."""

    seeds: tuple[Seed, ...]
    computed: tuple[Seed, ...]
    """Seeds of the structure, those that a note confirms with its id."""
    controls: tuple[Control, ...]
    rejected: tuple[Rejection, ...]
    diagnostics: tuple[Diagnostic, ...]
    tasks: tuple[ReviewTask, ...]
    confirmed: int
    dropped_anchors: int


def annotate(
    notes: Notes,
    computed: Sequence[Seed],
    lineage_of: Callable[[str], object],
    limits: Limits,
) -> Annotated:
    """Judge every note; those that the structure shows as well are folded into its Seeds."""
    made: dict[str, Seed] = {}
    folded: dict[str, set[str]] = {}
    outcomes = [_outcome(note, notes.states, lineage_of) for note in notes.notes]
    for note, outcome in zip(notes.notes, outcomes, strict=True):
        if not isinstance(outcome, Seed):
            continue
        same = [seed.seed_id for seed in computed if _says_the_same(outcome, seed)]
        for name in same:
            folded.setdefault(name, set()).add(name_of(note))
        if not same:
            known = made.get(outcome.seed_id, outcome)
            made[outcome.seed_id] = known.replace(
                notes=tuple(sorted({*known.notes, name_of(note)}))
            )
    return Annotated(
        seeds=_best(made.values(), limits.top),
        computed=tuple(
            seed.replace(notes=tuple(sorted(folded.get(seed.seed_id, ())))) for seed in computed
        ),
        controls=tuple(found for found in outcomes if isinstance(found, Control)),
        rejected=(*notes.rejected, *(found for found in outcomes if isinstance(found, Rejection))),
        diagnostics=tuple(d for note in notes.notes for d in _diagnostics(note)),
        tasks=tuple(
            _task(note, outcome)
            for note, outcome in zip(notes.notes, outcomes, strict=True)
            if note.finding_id
        ),
        confirmed=len(set().union(*folded.values())),
        dropped_anchors=sum(len(note.anchors) - len(anchors(note)) for note in notes.notes),
    )


def name_of(note: Note) -> str:
    """The id of a note as a Seed carries it."""
    return "note:" + quote(note.note_id, safe="")


def anchors(note: Note) -> tuple[str, ...]:
    """Labels that may be shown: at most eight, of plain characters."""
    return tuple(label for label in note.anchors if _ANCHOR.fullmatch(label))[:ANCHORS]


def _best(seeds: Iterable[Seed], top: int) -> tuple[Seed, ...]:
    ordered = sorted(seeds, key=lambda seed: (seed.shape, -seed.score, seed.seed_id))
    count: dict[str, int] = {}
    kept = []
    for seed in ordered:
        count[seed.shape] = count.get(seed.shape, 0) + 1
        if count[seed.shape] <= top:
            kept.append(seed)
    return tuple(kept)


def _outcome(
    note: Note, states: Mapping[tuple[str, str], str] | None, lineage_of: Callable[[str], object]
) -> Seed | Control | Rejection:
    """Hard negatives before any shape; then the first trigger, then the gate of its shape."""
    held = [ref for ref in note.refs if _state(ref, states) == RESOLVED]
    shape = _shape(note)
    reasons = list(_forbidden(note, held))
    if not reasons and shape is None:
        return _control(note)
    if shape is not None and shape not in KNOWN:
        reasons.append("unknown_shape")
    elif shape is not None:
        seed = _seed(note, shape, held, lineage_of)
        reasons += shortfall(seed, lineage_of) if held else ["missing_source_ref"]
        if not reasons:
            return seed
        reasons += [_state(ref, states) for ref in note.refs if ref not in held]
    return Rejection(
        shape=shape or "",
        seed_id="",
        subject=note.note_id,
        reasons=tuple(sorted(set(reasons))),
        refs=tuple(ref.ref for ref in note.refs),
        members=note.members,
    )


def key_of(ref: NoteRef) -> tuple[str, str]:
    """A turn, and what its content was when the note was made."""
    return ref.ref, ref.fingerprint


def _state(ref: NoteRef, states: Mapping[tuple[str, str], str] | None) -> str:
    return RESOLVED if states is None else states.get(key_of(ref), "ref_unresolved")


def _forbidden(note: Note, held: Sequence[NoteRef]) -> Iterator[str]:
    flags = ("profile_claim", "user_diagnosis", "private_psychological_interpretation")
    yield from (flag for flag in flags if getattr(note, flag))
    if note.symbolic and not held:
        yield "source_free_symbolic_claim"


def _shape(note: Note) -> str | None:
    """The first trigger that the note meets."""
    overlap = bool(set(note.visible_refs) & set(note.latent_refs))
    residue = note.failed_route_residue_count > 0 and bool(note.refs)
    alone = note.useful_source_cluster and note.recall_entry_count == 0
    stuck = note.reopen_attempt_count >= _REOPENED and note.route_state in _STUCK
    owed = note.obligation_count >= _OBLIGED and not note.unlinking_move_present
    triggers = (
        (_is_shadow(note) and (overlap or residue), "shadow_route"),
        (note.shape is not None, note.shape),
        (note.weak_bridge or note.bridge_side_count > 1, "weak_bridge"),
        (note.islanded_useful_cluster or alone, "island"),
        (note.missing_middle or note.declared_gap == "missing_middle", "missing_middle"),
        (note.declared_gap == "cut_point", "cut_point"),
        (note.repeated_failed_route or stuck, "cycle"),
        (owed, "knot"),
    )
    return next((shape for met, shape in triggers if met), None)


def _is_shadow(note: Note) -> bool:
    return len(note.route_ids) > 1 or note.shadow_probe


def _control(note: Note) -> Control:
    reason = "no_shape"
    if _is_shadow(note):
        reason = "shared_vocabulary_without_source_or_residue"
    elif note.partial_glue:
        reason = "partial_glue"
    return Control(reason=reason, subject=note.note_id)


def _demands(shape: str) -> tuple[Demand, ...]:
    sides = {
        "weak_bridge": "weak_bridge_needs_both_sides",
        "missing_middle": "missing_source_ref",
    }
    if shape not in sides:
        return (Demand(side=""),)
    reason = sides[shape]
    both = tuple(Demand(side=side, reason=reason) for side in ("side_a", "side_b"))
    if shape == "missing_middle":
        return both
    return (*both, Demand(side="", refs=2, threads=2, reason=reason))


def _seed(
    note: Note, shape: str, held: Sequence[NoteRef], lineage_of: Callable[[str], object]
) -> Seed:
    refs = sorted({(ref.ref, ref.side) for ref in held})
    threads = len({lineage_of(ref) for ref, _ in refs})
    identity = sorted(note.members) or sorted({ref for ref, _ in refs})
    return Seed(
        seed_id=seed_id(shape, "note", None, identity, "annotated"),
        shape=shape,
        kind="note",
        provenance="annotated",
        level=None,
        members=tuple(Member(role="member", node_id=node) for node in sorted(set(note.members))),
        score=float(threads),
        numbers=(
            Amount(name="n", value=len({ref for ref, _ in refs})),
            Amount(name="t", value=threads),
        ),
        refs=tuple(SeedRef(ref=ref, side=side) for ref, side in refs),
        demands=_demands(shape),
        sentence=f"A record marks {shape.replace('_', ' ')} here, on {{n}} turns in {{t}} threads.",
        claim="none_before_reopen" if shape == "shadow_route" else "",
    )


def _says_the_same(noted: Seed, seed: Seed) -> bool:
    members = [{member.node_id for member in one.members} for one in (noted, seed)]
    refs = [{ref.ref for ref in one.refs} for one in (noted, seed)]
    return (
        noted.shape == seed.shape
        and not members[0].isdisjoint(members[1])
        and not refs[0].isdisjoint(refs[1])
    )


def _diagnostics(note: Note) -> Iterator[Diagnostic]:
    """How the note stands to its reader; none of these blocks a shape, all block the foreground."""
    overreach = (
        note.navigation_as_evidence
        or note.macro_as_instruction
        or note.candidate_as_certainty
        or note.handle_as_fact
    )
    found = {
        "authority_overreach": overreach,
        "agency_suppression": note.agency_suppression,
        "relation_preserved": note.relation_preserved,
        "missing_source_side": note.foreground and not note.source_side,
        "missing_need_side": note.foreground and not note.need_side,
        "missing_agency_side": note.foreground and not note.agency_side,
    }
    return (Diagnostic(note_id=note.note_id, name=name) for name, hit in found.items() if hit)


def _task(note: Note, outcome: object) -> ReviewTask:
    """One review for a finding, or why there is none; it supports no claim."""
    suppressed = ""
    if note.scope != "public":
        suppressed = "scope"
    elif note.freshness != "current":
        suppressed = "freshness"
    elif not isinstance(outcome, Seed):
        suppressed = "no_ref" if isinstance(outcome, Rejection) else "no_shape"
    seed = outcome.seed_id if isinstance(outcome, Seed) and not suppressed else ""
    return ReviewTask(finding_id=note.finding_id, seed_id=seed, suppressed=suppressed)
