"""Put our wrapper behind a command before the host runs it, unless something would be lost.

    pytest -q
    { exec 2>&1; ( pytest -q
    ); printf '\\0MARK:%s\\n' "$?"; } | 'TOOLKIT/scripts/run.sh' --sink=MARK …

The command stays as it was typed, in the host's own shell with its functions and aliases, so the
host's rules against a command still find it. Unless it is surely better wrapped, it is left alone.
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
# Programs that read files, or let somebody read or type; that do not end; that the user put in
# front to keep an output as it is; those that a host examines more closely.
_NEVER = frozenset(
    "cat tac sed head tail less more most bat batcat nl od xxd hexdump hexyl strings zcat bzcat"
    " xzcat lzcat zstdcat lz4cat gzcat gunzip zless zmore bzless xzless mdcat glow jless pdftotext"
    " antiword catdoc man info w3m lynx links elinks view vi vim vimdiff gvim nvim nano pico emacs"
    " emacsclient ed ex joe micro hx helix kak ssh sftp ftp telnet mosh nc ncat netcat socat"
    " minicom picocom su sudo sudoedit doas passwd chsh login visudo vipw ssh-keygen screen tmux"
    " zellij byobu dtach script expect dialog whiptail read top htop btop btm atop iotop nvtop"
    " nmon glances gotop ncdu ranger nnn lf mc vifm yazi fzf sk peco tig gitk gitui lazygit"
    " lazydocker k9s mutt neomutt aerc newsboat irssi weechat gdb cgdb lldb pdb ipdb jdb"
    " dlv rr ipython IPython bpython ptpython irb pry iex ghci psql pgcli mysql mycli mariadb"
    " sqlite3 litecli redis-cli mongosh mongo cqlsh sqlplus usql duckdb clickhouse-client aider"
    " opencode goose crush amp watch entr fswatch inotifywait ping tcpdump stern"
    " ngrok cloudflared nginx caddy mongod redis-server exec eval trap command builtin env xargs"
    " time nohup timeout rm shred dd setsid disown fg bg wait alias unalias contextkit".split()
)
# Programs that shorten or change an output, alone or at the end of a pipeline.
_FILTERS = frozenset(
    "awk gawk mawk jq yq gron fx mlr dasel xmllint htmlq pup xsv qsv csvlook csvcut csvgrep cut"
    " sort uniq tr wc tee sponge column comm diffstat delta fold fmt pr expand iconv ts ansi2txt"
    " paste join shuf rev base64 xsel xclip pbcopy wl-copy gzip bzip2 xz zstd".split()
)
_SEARCHES = frozenset("grep egrep fgrep rg ag ack".split())  # a filter only behind a pipe
_FEEDS = ("echo", "printf", "yes")  # what a program behind them gets is no output to shorten
# Programs that print next to nothing: a wrapper would only cost time.
_QUIET = frozenset(
    "cd pushd popd pwd echo printf export true false : test [ which type hash mkdir rmdir touch"
    " cp mv ln chmod chown sleep kill date hostname whoami id uname basename dirname realpath"
    " readlink stat sync unlink mktemp return exit local declare readonly let source . set unset"
    " shopt ulimit umask".split()
)
# Options of any program that ask, follow, or stop in a debugger; `--watch=false` does not.
_ASKS = frozenset(
    "-it -ti -itu -itw -ite --tty --interactive --watch --watchAll --follow --tui --pdb"
    " --inspect-brk".split()
)
_NO = frozenset(("false", "no", "0"))
_LOGS = frozenset(("logs", "journalctl"))  # `-f` follows them
_TELLS = frozenset(("--version", "-V", "-v", "--help", "-h", "--test"))
# The names of scripts, targets and subcommands of any program that do not end, or that ask unless
# one of the options below prevents it.
_SERVES = frozenset(
    "dev serve start watch up attach port-forward shell console repl preview runserver nodemon"
    " uvicorn gunicorn".split()
)
_SERVERS = _SERVES | {"server"}  # of scripts
_MAKES = ("make", "gmake")
_FLAGS_OF_MAKE = frozenset("bBdeijklnpqrRsStwv")  # without a word behind them, or only a number
_QUESTIONS = frozenset(
    "init create login adduser edit configure menuconfig nconfig apply destroy rsh tinker"
    " dbconsole".split()
)
_ENDLESS = (".server", "-server")
# Options and verbs of one program with which it asks, does not end, or prints a file.
_OF_ONE = {
    "celery": "worker beat", "crontab": "-e", "docker": "stats events", "flask": "run",
    "gpg": "--edit-key --gen-key --full-generate-key", "heroku": "--tail", "hg": "cat annotate",
    "hugo": "server", "jupyter": "notebook lab", "kubectl": "proxy", "node": "-i",
    "php": "-a -S", "podman": "stats events", "python": "-i", "rails": "c s server db",
    "strace": "-p", "svn": "cat blame", "unzip": "-p -c", "wrangler": "tail",
}  # fmt: skip
_AGREED = frozenset(
    "-y --yes --auto-approve -auto-approve --no-input --non-interactive -d --detach".split()
)
# Programs that run another, and the words behind which it stands.
_RUNS = {
    program: frozenset(words.split())
    for programs, words in {
        "find": "-exec -execdir -ok -okdir", "fd fdfind": "-x -X --exec --exec-batch",
        "python": "-m", "docker docker-compose podman kubectl oc": "exec run --",
        "uv poetry pipenv pdm hatch rye conda mamba pixi doppler": "run --",
        "bundle npm pnpm yarn mise asdf direnv": "exec",
        "npx bunx pnpx uvx nice ionice chrt stdbuf unbuffer busybox parallel xvfb-run": "",
    }.items()
    for program in programs.split()
}  # fmt: skip
_MESSAGES = frozenset(  # of git
    "--message --file --reuse-message --fixup --no-edit --dry-run --abort --quit --skip".split()
)
_GIT_READS = frozenset(
    "cat-file blame annotate archive difftool mergetool gui citool send-email".split()
)
_GIT_EDITS = {  # a message, unless it is given; with one of these words if there are any
    "commit": "", "revert": "", "tag": "-a -s --annotate --sign", "notes": "add append edit",
}  # fmt: skip
_GIT_ASKS = {  # by these letters, or a word below
    "add": "ipe", "am": "i", "branch": "", "checkout": "p", "cherry-pick": "e", "clean": "i",
    "commit": "pe", "config": "e", "merge": "e", "rebase": "i", "reset": "p", "restore": "p",
    "stash": "p",
}  # fmt: skip
_PATCHES = frozenset("--interactive --patch --edit --edit-description".split())
_GIT_PLACES = ("-C", "-c", "--git-dir", "--work-tree")  # with a word behind them
_OF_NAMES = _SEARCHES | frozenset("ls find fd tree du diff".split())  # their arguments are names
_MOST_WORDS, _MOST_INNER = 5, 12  # words that may say what a command does; what it runs
_STATEFUL = ("cd", "pushd", "popd")  # change the folder in which a host may start the next command
_LINES = frozenset("sh bash zsh dash ksh ash fish".split())  # they run a line behind `-c`
_SHELLS = _LINES | frozenset(
    "python pypy node deno ts-node tsx ruby perl php lua R julia octave erl scala jshell clj bc dc"
    " vite".split()
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
        is_last = part.after != "|"
        fed_by = before.name if before and before.after == "|" else ""
        if is_last and any(_filters(run, fed_by) for run in (part, *_inner(part))):
            return []
    return parts if _peeled(parts) is not None else []


def _filters(part: Simple, fed_by: str) -> bool:
    """Whether a command at the end of a pipeline shows what the agent wants of an output."""
    its_own = part.name in _SEARCHES or (_stem(part) in _SHELLS and fed_by not in _FEEDS)
    return part.name in _FILTERS or bool(fed_by and its_own)


def _is_excluded(part: Simple) -> bool:
    """Whether a command, or one that it runs, reads a file, asks somebody, or is one of ours."""
    if not part.words or any(word.startswith(f"{RAW}=") for word in part.assigned + part.words):
        return True
    inner = _inner(part)
    return _reads_or_asks(part) or any(_filters(run, "") or _reads_or_asks(run) for run in inner)


def _inner(part: Simple) -> Iterator[Simple]:
    """What a command may run with some of its own words."""
    words, behind = part.words, _RUNS.get(_stem(part))
    if behind is None:
        return
    starts = [at for at, word in enumerate(words, 1) if word in behind and word[0] == "-"]
    verbs = (at for at, word in enumerate(words) if word in behind and word[0] != "-")
    first = next(verbs, len(words)) if behind else 0
    plain = (at for at, word in enumerate(words[1:], 1) if not word.startswith("-"))
    starts += [next(plain, 0)] if not behind else []  # maybe behind an option without a value
    starts += [at for at in _verbs(words[:_MOST_INNER]) if at > first]
    inner = (words[at : at + _MOST_INNER] for at in starts)
    yield from (part._replace(words=some) for some in inner if some)


def _stem(part: Simple) -> str:
    """The program's name without a version, as of `python3.12`."""
    return part.name.rstrip(".0123456789")


