"""A backup is whole whoever writes meanwhile, and nothing unsound is restored."""

import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from graphstore import open_store
from graphstore.backup import BackupInvalid, BackupTaken, WorkspaceTaken, back_up, restore
from graphstore.errors import DiskFull, LedgerDamaged, LedgerUnreadable, Unwritable
from graphstore.ledger import Ledger
from tests.fake_derive import NOW, FakeDerive, everything
from tests.integration.crashing_store import record

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from pathlib import Path
from graphstore import open_store
from tests.fake_derive import NOW, FakeDerive
from tests.integration.crashing_store import record
with open_store(Path(sys.argv[1]), FakeDerive()) as store:
    for number in range(10, 30):
        store.commit(record(number), NOW)
        print(number, flush=True)
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A workspace and its backup, made once."""
    folder = tmp_path_factory.mktemp("made")
    path = folder / "ws"
    with open_store(path, FakeDerive()) as store:
        for number in range(1, 4):
            store.commit(record(number), NOW)
    (path / "mask.salt").write_bytes(b"salt of the store")
    (path / "PLAYBOOK.md").write_text("# Ways of working\n")
    (path / "notes" / "2026").mkdir(parents=True)
    (path / "notes" / "2026" / "one.md").write_text("a note")
    back_up(path, folder / "one.backup", NOW, "1", force=False)
    return folder


@pytest.fixture
def workspace(made, tmp_path):
    return Path(shutil.copytree(made / "ws", tmp_path / "home" / "ws"))


@pytest.fixture
def file(made, tmp_path):
    (tmp_path / "home").mkdir(exist_ok=True)
    return Path(shutil.copy(made / "one.backup", tmp_path))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def rows(workspace):
    with open_store(workspace, FakeDerive()) as store:
        assert store.verify() == ()
        return everything(store)


def test_what_is_restored_is_what_was_there(workspace, file, tmp_path):
    target = tmp_path / "home" / "again"
    manifest = restore(file, target)
    assert (manifest.threads, sum(each.count for each in manifest.records)) == (3, 3)
    assert names(target) == ["PLAYBOOK.md", "ledger.db", "mask.salt", "notes"]
    for name in ("mask.salt", "PLAYBOOK.md", "notes/2026/one.md"):
        assert (target / name).read_bytes() == (workspace / name).read_bytes()
    assert rows(target) == rows(workspace)


def test_only_the_owner_can_read_a_backup_and_a_restored_workspace(file, tmp_path):
    restore(file, tmp_path / "home" / "again")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "home" / "again").stat().st_mode) == 0o700
    for path in (tmp_path / "home" / "again").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_nothing_is_left_beside_a_backup_and_a_restored_workspace(file, tmp_path):
    restore(file, tmp_path / "home" / "again")
    assert names(tmp_path) == ["home", "one.backup"]
    assert [name for name in names(tmp_path / "home") if name.startswith(".")] == []


def test_a_backup_replaces_a_file_only_when_told(workspace, file):
    before = file.read_bytes()
    with pytest.raises(BackupTaken):
        back_up(workspace, file, NOW, "1", force=False)
    assert file.read_bytes() == before
    back_up(workspace, file, NOW, "2", force=True)
    assert file.read_bytes() != before


def test_a_backup_of_an_open_store_holds_what_was_committed(workspace, tmp_path):
    with open_store(workspace, FakeDerive()) as store:
        store.commit(record(9), NOW)
        manifest = back_up(workspace, tmp_path / "two.backup", NOW, "1", force=False)
        store.commit(record(10), NOW)
        assert store.verify() == ()
    assert manifest.threads == 4
    restore(tmp_path / "two.backup", tmp_path / "again")
    assert len(rows(tmp_path / "again")["ThreadNode"]) == 4


def test_backups_taken_while_another_process_writes_are_each_whole(workspace, tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(workspace)], cwd=ROOT, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        counts = []
        for number, _ in zip(range(3), iter(writer.stdout.readline, b""), strict=False):
            made = back_up(workspace, tmp_path / f"{number}.backup", NOW, "1", force=False)
            counts.append(made.threads)
        writer.communicate()
    assert writer.returncode == 0
    assert counts == sorted(counts)
    assert counts[0] < 23
    for number in range(len(counts)):
        restore(tmp_path / f"{number}.backup", tmp_path / f"ws{number}")
    assert len(rows(tmp_path / "ws1")["ThreadNode"]) == counts[1]


@pytest.mark.parametrize("name", ["ws", "a file"])
def test_nothing_is_restored_over_what_is_there(workspace, file, name):
    (workspace.parent / "a file").write_text("mine")
    before = rows(workspace)
    with pytest.raises(WorkspaceTaken):
        restore(file, workspace.parent / name)
    assert rows(workspace) == before
    assert (workspace.parent / "a file").read_text() == "mine"


def test_an_empty_folder_takes_a_workspace(file, tmp_path):
    (tmp_path / "empty").mkdir()
    restore(file, tmp_path / "empty")
    assert len(rows(tmp_path / "empty")["ThreadNode"]) == 3


def test_a_damaged_ledger_is_not_backed_up_as_if_it_were_sound(workspace, tmp_path):
    with closing(Ledger(workspace / "ledger.db")) as ledger, ledger.transaction() as connection:
        connection.execute("UPDATE record SET at = 'x' WHERE seq = 2")
    with pytest.raises(LedgerDamaged) as caught:
        back_up(workspace, tmp_path / "two.backup", NOW, "1", force=False)
    assert caught.value.seq == 2
    assert names(tmp_path) == ["home"]


def test_a_ledger_that_is_none_is_not_backed_up(workspace, tmp_path):
    (workspace / "ledger.db").write_bytes(b"no database" * 999)
    with pytest.raises(LedgerUnreadable):
        back_up(workspace, tmp_path / "two.backup", NOW, "1", force=False)
    assert names(tmp_path) == ["home"]


def test_a_backup_reads_a_workspace_that_may_not_be_written(workspace, tmp_path, monkeypatch):
    access = os.access  # the tests may run as root
    monkeypatch.setattr(os, "access", lambda path, how: path != workspace and access(path, how))
    back_up(workspace, tmp_path / "two.backup", NOW, "1", force=False)
    with pytest.raises(Unwritable):
        open_store(workspace, FakeDerive())
    restore(tmp_path / "two.backup", tmp_path / "again")
    assert len(rows(tmp_path / "again")["ThreadNode"]) == 3


def test_a_home_that_is_no_folder_is_said(tmp_path):
    (tmp_path / "place").write_text("a file")
    with pytest.raises(Unwritable, match="cannot be written"):
        open_store(tmp_path / "place" / "default", FakeDerive())


# unsound backups


def altered(file, change):
    """The same archive with its members changed: ``change`` takes and returns name -> bytes."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in change(members).items():
            archive.writestr(name, content)


