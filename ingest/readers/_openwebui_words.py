"""Words of an Open WebUI message: without the blocks in which answers wrap what was not said."""

import html
import json
import re
from typing import Any, Final, NamedTuple, TypeAlias

from ingest.readers._fields import objects_of

Json: TypeAlias = dict[str, Any]

_MARK: Final = re.compile(r"^ {0,3}(?:```|~~~)|<details\b|</details\s*>", re.MULTILINE)
_KIND: Final = re.compile(r"\stype\s*=\s*[\"']?([\w-]+)")
_NAME: Final = re.compile(r"\sname\s*=\s*\"([^\"]*)\"")
_RESULT: Final = re.compile(r"\s(?:result|output)\s*=\s*\"([^\"]*)\"")
_THOUGHT: Final = "reasoning"


class Said(NamedTuple):
    """What a message comes to."""

    text: str
    calls: tuple[tuple[str, int], ...] = ()
    results: tuple[str, ...] = ()
    """What the tools gave."""
    thought: bool = False


def answer(message: Json) -> Said:
    """An answer: its text, or what only stands in its list of outputs."""
    said = without_details("\n\n".join(texts(message)))
    return said if said.text.strip() else _output(message, said)


def without_details(text: str) -> Said:
    """An answer without its ``<details type=...>`` blocks, and what those were.

    A block starts its line, outside fences, and ends where its tags are even again; if they
    never are, at its last closing tag. One that is never closed is text.
    """
    kept: list[str] = []
    tags: list[str] = []
    at = 0
    while (found := _block(text, at)) is not None:
        start, at_end, tag = found
        kept.append(text[at:start])
        tags.append(tag)
        at = at_end
    kept.append(text[at:])
    used = [tag for tag in tags if _first(_KIND, tag) != _THOUGHT]
    return Said(
        "".join(kept),
        tuple((_first(_NAME, tag) or _first(_KIND, tag), 1) for tag in used),
        tuple(result for tag in used if (result := _result(tag)).strip()),
        len(used) < len(tags),
    )


def _first(pattern: re.Pattern[str], tag: str) -> str:
    found = pattern.search(tag)
    return found[1] if found else ""


def _result(tag: str) -> str:
    """What a tool gave: JSON of a text, written as an attribute."""
    told = html.unescape(_first(_RESULT, tag))
    try:
        value = json.loads(told)
    except (ValueError, RecursionError):
        return told
    return value if isinstance(value, str) else told


def _block(text: str, at: int) -> tuple[int, int, str] | None:
    """Start, end and opening tag of the next block."""
    is_fenced = False
    for mark in _MARK.finditer(text, at):
        if not mark[0].startswith("<"):
            is_fenced = not is_fenced
        elif mark[0].startswith("<d") and not is_fenced and _starts_line(text, at, mark.start()):
            tag = text[mark.start() : text.find(">", mark.end()) + 1]
            if _KIND.search(tag):
                end = _end(text, mark.end())
                return (mark.start(), end, tag) if end > 0 else None
    return None


def _starts_line(text: str, at: int, start: int) -> bool:
    """Whether only blanks stand before it on its line, or since the last block."""
    return not text[max(at, text.rfind("\n", at, start) + 1) : start].strip()


def _end(text: str, at: int) -> int:
    """Index after the closing tag of a block that is open."""
    depth = 1
    last = -1
    for mark in _MARK.finditer(text, at):
        if mark[0].startswith("</"):
            depth -= 1
            last = mark.end()
            if depth == 0:
                return last
        elif mark[0].startswith("<"):
            depth += 1
    return last


def _output(message: Json, said: Said) -> Said:
    words: list[str] = []
    calls: list[tuple[str, int]] = []
    results: list[str] = []
    thought = said.thought
    for item in objects_of(message.get("output")):
        kind = item.get("type")
        if kind == "message":
            words.extend(texts(item))
        elif kind == "function_call":
            name = item.get("name")
            calls.append((name if isinstance(name, str) and name else "unnamed", 1))
        elif kind == "function_call_output":
            results.extend(texts({"content": item.get("output")}))
        thought = thought or kind == _THOUGHT
    text = "\n\n".join(words)
    return Said(text, said.calls or tuple(calls), said.results or tuple(results), thought)


def texts(message: Json) -> list[str]:
    """Text of the content: a string, or parts of which some are text."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    found = [part.get("text") for part in objects_of(content)]
    return [one for one in found if isinstance(one, str) and one.strip()]
