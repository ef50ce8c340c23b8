"""What to read when no path is given: found, shown, and asked about once."""

import typer

from cli.call import run


def named_or_found(paths: list[str] | None, only: str, *, yes: bool) -> tuple[str, ...]:
    """The paths given; else those of well-known places, once the owner agrees."""
    if paths:
        return tuple(paths)
    from cli import show

    found = run("places", only=tuple(name.strip() for name in only.split(",") if name.strip()))
    show.places(found)
    if found.paths and not (yes or show.agreed("Read these?")):
        raise typer.Exit(2)
    return tuple(found.paths)
