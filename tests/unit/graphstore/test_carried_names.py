"""Names that threads carry in their headings."""

import numpy as np

from graphstore.carried import carriers

NOBODY = ((), ())


def count(labels, headings, said=NOBODY, lineages=None):
    threads = len(headings[0])
    of = np.arange(threads) if lineages is None else np.array(lineages)
    thread, concept = (np.array(column, np.int64) for column in said)
    return carriers(labels, headings, (thread, concept), of).tolist()


def test_a_name_is_carried_where_every_word_of_it_stands_in_a_heading():
    headings = [["reef-tool"] * 7, ["~/land/tide"] * 6 + [None]]
    labels = ["Reef Tool", "reef", "reefs/tide", "tide clock", "tool-land-tide", "--"]
    assert count(labels, headings) == [7, 7, 6, 0, 6, 0]


def test_lists_of_people_and_models_are_headings_too():
    headings = [["a"] * 6, [("sol-4", "luna")] * 6, [()] * 6]
    assert count(["sol", "Luna", "terra"], headings) == [6, 6, 0]


def test_few_carriers_say_nothing():
    assert count(["reef"], [["reef"] * 5]) == [0]
    assert count(["reef"], [["reef"] * 6]) == [6]


def test_threads_of_one_lineage_carry_a_name_once_and_others_not_at_all():
    assert count(["reef"], [["reef"] * 9], lineages=[0, 0, 0, 1, 2, 3, 4, 5, -1]) == [6]


def test_folders_of_the_files_that_a_thread_names_are_carried_but_not_the_files():
    labels = ["pkg/reef/a.go", "pkg\\b.go", "pkg", "a", "c/d.go"]
    threads = list(range(8))
    said = ([*threads[:7], 7, 0], [*[0] * 4, *[1] * 3, 4, 2])
    assert count(labels, [[None] * 8], said) == [0, 0, 7, 0, 0]


def test_without_files_and_headings_nothing_is_carried():
    assert count(["reef", "tide"], [[None], [None]]) == [0, 0]
    assert count([], [[]]) == []
