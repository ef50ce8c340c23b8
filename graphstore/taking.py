"""What a record says that is new, and the tables beside the ledger that say it from then on."""

from graphstore.errors import Error, StoreError
from graphstore.model.record import (
    CycleRecord,
    EpochRecord,
    ForgetRecord,
    GoneRecord,
    JourneyRecord,
    OutcomeRecord,
    Record,
    ReviewRecord,
    ThreadRecord,
)
from graphstore.workspace import Workspace


class StopRewritten(StoreError):
    """A recorded stop of the journey {journey_id} was to be rewritten."""

    hint = "stops are only ever added"

    def __init__(self, journey_id: str) -> None:
        Error.__init__(self, journey_id)
        self.journey_id = journey_id


class Taking:
    """Takes records in; call it in the transaction that appends them."""

    def __init__(self, space: Workspace) -> None:
        self._ledger = space.ledger
        self._search = space.search
        self._source = space.source

    def take(self, record: Record) -> bool:
        """Whether a record says something new; the tables beside the ledger say it then too.

        Raises StopRewritten, TurnRewritten.
        """
        match record:
            case ThreadRecord():
                return self._thread(record)
            case JourneyRecord():
                return self._journey(record)
            case CycleRecord():
                landed = self._ledger.newest("cycle", record.cycle_id)
                return landed is None or '"outcome":"landed"' not in landed.body
            case ForgetRecord() | GoneRecord():
                return False  # forgetting writes them itself
            case EpochRecord() | ReviewRecord() | OutcomeRecord():
                newest = self._ledger.newest(record.kind, record.subject)
                return newest is None or newest.record() != record

    def _thread(self, record: ThreadRecord) -> bool:
        grown = self._source.threads.grow(record, self._ledger.last_seq() + 1)
        if grown is None:
            return False
        self._search.remove(grown.gone)
        self._source.threads.drop(grown.gone)
        self._search.index(grown.fresh)
        return True

    def _journey(self, record: JourneyRecord) -> bool:
        known = self._source.journeys(record.journey_id)
        stops = {stop.seq: stop for earlier in known for stop in earlier.stops}
        if any(stops.get(stop.seq, stop) != stop for stop in record.stops):
            raise StopRewritten(record.journey_id)
        fresh = any(stop.seq not in stops for stop in record.stops)
        return fresh or not known or record.replace(stops=()) != known[-1].replace(stops=())
