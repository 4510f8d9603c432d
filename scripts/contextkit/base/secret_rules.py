"""What secrets look like, as data: prefixes of issued tokens, names that people use, and places.

A rule is a literal and what must follow it: a number of characters of a class, or an expression,
which is compiled when a text has the literal. Any other text costs one search per rule, no more.
"""

from __future__ import annotations

Rule = tuple[str, int, str]  # kind, minimum number of following characters, their class

DIGITS = "0123456789"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
WORD = LETTERS + DIGITS + "_-"
BASE64 = WORD + "+/=.~"
_HEX = DIGITS + "abcdefABCDEF"
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + DIGITS
_DOTTED = WORD + "."

# Literals that may also occur inside a token, which then includes the characters before them.
HEADS = frozenset([".atlasv1."])

# kind | minimum number of following characters | their class | prefixes
_TABLE = (
    ("adobe-secret", 32, WORD, "p8e-"),
    ("age-key", 50, _CAPITALS, "AGE-SECRET-KEY-1"),
    ("airtable-token", 70, _DOTTED, "pat"),
    ("alibaba-key", 20, WORD, "LTAI"),
    ("anthropic-key", 32, WORD, "sk-ant-"),
    ("artifactory-token", 59, WORD, "AKCp cmVmd"),
    ("atlassian-token", 60, BASE64, "ATATT3 ATCTT3"),
    ("aws-key", 16, _CAPITALS, "AKIA ASIA ABIA ACCA A3T"),
    ("aws-bedrock-key", 100, BASE64, "ABSK"),
    ("aws-bedrock-key", 24, BASE64, "bedrock-api-key-"),
    ("azure-token", 300, _DOTTED, "0.A 1.A"),
    ("bannerbear-key", 20, _HEX, "bb_ma_ bb_pr_"),
    ("besttime-key", 32, _HEX, "pri_"),
    ("clickhouse-key", 38, WORD, "4b1d"),
    ("clojars-token", 60, WORD, "CLOJARS_"),
    ("cloudflare-ca-key", 100, _HEX + "-", "v1.0-"),
    ("defined-networking-token", 60, BASE64, "dnkey-"),
    ("databricks-token", 32, _HEX, "dapi"),
    ("digitalocean-token", 64, _HEX, "dop_v1_ doo_v1_ dor_v1_"),
    ("docker-token", 27, WORD, "dckr_pat_ dckr_oat_"),
    ("doppler-token", 40, WORD, "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit."),
    ("duffel-token", 43, BASE64, "duffel_live_ duffel_test_"),
    ("dynatrace-token", 64, _DOTTED, "dt0c01."),
    ("easypost-key", 54, WORD, "EZAK EZTK"),
    ("figma-token", 40, WORD, "figd_"),
    ("flutterwave-key", 12, WORD, "FLWSECK_TEST- FLWSECK- FLWPUBK_TEST-"),
    ("facebook-token", 100, WORD, "EAAM EAAC"),
    ("flyio-token", 43, BASE64, "fo1_ fm1_ fm1a_ fm1r_ fm2_"),
    ("frameio-token", 64, BASE64, "fio-u-"),
    ("github-token", 36, WORD, "ghp_ gho_ ghu_ ghs_ ghr_"),
    ("github-token", 50, WORD, "github_pat_"),
    ("gitlab-token", 20, _DOTTED,
     "glpat- glptt- gldt- glrt- glcbt- glft- glffct- gloas- glsoat- glimt- glagent- GR1348941"),
    ("google-key", 35, WORD, "AIza"),
    ("google-key", 28, WORD, "GOCSPX-"),
    ("google-token", 40, _DOTTED, "ya29."),
    ("gitlab-session", 32, LETTERS + DIGITS, "_gitlab_session="),
    ("grafana-token", 32, BASE64, "glsa_ glc_"),
    ("grafana-key", 60, BASE64, "eyJrIjoi"),
    ("groq-key", 48, WORD, "gsk_"),
    ("harness-token", 40, _DOTTED, "pat. sat."),
    ("heroku-key", 60, WORD, "HRKU-"),
    ("huggingface-token", 34, LETTERS + DIGITS, "hf_ api_org_"),
    ("infracost-token", 32, WORD, "ico-"),
    ("intra42-secret", 64, _HEX, "s-s4t2ud- s-s4t2af-"),
    ("linear-key", 40, WORD, "lin_api_ lin_oauth_"),
    ("lob-key", 30, _HEX, "live_ test_ live_pub_ test_pub_"),
    ("mailgun-key", 32, _HEX, "key- pubkey-"),
    ("mapbox-token", 60, _DOTTED, "pk. sk."),
    ("newrelic-key", 27, WORD, "NRAK- NRII-"),
    ("newrelic-key", 19, _HEX, "NRJS-"),
    ("notion-token", 43, WORD, "ntn_ secret_"),
    ("npm-token", 36, WORD, "npm_"),
    ("openai-key", 40, WORD, "sk- sk-proj- sk-svcacct- sk-admin- sk-or-v1-"),
    ("onepassword-token", 200, BASE64, "ops_eyJ"),
    ("onepassword-key", 31, _CAPITALS + "-", "A3-"),
    ("openshift-token", 43, WORD, "sha256~"),
    ("perplexity-key", 48, WORD, "pplx-"),
    ("plaid-token", 36, _HEX + "-", "access-sandbox- access-development- access-production-"),
    ("planetscale-token", 32, _DOTTED + "=", "pscale_tkn_ pscale_pw_ pscale_oauth_"),
    ("postman-key", 59, WORD, "PMAK-"),
    ("prefect-key", 36, WORD, "pnu_"),
    ("pulumi-token", 40, _HEX, "pul-"),
    ("pypi-token", 50, WORD, "pypi-"),
    ("readme-key", 70, WORD, "rdme_"),
    ("replicate-token", 37, WORD, "r8_"),
    ("rubygems-key", 48, _HEX, "rubygems_"),
    ("scalingo-token", 48, WORD, "tk-us-"),
    ("sendgrid-key", 60, BASE64, "SG."),
    ("sendinblue-key", 64, WORD, "xkeysib-"),
    ("sentry-token", 60, BASE64, "sntrys_ sntryu_"),
    ("settlemint-token", 16, WORD, "sm_aat_ sm_pat_ sm_sat_"),
    ("shippo-token", 40, WORD, "shippo_live_ shippo_test_"),
    ("shopify-token", 32, _HEX, "shpat_ shpca_ shppa_ shpss_"),
    ("secret-key", 20, LETTERS + DIGITS, "sk_"),
    ("slack-token", 24, _DOTTED, "xoxb-"),
    ("slack-token", 12, _DOTTED, "xoxp- xoxa- xoxr- xoxs- xoxe- xoxe. xapp-"),
    ("slack-token", 12, _DOTTED, " ".join(f"xoxo-{digit}" for digit in DIGITS)),
    ("slack-webhook", 20, BASE64,
     "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/"),
    ("sonar-token", 40, WORD, "squ_ sqp_ sqa_"),
    ("sourcegraph-token", 40, WORD, "sgp_"),
    ("square-token", 22, WORD, "sq0atp- sq0csp- sq0idp- EAAA"),
    ("stripe-key", 10, WORD, "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_"),
    ("supabase-token", 40, _HEX, "sbp_"),
    ("teams-webhook", 40, BASE64, "webhook.office.com/webhookb2/"),
    ("terraform-token", 60, BASE64, ".atlasv1."),
    ("twilio-key", 32, _HEX, "SK AC"),
    ("typeform-token", 44, _DOTTED, "tfp_"),
    ("vault-token", 20, WORD, "hvs. hvb. hvr."),
    ("vault-token", 24, WORD, "s."),
    ("xai-key", 70, WORD, "xai-"),
    ("discord-webhook", 60, BASE64, "discord.com/api/webhooks/ discordapp.com/api/webhooks/"),
    ("jwt", 20, _DOTTED, "eyJ"),
    ("jwt-base64", 30, BASE64, "ZXlK"),
)  # fmt: skip

