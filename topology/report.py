"""What the owner reads: the run as JSON, table or Markdown, after its red lines were checked."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import pairwise
from typing import Final, Literal

from pydantic import Field

from graphstore import ids
from graphstore.model.base import Value
from topology.diff import Baseline, Diff, diff
from topology.gates import carried_by
from topology.model import (
    Communities,
    Control,
    Diagnostic,
    HiddenHub,
    Rejection,
    ReviewTask,
    Scouted,
    Seed,
    ShapeMetrics,
    ShapeSkipped,
    Truncation,
    ViewCounts,
)

SHADOW: Final = "shadow_route"
PRIVATE: Final = frozenset(
    {"private_psychological_interpretation", "profile_claim", "user_diagnosis"}
)
"""Reasons for which nothing of a rejected note may show in a Seed."""
LABEL_LIMIT: Final = 80
RUN_LENGTH: Final = 20
"""So many characters of a turn in public output are a leak."""
ALWAYS: Final = (
    "absence_outside_ingested_sources",
    "causes",
    "dream_quality",
    "facts",
    "text_was_reread",
    "user_profile_or_intent",
)
_PATHS: Final = re.compile(
    r"(?:^|[\s\"'(=])(?:/[\w.@-]+(?:/|$|\s)|~/|\\\\[\w.-]+\\|[A-Za-z]:[\\/])|file://"
)
_HANDLES: Final = re.compile(r"\b[\w-]+\.(?:jsonl|sqlite|vscdb)\b|source://|rollout-\d")
_ID: Final = re.compile(r"[a-z][a-z0-9-]*:[\w.:%-]+(?:/\d+)?")


class RedLine(Value):
    """One thing that must not happen, and how often it did."""

    name: str
    count: int


class ReasonCount(Value):
    """How many candidates fell for one reason."""

    reason: str
    count: int


class ScoutReport(Value):
    """One run, ready to be shown. Fields without content yet are empty, not left out."""

    format: Literal["clew.scout/1"] = Field(default="clew.scout/1", alias="schema")
    run_id: str
    view_hash: str
    params_hash: str
    is_public: bool
    view: ViewCounts
    hidden_hubs: tuple[HiddenHub, ...]
    hidden_hub_count: int
    seeds: tuple[Seed, ...]
    shadow: tuple[Seed, ...] = ()
    """Shadow routes: nothing is claimed of them before their turns are read again."""
    controls: tuple[Control, ...]
    rejected: tuple[Rejection, ...]
    rejected_by_reason: tuple[ReasonCount, ...]
    skipped: tuple[ShapeSkipped, ...]
    truncated: tuple[Truncation, ...]
    communities: Communities
    baseline: str | None = None
    """The run that is compared with; None: there is none with these parameters."""
    diff: Diff | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    tasks: tuple[ReviewTask, ...] = ()
    confirmed_by_structure: int = 0
    metrics: tuple[ShapeMetrics, ...]
    ref_coverage: float
    """Share of the Seeds that carry a ref."""
    sized_cuts: float
    """Share of the reported cuts whose second side has k_min nodes; 1 when there is none."""
    red_lines: tuple[RedLine, ...]
    ok: bool
    withheld: int
    """Seeds that crossed a red line: counted, not shown."""
    cannot_claim: tuple[str, ...]


class Reread(Value):
    """What the caller read again from the store, for the checks that need it."""

    resolved: tuple[str, ...] | None = None
    """Refs that resolve with the fingerprint of the export; None: they were not read again."""
    texts: tuple[str, ...] = ()
    """Texts of the turns that are cited."""
    lineages: tuple[tuple[str, str], ...] = ()
    """Thread id and lineage root, where they differ."""


def report(
    scouted: Scouted,
    labels: Mapping[str, str],
    reread: Reread | None = None,
    *,
    public: bool = False,
    notes_hash: str = "",
    before: Baseline | None = None,
) -> ScoutReport:
    """Check the red lines, withhold what crosses one, and fill the sentences.

    ``labels`` maps node ids to what people call them; a missing one shows the id. In public form
    no label is used. ``before`` is the run with the same parameters that this one is compared with.
    """
    again = reread or Reread()
    crossings = dict(_crossings(scouted, again))
    bad = {seed_id for found in crossings.values() for seed_id in found}
    # what dreams have touched says nothing, wherever it shows
    clean = scouted.dreamt_rows == 0
    kept = [seed for seed in scouted.seeds if clean and seed.seed_id not in bad]
    red_lines = _red_lines(scouted, crossings)
    shown = {} if public else labels
    return ScoutReport(
        run_id="run:" + ids.digest(scouted.view_hash, scouted.params_hash, notes_hash),
        view_hash=scouted.view_hash,
        params_hash=scouted.params_hash,
        is_public=public,
        view=scouted.view,
        hidden_hubs=tuple(
            hub.replace(label=shown.get(hub.concept_id, "")) for hub in scouted.hidden_hubs
        ),
        hidden_hub_count=scouted.hidden_hub_count,
        seeds=_told(kept, shown, shadow=False),
        shadow=_told(kept, shown, shadow=True),
        controls=scouted.controls,
        rejected=scouted.rejected,
        rejected_by_reason=_reasons(scouted.rejected),
        skipped=scouted.skipped,
        truncated=scouted.truncated,
        communities=scouted.communities,
        baseline=before.run_id if before else None,
        diff=diff(scouted, kept, before) if before else None,
        diagnostics=scouted.diagnostics,
        tasks=scouted.tasks,
        confirmed_by_structure=scouted.confirmed_by_structure,
        metrics=scouted.metrics,
        ref_coverage=_share([bool(seed.refs) for seed in kept]),
        sized_cuts=_share(_cut_sizes(kept, scouted.limits.k_min)),
        red_lines=red_lines,
        ok=not any(line.count for line in red_lines),
        withheld=len(scouted.seeds) - len(kept),
        cannot_claim=_cannot_claim(scouted, has_history=before is not None),
    )


def _told(seeds: Collection[Seed], labels: Mapping[str, str], *, shadow: bool) -> tuple[Seed, ...]:
    asked = (seed for seed in seeds if (seed.shape == SHADOW) == shadow)
    return tuple(seed.replace(sentence=sentence(seed, labels)) for seed in asked)


def sentence(seed: Seed, labels: Mapping[str, str]) -> str:
    """The sentence of a Seed with its numbers, and quoted labels, else ids."""
    template = seed.sentence
    for amount in seed.numbers:
        if amount.value == 1:
            template = re.sub(rf"these {{{amount.name}}} ([a-z]+)s\b", r"this \1", template)
            template = re.sub(rf"({{{amount.name}}} [a-z ]*[a-z])s\b", r"\1", template)
    return template.format_map(dict(_words(seed, labels)))


def _words(seed: Seed, labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    def name(node: str) -> str:
        return quoted(labels[node]) if node in labels else node

    count: dict[str, int] = {}
    for role, node in (
        *((member.role, member.node_id) for member in seed.members),
        *(("hub", node) for node in seed.hubs),
    ):
        count[role] = count.get(role, 0) + 1
        yield f"{role}_{count[role]}", name(node)
        if count[role] == 1:
            yield role, name(node)
    yield "hub_list", ", ".join(name(node) for node in seed.hubs)
    yield from ((amount.name, f"{amount.value:g}") for amount in seed.numbers)


def quoted(label: str) -> str:
    """A label in quotes, on one line, cut at a word within 80 characters."""
    line = " ".join(label.split())
    if len(line) > LABEL_LIMIT:
        line = line[:LABEL_LIMIT].rpartition(" ")[0].rstrip(".,;:") + "\u2026"
    return f'"{line}"'


def _share(facts: Collection[bool]) -> float:
    return round(sum(facts) / len(facts), 6) if facts else 1.0


def _cut_sizes(seeds: Collection[Seed], k_min: int) -> list[bool]:
    cut = (seed for seed in seeds if any(member.role == "cut" for member in seed.members))
    return [sorted((size.value for size in seed.sizes), reverse=True)[1] >= k_min for seed in cut]


def _reasons(rejected: Collection[Rejection]) -> tuple[ReasonCount, ...]:
    every = [reason for rejection in rejected for reason in rejection.reasons]
    return tuple(ReasonCount(reason=name, count=every.count(name)) for name in sorted(set(every)))


def _cannot_claim(scouted: Scouted, *, has_history: bool) -> tuple[str, ...]:
    conditional = {
        "complete_list": bool(scouted.truncated),
        "hub_free_structure": any(seed.soft for seed in scouted.seeds),
        "source_backed": not scouted.source_backed,
        "undated_order": scouted.view.undated > 0,
        "history": not has_history,
        "themes": scouted.communities.verdict != "communities_agree",
    }
    return tuple(sorted((*ALWAYS, *(name for name, holds in conditional.items() if holds))))


# red lines: each is a check on the finished Seeds


def _red_lines(scouted: Scouted, crossings: Mapping[str, frozenset[str]]) -> tuple[RedLine, ...]:
    counts = {name: len(found) for name, found in crossings.items()}
    counts["annotated_outranks"] = _outranked(scouted.seeds)
    counts["dream_in_view"] = scouted.dreamt_rows
    counts["false_positive"] += scouted.false_positives
    return tuple(RedLine(name=name, count=counts[name]) for name in sorted(counts))


def _crossings(scouted: Scouted, again: Reread) -> Iterator[tuple[str, frozenset[str]]]:
    """Seeds that cross each red line that a single Seed can cross."""
    denied = {row.seed_id for row in scouted.rejected if row.seed_id}
    denied |= {control.subject for control in scouted.controls}
    private = {
        (ref, member)
        for row in scouted.rejected
        if not PRIVATE.isdisjoint(row.reasons)
        for ref in row.refs
        for member in row.members
    }
    runs = frozenset(run for text in again.texts for run in _runs(text))
    checks: dict[str, Callable[[Seed], bool]] = {
        "false_positive": lambda seed: seed.seed_id in denied,
        "foreground_leak": _leaks_to_foreground,
        "local_path": lambda seed: any(_PATHS.search(text) for text in _strings(seed)),
        "private_interpretation": lambda seed: not private.isdisjoint(_places(seed)),
        "private_text": lambda seed: not runs.isdisjoint(_runs(_without_ids(seed))),
        "shadow_without_reopen": lambda seed: (
            seed.shape == SHADOW and seed.claim != "none_before_reopen"
        ),
        "source_handle": lambda seed: _has_handle(seed, strict=scouted.source_backed),
        "unsupported_seed": lambda seed: not _is_supported(seed, again),
    }
    for name, check in checks.items():
        yield name, frozenset(seed.seed_id for seed in scouted.seeds if check(seed))


def _places(seed: Seed) -> Iterator[tuple[str, str]]:
    """Every pair of a turn and a member of a Seed."""
    return ((ref.ref, member.node_id) for ref in seed.refs for member in seed.members)


def _leaks_to_foreground(seed: Seed) -> bool:
    constants = (seed.authority, seed.foreground, seed.reopen_required, seed.next)
    return constants != ("candidate_not_fact", False, True, "review")


def _is_supported(seed: Seed, again: Reread) -> bool:
    if again.resolved is None:
        return True
    resolved, roots = frozenset(again.resolved), dict(again.lineages)

    def lineage(ref: str) -> str:
        thread = ids.thread_of(ref)
        return roots.get(thread, thread)

    return carried_by(seed, resolved.__contains__, lineage)


def _ids(seed: Seed) -> list[str]:
    nodes = [member.node_id for member in seed.members]
    return [seed.seed_id, *nodes, *seed.hubs, *seed.related, *seed.notes]


def _strings(seed: Seed) -> list[str]:
    """Every string of a Seed in public form."""
    refs = [ref.ref for ref in seed.refs]
    names = [amount.name for amount in (*seed.sizes, *seed.numbers)]
    return [*_ids(seed), *refs, *names, seed.shape, seed.kind, seed.sentence]


def _has_handle(seed: Seed, *, strict: bool) -> bool:
    if strict and not all(_ID.fullmatch(node) for node in _ids(seed)):
        return True
    return any(_HANDLES.search(text) for text in _strings(seed))


def _without_ids(seed: Seed) -> str:
    """The public text of a Seed; ids are taken out, since a turn may quote one."""
    tokens = {*_ids(seed), *(ref.ref for ref in seed.refs)}
    return " ".join(text for text in _strings(seed) if text not in tokens)


def _runs(text: str) -> Iterator[str]:
    folded = " ".join(text.split())
    return (folded[at : at + RUN_LENGTH] for at in range(len(folded) - RUN_LENGTH + 1))


def _outranked(seeds: Collection[Seed]) -> int:
    return sum(
        before.provenance == "annotated" and after.provenance == "computed"
        for before, after in pairwise(seeds)
    )


# renderings


def to_json(found: ScoutReport) -> bytes:
    """Canonical JSON: the same run, the same bytes."""
    return ids.canonical(json.loads(found.model_dump_json(by_alias=True))) + b"\n"


def to_table(found: ScoutReport) -> str:
    """Lines for a terminal."""
    lines = []
    for shape in _shapes(found):
        lines.append(shape)
        for seed in _of(found, shape):
            new = "new  " if is_new(found, seed) else ""
            lines.append(f"{seed.rank:>4}  {seed.score:<10g}{new}{seed.sentence}")
            lines.append(f"      {_sizes(seed)}  {_first_refs(seed)}")
    return "\n".join([*lines, *account(found)]) + "\n"


def to_markdown(found: ScoutReport) -> str:
    """One section per Seed; refs are links that the map page understands."""
    lines = ["# Scout report", ""]
    for seed in _all(found):
        new = " (new)" if is_new(found, seed) else ""
        lines += [f"## {seed.shape} {seed.rank}{new}", "", seed.sentence, ""]
        lines += [f"- score {seed.score:g}, {_sizes(seed)}"]
        lines += [f"- [{ref.ref}](#{ref.ref}) ({ref.side})" for ref in seed.refs]
        lines.append("")
    return "\n".join([*lines, "## Account", "", *(f"- {line}" for line in account(found))]) + "\n"


def _shapes(found: ScoutReport) -> list[str]:
    return list(dict.fromkeys(seed.shape for seed in _all(found)))


def _of(found: ScoutReport, shape: str) -> Iterator[Seed]:
    return (seed for seed in _all(found) if seed.shape == shape)


def _all(found: ScoutReport) -> tuple[Seed, ...]:
    return (*found.seeds, *found.shadow)


def is_new(found: ScoutReport, seed: Seed) -> bool:
    """Whether the Seed was not there in the run that is compared with."""
    return found.diff is not None and seed.seed_id in found.diff.new


def _sizes(seed: Seed) -> str:
    return ", ".join(f"{size.name} {size.value:g}" for size in seed.sizes)


def _first_refs(seed: Seed) -> str:
    return " ".join(dict.fromkeys(ref.ref for ref in seed.refs[:3]))


def account(found: ScoutReport) -> Iterator[str]:
    """What was set aside, skipped, cut off or forbidden; and why nothing, if nothing."""
    if not _all(found):
        yield _nothing(found.view)
    if found.hidden_hub_count:
        named = ", ".join(
            f"{hub.label or hub.concept_id} ({hub.df})" for hub in found.hidden_hubs[:5]
        )
        noun = "concept" if found.hidden_hub_count == 1 else "concepts"
        yield f"{found.hidden_hub_count} generic {noun} set aside: {named}"
    if found.diff is not None:
        yield _changes(found.diff)
    if found.communities.verdict != "not_computed":
        yield _themes(found.communities)
    yield from (f"{skipped.shape} skipped: {skipped.reason}" for skipped in found.skipped)
    yield from (f"{cut.shape}: {cut.what}, {cut.done} of {cut.of} done" for cut in found.truncated)
    yield from (f"rejected, {row.reason}: {row.count}" for row in found.rejected_by_reason)
    yield from (f"red line {line.name}: {line.count}" for line in found.red_lines if line.count)


def _changes(found: Diff) -> str:
    parts = (
        f"{len(ids_of)} {what}"
        for what, ids_of in (
            ("new", found.new),
            ("persisting", found.persisting),
            ("resolved", found.resolved),
            ("not checked", found.not_checked),
        )
        if ids_of
    )
    return "since the last run: " + (", ".join(parts) or "nothing before, nothing now")


def _themes(found: Communities) -> str:
    said = "agree" if found.verdict == "communities_agree" else "disagree, so no theme is claimed"
    return (
        f"communities: {found.first_count} by {found.first}, {found.second_count} by "
        f"{found.second}; they {said} (adjusted Rand index {found.ari:.2f})"
    )


def _nothing(view: ViewCounts) -> str:
    nodes = sum(amount.value for amount in view.nodes)
    return (
        f"nothing found: {view.components} components, {nodes} nodes, "
        f"the largest with {view.largest_component}"
    )
