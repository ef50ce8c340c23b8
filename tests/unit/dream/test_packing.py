"""From what was said to packs: foci, pairs, caps, gaps, counter-evidence."""

from dataclasses import replace

import pytest

from dream.adjudicate import adjudicate
from dream.company import absent, companies
from dream.focus import foci
from dream.functions.compensatory import missed_source
from dream.index import Index
from dream.landing import horizon
from dream.model import Accepted, Focus, Pack, TooThin
from dream.pack import pack
from dream.pairs import candidates
from dream.portrait import is_slowing
from dream.settings import DreamSettings, PackSettings
from graphstore.ids import concept_id, question_id
from graphstore.model.knowledge import ConceptKind, LinkType, Signal
from graphstore.model.record import ReviewRecord
from tests.dreamt import SETTINGS, a_hypothesis
from tests.planted import NOW, Plot, a_seed, days_ago

OIL = "Is it the oil after all?"
WHEEL = "What stops the escape wheel?"
LINE = "Why is the float line off the drum?"
GROOVE = "Should I cut a groove for the float line?"


def focused(plot, kind, seeds=()):
    """Foci of one kind."""
    return [each for each in foci(Index(plot.ground()), seeds) if each.kind == kind]


def packed(plot, focus, settings=SETTINGS, live=()):
    return pack(focus, Index(plot.ground()), live, settings, NOW)


def on(kind, key, **changes):
    return Focus(kind=kind, id=key, family="ready_pack").replace(**changes)


def pairs_of(plot, focus):
    return [(each.src, each.dst) for each in candidates(focus, Index(plot.ground()))]


def asked_again(**changes):
    """One question over three threads, never settled."""
    plot = Plot()
    plot.say("a", OIL, "oil", "pallet", asks=True, days=30, **changes)
    plot.say("b", OIL, "oil", "pallet", asks=True, days=20)
    plot.say("c", OIL, "oil", asks=True, days=10)
    return plot


def rhyming():
    """Two questions of two threads on the same two concepts."""
    plot = Plot()
    plot.say("a", LINE, "float line", "drum", asks=True, days=30)
    plot.say("b", GROOVE, "float line", "drum", asks=True, days=20)
    return plot


# what may be a premise


def test_only_human_and_assistant_turns_of_the_main_line_are_clean():
    plot = rhyming()
    plot.say("a", "tool says", role="other")
    plot.say("a", "web page", taint="web")
    plot.say("a", "old answer", alternative=True, position=None)
    plot.say("a", "an answer", role="assistant")
    assert [turn.text for turn in Index(plot.ground()).turns.values()] == [
        LINE,
        "an answer",
        GROOVE,
    ]


def test_a_mark_is_no_concept():
    plot = Plot()
    for thread in "ab":
        plot.say(thread, "x", ":**", "oil", "c7")
    index = Index(plot.ground())
    assert [label for label in (":**", "oil", "c7") if index.is_specific(concept_id(label))] == [
        "oil"
    ]


def test_a_generic_concept_is_not_specific():
    plot = Plot(generic={"thing"})
    for thread in "ab":
        plot.say(thread, "x", "thing")
    assert not Index(plot.ground()).is_specific(concept_id("thing"))
    assert not Index(plot.ground()).is_specific("c:unknown")


def test_a_short_asking_lends_its_concepts_to_a_question_without_any():
    plot = Plot()
    for thread in "ab":
        plot.say(thread, "the oil", "oil")
    plot.say("a", "The oil is thick. And now?", "oil", asks="And now?")
    plot.say("a", "The oil is thick. " * 50 + "So what?", "oil", asks="So what?")
    index = Index(plot.ground())
    # planted questions name what their turn names; here the edge of the question is left out
    turns_only = tuple(edge for edge in index.ground.mentions if edge.src_table == "SourceRef")
    topics = Index(replace(index.ground, mentions=turns_only)).topics
    assert topics[question_id("And now?")] == (concept_id("oil"),)
    assert topics[question_id("So what?")] == ()


def test_a_sent_again_question_is_asked_once():
    plot = Plot()
    plot.say("a", OIL, "oil", asks=True)
    plot.say("a", "Stopped.", role="assistant")
    plot.say("a", OIL, "oil", asks=True)
    plot.say("a", "Try this.", role="assistant")
    plot.say("a", "I tried.")
    plot.say("a", OIL, "oil", asks=True)
    index = Index(plot.ground())
    assert len(index.cluster_refs(question_id(OIL))) == 3
    assert len(index.times_asked(question_id(OIL))) == 2


def test_recurring_links_make_clusters_and_others_do_not():
    plot = asked_again()
    plot.say("d", "Is it the oil?", asks=True)
    plot.say("d", WHEEL, asks=True)
    plot.link(OIL, "Is it the oil?", LinkType.RECURRING)
    plot.link(OIL, WHEEL, LinkType.RELATED)
    index = Index(plot.ground())
    assert len(index.cluster_refs(question_id(OIL))) == 4
    assert len(index.cluster_refs(question_id(WHEEL))) == 1


def test_a_frontier_is_a_stop_only_at_the_end_of_its_lineage():
    plot = Plot()
    early = plot.say("a", "next: x", signals=plot.stop("next", "x"))
    for n in range(5):
        plot.say("a", f"more {n}")
    late = plot.say("a", "blocked by y", signals=plot.stop("blocked", "y"))
    gone_on = plot.say("b", "next: z", signals=plot.stop("next", "z"), days=30)
    plot.thread("c", root="b")
    plot.say("c", "went on", days=3)
    for n in range(5):
        plot.say("d", f"talk {n}" if n else "later", signals=() if n else plot.stop("next", "d"))
    index = Index(plot.ground())
    assert [ref for ref in (early, late, gone_on) if index.is_last_stop(ref)] == [late]


