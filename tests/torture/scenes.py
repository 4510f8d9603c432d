"""A repository in which every store holds something, and the commands that are let loose on it.

What was stored holds a word beginning with `kept-`; what a command stores holds `new-…`. Where such
a word stands afterwards tells what was lost, and what is there twice.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import forks
from contextkit.base import names
from contextkit.capsules.documents import store as capsules

CHECKOUT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = CHECKOUT / "scripts"
LONG_AGO = "2025-09-01T09:00:00Z"
BEFORE = "2025-10-23T09:00:00Z"
NOW = "2025-10-23T18:05:00Z"
REVIEW = """### Findings Index
- {severity} | {severity}-1 | "Login" | {title}
Verdict: {verdict}

### Issues Found
#### {severity}-1. {title}
Look at `app.py:1`.
"""
REPORT = (
    """## Summary

{word}: the parser takes 52 ms in `src/app.py:42`. It took 20 ms before.

## Findings

"""
    + "- The reader in `src/app.py:42` copies every line twice before it looks at it.\n" * 40
)


@dataclass(frozen=True)
class Command:
    """A call of a script. `removes`: words that it is there to take away."""

    name: str
    words: tuple[str, ...]
    text: str | None = None
    stores: str = ""  # the word that has to be found once it said that it is done
    removes: tuple[str, ...] = ()
    reads: bool = False

    def line(self) -> list[str]:
        """The command line."""
        return [sys.executable, "-B", str(SCRIPTS / self.words[0]), *self.words[1:]]


def environment(home: Path, now: str = NOW) -> dict[str, str]:
    """The same surroundings for every command, on every machine."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    who = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": BEFORE}
    git = {f"GIT_{one}_{part}": who[part] for one in ("AUTHOR", "COMMITTER") for part in who}
    git |= dict.fromkeys(("GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"), os.devnull)
    python = {"PYTHONHASHSEED": "0", "PYTHONWARNINGS": "error"}
    return {**kept, **git, **python, "HOME": str(home), "CONTEXT_NOW": now}


