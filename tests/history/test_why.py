"""What the ledger answers: the lineage of a document, sessions, deliveries; opening by address."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import CHECKOUT, Script, git
from contextkit.base import ledger
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.history.flows import show, traces


def events() -> list[dict[str, Any]]:
    return list(ledger.read(Layout()))


def test_every_step_of_a_document_leaves_a_line(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESSION_ID", "s-1")
    Path("report.md").write_text("# Report\n\nA race in src/auth.py:42.\n", encoding="utf-8")
    run("payload_store", "store", "--topic=auth", "--source=ui", "--file=report.md", "--force")
    run("payload_store", "show", "--ref=latest", "--part=content")
    run("remember_later", "--message=x")
    run("remember_later", "list", "--json")
    run("remember_later", "done", json.loads(run.out)[0]["id"])
    run("handoff", "write", "--from=a", "--to=b", "--no-story", "--next-action=x")
    run("handoff", "show")
    run("handoff", "consume")
    run("context", "session_end", "--session=s-1")
    said = [(one["event"], one["ref"].partition(":")[0]) for one in events()]
    assert said == [
        ("stored", "payload"), ("rendered", "payload"), ("shown", "payload"),
        ("stored", "reminder"), ("consumed", "reminder"),
        ("stored", "handoff"), ("shown", "handoff"), ("consumed", "handoff"),
        ("ended", "session"),
    ]  # fmt: skip
    assert {one["session"] for one in events()} == {"s-1"}


@pytest.fixture
def chain(repo: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Capsules and subagents: each capsule is put into one, which leaves the next."""
    layout = Layout()
    refs = []
    for number in range(14):
        by = {"CONTEXT_SUBAGENT_ID": f"sub-{number - 1}"} if number else {}
        monkeypatch.setenv("CONTEXT_NOW", f"2025-10-23T{number:02}:00:00Z")
        for name, value in by.items():
            monkeypatch.setenv(name, value)
        ref = f"capsule:feature/x/20251023T{number:02}0000Z"
        ledger.note(layout, "stored", ref, tokens=100, session="s")
        ledger.note(layout, "injected", ref, tokens=50, to=f"subagent:sub-{number}", session="s")
        refs.append(ref)
    return refs


def test_the_lineage_goes_in_both_directions(chain: list[str]) -> None:
    layout = Layout()
    history = traces.History(events())
    lineage = traces.lineage(layout, history, chain[3])
    assert lineage["from"] == [chain[2]]
    assert lineage["left"] == [chain[4]]
    assert lineage["written"]["by"] == "subagent:sub-2"
    given = {"ref": "subagent:sub-3", "at": "2025-10-23T03:00:00Z", "tokens": 50, "machine": ""}
    assert lineage["to"] == [given]
    assert lineage["drift"] == ["it no longer exists"]
    assert traces.lineage(layout, history, chain[0])["from"] == []


def test_a_tree_has_twelve_levels_and_every_document_once(chain: list[str]) -> None:
    layout = Layout()
    history = traces.History(events())
    text = traces.tree(history, traces.lineage(layout, history, chain[0]))
    assert [ref for ref in chain if f"  {ref}\n" in f"{text}\n"] == chain[1:13]
    ledger.note(layout, "stored", chain[0], sources=[chain[13]])
    ledger.note(layout, "stored", chain[1], sources=[chain[1], chain[0]])
    history = traces.History(events())
    assert "(above)" in traces.tree(history, traces.lineage(layout, history, chain[0]))


def test_what_was_removed_since_is_marked(chain: list[str]) -> None:
    layout = Layout()
    ledger.note(layout, "removed", chain[1])
    history = traces.History(events())
    text = traces.tree(history, traces.lineage(layout, history, chain[0]))
    assert f"{chain[1]} (removed)\n" in text and f"{chain[2]} (removed)" not in text


def test_why_is_asked_by_any_spelling(repo: Path, run: Script) -> None:
    run("external_memory", "plan", "--task=t", "--objective=x")
    for ref in ("plan:t", ".temp/memory/research_plans/t.md", "latest", "plan:latest"):
        assert run("context", "why", f"--ref={ref}", "--json") == 0
        found = json.loads(run.out)
        assert found["ref"] == "plan:t"
        assert found["written"]["program"]
        assert {"kind", "from", "to", "opened", "left", "drift"} <= found.keys()
    assert run("context", "why", "--ref=plan:none") == 1


def test_what_is_from_before_the_ledger_is_said_to_be(repo: Path, run: Script) -> None:
    run("external_memory", "plan", "--task=t", "--objective=x")
    for path in Path(".contextkit/ledger").iterdir():
        path.unlink()
    assert run("context", "why", "--ref=plan:t") == 0
    assert "has no record" in run.err
    assert "nothing known" in run.out


