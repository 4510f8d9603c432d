"""The next run of a target knows what is new, what is still there, and what is fixed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conftest import Script
from contextkit.reviews.flows import history, synthesis
from contextkit.reviews.flows.synthesis import MergedFinding
from signing import signed
from test_synthesis import a_source

RACE = 'P1 | P1-1 | "Writer" | Two writers lose one entry at src/app.py:42'
LEAK = 'P0 | P0-1 | "Login" | Tokens are written to the log'


def matches(found: list[MergedFinding], earlier: list[MergedFinding]) -> dict[int, int]:
    own, olds = ([one.replace(identity=one.title) for one in those] for those in (found, earlier))
    return history.matches(own, olds)


def test_a_finding_is_known_again_when_it_moves_or_is_reworded() -> None:
    before = synthesis.combined([a_source("fd-a", RACE, LEAK)])
    moved = 'P1 | P1-3 | "Writer" | An entry is lost by two writers at src/app.py:44'
    now = synthesis.combined([a_source("fd-b", moved, LEAK.replace("P0-1", "P0-2"))])
    assert matches(now, before) == {0: 0, 1: 1}


def test_a_finding_elsewhere_is_another() -> None:
    before = synthesis.combined([a_source("fd-a", RACE)])
    other = RACE.replace("src/app.py", "src/other.py").replace("lose one", "lose an")
    assert matches(synthesis.combined([a_source("fd-a", other)]), before) == {}


def test_the_next_run_of_a_target_says_what_became_of_the_last(repo: Path, run: Script) -> None:
    (repo / "plan.md").write_text("# Plan\n", encoding="utf-8")

    def review(rows: str, now: str) -> Any:
        run._patch.setenv("CONTEXT_NOW", now)
        run("verdict", "start", "--process=flux-drive", "--target=plan.md", "--agents=fd-a",
            "--json")  # fmt: skip
        started = json.loads(run.out)
        path = Path(started["agents"][0]["path"])
        text = f"### Findings Index\n{rows}\nVerdict: risky\n\n### Summary\nSo.\n"
        path.write_text(signed(text, started["run"]), "utf-8")
        run("verdict", "ingest", f"--run={started['run']}")
        run("verdict", "gate", f"--run={started['run']}")
        assert run("verdict", "synthesize", f"--run={started['run']}") == 0
        return json.loads((path.parent / "findings.json").read_text(encoding="utf-8"))

    first = review(f"- {LEAK}\n- {RACE}", "2025-10-23T18:05:00Z")
    assert [one["since"] for one in first["findings"]] == ["new", "new"]
    second = review(f'- {LEAK}\n- P2 | P2-1 | "Names" | Two names', "2025-10-24T18:05:00Z")
    assert "1 new, 1 still there, 1 fixed" in run.out
    assert second["findings"][0]["identity"] == first["findings"][0]["identity"]
    assert second["unchecked"] == []
    assert second["fixed"][0]["identity"] == first["findings"][1]["identity"]
