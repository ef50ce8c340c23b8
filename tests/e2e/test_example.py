"""Every line of the bundled example's EXPECTED.md, checked on a store made by ``clew up``."""

import json
import operator
import re
from datetime import datetime
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest

from graphstore.ids import question_key
from graphstore.model.conversation import LineageKind, Role
from graphstore.model.hypothesis import HYPOTHESES
from graphstore.model.knowledge import SeedRow
from service import operations, settings
from service.session import Session

EXAMPLE = Path(str(files("service") / "example"))
ROWS = [
    [cell.strip() for cell in line.strip().strip("|").split("|")]
    for line in (EXAMPLE / "EXPECTED.md").read_text("utf-8").splitlines()
    if re.match(r"\| E\d+ ", line)
]
COMPARE = {">=": operator.ge, ">": operator.gt, "": operator.eq}


def bound(text):
    """``>= 4 threads`` as a test of a number."""
    found = re.match(r"(>=|>|)\s*(\d+)", text)
    assert found is not None
    sign, number = found.groups()
    return lambda found: COMPARE[sign](found, int(number))


class Found:
    """What one run over the example left behind."""

    def __init__(self, home, now):
        self.now = now
        self.loaded = settings.load({"store.home": str(home)}, home)
        self.session = Session(loaded=self.loaded, folder=home, now=lambda: now)
        self.up = operations.up(self.session, example=True)
        with self.session.store("test") as store:
            self.threads = {thread.thread_id: thread for thread in store.threads()}
            self.roots = store.roots()
            self.ground = store.ground()
            self.cycles = store.cycles()
            self.seeds = store.nodes(SeedRow)
            self.hypotheses = [edge for kind in HYPOTHESES for edge in store.edges(kind)]
            self.files = store.files.all()
            self.resolve = {
                text: store.resolve(text)
                for row in ROWS
                for text in row[2].split(" ; ")
                if text.startswith("thread:")
            }
        self.turns = {turn.ref: turn for turn in self.ground.turns}
        self.questions = {q.question_id: q for q in self.ground.questions}
        self.labels = {c.concept_id: c.label for c in self.ground.concepts}

    def named(self, label):
        """Concept ids of a label or alias."""
        wanted = label.casefold().strip("`")
        return {
            concept.concept_id
            for concept in self.ground.concepts
            if wanted in {name.casefold() for name in (concept.label, *concept.aliases)}
        }

    def question(self, text):
        """Question nodes of a normalised text, and those that recur with it."""
        wanted = question_key(text)
        found = {q.question_id for q in self.questions.values() if question_key(q.text) == wanted}
        assert found, "no such question"
        return found

    def askings(self, text):
        """Refs that ask a question, through recurring links too."""
        group = self.question(text)
        for _ in range(3):
            group |= {
                end
                for link in self.ground.links
                if link.link_type == "recurring" and {link.src, link.dst} & group
                for end in (link.src, link.dst)
            }
        return sorted({edge.src for edge in self.ground.asks if edge.dst in group})

    def threads_of(self, concept_ids):
        """Thread ids whose turns mention one of some concepts."""
        refs = {
            edge.src
            for edge in self.ground.mentions
            if edge.src_table == "SourceRef" and edge.dst in concept_ids
        }
        return {self.turns[ref].thread_id for ref in refs}

    def signals(self, ref, kind):
        """Signals of one kind at a turn."""
        return [each for each in json.loads(self.turns[ref].signals) if each["kind"] == kind]

    def said(self, ref, label):
        """Whether the turn says or mentions a concept."""
        mentioned = {e.dst for e in self.ground.mentions if e.src == ref}
        return (
            bool(self.named(label) & mentioned)
            or label.casefold() in self.turns[ref].text.casefold()
        )

    def journey(self, concepts):
        """The Journey about some concepts."""
        wanted = [self.named(label) for label in concepts.split(", ")]
        for journey in self.ground.journeys:
            anchors = {e.dst for e in self.ground.anchored if e.src == journey.journey_id}
            text = f"{journey.core_inquiry} {journey.path_label}".casefold()
            if all(
                each & anchors or label.casefold() in text
                for each, label in zip(wanted, concepts.split(", "), strict=True)
            ):
                return journey
        raise AssertionError("no such Journey")

    def stops(self, journey):
        """(ref, at) of the waypoints of a Journey, by time."""
        at = {way.waypoint_id: way.at for way in self.ground.waypoints}
        return sorted(
            (at[edge.src], edge.dst)
            for edge in self.ground.anchored
            if edge.src_table == "Waypoint" and edge.src.startswith(journey.journey_id)
        )

    def seed_labels(self, seed):
        """Labels of a seed's members by role."""
        found: dict[str, set[str]] = {}
        for member in seed.members:
            role, _, node = member.partition("=")
            name = self.labels.get(node) or (
                self.questions[node].text if node in self.questions else node
            )
            found.setdefault(role, set()).add(name.casefold())
        return found


