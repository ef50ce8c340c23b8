"""Identity of threads and turns: native ids, carriers of one thread, turn numbers."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from graphstore.ids import digest, fingerprint, thread_id
from graphstore.model.conversation import Role, Thread, Turn
from ingest.base import Base
from ingest.clean import CleanThread, CleanTurn, say_alike
from ingest.model import RawThread, Tally
from ingest.options import Options
from ingest.settle import settle

_PAST: Final = datetime(1, 1, 1, tzinfo=UTC)
FAR: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""Sorts what has no time behind what has one."""
COLLISION_HEX: Final = 12
OPENING: Final = 2
"""Turns that logs without ids have in common if they are one, and a greeting has not."""


@dataclass(slots=True)
class Whole:
    """One thread of the run, put together from all its carriers."""

    native_id: str
    heads: list[RawThread]
    """Native facts of its carriers, the best first."""
    turns: list[CleanTurn]
    """Best carrier in reading order for logs, number order for trees; then what only weaker
    carriers hold."""
    path: list[int]
    """Indexes into ``turns``."""
    carriers: list[int]
    live: bool = False
    held: bool = False
    """A last message waits until it cannot grow any more."""
    naive: bool = False
    passed_keys: set[str] = field(default_factory=set)
    passed_words: set[str] = field(default_factory=set)
    commands: int = 0
    """How many of the events of its first head, the last ones, tell of commands."""
    base: Base | None = None
    """What is stored of it before its turns, where its carrier was read on from a place."""

    @property
    def source(self) -> str:
        return self.heads[0].source

    @property
    def thread_id(self) -> str:
        return thread_id(self.source, self.native_id)


def derived_id(thread: CleanThread) -> str:
    """Native id of a thread that has none: from its beginning if it may grow, else from all."""
    words = [turn for turn in thread.turns if turn.clean]
    if not words:
        return digest("no words", [turn.fingerprint for turn in thread.turns])
    if not thread.raw.growing:
        return digest([turn.fingerprint for turn in words])
    humans = [turn for turn in words if turn.raw.role == "human"]
    times = [turn.at for turn in thread.turns if turn.at is not None]
    first = thread.raw.started_at or (times[0] if times else None)
    moment = None if first is None else first.astimezone(UTC).isoformat()
    return digest((humans or words)[0].fingerprint, moment)


# --- carriers


def merge(
    native_id: str,
    threads: Sequence[CleanThread],
    tallies: Sequence[Tally],
    options: Options,
    is_stored: Callable[[Whole], bool] = lambda _: False,
) -> list[Whole]:
    """Put together the carriers of one native id; two if they have nothing in common.

    Of strangers, the one that ``is_stored`` under the id keeps it, else the first.

    Halves of a split file are joined, copies are merged: the path is that of the best carrier,
    what only others hold stands off it.
    """
    parts = [_settled(chain, native_id, tallies, options) for chain in chains(threads)]
    if len(parts) > 1:
        parts.sort(key=_goodness)
    groups: list[list[Whole]] = []
    for part in parts:
        group = next((one for one in groups if any(_related(part, other) for other in one)), None)
        if group is None:
            groups.append([part])
        else:
            group.append(part)
    merged = [_merged(group) for group in groups]
    if len(merged) > 1:
        merged.sort(key=lambda one: (not is_stored(one), *_firstness(one)))
    for index, other in enumerate(merged):
        if index:
            other.native_id = collided_id(other)
            tallies[other.carriers[0]].note("id_collision", other.thread_id)
    return merged


def collided_id(whole: Whole) -> str:
    """Native id of a thread whose own id is taken by a stranger."""
    first = whole.turns[0].fingerprint.removeprefix("b2:")
    if is_derived(whole.heads[0]):  # then its beginning is what both have in common
        first = digest([turn.fingerprint for turn in whole.turns[:OPENING]])
    return f"{whole.native_id}~{first[:COLLISION_HEX]}"


def chains(threads: Sequence[CleanThread]) -> list[list[CleanThread]]:
    """Carriers in runs of which each goes on where the one before it ends."""
    if len(threads) == 1:  # nearly always
        return [list(threads)]
    waiting = sorted(threads, key=_start)
    found: list[list[CleanThread]] = []
    for thread in waiting:
        chain = next((one for one in found if _continues(one, thread)), None)
        if chain is None:
            found.append([thread])
        else:
            chain.append(thread)
    return found


def _start(thread: CleanThread) -> tuple[bool, datetime, str]:
    """Halves in the order of time; the one that names no parent first."""
    times = [turn.at for turn in thread.turns if turn.at is not None]
    first = min(times, default=FAR)
    fingerprint = thread.turns[0].fingerprint if thread.turns else ""
    return thread.raw.first_parent is not None, first, fingerprint


