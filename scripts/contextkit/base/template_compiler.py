"""Compile templates with Jinja ahead of time, for the runtime in `templates.py`.

    python scripts/contextkit/base/template_compiler.py      compiles those that changed

The code that Jinja generates is used unchanged except for its import line. A template that needs
more than the runtime has is refused.
"""

from __future__ import annotations

import ast
import os
import re
import sys

import jinja2

if __name__ == "__main__":  # run as a script: the package is two folders up
    sys.path[0] = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

from contextkit.base import files, filters, names
from contextkit.base.errors import ContextError
from contextkit.base.version import toolkit

SOURCES = toolkit("templates")
FOLDER = toolkit("scripts", "contextkit", "compiled")
_RUN_TIME = ("LoopContext", "missing", "environment")
_ENVIRONMENT = ("filters", "undefined", "concat", "getattr")
_CONTEXT = ("resolve_or_missing", "vars", "exported_vars")
_LOOP = ("index", "index0", "first")
# Jinja generates these beside each filter in case it does not exist; that case is refused here.
_NEVER_CALLED = ("TemplateRuntimeError", "internalcode", "Undefined")


def environment() -> jinja2.Environment:
    """The Jinja environment that our templates are written for; also the reference in tests."""
    made = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        loader=jinja2.FileSystemLoader(SOURCES),
    )
    made.filters = dict(filters.FILTERS)
    made.tests = {}
    made.globals = {}
    return made


def generate(source: str, name: str) -> str:
    """Generate the Python module for a template. Raises ContextError for what the runtime lacks."""
    try:
        code = environment().compile(source, name, raw=True, defer_init=True)
    except jinja2.TemplateSyntaxError as error:
        raise ContextError(f"templates/{name}.j2:{error.lineno}: {error.message}") from None
    imports, _, rest = code.partition("\n")
    if not imports.startswith("from jinja2.runtime import "):
        raise ContextError(f"{name}: this Jinja ({jinja2.__version__}) generates unexpected code")
    _check(ast.parse(rest), name, imports)
    head = (
        f'"""Compiled from templates/{name}.j2 by `make setup`; do not edit."""\n\n'
        "from contextkit.base.templates import LoopContext, environment, missing\n\n"
        "Undefined = TemplateRuntimeError = None\n"
        "internalcode = lambda function: function\n"
        f"SOURCE = {names.fingerprint(source.encode())}\n"
    )
    return head + rest


def _check(tree: ast.Module, name: str, imports: str) -> None:
    """Refuse names and attributes that `templates.py` does not provide."""
    from_jinja = {part.strip() for part in imports.partition("import ")[2].split(",")}
    for node in ast.walk(tree):
        needed = ""
        if isinstance(node, ast.Name) and node.id in from_jinja - {*_RUN_TIME, *_NEVER_CALLED}:
            needed = node.id
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            offered = {"environment": _ENVIRONMENT, "context": _CONTEXT}.get(node.value.id)
            if offered is not None and node.attr not in offered:
                needed = f"{node.value.id}.{node.attr}"
        match node:
            case ast.Call(args=[ast.Name(id=given), ast.Constant(value=str(attribute))]):
                if re.fullmatch(r"l_\d+_loop", given) and attribute not in _LOOP:
                    needed = f"loop.{attribute}"
        if isinstance(node, ast.Name) and node.id == "cond_expr_undefined":
            needed = "" if isinstance(node.ctx, ast.Store) else "an else in its inline if"
        if needed:
            raise ContextError(
                f"templates/{name}.j2 needs {needed}, which templates.py does not provide"
            )


def compile_one(name: str) -> str:
    """Compile one template, save the module for later processes, and return its code.

    One compiled from the same source by another Jinja is kept: git tracks the modules.
    """
    source = files.read(os.path.join(SOURCES, name + ".j2"))
    path = os.path.join(FOLDER, names.identifier(name) + ".py")
    there = files.read_if_there(path) or ""
    if f"\nSOURCE = {names.fingerprint(source.encode())}\n" in there:
        return there
    code = generate(source, name)
    try:
        files.write(path, code)
    except OSError:
        pass  # a read-only checkout: compiled for this process only
    return code


def compile_all() -> list[str]:
    """Compile every template and return their names."""
    compiled = sorted(n[:-3] for n in os.listdir(SOURCES) if n.endswith(".j2"))
    for name in compiled:
        compile_one(name)
    return compiled


if __name__ == "__main__":
    compile_all()
