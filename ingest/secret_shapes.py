"""What secrets look like: one table of shapes, each with the literals that announce it."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

ENTROPY_BITS: Final = 3.0
"""Shannon entropy per character below which an assigned value is taken for a word."""
JUDGED: Final = 200
"""Characters of a value that are looked at to tell a secret from a word."""
LONG_WORD: Final = 20
"""Characters without white space that every token has."""
CARD_DIGITS: Final = 13
"""Digits of the shortest card number."""
MIN_DIGITS: Final = 1
"""A number of this many different digits is no card."""
PHONE_DIGITS: Final = range(9, 16)

# A token does not begin inside a word; an escape (\n, \u0022, %3D) before it is no word.
_LEFT: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2}))"
_RIGHT: Final = r"(?![A-Za-z0-9])"
# Upper bounds keep hostile text from being gone over again from each of its literals.


Check: TypeAlias = Callable[[re.Match[str]], bool]


class Spots(NamedTuple):
    """Where a pattern is tried: looking for literals is fast, scanning with patterns is not."""

    literals: tuple[str, ...] = ()
    """One of them stands in every match; none: there is no way but to look."""
    folded: bool = False
    """The literals are lower case, the text may be in any case."""
    rarer: re.Pattern[str] | None = None
    """A simpler pattern; without one, the pattern begins with a literal."""
    before: re.Pattern[str] | None = None
    """Characters before the simpler pattern that belong to the match."""
    most: int = 0
    """How many of them at most."""
    is_word: bool = False
    """Every match has ``LONG_WORD`` characters or more and no white space."""
    gate: tuple[str, ...] = ()
    """Fewer literals that say the same: one of them stands in each of the others."""
    digits: int = 0
    """Every match has this many digits, with nothing but blanks and dashes among them."""

    def find(self, text: str, lowered: str) -> Iterator[int]:
        """Places where a match may begin, from a text and its lower-cased form."""
        if self.rarer is not None:
            for match in self.rarer.finditer(text):
                yield from range(self._back(text, match.start()), match.start() + 1)
            return
        where = lowered if self.folded else text
        for literal in self.literals:
            at = where.find(literal)
            while at >= 0:
                yield at
                at = where.find(literal, at + 1)

    def _back(self, text: str, at: int) -> int:
        if self.before is None:
            return at
        nearest = max(at - self.most, 0)
        while at > nearest and self.before.match(text, at - 1):
            at -= 1
        return at


class Shape(NamedTuple):
    """One shape of a kind of secret."""

    kind: str
    pattern: re.Pattern[str]
    spots: Spots
    check: Check | None = None

    def find(self, text: str, lowered: str) -> Iterator[tuple[int, int]]:
        """Spans of the secrets: group ``s`` of the pattern if it has one, else the match."""
        group = "s" if "s" in self.pattern.groupindex else 0
        end = 0
        for start in self.spots.find(text, lowered):
            if start < end:
                continue
            match = self.pattern.match(text, start)
            if match is not None and (self.check is None or self.check(match)):
                end = match.end()
                yield match.span(group)


def lower(text: str) -> str:
    """Lower-case a text; places in it stay places in the text."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _at(*literals: str, is_word: bool = True) -> Spots:
    """Where one of the literals stands."""
    return Spots(literals, is_word=is_word)


def _at_word(*literals: str, gate: tuple[str, ...] = ()) -> Spots:
    """Where one of the literals stands, in upper or lower case."""
    return Spots(literals, folded=True, gate=gate)


def _before(literal: str, rarer: str, most: int, allowed: str) -> Spots:
    """Where the run of allowed characters begins that a rarer pattern follows."""
    return Spots(
        (literal,),
        rarer=re.compile(rarer),
        before=re.compile(allowed),
        most=most,
        is_word=literal != "@",
    )


def _matching(pattern: str, *literals: str) -> Spots:
    """Where a simpler pattern matches."""
    return Spots(literals, rarer=re.compile(pattern), is_word=bool(literals))


