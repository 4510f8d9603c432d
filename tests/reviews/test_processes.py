"""processes.py: the five as data, what a host changes, and the folder of a target."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from conftest import Script, each, git
from contextkit.base import names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.reviews.documents import processes
from contextkit.reviews.documents.processes import Process
from hypothesis import given
from hypothesis import strategies as st

FIVE = ["brainstorm", "flux-drive", "flux-research", "quality-gates", "review"]
SETTINGS = Path("contextkit.yaml")


def a_process(**changes: Any) -> Process:
    """A process in which a test names only what it is about."""
    values = {
        "name": "mine",
        "mode": "review",
        "input": "diff",
        "output_dir": ".reviews/{target}",
        "agents": ("a",),
        "timeouts": {"local": "300"},
    }
    return Process(**values | changes)


def test_the_five_are_there_with_their_folders(layout: Layout) -> None:
    found = {process.name: process for process in processes.configured(layout)}
    assert list(found) == FIVE
    digest = names.sha256(b"plans/a plan.md")[:8]
    assert found["flux-drive"].folder("plans/a plan.md") == (
        f"docs/research/flux-drive/a-plan-{digest}"
    )
    assert (
        found["flux-research"]
        .folder("How does it cache?")
        .startswith("docs/research/flux-research/how-does-it-cache-")
    )
    assert found["quality-gates"].folder("current") == ".clavain/quality-gates"
    assert found["review"].folder("12") == ".clavain/reviews/12"
    assert [found[name].mode for name in FIVE] == [
        "research", "review", "research", "review", "review",
    ]  # fmt: skip
    assert next(iter(found["flux-research"].seconds.items())) == ("standard", 120)


targets = st.text(min_size=1) | st.sampled_from(["a b", "a-b", "A-B", "a/b", "a.b", "..", ".git"])


@given(st.lists(targets, unique=True, min_size=2, max_size=4))
def test_two_targets_never_share_a_folder_and_none_leaves_its_place(given: list[str]) -> None:
    made = [a_process().folder(target) for target in given]
    assert len({folder.lower() for folder in made}) == len(given)
    for folder in made:
        above, name = os.path.split(folder)
        assert above == ".reviews" and name[0] not in ".-" and len(name) <= 70


def test_a_host_changes_one_and_adds_another(repo: Path, run: Script) -> None:
    SETTINGS.write_text(
        "processes:\n"
        "  review:\n    agents: [fd-ours]\n    timeouts: {local: 60}\n"
        "  docs:\n    mode: review\n    input: diff\n    output_dir: .reviews/docs\n"
        "    agents: [fd-words]\n    timeouts: {local: 30}\n    blocks: [P0]\n",
        encoding="utf-8",
    )
    for _ in range(2):  # from the file, then from what is kept of it
        layout = Layout()
        ours = processes.load(layout, "review")
        assert (ours.agents, ours.seconds, ours.input) == (("fd-ours",), {"local": 60}, "diff")
        assert processes.load(layout, "docs").blocks == ("P0",)
    assert run("context", "config") == 0
    shown = [line.split() for line in run.out.splitlines()]
    assert ["processes.review.agents", "contextkit.yaml", "fd-ours"] in shown
    assert ["processes.docs.timeouts", "contextkit.yaml", "local:", "30"] in shown
    assert ["processes.brainstorm.agents", "default", "repo-research-analyst"] in shown


@each(
    ("line", "complaint"),
    [
        ("review: fast", "review must be lines of"),
        ("review: {agent: [a]}", "unknown field 'agent' \\(did you mean 'agents'"),
        ("review: {agents: []}", "agents must name at least one"),
        ("review: {agents: a}", "agents must be"),
        ("review: {mode: rhyme}", "mode must be one of"),
        ("review: {timeouts: {local: soon}}", "timeouts must be"),
        ("review: {timeouts: {}}", "timeouts must be"),
        ("review: {output_dir: /tmp/x}", "must be a folder in a folder"),
        ("review: {output_dir: ../x/y}", "must be a folder in a folder"),
        ("review: {output_dir: x}", "must be a folder in a folder"),
        ("review: {output_dir: .git/x}", "not meant for documents"),
        ("review: {output_dir: 'x/{branch}'}", "may hold only {stem}, {hash8}"),
        ("review: {name: other}", "its name is the key"),
        ("review: {blocks: [p2]}", "blocks: 'p2' must be one of P0, P1, P2, P3, IMP"),
        ("review: {blocks: [PARTIAL]}", "blocks: 'PARTIAL' must be one of P0"),
        ("review: {mode: research, blocks: [P2]}", "blocks: 'P2' must be one of PARTIAL, FAILED"),
        ("review: {small_lines: few}", "small_lines must be int"),
    ],
)
def test_what_a_host_says_wrongly_is_refused_by_name(repo: Path, line: str, complaint: str) -> None:
    SETTINGS.write_text(f"processes:\n  {line}\n", encoding="utf-8")
    with pytest.raises(ContextError, match=complaint) as refusal:
        processes.load(Layout(), "review")
    assert refusal.value.status == 2


def test_an_unknown_process_is_refused_with_the_nearest(layout: Layout) -> None:
    with pytest.raises(ContextError, match="did you mean 'flux-drive'"):
        processes.load(layout, "flux-drvie")
    with pytest.raises(ContextError, match="available: brainstorm, flux-drive"):
        processes.load(layout, "zzz")


def test_processes_that_are_no_mapping_are_refused_by_any_command(repo: Path, run: Script) -> None:
    SETTINGS.write_text("processes: [review]\n", encoding="utf-8")
    assert run("verdict", "table") == 2 and "processes must be lines of" in run.err
    assert git("status", "--porcelain") == "?? contextkit.yaml\n"
