"""proof.py: what keeps a review from being clean, wherever and however it stands."""

from __future__ import annotations

import re

import review_mutants as torture
import review_styles
from conftest import each
from contextkit.reviews.documents import agent_review, complaints
from contextkit.reviews.documents.agent_review import Review
from contextkit.reviews.documents.index import Terms
from contextkit.reviews.documents.vocabulary import SERIOUS

STANDS = (
    "*Severity*: _\u04201-2_",
    "**Severity:** P0",
    "#### Title — P0",
    "Severity | P0",
    "🔴 login open",
    "- [🔴] login open",
    "This is a P0 issue",
    "BLOCKER: x",
    "- Fatal: anyone can log in",
    "Must fix: the login",
    "<td>P0</td><td>Login</td>",
    '{"severity": "critical", "id": 3}',
    "severity: blocker",
    "Ｐ０ login",
    "Р0 login",
    "P\u200b0 login",
    "P\u03380 login",
    "P**0** login",
    "P&#48; login",
    '"sev": "P\\u0030"',
    '- P0 · P0-1 · "Login" · open',
    "no doubt this is a P0",
    "No, P0: login open",
    "P0: no input validation",
    "The race is <P0> here.",
    "<critical>The race loses data.</critical>",
    "P0: none of the inputs are checked",
    "no P0 except login",
    "10 critical",
    "0 P2, 1 P0",
    "No blockers, P0: login open",
    "P0: 1",
    "| P0 | 1 |",
    '"P0": 2',
    "not only P0",
    "<!-- P0 login -->",
    "Critical — the login",
    "### Critical",
    "[HIGH] x",
    "Priority: High",
    "Impact: High severity",
    "This is critical.",
    "sev-0 outage",
    "P-0: x",
    "P 0: x",
    "PO: x",
    "p0_count: 1",
    "Do not merge this.",
    "blοcker: x",
    "B L O C K E R",
    "title (P0)",
    "No P0 findings were fixed.",
    "🅿️0️⃣ x",
    "P0 - login",
    "P\u115f0 login",
    "P٠ login",
    "P१ login",
    "🅒🅡🅘🅣🅘🅒🅐🅛: login",
    "🅱🅻🅾🅲🅺🅴🆁: login",
    "🇧🇱🇴🇨🇰🇪🇷: login",
    "\u202enigol 0P",
    '"\\ud83d\\udd34 login"',
    "P0 - critical: login is open",
    "The login (critical) is open",
    'It says "critical" about the login',
    "The login is open to all: critical",
    "It has a critical error",
    "It has a severe error",
    "It has a fatal bug",
    '<td title="P0|P1|P2|P3">P0</td>',
    "The login is critical",
    "The login is critical. Fix it",
    "x" * 5_000 + " P0",
)
DENIED = (
    "no P0",
    "No P0 or P1 issues.",
    "No P0, P1 or P2 findings.",
    "P0: none",
    "0 critical",
    "0 P0, 0 P1, 2 P2",
    "- P0: 0, P1: 0, P2: 3",
    "| P0 | 0 |",
    "| Critical | 0 | No change |",
    '"P0": 0,',
    "p0_count: 0",
    "critical_issues: 0",
    "No critical issues found.",
    "**APPROVED** (0 Critical, 0 High, 0 mandatory Medium changes)",
    "No new critical or high-severity vulnerabilities were found.",
    '- P0|P1|P2|P3|IMP | ID | "Section" | Title',
    "Severity scale: P0 (critical), P1 (high), P2 (medium), P3 (low)",
    "The critical path is short.",
    "a critical section of the code",
    "high confidence",
    "Confidence: high",
    "| Confidence | High |",
    "non-blocking",
    "Critical (0)",
    "P0 (none)",
    "This is not a P0.",
    "The retry is high throughput.",
    "This is P2, not P1",
    "✅ **No Critical Issues Found**",
    "**Severity Levels Found:** None (0 Critical, 0 High, 0 Medium, 0 Low)",
    "- Non-Critical: fine",
    "P0: None.",
    "P0 — none",
    "P0 findings: none; P1 findings: none",
    "Neither P0 nor P1 findings.",
    "zero P0s",
    "- **Critical:** None",
    '- SEVERITY | ID | "Section" | Title',
    "Verdict: safe|needs-changes|risky",
    "### Critical Issues\n\nNone found.",
    "### P0\n- None",
    "**Critical:**\nNone",
    "## Critical Security Issues (P0)\n\n### ✅ **No Critical Issues Found**",
    "## Legend\n- P0: blocks the release\n- P1: soon\n- P2: later\n- P3: sometime",
    "| P0 | P1 | P2 |\n|---|---|---|\n| 0 | 0 | 2 |",
    "- [ ] No P0 or P1 bugs open against the release",
    "These are polish, NOT blockers.",
    "Nothing here is a P0. P1-1 of the last review is gone.",
    "### P0 — Critical Structural Issues\n\nNone found.",
    "#### Category: CRITICAL Issues (Severity: CRITICAL — Count: 0)\n*No critical issues found.*",
    'It says "high" about the login',
    "| The critical path is short | x |",
    "We looked at this, critical paths first",
    "The retry ends with a fatal error",
    "the value 0P of it",
    "Any P0: risky",
    "Any P1: needs-changes",
    "Rate each P0/P1/P2/P3",
    "\\u{110000}",
    "| P0 | - | x |",
    "| Part | P0 |\n|---|---|\n| a | 0 |\n| b | - |\n| c | – |\n| d | — |\n| e | none |\n| f |  |",
    "Severity: critical, high, medium, low",
    "Severity: critical, high, medium, low or imp",
    "Severity: P0, P1, P2 or P3",
    "Severity: P0, P1, P2, P3 or IMP",
    "Severity levels:\n- P0: blocks the release\n- P1: soon",
    "**Legend**\n- P0: blocks the release",
    "## Legend\n- P0: blocks the release\n- P1: less than P0",
    "## Legend\n- P0: worse than P1\n- P1: soon",
    "Confidence | Title | Value\n---|---|---\nHigh | x | High",
    "| Confidence | Title | Value |\n|---|---|---|\n| High | x | High |",
    "fine\n" * 45 + "| P0 | P1 |\n|---|---|\n| 0 | 0 |",
)
# Lines that a person may read either way, or that only a grammar could take back: they are doubted,
# and their reviewer is asked.
ABSTAINED = (
    "Confidence | Title | Value\n---|---|---\nHigh | x | High",
    "| Confidence | Title | Value |\n|---|---|---|\n| High | x | High |",
    '- P0|P1|P2|P3|IMP | ID | "Section" | Title',
    "Verdict: safe|needs-changes|risky",
    "## Legend\n- P0: blocks the release\n- P1: soon\n- P2: later\n- P3: sometime",
    "| The critical path is short | x |",
    "The retry ends with a fatal error",
    "| P0 | - | x |",
    "| Part | P0 |\n|---|---|\n| a | 0 |\n| b | - |\n| c | – |\n| d | — |\n| e | none |\n| f |  |",
    "Severity levels:\n- P0: blocks the release\n- P1: soon",
    "**Legend**\n- P0: blocks the release",
    "## Legend\n- P0: blocks the release\n- P1: less than P0",
    "## Legend\n- P0: worse than P1\n- P1: soon",
    "major, minor, patch = version.split()",
    "There is nothing in this change that would be no\nP0 or that is a P2",
    "Nothing here is a P0. P1-1 of the last review is gone.",
    "The P0 of the last round is\nfixed now and covered by a test.",
    "Ok. Not all is well. P0-1 is fixed.",
)


