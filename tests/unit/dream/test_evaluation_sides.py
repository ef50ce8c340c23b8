"""What counts as joined later: links of later turns, and nothing that was there at T."""

import pytest

from dream.evaluation.sides import Pool, ordered
from graphstore.ids import concept_id, question_id
from graphstore.model.knowledge import LinkType
from tests.dreamt import a_hypothesis
from tests.planted import Plot
from tests.replayed import sides

T = 50
BEFORE, AFTER = 60, 10
NEAR, FAR, ASIDE = (
    "Does the weir gate jam in frost?",
    "Does the sluice motor stall in frost?",
    "Is the towpath dry?",
)
CONCEPTS = Pool("meet", "Concept", "Concept", apart=True)
QUESTIONS = Pool("meet", "Question", "Question", apart=True)


def a_plot() -> Plot:
    plot = Plot()
    plot.say("a", NEAR, "weir gate", "hard frost", asks=True, days=BEFORE)
    plot.say("b", FAR, "sluice motor", "hard frost", asks=True, days=BEFORE)
    plot.say("c", "The weir gate was painted.", "weir gate", days=BEFORE)
    plot.say("d", "The sluice motor hums.", "sluice motor", days=BEFORE)
    plot.say("e", ASIDE, "towpath", asks=True, days=BEFORE)
    plot.say("f", "The towpath floods.", "towpath", days=BEFORE)
    return plot


def pair(one: str, other: str):
    return ordered(concept_id(one), concept_id(other))


def asked(one: str, other: str):
    return ordered(question_id(one), question_id(other))


class TestConcepts:
    def test_a_relation_of_later_turns_is_a_hit(self):
        plot = a_plot()
        ref = plot.say("g", "Gate and motor both.", "weir gate", "sluice motor", days=AFTER)
        plot.relates.append(("weir gate", "sluice motor", ref))
        found = sides(plot, T)
        assert found.hits(CONCEPTS) == {pair("weir gate", "sluice motor")}
        assert pair("weir gate", "sluice motor") in set(found.pairs(CONCEPTS))

    def test_a_relation_that_an_earlier_turn_holds_too_is_none(self):
        plot = a_plot()
        early = plot.say("g", "Gate and motor.", "weir gate", "sluice motor", days=BEFORE)
        late = plot.say("h", "Gate and motor again.", "weir gate", "sluice motor", days=AFTER)
        plot.relates.append(("weir gate", "sluice motor", early, late))
        found = sides(plot, T)
        assert found.hits(CONCEPTS) == frozenset()
        assert pair("weir gate", "sluice motor") not in set(found.pairs(CONCEPTS))

    def test_pairs_are_apart_where_no_lineage_names_both(self):
        found = sides(a_plot(), T)
        assert pair("weir gate", "towpath") in set(found.pairs(CONCEPTS))
        beside = Pool("meet", "Concept", "Concept")
        assert pair("weir gate", "hard frost") in set(found.pairs(beside))
        assert not set(found.pairs(CONCEPTS)) & set(found.pairs(beside))


class TestQuestions:
    def test_a_later_question_that_leads_to_both_joins_them(self):
        plot = a_plot()
        later = "Does frost stop gate and motor alike?"
        plot.say("g", later, asks=True, days=AFTER)
        plot.link(NEAR, later, LinkType.RECURRING)
        plot.link(later, FAR, LinkType.RELATED)
        assert sides(plot, T).hits(QUESTIONS) == {asked(NEAR, FAR)}

    def test_a_later_question_of_both_clusters_joins_them(self):
        plot = a_plot()
        later = "Does frost stop gate and motor alike?"
        plot.say("g", later, asks=True, days=AFTER)
        plot.link(NEAR, later, LinkType.RECURRING)
        plot.link(later, FAR, LinkType.RECURRING)
        assert sides(plot, T).hits(QUESTIONS) == {asked(NEAR, FAR)}

    def test_a_link_of_two_questions_that_were_asked_before_is_none(self):
        plot = a_plot()
        plot.link(NEAR, FAR, LinkType.RELATED)
        found = sides(plot, T)
        assert found.hits(QUESTIONS) == frozenset()
        assert asked(NEAR, FAR) not in set(found.pairs(QUESTIONS))

    def test_a_concept_that_a_later_asking_names_joins_the_question(self):
        plot = a_plot()
        later = "Does the weir gate jam where the towpath floods?"
        plot.say("g", later, "towpath", asks=True, days=AFTER)
        plot.link(NEAR, later, LinkType.RECURRING)
        pool = Pool("meet", "Question", "Concept")
        found = sides(plot, T)
        assert found.hits(pool) == {(question_id(NEAR), concept_id("towpath"))}
        assert (question_id(NEAR), concept_id("weir gate")) not in set(found.pairs(pool))


