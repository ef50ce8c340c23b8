"""Whatever a label holds, every format carries it and none is broken by it."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from zipfile import ZipFile

from hypothesis import given
from hypothesis import strategies as st

from export import EdgeRow, ExportView, NodeRow, Switches
from export.formats import csv as csv_format
from export.formats import cypher, dot, gexf, graphml, html, jsonl, mermaid, obsidian, svg
from export.privacy import Screen, strip
from export.report import Entry, Section, escape_markdown
from export.view import cell

WORDS = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cs", "Cc"]),
        st.sampled_from("<>&'\"]`|#=+-@\\\n\r\t\u2028\ufffe"),
    ),
    max_size=40,
)


def view_of(words: str) -> ExportView:
    label = cell(words)
    nodes = (
        NodeRow("Concept", "c:1", {"label": label, "aliases": cell((words, words))}),
        NodeRow("Concept", "c:2", {"label": label, "aliases": None}),
    )
    edge = EdgeRow("RELATES", "Concept", "c:1", "Concept", "c:2", {"why": label})
    return ExportView(switches=Switches(), nodes=nodes, edges=(edge,))


def written(module, view: ExportView) -> bytes:
    out = io.BytesIO()
    module.write(view, out)
    return out.getvalue()


@given(WORDS)
def test_xml_formats_parse_and_give_the_words_back(words):
    view = view_of(words)
    clean = strip(words)
    tree = ET.fromstring(written(graphml, view))  # noqa: S314 - our own bytes
    texts = [data.text or "" for data in tree.iter("{http://graphml.graphdrawing.org/xmlns}data")]
    assert texts.count(clean) >= 3
    tree = ET.fromstring(written(gexf, view))  # noqa: S314 - our own bytes
    values = [one.get("value") for one in tree.iter("{http://www.gexf.net/1.2draft}attvalue")]
    assert values.count(clean) >= 3
    ET.fromstring(written(svg, view))  # noqa: S314 - our own bytes


@given(WORDS)
def test_lines_stay_lines_and_words_come_back(words):
    view = view_of(words)
    lines = written(jsonl, view).split(b"\n")
    assert len(lines) == 4
    assert json.loads(lines[0])["columns"]["label"] == strip(words)
    assert written(dot, view).decode().count("\n") == 6
    assert written(mermaid, view).decode().count("\n") == 4
    assert written(cypher, view).decode().count("\n") == 4


@given(WORDS)
def test_csv_gives_the_words_back_behind_the_guard(words):
    with ZipFile(io.BytesIO(written(csv_format, view_of(words)))) as archive:
        text = archive.read("nodes/Concept.csv").decode()
    row = next(csv.DictReader(io.StringIO(text, newline="")))
    shown, clean = row["label:string"], strip(words)
    assert shown in (clean, f"'{clean}")
    assert not shown.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@given(WORDS)
def test_vault_names_fit_every_file_system(words):
    with ZipFile(io.BytesIO(written(obsidian, view_of(words)))) as archive:
        names = archive.namelist()
    assert len(set(names)) == 2
    for name in names:
        folder, _, note = name.partition("/")
        assert folder == "Concepts"
        assert note.endswith(".md")
        assert not set(note) & set('\\/:*?"<>|#^[]\n\r\t')
        assert len(note) < 90


@given(WORDS)
def test_nothing_in_json_ends_a_script_element(words):
    inlined = html.inline(json.dumps(words))
    assert "<" not in inlined
    assert json.loads(inlined) == words


@given(WORDS)
def test_stripping_twice_is_stripping_once(words):
    assert strip(strip(words)) == strip(words)
    strip(words).encode()


@given(WORDS)
def test_masking_paths_twice_is_masking_once(words):
    screen = Screen(with_text=False, with_paths=False, public=False, path_labels=frozenset())
    once = screen.unpath(words)
    assert screen.unpath(once) == once


@given(WORDS)
def test_markdown_words_are_one_line(words):
    line = escape_markdown(words)
    assert len(line.splitlines()) <= 1
    assert Section("t", (Entry(line),), "").entries[0].head == line
