"""redaction.py: what is found, what is not, and that no value is ever shown."""

from __future__ import annotations

import json
import random
import traceback
from pathlib import Path

import planted
import pytest
import yaml
from conftest import each, rounds
from contextkit.base import names, redaction, secret_rules, secret_search
from contextkit.base.errors import ContextError
from growth import is_in_proportion
from hypothesis import given
from hypothesis import strategies as st

SECRETS = planted.secrets()
CASES = [(kind, context) for kind in SECRETS for context in SECRETS[kind]]
# A password that is a word cannot be told from one in a sentence about passwords.
MISSED = {("password-word", "prose")}


def text_of(case: tuple[str, str]) -> str:
    return SECRETS[case[0]][case[1]]


def a_token() -> str:
    """A fake that is found by its beginning."""
    return text_of(("github-classic", ".env")).partition("=")[2]


def a_slack_token() -> str:
    return text_of(("slack-bot", ".env")).partition("=")[2]


def a_random(size: int, chars: str = planted.ALNUM, seed: int = 3) -> str:
    return "".join(random.Random(seed).choices(chars, k=size))


@each("case", CASES)
def test_a_planted_secret_is_found_in_prose_settings_and_json(case: tuple[str, str]) -> None:
    assert bool(redaction.found(text_of(case))) == (case not in MISSED)


@each("text", planted.look_alikes())
def test_what_only_looks_like_one_is_left(text: str) -> None:
    assert redaction.found(text) == ()
    assert redaction.redacted(text) == (text, ())


def test_kind_and_line_are_named() -> None:
    text = f"one\ntwo {a_token()}\n\npassword: hunter2!x\n"
    assert [(s.kind, s.line) for s in redaction.found(text)] == [
        ("github-token", 2),
        ("password", 4),
    ]
    assert redaction.summary(redaction.found(text)) == "1 github-token, 1 password"


@each("case", [c for c in CASES if c not in MISSED])
def test_what_was_redacted_holds_no_secret_any_more(case: tuple[str, str]) -> None:
    text = text_of(case)
    clean, secrets = redaction.redacted(text)
    assert redaction.found(clean) == () and redaction.redacted(clean) == (clean, ())
    for secret in secrets:
        value = text[slice(*secret.span)]
        assert value not in clean and redaction.mark(secret.kind) in clean
    assert clean[:5] == text[:5]
    if case[1] == "JSON":
        json.loads(clean)


def test_what_stands_in_its_place_breaks_no_format() -> None:
    clean, _ = redaction.redacted(f"objective: {a_token()}\nnext: 'password=hunter2!x'\n")
    assert yaml.safe_load(clean) == {
        "objective": "(redacted github-token)",
        "next": "password=(redacted password)",
    }


def test_no_value_is_in_a_finding_a_message_or_a_traceback() -> None:
    text = f"ok\nkey: {a_token()}\n"
    (secret,) = redaction.found(text)
    with pytest.raises(ContextError) as caught:
        redaction.checked(text, "m")
    shown = repr(secret) + str(vars(secret)) + "".join(traceback.format_exception(caught.value))
    assert a_token() not in shown and a_token()[4:12] not in shown
    assert caught.value.status == 2
    assert str(caught.value).splitlines() == [
        "m:2: looks like a secret (github-token): remove it, use redact=1, or list it under"
        " secrets_allow in contextkit.yaml and run make context_trust",
        "nothing was written",
    ]


def test_redaction_is_the_way_on_and_so_is_the_list_of_what_is_allowed() -> None:
    text = f"key: {a_token()}"
    assert redaction.checked(text, "m", redact=True) == "key: (redacted github-token)"
    assert redaction.checked(text, "m", allowed=("github-token",)) == text
    assert redaction.checked(text, "m", allowed=(a_token()[5:15],)) == text
    assert redaction.checked("plain", "m") == "plain"


def test_a_private_key_is_one_finding_even_where_its_end_is_cut_off() -> None:
    whole = SECRETS["rsa-key"]["prose"]
    assert redaction.redacted(whole)[0] == "The key is\n\n(redacted private-key)\n\nand it works."
    start = whole.index("-----BEGIN")
    assert redaction.redacted(whole[start:])[0] == "(redacted private-key)\n\nand it works."
    cut = whole[: whole.index("\n-----END")] + "\n\nmore"
    assert redaction.redacted(cut)[0].endswith("(redacted private-key)\n\nmore")


