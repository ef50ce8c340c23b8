"""Checks that tell a secret from a word, a name in code, a placeholder or a number."""

import math
import re
from collections import Counter
from typing import Final

ENTROPY_BITS: Final = 3.0
"""Shannon entropy per character below which an assigned value is taken for a word."""
JUDGED: Final = 200
"""Characters of a value that are looked at to tell a secret from a word."""
MIN_DIGITS: Final = 1
"""A number of this many different digits is no card."""
PHONE_DIGITS: Final = range(9, 16)


def entropy(text: str) -> float:
    """Shannon entropy of a text in bits per character."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in sorted(Counter(text).values()))


def luhn(digits: str) -> bool:
    """Luhn check sum (ISO/IEC 7812-1)."""
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(int(digit) for digit in digits[-1::-2])) % 10 == 0


_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[^\W\d_]")


def is_mixed(text: str) -> bool:
    """Letters and digits together, as random tokens have them."""
    return _DIGIT.search(text) is not None and _LETTER.search(text) is not None


_PLACEHOLDER: Final = re.compile(
    r"example|changeme|change[_-]me|your[_-]|xxx|placeholder|redacted|\*\*\*|\.\.\.|\u2026"
    r"|^[<\[{$%]|\$\{|\{\{|<[^>]*>|%\(|\[masked:|^(?:true|false|null|none|undefined)$",
    re.IGNORECASE,
)


def is_placeholder(value: str) -> bool:
    """A stand-in for a secret: a word for one, a variable, an ellipsis, a mask."""
    return _PLACEHOLDER.search(value) is not None


# --- checks on a match


def has_digit(match: re.Match[str]) -> bool:
    return is_mixed(match[0])


def mixed_case(match: re.Match[str]) -> bool:
    text = match[0].partition("_")[2]
    return text != text.lower() and text != text.upper()


def not_redacted(match: re.Match[str]) -> bool:
    return not is_placeholder(match[0])


def discord(match: re.Match[str]) -> bool:
    return is_mixed(match[0]) and match[0] != match[0].lower()


def aws_secret(match: re.Match[str]) -> bool:
    value = match["s"]
    return is_mixed(value) and value != value.lower() and value != value.upper()


def _value(match: re.Match[str]) -> str:
    """The beginning of the value: enough to judge it, and hostile text stays cheap."""
    return match["s"][:JUDGED]


def header_value(match: re.Match[str]) -> bool:
    value = _value(match)
    return is_mixed(value) and not is_placeholder(value) and entropy(value) >= ENTROPY_BITS


_COOKIE_PAIR: Final = re.compile(r"[^\s=;]+=(?P<v>[^\s;]{8,})")
_COOKIE_NOTE: Final = re.compile(r"(?i)(?:expires|path|domain|max-age|samesite)=")


def cookie(match: re.Match[str]) -> bool:
    return any(
        is_mixed(pair["v"]) and not is_placeholder(pair["v"])
        for pair in _COOKIE_PAIR.finditer(_value(match))
        if not _COOKIE_NOTE.match(pair[0])
    )


_SAMPLES: Final = frozenset({"pass", "passwd", "password", "pwd", "secret", "user", "username"})
"""What addresses in manuals have for a password."""


def url_password(match: re.Match[str]) -> bool:
    return match["s"].lower() not in _SAMPLES and not is_placeholder(match["s"])


# A value that reads as code: a name, a path of names, a call, a path or address.
_NAME: Final = re.compile(
    r"\$?[A-Za-z_]+(?:(?:\.|->|::|-|/|:|\?\.)[A-Za-z_]+)*[!?.]?"
    r"|\$?[A-Za-z_]+\d{0,2}(?:(?:\.|->|::|/|\?\.)[A-Za-z_]+\d{0,2})+[!?.]?"
)
_WORDS: Final = re.compile(r"[^\W\d_]+(?:[_\-./:][^\W\d_]+)*")
_PLACE: Final = re.compile(r"(?:\.{0,2}|~|[A-Za-z]:)?[/\\]|[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_CODE: Final = re.compile(r"[(\[{]|\)$")
_PUNCTUATED: Final = re.compile(r"[A-Za-z][!@#%^][A-Za-z]")
_PASSWORD_WORD: Final = re.compile(r"pass(?:word|wd|phrase)?|pwd", re.IGNORECASE)


def assigned(match: re.Match[str]) -> bool:
    value = _value(match)
    if not (_quoted(match, value) if match["q"] else _unquoted(match, value)):
        return False
    if _PLACE.match(value) or value.replace(".", "").isdigit() or is_placeholder(value):
        return False
    return entropy(value) >= ENTROPY_BITS


def _quoted(match: re.Match[str], value: str) -> bool:
    """Strings hold names too; a password can look like one."""
    if not _NAME.fullmatch(value):
        return True
    return _PASSWORD_WORD.search(match["k"]) is not None and "_" not in value


_ENVIRONMENT: Final = re.compile(r"[ \t>$]*(?:(?:export|set|-e|ENV)[ \t]+)?[A-Z][A-Z0-9_]*=")
_SHOUTED: Final = re.compile(r"(?<![^\s\"'`;&(])[A-Z][A-Z0-9_]*=\Z")
"""The same inside a line, where only what is called a password is taken for one."""
_ENVIRONMENT_HEAD: Final = 200


def _line_head(match: re.Match[str]) -> tuple[int, int]:
    """From the start of the line to the end of the assignment mark."""
    nearest = max(match.start() - _ENVIRONMENT_HEAD, 0)
    newline = match.string.rfind("\n", nearest, match.start())
    return (nearest if newline < 0 else newline + 1), match.end("op")


def _unquoted(match: re.Match[str], value: str) -> bool:
    """Code assigns names without quotes; environment lines assign secrets without them."""
    is_password = _PASSWORD_WORD.search(match["k"]) is not None
    if match["op"] == "=":
        start, end = _line_head(match)
        if _ENVIRONMENT.fullmatch(match.string, start, end) or (
            is_password and _SHOUTED.search(match.string, start, end)
        ):
            return not _CODE.search(value) and not (
                _WORDS.fullmatch(value) and value == value.lower()
            )
    if _CODE.search(value) or _NAME.fullmatch(value):
        return False
    return is_mixed(value) or (is_password and _PUNCTUATED.search(value) is not None)


def card(match: re.Match[str]) -> bool:
    digits = re.sub(r"\D", "", match[0])
    return len(set(digits)) > MIN_DIGITS and _card_prefix(digits) and luhn(digits)


_CARD: Final = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"
    r"|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|62\d{14,17}"
)


def _card_prefix(digits: str) -> bool:
    return _CARD.fullmatch(digits) is not None


def iban(match: re.Match[str]) -> bool:
    """ISO 13616: the number, country and check digits moved to its end, is 1 modulo 97."""
    code = match[0].replace(" ", "")
    turned = code[4:] + code[:4]
    return int("".join(str(int(one, 36)) for one in turned)) % 97 == 1


def phone(match: re.Match[str]) -> bool:
    return sum(one.isdigit() for one in match[0]) in PHONE_DIGITS
