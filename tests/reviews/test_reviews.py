"""agent_review.py: what an agent's file says, in any form; nothing wrong comes out clean.

`tests/refused/review_*.md` are files that must never be clean, one thing wrong in each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import REFUSED_TEXTS, Script, each, rounds
from contextkit.reviews.documents import agent_review, reader, sections
from contextkit.reviews.documents.agent_review import Review
from contextkit.reviews.documents.headers import Header
from contextkit.reviews.documents.index import Finding
from contextkit.reviews.flows import agent_files
from growth import grows_in_proportion
from hypothesis import given
from hypothesis import strategies as st

REFUSED = sorted((REFUSED_TEXTS).glob("review_*.md"))
CORPUS = os.environ.get("CONTEXTKIT_CORPUS", "")  # before `sealed` empties the environment
ROWS = (
    '- P2 | P2-1 | "Cache" | The cache is never emptied',
    '- P3 | P3-1 | "Names" | Two names for one thing',
    '- IMP | IMP-1 | "Docs" | Say what the flag does',
)
P0 = '- P0 | P0-1 | "Login" | Anyone can log in'
P1 = '- P1 | P1-1 | "Session" | A session never ends'


def a_file(
    *rows: str, verdict: str = "Verdict: safe", heading: str = "### Findings Index", end: str = ""
) -> str:
    """An agent's file with these rows; a test names only what it is about."""
    return "\n".join([heading, *rows, verdict, "", "### Summary", "", "Small.", end, ""])


def said(text: str) -> tuple[str, tuple[str, ...]]:
    return agent_review.effective_status(agent_review.parse(text))


def found(text: str) -> list[tuple[str, str, str, str]]:
    return [(f.severity, f.id, f.section, f.title) for f in agent_review.parse(text).findings]


# The form we ask for


def test_a_file_in_the_strict_form_is_read_field_by_field() -> None:
    review = agent_review.parse(a_file(P1, *ROWS, verdict="Verdict: needs-changes"))
    assert review.validation == "valid" and review.type == "verdict"
    assert (review.stated, review.stated_raw) == ("needs-changes", "needs-changes")
    assert (review.start_line, review.end_line) == (1, 6)
    assert review.flags == () and review.unparsed == () and review.run == ""
    assert review.findings[0] == Finding(
        severity="P1",
        id="P1-1",
        section="Session",
        title="A session never ends",
        line=2,
        raw_severity="P1",
    )
    assert [f.severity for f in review.findings] == ["P1", "P2", "P3", "IMP"]
    assert agent_review.effective_status(review) == ("NEEDS_ATTENTION", ())


def test_findings_below_p1_that_the_agent_calls_safe_are_clean_and_counted() -> None:
    assert said(a_file(*ROWS)) == ("CLEAN", ())
    assert len(agent_review.parse(a_file(*ROWS)).findings) == 3


def test_an_index_with_only_a_safe_verdict_is_clean() -> None:
    assert said(a_file()) == ("CLEAN", ())
    assert said("### Findings Index\nVerdict: safe") == ("CLEAN", ())


def test_the_run_id_of_the_first_line_and_the_sentinel_of_the_last_are_noticed() -> None:
    text = "<!-- run-uuid: 1b4e28ba-2fa1 -->\n" + a_file(*ROWS, end="<!-- flux-drive:complete -->")
    review = agent_review.parse(text)
    assert (review.run, review.complete, review.flags) == ("1b4e28ba-2fa1", True, ())
    assert not agent_review.parse(a_file(*ROWS)).complete
    assert not agent_review.parse("").complete
    for text in ("Prose.\n<!-- run-uuid: x -->\n", "run: x\n", "<!-- version: x -->\n"):
        assert agent_review.parse(text).run == ""


# The table of the checklist


@each(
    ("row", "verdict", "status", "flags"),
    [
        ("P2", "safe", "CLEAN", ()),
        ("P3", "safe", "CLEAN", ()),
        ("IMP", "safe", "CLEAN", ()),
        ("P0", "safe", "NEEDS_ATTENTION", ("verdict_mismatch",)),
        ("P1", "safe", "NEEDS_ATTENTION", ("verdict_mismatch",)),
        ("P0", "needs-changes", "NEEDS_ATTENTION", ("verdict_mismatch",)),
        ("P1", "needs-changes", "NEEDS_ATTENTION", ()),
        ("P0", "risky", "NEEDS_ATTENTION", ()),
        ("P1", "risky", "NEEDS_ATTENTION", ()),
        ("P2", "needs-changes", "NEEDS_ATTENTION", ("verdict_mismatch",)),
        ("P3", "risky", "NEEDS_ATTENTION", ("verdict_mismatch",)),
        ("P2", "PASS with notes", "CLEAN", ("no_verdict",)),
        ("P1", "PASS with notes", "NEEDS_ATTENTION", ("no_verdict",)),
        ("P2", "PROCEED_WITH_MAJOR_CUTS", "CLEAN", ("no_verdict",)),
        ("P0", "PROCEED_WITH_MAJOR_CUTS", "NEEDS_ATTENTION", ("no_verdict",)),
        ("P2", "NEEDS_ATTENTION", "NEEDS_ATTENTION", ("no_verdict",)),  # the stricter wins
        ("P2", "needs-validation", "NEEDS_ATTENTION", ("no_verdict",)),
        ("P2", "error", "ERROR", ()),
        ("wobbly", "safe", "NEEDS_ATTENTION", ("unparsed",)),
    ],
)
def test_the_status_follows_from_the_findings_and_the_stricter_wins(
    row: str, verdict: str, status: str, flags: tuple[str, ...]
) -> None:
    text = a_file(f'- {row} | F-1 | "Login" | A title', verdict=f"Verdict: {verdict}")
    assert said(text) == (status, flags)


def test_rows_without_a_verdict_are_judged_by_themselves_where_the_file_goes_on() -> None:
    assert said(a_file(*ROWS, verdict="")) == ("CLEAN", ("no_verdict",))
    assert said(a_file(P1, verdict="")) == ("NEEDS_ATTENTION", ("no_verdict",))
    cut_off = "\n".join(["### Findings Index", *ROWS])
    assert said(cut_off) == ("NEEDS_ATTENTION", ("truncated", "no_verdict"))
    assert said(cut_off + "\n<!-- flux-drive:complete -->\n") == ("CLEAN", ("no_verdict",))


def test_a_verdict_in_other_words_is_kept_as_it_was_written() -> None:
    review = agent_review.parse(a_file(*ROWS, verdict="Verdict: PASS with notes"))
    assert (review.stated, review.stated_raw) == ("", "PASS with notes")


def test_a_first_line_that_begins_like_a_verdict_is_none() -> None:
    review = agent_review.parse("Risky changes come first.\n\n" + a_file(*ROWS))
    assert (review.stated, review.flags) == ("safe", ("late_index",))


@each("text", ["", "\n", " \t\r\n", "\ufeff"])
def test_an_empty_file_is_missing_and_an_error(text: str) -> None:
    assert agent_review.parse(text).validation == "missing"
    assert said(text) == ("ERROR", ("missing",))


