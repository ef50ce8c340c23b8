"""Prose of a turn: blocks and quotes taken out, sentences split, words found."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
DEVANAGARI: Final = "\u0900-\u0963\u0966-\u097f"

WORD: Final = re.compile(
    rf"[{CJK}\u30fc]+|[{DEVANAGARI}]+"
    rf"|[^\W_{CJK}{DEVANAGARI}]+(?:[-_'\u2019][^\W_{CJK}{DEVANAGARI}]+)*"
)
"""A word of a spaced script, or a whole run of an unspaced one."""
_IS_CJK: Final = re.compile(f"[{CJK}]")
_KANA: Final = re.compile("[\u3040-\u30ff]")
_IS_DEVANAGARI: Final = re.compile(f"[{DEVANAGARI}]")

# a fence that is never closed runs to the end of the turn
_FENCE: Final = re.compile(
    r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_TAGGED: Final = re.compile(
    r"<(output|stdout|stderr|tool-use|tool_result|pre|code|details|think|file|document|context|"
    r"command-[a-z]+|local-command-[a-z]+|system-reminder|ide_[a-z_]+)\b[^>]*>.*?</\1>",
    re.DOTALL,
)
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG: Final = re.compile(r"</?[a-zA-Z][\w-]*(?: [^<>\n]*)?/?>")
_URL: Final = re.compile(r"\b(?:https?|ftp|file)://[^\s<>()\"'`\]]+|\bwww\.[^\s<>()\"'`\]]+")
_LINK: Final = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_LOG: Final = re.compile(
    r"""^[ \t]*(?:
      \d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?\S*[ \t]+\S     # time stamp first
    | \[?\d\d:\d\d:\d\d[\].,\d]*[ \t]
    | \[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL)\]?[ \t:]
    | at[ ][\w.$<>/]+[ ]?\([^)\n]*:\d+                          # stack frames
    | File[ ]"[^"\n]+",[ ]line[ ]\d+
    | Traceback[ ]\(most | goroutine[ ]\d+[ ]\[ | npm[ ](?:ERR|WARN)
    | (?:---|\+\+\+)[ ][ab/] | @@[ ]-\d | diff[ ]--git | index[ ][0-9a-f]{7}
    | (?:commit|Merge:|Author:|Date:)[ ]+\S+[ ]*(?:[0-9a-f]{7}|\w+@|\d{4})
    | (?:=+|-+)[ ](?:RUN|PASS|FAIL|SKIP)\b | ok[ ]+\S+[ ]+[\d.(]+s? | (?:PASS|FAIL)[ :]
    | [$\u276f\u279c%\#][ ]\S | [\w.-]+@[\w.-]+[:\s][^\n]*[$\#%][ ] | >>>[ ] | \.\.\.[ ]{4}
    | [\u2500-\u259f\u23bf\u25cf\u23fa]+(?:[ \t]|[-=+\u2500-\u259f]|$) | \+[-=+]{3}
    | \d+[ \t]*[|\u2502\u2192][ \t]*[^\n]* | [dl-][rwx-]{9}[@+ ]
    | [\w./\\-]+\.\w{1,5}:\d+(?::\d+)?[: ]
    | [{}\[\]()<>;,]+[ \t]*$ | "[\w .-]+":[ \t] | (?://|/\*|\*/|\#!)[ \t]?\S | \+[^\s+]
    )[^\n]*""",
    re.MULTILINE | re.VERBOSE,
)
_QUOTED: Final = re.compile(r"^[ \t]{0,3}>[^\n]*", re.MULTILINE)
_INDENTED: Final = re.compile(
    # opens with a literal line end: the search for it is fast, and most texts hold no such block
    r"\n(?= {4}|\t)"
    r"(?:(?: {4}|\t)[ \t]*(?![-*+\u2022]|\d+[.)])[^\n(){};=<>]*[(){};=<>][^\n]*(?:\n|\Z)){2,}"
)


_REMEMBERED: Final = 512
"""Texts: the turns of a thread are looked at by one step after another."""
_LONG: Final = 32_000
"""Characters from which on a text is not remembered: many of them would fill the memory."""
_MASKED: Final = re.compile(r"\[masked:\w+\]")


@dataclass(frozen=True, slots=True)
class Prose:
    """A turn's own words, and the code, logs and output that were taken out of them."""

    text: str
    blocks: tuple[str, ...] = ()


def strip(text: str) -> Prose:
    """Take out fenced code, tagged output, quotes, pasted logs and URLs; lines stay apart."""
    return _stripped(text) if len(text) < _LONG else _stripped.__wrapped__(text)


@lru_cache(maxsize=_REMEMBERED)
def _stripped(text: str) -> Prose:
    blocks: list[str] = []

    def cut(found: "re.Match[str]") -> str:
        blocks.append(found.group())
        return "\n\n"

    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if "[masked:" in plain:
        # the name of a kind of secret is no word of the person who had one
        plain = _MASKED.sub("\u2026", plain)
    if "```" in plain or "~~~" in plain:
        plain = _FENCE.sub(cut, plain)
    if "<" in plain:
        plain = _TAG.sub(" ", _COMMENT.sub(" ", _TAGGED.sub(cut, plain)))
    if "\n    " in plain or "\n\t" in plain:
        plain = _INDENTED.sub(cut, plain)
    plain = _LOG.sub(cut, plain)
    if ">" in plain:
        plain = _QUOTED.sub("\n", plain)
    if "](" in plain:
        plain = _LINK.sub(r"\1", plain)
    if "://" in plain or "www." in plain:
        plain = _URL.sub("\u2026", plain)
    return Prose(plain, tuple(blocks))


_ITEM: Final = re.compile(
    r"^[ \t]*(?:[-*+\u2022\u00b7\u2013]|\(?\d{1,3}[.)]|[a-zA-Z][.)]|#{1,6})[ \t]+"
)
_CHECKBOX: Final = re.compile(r"^\[[ xX]\][ \t]+")
_SPAN: Final = re.compile(r"`[^`\n]+`")
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|ca|approx|resp|incl|no|nr|fig|dr|mr|mrs|ms|prof|st|z\.b|d\.h|bzw|usw"
    r"|u\.a|p\.ej|sr|sra|p\.ex|m|mme|al)|\b[A-Za-z])\.$",
    re.IGNORECASE,
)
_END: Final = re.compile(
    # opens with one set of characters: the search for it is fast
    r"[.!?\u2026\u3002\uff01\uff1f\uff1b\u0964\u0965](?:"
    r"(?<=[.!?\u2026])[.!?\u2026]*[\"'\u201d\u2019)\]*_`]*(?=\s+\S)"
    r"|(?<=[\u3002\uff01\uff1f\uff1b])[\u3002\uff01\uff1f\uff1b]*[\u300d\u300f\u201d\uff09]*"
    r"|(?<=[\u0964\u0965])|(?<=[?!])[?!]*(?=\s|$))"
)
_WRAPPED: Final = 50
"""A line this long whose successor begins in lower case was wrapped, not ended."""


def sentences(prose: str) -> tuple[str, ...]:
    """Sentences in order: split at their ends, at line ends and list items, never inside spans."""
    return _sentences(prose) if len(prose) < _LONG else _sentences.__wrapped__(prose)


@lru_cache(maxsize=_REMEMBERED)
def _sentences(prose: str) -> tuple[str, ...]:
    found: list[str] = []
    for line in _lines(prose):
        found.extend(_split(line))
    return tuple(found)


def _lines(prose: str) -> list[str]:
    """Logical lines: wrapped ones joined, list marks and emphasis removed."""
    lines: list[str] = []
    joinable = False
    for raw in prose.split("\n"):
        body = raw.strip()
        if not body[:2].isalpha():
            body = _CHECKBOX.sub("", _ITEM.sub("", raw)).strip()
        body = body.replace("**", "")
        if joinable and body and body[0].islower() and _ITEM.match(raw) is None:
            lines[-1] += " " + body
        elif body:
            lines.append(body)
        joinable = len(raw) >= _WRAPPED and not body.endswith((".", "!", "?", ":", ";"))
    return lines


def _split(line: str) -> list[str]:
    spans = [found.span() for found in _SPAN.finditer(line)] if "`" in line else []
    parts: list[str] = []
    start = 0
    for end in _END.finditer(line):
        at = end.end()
        inside = any(first < end.start() < last for first, last in spans)
        short = end.group()[0] == "." and _ABBREVIATED.search(line, start, end.start() + 1)
        if not inside and not short:
            parts.append(line[start:at].strip())
            start = at
    parts.append(line[start:].strip())
    return [part for part in parts if WORD.search(part)]


def clip(text: str, limit: int) -> str:
    """Cut at a word boundary within ``limit`` characters, the cut marked by an ellipsis."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    head = flat[: limit - 1]
    at = head.rfind(" ")
    return head[: at if at > limit // 2 else limit - 1].rstrip(" ,;:.-") + "\u2026"


def script_language(text: str) -> str:
    """Language told by the script alone: ja, zh, hi, or empty for the others."""
    if text.isascii():
        return ""
    if _KANA.search(text):
        return "ja"
    if _IS_CJK.search(text):
        return "zh"
    return "hi" if _IS_DEVANAGARI.search(text) else ""


def has_cjk(text: str) -> bool:
    """Whether the text holds a character of an unspaced script."""
    return not text.isascii() and _IS_CJK.search(text) is not None