def reviewed(text: str) -> Review:
    """A clean review with a text below its summary."""
    return agent_review.parse(
        f"### Findings Index\nVerdict: safe\n\n### Summary\nFine.\n\n{text}\n"
    )


def is_clean(review: Review) -> bool:
    return agent_review.effective_status(review)[0] == "CLEAN"


@each("line", STANDS)
def test_a_serious_severity_stands(line: str) -> None:
    assert not is_clean(reviewed(line))


@each("text", [text for text in DENIED if text not in ABSTAINED])
def test_a_severity_that_is_denied_on_the_spot_does_not(text: str) -> None:
    assert reviewed(text).doubts == () and is_clean(reviewed(text))


@each("text", ABSTAINED)
def test_what_cannot_be_told_is_doubted(text: str) -> None:
    assert not is_clean(reviewed(text))


@each(
    "text",
    [
        "## Legend\n- P0: `login.py:3` lets anyone in",
        "### P0\nNone of the endpoints asks for a password",
        "| P0 | P1 |\n|---|---|\n| 0 | 1 |",
        "P0: none\nP0: anyone can log in",
        "No P0, but P1: a session never ends",
        "P0-1 is not fixed.",
        "P0-1: anyone can log in, which should be fixed.",
        "P0-1 was fixed in a branch that nobody merged.",
    ],
)
def test_a_denial_of_one_thing_takes_nothing_else_back(text: str) -> None:
    assert not is_clean(reviewed(text))


@each(
    "line",
    [
        line
        for line in [
            "Keine P0- oder P1-Befunde.",
            "没有 P0 或 P1 问题。",
            "P0 なし、P1 なし。",
            "Ningún P0 ni P1.",
            "Nothing here blocks the merge.",
            "Nothing reaches P1.",
            "Any P0? No.",
            "🔴 0 · 🟠 0 · 🟡 1",
            "> Any P0 means the verdict is risky.",
            "major, minor, patch = version.split()",
            "`src/critical.py` and tests/test_p0_rows.py were read",
            "thinking: [low | medium | high]",
            "There is nothing in this change that would be no\nP0 or that is a P2",
            "The P0 of the last round is\nfixed now and covered by a test.",
            "Severity: P0 (critical, blocker), P1 (high, major), P2 (medium), P3 (low)",
            "| P0 | P1 |\n|---|---|\n| 0 | 0 |",
            "| Title | Confidence |\n|---|---|\n| x | High |",
            "Title | Confidence\n---|---\nx | High",
            "a line with no end " * 150,
            "Ok. Not all is well. P0-1 is fixed.",
        ]
        if line not in ABSTAINED
    ],
)
def test_what_takes_back_may_be_in_other_words_or_on_the_next_line(line: str) -> None:
    assert is_clean(reviewed(line))


@each(
    "line",
    [
        "Keine Tests. P0: login offen",
        "Keine P0 außer dem Login",
        "没有 P0 除了登录",
        "P0 なしではない",
        "Nothing but this blocks the merge.",
        "Any P0? Yes.",
        "🔴 1 · 🟠 0",
        "Any P0 in login is open.",
        "`src/login.py:3` P0",
        '<div data-severity="P0">x</div>',
        '<f severity="blocker">x</f>',
        "![x](https://img.example.org/badge/severity-critical-red)",
        "KRITISCH: login offen",
        "严重: 没有密码",
        "The change is small and there is no\nP0: login open to anyone",
        "The P0 of the last round is fixed in part and covered by a test.",
        "There is no such\nP0 login is open to anyone",
        "Ｐ１ login",
        "🇵0 login",
        "🅢ev-0 outage",
        "See the **Legend**\nP0: blocks the release",
        "<div data-severity=P0>x</div>",
        "| Severity | Confidence |\n|---|---|\n| High | High |",
        "## Legend\n- P0: blocks the release\n- P0: anyone can log in",
        "## Legend\n- P0: P1 and P2 are closed, this is not",
        "## Legend\nThe login has a P0",
        "## Legend\n- P2: later\n## Login\n- P0: anyone can log in",
        "## Legend\n- P2: later\n**Login**\n- P0: anyone can log in",
        "## Login\n- P0: anyone can log in",
        "Login:\n- P0: anyone can log in",
        "Known P0 bugs in login issues\nNone.",
        "## P0 in login\nNone.",
        "P0 login is open\nNone.",
        "Login is open: P0\nNone.",
        "P0: none of the inputs are checked, nothing",
        "## The key to all of the login\n- P0: anyone can log in",
        "- In the whole change there is no\nP0 login is open to anyone",
        "The change | is small and has no\nP0 login is open to anyone",
        "The review of it all found this P0:\nnone; the login is open to anyone",
        "The change is small and there is no\n\nP0 login is open to anyone",
        "word " * 50 + "and there is no\nP0 login is open to anyone",
        "The change is small and there is no\nP0 login is open to anyone " + "word " * 50,
    ],
)
def test_what_only_looks_like_a_denial_takes_nothing_back(line: str) -> None:
    assert not is_clean(reviewed(line))


