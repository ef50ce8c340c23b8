"""Numbered changes of the ledger file; each runs once, in its own transaction."""

from collections.abc import Callable, Sequence
from typing import Final

from graphstore.errors import MigrationFailed, SchemaTooNew
from graphstore.ledger import Connection, Ledger, SqlError

Migration = Callable[[Connection], None]

_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS migration(number INTEGER PRIMARY KEY, name TEXT NOT NULL)"
)


def m001_first_layout(connection: Connection) -> None:
    """The layout that the tables create themselves."""
    connection.execute("PRAGMA user_version = 1")


def m002_pairs_told_once(connection: Connection) -> None:
    """What is known of two concepts stands with the first id alone."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'pair'").fetchone():
        connection.execute("UPDATE pair SET body = '' WHERE concept > other")


MIGRATIONS: Final[tuple[Migration, ...]] = (m001_first_layout, m002_pairs_told_once)
"""In order; never edited or removed after a release."""


def applied(ledger: Ledger) -> tuple[tuple[int, str], ...]:
    """Number and name of every migration that has run."""
    with ledger.transaction() as connection:
        connection.execute(_TABLE)
    rows = ledger.select("SELECT number, name FROM migration ORDER BY number")
    return tuple((number, name) for number, name in rows)


def migrate(ledger: Ledger, migrations: Sequence[Migration] = MIGRATIONS) -> tuple[str, ...]:
    """Run what has not run yet; returns the names.

    Raises SchemaTooNew when a newer clew wrote the file, MigrationFailed when one fails.
    """
    done = applied(ledger)
    if len(done) > len(migrations):
        raise SchemaTooNew(found=len(done), known=len(migrations))
    ran = []
    for number, migration in enumerate(migrations[len(done) :], start=len(done) + 1):
        name = migration.__name__
        try:
            with ledger.transaction() as connection:
                migration(connection)
                connection.execute("INSERT INTO migration VALUES (?, ?)", (number, name))
        except SqlError as cause:
            raise MigrationFailed(name, type(cause).__name__) from cause
        ran.append(name)
    return tuple(ran)
