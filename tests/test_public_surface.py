"""The names that packages give away, and that they are what the documentation of code counts on."""

import importlib

import pytest

SURFACE = {
    "graphstore": ("Error", "Store", "open_store"),
    "topology": ("Limits", "Scouted", "Seed", "scout", "shape_names"),
    "export": (
        "EdgeRow",
        "ExportError",
        "ExportView",
        "Judged",
        "NodeRow",
        "Switches",
        "TargetExists",
        "Written",
        "draws",
        "export",
        "format_names",
        "shown",
    ),
}
SILENT = ("cli", "dream", "ingest", "service")


@pytest.mark.parametrize("name", SURFACE)
def test_a_package_gives_exactly_these_names(name):
    package = importlib.import_module(name)
    assert tuple(package.__all__) == SURFACE[name] == tuple(sorted(SURFACE[name]))
    for each in package.__all__:
        assert getattr(package, each) is not None


@pytest.mark.parametrize("name", SILENT)
def test_a_package_without_a_surface_gives_nothing(name):
    assert not hasattr(importlib.import_module(name), "__all__")


@pytest.mark.parametrize("name", SURFACE)
def test_an_unknown_name_is_an_error(name):
    with pytest.raises(AttributeError):
        _ = importlib.import_module(name).nothing_of_the_kind
