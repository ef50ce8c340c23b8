from datetime import UTC, datetime

from graphstore.model.record import ReviewRecord
from graphstore.said import APART, DIFFERENT, MERGED, SAME, UNSAID, Said, said

AT = datetime(2026, 1, 1, tzinfo=UTC)


def words(*acts: tuple[str, ...]) -> Said:
    return said(ReviewRecord(act=act, target=ends[0], other="".join(ends[1:]) or None, at=AT)
                for act, *ends in acts)  # fmt: skip


def test_a_pair_has_one_word_whoever_comes_first():
    found = words((SAME, "q:2", "q:1"), (DIFFERENT, "q:1", "q:2"), (SAME, "q:3", "q:1"))
    assert found.pairs == {("q:1", "q:2"): False, ("q:1", "q:3"): True}
    assert list(found.same) == [("q:1", "q:3")]
    assert words((SAME, "q:1", "q:2"), (UNSAID, "q:2", "q:1")) == Said()


def test_a_merge_leads_on_to_the_end():
    found = words((MERGED, "c:1", "c:2"), (MERGED, "c:2", "c:3"))
    assert found.concepts(["c:2", "c:1", "c:4"]) == ("c:3", "c:4")
    assert words((MERGED, "c:1", "c:2"), (MERGED, "c:2", "c:3"), (APART, "c:1")).concept("c:1") == (
        "c:1"
    )


def test_no_merge_leads_back_to_itself():
    found = words((MERGED, "c:1", "c:2"), (MERGED, "c:2", "c:1"))
    assert found.merged == {"c:1": "c:2"}


def test_other_acts_say_nothing_here():
    assert words(("approve", "h:1"), (SAME, "q:1"), (MERGED, "c:1")) == Said()


def test_what_changed_names_what_stood_there_before():
    before = words((MERGED, "c:1", "c:2"), (SAME, "q:1", "q:2"), (SAME, "q:1", "q:3"))
    now = words((MERGED, "c:2", "c:3"), (SAME, "q:1", "q:2"), (DIFFERENT, "q:1", "q:3"))
    assert now.other_concepts(before) == {"c:2"}
    assert now.other_pairs(before) == {("q:1", "q:3")}
    assert now.other_concepts(now) == set()
    assert now.other_pairs(now) == set()
