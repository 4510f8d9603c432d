"""sections.py and contracts.py: the part to read for one finding, and what is wrong."""

from __future__ import annotations

from pathlib import Path

from conftest import REFUSED_TEXTS, each
from contextkit.reviews.documents import agent_review, index, reader, sections
from contextkit.reviews.documents.complaints import check
from contextkit.reviews.flows import drill_down
from growth import grows_in_proportion
from hypothesis import given
from hypothesis import strategies as st

REFUSED = sorted((REFUSED_TEXTS).glob("review_*.md"))
STRICT = """\
### Findings Index
- P0 | P0-1 | "Login" | Anyone can log in
- P1 | P1-1 | "Session" | A session never ends
- IMP | IMP-1 | "Docs" | Say what the flag does
Verdict: risky

### Summary

Login is open to everyone.

### Issues Found

#### P0-1. P0: Anyone can log in

`src/login.py:40` compares with `in`.

```python
#### P1-1. P1: not a heading
let_in()
```

##### Evidence

See above.

#### P1-1. P1: A session never ends

Because nothing ends it.

---

### Improvements

#### IMP-1. Say what the flag does

<!-- flux-drive:complete -->
"""

ROWS = [
    '- P0 | P0-1 | "Login" | Anyone can log in',
    '- P1 | P1-1 | "Session" | A session never ends',
    '- IMP | IMP-1 | "Docs" | Say what the flag does',
]

RESEARCH = """\
### Sources

- [A paper](https://example.org/a)

### Findings

#### Batches are faster

By a factor of three.

#### Caches help

### Confidence

High.

### Gaps

None.
"""


# The section of a finding


def test_a_finding_of_research_ends_where_the_next_as_high_begins() -> None:
    inner = "**Of ten rows** it holds.\n\n##### Why\n\nFewer trips.\n\n"
    text = RESEARCH.replace("By a factor of three.\n\n", inner)
    text = text.replace("#### Caches help\n", "#### Caches help\n\n**One** so.\n\n**Two** too.\n")
    found = agent_review.parse(text, "research").findings
    assert [(finding.title, finding.line, finding.end) for finding in found] == [
        ("Batches are faster", 7, 13), ("Of ten rows", 9, 10), ("Why", 11, 13),
        ("Caches help", 15, 19), ("One", 17, 18), ("Two", 19, 19),
    ]  # fmt: skip


def section(text: str, finding: str) -> str:
    return sections.sections(text, [finding])[finding]


def issues(text: str) -> list[tuple[str, str, int]]:
    """Id, severity and first line of everything that looks like an issue, in order."""
    blocks: list[index.Block] = []
    list(index.walk(text, blocks))
    found = reader.issues(text, blocks)
    return [(each.id, each.severity, each.line) for each in found]


def test_a_section_goes_from_its_heading_to_the_next_of_its_rank() -> None:
    opened = section(STRICT, "P0-1")
    assert opened.startswith("#### P0-1. P0: Anyone can log in\n\n`src/login.py:40`")
    assert opened.endswith("##### Evidence\n\nSee above.")
    assert section(STRICT, "P1-1") == (
        "#### P1-1. P1: A session never ends\n\nBecause nothing ends it."
    )
    assert section(STRICT, "IMP-1") == "#### IMP-1. Say what the flag does"


@each("asked", ["P0-1", "p0-1", " [P0-1] ", "**P0-1**"])
def test_an_id_may_be_asked_for_in_any_dress(asked: str) -> None:
    assert section(STRICT, asked).startswith("#### P0-1.")


