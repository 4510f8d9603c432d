"""Wrap a command before the host runs it, unless something would be lost.

    pytest -q
    { exec 2>&1; ( pytest -q
    ); printf '\\0MARK:%s\\n' "$?"; } | 'TOOLKIT/scripts/run.sh' --sink=MARK …

The command stays as it was typed, in the host's own shell with its functions and aliases, so the
host's rules against a command still find it. One that is not clearly better wrapped is left alone.
"""

from __future__ import annotations

import itertools
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


def _table(rows: dict[str, str]) -> dict[str, frozenset[str]]:
    """The words of each program, from rows of programs and words."""
    return {name: frozenset(row.split()) for names_, row in rows.items() for name in names_.split()}


# Programs that read files, or let somebody read or type; that do not end; that the user put in
# front to keep an output as it is; those that a host examines more closely.
_NEVER = frozenset("cat tac sed head tail less more most bat batcat nl od xxd hexdump strings"
    " zcat bzcat xzcat zstdcat gunzip zless glow jless pdftotext man info w3m lynx view vi vim"
    " vimdiff gvim nvim nano emacs emacsclient ed micro hx ssh sftp ftp telnet nc socat minicom su"
    " sudo sudoedit passwd login visudo ssh-keygen screen tmux zellij script read top htop btop"
    " nvtop ncdu ranger nnn mc yazi fzf tig gitk gitui lazygit lazydocker k9s mutt neomutt irssi"
    " newsboat gdb lldb pdb dlv jdb ipython IPython bpython irb pry iex ghci psql pgcli mysql"
    " mariadb sqlite3 redis-cli mongosh cqlsh duckdb aider opencode watch entr fswatch inotifywait"
    " ping tcpdump stern ngrok nginx mongod redis-server exec eval trap command builtin xargs nohup"
    " rm shred dd setsid disown fg bg wait alias unalias contextkit".split())  # fmt: skip
# Programs that shorten or change an output, alone or at the end of a pipeline.
_FILTERS = frozenset("awk gawk mawk jq yq fx mlr xmllint cut sort uniq tr wc tee sponge column"
    " comm diffstat delta fold fmt pr expand iconv ts paste join shuf rev base64 xclip pbcopy gzip"
    " bzip2 xz".split())  # fmt: skip
_SEARCHES = frozenset("grep egrep fgrep rg ag ack".split())  # a filter only behind a pipe
_FEEDS = ("echo", "printf", "yes")  # what a program behind them gets is no output to shorten
# Programs that print next to nothing: a wrapper would only cost time.
_QUIET = frozenset("cat cd pushd popd pwd echo printf export true false : test [ which type"
    " mkdir rmdir touch cp mv ln chmod sleep kill date hostname whoami id uname basename dirname"
    " realpath readlink stat mktemp return exit declare source . set unset".split())  # fmt: skip
# Options of any program that ask, follow, or stop in a debugger; `--watch=false` does not.
_ASKS = frozenset("-it -ti -itu -itw -ite --tty --interactive --watch --watchAll --follow"
    " --tui --pdb --inspect-brk".split())  # fmt: skip
_LOGS = ("logs", "journalctl")  # `-f` follows them
# Targets and subcommands of any program that do not end, or that ask unless one of the options
# below prevents it; scripts that do not end.
_VERBS = frozenset("dev serve start watch up attach port-forward shell console repl preview"
    " runserver nodemon uvicorn gunicorn init create login adduser edit menuconfig nconfig destroy"
    " rsh tinker dbconsole".split())  # fmt: skip
_SCRIPTS = ("dev", "serve", "server", "start", "watch", "runserver", "preview")
_AGREED = frozenset("-y --yes --auto-approve -auto-approve --no-input --non-interactive -d"
    " --detach".split())  # fmt: skip