@each(
    "verdict",
    [
        "safe, not safe for production",
        "safe; not safe yet",
        "Safe (unsafe with SSO)",
        "safe: risky",
    ],
)
def test_safe_that_is_taken_back_is_not_safe(verdict: str) -> None:
    assert agent_review.parse(a_file(verdict=f"Verdict: {verdict}")).stated == ""
    assert said(a_file(verdict=f"Verdict: {verdict}"))[0] == "NEEDS_ATTENTION"


def test_a_file_without_an_index_is_malformed_and_has_no_findings() -> None:
    review = agent_review.parse("# Review\n\nFine.\n\nVerdict: needs-changes\n")
    assert (review.validation, review.stated, review.findings) == ("malformed", "needs-changes", ())
    assert (review.start_line, review.end_line) == (0, 0)
    assert agent_review.effective_status(review) == ("NEEDS_ATTENTION", ("malformed",))


def test_only_the_verdict_of_an_index_makes_an_error() -> None:
    stub = "### Findings Index\nVerdict: error\n\nThe agent timed out.\n"
    assert agent_review.parse(stub).validation == "error"
    assert said(stub) == ("ERROR", ())
    for prose in ("The stub says verdict: error then.", "Verdict: error\n", "verdict: error"):
        assert said(a_file(*ROWS, end=prose))[0] == "NEEDS_ATTENTION"  # a doubt, no error
    assert said("# Review\n\nVerdict: error\n") == ("NEEDS_ATTENTION", ("malformed",))


# Whatever they write instead


@each("bullet", ["- ", "* ", "+ ", "-\t", "1. ", "12) ", "", "  - ", "\t* "])
def test_any_bullet_or_none_begins_a_row(bullet: str) -> None:
    assert found(a_file(bullet + P1[2:])) == [("P1", "P1-1", "Session", "A session never ends")]


@each(
    "row",
    [
        "- p1 | p1-1 | \"Session\" | A session never ends",
        "- **P1** | P1-1 | “Session” | A session never ends",
        "- P1\t|\tP1-1\t|\t„Session“\t|\tA session never ends",
        "-  P1  |  P1-1  |  'Session'  |  A session never ends  ",
        "- [P1] | `P1-1` | Session | A session never ends",
        "**P1** | P1-1 | Session | A session never ends",
        "P1|P1-1|Session|A session never ends",
        "- P1\u00a0| P1-1 | \"Session\" | A session never ends",
    ],
)  # fmt: skip
def test_dress_and_case_do_not_matter(row: str) -> None:
    assert [f.upper() for f in found(a_file(row))[0]] == [
        "P1", "P1-1", "SESSION", "A SESSION NEVER ENDS"
    ]  # fmt: skip
    assert agent_review.parse(a_file(row)).unparsed == ()


@each(
    ("row", "expected"),
    [
        ('- IMP-1 | "Step 1" | Say more', ("IMP", "IMP-1", "Step 1", "Say more")),
        ("- P2 | P2-1 | Say more", ("P2", "P2-1", "", "Say more")),
        ('- P2 | "Step 1" | Say more', ("P2", "row-1", "Step 1", "Say more")),
        ('- AR-001 | P2 | "Step 1" | Say more', ("P2", "AR-001", "Step 1", "Say more")),
        ("1. **[HIGH] F2: Say more**", ("P1", "F2", "", "Say more")),
        ("- [P0] src/a.py:20-22 — Say more", ("P0", "row-1", "", "src/a.py:20-22 — Say more")),
        ("- **[F1] P0 src/a.py:3** — More", ("P0", "F1", "", "src/a.py:3 — More")),
        ("- P0-1. P0: Say more", ("P0", "P0-1", "", "Say more")),
        ("**P1-2: Say more**", ("P1", "P1-2", "", "Say more")),
        ("- P3: Say more", ("P3", "row-1", "", "Say more")),
        ("- [P2] Use a | b", ("P2", "row-1", "", "Use a | b")),
    ],
)
def test_rows_in_other_shapes_are_understood(row: str, expected: tuple[str, ...]) -> None:
    assert found(a_file(row)) == [expected]
    assert agent_review.parse(a_file(row)).unparsed == ()


@each(
    ("word", "severity"),
    [
        ("CRITICAL", "P0"), ("High", "P1"), ("Major", "P1"), ("MUST-FIX", "P1"),
        ("must fix", "P1"), ("medium", "P2"), ("NEEDS_ATTENTION", "P2"), ("LOW", "P3"),
        ("Minor", "P3"), ("INFO", "P3"), ("IMPROVEMENT", "IMP"), ("P2 (medium)", "P2"),
        ("~~P0~~ P2", "P0"), ("P4", ""), ("P10", ""), ("Wobbly", ""), ("P", ""), ("PO", ""),
        ("Blocker", "P0"), ("Fatal", "P0"), ("🔴", "P0"), ("Important", "P1"), ("WARNING", "P2"),
        ("should fix", "P2"), ("NIT", "P3"), ("nitpick", "P3"), ("INFORMATIONAL", "P3"),
        ("SUGGESTION", "IMP"), ("nice to have", "IMP"),
    ],
)  # fmt: skip
def test_other_words_for_a_severity_are_known_and_kept(word: str, severity: str) -> None:
    finding = agent_review.parse(a_file(f'- {word} | F-1 | "S" | T')).findings[0]
    assert (finding.severity, finding.raw_severity) == (severity, word)


def test_rows_below_a_label_go_by_it() -> None:
    text = a_file(
        "", "**Critical (Must Fix):**", "1. F1 does nothing", "2. F2 has no version",
        "", "**Medium:**", "3. F3 says too much", "",
        verdict="**Verdict:** **NEEDS_ATTENTION** — two things",
    )  # fmt: skip
    review = agent_review.parse(text)
    assert [(f.severity, f.group) for f in review.findings] == [
        ("P0", "Critical (Must Fix)"), ("P0", "Critical (Must Fix)"), ("P2", "Medium"),
    ]  # fmt: skip
    assert review.unparsed == ()
    assert (review.stated, review.stated_raw) == ("", "NEEDS_ATTENTION — two things")
    deeper = text.replace("**Critical (Must Fix):**", "#### Critical").replace("**Medium:**", "")
    assert [f.severity for f in agent_review.parse(deeper).findings] == ["P0", "P0", "P0"]


@each("between", [
    "#### Other", "#### P0-1. P0: Anyone can log in\nIt asks for no password.\n",
    "#### Notes\n\nx\n",
])  # fmt: skip
def test_a_row_behind_a_section_that_is_deeper_than_the_index_is_one_of_its_rows(
    between: str,
) -> None:
    text = a_file(P0, between, ROWS[0], ROWS[1], verdict="Verdict: risky")
    review = agent_review.parse(text)
    assert [f.id for f in review.findings] == ["P0-1", "P2-1", "P3-1"]
    assert (review.stated, review.unparsed) == ("risky", ())
    body = f"{text}\n#### P2-1. P2: The cache is never emptied\nIt grows.\n"
    assert sections.sections(body, ["P2-1"])["P2-1"].endswith("It grows.")
    behind = text.replace("#### ", "### ")
    assert [f.id for f in agent_review.parse(behind).findings] == ["P0-1"]


@each("between", [
    "**Critical:**\n\n#### Notes\nSmall.", "#### Notes\n**Severity:** P0", "#### P1-3. P1: x\ny",
    "#### Other\n- the login crashes when the name is empty",
    "#### Notes\nAnyone can log in.", '#### Notes\n- P3 | P3-1 | "x" | Anyone can log in',
    '#### Notes\n- P1 | P1-2 | "x" | A session never ends',
])  # fmt: skip
def test_rows_behind_a_section_explain_nothing_in_it(between: str) -> None:
    text = a_file(ROWS[0], between, ROWS[1])
    assert said(text)[0] == "NEEDS_ATTENTION"


