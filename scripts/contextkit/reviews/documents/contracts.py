"""What an agent of a review run is told: the contract of its output, and the prompt around it."""

from __future__ import annotations

import os

from contextkit.base import names, templates, tokens
from contextkit.base.errors import ContextError, bad_input

SENTINELS = {"review": "flux-drive:complete", "research": "flux-research:complete"}


def contract(root: str, path: str, mode: str, run: str, limit: int) -> str:
    """How and where an agent writes: to the absolute `path`; `run` is an id, or empty.

    At most `limit` tokens, cautiously estimated: where that is too little for the absolute path,
    the path is relative to the root. Raises ContextError where that is too long as well.
    """
    if mode not in SENTINELS:
        raise bad_input(f"mode={mode}: must be one of {', '.join(SENTINELS)}")
    for written in (path, os.path.relpath(path, root)):
        text = templates.render(
            f"contract_{mode}.md", path=written, run=run, sentinel=SENTINELS[mode]
        )
        size = tokens.cautious(text)
        if size <= limit:
            return text
    raise ContextError(
        f"{path}: a contract with this path takes {size} tokens, the limit is {limit}:"
        " choose a shorter agent name or output folder"
    )


def prompt(agent: str, process: str, input_path: str, kind: str, text: str) -> str:
    """What one agent reads when it is launched: its task, where the input is, and the contract.

    kind: document, diff or question; `text` is the contract.
    """
    return templates.render(
        "review_prompt.md", agent=agent, process=process, input=input_path, kind=kind,
        contract=text.rstrip(),
    )  # fmt: skip


def error_stub(
    agent: str, reason: str, run: str, mode: str, rows: tuple[str, ...] = (), rest: str = ""
) -> str:
    """The file of an agent that left none: one that every reader takes for an error.

    `rest` is what it had written by then, `rows` are its findings: they count beside the error.
    """
    return templates.render(
        "error_stub.md", agent=agent, reason=names.one_line(reason), run=run, rows=rows,
        rest=rest.strip(), sentinel=SENTINELS[mode],
    )  # fmt: skip
