"""Any value that can be built comes back from its row as it was."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore import codec, schema
from graphstore.arrow import arrow_table
from graphstore.engine import Engine
from graphstore.model.knowledge import Concept, Edge, Mentions, SourceRefNode
from graphstore.stored import read_edges, read_nodes

WORDS = st.text(max_size=12)
CELLS = {
    "STRING": WORDS,
    "INT64": st.integers(-(2**63), 2**63 - 1),
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False),
    "BOOL": st.booleans(),
    "STRING[]": st.lists(WORDS, max_size=3).map(tuple),
    "TIMESTAMP": st.datetimes(
        min_value=datetime.fromisoformat("1700-01-01"),
        max_value=datetime.fromisoformat("2200-01-01"),
        timezones=st.just(UTC),
    ),
}


def field_values(cls, name):
    annotation = cls.model_fields[name].annotation
    choices = [annotation, *get_args(annotation)]
    enums = [part for part in choices if isinstance(part, type) and issubclass(part, StrEnum)]
    kind = {column.name: column.kind for column in schema.columns(cls)}[name]
    cells = st.sampled_from(list(enums[0])) if enums else CELLS[kind]
    return st.none() | cells if type(None) in choices else cells


@st.composite
def values(draw, cls):
    fields = {c.name: draw(field_values(cls, c.name)) for c in schema.columns(cls)}
    if issubclass(cls, Edge):
        src, dst = draw(st.sampled_from(cls.PAIRS))
        fields |= {"src_table": src, "src": draw(WORDS), "dst_table": dst, "dst": draw(WORDS)}
    return cls(**fields)


@pytest.mark.parametrize("cls", schema.NODE_CLASSES, ids=lambda cls: cls.TABLE)
@given(data=st.data())
@settings(max_examples=20)
def test_nodes_round_trip(cls, data):
    node = data.draw(values(cls))
    row = codec.encode_node(node)
    names = [column.name for column in schema.columns(cls)]
    assert codec.decode_nodes(
        cls, {name: [cell] for name, cell in zip(names, row, strict=True)}
    ) == (node,)


@pytest.mark.parametrize("cls", schema.EDGE_CLASSES, ids=lambda cls: cls.TABLE)
@given(data=st.data())
@settings(max_examples=20)
def test_edges_round_trip(cls, data):
    edge = data.draw(values(cls))
    names = ["src", "dst", *(column.name for column in schema.columns(cls))]
    table = {name: [cell] for name, cell in zip(names, codec.encode_edge(edge), strict=True)}
    assert codec.decode_edges(cls, edge.src_table, edge.dst_table, table) == (edge,)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    engine = Engine(tmp_path_factory.mktemp("graph") / "graph.kuzu")
    with engine.autocommit() as statement:
        for cypher in schema.ddl():
            statement.run(cypher)
    yield engine
    engine.close()


def fresh(statement, *classes):
    for cls in classes:
        for cypher in schema.delete_node(cls):
            found = statement.columns(f"MATCH (n:{cls.TABLE}) RETURN n.{cls.KEY} AS key")
            keys = [(key,) for key in found["key"]]
            statement.discard(cypher, (schema.KEY_COLUMN,), keys)


@given(st.lists(values(SourceRefNode), max_size=4, unique_by=lambda node: node.ref))
@settings(max_examples=25)
def test_nodes_come_back_from_the_engine_as_they_went_in(database, nodes):
    with database.write() as statement:
        fresh(statement, SourceRefNode)
        rows = [codec.encode_node(node) for node in nodes]
        statement.put(schema.merge_node(SourceRefNode), schema.columns(SourceRefNode), rows)
    with database.read() as statement:
        assert set(read_nodes(statement, SourceRefNode)) == set(nodes)


@given(values(Mentions), st.sampled_from(Mentions.PAIRS), values(Concept))
@settings(max_examples=15)
def test_edges_come_back_from_the_engine_as_they_went_in(database, edge, pair, concept):
    source = schema.node_class(pair[0])
    edge = edge.replace(src_table=pair[0], src="s", dst_table=pair[1], dst=concept.concept_id)
    with database.write() as statement:
        fresh(statement, source, Concept)
        key = (schema.Column(source.KEY, "STRING"),)
        statement.run(
            f"LOAD FROM $rows CREATE (n:{source.TABLE} {{{source.KEY}: `c_{source.KEY}`}})",
            rows=arrow_table(key, [("s",)]),
        )
        statement.put(
            schema.merge_node(Concept), schema.columns(Concept), [codec.encode_node(concept)]
        )
        statement.put(
            schema.create_edge(Mentions, *pair),
            (*schema.END_COLUMNS, *schema.columns(Mentions)),
            [codec.encode_edge(edge)],
        )
    with database.read() as statement:
        assert read_edges(statement, Mentions) == (edge,)


@given(st.text(st.characters(), max_size=8))
def test_clean_text_can_always_be_written(text):
    cleaned = codec.clean(text)
    assert isinstance(cleaned, str)
    assert cleaned.encode().decode() == cleaned
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert cleaned == text


def test_a_lone_surrogate_becomes_the_replacement_character():
    assert codec.clean("a\ud800b") == "a\ufffdb"
    assert codec.clean(3) == 3


def test_a_column_keeps_a_time_as_utc():
    noon = datetime.fromisoformat("2026-01-15T14:00:00+02:00")
    table = arrow_table((schema.Column("at", "TIMESTAMP"),), [(noon,)])
    assert table["c_at"].to_pylist() == [datetime.fromisoformat("2026-01-15T12:00:00")]
