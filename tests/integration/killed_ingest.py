"""Run as a program: take conversations in and be killed, as by the system, at the n-th moment.

A moment is a step of reading, a write boundary of the store, or the keeping of a file's state.
The moments passed are printed when the run comes to its end.
"""

import os
import signal
import sys
from pathlib import Path

from graphstore import open_store
from graphstore.files import Files
from ingest.pace import Pace
from service import taking
from service.settings import IngestSettings
from tests.fake_derive import NOW, FakeDerive


class Moments:
    """Counts, and ends the process at the one that was chosen."""

    def __init__(self, last):
        self.last = last
        self.passed = 0

    def one(self, *_):
        self.passed += 1
        if self.passed == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


class Watched(Files):
    """The table of files, with a moment before and after each writing."""

    def __init__(self, ledger, moments):
        super().__init__(ledger)
        self.moments = moments

    def put(self, rows):
        self.moments.one()
        super().put(rows)
        self.moments.one()


def main(workspace, folder, last):
    moments = Moments(int(last))
    options = taking.options_of(IngestSettings(), b"salt")
    with open_store(Path(workspace), FakeDerive(), fault=moments.one) as store:
        store.files = Watched(store.ledger, moments)
        pace = Pace(moments.one)
        taking.take(store, FakeDerive(), (folder,), options, NOW, pace)
    sys.stdout.write(str(moments.passed))


if __name__ == "__main__":
    main(*sys.argv[1:])
