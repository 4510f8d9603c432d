"""The contract with each host: whatever it passes, it gets back only what it takes."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import CHECKOUT, each
from contextkit.base import filters, tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents.contracts import Answer, Host, HostEvent
from contextkit.hosts.flows import adoption, changes, runner
from documented import COMMON, FIELDS
from hypothesis import given
from hypothesis import strategies as st

from hooks import problems

FIXTURES = Path(__file__).parent / "inputs"
PAIRS = [(host.name, event) for host in hosts.every() for event in host.events]
UNREAD = {"background_tasks", "session_crons", "prompt_id", "tool_use_id", "duration_ms"}
PASSED = sorted(path.name for path in FIXTURES.iterdir() if path.is_file())
RECORDED = sorted((FIXTURES / "recorded").glob("*/*.json"))


def samples(host: str) -> dict[str, dict[str, Any]]:
    path = CHECKOUT / "templates" / "hosts" / f"{host}.json"
    found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def fire(host: str, event: str, data: bytes) -> str:
    return runner.run([event, f"--host={host}"], data)


def test_there_is_a_recorded_input_for_every_event() -> None:
    for host in hosts.every():
        assert list(samples(host.name)) == list(host.events)
        assert {event.ours for event in host.events.values()} <= set(runner.ACTIONS)


@each(("host", "event"), [(host, event) for host, inputs in FIELDS.items() for event in inputs])
def test_a_recorded_input_passes_only_fields_that_the_host_documents(host: str, event: str) -> None:
    sample = samples(host)[event]
    known = {*COMMON, *FIELDS[host][event]}
    assert sample["hook_event_name"] == event
    assert set(sample) - known <= UNREAD


@pytest.mark.parametrize(("host", "event"), PAIRS)
def test_the_answer_to_a_complete_input_is_one_that_the_host_takes(
    repo: Path, host: str, event: str
) -> None:
    said = fire(host, event, json.dumps({**samples(host)[event], "cwd": str(repo)}).encode())
    assert problems(host, event, 0, said) == []
    assert not (repo / ".contextkit" / "hooks" / "diagnostics.log").exists()


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_recorded_input_gets_what_its_host_takes(repo: Path, path: Path) -> None:
    """What real hosts passed; an input of one summarizer, or a prompt of a tool, leaves nothing."""
    host, given = path.parent.name, json.loads(path.read_text(encoding="utf-8"))
    event = given["hook_event_name"]
    said = fire(host, event, json.dumps({**given, "cwd": str(repo)}).encode())
    assert problems(host, event, 0, said) == []
    assert not (repo / ".contextkit" / "hooks" / "diagnostics.log").exists()
    if "compaction" in path.stem or "notification" in path.stem or "of-a-subagent" in path.stem:
        assert said == "" and sorted(one.name for one in repo.iterdir()) == [".git"]


@pytest.mark.parametrize("passed", PASSED)
@pytest.mark.parametrize("host", list(hosts.names_of_hosts()))
def test_an_odd_input_never_stands_in_the_way(repo: Path, host: str, passed: str) -> None:
    for event in (*hosts.find(host).events, "PreToolUse", "AnEventOfNextYear", ""):
        data = (FIXTURES / passed).read_bytes().replace(b"EVENT", event.encode())
        assert problems(host, event, 0, fire(host, event, data)) == []
    log = repo / ".contextkit" / "hooks" / "diagnostics.log"
    assert log.exists() == passed.startswith("garbage")
    assert not [path for path in repo.parent.rglob("*") if path.name.startswith("pwned")]


def test_the_event_may_stand_in_the_input_alone(repo: Path) -> None:
    data = json.dumps({**samples("claude")["SubagentStop"], "cwd": str(repo)}).encode()
    assert "in your own words" in runner.run([], data)
    assert list((repo / "shared" / "payloads").rglob("*-explore.md"))


answers = st.builds(Answer, context=st.text(), quoted=st.text(), origin=st.text(), block=st.text())


@given(host=st.sampled_from(list(hosts.names_of_hosts())), answer=answers, event=st.sampled_from(
    [*hosts.find("claude").events, "PreToolUse", "Nonsense"]))  # fmt: skip
def test_every_answer_is_put_into_a_form_that_the_host_takes(
    host: str, answer: Answer, event: str
) -> None:
    assert problems(host, event, 0, hosts.output(host, event, answer)) == []


def test_text_is_handed_to_an_agent_where_its_host_can() -> None:
    said = hosts.output("claude", "SubagentStart", Answer(context="2 reminders are open"))
    inner = {"hookEventName": "SubagentStart", "additionalContext": "2 reminders are open"}
    assert json.loads(said) == {"hookSpecificOutput": inner}
    assert hosts.output("codex", "PreCompact", Answer(context="lost")) == ""


def test_a_block_carries_its_reason_and_nothing_else() -> None:
    said = hosts.output("codex", "SubagentStop", Answer(block="write out/x.md", context="more"))
    assert json.loads(said) == {"decision": "block", "reason": "write out/x.md"}
    assert hosts.output("claude", "SessionEnd", Answer(block="stay")) == ""


@given(text=st.text(alphabet="`~a\n#", min_size=1), origin=st.text())
def test_quoted_text_stays_in_its_fence_and_its_origin_on_its_line(text: str, origin: str) -> None:
    said = hosts.labeled(text, origin)
    if not text.strip():
        assert said == ""
        return
    head, blank, *fenced = said.split("\n")
    assert head.startswith("Information from ") and blank == ""
    assert "\n".join(fenced) == filters.fenced(text, "markdown")


@given(session=st.text(), agent=st.text())
def test_ids_become_names_that_are_safe_and_told_apart(session: str, agent: str) -> None:
    def safe(text: str) -> str:
        return hosts.HookInput(host="claude", event="Stop", passed={"session_id": text}).session

    for name in (safe(session), safe(agent)):
        assert len(name) <= 64 and "/" not in name and name[:1] not in (".", "-")
    if safe(session) == safe(agent) != "":
        assert session == agent


def test_a_host_is_added_by_one_declaration(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own names for events and fields, its own file; adopt, doctor and the runner follow."""
    told = HostEvent(name="Finished", does="SubagentStop", takes=("block",))
    met = HostEvent(name="Hello", does="SessionStart", takes=("context",))
    emacs = Host(
        name="emacs", title="Emacs", command="emacs", settings=".emacs.d/hooks.json",
        project="EMACS_PROJECT", renamed={"last_assistant_message": "said"},
        events=hosts.by_name(told, met),
    )  # fmt: skip
    monkeypatch.setitem(hosts.KNOWN, "emacs", emacs)
    assert "emacs" in hosts.names_of_hosts() and "emacs" not in hosts.defaults()
    long = "# Report\n\n" + "It takes 52 ms. " * 300
    given = {"session_id": "s", "agent_id": "a", "agent_type": "Explore", "said": long}
    fire("emacs", "Finished", json.dumps(given).encode())
    assert list((repo / "shared" / "payloads" / "s").glob("*-explore.md"))
    changes.carry_out(adoption.adopt(str(repo), "tools/contextkit", ("emacs",), False))
    written = json.loads((repo / ".emacs.d" / "hooks.json").read_text(encoding="utf-8"))
    (one,) = written["hooks"]["Finished"][0]["hooks"]
    assert one["command"].startswith('"${EMACS_PROJECT}"/tools/contextkit/scripts/hook.sh')
    assert adoption.installed(Layout(), emacs) and (repo / ".agents" / "skills").is_dir()
    assert {host.title for host in hosts.every()} >= {"Emacs", "Claude Code", "Codex"}