def now_check(found, at):
    assert found.now == datetime.fromisoformat(at)


def exit_code(found, code):
    assert found.up.ingest.exit_code == int(code)


def thread_count(found, count):
    assert len(found.threads) == int(count)


def lineage_count(found, count):
    assert len(set(found.roots.values())) == int(count)


def source_count(found, source, count):
    assert sum(each.startswith(f"{source}:") for each in found.threads) == int(count)


def clean_turns(found, role, count):
    clean = [turn for thread in found.threads.values() for turn in thread.clean()]
    assert sum(turn.role == role for turn in clean) == int(count)


def side_turns(found, thread, count):
    turns = found.threads[thread].turns
    assert sum(turn.role is Role.OTHER for turn in turns) == int(count)


def code(found, name):
    """Count and places of a code in the report."""
    return next(each for each in found.up.ingest.codes if each.code == name)


def loss(found, name, count):
    assert code(found, name).count == int(count)


def pending_place(found, name, file, offset):
    row = next(row for row in found.up.ingest.carriers if row.file.endswith(file))
    assert row.pending_offset == int(offset)
    assert code(found, name)


def loss_place(found, name, file, line):
    assert any(place.endswith(f"{file}:{line}") for place in code(found, name).places)


def turn_count(found, thread, count):
    assert len(found.threads[thread].clean()) == int(count)


def carriers(found, thread, count):
    assert sum(thread in row.thread_ids for row in found.files) == int(count)


def lineage(found, child, parent, kind, split):
    link = next(each for each in found.threads[child].lineage if each.parent == parent)
    assert (link.kind, link.split_turn) == (LineageKind(kind), int(split))


def resolves(found, one, other):
    assert found.resolve[one].ref == other


def alternative(found, thread, number):
    assert int(number) not in found.threads[thread].path
    assert any(turn.number == int(number) for turn in found.threads[thread].turns)


def path(found, thread, numbers):
    assert found.threads[thread].path == tuple(int(each) for each in numbers.split(","))


def masked(found, kind, count, thread, number):
    hits = [
        (each.thread_id, turn.number)
        for each in found.threads.values()
        for turn in each.turns
        for mask in turn.masked
        if mask.kind == kind
    ]
    assert hits == [(thread, int(number))] * int(count)


def never_stored(found, secret):
    for file in found.session.workspace.rglob("*"):
        if file.is_file():
            assert secret.encode() not in file.read_bytes(), file.name


def title(found, thread, text):
    assert found.threads[thread].title == text


def undated(found, thread):
    assert found.threads[thread].started_at is None


def touched(found, thread, file):
    assert file in {each for turn in found.threads[thread].turns for each in turn.tools.touched}


def touched_overlap(found, file, *threads):
    for thread in threads:
        touched(found, thread, file)


def question_asked(found, text, times, threads):
    askings = found.askings(text)
    assert bound(times)(len(askings))
    assert bound(threads)(len({found.turns[ref].thread_id for ref in askings}))


def asked_at(found, text, ref):
    assert ref in found.askings(text)


def status(found, text, wanted):
    assert {found.questions[each].status for each in found.question(text)} == {wanted}


def answered_by(found, text, ref):
    group = found.question(text)
    assert any(e.src == ref and e.dst in group for e in found.ground.answers)


def correction(found, ref, concept):
    assert found.signals(ref, "correction")
    assert found.said(ref, concept)


def decision(found, ref, concept):
    assert found.signals(ref, "decision")
    assert found.said(ref, concept)


