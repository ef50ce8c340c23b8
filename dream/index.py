"""The ground of a store, indexed once per dream cycle for packing.

Only ``pack.py`` and ``cycle.py`` see it; functions, worker and checks see packs alone.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar

from pydantic import TypeAdapter

from dream.lexicon import folded, has
from graphstore import ids
from graphstore.derivation import Ground
from graphstore.model.arcs import Arc
from graphstore.model.hubs import generic_ids
from graphstore.model.knowledge import (
    Concept,
    Extracted,
    Journey,
    Links,
    LinkType,
    Node,
    Question,
    Signal,
    SourceRefNode,
    ThreadNode,
    Waypoint,
)
from graphstore.model.record import ReviewRecord

SIGNALS: Final = TypeAdapter(tuple[Signal, ...])
CLEAN: Final = ("human", "assistant")
"""Roles and taints of turns that may be premises."""
RECALL_MISS: Final = "recall_miss"
"""The owner's act that names a question and a turn which a recall for it missed."""
SPECIFIC_DF: Final = 2
WORDY: Final = re.compile(r"[^\W\d_]{2}")
SHORT: Final = 600
"""Characters of a turn that is about its question as a whole."""
STOP: Final = 4
"""A frontier among so many last turns of a lineage is where it stopped."""


N = TypeVar("N", bound=Node)


def by_key(nodes: Iterable[N]) -> list[N]:
    """Nodes by primary key: no order of input reaches a pack."""
    return sorted(nodes, key=lambda node: node.key)


def signals(turn: SourceRefNode) -> tuple[Signal, ...]:
    """Signals of a turn."""
    return SIGNALS.validate_json(turn.signals)