def test_labels_and_tables_of_nodes():
    plot = asked_again()
    plot.thread("a", title="First")
    journey = plot.journey(OIL, (plot.lines["test:a"][0].ref,))
    index = Index(plot.ground())
    nodes = [question_id(OIL), concept_id("oil"), journey, "test:a", "w:x"]
    tables = [index.table(node) for node in nodes]
    assert tables == ["Question", "Concept", "Journey", "Thread", None]
    assert [index.label(t or "", n) for t, n in zip(tables[:4], nodes, strict=False)] == [
        OIL,
        "oil",
        f"Path of {OIL}",
        "First",
    ]


def test_a_thread_without_title_is_called_by_its_id():
    plot = asked_again()
    plot.titles["test:a"] = None
    assert Index(plot.ground()).label("Thread", "test:a") == "test:a"


def test_distance_is_counted_up_to_a_limit():
    plot = Plot()
    for a, b in (("k1", "k2"), ("k2", "k3"), ("k3", "k4")):
        plot.relates.append((a, b))
    index = Index(plot.ground())
    ends = [concept_id(f"k{n}") for n in range(1, 5)]
    assert index.distance(ends[0], ends[3]) == 3
    assert index.distance(ends[0], ends[3], limit=2) is None


def test_a_partial_answer_resolves_nothing():
    plot = asked_again()
    plot.say("c", "Half of it.", resolves=OIL)
    ground = plot.ground()
    partial = tuple(edge.replace(kind="partial") for edge in ground.answers)
    assert Index(ground).cluster_answers(question_id(OIL)) != ()
    assert Index(replace(ground, answers=partial)).cluster_answers(question_id(OIL)) == ()


def test_an_answer_off_the_main_line_resolves_nothing():
    plot = asked_again()
    plot.say("c", "It was.", resolves=OIL, alternative=True)
    assert Index(plot.ground()).cluster_answers(question_id(OIL)) == ()


# foci


def test_questions_asked_again_are_foci_and_templates_of_no_weight_are_not():
    plot = asked_again()
    for thread in "ab":
        plot.say(thread, "Ok so?", asks=True)
    plot.salience["Ok so?"] = 0.2
    assert [each.id for each in focused(plot, "question_link")] == [question_id(OIL)]


def test_two_concepts_that_questions_of_two_threads_name_are_a_focus():
    (focus,) = focused(rhyming(), "concept_edge")
    assert set(focus.id.split()) == {concept_id("float line"), concept_id("drum")}


def test_each_pair_of_questions_gives_one_edge_however_many_concepts_they_share():
    plot = Plot()
    plot.say("a", LINE, "float line", "drum", "pulley", asks=True)
    plot.say("b", GROOVE, "float line", "drum", "pulley", asks=True)
    assert len(focused(plot, "concept_edge")) == 1


def test_a_label_inside_another_is_no_second_concept():
    plot = Plot()
    plot.say("a", LINE, "float line", "float", asks=True)
    plot.say("b", GROOVE, "float line", "float", asks=True)
    assert focused(plot, "concept_edge") == []


@pytest.mark.parametrize("how", ["linked", "same_cluster", "same_lineage", "low_salience"])
def test_no_edge_between_questions_that_meet_already(how):
    plot = rhyming()
    if how == "linked":
        plot.link(LINE, GROOVE)
    if how == "same_cluster":
        plot.link(LINE, GROOVE, LinkType.RECURRING)
    if how == "same_lineage":
        plot.thread("b", root="a")
        plot.say("c", "x", "float line", "drum")
    if how == "low_salience":
        plot.salience[LINE] = 0.1
    assert focused(plot, "concept_edge") == []


def test_what_a_crowd_asks_about_joins_nothing():
    plot = rhyming()
    for n in range(12):
        plot.say("c", f"More {n} of the float line?", "float line", asks=True)
    assert focused(plot, "concept_edge") == []


def test_threads_that_stopped_or_left_questions_open_are_foci_newest_first():
    plot = Plot()
    plot.say("old", "blocked", signals=plot.stop("blocked", "x"), days=40)
    plot.say("new", "next", signals=plot.stop("next", "y"), days=4)
    for n in range(2):
        plot.say("open", f"Open {n}?", asks=True, days=20)
        plot.say("done", f"Done {n}?", asks=True, days=2)
        plot.say("done", "yes", resolves=f"Done {n}?", days=1)
    assert [each.id for each in focused(plot, "frontier")] == ["test:new", "test:open", "test:old"]


def test_concepts_of_three_lineages_that_are_asked_about_are_themes():
    plot = asked_again()
    assert [each.id for each in focused(plot, "theme")] == [concept_id("oil")]


def test_journeys_with_a_frontier_are_foci():
    plot = asked_again()
    refs = tuple(line.ref for line in plot.every())
    key = plot.journey(OIL, refs)
    plot.journey("Other?", refs, merged_into=key)
    plot.journey("Third?", refs, frontier="")
    assert [each.id for each in focused(plot, "journey")] == [key]


def test_seeds_are_foci_computed_before_annotated_and_only_while_they_stand():
    plot = asked_again()
    seeds = (
        a_seed("knot", ("member", "q:1"), score=1.0),
        a_seed("knot", ("member", "q:2"), score=2.0),
        a_seed("knot", ("member", "q:3"), score=9.0, provenance="annotated"),
        a_seed("island", ("member", "q:4")),
        a_seed("island", ("member", "q:5"), resolved_run="r:9"),
        a_seed("shadow_route", ("member", "q:6")),
    )
    found = [(each.shape, each.members[0][1]) for each in focused(plot, "seed", seeds)]
    assert found == [("island", "q:4"), ("knot", "q:2"), ("knot", "q:1"), ("knot", "q:3")]


def test_a_missing_middle_that_says_what_joins_comes_before_wider_ones():
    plot = rhyming()
    wide = a_seed("missing_middle", ("side_a", "test:a"), ("side_b", "test:b"), score=9.0)
    told = a_seed("missing_middle", ("side_a", "c:a"), ("side_b", "c:b"), ("via", "c:m"))
    assert [each.id for each in focused(plot, "seed", (wide, told))] == [
        told.seed_id,
        wide.seed_id,
    ]


