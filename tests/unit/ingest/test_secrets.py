import re
import time

import pytest

from graphstore.ids import keyed_digest
from ingest.secret_checks import entropy, luhn
from ingest.secret_table import PII, TABLE
from ingest.secrets import mask, mask_path
from tests.made_up_secrets import ALNUM, ASSIGNED, BASE64, PLACES, TOKENS, VALUE, block, made_up


def test_many_kinds_are_planted():
    kinds = {kind for kind, _ in TOKENS} | {kind for kind, _, _ in ASSIGNED}
    assert len(TOKENS) + len(ASSIGNED) >= 40
    assert kinds == {shape.kind for shape in TABLE}


@pytest.mark.parametrize(
    ("kind", "secret"), TOKENS, ids=[f"{n}-{k[0]}" for n, k in enumerate(TOKENS)]
)
def test_a_planted_token_is_masked_wherever_it_stands(kind, secret):
    for place in PLACES:
        text = place.format(secret)
        masked, hits = mask(text)
        assert [hit.kind for hit in hits] == [kind], place
        assert masked == place.format(f"[masked:{kind}]")
        assert masked[hits[0].offset :].startswith(f"[masked:{kind}]")


@pytest.mark.parametrize(("kind", "place", "secret"), ASSIGNED)
def test_a_planted_value_is_masked_and_its_name_stays(kind, place, secret):
    masked, hits = mask(place.format(secret))
    assert masked == place.format(f"[masked:{kind}]")
    assert [hit.kind for hit in hits] == [kind]


def test_a_key_in_json_with_escaped_newlines_is_masked_whole():
    text = '{"k": "' + block("EC PRIVATE KEY", 60).replace("\n", "\\n") + '"}'
    assert mask(text)[0] == '{"k": "[masked:private_key]"}'


def test_a_key_that_is_cut_off_is_masked_as_far_as_it_goes():
    text = "before " + block("RSA PRIVATE KEY", 61).rpartition("\n")[0]
    assert mask(text)[0] == "before [masked:private_key]"


def test_the_name_of_a_key_block_alone_is_no_secret():
    text = "a file that starts with -----BEGIN RSA PRIVATE KEY----- is one"
    assert mask(text) == (text, ())


