"""owned.py and files.py: the state folder is ours, and no store is reached through a link."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import Script, each, git
from contextkit.base import files, owned
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.hosts.flows import runner

STATE = Path(".contextkit")


def commit(*paths: str) -> None:
    git("add", "-f", *paths)
    git("commit", "-q", "-m", "what a stranger brings")


def put(path: Path, text: str = "x\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def state() -> str:
    return Layout().state


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted([folder, *folder.rglob("*")])
    }


@pytest.mark.parametrize("version", ["2", "3", "4", "split"])
@pytest.mark.parametrize("name", [".contextkit/machine", ".contextkit/a/b/c"])
def test_what_git_tracks_there_is_refused_as_a_whole(repo: Path, version: str, name: str) -> None:
    for other in ("vendor/.contextkit/machine", ".contextkit-x/y", ".contextkits", "z" * 200):
        put(Path(other))
    git("add", "-f", ".")
    put(STATE / "own")
    assert state() == str(repo / STATE)
    put(Path(name))
    commit(name)
    if version == "3":
        git("add", "-N", str(put(Path("later"))))
    if version == "split":
        git("update-index", "--split-index")
    if version == "4":
        git("update-index", "--index-version", "4")
    with pytest.raises(ContextError, match=r"git tracks it, .*: git rm -rf '.*/\.contextkit'"):
        state()
    git("rm", "-r", "-q", "-f", name)
    assert state() == str(repo / STATE)


def test_a_root_below_the_top_and_a_submodule_are_searched_too(repo: Path) -> None:
    put(Path("sub/.contextkit/machine"))
    commit("sub")
    assert state()
    with pytest.raises(ContextError, match="git tracks it"):
        print(Layout("sub").state)
    STATE.mkdir()
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},.contextkit")
    with pytest.raises(ContextError, match="git tracks it"):
        state()


def test_doctor_names_a_state_that_is_not_ours_once(repo: Path, run: Script) -> None:
    put(STATE / "machine")
    git("add", "-f", ".")
    assert run("doctor") == 1
    assert "git tracks it" in run.out and run.err == ""


def test_what_goes_away_while_it_is_looked_at_is_no_failure(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(files.store(layout.state))
    (folder / ".draft.tmp").write_text("", encoding="utf-8")
    scan = os.scandir

    class Scanned:
        """What is listed, of which a draft is gone before anybody looks at it."""

        def __init__(self, place: str) -> None:
            self._entries = list(scan(place))
            (folder / ".draft.tmp").unlink()

        def __enter__(self) -> list[os.DirEntry[str]]:
            return self._entries

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", Scanned)
    owned.check(str(folder), None)


def test_what_another_user_owns_is_refused(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(STATE / "machine")
    assert state()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(ContextError, match=r"belongs to another user: .*chown"):
        state()


@pytest.mark.parametrize("at", ["", "locks", "ledger", "sessions", "drafts", "memory", "hooks"])
def test_a_link_at_the_top_of_the_state_is_refused_and_nothing_outside_changes(
    repo: Path, run: Script, at: str
) -> None:
    outside = repo.parent / "outside"
    put(outside / "kept/x.lock")
    if at:
        STATE.mkdir()
    (STATE / at).symlink_to(outside)
    before = snapshot(outside)
    for event in ("SessionStart", "SubagentStart", "SubagentStop", "Stop", "SessionEnd"):
        given = {"session_id": "kept", "cwd": str(repo), "last_assistant_message": "word " * 3000,
                 "agent_id": "a1", "agent_type": "x"}  # fmt: skip
        said = runner.run([event], json.dumps(given).encode())
        assert ("contextkit does nothing here" in said) == (event == "SessionStart")
    assert (
        run(
            "payload_store", "store", "--topic=x", "--source=y", "--session=s", stdin="word " * 3000
        )
        == 1
    )
    assert "is a symbolic link" in run.err
    assert run("doctor", "--host=claude") == 1 and "is a symbolic link" in run.out
    assert snapshot(outside) == before


@pytest.mark.parametrize("store", ["memory", "payload", "verdict", "handoff", "capsule"])
@pytest.mark.parametrize("above", [0, 1])
def test_no_store_is_reached_through_a_link(repo: Path, store: str, above: int) -> None:
    outside = repo.parent / "outside"
    outside.mkdir()
    place = Path(Layout().store(store))
    place = place.parents[above - 1] if above else place
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(outside)
    with pytest.raises(ContextError, match=r"is a symbolic link.*: a store must be a real folder"):
        Layout().store(store)


def test_below_a_store_nothing_is_read_written_removed_or_locked_through_a_link(
    repo: Path,
) -> None:
    outside = put(repo.parent / "outside/file").parent
    before = snapshot(outside)
    store = Path(Layout().memory)
    store.mkdir(parents=True)
    (store / "link").symlink_to(outside)
    (store / "file").symlink_to(outside / "file")
    through = str(store / "link/file")
    for act in (
        lambda: files.read(through), lambda: files.write(through, "y"),
        files.locked(through).__enter__,
        lambda: files.discard(through), lambda: files.append(through, "y"),
        lambda: files.rename(through, str(store / "mine")), lambda: files.touch(through),
        lambda: files.make_folder(str(store / "link/new")), lambda: files.read(str(store / "file")),
        lambda: files.append(str(store / "file"), "y"),
        lambda: files.create(through, "y"),
    ):  # fmt: skip
        with pytest.raises(ContextError, match="is a symbolic link"):
            act()
    with pytest.raises(OSError, match="symbolic links"):
        files.touch(str(store / "file"))
    assert snapshot(outside) == before and not (store / "mine").exists()


@each("length", [13, 65, 90, 4095, 5000])
def test_an_index_is_searched_in_its_own_terms(length: int) -> None:
    path = b".ContextKit/".ljust(length, b"x")
    entry = bytes(60) + min(length, 0xFFF).to_bytes(2, "big") + path + b"\0"
    extended = bytes(60) + entry[60:62] + b"\x20\0" + path + b"\0"
    assert owned._in_index(entry, b".contextkit", True)
    assert owned._in_index(extended, b".contextkit", True)
    assert owned._in_index(entry, b".ContextKit", False)
    assert not owned._in_index(entry, b".contextkit", False)
    assert not owned._in_index(entry, b".context", True)
    below = bytes(60) + b"\x0f\x20vendor/" + path + b"\0"
    assert not owned._in_index(below, b".contextkit", True)