def entropy(text: str) -> float:
    """Shannon entropy of a text in bits per character."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in sorted(Counter(text).values()))


def luhn(digits: str) -> bool:
    """Luhn check sum (ISO/IEC 7812-1)."""
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(int(digit) for digit in digits[-1::-2])) % 10 == 0


_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[^\W\d_]")


def is_mixed(text: str) -> bool:
    """Letters and digits together, as random tokens have them."""
    return _DIGIT.search(text) is not None and _LETTER.search(text) is not None


_PLACEHOLDER: Final = re.compile(
    r"example|changeme|change[_-]me|your[_-]|xxx|placeholder|redacted|\*\*\*|\.\.\.|\u2026"
    r"|^[<\[{$%]|\$\{|\{\{|<[^>]*>|%\(|\[masked:|^(?:true|false|null|none|undefined)$",
    re.IGNORECASE,
)


def is_placeholder(value: str) -> bool:
    """A stand-in for a secret: a word for one, a variable, an ellipsis, a mask."""
    return _PLACEHOLDER.search(value) is not None


# --- checks on a match


def _has_digit(match: re.Match[str]) -> bool:
    return is_mixed(match[0])


def _mixed_case(match: re.Match[str]) -> bool:
    text = match[0].partition("_")[2]
    return text != text.lower() and text != text.upper()


def _not_redacted(match: re.Match[str]) -> bool:
    return not is_placeholder(match[0])


def _discord(match: re.Match[str]) -> bool:
    return is_mixed(match[0]) and match[0] != match[0].lower()


def _aws_secret(match: re.Match[str]) -> bool:
    value = match["s"]
    return is_mixed(value) and value != value.lower() and value != value.upper()


def _value(match: re.Match[str]) -> str:
    """The beginning of the value: enough to judge it, and hostile text stays cheap."""
    return match["s"][:JUDGED]


def _header_value(match: re.Match[str]) -> bool:
    value = _value(match)
    return is_mixed(value) and not is_placeholder(value) and entropy(value) >= ENTROPY_BITS


_COOKIE_PAIR: Final = re.compile(r"[^\s=;]+=(?P<v>[^\s;]{8,})")
_COOKIE_NOTE: Final = re.compile(r"(?i)(?:expires|path|domain|max-age|samesite)=")


def _cookie(match: re.Match[str]) -> bool:
    return any(
        is_mixed(pair["v"]) and not is_placeholder(pair["v"])
        for pair in _COOKIE_PAIR.finditer(_value(match))
        if not _COOKIE_NOTE.match(pair[0])
    )


def _url_password(match: re.Match[str]) -> bool:
    return not is_placeholder(match["s"])


# A value that reads as code: a name, a path of names, a call, a path or address.
_NAME: Final = re.compile(
    r"\$?[A-Za-z_]+(?:(?:\.|->|::|-|/|:|\?\.)[A-Za-z_]+)*[!?.]?"
    r"|\$?[A-Za-z_]+\d{0,2}(?:(?:\.|->|::|/|\?\.)[A-Za-z_]+\d{0,2})+[!?.]?"
)
_WORDS: Final = re.compile(r"[^\W\d_]+(?:[_\-./:][^\W\d_]+)*")
_PLACE: Final = re.compile(r"(?:\.{0,2}|~|[A-Za-z]:)?[/\\]|[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_CODE: Final = re.compile(r"[(\[{]|\)$")
_PUNCTUATED: Final = re.compile(r"[A-Za-z][!@#%^][A-Za-z]")
_PASSWORD_WORD: Final = re.compile(r"pass(?:word|wd|phrase)?|pwd", re.IGNORECASE)


def _assigned(match: re.Match[str]) -> bool:
    value = _value(match)
    if not (_quoted(match, value) if match["q"] else _unquoted(match, value)):
        return False
    if _PLACE.match(value) or value.replace(".", "").isdigit() or is_placeholder(value):
        return False
    return entropy(value) >= ENTROPY_BITS


def _quoted(match: re.Match[str], value: str) -> bool:
    """Strings hold names too; a password can look like one."""
    if not _NAME.fullmatch(value):
        return True
    return _PASSWORD_WORD.search(match["k"]) is not None and "_" not in value


_ENVIRONMENT: Final = re.compile(r"[ \t>$]*(?:(?:export|set|-e|ENV)[ \t]+)?[A-Z][A-Z0-9_]*=")
_ENVIRONMENT_HEAD: Final = 200


def _line_head(match: re.Match[str]) -> tuple[int, int]:
    """From the start of the line to the end of the assignment mark."""
    nearest = max(match.start() - _ENVIRONMENT_HEAD, 0)
    newline = match.string.rfind("\n", nearest, match.start())
    return (nearest if newline < 0 else newline + 1), match.end("op")


def _unquoted(match: re.Match[str], value: str) -> bool:
    """Code assigns names without quotes; environment lines assign secrets without them."""
    if match["op"] == "=" and _ENVIRONMENT.fullmatch(match.string, *_line_head(match)):
        return not _CODE.search(value) and not (_WORDS.fullmatch(value) and value == value.lower())
    if _CODE.search(value) or _NAME.fullmatch(value):
        return False
    return is_mixed(value) or (
        _PASSWORD_WORD.search(match["k"]) is not None and _PUNCTUATED.search(value) is not None
    )


def _card(match: re.Match[str]) -> bool:
    digits = re.sub(r"\D", "", match[0])
    return len(set(digits)) > MIN_DIGITS and _card_prefix(digits) and luhn(digits)


_CARD: Final = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"
    r"|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|62\d{14,17}"
)


def _card_prefix(digits: str) -> bool:
    return _CARD.fullmatch(digits) is not None


def _iban(match: re.Match[str]) -> bool:
    """ISO 13616: the number, country and check digits moved to its end, is 1 modulo 97."""
    code = match[0].replace(" ", "")
    turned = code[4:] + code[:4]
    return int("".join(str(int(one, 36)) for one in turned)) % 97 == 1


def _phone(match: re.Match[str]) -> bool:
    return sum(one.isdigit() for one in match[0]) in PHONE_DIGITS


# --- the table


def _shape(kind: str, pattern: str, spots: Spots, check: Check | None = None) -> Shape:
    return Shape(kind, re.compile(pattern), spots, check)


def _token(kind: str, pattern: str, *literals: str, check: Check | None = None) -> Shape:
    """A shape that begins with a literal and stands alone, not inside a longer run."""
    return _shape(kind, f"{_LEFT}(?:{pattern}){_RIGHT}", _at(*literals), check)


TABLE: Final[tuple[Shape, ...]] = (
    _shape(
        "private_key",
        r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
        r"(?:(?:(?!-{4,5} ?BEGIN )[\s\S]){1,20000}?-{4,5} ?END [A-Z0-9 ]{0,40}-{4,5}"
        r"|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{20,})+)",
        _at("-----BEGIN ", "---- BEGIN ", is_word=False),
    ),
    _token("anthropic_key", r"sk-ant-[A-Za-z0-9_-]{16,512}", "sk-ant-"),
    _token(
        "openai_key",
        r"sk-(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,512}|sk-[A-Za-z0-9]{20,128}"
        r"|sk-[A-Za-z0-9_-]{0,128}T3BlbkFJ[A-Za-z0-9_-]{16,256}",
        "sk-",
        check=_has_digit,
    ),
    _token("huggingface_token", r"hf_[A-Za-z0-9]{30,128}", "hf_", check=_mixed_case),
    _token("google_api_key", r"AIza[0-9A-Za-z_-]{35}", "AIza"),
    _token(
        "google_oauth",
        r"ya29\.[0-9A-Za-z._-]{20,2048}|GOCSPX-[A-Za-z0-9_-]{20,64}|1//0[A-Za-z0-9_-]{40,512}",
        "ya29.",
        "GOCSPX-",
        "1//0",
    ),
    _token(
        "github_token",
        r"gh[pousr]_[A-Za-z0-9_]{36,255}|github_pat_[A-Za-z0-9_]{22,255}",
        *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        check=_has_digit,
    ),
    _shape(
        "gitlab_token",
        rf"{_LEFT}gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-[A-Za-z0-9_-]{{20,512}}",
        _matching(r"gl[a-z]{2,5}-[A-Za-z0-9_-]{20}", "gl"),
        _has_digit,
    ),
    _token("gitlab_token", r"GR1348941[A-Za-z0-9_-]{20,64}", "GR1348941"),
    _token("npm_token", r"npm_[A-Za-z0-9]{36,64}", "npm_"),
    _shape(
        "npm_token",
        r"(?i:_authToken)\s*=\s*[\"']?(?P<s>[A-Za-z0-9+/=_.-]{20,512})",
        _at_word("_authtoken"),
        _header_value,
    ),
    _token("pypi_token", r"pypi-AgE[A-Za-z0-9_-]{16,1024}", "pypi-AgE"),
    _token(
        "aws_access_key",
        r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[0-9A-Z]{16}",
        *("AKIA", "ASIA", "ABIA", "ACCA", "A3T"),
    ),
    _shape(
        "aws_secret",
        r"(?i:aws|amazon|secret_?access_?key)[^\n]{0,60}?"
        r"(?<![A-Za-z0-9+/_.-])(?P<s>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=_-])",
        _at_word(
            *("aws", "amazon", "secretaccesskey", "secret_access_key"),
            gate=("aws", "amazon", "secret"),
        ),
        _aws_secret,
    ),
    _shape(
        "azure_key",
        r"(?:AccountKey|SharedAccessKey)=(?P<s>[A-Za-z0-9+/]{40,}={0,2})",
        _at("AccountKey=", "SharedAccessKey="),
    ),
    _token(
        "slack_token",
        r"(?i:xox[abeoprs](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{15,256}",
        *("xox", "XOX", "xapp-"),
        check=_has_digit,
    ),
    _shape(
        "slack_webhook",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}",
        _at("hooks.slack"),
        _has_digit,
    ),
    _shape(
        "discord_token",
        rf"{_LEFT}[MNO][A-Za-z0-9_-]{{22,27}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,45}}{_RIGHT}",
        _before(".", r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}", 29, r"[A-Za-z0-9_-]"),
        _discord,
    ),
    _shape(
        "discord_token",
        r"/api/webhooks/\d{10,}/[A-Za-z0-9_-]{40,}",
        _at("/api/webhooks/"),
    ),
    _shape(
        "telegram_token",
        rf"(?:{_LEFT}|(?<=bot))\d{{8,10}}:[A-Za-z0-9_-]{{35}}{_RIGHT}",
        _before(":", r":[A-Za-z0-9_-]{35}", 11, r"\d"),
        _has_digit,
    ),
    _token(
        "stripe_key",
        r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,256}|whsec_[A-Za-z0-9]{24,64}",
        *("sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"),
    ),
    _token("twilio_key", r"(?:SK|AC)[0-9a-z]{32}", "SK", "AC", check=_has_digit),
    _token("sendgrid_key", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}", "SG."),
    _shape(
        "mailchimp_key",
        _LEFT + r"[0-9a-f]{32}-us\d{1,2}" + _RIGHT,
        _before("-us", r"-us\d", 33, r"[0-9a-f]"),
    ),
    _shape(
        "jwt",
        _LEFT + r"eyJ[A-Za-z0-9_-]{8,}={0,2}\.[A-Za-z0-9_-]{8,}={0,2}(?:\.[A-Za-z0-9_=-]*)*",
        _at("eyJ"),
        _not_redacted,
    ),
    _shape(
        "bearer",
        r"(?i:authorization)[\\\"']{0,3}\s*[:=]\s*[\\\"'`]{0,3}"
        r"(?:(?i:bearer|basic|token|apikey|digest)\s+)?(?P<s>[A-Za-z0-9._~+/-]{8,}={0,2})",
        _at_word("authorization"),
        _header_value,
    ),
    _shape(
        "bearer",
        r"(?i:\bbearer)\s+(?P<s>[A-Za-z0-9._~+/-]{16,}={0,2})",
        _at_word("bearer"),
        _header_value,
    ),
    _shape(
        "cookie",
        r"(?i:cookie)[\\\"']{0,3}\s*:\s*[\\\"'`]{0,3}(?P<s>[\w.-]{1,128}=[^\n\"'`]{4,2000})",
        _at_word("cookie"),
        _cookie,
    ),
    _shape(
        "basic_auth_url",
        r"(?<=[A-Za-z0-9])://[^\s/:@\"'`<>]{0,256}:(?P<s>[^\s/:@\"'`<>]{1,256})@(?=[\w\[])",
        _at("://", is_word=False),
        _url_password,
    ),
    _shape(
        "assigned_secret",
        r"""(?i:(?P<k>pass(?:word|wd|phrase)|(?<=_)pass|pwd|secret|token|credential"""
        r"""|api[_ -]?key|access[_-]?key|auth[_-]?key|private[_-]?key|encryption[_-]?key)"""
        r"""(?:[_-]?(?:key|value|hash))?)"""
        r"""[\\"'\])]{0,3}(?:[ \t]+is\b)?[ \t]*(?P<op>=>|:=|={1,3}|:)[ \t]*\\{0,2}(?P<q>["'`])?"""
        r"""(?P<s>(?(q)[^\s"'`\\]{12,1024}(?=\\{0,2}["'`])|[^\s"'`\\,;&<>|]{12,1024}))""",
        _at_word(
            *("pass", "pwd", "secret", "token", "credential"),
            *("api_key", "api-key", "apikey", "api key", "access_key", "access-key"),
            *("accesskey", "auth_key", "auth-key", "authkey", "private_key", "private-key"),
            *("privatekey", "encryption_key", "encryption-key", "encryptionkey"),
            gate=("pass", "pwd", "secret", "token", "credential", "key"),
        ),
        _assigned,
    ),
    _shape(
        "payment_card",
        r"(?:(?<![A-Za-z0-9_/+-])(?<!\d\.)|(?<=\\[nrt]))(?:[0-9]{13,19}"
        r"|[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{1,7}|[0-9]{4}([ -])[0-9]{6}\2[0-9]{4,5})"
        r"(?![A-Za-z0-9_/+-]|\.[0-9])",
        Spots(
            rarer=re.compile(r"[0-9][0-9][0-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4}"),
            digits=CARD_DIGITS,
        ),
        _card,
    ),
)