def rejected_route(found, ref, chosen, dropped):
    kinds = {each["type"] for each in found.signals(ref, "decision")}
    kinds |= {each["type"] for each in found.signals(ref, "texture")}
    assert kinds & {"rejected", "rejected_route"}
    assert found.said(ref, chosen)
    assert found.said(ref, dropped)


def frontier(found, ref, kind):
    assert kind in {each["type"] for each in found.signals(ref, "frontier")}


def journey(found, concepts, state, threads):
    walked = found.journey(concepts)
    shown = next(
        each for each in operations.journeys(found.session) if each.journey_id == walked.journey_id
    )
    assert shown.status == state
    assert bound(threads)(len({found.turns[ref].thread_id for _, ref in found.stops(walked)}))


def journey_core(found, concepts, text):
    assert question_key(found.journey(concepts).core_inquiry) == question_key(text)


def journey_pause(found, concepts, before, after, days):
    stops = found.stops(found.journey(concepts))
    gaps = [
        (found.turns[one].thread_id, found.turns[two].thread_id, (later - earlier).days)
        for (earlier, one), (later, two) in pairwise(stops)
    ]
    assert any(gap[:2] == (before, after) and bound(days)(gap[2]) for gap in gaps)


def never_together(found, one, other):
    assert not found.threads_of(found.named(one)) & found.threads_of(found.named(other))


def concept_in(found, label, thread):
    assert thread in found.threads_of(found.named(label))


def seed(found, shape, *labels):
    wanted = {label.casefold().strip("`") for label in labels}
    for each in found.seeds:
        if each.shape == shape:
            names = {n.strip("`?") for part in found.seed_labels(each).values() for n in part}
            if all(any(label in name for name in names) for label in wanted):
                return
    raise AssertionError("no such seed")


def seed_side(found, shape, label, *threads):
    wanted = label.casefold()
    for each in found.seeds:
        if each.shape == shape:
            sides = found.seed_labels(each)
            names = {name for part in sides.values() for name in part}
            if any(wanted in name for name in names) and any(
                {n for n in part if n in found.threads} == set(threads) for part in sides.values()
            ):
                return
    raise AssertionError("no side holds exactly these threads")


def ends(found, edge):
    """Words at the two ends of a hypothesis."""
    names = []
    for node in (edge.src, edge.dst):
        known = found.questions.get(node)
        names.append(question_key(known.text) if known else found.labels.get(node, node))
    return names


def hypothesis(found, rule, *ends_wanted):
    edges = [each for each in found.hypotheses if each.rule == rule]
    assert_ends(found, edges, ends_wanted)


def hypothesis_or_parked(found, rule, *ends_wanted):
    parked = [draft.hypothesis for cycle in found.cycles for draft in cycle.parked]
    edges = [each for each in (*found.hypotheses, *parked) if each.rule == rule]
    assert_ends(found, edges, ends_wanted)


def assert_ends(found, edges, wanted):
    for edge in edges:
        said = " ; ".join((*ends(found, edge), edge.title, edge.summary)).casefold()
        choices = [each.casefold().split(" or ") for each in wanted]
        if all(
            any(question_key(part) in said or part in said for part in each) for each in choices
        ):
            return
    raise AssertionError(f"{len(edges)} such hypotheses, none with these ends")


CHECKS = {
    "now": now_check,
    "exit": exit_code,
    "notice": loss,
    "notice_place": pending_place,
    "own_turns": turn_count,
    **{
        check.__name__: check
        for check in (
            thread_count,
            lineage_count,
            source_count,
            clean_turns,
            side_turns,
            loss,
            loss_place,
            turn_count,
            carriers,
            lineage,
            resolves,
            alternative,
            path,
            masked,
            never_stored,
            title,
            undated,
            touched,
            touched_overlap,
            question_asked,
            asked_at,
            status,
            answered_by,
            correction,
            decision,
            rejected_route,
            frontier,
            journey,
            journey_core,
            journey_pause,
            never_together,
            concept_in,
            seed,
            seed_side,
            hypothesis,
            hypothesis_or_parked,
        )
    },
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    now = datetime.fromisoformat(next(row[2] for row in ROWS if row[1] == "now"))
    return Found(tmp_path_factory.mktemp("example"), now)


@pytest.mark.parametrize(
    ("check", "arguments"), [row[1:3] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_expected(found, check, arguments):
    CHECKS[check](found, *arguments.split(" ; "))
