"""The documentation says what is so: generated parts, links, examples, proofs."""

import ast
import importlib.util
import inspect
import io
import itertools
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.dreamt import SETTINGS, a_pack, a_pair
from tests.planted import NOW
from tests.unit.export.export_sample import ALL, tiny
from tests.unit.topology.conftest import Sketch

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = [str(page) for page in PAGES if "[[[cog" in page.read_text("utf-8")]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
TEST_ID = re.compile(r"`(tests/[\w/]+\.py)(?:::([\w:]+))?`")


def test_generated_parts_are_up_to_date():
    done = subprocess.run(
        [Path(sys.executable).parent / "cog", "--check", "--diff", *GENERATED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_into_the_repository_lead_somewhere(page):
    for target in LINK.findall(page.read_text("utf-8")):
        if "://" not in target and not target.startswith("#"):
            assert (page.parent / target.partition("#")[0]).exists(), target


def operations_of_commands():
    """Command name -> (first line of its help, name of the operation that it runs)."""
    found = {}
    for file in sorted((ROOT / "cli" / "commands").glob("[a-z]*.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name != "register":
                runs = [
                    ast.literal_eval(call.args[0])
                    for call in ast.walk(node)
                    if isinstance(call, ast.Call)
                    and isinstance(call.func, ast.Name)
                    and call.func.id == "run"
                ]
                found[node.name] = (str(ast.get_docstring(node)).splitlines()[0], runs)
    return found


COMMANDS = operations_of_commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_says_what_its_operation_says(name):
    from service import operations

    said, runs = COMMANDS[name]
    assert name in runs
    assert said == str(inspect.getdoc(getattr(operations, name))).splitlines()[0]


def test_every_operation_has_a_command():
    from service import operations

    public = {
        name
        for name, made in vars(operations).items()
        if inspect.isfunction(made)
        and made.__module__.startswith(operations.__name__)
        and next(iter(inspect.signature(made).parameters), "") == "session"
    }
    run = {operation for _, runs in COMMANDS.values() for operation in runs}
    assert public - run == {"limits"}


def test_every_code_of_a_run_has_words():
    from cli.losses import MEANING
    from ingest.model import CODES

    assert set(MEANING) == CODES


class TestReadme:
    TEXT = (ROOT / "README.md").read_text("utf-8").splitlines()

    def test_it_is_short_and_shows_a_command_early(self):
        assert len(self.TEXT) <= 125
        first = next(at for at, line in enumerate(self.TEXT, 1) if "clew up" in line)
        assert first <= 25

    def test_it_names_only_commands_that_there_are(self):
        from cli.main import app

        known = {
            each.name or getattr(each.callback, "__name__", "") for each in app.registered_commands
        } | {str(each.name) for each in app.registered_groups}
        for word in re.findall(r"`clew (\w+)", "\n".join(self.TEXT)):
            assert word in known, word

    def test_the_picture_is_small(self):
        assert (ROOT / "docs" / "map.png").stat().st_size < 150_000


def example(page: str, tmp_path: Path) -> ModuleType:
    """The whole file at the end of a how-to page, imported from where it is told to be saved."""
    text = (ROOT / "docs" / "howto" / page).read_text("utf-8")
    source = BLOCK.findall(text)[-1]
    stem = re.findall(r"Save it as `[\w/]+/(\w+)\.py`", text)[-1]
    file = tmp_path / f"{stem}.py"
    file.write_text(source, "utf-8")
    spec = importlib.util.spec_from_file_location(f"example_{stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.NAME.replace("-", "_") == stem
    assert module.__doc__
    return module


class TestHowTo:
    def test_the_reader_reads(self, tmp_path):
        from graphstore.model.conversation import Role
        from ingest.model import ReadFailure, Source, Tally

        reader = example("add-a-reader.md", tmp_path)
        source = Source.of_bytes(b"Q: What cracks?\nA: The kiln.\nAt night.\nQ: Why?\n")
        tally = Tally(name="-")
        (thread,) = reader.read(source, tally)
        assert [turn.role for turn in thread.turns] == [Role.HUMAN, Role.ASSISTANT, Role.HUMAN]
        assert thread.turns[1].blocks == ("The kiln.\nAt night.",)
        assert tally.records == sum(turn.records for turn in thread.turns)
        assert reader.sniff(source.peek(), source) is not None
        assert reader.sniff(b"A: no", source) is None
        (failure,) = reader.read(Source.of_bytes(b"\xff\n"), Tally())
        assert isinstance(failure, ReadFailure)
        assert (reader.VERSION, reader.APPENDABLE, reader.TIER) == (1, False, "unproven")

    def test_the_shape_is_found(self, tmp_path):
        from topology.model import Limits
        from topology.structure import Structure

        shape = example("add-a-shape.md", tmp_path)
        sketch = Sketch()
        for number, concepts in enumerate((5, 4, 6), start=1):
            sketch.ask(f"s:{number}", f"q:{number}", *(f"c:{number}{at}" for at in range(concepts)))
        limits = Limits()
        seeds = list(shape.find(Structure(sketch.view(), limits), limits))
        assert [seed.members[0].node_id for seed in seeds] == ["q:3", "q:1"]
        assert all(seed.refs for seed in seeds)

    def test_the_dream_function_drafts_what_passes_every_check_but_that_it_is_not_installed(
        self, tmp_path
    ):
        from dream.adjudicate import adjudicate
        from dream.landing import horizon

        function = example("add-a-dream-function.md", tmp_path)
        pack = a_pack()
        (draft,) = function.draft(pack)
        assert draft.rule in function.RULES
        assert set(draft.refs) <= {turn.alias for turn in pack.turns}
        verdict = adjudicate(draft, pack, horizon(SETTINGS, NOW), NOW)
        assert set(getattr(verdict, "failed", ())) <= {"known_rule"}
        assert not list(function.draft(pack.replace(pairs=(a_pair(is_linked=True),))))
        assert draft.edge == function.EDGE
        assert function.WANTS
        assert function.INSTRUCTIONS

    def test_the_export_writes_every_edge_once_and_marks_what_was_dreamt(self, tmp_path):
        from export import Switches

        format_ = example("add-an-export.md", tmp_path)
        shown, out = tiny(ALL), io.BytesIO()
        format_.write(shown, out)
        lines = out.getvalue().decode().splitlines()
        assert len(lines) == len(shown.edges) + len(shown.hypotheses)
        assert sum(line.endswith("Hypothesis, not source") for line in lines) == len(
            shown.hypotheses
        )
        bare = io.BytesIO()
        format_.write(tiny(Switches()), bare)
        assert b"Hypothesis" not in bare.getvalue()
        assert format_.SUFFIX == ".tsv"


def test_every_plugin_is_documented():
    from graphstore import plugins

    page = (ROOT / "docs" / "plugins.md").read_text("utf-8")
    for package in ("ingest.readers", "topology.shapes", "dream.functions", "export.formats"):
        for name in plugins.names(package):
            assert f"| `{name}` |" in page, name


def defined(file: Path) -> set[str]:
    """Names of the tests of a file, with their classes."""
    names = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names.add(node.name)
            names |= {f"{node.name}::{e.name}" for e in node.body if isinstance(e, ast.FunctionDef)}
    return names


CLAIMS = [
    line
    for line in (ROOT / "docs" / "capabilities.md").read_text("utf-8").splitlines()
    if re.match(r"\| \d+ \|", line)
]


def proves(text: str):
    """Checks that a text names tests, and that there are all of them."""
    proofs = TEST_ID.findall(text)
    assert proofs, text
    for file, name in proofs:
        assert (ROOT / file).exists(), file
        assert not name or name in defined(ROOT / file), f"{file}::{name}"


@pytest.mark.parametrize("row", CLAIMS, ids=lambda row: row.split("|")[1].strip())
def test_every_capability_names_tests_that_there_are(row):
    proves(row)


def test_the_page_on_dreaming_names_tests_that_there_are():
    proves((ROOT / "docs" / "howto" / "check-dreaming.md").read_text("utf-8"))


def test_capabilities_are_numbered_once_and_in_order():
    numbers = [int(row.split("|")[1]) for row in CLAIMS]
    assert all(one < other for one, other in itertools.pairwise(numbers))
