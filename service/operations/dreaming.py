"""Dream cycles run; what they left is listed."""

from typing import Final

from dream.cycle import Ask, Mode
from dream.functions import load as known_function
from dream.gate import Caller, Trigger
from graphstore.model.hypothesis import Expired, HypothesisState, Invalidated, ReviewDue, Valid
from service import dreaming
from service.answers import HypothesisRow
from service.dreaming import Dreamt
from service.moments import one_of
from service.operations.think import limits
from service.session import Session

STANDINGS: Final = tuple(
    kind.model_fields["standing"].default for kind in (Valid, ReviewDue, Expired, Invalidated)
)


def dream(
    session: Session,
    *,
    dry_run: bool = False,
    stage: bool = False,
    function: str = "",
    seed: str = "",
    if_due: bool = False,
    sub_agent: bool = False,
    thread: str = "",
) -> Dreamt:
    """Run one dream cycle: hypotheses from seeds, links and Journeys."""
    if function:
        known_function(function)
    mode: Mode = "dry_run" if dry_run else "stage" if stage else "normal"
    trigger: Trigger = "hook" if if_due else "manual"
    caller = Caller(trigger=trigger, is_sub_agent=sub_agent, thread_id=thread)
    ask = Ask(mode=mode, function=function or None, seed=seed or None, caller=caller)
    return dreaming.dreamt(session, ask, limits(session))


def hypotheses(
    session: Session, *, state: str = "", standing: str = "", function: str = "", limit: int = 20
) -> tuple[HypothesisRow, ...]:
    """List hypotheses with their evidence, counter-evidence and standing."""
    one_of("state", state, HypothesisState)
    one_of("standing", standing, STANDINGS)
    if function:
        known_function(function)
    with session.store("hypotheses") as store:
        rows = dreaming.rows(session, store, state=state)
    return tuple(
        row
        for row in rows
        if standing in ("", row.standing.standing) and function in ("", row.hypothesis.function)
    )[:limit]
