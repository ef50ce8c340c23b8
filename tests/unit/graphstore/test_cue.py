"""Reading a cue: the words that count, the days named, the speaker meant."""

from datetime import UTC, datetime

import pytest

from graphstore.queries.cue import (
    content_words,
    in_latin,
    role_meant,
    spans,
    speakers_meant,
    without_times,
    words_of,
)

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)


def day(year, month, of_month):
    return datetime(year, month, of_month, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cue", "start", "end"),
    [
        ("what broke on 2025-06-03", day(2025, 6, 3), day(2025, 6, 4)),
        ("anything from 2025-12?", day(2025, 12, 1), day(2026, 1, 1)),
        ("notes of 3 June 2025", day(2025, 6, 3), day(2025, 6, 4)),
        ("notes of the 3rd of June, 2025", day(2025, 6, 3), day(2025, 6, 4)),
        ("notes of June 3rd, 2025", day(2025, 6, 3), day(2025, 6, 4)),
        ("in Sept. 2025", day(2025, 9, 1), day(2025, 10, 1)),
        ("the plan we had in 2024", day(2024, 1, 1), day(2025, 1, 1)),
        ("last March", day(2025, 3, 1), day(2025, 4, 1)),
        ("this January", day(2026, 1, 1), day(2026, 2, 1)),
        ("2025年6月3日", day(2025, 6, 3), day(2025, 6, 4)),
        ("2025年6月", day(2025, 6, 1), day(2025, 7, 1)),
        ("yesterday", day(2026, 1, 14), day(2026, 1, 15)),
        ("today", day(2026, 1, 15), day(2026, 1, 16)),
        ("last week", day(2026, 1, 1), day(2026, 1, 16)),
        ("this month", day(2025, 12, 16), day(2026, 1, 16)),
        ("two weeks ago", day(2025, 12, 29), day(2026, 1, 5)),
        ("10 days ago", day(2026, 1, 5), day(2026, 1, 6)),
    ],
)
def test_a_cue_names_a_time(cue, start, end):
    (found,) = spans(cue, NOW, (2025,))
    assert (found.start, found.end) == (start, end)


def test_a_month_without_a_year_means_each_year_at_hand():
    found = spans("what happened in May", NOW, (2024, 2023))
    assert [span.start for span in found] == [day(2023, 5, 1), day(2024, 5, 1)]


@pytest.mark.parametrize(
    "cue", ["may I march on", "2025-13-40", "version 3.11", "on 30 February 2025"]
)
def test_other_words_and_impossible_days_name_no_time(cue):
    assert spans(cue, NOW, (2025,)) == ()


def test_times_are_taken_out_and_verbs_stay():
    assert without_times("may we march on 3 June 2025 or yesterday").split() == [
        *("may", "we", "march", "on", "or"),
    ]


def test_a_time_named_twice_counts_once():
    assert len(spans("2025-06 or June 2025", NOW)) == 1


def test_talk_about_a_day_is_likely_from_two_days_before_to_six_after():
    (found,) = spans("2025-06-10", NOW)
    (near, wide) = found.bounds()
    assert near == (day(2025, 6, 8).timestamp(), day(2025, 6, 17).timestamp())
    assert wide == (day(2025, 5, 31).timestamp(), day(2025, 7, 12).timestamp())


@pytest.mark.parametrize(
    ("cue", "role"),
    [
        ("what did I ask about tides", "human"),
        ("I wanted a lamp", "human"),
        ("what did you suggest for the roof", "assistant"),
        ("the assistant recommended a seal", "assistant"),
        ("how do tides work", None),
    ],
)
def test_the_role_whose_words_are_wanted(cue, role):
    assert role_meant(cue) == role


def test_a_speaker_is_meant_when_all_of_the_name_is_said():
    assert speakers_meant("what did Ines paint", ["Ines", "Ines Roy", "Bo"]) == ("Ines",)
    assert speakers_meant("what did ines roy paint", ["Ines Roy", "..."]) == ("Ines Roy",)


@pytest.mark.parametrize(
    ("cue", "words"),
    [
        ("what did Ines paint on the wall?", "paint wall"),
        ("who is Ines", "Ines"),
        ("what is it", "what is it"),
        ("\U0001f600 ?!", "\U0001f600 ?!"),
    ],
)
def test_content_words_fall_back_to_names_then_to_all(cue, words):
    assert content_words(cue, ("Ines",)) == words


@pytest.mark.parametrize(
    ("text", "latin"),
    [
        ("why did the lamp go out", True),
        ("Größe für Öl", True),
        ("đèn hải đăng tắt", True),
        ("2024", True),
        ("灯塔 lamp", True),
        ("灯塔的灯 lamp", True),
        ("灯塔的灯为什么熄灭 lamp", False),
        ("दीपक क्यों", False),
        ("маяк", False),
    ],
)
def test_the_script_of_a_cue_is_that_of_half_its_letters(text, latin):
    assert in_latin(text) is latin


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("दीपक क्यों बुझ गया?", ["दीपक", "क्यों", "बुझ", "गया"]),
        ("snake_case it's", ["snake", "case", "it", "s"]),
        ("cafe\u0301 cre\u0300me", ["cafe\u0301", "cre\u0300me"]),
        ("ประภาคาร ดับ", ["ประภาคาร", "ดับ"]),
        ("?! ...", []),
    ],
)
def test_marks_belong_to_their_words(text, words):
    assert words_of(text) == words