@dataclass(frozen=True)
class Index:
    """Look-ups over a Ground; every mapping iterates in canonical order."""

    ground: Ground
    reviews: tuple[ReviewRecord, ...] = ()
    """Acts of the owner, in ledger order."""
    texts: dict[str, str] = field(default_factory=dict)
    """Folded text by lineage, filled on first use."""
    arcs: dict[str, tuple[Arc, ...]] = field(default_factory=dict)
    """Route by Journey, filled on first use: each is compared with all others."""

    @cached_property
    def turns(self) -> dict[str, SourceRefNode]:
        """Clean turns on the main line by ref."""
        return {
            turn.ref: turn
            for turn in by_key(self.ground.turns)
            if turn.role in CLEAN and turn.taint in CLEAN and not turn.alternative
        }

    @cached_property
    def threads(self) -> dict[str, ThreadNode]:
        return {thread.thread_id: thread for thread in by_key(self.ground.threads)}

    @cached_property
    def questions(self) -> dict[str, Question]:
        return {question.question_id: question for question in by_key(self.ground.questions)}

    @cached_property
    def concepts(self) -> dict[str, Concept]:
        return {concept.concept_id: concept for concept in by_key(self.ground.concepts)}

    @cached_property
    def journeys(self) -> dict[str, Journey]:
        return {journey.journey_id: journey for journey in by_key(self.ground.journeys)}

    @cached_property
    def waypoints(self) -> dict[str, tuple[Waypoint, ...]]:
        """By Journey, in sequence."""
        found: defaultdict[str, list[Waypoint]] = defaultdict(list)
        for waypoint in sorted(self.ground.waypoints, key=lambda each: each.seq):
            found[waypoint.journey_id].append(waypoint)
        return {journey: tuple(each) for journey, each in sorted(found.items())}

    @cached_property
    def lineages(self) -> int:
        """Distinct lineages of the store."""
        return len({thread.lineage_root for thread in self.ground.threads})

    @cached_property
    def generic(self) -> frozenset[str]:
        """Concepts set aside by the hub rule over the whole store."""
        return generic_ids(self.ground.concepts, self.lineages)

    def lineage(self, ref: str) -> str:
        """Lineage root of the thread of a turn."""
        return self.threads[self.turns[ref].thread_id].lineage_root

    def lineages_of(self, refs: Iterable[str]) -> frozenset[str]:
        return frozenset(self.lineage(ref) for ref in refs if ref in self.turns)

    def is_specific(self, concept: str) -> bool:
        """Not generic, named in at least two lineages, and a word: marks and digits say nothing."""
        found = self.concepts.get(concept)
        return (
            found is not None
            and concept not in self.generic
            and found.df >= SPECIFIC_DF
            and WORDY.search(found.label) is not None
        )

    def idf(self, concept: str) -> float:
        """ln((1 + N) / (1 + df)) over N lineages."""
        return math.log((1 + self.lineages) / (1 + self.concepts[concept].df))

    @cached_property
    def thread_turns(self) -> dict[str, tuple[str, ...]]:
        """Clean refs by thread, in reading order."""
        found: defaultdict[str, list[SourceRefNode]] = defaultdict(list)
        for turn in self.turns.values():
            found[turn.thread_id].append(turn)
        return {
            thread: tuple(
                each.ref
                for each in sorted(found[thread], key=lambda turn: (turn.position or 0, turn.turn))
            )
            for thread in sorted(found)
        }

    @cached_property
    def turn_concepts(self) -> dict[str, tuple[str, ...]]:
        """Concept ids that a turn mentions."""
        return self._joined("SourceRef", by_source=True)

    @cached_property
    def question_concepts(self) -> dict[str, tuple[str, ...]]:
        return self._joined("Question", by_source=True)

    @cached_property
    def concept_refs(self) -> dict[str, tuple[str, ...]]:
        """Clean turns that mention a concept."""
        found = self._joined("SourceRef", by_source=False)
        return {
            concept: tuple(ref for ref in refs if ref in self.turns)
            for concept, refs in found.items()
        }

    def _joined(self, table: str, *, by_source: bool) -> dict[str, tuple[str, ...]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for edge in self.ground.mentions:
            if edge.src_table == table:
                near, far = (edge.src, edge.dst) if by_source else (edge.dst, edge.src)
                found[near].add(far)
        return {key: tuple(sorted(found[key])) for key in sorted(found)}

    @cached_property
    def askings(self) -> dict[str, tuple[str, ...]]:
        """Clean refs that ask a question, oldest first."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for edge in self.ground.asks:
            if edge.src in self.turns:
                found[edge.dst].append(edge.src)
        return {key: tuple(sorted(found[key], key=self.when)) for key in sorted(found)}

    @cached_property
    def asked_in(self) -> dict[str, tuple[str, ...]]:
        """Question ids by thread."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for question, refs in self.askings.items():
            for ref in refs:
                found[self.turns[ref].thread_id].add(question)
        return {thread: tuple(sorted(found[thread])) for thread in sorted(found)}

    @cached_property
    def turn_questions(self) -> dict[str, tuple[str, ...]]:
        """Question ids that a turn asks."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for question, refs in self.askings.items():
            for ref in refs:
                found[ref].append(question)
        return {ref: tuple(found[ref]) for ref in sorted(found)}

    @cached_property
    def answers(self) -> dict[str, tuple[str, ...]]:
        """Clean refs that resolve a question."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for edge in self.ground.answers:
            if edge.kind == "resolved" and edge.src in self.turns:
                found[edge.dst].append(edge.src)
        return {key: tuple(sorted(found[key])) for key in sorted(found)}

    def when(self, ref: str) -> tuple[float, str]:
        """Sort key of a turn by time; undated turns come first."""
        moment = self.turns[ref].at
        return (moment.timestamp() if moment else 0.0, ref)

    @cached_property
    def clusters(self) -> dict[str, str]:
        """Question id to the smallest id of its recurring cluster (union-find)."""
        parent = {question: question for question in self.questions}

        def find(node: str) -> str:
            while parent[node] != node:
                parent[node] = parent[parent[node]]
                node = parent[node]
            return node

        for link in self.ground.links:
            if link.link_type is LinkType.RECURRING and link.src in parent and link.dst in parent:
                low, high = sorted((find(link.src), find(link.dst)))
                parent[high] = low
        return {question: find(question) for question in sorted(parent)}

    @cached_property
    def members(self) -> dict[str, tuple[str, ...]]:
        """Cluster id to its questions."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for question, cluster in self.clusters.items():
            found[cluster].append(question)
        return {cluster: tuple(found[cluster]) for cluster in sorted(found)}

    @cached_property
    def core_clusters(self) -> frozenset[str]:
        """Clusters that hold the core inquiry of a Journey."""
        cores = {ids.question_id(journey.core_inquiry) for journey in self.journeys.values()}
        return frozenset(self.clusters[core] for core in cores if core in self.clusters)

    def cluster_refs(self, question: str) -> tuple[str, ...]:
        """Every asking of a question's cluster, oldest first."""
        members = self.members.get(self.clusters.get(question, ""), ())
        refs = {ref for member in members for ref in self.askings.get(member, ())}
        return tuple(sorted(refs, key=self.when))

    def times_asked(self, question: str) -> tuple[str, ...]:
        """Askings of a cluster without those that only repeat the human turn before them."""
        refs = self.cluster_refs(question)
        asking = set(refs)
        return tuple(ref for ref in refs if self.human_before.get(ref) not in asking)

    @cached_property
    def human_before(self) -> dict[str, str]:
        """The human turn before each human turn of a thread."""
        found: dict[str, str] = {}
        for refs in self.thread_turns.values():
            human = [ref for ref in refs if self.turns[ref].role == "human"]
            found.update(zip(human[1:], human, strict=False))
        return found

    def cluster_answers(self, question: str) -> tuple[str, ...]:
        members = self.members.get(self.clusters.get(question, ""), ())
        return tuple(sorted({ref for member in members for ref in self.answers.get(member, ())}))

    @cached_property
    def link_pairs(self) -> dict[tuple[str, str], Links]:
        return {tuple(sorted((link.src, link.dst))): link for link in self.ground.links}  # type: ignore[misc]

    @cached_property
    def neighbours(self) -> dict[str, frozenset[str]]:
        """Extracted neighbours of questions and specific concepts; generic ones are hidden."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for edge in self._joins():
            if edge.src not in self.generic and edge.dst not in self.generic:
                found[edge.src].add(edge.dst)
                found[edge.dst].add(edge.src)
        return {node: frozenset(found[node]) for node in sorted(found)}

    def _joins(self) -> Iterable[Extracted]:
        yield from (edge for edge in self.ground.mentions if edge.src_table == "Question")
        yield from self.ground.links
        yield from self.ground.relates

    @cached_property
    def bonds(self) -> dict[tuple[str, str], tuple[float, float]]:
        """By sorted pair of neighbours: summed weight, and when its oldest turn was said."""
        found: dict[tuple[str, str], tuple[float, float]] = {}
        for edge in self._joins():
            low, high = sorted((edge.src, edge.dst))
            weight, since = found.get((low, high), (0.0, math.inf))
            said = (self.when(ref)[0] for ref in edge.source_refs if ref in self.turns)
            found[low, high] = (weight + edge.weight, min(since, *said, math.inf))
        return found

    def bond(self, one: str, other: str) -> tuple[float, float]:
        """(weight, since) of two neighbours."""
        low, high = sorted((one, other))
        return self.bonds[low, high]

    @cached_property
    def newest(self) -> float:
        """When the newest clean turn was said: the store's own present."""
        return max((self.when(ref)[0] for ref in self.turns), default=0.0)

    def common(self, one: str, other: str) -> tuple[str, ...]:
        """Common neighbours of two nodes, sorted."""
        empty: frozenset[str] = frozenset()
        return tuple(sorted(self.neighbours.get(one, empty) & self.neighbours.get(other, empty)))

    def degree(self, node: str) -> int:
        return len(self.neighbours.get(node, ()))

    def distance(self, one: str, other: str, limit: int = 4) -> int | None:
        """Shortest extracted path, searched from both ends; None beyond ``limit`` steps."""
        near, far = {one}, {other}
        seen = {one, other}
        for step in range(1, limit + 1):
            if len(near) > len(far):
                near, far = far, near
            near = {each for node in near for each in self.neighbours.get(node, ())}
            if near & far:
                return step
            near -= seen
            seen |= near
        return None

    @cached_property
    def topics(self) -> dict[str, tuple[str, ...]]:
        """Specific concepts by asked question, rarest first; its own, else of a short asking."""
        return {question: self._topics(question, refs) for question, refs in self.askings.items()}

    def _topics(self, question: str, refs: tuple[str, ...]) -> tuple[str, ...]:
        own = self.rarest(self.question_concepts.get(question, ()))
        short = [ref for ref in refs if len(self.turns[ref].text) <= SHORT]
        return own or self.rarest(each for ref in short for each in self.turn_concepts.get(ref, ()))

    @cached_property
    def asked_about(self) -> dict[str, tuple[str, ...]]:
        """Asked questions by specific concept."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for question, concepts in self.topics.items():
            for concept in concepts:
                found[concept].append(question)
        return {concept: tuple(found[concept]) for concept in sorted(found)}

    def specific(self, question: str) -> tuple[str, ...]:
        """Specific concepts of a question, rarest first; none when no clean turn asks it."""
        return self.topics.get(question, ())

    def rarest(self, concepts: Iterable[str]) -> tuple[str, ...]:
        """The specific ones among them, rarest first, ties by id."""
        kept = {each for each in concepts if self.is_specific(each)}
        return tuple(sorted(kept, key=lambda each: (self.concepts[each].df, each)))

    def thread_concepts(self, thread: str) -> tuple[str, ...]:
        """Specific concepts of a thread, rarest first."""
        refs = self.thread_turns.get(thread, ())
        return self.rarest(each for ref in refs for each in self.turn_concepts.get(ref, ()))

    def weighty(self, refs: Iterable[str]) -> tuple[str, ...]:
        """Specific concepts of some turns, by idf times the turns that mention them."""
        counts = Counter(each for ref in refs for each in self.turn_concepts.get(ref, ()))
        weights = {
            each: round(count * self.idf(each), 6)
            for each, count in counts.items()
            if self.is_specific(each)
        }
        return tuple(sorted(weights, key=lambda each: (-weights[each], each)))

    @cached_property
    def lineage_concepts(self) -> dict[str, frozenset[str]]:
        """Specific concepts by lineage."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for concept, refs in self.concept_refs.items():
            if self.is_specific(concept):
                for lineage in self.lineages_of(refs):
                    found[lineage].add(concept)
        return {lineage: frozenset(found[lineage]) for lineage in sorted(found)}

    @cached_property
    def concept_lineages(self) -> dict[str, frozenset[str]]:
        """Lineages that name a concept in clean turns."""
        return {each: self.lineages_of(refs) for each, refs in self.concept_refs.items()}

    @cached_property
    def lineage_turns(self) -> dict[str, tuple[str, ...]]:
        """Clean refs by lineage root."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for refs in self.thread_turns.values():
            found[self.lineage(refs[0])].extend(refs)
        return {root: tuple(found[root]) for root in sorted(found)}

    def says(self, lineage: str, label: str) -> bool:
        """Whether a lineage writes a label anywhere, kept as a concept of it or not."""
        if lineage not in self.texts:
            refs = self.lineage_turns.get(lineage, ())
            self.texts[lineage] = folded("\n".join(self.turns[ref].text for ref in refs))
        return folded(label) in self.texts[lineage]

    @cached_property
    def verifying(self) -> frozenset[str]:
        """Lineages with a clean turn that uses words of verification."""
        return frozenset(
            self.lineage(ref) for ref, turn in self.turns.items() if has("verification", turn.text)
        )

    @cached_property
    def signal_refs(self) -> dict[str, tuple[tuple[str, Signal], ...]]:
        """By signal kind: (ref, signal), oldest first."""
        found: defaultdict[str, list[tuple[str, Signal]]] = defaultdict(list)
        for ref, turn in self.turns.items():
            for signal in signals(turn):
                found[signal.kind].append((ref, signal))
        return {
            kind: tuple(sorted(found[kind], key=lambda each: (self.when(each[0]), each[1].type)))
            for kind in sorted(found)
        }

    @cached_property
    def turn_signals(self) -> dict[str, tuple[Signal, ...]]:
        """Signals by turn, of the turns that have any."""
        found: defaultdict[str, list[Signal]] = defaultdict(list)
        for each in self.signal_refs.values():
            for ref, signal in each:
                found[ref].append(signal)
        return {ref: tuple(found[ref]) for ref in sorted(found)}

    @cached_property
    def misses(self) -> dict[str, tuple[str, ...]]:
        """By question: clean turns that a recall needed and did not bring, or brought late."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for act in self.reviews:
            if act.act == RECALL_MISS and act.target in self.askings and act.other in self.turns:
                found[act.target].add(act.other or "")
        return {each: tuple(sorted(found[each], key=self.when)) for each in sorted(found)}

    @property
    def misses_without_source(self) -> int:
        """Misses that name no clean turn, or no question that one asks: dropped."""
        told = {(act.target, act.other) for act in self.reviews if act.act == RECALL_MISS}
        return len(told) - sum(map(len, self.misses.values()))

    @cached_property
    def last_stops(self) -> frozenset[str]:
        """Frontier turns after which their lineage said little: work stopped there."""
        found: dict[str, str] = {}
        for ref, _ in self.signal_refs.get("frontier", ()):
            found[self.lineage(ref)] = ref
        return frozenset(ref for root, ref in found.items() if self._ends_with(root, ref))

    def _ends_with(self, lineage: str, ref: str) -> bool:
        newest = max(self.lineage_turns[lineage], key=self.when)
        thread = self.thread_turns[self.turns[ref].thread_id]
        is_newest_thread = self.turns[newest].thread_id == self.turns[ref].thread_id
        return is_newest_thread and ref in thread[-STOP:]

    def is_last_stop(self, ref: str) -> bool:
        """Whether a frontier is where its lineage stopped."""
        return ref in self.last_stops

    def label(self, table: str, node: str) -> str:
        """What a node is called."""
        names: Mapping[str, Callable[[], str]] = {
            "Question": lambda: self.questions[node].text,
            "Concept": lambda: self.concepts[node].label,
            "Journey": lambda: self.journeys[node].path_label,
            "Thread": lambda: self.threads[node].title or node,
        }
        return names[table]()

    def table(self, node: str) -> str | None:
        """Table of a node id that may be an endpoint, None for others."""
        families = (
            ("Question", self.questions),
            ("Concept", self.concepts),
            ("Journey", self.journeys),
            ("Thread", self.threads),
        )
        return next((name for name, family in families if node in family), None)

    def refs_of(self, table: str, node: str) -> tuple[str, ...]:
        """Clean turns that speak for a node, oldest first."""
        found: tuple[str, ...]
        match table:
            case "Question":
                found = self.cluster_refs(node)
            case "Concept":
                found = self.concept_refs.get(node, ())
            case "Thread":
                found = self.thread_turns.get(node, ())
            case _:
                found = self.journey_refs.get(node, ())
        return tuple(sorted((ref for ref in found if ref in self.turns), key=self.when))

    @cached_property
    def journey_refs(self) -> dict[str, tuple[str, ...]]:
        """Turns that the waypoints of a Journey are anchored at."""
        anchored: defaultdict[str, set[str]] = defaultdict(set)
        for edge in self.ground.anchored:
            if edge.src_table == "Waypoint" and edge.dst_table == "SourceRef":
                anchored[edge.src.rpartition("/")[0]].add(edge.dst)
        return {journey: tuple(sorted(anchored[journey])) for journey in sorted(anchored)}

    @cached_property
    def stops(self) -> dict[str, tuple[tuple[Waypoint, str], ...]]:
        """By Journey: its waypoints in sequence, each with its newest clean turn."""
        turns: defaultdict[str, list[str]] = defaultdict(list)
        for edge in self.ground.anchored:
            if edge.src_table == "Waypoint" and edge.dst in self.turns:
                turns[edge.src].append(edge.dst)
        return {
            journey: tuple(
                (each, max(turns[each.waypoint_id], key=self.when))
                for each in waypoints
                if turns[each.waypoint_id]
            )
            for journey, waypoints in self.waypoints.items()
        }

    @cached_property
    def journey_questions(self) -> dict[str, tuple[str, ...]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for edge in self.ground.anchored:
            # an anchor outlives its question when extraction changes its mind
            if edge.src_table == "Journey" and edge.dst in self.questions:
                found[edge.src].add(edge.dst)
        return {journey: tuple(sorted(found[journey])) for journey in sorted(found)}

    def journey_concepts(self, journey: str) -> tuple[str, ...]:
        """Specific concepts of a Journey: its own anchors, else those of its turns."""
        own = {
            edge.dst
            for edge in self.ground.anchored
            if edge.src == journey and edge.dst_table == "Concept"
        }
        turns = self.journey_refs.get(journey, ())
        return self.rarest(
            own or (each for ref in turns for each in self.turn_concepts.get(ref, ()))
        )
