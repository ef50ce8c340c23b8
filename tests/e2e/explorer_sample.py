"""A made-up store for pictures: themes, threads, questions, concepts, Journeys, seeds, dreams."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import cos, pi, sin

from export import EdgeRow, ExportView, NodeRow, Switches
from export.view import Cell

THEMES = {
    "garden irrigation": "drip line, rain barrel, soil moisture, valve timer, mulch, evaporation",
    "choir scores": "alto line, page turn, transposition, breath mark, key change, tempo",
    "bread oven": "sourdough starter, oven spring, hydration, crust colour, proofing basket, steam",
    "night train": "sleeper berth, connection time, seat map, border stop, refund rule, timetable",
    "parser rewrite": "token stream, error recovery, lookahead, grammar file, round trip, fuzzing",
    "budget sheet": "standing order, category rule, carry-over, year end, receipt, currency gain",
    "tide pool survey": "transect, quadrat, salinity, photo plot, species list, tide window",
    "cycling route": "gravel sector, elevation gain, water stop, tyre pressure, headwind, detour",
    "lamp firmware": "dimming curve, brownout, watchdog, radio beacon, flash wear, boot loader",
    "thesis chapter": "research gap, method section, counter example, citation, figure, proof",
    "school timetable": "free period, room clash, substitute list, two-week cycle, lunch slot, bus",
    "film archive": "vinegar syndrome, scan depth, reel label, frame rate, storage humidity, index",
}
OPENERS = (
    "How should the {c} depend on the {d}?",
    "Why does the {c} fail when the {d} changes?",
    "Is there a simpler {c} than the one for {t}?",
    "What would we lose without the {c}?",
    "When do we check the {d} against the {c}?",
    "Can the {c} be tested before the {d} is ready?",
    "Which {c} did we pick last time, and why?",
    "Does the {t} still need a separate {c}?",
)
SAID = """\
I keep coming back to the {c}. It looked settled, but the {d} moved and the numbers disagree.
The {c} holds as long as the {d} stays low; two of the three earlier attempts skipped that step.
Let us leave the {c} open for now: one dry week, the {d} unchanged, and a reading every morning.
No, that is not what I meant. The {d} was never the problem, the {c} was.
Summary: keep the {c}, drop the second {d}, and look at {t} again in spring.
""".splitlines()
SENTENCES = """\
Without \u201c{a}\u201d, 214 nodes and 37 nodes are no longer connected.
\u201c{a}\u201d to \u201c{b}\u201d is the only link between 96 nodes and 12 nodes.
\u201c{a}\u201d and \u201c{b}\u201d each meet \u201c{c}\u201d; no thread is about both.
The inquiry comes back to \u201c{a}\u201d after 4 threads; without \u201c{b}\u201d opens the loop.
Each of 9 nodes in 5 threads has at least 4 links inside; no single node holds it together.
Nothing links these 3 questions in 2 threads to the rest; one shared concept would.
""".splitlines()
SOURCES = ("claude-code", "chatgpt", "codex", "notes")
BEGIN = datetime(2025, 6, 2, 9, tzinfo=UTC)
FUNCTIONS = {
    "compensatory": ("COMPENSATES", "recurring_question"),
    "prospective": ("ANTICIPATES", "emergence_signal"),
    "amplification": ("RESONATES", "cross_thread_resonance"),
    "active_imagination": ("IMAGINES", "bridge_concept"),
}
STANDINGS = ("valid", "valid", "review_due", "expired", "valid", "invalidated")


class Dice:
    """Park and Miller's generator: the same throws on every machine."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, limit: int) -> int:
        self.state = self.state * 48271 % 2147483647
        return self.state % limit

    def unit(self) -> float:
        return self.below(1_000_000) / 1_000_000


def stamp(hours: float) -> str:
    return (BEGIN + timedelta(hours=hours)).isoformat().replace("+00:00", "Z")