def test_of_clean_reviews_of_free_form_at_most_a_tenth_is_doubted_each_with_its_line() -> None:
    every = {name: agent_review.parse(text) for name, text in review_styles.clean().items()}
    doubted = {name: review for name, review in every.items() if not is_clean(review)}
    assert len(doubted) * 10 <= len(every)
    assert all("line" in review.doubts[0] for review in doubted.values())


def test_of_clean_reviews_by_contract_none_is_doubted() -> None:
    for name, (text, terms) in review_styles.by_contract().items():
        review = agent_review.parse(text, terms=terms)
        assert (review.doubts, is_clean(review)) == ((), True), name


@each(
    "line",
    [
        "P0-1 is not fixed: the token is still logged.", "P0-1 is only partly fixed.",
        "P0-2: the login is open to anyone.", "| login | open | 3 ms |", "P0-1 remains open.",
        "P0-1 came back.", "P0-1: the token is logged", "P0-1 is open again.",
        "P0-1 has no fix yet.",
        "High priority: mend the login", "the login: Anyone can log in",
    ],
)  # fmt: skip
def test_what_a_second_look_says_otherwise_is_a_doubt(line: str) -> None:
    text, terms = review_styles.by_contract()["a second look"]
    said = text.replace("### Issues", f"{line}\n\n### Issues")
    assert not is_clean(agent_review.parse(said, terms=terms))


TOOLS = {name: (text, wanted) for name, text, wanted in review_styles.tools()}


@each("name", TOOLS)
def test_the_serious_findings_of_a_tool_are_read_with_their_places(name: str) -> None:
    text, wanted = TOOLS[name]
    found = [one for one in agent_review.parse(text).findings if one.severity in SERIOUS]
    assert [one.severity for one in found] == [one["severity"] for one in wanted]
    for one, row in zip(found, wanted, strict=True):
        assert re.search(row["title"], one.title)
        assert re.search(row["place"], f"{one.file}:{one.at}")


@each("name", review_styles.serious())
def test_a_serious_finding_is_read_in_any_place(name: str) -> None:
    assert torture.judge(review_styles.serious()[name]) == ""


def test_a_review_with_a_severity_beside_its_index_names_the_line() -> None:
    text = "### Findings Index\nVerdict: safe\n\n### Issues Found\n**Severity:** P0\n"
    review = agent_review.parse(text)
    assert agent_review.effective_status(review) == ("NEEDS_ATTENTION", ("serious_at_line_5",))
    assert review.unparsed == ("5: **Severity:** P0",)
    assert review.doubts == ("line 5 says P0, which its index lacks",)


@each("heading", ["Summary", "Notes", "Final assessment", "Error handling"])
@each("label", ["**Risk:** high", "- Severity: High", "Severity: `High`", "Impact: Major"])
def test_a_label_below_a_heading_of_no_finding_is_named_by_its_own_line_and_words(
    heading: str, label: str
) -> None:
    review = reviewed(f"### {heading}\nIt is small.\n\n{label}\n\nIt was tested.")
    assert review.doubts == ("line 10 says P1, which its index lacks",)
    told = {each.severity: (each.line, each.title) for each in review.findings}
    assert told == {"P1": (10, label.strip("- ").replace("*", "").replace("`", ""))}


# The four lines of a contract

PROVED = """<!-- run-uuid: r-1 -->
### Findings Index
- P2 | P2-1 | "Cache" | The cache is never emptied
Verdict: safe

### Summary
Read: 41 of 41 files
Counts: P0 0, P1 0, P2 1, P3 0
The change is small. I looked for P0 and P1 problems and found none.

### Issues Found
#### P2-1. P2: The cache is never emptied
`src/cache.py:42` grows by an entry a request.
Fix: limit it.

### Improvements
None.
"""


def proved(text: str, files: int = 41, still: tuple[str, ...] = ()) -> Review:
    return agent_review.parse(text, "review", Terms(files=files, open=still))


def test_a_review_written_to_the_contract_is_clean() -> None:
    assert is_clean(proved(PROVED)) and is_clean(proved(PROVED, 0))


@each("said", [
    "The scale is blocker, major, minor. This one is a blocker.",
    "The scale is blocker, major, minor; this one is a blocker.",
    "Severity: blocker, major, minor. The login is a blocker.",
    "Levels: P0, P1, P2. The login is critical.", "Scale: P1, P2, P3. P0: login is open",
    "The severities are critical, high, medium, low, and the login is critical.",
    "Severity scale: P0 > P1 > P2. P0: login is open",
    "P0 = data loss. P1 = wrong result. The login is critical.",
    "The scale is P0, P1, P2, P3. I request changes.",
    "The scale is P0, P1, P2, P3; I could not read the diff.",
])  # fmt: skip
def test_a_line_with_the_scale_says_more_where_a_grade_or_a_sentence_goes_on(said: str) -> None:
    for place in ("The change is small.", "Fix: limit it."):
        assert not is_clean(proved(PROVED.replace(place, f"Small.\n\n{said}\n\n")))


@each("said", [
    "Severity scale: P0 blocks. P1 soon. P2 later. P3 sometime.",
    "Severity: P0 (critical, blocker); P1 (high, major); P2 (medium); P3 (low).",
    "P0 = do not merge. P1 = fix soon.", "P0 = data loss; P1 = wrong result; P2 = the rest.",
    "The scale is P0, P1, P2, P3. None applies.", "Levels: P0 to P3. I found one P2.",
])  # fmt: skip
def test_a_scale_may_take_several_sentences(said: str) -> None:
    assert is_clean(proved(PROVED.replace("The change is small.", f"Small.\n\n{said}\n\n")))


