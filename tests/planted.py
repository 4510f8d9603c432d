"""Fakes that look like secrets, made at run time, and texts that look like them and are none.

No fake stands in this file: each is put together from parts and random characters, so that no
scanner stumbles over this repository. Used by the tests and by `make bench_secrets`.
"""

from __future__ import annotations

import base64
import json
import random
import string
import uuid

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
LOWER = string.ascii_lowercase + string.digits
WORDY = ALNUM + "_-"
CAPITALS = string.ascii_uppercase + string.digits

# kind -> parts: a string as it is, or (how many, of which characters)
_FORMS: dict[str, tuple[str | tuple[int, str], ...]] = {
    "aws-access-key": ("AK", "IA", (16, UPPER)),
    "aws-session-key": ("AS", "IA", (16, UPPER)),
    "github-classic": ("gh", "p_", (36, ALNUM)),
    "github-oauth": ("gh", "o_", (36, ALNUM)),
    "github-app": ("gh", "s_", (36, ALNUM)),
    "github-fine-grained": ("github_", "pat_", (22, ALNUM), "_", (59, ALNUM)),
    "gitlab": ("gl", "pat-", (20, WORDY)),
    "slack-bot": ("xo", "xb-", (12, string.digits), "-", (12, string.digits), "-", (24, ALNUM)),
    "slack-user": ("xo", "xp-", (11, string.digits), "-", (24, ALNUM)),
    "slack-webhook": ("https://hooks.slack", ".com/services/T", (8, UPPER), "/B", (8, UPPER), "/",
                      (24, ALNUM)),
    "openai": ("sk", "-", (48, ALNUM)),
    "openai-project": ("sk", "-proj-", (60, WORDY)),
    "anthropic": ("sk", "-ant-api03-", (93, WORDY), "AA"),
    "google-api": ("AI", "za", (35, WORDY)),
    "google-oauth": ("ya", "29.", (60, WORDY)),
    "google-client": ("GOC", "SPX-", (28, WORDY)),
    "stripe-live": ("sk_", "live_", (24, ALNUM)),
    "stripe-webhook": ("whs", "ec_", (32, ALNUM)),
    "npm": ("np", "m_", (36, ALNUM)),
    "pypi": ("py", "pi-AgEIcHlwaS5vcmc", (80, WORDY)),
    "huggingface": ("h", "f_", (34, ALNUM)),
    "sendgrid": ("S", "G.", (22, WORDY), ".", (43, WORDY)),
    "mailgun": ("ke", "y-", (32, HEX)),
    "twilio": ("S", "K", (32, HEX)),
    "digitalocean": ("dop", "_v1_", (64, HEX)),
    "shopify": ("shp", "at_", (32, HEX)),
    "databricks": ("da", "pi", (32, HEX)),
    "vault": ("hv", "s.", (24, ALNUM)),
    "grafana": ("gl", "sa_", (32, ALNUM), "_", (8, HEX)),
    "linear": ("lin", "_api_", (40, ALNUM)),
    "docker": ("dckr", "_pat_", (27, WORDY)),
    "notion": ("nt", "n_", (46, ALNUM)),
    "groq": ("gs", "k_", (52, ALNUM)),
    "doppler": ("dp", ".pt.", (43, ALNUM)),
    "atlassian": ("ATA", "TT3xFfGF0", (80, WORDY), "=", (8, UPPER)),
    "square": ("sq0", "atp-", (22, WORDY)),
    "supabase": ("sb", "p_", (40, HEX)),
    "huggingface-letters": ("h", "f_", (34, string.ascii_lowercase)),
    "huggingface-organization": ("api_", "org_", (34, string.ascii_letters)),
    "gitlab-oauth": ("glo", "as-", (64, WORDY)),
    "terraform": ((14, ALNUM), ".atl", "asv1.", (64, WORDY)),
    "onepassword": ("A", "3-", (6, CAPITALS), "-", (11, CAPITALS), "-", (5, CAPITALS), "-",
                    (5, CAPITALS), "-", (5, CAPITALS)),
    "openshift": ("sha", "256~", (43, WORDY)),
    "gitlab-session": ("_gitlab_", "session=", (32, LOWER)),
    "bannerbear": ("bb_", "ma_", (32, HEX)),
    "besttime": ("pri", "_", (32, HEX)),
    "elevenlabs": ("sk", "_", (48, HEX)),
    "azure-refresh": ("0", ".A", (60, WORDY), ".AgABAAEAAAD", (300, WORDY)),
    "random-mixed": ((40, ALNUM),),
    "random-lower": ((40, LOWER),),
    "random-long": ((589, ALNUM + "+/"),),
}  # fmt: skip

