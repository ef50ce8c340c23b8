"""Commands that write files or answer queries."""

from typing import Annotated

import typer

from cli.call import run

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    for command in (query, export, report, formats):
        app.command()(command)


def query(
    cypher: Annotated[str, typer.Argument(help="Reading Cypher.", show_default=False)],
    param: Annotated[
        list[str] | None, typer.Option(help="name=value; repeatable.", show_default=False)
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=100_000, help="At most this many rows.")
    ] = 1000,
    as_json: Json = False,
) -> None:
    """Run read-only Cypher on the graph."""
    from cli.show import files

    pairs = tuple(each.partition("=")[::2] for each in param or ())
    files.table(run("query", cypher=cypher, params=pairs, limit=limit), as_json=as_json)


def export(
    name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="See: clew formats", show_default=False)
    ],
    out: Annotated[
        str, typer.Option("-o", help="File; - is standard output.", show_default=False)
    ] = "-",
    with_text: Annotated[bool, typer.Option("--with-text", help="Include turn texts.")] = False,
    with_paths: Annotated[
        bool, typer.Option("--with-paths", help="Include file paths and projects.")
    ] = False,
    with_hypotheses: Annotated[
        bool, typer.Option("--with-hypotheses", help="Include hypotheses, marked as such.")
    ] = False,
    public: Annotated[
        bool, typer.Option("--public", help="No titles, labels or question texts.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write the graph in another format."""
    from cli.show import files

    done = run(
        "export",
        name=name,
        out=out,
        with_text=with_text,
        with_paths=with_paths,
        with_hypotheses=with_hypotheses,
        public=public,
        force=force,
    )
    files.exported(done)


def report(
    out: Annotated[
        str, typer.Option("-o", help="Folder for page and report.", show_default=False)
    ] = "",
    no_text: Annotated[
        bool, typer.Option("--no-text", help="Leave turn texts out of the page.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write the explorer page and the report again."""
    from cli.show import files

    files.written(run("report", out=out, with_text=not no_text), as_json=as_json)


def formats(as_json: Json = False) -> None:
    """List what can be read and what can be written."""
    from cli.show import files

    files.formats(run("formats"), as_json=as_json)