@each(
    "heading",
    [
        "#### P0-1. Title", "### P0-1: Title", "### P0-1 — Title", "P0-1. P0: Title",
        "**P0-1: Title** (Login)", "**P0-1. Title**", "#### [P0-1] Title", "- **P0-1** — Title",
        "1. **[P0] P0-1: Title**", "### **P0-1** - Title", "### Finding P0-1: Title",
    ],
)  # fmt: skip
def test_sections_are_found_by_whatever_heads_them(heading: str) -> None:
    before = "\n".join(["### Findings Index", *ROWS, "Verdict: risky", "", "## Issues", ""])
    text = f"{before}\n{heading}\n\nBody.\n\n## Overall Assessment\n\nBad.\n"
    assert section(text, "P0-1") == f"{heading}\n\nBody."
    assert agent_review.parse(text).flags == ()


def test_a_bold_section_ends_at_the_next_one() -> None:
    text = "**P0-1: One**\n\nBody.\n- P1-1: see below\n\n**P1-1: Two**\n\nMore.\n"
    assert section(text, "P0-1") == "**P0-1: One**\n\nBody."


def test_the_row_stands_in_where_there_is_no_section() -> None:
    text = "\n".join(["### Findings Index", *ROWS, "Verdict: risky", ""])
    assert section(text, "P1-1") == ROWS[1]


def test_any_other_heading_may_be_asked_for_too() -> None:
    assert section(STRICT, "summary") == "### Summary\n\nLogin is open to everyone."
    assert section(RESEARCH, "Batches are faster") == (
        "#### Batches are faster\n\nBy a factor of three."
    )


@each("asked", ["P9-9", "", "  ", "**", "not a heading"])
def test_what_is_not_there_is_empty(asked: str) -> None:
    assert section(STRICT, asked) == ""
    assert section("", asked) == ""


def test_many_sections_are_cut_in_one_reading() -> None:
    wanted = ["P0-1", "P1-1", "nothing"]
    assert sections.sections(STRICT, wanted) == {asked: section(STRICT, asked) for asked in wanted}

    def report(count: int) -> str:
        rows = "".join(f'- P1 | P1-{n} | "S" | T\n' for n in range(count))
        issues = "".join(f"#### P1-{n}. P1: T\n\ntext\n\n" for n in range(count))
        return f"### Findings Index\n{rows}Verdict: needs-changes\n\n### Issues Found\n\n{issues}"

    def all_of(text: str) -> None:
        found = sections.sections(text, [f"P1-{n}" for n in range(text.count("#### "))])
        assert found["P1-99"] == "#### P1-99. P1: T\n\ntext"

    assert grows_in_proportion(all_of, report, 1_500)


# Issues


def test_issues_are_listed_with_their_severity_and_lines() -> None:
    assert issues(STRICT) == [
        ("P0-1", "P0", 13), ("P1-1", "P1", 26), ("IMP-1", "IMP", 34),
    ]  # fmt: skip


@each(
    ("line", "issue"),
    [
        ("### Q-1. P1: Title", ("Q-1", "P1")),
        ("### FD-P3: Title (Blind Spot, P2)", ("FD-P3", "P2")),
        ("### Finding 1.1: Title (P0)", ("1.1", "P0")),
        ("- **[F1] P0 src/a.py:3** — Title", ("F1", "P0")),
        ("1. **[HIGH] F2: Title**", ("F2", "P1")),
        ("- [P1] src/a.py:3 — Title", ("", "P1")),
        ("### Race in the writer (P0)", ("", "P0")),
        ("- P0 | P0-7 | \"S\" | Title", ("P0-7", "P0")),
        ("P0-1. P2: Title", ("P0-1", "P0")),
        ("**Q7: Title**\n\n**Severity:** Critical (really)", ("Q7", "P0")),
        ("## P1 Issues\n\nOne thing.", ("", "P1")),
        ("### Critical\n\nOne thing.", ("", "P0")),
    ],
)  # fmt: skip
def test_issues_come_in_many_shapes(line: str, issue: tuple[str, str]) -> None:
    found = issues(f"# Review\n\n{line}\n\ntext\n")
    assert [(identity, severity) for identity, severity, _ in found] == [issue]


