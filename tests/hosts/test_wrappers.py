"""make adopt writes a wrapper: a few files, and a toolkit that lives once for the user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from checkouts import UNSYNCED, a_toolkit, adopt, bring_byte_code, make
from conftest import CHECKOUT, LONG, each, git, rounds, seal
from contextkit.base import names
from contextkit.base.version import VERSION
from contextkit.hosts.documents import vendored

FOLDER = "tools/contextkit"
WRITTEN = {
    "Makefile", "CLAUDE.md", "AGENTS.md", ".claude/settings.json", ".codex/hooks.json",
    ".claude/skills/contextkit/SKILL.md", ".agents/skills/contextkit/SKILL.md",
    *(f"{FOLDER}/{name}" for name in ("Makefile", "install.sh", "guide.md", "scripts/hook.sh",
                                      vendored.RECORD)),
}  # fmt: skip


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of contextkit with one commit, and set up: what people clone."""
    folder = tmp_path_factory.mktemp("origin") / "contextkit"
    with pytest.MonkeyPatch.context() as patch:
        seal(patch, folder.parent.parent / f"{folder.parent.name}-home")
        a_toolkit(folder)
        for name in (
            "Makefile",
            "requirements.lock",
            "requirements.txt",
            "CHANGELOG.md",
            "README.md",
        ):
            shutil.copy2(CHECKOUT / name, folder)
        shutil.copytree(CHECKOUT / "bin", folder / "bin")
        (folder / ".gitignore").write_text(".venv\n__pycache__\n", encoding="utf-8")
        git("init", "-q", "-b", "main", str(folder))
        git("add", "-A", cwd=folder)
        git("commit", "-qm", "contextkit", cwd=folder)
        git("repack", "-a", "-d", "-q", cwd=folder)  # one file to copy in place of a thousand
    return folder


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder, still empty."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHONPATH", UNSYNCED)
    return tmp_path / "data" / "contextkit"


@pytest.fixture(scope="module")
def cloned(origin: Path) -> Path:
    """A clone of it, byte-compiled."""
    folder = origin.parent / "cloned"
    git("clone", "-q", str(origin), str(folder))
    bring_byte_code(folder)
    return folder


@pytest.fixture
def checkout(cloned: Path, tmp_path: Path) -> Path:
    """A copy of it, from which a project is adopted."""
    return Path(shutil.copytree(cloned, tmp_path / "checkout"))


def changed(repo: Path) -> set[str]:
    return set(git("status", "--porcelain", "-uall", cwd=repo).replace("??", "").split()) - {"M"}


def ready(place: Path) -> None:
    """Let a toolkit count as set up: these tests are not about the package index."""
    bring_byte_code(place)
    (place / ".venv").symlink_to(CHECKOUT / ".venv", target_is_directory=True)


def test_twelve_files_of_at_most_400_lines(repo: Path, checkout: Path, data: Path) -> None:
    (repo / "Makefile").write_text("all:\n\techo mine\n", encoding="utf-8")
    git("add", "-A", cwd=repo)
    git("commit", "-qm", "mine", cwd=repo)
    said = adopt(checkout, f"--into={repo}")
    assert "Makefile: changed, lines +4\n" in said and "\n+" not in said
    assert "asks before commands" in said and '"Bash(make -s payload_show:*)"' in said
    assert changed(repo) == WRITTEN
    lines = sum(len((repo / path).read_text(encoding="utf-8").splitlines()) for path in WRITTEN)
    assert lines <= 400
    assert (data / VERSION / "scripts" / "hook.sh").exists()
    assert not (data / VERSION / "tests").exists() and not (data / VERSION / ".git").exists()
    adopt(checkout, "unadopt", f"--into={repo}")
    assert changed(repo) == set()


