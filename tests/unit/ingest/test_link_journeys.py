from dataclasses import replace

import pytest

from graphstore.derivation import Ground
from graphstore.ids import journey_id
from graphstore.model.knowledge import JourneyStatus
from graphstore.model.record import EpochRecord, JourneyRecord
from ingest.derive import Derivation
from ingest.extract.figures import figures
from ingest.link.ground import known
from ingest.link.journeys import Found, find, standings
from ingest.link.questions import Index
from ingest.link.themes import concept_themes, question_clusters
from tests.talk import a_thread, derived

CORE = "What stops the escape wheel after every spring tide?"
ANSWER = "> The escape wheel is dry. Spring tide or not."
OTHER = (
    a_thread("x", "The oak post is old.", "> Yes."),
    a_thread("y", "An oak post wants oil.", "> Yes."),
)


def told(*threads) -> tuple[Ground, EpochRecord]:
    return derived((*threads, *OTHER))


def three(*last: str):
    return (
        a_thread("a", CORE, ANSWER, "I chose the escape wheel of brass.", day=0),
        a_thread("b", CORE, ANSWER, "Blocked: the escape wheel waits for the mason.", day=20),
        a_thread("c", CORE, ANSWER, *last, day=40),
    )


def begun(*last: str) -> tuple[Ground, EpochRecord, JourneyRecord]:
    ground, epoch = told(*three(*last))
    (record,) = find(ground, (), epoch).records
    return ground, epoch, record


def test_begins_where_three_lineages_ask():
    _, _, record = begun()
    assert record.core_inquiry == CORE
    assert record.path_label == "escape wheel, spring tide"
    assert record.status is JourneyStatus.TRAVELING
    assert record.reason == "created"
    assert record.journey_id == journey_id(CORE, "thread:test:a#turn:1")
    assert [(stop.refs, stop.labels) for stop in record.stops] == [
        (("thread:test:a#turn:1",), ("asking",)),
        (("thread:test:a#turn:3",), ("decision",)),
        (("thread:test:b#turn:1",), ("asking",)),
        (("thread:test:b#turn:3",), ("frontier",)),
        (("thread:test:c#turn:1",), ("asking",)),
    ]
    assert [stop.seq for stop in record.stops] == [1, 2, 3, 4, 5]
    assert record.stops[3].frontier_hint == "Blocked: the escape wheel waits for the mason."
    assert record.stops[0].frontier_hint is None
    assert {stop.arc for stop in record.stops} == {"unmapped"}


def reasons(found: Found) -> dict[str, int]:
    return {row.name: row.count for row in found.failures}


def test_two_askings_are_too_few_waypoints():
    ground, epoch = told(*three()[:1], a_thread("b", CORE))
    short = [a_thread("a", CORE, ANSWER), a_thread("b", CORE, ANSWER)]
    ground, epoch = told(*short)
    found = find(ground, (), epoch)
    assert found.records == ()
    assert reasons(found) == {"not_enough_waypoints": 1}


def test_one_lineage_is_too_few_threads():
    threads = (*three(), *OTHER)
    roots = {one.thread_id: one.thread_id for one in threads}
    roots |= {"test:b": "test:a", "test:c": "test:a"}
    ground, epoch = derived(threads, roots)
    found = find(ground, (), epoch)
    assert found.records == ()
    assert reasons(found) == {"not_enough_threads": 1}


def test_an_inquiry_about_one_thing_is_not_specific():
    talk = [a_thread(name, "Is it the oil again?", "> The oil, no.") for name in "abc"]
    found = find(*_first_two(told(*talk)))
    assert found.records == ()
    assert reasons(found) == {"inquiry_not_specific": 1}


def test_one_thing_with_two_names_is_not_specific():
    talk = [
        a_thread(name, "Is the escape wheel worn now?", "> Wheel. Wheel. Escape wheel.")
        for name in "abc"
    ]
    found = find(*_first_two(told(*talk)))
    assert found.records == ()
    assert reasons(found) == {"inquiry_not_specific": 1}


def _first_two(pair):
    ground, epoch = pair
    return ground, (), epoch


def test_silence_gives_nothing():
    ground, epoch = told(*(a_thread(name, "The escape wheel.", ANSWER) for name in "abc"))
    assert find(ground, (), epoch) == Found((), ())


def test_arrives_when_the_core_inquiry_is_answered_last():
    *_, record = begun("That worked, thanks.")
    assert record.status is JourneyStatus.ARRIVED
    assert record.stops[-1].labels == ("resolution",)


