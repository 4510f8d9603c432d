"""stores.py: what is declared once, and what is made of it."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from stat import S_ISREG

import pytest
from checkouts import a_toolkit
from conftest import SCRIPTS, checked, each, git
from contextkit.base import changes, files, stores
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.settings import Places
from contextkit.base.stores import Store
from contextkit.capsules.documents import reminders
from contextkit.capsules.documents.reminders import Reminder
from contextkit.history.flows import search
from contextkit.payloads.flows import retention
from contextkit.reviews.documents import runs
from contextkit.reviews.flows import blockers


def test_kinds_and_settings_are_unique_and_a_store_lies_within_a_declared_one() -> None:
    kinds = [store.kind for store in stores.STORES]
    settings = [store.setting for store in stores.STORES if store.setting]
    assert len(set(kinds)) == len(kinds) and len(set(settings)) == len(settings)
    assert all(not store.within or store.within in stores.BY_KIND for store in stores.STORES)


@each("store", stores.STORES)
def test_a_declaration_is_a_valid_record(store: Store) -> None:
    checked(store)
    assert store.place == os.path.normpath(store.place) and not os.path.isabs(store.place)


def test_a_kind_that_nobody_declares_is_a_mistake_of_ours(layout: Layout) -> None:
    with pytest.raises(LookupError, match="novel"):
        layout.store("novel")


@each("store", stores.with_documents())
def test_a_declared_module_can_read_its_documents(store: Store) -> None:
    assert callable(stores.module(store).load_all)


def test_a_store_is_where_the_settings_put_it(repo: Path) -> None:
    Path("contextkit.yaml").write_text("memory: kept/memory\n", encoding="utf-8")
    layout = Layout()
    assert layout.store("memory") == str(repo / "kept/memory")
    assert layout.store("plan") == str(repo / "kept/memory/research_plans")
    assert layout.store("run") == str(repo / ".contextkit/runs")


def test_a_cache_is_made_again_and_nothing_waits_for_its_disk(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("contextkit.yaml").write_text("payload_rows: 6\n", encoding="utf-8")
    reminder = Reminder(id="r-1a2b3c", taken="2025-11-28 10:05:00 UTC", note="Cache the tokens")
    reminders.save(Layout(), Layout().reminders, reminder)
    Path(Layout().payloads).mkdir(parents=True)
    of_run = Path(runs.verdict_folder(Layout(), "r-1"))
    of_run.mkdir(parents=True)
    os.utime(of_run, (1, 1))
    synced: list[bool] = []
    monkeypatch.setattr(os, "fsync", lambda end: synced.append(S_ISREG(os.fstat(end).st_mode)))

    def answer() -> tuple[int, list[str]]:
        layout = Layout()
        retention.sweep_in_passing(layout, 9, "")
        found, _ = search.search(layout, "tokens")
        told = [*(one.ref for one in found), *blockers.lines(layout)]
        layout.sweep(set())
        files.settle()
        return layout.limits.payload_rows, told

    first = answer()
    assert first == (6, ["reminder:r-1a2b3c"])
    caches = [repo / ".contextkit" / place for place in stores.CACHES]
    for cache in caches:
        shutil.rmtree(cache) if cache.is_dir() else cache.unlink()
    synced.clear()
    assert answer() == first and all(cache.exists() for cache in caches)
    assert not any(synced)


def test_a_variable_names_another_place_for_one_call(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAVAIN_VERDICT_DIR", "elsewhere")
    assert Layout().verdicts == str(repo / "elsewhere")
    assert str(repo / "elsewhere") in Layout().ours


def test_ours_are_stores_inbox_registry_and_copies_but_not_what_we_only_read(repo: Path) -> None:
    ours = {os.path.relpath(path, repo) for path in Layout().ours}
    assert ours >= {
        "parallelus/manuals/capsules",
        "parallelus/manuals/capsules/remember-later.md",
        "parallelus/manuals/subagent-registry.json",
        "parallelus/manuals/templates/context_capsule_prompt.md",
        "parallelus/manuals/templates/subagent_scope_template.md",
        "parallelus/manuals/subagent-session-orchestration.md",
        "shared/payloads",
        ".aios/handoffs",
        ".aios-core/development/templates/agent-handoff-tmpl.yaml",
        ".temp/memory",
        ".clavain/verdicts",
        ".contextkit",
    }
    assert not ours & {"docs/branches", "parallelus/engine/prompts/agent_roles"}


def test_what_is_ours_is_no_part_of_a_diff_or_of_its_revision(repo: Path) -> None:
    layout = Layout()
    with changes.work_tree(layout) as tree:
        before = tree.revision()
    for place in layout.ours:
        path = Path(place) if os.path.splitext(place)[1] else Path(place, "new.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("ours\n", encoding="utf-8")
    git("add", "-A", "--force")
    with changes.work_tree(layout) as tree:
        assert tree.changes("HEAD") == [] and tree.diff("HEAD") == b""
        assert tree.revision() == before
    Path("parallelus/manuals/own.md").write_text("theirs\n", encoding="utf-8")
    with changes.work_tree(layout) as tree:
        assert [change.path for change in tree.changes("HEAD")] == ["parallelus/manuals/own.md"]


def test_only_folders_of_documents_may_not_hold_each_other() -> None:
    assert {*stores.FOLDERS} >= {"capsules", "payloads", "handoffs", "memory", "verdicts"}
    Places(reminders="parallelus/manuals/capsules/inbox.md")  # as by default: inside another
    with pytest.raises(ContextError, match="would hold handoffs"):
        Places(payloads=".aios")


# What every `load_all` gives


def read(path: str) -> str:
    text = files.read(path)
    if not text.startswith("# "):
        raise ContextError(f"{path}: has no title")
    return text


def test_what_is_broken_is_beside_what_is_not_with_its_path_and_the_reason_once(
    repo: Path,
) -> None:
    for name, text in (("a.md", b"# A"), ("b.md", b"B"), ("c.md", b"\xff"), ("d.md", b"# D")):
        Path(name).write_bytes(text)
    layout = Layout()
    found = layout.load([layout.join(f"{name}.md") for name in "abcd"], read)
    assert found == [(layout.join("a.md"), "# A"), (layout.join("d.md"), "# D")]
    assert found.documents == ["# A", "# D"]
    said: list[str] = []
    assert found.noting(said) is found
    assert said == ["b.md: has no title", "c.md: not UTF-8 (byte 0): convert it first"]
    with pytest.raises(ContextError, match=r"^b.md: has no title; c.md: not UTF-8"):
        found.whole()


def test_a_file_that_was_removed_meanwhile_is_no_broken_one(repo: Path) -> None:
    layout = Layout()
    assert layout.load([layout.join("gone.md")], read).whole() == []


@each("store", stores.with_documents())
def test_every_store_loads_the_same_shape_of_nothing(repo: Path, store: Store) -> None:
    found = stores.module(store).load_all(Layout())
    assert isinstance(found, stores.Loaded)
    assert found.broken == [] and len(found) == 0


def test_whatever_is_called_load_all_returns_that_shape() -> None:
    for path in (SCRIPTS / "contextkit").rglob("documents/**/*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "def load_all(" in text else ():
            if isinstance(node, ast.FunctionDef) and node.name == "load_all":
                assert node.returns and "Loaded[" in ast.unparse(node.returns), path


# A store more, in a copy of the toolkit: one declaration and the module of its documents

DECLARED = """STORES: tuple[Store, ...] = (
    Store(kind="note", setting="notes", place=".notes", label="notes", module="notes.documents"),
"""
DOCUMENTS = """
import os
from contextkit.base import files, stores
from contextkit.base.errors import ContextError

def parse(text):
    if not text.startswith("# "):
        raise ContextError("has no title")
    return text[2:].strip()

def render(note):
    return f"# {note}\\n"

def save(layout, note):
    return files.create(os.path.join(layout.store("note"), note + ".md"), render(note))

def load_all(layout):
    folder = layout.store("note")
    there = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    paths = [os.path.join(folder, name) for name in there if name.endswith(".md")]
    return layout.load(paths, lambda path: parse(files.read(path)))
"""
LOOK = """
import json, os, sys
from contextkit.base.layout import Layout
from contextkit.handoffs.flows import work
from contextkit.hosts.flows import adoption, doctor
from contextkit.notes import documents
from contextkit.history.flows import overview

def look():
    layout = Layout()
    return {
        "place": layout.shown(layout.store("note")),
        "settings": {row["id"]: (row["value"], row["from"]) for row
                     in overview.settings_in_force(layout) if row["id"] == "notes"},
        "template": "# notes: " in adoption.all_settings(),
        "status": [row["status"] for row in overview.status(layout) if row["id"] == "notes"],
        "diff": list(work.seen(layout)),
        "ignore": [one.problem for one in doctor.ignored(layout, ())],
        "unreadable": [str(one.problem) for one in doctor.documents(layout, ())],
    }

said = [look()]
saved = [documents.save(Layout(), "one"), documents.save(Layout(), "one")]
said.append({**look(), "saved": [os.path.relpath(path) for path in saved]})
with open(".notes/odd.md", "w") as file:
    file.write("odd")
os.unlink(".notes/.gitignore")
said.append(look())
with open("contextkit.yaml", "w") as file:
    file.write("notes: elsewhere/notes\\n")
said.append(look())
json.dump(said, sys.stdout)
"""


def test_a_store_more_is_one_declaration(repo: Path, tmp_path: Path) -> None:
    scripts = a_toolkit(tmp_path / "toolkit") / "scripts"
    table = scripts / "contextkit" / "base" / "stores.py"
    text = table.read_text(encoding="utf-8")
    assert text.count("STORES: tuple[Store, ...] = (\n") == 1
    text = text.replace("STORES: tuple[Store, ...] = (\n", DECLARED)
    table.write_text(text, encoding="utf-8")
    (scripts / "contextkit" / "notes").mkdir()
    (scripts / "contextkit" / "notes" / "__init__.py").touch()
    (scripts / "contextkit" / "notes" / "documents.py").write_text(DOCUMENTS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", LOOK], cwd=repo, env={**os.environ, "PYTHONPATH": str(scripts)},
        capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    empty, kept, odd, moved = json.loads(done.stdout)
    assert empty == {
        "place": ".notes",
        "settings": {"notes": [".notes", "default"]},
        "template": True,
        "status": ["0 stored"],
        "diff": [],
        "ignore": [],
        "unreadable": [],
    }
    assert kept == {
        **empty, "status": ["2 stored"], "saved": [".notes/one.md", ".notes/one-2.md"]
    }  # fmt: skip
    assert odd == {
        **empty,
        "status": ["2 stored; 1 cannot be read"],
        "ignore": [".notes: git sees it"],
        "unreadable": [".notes/odd.md: has no title"],
    }
    assert moved["place"] == "elsewhere/notes" and moved["status"] == ["0 stored"]
    assert moved["settings"] == {"notes": ["elsewhere/notes", "contextkit.yaml"]}
    assert set(moved["diff"]) > {".notes/odd.md"}  # no longer a place of ours


def test_names_in_a_folder_are_sorted_and_there_are_none_in_what_is_no_folder(
    tmp_path: Path,
) -> None:
    for name in ("b", "a"):
        (tmp_path / name).touch()
    assert stores.names_in(str(tmp_path)) == ["a", "b"]
    assert stores.names_in(str(tmp_path / "a")) == stores.names_in(str(tmp_path / "c")) == []
