"""make bench: what each command costs as a whole process, in one run.

Works in a scratch repository with a history, two notebooks and an inbox. Exit status 1 when a
command costs more than it may; the figures are those of manuals/structure.md.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from capsule_cases import capsule_cases, capture_cases
from handoff_cases import handoff_cases
from history_cases import history_cases
from hook_cases import hook_cases
from measure import BARE, Case, judged
from memory_cases import memory_cases
from payload_cases import payload_cases
from places import prepare, scratch
from review_cases import verdict_cases
from subagent_cases import subagent_cases

ROUNDS = int(os.environ.get("ROUNDS", "40"))


HOMES = ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME")


def main() -> int:
    """Run the groups that are named, all by default."""
    prepare()
    groups = {
        "capture": capture_cases,
        "capsules": capsule_cases,
        "payloads": payload_cases,
        "handoffs": handoff_cases,
        "memory": memory_cases,
        "verdicts": verdict_cases,
        "subagents": subagent_cases,
        "hooks": hook_cases,
        "history": history_cases,
    }
    kept = True
    for name in sys.argv[1:] or groups:
        with tempfile.TemporaryDirectory(
            ignore_cleanup_errors=True
        ) as made:  # agents may still end
            folder = Path(made).resolve()
            scratch(folder)
            for host in HOMES:  # no session of a real host is found
                os.environ[host] = str(folder / "home")
            cases = [Case("python -c pass", BARE), *groups[name](folder)]
            print(f"\n{name}")
            kept = judged(cases, ROUNDS) and kept
            kept = flat(cases) and kept
            os.chdir("/")
    return 0 if kept else 1


def flat(cases: list[Case]) -> bool:
    """Whether storing into 10,000 costs at most 1.3 times what storing into 10 does."""
    median = {case.name: case.median for case in cases}
    if "payload_store at 10,000" not in median:
        return True
    ratio = median["payload_store at 10,000"] / median["payload_store at 10"]
    print(f"payload_store at 10,000 against at 10: {ratio:.2f} (may be 1.3)")
    return ratio <= 1.3


if __name__ == "__main__":
    raise SystemExit(main())