# name before the value, and the value: what has no beginning of its own
_NAMED: dict[str, tuple[str, tuple[str | tuple[int, str], ...]]] = {
    "password": ("password", ((9, ALNUM), "!", (2, string.digits))),
    "password-word": ("DB_PASSWORD", ((14, string.ascii_lowercase),)),
    "aws-secret": ("aws_secret_access_key", ((40, ALNUM + "+/"),)),
    "api-key": ("api_key", ((32, HEX),)),
    "client-secret": ("client_secret", ((30, WORDY),)),
    "uuid-token": ("auth_token", ((8, HEX), "-", (4, HEX), "-4", (3, HEX), "-a", (3, HEX), "-",
                                  (12, HEX))),
    "azure-account-key": ("AccountKey", ((86, ALNUM + "+/"), "==")),
}  # fmt: skip

LOOK_ALIKES = (
    "token_budget: 1200",
    "Bearer token is needed for every call",
    "token: [REDACTED]",
    "password: (redacted password)",
    "password: required",
    "The password is hashed with bcrypt before it is stored.",
    "secret: ${{ secrets.DEPLOY_KEY }}",
    "api_key = os.environ['SERVICE_API_KEY']",
    "API_KEY=$SERVICE_API_KEY",
    'token = get_token("session", user_id=42)',
    "password: str = field(default='')",
    "def login(user: str, password: SecretStr) -> None:",
    "tokens_stored: 4500",
    "password=<your password here>",
    "PASSWORD=changeme",
    'password = "see the manual, page 12"',
    "postgres://user:password@localhost:5432/app",
    "postgres://user:${DB_PASSWORD}@db/app",
    "https://example.org/a:b@c",
    "npm_config_registry_mirror_setting=https://example.org",
    "risk-assessment-for-the-2025-migration-plan-and-more",
    "the passphrase prompt appears twice",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "secret santa: the draw is on Friday",
    "if token == expected_token_2024:",
    "AKIAIOSFODNN7EXAMPLE",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx1",
    "auth: see manuals/authentication.md#tokens-2",
    "password reset tokens expire after 24h",
    "credentials: managed by 1Password, vault `team-2025`",
    "export API_TOKEN=ops_eyJzaWduSW5BZGRyZXNzIjoi...",
    "the token was glc_[Redacted], see line 12",
    "https://example.org/images/2018-250-xoxo-meeting-1.jpg",
    "xoxe.xoxp-1-RANDOMSTRINGHERE",
    "coredns-5d78c9869d-7k2xz and web-66b6c48dd5-x8v2q were restarted",
    "numpy-2.1.3-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "linux-x64-node-20.11.1-pnpm-9.1.0-cache-v3 was restored",
    "test_http2_returns_404_when_the_v2_route_is_gone_in_py312",
    "getUserByIdV2FromHttp2ServerWithRetry3Times",
    "_mm512_mask_4dpwssds_epi32 and __builtin_ia32_vfcmaddcph512_mask3_round are intrinsics",
    "AES256GCM-ECDHE-TLS13-SHA384-X25519-with-HTTP2-and-gRPC1",
    "key = abc123def4567890abcdef12",
    "api_key: sk-12345678901abcdefghijk",
    "szczegoly2025przetwarzania, Wirtschaftspruefung2025Quartal3, keskeytymaton2025yhteys",
    '<path d="M10.5H1v2h3v-2zm9-9.95h-2V3.5h2V.55zm7.45 207v123h210v40h-256V13h248v40h-202v114"/>',
    "ULID 01ARZ3NDEKTSV4RRFFQ69G5FAV and 01BX5ZZKBKACTAV9WEVGEMMVRZ",
    "_ZN4core3fmt9Formatter9write_str17h3b1f2a4c5d6e7f80E",
    "scripts/contextkit/base/x86_64-v2/2025-10-23T18-05-00Z_run42.log",
    "https://docs.example.org/document/d/1A2b3C4d5E6f7G8h9I0jKlMnOpQrStUv/edit",
    "20251023-171812-20251023171813-measure-payload-store-2",
    "feature/2025-10-23-JIRA-12345-login-v2-rework2-final3",
    "CVE-2024-3094, GHSA-jfh8-c2jp-5v3q and RFC9110#section-15.5.2",
)


def _made(parts: tuple[str | tuple[int, str], ...], rng: random.Random) -> str:
    texts = (p if isinstance(p, str) else "".join(rng.choices(p[1], k=p[0])) for p in parts)
    return "".join(texts)