def corrected(*threads, clip="No, above chart datum."):
    plot = Plot()
    for n, thread in enumerate(threads):
        plot.say(
            thread, clip, "chart datum", days=30 - n, signals=plot.correct(clip, "chart datum")
        )
    return plot


def test_a_correction_given_in_two_threads_is_a_focus():
    (focus,) = focused(corrected("a", "b"), "correction")
    assert (focus.id, focus.family) == (f"claim/{concept_id('chart datum')}", "correction")


def test_a_correction_given_twice_in_one_lineage_is_none():
    plot = corrected("a", "b")
    plot.roots["test:b"] = "test:a"
    assert focused(plot, "correction") == []


def test_the_same_corrections_are_one_focus_however_many_concepts_they_name():
    plot = Plot()
    for thread in "ab":
        plot.say(
            thread,
            "No, above chart datum.",
            "chart datum",
            "sea level",
            signals=plot.correct("No", "chart datum", "sea level"),
        )
    assert len(focused(plot, "correction")) == 1


# pairs


def a_miss(question, ref, **changes):
    """The owner's word that a recall for a question missed a turn."""
    base = ReviewRecord(act="recall_miss", target=question_id(question), other=ref, at=NOW)
    return base.replace(**changes)


def test_a_missed_turn_is_a_focus_of_its_own_and_is_told():
    plot = rhyming()
    needed = plot.say("b", "A groove holds the float line.", "float line", role="assistant")
    index = Index(plot.ground(), (a_miss(LINE, needed), a_miss(LINE, needed)))
    (focus,) = (each for each in foci(index, ()) if each.kind == "recall_miss")
    assert (focus.id, focus.family) == (question_id(LINE), "recall_miss")
    made = pack(focus, index, (), SETTINGS, NOW)
    assert isinstance(made, Pack)
    assert made.eligible == ("compensatory",)
    assert [(each.thread_id, each.at) for each in made.missed] == [
        ("test:b", index.turns[needed].at)
    ]
    (found,) = missed_source(made)
    assert (found.src, found.dst) == (question_id(LINE), "test:b")
    assert isinstance(adjudicate(found, made, horizon(SETTINGS, NOW), NOW), Accepted)
    assert index.misses_without_source == 0


@pytest.mark.parametrize(
    "changes",
    [{"other": None}, {"other": "thread:test:b#turn:99"}, {"target": "q:unknown"}],
)
def test_a_miss_without_a_clean_turn_is_dropped_and_counted(changes):
    index = Index(rhyming().ground(), (a_miss(LINE, "thread:test:b#turn:1", **changes),))
    assert [each for each in foci(index, ()) if each.kind == "recall_miss"] == []
    assert index.misses_without_source == 1


def test_another_act_of_the_owner_is_no_miss():
    index = Index(rhyming().ground(), (a_miss(LINE, None, act="reject"),))
    assert index.misses_without_source == 0


def test_a_question_asked_again_is_paired_with_its_newest_thread():
    found = pairs_of(asked_again(), on("question_link", question_id(OIL)))
    assert found == [("test:c", question_id(OIL))]


def test_a_question_asked_again_is_paired_with_questions_on_its_concepts():
    plot = asked_again()
    plot.say("d", WHEEL, "oil", asks=True)
    low, high = sorted((question_id(OIL), question_id(WHEEL)))
    found = pairs_of(plot, on("question_link", question_id(OIL)))
    assert found == [("test:c", question_id(OIL)), (low, high)]


def test_a_cluster_whose_other_wording_left_the_main_line_is_still_paired():
    plot = asked_again()
    plot.say("d", "Is it oil?", asks=True, alternative=True)
    plot.link(OIL, "Is it oil?", LinkType.RECURRING)
    focus = on("question_link", Index(plot.ground()).clusters[question_id(OIL)])
    assert pairs_of(plot, focus) == [("test:c", question_id(OIL))]


def test_corrections_pair_the_last_thread_with_the_first_of_another_lineage():
    plot = corrected("a", "b", "c")
    plot.roots["test:c"] = "test:a"
    key = f"claim/{concept_id('chart datum')}"
    assert pairs_of(plot, on("correction", key)) == [("test:c", "test:b")]
    plot.roots["test:b"] = "test:a"
    assert pairs_of(plot, on("correction", key)) == []


def test_two_threads_of_one_lineage_are_never_paired():
    plot = corrected("a", "b")
    index = Index(plot.ground())
    assert len(candidates(on("correction", f"claim/{concept_id('chart datum')}"), index)) == 1
    plot.roots["test:b"] = "test:a"
    plot.thread("z")
    assert (
        candidates(on("correction", f"claim/{concept_id('chart datum')}"), Index(plot.ground()))
        == ()
    )


def seed_focus(shape, *members):
    return on("seed", "s:1", shape=shape, members=members)


def test_a_weak_bridge_pairs_the_best_questions_of_its_sides():
    plot = rhyming()
    plot.say("a", WHEEL, "oil", asks=True)
    focus = seed_focus("weak_bridge", ("side_a", "test:a"), ("side_b", question_id(GROOVE)))
    found = pairs_of(plot, focus)
    assert found[0] == tuple(sorted((question_id(LINE), question_id(GROOVE))))
    assert len(found) == 2


def test_a_missing_middle_pairs_newest_threads_with_the_far_concept_and_questions():
    plot = Plot()
    plot.say("a", "About the vent?", "vent stack", "salt film", asks=True, days=20)
    plot.say("b", "About the sensor?", "hall sensor", "salt film", asks=True, days=10)
    plot.say("c", "The vent stack.", "vent stack", days=50)
    plot.say("d", "The sensor.", "hall sensor", days=50)
    focus = seed_focus(
        "missing_middle",
        ("side_a", concept_id("vent stack")),
        ("side_b", concept_id("hall sensor")),
        ("via", concept_id("salt film")),
    )
    assert pairs_of(plot, focus) == [
        ("test:a", concept_id("hall sensor")),
        ("test:b", concept_id("vent stack")),
        tuple(sorted((concept_id("vent stack"), concept_id("hall sensor")))),
        tuple(sorted((question_id("About the vent?"), question_id("About the sensor?")))),
    ]


