"""Whether a hypothesis shows itself: by the use plan and by rule; a score is told, never asked."""

import re
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from dream.use import CLOSED, Request, Use, use
from dream.wording import content_words
from graphstore.model.base import Value
from graphstore.model.hypothesis import Hypothesis, Standing

Visibility: TypeAlias = Literal[
    "stay_silent",
    "source_backed_recall_card",
    "silent_tuning",
    "active_gentle_nudge",
    "deep_archival_recall",
]
WORD: Final = re.compile(r"[^\W_]{4,}")
TERMS: Final = 4
"""So many terms of a prompt are asked for at most."""
BUDGET_MIN: Final = 0.35
"""With less attention left, nothing shows itself unasked."""


class Activation(Value):
    """How near a hypothesis is to what is talked about."""

    topic_fit: float
    """Share of the terms of a prompt that its cues hold, 0 to 1."""
    pressure: float
    """Half fit, a quarter budget, a quarter anchor; reported only."""
    visibility: Visibility
    reason: str


def terms(prompt: str) -> frozenset[str]:
    """Folded words of a text of four characters or more; pairs in a script without blanks."""
    return content_words(prompt) | frozenset(WORD.findall(prompt.casefold()))


def topic_fit(cues: Iterable[str], prompt: str) -> float:
    """Cues that share a term with a prompt, against its terms, four at most."""
    wanted = terms(prompt)
    if not wanted:
        return 0.0
    matched = sum(bool(wanted & terms(cue)) for cue in cues)
    return min(matched / min(len(wanted), TERMS), 1.0)


def activation(
    one: Hypothesis,
    standing: Standing,
    request: Request,
    prompt: str,
    *,
    budget: float,
    anchor: float,
) -> Activation:
    """What becomes of a hypothesis beside a prompt; ``budget`` is what attention is left, 0 to 1.

    ``anchor`` is that part of its retention.
    """
    fit = topic_fit(one.cues, prompt)
    plan = use(one, standing, request.replace(is_relevant=request.is_relevant and fit > 0))
    searched = request.kind == "explicit" and one.state in CLOSED
    return Activation(
        topic_fit=round(fit, 6),
        pressure=round(0.5 * fit + 0.25 * budget + 0.25 * anchor, 6),
        visibility="deep_archival_recall" if searched else seen(plan, budget),
        reason=plan.reason,
    )


def seen(plan: Use, budget: float) -> Visibility:
    """How it is seen, by the manner that the use plan allows."""
    match plan.manner:
        case "silent":
            return "stay_silent"
        case "reopen_source":
            return "source_backed_recall_card"
        case _:
            return "silent_tuning" if budget < BUDGET_MIN else "active_gentle_nudge"
