"""Reviews in which a person reads a serious severity: none of them may come out clean.

    for name, text in mutants(seed=1, n=10_000):
        defect = judge(text)        # empty, or what came out

A mutant is a clean review with one serious finding put into it. Where it stands (place), how it
is written (form), with which word and in which characters is drawn from a grammar; `name` says
what was drawn, and the same seed gives the same mutants.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from contextkit.reviews.documents import agent_review

Form = Callable[[str, str], str]

_TITLES = (
    "Anyone can log in without a password",
    "The migration drops the orders table",
    "Tokens are written to the log",
    "Two writers lose one another's entries",
    "The upload path leaves its folder",
)
_NUMBERS = ("P0", "P1", "P0-1", "p0", "P1-2", "P-0", "P 1", "P.0")
_NAMES = (
    "Critical", "CRITICAL", "Blocker", "BLOCKER", "Fatal", "FATAL", "Must fix", "MUST FIX",
    "must-fix", "Severe", "High severity", "SEV-0", "Sev1", "Showstopper", "show-stopper",
    "Release blocker", "Critical issue", "blocking issue",
)  # fmt: skip
_ALARMS = ("🔴", "🚨")
_WORDS = (*_NUMBERS, *_NAMES, *_ALARMS)


# Clean reviews

_CLEAN = (
    """### Findings Index
- P2 | P2-1 | "Cache" | The cache is never emptied
- P3 | P3-1 | "Names" | Two names for one thing
- IMP | IMP-1 | "Docs" | Say what the flag does
Verdict: safe

### Summary
Small things only.

### Issues Found
#### P2-1. P2: The cache is never emptied
It grows by an entry a request, `src/cache.py:42`.
{here}

### Improvements
#### IMP-1. Say what the flag does
{there}
""",
    """### Findings Index
Verdict: safe

### Summary
Nothing was found.
{here}
{there}
""",
    """{there}
## Findings Index

| Severity | ID | Section | Title |
|----------|----|---------|-------|
| P3 | P3-1 | "Names" | Two names for one thing |

**Verdict:** safe

## Notes
{here}

<!-- flux-drive:complete -->
""",
    """<!-- run-uuid: 1b4e28ba -->
### Findings Index
- P2 | P2-1 | "Cache" | The cache is never emptied
{there}
Verdict: safe

### Summary
No P0. No P1 findings.
{here}
""",
    """### Findings Index
- IMP | IMP-1 | "Docs" | Say what the flag does
Verdict: safe

