"""What another tool's regex detectors find in the fixtures, we find too."""

import importlib
import pkgutil

import detect_secrets.plugins
import pytest
from detect_secrets.plugins.base import RegexBasedDetector

from ingest.secrets import mask
from tests.made_up_secrets import ASSIGNED, PLACES, TOKENS

NOT_SECRET = {"IPPublicDetector"}  # an address is no secret here

TEXTS = [
    *(place.format(secret) for _, secret in TOKENS for place in PLACES),
    *(place.format(secret) for _, place, secret in ASSIGNED),
]


def detectors():
    found = {}
    for info in pkgutil.iter_modules(detect_secrets.plugins.__path__):
        module = importlib.import_module(f"detect_secrets.plugins.{info.name}")
        for name, one in sorted(vars(module).items()):
            is_one = isinstance(one, type) and issubclass(one, RegexBasedDetector)
            if is_one and not getattr(one, "__abstractmethods__", None) and name not in NOT_SECRET:
                found[name] = one()
    return found


DETECTORS = detectors()


def test_all_its_detectors_are_asked():
    assert len(DETECTORS) >= 23


@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_what_it_finds_is_masked(name):
    detector = DETECTORS[name]
    for text in TEXTS:
        masked = mask(text)[0]
        for line in text.split("\n"):
            for value in sorted(detector.analyze_string(line)):
                assert value not in masked, line
