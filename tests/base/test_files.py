"""files.py: whole files, old or new and never half, also when many write or one is killed."""

from __future__ import annotations

import errno
import itertools
import os
import random
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import SCRIPTS, each, git, rounds
from contextkit.base import files
from contextkit.base.errors import ContextError
from hypothesis import given
from hypothesis import strategies as st

IMPORTS = "import os, resource, sys, time\nfrom contextkit.base import files"


def start_python(code: str, *arguments: str, stdin: int | None = None) -> subprocess.Popen[str]:
    """A real process that runs `code`."""
    return subprocess.Popen(
        [sys.executable, "-S", "-c", f"{IMPORTS}\n{code}", *arguments],
        stdin=stdin if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
    )


def at_once(code: str, count: int) -> None:
    """`count` processes that run `code` at the same moment, each with its number as argument."""
    gate, opener = os.pipe()
    code = f"os.read(0, 1)\nnumber = sys.argv[1]\n{code}"
    processes = [start_python(code, str(number), stdin=gate) for number in range(count)]
    os.close(gate)
    os.close(opener)  # all of them read the end of their input
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert (process.returncode, errors) == (0, "")


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def drafts() -> list[str]:
    return sorted(name for name in os.listdir() if name.endswith(".tmp"))


@pytest.fixture
def mask() -> Iterator[None]:
    old = os.umask(0o027)
    yield
    os.umask(old)


# Reading


@given(text=st.text())
def test_what_is_written_is_read(text: str) -> None:
    assert files.read(files.write("doc.md", text)) == text


def test_a_file_that_cannot_be_read_is_named_with_the_reason() -> None:
    Path("latin.md").write_bytes(b"caf\xe9")
    for path, reason in (
        ("latin.md", r"latin\.md: not UTF-8 \(byte 3\)"),
        (".", r"\.: cannot be read: Is a directory"),
        ("gone.md", r"gone\.md: cannot be read: No such file"),
    ):
        with pytest.raises(ContextError, match=reason):
            files.read(path)


def test_only_a_missing_file_reads_as_none() -> None:
    os.symlink("nowhere", "dangling")
    assert files.read_if_there("gone.md") is None
    with pytest.raises(ContextError, match="dangling: cannot be read"):
        files.read_if_there("dangling")


# Writing


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o666])
def test_a_replaced_file_keeps_its_permissions(mode: int, mask: None) -> None:
    Path("doc.md").touch()
    os.chmod("doc.md", mode)
    files.write("doc.md", "new")
    files.append("doc.md", "newer")
    assert stat.S_IMODE(os.stat("doc.md").st_mode) == mode
    assert files.read("doc.md") == "new\nnewer\n"


def test_a_new_file_has_the_usual_permissions(mask: None) -> None:
    made = [files.write("a/b.md", "x"), files.create("a/c.md", "x"), files.append("a/d.md", "x")]
    assert {stat.S_IMODE(os.stat(path).st_mode) for path in made} == {0o640}


def test_append_keeps_the_old_bytes_whatever_they_are() -> None:
    Path("log").write_bytes(b"\xff\r\nold\n")
    files.append("log", "ü")
    assert Path("log").read_bytes() == b"\xff\r\nold\n" + "ü\n".encode()


@pytest.mark.parametrize(("old", "between"), [("", ""), ("a\n", ""), ("a", "\n"), ("\n", "")])
def test_a_line_is_appended_below_a_line_without_its_end(old: str, between: str) -> None:
    Path("log").write_text(old, encoding="utf-8")
    files.append("log", "b")
    assert files.read("log") == f"{old}{between}b\n"


def test_a_name_as_long_as_a_name_can_be_is_written() -> None:
    name = "€" * 85  # 255 bytes
    files.write(name, "x")
    assert os.listdir() == [name]


def test_half_a_character_is_refused_before_anything_is_written() -> None:
    for write in (files.write, files.create, files.append):
        with pytest.raises(ContextError, match=r"doc\.md: the text holds U\+D800") as refusal:
            write("new/doc.md", "a\ud800")
        assert refusal.value.status == 2
    assert os.listdir() == []


def test_a_file_in_the_way_of_a_folder_is_named() -> None:
    Path("notes").touch()
    for path in ("notes/doc.md", "notes/deep/doc.md"):
        with pytest.raises(ContextError, match="a file is in the way of this folder"):
            files.write(path, "x")


