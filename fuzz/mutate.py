"""Damage to the bytes of a conversation: of bytes, lines, JSON values, tables, archives."""

import io
import json
import random
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from typing import Any, TypeAlias

LIMIT = 64 * 1024
"""Bytes of a damaged sample at most, so that one execution stays short."""
STEPS = 3
"""Damages done to one sample at most."""

Files: TypeAlias = tuple[tuple[str, bytes], ...]
"""Path and content of every file of a sample."""

WORDS = (
    "", " ", "\n", "\0", "\ud800", "\udc00\ud83d", "\ufeff", "\u2028", "\x1b[31m", "\u202e",
    "e\u0301", "user", "assistant", "system", "tool", "human", "null", "-1", "1e999", "0", "text",
    "<system-reminder>", "</system-reminder>", "<think>", "<command-name>/x</command-name>",
    "/clear", "tool_use", "data:image/png;base64,AA==", "[masked:jwt]", "https://a.b/c",
    "sk-ant-api03-0123456789abcdefABCDEF", "2026-01-02T03:04:05Z", "2026-01-02",
    "0001-01-01T00:00:00+23:59", "00000000-0000-0000-0000-000000000000", "../../x", "C:\\x",
    "#### a  ", "```", "x" * 3000, "<" * 2000, "[[" * 700, "password=" * 200,
)  # fmt: skip
NUMBERS = (
    0, -1, 1, 2**31, 2**53, 2**63, -(2**63), 2**64, 10**30, 10**400, 1e308, -1e-308, 1e17,
    253402300800, float("nan"), float("inf"), float("-inf"), True, False,
)  # fmt: skip
INDENTED = 500
"""Brackets of a value that may be written over many lines: blanks grow with their square."""
NESTED = (8, 100, 511, 513, 900, 3000)


def damaged(rng: random.Random, files: Files, others: tuple[bytes, ...]) -> Files:
    """A sample with some of its files damaged; ``others`` are contents to splice in."""
    kept = list(files)
    for _ in range(rng.randint(1, STEPS)):
        place = rng.randrange(len(kept))
        name, content = kept[place]
        kept[place] = name, _step(rng, content, others)[:LIMIT]
    if len(kept) > 1 and rng.random() < 0.1:
        kept.pop(rng.randrange(len(kept)))
    return tuple(kept)


def _step(rng: random.Random, content: bytes, others: tuple[bytes, ...]) -> bytes:
    if content.startswith(b"SQLite format 3\0"):
        return rng.choice((_pages, _pages, _tables, _tables, _bytes))(rng, content)
    if content.startswith(b"PK"):
        return rng.choice((_members, _bytes))(rng, content)
    if content[:1] in {b"{", b"["} and rng.random() < 0.6:
        changed = _json(rng, content)
        if changed is not None:
            return changed
    if rng.random() < 0.15:
        return _spliced(rng, content, rng.choice(others))
    return rng.choice((_bytes, _lines, _lines))(rng, content)


# --- bytes and lines


