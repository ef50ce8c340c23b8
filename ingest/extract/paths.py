"""File paths as names: what is one, relative to its project, short and long forms joined."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_EXTENSIONS: Final = frozenset(
    [
        "py",
        "pyi",
        "ts",
        "tsx",
        "js",
        "jsx",
        "mjs",
        "cjs",
        "go",
        "rs",
        "java",
        "kt",
        "kts",
        "swift",
        "c",
        "h",
        "cc",
        "cpp",
        "cxx",
        "hpp",
        "m",
        "mm",
        "cs",
        "fs",
        "rb",
        "php",
        "pl",
        "lua",
        "r",
        "jl",
        "scala",
        "clj",
        "ex",
        "exs",
        "erl",
        "hs",
        "ml",
        "sh",
        "bash",
        "zsh",
        "fish",
        "ps1",
        "bat",
        "sql",
        "html",
        "htm",
        "css",
        "scss",
        "less",
        "vue",
        "svelte",
        "md",
        "mdx",
        "rst",
        "txt",
        "tex",
        "json",
        "jsonl",
        "yaml",
        "yml",
        "toml",
        "ini",
        "cfg",
        "conf",
        "env",
        "lock",
        "xml",
        "csv",
        "tsv",
        "proto",
        "graphql",
        "tf",
        "dockerfile",
        "ipynb",
        "log",
        "pdf",
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "db",
        "sqlite",
        "parquet",
        "zip",
        "tar",
        "gz",
        "wasm",
        "mod",
        "sum",
        "gradle",
        "cmake",
        "mk",
        "patch",
        "diff",
        "plist",
        "service",
    ]
)
_LINE: Final = re.compile(r"(?::\d+)+$")
_DATE: Final = re.compile(r"[\d/.-]+$")
_PASSING: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}|[0-9a-f]{16}|\d{10}|REDACTED|/tmp/")
"""Ids and stamps in a path: it names one run, not a place."""
_DEEP: Final = 2
"""Slashes that make a path of words without an ending."""
_LEAST: Final = 4
_MOST: Final = 160
_NOISE: Final = frozenset({"tmp", "var", "proc", "dev", "usr", "etc", "bin", "node_modules"})


@lru_cache(maxsize=100_000)
def is_path(label: str) -> bool:
    """Whether a label has the shape of a file path or of a file name with a known ending."""
    if " " in label or not label or "\u2026" in label or _DATE.match(label):
        return False
    name = label.rstrip("/").rsplit("/", 1)[-1]
    stem, dot, ending = name.rpartition(".")
    known = bool(dot and stem and ending.casefold() in _EXTENSIONS)
    deep = label.count("/") >= _DEEP or label.startswith(("./", "../", "~/"))
    # "and/or", "client/server": two plain words are no path
    return known or (deep and re.search(r"[a-z]", label) is not None)


_MARK: Final = re.compile(r"/|\.(?=[A-Za-z])")
_TAIL: Final = re.compile(r"[\w.@+~/-]*")


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Stretches that may be a path: grown both ways from each slash and inner dot."""
    done = 0
    for mark in _MARK.finditer(text):
        start = mark.start()
        if start < done:
            continue
        found = _TAIL.match(text, start)
        end = found.end() if found else start + 1
        while start > done and (text[start - 1].isalnum() or text[start - 1] in "_.@+~-"):
            start -= 1
        done = end
        yield start, end


@lru_cache(maxsize=100_000)
def relative(written: str, project: str | None, *, told: bool = False) -> str:
    """The path as a label: without project root, line number or leading dots; empty if none.

    ``told``: something that knows says that it is a path, whatever it looks like.
    """
    path = _LINE.sub("", written.strip().rstrip(".,;:")).replace("\\", "/")
    if len(path) > _MOST or not (told or is_path(path)) or _PASSING.search(path):
        return ""
    path = _inside(path, project) if project else path
    while path.startswith("./"):
        path = path[2:]
    path = path.rstrip("/")
    first = path.lstrip("/").split("/", 1)[0]
    # what follows the scheme of an address is no path
    if path.startswith("//") or (path.startswith("/") and first in _NOISE):
        return ""
    return path if len(path) >= _LEAST and not path.startswith("..") else ""


def _inside(path: str, project: str) -> str:
    """Cut the root where the path holds it, or the folder that the project is named after."""
    root = project.rstrip("/")
    if path.startswith(root + "/"):
        return path[len(root) + 1 :]
    name = "/" + root.rsplit("/", 1)[-1] + "/"
    at = path.rfind(name) if path.startswith(("/", "~")) else -1
    return path[at + len(name) :] if at >= 0 else path


def merged(paths: list[str]) -> list[tuple[str, str]]:
    """(gone, kept) pairs: long forms of a known relative path, and bare names with one owner."""
    tails: dict[str, list[str]] = {}
    for path in paths:
        parts = path.split("/")
        for at in range(1, len(parts)):
            tails.setdefault("/".join(parts[at:]), []).append(path)
    pairs: dict[str, str] = {}
    for path in paths:
        if "/" in path:
            # with and without repository root: the shorter is the one inside the repository
            outside = [one for one in tails.get(path, ()) if one.startswith(("/", "~"))]
            pairs.update(dict.fromkeys(outside, path))
    for path in paths:
        owners = {_final(one, pairs) for one in tails.get(path, ())}
        if "/" not in path and len(owners) == 1:
            pairs[path] = owners.pop()
    return [(gone, _final(kept, pairs)) for gone, kept in sorted(pairs.items())]


def _final(kept: str, pairs: dict[str, str]) -> str:
    seen = {kept}
    while kept in pairs and pairs[kept] not in seen:
        kept = pairs[kept]
        seen.add(kept)
    return kept
