"""Doctor: what is wrong in a repository, and how to fix it. Nothing is changed."""

from __future__ import annotations

import os
import shutil
import subprocess

from contextkit.base import files, names, tokens, version
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.version import VERSION
from contextkit.hosts.documents import diagnostics, makefiles, settings, vendored
from contextkit.hosts.documents.contracts import SUBFOLDER, Host, find
from contextkit.hosts.flows import store_checks, trials
from contextkit.hosts.flows.store_checks import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_SHOWN = 5  # lines of diagnostics; the file has the rest


def examine(layout: Layout, hosts: tuple[str, ...]) -> list[Finding]:
    """Run every check in order; an error inside a check is a finding too."""
    found: list[Finding] = []
    for name, check in CHECKS.items():
        try:
            found += check(layout, hosts)
        except (ContextError, OSError) as error:
            found.append(
                Finding(area=name, problem=str(error), mend="fix that, then run doctor again")
            )
    return found


def versions(layout: Layout, hosts: tuple[str, ...]) -> list[Finding]:
    """Check our own version, and that Python, make and git are there and new enough."""
    found = [_note("versions", f"this is contextkit {VERSION}", _upgrade())]
    for program, oldest, mend in (
        ("python3", "3.11", "install Python 3.11 or newer"),
        ("make", "4.0", "install GNU make 4.0 or newer (macOS: brew install make, then gmake)"),
        ("git", "2.30", "install git 2.30 or newer"),
    ):
        version = _version(program)
        if not version:
            found.append(_wrong("versions", f"{program} was not found", mend))
        elif _number(version) < _number(oldest):
            found.append(_wrong("versions", f"{program} is {version}", mend))
    return found


def _upgrade() -> str:
    return "make upgrade" if vendored.is_checkout() else "make context_upgrade"


def _version(program: str) -> str:
    """Return the version that a program prints; empty if it is missing."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = done.stdout.decode("utf-8", "replace").split()
    return next((word for word in words if names.shape(word)[:2] in ("0.", "00")), "")


def _number(version: str) -> tuple[int, ...]:
    parts = version.split(".")[:2]
    return tuple(int(part) if part.isdigit() else 0 for part in parts)


def _counter(layout: Layout) -> list[Finding]:
    """Check that tokens can be counted exactly where a counter for the tokenizer exists."""
    tokenizer = layout.limits.tokenizer
    if not tokens.TOKENIZERS.get(tokenizer) or tokens.count("a", tokenizer) >= 0:
        return []
    problem = "splintr-rs is not installed: a text that might be above a cap is cut further"
    mend = "if there is a wheel for this platform, remove .venv and run any make target"
    return [_note("set-up", problem, mend)]


def set_up(layout: Layout, hosts: tuple[str, ...]) -> list[Finding]:
    """Check the toolkit's own environment; hooks run without it."""
    if os.access(os.path.join(version.TOOLKIT, ".venv", "bin", "python"), os.X_OK):
        return _counter(layout)
    shown = layout.shown(version.TOOLKIT)
    return [_note("set-up", f"{shown} is not set up yet", "run any make target to set it up")]


