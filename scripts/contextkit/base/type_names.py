"""Names that only a type checker reads, for annotations that cost nothing when a command starts.

Importing `typing` takes longer than most of what a hot command does. With `from __future__ import
annotations` no annotation is ever run, so at run time each name may be anything; it is `list`,
since an alias such as `Fields = dict[str, Any]` is run and needs a type that takes brackets.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable as Callable
    from collections.abc import Collection as Collection
    from collections.abc import Iterable as Iterable
    from collections.abc import Iterator as Iterator
    from collections.abc import Mapping as Mapping
    from collections.abc import Sequence as Sequence
    from types import FrameType as FrameType
    from types import ModuleType as ModuleType
    from typing import Any as Any
    from typing import ClassVar as ClassVar
    from typing import Generic as Generic
    from typing import NoReturn as NoReturn
    from typing import Self as Self
    from typing import TypeVar

    T = TypeVar("T")
else:
    Callable = Collection = Iterable = Iterator = Mapping = Sequence = T = list

    class Generic:
        """The base of classes with a type parameter, which means nothing at run time."""

        def __class_getitem__(cls, _):
            return cls

    Any = ClassVar = FrameType = ModuleType = NoReturn = Self = list