TOKENS: dict[str, Rule] = {
    literal: (kind, shortest, chars)
    for kind, shortest, chars, literals in _TABLE
    for literal in literals.split()
}

# Names of secrets before `=`, `:`, or a space. A weaker name proves less.
PASSWORDS = ("password", "passwd", "passphrase", "_pass", "pass", "pwd")
WHOLE = ("pass", "auth")  # not names when they end a longer word: compass, oauth
KEYS = (
    "token", "secret", "api_key", "apikey", "api-key", "api key", "access_key", "accesskey",
    "access-key", "access key", "secret_key", "secretkey", "secret-key", "secret key",
    "private_key", "private-key", "auth_key", "encryption_key", "signing_key", "account_key",
    "accountkey", "account key", "shared_key", "sharedaccesskey", "service_key", "app_key",
    "auth", "_auth", "credential", "credentials", "secret_key_base", "subscription-key",
    "license_key",
)  # fmt: skip

# A name that follows one of these words does not name a secret.
PUBLIC = ("public", "csrf", "authenticity", "page", "next", "continuation", "cursor", "cache")

# Random-looking text that is public: digests, public keys, links, mangled names.
KNOWN = (
    "/", "./", "../", "~/", "sha1-", "sha256-", "sha384-", "sha512-", "h1:", "aaaa", "_zn", "0x",
    "urn:", "arn:", "@", "www.", "__", "_mm",
)  # fmt: skip
KNOWN_BEFORE = (
    "base64,", "sha1", "sha256", "sha384", "sha512", "md5", "h1", "checksum", "digest", "hash",
    "integrity", "signature", "fingerprint", "etag", "id", "nonce", "commit", "revision", "ref",
    "public_key", "publickey", "public-key", "public_token", "publictoken", "csrf-token",
    "csrf_token", "authenticity_token\" value", "table", "restrict",
    "page_token", "pagetoken", "cursor",
)  # fmt: skip

