"""What may come: each rule fires on its plant and not on its decoy."""

import pytest

from dream.adjudicate import adjudicate
from dream.functions.prospective import (
    draft,
    emergence_signal,
    leaving_the_island,
    pre_articulation_marker,
    revive_signal,
    trajectory_hint,
)
from dream.index import Index
from dream.landing import horizon
from dream.model import Parked, TooThin
from dream.walk import Walk, draw
from graphstore.ids import concept_id, question_id
from graphstore.model.knowledge import ConceptKind
from tests.dreamt import SETTINGS, a_pack, only, packed
from tests.planted import NOW, Plot, days_ago

POST = "Which fixing holds the oak post?"
STRAP = "Can the pipe be strapped to the oak post?"
LIME = "Does quick lime burn the stone pipe?"


def fired(rule, made):
    """Drafts of a rule; a pack that is too thin gives none."""
    return [] if isinstance(made, TooThin) else list(rule(made))


# trajectory_hint


def on_the_way(**changes):
    """A Journey about the oak post, and a question of another thread on the same post."""
    plot = Plot(generic={"water"})
    plot.say("a", POST, "oak post", "quay wall", asks=True, days=30)
    stop = plot.say("a", "Waiting: the oak post needs a permit.", "oak post", days=20)
    plot.say("b", STRAP, "oak post", "stone pipe", asks=True, days=9)
    plot.say("c", LIME, "stone pipe", "quick lime", asks=True, days=8)
    plot.say("d", "The quick lime of the quay wall.", "quick lime", "quay wall", days=7)
    key = plot.journey(POST, (plot.lines["test:a"][0].ref, stop), concepts=("oak post",), **changes)
    return plot, key


def test_the_walk_comes_to_what_is_asked_about_the_same():
    plot, key = on_the_way(frontier_refs=())
    found = Walk(key, Index(plot.ground())).targets()
    # nothing that the frontier itself names or asks is a target; what lies two steps off is
    assert question_id(POST) not in {each.dst for each in found}
    assert question_id(STRAP) in {each.dst for each in found}
    best = found[0]
    assert (best.share, best.through) == (1.0, ("oak post",))
    assert best.walks >= 3
    assert best.visits >= 0.02 * 64 * 8


def test_the_same_ground_is_walked_in_the_same_way():
    plot, key = on_the_way(frontier_refs=())
    assert Walk(key, Index(plot.ground())).paths == Walk(key, Index(plot.ground())).paths
    assert len(Walk(key, Index(plot.ground())).paths) == 64
    assert {len(path) for path in Walk(key, Index(plot.ground())).paths} == {9}


def test_a_draw_is_a_share_that_its_seed_decides():
    drawn = [draw("seed", walk, 0) for walk in range(200)]
    assert all(0 <= each < 1 for each in drawn)
    assert 0.4 < sum(drawn) / 200 < 0.6
    assert draw("seed", 1) == draw("seed", 1) != draw("seed", 2)


def test_a_journey_may_come_to_what_the_walk_leads_to():
    plot, key = on_the_way(frontier_refs=())
    made = packed(plot, "journey", key)
    found = next(each for each in trajectory_hint(made) if each.dst == question_id(STRAP))
    assert (found.src, found.edge, found.start, found.support) == (key, "ANTICIPATES", 20, 1.0)
    assert found.next_check == "retrospective_check"
    assert found.summary.startswith("If this goes on, the inquiry at ")
    assert "of 64 walks" in found.summary
    asked = found.invitation
    assert asked is not None
    assert asked.opening.endswith("?")
    assert asked.days == 14
    assert set(asked.refs) <= set(found.refs)


@pytest.mark.parametrize("decoy", ["own", "beside", "same_lineage", "faint", "alone", "file"])
def test_no_target(decoy):
    plot, key = on_the_way(frontier_refs=())
    if decoy == "own":
        plot.journeys[0] = (*plot.journeys[0][:2], (POST, STRAP, LIME), plot.journeys[0][3])
    if decoy == "beside":
        plot.link(POST, STRAP)
    if decoy == "same_lineage":
        plot.roots["test:b"] = plot.roots["test:c"] = "test:a"
        plot.say("e", "The oak post and the stone pipe.", "oak post", "stone pipe")
    if decoy == "faint":
        plot.salience = {STRAP: 0.1, LIME: 0.1}
    if decoy == "alone":
        plot = Plot()
        ref = plot.say("a", POST, "oak post", asks=True, days=30)
        key = plot.journey(POST, (ref,))
    if decoy == "file":
        plot.link(POST, STRAP)
        plot.kinds = {"stone pipe": ConceptKind.PATH}
    found = Walk(key, Index(plot.ground())).targets()
    gone = concept_id("stone pipe") if decoy == "file" else question_id(STRAP)
    assert gone not in {each.dst for each in found}


