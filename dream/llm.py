"""The only door to a model: one call to an OpenAI-compatible endpoint, with the bytes of it.

No tools are offered, no redirect is followed (it would carry the pack elsewhere), nothing is
retried here, and an answer is read up to a bound in bytes and in time.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar
from urllib.parse import urlsplit

import orjson

from dream.worker import Failure, Message, Reply, Usage

if TYPE_CHECKING:
    import openai

RECEIVED_MOST: Final = 4_000_000
"""Bytes of an answer that are read; far above what a valid one needs."""
HIDDEN: Final = ("reasoning", "reasoning_content", "reasoning_details", "thinking")
"""Where endpoints put how a model came to its words."""
THOUGHT: Final = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL)
TOO_MANY: Final = 429
SERVER: Final = 500
NO_KEY: Final = "none"
"""Local endpoints ask for no key; the client insists on a word."""

T = TypeVar("T")
Rows: TypeAlias = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint and a model there."""

    model: str
    base_url: str
    api_key: str = ""

    def __repr__(self) -> str:
        """Without the key."""
        return f"Endpoint({self.model!r}, {self.base_url!r})"

    @property
    def host(self) -> str:
        """Host and port, without user or path."""
        parts = urlsplit(self.base_url)
        return (parts.hostname or "") + (f":{parts.port}" if parts.port else "")

    def complete(
        self, messages: Sequence[Message], schema: str, timeout_s: float, *, strict: bool
    ) -> Reply | Failure:
        """Ask once. ``schema`` is JSON; ``strict`` asks the endpoint to keep to it."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": each.role, "content": each.content} for each in messages],
        }
        if strict:
            form = {"name": "drafts", "strict": True, "schema": orjson.loads(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return self._asked(
            lambda client: client.chat.completions.with_streaming_response.create(**body),
            timeout_s,
            replied,
        )

    def embed(self, texts: Sequence[str], timeout_s: float) -> Rows | Failure:
        """One vector per text, in their order."""
        body: dict[str, Any] = {
            "model": self.model,
            "input": list(texts),
            "encoding_format": "float",
        }
        return self._asked(
            lambda client: client.embeddings.with_streaming_response.create(**body),
            timeout_s,
            placed,
        )

    def _asked(
        self,
        ask: Callable[["openai.OpenAI"], Any],
        timeout_s: float,
        read: Callable[[bytes, bytes, int], T | Failure],
    ) -> T | Failure:
        """Send one request, and read what comes back."""
        try:
            import openai
        except ImportError:
            return Failure(reason="not_installed")
        clock = Clock(timeout_s)
        try:
            with (
                openai.DefaultHttpxClient(follow_redirects=False, timeout=timeout_s) as http,
                openai.OpenAI(
                    api_key=self.api_key or NO_KEY,
                    base_url=self.base_url,
                    timeout=timeout_s,
                    max_retries=0,
                    http_client=http,
                ) as client,
                ask(client) as answer,
            ):
                sent = answer.http_request.content
                found = received(answer.iter_bytes, sent, clock)
                return found if isinstance(found, Failure) else read(found, sent, clock.ms)
        except openai.APITimeoutError as cause:
            return Failure(reason="timeout", sent=cause.request.content, ms=clock.ms)
        except openai.APIConnectionError as cause:
            return Failure(reason="unreachable", sent=cause.request.content, ms=clock.ms)
        except openai.APIStatusError as cause:
            return refused(cause.status_code, cause.response, clock)


class Clock:
    """Time since a call began, and how much of it is left."""

    def __init__(self, most_s: float) -> None:
        self._since = time.monotonic()
        self._most = most_s

    @property
    def ms(self) -> int:
        return round((time.monotonic() - self._since) * 1000)

    @property
    def is_over(self) -> bool:
        return time.monotonic() - self._since > self._most


def received(chunks: Callable[[], Any], sent: bytes, clock: Clock) -> bytes | Failure:
    """Read the body of an answer within its bounds; a drip never outlasts the timeout twice."""
    body = bytearray()
    for chunk in chunks():
        body += chunk
        if len(body) > RECEIVED_MOST:
            return Failure(reason="too_big", sent=sent, ms=clock.ms)
        if clock.is_over:
            return Failure(reason="timeout", sent=sent, ms=clock.ms)
    return bytes(body)


def replied(body: bytes, sent: bytes, ms: int) -> Reply | Failure:
    """The words of an answer and what it took; hidden reasoning is dropped here, for good."""
    try:
        answer = orjson.loads(body)
        message = answer["choices"][0]["message"]
        text = message.get("content") or ""
        thought = [message.pop(name, None) for name in HIDDEN]
        spoken = THOUGHT.sub("", text)
    except (ValueError, LookupError, TypeError, AttributeError):
        return Failure(reason="unreadable", sent=sent, received=body, ms=ms)
    if any(thought) or spoken != text:
        message["content"] = spoken
        body = orjson.dumps(answer)
    return Reply(text=spoken, usage=usage_of(answer), sent=sent, received=body, ms=ms)


def placed(body: bytes, sent: bytes, ms: int) -> Rows | Failure:
    """The vectors of an answer, in the order of the texts."""
    try:
        found = sorted(orjson.loads(body)["data"], key=lambda each: each["index"])
        return tuple(tuple(map(float, each["embedding"])) for each in found)
    except (ValueError, LookupError, TypeError):
        return Failure(reason="unreadable", sent=sent, received=body, ms=ms)


def usage_of(answer: dict[str, Any]) -> Usage | None:
    """What the provider says the call took; None where it says nothing."""
    told = answer.get("usage")
    if not isinstance(told, dict):
        return None
    details = told.get("prompt_tokens_details")
    return Usage(
        prompt_tokens=count(told.get("prompt_tokens")),
        completion_tokens=count(told.get("completion_tokens")),
        cached_tokens=count(details.get("cached_tokens")) if isinstance(details, dict) else None,
    )


def count(value: object) -> int | None:
    """A count, or None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def refused(status: int, response: Any, clock: Clock) -> Failure:  # noqa: ANN401 - of a lazy import
    """A status that is no success, and how long the endpoint wants to be left alone."""
    return Failure(
        reason=(
            "rate_limited"
            if status == TOO_MANY
            else "server_error"
            if status >= SERVER
            else "refused"
        ),
        retry_after_s=seconds(response.headers.get("retry-after")),
        sent=response.request.content,
        received=response.content[:RECEIVED_MOST],
        ms=clock.ms,
    )


def seconds(header: str | None) -> float | None:
    """``Retry-After`` in seconds; a date, or nonsense, is as good as none."""
    return float(header) if header is not None and header.isdecimal() and len(header) < 9 else None  # noqa: PLR2004
