"""Every function says the same, whatever the hash seed and the order in which rows arrive."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dream.cycle import Unit, one
from dream.focus import foci
from dream.functions import names
from dream.index import Index
from dream.model import Pack
from dream.pack import pack
from graphstore.ids import concept_id
from graphstore.model.knowledge import Signal
from tests.dreamt import SETTINGS, a_job
from tests.planted import NOW, Plot, a_seed

ROOT = Path(__file__).parent.parent.parent
POST, STRAP = "Which fixing holds the oak post?", "Can the stone pipe hang on the oak post?"
FOG, DAMP = "How tall must the vent stack be?", "What keeps the hall sensor dry?"


def plant():
    """Something for every function: a Journey at rest, an open and a settled question, gaps."""
    plot = Plot()
    put_off = (
        Signal(kind="frontier", type="deferred", clip="later"),
        Signal(kind="texture", type="affect", clip="annoying"),
    )
    stops = [plot.say("a", POST, "oak post", "quay wall", asks=True, days=90)]
    stops.append(plot.say("a", "The resin anchor can wait.", "resin anchor", days=89))
    plot.lines["test:a"][1].signals = put_off
    plot.say("a2", "The resin anchor waits.", "resin anchor", days=88, signals=put_off)
    for name, days in (("b", 30), ("c", 20)):
        plot.say(name, "The oak post leans on the quay wall.", "oak post", "quay wall", days=days)
        plot.say(name, STRAP, "oak post", "stone pipe", asks=True, days=days - 1)
    plot.say(
        "c", "A strap on the stone pipe of the oak post.", "stone pipe", resolves=STRAP, days=9
    )
    plot.say("d", "Does the oak post need a stone pipe?", "oak post", "stone pipe", asks=True,
             days=8, signals=put_off)  # fmt: skip
    plot.say("e", FOG, "vent stack", "salt film", asks=True, days=7)
    plot.say("f", DAMP, "hall sensor", "salt film", asks=True, days=6)
    for name, label in (("g", "vent stack"), ("h", "hall sensor")):
        plot.say(name, f"The {label} by itself.", label, days=70)
    plot.relates = [("vent stack", "salt film"), ("hall sensor", "salt film")]
    plot.journey(POST, tuple(stops), concepts=("oak post", "quay wall"))
    return plot


SEEDS = (
    a_seed(
        "missing_middle",
        ("side_a", concept_id("vent stack")),
        ("side_b", concept_id("hall sensor")),
        ("via", concept_id("salt film")),
    ),
    a_seed("knot", ("member", "test:b"), ("member", "test:d"), ("member", "test:e")),
)


def packs(ground):
    index = Index(ground)
    found = (pack(focus, index, (), SETTINGS, NOW) for focus in foci(index, SEEDS))
    return [each for each in found if isinstance(each, Pack)]


def said(ground):
    """Every pack and every verdict on every draft, as JSON lines."""
    lines = []
    for made in packs(ground):
        lines.append(made.model_dump_json())
        for name in made.eligible:
            unit = Unit(job=a_job(function=name), pack=made)
            lines.append(one(unit, SETTINGS, NOW).model_dump_json())
    return "\n".join(lines)


def turned(ground):
    """The same rows the other way round."""
    rows = {name: getattr(ground, name) for name in ground.__dataclass_fields__}
    return replace(ground, **{name: each[::-1] for name, each in rows.items() if each})


def rules_said():
    found = set()
    for made in packs(plant().ground()):
        for name in made.eligible:
            unit = Unit(job=a_job(function=name), pack=made)
            judged = one(unit, SETTINGS, NOW).judged
            found |= {each.verdict.draft.rule for each in judged}
    return found


def test_each_function_has_something_to_say_here():
    assert len(names()) == 4
    assert {"trajectory_hint", "revive_signal", "bridge_concept", "question_not_yet_asked"} <= (
        rules_said()
    )


def test_the_order_of_rows_changes_no_pack_and_no_draft():
    ground = plant().ground()
    assert said(turned(ground)) == said(ground)


@pytest.mark.slow
def test_two_hash_seeds_say_the_same():
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from tests.integration.test_dream_functions_repeat import plant, said;"
        "print(said(plant().ground()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script, str(ROOT)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
