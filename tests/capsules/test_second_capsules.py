"""The second capsule of a branch: what it is told of the first, and what it carries over."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Script, git
from contextkit.base import markdown, tokens
from contextkit.base.layout import Layout
from contextkit.capsules.documents import items, reminders
from contextkit.capsules.documents import store as capsules
from test_capsules import finished
from test_capture_prompts import blocks, capture

FIRST = "2025-10-23T18:00:00Z"
SECOND = "2025-10-23T19:00:00Z"
DECISION = "Keep TOML for settings — why: the old API reads it"
PREFERENCE = "**Preference:** short answers, no tables"
THREAD = "Retry storms — hypothesis: the pool is too small\n  - Next discovery step: ask Ada"

DISMISSED = (
    '{"format": 1, "target": "plan.md", "dismissed": [{"identity": "i", "agent": "a",'
    ' "id": "P1-1", "severity": "P1", "title": "No limit", "reason": "there is one",'
    ' "at": "2025-10-23T18:01:00Z", "run": "r"}]}'
)


def headings(text: str) -> list[str]:
    return [title for title, _, _ in markdown.sections(text.split("\n"), 1)]


def a_reply(created: str, **sections: str) -> str:
    """A finished capsule in which these sections have these lines."""
    text = finished().replace("2025-10-23T18:05:00Z", created)
    for words, lines in sections.items():
        (title,) = (s for s in headings(text) if s.lower().startswith(words))
        head, mark, rest = text.partition(f"# {title}\n")
        text = f"{head}{mark}{lines}\n\n# {rest.partition(chr(10) + '# ')[2]}"
    return text


@pytest.fixture
def first(repo: Path, run: Script) -> str:
    said = a_reply(FIRST, key=f"1. {DECISION}", exploratory=f"- {THREAD}\n- {PREFERENCE}")
    assert run("capsule", "save", stdin=said) == 0, run.err
    return run.out.strip()


def second(run: Script, **sections: str) -> str:
    assert run("capsule", "save", stdin=a_reply(SECOND, **sections)) == 0, run.err
    return Path(run.out.strip()).read_text(encoding="utf-8")


def test_what_the_first_held_open_is_carried_over_and_marked(first: str, run: Script) -> None:
    text = second(run)
    assert capsules.parse(text)[0].replaces == first
    assert f"- {DECISION} (carried)\n" in text and f"- {PREFERENCE} (carried)\n" in text
    assert f"- {THREAD.replace(chr(10), ' (carried)' + chr(10), 1)}\n" in text
    assert headings(text) == headings(finished())
    assert f"carried over from {first}: {DECISION}" in run.err
    assert run("capsule", "check") == 0, run.out


def test_what_is_there_in_other_words_or_closed_is_not_carried_again(
    first: str, run: Script
) -> None:
    text = second(
        run,
        key="1. Settings keep TOML, as the old API reads it\n2. closed: short answers, no tables",
        exploratory="- Retry storms: the hypothesis of the small pool holds\n"
        "  - Next discovery step: measure",
    )
    assert "(carried)" not in text
    assert run("capsule", "save", stdin=a_reply("2025-10-23T20:00:00Z")) == 0
    third = Path(run.out.strip()).read_text(encoding="utf-8")
    assert "Settings keep TOML" in third and "short answers" not in third


def test_a_carried_item_is_carried_until_it_is_closed(first: str, run: Script) -> None:
    second(run)
    assert run("capsule", "save", stdin=a_reply("2025-10-23T20:00:00Z")) == 0
    third = Path(run.out.strip()).read_text(encoding="utf-8")
    assert third.count("(carried)") == 3 and third.count(DECISION) == 1


def test_what_does_not_fit_is_counted(first: str, run: Script) -> None:
    size = tokens.estimate(a_reply(SECOND)) + 60
    reply = a_reply(SECOND).replace("token_budget: 1200", f"token_budget: {size}")
    assert run("capsule", "save", stdin=reply) == 0
    assert f"of {first} did not fit in the budget" in run.err


def test_the_notes_that_a_capsule_names_are_taken_in(repo: Path, run: Script) -> None:
    ids = []
    for note in ("Outline the spike", "Ask Ada", "Later"):
        run("remember_later", f"--message={note}")
        ids.append(run.out.split()[1])
    text = a_reply(SECOND, exploratory=f"- The spike ({ids[0]}) and Ada ({ids[1]}), next: ask")
    assert run("capsule", "save", stdin=text) == 0
    path = run.out.strip()
    assert f"marked as taken in: {ids[0]}, {ids[1]}" in run.err
    found = reminders.load_all(Layout()).whole().documents
    assert [one.done.endswith(f"→ {path}") for one in found] == [True, True, False]


def test_several_notes_are_done_at_once_or_none(repo: Path, run: Script) -> None:
    ids = []
    for note in ("one", "two", "three"):
        run("remember_later", f"--message={note}")
        ids.append(run.out.split()[1])
    assert run("remember_later", "done", f"--id={ids[0]} r-nobody") == 2 or run.out == ""
    assert all(not one.done for one in reminders.load_all(Layout()).whole().documents)
    assert run("remember_later", "done", f"--id={ids[0]} {ids[1]}", "--into=PLAN.md") == 0
    assert run.out.split() == ids[:2]
    assert run("remember_later", "done", ids[1], ids[2]) == 0
    assert f"{ids[1]} was already done" in run.err
    assert all(one.done for one in reminders.load_all(Layout()).whole().documents)


def test_the_prompt_names_what_the_stores_know_and_asks_what_changed(
    first: str, run: Script
) -> None:
    git("add", ".")
    git("commit", "-qm", "capsule", "--date", SECOND)
    run("external_memory", "plan", "--task=login", "--objective=Log in", "--next-action=Wire it")
    run("external_memory", "finding", "--task=login", "--agent=reader", "--status=completed",
        "--summary=The parser takes 52 ms in src/app.py:42.")  # fmt: skip
    run("handoff", "write", "--from=sm", "--to=dev", "--no-story", "--decision=Use sessions",
        "--next-action=go on")  # fmt: skip
    Path("plan.md.dismissed.json").write_text(DISMISSED, encoding="utf-8")
    captured = capture()
    assert f"What has changed since `{first}`." in captured.prompt
    found = blocks(captured.prompt)
    (carried,) = (text for title, text in found.items() if title.startswith(f"From `{first}`"))
    assert carried.split("\n") == [DECISION, THREAD.partition("\n")[0], PREFERENCE]
    (task,) = (text for title, text in found.items() if title.startswith("The open task `login`"))
    assert task.split("\n") == [
        "Next: Wire it", "reader (completed): The parser takes 52 ms in src/app.py:42.",
    ]  # fmt: skip
    assert found["Decisions of the last handoff, sm to dev:"] == "Use sessions"
    assert found["Dismissed findings:"] == "No limit: there is one"
    assert capsules.parse(captured.stub)[0].replaces == first
    assert tokens.size(captured.prompt) <= 2000


def test_the_prompt_quotes_open_reviews_as_they_are_now(first: str, run: Script) -> None:
    review = ("verdict", "write", "--agent=ui", "--status=NEEDS_ATTENTION")
    assert run(*review, "--summary=1 P0: no lock") == 0
    run("handoff", "write", "--from=sm", "--to=dev", "--no-story", "--blocker=The key is missing",
        "--next-action=go on")  # fmt: skip
    assert run(*review, "--summary=1 P0: no limit") == 0
    found = blocks(capture().prompt)
    assert found["Decisions of the last handoff, sm to dev:"] == "Blocked: The key is missing"
    line = "ui NEEDS_ATTENTION: 1 P0: no limit"
    assert found["Open reviews, worst first:"] == line
    assert run("verdict", "write", "--agent=ui", "--status=CLEAN", "--summary=fine") == 0
    assert "Open reviews" not in capture().prompt


def test_only_open_items_carry_over() -> None:
    body = "# Key Decisions & Rationale\n1. ~~Closed: use YAML~~\n2. Use TOML files everywhere\n"
    assert [one.bare for one in items.carried(body, "")] == ["Use TOML files everywhere"]
    assert items.carried(body, "# Knowledge Base\n- TOML files are used everywhere now\n") == []


@pytest.mark.parametrize(
    "kind", [("--index-version", "2"), ("--index-version", "4"), ("--split-index",)], ids=str
)
def test_dismissals_are_told_whatever_form_gits_index_has(repo: Path, kind: tuple[str]) -> None:
    Path("plan.md").write_text("x", encoding="utf-8")
    Path("plan.md.dismissed.json").write_text(DISMISSED, encoding="utf-8")
    git("add", ".")
    git("commit", "-qm", "dismiss")
    git("update-index", *kind)
    Path(Layout().capsules).mkdir(parents=True)
    assert blocks(capture().prompt)["Dismissed findings:"] == "No limit: there is one"
    Path("plan.md.dismissed.json").unlink()  # as in a sparse checkout
    assert "issed" not in capture().prompt


def test_carried_items_stand_below_the_last_of_their_section_wherever_that_is() -> None:
    item = items.Item(section=capsules.THREADS, text="* One\n  more", at=0, line=1)
    added = "- One (carried)\n  more\n"
    threads = f"# {capsules.THREADS}\n"
    after = "\n# Z\n\n- last\n"
    for before, rest in [
        (f"{threads}\n- a\n- b\n  of b\n", after),
        (f"# A\n\n- a\n\n{threads}", after),
        (f"# A\n\n- a\n\n{threads}\n- b\n", ""),
    ]:
        assert items.with_carried(before + rest, [item]) == before + added + rest
    assert items.with_carried("# A\n\n- a\n", [item]) == f"# A\n\n- a\n\n{threads}{added}"
