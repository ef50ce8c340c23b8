"""The Typer app, its global options, and the one border where errors become exit codes."""

import io
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cli.call import OPTIONS, Options, clear_progress
from cli.commands import dreaming, forgetting, keep, look, out, take, think


class Face(TyperGroup):
    """The group of all commands; it ends well when its reader or its user has had enough."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer keeps these types to itself
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            # the reader of a pipe went away (`clew ... | head`): nothing more to say
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit from None
        except KeyboardInterrupt:
            from cli.exits import INTERRUPTED

            clear_progress()
            print("clew: interrupted; what was committed stays", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=Face,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for group in (take, look, think, dreaming, out, keep, forgetting):
    group.register(app)


def version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        from importlib.metadata import version as installed

        print(f"clew {installed('clew')}")
        raise typer.Exit


@app.callback()
def clew(
    home: Annotated[str, typer.Option(help="Folder of all workspaces.", show_default=False)] = "",
    workspace: Annotated[str, typer.Option(help="Workspace to use.", show_default=False)] = "",
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback on failure.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Turn AI conversations into a graph that can be queried, scouted and dreamt over."""
    flags = {"store.home": home, "store.workspace": workspace}
    OPTIONS.set(Options(flags={key: value for key, value in flags.items() if value}, debug=debug))


def main() -> None:
    """Run the command line; the one place that turns errors into exit codes."""
    os.umask(0o077)  # conversations are private: whatever is written is for the owner alone
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a code page may lack a sign
    try:
        app(prog_name="clew")
    except Exception as error:  # noqa: BLE001 - the border: one line, one hint
        sys.exit(failed(error))


def failed(error: Exception) -> int:
    """Print an error as one line and one hint; return its exit code."""
    from cli.exits import code_of
    from graphstore.errors import Error

    clear_progress()
    if OPTIONS.get().debug:
        import traceback

        traceback.print_exception(error)
    message = f"unexpected {type(error).__name__}"
    hint = "run it again with: clew --debug ..., and report the traceback"
    if isinstance(error, Error):
        message, hint = error.message, error.hint
    elif isinstance(error, OSError) and error.strerror:
        message, hint = f"{error.strerror}: {error.filename}", ""
    print(f"clew: {message}", file=sys.stderr)
    if hint:
        print(f"      {hint}", file=sys.stderr)
    return code_of(error)
