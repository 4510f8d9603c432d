"""What was clearly meant by a word that is not allowed; how it was read is a remark."""

from __future__ import annotations

from contextkit.base import errors
from contextkit.base.type_names import Collection, Mapping


def word(given: str, allowed: Collection[str], alike: Mapping[str, str], field: str) -> str:
    """The allowed word that `given` stands for, by `alike`; `given` itself if that is not clear.

    Every key of `alike` is words in lowercase, separated by blanks, with the allowed word.
    """
    if given in allowed:
        return given
    plain = given.strip().strip(".!").replace("_", " ").replace("-", " ").lower()
    exact = {name.replace("_", " ").lower(): name for name in allowed}
    known = {one: name for words, name in alike.items() for one in words.split()}
    found = exact.get(plain) or known.get(plain.replace(" ", ""), "")
    if not found:
        return given
    errors.remarks.append(f"{field}={given.strip()[:60]}: read as {found}")
    return found
