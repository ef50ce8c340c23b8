"""Exit codes: one table for errors, one function per result that may fail.

0 done; 1 something failed; 2 wrong usage; 3 nothing to do or nothing imported; 4 store busy;
5 store damaged; 6 not allowed; 130 interrupted.
"""

from typing import Any, Final

from graphstore.errors import (
    Error,
    LedgerDamaged,
    QueryRefused,
    SchemaTooNew,
    SettingsError,
    StoreDamaged,
    StoreLocked,
    StoreNotFound,
    UnknownPlugin,
    Unwritable,
)
from service.moments import WrongValue
from service.taking import NothingNamed

DONE, FAILED, USAGE, NOTHING, BUSY, DAMAGED, REFUSED = range(7)
INTERRUPTED: Final = 130

EXIT_CODES: Final[dict[type[Exception], int]] = {
    Error: FAILED,
    SettingsError: USAGE,
    UnknownPlugin: USAGE,
    WrongValue: USAGE,
    NothingNamed: NOTHING,
    StoreNotFound: NOTHING,
    StoreLocked: BUSY,
    StoreDamaged: DAMAGED,
    LedgerDamaged: DAMAGED,
    SchemaTooNew: DAMAGED,
    QueryRefused: REFUSED,
    Unwritable: REFUSED,
}


def code_of(error: Exception) -> int:
    """Exit code of an error: that of its nearest family in the table."""
    return next((EXIT_CODES[kind] for kind in type(error).__mro__ if kind in EXIT_CODES), FAILED)


def of_ingest(report: Any) -> int:  # noqa: ANN401 - an IngestReport; importing it would slow the help
    """Of ``ingest`` and ``up``: 0, 1 or 3 by what was found and lost; 130 if it was cut short."""
    return INTERRUPTED if report.interrupted else int(report.exit_code)


def of_fetch(*turns: Any) -> int:  # noqa: ANN401 - turns, or values that say one is missing
    """Of ``fetch`` and ``open``: 1 when a reference did not resolve."""
    return FAILED if any(turn.outcome == "missing" for turn in turns) else DONE


def of_scout(report: Any) -> int:  # noqa: ANN401 - a ScoutReport
    """1 when a red line was crossed."""
    return DONE if report.ok else FAILED


def of_doctor(checks: Any) -> int:  # noqa: ANN401 - Checks
    """5 when the store is damaged, 1 when something else is wrong."""
    levels = {check.level for check in checks}
    return DAMAGED if "damaged" in levels else FAILED if "bad" in levels else DONE


def of_forget(done: Any) -> int:  # noqa: ANN401 - a Forgotten
    """1 when a file still holds what was to go."""
    return FAILED if done.left else DONE


def of_scan(found: Any) -> int:  # noqa: ANN401 - a SecretScan
    """1 when something looks like a secret."""
    return FAILED if found.places else DONE


def of_verify(checked: Any) -> int:  # noqa: ANN401 - Verified or Restored
    """5 when something does not hold."""
    return DAMAGED if checked.faults else DONE
