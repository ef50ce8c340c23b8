"""Words and figures as drafts and packs show them: clipped, quoted harmlessly, compared."""

import re
from datetime import datetime
from typing import Final
from unicodedata import normalize

CLIP: Final = 1200
QUOTE: Final = 120
ELLIPSIS: Final = "\u2026"
LONG: Final = 5
"""Letters of a word that carries content."""
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_SCHEME: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://|\b(?:javascript|data|mailto):", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+")
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


def cut(text: str, width: int) -> str:
    """At most ``width`` characters, cut at a blank where one is near."""
    if len(text) <= width:
        return text
    kept = text[: width - 1]
    head = kept.rpartition(" ")[0]
    # no blank in the later half: a script without blanks, or one long token
    return (head if len(head) * 2 >= width else kept).rstrip(" ,;:") + ELLIPSIS


def quote(text: str, width: int = QUOTE) -> str:
    """One line of a turn's words, in which no markup, link or closing quote mark survives."""
    line = _TAG.sub("\u2039", " ".join(text.split()).replace('"', "'"))
    return cut(_SCHEME.sub("", line).replace("](", "] ("), width)


def closing(text: str, width: int = QUOTE) -> str:
    """A quote that ends a sentence: with one full stop, its own or ours."""
    line = quote(text, width)
    return f'"{line}"' + ("" if line.endswith((".", "!", "?", ELLIPSIS)) else ".")


def clip(text: str, around: str, width: int = CLIP) -> str:
    """A window of a text round a mention, cut at blanks where there are any."""
    if len(text) <= width:
        return text
    at = max(text.casefold().find(around.casefold()[:60]), 0) if around else 0
    start = max(0, min(at - width // 3, len(text) - width))
    window = text[start : start + width]
    if start:
        window = ELLIPSIS + (window.partition(" ")[2] or window)
    if start + width >= len(text):
        return window
    return (window.rpartition(" ")[0] or window) + ELLIPSIS


def share(count: float, of: int) -> float:
    """S(x, k) = min(x, k) / k, never negative."""
    return min(max(count, 0), of) / of


def plural(count: int, noun: str) -> str:
    """``1 thread``, ``3 threads``."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def day(moment: datetime | None) -> str:
    """A date, or that it is unknown."""
    return moment.date().isoformat() if moment else "an unknown day"


def since(moment: datetime | None) -> str:
    """`` since`` and a date, or nothing where the date is unknown."""
    return f" since {day(moment)}" if moment else ""


def listed(labels: tuple[str, ...]) -> str:
    """Labels in quote marks: ``"a", "b" and "c"``."""
    named = [f'"{quote(label, 60)}"' for label in labels]
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def content_words(text: str) -> frozenset[str]:
    """Folded words of at least five letters, and pairs of characters of a script without blanks."""
    folded = normalize("NFC", text).casefold()
    words = {word for word in _WORD.findall(folded) if len(word) >= LONG and not _CJK.match(word)}
    pairs = {run[at : at + 2] for run in _CJK.findall(folded) for at in range(len(run) - 1)}
    return frozenset(words | pairs)
