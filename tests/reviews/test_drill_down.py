"""verdict_show and verdict_index over a whole run: the strictest first, in a budget."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from conftest import Script, each
from contextkit.reviews.documents import sections

A = """### Findings Index
- P1 | P1-1 | "Login" | Sessions never end
- P0 | P0-1 | "Login" | Anyone can log in
- P2 | P2-1 | "Names" | Two names
Verdict: risky

### Issues Found
#### P0-1. P0: Anyone can log in
**Severity:** P0
**File:** `src/login.py:42`
**Problem:** The password is never compared.

```python
return True
```

Much more is said here, and more.

**Recommendation:** Compare it.
#### P1-1. P1: Sessions never end
They live on. See `src/session.py:7`.
"""
B = "# Review\n\n### Tokens are logged (P0)\n\nEach request writes one.\n"
C = "Just prose.\n\n## Login\n\nIt is slow.\n"


@pytest.fixture
def out(repo: Path) -> Path:
    folder = repo / "out"
    folder.mkdir()
    for name, text in (("a", A), ("b", B)):
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def test_show_without_an_agent_prints_the_strictest_of_all(out: Path, run: Script) -> None:
    assert run("verdict", "show", "--dir=out", "--severity=P0,P1") == 0
    assert run.out == (
        "P0 a/P0-1 src/login.py:42 Anyone can log in\n"
        "The password is never compared.\n"
        "Fix: Compare it.\n\n"
        "P0 b/row-1 Tokens are logged\n"
        "Each request writes one.\n\n"
        "P1 a/P1-1 src/session.py:7 Sessions never end\n"
        "They live on. See src/session.py:7.\n"
    )


def test_what_a_tool_writes_as_json_is_told_in_words(repo: Path, run: Script) -> None:
    (repo / "out").mkdir()
    leak = {"file": "a.py", "line": 3, "severity": "high", "title": "Leak",
            "description": "The token is logged.", "fix": "Log the id."}  # fmt: skip
    other = {"file": "b.py", "line": 4, "severity": "high", "message": "No limit"}
    (repo / "out" / "tool.json").write_text(json.dumps([leak, other], indent=2), encoding="utf-8")
    assert run("verdict", "show", "--dir=out") == 0
    first, second = run.out.rstrip("\n").split("\n\n")
    assert first == "P1 tool/row-1 a.py:3 Leak\nThe token is logged.\nFix: Log the id."
    assert second.startswith("P1 tool/row-2 b.py:4 No limit") and "{" not in second


def test_what_does_not_fit_is_counted_with_the_command_for_it(out: Path, run: Script) -> None:
    run("verdict", "show", "--dir=out", "--max-tokens=20")
    *_, last = run.out.splitlines()
    assert last == "+2 more: make verdict_show dir=out severity=P0,P1 skip=1 max_tokens=20"
    with contextlib.chdir(out):  # the command is for where it is read
        run("verdict", "show", "--dir=.", "--max-tokens=20")
        assert run.out.splitlines()[-1].startswith("+2 more: make verdict_show dir=. severity=")
    assert run("verdict", "show", "--dir=out", "--skip=7") == 0
    assert run.out == "no more: 3 in all\n"
    run("verdict", "show", "--dir=out", "--skip=1", "--json")
    assert [(one["agent"], one["id"]) for one in json.loads(run.out)] == [
        ("b", "row-1"),
        ("a", "P1-1"),
    ]


def test_a_review_in_utf_16_is_read(out: Path, run: Script) -> None:
    for encoding in ("utf-16", "utf-16-be"):
        mark = "" if encoding == "utf-16" else "\ufeff"
        (out / "b.md").write_bytes((mark + B).encode(encoding))
        assert run("verdict", "index", "--dir=out", "--agent=b", "--json") == 0
        assert json.loads(run.out)[0]["title"] == "Tokens are logged"


def test_nothing_to_show_is_said_in_words(repo: Path, run: Script) -> None:
    (repo / "out").mkdir()
    (repo / "out/a.md").write_text("### Findings Index\nVerdict: safe\n", encoding="utf-8")
    assert run("verdict", "show", "--dir=out") == 0
    assert run.out == "no P0 or P1: 1 file, 1 read, 0 not read\n"
    assert run("verdict", "table", "--view=stats", "--dir=out") == 0
    assert "1 file, 1 read, 0 not read (counted in full); no P0 and no P1 (estim" in run.out
    assert run("verdict", "synthesize", "--dir=out") == 0
    assert run.out.endswith("\nsafe: no findings\n")


def test_what_is_too_long_is_cut_and_alone(out: Path, run: Script) -> None:
    assert run("verdict", "show", "a", "--dir=out", "--max-tokens=25") == 0
    assert run.out.startswith("#### P0-1. P0: Anyone") and "… (cut)" in run.out
    assert "P1-1" not in run.out


def test_a_finding_of_an_id_that_another_has_is_the_second_in_any_case(
    out: Path, run: Script
) -> None:
    rows = '- P2 | P2-1 | "Cache" | It grows\n- P2 | p2-1 | "Lock" | It waits\n'
    text = f"### Findings Index\n{rows}Verdict: safe\n\nText.\n"
    (out / "a.md").write_text(text, encoding="utf-8")
    assert run("verdict", "show", "a", "--dir=out", "--finding=P2-1(2)") == 0
    assert run.out.startswith('- P2 | p2-1 | "Lock" | It waits')
    assert "stand around it" in run.out
    assert run("verdict", "show", "a", "--dir=out") == 0 and "stand around it" not in run.out


def test_what_could_not_be_read_is_said_wherever_findings_are_counted(
    out: Path, run: Script
) -> None:
    (out / "c.md").write_text(C, encoding="utf-8")
    run("verdict", "show", "--dir=out")
    assert "3 files, 2 read, 1 not read: counts are a lower bound\nnot read: c\n" in run.out
    run("verdict", "ingest", "--dir=out")
    assert "3 files, 2 read, 1 not read: counts are a lower bound\n" in run.out
    run("verdict", "stats", "--dir=out")
    assert "3 files, 2 read, 1 not read" in run.out
    run("verdict", "stats", "--dir=out", "--json")
    c = next(row for row in json.loads(run.out) if row["id"] == "c")
    assert c["serious"] == c["index"] == c["full"]


def test_a_file_without_findings_shows_its_headings_and_the_nearest_section(
    out: Path, run: Script
) -> None:
    (out / "c.md").write_text(C, encoding="utf-8")
    assert run("verdict", "show", "c", "--dir=out", "--finding=slow login") == 0
    assert run.out == "3: Login\n\n## Login\n\nIt is slow.\n"


def test_the_index_has_typed_fields_and_can_be_of_some_severities(out: Path, run: Script) -> None:
    run("verdict", "index", "--dir=out", "--severity=critical", "--json")
    first, second = json.loads(run.out)
    wanted = ("agent", "id", "severity", "section", "title", "file", "line", "text_line")
    assert [first[key] for key in wanted] == [
        "a", "P0-1", "P0", "Login", "Anyone can log in", "src/login.py", 42, 3,
    ]  # fmt: skip
    assert [second[key] for key in wanted[:3]] == ["b", "row-1", "P0"]
    assert run("verdict", "index", "--dir=out", "--severity=wobbly") == 2
    assert "severity" in run.err


def test_a_key_of_a_synthesis_opens_its_finding(out: Path, run: Script) -> None:
    assert run("verdict", "show", "--dir=out", "--finding=a/P0-1") == 0
    assert run.out.startswith("#### P0-1. P0: Anyone can log in")
    assert run("verdict", "show", "--dir=out", "--finding=P0-1") == 2


@each(
    ("section", "problem", "fix"),
    [
        ("#### P1: x\n**Severity:** P1\n\nIt leaks.\n", "It leaks.", ""),
        ("**P1-1: x**\n\n**Problem:**\nIt leaks\nfast.\n\nFix: close it.\n", "It leaks fast.",
         "close it."),
        ("- **[P1] x** — `a.py:1` — It leaks.", "a.py:1 — It leaks.", ""),
        ("#### x\n**Evidence:** seen\n- **Suggestion**: use a set", "seen", "use a set"),
        ("#### x\n```\ncode\n```\n", "", ""),
        ("#### x\n**Issue**: It ties three things:\n1. staleness\n2. the hash\n\nAnd more.\n",
         "It ties three things: staleness; the hash", ""),
        ("#### x\nThe message says:\n```\n{\nno such user\nretry\n```\nThat is all.\n",
         "The message says: no such user", ""),
        ("#### x\nIt leaks.\n\n**Fix:**\n- close it\n- count it\n\n**Effort:** low\n",
         "It leaks.", "close it; count it"),
        ("#### x\nIt leaks all day.\n\nThe proposed flow is: read, write.\n",
         "It leaks all day.", ""),
        ("#### x\nIt leaks all day.\n\n1. It presents a recommendation: close it.\n",
         "It leaks all day.", ""),
        ("#### x\nIt leaks.\n\nHow to fix: close it.\n", "It leaks.", "close it."),
        ("#### x\nIt leaks.\n\nSuggested change: close it.\n", "It leaks.", "close it."),
        ("#### x\nIt fails for:\n- a file\n- **Fix:** close it\n", "It fails for: a file",
         "close it"),
        ("- **[P2] x** — `src/agent.py:7`, then `b.py` — It leaks. Fix: close it.",
         "src/agent.py:7, then b.py — It leaks. Fix: close it.", "close it."),
    ],
)  # fmt: skip
def test_a_section_says_its_problem_and_its_fix(section: str, problem: str, fix: str) -> None:
    assert sections.problem_of(section, "x") == problem
    assert sections.fix_of(section) == fix


def test_a_place_that_a_title_names_stands_once(out: Path, run: Script) -> None:
    row = '- P1 | P1-1 | "Lease" | Drain() in src/worker.go:64 returns too early\n'
    text = f"### Findings Index\n{row}Verdict: needs-changes\n"
    (out / "a.md").write_text(text, encoding="utf-8")
    assert run("verdict", "show", "--dir=out", "--agent=a", "--severity=P1") == 0
    assert run.out.startswith("P1 a/P1-1 Drain() in src/worker.go:64 returns")
    run("verdict", "synthesize", "--dir=out")
    assert "P1 a/P1-1 Drain() in src/worker.go:64 returns" in run.out


def test_a_file_of_a_folder_is_read_whatever_its_ending(repo: Path, run: Script) -> None:
    said = "severity: high\ntitle: login() loses data\nfile: src/a.py\nline: 3\n"
    (repo / "mixed").mkdir()
    for name in ("a.yaml", "b.html", "c.log", "d", "e.MD", "f.jsonl", "g.partial"):
        (repo / "mixed" / name).write_text(said, encoding="utf-8")
    (repo / "mixed" / "h.png").write_bytes(b"\x89PNG\0\1")
    assert run("verdict", "ingest", "--dir=mixed") == 0
    rows = [row.split("\t") for row in run.out.splitlines()[:8]]
    assert [row[1] for row in rows] == ["a.yaml", "b.html", "c.log", "d", "e.MD", "f.jsonl", "g",
                                        "h.png"]  # fmt: skip
    assert all("login() loses data" in row[2] for row in rows[:-1])
    assert rows[-2][0] == "ERROR" and "unfinished" in rows[-2][2]
    assert "read the file" in rows[-1][2]


@each("command", ["show", "ingest", "synthesize"])
def test_a_folder_of_which_nothing_could_be_read_is_no_success(
    command: str, repo: Path, run: Script
) -> None:
    folder = repo / command
    folder.mkdir()
    (folder / "a.md").write_text(C, encoding="utf-8")
    assert run("verdict", command, f"--dir={command}") == 1
    assert "1 file, 0 read, 1 not read" in run.out
    (folder / "b.md").write_text(B, encoding="utf-8")
    assert run("verdict", command, f"--dir={command}") == 0


@each("heading", ["## P1-1. P1: login() loses data", "## P1-1: login() loses data"])
def test_a_section_above_a_deeper_index_opens(heading: str, repo: Path, run: Script) -> None:
    (repo / "deep").mkdir(exist_ok=True)
    text = f"# Review\n\n{heading}\n\n`src/a.py:3` drops the row.\n\n### Findings Index\n"
    text += '- P1 | P1-1 | "a" | login() loses data\nVerdict: needs-changes\n'
    (repo / "deep" / "x.md").write_text(text, encoding="utf-8")
    assert run("verdict", "show", "--dir=deep") == 0
    assert "src/a.py:3 drops the row." in run.out and "Findings Index" not in run.out
