"""Word lists of ``lexicon.toml``: English on word boundaries, Chinese as substrings."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final
from unicodedata import normalize

SENSITIVE: Final = ("credential", "property_risk", "health", "trauma", "hidden_state")
TECHNICAL: Final = ("credential", "health")
"""Classes whose words engineers use of machines."""


@cache
def lists() -> dict[str, re.Pattern[str]]:
    """One pattern per word list."""
    tables = tomllib.loads((files("dream") / "lexicon.toml").read_text("utf-8"))
    return {name: pattern(table["en"], table["zh"]) for name, table in tables.items()}


def pattern(english: list[str], chinese: list[str]) -> re.Pattern[str]:
    """A trailing ``*`` leaves the end of a word open."""
    words = [
        rf"(?<!\w){re.escape(word.removesuffix('*').strip())}"
        + (r"\w*" if word.endswith("*") else r"(?!\w)")
        for word in english
    ]
    return re.compile("|".join([*words, *(re.escape(word) for word in chinese)]))


def folded(text: str) -> str:
    """Text as it is matched."""
    return normalize("NFC", text).casefold()


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