### Issues Found
P0: none
P1: none
#### IMP-1. Say what the flag does
{here}
{there}
<!-- flux-drive:complete -->
""",
)


# Forms: (word, title) -> the lines that say it


def _fenced(form: Form, language: str) -> Form:
    return lambda word, title: f"```{language}\n{form(word, title)}\n```"


_LINES: dict[str, Form] = {
    "severity line": lambda w, t: f"**Severity:** {w}",
    "severity item": lambda w, t: f"- Severity: {w}",
    "severity cell": lambda w, t: f"Severity | {w}",
    "severity row": lambda w, t: f"| Severity | {w} |",
    "severity dash": lambda w, t: f"Severity — {w}",
    "severity italics": lambda w, t: f"*Severity*: _{w}_",
    "severity with reason": lambda w, t: f"**Severity**: {w} — {t.lower()}",
    "priority line": lambda w, t: f"Priority: {w}",
    "heading before": lambda w, t: f"#### {w}: {t}",
    "heading after": lambda w, t: f"#### {t} — {w}",
    "heading in brackets": lambda w, t: f"#### [{w}] {t}",
    "heading in parentheses": lambda w, t: f"### {t} ({w})",
    "heading alone": lambda w, t: f"### {w}\n\n{t}.",
    "heading and list": lambda w, t: f"## {w}\n- {t}",
    "bold lead": lambda w, t: f"**{w}: {t}**",
    "bold word": lambda w, t: f"**{w}** — {t}",
    "bold in brackets": lambda w, t: f"**[{w}] {t}**",
    "list": lambda w, t: f"- {w}: {t}",
    "list in brackets": lambda w, t: f"- [{w}] {t}",
    "list in parentheses": lambda w, t: f"* ({w}) {t}",
    "numbered": lambda w, t: f"1. {w} - {t}",
    "box": lambda w, t: f"- [ ] {w}: {t}",
    "quote": lambda w, t: f"> {w}: {t}",
    "prose": lambda w, t: f"{t}. This is {w}.",
    "prose at the end": lambda w, t: f"{t}, rated {w}.",
    "footnote": lambda w, t: f"[^1]: {w}: {t}",
    "definition": lambda w, t: f"{t}\n: {w}",
    "table": lambda w, t: f"| Severity | Title |\n|---|---|\n| {w} | {t} |",
    "table at the end": lambda w, t: f"| Title | Level |\n|---|---|\n| {t} | {w} |",
    "html list": lambda w, t: f"<ul><li><b>{w}</b> {t}</li></ul>".replace("</b> ", "</b>: "),
    "html heading": lambda w, t: f"<h3>{w}: {t}</h3>",
    "html cells": lambda w, t: f"<tr><td>{w}</td><td>{t}</td></tr>",
    "html details": lambda w, t: f"<details><summary>{w}: {t}</summary>See below.</details>",
    "comment": lambda w, t: f"<!-- {w}: {t} -->",
    "json": lambda w, t: f'{{"severity": "{w}", "title": "{t}"}}',
    "json below a key": lambda w, t: f'{{"findings": [{{"level": "{w}", "what": "{t}"}}]}}',
    "yaml": lambda w, t: f"severity: {w}\ntitle: {t}",
    "yaml list": lambda w, t: f"issues:\n  - severity: '{w}'\n    title: {t}",
    "toml": lambda w, t: f'severity = "{w}"\ntitle = "{t}"',
    "csv": lambda w, t: f'{w},"Login","{t}"',
    "row with slashes": lambda w, t: f'- {w} / X-1 / "Login" / {t}',
    "row with semicolons": lambda w, t: f'- {w}; X-1; "Login"; {t}',
    "row with dots": lambda w, t: f'- {w} · X-1 · "Login" · {t}',
    "row with a broken bar": lambda w, t: f'- {w} ¦ X-1 ¦ "Login" ¦ {t}',
    "row with a wide bar": lambda w, t: f'- {w} ｜ X-1 ｜ "Login" ｜ {t}',
    "row with dashes": lambda w, t: f'- {w} — X-1 — "Login" — {t}',
    "row with tabs": lambda w, t: f'- {w}\t"Login"\t{t}',
    "row": lambda w, t: f'- {w} | X-1 | "Login" | {t}',
    "after a denial": lambda w, t: f"No other P0. {w}: {t}",
    "behind a denial": lambda w, t: f"There is no doubt: {w} — {t}",
    "behind the scale": lambda w, t: f"The scale is P0, P1, P2, P3. {t}: {w}.",
    "with the scale": lambda w, t: f"Severity: blocker, major, minor, and this one is {w}; {t}.",
}
_FORMS: dict[str, Form] = {
    **_LINES,
    "json in a fence": _fenced(_LINES["json"], "json"),
    "yaml in a fence": _fenced(_LINES["yaml"], "yaml"),
    "list in a fence": _fenced(_LINES["list"], ""),
    "heading in a fence": _fenced(_LINES["heading before"], "markdown"),
    "row in a fence": _fenced(_LINES["row"], "text"),
}


# Characters: the same word, spelled so that it still looks the same

_CYRILLIC = str.maketrans("PSCEHaceopxyiTBMK", "РЅСЕНасеорхуіТВМК")
_GREEK = str.maketrans("PBEHIKMTov", "ΡΒΕΗΙΚΜΤον")
_BOLD = {
    **{ord("A") + n: 0x1D400 + n for n in range(26)},
    **{ord("a") + n: 0x1D41A + n for n in range(26)},
    **{ord("0") + n: 0x1D7CE + n for n in range(10)},
}
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def _split(word: str, mark: str) -> str:
    return word[0] + mark + word[1:]


_SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda w: w,
    "lower case": lambda w: w.lower(),
    "full width": lambda w: w.translate(_WIDE),
    "cyrillic": lambda w: w.translate(_CYRILLIC),
    "greek": lambda w: w.translate(_GREEK),
    "mathematical bold": lambda w: w.translate(_BOLD),
    "zero width": lambda w: _split(w, "\u200b"),
    "joiner": lambda w: _split(w, "\u2060"),
    "soft hyphen": lambda w: _split(w, "\u00ad"),
    "variation selector": lambda w: _split(w, "\ufe0f"),
    "combining": lambda w: _split(w, "\u0338"),
    "dot above": lambda w: _split(w, "\u0307"),
    "no-break blank": lambda w: w.replace(" ", "\u00a0"),
    "wide zero": lambda w: w.replace("0", "０").replace("1", "１"),
    "circled": lambda w: w.replace("0", "⓪").replace("1", "①"),
    "arabic digit": lambda w: w.replace("0", "٠").replace("1", "١"),
    "letter for digit": lambda w: w.replace("P0", "PO").replace("P1", "Pl"),
    "bold inside": lambda w: f"{w[0]}**{w[1:]}**",
    "code": lambda w: f"`{w}`",
    "struck": lambda w: f"~~{w}~~",
    "tag inside": lambda w: f"{w[0]}<b>{w[1:]}</b>",
    "span": lambda w: f'<span class="x">{w}</span>',
    "entity": lambda w: "".join(f"&#{ord(char)};" for char in w),
    "hexadecimal entity": lambda w: f"&#x{ord(w[0]):x};{w[1:]}",
    "escape": lambda w: f"\\u{ord(w[0]):04x}{w[1:]}" if ord(w[0]) < 65536 else w,
    "link": lambda w: f"[{w}](#x)",
}

# Statements: what a reader takes for serious without a word of the design

_LEADS = (
    "Kritisch", "Critique", "Crítico", "Critico", "Kritiek", "Kritisk", "Kriittinen", "Krytyczne",
    "Kritické", "Kritikus", "Critic", "Kriitiline", "Kritiski", "Kritinė", "Критично",
    "Критическая", "Κρίσιμο", "Kritik", "严重", "嚴重", "重大", "심각", "حرج", "קריטי", "गंभीर",
    "Nghiêm trọng", "วิกฤต",
)  # fmt: skip
_REFUSALS = (
    "FAIL", "REJECT", "Rejected", "needs-changes", "risky", "Do not merge", "Not ready", "Block",
    "Blocked", "Request changes", "Changes requested", "NO-GO", "unsafe", "failed", "NACK", "👎",
    "Not approved", "Hold", "Needs work", "Revise", "Not safe",
)  # fmt: skip
_STATEMENTS = (
    *(f"**{word}:** login() loses data" for word in _LEADS),
    *(f"{label} {word}" for word in _REFUSALS
      for label in ("**Overall verdict:**", "Decision:", "Overall:", "Conclusion:",
                    "## Verdict\n\n")),
    "Severity counts: P0: 1, P1: 2, P2: 0, P3: 0",
    "Counts: 1 critical, 2 high",
    "#### Critical-1. login() loses data",
    "I could not review the change: the diff was empty",
    "I reviewed 3 of 41 files", "Read 3 files out of 41.", "J'ai lu 3 fichiers sur 41.",
    "Ich konnte die Änderung nicht prüfen.", "No pude revisar el cambio.", "My vote is -2.",
    "変更をレビューできませんでした。", "Не удалось открыть файлы.", "The diff file is empty.",
    "LGTM? No.", "Code-Review -1",
)  # fmt: skip
_WRAPS = ("{}", "- {}", "> {}", "<p>{}</p>", "```\n{}\n```", "\u200b{}")


def mutants(seed: int, n: int) -> Iterator[tuple[str, str]]:
    """`n` reviews that each say something serious, with a name that says how."""
    draw = random.Random(seed)
    for number in range(n):
        base = draw.randrange(len(_CLEAN))
        word = draw.choice(_WORDS)
        form = draw.choice(list(_FORMS))
        plain = draw.random() < 0.4
        spelling = "plain" if plain or word in _ALARMS else draw.choice(list(_SPELLINGS))
        place = draw.choice(("{here}", "{there}"))
        said = _FORMS[form](_SPELLINGS[spelling](word), draw.choice(_TITLES))
        if draw.random() < 0.3:
            form, word = draw.choice(_WRAPS), draw.choice(_STATEMENTS)
            spelling, said = "a statement", form.format(word)
        other = "{there}" if place == "{here}" else "{here}"
        text = _CLEAN[base].replace(place, said).replace(other, "")
        if draw.random() < 0.1:
            text = text.replace("\n", "\r\n")
        yield f"seed {seed}, {number}: {word}, {form!r}, {spelling}, {place} of review {base}", text


def originals() -> list[str]:
    """The clean reviews that mutants are made of, with nothing put into them."""
    return [text.replace("{here}", "").replace("{there}", "") for text in _CLEAN]


def judge(text: str) -> str:
    """What is wrong with how a mutant comes out; empty where it needs attention."""
    status, flags = agent_review.effective_status(agent_review.parse(text))
    return f"comes out {status} {' '.join(flags)}".strip() if status == "CLEAN" else ""
