"""Everything about a launch that can be known before anything is written.

the capsule     the branch's newest fresh one, unless somebody names another or none
the checks      in git, no secrets, not above the ceiling
"""

from __future__ import annotations

import os

from contextkit.base import files, names, redaction, references, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.documents import trim
from contextkit.capsules.flows import drift
from contextkit.reviews.documents import runs
from contextkit.subagents.flows import prompts, sandboxes
from contextkit.subagents.flows.prompts import Body, Order, Role


class Request(Record):
    """What the user asked for; `capsule` is a path, `latest`, `none`, or empty for the usual.

    deliverables: files that it is to leave, relative to where it works.
    """

    now: int
    slug: str
    role: str = ""
    scope: str = ""
    capsule: str = ""
    workstream: str = ""
    cmd: str = ""
    type: str = ""
    timeout: str = ""
    max_tokens: int | None = None
    redact: bool = False
    deliverables: tuple[str, ...] = ()


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
    if kind != "here":
        sandboxes.top_of(layout)
    branch, commit = prompts.here(layout)
    role = prompts.read_role(layout, request.role)
    scope = prompts.read_scope(layout, request.scope)
    of_run = scope is not None and _is_prompt(layout, scope.path)
    if scope and of_run and not scope.whole:
        scope = scope.replace(text=files.read(layout.join(scope.path)), whole=True)
    if scope:
        allowed = layout.limits.secrets_allow
        text = redaction.checked(scope.text, f"scope: {scope.path}", allowed, request.redact)
        scope = scope.replace(text=text)
    own = [scope.path] if scope else []
    wanted = request.capsule or ("none" if of_run else "")
    path, notes, lacking = choose(layout, wanted, role, branch, own, request.workstream)
    body = body_of(layout, path, request) if path else None
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
        deliverables=_deliverables(request.deliverables),
        verbatim=of_run and not (role or body),
    )
    prompt = prompts.assemble(layout, order)
    unseen = [] if of_run else _uncommitted(layout, order)
    warnings = [*notes, *unseen, *_sizes(layout, order, prompt)]
    command = request.cmd.strip() or layout.limits.subagent_command
    return Prepared(
        order=order,
        prompt=prompt,
        command=command,
        warnings=tuple(warnings),
        lacks_capsule=lacking,
    )


def _is_prompt(layout: Layout, path: str) -> bool:
    """Whether a scope is the prompt that a review run made: it says all that its agent needs, and
    is no document of the repository.
    """
    folder, name = os.path.split(os.path.dirname(os.path.normpath(path)))
    return name == "prompts" and any(
        run.output_dir == folder for run in runs.load_all(layout).documents
    )


def _deliverables(given: tuple[str, ...]) -> tuple[str, ...]:
    """The files as a row keeps them. Raises ContextError for one outside of the sandbox."""
    for path in given:
        if os.path.isabs(path) or ".." in path.split("/") or not path.isprintable():
            raise bad_input(f"deliverables: {path[:80]!r} must be a path inside the sandbox")
    return tuple(dict.fromkeys(map(os.path.normpath, given)))


def choose(
    layout: Layout, asked: str, role: Role | None, branch: str, own: list[str], workstream: str = ""
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
    path = capsules.latest(layout, branch, workstream) if branch else ""
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


def body_of(layout: Layout, path: str, request: Request) -> Body:
    """What of a capsule goes into the prompt. Raises ContextError for a stub or no capsule."""
    found = capsules.load(layout, path)
    shown = layout.shown(path)
    allowed = layout.limits.secrets_allow
    whole = redaction.checked(found.body, f"capsule: {shown}", allowed, request.redact)
    most = request.max_tokens
    body, gone = trim.trimmed(whole, most) if most else (whole, [])
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
    open_ones = [path for path in given if sandboxes.unseen(layout, layout.join(path))]
    if not open_ones:
        return []
    words = " ".join(prompts.quoted(path) for path in open_ones)
    said = (
        f"not committed: {', '.join(open_ones)}:"
        f" git add {words} && git commit -m 'Context for {order.slug}' -- {words}"
    )
    if order.type != "here":
        raise ContextError(f"{said} (a {order.type} would not see it)")
    return [said]


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


def capsule_fields(body: Body) -> dict[str, object]:
    """What a row of the registry says of the capsule that was given."""
    return {
        "capsule": body.path,
        "capsule_sha256": body.sha256,
        "capsule_created_at": body.created_at,
        "capsule_tokens": body.tokens,
        "capsule_trimmed": body.trimmed,
    }