@each(
    "line",
    [
        "See P0-1: it is bad.", "### High-level design",
        "High latency is expected.", "## P0 Issues\n\nNone.", "## P1 Issues\n\n## Summary",
        "- P0: none", "```\n#### P0-1: quoted\n```", "> #### P0-1: quoted", "| P0 | 3 |",
        "### Critical path analysis", "**Note:** P0-1", "1.2. Numbers",
    ],
)  # fmt: skip
def test_prose_that_names_a_severity_is_no_issue(line: str) -> None:
    assert issues(f"# Review\n\n{line}\n") == []


def test_a_finding_is_one_issue_however_often_it_is_named() -> None:
    text = "## Plan\n\n1. **P0-1:** fix it\n\n## Issues\n\n### P0-1: Title\n\nBody.\n"
    assert issues(text) == [("P0-1", "P0", 7)]


# The index in the strict form


def index_lines(review: agent_review.Review) -> list[str]:
    return [line for _, line in drill_down.index_rows(review)]


def test_the_rows_of_an_index_are_normalised() -> None:
    text = (
        "## Findings Index\n\n| ID | Severity | Title | Section |\n|---|---|---|---|\n"
        "| F-1 | Critical | Anyone can log in | Login |\n\n**Verdict: safe**\n"
    )
    assert index_lines(agent_review.parse(text)) == [
        '- P0 | F-1 | "Login" | Anyone can log in', "Verdict: risky",
    ]  # fmt: skip


@each(
    ("text", "verdict"),
    [
        (STRICT, "risky"),
        (STRICT.replace("risky", "safe"), "risky"),
        ("### Findings Index\nVerdict: safe\n", "safe"),
        ("### Findings Index\nVerdict: needs-changes\n", "needs-changes"),
        ("### Findings Index\nVerdict: error\n", "error"),
        ("### Findings Index\n- what?\nVerdict: safe\n", "needs-changes"),
    ],
)
def test_the_verdict_is_the_stricter_and_never_safe_where_there_is_doubt(
    text: str, verdict: str
) -> None:
    assert index_lines(agent_review.parse(text))[-1] == f"Verdict: {verdict}"


def test_there_are_no_rows_without_an_index() -> None:
    for text in ("", "# Review\n\nVerdict: safe\n", "```\n" + STRICT + "```\n"):
        assert index_lines(agent_review.parse(text)) == []


def test_the_index_of_research_is_its_sources_and_the_headings_of_its_findings() -> None:
    assert index_lines(agent_review.parse(RESEARCH)) == [
        "- Source | [A paper](https://example.org/a)",
        "- Finding | Batches are faster",
        "- Finding | Caches help",
    ]


def test_a_row_stays_one_line_without_control_characters() -> None:
    text = '### Findings Index\n- P2 | P2-1 | "a\x1b[31mb" | c\x0bd\u2028e\nVerdict: safe\n'
    row = index_lines(agent_review.parse(text))[0]
    assert row == '- P2 | P2-1 | "a [31mb" | c d e'


fields = st.text(st.sampled_from('abc P0123-.:"“`*()[]—é\t'), max_size=12)
severities = st.sampled_from(["P0", "P1", "P2", "P3", "IMP", "Nope"])
rows = st.lists(st.tuples(severities, fields, fields), max_size=4)


@given(rows, st.sampled_from(["safe", "needs-changes", "risky"]))
def test_reading_normalised_rows_gives_the_same_rows(
    given_rows: list[tuple[str, str, str]], verdict: str
) -> None:
    lines = [f'- {word} | F-{n} | "{a}" | {b}' for n, (word, a, b) in enumerate(given_rows)]
    text = "\n".join(["### Findings Index", *lines, f"Verdict: {verdict}", ""])
    once = index_lines(agent_review.parse(text))
    again = agent_review.parse("\n".join(["### Findings Index", *once, ""]))
    assert index_lines(again) == once


# Against the strict form


