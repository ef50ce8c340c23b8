"""Lists, provenance, resonance and hypotheses over a real store."""

from datetime import timedelta

import pytest

from graphstore.errors import NotFound
from graphstore.ids import journey_id, question_id
from graphstore.model.answers import Filters, MissingRef, Opened, TurnView
from graphstore.model.conversation import ToolUse
from graphstore.model.hypothesis import HypothesisState, Resonates
from graphstore.model.knowledge import JourneyStatus, LinkType
from graphstore.model.record import CycleRecord, JourneyRecord, Stop
from graphstore.queries.concepts import concepts
from graphstore.queries.expansion import reached
from graphstore.queries.hypotheses import hypotheses, resting_on
from graphstore.queries.journeys import journey, journeys
from graphstore.queries.provenance import fetch, open_turn
from graphstore.queries.questions import questions
from graphstore.queries.recall import recall
from graphstore.queries.resonance import resonance
from graphstore.queries.threads import labelled, threads
from graphstore.store import open_store
from tests.fake_derive import NOW, FakeDerive, a_thread_record, a_turn, child_of

OIL = "which oil burns longest?"
WICK = "why does the wick smoke?"


class Recurring(FakeDerive):
    """The small derivation; links are recurring and strong."""

    def link(self, left, right, cosine):
        found = super().link(left, right, cosine)
        return found and found.replace(link_type=LinkType.RECURRING, score=0.7)


def touching(number, text, *paths, **changes):
    return a_turn(number, text, tools=ToolUse(touched=paths), **changes)


@pytest.fixture(scope="module")
def store(request, tmp_path_factory):
    engine = request.config.getoption("--engine")
    path = tmp_path_factory.mktemp("asking") / "workspace"
    with open_store(path, Recurring(), engine=engine) as opened:
        records = [
            a_thread_record("a", OIL, "colza is best", "thanks then", "done", project="light"),
            a_thread_record("b", OIL, "whale maybe", project="ship"),
            a_thread_record("c", WICK, "trim that wick"),
            a_thread_record("d", "their wick smoke puzzles everyone?", "trim more"),
            a_thread_record("e", "bread rises slowly", "yeast"),
            a_thread_record("f", "walnut marmalade notes", "walnut stays"),
            a_thread_record("g", "walnut marmalade again", "good"),
        ]
        fork = a_thread_record("a2", OIL, "colza is best", "again whale", "hmm")
        records.append(fork.replace(lineage=child_of("a", 2)))
        shared = [a_thread_record(name) for name in ("p", "q")]
        shared = [
            record.replace(
                turns=(touching(1, f"sextant {record.native_id * 4}", "src/sky.py"),), path=(1,)
            )
            for record in shared
        ]
        with opened.deferred():
            for record in (*records, *shared):
                opened.commit(record, NOW)
            opened.commit(a_journey(), NOW)
            opened.commit(a_cycle(opened), NOW)
            opened.commit(Recurring().epoch(opened.threads(), opened.roots()), NOW)
        yield opened


def a_journey():
    stops = (("thread:test:c#turn:1", "asked"), ("thread:test:d#turn:1", "asked again"))
    return JourneyRecord(
        journey_id=journey_id(WICK, stops[0][0]),
        path_label="wick, smoke",
        core_inquiry=WICK,
        status=JourneyStatus.TRAVELING,
        questions=(question_id(WICK),),
        stops=tuple(
            Stop(seq=n, moment=moment, refs=(ref,), at=NOW - timedelta(days=60))
            for n, (ref, moment) in enumerate(stops, start=1)
        ),
        reason="created",
    )


