"""Plugins are found by name, imported when used, and never two under one name."""

import sys
from importlib.metadata import EntryPoint

import pytest

from graphstore import plugins
from graphstore.errors import PluginInvalid

GROUP = "clew.gadgets"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of plugins, and a folder for outside ones, both importable."""
    folder = tmp_path / "toolbox" / "gadgets"
    folder.mkdir(parents=True)
    (tmp_path / "toolbox" / "__init__.py").touch()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins.names.cache_clear()
    yield folder
    plugins.names.cache_clear()
    for name in [name for name in sys.modules if name.startswith(("toolbox", "outside"))]:
        del sys.modules[name]


@pytest.mark.usefixtures("package")
def test_unknown_name_is_none():
    assert load("nothing") is None


def test_a_name_that_no_file_bears_is_refused(package):
    (package / "one.py").write_text('NAME = "two"\n')
    with pytest.raises(PluginInvalid, match="its file has another name"):
        load("two")


@pytest.fixture
def outside(monkeypatch):
    """Install entry points for this test."""

    def install(**values):
        found = [EntryPoint(name, value, GROUP) for name, value in values.items()]
        monkeypatch.setattr(plugins, "entry_points", lambda group: found if group == GROUP else [])

    return install


def load(name, required=("NAME",)):
    return plugins.load("toolbox.gadgets", name, GROUP, required)


def test_names_come_from_the_sources_without_importing_them(package):
    (package / "two_words.py").write_text('"""Doc."""\nNAME = "two-words"\nraise RuntimeError\n')
    (package / "under_score.py").write_text('NAME: Final = "under_score"\n')
    (package / "plain.py").write_text("VALUE = 1\n")
    (package / "_private.py").write_text('NAME = "private"\n')
    assert plugins.names("toolbox.gadgets") == ("plain", "two-words", "under_score")
    assert not [name for name in sys.modules if name.startswith("toolbox.gadgets.")]


def test_a_folder_without_source_is_named_after_itself(package):
    (package / "nested").mkdir()
    (package / "nested" / "__init__.py").touch()
    assert plugins.names("toolbox.gadgets") == ("nested",)


def test_load_imports_the_file_of_that_name(package):
    (package / "two_words.py").write_text('NAME = "two-words"\nVALUE = 3\n')
    assert load("two-words").VALUE == 3


def test_missing_attribute_is_named(package):
    (package / "bare.py").write_text('NAME = "bare"\n')
    with pytest.raises(PluginInvalid, match="bare lacks find, read"):
        load("bare", ("NAME", "find", "read"))


def test_name_that_differs_from_the_file_is_refused(package):
    (package / "shown.py").write_text('NAME = "shown"\nNAME = NAME + "-else"\n')
    with pytest.raises(PluginInvalid, match="calls itself shown-else"):
        load("shown")


def test_outside_plugin_is_found_and_loaded(package, outside):
    (package.parents[1] / "outside_good.py").write_text('NAME = "good"\n')
    outside(good="outside_good", other="outside_other")
    assert plugins.names("toolbox.gadgets") == ("good", "other")
    assert load("good").NAME == "good"


def test_two_plugins_of_one_name_are_refused_naming_both(package, outside):
    (package / "same.py").write_text('NAME = "same"\n')
    outside(same="outside_same")
    with pytest.raises(PluginInvalid, match=r"both toolbox\.gadgets\.same and outside_same"):
        plugins.names("toolbox.gadgets")


def test_broken_outside_plugin_is_skipped_with_one_warning(package, outside, caplog):
    (package.parents[1] / "outside_bad.py").write_text("raise RuntimeError('secret words')\n")
    outside(bad="outside_bad")
    assert load("bad") is None
    assert [record.getMessage() for record in caplog.records] == [
        "plugin bad of clew.gadgets is skipped: RuntimeError"
    ]


def test_outside_plugin_that_is_no_module_is_none(package, outside):
    (package.parents[1] / "outside_odd.py").write_text("thing = 3\n")
    outside(odd="outside_odd:thing")
    assert load("odd") is None


def test_group_is_named_after_the_package():
    assert plugins.entry_point_group("topology.shapes") == "clew.shapes"
