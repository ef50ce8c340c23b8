from datetime import timedelta

import pytest

from graphstore import courses, fold
from graphstore.ids import concept_id
from graphstore.model.conversation import Event, LineageKind, Masked, Thread, ToolUse
from graphstore.model.hypothesis import HypothesisState, Resonates
from graphstore.model.knowledge import (
    Anchored,
    Asking,
    Asks,
    Concept,
    ConceptKind,
    Facts,
    HasTurn,
    Journey,
    JourneyStatus,
    Links,
    LinkType,
    Mentions,
    Passes,
    Question,
    QuestionStatus,
    Relates,
    SourceRefNode,
    ThreadNode,
    Waypoint,
)
from graphstore.model.record import EpochRecord
from graphstore.rows import Rows, joined
from graphstore.shards import Part, shard
from graphstore.threads import Link, head_of
from tests.fake_derive import (
    NOW,
    START,
    FakeDerive,
    a_cycle_record,
    a_hypothesis,
    a_journey_record,
    a_stop,
    a_thread_record,
    a_turn,
)


def a_link(child, parent, split=None, kind=LineageKind.FORKED_FROM):
    return Link(child, parent, kind, split)


def assembled(record) -> Thread:
    return head_of(record).replace(turns=record.turns)


def a_question(**changes):
    base = Question(
        question_id="q:1",
        text="Why?",
        status=QuestionStatus.OPEN,
        salience=0.4,
        intent="explain",
        phase="start",
        where=None,
        first_seen=START,
        last_seen=START,
        ref_count=1,
    )
    return base.replace(**changes)


def a_concept(**changes):
    base = Concept(
        concept_id="c:1",
        label="lock",
        aliases=(),
        df=1,
        cf=2,
        generic=False,
        kind=ConceptKind.TERM,
    )
    return base.replace(**changes)


# lineage


def test_a_thread_without_links_is_its_own_root():
    assert fold.roots(["a", "b"], []) == {"a": "a", "b": "b"}


def test_the_oldest_ancestor_here_is_the_root():
    links = [a_link("c", "b"), a_link("b", "z"), a_link("d", "c")]
    assert fold.roots(["b", "c", "d"], links) == {"b": "b", "c": "b", "d": "b"}
    assert fold.roots(["b", "c", "d", "z"], links)["d"] == "z"


def test_children_of_one_missing_parent_are_one_lineage():
    links = [a_link("b", "z"), a_link("a", "z")]
    assert fold.roots(["a", "b"], links) == {"a": "a", "b": "a"}


def test_a_ring_has_its_smallest_member_as_root():
    links = [a_link("a", "b"), a_link("b", "a"), a_link("c", "c")]
    assert fold.roots(["b", "a", "c"], links) == {"a": "a", "b": "a", "c": "c"}


def test_the_order_of_links_does_not_matter():
    links = [a_link("c", "b"), a_link("b", "a"), a_link("e", "d"), a_link("d", "a")]
    names = ["a", "b", "c", "d", "e"]
    assert fold.roots(names, links) == fold.roots(names[::-1], links[::-1])


def test_only_links_between_present_threads_become_edges():
    links = [a_link("b", "a", 2), a_link("c", "z", 1), a_link("b", "b"), a_link("d", "a")]
    (edge,) = fold.lineage_edges(links, {"a", "b", "c"})
    assert (edge.src, edge.dst, edge.kind, edge.split_turn) == ("b", "a", "forked_from", 2)
    assert edge is not None
    assert edge.source_refs == ("thread:a#turn:2",)


def test_lineage_without_a_split_cites_no_turn():
    links = [a_link("b", "a", None, LineageKind.SUBAGENT_OF)]
    assert fold.lineage_edges(links, {"a", "b"})[0].source_refs == ()


# one thread


def rows_of(record, facts=None):
    thread = assembled(record)
    found = FakeDerive().facts(thread, EpochRecord(extractor="x", lineages=0))
    return shard(thread, facts or found, "root")