class TestThreads:
    def test_a_concept_that_a_thread_comes_to_later_is_a_hit(self):
        plot = a_plot()
        plot.say("a", "And the towpath?", "towpath", days=AFTER)
        pool = Pool("meet", "Thread", "Concept")
        found = sides(plot, T)
        assert ("test:a", concept_id("towpath")) in found.hits(pool)
        assert ("test:a", concept_id("towpath")) in set(found.pairs(pool))
        assert ("test:a", concept_id("weir gate")) not in set(found.pairs(pool))

    def test_a_question_that_a_thread_asks_later_is_a_hit(self):
        plot = a_plot()
        plot.say("a", ASIDE, asks=True, days=AFTER)
        pool = Pool("meet", "Thread", "Question")
        found = sides(plot, T)
        assert found.hits(pool) == {("test:a", question_id(ASIDE))}
        assert ("test:a", question_id(ASIDE)) in set(found.pairs(pool))
        assert ("test:a", question_id(NEAR)) not in set(found.pairs(pool))

    def test_threads_whose_later_questions_are_one_are_joined(self):
        plot = a_plot()
        for name in "ab":
            plot.say(name, ASIDE, asks=True, days=AFTER)
        pool = Pool("meet", "Thread", "Thread", apart=True)
        found = sides(plot, T)
        assert found.hits(pool) == {("test:a", "test:b")}
        assert ("test:a", "test:b") in set(found.pairs(pool))

    @pytest.mark.parametrize("again", [True, False])
    def test_the_same_correction_once_more_joins_threads_that_had_it(self, again):
        plot = a_plot()
        for name in "ab":
            plot.say(
                name,
                "No, in hard frost it is the grease.",
                signals=plot.correct("the grease", "hard frost"),
                days=BEFORE,
            )
        plot.say(
            "g",
            "Again: the grease.",
            signals=plot.correct("the grease", "hard frost" if again else "towpath"),
            days=AFTER,
        )
        pool = Pool("correct", "Thread", "Thread")
        found = sides(plot, T)
        assert found.hits(pool) == ({("test:a", "test:b")} if again else frozenset())
        assert set(found.pairs(pool)) == {("test:a", "test:b")}


class TestSettled:
    SETTLE = Pool("settle", "Thread", "Question")

    def test_a_later_human_turn_that_resolves_it_settles_a_question(self):
        plot = a_plot()
        plot.say("g", "It was the grease.", resolves=NEAR, days=AFTER)
        assert sides(plot, T).hits(self.SETTLE) == {("test:a", question_id(NEAR))}

    def test_a_later_test_in_its_own_thread_settles_it_too(self):
        plot = a_plot()
        plot.say("a", "I tested the weir gate in the cold store.", "weir gate", days=AFTER)
        assert sides(plot, T).hits(self.SETTLE) == {("test:a", question_id(NEAR))}

    @pytest.mark.parametrize(
        ("role", "text", "named"),
        [
            ("assistant", "I tested the weir gate.", "weir gate"),
            ("human", "I like the weir gate.", "weir gate"),
            ("human", "I tested the towpath.", "towpath"),
        ],
    )
    def test_other_words_settle_nothing(self, role, text, named):
        plot = a_plot()
        plot.say("a", text, named, role=role, days=AFTER)
        assert sides(plot, T).hits(self.SETTLE) == frozenset()

    def test_what_was_settled_at_t_is_not_to_choose_from(self):
        plot = a_plot()
        plot.say("g", "It was the grease.", resolves=NEAR, days=BEFORE - 1)
        found = set(sides(plot, T).pairs(self.SETTLE))
        assert found == {("test:b", question_id(FAR)), ("test:e", question_id(ASIDE))}

    def test_a_question_of_no_weight_is_not_to_choose_from(self):
        plot = a_plot()
        plot.salience[NEAR] = 0.1
        assert question_id(NEAR) not in {q for _, q in sides(plot, T).pairs(self.SETTLE)}


