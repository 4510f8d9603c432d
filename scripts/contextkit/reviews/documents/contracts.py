"""The output contract of a review run's agents: what they are told.

    ### Findings Index
    - P0 | P0-1 | "Section" | Title
    Verdict: risky

    ### Summary
    ### Issues Found
    #### P0-1. P0: Title

`complaints.py` says where a file breaks it.
"""

from __future__ import annotations

import os

from contextkit.base import names, templates, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.reviews.documents import runs, verdicts

SENTINELS = {"review": "flux-drive:complete", "research": "flux-research:complete"}


def contract(root: str, path: str, mode: str, run: str, limit: int, files: int = 0) -> str:
    """The contract: how an agent writes, and where: to the absolute `path`; `run` is an id or ''.

    `files` is how many there are to read, or 0. At most `limit` tokens, if need be by a path
    relative to the root. Raises ContextError if even that is too long.
    """
    if mode not in SENTINELS:
        raise bad_input(f"mode={mode}: must be one of {', '.join(SENTINELS)}")
    for written in (path, os.path.relpath(path, root)):
        text = templates.render(
            f"contract_{mode}.md", path=written, run=run, sentinel=SENTINELS[mode], files=files
        )
        size = tokens.cautious(text)
        if size <= limit:
            return text
    raise ContextError(
        f"{path}: a contract with this path takes {size} tokens, the limit is {limit}:"
        " choose a shorter agent name or output folder"
    )


def of_run(layout: Layout, run: runs.Run, agent: str) -> str:
    """The contract of an agent of a run. Raises ContextError for one that was not asked."""
    if agent not in run.roster:
        hint = names.nearest(agent, run.roster) or f": it asked {', '.join(run.roster)}"
        raise bad_input(f"agent: the run {run.id} did not ask {agent!r}{hint}")
    limit = layout.limits.verdict_contract_tokens
    path = runs.output_path(layout, run, agent)
    return contract(layout.root, path, run.mode, run.id, limit, run.files)


def loose(layout: Layout, folder: str, agent: str, mode: str) -> str:
    """The contract of an agent that writes to an absolute `folder`, without a run."""
    path = os.path.join(folder, verdicts.encode(agent) + ".md")
    return contract(layout.root, path, mode, "", layout.limits.verdict_contract_tokens)


def prompt(
    agent: str, process: str, input_path: str, kind: str, text: str, confirm: tuple[str, ...] = ()
) -> str:
    """The prompt that launches one agent: its task, where the input is, and the contract.

    kind: document, diff or question; `confirm`: the agent's findings of the previous run; it says
    for each whether it is fixed.
    """
    return templates.render(
        "review_prompt.md", agent=agent, process=process, input=input_path, kind=kind,
        contract=text.rstrip(), confirm=confirm, grades="SEVERITY" in text,
    )  # fmt: skip


def error_stub(
    agent: str, reason: str, run: str, mode: str, rows: tuple[str, ...] = (), rest: str = ""
) -> str:
    """A file for an agent that left none, which every reader takes for an error.

    `rest` is the agent's text so far; its findings, `rows`, count in addition.
    """
    return templates.render(
        "error_stub.md", agent=agent, reason=names.one_line(reason), run=run, rows=rows,
        rest=rest.strip(), sentinel=SENTINELS[mode],
    )  # fmt: skip
