"""Print the prompt that has the main agent write its context capsule; optionally write a stub."""

from __future__ import annotations

from contextkit.base import cli, files, names
from contextkit.base.commands import Arguments, Command, Option, Program
from contextkit.base.layout import Layout
from contextkit.capsules.flows import capture


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
                cli.say(f"{layout.shown(captured.path)} already exists; left unchanged")
                break
            # another process took the name of this second
            captured = capture.capture(layout, request)
    for warning in captured.warnings:
        cli.say(warning)
    header = [
        "Context capsule prompt",
        "Copy the block below into the main agent's session.",
        f"Target file: {layout.shown(captured.path)}",
    ]
    if args.session.strip():
        header.append(f"Session marker: {names.one_line(args.session)}")
    if created:
        header.append("Capsule stub created.")
    return "\n".join(header) + "\n\n" + captured.prompt


PROGRAM = Program(
    name="capsule_prompt",
    about=__doc__ or "",
    default="prompt",
    commands=(
        Command(
            run=prompt,
            help="print the capture prompt",
            options=(
                Option(name="branch", help="the branch to write about (default: the current one)"),
                Option(name="session", also=("session-marker",), help="the session's marker"),
                Option(name="file", also=("capsule-path",), help="the path of the capsule"),
                Option(
                    name="stub", kind="flag", also=("write-stub",), help="also write a stub there"
                ),
                Option(name="plan_slug", help="the notebooks' name, if it is not the branch's"),
                Option(
                    name="tokens", kind="whole", also=("token-budget",), help="the capsule's budget"
                ),
                Option(name="reminders", also=("reminder-path",), help="another reminder inbox"),
                Option(name="no_reminders", kind="flag", help="quote no reminders"),
                Option(name="version", help="the capsule format (default: 0.1)"),
                Option(name="mini", kind="flag", help="the small outline, for lightweight tasks"),
                Option(name="workstream", help="which one, if the branch has several capsules"),
            ),
        ),
    ),
)
