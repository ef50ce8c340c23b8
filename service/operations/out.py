"""What leaves a workspace: rows, exports, pages."""

import json
from pathlib import Path

from export import Switches, Written
from graphstore.model.query import QueryTable, Scalar
from service import writing
from service.answers import FormatRow, WrittenFiles
from service.session import Session


def query(
    session: Session, cypher: str, params: tuple[tuple[str, str], ...] = (), limit: int = 1000
) -> QueryTable:
    """Run read-only Cypher on the graph."""
    values: dict[str, Scalar] = {name: scalar(text) for name, text in params}
    with session.store("query") as store:
        return store.query(cypher, values, limit=limit)


def scalar(text: str) -> Scalar:
    """A parameter: JSON where it is a number, a truth value or null, else text."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, int | float | bool | None) else text


def export(
    session: Session,
    name: str,
    *,
    out: str = "-",
    with_text: bool = False,
    with_paths: bool = False,
    with_hypotheses: bool = False,
    public: bool = False,
    force: bool = False,
) -> Written:
    """Write the graph in another format."""
    switches = Switches(
        with_text=with_text, with_paths=with_paths, with_hypotheses=with_hypotheses, public=public
    )
    with session.store("export") as store:
        return writing.exported(store, name, out, switches, session.now(), force=force)


def report(session: Session, *, out: str = "", with_text: bool = True) -> WrittenFiles:
    """Write the explorer page and the report again."""
    folder = Path(out) if out else session.workspace / "out"
    with session.store("report") as store:
        return writing.pictures(store, None, folder, session.now(), with_text=with_text)


def formats(session: Session) -> tuple[FormatRow, ...]:
    """List what can be read and what can be written."""
    del session
    return writing.format_rows()
