#!/usr/bin/env python3
"""Walk through the toolkit on this checkout's own files and history, in a scratch repository.

Every step goes through the real make; what it read and wrote is observed, not told.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile

from contextkit import cli, tokens
from contextkit.commands import Arguments, Command, Option, Program
from contextkit.errors import ContextError
from contextkit.layout import Layout, toolkit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

BRANCH = "feature/demo"

# Put on the path of every step: writes down which files of the scratch repository are opened.
WATCH = """
import os, sys
scratch, log = os.environ["DEMO_SCRATCH"] + "/", os.environ["DEMO_LOG"]
def watch(event, args):
    if event == "open" and isinstance(args[0], str) and args[0].startswith(scratch):
        writes = (args[2] or 0) & (os.O_WRONLY | os.O_RDWR)
        if not writes and not args[0].endswith((".py", ".pyc")):
            os.write(fd, (args[0][len(scratch):] + "\\n").encode())
fd = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
sys.addaudithook(watch)
"""


class Walk:
    """The scratch repository and the steps taken in it."""

    def __init__(self, folder: str) -> None:
        self.scratch = os.path.join(os.path.realpath(folder), "host")
        self._log = os.path.join(folder, "opened.log")
        with open(os.path.join(folder, "sitecustomize.py"), "w", encoding="utf-8") as file:
            file.write(WATCH)
        kept = {k: v for k, v in os.environ.items() if k not in ("SESSION_ID", "CONTEXT_ROOT")}
        self._environment = {
            **kept,
            "PYTHONPATH": folder,
            "DEMO_SCRATCH": self.scratch,
            "DEMO_LOG": self._log,
        }
        self._number = 0

    def git(self, *arguments: str) -> str:
        name = ("-c", "user.name=demo", "-c", "user.email=demo@example.org")
        done = subprocess.run(
            ["git", *name, *arguments],
            cwd=self.scratch, check=True, capture_output=True, encoding="utf-8",
        )  # fmt: skip
        return done.stdout

    def step(self, title: str, *call: str, stdin: str = "") -> str:
        """Run one make target and print what it said, read and wrote; returns its stdout."""
        self._number += 1
        before = self._files()
        open(self._log, "w", encoding="utf-8").close()
        done = subprocess.run(
            ["make", "-s", "-f", toolkit("Makefile"), *call],
            cwd=self.scratch, env=self._environment, input=stdin,
            capture_output=True, encoding="utf-8",
        )  # fmt: skip
        if done.returncode:
            raise ContextError(f"step {self._number}, make {call[0]}: {done.stderr.strip()}")
        after = self._files()
        with open(self._log, encoding="utf-8") as file:
            opened = dict.fromkeys(file.read().splitlines())
        show(f"\n{self._number}. {title}")
        show("   $ make " + " ".join(_shell_word(word) for word in call))
        for line in done.stderr.splitlines():
            show(f"     {line}")
        read = [path for path in opened if not path.startswith((".git/", ".contextkit/"))]
        show(f"   read:  {', '.join(read) or 'nothing of the repository'}")
        wrote = [path for path, state in after.items() if before.get(path) != state]
        for path in wrote:
            with open(os.path.join(self.scratch, path), encoding="utf-8") as file:
                show(f"   wrote: {path} (~{tokens.estimate(file.read())} tokens)")
        if not wrote:
            show("   wrote: nothing")
        return done.stdout

    def _files(self) -> dict[str, tuple[int, int]]:
        """Each file that is not git's or ours to forget: its time and size."""
        found = {}
        for folder, folders, names in os.walk(self.scratch):
            folders[:] = [name for name in folders if name not in (".git", ".contextkit")]
            for name in names:
                path = os.path.join(folder, name)
                state = os.stat(path)
                found[os.path.relpath(path, self.scratch)] = (state.st_mtime_ns, state.st_size)
        return found


