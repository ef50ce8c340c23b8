"""Words that address an agent instead of an inquiry, and drafts that repeat them.

Turns are data: nobody acts on them. But a title is read by an owner and by agents later, so an
order must not arrive there, neither by a rule that quotes nor by a model that obeys.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from dream import lexicon

NEAR: Final = 60
"""Characters between a word that puts aside and what it puts aside, within one sentence."""
RUN: Final = 4
"""Words in a row that are repeated words."""
ROLES: Final = re.compile(
    r"<\|[a-z_]+\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|instructions?|tool_call|turns?)\b"
    r"|^\W{0,4}(?:system|assistant|developer)\b(?:\s+(?:message|prompt|override|note))?\s*:"
    r"|#{2,}\s*(?:system|instructions?|new task)\b"
    r"|[\"']role[\"']\s*:\s*[\"'](?:system|assistant|tool|developer)"
    r"|\bthread:\S+#turn:\d+",
    re.MULTILINE,
)
"""Marks of other speakers, and of our own references, inside the words of one."""
CALLS: Final = re.compile(
    r"[\"'](?:tool_calls?|function_call|arguments|drafts|declared_confidence)[\"']\s*:"
    r"|\b(?:os\.system|subprocess\.\w+|eval|exec)\s*\("
)
COMMANDS: Final = re.compile(
    r"\brm\s+-\w*[rf]|\bsudo\s+\w|\b(?:curl|wget)\s+\S*(?:https?:|\w\.\w)|\|\s*(?:ba)?sh\b"
    r"|\bchmod\s+\+?\w|\.\./\.\.|/etc/(?:passwd|shadow)|~/\.ssh"
)
QUERIES: Final = re.compile(
    r"\bmatch\s*\(\s*\w*\s*(?::\w+)?\s*\)|\bdetach\s+delete\b|\bdrop\s+(?:table|database)\b"
    r"|\bdelete\s+from\s+\w|\bunion\s+select\b|\bload\s+csv\b|\bcall\s+\w+\.\w+\s*\("
)
ACTIVE: Final = re.compile(
    r"<\s*/?\s*(?:script|img|iframe|svg|style|object|embed|form|link|meta|base)\b|\bon\w+\s*=\s*[\"']"
    r"|\b(?:javascript|vbscript):|\bdata:\w+/\w+"
)
NAMES: Final = re.compile(r"\bsr\d{1,3}\b")
"""Names of turns: only a pack and the claims of an answer have them."""
MARKS: Final = (ROLES, CALLS, COMMANDS, QUERIES, ACTIVE, NAMES)
"""What no title has. In a turn, commands, queries and code are the everyday talk of some trades."""
ENDING: Final = re.compile(r"[.!?\n\u3002]")
TEXTS: Final = 2048
"""Turns that are remembered: one comes up in many packs and drafts."""
_TOKEN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")


@lru_cache(TEXTS)
def addresses_agent(text: str) -> bool:
    """Whether a text speaks to a program: an order, or the mark of a role that it does not have."""
    return _gives_order(lexicon.folded(text))


def is_unfit(shown: str) -> bool:
    """Whether words must not be shown as a hypothesis: an order, a command, a query, code."""
    folded = lexicon.folded(shown)
    return any(mark.search(folded) for mark in MARKS) or _gives_order(folded)


def _gives_order(folded: str) -> bool:
    return (
        ROLES.search(folded) is not None
        or lexicon.lists()["to_the_dreamer"].search(folded) is not None
        or _puts_aside(folded)
    )


def _puts_aside(folded: str) -> bool:
    """A word that puts aside near what an agent was told, in either order, in one sentence."""
    told = [match.span() for match in lexicon.lists()["what_was_told"].finditer(folded)]
    if not told:
        return False
    aside = [match.span() for match in lexicon.lists()["putting_aside"].finditer(folded)]
    return any(
        max(one[0], other[0]) - min(one[1], other[1]) <= NEAR
        and not ENDING.search(folded[min(one[1], other[1]) : max(one[0], other[0])])
        for one in told
        for other in aside
    )


def runs(text: str) -> Iterator[tuple[str, ...]]:
    """Words of a text, some in a row; each character of a script without blanks is a word."""
    words = _TOKEN.findall(lexicon.folded(text))
    yield from zip(*(words[at:] for at in range(RUN)), strict=False)


def repeats(shown: str, texts: Iterable[str]) -> bool:
    """Whether words shown repeat some of a text that addresses an agent, and of no other text."""
    texts = tuple(texts)
    theirs = {run for text in texts if addresses_agent(text) for run in runs(text)}
    if theirs.isdisjoint(runs(shown)):
        return False
    ours = {run for text in texts if not addresses_agent(text) for run in runs(text)}
    return not (theirs - ours).isdisjoint(runs(shown))
