"""make bench: what each command costs as a whole process, in one run.

Works in a scratch repository with a history, two notebooks and an inbox. Exit status 1 when a
command costs more than it may; the figures are those of manuals/structure.md.
"""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from measure import BARE, Case, measure, report

CHECKOUT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = CHECKOUT / "scripts"
HERE = Path(__file__).resolve().parent
# The shell with jq takes minutes at 1,000 verdicts and most of an hour at 10,000: ask for it.
WITH_JQ = int(os.environ.get("WITH_JQ", "100"))
ROUNDS = int(os.environ.get("ROUNDS", "40"))
ENTRY = "## 2025-10-{day:02} 09:00:00 UTC\n- **Summary:** moved the parser behind its tests\n\n"


def scratch(folder: Path) -> None:
    """A repository as a user has one: ten commits, notebooks, an inbox of twenty reminders."""
    os.chdir(folder)
    commits = [["commit", "-q", "--allow-empty", "-m", f"change number {n}"] for n in range(10)]
    for command in (["init", "-q", "-b", "feature/bench"], *commits):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *command], check=True)
    notebooks = folder / "docs" / "branches" / "feature-bench"
    notebooks.mkdir(parents=True)
    for name in ("PLAN.md", "PROGRESS.md"):
        text = "# Branch\n\n" + "".join(ENTRY.format(day=day) for day in range(1, 29))
        (notebooks / name).write_text(text, encoding="utf-8")
    for number in range(20):
        subprocess.run(script("remember_later.py", f"--message=note {number}"), check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip


def script(name: str, *arguments: str) -> list[str]:
    return [sys.executable, str(SCRIPTS / name), *arguments]


def make(*arguments: str) -> list[str]:
    return ["make", "-s", "-f", str(CHECKOUT / "Makefile"), *arguments]


def capture_cases(folder: Path) -> list[Case]:
    inbox = folder / "parallelus" / "manuals" / "capsules" / "remember-later.md"
    notes = inbox.read_bytes()
    stub = folder / "stub.md"

    def again() -> None:
        inbox.write_bytes(notes)

    add = script("remember_later.py", "--message=Outline onboarding UX spike", "--topic=ux")
    return [
        Case("remember_later", add, 1.6, prepare=again),
        Case("remember_later list", script("remember_later.py", "list"), 2.5),
        Case("capsule_prompt", script("capsule_prompt.py"), 2.5),
        Case("capsule_prompt stub=1", script("capsule_prompt.py", "--stub", "--file=stub.md"), 3,
             prepare=lambda: stub.unlink(missing_ok=True)),
        Case("context_status", script("context.py", "status")),
        Case("make remember_later", make("remember_later", "m=Outline onboarding UX spike"), 0.2,
             over="remember_later", prepare=again),
    ]  # fmt: skip


def payload_cases(folder: Path) -> list[Case]:
    """Storing 5,000 tokens and 1 MB; adding, listing and searching at 10, 1,000 and 10,000."""
    os.environ["SESSION_ID"] = "bench"
    report = folder / "report.md"
    paragraph = (
        "The parser in `src/app.py:42` takes 52 ms for 4,500 lines. It must not be slower.\n"
    )
    sections = "".join(f"\n## Part {n}\n\n{paragraph * 20}" for n in range(11))
    report.write_text(f"# Report\n{sections}", encoding="utf-8")
    large = folder / "large.md"
    large.write_text(f"# Report\n{sections * 60}"[: 1 << 20], encoding="utf-8")
    store = script("payload_store.py", "--topic=bench", "--source=bench")
    found = [
        Case("payload_store (5k tokens)", [*store, "--session=new"], 2.5, stdin=str(report)),
        Case("payload_store (1 MB)", [*store, "--session=large"], stdin=str(large)),
        Case("payload_store passes through", store, 2.5, stdin="contextkit.txt"),
    ]
    Path("contextkit.txt").write_text("short", encoding="utf-8")
    for count in (10, 1_000, 10_000):
        session = f"s{count}"
        fill(folder, session, count)
        at = f"at {count:,}"
        found += [
            Case(f"payload_store {at}", [*store, f"--session={session}"], stdin=str(report)),
            Case(f"payload_list {at}", script("payload_store.py", "list", f"--session={session}")),
            Case(f"payload_find {at}",
                 script("payload_store.py", "find", "--query=app.py", f"--session={session}")),
        ]  # fmt: skip
    return found


def fill(folder: Path, session: str, count: int) -> None:
    """A session with `count` payloads, written by the library itself."""
    sys.path.insert(0, str(SCRIPTS))
    from contextkit import indexes, payloads
    from contextkit.layout import Layout

    layout = Layout(str(folder))
    payloads.prepare_store(layout)
    into = Path(payloads.folder(layout, session))
    into.mkdir()
    entries = []
    for number in range(count):
        payload = payloads.Payload(
            topic=f"topic {number}", source="bench", created_at="2025-10-23T18:05:00Z", tokens=9,
            summary="One sentence. Another one.", content=f"See src/app.py:{number} for more.\n",
        )  # fmt: skip
        path = into / f"20251023-180500-topic-{number}.md"
        path.write_text(payloads.render(payload), encoding="utf-8")
        entries.append(payloads.entry(str(path), payload))
    head = {"sessionId": session, "createdAt": "2025-10-23T18:05:00Z"}
    text = indexes.render(head, "payloads", entries, "totalTokensStored")
    (into / payloads.MANIFEST).write_text(text, encoding="utf-8")


def verdict_cases(folder: Path) -> list[Case]:
    """Writing one; the four reports at 10 to 10,000 verdicts, beside bash with jq as it was."""
    sys.path.insert(0, str(SCRIPTS))
    from contextkit import verdicts

    found = [
        Case("verdict write", script("verdict.py", "write", "--agent=a", "--status=CLEAN",
                                     "--summary=nothing found"), 1.8),
    ]  # fmt: skip
    for count in (10, 100, 1_000, 10_000):
        store = folder / f"verdicts{count}"
        store.mkdir()
        for number in range(count):
            verdict = verdicts.Verdict(
                agent=f"agent-{number}", status="NEEDS_ATTENTION" if number % 4 == 0 else "CLEAN",
                summary="what was concluded, in a line", tokens_spent=1200,
            )  # fmt: skip
            (store / f"agent-{number}.json").write_text(verdicts.render(verdict), encoding="utf-8")
        for said in ("table", "count", "attention", "tokens"):
            limit = {10: 1.8, 1_000: 3.0}.get(count) if said in ("table", "count") else None
            command = ["env", f"CLAVAIN_VERDICT_DIR={store}", *script("verdict.py", said)]
            found.append(Case(f"verdict {said} of {count:,}", command, limit))
        if count <= WITH_JQ and shutil.which("jq"):
            for said in ("table", "count", "attention", "tokens"):
                command = ["bash", str(HERE / "jq-per-file.sh"), said, str(store)]
                found.append(
                    Case(f"  with jq: {said} of {count:,}", command, rounds=max(1, 200 // count))
                )
    fill_reviews(folder / "reviews", 100)
    found.append(Case("verdict ingest of 100 reviews", script("verdict.py", "ingest",
                                                              "--dir=reviews")))  # fmt: skip
    if shutil.which("jq"):
        command = ["bash", str(HERE / "jq-per-file.sh"), "write", str(folder / "jq")]
        found.append(Case("  with jq: write", command))
    return found


def fill_reviews(folder: Path, count: int) -> None:
    """Reviews of about 4,000 tokens each, ten findings in each."""
    folder.mkdir()
    index = "".join(f'- P{n % 4} | P{n % 4}-{n} | "Part {n}" | What is wrong\n' for n in range(10))
    prose = "The parser in `src/app.py:42` takes 52 ms for 4,500 lines, twice as long as before.\n"
    issues = "".join(f"#### P{n % 4}-{n}. What is wrong\n{prose * 16}\n" for n in range(10))
    text = f"### Findings Index\n{index}Verdict: risky\n\n### Issues Found\n{issues}"
    for number in range(count):
        (folder / f"fd-{number}.md").write_text(text, encoding="utf-8")


def hook_cases(folder: Path) -> list[Case]:
    """Every event of a host through its launcher: with nothing to do, and with something."""
    import json

    launcher = str(SCRIPTS / "hook.sh")
    samples = json.loads((CHECKOUT / "templates" / "hosts" / "claude.json").read_text("utf-8"))
    hooks = folder / ".contextkit" / "hooks"
    found = []
    for event, sample in samples.items():
        short = {**sample, "cwd": str(folder), "session_id": "idle", "last_assistant_message": "ok"}
        short |= {"agent_id": ""}
        given = folder / f"idle-{event}.json"
        given.write_text(json.dumps(short), encoding="utf-8")
        found.append(Case(f"{event}, nothing to do", [launcher, event, "--host=claude"], 1.8,
                          stdin=str(given)))  # fmt: skip

    def busy(event: str, name: str, session: str, prepare: Callable[[], object]) -> None:
        given = folder / f"{event}-{session}.json"
        changes = {"cwd": str(folder), "session_id": session}
        given.write_text(json.dumps(samples[event] | changes), encoding="utf-8")
        found.append(Case(name, [launcher, event, "--host=claude"], 3, stdin=str(given),
                          prepare=prepare))  # fmt: skip

    def again(session: str) -> Callable[[], object]:
        """The session as it was before it ended."""

        def back() -> None:
            ended = list((folder / ".contextkit" / "ended").glob(f"{session}@*"))
            if ended:
                ended[0].rename(folder / "shared" / "payloads" / session)

        return back

    fill(folder, "other", 10)
    busy("SessionStart", "SessionStart, swept within the hour", "new", lambda: None)
    found[-1].limit = 1.8
    forget = partial(shutil.rmtree, hooks / "busy", ignore_errors=True)
    busy("SubagentStart", "SubagentStart, noted", "busy", forget)
    busy("SubagentStop", "SubagentStop, stored, with a verdict", "busy", forget)
    for count in (10, 10_000):
        fill(folder, f"s{count}", count)
        busy("SessionEnd", f"SessionEnd with {count:,} payloads", f"s{count}", again(f"s{count}"))
    found[-1].limit = None  # it may take 200 ms: tests/test_hook_events.py
    return found


def main() -> int:
    """Run the groups that are named, all by default."""
    compileall.compile_dir(str(SCRIPTS), quiet=1)
    groups = {"capture": capture_cases, "payloads": payload_cases, "verdicts": verdict_cases,
              "hooks": hook_cases}  # fmt: skip
    kept = True
    for name in sys.argv[1:] or groups:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made).resolve()
            scratch(folder)
            cases = [Case("python -c pass", BARE), *groups[name](folder)]
            measure(cases, ROUNDS)
            print(f"\n{name}")
            kept = report(cases) and kept
            kept = flat(cases) and kept
            os.chdir("/")
    return 0 if kept else 1


def flat(cases: list[Case]) -> bool:
    """Whether storing into 10,000 costs at most 1.3 times what storing into 10 does."""
    median = {case.name: case.median for case in cases}
    if "payload_store at 10,000" not in median:
        return True
    ratio = median["payload_store at 10,000"] / median["payload_store at 10"]
    print(f"payload_store at 10,000 against at 10: {ratio:.2f} (may be 1.3)")
    return ratio <= 1.3


if __name__ == "__main__":
    raise SystemExit(main())