def test_a_file_is_nothing_that_a_thread_could_have_looked_at():
    plot = Plot(kinds={"hall.c": ConceptKind.PATH})
    for thread in "ab":
        plot.say(thread, "The vent.", "vent stack")
    for thread in "cd":
        plot.say(thread, "The hall file.", "hall.c")
    members = (("side_a", concept_id("vent stack")), ("side_b", concept_id("hall.c")))
    assert pairs_of(plot, seed_focus("missing_middle", *members)) == [
        ("test:d", concept_id("vent stack"))
    ]


def test_a_missing_middle_between_other_nodes_pairs_nothing():
    plot = rhyming()
    focus = seed_focus("missing_middle", ("side_a", "test:a"), ("side_b", "test:b"))
    assert pairs_of(plot, focus) == []


def test_a_missing_middle_without_turns_pairs_no_thread():
    plot = rhyming()
    plot.say("c", "gone", "vent stack", alternative=True)
    focus = seed_focus(
        "missing_middle",
        ("side_a", concept_id("vent stack")),
        ("side_b", concept_id("drum")),
    )
    assert pairs_of(plot, focus) == [("test:b", concept_id("vent stack"))]


def held_together():
    """Two parts that meet at the drum only."""
    plot = Plot()
    plot.say("a", LINE, "drum", "float line", asks=True)
    plot.say("b", "The drum turns.", "drum", "oil")
    plot.say("b", WHEEL, "oil", "drum", asks=True)
    return plot


def cut_at_the_drum(*extra):
    return seed_focus(
        "cut_point",
        ("cut", concept_id("drum")),
        ("side_a", "test:a"),
        ("side_a", question_id(LINE)),
        ("side_a", concept_id("float line")),
        ("side_b", "test:b"),
        ("side_b", question_id(WHEEL)),
        ("side_b", concept_id("oil")),
        *extra,
    )


def test_a_cut_point_is_paired_with_the_nearest_question_of_each_part():
    assert pairs_of(held_together(), cut_at_the_drum()) == [
        (concept_id("drum"), question_id(LINE)),
        (concept_id("drum"), question_id(WHEEL)),
    ]


def test_a_cut_point_that_no_question_names_is_not_paired():
    plot = Plot()
    plot.say("a", "The drum is here.", "drum")
    plot.say("a", LINE, "float line", asks=True)
    plot.say("b", "The drum turns.", "drum")
    plot.say("b", WHEEL, "oil", asks=True)
    assert pairs_of(plot, cut_at_the_drum()) == []


def test_a_cut_point_that_only_one_part_speaks_of_is_not_paired():
    plot = held_together()
    plot.lines["test:b"][1].concepts = ("oil",)
    assert pairs_of(plot, cut_at_the_drum()) == []


def test_a_thread_that_cuts_is_not_paired():
    focus = seed_focus("cut_point", ("cut", "test:a"), ("side_a", question_id(LINE)))
    assert pairs_of(held_together(), focus) == []


def test_a_cycle_pairs_its_newest_thread_with_the_question_it_comes_back_to():
    plot = asked_again()
    plot.say("b", "What else?", "pallet", asks=True, days=20)
    members = [("member", f"test:{name}") for name in "abc"] + [("member", concept_id("oil"))]
    assert pairs_of(plot, seed_focus("cycle", *members)) == [("test:c", question_id(OIL))]
    plain = seed_focus("cycle", ("member", question_id(OIL)))
    assert pairs_of(plot, plain) == []


def test_an_island_is_paired_with_the_nearest_words_outside():
    plot = Plot()
    plot.say("a", "Why does the levain collapse?", asks=True)
    plot.say("b", "Why did the levain shrink?", asks=True)
    plot.say("c", "Where is the drum?", asks=True)
    focus = seed_focus("island", ("member", question_id("Why does the levain collapse?")))
    own, other = "Why does the levain collapse?", "Why did the levain shrink?"
    assert pairs_of(plot, focus) == [(question_id(own), question_id(other))]


def test_a_knot_pairs_its_open_questions():
    plot = rhyming()
    plot.say("c", WHEEL, asks=True)
    plot.say("c", "it worked", resolves=WHEEL)
    members = [("member", f"test:{name}") for name in "abc"]
    assert pairs_of(plot, seed_focus("knot", *members)) == [
        tuple(sorted((question_id(LINE), question_id(GROOVE))))
    ]


def test_a_thread_is_paired_with_its_open_questions():
    plot = rhyming()
    plot.say("a", "Done?", asks=True)
    plot.say("a", "yes", resolves="Done?")
    assert pairs_of(plot, on("frontier", "test:a")) == [
        ("test:a", question_id(LINE)),
        tuple(sorted((question_id(LINE), question_id(GROOVE)))),
    ]


def test_a_journey_is_paired_with_others_its_open_questions_and_what_it_misses():
    plot = company_plot()
    ref = plot.lines["test:home"][0].ref
    one = plot.journey(OIL, (ref,), concepts=("oil", "pallet", "amplitude"), questions=("Start?",))
    two = plot.journey("Other?", (plot.lines["test:x0"][0].ref,))
    low, high = sorted((one, two))
    found = pairs_of(plot, on("journey", one))
    assert found == [
        (low, high),
        (one, question_id("Start?")),
        (one, concept_id("anchor escapement")),
    ]


