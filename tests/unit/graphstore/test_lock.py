import os

import pytest

from graphstore.errors import StoreLocked
from graphstore.lock import Owner, alive, held, owner
from tests.fake_derive import NOW


def test_the_holder_is_named_while_it_holds(tmp_path):
    with held(tmp_path, wait_s=1, purpose="clew up", since=NOW, url="http://127.0.0.1:1"):
        assert owner(tmp_path) == Owner(
            pid=os.getpid(), purpose="clew up", since=NOW, url="http://127.0.0.1:1"
        )
        assert (tmp_path / "owner.json").stat().st_mode & 0o077 == 0
    assert owner(tmp_path) is None


def test_a_second_holder_waits_and_is_told_who_has_it(tmp_path):
    def second():
        with held(tmp_path, wait_s=0.1, purpose="second"):
            pytest.fail("both hold it")

    with held(tmp_path, wait_s=1, purpose="clew up", since=NOW):
        with pytest.raises(StoreLocked) as caught:
            second()
        assert f"process {os.getpid()} (clew up) since 2026-01-15" in caught.value.holder
        (tmp_path / "owner.json").write_text("{")
        with pytest.raises(StoreLocked) as caught:
            second()
        assert caught.value.holder == "another process"


def test_the_lock_is_free_after_a_failure(tmp_path):
    def fail():
        with held(tmp_path, wait_s=0.1, purpose="a"):
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with held(tmp_path, wait_s=0.1, purpose="b"):
        assert owner(tmp_path) == Owner(pid=os.getpid(), purpose="b")


def test_old_words_about_a_holder_do_not_keep_the_lock(tmp_path):
    (tmp_path / "owner.json").write_text('{"pid": 1, "purpose": "long dead"}')
    with held(tmp_path, wait_s=0.1, purpose="a"):
        assert owner(tmp_path) == Owner(pid=os.getpid(), purpose="a")


def test_this_process_is_alive_and_an_impossible_one_is_not():
    assert alive(os.getpid())
    assert not alive(2**22 + 1)
