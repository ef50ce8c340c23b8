"""Word lists of ``lexicon.toml``, matched on word boundaries where a script has blanks."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final
from unicodedata import category, normalize

UNSPACED: Final = ("zh", "ja", "ko")
"""Languages whose words are found anywhere: their endings and neighbours are not set apart."""
SENSITIVE: Final = ("credential", "property_risk", "health", "trauma", "hidden_state")
TECHNICAL: Final = ("credential", "health")
"""Classes whose words engineers use of machines."""


@cache
def lists() -> dict[str, re.Pattern[str]]:
    """One pattern per word list."""
    tables = tomllib.loads((files("dream") / "lexicon.toml").read_text("utf-8"))
    return {name: re.compile(pattern(table)) for name, table in tables.items()}


def pattern(table: dict[str, list[str]]) -> str:
    """The words of a list, by language. A trailing ``*`` leaves the end of a word open."""
    words = [
        re.escape(word.removesuffix("*").strip()) + (r"\w*" if word.endswith("*") else r"(?!\w)")
        for language, found in table.items()
        if language not in UNSPACED
        for word in found
    ]
    runs = [re.escape(word) for name in UNSPACED for word in table.get(name, [])]
    # one look behind for all of them: most places of a text are no beginning of a word
    return "|".join([rf"(?<!\w)(?:{'|'.join(words)})", *runs])


def folded(text: str) -> str:
    """Text as it is matched: look-alikes of letters folded, invisible characters left out."""
    if text.isascii():
        return text.casefold()
    seen = "".join(each for each in text if category(each) != "Cf")
    return normalize("NFKC", seen).casefold()


def has(name: str, text: str) -> bool:
    """Whether a text holds a word of the list."""
    return lists()[name].search(folded(text)) is not None


def sensitivity(text: str, context: str = "") -> str | None:
    """The sensitive class of a text.

    None where the words are disclaimed or, with their context, technical.
    """
    plain = lists()["boundary"].sub(" ", folded(text))
    technical = has("technical_context", f"{text}\n{context}")
    for name in SENSITIVE:
        if lists()[name].search(plain) and not (technical and name in TECHNICAL):
            return name
    return None
