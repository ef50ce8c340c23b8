"""Laws of ingest over Codex sessions: cuts, order, joined files and forks change nothing."""

import zipfile
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from graphstore.model.conversation import LineageKind
from tests.codex_talk import MOVES, Talk
from tests.ingest_memory import LATE, Memory, Room, told

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
TWO = "bbbbbbbb-0000-4000-8000-000000000002"
THREE = "cccccccc-0000-4000-8000-000000000003"

moves = st.lists(st.sampled_from(MOVES), min_size=1, max_size=12).map(lambda some: ["ask", *some])
straight = st.lists(
    st.sampled_from([move for move in MOVES if move != "back"]), min_size=1, max_size=8
).map(lambda some: ["ask", *some])
with_ids = st.booleans()


def at_once(*paths):
    store = Memory()
    store.ingest(*paths, now=LATE)
    return store.told()


@given(moves, with_ids, st.data())
def test_a_prefix_and_then_the_whole_is_the_whole(some, turn_ids, data):
    lines = b"".join(Talk(ONE, turn_ids=turn_ids).play(some).encoded())
    cut = data.draw(st.integers(1, len(lines)))
    with Room() as room:
        file = room / f"rollout-2026-04-01T09-00-00-{ONE}.jsonl"
        file.write_bytes(lines)
        fresh = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        whole = told(file, now=fresh)
        store = Memory()
        file.write_bytes(lines[:cut])
        store.ingest(file, now=fresh)
        file.write_bytes(lines)
        store.ingest(file, now=fresh)
        assert store.told() == whole
        store.ingest(file, now=LATE)
        assert store.told() == told(file)


@given(moves, moves, with_ids)
def test_order_and_joined_files_do_not_matter(first, second, turn_ids):
    with Room() as room:
        one = Talk(ONE, turn_ids=turn_ids).play(first)
        two = Talk(TWO, turn_ids=turn_ids, words="b").play(second)
        files = [one.write(room), two.write(room)]
        plain = at_once(*files)
        assert at_once(*reversed(files)) == plain == told(*files) == told(*reversed(files))
        joined = room / "joined.jsonl"
        joined.write_bytes(b"".join([*one.encoded(), *two.encoded()]))
        assert at_once(joined) == plain == at_once(files[0], joined)


@given(moves, moves, with_ids)
def test_names_copies_and_zips_do_not_matter_and_a_second_run_changes_nothing(
    first, second, turn_ids
):
    with Room() as room:
        one = Talk(ONE, turn_ids=turn_ids).play(first).write(room / "a")
        two = Talk(TWO, turn_ids=turn_ids, words="b").play(second).write(room / "a")
        plain = at_once(one, two)
        renamed = room / "other name.txt"
        renamed.write_bytes(one.read_bytes())
        assert at_once(renamed, two) == plain == told(renamed, one, two) == told(room / "a")
        archive = room / "export.zip"
        with zipfile.ZipFile(archive, "w") as packed:
            for file in (two, one):
                packed.write(file, f"x/{file.name}")
        assert at_once(archive) == plain
        store = Memory()
        store.ingest(room / "a", now=LATE)
        records = len(store.records)
        store.files.clear()
        store.ingest(room / "a", now=LATE)
        assert len(store.records) == records


@given(straight, straight, straight, with_ids)
def test_a_family_is_the_same_in_any_order(shared, of_parent, of_child, turn_ids):
    with Room() as room:
        parent = Talk(ONE, turn_ids=turn_ids).play([*shared, "answer"])
        child = parent.fork(TWO).play(["ask", "answer", *of_child])
        grandchild = child.fork(THREE).play(["ask", "answer"])
        parent.play(["ask", *of_parent])
        files = [one.write(room) for one in (parent, child, grandchild)]
        store = Memory()
        store.ingest(*files, now=LATE)
        plain = store.told()
        for identity, above in ((TWO, ONE), (THREE, TWO)):
            (link,) = store.threads[f"codex:{identity}"].lineage
            assert (link.kind, link.parent) == (LineageKind.FORKED_FROM, f"codex:{above}")
            assert link.split_turn
        assert at_once(*reversed(files)) == plain
        assert told(*files) == plain
        assert told(*reversed(files)) == plain
        assert told(files[1], files[2], files[0]) == plain
        assert told(files[2], files[0], files[1]) == plain