def a_hypothesis(name, state, fingerprint):
    ref = "thread:test:a#turn:1"
    return Resonates(
        src_table="Question",
        src=min(question_id(OIL), question_id(WICK)),
        dst_table="Question",
        dst=max(question_id(OIL), question_id(WICK)),
        hypothesis_id=f"h:{name}",
        function="amplification",
        rule="r",
        mode="replay",
        method="deterministic",
        model=None,
        title="t",
        summary="s",
        why_not_fact="w",
        claims="[]",
        refs=(ref,),
        ref_fingerprints=(fingerprint,),
        counter_evidence="[]",
        counter_refs=("thread:test:c#turn:1",),
        source_fingerprint="b2:0",
        cues=(),
        voices=(),
        seed_id=None,
        shape=None,
        provenance="computed",
        pack_id="p",
        job_id="j",
        cycle_id="y:1",
        state=state,
        start_points=50,
        points=50,
        confirmations=0,
        contradictions=0,
        validation_ids=(),
        retention=0.5,
        quality=0.5,
        declared_confidence=None,
        divergence=0.0,
        coefficients="conservative_v1",
        sensitivity="none",
        next_check="c",
        extras="{}",
        created_at=NOW,
        validated_at=None,
        review_after=NOW + timedelta(days=14),
        expires_at=NOW + timedelta(days=45),
        validated_by="",
        invalidation_triggers=(),
        supersedes=None,
        superseded_by=None,
        closed_at=None,
        closed_reason=None,
    )


def a_cycle(store):
    found = store.resolve("thread:test:a#turn:1").turn.fingerprint
    return CycleRecord(
        cycle_id="y:1",
        generation=1,
        trigger="manual",
        gate=(),
        leased_seq=1,
        started_at=NOW,
        ended_at=NOW,
        outcome="landed",
        hypotheses=(
            a_hypothesis("live", HypothesisState.ACCEPTED, found),
            a_hypothesis("stale", HypothesisState.ACCEPTED, "b2:other"),
            a_hypothesis("closed", HypothesisState.REFUTED, found),
        ),
    )


# lists


def test_threads_are_narrowed_by_project(store):
    assert [row.thread_id for row in threads(store, project="light")] == ["test:a"]
    assert len(threads(store, 3)) == 3
    assert {row.lineage_root for row in threads(store) if row.thread_id == "test:a2"} == {"test:a"}


def test_a_question_of_two_lineages_comes_first_and_a_fork_counts_once(store):
    first = questions(store)[0]
    assert (first.text, first.lineages, first.asked) == (OIL, 2, 2)


def test_linked_questions_recur_over_their_lineages(store):
    rows = {row.text: row for row in questions(store, recurring=True)}
    assert rows[WICK].recurs >= 1
    assert rows[WICK].lineages >= 2


def test_questions_are_narrowed_by_status(store):
    answered = questions(store, status="answered")
    assert [row.text for row in answered] == [OIL]


def test_generic_concepts_come_only_when_asked_for(store):
    plain = concepts(store, 500)
    assert not any(row.generic for row in plain)
    assert [row.df for row in plain] == sorted((row.df for row in plain), reverse=True)
    assert len(concepts(store, 500, generic=True)) >= len(plain)


def test_a_journey_camps_after_45_days_and_lapses_at_its_end(store):
    last = NOW - timedelta(days=60)
    (camped,) = journeys(store, NOW)
    assert (camped.status, camped.waypoints) == ("camped", 2)
    (moving,) = journeys(store, last + timedelta(days=44))
    assert moving.status == "traveling"
    (gone,) = journeys(store, NOW + timedelta(days=900))
    assert gone.status == "abandoned"
    assert journeys(store, NOW, status="arrived") == ()


def test_one_journey_shows_its_waypoints_and_an_unknown_one_is_not_found(store):
    name = journeys(store, NOW)[0].journey_id
    assert [stop.refs for stop in journey(store, name, NOW).stops] == [
        ("thread:test:c#turn:1",),
        ("thread:test:d#turn:1",),
    ]
    with pytest.raises(NotFound):
        journey(store, "j:none", NOW)


# provenance