def test_who_wrote_is_the_same_without_make(repo: Path, run: Script) -> None:
    command = [str(CHECKOUT / "bin/contextkit"), "memory_plan", "task=t", "objective=x"]
    subprocess.run(command, check=True, capture_output=True)
    assert why_of(run, "plan:t")["written"]["program"] == "external_memory"


def test_a_session_is_a_line(repo: Path, run: Script) -> None:
    layout = Layout()
    ledger.note(layout, "stored", "payload:s/a", tokens=1000, session="s")
    ledger.note(layout, "stored", "payload:s/b", tokens=500, session="s")
    ledger.note(layout, "injected", "payload:s/a", tokens=60, session="s", to="session:s")
    ledger.note(layout, "shown", "payload:s/a", tokens=40, session="s")
    ledger.note(layout, "stored", "payload:t/a", tokens=7, session="t")
    ledger.note(layout, "ended", "session:t", session="t")
    assert run("context", "sessions", "--json") == 0
    (row,) = json.loads(run.out)
    assert {name: row[name] for name in ("session", "stored", "injected", "shown", "saved")} == {
        "session": "s", "stored": 1500, "injected": 60, "shown": 40, "saved": 1400,
    }  # fmt: skip
    assert row["open"] == 1
    assert row["ended"] == ""
    run("context", "sessions", "--all", "--json")
    assert [one["session"] for one in json.loads(run.out)] == ["s", "t"]


def test_the_payloads_of_an_ended_session_wait_for_nobody_until_it_goes_on(repo: Path) -> None:
    layout = Layout()
    ledger.note(layout, "stored", "payload:s/a", tokens=10, session="s")
    ledger.note(layout, "stored", "plan:s", tokens=10, session="s")
    ledger.note(layout, "ended", "session:s", session="s")
    totals = {name: rows["never_opened"] for name, rows in systems().items()}
    assert totals == {"payloads": 0, "memory": 1}
    ledger.note(layout, "stored", "payload:s/b", tokens=10, session="s")
    assert systems()["payloads"]["never_opened"] == 2


def systems() -> dict[str, dict[str, int]]:
    return traces.by_system(traces.of_documents(events()).values())


def test_a_delivery_says_what_was_never_done(repo: Path) -> None:
    layout = Layout()
    for name in ("a", "b", "c", "d"):
        ledger.note(layout, "stored", f"plan:{name}", tokens=10)
    ledger.note(layout, "rendered", "plan:a", tokens=3, sources=["plan:b"])
    ledger.note(layout, "shown", "plan:a", tokens=4)
    ledger.note(layout, "consumed", "plan:b")
    ledger.note(layout, "removed", "plan:d")
    found = traces.totals(traces.of_documents(events()).values())
    assert found == {
        "documents": 3, "never_delivered": 1, "never_opened": 2, "never_consumed": 2,
        "stored": 40, "injected": 3, "shown": 4, "saved": 33,
    }  # fmt: skip


def test_the_ledger_is_printed_and_filtered(repo: Path, run: Script) -> None:
    layout = Layout()
    ledger.note(layout, "stored", "plan:a", session="s")
    ledger.note(layout, "stored", "plan:b", session="t", sources=["plan:a"])
    ledger.note(layout, "shown", "plan:b", session="t")

    def refs(*narrow: str) -> list[str]:
        assert run("context", "events", *narrow, "--json") == 0
        return [one["ref"] for one in json.loads(run.out)]

    assert refs() == ["plan:a", "plan:b", "plan:b"]
    assert refs("--ref=plan:a") == ["plan:a", "plan:b"]
    assert refs("--session=t", "--event=shown") == ["plan:b"]
    assert refs("--since=2026-01-01") == []
    assert run("context", "events", "--event=lost") == 2


def test_a_person_sees_the_last_events_and_a_program_all(repo: Path, run: Script) -> None:
    for number in range(203):
        ledger.note(Layout(), "stored", f"plan:p{number}", session="s")
    assert run("context", "events") == 0
    lines = run.out.splitlines()
    assert "plan:p3 " in lines[1] and lines[200].split()[2] == "plan:p202"
    assert lines[-1] == "3 earlier ones not shown: since=, ref=, session="
    assert run("context", "events", "--json") == 0
    assert [one["id"] for one in json.loads(run.out)] == list(range(1, 204))


