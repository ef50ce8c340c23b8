"""Laws of masking: doing it twice is doing it once, and offsets tell the truth."""

import re

from hypothesis import given
from hypothesis import strategies as st

from ingest.secret_gate import Gate
from ingest.secret_shapes import lower
from ingest.secret_table import PII, TABLE
from ingest.secrets import mask
from ingest.text import safe_text
from tests.made_up_secrets import ASSIGNED, TOKENS

PIECES = st.sampled_from(
    [
        "sk-", "sk-ant-", "ghp_", "AKIA", "xoxb-", "eyJ", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0",
        "password", "token", "api_key", "secret", "Authorization", "Bearer ", "Cookie: a=", "aws ",
        "://u:", "@host", "=", ": ", '"', "'", "\\n", "\n", " ", "[masked:jwt]", "[masked:", "]",
        "Zx81qLw0Pv92mTn47kRj", "A1B2C3D4E5F6G7H8", "0123456789abcdef0123456789abcdef", "-us14",
        "4539578763621486", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
        "AccountKey=", "Nq3vT8sLw2Rz6Yb1Xc9Kd4Mf.Gq7RtZ.aB3dE6gH9jK2mN5pQ8sT1vW4yZ7", "1234567890:",
        "\u0130", "Hq7LpVz2WcRk9TnXd4MbGy8SfJu3EaQw6ZoYi1Kx", "+49 30 1234567", "a.b@c.de",
        ".", "-", "_",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=25).map("".join),
)
PLANTED = st.sampled_from(
    [secret for _, secret in TOKENS] + [place.format(secret) for _, place, secret in ASSIGNED]
)
EXTRA = [("own", re.compile(r"[a-z]{3}\d*")), ("all", re.compile(r".+"))]


@given(text=TEXTS, pii=st.booleans())
def test_masking_twice_is_masking_once(text, pii):
    masked, hits = mask(text, b"salt", pii=pii)
    assert mask(masked, b"salt", pii=pii) == (masked, ())
    assert list(hits) == sorted(hits, key=lambda hit: hit.offset)
    for hit in hits:
        assert masked.startswith(f"[masked:{hit.kind}]", hit.offset)
        assert hit.keyed_hash


@given(text=TEXTS)
def test_kinds_of_the_owner_keep_the_law(text):
    masked, hits = mask(text, extra=EXTRA)
    assert mask(masked, extra=EXTRA)[0] == masked
    for hit in hits:
        assert masked.startswith(f"[masked:{hit.kind}]", hit.offset)


@given(before=TEXTS, planted=PLANTED, after=TEXTS, cut=st.integers(0, 8))
def test_the_gate_keeps_no_shape_from_a_text_that_it_is_in(before, planted, after, cut):
    text = f"{before}{planted[cut:]}{after}"
    lowered = lower(text)
    opened = Gate(TABLE + PII).open(text)
    for place, shape in enumerate(TABLE + PII):
        assert (place, shape) in opened or not any(shape.find(text, lowered))


@given(text=TEXTS)
def test_a_text_without_hits_is_not_touched(text):
    masked, hits = mask(text)
    assert (masked == text) == (not hits)


@given(text=st.text(st.characters(), max_size=300))
def test_safe_text_is_safe_and_stays_as_it_is(text):
    safe, _ = safe_text(text)
    assert safe_text(safe) == (safe, ())
    safe.encode()
    assert not re.search("[\0-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", safe)
    assert safe == safe.rstrip()
