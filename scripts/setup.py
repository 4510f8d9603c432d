#!/usr/bin/env python3
"""Make the toolkit's own virtual environment: once, and again when the lock file changed.

    python3 scripts/setup.py [--development] [--with="obstore pyrage"]

With uv where it is installed, else with python's own venv and pip. Safe to interrupt (a package
may be half there, so the next run starts over) and to start twice at once (the second waits and
finds it done). Writes only to stderr. Written so that an old python can still read it and say
what is missing.
"""

import errno
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(HERE, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
MAKE_PART = os.path.join(VENV, "contextkit.mk")
UNFINISHED = os.path.join(VENV, "unfinished")  # there while packages are written
OLDEST = (3, 11)
COUNTER = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from contextkit.base import vocabulary; vocabulary.find('o200k_base')"
)
EXPRESSIONS = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from contextkit.base import expressions; expressions.compile_all()"
)
HELP = "install pip and venv for python3 (Debian, Ubuntu: apt install python3-venv), or uv"


def say(text):
    sys.stderr.write("contextkit: %s\n" % text)


def restart_with_newer_python():
    """An old python3 hands over to a newer one on the PATH, if there is one."""
    for minor in range(20, OLDEST[1] - 1, -1):
        newer = shutil.which("python3.%d" % minor)
        if newer is not None and succeeds(newer, "-c", ""):
            os.execv(newer, [newer, os.path.abspath(__file__)] + sys.argv[1:])
    say("install Python %d.%d or newer; python3 is %s" % (OLDEST + (sys.version.split()[0],)))
    return 1


def digest(sources):
    """A digest of everything an environment is made from; a new one means making it again."""
    state = hashlib.sha256(("%s %s" % (sys.version, sys.executable)).encode())
    for path in sources:
        with open(path, "rb") as file:
            state.update(file.read())
    return state.hexdigest()


def succeeds(*command):
    nothing = subprocess.DEVNULL
    try:
        return subprocess.call(command, stdin=nothing, stdout=nothing, stderr=nothing) == 0
    except OSError:
        return False


def run(command):
    """Run a command silently. Raises OSError with its last words if it fails.

    It inherits the lock, so the next set-up waits for what a killed one left running.
    """
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        close_fds=False,
        env=dict(os.environ, PYTHONUTF8="1"),  # a path may be beyond the locale
    )
    if done.returncode:
        lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
        last = lines[-1] if lines else "status %d" % done.returncode
        raise OSError("`%s` failed: %s" % (" ".join(command[:3]), last))


def make_environment():
    if succeeds(PYTHON, "-c", ""):
        return
    shutil.rmtree(VENV, ignore_errors=True)
    real = os.path.realpath(sys.executable)  # what a link on the way leads to may change
    if shutil.which("uv"):
        run(["uv", "venv", "--quiet", "--no-project", "--python", real, VENV])
    elif succeeds(real, "-c", "import venv"):
        run([real, "-m", "venv", "--without-pip", VENV])
    else:
        raise OSError("%s has no venv module: %s" % (real, HELP))


def installers():
    """The ways to install on this machine, the best first."""
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    if shutil.which("uv"):
        yield ["uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", PYTHON]
    if succeeds(sys.executable, "-m", "pip", "--python", PYTHON, "--version"):
        yield [sys.executable, "-m", "pip", "--python", PYTHON, "install"] + quiet
    elif succeeds(PYTHON, "-m", "ensurepip"):
        yield [PYTHON, "-m", "pip", "install"] + quiet


def install(lock_file):
    """Install the packages of a lock file, byte-compiled, in the first way that works."""
    problem = HELP
    write(UNFINISHED, "")
    for way in installers():
        try:
            run(way + ["--require-hashes", "--no-deps", "-r", os.path.join(HERE, lock_file)])
            break
        except OSError as error:
            problem = "packages could not be installed; is the package index reachable? %s" % error
    else:
        os.remove(UNFINISHED)  # refused before anything was written
        raise OSError(problem)
    os.remove(UNFINISHED)


