"""Every command in this process, on one store made from the bundled example."""

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli import call, show
from cli.main import app
from graphstore.errors import NotFound, UnknownFunction
from graphstore.model.knowledge import Concept, Journey, Question, ThreadNode, Waypoint
from service import operations, scouting, settings
from service.moments import WrongValue
from service.session import Session

pytestmark = pytest.mark.slow
QUERIES = re.findall(
    r"```cypher\n(.*?)```",
    (Path(__file__).parents[2] / "docs" / "howto" / "query.md").read_text("utf-8"),
    re.DOTALL,
)
THEN = datetime(2025, 10, 20, 12, tzinfo=UTC)
RUNNER = CliRunner()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The example, taken in at the moment that its conversations are from."""
    folder = tmp_path_factory.mktemp("faces")
    operations.up(session_at(folder), example=True)
    return folder


def session_at(folder):
    loaded = settings.load({"store.home": str(folder)}, folder)
    return Session(loaded=loaded, folder=folder, now=lambda: THEN)


@pytest.fixture
def session(home):
    return session_at(home)


@pytest.fixture
def clew(home, monkeypatch):
    """Run a command; options of the last one do not reach the next."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words, code=0, home=home):
        token = call.OPTIONS.set(call.Options())
        try:
            done = RUNNER.invoke(app, ["--home", str(home), *words])
        finally:
            call.OPTIONS.reset(token)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == code, done.output
        return done.stdout

    return run


COMMANDS = (
    (("status",), "33 threads"),
    (("recall", "salt", "film", "-n", "3"), "salt film"),
    (("recall", "zyzzyva"), "nothing found"),
    (("resonance", "is it the oil after all"), "Thick oil or not"),
    (("threads", "-n", "3"), "October springs"),
    (("threads", "--source", "nowhere"), "no such thread"),
    (("questions",), "What stops the escape wheel"),
    (("questions", "--recurring"), "asked 6 times in 6 threads"),
    (("questions", "--borderline"), "q:"),
    (("questions", "--status", "dropped"), ""),
    (("concepts",), "escape wheel"),
    (("concepts", "--generic"), "escape wheel"),
    (("journeys",), "frontier"),
    (("journeys", "--status", "arrived"), "no Journey"),
    (("scout",), "island"),
    (("scout", "--shape", "island", "--public"), "s:"),
    (("scout", "--since", "2031-01-01"), "nothing found"),
    (("scout", "--shapes"), "missing_middle"),
    (("hypotheses",), "Hypothesis, not source"),
    (("hypotheses", "--state", "parked"), "parked"),
    (("hypotheses", "--standing", "invalidated"), "no such hypothesis"),
    (("dream", "--dry-run"), "next:"),
    (("query", "MATCH (q:Question) RETURN q.text, q.status LIMIT 3"), "q.status"),
    (("query", "MATCH (t:Thread) RETURN t.thread_id", "-n", "2"), "raise --limit"),
    (("query", "MATCH (t:Thread) WHERE t.source = $s RETURN t", "--param", "s=none"), "no row"),
    (("report",), "clew.html"),
    (("formats",), "clew export writes"),
    (("verify",), "everything holds"),
    (("config",), "store.wait_s"),
    (("config", "get", "scout.top"), "1 to 200"),
)


class TestCommands:
    @pytest.mark.parametrize(("words", "said"), COMMANDS, ids=[" ".join(c) for c, _ in COMMANDS])
    def test_says_what_it_found_in_lines_that_fit(self, clew, words, said):
        out = clew(*words)
        assert said in out
        if words[0] not in ("config", "fetch"):
            for line in out.splitlines():
                assert len(line) <= 80 or any(mark in line for mark in ("thread:", "/")), line

    @pytest.mark.parametrize("words", [c for c, _ in COMMANDS], ids=" ".join)
    def test_prints_json_that_parses(self, clew, words):
        assert json.loads(clew(*words, "--json")) is not None

    def test_a_seed_is_shown_whole(self, clew):
        seeds = json.loads(clew("scout", "--json"))["seeds"]
        for shape in {seed["shape"] for seed in seeds}:
            seed = next(each for each in seeds if each["shape"] == shape)
            out = clew("seed", seed["seed_id"])
            assert seed["refs"][0]["ref"] in out
            assert "score" in out

    def test_a_journey_is_shown_with_its_waypoints(self, clew):
        (first, *_) = json.loads(clew("journeys", "--json"))
        out = clew("journeys", first["journey_id"])
        assert out.count("thread:") >= first["waypoints"]

    def test_turns_are_fetched_and_opened(self, clew):
        ref = json.loads(clew("recall", "levain", "--json"))["hits"][0]["turn"]["ref"]
        assert ref in clew("fetch", ref)
        opened = clew("open", ref, "--around", "1")
        assert f"\u25b6 {ref}" in opened
        assert "after" in opened or "before" in opened
        assert "no such thread" in clew("open", "thread:nobody#turn:1", code=1)

    def test_the_report_of_the_scout_is_written_as_markdown(self, clew, tmp_path):
        clew("scout", "--markdown", str(tmp_path / "seeds.md"))
        assert (tmp_path / "seeds.md").read_text("utf-8").startswith("# Scout report")

    def test_every_export_goes_to_a_file(self, clew, tmp_path):
        for row in json.loads(clew("formats", "--json")):
            if row["direction"] == "write":
                out = clew("export", row["name"], "-o", str(tmp_path / row["name"]))
                assert "nodes" in out
                assert (tmp_path / row["name"]).stat().st_size > 1000

    def test_hypotheses_in_an_export_are_counted_as_what_they_are(self, clew, tmp_path):
        out = clew("export", "jsonl", "--with-hypotheses", "-o", str(tmp_path / "x"))
        assert "hypotheses (marked)" in out

    def test_an_export_to_standard_output_says_nothing_else(self, clew):
        assert json.loads(clew("export", "json"))["nodes"]

    def test_up_again_tells_that_nothing_changed(self, clew, home, tmp_path):
        # A command lives now, when the hypotheses of THEN have come due: it sweeps a copy.
        copy = shutil.copytree(home, tmp_path / "copy")
        out = clew("up", "--example", "--no-open", "--verbose", home=copy)
        assert "files unchanged" in out
        assert "CPU-s" in out
        assert "try         clew hypotheses" in out

    def test_a_rebuilt_graph_is_told(self, clew):
        assert "graph made again from" in clew("rebuild")
        assert "everything holds" in clew("verify")


