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
    # letters that look like others, and escapes
    "\uff2c\uff2f\uff21\uff24 FROM '/etc/passwd' RETURN *",
    "MATCH (n) \u017fet n.title = 'x' RETURN n",
    "MATCH (n) RETURN n UNION L\u039fAD FROM '/etc/passwd' RETURN *",
    "MATCH (n) \\u0053ET n.title = 'x' RETURN n",
    "MATCH (n)\u00a0RETURN n\u037e DROP TABLE Thread",
    "MATCH (n) RETURN n\uff1b DROP TABLE Thread",
    "RETURN re\u0430d_blob('x')",
    "MATCH (n) RETURN \u2018x\u2019",
    # words inside words, and subqueries
    "MATCH (n) WHERE EXISTS { MATCH (m) SET m.title = 'x' } RETURN n",
    "MATCH (n) WHERE EXISTS { LOAD FROM '/etc/passwd' RETURN * } RETURN n",
    "MATCH (n) RETURN COUNT { CALL show_tables() RETURN * }",
    "MATCH (n) WITH n CALL { MATCH (m) DELETE m } RETURN n",
    "WITH 1 AS x LOAD FROM '/etc/passwd' RETURN *",
    "UNWIND ['/etc/passwd'] AS f LOAD FROM f RETURN *",
    "MATCH (n) RETURN n/**/;/**/DROP TABLE Thread",
    "LOAD/**/FROM '/etc/passwd' RETURN *",
    "CALL show_tables() YIELD name RETURN name",
    "CALL table_info('Thread') RETURN * UNION COPY Thread TO '/tmp/x'",
    "MATCH (n) RETURN n INTO OUTFILE '/tmp/x'",
    "EXPLAIN LOGICAL MATCH (n) DELETE n",
    "PREPARE MATCH (n) DELETE n",
    "CREATE USER x",
    "RENAME TABLE Thread TO x",
    "COPY (RETURN 1) TO 's3://x/y'",
    "LOAD FROM 'https://example.org/x.csv' RETURN *",
    "LOAD FROM $rows RETURN *",
    "MATCH (n) RETURN list_transform([1], x -> x + 1)",
    "MATCH (n) RETURN list_filter([1], x -> x > 1)",
    "MATCH (n) RETURN reduce(s = 0, x IN [1] | s + x)",
    "MATCH (n) RETURN list_reduce([1, 2], (x, y) -> x + y)",
    "RETURN current_setting('home_directory')",
    "RETURN file_info('/etc/passwd')",
    "RETURN gen_random_uuid()",
    "RETURN sleep(1000)",
)

BOMBS = (
    "RETURN repeat('x', 1000000000)",
    "RETURN rpad('x', 2000000000, 'x')",
    "RETURN lpad('x', 2000000000, 'x')",
    "WITH 'x' AS a RETURN list_concat([a], [a])",
    "WITH 'x' AS a RETURN concat(a, a)",
    "MATCH (n:SourceRef) RETURN regexp_replace(n.text, '.', 'xxxxxxxxxx', 'g')",
    "WITH ['x'] AS a RETURN list_to_string('x', a)",
    "WITH 'x' AS a " + "WITH a + a AS a " * 7 + "RETURN a",
    "WITH ['x'] AS a " + "WITH [a, a] AS a " * 7 + "RETURN a",
    (
        "WITH 'x' AS a WITH a + a + a + a + a AS a WITH a + a + a + a + a AS a "
        "WITH a + a + a + a + a AS a RETURN a"
    ),
    "MATCH (n:SourceRef) RETURN n.text" + " + n.text" * 64,
    "WITH {a: 1} AS x " + "WITH {a: x, b: x, c: x} AS x " * 5 + "RETURN x",
    "MATCH p = (a)-[:LINKS*]->(b) RETURN p",
    "MATCH p = (a)-[:LINKS*1..30]->(b) RETURN p",
    "MATCH p = (a)-[:LINKS*1..]->(b) RETURN p",
    "MATCH p = (a)-[:LINKS*..5]->(b) RETURN p",
    "MATCH p = (a)-[:LINKS* SHORTEST 1..30]->(b) RETURN p",
    "MATCH p = (a)-[:LINKS* ALL SHORTEST 1..9]-(b) RETURN p",
    "MATCH (a)-[x:LINKS|RELATES*2..9 (r, n | WHERE r.score > 0)]->(b) RETURN count(*)",
    "MATCH (a)-[:LINKS*9]->(b) RETURN count(*)",
    "RETURN " + "(" * 50 + "1" + ")" * 50,
    "RETURN " + "[" * 50 + "1" + "]" * 50,
    "RETURN " + "NOT " * 50 + "true",
    "RETURN " + "- " * 50 + "1",
    "RETURN " + "CASE WHEN true THEN " * 50 + "1" + " END" * 50,
    "MATCH (n) WHERE " + "EXISTS { MATCH (n) WHERE " * 50 + "true" + " }" * 50 + " RETURN n",
    " UNION ALL ".join(["UNWIND [1] AS x RETURN x"] * 40),
    "MATCH (n) " * 70 + "RETURN 1",
    "WITH 1 AS x " * 70 + "RETURN x",
)

LARGE_BUT_BOUNDED = (
    "WITH 'x' AS a WITH a + a AS a WITH a + a AS a RETURN a + '!' + '?'",
    "RETURN [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] + [11]",
    "UNWIND ['open', 'answered', 'dropped', 'x', 'y'] AS s MATCH (q:Question {status: s}) RETURN s",
    "MATCH (a:Question)-[:LINKS*1..8]->(b:Question) RETURN count(*)",
    "MATCH (a:Question)-[:LINKS*3]-(b:Question) RETURN count(*)",
    "MATCH p = (a:Question)-[:LINKS* SHORTEST 1..6]-(b:Question) RETURN length(p)",
    "MATCH (n:Question) RETURN n.ref_count * 2 * 3, n.salience * 1.5",
    "MATCH (n:Question) RETURN n {.text, .status}",
)


@pytest.mark.parametrize("query", READS)
def test_reading_passes(query):
    assert check(query, ["project"]) == query.removesuffix(";")


@pytest.mark.parametrize("query", LARGE_BUT_BOUNDED)
def test_what_stays_small_passes(query):
    assert check(query) == query


@pytest.mark.parametrize("query", BOMBS)
def test_what_may_grow_without_end_is_refused(query):
    with pytest.raises(QueryRefused):
        check(query)


def test_a_refused_function_is_named():
    with pytest.raises(QueryRefused, match="the function repeat is not allowed"):
        check("RETURN repeat('x', 9)")


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
