"""A session: where the workspace is, its salt, and what happens where there is no store."""

import stat

import pytest

from graphstore.errors import StoreNotFound
from service import dispatch, settings
from service.session import SALT_BYTES, Session


@pytest.fixture
def session(tmp_path):
    return Session(
        loaded=settings.load({"store.home": str(tmp_path / "h")}, tmp_path), folder=tmp_path
    )


def test_nothing_is_made_by_looking(session, tmp_path):
    with pytest.raises(StoreNotFound, match="h/default"), session.store("look"):
        pass
    assert not (tmp_path / "h").exists()
    assert not session.exists


def test_the_salt_is_made_once_and_is_private(session):
    salt = session.salt()
    assert len(salt) == SALT_BYTES
    assert session.salt() == salt
    file = session.workspace / "mask.salt"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in session.workspace.iterdir()] == ["mask.salt"]


def test_a_store_is_made_when_asked_for_in_folders_for_the_owner_alone(session):
    with session.store("make", make=True) as store:
        assert list(store.threads()) == []
    assert session.exists
    for folder in (session.workspace, session.workspace.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_an_operation_is_run_by_its_name(tmp_path):
    shapes = dispatch.run("shapes", flags={}, folder=tmp_path)
    assert "island" in [row.name for row in shapes]
