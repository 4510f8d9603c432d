"""templates.py and its compiler: what Jinja would give, without Jinja."""

from __future__ import annotations

import ast
import functools
import io
import os
import random
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import contextkit.base
import jinja2.meta
import pytest
from conftest import SCRIPTS, each, rounds
from contextkit.base import files, names, template_compiler, templates
from contextkit.base.errors import ContextError
from contextkit.base.records import Record
from contextkit.base.version import TOOLKIT
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import nodes

NAMES = sorted(name[:-3] for name in os.listdir(templates.FOLDER) if name.endswith(".j2"))
JINJA = template_compiler.environment()
Render = Callable[[dict[str, Any]], str]


# Contexts: from a template's source to values that it can use, and to such that it cannot.


def sums(tree: nodes.Template) -> Iterator[nodes.Node]:
    """What a template computes with, or compares by size."""
    yield from tree.find_all((nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.Mod))
    for compared in tree.find_all(nodes.Compare):
        if any(operand.op in ("gt", "lt") for operand in compared.ops):
            yield compared


@functools.cache
def paths_of(source: str) -> dict[str, str]:
    """Every value that a template asks for, as a path, with the filter it goes through.

    `{% for b in blocks %}{{ b.tags | joined }}` has `blocks`, `blocks.*` and `blocks.*.tags`.
    One in arithmetic is a number.
    """
    found: dict[str, str] = {}
    loops: dict[str, str] = {}

    def path(node: nodes.Node) -> str:
        if isinstance(node, nodes.Name):
            return loops.get(node.name, node.name)
        if isinstance(node, nodes.Getattr) and path(node.node):
            return f"{path(node.node)}.{node.attr}"
        return ""

    tree = JINJA.parse(source)
    for loop in tree.find_all(nodes.For):  # from the outside in
        if isinstance(loop.target, nodes.Name) and path(loop.iter):
            loops[loop.target.name] = f"{path(loop.iter)}.*"
    asked = jinja2.meta.find_undeclared_variables(tree)
    for node in tree.find_all((nodes.Name, nodes.Getattr)):
        if path(node).partition(".")[0] in asked:
            found.setdefault(path(node), "")
    for filtered in tree.find_all(nodes.Filter):
        if filtered.node is not None and path(filtered.node) in found:
            found[path(filtered.node)] = filtered.name
    numbers = {
        path(node) for sum_ in sums(tree) for node in sum_.find_all((nodes.Name, nodes.Getattr))
    }
    found |= dict.fromkeys(numbers & found.keys(), "number")
    return found


NUMBERS = ("number", "grouped")  # what these paths are used as
CODE = ["{{ 7*7 }}", "{% if x %}", "{# no #}", "```\n# a\n```", "- b\n- c", "a: #", "<!-- e -->"]
CHARACTERS = "ab0 \n\t\r'\"`#:-*|{}[]<>&%\\!?~é语🚀\x00\x1b\u2028"
PIECES = [*CHARACTERS, "\r\n", *CODE]
ATOMS = [None, True, False, 0, 1, -7, 10**20, 0.0, -1.5, 1e300, float("inf"), float("nan")]


class Chance(random.Random):
    """Values by chance, a hundred times as many in the same time as hypothesis would draw."""

    def text(self) -> str:
        return "".join(self.choice(PIECES) for _ in range(self.randint(0, 5)))

    def atom(self) -> Any:
        return self.choice(ATOMS) if self.random() < 0.6 else self.text()

    def anything(self, depth: int = 2) -> Any:
        kind = self.randrange(4) if depth else 0
        if kind == 2:
            return [self.anything(depth - 1) for _ in range(self.randint(0, 2))]
        if kind == 3:
            return {self.text(): self.anything(depth - 1) for _ in range(self.randint(0, 2))}
        return self.atom()


