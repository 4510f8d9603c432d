"""Who may import whom, and what a command that is started often may import at all."""

from __future__ import annotations

import ast
import functools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import SCRIPTS
from contextkit import template_compiler

PACKAGE = SCRIPTS / "contextkit"
FOLDERS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
# Every module by its name, which it shares with no other; the folder says which system it is of.
PLACES = {
    path.stem: path
    for path in [*PACKAGE.glob("*.py"), *(p for f in FOLDERS for p in PACKAGE.glob(f"{f}/*.py"))]
    if path.stem != "__init__"
}

# The rule: scripts -> flows -> documents -> foundation. A new module goes into one of these; a
# document is what has files of its own.
FOUNDATION = frozenset(
    "adoption_texts agents arguments changelogs background branch_folders budgets changes cli"
    " commands comparisons contracts copies errors estimates facts files filters formats"
    " git hook_settings host_rules hosts indexes json_edits layout limits makefiles"
    " markdown marker_blocks memory names packages processes receipts records redaction"
    " references sandboxes scratch secret_rules secret_search sections sessions settings"
    " summaries tables template_compiler templates tokens transcripts usage version zones".split()
)
# What is too much for one module is several, which are one document together.
WHOLES = {
    "capsules": frozenset("capsule_check capsule_seals capsule_trim capsules".split()),
    "findings": frozenset("finding_reports findings merged_findings".split()),
    "handoffs": frozenset(
        "handoff_check handoff_fields handoff_limits handoff_state handoffs".split()
    ),
    "plans": frozenset("plan_updates plans".split()),
    "reviews": frozenset(
        "review_check review_headers review_index review_issues review_lines"
        " review_research review_sections review_words reviews".split()
    ),
}
SINGLE = frozenset(
    "checkpoints diagnostics hook_agents notebooks payloads profiles registry reminders"
    " runs snapshots stories vendoring verdicts".split()
)
DOCUMENTS = SINGLE.union(*WHOLES.values())
FLOWS = frozenset(
    "adoption adoption_parts adoption_steps adoption_work agent_files agent_statuses"
    " briefs capsule_prune capsule_references capsule_upkeep checkups derived_snapshots"
    " drift drill_downs endings gates handing_over handoff_facts handoff_savings"
    " git_ignores hook_events hook_frame hook_outputs hook_reviews hook_snapshots hook_trials"
    " incoming_contexts launch_prompts launches memory_checks outputs overview"
    " preparations recovery recovery_reports research_reports results retention"
    " review_reports review_runs run_folders run_starts run_subjects run_waits"
    " session_ends session_notes store_checks store_documents capture_prompts synthesis"
    " synthesis_conflicts synthesis_data synthesis_reports task_saves task_upkeep"
    " upgrades verdict_cleaning watch_tables watches work_files".split()
)
# The commands of scripts that are too long to be compiled at every start.
COMMANDS = frozenset(
    "artifact_commands capsule_commands handoff_commands memory_commands payload_commands"
    " recovery_commands run_commands start_commands subagent_commands upkeep_commands"
    " verdict_commands".split()
)
MODULES = FOUNDATION | DOCUMENTS | FLOWS | COMMANDS