INNOCENT = [
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 and 9fceb02",
    "550e8400-e29b-41d4-a716-446655440000",
    "data:image/png;base64," + made_up(4000, BASE64, 70),
    "sha512-" + made_up(86, BASE64, 71) + "==",
    "aws s3 cp 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "token = get_current_user_token()",
    "token = base64.b64decode(row.token2)",
    "const secret = process.env.SECRET_VALUE1",
    'password=os.environ["DB_PASSWORD1"]',
    'headers = {"token": "access_token_name"}',
    "token: string | undefined",
    "max_tokens: 4096, token_count = 1234567890123",
    '{"usage": {"input_tokens": 123456789012}}',
    "secret: <your-secret-here>",
    "API_KEY=your_api_key_here",
    "API_KEY=replace-with-own-value",
    "token: ${GITHUB_TOKEN}",
    "password: {{ vault_password_1 }}",
    "password: ************",
    "secret = abcd...wxyz",
    "password = 'aaaaaaaaaaaaaaaa1'",
    "token: /var/run/secrets/token1",
    "token_url: https://login.example.com/oauth2/v2/token",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token-1>",
    'h = {"Authorization": "Bearer " + token}',
    "bearer authentication-schemes and more",
    "Cookie: theme=dark",
    "Set-Cookie: flag=on; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/",
    "postgres://user:${DB_PASS}@host/db and http://localhost:8080/@x",
    "eyJhbGciOiJIUzI1NiJ9.REDACTED.REDACTED",
    "sk-learn-based-classification-pipeline",
    "hf_hub_download_and_cache_the_model_now",
    "npm_config_registry",
    "1700000000000 and 0.4539578763621486 and id_4539578763621486",
    "4539578763621487",
    "12:34:56 and 127.0.0.1:8080",
    "module.inner.attribute_of_a_rather_long_name",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_is_no_secret_is_left_alone(text):
    assert mask(text) == (text, ())


def test_offsets_are_those_of_the_masked_text():
    one, other = TOKENS[11][1], TOKENS[17][1]
    masked, hits = mask(f"first {one} then {other}.")
    assert masked == "first [masked:github_token] then [masked:gitlab_token]."
    assert [(hit.kind, hit.offset) for hit in hits] == [("github_token", 6), ("gitlab_token", 33)]


def test_the_longest_of_overlapping_hits_wins():
    token = TOKENS[11][1]
    assert mask(f"Cookie: a={token}; b=2")[0] == "Cookie: [masked:cookie]"
    inside = block("RSA PRIVATE KEY", 80).replace("\n", f"\n{token}\n", 1)
    assert mask(inside)[0] == "[masked:private_key]"


def test_of_equally_long_hits_the_first_of_the_table_wins():
    token = TOKENS[11][1]
    assert mask(f"token={token}")[0] == "token=[masked:github_token]"


def test_equal_secrets_are_known_again_with_one_salt_only():
    token = TOKENS[11][1]
    hashes = [
        hit.keyed_hash for salt in (b"one", b"two") for hit in mask(f"{token} and {token}", salt)[1]
    ]
    assert (
        hashes
        == [keyed_digest(b"one", token.encode())] * 2 + [keyed_digest(b"two", token.encode())] * 2
    )
    assert mask(token)[1][0].keyed_hash is None


def test_what_the_owner_allows_is_not_masked():
    token = TOKENS[11][1]
    assert mask(token, allow=[re.compile(token[:12])]) == (token, ())


def test_kinds_of_the_owner_are_masked_too():
    extra = [("badge", re.compile(r"B-\d{4}")), ("any", re.compile(r"\w*"))]
    assert mask("see B-1234", extra=extra[:1])[0] == "see [masked:badge]"
    masked, _ = mask("see B-1234", extra=extra)
    assert mask(masked, extra=extra)[0] == masked


def test_a_mask_that_appears_in_a_text_is_left_as_it_is():
    text = "password=[masked:assigned_secret] and [masked:jwt]"
    assert mask(text) == (text, ())


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("email", "write to first.last+tag@mail.example.co.uk today"),
        ("phone", "call +49 (0)30 1234567 now"),
        ("phone", "call (415) 555-0132 now"),
        ("iban", "pay DE89 3704 0044 0532 0130 00 now"),
        ("iban", "pay GB82WEST12345698765432 now"),
    ],
)
def test_personal_data_is_masked_only_when_asked_for(kind, text):
    assert mask(text) == (text, ())
    masked, hits = mask(text, pii=True)
    assert [hit.kind for hit in hits] == [kind]
    assert masked.endswith((" now", " today"))
    assert {shape.kind for shape in PII} >= {kind}


def test_numbers_are_not_taken_for_personal_data():
    text = "DE89 3704 0044 0532 0130 01, 2026-01-15 12:00:00, 1.2.3-4"
    assert mask(text, pii=True) == (text, ())


def test_letters_that_grow_when_lower_cased_do_not_shift_places():
    text = "\u0130\u0130\u0130 password = 'correct-Horse-battery9'"
    assert mask(text)[0] == "\u0130\u0130\u0130 password = '[masked:assigned_secret]'"


def test_a_sign_whose_lower_case_is_a_letter_stands_for_it_in_a_name():
    text = "\u00e9t\u00e9: TO\u212aEN = 'correct-Horse-battery9'"
    assert mask(text)[0] == "\u00e9t\u00e9: TO\u212aEN = '[masked:assigned_secret]'"


