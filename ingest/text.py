"""Text safety: bytes to characters, and characters to text that every later stage can hold."""

import codecs
import re
import unicodedata
from collections.abc import Iterable
from typing import Final, TypeAlias

Repairs: TypeAlias = tuple[tuple[str, int], ...]
"""Codes and how often each repair was made, in the order of the steps."""

TEXT_LIMIT: Final = 2 * 1024 * 1024
"""Bytes of UTF-8 that one text may have."""
REPLACEMENT: Final = "\ufffd"

_REPLACEMENT_BYTES: Final = REPLACEMENT.encode()
_SUSPECT: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x90\x98\x9b-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_CONTROLS: Final = bytes(one for one in range(0x20) if one not in b"\t\n")
"""What is suspect in ASCII."""
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE: Final = re.compile("[\ud800-\udfff]")
# A control string that is never closed must not swallow the rest: then only its mark goes.
_ESCAPE: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b\n]{0,4096}\x1b\\"
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
# Of the one-character forms of control strings only the marks go: badly decoded quotes look alike.
# Carriage returns stay for the next step; without these characters a line shows as it is read.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x90\x98\x9b-\x9f\u202a-\u202e\u2066-\u2069]"
)
_RETURN: Final = re.compile("\r\n?")
_LEADING: Final = re.compile(r"(?:[^\S\n]*\n)+")


def decode(raw: bytes) -> tuple[str, Repairs]:
    """Decode the bytes of one record or one small file.

    UTF-16 goes by its mark, everything else is UTF-8; a BOM is dropped, each bad sequence
    becomes U+FFFD and is counted as ``bad_utf8``.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _counted(raw.decode("utf-16", "replace"), 0)
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return raw.decode(), ()
    except UnicodeDecodeError:
        return _counted(raw.decode("utf-8", "replace"), raw.count(_REPLACEMENT_BYTES))


def _counted(text: str, genuine: int) -> tuple[str, Repairs]:
    bad = text.count(REPLACEMENT) - genuine
    return text, (("bad_utf8", bad),) if bad > 0 else ()


def safe_text(text: str, limit: int = TEXT_LIMIT) -> tuple[str, Repairs]:
    """Make text safe to store, hash and show; safe text comes back unchanged.

    Surrogate pairs are joined and lone ones become U+FFFD; NUL, C0 controls other than tab
    and newline, terminal escapes and bidi overrides are removed; line ends become newlines;
    outer blank lines and trailing white space go; NFC; more than ``limit`` bytes are cut.
    """
    repairs: Repairs = ()
    if _is_suspect(text):
        text, lone = _without_surrogates(text)
        text = _RETURN.sub("\n", _UNSEEN.sub("", _ESCAPE.sub("", text)))
        repairs = (("lone_surrogate", lone),) if lone else ()
    text = _trimmed(text)
    if not text.isascii():
        text = _trimmed(unicodedata.normalize("NFC", text))
    short = _cut(text, limit)
    return short, repairs if short is text else (*repairs, ("text_cut", 1))


def _is_suspect(text: str) -> bool:
    """Whether a text holds what must go; a table of bytes tells it fastest where it can."""
    if text.isascii():
        return len(text.encode().translate(None, _CONTROLS)) < len(text)
    return _SUSPECT.search(text) is not None


def joined(parts: Iterable[str], limit: int = TEXT_LIMIT) -> str:
    """Make one safe text of pieces of safe texts, with blank lines between them."""
    return _cut(_trimmed("\n\n".join(filter(None, parts))), limit)


def _cut(text: str, limit: int) -> str:
    if len(text) * 4 <= limit or len(encoded := text.encode()) <= limit:
        return text
    return encoded[:limit].decode("utf-8", "ignore").rstrip()


def _without_surrogates(text: str) -> tuple[str, int]:
    text = _PAIR.sub(_joined, text)
    return _LONE.subn(REPLACEMENT, text)


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _trimmed(text: str) -> str:
    text = text.rstrip()
    if text[:1].isspace() and (blank := _LEADING.match(text)):
        return text[blank.end() :]
    return text
