"""A difference written row by row, as a table, or part by part leaves the same graph."""

import random

import pytest

from graphstore import schema
from graphstore.delta import difference, write
from graphstore.engine import Engine, RowsLost
from graphstore.model.knowledge import Concept, ConceptKind, Links, Question, Relates
from graphstore.rows import Rows
from graphstore.stored import read_rows

CLASSES = (Concept, Question, Relates, Links)
WAYS = {"row by row": 0, "as a table": 10**9, "either": 4}


def concept(number, df=1):
    return Concept(
        concept_id=f"c:{number}",
        label=f"l{number}",
        aliases=("x",) * (df % 3),
        df=df,
        cf=1,
        generic=False,
        kind=ConceptKind.TERM,
    )


def relation(one, other, kind, weight=1.0):
    return Relates(
        src_table="Concept",
        src=f"c:{one}",
        dst_table="Concept",
        dst=f"c:{other}",
        source_refs=("thread:a:b#turn:1",) * int(weight),
        weight=weight,
        extractor="x/1",
        edge_type=kind,
        why="" if weight > 2 else "so",
    )


def made(dice):
    """A graph of some concepts, each perhaps with another count, and relations between them."""
    numbers = dice.sample(range(30), dice.randrange(8, 25))
    rows = Rows()
    rows.add(concept(number, dice.randrange(4)) for number in numbers)
    rows.add(
        relation(
            dice.choice(numbers),
            dice.choice(numbers),
            dice.choice(["co_occurs", "causes"]),
            float(dice.randrange(1, 5)),
        )
        for _ in range(dice.randrange(60))
    )
    return rows


def held(engine):
    with engine.read() as statement:
        rows = Rows()
        for cls in CLASSES:
            rows.add(read_rows(statement, cls))
        return rows


def told(rows):
    return [rows.sorted_nodes(cls) for cls in CLASSES[:2]] + [
        rows.sorted_edges(cls) for cls in CLASSES[2:]
    ]


@pytest.mark.parametrize("nodes_for_a_row", WAYS.values(), ids=WAYS)
def test_a_graph_becomes_any_other_however_often_it_is_reopened(tmp_path, nodes_for_a_row):
    dice = random.Random(7)  # noqa: S311 - a fixed seed
    path = tmp_path / "graph.kuzu"
    engine = Engine(path)
    with engine.autocommit() as statement:
        for cypher in schema.ddl():
            statement.run(cypher)
    before = Rows()
    for turn in range(6):
        wanted = made(dice)
        with engine.write() as statement:
            write(statement, difference(before, wanted), nodes_for_a_row=nodes_for_a_row)
        if turn % 2:
            engine.close(fold=turn == 3)
            engine = Engine(path)
        before = held(engine)
        assert told(before) == told(wanted)
    engine.close()


def test_a_single_row_whose_end_is_missing_is_told(tmp_path):
    with_concept, with_edge = Rows(), Rows()
    with_concept.add([concept(1)])
    with_edge.add([concept(1), relation(1, 2, "causes")])
    engine = Engine(tmp_path / "graph.kuzu")
    with engine.autocommit() as statement:
        for cypher in schema.ddl():
            statement.run(cypher)
    with engine.write() as statement:
        write(statement, difference(Rows(), with_concept))
    with pytest.raises(RowsLost), engine.write() as statement:
        write(statement, difference(with_concept, with_edge), nodes_for_a_row=0)
    assert told(held(engine)) == told(with_concept)
    engine.close()
