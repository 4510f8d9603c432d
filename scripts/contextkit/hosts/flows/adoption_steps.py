"""Carry out a plan of `adoption`: show it as a diff, write it, and clean up."""

from __future__ import annotations

import difflib
import os
import shutil

from contextkit.base import files
from contextkit.hosts.documents import vendored
from contextkit.hosts.documents.vendored import Adopted
from contextkit.hosts.flows.adoption_parts import host_files
from contextkit.hosts.flows.adoption_plan import Change, Plan


def diff(plan: Plan) -> str:
    """Return the changes to a host's files line by line, ours as a count, and the notes."""
    lines: list[str] = []
    ours: dict[str, int] = {}
    for change in plan.changes:
        if change.ours:
            what = "removed" if change.new is None else "new" if change.old is None else "replaced"
            ours[what] = ours.get(what, 0) + 1
            continue
        lines += _diff_of(change)
    if ours:
        counted = ", ".join(f"{count} {what}" for what, count in ours.items())
        lines.append(f"files of contextkit's own: {counted}")
    lines += [f"note: {note}" for note in plan.notes]
    return "\n".join(lines)


def _diff_of(change: Change) -> list[str]:
    old, new = (
        (data or b"").decode("utf-8", "surrogateescape").splitlines()
        for data in (change.old, change.new)
    )
    before = "/dev/null" if change.old is None else change.path
    after = "/dev/null" if change.new is None else change.path
    found = list(difflib.unified_diff(old, new, before, after, lineterm=""))
    return found or [f"--- {before}", f"+++ {after}"]


def carry_out(plan: Plan) -> None:
    """Write the plan: a record of both states, the files, then the record of the new state.

    If this is killed in between, the next run recognizes every file as ours, in either state.
    """
    record_path = os.path.join(plan.into, plan.record_path)
    gone = not plan.record.hosts
    if not gone:
        between = {
            path: list(dict.fromkeys([*plan.before.files.get(path, []), *digests]))
            for path, digests in {**plan.before.files, **plan.record.files}.items()
        }
        _write_record(plan, record_path, plan.record.replace(files=between))
    for change in plan.changes:
        path = os.path.join(plan.into, change.path)
        if change.new is None:
            _unlink(path)
        else:
            files.write(path, change.new)
    for name in plan.programs:
        path = os.path.join(plan.into, name)
        if not os.access(path, os.X_OK):
            os.chmod(path, 0o755)
    _remove_drafts(plan)
    if gone:
        _sweep(plan, record_path)
    else:
        _write_record(plan, record_path, plan.record)


def _write_record(plan: Plan, path: str, record: Adopted) -> None:
    if plan.record_path.startswith(".contextkit"):
        files.store(os.path.dirname(path))
    text = vendored.render(record)
    if files.read_if_there(path) != text:
        files.write(path, text)


def _remove_drafts(plan: Plan) -> None:
    """Remove the drafts of a run that was killed, such as `.Makefile.….tmp` beside the Makefile."""
    written = [*plan.before.files, *plan.record.files, plan.record_path, *host_files()]
    names: dict[str, set[str]] = {}
    for path in written:
        names.setdefault(os.path.dirname(path), set()).add(os.path.basename(path))
    for folder, ours in names.items():
        place = os.path.join(plan.into, folder)
        for name in os.listdir(place) if os.path.isdir(place) else ():
            if files.is_draft(name) and name[1:-17] in ours:
                _unlink(os.path.join(place, name))


def _sweep(plan: Plan, record_path: str) -> None:
    """Clean up after the last file: what set-up and Python left, the record, and empty folders."""
    state = os.path.dirname(record_path)
    if plan.record_path.startswith(".contextkit"):
        _unlink(record_path)
        if os.path.isdir(state) and os.listdir(state) == [".gitignore"]:
            _unlink(os.path.join(state, ".gitignore"))
    elif plan.before.hosts:
        _remove_made(state)
        _unlink(record_path)
    for path in sorted(plan.before.made, key=len, reverse=True):
        if path.endswith("/"):
            try:
                os.rmdir(os.path.join(plan.into, path))
            except OSError:
                continue  # it holds something of the host's


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass  # an earlier run got this far


def _remove_made(folder: str) -> None:
    if os.path.isfile(os.path.join(folder, ".venv", "contextkit.mk")):
        shutil.rmtree(os.path.join(folder, ".venv"), ignore_errors=True)
    for here, inside, _ in os.walk(folder):
        if "__pycache__" in inside:
            inside.remove("__pycache__")
            shutil.rmtree(os.path.join(here, "__pycache__"), ignore_errors=True)