def test_a_thread_gives_itself_its_turns_and_their_edges():
    made = rows_of(a_thread_record("a", "Why do locks fail?", "Because locks"))
    assert [type(node) for node in made.nodes] == [ThreadNode, SourceRefNode, SourceRefNode]
    assert {type(edge) for edge in made.edges} == {HasTurn, Asks, Mentions}
    assert {part.kind for part in made.parts} == {"question", "asked", "mention"}
    assert {row.label for row in made.concepts} == {"locks", "fail", "because"}


def test_the_thread_node_counts_clean_turns_and_joins_touched_paths():
    touched = [ToolUse(touched=("b", "a")), ToolUse(touched=("c", "a"))]
    turns = tuple(a_turn(n, f"t{n}", tools=tools) for n, tools in enumerate(touched, start=1))
    record = a_thread_record(
        "a", turns=turns, path=(2,), events=(Event(kind="compaction"),), flags=("unmasked",)
    )
    node = rows_of(record).nodes[0]
    assert (node.turn_count, node.touched, node.lineage_root) == (1, ("a", "b", "c"), "root")
    assert node.events == '[{"at":null,"detail":null,"kind":"compaction"}]'


def test_turns_off_the_path_are_alternatives_without_a_position():
    first, second = rows_of(a_thread_record("a", "one", "two", path=(2,))).nodes[1:]
    assert (first.position, first.alternative) == (None, True)
    assert (second.position, second.alternative) == (1, False)


def test_positions_count_the_shared_prefix():
    record = a_thread_record("a", turns=(a_turn(3, "own"),), path=(1, 2, 3))
    assert rows_of(record).nodes[1].position == 3


def test_hashes_of_masked_secrets_stay_in_the_ledger():
    masked = (Masked(kind="token", offset=3, keyed_hash="canary"),)
    node = rows_of(a_thread_record("a", turns=(a_turn(1, "x", masked=masked),), path=(1,))).nodes[1]
    assert node.masked == '[{"kind":"token","offset":3}]'


def test_edges_that_leave_the_facts_are_left_out():
    stray = Asks(
        src_table="SourceRef",
        src="thread:x#turn:1",
        dst_table="Question",
        dst="q:1",
        source_refs=(),
    )
    facts = Facts(thread_id="test:a", asks=(stray,), questions=(a_question(),))
    assert [type(edge) for edge in rows_of(a_thread_record("a", "one"), facts).edges] == [HasTurn]


# shared nodes


def test_a_question_keeps_the_words_it_was_first_asked_in():
    late = a_question(text="why", first_seen=START + timedelta(days=1), where="late")
    joined = fold.question([("a", late), ("b", a_question(where="early", salience=0.9))])
    assert (joined.text, joined.where, joined.salience) == ("Why?", "early", 0.9)
    assert joined.ref_count == 2
    assert (joined.first_seen, joined.last_seen) == (START, START + timedelta(days=1))


def test_an_undated_asking_is_never_the_first():
    undated = a_question(text="undated", first_seen=None, last_seen=None)
    assert fold.question([("a", undated), ("b", a_question())]).text == "Why?"
    assert fold.question([("b", undated), ("a", undated.replace(text="of a"))]).text == "of a"
    assert fold.question([("a", undated)]).first_seen is None


def test_one_answer_answers():
    parts = [("a", a_question(status=QuestionStatus.ANSWERED)), ("b", a_question())]
    assert fold.question(parts).status is QuestionStatus.ANSWERED


def test_a_dropped_question_asked_again_is_open():
    dropped = a_question(status=QuestionStatus.DROPPED)
    later = a_question(last_seen=START + timedelta(days=1))
    assert fold.question([("a", dropped), ("b", later)]).status is QuestionStatus.OPEN
    assert fold.question([("a", later), ("b", dropped)]).status is QuestionStatus.OPEN
    undated = dropped.replace(last_seen=None)
    assert fold.question([("a", undated)]).status is QuestionStatus.DROPPED


def test_mentions_of_one_pair_join_their_refs():
    def edge(own):
        return Mentions(
            src_table="Question",
            src="q:1",
            dst_table="Concept",
            dst="c:1",
            source_refs=(own,),
            salience=0.1,
        )

    (joined,) = fold.mentions([("b", [edge("y")]), ("a", [edge("x")])])
    assert (joined.source_refs, joined.weight) == (("x", "y"), 2.0)