@each("said", [
    "The change is small and well tested.", "Overall: a small change with good tests.",
    "Overall: good.", "Verdict: safe", "Decision: approve", "No P0 and no P1 findings.",
    "Critical: 0 | High: 0", "All 41 files were read to their end.",
    "The locks are taken in one order, so nothing waits for ever.",
    "I ran the tests of `src/cache.py`; they pass.", "Die kritischen Pfade sind getestet.",
    "From P0 to P3 there is nothing to index.", "P0 bis P3: nichts zu melden.",
    "Severity P0 to P3 were considered; nothing to index.", "Sin hallazgos críticos.",
    "Status: unchanged since the last run",
])  # fmt: skip
def test_what_a_clean_review_says_of_itself_is_no_doubt(said: str) -> None:
    assert is_clean(proved(PROVED.replace("The change is small.", f"\n{said}\n\n")))


@each("said", [
    "Overall: FAIL", "Overall: Hold", "Decision: Not safe", "**Overall verdict:** NACK",
    "Overall: 👎", "**Critic:** parola", "**Kriitiline:** parool",
    "There is no test, so I request changes.", "It is no surprise that this needs changes.",
    "Conclusion: BLOCK", "## Verdict: Rejected", "| Verdict | No go |", "Overall: no go",
    "Decision: no merge", "Fazit: Abgelehnt",
    "Conclusion: refusé", "## Verdict\n\nBLOCK",
    "## Final verdict\n\nRechazado", "**Verdict**\n\nStop", "### Verdict\n却下", "## Verdict\n👎",
    "My vote is -2.", "my vote: -2", "Voting -1.", "Code-Review -2", "-1 from me.", "Not LGTM.",
    "LGTM? No.", "Ready to merge? Not yet.", "Approval: withheld", "This is not acceptable.",
    "The open login keeps me from approving.",
])  # fmt: skip
def test_a_second_verdict_is_a_doubt_even_below_a_finding(said: str) -> None:
    for place in ("The change is small.", "Fix: limit it."):
        assert not is_clean(proved(PROVED.replace(place, f"\n{said}\n\n")))


@each("said", [
    "Coverage: 7%", "Coverage: 97.5 %", "I read 40% of the files.",
    "- [ ] Security: login is open", "My verdict is that this is unsafe to merge.",
    "In short, the verdict: hold it.", "I only looked at three of the files.",
    "I had no access to the repository.", "Only the first file was read.",
    "Recommendation: block", "Assessment: unsafe", "Approval: denied",
    "Die kritischen Fehler sind offen.", "P0 to P3: nothing stops a stranger.",
    "We never got the tests to run.",
    "- The login crashes when the name is empty.", "- Přihlášení spadne, když je jméno prázdné.",
    "- [ ] The login lets everyone in", "* [ ] Heslo se neověřuje", "severity=1", "Severity: 4",
    "Risk: gewaltig", "**Passwords are in plain text** in `db.py:9`.",
    "So darf das auf keinen Fall ausgeliefert werden.",
    "N'importe quel employé peut lire les mots de passe.", "(minor) 認証がない。必ず修正が必要。",
])  # fmt: skip
def test_what_a_review_says_beside_its_index_is_a_doubt_that_names_its_line(said: str) -> None:
    for text in (PROVED, PROVED.replace("and P1 problems", "problems")):
        review = proved(text.replace("The change is small.", f"The change is small.\n\n{said}\n\n"))
        assert not is_clean(review) and review.doubts[0].startswith("line 11 ")


@each("said", [
    "## Checked\n- the login lets anyone in", "## Checked\n- **Kriittinen**: kirjautuminen katoaa",
    "## Strengths\n- **Fast**: it crashes",
    "## Security checks\n- Keys: none\n\n| Check | What |\n|---|---|\n| Keys | key in `a.py:3` |",
    "## Strengths\n- **Kriittinen**: kirjautuminen hukkaa kaikki tiedot",
    "## Considered and rejected\n- Injection in `q.py`: still possible, anyone can read all rows.",
])  # fmt: skip
def test_no_heading_explains_what_is_grave_below_it(said: str) -> None:
    assert not is_clean(reviewed(said))
    assert is_clean(reviewed(f"{said.partition('- ')[0]}- **Fast**: it reads a row once"))


@each("said", [
    "- the login lets anyone in", "- P1: the lock", "Overall: FAIL", "I read 2 of 3 files.",
    "This is critical.", "#### Critical-1. The lock is never released",
    "- Empty name: the server crashes", "#### Data loss on restart", "**Deadlock of two writers**",
])  # fmt: skip
def test_what_is_grave_is_a_doubt_below_what_was_tried_too(said: str) -> None:
    by_contract = review_styles.by_contract()
    text, terms = by_contract["with what was tried under Checked, in another language"]
    told = text.replace("- Leere Datei", f"{said}\n- Leere Datei")
    assert told != text and not is_clean(agent_review.parse(told, terms=terms))


@each("line", ["High", "High.", "[High]", "Overall severity of this: high",
               "Risk of this change: very high"])  # fmt: skip
def test_a_grade_that_stands_alone_is_a_doubt_below_any_heading(line: str) -> None:
    for heading in ("Summary", "Strengths", "Improvements", "Checked", "Scope"):
        assert not is_clean(reviewed(f"### {heading}\nIt is small.\n\n{line}\n\nMore."))


@each("said", [
    "Confidence level: high", "**Confidence level:** High", "Level of detail: high",
    "Quality level: very high", "Test coverage level: high", "Severity threshold: high",
])  # fmt: skip
def test_what_is_measured_on_a_scale_of_its_own_is_no_severity(said: str) -> None:
    assert is_clean(proved(PROVED.replace("The change is small.", f"Small.\n\n{said}\n\n")))


