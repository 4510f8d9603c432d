#!/usr/bin/env python3
"""Run a hook: `host_hook.py EVENT [--host=NAME]` reads the host's JSON and prints its answer.

hook.sh starts it for each event of a host. It never blocks the host: the status is always 0.
"""

import os
import sys

OLD = "contextkit's hooks do nothing in this session: they need Python 3.11 or newer as python3."


def main(argv: "list[str] | None" = None) -> int:
    if sys.version_info < (3, 11):  # noqa: UP036  (whatever python3 is)
        if "SessionStart" in sys.argv[1:] and b'"compact"' not in sys.stdin.buffer.read():
            sys.stdout.write('{"systemMessage": "%s"}\n' % OLD)  # noqa: UP031
            sys.stdout.flush()
        return 0
    try:
        if sys.argv[1:] == ["--version"]:
            from contextkit.base.version import VERSION

            sys.stdout.write(f"host_hook {VERSION}\n")
            sys.stdout.flush()
            return 0
        from contextkit.hosts.flows import runner

        text = runner.run(list(sys.argv[1:] if argv is None else argv), runner.read_input())
        sys.stdout.write(text)
        sys.stdout.flush()
    except Exception:  # a Python that is too old, an output that nobody reads
        pass
    return 0


if __name__ == "__main__":
    main()
    if sys.version_info >= (3, 11):  # noqa: UP036
        import contextkit

        contextkit.leave(0)
    os._exit(0)
