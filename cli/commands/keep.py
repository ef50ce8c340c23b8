"""Commands that look after the store and its settings."""

from typing import Annotated

import typer

from cli.call import run

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    for command in (verify, doctor, rebuild, backup, restore, ledger, config):
        app.command()(command)
    app.command("scan-secrets")(scan_secrets)


def verify(as_json: Json = False) -> None:
    """Check every id, fingerprint and reference against the ledger."""
    from cli import exits
    from cli.show import keep

    checked = run("verify")
    keep.verified(checked, as_json=as_json)
    raise typer.Exit(exits.of_verify(checked))


def rebuild(
    engine: Annotated[
        str, typer.Option(help="Change to this engine: kuzu or ladybug.", show_default=False)
    ] = "",
    as_json: Json = False,
) -> None:
    """Make the graph again from the ledger."""
    from cli.show import keep

    keep.rebuilt(run("rebuild", engine=engine), as_json=as_json)


def doctor(as_json: Json = False) -> None:
    """Check workspace and surroundings, with a fix for each finding."""
    from cli import exits
    from cli.show import keep

    checks = run("doctor")
    keep.examined(checks, as_json=as_json)
    raise typer.Exit(exits.of_doctor(checks))


def scan_secrets(as_json: Json = False) -> None:
    """Look for secrets that are not masked: kinds and places, never the words."""
    from cli import exits
    from cli.show import keep

    found = run("scan_secrets")
    keep.scanned(found, as_json=as_json)
    raise typer.Exit(exits.of_scan(found))


def ledger(
    act: Annotated[str, typer.Argument(help="export or salvage.")],
    out: Annotated[str, typer.Option("-o", help="File of an export.")] = "-",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what salvage would lose; change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Salvage without asking.")] = False,
    as_json: Json = False,
) -> None:
    """Write the ledger as JSON Lines, or save what holds of a damaged one."""
    from cli import asking
    from cli.show import keep

    if act == "salvage" and not (dry_run or yes):
        keep.ledger(run("ledger", act=act, dry_run=True), as_json=False)
        if not asking.agreed("Make a new ledger of what holds?"):
            raise typer.Exit(2)
    done = run("ledger", act=act, out=out, force=force, dry_run=dry_run)
    keep.ledger(done, as_json=as_json)


def backup(
    file: Annotated[str, typer.Argument(help="File to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Copy the workspace into one file, while others may use it."""
    from cli.show import keep

    keep.backed_up(run("backup", file=file, force=force), as_json=as_json)


def restore(
    file: Annotated[str, typer.Argument(help="A file that clew backup wrote.")],
    as_json: Json = False,
) -> None:
    """Make a new workspace from a backup, after checking it."""
    from cli import exits
    from cli.show import keep

    done = run("restore", file=file)
    keep.restored(done, as_json=as_json)
    raise typer.Exit(exits.of_verify(done))


def config(
    act: Annotated[str, typer.Argument(help="list, get or set.")] = "list",
    key: Annotated[str, typer.Argument(help="Dotted key.", show_default=False)] = "",
    value: Annotated[str, typer.Argument(help="New value, for set.", show_default=False)] = "",
    as_json: Json = False,
) -> None:
    """Show settings and where each comes from, or set one."""
    from cli.show import keep

    keep.settings(run("config", act=act, key=key, value=value), as_json=as_json)