def test_nothing_is_wrong_with_the_strict_form() -> None:
    assert check(STRICT) == []
    assert check("<!-- run-uuid: 1b4e28ba -->\n" + STRICT) == []
    assert check("### Findings Index\nVerdict: safe\n") == []
    assert check("### Findings Index\nVerdict: error\n\nIt timed out.\n") == []
    assert check(RESEARCH) == []


@each(
    ("old", "new", "complaint"),
    [
        ("### Findings Index", "## Findings index",
         (1, "this is not the heading", "### Findings Index")),
        ("### Findings", "# Review\n\n### Findings",
         (3, "the index is not the first block of the file", "### Findings Index")),
        (ROWS[0], ROWS[0].replace("- ", "* ", 1), (2, "the row is not in this form", ROWS[0])),
        (ROWS[0], ROWS[0].replace("P0 ", "critical ", 1),
         (2, "the severity is P0, not 'critical'", ROWS[0])),
        (ROWS[0], ROWS[0].replace("P0 ", "P2 ", 1), (2, "the severity is P0, not 'P2'", ROWS[0])),
        (ROWS[0], ROWS[0].replace('"', "“"), (2, "the row is not in this form", ROWS[0])),
        (ROWS[0], "**[P0] Anyone can log in**",
         (2, "the row has no id", '- P0 | P0-1 | "Section" | Anyone can log in')),
        (ROWS[0], ROWS[0] + "\nwhat?",
         (3, "this line is not understood", '- P0|P1|P2|P3|IMP | ID | "Section" | Title')),
        (ROWS[2], ROWS[2] + " | P1",
         (4, "the row has more than one severity", ROWS[2] + " | P1")),
        (ROWS[0], "**Critical:**\n" + ROWS[0],
         (2, "only rows and the verdict belong in the index", "")),
        (ROWS[1], ROWS[0], (3, "the id P0-1 is used twice: each finding needs its own", "")),
        (ROWS[0] + "\n", "",
         (12, "the index has no row for this", '- P0 | P0-1 | "Section" | Title')),
        (ROWS[0], ROWS[0].replace("P0", "P3"), (13, "the index has no row for this",
         '- P0 | P0-1 | "Section" | Title')),
        ("Verdict: risky", "Verdict: safe",
         (5, "the findings make it risky, in exactly this form", "Verdict: risky")),
        ("Verdict: risky", "**Verdict:** risky",
         (5, "the findings make it risky, in exactly this form", "Verdict: risky")),
        ("Verdict: risky\n", "", (4, "the verdict is missing after this line", "Verdict: risky")),
        ("#### P0-1. P0", "#### P9-1. P3",
         (36, "there is no section for P0-1", "#### P0-1. P0: Anyone can log in")),
        ("IMP-1. Say", "IMP-1. P1: Say", (4, "its section has a stricter severity",
         '- P1 | IMP-1 | "Docs" | Say what the flag does')),
        ("### Summary", "### Words", (36, "a section is missing", "### Summary")),
        ("### Issues Found", "### Words", (36, "a section is missing", "### Issues Found")),
        ("let_in()\n```", "let_in()", (17, "this code fence is never closed", "```")),
        ("### Improvements", "### Findings Index\nVerdict: risky",
         (32, "a second index: a file has one", "")),
    ],
)  # fmt: skip
def test_each_mistake_is_told_with_its_line_and_how_it_should_read(
    old: str, new: str, complaint: tuple[int, str, str]
) -> None:
    assert old in STRICT
    assert complaint in check(STRICT.replace(old, new, 1))


def test_a_file_without_an_index_is_told_so() -> None:
    for text in ("", "# Review\n\nFine.\n", "```\n### Findings Index\nVerdict: safe\n```\n"):
        assert check(text) == [(1, "there is no Findings Index", "### Findings Index")]


def test_research_is_told_which_section_is_missing() -> None:
    text = RESEARCH.replace("### Gaps\n\nNone.\n", "")
    assert check(text) == [(15, "a section is missing", "### Gaps")]