def write(path, text):
    draft = "%s.%d.tmp" % (path, os.getpid())
    with open(draft, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.replace(draft, path)


def made_from(stamp):
    """The digest in the last line of a file that set-up wrote; empty if it is not there."""
    try:
        with open(stamp, encoding="utf-8", errors="surrogateescape") as file:
            return file.read().split()[-1]
    except (OSError, IndexError):
        return ""


def ensure(stamp, sources, build):
    """Do `build`, which returns the text for `stamp`, unless the `sources` are unchanged."""
    wanted = digest(sources)
    if made_from(stamp) != wanted or not succeeds(PYTHON, "-c", ""):
        write(stamp, "%s# %s\n" % (build(), wanted))
    # Newer than all that make compares it with, even where a clock was wrong; else make would
    # run set-up forever.
    dates = [os.stat(path).st_mtime_ns for path in sources + [PYTHON]]
    os.utime(stamp, ns=(max(dates + [time.time_ns()]),) * 2)


def run_time():
    check_writable()
    say("setting up .venv (once; a few seconds) ...")
    make_environment()
    install("requirements.lock")
    scripts = os.path.join(HERE, "scripts")
    run([PYTHON, "-m", "compileall", "-q", scripts])
    succeeds(PYTHON, "-c", EXPRESSIONS, scripts)  # where it does not, each is compiled on first use
    succeeds(PYTHON, "-c", COUNTER, scripts)  # where it does not, a cap is kept by a bound
    return "override CONTEXTKIT_PYTHON := $(CONTEXTKIT_DIR)/.venv/bin/python\n# it is %s\n" % (
        os.path.realpath(PYTHON)
    )


def extras(packages):
    """Install packages that only some people need into the existing environment."""
    check_writable()
    say("installing %s ..." % " ".join(packages))
    problem = HELP
    for way in installers():
        try:
            return run(way + packages)
        except OSError as error:
            problem = error
    raise OSError("%s" % problem)


def tools():
    check_writable()
    say("installing what the tests need ...")
    install("requirements-dev.lock")
    return ""


def set_up(development, packages):
    if os.path.exists(UNFINISHED):
        shutil.rmtree(VENV)
    sources = [os.path.join(HERE, "requirements.lock"), os.path.abspath(__file__)]
    ensure(MAKE_PART, sources, run_time)
    if development:
        sources = [os.path.join(HERE, "requirements-dev.lock"), MAKE_PART]
        ensure(os.path.join(VENV, "development.stamp"), sources, tools)
    if packages:
        extras(packages)


def reason(error):
    """What went wrong and, if nothing may be written, what to do about it."""
    if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
        return error
    return "%s: %s: run `make -C '%s' setup` as its owner, or use a copy in a folder of yours" % (
        error.filename or HERE,
        error.strerror,
        HERE,
    )


def check_writable():
    """Raise OSError where this user may not write, before anything is begun."""
    made = VENV if os.path.isdir(VENV) else HERE
    if not os.access(made, os.W_OK):
        readonly = os.statvfs(made).f_flag & os.ST_RDONLY
        code = errno.EROFS if readonly else errno.EACCES
        raise OSError(code, os.strerror(code), made)


def main(argv):
    if sys.version_info < OLDEST:
        return restart_with_newer_python()
    if argv == ["--version"]:
        from contextkit.base.version import VERSION

        sys.stdout.write("setup %s\n" % VERSION)
        return 0
    lock = os.open(HERE, os.O_RDONLY)  # released with the last process that has it
    os.set_inheritable(lock, True)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("waiting for another set-up to end ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = " ".join(word[7:] for word in argv if word.startswith("--with=")).split()
        if any(name.startswith("-") for name in wanted):
            raise OSError("with=: names of packages, such as obstore")
        set_up("--development" in argv, wanted)
    except OSError as error:
        say("set-up failed: %s" % (reason(error)))
        if not os.path.exists(MAKE_PART):
            door = os.path.join(HERE, "bin", "contextkit")
            say("until then, '%s' TARGET name=value does what needs no package" % door)
    except KeyboardInterrupt:
        say("set-up was interrupted; the next one starts over")
    else:
        return 0
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