def test_a_document_is_opened_by_its_address(repo: Path, run: Script) -> None:
    Path("report.md").write_text("# R\n\n## A\n\none\n\n### B\n\ntwo\n\n## C\n\nx\n", "utf-8")
    run("payload_store", "store", "--topic=t", "--source=a", "--file=report.md", "--force")
    run("remember_later", "--message=look at it")
    assert run("context", "show", "--ref=payload:latest", "--part=content") == 0
    assert run.out == Path("report.md").read_text(encoding="utf-8")
    assert show.document(Layout(), "payload:latest", "a").text.startswith("## A\n\none\n\n### B")
    assert "look at it" in show.document(Layout(), "reminder:latest").text
    with pytest.raises(ContextError, match=r"available: .*A; B; C"):
        show.document(Layout(), "payload:latest", "nothing")
    assert run("context", "show", "--ref=latest", "--max-tokens=5", "--json") == 0
    assert json.loads(run.out)["ref"]
    assert events()[-1]["event"] == "shown"


def test_a_session_can_be_opened(repo: Path) -> None:
    ledger.note(Layout(), "stored", "plan:a", session="s")
    assert show.document(Layout(), "session:s").text.endswith("stored        plan:a\n")
    with pytest.raises(ContextError, match="nothing is known"):
        show.document(Layout(), "session:none")


def test_a_session_without_payloads_ends_in_the_ledger_too(repo: Path, run: Script) -> None:
    ledger.note(Layout(), "stored", "plan:a", session="s")
    assert run("context", "session_end", "--session=s") == 0
    assert (events()[-1]["event"], events()[-1]["ref"]) == ("ended", "session:s")
    assert traces.sessions(events()) == []


def test_a_merge_is_the_use_of_its_findings(repo: Path, run: Script) -> None:
    for agent in ("ui", "db"):
        run("external_memory", "finding", "--task=t", f"--agent={agent}", "--status=completed",
            f"--summary={agent}.py is read")  # fmt: skip
    assert run("external_memory", "merge", "--task=t", "--archive") == 0
    consumed = [one["ref"] for one in events() if one["event"] == "consumed"]
    assert [ref.partition("_")[0] for ref in sorted(consumed)] == ["finding:db", "finding:ui"]
    said = {one["event"] for one in events() if one["ref"] == consumed[0]}
    assert said == {"stored", "consumed", "ended"}


def test_the_end_of_a_subagent_is_in_the_ledger(repo: Path, run: Script) -> None:
    run("subagent_manager", "launch", "--slug=a", "--capsule=none")
    identity = run.out.strip()
    assert run("subagent_manager", "abort", identity, "--reason=late") == 0
    assert run("subagent_manager", "cleanup", identity) == 0
    said = [one["event"] for one in events() if one["ref"] == f"subagent:{identity}"]
    assert said == ["stored", "ended", "removed"]


def committed(text: str) -> str:
    """The commit that has `text` in src/auth.py."""
    Path("src").mkdir(exist_ok=True)
    Path("src/auth.py").write_text(text, encoding="utf-8")
    git("add", "src")
    git("commit", "-q", "-m", "auth")
    return git("rev-parse", "HEAD").strip()


def why_of(run: Script, ref: str) -> dict[str, Any]:
    assert run("context", "why", f"--ref={ref}", "--json") == 0
    found: dict[str, Any] = json.loads(run.out)
    return found


def test_what_a_document_names_is_compared_with_the_commit_it_was_written_at(
    repo: Path, run: Script
) -> None:
    commit = committed("a = 1\n")
    Path("report.md").write_text("# R\n\nA race in src/auth.py:42, see src/new.py.\n", "utf-8")
    run("payload_store", "store", "--topic=auth", "--source=ui", "--file=report.md", "--force")
    run("handoff", "write", "--from=a", "--to=b", "--no-story", "--next-action=x",
        "--file-modified=src/auth.py")  # fmt: skip
    run("external_memory", "finding", "--task=t", "--agent=ui", "--status=completed",
        "--summary=src/auth.py is read")  # fmt: skip
    refs = ("payload:latest", "handoff:latest", "finding:latest")
    for ref in refs:
        found = why_of(run, ref)
        assert (found["written"]["commit"], found["drift"]) == (commit, [])
    Path("src/auth.py").write_text("a = 2\n", encoding="utf-8")
    for ref in refs:
        assert why_of(run, ref)["drift"] == [f"src/auth.py: differs from commit {commit[:12]}"]
    Path("src/auth.py").unlink()
    assert run("context", "why", "--ref=payload:latest") == 0
    assert f"\nat commit {commit[:12]}\ndrift: src/auth.py: missing\n" in run.out


def test_what_a_snapshot_sealed_is_compared_with_that(repo: Path, run: Script) -> None:
    committed("a = 1\n")
    Path("src/auth.py").write_text("a = 2\n", encoding="utf-8")
    run("external_memory", "snapshot", "--task=t", "--summary=half done", "--files=src/auth.py - x")
    assert why_of(run, "snapshot:latest")["drift"] == []
    Path("src/auth.py").write_text("a = 3\n", encoding="utf-8")
    assert why_of(run, "snapshot:latest")["drift"] == ["src/auth.py: changed"]


