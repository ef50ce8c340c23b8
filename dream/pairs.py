"""Candidate pairs of a focus: which two nodes a hypothesis could join."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import log

from dream.company import SPOKEN, about, absent, is_topic, nested
from dream.emergence import growing, unspoken
from dream.index import Index
from dream.model import Focus
from dream.routes import alike, route
from dream.walk import Walk
from dream.wording import content_words

MOST = 16
BRIDGE_SIDE, BRIDGE_BEST = 4, 8
OTHER_JOURNEYS, OPEN_QUESTIONS, OWN_QUESTIONS = 6, 4, 8
THEME_QUESTIONS = 6
RHYMES = 2
COMPARED = 6


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two nodes, and where it matters the turns that speak for each."""

    src_table: str
    src: str
    dst_table: str
    dst: str
    new_concept: str | None = None


def candidates(focus: Focus, index: Index) -> tuple[Candidate, ...]:
    """Pairs of a focus, at most 16; no node with itself, no two threads of one lineage."""
    finders = {
        "seed": of_seed,
        "question_link": of_cluster,
        "journey": of_journey,
        "frontier": of_thread,
        "theme": of_theme,
        "concept_edge": of_edge,
        "correction": of_correction,
        "recall_miss": of_miss,
    }
    found = dict.fromkeys(finders[focus.kind](focus, index))
    return tuple(pair for pair in found if pair.src != pair.dst and not kin(pair, index))[:MOST]


def kin(pair: Candidate, index: Index) -> bool:
    """Two threads of one lineage: one conversation has nothing to say to itself."""
    one, other = index.threads.get(pair.src), index.threads.get(pair.dst)
    return one is not None and other is not None and one.lineage_root == other.lineage_root


def of_seed(focus: Focus, index: Index) -> Iterator[Candidate]:
    """By the shape of the seed."""
    match focus.shape:
        case "weak_bridge":
            yield from across(focus, index)
        case "missing_middle":
            yield from missing(focus, index)
        case "cut_point":
            yield from parts(focus, index)
        case "cycle":
            yield from circle(focus, index)
        case "island":
            yield from outside(focus, index)
        case _:
            yield from unresolved(focus, index)


def side(focus: Focus, *roles: str) -> tuple[str, ...]:
    """Members that play one of the roles, in the order of the seed."""
    return tuple(node for role, node in focus.members if role in roles)


def questions_in(nodes: Iterable[str], index: Index) -> tuple[str, ...]:
    """Questions among nodes and in thread nodes, most salient first."""
    found: set[str] = set()
    for node in nodes:
        found.update((node,) if node in index.questions else index.asked_in.get(node, ()))
    return tuple(sorted(found, key=lambda each: (-index.questions[each].salience, each)))


def undirected(one: str, other: str) -> Candidate:
    """Two questions, the smaller id first."""
    low, high = sorted((one, other))
    return Candidate("Question", low, "Question", high)


def across(focus: Focus, index: Index) -> Iterator[Candidate]:
    """Best questions on both sides of a bridge."""
    near = questions_in(side(focus, "side_a"), index)[:BRIDGE_SIDE]
    far = questions_in(side(focus, "side_b"), index)[:BRIDGE_SIDE]
    crossing = {(min(pair), max(pair)) for pair in product(near, far)}
    yield from best(crossing, index)


def missing(focus: Focus, index: Index) -> Iterator[Candidate]:
    """The newest thread on A and the concept C it never met; then questions on both."""
    for one, other in product(side(focus, "side_a"), side(focus, "side_b")):
        if one in index.concepts and other in index.concepts:
            for near, far in ((one, other), (other, one)):
                thread = newest_thread(index.concept_refs.get(near, ()), index)
                if thread is not None and index.concepts[far].kind in SPOKEN:
                    yield Candidate("Thread", thread, "Concept", far)
            if is_topic(index, one) and is_topic(index, other):
                low, high = sorted((one, other))
                yield Candidate("Concept", low, "Concept", high)
            near_questions = index.asked_about.get(one, ())[:3]
            far_questions = index.asked_about.get(other, ())[:3]
            for a, b in product(near_questions, far_questions):
                yield undirected(a, b)


