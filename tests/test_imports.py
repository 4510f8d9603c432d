"""Who may import whom, and what a command that is started often may import at all."""

from __future__ import annotations

import ast
import functools
import graphlib
import os
import re
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import SCRIPTS, each
from contextkit.base import stores, template_compiler

PACKAGE = SCRIPTS / "contextkit"
GROUND = ("base", "text")  # they know no document
LAYERS = ("documents", "flows", "commands")
# Every module by its dotted name inside the package: `base.names`, `payloads.flows.retention`.
PLACES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
    for path in PACKAGE.rglob("*.py")
    if path.name != "__init__.py" and path.parent.name != "compiled"
}


def system(module: str) -> str:
    """The folder that a module lies in: a system, `text` or `base`."""
    return module.partition(".")[0]


def layer(module: str) -> str:
    """What the folders say: base, text, documents, flows or commands."""
    parts = module.split(".")
    return parts[0] if parts[0] in GROUND else parts[1]


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(source: ast.AST, at_run_time: bool = False) -> Iterator[str]:
    """The modules of ours that a source imports, anywhere in it: `base.names`.

    With `at_run_time`, without what only a type checker imports.
    """
    nodes = deque([source])
    while nodes:
        node = nodes.popleft()
        if at_run_time and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes += node.orelse
            continue
        nodes += (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in found:
            package, _, rest = name.partition(".")
            if package == "contextkit":
                module = rest if rest in PLACES else rest.rpartition(".")[0]
                yield from [module] * bool(module)  # the package itself is below all


@functools.cache
def imported(path: Path) -> set[str]:
    return set(imports(parsed(path)))


def may_import(module: str, other: str) -> bool:
    """The rule: scripts -> commands -> flows -> documents -> text -> base."""
    mine, theirs = layer(module), layer(other)
    if mine in GROUND or theirs in GROUND:
        return theirs == "base" or (theirs == "text" and mine != "base")
    if LAYERS.index(theirs) > LAYERS.index(mine):
        return False
    return theirs == "flows" or system(module) == system(other) or mine == "flows"


def test_imports_are_found_wherever_they_stand() -> None:
    source = (
        "import contextkit.base.git, os\n"
        "from contextkit.base import files, names as n\n"
        "def f():\n    from contextkit.base.tokens import estimate\n"
        "if TYPE_CHECKING:\n    from contextkit.base.layout import Layout\n"
        "from contextkit.memory.documents import plans\n"
        "from contextkit.memory.documents.plans import Plan\n"
    )
    assert list(imports(ast.parse(source))) == [
        "base.git", "base.files", "base.names", "memory.documents.plans", "memory.documents.plans",
        "base.tokens", "base.layout",
    ]  # fmt: skip


def test_a_folder_is_a_layer_and_no_name_repeats_it() -> None:
    for module in PLACES:
        folder, *inside, name = module.split(".")
        if folder in GROUND:
            allowed = ([], ["digests"], ["digests", "kinds"]) if folder == "text" else ([],)
            assert inside in allowed, f"{module}: base and text hold modules, not systems"
        else:
            assert (inside or [name])[0] in LAYERS, module
        repeated = {folder, folder.rstrip("s")} | {word.rstrip("s") for word in inside}
        assert not repeated & {name, name.rstrip("s"), name.partition("_")[0]}, module


def test_no_import_goes_up() -> None:
    for module, path in PLACES.items():
        ours = {other for other in imported(path) if not other.startswith("compiled")}
        assert [other for other in ours if not may_import(module, other)] == [], module


def test_no_modules_import_each_other_not_even_inside_functions() -> None:
    graph = {
        module: set(imports(parsed(path), at_run_time=True)) & PLACES.keys()
        for module, path in PLACES.items()
    }
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_what_only_a_type_checker_imports_is_no_import_at_run_time() -> None:
    source = (
        "if TYPE_CHECKING:\n    from contextkit.base import git\n"
        "else:\n    from contextkit.base import names\n"
        "def f():\n    from contextkit.base import tokens\n"
    )
    assert list(imports(ast.parse(source), at_run_time=True)) == ["base.names", "base.tokens"]


def test_names_of_the_standard_library_for_annotations_come_from_one_module() -> None:
    """A block for type checkers is left for types of ours whose module costs too much."""
    bases = {"Protocol", "TypedDict", "NamedTuple", "SimpleNamespace"}
    kept = bases | {"TypeVar", "dataclass_transform"}
    for module in PLACES.keys() - {"base.type_names"}:
        for node in parsed(PLACES[module]).body:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                for child in node.body:
                    if isinstance(child, ast.ImportFrom) and child.module:
                        names = {alias.name for alias in child.names}
                        assert child.module.startswith("contextkit.") or names <= kept, module


def test_no_module_imports_a_script() -> None:
    scripts = {path.stem for path in SCRIPTS.glob("*.py")}
    for path in PLACES.values():
        named = re.findall(r"^ *(?:import|from) (\w+)", path.read_text(encoding="utf-8"), re.M)
        assert not scripts & {*named}, path.name


def test_a_script_that_needs_several_systems_asks_a_flow() -> None:
    for script in SCRIPTS.glob("*.py"):
        documents = {name for name in imported(script) if layer(name) == "documents"}
        assert imported(script) <= PLACES.keys(), script
        assert len({system(name) for name in documents}) <= 1, script


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
        parts = f"contextkit.{name}".split(".")
        found |= {".".join(parts[: end + 1]) for end in range(len(parts))}
    return found - {"contextkit.compiled"}  # a folder without an __init__.py


COMMON = {"__future__"} | ours(
    "base.cli base.commands base.errors base.files base.filters base.git base.layout"
    " base.names base.outgoing base.owned base.records base.redaction base.settings base.stores"
    " base.templates base.type_names base.whereabouts"
)
LEDGER = ours("base.host_variables base.ledger base.sessions base.version")
REMINDERS = COMMON | LEDGER | ours("base.redaction capsules.documents.reminders")
ADD = {"remember_later"} | REMINDERS | ours(
    "capsules.commands.reminders compiled.reminder_inbox_md"
)  # fmt: skip
PROMPT = {"capsule_prompt"} | REMINDERS | ours(
    "base.markdown capsules.commands.prompt"
    " capsules.documents.store"
    " base.host_variables base.sessions capsules.flows.capture base.tokens"
    " compiled.capsule_outline_md compiled.capsule_prompt_md"
    " base.formats reviews.flows.blockers reviews.documents.verdicts"  # where there are verdicts
)  # fmt: skip
HANDOFF = {"handoff"} | COMMON | LEDGER | ours(
    "base.addresses base.agents base.formats base.markdown base.redaction"
    " base.sessions base.shelf base.tokens"
    " handoffs.commands handoffs.documents.artifacts handoffs.documents.state"
    " handoffs.flows.fitting handoffs.flows.work"
    " handoffs.flows.incoming handoffs.flows.switch"
    " reviews.documents.verdicts reviews.flows.blockers"
    " compiled.agent_handoff_yaml"
)  # fmt: skip
VERDICTS = {"verdict"} | (COMMON - ours("base.filters base.templates")) | ours(
    "base.formats base.filters reviews.commands.verdicts reviews.documents.verdicts"
)  # fmt: skip


@pytest.fixture(scope="session")
def all_compiled() -> None:
    """Templates, as after a set-up: a process without packages cannot do it."""
    template_compiler.compile_all()


def said(program: str, *arguments: str, scripts: Path = SCRIPTS, given: str = "") -> list[str]:
    """What a real process without packages says on stderr, a line each."""
    environment = {**os.environ, "PYTHONPATH": str(scripts)}
    del environment["CONTEXT_NOW"]  # reading it takes datetime, the clock does not
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, *arguments], input=given,
        env=environment, check=True, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    return done.stderr.split("\n")[:-1]


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
    return {*said(program, *arguments)}


