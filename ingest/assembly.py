"""Families of threads to records: numbers, lineage, titles, and what changed of known threads."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from graphstore.ids import thread_id
from graphstore.model.carrier import PendingTitle
from graphstore.model.conversation import (
    Anchor,
    Event,
    LineageKind,
    LineageLink,
    Taint,
    Thread,
    ThreadState,
    ToolCount,
    ToolUse,
    Turn,
)
from graphstore.model.record import ThreadRecord, TurnChange
from graphstore.proof import LEAST
from ingest.agents import Agents, beads_of_agent, owned_by_spawner, spawn_events, spawners_of
from ingest.base import Base
from ingest.carriers import Carrier, count_copies
from ingest.clean import CleanThread, CleanTurn
from ingest.heads import citations, relinked, says_more, told_times
from ingest.identity import (
    Numbering,
    Whole,
    begin_alike,
    collided_id,
    first_numbers,
    is_derived,
    match,
    merge,
    outgrown,
    richer,
    told,
)
from ingest.known import Known
from ingest.lineage import (
    PREFIX_KINDS,
    Bead,
    Descent,
    Strand,
    bead_of,
    descents,
    holder,
    of_known,
    pending_links,
)
from ingest.options import Options
from ingest.placed import is_of_place, native_of_place
from ingest.settle import counted
from ingest.titles import Titles

UNMASKED: Final = "unmasked"
"""Flag of a thread that holds words as they were, secrets included."""
FAMILY: Final = 200
"""Known relatives looked at for one family."""
_NO_TOOLS: Final = ToolUse()
_CHAIN: Final = 1000
"""Threads that one may descend through."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """One thread of the run and what is new of it."""

    thread_id: str
    record: ThreadRecord | None
    """None if nothing is new, or the record only mends a thread that is not of the run."""
    is_new: bool
    carriers: tuple[int, ...]
    title: str | None = None
    of_run: bool = True


@dataclass(slots=True)
class _Member:
    """One thread of a family on its way to a record."""

    whole: Whole
    known: Thread | None
    past: tuple[Turn, ...]
    """Its known turns by number, those of a shared prefix included."""
    numbering: Numbering


class Assembly:
    """Assembly of one run: what must be carried from family to family."""

    def __init__(
        self,
        known: Known,
        carriers: Sequence[Carrier],
        options: Options,
        titles: Iterable[PendingTitle],
        spawners: frozenset[str],
    ) -> None:
        self.known = known
        self.carriers = carriers
        self.options = options
        self.titles = Titles(titles)
        self.agents = Agents(known, spawners)
        self.spawners = spawners
        self.spawning: dict[str, Strand] = {}
        """Spawners of the run that were put together, whose history agents may begin with."""
        self.tallies = [carrier.tally for carrier in carriers]

    def family(self, threads: Sequence[tuple[str, CleanThread]]) -> Iterator[Assembled]:
        """Records of one family, parents before children; (native id, thread) of all carriers."""
        members = [self._member(whole) for whole in self._wholes(threads)]
        found = [one for one in members if one is not None]
        strands = {one.whole.thread_id: self._strand(one) for one in found}
        for identity in sorted(self.spawners.intersection(strands)):
            self.spawning[identity] = strands[identity]
        relatives = self._relatives(found, strands)
        parents = descents([*strands.values(), *relatives.values()])
        for one in sorted(found, key=lambda member: _depth(member.whole.thread_id, parents)):
            yield self._assembled(one, strands, relatives, parents)
        for thread in self._mended(found, relatives, parents):
            yield Assembled(thread.thread_id, thread, is_new=False, carriers=(), of_run=False)

    def _wholes(self, threads: Sequence[tuple[str, CleanThread]]) -> Iterator[Whole]:
        by_id: dict[str, list[CleanThread]] = {}
        for native, thread in threads:
            by_id.setdefault(thread_id(thread.raw.source, native), []).append(thread)
        natives = {thread_id(one.raw.source, native): native for native, one in threads}
        for identity, carriers in by_id.items():
            count_copies(carriers, self.carriers)
            for whole in merge(
                natives[identity], carriers, self.tallies, self.options, self._is_stored
            ):
                if whole.turns:
                    yield whole
                elif whole.held:
                    self._await(whole)
                else:
                    head = whole.heads[0]
                    self.tallies[whole.carriers[0]].note("empty_thread", head.where or None)

    def _is_stored(self, whole: Whole) -> bool:
        """Whether a thread of the run is what the store holds under its id."""
        known = self.known.thread(whole.thread_id)
        files = [self.carriers[one].source.path for one in whole.carriers]
        return known is not None and not whole.heads[0].placed and _meets(known, whole, files)

    def _await(self, whole: Whole) -> None:
        """Carriers of a thread that may still grow must be read again when they rest."""
        for carrier in whole.carriers:
            self.carriers[carrier].live = self.carriers[carrier].live or whole.live

    # --- what is known

    def _member(self, whole: Whole) -> _Member | None:
        if whole.base is not None:
            return self._grown(whole, whole.base)
        files = [self.carriers[one].source.path for one in whole.carriers]
        if whole.heads[0].placed:
            whole.native_id = native_of_place(whole, self.known, files)
        known = self.known.thread(whole.thread_id)
        if known is not None and not (
            is_of_place(whole, known, files) or _meets(known, whole, files)
        ):
            self.tallies[whole.carriers[0]].note("id_collision", whole.thread_id)
            whole.native_id = collided_id(whole)
            known = self.known.thread(whole.thread_id)
        if self.known.forgotten(whole.thread_id, _longer(whole)):
            self.tallies[whole.carriers[0]].note("forgotten", whole.thread_id)
            return None
        past = self._past(known) if known is not None else ()
        self._recognise(whole, past)
        if known is None:
            return _Member(whole, None, (), first_numbers(len(whole.turns)))
        return _Member(whole, known, past, outgrown(past, whole, match(past, whole.turns)))

    def _recognise(self, whole: Whole, past: Sequence[Turn]) -> None:
        """See which messages of an agent's thread are copies of its spawner's."""
        own = [bead_of(turn) for turn in past]
        for native in spawners_of(whole) if whole.heads[0].sharing == "words" else ():
            owned_by_spawner(whole, own or self._beads(thread_id(whole.source, native)))

    def _beads(self, spawner: str) -> Sequence[Bead]:
        """All turns of a spawner of this run, else of the store; none of one that is unknown."""
        if spawner in self.spawning:
            return self.spawning[spawner].beads
        stored = self.known.thread(spawner)
        return [bead_of(turn) for turn in self._past(stored)] if stored is not None else ()

    def _grown(self, whole: Whole, base: Base) -> _Member | None:
        """A thread whose carrier was read on: its turns are those from a place on."""
        if self.known.forgotten(whole.thread_id, ()):
            self.tallies[whole.carriers[0]].note("forgotten", whole.thread_id)
            return None
        numbering = match(base.rest, whole.turns, base.following)
        numbering = outgrown(base.rest, whole, numbering)
        return _Member(whole, base.thread, base.thread.turns, numbering)

    def _past(self, thread: Thread) -> tuple[Turn, ...]:
        """All known turns of a thread by number; a shared prefix comes from its parents.

        What an agent's thread keeps as a side turn may be a person's message in its spawner.
        """
        turns = {turn.number: turn for turn in thread.turns}
        at = thread
        for _ in range(_CHAIN):
            link = next((one for one in at.lineage if one.kind in PREFIX_KINDS), None)
            parent = self.known.thread(link.parent) if link is not None else None
            if link is None or parent is None:
                break
            for turn in parent.turns:
                copy = turns.get(turn.number)
                if turn.number <= (link.split_turn or 0) and (
                    copy is None or copy.role != turn.role
                ):
                    turns[turn.number] = turn
            at = parent
        return tuple(turns[number] for number in sorted(turns))

    def _strand(self, member: _Member) -> Strand:
        whole = member.whole
        beads = {turn.number: bead_of(turn) for turn in member.past}
        for number, turn in zip(member.numbering.numbers, whole.turns, strict=True):
            beads[number] = Bead(turn.raw.key, turn.fingerprint, turn.at)
        leading = [beads[number] for number in range(1, len(beads) + 1) if number in beads]
        pointers = [one for head in whole.heads for one in head.pointers]
        sharing, spawners = whole.heads[0].sharing, spawners_of(whole)
        forks = [one.native_id for one in pointers if one.kind is LineageKind.FORKED_FROM]
        return Strand(
            thread_id=whole.thread_id,
            source=whole.source,
            native_id=whole.native_id,
            beads=tuple(leading),
            count=len(beads),
            sharing="none" if spawners and sharing != "words" else sharing,
            forks=tuple(dict.fromkeys(forks)),
            spawners=spawners,
            background=any(head.background for head in whole.heads),
            above=holder(member.known.lineage) if member.known is not None else None,
            names=frozenset(name for head in whole.heads for name in head.native_ids),
        )

    def _relatives(
        self, members: Sequence[_Member], strands: dict[str, Strand]
    ) -> dict[str, Strand]:
        """Strands of known threads that may share turns with those of the run."""
        found: dict[str, Strand] = {}
        of_run = {one.whole.thread_id: one.known for one in members}
        by_words = any(one.whole.heads[0].sharing == "words" for one in members)
        waiting = [one for member in members for one in self._named(member, strands)]
        while waiting and len(found) < FAMILY:
            identity = waiting.pop(0)
            if identity in self.spawning and identity not in strands:
                found.setdefault(identity, self.spawning[identity])
            thread = None if identity in found else of_run.get(identity)
            if identity not in of_run and identity not in found:
                thread = self.known.thread(identity)
            if thread is None:
                continue
            if identity not in strands:
                found[identity] = self._known_strand(thread, strands if by_words else {})
            links = [link.parent for link in thread.lineage if link.kind in PREFIX_KINDS]
            near = (*links, *self.known.descendants(identity))
            waiting.extend(one for one in near if one not in found and one not in strands)
        return found

    def _named(self, member: _Member, strands: dict[str, Strand]) -> Iterator[str]:
        """Ids of known threads that a thread of the run names or shares its first turn with."""
        strand = strands[member.whole.thread_id]
        if strand.sharing == "none":
            return
        told = (*strand.forks, *strand.spawners)
        yield from (thread_id(strand.source, native) for native in told)
        first = strand.beads[0].key if strand.beads else None
        if first is not None:
            yield from self.known.holding(strand.source, (first,))
        yield strand.thread_id
        yield from self.known.descendants(strand.thread_id)

    def _known_strand(self, thread: Thread, told: dict[str, Strand]) -> Strand:
        """Strand of a stored thread; one of an agent may begin with a copy of one that is told."""
        past = self._past(thread)
        strand = of_known(thread, past)
        links = [one for one in thread.lineage if one.kind is LineageKind.SUBAGENT_OF]
        spawners = [told[link.parent] for link in links if link.parent in told]
        if links and not spawners:
            strand.sharing = "none"
        for spawner in spawners:
            strand.spawners += (spawner.native_id,)
            beads_of_agent(strand, past, spawner.beads)
        return strand

    # --- records

    def _assembled(
        self,
        member: _Member,
        strands: dict[str, Strand],
        relatives: dict[str, Strand],
        parents: dict[str, Descent],
    ) -> Assembled:
        whole, known = member.whole, member.known
        descent = parents.get(whole.thread_id)
        shared = descent.shared if descent is not None else 0
        turns = self._turns(member, shared)
        self.agents.hear(whole, member.numbering.numbers)
        at_hand = [*strands, *relatives]
        lineage = self._lineage(member, strands[whole.thread_id], descent, at_hand)
        newest = whole.heads[0].placed  # what a file says now is what the thread is
        better = known is None or newest or richer(known, whole, member.numbering)
        path = _path(member, better=better)
        record = self._record(
            member,
            better=better,
            lineage=lineage,
            turns=turns,
            changes=self._changes(member, better=better),
            path=path,
        )
        if self.options.mask and _was_unmasked(member):
            self.tallies[whole.carriers[0]].note("unmasked_before", whole.thread_id)
        for carrier in whole.carriers:
            self.carriers[carrier].thread_ids.setdefault(whole.thread_id)
        self._await(whole)
        if whole.heads[0].cuts is not None and len(whole.carriers) == 1 and not lineage:
            self.carriers[whole.carriers[0]].whole = whole
        same = known is not None and not says_more(record, known)
        return Assembled(
            whole.thread_id,
            None if same else record,
            is_new=known is None,
            carriers=tuple(whole.carriers),
            title=record.title,
        )

    def _turns(self, member: _Member, shared: int) -> tuple[Turn, ...]:
        numbers = member.numbering.numbers
        fresh = [
            self._turn(numbers[place], member.whole.turns[place])
            for place in member.numbering.fresh
            if numbers[place] > shared
        ]
        return tuple(sorted(fresh, key=lambda turn: turn.number))

    def _turn(self, number: int, turn: CleanTurn) -> Turn:
        raw, tools = turn.raw, _NO_TOOLS
        if turn.calls or turn.touched:
            counts = [ToolCount(name=name, count=n) for name, n in counted(turn.calls).items()]
            tools = ToolUse(counts=tuple(counts), touched=turn.touched)
        return Turn(
            number=number,
            role=raw.role,
            taint=raw.taint or Taint(raw.role.value),
            text=turn.text,
            fingerprint=turn.fingerprint,
            native_key=raw.key,
            at=turn.at,
            speaker=raw.speaker,
            interim=turn.interim,
            attachments=raw.attachments,
            links=turn.links,
            tools=tools,
            masked=turn.masked,
            anchor=Anchor(
                file=self.carriers[turn.carrier].source.within(raw.file),
                line=raw.line,
                offset=raw.offset,
                length=raw.length,
            ),
        )

    def _changes(self, member: _Member, *, better: bool) -> tuple[TurnChange, ...]:
        carrier = self.tallies[member.whole.carriers[0]]
        changes = [
            TurnChange(number=old, superseded_by=new) for old, new in member.numbering.revised
        ]
        for change in changes:
            carrier.note("turn_revised", f"{member.whole.thread_id}#turn:{change.number}")
        sources = [self.carriers[one].source for one in member.whole.carriers]
        gone = set(member.numbering.gone) if better else set()
        for turn in member.past:
            file = None if turn.anchor is None else turn.anchor.file
            here = file is not None and any(one.holds(file) for one in sources)
            here = here and turn.native_key not in member.whole.passed_keys
            if turn.number in gone and here and not turn.source_gone:
                changes.append(TurnChange(number=turn.number, source_gone=True))
                carrier.note("source_gone", f"{member.whole.thread_id}#turn:{turn.number}")
        return tuple(changes)

    def _record(
        self,
        member: _Member,
        *,
        better: bool,
        lineage: tuple[LineageLink, ...],
        turns: tuple[Turn, ...],
        changes: tuple[TurnChange, ...],
        path: tuple[int, ...],
    ) -> ThreadRecord:
        """What is new of a thread, and all that is known beside its turns.

        A weaker carrier changes no title.
        """
        whole, known = member.whole, member.known
        heads = whole.heads
        state = ThreadState.LIVE if whole.live else ThreadState.CLOSED
        cited = citations((*member.past, *turns), path)
        if known is not None and not better:
            return relinked(known, lineage).replace(
                turns=turns, changes=changes, path=path, citations=cited
            )
        times = told_times(whole) + [turn.at for turn in member.past if turn.at is not None]
        project = next((head for head in heads if head.project is not None), heads[0])
        return ThreadRecord(
            thread_id=whole.thread_id,
            source=whole.source,
            native_id=whole.native_id,
            title=self.titles.of(whole, known),
            project=project.project,
            participants=_sorted(head.participants for head in heads),
            models=_sorted(head.models for head in heads),
            native_ids=_sorted(head.native_ids for head in heads),
            started_at=min(times, default=None),
            ended_at=max(times, default=None),
            flags=self._flags(member, sure=project.project_sure),
            state=state,
            events=self._events(member),
            lineage=lineage,
            turns=turns,
            changes=changes,
            path=path,
            citations=cited,
        )

    def _flags(self, member: _Member, *, sure: bool) -> tuple[str, ...]:
        whole, base = member.whole, member.whole.base
        flags = (
            ("naive_time", whole.naive or (base is not None and "naive_time" in base.thread.flags)),
            (UNMASKED, not self.options.mask or _was_unmasked(member)),
            ("unsure_project", not sure),
        )
        return tuple(name for name, raised in flags if raised)

    def _events(self, member: _Member) -> tuple[Event, ...]:
        whole = member.whole
        spawns = spawn_events(whole, member.numbering.numbers)
        if whole.base is not None:
            spawns = [*whole.base.events, *spawns]
        return (*(event for head in whole.heads[:1] for event in head.events), *spawns)

    # --- lineage

    def _lineage(
        self,
        member: _Member,
        strand: Strand,
        descent: Descent | None,
        at_hand: Sequence[str],
    ) -> tuple[LineageLink, ...]:
        links = [descent.link] if descent is not None else []
        missing = pending_links(strand, at_hand)
        agents = self.agents.links(member.whole, descent.shared if descent is not None else 0)
        old = member.known.lineage if member.known is not None else ()
        told = {(link.parent, link.kind in PREFIX_KINDS) for link in (*links, *missing, *agents)}
        kept = [
            link
            for link in old
            if (link.parent, link.kind in PREFIX_KINDS) not in told
            and not (descent and link.kind in PREFIX_KINDS)
        ]
        tally = self.tallies[member.whole.carriers[0]]
        for link in (*missing, *agents):
            if link in missing or self.agents.is_missing(link):
                tally.note("parent_missing", member.whole.thread_id)
        return (*links, *missing, *agents, *kept)

    def _mended(
        self,
        members: Sequence[_Member],
        relatives: dict[str, Strand],
        parents: dict[str, Descent],
    ) -> Iterator[ThreadRecord]:
        """Known threads outside the run whose parent has come, or has come to more."""
        for identity in sorted(relatives):
            thread = self.known.thread(identity)
            descent = parents.get(identity)
            if thread is None or descent is None:
                continue
            kept = [
                link
                for link in thread.lineage
                if link.kind not in PREFIX_KINDS
                or (not link.split_turn and link.parent != descent.parent)
            ]
            links = (descent.link, *kept)
            if set(links) != set(thread.lineage):
                yield relinked(thread, links)
        for member in members:
            yield from self.agents.found(member.whole)


def _sorted(names: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(sorted({name for some in names for name in some}))


def _depth(identity: str, parents: dict[str, Descent]) -> int:
    depth = 0
    while identity in parents and depth < len(parents):
        identity = parents[identity].parent
        depth += 1
    return depth


def _path(member: _Member, *, better: bool) -> tuple[int, ...]:
    numbers = member.numbering.numbers
    run = tuple(numbers[place] for place in member.whole.path)
    known = member.known
    if known is None:
        return run
    if member.whole.base is not None:
        return member.whole.base.path + run if better else known.path
    told_anew = member.numbering.revised or member.whole.heads[0].placed
    if not told_anew and not set(numbers) & {turn.number for turn in member.past}:  # a second half
        return known.path + run
    return run if better else known.path


def _was_unmasked(member: _Member) -> bool:
    """Whether words of a thread were stored as they were: no later run takes them back."""
    return member.known is not None and UNMASKED in member.known.flags


def _longer(whole: Whole) -> list[str]:
    """Fingerprints of the turns that are long enough to tell a copy by."""
    return [turn.fingerprint for turn in whole.turns if len(turn.text) >= LEAST]


def _meets(known: Thread, whole: Whole, files: Sequence[str]) -> bool:
    """Whether a stored thread of that id is the same one: something in common, or a half."""
    if any(head.first_parent is not None for head in whole.heads):
        return True
    if is_derived(whole.heads[0]) and known.turns:
        told_by = {turn.anchor.file for turn in known.turns if turn.anchor is not None}
        said = [" ".join(turn.text.split()) for turn in known.clean()]
        return told_by.issubset(files) or begin_alike(said, told(whole.turns))
    placed = whole.heads[0].placed  # then a key only says that the place is called alike
    keys = set() if placed else {turn.native_key for turn in known.turns} - {None}
    prints = {turn.fingerprint for turn in known.turns}
    folded = {" ".join(turn.text.split()) for turn in known.turns}
    for turn in whole.turns:
        if turn.raw.key in keys or turn.fingerprint in prints:
            return True
        if " ".join(turn.text.split()) in folded:
            return True
    return not known.turns