def test_travels_on_when_it_is_asked_after_the_answer():
    ground, epoch = told(
        a_thread("a", CORE, ANSWER, "That worked, thanks.", day=0),
        a_thread("b", CORE, ANSWER, day=9),
        a_thread("c", CORE, ANSWER, day=19),
    )
    (record,) = find(ground, (), epoch).records
    assert record.status is JourneyStatus.TRAVELING


def test_looking_again_records_nothing():
    ground, epoch, record = begun()
    assert find(ground, (record,), epoch).records == ()


def test_a_later_thread_appends_and_rewrites_nothing():
    _, _, record = begun()
    more = a_thread("d", CORE, ANSWER, "Deferred: the escape wheel, later on.", day=60)
    ground, epoch = told(*three(), more)
    (appended,) = find(ground, (record,), epoch).records
    assert appended.journey_id == record.journey_id
    assert appended.reason == "appended"
    assert [(stop.seq, stop.refs) for stop in appended.stops] == [
        (6, ("thread:test:d#turn:1",)),
        (7, ("thread:test:d#turn:3",)),
    ]
    assert (appended.path_label, appended.core_inquiry) == (record.path_label, CORE)
    assert find(ground, (record, appended), epoch).records == ()


def test_an_earlier_thread_is_appended_by_sequence():
    _, _, record = begun()
    ground, epoch = told(*three(), a_thread("0", CORE, ANSWER, day=-30))
    (appended,) = find(ground, (record,), epoch).records
    assert appended.journey_id == record.journey_id
    assert [stop.seq for stop in appended.stops] == [6]
    first, then = appended.stops[0].at, record.stops[0].at
    assert first is not None
    assert then is not None
    assert first < then


@pytest.mark.parametrize("status", [JourneyStatus.ARRIVED, JourneyStatus.ABANDONED])
def test_an_ended_journey_is_revived_by_a_new_asking_only(status):
    _, _, record = begun()
    ended = record.replace(status=status)
    moved = (
        *three()[:2],
        a_thread("c", CORE, ANSWER, "I chose the other escape wheel.", day=40),
    )
    ground, epoch = told(*moved)
    assert find(ground, (ended,), epoch).records == ()
    ground, epoch = told(*three(), a_thread("d", CORE, ANSWER, day=60))
    (revived,) = find(ground, (ended,), epoch).records
    assert (revived.status, revived.reason) == (JourneyStatus.TRAVELING, "revived")


def test_a_merged_journey_goes_on_in_its_target():
    _, _, record = begun()
    target = record.replace(journey_id="j:target", questions=(), stops=record.stops[:1])
    merged = record.replace(
        status=JourneyStatus.ABANDONED, merged_into="j:target", stops=(), reason="merge"
    )
    ground, epoch = told(*three(), a_thread("d", CORE, ANSWER, day=60))
    (appended,) = find(ground, (record, target, merged), epoch).records
    assert appended.journey_id == "j:target"
    assert appended.questions == record.questions


def test_a_circle_of_merges_ends():
    _, _, record = begun()
    one = record.replace(merged_into="j:two", status=JourneyStatus.ABANDONED)
    two = record.replace(journey_id="j:two", merged_into=one.journey_id, questions=())
    ground, epoch = told(*three(), a_thread("d", CORE, ANSWER, day=60))
    assert len(find(ground, (one, two), epoch).records) == 1


def test_an_answer_in_a_later_thread_arrives():
    _, _, record = begun()
    more = a_thread("d", CORE, ANSWER, "That worked, thanks.", day=60)
    ground, epoch = told(*three(), more)
    (appended,) = find(ground, (record,), epoch).records
    assert appended.status is JourneyStatus.ARRIVED


def test_standings_fold_in_order():
    _, _, record = begun()
    later = record.replace(status=JourneyStatus.ARRIVED, stops=(), concepts=(), questions=())
    folded = standings((record, later))[record.journey_id]
    assert folded.status is JourneyStatus.ARRIVED
    assert folded.last_seq == 5
    assert folded.questions == frozenset(record.questions)
    assert folded.concepts == record.concepts


def test_undated_threads_come_last():
    ground, epoch = told(*three()[1:], a_thread("0", CORE, ANSWER, dated=False))
    (record,) = find(ground, (), epoch).records
    assert record.stops[-1].at is None


RIBBON = (
    a_thread("a", "Is the vent stack to blame for the salt film?", "> A vent stack, salt film."),
    a_thread("b", "How do I keep the salt film off the stack?", "> The vent stack. Salt film."),
    a_thread("c", "Which vent stack is tall enough for us?", "> Vent stack. Salt film."),
    a_thread("d", "The oak post at the quay wall.", "> Yes."),
    a_thread("e", "The quay wall behind the oak post.", "> Yes."),
    a_thread("f", "The quay wall.", "> Yes."),
)


