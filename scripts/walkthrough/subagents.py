"""A subagent: started with the capsule, watched, and its report taken as a receipt."""

from __future__ import annotations

import os

from contextkit.base import tokens
from contextkit.base.layout import toolkit

from walkthrough.walk import Walk, indent, show, write_file

# Takes the prompt as an agent would, measures something, hands in what it found.
AGENT = """\
cat > /dev/null
cd .contextkit/subagents/"$CONTEXT_SUBAGENT_ID"
echo "Capsule Gap: how long may a module be?" >> progress.md
cd ../../..
{ echo "## Longest modules"; echo
  git ls-files 'scripts/contextkit/*.py' | xargs wc -l | sort -rn | sed -n '2,41s/^ */- /p'; } |
"$TOOLKIT/scripts/subagent_manager.py" finish --agent=measure --status=COMPLETE \\
  --summary="Forty modules measured"
"""
SCOPE = "# Measure\n\nList the forty longest modules of `scripts/contextkit`, longest first.\n"


def act(walk: Walk) -> None:
    """Commit capsule and scope, look at the prompt, start, watch, read the receipt, clean up."""
    write_file(walk.scratch, "scope.md", SCOPE)
    write_file(walk.scratch, "agent.sh", AGENT)
    walk.git("add", "scope.md", "parallelus")
    walk.git("commit", "-q", "-m", "A capsule and a scope for the demo")
    show("\n   (capsule and scope are committed now, so that a worktree has them)")
    call = ("slug=measure", "scope=scope.md", "capsule=latest", "type=worktree")
    prompt = walk.step("What a subagent would be told", "subagent_prompt", *call)
    show(indent(prompt, most=14))
    show(f"   the prompt has ~{tokens.estimate(prompt)} tokens")
    command = f"cmd=TOOLKIT='{toolkit()}' sh $CONTEXT_ROOT/agent.sh"
    identity = walk.step("A subagent starts", "subagent_launch", *call, "timeout=60s", command)
    show(indent(walk.step("Until it ends", "subagent_monitor", "interval=1")))
    log = os.path.join(walk.scratch, ".contextkit", "subagents", identity.strip(), "agent.log")
    with open(log, encoding="utf-8") as file:
        show("   its log ends with the receipt:\n" + indent(file.read()))
    prompt = walk.step("What it missed is in the next capsule prompt", "capsule_prompt")
    show(indent("\n".join(line for line in prompt.splitlines() if identity.strip() in line)))
    walk.step("Its worktree is removed", "subagent_cleanup", f"id={identity.strip()}")