# Placeholders where a secret would be, and sequences that people type in place of one.
PLACEHOLDERS = (
    "redacted", "example", "placeholder", "changeme", "change-me", "change_me", "your", "xxxx",
    "****", "...", "…", "dummy", "environ", "getenv", "process.env", "insert", "secrets.",
    "sample", "00000000", "tokenhere", "stringhere", "initial", "todo", "foobar", "arn:aws", "####",
)  # fmt: skip
SEQUENCES = ("12345678901", "abcdefgh", "abc123", "1234-1234")
WORDS = frozenset(
    "required optional missing invalid incorrect expired forgotten rotated unchanged redacted"
    " hidden masked removed unknown disabled enabled default string number boolean object hashed"
    " encrypted plaintext generated revoked stored needed protected authentication password"
    " passwords secret secrets token tokens undefined nullable integer rejected accepted reset"
    " prompt prompted policy manager validation change changed length"
    " strength should cannot port user username login none null true false".split()
)
HASHES = ("sha", "md5", "argon", "bcrypt", "pbkdf", "scrypt", "base64", "oauth", "http", "utf")
# Words that pass phrases do not have, and sentences do.
SENTENCES = frozenset(
    "the and for not must with was are you your this that from least than has have can cannot will"
    " should page see please enter characters required invalid wrong manual bitte muss der die das"
    " und nicht les des est pas los las una debe".split()
)

# Keys that Google printed in its own samples and documentation, as fingerprints (`names.py`).
PUBLISHED = frozenset((
    31_012_010_757_400_218, 45_815_396_721_522_375, 97_339_708_634_288_437,
    288_485_058_684_869_088, 448_118_917_581_116_224, 646_060_562_787_271_711,
    667_845_477_218_981_473, 901_498_013_537_467_379, 906_155_148_048_254_909,
    1_031_759_936_039_151_999, 1_213_911_863_394_640_935, 1_520_682_190_391_139_472,
    1_674_977_160_683_485_441, 1_821_333_748_859_689_511, 1_934_994_021_737_631_802,
))  # fmt: skip