def _continues(chain: list[CleanThread], thread: CleanThread) -> bool:
    """Whether a carrier's first record has its parent in the chain, and nothing is told twice."""
    parent = thread.raw.first_parent
    if parent is None:
        return False
    keys = {key for one in chain for key in _all_keys(one)}
    return parent in keys and keys.isdisjoint(_all_keys(thread))


def _all_keys(thread: CleanThread) -> set[str]:
    keys = set(thread.raw.record_keys)
    for turn in thread.turns:
        keys.update(turn.raw.keys)
    return keys


def _settled(
    chain: list[CleanThread], native_id: str, tallies: Sequence[Tally], options: Options
) -> Whole:
    """One carrier, or a chain of halves, with the interim rule applied."""
    last = chain[-1]
    turns = _joined(chain)
    settled = settle(
        turns,
        tallies,
        options,
        agent=last.raw.agent,
        closed=last.closed,
        open_ended=last.raw.open_ended,
    )
    ordered = _tree_order(settled.turns) if last.raw.tree else settled.turns
    return Whole(
        native_id=native_id,
        heads=[one.raw for one in chain],
        turns=ordered,
        path=[place for place, turn in enumerate(ordered) if not turn.raw.alternative],
        carriers=[one.carrier for one in chain],
        live=settled.live,
        held=settled.held,
        naive=any(one.naive for one in chain),
        passed_keys=settled.passed_keys,
        passed_words=settled.passed_words,
        commands=chain[0].commands,
        base=chain[0].base,
    )


def _joined(chain: list[CleanThread]) -> list[CleanTurn]:
    """Turns of halves, one after the other."""
    turns = list(chain[0].turns)
    for before, after in pairwise(chain):
        if before.raw.tail_calls:
            _give_calls(before.raw.tail_calls, after.turns)
        turns.extend(after.turns)
    return turns


def _give_calls(calls: tuple[tuple[str, int], ...], turns: list[CleanTurn]) -> None:
    """Calls at the end of one half belong to the first answer of the next."""
    for turn in turns:
        if turn.raw.role == "assistant":
            turn.calls = (*calls, *turn.calls)
            return


def _tree_order(turns: list[CleanTurn]) -> list[CleanTurn]:
    """Turns by effective time (never before the parent's), depth and native key."""
    by_key: dict[str | None, CleanTurn] = {turn.raw.key: turn for turn in turns if turn.raw.key}
    moments: dict[int, tuple[datetime, int]] = {}
    for turn in turns:
        _effective(turn, by_key, moments)
    return sorted(turns, key=lambda turn: (*moments[id(turn)], turn.raw.key or ""))


def _effective(
    turn: CleanTurn,
    by_key: dict[str | None, CleanTurn],
    moments: dict[int, tuple[datetime, int]],
) -> None:
    """Fill in time and depth of a turn and of all above it; iterative, cycles end the walk."""
    chain: list[CleanTurn] = []
    seen: set[int] = set()
    at: CleanTurn | None = turn
    while at is not None and id(at) not in moments and id(at) not in seen:
        seen.add(id(at))
        chain.append(at)
        at = by_key.get(at.raw.parent) if at.raw.parent is not None else None
    above = moments.get(id(at), (_PAST, 0)) if at is not None else (_PAST, 0)
    for one in reversed(chain):
        above = (max(above[0], one.at or _PAST), above[1] + 1)
        moments[id(one)] = above


def _goodness(whole: Whole) -> tuple[int, int, float, str]:
    """Best carrier first: rank, clean turns on the path, last time, smallest content hash."""
    clean = sum(whole.turns[place].clean for place in whole.path)
    times = [turn.at for turn in whole.turns if turn.at is not None]
    last = max(times).timestamp() if times else 0.0
    content = digest([turn.fingerprint for turn in whole.turns])
    return min(head.rank for head in whole.heads), -clean, -last, content


def _firstness(whole: Whole) -> tuple[datetime, str]:
    times = [turn.at for turn in whole.turns if turn.at is not None]
    first = whole.turns[0].fingerprint if whole.turns else ""
    return min(times, default=FAR), first


def _related(one: Whole, other: Whole) -> bool:
    """Whether two carriers share a record or a turn, or one says nothing.

    Where ids and keys only stand for a place, words decide.
    """
    if not one.turns or not other.turns:
        return True
    keys = {key for turn in one.turns for key in turn.raw.keys} | one.passed_keys
    theirs = {key for turn in other.turns for key in turn.raw.keys} | other.passed_keys
    if not keys.isdisjoint(theirs) and not one.heads[0].placed:
        return True
    if is_derived(one.heads[0]) and is_derived(other.heads[0]):
        return begin_alike(told(one.turns), told(other.turns))
    if _share_words(one, other):
        return True
    named = {head.first_parent for head in one.heads if head.first_parent}
    records = {key for head in other.heads for key in head.record_keys}
    back = {head.first_parent for head in other.heads if head.first_parent}
    mine = {key for head in one.heads for key in head.record_keys}
    return not named.isdisjoint(records | theirs) or not back.isdisjoint(mine | keys)