def test_a_frontier_without_neighbours_is_walked_nowhere():
    plot = Plot()
    key = plot.journey("And now?", (plot.say("a", "And now?", asks=True),))
    assert Walk(key, Index(plot.ground())).paths == ()
    assert Walk(key, Index(plot.ground())).targets() == ()


def test_a_topic_beside_the_path_may_be_a_target():
    plot, key = on_the_way(frontier_refs=())
    plot.link(POST, STRAP)
    assert [each.label for each in Walk(key, Index(plot.ground())).targets()] == ["stone pipe"]


def test_the_walk_begins_where_the_frontier_turns_stand():
    plot, key = on_the_way()
    assert Walk(key, Index(plot.ground())).starts == (concept_id("oak post"),)


def test_a_crowd_is_walked_within_its_bounds():
    plot = Plot()
    plot.say("a", POST, "hub post", asks=True, days=30)
    plot.say("z", "The hub post.", "hub post")
    for number in range(450):
        plot.say(f"t{number}", f"Question {number} of the hub post?", "hub post", asks=True)
    key = plot.journey(POST, (plot.lines["test:a"][0].ref,), frontier_refs=())
    walk = Walk(key, Index(plot.ground()))
    assert len(walk.ground) <= 400
    assert sum(map(len, walk.ground.values())) <= 2 * 1600


def test_a_target_that_nothing_names_the_way_to_is_not_told():
    plot, key = on_the_way(frontier_refs=())
    made = packed(plot, "journey", key)
    bare = tuple(each.replace(through=()) for each in made.walked)
    assert list(trajectory_hint(made.replace(walked=bare))) == []
    assert list(trajectory_hint(made.replace(journeys=()))) == []


# emergence_signal


def drawing_near(newest=2):
    """Two topics that no thread holds together; a month ago nothing stood between them."""
    plot = Plot()
    for name, days in (("a", 50), ("b", 40), ("c", 5)):
        plot.say(name, "The salt film stays.", "salt film", days=days)
        plot.say(name, "The salt film stays on.", "salt film", days=days)
        plot.say(name, "And now the salt film?", "salt film", asks=f"Salt {name}?", days=days)
    for name, days in (("d", 50), ("e", 40), ("f", newest)):
        plot.say(name, "The hall sensor drifts.", "hall sensor", days=days)
    for middle in ("condensation", "dew point"):
        one = plot.say("g", f"{middle} leaves a salt film", middle, "salt film", days=4)
        two = plot.say("h", f"{middle} wets the hall sensor", middle, "hall sensor", days=3)
        plot.relates += [("salt film", middle, one), ("hall sensor", middle, two)]
    return plot


def signal(plot):
    return packed(plot, "frontier", "test:c")


def test_two_topics_with_more_between_them_draw_together():
    made = signal(drawing_near())
    found = only(emergence_signal(made))
    assert (found.src, found.dst) == (concept_id("salt film"), concept_id("hall sensor"))
    assert (found.edge, found.start, found.support) == ("ANTICIPATES", 30, 1.0)
    assert "2 things join them now, 0 a month before" in found.summary
    assert found.summary.startswith("If this goes on, ")
    assert [each.side for each in found.claims] == ["a", "b"]


@pytest.mark.parametrize("decoy", ["old", "met", "two_threads", "one_middle", "idle", "linked"])
def test_nothing_emerges(decoy):
    plot = drawing_near(newest=40 if decoy == "idle" else 2)
    if decoy == "old":
        for thread in ("test:g", "test:h"):
            for line in plot.lines[thread]:
                line.at = days_ago(60)
    if decoy == "met":
        plot.say("a", "Salt film on the hall sensor.", "salt film", "hall sensor", days=50)
    if decoy == "two_threads":
        del plot.lines["test:f"], plot.lines["test:e"]
    if decoy == "one_middle":
        plot.relates = plot.relates[:2]
    if decoy == "idle":
        for line in plot.lines["test:h"]:
            line.at = days_ago(39)
    if decoy == "linked":
        plot.relates.append(("salt film", "hall sensor"))
    assert fired(emergence_signal, signal(plot)) == []


def test_growth_without_weight_has_no_support():
    made = signal(drawing_near())
    light = tuple(each.replace(support=0.0) for each in made.growing)
    assert only(emergence_signal(made.replace(growing=light))).support == 0.0


def test_a_question_of_an_island_may_leave_it():
    plot = Plot()
    plot.say("a", "Why does the levain collapse overnight?", asks=True)
    plot.say("b", "Why did the levain collapse so early?", asks=True)
    plot.say("c", "Where did the levain come from?", asks=True)
    members = (("member", question_id("Why does the levain collapse overnight?")),)
    made = packed(plot, "seed", "s:1", shape="island", members=members)
    found = only(leaving_the_island(made))
    assert found.dst == question_id("Why did the levain collapse so early?")
    assert found.rule == "emergence_signal"
    assert 'both say "collapse" and "levain"' in found.summary
    # nothing speaks against it here, so it waits
    verdict = adjudicate(found, made, horizon(SETTINGS, NOW), NOW)
    assert isinstance(verdict, Parked)
    assert verdict.failed == ("has_counter_evidence", "has_cues")
    assert list(leaving_the_island(made.replace(focus=made.focus.replace(shape="knot")))) == []


