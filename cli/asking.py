"""What is asked of the owner: which places to read where none is named, and for a yes."""

import sys

import typer

from cli.call import run


def named_or_found(paths: list[str] | None, only: str, *, yes: bool) -> tuple[str, ...]:
    """The paths given; else those of well-known places, once the owner agrees."""
    if paths:
        return tuple(paths)
    from cli.show import take

    found = run("places", only=tuple(name.strip() for name in only.split(",") if name.strip()))
    take.places(found)
    if found.paths and not (yes or agreed("Read these?")):
        raise typer.Exit(2)
    return tuple(found.paths)


def agreed(question: str) -> bool:
    """The owner's word, asked on a terminal; without one, how to give it."""
    if not sys.stdin.isatty():
        print("clew: nobody is here to ask\n      add --yes, or name a PATH", file=sys.stderr)
        return False
    return typer.confirm(question, default=True, err=True)


def sure(question: str) -> bool:
    """The owner's word on what cannot be undone; no is the answer where nobody is there."""
    if not sys.stdin.isatty():
        print("clew: nobody is here to ask\n      add --yes", file=sys.stderr)
        return False
    return typer.confirm(question, default=False, err=True)
