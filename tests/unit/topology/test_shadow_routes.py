"""Two Journeys on common turns: what is one, what is only alike."""

from dataclasses import replace

import numpy as np
import pytest

import topology
from graphstore.model.view import SUCCESSION, Route
from topology.model import Limits
from topology.report import report, to_json, to_markdown, to_table

NAMES = ("j:0", "j:1", "j:2")


class Walk:
    """Waypoints w:<journey>-<at> of Journeys, each anchored in turns of its own or common ones."""

    def __init__(self, sketch):
        self.sketch = sketch
        self.refs: dict[str, list[str]] = {}
        self.failed: dict[str, list[str]] = {}
        self.stops: dict[str, list[str]] = {}

    def step(self, journey, thread, turn, *concepts, day=100, failed=False):
        self.sketch.thread(thread, day)
        stops = self.stops.setdefault(journey, [])
        name = f"w:{journey[2:]}-{len(stops)}"
        self.sketch.node(name, thread, day, 0, [(thread, turn)])
        self.sketch.link(thread, name, turn=(thread, turn))
        for concept in concepts:
            self.sketch.mention(name, concept, (thread, turn))
        stops.append(name)
        ref = f"thread:{thread}#turn:{turn}"
        self.refs.setdefault(journey, []).append(ref)
        if failed:
            self.failed.setdefault(journey, []).append(ref)

    def view(self, merged=(), steps=()):
        view = self.sketch.view()
        place = {name: at for at, name in enumerate(view.ids)}
        routes = tuple(
            Route(
                journey,
                tuple(place[name] for name in self.stops[journey]),
                tuple(sorted(set(self.refs[journey]))),
                tuple(self.failed.get(journey, ())),
                dict(merged).get(journey),
            )
            for journey in sorted(self.stops)
        )
        arcs = [(place[a], place[b], SUCCESSION) for a, b in steps]
        return replace(view, journeys=routes, arcs=np.array(arcs, np.int32).reshape(-1, 3))


@pytest.fixture
def walk(sketch):
    return Walk(sketch)


def shadows(view, **limits):
    found = topology.scout(view, ["shadow_route"], Limits(**limits))
    return list(found.seeds), found


def names(seed):
    return tuple(member.node_id for member in seed.members)


def test_common_turns_of_two_journeys_are_a_shadow_route(walk):
    walk.step("j:0", "s:1", 3)
    walk.step("j:0", "s:2", 3)
    walk.step("j:1", "s:1", 3)
    (seed,), scouted = shadows(walk.view())
    assert (seed.kind, seed.level, seed.score, names(seed)) == ("overlap", None, 1.0, NAMES[:2])
    assert [ref.ref for ref in seed.refs] == ["thread:s:1#turn:3"]
    assert seed.claim == "none_before_reopen"
    shown = report(scouted, {})
    assert shown.seeds == ()
    assert shown.ok
    assert shown.shadow[0].sentence == "j:0 and j:1 rest on 1 common turn and are never linked."
    for text in (to_table(shown), to_markdown(shown), to_json(shown).decode()):
        assert "rest on 1 common turn" in text


def test_an_attempt_that_failed_on_one_side_alone_is_residue(walk):
    walk.step("j:0", "s:1", 3, failed=True)
    walk.step("j:1", "s:1", 3)
    walk.step("j:0", "s:2", 3, failed=True)
    walk.step("j:1", "s:2", 3, failed=True)
    (seed,), scouted = shadows(walk.view())
    assert (seed.kind, seed.score) == ("residue", 3.0)
    assert "1 failed attempt of one" in report(scouted, {}).shadow[0].sentence


def test_more_common_turns_come_first_then_newer_ones(walk):
    for journey in ("j:0", "j:1"):
        walk.step(journey, "s:1", 3, day=50)
    for journey in ("j:2", "j:3"):
        walk.step(journey, "s:2", 3, day=90)
    for journey in ("j:4", "j:5"):
        walk.step(journey, "s:3", 3, day=10)
        walk.step(journey, "s:3", 5, day=10)
    seeds, _ = shadows(walk.view())
    assert [names(seed)[0] for seed in seeds] == ["j:4", "j:2", "j:0"]


def test_merged_journeys_are_one(walk):
    for journey in NAMES:
        walk.step(journey, "s:1", 3)
    assert shadows(walk.view(merged=[("j:0", "j:1"), ("j:1", "j:2")]))[0] == []
    assert shadows(walk.view(merged=[("j:0", "j:1"), ("j:1", "j:0"), ("j:2", "j:9")]))[0] != []


def test_a_journey_that_goes_on_from_another_is_no_shadow_of_it(walk):
    walk.step("j:0", "s:1", 3)
    walk.step("j:1", "s:1", 3)
    walk.step("j:1", "s:1", 5)
    assert len(shadows(walk.view(steps=[("w:1-0", "w:1-1")]))[0]) == 1
    assert shadows(walk.view(steps=[("w:0-0", "w:1-1")]))[0] == []


def test_common_words_alone_are_a_control(walk):
    walk.step("j:0", "s:1", 3, "c:word")
    walk.step("j:1", "s:2", 3, "c:word")
    walk.step("j:2", "s:3", 3, "c:other")
    seeds, scouted = shadows(walk.view())
    assert seeds == []
    assert [(c.outcome, c.reason) for c in scouted.controls] == [
        ("no_shape", "shared_vocabulary_without_source_or_residue")
    ]
    walk.step("j:1", "s:1", 3)
    seeds, scouted = shadows(walk.view())
    assert len(seeds) == 1
    assert scouted.controls == ()


def test_the_cap_on_pairs_holds_and_is_told(walk):
    for journey in NAMES:
        walk.step(journey, "s:1", 3)
    walk.step("j:0", "s:2", 3)
    walk.step("j:1", "s:2", 3)
    seeds, scouted = shadows(walk.view(), wedges=4)
    assert [names(seed) for seed in seeds] == [NAMES[:2]]
    assert [(cut.what, cut.done, cut.of) for cut in scouted.truncated] == [("common holders", 1, 2)]


def test_a_shadow_route_that_claims_is_withheld(walk):
    walk.step("j:0", "s:1", 3)
    walk.step("j:1", "s:1", 3)
    (seed,), scouted = shadows(walk.view())
    found = report(scouted.replace(seeds=(seed.replace(claim=""),)), {})
    assert [(line.name, line.count) for line in found.red_lines if line.count] == [
        ("shadow_without_reopen", 1)
    ]
    assert found.shadow == ()
