"""Families of threads to records: numbers, lineage, titles, and what changed of known threads."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

from graphstore.ids import thread_id
from graphstore.model.carrier import FileState, PendingTitle
from graphstore.model.conversation import (
    Anchor,
    Event,
    LineageKind,
    LineageLink,
    Role,
    Taint,
    Thread,
    ThreadState,
    ToolCount,
    ToolUse,
    Turn,
)
from graphstore.model.record import ThreadRecord, TurnChange
from ingest.clean import CleanThread, CleanTurn, choose_title
from ingest.identity import Numbering, Whole, collided_id, first_numbers, match, merge, richer
from ingest.lineage import (
    PREFIX_KINDS,
    Bead,
    Descent,
    Strand,
    descents,
    holder,
    of_known,
    pending_links,
)
from ingest.model import Source, Tally, TitleCandidate
from ingest.options import Options
from ingest.settle import counted

SPAWNED: Final = "subagent"
"""Kind of the event that names a spawned thread and the turn it was spawned at."""
EXPORT: Final = 2
"""Rank of carriers that are exports."""
FAMILY: Final = 200
"""Known relatives looked at for one family."""
_WIKILINK: Final = re.compile(r"!?\[\[(?P<name>[^\[\]|#^\n]*[^\[\]|#^\s])[^\[\]\n]*\]\]")
"""``[[name]]``, with what may follow the name: a heading, a block, other words to show."""
_CHAIN: Final = 1000
"""Threads that one may descend through."""


class Known(Protocol):
    """What the store knows: a read view, nothing is opened through it."""

    def thread(self, thread_id: str) -> Thread | None:
        """A stored thread with the turns that it stores itself."""

    def holding(self, source: str, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Ids of the threads of a source that store a turn with one of these native keys."""

    def descendants(self, thread_id: str) -> tuple[str, ...]:
        """Ids of the threads whose lineage names it as parent."""

    def forgotten(self, thread_id: str) -> bool:
        """Whether the owner had it forgotten."""

    def file(self, path: str) -> FileState | None:
        """State of a carrier when it was last read."""

    def titles(self) -> tuple[PendingTitle, ...]:
        """Titles that wait for their thread."""


