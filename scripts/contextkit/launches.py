"""The flow of a launch: choose the capsule, check everything, then write the row and start.

A launch that is killed in the middle leaves a whole row or none; one that cannot be done takes
its row away again.
"""

from __future__ import annotations

import os

from contextkit import (
    capsule_trim,
    capsules,
    drift,
    files,
    git,
    launch_prompts,
    names,
    processes,
    redaction,
    references,
    registry,
    sandboxes,
    sessions,
    tokens,
)
from contextkit.errors import ContextError, bad_input
from contextkit.launch_prompts import Body, Order, Role
from contextkit.layout import Layout
from contextkit.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.registry import Row


class Request(Record):
    """What the user asked for; `capsule` is a path, `latest`, `none`, or empty for the usual."""

    now: int
    slug: str
    role: str = ""
    scope: str = ""
    capsule: str = ""
    cmd: str = ""
    type: str = ""
    timeout: str = ""
    max_tokens: int | None = None
    redact: bool = False


class Prepared(Record):
    """A launch of which everything is known but its final id."""

    order: Order
    prompt: str
    command: str
    warnings: tuple[str, ...] = ()
    lacks_capsule: bool = False  # none was found, and nobody said that there should be none


def prepare(layout: Layout, request: Request) -> Prepared:
    """Read and check everything; nothing is written.

    Raises ContextError for what is not there, and for what the sandbox would not see.
    """
    slug = names.slug(request.slug)
    if not slug:
        raise bad_input(f"slug: {request.slug!r} has no letter or digit: name the task")
    kind = request.type or "here"
    branch, commit = launch_prompts.here(layout)
    role = launch_prompts.read_role(layout, request.role)
    scope = launch_prompts.read_scope(layout, request.scope)
    if scope:
        allowed = layout.limits.secrets_allow
        text = redaction.checked(scope.text, f"scope: {scope.path}", allowed, request.redact)
        scope = scope.replace(text=text)
    own = [scope.path] if scope else []
    path, notes, lacking = _choose(layout, request.capsule, role, branch, own)
    body = _body(layout, path, request) if path else None
    order = Order(
        id=f"{names.compact(request.now)}-{slug}",
        slug=slug,
        type=kind,
        branch=branch,
        commit=commit,
        scope=scope,
        role=role,
        capsule=body,
        timeout=names.seconds(request.timeout) if request.timeout else 0,
    )
    prompt = launch_prompts.assemble(layout, order)
    warnings = [*notes, *_uncommitted(layout, order), *_sizes(layout, order, prompt)]
    command = request.cmd.strip() or layout.limits.subagent_command
    return Prepared(
        order=order,
        prompt=prompt,
        command=command,
        warnings=tuple(warnings),
        lacks_capsule=lacking,
    )


def _choose(
    layout: Layout, asked: str, role: Role | None, branch: str, own: list[str]
) -> tuple[str, list[str], bool]:
    """The capsule's path (empty: none), what to say about it, and whether one is lacking.

    Commits of the paths `own` make no capsule stale.
    """
    wanted = asked or (role.says("capsule") if role else "")
    if not wanted and role and role.judges:
        wanted = "none"
    if wanted == "none":
        return "", [], False
    if wanted and wanted != "latest":
        path = layout.typed(wanted, "capsule")
        if not os.path.isfile(path):
            raise bad_input(f"capsule: {layout.shown(path)} is no file: a path, latest or none")
        return path, _stale(layout, path, own), False
    path = capsules.latest(layout, branch) if branch else ""
    if wanted == "latest":
        if not path:
            raise bad_input(f"capsule: there is none on {branch or 'no branch'}: {_how(layout)}")
        return path, _stale(layout, path, own), False
    if path and not (stale := _stale(layout, path, own)):
        return path, [], False
    if path:
        why = f"{stale[0]}; it is not given (capsule=latest gives it)"
    else:
        why = f"no capsule on {branch or 'no branch'}"
    return "", [f"{why}: {_how(layout)}"], True


def _how(layout: Layout) -> str:
    return "make one with `make capsule_prompt`, `make capsule_save`, and commit it"


def _stale(layout: Layout, path: str, own: list[str]) -> list[str]:
    """A sentence for each reason why a capsule is not what things are now."""
    shown = layout.shown(path)
    return [f"{shown} is stale: {reason}" for reason in drift.staleness(layout, path, own)]


