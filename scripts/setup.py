#!/usr/bin/env python3
"""Make the toolkit's own virtual environment: once, and again when the lock file changed.

    python3 scripts/setup.py [--development]

With uv where it is installed, else with python's own venv and pip. Safe to interrupt (the next
run starts over) and to start twice at once (the second waits and finds it done). Talks on
stderr only. Written so that an old python can still read it and say what is missing.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(HERE, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
MAKE_PART = os.path.join(VENV, "contextkit.mk")
OLDEST = (3, 11)
HELP = "install uv, or pip for python3 (Debian, Ubuntu: apt install python3-pip python3-venv)"


def say(text):
    sys.stderr.write("contextkit: %s\n" % text)


def restart_with_newer_python():
    """An old python3 hands over to a newer one on the PATH, if there is one."""
    for minor in range(20, OLDEST[1] - 1, -1):
        newer = shutil.which("python3.%d" % minor)
        works = newer and subprocess.call([newer, "-c", ""], stderr=subprocess.DEVNULL) == 0
        if works and newer is not None:
            os.execv(newer, [newer, os.path.abspath(__file__)] + sys.argv[1:])
    say("needs Python %d.%d or newer; python3 is %s" % (OLDEST + (sys.version.split()[0],)))
    return 1


def digest(*names):
    """What an environment was made from; it is made again when this changes."""
    found = hashlib.sha256(("%s %s" % (sys.version, sys.executable)).encode())
    for name in names:
        with open(os.path.join(HERE, name), "rb") as file:
            found.update(file.read())
    return found.hexdigest()


def works(python):
    return subprocess.call([python, "-c", ""], stderr=subprocess.DEVNULL) == 0


def run(command):
    """Run a command with its output on stderr; raises CalledProcessError."""
    subprocess.run(command, check=True, stdout=sys.stderr.fileno(), stdin=subprocess.DEVNULL)


def make_environment():
    if os.access(PYTHON, os.X_OK) and works(PYTHON):
        return
    shutil.rmtree(VENV, ignore_errors=True)
    if shutil.which("uv"):
        run(["uv", "venv", "--quiet", "--no-project", "--python", sys.executable, VENV])
    else:
        run([sys.executable, "-m", "venv", "--without-pip", VENV])


def install(lock):
    """The packages of a lock file, byte-compiled; the first way that works."""
    what = ["--require-hashes", "--no-deps", "-r", os.path.join(HERE, lock)]
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    ways = []
    if shutil.which("uv"):
        ways.append(["uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", PYTHON])
    if (
        subprocess.call(
            [sys.executable, "-m", "pip", "--python", PYTHON, "--version"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        == 0
    ):
        ways.append([sys.executable, "-m", "pip", "--python", PYTHON, "install"] + quiet)
    elif (
        subprocess.call(
            [PYTHON, "-m", "ensurepip"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        == 0
    ):
        ways.append([PYTHON, "-m", "pip", "install"] + quiet)
    for way in ways:
        try:
            return run(way + what)
        except subprocess.CalledProcessError:
            say("`%s` failed" % " ".join(way[:4]))
    raise SystemExit("contextkit: packages could not be installed: " + HELP)


def write(path, text):
    draft = "%s.%d.tmp" % (path, os.getpid())
    with open(draft, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(draft, path)


def made_from(path):
    """The digest in the last line of a file that set-up wrote; empty if it is not there."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().split()[-1]
    except (OSError, IndexError):
        return ""


def ensure(stamp, wanted, build):
    """Do `build` unless `stamp` says that it was done from the same things."""
    if made_from(stamp) == wanted and works(PYTHON):
        os.utime(stamp)  # the lock file is newer by date only
        return
    build()


def build_run_time(wanted):
    say("setting up .venv (once; a few seconds) ...")
    make_environment()
    install("requirements.lock")
    scripts = os.path.join(HERE, "scripts")
    run([PYTHON, os.path.join(scripts, "contextkit", "template_compiler.py")])
    run([PYTHON, "-m", "compileall", "-q", scripts])
    write(
        MAKE_PART,
        "CONTEXTKIT_PYTHON := $(CONTEXTKIT_DIR)/.venv/bin/python\n"
        "# %s -> %s\n# %s\n" % (PYTHON, os.path.realpath(PYTHON), wanted),
    )


def main(argv):
    if sys.version_info < OLDEST:
        return restart_with_newer_python()
    checkout = os.open(HERE, os.O_RDONLY)
    fcntl.flock(checkout, fcntl.LOCK_EX)  # released with the process, however it ends
    try:
        wanted = digest("requirements.lock", "scripts/setup.py")
        ensure(MAKE_PART, wanted, lambda: build_run_time(wanted))
        if "--development" in argv:
            stamp = os.path.join(VENV, "development.stamp")
            wanted = digest("requirements-dev.lock", "scripts/setup.py")

            def build():
                say("installing what the tests need ...")
                install("requirements-dev.lock")
                write(stamp, wanted + "\n")

            ensure(stamp, wanted, build)
    except (OSError, subprocess.CalledProcessError) as error:
        say("set-up failed: %s" % error)
        say(HELP)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