@pytest.mark.parametrize(
    "unit",
    [
        "sk-proj-", "sk-", "glpat-", "token=", "password='", "cookie: a=", "Authorization=",
        "-----BEGIN PRIVATE KEY-----", "aws ", "://a:", "eyJaaaaaaaa.", "12345678:", "4539 ",
        "MMMMMMMMMMMMMMMMMMMMMMM.aaaaaa.", "a" * 31 + "-us1", "AccountKey=", "_authToken=",
    ],
)  # fmt: skip
def test_hostile_text_is_gone_over_in_bounded_time(unit):
    text = unit * (60_000 // len(unit))
    start = time.process_time()
    mask(text)
    assert time.process_time() - start < 5


def test_many_secrets_in_one_text_are_all_masked():
    token = TOKENS[11][1]
    masked, hits = mask(" ".join([token] * 5000))
    assert masked == " ".join(["[masked:github_token]"] * 5000)
    assert [hit.offset for hit in hits] == [22 * n for n in range(5000)]


def test_secrets_in_any_order_of_their_names_are_all_masked():
    names = ["password", "pwd", "secret", "token", "credential", "api_key", "api-key", "apikey"]
    names += ["access_key", "auth_key", "auth-key", "private_key"]
    values = [made_up(24, ALNUM, 300 + one) for one in range(len(names))]
    lines = [f"{name} = {value}" for name, value in zip(names, values, strict=True)]
    for order in (lines, lines[::-1]):
        masked, spots = mask("\n".join(order))
        assert len(spots) == len(names)
        assert not any(value in masked for value in values)


def test_a_mask_that_brings_a_new_hit_is_settled_in_one_call():
    extra = [("one", re.compile("b")), ("two", re.compile(r"y(?=\[)|(?<=\])z"))]
    masked, hits = mask("yb and bz", extra=extra)
    assert masked == "[masked:two][masked:one] and [masked:one][masked:two]"
    assert [(hit.kind, hit.offset) for hit in hits] == [
        ("two", 0), ("one", 12), ("one", 29), ("two", 41),
    ]  # fmt: skip
    assert mask(masked, extra=extra) == (masked, ())


@pytest.mark.parametrize("text", ["", "a", "pwd=1"])
def test_a_text_too_short_for_a_secret_is_left_alone(text):
    assert mask(text) == (text, ())


def test_a_hit_around_a_mask_takes_it_in():
    inner = "[masked:github_token]"
    text = block("RSA PRIVATE KEY", 90).replace("\n", f"\n{inner}\n", 1)
    masked, hits = mask(f"{inner} {text}")
    assert masked == f"{inner} [masked:private_key]"
    assert [hit.offset for hit in hits] == [len(inner) + 1]


def test_entropy_and_check_sum_are_the_textbook_ones():
    assert entropy("aaaa") == 0
    assert entropy("abcd") == 2
    assert luhn("79927398713")
    assert not luhn("79927398710")


def test_names_of_files_keep_no_secret_and_stay_apart():
    one, other = (f"a/notes {secret}.md" for secret in ("sk-" + VALUE, "sk-" + VALUE[::-1]))
    told = mask_path(one)
    assert re.fullmatch(r"a/notes \[masked:openai_key\]~[0-9a-f]{4}\.md", told)
    assert told != mask_path(other)
    assert mask_path(told) == told
    assert mask_path("a/notes.md") == "a/notes.md"


@pytest.mark.parametrize("word", ["user", "password", "secret"])
def test_the_password_of_a_manual_is_none(word):
    text = f"postgres://app:{word}@localhost/db"
    assert mask(text)[0] == text


def test_a_password_is_told_by_its_shouted_name_inside_a_line():
    assert (
        mask("then DB_PASS=LEvfddgZvwmUiZz end")[0] == "then DB_PASS=[masked:assigned_secret] end"
    )
    code = "then run(MAX_TOKENS=someLongIdentifier)"
    assert mask(code)[0] == code
