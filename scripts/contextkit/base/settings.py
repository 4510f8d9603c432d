"""The settings: every number of the toolkit and every documented place, and how a host sets them.

`contextkit.yaml` sets them, at the root of a repository or in the user's own configuration folder.
A real one is kept parsed in `.contextkit/settings`, so that YAML is imported once per edit.

Settings that act (ACTING) hold from the user's own file; those of a repository only after `make
context_trust`: whoever opens a clone has not agreed to them yet.
"""

from __future__ import annotations

import os

from contextkit.base import files, names, owned, stores
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.records import Record
from contextkit.base.type_names import Any

Values = dict[str, object]

SETTINGS = "contextkit.yaml"  # at the root, and in the user's own folder
_CACHE = os.path.join(".contextkit", "settings")
_MAX_BYTES = 65_536
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_DURATIONS = ("payload_idle", "payload_grace", "memory_checkpoint_age", "verdict_run_lifetime")
_MAY_BE_0 = ("memory_save_percent", "hook_tool_output_tokens")  # 0 turns them off
_WANTED = {"int": "a whole number", "bool": "true or false", "str": "a line of text",
           "tuple[str, ...]": "a list of lines"}  # fmt: skip


class Limits(Record):
    """The limits in force. Durations are text such as `24h`: see `names.seconds`."""

    tokenizer: str = "o200k"  # the tokenizer for which caps hold: o200k, cl100k, or claude

    # Capsules (seed: Context Capsule Hand-off Design)
    capsule_max_tokens: int = 1200  # tokens in a capsule
    capsule_mini_tokens: int = 300  # tokens in a `mini` capsule
    capsule_highlights: int = 5  # transcript highlights
    capsule_prompt_tokens: int = 2000  # tokens in the whole capture prompt
    capsule_prompt_reminders: int = 10  # reminders quoted in it
    capsule_prompt_commits: int = 5  # commits listed in it
    capsule_prompt_entries: int = 2  # latest entries of each notebook quoted in it
    capsule_warn_percent: int = 80  # of the ceiling below
    capsule_prune_days: int = 30  # age at which a superseded capsule may be pruned
    subagent_prompt_ceiling: int = 5000  # tokens in an assembled subagent prompt
    subagent_command: str = ""  # the agent's command line if a launch names none
    subagent_scope_tokens: int = 800  # tokens in a scope that is put into the prompt whole
    subagent_brief_tokens: int = 2400  # tokens that a hook injects into a fresh subagent
    subagent_interval: int = 30  # seconds between two checks by the monitor
    subagent_log_age: int = 180  # seconds of silence that the monitor reports
    subagent_run_time: int = 600  # seconds of run time that the monitor reports
    subagent_alert_polls: int = 3  # consecutive checks with the same alert, after which it gives up

    # Payloads (seed: Shared Payloads)
    payload_budget: int = 500  # tokens above which a text is stored
    payload_receipt_tokens: int = 300  # tokens in a receipt
    payload_rows: int = 7  # aspect/finding rows in a receipt
    payload_idle: str = "24h"  # of inactivity, after which a session counts as ended
    receipt_writer: str = ""  # a command that reads a prompt and prints an answer; '' for none
    payload_grace: str = "24h"  # during which an ended session can be resumed

    # Handoffs (seed: Agent Handoff Protocol)
    handoff_max_tokens: int = 500  # tokens in an artifact
    handoff_retained: int = 3  # artifacts kept
    handoff_decisions: int = 5
    handoff_files: int = 10
    handoff_blockers: int = 3
    handoff_rejected: int = 3
    handoff_profiles: tuple[str, ...] = (
        ".aios-core/development/agents/{agent}.md",
        ".claude/agents/{agent}.md",
    )
    handoff_prefixes: tuple[str, ...] = ("@", "/AIOS:agents:")  # before an agent's name in a prompt
    handoff_typical_tokens: int = 379  # of an artifact, if there is none to measure
    handoff_switches: int = 100  # of the log that `handoff_stats` reads

    # External memory (seed: External Memory System)
    memory_save_tokens: int = 150_000  # tokens in the context: save now
    memory_save_percent: int = 0  # of the window below, instead of that number; 0: not used
    memory_window_tokens: int = 200_000  # tokens that the model's context can hold
    memory_warn_percent: int = 80  # of the threshold for saving: warn
    memory_phase_transition: bool = True  # a new phase writes a checkpoint
    memory_agent_completion: bool = True  # the last agent of a batch writes a checkpoint
    memory_spawn_agents: int = 3  # agents about to start, from which on a checkpoint comes first
    memory_checkpoint_age: str = "24h"  # after which a checkpoint is stale
    memory_finding_tokens: int = 3000  # tokens in a finding, above which it is a dump
    memory_transcripts: bool = True  # recovery looks for the transcript of the last session here
    memory_recover_tokens: int = 4000  # tokens that recovery prints

    # Verdicts and review runs (seed: Subagent Context Flooding Fix)
    verdict_contract_tokens: int = 350  # tokens in the contract that an agent gets
    verdict_run_lifetime: str = "2h"  # after which an unfinished run counts as over

    # History: events in the life of documents
    ledger_days: int = 90  # days for which events are kept

    # Machines
    sync: str = "off"  # where hooks push and pull: git (origin), a git remote, or a URL
    sync_key: str = ""  # file with an age key, outside the repository; empty: nothing is encrypted

    # Secrets: kinds that are not searched for, and texts that exempt a value containing them
    secrets_allow: tuple[str, ...] = ()

    # Hooks (the hosts' own limits are 10,000 characters and about 2,500 tokens)
    hook_context_tokens: int = 2400  # tokens that a hook hands to an agent
    hook_context_characters: int = 9500  # characters of it
    hook_report_tokens: int = 2000  # tokens in a report, above which a receipt replaces it
    hook_tool_output_tokens: int = 2000  # tokens in a tool's output, likewise; off: never
    tool_output_tokens: int = 600  # tokens in the digest of a tool's output
    hook_blocks: int = 2  # how often a subagent is sent back to fix its output

    def check(self) -> None:
        for name, annotation in self.fields().items():
            least = 0 if name in _MAY_BE_0 else 1
            if annotation == "int" and getattr(self, name) < least:
                raise bad_input(f"{name} must be at least {least}, not {getattr(self, name)}")
        if self.tokenizer not in ("o200k", "cl100k", "claude"):
            raise bad_input(f"tokenizer must be o200k, cl100k or claude, not {self.tokenizer!r}")
        for name in _DURATIONS:
            if names.seconds(getattr(self, name)) < 1:
                raise bad_input(f"{name} must be longer than 0")
        for name in ("capsule_warn_percent", "memory_save_percent", "memory_warn_percent"):
            if getattr(self, name) > 100:
                raise bad_input(f"{name} is a percentage: at most 100")