def is_derived(head: RawThread) -> bool:
    """Whether it is called by its beginning, so that a stranger may be called the same."""
    return head.native_id is None and head.growing and not head.placed


def begin_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether texts of two logs are of one: more than the opening, or one begins the other."""
    few, many = sorted((one, other), key=len)
    if not few:
        return True
    shared = list(few[:-1]) == list(many[: len(few) - 1])
    return few[:OPENING] == many[:OPENING] or (shared and many[len(few) - 1].startswith(few[-1]))


def told(turns: Sequence[CleanTurn]) -> list[str]:
    """Words of a log in the order they stand there, white space apart."""
    said = (turn for turn in turns if turn.clean and not turn.passing)
    return [" ".join(turn.text.split()) for turn in said]


def _share_words(one: Whole, other: Whole) -> bool:
    """Whether something said in one is said in the other."""
    return say_alike(one.turns, other.turns) or not _words(one).isdisjoint(_words(other))


def _words(whole: Whole) -> set[str]:
    return {turn.folded for turn in whole.turns} | whole.passed_words


def _merged(group: list[Whole]) -> Whole:
    best, *others = group
    for other in others:
        _take_in(best, other)
    return best


def _take_in(best: Whole, other: Whole) -> None:
    """Add what only a weaker carrier holds, off the path."""
    keys = {key for turn in best.turns for key in turn.raw.keys}
    prints = {turn.fingerprint for turn in best.turns}
    strange = [turn for turn in other.turns if turn.fingerprint not in prints]
    roles = {turn.raw.role for turn in strange}
    folded = {turn.folded for turn in best.turns if turn.raw.role in roles} | best.passed_words
    for turn in strange:
        own = turn.raw.keys
        known_key = not keys.isdisjoint(own) or not best.passed_keys.isdisjoint(own)
        unfinished = known_key and turn.raw.key is not None and _unrevised(best, turn)
        if turn.folded not in folded and not unfinished:
            best.turns.append(turn)
    best.heads.extend(other.heads)
    best.carriers.extend(other.carriers)
    best.live = best.live and other.live
    best.naive = best.naive or other.naive


def _unrevised(best: Whole, turn: CleanTurn) -> bool:
    """Whether a message of a weaker carrier is only an unfinished state of a better one's."""
    return turn.raw.key in best.passed_keys or any(
        one.raw.key == turn.raw.key and one.text.startswith(turn.text) for one in best.turns
    )


# --- numbers


@dataclass(slots=True)
class Numbering:
    """Numbers of the turns of a thread, and what became of the turns that were known."""

    numbers: list[int]
    """Of each turn of the run."""
    fresh: list[int]
    """Indexes of turns that are new."""
    revised: list[tuple[int, int]]
    """(number of the old turn, number of the one that replaced it)."""
    gone: list[int]
    """Numbers of known turns that the run does not hold."""


def first_numbers(count: int) -> Numbering:
    """Numbers of a thread that was never seen."""
    return Numbering(list(range(1, count + 1)), list(range(count)), [], [])


def match(known: Sequence[Turn], turns: Sequence[CleanTurn], following: int = 0) -> Numbering:
    """Find known turns again: by native key if it is unique, else by runs of equal prints.

    ``known`` are all known turns by number, or those that ``turns`` may be; ``following`` is
    then the number that comes after all. New turns get the next numbers; a turn whose key
    is known with other words is a revision of that turn.
    """
    found: dict[int, int] = {}
    revised: list[tuple[int, int]] = []
    _match_keys(known, turns, found, revised)
    _match_runs(known, turns, found)
    _match_folded(known, turns, found)
    following = following or max((turn.number for turn in known), default=0) + 1
    numbers: list[int] = []
    fresh: list[int] = []
    for place in range(len(turns)):
        if place not in found:
            fresh.append(place)
            found[place] = following
            following += 1
        numbers.append(found[place])
    held = set(numbers) | {old for old, _ in revised}
    gone = [turn.number for turn in known if turn.number not in held and not turn.superseded_by]
    return Numbering(numbers, fresh, [(old, numbers[place]) for old, place in revised], gone)


