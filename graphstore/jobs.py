"""Queue rows, leases and stamps of dreaming, beside the records in ledger.db; no policy."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from graphstore.ledger import Ledger
from graphstore.model.job import Job, JobState, Stamps

_TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS job(
      job_id TEXT PRIMARY KEY, state TEXT NOT NULL, body TEXT NOT NULL)""",
    "CREATE TABLE IF NOT EXISTS stamp(name TEXT PRIMARY KEY, body TEXT NOT NULL)",
)
_PUT: Final = (
    "INSERT INTO job VALUES (?, ?, ?) "
    "ON CONFLICT(job_id) DO UPDATE SET state = excluded.state, body = excluded.body"
)


class Jobs:
    """The rows; available while another process owns the graph."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        with ledger.transaction() as connection:
            for statement in _TABLES:
                connection.execute(statement)

    def put(self, jobs: Iterable[Job]) -> None:
        """Write jobs, replacing those of the same id, in one transaction."""
        rows = [(job.job_id, job.state.value, job.model_dump_json()) for job in jobs]
        with self._ledger.transaction() as connection:
            connection.executemany(_PUT, rows)

    def get(self, job_id: str) -> Job | None:
        """A job by id."""
        rows = self._ledger.select("SELECT body FROM job WHERE job_id = ?", (job_id,))
        return Job.from_json(rows[0][0]) if rows else None

    def all(self, *states: JobState) -> tuple[Job, ...]:
        """Jobs in one of the states, or all, by id."""
        wanted = states or tuple(JobState)
        rows = (
            row
            for state in dict.fromkeys(wanted)
            for row in self._ledger.select("SELECT body FROM job WHERE state = ?", (state.value,))
        )
        return tuple(sorted((Job.from_json(row[0]) for row in rows), key=lambda job: job.job_id))

    def stamps(self) -> Stamps:
        """The stamps as they stand."""
        rows = self._ledger.select("SELECT body FROM stamp WHERE name = 'dream'")
        return Stamps.from_json(rows[0][0]) if rows else Stamps()

    def lease(self, jobs: Iterable[Job], now: datetime) -> Stamps:
        """Write leased jobs and advance generation and last attempt, in one transaction."""
        with self._ledger.transaction():
            before = self.stamps()
            after = before.replace(
                generation=before.generation + 1, last_attempt=now, nothing_due_at=None
            )
            self.put(jobs)
            self.stamp(after)
        return after

    def reached(self, name: str) -> str:
        """The mark that a recomputed thing left when it was last brought up to date."""
        rows = self._ledger.select("SELECT body FROM stamp WHERE name = ?", (f"mark:{name}",))
        return str(rows[0][0]) if rows else ""

    def reach(self, name: str, mark: str) -> None:
        """Leave a mark: a lost one costs the work again, and nothing else."""
        self._stamp(f"mark:{name}", mark)

    def stamp(self, stamps: Stamps) -> None:
        """Replace the stamps."""
        self._stamp("dream", stamps.model_dump_json())

    def _stamp(self, name: str, body: str) -> None:
        with self._ledger.transaction() as connection:
            connection.execute(
                "INSERT INTO stamp VALUES (?, ?) "
                "ON CONFLICT(name) DO UPDATE SET body = excluded.body",
                (name, body),
            )