class TestJourneys:
    def walked(self):
        plot = a_plot()
        refs = [plot.lines[f"test:{name}"][0].ref for name in "abe"]
        one = plot.journey(NEAR, (refs[0],), concepts=("weir gate",))
        other = plot.journey(ASIDE, (refs[2],), concepts=("towpath",))
        return plot, one, other

    def go_on(self, plot, at, *refs):
        journey, own, questions, concepts = plot.journeys[at]
        plot.journeys[at] = (journey, (*own, *refs), questions, concepts)

    def test_journeys_that_pass_one_thread_later_have_met(self):
        plot, one, other = self.walked()
        ref = plot.say("g", "Gate and towpath.", "weir gate", "towpath", days=AFTER)
        self.go_on(plot, 0, ref)
        self.go_on(plot, 1, ref)
        pool = Pool("meet", "Journey", "Journey", apart=True)
        found = sides(plot, T)
        assert found.hits(pool) == {ordered(one, other)}
        assert set(found.pairs(pool)) == {ordered(one, other)}

    def test_a_journey_comes_to_concepts_and_questions(self):
        plot, one, _ = self.walked()
        ref = plot.say("g", FAR, "sluice motor", asks=True, days=AFTER)
        self.go_on(plot, 0, ref)
        found = sides(plot, T)
        to_concept = Pool("meet", "Journey", "Concept")
        assert (one, concept_id("sluice motor")) in found.hits(to_concept)
        assert (one, concept_id("weir gate")) not in set(found.pairs(to_concept))
        to_question = Pool("meet", "Journey", "Question")
        assert found.hits(to_question) == {(one, question_id(FAR))}
        assert (one, question_id(NEAR)) not in set(found.pairs(to_question))

    def test_an_open_question_of_a_journey_may_be_settled(self):
        plot, one, _ = self.walked()
        plot.say("g", "It was the grease.", resolves=NEAR, days=AFTER)
        pool = Pool("settle", "Journey", "Question")
        assert sides(plot, T).hits(pool) == {(one, question_id(NEAR))}


class TestPredicted:
    @pytest.mark.parametrize(
        ("changes", "pool"),
        [
            ({}, Pool("settle", "Thread", "Question")),
            ({"rule": "single_point"}, None),
            (
                {"rule": "repeated_correction", "dst_table": "Thread", "dst": "test:b"},
                Pool("correct", "Thread", "Thread"),
            ),
            (
                {"rule": "blind_spot", "dst_table": "Concept", "dst": concept_id("towpath")},
                Pool("meet", "Thread", "Concept"),
            ),
            (
                {
                    "src_table": "Concept",
                    "src": concept_id("weir gate"),
                    "dst_table": "Concept",
                    "dst": concept_id("hard frost"),
                },
                Pool("meet", "Concept", "Concept"),
            ),
        ],
    )
    def test_a_hypothesis_is_judged_among_pairs_of_its_kind(self, changes, pool):
        base = a_hypothesis(src="test:a", dst=question_id(NEAR)).replace(**changes)
        found = sides(a_plot(), T).predicted(base)
        assert (found and found[0]) == pool

    def test_every_pool_has_a_name_of_its_own(self):
        assert CONCEPTS.name == "meet Concept-Concept apart"
        assert Pool("settle", "Thread", "Question").name == "settle Thread-Question"