def test_a_clone_on_another_machine_fetches_the_commit_that_is_pinned(
    repo: Path, checkout: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adopt(checkout, f"--into={repo}")
    git("add", "-A", cwd=repo)
    git("commit", "-qm", "adopted", cwd=repo)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    git("clone", "-q", str(repo), str(tmp_path / "clone"))
    os.chdir(tmp_path / "clone")
    (tmp_path / "clone" / "GNUmakefile").write_text(
        "all:\n\t@echo mine\ninclude Makefile\n", "utf-8"
    )
    assert make("-s", cwd=tmp_path / "clone").stdout == "mine\n"
    assert not (tmp_path / "elsewhere").exists(), "only a target of ours fetches"
    note = "a $(shell touch pwned) `touch pwned` \"x\" 'y' $HOME"
    home = tmp_path / "elsewhere" / "contextkit" / VERSION
    fetched = make("-s", "-n", "remember_later", f"m={note}", cwd=tmp_path / "clone").stderr
    assert f"fetching {VERSION}, once for all projects, into {home}/" in fetched
    ready(home)
    make("-s", "remember_later", f"m={note}", cwd=tmp_path / "clone")
    assert note in make("-s", "reminders", cwd=tmp_path / "clone").stdout
    assert not list(tmp_path.rglob("pwned"))


def test_where_the_toolkit_is_missing_a_target_of_the_project_stays_its_own(
    repo: Path, checkout: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "rules.mk").write_text("reminders:\n\t@echo mine\n", encoding="utf-8")
    adopt(checkout, f"--into={repo}")
    with open(repo / "Makefile", "a", encoding="utf-8") as file:
        file.write("include rules.mk\nrun:\n\t@echo ran $(c)\n")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    assert make("run", "c=x", "reminders", cwd=repo).stdout == "ran x\nmine\n"
    assert "No rule to make target 'runs'" in make("runs", cwd=repo, status=2).stderr
    assert not (tmp_path / "elsewhere").exists()
    fetched = make("-n", "run", "context_run", "c=y", "-f", "Makefile", cwd=repo)
    assert fetched.stderr.count("fetching") == 1 and "scripts/run.py" in fetched.stdout


def test_where_the_toolkit_is_missing_a_prefix_of_the_projects_own_fetches_it_too(
    repo: Path, checkout: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "Makefile").write_text("CONTEXTKIT_PREFIX := kit_\n", encoding="utf-8")
    adopt(checkout, f"--into={repo}")
    with open(repo / "Makefile", "a", encoding="utf-8") as file:
        file.write("kit_build:\n\t@echo mine\n")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    assert make("kit_build", cwd=repo).stdout == "mine\n"
    assert not (tmp_path / "elsewhere").exists()
    fetched = make("-n", "kit_reminders", cwd=repo)
    assert fetched.stderr.count("fetching") == 1 and "remember_later.py' list" in fetched.stdout


def test_what_does_not_have_the_hash_is_not_taken(
    repo: Path, checkout: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adopt(checkout, f"--into={repo}")
    makefile = repo / FOLDER / "Makefile"
    commit = git("rev-parse", "HEAD", cwd=checkout).strip()
    makefile.write_text(makefile.read_text("utf-8").replace(commit, "0" * 40), encoding="utf-8")
    failed = make("-s", "reminders", cwd=repo, status=2).stderr
    assert f"has no commit {'0' * 40}: has it been pushed?" in failed
    assert os.listdir(data) == [VERSION]


def test_hooks_fetch_nothing_and_say_once_what_to_do(
    repo: Path, checkout: Path, data: Path
) -> None:
    adopt(checkout, f"--into={repo}")
    shutil.rmtree(data)
    hook = repo / FOLDER / "scripts" / "hook.sh"
    for event, said in (("SessionStart", "make context_status"), ("SubagentStop", "")):
        done = subprocess.run(
            [hook, event, "--host=claude"], input="{}", capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert said in (json.loads(done.stdout)["systemMessage"] if done.stdout else "")
    assert not data.exists()


def test_a_hook_starts_the_toolkit_of_the_user(repo: Path, checkout: Path, data: Path) -> None:
    adopt(checkout, f"--into={repo}")
    hook = repo / FOLDER / "scripts" / "hook.sh"
    report = {"session_id": "s", "agent_id": "a", "agent_type": "x", "cwd": str(repo),
              "last_assistant_message": "# Report\n\n" + "It takes 52 ms. " * 400}  # fmt: skip
    done = subprocess.run(
        [hook, "SubagentStop", "--host=claude"], input=json.dumps(report), capture_output=True,
        text=True, env={**os.environ, "CLAUDE_PROJECT_DIR": str(repo)},
    )  # fmt: skip
    assert done.returncode == 0 and json.loads(done.stdout)["decision"] == "block"
    assert list((repo / "shared" / "payloads" / "s").glob("*.md"))


def test_another_commit_of_the_version_lies_beside_it(
    repo: Path, checkout: Path, data: Path
) -> None:
    adopt(checkout, f"--into={repo}")
    git("commit", "-q", "--allow-empty", "-m", "newer", cwd=checkout)
    said = adopt(checkout, f"--into={repo}")
    assert "asks before commands" not in said, "it was offered before"
    short = git("rev-parse", "HEAD", cwd=checkout)[:12]
    assert f"note: push {short} to " in said
    assert sorted(os.listdir(data)) == [VERSION, f"{VERSION}-{short}"]
    place = data / f"{VERSION}-{short}"
    ready(place)
    shown = make("-n", "reminders", cwd=repo).stdout
    assert f"{place}/scripts/remember_later.py" in shown


def test_a_copy_that_was_asked_for_stays_one_and_an_older_one_becomes_a_wrapper(
    repo: Path, checkout: Path, data: Path
) -> None:
    adopt(checkout, f"--into={repo}", "--copy")
    assert (repo / FOLDER / "scripts" / "payload_store.py").exists()
    adopt(checkout, f"--into={repo}")
    assert (repo / FOLDER / "scripts" / "payload_store.py").exists() and not data.exists()
    record = repo / FOLDER / vendored.RECORD
    found = json.loads(record.read_text(encoding="utf-8"))
    record.write_text(json.dumps({**found, "kind": ""}), encoding="utf-8")
    adopt(checkout, f"--into={repo}")
    assert not (repo / FOLDER / "scripts" / "payload_store.py").exists()
    assert changed(repo) == WRITTEN


def test_the_upgrade_of_a_wrapper_pins_the_newest_commit(
    repo: Path, origin: Path, data: Path, tmp_path: Path
) -> None:
    newer = tmp_path / "newer"
    git("clone", "-q", str(origin), str(newer))
    adopt(newer, f"--into={repo}")
    stated = newer / "scripts" / "contextkit" / "base" / "version.py"
    stated.write_text(stated.read_text("utf-8").replace(VERSION, "10.0.0"), encoding="utf-8")
    git("commit", "-qam", "10.0.0", cwd=newer)
    said = adopt(data / VERSION, "upgrade", f"--root={repo}", f"--to={newer}")
    assert f"from {VERSION} to 10.0.0 ({newer})" in said
    assert "# contextkit 10.0.0, pinned" in (repo / FOLDER / "Makefile").read_text("utf-8")
    assert sorted(os.listdir(data)) == sorted(["10.0.0", VERSION])


def test_a_wrapper_below_the_top_of_its_repository_is_found(
    repo: Path, checkout: Path, data: Path
) -> None:
    package = repo / "pkg"
    (package / "src").mkdir(parents=True)
    said = adopt(checkout, f"--into={package}")
    assert "note: documents and contextkit.yaml belong to the repository's root, .." in said
    ready(data / VERSION)
    said = make("-s", "doctor", "host=codex", cwd=package).stdout
    assert "Codex: no hooks are installed" not in said and "nothing is wrong" in said
    (package / FOLDER / "guide.md").unlink()
    said = make("-s", "-C", "..", "doctor", "host=codex", cwd=package / "src", status=2).stdout
    assert "pkg/tools/contextkit/guide.md: is missing" in said
    (checkout / "README.md").write_text("newer\n", encoding="utf-8")
    git("commit", "-qam", "newer", cwd=checkout)
    make("-s", "context_upgrade", f"to={checkout}", cwd=package)
    newer = git("rev-parse", "HEAD", cwd=checkout).strip()
    assert newer in (package / FOLDER / "Makefile").read_text(encoding="utf-8")
    assert not (repo / "tools").exists()


def test_an_origin_that_others_cannot_reach_is_said_and_so_is_what_to_do_about_it(
    repo: Path, checkout: Path, data: Path
) -> None:
    said = adopt(checkout, f"--into={repo}")
    assert "is a folder on this machine, which others cannot fetch from: git remote" in said
    commit = git("rev-parse", "HEAD", cwd=checkout).strip()
    words = ["sh", str(repo / FOLDER / "install.sh"), "/nowhere/kit", commit, "9.9.9"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stderr.endswith(
        "contextkit: /nowhere/kit could not be fetched: run make adopt again, from a checkout whose"
        " `origin` can be reached from here, or with copy=1\n"
    )


def test_a_checkout_without_an_origin_names_no_folder_of_its_machine(
    repo: Path, checkout: Path, data: Path
) -> None:
    git("remote", "remove", "origin", cwd=checkout)
    adopt(checkout, f"--into={repo}")
    said = adopt(data / VERSION, f"--into={repo}")
    assert "nothing to do" in said and "asks before commands" not in said
    assert str(checkout) not in (repo / FOLDER / "Makefile").read_text(encoding="utf-8")


@each("folder", [*(["a b", "it's"] if LONG else []), "  it's two  "])
def test_the_data_folder_may_have_any_name(
    repo: Path, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    data = tmp_path / folder / "d"
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    git("remote", "set-url", "origin", str(checkout), cwd=checkout)
    git("commit", "-q", "--allow-empty", "-m", "new", cwd=checkout)
    adopt(checkout, f"--into={repo}")
    ready(data / "contextkit" / VERSION)
    make("-s", "remember_later", "m=a note", cwd=repo)
    assert "a note" in make("-s", "reminders", cwd=repo).stdout
    git("commit", "-q", "--allow-empty", "-m", "newer", cwd=checkout)
    adopt(checkout, f"--into={repo}")
    (newer,) = (data / "contextkit").glob(f"{VERSION}-*")
    shutil.rmtree(newer)
    fetched = make("-s", "-n", "reminders", cwd=repo).stderr
    assert f"into {newer}/" in fetched and (newer / "Makefile").exists()
    shutil.rmtree(data / "contextkit" / VERSION)
    ready(newer)
    assert "a note" in make("-s", "reminders", cwd=repo).stdout


def test_many_at_once_install_one(checkout: Path, data: Path) -> None:
    commit = git("rev-parse", "HEAD", cwd=checkout).strip()
    install = checkout / "scripts" / "contextkit" / "hosts" / "install.sh"
    words = ["sh", str(install), str(checkout), commit, VERSION]
    running = [
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(rounds(4, 40))
    ]
    assert {process.communicate()[0] for process in running} == {f"{data / VERSION}\n"}
    assert os.listdir(data) == [VERSION]


def test_a_toolkit_without_a_commit_is_adopted_as_a_copy(
    repo: Path, checkout: Path, data: Path
) -> None:
    shutil.rmtree(checkout / ".git")
    adopt(checkout, f"--into={repo}")
    assert (repo / FOLDER / "scripts" / "payload_store.py").exists() and not data.exists()


def test_the_door_without_make_takes_the_words_of_make(repo: Path) -> None:
    door = CHECKOUT / "bin" / "contextkit"
    note = 'a $(x) `y` "z"'
    done = subprocess.run([door, "remember_later", f"m={note}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    listed = subprocess.run([door, "reminders", "json=1"], capture_output=True, text=True)
    assert json.loads(listed.stdout)[0]["note"] == note
    for words, said in (
        (["remindrs"], "there is no target 'remindrs' (did you mean 'reminders'?)"),
        (["nope"], f"there is no target 'nope': {names.word(str(door))} help lists them\n"),
        (["reminders", "tga=x"], "there is no variable tga= (did you mean 'tag'?)"),
        (["reminders", "x"], "'x': write it as name=value"),
    ):
        done = subprocess.run([door, *words], capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr


def test_the_door_explains_a_target(repo: Path) -> None:
    door = CHECKOUT / "bin" / "contextkit"
    asked = (["reminders", "--help"], ["help", "reminders"], ["reminders", "-h"])
    told = [subprocess.run([door, *words], capture_output=True, text=True) for words in asked]
    assert [one.returncode for one in told] == [0, 0, 0] and len({one.stdout for one in told}) == 1
    assert told[0].stdout.startswith("  reminders ") and "\n  tag= " in told[0].stdout
    assert all(len(line) < 80 for line in told[0].stdout.splitlines())
    general = subprocess.run([door, "--help"], capture_output=True, text=True).stdout
    assert "\n  payload_store " in general


class Installed:
    """What pip or uv knows of an installation from git."""

    def __init__(self, url: Path, commit: str) -> None:
        self._text = json.dumps({"url": f"file://{url}", "vcs_info": {"commit_id": commit}})

    def read_text(self, name: str) -> str:
        assert name == "direct_url.json"
        return self._text


def test_an_installation_from_git_puts_its_commit_there_and_calls_it(
    repo: Path, origin: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = git("rev-parse", "HEAD", cwd=origin).strip()
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed(origin, commit))
    subprocess.run(
        ["sh", CHECKOUT / "scripts/contextkit/hosts/install.sh", origin, commit, VERSION],
        check=True, capture_output=True,
    )  # fmt: skip
    (data / VERSION / "scripts" / "setup.py").write_text("", encoding="utf-8")  # not the index
    monkeypatch.setattr(sys, "argv", ["contextkit", "remember_later", "m=a note"])
    assert vendored.main() == 0
    assert "a note" in next((repo / "parallelus").rglob("remember-later.md")).read_text("utf-8")


def test_an_installation_by_name_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = SimpleNamespace(read_text=lambda _: None)
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: nothing)
    assert vendored.main() == 1
    assert "was not installed from git: clone it and use `make`" in capsys.readouterr().err