def test_a_theme_pairs_questions_on_it_and_those_on_what_is_new_to_it():
    plot = Plot()
    plot.say("a", "Is the salt film thick?", "salt film", asks=True, days=40)
    plot.say("b", "Is the salt film old?", "salt film", asks=True, days=30)
    plot.say(
        "c",
        "Does the salt film reach the vent stack?",
        "salt film",
        "vent stack",
        asks=True,
        days=5,
    )
    plot.say("c", "And the drum?", "drum", asks=True, days=5)
    plot.say("d", "How tall is the vent stack?", "vent stack", "drum", asks=True, days=20)
    found = candidates(on("theme", concept_id("salt film")), Index(plot.ground()))
    new = {(each.src, each.dst) for each in found if each.new_concept == concept_id("vent stack")}
    assert new == {
        tuple(
            sorted(
                map(
                    question_id,
                    ("Does the salt film reach the vent stack?", "How tall is the vent stack?"),
                )
            )
        )
    }
    assert len([each for each in found if each.new_concept is None]) == 3


def test_a_theme_without_clean_turns_pairs_nothing():
    plot = Plot()
    plot.say("a", "x", "oil", alternative=True)
    assert pairs_of(plot, on("theme", concept_id("oil"))) == []


# gaps


def company_plot(label="anchor escapement", also=""):
    """A thread on oil, pallet, amplitude; elsewhere the three come with something more."""
    plot = Plot()
    for n in range(3):
        plot.say("home", f"Oil, pallet, amplitude {n}. {also}", "oil", "pallet", "amplitude")
    plot.say("home", "Start?", "oil", asks=True)
    for n in range(3):
        plot.say(f"x{n}", f"The {label} {n}", "oil", "pallet", "amplitude", label, days=20 + n)
    return plot


def gaps(plot, own=("oil", "pallet", "amplitude")):
    index = Index(plot.ground())
    return absent(index, map(concept_id, own), frozenset({"test:home"}))


def test_a_concept_that_comes_with_three_of_ours_in_three_threads_is_absent():
    assert gaps(company_plot()) == (concept_id("anchor escapement"),)


def test_two_threads_are_not_enough():
    plot = company_plot()
    plot.roots["test:x1"] = plot.roots["test:x0"]
    assert gaps(plot) == ()


def test_two_of_our_concepts_are_not_enough():
    assert gaps(company_plot(), ("oil", "pallet")) == ()


def test_one_of_our_concepts_in_each_thread_is_no_company():
    plot = company_plot()
    for n, kept in enumerate(("oil", "pallet", "amplitude")):
        plot.lines[f"test:x{n}"][0].concepts = (kept, "anchor escapement")
    plot.say("y", "Oil, pallet, amplitude.", "oil", "pallet", "amplitude")
    assert gaps(plot) == ()


def test_files_and_answers_are_no_company():
    plot = company_plot()
    plot.kinds["pallet"] = ConceptKind.PATH
    assert gaps(plot) == ()
    plot = company_plot()
    for n in range(3):
        plot.lines[f"test:x{n}"][0].role = "assistant"
    assert gaps(plot) == ()


def test_what_is_written_here_is_not_absent_though_it_is_not_kept():
    assert gaps(company_plot(also="An Anchor Escapement!")) == ()


def test_one_plain_word_is_no_topic():
    assert gaps(company_plot("weight")) == ()


def test_a_file_is_no_topic():
    plot = company_plot("sim/escape_wheel.py")
    plot.kinds["sim/escape_wheel.py"] = ConceptKind.PATH
    assert gaps(plot) == ()


def test_labels_inside_one_another_count_once():
    plot = company_plot("oil film")
    index = Index(plot.ground())
    own = [concept_id(label) for label in ("oil", "pallet", "amplitude")]
    found = companies(index, own, frozenset({"test:home"}))
    assert len(found[concept_id("oil film")].own) == 2
    assert gaps(plot) == ()


def test_the_gap_says_with_whom_and_where():
    made = packed(company_plot(), on("frontier", "test:home"))
    assert isinstance(made, Pack)
    (gap,) = made.absent
    assert (gap.label, gap.company, gap.lineages) == ("anchor escapement", 3, 3)
    assert set(gap.with_concepts) == {"oil", "pallet", "amplitude"}
    assert len(gap.aliases) == 3


def test_a_thread_of_two_human_turns_misses_nothing():
    plot = company_plot()
    del plot.lines["test:home"][1:3]
    plot.lines["test:home"][1].number = 2
    assert packed(plot, on("frontier", "test:home")).absent == ()


# packs


def test_a_pack_is_complete_in_itself():
    made = packed(rhyming(), focused(rhyming(), "concept_edge")[0])
    assert isinstance(made, Pack)
    assert [turn.text for turn in made.turns] == [LINE, GROOVE] or len(made.turns) == 2
    assert made.eligible == ("amplification",)
    assert made.readiness == "ready"
    assert made.counter_search.searched == (
        "already_linked",
        "base_rate",
        "contradicted",
        "different_sense",
        "settled",
        "tried_elsewhere",
    )
    assert Pack.from_json(made.model_dump_json()) == made


def everything():
    """A plot with something for every kind of focus."""
    plot = against_plot()
    plot.say("q1", OIL, "oil", "pallet", asks=True, days=9)
    plot.say("q2", OIL, "oil", "pallet", asks=True, days=8)
    plot.say("q2", "Is it the oil now?", "oil", asks=True, days=7)
    plot.link(OIL, "Is it the oil now?", LinkType.RECURRING)
    for name in ("k1", "k2"):
        signals = plot.correct("No, above datum.", "chart datum")
        plot.say(name, "No, above datum.", "chart datum", signals=signals)
    plot.journey(OIL, (plot.lines["test:q1"][0].ref,))
    plot.journey(LINE, (plot.lines["test:a"][0].ref,))
    return plot


def test_the_order_of_the_ground_changes_nothing():
    ground = everything().ground()
    families = {name: getattr(ground, name) for name in ground.__dataclass_fields__}
    turned = Index(replace(ground, **{name: rows[::-1] for name, rows in families.items() if rows}))
    straight = Index(ground)
    seeds = (
        a_seed("knot", ("member", "test:a"), ("member", "test:b")),
        a_seed("weak_bridge", ("side_a", "test:a"), ("side_b", "test:b")),
    )
    first = list(foci(straight, seeds))
    assert {each.kind for each in first} == {
        "correction",
        "journey",
        "seed",
        "question_link",
        "concept_edge",
        "frontier",
        "theme",
    }
    assert list(foci(turned, seeds[::-1])) == first
    for focus in first:
        one = pack(focus, straight, (), SETTINGS, NOW)
        assert pack(focus, turned, (), SETTINGS, NOW) == one


