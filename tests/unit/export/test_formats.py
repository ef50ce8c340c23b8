"""Every format: the golden bytes, twice the same, and what a reader that is not ours finds."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any
from zipfile import ZipFile

import networkx as nx
import pytest

from export import NodeRow, Switches, format_names
from export.columns import column_types, text
from export.formats import (
    canvas,
    cypher,
    cytoscape,
    dot,
    gexf,
    graphml,
    jsonl,
    mermaid,
    obsidian,
    svg,
)
from export.formats import csv as csv_format
from export.formats import html as html_format
from export.formats import json as json_format
from export.page import page
from export.view import Cell, cell
from export.write import writer
from graphstore.ids import canonical
from tests.unit.export.export_sample import HOSTILE, SPOKEN, tiny

CLEAN = HOSTILE.replace("\x00", "").replace("\x0b", "").replace("\ufffe", "")


ZIPPED = ("csv", "obsidian")


def written(module, view) -> bytes:
    out = io.BytesIO()
    module.write(view, out)
    return out.getvalue()


def readable(name: str, view) -> str:
    """What a golden file keeps: the zip by its members, the page by its data."""
    if name == "html":
        return json.dumps(page(view), indent=1, sort_keys=True, ensure_ascii=True) + "\n"
    body = written(writer(name), view)
    if name in ZIPPED:
        with ZipFile(io.BytesIO(body)) as archive:
            return "".join(f"== {m}\n{archive.read(m).decode()}" for m in archive.namelist())
    return body.decode()


@pytest.mark.parametrize("name", format_names())
def test_writes_the_golden_bytes(name, root):
    golden = root / "tests/data/export" / f"{name}.golden"
    assert readable(name, tiny()) == golden.read_bytes().decode()


@pytest.mark.parametrize("name", [name for name in format_names() if name != "html"])
def test_two_runs_are_byte_equal(name):
    module = writer(name)
    assert written(module, tiny()) == written(module, tiny())


@pytest.mark.parametrize("name", format_names())
def test_a_format_says_how_it_encodes_unknown_time_refs_and_hypotheses(name):
    module = writer(name)
    assert name == module.NAME
    assert module.SUFFIX.startswith(".")
    said = " ".join((module.__doc__ or "").split())
    for word in ("null", "ref", "standing"):
        assert word in said.lower(), (name, word)


@pytest.mark.parametrize("name", [name for name in format_names() if name != "html"])
def test_an_empty_view_is_still_a_file(name):
    view = replace(tiny(), nodes=(), edges=(), hypotheses=(), seeds=(), marks=())
    assert readable(name, view) is not None


def graphml_graph(view) -> Any:
    return nx.read_graphml(io.BytesIO(written(graphml, view)), force_multigraph=True)


def test_graphml_comes_back_from_networkx_as_it_was():
    view = tiny()
    graph = graphml_graph(view)
    for row in view.every_node():
        found = graph.nodes[row.key]
        assert found["table"] == row.table
        for name, value in row.columns.items():
            expected = json.dumps(list(value)) if isinstance(value, tuple) else value
            got: Any = found.get(name)
            assert (json.dumps(json.loads(got)) if isinstance(value, tuple) else got) == expected
    assert graph.number_of_edges() == len(view.every_edge())


def test_graphml_is_strict_xml_with_hostile_labels():
    tree = ET.fromstring(written(graphml, tiny()))  # noqa: S314 - our own bytes
    labels = [data.text for data in tree.iter("{http://graphml.graphdrawing.org/xmlns}data")]
    assert CLEAN in labels


def test_graphml_marks_every_dreamt_edge_and_no_other():
    graph = graphml_graph(tiny())
    for _, _, edge in graph.edges(data=True):
        dreamt = edge["table"] in {"COMPENSATES", "ANTICIPATES", "RESONATES", "IMAGINES"}
        assert (edge.get("marked") == "Hypothesis, not source") is dreamt
        assert ("standing" in edge) is dreamt


def test_node_link_json_comes_back_from_networkx_as_it_was():
    view = tiny()
    graph = nx.node_link_graph(json.loads(written(json_format, view)), edges="edges")
    assert set(graph.nodes) == {row.key for row in view.every_node()}
    assert graph.number_of_edges() == len(view.every_edge())
    for row in view.every_node():
        for name, value in row.columns.items():
            assert graph.nodes[row.key][name] == (
                list(value) if isinstance(value, tuple) else value
            )
    cited = [edge for _, _, edge in graph.edges(data=True) if edge["table"] == "CITES"]
    assert "cites_target" in cited[0]


def test_jsonl_holds_one_sorted_line_per_row_and_leaves_seeds_out():
    view = tiny()
    lines = [json.loads(line) for line in written(jsonl, view).splitlines()]
    assert len(lines) == len(view.nodes) + len(view.edges) + len(view.hypotheses)
    tables = [line.get("node") or line["edge"] for line in lines]
    assert tables == sorted(tables)
    assert not {"Seed", "MARKS", "Meta"} & set(tables)
    for line, raw in zip(lines, written(jsonl, view).splitlines(), strict=True):
        assert canonical(line) == raw
        assert ("marked" in line) is ("hypothesis_id" in line["columns"])


def test_jsonl_does_not_depend_on_the_day_of_the_export():
    view = tiny()
    later = replace(
        view, hypotheses=tuple(replace(row, standing="expired") for row in view.hypotheses)
    )
    assert written(jsonl, view) == written(jsonl, later)


def csv_rows(view) -> dict[str, list[dict[str, str]]]:
    with ZipFile(io.BytesIO(written(csv_format, view))) as archive:
        return {
            name: list(csv.DictReader(io.StringIO(archive.read(name).decode(), newline="")))
            for name in archive.namelist()
        }


def test_csv_comes_back_from_the_standard_reader_as_it_was():
    view = tiny()
    files = csv_rows(view)
    for table in {row.table for row in view.every_node()}:
        rows = {row[f"key:ID({table})"]: row for row in files[f"nodes/{table}.csv"]}
        for node in view.every_node():
            if node.table != table:
                continue
            found = {name.partition(":")[0]: value for name, value in rows[node.key].items()}
            for name, value in node.columns.items():
                got = found[name].removeprefix("'") if isinstance(value, str) else found[name]
                assert got == text(value)
    assert sum(len(rows) for name, rows in files.items() if name.startswith("rel")) == len(
        view.every_edge()
    )


def test_csv_never_starts_a_text_cell_like_a_formula():
    for rows in csv_rows(tiny()).values():
        for row in rows:
            for name, value in row.items():
                typed = name.rpartition(":")[2] in {"long", "double", "boolean"}
                assert typed or not value.startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize("cell_text", ["=1+1", "'=1+1", "+x", "-x", "@x", "\tx", "plain", ""])
def test_csv_guard_can_be_taken_away_again(cell_text):
    guarded = csv_format.guard(cell_text)
    assert guarded.removeprefix("'") == cell_text


def test_csv_zip_holds_no_date_and_no_owner():
    with ZipFile(io.BytesIO(written(csv_format, tiny()))) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_page_data_cannot_end_its_script_element():
    inlined = html_format.inline(canonical(page(tiny())).decode())
    assert "<" not in inlined
    assert "\u2028" not in inlined
    assert json.loads(inlined) == json.loads(canonical(page(tiny())))


def test_page_is_one_file_with_policy_data_licences_and_bundle(monkeypatch, tmp_path):
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets/explorer.js").write_text("/* the bundle */", "utf-8")
    (tmp_path / "assets/THIRD_PARTY_LICENSES.txt").write_text("MIT <someone>", "utf-8")
    monkeypatch.setattr(html_format, "files", lambda _: tmp_path)
    shown = written(html_format, tiny()).decode()
    assert shown == written(html_format, tiny()).decode()
    for part in (
        "default-src 'none'",
        "connect-src 'none'",
        "/* the bundle */",
        "MIT &lt;someone>",
    ):
        assert part in shown
    assert "http://" not in shown
    assert shown.count("</script>") == 3


def test_page_without_a_bundle_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(html_format, "files", lambda _: tmp_path)
    with pytest.raises(html_format.ExplorerMissing, match="no explorer page"):
        written(html_format, tiny())


@pytest.mark.parametrize("name", [name for name in format_names() if name != "html"])
def test_no_turn_text_by_default_in_any_format(name):
    assert SPOKEN not in readable(name, tiny(Switches(with_hypotheses=True)))


def test_gexf_comes_back_from_networkx_with_its_times():
    view = tiny()
    graph = nx.read_gexf(io.BytesIO(written(gexf, view)))
    assert set(graph.nodes) == {row.key for row in view.every_node()}
    assert graph.number_of_edges() == len(view.every_edge())
    thread = graph.nodes["notes:1"]
    assert (thread["start"], thread.get("end")) == ("2025-11-03", None)
    assert graph.nodes["notes:2"]["title"] == CLEAN
    marked = [edge for _, _, edge in graph.edges(data=True) if edge.get("marked")]
    assert len(marked) == len(view.hypotheses)


def test_cytoscape_json_comes_back_from_networkx_as_it_was():
    view = tiny()
    graph = nx.cytoscape_graph(json.loads(written(cytoscape, view)))
    assert set(graph.nodes) == {row.key for row in view.every_node()}
    assert graph.number_of_edges() == len(view.every_edge())
    assert graph.nodes["notes:1"]["name"] == "Thread 1"
    elements = json.loads(written(cytoscape, view))["elements"]
    dreamt = [edge["data"] for edge in elements["edges"] if edge.get("classes") == "dreamt"]
    assert {edge["marked"] for edge in dreamt} == {"Hypothesis, not source"}
    assert len(dreamt) == 4
    assert sum("position" in node for node in elements["nodes"]) == 2


def test_svg_is_strict_xml_with_dashed_marked_dreams():
    tree = ET.fromstring(written(svg, tiny()))  # noqa: S314 - our own bytes
    space = "{http://www.w3.org/2000/svg}"
    dreamt = [line for line in tree.iter(f"{space}line") if line.get("class") == "dreamt"]
    assert len(dreamt) == 4
    assert all((line[0].text or "").startswith("Hypothesis, not source") for line in dreamt)
    assert not list(tree.iter(f"{space}script"))


def test_svg_names_do_not_run_into_one_another():
    view = tiny()
    near = {row.key: (0.0, 0.001 * at) for at, row in enumerate(view.nodes)}
    crowded = written(svg, replace(view, places={**near, "notes:1": (1.0, 1.0)})).decode()
    assert (
        0 < crowded.count("<text") < written(svg, replace(view, places={})).decode().count("<text")
    )


def test_canvas_edges_join_cards_that_are_there():
    made = json.loads(written(canvas, tiny()))
    cards = {card["id"] for card in made["nodes"]}
    assert len(cards) == 9
    assert {edge[end] for edge in made["edges"] for end in ("fromNode", "toNode")} <= cards
    assert sum("Hypothesis, not source" in edge.get("label", "") for edge in made["edges"]) == 4


def test_vault_links_lead_to_notes_and_front_matter_is_json():
    with ZipFile(io.BytesIO(written(obsidian, tiny()))) as archive:
        notes = {name: archive.read(name).decode() for name in archive.namelist()}
    stems = {name.rpartition("/")[2].removesuffix(".md") for name in notes}
    assert len(stems) == len(notes) == 9
    for name, note in notes.items():
        assert not set(':*?"<>|#^[]\\') & set(name)
        assert set(re.findall(r"\[\[([^\]]*)\]\]", note.partition("\n---\n")[2])) <= stems
        front = note.split("---\n")[1]
        for line in front.splitlines():
            json.loads(line.partition(": ")[2])
    dreamt = [note for note in notes.values() if "Hypotheses, not sources" in note]
    assert len(dreamt) == 4
    assert any(f"> {SPOKEN}" in note for note in notes.values())


def test_mermaid_keeps_the_best_connected_and_says_what_it_left_out():
    view = tiny()
    row = next(row for row in view.nodes if row.table == "Concept")
    many = tuple(replace(row, key=f"c:{number}") for number in range(300))
    text = written(mermaid, replace(view, nodes=(*view.nodes, *many))).decode()
    assert "%% 109 less connected nodes are left out" in text
    assert text.count("([") == 194
    assert text.count("Hypothesis, not source") == 4


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("it's", r"'it\'s'"),
        ("a\\'; DROP", r"'a\\\'; DROP'"),
        ("a\nb", r"'a\nb'"),
        (True, "true"),
        (None, "null"),
        (1.5, "1.5"),
        (("a", "b"), "['a', 'b']"),
    ],
)
def test_cypher_literals_cannot_be_left(value, shown):
    assert cypher.literal(value) == shown


def test_cypher_writes_one_statement_a_line():
    lines = written(cypher, tiny()).decode().splitlines()
    assert all(line.endswith(";") for line in lines)
    assert len(lines) == 7 + len(tiny().every_node()) + len(tiny().every_edge())
    assert sum("`marked`: 'Hypothesis, not source'" in line for line in lines) == 4


@pytest.mark.parametrize("text_in", ['a "b"', "back\\slash", "two\nlines"])
def test_dot_strings_stay_on_one_line_and_closed(text_in):
    quoted = dot.quoted(text_in)
    assert "\n" not in quoted
    assert json.loads(quoted) == " ".join(text_in.split())


def test_dot_marks_dreamt_edges():
    text = written(dot, tiny()).decode()
    assert text.count("style=dashed") == text.count("Hypothesis, not source") == 4


def test_one_type_per_column():
    rows: list[dict[str, Cell]] = [
        {"a": 1, "b": None, "c": True, "d": 1},
        {"a": 1.5, "b": None, "c": False, "d": "x"},
    ]
    assert column_types(rows) == {"a": "double", "b": "string", "c": "boolean", "d": "string"}
    assert column_types([{"a": None}, {"a": 3}]) == {"a": "long"}
    assert column_types([{"a": True}, {"a": 3}]) == {"a": "string"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (2, "2"),
        (0.5, "0.5"),
        (("a", "b"), '["a","b"]'),
    ],
)
def test_cells_as_text(value, shown):
    assert text(value) == shown


def test_lone_surrogates_and_control_characters_never_reach_a_writer():
    row = NodeRow("Concept", "c:1", {"label": cell("a\ud800b\x08c\U0001f9f6")})
    view = replace(tiny(), nodes=(row,), edges=(), hypotheses=(), seeds=(), marks=())
    for name in ("graphml", "json", "jsonl", "csv"):
        assert "abc\U0001f9f6" in readable(name, view)
