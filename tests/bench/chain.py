"""make bench_chain: a day of three sessions, and what each agent knows of what the last one knew.

Two hosts, a branch, a worktree, a crash, a compaction with a host's analysis, five resumes. For
each link: how many of the facts that must arrive do, which are told twice in one conversation, and
what it costs in tokens. Exit status 1 if a fact is lost or told twice. tests/test_chain.py counts
the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from places import SCRIPTS

sys.path.insert(0, str(SCRIPTS))

from contextkit.base import names, tokens
from contextkit.base.records import Record
from contextkit.capsules.documents import store as capsules

MORNING = names.moment("2025-10-23T08:00:00Z")
DECISION = "Settings stay TOML since the old API reads it"
PREFERENCE = "measure the parser before changing it"
THREAD = "Retry storms may come from the small pool"
MISSION = "Make the login of the station fast"
STATE = "The form is half wired"
NEXT = "Wire the form in src/form.py"
FINDING = "The parser takes 52 ms a file"
COMMIT = "Cache the tokens"
SUMMARY = "The user wants the cache bounded to 128 entries"
BLOCKER = "The staging key is missing"
REPORT = "# What the reader found\n\n" + "The reader opens every file twice. " * 200


class Link(Record):
    """What an agent was given at one point of the day; `lost` and `twice` are facts."""

    name: str
    facts: int
    lost: tuple[str, ...]
    twice: tuple[str, ...]
    tokens: int


class Day:
    """The repository of the day, its clock, and what each conversation was told so far."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repo"
        self.root.mkdir()
        self.minutes = 0
        self.links: list[Link] = []
        self._told: dict[str, str] = {}
        self._git("init", "-q", "-b", "feature/login")
        self._git("commit", "-q", "--allow-empty", "-m", "first")

    # What people, agents and hosts do

    def run(self, script: str, *words: str, session: str = "", stdin: str = "") -> str:
        """A command of an agent in a session; what it prints."""
        told = {"CLAUDE_CODE_SESSION_ID": session} if session else {}
        return self._call([str(SCRIPTS / f"{script}.py"), *words], stdin, told)

    def hook(self, event: str, session: str, host: str = "claude", **passed: object) -> str:
        """An event of a host; what its agent is told."""
        given = {"session_id": session, "hook_event_name": event, "cwd": str(self.root), **passed}
        given.setdefault("transcript_path", "")
        out = self._call([str(SCRIPTS / "host_hook.py"), event, f"--host={host}"],
                         json.dumps(given), {})  # fmt: skip
        said = json.loads(out) if out else {}
        return str(said.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def commit(self, path: str, what: str) -> None:
        self.minutes += 1
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(what, encoding="utf-8")
        self._git("add", path)
        self._git("commit", "-q", "-m", what)

    def _git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.root, check=True, env=self._variables({}))

    def _call(self, command: list[str], stdin: str, told: dict[str, str]) -> str:
        self.minutes += 1
        done = subprocess.run(
            [sys.executable, *command], cwd=self.root, input=stdin, capture_output=True,
            encoding="utf-8", env=self._variables(told), check=False,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def _variables(self, told: dict[str, str]) -> dict[str, str]:
        now = names.iso(MORNING + 60 * self.minutes)
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        dates = {f"GIT_{who}_DATE": now for who in ("AUTHOR", "COMMITTER")}
        who = {f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER")
               for what in ("NAME", "EMAIL")}  # fmt: skip
        sealed = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        return {**kept, **dates, **who, **sealed, **told, "CONTEXT_NOW": now,
                "PYTHONWARNDEFAULTENCODING": ""}  # fmt: skip

    # What is counted

    def forget(self, conversation: str) -> None:
        """A compaction: the host drops what it was told."""
        self._told[conversation] = ""

    def link(self, name: str, text: str, *facts: str, conversation: str = "") -> None:
        """Count the facts that must be in `text`; none may be in the conversation twice."""
        whole = self._told.get(conversation, "") + text if conversation else text
        if conversation:
            self._told[conversation] = whole
        lost = tuple(fact for fact in facts if fact not in text)
        twice = tuple(fact for fact in ALL if whole.count(fact) > 1)
        self.links.append(Link(name=name, facts=len(facts), lost=lost, twice=twice,
                               tokens=tokens.estimate(text) if text else 0))  # fmt: skip


ALL = (DECISION, PREFERENCE, THREAD, MISSION, STATE, NEXT, FINDING, SUMMARY, BLOCKER)


def _capsule(branch: str, created: str, **sections: str) -> str:
    """A finished capsule: these sections have these lines, the others one that says nothing."""
    head = capsules.blank(branch, "s", 0, 1200)
    head = head.replace(created_at=created, primary_objective="Log in fast")
    front = capsules.front_matter(capsules.outline(head, "p", "q"))
    said = {"Mission": f"- **User intent:** {MISSION}", **sections}
    body = (f"# {title}\n{said.get(title.split()[0], '- Nothing else.')}\n"
            for title in (*capsules.SECTIONS, capsules.THREADS))  # fmt: skip
    return front + "\n".join(body)


def a_day(folder: Path) -> list[Link]:
    """Live through the day in a repository below `folder`; every link of the chain."""
    day = Day(folder)
    _morning(day)
    _compaction(day)
    _crash(day)
    _branches(day)
    return day.links


def _morning(day: Day) -> None:
    """Session s-1 works: a plan, a capsule, a commit; its subagents start."""
    day.link("s-1 starts", day.hook("SessionStart", "s-1", source="startup"), conversation="s-1")
    work = ("--task=login", "--objective=Log in fast")
    day.run("external_memory", "plan", *work, "--pending=Test the form", session="s-1")
    day.run("external_memory", "checkpoint", "--task=login", "--phase=coding",
            f"--summary={STATE}", f"--next-action={NEXT}", session="s-1")  # fmt: skip
    day.run("external_memory", "spawn", "--task=login", "--agents=reader", session="s-1")
    reply = _capsule(
        "feature/login", names.iso(MORNING + 60 * day.minutes),
        Key=f"1. {DECISION}",
        Exploratory=f"- **Preference:** {PREFERENCE}\n- {THREAD}\n  - Next discovery step: ask",
    )  # fmt: skip
    day.run("capsule", "save", stdin=f"Here it is:\n```markdown\n{reply}```\nTell me!")
    day.minutes += 5
    day.commit("src/form.py", COMMIT)
    facts = (MISSION, DECISION, PREFERENCE, THREAD, COMMIT, "src/form.py")
    worker = {"agent_id": "a1", "agent_type": "general-purpose"}
    day.link("subagent after a commit (hook)", day.hook("SubagentStart", "s-1", **worker), *facts)
    day.link("subagent after a commit (launcher)",
             day.run("subagent_manager", "prompt", "--slug=x"), *facts)  # fmt: skip
    asked = day.root.parent / "asked.jsonl"
    use = {
        "type": "tool_use",
        "name": "Agent",
        "input": {
            "subagent_type": "Explore",
            "prompt": "Which settings does the old API of TOML need?",
        },
    }
    asked.write_text(json.dumps({"type": "assistant", "message": {"content": [use]}}) + "\n",
                     encoding="utf-8")  # fmt: skip
    question = {"agent_id": "a2", "agent_type": "Explore", "transcript_path": str(asked)}
    day.link("subagent with a question", day.hook("SubagentStart", "s-1", **question),
             MISSION, DECISION)  # fmt: skip
    day.hook("SubagentStop", "s-1", agent_id="a3", agent_type="reader",
             last_assistant_message=FINDING + " in src/form.py:1.")  # fmt: skip
    day.hook("SubagentStop", "s-1", agent_id="a4", agent_type="Explore",
             last_assistant_message=REPORT)  # fmt: skip


def _compaction(day: Day) -> None:
    """The host compacts s-1, and the user resumes it five times."""
    day.hook("PreCompact", "s-1", trigger="auto")
    day.forget("s-1")
    day.link("after the compaction", day.hook("SessionStart", "s-1", source="compact"),
             STATE, NEXT, FINDING, "Stored in this session", conversation="s-1")  # fmt: skip
    analysis = "<analysis>\nThe user first asked for a cache, and then …\n" * 200 + "</analysis>"
    day.hook("PostCompact", "s-1", trigger="auto",
             compact_summary=f"{analysis}\n<summary>\n1. {SUMMARY}.\n</summary>")  # fmt: skip
    for number in range(1, 6):
        day.hook("SessionEnd", "s-1", reason="other")
        new = (SUMMARY,) if number == 1 else ()
        day.link(f"resume {number}", day.hook("SessionStart", "s-1", source="resume"), *new,
                 conversation="s-1")  # fmt: skip


def _crash(day: Day) -> None:
    """The host of s-1 dies; s-2, of another host, starts, and writes the second capsule."""
    record = day.root / ".contextkit" / "sessions" / "s-1"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(f"{2**22 + 1}\n\n", encoding="utf-8")
    day.link("s-2 after the crash", day.hook("SessionStart", "s-2", "codex", source="startup"),
             STATE, NEXT, FINDING, SUMMARY, "Stored in the session before", "ended unexpectedly",
             conversation="s-2")  # fmt: skip
    day.run("handoff", "switch", "dev", session="s-2")
    day.commit("src/pool.py", "Bound the pool")
    (day.root / "src" / "open.py").write_text("x", encoding="utf-8")
    context = day.run("handoff", "switch", "qa", f"--blocker={BLOCKER}", "--next-action=Test it",
                      session="s-2")  # fmt: skip
    day.link("handoff to qa", context, BLOCKER, "src/pool.py (created)", "src/open.py (created)")
    draft = "next_action: go on\ndecisions: []\nfiles_modified: []\nblockers: []\n"
    context = day.run("handoff", "switch", "dev", "--draft=-", session="s-2", stdin=draft)
    day.link("handoff with an empty list", context, BLOCKER)
    prompt = day.run("capsule_prompt", session="s-2")
    facts = (DECISION, PREFERENCE, THREAD, NEXT, FINDING, BLOCKER, COMMIT)
    lost = tuple(fact for fact in facts if fact not in prompt)
    size = tokens.estimate(prompt)
    day.links.append(Link(name="prompt of the second capsule", facts=len(facts), lost=lost,
                          twice=(), tokens=size))  # fmt: skip
    created = names.iso(MORNING + 60 * day.minutes)
    path = day.run("capsule", "save", stdin=_capsule("feature/login", created)).strip()
    text = (day.root / path).read_text(encoding="utf-8")
    day.link("the second capsule", text, MISSION, DECISION, PREFERENCE, THREAD, "replaces: ")


def _branches(day: Day) -> None:
    """A branch and a worktree are made; s-3 works in the worktree on a task of its own."""
    day._git("checkout", "-q", "-b", "feature/next")
    worker = {"agent_id": "a5", "agent_type": "general-purpose"}
    day.link("subagent on a new branch", day.hook("SubagentStart", "s-2", "codex", **worker),
             MISSION, DECISION, PREFERENCE, THREAD, "feature/login")  # fmt: skip
    day.run("external_memory", "plan", "--task=billing", "--objective=Send the bills",
            session="s-3")  # fmt: skip
    day.hook("PreCompact", "s-2", "codex", trigger="auto")
    day.forget("s-2")
    said = day.hook("SessionStart", "s-2", "codex", source="compact")
    day.link("s-2 keeps its task beside another", said, STATE, NEXT, FINDING, conversation="s-2")
    assert "Send the bills" not in said
    there = day.root.parent / "there"
    day._git("worktree", "add", "-q", "-b", "feature/tree", str(there))
    said = day.hook("SessionStart", "s-4", source="startup", cwd=str(there))
    day.link("s-4 in a worktree, two tasks open", said, "`login`", "`billing`", "2 tasks are open",
             "worktree=feature/next", conversation="s-4")  # fmt: skip


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        links = a_day(Path(folder))
    width = max(len(link.name) for link in links)
    print(f"{'link':<{width}}  facts  twice  tokens")
    for link in links:
        facts = f"{link.facts - len(link.lost)}/{link.facts}"
        print(f"{link.name:<{width}}  {facts:>5}  {len(link.twice):>5}  {link.tokens:>6}")
        for fact in link.lost:
            print(f"  lost: {fact}")
        for fact in link.twice:
            print(f"  twice: {fact}")
    arrived = sum(link.facts - len(link.lost) for link in links)
    spent = sum(link.tokens for link in links)
    print(f"{'all':<{width}}  {arrived}/{sum(link.facts for link in links)}"
          f"  {sum(len(link.twice) for link in links):>5}  {spent:>6}")  # fmt: skip
    return int(any(link.lost or link.twice for link in links))


if __name__ == "__main__":
    raise SystemExit(main())
