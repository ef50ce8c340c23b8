"""One folder of everything, misnamed, in archives and out of them, gives the same threads."""

import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.ingest_memory import Memory

DATA = Path(__file__).parents[1] / "data" / "ingest"
LATE = datetime(2100, 1, 1, tzinfo=UTC)
ENDS = (".txt", ".json", ".md", "", ".log", ".jsonl", ".db", ".dat")
NO_TALKS = {"README.md", "expected.json", "entire-cli.gold.json", "cases.md"}
STRIDE = 7919  # coprime to the number of names: files change their order


def mixed(files, folder):
    """Copies under names that say nothing: flat, in folders, in archives with wrong endings."""
    packs: dict[str, list[tuple[str, bytes]]] = {}
    for number, file in enumerate(files):
        name = f"{number * STRIDE % 100_003:06}{ENDS[number % len(ENDS)]}"
        content = file.read_bytes()
        if number % 3 == 2 and not content.startswith(b"PK"):
            packs.setdefault(f"pack {number % 4}{ENDS[number % 4]}", []).append((name, content))
            continue
        place = folder / (f"part {number % 5}" if number % 3 else "")
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    for name, held in packs.items():
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as pack:
            for inner, content in held:
                pack.writestr(inner, content)
    return folder


def files_of(folder):
    return sorted(
        file for file in folder.rglob("*") if file.is_file() and file.name not in NO_TALKS
    )


def told_apart(files):
    """What each file gives by itself."""
    told = {}
    for file in files:
        store = Memory()
        store.ingest(file, now=LATE)
        told[file] = store.told()
    return told


def test_cases_are_told_the_same_in_a_heap(tmp_path):
    files = [file for file in files_of(DATA) if "93-notes" not in file.parts]
    apart = told_apart(files)
    owners = Counter(identity for told in apart.values() for identity in told)
    alone = [file for file, told in apart.items() if told and all(owners[one] == 1 for one in told)]
    sorted_out, heap = Memory(), Memory()
    for file in alone:
        sorted_out.ingest(file, now=LATE)
    report = heap.ingest(mixed(alone, tmp_path / "heap"), now=LATE)
    assert heap.told() == sorted_out.told()
    assert report.ignored == ()
    assert len({row.format for row in report.carriers}) >= 8
    assert len(alone) >= 12


@pytest.mark.soak
def test_real_conversations_are_told_the_same_in_a_heap(tmp_path, shared):
    folders = [one for one in sorted((shared / "corpora").iterdir()) if one.is_dir()]
    folders = [one for one in folders if one.name != "locomo"]
    apart, together = Memory(), Memory()
    for folder in folders:
        apart.ingest(folder, now=LATE)
    files = [file for folder in folders for file in files_of(folder)]
    report = together.ingest(mixed(files, tmp_path / "heap"), now=LATE)
    assert together.told() == apart.told()
    assert len(together.told()) > 300
    formats = {row.format for row in report.carriers}
    assert formats >= {"claude-code", "codex", "chatgpt", "claude-ai", "gemini-cli", "llm"}
    assert formats >= {"specstory", "aider", "oasst"}