def context(chance: Chance, source: str, wild: bool) -> dict[str, Any]:
    """Values under the names that a template asks for; if `wild`, one or two are odd or missing."""
    paths = paths_of(source)
    odd: dict[str, str] = {}
    if wild and paths:
        for path in chance.choices(sorted(paths), k=chance.randint(1, 2)):
            odd[path] = chance.choice(["left out", "anything", "sometimes anything"])

    def below(prefix: str) -> dict[str, Any]:
        here = [p for p in paths if p.startswith(prefix) and "." not in p[len(prefix) :]]
        return {p[len(prefix) :]: value(p) for p in here if odd.get(p) != "left out"}

    def value(path: str) -> Any:
        how = odd.get(path, "")
        if how == "anything" or (how and chance.random() < 0.5):
            return chance.anything()
        if f"{path}.*" in paths:
            return [value(f"{path}.*") for _ in range(chance.randint(0, 3))]
        if any(p.startswith(f"{path}.") for p in paths):
            inside = below(f"{path}.")
            return a_record(**inside) if chance.random() < 0.5 else inside
        if paths[path] == "joined":
            many = [chance.text() for _ in range(chance.randint(0, 3))]
            return many if chance.random() < 0.7 else tuple(many)
        if paths[path] in NUMBERS:
            return chance.randint(1, 9_999)
        return chance.text() if paths[path] else chance.atom()

    return below("")


def a_record(**values: Any) -> Record:
    """A record with just these fields."""
    return _record_of(*values)(**values)


@functools.cache
def _record_of(*names: str) -> Callable[..., Record]:
    return type("Thing", (Record,), {"__annotations__": dict.fromkeys(names, "object")})


def outcome(render: Render, values: dict[str, Any]) -> str:
    try:
        return render(values)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@functools.cache
def compiled(source: str) -> Render:
    """A template that is not a file, on our run-time."""
    namespace: dict[str, Any] = {}
    exec(template_compiler.generate(source, "t"), namespace)
    return lambda values: "".join(namespace["root"](templates._Context(values)))


@functools.cache
def source_of(name: str) -> str:
    return Path(templates.FOLDER, name + ".j2").read_text(encoding="utf-8")


@each("name", NAMES)
def test_every_template_renders_as_with_jinja_itself(name: str) -> None:
    source, by_jinja = source_of(name), JINJA.get_template(name + ".j2")
    for seed in range(rounds(15, 50)):
        values = context(Chance(seed), source, wild=False)
        assert compiled(source)(values) == by_jinja.render(values), seed


@each("name", NAMES)
def test_every_template_fails_as_with_jinja_itself(name: str) -> None:
    source, by_jinja = source_of(name), JINJA.get_template(name + ".j2")
    for seed in range(rounds(25, 80)):
        values = context(Chance(seed), source, wild=True)
        assert outcome(compiled(source), values) == outcome(by_jinja.render, values), seed


@each("name", NAMES)
def test_render_runs_what_was_compiled(name: str) -> None:
    source = source_of(name)
    for seed in range(5):
        values = context(Chance(seed), source, wild=False)
        assert templates.render(name, **values) == compiled(source)(values), seed


CONSTRUCTS = [
    "{{ a }}{{ a.b }}{{ a.b.c }}",
    "{% for x in a %}{{ loop.index }}{{ loop.index0 }}: {{ x.n }}\n{% endfor %}",
    "{% for x in a %}{% if loop.first %}[{% endif %}{{ x }}{% else %}none{% endfor %}",
    "{% for x in a %}{% for y in x.rows %}{{ loop.index }}{{ y.n }}{% endfor %}{% endfor %}",
    "{% for x in a if x.n %}{{ x.n }}{% endfor %}{{ x }}",
    "{% for k, v in a %}{{ k }}={{ v }}{% endfor %}",
    "{% if a %}1{% elif not b.c %}2{% else %}3{% endif -%}  \n  tail\n\n",
    "{% set s = a.b %}{{ s | quoted(always=true) }}{{ s | indented(4) | fenced('x') }}",
    "{{ a | joined }}{{ b or 'x' }}{{ 'y' if c == 1 else a.b }}{{ b in a }}{{ not c }}",
    "{% filter quoted %}{{ a }}\n{% endfilter %}{% raw %}{{ a }}{% endraw %}{# gone #}",
]  # fmt: skip


