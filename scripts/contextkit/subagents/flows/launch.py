"""The flow of a launch: write the row, make the sandbox, start the command.

A launch that is killed in the middle leaves a whole row or none; one that cannot be done takes
its row away again.
"""

from __future__ import annotations

import os

from contextkit.base import addresses, files, git, ledger, names, sessions, tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout, toolkit
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import background, preparation, prompts, sandboxes
from contextkit.subagents.flows.preparation import Prepared, Request
from contextkit.subagents.flows.prompts import Order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.subagents.documents.registry import Row


def launch(layout: Layout, request: Request, prepared: Prepared) -> Row:
    """Write the row, make the sandbox, start the command; the row as it is then.

    Without a command the row waits for somebody to start the agent by hand.
    """
    session, _ = sessions.current(layout, "", request.now)
    files.store(layout.state)
    runs = os.path.dirname(layout.run(prepared.order.id))
    files.inside(layout.root, runs, "subagents")
    holds = []

    def make(identity: str) -> Row | None:
        try:
            holds.append(background.Hold(layout.run(identity)))
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
    _note(layout, order, session)
    return registry.update(layout, order.id, **changes)


def _note(layout: Layout, order: Order, session: str) -> None:
    """Note in the ledger that there is a subagent, and what was put into its prompt."""
    to, agent = f"subagent:{order.id}", order.slug
    carried = addresses.of(layout, layout.join(order.capsule.path)) if order.capsule else ""
    size = tokens.estimate(files.read(os.path.join(layout.run(order.id), "prompt.md")))
    sources = (carried,)
    ledger.note(layout, ledger.STORED, to, tokens=size, session=session, sources=sources)
    if order.capsule and carried:
        size = tokens.estimate(order.capsule.body)
        ledger.note(
            layout, ledger.INJECTED, carried, tokens=size, to=to, session=session, agent=agent
        )


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
    if order.deliverables:
        row["deliverables"] = [{"source": p, "status": "waiting"} for p in order.deliverables]
    if order.capsule:
        row |= preparation.capsule_fields(order.capsule)
    return row | {"capsule_gaps": [], "head": order.commit}


def _progress(place: str, identity: str) -> str:
    return os.path.join(sandboxes.desk(place, identity), "progress.md")


def _start(
    layout: Layout, order: Order, command: str, session: str, hold: background.Hold
) -> dict[str, object]:
    """Make the sandbox and what is in it, start the command; the fields that change with that."""
    place = sandboxes.make(layout, order.type, order.id)
    run = layout.run(order.id)
    if order.capsule:
        copy = os.path.join(sandboxes.desk(place, order.id), "capsule.md")
        files.write(copy, order.capsule.whole)
    files.write(_progress(place, order.id), f"# Progress of {order.id}\n\n")
    files.write(os.path.join(run, "prompt.md"), prompts.assemble(layout, order))
    if not command:
        return {"status": "awaiting_manual_launch"}
    env = _environment(layout, order, session)
    pid = background.start(hold, run, place, command, order.timeout, env, _look(order))
    return {"status": "running", "launcher_handle": {"launcher": "sh", "pid": pid}}


def _look(order: Order) -> str:
    """The command that looks at a subagent: run at its end, so that nobody has to ask first."""
    import sys

    script = toolkit("scripts", "subagent_manager.py")
    return f"{prompts.quoted(sys.executable)} {prompts.quoted(script)} status --id={order.id}"


def _environment(layout: Layout, order: Order, session: str) -> dict[str, str]:
    """What an agent finds in its environment: the caller's, but for make's."""
    ours = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKEFILES", "GNUMAKEFLAGS"}
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
    rows = [row for row in registry.rows(layout) if row["id"] == identity]
    role = str(rows[0].get("role_prompt") or "") if rows else ""
    judge = prompts.Role(name=role, path="", text="") if role else None
    branch, _ = prompts.here(layout)
    own = [str(rows[0].get("scope_path") or "")] if rows else []
    chosen, notes, _ = preparation.choose(
        layout, wanted, judge, branch, [path for path in own if path]
    )
    if not chosen:
        return notes
    body = preparation.body_of(layout, chosen, Request(now=now, slug=identity, redact=True))
    whole = prompts.spliced(text, prompts.capsule_section(body))
    size, ceiling = tokens.estimate(whole), layout.limits.subagent_prompt_ceiling
    if size > ceiling:
        raise ContextError(f"with {body.path} it would have ~{size} tokens, above {ceiling}")
    files.write(path, whole)
    if rows:
        registry.update(layout, identity, **preparation.capsule_fields(body))
    return notes