def relisted(members, change):
    manifest = json.loads(members["manifest.json"])
    change(manifest)
    return {**members, "manifest.json": json.dumps(manifest).encode()}


def added(members, name):
    entry = {"name": name, "size": 1, "digest": "75f6a3ff0f62a55ccca2b0a79bfd9b9e"}
    return relisted({**members, name: b"x"}, lambda manifest: manifest["files"].append(entry))


UNSOUND = {
    "salt": lambda members: {**members, "mask.salt": b"salt of the thief"},
    "longer": lambda members: {**members, "mask.salt": b"salt of the store and more"},
    "less": lambda members: {name: members[name] for name in members if name != "mask.salt"},
    "more": lambda members: {**members, "notes/x": b""},
    "no list": lambda members: {"ledger.db": members["ledger.db"]},
    "bad list": lambda members: {**members, "manifest.json": b"{}"},
    "no ledger": lambda members: {
        "manifest.json": relisted(members, lambda m: m.update(files=[]))["manifest.json"]
    },
    "newer": lambda members: relisted(members, lambda m: m.update(format=2)),
    "other head": lambda members: relisted(members, lambda m: m.update(head="00")),
    "other count": lambda members: relisted(members, lambda m: m.update(threads=4)),
}
FOREIGN = (
    "../escape",
    "/etc/escape",
    "notes/../../escape",
    "notes",
    "notes/./x",
    "notes//x",
    "notes/a\\b",
    "notes/C:x",
    "token",
    "owner.json",
)


