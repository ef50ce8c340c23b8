"""Cutting a text to the part that matters."""

from hypothesis import given
from hypothesis import strategies as st

from graphstore.queries.clip import around, start_of

FILLER = "water under the bridge and over the weir " * 20


def test_a_short_text_stays_whole_with_its_white_space_folded():
    assert around("one\n\n two", ["one"]) == "one two"


def test_the_stretch_where_most_terms_stand_is_kept():
    text = "lamp " + FILLER + "the lamp oil was spilled " + FILLER + " oil"
    clip = around(text, ["lamp", "oil", "spill"], 120)
    assert "lamp oil was spilled" in clip
    assert clip.startswith("\u2026")
    assert clip.endswith("\u2026")


def test_a_stem_of_y_is_found_where_the_word_begins():
    clip = around(FILLER + "three cities burned " + FILLER, ["citi"], 80)
    assert "cities" in clip


def test_a_stem_inside_another_word_does_not_count():
    text = "scar " * 3 + FILLER + "the car stopped " + FILLER
    assert "the car" in around(text, ["car"], 80)


def test_chinese_pairs_are_found_anywhere():
    assert "缓存" in around("天" * 400 + "缓存" + "地" * 400, ["缓存"], 60)


def test_without_a_term_the_beginning_is_kept():
    assert around(FILLER, ["nothing"], 40).startswith("water under")
    assert start_of(FILLER, 40).startswith("water under")


@given(text=st.text(max_size=400), terms=st.lists(st.text(min_size=1, max_size=4), max_size=4))
def test_a_clip_is_never_longer_than_asked_and_its_marks(text, terms):
    assert len(around(text, terms, 50)) <= 52
