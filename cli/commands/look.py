"""Commands that find and list."""

from typing import Annotated

import typer

from cli.call import run

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="At most this many.")]
Project = Annotated[str, typer.Option(help="Only this project.", show_default=False)]
Source = Annotated[
    str, typer.Option(help="Only this source, e.g. claude-code.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    for command in (recall, resonance, fetch, threads, questions, concepts, journeys):
        app.command()(command)
    app.command("open")(open_turn)


def recall(
    cue: Annotated[list[str], typer.Argument(help="What you remember of it.", show_default=False)],
    limit: Annotated[
        int,
        typer.Option("--limit", "-n", min=0, max=200, help="At most this many; 0: the setting."),
    ] = 0,
    project: Project = "",
    source: Source = "",
    role: Annotated[str, typer.Option(help="human or assistant.", show_default=False)] = "",
    thread: Annotated[str, typer.Option(help="Only this thread.", show_default=False)] = "",
    label: Annotated[
        str, typer.Option(help="Only threads of this label.", show_default=False)
    ] = "",
    since: Annotated[str, typer.Option(help="From this date on.", show_default=False)] = "",
    until: Annotated[str, typer.Option(help="Before this date.", show_default=False)] = "",
    as_of: Annotated[
        str, typer.Option("--as-of", help="As it stood then.", show_default=False)
    ] = "",
    ambient: Annotated[
        str,
        typer.Option(
            metavar="SESSION",
            help="An agent asks by itself, in this session: eight turns at most, and the same"
            " again for six hours.",
            show_default=False,
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Find the turns that a cue is about."""
    from cli.show import look

    found = run(
        "recall",
        cue=" ".join(cue),
        limit=limit,
        project=project,
        source=source,
        role=role,
        thread=thread,
        label=label,
        since=since,
        until=until,
        as_of=as_of,
        ambient=ambient,
    )
    look.recalled(found, as_json=as_json)


def resonance(
    cue: Annotated[
        list[str], typer.Argument(help="Thread id, question id, or text.", show_default=False)
    ],
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """Find other threads that meet the same question."""
    from cli.show import look

    look.resonances(run("resonance", cue=" ".join(cue), limit=limit), as_json=as_json)


def fetch(
    refs: Annotated[list[str], typer.Argument(help="thread:<id>#turn:<n>", show_default=False)],
    as_json: Json = False,
) -> None:
    """Show the full turns that references name."""
    from cli import exits
    from cli.show import look

    turns = run("fetch", refs=tuple(refs))
    look.fetched(turns, as_json=as_json)
    raise typer.Exit(exits.of_fetch(*turns))


def open_turn(
    ref: Annotated[
        str, typer.Argument(help="thread:<id>#turn:<n>, or a thread id.", show_default=False)
    ],
    around: Annotated[int, typer.Option(min=0, max=50, help="Turns before and after.")] = 2,
    as_json: Json = False,
) -> None:
    """Show a turn in its thread, with file and line."""
    from cli import exits
    from cli.show import look

    found = run("open_turn", ref=ref, around=around)
    look.opened(found, as_json=as_json)
    raise typer.Exit(exits.of_fetch(found))


def threads(
    limit: Limit = 50, project: Project = "", source: Source = "", as_json: Json = False
) -> None:
    """List threads, newest first."""
    from cli.show import look

    look.threads(run("threads", limit=limit, project=project, source=source), as_json=as_json)


def questions(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ACT] [ONE] [OTHER]",
            help="An act (same, different, or unsay, which takes either back) and two questions,"
            " by id or in their words.",
            show_default=False,
        ),
    ] = None,
    limit: Limit = 50,
    status: Annotated[
        str, typer.Option(help="open, answered or dropped.", show_default=False)
    ] = "",
    recurring: Annotated[
        bool, typer.Option("--recurring", help="Only what keeps coming back.")
    ] = False,
    borderline: Annotated[
        bool, typer.Option("--borderline", help="Pairs that wait for your word.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List questions, most asked first."""
    from cli.show import look

    if words:
        act, one, other, *_ = [*words, "", ""]
        look.questions(run("settle", act=act, one=one, other=other), as_json=as_json)
    elif borderline:
        rows = run("borderline", limit=limit)
        look.borderline(rows, "questions same|different", as_json=as_json)
    else:
        rows = run("questions", limit=limit, status=status, recurring=recurring)
        look.questions(rows, as_json=as_json)


def concepts(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ACT] [ONE] [OTHER]",
            help="merge and two concepts, by label or id: the first becomes a spelling of the"
            " second; or unmerge and the first.",
            show_default=False,
        ),
    ] = None,
    limit: Limit = 50,
    generic: Annotated[bool, typer.Option("--generic", help="Show generic ones too.")] = False,
    aliases: Annotated[
        bool, typer.Option("--aliases", help="Pairs that may be one thing in two spellings.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List concepts, most shared first."""
    from cli.show import look

    if words:
        act, one, other, *_ = [*words, "", ""]
        look.concepts(run("unite", act=act, one=one, other=other), as_json=as_json)
        return
    if aliases:
        look.borderline(run("aliases", limit=limit), "concepts merge", as_json=as_json)
        return
    look.concepts(run("concepts", limit=limit, generic=generic), as_json=as_json)


def journeys(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ACT] [JOURNEY] [OTHER]",
            help="A Journey to show whole; or an act (confirm, correct, merge, abandon, revive,"
            " arrive), the Journey, and for correct the words, for merge the target.",
            show_default=False,
        ),
    ] = None,
    status: Annotated[
        str, typer.Option(help="traveling, camped, arrived or abandoned.", show_default=False)
    ] = "",
    as_json: Json = False,
) -> None:
    """List Journeys and their frontiers, or show one."""
    from cli.show import look

    first, second, *rest = [*(words or []), "", ""]
    if first == "show":
        first, second = second, ""
    if second:
        row = run("steer", act=first, journey=second, other=" ".join(rest).strip())
        look.journeys((row,), as_json=as_json)
    else:
        look.journeys(run("journeys", journey=first, status=status), as_json=as_json)
