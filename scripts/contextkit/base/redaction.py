"""Find secrets in a text, name them by kind and line, and replace them without showing them.

All text that is stored or handed to an agent passes through here. `secret_search.py` searches, by
the rules in `secret_rules.py`, if a quick check finds a reason. A finding holds the position and
never the value, so no message or traceback can show it.
"""

from __future__ import annotations

import os

from contextkit.base.errors import bad_input
from contextkit.base.records import Declaration
from contextkit.base.type_names import Any, Callable, Iterable

# Words in lower case, one of which a text holds unless its secret looks like one by itself: names
# of passwords, of other secrets, and words that precede a secret without naming it.
_PASSWORDS = (
    "pass", "pwd", "kennwort", "senha", "contras", "clave", "geheim", "wachtwoord", "haslo",
    "hasło", "heslo", "salasana", "lösenord", "losenord", "adgangskode", "şifre", "sifre", "parola",
    "jelsz", "парол", "密码", "密碼", "口令", "パスワード", "暗証", "비밀번호", "암호", "κωδικ",
    "סיסמ", "كلمة", "mật khẩu",
)  # fmt: skip
_KEYS = (
    "token", "secret", "key", "auth", "credential", "cookie", "schlüssel", "schluessel", "jeton",
    "clé", "llave", "chiave", "chave", "ключ", "токен", "секрет", "密钥", "密鑰", "金鑰", "令牌",
    "トークン", "キー", "シークレット", "키", "토큰",
)  # fmt: skip
_CARRIERS = (
    "bearer ", "basic ", "curl", "wget", "mysql", "mariadb", "sshpass", "login ", "redis-cli",
    "mongo", "machine ", ":5432:", "localhost:", "smb", "rpcclient", "ldap", "sqlcmd", "http ",
    "-----begin", "zip ", "7z ", "ssh-keygen", "net use", "sudo -s", "identified by", "masterauth",
    "rootpw", "kind: secret", "sessionid", "sessid", "session=", "sid=", "jdbc:oracle",
)  # fmt: skip
_JOINTS = ("=", ":", "：", ">", " is ", " was ", " ist ", " est ", " es ", "是", "は", "--", "为")
# The beginnings of tokens that may have only short parts or no digit, by chance.
_FIRST = (
    "k_live_", "k_test_", "k_prod_", "whsec_", "hooks.slack.com/", "xox", "xapp-", "api-key-",
    "sm_aat_", "sm_pat_", "sm_sat_", "glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glft-",
    "glffct-", "gloas-", "glsoat-", "glimt-", "glagent-", "GR1348941", "glsa_", "glc_", "hvs.",
    "hvb.", "hvr.", "LTAI", "sq0", "EAAA", "NRAK-", "NRII-", "NRJS-", "dckr_", "AKIA", "ASIA",
    "ABIA", "ACCA", "FLW", "access-", "duffel_", "pscale_", "fm1", "fm2_", "fo1_", "discord",
    "sk-ant-", "sk-proj-", "fio-u-", "eyJ", "ZXlK", "GOCSPX-", "AIza", "gho_", "ghp_", "ghr_",
    "ghs_", "ghu_", "ya29.", "sntrys_", "sntryu_", "ico-", "pnu_",
)  # fmt: skip
_LOOKS = 200  # places of a name that are examined
_NEAR = 30  # characters between a name and its joint
_DIGITS = frozenset("0123456789")
_HEX = "0123456789abcdef"
_APART = str.maketrans(dict.fromkeys("\"'`<>|,;:=(){}[]/.-_+*@#&?!~%$^\\", " "))
_SHORTEST = 15  # characters in a token, including its issuer's prefix
_PIECE = 8  # characters in its longest part
_LONG = 30  # hexadecimal digits that may be a secret
_REPEATED = 8  # characters in a value that is searched for in the rest of the text
_ROUNDS = 4
MOST_NAMED = 50  # secrets that a refusal names
_MOST_REPEATED = 50  # distinct values that are searched again

Place = tuple[str, int, int]  # as in secret_search.py
# Kinds, and texts that exempt a value; a function that returns them is called only for a secret.
Allowed = Iterable[str] | Callable[[], Iterable[str]]


class Secret(Declaration):
    """`line` counts from 1; `span` is the start and end of the value in the text."""

    kind: str
    line: int
    span: tuple[int, ...]


def found(text: str, allowed: Allowed = ()) -> tuple[Secret, ...]:
    """Every secret in `text` that is not allowed, in order."""
    if not _worth_a_search(text):
        return ()
    from contextkit.base import secret_search

    places = list(secret_search.places(text))
    if not places:
        return ()
    kept = tuple(allowed() if callable(allowed) else allowed)
    secrets: list[Secret] = []
    line = at = 0
    for kind, start, stop in _chosen(text, places, kept):
        line, at = line + text.count("\n", at, start), start
        secrets.append(Secret(kind=kind, line=line + 1, span=(start, stop)))
    return tuple(secrets)


def _chosen(text: str, places: list[Place], allowed: tuple[str, ...]) -> list[Place]:
    """The places that count, in order and without overlaps."""
    places = places + _again(text, places)
    public = [(start, stop) for kind, start, stop in places if kind in allowed]
    places = [p for p in places if p[0] != "random" or not _is_within(p, public)]
    chosen: list[Place] = []
    end = 0
    for kind, start, stop in sorted(places, key=lambda place: (place[1], -place[2])):
        if kind in allowed or any(part in text[start:stop] for part in allowed):
            continue
        start = max(start, end)  # of two that overlap, the second keeps only the remainder
        if start < stop:
            chosen.append((kind, start, stop))
            end = stop
    return chosen


