"""Journeys: an inquiry followed over several threads, begun and appended, never rewritten."""

from dataclasses import dataclass
from typing import Final

from graphstore.derivation import Ground
from graphstore.model.record import Count, EpochRecord, JourneyRecord

VERSION: Final = "journeys/1"


@dataclass(frozen=True, slots=True)
class Found:
    records: tuple[JourneyRecord, ...]
    failures: tuple[Count, ...]


def find(ground: Ground, known: tuple[JourneyRecord, ...], epoch: EpochRecord) -> Found:
    return Found((), ())
