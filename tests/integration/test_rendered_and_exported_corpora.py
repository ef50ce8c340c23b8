"""Real histories and exports, where they are at hand: everything counted, little masked."""

from collections import Counter
from pathlib import Path

import pytest

from ingest.model import RawThread, Source, Tally
from ingest.readers import chatgpt, specstory
from ingest.secrets import mask

CORPORA = Path(__file__).parents[2].parent / "shared" / "corpora"


def files(*parts):
    folder = CORPORA.joinpath(*parts[:-1])
    found = sorted(folder.glob(parts[-1])) if folder.is_dir() else []
    if not found:
        pytest.skip(f"no corpus at {folder.name}")
    return found


def read(reader, file):
    src = Source.of_file(file)
    tally = Tally(src.name)
    assert reader.sniff(src.peek(), src) is not None
    found = list(reader.read(src, tally))
    assert all(isinstance(one, RawThread) for one in found)
    for thread in found:
        tally.drop("turn", sum(turn.records for turn in thread.turns))
    assert tally.balanced
    return found, tally


@pytest.mark.slow
def test_every_history_is_one_session_and_every_head_is_counted():
    sessions: Counter[tuple[str, str | None]] = Counter()
    for file in files("specstory", "*.md"):
        (thread,), tally = read(specstory, file)
        sessions[thread.source, thread.native_id] += 1
        heads = [
            line
            for line in file.read_text("utf-8", "replace").split("\n")
            if line.startswith("_**") and line.endswith("**_")
        ]
        assert tally.records == len(heads) + 2
        assert tally.codes == {}
    assert (sum(sessions.values()), len(sessions)) == (117, 68)


def test_every_exported_conversation_is_a_thread():
    for file in files("chatgpt", "*.json"):
        threads, tally = read(chatgpt, file)
        assert [len(thread.turns) for thread in threads] == [5] * 7
        assert tally.codes == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parts", "separator"),
    [(("specstory", "*.md"), "\n---\n"), (("aider", "*.md"), "\n# aider chat started")],
)
def test_little_is_masked_where_no_secrets_are(parts, separator):
    size = hits = 0
    for file in files(*parts):
        for text in file.read_text("utf-8", "replace").split(separator):
            size += len(text)
            hits += len(mask(text)[1])
    assert hits <= size / 100_000
