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
    level: Annotated[
        int, typer.Option(min=-1, max=2, help="0 nodes, 1 threads, 2 themes; -1 all.")
    ] = -1,
    top: Annotated[int, typer.Option(min=0, max=200, help="Seeds per shape; 0: the setting.")] = 0,
    k_min: Annotated[
        int, typer.Option(min=0, max=50, help="Smallest side of a cut; 0: the setting.")
    ] = 0,
    s_min: Annotated[
        int, typer.Option(min=0, max=1000, help="Smallest theme that is spoken of; 0: 10 nodes.")
    ] = 0,
    max_cycle: Annotated[
        int, typer.Option(min=0, max=8, help="Longest cycle, in edges; 0: the setting.")
    ] = 0,
    hub_df: Annotated[
        int, typer.Option(min=0, help="Set aside concepts of more threads; 0: the setting.")
    ] = 0,
    no_themes: Annotated[bool, typer.Option("--no-themes", help="Without communities.")] = False,
    thread: Annotated[
        list[str] | None, typer.Option(help="Only this thread; repeatable.", show_default=False)
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="Only threads with this label; repeatable.", show_default=False),
    ] = None,
    since: Annotated[
        str, typer.Option(help="Only turns from this date on.", show_default=False)
    ] = "",
    until: Annotated[
        str, typer.Option(help="Only turns before this date.", show_default=False)
    ] = "",
    stop: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Labels to set aside as generic, one a line, # comments.",
            show_default=False,
        ),
    ] = "",
    notes: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="Records made elsewhere, as JSON Lines.", show_default=False
        ),
    ] = "",
    graph: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="A graph made elsewhere: .graphml, .json (node-link), .csv or .parquet.",
            show_default=False,
        ),
    ] = "",
    no_store: Annotated[bool, typer.Option("--no-store", help="Keep no seeds.")] = False,
    public: Annotated[
        bool, typer.Option("--public", help="Ids only: no labels, no texts.")
    ] = False,
    executor: Annotated[
        str, typer.Option(help="Where cuts are found: inline, processes or spark.")
    ] = "inline",
    shapes: Annotated[bool, typer.Option("--shapes", help="List the shapes and stop.")] = False,
    markdown: Annotated[
        str, typer.Option(help="Write the report to this file.", show_default=False)
    ] = "",
    as_json: Json = False,
) -> None:
    """Find the places of the graph that are worth a second look."""
    from cli import exits
    from cli.show import think

    if shapes:
        think.shapes(run("shapes"), as_json=as_json)
        return
    report = run(
        "scout",
        shapes=tuple(shape or ()),
        level=level,
        top=top,
        k_min=k_min,
        s_min=s_min,
        max_cycle=max_cycle,
        hub_df=hub_df,
        themes=not no_themes,
        since=since,
        until=until,
        threads=tuple(thread or ()),
        labels=tuple(label or ()),
        stop=stop,
        notes=notes,
        graph=graph,
        store=not no_store,
        public=public,
        executor=executor,
    )
    think.scouted(report, as_json=as_json, markdown=markdown)
    raise typer.Exit(exits.of_scout(report))


def seed(
    seed_id: Annotated[str, typer.Argument(help="Seed id.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Show a seed: members, sides, turns, how it would vanish."""
    from cli.show import think

    think.seed(run("seed", seed_id=seed_id), as_json=as_json)
