"""Commands that scout."""

from typing import Annotated

import typer

from cli.call import run

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(scout)
    app.command()(seed)


def scout(
    shape: Annotated[
        list[str] | None, typer.Option(help="Only this shape; repeatable.", show_default=False)
    ] = None,
    level: Annotated[int, typer.Option(min=-1, max=1, help="0 nodes, 1 threads; -1 both.")] = -1,
    top: Annotated[int, typer.Option(min=0, max=200, help="Seeds per shape; 0: the setting.")] = 0,
    since: Annotated[
        str, typer.Option(help="Only turns from this date on.", show_default=False)
    ] = "",
    until: Annotated[
        str, typer.Option(help="Only turns before this date.", show_default=False)
    ] = "",
    public: Annotated[
        bool, typer.Option("--public", help="Ids only: no labels, no texts.")
    ] = False,
    shapes: Annotated[bool, typer.Option("--shapes", help="List the shapes and stop.")] = False,
    markdown: Annotated[
        str, typer.Option(help="Write the report to this file.", show_default=False)
    ] = "",
    as_json: Json = False,
) -> None:
    """Find the places of the graph that are worth a second look."""
    from cli import exits, show

    if shapes:
        show.shapes(run("shapes"), as_json=as_json)
        return
    report = run(
        "scout",
        shapes=tuple(shape or ()),
        level=level,
        top=top,
        since=since,
        until=until,
        public=public,
    )
    show.scouted(report, as_json=as_json, markdown=markdown)
    raise typer.Exit(exits.of_scout(report))


def seed(
    seed_id: Annotated[str, typer.Argument(help="Seed id.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Show a seed: members, sides, turns, how it would vanish."""
    from cli import show

    show.seed(run("seed", seed_id=seed_id), as_json=as_json)
