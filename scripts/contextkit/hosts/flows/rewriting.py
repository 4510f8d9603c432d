"""Put our wrapper behind a command before the host runs it, unless something would be lost.

    pytest -q
    { exec 2>&1; ( pytest -q
    ); printf '\\0MARK:%s\\n' "$?"; } | 'TOOLKIT/scripts/run.sh' --sink=MARK …

The command stays as it was typed, in the host's own shell with its functions and aliases, so the
host's rules against a command still find it. Unless it is surely better wrapped, it is left alone.
"""

from __future__ import annotations

import os
from binascii import crc32

from contextkit.base import names, version
from contextkit.base.layout import Layout
from contextkit.base.type_names import Iterator
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput
from contextkit.text import shell
from contextkit.text.shell import Simple

LAUNCHER = "scripts/run.sh"
RAW = "CONTEXTKIT_RAW"  # set to anything, it keeps outputs as they are; so does `command …`
_PATIENCE = 0.8  # share of the host's time-out after which the agent is told where the output is
_TOPIC = 60  # characters
# Programs that read files, or let somebody read or type; those that a host examines more closely.
_NEVER = frozenset(
    "cat tac sed head tail less more most bat nl od xxd hexdump strings view vi vim nvim nano emacs"
    " pico ed top htop btop man info ssh sftp ftp telnet mosh su sudo doas passwd login screen tmux"
    " watch fzf read gdb lldb ipython irb ghci script expect dialog whiptail psql mysql sqlite3"
    " redis-cli mongosh mongo exec eval source . trap command builtin env xargs time nohup timeout"
    " rm shred dd setsid disown fg bg wait ulimit umask alias unalias set unset shopt"
    " contextkit".split()
)
# Programs that shorten an output, alone or at the end of a pipeline.
_FILTERS = frozenset(
    "awk gawk mawk jq yq cut sort uniq tr wc tee column comm diffstat fold paste join shuf rev"
    " base64 xsel pbcopy gzip".split()
)
_SEARCHES = frozenset("grep egrep fgrep rg ag ack".split())  # a filter only behind a pipe
# Programs that print next to nothing: a wrapper would only cost time.
_QUIET = frozenset(
    "cd pushd popd pwd echo printf export true false : test [ which type hash mkdir rmdir touch"
    " cp mv ln chmod chown sleep kill date hostname whoami id uname basename dirname realpath"
    " readlink stat sync unlink mktemp return exit local declare readonly let".split()
)
# Options of any program that ask, follow, or stop in a debugger; `--watch=false` does not.
_ASKS = frozenset(
    "-it -ti --interactive --watch --watchAll --follow --tui --pdb --inspect-brk".split()
)
_NO = frozenset(("false", "no", "0"))
_LOGS = frozenset(("logs", "journalctl"))  # `-f` follows them
_TELLS = frozenset(("--version", "-V", "-v", "--help", "-h"))
# The names of scripts, targets and subcommands of any program that do not end, or that ask unless
# one of the options below prevents it.
_SERVES = frozenset(
    "dev serve start watch up attach port-forward shell console repl runserver nodemon uvicorn"
    " gunicorn".split()
)
_SERVERS = _SERVES | {"server"}  # of scripts
_MAKES = ("make", "gmake")
_FLAGS_OF_MAKE = frozenset("bBdeijklnpqrRsStwv")  # without a word behind them, or only a number
_QUESTIONS = frozenset(
    "init create login edit configure menuconfig nconfig apply destroy pdb ipdb".split()
)
_ENDLESS = (".server", "-server")
_AGREED = frozenset(
    "-y --yes --auto-approve -auto-approve --no-input --non-interactive -d --detach".split()
)
_MESSAGES = frozenset(  # of git
    "--message --file --reuse-message --fixup --no-edit --dry-run --abort --quit --skip".split()
)
_GIT_READS = frozenset("cat-file blame annotate archive difftool mergetool gui".split())
_GIT_ASKS = frozenset("add rebase checkout reset stash commit restore clean".split())
_PATCHES = frozenset("-i -p --interactive --patch -e".split())  # how those ask
_OF_NAMES = _SEARCHES | frozenset("ls find fd tree du diff".split())  # their arguments are names
_MOST_WORDS = 5  # words of a command that may say what it does
_STATEFUL = ("cd", "pushd", "popd")  # change the folder in which a host may start the next command
_SHELLS = frozenset(
    "sh bash zsh dash ksh fish python python3 node ruby perl php lua R julia".split()
)
_OURS = ("capsule_", "payload_", "handoff", "memory_", "verdict_", "subagent_", "context_")
_OTHERS_OF_OURS = frozenset("remember_later reminders reminder_done adopt unadopt doctor run help"
                            " session_end".split())  # fmt: skip