def _body(layout: Layout, path: str, request: Request) -> Body:
    """What of a capsule goes into the prompt. Raises ContextError for a stub or no capsule."""
    found = capsules.load(layout, path)
    shown = layout.shown(path)
    allowed = layout.limits.secrets_allow
    whole = redaction.checked(found.body, f"capsule: {shown}", allowed, request.redact)
    most = request.max_tokens
    body, gone = capsule_trim.trimmed(whole, most) if most else (whole, [])
    changed = [f"`{name}` is {state}" for name, state in drift.marks(layout, files.read(path))
               if state != references.FRESH]  # fmt: skip
    return Body(
        path=shown,
        body=body,
        whole=whole,
        sha256=found.sha256,
        created_at=found.capsule.created_at,
        tokens=tokens.estimate(body),
        trimmed=bool(gone),
        marks=tuple(map(names.one_line, changed)),
    )


def _uncommitted(layout: Layout, order: Order) -> list[str]:
    """Capsule and scope have to be in git: refused for a clone or worktree, said for `here`."""
    given = [part.path for part in (order.capsule, order.scope) if part]
    open_ones = [path for path in given if _not_in_git(layout, layout.join(path))]
    if not open_ones:
        return []
    words = " ".join(launch_prompts.quoted(path) for path in open_ones)
    said = (
        f"not committed: {', '.join(open_ones)}:"
        f" git add {words} && git commit -m 'Context for {order.slug}' -- {words}"
    )
    if order.type != "here":
        raise ContextError(f"{said} (a {order.type} would not see it)")
    return [said]


def _not_in_git(layout: Layout, path: str) -> bool:
    try:
        return sandboxes.unseen(layout, path)
    except ContextError:
        return True


def _sizes(layout: Layout, order: Order, prompt: str) -> list[str]:
    """Warn of a large capsule. Raises ContextError for a prompt above the ceiling."""
    ceiling, percent = layout.limits.subagent_prompt_ceiling, layout.limits.capsule_warn_percent
    size = tokens.estimate(prompt)
    body = order.capsule.tokens if order.capsule else 0
    if size > ceiling:
        raise ContextError(
            f"the prompt has ~{size} tokens, above subagent_prompt_ceiling ({ceiling}); the"
            f" capsule has ~{body} of them: max_tokens= trims it, capsule=none leaves it out"
        )
    if body * 100 > ceiling * percent:
        return [f"the capsule has ~{body} tokens, above {percent} % of the ceiling ({ceiling})"]
    return []


def launch(layout: Layout, request: Request, prepared: Prepared) -> Row:
    """Write the row, make the sandbox, start the command; the row as it is then.

    Without a command the row waits for somebody to start the agent by hand.
    """
    session, _ = sessions.current(layout, "", request.now)
    files.store(layout.state)
    holds = []

    def make(identity: str) -> Row | None:
        try:
            holds.append(processes.Hold(layout.run(identity)))
        except FileExistsError:
            return None
        order = prepared.order.replace(id=identity)
        return _row(layout, order, request, bool(prepared.command))

    row = registry.add(layout, prepared.order.id, make)
    order = prepared.order.replace(id=row["id"])
    try:
        changes = _start(layout, order, prepared.command, session, holds[0])
    except BaseException:
        registry.remove(layout, order.id)
        _forget(layout, order)
        raise
    finally:
        holds[0].release()
    return registry.update(layout, order.id, **changes)


def _row(layout: Layout, order: Order, request: Request, by_command: bool) -> Row:
    """A new row: the original's fields in their order, then ours."""
    place = sandboxes.place(layout, order.type, order.id)
    run = layout.run(order.id)
    row: Row = {
        "id": order.id,
        "type": order.type,
        "slug": order.slug,
        "path": layout.shown(place),
        "scope_path": order.scope.path if order.scope else "",
        "prompt_path": layout.shown(os.path.join(run, "prompt.md")),
        "log_path": layout.shown(os.path.join(run, "agent.log")),
        "progress_path": layout.shown(_progress(place, order.id)),
        "launcher": "cmd" if by_command else "manual",
        "status": "pending_launch",
        "launched_at": names.compact(request.now),
        "window_title": order.id,
        "launcher_kind": "sh" if by_command else "",
        "launcher_handle": None,
    }
    if order.role:
        row["role_prompt"] = order.role.name
    row |= {"source_commit": order.commit, "source_branch": order.branch}
    if order.timeout:
        row["timeout_seconds"] = order.timeout
    if order.capsule:
        row |= _capsule_fields(order.capsule)
    return row | {"capsule_gaps": [], "head": order.commit}