@each("said", [
    "J'ai lu 3 fichiers sur 41.", "Read 3 files of 41.", "Reviewed 3 files out of 41.",
    "Files reviewed: 3 (of 41)", "Coverage: 3/41", "Ho letto 3 file su 41.",
    "Ik heb 3 van de 41 bestanden gelezen.", "41 ファイル中 3 ファイルを読みました。",
    "41 个文件中读了 3 个。", "The diff file is empty.", "The diff has no content.",
    "There was no diff.", "The input was missing.", "The rest was too long to read.",
    "The remaining 38 files are unread.", "I stopped after 3 files.", "This is a guess.",
    "I have looked at about half of the files.", "We read only some of it.", "Bugs: 3",
    "## Rollback plan\n\nNone of it works", "I skipped three files.",
    "I assume the change is fine.", "**login() loses data.** It drops the row.",
])  # fmt: skip
def test_who_read_or_wrote_less_than_all_is_doubted(said: str) -> None:
    assert not is_clean(proved(PROVED.replace("The change is small.", f"Small.\n\n{said}\n\n")))


@each("said", [
    "I read lines 3 to 41 of the file.", "I read 3 files and 41 tests.", "Tests: 3, files: 41",
    "1 of the 41 tests is new.", "Bugs: 0", "Bugs: none",
    "## Verdict\n\nGood to merge.", "## Verdict\n\nThe change is small and can go in.",
    "The suite passes (412 passed, 3 skipped).", "## Rollback plan\n\nNone that I can see.",
    "Checked against the rules: no secret is logged.", "Pros: simple, tested.",
    "Considered and dismissed: a stampede when the cache expires.",
    "I looked for blocking calls in async code.",
    "Thread safety: the counter is only touched by one thread.", "### Data loss\n\n- None",
    "## Verdict\n\nsafe", "Conclusion: safe to merge", "Overall: no issues", "Decision: none",
    "Conclusion: the change is small and fine",
    "**No data is lost.** The lock is held.", "**Fast.** It reads a row once.",
    "**Race conditions:** none found.", "The rest is too long to paste here.", "None is unread.",
])  # fmt: skip
def test_who_counts_other_things_or_passes_is_not_doubted(said: str) -> None:
    assert is_clean(proved(PROVED.replace("The change is small.", f"Small.\n\n{said}\n\n")))


@each("said", [
    "Ich konnte die Änderung nicht prüfen.", "Der Diff war leer.", "Le diff était vide.",
    "Die Dateien konnten nicht geöffnet werden.", "Je n'ai pas pu lire le diff.",
    "Impossible d'ouvrir les fichiers.", "No pude revisar el cambio.", "El diff estaba vacío.",
    "No se pudo abrir el repositorio.", "Não consegui abrir os arquivos.", "O diff estava vazio.",
    "Non ho potuto leggere i file.", "Il diff era vuoto.", "Я не смог просмотреть изменения.",
    "Не удалось открыть файлы.", "Diff был пуст.", "Ik kon de wijziging niet bekijken.",
    "Jag kunde inte läsa filerna.", "Nie mogłem otworzyć plików.", "差分は空でした。",
    "変更をレビューできませんでした。", "ファイルを開けませんでした。", "无法审查该更改。",
    "差异为空。", "변경 사항을 검토할 수 없었습니다.", "파일을 읽지 못했습니다.",
    "I skimmed most of it.",
])  # fmt: skip
def test_who_could_not_read_says_so_in_any_of_the_languages(said: str) -> None:
    assert not is_clean(proved(PROVED.replace("The change is small.", f"Small.\n\n{said}\n\n")))
    text = f"### Findings Index\nVerdict: safe\n\n### Summary\nSmall.\n{said}\n"
    assert not is_clean(agent_review.parse(text))


@each("said", [
    "Ich habe alles gelesen und konnte keine Fehler finden.", "Alles geprüft, nichts gefunden.",
    "Beim Lesen konnte ich nichts Kritisches entdecken.", "Der Cache ist leer, der Diff klein.",
    "J'ai tout lu et n'ai pas pu trouver de problème.", "Leí todo y no pude encontrar errores.",
    "No encontré problemas al revisar el código.", "Li tudo e não consegui quebrar nada.",
    "Ho letto tutto e non sono riuscito a trovare problemi.", "Я всё прочитал и не нашёл ошибок.",
    "Я прочитал всё, сломать не удалось.", "すべてレビューしましたが、問題は見つかりませんでした。",
    "我阅读了所有文件，没有发现问题。", "모두 읽었지만 문제를 찾지 못했습니다.",
])  # fmt: skip
def test_who_read_all_and_could_find_nothing_is_not_doubted(said: str) -> None:
    assert is_clean(proved(PROVED.replace("The change is small.", f"Small.\n\n{said}\n\n")))


def test_two_sections_with_the_same_label_are_both_doubted() -> None:
    review = reviewed("### Notes\n**Severity:** High\n\n### Tests\n**Severity:** High\n")
    assert len(review.doubts) == 2


@each(
    "said", ["Anyone can log in.", "It loses all data of a customer.", "- An attacker can read it."]
)
def test_what_does_harm_is_no_minor_finding(said: str) -> None:
    minor = PROVED.replace("P2 1, P3 0", "P2 0, P3 1").replace("P2-1", "P3-1").replace("P2:", "P3:")
    minor = minor.replace("- P2 |", "- P3 |").replace("Fix: limit it.", f"\n{said}")
    review = proved(minor)
    assert review.doubts == ("line 15 says what no row says",)
    assert is_clean(proved(PROVED.replace("Fix: limit it.", f"\n{said}")))  # it is what P2 is for
    harmless = ("Nothing is lost for good, and no one can log in.", "Losing all color is ugly.",
                "The error loses all context.", "We lose every other line.")  # fmt: skip
    assert all(is_clean(proved(minor.replace(said, other))) for other in harmless)


