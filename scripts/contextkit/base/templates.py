"""render(name, **values): run our Jinja templates without importing Jinja, five bare starts.

Jinja itself compiles them (`template_compiler.py`), for the small runtime here; a property test
renders every template both ways. Values are inserted as they are and never rendered again.
"""

from __future__ import annotations

import os

from contextkit.base import names
from contextkit.base.errors import ContextError
from contextkit.base.filters import FILTERS
from contextkit.base.type_names import Any, Callable, Iterable, Iterator, NoReturn
from contextkit.base.version import toolkit

FOLDER = toolkit("templates")
missing: Any = object()  # Jinja's marker for a missing value


class UndefinedError(Exception):
    """A template used a value that the caller did not give: a bug, so not a ContextError."""


def render(name: str, **values: object) -> str:
    """Render `templates/<name>.j2` with `values`. Raises UndefinedError for a missing one."""
    return "".join(_root(name)(_Context(values)))


def _root(name: str) -> Callable[[_Context], Iterator[str]]:
    """The compiled template, recompiled if its source has changed."""
    with open(os.path.join(FOLDER, name + ".j2"), "rb") as file:
        source = file.read()
    module = names.identifier(name)
    namespace: dict[str, Any] = {}
    try:
        package = __import__(f"contextkit.compiled.{module}")
        namespace = vars(getattr(package.compiled, module))
    except ImportError:
        pass
    if namespace.get("SOURCE") != names.fingerprint(source):
        try:
            from contextkit.base import template_compiler
        except ImportError:
            raise ContextError("templates are not compiled: run `make setup`") from None
        namespace = {}
        exec(template_compiler.compile_one(name), namespace)
    return namespace["root"]  # type: ignore[no-any-return]


class _Context:
    """The interface through which a compiled template gets its values."""

    def __init__(self, values: dict[str, object]) -> None:
        self._values = values
        self.vars: dict[str, object] = {}
        self.exported_vars: set[str] = set()

    def resolve_or_missing(self, name: str) -> object:
        return self._values.get(name, missing)


class LoopContext:
    """`loop` inside a for: index, index0, first."""

    def __init__(self, items: Iterable[object], undefined: object) -> None:
        self._items = items

    def __iter__(self) -> Iterator[tuple[object, LoopContext]]:
        for at, item in enumerate(self._items):
            self.index0, self.index, self.first = at, at + 1, at == 0
            yield item, self


def _undefined(hint: str = "", obj: Any = missing, name: str = "") -> NoReturn:
    if obj is missing:
        raise UndefinedError(f"{name!r} is undefined")
    kind = type(obj)
    shown = f"{kind.__module__}.{kind.__name__} object".removeprefix("builtins.")
    raise UndefinedError(f"{'None' if obj is None else shown!r} has no attribute {name!r}")


class _Environment:
    filters = FILTERS
    undefined = staticmethod(_undefined)
    concat = "".join

    @staticmethod
    def getattr(obj: Any, name: str) -> object:
        try:
            value = getattr(obj, name, missing)
            return obj[name] if value is missing else value
        except (TypeError, LookupError, AttributeError):
            return _undefined(obj=obj, name=name)


environment = _Environment()