@each("source", CONSTRUCTS)
def test_every_construct_does_what_it_does_in_jinja(source: str) -> None:
    by_jinja = JINJA.from_string(source)
    for seed in range(rounds(25, 80)):
        values = context(Chance(seed), source, wild=seed % 2 == 1)
        assert outcome(compiled(source), values) == outcome(by_jinja.render, values), seed


@each(
    ("source", "lacking"),
    [
        ("{% include 'recovery.md.j2' %}", "get_template"),
        ("{% import 'recovery.md.j2' as r %}", "get_template"),
        ("{% extends 'recovery.md.j2' %}", "get_template"),
        ("{% block b %}{% endblock %}", "context.blocks"),
        ("{% macro m() %}{% endmacro %}", "Macro"),
        ("{% call f() %}{% endcall %}", "Macro"),
        ("{% set s %}text{% endset %}", "Markup"),
        ("{{ a | upper }}", "No filter named 'upper'"),
        ("{{ a | join }}", "No filter named 'join'"),
        ("{{ a is defined }}", "No test named 'defined'"),
        ("{{ a['b'] }}", "environment.getitem"),
        ("{{ a[0] }}", "environment.getitem"),
        ("{{ a ~ b }}", "str_join"),
        ("{{ a() }}", "context.call"),
        ("{{ a.format(b) }}", "context.call"),
        ("{{ range(3) }}", "context.call"),
        ("{{ self }}", "TemplateReference"),
        ("{{ a if b }}", "an else"),
        ("{% for x in a %}{{ loop.revindex }}{% endfor %}", "loop.revindex"),
        ("{% for x in a %}{{ loop.length }}{% endfor %}", "loop.length"),
        ("{% for x in a %}{{ loop.last }}{% endfor %}", "loop.last"),
        ("{% for x in a recursive %}{{ loop(x) }}{% endfor %}", "context.call"),
        ("{% autoescape true %}{{ a }}{% endautoescape %}", "context.eval_ctx"),
        ("{{ a", "t.j2:1: unexpected end of template"),
        ("\n{% if %}", "t.j2:2: Expected an expression"),
    ],
)
def test_a_template_that_needs_more_than_the_run_time_is_refused(source: str, lacking: str) -> None:
    with pytest.raises(ContextError) as refusal:
        template_compiler.generate(source, "t")
    assert lacking in str(refusal.value)


def test_code_of_another_jinja_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jinja2.Environment, "compile", lambda *_, **__: "import os\n")
    with pytest.raises(ContextError, match="generates unexpected code"):
        template_compiler.generate("text", "t")


# Values are data.


@given(st.sampled_from(["{{ 7*7 }}", "{% raw %}", "{# a #}", "{{ note }}", "{{"]), st.text())
def test_what_a_value_says_is_never_rendered_again(code: str, text: str) -> None:
    assert compiled("{{ a }}\n{{ a | indented }}")({"a": code + text}).startswith(code + text)
    rendered = templates.render("recovery.md", task=code, parts=[], left_out=[code, code])
    assert rendered.count(code) == 3


def test_a_value_that_is_not_given_is_named() -> None:
    with pytest.raises(templates.UndefinedError, match="'handoff' is undefined"):
        templates.render("agent_handoff.yaml")
    with pytest.raises(templates.UndefinedError, match="'None' has no attribute 'from_agent'"):
        templates.render("agent_handoff.yaml", handoff=None)
    with pytest.raises(
        templates.UndefinedError, match="'dict object' has no attribute 'from_agent'"
    ):
        templates.render("agent_handoff.yaml", handoff={})


