"""Keep the capsules of a branch: save what an agent replied; check, seal, show and prune."""

from __future__ import annotations

import os
import sys

from contextkit.base import addresses, cli, commands, files, ledger, names, redaction, tokens
from contextkit.base.commands import JSON, Answer, Arguments, Option, Program, Rows, command
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.references import FRESH
from contextkit.capsules.documents import items
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.flows import given, upkeep

FILE = Option("file", "the capsule (default: the branch's newest finished one)")
BRANCH = Option("branch", "the branch (default: the current one)")
WORKSTREAM = Option("workstream", "only those of this workstream")


@command(
    "check the agent's reply on standard input and write it",
    Option("file", "its path (default: the branch's folder, by created_at)"),
    Option("branch", "refuse a capsule for any other branch"),
    Option("overwrite", "replace a finished capsule", kind="flag"),
    commands.REDACT,
    needs=("yaml", "frontmatter"),
)
def save(layout: Layout, args: Arguments) -> str:
    if sys.stdin is None or sys.stdin.isatty():
        raise bad_input("pipe the agent's reply in: your-agent < prompt.md | make capsule_save")
    reply, now = cli.content("-"), names.now()
    how = {"overwrite": args.overwrite, "redact": args.redact}
    return layout.shown(upkeep.save(layout, reply, now, args.file, args.branch, **how))


@command(
    "check a capsule, one line per problem; status 1 for an error",
    FILE,
    BRANCH,
    WORKSTREAM,
    Option("seal", "record the commit and digests of the files it names", kind="flag"),
    Option("redact", "redact its secrets first", kind="flag"),
    JSON,
)
def check(layout: Layout, args: Arguments) -> Answer:
    place = os.path.realpath(os.path.join(layout.here, args.file))
    is_inside = not args.file or place.startswith(layout.root.rstrip("/") + "/")
    may_change = is_inside or args.seal or args.redact  # what is outside is only read
    path = _chosen(layout, args) if may_change or not os.path.isfile(place) else place
    shown = layout.shown(path)
    if args.redact and (count := upkeep.redact(layout, path)):
        cli.say(f"{count} redacted in {shown}")
    findings = upkeep.check(layout, path)
    wrong = any(finding.severity == upkeep.ERROR for finding in findings)
    if args.seal and wrong:
        cli.say(f"{shown} is not sealed: fix the errors first")
    elif args.seal:
        changed = upkeep.seal(layout, path)
        cli.say(f"{shown} is sealed" + ("" if changed else " already"))
    rows = [{"id": f"{shown}:{f.line}", "severity": f.severity, "line": f.line, "what": f.what,
             "mend": f.mend} for f in findings]  # fmt: skip
    text = "\n".join(finding.formatted(shown, finding.severity) for finding in findings)
    return Answer(text=text, status=int(wrong), data=rows)


@command("print the path of the branch's newest finished capsule", BRANCH, WORKSTREAM, JSON)
def latest(layout: Layout, args: Arguments) -> Answer:
    path = _newest(layout, args)
    return Answer(text=layout.shown(path), data=lambda: upkeep.row(layout, path))


@command(
    "list the capsules of a branch",
    BRANCH,
    WORKSTREAM,
    Option("all", "list those of every branch", kind="flag"),
    JSON,
)
def list_(layout: Layout, args: Arguments) -> Rows:
    branch = "" if args.all else capsules.current_branch(layout, args.branch)
    rows = upkeep.listed(layout, branch, args.workstream)
    return Rows(
        columns=(("capsule", "id"), ("state", "state"),
                 ("tokens", "tokens", lambda row: f"~{row.tokens}"),
                 ("workstream", "workstream"), ("objective", "primary_objective")),
        rows=rows,
        nothing=f"No capsules of {branch}." if branch else "No capsules.",
    )  # fmt: skip


@command(
    "print the body as a subagent gets it; drift goes to stderr",
    FILE,
    BRANCH,
    WORKSTREAM,
    Option("max_tokens", "trim it to this many tokens", kind="whole"),
    JSON,
)
def show(layout: Layout, args: Arguments) -> Answer:
    path = _chosen(layout, args)
    loaded = capsules.load(layout, path)
    body, secrets = redaction.redacted(loaded.body, layout.limits.secrets_allow)
    gone: list[str] = []
    if args.max_tokens:
        body, gone = items.trimmed(body, args.max_tokens, layout.limits.tokenizer)
    ref = addresses.of(layout, path, "capsule")
    ledger.note(layout, ledger.SHOWN, ref, tokens=tokens.estimate(body))
    stale = given.staleness(layout, path)
    marks = given.marks(layout, files.read(path))
    changed = [f"{state}: {name}" for name, state in marks if state != FRESH]
    notes = [
        *([f"redacted: {redaction.summary(secrets)}"] if secrets else ()),
        *(f"trimmed: {line}" for line in gone),
        *(f"stale: {reason}" for reason in stale),
        *changed,
        *([f"fresh: {len(marks) - len(changed)} of {len(marks)} references"] if marks else ()),
    ]
    data = {
        "sha256": loaded.sha256, "trimmed": gone, "stale": stale,
        "references": [{"path": name, "state": state} for name, state in marks], "body": body,
    }  # fmt: skip
    return Answer(text=body, exact=True, talk="\n".join(notes),
                  data=lambda: {**vars(upkeep.row(layout, path)), **data})  # fmt: skip


@command(
    "remove superseded capsules and those of merged branches",
    Option("keep", "how many of each workstream to keep", kind="whole"),
    Option("older_than", "only those older than this: 30d (default), 12h …"),
    Option("merged", "only those of merged branches", kind="flag"),
    commands.DRY_RUN,
    JSON,
)
def prune(layout: Layout, args: Arguments) -> Answer:
    how = (args.keep or 0, args.older_than, args.merged, args.dry_run)
    going = upkeep.prune(layout, names.now(), *how)
    talk = "dry run: nothing was removed" if args.dry_run else ""
    text = "\n".join(f"{path}  {why}" for path, why in going.items())
    data = [{"id": path, "why": why} for path, why in going.items()]
    return Answer(text=text, talk=talk if going else "nothing to remove", data=data)


def _chosen(layout: Layout, args: Arguments) -> str:
    """The capsule that the call refers to. Raises ContextError if there is none."""
    if args.file.startswith("capsule:"):
        return addresses.find(layout, args.file, "capsule").path
    if args.file:
        path = capsules.chosen_path(layout, args.file)
        if not os.path.isfile(path):
            raise bad_input(f"file: {layout.shown(path)} does not exist")
        return path
    return _newest(layout, args)


def _newest(layout: Layout, args: Arguments) -> str:
    """The capsule for a branch, as a subagent gets it. Raises ContextError if there is none."""
    branch = capsules.current_branch(layout, args.branch)
    path, of = given.newest(layout, branch, args.workstream)
    if not path:
        of = f"{branch}, workstream {args.workstream}" if args.workstream else branch
        raise ContextError(f"no finished capsule of {of}: make one with `make capsule_prompt`")
    if of != branch:
        cli.say(f"it is of {of}, which {branch} was made from")
    return path


PROGRAM = Program(
    name="capsule",
    about=__doc__ or "",
    commands=(save, check, latest, list_, show, prune),
)