def rewritten(layout: Layout, hook: HookInput) -> Answer:
    """The tool's input with the wrapped command; NOTHING to leave it alone."""
    asked = hook.inside("tool_input")
    command = str(asked["command"])
    parts = wrappable(command)
    if not parts:
        return NOTHING
    host = hosts.find(hook.host)
    mode = hook.text("permission_mode")
    from contextkit.hosts.flows import permissions

    if permissions.are_named(host, layout.root, parts):
        return NOTHING
    asks = host.rules and mode not in ("", "bypassPermissions")
    if asks and not permissions.would_run(host, mode, command, parts):
        return NOTHING
    sink = _sink(layout, hook, command, asked.get("timeout"))
    return Answer(
        input={**asked, "command": wrapped(command, parts, sink)}, decision="allow" if asks else ""
    )


def is_wrappable(hook: HookInput) -> bool:
    """Whether a tool runs a command in a shell, waits for it, and the command may be wrapped."""
    asked = hook.inside("tool_input")
    waits = isinstance(asked.get("command"), str) and not asked.get("run_in_background")
    may = waits and hook.declared.is_about(hook.text("tool_name")) and not os.environ.get(RAW)
    return may and bool(wrappable(asked["command"]))


def is_wrapped(command: object) -> bool:
    """Whether a command runs under our wrapper, so that its output is short already."""
    return isinstance(command, str) and f"/{LAUNCHER} --sink=" in command.replace("'", "")


def wrappable(command: str) -> list[Simple]:
    """The simple commands of one that may be wrapped; empty for one that is left alone."""
    if is_wrapped(command) or "\0" in command:
        return []
    parts = shell.parse(command)
    if not parts or any(map(_is_excluded, parts)) or all(part.name in _QUIET for part in parts):
        return []
    for before, part in zip([None, *parts], parts, strict=False):
        ends = part.after != "|"
        searched = before if part.name in _SEARCHES else None
        filters = part.name in _FILTERS or searched
        is_apart = searched and searched.after != "|"
        if ends and filters and not is_apart:
            return []
    return parts if _peeled(parts) is not None else []


def _is_excluded(part: Simple) -> bool:
    """Whether a command reads a file, asks somebody, or is one of ours."""
    if not part.words or any(assignment.startswith(f"{RAW}=") for assignment in part.assigned):
        return True
    name, arguments = part.name, part.words[1:]
    if name in _NEVER or name in hosts.names_of_hosts():
        return True
    has_file = any(not argument.startswith("-") for argument in arguments)
    if name in _SHELLS and not has_file and _TELLS.isdisjoint(arguments):
        return True  # its prompt
    if "-f" in arguments and _LOGS.intersection(part.words):
        return True
    if name == "git":
        return _reads_or_asks(arguments)
    options = (argument.partition("=") for argument in arguments)
    asks = any(option in _ASKS and value not in _NO for option, _, value in options)
    watches = part.words[-1] == "-w" and name not in _OF_NAMES  # a word after it is its value
    if asks or watches or {"-i", "-t"}.issubset(part.words):
        return True
    return _asks_by_verb(part) or _is_ours(part)


def _asks_by_verb(part: Simple) -> bool:
    """Whether a verb of a command serves or asks."""
    if part.name in _OF_NAMES or _AGREED.intersection(part.words):
        return False
    script = next((word for word in part.words[1:] if not word.startswith("-")), "")
    called = script.rpartition("/")[2].partition(".")[0]  # `python tools/serve.py`
    if part.name in _SHELLS and called in _SERVERS:
        return True
    asks = _SERVES | _QUESTIONS
    return any(verb in asks or verb.endswith(_ENDLESS) for verb in _verbs(part))


