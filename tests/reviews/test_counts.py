"""The table, the gate, the synthesis and the status of a run count the same findings."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import Script, git
from contextkit.base.layout import Layout
from contextkit.history.flows import overview
from signing import sign
from test_findings_across_runs import LOST, SAFE, SLOW, review

OUT = Path(".clavain/reviews/current")
Found = tuple[str, str, str, int]
SAME = ("P1", "P1-7", "The batch is lost", 5)
WORSE = ("P0", "P0-7", "The batch is lost", 6)
TWICE = ("P1", "P1-2", "The batch is lost", 9)
IDEA = ("IMP", "IMP-1", "Name it", 3)


@pytest.fixture(autouse=True)
def branch(repo: Path) -> Path:
    git("branch", "main")
    Path("app.py").write_text("".join(f"line {n}\n" for n in range(1, 21)), encoding="utf-8")
    return repo


def begin(run: Script, *files: tuple[Found, ...]) -> str:
    agents = "abcdef"[: len(files)]
    assert run("verdict", "start", "--process=review", f"--agents={' '.join(agents)}") == 0
    identity = run.out.split()[1]
    for agent, found in zip(agents, files, strict=True):
        (OUT / f"{agent}.md").write_text(review(*found), encoding="utf-8")
    sign(OUT)
    return identity


def counted(text: str) -> Counter[str]:
    return Counter({name: int(n) for n, name in re.findall(r"(\d+) (P\d|IMP)\b", text)})


def serious(counts: Counter[str]) -> Counter[str]:
    return Counter({name: count for name, count in counts.items() if name in ("P0", "P1")})


def of_synthesis(run: Script, identity: str) -> Counter[str]:
    run("verdict", "synthesize", f"--run={identity}")
    (told,) = [line for line in run.out.splitlines() if re.match(r"[a-z ]+: (\d|no f)", line)]
    return counted(told.partition("agent by agent: ")[2].partition(";")[0] or told)


def of_table(run: Script, identity: str) -> Counter[str]:
    run("verdict", "table", f"--run={identity}")
    rows = (line.split("\t")[2].partition(":")[0] for line in run.out.splitlines())
    return sum(map(counted, rows), Counter())


def of_gate(run: Script, identity: str) -> Counter[str]:
    run("verdict", "gate", f"--run={identity}", "--json")
    reasons = json.loads(run.out)["reasons"]
    return sum((counted(each["text"].partition(":")[0]) for each in reasons
                if each["reason"] == "severe"), Counter())  # fmt: skip


def of_status() -> Counter[str]:
    (row,) = [row for row in overview.status(Layout()) if row["id"] == "verdicts"]
    told: Any = row["which"]
    return sum((counted(each["why"].partition(":")[0]) for each in told), Counter())


@pytest.mark.parametrize(
    "files",
    [
        ((LOST, SLOW), ()),
        ((LOST,), (SAME, SAFE)),
        ((LOST,), (WORSE,), (SLOW,)),
        ((LOST, TWICE, IDEA), (SAME,), ()),
        ((), ()),
    ],
)
def test_all_four_count_the_same(run: Script, files: tuple[tuple[Found, ...], ...]) -> None:
    identity = begin(run, *files)
    every = Counter(severity for found in files for severity, *_ in found)
    assert of_synthesis(run, identity) == every
    assert of_table(run, identity) == every
    assert of_gate(run, identity) == serious(every) == serious(of_status())


def test_what_a_synthesis_says_is_to_do_the_status_says_too(run: Script) -> None:
    begin(run, (SAFE,), ())
    (OUT / "b.md").unlink()  # which is still at work
    assert run("verdict", "synthesize", "--run=latest") == 0
    assert "do not merge: 1 P0" in run.out
    run("context", "status")
    assert re.search(r"1 to look at +make verdict_table view=attention", run.out)
    run("verdict", "table")
    assert run.out.count("\n") == 1


@pytest.mark.parametrize(("by", "commit"), [(True, True), (True, False), (False, True)])
def test_gate_and_synthesis_agree_on_what_is_dismissed(run: Script, by: bool, commit: bool) -> None:
    identity = begin(run, (SAFE,))
    run("verdict", "ingest", f"--run={identity}")
    given = (f"--run={identity}", "--finding=a/P0-1", "--reason=ours", *(["--by=Ada"] * by))
    assert run("verdict", "dismiss", *given) == 0
    if commit:
        git("add", "docs")
        git("commit", "-qm", "dismissed")
    passes = run("verdict", "gate", f"--run={identity}") == 0
    assert passes == (by and commit)
    run("verdict", "synthesize", f"--run={identity}")
    assert ("do not merge: 1 P0\n" in run.out) == (not passes)
    assert ("1 P0 (1 dismissed)" in run.out) == passes
    assert ("(dismissed, which does not count yet)" in run.out) == (not passes)
    assert ("- [x]" in (OUT / "synthesis.md").read_text("utf-8")) == passes
    run("context", "status")
    assert ("to look at" in run.out) == (not passes)