@pytest.mark.parametrize("how", UNSOUND)
def test_an_unsound_backup_is_refused_and_leaves_nothing(file, tmp_path, how):
    altered(file, UNSOUND[how])
    with pytest.raises(BackupInvalid):
        restore(file, tmp_path / "home" / "again")
    assert names(tmp_path / "home") == []
    assert names(tmp_path) == ["home", "one.backup"]


@pytest.mark.parametrize("name", FOREIGN)
def test_a_name_that_belongs_to_no_workspace_is_refused(file, tmp_path, name):
    altered(file, lambda members: added(members, name))
    with pytest.raises(BackupInvalid, match="belongs to no workspace"):
        restore(file, tmp_path / "home" / "again")
    assert names(tmp_path / "home") == []
    assert names(tmp_path) == ["home", "one.backup"]


def test_a_note_that_is_not_what_is_listed(file, tmp_path):
    altered(file, lambda members: added(members, "notes/x"))
    with pytest.raises(BackupInvalid, match="notes/x is not what was put in"):
        restore(file, tmp_path / "again")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_cut_backup_is_refused(file, tmp_path, share):
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(BackupInvalid):
        restore(file, tmp_path / "again")


def test_a_backup_with_a_flipped_byte_is_refused(file, tmp_path):
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(BackupInvalid):
        restore(file, tmp_path / "again")


def test_a_ledger_that_was_edited_before_is_refused(workspace, tmp_path, monkeypatch):
    monkeypatch.setattr(Ledger, "verify", lambda _: ())
    with closing(Ledger(workspace / "ledger.db")) as ledger, ledger.transaction() as connection:
        connection.execute("UPDATE record SET body = '{}' WHERE seq = 2")
    back_up(workspace, tmp_path / "two.backup", NOW, "1", force=False)
    monkeypatch.undo()
    with pytest.raises(BackupInvalid, match="its ledger does not hold"):
        restore(tmp_path / "two.backup", tmp_path / "again")


FOREIGN_SCHEMA = (
    "CREATE TRIGGER evil AFTER INSERT ON record BEGIN DELETE FROM turn; END",
    "CREATE VIEW seen AS SELECT * FROM turn",
)


@pytest.mark.parametrize("statement", FOREIGN_SCHEMA)
def test_a_ledger_with_statements_of_others_is_refused(workspace, tmp_path, statement):
    with closing(Ledger(workspace / "ledger.db")) as ledger, ledger.transaction() as connection:
        connection.execute(statement)
    back_up(workspace, tmp_path / "two.backup", NOW, "1", force=False)
    with pytest.raises(BackupInvalid, match="triggers or views"):
        restore(tmp_path / "two.backup", tmp_path / "again")


# little space


def test_a_full_disk_is_said_and_leaves_nothing(workspace, tmp_path):
    script = """
import resource, signal, sys
from pathlib import Path
from graphstore.backup import back_up
from graphstore.errors import DiskFull
from tests.fake_derive import NOW
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    back_up(Path(sys.argv[1]), Path(sys.argv[2]), NOW, "1", force=False)
except DiskFull as full:
    sys.exit(7)
"""
    command = [sys.executable, "-c", script, str(workspace), str(tmp_path / "two.backup")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 7, done.stderr
    assert names(tmp_path) == ["home"]


def test_a_backup_larger_than_the_disk_is_refused_at_once(file, tmp_path, monkeypatch):
    usage = type("Usage", (), {"free": 1})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(DiskFull):
        restore(file, tmp_path / "again")
    assert not (tmp_path / "again").exists()