class Places(Record):
    """The documented places, relative to the root, with the defaults that the stores declare."""

    _fields = dict.fromkeys(stores.SETTINGS, "str")

    def __getattr__(self, name: str) -> str:
        raise AttributeError(name)

    def check(self) -> None:
        for name in self.fields():
            value = getattr(self, name)
            parts = value.split("/")
            if os.path.isabs(value) or ".." in parts or set(parts) <= {"", "."}:
                raise bad_input(f"{name}: {value!r} must be a relative path inside the root")
            if os.path.normpath(value).split("/")[0] in (".git", ".contextkit"):
                raise bad_input(
                    f"{name}: {value!r} lies in a folder that is not meant for documents"
                )
        folders = {name: os.path.normpath(getattr(self, name)) + "/" for name in stores.FOLDERS}
        for name, folder in folders.items():
            for other, its_folder in folders.items():
                if name != other and its_folder.startswith(folder):
                    raise bad_input(f"{name}: {folder!r} would hold {other} ({its_folder!r}) too")


for _setting, _store in stores.SETTINGS.items():
    setattr(Places, _setting, _store.place)


# What a repository adds to the toolkit's own data; parsed where it is used.
ADDITIONS = {"processes": "dict[str, object]"}


# What text settings can do (numbers and switches do nothing). An ACTING one names something that is
# run, connected to, obeyed by agents, outside of the repository, or a secret that may leave it. The
# others only choose words, durations, or folders inside of it for our documents.
ACTING = frozenset(("subagent_command", "handoff_profiles", "sync", "sync_key", "receipt_writer",
                    "secrets_allow", *stores.ACTING))  # fmt: skip
USERS = frozenset(("receipt_writer",))  # those that hold only from the user's own file
HARMLESS = frozenset(
    ("tokenizer", *_DURATIONS, "handoff_prefixes", "processes", "notebooks",
     *stores.FOLDERS, "reminders", "registry")
)  # fmt: skip


