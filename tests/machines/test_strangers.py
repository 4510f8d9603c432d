"""A clone and a remote are strangers: nothing of them is run, reached or read as our own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import Script, git, trusted
from contextkit.base import files, owned
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.machines.flows.engines import folder
from contextkit.reviews.documents import runs
from contextkit.reviews.flows import workers
from git_servers import bare
from simulated_machines import Machine
from test_git_remotes import clone

HOOKS = ("pre-receive", "update", "post-receive", "post-update", "reference-transaction",
         "proc-receive", "pre-auto-gc")  # fmt: skip


def trap(place: Path, ran: Path) -> None:
    """A repository that runs something whenever git lets it."""
    for name in HOOKS:
        hook = place / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f'#!/bin/sh\ncat > /dev/null\necho "$0" >> "{ran}"\n', encoding="utf-8")
        hook.chmod(0o755)
    evil = f"echo config >> '{ran}'; :"
    for name, value in (
        ("core.hooksPath", str(place / "hooks")), ("core.alternateRefsCommand", evil),
        ("core.fsmonitor", evil), ("core.sshCommand", evil), ("core.pager", evil),
        ("uploadpack.packObjectsHook", evil),
    ):  # fmt: skip
        git("config", name, value, cwd=place)
    (place / "objects/info").mkdir(exist_ok=True)
    (place / "objects/info/alternates").write_text(f"{place}.more/objects\n", encoding="utf-8")


@pytest.mark.parametrize("named", ["path", "file", "rewritten", "pushurl"])
def test_a_repository_behind_a_local_path_runs_none_of_its_own_programs(
    sealed: Path, named: str
) -> None:
    hub, ran = bare(sealed / "vendor/cache.git"), sealed.parent / "ran"
    bare(sealed / "vendor/cache.git.more")
    trap(hub, ran)
    address = {"path": str(hub), "file": f"file://{hub}"}.get(named, "https://hub.example/x.git")
    one = clone(sealed / "one", address)
    if named == "rewritten":
        git("config", f"url.{sealed}/vendor/cache.git.insteadOf", address, cwd=one.root)
    if named == "pushurl":
        git("config", "remote.origin.url", str(hub), cwd=one.root)
        git("config", "remote.origin.pushurl", f"file://{hub}", cwd=one.root)
    one.find_out("ui", "# one\n")
    assert one.push().rows
    one.pull()
    assert not ran.exists(), ran.read_text(encoding="utf-8")
    git("push", "-q", str(hub), "HEAD:refs/heads/x", cwd=_one_commit(sealed / "control"))
    assert ran.exists()  # the trap does work


def _one_commit(place: Path) -> Path:
    place.mkdir()
    git("init", "-q", cwd=place)
    git("commit", "-q", "--allow-empty", "-m", "one", cwd=place)
    return place


def test_the_ext_protocol_is_off_even_where_the_settings_allow_it(sealed: Path) -> None:
    one = clone(sealed / "one", f"ext::touch {sealed}/ran")
    git("config", "protocol.ext.allow", "always", cwd=one.root)
    one.find_out("ui", "# one\n")
    for move in (one.push, one.pull):
        with pytest.raises(ContextError, match="transport 'ext' not allowed"):
            move()
    assert not (sealed / "ran").exists()


def test_what_git_fetched_lies_outside_the_repository_and_goes_with_it(sealed: Path) -> None:
    hub = bare(sealed / "hub.git")
    one = clone(sealed / "one", str(hub))
    inside = one.root / ".contextkit/sync/git"
    files.make_folder(str(inside.parent))
    git("init", "-q", "--bare", str(inside))
    trap(inside, sealed / "ran")
    git("config", f"url.ext::touch {sealed}/ran .insteadOf", str(hub), cwd=inside)
    one.find_out("ui", "# one\n")
    one.push()
    one.pull()
    assert not (sealed / "ran").exists()
    first = Path(folder(one.layout))
    assert first.is_relative_to(owned.user_folder("CACHE")) and (first / "HEAD").exists()
    one.root.rename(sealed / "elsewhere")
    clone(sealed / "two", str(hub)).pull()
    assert not first.exists()


def test_a_run_of_another_machine_brings_no_command(sealed: Path, run: Script) -> None:
    hub = bare(sealed / "hub.git")
    one, other = clone(sealed / "one", str(hub)), clone(sealed / "other", str(hub))
    started = runs.Run(
        id="20261122T100000Z-000001", process="flux-drive", mode="review", roster=("ui",),
        output_dir="docs/research/flux-drive/x", started_at="2026-11-22T10:00:00Z",
    )  # fmt: skip
    runs.save(one.layout, started)
    text = json.loads(runs.render(started)) | {"notify": f"touch {sealed}/ran"}
    Path(runs.path(one.layout, started.id)).write_text(json.dumps(text), encoding="utf-8")
    files.write(runs.path(one.layout, started.id, ".notify"), f"touch {sealed}/ran")
    one.push()
    other.pull()
    there = Layout(str(other.root))
    assert runs.load(there, started.id).id == started.id
    assert not os.path.exists(runs.path(there, started.id, ".notify"))
    files.write(runs.output_path(there, started, "ui"), "# done\n")
    assert not workers.notify(there, started.id, 1_800_000_000)
    assert not (sealed / "ran").exists()


@pytest.mark.parametrize("first", ["one", "other"])
def test_whether_our_run_has_ended_is_not_for_another_machine_to_say(
    sealed: Path, first: str
) -> None:
    hub = bare(sealed / "hub.git")
    one, other = clone(sealed / "one", str(hub)), clone(sealed / "other", str(hub))
    started = runs.Run(
        id="20261122T100000Z-000001", process="flux-drive", mode="review", roster=("ui",),
        output_dir="docs/research/flux-drive/x", started_at="2026-11-22T10:00:00Z",
    )  # fmt: skip
    runs.save(one.layout, started)
    third = clone(sealed / "third", str(hub))
    one.push()
    other.pull()
    third.pull()
    seen = runs.load(Layout(str(other.root)), started.id)
    assert seen == started
    runs.save(other.layout, seen.replace(ended="they say so", missed=("ui",), notified_at="x"))
    other.push()
    one.pull()
    ours = runs.load(Layout(str(one.root)), started.id)
    assert (ours.ended, ours.missed) == ("", ()) and ours.notified_at == "x"
    runs.save(one.layout, ours.replace(ended="withdrawn"))
    one.push()
    third.pull(source=f"{os.uname().nodename} {first}")
    third.pull()  # it has the run from us, and from nobody else
    assert runs.load(Layout(str(third.root)), started.id).ended == "withdrawn"


def test_a_push_through_a_hostile_clone_that_was_trusted_still_runs_no_hook(
    sealed: Path, run: Script
) -> None:
    one = Machine(sealed / "one", "")
    git("init", "-q", cwd=one.root)
    trap(bare(one.root / "vendor/cache.git"), sealed / "ran")
    bare(one.root / "vendor/cache.git.more")
    trusted("sync: ./vendor/cache.git\n", one.root)
    one.find_out("ui", "# one\n")
    os.chdir(one.root)
    assert run("context_sync", "push") == 0
    assert not (sealed / "ran").exists()
