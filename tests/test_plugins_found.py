"""A plugin is a module: whatever lies in the folder is found, and carries what it must."""

import importlib
import pkgutil

import pytest

GROUPS = {
    "ingest.readers": ("NAME", "VERSION", "APPENDABLE", "TIER", "sniff", "read"),
    "topology.shapes": ("NAME", "find"),
    "dream.functions": ("NAME", "WANTS", "EDGE", "draft", "INSTRUCTIONS"),
    "export.formats": ("NAME", "SUFFIX", "write"),
}
PLUGINS = [
    (f"{group}.{found.name}", needed)
    for group, needed in GROUPS.items()
    for found in pkgutil.iter_modules(importlib.import_module(group).__path__)
    if not found.name.startswith("_")  # a part of several plugins is none
    if not found.name.startswith("_")  # what several plugins of a group share
]


@pytest.mark.parametrize(("module", "needed"), PLUGINS)
def test_plugin_carries_what_its_group_asks_for(module, needed):
    plugin = importlib.import_module(module)
    assert [name for name in needed if not hasattr(plugin, name)] == []
    assert plugin.NAME.replace("-", "_") == module.rpartition(".")[2]
    assert plugin.__doc__