@each("said", [
    "My vote is +2.", "+1 from me.", "It returns -1, so -2 is never seen.",
    "The exit status is -2.", "Nothing keeps me from approving.", "LGTM? Yes.",
    "Any blockers? None.", "Is it tested? Yes.",
    "Coverage: 100%", "Test coverage: 87 %", "The verdict is safe.", "I found no place for one.",
    "We did not find any problem.", "I would not change anything else.", "I only have one remark.",
    "We need no second lock here.", "The counts and the verdict agree.",
    "I have no further remarks.", "- [x] The login is read",
    "- P2-1 is old.", "What I checked:\n- the login\n- the cache", "Severity: low", "Risk: none",
    "The severity scale is P0 to P3; none applies here.", "P0 = data loss, P1 = wrong result.",
    "`P0 = data loss, P1 = wrong result.`", "- [ ] No P0 or P1 is open",
    "I have nothing that would block the merge.", "There is no reason to reject this.",
    "None of these are urgent.", "Nothing here is a reason to request changes.",
    "Overall risk of this change: low",
])  # fmt: skip
def test_what_counts_denies_or_explains_is_no_doubt(said: str) -> None:
    assert is_clean(proved(PROVED.replace("The change is small.", f"Small.\n\n{said}\n\n")))


@each("title", [
    "This is a P0 blocker", "P1 in disguise", "Critical: login is open", "The login is critical",
])  # fmt: skip
def test_a_row_whose_own_title_is_graver_than_it_is_a_doubt_that_names_its_line(title: str) -> None:
    for severity in ("P2", "P3", "IMP"):
        row = f'- {severity} | {severity}-1 | "Login" | {title}'
        review = agent_review.parse(f"### Findings Index\n{row}\nVerdict: safe\n")
        assert not is_clean(review) and "2" in review.doubts[0].split()


@each("title", ["This is not a P1", "The critical path is long", "A blocking call in a loop"])
def test_a_title_that_denies_it_or_speaks_of_something_else_is_none(title: str) -> None:
    text = f'### Findings Index\n- P2 | P2-1 | "Login" | {title}\nVerdict: safe\n'
    assert is_clean(agent_review.parse(text))


@each("said", ["P0 to P3: the login is open", "P0 = the login is open", "P0 = open, see a.py:3"])
def test_half_a_legend_is_none(said: str) -> None:
    assert not is_clean(proved(PROVED.replace("The change is small.", f"Small.\n\n{said}\n\n")))


@each("word", [*torture._LEADS, "Critical -", "🔴", "[CRITICAL]"])
def test_one_line_in_any_language_is_named_by_its_number(word: str) -> None:
    said = f"**{word}:** login() loses data" if word in torture._LEADS else f"{word} login() fails"
    review = proved(PROVED.replace("The change is small.", f"Small.\n\n{said}\n\n"))
    assert review.doubts[0].startswith("line 11 ")
    named = [
        number for number, _, _ in complaints.check(PROVED.replace("None.", said), Terms(files=41))
    ]
    assert named.count(17) == 1


@each(
    ("line", "other", "doubt"),
    [
        ("Read: 41 of 41 files\n", "", "it does not say how many files it read"),
        ("41 of 41", "40 of 41", "says that fewer files were read than the run asked for (41)"),
        ("41 of 41", "3 of 3", "says that fewer files were read than the run asked for (41)"),
        ("Counts: P0 0, P1 0, P2 1, P3 0\n", "", "it does not count its findings"),
        ("P2 1, P3 0", "P2 2, P3 0", "has counts that do not match the index"),
        ("The change is small.", "I read 3 of 41 files.", "says that not everything was reviewed"),
        ("The change is small.", "I could not review the change: the diff was empty.",
         "says that not everything was reviewed"),
        ("The change is small.", "I could only read a.py: the diff was too long.",
         "says that not everything was reviewed"),
        ("The change is small.", "See attachment for the 2 criticals.", "says criticals"),
        ("The change is small.", "Not reviewed: src/login.py (too long)",
         "says that not everything was reviewed"),
        ("None.", "Security: FAIL", "gives another verdict"),
        ("None.", "Approve: no", "gives another verdict"),
        ("The change is small.", "Issue 1: login lets everyone in", "is a statement of its own"),
        ("The change is small.", "S0: login is open", "is a statement of its own"),
        ("Verdict: safe", "Verdict: safe (but see the P1 below)", "says P1"),
        ("Verdict: safe", '- IMP | IMP-1 | "x" | critical: login is open\nVerdict: safe',
         "says critical"),
        ("The change is small.", "It must be fixed before the release.", "says must be fixed"),
        ("The change is small.", "**Overall verdict:** FAIL", "gives another verdict"),
        ("None.", "#### Critical-1. login() loses data", "says Critical"),
        ("None.", "Kritisch: jeder kann sich anmelden", "says Kritis"),
        ("None.", "Wichtig: jeder kann sich anmelden", "is a statement of its own"),
        ("None.", "### Jeder kann sich anmelden", "is a heading of its own"),
        ("Fix: limit it.", "#### P1-9. Gone\nx", "says P1"),
        ("#### P2-1. P2:", "- Anyone can log in\n#### P2-1. P2:", "stands under Issues Found"),
    ],
)  # fmt: skip
def test_what_a_contract_asks_for_must_agree(line: str, other: str, doubt: str) -> None:
    review = proved(PROVED.replace(line, other))
    assert not is_clean(review)
    assert any(doubt in said for said in review.doubts) or review.flags


def test_a_second_look_says_of_each_finding_whether_it_is_fixed() -> None:
    fixed = PROVED.replace("Read:", "Fixed: P0-1, P1-2\nRead:")
    assert is_clean(proved(fixed, 41, ("P0-1", "P1-2")))
    asked = proved(PROVED, 41, ("P0-1",))
    assert asked.doubts == ("it does not say whether the findings of the run before are fixed",)
    assert not is_clean(proved(fixed, 41, ("P0-1", "P1-3")))
    assert not is_clean(proved(fixed))  # nobody asked


@each("said", ["P0-1: fixed", "- **P0-1:** fixed.", "P0-1, P1-2: Fixed", "`P0-1` — fixed"])
def test_the_id_of_what_is_fixed_may_come_first(said: str) -> None:
    fixed = PROVED.replace("Read:", f"{said}\nRead:")
    still = ("P0-1", "P1-2") if "P1-2" in said else ("P0-1",)
    assert proved(fixed, 41, still).doubts == () and is_clean(proved(fixed, 41, still))
    assert not is_clean(proved(fixed, 41, (*still, "P0-3")))
    if "," not in said:
        assert not is_clean(proved(fixed)) and not is_clean(reviewed(said))  # nobody asked


