"""Of a damaged ledger everything is saved that proves itself, and the rest is named."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from graphstore import open_store
from graphstore.errors import LedgerDamaged, LedgerUnreadable
from graphstore.events import Events
from graphstore.ledger import Ledger
from graphstore.model.knowledge import ThreadNode
from graphstore.salvage import salvage
from graphstore.search import SearchIndex
from graphstore.threads import Threads
from tests.fake_derive import NOW, FakeDerive, a_cycle_record, everything
from tests.integration.crashing_store import record


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Threads 1 to 4, a cycle as record 5, and thread 5 as record 6."""
    path = tmp_path_factory.mktemp("made") / "ws"
    with open_store(path, FakeDerive()) as store, store.deferred():
        for number in range(1, 5):
            store.commit(record(number), NOW)
        store.commit(a_cycle_record(), NOW)
        store.commit(record(5), NOW)
    return path


@pytest.fixture
def workspace(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "ws"))


def edit(workspace, *statements):
    with closing(Ledger(workspace / "ledger.db")) as ledger, ledger.transaction() as connection:
        for statement in statements:
            connection.execute(statement)


def threads_after(workspace):
    with closing(Ledger(workspace / "ledger.db")) as ledger:
        assert ledger.verify() == ()
        assert Events(ledger).recent()[0].kind == "salvaged"
        found = list(Threads(ledger).ids())
        assert len(SearchIndex(ledger).find("locks", 50)) == len(found)
        return found


BODY = "UPDATE record SET body = replace(body, 'wait', 'wake') WHERE seq = {}"
SUM = "UPDATE record SET checksum = x'00' WHERE seq = {}"
GONE = "DELETE FROM record WHERE seq = {}"


@pytest.mark.parametrize(
    ("damage", "lost"),
    [
        ([], []),
        ([BODY.format(2)], [2]),
        ([BODY.format(1)], [1]),
        ([BODY.format(6)], [6]),
        ([BODY.format(2), BODY.format(4)], [2, 4]),
        ([BODY.format(2), BODY.format(3)], [2, 3]),
        ([SUM.format(2)], []),
        ([SUM.format(6)], [6]),  # nothing comes after it that would prove it
        ([SUM.format(2), BODY.format(3)], [2, 3]),
        ([GONE.format(2)], [2]),
        ([GONE.format(1)], [1]),
        ([GONE.format(4)], [4, 5]),  # behind a gap a cycle cannot prove itself
        ([GONE.format(2), BODY.format(3)], [2, 3]),
        (["UPDATE record SET body = '{}' WHERE seq = 3"], [3]),
        (["UPDATE record SET kind = 'note' WHERE seq = 3"], [3]),
    ],
)
def test_what_proves_itself_is_kept_and_the_rest_is_named(workspace, damage, lost):
    edit(workspace, *damage)
    done = salvage(workspace, NOW)
    assert [each.seq for each in done.lost] == lost
    assert done.kept == 6 - len(lost)
    kept = [number for number in (1, 2, 3, 4, 6) if number not in lost]
    names = {1: "t1", 2: "t2", 3: "t3", 4: "t4", 6: "t5"}
    assert threads_after(workspace) == [f"test:{names[number]}" for number in kept]


def test_a_whole_ledger_is_the_same_afterwards(workspace):
    def state():
        with open_store(workspace, FakeDerive()) as store:
            return everything(store), tuple(store.ledger.export())

    before = state()
    salvage(workspace, NOW)
    assert state() == before
    with open_store(workspace, FakeDerive()) as store:
        assert store.verify() == ()


def test_a_store_works_on_after_a_loss(workspace):
    edit(workspace, BODY.format(2), GONE.format(4))
    salvage(workspace, NOW)
    with open_store(workspace, FakeDerive()) as store:
        assert store.verify() == ()
        store.commit(record(2), NOW)
        assert len(store.nodes(ThreadNode)) == 4
        assert store.verify() == ()


def test_the_old_ledger_stays_in_quarantine(workspace):
    edit(workspace, BODY.format(2))
    old = tuple(Ledger(workspace / "ledger.db").export())
    done = salvage(workspace, NOW)
    assert tuple(Ledger(Path(done.quarantine) / "ledger.db").export()) == old
    assert salvage(workspace, NOW).quarantine != done.quarantine


def test_a_dry_run_changes_nothing(workspace):
    edit(workspace, BODY.format(2))
    before = (workspace / "ledger.db").read_bytes()
    done = salvage(workspace, NOW, dry_run=True)
    assert ([each.kind for each in done.lost], done.quarantine) == (["thread"], "")
    assert (workspace / "ledger.db").read_bytes() == before
    assert not (workspace / "salvage").exists()
    assert not (workspace / "quarantine").exists()


def pages_of(workspace, word):
    """Numbers of the pages, from 0, that hold a word."""
    content = (workspace / "ledger.db").read_bytes()
    size = int.from_bytes(content[16:18], "big")
    return [at for at in range(len(content) // size) if word in content[at * size :][:size]], size


def wipe(workspace, page, size):
    with (workspace / "ledger.db").open("r+b") as file:
        file.seek(page * size)
        file.write(b"\xff" * size)


def test_every_damaged_page_is_survived(workspace, tmp_path):
    """Whichever page is wiped, opening says so or is right; what salvage keeps is sound.

    Every page of the small ledger is wiped in turn; some are opened as a store too.
    """
    with closing(Ledger(workspace / "ledger.db")):
        pass  # the log goes into the file
    pages, size = pages_of(workspace, b"")
    said = 0
    for page in pages[1:]:
        broken = Path(shutil.copytree(workspace, tmp_path / f"page{page}"))
        wipe(broken, page, size)
        if page % 12 == 1:
            try:
                with open_store(broken, FakeDerive()) as store:
                    said += bool(store.verify())
            except (LedgerDamaged, LedgerUnreadable):
                said += 1
        done = salvage(broken, NOW)
        with closing(Ledger(broken / "ledger.db")) as ledger:
            assert ledger.verify() == ()
            assert ledger.last_seq() == done.kept
        shutil.rmtree(broken)
    assert said > 0