def calls_of(script: str, *arguments: str, given: str = "") -> list[str]:
    """The functions of ours that a real process enters to do this, those of imports among them.

    Each as the file that calls, the file of the function, and its name. No bodies of modules and
    classes, and no comprehensions, which newer Pythons do not call.
    """
    program = (
        "import sys\ncalls = []\n"
        "def note(frame, event, _):\n"
        "    code, is_ours = frame.f_code, '/scripts/contextkit/' in frame.f_code.co_filename\n"
        "    inside = code.co_name[0] == '<' and code.co_name != '<lambda>'\n"
        "    if event == 'call' and is_ours and code.co_flags & 2 and not inside:\n"
        "        above = frame.f_back\n"
        "        while above and '/scripts/contextkit/' not in above.f_code.co_filename:\n"
        "            above = above.f_back\n"
        "        caller = above.f_code.co_filename if above else '-'\n"
        "        file = code.co_filename\n"
        "        pair = ('/' + name.rpartition('/scripts/')[2] for name in (caller, file))\n"
        "        calls.append(' '.join((*pair, code.co_name)))\n"
        f"sys.setprofile(note)\nimport {script}\nassert {script}.main(sys.argv[1:]) == 0\n"
        "sys.setprofile(None)\nprint(*calls, sep='\\n', file=sys.stderr)\n"
    )
    return said(program, *arguments, given=given)