@dataclass(slots=True)
class Carrier:
    """One file or member of the run that was read."""

    source: Source
    reader: str
    version: int
    tally: Tally
    closed: bool = True
    thread_ids: dict[str, None] = field(default_factory=dict)
    live: bool = False
    titles: list[PendingTitle] = field(default_factory=list)
    """Offered by it for any thread."""


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
        self.titles: dict[str, str] = {}
        for title in sorted(titles, key=lambda one: one.text):  # files come in any order
            self.titles.setdefault(title.leaf, title.text)
        self.resolved: set[str] = set()
        self.spawners = spawners
        self.spawned: dict[str, int] = {}
        """Thread id of an agent -> number of the turn that spawned it."""
        self.asked: dict[str, list[Turn]] = {}
        """Thread id of a spawner -> its turns."""
        self.tallies = [carrier.tally for carrier in carriers]

    def family(self, threads: Sequence[tuple[str, CleanThread]]) -> Iterator[Assembled]:
        """Records of one family, parents before children; (native id, thread) of all carriers."""
        members = [self._member(whole) for whole in self._wholes(threads)]
        found = [one for one in members if one is not None]
        strands = {one.whole.thread_id: self._strand(one) for one in found}
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
            self._count_copies(carriers)
            for whole in merge(natives[identity], carriers, self.tallies, self.options):
                if whole.turns:
                    yield whole
                elif not whole.held:
                    head = whole.heads[0]
                    self.tallies[whole.carriers[0]].note("empty_thread", head.where or None)

    def _count_copies(self, carriers: Sequence[CleanThread]) -> None:
        """Count carriers of one thread beyond the first, unless they are halves of a file."""
        seen: list[CleanThread] = []
        for thread in carriers:
            twin = next((one for one in seen if _overlap(one, thread)), None)
            if twin is not None:
                code = "duplicate_thread" if self._one_export(twin, thread) else "duplicate_carrier"
                where = thread.raw.where or None
                self.tallies[thread.carrier].note(
                    code, where if code == "duplicate_thread" else None
                )
            seen.append(thread)

    def _one_export(self, one: CleanThread, other: CleanThread) -> bool:
        """Whether two carriers are one file, or shards of one export."""
        first = self.carriers[one.carrier].source
        second = self.carriers[other.carrier].source
        one_archive = first.check is not None and first.root == second.root
        exported = one.raw.rank == EXPORT and _folder(first) == _folder(second)
        shards = exported and _is_shard(first, second)
        return first is second or one_archive or shards

    # --- what is known

    def _member(self, whole: Whole) -> _Member | None:
        if whole.heads[0].placed:
            whole.native_id = self._of_place(whole)
        known = self.known.thread(whole.thread_id)
        if known is not None and not (self._is_of(whole, known) or _meets(known, whole)):
            self.tallies[whole.carriers[0]].note("id_collision", whole.thread_id)
            whole.native_id = collided_id(whole)
            known = self.known.thread(whole.thread_id)
        if self.known.forgotten(whole.thread_id):
            self.tallies[whole.carriers[0]].note("forgotten", whole.thread_id)
            return None
        if known is None:
            return _Member(whole, None, (), first_numbers(len(whole.turns)))
        past = self._past(known)
        return _Member(whole, known, past, match(past, whole.turns))

    def _of_place(self, whole: Whole) -> str:
        """Native id of a thread known by its place: that of its file, or of where it was before."""
        for carrier in whole.carriers:
            row = self.known.file(self.carriers[carrier].source.path)
            known = (
                self.known.thread(row.thread_ids[0]) if row and len(row.thread_ids) == 1 else None
            )
            if known is not None and known.source == whole.source:
                return known.native_id
        key = whole.turns[0].raw.key
        if key is None or self.known.thread(whole.thread_id) is not None:
            return whole.native_id
        words = [whole.turns[place].fingerprint for place in whole.path]
        for identity in sorted(self.known.holding(whole.source, (key,)))[:FAMILY]:
            known = self.known.thread(identity)
            if (
                known
                and [turn.fingerprint for turn in known.on_path()] == words
                and _is_gone(known)
            ):
                return known.native_id
        return whole.native_id

    def _is_of(self, whole: Whole, known: Thread) -> bool:
        """Whether a known thread stands for the file of this one, whatever it says now."""
        here = {self.carriers[one].source.path for one in whole.carriers}
        return whole.heads[0].placed and (not here.isdisjoint(_files(known)) or _is_gone(known))

    def _past(self, thread: Thread) -> tuple[Turn, ...]:
        """All known turns of a thread by number; a shared prefix comes from its parents."""
        turns = {turn.number: turn for turn in thread.turns}
        at = thread
        for _ in range(_CHAIN):
            link = next((one for one in at.lineage if one.kind in PREFIX_KINDS), None)
            parent = self.known.thread(link.parent) if link is not None else None
            if link is None or parent is None:
                break
            for turn in parent.turns:
                if turn.number <= (link.split_turn or 0):
                    turns.setdefault(turn.number, turn)
            at = parent
        return tuple(turns[number] for number in sorted(turns))

    def _strand(self, member: _Member) -> Strand:
        whole = member.whole
        beads = {
            turn.number: Bead(turn.native_key, turn.fingerprint, turn.at) for turn in member.past
        }
        for number, turn in zip(member.numbering.numbers, whole.turns, strict=True):
            beads[number] = Bead(turn.raw.key, turn.fingerprint, turn.at)
        leading = [beads[number] for number in range(1, len(beads) + 1) if number in beads]
        pointers = [one for head in whole.heads for one in head.pointers]
        agent = any(one.kind is LineageKind.SUBAGENT_OF for one in pointers)
        forks = [one.native_id for one in pointers if one.kind is LineageKind.FORKED_FROM]
        return Strand(
            thread_id=whole.thread_id,
            source=whole.source,
            native_id=whole.native_id,
            beads=tuple(leading),
            count=len(beads),
            sharing="none" if agent else whole.heads[0].sharing,
            forks=tuple(dict.fromkeys(forks)),
            background=any(head.background for head in whole.heads),
            above=holder(member.known.lineage) if member.known is not None else None,
            names=frozenset(name for head in whole.heads for name in head.native_ids),
        )

    def _relatives(
        self, members: Sequence[_Member], strands: dict[str, Strand]
    ) -> dict[str, Strand]:
        """Strands of known threads that may share turns with those of the run."""
        found: dict[str, Strand] = {}
        waiting = [one for member in members for one in self._named(member, strands)]
        while waiting and len(found) < FAMILY:
            identity = waiting.pop(0)
            thread = None if identity in found else self.known.thread(identity)
            if thread is None:
                continue
            if identity not in strands:
                found[identity] = self._known_strand(thread)
            links = [link.parent for link in thread.lineage if link.kind in PREFIX_KINDS]
            near = (*links, *self.known.descendants(identity))
            waiting.extend(one for one in near if one not in found and one not in strands)
        return found

    def _named(self, member: _Member, strands: dict[str, Strand]) -> Iterator[str]:
        """Ids of known threads that a thread of the run names or shares its first turn with."""
        strand = strands[member.whole.thread_id]
        if strand.sharing == "none":
            return
        yield from (thread_id(strand.source, native) for native in strand.forks)
        first = strand.beads[0].key if strand.beads else None
        if first is not None:
            yield from self.known.holding(strand.source, (first,))
        yield strand.thread_id
        yield from self.known.descendants(strand.thread_id)

    def _known_strand(self, thread: Thread) -> Strand:
        strand = of_known(thread, self._past(thread))
        if any(link.kind is LineageKind.SUBAGENT_OF for link in thread.lineage):
            strand.sharing = "none"
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
        self._remember_spawns(member)
        at_hand = [*strands, *relatives]
        lineage = self._lineage(member, strands[whole.thread_id], descent, at_hand)
        newest = whole.heads[0].placed  # what a file says now is what the thread is
        better = known is None or newest or richer(known, whole, member.numbering)
        path = _path(member, better=better)
        record = self._head(member, better=better).replace(
            lineage=lineage,
            turns=turns,
            changes=self._changes(member, better=better),
            path=path,
            citations=_citations((*member.past, *turns), path),
        )
        for carrier in whole.carriers:
            self.carriers[carrier].thread_ids.setdefault(whole.thread_id)
            self.carriers[carrier].live = self.carriers[carrier].live or whole.live
        same = known is not None and not _says_more(record, known)
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
        if self.spawners and member.whole.thread_id in self.spawners:
            self.asked[member.whole.thread_id] = [
                self._turn(number, turn)
                for number, turn in zip(numbers, member.whole.turns, strict=True)
                if turn.raw.role is not Role.ASSISTANT
            ]
        return tuple(sorted(fresh, key=lambda turn: turn.number))

    def _turn(self, number: int, turn: CleanTurn) -> Turn:
        raw = turn.raw
        counts = tuple(ToolCount(name=name, count=n) for name, n in counted(turn.calls).items())
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
            tools=ToolUse(counts=counts, touched=turn.touched),
            masked=turn.masked,
            anchor=Anchor(
                file=self.carriers[turn.carrier].source.path,
                line=raw.line,
                offset=raw.offset,
                length=raw.length,
            ),
        )

    def _remember_spawns(self, member: _Member) -> None:
        source = member.whole.source
        for number, turn in zip(member.numbering.numbers, member.whole.turns, strict=True):
            for native in turn.raw.spawned:
                self.spawned.setdefault(thread_id(source, native), number)

    def _changes(self, member: _Member, *, better: bool) -> tuple[TurnChange, ...]:
        carrier = self.tallies[member.whole.carriers[0]]
        changes = [
            TurnChange(number=old, superseded_by=new) for old, new in member.numbering.revised
        ]
        for change in changes:
            carrier.note("turn_revised", f"{member.whole.thread_id}#turn:{change.number}")
        files = {self.carriers[one].source.path for one in member.whole.carriers}
        gone = set(member.numbering.gone) if better else set()
        for turn in member.past:
            here = turn.anchor is not None and turn.anchor.file in files
            here = here and turn.native_key not in member.whole.passed_keys
            if turn.number in gone and here and not turn.source_gone:
                changes.append(TurnChange(number=turn.number, source_gone=True))
                carrier.note("source_gone", f"{member.whole.thread_id}#turn:{turn.number}")
        return tuple(changes)

    def _head(self, member: _Member, *, better: bool) -> ThreadRecord:
        """A record with all but turns and lineage; a weaker carrier changes no title."""
        whole, known = member.whole, member.known
        heads = whole.heads
        state = ThreadState.LIVE if whole.live else ThreadState.CLOSED
        if known is not None and not better:
            return _relinked(known, ())
        times = _times(whole) + [turn.at for turn in member.past if turn.at is not None]
        project = next((head for head in heads if head.project is not None), heads[0])
        return ThreadRecord(
            thread_id=whole.thread_id,
            source=whole.source,
            native_id=whole.native_id,
            title=self._title(whole),
            project=project.project,
            participants=_sorted(head.participants for head in heads),
            models=_sorted(head.models for head in heads),
            native_ids=_sorted(head.native_ids for head in heads),
            started_at=min(times, default=None),
            ended_at=max(times, default=None),
            flags=self._flags(whole, sure=project.project_sure),
            state=state,
            events=self._events(member),
        )

    def _flags(self, whole: Whole, *, sure: bool) -> tuple[str, ...]:
        flags = (
            ("naive_time", whole.naive),
            ("unmasked", not self.options.mask),
            ("unsure_project", not sure),
        )
        return tuple(name for name, raised in flags if raised)

    def _events(self, member: _Member) -> tuple[Event, ...]:
        whole = member.whole
        spawns = [
            Event(kind=SPAWNED, at=turn.at, detail=f"{thread_id(whole.source, native)} {number}")
            for number, turn in zip(member.numbering.numbers, whole.turns, strict=True)
            for native in turn.raw.spawned
        ]
        return (*(event for head in whole.heads[:1] for event in head.events), *spawns)

    def _title(self, whole: Whole) -> str | None:
        candidates = [title for head in whole.heads for title in head.titles]
        last: str | None = None
        for key in _record_keys(whole) if self.titles else ():
            if key in self.titles:
                self.resolved.add(key)
                last = self.titles[key]
        if last is not None:
            candidates.append(TitleCandidate("summary", last))
        turns = ((whole.turns[place].raw.role, whole.turns[place].text) for place in whole.path)
        return choose_title(tuple(candidates), tuple(turns))

    def late_titles(self) -> Iterator[ThreadRecord]:
        """Titles offered by this run for threads that it does not hold but the store does."""
        for carrier in self.carriers:
            for title in carrier.titles:
                if title.leaf in self.resolved:
                    continue
                for identity in self.known.holding(carrier.reader, (title.leaf,))[:1]:
                    self.resolved.add(title.leaf)
                    thread = self.known.thread(identity)
                    if thread is not None and _is_unnamed(thread):
                        yield _relinked(thread, thread.lineage).replace(title=title.text)

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
        agents = self._agent_links(member)
        old = member.known.lineage if member.known is not None else ()
        told = {link.parent for link in (*links, *missing, *agents)}
        kept = [
            link
            for link in old
            if link.parent not in told and not (descent and link.kind in PREFIX_KINDS)
        ]
        tally = self.tallies[member.whole.carriers[0]]
        for link in (*missing, *agents):
            if link in missing or self._is_missing(link):
                tally.note("parent_missing", member.whole.thread_id)
        return (*links, *missing, *agents, *kept)

    def _agent_links(self, member: _Member) -> tuple[LineageLink, ...]:
        whole = member.whole
        parents = [
            thread_id(whole.source, one.native_id)
            for head in whole.heads
            for one in head.pointers
            if one.kind is LineageKind.SUBAGENT_OF
        ]
        return tuple(self._agent_link(whole, parent) for parent in dict.fromkeys(parents))

    def _agent_link(self, whole: Whole, parent: str) -> LineageLink:
        split = self.spawned.get(whole.thread_id)
        stored = self.known.thread(parent) if split is None else None
        if split is None and stored is not None:
            split = _told_spawn(stored, whole.thread_id)
        if split is None:
            turns = self.asked.get(parent) or (stored.turns if stored is not None else ())
            split = _asked_before(turns, whole)
        return LineageLink(kind=LineageKind.SUBAGENT_OF, parent=parent, split_turn=split)

    def _is_missing(self, link: LineageLink) -> bool:
        return link.parent not in self.asked and self.known.thread(link.parent) is None

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
                yield _relinked(thread, links)
        yield from self._found_spawners(members)

    def _found_spawners(self, members: Sequence[_Member]) -> Iterator[ThreadRecord]:
        """Known agents whose spawner was not known so far."""
        for member in members:
            parent = member.whole.thread_id
            for identity in sorted(self.known.descendants(parent)):
                thread = self.known.thread(identity)
                split = self.spawned.get(identity)
                waiting = LineageLink(kind=LineageKind.SUBAGENT_OF, parent=parent)
                if thread is not None and split is not None and waiting in thread.lineage:
                    found = waiting.replace(split_turn=split)
                    links = tuple(found if link == waiting else link for link in thread.lineage)
                    yield _relinked(thread, links)