PII: Final[tuple[Shape, ...]] = (
    _shape(
        "email",
        r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])",
        _before("@", "@", 65, r"[\w.+-]"),
    ),
    _shape(
        "phone",
        r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,5}\)[ .-]?)?\d(?:[ .-]?\d){5,12}"
        r"|\(?[2-9]\d{2}\)?[ .-][2-9]\d{2}[ .-]\d{4})(?![\w-])",
        _matching(r"\+\d|\(?[2-9]\d\d\)?[ .-]\d\d"),
        _phone,
    ),
    _shape(
        "iban",
        r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])",
        _matching(r"[A-Z]{2}\d{2} ?[A-Z0-9]{4}"),
        _iban,
    ),
)


# Seldom characters first: a text without the seldom one cannot hold the literal.
_SELDOM: Final = "_/:.-0123456789ZQXJVKGUPWYBHFNDMLORCETISAzqxjkvwpygbfmucdhlrinoaste "


class Gate:
    """Tells in one go which shapes a text may hold: most texts hold none."""

    def __init__(self, shapes: tuple[Shape, ...]) -> None:
        self._shapes = shapes
        self._words = _by_character(shapes, lambda spots: spots.is_word)
        self._exact = _by_character(shapes, lambda spots: not (spots.is_word or spots.folded))
        self._folded = _by_character(shapes, lambda spots: spots.folded)
        self._digits = [n for n, shape in enumerate(shapes) if shape.spots.digits]
        self._always = [
            n for n, shape in enumerate(shapes) if not (shape.spots.literals or shape.spots.digits)
        ]

    def open(self, text: str, lowered: str) -> list[tuple[int, Shape]]:
        """Shapes to be tried, with their place in the table."""
        places = self._always + _announced(self._exact, text)
        places += _announced(self._folded, lowered)
        if words := _long_words(text):
            places += [n for n in _announced(self._words, words) if self._shows(n, words)]
        if _has_long_number(text):
            places += self._digits
        return [(n, self._shapes[n]) for n in sorted(set(places))]

    def _shows(self, place: int, words: str) -> bool:
        rarer = self._shapes[place].spots.rarer
        return rarer is None or rarer.search(words) is not None


