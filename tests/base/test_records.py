"""records.py: what cannot be valid cannot exist."""

from __future__ import annotations

import copy
import pickle
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import pytest
from conftest import each
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.records import NamedTuple, Record


class Part(Record):
    name: str


class Whole(Record):
    title: str
    count: int = 0
    ratio: float = 0.5
    sure: bool = False
    raw: bytes = b""
    limit: int | None = None
    tags: tuple[str, ...] = ()
    part: Part | None = None
    parts: tuple[Part, ...] = ()
    table: dict[str, int] | None = None
    call: Callable[..., str] | None = None
    anything: object = None
    _private: int = 7

    def check(self) -> None:
        if self.count < 0:
            raise bad_input("count must not be negative")


class More(Whole):
    extra: str = ""


class Odd(Record):
    field: list[str]


def a_record(**changes: Any) -> Whole:
    return Whole(**{"title": "t"} | changes)


@each(
    ("field", "value"),
    [
        ("title", None),
        ("title", b"bytes"),
        ("count", True),
        ("count", 1.0),
        ("count", "1"),
        ("ratio", 1),
        ("sure", 1),
        ("raw", "text"),
        ("limit", "1"),
        ("limit", False),
        ("tags", ["a list"]),
        ("tags", "text"),
        ("tags", ("a", 1)),
        ("part", "p"),
        ("part", a_record()),
        ("parts", (Part(name="p"), None)),
        ("table", [("a", 1)]),
        ("call", "print"),
    ],
)
def test_a_value_that_is_not_what_its_annotation_says_is_refused(field: str, value: object) -> None:
    with pytest.raises(TypeError, match=f"Whole: {field} must be "):
        a_record(**{field: value})


@each(
    ("field", "value"),
    [
        ("limit", None),
        ("limit", 3),
        ("tags", ("a", "b")),
        ("part", Part(name="p")),
        ("parts", (Part(name="p"), Part(name="q"))),
        ("table", {"a": 1}),
        ("call", str),
        ("anything", [object]),
    ],
)
def test_a_value_that_fits_is_kept_as_it_is(field: str, value: object) -> None:
    assert getattr(a_record(**{field: value}), field) is value


def test_missing_and_surplus_fields_are_named() -> None:
    with pytest.raises(TypeError, match="Whole: title is missing"):
        Whole()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Whole: no field a, b"):
        a_record(b=1, a=1)
    with pytest.raises(TypeError, match="no field _private"):
        a_record(_private=1)


def test_an_annotation_that_cannot_be_checked_is_a_bug_and_says_so() -> None:
    with pytest.raises(TypeError, match=r"cannot check the annotation 'list\[str\]'"):
        Odd(field=["a"])


def test_fields_come_in_order_and_a_subclass_adds_its_own() -> None:
    assert list(Part.fields().items()) == [("name", "str")]
    assert list(More.fields()) == [*Whole.fields(), "extra"]
    assert "_private" not in Whole.fields()
    Part.fields()["name"] = "changed"
    assert Part.fields() == {"name": "str"}


def test_a_record_never_changes() -> None:
    record = a_record()
    with pytest.raises(AttributeError, match=r"immutable: use replace\(title=...\)"):
        record.title = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        del record.title
    assert record == a_record()


def test_replace_makes_another_one_and_checks_it_again() -> None:
    record = a_record(count=1)
    assert (record.replace(count=2), record) == (a_record(count=2), a_record(count=1))
    with pytest.raises(ContextError, match="negative"):
        record.replace(count=-1)
    with pytest.raises(TypeError, match="no field colour"):
        record.replace(colour="red")


def test_records_are_equal_by_type_and_value() -> None:
    assert a_record(tags=("a",)) == a_record(tags=("a",))
    assert a_record(title="t") != a_record(title="u")
    assert a_record() != More(title="t")
    assert a_record() != "t"
    assert {Part(name="p"), Part(name="p"), Part(name="q")} == {Part(name="p"), Part(name="q")}
    assert repr(Part(name="p")) == "Part(name='p')"


class Named(NamedTuple):
    """A named tuple."""

    name: str
    size: int = 1
    lines: tuple[str, ...] = ()

    @property
    def twice(self) -> int:
        return 2 * self.size


class Other(Named):
    """A kind of it."""


def test_a_named_tuple_is_what_the_library_makes() -> None:
    theirs: Any = namedtuple("Named", ["name", "size", "lines"], defaults=[1, ()])  # type: ignore[name-match]
    ours: Any = Named("a", lines=("x",))
    its = theirs("a", lines=("x",))
    assert tuple(ours) == tuple(its) == ("a", 1, ("x",)) and ours == its
    assert issubclass(Named, tuple) and repr(ours) == repr(its)
    assert (ours.name, ours.size, ours.lines, ours.twice) == (*its, 2)
    assert ours._replace(size=3) == its._replace(size=3) and hash(ours) == hash(its)
    assert type(Other("b")._replace(name="c")) is Other and Other("b").name == "b"
    assert pickle.loads(pickle.dumps(ours)) == ours == copy.deepcopy(ours)
    assert Named.__doc__ == "A named tuple." and not hasattr(ours, "__dict__")


@each("given", [{}, {"size": 1}, {"name": "a", "many": 1}])
def test_a_named_tuple_needs_its_fields_and_takes_no_others(given: dict[str, Any]) -> None:
    for _ in range(2):  # the first one makes what the second one uses
        with pytest.raises(TypeError):
            Named(**given)
        with pytest.raises(TypeError):
            Named("a")._replace(many=1)  # type: ignore[call-arg]
