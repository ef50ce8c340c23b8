"""Laws of ingest: nothing depends on names, order, cuts or copies; nothing is read twice."""

import zipfile
from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from tests.claude_talk import MOVES, Talk
from tests.ingest_memory import LATE, Memory, Room, told

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
TWO = "bbbbbbbb-0000-4000-8000-000000000002"
THREE = "cccccccc-0000-4000-8000-000000000003"

moves = st.lists(st.sampled_from(MOVES), min_size=1, max_size=14).map(lambda some: ["ask", *some])


def at_once(*paths, now=LATE):
    store = Memory()
    store.ingest(*paths, now=now)
    return store.told()


@given(moves)
def test_a_second_run_changes_nothing(some):
    with Room() as room:
        file = Talk(ONE).play(some).write(room)
        store = Memory()
        store.ingest(file, now=LATE)
        before, records = store.told(), len(store.records)
        assert store.ingest(file, now=LATE).carriers[0].skipped
        store.files.clear()
        again = store.ingest(file, now=LATE)
        assert (store.told(), len(store.records)) == (before, records)
        assert [row.status for row in again.threads] == ["same"] * len(before)


@given(moves, st.floats(0, 1))
@example(["ask", "split call", "queue"], 0.0)
@example(["ask", "answer", "call"], 0.5)
@example(["ask", "answer", "call", "answer"], 0.4)
def test_a_prefix_and_then_the_whole_is_the_whole(some, share):
    lines = b"".join(Talk(ONE).play(some).encoded())
    cut = max(1, round(share * len(lines)))
    with Room() as room:
        file = room / f"{ONE}.jsonl"
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


@given(moves, moves)
def test_names_copies_order_and_zips_do_not_matter(first, second):
    with Room() as room:
        one = Talk(ONE).play(first).write(room / "a")
        two = Talk(TWO, "b").play(second).write(room / "a")
        plain = at_once(one, two)
        assert at_once(two, one) == plain == told(two, one) == told(room / "a")
        renamed = Talk(ONE).play(first).write(room / "b", "other name.txt")
        assert at_once(renamed, two) == plain
        assert at_once(one, renamed, two) == plain == told(renamed, one, two)
        archive = room / "export.zip"
        with zipfile.ZipFile(archive, "w") as packed:
            for file in (two, one):
                packed.write(file, f"x/{file.name}")
        assert at_once(archive) == plain


@given(moves, moves)
def test_sessions_one_after_the_other_in_one_file_stay_two(first, second):
    with Room() as room:
        one, two = Talk(ONE).play(first), Talk(TWO, "b").play(second)
        plain = at_once(one.write(room), two.write(room))
        joined = room / "joined.jsonl"
        joined.write_bytes(b"".join([*one.encoded(), *two.encoded()]))
        assert at_once(joined) == plain


@given(moves, st.data())
def test_a_session_split_at_any_line_is_one_thread(some, data):
    lines = Talk(ONE).play(some).encoded()
    cut = data.draw(st.integers(1, max(1, len(lines) - 1)))
    with Room() as room:
        whole = at_once(Talk(ONE).play(some).write(room))
        one, two = room / "part one.jsonl", room / "part two.jsonl"
        one.write_bytes(b"".join(lines[:cut]))
        two.write_bytes(b"".join(lines[cut:]))
        assert at_once(one, two) == whole
        assert at_once(two, one) == whole


@given(moves, moves, moves)
def test_a_family_is_the_same_in_any_order(shared, of_parent, of_child):
    with Room() as room:
        parent = Talk(ONE).play([*shared, "answer"])
        child = parent.copy(TWO).play(["ask", "answer", *of_child])
        grandchild = child.copy(THREE).play(["ask", "answer"])
        parent.play(of_parent)
        files = [one.write(room) for one in (parent, child, grandchild)]
        plain = at_once(*files)
        assert at_once(*reversed(files)) == plain
        assert told(*files) == plain
        assert told(*reversed(files)) == plain
        assert told(files[1], files[2], files[0]) == plain
        assert told(files[2], files[0], files[1]) == plain
