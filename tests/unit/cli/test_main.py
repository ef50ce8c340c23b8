"""The border of the command line: options, errors, ends."""

from datetime import UTC

import pytest
import typer
from typer.testing import CliRunner

from cli import call, main
from graphstore.errors import QueryRefused, StoreNotFound
from tests.planted import NOW

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def no_options():
    token = call.OPTIONS.set(call.Options())
    yield
    call.OPTIONS.reset(token)


def failed(error, capsys):
    code = main.failed(error)
    return code, capsys.readouterr().err.splitlines()


def test_an_error_of_ours_is_one_line_and_one_hint(capsys):
    assert failed(StoreNotFound("/x"), capsys) == (
        3,
        ["clew: No store at /x.", "      make one with: clew up PATH"],
    )


def test_an_error_of_an_engine_is_still_one_line(capsys):
    code, lines = failed(QueryRefused("Parser exception: wrong\nat line 1\n ^."), capsys)
    assert code == 6
    assert lines[0] == "clew: The query was refused: Parser exception: wrong at line 1 ^."


def test_a_file_that_cannot_be_written_is_named(capsys):
    code, lines = failed(PermissionError(13, "Permission denied", "/etc/x"), capsys)
    assert (code, lines) == (1, ["clew: Permission denied: /etc/x"])


def test_anything_else_is_named_by_its_kind_and_nothing_of_it_is_quoted(capsys):
    code, lines = failed(ValueError("my secret words"), capsys)
    assert code == 1
    assert lines[0] == "clew: unexpected ValueError"
    assert "secret" not in "".join(lines)


def test_debug_shows_where_it_happened(capsys):
    call.OPTIONS.set(call.Options(debug=True))
    _, lines = failed(ValueError("x"), capsys)
    assert "ValueError: x" in lines


def test_options_before_the_command_become_settings(tmp_path):
    done = RUNNER.invoke(
        main.app, ["--home", str(tmp_path), "--workspace", "w", "config", "--json"]
    )
    assert done.exit_code == 0, done.output
    assert f'"\\"{tmp_path}\\""' in done.output
    assert '"\\"w\\""' in done.output
    assert done.output.count('"origin": "flag"') == 2


def test_the_version_is_told():
    assert RUNNER.invoke(main.app, ["--version"]).output.startswith("clew 0.")


def a_face(act):
    app = typer.Typer(cls=main.Face)
    app.command()(act)
    app.command("other")(act)
    return app


def test_an_interrupt_says_that_nothing_is_lost():
    def act():
        raise KeyboardInterrupt

    done = RUNNER.invoke(a_face(act), ["act"])
    assert done.exit_code == 130
    assert "what was committed stays" in done.output


def test_the_code_of_a_command_is_kept():
    def act():
        raise typer.Exit(5)

    assert RUNNER.invoke(a_face(act), ["act"]).exit_code == 5


def test_the_line_of_progress_is_wiped(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    call.progress("reading " + "x" * 200)
    call.clear_progress()
    err = capsys.readouterr().err
    assert err.startswith("\r\033[Kreading xxx")
    assert err.endswith("\r\033[K")
    assert len(err) < 130


def test_the_moment_is_that_of_the_clock():
    from service.clock import now

    assert now() > NOW
    assert now().tzinfo is UTC
