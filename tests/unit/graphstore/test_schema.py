import re

import pytest

from graphstore import schema
from graphstore.model.hypothesis import Compensates, Resonates
from graphstore.model.knowledge import (
    Concept,
    Edge,
    Lineage,
    Mentions,
    Node,
    Question,
    SourceRefNode,
)

EVERY: tuple[type[Node] | type[Edge], ...] = (*schema.NODE_CLASSES, *schema.EDGE_CLASSES)


def statements():
    """Every text that can be sent to the engine."""
    yield from schema.ddl()
    yield from (schema.create_turns(), schema.find_turns(), schema.find_signals())
    yield from (schema.find_asked(), schema.find_paths())
    yield from map(schema.for_one, written())
    yield from written()
    for cls in schema.NODE_CLASSES:
        yield from (schema.create_node(cls), schema.scan_nodes(cls), schema.find_nodes(cls))
        yield from (schema.copy_nodes(cls), schema.find_keys(cls.TABLE))
        yield schema.count_nodes(cls.TABLE)
    for edge in schema.EDGE_CLASSES:
        for pair in edge.PAIRS:
            yield from (schema.scan_edges(edge, *pair), schema.copy_edges(edge, *pair))
            name = schema.columns(edge)[0].name
            for end in ("a", "b"):
                yield schema.find_edges(edge, *pair, end=end)
                yield schema.find_few_edges(edge, *pair, end=end)
                yield schema.find_ends(edge, *pair, name, end=end)
                yield schema.find_few_ends(edge, *pair, name, end=end)
            yield from (schema.count_edges(edge, *pair, backward=way) for way in (False, True))
            if pair[0] == "SourceRef":
                yield schema.find_turn_edges(edge, pair[1])


def written():
    """What is written from a table of rows, or for one row."""
    for cls in schema.NODE_CLASSES:
        yield from (schema.merge_node(cls), *schema.delete_node(cls))
    for edge in schema.EDGE_CLASSES:
        for pair in edge.PAIRS:
            yield from (schema.create_edge(edge, *pair), schema.set_edge(edge, *pair))
            yield schema.delete_edge(edge, *pair)


def test_column_types_follow_the_fields():
    kinds = {column.name: column.kind for column in schema.columns(SourceRefNode)}
    assert kinds["ref"] == "STRING"
    assert kinds["turn"] == "INT64"
    assert kinds["position"] == "INT64"
    assert kinds["at"] == "TIMESTAMP"
    assert kinds["interim"] == "BOOL"
    assert kinds["links"] == "STRING[]"
    assert {c.name: c.kind for c in schema.columns(Question)}["status"] == "STRING"
    assert {c.name: c.kind for c in schema.columns(Mentions)}["weight"] == "DOUBLE"


def test_only_moments_are_stored_as_times():
    times = {
        (cls.TABLE, c.name) for cls in EVERY for c in schema.columns(cls) if c.kind == "TIMESTAMP"
    }
    named = {name for _, name in times}
    assert all(
        name.endswith("_at") or name in ("at", "first_seen", "last_seen", "review_after")
        for name in named
    )


def test_a_tag_is_no_column():
    assert "edge" not in {column.name for column in schema.columns(Resonates)}
    assert "edge" in Resonates.model_fields


def test_the_ends_of_an_edge_are_no_columns():
    assert [column.name for column in schema.columns(Lineage)] == [
        "source_refs",
        "weight",
        "extractor",
        "kind",
        "split_turn",
    ]


def test_nodes_are_created_before_relations():
    kinds = [text.split()[1] for text in schema.ddl()]
    assert kinds == sorted(kinds)
    assert len(kinds) == len(EVERY)


def test_a_relation_names_all_its_pairs():
    created = schema.create(Compensates)
    assert all(f"FROM `{src}` TO `{dst}`" in created for src, dst in Compensates.PAIRS)


def test_every_class_has_its_own_table():
    assert len({cls.TABLE for cls in EVERY}) == len(EVERY)
    assert schema.node_class("Concept") is Concept
    assert schema.key_of("Concept") == "concept_id"


@pytest.mark.parametrize("text", sorted(set(statements())))
def test_no_statement_falls_into_a_trap_of_the_engine(text):
    bare = re.sub(r"`[^`]*`", "x", text)
    assert re.search(r"MATCH \([^)]*\),", bare) is None  # a comma is a cross product
    assert "UNWIND" not in bare
    assert "DETACH" not in bare
    assert ";" not in bare
    assert ("COPY" in bare) == text.startswith("COPY")


def test_nodes_leave_after_their_relations_in_both_directions():
    texts = schema.delete_node(Concept)
    forward = [n for n, text in enumerate(texts) if "-[r:" in text and "<-[" not in text]
    backward = [n for n, text in enumerate(texts) if "<-[r:" in text]
    assert forward
    assert max(forward) < min(backward)
    assert max(backward) < len(texts) - 1
    assert texts[-1].endswith("DELETE n")
    assert all(
        any(cls.TABLE in text for text in texts)
        for cls in (Mentions, Resonates)
        if any("Concept" in p for p in cls.PAIRS)
    )
