"""Canonical JSON, fingerprints and every derived id: the only hashing in the project."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias
from urllib.parse import quote

import orjson

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"

SEPARATOR: Final = "\u241f"
NATIVE_ID_LIMIT: Final = 120
RECENT: Final = 4096
"""Thread ids that are remembered: each is asked for a dozen times while its thread is read."""
_SAFE: Final = "-_.:"
_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9._:-]*")


def canonical(value: Json) -> bytes:
    """Canonical JSON: sorted keys, UTF-8, no blanks."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def digest(*parts: Json) -> str:
    """BLAKE2b-128 of the canonical JSON of the parts, 32 hexadecimal characters."""
    return digest_bytes(canonical(list(parts)))


def digest_bytes(content: bytes) -> str:
    """BLAKE2b-128 of bytes, 32 hexadecimal characters."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def digest_stream(chunks: Iterable[bytes]) -> tuple[str, int]:
    """BLAKE2b-128 of a stream in hexadecimal, and its length in bytes."""
    hashed, size = hashlib.blake2b(digest_size=16), 0
    for chunk in chunks:
        hashed.update(chunk)
        size += len(chunk)
    return hashed.hexdigest(), size


def keyed_digest(key: bytes, content: bytes) -> str:
    """BLAKE2b-128 keyed with a salt: equal secrets meet inside one store only."""
    return hashlib.blake2b(content, digest_size=16, key=key).hexdigest()


def checksum(previous: bytes, *columns: str) -> bytes:
    """Chain value of one ledger record over the value before it and its own columns."""
    hashed = hashlib.blake2b(previous, digest_size=16)
    for column in columns:
        hashed.update(column.encode() + b"\0")
    return hashed.digest()


def fingerprint(role: str, text: str) -> str:
    """Content hash of one turn, equal in every source that holds the same words."""
    words = text
    if "\r" in words:
        words = words.replace("\r\n", "\n").replace("\r", "\n")
    if not words.isascii():
        words = unicodedata.normalize("NFC", words)
    return "b2:" + digest_bytes(f"{role}{SEPARATOR}{words}".encode())


def source_fingerprint(pairs: Iterable[tuple[str, str]]) -> str:
    """Fingerprint of the content of several refs, given as (ref, turn fingerprint)."""
    return "b2:" + digest([list(pair) for pair in sorted(pairs)])


@lru_cache(RECENT)
def thread_id(source: str, native_id: str) -> str:
    """``<source>:<native id>``, percent-encoded; over-long native ids are hashed."""
    if len(native_id) > NATIVE_ID_LIMIT:
        return f"{source}:{digest_bytes(native_id.encode())}"
    plain = _PLAIN_ID.fullmatch(native_id)  # nearly always: nothing to encode
    return f"{source}:{native_id if plain else quote(native_id, safe=_SAFE)}"


def ref(thread: str, turn: int) -> str:
    """The reference string of one turn."""
    return f"thread:{thread}#turn:{turn}"


def thread_of(ref: str) -> str:
    """The thread id in a reference that is known to be sound; ``parse_ref`` takes any text."""
    return ref.removeprefix("thread:").rpartition("#turn:")[0]


def question_key(text: str) -> str:
    """Normalised text of a question: case and white space folded, closing marks removed."""
    folded = unicodedata.normalize("NFC", " ".join(text.split()).casefold())
    return folded.rstrip(" ?!.,;:\u2026\uff1f\uff01\u3002\u061f\u0964")


def question_id(text: str) -> str:
    """Id of a question: the same words asked twice are one node."""
    return "q:" + digest(question_key(text))


def concept_id(canonical_label: str) -> str:
    """Id of a concept, from its canonical label."""
    return "c:" + digest(canonical_label)


def journey_id(core_inquiry: str, first_ref: str) -> str:
    """Id of a Journey, fixed at its creation."""
    return "j:" + digest(core_inquiry, first_ref)


def waypoint_id(journey: str, sequence: int) -> str:
    """Id of the n-th waypoint of a Journey, counted from 1."""
    return f"{journey}/{sequence}"


def hypothesis_id(function: str, rule: str, src: str, dst: str, refs: Iterable[str]) -> str:
    """Id of a hypothesis: the same content is the same hypothesis."""
    return "h:" + digest(function, rule, src, dst, sorted(refs))