Write = Callable[[str, str], str]


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("call", ["fsync", "fchmod", "replace"])
@pytest.mark.parametrize("failure", [full, interrupted])
@pytest.mark.parametrize("write", [files.write, files.append])
def test_a_write_that_fails_leaves_the_old_file_and_no_draft(
    write: Write, failure: Callable[..., None], call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("doc.md").write_text("old", encoding="utf-8")
    monkeypatch.setattr(os, call, failure)
    with pytest.raises((OSError, KeyboardInterrupt)):
        write("doc.md", "new")
    assert (os.listdir(), files.read("doc.md")) == (["doc.md"], "old")


@pytest.mark.parametrize("call", ["fsync", "link"])
def test_a_create_that_fails_leaves_nothing(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space left") as failed:
        files.create("doc.md", "new")
    assert os.listdir() == []
    assert call == "link" or failed.value.filename == "doc.md"  # a full disk names no file


def test_an_interrupt_right_after_the_replace_stays_an_interrupt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replace = os.replace

    def replaced(draft: str, path: str) -> None:
        replace(draft, path)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", replaced)
    with pytest.raises(KeyboardInterrupt):
        files.write("doc.md", "new")
    assert os.listdir() == ["doc.md"]


@pytest.mark.parametrize("verb", ["write", "append", "create"])
def test_a_disk_that_takes_only_the_beginning_leaves_the_old_file(verb: str) -> None:
    Path("doc.md").write_text("old", encoding="utf-8")
    child = start_python(
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "try: getattr(files, sys.argv[1])('doc.md', 'x' * 1_000_000)\n"
        "except OSError as error: print(error.strerror)",
        verb,
    )
    out, errors = child.communicate(timeout=300)
    assert (out, errors) == ("File too large\n", "")
    assert (os.listdir(), files.read("doc.md")) == (["doc.md"], "old")


# Creating


@each(
    ("name", "second", "third"),
    [
        ("20251023T180500Z.md", "20251023T180500Z-2.md", "20251023T180500Z-3.md"),
        ("README", "README-2", "README-3"),
        ("v1.2/notes", "v1.2/notes-2", "v1.2/notes-3"),
        (".keep", ".keep-2", ".keep-3"),
    ],
)
def test_a_name_that_is_taken_gets_a_number(name: str, second: str, third: str) -> None:
    made = [files.create(name, text) for text in "abc"]
    assert made == [name, second, third]
    assert [files.read(path) for path in made] == ["a", "b", "c"]


def test_exact_refuses_a_name_that_is_taken_and_leaves_what_is_there() -> None:
    files.create("doc.md", "first", exact=True)
    with pytest.raises(FileExistsError):
        files.create("doc.md", "second", exact=True)
    assert (os.listdir(), files.read("doc.md")) == (["doc.md"], "first")


def test_processes_with_one_name_create_a_file_each() -> None:
    many = rounds(16, 40)
    at_once("files.create('at-once.md', number * 1000)", many)
    names = sorted(os.listdir())
    assert names == sorted(["at-once.md"] + [f"at-once-{n}.md" for n in range(2, many + 1)])
    assert {files.read(name) for name in names} == {str(n) * 1000 for n in range(many)}


# Many writers, many readers


def test_processes_append_a_line_each_under_the_lock() -> None:
    many = rounds(16, 40)
    at_once("with files.locked('locks/log.lock'): files.append('log', number)", many)
    assert sorted(map(int, files.read("log").split())) == list(range(many))


def test_a_reader_never_sees_half_a_file() -> None:
    old, new = "a" * 300_000, "b" * 200_000
    files.write("doc", old)
    writer = start_python(
        "while True: files.write('doc', 'b' * 200_000); files.write('doc', 'a' * 300_000)"
    )
    seen: list[str] = []
    give_up = time.monotonic() + 300
    while (len(seen) < 200 or new not in seen) and time.monotonic() < give_up:
        seen.append(files.read("doc"))
    writer.kill()
    writer.communicate()
    assert set(seen) == {old, new}


def test_a_killed_writer_leaves_the_old_file_or_the_new_and_a_draft_that_is_swept() -> None:
    chance = random.Random(7)
    endless = (
        "for n in range(10**9): files.write('doc', f'{n}\\n' * 30_000); n or print(flush=True)"
    )
    for _ in range(rounds(30, 100)):
        writer = start_python(endless)
        said(writer)
        time.sleep(chance.uniform(0, 0.004))
        writer.kill()
        writer.communicate()
        lines = files.read("doc").split("\n")
        assert (len(lines), set(lines[:-1]), lines[-1]) == (30_001, {lines[0]}, "")
    left = drafts()
    assert left, "no kill fell into a write: the test proves nothing"
    assert files.sweep(".", time.time() + 3500) == 0
    assert drafts() == left
    assert files.sweep(".", time.time() + 3700) == len(left)
    assert os.listdir() == ["doc"]


def test_a_sweep_touches_only_drafts_of_ours() -> None:
    kept = [".notes.tmp", "doc.md.0123456789ab.tmp", ".doc.md.0123456789xy.tmp", ".a.tmp", "x.tmp"]
    for name in kept:
        Path(name).touch()
    Path(".folder.0123456789ab.tmp").mkdir()
    os.symlink("x.tmp", ".link.0123456789ab.tmp")
    Path(".doc.md.0123456789ab.tmp").touch()
    assert files.sweep(".", time.time() + 10_000) == 1
    assert set(os.listdir()) == {*kept, ".folder.0123456789ab.tmp", ".link.0123456789ab.tmp"}


# Locks

WAITING = """
import fcntl
real = fcntl.flock
def told(*arguments):
    print('waiting', flush=True)
    real(*arguments)
fcntl.flock = told
with files.locked('locks/a.lock'): print('in', flush=True)
"""


def remove_file() -> None:
    os.unlink("locks/a.lock")


def remove_folder() -> None:
    shutil.rmtree("locks")


@each("remove", [remove_file, remove_folder])
def test_a_lock_file_removed_while_a_process_waits_lets_only_one_in(
    remove: Callable[[], None],
) -> None:
    first, second = files.locked("locks/a.lock"), files.locked("locks/a.lock")
    first.__enter__()
    waiter = start_python(WAITING)
    assert said(waiter) == "waiting"
    remove()
    second.__enter__()  # on a new file, which the waiting process has not opened
    first.__exit__(None, None, None)
    assert said(waiter) == "waiting"  # it got the old file, saw that, and queued again
    second.__exit__(None, None, None)
    assert waiter.communicate(timeout=300) == ("in\n", "")


def test_a_folder_that_goes_before_the_lock_file_is_opened_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make, calls = files.make_folder, []

    def make_and_lose(folder: str) -> None:
        make(folder)
        calls.append(folder)
        if len(calls) == 1:
            os.rmdir(folder)

    monkeypatch.setattr(files, "make_folder", make_and_lose)
    with files.locked("locks/a.lock"):
        assert os.path.isfile("locks/a.lock")
    assert len(calls) == 2


def test_a_killed_holder_gives_its_lock_back() -> None:
    holder = start_python("with files.locked('a.lock'): print('in', flush=True); time.sleep(600)")
    assert said(holder) == "in"
    holder.kill()
    holder.communicate()
    with files.locked("a.lock"):
        assert os.listdir() == ["a.lock"]  # and is never removed


def test_a_lock_file_that_is_a_link_is_not_followed() -> None:
    os.symlink("precious", "a.lock")
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)), files.locked("a.lock"):
        pass
    assert os.listdir() == ["a.lock"]


