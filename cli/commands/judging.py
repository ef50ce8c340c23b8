"""Commands of the owner on what was dreamt; they stand below ``clew dream``."""

from typing import Annotated

import typer

from cli.call import run

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Id = Annotated[str, typer.Argument(help="Id of a hypothesis or parked draft.", show_default=False)]
Reason = Annotated[str, typer.Option(help="Why; kept with the act.", show_default=False)]
Ref = Annotated[str, typer.Option(help="The later turn that says so.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    for command in (
        queue,
        atlas,
        explain,
        diff,
        approve,
        reject,
        modify,
        confirm,
        refute,
        renew,
        missed,
        corrections,
        rollback,
        sent,
    ):
        app.command()(command)
    app.command("eval")(evaluate)
    app.command("status")(dream_totals)


def dream_totals(as_json: Json = False) -> None:
    """Show what all dream cycles add up to."""
    from cli.show import judging

    judging.totals(run("dream_totals"), as_json=as_json)


def evaluate(
    at: Annotated[
        list[str] | None,
        typer.Option(help="A date to dream as of; again for more.", show_default=False),
    ] = None,
    horizon: Annotated[
        int, typer.Option(min=1, max=3650, help="Days after it that are looked at.")
    ] = 90,
    cuts: Annotated[
        int, typer.Option(min=1, max=100, help="How many dates are chosen where none is given.")
    ] = 6,
    review: Annotated[
        str,
        typer.Option(help="JSON file with the counts of a manual review.", show_default=False),
    ] = "",
    as_json: Json = False,
) -> None:
    """Dream as of earlier dates, and count which hypotheses later turns bore out."""
    from cli.show import evaluating

    found = run("evaluate", at=tuple(at or ()), horizon=horizon, cuts=cuts, review=review)
    evaluating.evaluation(found, as_json=as_json)


def queue(as_json: Json = False) -> None:
    """List the jobs of the dream queue, the most urgent first."""
    from cli.show import judging

    judging.queue(run("queue"), as_json=as_json)


def atlas(
    window: Annotated[int, typer.Option(min=1600, help="Tokens that the cards may take.")] = 32_000,
    as_json: Json = False,
) -> None:
    """Show in what the packs of the next dream cycle meet, by ids and counts."""
    from cli.show import judging

    judging.atlas(run("atlas", window=window), as_json=as_json)


def explain(
    name: Annotated[
        str,
        typer.Argument(
            help="A hypothesis, a draft, a dream cycle or last; nothing: the gate.",
            show_default=False,
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Say why: the gate, or the checks, scores and sources of a hypothesis, draft or cycle."""
    from cli.show import judging

    judging.explained(run("explain", name=name), as_json=as_json)


def diff(
    cycle: Annotated[str, typer.Argument(help="A dream cycle; last for the newest.")] = "last",
    as_json: Json = False,
) -> None:
    """Show what a dream cycle added and closed."""
    from cli.show import judging

    judging.diff(run("diff", cycle=cycle), as_json=as_json)


def approve(name: Id, reason: Reason = "", as_json: Json = False) -> None:
    """Let a parked draft stand, or call a hypothesis validated."""
    from cli.show import judging

    judging.reviewed(run("approve", name=name, reason=reason), as_json=as_json)


def reject(name: Id, reason: Reason = "", as_json: Json = False) -> None:
    """Put a parked draft away, or refute a hypothesis."""
    from cli.show import judging

    judging.reviewed(run("reject", name=name, reason=reason), as_json=as_json)


def modify(
    name: Id,
    title: Annotated[str, typer.Option(help="A new title.", show_default=False)] = "",
    summary: Annotated[str, typer.Option(help="A new summary.", show_default=False)] = "",
    reason: Reason = "",
    as_json: Json = False,
) -> None:
    """Put a hypothesis in your own words."""
    from cli.show import judging

    done = run("modify", name=name, title=title, summary=summary, reason=reason)
    judging.reviewed(done, as_json=as_json)


def confirm(name: Id, ref: Ref = "", as_json: Json = False) -> None:
    """Say that a hypothesis holds, by your word or by a later turn."""
    from cli.show import judging

    judging.reviewed(run("confirm", name=name, ref=ref), as_json=as_json)


def refute(name: Id, ref: Ref = "", reason: Reason = "", as_json: Json = False) -> None:
    """Say that a hypothesis does not hold."""
    from cli.show import judging

    judging.reviewed(run("refute", name=name, ref=ref, reason=reason), as_json=as_json)


def renew(name: Id, reason: Reason = "", as_json: Json = False) -> None:
    """Keep a hypothesis in use for longer, or bring it back."""
    from cli.show import judging

    judging.reviewed(run("renew", name=name, reason=reason), as_json=as_json)


def missed(
    question: Annotated[
        str, typer.Argument(help="A question as it was asked, or its id.", show_default=False)
    ],
    ref: Annotated[str, typer.Argument(help="The turn that was needed.", show_default=False)],
    reason: Reason = "",
    as_json: Json = False,
) -> None:
    """Say that a recall for a question did not bring a turn that it needed, or brought it late."""
    from cli.show import judging

    done = run("missed", question=question, ref=ref, reason=reason)
    judging.reviewed(done, as_json=as_json)


def corrections(
    thread: Annotated[
        str,
        typer.Option(help="Only what holds for this thread, at most three.", show_default=False),
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1000, help="At most this many.")
    ] = 20,
    as_json: Json = False,
) -> None:
    """List what you corrected, and what came of it; or what of it holds for a thread."""
    from cli.show import judging

    judging.corrections(run("corrections", thread=thread, limit=limit), as_json=as_json)


def rollback(
    cycle: Annotated[
        str, typer.Argument(help="A dream cycle; last for the newest.", show_default=False)
    ],
    reason: Reason = "",
    as_json: Json = False,
) -> None:
    """Take back everything that a dream cycle brought."""
    from cli.show import judging

    judging.reviewed(run("rollback", cycle=cycle, reason=reason), as_json=as_json)


def sent(
    cycle: Annotated[
        str, typer.Argument(help="A dream cycle; last for the newest that asked a model.")
    ] = "last",
    as_json: Json = False,
) -> None:
    """Show what a dream cycle sent to a model, byte by byte, and what came back."""
    from cli.show import judging

    judging.sent(run("sent", cycle=cycle), as_json=as_json)
