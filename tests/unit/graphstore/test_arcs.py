"""Arcs: what follows from six lines, over all 64 states."""

from itertools import product

import pytest

from graphstore.model.arcs import (
    ARCS,
    Arc,
    distance,
    likeness,
    named,
    needs_anchor,
    of_bits,
    of_lines,
    relation,
)


def route(*names: str) -> list[Arc]:
    found = [named(name) for name in names]
    assert all(found)
    return [arc for arc in found if arc is not None]


class TestTable:
    def test_each_of_the_64_states_stands_once(self) -> None:
        bits = {"".join(each) for each in product("01", repeat=6)}
        assert {arc.bits for arc in ARCS} == bits
        assert len({arc.name for arc in ARCS}) == 64
        assert [arc.number for arc in ARCS] == list(range(1, 65))

    def test_a_state_is_found_by_name_and_by_lines(self) -> None:
        for arc in ARCS:
            assert named(arc.name) is arc
            assert of_bits(arc.bits) is arc
            assert of_lines([bit == "1" for bit in arc.bits]) is arc

    @pytest.mark.parametrize("word", ["unmapped", "", "Qian", "heaven"])
    def test_no_other_word_names_a_state(self, word: str) -> None:
        assert named(word) is None

    def test_trigrams_of_a_known_state(self) -> None:
        zhun = ARCS[2]
        assert (zhun.lower, zhun.upper) == ("thunder", "water")


class TestOperations:
    def test_known_derivations_of_the_third_state(self) -> None:
        third = ARCS[2]
        assert third.opposite.number == 50
        assert third.reverse.number == 4
        assert third.nuclear.number == 23
        assert third.changed(3).number == 63

    def test_opposite_reverse_and_change_undo_themselves(self) -> None:
        for arc in ARCS:
            assert arc.opposite.opposite is arc
            assert arc.reverse.reverse is arc
            assert all(arc.changed(line).changed(line) is arc for line in range(1, 7))
            assert len({arc.changed(line) for line in range(1, 7)}) == 6

    def test_twenty_orbits(self) -> None:
        orbits = {arc.orbit for arc in ARCS}
        sizes = sorted(len(orbit) for orbit in orbits)
        assert sizes == [2] * 8 + [4] * 12
        assert sum(sizes) == 64

    def test_nuclear_ends_in_three_places(self) -> None:
        ends: dict[frozenset[int], int] = {}
        for arc in ARCS:
            last = arc
            for _ in range(8):
                last = last.nuclear
            end = frozenset({last.number, last.nuclear.number})
            ends[end] = ends.get(end, 0) + 1
        assert ends == {frozenset({1}): 16, frozenset({2}): 16, frozenset({63, 64}): 32}


class TestRelations:
    def test_distance_counts_lines(self) -> None:
        assert distance(ARCS[0], ARCS[1]) == 6
        assert all(distance(arc, arc.changed(2)) == 1 for arc in ARCS)

    def test_the_closest_relation_is_named(self) -> None:
        third = ARCS[2]
        assert relation(third, third) == "same"
        assert relation(third, ARCS[49]) == "same_orbit"
        assert relation(third, third.changed(3)) == "adjacent"
        assert relation(ARCS[0], ARCS[10]) == "different"

    def test_relations_are_symmetric(self) -> None:
        assert all(relation(a, b) == relation(b, a) for a in ARCS for b in ARCS)


class TestAnchor:
    @pytest.mark.parametrize(
        ("names", "due"),
        [
            ([], False),
            (["qian"], False),
            (["qian", "gou"], False),
            (["qian", "pi"], True),  # three lines between the ends
            (["qian", "gou", "qian", "gou", "qian", "gou", "qian"], True),  # six lines on the way
            (["qian", "gou", "qian", "gou", "qian", "gou"], False),
            (["kun", "fu", "lin", "shi"], True),  # four states
        ],
    )
    def test_is_due_far_long_or_manifold(self, names: list[str], *, due: bool) -> None:
        assert needs_anchor(route(*names), is_reopened=False) is due
        assert needs_anchor(route(*names), is_reopened=True) is False


class TestLikeness:
    walk = ("zhun", "jiji", "qian", "kun", "tai", "fu", "li", "kan", "gen", "dui")

    def test_a_twin_fires(self) -> None:
        found = likeness(route(*self.walk), route(*self.walk), "a b")
        assert found is not None
        assert found.score == 1.0
        assert found.fires

    def test_the_same_states_in_another_order_do_not(self) -> None:
        found = likeness(route(*self.walk), route(*reversed(self.walk)), "a b")
        assert found is not None
        assert not found.fires

    def test_standing_still_alike_says_nothing(self) -> None:
        found = likeness(route(*["qian"] * 6), route(*["qian"] * 6), "a b")
        assert found is not None
        assert found.score == 1.0
        assert not found.fires

    def test_short_routes_are_not_compared(self) -> None:
        assert likeness(route(*self.walk[:3]), route(*self.walk), "a b") is None

    def test_a_seed_decides_nothing_but_the_shuffles(self) -> None:
        one, other = route(*self.walk), route(*self.walk[1:])
        first = likeness(one, other, "a b")
        assert first == likeness(one, other, "a b")
        again = likeness(one, other, "c d")
        assert first is not None
        assert again is not None
        assert first.score == again.score

    def test_shares_are_of_the_shorter_route(self) -> None:
        found = likeness(route(*self.walk), route(*self.walk[:4]), "a b")
        assert found is not None
        assert (found.upper, found.lower, found.change, found.nuclear) == (1, 1, 1, 1)