def _verbs(part: Simple) -> Iterator[str]:
    """The words that say what a command does, without options and their possible values."""
    before = ""
    for word in (part.name, *part.words[1:_MOST_WORDS]):
        is_flag = part.name in _MAKES and before[1:2] in _FLAGS_OF_MAKE  # `-s`, `-kj4`
        has_value = before.startswith("-") and before != "-m" and not is_flag
        if not (has_value or word.startswith("-")):
            yield from word.split(":")
        if "test" in word:
            return  # the rest names the tests
        before = "" if "=" in word else word


def prints_ours(layout: Layout, command: object) -> bool:
    """Whether a command is one of ours, or reads stored documents: its output is wanted whole."""
    if not isinstance(command, str):
        return False
    stored = layout.shown(layout.payloads) + "/" in command
    return stored or any(map(_is_ours, shell.parse(command) or ()))


def _is_ours(part: Simple) -> bool:
    if part.name in _MAKES:
        return any(goal.startswith(_OURS) or goal in _OTHERS_OF_OURS for goal in part.words[1:])
    ours = (version.TOOLKIT + "/", "contextkit/scripts/")
    return part.name == "contextkit" or any(
        word.startswith(ours[0]) or ours[1] in word for word in part.words[:3]
    )


def _reads_or_asks(arguments: tuple[str, ...]) -> bool:
    """Whether a git command prints a file, opens an editor, or waits for answers."""
    pairs = zip(("", *arguments), arguments, strict=False)
    verbs = [word for before, word in pairs if word[:1] != "-" and before not in ("-C", "-c")]
    verb = verbs[0] if verbs else ""
    shows_a_file = verb == "show" and any(":" in argument for argument in verbs[1:])
    may_edit = verb in ("commit", "revert")
    edits = may_edit and not any(map(_needs_no_editor, arguments[arguments.index(verb) :]))
    asks = verb in _GIT_ASKS and not _PATCHES.isdisjoint(arguments)
    return any((verb in _GIT_READS, shows_a_file, edits, asks, "--continue" in arguments))


def _needs_no_editor(argument: str) -> bool:
    """Whether an option of git gives a message, as in `-am`, or needs none."""
    if argument.startswith("--"):
        return argument.partition("=")[0] in _MESSAGES
    return argument.startswith("-") and not frozenset("mFC").isdisjoint(argument)


def _peeled(parts: list[Simple]) -> int | None:
    """The number of leading `cd`s that stay outside, for the host's next command; or None."""
    first = 0
    while first < len(parts) and parts[first].name in _STATEFUL:
        first += 1
    rest = parts[first:]
    if not rest or any(part.name in _STATEFUL for part in rest):
        return None
    chained = any(part.after == "&&" for part in parts[:first])
    if any(part.after not in ("&&", ";", "\n") for part in parts[:first]):
        return None
    if chained and any(part.after not in ("&&", "|", "") for part in rest):
        return None  # what follows `;` runs even if the folder does not exist
    return first


def wrapped(command: str, parts: list[Simple], sink: str) -> str:
    """The command with our wrapper behind it; `sink` names the mark first."""
    at = parts[_peeled(parts) or 0].start
    mark = sink.partition("--sink=")[2].partition(" ")[0]
    end = f"printf '\\0{mark}:%s\\n' \"$?\""
    return f"{command[:at]}{{ exec 2>&1; ( {command[at:]}\n); {end}; }} | {sink}"


def _sink(layout: Layout, hook: HookInput, command: str, timeout: object) -> str:
    """The call of our wrapper, with everything it cannot know by itself."""
    launcher = os.path.join(version.TOOLKIT, LAUNCHER)
    plain = "".join(char for char in command[:_TOPIC] if char.isalnum() or char in " ./_=-").strip()
    words = [
        f"--sink=m{crc32(os.fsencode(hook.session + command)):08x}",
        f"--over={layout.limits.hook_tool_output_tokens}",
        f"--root={names.word(layout.root)}",
        f"--of={names.word(plain)}",
    ]
    if hook.session:
        words.append(f"--session={hook.session}")
    if isinstance(timeout, (int, float)) and timeout > 0:
        words.append(f"--until={timeout / 1000 * _PATIENCE:g}")
    return " ".join([names.word(launcher), *words])
