"""Handoffs: three agents, one after the other, and what each gets to read."""

from __future__ import annotations

import os

from contextkit.base import tokens
from contextkit.base.layout import toolkit

from walkthrough.walk import Walk, indent, show, write_file

# Each profile is a page of its own and the manuals that this agent works by.
REFERENCES = {
    "sm": ("README.md", "manuals/capsules.md"),
    "dev": ("README.md", "manuals/structure.md", "manuals/payloads.md"),
    "qa": ("README.md", "manuals/verdicts.md"),
}
STORY = """\
# Story 4.2: A demo of handoffs

## Status
Ready

## Tasks
- [x] three profiles
- [ ] the walk from sm to dev to qa
"""


def act(walk: Walk) -> None:
    """sm writes a story, dev builds it, qa looks at it; no agent reads another's profile."""
    folder = os.path.join(walk.scratch, ".claude", "agents")
    os.makedirs(folder)
    for name, pages in REFERENCES.items():
        write_file(folder, f"{name}.md", profile(name, pages))
    stories = os.path.join(walk.scratch, "docs", "stories")
    os.makedirs(stories)
    write_file(stories, "4.2.md", STORY)
    show("\n   (a team of three profiles and a story; an agent would work between the steps)")
    walk.step("The first agent gets its profile alone", "handoff_switch", "to=@sm")
    walk.step("The second one gets an artifact too", "handoff_switch", "to=@dev",
              "story_path=docs/stories/4.2.md", "decisions=Profiles are files | No network",
              "next_action=Walk from sm to dev to qa. Then call @qa.")  # fmt: skip
    prompt = "/AIOS:agents:qa Check that nothing of dev's profile is here."
    context = walk.step("The third one is called as in a prompt; the story goes on",
                        "handoff_switch", f"to={prompt}")  # fmt: skip
    artifacts, _, own = context.partition("# Your profile: ")
    show(indent(artifacts))
    show(f"   and below it ~{tokens.estimate(own)} tokens of its own profile")
    with open(os.path.join(folder, "dev.md"), encoding="utf-8") as file:
        foreign = set(file.read().splitlines()) - set(own.splitlines())
    found = foreign & set(context.splitlines())
    show(f"   lines that only dev's profile has: {len(found)} in this context")
    show(indent(walk.step("What that has saved", "handoff_stats")))


def profile(name: str, pages: tuple[str, ...]) -> str:
    """A profile of real size: the agent's page, and the manuals that it depends on."""
    parts = []
    for path in (toolkit("scripts", "walkthrough", "profiles", f"{name}.md"), *map(toolkit, pages)):
        with open(path, encoding="utf-8") as file:
            parts.append(file.read())
    return "\n".join(parts)
