"""Commands of the dream layer."""

from typing import Annotated

import typer

from cli.call import run
from cli.commands import judging

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file, and below ``clew dream`` those of the owner."""
    dreams = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
    dreams.callback()(dream)
    judging.register(dreams)
    app.add_typer(dreams, name="dream")
    app.command()(hypotheses)


def dream(
    context: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would land; commit nothing.")
    ] = False,
    stage: Annotated[bool, typer.Option("--stage", help="Land every draft as parked.")] = False,
    function: Annotated[
        str, typer.Option(help="Only this dream function.", show_default=False)
    ] = "",
    seed: Annotated[str, typer.Option(help="Only packs of this seed.", show_default=False)] = "",
    if_due: Annotated[
        bool, typer.Option("--if-due", help="Only if a schedule would dream now.")
    ] = False,
    sub_agent: Annotated[
        bool,
        typer.Option("--sub-agent", envvar="CLEW_SUB_AGENT", help="The caller is a sub-agent."),
    ] = False,
    thread: Annotated[
        str,
        typer.Option(help="The caller's own thread, not waited for.", show_default=False),
    ] = "",
    as_json: Json = False,
) -> None:
    """Run one dream cycle: hypotheses from seeds, links and Journeys."""
    if context.invoked_subcommand is not None:
        return
    from cli.show import dreaming

    done = run(
        "dream",
        dry_run=dry_run,
        stage=stage,
        function=function,
        seed=seed,
        if_due=if_due,
        sub_agent=sub_agent,
        thread=thread,
    )
    dreaming.dreamt(done, as_json=as_json, dry_run=dry_run)


def hypotheses(
    state: Annotated[
        str, typer.Option(help="A state, e.g. accepted or parked.", show_default=False)
    ] = "",
    standing: Annotated[
        str, typer.Option(help="valid, review_due, expired or invalidated.", show_default=False)
    ] = "",
    function: Annotated[
        str, typer.Option(help="Only of this dream function.", show_default=False)
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1000, help="At most this many.")
    ] = 20,
    as_json: Json = False,
) -> None:
    """List hypotheses with their evidence, counter-evidence and standing."""
    from cli.show import dreaming

    rows = run("hypotheses", state=state, standing=standing, function=function, limit=limit)
    dreaming.hypotheses(rows, as_json=as_json)