def test_a_file_where_the_folder_of_locks_should_be_is_named() -> None:
    Path("locks").touch()
    refused = pytest.raises(ContextError, match="locks: a file is in the way of this folder")
    with refused, files.locked("locks/a.lock"):
        pass


# Stores and paths


def test_a_store_hides_itself_from_git_and_keeps_rules_that_were_edited(repo: Path) -> None:
    files.write(os.path.join(files.store("a/store"), "doc.md"), "x")
    assert git("status", "--porcelain") == ""
    Path("a/store/.gitignore").write_text("edited\n", encoding="utf-8")
    assert files.store("a/store", "other\n") == "a/store"
    assert files.read("a/store/.gitignore") == "edited\n"


def test_a_hidden_store_hides_with_whatever_is_written_in_it_first(repo: Path) -> None:
    places = [f"{repo}/store-{number}" for number in range(4)]
    for place in places:
        files.keep(str(repo), place, hidden=True)
        assert not os.path.exists(place)
    files.write(f"{places[0]}/deep/doc.md", "x")
    files.make_folder(f"{places[1]}/deep")
    with files.locked(f"{places[2]}/a.lock"):
        pass
    files.write(f"{places[3]}/.gitignore", "*\n!mine\n")
    assert git("status", "--porcelain") == ""
    assert files.read(f"{places[3]}/.gitignore") == "*\n!mine\n", "its own rules are left alone"
    assert all(files.read(f"{place}/.gitignore") == "*\n" for place in places[:3])
    files.discard(f"{places[0]}/.gitignore")
    files.write(f"{places[0]}/doc.md", "x")
    assert files.read(f"{places[0]}/.gitignore") == "*\n", "somebody had removed it"


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize("target", ["elsewhere", "nowhere"])
def test_a_store_that_is_a_link_is_refused(target: str, slash: str) -> None:
    Path("elsewhere").mkdir()
    os.symlink(target, "store")
    with pytest.raises(ContextError, match=r"store/?: is a symbolic link"):
        files.store("store" + slash)
    assert os.listdir("elsewhere") == [] and not os.path.exists("nowhere")