@each("path", REFUSED)
def test_every_file_that_is_refused_is_complained_about(path: Path) -> None:
    text = path.read_bytes().decode()
    if path.stem != "review_error_stub":
        assert check(text) != []


@given(st.text(st.one_of(st.sampled_from('P0123-|#*\n `:"~'), st.characters(codec="utf-8"))))
def test_no_text_is_too_odd_to_check(text: str) -> None:
    for before in ("", "### Findings Index\n", STRICT):
        for number, what, _ in check(before + text):
            assert number > 0 and what
        for identity, severity, first in issues(before + text):
            assert first > 0 and severity in ("", "P0", "P1", "P2", "P3", "IMP")
            if identity:
                assert section(before + text, identity)


def test_a_row_without_an_id_opens_where_the_body_names_its_place() -> None:
    text = (
        "## Findings Index\n- [P0] app.py:20-22 — token used in a path\n- [P1] app.py:9 — it\n\n"
        "## Findings\n- **[F1] P0 app.py:20-22** — Path traversal.\n  evidence: x\n"
        "- **[F2] P1 app.py:9** — Never referenced.\n"
    )
    found = sections.sections(text, ["row-1", "row-2"])
    assert found["row-1"] == "- **[F1] P0 app.py:20-22** — Path traversal.\n  evidence: x"
    assert found["row-2"] == "- **[F2] P1 app.py:9** — Never referenced."


def test_a_row_without_an_id_opens_below_the_heading_that_says_the_same() -> None:
    text = (
        "### Findings Index\n**Critical:**\n1. F3 schema lacks a version\n"
        "2. F1 adds nothing\n"
        "**Verdict:** risky\n\n### Critical Violation #1: F1 Is a No-Op\nIt adds none.\n"
        "### Critical Violation #2: F3 Schema Lacks Versions\nNo field.\n"
    )
    found = sections.sections(text, ["row-1", "row-2"])
    assert found["row-1"].endswith("No field.") and found["row-2"].endswith("It adds none.")


def test_a_section_ends_where_the_next_finding_begins_whatever_its_rank() -> None:
    text = (
        '### Findings Index\n- P2 | P2-1 | "A" | One\n- P2 | P2-2 | "A" | Two\nVerdict: safe\n\n'
        "#### P2-1: One\nFirst.\n**P2-2: Two**\nSecond.\n"
    )
    assert section(text, "P2-1") == "#### P2-1: One\nFirst."
    assert section(text, "P2-2") == "**P2-2: Two**\nSecond."


def test_the_second_row_of_an_id_has_an_address_of_its_own() -> None:
    rows = '- P1 | P1-1 | "A" | One\n- P1 | P1-1 | "B" | Two\n'
    text = f"### Findings Index\n{rows}Verdict: risky\n"
    assert "Two" in section(text, "P1-1(2)")


def test_a_row_is_found_where_the_body_names_lines_around_its_own() -> None:
    text = (
        "## Findings Index\n- [P0] app.py:48-51 — Both claims hold\n"
        "- [P1] other.py:48 — Something else\n\n## Findings\n"
        "- **[F1] P0 app.py:33-51** — The second one dominates.\n  It fails on open().\n"
        "- **[F2] P1 other.py:47-49** — A word too many.\n"
    )
    review = agent_review.parse(text)
    first, second = (section(text, row.id) for row in review.findings)
    assert "It fails on open()." in first and "too many" not in first
    assert "too many" in second


def test_a_finding_above_a_deeper_index_opens_by_its_number_or_its_severity() -> None:
    title = "Two writers lose one another's entries"
    index = f'### Findings Index\n- P2 | P2-1 | "Writer" | {title}\nVerdict: safe\n'
    for head in (f"## P2: {title}", f"## P2-1. {title}", f"## {title} (P2)"):
        body = f"{head}\n`src/w.py:10`: take the lock first."
        text = f"# Review\n\n{body}\n\n{index}\n### Summary\nFine.\n"
        assert sections.sections(text, ["P2-1"]) == {"P2-1": body}