@pytest.mark.usefixtures("repo", "all_compiled")
def test_a_note_is_taken_in_few_calls() -> None:
    """The second one; the first also makes the stores."""
    calls_of("remember_later", "--message=the parser drops its last line")
    calls = calls_of("remember_later", "--message=the parser drops its first line")
    assert 0 < len(calls) <= 150, sorted(calls)


@pytest.mark.usefixtures("repo", "all_compiled")
def test_a_long_payload_gets_its_receipt_in_few_calls_from_module_to_module() -> None:
    """The second one; the first also makes the store. Its statements take most of them."""
    report = (Path(__file__).parent / "examples" / "report.md").read_text(encoding="utf-8")
    for topic in ("one", "two"):
        store = ("store", f"--topic={topic}", "--source=a", "--force")
        calls = calls_of("payload_store", *store, given=f"{report}\n{topic}.\n")
    hops = [call for call in calls if "/contextkit/" in call and len({*call.split()[:2]}) == 2]
    assert 0 < len(hops) <= 900, Counter(hops).most_common(40)


@pytest.mark.parametrize(
    ("call", "allowed"),
    [
        ("remember_later --message=x", ADD),
        ("capsule_prompt", PROMPT),
        ("capsule_prompt --stub", PROMPT),
        ("handoff write --from=a --to=b --no-story --next-action=x", HANDOFF),
        (
            "verdict write --agent=a --status=CLEAN --summary=x",
            VERDICTS | LEDGER | ours("base.addresses base.redaction"),
        ),
        ("verdict table", VERDICTS | ours("base.redaction")),
        ("verdict table --view=count", VERDICTS),
        ("verdict read --agent=fd-x", VERDICTS),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.usefixtures("repo", "all_compiled")
def test_a_hot_command_imports_no_more_than_it_must(call: str, allowed: set[str]) -> None:
    script, *arguments = call.split()
    marks = Path(".contextkit/drafts")  # the stores were swept within the hour
    marks.mkdir(parents=True)
    for store in stores.STORES:
        (marks / store.kind).touch()
    verdicts = Path(".clavain/verdicts")
    verdicts.mkdir(parents=True)
    (verdicts / "fd-x.json").write_text('{"status": "CLEAN", "summary": "s"}', encoding="utf-8")
    assert modules_of(script, *arguments) == allowed
    assert not allowed & DEAR


@pytest.mark.usefixtures("repo", "all_compiled")
def test_what_is_stored_is_shown_without_what_reads_texts() -> None:
    Path("report.md").write_text("# Report\n\nThe cache holds 300 entries.\n", encoding="utf-8")
    store = ("store", "--topic=t", "--source=a", "--force", "--file=report.md", "--session=s")
    reads = ours("payloads.flows.telling text.digests.engine") - ours("payloads.flows text.digests")
    assert reads <= modules_of("payload_store", *store)
    for call in ("show latest", "list", "find cache"):
        assert not reads & modules_of("payload_store", *call.split(), "--session=s"), call


@each(
    "call",
    [
        "plan --task=t --objective=x",
        "finding --agent=a --task=t --status=failed --summary=s",
        "checkpoint --task=t --phase=review --summary=s --next-action=n",
        "snapshot --task=t --summary=s",
    ],
)
@pytest.mark.usefixtures("all_compiled")
def test_a_save_of_memory_imports_nothing_dear(repo: Path, call: str) -> None:
    found = modules_of("external_memory", *call.split())
    assert "contextkit.memory.commands" in found and not found & DEAR


@pytest.mark.usefixtures("all_compiled")
def test_looking_at_memory_imports_nothing_dear(repo: Path) -> None:
    line = '{"type": "assistant", "uuid": "u", "message": {"usage": {"input_tokens": 9}}}\n{"typ'
    (repo / "t.jsonl").write_text(line, encoding="utf-8")
    save = "checkpoint --task=t --phase=review --summary=s --next-action=n"
    modules_of("external_memory", *save.split())
    for call in ("status --transcript=t.jsonl", "recover --task=t", "status --tokens=150000"):
        found = modules_of("external_memory", *call.split())
        assert "contextkit.memory.commands" in found and not found & DEAR


def modules_of_hook(scripts: Path, event: str, given: str) -> set[str]:
    """What a real process imports for an event of a host that passes `given`."""
    program = (
        "import sys\nbefore = set(sys.modules)\n"
        "import host_hook\nhost_hook.main(sys.argv[1:])\n"
        "print(*(set(sys.modules) - before), sep='\\n', file=sys.stderr)\n"
    )
    return {*said(program, event, scripts=scripts, given=given)}
