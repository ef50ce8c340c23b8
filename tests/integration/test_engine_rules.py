"""The rules that keep the graph engine out of its traps."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from graphstore import engine as engines
from graphstore import schema
from graphstore.arrow import BATCH, arrow_table
from graphstore.engine import (
    AlreadyOpen,
    Engine,
    RowsLost,
    TransactionFailed,
    has_second_statement,
    translate,
)
from graphstore.errors import (
    DiskFull,
    EngineConflict,
    EngineUnavailable,
    QueryRefused,
    StoreDamaged,
    StoreError,
)
from graphstore.graphfiles import remove_set
from graphstore.schema import Column

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for package in ("graphstore", "ingest", "topology", "dream", "export", "service", "cli")
    for path in sorted((ROOT / package).rglob("*.py"))
]
KEY = (Column("id", "STRING"),)


@pytest.fixture
def engine(tmp_path):
    opened = Engine(tmp_path / "graph.kuzu")
    with opened.autocommit() as statement:
        statement.run("CREATE NODE TABLE A(id STRING, PRIMARY KEY(id))")
        statement.run("CREATE REL TABLE R(FROM A TO A)")
    yield opened
    opened.close()


def count(engine):
    with engine.read() as statement:
        return statement.columns("MATCH (n:A) RETURN count(*) AS n")["n"][0]


MERGE_A = "LOAD FROM $rows MERGE (n:A {id: c_id}) RETURN count(*) AS rows"
MERGE_R = (
    "LOAD FROM $rows MATCH (a:A {id: c_src}) MATCH (b:A {id: c_dst}) "
    "MERGE (a)-[:R]->(b) RETURN count(*) AS rows"
)


# texts


def test_only_one_file_imports_an_engine():
    importing = re.compile(
        r"^\s*(?:import|from) (?:kuzu|ladybug)\b|import_module\(.(?:kuzu|ladybug)", re.MULTILINE
    )
    assert [path for path in SOURCES if importing.search(path.read_text())] == [
        ROOT / "graphstore/engine.py"
    ]


def test_no_query_text_holds_a_trap():
    for path in SOURCES:
        text = path.read_text()
        assert re.search(r"MATCH \([^()]*\)\s*,\s*\(", text) is None, path
        assert re.search(r"UNWIND \$", text) is None, path
        assert "DETACH DELETE" not in text.replace("``DETACH DELETE``", ""), path


def test_slow_or_wrong_calls_of_the_engine_are_not_used():
    banned = re.compile(r"get_as_df|get_as_networkx|get_as_pl|get_all\(|strongly_connected")
    assert [path for path in SOURCES if banned.search(path.read_text())] == []


def test_bulk_loading_is_for_fresh_files_only():
    for name in ("copy_nodes(", "copy_edges("):
        assert [path.name for path in SOURCES if name in path.read_text()] == [
            "bulk.py",
            "schema.py",
        ]


# opening


def test_two_engines_do_not_meet_in_one_process(monkeypatch):
    monkeypatch.setitem(sys.modules, "ladybug", ModuleType("ladybug"))
    with pytest.raises(EngineConflict):
        engines.load("kuzu")


def test_a_missing_engine_says_how_to_get_it():
    with pytest.raises(EngineUnavailable) as caught:
        engines.load("no_such_engine")
    assert caught.value.engine == "no_such_engine"


def test_one_database_object_per_path(engine):
    with pytest.raises(AlreadyOpen):
        Engine(engine.path)


def test_a_foreign_file_is_damage_and_may_be_opened_again(tmp_path):
    path = tmp_path / "graph.kuzu"
    path.write_bytes(b"no graph" * 999)
    for _ in range(2):
        with pytest.raises(StoreDamaged):
            Engine(path)


# transactions


def test_a_failed_statement_ends_its_transaction(engine):
    def fail():
        with engine.write() as statement:
            statement.run("CREATE (:A {id: 'x'})")
            with pytest.raises(QueryRefused):
                statement.run("MATCH (n:Nowhere) RETURN n")
            with pytest.raises(TransactionFailed):
                statement.run("CREATE (:A {id: 'y'})")

    with pytest.raises(TransactionFailed):
        fail()
    assert count(engine) == 0


def test_an_error_of_ours_rolls_back(engine):
    def fail():
        with engine.write() as statement:
            statement.run("CREATE (:A {id: 'x'})")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert count(engine) == 0


def test_an_error_of_the_engine_rolls_back(engine):
    def fail():
        with engine.write() as statement:
            statement.run("CREATE (:A {id: 'x'})")
            statement.run("CREATE (:A {id: 'x'})")

    with pytest.raises(StoreError) as caught:
        fail()
    assert "x'" not in str(caught.value)
    assert count(engine) == 0


def test_a_reader_cannot_write(engine):
    with engine.read() as statement, pytest.raises(StoreError):
        statement.run("CREATE (:A {id: 'x'})")
    assert count(engine) == 0


def test_one_statement_per_call(engine):
    with engine.read() as statement, pytest.raises(QueryRefused):
        statement.run("RETURN 1; RETURN 2")


@pytest.mark.parametrize(
    ("cypher", "several"),
    [
        ("RETURN 1;", False),
        ("RETURN ';'", False),
        ("RETURN 'it\\';' ; RETURN 2", True),
        ('RETURN ";" + `a;b`', False),
        ("RETURN 1; RETURN 2", True),
    ],
)
def test_semicolons_count_outside_of_literals(cypher, several):
    assert has_second_statement(cypher) is several


# rows


def test_rows_are_merged_in_batches(engine):
    rows = [(f"n{n}",) for n in range(2 * BATCH + 1)]
    with engine.write() as statement:
        statement.put(MERGE_A, KEY, rows)
        statement.put(MERGE_A, KEY, rows[:10])
    assert count(engine) == len(rows)


def test_an_edge_without_an_end_does_not_vanish_silently(engine):
    def fail():
        with engine.write() as statement:
            statement.put(MERGE_A, KEY, [("a",)])
            ends = (Column("src", "STRING"), Column("dst", "STRING"))
            statement.put(MERGE_R, ends, [("a", "a"), ("a", "missing")])

    with pytest.raises(RowsLost) as caught:
        fail()
    assert caught.value.count == 1
    assert count(engine) == 0


def test_empty_columns_keep_their_type():
    columns = tuple(Column(kind, kind) for kind in ("STRING", "INT64", "TIMESTAMP", "STRING[]"))
    assert len(arrow_table(columns, []).schema.types) == 4
    nulls = arrow_table(columns, [(None,) * 4])
    assert nulls.schema == arrow_table(columns, []).schema


def test_every_statement_of_the_schema_runs(tmp_path):
    opened = Engine(tmp_path / "graph.kuzu")
    with opened.autocommit() as statement:
        for cypher in schema.ddl():
            statement.run(cypher)
    with opened.write() as statement:
        for cls in schema.NODE_CLASSES:
            for cypher in schema.delete_node(cls):
                statement.discard(cypher, (schema.KEY_COLUMN,), [("x",)])
            assert statement.columns(schema.scan_nodes(cls))[cls.KEY] == []
        for edge in schema.EDGE_CLASSES:
            kept = tuple(column for column in schema.columns(edge) if column.name in edge.KEYS)
            for pair in edge.PAIRS:
                rows = [("x", "y", *("k" for _ in kept))]
                columns = (*schema.END_COLUMNS, *kept)
                statement.discard(schema.delete_edge(edge, *pair), columns, rows)
                for end in ("a", "b"):
                    found = schema.find_edges(edge, *pair, end=end)
                    assert list(statement.each_batch(found, (schema.KEY_COLUMN,), [("x",)]))
    opened.close()


# files and space


def test_a_full_disk_is_noticed_before_a_transaction(engine, monkeypatch):
    monkeypatch.setattr(engines, "SPARE", 2**62)
    with pytest.raises(DiskFull), engine.write():
        pytest.fail("it began")
    assert count(engine) == 0


def test_no_log_no_checkpoint(engine):
    engine.checkpoint()
    assert engine.log_size == 0
    engine.checkpoint()
    assert not (engine.path.parent / "checkpoint.marker").exists()


def test_files_of_a_graph_go_as_a_set(tmp_path):
    for name in ("graph.kuzu", "graph.kuzu.wal", "graph.kuzu.shadow", "other.kuzu"):
        (tmp_path / name).write_text("x")
    remove_set(tmp_path / "graph.kuzu")
    assert [path.name for path in tmp_path.glob("*kuzu*")] == ["other.kuzu"]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Interrupted.", QueryRefused),
        ("Binder exception: Table X does not exist.", QueryRefused),
        ("Parser exception: canary", QueryRefused),
        ("IO exception: No space left on device", DiskFull),
        ("Runtime exception: Corrupted wal file", StoreDamaged),
        ("Runtime exception: Found duplicated primary key value canary", StoreDamaged),
        ("canary", StoreError),
    ],
)
def test_the_engines_prose_becomes_one_of_our_errors(tmp_path, words, kind):
    error = translate(RuntimeError(words), tmp_path / "graph.kuzu")
    assert type(error) is kind
    if kind is not QueryRefused:
        assert "canary" not in str(error)