_Groups: TypeAlias = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]


def _by_character(shapes: tuple[Shape, ...], chosen: Callable[[Spots], bool]) -> _Groups:
    """Literals and the shapes they announce, by the most seldom character in them."""
    groups: dict[str, list[tuple[str, int]]] = {}
    for n, shape in enumerate(shapes):
        if chosen(shape.spots):
            for literal in shape.spots.gate or shape.spots.literals:
                seldom = min(literal, key=_SELDOM.find)
                groups.setdefault(seldom, []).append((literal, n))
    return tuple((character, tuple(literals)) for character, literals in groups.items())


def _announced(groups: _Groups, text: str) -> list[int]:
    return [
        n
        for character, literals in groups
        if character in text
        for literal, n in literals
        if literal in text
    ]


def _long_words(text: str) -> str:
    """Words that are long enough to hold a token: prose has few of them."""
    return " ".join([word for word in text.split() if len(word) >= LONG_WORD])


_ANY_DIGIT: Final = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER: Final = b"0" * CARD_DIGITS


def _has_long_number(text: str) -> bool:
    """Whether digits enough for a card follow each other; tables of bytes tell it fastest."""
    return _LONG_NUMBER in text.encode("utf-8", "surrogatepass").translate(_ANY_DIGIT, b" -")