def _capsule_fields(body: Body) -> Row:
    return {
        "capsule": body.path,
        "capsule_sha256": body.sha256,
        "capsule_created_at": body.created_at,
        "capsule_tokens": body.tokens,
        "capsule_trimmed": body.trimmed,
    }


def _progress(place: str, identity: str) -> str:
    return os.path.join(sandboxes.desk(place, identity), "progress.md")


def _start(
    layout: Layout, order: Order, command: str, session: str, hold: processes.Hold
) -> dict[str, object]:
    """Make the sandbox and what is in it, start the command; the fields that change with that."""
    place = sandboxes.make(layout, order.type, order.id)
    run = layout.run(order.id)
    if order.capsule:
        copy = os.path.join(sandboxes.desk(place, order.id), "capsule.md")
        files.write(copy, order.capsule.whole)
    files.write(_progress(place, order.id), f"# Progress of {order.id}\n\n")
    files.write(os.path.join(run, "prompt.md"), launch_prompts.assemble(layout, order))
    if not command:
        return {"status": "awaiting_manual_launch"}
    env = _environment(layout, order, session)
    pid = processes.start(hold, run, place, command, order.timeout, env)
    return {"status": "running", "launcher_handle": {"launcher": "sh", "pid": pid}}


def _environment(layout: Layout, order: Order, session: str) -> dict[str, str]:
    """What an agent finds in its environment: the caller's, but for make and for our own input."""
    from contextkit import makefiles

    ours = {name for target in makefiles.targets() for name in target.variables}
    ours |= {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKEFILES", "GNUMAKEFLAGS"}
    ours |= {"MAKE_TERMOUT", "MAKE_TERMERR", *git.VARIABLES}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith("CONTEXTKIT_")
    }
    return {
        **kept,
        "CONTEXT_ROOT": layout.root,
        "SESSION_ID": session,
        "CONTEXT_AGENT": order.slug,
        "CONTEXT_SUBAGENT_ID": order.id,
    }


def _forget(layout: Layout, order: Order) -> None:
    """Remove what a launch that did not come about has made."""
    import shutil

    if order.type != "here" and sandboxes.is_ours(layout, order.id, layout.sandbox(order.id)):
        sandboxes.remove(layout, order.type, order.id)
    shutil.rmtree(layout.run(order.id), ignore_errors=True)


def splice(layout: Layout, prompt: str, identity: str, wanted: str, now: int) -> list[str]:
    """Put the capsule into the prompt that another kit wrote, and its fields into that kit's row.

    Returns what there is to say. Raises ContextError, and changes nothing, where it cannot be.
    """
    path = layout.typed(prompt, "prompt")
    text = files.read(path)
    if "\n## Context Capsule\n" in text:
        return [f"{layout.shown(path)} has a capsule already"]
    rows = [row for row in registry.load_all(layout) if row["id"] == identity]
    role = str(rows[0].get("role_prompt") or "") if rows else ""
    judge = launch_prompts.Role(name=role, path="", text="") if role else None
    branch, _ = launch_prompts.here(layout)
    own = [str(rows[0].get("scope_path") or "")] if rows else []
    chosen, notes, _ = _choose(layout, wanted, judge, branch, [path for path in own if path])
    if not chosen:
        return notes
    body = _body(layout, chosen, Request(now=now, slug=identity, redact=True))
    whole = launch_prompts.spliced(text, launch_prompts.capsule_section(body))
    size, ceiling = tokens.estimate(whole), layout.limits.subagent_prompt_ceiling
    if size > ceiling:
        raise ContextError(f"with {body.path} it would have ~{size} tokens, above {ceiling}")
    files.write(path, whole)
    if rows:
        registry.update(layout, identity, **_capsule_fields(body))
    return notes