def show(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _shell_word(word: str) -> str:
    name, _, value = word.partition("=")
    return f'{name}="{value}"' if " " in value else word


def _indent(text: str, most: int = 400) -> str:
    lines = text.splitlines()
    cut = [f"   | … {len(lines) - most} more lines"] if len(lines) > most else []
    return "\n".join([f"   | {line}".rstrip() for line in lines[:most]] + cut)


def prepare(walk: Walk) -> None:
    """This checkout as the host repository: its commits, its files, notebooks from its history."""
    if os.path.exists(toolkit(".git")):
        clone = ["git", "clone", "-q", "--no-hardlinks", toolkit(), walk.scratch]
        subprocess.run(clone, check=True, capture_output=True)
        walk.git("checkout", "-q", "-B", BRANCH)
    else:  # unpacked from an archive
        ignore = shutil.ignore_patterns(".venv", "__pycache__", "compiled")
        shutil.copytree(toolkit(), walk.scratch, ignore=ignore)
        walk.git("init", "-q", "-b", BRANCH)
        walk.git("add", "-A")
        walk.git("commit", "-q", "-m", "contextkit, from an archive")
    notebooks = os.path.join(walk.scratch, "docs", "branches", BRANCH.replace("/", "-"))
    os.makedirs(notebooks)
    history = walk.git("log", "-6", "--reverse", "--date=format-local:%Y-%m-%d %H:%M:%S UTC",
                       "--format=## %cd%n**Work Performed**%n- %s (`%h`)%n").strip()  # fmt: skip
    with open(toolkit("CHANGELOG.md"), encoding="utf-8") as file:
        changes = file.read().partition("\n## ")[2]
    _write(notebooks, "PROGRESS.md", f"# Branch Progress - {BRANCH}\n\n{history}\n")
    _write(notebooks, "PLAN.md", f"# Branch Plan - {BRANCH}\n\n## {changes}")


def _write(folder: str, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def capsules_and_reminders(walk: Walk) -> None:
    walk.step(
        "A thought that must not get lost, in the middle of something else",
        "remember_later", "m=Outline the onboarding spike", "topic=ux", "next_step=Review mockups",
    )  # fmt: skip
    walk.step("And another", "remember_later", "m=The user prefers small commits", "tags=style git")
    show(_indent(walk.step("What is open", "reminders")))
    said = walk.step("The prompt that has the agent write its capsule, and a stub to fill in",
                     "capsule_prompt", "stub=1", "session=demo-session")  # fmt: skip
    header, _, prompt = said.partition("\n\n")
    show(_indent(header) + "\n   |\n" + _indent(prompt))
    show(f"   the prompt has ~{tokens.estimate(prompt)} tokens")
    target = header.partition("Target file: ")[2].partition("\n")[0]
    with open(os.path.join(walk.scratch, target), encoding="utf-8") as file:
        finished = fill_in(file.read(), commits_of(walk), decisions_of(walk))
    show("\n   (an agent would answer now; here the stub is filled in from the history)")
    saved = walk.step("The agent's reply, checked and kept", "capsule_save", f"file={target}",
                      stdin=f"```markdown\n{finished}```\n")  # fmt: skip
    show(_indent(saved + finished))
    first = walk.step("Which reminder is in it?", "reminders", "topic=ux")
    identity = first.splitlines()[1].split()[0]
    walk.step("That one is taken up", "reminder_done", f"id={identity}", f"into={target}")
    show(_indent(walk.step("What is left", "reminders")))


def payload(walk: Walk) -> None:
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
    show(_indent(receipt))
    full, short = tokens.estimate(text), tokens.estimate(receipt)
    show(f"   ~{full} tokens stay on disk, ~{short} go into the context: ~{full - short} saved")
    again = walk.step("The text again, byte for byte", "payload_show", "ref=latest",
                      "part=content", "session=demo")  # fmt: skip
    show("   the same" if again == text else "   NOT the same")
    facts = walk.step("What a summary could have lost", "payload_show", "ref=latest", "part=facts",
                      "session=demo")  # fmt: skip
    show(_indent(facts, most=6))
    show(_indent(walk.step("The session ends", "payload_end", "session=demo")))


def reviews(walk: Walk) -> None:
    """Three reviewers: one that measures, one that only talks, one that never came back."""
    folder = os.path.join(walk.scratch, "out")
    os.makedirs(folder)
    _write(folder, "fd-length.md", length_review(walk))
    _write(folder, "fd-prose.md", "I read everything and it looks fine to me.\n" * 40)
    show("\n   (reviewers would write out/<name>.md now; here a small script measures functions)")
    table = walk.step("Their files as verdicts", "verdict_ingest", "dir=out",
                      "agents=fd-length fd-prose fd-gone")  # fmt: skip
    show(_indent(table))
    full = 0
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            full += tokens.estimate(file.read())
    show(f"   ~{full} tokens of reviews stay on disk, ~{tokens.estimate(table)} are read")
    show(_indent(walk.step("What to look at", "verdict_attention")))
    show(_indent(walk.step("One of them, as far as it matters", "verdict_show", "agent=fd-length",
                           "max_tokens=80")))  # fmt: skip


def length_review(walk: Walk) -> str:
    """A review in the form of the contract: this checkout's ten longest functions."""
    import ast

    found = []
    for path in walk.git("ls-files", "scripts/*.py", "scripts/contextkit/*.py").splitlines():
        with open(os.path.join(walk.scratch, path), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.end_lineno:
                found.append((node.end_lineno - node.lineno + 1, path, node.name, node.lineno))
    rows, issues = [], []
    for number, (length, path, name, line) in enumerate(sorted(found, reverse=True)[:10], 1):
        severity = "P1" if length > 50 else "P3"
        title = f"{name} has {length} lines"
        rows.append(f'- {severity} | {severity}-{number} | "{path}" | {title}')
        issues.append(f"#### {severity}-{number}. {title}\n`{path}:{line}`: read it in one go?\n")
    verdict = "needs-changes" if any("| P1-" in row for row in rows) else "safe"
    index = "\n".join(["### Findings Index", *rows, f"Verdict: {verdict}"])
    return f"{index}\n\n### Summary\nLengths.\n\n### Issues Found\n" + "\n".join(issues)


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


def walk(layout: Layout, args: Arguments) -> str:
    folder = tempfile.mkdtemp(prefix="contextkit-demo-")
    try:
        taken = Walk(folder)
        prepare(taken)
        show(f"contextkit demo: this checkout's files and history, on branch {BRANCH}")
        capsules_and_reminders(taken)
        payload(taken)
        reviews(taken)
        show(_indent(taken.step("And how things stand", "context_status")))
    finally:
        if args.keep:
            cli.say(f"left in {folder}")
        else:
            shutil.rmtree(folder)
    return ""


PROGRAM = Program(
    name="demo",
    about=__doc__ or "",
    default="walk",
    commands=(
        Command(
            run=walk,
            help="take the walk",
            options=(Option(name="keep", kind="flag", help="leave the scratch repository there"),),
        ),
    ),
)


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())