def oldest_open(focus: Focus, index: Index) -> str | None:
    """The open question that a Journey or thread asked first."""
    own = index.journey_questions if focus.kind == "journey" else index.asked_in
    asked = (each for each in own.get(focus.id, ()) if each in index.askings)
    left = [each for each in asked if not index.cluster_answers(each)]
    return min(left, key=lambda each: (index.when(index.askings[each][0]), each), default=None)


def where_it_stands(focus: Focus, index: Index) -> str | None:
    """The question of the newest frontier of a focus that names one."""
    if focus.kind == "journey":
        standing = set(index.journeys[focus.id].frontier_refs)
    else:
        standing = set(index.thread_turns.get(focus.id, ()))
    for ref, signal in reversed(index.signal_refs.get("frontier", ())):
        if ref in standing and signal.question_id in index.askings:
            return signal.question_id
    return None


def newest_thread(refs: Iterable[str], index: Index) -> str | None:
    """Thread of the newest of some turns."""
    found = max((ref for ref in refs if ref in index.turns), key=index.when, default=None)
    return None if found is None else index.turns[found].thread_id


def parts(focus: Focus, index: Index) -> Iterator[Candidate]:
    """A cut node, and the question of each part that stands nearest to it."""
    for cut in side(focus, "cut"):
        table = index.table(cut)
        ends = [
            nearest(cut, questions_in(side(focus, role), index), index)
            for role in ("side_a", "side_b")
        ]
        # a part that does not speak of what holds it says nothing about it
        if table in ("Question", "Concept") and all(question for question in ends):
            yield from (Candidate(table, cut, "Question", question) for question in ends)


def nearest(node: str, questions: Iterable[str], index: Index) -> str:
    """The most salient asked question that names a node, or is linked to it; empty without one."""
    linked = index.neighbours.get(node, frozenset())
    naming = (
        each
        for each in questions
        if each != node
        and each in index.askings
        and (node in index.specific(each) or each in linked)
    )
    return next(naming, "")


def circle(focus: Focus, index: Index) -> Iterator[Candidate]:
    """The newest thread of a cycle, and the question it comes back to."""
    nodes = side(focus, "member")
    threads = [node for node in nodes if node in index.threads]
    refs = [ref for thread in threads for ref in index.thread_turns.get(thread, ())]
    last = newest_thread(refs, index)
    met = set(nodes)
    asked = [
        question
        for question in questions_in(nodes, index)
        if question in met or met.intersection(index.question_concepts.get(question, ()))
    ]
    asked.sort(key=lambda each: (-len(index.cluster_refs(each)), each))
    if last is not None:
        for question in asked[:2]:
            yield Candidate("Thread", last, "Question", question)


def outside(focus: Focus, index: Index) -> Iterator[Candidate]:
    """From own questions of an island to the nearest ones elsewhere, by words."""
    own = questions_in(side(focus, "member"), index)[:4]
    inside = set(side(focus, "member"))
    others = [each for each in index.questions if each not in inside]
    for question in own:
        near = sorted(others, key=lambda each: (-words_shared(index, question, each), each))
        for other in near[:2]:
            if words_shared(index, question, other):
                yield Candidate("Question", question, "Question", other)


def words_shared(index: Index, one: str, other: str) -> int:
    """Common content words of two questions."""
    return len(
        content_words(index.questions[one].text) & content_words(index.questions[other].text)
    )


def unresolved(focus: Focus, index: Index) -> Iterator[Candidate]:
    """Open questions of a knot, pairwise."""
    nodes = side(focus, "member", "side_a", "side_b", "cut")
    open_ones = [each for each in questions_in(nodes, index) if not index.cluster_answers(each)]
    for one, other in combinations(open_ones[:5], 2):
        yield undirected(one, other)