def run(
    command: Command,
    folder: Path,
    now: str = NOW,
    before: tuple[str, ...] = (),
    seconds: float = 60,
) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder`, as `before` and then its own line."""
    if forks.wanted and not before:
        words = command.line()[2:]
        return forks.run(words, folder, environment(folder.parent, now), command.text or "")
    return subprocess.run(
        [*before, *command.line()], cwd=folder, env=environment(folder.parent, now),
        input=command.text or "", capture_output=True, encoding="utf-8", errors="surrogateescape",
        timeout=seconds,
    )  # fmt: skip


class Base:
    """The repository that every trial begins with; `commands` know the names in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self._git("init", "-q", "-b", "feature/demo")
        (folder / "app.py").write_text("print(1)\n", encoding="utf-8")
        (folder / "plan.md").write_text("# Plan\n\nOne thing after the other.\n", encoding="utf-8")
        for agent in ("dev", "qa"):
            profile = folder / ".claude" / "agents" / f"{agent}.md"
            profile.parent.mkdir(parents=True, exist_ok=True)
            profile.write_text(f"You are {agent}.\n", encoding="utf-8")
        self._git("add", "-A")
        self._git("commit", "-q", "-m", "first commit")
        for sample in (folder / ".git" / "hooks").glob("*.sample"):
            sample.unlink()
        self._fill()

    def copy(self, into: Path) -> Path:
        """A copy of the repository at `into`."""
        return Path(shutil.copytree(self.folder, into, symlinks=True))

    def _git(self, *words: str) -> None:
        env = environment(self.folder.parent)
        subprocess.run(["git", *words], cwd=self.folder, env=env, check=True, capture_output=True)

    def _do(self, *words: str, text: str = "", now: str = BEFORE, status: int = 0) -> str:
        done = run(Command(name="", words=words, text=text), self.folder, now)
        if done.returncode != status:
            raise SystemExit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def _fill(self) -> None:
        do, memory = self._do, "external_memory.py"
        for number in (1, 2):
            do("remember_later.py", f"--message=kept-reminder-{number}")
        self.reminder = json.loads(do("remember_later.py", "list", "--json"))[0]["id"]
        for number, now in enumerate((LONG_AGO, BEFORE)):
            do("capsule.py", "save", text=self.capsule(f"kept-capsule-{number}", now), now=now)
        for session, word in (
            ("s1", "kept-payload-1"),
            ("s1", "kept-payload-2"),
            ("s2", "kept-payload-3"),
        ):
            self._payload(session, word)
        for number in range(1):  # three are kept, and two commands may add one each
            do("handoff.py", "write", "--from=sm", "--to=dev", "--no-story",
               f"--next-action=kept-handoff-{number}", f"--decision=chosen {number}")  # fmt: skip
        save = ("--phase=exploration", "--next-action=go on")
        for task in ("t1", "t2"):
            do(
                memory,
                "plan",
                f"--task={task}",
                f"--objective=kept-plan-{task}",
                "--next-action=go on",
            )
            do(
                memory,
                "checkpoint",
                f"--task={task}",
                f"--summary=kept-old-{task}",
                *save,
                now=LONG_AGO,
            )
            do(memory, "checkpoint", f"--task={task}", f"--summary=kept-point-{task}", *save)
            for agent in ("ui", "db"):
                do(memory, "finding", f"--task={task}", f"--agent={agent}", "--status=completed",
                   f"--summary=kept-finding-{task}-{agent} says so.")  # fmt: skip
        do(memory, "snapshot", "--task=t1", "--summary=kept-snapshot")
        do("verdict.py", "write", "--agent=fd-kept", "--status=CLEAN", "--summary=kept-verdict")
        for agent, severity, verdict in (("fd-a", "P0", "risky"), ("fd-b", "P3", "safe")):
            self._review("out", agent, severity, verdict)
        start = json.loads(do("verdict.py", "start", "--process=flux-drive", "--target=plan.md",
                              "--agents=fd-0 fd-1", "--json"))  # fmt: skip
        self.run = start["run"]
        for agent in ("fd-0", "fd-1"):
            self._review(start["output_dir"], agent, "P3", "safe")
        launch = ("subagent_manager.py", "launch", "--capsule=none", "--type=here")
        self.open_agent = do(*launch, "--slug=kept-agent-1").strip()
        self.done_agent = do(*launch, "--slug=kept-agent-2").strip()
        do("subagent_manager.py", "abort", self.done_agent)

    def _payload(self, session: str, word: str) -> None:
        words = f"payload_store.py store --topic={word} --source=a --session={session} --force"
        self._do(*words.split(), text=REPORT.format(word=word))

    def _review(self, folder: str, agent: str, severity: str, verdict: str) -> None:
        path = self.folder / folder / f"{agent}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = REVIEW.format(severity=severity, title=f"kept-review-{agent}", verdict=verdict)
        path.write_text(text, encoding="utf-8")

    @staticmethod
    def capsule(word: str, now: str) -> str:
        """A finished capsule that says `word`."""
        blank = capsules.blank("feature/demo", "s1", names.moment(now), 1200)
        text = capsules.outline(blank, "PLAN.md", "PROGRESS.md")
        text = re.sub(r"<path:line[^<>\n]*>", "app.py", text)
        return re.sub(r"<[^<>\n]+>", word, text)

    def writers(self) -> list[Command]:
        """The commands that change something."""
        lines = {
            "remember_later": "remember_later.py --message=new-reminder",
            "reminder_done": f"remember_later.py done {self.reminder} --into=dropped",
            "capsule_save": "capsule.py save",
            "capsule_prompt stub=1": "capsule_prompt.py --stub",
            "capsule_check seal=1": "capsule.py check --seal",
            "capsule_prune": "capsule.py prune",
            "payload_store": "payload_store.py store --topic=new-payload --source=a --session=s1"
            " --force",
            "payload_store, no session": "payload_store.py store --topic=new-made --source=a"
            " --force",
            "payload_end": "payload_store.py end --session=s2",
            "payload_end purge=1": "payload_store.py end --session=s2 --purge",
            "payload_sweep": "payload_store.py sweep --max-idle=1h",
            "payload_repair": "payload_store.py repair --session=s1",
            "handoff": "handoff.py write --from=dev --to=qa --no-story --next-action=new-handoff",
            "handoff_switch": "handoff.py switch --from=dev --to=qa --no-story"
            " --next-action=new-switch",
            "handoff_consume": "handoff.py consume",
            "memory_plan": "external_memory.py plan --task=t1 --question=new-question?",
            "memory_finding": "external_memory.py finding --task=t1 --agent=new --status=completed"
            " --summary=new-finding",
            "memory_checkpoint": "external_memory.py checkpoint --task=t1 --phase=planning"
            " --summary=new-point --next-action=on",
            "memory_phase": "external_memory.py phase --task=t1 --to=planning --summary=new-phase"
            " --next-action=on",
            "memory_snapshot": "external_memory.py snapshot --task=t1 --summary=new-snapshot",
            "memory_merge": "external_memory.py merge --task=t1",
            "memory_archive": "external_memory.py archive --task=t1",
            "memory_clean": "external_memory.py clean",
            "verdict_write": "verdict.py write --agent=fd-new --status=CLEAN --summary=new-verdict",
            "verdict_ingest": "verdict.py ingest --dir=out",
            "verdict_ingest run=": f"verdict.py ingest --run={self.run}",
            "verdict_synthesize": "verdict.py synthesize --dir=out",
            "verdict_start": "verdict.py start --process=flux-drive --target=app.py"
            " --agents='fd-7 fd-8'",
            "verdict_end": f"verdict.py end --run={self.run}",
            "verdict_clean": "verdict.py clean --all",
            "subagent_launch": "subagent_manager.py launch --slug=new-agent --capsule=none"
            " --type=here",
            "subagent_finish": "subagent_manager.py finish --agent=x --status=COMPLETE"
            " --summary=new-report --session=s1",
            "subagent_abort": f"subagent_manager.py abort {self.open_agent}",
            "subagent_cleanup": f"subagent_manager.py cleanup {self.done_agent}",
            "context_init": "context.py init",
            "session_end": "context.py session_end --session=s2",
        }
        texts = {
            "capsule_save": self.capsule("new-capsule", NOW),
            "payload_store": REPORT.format(word="new-payload"),
            "payload_store, no session": REPORT.format(word="new-made"),
            "subagent_finish": REPORT.format(word="new-report"),
        }
        removes = {
            "capsule_prune": ("kept-capsule-0",),
            "payload_end purge=1": ("kept-payload-3",),
            "memory_clean": ("kept-old-t1", "kept-old-t2"),
            "verdict_clean": ("kept-verdict",),
        }
        found = []
        for name, line in lines.items():
            stores = re.findall(r"\bnew-[a-z]+", texts.get(name, line))
            found.append(
                Command(
                    name, tuple(shlex.split(line)), texts.get(name),
                    stores=stores[0] if stores else "", removes=removes.get(name, ()),
                )
            )  # fmt: skip
        return found

    def readers(self) -> list[Command]:
        """The commands that only look."""
        lines = {
            "reminders": "remember_later.py list",
            "capsule_list": "capsule.py list",
            "capsule_latest": "capsule.py latest",
            "capsule_show": "capsule.py show",
            "capsule_check": "capsule.py check",
            "capsule_prompt": "capsule_prompt.py",
            "payload_list": "payload_store.py list --session=s1",
            "payload_list all=1": "payload_store.py list --all",
            "payload_show": "payload_store.py show latest --session=s2",
            "payload_find": "payload_store.py find kept",
            "handoff_list": "handoff.py list",
            "handoff_show": "handoff.py show",
            "handoff_context": "handoff.py context --to=qa",
            "memory_check": "external_memory.py check",
            "memory_list": "external_memory.py list",
            "memory_recover": "external_memory.py recover --task=t1",
            "verdict_table": "verdict.py table",
            "verdict_read": "verdict.py read fd-kept",
            "verdict_count": "verdict.py table --view=count",
            "verdict_attention": "verdict.py table --view=attention",
            "verdict_index": "verdict.py index --dir=out",
            "verdict_show": "verdict.py show --dir=out --agent=fd-a",
            "verdict_runs": "verdict.py runs",
            "verdict_gate": f"verdict.py gate --run={self.run}",
            "subagent_status": "subagent_manager.py status",
            "context_status": "context.py status",
            "context_config": "context.py config",
            "doctor": "doctor.py",
        }
        return [Command(name, tuple(line.split()), reads=True) for name, line in lines.items()]