def test_a_commit_that_is_not_here_is_said(repo: Path, run: Script) -> None:
    committed("a = 1\n")
    run("external_memory", "finding", "--task=t", "--agent=ui", "--status=completed",
        "--summary=src/auth.py is read")  # fmt: skip
    git("checkout", "-q", "--orphan", "other")
    git("commit", "-q", "-m", "another history")
    git("reflog", "expire", "--expire=now", "--all")
    git("branch", "-D", "feature/demo")
    git("gc", "-q", "--prune=now")
    (said,) = why_of(run, "finding:latest")["drift"]
    assert said.endswith("is not here: what differs from it is unknown")


def test_a_folder_of_reviews_counts_with_what_its_verdicts_stand_for(
    repo: Path, run: Script
) -> None:
    Path("out").mkdir()
    index = '### Findings Index\n- P2 | P2-1 | "Length" | It is long\nVerdict: safe\n\n'
    text = index + "### Issues Found\n#### P2-1. It is long\n" + "All of it is read.\n" * 200
    Path("out/fd-x.md").write_text(text, encoding="utf-8")
    assert run("verdict", "ingest", "--dir=out") == 0
    (row,) = [one for one in traces.of_documents(events()).values() if one.kind == "verdict"]
    assert row.stored > 800 and row.delivered and 0 < row.handed < 50
    assert row.saved == row.stored - row.handed and not row.opened
    assert run("verdict", "show", "--dir=out", "--agent=fd-x") == 0
    (row,) = [one for one in traces.of_documents(events()).values() if one.kind == "verdict"]
    assert row.opened


def test_what_is_read_more_often_than_it_is_long_has_saved_nothing(repo: Path) -> None:
    layout = Layout()
    ledger.note(layout, "stored", "plan:a", tokens=100, session="s")
    ledger.note(layout, "stored", "plan:b", tokens=1000, session="t")
    for _ in range(3):
        ledger.note(layout, "shown", "plan:a", tokens=100, session="s")
    totals = traces.totals(traces.of_documents(events()).values())
    assert (totals["stored"], totals["shown"], totals["saved"]) == (1100, 300, 1000)
    assert [row["saved"] for row in traces.sessions(events())] == [0, 1000]


def test_the_status_says_what_became_of_what_was_stored(repo: Path, run: Script) -> None:
    layout = Layout()
    for name, size in (("a", 1000), ("b", 500)):
        ledger.note(layout, "stored", f"finding:{name}", tokens=size)
    ledger.note(layout, "rendered", "finding:a", tokens=60)
    ledger.note(layout, "shown", "finding:a", tokens=40)
    assert run("context", "status", "--all") == 0
    (memory,) = [line for line in run.out.splitlines() if line.startswith("memory")]
    assert memory.endswith(
        "1 never delivered; 1 never opened; 2 never consumed; "
        "so far ~1500 tokens stored, ~60 injected, ~40 shown, ~1400 saved"
    )
    assert run("context", "status", "--json") == 0
    (row,) = [one for one in json.loads(run.out) if one["id"] == "memory"]
    assert row["delivery"]["never_consumed"] == 2 and row["delivery"]["saved"] == 1400


def test_a_reminder_is_open_or_done_and_no_more_is_claimed(repo: Path, run: Script) -> None:
    assert run("remember_later", "--message=Look at the cache") == 0
    assert run("remember_later", "list") == 0 and "Look at the cache" in run.out
    assert run("context", "status", "--all") == 0
    (line,) = [line for line in run.out.splitlines() if line.startswith("reminders")]
    assert line.endswith("1 open, 0 done")


def test_the_lineage_says_whether_the_whole_was_opened(repo: Path, run: Script) -> None:
    Path("report.md").write_text("# R\n\n## A\n\none\n\n## B\n\n" + "two words\n" * 200, "utf-8")
    run("payload_store", "store", "--topic=t", "--source=a", "--file=report.md", "--force")
    run("context", "show", "--ref=payload:latest", "--part=A")
    run("payload_store", "show", "--ref=latest", "--part=content")
    opened = why_of(run, "payload:latest")["opened"]
    assert [(one["event"], one["whole"]) for one in opened] == [("shown", False), ("shown", True)]
    assert run("context", "why", "--ref=payload:latest") == 0
    shown = [line for line in run.out.splitlines() if "  shown" in line]
    assert " of ~" in shown[0] and shown[0].endswith(" tokens") and shown[1].endswith("  the whole")