def imports(source: str) -> Iterator[str]:
    """The modules of ours that a source imports, anywhere in it: `names` for contextkit.names."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in found:
            package, _, rest = name.partition(".")
            if package == "contextkit":
                folder, _, below = rest.partition(".")
                yield (below if folder in FOLDERS else rest).partition(".")[0]


@functools.cache
def imported(path: Path) -> set[str]:
    return set(imports(path.read_text(encoding="utf-8")))


def together(module: str) -> frozenset[str]:
    """The modules that are one document with this one."""
    return next((whole for whole in WHOLES.values() if module in whole), frozenset([module]))


def documents_among(modules: set[str]) -> int:
    return len({together(module) for module in modules & DOCUMENTS})


def test_imports_are_found_wherever_they_stand() -> None:
    source = (
        "import contextkit.git, os\n"
        "from contextkit import files, names as n\n"
        "def f():\n    from contextkit.tokens import estimate\n"
        "if TYPE_CHECKING:\n    from contextkit.layout import Layout\n"
        "from contextkit.memory import plans\n"
        "from contextkit.memory.plans import Plan\n"
    )
    assert list(imports(source)) == ["git", "files", "names", "plans", "plans", "tokens", "layout"]


def test_every_module_has_its_layer() -> None:
    assert set(PLACES) == MODULES, "say in this test which layer a new module belongs to"
    everywhere = [path for path in PACKAGE.rglob("*.py") if path.parent.name != "compiled"]
    assert len(everywhere) == len(PLACES) + len(FOLDERS) + 1, "two modules have one name"
    assert len(MODULES) == len(FOUNDATION) + len(DOCUMENTS) + len(FLOWS) + len(COMMANDS)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_no_import_goes_up(module: str) -> None:
    if module in FOUNDATION:
        allowed = FOUNDATION
    elif module in DOCUMENTS:
        allowed = FOUNDATION | together(module)  # no other document
    elif module in FLOWS:
        allowed = MODULES - COMMANDS
    else:
        allowed = MODULES
        assert documents_among(imported(PLACES[module])) <= 1
    assert imported(PLACES[module]) <= allowed | {"compiled"}


def test_no_module_imports_a_script() -> None:
    scripts = {path.stem for path in SCRIPTS.glob("*.py")}
    for path in PLACES.values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not scripts & {alias.name for alias in node.names}, path.name
            elif isinstance(node, ast.ImportFrom):
                assert node.module not in scripts, path.name


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.name)
def test_a_script_that_needs_several_documents_asks_a_flow(script: Path) -> None:
    found = imported(script)
    assert found <= MODULES and documents_among(found) <= 1


# Speed

# Each costs a fifth of a bare interpreter start or more; none may ever get into the lists below.
DEAR = frozenset(
    "argparse contextlib dataclasses datetime enum functools hashlib importlib.metadata inspect"
    " jinja2 json logging pathlib re shutil subprocess tempfile tomllib typing yaml".split()
)


def ours(names: str) -> set[str]:
    """Modules as Python names them, with the folders that they are in."""
    found = set()
    for name in names.split():
        place = PLACES.get(name, PACKAGE / f"{name}.py").parent
        folder = "" if place == PACKAGE else f".{place.name}"
        found |= {f"contextkit{folder}", f"contextkit{folder}.{name}"}
    return found


COMMON = {"__future__", "contextkit"} | ours(
    "arguments cli commands errors files filters git layout limits names packages records settings"
    " templates"
)
REMINDERS = COMMON | ours("redaction reminders")
ADD = {"remember_later"} | REMINDERS | ours("compiled.reminder_inbox_md compiled.reminder_md")
PROMPT = {"capsule_prompt"} | REMINDERS | ours(
    "branch_folders capsules markdown notebooks sessions capture_prompts tokens"
    " compiled.capsule_outline_md compiled.capsule_prompt_md"
)  # fmt: skip


HANDOFF = {"handoff"} | COMMON | ours(
    "agents artifact_commands formats handing_over handoff_commands handoff_facts handoff_fields"
    " handoff_limits handoff_state handoffs incoming_contexts profiles redaction sessions tokens"
    " verdicts"
    " work_files"
    " compiled.agent_handoff_yaml"
)  # fmt: skip


@pytest.fixture(scope="session")
def all_compiled() -> None:
    """Templates, as after a set-up: a process without packages cannot do it."""
    template_compiler.compile_all()


def modules_of(script: str, *arguments: str) -> set[str]:
    """What a real process imports to do this, but for what is inside the interpreter itself."""
    program = (
        "import sys\nbefore = set(sys.modules)\n"
        f"import {script}\nassert {script}.main(sys.argv[1:]) == 0\n"
        "for name in set(sys.modules) - before:\n"
        "    spec = sys.modules[name].__spec__\n"
        "    if spec.has_location and spec.origin.endswith('.py'):\n"
        "        print(name, file=sys.stderr)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    del environment["CONTEXT_NOW"]  # reading it takes datetime, the clock does not
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, *arguments],
        env=environment, check=True, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.stdout
    return set(done.stderr.split())


@pytest.mark.parametrize(
    ("call", "allowed"),
    [
        ("remember_later --message=x", ADD),
        ("capsule_prompt", PROMPT),
        ("capsule_prompt --stub", PROMPT),
        ("handoff write --from=a --to=b --no-story --next-action=x", HANDOFF),
    ],
    ids=["remember_later", "capsule_prompt", "capsule_prompt_stub", "handoff"],
)
@pytest.mark.usefixtures("repo", "all_compiled")
def test_a_hot_command_imports_no_more_than_it_must(call: str, allowed: set[str]) -> None:
    script, *arguments = call.split()
    assert modules_of(script, *arguments) == allowed
    assert not allowed & DEAR


@pytest.mark.parametrize(
    "call",
    [
        "plan --task=t --objective=x",
        "finding --agent=a --task=t --status=failed --summary=s",
        "checkpoint --task=t --phase=review --summary=s --next-action=n",
        "snapshot --task=t --summary=s",
    ],
    ids=["plan", "finding", "checkpoint", "snapshot"],
)
@pytest.mark.usefixtures("all_compiled")
def test_a_save_of_memory_imports_nothing_dear(repo: Path, call: str) -> None:
    found = modules_of("external_memory", *call.split())
    assert "contextkit.memory.memory_commands" in found and not found & DEAR


@pytest.mark.usefixtures("all_compiled")
def test_looking_at_memory_imports_nothing_dear(repo: Path) -> None:
    line = '{"type": "assistant", "uuid": "u", "message": {"usage": {"input_tokens": 9}}}\n{"typ'
    (repo / "t.jsonl").write_text(line, encoding="utf-8")
    save = "checkpoint --task=t --phase=review --summary=s --next-action=n"
    modules_of("external_memory", *save.split())
    for call in ("status --transcript=t.jsonl", "recover --task=t", "status --tokens=150000"):
        found = modules_of("external_memory", *call.split())
        assert "contextkit.memory.recovery_commands" in found and not found & DEAR


def modules_of_hook(scripts: Path, event: str, given: str) -> set[str]:
    """What a real process imports for an event of a host that passes `given`."""
    program = (
        "import sys\nbefore = set(sys.modules)\n"
        "import host_hook\nhost_hook.main(sys.argv[1:])\n"
        "print(*(set(sys.modules) - before), file=sys.stderr)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(scripts)}
    del environment["CONTEXT_NOW"]
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, event], input=given,
        env=environment, check=True, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    return set(done.stderr.split())
