"""A file appears whole or not at all."""

import stat

import pytest

from export import TargetExists, draws, export, format_names
from export import write as write_module
from graphstore.errors import UnknownFormat
from tests.unit.export.export_sample import tiny


def test_writes_and_tells_what_it_wrote(tmp_path):
    path = tmp_path / "new" / "graph.jsonl"
    done = export(tiny(), "jsonl", path)
    assert (done.format, done.path, done.size) == ("jsonl", str(path), path.stat().st_size)
    view = tiny()
    shown = (len(view.nodes), len(view.edges), len(view.hypotheses))
    assert (done.nodes, done.edges, done.hypotheses) == shown
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_does_not_overwrite_unless_forced(tmp_path):
    path = tmp_path / "graph.json"
    path.write_text("mine")
    with pytest.raises(TargetExists, match=r"graph\.json"):
        export(tiny(), "json", path)
    assert path.read_text() == "mine"
    export(tiny(), "json", path, force=True)
    assert path.read_text().startswith("{")


def test_an_unknown_format_names_the_known_ones(tmp_path):
    with pytest.raises(UnknownFormat, match=r"graphml.*jsonl"):
        export(tiny(), "papyrus", tmp_path / "x")


def test_a_failing_writer_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "out" / "graph.json"
    path.parent.mkdir()
    path.write_text("old")

    def fail(out):
        out.write(b"half")
        raise OSError(28, "no space left")

    with pytest.raises(OSError, match="no space"):
        write_module.replace_file(path, fail, force=True)
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_formats_that_draw_say_so():
    drawing = [name for name in format_names() if draws(name)]
    assert drawing == ["canvas", "cytoscape", "html", "svg"]


def test_formats_are_found_without_a_list():
    assert {"csv", "graphml", "html", "json", "jsonl"} <= set(format_names())