def _match_keys(
    known: Sequence[Turn],
    turns: Sequence[CleanTurn],
    found: dict[int, int],
    revised: list[tuple[int, int]],
) -> None:
    current = [turn for turn in known if turn.native_key and not turn.superseded_by]
    seen = Counter(turn.native_key for turn in current)
    theirs = Counter(turn.raw.key for turn in turns)
    by_key = {turn.native_key: turn for turn in current if seen[turn.native_key] == 1}
    earlier = {(turn.native_key, turn.fingerprint): turn.number for turn in known}
    for place, turn in enumerate(turns):
        old = by_key.get(turn.raw.key) if theirs[turn.raw.key] == 1 else None
        if old is None:
            continue
        number = earlier.get((turn.raw.key, turn.fingerprint))
        if number is not None:
            found[place] = number
        else:
            revised.append((old.number, place))


def _match_runs(known: Sequence[Turn], turns: Sequence[CleanTurn], found: dict[int, int]) -> None:
    """Longest common prefix, then suffix, of what is not found yet."""
    taken = set(found.values())
    old = [turn for turn in known if turn.number not in taken and not turn.superseded_by]
    new = [place for place in range(len(turns)) if place not in found]
    start = 0
    while start < min(len(old), len(new)) and _same(old[start], turns[new[start]]):
        found[new[start]] = old[start].number
        start += 1
    end = 1
    while end <= min(len(old), len(new)) - start and _same(old[-end], turns[new[-end]]):
        found[new[-end]] = old[-end].number
        end += 1


def _same(old: Turn, turn: CleanTurn) -> bool:
    keys = old.native_key, turn.raw.key
    return old.fingerprint == turn.fingerprint and (None in keys or keys[0] == keys[1])


def _match_folded(known: Sequence[Turn], turns: Sequence[CleanTurn], found: dict[int, int]) -> None:
    """A rendering tells the same words with other white space, at other places."""
    taken = set(found.values())
    waiting: dict[str, list[int]] = {}
    for old in known:
        if old.number not in taken and not old.superseded_by:
            waiting.setdefault(_folded(old), []).append(old.number)
    keyless = all(turn.raw.key is None for turn in turns)
    if not keyless and any(turn.native_key is not None for turn in known):
        return
    for place, turn in enumerate(turns):
        numbers = waiting.get(turn.folded) if place not in found else None
        if numbers:
            found[place] = numbers.pop(0)


def _folded(turn: Turn) -> str:
    return fingerprint(turn.role, " ".join(turn.text.split()))


def outgrown(known: Sequence[Turn], whole: Whole, numbering: Numbering) -> Numbering:
    """Tell which known turns were answers only as long as nothing better was said.

    A carrier at rest has the last thing said on the way as its answer. If it goes on after all,
    that was said in passing: the answer that came takes its place, as if its text had changed.
    """
    revised: list[tuple[int, int]] = []
    for turn in known:
        if turn.number in numbering.gone and turn.anchor is not None:
            passed = turn.native_key in whole.passed_keys or _folded(turn) in whole.passed_words
            place = _answer_after(turn.anchor.offset, whole) if passed else None
            if place is not None:
                revised.append((turn.number, numbering.numbers[place]))
    if not revised:
        return numbering
    taken = {old for old, _ in revised}
    left = [number for number in numbering.gone if number not in taken]
    return Numbering(numbering.numbers, numbering.fresh, [*numbering.revised, *revised], left)


def _answer_after(offset: int | None, whole: Whole) -> int | None:
    """Index of the answer of the exchange that something at an offset was said in."""
    for place in whole.path if offset is not None else ():
        turn = whole.turns[place]
        if (turn.raw.offset or 0) <= (offset or 0):
            continue
        if turn.raw.role is Role.HUMAN:
            return None
        if turn.raw.role is Role.ASSISTANT and not turn.interim:
            return place
    return None


def richer(known: Thread, whole: Whole, numbering: Numbering) -> bool:
    """Whether the run's carrier gives the path: it holds all of the old one, or is better."""
    before = whole.base.turns if whole.base is not None else ()
    keyed_before = any(turn.native_key for turn in known.turns)
    keyed_now = any(turn.raw.key for turn in whole.turns)
    if keyed_before != keyed_now:  # a rendering holds no native ids
        return keyed_now
    held = set(numbering.numbers) | {old for old, _ in numbering.revised}
    held.update(turn.number for turn in before)
    if held.issuperset(known.path):
        return True
    clean = sum(whole.turns[place].clean for place in whole.path)
    on_path = set(whole.base.path if whole.base is not None else ())
    clean += sum(turn.number in on_path and turn.role is not Role.OTHER for turn in before)
    return clean >= len(known.clean())


__all__ = [
    "Numbering",
    "Whole",
    "begin_alike",
    "chains",
    "collided_id",
    "derived_id",
    "first_numbers",
    "is_derived",
    "match",
    "merge",
    "outgrown",
    "richer",
    "told",
]