def test_references_give_full_turns_and_a_run_gives_each(store):
    one, *run = fetch(store, ["thread:test:c#turn:1", "thread:test:a#turn:1-2"])
    assert isinstance(one, TurnView)
    assert one.text == WICK
    assert [turn.ref for turn in run] == ["thread:test:a#turn:1", "thread:test:a#turn:2"]


def test_a_shared_prefix_leads_to_the_parent(store):
    (turn,) = fetch(store, ["thread:test:a2#turn:1"])
    assert turn.ref == "thread:test:a#turn:1"


@pytest.mark.parametrize(
    ("ref", "reason"),
    [
        ("nonsense", "malformed"),
        ("thread:test:zz#turn:1", "no_thread"),
        ("thread:test:c#turn:99", "no_turn"),
    ],
)
def test_a_reference_that_leads_nowhere_says_why(store, ref, reason):
    assert fetch(store, [ref]) == (MissingRef(ref=ref, reason=reason),)


def test_a_turn_opens_in_its_thread(store):
    found = open_turn(store, "thread:test:a#turn:2", around=1)
    assert isinstance(found, Opened)
    assert [turn.ref[-1] for turn in found.turns] == ["1", "2", "3"]
    assert (found.focus, found.more_before, found.more_after) == ("thread:test:a#turn:2", 0, 1)


def test_a_thread_opens_whole(store):
    found = open_turn(store, "test:a")
    assert isinstance(found, Opened)
    assert len(found.turns) == 4
    assert found.focus is None


def test_opening_what_is_not_there_says_why(store):
    asked = ("test:none", "thread:test:c#turn:x", "thread:test:c#turn:99")
    found = [open_turn(store, ref) for ref in asked]
    reasons = [each.reason for each in found if isinstance(each, MissingRef)]
    assert reasons == ["no_thread", "malformed", "no_turn"]


# resonance


def test_the_same_question_elsewhere_comes_first_with_a_turn_on_each_side(store):
    first = resonance(store, "test:a", now=NOW).found[0]
    assert first.thread_id == "test:b"
    assert first.group == "same_question"
    assert first.pairs[0].mine == "thread:test:a#turn:1"
    assert first.pairs[0].theirs == "thread:test:b#turn:1"
    assert first.pairs[0].mine_text == first.pairs[0].theirs_text == OIL
    assert "asks the same question" in first.reasons


def test_a_fork_never_resonates_with_its_parent(store):
    for own in ("test:a", "test:a2"):
        found = resonance(store, own, now=NOW).found
        assert {"test:a", "test:a2"}.isdisjoint(answer.thread_id for answer in found)


def test_linked_questions_and_a_common_journey_resonate(store):
    found = {answer.thread_id: answer for answer in resonance(store, "test:c", now=NOW).found}
    assert found["test:d"].pairs[0].kind == "linked_question"
    assert found["test:d"].group == "same_shape"
    assert len(found["test:d"].journeys) == 1


def test_same_files_are_named(store):
    found = {answer.thread_id: answer for answer in resonance(store, "test:p", now=NOW).found}
    assert found["test:q"].shared_paths == ("src/sky.py",)
    assert found["test:q"].group == "same_files"


def test_rare_shared_words_are_evidence(store):
    found = {answer.thread_id: answer for answer in resonance(store, "test:f", now=NOW).found}
    words = next(pair for pair in found["test:g"].pairs if pair.kind == "shared_words")
    assert "walnut" in words.words
    assert words.mine == "thread:test:f#turn:1"


def test_an_answer_that_one_of_them_had_stands_beside_who_asks(store):
    for mine, other, refs in (
        ("test:b", "test:a", ("thread:test:b#turn:1", "thread:test:a#turn:3")),
        ("test:a", "test:b", ("thread:test:a#turn:3", "thread:test:b#turn:1")),
    ):
        found = {each.thread_id: each for each in resonance(store, mine, now=NOW).found}[other]
        pair = next(pair for pair in found.pairs if pair.kind == "answered_question")
        assert (pair.mine, pair.theirs) == refs
        assert "one answers what the other asks" in found.reasons
        assert found.group == "same_question"


