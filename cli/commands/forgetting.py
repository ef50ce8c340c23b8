"""The command that removes conversations for good."""

from typing import Annotated

import typer

from cli.call import run


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(forget)


def forget(
    what: Annotated[
        str, typer.Argument(help="thread, project, before or query.", show_default=False)
    ],
    value: Annotated[
        str, typer.Argument(help="Thread id, project, day, or words.", show_default=False)
    ],
    lineage: Annotated[
        bool, typer.Option("--lineage", help="With forks, resumes and subagents.")
    ] = False,
    also_notes: Annotated[
        bool, typer.Option("--also-notes", help="Delete notes of the workspace that quote it.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would go, and stop.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Remove conversations and everything made from them, for good."""
    from cli import asking, exits
    from cli.show import keep

    asked = {"what": what, "value": value, "lineage": lineage, "also_notes": also_notes}
    if dry_run or not yes:
        plan = run("forget", **asked, dry_run=True)
        keep.forgotten(plan, as_json=as_json)
        if dry_run:
            return
        if not asking.sure("Remove all this for good?"):
            raise typer.Exit(exits.USAGE)
    done = run("forget", **asked)
    keep.forgotten(done, as_json=as_json)
    raise typer.Exit(exits.of_forget(done))