def test_parts_of_every_kind_are_joined():
    mention = Mentions(
        src_table="Question",
        src="q:1",
        dst_table="Concept",
        dst="c:1",
        source_refs=(),
        salience=0.1,
    )
    parts = (
        Part("q:1", "a", "question", a_question().model_dump_json()),
        Part("q:1", "a", "mention", f"[{mention.model_dump_json()}]"),
        Part("q:1", "a", "asked", "{}"),
        Part("c:1 c:2 causes", "a", "relates", a_relation().model_dump_json()),
        Part("q:1 q:2", "a", "links", a_stated_link().model_dump_json()),
    )
    assert fold.shared(parts) == (a_question(), mention, a_relation(), a_stated_link())


def a_relation(**changes):
    return Relates(
        src_table="Concept",
        src="c:1",
        dst_table="Concept",
        dst="c:2",
        source_refs=("thread:a#turn:1",),
        edge_type="causes",
        why="one leads to the other",
    ).replace(**changes)


def a_stated_link():
    return Links(
        src_table="Question",
        src="q:1",
        dst_table="Question",
        dst="q:2",
        source_refs=(),
        link_type=LinkType.RELATED,
        score=0.9,
        evidence="{}",
    )


def test_what_several_threads_state_is_one_relation_in_the_words_of_the_first_turn():
    other = a_relation(source_refs=("thread:b#turn:3",), weight=2.0, why="b says so")
    joined = fold.told([("b", other), ("a", a_relation())])
    assert joined.source_refs == ("thread:a#turn:1", "thread:b#turn:3")
    assert (joined.weight, joined.why) == (3.0, "one leads to the other")


def test_a_question_is_compared_by_what_surrounds_it_in_all_its_threads():
    def asking(thread, number, *concepts):
        ref = f"thread:{thread}#turn:{number}"
        found = Asking(question_id="q:1", keys=("why",), concepts=concepts, refs=(ref,))
        return Part("q:1", thread, "asked", found.model_dump_json())

    parts = [
        asking("a", 10, "c:1"),
        asking("a", 9),
        asking("b", 1, "c:2"),
        Part("q:1", "a", "question", a_question().model_dump_json()),
    ]
    found = fold.asked(parts)
    assert found is not None
    assert found.question == a_question()
    assert found.concepts == {"c:1", "c:2"}
    assert found.refs == ("thread:a#turn:9", "thread:a#turn:10", "thread:b#turn:1")
    assert fold.asked([]) is None


# journeys


def journey_rows(*records, kept_at=None):
    rows = Rows()
    rows.add(courses.journeys(records, kept_at or {}))
    return rows


def the_journey(*records):
    return journey_rows(*records).sorted_nodes(Journey)[0]


def test_stops_are_appended_and_never_move_the_last_sighting_back():
    first = a_journey_record(a_stop(1, "a", 1, at=NOW), a_stop(2, "b", 1, at=None))
    second = a_journey_record(a_stop(3, "c", 1, at=START), a_stop(1, "z", 9), reason="appended")
    rows = journey_rows(first, second)
    assert [node.seq for node in rows.sorted_nodes(Waypoint)] == [1, 2, 3]
    assert rows.sorted_nodes(Waypoint)[0].moment == "moment 1"
    journey = rows.sorted_nodes(Journey)[0]
    assert (journey.first_seen, journey.last_seen) == (START, NOW)


def test_the_last_record_gives_label_and_status():
    arrived = a_journey_record(status=JourneyStatus.ARRIVED, path_label="x", merged_into="j:2")
    later = a_journey_record(path_label="y", last_activity_at=NOW)
    journey = the_journey(a_journey_record(a_stop(1, "a", 1)), arrived, later)
    assert (journey.path_label, journey.status) == ("y", JourneyStatus.TRAVELING)
    assert (journey.merged_into, journey.last_activity_at) == ("j:2", NOW)


@pytest.mark.parametrize(
    ("waypoints", "days"), [(0, 90), (3, 132), (12, 258), (13, 270), (99, 270)]
)
def test_more_waypoints_make_a_journey_last_longer_up_to_a_limit(waypoints, days):
    assert courses.expiry(NOW, waypoints) == NOW + timedelta(days=days)