def test_every_input_is_listed_with_its_role():
    plot = asked_again()
    mood = Signal(kind="texture", type="uncertainty", clip="not sure")
    chose = Signal(kind="decision", type="rejected", clip="not the oil")
    plot.lines["test:b"][0].signals = (mood, chose)
    key = plot.journey(OIL, (plot.lines["test:a"][0].ref,), last_activity_at=days_ago(1))
    made = packed(plot, on("journey", key))
    second = plot.lines["test:b"][0].ref
    by_role: dict[tuple[str, str], list[str]] = {}
    for each in made.contributions:
        by_role.setdefault((each.kind, each.role), []).append(each.id)
    assert by_role["journey", "focus"] == [key]
    assert by_role["reflection", "clean_anchor"] == [key]
    assert by_role["decision", "clean_anchor"] == [second]
    assert by_role["texture", "texture"] == [f"{second} rejected_route", f"{second} uncertainty"]
    assert sorted(by_role["turn", "clean_anchor"]) == sorted(turn.ref for turn in made.turns)
    assert made.textures == ("rejected_route", "uncertainty")


@pytest.mark.parametrize(
    ("texture", "opened"),
    [
        ("uncertainty", "prospective"),
        ("process_note", "prospective"),
        ("abandoned_direction", "active_imagination"),
        ("rejected_route", "active_imagination"),
        ("self_correction", "active_imagination"),
        ("affect", "active_imagination"),
        ("none_of_these", None),
    ],
)
def test_a_texture_opens_a_function_and_no_other(texture, opened):
    plot = asked_again()
    signal = Signal(kind="texture", type=texture, clip="so it is")
    plot.lines["test:a"][0].signals = (signal,)
    made = packed(plot, on("question_link", min(Index(plot.ground()).members)))
    base = ("compensatory", "amplification")
    assert made.eligible == ((*base, opened) if opened else base)


def test_of_labels_inside_one_another_the_longest_is_shared():
    plot = Plot()
    plot.say("a", LINE, "winding drum", "drum", "oil", asks=True)
    plot.say("b", GROOVE, "winding drum", "drum", "oil", asks=True)
    focus = seed_focus("weak_bridge", ("side_a", "test:a"), ("side_b", "test:b"))
    (pair,) = packed(plot, focus).pairs
    assert set(pair.shared) == {concept_id("winding drum"), concept_id("oil")}


def test_a_pair_of_questions_brings_what_was_said_about_what_they_share():
    plot = rhyming()
    plot.say("a", "The float line jumps off the drum.", "float line", "drum", role="assistant")
    plot.say("a", "Unrelated.", "oil")
    made = packed(plot, focused(plot, "concept_edge")[0])
    assert sorted(turn.text for turn in made.turns) == sorted(
        (LINE, GROOVE, "The float line jumps off the drum.")
    )


def test_at_most_24_turns_and_8_counter_turns_enter_and_the_rest_is_counted():
    plot = Plot()
    for n in range(30):
        plot.say(f"t{n}", f"Question {n} of the oil?", "oil", "pallet", asks=OIL, days=n + 1)
    tight = DreamSettings(pack=PackSettings(max_refs=4))
    made = packed(plot, on("question_link", question_id(OIL)), tight)
    assert len(made.turns) == 4
    assert made.left_out > 0
    whole = packed(plot, on("question_link", question_id(OIL)))
    assert len(whole.turns) <= 24
    assert len(whole.counter_turns) <= 8


def test_32000_characters_are_the_limit_and_no_turn_is_cut_in_half():
    plot = Plot()
    for n in range(6):
        plot.say(f"t{n}", f"{n} " + "oil " * 280 + "end", "oil", asks=OIL, days=n + 1)
    tight = DreamSettings(pack=PackSettings(max_characters=3000))
    made = packed(plot, on("question_link", question_id(OIL)), tight)
    assert sum(len(turn.text) for turn in made.turns) <= 3000
    assert all(turn.text.endswith("end") for turn in made.turns)
    assert made.left_out == 4


def test_aliases_run_on_from_premises_to_counter_turns():
    plot = against_plot()
    made = packed(plot, focused(plot, "concept_edge")[0])
    named = [turn.alias for turn in (*made.turns, *made.counter_turns)]
    assert named == [f"sr{n}" for n in range(len(named))]
    assert made.counter_turns


def test_the_id_of_a_pack_is_its_content():
    plot = rhyming()
    focus = focused(plot, "concept_edge")[0]
    first = packed(plot, focus)
    assert packed(plot, focus).pack_id == first.pack_id
    plot.lines["test:a"][0].text = LINE.upper()
    plot.lines["test:a"][0].asks = LINE
    assert packed(plot, focus).pack_id != first.pack_id


def test_one_thread_serves_compensation_alone():
    plot = Plot()
    plot.say("a", OIL, "oil", asks=True)
    plot.say("a", "I cleaned it.")
    plot.say("a", OIL, "oil", asks=True)
    made = packed(plot, on("question_link", question_id(OIL)))
    assert (made.readiness, made.eligible) == ("single_thread", ("compensatory",))


def test_one_thread_with_one_turn_is_too_thin():
    plot = Plot()
    plot.say("a", OIL, "oil", asks=True)
    found = packed(plot, on("question_link", question_id(OIL)))
    assert found == TooThin(status="single_thread", refs=1, lineages=1)


def test_a_focus_without_clean_turns_is_too_thin():
    found = packed(rhyming(), seed_focus("knot", ("member", "q:none")))
    assert found == TooThin(status="no_clean_refs", refs=0, lineages=0)


