"""What hooks do: a session starts, subagents start and stop, the session ends."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

import pytest
from conftest import MANY, NOW, Script, ended, forked
from contextkit.base.layout import Layout
from contextkit.hosts.documents import seen_agents
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import storing
from contextkit.reviews.documents import verdicts
from growth import calls

from hooks import fire

pytestmark = pytest.mark.usefixtures("no_diagnostics")

LONG = "# Report\n\n" + "The parser in `src/app.py:42` takes 52 ms, which is too slow. " * 60
VERDICT = "\n\nVERDICT: NEEDS_ATTENTION the parser is slow\n"


def stop(agent: str, text: str, kind: str = "Explore") -> str:
    return fire("SubagentStop", agent_id=agent, agent_type=kind, last_assistant_message=text)


def stored(layout: Layout) -> list[str]:
    return payloads.documents(layout, "s-1")


def at(monkeypatch: pytest.MonkeyPatch, clock: str) -> None:
    monkeypatch.setenv("CONTEXT_NOW", f"2025-10-23T{clock}Z")


def test_a_long_message_is_stored_with_its_agent_as_topic_and_source(layout: Layout) -> None:
    assert stop("a1", LONG) == ""
    (path,) = stored(layout)
    payload = payloads.load(path, path)
    assert (payload.topic, payload.source, payload.content) == ("Explore", "Explore", LONG)
    assert payload.created_at == NOW
    assert seen_agents.load(layout, "s-1", "a1").stored == layout.shown(path)


def test_a_short_message_is_left_where_it_is(layout: Layout) -> None:
    assert stop("a1", "Done.") == stop("a2", "") == ""
    assert not os.path.exists(layout.payloads) and not os.path.exists(layout.state)


def test_a_subagent_that_stops_twice_is_stored_once_and_again_when_it_says_more(
    layout: Layout,
) -> None:
    stop("a1", LONG)
    stop("a1", LONG)
    assert len(stored(layout)) == 1
    stop("a1", LONG + "And this.")
    assert len(stored(layout)) == 2


def test_half_a_character_does_not_lose_the_message(layout: Layout) -> None:
    stop("a1", LONG + "\ud83d")
    (path,) = stored(layout)
    assert payloads.load(path, path).content == LONG + "?"


def test_a_message_without_a_session_is_stored_in_the_one_of_the_surroundings(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESSION_ID", "from-outside")
    fire("SubagentStop", session_id="", last_assistant_message=LONG)
    assert payloads.documents(layout, "from-outside")


def test_the_verdict_in_a_message_is_recorded_with_the_stored_text_behind_it(
    layout: Layout,
) -> None:
    stop("a1", LONG + VERDICT, "fd-speed")
    entry = verdicts.load(layout, "fd-speed")
    assert entry
    assert (entry["status"], entry["summary"]) == ("NEEDS_ATTENTION", "the parser is slow")
    assert (entry["detail_path"], entry["session_id"]) == (layout.shown(stored(layout)[0]), "s-1")


def test_talk_about_a_status_is_no_verdict(layout: Layout) -> None:
    stop("a1", "The status of the build is fine; no verdict yet.")
    assert verdicts.load_all(layout).documents == []


def test_an_agent_with_a_path_for_a_type_is_recorded_inside_the_store(layout: Layout) -> None:
    stop("a1", "STATUS: CLEAN\nMODEL: x\nSUMMARY: fine\n", "../../up")
    (entry,) = verdicts.load_all(layout).documents
    assert entry["agent"] == "..-..-up"


def named(layout: Layout) -> list[str]:
    return [entry["agent"] for entry in verdicts.load_all(layout).documents]


def test_agents_of_one_type_that_ran_side_by_side_keep_a_verdict_each(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    for agent in ("a1", "a2"):
        at(monkeypatch, "10:00:00")
        fire("SubagentStart", agent_id=agent, agent_type="Explore")
    for agent in ("a1", "a2"):
        at(monkeypatch, "10:05:00")
        stop(agent, VERDICT)
    assert named(layout) == ["Explore", "Explore:a2"]


def test_an_agent_that_started_later_replaces_the_verdict_of_its_type(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop("a1", VERDICT)
    at(monkeypatch, "20:00:00")
    fire("SubagentStart", agent_id="a2", agent_type="Explore")
    stop("a2", "STATUS: CLEAN\nMODEL: x\nSUMMARY: fixed\n")
    assert named(layout) == ["Explore"]
    assert verdicts.load_all(layout).documents[0]["status"] == "CLEAN"


def test_an_agent_whose_start_nobody_said_replaces_nothing(layout: Layout) -> None:
    stop("a1", VERDICT)
    stop("a2", VERDICT)
    assert named(layout) == ["Explore", "Explore:a2"]


def test_an_agent_that_goes_on_keeps_its_verdict(layout: Layout) -> None:
    stop("a1", VERDICT)
    stop("a2", VERDICT)
    stop("a2", "STATUS: CLEAN\nMODEL: x\nSUMMARY: fixed\n")
    assert [entry["status"] for entry in verdicts.load_all(layout).documents] == [
        "NEEDS_ATTENTION",
        "CLEAN",
    ]


def test_many_agents_that_stop_at_once_lose_nothing(layout: Layout) -> None:
    stops = [partial(stop, f"a{n}", f"{LONG}{n}{VERDICT}") for n in range(MANY)]
    assert ended([forked(one) for one in stops]) == [0] * MANY
    assert len(stored(layout)) == len(payloads.entries(layout, "s-1")) == MANY
    assert len(named(layout)) == MANY


def test_a_subagent_is_sent_back_at_most_as_often_as_allowed(layout: Layout) -> None:
    sent = [seen_agents.send_back(layout, "s-1", "a1", 2) for _ in range(4)]
    assert sent == [True, True, False, False]
    assert seen_agents.send_back(layout, "s-1", "a2", 2)
    assert seen_agents.load(layout, "s-1", "a1").blocks == 2


def test_what_another_hook_writes_just_now_is_not_taken_from_it(layout: Layout) -> None:
    """A session may end while the host compacts it; what a killed hook left goes."""
    seen_agents.save(layout, "s", "a", seen_agents.HookAgent())
    folder = Path(seen_agents.folder(layout, "s"))
    draft, litter = folder / f".compaction.{'a' * 12}.tmp", folder / f".compaction.{'b' * 12}.tmp"
    draft.touch()
    litter.touch()
    os.utime(litter, (0, 0))
    assert seen_agents.forget(layout, "s")
    assert list(folder.iterdir()) == [draft]


def test_a_broken_record_of_an_agent_is_as_good_as_none(layout: Layout) -> None:
    seen_agents.save(layout, "s-1", "a1", seen_agents.HookAgent(blocks=2))
    Path(seen_agents.path(layout, "s-1", "a1.json")).write_text("{", encoding="utf-8")
    assert seen_agents.load(layout, "s-1", "a1") == seen_agents.HookAgent()


# Sessions


def store(layout: Layout, session: str, text: str = LONG) -> None:
    output = storing.Output(topic="x", source="y", content=text, tokens=900)
    storing.store(layout, session, output, 1761242700)


def test_a_session_that_ends_and_is_resumed_has_everything_again(layout: Layout) -> None:
    store(layout, "s-1")
    fire("SessionEnd", reason="logout")
    assert stored(layout) == []
    fire("SessionStart", source="resume")
    assert len(stored(layout)) == 1


def test_a_resumed_session_that_ended_twice_has_the_payloads_of_both(layout: Layout) -> None:
    for _ in range(2):
        stop("a1", LONG + str(time.monotonic()))
        fire("SessionEnd", reason="resume")
    fire("SessionStart", source="resume")
    assert len(stored(layout)) == len(payloads.entries(layout, "s-1")) == 2


def test_a_start_sweeps_what_nobody_used_for_a_day(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(layout, "old")
    seen_agents.save(layout, "old", "a1", seen_agents.HookAgent(started=1))
    os.utime(os.path.join(layout.hooks, "old"), (1, 1))
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-25T18:05:00Z")
    fire("SessionStart", source="startup")
    assert payloads.sessions_in(layout) == []
    assert not os.path.exists(os.path.join(layout.hooks, "old"))


def test_in_a_fresh_repository_start_and_end_write_nothing(repo: Path) -> None:
    fire("SessionStart", source="startup")
    fire("SessionEnd", reason="clear")
    assert sorted(path.name for path in repo.iterdir()) == [".git"]


def test_the_end_of_a_session_takes_work_in_proportion_to_its_payloads(layout: Layout) -> None:
    def end(count: int) -> int:
        """How many calls the hook makes for a session of `count` payloads."""
        session = f"s-{count}"
        store(layout, session, "Short. " * 10)
        (first,) = Path(layout.payloads, session).glob("*.md")
        entry = payloads.entries(layout, session)[0]
        entries = []
        for number in range(count):
            name = f"20251023-180500-x-{number}.md"
            os.link(first, first.with_name(name))
            entries.append(entry | {"id": name[:-3], "path": name})
        manifest = first.with_name(payloads.MANIFEST)
        manifest.write_text(
            payloads.render_manifest({"sessionId": session, "createdAt": NOW}, entries),
            encoding="utf-8",
        )
        made = calls(lambda: fire("SessionEnd", session_id=session, reason="other"))
        assert not first.parent.exists()
        return made

    end(1)  # what is imported by the first one is there
    assert end(1_000) < 12 * end(100)


# make session_end


def test_session_end_takes_payloads_and_state_and_says_so_in_the_summary(
    layout: Layout, run: Script
) -> None:
    summary = Path(layout.sessions, "s-1", "summary.md")
    summary.parent.mkdir(parents=True)
    summary.write_text("# Session\n", encoding="utf-8")
    stop("a1", LONG)
    assert run("context", "session_end", "--session=s-1") == 0
    first, second = run.out.splitlines()
    assert (
        first.startswith("session s-1: 1 payload, ") and "of its subagents were removed" in second
    )
    assert summary.read_text(encoding="utf-8") == f"# Session\n- {NOW} {first}\n"
    assert "can be resumed for 24h: run `make payload_list` in that session" in run.err
    assert not os.path.exists(os.path.join(layout.hooks, "s-1"))


def test_a_session_without_payloads_ends_with_a_line_too(layout: Layout, run: Script) -> None:
    summary = Path(layout.sessions, "s-2", "summary.md")
    summary.parent.mkdir(parents=True)
    summary.touch()
    assert run("context", "session_end", "--session=s-2") == 0
    assert run.out == "session s-2: ended, no payloads were stored\n"
    assert summary.read_text(encoding="utf-8").endswith("s-2: ended, no payloads were stored\n")
    assert "nothing here" not in run.err
    assert run("context", "session_end", "--session=s-3") == 0
    assert "session: nothing here belongs to 's-3' (did you mean 's-2'?)" in run.err
    assert not os.path.exists(layout.payloads)


def test_a_bad_session_is_refused(layout: Layout, run: Script) -> None:
    assert run("context", "session_end", "--session=../x") == 2
    assert "session" in run.err


def test_a_generated_session_is_not_used_again_after_its_end(layout: Layout) -> None:
    from contextkit.base import sessions
    from contextkit.hosts.flows import sessions as ending

    made, new = sessions.current(layout, "", 1761242700)
    assert new
    ending.end(layout, made)
    assert sessions.current(layout, "", 1761242700)[0] != made
