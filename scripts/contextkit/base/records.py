"""Record: the base class of all value types, like a frozen dataclass without its import cost.

    class Reminder(Record):
        note: str
        tags: tuple[str, ...] = ()

Fields are the annotations, in order. The constructor takes only keywords and checks every value
against its annotation, so invalid records cannot exist. Records are equal if their types and values
are.

Annotations may be: str, int, float, bool, object, another Record in the same module, any of these
`| None`, `tuple[X, ...]`, `dict[...]` and `Callable[...]` (both unchecked inside).
"""

from __future__ import annotations

import sys

from contextkit.base.type_names import Any, ClassVar, Self

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import SimpleNamespace as SimpleNamespace
    from typing import NamedTuple as NamedTuple
    from typing import dataclass_transform

    @dataclass_transform(kw_only_default=True, frozen_default=True)
    class _Fields:
        """Its annotations are the parameters of the constructor."""
else:
    _Fields = object
    SimpleNamespace = type(sys.implementation)  # the same class, without an import

    class _Named(type):
        """Turns a class of annotations into a named tuple."""

        def __new__(cls, name, bases, inside):
            if not bases:
                return super().__new__(cls, name, bases, inside)
            from _collections import _tuplegetter

            fields = tuple(inside.get("__annotations__", ()))
            defaults = tuple(inside.pop(field) for field in fields if field in inside)
            getters = {field: _tuplegetter(at, None) for at, field in enumerate(fields)}
            own = {"__slots__": (), "_fields": fields, "_defaults": defaults}
            return type(name, (_Tuple,), {**getters, **own, **inside})

    class NamedTuple(metaclass=_Named):
        """Like `typing.NamedTuple`, without its 6 ms import and most of what a class costs."""

    class _Tuple(tuple):
        __slots__ = ()

        def __new__(cls, *values, **named):
            """Make the first instance, and the fast constructor, which few classes ever need."""
            fields = ", ".join(cls._fields)
            make = eval(f"lambda cls, {fields}: new(cls, ({fields},))", {"new": tuple.__new__})
            make.__defaults__ = cls._defaults
            cls.__new__ = staticmethod(make)
            return cls(*values, **named)

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, **changes):
            return type(self)(**{**self._asdict(), **changes})

        def __repr__(self):
            inside = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({inside})"

        def __getnewargs__(self):
            return tuple(self)


class FieldError(TypeError):
    """A field of a record has no value, or one of another type."""

    def __init__(self, kind: type, field: str, problem: str) -> None:
        super().__init__(f"{kind.__name__}: {field} {problem}")
        self.kind, self.field = kind, field


_PLAIN = {"str": str, "int": int, "float": float, "bool": bool, "bytes": bytes}


class Record(_Fields):
    """A value: keyword-only, immutable, checked, equal by value."""

    _fields: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls) -> None:
        own = {k: str(v) for k, v in cls.__annotations__.items() if not k.startswith("_")}
        cls._fields = {**cls._fields, **own}

    def __init__(self, **values: Any) -> None:
        cls = type(self)
        for name, annotation in cls._fields.items():
            if name not in values:
                if not hasattr(cls, name):
                    raise FieldError(cls, name, "is missing")
                self.__dict__[name] = getattr(cls, name)
                continue
            value = values.pop(name)
            if type(value) is not _PLAIN.get(annotation) and not _fits(value, annotation, cls):
                raise FieldError(cls, name, f"must be {annotation}, not {value!r}")
            self.__dict__[name] = value
        if values:
            raise TypeError(f"{cls.__name__}: no field {', '.join(sorted(values))}")
        self.check()

    def check(self) -> None:
        """Override this if fields must agree with each other; raises ContextError."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: use replace({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items())
        return f"{type(self).__name__}({inside})"

    def replace(self, **changes: Any) -> Self:
        """A copy with these fields changed, checked again."""
        return type(self)(**{**self.__dict__, **changes})

    @classmethod
    def fields(cls) -> dict[str, str]:
        """The name and annotation of each field, in order."""
        return dict(cls._fields)


class Declaration(SimpleNamespace, _Fields):
    """A record that we fill ourselves, by the hundred or more: only type checkers check it."""


def _fits(value: object, annotation: str, cls: type) -> bool:
    """Whether `value` has the type `annotation` as written in `cls`; True is not an int."""
    plain = _PLAIN.get(annotation)
    if plain is not None:
        return type(value) is plain or (plain is str and isinstance(value, str))
    if annotation.endswith(" | None"):
        return value is None or _fits(value, annotation[:-7], cls)
    if annotation.startswith("tuple[") and annotation.endswith(", ...]"):
        return isinstance(value, tuple) and all(_fits(v, annotation[6:-6], cls) for v in value)
    if annotation == "object":
        return True
    if annotation.startswith("dict["):
        return isinstance(value, dict)
    if annotation.startswith("Callable["):
        return callable(value)
    named = vars(sys.modules[cls.__module__]).get(annotation)
    if not isinstance(named, type):
        raise TypeError(f"{cls.__name__}: cannot check the annotation {annotation!r}")
    return isinstance(value, named)
