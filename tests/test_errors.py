"""Every error can be built, printed, pickled, and has its place in the tables."""

import importlib
import inspect
import pickle
import pkgutil

import pytest

from cli.exits import EXIT_CODES
from graphstore.errors import Error

SEVEN = ("graphstore", "ingest", "topology", "dream", "export", "service", "cli")
SAMPLES = {int: 7, float: 2.5, str: "a thing"}


def arguments_of(kind):
    """Sample arguments of an error; none where it has no constructor of its own."""
    if kind.__init__ is Exception.__init__:
        return []
    return [
        SAMPLES.get(each.annotation, "a thing")
        for each in list(inspect.signature(kind.__init__).parameters.values())[1:]
    ]


def every_error():
    for package in SEVEN:
        for found in pkgutil.walk_packages(
            importlib.import_module(package).__path__, f"{package}."
        ):
            if not found.name.endswith("__main__"):
                importlib.import_module(found.name)
    seen, waiting = [], [Error]
    while waiting:
        kind = waiting.pop()
        seen.append(kind)
        waiting.extend(kind.__subclasses__())
    return sorted(seen, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_error_survives_pickling_and_says_one_line(kind):
    error = kind(*arguments_of(kind))
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert str(again) == str(error) == error.message
    assert "\n" not in error.message
    assert "{" not in error.message
    assert type(again) is kind


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_error_has_an_exit_code(kind):
    assert any(family in EXIT_CODES for family in kind.__mro__)
