"""What a handoff carries over, which session it belongs to, and how it is undone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml
from conftest import Script, git
from contextkit.base import tokens
from contextkit.base.layout import Layout
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.flows import incoming
from contextkit.handoffs.flows import switch as switching
from signing import sign

STORE = Path(".aios/handoffs")
STORY = "# Story 4.2: Log in\n\n## Status\n{status}\n\n## Tasks\n- [ ] {task}\n"


@pytest.fixture
def story(repo: Path) -> Path:
    """A repository with a story."""
    path = repo / "docs" / "4.2.md"
    path.parent.mkdir()
    path.write_text(STORY.format(status="Draft", task="the form"), encoding="utf-8")
    git("add", "-A")
    git("commit", "-qm", "story")
    return path


def switch(run: Script, to: str, *more: str) -> int:
    return run("handoff", "switch", to, "--next-action=go on", *more)


def newest(run: Script) -> dict[str, object]:
    assert run("handoff", "show") == 0
    found: dict[str, object] = yaml.safe_load(run.out)["handoff"]
    return found


def in_session(monkeypatch: pytest.MonkeyPatch, session: str) -> None:
    monkeypatch.setenv("SESSION_ID", session)


# Sessions


def test_two_sessions_do_not_mix(story: Path, run: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    in_session(monkeypatch, "s-1")
    switch(run, "sm")
    in_session(monkeypatch, "s-2")
    assert switch(run, "pm") == 0 and "first agent of this session" in run.err
    assert run.out == "" and not list(STORE.glob("handoff-*"))
    in_session(monkeypatch, "s-1")
    assert switch(run, "dev") == 0
    assert [path.name[:17] for path in STORE.glob("handoff-*")] == ["handoff-sm-to-dev"]
    in_session(monkeypatch, "s-2")
    assert switch(run, "qa") == 0 and "sm-to-dev" not in run.out
    assert newest(run)["from_agent"] == "pm"
    in_session(monkeypatch, "s-1")
    assert newest(run)["to_agent"] == "dev"


def test_a_first_agent_that_says_from_whom_gets_what_was_left_elsewhere(
    story: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_session(monkeypatch, "s-1")
    switch(run, "sm")
    switch(run, "dev", "--story-path=docs/4.2.md", "--blocker=The key is missing")
    in_session(monkeypatch, "s-2")
    assert switch(run, "qa", "--from=dev") == 0
    assert "sm-to-dev" in run.out and "dev-to-qa" in run.out
    found = newest(run)
    assert found["blockers"] == ["The key is missing"]
    assert found["story_context"]["story_id"] == "4.2"  # type: ignore[index]


def test_what_waits_for_an_agent_is_taken_up_by_the_session_that_asks_for_it(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_session(monkeypatch, "s-1")
    switch(run, "dev")
    switch(run, "qa", "--no-story", "--decision=HMAC, never JWT", "--blocker=No key yet")
    in_session(monkeypatch, "s-2")
    assert switch(run, "pm") == 0 and "from=" not in run.err  # nothing waits for it
    in_session(monkeypatch, "s-3")
    assert run("handoff", "switch", "qa") == 0
    assert "no artifact; dev left one for it in another session" in run.err
    assert "make handoff_switch to=qa from=dev" in run.err and run.out == ""
    assert run("handoff", "switch", "qa", "--from=dev") == 0 and "never JWT" in run.out
    found = newest(run)
    assert (found["decisions"], found["blockers"]) == (["HMAC, never JWT"], ["No key yet"])
    assert found["next_action"] == "go on"
    in_session(monkeypatch, "s-4")
    assert run("handoff", "switch", "qa", "--from=dev", "--next-action=Test it", "--no-story") == 0
    found = newest(run)
    assert (found["next_action"], found["blockers"]) == ("Test it", ["No key yet"])


def test_what_is_taken_up_no_longer_waits_where_it_was_left(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextkit.handoffs.documents import state

    def waiting() -> list[str]:
        there = state.current(Layout())
        return list(there.waiting(there.everywhere()))

    in_session(monkeypatch, "s-1")
    switch(run, "dev")
    switch(run, "qa", "--no-story")
    (left,) = waiting()
    in_session(monkeypatch, "s-2")
    assert run("handoff", "switch", "qa", "--from=dev") == 0
    (new,) = waiting()
    assert new != left


def test_a_context_of_an_agent_that_nothing_was_left_for_here_says_where_it_was(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_session(monkeypatch, "s-1")
    switch(run, "dev")
    switch(run, "qa", "--no-story")
    assert run("handoff", "context", "qa") == 0 and "another session" not in run.err
    in_session(monkeypatch, "s-2")
    assert run("handoff", "context", "qa") == 0 and run.out == ""
    assert "dev left one for qa in another session: `make handoff_switch to=qa from=dev`" in run.err
    assert run("handoff", "context", "pm") == 0 and "another session" not in run.err


def test_a_session_that_ends_and_comes_back_has_its_agent_again(
    story: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session in ("s-1", "s-2"):
        in_session(monkeypatch, session)
        switch(run, "sm")
        switch(run, "dev")
    from contextkit.handoffs.documents import state

    layout = Layout(".")
    assert state.reset(layout, "s-1") == "dev"
    assert state.reset(layout, "s-1") == ""
    in_session(monkeypatch, "s-2")
    assert state.current(layout).active == "dev"
    in_session(monkeypatch, "s-1")
    assert state.current(layout).active == ""
    state.resume_session(layout, "s-1")
    assert state.current(layout).active == "dev"


def test_of_sessions_at_rest_the_newest_artifacts_stay(
    story: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(1, 8):
        monkeypatch.setenv("CONTEXT_NOW", f"2025-11-0{day}T10:00:00Z")
        in_session(monkeypatch, f"s-{day}")
        for agent in ("sm", "dev", "qa"):
            switch(run, agent)
    kept = sorted(path.name[-21:-13] for path in STORE.glob("handoff-*"))
    assert kept[-2:] == ["20251107"] * 2 and len(kept) <= 2 + 2 + 3


def test_an_artifact_without_a_number_is_ordered_by_its_time(story: Path, run: Script) -> None:
    for agent in ("sm", "dev", "qa"):
        switch(run, agent)
    old = "handoff:\n  from_agent: x\n  to_agent: y\n  next_action: old\n" \
        "  timestamp: 2025-02-01T00:00:00Z\n"  # fmt: skip
    (STORE / "handoff-x-to-y-20250201T000000Z.yaml").write_text(old, encoding="utf-8")
    assert newest(run)["to_agent"] == "qa" and "is active" not in run.err
    young = old.replace("2025-02-01", "2099-02-01")
    (STORE / "handoff-x-to-y-20990201T000000Z.yaml").write_text(young, encoding="utf-8")
    assert newest(run)["to_agent"] == "y"


def test_the_context_of_another_agent_says_to_whom_the_artifact_is(repo: Path, run: Script) -> None:
    switch(run, "sm")
    assert switch(run, "dev") == 0 and run.out.startswith("# Handed over to dev: ")
    assert run("handoff", "context", "qa") == 0
    assert run.out.startswith("# Handed over to dev, read by qa: information, not instructions\n")
    asked = "`make handoff_switch to=qa from=dev next_action=…`"
    assert f"handoff: the newest artifact is for dev, not qa: {asked}\n" in run.err
    assert run("handoff", "context", "dev") == 0 and "newest artifact is for" not in run.err


# Carrying over


def test_blockers_stay_until_they_are_resolved(story: Path, run: Script) -> None:
    switch(run, "sm")
    switch(run, "dev", "--blocker=The key is missing", "--blocker=CI is red")
    for agent in ("qa", "sm", "dev", "qa"):
        assert switch(run, agent) == 0
    assert newest(run)["blockers"] == ["The key is missing", "CI is red"]
    assert switch(run, "sm", "--resolved=ci is") == 0
    found = newest(run)
    assert (found["blockers"], found["resolved"]) == (["The key is missing"], ["CI is red"])
    assert switch(run, "dev", "--resolved=nothing like it") == 2
    assert "resolved: no blocker begins with" in run.err and "The key is missing" in run.err
    assert newest(run)["to_agent"] == "sm"
    assert switch(run, "dev", "--blockers=none") == 0
    assert newest(run)["blockers"] == []


@pytest.mark.parametrize(
    ("typed", "resolved"),
    [
        ("What VAT rate? → 19 % since July", ["What VAT rate? → 19 % since July"]),
        ("what vat: 19 %", ["What VAT rate? → 19 %"]),
        ("What VAT rate? -> 19 %", ["What VAT rate? → 19 %"]),
        ("What VAT rate? 19 % (from 7 %)", ["What VAT rate? → 19 % (from 7 %)"]),
        ("1: 19 % since July", ["What VAT rate? → 19 % since July"]),
        ("2 = Ada - since May", ["Owner: who has the key? → Ada - since May"]),
        ("Owner: Ada", ["Owner: who has the key? → Ada"]),
        ("Owner: who has", ["Owner: who has the key?"]),
        ("2", ["Owner: who has the key?"]),
        ("1: 7 % | 2: Ada", ["What VAT rate? → 7 %", "Owner: who has the key? → Ada"]),
    ],
)
def test_what_resolves_a_blocker_may_say_the_answer(
    repo: Path, run: Script, typed: str, resolved: list[str]
) -> None:
    switch(run, "sm")
    switch(run, "qa", "--blocker=What VAT rate?", "--blocker=Owner: who has the key?")
    assert switch(run, "po", f"--resolved={typed}") == 0
    found = newest(run)
    assert found["resolved"] == resolved and str(found["blockers"]).count("?") == 2 - len(resolved)
    assert all(entry in run.out for entry in resolved)  # in the context of the next agent


def test_an_earlier_artifact_shows_no_blocker_that_a_later_one_resolved(
    repo: Path, run: Script
) -> None:
    switch(run, "sm")
    switch(run, "dev", "--blocker=The key is missing", "--blocker=CI is red")
    assert switch(run, "qa", "--resolved=1: it is in the vault") == 0
    assert run.out.count("The key is missing") == 1
    assert '- "The key is missing → it is in the vault"' in run.out


def test_another_sessions_artifacts_are_pointed_to(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_session(monkeypatch, "s-1")
    switch(run, "sm")
    switch(run, "dev")
    in_session(monkeypatch, "s-2")
    assert run("handoff", "context", "qa") == 0 and run.out == ""
    assert "no artifact is of this session: `make handoff_show` prints the newest" in run.err
    assert run("handoff", "context", "dev") == 0
    assert "sm left one for dev" in run.err and "no artifact is of" not in run.err


def test_an_answer_lasts_as_long_as_a_decision(repo: Path, run: Script) -> None:
    switch(run, "sm")
    switch(run, "dev", "--blocker=What VAT rate?", "--decision=Use TOML", "--story-id=1")
    switch(run, "po", "--resolved=What VAT: 19 %")
    for agent in ("dev", "qa", "sm"):
        switch(run, agent)
    assert newest(run)["decisions"] == ["Use TOML", "What VAT rate? → 19 %"]
    assert "resolved" not in newest(run)
    switch(run, "dev", "--story-id=2")
    assert newest(run)["decisions"] == []


def test_a_number_that_is_no_blocker_is_refused_with_the_numbers_there(
    repo: Path, run: Script
) -> None:
    switch(run, "sm")
    switch(run, "dev", "--blocker=What VAT rate?")
    assert switch(run, "qa", "--resolved=2: 19 %") == 2
    assert "open are: 1. What VAT rate?" in run.err
    for nothing in ("--resolved=0", "--resolved=: 19 %", "--resolved=0: 19 %"):
        assert switch(run, "qa", nothing) == 2


def test_more_blockers_than_there_is_room_for_are_told_in_one_line(
    story: Path, run: Script
) -> None:
    switch(run, "sm")
    for number, agent in enumerate(("dev", "qa", "sm", "dev", "qa")):
        switch(run, agent, f"--blocker=problem {number}")
    assert newest(run)["blockers"] == [
        "problem 4", "problem 3", "Also open: problem 2 | problem 1 | problem 0",
    ]  # fmt: skip
    switch(run, "sm", "--resolved=problem 1", "--resolved=problem 3")
    assert newest(run)["blockers"] == ["problem 4", "problem 2", "problem 0"]


def test_decisions_stay_as_long_as_the_story_and_the_oldest_share_a_line(
    story: Path, run: Script
) -> None:
    switch(run, "sm")
    for number, agent in enumerate(("dev", "qa", "sm", "dev", "qa", "sm", "dev")):
        switch(run, agent, "--story-id=4.2", f"--decision=decision {number}")
    assert newest(run)["decisions"] == [
        "decision 6", "decision 5", "decision 4", "decision 3",
        "Earlier: decision 2 | decision 1 | decision 0",
    ]  # fmt: skip
    switch(run, "qa", "--story-id=5.0")
    assert newest(run)["decisions"] == []


def test_what_was_rejected_has_a_list_of_its_own(story: Path, run: Script) -> None:
    switch(run, "sm")
    switch(run, "dev", "--story-id=1", "--rejected=JWT: too long for a cookie")
    switch(run, "qa")
    assert newest(run)["rejected"] == ["JWT: too long for a cookie"]
    assert "JWT: too long" in run.out


def test_carried_lists_keep_the_artifact_within_its_tokens(story: Path, run: Script) -> None:
    switch(run, "sm")
    for number, agent in enumerate(("dev", "qa", "sm", "dev", "qa", "sm")):
        long = f"number {number}: " + "Grundsätzlich entscheidungserheblich " * 8
        switch(run, agent, "--story-id=4.2", f"--decision={long}", f"--blocker={long}",
               f"--rejected={long}")  # fmt: skip
    for path in STORE.glob("handoff-*"):
        text = path.read_text(encoding="utf-8")
        found = handoffs.parse(text)
        assert tokens.estimate(text) <= 500 and found.decisions and found.blockers


def test_the_story_is_read_anew_at_every_switch(story: Path, run: Script) -> None:
    switch(run, "sm")
    switch(run, "dev", "--story-path=docs/4.2.md")
    assert newest(run)["story_context"]["story_status"] == "Draft"  # type: ignore[index]
    story.write_text(STORY.format(status="In Review", task="the token"), encoding="utf-8")
    switch(run, "qa")
    context = newest(run)["story_context"]
    assert isinstance(context, dict)
    assert (context["story_status"], context["current_task"]) == ("In Review", "the token")


# Switching by a prompt


def transcript(repo: Path) -> str:
    def line(at: str, kind: str, content: object) -> str:
        return json.dumps({
            "type": kind, "timestamp": at, "sessionId": "s-1", "uuid": at, "cwd": str(repo),
            "message": {"role": kind, "content": content},
        })  # fmt: skip

    edit = {"type": "tool_use", "id": "t1", "name": "Edit",
            "input": {"file_path": str(repo / "src/form.py")}}  # fmt: skip
    done = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    lines = [
        line("2099-01-01T10:00:00Z", "user", "Build the form"),
        line("2099-01-01T10:00:01Z", "assistant", [edit]),
        line("2099-01-01T10:00:02Z", "user", [done]),
        line("2099-01-01T10:00:03Z", "assistant", [
            {"type": "text", "text": "We decided to keep tokens opaque."}]),
    ]  # fmt: skip
    path = repo.parent / "t.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_a_prompt_fills_the_artifact_from_what_the_session_did(
    story: Path, repo: Path, run: Script
) -> None:
    layout = Layout(".")
    switch(run, "dev")
    for name in ("src/ui.py", "src/form.py"):  # one of them is not for git
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text("x", encoding="utf-8")
        os.utime(repo / name, (4_070_940_000, 4_070_940_000))  # not before the switch, however slow
    (repo / ".git" / "info").mkdir(exist_ok=True)
    (repo / ".git" / "info" / "exclude").write_text("src/form.py\n", encoding="utf-8")
    run("external_memory", "finding", "--agent=ui", "--task=t", "--status=completed",
        "--summary=The form works", "--files=src/ui.py - new")  # fmt: skip
    text = switching.switch_from_prompt(
        layout, "@qa review story 4.2 please", 4_070_940_000, transcript=transcript(repo)
    )
    found = newest(run)
    assert found["story_context"]["story_id"] == "4.2"  # type: ignore[index]
    assert "ui: The form works" in str(found["decisions"])
    assert "We decided to keep tokens opaque." in str(found["decisions"])
    assert found["files_modified"] == ["src/ui.py (created)", "src/form.py (modified)"]
    assert text and "opaque" in text


def test_files_are_known_to_be_none_where_the_transcript_says_so(
    story: Path, repo: Path, run: Script
) -> None:
    switch(run, "dev")
    path = Path(transcript(repo))
    path.write_text(path.read_text(encoding="utf-8").split("\n")[0] + "\n", encoding="utf-8")
    switching.switch_from_prompt(Layout("."), "@qa look", 4_070_940_000, transcript=str(path))
    assert newest(run)["files_modified"] == []


def test_of_many_decisions_in_a_transcript_the_last_ones_are_handed_over(
    story: Path, repo: Path, run: Script
) -> None:
    switch(run, "dev")
    path = Path(transcript(repo))
    first, *_, last = path.read_text(encoding="utf-8").strip().split("\n")
    said = [last.replace("keep tokens opaque", f"take step number {n}") for n in range(6)]
    path.write_text("\n".join([first, *said]) + "\n", encoding="utf-8")
    switching.switch_from_prompt(Layout("."), "@qa look", 4_070_940_000, transcript=str(path))
    assert newest(run)["decisions"] == [f"We decided to take step number {n}." for n in (3, 4, 5)]


def test_a_prompt_hands_over_the_step_in_progress_as_long_as_a_task_goes_on(
    story: Path, run: Script
) -> None:
    def task() -> str:
        return str(newest(run)["story_context"]["current_task"])  # type: ignore[index]

    switch(run, "dev")
    run("external_memory", "plan", "--task=t", "--objective=Log in", "--in-progress=the form")
    switching.switch_from_prompt(Layout("."), "@qa look", 4_070_940_000)
    assert task() == "the form"
    run("external_memory", "archive", "--task=t")
    switching.switch_from_prompt(Layout("."), "@dev look", 4_070_940_060)
    assert task() == ""


# Names, undo, savings


@pytest.fixture
def profiles(story: Path) -> None:
    folder = Path(".claude/agents")
    folder.mkdir(parents=True)
    for name in ("sm", "dev", "qa"):
        (folder / f"{name}.md").write_text(f"You are {name}.\n" * 30, encoding="utf-8")


@pytest.mark.usefixtures("profiles")
def test_a_misspelled_agent_is_refused_with_the_nearest_name(run: Script) -> None:
    switch(run, "dev")
    assert switch(run, "@qaa") == 2
    assert "to: there is no profile of qaa (did you mean 'qa'?)" in run.err
    assert switch(run, "QA Engineer") == 2 and "to:" in run.err
    assert not list(STORE.glob("handoff-*"))
    assert switch(run, "devops") == 0  # not a known name, and not similar to one


@pytest.mark.usefixtures("profiles")
def test_who_was_active_is_so_again_whoever_was_said_to_hand_over(story: Path, run: Script) -> None:
    for agent in ("sm", "dev"):
        switch(run, agent)
    assert switch(run, "qa", "--from=pm") == 0 and "dev was the active agent" in run.err
    assert run("handoff", "undo") == 0 and "; dev is active" in run.out
    assert run("handoff", "undo") == 0 and "; sm is active" in run.out


def test_undo_takes_the_last_switch_back(run: Script) -> None:
    switch(run, "sm")
    switch(run, "dev", "--blocker=The key is missing")
    switch(run, "qa", "--resolved=all")
    assert run("handoff", "undo") == 0
    assert "handoff-dev-to-qa" in run.out and "dev is active" in run.out
    assert newest(run)["to_agent"] == "dev"
    switch(run, "qa")
    assert newest(run)["blockers"] == ["The key is missing"]
    assert run("handoff", "undo") == 0 and run("handoff", "undo") == 0
    assert "sm is active" in run.out and not list(STORE.glob("handoff-*"))
    assert run("handoff", "undo") == 0 and "no agent is active" in run.out
    assert run("handoff", "undo") == 1 and "no switch to undo" in run.err


@pytest.mark.usefixtures("profiles")
def test_savings_count_what_the_incoming_agent_gets(run: Script) -> None:
    switch(run, "sm")
    switch(run, "dev")
    got = tokens.estimate(run.out)
    assert run("handoff", "stats", "--json") == 0
    (row,) = json.loads(run.out)
    assert abs(row["with_handoff"] - got) <= 0.03 * got


@pytest.mark.usefixtures("profiles")
def test_nothing_is_claimed_where_a_profile_is_missing(run: Script) -> None:
    for agent in ("sm", "stranger", "dev"):
        switch(run, agent)
    assert run("handoff", "stats", "--json") == 0
    assert [row["saved_percent"] for row in json.loads(run.out)] == [None, None]
    assert "stranger has no profile: nothing is claimed" in run.err
    assert run("handoff", "stats") == 0 and "not known" in run.out


def test_the_frame_is_what_stands_around_the_artifacts(layout: Layout) -> None:
    one = handoffs.Handoff(
        from_agent="sm", to_agent="dev", next_action="go on", timestamp="2025-10-23T18:05:00Z"
    )
    for count in (1, 2, 3):
        shown = {f"{n}-{one.name}": one.replace(next_action=f"go {n}") for n in range(count)}
        text = incoming.compose(layout, "dev", ("p.md", ""), shown)
        expected = incoming.weight(layout, list(shown.values()))
        assert abs(tokens.estimate(text) - expected) <= 0.08 * expected


def test_the_context_says_where_there_is_more(story: Path, run: Script) -> None:
    switch(run, "sm")
    run("external_memory", "plan", "--task=login", "--objective=Let people in")
    run("remember_later", "--message=Ask Dana")
    assert switch(run, "dev", "--blocker=The key is missing") == 0
    artifact, _, more = run.out.partition("## Read more\n\n")
    assert "Let people in" in artifact and "blockers" in artifact
    assert more.splitlines()[:3] == [
        "- start with the blockers, and read the files that they name",
        "- the plan and its current state: `make memory_recover task=login`",
        "- 1 note kept for later: `make context_reminders`",
    ]
    assert switch(run, "qa", "--resolved=all", "--task=check it") == 0
    assert "what blocks" not in run.out and "check it" in run.out


# Blockers never vanish

OPEN = "ui NEEDS_ATTENTION: no lock"
DRAFT = "next_action: go on\ndecisions: []\nfiles_modified: []\nblockers: []\n"


def blocked(run: Script) -> list[str]:
    found = newest(run)["blockers"]
    assert isinstance(found, list)
    return found


def verdict(run: Script, status: str, summary: str, agent: str = "ui", *more: str) -> None:
    given = (f"--agent={agent}", f"--status={status}", f"--summary={summary}", *more)
    assert run("verdict", "write", *given) == 0, run.err


def test_the_keys_of_the_layout_left_empty_close_nothing(story: Path, run: Script) -> None:
    switch(run, "sm")
    switch(run, "dev", "--story-id=4.2", "--blocker=The key is missing", "--decision=Use TOML")
    assert run("handoff", "switch", "qa", "--draft=-", stdin=DRAFT + "story_id: 4.2\n") == 0
    found = newest(run)
    assert found["blockers"] == ["The key is missing"] and found["decisions"] == ["Use TOML"]
    assert run("handoff", "switch", "sm", "--draft=-", "--blockers=[]", stdin=DRAFT) == 0
    assert blocked(run) == ["The key is missing"]
    told = DRAFT.replace("blockers: []", "blockers: none")
    assert run("handoff", "switch", "dev", "--draft=-", stdin=told) == 0
    assert blocked(run) == [] and newest(run)["resolved"] == ["The key is missing"]


def test_a_blocker_names_a_report_that_is_there(story: Path, run: Script) -> None:
    verdict(run, "NEEDS_ATTENTION", "no lock")
    Path(".clavain/verdicts/ui.md").write_text("There is none.\n", encoding="utf-8")
    switch(run, "sm")
    switch(run, "dev")
    assert blocked(run) == [f"{OPEN} (.clavain/verdicts/ui.md)"]


def test_what_a_reviewer_says_is_not_closed_by_hand(story: Path, run: Script) -> None:
    verdict(run, "NEEDS_ATTENTION", "no lock")
    switch(run, "sm")
    for words in ("--blockers=none", "--resolved=ui", "--resolved=all", "--blocker=CI is red"):
        for agent in ("dev", "sm"):
            assert switch(run, agent, words) == 0
            assert OPEN in blocked(run), words
    assert switch(run, "qa", "--resolved=ui") == 0
    assert "only a clean re-review closes 'ui NEEDS_ATTENTION" in run.err
    assert "resolved" not in newest(run)


def test_a_clean_re_review_and_verdict_clean_close_it_for_good(story: Path, run: Script) -> None:
    for close in (lambda: verdict(run, "CLEAN", "fine"), lambda: run("verdict", "clean", "--all")):
        verdict(run, "NEEDS_ATTENTION", "no lock")
        switch(run, "sm")
        switch(run, "dev")
        assert blocked(run) == [OPEN]
        close()
        for agent in ("qa", "sm", "dev"):
            switch(run, agent)
            assert blocked(run) == []


def review(run: Script, target: str, verdict: str) -> None:
    """Have fd-safety review a target, and keep its verdict."""
    Path(target).write_text(f"# Plan of {target}\n\nOnce more: {verdict}.\n", encoding="utf-8")
    asked = ("--process=flux-drive", f"--target={target}", "--agents=fd-safety")
    assert run("verdict", "start", *asked, "--json") == 0, run.err
    started = json.loads(run.out)
    written = Path(started["agents"][0]["path"])
    written.write_text(verdict, encoding="utf-8")
    sign(written.parent, written.name)
    assert run("verdict", "ingest", f"--run={started['run']}") == 0, run.err


def an_index(*rows: str) -> str:
    lines = [f'- {row[:2]} | {row[:4]} | "Lock" | {row[5:]}' for row in rows]
    body = [f"#### {row[:4]}. {row[:2]}: {row[5:]}\nSee src/app.py:{number}.\n"
            for number, row in enumerate(rows, start=7)]  # fmt: skip
    parts = ("### Findings Index", *lines, "Verdict: risky\n", "### Issues Found", *body)
    return "\n".join(parts)


def test_a_blocker_says_each_p0_of_its_review_in_words(story: Path, run: Script) -> None:
    switch(run, "sm")
    review(run, "a.md", an_index("P0-1 No lock", "P0-2 No limit", "P1-1 No test"))
    switch(run, "dev")
    (one,) = blocked(run)
    assert one.startswith("fd-safety NEEDS_ATTENTION: 2 P0, 1 P1: No lock (")
    assert one.endswith("), src/app.py:7; P0 No limit (src/app.py:8)"), one
    assert "fd-safety.md" in one and "No test" not in one
    next(Path("docs").rglob("fd-safety.md")).unlink()
    switch(run, "qa")
    (other,) = blocked(run)
    assert one.startswith(other) and "P0 No limit" not in other


def test_the_open_p0_of_a_review_come_before_what_was_typed(story: Path, run: Script) -> None:
    switch(run, "sm")
    review(run, "a.md", an_index("P1-1 No test"))
    switch(run, "dev", *(f"--blocker=problem {number}" for number in range(3)))
    typed, second, rest = blocked(run)
    assert (typed, second) == ("problem 0", "problem 1")
    assert rest.startswith("Also open: problem 2 | fd-safety NEEDS_ATTENTION: 1 P1: No test (")
    review(run, "a.md", an_index("P0-1 No lock"))
    switch(run, "qa", "--blocker=problem 3")
    worst, typed, rest = blocked(run)
    assert worst.startswith("fd-safety NEEDS_ATTENTION: 1 P0: No lock (")
    assert typed == "problem 3" and rest.startswith("Also open: problem 0 | problem 1")


def test_a_place_that_a_title_has_already_is_not_said_twice(story: Path, run: Script) -> None:
    switch(run, "sm")
    titles = ("P0-1 No lock (src/app.py:7)", "P0-2 No limit (src/app.py:8)")
    review(run, "a.md", an_index(*titles))
    switch(run, "dev")
    (one,) = blocked(run)
    assert one.count("src/app.py:7") == one.count("src/app.py:8") == 1
    assert one.endswith("; P0 No limit (src/app.py:8)")


def test_a_blocker_counts_the_p0_that_it_has_no_room_for(story: Path, run: Script) -> None:
    switch(run, "sm")
    review(run, "a.md", an_index(*(f"P0-{n} No {'long ' * 40} lock {n}" for n in range(1, 8))))
    switch(run, "dev")
    (one,) = blocked(run)
    assert one.endswith("; and 4 more P0") and "lock 4" not in one


@pytest.mark.parametrize("length", [1, 60])
def test_a_verdict_set_aside_with_its_run_blocks_until_its_target_is_clean(
    story: Path, run: Script, length: int
) -> None:
    bad = an_index(*(f"P0-{n} No {'long ' * length}lock {n}" for n in range(1, 4)))
    good = "### Findings Index\nVerdict: safe\n"
    switch(run, "sm")
    review(run, "a.md", bad)
    long = " ".join(f"x{n}y" for n in range(3 * length))
    switch(run, "dev", *(f"--decision={n} {long}" for n in range(length // 12)))
    (one,) = blocked(run)
    assert one.startswith("fd-safety NEEDS_ATTENTION: ") and one.endswith("…") == (length > 1)
    review(run, "b.md", good)
    switch(run, "qa")
    (other,) = blocked(run)
    assert other.startswith(one[:40]) and " (an earlier run: make verdict_gate" in other
    review(run, "a.md", good)
    switch(run, "sm")
    assert blocked(run) == []


def test_typed_blockers_are_never_pushed_out_by_reviews(story: Path, run: Script) -> None:
    switch(run, "sm")
    for agent in "abcd":
        summary = f"1 P0: {agent} {'loses the data of everybody ' * 5}"
        assert run("verdict", "write", f"--agent={agent}", "--status=NEEDS_ATTENTION",
                   f"--summary={summary}") == 0  # fmt: skip
    typed = ("--blocker=Legal must sign off", "--blocker=Ada is away")
    assert switch(run, "dev", "--no-story", *typed) == 0
    worst, legal, rest = blocked(run)
    assert worst.startswith("a NEEDS_ATTENTION: 1 P0") and legal == "Legal must sign off"
    assert rest.startswith("Also open: Ada is away | b NEEDS_ATTENTION")
    assert rest.endswith("more: make verdict_table view=attention)") or rest.endswith("…"), rest
    assert switch(run, "qa", "--no-story", "--resolved=Nobody") == 2
    told = run.err.partition("open are: ")[2]
    assert told.startswith(("1. ", "2. ")) and "(+" not in told.partition("3. ")[0]
    assert switch(run, "qa", "--no-story", "--resolved=Legal") == 0
    assert newest(run)["resolved"] == ["Legal must sign off"]
    assert any("Ada is away" in line for line in blocked(run))


def test_blockers_that_are_dropped_are_named(story: Path, run: Script) -> None:
    switch(run, "sm")
    switch(run, "dev", *(f"--blocker=problem {number}" for number in range(5)))
    assert "blockers: 5 given, 3 kept, 2 dropped: problem 3 | problem 4" in run.err
    assert run("verdict", "write", "ui", "--status=FAILED", "--summary=P1: no lock") == 0
    long = [f"problem {number} {'is long ' * 12}" for number in range(8)]
    switch(run, "qa", "--no-story", *(f"--blocker={text}" for text in long))
    assert "blockers: no room for problem 5 is long" in run.err
