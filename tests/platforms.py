"""make test_platforms: README's commands on other Debians, Pythons, gits and makes; needs root.

    python3 tests/platforms.py [FOLDER [PLATFORM …]]

Builds minimal Debian roots in FOLDER, which are used again the next time (without one, in a
temporary folder that is removed), and runs `make demo` and `make test` in each, as root and as
an ordinary user: no HOME, the C locale, umask 077, no git identity, a blank and an umlaut in the
path. Debian's mirror is the one that apt uses here; pip's settings come from the environment and
/etc/pip.conf. Beside each root lies the log of each run. A table on stdout says how they ended;
the exit status is 1 when one failed.

GNU make 4.0 and 3.81 are in no Debian of today: they are tried when `make-4.0` and `make-3.81`
are programs on the PATH, else the table says that they were not.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGES = "python3,python3-venv,make,git"
TOOLS = ("debootstrap", "unshare", "chroot", "git", "apt-get")
COMMANDS = ("demo", "test")  # README's
PLACE = "Größe zwei/contextkit"
LONGEST = 3600  # seconds for a command; one that hangs must not hang everything
# What a package installer may take from this machine: settings and certificates.
PASSED = re.compile(r"PIP_\w+|\w*SSL_\w+|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|\w+_proxy", re.I)
HOST = "include tools/contextkit/Makefile\n"
HOSTS_GOAL = "all:\n\t@echo the host\n"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# What runs below is in a mount and a process namespace of its own: it leaves nothing behind.
INSIDE = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$@"'


class Platform(NamedTuple):
    """A root: `suite` of Debian, with git from `git_suite` where that is another one."""

    name: str
    suite: str
    git_suite: str = ""


PLATFORMS = (
    Platform("bookworm", "bookworm"),
    Platform("trixie", "trixie"),
    Platform("testing", "testing"),
    Platform("bookworm-git2.30", "bookworm", "bullseye"),
)


class Row(NamedTuple):
    platform: str
    python: str
    git: str
    make: str
    user: str
    what: str
    outcome: str


def main(arguments: list[str]) -> int:
    problem = missing()
    wanted = arguments[1:] or [*(platform.name for platform in PLATFORMS), "makes"]
    unknown = set(wanted) - {"makes", *(platform.name for platform in PLATFORMS)}
    if unknown:
        problem = f"there is no platform {', '.join(sorted(unknown))}"
    if problem:
        print(f"test_platforms: {problem}", file=sys.stderr)
        return 1
    if arguments and arguments[0]:
        return run(Path(arguments[0]).resolve(), wanted)
    with tempfile.TemporaryDirectory() as folder:
        return run(Path(folder), wanted)


def missing() -> str:
    """What keeps this from being done here, with what to do; empty if nothing does."""
    if os.geteuid() != 0:
        return "needs root, to make Debian roots: run it with sudo, or in a container"
    tools = [name for name in TOOLS if shutil.which(name) is None]
    if tools:
        return f"needs {', '.join(tools)}: on Debian, apt install debootstrap git util-linux"
    if not mirror():
        return "apt knows no mirror of Debian here: run apt-get update on a Debian"
    return ""


def mirror() -> str:
    """Debian's mirror as apt is configured here."""
    form = ("--format", "$(REPO_URI) $(ORIGIN) $(LABEL)", "Created-By: Packages")
    listed = subprocess.run(["apt-get", "indextargets", *form], capture_output=True, text=True)
    lines = [line.split() for line in listed.stdout.splitlines()]
    return next((words[0] for words in lines if words[1:] == ["Debian", "Debian"]), "")


