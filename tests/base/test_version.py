"""One version, in one place; which of two is newer; documents of a newer format."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import CHECKOUT, SCRIPTS, Script, each
from contextkit.base import commands, stores, version
from contextkit.base.errors import UPGRADE, ContextError
from contextkit.base.layout import Layout
from contextkit.base.references import Reference
from contextkit.capsules.documents import reminders
from contextkit.capsules.flows import upkeep
from contextkit.handoffs.documents import state
from contextkit.hosts.flows import doctor
from contextkit.memory.documents import checkpoints, findings, merged, plans, snapshots
from contextkit.memory.flows import recovery
from contextkit.payloads.documents import store as payloads
from contextkit.reviews.documents import dismissals, verdicts

# As semver.org orders them.
ASCENDING = (
    "0.9.0 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11"
    " 1.0.0-rc.1 1.0.0 1.2.0 1.10.0 2.0.0"
).split()


def test_versions_sort_as_semver_says() -> None:
    shuffled = list(ASCENDING)
    random.Random(1).shuffle(shuffled)
    assert sorted(shuffled, key=version.order) == ASCENDING
    assert version.order("v1.2.0") == version.order("1.2.0+build.7")


@each("text", ["", "1.2", "1.2.x", "latest", "1.2.3.4", "\u0661.2.3"])
def test_what_is_no_version_is_said(text: str) -> None:
    assert not version.is_version(text)
    with pytest.raises(ContextError, match="is not a version like"):
        version.order(text)


def test_the_version_is_semantic_and_said_in_one_place() -> None:
    assert version.is_version(version.VERSION)
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    module, _, name = project["tool"]["setuptools"]["dynamic"]["version"]["attr"].rpartition(".")
    __import__(module)
    assert getattr(sys.modules[module], name) == version.VERSION
    stated = re.compile(rf"""["']{re.escape(version.VERSION)}["']""")
    said = [path for path in SCRIPTS.rglob("*.py") if stated.search(path.read_text("utf-8"))]
    assert [path.name for path in said] == ["version.py"]


@each("script", sorted(commands.SCRIPTS))
def test_every_name_of_the_script_says_its_version(
    script: str, run: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        run(script, "--version")
    assert end.value.code == 0
    assert capsys.readouterr() == (f"{script} {version.VERSION}\n", "")


@each("script", sorted({path.stem for path in SCRIPTS.glob("*.py")} - commands.SCRIPTS.keys()))
def test_every_other_script_says_its_version(script: str) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPTS / f"{script}.py", "--version"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.stdout, done.stderr) == (f"{script} {version.VERSION}\n", "")
    assert done.returncode == 0


def test_doctor_says_the_version(repo: object, run: Script) -> None:
    run("doctor")
    assert f"note: versions: this is contextkit {version.VERSION} (make " in run.out


def test_a_newer_format_is_no_broken_document() -> None:
    version.refuse_newer("1.7", "1.2", "x.md")
    version.refuse_newer("?", "1.2", "x.md")
    version.refuse_newer(None, "1", "x.md")
    with pytest.raises(ContextError, match=r"x\.md: written by a newer contextkit .*make upgrade"):
        version.refuse_newer("2", "1.2", "x.md")


def test_documents_say_their_format_and_one_of_a_newer_format_is_not_called_broken() -> None:
    payload = payloads.Payload(topic="t", source="s", created_at="2025-10-23T18:05:00Z", tokens=1,
                               summary="One.", content="text")  # fmt: skip
    text = payloads.render(payload)
    assert text.endswith(" format=1 -->\n")
    assert payloads.parse(text.replace(" format=1", "").encode()) == payload, "from before"
    with pytest.raises(ContextError, match=r"x: written by a newer contextkit \(format 2"):
        payloads.parse(text.replace(" format=1", " format=2").encode(), "x")
    with pytest.raises(ContextError, match=r"written by a newer contextkit \(format 2"):
        checkpoints.parse('{"format": 2, "state": "made anew"}')
    found = verdicts.parse(b'{"format": 2, "status": ["made anew"]}', "a")
    assert found["status"] == "ERROR"
    assert found["summary"].startswith("verdict file was written by a newer contextkit (format 2")


@each(
    ("module", "document"),
    [
        (plans, plans.Plan(task_id="t", next_actions=("one", "two"))),
        (findings, findings.Finding(agent="a", task_id="t", recommendations=("one",))),
        (merged, merged.Merged(task_id="t")),
        (snapshots, snapshots.Snapshot(task_id="t", resume="go on")),
    ],
)
def test_the_documents_of_external_memory_say_their_format(module: Any, document: Any) -> None:
    line = "<!-- contextkit: format=1 -->\n"
    text = module.render(document)
    assert text.endswith(f"\n\n{line}")
    assert module.parse(text.removesuffix(line)) == module.parse(text), "from before"
    with pytest.raises(ContextError, match=r"written by a newer contextkit \(format 2"):
        module.parse(text.replace(line, line.replace("1", "2")))


def test_a_snapshot_with_digests_says_its_format_above_them() -> None:
    digests = (Reference(path="a.py", sha256="00"),)
    snapshot = snapshots.Snapshot(task_id="t", resume="go on", digests=digests)
    text = snapshots.render(snapshot)
    assert "\n\ngo on\n\n<!-- contextkit: format=1 -->\n<!-- contextkit: files=" in text.replace(
        "## Resume Instructions\n", "\n"
    )
    assert (snapshots.parse(text).digests, snapshots.parse(text).resume) == (digests, "go on")
    with pytest.raises(ContextError, match="newer contextkit"):
        snapshots.parse(text.replace("format=1", "format=2"))


def test_an_update_of_a_plan_leaves_its_format_last_and_one_of_a_newer_plan_is_refused() -> None:
    old = plans.render(plans.Plan(task_id="t", constraints=("slow",)))
    change = plans.Plan(task_id="t", next_actions=("one",), constraints=("dear",))
    new = plans.update(old, change, 0)
    assert new.endswith("1. one\n\n<!-- contextkit: format=1 -->\n")
    assert plans.parse(new).constraints == ("slow", "dear")
    with pytest.raises(ContextError, match="newer contextkit"):
        plans.update(old.replace("format=1", "format=2"), change, 0)


def test_a_manifest_of_a_newer_format_is_left_alone(layout: Layout) -> None:
    payload = payloads.Payload(topic="t", source="s", created_at="2025-10-23T18:05:00Z", tokens=1,
                               summary="One.", content="text")  # fmt: skip
    payloads.save(layout, "s", payload, 0)
    path = Path(payloads.folder(layout, "s"), payloads.MANIFEST)
    newer = path.read_text(encoding="utf-8").rstrip("}\n") + ',\n  "format": 2\n}\n'
    path.write_text(newer, encoding="utf-8")
    with pytest.raises(ContextError, match=r"written by a newer contextkit \(format 2") as refused:
        payloads.entries(layout, "s")
    assert "repair" not in str(refused.value), "it is not broken"
    with pytest.raises(ContextError, match=r"written by a newer contextkit \(format 2"):
        payloads.repair(layout, "s", 0)
    assert path.read_text(encoding="utf-8") == newer
    assert [*path.parent.glob("*.broken*")] == []


PAYLOAD = payloads.Payload(topic="t", source="s", created_at="2025-10-23T18:05:00Z", tokens=1,
                           summary="One.", content="text")  # fmt: skip
FRONT_MATTER = """---
branch: main
source_session: s
created_at: "2025-10-23T18:05:00Z"
primary_objective: "x"
token_budget: 1200
version: "2.0"
---
"""
HANDOFF = """handoff:
  from_agent: "sm"
  to_agent: "dev"
  next_action: "Go on."
  version: "2.0"
  timestamp: "2025-10-23T18:05:00Z"
"""
LINE = "<!-- contextkit: format=2 -->\n"
# A document of each store that declares one: its name there, and a text of a newer format.
NEWER = {
    "capsule": ("main/20251023T180500Z.md", f"{FRONT_MATTER}# Mission Snapshot\nmade anew\n"),
    "reminder": ("", f"# Remember later\n\n{LINE}\n## made anew\n"),
    "subagent": ("", '[{"id": "a", "slug": ["made anew"], "format": 2}]'),
    "payload": ("s/20251023-180500-t.md", payloads.render(PAYLOAD).replace("ormat=1", "ormat=2")),
    "handoff": ("handoff-sm-to-dev-20251023T180500Z.yaml", HANDOFF),
    "plan": ("t.md", f"# Research Plan: t\n\nmade anew\n\n{LINE}"),
    "finding": ("ui_20251023T180500.md", f"# Findings: ui\n\nmade anew\n\n{LINE}"),
    "merged": ("merged_20251023T180500.md", f"# Merged Findings: t\n\nmade anew\n\n{LINE}"),
    "checkpoint": ("cp_review_20251023T180500.json", '{"format": 2, "state": "made anew"}'),
    "snapshot": ("snap_20251023T180500.md", f"# Context Snapshot\n\nmade anew\n\n{LINE}"),
    "verdict": ("fd-a.json", '{"format": 2, "status": ["made anew"]}'),
    "run": ("20251023T180500Z-1a2b3c.json", '{"version": 2, "run": "20251023T180500Z-1a2b3c"}'),
}


@pytest.mark.parametrize("store", stores.with_documents(), ids=lambda store: store.kind)
def test_a_newer_document_of_any_store_asks_for_an_upgrade_and_is_not_to_be_mended(
    store: stores.Store, layout: Layout
) -> None:
    name, text = NEWER[store.kind]
    path = Path(layout.store(store.kind), name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    [broken] = stores.module(store).load_all(layout).broken
    assert broken.path == layout.shown(str(path))
    assert broken.reason.endswith(
        f"written by a newer contextkit (format {'2.0' if '2.0' in text else 2}, this one reads"
        f" {'1.0' if store.kind == 'handoff' else 1}): {UPGRADE}"
    )
    [found] = doctor.documents(layout, ())
    assert found.mend == UPGRADE, "doctor's advice is not to fix or remove it"
    assert found.problem.startswith(f"{broken.path}: ")
    assert UPGRADE not in found.problem


def test_a_newer_finding_is_told_by_the_fast_listing_too_whatever_its_size(layout: Layout) -> None:
    for words in (1, 10_000):
        finding = findings.make("ui", "t", "partial", "2025-10-23T18:05:00Z", summary="w " * words)
        path = Path(findings.save(layout, finding, 1_761_242_700 + words))
        assert [head for _, head in findings.heads(layout, "t")]
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("format=1 -->", "format=2 -->"), encoding="utf-8")
        found = findings.heads(layout, "t")
        assert (len(found), len(found.broken)) == (0, 1)
        assert UPGRADE in found.broken[0].reason
        path.unlink()


def test_an_inbox_says_its_format_and_one_of_a_newer_format_gets_no_entry(layout: Layout) -> None:
    reminder = reminders.Reminder(id="r-000001", taken="2025-10-23 18:05:00 UTC", note="a note")
    reminders.save(layout, layout.reminders, reminder)
    inbox = Path(layout.reminders)
    text = inbox.read_text(encoding="utf-8")
    head, _, entry = text.partition("\n\n## ")
    assert head.startswith("# Remember later\n<!-- contextkit: format=1 -->\n\n")
    older = "# Remember later\n\n## " + entry
    assert reminders.parse(text) == reminders.parse(older) == (reminder,)
    newer = text.replace("format=1", "format=2")
    inbox.write_text(newer, encoding="utf-8")
    with pytest.raises(ContextError, match="written by a newer contextkit"):
        reminders.save(layout, layout.reminders, reminder.replace(id="r-000002"))
    with pytest.raises(ContextError, match="written by a newer contextkit"):
        reminders.finish(layout, layout.reminders, ["r-000001"], "", 0)
    assert inbox.read_text(encoding="utf-8") == newer
    quoting = reminder.replace(note="it says <!-- contextkit: format=2 -->")
    inbox.write_text(reminders.render(quoting), encoding="utf-8")
    assert reminders.load_all(layout).documents == [quoting]


def test_a_switch_leaves_a_session_state_of_a_newer_format_as_it_is(layout: Layout) -> None:
    state.save(layout, state.State().with_own(active="dev"))
    path = Path(layout.handoffs, state.FILE)
    newer = path.read_text(encoding="utf-8").replace('"format": 2', '"format": 3, "new": true')
    path.write_text(newer, encoding="utf-8")
    with pytest.raises(ContextError, match=r"session-state: written by a newer contextkit"):
        state.current(layout)
    with pytest.raises(ContextError, match=r"session-state: written by a newer contextkit"):
        state.save(layout, state.State())
    assert path.read_text(encoding="utf-8") == newer


def test_newer_dismissals_ask_for_an_upgrade() -> None:
    with pytest.raises(ContextError, match="x: written by a newer contextkit"):
        dismissals.parse('{"format": 2, "made": "anew"}', "x")


def test_a_list_calls_a_newer_capsule_newer(layout: Layout) -> None:
    name, text = NEWER["capsule"]
    path = Path(layout.capsules, name)
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert [row.state for row in upkeep.listed(layout)] == ["newer"]


def test_recovery_names_a_newer_plan_and_tells_the_rest(layout: Layout) -> None:
    plans.save(layout, plans.Plan(task_id="t"), 0)
    path = Path(plans.path_of(layout, "t"))
    path.write_text(path.read_text(encoding="utf-8").replace("format=1", "format=2"), "utf-8")
    findings.save(layout, findings.make("ui", "t", "partial", "", summary="Half."), 1_761_242_700)
    found = recovery.load(layout, "t", 1_761_242_700)
    assert [one for one in found.warnings if UPGRADE in one and layout.shown(str(path)) in one]
    assert [one.agent for one in found.findings] == ["ui"]


def test_two_letters_in_front_make_no_version() -> None:
    with pytest.raises(ContextError, match="is not a version"):
        version.order("vv1.2.3")