def _bytes(rng: random.Random, content: bytes) -> bytes:
    if not content:
        return bytes(rng.randrange(256) for _ in range(rng.randint(1, 40)))
    at = rng.randrange(len(content))
    to = min(len(content), at + rng.randint(1, 200))
    match rng.randrange(8):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + content[to:]
        case 2:
            return content[:to] + content[at:to] * rng.randint(1, 20) + content[to:]
        case 3:
            return content[:at] + b"\0" * rng.randint(1, 5) + content[at:]
        case 4:
            return (
                content[:at]
                + rng.choice((b"\xff", b"\xed\xa0\x80", b"\xc3", b"\xef\xbb\xbf"))
                + content[at:]
            )
        case 5:
            junk = bytes(rng.randrange(256) for _ in range(to - at))
            return content[:at] + junk + content[to:]
        case 6:
            return rng.choice((_bom, _utf16, _crlf))(content)
        case _:
            flipped = bytearray(content)
            for _ in range(rng.randint(1, 8)):
                flipped[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            return bytes(flipped)


def _bom(content: bytes) -> bytes:
    return b"\xef\xbb\xbf" + content


def _utf16(content: bytes) -> bytes:
    return content.decode("utf-8", "replace").encode("utf-16")


def _crlf(content: bytes) -> bytes:
    return content.replace(b"\n", b"\r\n")


def _lines(rng: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(7):
        case 0:
            rng.shuffle(lines)
        case 1:
            lines[at], lines[other] = lines[other], lines[at]
        case 2:
            lines.pop(at)
        case 3:
            lines[at:at] = [lines[other]] * rng.randint(1, 30)
        case 4:  # glued
            lines[at] += lines[other]
            lines.pop(other)
        case 5:  # broken inside
            cut = rng.randrange(len(lines[at]) + 1)
            lines[at : at + 1] = [lines[at][:cut], lines[at][cut:]]
        case _:
            lines.insert(at, rng.choice(WORDS).encode("utf-8", "surrogatepass"))
    return b"\n".join(lines)


def _spliced(rng: random.Random, content: bytes, other: bytes) -> bytes:
    left, right = content.split(b"\n"), other.split(b"\n")
    return b"\n".join(left[: rng.randrange(len(left) + 1)] + right[rng.randrange(len(right)) :])


# --- JSON


def _json(rng: random.Random, content: bytes) -> bytes | None:
    """Values changed for others in one document, or in one line of several."""
    try:
        return _dumped(rng, _changed(rng, json.loads(content)))
    except (ValueError, RecursionError):
        pass
    lines = content.split(b"\n")
    at = rng.randrange(len(lines))
    try:
        lines[at] = _dumped(rng, _changed(rng, json.loads(lines[at])))
    except (ValueError, RecursionError):
        return None
    return b"\n".join(lines)


def _places(value: object) -> Iterator[tuple[Any, Any]]:
    """Every place of a value: the container and the key or index in it."""
    waiting = [value]
    while waiting:
        at = waiting.pop()
        pairs = (
            at.items() if isinstance(at, dict) else enumerate(at) if isinstance(at, list) else ()
        )
        for key, inner in pairs:
            yield at, key
            if isinstance(inner, dict | list):
                waiting.append(inner)


def _changed(rng: random.Random, value: object) -> object:
    for _ in range(rng.randint(1, 4)):
        places = list(_places(value))
        if not places:
            return _anything(rng)
        held, key = rng.choice(places)
        match rng.randrange(8):
            case 0 if isinstance(held, dict):
                del held[key]
            case 1:
                other, where = rng.choice(places)
                held[key] = _copied(
                    other[where] if where in other or isinstance(other, list) else None
                )
            case 2:  # ids of others: cycles, twins, orphans
                texts = [at[one] for at, one in places if _is_text(at, one)]
                held[key] = rng.choice(texts) if texts else ""
            case 3 if isinstance(held, list):
                held[key:key] = [held[key]] * rng.randint(1, 40)
            case 4 if isinstance(held[key], str):
                held[key] += rng.choice(WORDS)
            case 5 if isinstance(held, dict):
                held[rng.choice(WORDS)] = held[key]
            case _:
                held[key] = _anything(rng)
    return value


def _is_text(held: Any, key: Any) -> bool:  # noqa: ANN401 - JSON
    inside = key in held if isinstance(held, dict) else key < len(held)
    return inside and isinstance(held[key], str)


def _copied(value: object) -> object:
    return json.loads(json.dumps(value))


def _anything(rng: random.Random) -> object:
    match rng.randrange(8):
        case 0:
            return None
        case 1 | 2:
            return rng.choice(NUMBERS)
        case 3 | 4:
            return rng.choice(WORDS)
        case 5:
            return rng.choice(
                ([], {}, [[]], [None], {"": None}, [{}], {"type": "text", "text": "a"})
            )
        case 6:
            return rng.choice(("", " ")).join(rng.choice(WORDS) for _ in range(rng.randint(1, 3)))
        case _:
            return _nested(rng)


def _nested(rng: random.Random) -> str:
    """Stands for brackets in brackets, which no encoder would write."""
    return f"\ue000{rng.choice('ol')}{rng.choice(NESTED)}\ue001"


def _dumped(rng: random.Random, value: object) -> bytes:
    ascii_only, indented = rng.random() < 0.5, rng.random() < 0.1
    text = json.dumps(value, ensure_ascii=ascii_only)
    if indented and text.count("[") + text.count("{") <= INDENTED:
        text = json.dumps(value, ensure_ascii=ascii_only, indent=1)
    for kind, (left, right) in (("o", ('{"a":', "}")), ("l", ("[", "]"))):
        for mark in ("\ue000", "\\ue000"):
            end = mark.replace("e000", "e001").replace("\ue000", "\ue001")
            for depth in NESTED:
                sign = f'"{mark}{kind}{depth}{end}"'
                text = text.replace(sign, left * depth + "0" + right * depth)
    if rng.random() < 0.1:
        text = _twins(rng, text)
    return text.encode("utf-8", "surrogatepass")


def _twins(rng: random.Random, text: str) -> str:
    """A key of an object said twice."""
    colons = [at for at in range(len(text)) if text.startswith('": ', at)]
    if not colons:
        return text
    end = rng.choice(colons)
    start = text.rfind('"', 0, end)
    other = rng.choice(("null", "1", "[]", '""'))
    return f'{text[:start]}{text[start:end]}": {other}, {text[start:]}'


# --- databases and archives


def _pages(rng: random.Random, content: bytes) -> bytes:
    page = 4096 if len(content) > 4096 else 512
    damaged_ = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        start = rng.randrange(max(1, len(content) // page)) * page
        match rng.randrange(5):
            case 0:
                damaged_[start : start + page] = bytes(page)
            case 1:
                other = rng.randrange(max(1, len(content) // page)) * page
                damaged_[start : start + page] = content[other : other + page]
            case 2:  # the head of the file or of a page
                at = (0 if rng.random() < 0.5 else start) + rng.randrange(100)
                damaged_[at % len(content)] = rng.randrange(256)
            case _:
                for _ in range(rng.randint(1, 30)):
                    damaged_[(start + rng.randrange(page)) % len(content)] = rng.randrange(256)
    return bytes(damaged_)


def _tables(rng: random.Random, content: bytes) -> bytes:
    """Cells changed, rows and columns taken out, in a database that stays whole."""
    try:
        with closing(sqlite3.connect(":memory:")) as held:
            held.deserialize(content)
            for _ in range(rng.randint(1, 4)):
                _edit(rng, held)
            held.commit()
            return held.serialize()
    except (
        sqlite3.Error,
        OverflowError,
        UnicodeError,
        IndexError,
        TypeError,
    ):  # nothing left to change
        return _pages(rng, content)


def _edit(rng: random.Random, held: sqlite3.Connection) -> None:
    names = [
        row[0]
        for row in held.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    ]
    table = rng.choice(names)
    columns = [row[1] for row in held.execute(f'PRAGMA table_info("{table}")')]
    column = rng.choice(columns)
    rows = [row[0] for row in held.execute(f'SELECT rowid FROM "{table}"')]
    if not rows or rng.random() < 0.03:
        held.execute(
            rng.choice((f'DROP TABLE "{table}"', f'ALTER TABLE "{table}" RENAME TO "{column}_2"'))
        )
        return
    row = rng.choice(rows)
    if rng.random() < 0.1:
        held.execute(f'DELETE FROM "{table}" WHERE rowid = ?', (row,))
        return
    (cell,) = held.execute(f'SELECT "{column}" FROM "{table}" WHERE rowid = ?', (row,)).fetchone()
    held.execute(
        f'UPDATE OR REPLACE "{table}" SET "{column}" = ? WHERE rowid = ?', (_cell(rng, cell), row)
    )


def _cell(rng: random.Random, cell: object) -> object:
    if isinstance(cell, str) and cell[:1] in {"{", "["} and rng.random() < 0.8:
        changed = _json(rng, cell.encode("utf-8", "surrogatepass"))
        if changed is not None:
            return changed.decode("utf-8", "replace")
    number = rng.choice(NUMBERS)
    fits = isinstance(number, float) or abs(number) < 2**63
    word = rng.choice(WORDS).encode("utf-8", "replace")
    return rng.choice((None, number if fits else 0, word.decode(), word, b"\xff\0"))


def _members(rng: random.Random, content: bytes) -> bytes:
    """Members damaged inside an archive that stays whole."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = [(info.filename, archive.read(info)) for info in archive.infolist()]
    except (
        zipfile.BadZipFile,
        zlib.error,
        ValueError,
        OSError,
        NotImplementedError,
        RuntimeError,
        EOFError,
    ):
        return _bytes(rng, content)
    if not files:
        return _bytes(rng, content)
    place = rng.randrange(len(files))
    name, inner = files[place]
    files[place] = name, _step(rng, inner, (inner,))
    if rng.random() < 0.1:
        files.append((rng.choice(("../x", "/x", "a\\b", name, f"{name}/", "C:/x.json")), inner))
    return zipped(tuple(files))


def zipped(files: Files) -> bytes:
    """An archive of the files, the same for the same files."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in dict(files).items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return held.getvalue()