# Compiled ahead of time, and again when the source is another one.


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of templates for this test alone; `out` in it is where compiled ones go."""
    monkeypatch.setattr(templates, "FOLDER", str(tmp_path))
    monkeypatch.setattr(template_compiler, "SOURCES", str(tmp_path))
    monkeypatch.setattr(template_compiler, "FOLDER", str(tmp_path / "out"))
    return tmp_path


@pytest.mark.parametrize("name", ["recovery.md", "made-here.md"])
def test_a_changed_or_new_source_is_compiled_anew(folder: Path, name: str) -> None:
    source = folder / f"{name}.j2"
    kept = folder / "out" / f"{names.identifier(name)}.py"
    for text in ("one {{ a }}", "two {{ a }}"):
        source.write_text(text, encoding="utf-8")
        assert templates.render(name, a=1) == text.replace("{{ a }}", "1")
        assert text[:3] in kept.read_text(encoding="utf-8")


def test_a_checkout_that_cannot_be_written_compiles_for_this_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> str:
        raise OSError(30, "Read-only file system")

    (folder / "made-here.md.j2").write_text("{{ a }}", encoding="utf-8")
    monkeypatch.setattr(files, "write", full)
    assert templates.render("made-here.md", a=1) == "1"


def test_without_jinja_a_changed_source_asks_for_setup(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "reminder.md.j2").write_text("changed", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "contextkit.base.template_compiler", None)
    monkeypatch.delattr(contextkit.base, "template_compiler")
    with pytest.raises(ContextError, match="run `make setup`"):
        templates.render("reminder.md")


def committed(path: str) -> bytes:
    shown = subprocess.run(["git", "show", f"HEAD:{path}"], cwd=TOOLKIT, capture_output=True)
    if shown.returncode:
        pytest.skip("not a git checkout of contextkit")
    return shown.stdout


@each("name", NAMES)
def test_what_git_has_of_a_compiled_template_was_compiled_from_the_template_it_has(
    name: str,
) -> None:
    """A plugin is a clone that nobody sets up: `make setup` first, then commit both."""
    source = committed(f"templates/{name}.j2")
    compiled = committed(f"scripts/contextkit/compiled/{names.identifier(name)}.py")
    assert f"\nSOURCE = {names.fingerprint(source)}\n" in compiled.decode()


def test_all_templates_are_compiled_at_set_up(folder: Path) -> None:
    for name in ("b.md.j2", "a.yaml.j2", "notes.txt"):
        (folder / name).write_text("text", encoding="utf-8")
    assert template_compiler.compile_all() == ["a.yaml", "b.md"]
    assert {path.name for path in (folder / "out").iterdir()} == {"a_yaml.py", "b_md.py"}


# Small enough to be read: the price of doing without the packages.


def code_lines(source: str) -> int:
    """Lines that hold code: neither blank, nor comment, nor docstring."""
    silent = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
              tokenize.ENDMARKER)  # fmt: skip
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in silent:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines.difference_update(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(lines)


@each(
    ("module", "most"),
    [("cli", 200), ("commands", 181), ("records", 160), ("templates", 160), ("files", 250)],
)
def test_the_modules_that_stand_in_for_packages_stay_small(module: str, most: int) -> None:
    source = (SCRIPTS / "contextkit" / "base" / f"{module}.py").read_text(encoding="utf-8")
    assert code_lines(source) <= most


@each("name", NAMES)
def test_the_module_that_git_tracks_is_made_from_its_template(name: str) -> None:
    """A plugin is a clone that nobody sets up: its hooks have no Jinja."""
    module = Path(template_compiler.FOLDER, names.identifier(name) + ".py")
    assert f"\nSOURCE = {names.fingerprint(source_of(name).encode())}\n" in module.read_text(
        "utf-8"
    )


def test_a_module_of_the_same_source_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another Jinja may generate other code: set-up must not change what git tracks."""
    monkeypatch.setattr(template_compiler, "FOLDER", str(tmp_path))
    made = template_compiler.compile_one("payload.md")
    path = tmp_path / "payload_md.py"
    path.write_text(made + "# by another\n", encoding="utf-8")
    assert template_compiler.compile_one("payload.md").endswith("# by another\n")
    path.write_text(made.replace("SOURCE = ", "SOURCE = 1"), encoding="utf-8")
    assert template_compiler.compile_one("payload.md") == made == path.read_text("utf-8")
