"""contracts.py: what an agent is told fits the limit, and what it then writes is valid to us."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from conftest import each
from contextkit.base import tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.settings import Limits
from contextkit.reviews.documents import agent_review, complaints, contracts, processes

ROOT = "/home/someone/projects/a-large-application"
RUN = "20251023T180500Z-1a2b3c"
LIMIT = Limits().verdict_contract_tokens


def contract(mode: str, path: str = f"{ROOT}/out/fd-safety.md", run: str = RUN) -> str:
    return contracts.contract(ROOT, path, mode, run, LIMIT)


@pytest.mark.parametrize("mode", ["review", "research"])
def test_the_contract_as_agents_read_it(mode: str, golden: Callable[[str, str], None]) -> None:
    golden(f"contract_{mode}.md", contract(mode))


@each("mode", ["review", "research"])
@each("run", [RUN, ""])
def test_the_seeds_words_are_in_every_contract(mode: str, run: str) -> None:
    text, path = contract(mode, run=run), f"{ROOT}/out/fd-safety.md"
    assert f"Write ALL findings to `{path}`.\n" in text
    assert "Do NOT return findings in your response text.\n" in text
    single = f'Your response text should be a single line: "Findings written to {path}"\n'
    assert single in text
    assert f"{path}.partial" not in text and "`.partial`" in text
    assert (f"<!-- run-uuid: {RUN} -->" in text) == bool(run)


def test_every_process_and_agent_of_ours_is_within_the_limit(layout: Layout) -> None:
    for process in processes.configured(layout):
        for agent in process.agents:
            folder = process.folder("docs/a question or a plan of usual length")
            text = contract(process.mode, f"{ROOT}/{folder}/{agent}.md")
            assert tokens.cautious(text) <= 350 and ROOT in text


def test_a_long_path_is_written_from_the_root_and_a_longer_one_refused() -> None:
    text = contracts.contract(f"/{'deep/' * 60}r", f"/{'deep/' * 60}r/out/a.md", "review", RUN, 350)
    assert "Write ALL findings to `out/a.md`." in text
    with pytest.raises(ContextError, match="choose a shorter"):
        contract("review", f"{ROOT}/{'x9' * 100}.md")
    with pytest.raises(ContextError, match="must be one of review, research"):
        contract("rhyme")


def structure(mode: str) -> str:
    """The file that an agent writes who copies the structure and fills in what is to be."""
    text = contract(mode).partition("File structure:\n\n")[2]
    end = f"<!-- {contracts.SENTINELS[mode]} -->\n"
    return text.partition(end)[0] + end


def test_a_review_written_to_the_letter_is_valid() -> None:
    text = structure("review")
    for old, new in (
        ('SEVERITY | ID | "Section" | Title', 'P1 | P1-1 | "a.py" | A lock is never released'),
        ("#### ID. SEVERITY: Title", "#### P1-1. P1: A lock is never released"),
        ("safe|needs-changes|risky", "needs-changes"),
        ("#### IMP-1. Title", "#### IMP-1. A better name"),
    ):
        assert old in text
        text = text.replace(old, new)
    text = text.replace("Verdict:", '- IMP | IMP-1 | "a.py" | A better name\nVerdict:', 1)
    review = agent_review.parse(text)
    assert (review.validation, review.run, review.complete) == ("valid", RUN, True)
    assert agent_review.effective_status(review) == ("NEEDS_ATTENTION", ())
    assert complaints.check(text) == []


def test_an_agent_is_told_the_first_complaints_and_how_many_more_there_are() -> None:
    index = "### Findings Index\n" + "".join(f"odd {n} {'x' * 300}\n" for n in range(20))
    text = f"{index}Verdict: safe\n"
    said = complaints.feedback(text)
    assert said[0].startswith("line 2: this line is not understood; it should read `- P0|")
    assert len(said) == 13 and max(map(len, said)) <= 240
    more = len(complaints.check(text)) - 12
    assert said[-1] == f"and {more} more: `make verdict_check` lists all"
    assert complaints.feedback("### Findings Index\nVerdict: safe\n") == []


def test_a_review_without_findings_is_clean() -> None:
    text = f"<!-- run-uuid: {RUN} -->\n### Findings Index\nVerdict: safe\n\n### Summary\nFine.\n"
    assert agent_review.effective_status(agent_review.parse(text)) == ("CLEAN", ())


def test_research_written_to_the_letter_is_complete() -> None:
    text = re.sub(r"\[what is open[^\]]*\]", "none", structure("research"))
    review = agent_review.parse(
        text.replace("[high, medium or low, and why]", "high: read all of it")
    )
    assert (review.type, review.validation, review.run) == ("research", "valid", RUN)
    assert agent_review.effective_status(review) == ("COMPLETE", ()) and review.complete


@each("mode", ["review", "research"])
def test_an_error_stub_is_an_error_to_every_reader(mode: str) -> None:
    for run in (RUN, ""):
        text = contracts.error_stub("x: Verdict: safe", "left no file", run, mode)
        review = agent_review.parse(text, mode)
        assert (review.validation, review.run) == ("error", run)
        assert agent_review.effective_status(review)[0] in ("ERROR", "FAILED")


@pytest.mark.parametrize("kind", ["document", "diff", "question"])
def test_a_prompt_names_the_input_and_ends_with_the_contract(
    kind: str, golden: Callable[[str, str], None]
) -> None:
    mode = "research" if kind == "question" else "review"
    text = contracts.prompt("fd-safety", "flux-drive", f"{ROOT}/out/in", kind, contract(mode))
    assert f"`{ROOT}/out/in`" in text and text.endswith(contract(mode))
    golden(f"review_prompt_{kind}.md", text)