def _is_unnamed(thread: Thread) -> bool:
    """Whether a stored thread has no title but its first question."""
    said = tuple((turn.role, turn.text) for turn in thread.on_path())
    return thread.title in (None, choose_title((), said))


def _relinked(thread: Thread, links: tuple[LineageLink, ...]) -> ThreadRecord:
    """A record that only tells another lineage of a known thread."""
    head = {name: getattr(thread, name) for name in Thread.model_fields if name != "turns"}
    named = _citations(thread.turns, thread.path)
    return ThreadRecord.model_validate({**head, "lineage": links, "citations": named})


def _citations(turns: Iterable[Turn], path: Sequence[int]) -> tuple[str, ...]:
    """Names of notes that the turns of the main line link to, as written, sorted."""
    on_path = set(path)
    links = (link for turn in turns if turn.number in on_path for link in turn.links)
    named = (_WIKILINK.fullmatch(link) for link in links)
    return tuple(sorted({found["name"].strip() for found in named if found is not None}))


def _times(whole: Whole) -> list[datetime]:
    """Every time that turns and the heads of the best carriers tell."""
    times = [turn.at for turn in whole.turns if turn.at is not None]
    for head in whole.heads:
        if head.rank != whole.heads[0].rank:
            continue
        times += [at for at in (head.started_at, head.ended_at) if at is not None]
    return times