def test_a_row_that_a_section_repeats_is_one_finding() -> None:
    text = a_file(ROWS[0], f"#### Details\n{ROWS[0]}\nIt grows.")
    assert len(agent_review.parse(text).findings) == 1 and said(text)[0] == "CLEAN"
    worse = a_file(ROWS[0], "#### Details\n" + ROWS[0].replace("P2 |", "P1 |", 1))
    assert said(worse)[0] == "NEEDS_ATTENTION"


@each("alignment", ["|---|:-:|---|---|", "|----|--|---| |", "| - | - | - | - |"])
@each("quote", ['"', ""])
def test_a_table_is_an_index_without_its_head(alignment: str, quote: str) -> None:
    text = a_file(
        "", "| SEVERITY | ID | Section | Title |", alignment,
        f"| P1 | FD-P1 | {quote}Frames{quote} | A title |",
        "| P2 | FD-P2 | Lenses | Another |", "",
    )  # fmt: skip
    assert found(text) == [
        ("P1", "FD-P1", "Frames", "A title"),
        ("P2", "FD-P2", "Lenses", "Another"),
    ]
    assert agent_review.parse(text).unparsed == ()


def test_the_columns_of_a_table_may_stand_in_another_order() -> None:
    head = ["| # | Finding | Severity | Location |", "|---|---|---|---|"]
    text = a_file(*head, "| 1 | A title | High | src/a.py |")
    assert found(text) == [("P1", "1", "src/a.py", "A title")]


def test_a_title_may_be_followed_by_more_fields() -> None:
    finding = agent_review.parse(a_file(P1 + " | fd-safety | 3/4")).findings[0]
    assert (finding.title, finding.extra) == ("A session never ends", ("fd-safety", "3/4"))


@each(
    "heading",
    [
        "## Findings Index", "# FINDINGS INDEX", "### Findings Index ###", "###Findings Index",
        "### **Findings Index**", "**Findings Index**", "**Findings Index:**", "Findings Index",
        "### 1. Findings Index:", "## Findings Index (3)", "   ### Findings Index",
        "# Final Findings Index\n\n### Findings Index",
    ],
)  # fmt: skip
def test_the_heading_is_found_however_it_is_written(heading: str) -> None:
    assert said(a_file(*ROWS, heading=heading))[0] == "CLEAN"
    assert len(found(a_file(P0, *ROWS, heading=heading))) == 4


@each("above", [1, 8, 30, 400])
def test_an_index_further_down_is_found_and_said_to_be_late(above: int) -> None:
    text = "# Review\n" + "Prose.\n" * above + "\n" + a_file(P1, verdict="Verdict: risky")
    assert said(text) == ("NEEDS_ATTENTION", ("late_index",))
    assert said("# Review\n\n" + a_file(*ROWS)) == ("CLEAN", ("late_index",))


@each(
    "verdict",
    [
        "Verdict: safe", "\nVerdict: safe", "**Verdict:** safe", "**Verdict: safe**",
        "VERDICT: SAFE", "- Verdict: safe", "Verdict: “safe”", "Verdict: `safe`.",
        "Overall Verdict: safe", "Verdict: safe — nothing blocks", "Verdict: safe (small things)",
        "### Verdict\n\nsafe", "### Verdict: safe", "### Verdict\n\n**Safe**",
        "### Verdict\n\n**STATUS:** safe\n**FINDINGS_COUNT:** 3\n**SUMMARY:** small",
        "| Verdict | safe |", "No more findings found.\n\nVerdict: safe",
    ],
)  # fmt: skip
def test_a_verdict_is_found_however_it_is_written(verdict: str) -> None:
    text = a_file(*ROWS, verdict=verdict)
    assert agent_review.parse(text).stated == "safe"
    assert said(text)[0] == "CLEAN"
    assert said(text.lower().replace("safe", "Needs Changes"))[0] == "NEEDS_ATTENTION"


@each(
    "nothing",
    [
        "No findings.", "- None", "**Critical:** none", "P0: 0", "**Critical:**\nNone.",
        "---", "<!-- one line -->", "**FINDINGS_COUNT:** 3",
    ],
)  # fmt: skip
def test_lines_that_say_that_there_is_nothing_are_understood(nothing: str) -> None:
    assert said(a_file(nothing, *ROWS)) == ("CLEAN", ())


@each(
    "body",
    [
        "## P0 Issues\n\nNone.\n\n## P1 Issues\n\nThere are no issues.\n",
        "- P0: none\n- P1: 0\n",
        "### P0 — Critical Structural Issues\n\nNone found.\n\n---\n",
        "Nothing here is a P0.\n",
        "### Improvements\n\n#### IMP-1. Say what the flag does\n",
        "    ### Findings Index\n    - an example, indented\n",
    ],
)  # fmt: skip
def test_a_clean_review_may_speak_of_what_it_did_not_find(body: str) -> None:
    assert said(a_file(*ROWS) + "\n" + body) == ("CLEAN", ())


@each(
    "body",
    [
        '```\n### Findings Index\n- P0 | P0-1 | "Quoted" | Example\nVerdict: risky\n```\n',
        "```\n## outer\n```python\nx = 1\n```\n#### P0-1. P0: quoted\n```\n",
        "1. text\n   ```\n   #### P0-1: quoted\n   ```\n",
    ],
)
def test_a_p0_in_a_fence_is_no_finding_but_keeps_a_review_from_being_clean(body: str) -> None:
    review = agent_review.parse(a_file(*ROWS) + "\n" + body)
    status, flags = agent_review.effective_status(review)
    assert status == "NEEDS_ATTENTION" and flags[0].startswith("serious_at_line_")
    assert len(review.findings) == len(ROWS)


def test_a_row_without_a_severity_takes_that_of_its_section() -> None:
    text = a_file("1. **[Q1] A title** — text", "2. **[Q2] Another** — text", verdict="")
    text += (
        "### Q1: A title\n\n**Severity:** High | **Type:** x\n\n### Q2: Other\n\nSeverity: low\n"
    )
    review = agent_review.parse(text)
    assert [(f.severity, f.id) for f in review.findings] == [("P1", "Q1"), ("P3", "Q2")]
    assert review.unparsed == ()


@each(("row", "section", "stricter"), [("P2", "P0", "P0"), ("IMP", "P3", "P3"), ("P1", "P2", "P1")])
def test_a_row_that_is_milder_than_its_section_has_the_severity_of_the_section(
    row: str, section: str, stricter: str
) -> None:
    text = a_file(f'- {row} | Q-1 | "Login" | It never ends', verdict="Verdict: risky")
    review = agent_review.parse(f"{text}### Q-1: It never ends\n\n**Severity:** {section}\n")
    assert [finding.severity for finding in review.findings] == [stricter]
    assert ("severity_conflict" in review.flags) == (row != stricter)


