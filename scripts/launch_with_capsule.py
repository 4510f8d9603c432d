#!/usr/bin/env python3
"""A SUBAGENT_LAUNCH_HELPER that adds the branch's capsule to a prompt, then calls the real helper.

For kits without capsules: such a kit writes the prompt, calls the helper that this variable names
with `--prompt FILE` among its options, and has the agent read the file afterwards. The real helper
is CONTEXTKIT_LAUNCH_HELPER, else the kit's own. If anything goes wrong with the capsule, a line on
stderr says so, and the agent starts without it.
"""

import os
import sys

from contextkit.base import cli, names
from contextkit.base.commands import Answer, Arguments, Option, Program, command
from contextkit.base.errors import ContextError, remark, remarks
from contextkit.base.layout import Layout
from contextkit.base.type_names import Sequence
from contextkit.subagents.flows import launch as launching

_KITS_OWN = ("parallelus", "engine", "bin", "launch_subagent.sh")


@command(
    "add the capsule to the prompt, then start the agent as before",
    Option("prompt", "the prompt's file", required=True),
    Option("path", "the sandbox"),
    Option("launcher", "the kind of launcher"),
    Option("log", "the log's file"),
    Option("type", "the kind of sandbox"),
    Option("title", "the subagent's id; its row in the registry names the capsule"),
    Option("capsule", "a path, latest or none (default: CONTEXTKIT_CAPSULE)"),
    needs=("yaml", "frontmatter"),
)
def launch(layout: Layout, args: Arguments) -> Answer:
    wanted = args.capsule or os.environ.get("CONTEXTKIT_CAPSULE", "")
    try:
        launching.splice(layout, args.prompt, args.title, wanted, names.now())
    except (ContextError, OSError) as error:
        remark(f"no capsule in {args.prompt}: {error}")
    cli.say_each(remarks)  # before this process becomes another
    helper = os.environ.get("CONTEXTKIT_LAUNCH_HELPER", "") or layout.join(*_KITS_OWN)
    options = ("launcher", "path", "prompt", "log", "type", "title")
    words = [word for name in options for word in (f"--{name}", getattr(args, name))]
    try:
        os.execv(helper, [helper, *words])
    except OSError as error:
        raise ContextError(f"{helper}: {error.strerror}: set CONTEXTKIT_LAUNCH_HELPER") from None


PROGRAM = Program(
    name="launch_with_capsule",
    about=__doc__ or "",
    default="launch",
    commands=(launch,),
)


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    sys.exit(main())
