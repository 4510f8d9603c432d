"""Every number of the toolkit, with its unit and the design it comes from.

Each can be set in `contextkit.yaml` at the root of a repository; `make context_config` shows what
is in force. Token counts are those of `tokens.estimate`.
"""

from __future__ import annotations

from contextkit.base import names
from contextkit.base.errors import bad_input
from contextkit.base.records import Record

SETTINGS = "contextkit.yaml"  # at the root; most repositories have none and pay nothing for it
SWEEP_PAUSE = 3600  # seconds between sweeps of idle sessions in passing
_DURATIONS = ("payload_idle", "payload_grace", "memory_checkpoint_age", "verdict_run_lifetime")
_MAY_BE_0 = ("memory_save_percent", "hook_tool_output_tokens")  # 0 turns them off


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
    hook_report_tokens: int = (
        2000  # tokens in a subagent's report, above which a receipt replaces it
    )
    hook_tool_output_tokens: int = (
        0  # tokens in a tool's output, above which a receipt replaces it; 0: never
    )
    hook_blocks: int = 2  # how often a subagent is sent back to fix its output

    def check(self) -> None:
        for name, annotation in self.fields().items():
            if annotation == "int" and getattr(self, name) < 1 and name not in _MAY_BE_0:
                raise bad_input(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.tokenizer not in ("o200k", "cl100k", "claude"):
            raise bad_input(f"tokenizer must be o200k, cl100k or claude, not {self.tokenizer!r}")
        for name in _DURATIONS:
            if names.seconds(getattr(self, name)) < 1:
                raise bad_input(f"{name} must be longer than 0")
        for name in ("capsule_warn_percent", "memory_save_percent", "memory_warn_percent"):
            if getattr(self, name) > 100:
                raise bad_input(f"{name} is a percentage: at most 100")