@pytest.mark.parametrize("cypher", QUERIES, ids=lambda text: text.split("RETURN")[-1][:30])
def test_queries_of_the_documentation_find_something(session, cypher):
    assert operations.query(session, cypher).rows


class TestWords:
    @pytest.mark.parametrize(
        ("operation", "arguments"),
        [
            ("questions", {"status": "solved"}),
            ("journeys", {"status": "lost"}),
            ("hypotheses", {"state": "maybe"}),
            ("hypotheses", {"standing": "fine"}),
            ("recall", {"cue": "x", "role": "robot"}),
            ("recall", {"cue": "x", "since": "yesterday"}),
            ("scout", {"until": "soon"}),
            ("config", {"act": "forget"}),
        ],
    )
    def test_a_word_that_there_is_not_is_refused(self, session, operation, arguments):
        with pytest.raises(WrongValue):
            getattr(operations, operation)(session, **arguments)

    def test_an_unknown_dream_function_is_refused(self, session):
        with pytest.raises(UnknownFunction):
            operations.dream(session, function="prophecy")
        with pytest.raises(UnknownFunction):
            operations.hypotheses(session, function="prophecy")

    def test_an_unknown_seed_is_not_found(self, session):
        with pytest.raises(NotFound):
            operations.seed(session, "s:none")

    @pytest.mark.parametrize(
        ("text", "value"), [("7", 7), ("1.5", 1.5), ("true", True), ("null", None), ("a b", "a b")]
    )
    def test_parameters_are_what_they_look_like(self, text, value):
        assert operations.scalar(text) == value

    def test_what_looks_like_a_list_stays_text(self):
        assert operations.scalar("[1]") == "[1]"


class TestScouting:
    def test_every_kind_of_member_has_a_name_that_people_know(self, session):
        with session.store("test") as store:
            kinds = (Concept, Journey, Question, ThreadNode, Waypoint)
            ids = {node.key for kind in kinds for node in store.nodes(kind)}
            named = scouting.labels(store, ids)
        assert named.keys() == ids
        assert not ids & set(named.values())

    def test_a_narrow_run_leaves_the_seeds_of_the_whole_one(self, session):
        before = [each.seed_id for each in operations.scout(session).seeds]
        assert len(operations.scout(session, shapes=("island",)).seeds) < len(before)
        operations.scout(session, top=1)
        operations.scout(session, level=0)
        operations.scout(session, since="2025-09-01")
        assert operations.status(session).seeds == len(before)

    def test_the_public_form_holds_no_label_but_keeps_labels_in_the_store(self, session):
        public = operations.scout(session, public=True)
        shown = operations.seed(session, public.seeds[0].seed_id)
        assert public.seeds[0].sentence != shown.sentence
        assert any(name in shown.sentence for _, _, name in shown.members)

    def test_seeds_that_are_gone_come_back_as_new(self, session, home):
        narrow = Session(
            loaded=settings.load({"store.home": str(home), "scout.side_threads": "20"}, home),
            folder=home,
            now=lambda: THEN,
        )
        whole = operations.status(session).seeds
        assert len(operations.scout(narrow).seeds) < whole
        assert operations.status(narrow).seeds < whole
        operations.scout(session)
        assert operations.status(session).seeds == whole


class TestDreaming:
    def test_rows_are_ordered_marked_and_named(self, session):
        rows = operations.hypotheses(session, limit=1000)
        points = [row.hypothesis.points for row in rows]
        assert points == sorted(points, reverse=True)
        assert {row.words for row in rows} == {show.MARK}
        assert all(":" not in row.src_label[:2] for row in rows)
        assert {row.standing.standing for row in rows} == {"valid"}

    def test_rows_are_narrowed(self, session):
        by_function = operations.hypotheses(session, function="amplification", limit=1000)
        assert {row.hypothesis.function for row in by_function} == {"amplification"}
        assert operations.hypotheses(session, state="refuted") == ()
        assert len(operations.hypotheses(session, limit=1)) == 1

    def test_what_is_parked_says_why_and_is_counted_in_the_status(self, session):
        parked = operations.hypotheses(session, state="parked", limit=1000)
        assert all(row.failed for row in parked)
        assert len(parked) == operations.status(session).parked

    def test_with_time_they_come_due(self, home):
        later = Session(
            loaded=settings.load({"store.home": str(home)}, home),
            folder=home,
            now=lambda: datetime(2026, 10, 20, tzinfo=UTC),
        )
        expired = operations.hypotheses(later, standing="expired", limit=1000)
        assert {row.hypothesis.created_at for row in expired} == {THEN}
        assert {row.use for row in expired} == {"reopen_source"}
