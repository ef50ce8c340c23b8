"""The report says what there is, marks what was dreamt, and lets no words act as markup."""

from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from export import TargetExists
from export.report import (
    HypothesisLine,
    JourneyLine,
    LossLine,
    ProposalLine,
    QuestionLine,
    ReportView,
    SeedLine,
    ThreadLine,
    escape_markdown,
    markdown,
    page,
    sections,
    write_report,
)
from graphstore.model.record import Count

THEN = datetime(2025, 12, 1, 9, tzinfo=UTC)
REF = "thread:notes:1#turn:2"
EVIL = '<script>alert("x")</script> [a](javascript:b) `c` *d*\n# e'
FULL = ReportView(
    counts=(Count(name="threads", count=3),),
    since=THEN,
    new=(Count(name="questions", count=2),),
    threads=(ThreadLine(thread_id="notes:1", source="notes", title=EVIL, last=THEN),),
    questions=(
        QuestionLine(question_id="q:1", text="Why?", askings=1, threads=2, refs=(REF,), last=None),
    ),
    journeys=(
        JourneyLine(
            journey_id="j:1",
            label="valve",
            status="camped",
            inquiry="Why does it stick?",
            frontier="Measured once.",
            waypoints=3,
            last=THEN,
            refs=(REF,),
        ),
    ),
    seeds=(
        SeedLine(
            seed_id="s:1",
            shape="weak_bridge",
            provenance="computed",
            sentence="One link only.",
            is_new=True,
            refs=(REF,),
        ),
    ),
    hypotheses=(
        HypothesisLine(
            hypothesis_id="h:1",
            function="active_imagination",
            standing="review_due",
            title="One valve",
            summary="Both turn.",
            points=30,
            counter_evidence=0,
            review_after=THEN,
            next_check="user_probe",
            refs=(REF,),
        ),
    ),
    proposals=(ProposalLine(revision_id="r:1", text="Measure first.", refs=(REF,)),),
    losses=(LossLine(code="bad_line", count=4, detail="2 files"), LossLine(code="empty", count=1)),
    explorer="clew.html",
)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.links += [value for name, value in attrs if name == "href"]


def test_every_part_has_its_section_in_order():
    assert [section.title for section in sections(FULL)] == [
        "In the store",
        "New",
        "Open questions that come back",
        "Journeys and where they stand",
        "Seeds",
        "Hypotheses",
        "Playbook proposals",
        "Data losses of the last ingest",
    ]


def test_an_empty_section_says_why_in_both_renderings():
    for section in sections(ReportView()):
        assert section.entries == ()
        assert section.nothing in markdown(ReportView())
        assert section.nothing in page(ReportView())


def test_hypotheses_are_marked_with_standing_counter_evidence_and_review_date():
    for text in (markdown(FULL).replace("\\", ""), page(FULL)):
        assert text.count("Hypothesis, not source") == 2
        for words in ("review due", "counter-evidence: 0", "review after 2025-12-01", "user probe"):
            assert words in text


def test_refs_link_into_the_explorer():
    tags = Tags()
    tags.feed(page(FULL))
    assert "clew.html#thread%3Anotes%3A1%23turn%3A2" in tags.links
    assert f"[`{REF}`](clew.html#thread%3Anotes%3A1%23turn%3A2)" in markdown(FULL)


def test_without_an_explorer_refs_are_plain():
    bare = FULL.replace(explorer=None)
    assert "](" not in markdown(bare).replace("\\]", "")
    assert "<a " not in page(bare)


def test_hostile_words_stay_words():
    tags = Tags()
    tags.feed(page(FULL))
    assert "script" not in tags.seen
    assert all(link.startswith("clew.html#") for link in tags.links)
    text = markdown(FULL)
    assert "<script" not in text.replace("\\<", "")
    assert "\n# e" not in text


@pytest.mark.parametrize(
    ("given", "kept"),
    [("- a list", "\\- a list"), ("1. one", "\\1. one"), ("a_b*c", "a\\_b\\*c"), ("a\n\nb", "a b")],
)
def test_markdown_words_are_escaped(given, kept):
    assert escape_markdown(given) == kept


def test_the_same_view_gives_the_same_bytes():
    assert markdown(FULL) == markdown(FULL.replace())
    assert page(FULL) == page(FULL.replace())


def test_writes_both_and_does_not_overwrite(tmp_path):
    paths = (tmp_path / "report.md", tmp_path / "report.html")
    assert [write_report(FULL, path).format for path in paths] == ["markdown", "html"]
    assert paths[0].read_text("utf-8") == markdown(FULL)
    assert paths[1].read_text("utf-8") == page(FULL)
    with pytest.raises(TargetExists):
        write_report(FULL, paths[0])
    assert write_report(FULL, paths[0], force=True).size == paths[0].stat().st_size
