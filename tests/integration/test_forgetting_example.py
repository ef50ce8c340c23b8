"""The bundled conversations: what is forgotten leaves no word and does not come back."""

from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from cli import call
from cli.main import app
from graphstore import proof
from graphstore.errors import NotFound
from graphstore.forgetting import words_of
from service import operations, settings, taking
from service.moments import WrongValue
from service.session import Session
from tests.fake_derive import everything

pytestmark = pytest.mark.slow
THEN = datetime(2025, 10, 20, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forgetful")
    opened = Session(
        loaded=settings.load({"store.home": str(folder)}, folder), folder=folder, now=lambda: THEN
    )
    operations.up(opened, example=True)
    return opened


def words(session, threads):
    with session.store("test") as store:
        kept = [
            turn.text
            for thread in store.threads()
            if thread.thread_id not in threads
            for turn in thread.turns
        ]
        return words_of([store.thread(name) for name in threads], kept)


def test_ten_threads_a_project_and_all_before_a_day(session):
    before = operations.status(session).threads
    listed = [row.thread_id for row in operations.threads(session, limit=100)]
    asked = [("thread", name) for name in sorted(listed)[::4][:9]]
    asked += [("project", "tideclock"), ("before", "2025-07-01")]
    every = proof.Search(())
    for what, value in asked:
        try:
            plan = operations.forget(session, what, value, dry_run=True)
        except NotFound:
            continue
        names = [row.thread_id for row in plan.threads]
        every = proof.Search(every.wanted | words(session, names).wanted)
        done = operations.forget(session, what, value)
        assert done.threads == plan.threads
        assert (done.left, done.listed) == ((), ())
    assert len(every.wanted) > 50
    assert proof.scan(session.workspace, every) == ()
    left = operations.status(session).threads
    assert 0 < left < before - 10
    report = operations.ingest(session, (str(taking.example()),))
    assert {row.code: row.count for row in report.codes}["forgotten"] > 5
    assert operations.status(session).threads == left
    assert proof.scan(session.workspace, every) == ()
    assert operations.verify(session).faults == ()
    with session.store("test") as store:
        grown = everything(store)
        store.rebuild(THEN)
        assert everything(store) == grown


def test_notes_of_the_owner_are_listed_and_only_deleted_when_asked(session):
    held = operations.threads(session, limit=100)
    with session.store("test") as store:
        quoted = {
            row.thread_id: next(
                iter(sorted(words_of([store.thread(row.thread_id)], ()).wanted)), b""
            )
            for row in held[:2]
        }
    notes = session.workspace / "notes"
    notes.mkdir()
    for n, piece in enumerate(quoted.values()):
        (notes / f"{n}.md").write_bytes(b"I remember: " + piece)
    first, second = quoted
    done = operations.forget(session, "thread", first)
    assert done.listed == ("notes/0.md",)
    assert (notes / "0.md").exists()
    done = operations.forget(session, "thread", second, also_notes=True)
    assert done.listed == ()
    assert not (notes / "1.md").exists()
    assert done.left == ()


def test_what_is_meant_must_be_there(session):
    for what, value in (("thread", "x:1"), ("project", "none"), ("query", "zyzzyva"),
                        ("before", "1990-01-01")):  # fmt: skip
        with pytest.raises(NotFound):
            operations.forget(session, what, value)
    with pytest.raises(WrongValue):
        operations.forget(session, "everything", "x")


def test_words_choose_threads_and_a_lineage_goes_whole(session):
    row = operations.threads(session, limit=100)[-1]
    alone = operations.forget(session, "thread", row.thread_id, dry_run=True)
    family = operations.forget(session, "thread", row.thread_id, lineage=True, dry_run=True)
    assert {each.thread_id for each in alone.threads} <= {each.thread_id for each in family.threads}
    with session.store("test") as store:
        said = store.thread(row.thread_id).turns[0].text[:30]
    found = operations.forget(session, "query", said.upper(), dry_run=True)
    assert row.thread_id in {each.thread_id for each in found.threads}


def test_without_a_yes_nothing_goes(session):
    row = operations.threads(session, limit=1)[0]

    def clew(*words):
        token = call.OPTIONS.set(call.Options())
        try:
            return CliRunner().invoke(app, ["--home", str(session.folder), "forget", *words])
        finally:
            call.OPTIONS.reset(token)

    asked = clew("thread", row.thread_id)
    assert asked.exit_code == 2
    assert "would go for good" in asked.output
    assert "add --yes" in asked.output
    assert clew("thread", row.thread_id, "--dry-run").exit_code == 0
    assert clew("thread", row.thread_id, "--yes").exit_code == 0
    assert row.thread_id not in {each.thread_id for each in operations.threads(session)}
