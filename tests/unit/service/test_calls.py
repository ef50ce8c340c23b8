"""The record of what was sent to a model, and what the day has left."""

from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from dream.consult import Exchange
from dream.settings import ModelSettings
from graphstore.errors import NotFound
from graphstore.model.record import ModelCall
from service import settings
from service.calls import Calls
from service.pacing import GateFacts, share_left
from service.session import Session

LIMITS = ModelSettings(calls_per_day=4, tokens_per_day=1000)


def exchange(**figures) -> Exchange:
    call = ModelCall(
        job_id="job:1",
        function="amplification",
        host="models.example",
        model="a-model",
        prompt_version="1",
        outcome="reply",
        **figures,
    )
    return Exchange(call=call, refs=("thread:t#turn:1",), sent=b"s\xff", received=b"r", ms=3)


@pytest.fixture
def calls(tmp_path):
    return Calls(tmp_path / "workspace")


def test_nothing_was_sent(calls, now):
    assert calls.budget("a-model", LIMITS, now).calls_left == 4
    with pytest.raises(NotFound):
        calls.sent("last")


def test_calls_and_tokens_of_the_day_are_counted(calls, now):
    calls.keep("dc:1", exchange(prompt_tokens=300, completion_tokens=100), now)
    calls.keep("dc:1", exchange(), now)
    calls.keep("dc:0", exchange(prompt_tokens=500), now - timedelta(days=1))
    left = calls.budget("a-model", LIMITS, now)
    assert (left.calls_left, left.tokens_left) == (2, 600)


def test_a_used_up_day_has_nothing_left(calls, now):
    for _ in range(5):
        calls.keep("dc:1", exchange(prompt_tokens=300), now)
    left = calls.budget("a-model", LIMITS, now)
    assert (left.calls_left, left.tokens_left) == (0, 0)


def test_cycles_are_found_by_id_beginning_and_last(calls, now):
    calls.keep("dc:aa", exchange(), now)
    calls.keep("dc:ab", exchange(), now - timedelta(hours=1))
    assert calls.sent("last").cycle_id == "dc:aa"
    assert calls.sent("dc:ab").cycle_id == calls.sent("ab").cycle_id == "dc:ab"
    for name in ("dc:a", "", "../dc:aa"):
        with pytest.raises(NotFound):
            calls.sent(name)


def test_bytes_that_are_no_text_are_told(calls, now):
    calls.keep("dc:1", exchange(), now)
    assert calls.sent("last").calls[0].sent == "s\\xff"


def test_what_a_crash_cut_short_is_left_out(calls, now):
    calls.keep("dc:1", exchange(), now)
    file = next(calls.folder.iterdir())
    file.write_bytes(file.read_bytes() + b'{"at": "2026')
    assert len(calls.sent("dc:1").calls) == 1


def test_records_go_when_their_newest_call_is_old(calls, now):
    calls.keep("dc:1", exchange(), now - timedelta(days=40))
    calls.keep("dc:1", exchange(), now - timedelta(days=29))
    calls.keep("dc:2", exchange(), now - timedelta(days=30))
    calls.tidy(timedelta(days=30), now)
    assert [file.name for file in calls.folder.iterdir()] == ["1.jsonl"]


def session_at(folder: Path, now, **flags) -> Session:
    loaded = settings.load({"store.home": str(folder), **flags}, folder)
    return Session(loaded=loaded, folder=folder, now=lambda: now)


def test_a_key_that_merely_lies_there_makes_nobody_use_a_model(tmp_path, now, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "word-of-others")
    assert session_at(tmp_path, now).aide("dc:1") is None


def test_rules_alone_where_the_owner_says_so(tmp_path, now):
    session = session_at(tmp_path, now, **{"llm.model": "m", "dream.mode": "deterministic"})
    assert session.aide("dc:1") is None


def test_a_named_model_is_asked_at_its_endpoint(tmp_path, now):
    session = session_at(tmp_path, now, **{"llm.model": "m"})
    aide = session.aide("dc:1")
    assert aide is not None
    assert (aide.llm.model, aide.llm.host) == ("m", "api.openai.com")
    aide.keep(exchange())
    assert Calls(session.workspace).sent("dc:1").calls[0].at == now
    assert aide.mask("key AKIAIOSFODNN7EXAMPLE") != "key AKIAIOSFODNN7EXAMPLE"


def test_the_gate_is_told_what_is_left(tmp_path, now):
    session = session_at(tmp_path, now, **{"llm.model": "m", "dream.model.calls_per_day": 4})
    Calls(session.workspace).keep("dc:1", exchange(), now)
    facts = GateFacts(session, ExitStack(), wait_s=0)
    assert (facts.budget().model, facts.budget().calls_left) == ("m", 3)
    assert share_left(facts.budget(), LIMITS) == 0.75
    alone = GateFacts(session_at(tmp_path, now), ExitStack(), wait_s=0)
    assert share_left(alone.budget(), LIMITS) == 1.0
