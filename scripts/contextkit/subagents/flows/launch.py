"""The launch of a subagent: check everything, write the row, make the sandbox, start the command.

Nothing is written before the checks. A launch that is killed midway leaves a whole row or none; one
that fails removes its row again.
"""

from __future__ import annotations

import os
import sys

from contextkit.base import addresses, agents, files, git, names, redaction, sessions, tokens
from contextkit.base.errors import ContextError, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.version import toolkit
from contextkit.capsules.documents import items
from contextkit.capsules.flows import given
from contextkit.capsules.flows.given import Given
from contextkit.payloads.documents import receipts
from contextkit.reviews.documents import runs
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import background, prompts
from contextkit.subagents.flows.prompts import Order, Role

_MARK = "sandbox"  # a file in the folder of a subagent for which we made one
_NAMED = 3  # changed files to name, at most


def launch(layout: Layout, order: Order) -> registry.Row:
    """Write the row, make the sandbox, start the command if there is one; return the row."""
    session, _ = sessions.current(layout, "", order.now)
    files.inside(layout.root, os.path.dirname(layout.run(order.id)), "subagents")
    holds = []

    def make(identity: str) -> registry.Row | None:
        try:
            holds.append(background.hold(layout.run(identity)))
        except FileExistsError:
            return None
        return _row(layout, order.replace(id=identity))

    row = registry.add(layout, order.id, make)
    if order.id != row["id"]:
        order = order.replace(id=row["id"])
        order = order.replace(prompt=prompts.assemble(layout, order))
    try:
        changes = _start(layout, order, session, holds[0])
    except BaseException:
        registry.remove(layout, order.id)
        _undo(layout, order)
        raise
    finally:
        os.close(holds[0])
    _note(layout, order, session)

    def edit(row: registry.Row) -> None:
        seen = {} if row["status"] == "pending_launch" else {"status": row["status"]}
        row.update(changes | seen)  # a quick agent's own look may have recorded its end already

    return registry.change_row(layout, order.id, edit)


def _undo(layout: Layout, order: Order) -> None:
    """Remove what a failed launch made, without errors of its own: the first one matters."""
    try:
        _discard(layout.run(order.id))
        if order.type != "here" and is_ours(layout, order.id, layout.sandbox(order.id)):
            discard_sandbox(layout, order.type, order.id)
    except (ContextError, OSError):
        return


def _note(layout: Layout, order: Order, session: str) -> None:
    from contextkit.base import ledger

    to, size = f"subagent:{order.id}", tokens.estimate(order.prompt)
    carried = addresses.of(layout, layout.join(order.capsule.path)) if order.capsule else ""
    ledger.note(layout, ledger.STORED, to, tokens=size, session=session, sources=(carried,))
    if order.capsule:
        ledger.note(layout, ledger.INJECTED, carried, tokens=order.capsule.tokens, to=to,
                    session=session, agent=order.slug)  # fmt: skip


def _row(layout: Layout, order: Order) -> registry.Row:
    """A new row: the original's fields in their order, then ours."""
    place = registry.place(layout, order.type, order.id)
    run = layout.run(order.id)
    row: registry.Row = {
        "id": order.id, "type": order.type, "slug": order.slug, "path": layout.shown(place),
        "scope_path": order.scope.path if order.scope else "",
        "prompt_path": layout.shown(os.path.join(run, "prompt.md")),
        "log_path": layout.shown(os.path.join(run, "agent.log")),
        "progress_path": layout.shown(registry.desk(place, order.id, "progress.md")),
        "launcher": "cmd" if order.command else "manual", "status": "pending_launch",
        "launched_at": names.compact(order.now), "window_title": order.id,
        "launcher_kind": "sh" if order.command else "", "launcher_handle": None,
    }  # fmt: skip
    if order.role:
        row["role_prompt"] = order.role.name
    row |= {"source_commit": order.commit, "source_branch": order.branch}
    if order.timeout:
        row["timeout_seconds"] = order.timeout
    if order.deliverables:
        row["deliverables"] = [{"source": p, "status": "waiting"} for p in order.deliverables]
    if order.capsule:
        row |= capsule_fields(order.capsule)
    return row | {"capsule_gaps": [], "head": order.commit, "format": registry.FORMAT}


