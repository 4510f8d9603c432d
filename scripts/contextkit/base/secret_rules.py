"""What a secret looks like, as data: the beginnings that issuers give their tokens, and the names
that people give theirs.

A rule is a literal, the characters that may follow it and how many must. So a text in which no
literal stands costs a search for each and nothing more; no expression is compiled, ever.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Rule = tuple[str, int, str]  # kind, characters that must follow, of these

DIGITS = "0123456789"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
WORD = LETTERS + DIGITS + "_-"
BASE64 = WORD + "+/=.~"
_HEX = DIGITS + "abcdefABCDEF"
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + DIGITS
_DOTTED = WORD + "."

# kind | characters that must follow | their class | the beginnings
_TABLE = (
    ("age-key", 50, _CAPITALS, "AGE-SECRET-KEY-1"),
    ("airtable-token", 70, _DOTTED, "pat"),
    ("alibaba-key", 20, WORD, "LTAI"),
    ("anthropic-key", 32, WORD, "sk-ant-"),
    ("artifactory-token", 60, WORD, "AKCp"),
    ("atlassian-token", 60, BASE64, "ATATT3 ATCTT3"),
    ("aws-key", 16, _CAPITALS, "AKIA ASIA ABIA ACCA"),
    ("clojars-token", 60, WORD, "CLOJARS_"),
    ("databricks-token", 32, _HEX, "dapi"),
    ("digitalocean-token", 64, _HEX, "dop_v1_ doo_v1_ dor_v1_"),
    ("docker-token", 27, WORD, "dckr_pat_ dckr_oat_"),
    ("doppler-token", 40, WORD, "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit."),
    ("duffel-token", 43, WORD, "duffel_live_ duffel_test_"),
    ("dynatrace-token", 64, _DOTTED, "dt0c01."),
    ("easypost-key", 54, WORD, "EZAK EZTK"),
    ("figma-token", 40, WORD, "figd_"),
    ("flutterwave-key", 12, WORD, "FLWSECK_TEST- FLWSECK- FLWPUBK_TEST-"),
    ("flyio-token", 43, BASE64, "fo1_ fm1_ fm1a_ fm2_"),
    ("frameio-token", 64, WORD, "fio-u-"),
    ("github-token", 36, WORD, "ghp_ gho_ ghu_ ghs_ ghr_"),
    ("github-token", 50, WORD, "github_pat_"),
    (
        "gitlab-token", 20, _DOTTED,
        "glpat- glptt- gldt- glrt- glcbt- glft- glsoat- glimt- glagent- GR1348941",
    ),
    ("google-key", 35, WORD, "AIza"),
    ("google-key", 28, WORD, "GOCSPX-"),
    ("google-token", 40, _DOTTED, "ya29."),
    ("grafana-token", 32, BASE64, "glsa_ glc_"),
    ("groq-key", 48, WORD, "gsk_"),
    ("harness-token", 40, _DOTTED, "pat. sat."),
    ("heroku-key", 60, WORD, "HRKU-"),
    ("huggingface-token", 34, WORD, "hf_ api_org_"),
    ("infracost-token", 32, WORD, "ico-"),
    ("linear-key", 40, WORD, "lin_api_ lin_oauth_"),
    ("mailgun-key", 32, _HEX, "key- pubkey-"),
    ("newrelic-key", 27, WORD, "NRAK- NRJS- NRII-"),
    ("notion-token", 43, WORD, "ntn_ secret_"),
    ("npm-token", 36, WORD, "npm_"),
    ("openai-key", 40, WORD, "sk- sk-proj- sk-svcacct- sk-admin- sk-or-v1-"),
    ("onepassword-token", 200, BASE64, "ops_eyJ"),
    ("perplexity-key", 48, WORD, "pplx-"),
    ("planetscale-token", 32, _DOTTED, "pscale_tkn_ pscale_pw_ pscale_oauth_"),
    ("postman-key", 59, WORD, "PMAK-"),
    ("prefect-key", 36, WORD, "pnu_"),
    ("pulumi-token", 40, _HEX, "pul-"),
    ("pypi-token", 50, WORD, "pypi-"),
    ("readme-key", 70, WORD, "rdme_"),
    ("replicate-token", 37, WORD, "r8_"),
    ("rubygems-key", 48, _HEX, "rubygems_"),
    ("scalingo-token", 48, WORD, "tk-us-"),
    ("sendgrid-key", 60, _DOTTED, "SG."),
    ("sendinblue-key", 64, WORD, "xkeysib-"),
    ("sentry-token", 60, BASE64, "sntrys_ sntryu_"),
    ("shippo-token", 40, WORD, "shippo_live_ shippo_test_"),
    ("shopify-token", 32, _HEX, "shpat_ shpca_ shppa_ shpss_"),
    ("slack-token", 10, _DOTTED, "xoxb- xoxp- xoxa- xoxo- xoxr- xoxs- xoxe- xoxe. xapp-"),
    ("slack-webhook", 20, BASE64, "hooks.slack.com/services/ hooks.slack.com/workflows/"),
    ("square-token", 22, WORD, "sq0atp- sq0csp- sq0idp- EAAA"),
    ("stripe-key", 10, WORD, "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_"),
    ("supabase-token", 40, _HEX, "sbp_"),
    ("terraform-token", 60, WORD, "atlasv1."),
    ("twilio-key", 32, _HEX, "SK AC"),
    ("typeform-token", 44, _DOTTED, "tfp_"),
    ("vault-token", 20, WORD, "hvs. hvb. hvr."),
    ("xai-key", 70, WORD, "xai-"),
    ("discord-webhook", 60, BASE64, "discord.com/api/webhooks/ discordapp.com/api/webhooks/"),
    ("jwt", 20, _DOTTED, "eyJ"),
)  # fmt: skip

TOKENS: dict[str, Rule] = {
    literal: (kind, shortest, chars)
    for kind, shortest, chars, literals in _TABLE
    for literal in literals.split()
}

# Names before `=`, `:` or a blank: what people call a secret. A weaker one proves less.
PASSWORDS = ("password", "passwd", "passphrase", "_pass", "pass", "pwd")
WHOLE = ("pass", "auth")  # these are no name when they end another word: compass, oauth
KEYS = (
    "token", "secret", "api_key", "apikey", "api-key", "api key", "access_key", "accesskey",
    "access-key", "access key", "secret_key", "secretkey", "secret-key", "secret key",
    "private_key", "private-key", "auth_key", "encryption_key", "signing_key", "account_key",
    "accountkey", "account key", "shared_key", "sharedaccesskey", "service_key", "app_key",
    "auth", "credential", "credentials",
)  # fmt: skip

# What stands where a secret would, and is none.
PLACEHOLDERS = (
    "redacted", "example", "placeholder", "changeme", "change-me", "change_me", "your", "xxxx",
    "****", "...", "…", "dummy", "environ", "getenv", "process.env", "insert", "secrets.", "sample",
    "00000000", "12345678901", "abcdefgh", "todo", "foobar", "arn:aws",
)  # fmt: skip
WORDS = frozenset(
    "required optional missing invalid incorrect expired forgotten rotated unchanged redacted"
    " hidden masked removed unknown disabled enabled default string number boolean object hashed"
    " encrypted plaintext generated revoked stored needed protected authentication password"
    " passwords secret secrets token tokens undefined nullable integer rejected accepted reset"
    " prompt prompted policy manager validation change changed length"
    " strength should cannot".split()
)
