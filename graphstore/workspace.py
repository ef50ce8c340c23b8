"""What of a workspace is open: its ledger, the tables beside it, its graph."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from graphstore.claims import Claims
from graphstore.derivation import Derive
from graphstore.faults import Hook
from graphstore.graph import Graph
from graphstore.jobs import Jobs
from graphstore.ledger import Ledger
from graphstore.migrations import migrate
from graphstore.parts import Parts
from graphstore.search import SearchIndex
from graphstore.source import Source
from graphstore.threads import Threads


@dataclass(frozen=True, slots=True)
class Workspace:
    """Both databases and what stands on them."""

    path: Path
    ledger: Ledger
    graph: Graph
    source: Source
    search: SearchIndex
    jobs: Jobs
    fault: Hook

    @property
    def threads(self) -> Threads:
        """Threads as the ledger keeps them ready."""
        return self.source.threads


def opened(
    path: Path,
    derive: Derive,
    *,
    engine: str,
    buffer_pool_mb: int,
    closing: ExitStack,
    fault: Hook,
) -> Workspace:
    """Open the ledger; the graph opens when it is asked for. ``closing`` closes both.

    Raises LedgerDamaged when the newest record does not hold.
    """
    graph = Graph(path, engine, buffer_pool_mb, fault)
    ledger = Ledger(path / "ledger.db")
    closing.callback(ledger.close)
    ledger.check_last()
    migrate(ledger)
    jobs, threads, search = Jobs(ledger), Threads(ledger), SearchIndex(ledger)
    source = Source(ledger, threads, Parts(ledger, path), Claims(ledger), derive, engine)
    closing.callback(graph.close)
    return Workspace(path, ledger, graph, source, search, jobs, fault)
