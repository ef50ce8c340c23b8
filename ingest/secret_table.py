"""What secrets look like: one table of shapes, each with the literals that announce it."""

import re
from typing import Final

from ingest.secret_checks import (
    assigned,
    aws_secret,
    card,
    cookie,
    discord,
    has_digit,
    header_value,
    iban,
    mixed_case,
    not_redacted,
    phone,
    url_password,
)
from ingest.secret_shapes import (
    CARD_DIGITS,
    LEFT,
    RIGHT,
    Shape,
    Spots,
    at,
    at_word,
    before,
    matching,
    shape,
    token,
)

# Upper bounds keep hostile text from being gone over again from each of its literals.

TABLE: Final[tuple[Shape, ...]] = (
    shape(
        "private_key",
        r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
        r"(?:(?:(?!-{4,5} ?BEGIN )[\s\S]){1,20000}?-{4,5} ?END [A-Z0-9 ]{0,40}-{4,5}"
        r"|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{20,})+)",
        at("-----BEGIN ", "---- BEGIN ", is_word=False),
    ),
    token("anthropic_key", r"sk-ant-[A-Za-z0-9_-]{16,512}", "sk-ant-"),
    token(
        "openai_key",
        r"sk-(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,512}|sk-[A-Za-z0-9]{20,128}"
        r"|sk-[A-Za-z0-9_-]{0,128}T3BlbkFJ[A-Za-z0-9_-]{16,256}",
        "sk-",
        check=has_digit,
    ),
    token("huggingface_token", r"hf_[A-Za-z0-9]{30,128}", "hf_", check=mixed_case),
    token("google_api_key", r"AIza[0-9A-Za-z_-]{35}", "AIza"),
    token(
        "google_oauth",
        r"ya29\.[0-9A-Za-z._-]{20,2048}|GOCSPX-[A-Za-z0-9_-]{20,64}|1//0[A-Za-z0-9_-]{40,512}",
        "ya29.",
        "GOCSPX-",
        "1//0",
    ),
    token(
        "github_token",
        r"gh[pousr]_[A-Za-z0-9_]{36,255}|github_pat_[A-Za-z0-9_]{22,255}",
        *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        check=has_digit,
    ),
    shape(
        "gitlab_token",
        rf"{LEFT}gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-[A-Za-z0-9_-]{{20,512}}",
        matching(r"gl[a-z]{2,5}-[A-Za-z0-9_-]{20}", "gl"),
        has_digit,
    ),
    token("gitlab_token", r"GR1348941[A-Za-z0-9_-]{20,64}", "GR1348941"),
    token("npm_token", r"npm_[A-Za-z0-9]{36,64}", "npm_"),
    shape(
        "npm_token",
        r"(?i:_authToken)\s*=\s*[\"']?(?P<s>[A-Za-z0-9+/=_.-]{20,512})",
        at_word("_authtoken"),
        header_value,
    ),
    token("pypi_token", r"pypi-AgE[A-Za-z0-9_-]{16,1024}", "pypi-AgE"),
    token(
        "aws_access_key",
        r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[0-9A-Z]{16}",
        *("AKIA", "ASIA", "ABIA", "ACCA", "A3T"),
    ),
    shape(
        "aws_secret",
        r"(?i:aws|amazon|secret_?access_?key)[^\n]{0,60}?"
        r"(?<![A-Za-z0-9+/_.-])(?P<s>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=_-])",
        at_word(
            *("aws", "amazon", "secretaccesskey", "secret_access_key"),
            gate=("aws", "amazon", "secret"),
        ),
        aws_secret,
    ),
    shape(
        "azure_key",
        r"(?:AccountKey|SharedAccessKey)=(?P<s>[A-Za-z0-9+/]{40,}={0,2})",
        at("AccountKey=", "SharedAccessKey="),
    ),
    token(
        "slack_token",
        r"(?i:xox[abeoprs](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{15,256}",
        *("xox", "XOX", "xapp-"),
        check=has_digit,
    ),
    shape(
        "slack_webhook",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}",
        at("hooks.slack"),
        has_digit,
    ),
    shape(
        "discord_token",
        rf"{LEFT}[MNO][A-Za-z0-9_-]{{22,27}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,45}}{RIGHT}",
        before(".", r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}", 29, r"[A-Za-z0-9_-]"),
        discord,
    ),
    shape(
        "discord_token",
        r"/api/webhooks/\d{10,}/[A-Za-z0-9_-]{40,}",
        at("/api/webhooks/"),
    ),
    shape(
        "telegram_token",
        rf"(?:{LEFT}|(?<=bot))\d{{8,10}}:[A-Za-z0-9_-]{{35}}{RIGHT}",
        before(":", r":[A-Za-z0-9_-]{35}", 11, r"\d"),
        has_digit,
    ),
    token(
        "stripe_key",
        r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,256}|whsec_[A-Za-z0-9]{24,64}",
        *("sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"),
    ),
    token("twilio_key", r"(?:SK|AC)[0-9a-z]{32}", "SK", "AC", check=has_digit),
    token("sendgrid_key", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}", "SG."),
    shape(
        "mailchimp_key",
        LEFT + r"[0-9a-f]{32}-us\d{1,2}" + RIGHT,
        before("-us", r"-us\d", 33, r"[0-9a-f]"),
    ),
    shape(
        "jwt",
        LEFT + r"eyJ[A-Za-z0-9_-]{8,}={0,2}\.[A-Za-z0-9_-]{8,}={0,2}(?:\.[A-Za-z0-9_=-]*)*",
        at("eyJ"),
        not_redacted,
    ),
    shape(
        "bearer",
        r"(?i:authorization)[\\\"']{0,3}\s*[:=]\s*[\\\"'`]{0,3}"
        r"(?:(?i:bearer|basic|token|apikey|digest)\s+)?(?P<s>[A-Za-z0-9._~+/-]{8,}={0,2})",
        at_word("authorization"),
        header_value,
    ),
    shape(
        "bearer",
        r"(?i:\bbearer)\s+(?P<s>[A-Za-z0-9._~+/-]{16,}={0,2})",
        at_word("bearer"),
        header_value,
    ),
    shape(
        "cookie",
        r"(?i:cookie)[\\\"']{0,3}\s*:\s*[\\\"'`]{0,3}(?P<s>[\w.-]{1,128}=[^\n\"'`]{4,2000})",
        at_word("cookie"),
        cookie,
    ),
    shape(
        "basic_auth_url",
        r"(?<=[A-Za-z0-9])://[^\s/:@\"'`<>]{0,256}:(?P<s>[^\s/:@\"'`<>]{1,256})@(?=[\w\[])",
        at("://", is_word=False),
        url_password,
    ),
    shape(
        "assigned_secret",
        r"""(?i:(?P<k>pass(?:word|wd|phrase)|(?<=_)pass|pwd|secret|token|credential"""
        r"""|api[_ -]?key|access[_-]?key|auth[_-]?key|private[_-]?key|encryption[_-]?key)"""
        r"""(?:[_-]?(?:key|value|hash))?)"""
        r"""[\\"'\])]{0,3}(?:[ \t]+is\b)?[ \t]*(?P<op>=>|:=|={1,3}|:)[ \t]*\\{0,2}(?P<q>["'`])?"""
        r"""(?P<s>(?(q)[^\s"'`\\]{12,1024}(?=\\{0,2}["'`])|[^\s"'`\\,;&<>|]{12,1024}))""",
        at_word(
            *("pass", "pwd", "secret", "token", "credential"),
            *("api_key", "api-key", "apikey", "api key", "access_key", "access-key"),
            *("accesskey", "auth_key", "auth-key", "authkey", "private_key", "private-key"),
            *("privatekey", "encryption_key", "encryption-key", "encryptionkey"),
            gate=("pass", "pwd", "secret", "token", "credential", "key"),
        ),
        assigned,
    ),
    shape(
        "payment_card",
        r"(?:(?<![A-Za-z0-9_/+-])(?<!\d\.)|(?<=\\[nrt]))(?:[0-9]{13,19}"
        r"|[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{1,7}|[0-9]{4}([ -])[0-9]{6}\2[0-9]{4,5})"
        r"(?![A-Za-z0-9_/+-]|\.[0-9])",
        Spots(
            rarer=re.compile(r"[0-9][0-9][0-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4}"),
            digits=CARD_DIGITS,
        ),
        card,
    ),
)

PII: Final[tuple[Shape, ...]] = (
    shape(
        "email",
        r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])",
        before("@", "@", 65, r"[\w.+-]"),
    ),
    shape(
        "phone",
        r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,5}\)[ .-]?)?\d(?:[ .-]?\d){5,12}"
        r"|\(?[2-9]\d{2}\)?[ .-][2-9]\d{2}[ .-]\d{4})(?![\w-])",
        matching(r"\+\d|\(?[2-9]\d\d\)?[ .-]\d\d"),
        phone,
    ),
    shape(
        "iban",
        r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])",
        matching(r"[A-Z]{2}\d{2} ?[A-Z0-9]{4}"),
        iban,
    ),
)