class Sample:
    """The rows, grown theme by theme."""

    def __init__(self, threads: int, questions: int, concepts: int) -> None:
        self.dice = Dice(20260115)
        self.themes = [(name, words.split(", ")) for name, words in THEMES.items()]
        self.sizes = (threads, questions, concepts)
        self.nodes: list[NodeRow] = []
        self.edges: list[EdgeRow] = []
        self.places: dict[str, tuple[float, float]] = {}
        self.theme_of: dict[str, int] = {}
        self.turns: dict[str, list[str]] = {}
        self.hours: dict[str, float] = {}

    def place(self, key: str, theme: int, spread: float) -> None:
        turn = 2 * pi * theme / len(self.themes)
        ring = 100 if theme % 2 else 62
        angle, far = 2 * pi * self.dice.unit(), spread * (self.dice.unit() ** 0.6)
        self.places[key] = (
            ring * cos(turn) + far * cos(angle),
            ring * 0.72 * sin(turn) + far * sin(angle),
        )
        self.theme_of[key] = theme

    def pick(self, theme: int, stray: int = 12) -> tuple[str, str, str]:
        at = self.dice.below(len(self.themes)) if self.dice.below(stray) == 0 else theme
        name, words = self.themes[at]
        first = self.dice.below(len(words))
        return name, words[first], words[(first + 1 + self.dice.below(len(words) - 1)) % len(words)]

    def edge(self, table: str, src: tuple[str, str], dst: tuple[str, str], **columns) -> None:
        refs = columns.pop("source_refs", ())
        self.edges.append(
            EdgeRow(table, *src, *dst, {"source_refs": refs, "weight": 1.0, **columns})
        )

    def thread(self, number: int) -> None:
        theme = number % len(self.themes)
        source = SOURCES[self.dice.below(7) % len(SOURCES)]
        key = f"{source}:{number:08x}-{self.dice.below(65536):04x}"
        name, c, d = self.pick(theme)
        begin = self.dice.unit() * 24 * 220
        self.hours[key] = begin
        columns: dict[str, Cell] = {
            "title": f"{name.capitalize()}: {c} and {d}",
            "source": source,
            "project": f"/home/sample/{self.themes[theme][0].replace(' ', '-')}",
            "started_at": stamp(begin),
            "ended_at": stamp(begin + 3),
        }
        self.nodes.append(NodeRow("Thread", key, columns))
        self.place(key, theme, 26)
        self.turns[key] = [self.turn(key, n, theme, begin) for n in range(1, 7)]

    def turn(self, thread: str, number: int, theme: int, begin: float) -> str:
        name, c, d = self.pick(theme)
        ref = f"thread:{thread}#turn:{number}"
        columns: dict[str, Cell] = {
            "thread_id": thread,
            "turn": number,
            "role": "human" if number % 2 else "assistant",
            "text": SAID[self.dice.below(len(SAID))].format(t=name, c=c, d=d),
            "at": stamp(begin + number / 4),
            "alternative": False,
            "file": f"/home/sample/{name.replace(' ', '-')}/{thread.partition(':')[2]}.jsonl",
            "line": number * 3,
        }
        self.nodes.append(NodeRow("SourceRef", ref, columns))
        return ref

    def question(self, number: int, threads: list[str]) -> None:
        theme = number % len(self.themes)
        own = [key for key in threads if self.theme_of[key] == theme]
        name, c, d = self.pick(theme)
        key = f"q:{number:032x}"
        text = OPENERS[self.dice.below(len(OPENERS))].format(t=name, c=c, d=d)
        status = ("open", "open", "answered", "dropped")[self.dice.below(4)]
        asked = [own[self.dice.below(len(own))] for _ in range(1 + self.dice.below(3))]
        columns = {"text": text, "status": status, "first_seen": None, "last_seen": None}
        self.nodes.append(NodeRow("Question", key, columns))
        self.place(key, theme, 24)
        for thread in sorted(set(asked)):
            ref = self.turns[thread][2 * self.dice.below(3)]
            self.edge("ASKS", ("SourceRef", ref), ("Question", key), source_refs=(ref,))

    def concept(self, number: int, threads: list[str]) -> None:
        theme = number % len(self.themes)
        name, words = self.themes[theme]
        turn = number // len(self.themes)
        label = words[turn % len(words)]
        if turn >= len(words):
            _, other, _ = self.pick(theme, 3)
            label = f"{label} / {other} {turn // len(words)}"
        key = f"c:{number:032x}"
        kind = ("term", "term", "term", "entity", "symbol")[self.dice.below(5)]
        columns: dict[str, Cell] = {"label": label, "kind": kind, "df": 2, "cf": 3}
        self.nodes.append(NodeRow("Concept", key, columns))
        self.place(key, theme, 32)
        fame = 14 if turn < len(words) else 1 + self.dice.below(3)
        for _ in range(fame):
            pool = threads if self.dice.below(14) == 0 else threads[theme :: len(self.themes)]
            ref = self.turns[pool[self.dice.below(len(pool))]][self.dice.below(6)]
            self.edge("MENTIONS", ("SourceRef", ref), ("Concept", key), source_refs=(ref,))
        del name

    def journey(self, number: int, threads: list[str], questions: list[str]) -> None:
        theme = number % len(self.themes)
        name, words = self.themes[theme]
        key = f"j:{number:032x}"
        own = sorted(threads[theme :: len(self.themes)], key=self.hours.__getitem__)
        stops = own[number % 3 :: max(1, len(own) // (4 + number % 4))]
        status = ("traveling", "arrived", "traveling", "abandoned")[number % 4]
        columns: dict[str, Cell] = {
            "path_label": f"{words[0]} \u00b7 {words[1 + number % 4]}",
            "core_inquiry": f"What keeps the {words[0]} from settling in {name}?",
            "status": status,
            "frontier": f"The {words[1]} was measured once; nobody compared it with {words[2]}.",
            "frontier_refs": (self.turns[stops[-1]][4],),
            "first_seen": stamp(self.hours[stops[0]]),
            "last_seen": stamp(self.hours[stops[-1]]),
            "merged_into": None,
        }
        self.nodes.append(NodeRow("Journey", key, columns))
        self.place(key, theme, 10)
        own_questions = questions[theme :: len(self.themes)]
        for question in own_questions[:4]:
            self.edge("ANCHORED", ("Journey", key), ("Question", question))
        for seq, thread in enumerate(stops, start=1):
            self.stop(key, seq, thread, theme)
        points = [("Journey", key), *(("Waypoint", f"{key}/{s}") for s in range(1, len(stops) + 1))]
        for seq, (src, dst) in enumerate(pairwise(points), start=1):
            self.edge("PASSES", src, dst, seq=seq)

    def stop(self, journey: str, seq: int, thread: str, theme: int) -> None:
        name, c, d = self.pick(theme)
        columns: dict[str, Cell] = {
            "journey_id": journey,
            "seq": seq,
            "moment": SAID[self.dice.below(len(SAID))].format(t=name, c=c, d=d),
            "arc": "unmapped",
            "at": stamp(self.hours[thread] + 0.5),
            "frontier_hint": f"compare {c} with {d}" if seq % 2 else None,
            "labels": (c, d),
        }
        key = f"{journey}/{seq}"
        self.nodes.append(NodeRow("Waypoint", key, columns))
        self.place(key, theme, 20)
        ref = self.turns[thread][2]
        self.edge("ANCHORED", ("Waypoint", key), ("SourceRef", ref), source_refs=(ref,))

    def labels(self) -> dict[str, object]:
        columns = ((row.key, row.columns) for row in self.nodes)
        return {key: own.get("label") or own.get("text") for key, own in columns}

    def seeds(self, concepts: list[str], questions: list[str]) -> Iterator[NodeRow]:
        labels = self.labels()
        shapes = ("cut_point", "weak_bridge", "missing_middle", "cycle", "knot", "island")
        refs = [ref for thread in list(self.turns)[:40] for ref in self.turns[thread][:1]]
        for number in range(24):
            shape = number % 6
            a, b, c = (concepts[(number * 5 + step * 7) % 72] for step in range(3))
            if shape == 5:
                a, b, c = questions[number : number + 3]
            roles = (("cut", a), ("side_a", b), ("side_b", c))
            yield NodeRow(
                "Seed",
                f"s:{number:032x}",
                {
                    "shape": shapes[shape],
                    "kind": "order_1",
                    "level": number % 2,
                    "score": round(4.2 - number / 8, 3),
                    "provenance": "computed" if number < 20 else "annotated",
                    "sentence": SENTENCES[shape].format(a=labels[a], b=labels[b], c=labels[c]),
                    "members": tuple(f"{role}={key}" for role, key in roles),
                    "source_refs": tuple(refs[number : number + 3]),
                    "view_hash": "0",
                },
            )

    def dreams(self, concepts: list[str], questions: list[str]) -> Iterator[EdgeRow]:
        text = {row.key: row.columns.get("text") for row in self.nodes if row.table == "SourceRef"}
        labels = self.labels()
        refs = [ref for turns in self.turns.values() for ref in turns]
        for number in range(36):
            function = list(FUNCTIONS)[number % 4]
            table, rule = FUNCTIONS[function]
            pool = questions if number % 4 in (0, 2) else concepts[:72]
            kind = "Question" if number % 4 in (0, 2) else "Concept"
            src, dst = pool[number % len(pool)], pool[(number * 11 + 5) % len(pool)]
            own = [refs[(number * 31 + step * 97) % len(refs)] for step in range(3)]
            claims = [
                {"text": text[own[0]], "side": "a", "refs": [own[0]]},
                {"text": text[own[1]], "side": "b", "refs": [own[1]]},
            ]
            counter = [{"kind": "rival", "statement": text[own[2]], "refs": [own[2]]}]
            columns: dict[str, Cell] = {
                "hypothesis_id": f"h:{number:032x}",
                "function": function,
                "rule": rule,
                "mode": "replay",
                "method": "deterministic",
                "title": f"\u201c{labels[src]}\u201d may turn on \u201c{labels[dst]}\u201d",
                "summary": "Both were asked in threads that never meet; each names what the other"
                " lacks.",
                "why_not_fact": "No turn says so; the two threads only share words and a season.",
                "state": "accepted",
                "points": 20 + 10 * (number % 4),
                "next_check": "source_reopen_check",
                "sensitivity": "none",
                "created_at": stamp(24 * 200),
                "validated_at": None,
                "review_after": stamp(24 * (214 + number % 5)),
                "expires_at": stamp(24 * 245),
                "refs": tuple(own),
                "claims": json.dumps(claims),
                "counter_evidence": json.dumps(counter if number % 5 else []),
                "invalidation_triggers": ("source_gone", "source_fingerprint_changed"),
            }
            yield EdgeRow(
                table,
                kind,
                src,
                kind,
                dst,
                columns,
                "Hypothesis, not source",
                STANDINGS[number % len(STANDINGS)],
            )


def sample(threads: int = 300, questions: int = 900, concepts: int = 1500) -> ExportView:
    """The view of a made-up store of that size."""
    made = Sample(threads, questions, concepts)
    for number in range(threads):
        made.thread(number)
    keys = list(made.turns)
    for number in range(questions):
        made.question(number, keys)
    for number in range(concepts):
        made.concept(number, keys)
    asked = [row.key for row in made.nodes if row.table == "Question"]
    named = [row.key for row in made.nodes if row.table == "Concept"]
    for number in range(14):
        made.journey(number, keys, asked)
    for number in range(questions // 5):
        src, dst = asked[number], asked[(number + 12 * (1 + number % 9)) % questions]
        made.edge("LINKS", ("Question", src), ("Question", dst), link_type="related")
    for number in range(concepts // 3):
        src, dst = named[number], named[(number + 12) % concepts]
        made.edge("RELATES", ("Concept", src), ("Concept", dst), edge_type="co_occurs")
    return ExportView(
        switches=Switches(with_text=True, with_paths=True, with_hypotheses=True),
        nodes=tuple(sorted(made.nodes, key=lambda row: (row.table, row.key))),
        edges=tuple(made.edges),
        hypotheses=tuple(made.dreams(named, asked)),
        seeds=tuple(made.seeds(named, asked)),
        places=made.places,
    )