def _reads_or_asks(part: Simple) -> bool:
    name, stem, arguments = part.name, _stem(part), part.words[1:]
    if name in _NEVER or name.startswith("$"):
        return True
    if name.partition("-")[0] in hosts.names_of_hosts():
        return True  # another agent
    if name in _OF_NAMES:
        return _is_ours(part)
    if name == "git":
        return _git_reads_or_asks(arguments)
    has_file = any(not argument.startswith("-") for argument in arguments)
    if stem in _SHELLS and not has_file and _TELLS.isdisjoint(arguments):
        return True  # its prompt
    line = _line(part.words) if name in _LINES else None
    if line is not None and not wrappable(line):
        return True
    return _asks_by_option(part) or _asks_by_verb(part) or _is_ours(part)


def _asks_by_option(part: Simple) -> bool:
    """Whether an option, or a word that means one to this program, asks or follows."""
    words, stem = part.words, _stem(part)
    logs = next((at for at, word in enumerate(words) if word in _LOGS), len(words))
    letters = (word[1:] for word in words[logs:] if word[:1] == "-" and word[1:].isalpha())
    follows = any("f" in some for some in letters)
    options = (argument.partition("=") for argument in words[1:])
    asks = any(option in _ASKS and value not in _NO for option, _, value in options)
    watches = words[-1] == "-w"  # a word after it is its value
    if follows or asks or watches:
        return True
    types = "exec" in _RUNS.get(stem, ()) and {"-i", "-t"}.issubset(words)
    return types or not set(_OF_ONE.get(stem, "").split()).isdisjoint(words[1:])


