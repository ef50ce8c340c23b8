"""Ask a model about one pack: send, wait, mend, give up. Every effect is handed in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from dream.gate import Budget
from dream.model import Draft, Pack
from dream.settings import ModelSettings
from dream.worker import (
    PROMPT_VERSION,
    Failure,
    Message,
    Proposal,
    Reply,
    Stop,
    draft_of,
    is_masked,
    messages,
    schema,
    step,
    wire,
)
from graphstore.ids import Json
from graphstore.model.base import Value
from graphstore.model.record import ModelCall

ANSWERED: Final = "answered"
BLOCKED: Final = "redaction_blocked"
SPENT: Final = "budget_used_up"
HALTED: Final = "interrupted"
"""Why nothing was asked, or no more."""


class Llm(Protocol):
    """An endpoint with a model."""

    @property
    def model(self) -> str:
        """Name of the model."""

    @property
    def host(self) -> str:
        """Host of the endpoint."""

    def complete(
        self, messages: Sequence[Message], schema: str, timeout_s: float, *, strict: bool
    ) -> Reply | Failure:
        """Ask once."""


class Exchange(Value):
    """One call as it is kept on this machine: what it was, what went out, what came back."""

    call: ModelCall
    refs: tuple[str, ...]
    """Turns whose words went out."""
    sent: bytes
    received: bytes
    ms: int


@dataclass(slots=True)
class Aide:
    """A model, and everything that asking it needs."""

    llm: Llm
    mask: Callable[[str], str]
    pause: Callable[[float], None]
    keep: Callable[[Exchange], None]
    """Keeps an exchange before the next one begins."""
    limits: ModelSettings
    budget: Budget
    """What was left of the day when the dream cycle began."""
    calls: list[ModelCall] = field(default_factory=list)
    """Calls of this dream cycle."""

    @property
    def is_spent(self) -> bool:
        """Whether the day has nothing left for another call."""
        tokens = sum(each.tokens or 0 for each in self.calls)
        return len(self.calls) >= self.budget.calls_left or tokens >= self.budget.tokens_left


class Advice(Value):
    """What a model had to say on one pack."""

    reason: str
    """answered, no_draft, or why nothing came of it."""
    drafts: tuple[Draft, ...] = ()


@dataclass(frozen=True, slots=True)
class Errand:
    """One pack to be put to a model."""

    aide: Aide
    job_id: str
    function: str
    pack: Pack
    stop: Callable[[], bool]

    def advice(self) -> Advice:
        """Drafts of every sample that the job may have."""
        data = wire(self.pack)
        if not is_masked(data, self.aide.mask):
            return Advice(reason=BLOCKED)
        limits, drafts, reason = self.aide.limits, [], SPENT
        for sample in range(1, min(limits.samples, limits.calls_per_job) + 1):
            ended = self._asked(data, sample)
            drafts += [self._draft(each) for each in ended.proposals]
            reason = ended.reason
        return Advice(reason=ANSWERED if drafts else reason, drafts=tuple(drafts))

    def _draft(self, proposal: Proposal) -> Draft:
        return draft_of(proposal, self.pack, self.function, self.aide.llm.model, self.aide.mask)

    def _asked(self, data: Json, sample: int) -> Stop:
        """Put the pack once: until an answer, or until asking has no more sense."""
        aide, tried = self.aide, list[Reply | Failure]()
        while True:
            todo = step(tried, aide.limits)
            if isinstance(todo, Stop):
                return todo
            aide.pause(todo.wait_s)
            if aide.is_spent:
                return Stop(reason=SPENT)
            if self.stop():
                return Stop(reason=HALTED)
            said = messages(self.function, data, sample, todo.repair, aide.limits)
            tried.append(self._call(said, strict=todo.strict))

    def _call(self, said: Sequence[Message], *, strict: bool) -> Reply | Failure:
        """One call, kept with its bytes before anything is made of it."""
        aide = self.aide
        found = aide.llm.complete(
            said, schema(self.function), aide.limits.timeout_seconds, strict=strict
        )
        call = ModelCall(
            job_id=self.job_id,
            function=self.function,
            host=aide.llm.host,
            model=aide.llm.model,
            prompt_version=PROMPT_VERSION,
            outcome="reply" if isinstance(found, Reply) else found.reason,
            **(found.usage.model_dump() if isinstance(found, Reply) and found.usage else {}),
        )
        refs = tuple(turn.ref for turn in (*self.pack.turns, *self.pack.counter_turns))
        aide.calls.append(call)
        aide.keep(
            Exchange(call=call, refs=refs, sent=found.sent, received=found.received, ms=found.ms)
        )
        return found