@each(
    ("before", "after", "clean"),
    [
        ("app 554150948346985|", " it is", "app (redacted random) it is"),
        ("line 1234567|", " it is", "line 1234567|(redacted random) it is"),
        ("", "\ni8BJu_-6a1\n== ends", "(redacted random) ends"),
        ("", "\r\nHc5rMl8K0oWA7", "(redacted random)"),
        ("", "\nDockerfile2", "(redacted random)\nDockerfile2"),
        ("", "\nPython312", "(redacted random)\nPython312"),
        ("", "\na1b2c3d4", "(redacted random)\na1b2c3d4"),
        ("", "\naBcDeFgH", "(redacted random)\naBcDeFgH"),
        ("", "\n2026-01-02T10", "(redacted random)\n2026-01-02T10"),
        ("", ",i5HMccWNvM.>! ", "(redacted random).>! "),
        ("", ",i5HMccWNv! ", "(redacted random)! "),
        ("", "\na1B2c3D4: x", "(redacted random)\na1B2c3D4: x"),
        ("", "\na1B2c3D4(x)", "(redacted random)\na1B2c3D4(x)"),
        ("", ",a1B2c3D4e: x", "(redacted random),a1B2c3D4e: x"),
        ("", ",other=Value1 ", "(redacted random),other=Value1 "),
        ("QGxPqRyzvtXxEKcVePJGn)", " ", "(redacted random) "),
        ("see QGxPqRyzvtXxEKcVePJGn)", " ", "see (redacted random) "),
        ("Wirtschaftspruefung:", " ", "Wirtschaftspruefung:(redacted random) "),
        ("session=", ";", "session=(redacted random);"),
        ("wynwoUnxnjcnz=", ";", "(redacted random);"),
        ("kqzwxvbnmpqzt)", " ", "kqzwxvbnmpqzt)(redacted random) "),
        ("kQzwXvbnmp)", " ", "kQzwXvbnmp)(redacted random) "),
    ],
)
def test_all_parts_of_a_value_are_redacted_and_nothing_else(
    before: str, after: str, clean: str
) -> None:
    text = f"{before}{a_random(40)}{after}"
    assert redaction.redacted(text)[0] == clean
    assert redaction.redacted(clean) == (clean, ())


def test_a_short_value_does_not_go_on_in_the_next_line() -> None:
    for before in ("", "the value found: "):
        text = f"{before}{a_random(26)}\ni8BJu_-6a1"
        assert redaction.redacted(text)[0] == f"{before}(redacted random)\ni8BJu_-6a1"


def test_a_value_after_a_name_may_be_long_and_contain_quotes_and_signs() -> None:
    long = a_random(1_500, planted.WORDY)
    for text in (f'refresh_token = "{long}"', f"REFRESH_TOKEN={long}"):
        assert long[-12:] not in redaction.redacted(text)[0]
    for value in ("sk_dFet;a_?B0I'Un.]>z@@fA0NN[a/j", 'a1B2c3D4\\"e5F6g7H8'):
        for before in ("", "x"):
            clean = redaction.redacted(f"{before}secret_key = '{value}'")[0]
            assert clean == f"{before}secret_key = '(redacted assigned-secret)'"
    number = f"APP_TOKEN=980716303652974|{a_random(32, planted.LOWER)}"
    assert redaction.redacted(number)[0] == "APP_TOKEN=(redacted assigned-secret)"
    clean = redaction.redacted("token: 904728163509271|max, it is")[0]
    assert clean == "token: (redacted assigned-secret)|max, it is"


def test_lower_case_letters_that_no_language_has_are_found_and_words_are_not() -> None:
    for seed in range(50):
        value = a_random(40, planted.LOWER, seed)
        assert redaction.found(f"We deployed with {value} yesterday.")
    words = "deployment settings2 of environment4 staging77 internal underline2nd version"
    assert not redaction.found(words.replace(" ", "_"))


