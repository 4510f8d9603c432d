"""Pushing to and pulling from real git repositories: by file, http-backend and daemon."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from conftest import git, rounds
from contextkit.base.errors import ContextError
from contextkit.machines.flows import remotes
from contextkit.machines.flows.engines import folder
from git_servers import bare, by_daemon, over_http
from simulated_machines import Machine, killed_at

NAME = ".temp/memory/findings/ui_20261122T100000.md"


@contextmanager
def served(folder: Path, how: str) -> Iterator[str]:
    ways = {"http": over_http, "daemon": by_daemon}
    with ways[how](folder) if how in ways else nullcontext(str(folder)) as url:
        yield f"{url}/hub.git"


def clone(root: Path, remote: str) -> Machine:
    """A machine whose root is a git repository with `remote` as its origin."""
    machine = Machine(root, "")
    git("init", "-q", cwd=root)
    git("remote", "add", "origin", remote, cwd=root)
    return machine


def refs(hub: Path) -> dict[str, str]:
    listed = git("for-each-ref", "--format=%(refname) %(objectname)", cwd=hub).split()
    return dict(zip(listed[::2], listed[1::2], strict=True))


@pytest.mark.parametrize("how", ["file", "http", "daemon"])
def test_two_clones_share_what_they_store(sealed: Path, how: str) -> None:
    hub = bare(sealed / "hub.git")
    with served(sealed, how) as url:
        one, other = clone(sealed / "one", url), clone(sealed / "other", url)
        topic = one.store("s-1", "auth", "the whole text\n")
        one.find_out("ui", "# Finding\n")
        one.remember("of one")
        other.remember("of the other")
        sent = [row.id for row in one.push().rows if row.did == "sent"]
        name = topic.removesuffix(".md")
        assert sent == [
            "finding:ui_20261122T100000", f"payload:s-1/{name}", "reminder:remember-later.md",
        ]  # fmt: skip
        taken = {row.id: row.did for row in other.pull().rows if row.did != "history"}
        assert taken == {sent[0]: "taken", sent[1]: "taken", sent[2]: "merged"}
        assert not other.pull().rows
        other.push()
        one.pull()
        assert one.contents() == other.contents()
        assert len(one.contents()["inbox"]) == 2
        one.find_out("ui", "# Finding, again\n")
        one.push()
        other.pull()
        assert one.contents() == other.contents()
    found = refs(hub)
    assert f"refs/contextkit/{one.id}" in found and len(found) == 2
    for commit in found.values():
        assert "parent" not in git("cat-file", "-p", commit, cwd=hub)
    plain = sealed / "plain"
    git("clone", "-q", str(hub), str(plain))
    assert not git("for-each-ref", cwd=plain), "a plain clone gets nothing"
    assert git("for-each-ref", cwd=one.root) == git("log", "--all", cwd=one.root) == ""


def test_no_hook_that_stands_in_the_copy_of_the_remote_is_run(sealed: Path) -> None:
    """The control at the end shows that the hook does run when git is asked in the usual way."""
    hub = bare(sealed / "hub.git")
    one, other = clone(sealed / "one", str(hub)), clone(sealed / "other", str(hub))
    for machine in (one, other):
        machine.push()
        machine.pull()
        hook = Path(folder(machine.layout), "hooks/reference-transaction")
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f'#!/bin/sh\necho "$0" >> "{sealed}/ran"\n', encoding="utf-8")
        hook.chmod(0o755)
    one.find_out("ui", "# Finding\n")
    assert one.push().rows and other.pull().rows
    assert not (sealed / "ran").exists()
    git("update-ref", "refs/heads/x", next(iter(refs(hub).values())),
        cwd=Path(folder(other.layout)))  # fmt: skip
    assert (sealed / "ran").exists()


def packed(hub: Path) -> int:
    """The bytes of all objects of a repository, loose and packed."""
    files = (hub / "objects").rglob("*")
    return sum(path.stat().st_size for path in files if path.is_file())


def test_only_what_is_new_is_sent_and_fetched(sealed: Path) -> None:
    hub = bare(sealed / "hub.git")
    git("config", "receive.unpackLimit", "1", cwd=hub)
    one, other = clone(sealed / "one", str(hub)), clone(sealed / "other", str(hub))
    for number in range(60):
        one.find_out(f"a{number}", os.urandom(3000).hex())
    one.push()
    other.pull()
    before, fetched = packed(hub), packed(Path(folder(other.layout)))
    assert before > 150_000
    one.find_out("b", "one more\n")
    assert [row.id for row in one.push().rows] == ["finding:b_20261122T100000"]
    other.pull()
    assert packed(hub) - before < 10_000
    assert packed(Path(folder(other.layout))) - fetched < 10_000


def test_a_push_of_nothing_asks_nobody(sealed: Path) -> None:
    hub = bare(sealed / "hub.git")
    one = clone(sealed / "one", str(hub))
    one.find_out("ui", "text\n")
    one.push()
    shutil.move(hub, sealed / "away.git")
    assert not one.push().rows


def test_versions_that_do_not_know_of_each_other_are_both_kept(sealed: Path) -> None:
    hub = bare(sealed / "hub.git")
    one, other = clone(sealed / "one", str(hub)), clone(sealed / "other", str(hub))
    one.find_out("ui", "# one\n")
    path = other.find_out("ui", "# other\n")
    one.push()
    report = other.pull()
    beside = f"{NAME}.from-{one.id}"
    assert [(row.did, row.to) for row in report.rows] == [("beside", beside)]
    assert beside in report.text
    assert path.read_text(encoding="utf-8") == "# other\n"
    assert (other.root / beside).read_text(encoding="utf-8") == "# one\n"
    # Both agree: the one puts the text for both in place, the other takes the copy of it.
    path.write_text("# both\n", encoding="utf-8")
    (other.root / beside).unlink()
    other.push()
    (row,) = one.pull().rows
    assert row.did == "beside"
    assert (one.root / NAME).read_text(encoding="utf-8") == "# one\n"
    (one.root / row.to).rename(one.root / NAME)
    one.push()
    assert not other.pull().rows and not one.pull().rows


def test_what_was_removed_here_does_not_come_back(sealed: Path) -> None:
    hub = bare(sealed / "hub.git")
    one, other = clone(sealed / "one", str(hub)), clone(sealed / "other", str(hub))
    one.find_out("ui", "# one\n")
    one.push()
    other.pull()
    (other.root / NAME).unlink()
    one.find_out("qa", "# more\n")
    one.push()
    assert [row.id for row in other.pull().rows] == ["finding:qa_20261122T100000"]
    assert not (other.root / NAME).exists()
    (one.root / NAME).unlink()
    assert [row.did for row in one.push().rows] == ["withdrawn"]
    third = clone(sealed / "third", str(hub))
    assert [row.id for row in third.pull().rows] == ["finding:qa_20261122T100000"]


def test_a_machine_that_left_no_head_is_passed_over(sealed: Path) -> None:
    hub = bare(sealed / "hub.git")
    one, other = clone(sealed / "one", str(hub)), clone(sealed / "other", str(hub))
    one.find_out("ui", "# one\n")
    one.push()
    empty = git("commit-tree", git("mktree", cwd=hub).strip(), "-m", "x", cwd=hub).strip()
    git("update-ref", "refs/contextkit/aaaaaaaaaaaa", empty, cwd=hub)
    assert [row.did for row in other.pull().rows] == ["taken"]


def test_a_session_that_ended_there_ends_here_and_can_be_resumed(sealed: Path) -> None:
    hub = bare(sealed / "hub.git")
    one, other = clone(sealed / "one", str(hub)), clone(sealed / "other", str(hub))
    name = one.store("s-1", "auth", "text\n")
    one.push()
    other.pull()
    one.end("s-1")
    one.push()
    assert ("ended", "session:s-1") in [(row.did, row.id) for row in other.pull().rows]
    assert not (other.root / "shared/payloads/s-1").exists()
    assert list((other.root / ".contextkit/ended").iterdir()), "within the grace it can come back"
    more = one.store("s-1", "again", "more\n")
    with one.clock() as now:
        from contextkit.payloads.flows import retention

        with retention.session_lock(one.layout, "s-1"):
            retention.resume(one.layout, "s-1", now)
    one.push()
    other.pull()
    other.push()
    one.pull()
    there = {path.name for path in (other.root / "shared/payloads/s-1").glob("*.md")}
    assert there == {name, more}
    assert one.contents() == other.contents()


@pytest.mark.parametrize("looks", [False, True], ids=["blind", "after a look"])
@pytest.mark.parametrize("first", ["one", "copy"])
@pytest.mark.parametrize("kind", ["git", "folder"])
def test_of_a_folder_and_its_copy_the_second_to_push_becomes_a_machine_of_its_own(
    kind: str, first: str, looks: bool, sealed: Path
) -> None:
    one = clone(sealed / "one", str(bare(sealed / "hub.git")))
    one.remote = f"file://{sealed}/share" if kind == "folder" else ""
    one.find_out("ui", "# one\n")
    one.push()
    shutil.copytree(one.root, sealed / "copy")
    copy = Machine(sealed / "x", one.remote)
    copy.root = sealed / "copy"
    for machine, name in ((one, "a"), (copy, "b")):
        machine.find_out(name, f"# {name}\n")
    for machine in (one, copy) if first == "one" else (copy, one):
        if looks:
            remotes.listed(machine.layout, machine.remote, [])
        assert "sent" in [row.did for row in machine.push().rows]
    assert len(remotes.listed(one.layout, one.remote, [])) == 2
    for machine in (one, copy):
        machine.pull()
    assert one.contents() == copy.contents()
    assert len(one.contents()) == 6


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_a_step_of_a_push_the_next_one_completes(sealed: Path, after: bool) -> None:
    for step in range(1 + after, 40, rounds(6, 1)):
        hub = bare(sealed / f"hub{step}.git")
        one = clone(sealed / f"one{step}", str(hub))
        one.find_out("ui", "# one\n")
        whole = False
        with killed_at(step, after):
            one.push()
            whole = True
        one.push()
        other = clone(sealed / f"other{step}", str(hub))
        assert [row.id for row in other.pull().rows] == ["finding:ui_20261122T100000"]
        one.find_out("qa", "# more\n")
        assert [row.id for row in one.push().rows] == ["finding:qa_20261122T100000"]
        if whole:
            return
    raise AssertionError("the last step was never reached")


def test_a_remote_that_cannot_be_reached_is_an_error_that_names_it(sealed: Path) -> None:
    one = clone(sealed / "one", f"{sealed}/nowhere.git")
    one.find_out("ui", "# one\n")
    with pytest.raises(ContextError, match=r"remote origin: git fetch failed: fatal: .*nowhere"):
        one.push()
    with pytest.raises(ContextError, match="no git remote 'upstream'; known: origin"):
        remotes.engine(one.layout, "upstream")


def test_a_password_in_a_url_is_not_repeated(sealed: Path) -> None:
    url = "http://ada:hunter2@127.0.0.1:9/hub.git"
    one = clone(sealed / "one", url)
    one.find_out("ui", "# one\n")
    one.remote = url
    with pytest.raises(ContextError) as failure:
        one.push()
    assert "hunter2" not in str(failure.value)
    kept = [p.read_bytes() for p in (one.root / ".contextkit").rglob("*") if p.is_file()]
    assert not any(b"hunter2" in data for data in kept)


@pytest.mark.parametrize("folder", ['it\'s "hubs"!', "a=b"])
def test_how_a_remote_is_reached_comes_from_the_settings_of_the_repository(
    folder: str, sealed: Path
) -> None:
    """As a token that CI puts into the clone's own settings, or another name for a URL."""
    version = git("--version").split()[2].split(".")
    if "=" in folder and (int(version[0]), int(version[1])) < (2, 31):
        pytest.skip("git before 2.31 takes no such name from outside")
    (sealed / folder).mkdir()
    bare(sealed / folder / "hub.git")
    one = clone(sealed / "one", "hub:hub.git")
    git("config", f"url.{sealed}/{folder}/.insteadOf", "hub:", cwd=one.root)
    one.find_out("ui", "# one\n")
    assert len(one.push().rows) == 1


def test_the_own_repository_of_the_user_is_not_touched(sealed: Path) -> None:
    hub = bare(sealed / "hub.git")
    one = clone(sealed / "one", str(hub))
    before = subprocess.run(["ls", "-lR", str(one.root / ".git")], capture_output=True).stdout
    one.find_out("ui", "# one\n")
    one.push()
    one.pull()
    after = subprocess.run(["ls", "-lR", str(one.root / ".git")], capture_output=True).stdout
    assert before == after