def test_a_section_that_an_index_lacks_is_one_finding_though_it_is_told_twice() -> None:
    text = a_file("- P3 | Say what the flag does", verdict="Verdict: risky")
    told = "### P0: Anyone can log in\n\nYes.\n\n### P1: It leaks\n\nYes.\n\n"
    review = agent_review.parse(f"{text}{told}{told}")
    assert [(one.severity, one.title) for one in review.findings[1:]] == [
        ("P0", "Anyone can log in"), ("P1", "It leaks"),
    ]  # fmt: skip
    assert len(review.doubts) == 2


def test_a_section_without_an_id_is_not_that_of_a_row_without_one() -> None:
    text = a_file("- P3 | Say what the flag does", verdict="Verdict: risky")
    review = agent_review.parse(f"{text}### P0: Anyone can log in\n\nYes.\n")
    assert [finding.severity for finding in review.findings] == ["P3", "P0"]
    assert review.flags == ("index_incomplete",)


def test_a_serious_section_whose_id_has_no_row_makes_the_index_incomplete() -> None:
    text = a_file(P1, verdict="Verdict: needs-changes")
    for identity, flags in (("P1-1", ()), ("P1-2", ("index_incomplete",))):
        section = f"### {identity}. P1: A session never ends\n\nYes.\n"
        assert agent_review.parse(text + section).flags == flags


def test_a_finding_in_two_indexes_has_its_stricter_severity_whichever_comes_first() -> None:
    for strict, mild in (("P1", "P3"), ("P3", "IMP")):
        for pair in ((strict, mild), (mild, strict)):
            one, other = (f'- {severity} | S-1 | "Login" | It never ends' for severity in pair)
            text = a_file(one, verdict="Verdict: needs-changes") + a_file(other)
            assert [row[0] for row in found(text)] == [strict]


@each(
    ("last", "complete"),
    [
        ("<!-- flux-drive:complete -->", True),
        ("<!-- the end -->", False),
        ("All is flux-drive:complete", False),
    ],
)
def test_a_file_is_complete_if_its_last_line_is_the_sentinel(last: str, complete: bool) -> None:
    assert agent_review.parse(a_file(*ROWS, end=last)).complete is complete


def test_findings_are_known_from_an_index_or_as_a_person_would_see_them() -> None:
    clean = agent_review.parse(a_file())
    prose = agent_review.parse("# Review\n\n## P1: A session never ends\n\nIt does not.\n")
    assert clean.validation == "valid" and not clean.findings and agent_review.is_read(clean)
    assert prose.validation == "malformed" and prose.findings and agent_review.is_read(prose)
    assert not agent_review.is_read(agent_review.parse("All is fine.\n"))


def test_two_rows_of_one_index_are_two_findings_even_if_they_say_the_same() -> None:
    review = agent_review.parse(a_file(ROWS[1], ROWS[1]))
    assert [row.line for row in review.findings] == [2, 3]


def test_the_lines_of_an_index_are_those_of_the_first() -> None:
    review = agent_review.parse(a_file(*ROWS) + a_file(*ROWS))
    assert (review.start_line, review.end_line) == (1, 5)


def test_of_words_that_are_no_verdict_the_first_that_is_no_pass_is_shown() -> None:
    text = a_file(*ROWS, verdict="Verdict: approved") + a_file(verdict="Verdict: on hold")
    review = agent_review.parse(text)
    assert (review.stated, review.stated_raw) == ("", "on hold")
    assert agent_review.effective_status(review)[0] == "NEEDS_ATTENTION"


@each("mark", ["#", "##", "###", "######"])
def test_a_verdict_under_a_heading_of_any_level_counts(mark: str) -> None:
    for end in (f"{mark} Verdict\n\nneeds-changes\n", f"{mark} Verdict: needs-changes\n"):
        assert agent_review.parse(a_file(*ROWS, end=end)).stated == "needs-changes"


def test_only_the_first_line_below_a_verdict_heading_states_it() -> None:
    review = agent_review.parse(a_file(*ROWS, end="### Verdict\n\nsafe\n\nIt said:\n\nrisky\n"))
    assert review.stated == "safe"


def test_a_severe_section_without_its_row_is_flagged_next_to_a_row_without_an_id() -> None:
    row = '- P1 | | "Session" | A session never ends'
    text = a_file(row, verdict="Verdict: needs-changes", end="#### P0-9. P0: It loses data\n\nAll.")
    assert "index_incomplete" in agent_review.parse(text).flags


def test_a_review_that_failed_has_the_findings_of_its_index_alone() -> None:
    end = "### Issues Found\n#### P0-1. P0: It loses data\nAll.\n"
    review = agent_review.parse(a_file(verdict="Verdict: error", end=end))
    assert (review.validation, review.findings) == ("error", ())
    listed = agent_review.parse(a_file(P1, verdict="Verdict: error"))
    assert listed.findings and not agent_review.is_read(listed)


def test_a_work_report_has_no_index() -> None:
    header = Header(form="lines", status="COMPLETE", type="implementation")
    work = agent_review.parse("All of it is done.\n")
    assert agent_review.is_work(work, header)
    assert agent_review.effective_status(work, header) == ("COMPLETE", header.flags)
    for review, other in (
        (work, None),
        (work, header.replace(type="verdict")),
        (work, header.replace(type="design")),
        (work, header.replace(form="tail")),
        (agent_review.parse(a_file(P1, verdict="Verdict: needs-changes")), header),
        (agent_review.parse(""), header),
        (agent_review.parse(a_file(verdict="Verdict: error")), header),
    ):
        assert not agent_review.is_work(review, other)


@each(("mode", "kind"), [("", "verdict"), ("review", "verdict"), ("research",) * 2])
def test_an_empty_file_is_missing_in_its_mode(mode: str, kind: str) -> None:
    review = agent_review.parse(" \n", mode)
    assert (review.validation, review.type) == ("missing", kind)
    assert (review.start_line, review.end_line, review.findings, review.flags) == (0, 0, (), ())


def test_a_header_that_is_stricter_than_the_review_counts_and_is_flagged() -> None:
    clean, severe = (agent_review.parse(text) for text in (a_file(*ROWS), a_file(P1)))
    for status, review, said in (
        ("CLEAN", clean, ("CLEAN", ())),
        ("NEEDS_ATTENTION", clean, ("NEEDS_ATTENTION", ("header_mismatch",))),
        ("CLEAN", severe, ("NEEDS_ATTENTION", ("verdict_mismatch",))),
        ("ERROR", severe, ("ERROR", ("header_mismatch", "verdict_mismatch"))),
        ("NEEDS_ATTENTION", severe, ("NEEDS_ATTENTION", ("verdict_mismatch",))),
    ):
        header = Header(form="lines", status=status)
        assert agent_review.effective_status(review, header) == said


def test_two_indexes_are_read_as_one_and_the_strictest_verdict_counts() -> None:
    text = a_file(*ROWS) + "\n## Findings Index\n\n" + "\n".join([*ROWS, P1]) + "\nVerdict: risky\n"
    review = agent_review.parse(text)
    assert [f.severity for f in review.findings] == ["P2", "P3", "IMP", "P1"]
    assert (review.stated, review.flags) == ("risky", ("two_indexes",))


def test_a_verdict_in_an_index_without_rows_counts_next_to_one_with_rows() -> None:
    review = agent_review.parse(a_file(*ROWS) + "\n### Findings Index\nVerdict: risky\n")
    assert (review.stated, review.stated_raw) == ("risky", "risky")