def days(path, *apart, project="light"):
    """A store whose first thread shares one rare word with each other, begun so many days later."""
    store = open_store(path / "workspace", Recurring())
    fruits = ("walnut", "quince", "medlar")[: len(apart)]
    with store.deferred():
        for number, after in enumerate((0, *apart)):
            at = NOW - timedelta(days=100 - after)
            words = " ".join(fruits) if number == 0 else fruits[number - 1]
            record = a_thread_record(f"t{number}", words, f"note {number}")
            where = project if number < 3 else "ship"
            times = {"started_at": at, "ended_at": at + timedelta(hours=1)}
            store.commit(record.replace(project=where, **times), NOW)
        store.commit(Recurring().epoch(store.threads(), store.roots()), NOW)
    return store


def test_of_equal_evidence_the_work_of_the_same_days_and_project_comes_first(tmp_path):
    with days(tmp_path, 60, 2, 2) as store:
        found = resonance(store, "test:t0", now=NOW).found
        assert found[0].thread_id == "test:t2"
        by_name = {answer.thread_id: answer for answer in found}
        assert by_name["test:t2"].hours_apart == 47
        assert by_name["test:t2"].reasons[-1] == (
            "worked on within 2 days of it, in the same project"
        )
        for far in ("test:t1", "test:t3"):
            assert by_name[far].hours_apart is None
            assert not any("worked on" in reason for reason in by_name[far].reasons)


def test_nearness_without_weight_ranks_nothing(tmp_path):
    with days(tmp_path, 60, 2, 2) as store:
        found = resonance(store, "test:t0", now=NOW, nearness=0).found
        assert len(found) == 3
        assert [answer.thread_id for answer in found][:2] == ["test:t1", "test:t2"]
        assert "same_days" not in {answer.group for answer in found}


def test_work_of_the_same_hour_is_told_as_such(tmp_path):
    with days(tmp_path, 0) as store:
        (found,) = resonance(store, "test:t0", now=NOW).found
        assert found.hours_apart == 0
        assert found.reasons[-1] == "worked on at the same time, in the same project"


def test_the_same_days_alone_bring_nothing_in(tmp_path):
    with open_store(tmp_path / "workspace", Recurring()) as store:
        for name, text in (("a", "salt film sensor"), ("b", "bread rises")):
            record = a_thread_record(name, text, project="light")
            store.commit(record.replace(started_at=NOW, ended_at=NOW), NOW)
        assert resonance(store, "test:a", now=NOW).found == ()


@pytest.mark.parametrize(
    ("cue", "thread"),
    [
        (question_id(OIL), "test:a"),
        ("q:none", None),
        ("thread:test:b#turn:2", "test:b"),
        ("thread:test:b", "test:b"),
        ("colza is best", "test:a"),
        ("zzyzx", None),
    ],
)
def test_a_cue_may_be_a_question_a_turn_a_thread_or_words(store, cue, thread):
    assert resonance(store, cue, now=NOW).thread_id == thread


def test_a_question_resonates_through_itself_only(store):
    found = resonance(store, question_id(OIL), now=NOW).found
    assert found[0].thread_id == "test:b"


def test_the_limit_is_kept_and_asking_twice_gives_the_same(store):
    once = resonance(store, "test:c", 1, now=NOW)
    assert len(once.found) == 1
    assert once == resonance(store, "test:c", 1, now=NOW)


# where the graph leads


def test_the_answer_given_elsewhere_is_found_from_who_asks(store):
    cue, answer = "whale maybe", "thread:test:a#turn:3"
    plain = recall(store, cue, now=NOW)
    led = recall(store, cue, now=NOW, reach=lambda seeds: reached(store, seeds))
    assert answer not in [hit.turn.ref for hit in plain.hits]
    hit = next(hit for hit in led.hits if hit.turn.ref == answer)
    assert hit.turn.text == "thanks then"
    assert "answers a question that a turn found asks" in hit.reasons
    assert hit.parts.graph > 0
    assert led.hits[0] == plain.hits[0]