def _start(layout: Layout, order: Order, session: str, held: int) -> dict[str, object]:
    """Make the sandbox and its files and start the command; return the fields that changed."""
    place = _sandboxed(layout, order.type, order.id)
    run = layout.run(order.id)
    if order.capsule:
        files.write(registry.desk(place, order.id, "capsule.md"), order.capsule.whole)
    files.write(registry.desk(place, order.id, "progress.md"), f"# Progress of {order.id}\n\n")
    files.write(os.path.join(run, "prompt.md"), order.prompt)
    receipts.prepare(layout, order.id)
    if not order.command:
        return {"status": "awaiting_manual_launch"}
    env = _environment(layout, order, session)
    pid = background.start(held, run, place, order.command, order.timeout, env, _look(order))
    return {"status": "running", "launcher_handle": {"launcher": "sh", "pid": pid}}


def _look(order: Order) -> str:
    """The command that checks on a subagent; it is run when the subagent ends."""
    script = toolkit("scripts", "context.py")
    look = ("subagent_manager", "status", f"--id={order.id}", "--unattended")
    return " ".join(map(names.word, [sys.executable, script, *look]))


def _environment(layout: Layout, order: Order, session: str) -> dict[str, str]:
    """The environment of an agent: the caller's, without make's variables."""
    makes = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKEFILES", "GNUMAKEFLAGS",
             "MAKE_TERMOUT", "MAKE_TERMERR", *git.VARIABLES)  # fmt: skip
    return {
        **{name: value for name, value in os.environ.items()
           if name not in makes and not name.startswith("CONTEXTKIT_")},
        "CONTEXT_ROOT": layout.root, "SESSION_ID": session,
        "CONTEXT_AGENT": order.slug, "CONTEXT_SUBAGENT_ID": order.id,
    }  # fmt: skip


def splice(layout: Layout, prompt: str, identity: str, wanted: str, now: int) -> None:
    """Put the capsule into a prompt that another kit wrote, and its fields into that kit's row.

    Raises ContextError and changes nothing if that is impossible.
    """
    path = layout.typed(prompt, "prompt")
    text = files.read(path)
    if "\n## Context Capsule\n" in text:
        remark(f"{layout.shown(path)} has a capsule already")
        return
    row = next((row for row in registry.rows(layout) if row["id"] == identity), {})
    request = Request(now=now, slug=identity, capsule=wanted, redact=True)
    own = [str(row["scope_path"])] if row.get("scope_path") else []
    name = str(row.get("role_prompt") or "")
    role = Role(name=name, path="", text="") if name else None
    body, _ = choose(layout, request, role, git.head(layout.repository).name, own)
    if not body:
        return
    whole = prompts.spliced(text, prompts.capsule_section(body))
    size, ceiling = tokens.estimate(whole), layout.limits.subagent_prompt_ceiling
    if size > ceiling:
        raise ContextError(f"with {body.path} it would have ~{size} tokens, above {ceiling}")
    files.write(path, whole)
    if row:
        registry.update(layout, identity, **capsule_fields(body))


class Request(Record):
    """What the user asked for; `capsule` is a path, `latest`, `none`, or empty for the default."""

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
    deliverables: tuple[str, ...] = ()  # files it must leave, relative to its working folder

    def check(self) -> None:
        for path in self.deliverables:
            if os.path.isabs(path) or ".." in path.split("/") or not path.isprintable():
                raise bad_input(f"deliverables: {path[:80]!r} must be a path inside the sandbox")


def prepare(layout: Layout, request: Request) -> Order:
    """Read and check everything, write nothing. Raises ContextError for anything missing."""
    slug = names.slug(request.slug)
    if not slug:
        raise bad_input(f"slug: {request.slug!r} has no letter or digit: name the task")
    kind = request.type or "here"
    if kind != "here":
        _top_of(layout)
    head = git.head(layout.repository)
    role = prompts.read_role(layout, request.role)
    scope = prompts.read_scope(layout, request.scope)
    of_run = scope is not None and _is_prompt(layout, scope.path)
    if scope and of_run and not scope.whole:
        scope = scope.replace(text=files.read(layout.join(scope.path)), whole=True)
    if scope:
        allowed = layout.limits.secrets_allow
        text = redaction.checked(scope.text, f"scope: {scope.path}", allowed, request.redact)
        scope = scope.replace(text=text)
    own = [scope.path] if scope and not os.path.isabs(scope.path) else []
    asked = request.replace(capsule=request.capsule or ("none" if of_run else ""))
    task = scope.text if scope and prompts.MARK not in scope.text else ""
    body, lacking = choose(layout, asked, role, head.name, own, task)
    order = Order(
        now=request.now, id=f"{names.compact(request.now)}-{slug}", slug=slug, type=kind,
        branch=head.name, commit=head.commit, scope=scope, role=role, capsule=body,
        timeout=names.seconds(request.timeout, "timeout") if request.timeout else 0,
        deliverables=tuple(dict.fromkeys(map(os.path.normpath, request.deliverables))),
        verbatim=of_run and not (role or body),
        command=request.cmd.strip() or layout.limits.subagent_command, lacks_capsule=lacking,
    )  # fmt: skip
    prompt = prompts.assemble(layout, order)
    if not of_run:
        _check_committed(layout, order)
    _check_sizes(layout, order, prompt)
    if not order.command:
        layout.mention("subagent_command")
    return order.replace(prompt=prompt)