def run(folder: Path, wanted: list[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    for platform in PLATFORMS:
        if platform.name in wanted:
            root = built(platform, folder)
            for user in ("root", "ada"):
                rows += of_user(root, user)
    if "makes" in wanted:
        rows += of_makes(built(PLATFORMS[0], folder))
    print(table([Row("platform", "python", "git", "make", "user", "what", "outcome"), *rows]))
    return int(any(row.outcome.startswith("FAILED") for row in rows))


def built(platform: Platform, folder: Path) -> Path:
    """The root of a platform, ready to be worked in."""
    root = folder / platform.name
    ready = folder / f"{platform.name}.ready"
    if not ready.exists():
        say(f"{platform.name}: debootstrap")
        shutil.rmtree(root, ignore_errors=True)
        install = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}"]
        logged(folder / f"{platform.name}.log", [*install, platform.suite, str(root), mirror()])
        if platform.git_suite:
            older_git(root, platform)
        useradd = ["useradd", "--create-home", "ada"]
        subprocess.run(["chroot", str(root), *useradd], check=True)
        ready.touch()
    for path in ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf"):
        bring(root, path)
    for value in passed().values():
        for path in re.sub(r"file://", "", value).split():
            bring(root, path)
    return root


def older_git(root: Path, platform: Platform) -> None:
    """Another suite's git in place of the root's own."""
    source = f"deb {mirror()} {platform.git_suite} main\n"
    (root / "etc/apt/sources.list.d/git.list").write_text(source, encoding="utf-8")
    wanted = f"Package: git git-man\nPin: release n={platform.git_suite}\nPin-Priority: 1001\n"
    (root / "etc/apt/preferences").write_text(wanted, encoding="utf-8")
    bring(root, "/etc/resolv.conf")
    apt(root, "update")
    apt(root, "install", "--yes", "--allow-downgrades", "git")


def apt(root: Path, *arguments: str) -> None:
    log = root.with_name(f"{root.name}.log")
    logged(log, inside(root, "root", f"apt-get --quiet {shlex.join(arguments)}"))


def bring(root: Path, name: str) -> None:
    """A file of this machine to the same place in a root, or a folder that the root has not."""
    source, target = Path(name), root / name.lstrip("/")
    if not name.startswith("/") or not source.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        if not target.exists():
            shutil.copytree(source, target, ignore_dangling_symlinks=True)
    else:
        target.unlink(missing_ok=True)
        shutil.copyfile(source, target)


def passed() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if PASSED.fullmatch(name)}


def inside(root: Path, user: str, command: str, path: str = PATH) -> list[str]:
    """The call that runs a shell command in a root, with next to nothing in its environment."""
    variables = {"PATH": path, "LC_ALL": "C", **passed()}
    return [
        *("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", INSIDE, str(root)),
        *(f"--userspec={user}:{user}", str(root), "env", "-i"),
        *(f"{name}={value}" for name, value in variables.items()),
        *("sh", "-c", f"umask 077; {command}"),
    ]


def logged(log: Path, call: list[str], check: bool = True) -> int:
    """The exit status of a call whose output goes to the end of a log."""
    with open(log, "ab") as file:
        try:
            status = subprocess.run(
                call, stdin=subprocess.DEVNULL, stdout=file, stderr=file, timeout=LONGEST
            ).returncode
        except subprocess.TimeoutExpired:
            status = 124
    if check and status:
        raise SystemExit(f"test_platforms: {call[0]} failed: see {log}")
    return status


