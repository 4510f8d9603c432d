"""reader.py: a review without an index is read as a person reads it, and nothing is guessed."""

from __future__ import annotations

import json

from conftest import each
from contextkit.reviews.documents import agent_review, reader, tables


def found(text: str) -> list[tuple[str, str, str]]:
    return [(one.severity, one.id, one.title) for one in reader.read(text).findings]


@each(
    ("text", "expected"),
    [
        ("### Finding 1.1: No quickstart (P0)\nText.\n", [("P0", "1.1", "No quickstart")]),
        ("#### P1-2. P1: Two writers\n", [("P1", "P1-2", "Two writers")]),
        (
            "- **[P1] Two writers lose one** — `app.py:42` — why\n",
            [("P1", "", "Two writers lose one")],
        ),
        (
            "## P1 Findings (Must Fix)\n\n### 1. Heredoc expands\n\n### 2. No rollback\n",
            [("P1", "", "Heredoc expands"), ("P1", "", "No rollback")],
        ),
        (
            "## Critical Issues\n\n- Anyone can log in\n  - even guests\n- Tokens in the log\n",
            [("P0", "", "Anyone can log in"), ("P0", "", "Tokens in the log")],
        ),
        (
            "| Severity | ID | Finding |\n|---|---|---|\n| High | S-1 | A session never ends |\n",
            [("P1", "S-1", "A session never ends")],
        ),
        ("## The writer races\n**Severity:** P0 — data\n", [("P0", "", "The writer races")]),
        ("## Critical issues\n\nThe writer races.\n", [("P0", "", "The writer races.")]),
        ("**Q7: The writer races**\n\nSeverity: high\n", [("P1", "Q7", "The writer races")]),
        ("- [High] XSS\n", [("P1", "", "XSS")]),
        ("> P0 [db/lock.sql:14]\n> The lock is late.\n", [("P0", "", "The lock is late.")]),
        ("- `a.py:1` — **High** — races\n", [("P1", "", "races")]),
        (
            "---\nissues:\n  - id: P0-1\n    severity: P0\n    title: \"Hooks differ\"\n---\n",
            [("P0", "P0-1", "Hooks differ")],
        ),
    ],
)  # fmt: skip
def test_a_severity_in_a_heading_a_lead_a_list_a_table_or_front_matter_is_a_finding(
    text: str, expected: list[tuple[str, str, str]]
) -> None:
    assert found(text) == expected


@each(
    "text",
    [
        "# Notes\n\nThe critical path is short.\n",
        "Severity scale: P0 (critical), P1 (high), P2 (medium), P3 (low)\n",
        "## Critical issues\n\nNone found.\n",
        "## Major changes\n\nThe login moved to a module of its own.\n",
        "**High availability**\n\nTwo nodes take over from each other.\n",
        "### P0 — Structural Issues\n\nNone.\n",
        "- **Suggestion:** Use a set.\n",
        "```\n### Finding 1: x (P0)\n```\n",
        "| Severity | Count |\n|---|---|\n| Critical | 0 |\n",
        "| P0 | P1 |\n|---|---|\n| 1 | 2 |\n",
    ],
)
def test_what_names_no_severity_of_its_own_is_no_finding(text: str) -> None:
    assert found(text) == []


def test_a_recap_is_not_counted_again() -> None:
    text = (
        "### Finding 1: Slow start (P0)\n\nText.\n\n### Finding 2: Odd name (P2)\n\n"
        "## Summary of Findings\n\n### Critical (P0)\n1. **Slow start** (Finding 1)\n"
        "### Improvements (P3)\n1. **Rename it** some day\n"
    )
    assert [one[0] for one in found(text)] == ["P0", "P2", "P3"]


def test_a_file_without_an_index_has_findings_and_stays_malformed() -> None:
    review = agent_review.parse("# Review\n\n### Slow start (P0)\n\n### Odd name (P2)\n")
    assert [(one.severity, one.id) for one in review.findings] == [("P0", "row-1"), ("P2", "row-2")]
    assert review.validation == "malformed"
    assert agent_review.effective_status(review)[0] == "NEEDS_ATTENTION"


def test_a_table_of_which_most_rows_are_of_other_lengths_is_none() -> None:
    head, row = "severity,title,file\n", "high,It leaks,a.py\n"
    assert len(tables.records(head + 3 * row + 2 * "low,b\n")) == 4
    assert not tables.records(head + 3 * row + 4 * "low,b\n")


def test_a_severity_that_is_not_understood_beside_others_is_listed_as_such() -> None:
    table = "severity,title,file\nhigh,It leaks,a.py\nodd,It may leak,b.py\nnone,It is fine,c.py\n"
    objects = [dict(zip(("grade", "title", "file"), row.split(","), strict=True))
               for row in table.split("\n")[1:4]]  # fmt: skip
    for text in (table, json.dumps({"list": objects}, indent=1)):
        rows = [(one.severity, one.title) for one in reader.read(text).findings]
        assert rows == [("P1", "It leaks"), ("", "It may leak")]


