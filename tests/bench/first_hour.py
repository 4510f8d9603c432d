"""make bench what=first_hour: what a newcomer gets, from `adopt` to the first receipt opened.

    python tests/bench/first_hour.py [--base=REVISION]     beside another revision of this checkout

In a scratch project and an empty home: files and lines that adopt adds, tokens that a person reads,
tokens that stand in every request of an agent (card and skill descriptions), tokens of a receipt
and of opening it, and seconds. The commands are those of the README; none of them asks.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "scripts"))

from contextkit.base import tables, tokens  # noqa: E402
from contextkit.base.commands import Rows  # noqa: E402

REPORT = "# Login\n\n## Summary\n\nThe login takes 52 ms, half of it in `src/login.py:42`.\n\n" + (
    "The parser reads each of the 377 entries twice, and the cache is never used. " * 60
)


class Newcomer:
    """Somebody with an empty home, a project of their own, and a clone of contextkit."""

    def __init__(self, folder: Path, revision: str) -> None:
        self.project = folder / "project"
        self.kit = folder / "contextkit"
        self.seconds: dict[str, float] = {}
        self._environment = {
            "HOME": str(folder / "home"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.c",
        }  # fmt: skip
        (folder / "home").mkdir()
        self.project.mkdir()
        self.git("init", "-q", "-b", "main")
        (self.project / "Makefile").write_text("all:\n\t@echo mine\n", encoding="utf-8")
        (self.project / "report.md").write_text(REPORT, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-qm", "mine")
        self.run("git", "clone", "-q", str(CHECKOUT), str(self.kit))
        self.run("git", "-C", str(self.kit), "checkout", "-q", "--detach", revision)

    def run(self, *words: str, given: str = "") -> str:
        """Run a command in the project; both of its streams, as in a terminal."""
        done = subprocess.run(
            words, cwd=self.project, env=self._environment, input=given, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
        )  # fmt: skip
        return done.stdout

    def git(self, *words: str) -> str:
        return self.run("git", *words)

    def step(self, name: str, *words: str, given: str = "") -> str:
        start = time.monotonic()
        said = self.run(*words, given=given)
        self.seconds[name] = time.monotonic() - start
        return said


def measured(revision: str) -> dict[str, str]:
    """Each figure of the first hour with one revision."""
    with tempfile.TemporaryDirectory() as folder:
        one = Newcomer(Path(folder), revision)
        shown = one.step("adopt", "make", "-s", "-C", str(one.kit), "adopt", f"into={one.project}")
        one.git("add", "-A")
        lines = one.git("diff", "--cached", "--numstat").splitlines()
        added = sum(int(line.split()[0]) for line in lines if line[0].isdigit())
        one.git("commit", "-qm", "adopt")
        helped = one.step("help", "make", "-s", "context_help")
        words = ("make", "-s", "payload_store", "topic=Login", "source=ada", "session=s")
        receipt = one.step("store", *words, given=REPORT)
        stored = re.search(r"@stored: \"?(\S+?)\"?$", receipt, re.M)
        opened = one.step(
            "open", "make", "-s", "payload_show", f"ref={stored[1]}" if stored else ""
        )
        return {
            "files": str(len(lines)),
            "lines": str(added),
            "tokens a person reads: adopt": str(tokens.estimate(shown)),
            "tokens a person reads: help": str(tokens.estimate(helped)),
            "tokens in every request": str(_standing(one.project)),
            "tokens of a receipt": str(tokens.estimate(receipt)),
            "tokens of opening it": str(tokens.estimate(opened)),
            "tokens stored": str(tokens.estimate(REPORT)),
            "seconds: adopt": f"{one.seconds['adopt']:.1f}",
            "seconds: first command": f"{one.seconds['help'] + one.seconds['store']:.1f}",
        }


def _standing(project: Path) -> int:
    """Tokens that Claude Code puts into every request: CLAUDE.md, the skills' descriptions."""
    found = (project / "CLAUDE.md").read_text(encoding="utf-8")
    for skill in sorted(project.glob(".claude/skills/*/SKILL.md")):
        found += skill.read_text(encoding="utf-8").split("---\n")[1]
    return tokens.estimate(found)


def main() -> None:
    base = next((word[7:] for word in sys.argv[1:] if word.startswith("--base=")), "")
    revisions = ["HEAD", *([base] if base else [])]
    found = {revision: measured(revision) for revision in revisions}
    rows = [{"id": name, **{r: found[r][name] for r in revisions}} for name in found["HEAD"]]
    columns = (("first hour", "id"), *((revision, revision) for revision in revisions))
    print(tables.of(Rows(columns=columns, rows=rows)))


if __name__ == "__main__":
    main()
