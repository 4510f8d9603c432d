"""Trust: which repositories may name what acts, as their user said once, outside of them.

    $XDG_STATE_HOME/contextkit/trust/<16 hex of the root>      two lines: a digest, the root

The digest is of the acting settings in the repository's file, so changing one asks again, and
changing anything else does not. A worktree is trusted with its repository.
"""

from __future__ import annotations

import os

from contextkit.base import files, git, names, owned
from contextkit.base.errors import ContextError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.base.settings import Values


def holds(root: str, acting: Values) -> bool:
    """Whether the user trusted the repository at `root` with exactly these settings."""
    wanted = _digest(acting)
    return any(files.first_line(_path(place)) == wanted for place in (root, *_main(root)))


def give(root: str, acting: Values) -> None:
    """Trust these settings. Raises ContextError if the user's folder cannot be written."""
    try:
        shown = os.fsencode(root).decode("utf-8", "replace")
        files.write(_path(root), f"{_digest(acting)}\n{shown}\n")
        files.settle()
    except OSError as error:
        mend = "run make context_trust in a terminal of your own"
        raise ContextError(f"{_path(root)}: {error.strerror}: {mend}") from None


def forget(root: str) -> None:
    """Trust the repository no longer."""
    files.discard(_path(root))


def _digest(acting: Values) -> str:
    lines = (f"{name}={value!r}\n" for name, value in sorted(acting.items()))
    return names.sha256("".join(lines).encode("utf-8", "surrogateescape"))


def _path(root: str) -> str:
    known_as = names.sha256(os.fsencode(os.path.realpath(root)))[:16]
    return os.path.join(owned.user_folder("STATE"), "trust", known_as)


def _main(root: str) -> tuple[str, ...]:
    """The same folder in the main worktree, if `root` is in a linked one."""
    here = git.find(root)
    if here is None or os.path.realpath(here.folder) == os.path.realpath(here.common):
        return ()
    common = os.path.realpath(here.common)
    below = os.path.relpath(os.path.realpath(root), here.top)
    return (os.path.normpath(os.path.join(os.path.dirname(common), below)),)
