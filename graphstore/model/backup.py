"""What a backup says about itself."""

from graphstore.model.base import Instant, Value
from graphstore.model.record import Count


class BackupFile(Value):
    """One file inside a backup."""

    name: str
    size: int
    """Bytes."""
    digest: str
    """BLAKE2b-128 of the content, hexadecimal."""


class Manifest(Value):
    """What a backup holds; written into it, and checked before anything is restored."""

    format: int
    clew: str
    """Version of the program that wrote it."""
    at: Instant
    records: tuple[Count, ...]
    """Ledger records by kind."""
    threads: int
    head: str
    """Checksum of the last record, hexadecimal; it stands for the whole chain."""
    files: tuple[BackupFile, ...]