def _is_prompt(layout: Layout, path: str) -> bool:
    """Whether a scope is a prompt made by a review run: complete, and not a repository document."""
    folder, name = os.path.split(os.path.dirname(os.path.normpath(path)))
    folders = (run.output_dir for run in runs.load_all(layout).documents)
    return name == "prompts" and folder in folders


def choose(
    layout: Layout, request: Request, role: Role | None, branch: str, own: list[str], task: str = ""
) -> tuple[Given | None, bool]:
    """The capsule to give, and whether one is lacking. Raises ContextError.

    Commits to the paths `own` are not news. An agent whose `task` is a question gets an excerpt,
    unless the request says which capsule or how much of it.
    """
    wanted = request.capsule or (role.says("capsule") if role else "")
    if not wanted and role and role.judges:
        wanted = "none"
    if wanted == "none":
        return None, False
    if wanted in ("", "latest"):
        path, _ = given.newest(layout, branch, request.workstream)
    else:
        path = layout.typed(wanted, "capsule")
        if not os.path.isfile(path):
            raise bad_input(f"capsule: {layout.shown(path)} is not a file: a path, latest or none")
    if path:
        capsule = given.at(layout, path, branch, own)
        remark(*(f"{capsule.path}: since then: {line}" for line in capsule.news))
        capsule = _fitted(layout, capsule, request)
        asked_for = wanted or request.max_tokens
        if task and not asked_for and agents.asks(role.name if role else "", task):
            capsule = capsule.cut(items.excerpt(capsule.body, task) + "\n")
        return capsule, False
    how = "make one with `make capsule_prompt`, `make capsule_save`, and commit it"
    if wanted:
        raise bad_input(f"capsule: there is none on {branch or 'no branch'}: {how}")
    remark(f"no capsule on {branch or 'no branch'}: {how}")
    return None, True


def _fitted(layout: Layout, capsule: Given, request: Request) -> Given:
    """The capsule without secrets, trimmed to what the request allows."""
    allowed = layout.limits.secrets_allow
    name = f"capsule: {capsule.path}"
    whole, body = (redaction.checked(text, name, allowed, request.redact)
                   for text in (capsule.whole, capsule.body))  # fmt: skip
    capsule = capsule.replace(whole=whole).cut(body, False)
    if request.max_tokens:
        body, gone = items.trimmed(body, request.max_tokens, layout.limits.tokenizer)
        capsule = capsule.cut(body, bool(gone))
    return capsule


def _check_committed(layout: Layout, order: Order) -> None:
    """Require capsule and scope to be committed: refuse a clone or worktree, warn for `here`."""
    paths = [part.path for part in (order.capsule, order.scope) if part]
    open_ones = [path for path in paths if not os.path.isabs(path)  # else quoted from elsewhere
                 and _unseen(layout, layout.join(path))]  # fmt: skip
    words = " ".join(names.word(layout.found(path)) for path in open_ones)
    mend = f"git add {words} && git commit -m 'Context for {order.slug}' -- {words}"
    problem = f"not committed: {', '.join(open_ones)}: {mend}"
    if open_ones and order.type != "here":
        raise ContextError(f"{problem} (a {order.type} would not see it)")
    if open_ones:
        remark(problem)


def _check_sizes(layout: Layout, order: Order, prompt: str) -> None:
    """Warn about a large capsule. Raises ContextError for a prompt above the ceiling."""
    ceiling, percent = layout.limits.subagent_prompt_ceiling, layout.limits.capsule_warn_percent
    size = tokens.estimate(prompt)
    body = order.capsule.tokens if order.capsule else 0
    if size > ceiling:
        raise ContextError(
            f"the prompt has ~{size} tokens, above subagent_prompt_ceiling ({ceiling}); the"
            f" capsule has ~{body} of them: max_tokens= trims it, capsule=none leaves it out"
        )
    if body * 100 > ceiling * percent:
        remark(f"the capsule has ~{body} tokens, above {percent} % of the ceiling ({ceiling})")


def capsule_fields(body: Given) -> dict[str, object]:
    """The registry fields that describe the given capsule."""
    fields = ("sha256", "created_at", "tokens", "trimmed")
    return {"capsule": body.path, **{f"capsule_{name}": getattr(body, name) for name in fields}}


