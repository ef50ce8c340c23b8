"""What users do at a terminal, with the installed command on the bundled example."""

import json
import shutil
import signal
import sqlite3
import stat
import subprocess
import time

import pytest

from tests.installed import CLEW, Installed

pytestmark = pytest.mark.slow

CANARY = "the heron swallowed my grandmother's password"


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The example taken in once, and what the first run said."""
    clew = Installed(tmp_path_factory.mktemp("installed"))
    return clew, clew.run("up", "--example", "--no-open")


@pytest.fixture(scope="module")
def clew(first):
    return first[0]


@pytest.fixture
def other(tmp_path):
    """An empty place of its own."""
    return Installed(tmp_path)


def a_chat(folder, name="chat.json", text="How do I keep the tomatoes from splitting?", count=1):
    folder.mkdir(exist_ok=True)
    turns = [
        {"role": role, "content": f"{text} {number}"}
        for number in range(count)
        for role in ("user", "assistant")
    ]
    (folder / name).write_text(json.dumps({"messages": turns}), "utf-8")
    return folder / name


def only_line(done):
    """The one line of an error, its hint left out; nothing is on standard output."""
    lines = done.stderr.decode().splitlines()
    assert lines[0].startswith("clew: ")
    assert len(lines) <= 2
    return lines[0]


class TestUp:
    def test_the_first_run_writes_a_page_and_a_report_that_name_what_is_planted(self, first):
        clew, done = first
        assert done.returncode == 0, done.stderr.decode()
        out = clew.workspace / "out"
        report = (out / "report.md").read_text("utf-8")
        assert "What stops the escape wheel after every spring tide?" in report
        assert "chart datum" in report
        assert "missing middle" in report
        page = (out / "clew.html").read_text("utf-8")
        assert "levain" in page
        assert str(out / "clew.html") in done.stdout.decode()

    def test_the_second_run_adds_nothing_and_reads_no_file_again(self, clew):
        before = clew.json("status")
        start = time.perf_counter()
        again = clew.json("up", "--example")
        assert time.perf_counter() - start < 30
        taken = again["ingest"]
        assert (taken["new"], taken["grown"], taken["records"]) == (0, 0, 0)
        after = clew.json("status")
        assert after["records"] == before["records"]

    def test_everything_in_the_workspace_is_for_its_owner_alone(self, clew):
        for path in (clew.home, *clew.home.rglob("*")):
            wanted = 0o700 if path.is_dir() else 0o600
            assert stat.S_IMODE(path.stat().st_mode) == wanted, path


READING = (
    ("resonance", "is it the oil after all"),
    ("query", "MATCH (t:Thread) RETURN count(t) AS threads"),
)


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_reading_commands_print_json(clew, words):
    assert clew.json(*words)


class TestRefs:
    def test_every_ref_that_seeds_and_hypotheses_show_can_be_fetched(self, clew):
        seeds = clew.json("scout")["seeds"]
        dreamt = clew.json("hypotheses", "--limit", "1000")
        refs = {ref["ref"] for seed in seeds for ref in seed["refs"]}
        refs |= {ref for row in dreamt for ref in row["hypothesis"]["refs"]}
        refs |= {ref for row in dreamt for part in row["counter"] for ref in part["refs"]}
        assert len(refs) > 50
        turns = clew.json("fetch", *sorted(refs))
        assert {turn["ref"] for turn in turns} == refs
        assert all(turn["text"].strip() for turn in turns)

    def test_a_ref_of_nothing_is_said_to_be_of_nothing(self, clew):
        done = clew.run("fetch", "thread:nobody#turn:1")
        assert done.returncode == 1
        assert b"no such thread" in done.stdout


class TestExport:
    @pytest.mark.parametrize("name", ["jsonl", "obsidian"])
    def test_standard_output_holds_the_same_bytes_as_a_file(self, clew, tmp_path, name):
        clew.run("export", name, "-o", str(tmp_path / "file"))
        assert clew.run("export", name).stdout == (tmp_path / "file").read_bytes()

    def test_a_file_that_is_there_is_left_alone(self, clew, tmp_path):
        target = tmp_path / "map.svg"
        target.write_text("mine", "utf-8")
        done = clew.run("export", "svg", "-o", str(target))
        assert done.returncode == 1
        assert "already" in only_line(done)
        assert target.read_text("utf-8") == "mine"
        assert clew.run("export", "svg", "--force", "-o", str(target)).returncode == 0
        assert target.read_text("utf-8") != "mine"

    def test_without_switches_no_turn_text_leaves(self, clew):
        bare = clew.run("export", "jsonl").stdout
        assert b"Four studs in a square" not in bare
        assert b"Four studs in a square" in clew.run("export", "jsonl", "--with-text").stdout


class TestExitCodes:
    def test_1_one_bad_file_beside_a_good_one(self, other):
        good = a_chat(other.folder / "in")
        bad = other.folder / "in" / "bad.json"
        bad.write_text('{"messages": [', "utf-8")
        done = other.run("ingest", str(good), str(bad))
        assert done.returncode == 1
        assert b"1 thread new" in done.stdout
        assert b"bad.json" in done.stdout

    def test_2_an_unknown_shape_a_bad_setting_and_a_bad_option(self, clew):
        assert clew.run("scout", "--shape", "spiral").returncode == 2
        assert clew.run("questions", "--status", "solved").returncode == 2
        assert clew.run("status", CLEW_STORE__WAIT_S="soon").returncode == 2
        assert clew.run("status", "--nonsense").returncode == 2

    def test_3_nothing_that_can_be_read_and_no_store(self, other):
        (other.folder / "in").mkdir()
        (other.folder / "in" / "shopping.txt").write_text("eggs", "utf-8")
        assert other.run("status").returncode == 3
        assert other.run("ingest", "in").returncode == 3
        assert other.run("ingest").returncode == 3

    def test_4_another_process_holds_the_store(self, clew):
        from filelock import FileLock

        with FileLock(clew.workspace / ".lock"):
            done = clew.run("status", CLEW_STORE__WAIT_S="0")
        assert done.returncode == 4
        assert "in use" in only_line(done)

    def test_5_a_ledger_that_was_tampered_with(self, clew, other):
        shutil.copytree(clew.home, other.home)
        with sqlite3.connect(other.workspace / "ledger.db") as ledger:
            ledger.execute("DROP TRIGGER IF EXISTS record_update")
            for (name,) in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
                ledger.execute(f'DROP TRIGGER "{name}"')
            ledger.execute(
                "UPDATE record SET body = replace(body, 'oak post', 'oak pole') "
                "WHERE seq = (SELECT min(seq) FROM record WHERE body LIKE '%oak post%')"
            )
        ledger.close()
        done = other.run("verify")
        assert done.returncode == 5
        assert b"clew ledger salvage" in done.stdout

    def test_6_a_query_that_reads_a_file(self, clew):
        done = clew.run("query", 'LOAD FROM "/etc/hosts" RETURN *')
        assert done.returncode == 6
        assert "refused" in only_line(done)

    def test_130_an_interrupt_leaves_a_clean_store(self, other):
        for number in range(400):
            a_chat(other.folder / "in", f"{number}.json", f"Why does kiln {number} crack?", 30)
        process = other.start("ingest", "in")
        ledger = other.workspace / "ledger.db"
        for _ in range(600):
            if ledger.exists() and committed(ledger) > 3:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 130
        assert b"interrupted" in out + err
        kept = other.json("status")["threads"]
        assert 0 < kept < 400
        assert other.json("verify")["faults"] == []


def committed(ledger):
    try:
        with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as reading:
            return reading.execute("SELECT count(*) FROM record").fetchone()[0]
    except sqlite3.Error:
        return 0
    finally:
        reading.close()


class TestTerminal:
    @pytest.mark.parametrize("words", ["threads", "export jsonl"])
    def test_a_reader_that_goes_away_is_no_failure(self, clew, words):
        line = f'"{CLEW}" {words} | head -1; echo "${{PIPESTATUS[0]}}"'
        done = subprocess.run(
            ["bash", "-c", line],  # noqa: S607 - the shell is the point
            env=clew.environment(),
            capture_output=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == b"0"
        assert done.stderr == b""

    def test_an_ascii_terminal_gets_ascii(self, clew):
        done = clew.run("recall", "salt film", PYTHONIOENCODING="ascii")
        assert done.returncode == 0
        assert done.stdout.isascii()

    def test_no_sign_of_colour(self, clew):
        done = clew.run("threads", FORCE_COLOR="1", TERM="xterm")
        assert b"\x1b" not in done.stdout

    def test_lines_fit_the_terminal_but_for_references(self, clew):
        for words in (("recall", "oak post"), ("scout",)):
            for line in clew.run(*words).stdout.decode().splitlines():
                assert len(line) <= 80 or "thread:" in line, line

    def test_nothing_is_said_on_standard_error_when_all_is_well(self, first, clew):
        assert first[1].stderr == b""
        assert clew.run("concepts").stderr == b""


class TestSettings:
    def test_a_setting_that_was_set_shows_where_it_comes_from(self, other):
        assert other.run("config", "set", "recall.limit", "7").returncode == 0
        rows = {row["key"]: row for row in other.json("config", "list")["rows"]}
        assert rows["recall.limit"]["value"] == "7"
        assert rows["recall.limit"]["origin"].endswith("clew.toml")
        assert rows["store.wait_s"]["origin"] == "default"

    def test_a_project_file_may_not_move_the_store(self, other):
        (other.folder / ".clew").mkdir()
        project = other.folder / ".clew" / "clew.toml"
        project.write_text("[store]\nhome = '/elsewhere'\n", "utf-8")
        done = other.run("config", "list")
        assert done.returncode == 2
        assert "store.home" in only_line(done)
        project.write_text("[recall]\nlimit = 3\n", "utf-8")
        rows = {row["key"]: row for row in other.json("config", "list")["rows"]}
        assert rows["recall.limit"]["value"] == "3"


class TestPrivacy:
    def test_no_error_quotes_a_turn(self, other):
        a_chat(other.folder / "in", text=CANARY, count=3)
        (other.folder / "in" / "half.json").write_text(
            '{"messages": [{"role": "user", "content": "' + CANARY, "utf-8"
        )
        said = [other.run("ingest", "in", "--verbose")]
        said += [
            other.run(*words)
            for words in (
                ("query", "MATCH (r:SourceRef) WHERE r.turn = r.text RETURN r.turn"),
                ("query", "MATCH (r:SourceRef) RETURN date(r.text)"),
                ("seed", "s:nothing"),
            )
        ]
        for done in said:
            assert CANARY[:20].encode() not in done.stderr
        assert CANARY[:20].encode() not in said[0].stdout

    def test_a_dry_run_leaves_nothing_behind(self, other):
        a_chat(other.folder / "in")
        done = other.run("ingest", "in", "--dry-run")
        assert done.returncode == 0
        assert b"1 thread would be new" in done.stdout
        assert not other.home.exists()


def test_a_folder_that_cannot_be_written_is_named(clew, tmp_path):
    (tmp_path / "file").write_text("", "utf-8")
    done = clew.run("report", "-o", str(tmp_path / "file" / "out"))
    assert done.returncode == 1
    assert "file" in only_line(done)
    assert (tmp_path / "file").read_text("utf-8") == ""