def of_cluster(focus: Focus, index: Index) -> Iterator[Candidate]:
    """The newest thread that asks, and the earliest wording; then questions next to it."""
    refs = index.cluster_refs(focus.id)
    members = [each for each in index.members[focus.id] if each in index.askings]
    earliest = min(members, key=lambda each: (index.when(index.askings[each][0]), each))
    yield Candidate("Thread", index.turns[refs[-1]].thread_id, "Question", earliest)
    for other in companions(earliest, index):
        yield undirected(earliest, other)


def companions(question: str, index: Index) -> tuple[str, ...]:
    """Questions of other clusters that share the rarest concepts with this one."""
    found: dict[str, float] = {}
    for concept in index.specific(question):
        for other in index.asked_about.get(concept, ()):
            if apart(question, other, index):
                found[other] = found.get(other, 0.0) + index.idf(concept)
    return tuple(sorted(found, key=lambda each: (-round(found[each], 6), each)))[:BRIDGE_BEST]


def of_journey(focus: Focus, index: Index) -> Iterator[Candidate]:
    """Other Journeys that share concepts, own open questions, concepts that are absent."""
    own = set(index.journey_concepts(focus.id))
    for other in kindred(focus.id, own, index):
        low, high = sorted((focus.id, other))
        yield Candidate("Journey", low, "Journey", high)
    for target in Walk(focus.id, index).targets():
        yield Candidate("Journey", focus.id, target.dst_table, target.dst)
    open_ones = [
        each
        for each in index.journey_questions.get(focus.id, ())
        if not index.cluster_answers(each)
    ]
    for question in open_ones[:OPEN_QUESTIONS]:
        yield Candidate("Journey", focus.id, "Question", question)
    inside = index.lineages_of(index.journey_refs.get(focus.id, ()))
    for concept in absent(index, own, inside):
        yield Candidate("Journey", focus.id, "Concept", concept)
    yield from rhymes(focus, index)


def kindred(journey: str, own: set[str], index: Index) -> tuple[str, ...]:
    """Other Journeys that share concepts or whose routes resonate, most shared first."""
    shared = {
        other: len(own.intersection(index.journey_concepts(other)))
        for other in index.journeys
        if other != journey
    }
    order = sorted(shared, key=lambda other: (-shared[other], other))
    kept = [other for other in order if shared[other]]
    # resonance is costly: only the few whose steps are most of the same kinds are compared
    rest = sorted(
        (other for other in order if not shared[other]),
        key=lambda other: (-steps_shared(journey, other, index), other),
    )
    kept += [other for other in rest[:COMPARED] if alike(journey, other, index)]
    return tuple(kept[:OTHER_JOURNEYS])


def steps_shared(one: str, other: str, index: Index) -> int:
    """Arcs that two routes have in common, whatever their order."""
    return (Counter(route(one, index)) & Counter(route(other, index))).total()


def rhymes(focus: Focus, index: Index) -> Iterator[Candidate]:
    """Where it stands, and its oldest open question, with those that share most with them."""
    found = (where_it_stands(focus, index), oldest_open(focus, index))
    for own in (each for each in found if each is not None):
        for other in companions(own, index)[:RHYMES]:
            yield undirected(own, other)


def of_thread(focus: Focus, index: Index) -> Iterator[Candidate]:
    """A thread with its own open questions, then with the concepts it never met."""
    own = [each for each in index.asked_in.get(focus.id, ()) if not index.cluster_answers(each)]
    own.sort(key=lambda each: (-index.questions[each].salience, each))
    for question in own[:OWN_QUESTIONS]:
        yield Candidate("Thread", focus.id, "Question", question)
    lineage = index.threads[focus.id].lineage_root
    for concept in absent(index, about(index, lineage), frozenset({lineage})):
        yield Candidate("Thread", focus.id, "Concept", concept)
    for grown in growing(focus.id, index):
        yield Candidate("Concept", grown.src, "Concept", grown.dst)
    for theme in unspoken(focus.id, index):
        yield Candidate("Question", theme.question, "Concept", theme.concept_id)
    yield from rhymes(focus, index)


