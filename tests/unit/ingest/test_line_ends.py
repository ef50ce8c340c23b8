"""Texts whose lines end in a carriage return alone are read like any other."""

import os
import zipfile

import pytest

from tests.ingest_memory import Memory

CHAT = "## User\n\nWhy tides?\n\n## Assistant\n\nThe moon pulls.\n\nTwice a day.\n"
RUN = "# aider chat started at 2025-03-04 10:00:00\n\n#### Why tides?\n\nThe moon pulls.\n"
PAGE = "_**User**_\n\nWhy tides?\n\n---\n\n_**Agent**_\n\nThe moon pulls.\n\n---\n"


def told(*paths):
    store = Memory()
    store.ingest(*paths)
    return [
        (one.thread_id, [(turn.role.value, turn.text, turn.anchor.offset) for turn in one.turns])
        for one in store.threads.values()
    ]


@pytest.mark.parametrize("text", [CHAT, RUN, PAGE])
def test_a_chat_of_an_old_system_is_the_chat(tmp_path, text):
    file = tmp_path / "x.md"
    read = []
    for end in ("\n", "\r"):
        file.write_bytes(text.replace("\n", end).encode())
        os.utime(file, (1000, 1000))
        read.append(told(file))
    assert read[0] == read[1]
    assert [role for role, _, _ in read[1][0][1]] == ["human", "assistant"]


def test_it_is_the_chat_inside_an_archive(tmp_path):
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("x.md", CHAT.replace("\n", "\r"))
    ((_, turns),) = told(archive)
    assert [role for role, _, _ in turns] == ["human", "assistant"]


def test_a_carriage_return_among_newlines_ends_no_line(tmp_path):
    file = tmp_path / "x.md"
    file.write_bytes(CHAT.replace("pulls.\n", "pulls.\r## User\rHow?\n").encode())
    ((_, turns),) = told(file)
    assert [role for role, _, _ in turns] == ["human", "assistant"]