# pre_articulation_marker


def unspoken(**changes):
    """Three topics that meet two by two in three threads."""
    plot = Plot()
    plot.say("a", "Does the salt film hold the escape wheel?", "salt film", "escape wheel",
             asks=True, days=3)  # fmt: skip
    plot.say("b", "The salt film on the hall sensor.", "salt film", "hall sensor", days=12)
    plot.say("c", "The hall sensor of the escape wheel.", "hall sensor", "escape wheel",
             days=changes.get("days", 20))  # fmt: skip
    return plot


def test_three_topics_that_meet_in_pairs_are_a_theme_not_yet_said():
    made = packed(unspoken(), "frontier", "test:a")
    found = only(pre_articulation_marker(made))
    assert found.src == question_id("Does the salt film hold the escape wheel?")
    assert (found.dst, found.start, found.support) == (concept_id("hall sensor"), 30, 1.0)
    assert "3 threads of the last two months join them in pairs" in found.summary
    assert found.title.startswith("Not yet said: ")
    assert set(found.claims[1].refs)


@pytest.mark.parametrize(
    "decoy", ["whole", "old", "resolved", "stale", "plain", "said", "answered"]
)
def test_no_theme(decoy):
    plot = unspoken(days=70 if decoy == "old" else 20)
    if decoy == "whole":
        plot.say("d", "All three.", "salt film", "escape wheel", "hall sensor", days=90)
    if decoy == "resolved":
        plot.say("a", "It did.", resolves="Does the salt film hold the escape wheel?", days=2)
    if decoy == "stale":
        plot.lines["test:a"][0].at = days_ago(90)
    if decoy == "plain":
        plot.kinds = {"hall sensor": ConceptKind.PATH}
    if decoy == "said":
        plot.say("a", "I looked at the hall sensor once.", days=3)
    if decoy == "answered":
        plot.lines["test:c"][0].role = "assistant"
        plot.lines["test:c"][0].changes = {"taint": "assistant"}
    made = packed(plot, "frontier", "test:a")
    assert fired(pre_articulation_marker, made) == []


def test_a_theme_without_weight_has_no_support():
    made = packed(unspoken(), "frontier", "test:a")
    light = tuple(each.replace(weight=0.0) for each in made.unspoken)
    assert only(pre_articulation_marker(made.replace(unspoken=light))).support == 0.0


# revive_signal


def resting(**changes):
    """A Journey that rests, and two later threads on what it was about."""
    plot = Plot()
    ref = plot.say("a", POST, "oak post", "quay wall", asks=True, days=90)
    plot.say("b", "The oak post leans on the quay wall.", "oak post", "quay wall", days=9)
    plot.say("c", "The quay wall moves the oak post.", "quay wall", "oak post", days=5)
    key = plot.journey(POST, (ref,), concepts=("oak post", "quay wall"), **changes)
    return plot, key


@pytest.mark.parametrize("changes", [{}, {"status": "abandoned"}])
def test_a_resting_journey_may_wake(changes):
    plot, key = resting(**changes)
    made = packed(plot, "journey", key)
    found = only(revive_signal(made))
    assert (found.src, found.dst, found.start) == (key, question_id(POST), 20)
    assert found.support == 0.5
    assert "2 later threads" in found.summary
    assert found.invitation.type == "source_reopen_first"
    assert len(found.claims[1].refs) == 2


@pytest.mark.parametrize("decoy", ["moves", "one_thread", "one_concept", "arrived", "undated"])
def test_a_journey_stays_asleep(decoy):
    changes: dict[str, dict[str, object]] = {
        "moves": {"last_seen": days_ago(20)},
        "arrived": {"status": "arrived"},
        "undated": {"last_seen": None},
    }
    plot, key = resting(**changes.get(decoy, {}))
    if decoy == "one_thread":
        plot.roots["test:c"] = "test:b"
    if decoy == "one_concept":
        for name in ("test:b", "test:c"):
            plot.lines[name][0].concepts = ("oak post",)
        plot.say("d", "quay wall", "quay wall", days=80)
    assert fired(revive_signal, packed(plot, "journey", key)) == []


def test_every_draft_says_if():
    plot, key = on_the_way(frontier_refs=())
    found = list(draft(packed(plot, "journey", key)))
    assert found
    for each in found:
        assert "f this goes on" in each.summary
        assert len(each.title) <= 90
        assert len(each.summary) <= 400


def test_a_pack_of_nothing_gives_nothing():
    assert list(draft(a_pack())) == []