def test_a_place_in_the_next_line_does_not_go_on_with_what_is_fixed() -> None:
    for place in ("b.py:3", "src/b.py:3"):
        said = f"Fixed: P0-1, P1-1\n{place} now keeps it.\nRead:"
        review = proved(PROVED.replace("Read:", said), 41, ("P0-1", "P1-1"))
        assert review.doubts == ("line 8 is a statement of its own (x)",)


@each("said", [
    "{} now keeps it.", "- {} now keeps it.", "- `{}`: the lock is held.", "{}: the lock is held.",
    "{} — the token is hashed.", "- **{}** compares the hash",
])  # fmt: skip
def test_who_calls_all_fixed_may_say_how_at_its_place(said: str) -> None:
    terms = Terms(files=41, open=("P0-1",), places=("src/b.py",))
    fixed = PROVED.replace("Read:", f"Fixed: P0-1\n{said}\nRead:")
    for place in ("src/b.py:3", "src/b.py", "src/b.py:40-42"):
        review = agent_review.parse(fixed.replace("{}", place), "review", terms)
        assert review.doubts == () and is_clean(review)
    others = ["src/c.py:3", "src/b.py:3 still", "src/b.py:3 never", "src/b.py:3: anyone can log in"]
    for place in (*others, "src/b.py:3: P0:", "src/b.py:3 is only half done:"):
        assert not is_clean(agent_review.parse(fixed.replace("{}", place), "review", terms))
    text = fixed.replace("{}", "src/b.py:3").replace("Fixed: P0-1", "Fixed: none")
    assert not is_clean(agent_review.parse(text, "review", terms))


def test_the_line_that_is_proposed_names_all_that_was_open() -> None:
    faults = complaints.check(PROVED, Terms(files=41, open=("P0-1", "P1-1")))
    assert [better for _, _, better in faults] == ["Fixed: P0-1, P1-1"]


@each("name", ["FD_P0-1", "SEC.4"])
def test_whatever_may_be_an_id_may_be_called_fixed(name: str) -> None:
    for said in (f"Fixed: {name}", f"{name}: fixed"):
        assert is_clean(proved(PROVED.replace("Read:", f"{said}\nRead:"), 41, (name,)))


def second_looks(said: str) -> list[Review]:
    """Two that call both findings fixed, in either order of the words, and say something more."""
    lines = ("Fixed: P0-1, P1-2", "P0-1, P1-2: fixed")
    texts = [PROVED.replace("Read:", f"{line}\n\n{said}\n\nRead:") for line in lines]
    return [proved(text, 41, ("P0-1", "P1-2")) for text in texts]


@each("said", [
    "- P0-1: fixed by hashing the token\n- P1-2: fixed, the session ends", "P0-1: resolved",
    "P0-1: fixed by hashing the token.", "**P0-1**: fixed by hashing", "P0-1: Done",
    "- P0-1 is fixed: the token is hashed.\n- P1-2 is now fixed: the session ends.",
    "P0-1 has been fixed: no one can log in without a password.", "Not fixed: none",
    "Still open: none", "### Not verified\nNone.", "Both are fixed.", "None is still open.",
    "- P2-1 is still open.", "### Not verified\n- P2-1",
])  # fmt: skip
def test_beside_its_line_a_second_look_may_say_more_of_what_is_fixed(said: str) -> None:
    for review in second_looks(said):
        assert review.doubts == () and is_clean(review)


def test_who_is_sent_back_is_not_told_to_index_what_is_fixed() -> None:
    for said, lines in (("P0-1: fixed", []), ("P0-1: fixed\nIt is a P0.", [8])):
        text = PROVED.replace("Read:", f"{said}\nRead:")
        faults = complaints.check(text, Terms(files=41, open=("P0-1",)))
        assert [number for number, _, _ in faults] == lines


@each("said", [
    "Fixed: none", "Fixed: nothing", "Fixed: no", "Fixed: -", "Nothing is fixed.",
    "None of them is fixed.", "Neither was fixed.", "Both are still open.",
    "The second is still there.", "I cannot confirm it.", "P1-2: not fixed", "P1-2 fixed: no",
    "P1-2: fixed? no", "P1-2: to be fixed", "P1-2 will be fixed.", "P1-2: unfixed",
    "P1-2 is fixed in part.", "P1-2: fixed in part", "P1-2 cannot be fixed.", "P1-2: fixed later",
    "P1-2 is now fixed, but another way in remains.", "P1-2 is fixed for GET and open for POST.",
    "P1-2 is supposedly fixed.", "P1-2: nicht behoben", "P1-2: teilweise behoben",
    "P1-2: pas corrigé", "P1-2: no corregido", "P1-2: 未修复", "P1-2 is partially fixed.",
    "### Not verified\n- The login", "One was reopened.",
    "It isn't fixed.", "Behoben: keine", "Keine davon ist behoben.", "Aucun n'est corrigé.",
    "Ninguno está corregido.", "未修复", "**Open:** 1", "The fix does not work.",
    "- [ ] P1-2: fixed", "P1-2: done? hardly",
])  # fmt: skip
def test_a_second_look_that_contradicts_itself_is_doubted(said: str) -> None:
    for review in second_looks(said):
        assert not is_clean(review) and "line 9 " in review.doubts[0]


@each("said", ["Fixed: P0-1, P0-2", "P0-2: fixed", "P0-1, P0-2: fixed", "Fixed: P0-1, SEC-4"])
def test_what_was_not_open_in_the_run_before_cannot_be_called_fixed(said: str) -> None:
    fixed = PROVED.replace("Read:", f"Fixed: P0-1\n{said}\nRead:")
    review = proved(fixed, 41, ("P0-1",))
    name = "SEC-4" if "SEC" in said else "P0-2"
    if said != "P0-2: fixed":  # which reads like a finding
        why = f"line 8 calls {name} fixed, which was not open in the run before"
        assert review.doubts == (why,)
    assert review.doubts[0].startswith("line 8 ")
    assert is_clean(proved(fixed.replace(name, "P2-4"), 41, ("P0-1",)))  # nobody asked, but it may