def test_a_folder_of_a_store_that_became_a_link_is_refused_by_the_next_command() -> None:
    Path("store/inner").mkdir(parents=True)
    Path("store/inner/a.md").write_text("ours", encoding="utf-8")
    place = os.path.abspath("store/inner/a.md")
    files.keep(os.getcwd(), os.path.abspath("store"))
    assert files.read(place) == "ours"
    os.rename("store/inner", "away")
    os.symlink("../away", "store/inner")
    files.keep(os.getcwd(), os.path.abspath("store"))
    with pytest.raises(ContextError, match="inner: is a symbolic link"):
        files.read(place)


@pytest.mark.parametrize("path", ["root/a.md", "root/new/b.md", "root/x/../a.md", "root/link/a.md"])
def test_a_path_inside_is_given_back_with_its_links_followed(path: str) -> None:
    Path("root").mkdir()
    os.symlink(".", "root/link")
    os.symlink("root", "alias")
    assert files.inside("alias", path, "file") == os.path.realpath(path)


@pytest.mark.parametrize(
    "path",
    ["root/../a.md", "root-2/a.md", "/etc/passwd", "root", "root/out/a.md", "root/up.md", "a\0b"],
)
def test_a_path_outside_is_refused_by_the_name_of_its_field(path: str) -> None:
    Path("root").mkdir()
    Path("away").mkdir()
    os.symlink("../away", "root/out")
    os.symlink("../../up.md", "root/up.md")
    with pytest.raises(ContextError, match=r"^file: ") as refusal:
        files.inside("root", path, "file")
    assert refusal.value.status == 2


# Power cuts


def calls_of(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is asked of the disk from here on, in order: (call, path)."""
    calls: list[tuple[str, str]] = []
    fsync, replace, link, mkdir = os.fsync, os.replace, os.link, os.mkdir

    def synced(descriptor: int) -> None:
        calls.append(("fsync", os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    def replaced(old: str, new: str) -> None:
        calls.append(("replace", new))
        replace(old, new)

    def linked(old: str, new: str, **options: bool) -> None:
        calls.append(("link", new))
        link(old, new, **options)

    def made(path: str, mode: int = 0o777) -> None:
        calls.append(("mkdir", path))
        mkdir(path, mode)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    monkeypatch.setattr(os, "link", linked)
    monkeypatch.setattr(os, "mkdir", made)
    return calls


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="/proc names what is synced")
@pytest.mark.parametrize("make", [files.write, files.create])
def test_a_new_name_is_on_the_disk_once_it_is_settled(
    make: Callable[[str, str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.settle()
    calls = calls_of(monkeypatch)
    path = make(f"{tmp_path}/a/b/c.md", "x")
    files.settle()
    kinds = [kind for kind, _ in calls]
    named = max(kinds.index(kind) for kind in ("replace", "link") if kind in kinds)
    assert calls[named][1] == path
    assert next(place for kind, place in calls[:named] if kind == "fsync").endswith(".tmp")
    folders = {place for kind, place in calls[named:] if kind == "fsync"}
    assert folders == {f"{tmp_path}", f"{tmp_path}/a", f"{tmp_path}/a/b"}
    calls.clear()
    files.settle()
    assert calls == []


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="/proc names what is synced")
def test_what_is_owed_or_renamed_is_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = calls_of(monkeypatch)
    path = files.write(f"{tmp_path}/x.md", "x", derived=True)
    files.make_folder(f"{tmp_path}/b")
    files.settle()
    assert path not in {place for kind, place in calls if kind == "fsync"}
    files.owed(path)
    files.rename(files.write(f"{tmp_path}/y.md", "y", derived=True), f"{tmp_path}/b/y.md")
    calls.clear()
    files.settle()
    folders = {place for kind, place in calls if kind == "fsync"}
    assert folders == {path, f"{tmp_path}", f"{tmp_path}/b"}


def test_a_folder_that_went_away_is_settled(tmp_path: Path) -> None:
    files.write(f"{tmp_path}/a/x.md", "x")
    shutil.rmtree(tmp_path / "a")
    files.settle()


def test_a_disk_that_cannot_sync_a_folder_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.write(f"{tmp_path}/x.md", "x")

    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output"):
        files.settle()


def test_names_are_tried_until_one_is_free(sealed: Path) -> None:
    tried = files.numbered("a/b.tar", ".md")
    assert [next(tried) for _ in range(3)] == ["a/b.tar.md", "a/b.tar-2.md", "a/b.tar-3.md"]
    assert list(itertools.islice(files.numbered("a", mark="_"), 2)) == ["a", "a_2"]
    for name in ("x.broken", "x.broken-2"):
        Path(name).touch()
    Path("x.broken-3").symlink_to("nowhere")
    assert files.free("x.broken") == "x.broken-4" and files.free("y") == "y"


def test_what_is_no_text_is_read_as_nothing_where_that_is_asked_for(tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    odd.write_bytes(b"\xff\n")
    assert files.text_of(str(odd)) == files.first_line(str(tmp_path / "missing")) == ""
