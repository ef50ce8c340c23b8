"""Secrets planted everywhere are found again nowhere: no byte of a workspace, no word told."""

import pytest

from ingest.sniff import readers
from tests.installed import Installed
from tests.secret_planting import IN_NAMES, PLANTED, canaries, plant

FORMATS = ("json", "html")


def leaks(folder, planted):
    """Files below a folder that hold one of the secrets, with how many they hold."""
    found = {}
    for file in sorted(one for one in folder.rglob("*") if one.is_file()):
        content = file.read_bytes() + str(file).encode()
        held = sum(one in content for one in planted)
        if held:
            found[str(file.relative_to(folder))] = held
    return found


def test_there_is_much_to_plant():
    assert len(PLANTED) >= 40
    assert len(canaries()) >= 40
    assert len(IN_NAMES) >= 40


@pytest.mark.parametrize("most", [1, pytest.param(9, marks=pytest.mark.soak)])
def test_no_secret_stays_anywhere(tmp_path, most):
    secrets, told = tmp_path / "in", tmp_path / "told"
    told.mkdir()
    assert plant(secrets, most) >= 2 * len(readers()) - 2
    planted = canaries()
    assert sum(leaks(secrets, planted).values()) > len(planted)
    clew = Installed(tmp_path / "at")
    clew.folder.mkdir()
    commands = [
        ("--debug", "up", str(secrets), "--notes", "--json", "--no-open"),
        ("--debug", "ingest", str(secrets), "--notes", "--verbose"),
        ("--debug", "ingest", str(secrets / "not there" / IN_NAMES[0])),
        ("--debug", "threads", "--json"),
        *(("--debug", "export", one, "-o", str(told / f"x.{one}")) for one in FORMATS),
    ]
    ends = []
    for number, words in enumerate(commands):
        process = clew.start(*words)
        out, err = process.communicate(timeout=600)
        ends.append(process.returncode)
        (told / f"{number}.out").write_bytes(out)
        (told / f"{number}.err").write_bytes(err)
    assert ends[0] in (0, 1), (told / "0.err").read_text()
    assert ends[3:] == [0] * len(ends[3:])
    assert b"[masked:" in (told / "3.out").read_bytes()
    assert leaks(clew.folder, planted) == {}
    assert leaks(told, planted) == {}
