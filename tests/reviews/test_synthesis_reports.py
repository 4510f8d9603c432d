"""reports.py: both files, and the few lines that a caller reads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Script, git
from test_gates import CLEAN, RESEARCH, a_run

ONE = """\
### Findings Index
- P1 | P1-1 | "Writer" | Two writers share one temporary name
- P2 | P2-1 | "src/app.py:42" | The error is swallowed
- IMP | IMP-1 | "Cache" | Add a version
Verdict: needs-changes

### Summary
Two things.

### Issues Found
#### P1-1. Two writers share one temporary name
`src/store.py:7` takes the same name in both, see `src/app.py:42`.

#### P2-1. The error is swallowed
Nobody sees it.

### Improvements
IMP-1. Add a version
"""
OTHER = """\
### Findings Index
- P0 | P0-1 | "Writer" | two writers share one temporary name
- P3 | P1-1 | "src/app.py:42" | The swallowed error needs a word
- P3 | P3-2 | "# x" | # Not a heading <!-- | `nor` this
Verdict: safe
"""


@pytest.fixture
def out(repo: Path) -> Path:
    folder = repo / "out"
    folder.mkdir()
    (folder / "fd-a.md").write_text(ONE, encoding="utf-8")
    (folder / "fd-b.md").write_text(OTHER, encoding="utf-8")
    (folder / "fd-c.md").write_text(CLEAN, encoding="utf-8")
    return folder


@pytest.mark.golden
def test_both_files_and_the_answer_are_as_they_were(
    out: Path, run: Script, golden: Callable[[str, str], None]
) -> None:
    a_run(out, roster=("fd-a", "fd-b", "fd-c", "fd-gone"), source="plan.md", revision="input:1")
    assert run("verdict", "synthesize", "--run=r-1") == 0
    golden("verdict_synthesize.txt", run.out)
    golden("synthesis.md", (out / "synthesis.md").read_text(encoding="utf-8"))
    golden("findings.json", (out / "findings.json").read_text(encoding="utf-8"))


def test_research_that_leads_in_bold_says_what_each_agent_found(repo: Path, run: Script) -> None:
    folder = repo / "out"
    folder.mkdir()
    text = RESEARCH.partition("### Findings")[0] + (
        "### Findings\n\n**Caches pay off.** They save 52 ms a call.\n\n"
        "**2. Retries do not.**\n\nThey double the load.\n\n"
        "### Confidence\nhigh\n\n### Gaps\nnone\n"
    )
    (folder / "docs.md").write_text(text, encoding="utf-8")
    a_run(folder, ("docs",), mode="research", target="Is it so?", revision="input:1")
    assert run("verdict", "synthesize", "--run=r-1") == 0
    report = (folder / "synthesis.md").read_text(encoding="utf-8")
    assert "**Caches pay off.** (docs): They save 52 ms a call." in report
    assert "**2. Retries do not.** (docs): They double the load." in report
    assert run("verdict", "show", "--dir=out") == 0
    assert run.out.startswith("docs/row-1 Caches pay off.\nThey save 52 ms a call.\n")
    assert run("verdict", "show", "--dir=out", "--agent=docs", "--finding=row-2") == 0
    assert "They double the load." in run.out and "52 ms" not in run.out


@pytest.mark.golden
def test_research_is_put_together_by_question(
    repo: Path, run: Script, golden: Callable[[str, str], None]
) -> None:
    folder = repo / "out"
    folder.mkdir()
    more = RESEARCH.replace("It is so.", "It is not so.\n\n#### Two\nAnd more.").replace(
        "high", "low"
    )
    (folder / "docs.md").write_text(RESEARCH, encoding="utf-8")
    (folder / "web.md").write_text(more.replace("a page", "another"), encoding="utf-8")
    a_run(folder, ("docs", "web"), mode="research", target="Is it so?", revision="input:1")
    assert run("verdict", "synthesize", "--run=r-1") == 0
    assert len(run.out.splitlines()) <= 10
    golden("verdict_synthesize_research.txt", run.out)
    golden("research_synthesis.md", (folder / "synthesis.md").read_text(encoding="utf-8"))
    found = json.loads((folder / "findings.json").read_text(encoding="utf-8"))
    assert (found["verdict"], found["input_type"]) == ("PARTIAL", "question")


def test_a_caller_reads_fifteen_short_lines_whatever_the_agents_wrote(
    out: Path, run: Script
) -> None:
    rows = "".join(f'- P{n % 2} | P{n % 2}-{n} | "S" | {"word " * 90}{n}\n' for n in range(80))
    for agent in ("fd-a", "fd-b", "fd-c"):
        text = (
            f"### Findings Index\n{rows}Verdict: risky\n\n### Summary\nx\n\n#### P0-0\nsrc/a.py:10"
        )
        (out / f"{agent}.md").write_text(text, encoding="utf-8")
    assert run("verdict", "synthesize", "--dir=out") == 0
    lines = run.out.splitlines()
    assert len(lines) <= 15 and all(len(line) <= 160 for line in lines)
    assert lines[3] == "do not merge: 40 P0, 40 P1 (agent by agent: 120 P0, 120 P1)"
    assert lines[4].startswith("P0 fd-a/P0-0 src/a.py:10 ") and lines[5].startswith("P0 ")
    (rest,) = (line for line in lines if line.startswith("+"))
    listed = lines.index(rest) - 4
    assert listed >= 9  # what is acted on has the room
    left = f"+{80 - listed} more ({40 - listed} P0, 40 P1)"
    assert rest == f"{left}: make verdict_show dir=out skip={listed}"


def test_what_an_agent_wrote_adds_no_heading_and_no_row(out: Path, run: Script) -> None:
    run("verdict", "synthesize", "--dir=out")
    report = (out / "synthesis.md").read_text(encoding="utf-8")
    headings = [line for line in report.splitlines() if line.lstrip(" -").startswith("#")]
    assert headings == [
        "# Synthesis", "## Findings by severity", "### P0", "### P1", "### P3",
        "## Issues checklist", "## Improvements", "## Heat map", "## Agent reports",
        "## Conflicts", "## Possible duplicates",
    ]  # fmt: skip


def test_a_synthesis_is_no_agent_and_changes_no_gate(out: Path, run: Script) -> None:
    run("verdict", "synthesize", "--dir=out")
    run("verdict", "ingest", "--dir=out")
    assert run.out.splitlines()[-1] == "3/3 valid"


def test_the_answer_for_programs_holds_the_document(out: Path, run: Script) -> None:
    assert run("verdict", "synthesize", "--dir=out", "--json") == 0
    found = json.loads(run.out)
    assert found["report"] == "out/synthesis.md" and found["findings"] == "out/findings.json"
    assert found["data"] == json.loads((out / "findings.json").read_text(encoding="utf-8"))


def test_git_sees_no_synthesis_of_a_run(out: Path, run: Script) -> None:
    a_run(out, roster=("fd-a",))
    for path in out.iterdir():
        path.unlink()
    assert run("verdict", "synthesize", "--run=r-1") == 1  # nothing could be read
    assert "1 agents launched, 0 completed, 1 failed" in run.out
    assert git("status", "--porcelain") == ""


def rows(*lines: str) -> str:
    return "### Findings Index\n" + "".join(f"- {line}\n" for line in lines) + "Verdict: risky\n"


def a_summary(folder: Path, run: Script, *lines: str) -> list[str]:
    """What `synthesize` says of one agent, `one`, with these rows."""
    (folder / "in").mkdir()
    (folder / "in" / "one.md").write_text(rows(*lines), encoding="utf-8")
    assert run("verdict", "synthesize", "--dir=in") == 0
    return run.out.splitlines()


def test_what_is_not_listed_is_counted_by_severity_and_has_its_place(
    repo: Path, run: Script
) -> None:
    lines = a_summary(
        repo, run, *(f"P1 | P1-{n} | S | Defect {n} of a kind of its own" for n in range(12)),
        "P4 | P4-1 | S | Nobody knows how bad this is", "P2 | P2-1 | S | A word is missing",
        "IMP | IMP-1 | S | Say why",
    )  # fmt: skip
    assert lines[3] == "fix before merging: 12 P1, 1 P2, 1 IMP, 1 of unknown severity"
    assert [line[:3] for line in lines[4:13]] == ["P1 "] * 9
    more = "+4 more (3 P1, 1 of unknown severity): make verdict_show dir=in skip=9"
    assert lines[13:] == [more, "1 P2, 1 IMP: in/synthesis.md"]


def test_the_command_for_the_rest_lists_what_is_counted_and_nothing_else(
    out: Path, run: Script
) -> None:
    alike = "".join(
        f'- P{n % 2} | P{n % 2}-{n} | "S" | Defect {n} of its kind\n' for n in range(20)
    )
    for agent, own in (("fd-a", "- odd | X-1 | S | How bad is this\n"), ("fd-b", "")):
        text = f"### Findings Index\n{alike}{own}Verdict: risky\n"
        (out / f"{agent}.md").write_text(text, encoding="utf-8")
    run("verdict", "synthesize", "--dir=out")
    lines = run.out.splitlines()
    assert "do not merge: 10 P0, 10 P1, 1 of unknown severity (agent by agent: " in lines[3]
    told = [line.split()[1] for line in lines[4:] if line.startswith("P0 ")]
    (rest,) = (line for line in lines if line.startswith("+"))
    count, _, command = rest.removeprefix("+").partition(": make verdict_")
    options = [f"--{option}" for option in command.split()[1:]]
    assert run("verdict", *command.split()[:1], *options, "--json") == 0
    listed = json.loads(run.out)
    assert len(listed) == int(count.split()[0]) == 21 - len(told)
    assert [one["severity"] for one in listed] == ["P1"] * 10 + ["?"]
    assert not {f"{one['agent']}/{one['id']}" for one in listed} & {*told}
    assert listed[0]["also"] == [f"fd-b/{listed[0]['id']}"]
    run("verdict", *command.split()[:1], *options)
    assert f"P1 fd-a/{listed[0]['id']}, fd-b/{listed[0]['id']} " in run.out  # each is named


@pytest.mark.parametrize("command", ["ingest", "index", "show", "stats", "synthesize"])
def test_a_folder_without_reviews_is_no_good_news(repo: Path, run: Script, command: str) -> None:
    (repo / "none").mkdir()
    assert run("verdict", command, "--dir=none") == 1
    assert run.out == ""
    assert "none: there are no reviews in this folder" in run.err
    assert "AGENT.md" in run.err and "make verdict_start" in run.err
    assert list((repo / "none").iterdir()) == []


def test_reviews_of_which_nothing_was_read_are_not_counted_as_none(repo: Path, run: Script) -> None:
    (repo / "none").mkdir()
    assert run("verdict", "synthesize", "--dir=none", "--agents=a b") == 1
    assert run.out.splitlines()[3] == "error: nothing could be read"
    (repo / "none" / "a.md").write_text(rows("P2 | P2-1 | S | Slow"), encoding="utf-8")
    assert run("verdict", "synthesize", "--dir=none", "--agents=a b") == 0
    assert "1 completed, 1 failed" in run.out


def test_prose_that_nobody_can_read_as_findings_is_not_counted_as_none(
    repo: Path, run: Script
) -> None:
    (repo / "in").mkdir()
    (repo / "in" / "one.md").write_text("no findings. LGTM\n", encoding="utf-8")
    assert run("verdict", "synthesize", "--dir=in") == 1
    assert run.out.splitlines()[3] == "needs-changes: nothing could be read"


def test_findings_go_round_the_agents(repo: Path, run: Script) -> None:
    (repo / "in").mkdir()
    for agent in ("fd-a", "fd-b", "fd-c"):
        told = (f"P1 | P1-{n} | S | Of {agent}: defect {'abcdefghijkl'[n]}" for n in range(9))
        text = rows("P0 | P0-1 | S | Worst of all" if agent == "fd-c" else next(told), *told)
        (repo / "in" / f"{agent}.md").write_text(text, encoding="utf-8")
    run("verdict", "synthesize", "--dir=in")
    keys = [line.split()[1] for line in run.out.splitlines()[4:] if line.startswith("P")]
    agents = [key.partition("/")[0] for key in keys]
    assert agents[:7] == ["fd-c", "fd-a", "fd-b", "fd-c", "fd-a", "fd-b", "fd-c"]
    numbers = [key for key in keys if key.startswith("fd-a/")]
    assert numbers == sorted(numbers)


def test_a_place_is_told_once(repo: Path, run: Script) -> None:
    lines = a_summary(repo, run, "P0 | P0-1 | S | `src/a.py:4-9` — The token is never checked")
    assert lines[4] == "P0 one/P0-1 src/a.py:4-9 The token is never checked"
    assert run("verdict", "show", "--dir=in") == 0
    assert run.out.startswith("P0 one/P0-1 src/a.py:4-9 The token is never checked\n")
    report = (repo / "in" / "synthesis.md").read_text(encoding="utf-8")
    assert report.count("src/a.py:4-9") == 2  # below its severity, and in the checklist


def test_a_long_title_keeps_what_goes_wrong(repo: Path, run: Script) -> None:
    lines = a_summary(
        repo, run,
        "P0 | P0-1 | S | Both of the claims hold, however, they are strictly sequenced in time:"
        " the request of a sibling that comes after the purge (as logged in three of the runs)"
        " crashes with FileNotFoundError, so the other claim waits behind it for now",
    )  # fmt: skip
    assert "crashes with FileNotFoundError" in lines[4] and len(lines[4]) <= 160


def test_of_a_title_that_is_cut_the_consequence_stays(repo: Path, run: Script) -> None:
    lines = a_summary(
        repo, run,
        "P0 | P0-1 | S | The check of the age in the index of each process is the ONLY enforcement"
        " of any expiry whatsoever in here; a process that cached one serves it for five more"
        " minutes",
    )  # fmt: skip
    assert "a process that cached one serves it for five more minutes" in lines[4]


def test_a_short_title_is_told_with_what_goes_wrong(repo: Path, run: Script) -> None:
    body = "\n#### P1-1. No lock\nThe file is opened by both. A second writer loses its entries.\n"
    (repo / "in").mkdir()
    text = rows("P1 | P1-1 | S | No lock") + "\n### Issues Found\n" + body
    (repo / "in" / "one.md").write_text(text, encoding="utf-8")
    assert run("verdict", "synthesize", "--dir=in") == 0
    assert "P1 one/P1-1 No lock: A second writer loses its entries" in run.out


def test_the_fix_of_a_finding_stands_below_what_is_wrong(out: Path, run: Script) -> None:
    text = ONE.replace("Nobody sees it.", "**Problem:** Nobody sees it.\n\n**Fix:** log it once.")
    (out / "fd-a.md").write_text(text, encoding="utf-8")
    a_run(out, roster=("fd-a",), source="plan.md", revision="input:1")
    assert run("verdict", "synthesize", "--run=r-1") == 0
    written = (out / "synthesis.md").read_text(encoding="utf-8")
    assert "  It says: Nobody sees it.\n  Fix: log it once.\n" in written
    assert written.count("Fix:") == 1


def test_a_section_that_only_repeats_its_title_is_told_once(repo: Path, run: Script) -> None:
    body = "\n#### P2-1: Names\n`x` says nothing.\n"
    (repo / "in").mkdir()
    text = rows('P2 | P2-1 | "Names" | x says nothing') + "\n### Issues Found\n" + body
    (repo / "in" / "one.md").write_text(text, encoding="utf-8")
    assert run("verdict", "synthesize", "--dir=in") == 0
    written = (repo / "in" / "synthesis.md").read_text(encoding="utf-8")
    assert "- **x says nothing**" in written and "It says" not in written


def test_each_fix_that_an_agent_suggests_for_one_finding_is_kept(out: Path, run: Script) -> None:
    fixes = {"a": "Keep it in a queue.", "b": "keep it in a queue", "c": "Flush it before."}
    for agent, fix in fixes.items():
        row = '- P1 | P1-1 | "S" | The batch is lost'
        section = f"#### P1-1. P1: The batch is lost\n`app.py:5` forgets it.\n\nFix: {fix}\n"
        text = f"### Findings Index\n{row}\nVerdict: needs-changes\n\n### Issues Found\n{section}"
        (out / f"{agent}.md").write_text(text, encoding="utf-8")
    assert run("verdict", "synthesize", "--dir=out") == 0
    kept = ("Fix: Keep it in a queue.", "Another fix, c/P1-1: Flush it before.")
    text = (out / "synthesis.md").read_text("utf-8")
    assert re.findall(r"^  (.*ix.*)$", text, re.MULTILINE) == list(kept)
    run("verdict", "show", "--dir=out", "--severity=P1")
    assert run.out.count("queue") == 1 and kept[1] in run.out.splitlines()
