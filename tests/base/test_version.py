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
from conftest import CHECKOUT, SCRIPTS, Script
from contextkit.base import version
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.references import Reference
from contextkit.memory.documents import checkpoints, findings, merged, plans, snapshots
from contextkit.payloads.documents import store as payloads
from contextkit.reviews.documents import verdicts

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


@pytest.mark.parametrize("text", ["", "1.2", "1.2.x", "latest", "1.2.3.4", "\u0661.2.3"])
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


@pytest.mark.parametrize("script", sorted(path.stem for path in SCRIPTS.glob("*.py")))
def test_every_script_says_its_version(script: str) -> None:
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
    assert found["summary"].startswith("verdict file is written by a newer contextkit (format 2")


@pytest.mark.parametrize(
    ("module", "document"),
    [
        (plans, plans.Plan(task_id="t", next_actions=("one", "two"))),
        (findings, findings.Finding(agent="a", task_id="t", recommendations=("one",))),
        (merged, merged.Merged(task_id="t")),
        (snapshots, snapshots.Snapshot(task_id="t", resume="go on")),
    ],
    ids=["plan", "finding", "merged", "snapshot"],
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