# Letters that often follow a letter in English words and in names of code: `baei` for ba, be, bi.
_FOLLOWING = (
    "abcdgiklmnprstuvy baeilorsu cacehiklorstu dadeilorsu eabcdefgilmnopqrstvwxy faefilorsu"
    " gehinrsu haeiort iabcdefglmnoprstvz je keis ladeilostuy mabeimopsu nacdefgiknostuv"
    " oabcdfgklmnoprstuvw paeiloprstu qu racdefgiklmnorstuvy sacehilopstuy tacdehilmoprstuy"
    " uabcefilmnprst vaei waeior xpt ynps ze"
)
PAIRS = frozenset(row[0] + letter for row in _FOLLOWING.split() for letter in row[1:])

# Places that give a secret away, whatever it looks like: options of commands, lines of files,
# labels, headers. A rule is a literal that the text must hold, in lower case, and an expression
# whose matched groups are the value; its certainty decides how the value is judged. No unbounded
# repetition comes before another one, and none is nested, so the search is linear in the length of
# the text.

CERTAIN = "certain"  # a secret whatever it is, unless it is a variable or a placeholder
MIXED = "mixed"  # a secret if letters and digits are in it
PHRASE = "phrase"  # a secret if it is some words and no sentence
MADE = "made"  # a secret if no person would make it up

_QUOTED = r"""(?:'([^'\n]{1,400})'|"([^"\n]{1,400})"|([^\s'"|;&<>`,()\\]{1,400}))"""
_BARE = r"([^\s'\"|;&<>`]{1,400})"
_USER = r"""['"]?[^\s:'"]{1,100}:"""
_PIPED = rf"\b(?:echo|printf)(?: -\w)? {_QUOTED}\s{{0,9}}\|"
# A word that the line holds in lower case, and what follows the name of the command.
COMMANDS = (
    ("curl", rf"\s(?:-[uU]|--user|--proxy-user)[ =]?{_USER}{_BARE}"),
    ("http", rf"\s(?:-a|--auth)[ =]{_USER}{_BARE}"),
    ("mysql", rf"\s-p{_QUOTED}"),
    ("mariadb", rf"\s-p{_QUOTED}"),
    ("7z", rf"\s-p{_QUOTED}"),
    ("sshpass", rf"\s-p ?{_QUOTED}"),
    (" login", rf"\s-p[ =]{_QUOTED}"),
    ("mongo", rf"\s-p[ =]{_QUOTED}"),
    ("redis-cli", rf"\s(?:-a|--pass)[ =]{_QUOTED}"),
    ("smb", rf"\s-U ?['\"]?[^\s%'\"]{{1,100}}%{_BARE}"),
    ("rpcclient", rf"\s-U ?['\"]?[^\s%'\"]{{1,100}}%{_BARE}"),
    ("ldap", rf"\s-w ?{_QUOTED}"),
    ("sqlcmd", rf"\s-P ?{_QUOTED}"),
    ("zip", rf"\s-P ?{_QUOTED}"),
    ("pass", rf"\s-(?:store|key|srcstore|deststore)pass {_QUOTED}"),
    ("pass", rf"\s-pass(?:in|out)? ['\"]?pass:{_BARE}"),
    ("ssh-keygen", rf"\s-N ?{_QUOTED}"),
    ("net use", rf"\bnet use \S{{1,200}} \S{{1,200}} {_QUOTED}"),
    ("sudo -s", _PIPED),
    ("password-stdin", _PIPED),
    ("chpasswd", rf"\b(?:echo|printf)(?: -\w)? {_USER}{_BARE}"),
    ("jdbc:oracle", r"jdbc:oracle:\w{1,20}:\w{1,60}/([^\s@'\"]{1,200})@"),
    ("identified", r"(?i)\bidentified (?:with \S{1,60} )?by (?:password )?(?:'([^'\n]{1,200})'"
                   r"|\"([^\"\n]{1,200})\"|(\S{0,60}\d\S{0,60}))"),
    ("password", r"(?i)\bpassword ?\(? ?'([^'\n]{1,200})'"),
    ("requirepass", rf"\brequirepass {_QUOTED}"),
    ("masterauth", rf"\bmasterauth {_QUOTED}"),
    ("rootpw", rf"\brootpw (?:--\S{{1,20}} )?{_QUOTED}"),
    (":", r"(?m)^[\w.*-]{1,200}:(?:\d{2,5}|\*):[^:\s/]{1,100}:[^:\s/]{1,100}:(\S{4,200})\r?$"),
)  # fmt: skip

