"""What the switches let out, and the order of what is shown."""

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from export import Switches, shown
from export.privacy import Screen
from export.view import cell
from graphstore.derivation import Ground
from graphstore.ids import canonical
from tests.unit.export.export_sample import (
    ALL,
    C3,
    PATH,
    SPOKEN,
    edges,
    ground,
    judged,
    mark,
    seed,
    tiny,
)


def everything(view) -> str:
    rows = [*view.every_node(), *view.every_edge()]
    return "\n".join(canonical(dict(row.columns)).decode() for row in rows)


def columns(view, table: str) -> list[dict[str, Any]]:
    return [dict(row.columns) for row in view.every_node() if row.table == table]


def test_default_holds_no_turn_text_no_paths_and_no_hypotheses():
    view = tiny(Switches())
    said = everything(view)
    assert SPOKEN not in said
    assert PATH not in said
    assert "timer.py" not in said
    assert view.hypotheses == ()


def test_default_keeps_titles_labels_and_question_texts():
    view = tiny(Switches())
    assert "Why does the valve stick?" in everything(view)
    assert "Thread 1" in everything(view)
    assert {"valve", "valves"} <= {
        word
        for row in columns(view, "Concept")
        for word in (row.get("label"), *row.get("aliases", ()))
    }


def test_hypotheses_come_only_with_their_switch_and_always_marked():
    view = tiny(Switches(with_hypotheses=True))
    assert {row.marked for row in view.hypotheses} == {"Hypothesis, not source"}
    assert [row.standing for row in view.hypotheses] == ["valid", "valid", "review_due", "valid"]
    assert all(row.marked is None for row in view.edges)


def test_without_text_claims_keep_their_refs_and_lose_their_words():
    row: Any = tiny(Switches(with_hypotheses=True)).hypotheses[0].columns
    assert json.loads(row["claims"]) == [{"side": "a", "refs": ["thread:notes:1#turn:1"]}]
    assert json.loads(row["counter_evidence"])[0]["kind"] == "rival"
    assert row["extras"] == "{}"
    assert SPOKEN in str(tiny(ALL).hypotheses[0].columns["claims"])


def test_paths_cover_project_touched_file_and_path_concepts():
    bare = tiny(Switches(with_text=True, with_hypotheses=True))
    assert not {"project", "touched", "native_ids"} & columns(bare, "Thread")[0].keys()
    assert not {"file", "line", "offset", "length"} & columns(bare, "SourceRef")[0].keys()
    assert "where" not in columns(bare, "Question")[0]
    path = next(row for row in bare.nodes if row.key == C3).columns
    assert not {"label", "aliases"} & path.keys()
    assert PATH not in everything(bare)
    full = next(row for row in tiny(ALL).nodes if row.key == C3).columns
    assert full["label"] == PATH


def test_paths_are_masked_inside_labels_and_sentences():
    view = tiny(Switches())
    assert columns(view, "Seed")[0]["sentence"].startswith("Without \u201c[path]\u201d")
    assert columns(view, "Journey")[0]["path_label"] == "valve \u00b7 [path]"
    links: Any = next(row for row in view.edges if row.table == "LINKS").columns
    assert json.loads(links["evidence"]) == {"terms": ["[path]"], "cosine": 0.5}


def test_public_leaves_out_titles_labels_names_and_question_texts():
    view = tiny(Switches(public=True, with_text=True, with_paths=True, with_hypotheses=True))
    said = everything(view)
    for word in (SPOKEN, PATH, "valve", "Thread 1", "Robin", "Two valves", "Without"):
        assert word not in said
    assert [row.key for row in view.nodes] == [row.key for row in tiny(ALL).nodes]
    assert len(view.edges) == len(tiny(ALL).edges)


def test_masked_hashes_never_leave():
    said = everything(tiny(ALL))
    assert "feedface" not in said
    assert json.loads(columns(tiny(ALL), "SourceRef")[0]["masked"]) == [
        {"kind": "api_key", "offset": 4}
    ]


def test_no_clock_of_the_store_leaves():
    journey = columns(tiny(ALL), "Journey")[0]
    assert not {"last_activity_at", "expires_at"} & journey.keys()


def test_signals_and_tools_keep_what_is_not_text_or_path():
    row = columns(tiny(Switches()), "SourceRef")[0]
    assert json.loads(row["signals"]) == [{"kind": "frontier", "type": "next", "concepts": []}]
    assert json.loads(row["tools"]) == {"counts": [{"name": "read", "count": 2}]}
    assert json.loads(row["attachments"]) == [{"media_type": "text/plain", "size": 3}]


def test_order_does_not_depend_on_what_was_handed_in_first():
    own = ground()
    held = {one.name: getattr(own, one.name) for one in fields(own)}
    families: dict[str, Any] = {
        name: rows for name, rows in held.items() if isinstance(rows, tuple)
    }
    turned = replace(own, **{name: rows[::-1] for name, rows in families.items()})
    view = shown(
        turned,
        (*reversed(edges()), *edges()),
        hypotheses=reversed(judged()),
        seeds=(seed(2, provenance="annotated"), seed(1)),
        marks=(mark(), mark()),
        switches=ALL,
    )
    plain = tiny()
    assert (view.nodes, view.edges, view.hypotheses) == (plain.nodes, plain.edges, plain.hypotheses)
    assert view.marks == plain.marks


def test_computed_seeds_stand_before_annotated_ones():
    assert [row.key for row in tiny().seeds] == ["s:1", "s:2"]


def test_seeds_leave_without_their_bookkeeping():
    assert not {"detail", "run_id", "first_run", "last_run"} & columns(tiny(), "Seed")[0].keys()


@pytest.mark.parametrize(
    ("given", "shown_as"),
    [
        ("see /etc/hosts and ~/notes/a.md", "see [path] and [path]"),
        ("why does src/app/main.py fail?", "why does [path] fail?"),
        (r"C:\Users\robin\x.txt", "[path]"),
        ("file:///srv/data.csv", "[path]"),
        ("TCP/IP and/or input/output", "TCP/IP and/or input/output"),
        ("https://example.org/a/b.html", "https://example.org/a/b.html"),
        ("3/4 of 1/2", "3/4 of 1/2"),
        ("look at Makefile, please", "look at [path], please"),
    ],
)
def test_paths_in_plain_words(given, shown_as):
    screen = Screen(
        with_text=False, with_paths=False, public=False, path_labels=frozenset({"makefile"})
    )
    assert screen.unpath(given) == shown_as


def test_words_stay_when_no_path_is_known():
    screen = Screen(with_text=False, with_paths=False, public=False, path_labels=frozenset())
    assert screen.unpath("look at Makefile") == "look at Makefile"


def test_damaged_json_columns_show_nothing_instead_of_failing():
    own = ground()
    broken = own.turns[0].replace(signals="{", tools="[1]", masked="7", attachments="null")
    view = shown(
        Ground(
            threads=own.threads,
            turns=(broken,),
            questions=(),
            concepts=(),
            asks=(),
            answers=(),
            mentions=(),
        )
    )
    row = columns(view, "SourceRef")[0]
    assert (row["signals"], row["masked"], row["attachments"]) == ("[]", "[]", "[]")
    assert row["tools"] == '{"counts":[]}'


def test_cells_of_unforeseen_types_become_words():
    assert cell(frozenset({"a"})) == "frozenset({'a'})"