def _record_keys(whole: Whole) -> Iterator[str]:
    for head in whole.heads:
        yield from head.record_keys
    for turn in whole.turns:
        if turn.raw.key is not None:
            yield turn.raw.key
        yield from turn.raw.also


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
    told_anew = member.numbering.revised or member.whole.heads[0].placed
    if not told_anew and not set(numbers) & {turn.number for turn in member.past}:  # a second half
        return known.path + run
    return run if better else known.path


def _says_more(record: ThreadRecord, known: Thread) -> bool:
    if record.turns or record.changes:
        return True
    names = set(Thread.model_fields) - {"turns", "thread_id", "source", "native_id", "lineage"}
    if set(record.lineage) != set(known.lineage):
        return True
    return any(getattr(record, name) != getattr(known, name) for name in sorted(names))


def _overlap(one: CleanThread, other: CleanThread) -> bool:
    """Whether two carriers of one id tell the same, so that one is a copy."""
    if not one.turns or not other.turns:
        return one.raw.first_parent is None and other.raw.first_parent is None
    keys = set() if one.raw.placed else {turn.raw.key for turn in one.turns} - {None}
    if any(turn.raw.key in keys for turn in other.turns):
        return True
    words = {turn.folded for turn in one.turns}
    return any(turn.folded in words for turn in other.turns)