def _sandboxed(layout: Layout, kind: str, identity: str) -> str:
    """Make the sandbox at the commit that is checked out, or, raising ContextError, nothing."""
    folder = registry.place(layout, kind, identity)
    mark = os.path.join(layout.run(identity), _MARK)
    files.write(mark, f"{kind}\n")  # first: a partial one is ours too
    if kind == "here":
        return folder
    top, branch = _top_of(layout), registry.branch_of(identity)
    files.make_folder(os.path.dirname(files.inside(layout.root, folder, "sandbox")))
    try:
        if kind == "worktree":
            git.run(top, "worktree", "add", "-q", "-b", branch, folder, "HEAD")
        else:
            git.run(top, "clone", "-q", "--template=", top, folder)
        files.store(os.path.join(folder, ".contextkit"))
    except BaseException:
        discard_sandbox(layout, kind, identity)
        raise
    return folder


def _top_of(layout: Layout) -> str:
    """The work tree that sandboxes are made from. Raises ContextError if none can be."""
    if layout.repository is None or not git.head(layout.repository).commit:
        raise bad_input("type: a clone or worktree needs a git repository with a commit")
    return layout.repository.top


def _unseen(layout: Layout, path: str) -> bool:
    """Whether a clone or worktree would lack the file `path` in its current state."""
    top = layout.repository.top if layout.repository else ""
    real = os.path.realpath(path)
    if not top or not real.startswith(top + os.sep):
        return True
    committed = git.output(top, "ls-tree", "HEAD", "--", os.path.relpath(real, top)).split()
    there = git.output(top, "hash-object", "--", real).strip()
    return not there or there not in committed


def is_ours(layout: Layout, identity: str, folder: str) -> bool:
    """Whether `folder` is the sandbox that we made for this subagent."""
    sandbox = layout.sandbox(identity)
    is_same = os.path.realpath(folder) == os.path.realpath(sandbox)
    mark = os.path.join(layout.run(identity), _MARK)
    return is_same and not os.path.islink(sandbox) and os.path.isfile(mark)


def work_in(layout: Layout, kind: str, identity: str) -> list[str]:
    """The work that would be lost with the sandbox: changed files, commits on no other branch."""
    folder = layout.sandbox(identity)
    if not os.path.lexists(os.path.join(folder, ".git")):
        return ["files that git no longer knows"]  # git would answer for the enclosing repository
    work = []
    changed = git.run(folder, "status", "--porcelain", "--untracked-files=all").splitlines()
    if changed:
        named = ", ".join(names.one_line(line[3:]) for line in changed[:_NAMED])
        more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
        work.append(f"{names.counted(len(changed), 'changed file')} ({named}{more})")
    heads = git.run(folder, "for-each-ref", "--format=%(objectname)", "refs/heads", "refs/stash")
    is_worktree = kind == "worktree"
    own = (f"--exclude={registry.branch_of(identity)}",) * is_worktree
    tips = {git.run(folder, "rev-parse", "HEAD").strip(), *([] if is_worktree else heads.split())}
    top = _top_of(layout)
    lost = [tip for tip in sorted(tips) if _is_lost(top, tip, own)]
    if lost:
        but = "" if any(_is_lost(top, tip) for tip in lost) else " but its own"
        work.append(f"commits on no branch{but} ({', '.join(tip[:12] for tip in lost)})")
    return work


def _is_lost(top: str, tip: str, without: tuple[str, ...] = ()) -> bool:
    """Whether no branch holds a commit, except those excluded by the options `without`."""
    others = ("--not", *without, "--branches", "--remotes")
    try:
        return bool(git.run(top, "rev-list", "--max-count=1", tip, *others).strip())
    except ContextError:
        return True  # the repository does not even have the commit


def discard_sandbox(layout: Layout, kind: str, identity: str) -> None:
    """Remove one of our sandboxes and any worktree branch; the caller has checked both."""
    folder = layout.sandbox(identity)
    if kind == "worktree" and layout.repository is not None:
        top = layout.repository.top
        if os.path.exists(os.path.join(folder, ".git")):
            try:
                git.run(top, "worktree", "remove", "--force", folder)
            except ContextError:  # partial: its maker was killed
                _discard(folder)
                git.run(top, "worktree", "prune")
        if git.commit_of(layout.repository, f"refs/heads/{registry.branch_of(identity)}"):
            git.run(top, "branch", "-q", "-D", registry.branch_of(identity))
    _discard(folder)


def _discard(folder: str) -> None:
    import shutil

    if os.path.isdir(folder) and not os.path.islink(folder):
        shutil.rmtree(folder)
