"""history.py: the next run of a target knows what is new, what is still there, what is fixed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conftest import Script
from contextkit.reviews.flows import findings_json, history, synthesis
from test_synthesis import HEAD, a_source

RACE = 'P1 | P1-1 | "Writer" | Two writers lose one entry at src/app.py:42'
LEAK = 'P0 | P0-1 | "Login" | Tokens are written to the log'


def document(*sources: Any, earlier: list[dict[str, Any]] | None = None) -> Any:
    found = synthesis.combined(list(sources))
    return findings_json.document(HEAD, list(sources), found, earlier)


def test_a_first_run_has_only_new_findings_with_an_identity_each() -> None:
    data = document(a_source("fd-a", RACE, LEAK))
    assert [one["since"] for one in data["findings"]] == ["new", "new"]
    assert len({one["identity"] for one in data["findings"]}) == 2
    assert data["fixed"] == [] and data["findings"][0]["dismissed"] is False


def test_a_finding_is_known_again_when_it_moves_or_is_reworded() -> None:
    before = document(a_source("fd-a", RACE, LEAK))["findings"]
    moved = 'P1 | P1-3 | "Writer" | An entry is lost by two writers at src/app.py:44'
    data = document(a_source("fd-b", moved, LEAK.replace("P0-1", "P0-2")), earlier=before)
    assert [one["since"] for one in data["findings"]] == ["still", "still"]
    assert [one["identity"] for one in data["findings"]] == [one["identity"] for one in before]


def test_what_is_gone_is_fixed_only_if_its_agent_looked_again() -> None:
    before = document(a_source("fd-a", RACE), a_source("fd-b", LEAK))["findings"]
    clean = a_source("fd-a", 'P3 | P3-1 | "Names" | A word too many', verdict="safe")
    gone = a_source("fd-b", validation="missing", status="ERROR")
    data = document(clean, gone, earlier=before)
    assert [one["since"] for one in data["findings"] if one["severity"] == "P3"] == ["new"]
    assert [one["title"] for one in data["fixed"]] == [
        "Two writers lose one entry at src/app.py:42"
    ]
    again = document(clean, earlier=before)
    assert [one["title"] for one in again["unchecked"]] == ["Tokens are written to the log"]


def test_the_next_run_of_a_target_says_what_became_of_the_last(repo: Path, run: Script) -> None:
    (repo / "plan.md").write_text("# Plan\n", encoding="utf-8")

    def review(rows: str, now: str) -> Any:
        run._patch.setenv("CONTEXT_NOW", now)
        run("verdict", "start", "--process=flux-drive", "--target=plan.md", "--agents=fd-a",
            "--json")  # fmt: skip
        started = json.loads(run.out)
        path = Path(started["agents"][0]["path"])
        path.write_text(
            f"### Findings Index\n{rows}\nVerdict: risky\n\n### Summary\nSo.\n", "utf-8"
        )
        run("verdict", "ingest", f"--run={started['run']}")
        run("verdict", "gate", f"--run={started['run']}")
        assert run("verdict", "synthesize", f"--run={started['run']}") == 0
        return json.loads((path.parent / "findings.json").read_text(encoding="utf-8"))

    first = review(f"- {LEAK}\n- {RACE}", "2025-10-23T18:05:00Z")
    assert [one["since"] for one in first["findings"]] == ["new", "new"]
    second = review(f'- {LEAK}\n- P2 | P2-1 | "Names" | Two names', "2025-10-24T18:05:00Z")
    assert "1 new, 1 still there, 1 fixed" in run.out
    assert second["findings"][0]["identity"] == first["findings"][0]["identity"]
    assert second["fixed"][0]["identity"] == first["findings"][1]["identity"]


def test_the_document_of_a_target_is_what_identities_are_made_of() -> None:
    (one,) = synthesis.combined([a_source("fd-a", RACE)])
    assert history.identity_of("a.md", one) != history.identity_of("b.md", one)
