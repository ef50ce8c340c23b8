"""Taking in: when an epoch is due, when Journeys are looked for, what a preview is."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graphstore import open_store
from graphstore.errors import SettingsError
from ingest.derive import Derivation
from service import operations, settings, taking
from service.session import Session
from service.settings import IngestSettings


class Watched(Derivation):
    """Derivation that counts what it is asked for."""

    def __init__(self):
        super().__init__()
        self.asked = []
        self.grounds = []

    def epoch(self, *arguments):
        self.asked.append("epoch")
        return super().epoch(*arguments)

    def journeys(self, *arguments):
        self.asked.append("journeys")
        self.grounds.append(arguments[0])
        return super().journeys(*arguments)


@pytest.fixture
def derive():
    return Watched()


@pytest.fixture
def store(tmp_path, derive):
    with open_store(tmp_path / "w", derive) as opened:
        yield opened


def chats(folder, numbers):
    folder.mkdir(exist_ok=True)
    for number in numbers:
        said = [
            {"role": "user", "content": f"Why does the salt film reach hall sensor {number}?"},
            {"role": "assistant", "content": "Because the vent stack ends below the lid."},
        ]
        (folder / f"{number:02}.json").write_text(json.dumps({"messages": said}), "utf-8")
    return (str(folder),)


@pytest.fixture
def take(store, derive, now):
    options = taking.options_of(IngestSettings(), b"salt")

    def run(paths):
        derive.asked.clear()
        return taking.take(store, derive, paths, options, now)

    return run


def test_the_first_threads_bring_the_first_epoch(take, store, derive, tmp_path):
    report = take(chats(tmp_path / "in", range(10)))
    assert report.new == 10
    assert derive.asked == ["epoch", "journeys"]
    assert store.epoch().lineages == 10


def test_nothing_new_asks_for_nothing(take, store, derive, tmp_path):
    paths = chats(tmp_path / "in", range(10))
    take(paths)
    before = store.ledger.last_seq()
    assert take(paths).same == 10
    assert derive.asked == []
    assert store.ledger.last_seq() == before


@pytest.mark.parametrize(("more", "lineages"), [(1, 10), (2, 12)])
def test_a_new_epoch_is_due_when_the_store_has_grown_by_a_fifth(
    take, store, derive, tmp_path, more, lineages
):
    take(chats(tmp_path / "in", range(10)))
    take(chats(tmp_path / "in", range(10 + more)))
    assert ("epoch" in derive.asked) == (lineages == 12)
    assert "journeys" in derive.asked
    assert store.epoch().lineages == lineages


@pytest.mark.parametrize(
    ("few", "more", "around"), [(200, 1, True), (0, 1, False), (200, 2, False)]
)
def test_journeys_are_looked_for_around_few_threads_under_the_epoch_of_before(
    take, derive, tmp_path, monkeypatch, few, more, around
):
    monkeypatch.setattr(taking, "FEW", few)
    take(chats(tmp_path / "in", range(10)))
    take(chats(tmp_path / "in", range(10 + more)))
    assert [one.whole is not None for one in derive.grounds] == [False, around]


def test_an_empty_folder_makes_no_epoch(take, store, derive, tmp_path):
    (tmp_path / "in").mkdir()
    assert take((str(tmp_path / "in"),)).exit_code == 3
    assert store.epoch() is None
    assert derive.asked == []


@pytest.fixture
def session(tmp_path, now):
    loaded = settings.load({"store.home": str(tmp_path / "home")}, tmp_path)
    return Session(loaded=loaded, folder=tmp_path, now=lambda: now)


class TestPreview:
    def test_of_an_absent_store_everything_is_new_and_nothing_is_made(self, session, tmp_path):
        paths = chats(tmp_path / "in", range(3))
        report = operations.ingest(session, paths, dry_run=True)
        assert (report.new, report.dry_run) == (3, True)
        assert not session.workspace.exists()

    def test_of_a_store_what_it_holds_is_not_new_and_nothing_is_added(self, session, tmp_path):
        operations.ingest(session, chats(tmp_path / "in", range(3)))
        with session.store("look") as store:
            before = store.ledger.last_seq()
        report = operations.ingest(session, chats(tmp_path / "in", range(5)), dry_run=True)
        assert (report.new, report.same) == (2, 3)
        with session.store("look") as store:
            assert store.ledger.last_seq() == before


def test_without_a_path_nothing_is_guessed(session):
    with pytest.raises(taking.NothingNamed):
        operations.ingest(session)


def test_a_time_zone_that_there_is_not_is_refused():
    with pytest.raises(SettingsError, match=r"ingest\.naive_tz"):
        taking.options_of(IngestSettings(naive_tz="Moon/Tycho"), b"salt")


def test_without_masking_the_status_says_how_many_threads(session, tmp_path):
    operations.ingest(session, chats(tmp_path / "in", range(2)), mask=False)
    assert operations.status(session).unmasked == 2
    assert operations.status(session).next_action == "clew up"


def test_without_a_page_in_the_installation_the_report_is_written(session, tmp_path, monkeypatch):
    monkeypatch.setattr("export.formats.html.files", lambda _: tmp_path)
    done = operations.up(session, chats(tmp_path / "in", range(2)))
    assert done.page is None
    assert "no explorer page" in str(done.page_missing)
    assert Path(str(done.report)).exists()
    monkeypatch.undo()
    assert Path(str(operations.report(session).page)).exists()


def test_a_report_names_what_could_not_be_read(session, tmp_path):
    folder = tmp_path / "in"
    paths = chats(folder, range(3))
    (folder / "torn.jsonl").write_text(
        '{"role": "user", "content": "Why?"}\n{"role": "assistant", \n'
        '{"role": "assistant", "content": "So."}\n',
        "utf-8",
    )
    operations.up(session, paths, out=str(tmp_path / "out"))
    text = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "bad json" in text
    assert "torn.jsonl" in text
    again = operations.report(session, out=str(tmp_path / "later"))
    assert "torn.jsonl" in (tmp_path / "later" / "report.md").read_text("utf-8")
    assert str(again.page).endswith("clew.html")


def test_the_example_is_finished_however_new_its_files_are(tmp_path):
    loaded = settings.load({"store.home": str(tmp_path)}, tmp_path)
    files = taking.example().rglob("*.jsonl")
    newest = max(path.stat().st_mtime for path in files)
    written = datetime.fromtimestamp(newest, UTC)
    first = Session(loaded=loaded, folder=tmp_path, now=lambda: written + timedelta(seconds=1))
    later = Session(loaded=loaded, folder=tmp_path, now=lambda: written + timedelta(hours=1))
    assert operations.ingest(first, (str(taking.example()),)).new > 10
    again = operations.ingest(later, (str(taking.example()),))
    assert (again.new, again.grown, again.records) == (0, 0, 0)
