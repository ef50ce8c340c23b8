"""Front matter of Markdown files: flat keys and lists of words, and no more of YAML than that."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

FENCE: Final = "---"
_ENDS: Final = ("---", "...")
_KEY: Final = re.compile(r"(?P<key>[^\W\d][\w .-]{0,60}?)[ \t]*:(?:[ \t]+(?P<value>.*))?")
_ITEM: Final = re.compile(r"[ \t]*-[ \t]+(?P<value>.*)")
_QUOTES: Final = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')"""
_QUOTED: Final = re.compile(_QUOTES)
_ENTRY: Final = re.compile(rf"[ \t]*({_QUOTES})[ \t]*(?:,|$)|([^,]*)(?:,|$)")
_ESCAPED: Final = re.compile(r"\\(.)")
_SIGNS: Final = {"n": "\n", "t": "\t"}
_UNFIT: Final = ("{", "|", ">", "&", "*", "!", "%", "@", "`")
"""How values begin that are more than words."""
LIMIT: Final = 500
"""Lines in which the front matter must end."""


class FrontMatter(NamedTuple):
    """What stands between the two rules at the start of a text."""

    lines: int
    """Lines that it takes, both rules included; 0 if there is none."""
    values: dict[str, tuple[str, ...]]
    """Words by key, in lower case; one word or the items of a list."""
    odd: tuple[int, ...] = ()
    """Indexes of lines that are not understood."""

    def first(self, *keys: str) -> str | None:
        """Return the first word under the first of the keys that has one."""
        for key in keys:
            for word in self.values.get(key, ()):
                if word:
                    return word
        return None


def front_matter(texts: Sequence[str]) -> FrontMatter:
    """Read the front matter that begins at the first line; never raises."""
    if not texts or texts[0].rstrip() != FENCE:
        return FrontMatter(0, {})
    end = next((at for at in range(1, min(LIMIT, len(texts))) if texts[at].rstrip() in _ENDS), 0)
    if not end:
        return FrontMatter(0, {})
    values: dict[str, tuple[str, ...]] = {}
    odd: list[int] = []
    listed: str | None = None
    for at in range(1, end):
        text = texts[at]
        key, item = _KEY.fullmatch(text), _ITEM.fullmatch(text)
        if key is not None and (words := _words((key["value"] or "").strip())) is not None:
            listed = key["key"].lower()
            values[listed] = words
        elif item is not None and listed is not None and _is_word(item["value"].strip()):
            values[listed] = (*values[listed], _unquoted(item["value"].strip()))
        elif text.strip() and not text.lstrip().startswith("#"):
            odd.append(at)
            listed = None
    return FrontMatter(end + 1, values, tuple(odd))


def _words(value: str) -> tuple[str, ...] | None:
    """Return the word or the items of a value; None if it is more than that."""
    if not value:
        return ()
    if value.startswith("["):
        if not value.endswith("]"):
            return None
        inner = value[1:-1].strip()
        return tuple(_items(inner)) if inner else ()
    return (_unquoted(value),) if _is_word(value) else None


def _items(inner: str) -> Iterator[str]:
    """Split at commas outside quotes."""
    at = 0
    while (entry := _ENTRY.match(inner, at)) is not None:
        yield _unquoted((entry[1] or entry[2]).strip())
        at = entry.end()
        if not entry[0].endswith(","):
            return


def _is_word(value: str) -> bool:
    if value.startswith(('"', "'")):
        return _QUOTED.fullmatch(value) is not None
    return not value.startswith(_UNFIT)


def _unquoted(value: str) -> str:
    if _QUOTED.fullmatch(value) is None:
        return value
    if value.startswith("'"):
        return value[1:-1].replace("''", "'")
    return _ESCAPED.sub(lambda escape: _SIGNS.get(escape[1], escape[1]), value[1:-1])
