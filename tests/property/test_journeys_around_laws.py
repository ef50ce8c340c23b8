"""Looking for Journeys around what changed finds what a look over the whole store finds."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore import open_store
from ingest.derive import Derivation
from ingest.link.journeys import LEAST_LINEAGES
from tests.fake_derive import NOW
from tests.talk import a_thread, record_of

ASKED = (
    "What stops the escape wheel after every spring tide?",
    "Why does the escape wheel stop after the spring tide?",
    "How does salt film reach the hall sensor?",
    "Where does the oak post meet the quay wall?",
)
SAID = (
    "> The escape wheel is dry. Spring tide or not.",
    "> The salt film creeps along the hall sensor.",
    "I chose the escape wheel of brass.",
    "Blocked: the hall sensor waits for the salt film.",
    "thanks, the escape wheel works now",
)
EXAMPLES = max(3, settings().max_examples // 25)  # each walks a store several times

opening = st.sampled_from(ASKED)
steps = st.lists(
    st.tuples(st.integers(0, 4), st.one_of(opening, st.sampled_from(SAID))),
    min_size=3,
    max_size=7,
)


def record(place, texts):
    return record_of(a_thread(f"t{place}", *texts, day=place))


@settings(max_examples=EXAMPLES, deadline=None)
@given(first=st.lists(opening, min_size=5, max_size=5), grown=steps)
def test_around_a_changed_thread_as_over_the_whole_store(first, grown):
    derive = Derivation()
    said = {place: [text] for place, text in enumerate(first)}
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder), derive) as store:
        with store.deferred():
            for place, texts in said.items():
                store.commit(record(place, texts), NOW)
            epoch = derive.epoch(store.threads(), store.roots())
            store.commit(epoch, NOW)
        for begun in derive.journeys(store.ground(), (), epoch):
            store.commit(begun, NOW)
        for place, text in grown:
            said[place].append(text)
            store.commit(record(place, said[place]), NOW)
            whole = derive.journeys(store.ground(), store.journey_records(), epoch)
            around = derive.journeys(
                *store.around([record(place, [text]).thread_id], LEAST_LINEAGES), epoch
            )
            assert around == whole
            for found in whole:
                store.commit(found, NOW)
