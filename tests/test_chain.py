"""A day's chain: three sessions, two hosts, a branch, a worktree, a crash, a compaction, resumes.

What one agent knew, the next one knows; `make bench_chain` prints the same links.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "bench"))

import chain
from chain import Link


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> list[Link]:
    return chain.a_day(tmp_path_factory.mktemp("day"))


def test_every_fact_that_must_arrive_does(links: list[Link]) -> None:
    assert [(link.name, link.lost) for link in links if link.lost] == []
    assert len(links) == 18 and sum(link.facts for link in links) > 50


def test_nothing_is_told_twice_in_one_conversation(links: list[Link]) -> None:
    assert [(link.name, link.twice) for link in links if link.twice] == []


def test_what_a_link_costs(links: list[Link]) -> None:
    """Of a resumed conversation only what is new; of a question 120 tokens and the contract."""
    cost = {link.name: link.tokens for link in links}
    assert [cost[f"resume {number}"] for number in range(2, 6)] == [0] * 4
    assert cost["resume 1"] <= 100 and cost["after the compaction"] <= 420
    assert cost["subagent with a question"] < cost["subagent after a commit (hook)"]