# Options and verbs of one program with which it asks, does not end, or prints a file.
_OF_ONE = _table({
    "aws": "configure", "celery": "worker beat", "crontab": "-e", "docker podman": "stats events",
    "flask fastapi streamlit": "run", "gpg": "--edit-key --gen-key", "heroku": "--tail",
    "hugo": "server", "jupyter": "notebook lab", "kubectl": "proxy", "node python": "-i",
    "php": "-a -S", "rails": "c s server", "svn hg": "cat blame annotate",
    "terraform tofu": "apply", "unzip": "-p -c", "wrangler": "tail",
})  # fmt: skip
# Programs that run another, and the words behind which it stands.
_RUNS = _table({
    "find": "-exec -execdir -ok -okdir", "fd fdfind": "-x -X --exec --exec-batch", "python": "-m",
    "docker docker-compose podman kubectl oc": "exec run --",
    "uv poetry pipenv pdm hatch rye conda mamba pixi doppler": "run --",
    "bundle npm pnpm yarn mise asdf direnv": "exec",
    "npx bunx pnpx uvx env time timeout nice ionice stdbuf unbuffer busybox parallel xvfb-run": "",
})  # fmt: skip
_GIT_PLACES = ("-C", "-c", "--git-dir", "--work-tree")  # with a word behind them
# Verbs of git that print a file, open an editor or wait for answers, with one of these words or
# those below; without any, always. A message leaves no reason but `-p` and `-e`.
_GIT_ASKS = _table({
    "cat-file blame annotate archive difftool mergetool gui citool send-email commit revert": "",
    "tag": "-a -s --annotate --sign", "notes": "add append edit", "add": "-i -p -e",
    "am clean rebase": "-i", "checkout reset restore stash": "-p",
    "branch cherry-pick config merge": "-e",
})  # fmt: skip
_GIT_PATCHES = frozenset("--interactive --patch --edit --edit-description".split())
_GIT_MESSAGES = frozenset("-m -F --message --file --fixup --no-edit --dry-run"
                          " --abort --quit --skip".split())  # fmt: skip
_OUTSIDE = _QUIET.difference(("set", "source", "."))  # may come before a `cd`
_OF_NAMES = _SEARCHES | _QUIET | frozenset("ls find fd tree du diff".split())  # as arguments
_MOST_WORDS, _MOST_INNER = 5, 12  # words that may say what a command does; what it runs
_LINES = frozenset("sh bash zsh dash ksh ash fish".split())  # they run a line behind `-c`
_SHELLS = _LINES | frozenset("python pypy node deno ts-node tsx ruby perl php lua R julia"
    " octave erl scala jshell clj bc dc vite".split())  # fmt: skip
_TELLS = frozenset(("--version", "-V", "-v", "--help", "-h", "--test"))  # and show no prompt
_MAKES = ("make", "gmake")
_STATEFUL = ("cd", "pushd", "popd")  # change the folder in which a host may start the next command
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
    parts = shell.parse(command) or []
    if _peeled(parts) is None or all(part.name in _QUIET for part in parts):
        return []
    fed_by = ""
    for part in parts:
        if not part.words or any(word.startswith(f"{RAW}=") for word in part.assigned + part.words):
            return []
        is_shown = fed_by and part.words == ("cat",)
        for run in () if is_shown else (part, *_inner(part)):
            shows = part.after != "|" or run is not part
            if _reads_or_asks(run) or (shows and _filters(run, fed_by)):
                return []
        fed_by = part.name if part.after == "|" else ""
    return parts


def _filters(part: Simple, fed_by: str) -> bool:
    """Whether a command at the end of a pipeline shows what the agent wants of an output."""
    its_own = part.name in _SEARCHES or (_stem(part) in _SHELLS and fed_by not in _FEEDS)
    return part.name in _FILTERS or bool(fed_by and its_own)


def _inner(part: Simple) -> Iterator[Simple]:
    """What a command may run with some of its own words."""
    words, behind = part.words, _RUNS.get(_stem(part))
    if behind is None:
        return
    plain = [at for at, word in enumerate(words) if word[:1] != "-"]
    verbs = [at for at, word in enumerate(words) if word in behind or not (at or behind)]
    behind_it = [[to for to in plain if to > at] for at in verbs if at not in plain or not at]
    starts = [to for some in behind_it for to in some[:1]]
    if verbs and verbs[0] in plain:  # options and names may come first
        starts += (at for at in _verbs(words[:_MOST_INNER]) if at > verbs[0])
    yield from (part._replace(words=words[at : at + _MOST_INNER]) for at in starts)


def _stem(part: Simple) -> str:
    """The program's name without a version, as of `python3.12`."""
    return part.name.rstrip(".0123456789")


def _reads_or_asks(part: Simple) -> bool:
    """Whether a command reads a file, asks somebody, does not end, or is one of ours."""
    name, arguments = part.name, part.words[1:]
    if name in _NEVER or name.startswith("$"):
        return True
    if name.partition("-")[0] in hosts.names_of_hosts():
        return True  # another agent
    if name in _OF_NAMES:
        return _is_ours(part)
    if name == "git":
        return _git_reads_or_asks(arguments)
    has_file = any(not argument.startswith("-") for argument in arguments)
    if _stem(part) in _SHELLS and not has_file and _TELLS.isdisjoint(arguments):
        return True  # its prompt
    if name in _LINES and any(not wrappable(line) for line in _lines(part.words)):
        return True
    return _asks_by_option(part) or _asks_by_verb(part) or _is_ours(part)