def _jwt(rng: random.Random) -> str:
    def piece(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    head = piece(b'{"alg":"HS256","typ":"JWT"}')
    return f"{head}.{piece(json.dumps({'sub': rng.randrange(10**9)}).encode())}." + _made(
        ((43, WORDY),), rng
    )


def _private_key(rng: random.Random, name: str) -> str:
    lines = (_made(((64, ALNUM + "+/"),), rng) for _ in range(4))
    dashes = "-" * 5
    return "\n".join([f"{dashes}BEGIN {name}{dashes}", *lines, f"{dashes}END {name}{dashes}"])


def _lines(rng: random.Random) -> str:
    """Base64 in lines, as a certificate has it."""
    return "\n".join(_made(((64, ALNUM + "+/"),), rng) for _ in range(12))


def secrets(seed: int = 8) -> dict[str, dict[str, str]]:
    """kind -> context -> a text with one fake in it. The same seed, the same fakes."""
    rng = random.Random(seed)
    found = {kind: _in_contexts(_made(parts, rng)) for kind, parts in _FORMS.items()}
    found["jwt"] = _in_contexts(_jwt(rng))
    for kind, (name, parts) in _NAMED.items():
        value = _made(parts, rng)
        found[kind] = {
            "prose": f"We agreed on {name} `{value}` -- no: {name} is {value}, for staging.",
            ".env": f"export {name.upper()}={value}",
            "JSON": json.dumps({"user": "ada", name: value}),
        }
    for kind, name in (("rsa-key", "RSA PRIVATE KEY"), ("pkcs8-key", "PRIVATE KEY")):
        key = _private_key(rng, name)
        found[kind] = {
            "prose": f"The key is\n\n{key}\n\nand it works.",
            ".env": f'KEY="{key}"',
            "JSON": json.dumps({"pem": key}),
        }
    url = f"://deploy:{_made(((14, ALNUM),), rng)}@db.internal/app"
    found["url-password"] = {
        "prose": f"Connect to postgres{url} first.",
        ".env": f"DATABASE_URL=postgres{url}",
        "JSON": json.dumps({"remote": f"https{url}.git"}),
    }
    bearer = _made(((40, ALNUM),), rng)
    found["bearer"] = {
        "prose": f"It answers with the header Authorization: Bearer {bearer} only.",
        ".env": f'HEADER="Authorization: Bearer {bearer}"',
        "JSON": json.dumps({"headers": {"Authorization": f"Bearer {bearer}"}}),
    }
    return found


def _in_contexts(value: str) -> dict[str, str]:
    return {
        "prose": f"- 2025-10-23: the deploy ran with {value}, which Ada made for the test.",
        ".env": f"SERVICE_CREDENTIAL={value}",
        "JSON": json.dumps({"name": "service", "value": value}),
    }


def look_alikes(seed: int = 8) -> list[str]:
    """Texts with nothing secret in them: what stands above, and hashes, ids and images."""
    rng = random.Random(seed)
    commit, digest = _made(((40, HEX),), rng), _made(((64, HEX),), rng)
    image = base64.b64encode(rng.randbytes(300)).decode()
    identity = uuid.UUID(int=rng.getrandbits(128), version=4)
    return [
        *LOOK_ALIKES,
        f"fixed in {commit[:7]} and {commit}",
        f"    --hash=sha256:{digest} \\",
        f'"integrity": "sha512-{base64.b64encode(rng.randbytes(64)).decode()}"',
        f"![chart](data:image/png;base64,{image})",
        f"session {identity} ended",
        f"source_session: 20251023-171812-20251023171813-{digest[:6]}",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_made(((43, ALNUM),), rng)} ada@laptop",
        f"h1:{base64.b64encode(rng.randbytes(32)).decode()}",
        f"SHA256:{base64.b64encode(rng.randbytes(32)).decode().rstrip('=')} fingerprint",
        f"public_key = {_made(((44, ALNUM),), rng)}",
        f'"csrf-token": "{_made(((40, ALNUM),), rng)}"',
        f"-----BEGIN CERTIFICATE-----\n{_lines(rng)}\n-----END CERTIFICATE-----",
        f"{_lines(rng)}\n{_made(((24, ALNUM),), rng)}9Zz==\n-----END CERTIFICATE-----",
        f"/nix/store/{_made(((32, string.ascii_lowercase + string.digits),), rng)}-python3-3.12",
        f"ghcr.io/acme/app@sha256:{digest}",
        'notes = "Maven - io.jsonwebtoken:jjwt-jackson-0.11.2"',
        "M_UINT (ServingCell_t, H_PRIO, 2, &hf_servingcellpriorityparametersdescription_h_prio),",
        f'API_KEY="glc_{"1" * 42}="',
        f'<input name="authenticity_token" value="{_made(((60, ALNUM),), rng)}">',
        "the bot of xoxb-12345-abcd234 answers",
        f'"token4": "xoxp-572370529330-573807301142-572331691188-{"#" * 20}"',
    ]