def test_an_object_without_a_grade_beside_others_is_named_as_not_read() -> None:
    comments = ["[High] The lock is kept", "praise: a good name", "The lock is taken twice here"]
    told = [{"path": "a.py", "line": at, "body": body} for at, body in enumerate(comments, 1)]
    read = reader.read(json.dumps(told, indent=1))
    assert [one.title for one in read.findings] == ["The lock is kept"] and read.unsure == (12,)


def test_a_table_in_csv_is_read_row_by_row() -> None:
    text = (
        "id,severity,file,line,title\n"
        '1,High,src/a.py,12,"The lock, once taken, stays"\n'
        '2,low,src/b.py,3,"A name\nthat wraps"\n3,,src/b.py,4,Of no severity\n'
        "S-4,Critical,src/c.py,44,Anyone can log in\n"
    )
    rows = [(one.severity, one.id, one.title, one.line, one.end, one.file, one.at)
            for one in reader.read(text).findings]  # fmt: skip
    assert rows == [
        ("P1", "", "The lock, once taken, stays", 2, 2, "src/a.py", 12),
        ("P3", "", "A name that wraps", 3, 4, "src/b.py", 3),
        ("P0", "S-4", "Anyone can log in", 6, 6, "src/c.py", 44),
    ]
    assert found("one,two,three\n1,Critical,Anyone can log in\n") == []


def test_a_record_of_a_scanner_without_a_severity_is_not_guessed_at() -> None:
    text = (
        "Confidence: High\nCategory: SQL Injection\nMessage: Possible SQL injection\n"
        "File: app/models/user.rb\nLine: 12\n\n"
        "Confidence: Weak\nCategory: Mass Assignment\nFile: app/models/user.rb\nLine: 3\n"
    )
    assert reader.read(text) == ((), (1, 7))


def test_a_finding_of_yaml_has_the_lines_of_its_item() -> None:
    text = (
        "findings:\n  - title: The lock stays\n    severity: high\n    file: a.py\n\n"
        "  - severity: low\n    title: A name\n    file: b.py\n\n"
    )
    rows = [(one.severity, one.line, one.end) for one in reader.read(text).findings]
    assert rows == [("P1", 2, 4), ("P3", 6, 8)]


LETTERS = "# Review\n\nSeverity: (a) critical, (b) major, (c) minor\n\n"
STEPS = "(a) run it\n(b) look at it\n(c) stop it\n(d) write it down\n"


def test_a_list_that_counts_in_letters_past_those_of_a_legend_has_no_grades() -> None:
    assert found(f"{LETTERS}To do:\n{STEPS}") == []
    assert found(f"{LETTERS}(a) the login is open\n\nTo do:\n{STEPS}") == [
        ("P0", "", "the login is open")
    ]


@each("text", [
    "(a) the login is open\n(b) tokens leak\n", "(a) the login is open\n(d) names\n",
    f"(a) the login is open\n(a) more\n{STEPS}",
    "(a) **Critical:** the login is open\n(b) x\n(c) y\n(d) z\n",
    "## Critical\n- (a) the login is open\n- (b) x\n- (c) y\n- (d) z\n",
])  # fmt: skip
def test_a_letter_that_a_legend_explains_grades_what_is_no_such_list(text: str) -> None:
    named = [title for severity, _, title in found(LETTERS + text) if severity == "P0"]
    assert named[0].endswith("the login is open")


def test_letters_that_do_not_begin_at_the_first_one_count_nothing() -> None:
    legend = "Legend: [C] critical, [M] major, [L] low\n\n"
    assert found(f"{legend}[C] the login is open\n[D] docs\n[L] names\n[M] it is slow\n") == [
        ("P0", "", "the login is open"), ("P3", "", "names"), ("P1", "", "it is slow")
    ]  # fmt: skip


@each("text", ["(a) the login is open\n(b) x\n(c) y\n(d) z\n", STEPS])
def test_beside_an_index_a_letter_that_a_legend_explains_is_always_a_grade(text: str) -> None:
    index = "### Findings Index\nVerdict: safe\n\n### Summary\nFine.\n\n"
    review = agent_review.parse(index + LETTERS.partition("\n\n")[2] + text)
    assert agent_review.effective_status(review)[0] == "NEEDS_ATTENTION"


def test_a_place_in_backticks_is_whole_even_with_blanks() -> None:
    text = "## Findings\n\n- P1: Any user can read it: `docs/my notes/a.md:1`.\n"
    assert [(one.file, one.at) for one in reader.read(text).findings] == [("docs/my notes/a.md", 1)]
    text = "## Findings\n\n- P1: It fails on any input: `python src/a.py:3`.\n"
    assert [(one.file, one.at) for one in reader.read(text).findings] == [("src/a.py", 3)]


def test_a_place_above_quoted_code_is_not_that_of_a_finding_that_states_its_own() -> None:
    told = "{}:12\n```py\n{}()\n```\n### P1: {}() is open\nFile: `{}.py:3`\nIt asks nothing.\n\n"
    text = told.format("a.py", "login", "login", "in") + told.format("b.py", "stop", "stop", "out")
    places = [(one.file, one.at) for one in reader.read(text).findings]
    assert places == [("in.py", 3), ("out.py", 3)]
