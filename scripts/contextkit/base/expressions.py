"""Regular expressions that cost nothing until a text needs them, compiled once for all processes.

    __pycache__/expressions.<Python's version>.codes      beside the byte code of this module

`re` takes a fifth of a millisecond for an expression, and a digest needs a hundred. The results are
kept where Python keeps byte code, if that can be written. A missing or broken file only costs time;
another Python's file has another name.
"""

from __future__ import annotations

import os
import re
import sys

from contextkit import at_end
from contextkit.base import files, stores
from contextkit.base.type_names import Any

_MOST = 4_000  # expressions in the file, among them those of older versions of ours
_PLACE = str(__spec__.cached).replace(".pyc", f".{sys.hexversion:x}.codes")
_new: list[tuple[str, int]] = []  # what this process compiled
_kept: dict[tuple[str, int], Any] = {}
_place = ""  # where they were read


def compiled(source: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`, for an expression that is the same in each process."""
    import _sre  # type: ignore[import-not-found]

    key = (source, int(flags))
    try:
        all_flags, code, *groups = _codes()[key]
        numbers = memoryview(code).cast("I").tolist()
        return _sre.compile(source, all_flags, numbers, *groups)  # type: ignore[no-any-return]
    except (KeyError, TypeError, ValueError, RuntimeError):  # not kept, or not as `re` made it
        if not (_new or sys.dont_write_bytecode):
            at_end.append(keep)
        _new.append(key)
        return re.compile(source, flags)


def _codes() -> dict[tuple[str, int], Any]:
    """For each expression the rest of what `_sre.compile` takes."""
    global _kept, _place
    if _place != _PLACE:
        import marshal

        _place = _PLACE
        try:
            _kept = dict(marshal.loads(files.read_bytes(_PLACE)))
        except Exception:  # no file, or not one of ours
            _kept = {}
    return _kept


def keep() -> None:
    """Save what this process compiled for later ones; never raises, since nothing depends on it."""
    global _kept
    import marshal

    if not os.access(os.path.dirname(_PLACE), os.W_OK):
        return
    try:
        before = _codes() if len(_codes()) < _MOST else {}
        _kept = {**before, **{key: _code(*key) for key in _new}}
        files.write(_PLACE, marshal.dumps(_kept), derived=True)
    except Exception:  # a full disk, a Python that is made otherwise inside
        return


def _code(source: str, flags: int) -> tuple[Any, ...]:
    """What `re` makes of an expression, as the arguments of `_sre.compile`."""
    from array import array
    from re import _compiler, _parser  # type: ignore[attr-defined]

    read = _parser.parse(source, flags)
    groups, count = read.state.groupdict, read.state.groups
    named = dict(zip(groups.values(), groups, strict=True))
    code = array("I", _compiler._code(read, flags)).tobytes()
    all_flags = int(flags | read.state.flags)
    return all_flags, code, count - 1, groups, tuple(map(named.get, range(count)))


class Pattern:
    """A regular expression that is compiled on first use, since few texts need all of them.

    Every match holds one of the lower-case words `needs` (`␣` is a blank), or what the short
    expression `sign` finds. Looking for those first speeds up an expression that may match at any
    character.
    """

    search: Any

    def __init__(self, source: str, flags: int = 0, needs: str = "", sign: str = "") -> None:
        self._source, self._flags = source, flags
        self._sign = Pattern(sign, flags) if sign else None
        self.needs = tuple(word.replace("␣", " ") for word in needs.split())
        MADE.append(self)

    @property
    def compiled(self) -> re.Pattern[str]:
        return compiled(self._source, self._flags)

    def __getattr__(self, name: str) -> Any:
        made = self.compiled
        for method in ("match", "fullmatch", "search", "sub", "findall", "finditer", "split"):
            setattr(self, method, getattr(made, method))
        if self.needs or self._sign:
            self.search = lambda text: made.search(text) if self._may_match(text) else None
        return getattr(self if name in self.__dict__ else made, name)

    def _may_match(self, text: str) -> bool:
        if not text.isascii() or any(map(text.lower().__contains__, self.needs)):
            return True
        return self._sign is not None and self._sign.search(text) is not None


MADE: list[Pattern] = []  # all of them, to be compiled in advance


def compile_all() -> None:
    """Compile every expression of the toolkit for later processes, as set-up does."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in stores.folders(package, apart="compiled"):
        place = os.path.relpath(folder, os.path.dirname(package)).replace("/", ".")
        for name in stores.files_in(folder, ".py"):
            __import__(f"{place}.{name.removesuffix('.py')}".removesuffix(".__init__"))
    for pattern in MADE:
        _ = pattern.compiled
    keep()
