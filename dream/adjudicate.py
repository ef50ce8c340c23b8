"""Policy as named checks: a draft is accepted only if every one of them passes."""

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Final, TypeAlias

from dream import lexicon
from dream.drafting import ARTIFACT
from dream.functions import rules_of
from dream.hostile import is_unfit, repeats
from dream.model import Accepted, Draft, Pack, PackTurn, Parked, Rejected, Verdict
from dream.wording import content_words
from graphstore.model.hypothesis import HYPOTHESES, TrustHorizon

Check: TypeAlias = Callable[[Draft, Pack], bool]

UNPROVEN: Final = frozenset({"approach_bias"})
"""Rules whose hypotheses nobody who read them found worth having; theirs wait for the owner."""
CUES_MOST: Final = 8
SINGLE_REFS: Final = 2
WORDS_SHARED: Final = 2
FEELING: Final = "emotional_balance_note"
"""A rule for models alone, and always for a human to look at."""
TWO_SIDED: Final = frozenset({"RESONATES", "IMAGINES"})
UNLINKED: Final = frozenset({"RESONATES", "ANTICIPATES", "IMAGINES"})
MARKUP: Final = re.compile(r"<[a-z/!?]|\]\(|[a-z][a-z0-9+.-]*://", re.IGNORECASE)
QUOTED: Final = re.compile(r'"[^"]*"')
PATTERN_WORDS: Final = 4
PROBE_REFS: Final = 3
DAYS: Final = (1, 90)
"""Life of an invitation."""
CALLING: Final = re.compile(r"\b(?:will|won\W?t)\b", re.IGNORECASE)


def adjudicate(draft: Draft, pack: Pack, horizon: TrustHorizon, now: datetime) -> Verdict:
    """Run all checks; reject on a hard one, park on any other, and name every failure."""
    failed = tuple(check.__name__ for check in CHECKS if not check(draft, pack))
    if not horizon_complete(horizon, now):
        failed = (*failed, "horizon_complete")
    if REJECTING.intersection(failed):
        return Rejected(draft=draft, failed=failed)
    return Parked(draft=draft, failed=failed) if failed else Accepted(draft=draft)


def cited(draft: Draft, pack: Pack) -> tuple[PackTurn, ...]:
    """Pack turns among the premises, in pack order."""
    wanted = set(draft.refs)
    return tuple(turn for turn in pack.turns if turn.alias in wanted)


def words(draft: Draft) -> str:
    """Everything the draft says in its own words, quotes from turns left out."""
    return QUOTED.sub('""', f"{whole(draft)}\n{draft.why_not_fact}")


def whole(draft: Draft) -> str:
    """Everything a draft shows, quotes of turns included: they reach titles too."""
    said = [draft.title, draft.summary, *(each.text for each in draft.claims), *draft.cues]
    if (bridge := draft.bridge) is not None:
        said += [bridge.shared_pattern, bridge.possible_reason, bridge.unblock_condition]
        said += bridge.falsification_cues
    if (text := draft.artifact) is not None:
        said += [text.text, text.when_not_to_use]
    if (invitation := draft.invitation) is not None:
        said += [invitation.opening, *invitation.triggers]
    said += [each.label for each in draft.voices]
    return "\n".join(said)


def known_rule(draft: Draft, pack: Pack) -> bool:
    """The rule belongs to the function."""
    del pack
    return draft.rule in rules_of(draft.function, by_model=draft.method == "model")


@cache
def endpoint_pairs() -> frozenset[tuple[str, str, str]]:
    """(edge, src table, dst table) that the four tables allow."""
    return frozenset((kind.TABLE, *pair) for kind in HYPOTHESES for pair in kind.PAIRS)


def well_formed(draft: Draft, pack: Pack) -> bool:
    """Words and endpoints are there, of allowed kinds, in the pack, and free of markup."""
    ends = {(pair.src_table, pair.src, pair.dst_table, pair.dst) for pair in pack.pairs}
    known = (draft.src_table, draft.src, draft.dst_table, draft.dst) in ends
    ordered = draft.edge not in TWO_SIDED or draft.src < draft.dst
    allowed = (draft.edge, draft.src_table, draft.dst_table) in endpoint_pairs()
    plain = not MARKUP.search(whole(draft))
    return bool(draft.title and draft.summary) and known and ordered and allowed and plain


def cites_something(draft: Draft, pack: Pack) -> bool:
    """At least one premise is a turn of the pack."""
    return bool(cited(draft, pack))


def no_profile_claim(draft: Draft, pack: Pack) -> bool:
    """No diagnosis, identity or hidden motive of a person."""
    del pack
    return not lexicon.has("profile_claim", words(draft))


def not_instruction_like(draft: Draft, pack: Pack) -> bool:
    """No directive to an agent, also not inside a quote, and no words of a turn that gives one."""
    shown = f"{whole(draft)}\n{draft.why_not_fact}"
    if lexicon.has("instruction", shown) or is_unfit(shown):
        return False
    return not repeats(shown, (turn.text for turn in (*pack.turns, *pack.counter_turns)))


def cites_only_pack(draft: Draft, pack: Pack) -> bool:
    """Every alias, counter-evidence included, is one of the pack's."""
    known = {turn.alias for turn in (*pack.turns, *pack.counter_turns)}
    premises = {turn.alias for turn in pack.turns}
    against = {alias for each in draft.counter for alias in each.refs}
    return set(draft.refs) <= premises and against <= known


def premises_clean(draft: Draft, pack: Pack) -> bool:
    """Human and assistant turns only, none of them one that the pack holds as counter-evidence."""
    against = {turn.alias for turn in pack.counter_turns}
    return not against.intersection(draft.refs)


def enough_threads(draft: Draft, pack: Pack) -> bool:
    """Two lineages; compensation may rest on one with two refs; two threads are never kin."""
    turns = cited(draft, pack)
    lineages = {turn.lineage for turn in turns}
    joins_threads = draft.edge in TWO_SIDED or draft.src_table == draft.dst_table == "Thread"
    if joins_threads and not is_probe(draft, pack) and is_kin(draft, pack):
        return False
    if draft.function == "compensatory":
        return len(lineages) > 1 or len(turns) >= SINGLE_REFS
    return len(lineages) > 1 or is_probe(draft, pack)


def is_probe(draft: Draft, pack: Pack) -> bool:
    """Whether it imagines within one thread, on three turns of which a claim cites two."""
    turns = cited(draft, pack)
    alone = draft.function == "active_imagination" and len({turn.lineage for turn in turns}) == 1
    leaning = any(len(each.refs) >= SINGLE_REFS for each in draft.claims)
    return alone and len(turns) >= PROBE_REFS and leaning


def single_thread_probe(draft: Draft, pack: Pack) -> bool:
    """What is imagined within one thread always waits for its sources to be read again."""
    return not is_probe(draft, pack)


def rule_proven(draft: Draft, pack: Pack) -> bool:
    """The rule has given something that was worth reading."""
    del pack
    return draft.rule not in UNPROVEN


def is_kin(draft: Draft, pack: Pack) -> bool:
    """Whether both ends live in one lineage."""
    return any(
        pair.same_lineage for pair in pack.pairs if (pair.src, pair.dst) == (draft.src, draft.dst)
    )


def claims_sourced(draft: Draft, pack: Pack) -> bool:
    """At least one claim, and refs on each."""
    del pack
    return bool(draft.claims) and all(each.refs for each in draft.claims)


def both_sides(draft: Draft, pack: Pack) -> bool:
    """Edges that join two sides rest on turns of both, in different lineages."""
    if draft.edge not in TWO_SIDED:
        return True
    lineage = {turn.alias: turn.lineage for turn in pack.turns}
    sides = {
        side: {lineage.get(ref) for each in draft.claims if each.side == side for ref in each.refs}
        for side in ("a", "b")
    }
    meet = sides["a"] & sides["b"] and not is_probe(draft, pack)
    return bool(sides["a"] and sides["b"]) and not meet


def claim_grounded(draft: Draft, pack: Pack) -> bool:
    """Each claim with refs shares a specific concept or two content words with what it cites."""
    turns = {turn.alias: turn for turn in pack.turns}
    labels = {each.concept_id: each.label.casefold() for each in pack.concepts}
    return all(
        grounded(each.text, [turns[ref] for ref in each.refs if ref in turns], labels)
        for each in draft.claims
        if each.refs
    )


def grounded(text: str, turns: list[PackTurn], labels: dict[str, str]) -> bool:
    """Whether a sentence and some turns speak of the same."""
    folded = text.casefold()
    held = {each for turn in turns for each in turn.concepts}
    if any(labels[each] in folded for each in held if each in labels):
        return True
    theirs = frozenset().union(*(content_words(turn.text) for turn in turns))
    return len(content_words(text) & theirs) >= WORDS_SHARED


def has_counter_evidence(draft: Draft, pack: Pack) -> bool:
    """Looking ahead and imagining need some; the others need the search to have been made."""
    if draft.edge in ("ANTICIPATES", "IMAGINES"):
        return bool(draft.counter)
    return bool(pack.counter_search.searched)


def says_why_not_fact(draft: Draft, pack: Pack) -> bool:
    """It says why it is no fact."""
    del pack
    return bool(draft.why_not_fact.strip())


def has_cues(draft: Draft, pack: Pack) -> bool:
    """One to eight cues."""
    del pack
    return 1 <= len(draft.cues) <= CUES_MOST


def declared_confidence_in_range(draft: Draft, pack: Pack) -> bool:
    """A model declares its confidence; a rule declares none."""
    low, high = pack.confidence
    if draft.method == "deterministic":
        return draft.declared_confidence is None
    return draft.declared_confidence is not None and low <= draft.declared_confidence <= high


def not_prediction(draft: Draft, pack: Pack) -> bool:
    """No bare ``will`` in its own words."""
    del pack
    return CALLING.search(words(draft)) is None


def not_persona(draft: Draft, pack: Pack) -> bool:
    """The inquiry is the subject, never a person."""
    del pack
    return not lexicon.has("persona", words(draft))


def not_sensitive(draft: Draft, pack: Pack) -> bool:
    """Nothing of credentials, property, health, trauma or hidden states, unless technical."""
    context = "\n".join(turn.text for turn in cited(draft, pack))
    if draft.rule == FEELING:
        return False
    return lexicon.sensitivity(whole(draft), context) is None


def not_already_linked(draft: Draft, pack: Pack) -> bool:
    """What it would join is not joined already."""
    if draft.edge not in UNLINKED and draft.rule != "blind_spot":
        return True
    return not any(
        pair.is_linked for pair in pack.pairs if (pair.src, pair.dst) == (draft.src, draft.dst)
    )


def not_duplicate(draft: Draft, pack: Pack) -> bool:
    """No live hypothesis says it already."""
    return not any(
        (each.function, each.src, each.dst) == (draft.function, draft.src, draft.dst)
        for each in pack.neighbours
    )


def bridge_complete(draft: Draft, pack: Pack) -> bool:
    """A bridge joins the two ends, cites both of them, and says what would speak against it."""
    bridge = draft.bridge
    if bridge is None:
        return True
    a, b = (
        {ref for each in draft.claims if each.side == side for ref in each.refs} for side in "ab"
    )
    known = {turn.alias for turn in pack.turns}
    return bool(
        set(bridge.journeys) == {draft.src, draft.dst}
        and set(bridge.refs) <= known
        and a.intersection(bridge.refs)
        and b.intersection(bridge.refs)
        and len(bridge.shared_pattern.split()) >= PATTERN_WORDS
        and bridge.possible_reason
        and bridge.unblock_condition
        and any(cue.strip() for cue in bridge.falsification_cues)
    )


def artifact_complete(draft: Draft, pack: Pack) -> bool:
    """An artifact has its text, turns of the pack, and says when not to use it."""
    made = draft.artifact
    if made is None:
        return True
    known = {turn.alias for turn in pack.turns}
    against = known | {turn.alias for turn in pack.counter_turns}
    return bool(
        made.text.strip()
        and len(made.text) <= ARTIFACT
        and made.refs
        and set(made.refs) <= known
        and set(made.counter) <= against
        and made.when_not_to_use.strip()
    )


def invitation_complete(draft: Draft, pack: Pack) -> bool:
    """An invitation asks, says what calls for it, cites the pack, and stands 1 to 90 days."""
    asked = draft.invitation
    if asked is None:
        return True
    known = {turn.alias for turn in pack.turns}
    return bool(
        asked.opening.rstrip().endswith(("?", "\uff1f"))
        and asked.triggers
        and asked.refs
        and set(asked.refs) <= known
        and DAYS[0] <= asked.days <= DAYS[1]
    )


def horizon_complete(horizon: TrustHorizon, now: datetime) -> bool:
    """Both dates are set, in order, and ahead."""
    return now < horizon.review_after <= horizon.expires_at


CHECKS: Final[tuple[Check, ...]] = (
    known_rule,
    well_formed,
    cites_something,
    no_profile_claim,
    not_instruction_like,
    cites_only_pack,
    premises_clean,
    enough_threads,
    claims_sourced,
    both_sides,
    claim_grounded,
    has_counter_evidence,
    says_why_not_fact,
    has_cues,
    declared_confidence_in_range,
    not_prediction,
    not_persona,
    not_sensitive,
    not_already_linked,
    not_duplicate,
    bridge_complete,
    artifact_complete,
    invitation_complete,
    single_thread_probe,
    rule_proven,
)
REJECTING: Final = frozenset(
    {"known_rule", "well_formed", "cites_something", "no_profile_claim", "not_instruction_like"}
)