def _asks_by_option(part: Simple) -> bool:
    """Whether an option, or a word that means one to this program, asks or follows."""
    words = part.words
    log = itertools.dropwhile(lambda word: word not in _LOGS, words)
    follows = any(word[:1] == "-" != word[1:2] and "f" in word.partition("=")[0] for word in log)
    options = (word.partition("=") for word in words[1:])
    asks = any(name in _ASKS and value not in ("false", "no", "0") for name, _, value in options)
    return follows or asks or words[-1] == "-w"  # a word after it would be its value


def _lines(words: tuple[str, ...]) -> list[str]:
    """What a shell is given to run, as in `bash -eo pipefail -c LINE`."""
    pairs = itertools.pairwise(words if words[1:2] and words[1][:1] in ("-", "+") else ())
    return [word for option, word in pairs if option[:1] == "-" != option[1:2] and "c" in option]


def _asks_by_verb(part: Simple) -> bool:
    """Whether a verb of a command serves or asks."""
    if not _AGREED.isdisjoint(part.words):
        return False
    if not _OF_ONE.get(_stem(part), _AGREED).isdisjoint(part.words[1:]):
        return True
    script = next((word for word in part.words[1:] if not word.startswith("-")), "")
    called = script.rpartition("/")[2].partition(".")[0]  # `python tools/serve.py`
    if _stem(part) in _SHELLS and called in _SCRIPTS:
        return True
    words = (part.name, *part.words[1:_MOST_WORDS])
    verbs = (verb for at in _verbs(words) for verb in words[at].split(":"))
    return any(verb in _VERBS or verb.endswith((".server", "-server")) for verb in verbs)


def _verbs(words: tuple[str, ...]) -> Iterator[int]:
    """Where the words are that say what a command does, not options and their possible values."""
    before = ""
    for at, word in enumerate(words):
        has_value = before.startswith("-") and before != "-m" and words[0] not in _MAKES
        if not (has_value or word.startswith("-")):
            yield at
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


def _git_reads_or_asks(arguments: tuple[str, ...]) -> bool:
    """Whether a git command prints a file, opens an editor, or waits for answers."""
    pairs = enumerate(zip(("", *arguments), arguments, strict=False))
    verbs = (at for at, (before, word) in pairs if word[:1] != "-" and before not in _GIT_PLACES)
    at = next(verbs, None)
    if at is None:
        return False
    verb, behind = arguments[at], arguments[at + 1 :]
    asks = _GIT_ASKS.get(verb)
    if "--continue" in behind or verb == "show":
        return verb != "show" or any(":" in word for word in behind if word[:1] != "-")
    if asks is None or (verb == "stash" and behind[:1] == ("show",)):
        return False
    words = {*behind, *itertools.chain(*map(_git_options, behind))}
    if not _GIT_MESSAGES.isdisjoint(words):
        asks = frozenset(("-p", "-e"))
    return not asks or not words.isdisjoint(asks | _GIT_PATCHES)


def _git_options(word: str) -> list[str]:
    """The options in a word: `-a` and `-m` in `-amTEXT`, `--file` in `--file=x`."""
    if word.startswith("--"):
        return [word.partition("=")[0]]
    letters, m, _ = word[1:].partition("m")
    return [f"-{letter}" for letter in letters + m] if word.startswith("-") else []


def _peeled(parts: list[Simple]) -> int | None:
    """The number of commands that stay outside: up to the last `cd`, for the host's next command.

    None if one of them prints something, or may set `-e`, which would end the wrapped part before
    its status is told.
    """
    first = max((at for at, part in enumerate(parts, 1) if part.name in _STATEFUL), default=0)
    outside, rest = parts[:first], parts[first:]
    if not rest or any(part.name not in _OUTSIDE for part in outside):
        return None
    if any(part.after not in ("&&", ";", "\n") for part in outside):
        return None
    return first


def wrapped(command: str, parts: list[Simple], sink: str) -> str:
    """The command with our wrapper behind it; `sink` names the mark first."""
    first = _peeled(parts) or 0
    at = parts[first].start
    mark = sink.partition("--sink=")[2].partition(" ")[0]
    end = f"printf '\\0{mark}:%s\\n' \"$?\""
    chained = any(part.after == "&&" for part in parts[:first][-1:])
    if chained and any(part.after in ("||", ";", "\n") for part in parts[first:]):
        # What follows `;` runs even if the folder does not exist.
        return f"{command[:at]}:; {{ ( (exit $?) && {command[at:]}\n) 2>&1; {end}; }} | {sink}"
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