def test_an_unknown_host_is_refused_by_name() -> None:
    with pytest.raises(ContextError, match="'emacs' is not one of claude, codex"):
        hosts.parse("emacs", "Stop", b"{}")


@each(
    ("host", "event", "said", "problem"),
    [
        ("claude", "SubagentStart", "hello", "plain text"),
        ("claude", "SessionEnd", "{}", "takes nothing"),
        ("codex", "PreCompact", "{}", "takes nothing"),
        ("codex", "Stop", "done", "plain text"),
        ("codex", "Stop", "{", "not valid JSON"),
        ("claude", "Stop", '{"decison": "block"}', "unknown key 'decison'"),
        ("claude", "Stop", '{"decision": "deny", "reason": "x"}', "must be 'block'"),
        ("claude", "Stop", '{"decision": "block"}', "without a reason"),
        ("codex", "Stop", '{"reason": "x"}', "without a decision"),
        ("claude", "SubagentStart", '{"decision": "block", "reason": "x"}', "takes none"),
        ("claude", "Stop", '{"continue": "yes"}', "must be bool"),
        ("codex", "SubagentStop", '{"hookSpecificOutput": {"hookEventName": "SubagentStop"}}',
         "takes none"),
        ("claude", "SessionStart", '{"hookSpecificOutput": {}}', "hookEventName must be"),
        ("claude", "SessionStart",
         '{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": 1}}',
         "must be text"),
        ("claude", "SessionStart",
         '{"hookSpecificOutput": {"hookEventName": "SessionStart", "context": ""}}',
         "unknown key 'context'"),
        ("claude", "SessionStart", "x" * 10_001, "above 10000"),
        ("codex", "SessionStart", "word " * 3000, "above 2500"),
    ],
)  # fmt: skip
def test_what_a_host_would_not_take_is_said(host: str, event: str, said: str, problem: str) -> None:
    assert problem in "; ".join(problems(host, event, 0, said))


def test_any_status_but_0_is_a_problem() -> None:
    assert problems("claude", "Stop", 2, "")
    assert problems("claude", "Stop", 0, "") == []


def test_our_own_cap_is_below_those_of_the_hosts() -> None:
    from contextkit.base.settings import Limits

    assert Limits().hook_context_characters < 10_000
    assert Limits().hook_context_tokens < 2500 and tokens.CAUTION > 1


# What is no host: tokenizers, the vendors of secrets, and a folder that profiles lie in.
_OTHER_THINGS = {"host_variables.py", "tokens.py", "settings.py", "secret_rules.py"}


def test_no_code_but_its_declaration_names_a_host() -> None:
    """Comments and docstrings may; `host_variables.py` is written from the declarations."""
    words = re.compile(rf"\b({'|'.join(hosts.names_of_hosts())})\b", re.IGNORECASE)
    found = []
    for path in sorted((CHECKOUT / "scripts").rglob("*.py")):
        if path.parent.name in ("declared", "compiled") or path.name in _OTHER_THINGS:
            continue
        text = path.read_text(encoding="utf-8")
        if not words.search(text.replace("_", " ")):
            continue  # most modules: no need to take them apart
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = ""  # a docstring
        for line in ast.unparse(tree).splitlines():
            if words.search(line.replace("_", " ")):
                found.append(f"{path.name}: {line.strip()}")
    assert found == []
