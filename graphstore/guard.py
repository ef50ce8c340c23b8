"""Which ad-hoc Cypher may run: one reading statement, by an allow-list of clauses and functions.

The engine hears a time limit between batches of rows only, and grows a text or a list without
asking for memory. So what can grow is bounded before it runs: numbers in a range, hops of a
path, nesting, and how often a query can add a value to itself.
"""

import re
from collections.abc import Collection
from typing import Final

from graphstore.errors import QueryRefused

_TOKEN: Final = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<quoted>`[^`]*`)"
    r"|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<parameter>\$[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<mark><=|>=|<>|=~|\.\.|->|<-|/(?!\*)|[-+*%^=<>()\[\]{},.:|!&])",
    re.DOTALL,
)
LIMIT: Final = 20_000
"""Characters."""
RANGE: Final = 100_000
"""Numbers that one range may hold: the engine builds it whole, and no time limit stops it."""

HOPS: Final = 8
"""Longest path of a pattern of variable length."""
DEPTH: Final = 40
"""Brackets inside brackets, and other things inside themselves: the engine's parser recurses."""
CLAUSES: Final = 60
GROWTH: Final = 64
"""How many copies of one value a query can put together: sums of ``+`` and of list items in a
clause, multiplied over clauses that follow one another."""

_OPENERS: Final = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN"})
_WRITING: Final = """
ADD ALTER ANALYZE ATTACH BEGIN CALL CHECKPOINT COMMENT COMMIT COPY CREATE DELETE DETACH DROP
EXPLAIN EXPORT EXTENSION FOREACH FORCE GRANT IMPORT INSERT INSTALL INTO LOAD MACRO MERGE PREPARE
PROFILE REMOVE RENAME REVOKE ROLLBACK SET TRANSACTION TRUNCATE UNINSTALL UPDATE USE VACUUM
YIELD
"""
_READING: Final = """
abs all any avg ceil coalesce collect contains count date date_part datepart ends_with
exists first floor head id ifnull keys label labels last left length list_contains list_distinct
list_element list_extract list_len list_position list_reverse list_slice list_sort list_sum
list_unique lower ltrim max min nodes none nullif offset prefix properties range regexp_extract
regexp_full_match regexp_matches rels relationships reverse right round rtrim sign single size
split sqrt starts_with string_split struct_extract substr substring suffix sum tail timestamp
to_double to_int64 tofloat tointeger tolower tostring toupper trim typeof upper
"""
_PLAIN: Final = """
AND AS BY CASE CONTAINS DISTINCT ELSE IN IS LIMIT MATCH NOT ON OR RETURN SKIP THEN UNWIND WHEN
WHERE WITH XOR
"""
_REFUSED: Final = frozenset(_WRITING.split())
_FUNCTIONS: Final = frozenset(_READING.split())
_BEFORE_BRACKET: Final = frozenset(_PLAIN.split())
"""Words that may stand before a bracket without being a function."""
_BOUNDS: Final = re.compile(r"(-?\d{1,18}),(-?\d{1,18})(?:,\d{1,18})?\)")
_CALLS: Final = frozenset({"show_tables", "table_info"})


def tokens(cypher: str) -> list[tuple[str, str]]:
    """Kind and text of each token, without blanks and comments.

    Raises QueryRefused at the first character that belongs to none: among them the semicolon,
    so there is one statement.
    """
    if len(cypher) > LIMIT:
        reason = "it is too long"
        raise QueryRefused(reason)
    found, place = [], 0
    while place < len(cypher):
        match = _TOKEN.match(cypher, place)
        if match is None:
            reason = f"the character at {place + 1} is not allowed"
            raise QueryRefused(reason)
        kind = match.lastgroup or ""
        if kind != "space":
            found.append((kind, match.group()))
        place = match.end()
    return found


def check(cypher: str, parameters: Collection[str] = ()) -> str:
    """Return the query without a closing semicolon if it only reads; raises QueryRefused.

    ``parameters`` are the names that have a value: the engine would take others for null.
    """
    statement = cypher.strip().removesuffix(";")
    found = tokens(statement)
    words = [word.upper() for kind, word in found if kind == "word"]
    if not words or found[0][0] != "word":
        raise QueryRefused(_BEGIN)
    if words[0] == "CALL" and len(found) > 1 and found[1][1] in _CALLS:
        found = found[2:]
    elif words[0] not in _OPENERS:
        raise QueryRefused(_BEGIN)
    for kind, word in found:
        if kind == "parameter" and word[1:] not in parameters:
            reason = f"the parameter {word} has no value"
            raise QueryRefused(reason)
    for (kind, word), (_, following) in zip(found, [*found[1:], ("", "")], strict=True):
        _check_token(kind, word, following)
    _check_ranges([word for _, word in found])
    _check_hops([word for _, word in found])
    _check_depth(found)
    _check_growth(found)
    if "RETURN" not in words:
        reason = "it must RETURN something"
        raise QueryRefused(reason)
    return statement


_BEGIN: Final = "it must begin with MATCH, OPTIONAL MATCH, UNWIND, WITH or RETURN"


def _check_token(kind: str, word: str, following: str) -> None:
    called = following == "("
    if kind == "quoted" and called:
        reason = "a quoted name is no function"
        raise QueryRefused(reason)
    if kind != "word":
        return
    if word.upper() in _REFUSED:
        reason = f"{word.upper()} is not allowed"
        raise QueryRefused(reason)
    if called and word.lower() not in _FUNCTIONS and word.upper() not in _BEFORE_BRACKET:
        reason = f"the function {word} is not allowed"
        raise QueryRefused(reason)


def _check_ranges(words: list[str]) -> None:
    for place in range(len(words) - 1):
        if words[place].lower() == "range" and words[place + 1] == "(":
            bounds = _BOUNDS.match("".join(words[place + 2 : place + 9]))
            if bounds is None or int(bounds[2]) - int(bounds[1]) >= RANGE:
                reason = f"a range is two numbers written out, less than {RANGE:,} apart"
                raise QueryRefused(reason)


_STAR: Final = re.compile(r"\*(?:ALL|TRAIL|ACYCLIC|SHORTEST)*(\d+)(?:(\.\.)(\d+)?)?")


def _check_hops(words: list[str]) -> None:
    """A star inside the brackets of a relation needs an upper bound."""
    inside = False
    for place, word in enumerate(words):
        inside = (inside or words[place - 1 : place + 1] == ["-", "["]) and word != "]"
        if not (inside and word == "*"):
            continue
        bounds = _STAR.match("".join(words[place : place + 8]).upper())
        most = bounds and (bounds[3] if bounds[2] else bounds[1])
        if not most or int(most) > HOPS:
            reason = f"a path of variable length needs an upper bound of at most {HOPS} hops"
            raise QueryRefused(reason)


_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_CLAUSE: Final = frozenset({"MATCH", "UNION", "UNWIND", "WITH", "RETURN"})


def _check_depth(found: list[tuple[str, str]]) -> None:
    depth = run = clauses = cases = 0
    for kind, word in found:
        sign = word.upper() if kind in ("word", "mark") else ""
        depth += (sign in _OPEN) - (sign in _CLOSE)
        run = run + 1 if sign in ("NOT", "-", "+") else 0
        clauses += sign in _CLAUSE
        cases = max(0, cases + (sign == "CASE") - (sign == "END"))
        if max(depth, run, cases) > DEPTH or clauses > CLAUSES:
            reason = "it is nested too deeply, or has too many clauses"
            raise QueryRefused(reason)


def _check_growth(found: list[tuple[str, str]]) -> None:
    """A clause can put a value together as often as it adds or lists; clauses multiply that."""
    growth, copies, brackets = 1, 1, ""
    for place, (kind, word) in enumerate(found):
        if kind == "word" and word.upper() in _CLAUSE:
            growth, copies = growth * copies, 1
        if word in _OPEN and kind == "mark":
            brackets += word
        elif word in _CLOSE and kind == "mark":
            brackets = brackets[:-1]
        elif kind == "mark" and (word == "+" or (word == "," and brackets[-1:] in ("[", "{"))):
            literal = found[place + 1 : place + 2] and found[place + 1][0] in ("number", "text")
            copies += not literal
        if growth * copies > GROWTH:
            reason = "it puts values together too often"
            raise QueryRefused(reason)