def test_a_focus_without_pairs_has_nothing_to_ask():
    focus = seed_focus("knot", ("via", concept_id("drum")), ("member", "q:none"))
    found = packed(rhyming(), focus)
    assert found == TooThin(status="nothing_to_ask", refs=2, lineages=2)


def test_a_question_that_no_clean_turn_asks_is_not_described():
    plot = rhyming()
    plot.say("c", WHEEL, asks=True, alternative=True)
    focus = seed_focus("knot", *(("member", question_id(each)) for each in (LINE, GROOVE, WHEEL)))
    made = packed(plot, focus)
    assert {each.text for each in made.questions} == {LINE, GROOVE}
    assert {pair.dst for pair in made.pairs} | {pair.src for pair in made.pairs} >= {
        question_id(WHEEL)
    }


def test_a_cut_thread_gives_its_turns_to_no_middle():
    focus = seed_focus(
        "knot",
        ("cut", "w:gone"),
        ("member", question_id(LINE)),
        ("member", question_id(GROOVE)),
    )
    assert {turn.side for turn in packed(rhyming(), focus).turns} == {"a", "b"}


def test_a_journey_whose_frontier_left_the_main_line_stands_nowhere():
    plot = company_plot()
    ref = plot.lines["test:home"][0].ref
    key = plot.journey(
        OIL,
        (ref,),
        concepts=("oil", "pallet", "amplitude"),
        questions=("Start?",),
        frontier_refs=("thread:test:gone#turn:1",),
    )
    plot.journey("Other?", (plot.lines["test:x0"][0].ref,))
    made = packed(plot, on("journey", key))
    assert {each.frontier_aliases for each in made.journeys if each.journey_id == key} == {()}


def test_a_correction_pack_holds_only_its_corrections():
    plot = corrected("a", "b")
    plot.say("a", "No, the other wheel.", "oil", signals=plot.correct("No, the wheel.", "oil"))
    made = packed(plot, on("correction", f"claim/{concept_id('chart datum')}"))
    assert [each.clip for each in made.corrections] == ["No, above chart datum."] * 2


def test_live_hypotheses_on_a_pair_come_first_among_the_neighbours():
    plot = asked_again()
    whole = a_hypothesis(hypothesis_id="h:z", src="test:c", dst=question_id(OIL))
    near = a_hypothesis(hypothesis_id="h:a", src="test:c", dst="q:other")
    far = a_hypothesis(hypothesis_id="h:f", src="test:q", dst="q:other")
    made = packed(plot, on("question_link", question_id(OIL)), live=(near, whole, far))
    assert [each.hypothesis_id for each in made.neighbours] == ["h:z", "h:a"]


def test_a_thread_is_described_over_its_whole_lineage():
    plot = Plot()
    plot.say("a", "Implement the parser", "parser")
    plot.say("a", WHEEL, "parser", asks=True, signals=plot.stop("blocked", "waits", WHEEL))
    plot.thread("b", root="a")
    plot.say("b", "It was tested", "parser", days=2)
    plot.say("c", "Parser measured", "parser", "oil", days=2)
    made = packed(plot, on("frontier", "test:a"))
    assert (made.thread.turns, made.thread.technique, made.thread.verification) == (3, True, True)
    assert made.thread.open_questions == 1


def test_others_verified_on_the_same_are_counted():
    plot = Plot()
    for n in range(2):
        plot.say("a", f"Implement {n}?", "parser", "oil", asks=True)
    plot.say("b", "Tested parser with oil", "parser", "oil")
    plot.say("c", "Tested the parser", "parser")
    plot.say("d", "Parser and oil", "parser", "oil")
    assert packed(plot, on("frontier", "test:a")).thread.verified_elsewhere == 1


def test_undated_turns_have_no_age():
    plot = Plot()
    for n in range(2):
        plot.say(f"t{n}", OIL, "oil", asks=True, days=None)
    (question,) = packed(plot, on("question_link", question_id(OIL))).questions
    assert (question.first_seen, question.days_open) == (None, None)


# counter-evidence


def against_plot():
    """A rhyme that everything speaks against."""
    plot = rhyming()
    plot.say(
        "a",
        "No, the drum is not it.",
        "drum",
        days=5,
        signals=plot.correct("No, the drum is not it.", "drum"),
    )
    plot.say("b", "That worked.", days=4, resolves=GROOVE)
    for n in range(3):
        plot.say(f"z{n}", "The float line again", "float line", days=50 + n)
    return plot


def kinds_of(plot, focus):
    made = packed(plot, focus)
    assert isinstance(made, Pack)
    return {each.kind: each.statement for pair in made.pairs for each in pair.counter}


def edge(plot):
    return focused(plot, "concept_edge")[0]


def test_a_later_correction_about_what_is_shared_speaks_against():
    found = kinds_of(against_plot(), edge(rhyming()))
    assert found["contradicted"] == 'A later turn speaks against it: "No, the drum is not it."'


@pytest.mark.parametrize("how", ["earlier", "assistant", "elsewhere", "other_concept", "chose"])
def test_other_turns_do_not_contradict(how):
    plot = Plot()
    signal = plot.correct("No.", "oil" if how == "other_concept" else "drum")
    if how == "chose":
        signal = (signal[0].model_copy(update={"kind": "decision", "type": "chose"}),)
    days, role = (99 if how == "earlier" else 5), ("assistant" if how == "assistant" else "human")
    where = "c" if how == "elsewhere" else "a"
    plot.say(where, "No, the drum.", "drum", "oil", days=days, role=role, signals=signal)
    plot.say("a", LINE, "float line", "drum", asks=True, days=30)
    plot.say("b", GROOVE, "float line", "drum", asks=True, days=20)
    assert "contradicted" not in kinds_of(plot, edge(rhyming()))