def test_what_an_answer_answers_is_found_from_it(store):
    found = reached(store, {"thread:test:a#turn:3": 1.0})
    assert found["thread:test:b#turn:1"].why == "asks what a turn found asks or answers"
    assert "thread:test:a#turn:3" not in found
    assert "thread:test:e#turn:1" not in found


def test_linked_questions_are_a_step_further(store):
    found = reached(store, {"thread:test:c#turn:1": 1.0})
    assert 0 < found["thread:test:d#turn:1"].weight < 1


def test_a_graph_without_weight_is_not_asked(store):
    asked: list[object] = []

    def reach(seeds):
        asked.append(seeds)
        return {}

    found = recall(store, "whale maybe", now=NOW, reach=reach, graph=0)
    assert asked == []
    assert found == recall(store, "whale maybe", now=NOW)


def test_nothing_found_leads_nowhere(store):
    asked = []

    def reach(seeds):
        asked.append(dict(seeds))
        return reached(store, seeds)

    assert recall(store, "zzyzx", now=NOW, reach=reach).hits == ()
    assert asked == [{}]


def test_turns_that_may_not_be_given_are_not_reached(store):
    found = recall(
        store,
        "whale maybe",
        now=NOW,
        filters=Filters(threads=("test:b",)),
        reach=lambda seeds: reached(store, seeds),
    )
    assert {hit.turn.thread_id for hit in found.hits} == {"test:b"}


def test_stops_of_one_journey_lead_to_each_other(tmp_path):
    with open_store(tmp_path / "workspace", Recurring()) as store:
        for name, text in (("a", "salt film sensor"), ("b", "bread rises"), ("c", "harbour chain")):
            store.commit(a_thread_record(name, text), NOW)
        journey = a_journey()
        refs = ("thread:test:a#turn:1", "thread:test:b#turn:1")
        stops = tuple(
            stop.replace(refs=(ref,)) for stop, ref in zip(journey.stops, refs, strict=True)
        )
        store.commit(journey.replace(questions=(), stops=stops), NOW)
        found = reached(store, {refs[0]: 1.0})
        assert {ref: each.why for ref, each in found.items()} == {
            refs[1]: "lies on the same Journey as a turn found"
        }
        assert reached(store, {"thread:test:c#turn:1": 1.0}) == {}


class Labelled(FakeDerive):
    """Threads that speak of salt are about work."""

    def facts(self, thread, epoch):
        work = any("salt" in turn.text for turn in thread.clean())
        labels = ("technical_work",) if work else ()
        return super().facts(thread, epoch).replace(scope_labels=labels)


def test_a_label_narrows_to_its_threads(tmp_path):
    with open_store(tmp_path / "workspace", Labelled()) as store:
        for name, text in (("a", "salt film"), ("b", "salt film too"), ("c", "film alone")):
            store.commit(a_thread_record(name, text), NOW)

        def found(label, **given):
            filters = labelled(store, Filters(**given), label)
            answer = recall(store, "film", now=NOW, filters=filters)
            return {hit.turn.thread_id for hit in answer.hits}, answer.not_found_reason

        assert found("technical_work") == ({"test:a", "test:b"}, None)
        assert found("technical_work", threads=("test:b", "test:c")) == ({"test:b"}, None)
        assert found("technical_work", threads=("test:c",)) == (set(), "filtered_out")
        assert found("idea_seed") == (set(), "filtered_out")


# languages


