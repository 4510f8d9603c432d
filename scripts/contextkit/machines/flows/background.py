"""Background sync: started by a hook, which never waits for it.

With `sync: git` (the remote `origin`) or `sync: <remote or URL>` in `contextkit.yaml`, a session
pulls when it starts, and pushes when it or one of its subagents ends. Failures are logged for
doctor.
"""

from __future__ import annotations

import os
import sys

from contextkit.base import version
from contextkit.base.layout import Layout

VERBS = ("pull", "push")


def start(layout: Layout, verb: str) -> None:
    """Start a push or pull in a detached process and return."""
    script = version.toolkit("scripts", "context.py")
    words = ["context_sync", "background", f"--verb={verb}", f"--root={layout.root}"]
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    kept = {name: text for name, text in os.environ.items() if name != "CONTEXTKIT_RESTARTED"}
    os.posix_spawn(
        sys.executable,
        [sys.executable, script, *words],
        kept,
        file_actions=nothing,
        setsid=True,
    )


def run(layout: Layout, verb: str) -> str:
    """Push or pull what `sync` names; failures are logged for doctor and printed."""
    from contextkit.hosts.documents import diagnostics
    from contextkit.machines.flows import pull, push
    from contextkit.machines.flows.transfers import Choice

    try:
        move = push.push if verb == "push" else pull.pull
        done = move(layout, "", Choice())
    except Exception as error:  # nobody is there to see a traceback
        diagnostics.note(layout.hooks, f"sync {verb}", str(error) or repr(error))
        return str(error)
    not_taken = [row.line for row in done.rows if row.did == "not taken"]
    for problem in [*done.refused, *not_taken, *(done.messages if done.failed else ())]:
        diagnostics.note(layout.hooks, f"sync {verb}", problem)
    return done.total
