"""Secrets made up for tests: one of every kind at least, and the places they are planted in."""

import hashlib
import string

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
URL_SAFE = ALNUM + "_-"
BASE64 = ALNUM + "+/"


def made_up(size, alphabet, seed):
    """Characters of an alphabet that look random and never change."""
    out = ""
    count = 0
    while len(out) < size:
        block = hashlib.sha512(f"{seed}/{count}".encode()).digest()
        out += "".join(alphabet[byte % len(alphabet)] for byte in block)
        count += 1
    return out[:size]


def block(name, seed, lines=8):
    body = "\n".join(made_up(64, BASE64, f"{seed}{n}") for n in range(lines))
    return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"


TOKENS = [
    ("private_key", block("RSA PRIVATE KEY", 1)),
    ("private_key", block("PRIVATE KEY", 2)),
    ("private_key", block("OPENSSH PRIVATE KEY", 3)),
    ("private_key", block("PGP PRIVATE KEY BLOCK", 4)),
    ("openai_key", "sk-" + made_up(48, ALNUM, 5)),
    ("openai_key", "sk-proj-" + made_up(90, URL_SAFE, 6) + "a1"),
    ("openai_key", "sk-" + made_up(20, ALNUM, 7) + "T3BlbkFJ" + made_up(20, ALNUM, 8)),
    ("anthropic_key", "sk-ant-api03-" + made_up(90, URL_SAFE, 9) + "AA"),
    ("huggingface_token", "hf_" + made_up(34, string.ascii_letters, 10)),
    ("google_api_key", "AIza" + made_up(34, URL_SAFE, 11) + "x"),
    ("google_oauth", "ya29." + made_up(60, URL_SAFE, 12) + "z"),
    ("github_token", "ghp_" + made_up(36, ALNUM, 13)),
    ("github_token", "gho_" + made_up(36, ALNUM, 14)),
    ("github_token", "ghu_" + made_up(36, ALNUM, 15)),
    ("github_token", "ghs_" + made_up(36, ALNUM, 16)),
    ("github_token", "ghr_" + made_up(36, ALNUM, 17)),
    ("github_token", "github_pat_" + made_up(22, ALNUM, 18) + "_" + made_up(59, ALNUM, 19)),
    ("gitlab_token", "glpat-" + made_up(20, ALNUM, 20)),
    ("npm_token", "npm_" + made_up(36, ALNUM, 21)),
    ("pypi_token", "pypi-AgEI" + made_up(120, URL_SAFE, 22) + "a"),
    ("aws_access_key", "AKIA" + made_up(16, UPPER, 23)),
    ("aws_access_key", "ASIA" + made_up(16, UPPER, 24)),
    ("slack_token", "xoxb-" + made_up(12, string.digits, 25) + "-" + made_up(24, ALNUM, 26)),
    ("slack_token", "xoxp-" + made_up(12, string.digits, 27) + "-" + made_up(32, HEX, 28)),
    (
        "slack_webhook",
        "hooks.slack.com/services/T" + made_up(8, UPPER, 29) + "/B1/" + made_up(24, ALNUM, 30),
    ),
    ("discord_token", "N" + made_up(23, ALNUM, 31) + ".Gq7RtZ." + made_up(27, ALNUM, 32)),
    ("discord_token", "M" + made_up(25, ALNUM, 33) + ".GxYz1a." + made_up(38, ALNUM, 34)),
    ("telegram_token", made_up(10, "123456789", 35) + ":AA" + made_up(33, ALNUM, 36)),
    ("stripe_key", "sk_live_" + made_up(24, ALNUM, 37)),
    ("stripe_key", "rk_live_" + made_up(24, ALNUM, 38)),
    ("twilio_key", "SK" + made_up(32, HEX, 39)),
    ("sendgrid_key", "SG." + made_up(22, ALNUM, 40) + "." + made_up(43, ALNUM, 41)),
    ("mailchimp_key", made_up(32, HEX, 42) + "-us14"),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJ" + made_up(60, ALNUM, 43) + "." + made_up(43, URL_SAFE, 44)),
    ("groq_key", "gsk_" + made_up(51, ALNUM, 60) + "7"),
    ("xai_key", "xai-" + made_up(80, ALNUM, 61)),
    ("nvidia_key", "nvapi-" + made_up(63, URL_SAFE, 62) + "a"),
    ("perplexity_key", "pplx-" + made_up(48, ALNUM, 63)),
    ("replicate_token", "r8_" + made_up(37, ALNUM, 64)),
    ("tavily_key", "tvly-dev-" + made_up(32, ALNUM, 65)),
    ("langsmith_key", "lsv2_pt_" + made_up(32, HEX, 66) + "_" + made_up(10, HEX, 67)),
    ("tailscale_key", "tskey-auth-" + made_up(17, ALNUM, 68) + "-" + made_up(32, ALNUM, 69)),
    ("digitalocean_token", "dop_v1_" + made_up(64, HEX, 70)),
    ("shopify_token", "shpat_" + made_up(32, HEX, 71)),
    ("figma_token", "figd_" + made_up(39, URL_SAFE, 72) + "a"),
    ("linear_key", "lin_api_" + made_up(40, ALNUM, 73)),
    ("notion_token", "ntn_" + made_up(46, ALNUM, 74)),
    ("notion_token", "secret_" + made_up(43, ALNUM, 75)),
    ("sentry_token", "sntrys_eyJ" + made_up(80, ALNUM, 76) + "_" + made_up(43, BASE64, 77) + "a"),
    ("docker_token", "dckr_pat_" + made_up(26, URL_SAFE, 78) + "a"),
    ("vault_token", "hvs." + made_up(90, URL_SAFE, 79) + "a"),
    ("age_key", "AGE-SECRET-KEY-1" + made_up(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 80)),
    ("supabase_key", "sbp_" + made_up(40, HEX, 81)),
    ("supabase_key", "sb_secret_" + made_up(31, URL_SAFE, 82) + "a"),
    ("atlassian_token", "ATATT3xFfGF0" + made_up(160, URL_SAFE, 83) + "a"),
    ("postman_key", "PMAK-" + made_up(24, HEX, 84) + "-" + made_up(34, HEX, 85)),
    ("pulumi_token", "pul-" + made_up(40, HEX, 86)),
    ("doppler_token", "dp.pt." + made_up(43, ALNUM, 87)),
    ("grafana_token", "glsa_" + made_up(32, ALNUM, 88) + "_" + made_up(8, HEX, 89)),
    ("square_token", "sq0atp-" + made_up(22, ALNUM, 90)),
    ("terraform_token", made_up(14, ALNUM, 91) + ".atlasv1." + made_up(67, ALNUM, 92)),
    ("newrelic_key", "NRAK-" + made_up(27, UPPER, 93)),
    ("rubygems_key", "rubygems_" + made_up(48, HEX, 94)),
    ("netlify_token", "nfp_" + made_up(36, ALNUM, 95)),
    ("planetscale_token", "pscale_tkn_" + made_up(43, ALNUM, 96)),
    ("fly_token", "fo1_" + made_up(42, URL_SAFE, 97) + "a"),
    ("posthog_key", "phx_" + made_up(43, ALNUM, 98)),
    ("databricks_token", "dapi" + made_up(32, HEX, 99)),
    ("onepassword_token", "ops_eyJ" + made_up(300, ALNUM, 100)),
    ("payment_card", "4539578763621486"),
    ("payment_card", "4539 5787 6362 1486"),
    ("payment_card", "5555-5555-5555-4444"),
    ("payment_card", "378282246310005"),
]
PLACES = [
    "{}",
    "take {} and run",
    "({})",
    "`{}`",
    '"{}"',
    "export KEY={}",
    "https://api.example.com/v1?key={}&page=2",
    '{{"value": "{}", "n": 1}}',
    '{{"value": "first\\n{}\\nlast"}}',
    "before\n{}\nafter",
    "\u65e5\u672c{}\u8a9e",
]
VALUE = made_up(24, ALNUM, 50)
ASSIGNED = [
    ("aws_secret", "aws_secret_access_key = {}", made_up(40, BASE64, 51)),
    ("aws_secret", "AWS_SECRET_ACCESS_KEY={}", made_up(40, BASE64, 52)),
    ("aws_secret", '"SecretAccessKey": "{}"', made_up(40, BASE64, 53)),
    ("azure_key", "AccountName=x;AccountKey={};EndpointSuffix=y", made_up(86, BASE64, 54) + "=="),
    ("azure_sas", "https://x.blob.core.windows.net/c?sv=2025&sig={}&se=2", VALUE * 2),
    ("bearer", "Authorization: Bearer {}", VALUE),
    ("bearer", "-H 'authorization: token {}'", VALUE),
    ("bearer", '{{"Authorization": "Basic {}"}}', VALUE + "=="),
    ("bearer", "use bearer {} here", VALUE),
    ("cookie", "Cookie: {}", "sid=" + VALUE),
    ("cookie", "Set-Cookie: {}", f"id={VALUE}; Path=/; HttpOnly"),
    ("cookie", '{{"cookie": "{}"}}', f"theme=dark; s={VALUE}"),
    ("basic_auth_url", "postgres://admin:{}@db.example.com:5432/x", "hunter2hunter"),
    ("basic_auth_url", "redis://:{}@localhost", "p4ss"),
    ("npm_token", "//registry.example.com/:_authToken={}", VALUE),
    ("assigned_secret", 'password = "{}"', "correct-Horse-battery9"),
    ("assigned_secret", 'password: "{}"', "correct-horse-battery"),
    ("assigned_secret", "DB_PASSWORD={}", "CorrectHorseBattery"),
    ("assigned_secret", "password: {}", "Correct!Horse#Battery"),
    ("assigned_secret", "my password is: {}", "8cQHwILWKqY9K5"),
    ("assigned_secret", "export API_TOKEN={}", VALUE),
    ("assigned_secret", "The API key: {}", VALUE),
    ("assigned_secret", '{{"client_secret": "{}"}}', VALUE),
    ("assigned_secret", '{{\\"token\\": \\"{}\\"}}', VALUE),
    ("assigned_secret", "const apiKey = '{}';", VALUE),
    ("assigned_secret", "?access_token={}&x=1", VALUE),
    ("assigned_secret", "passwd={}", "6LdUOxEhMjauqt"),
    ("assigned_secret", "SECRET_KEY='{}'", "aB3$dE6&gH9(kL2)"),
    ("assigned_secret", "api_key: {}", made_up(32, HEX, 55)),
    ("assigned_secret", "DB_PASS={}", "LEvfddgZvwmUiZz"),
]
