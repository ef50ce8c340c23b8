"""Words of HTML: blocks become lines, code keeps its fences, scripts are dropped."""

import re
from html.parser import HTMLParser
from typing import Final

Attributes = list[tuple[str, str | None]]

_SILENT: Final = frozenset({"script", "style", "head", "template", "noscript"})
_HEADS: Final = {f"h{level}": f"{'#' * level} " for level in range(1, 7)}
_APART: Final = frozenset({"p", "pre", "ul", "ol", "table", "blockquote", "hr", "dl", *_HEADS})
"""Blocks with a blank line before and after them."""
_BELOW: Final = frozenset({"div", "li", "tr", "section", "article", "header", "dt", "dd"})
"""Blocks on lines of their own."""
_LISTS: Final = frozenset({"ul", "ol"})
_CELLS: Final = frozenset({"td", "th"})
_BLANK: Final = re.compile(r"[ \t\r\n\f]+")
_FENCE: Final = "```"
_DEPTH: Final = 8
"""Levels of lists that are indented."""


def words(html: str) -> str:
    """Text of a piece of HTML, however broken it is."""
    reader = Words()
    reader.feed(html)
    reader.close()
    return reader.text()


class Words(HTMLParser):
    """Gathers the words of what it is fed; nothing in it recurs over the input."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.restart()

    def restart(self) -> None:
        """Forget what was said so far."""
        self._out: list[str] = []
        self._ending = 2
        """Line ends that stand last; two at the beginning, where no gap is wanted."""
        self._silent = 0
        self._pre = 0
        self._is_item_new = False
        """A list item has just begun: a paragraph in it stays on its line."""
        self._lists: list[int | None] = []
        """The next number of each list that is open; None for one without numbers."""

    def text(self) -> str:
        """What was said so far."""
        return "".join(self._out).strip("\n ")

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        del attrs
        self._silent += tag in _SILENT
        if self._pre:
            self._pre += tag == "pre"
            return
        self._part(tag)
        if tag == "br":
            self._say("\n" if self._ending < 2 else "")  # noqa: PLR2004 - one blank line
        elif tag == "pre":
            self._pre = 1
            self._say(f"{_FENCE}\n")
        elif tag == "code":
            self._say("`")
        elif tag in _LISTS:
            self._lists.append(1 if tag == "ol" else None)
        elif tag == "li":
            self._item()
        elif tag in _CELLS and not self._ending:
            self._say(" | ")
        elif tag in _HEADS:
            self._say(_HEADS[tag])

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        if self._pre:
            self._pre -= tag == "pre"
            if not self._pre:
                self._gap(1)
                self._say(_FENCE)
                self._part(tag)
            return
        if tag == "code":
            self._say("`")
        elif tag in _LISTS and self._lists:
            self._lists.pop()
        self._part(tag)

    def handle_data(self, data: str) -> None:
        if self._pre:
            fresh = self._out and self._out[-1] == f"{_FENCE}\n"
            self._say(data.removeprefix("\n") if fresh else data)
            return
        text = _BLANK.sub(" ", data)
        at_start = self._ending or (self._out and self._out[-1].endswith(" "))
        self._say(text.lstrip(" ") if at_start else text)

    def _say(self, text: str) -> None:
        if not text or self._silent:
            return
        if text[0] == "\n" and self._out and not self._pre:
            self._out[-1] = self._out[-1].rstrip(" ")
        self._out.append(text)
        ended = len(text) - len(text.rstrip("\n"))
        self._ending = ended if ended < len(text) else self._ending + ended
        self._is_item_new = False

    def _gap(self, count: int) -> None:
        """See that so many line ends stand last."""
        self._say("\n" * (count - self._ending))

    def _part(self, tag: str) -> None:
        """What a block sets between its words and those around it."""
        nested = tag in _LISTS and len(self._lists) > 0
        if tag in _BELOW or nested:
            self._gap(1)
        elif tag in _APART and not self._is_item_new:
            self._gap(2)

    def _item(self) -> None:
        number = self._lists[-1] if self._lists else None
        if number is not None:
            self._lists[-1] = number + 1
        depth = min(max(0, len(self._lists) - 1), _DEPTH)
        self._say("  " * depth + ("- " if number is None else f"{number}. "))
        self._is_item_new = True
