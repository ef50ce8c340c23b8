"""Commands that take conversations in."""

from typing import Annotated

import typer

from cli.asking import named_or_found
from cli.call import run

Paths = Annotated[
    list[str] | None,
    typer.Argument(help="Files, folders, zips; - reads standard input.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Notes = Annotated[bool, typer.Option("--notes", help="Take Markdown without chat marks as notes.")]
NoMask = Annotated[bool, typer.Option("--no-mask", help="Do not mask secrets.")]
Strict = Annotated[bool, typer.Option("--strict", help="Any loss is a failure.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="One line a file.")]
Me = Annotated[
    list[str] | None,
    typer.Option(
        help="Your name in archives of several people; repeat it for each.", show_default=False
    ),
]
GroupGap = Annotated[
    int, typer.Option(min=0, help="Put prompts of a Takeout at most MINUTES apart together.")
]
Since = Annotated[
    str, typer.Option(help="Leave out files not changed since that date.", show_default=False)
]


Yes = Annotated[bool, typer.Option("--yes", help="Read what is found without asking.")]
Only = Annotated[
    str,
    typer.Option(
        help="Only these readers, with commas, where no path is given.", show_default=False
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(up)
    app.command()(ingest)
    app.command()(places)
    app.command()(status)


def up(
    paths: Paths = None,
    example: Annotated[bool, typer.Option("--example", help="Use the bundled example.")] = False,
    out: Annotated[
        str, typer.Option("-o", help="Folder for page and report.", show_default=False)
    ] = "",
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the page.")] = False,
    no_text: Annotated[
        bool, typer.Option("--no-text", help="Leave turn texts out of the page.")
    ] = False,
    notes: Notes = False,
    no_mask: NoMask = False,
    strict: Strict = False,
    verbose: Verbose = False,
    yes: Yes = False,
    only: Only = "",
    me: Me = None,
    group_gap: GroupGap = 0,
    since: Since = "",
    as_json: Json = False,
) -> None:
    """Ingest, scout, dream, then write the explorer page and the report."""
    from cli import exits
    from cli.show import take

    done = run(
        "up",
        quiet=as_json,
        paths=() if example and not paths else named_or_found(paths, only, yes=yes),
        example=example,
        out=out,
        with_text=not no_text,
        notes=notes,
        mask=not no_mask,
        strict=strict,
        me=tuple(me or ()),
        group_gap=group_gap,
        since=since,
    )
    take.up(done, as_json=as_json, verbose=verbose)
    if not (no_open or as_json) and done.page:
        take.open_page(done.page)
    raise typer.Exit(exits.of_ingest(done.ingest))


def ingest(
    paths: Paths = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Everything but the commit.")] = False,
    reader: Annotated[
        str, typer.Option("--format", help="Use this reader.", show_default=False)
    ] = "",
    notes: Notes = False,
    no_mask: NoMask = False,
    strict: Strict = False,
    verbose: Verbose = False,
    yes: Yes = False,
    only: Only = "",
    me: Me = None,
    group_gap: GroupGap = 0,
    since: Since = "",
    follow: Annotated[
        bool, typer.Option("--follow", help="Read what changes until Ctrl-C is pressed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Read transcripts into threads of clean turns."""
    from cli import exits
    from cli.show import take

    report = run(
        "ingest",
        quiet=as_json,
        follow=follow,
        paths=named_or_found(paths, only, yes=yes),
        dry_run=dry_run,
        reader=reader,
        notes=notes,
        mask=not no_mask,
        strict=strict,
        me=tuple(me or ()),
        group_gap=group_gap,
        since=since,
    )
    take.ingested(report, as_json=as_json, verbose=verbose)
    raise typer.Exit(exits.of_ingest(report))


def places(
    only: Only = "",
    as_json: Json = False,
) -> None:
    """Look where tools keep their conversations; nothing is read."""
    from cli.show import take

    take.discovered(run("places", only=tuple(filter(None, only.split(",")))), as_json=as_json)


def status(as_json: Json = False) -> None:
    """Show what the store holds and what went wrong."""
    from cli.show import take

    take.status(run("status"), as_json=as_json)
