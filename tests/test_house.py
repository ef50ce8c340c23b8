"""Gates on names, layout and the shape of signatures."""

import ast
import re
import shutil
import subprocess
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GIT = shutil.which("git") or "git"
SEVEN = ("cli", "dream", "export", "graphstore", "ingest", "service", "topology")
SOURCES = sorted(file for package in SEVEN for file in (ROOT / package).rglob("*.py"))
DUMPING_GROUNDS = {"utils", "helpers", "common", "misc", "manager", "core"}
LOOSE_ALLOWED = {
    *("codec.py", "http.py", "mcp.py", "llm.py"),
    "engine.py",  # parameters as the engine takes them
    "shape.py",  # parsed records, looked at to choose a reader
}
QUERY_COMPOSERS = {"schema.py", "codec.py", "projection.py", "view.py"}


def tree(file):
    return ast.parse(file.read_text("utf-8"))


@pytest.mark.parametrize("name", SEVEN)
def test_no_other_distribution_owns_our_names(name):
    # an editable install lists no modules, so "nobody" is as good as "clew"
    assert set(packages_distributions().get(name, ["clew"])) == {"clew"}


def test_every_package_is_under_the_import_contract():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    named = contract["tool"]["importlinter"]["root_packages"]
    found = {file.parent.name for file in ROOT.glob("*/__init__.py")}
    assert found == set(named) == set(SEVEN)


def test_no_dumping_grounds():
    assert [file for file in SOURCES if file.stem in DUMPING_GROUNDS] == []


def test_every_module_says_what_it_is_for():
    assert [str(file) for file in SOURCES if not ast.get_docstring(tree(file))] == []


def test_signatures_hold_no_loose_mappings():
    loose = re.compile(r"(dict|Mapping)\[str, Any\]")
    found = []
    for file in SOURCES:
        if file.name in LOOSE_ALLOWED or "readers" in file.parts:
            continue
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.FunctionDef):
                hints = [node.returns, *(arg.annotation for arg in node.args.args)]
                if any(hint is not None and loose.search(ast.unparse(hint)) for hint in hints):
                    found.append(f"{file.name}:{node.name}")
    assert found == []


def test_values_are_never_made_without_validation():
    calls = {"model_construct", "model_copy"}
    found = [
        f"{file.name}:{node.lineno}"
        for file in SOURCES
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Attribute) and node.attr in calls
    ]
    assert found == []


def test_matches_never_make_cross_products():
    comma = re.compile(r"MATCH\s*\([^()]*\)\s*,\s*\(")
    rows = re.compile(r"UNWIND\s+\$")
    found = [
        file.name
        for file in SOURCES
        if comma.search(file.read_text("utf-8")) or rows.search(file.read_text("utf-8"))
    ]
    assert found == []


def test_the_tree_names_no_workplace():
    words = re.compile("|".join(("/wo" + "rk/", "farm" + "-", "\\.lib" + "rary")))
    listed = subprocess.run(
        [GIT, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    found = [
        str(file)
        for file in files
        if file.is_file() and words.search(file.read_text("utf-8", "replace"))
    ]
    assert found == []