def test_an_undated_journey_does_not_expire():
    assert courses.expiry(None, 3) is None


def test_activity_after_the_last_sighting_moves_the_expiry():
    journey = the_journey(a_journey_record(a_stop(1, "a", 1), last_activity_at=NOW))
    assert journey.expires_at == NOW + timedelta(days=104)


def test_the_frontier_is_the_newest_hint_of_the_last_three():
    stops = [a_stop(1, "a", 1, frontier_hint="old"), a_stop(2, "b", 1, frontier_hint="new")]
    assert courses.frontier(stops) == ("new", ("thread:test:b#turn:1",))
    stops += [a_stop(n, "c", n) for n in (3, 4, 5)]
    words, refs = courses.frontier(stops)
    assert words == "moment 3 / moment 4 / moment 5"
    assert len(refs) == 3


def test_the_frontier_is_bounded():
    refs = tuple(f"thread:x#turn:{n}" for n in range(1, 20))
    words, kept = courses.frontier([a_stop(1, "a", 1, frontier_hint="x" * 999, refs=refs)])
    assert (len(words), len(kept)) == (360, 8)


def test_a_journey_passes_its_waypoints_and_is_anchored():
    record = a_journey_record(
        a_stop(1, "a", 1), a_stop(2, "b", 2), questions=("q:1",), concepts=("c:1",)
    )
    rows = journey_rows(record, kept_at={"thread:test:b#turn:2": "thread:test:a#turn:2"})
    passes = [(edge.src_table, edge.seq) for edge in rows.sorted_edges(Passes)]
    assert passes == [("Journey", 1), ("Journey", 2), ("Waypoint", 2)]
    ends = {(edge.src_table, edge.dst) for edge in rows.sorted_edges(Anchored)}
    assert ends == {
        ("Waypoint", "thread:test:a#turn:1"),
        ("Waypoint", "thread:test:a#turn:2"),
        ("Journey", "q:1"),
        ("Journey", "c:1"),
    }


def test_the_newest_cycle_states_a_hypothesis():
    first = a_hypothesis(Resonates, "q:1", "q:2")
    changed = first.replace(state=HypothesisState.REFUTED)
    found = courses.hypotheses([a_cycle_record(first), a_cycle_record(changed)])
    assert found == (changed,)


def test_edges_with_a_missing_end_are_incomplete():
    edge = a_hypothesis(Resonates, "q:1", "q:2")
    assert joined([edge], {"Question": {"q:1", "q:2"}}) == (edge,)
    assert joined([edge], {"Question": {"q:1"}}) == ()
    assert joined([edge], {}) == ()


def test_a_citation_rests_on_the_turns_that_hold_it():
    record = a_thread_record(
        "a",
        turns=(a_turn(1, "see [[B]]"), a_turn(2, "so", links=("[[B]]",)), a_turn(3, "no")),
        path=(1, 2, 3),
    )
    thread = assembled(record)
    edge = fold.cites("test:a", "[[B]]", "test:b", thread.turns, thread)
    assert edge is not None
    assert edge.source_refs == ("thread:test:a#turn:1", "thread:test:a#turn:2")
    assert fold.cites("test:a", "[[X]]", "test:b", thread.turns, thread) is None
    assert fold.cites("test:a", "[[B]]", "test:a", thread.turns, thread) is None


# rows


def test_the_first_row_of_a_key_stays():
    rows = Rows()
    rows.add([a_concept(), a_concept(label="other"), a_concept(concept_id=concept_id("b"))])
    assert rows.count(Concept) == 2
    assert rows.holds("Concept", "c:1")
    assert not rows.holds("Concept", "c:9")
    assert rows.nodes[Concept]["c:1"] == a_concept()


def test_ground_lists_every_family_sorted():
    rows = Rows()
    rows.add([a_concept(concept_id="c:2"), a_concept(), a_question()])
    ground = rows.ground()
    assert [node.key for node in ground.concepts] == ["c:1", "c:2"]
    assert [node.key for node in ground.questions] == ["q:1"]