def test_a_paragraph_explains_what_it_says_of_its_own_file_only() -> None:
    index = '### Findings Index\n- P3 | P3-1 | "a.py" | A typo in a name\nVerdict: safe\n\n'
    finding = f"{index}### Issues Found\n\nP3-1. P3: A typo in a name\na.py:3\n"
    assert is_clean(agent_review.parse(finding + "\nOne letter, as in a.py:9.\n"))
    more = ("b.py:14: a refund is booked twice.", "\nA refund is booked twice, see `b.py:14`.",
            "\n- Two refunds are booked.", "\nIt is odd.\n\nA refund is booked twice.")  # fmt: skip
    for other in more:
        assert not is_clean(agent_review.parse(f"{finding}{other}\n"))


def test_a_row_named_in_the_summary_explains_no_other_paragraph() -> None:
    index = '### Findings Index\n- P3 | P3-1 | "a.py" | A typo\nVerdict: safe\n\n### Summary\n'
    assert is_clean(agent_review.parse(f"{index}P3-1 is all.\n"))
    other = f"{index}P3-1 is all.\n\nDatenverlust: login() stockt.\n"
    assert not is_clean(agent_review.parse(other))


def test_a_file_that_counts_fewer_files_read_than_there_are_is_not_clean() -> None:
    text = "### Findings Index\nVerdict: safe\n\n### Summary\nRead: {} of 41 files\n"
    assert is_clean(agent_review.parse(text.format(41)))
    assert not is_clean(agent_review.parse(text.format(3)))


@each("said", [
    "Fixed: P0-1 not yet", "Fixed: not P0-1", "Fixed: all but P0-1", "Fixed: none", "Fixed: P0-1?",
    "Fixed: everything except P0-1", "Fixed: P0-1 is still there", "Fixed: P0-1 (partly)",
    "Fixed: P0-1 cannot be confirmed", "Fixed: P0-1 ✗", "Fixed: no: P0-1",
    "P0-1: fixed?", "P0-1: not fixed", "P0-1: fixed in part", "P0-1: unfixed", "not P0-1: fixed",
    "P0-1: fixed, but the token is still logged", "P0-1: to be fixed", "P0-1: fixed only for GET",
    "P0-1 or P0-2: fixed", "All but P0-1: fixed", "P0-1: fixed (partly)", "P0-1: fixed ✗",
    "P0-1: should be fixed", "P0-1: fixed by others, not here", "P0-1: fixed\n\nP0-1: open",
    "P0-1: fixed: no", "~~P0-1: fixed~~", "> P0-1: fixed\n>\n> is what the author says",
    "The author says:\n```\nP0-1: fixed\n```", "> Fixed: P0-1", "<!-- P0-1: fixed -->",
    "<!--\nP0-1: fixed\n-->", "<!--\nFixed: P0-1\n-->", "P0-1: fixed\nbut only for GET",
    "- [ ] P0-1: fixed", "- [ ] Fixed: P0-1",
])  # fmt: skip
def test_a_line_that_says_more_than_which_ids_are_fixed_confirms_nothing(said: str) -> None:
    review = proved(PROVED.replace("Read:", f"{said}\nRead:"), 41, ("P0-1",))
    assert not is_clean(review), review.doubts


# Mutants


def test_no_mutant_comes_out_clean() -> None:
    wrong = [
        f"{name}: {said}" for name, text in torture.mutants(1, 600) if (said := torture.judge(text))
    ]
    assert wrong == []


def test_the_same_seed_gives_the_same_mutants() -> None:
    assert list(torture.mutants(7, 20)) == list(torture.mutants(7, 20))
    assert list(torture.mutants(7, 20)) != list(torture.mutants(8, 20))


def test_the_reviews_that_mutants_are_made_of_are_clean() -> None:
    assert [torture.judge(text) for text in torture.originals()] == ["comes out CLEAN"] * 5


def test_a_severity_is_found_at_any_place_of_a_long_line() -> None:
    for at in (*range(1_700, 2_300, 30), *range(3_500, 4_100, 30)):
        assert not is_clean(reviewed("x" * at + " P0 is open")), at


def test_no_more_lines_are_named_than_somebody_reads() -> None:
    text = "".join(f"P0: the login of part {n} is open\n\n" for n in range(20))
    assert 0 < len(reviewed("```\n" + text + "```").doubts) <= 5


@each("code", ["```python\nx = 1\n```\n", "```python\nx = 1\n", ""])
def test_a_bold_lead_with_a_severity_begins_a_finding_without_a_blank_line(code: str) -> None:
    text = (
        f"# Review\n\n**P1-2: Sessions never end**\n\nThey live on.\n{code}**P1-3: Tokens leak**\n"
    )
    review = agent_review.parse(f"{text}\nSee `src/app.py:3`.\n")
    assert [(row.id, row.file) for row in review.findings] == [("P1-2", ""), ("P1-3", "src/app.py")]


def test_a_row_of_a_bar_alone_is_read() -> None:
    text = "### Findings Index\nVerdict: safe\n\n### Summary\n\n|\n"
    assert agent_review.effective_status(agent_review.parse(text))[0] == "CLEAN"


@each("verdict", ["safe, after the leak is fixed", "SAFE (pending CI)", "clean if tests pass"])
def test_an_index_that_is_safe_under_a_condition_is_not_clean(verdict: str) -> None:
    text = f"### Findings Index\nVerdict: {verdict}\n\n### Summary\n\nNothing.\n"
    assert agent_review.effective_status(agent_review.parse(text))[0] != "CLEAN"


@each(
    "line",
    [
        "Approval: yes, no reservations",
        "Recommendation: approve, nothing pending",
        "Gate: pass, tested after rebase",
        "CI status: green after retry",
        "Decision: approved, nothing else pending",
        "Approval: yes, after issue 12 was closed",
        "HIGH (0)",
    ],
)
def test_what_is_no_condition_leaves_a_review_clean(line: str) -> None:
    text = f"### Findings Index\nVerdict: safe\n\n### Summary\n\n{line}\n"
    assert agent_review.effective_status(agent_review.parse(text))[0] == "CLEAN"
