"""The explorer's columns."""

import json
from dataclasses import replace
from typing import Any

from export import Switches, shown
from export.page import CLIPS, TEXT_BUDGET, Page, clip_limit, pack
from export.page import page as columns
from export.place import SPAN, places
from graphstore.derivation import Ground
from graphstore.ids import canonical
from tests.unit.export.export_sample import C1, JOURNEY, PATH, Q1, R1, tiny


def page(view) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(canonical(columns(view)))
    return made


KINDS = ["thread", "question", "concept", "journey", "waypoint"]


def position(made: dict[str, Any], key: str) -> int:
    kind = {"q": 1, "c": 2, "j": 3}.get(key.partition(":")[0], 0)
    pairs = list(zip(made["nodes"]["kind"], made["nodes"]["id"], strict=True))
    return pairs.index((kind, pack(key)))


def edges_of(made: dict[str, Any]) -> list[tuple[str, int, int]]:
    columns, found, at = made["edges"], [], 0
    for tie, count in zip(made["ties"], columns["count"], strict=True):
        u = 0
        for edge in range(at, at + count):
            u += columns["step"][edge]
            found.append((tie, u, columns["v"][edge]))
        at += count
    return found


def test_nodes_are_what_can_be_drawn_by_kind():
    made = page(tiny())
    assert made["kinds"] == KINDS
    assert made["nodes"]["kind"] == [0, 0, 1, 1, 2, 2, 2, 3, 4]


def test_turns_are_drawn_as_their_thread():
    made = page(tiny())
    thread, question = position(made, "notes:1"), position(made, Q1)
    assert ("asks", thread, question) in edges_of(made)
    assert ("mentions", question, position(made, C1)) in edges_of(made)


def test_each_node_knows_the_turns_it_rests_on():
    made = page(tiny())
    counts, turns = made["said"]["count"], made["said"]["turn"]
    start = sum(counts[: position(made, C1)])
    own = turns[start : start + counts[position(made, C1)]]
    assert [made["turns"]["number"][turn] for turn in own] == [1]


def test_a_hashed_id_is_packed_and_any_other_is_not():
    assert pack("q:" + "00" * 16) == "AAAAAAAAAAAAAAAAAAAAAA"
    assert pack("notes:1") == "notes:1"
    assert pack("q:" + "zz" * 16) == "q:" + "zz" * 16
    assert pack("j:" + "00" * 16 + "/1") == "j:" + "00" * 16 + "/1"


def test_unknown_times_stay_unknown_and_mentions_date_a_concept():
    made = page(tiny())
    journey = made["journeys"][0]
    assert journey["stops"][0]["at"] is None
    assert made["nodes"]["first"][position(made, C1)] == 20395
    assert made["nodes"]["days"][position(made, C1)] == 0
    assert made["turns"]["at"][1] is None


def test_a_journey_shows_the_status_it_has_now():
    made = page(replace(tiny(), statuses={JOURNEY: "camped"}))
    assert made["words"][made["nodes"]["note"][position(made, JOURNEY)]] == "camped"


def test_seeds_name_their_members_and_only_turns_that_are_there():
    seed = page(tiny())["seeds"][0]
    made = page(tiny())
    assert seed["members"] == [
        ["cut", position(made, C1)],
        ["side_a", position(made, "notes:1")],
        ["side_b", position(made, "notes:2")],
        ["via", -1],
    ]
    assert [made["turns"]["number"][turn] for turn in seed["refs"]] == [1]


def test_hypotheses_bring_both_sides_standing_and_the_words():
    made = page(tiny())
    assert made["marked"] == "Hypothesis, not source"
    one = made["hypotheses"][0]
    assert one["standing"] == "valid"
    assert one["claims"][0]["side"] == "a"
    assert one["claims"][0]["refs"] == one["counter"][0]["refs"] == one["refs"]
    assert made["turns"]["number"][one["refs"][0]] == 1


def test_without_text_and_paths_the_page_holds_neither():
    made = page(tiny(Switches()))
    assert made["turns"]["text"] is None
    assert set(made["turns"]["file"]) == {-1}
    assert set(made["nodes"]["project"]) == {-1}
    assert PATH not in str(made)


def test_an_empty_view_is_an_empty_page():
    empty = Ground(
        threads=(), turns=(), questions=(), concepts=(), asks=(), answers=(), mentions=()
    )
    made = page(shown(empty))
    assert made["nodes"]["id"] == made["edges"]["v"] == made["journeys"] == []


def test_texts_are_clipped_until_they_fit_one_page():
    assert clip_limit([]) == CLIPS[0]
    assert clip_limit(["a" * 100]) == CLIPS[0]
    many = ["a" * 30_000] * (TEXT_BUDGET // 6_000)
    assert clip_limit(many) == 6_000
    assert clip_limit(["a" * 300] * (TEXT_BUDGET // 100)) == CLIPS[-1]


def test_clipped_turns_end_with_an_ellipsis():
    view = tiny()
    long = tuple(
        replace(row, columns={**row.columns, "text": "w " * 20_000})
        if row.table == "SourceRef"
        else row
        for row in view.nodes
    )
    text = page(replace(view, nodes=long))["turns"]["text"][0]
    assert len(text) <= CLIPS[0]
    assert text.endswith("w\u2026")


def test_edges_to_what_is_not_there_are_left_out():
    view = tiny()
    kept = tuple(row for row in view.nodes if row.key not in (R1, "notes:2"))
    made = Page(replace(view, nodes=kept))
    assert all(-1 not in (u, v) for _, u, v in made.ties())


def test_given_places_keep_their_shape_and_the_rest_stands_around_them():
    given = {"a": (0.0, 0.0), "b": (10.0, 0.0), "c": (0.0, 10.0)}
    found = places(["a", "b", "c", "d", "e"], [(3, 4)], given)
    assert found[1][0] - found[0][0] == found[2][1] - found[0][1] > 0
    assert found[1][1] == found[0][1]
    assert all(0 <= value <= SPAN for place in found for value in place)
    assert len(set(found)) == 5


def test_without_places_the_most_connected_stands_in_the_middle():
    keys = [f"n{number}" for number in range(30)]
    star = [(7, other) for other in range(30) if other != 7]
    found = places(keys, star, {})
    middle = [sum(place[axis] for place in found) / 30 for axis in (0, 1)]

    def far(at: int) -> float:
        return abs(found[at][0] - middle[0]) + abs(found[at][1] - middle[1])

    assert far(7) == min(map(far, range(30)))
    assert places([], [], {}) == []
    assert places(["only"], [], {}) == [(0, 0)]


def test_names_on_the_map_carry_no_marks_of_markdown():
    view = tiny()
    marked = "How does **the latch** in `gate.py` hold?"
    nodes = tuple(
        replace(row, columns={**row.columns, "text": marked}) if row.table == "Question" else row
        for row in view.nodes
    )
    made = page(replace(view, nodes=nodes))
    assert made["nodes"]["label"][position(made, Q1)] == "How does the latch in gate.py hold?"