@each(
    ("text", "kinds"),
    [
        (f"xx {a_random(19)} yy", ""),
        (f"xx {a_random(20)} yy", "random"),
        ("sero12canta34lomir56detal78benos90", "random"),
        ("sero12canta34lomir56detal78benota90", ""),
        ("aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5", "random"),
        (a_random(40, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"), "random"),
        (f"abc123{a_random(40)}", "random"),
        ("-----BEGIN PRIVATE KEY-----\nnone\n-----END PRIVATE KEY-----", ""),
        ("x1Y2z3K4m5Q6w7R-deployment", ""),
        ("x1Y2z3K4m5Q6w7Rt-deployment", "random"),
        ("deploy --token a1B2c3D4e5 now", "assigned-secret"),
        ("deploy  --token a1B2c3D4e5 now", "assigned-secret"),
        ("deploy token a1B2c3D4e5 now", ""),
        ("header Bearer 0123456789abcde0 now", "authorization"),
        ("a cupbearer 0123456789abcde0 now", ""),
        (f"xx abc123{a_random(24)} yy", ""),
        (f'secret_key = "{a_random(5_000)}"', ""),
        (f"{a_random(40)}\n{a_random(20, seed=4)}", "random random"),
        ("the password is correct", ""),
        ("compass: a1B2c3D4e5", ""),
        ("oauth: a1B2c3D4e5", ""),
        ("pass: a1B2c3D4e5", "password"),
        ("password: #header", ""),
        ("header Bearer 0123456789abc now", ""),
        (f"AKIA{'Q7ZW2' * 4}_x", ""),
        (f"x AKIA{'Q7ZW2' * 4}_x", ""),
        (f"xx AKIA{'Q7ZW2' * 4}_x", ""),
        ("sero12canta34lomir56deta78beno90", "random"),
        ("password: a1B2c3D4(x)", ""),
        ("password: hushed x", ""),
        ("-----BEGIN PRIVATE KEY-----\nx\n\nand more text that goes on behind it", ""),
        (f"xx -----BEGIN {'x ' * 50}PRIVATE KEY-----\nand more text that goes on behind it", ""),
        ("xx qAgTeLo1aRiSeNuMoTi2eRaLoPu yy", "random"),
        ("header Bearer QWxhZGRpbjpvcGVu= now", ""),
        ("api_key: InternationalizationOfSettings", ""),
        ("header Bearer internationalization now", ""),
        (f"xx 4{a_random(24, '0123456789ABCDEFGHJKMNPQRSTVWXYZ')} yy", "random"),
        (f"xx 4{a_random(25, '0123456789ABCDEFGHJKMNPQRSTVWXYZ')} yy", ""),
        ("password: $-hunter2x", "password"),
        ("run --token kQzWxVbNmLpRtYsD", "assigned-secret"),
        ("run --verbose token kQzWxVbNmLpRtYsD", ""),
        ("password: $HUNTER2x", ""),
        (f"{'-' * 50}\n{a_random(40)}", "random"),
        ("token: 904728163509271", "assigned-secret"),
        ("token: 904728163509271834", "assigned-secret"),
        ("token: 90472816350927", ""),
        ("password: hushedword\nmore words", "password"),
        ("password: ab12ab12ab", "password"),
        ("password = '<a1B2c3D4>'", ""),
        ("password = '*hunter2x'", ""),
        (f"xx {a_random(12)}abc123{a_random(17, seed=4)} yy", "random"),
        ("aB3dE5fG7hI9jkl1lM3nO5pQ7rS9tU1vW3xY5", "random"),
        (f"{a_random(64, seed=4)}\n{a_random(64, seed=5)}\n{a_random(40)}", ""),
        (
            f"{a_random(64, seed=4)}\n{a_random(64, seed=5)}\n{a_random(40)}; x",
            "random random random",
        ),
        (f"xx plugins/{a_random(30)} yy", ""),
        (f"xx a/b/{a_random(30)} yy", "random"),
        ("password: !hunter", "password"),
    ],
)
def test_what_is_just_long_and_varied_enough_is_found(text: str, kinds: str) -> None:
    assert " ".join(secret.kind for secret in redaction.redacted(text)[1]) == kinds


@each(
    ("before", "text"),
    [
        (f"x{a_token()} ", a_token()),
        ("ghp_short ", a_token()),
        (f"AKIA{'Q7ZW2' * 4}_x ", "AKIA" + a_random(16, "ABCDEFGHJKMNPQRSTVWXYZ234567")),
        (f"{a_token()[:30]}... ", a_token()),
        ("eyJhbGciOiJIUzI1NiJ9 ", text_of(("jwt", ".env")).partition("=")[2]),
        (
            "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n",
            SECRETS["rsa-key"]["prose"],
        ),
        (f"-----BEGIN {'x' * 80} ", SECRETS["rsa-key"]["prose"]),
        (
            "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n",
            SECRETS["rsa-key"]["prose"],
        ),
        (f"digest {a_random(40)} ", f"value {a_random(40, seed=4)} ends"),
        ("internationalization of ", f"value {a_random(40)} ends"),
        (f"https://a.example.org/{a_random(40)} ", f"value {a_random(40, seed=4)} ends"),
        ("bearer of news, ", "Bearer 0123456789abcde0 now"),
        ("a cupbearer 0123456789abcde1, ", "Bearer 0123456789abcde0 now"),
        ("compass: a1B2c3D4e5, ", "pass: a1B2c3D4!x"),
        ("public_token=a1B2c3D4e5, ", "token=a1B2c3D4e6"),
        ("password: none, ", "password: hunter2!x"),
        ("ftp://me@example.org ", "ftp://me:hunter2!x@example.org"),
    ],
)
def test_what_is_passed_over_hides_nothing_behind_it(before: str, text: str) -> None:
    (alone,) = redaction.found(text)
    last = redaction.found(before + text)[-1]
    assert last.kind == alone.kind
    assert last.span == tuple(len(before) + at for at in alone.span)


def test_a_word_before_more_words_is_not_a_password_however_long_they_go_on() -> None:
    for words in (1, 1_000):
        for before in ("", "word " * 798):
            assert not redaction.found(f"{before}password: correct{' horse battery' * words}")


def test_two_rare_pairs_in_five_are_no_language() -> None:
    assert secret_search._is_unpronounceable("ba1" * 6 + "zx1" * 4)
    assert not secret_search._is_unpronounceable("ba1" * 7 + "zx1" * 4)
    assert not secret_search._is_unpronounceable("zx1" * 7)


def test_what_stands_next_to_a_replaced_value_is_found_then() -> None:
    first, second = a_random(900, seed=1), a_random(900, seed=2)
    glued = f"{first}={a_token()}={second}"  # too long to be a value
    marks = "(redacted random)(redacted github-token)(redacted random)"
    for text, clean in (
        (glued, marks),
        (f"xy {glued}", f"xy {marks}"),
        (f"one\n{glued}\ntwo", f"one\n{marks}\ntwo"),
        (f"{glued}\none\ntwo\nthree\n{glued}", f"{marks}\none\ntwo\nthree\n{marks}"),
        (f"x {glued} y\n\n\nz", f"x {marks} y\n\n\nz"),
    ):
        assert redaction.redacted(text)[0] == clean
    key = SECRETS["rsa-key"]["prose"].split("\n\n")[1]
    clean = redaction.redacted(f"{a_random(1195)}={key} ends")[0]  # just too long to be a value
    assert clean == "(redacted random)(redacted private-key) ends"
    lower = a_random(64, planted.LOWER)
    beside = f"{a_random(64)}{a_random(9, seed=4)}=\n{lower}"
    chain = f"{beside}\n{a_random(30, seed=5)}"  # each is found when the one before is gone
    for name in ("token", "a_token"):
        clean = redaction.redacted(f"{name}={beside}")[0]
        assert clean.endswith("\n(redacted random)")
        for before in ("", f"{glued}\n\n\n", f"{first}={a_slack_token()}={second}\n\n\n"):
            clean = redaction.redacted(f"{before}{name}={chain}")[0]
            assert clean.endswith("\n(redacted random)\n(redacted random)")
    third, fourth = a_random(900, seed=3), a_random(900, seed=4)
    other = f"{third}={text_of(('gitlab', '.env')).partition('=')[2]}={fourth}"
    assert redaction.redacted(f"{glued} {other}")[0].count("(redacted random)") == 4


def test_lines_are_counted_from_one() -> None:
    text = "\n".join(["", *(f"x {a_random(30, seed=seed)}" for seed in range(5))])
    found = redaction.found(text)
    assert [secret.line for secret in found] == [2, 3, 4, 5, 6]
    assert redaction.summary(found) == "5 random"


def test_parts_of_what_is_allowed_are_allowed_too() -> None:
    text = f'token = "{a_random(40, seed=1)},{a_random(40, seed=2)}"'
    assert redaction.found(text) and not redaction.found(text, ("assigned-secret",))


def test_a_value_is_replaced_wherever_it_stands() -> None:
    clean = redaction.redacted("hunter2! password: hunter2!, hunter2!")[0]
    assert clean.count("(redacted password)") == 3


def test_a_token_with_a_kind_of_its_own_is_found_inside_what_is_allowed() -> None:
    for token, kind in ((a_token(), "github-token"), (a_slack_token(), "slack-token")):
        found = redaction.found(f"ftp://me:{token}@example.org", ("url-password",))
        assert [secret.kind for secret in found] == [kind]


def test_of_two_that_begin_together_the_longer_counts() -> None:
    text = f"secret_key = '{a_token()};a_?B0'"
    assert redaction.redacted(text)[0] == "secret_key = '(redacted assigned-secret)'"


def test_a_short_value_is_replaced_only_where_it_was_found() -> None:
    text = "password: hunt3r!\nthe hunt3r! is out; password: hunter2!\nhunter2!"
    assert redaction.redacted(text)[0] == (
        "password: (redacted password)\nthe hunt3r! is out; password: (redacted password)\n"
        "(redacted password)"
    )


def test_a_token_that_contains_its_mark_is_redacted_from_its_beginning() -> None:
    text = f"see {a_random(14)}.atlasv1.{a_random(60)} there"
    assert redaction.redacted(text)[0] == "see (redacted terraform-token) there"


@given(st.lists(st.sampled_from([*map(text_of, CASES), "\n", ",", "|", ":", " ", "=", "'", "x1"])))
def test_redacting_twice_changes_nothing_more(parts: list[str]) -> None:
    clean = redaction.redacted("".join(parts))[0]
    assert redaction.redacted(clean)[0] == clean


@given(st.text(), st.sampled_from(CASES), st.text())
def test_any_text_around_it_neither_breaks_nor_is_changed(
    before: str, case: tuple[str, str], after: str
) -> None:
    text = f"{before}\n{text_of(case)}\n{after}"
    clean, secrets = redaction.redacted(text)
    at = 0
    for secret in secrets:
        start, end = secret.span
        assert at <= start < end <= len(text)
        assert secret.line == text.count("\n", 0, start) + 1
        at = end
    if not secrets:
        assert clean == text


@each(
    "unit",
    [
        *"password= -eyJ sk- :// pwd=x password=$ token='".split(),
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n\n",
        "--token ",
        f"{a_random(40)} ",
        f"{a_random(40)}\n",
        f"{a_random(40)}\n\n\n\n",
        "a1B2c3D4e5F6g7H8i9,",
    ],
)
def test_a_text_made_to_be_slow_is_not(unit: str) -> None:
    assert is_in_proportion(redaction.found, unit)


def test_words_and_short_numbers_are_no_reason_to_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_search, "places", pytest.fail)
    for text in (
        "internationalization of 12 screens",
        "see https://example.org",
        "a@example.org",
        "the token expired\nnote: it works",
    ):
        assert redaction.found(text) == ()


def test_the_path_of_the_current_folder_is_no_reason_to_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tmp8x7kz0l2" / "project2025"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    text = f"Its log is {folder}/progress.md"
    assert not redaction._worth_a_search(text)
    assert redaction._worth_a_search(f"{text} and ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    folder.rmdir()
    assert redaction._worth_a_search(text)


def test_a_password_in_a_url_and_a_credential_of_letters_are_reason_enough_to_search() -> None:
    for text, clean in (
        ("ftp://me:hushed@b", "ftp://me:(redacted url-password)@b"),
        ("Basic QWxhZGRpbjpvcGVu=", "Basic (redacted authorization)"),
    ):
        assert redaction.redacted(text)[0] == clean


def test_a_text_that_is_not_searched_holds_no_secret() -> None:
    hints = (*redaction._PASSWORDS, *redaction._KEYS)
    for called in (secret_rules.PASSWORDS, secret_rules.KEYS):
        assert all(any(hint in name for hint in hints) for name in called)
    rules = secret_rules.TOKENS.items()
    shortest = min(len(literal) + least for literal, (_, least, _) in rules)
    assert shortest >= redaction._SHORTEST
    assert not any(char.isspace() for _, _, chars in secret_rules.TOKENS.values() for char in chars)


@given(
    st.lists(st.sampled_from([*(text_of(case) for case in CASES), "key", "İ", " ", "a=1", "://"]))
)
def test_the_cheap_look_never_says_no_where_the_search_finds_something(parts: list[str]) -> None:
    text = "".join(parts)
    if not redaction._worth_a_search(text):
        assert not list(secret_search.places(text))


def test_fields_are_checked_by_their_names_and_lists_in_them_too() -> None:
    fields = {"m": "plain", "n": 3, "files": ("a.py", f"x\n{a_token()}"), "rows": [{"why": "b"}]}
    with pytest.raises(ContextError) as caught:
        redaction.typed(fields, ())
    assert str(caught.value).startswith("files 2:2: looks like a secret (github-token)")
    clean = {**fields, "files": ("a.py", "x\n(redacted github-token)")}
    assert redaction.typed(fields, (), redact=True) == clean == redaction.cleaned(fields, ())
    assert redaction.typed(fields, ("github-token",)) == fields


@each("seed", range(rounds(5, 60)))
def test_a_redacted_text_holds_nothing_more_to_redact(seed: int) -> None:
    for contexts in planted.secrets(seed).values():
        for text in contexts.values():
            once = redaction.redacted(text)[0]
            assert redaction.redacted(once) == (once, ())


def test_a_token_that_we_cut_ourselves_is_still_one() -> None:
    made = "".join(random.Random(8).choices(planted.ALNUM, k=60))
    for value in (f"eyJ{made[:30]}.eyJ{made[30:]}", f"ATATT3{made}", made):
        assert redaction.found(f"| fd-a | the header is {value}…")


def test_four_letters_in_a_random_value_make_no_placeholder_of_it() -> None:
    made = "".join(random.Random(8).choices(planted.ALNUM, k=80))
    assert redaction.found(f"SERVICE_CREDENTIAL=sk-ant-api03-{made[:40]}YOUR{made[40:]}")
    assert not redaction.found("SERVICE_CREDENTIAL=sk-ant-api03-YOUR-key-from-the-console-1")


def test_a_key_that_its_issuer_published_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "AIza" + "".join(random.Random(8).choices(planted.ALNUM, k=35))
    texts = (f"api_key={key}", f"the sample has {key} in it")
    assert all(map(redaction.found, texts))
    known = frozenset([names.fingerprint(key.encode())])
    monkeypatch.setattr(secret_rules, "PUBLISHED", known)
    secret_search._is_placeholder.cache_clear()
    assert not any(map(redaction.found, texts))


def test_values_that_are_random_are_found_alone_mostly() -> None:
    rng = random.Random(8)
    sizes = (24, 32, 40, 64)
    made = ["".join(rng.choices(planted.ALNUM, k=size)) for size in sizes for _ in range(250)]
    found = [redaction.found(f"it answered to {value} at once") for value in made]
    assert sum(map(bool, found)) >= 0.8 * len(made)
    assert {secret.kind for secrets in found for secret in secrets} <= {"random", "twilio-key"}


def test_digests_and_identities_are_not_taken_for_values() -> None:
    rng = random.Random(8)
    for size in (7, 12, 20, 32, 40, 64, 128):
        for _ in range(200):
            digest = "".join(rng.choices(planted.HEX, k=size))
            assert redaction.found(f"since {digest} it works, see {digest}.log") == ()


@each("literal", sorted(one for one in secret_rules.TOKENS if not one.strip(planted.HEX)))
def test_a_digest_may_begin_like_a_token(literal: str) -> None:
    rng = random.Random(8)
    for size in (40, 64, 128, 6_000):
        digest = literal + "".join(rng.choices(planted.HEX, k=size - len(literal)))
        assert redaction.found(f"since {digest} it works") == ()
    token = literal + "".join(rng.choices(secret_rules.LETTERS, k=38))
    assert redaction.found(f"since {token} it works")


def issued(literal: str, rng: random.Random) -> str:
    """A token as its issuer makes it: letters, digits, and the signs `-` and `_`, at random."""
    _, least, chars = secret_rules.TOKENS[literal]
    chars = "".join(char for char in chars if char not in "+/=.~") if len(chars) > 40 else chars
    while (body := "".join(rng.choices(chars, k=max(least, 20)))).strip("-_") != body:
        pass
    return literal + ("a0." if literal == "eyJ" else "") + body


@each("shown", ["{}", "I saw `{}` in a log.", '{{"x": "{}"}}', "a,{},b", "the line {}…"])
def test_a_token_is_found_whatever_signs_and_letters_chance_gave_it(shown: str) -> None:
    rng = random.Random(12)
    tokens = [issued(literal, rng) for literal in secret_rules.TOKENS for _ in range(rounds(2, 40))]
    missed = [token for token in tokens if token in redaction.redacted(shown.format(token))[0]]
    assert len(missed) * 500 <= len(tokens)


def test_each_beginning_that_is_reason_to_search_is_one_of_a_rule() -> None:
    for first in redaction._FIRST:
        assert any(first in literal for literal in secret_rules.TOKENS), first


def test_no_beginning_of_a_token_is_declared_twice() -> None:
    literals = [one for row in secret_rules._TABLE for one in row[3].split()]
    assert len(literals) == len(set(literals))


@each("first", "/+")
def test_a_key_in_base64_may_begin_with_a_sign_and_a_path_is_none(first: str) -> None:
    made = a_random(39, seed=5)
    assert redaction.redacted(f"secret_key = {first}{made}")[0].endswith(
        "(redacted assigned-secret)"
    )
    for path in ("/run/secrets/db_password_v2", "/etc/ssl/private/key1.pem", "/Users/ada/x8Kq/T"):
        assert not redaction.found(f"secret_key: {path}")


def test_a_random_value_with_one_digit_is_found_and_a_name_with_one_is_not() -> None:
    letters = a_random(31, chars=planted.ALNUM[:52], seed=4)
    assert redaction.found(f"it answered to {letters[:14]}7{letters[14:]} at once")
    for name in ("AbstractSingletonProxyFactoryBean2", "getHTTPResponseFromURLAsString2"):
        assert not redaction.found(f"see {name} for it")


def test_a_password_in_a_line_that_was_cut_is_still_one() -> None:
    assert redaction.redacted("password: hunter2x9…")[0] == "password: (redacted password)…"


def test_random_letters_are_passed_over_only_inside_what_is_allowed() -> None:
    within = redaction._is_within
    assert within(("random", 4, 9), [(4, 9)]) and within(("random", 5, 8), [(0, 2), (4, 9)])
    for span in ((5, 9), (4, 8), (9, 20), (0, 4)):
        assert not within(("random", 4, 9), [span])


def test_a_value_in_an_attribute_named_value_belongs_to_the_name_before_it() -> None:
    made = "".join(("Zq", "81", "fm"))
    said = redaction.redacted(f'<add key="password" value="{made}"/>')[0]
    assert said == '<add key="password" value="(redacted password)"/>'


def test_a_quote_that_closes_on_no_or_another_line_holds_no_value() -> None:
    for text in ('password = "\nzq fm\n"', 'password = "zq fm', 'password = "zq81fmxy'):
        assert redaction.redacted(text) == (text, ())
        assert not list(secret_search.places(text))


def test_a_capital_that_two_small_letters_stand_for_moves_nothing() -> None:
    assert redaction.redacted("İİİ password: hunter2!x.")[0] == "İİİ password: (redacted password)."


def test_a_secret_is_found_at_any_place_of_a_long_text() -> None:
    for size in range(3_900, 4_120, 10):
        before = "word " * (size // 5)
        for text in (
            *("password: hunter2!x, ok", "password: hushedword\nmore words", "ftp://me:hushed@b"),
            "a_secret = 'sk_dFet;a_?B0I'",
        ):
            clean = before + redaction.redacted(text)[0]
            assert "(redacted " in clean and redaction.redacted(before + text)[0] == clean


def test_a_refusal_names_the_first_secrets_and_counts_the_rest() -> None:
    with pytest.raises(ContextError) as caught:
        redaction.checked(f"key: {a_token()}\n" * 60, "m")
    lines = str(caught.value).splitlines()
    assert [line.partition(": ")[0] for line in lines[:50]] == [f"m:{n}" for n in range(1, 51)]
    assert lines[50:] == ["and 10 more", "nothing was written"]