def test_a_rejected_route_contradicts_too():
    plot = rhyming()
    signal = plot.correct("Rejected the drum.", "drum")[0].model_copy(
        update={"kind": "decision", "type": "rejected"}
    )
    plot.say("a", "Rejected the drum.", "drum", days=5, signals=(signal,))
    assert "contradicted" in kinds_of(plot, edge(rhyming()))


def test_a_later_answer_settles():
    found = kinds_of(against_plot(), edge(rhyming()))
    assert found["settled"] == f'"{GROOVE}" was settled on 2026-01-11.'


def test_an_answer_before_the_last_asking_settles_nothing():
    plot = rhyming()
    plot.say("b", "That worked.", days=25, resolves=GROOVE)
    assert "settled" not in kinds_of(plot, edge(rhyming()))


def test_an_answer_off_the_main_line_settles_nothing():
    plot = rhyming()
    plot.say("b", "That worked.", days=4, resolves=GROOVE, alternative=True)
    assert "settled" not in kinds_of(plot, edge(rhyming()))


def test_an_arrived_journey_settles():
    plot = company_plot()
    ref = plot.lines["test:home"][0].ref
    key = plot.journey(OIL, (ref,), concepts=("oil", "pallet", "amplitude"), status="arrived")
    assert kinds_of(plot, on("journey", key))["settled"] == f'"{OIL}" was settled on 2025-11-16.'


def test_a_link_or_another_middle_is_a_connection_already():
    plot = rhyming()
    plot.say("c", WHEEL, asks=True)
    plot.link(LINE, WHEEL)
    plot.link(GROOVE, WHEEL)
    assert kinds_of(plot, edge(rhyming()))["already_linked"] == (
        f'Already connected through "{WHEEL}".'
    )


def test_a_shorter_label_of_what_is_shared_is_no_other_middle():
    plot = Plot()
    for thread, text in (("a", LINE), ("b", GROOVE)):
        plot.say(thread, text, "winding drum", "drum", "oil", asks=True)
    members = (("side_a", "test:a"), ("side_b", "test:b"))
    assert "already_linked" not in kinds_of(plot, seed_focus("weak_bridge", *members))


def test_a_direct_link_is_a_connection_already():
    plot = rhyming()
    plot.link(LINE, GROOVE)
    focus = seed_focus("knot", ("member", "test:a"), ("member", "test:b"))
    assert kinds_of(plot, focus)["already_linked"] == "Already connected by an extracted link."


def test_a_middle_without_a_clean_turn_is_no_counter_evidence():
    plot = rhyming()
    plot.say("c", WHEEL, asks=True, alternative=True)
    plot.link(LINE, WHEEL)
    plot.link(GROOVE, WHEEL)
    assert "already_linked" not in kinds_of(plot, edge(rhyming()))


def test_a_concept_with_other_company_on_each_side_has_another_sense():
    plot = Plot()
    plot.say("a", LINE, "float line", "drum", "oil", "pallet", asks=True)
    plot.say("b", GROOVE, "float line", "drum", "stone", "post", asks=True)
    for thread in "cd":
        plot.say(thread, "x", "oil", "pallet", "stone", "post")
    found = kinds_of(plot, edge(rhyming()))
    assert "different_sense" not in found  # each has the other shared concept beside it
    plot = Plot()
    plot.say("a", LINE, "drum", "oil", "pallet", asks=True)
    plot.say("b", GROOVE, "drum", "stone", "post", asks=True)
    for thread in "cd":
        plot.say(thread, "x", "oil", "pallet", "stone", "post")
    focus = seed_focus("weak_bridge", ("side_a", "test:a"), ("side_b", "test:b"))
    assert kinds_of(plot, focus)["different_sense"] == (
        '"drum" keeps different company on each side.'
    )


def test_what_is_missing_here_was_tried_elsewhere_on_the_journey():
    plot = company_plot()
    refs = (plot.lines["test:home"][0].ref, plot.lines["test:x0"][0].ref)
    plot.journey(OIL, refs)
    plot.journey("Far?", (plot.lines["test:x2"][0].ref,))
    plot.journey("At home?", (refs[0],))
    assert kinds_of(plot, on("frontier", "test:home"))["tried_elsewhere"] == (
        '"anchor escapement" was looked at in another thread.'
    )


def test_what_is_shared_occurs_where_nothing_followed():
    found = kinds_of(against_plot(), edge(rhyming()))
    assert found["base_rate"] == '"float line" also occurs in 3 threads where nothing followed.'


def test_base_rates_need_five_threads():
    plot = rhyming()
    plot.say("z", "The float line again", "float line")
    assert "base_rate" not in kinds_of(plot, edge(rhyming()))


def test_a_missing_concept_alone_elsewhere_is_a_base_rate():
    plot = company_plot()
    plot.say("alone", "Anchor escapement", "anchor escapement")
    assert kinds_of(plot, on("frontier", "test:home"))["base_rate"] == (
        '"anchor escapement" also occurs in 1 thread where nothing followed.'
    )


def test_at_most_four_statements_stand_against_a_pair():
    plot = against_plot()
    plot.say("c", WHEEL, asks=True)
    plot.link(LINE, WHEEL)
    plot.link(GROOVE, WHEEL)
    (pair,) = packed(plot, edge(rhyming())).pairs
    assert [each.kind for each in pair.counter] == [
        "contradicted",
        "settled",
        "already_linked",
        "base_rate",
    ]


@pytest.mark.parametrize(
    ("days", "slowing"),
    [
        ((40, 27.9, 14.1), True),
        ((27, 14.1, 13.9), True),
        ((27, 13.9, 12), False),
        ((28.1, 29, 30), False),
        ((20, None, None), True),
        ((), False),
    ],
)
def test_a_journey_slows_whose_fortnight_has_fewer_stops_than_the_one_before(days, slowing):
    plot = Plot()
    refs = [
        plot.say(f"t{at}", "Why does it leak?", "leak", asks=True, days=day)
        for at, day in enumerate(days)
    ]
    key = plot.journey("Why does it leak?", tuple(refs))
    assert is_slowing(key, Index(plot.ground()), NOW) == slowing