_JOINED = (
    r"[\"'`*\])\\]{0,4}(?:[ \t]{0,9}(?:[:：=＝]|=>|->|[—–]| - )|[ \t](?:ist|lautet|war|est|es|é|è"
    r"|is|jest|är|er|var)\b|[是为為は]|[ \t]{1,4})[ \t]{0,9}(?:[|>][-+]?[ \t]{0,9})?"
    r"(?:\r?\n[ \t]{0,40})?[\"'`「『\\]{0,3}"
)
_WORD = r"([^\s\"'`<>|,;(){}\[\]\\\u0400-\u04ff\u3000-\u9fff\uac00-\ud7af\uff00-\uffef]{6,128})"
_AFTER = _JOINED + _WORD
_PHRASE = r"[ \t]{0,3}[:：=][ \t]{0,3}[\"'“„«「]([^\W\d_][\w ]{12,120})[\"'”“»」]"
_HEADER = (
    r"(?i)[\"'\\]{0,2}[ \t]{0,3}[:=][ \t]{0,3}[\"'\\]{0,2}"
    r"(?:[a-z]{3,12}[ \t]{1,3})?([\w+/=.~:-]{16,4000})"
)
_COOKIE = r"=([\w%+/.~:-]{16,1000}={0,2})"
_FOREIGN_PASSWORDS = (
    "password|passwd|passphrase|passwort|kennwort|contraseña|contrasena|senha|parola|wachtwoord"
    "|hasło|haslo|heslo|lösenord|losenord|adgangskode|salasana|şifre|sifre|jelszó|пароль|пароля"
    "|паролем|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|κωδικός|סיסמה"
    "|mot de passe|parola d'ordine|mật khẩu|كلمة المرور"
).split("|")
_FOREIGN_KEYS = (
    "schlüssel|schluessel|clé|jeton|clave|llave|chave|chiave|ключ|токен|секрет|密钥|密鑰|金鑰|令牌"
    "|トークン|キー|シークレット|키|토큰|clé secrète|clé d'api|clave secreta"
).split("|")
_COOKIES = "sessionid session_id phpsessid connect.sid session sid _gh_sess csrftoken".split()
# The certainty of a value after one of these, and its form.
NAMED = (
    (MIXED, _FOREIGN_PASSWORDS, _AFTER),
    (PHRASE, _FOREIGN_PASSWORDS, _PHRASE),
    (MADE, _FOREIGN_KEYS, _AFTER),
    (MADE, ["authorization"], _HEADER),
    (MADE, _COOKIES, _COOKIE),
    (MADE, ["://"], r"([\w-]{20,200})@"),
)
TABLE = r"(?im)^[ \t]*\|[ \t]*(?:password|passwd|passwort|passphrase)[ \t]*\|[ \t]*([^\s|]{6,200})"
KIND = r"(?m)^kind:[ \t]*Secret\b"
DATA = r"(?m)^(?:data|stringData):[ \t]*\n((?:[ \t]+\S.*\n?)+)"
ENTRY = r"(?m)^[ \t]+[\w.-]{1,200}:[ \t]+[\"']?([^\s\"']{4,})"