def writable(layout: Layout, hosts: tuple[str, ...]) -> list[Finding]:
    """Check that documents can be stored here at all."""
    if os.access(layout.root, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        return []
    mend = "make it writable, or keep documents elsewhere: root=DIR (or CONTEXT_ROOT)"
    return [_wrong("root", f"{layout.root}: you have no write permission there", mend)]


def hosts_there(layout: Layout, hosts: tuple[str, ...]) -> list[Finding]:
    """Check which hosts are on this machine, and that their settings hold all of our hooks."""
    found = []
    for name in hosts:
        host = find(name)
        events = [event for event, _ in trials.installed(layout, host)]
        outputs = bool(layout.limits.hook_tool_output_tokens)
        missing = [event for event in settings.events(host, outputs) if event not in events]
        twice = sorted({event for event in events if events.count(event) > 1})
        if not events:
            mend = f"make adopt into=DIR hosts={name}"
            found.append(_note("hosts", f"{host.title}: no hooks are installed here", mend))
            continue
        if missing:
            problem = f"{host.title}: no hook for {', '.join(missing)}"
            found.append(_wrong("hosts", problem, "make adopt into=."))
        elif not _has_matchers(layout, host, outputs):
            problem = f"{host.title}: tool hooks are not installed as the settings ask"
            found.append(_wrong("hosts", problem, "make adopt into=."))
        if twice:
            problem = f"{host.title}: {', '.join(twice)}: installed twice"
            found.append(_wrong("hosts", problem, "make unadopt into=. link=1"))
        if host.below:
            found.append(_note("hosts", f"{host.title} {SUBFOLDER}", host.below))
        if not shutil.which(host.command):
            found.append(_note("hosts", f"{host.title} is not installed here", "nothing to do"))
        elif host.trust:
            found += _trust(layout, host)
    return found


def _has_matchers(layout: Layout, host: Host, outputs: bool) -> bool:
    """Return whether the hooks for tools are installed for the right tools."""
    texts = "".join(files.read_if_there(p) or "" for p in trials.settings_files(layout, host))
    return all(f'"{one}"' in texts for one in settings.matchers(host, outputs).values())


def _trust(layout: Layout, host: Host) -> list[Finding]:
    """Check that the host would start our hooks, by asking it if possible."""
    told = trials.untrusted(host, trials.project(layout)) if host.tells_trust else None
    if told is None:
        return [_note("hosts", f"{host.title} starts only hooks that were trusted", host.trust)]
    if not told:
        return []
    return [_wrong("hosts", f"{host.title} does not start {', '.join(told)}", host.trust)]


def names_taken(layout: Layout, hosts: tuple[str, ...]) -> list[Finding]:
    """Find targets of the host that clash with ours; not in the toolkit's own repository."""
    top = trials.project(layout)
    folder = os.path.relpath(os.path.realpath(version.TOOLKIT), top)
    if folder == ".":
        return []
    mend = "or set CONTEXTKIT_PREFIX before the include"
    return [_note("make", problem, mend) for problem in makefiles.taken(top, folder)]


def hooks(layout: Layout, hosts: tuple[str, ...]) -> list[Finding]:
    """Fire every installed hook with recorded input."""
    mend = "make adopt into=. brings the hooks up to date; manuals/hosts.md"
    events: dict[tuple[str, str], list[str]] = {}
    for trial in trials.fire_all(layout, hosts):
        for problem in trial.problems:
            events.setdefault((trial.host, problem), []).append(trial.event)
    return [
        _wrong("hooks", f"{host} {', '.join(named)}: {problem}", mend)
        for (host, problem), named in events.items()
    ]


def failures(layout: Layout, hosts: tuple[str, ...]) -> list[Finding]:
    """Report what went wrong in hooks since somebody last looked."""
    lines = diagnostics.lines(layout.hooks)
    path = layout.shown(diagnostics.path(layout.hooks))
    older = f" ({len(lines) - _SHOWN} older ones in {path})" if len(lines) > _SHOWN else ""
    mend = f"when that is fixed: rm {path}{older}"
    return [_wrong("diagnostics", line, mend) for line in lines[-_SHOWN:]]


def stores(layout: Layout, hosts: tuple[str, ...]) -> list[Finding]:
    """Check ignore rules, copies, locks, drafts and documents of every store."""
    found: list[Finding] = []
    for look in store_checks.LOOKS:
        try:
            found += look(layout)
        except (ContextError, OSError) as error:
            stumbled = _wrong("stores", str(error), "fix that, then run doctor again")
            found += [] if stumbled in found else [stumbled]
    return found


def _wrong(check: str, problem: str, mend: str) -> Finding:
    return Finding(area=check, problem=problem, mend=mend)


def _note(check: str, problem: str, mend: str) -> Finding:
    return Finding(area=check, problem=problem, mend=mend, note=True)


CHECKS: dict[str, Callable[[Layout, tuple[str, ...]], list[Finding]]] = {
    "versions": versions,
    "set-up": set_up,
    "root": writable,
    "hosts": hosts_there,
    "make": names_taken,
    "hooks": hooks,
    "diagnostics": failures,
    "stores": stores,
}
