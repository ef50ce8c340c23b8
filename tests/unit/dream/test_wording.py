"""Words of turns become quotes that carry no markup, no link and no closing quote mark."""

from datetime import UTC, datetime

import pytest

from dream.wording import (
    clip,
    closing,
    content_words,
    cut,
    day,
    listed,
    plural,
    quote,
    share,
    since,
)


def test_a_cut_ends_at_a_blank():
    assert cut("one two three", 12) == "one two…"


def test_a_text_without_blanks_is_cut_where_it_must_be():
    assert cut("很" * 30, 10) == "很" * 9 + "…"


def test_a_short_text_stays_as_it_is():
    assert cut("one two", 7) == "one two"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("a\n  b", "a b"),
        ('say "yes"', "say 'yes'"),
        ("<script>x</script>", "\u2039script>x\u2039/script>"),
        ("<!-- x -->", "\u2039!-- x -->"),
        ("a < b", "a < b"),
        ("[here](https://a.example/b)", "[here] (a.example/b)"),
        ("see file:///etc/x and javascript:go", "see /etc/x and go"),
    ],
)
def test_a_quote_carries_no_markup(said, shown):
    assert quote(said) == shown


def test_a_clip_shows_the_mention():
    text = "start " * 100 + "the hall sensor " + "end " * 100
    assert "hall sensor" in clip(text, "Hall Sensor", 60)
    assert clip(text, "Hall Sensor", 60).startswith("…")
    assert clip(text, "Hall Sensor", 60).endswith("…")


def test_a_clip_without_mention_shows_the_beginning():
    assert clip("one two three four", "", 10) == "one two…"
    assert clip("one two three four", "five", 10) == "one two…"


def test_a_clip_at_the_end_has_no_second_ellipsis():
    assert clip("one two three four", "four", 11) == "…three four"


def test_a_clip_of_a_text_without_blanks_is_not_empty():
    assert clip("很" * 50 + "盐" + "很" * 50, "盐", 10) == "…" + "很" * 3 + "盐" + "很" * 6 + "…"


def test_a_short_text_is_not_clipped():
    assert clip("one", "one", 10) == "one"


def test_counts_agree_with_their_nouns():
    assert [plural(n, "turn") for n in (0, 1, 2)] == ["0 turns", "1 turn", "2 turns"]


def test_an_unknown_day_is_said():
    assert day(None) == "an unknown day"
    assert day(datetime(2026, 1, 2, 23, tzinfo=UTC)) == "2026-01-02"


def test_labels_are_listed_in_quotes():
    assert listed(("a",)) == '"a"'
    assert listed(("a", "b", "c")) == '"a", "b" and "c"'


def test_content_words_are_long_and_folded():
    assert content_words("The Salt-Film on 12 sensors") == {"sensors"}


def test_a_script_without_blanks_counts_in_pairs():
    assert content_words("盐膜层") == {"盐膜", "膜层"}


def test_a_share_is_capped():
    assert [share(x, 4) for x in (-1, 0, 2, 9)] == [0.0, 0.0, 0.5, 1.0]


def test_an_unknown_beginning_is_left_out():
    assert since(None) == ""
    assert since(datetime(2026, 1, 5, tzinfo=UTC)) == " since 2026-01-05"


def test_a_closing_quote_brings_one_full_stop():
    assert closing("It holds.") == '"It holds."'
    assert closing("It holds") == '"It holds".'
    assert closing("Does it hold?") == '"Does it hold?"'
