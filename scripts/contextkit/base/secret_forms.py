"""Secrets that their place gives away: options of commands, lines of files, labels, headers.

A rule is a literal that a line must hold, in lower case, and a regular expression whose matched
groups are the value. No repetition is unbounded before another, and none stands inside another, so
that the search is linear in the length of the text.
"""

from __future__ import annotations

import functools
import re

from contextkit.base.type_names import Iterator

Form = tuple[str, int, int]  # how sure it is, start and end of the value in the text

CERTAIN = "certain"  # a secret whatever it is, unless it is a variable or a placeholder
MIXED = "mixed"  # a secret if letters and digits are in it
PHRASE = "phrase"  # a secret if it is some words and no sentence
MADE = "made"  # a secret if no person would have made it up

_QUOTED = r"""(?:'([^'\n]{1,400})'|"([^"\n]{1,400})"|([^\s'"|;&<>`,()\\]{1,400}))"""
_BARE = r"([^\s'\"|;&<>`]{1,400})"
_USER = r"""['"]?[^\s:'"]{1,100}:"""
_PIPED = rf"\b(?:echo|printf)(?: -\w)? {_QUOTED}\s{{0,9}}\|"
# What a line holds in lower case, and what follows the name of the command.
_COMMANDS = (
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
    (":", r"^[\w.*-]{1,200}:(?:\d{2,5}|\*):[^:\s/]{1,100}:[^:\s/]{1,100}:(\S{4,200})\r?$"),
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
_PASSWORDS = [
    *(
        "password passwd passphrase passwort kennwort contraseña contrasena senha parola wachtwoord"
        " hasło haslo heslo lösenord losenord adgangskode salasana şifre sifre jelszó пароль пароля"
        " паролем 密码 密碼 口令 パスワード 暗証番号 비밀번호 암호 κωδικός סיסמה"
    ).split(),
    "mot de passe",
    "parola d'ordine",
    "mật khẩu",
    "كلمة المرور",
]
_KEYS = [
    *(
        "schlüssel schluessel clé jeton clave llave chave chiave ключ токен секрет"
        " 密钥 密鑰 金鑰 令牌 トークン キー シークレット 키 토큰"
    ).split(),
    "clé secrète",
    "clé d'api",
    "clave secreta",
]
_COOKIES = "sessionid session_id phpsessid connect.sid session sid _gh_sess csrftoken".split()
# How sure a value is that follows one of these, and its form.
_NAMED = (
    (MIXED, _PASSWORDS, _AFTER),
    (PHRASE, _PASSWORDS, _PHRASE),
    (MADE, _KEYS, _AFTER),
    (MADE, ["authorization"], _HEADER),
    (MADE, _COOKIES, _COOKIE),
    (MADE, ["://"], r"([\w-]{20,200})@"),
)
_TABLE = r"(?im)^[ \t]*\|[ \t]*(?:password|passwd|passwort|passphrase)[ \t]*\|[ \t]*([^\s|]{6,200})"
_KIND = r"(?m)^kind:[ \t]*Secret\b"
_DATA = r"(?m)^(?:data|stringData):[ \t]*\n((?:[ \t]+\S.*\n?)+)"
_ENTRY = r"(?m)^[ \t]+[\w.-]{1,200}:[ \t]+[\"']?([^\s\"']{4,})"

_compiled = functools.cache(re.compile)  # most texts need few of them


def forms(text: str, lower: str) -> Iterator[Form]:
    """Every value that stands where a secret does; the caller judges it by how sure that is.

    `lower` is the text in lower case, of the same length.
    """
    for sure, literals, rule in _NAMED:
        for literal in literals:
            at = lower.find(literal)
            while at >= 0:
                if match := _compiled(rule).match(text, at + len(literal)):
                    yield sure, *match.span(1)
                at = lower.find(literal, at + 1)
    for row in _compiled(_TABLE).finditer(text) if "|" in text else ():
        yield MIXED, *row.span(1)
    yield from _typed(text, lower)
    if "kind: secret" in lower:
        yield from _of_cluster(text)


def _of_cluster(text: str) -> Iterator[Form]:
    """The values in the Secrets of a Kubernetes file, whose documents are cut by `---`."""
    at = 0
    for document in text.split("\n---"):
        is_secret = _compiled(_KIND).search(document)
        for data in _compiled(_DATA).finditer(document) if is_secret else ():
            for entry in _compiled(_ENTRY).finditer(document, *data.span(1)):
                yield CERTAIN, at + entry.start(1), at + entry.end(1)
        at += len(document) + 4


def _typed(text: str, lower: str) -> Iterator[Form]:
    """The values in single lines: of commands, of SQL, of files of passwords."""
    rules = [(command, _compiled(rule)) for command, rule in _COMMANDS if command in lower]
    at = 0
    for line in text.split("\n") if rules else ():
        small = lower[at : at + len(line)]
        for literal, rule in rules:
            if literal not in small:
                continue
            for match in rule.finditer(line):
                start, end = match.span(match.lastindex or 0)
                yield CERTAIN, at + start, at + end
        at += len(line) + 1
