"""Which of an agent's messages are answers: the interim rule, and what a live file may show."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from graphstore.model.conversation import Role
from ingest.clean import Calls, CleanTurn
from ingest.model import Tally
from ingest.options import Options


@dataclass(slots=True)
class Settled:
    """Turns to store, in source order, and what was decided about the rest."""

    turns: list[CleanTurn]
    live: bool = False
    """The carrier may still grow."""
    held: bool = False
    """The last message is held back."""
    passed_keys: set[str] = field(default_factory=set)
    """Native ids of interim messages that are not stored."""
    passed_words: set[str] = field(default_factory=set)
    """Their folded words."""


def settle(
    turns: Sequence[CleanTurn],
    tallies: Sequence[Tally],
    options: Options,
    *,
    agent: bool,
    closed: bool,
    open_ended: bool = False,
) -> Settled:
    """Apply the interim rule to the turns of one thread, and count their records.

    In an agent's transcript a message is interim if it holds a tool call or is directly
    followed by one; the source's own mark wins. Long ones are kept as such; a closed exchange
    without a final message has its last interim one as its answer. ``closed`` says that the
    carrier has come to rest: otherwise a last assistant message without a final stop mark is
    held back, and its records count as not read yet; where nothing marks the end of messages
    (``open_ended``), a last message of a person is, too: it might change the thread's very id.
    So are prompts typed ahead of an answer that has not come: it would stand before them.
    """
    kept = list(turns)
    live = not closed
    held = _held(kept, agent=agent, open_ended=open_ended) if live else []
    for turn in held:
        kept.pop()
        tallies[turn.counter].read(-turn.raw.records)
        tallies[turn.counter].note("held_back", turn.raw.line)
    if not agent:
        for turn in kept:
            tallies[turn.counter].drop("turn", turn.raw.records)
        return Settled(kept, live, bool(held))
    settled = _by_exchange(kept, tallies, options, live=live)
    settled.held = bool(held)
    return settled


def _held(turns: list[CleanTurn], *, agent: bool, open_ended: bool) -> list[CleanTurn]:
    """The last turns of a live file that wait."""
    if turns and (open_ended or _may_grow(turns[-1])):
        return turns[-1:]
    ahead = list(takewhile(lambda turn: turn.raw.ahead, reversed(turns)))
    before = turns[len(turns) - len(ahead) - 1 : len(turns) - len(ahead)]
    return ahead if agent and any(is_interim(turn) for turn in before) else []


def _may_grow(turn: CleanTurn) -> bool:
    return turn.raw.role is Role.ASSISTANT and not (turn.raw.stopped and not is_interim(turn))


def _by_exchange(
    turns: list[CleanTurn], tallies: Sequence[Tally], options: Options, *, live: bool
) -> Settled:
    settled = Settled([], live)
    waiting: list[tuple[str, int]] = []
    paths: set[str] = set()
    answers = _answers(turns, live=live)
    for index, turn in enumerate(turns):
        interim = is_interim(turn) and index not in answers
        if turn.passing or (interim and not _long_enough(turn, options)):
            waiting.extend(turn.calls)
            paths.update(turn.touched)
            settled.passed_words.add(turn.folded)
            settled.passed_keys.update(turn.raw.keys)
            tallies[turn.counter].drop("interim", turn.raw.records)
            continue
        turn.interim = interim
        if turn.raw.role is Role.ASSISTANT:
            turn.calls = (*waiting, *turn.calls)
            turn.touched = tuple(sorted(paths.union(turn.touched)))
            waiting, paths = [], set()
        settled.turns.append(turn)
        tallies[turn.counter].drop("turn", turn.raw.records)
    return settled


def _answers(turns: list[CleanTurn], *, live: bool) -> set[int]:
    """Indexes of the interim messages that are the answers of closed exchanges."""
    found: set[int] = set()
    last: int | None = None
    for index, turn in enumerate(turns):
        if _begins_exchange(turn):
            if last is not None:
                found.add(last)
            last = None
        elif turn.raw.role is Role.ASSISTANT and not turn.passing:
            last = index
    if last is not None and not live:
        found.add(last)
    spoken = _finally_spoken(turns)
    return {index for index in found if index not in spoken}


def _finally_spoken(turns: list[CleanTurn]) -> set[int]:
    """Indexes of the messages of exchanges that have a final one."""
    found: set[int] = set()
    exchange: list[int] = []
    final = False
    for index, turn in enumerate(turns):
        if _begins_exchange(turn):
            found.update(exchange if final else ())
            exchange, final = [], False
        elif turn.raw.role is Role.ASSISTANT:
            exchange.append(index)
            final = final or not is_interim(turn)
    found.update(exchange if final else ())
    return found


def _begins_exchange(turn: CleanTurn) -> bool:
    """A person's message; one that was typed ahead leaves the exchange before it open."""
    return turn.raw.role is Role.HUMAN and not turn.raw.ahead


def is_interim(turn: CleanTurn) -> bool:
    """Whether a message of an agent was said on the way to a tool call."""
    if turn.raw.role is not Role.ASSISTANT:
        return False
    return turn.raw.calls_tool if turn.raw.final is None else not turn.raw.final


def _long_enough(turn: CleanTurn, options: Options) -> bool:
    return 0 <= options.interim_min_chars <= len(turn.text)


def counted(calls: Calls) -> dict[str, int]:
    """Calls added up by name, in the order of names."""
    total: dict[str, int] = {}
    for name, count in calls:
        total[name] = total.get(name, 0) + count
    return dict(sorted(total.items()))
