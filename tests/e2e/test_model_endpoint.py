"""One call to a real endpoint on this machine: what goes out, what comes back, what is dropped."""

import json
import sys

import pytest

from dream.llm import RECEIVED_MOST, Endpoint
from dream.worker import Failure, Message, Reply, Usage, schema
from tests.scripted_endpoint import Answer, endpoint, spoken

MESSAGES = (
    Message(role="system", content="contract"),
    Message(role="user", content='{"turns":[]}'),
    Message(role="user", content="now"),
)
SCHEMA = schema("compensatory")
USAGE = {
    "prompt_tokens": 900,
    "completion_tokens": 50,
    "prompt_tokens_details": {"cached_tokens": 512},
}


def ask(scripted, *, timeout=5.0, strict=True, key=""):
    found = Endpoint("a-model", scripted.url, key)
    return found.complete(MESSAGES, SCHEMA, timeout, strict=strict)


def test_the_bytes_told_are_the_bytes_received_there():
    with endpoint(spoken("{}")) as scripted:
        found = ask(scripted)
    assert isinstance(found, Reply)
    assert found.sent == scripted.bodies[0]
    assert json.loads(found.received)["choices"][0]["message"]["content"] == "{}"
    assert scripted.paths == ["/v1/chat/completions"]


def test_messages_go_out_in_order_and_no_tool_is_offered():
    with endpoint(spoken("{}")) as scripted:
        ask(scripted)
    (sent,) = scripted.asked
    assert [each["content"] for each in sent["messages"]] == ["contract", '{"turns":[]}', "now"]
    assert [each["role"] for each in sent["messages"]] == ["system", "user", "user"]
    assert set(sent) == {"model", "messages", "response_format"}
    assert sent["response_format"]["json_schema"]["schema"] == json.loads(SCHEMA)


def test_an_endpoint_without_a_schema_mode_gets_no_schema():
    with endpoint(spoken("{}")) as scripted:
        ask(scripted, strict=False)
    assert set(scripted.asked[0]) == {"model", "messages"}


def test_the_key_goes_into_the_header_and_nowhere_else():
    with endpoint(spoken("{}")) as scripted:
        found = ask(scripted, key="word-of-the-owner")
        text = repr(Endpoint("a-model", scripted.url, "word-of-the-owner"))
    assert scripted.headers[0]["authorization"] == "Bearer word-of-the-owner"
    assert b"word-of-the-owner" not in found.sent + found.received
    assert "word-of-the-owner" not in text


def test_usage_is_what_the_endpoint_says():
    with endpoint(spoken("{}", usage=USAGE)) as scripted:
        found = ask(scripted)
    assert found.usage == Usage(prompt_tokens=900, completion_tokens=50, cached_tokens=512)


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        (None, None),
        ("many", None),
        ({"prompt_tokens": 7}, Usage(prompt_tokens=7)),
        ({"prompt_tokens": True, "completion_tokens": -1}, Usage()),
    ],
)
def test_what_the_endpoint_does_not_say_is_null(usage, told):
    with endpoint(spoken("{}", usage=usage)) as scripted:
        assert ask(scripted).usage == told


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content", "thinking"])
def test_hidden_reasoning_is_dropped_for_good(name):
    with endpoint(spoken("{}", **{name: "I secretly think of plums"})) as scripted:
        found = ask(scripted)
    assert found.text == "{}"
    assert b"plums" not in found.received


def test_reasoning_before_the_answer_is_dropped_for_good():
    with endpoint(spoken("<think>of plums\nand pears</think>\n{}")) as scripted:
        found = ask(scripted)
    assert (found.text, b"plums" in found.received) == ("{}", False)


def test_tool_calls_are_no_words():
    call = {"id": "t", "type": "function", "function": {"name": "sh", "arguments": "rm"}}
    with endpoint(spoken(None, tool_calls=[call])) as scripted:
        assert ask(scripted).text == ""


@pytest.mark.parametrize(
    ("status", "headers", "reason", "wait"),
    [
        (429, {"Retry-After": "7"}, "rate_limited", 7.0),
        (429, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, "rate_limited", None),
        (503, {}, "server_error", None),
        (400, {}, "refused", None),
        (401, {}, "refused", None),
        (302, {"Location": "http://127.0.0.1:9/v1"}, "refused", None),
    ],
)
def test_failures_by_name(status, headers, reason, wait):
    with endpoint(Answer(status=status, body=b"{}", headers=headers)) as scripted:
        found = ask(scripted)
        assert len(scripted.bodies) == 1  # nothing is tried again behind our back, or elsewhere
    assert isinstance(found, Failure)
    assert (found.reason, found.retry_after_s, found.sent) == (reason, wait, scripted.bodies[0])


@pytest.mark.parametrize(
    "body",
    [b"<html>gateway</html>", b"[]", b'{"choices": []}', b'{"choices": [{"message": 3}]}', b"\xff"],
)
def test_an_answer_that_is_none_is_unreadable(body):
    with endpoint(Answer(body=body)) as scripted:
        found = ask(scripted)
    assert (found.reason, found.received) == ("unreadable", body)


def test_a_slow_endpoint_times_out():
    with endpoint(Answer(delay=1.0)) as scripted:
        assert ask(scripted, timeout=0.2).reason == "timeout"


def test_a_dripping_endpoint_times_out_as_well():
    dripping = spoken("x" * 400)
    dripping.drip = 0.02
    with endpoint(dripping) as scripted:
        found = ask(scripted, timeout=0.3)
    assert (found.reason, found.sent) == ("timeout", scripted.bodies[0])


def test_an_endless_answer_is_not_read_to_its_end():
    with endpoint(Answer(body=b" " * (RECEIVED_MOST + 1))) as scripted:
        assert ask(scripted).reason == "too_big"


def test_nobody_there():
    with endpoint(spoken("{}")) as scripted:
        pass
    found = ask(scripted)
    assert (found.reason, b"contract" in found.sent) == ("unreachable", True)


def test_a_url_that_is_none():
    found = Endpoint("a-model", "http://").complete(MESSAGES, SCHEMA, 1.0, strict=False)
    assert isinstance(found, Failure)
    assert found.reason == "unreachable"


def test_without_the_client_nothing_is_sent(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with endpoint(spoken("{}")) as scripted:
        assert ask(scripted).reason == "not_installed"
        assert scripted.bodies == []


def test_the_host_is_told_without_user_and_path():
    assert Endpoint("m", "https://me:word@models.example:8443/v1").host == "models.example:8443"
    assert Endpoint("m", "https://models.example/v1").host == "models.example"