def test_a_quoted_error_stub_does_not_take_the_findings_away() -> None:
    text = a_file(P0, verdict="Verdict: risky") + "\n### Findings Index\nVerdict: error\n"
    review = agent_review.parse(text)
    assert (review.validation, review.stated) == ("valid", "risky")
    assert agent_review.effective_status(review) == ("NEEDS_ATTENTION", ("two_indexes", "unparsed"))


def test_lines_that_were_not_understood_are_kept_with_their_numbers() -> None:
    review = agent_review.parse(a_file(*ROWS, "Anyone can\x1b[31m log in"))
    assert review.unparsed == ("5: Anyone can [31m log in",)
    many = agent_review.parse(a_file(*["garbage"] * 900))
    assert len(many.unparsed) == 50 and agent_review.effective_status(many)[0] == "NEEDS_ATTENTION"


@each("newline", ["\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_do_not_matter(newline: str) -> None:
    text = a_file(P1, *ROWS, verdict="Verdict: risky")
    assert agent_review.parse("\ufeff" + text.replace("\n", newline)) == agent_review.parse(text)


# Research

RESEARCH = """\
### Sources

- [A paper](https://example.org/a)
- `src/a.py:10`

### Findings

**1. Batches are faster.** A paragraph.

**Confidence: High**

#### Caches help

### Confidence

High: two papers agree.

### Gaps

- Nothing on Windows.

<!-- flux-research:complete -->
"""


def without(section: str) -> str:
    before, _, rest = RESEARCH.partition(f"### {section}\n")
    return before + rest[rest.find("\n### ") + 1 if "\n### " in rest else len(rest) :]


def test_a_section_of_research_ends_at_a_heading_of_its_level_or_above() -> None:
    for heading, status in (
        ("# Notes", "PARTIAL"),
        ("### Notes", "PARTIAL"),
        ("#### N", "COMPLETE"),
    ):
        text = RESEARCH.replace("High: two papers agree.", f"Low.\n\n{heading}\n\nHigh.")
        assert agent_review.effective_status(agent_review.parse(text, "research"))[0] == status


def test_three_of_the_four_sections_make_a_file_research_or_its_sentinel() -> None:
    sections = ("Sources", "Findings", "Confidence", "Gaps")
    for many, kind in ((2, "verdict"), (3, "research"), (4, "research")):
        text = "\n".join(f"### {name}\n\n- It says so.\n" for name in sections[:many])
        assert agent_review.parse(text).type == kind
    assert agent_review.parse("Text.\n\n<!-- flux-research:complete -->\n").type == "research"
    assert agent_review.parse("### Sources\n\n- x\n\n### Gaps\n\n### Findings\n").type == "research"


def test_only_headings_of_findings_are_findings_of_research() -> None:
    for section in ("Sources", "Confidence", "Gaps"):
        text = RESEARCH.replace(f"### {section}\n", f"### {section}\n\n#### No finding\n")
        titles = [finding.title for finding in agent_review.parse(text).findings]
        assert titles and "No finding" not in titles
    text = RESEARCH.replace("- Nothing on Windows.", "**Nothing** on Windows.")
    text = text.replace("High: two", "**High** because two")
    review = agent_review.parse(text)
    assert [finding.title for finding in review.findings] == [
        "1. Batches are faster.",
        "Caches help",
    ]
    assert review.flags == ()


def test_a_lone_heading_is_a_finding_of_research() -> None:
    before, _, after = RESEARCH.partition("**1. Batches")
    review = agent_review.parse(before + after[after.index("#### Caches") :])
    assert [finding.title for finding in review.findings] == ["Caches help"]
    assert agent_review.effective_status(review) == ("COMPLETE", ())


def test_research_says_of_its_confidence_that_it_is_missing_or_low_and_not_both() -> None:
    heading = "### Confidence\n\n"
    assert agent_review.parse(RESEARCH.replace("High: two", "Low: two")).flags == (
        "low_confidence",
    )
    for text in (
        without("Confidence"),
        RESEARCH.replace(f"{heading}High: two papers agree.", heading),
    ):
        assert agent_review.parse(text).flags == ("no_confidence",)


def test_a_line_that_begins_with_a_tag_is_read_and_is_no_comment() -> None:
    text = RESEARCH.replace("High: two", "<b>High</b>: two")
    assert agent_review.parse(text).flags == ()


def test_a_significant_gap_in_a_finding_is_no_gap_of_the_research() -> None:
    text = RESEARCH.replace("A paragraph.", "\n\nA significant gap to the slower one.")
    assert agent_review.parse(text).flags == ()


def test_research_fails_if_an_index_in_it_says_error_and_by_no_other_verdict() -> None:
    for verdict, validation, stated, status in (
        ("error", "error", "error", "FAILED"),
        ("safe", "valid", "", "COMPLETE"),
        ("risky", "valid", "", "COMPLETE"),
        ("wobbly", "valid", "", "COMPLETE"),
    ):
        text = f"### Findings Index\nVerdict: {verdict}\n\n{RESEARCH}"
        review = agent_review.parse(text, "research")
        assert (review.validation, review.stated) == (validation, stated)
        assert agent_review.effective_status(review)[0] == status


def test_research_is_complete_with_its_four_sections() -> None:
    review = agent_review.parse(RESEARCH)
    assert (review.type, review.validation, review.complete) == ("research", "valid", True)
    assert review.sources == ("[A paper](https://example.org/a)", "`src/a.py:10`")
    assert [f.title for f in review.findings] == ["1. Batches are faster.", "Caches help"]
    assert agent_review.effective_status(review) == ("COMPLETE", ())


@each(
    ("section", "status", "flag"),
    [
        ("Sources", "PARTIAL", "no_sources"),
        ("Findings", "FAILED", "no_findings"),
        ("Confidence", "PARTIAL", "no_confidence"),
        ("Gaps", "PARTIAL", "no_gaps"),
    ],
)
@each("mode", ["", "research"])
def test_research_that_lacks_a_section_is_not_complete(
    mode: str, section: str, status: str, flag: str
) -> None:
    title, body = f"### {section}\n", without(section)
    for text in (body, f"{title}\n{body}", f"{body}\n{title}", f"{body}\n{title}\n\n"):
        got, flags = agent_review.effective_status(agent_review.parse(text, mode))
        assert got == status and flag in flags, text


@each(
    ("change", "status"),
    [
        (("High: two papers agree.", "Low: a guess."), "PARTIAL"),
        (("Nothing on Windows.", "Significant gaps: half of it."), "PARTIAL"),
        (("### Gaps", "```\n### Gaps"), "PARTIAL"),
        (("### ", "## "), "COMPLETE"),
        (("### ", "1. "), "FAILED"),
    ],
)
def test_research_is_as_good_as_what_it_says_of_itself(
    change: tuple[str, str], status: str
) -> None:
    assert (
        agent_review.effective_status(agent_review.parse(RESEARCH.replace(*change), "research"))[0]
        == status
    )


@each("text", ["", "\n", "No idea.", "### Findings Index\nVerdict: error\n"])
def test_research_without_anything_useful_has_failed(text: str) -> None:
    review = agent_review.parse(text, "research")
    assert review.type == "research"
    assert agent_review.effective_status(review)[0] == "FAILED"


def test_a_review_is_never_taken_for_research_nor_the_other_way_round() -> None:
    text = a_file(P0) + "\n### Sources\n\n- x\n\n### Findings\n\nx\n\n### Confidence\n\nHigh\n"
    assert agent_review.parse(text).type == "verdict"
    assert said(RESEARCH.replace("###", "####"))[0] == "COMPLETE"
    assert (
        agent_review.effective_status(agent_review.parse(RESEARCH, "review"))[0]
        == "NEEDS_ATTENTION"
    )


# Never clean


@each("path", REFUSED)
def test_what_is_wrong_in_one_way_is_not_clean(path: Path) -> None:
    text = path.read_bytes().decode()
    for changed in (text, text.replace("\n", "\r\n"), "\ufeff" + text, text + "\n\n"):
        assert said(changed)[0] in ("NEEDS_ATTENTION", "ERROR")


STRICT = """\
### Findings Index
- P2 | P2-1 | "Cache" | The cache is never emptied
- P0 | P0-1 | "Login" | Anyone can log in with an empty password
- P3 | P3-1 | "Names" | Two names for one thing
Verdict: {verdict}

### Summary

Login is open to everyone; the rest is small.

### Issues Found

#### P2-1. P2: The cache is never emptied

It grows: `src/cache.py:12`.

#### P0-1. P0: Anyone can log in with an empty password

```python
if given in stored:
    let_in()
```

#### P3-1. P3: Two names for one thing

<!-- flux-drive:complete -->
"""
LABELS = """\
# fd-safety Review

## Findings Index

**Critical (Must Fix):**
1. Anyone can log in with an empty password

**Medium:**
2. The cache is never emptied

**Verdict:** {verdict}

---

## Issues

**P0-1: Anyone can log in with an empty password**

Really.

**P2-1: The cache is never emptied**
"""
TABLE = """\
## Findings Index

| Severity | ID | Section | Title |
|---|---|---|---|
| P2 | F-1 | "Cache" | The cache is never emptied |
| P0 | F-2 | "Login" | Anyone can log in |

## Verdict

**{verdict}**

## Details

### F-1: The cache is never emptied (P2)

It grows.

### F-2: Anyone can log in (Blind Spot, P0)

Really.
"""
PLACES = """\
# fd-x

## Findings Index
- [P2] src/cache.py:12 — The cache is never emptied
- [P0] src/login.py:40 — Anyone can log in

## Findings
- **[F1] P2 src/cache.py:12** — The cache is never emptied
- **[F2] P0 src/login.py:40** — Anyone can log in

## Verdict
{verdict}
"""

Mutation = Callable[[str, st.DataObject], str]
MARKS = '|-*#`~P0123.:"“ \n\r\tsafe<>!_[]()\u200b\x0c\ufeff\x00\x1b'


def _place(text: str, data: st.DataObject) -> int:
    return data.draw(st.integers(0, len(text) - 1))


def _line(text: str, data: st.DataObject) -> tuple[list[str], int]:
    lines = text.split("\n")
    return lines, data.draw(st.integers(0, len(lines) - 1))


def flip(text: str, data: st.DataObject) -> str:
    at = _place(text, data)
    return text[:at] + data.draw(st.sampled_from(MARKS)) + text[at + 1 :]


def delete(text: str, data: st.DataObject) -> str:
    at = _place(text, data)
    return text[:at] + text[at + 1 :]


def insert(text: str, data: st.DataObject) -> str:
    at = _place(text, data)
    return text[:at] + data.draw(st.text(st.sampled_from(MARKS), max_size=3)) + text[at:]


def cut_off(text: str, data: st.DataObject) -> str:
    return text[: _place(text, data)]


def drop_line(text: str, data: st.DataObject) -> str:
    lines, at = _line(text, data)
    return "\n".join(lines[:at] + lines[at + 1 :])


def double_line(text: str, data: st.DataObject) -> str:
    lines, at = _line(text, data)
    lines.insert(data.draw(st.integers(0, len(lines))), lines[at])
    return "\n".join(lines)


def move_line(text: str, data: st.DataObject) -> str:
    lines, at = _line(text, data)
    line = lines.pop(at)
    lines.insert(data.draw(st.integers(0, len(lines))), line)
    return "\n".join(lines)


def join_lines(text: str, data: st.DataObject) -> str:
    lines, at = _line(text, data)
    lines[at : at + 2] = ["".join(lines[at : at + 2])]
    return "\n".join(lines)


def dress_line(text: str, data: st.DataObject) -> str:
    lines, at = _line(text, data)
    before, after = data.draw(
        st.sampled_from(
            [("  ", ""), ("        ", ""), ("\t", ""), ("> ", ""), ("- ", ""), ("<!-- ", " -->"),
             ("<!--", ""), ("~~", "~~"), ("`", "`"), ("**", "**"), ("#### ", ""), ("| ", " |")]
        )
    )  # fmt: skip
    lines[at] = before + lines[at] + after
    return "\n".join(lines)


def fence(text: str, data: st.DataObject) -> str:
    """One fence line, or two: a piece of the file becomes code."""
    mark = data.draw(st.sampled_from(["```", "~~~", "```text", "````", "  ```"]))
    lines, at = _line(text, data)
    lines.insert(at, mark)
    if data.draw(st.booleans()):
        lines.insert(data.draw(st.integers(0, len(lines))), mark[:3])
    return "\n".join(lines)


def another_severity(text: str, data: st.DataObject) -> str:
    """Another digit for one of the severities, in a row or in a heading."""
    places = [at for at in range(len(text) - 1) if text[at] == "P" and text[at + 1].isdigit()]
    at = data.draw(st.sampled_from(places))
    return text[: at + 1] + data.draw(st.sampled_from("123456789")) + text[at + 2 :]


def another_heading(text: str, data: st.DataObject) -> str:
    lines = text.split("\n")
    at = data.draw(st.sampled_from([at for at, line in enumerate(lines) if line[:1] == "#"]))
    title = lines[at].lstrip("# ")
    change = st.sampled_from(["", "# ", "## ", "##### ", "####### ", "#", "x ", "1. ", "### A "])
    lines[at] = data.draw(change) + title + data.draw(st.sampled_from(["", " x", " (2)", ":", "s"]))
    return "\n".join(lines)


def without_bars(text: str, data: st.DataObject) -> str:
    lines, at = _line(text, data)
    other = data.draw(st.sampled_from(["", "||", "\\|", "¦", " ", "│"]))
    lines[at] = lines[at].replace("|", other, data.draw(st.integers(1, 4)))
    return "\n".join(lines)


def say_more(text: str) -> str:
    return text + "\n\nNothing else to say.\n"


BREAKING: list[Mutation] = [
    flip, delete, insert, cut_off, drop_line, double_line, move_line, join_lines, dress_line,
    fence, another_severity, another_heading, without_bars,
]  # fmt: skip
KEEPING: list[Callable[[str], str]] = [
    str.upper,
    str.lower,
    str.title,
    str.swapcase,
    lambda text: text.replace("\n", "\r\n"),
    lambda text: "\ufeff" + text,
    lambda text: text.replace("\n- ", "\n* ").replace('"', "“"),
    lambda text: text.replace("\n\n", "\n"),
    lambda text: text.replace(" ", "\u00a0"),
    lambda text: "<!-- run-uuid: 1b4e28ba -->\n" + text,
    say_more,
]


@given(
    base=st.sampled_from([STRICT, LABELS, TABLE, PLACES]),
    verdict=st.sampled_from(["safe", "safe", "safe — fine", "PASS", "risky", "needs-changes"]),
    break_it=st.sampled_from(BREAKING),
    keep=st.lists(st.sampled_from(KEEPING), max_size=2),
    data=st.data(),
)
def test_no_single_damage_makes_a_review_with_a_p0_clean(
    base: str,
    verdict: str,
    break_it: Mutation,
    keep: list[Callable[[str], str]],
    data: st.DataObject,
) -> None:
    """The P0 stands in the index and among the issues, whatever verdict the agent states.

    A mutation may damage the text once, at any place (`BREAKING`), and changes that leave every
    word in its place may follow (`KEEPING`). None may take the P0 out of the index and the
    issues in one go, other than by cutting the file off or putting all of it into a fence.
    """
    text = break_it(base.format(verdict=verdict), data)
    for change in keep:
        if not (break_it is cut_off and change is say_more):  # that would hide the cut
            text = change(text)
    assert said(text)[0] in ("NEEDS_ATTENTION", "ERROR")


@given(st.lists(st.sampled_from([*STRICT.split("\n"), "```", "- x", "", P0, "**P1:**"])))
def test_any_order_of_lines_is_read_without_a_fault(lines: list[str]) -> None:
    text = "\n".join(lines)
    for mode in ("", "review", "research"):
        status, flags = agent_review.effective_status(agent_review.parse(text, mode))
        assert status and len(set(flags)) == len(flags)
    if P0 in lines and not any(line.startswith("```") for line in lines):
        assert said(text)[0] != "CLEAN"


@given(st.text(st.one_of(st.sampled_from(MARKS + "#*|-"), st.characters(codec="utf-8"))))
def test_no_text_at_all_is_too_odd(text: str) -> None:
    for start in ("", "### Findings Index\n"):
        review = agent_review.parse(start + text)
        assert isinstance(review, Review)
        assert agent_review.effective_status(review)[0] in ("CLEAN", "NEEDS_ATTENTION", "ERROR")


# Time


HEAD = "### Findings Index\n"
# Texts of about `n` things, each as many as there may be in the largest that anybody writes.
HUGE: dict[str, tuple[int, Callable[[int], str]]] = {
    "rows": (5_000, lambda n: HEAD + "".join(f'- P0 | P0-{i} | "S" | T\n' for i in range(n))),
    "one line": (400_000, lambda n: HEAD + '- P2 | P2-1 | "S" | ' + "x" * n),
    "bars": (400_000, lambda n: HEAD + "|" * n),
    "marks": (60_000, lambda n: HEAD + "*#`-[ " * n),
    "indexes": (5_000, lambda n: (HEAD + "Verdict: error\n") * n),
    "fences": (20_000, lambda n: HEAD + "```x\n" * n),
    "issues": (
        5_000,
        lambda n: HEAD + P0 + "\n" + "".join(f"#### P0-{i}. P0: T\n" for i in range(n)),
    ),
    "labels": (10_000, lambda n: HEAD + "**Critical:**\n" * n),
    "prose": (400_000, lambda n: HEAD + P0 + "\nVerdict: risky\n\n" + "word " * n),
    "lines": (200_000, lambda n: HEAD + "\n" * n),
}


@each("name", HUGE)
def test_time_grows_with_the_length_only(name: str) -> None:
    most, text = HUGE[name]

    def status(text: str) -> None:
        assert agent_review.effective_status(agent_review.parse(text))[0] != "CLEAN"

    assert grows_in_proportion(status, text, most // rounds(4, 1))


# Real files

# An index there, findings of each severity, stated verdict, status. Counted by hand.
REAL: dict[str, tuple[bool, dict[str, int], str, str]] = {
    "2026-02-10-test-suite-design--fd-v2-performance": (
        True, {"P1": 2, "P2": 2, "IMP": 3}, "needs-changes", "NEEDS_ATTENTION"),
    "2026-02-12-flux-gen-drive-integration--fd-architecture": (
        True, {"P0": 3, "P1": 4, "IMP": 4}, "needs-changes", "NEEDS_ATTENTION"),
    "2026-02-12-flux-gen-drive-integration--fd-quality": (
        True, {"P0": 2, "P1": 5, "IMP": 4}, "needs-changes", "NEEDS_ATTENTION"),
    "Clavain--fd-quality": (
        True, {"P0": 2, "P1": 3, "P2": 1, "IMP": 5}, "needs-changes", "NEEDS_ATTENTION"),
    "Clavain--fd-user-product": (
        False, {"P0": 4, "P1": 7, "P2": 2}, "", "NEEDS_ATTENTION"),
    "SKILL--fd-performance": (
        True, {"P0": 3, "P1": 4, "P2": 1, "IMP": 3}, "needs-changes", "NEEDS_ATTENTION"),
    "SKILL--fd-user-product": (
        True, {"P0": 2, "P1": 5, "IMP": 8}, "needs-changes", "NEEDS_ATTENTION"),
    "clavain-token-efficiency-trio--fd-architecture": (
        True, {"P0": 5, "P1": 5, "P2": 4}, "", "NEEDS_ATTENTION"),
    "clavain-token-efficiency-trio--fd-quality": (
        True, {"P1": 1, "P2": 4, "P3": 2}, "", "NEEDS_ATTENTION"),
    "fd-v2-validation-diff--fd-v2-quality": (
        True, {"P1": 3, "P2": 3, "IMP": 3}, "needs-changes", "NEEDS_ATTENTION"),
    "flux-gen-review--fd-prompt-engineering": (
        True, {"P0": 2, "P1": 4, "IMP": 3}, "needs-changes", "NEEDS_ATTENTION"),
    "flux-gen-review--fd-user-product": (
        True, {"P0": 2, "P1": 4, "P2": 1, "IMP": 5}, "needs-changes", "NEEDS_ATTENTION"),
    "interflux--adjacent--fd-security": (
        True, {"P0": 2, "P1": 2, "P2": 3, "P3": 1}, "", "NEEDS_ATTENTION"),
    "interflux--interflux-roadmap-priorities--best-practices-researcher": (
        False, {"": 12}, "", "COMPLETE"),
    "interflux--orchestration-best-practices-2026-06-14--repo-research-analyst": (
        False, {"": 7}, "", "COMPLETE"),
    "interflux--probe-0--fd-adjudicator": (True, {"P0": 1}, "", "NEEDS_ATTENTION"),
    "interflux--probe-2--fd-fusion-security-x-performance": (
        True, {"P0": 1, "P1": 2, "P2": 1}, "", "NEEDS_ATTENTION"),
    "interflux--research--review-architecture-of-budget-controls": (
        False, {"P1": 2, "P2": 2, "IMP": 3}, "needs-changes", "NEEDS_ATTENTION"),
    "interflux--research--synthesize-quality-gate-findings": (
        False, {"P1": 7, "P2": 5, "P3": 12}, "needs-changes", "NEEDS_ATTENTION"),
    "interflux--research--test-fd-perception-on-brainstorm": (
        True, {"P1": 2, "P2": 4, "P3": 2}, "needs-changes", "NEEDS_ATTENTION"),
    "interflux--tracks--track-a-correctness": (
        False, {"P1": 4, "P2": 4, "P3": 3}, "", "NEEDS_ATTENTION"),
    "interflux--tracks--track-c-cartography": (
        False, {"P0": 1, "P1": 3, "P2": 2}, "", "NEEDS_ATTENTION"),
    "joyful-wondering-seal--fd-performance": (
        True, {"P0": 1, "P1": 1, "IMP": 3}, "safe", "NEEDS_ATTENTION"),
    "joyful-wondering-seal--fd-quality": (
        True, {"P0": 2, "P1": 4, "IMP": 3}, "needs-changes", "NEEDS_ATTENTION"),
    "slicing-consolidation--fd-quality": (
        True, {"P1": 2, "P2": 2, "IMP": 3}, "needs-changes", "NEEDS_ATTENTION"),
    "strongdm-techniques--fd-performance": (
        True, {"P1": 4, "P2": 4, "IMP": 4}, "needs-changes", "NEEDS_ATTENTION"),
    "strongdm-techniques--oracle-council": (
        True, {"P0": 2, "P1": 8, "P2": 7, "IMP": 6}, "risky", "NEEDS_ATTENTION"),
}  # fmt: skip


@pytest.mark.skipif(not CORPUS, reason="CONTEXTKIT_CORPUS names no folder of real files")
@pytest.mark.parametrize("name", REAL)
def test_a_real_file_is_read_as_a_person_reads_it(name: str) -> None:
    text = (Path(CORPUS) / "reviews" / f"{name}.md").read_text(encoding="utf-8")
    has_index, severities, stated, status = REAL[name]
    review = agent_review.parse(text)
    counts: dict[str, int] = {}
    for finding in review.findings:
        counts[finding.severity] = counts.get(finding.severity, 0) + 1
    assert bool(review.start_line) == has_index
    assert counts == severities
    assert (review.stated, agent_review.effective_status(review)[0]) == (stated, status)


@each(
    ("text", "summary"),
    [
        (a_file(), "no findings"),
        (
            a_file(end="A critical hole remains."),
            "no findings, but line 7 says critical, which its index lacks",
        ),
        (a_file('- ODD | X-1 | "A" | Odd'), "no findings, but line 2 was not understood"),
        (
            a_file(end="#### P1-1. P1: It leaks"),
            "1 P1: It leaks",
        ),
        (a_file(end="```\nopen"), "no findings, but a code fence is never closed"),
        (a_file(verdict="Verdict: needs-changes"), "no findings, but it states needs-changes"),
        (a_file(ROWS[0], verdict="Verdict: whatever"), "1 P2, but its verdict is not clear"),
        (a_file(P1), "1 P1: A session never ends"),
    ],
)
def test_the_summary_says_why_a_review_without_a_serious_row_needs_attention(
    text: str, summary: str
) -> None:
    made = agent_files.summary_of(agent_review.parse(text), None, there=True, partial=False)
    assert made == summary


def test_what_looks_like_a_finding_and_has_no_severity_is_said_aloud(
    repo: Path, run: Script
) -> None:
    folder = Path("docs/reviews/old")
    folder.mkdir(parents=True)
    text = (
        "# Notes\n\n## 1. [P0] login() loses data\n`src/app.py:42` drops the row.\n\n"
        "## The loop in b\nIt crashes (`src/b.py:7`).\n"
    )
    (folder / "ui.md").write_text(text, encoding="utf-8")
    assert run("verdict", "ingest", f"--dir={folder}") == 0
    run("verdict", "table")
    said = "at least 1 P0 read without an index; 1 block looks like a finding: line 6: login()"
    assert said in run.out


def test_a_severity_that_no_finding_explains_is_named(repo: Path, run: Script) -> None:
    folder = Path("docs/reviews/old")
    folder.mkdir(parents=True)
    text = (
        "# Notes\n\n## [P0] login() loses data\n`src/app.py:42` drops the row.\n\n"
        "## Rest\n\nThe export has a P1 that Mara will write down.\n\n3 critical, 1 low.\n"
    )
    (folder / "ui.md").write_text(text, encoding="utf-8")
    assert run("verdict", "ingest", f"--dir={folder}") == 0
    run("verdict", "table")
    assert "at least 1 P0 read without an index; 2 blocks look like findings: lines 8" in run.out


def test_of_a_file_that_is_far_too_long_the_first_lines_are_read_and_it_is_never_clean(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (reader, agent_review):
        monkeypatch.setattr(module, "MOST_LINES", 2_000)
    row = '- P3 | P3-1 | "One" | A word\n'
    head = f"### Findings Index\n{row}Verdict: safe\n\n### Summary\nA word.\n"
    fits = head + "word\n" * (reader.MOST_LINES - head.count("\n"))
    assert agent_review.effective_status(agent_review.parse(fits))[0] == "CLEAN"
    review = agent_review.parse(fits + "\n#### P0-1. It is lost\n")
    assert agent_review.effective_status(review) == ("NEEDS_ATTENTION", ("too_long",))
    carriages = agent_review.parse((fits + "word\n").replace("\n", "\r"))
    assert agent_review.effective_status(carriages) == ("NEEDS_ATTENTION", ("too_long",))
    assert [one.title for one in review.findings] == ["A word"]
    Path("out").mkdir()
    Path("out/fd-a.md").write_text(fits + "more\n", encoding="utf-8")
    assert run("verdict", "check", "--file=out/fd-a.md") == 1
    assert "2000: only the first 2,000 lines are read" in run.out
    assert run("verdict", "gate", "--dir=out") == 1
    assert (
        "malformed\tfd-a\tonly its first 2" in run.out
    )  # 2,000, or 20,000 if it was loaded before


def test_a_long_listing_in_json_is_read_whole() -> None:
    found = [{"severity": "high", "title": f"Defect {n}", "file": f"a{n}.py", "line": n}
             for n in range(5_000)]  # fmt: skip
    review = agent_review.parse(json.dumps(found, indent=1))
    assert review.findings[-1].title == "Defect 4999" and "too_long" not in review.flags


def test_what_a_scanner_prints_of_itself_is_no_severity() -> None:
    printed = """\
== Overview ==

Errors: 0
Security Warnings: 1

== Warning Types ==

SQL Injection: 1

== Warnings ==

Confidence: High
Category: SQL Injection
Message: Possible SQL injection
File: app/models/order.rb
Line: 14
"""
    found = reader.read(printed)
    assert found.findings == ()
    assert found.unsure == (12,)


@each(
    ("below", "listed"),
    [
        ("#### IMP-7. Name the cache\nIt helps.\n", ["IMP-7"]),
        ("- IMP-7: Name the cache\n- IMP-8: Say why\n", ["IMP-7", "IMP-8"]),
        ("#### IMP-1. Say what the flag does\n", []),  # it has its row
        ("Nothing else.\n", []),
    ],
)
def test_an_improvement_without_a_row_is_listed(below: str, listed: list[str]) -> None:
    text = a_file(*ROWS)
    review = agent_review.parse(f"{text}\n### Improvements\n{below}")
    assert [finding.id for finding in review.findings[len(ROWS) :]] == listed
    assert agent_review.effective_status(review) == ("CLEAN", ())


def test_an_improvement_without_a_row_explains_nothing() -> None:
    text = a_file(*ROWS) + "\n### Issues Found\n#### IMP-7. login() loses data\nEverybody's.\n"
    assert agent_review.effective_status(agent_review.parse(text))[0] == "NEEDS_ATTENTION"
