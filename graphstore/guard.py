"""Which ad-hoc Cypher may run: one reading statement, by an allow-list of clauses and functions."""

import re
from typing import Final

from graphstore.errors import QueryRefused

_TOKEN: Final = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<quoted>`[^`]*`)"
    r"|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<parameter>\$[A-Za-z_]\w*)"
    r"|(?P<word>[^\W\d]\w*)"
    r"|(?P<mark><=|>=|<>|=~|\.\.|->|<-|[-+*/%^=<>()\[\]{},.:|!&])",
    re.DOTALL,
)
LIMIT: Final = 20_000
"""Characters."""

_OPENERS: Final = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN"})
_REFUSED: Final = frozenset(
    ["ADD", "ALTER", "ANALYZE", "ATTACH", "BEGIN", "CALL", "CHECKPOINT", "COMMENT", "COMMIT", "COPY", "CREATE", "DELETE", "DETACH", "DROP", "EXPLAIN", "EXPORT", "EXTENSION", "FOREACH", "FORCE", "GRANT", "IMPORT", "INSERT", "INSTALL", "INTO", "LOAD", "MACRO", "MERGE", "PREPARE", "PROFILE", "PROJECT", "REMOVE", "RENAME", "REVOKE", "ROLLBACK", "SET", "TRANSACTION", "TRUNCATE", "UNINSTALL", "UPDATE", "USE", "VACUUM", "YIELD"]
)
_FUNCTIONS: Final = frozenset(
    ["abs", "all", "any", "avg", "ceil", "coalesce", "collect", "concat", "contains", "count", "date", "date_part", "datepart", "distinct", "ends_with", "exists", "first", "floor", "head", "id", "ifnull", "in", "is_null", "keys", "label", "labels", "last", "left", "length", "list_any_value", "list_append", "list_concat", "list_contains", "list_distinct", "list_element", "list_extract", "list_len", "list_position", "list_reverse", "list_slice", "list_sort", "list_sum", "list_to_string", "list_unique", "lower", "lpad", "ltrim", "max", "min", "none", "nodes", "not", "nullif", "offset", "or", "and", "xor", "prefix", "properties", "range", "regexp_extract", "regexp_full_match", "regexp_matches", "regexp_replace", "rels", "relationships", "repeat", "reverse", "right", "round", "rpad", "rtrim", "sign", "single", "size", "split", "sqrt", "starts_with", "string_split", "struct_extract", "substr", "substring", "suffix", "sum", "tail", "timestamp", "to_double", "to_int64", "tofloat", "tointeger", "tolower", "tostring", "toupper", "trim", "typeof", "upper", "when", "where", "then", "else", "case", "return", "with", "match", "by", "on"]
)


def tokens(cypher: str) -> list[tuple[str, str]]:
    """Kind and text of each token, without blanks and comments.

    Raises QueryRefused at the first character that belongs to none: among them the semicolon,
    so there is one statement.
    """
    if len(cypher) > LIMIT:
        raise QueryRefused("it is too long")
    found, place = [], 0
    while place < len(cypher):
        match = _TOKEN.match(cypher, place)
        if match is None:
            raise QueryRefused(f"the character at {place + 1} is not allowed")
        kind = match.lastgroup or ""
        if kind != "space":
            found.append((kind, match.group()))
        place = match.end()
    return found


def check(cypher: str) -> str:
    """Return the query without a closing semicolon if it only reads; raises QueryRefused."""
    statement = cypher.strip().removesuffix(";")
    found = tokens(statement)
    if not found or found[0][1].upper() not in _OPENERS:
        raise QueryRefused("it must begin with MATCH, OPTIONAL MATCH, UNWIND, WITH or RETURN")
    for (kind, word), following in zip(found, [*found[1:], ("", "")], strict=True):
        if kind == "word":
            _check_word(word, following[1])
        if kind == "quoted" and following[1] == "(":
            raise QueryRefused("a quoted name is no function")
    if not any(kind == "word" and word.upper() == "RETURN" for kind, word in found):
        raise QueryRefused("it must RETURN something")
    return statement


def _check_word(word: str, following: str) -> None:
    if word.upper() in _REFUSED:
        raise QueryRefused(f"{word.upper()} is not allowed")
    if following == "(" and word.lower() not in _FUNCTIONS:
        raise QueryRefused(f"the function {word} is not allowed")
