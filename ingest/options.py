"""What the owner may choose for a run of ingest, as plain facts."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Final

from ingest.lines import RECORD_LIMIT
from ingest.walk import SKIPPED

CONTEXT_LIMIT: Final = 4000
"""Characters kept of one tool or web text."""


@dataclass(frozen=True, slots=True)
class Options:
    """Choices of one run; the defaults are those of the settings."""

    salt: bytes = b""
    """Key of the hashes beside masked secrets, the store's own."""
    mask: bool = True
    mask_pii: bool = False
    extra: tuple[tuple[str, re.Pattern[str]], ...] = ()
    """More kinds of secrets and what they look like."""
    allow: tuple[re.Pattern[str], ...] = ()
    """What is never a secret."""
    interim_min_chars: int = 280
    """Interim texts from this length on are stored; 0 keeps all, -1 none."""
    keep_context: bool = False
    naive_zone: tzinfo = UTC
    """Zone of times that name none."""
    settle_s: int = 600
    """Seconds without a change after which a live file counts as settled."""
    record_bytes: int = RECORD_LIMIT
    """Larger records are lost."""
    resume_bytes: int = 2**20
    """Carriers from this size on are read on from near their end when they only grew."""
    format: str | None = None
    """Reader to use without sniffing."""
    only: tuple[str, ...] = ()
    """Readers whose files are wanted; all if empty."""
    since: datetime | None = None
    """Older files are left out, by their time of change."""
    notes: bool = False
    """Markdown without chat marks is a note."""
    me: tuple[str, ...] = ()
    """Names of the owner in archives of several people."""
    group_gap: int = 0
    """Minutes up to which prompts of a Takeout are put into one thread; 0: each is its own."""
    strict: bool = False
    """Any loss makes the outcome a failure."""
    dry_run: bool = False
    skip_dirs: frozenset[str] = field(default=SKIPPED)
