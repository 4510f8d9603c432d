"""contextkit: carry context from one agent to the next. The map is manuals/structure.md."""

import gc
import os
import sys

# Read by any python3, as the scripts are: no newer syntax than that of 3.6 before this.
if sys.version_info < (3, 11):  # noqa: UP036
    _TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
    _OWN = os.path.join(_TOP, ".venv", "bin", "python")
    if os.access(_OWN, os.X_OK) and os.path.isfile(sys.argv[0]):
        os.execv(_OWN, [_OWN, *sys.argv])
    sys.stderr.write(
        f"contextkit: needs Python 3.11 or newer, and python3 is {sys.version.split()[0]}:"
        f" install it, then `make -C '{_TOP}' setup`\n"
    )
    raise SystemExit(1)

gc.set_threshold(200_000)  # objects before Python looks for cycles: most commands end before that

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

at_end: "list[Callable[[], None]]" = []  # what a process does once its answer is out


def leave(status: int) -> None:
    """End the process immediately: Python's own tear-down would cost a sixth of a bare start."""
    try:
        sys.stderr.flush()
    except (AttributeError, OSError):
        pass  # closed or full: there is nobody left to tell
    for function in at_end:
        function()
    os._exit(status)
