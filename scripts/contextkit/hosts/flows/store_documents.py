"""The flow of reading every document of every store, to find those that cannot be read."""

from __future__ import annotations

import os

from contextkit.base import stores
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from contextkit.base.stores import Store

_SHOWN = 5  # broken files of a store


class Finding(Record):
    """What is wrong, in which area, and how to fix it; a `note` is nothing to worry about."""

    area: str
    problem: str
    mend: str
    note: bool = False


def documents(layout: Layout) -> list[Finding]:
    """A finding for each document of each declared store that cannot be read, the first of many."""
    return [one for store in stores.with_documents() for one in _broken(layout, store)]


def _broken(layout: Layout, store: Store) -> list[Finding]:
    area = store.label
    try:
        broken = stores.module(store).load_all(layout).broken
    except ContextError as error:
        return [Finding(area=area, problem=str(error), mend=store.mend)]
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}"
        return [Finding(area=area, problem=problem, mend="check its permissions")]
    problems = [str(one) for one in broken[:_SHOWN]]
    if len(broken) > _SHOWN:
        problems.append(f"{len(broken) - _SHOWN} more files cannot be read")
    return [Finding(area=area, problem=problem, mend=store.mend) for problem in problems]


def walk(folder: str) -> Iterator[str]:
    """Every file below a folder, by name; none where there is no folder."""
    for here, inside, found in os.walk(folder):
        inside.sort()
        yield from (os.path.join(here, name) for name in sorted(found))
