"""Names as people write them: their words, and whether two of them may name one thing."""

import re
from difflib import SequenceMatcher
from typing import Final

ALIKE: Final = 0.9
"""Share of letters in common from which two names may be spellings of one."""
LEAST: Final = 4
"""Letters below which likeness says nothing, and an ``s`` at the end is no plural."""
_WORD: Final = re.compile(r"[^\W\d_]+|\d+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words(name: str) -> tuple[str, ...]:
    """Words of a name in order, folded, without the ``s`` of a plural.

    Signs, digits, folders and the humps of CamelCase part words: ``src/getUserNames.py`` has
    ``src``, ``get``, ``user``, ``name``, ``py``.
    """
    return tuple(_singular(word.casefold()) for word in _WORD.findall(_HUMP.sub(" ", name)))


def _singular(word: str) -> str:
    return word[:-1] if len(word) >= LEAST and word.endswith("s") and word[-2] != "s" else word


def may_be_one(one: str, other: str) -> bool:
    """Whether two names may be of one thing: the words of one among those of the other, or alike.

    ``analytics`` and ``src/analytics.py``, ``read_only`` and ``self.read_only_names``.
    """
    first, second = words(one), words(other)
    if not first or not second:
        return False
    if set(first) <= set(second) or set(second) <= set(first):
        return True
    plain, spelled = "".join(first), "".join(second)
    return min(len(plain), len(spelled)) >= LEAST and _alike(plain, spelled)


def _alike(one: str, other: str) -> bool:
    first, second = sorted((one, other))
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.real_quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE
