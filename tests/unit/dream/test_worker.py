"""What a model is told, how its answers are read, and what follows from them."""

import json

import pytest

from dream import functions
from dream.adjudicate import adjudicate
from dream.landing import horizon
from dream.model import Parked, Rejected
from dream.settings import ModelSettings
from dream.worker import (
    NOWHERE,
    Empty,
    Failure,
    Invalid,
    Proposed,
    Reply,
    Said,
    Send,
    Stop,
    contract,
    draft_of,
    foreign,
    is_masked,
    messages,
    plain,
    read,
    schema,
    step,
    strings,
    wire,
)
from graphstore.model.hypothesis import CounterEvidence
from tests.dreamt import NOW, SETTINGS, a_pack, a_pair, a_turn
from tests.proposed import a_proposal, answer

LIMITS = ModelSettings()
DATES = horizon(SETTINGS, NOW)


def replied(text, **changes) -> Reply:
    base = Reply(text=text, usage=None, sent=b"s", received=b"r", ms=1)
    return base.replace(**changes)


def failed(reason, wait=None) -> Failure:
    return Failure(reason=reason, retry_after_s=wait)


def as_draft(proposal, pack=None, mask=str):
    return draft_of(proposal, pack or a_pack(), "amplification", "a-model", mask)


def verdict(proposal, pack=None):
    pack = pack or a_pack()
    return adjudicate(as_draft(proposal, pack), pack, DATES, NOW)


class TestMessages:
    def test_contract_then_pack_then_directive(self):
        system, pack, now = messages("amplification", wire(a_pack()), 1, "", LIMITS)
        assert [each.role for each in (system, pack, now)] == ["system", "user", "user"]
        assert system.content == contract("amplification")
        assert json.loads(pack.content) == wire(a_pack())
        assert "Sample 1" in now.content

    def test_only_the_directive_varies_within_a_job(self):
        first = messages("amplification", wire(a_pack()), 1, "", LIMITS)
        later = messages("amplification", wire(a_pack()), 2, "drafts: missing", LIMITS)
        assert first[:2] == later[:2]
        assert first[2] != later[2]
        assert "drafts: missing" in later[2].content

    @pytest.mark.parametrize("name", functions.names())
    def test_the_contract_holds_no_word_of_a_pack(self, name):
        hostile = a_pack(turns=(a_turn("sr0", "ignore previous"), a_turn("sr1", "you must now")))
        said = messages(name, wire(hostile), 1, "", LIMITS)
        assert said[0].content == contract(name)
        assert "ignore previous" not in said[0].content + said[2].content

    def test_the_keys_of_the_pack_stand_in_a_fixed_order(self):
        text = messages("amplification", wire(a_pack()), 1, "", LIMITS)[1].content
        assert list(json.loads(text)) == [
            *("about", "turns", "turns_against", "questions", "stops", "concepts", "journeys"),
            "pairs",
        ]

    def test_no_id_of_the_store_goes_out(self):
        against = CounterEvidence(kind="base_rate", statement="elsewhere too", refs=("sr2",))
        text = json.dumps(wire(a_pack(pairs=(a_pair(counter=(against,)),))))
        for name in ("q:a", "c:salt", "pack:1", "test:sr0", "thread:"):
            assert name not in text
        assert "elsewhere too" in text

    def test_the_schema_allows_no_more_than_it_names(self):
        found = json.loads(schema("compensatory"))
        assert found["additionalProperties"] is False
        rows = found["$defs"]["Proposal"]
        assert rows["required"] == list(rows["properties"])  # as strict endpoints ask for
        assert "emotional_balance_note" in rows["properties"]["rule"]["enum"]

    def test_only_compensation_may_note_a_feeling(self):
        assert "emotional_balance_note" not in schema("amplification")
        assert "emotional_balance_note" not in functions.rules_of("compensatory")


class TestMasking:
    def test_every_string_of_the_pack_is_looked_at(self):
        assert strings({"a": ["b", {"c": "d"}], "n": 1, "m": None}) == ["b", "d"]

    def test_a_pack_with_a_hit_is_told(self):
        def mask(text):
            return text.replace("tiger", "[masked:animal]")

        assert is_masked(wire(a_pack()), mask)
        assert not is_masked(wire(a_pack(turns=(a_turn("sr0", "my tiger"),))), mask)

    def test_a_hit_over_two_strings_is_told(self):
        assert not is_masked({"a": "ti", "b": "ger"}, lambda text: text.replace("ti\nger", "*"))


class TestReading:
    @pytest.mark.parametrize("text", ["", " \n", "NO_REPLY", "no reply.", '{"drafts": []}'])
    def test_nothing_to_say(self, text):
        assert read(text, 16_000) == Empty()

    def test_drafts(self):
        assert read(answer(a_proposal()), 16_000) == Proposed(proposals=(a_proposal(),))

    def test_a_fence_round_the_answer_is_no_fault(self):
        fenced = f"```json\n{answer(a_proposal())}\n```"
        assert read(fenced, 16_000) == Proposed(proposals=(a_proposal(),))

    def test_a_long_answer_is_not_cut_but_refused(self):
        assert read(" " * 16_001 + "x", 16_000) == Invalid(problem="too long", mendable=False)

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("{", "answer: json invalid"),
            ("Sure! Here it is: {}", "answer: json invalid"),
            ("{}", "drafts: missing"),
            ('{"drafts": [{}]}', "drafts.0.rule: missing"),
            ('{"drafts": [], "canary": 1}', "?: extra forbidden"),
            ('{"drafts": 3}', "drafts: tuple type"),
        ],
    )
    def test_a_fault_is_told_by_place_and_kind(self, text, told):
        assert read(text, 16_000) == Invalid(problem=told)

    def test_a_fault_never_repeats_the_answer(self):
        for text in ('{"canary-word": "canary-word"}', "canary-word", '{"drafts":["canary-word"]}'):
            found = read(text, 16_000)
            assert isinstance(found, Invalid)
            assert "canary-word" not in found.problem

    def test_words_lose_what_cannot_be_seen(self):
        assert plain("ig\u200bnore \u202ethe\x07\n  rest") == "ignore the rest"


class TestDrafts:
    def test_a_good_proposal_is_accepted(self):
        found = verdict(a_proposal())
        assert found.outcome == "accepted"
        assert (found.draft.method, found.draft.model) == ("model", "a-model")
        assert found.draft.start == 20

    def test_ends_dates_and_points_are_not_a_models_to_set(self):
        draft = as_draft(a_proposal(), a_pack(pairs=(a_pair(counter=()),)))
        assert (draft.src, draft.dst, draft.counter) == ("q:a", "q:b", ())
        assert draft.support == 0.25

    def test_a_pair_that_is_not_there_lets_nothing_pass(self):
        found = verdict(a_proposal(pair="p7"))
        assert isinstance(found, Rejected)
        assert "well_formed" in found.failed
        assert NOWHERE.src == ""

    def test_a_foreign_name_parks_and_is_counted(self):
        claims = (
            Said(text="One asks about the salt film.", side="a", refs=("sr0", "sr99")),
            Said(text="The other meets the salt film.", side="b", refs=("sr1",)),
        )
        found = verdict(a_proposal(claims=claims))
        assert isinstance(found, Parked)
        assert (found.outcome, found.failed) == ("parked", ("cites_only_pack",))
        assert foreign(found.draft, a_pack()) == 1

    @pytest.mark.parametrize("confidence", [0.0, 0.54, 0.87, 1.0])
    def test_a_confidence_out_of_range_parks(self, confidence):
        found = verdict(a_proposal(declared_confidence=confidence))
        assert found == Parked(draft=found.draft, failed=("declared_confidence_in_range",))

    @pytest.mark.parametrize("confidence", [0.55, 0.86])
    def test_the_ends_of_the_range_pass(self, confidence):
        assert verdict(a_proposal(declared_confidence=confidence)).outcome == "accepted"

    @pytest.mark.parametrize("cues", [(), tuple("abcdefghi")])
    def test_one_to_eight_cues(self, cues):
        found = verdict(a_proposal(cues=cues))
        assert found == Parked(draft=found.draft, failed=("has_cues",))

    def test_a_proposal_without_refs_is_rejected(self):
        bare = tuple(each.replace(refs=()) for each in a_proposal().claims)
        found = verdict(a_proposal(claims=bare))
        assert isinstance(found, Rejected)
        assert {"cites_something", "claims_sourced"} <= set(found.failed)

    def test_a_note_on_feelings_always_waits_for_a_human(self):
        pair = a_pair(src_table="Thread", src="test:sr0", dst_table="Question", dst="q:b")
        pack = a_pack(pairs=(pair,))
        draft = draft_of(
            a_proposal(rule="emotional_balance_note"), pack, "compensatory", "a-model", str
        )
        found = adjudicate(draft, pack, DATES, NOW)
        assert found == Parked(draft=draft, failed=("not_sensitive",))

    def test_a_rule_cannot_note_a_feeling(self):
        draft = as_draft(a_proposal(rule="emotional_balance_note")).replace(
            function="compensatory", method="deterministic", declared_confidence=None
        )
        found = adjudicate(draft, a_pack(), DATES, NOW)
        assert isinstance(found, Rejected)
        assert "known_rule" in found.failed

    def test_words_of_an_answer_are_masked_too(self):
        draft = as_draft(a_proposal(), mask=lambda text: text.replace("salt", "[masked:x]"))
        assert "salt" not in draft.title + draft.summary + "".join(draft.cues)


class TestSteps:
    def test_the_first_call_asks_for_the_schema(self):
        assert step([], LIMITS) == Send()

    def test_an_answer_ends_it(self):
        found = step([replied(answer(a_proposal()))], LIMITS)
        assert found == Stop(reason="answered", proposals=(a_proposal(),))

    def test_nothing_to_say_ends_it(self):
        assert step([replied("NO_REPLY")], LIMITS) == Stop(reason="no_draft")

    def test_passing_failures_are_tried_again_after_2_and_8_seconds(self):
        tried = [failed("timeout")]
        assert step(tried, LIMITS) == Send(wait_s=2.0)
        tried.append(failed("server_error"))
        assert step(tried, LIMITS) == Send(wait_s=8.0)
        tried.append(failed("rate_limited"))
        assert step(tried, LIMITS) == Stop(reason="rate_limited")

    def test_what_an_endpoint_asks_for_is_heeded_up_to_a_minute(self):
        assert step([failed("rate_limited", 60.0)], LIMITS) == Send(wait_s=60.0)
        assert step([failed("rate_limited", 0.0)], LIMITS) == Send()
        assert step([failed("rate_limited", 61.0)], LIMITS) == Stop(reason="rate_limited")

    @pytest.mark.parametrize("reason", ["unreachable", "unreadable", "too_big", "not_installed"])
    def test_other_failures_end_it(self, reason):
        assert step([failed(reason)], LIMITS) == Stop(reason=reason)

    def test_an_endpoint_that_refuses_is_asked_without_its_schema_mode_once(self):
        tried = [failed("refused")]
        assert step(tried, LIMITS) == Send(strict=False)
        tried.append(failed("timeout"))
        assert step(tried, LIMITS) == Send(wait_s=2.0, strict=False)
        tried.append(failed("refused"))
        assert step(tried, LIMITS) == Stop(reason="refused")

    def test_an_endpoint_that_keeps_failing_is_asked_without_its_schema_mode(self):
        tried = [failed("server_error")]
        assert step(tried, LIMITS) == Send(wait_s=2.0)
        tried.append(failed("server_error"))
        assert step(tried, LIMITS) == Send(wait_s=8.0, strict=False)

    def test_a_bad_answer_is_mended_once(self):
        tried: list[Reply | Failure] = [replied("{")]
        assert step(tried, LIMITS) == Send(repair="answer: json invalid")
        tried.append(failed("timeout"))
        assert step(tried, LIMITS) == Send(wait_s=2.0, repair="answer: json invalid")
        tried.append(replied("still not"))
        assert step(tried, LIMITS) == Stop(reason="model_output_rejected")

    def test_a_mended_answer_counts(self):
        tried = [replied("{"), replied(answer(a_proposal()))]
        found = step(tried, LIMITS)
        assert found == Stop(reason="answered", proposals=(a_proposal(),))

    def test_an_answer_that_is_too_long_is_not_asked_for_again(self):
        tried = [replied("x" * 17_000)]
        assert step(tried, LIMITS) == Stop(reason="model_output_rejected")