@pytest.mark.parametrize(
    ("cue", "said"),
    [
        ("灯塔的灯为什么熄灭", "灯塔里的灯昨晚熄灭了,因为油不够。"),
        ("warum erlosch die Lampe im Leuchtturm", "Die Lampe im Leuchtturm erlosch ohne Öl."),
        ("OL LEUCHTTURM", "Die Lampe im Leuchtturm erlosch ohne Öl."),
        ("दीपक क्यों बुझ गया", "प्रकाशस्तंभ का दीपक तेल न होने से बुझ गया।"),
        ("灯台のランプはなぜ消えた", "灯台のランプは油がなくて消えました。"),
        ("등대의 램프가 왜 꺼졌나", "등대의 램프가 기름이 없어 꺼졌다."),
        ("لماذا انطفأ مصباح المنارة", "انطفأ مصباح المنارة لأن الزيت نفد."),
        ("почему погасла лампа маяка", "Лампа маяка погасла без масла."),
    ],
)
def test_a_cue_finds_its_turn_in_its_own_language(tongues, cue, said):
    assert recall(tongues, cue, now=NOW).hits[0].turn.text == said


@pytest.fixture(scope="module")
def tongues(tmp_path_factory):
    said = (
        "灯塔里的灯昨晚熄灭了,因为油不够。",
        "面包发得很慢,要多放酵母。",
        "Die Lampe im Leuchtturm erlosch ohne Öl.",
        "Das Brot geht langsam auf, es braucht Hefe.",
        "प्रकाशस्तंभ का दीपक तेल न होने से बुझ गया।",
        "रोटी धीरे फूलती है, खमीर और चाहिए।",
        "灯台のランプは油がなくて消えました。",
        "パンは膨らむのが遅いのでイーストを足します。",
        "등대의 램프가 기름이 없어 꺼졌다.",
        "빵이 천천히 부풀어 효모가 더 필요하다.",
        "انطفأ مصباح المنارة لأن الزيت نفد.",
        "الخبز ينتفخ ببطء ويحتاج إلى خميرة.",
        "Лампа маяка погасла без масла.",
        "Хлеб поднимается медленно, нужны дрожжи.",
        "The lamp of the lighthouse went out for want of oil.",
    )
    with open_store(tmp_path_factory.mktemp("tongues") / "workspace", FakeDerive()) as store:
        with store.deferred():
            for number, text in enumerate(said):
                store.commit(a_thread_record(f"t{number}", text), NOW)
        yield store


def test_what_was_never_said_is_not_found_in_any_language(tongues):
    for cue in ("量子计算机", "Quantenrechner", "क्वांटम संगणक", "量子コンピュータ"):
        assert recall(tongues, cue, now=NOW).hits == ()


# hypotheses


def test_hypotheses_carry_their_standing_and_closed_ones_are_left_out(store):
    found = {
        view.hypothesis.hypothesis_id: view.standing.standing for view in hypotheses(store, NOW)
    }
    assert found == {"h:live": "valid", "h:stale": "invalidated"}
    assert len(hypotheses(store, NOW, closed=True)) == 3
    assert hypotheses(store, NOW, function="prospective") == ()
    (due,) = hypotheses(store, NOW + timedelta(days=14), standings=("review_due",))
    assert due.hypothesis.hypothesis_id == "h:live"


def test_hypotheses_are_found_by_the_turns_they_rest_on_or_that_counter_them(store):
    for ref in ("thread:test:a#turn:1", "thread:test:c#turn:1"):
        names = [view.hypothesis.hypothesis_id for view in resting_on(store, [ref], NOW)]
        assert names == ["h:live", "h:stale"]
    assert resting_on(store, ["thread:test:b#turn:1"], NOW) == ()
    assert resting_on(store, ["thread:test:a#turn:1"], NOW - timedelta(days=1)) == ()


def test_recall_over_a_store_gives_hypotheses_apart(store):
    found = recall(
        store, "colza best", now=NOW, hypotheses=lambda refs: resting_on(store, refs, NOW)
    )
    assert found.hits[0].turn.ref == "thread:test:a#turn:2"
    assert [view.hypothesis.hypothesis_id for view in found.hypotheses] == ["h:live", "h:stale"]