def printed(root: Path, user: str, command: str) -> tuple[int, str]:
    """Exit status and output, both streams, of a short command in a root."""
    done = subprocess.run(
        inside(root, user, command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", timeout=LONGEST,
    )  # fmt: skip
    return done.returncode, done.stdout.strip()


def cloned(root: Path, user: str) -> Path:
    """This checkout as it is now, in a clone of the user's own."""
    place = root / "srv" / user / PLACE
    shutil.rmtree(place.parent, ignore_errors=True)
    place.parent.mkdir(parents=True)
    git = ["git", "-C", str(CHECKOUT)]
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(CHECKOUT), place], check=True)
    for name in subprocess.run(
        [*git, "ls-files", "-z", "--modified", "--others", "--exclude-standard"],
        check=True, capture_output=True, encoding="utf-8",
    ).stdout.split("\0")[:-1]:  # fmt: skip
        if (CHECKOUT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(CHECKOUT / name, place / name)
    owner = ["chown", "-R", f"{user}:{user}", f"/srv/{user}"]
    subprocess.run(["chroot", str(root), *owner], check=True)
    return Path("/", place.relative_to(root))


def of_user(root: Path, user: str, make: str = "", label: str = "") -> Iterator[Row]:
    """README's commands as `user`; `make` is a folder in the root with another make in it."""
    place = cloned(root, user)
    for command in COMMANDS:
        say(f"{root.name}, {user}{label and ', '}{label}: make {command}")
        log = root.with_name(f"{root.name}-{user}{label and '-'}{label}-{command}.log")
        log.unlink(missing_ok=True)
        path = f"{make}:{PATH}" if make else PATH
        call = inside(root, user, f"cd {shlex.quote(str(place))} && make {command}", path)
        status = logged(log, call, check=False)
        yield row(root, user, f"make {command}", outcome(status, log), label)


def outcome(status: int, log: Path) -> str:
    text = log.read_text(encoding="utf-8", errors="replace")
    counted = re.findall(r"^(\d+ (?:passed|failed)\b[^\n]*?) in ", text, re.M)
    said = counted[-1] if counted else "ok" if status == 0 else f"status {status}"
    return said if status == 0 else f"FAILED: {said}, see {log.name}"


def row(root: Path, user: str, what: str, end: str, make: str = "") -> Row:
    _, said = printed(root, user, "python3 --version; git --version; make --version")
    versions = re.findall(r"^\D*?(\d+(?:\.\d+)+)", said, re.M)[:3]
    python, git, own = (*versions, "", "", "")[:3]
    return Row(root.name, python, git, make or own, user, what, end)


def of_makes(root: Path) -> Iterator[Row]:
    """Other makes: README's commands with a GNU make 4.0, and old ones in a host of ours."""
    for version in ("4.0", "3.81"):
        program = shutil.which(f"make-{version}")
        if program is None:
            end = f"not tried: no program make-{version} on the PATH"
            yield row(root, "root", "all", end, version)
            continue
        folder = root / "opt" / f"make-{version}"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(program, folder / "make")
        if version == "4.0":
            yield from of_user(root, "root", f"/opt/make-{version}", version)
        else:
            yield from of_host(root, f"/opt/make-{version}/make", version)
    apt(root, "install", "--yes", "--no-install-recommends", "bmake")
    yield from of_host(root, "bmake", "bmake")


def of_host(root: Path, make: str, label: str) -> Iterator[Row]:
    """An adopted host on a make that is none of ours: its own goals work, ours say why not."""
    place = cloned(root, "root")
    host = root / "srv/root/host"
    shutil.rmtree(host, ignore_errors=True)
    (host / "tools").mkdir(parents=True)
    (host / "tools/contextkit").symlink_to(f"/{place.relative_to('/')}")
    for name, text in (("first", HOST + HOSTS_GOAL), ("last", HOSTS_GOAL + HOST)):
        (host / "Makefile").write_text(text, encoding="utf-8")
        status, said = printed(root, "root", f"cd /srv/root/host && {make} all")
        good = (status, said) == (0, "the host")
        what = f"host's goal, included {name}"
        yield row(root, "root", what, "ok" if good else f"FAILED: {brief(said)}", label)
    status, said = printed(root, "root", f"cd /srv/root/host && {make} context_help")
    ours = [line for line in said.splitlines() if "contextkit needs GNU make 4.0" in line]
    good = status != 0 and len(ours) == 1
    yield row(root, "root", "our goal", "one sentence" if good else f"FAILED: {brief(said)}", label)


def brief(text: str) -> str:
    return " ".join(text.split())[:200] or "nothing was printed"


def table(rows: list[Row]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (zip(row, widths, strict=True) for row in rows)
    return "\n".join("  ".join(f"{c:{w}}" for c, w in line).rstrip() for line in lines)


def say(text: str) -> None:
    print(f"test_platforms: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