def of_theme(focus: Focus, index: Index) -> Iterator[Candidate]:
    """The newest thread on a theme asks with a concept new to it; who else asks about that?"""
    refs = index.concept_refs[focus.id]
    newest = newest_thread(refs, index)
    if newest is None:
        return
    lineage = index.threads[newest].lineage_root
    before = {
        each
        for ref in refs
        if index.lineage(ref) != lineage
        for each in index.lineage_concepts.get(index.lineage(ref), ())
    }
    for own in index.asked_in.get(newest, ()):
        held = index.specific(own)
        if focus.id in held:
            # a plain word or a file is new to everything: that says nothing of the theme
            new = (each for each in held if each not in before and is_topic(index, each))
            for concept in new:
                if not nested(index, concept, focus.id):
                    yield from elsewhere(own, concept, index)
    yield from together(index.asked_about.get(focus.id, ()), index)


def elsewhere(question: str, concept: str, index: Index) -> Iterator[Candidate]:
    """A question with those of other lineages that name a concept it names too."""
    others = [each for each in index.asked_about.get(concept, ()) if apart(question, each, index)]
    for other in others[:THEME_QUESTIONS]:
        low, high = sorted((question, other))
        yield Candidate("Question", low, "Question", high, new_concept=concept)


def of_edge(focus: Focus, index: Index) -> Iterator[Candidate]:
    """Questions of different lineages that both name the two concepts of an edge."""
    one, _, other = focus.id.partition(" ")
    yield from together(set(index.asked_about[one]).intersection(index.asked_about[other]), index)


def together(questions: Iterable[str], index: Index) -> Iterator[Candidate]:
    """Pairs of different lineages among some questions."""
    yield from best(combinations(sorted(questions), 2), index)


def best(pairs: Iterable[tuple[str, str]], index: Index) -> Iterator[Candidate]:
    """The eight pairs of questions apart with the most and rarest common neighbours."""
    scored = sorted(
        (-adamic_adar(index, low, high), low, high)
        for low, high in pairs
        if apart(low, high, index)
    )
    for _, low, high in scored[:BRIDGE_BEST]:
        yield Candidate("Question", low, "Question", high)


def apart(one: str, other: str, index: Index) -> bool:
    """Two questions of different clusters that no lineage asks both of, and that nothing links."""
    if index.clusters[one] == index.clusters[other] or other in index.neighbours.get(one, ()):
        return False
    near = index.lineages_of(index.cluster_refs(one))
    return not near.intersection(index.lineages_of(index.cluster_refs(other)))


def of_correction(focus: Focus, index: Index) -> Iterator[Candidate]:
    """The last thread that was corrected, and the first of another lineage."""
    refs = correction_refs(focus, index)
    last = index.turns[refs[-1]].thread_id
    home = index.threads[last].lineage_root
    first = next((ref for ref in refs if index.lineage(ref) != home), None)
    if first is not None:
        yield Candidate("Thread", last, "Thread", index.turns[first].thread_id)


def of_miss(focus: Focus, index: Index) -> Iterator[Candidate]:
    """A question, and the threads of the turns that a recall for it missed."""
    for ref in index.misses.get(focus.id, ()):
        yield Candidate("Question", focus.id, "Thread", index.turns[ref].thread_id)


def correction_refs(focus: Focus, index: Index) -> tuple[str, ...]:
    """Turns of one repeated correction, oldest first."""
    target, _, concept = focus.id.partition("/")
    return tuple(
        ref
        for ref, signal in index.signal_refs.get("correction", ())
        if signal.type == target and concept in signal.concepts
    )


def adamic_adar(index: Index, one: str, other: str) -> float:
    """Sum over common neighbours of 1 / ln degree (Adamic and Adar 2003), degree at least 2."""
    return round(sum(1 / log(max(2, index.degree(each))) for each in index.common(one, other)), 6)


def resource_allocation(index: Index, one: str, other: str) -> float:
    """Sum over common neighbours of 1 / degree (Zhou, Lü and Zhang 2009)."""
    return round(sum(1 / index.degree(each) for each in index.common(one, other)), 6)
