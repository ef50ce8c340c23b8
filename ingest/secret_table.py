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
    LEFT,
    RIGHT,
    Shape,
    Spots,
    at,
    before,
    in_any_case,
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
        at("-----BEGIN ", "---- BEGIN ", need="text"),
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
        need="word",
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
        matching(r"gl[a-z]{2,5}-[A-Za-z0-9_-]{20}", "gl", need="run"),
        has_digit,
    ),
    token("gitlab_token", r"GR1348941[A-Za-z0-9_-]{20,64}", "GR1348941"),
    token("npm_token", r"npm_[A-Za-z0-9]{36,64}", "npm_"),
    shape(
        "npm_token",
        r"(?i:_authToken)\s*=\s*[\"']?(?P<s>[A-Za-z0-9+/=_.-]{20,512})",
        in_any_case("_authtoken", need="word"),
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
        in_any_case(
            *("aws", "amazon", "secretaccesskey", "secret_access_key"),
            gate=("aws", "amazon", "secret"),
            need="word",
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
        r"/api/webhooks/[0-9]{10,}/[A-Za-z0-9_-]{40,}",
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
    token("groq_key", r"gsk_[A-Za-z0-9]{40,64}", "gsk_", check=has_digit),
    token("xai_key", r"xai-[A-Za-z0-9]{60,128}", "xai-", check=has_digit),
    token("nvidia_key", r"nvapi-[A-Za-z0-9_-]{60,128}", "nvapi-", check=has_digit),
    token("perplexity_key", r"pplx-[A-Za-z0-9]{40,64}", "pplx-", check=has_digit),
    token("replicate_token", r"r8_[A-Za-z0-9]{35,40}", "r8_", check=has_digit),
    token("tavily_key", r"tvly-(?:dev-|prod-)?[A-Za-z0-9_-]{20,64}", "tvly-", check=has_digit),
    token("langsmith_key", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", "lsv2_"),
    token(
        "tailscale_key",
        r"tskey-(?:[a-z]{2,16}-)?[A-Za-z0-9]{8,32}-[A-Za-z0-9]{16,64}",
        "tskey-",
        check=has_digit,
    ),
    token("digitalocean_token", r"do[opr]_v1_[0-9a-f]{64}", "dop_v1_", "doo_v1_", "dor_v1_"),
    token("shopify_token", r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}", "shp"),
    token("figma_token", r"figd_[A-Za-z0-9_-]{36,64}", "figd_", check=has_digit),
    token("linear_key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}", "lin_", check=has_digit),
    token(
        "notion_token",
        r"ntn_[A-Za-z0-9]{40,64}|secret_[A-Za-z0-9]{43}",
        "ntn_",
        "secret_",
        check=has_digit,
    ),
    token(
        "sentry_token",
        r"sntry[su]_[A-Za-z0-9+/=_-]{40,1024}",
        "sntry",
        check=has_digit,
        need="word",
    ),
    token("docker_token", r"dckr_[a-z]{2,4}_[A-Za-z0-9_-]{20,64}", "dckr_", check=has_digit),
    token(
        "vault_token",
        r"hv[sbr]\.[A-Za-z0-9_-]{24,512}",
        "hvs.",
        "hvb.",
        "hvr.",
        check=has_digit,
        need="word",
    ),
    token(
        "age_key",
        r"AGE-SECRET-KEY-(?:PQ-)?1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58,80}",
        "AGE-SECRET-KEY-",
    ),
    token(
        "supabase_key",
        r"sbp_(?:oauth_|v0_)?[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,64}",
        "sbp_",
        "sb_secret_",
    ),
    token("atlassian_token", r"AT[AC]TT3[A-Za-z0-9_=+/-]{60,512}", "ATATT3", "ATCTT3", need="word"),
    shape(
        "azure_sas",
        r"(?<=[?&;])sig=(?P<s>[A-Za-z0-9%+/_-]{40,256}={0,2})",
        at("sig="),
        has_digit,
    ),
    token("postman_key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", "PMAK-"),
    token("pulumi_token", r"pul-[0-9a-f]{40}", "pul-"),
    token(
        "doppler_token",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,64}",
        "dp.",
        need="word",
    ),
    token(
        "grafana_token",
        r"gl(?:sa_[A-Za-z0-9]{32}_[0-9a-f]{8}|c_[A-Za-z0-9+/=]{32,400})",
        "glsa_",
        "glc_",
        need="word",
    ),
    token("square_token", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,64}", "sq0"),
    shape(
        "terraform_token",
        rf"{LEFT}[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,80}}{RIGHT}",
        before(".atlasv1.", r"\.atlasv1\.", 15, r"[A-Za-z0-9]"),
    ),
    token("newrelic_key", r"NRAK-[A-Z0-9]{27}|NRII-[A-Za-z0-9_-]{32}", "NRAK-", "NRII-"),
    token("rubygems_key", r"rubygems_[0-9a-f]{48}", "rubygems_"),
    token("netlify_token", r"nf[cbopu]_[A-Za-z0-9]{36,40}", "nfp_", "nfc_", "nfo_", "nfu_", "nfb_"),
    token(
        "planetscale_token",
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,64}",
        "pscale_",
        check=has_digit,
        need="word",
    ),
    token(
        "fly_token",
        r"fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/=_-]{100,2048}",
        "fo1_",
        "fm1",
        "fm2",
        need="word",
    ),
    token("posthog_key", r"ph[xs]_[A-Za-z0-9]{40,64}", "phx_", "phs_", check=has_digit),
    token("databricks_token", r"dapi[0-9a-f]{32}(?:-\d)?", "dapi"),
    token("onepassword_token", r"ops_eyJ[A-Za-z0-9+/=_-]{100,2048}", "ops_eyJ", need="word"),
    token("sendgrid_key", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}", "SG.", need="word"),
    shape(
        "mailchimp_key",
        LEFT + r"[0-9a-f]{32}-us[0-9]{1,2}" + RIGHT,
        before("-us", r"-us[0-9]", 33, r"[0-9a-f]"),
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
        in_any_case("authorization"),
        header_value,
    ),
    shape(
        "bearer",
        r"(?i:\bbearer)\s+(?P<s>[A-Za-z0-9._~+/-]{16,}={0,2})",
        in_any_case("bearer"),
        header_value,
    ),
    shape(
        "cookie",
        r"(?i:cookie)[\\\"']{0,3}\s*:\s*[\\\"'`]{0,3}(?P<s>[\w.-]{1,128}=[^\n\"'`]{4,2000})",
        in_any_case("cookie"),
        cookie,
    ),
    shape(
        "basic_auth_url",
        r"(?<=[A-Za-z0-9])://[^\s/:@\"'`<>]{0,256}:(?P<s>[^\s/:@\"'`<>]{1,256})@(?=[\w\[])",
        at("://", need="text"),
        url_password,
    ),
    shape(
        "assigned_secret",
        r"""(?i:(?P<k>pass(?:word|wd|phrase)|(?<=_)pass|pwd|secret|token|credential"""
        r"""|api[_ -]?key|access[_-]?key|auth[_-]?key|private[_-]?key|encryption[_-]?key)"""
        r"""(?:[_-]?(?:key|value|hash))?)"""
        r"""[\\"'\])]{0,3}(?:[ \t]+is\b)?[ \t]*(?P<op>=>|:=|={1,3}|:)[ \t]*\\{0,2}(?P<q>["'`])?"""
        r"""(?P<s>(?(q)[^\s"'`\\]{12,1024}(?=\\{0,2}["'`])|[^\s"'`\\,;&<>|]{12,1024}))""",
        in_any_case(
            *("pass", "pwd", "secret", "token", "credential"),
            *("api_key", "api-key", "apikey", "api key", "access_key", "access-key"),
            *("accesskey", "auth_key", "auth-key", "authkey", "private_key", "private-key"),
            *("privatekey", "encryption_key", "encryption-key", "encryptionkey"),
            gate=("pass", "pwd", "secret", "token", "credential", "key"),
            need="assignment",
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
            need="number",
        ),
        card,
    ),
)

PII: Final[tuple[Shape, ...]] = (
    shape(
        "email",
        r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])",
        before("@", "@", 65, r"[\w.+-]", need="text"),
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
