"""Print the prompt that has the main agent write its context capsule; optionally a stub."""

from __future__ import annotations

from contextkit.base import files, names
from contextkit.base.commands import Arguments, Option, Program, command
from contextkit.base.errors import remark
from contextkit.base.layout import Layout
from contextkit.capsules.flows import capture


@command(
    "print the capture prompt",
    Option("branch", "the branch to write about (default: the current one)"),
    Option("session", "the session's marker", also=("session-marker",)),
    Option("file", "the path of the capsule", also=("capsule-path",)),
    Option("stub", "also write a stub there", kind="flag", also=("write-stub",)),
    Option("plan_slug", "the notebooks' name, if it is not the branch's"),
    Option("tokens", "the capsule's budget", kind="whole", also=("token-budget",)),
    Option("reminders", "another reminder inbox", also=("reminder-path",)),
    Option("no_reminders", "quote no reminders", kind="flag"),
    Option("version", "the capsule format (default: 0.1)"),
    Option("mini", "the small outline, for lightweight tasks", kind="flag"),
    Option("workstream", "which one, if the branch has several capsules"),
)
def prompt(layout: Layout, args: Arguments) -> str:
    typed = {name: vars(args)[name] for name in capture.Request.fields() if name != "now"}
    request = capture.Request(now=names.now(), **typed)
    captured = capture.capture(layout, request)
    created = False
    while args.stub and not created:
        try:
            files.create(captured.path, captured.stub, exact=True)
            created = True
        except FileExistsError:
            if args.file:
                remark(f"{layout.shown(captured.path)} already exists; left unchanged")
                break
            # another process took the name of this second
            captured = capture.capture(layout, request)
    header = [
        "Context capsule prompt",
        "Copy the block below into the main agent's session.",
        f"Target file: {layout.shown(captured.path)}",
        f"Session marker: {names.one_line(args.session)}" if args.session.strip() else "",
        "Capsule stub created." if created else "",
    ]
    return "\n".join(filter(None, header)) + "\n\n" + captured.prompt


PROGRAM = Program(
    name="capsule_prompt",
    about=__doc__ or "",
    default="prompt",
    commands=(prompt,),
)
