import pytest

from graphstore.errors import QueryRefused
from graphstore.guard import LIMIT, check, tokens

READS = (
    "MATCH (t:Thread) RETURN t.title",
    "match (t:Thread) where t.project = $project return t order by t.title desc skip 5 limit 1;",
    "MATCH (t:Thread)-[h:HAS_TURN]->(r:SourceRef) WHERE r.text CONTAINS 'load' RETURN h.turn",
    "OPTIONAL MATCH (q:Question) RETURN count(*)",
    "UNWIND [1, 2, 3] AS x RETURN sum(x)",
    "WITH 1 AS x RETURN CASE WHEN (x = 1) THEN 'a' ELSE 'b' END",
    "RETURN 1 UNION ALL RETURN 2",
    "MATCH (a:Question)-[l:LINKS*1..2]-(b:Question) RETURN DISTINCT (a.text), length(l)",
    "MATCH (n:SourceRef) WHERE n.`offset` > 3 AND NOT (n.text STARTS WITH 'x') RETURN n.`line`",
    "MATCH (n:SourceRef) WHERE n.text = 'DELETE; DROP -- all' RETURN n.ref // DELETE nothing",
    'MATCH (n:Concept) WHERE n.label =~ "(?i)lock.*" RETURN /* SET */ n.label',
    "MATCH (n:Concept) WHERE EXISTS { MATCH (n)<-[:MENTIONS]-(:SourceRef) } RETURN n.label",
    "MATCH (n:Concept) RETURN n.label, coalesce(n.df, 0) + 1.5e3 AS weight",
    "CALL show_tables() RETURN *",
    "CALL table_info('Thread') RETURN *",
)

ATTACKS = (
    "",
    "   ;",
    "CREATE (n:Thread {thread_id: 'x'})",
    "CREATE (n:Thread {thread_id: 'x'}) RETURN n",
    "MERGE (n:Thread {thread_id: 'x'}) RETURN n",
    "MATCH (n:Thread) DELETE n",
    "MATCH (n:Thread) DETACH DELETE n RETURN 1",
    "MATCH (n:Thread) SET n.title = 'x' RETURN n",
    "MATCH (n:Thread) REMOVE n.title RETURN n",
    "match (n:Thread) sEt n.title = 'x' return n",
    "LOAD FROM '/etc/passwd' RETURN *",
    "LOAD WITH HEADERS (a STRING) FROM '/etc/passwd' RETURN *",
    "MATCH (n) RETURN n UNION LOAD FROM '/etc/passwd' RETURN *",
    "COPY Thread FROM '/tmp/x.csv'",
    "COPY (MATCH (n) RETURN n) TO '/tmp/x.csv'",
    "EXPORT DATABASE '/tmp/x'",
    "IMPORT DATABASE '/tmp/x'",
    "ATTACH '/tmp/x.db' AS x (dbtype sqlite)",
    "DETACH x",
    "USE x",
    "INSTALL httpfs",
    "LOAD EXTENSION httpfs",
    "LOAD EXTENSION '/tmp/x.so'",
    "UNINSTALL httpfs",
    "DROP TABLE Thread",
    "ALTER TABLE Thread ADD x INT64",
    "CREATE NODE TABLE X(a STRING, PRIMARY KEY(a))",
    "CREATE REL TABLE X(FROM Thread TO Thread)",
    "CREATE SEQUENCE s",
    "CREATE MACRO f(x) AS x + 1",
    "CREATE TYPE t AS INT64",
    "COMMENT ON TABLE Thread IS 'x'",
    "BEGIN TRANSACTION",
    "COMMIT",
    "ROLLBACK",
    "CHECKPOINT",
    "CALL threads=1",
    "CALL checkpoint_threshold=0 RETURN 1",
    "CALL show_attached_databases() RETURN *",
    "CALL current_setting('threads') RETURN *",
    "CALL CREATE_FTS_INDEX('Thread', 'i', ['title']) RETURN *",
    "CALL DROP_VECTOR_INDEX('Thread', 'i') RETURN *",
    "CALL `show_tables`() RETURN *",
    "MATCH (n) CALL show_tables() RETURN *",
    "CALL show_tables() RETURN * UNION CALL threads() RETURN *",
    "EXPLAIN MATCH (n) RETURN n",
    "PROFILE MATCH (n) DELETE n",
    "MATCH (n) RETURN n; MATCH (n) DELETE n",
    "MATCH (n) RETURN n;;",
    "MATCH (n) RETURN 'x' ; DROP TABLE Thread",
    "MATCH (n) RETURN n /* ; */ ; DROP TABLE Thread",
    "MATCH (n) RETURN 'it\\'; DROP TABLE Thread",
    'MATCH (n) RETURN "open',
    "MATCH (n) RETURN `open",
    "MATCH (n) RETURN /* open",
    "MATCH (n) RETURN nextval('s')",
    "MATCH (n) RETURN read_blob('/etc/passwd')",
    "MATCH (n) RETURN `nextval`('s')",
    "RETURN getvariable('x')",
    "MATCH (n)",
    "'MATCH' RETURN 1",
    "MATCH (n) FOREACH (x IN [1] | SET n.a = x) RETURN n",
    "MATCH (n) RETURN n \\ 1",
    "MATCH (n) RETURN n #",
    "MATCH (n) RETURN \x00",
    "PROJECT GRAPH g (Thread) RETURN 1",
    "(MATCH (n) RETURN n)",
    "RETURN 1 -- comment\n; DROP TABLE Thread",
)


@pytest.mark.parametrize("query", READS)
def test_reading_passes(query):
    assert check(query, ["project"]) == query.removesuffix(";")


@pytest.mark.parametrize("query", ATTACKS)
def test_everything_else_is_refused(query):
    with pytest.raises(QueryRefused):
        check(query)


def test_a_parameter_without_a_value_is_refused():
    with pytest.raises(QueryRefused):
        check("MATCH (n:Thread) WHERE n.title = $title RETURN n", ["other"])


@pytest.mark.parametrize("bounds", ["1, 100000", "-5, 5", "0, 10, 2", "10, 1"])
def test_a_range_of_bounded_size_passes(bounds):
    assert check(f"UNWIND range({bounds}) AS x RETURN x")


@pytest.mark.parametrize(
    "bounds", ["1, 100001", "1, 60000000", "-100000, 0", "1, 9 * 999999", "1, x", "1", "1, (9)",
               "$a, $b", "1, 2, -1", "1, 1e9", "0, 99999999999999999999"],
)  # fmt: skip
def test_a_range_that_fills_the_memory_is_refused(bounds):
    with pytest.raises(QueryRefused, match="a range is two numbers written out"):
        check(f"WITH 1 AS x UNWIND RANGE({bounds}) AS y RETURN y", {"a": 1, "b": 2})


def test_a_query_has_a_bounded_length():
    with pytest.raises(QueryRefused):
        check("RETURN '" + "x" * LIMIT + "'")


def test_text_and_quoted_names_are_one_token_each():
    assert [kind for kind, _ in tokens("RETURN 'a;b', `c;d`, $e")] == [
        "word",
        "text",
        "mark",
        "quoted",
        "mark",
        "parameter",
    ]


def test_a_refusal_does_not_repeat_the_query():
    with pytest.raises(QueryRefused) as caught:
        check("MATCH (n) WHERE n.text = 'canary' RETURN n ; MATCH")
    assert "canary" not in str(caught.value)