def _meets(known: Thread, whole: Whole) -> bool:
    """Whether a stored thread of that id is the same one: something in common, or a half."""
    if any(head.first_parent is not None for head in whole.heads):
        return True
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


def _files(known: Thread) -> set[str]:
    """Carriers that a stored thread was read from."""
    return {turn.anchor.file for turn in known.turns if turn.anchor is not None}


def _is_gone(known: Thread) -> bool:
    """Whether no file of a stored thread is there any more."""
    return not any(Path(file.partition("!")[0]).exists() for file in _files(known))


def _told_spawn(parent: Thread, child: str) -> int | None:
    for event in parent.events:
        named, _, number = (event.detail or "").rpartition(" ")
        if event.kind == SPAWNED and named == child and number.isdigit():
            return int(number)
    return None


def _asked_before(turns: Iterable[Turn], whole: Whole) -> int | None:
    """The last message of a person in the spawner that is not later than the agent's start."""
    starts = [turn.at for turn in whole.turns if turn.at is not None]
    if not starts:
        return None
    first = min(starts)
    earlier = [
        turn.number
        for turn in turns
        if turn.role is Role.HUMAN and turn.at is not None and turn.at <= first
    ]
    return max(earlier, default=None)


def _folder(src: Source) -> tuple[str, ...]:
    return src.parts[:-1]


def _is_shard(one: Source, other: Source) -> bool:
    """``conversations-000.json`` and its like."""
    stems = [src.parts[-1].rpartition(".")[0].rstrip("0123456789") for src in (one, other)]
    return one is not other and stems[0] == stems[1] and stems[0].endswith("-")
