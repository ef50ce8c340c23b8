"""What the generated parts of the documentation say; called from cog blocks."""

import ast
import importlib
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer.models import CommandInfo

ROOT = Path(__file__).parent.parent
SEVEN = ("graphstore", "ingest", "topology", "dream", "export", "service", "cli")
PLUGINS = {
    "readers": "ingest.readers",
    "shapes": "topology.shapes",
    "dream functions": "dream.functions",
    "export formats": "export.formats",
}


def clew(*words: str) -> str:
    """A command and what it prints, at a fixed width."""
    env = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(
        [sys.executable, "-m", "cli", *words],
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return "```text\n$ clew " + " ".join(words) + "\n" + done.stdout.rstrip() + "\n```"


def commands() -> list[str]:
    """All commands, those below another one after it, each as it is typed."""
    from cli.main import app

    found = named(app.registered_commands)
    for group in app.registered_groups:
        if group.typer_instance is not None and group.name:
            below = named(group.typer_instance.registered_commands)
            found += [group.name, *(f"{group.name} {each}" for each in below)]
    return found


def named(registered: "Iterable[CommandInfo]") -> list[str]:
    """Names of some commands, in the order of the help."""
    return [each.name or each.callback.__name__ for each in registered if each.callback]


def every_help() -> str:
    """The help of every command, asked for in this process: twenty new ones would be slow."""
    from typer.testing import CliRunner

    from cli.main import app

    plain = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
    sections = []
    for name in commands():
        done = CliRunner().invoke(app, [*name.split(), "--help"], prog_name="clew", env=plain)
        said = done.output.rstrip()
        sections.append(f"## clew {name}\n\n```text\n$ clew {name} --help\n{said}\n```")
    return "\n\n".join(sections)


def settings_table() -> str:
    """Every setting with its default and range."""
    from service.settings import Settings, rows

    lines = ["| key | default | allowed | what |", "|---|---|---|---|"]
    lines += [
        f"| `{row.key}` | `{row.value}` | {row.allowed} | {row.about} |"
        for row in rows(Settings(), {})
    ]
    return "\n".join(lines)


def modules() -> Iterator[str]:
    """Names of every module of the seven packages."""
    for package in SEVEN:
        for found in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if not found.name.endswith("__main__"):
                yield found.name


def errors_tree() -> str:
    """Every error: message, hint, exit code, drawn as a tree."""
    from cli.exits import code_of
    from graphstore.errors import Error

    for name in modules():
        importlib.import_module(name)
    lines = ["| error | message | hint | exit code |", "|---|---|---|---|"]

    def walk(kind: type[Error], depth: int) -> None:
        message = (kind.__doc__ or "").strip().splitlines()[0]
        code = code_of(kind.__new__(kind))
        lines.append(
            f"| {'&nbsp;&nbsp;' * depth}{kind.__name__} | {message} | {kind.hint} | {code} |"
        )
        for child in sorted(kind.__subclasses__(), key=lambda each: each.__name__):
            walk(child, depth + 1)

    walk(Error, 0)
    return "\n".join(lines)


def plugin_table(group: str) -> str:
    """The plugins of a group with the first line of their docstrings."""
    package = PLUGINS[group]
    folder = ROOT / package.replace(".", "/")
    lines = ["| name | what |", "|---|---|"]
    for file in sorted(folder.glob("[a-z]*.py")):
        text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
        about = " ".join(text.partition("\n\n")[0].replace("``", "`").split())
        name = file.stem.replace("_", "-") if group == "readers" else file.stem
        lines.append(f"| `{name}` | {about} |")
    return "\n".join(lines)


def code_table() -> str:
    """What a run of ingest may note, by how much was lost."""
    from cli.losses import MEANING
    from ingest.model import NOTICE, PART, REPAIR, WHOLE

    groups = (
        ("a file or conversation was lost", WHOLE),
        ("a part was lost", PART),
        ("something was put right", REPAIR),
        ("nothing was lost", NOTICE),
    )
    lines = ["| code | what | means |", "|---|---|---|"]
    for what, codes in groups:
        lines += [f"| `{code}` | {what} | {MEANING[code]} |" for code in sorted(codes)]
    return "\n".join(lines)


def model_tables() -> str:
    """Every node and relationship table with its columns."""
    from graphstore.model.hypothesis import HYPOTHESES
    from graphstore.model.knowledge import EDGES, NODES

    lines = ["| table | joins | columns |", "|---|---|---|"]
    lines += [f"| {node.TABLE} | key `{node.KEY}` | {columns(node)} |" for node in NODES]
    for edge in (*EDGES, *HYPOTHESES):
        pairs = ", ".join(f"{src} to {dst}" for src, dst in edge.PAIRS)
        lines.append(f"| {edge.TABLE} | {pairs} | {columns(edge)} |")
    return "\n".join(lines)


def columns(kind: type) -> str:
    """Columns of a table, ends left out."""
    ends = {"src_table", "src", "dst_table", "dst", "edge"}
    return ", ".join(name for name in kind.model_fields if name not in ends)  # type: ignore[attr-defined]
