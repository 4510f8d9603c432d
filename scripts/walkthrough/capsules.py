"""Reminders and a capsule: what the main agent hands to the one that takes over."""

from __future__ import annotations

import os

from contextkit.base import tokens

from walkthrough.walk import Walk, indent, show


def act(walk: Walk) -> None:
    """A thought kept, the capsule prompt, the reply checked and kept, the thought taken up."""
    walk.step(
        "A thought that must not get lost, in the middle of something else",
        "remember_later", "m=Outline the onboarding spike", "topic=ux", "next_step=Review mockups",
    )  # fmt: skip
    walk.step("And another", "remember_later", "m=The user prefers small commits", "tags=style git")
    show(indent(walk.step("What is open", "reminders")))
    said = walk.step("The prompt that has the agent write its capsule, and a stub to fill in",
                     "capsule_prompt", "stub=1", "session=demo-session")  # fmt: skip
    header, _, prompt = said.partition("\n\n")
    show(indent(header) + "\n   |\n" + indent(prompt))
    show(f"   the prompt has ~{tokens.estimate(prompt)} tokens")
    target = header.partition("Target file: ")[2].partition("\n")[0]
    with open(os.path.join(walk.scratch, target), encoding="utf-8") as file:
        finished = fill_in(file.read(), commits_of(walk), decisions_of(walk))
    show("\n   (an agent would answer now; here the stub is filled in from the history)")
    saved = walk.step("The agent's reply, checked and kept", "capsule_save", f"file={target}",
                      stdin=f"```markdown\n{finished}```\n")  # fmt: skip
    show(indent(saved + finished))
    first = walk.step("Which reminder is in it?", "reminders", "topic=ux")
    identity = first.splitlines()[1].split()[0]
    walk.step("That one is taken up", "reminder_done", f"id={identity}", f"into={target}")
    show(indent(walk.step("What is left", "reminders")))


def commits_of(walk: Walk) -> list[str]:
    return walk.git("log", "-5", "--format=%h %s").splitlines()


def decisions_of(walk: Walk) -> list[str]:
    """The decisions of this checkout: path and title of each, separated by a tab."""
    folder = os.path.join("manuals", "decisions")
    found = []
    for name in sorted(os.listdir(os.path.join(walk.scratch, folder))):
        with open(os.path.join(walk.scratch, folder, name), encoding="utf-8") as file:
            found.append(f"{folder}/{name}\t{file.readline().strip('# ').rstrip()}")
    return found


def fill_in(stub: str, commits: list[str], decisions: list[str]) -> str:
    """The stub as an agent might have finished it, from this checkout's commits and decisions."""
    said = {
        "# Mission Snapshot": (
            "- **User intent:** see how contextkit carries context to the next agent.",
            f"- **Current status:** the latest commit is `{commits[0]}`.",
        ),
        "# Key Decisions & Rationale": tuple(
            f"{number}. {title.partition('. ')[2]} — why: `{path}`"
            for number, (path, title) in enumerate((d.split("\t") for d in decisions[:3]), 1)
        ),
        "# Active Workstreams": ("- Demo → scope: capture; owner: demo; blockers: none",),
        "# Pending Actions": ("- [ ] Read manuals/structure.md (owner: you, trigger: now)",),
        "# Knowledge Base": ("- `Makefile` — every target; `manuals/README.md` — read on",),
        "# Risks & Watchpoints": ("- This repository is removed at the end; watch: `keep=1`",),
        "# Transcript Highlights": tuple(f"- `{commit}`" for commit in commits[:5]),
        "# Consistency Checklist": ("- [x] Compared with both notebooks and `git log`",),
    }
    head, body = stub.split("\n# ", 1)
    sections = []
    for section in ("# " + body).split("\n\n#"):
        title, _, rest = ("#" + section.lstrip("#")).partition("\n")
        kept = "\n".join(line for line in rest.splitlines() if "<" not in line.partition("(r-")[0])
        sections.append("\n".join((title, *said.get(title, (kept,)))))
    head = head.replace("<the objective in one sentence>", "Show how context is carried over")
    return head + "\n" + "\n\n".join(sections) + "\n"
