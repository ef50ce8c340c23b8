"""A thread that is derived again as it grows gives what it gives when it is new."""

from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.model.record import Count, EpochRecord
from ingest.derive import Derivation
from tests.talk import a_thread

TURNS = (
    "What stops the escape wheel after every spring tide?",
    "why does the escape wheel stop at spring tide",
    "Fix the **winding drum** in `cad/drum.scad` and in drum.scad.",
    "# winding drum\nThe winding drum needs a Float Line.",
    "> The **escape wheel** is dry, the spring tide leads to salt film.",
    "> See `sim/escapement.py`, it calls `wind_up()`.",
    "> Because the winding drum needs a float line instead of the oak post.",
    "That worked, thanks.",
    "Blocked: waiting for the mason and the oak post.",
    "ValueError: bad drum 12",
)
EPOCH = EpochRecord(
    extractor="test",
    lineages=6,
    concept_df=tuple(
        Count(name=name, count=3)
        for name in ("escape wheel", "float line", "oak post", "salt film", "winding drum")
    ),
)


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(TURNS), min_size=2, max_size=9),
    st.lists(st.integers(1, 9), min_size=2, max_size=5),
)
def test_what_grew_is_what_is_new(turns, lengths):
    """Lengths go up and down: a turn may be taken back."""
    growing = Derivation()
    for length in lengths:
        thread = a_thread("one", *turns[:length], touched={1: ["/w/cad/drum.scad"]}, project="/w")
        assert growing.facts(thread, EPOCH) == Derivation().facts(thread, EPOCH)


def test_rows_that_stay_equal_are_the_same_objects():
    derive = Derivation()
    said = ["Why does the escape wheel stop?", "> The escape wheel is dry.", "The oak post is old."]
    made = [
        {(row.src, row.dst): row for row in derive.facts(a_thread("one", *texts), EPOCH).mentions}
        for texts in (said[:1], said[:2], said)
    ]
    same = [key for key in made[1].keys() & made[2].keys() if made[1][key] == made[2][key]]
    assert same
    assert all(made[1][key] is made[2][key] for key in same)
