"""A payload: a long text on disk, a receipt in the context."""

from __future__ import annotations

import os

from contextkit.base import tokens

from walkthrough.walk import Walk, indent, show


def act(walk: Walk) -> None:
    """The longest page of this checkout, as if a subagent had returned it."""
    pages = [
        path
        for path in walk.git("ls-files", "*.md").splitlines()
        if os.path.isfile(os.path.join(walk.scratch, path))
    ]
    page = max(pages, key=lambda path: os.stat(os.path.join(walk.scratch, path)).st_size)
    with open(os.path.join(walk.scratch, page), encoding="utf-8", newline="") as file:
        text = file.read()
    receipt = walk.step(
        f"A subagent returns a long text ({page}); a receipt goes back instead",
        "payload_store", f"topic={page}", "source=docs", "session=demo", stdin=text,
    )  # fmt: skip
    show(indent(receipt))
    full, short = tokens.estimate(text), tokens.estimate(receipt)
    show(f"   ~{full} tokens stay on disk, ~{short} go into the context: ~{full - short} saved")
    again = walk.step("The text again, byte for byte", "payload_show", "ref=latest",
                      "part=content", "session=demo")  # fmt: skip
    show("   the same" if again == text else "   NOT the same")
    facts = walk.step("What a summary could have lost", "payload_show", "ref=latest", "part=facts",
                      "session=demo")  # fmt: skip
    show(indent(facts, most=6))
    show(indent(walk.step("The session ends", "payload_end", "session=demo")))
