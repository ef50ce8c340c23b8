"""Following files that are being written: all of it in the end, and never half a turn."""

import os
import signal
from datetime import UTC, datetime

import pytest

from cli import exits
from graphstore.errors import StoreLocked
from service import operations, settings, taking
from service.following import Follower
from service.interrupts import Interrupts, interrupts
from service.moments import WrongValue
from service.session import Session
from tests.claude_talk import Talk, a_session
from tests.ingest_memory import LATE

ONE = "aaaaaaaa-0000-4000-8000-000000000001"


def a_workspace(home, folder, pause, *, attended=True):
    loaded = settings.load({"store.home": str(home), "ingest.follow_s": 0.1}, folder)
    return Session(loaded=loaded, folder=folder, pause=pause, attended=attended)


def turns_of(session):
    with session.store("look") as store:
        return {
            thread.thread_id: [(turn.number, turn.text) for turn in thread.turns]
            for thread in store.threads()
        }


class Writer:
    """Writes a piece whenever the follower waits; presses Ctrl-C when all is written."""

    def __init__(self, file, pieces):
        self.file, self.pieces = file, list(pieces)

    def __call__(self, _seconds):
        if self.pieces:
            with self.file.open("ab") as out:
                out.write(self.pieces.pop(0))
        else:
            os.kill(os.getpid(), signal.SIGINT)


def test_a_followed_file_ends_as_one_that_is_read_at_once(tmp_path):
    content = a_session()
    file = tmp_path / "in" / f"{ONE}.jsonl"
    file.parent.mkdir()
    half = content.index("Ω".encode()) + 1
    pieces = [content[10:half], content[half : half + 400], content[half + 400 :]]
    file.write_bytes(content[:10])
    followed = a_workspace(tmp_path / "one", tmp_path, Writer(file, pieces))
    report = operations.ingest(followed, (str(file.parent),), follow=True)
    assert report.interrupted
    assert exits.of_ingest(report) == exits.INTERRUPTED
    assert (report.new, report.grown, report.human) == (1, 0, 3)
    [row] = report.carriers
    assert row.new == 1
    assert sum(one.count for one in row.dispositions) == row.records
    at_once = a_workspace(tmp_path / "two", tmp_path, None, attended=False)
    assert operations.ingest(at_once, (str(file.parent),)).new == 1
    assert turns_of(followed) == turns_of(at_once)


def test_what_was_held_back_is_taken_in_when_the_file_has_come_to_rest(tmp_path):
    talk = Talk(ONE)
    talk.ask()
    talk.say("m", {"type": "text", "text": "Not finished yet."})
    file = talk.write(tmp_path / "in")
    moment = [datetime.fromtimestamp(file.stat().st_mtime, UTC)]
    session = a_workspace(tmp_path / "home", tmp_path, None)
    session = Session(session.loaded, tmp_path, now=lambda: moment[0])
    options = taking.options_of(session.settings.ingest, b"salt")
    follower = Follower(session, (str(file.parent),), options)
    follower.turn(Interrupts())
    assert follower.reports[-1].assistant == 0
    follower.turn(Interrupts())
    assert len(follower.reports) == 1, "nothing has changed"
    moment[0] = LATE
    follower.turn(Interrupts())
    assert follower.reports[-1].assistant == 1
    file.unlink()
    follower.turn(Interrupts())
    assert len(follower.reports) == 2, "what is gone is nobody's concern"


def test_a_busy_store_is_tried_again(tmp_path):
    file = Talk(ONE).play(["ask", "answer"]).write(tmp_path / "in")
    loaded = settings.load({"store.home": str(tmp_path), "store.workspace": "w"}, tmp_path)
    quick = loaded.settings.replace(store=loaded.settings.store.replace(wait_s=0))
    session = Session(loaded.__class__(**{**loaded.__dict__, "settings": quick}), tmp_path)
    options = taking.options_of(session.settings.ingest, b"salt")
    follower = Follower(session, (str(file.parent),), options)
    with session.store("other", make=True), pytest.raises(StoreLocked):
        follower.turn(Interrupts())
    follower.turn(Interrupts())
    Talk(ONE).play(["ask", "answer", "ask"]).write(tmp_path / "in")
    with session.store("other"):
        follower.turn(Interrupts())
    assert len(follower.reports) == 1
    follower.turn(Interrupts())
    assert follower.reports[-1].human == 1


@pytest.mark.parametrize(("paths", "dry_run"), [(("-",), False), (("x",), True)])
def test_what_cannot_be_followed_is_refused(tmp_path, paths, dry_run):
    session = a_workspace(tmp_path, tmp_path, None)
    with pytest.raises(WrongValue):
        operations.ingest(session, paths, follow=True, dry_run=dry_run)


def test_ctrl_c_is_a_wish_twice_and_then_an_order(tmp_path):
    session = a_workspace(tmp_path, tmp_path, None)
    with interrupts(session) as wishes:
        with wishes.heard():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            assert wishes.read() == 2
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
