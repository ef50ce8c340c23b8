"""What is read when no path is given."""

import io

import pytest
import typer

from cli import asking
from cli.show import take
from ingest.discover import Discovered, Download, FoundPlace

FOUND = Discovered(
    places=(
        FoundPlace(
            tool="codex",
            path="~/.codex/sessions",
            paths=("/h/.codex/sessions",),
            files=3,
            size=2_000_000,
        ),
    ),
    downloads=(Download(tool="chatgpt", path="/h/Downloads/export.zip"),),
)


@pytest.fixture
def found(monkeypatch):
    asked = []

    def run(operation, **arguments):
        asked.append((operation, arguments))
        return FOUND

    monkeypatch.setattr(asking, "run", run)
    return asked


def test_paths_given_are_the_paths(found):
    assert asking.named_or_found(["a", "b"], "", yes=False) == ("a", "b")
    assert found == []


def test_what_is_found_is_read_when_the_owner_said_yes(found, capsys):
    assert asking.named_or_found(None, "codex, pi", yes=True) == ("/h/.codex/sessions",)
    assert found == [("places", {"only": ("codex", "pi")})]
    said = capsys.readouterr().err
    assert "~/.codex/sessions  (3 files, 2.0 MB" in said
    assert "clew ingest /h/Downloads/export.zip" in said


@pytest.mark.usefixtures("found")
def test_nothing_is_read_where_nobody_can_be_asked(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(typer.Exit) as stopped:
        asking.named_or_found(None, "", yes=False)
    assert stopped.value.exit_code == 2
    assert "add --yes" in capsys.readouterr().err


def test_nothing_found_is_said(capsys):
    take.discovered(Discovered(), as_json=False)
    assert "nothing is there" in capsys.readouterr().out


def test_places_are_an_answer_too(capsys):
    take.discovered(FOUND, as_json=True)
    assert '"tool": "codex"' in capsys.readouterr().out