def _is_within(place: Place, spans: list[tuple[int, int]]) -> bool:
    return any(start <= place[1] and place[2] <= stop for start, stop in spans)


def _worth_a_search(text: str) -> bool:
    """Whether there could be a secret at all: a cheap check that hot commands can afford."""
    lower = text.lower()
    if ("://" in text and "@" in text) or any(map(lower.__contains__, _CARRIERS)):
        return True
    if any(_is_joined(lower, name, 1) for name in _PASSWORDS if name in lower):
        return True
    if any(_is_joined(lower, name, 8) for name in _KEYS if name in lower):
        return True
    if not _may_hold_a_token(text):
        return False
    try:
        here = os.getcwd()  # whose path may contain `project2025`
    except OSError:  # it was removed
        return True
    return _may_hold_a_token(text.replace(here, "") if len(here) > 1 else text)


def _is_joined(lower: str, name: str, least: int) -> bool:
    """Whether a name has a sign or verb after it, and then a word of at least so many letters."""
    at = -1
    for _ in range(_LOOKS):
        at = lower.find(name, at + 1)
        if at < 0:
            return False
        end = at + len(name)
        ends = [end] if "--" in lower[max(0, at - _NEAR) : at] else []  # an option of a command
        near = lower[end : end + _NEAR].partition("\n")[0]
        ends += [end + near.find(joint) + len(joint) for joint in _JOINTS if joint in near]
        for end in ends:  # the first word that is more than a sign or two
            words = (word for word in lower[end : end + 200].split()[:3] if len(word) > 2)
            if len(next(words, "")) >= least:
                return True
        if least == 1 and not _DIGITS.isdisjoint("".join(lower[end : end + 200].split()[:4])):
            return True
    return True  # named so often that a search costs no more


def _may_hold_a_token(text: str) -> bool:
    """Whether letters or digits without a sign between them may be a part of a token.

    Words, numbers, times and short hexadecimal ids are not.
    """
    words = " ".join({word for word in text.split() if len(word) >= _SHORTEST})
    if any(map(words.__contains__, _FIRST)):
        return True
    for piece in words.translate(_APART).split():
        least = _PIECE if piece.strip(_HEX) else _LONG
        if piece.isalpha():
            least = _LONG if piece[1:].islower() or piece.isupper() else _SHORTEST
        is_time = len(piece) in (15, 16) and piece[:8].isdigit() and piece[8] == "T"
        if len(piece) >= least and not (piece.isdigit() or is_time):
            return True
    return False


def redacted(text: str, allowed: Allowed = ()) -> tuple[str, tuple[Secret, ...]]:
    """`text` with the values of its secrets replaced, and the secrets found."""
    every = tuple[Secret, ...]()
    for _ in range(_ROUNDS):  # what is next to one may be one
        secrets = found(text, allowed)
        if not secrets:
            break
        pieces, at = [""], 0
        for secret in secrets:
            pieces += [text[at : secret.span[0]], mark(secret.kind)]
            at = secret.span[1]
        text, every = "".join([*pieces, text[at:]]), every + secrets
    return text, every


def mark(kind: str) -> str:
    """The replacement for a secret; safe inside YAML, JSON, and Markdown."""
    return f"(redacted {kind})"


def checked(text: str, field: str, allowed: Allowed = (), redact: bool = False) -> str:
    """`text` as typed if it contains no secret; with `redact`, its secrets are replaced.

    Otherwise raises ContextError with the kind and line of each, and what to do.
    """
    if redact:
        return redacted(text, allowed)[0]
    if secrets := found(text, allowed):
        lines = [f"{field}:{s.line}: {refusal(s)}" for s in secrets[:MOST_NAMED]]
        more = [f"and {len(secrets) - MOST_NAMED} more"] if len(secrets) > MOST_NAMED else []
        raise bad_input("\n".join([*lines, *more, "nothing was written"]))
    return text


def typed(values: Any, allowed: Allowed, redact: bool = False) -> Any:
    """`checked` for every text in lists and fields; a secret is named by its field."""
    return changed(values, lambda text, field: checked(text, field, allowed, redact))


def cleaned(values: Any, allowed: Allowed) -> Any:
    """`redacted` for every text in lists and fields, when no person typed them."""
    return changed(values, lambda text, _: redacted(text, allowed)[0])


def changed(value: Any, change: Callable[[str, str], str], field: str = "") -> Any:
    """`value` with each text in its lists and fields replaced by `change(text, field name)`."""
    if isinstance(value, str):
        return change(value, field)
    if isinstance(value, list | tuple):
        items = enumerate(value, 1)
        return type(value)(changed(item, change, f"{field} {number}") for number, item in items)
    if isinstance(value, dict):
        return {
            name: changed(item, change, str(name)) if item else item for name, item in value.items()
        }
    return value


def summary(secrets: Iterable[Secret]) -> str:
    """The number of secrets of each kind: `2 github-token, 1 jwt`."""
    kinds = [secret.kind for secret in secrets]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))


def refusal(secret: Secret) -> str:
    """The message for a finding, with what to do."""
    return (
        f"looks like a secret ({secret.kind}): remove it, use redact=1, "
        "or list it under secrets_allow in contextkit.yaml and run make context_trust"
    )


def _again(text: str, places: list[Place]) -> list[Place]:
    """The other places where a value that was found occurs, whatever surrounds it there."""
    values = {text[start:stop]: kind for kind, start, stop in places if stop - start >= _REPEATED}
    others: list[Place] = []
    for value, kind in list(values.items())[:_MOST_REPEATED]:
        at = text.find(value)
        while at >= 0:
            others.append((kind, at, at + len(value)))
            at = text.find(value, at + len(value))
    return others
