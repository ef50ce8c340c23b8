"""Which concepts are too common to tell anything."""

import pytest

from graphstore.model import hubs


def ordinary(frequencies):
    return [(df, False) for df in frequencies]


@pytest.mark.parametrize(
    ("lineages", "limit"), [(0, 5), (8, 5), (20, 5), (21, 6), (40, 10), (200, 50), (4000, 50)]
)
def test_limit_of_a_small_vocabulary_is_a_quarter_of_the_lineages_up_to_fifty(lineages, limit):
    assert hubs.hub_limit(ordinary([1, 2, 3]), lineages) == limit


def test_limit_of_a_large_vocabulary_is_its_quantile():
    frequencies = [1] * 900 + list(range(1, 101))  # 995 thousandths lie at 95 or below
    assert hubs.hub_limit(ordinary(frequencies), 4000) == 95


def test_quantile_never_lowers_the_limit_and_a_quarter_still_caps_it():
    assert hubs.hub_limit(ordinary([1] * 2000), 4000) == 50
    assert hubs.hub_limit(ordinary([1] * 900 + [60] * 200), 100) == 25


def test_hubs_do_not_move_the_limit_that_finds_them():
    frequencies = [1] * 900 + list(range(1, 101))
    before = hubs.hub_limit(ordinary(frequencies), 4000)
    assert hubs.hub_limit(ordinary([*frequencies, *[1001] * 500]), 4000) == before
    listed = [(400, True)] * 500
    assert hubs.hub_limit([*ordinary(frequencies), *listed], 4000) == before
    assert hubs.hub_limit([*ordinary([0] * 5000), *ordinary(frequencies)], 4000) == before


def test_generic_is_listed_or_above_the_limit():
    assert hubs.is_generic(1, 5, listed=True)
    assert hubs.is_generic(6, 5, listed=False)
    assert not hubs.is_generic(5, 5, listed=False)


def test_stop_list_folds_labels_and_skips_comments():
    text = "# words\nFile  # too common\n\n  STRASSE\nÉtat\n"
    assert hubs.read_stop_list(text) == {"file", "strasse", "e\u0301tat".replace("e\u0301", "é")}
    assert hubs.fold("E\u0301TAT") == "état"


def test_shipped_stop_list_holds_folded_everyday_labels():
    labels = hubs.stop_list()
    assert 150 <= len(labels) <= 400
    assert {"file", "code", "question", "thank you"} <= labels
    assert all(hubs.fold(label) == label for label in labels)


def test_stop_fingerprint_depends_on_the_labels_alone():
    assert hubs.stop_fingerprint(["b", "a"]) == hubs.stop_fingerprint(("a", "b"))
    assert hubs.stop_fingerprint(["a"]) != hubs.stop_fingerprint(["a", "b"])
