"""The flow of reading every document of every store, to find those that cannot be read."""

from __future__ import annotations

import os

from contextkit.base import stores
from contextkit.base.errors import UPGRADE, ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from contextkit.base.stores import Store

_SHOWN = 5  # broken files of a store


class Finding(Record):
    """What is wrong, in which area, and how to mend it; a `note` is nothing to worry about."""

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
        return [_unreadable(area, str(error), store.mend)]
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}"
        return [Finding(area=area, problem=problem, mend="see to its permissions")]
    found = [_unreadable(area, str(one), store.mend) for one in broken[:_SHOWN]]
    if len(broken) > _SHOWN:
        problem = f"{len(broken) - _SHOWN} more files cannot be read"
        found.append(Finding(area=area, problem=problem, mend=store.mend))
    return found


def _unreadable(area: str, said: str, mend: str) -> Finding:
    """The finding for one document; one of a newer contextkit is not to be mended but read."""
    problem, newer, _ = said.partition(f": {UPGRADE}")
    return Finding(area=area, problem=problem, mend=UPGRADE if newer else mend)


def walk(folder: str) -> Iterator[str]:
    """Every file below a folder, by name; none where there is no folder."""
    for here, inside, found in os.walk(folder):
        inside.sort()
        yield from (os.path.join(here, name) for name in sorted(found))