def test_different_questions_on_one_pair_of_concepts_are_a_theme():
    ground, epoch = told(*RIBBON)
    index = Index(known(ground, figures(epoch)), epoch)
    theme = concept_themes(ground, index, figures(epoch))[0]
    assert len(theme.questions) == 3
    assert len(theme.concepts) == 2
    (record,) = find(ground, (), epoch).records
    assert record.path_label == "vent stack, salt film"
    assert record.core_inquiry == "Is the vent stack to blame for the salt film?"
    assert find(ground, (record,), epoch).records == ()


def test_a_theme_of_concepts_goes_on_with_its_journey():
    ground, epoch = told(*RIBBON)
    (record,) = find(ground, (), epoch).records
    more = a_thread("n", "Should the vent stack be wider now?", "> Salt film. Vent stack.", day=9)
    ground, epoch = told(*RIBBON, more)
    (appended,) = find(ground, (record,), epoch).records
    assert appended.journey_id == record.journey_id
    assert [stop.refs for stop in appended.stops] == [("thread:test:n#turn:1",)]
    assert len(appended.questions) == 4


def test_a_question_asked_once_is_no_cluster():
    ground, epoch = told(a_thread("a", CORE, ANSWER))
    assert question_clusters(ground, Index(known(ground, figures(epoch)), epoch)) == ()


def test_derivation_gives_the_records_of_the_search():
    ground, epoch, record = begun()
    assert Derivation().journeys(ground, (), epoch) == (record,)


NARROW = (
    a_thread("a", "Does the vent stack need a new cap?", "> Vent stack: salt film."),
    a_thread("b", "How wide is a vent stack of oak?", "> The vent stack. Salt film."),
    a_thread("c", "Why is the vent stack at the quay wall wet?", "> Vent stack. Salt film."),
    *RIBBON[3:],
)


def labels(ground: Ground, concepts: tuple[str, ...]) -> list[str]:
    known_as = {one.concept_id: one.label for one in ground.concepts}
    return [known_as[name] for name in concepts]


def test_one_narrow_concept_that_three_threads_ask_about_is_a_theme():
    ground, epoch = told(*NARROW)
    index = Index(known(ground, figures(epoch)), epoch)
    (theme,) = concept_themes(ground, index, figures(epoch))
    assert labels(ground, theme.concepts) == ["vent stack"]
    assert concept_themes(replace(ground, mentions=()), index, figures(epoch)) == (theme,)
    (record,) = find(ground, (), epoch).records
    assert record.core_inquiry == "Why is the vent stack at the quay wall wet?"
    assert record.path_label == "vent stack, quay wall"


def test_one_narrow_concept_in_several_projects_is_none():
    apart = [one.replace(project=place) for one, place in zip(NARROW[:3], "pqr", strict=True)]
    ground, epoch = told(*apart, *NARROW[3:])
    index = Index(known(ground, figures(epoch)), epoch)
    assert concept_themes(ground, index, figures(epoch)) == ()


def test_a_narrow_concept_without_a_specific_question_begins_nothing():
    talk = [
        a_thread(name, words, "> Vent stack: salt film.")
        for name, words in (
            ("a", "Does the vent stack need a new cap?"),
            ("b", "How wide is a vent stack?"),
            ("c", "Why is the vent stack wet?"),
        )
    ]
    ground, epoch = told(*talk, *RIBBON[3:])
    found = find(ground, (), epoch)
    assert found.records == ()
    assert reasons(found) == {}


def test_two_names_of_one_thing_are_no_pair():
    talk = [
        a_thread(name, words, "> Vent stack cap. Vent stack cap. Vent stack.")
        for name, words in (
            ("a", "Is the vent stack cap loose?"),
            ("b", "Which vent stack cap fits?"),
            ("c", "How heavy is a vent stack cap?"),
        )
    ]
    ground, epoch = told(*talk, *RIBBON[3:])
    index = Index(known(ground, figures(epoch)), epoch)
    (theme,) = concept_themes(ground, index, figures(epoch))
    assert len(theme.concepts) == 1
    assert find(ground, (), epoch).records == ()


def test_what_was_asked_in_the_same_turns_is_no_second_journey():
    talk = [
        a_thread(
            name,
            f"{CORE} {other}",
            "> The escape wheel, spring tide: the vent stack and its salt film.",
        )
        for name, other in (
            ("a", "Is the vent stack to blame for the salt film?"),
            ("b", "How do I keep the salt film off the stack?"),
            ("c", "Which vent stack is tall enough for us?"),
        )
    ]
    ground, epoch = told(*talk, *RIBBON[3:])
    (record,) = find(ground, (), epoch).records
    assert record.core_inquiry == CORE