def _line(words: tuple[str, ...]) -> str | None:
    """What a shell is given to run, as in `bash -eo pipefail -c LINE`."""
    has_it = False
    for before, word in itertools.pairwise(words):
        is_value = before[:1] in ("-", "+") and before[-1:] in ("o", "O") and before[:2] != "--"
        if word[:1] in ("-", "+"):
            has_it = has_it or (word[:2] != "--" and "c" in word)
        elif not is_value:
            return word if has_it else None
    return None


def _asks_by_verb(part: Simple) -> bool:
    """Whether a verb of a command serves or asks."""
    if _AGREED.intersection(part.words):
        return False
    script = next((word for word in part.words[1:] if not word.startswith("-")), "")
    called = script.rpartition("/")[2].partition(".")[0]  # `python tools/serve.py`
    if _stem(part) in _SHELLS and called in _SERVERS:
        return True
    asks = _SERVES | _QUESTIONS
    words = (part.name, *part.words[1:_MOST_WORDS])
    verbs = (verb for at in _verbs(words) for verb in words[at].split(":"))
    return any(verb in asks or verb.endswith(_ENDLESS) for verb in verbs)


def _verbs(words: tuple[str, ...]) -> Iterator[int]:
    """Where the words are that say what a command does, not options and their possible values."""
    before = ""
    for at, word in enumerate(words):
        is_flag = words[0] in _MAKES and before[1:2] in _FLAGS_OF_MAKE  # `-s`, `-kj4`
        has_value = before.startswith("-") and before != "-m" and not is_flag
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
    pairs = zip(("", *arguments), arguments, strict=False)
    words = [word for before, word in pairs if word[:1] != "-" and before not in _GIT_PLACES]
    verb, *words = words or [""]
    if verb in _GIT_READS or "--continue" in arguments:
        return True
    if verb == "show" and any(":" in argument for argument in words):
        return True
    behind = arguments[arguments.index(verb) + 1 :] if verb else ()
    needed = _GIT_EDITS.get(verb)
    if needed is not None and not any(map(_needs_no_editor, behind)):
        return not needed or not set(needed.split()).isdisjoint(behind)
    if verb not in _GIT_ASKS or (verb == "stash" and words[:1] in (["show"], ["list"])):
        return False
    letters = "".join(word.partition("m")[0] for word in behind if word[:1] == "-" != word[1:2])
    return not (_PATCHES.isdisjoint(behind) and set(letters).isdisjoint(_GIT_ASKS[verb]))


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