def load(root: str) -> tuple[Values, frozenset[str]]:
    """The settings in force in the repository at `root`, and the names of those held back.

    Acting ones are held back until they are trusted. An unknown name or a value of the wrong type
    is refused by name.
    """
    ours = of_repository(root)
    user = _of_file(os.path.join(owned.user_folder("CONFIG"), SETTINGS))
    if not ours:
        return user, frozenset()
    acts = acting(ours)
    held = USERS.intersection(ours)
    if acts and not owned.is_trusted(root, acts):
        held |= acts.keys()
    return {**user, **{name: value for name, value in ours.items() if name not in held}}, held


def of_repository(root: str) -> Values:
    """The settings in the file of the repository at `root`, trusted or not."""
    return _of_file(os.path.join(root, SETTINGS), os.path.join(root, _CACHE))


def acting(values: Values) -> Values:
    """The acting ones among the settings."""
    return {name: value for name, value in values.items() if name in ACTING}


def _of_file(path: str, cache: str = "") -> Values:
    """The values in a file, which are kept in `cache`; the user's own has its cache elsewhere."""
    try:
        state = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    cache = cache or os.path.join(owned.user_folder("CACHE"), "settings")
    key = f"2 {state.st_size} {state.st_mtime_ns} {state.st_ino}"
    kept = _kept(cache, key)
    if kept is not None:
        return kept
    if state.st_size > _MAX_BYTES:
        raise bad_input(f"{SETTINGS}: larger than {_MAX_BYTES} bytes: it holds settings only")
    text = files.read(path)
    if all(not line or line.startswith("#") for line in map(str.strip, text.splitlines())):
        return {}
    parsed = _parsed(text)
    values = _checked(parsed)
    _keep(cache, key, parsed)
    return values


def chosen(kind: type[Record], values: Values) -> Any:
    """Make a record of `kind` from those of `values` that are its fields."""
    return kind(**{name: values[name] for name in values.keys() & kind.fields()})


def _checked(parsed: object) -> Values:
    """The values in a file. Raises ContextError naming the key and what it takes."""
    if not isinstance(parsed, dict):
        raise bad_input(f"{SETTINGS}: must be lines of `name: value`")
    types = Limits.fields() | Places.fields() | ADDITIONS
    for name in parsed:
        if name not in types:
            raise bad_input(f"{SETTINGS}: there is no setting {name!r}{names.nearest(name, types)}")
    return {name: _typed(name, value, types[name]) for name, value in parsed.items()}


def _parsed(text: str) -> object:
    from contextkit.base import formats, packages

    try:
        packages.need("yaml")
    except ContextError:
        plain = formats.plain_yaml(text)  # hooks start with a Python that has no packages
        if plain is None:
            raise
        return plain
    return formats.from_yaml(text, SETTINGS)


def _typed(name: str, value: object, annotation: str) -> object:
    if annotation == "int" and isinstance(value, str) and names.is_whole(value):
        return int(value)
    if name in _MAY_BE_0 and value in ("off", "no", "never"):
        return 0
    if annotation == "bool" and isinstance(value, str) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    is_line = isinstance(value, str) and value.isprintable() and value
    if annotation == "str" and is_line:
        return value
    if annotation == "tuple[str, ...]" and isinstance(value, list):
        return tuple(str(_typed(name, item, "str")) for item in value)
    if annotation.startswith("dict[") and isinstance(value, dict):
        return value  # its content is checked where it is used
    wanted = _WANTED.get(annotation, "lines of `name: value` indented under it")
    raise bad_input(f"{SETTINGS}: {name} must be {wanted}, not {value!r}")


def _kept(cache: str, key: str) -> Values | None:
    """The values if the file has not changed since they were kept; otherwise None."""
    try:
        first, _, rest = files.read(cache).partition("\n")
        if first != key:
            return None
        from contextkit.base import formats

        return _checked(formats.from_json(rest, cache))
    except ContextError:
        return None


def _keep(cache: str, key: str, parsed: object) -> None:
    from contextkit.base import formats

    try:
        files.store(os.path.dirname(cache))
        files.write(cache, f"{key}\n{formats.to_json(parsed)}\n", derived=True)
    except (ContextError, OSError):
        pass  # in a read-only repository it is parsed each time; nothing else is lost
