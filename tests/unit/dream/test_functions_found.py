"""Dream functions are found, asked for their rules, and offered what they want."""

import pytest

from dream import functions
from dream.functions import load, names, place, rules_of, wanting
from graphstore.errors import UnknownFunction
from graphstore.model.hypothesis import HYPOTHESES


def test_the_installed_functions_stand_in_their_order():
    assert names() == ("compensatory", "amplification", "prospective", "active_imagination")
    assert place("compensatory") < place("amplification") < place("someone_elses")


def test_an_unknown_function_is_named_with_the_known_ones():
    with pytest.raises(UnknownFunction, match="compensatory, amplification, prospective"):
        load("prophecy")


def test_an_unknown_function_has_no_rules():
    assert rules_of("prophecy") == ()
    assert "blind_spot" in rules_of("compensatory")


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        (("cycle", "seed"), ("compensatory",)),
        (("weak_bridge", "seed"), ("amplification",)),
        ((None, "question_link"), ("compensatory", "amplification")),
        ((None, "journey"), ("compensatory", "amplification", "prospective")),
        (("island", "seed"), ("prospective",)),
        (("missing_middle", "seed"), ("compensatory", "active_imagination")),
        (("knot", "seed"), ("active_imagination", "amplification")),
        ((None, "theme", "process_note"), ("amplification", "prospective")),
        ((None, "theme", "affect"), ("amplification", "active_imagination")),
        (("shadow_route", "seed"), ()),
    ],
)
def test_each_focus_goes_to_who_wants_it(kinds, wanted):
    assert wanting(*kinds) == wanted


@pytest.mark.parametrize("name", functions.names())
def test_every_function_keeps_the_contract(name):
    module = load(name)
    assert name == module.NAME
    assert module.EDGE in {kind.TABLE for kind in HYPOTHESES}
    assert module.INSTRUCTIONS
    assert len(set(module.RULES)) == len(module.RULES)
