"""Artifacts: what they may carry, what is cut, and that everything written can be read back."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import each
from contextkit.base import names, stores, tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.settings import Limits
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents.artifacts import Handoff
from contextkit.handoffs.flows import fitting
from contextkit.text import facts
from hypothesis import example, given
from hypothesis import strategies as st

CORPUS = os.environ.get("CONTEXTKIT_CORPUS", "")  # read before `sealed` empties the environment
LIMITS = Limits()
KEYS = [
    *("from_agent", "to_agent", "story_context", "decisions", "files_modified", "blockers"),
    *("next_action", "version", "timestamp", "sequence", "consumed"),
]
STORY = ["story_id", "story_path", "story_status", "current_task", "branch"]
TYPICAL = {
    "from_agent": "sm",
    "to_agent": "dev",
    "story_id": "PRO-42",
    "story_path": "docs/stories/active/PRO-42.story.md",
    "story_status": "Ready for Development",
    "current_task": "Task 3: validate tokens at the gateway",
    "branch": "feature/pro-42-login",
    "decisions": (
        "Tokens are opaque and looked up in the session store",
        "The gateway answers 401 with a problem document",
        "No refresh tokens in this story",
    ),
    "files_modified": (
        "src/gateway/auth.py (modified)",
        "src/gateway/problems.py (created)",
        "docs/api/errors.md (modified)",
    ),
    "blockers": ("The staging session store has no TLS yet",),
    "next_action": "Finish task 3. Then ask @qa for a review.",
    "timestamp": "2025-10-23T18:05:00Z",
    "sequence": 1,
}


def a_handoff(**changes: Any) -> Handoff:
    """A handoff; a test names only the fields it is about."""
    fields = {"from_agent": "sm", "to_agent": "dev", "next_action": "Go on."}
    return handoffs.make(fields | changes)


words = st.text(st.characters(codec="utf-8"), max_size=60)
# a list of one word for nothing, such as `-`, is empty when a draft has it
few = st.lists(words.filter(lambda text: not handoffs.is_nothing(text)), max_size=14).map(tuple)
documents = st.fixed_dictionaries(
    {"from_agent": st.just("sm"), "to_agent": st.just("dev")},
    optional=dict.fromkeys(
        ["story_id", "story_path", "story_status", "current_task", "branch", "last_command"], words
    )
    | {"decisions": few, "files_modified": few, "blockers": few, "consumed": st.booleans()},
)
actions = words.filter(lambda text: names.one_line(text) != "")


# The format


@pytest.mark.golden
def test_a_typical_artifact(golden: Callable[[str, str], None]) -> None:
    handoff = handoffs.make(TYPICAL)
    golden("agent_handoff.yaml", handoffs.render(handoff))
    assert 200 < handoffs.measure(handoff) < LIMITS.handoff_max_tokens


def test_keys_are_those_of_the_design_and_in_its_order() -> None:
    found = yaml.safe_load(handoffs.render(a_handoff()))
    assert list(found) == ["handoff"]
    assert list(found["handoff"]) == KEYS
    assert list(found["handoff"]["story_context"]) == STORY
    assert [found["handoff"][name] for name in ("decisions", "files_modified", "blockers")] == [
        []
    ] * 3


@given(documents, actions)
def test_our_own_form_is_read_without_yaml_and_to_the_same(
    fields: dict[str, Any], action: str
) -> None:
    handoff = handoffs.make(fields | {"next_action": action})
    text = handoffs.render(handoff)
    is_plain = all(map(str.isprintable, text.split("\n")))
    assert handoffs._parse_own(text) == (handoff if is_plain else None)
    assert handoffs.parse(text) == handoff
    found = yaml.safe_load(text)["handoff"]
    assert found["next_action"] == handoff.next_action
    assert tuple(found["decisions"]) == handoff.decisions
    assert [found["story_context"][n] for n in STORY] == [getattr(handoff, n) for n in STORY]
    assert handoffs.make(handoffs.read_fields(text, "x")[0]) == handoff
    more = text.replace("  consumed", '  persona: "x"\n  consumed')
    for other in (more, text + "\n", text[:-9]):
        assert handoffs._parse_own(other) is None


@each(
    ("changes", "field"),
    [
        ({"next_action": " \n"}, "next_action"),
        ({"to_agent": "@SM"}, "to"),
        ({"to_agent": ""}, "to"),
        ({"from_agent": "a b"}, "from"),
        ({"from_agent": "notes-to-self"}, "from"),
        ({"version": "2.0"}, "version"),
    ],
)
def test_what_cannot_be_a_handoff_is_refused_by_field(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(ContextError, match=rf"^{field}: ") as refusal:
        a_handoff(**changes)
    assert refusal.value.status == 2


# What an artifact never carries

NEVER = """\
handoff:
  from_agent: "@sm"
  to_agent: "@DEV"
  persona: {role: Scrum Master}
  persona_profile: [River]
  commands: ["*draft"]
  dependencies: {tasks: [a.md]}
  tools: [git]
  coderabbit_integration: {enabled: true}
  greeting_levels: [minimal]
  story_context: {story_id: 1.10, persona: River, branch: no}
  decisions:
    - "{key decision 1}"
    - ""
    - persona: River
    - keep it small
  files_modified: {created: [src/a.py], modified: src/b.py, tools: [x]}
  blockers: none
  next_action: >
    Build it,
    then test it.
greeting: hello
"""


def test_only_what_is_listed_gets_in_and_each_other_key_is_named() -> None:
    fields, dropped = handoffs.read_fields(NEVER, "draft")
    handoff = handoffs.make(fields)
    assert (handoff.from_agent, handoff.to_agent) == ("sm", "dev")
    assert (handoff.story_id, handoff.branch) == ("1.10", "no")
    assert handoff.decisions == ("keep it small",) and handoff.blockers == ()
    assert handoff.files_modified == ("src/a.py (created)", "src/b.py (modified)")
    assert handoff.next_action == "Build it, then test it."
    text = handoffs.render(handoff)
    named = ["greeting", "persona", "persona_profile", "commands", "dependencies", "tools"]
    named += ["coderabbit_integration", "greeting_levels", "story_context.persona"]
    named += ["decisions, item 3", "files_modified.tools"]
    assert sorted(line.partition(":")[0] for line in dropped) == sorted(named)
    for word in ("River", "Scrum", "draft", "a.md", "git", "true", "minimal", "hello", "tools"):
        assert word not in text


@each(
    "text",
    [
        '{"from": "sm", "to": "dev", "task": "t", "decisions": "one", "next_action": "x"}',
        '{"handoff": {"from_agent": "sm", "to_agent": "dev", "decisions": ["one", null, ""],'
        ' "story_context": {"current_task": "t"}, "next_action": "x"}}',
        "from: sm\nto: dev\ntask: t\ndecisions: one\nnext_action: x\n",
    ],
)
def test_a_draft_may_be_json_or_yaml_with_the_names_of_variables(text: str) -> None:
    handoff = handoffs.make(handoffs.read_fields(text, "draft")[0])
    assert (handoff.from_agent, handoff.current_task, handoff.decisions) == ("sm", "t", ("one",))


@each("nothing", ["none", "None", "n/a", '"-"', "- none"])
def test_only_none_declares_that_there_is_nothing(nothing: str) -> None:
    said = f"blockers:\n  {nothing}\n" if nothing.startswith("- ") else f"blockers: {nothing}\n"
    assert handoffs.read_fields(said, "draft")[0] == {"blockers": ()}


@each("empty", ['""', "[]", "- ''", "null", '"[]"'])
def test_an_empty_list_says_nothing(empty: str) -> None:
    said = f"blockers:\n  {empty}\n" if empty.startswith("- ") else f"blockers: {empty}\n"
    assert handoffs.read_fields(said, "draft")[0] == {}


@each(
    "text", ["", "text", "- a\n", "[1]", "{", "a: &a [*a]", "a: !!python/name:os", "a: 1\na: 2",
             "\0", "from_agent: @dev"]
)  # fmt: skip
def test_what_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(ContextError):
        handoffs.parse(text)


# The limits


def full(width: int) -> dict[str, Any]:
    """A handoff at every limit, with entries of `width` characters."""
    said = ("decided to keep the parser simple and to measure what it costs " * 9)[: width - 3]
    return {
        "decisions": tuple(f"{n}. {said}" for n in range(5)),
        "files_modified": tuple(f"src/part{n}/{'module' * 4}.py (modified)" for n in range(10)),
        "blockers": tuple(f"{n}. {said}" for n in range(3)),
    }


def test_too_many_entries_keep_the_first_ones_and_say_how_many_were_dropped() -> None:
    given = a_handoff(
        decisions=tuple("abcdef"), files_modified=tuple("abcdefghijk"), blockers=tuple("abcd")
    )
    kept, said = fitting.clipped(given, LIMITS)
    assert kept.decisions == tuple("abcde") and kept.blockers == tuple("abc")
    assert kept.files_modified == tuple("abcdefghij")
    assert said[:3] == (
        "decisions: 6 given, 5 kept, 1 dropped",
        "files_modified: 11 given, 10 kept, 1 dropped",
        "blockers: 4 given, 3 kept, 1 dropped: d",
    )
    assert said[3].startswith("kept: 5 decisions, 10 files_modified, 3 blockers")
    with pytest.raises(ContextError, match="strict: decisions: 6 given") as refusal:
        fitting.clipped(given, LIMITS, strict=True)
    assert refusal.value.status == 2


def test_what_fits_is_left_alone_and_strict_takes_it() -> None:
    handoff = a_handoff(decisions=("a",))
    assert fitting.clipped(handoff, LIMITS, strict=True) == (handoff, ())


Cut = Callable[[Handoff, Callable[[Handoff], bool]], tuple[Handoff, tuple[str, ...]]]


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Cut:
    """Cuts a handoff to the first form that the test says has room."""

    def run(given: Handoff, has_room: Callable[[Handoff], bool]) -> tuple[Handoff, tuple[str, ...]]:
        monkeypatch.setattr(handoffs, "render", lambda one: "a " * (300 if has_room(one) else 501))
        return fitting.clipped(given, LIMITS)

    return run


@each(
    "sizes",
    [(4, 10, 3), (3, 10, 3), *((3, n, 3) for n in range(9, 4, -1)), (3, 5, 2), (3, 5, 1),
     (1, 1, 1)],
)  # fmt: skip
def test_the_order_of_trimming(cut: Cut, sizes: tuple[int, ...]) -> None:
    """Decisions 5 to 3, files 10 to 5, then blockers 3 to 1, the smallest form."""

    def has_room(one: Handoff) -> bool:
        return all(map(operator.le, lengths(one), sizes))

    kept, said = cut(a_handoff(**TYPICAL | full(160)), has_room)
    assert lengths(kept) == sizes
    assert f"decisions: 5 given, {sizes[0]} kept, {5 - sizes[0]} dropped" in said


def lengths(one: Handoff) -> tuple[int, ...]:
    paths = [path for path in one.files_modified if path[0] != "("]
    return len(one.decisions), len(paths), len(one.blockers)


def test_the_smallest_form_counts_the_files_and_uses_the_room(cut: Cut) -> None:
    given = a_handoff(**TYPICAL | full(160))
    kept, _ = cut(given, lambda one: len(one.decisions) == 1)
    assert lengths(kept) == (1, 5, 1) and kept.files_modified[-1] == "(+5 more)"
    assert kept.facts_kept == facts.share(fitting._cuttable(given), fitting._cuttable(kept))


def test_what_was_left_out_last_comes_back_as_far_as_it_has_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = a_handoff(decisions=tuple(f"{n} " + "word " * 119 + "end" for n in range(5)))

    def render(handoff: Handoff) -> str:
        return "word " * sum(len(text.split()) for text in handoff.decisions)

    monkeypatch.setattr(handoffs, "render", render)
    kept, said = fitting.clipped(given, LIMITS)
    sizes = [len(text.split()) for text in kept.decisions]
    assert sizes[:4] == [121] * 4 and 10 < sizes[4] < 20 and len(sizes) == 5
    assert kept.decisions[4].endswith("word…") and "decisions: 1 shortened" in said


def test_short_entries_come_back_whole_where_there_is_room(cut: Cut) -> None:
    short = {"decisions": ("keep it small", "use TOML", "no cache"), "rejected": ("a daemon",)}
    given = a_handoff(**TYPICAL | full(160) | short)
    kept, _ = cut(given, lambda one: lengths(one)[1] <= 5)
    assert kept.decisions == given.decisions and kept.rejected == given.rejected
    kept, _ = cut(given, lambda one: lengths(one)[:2] == (1, 1))
    assert kept.decisions == given.decisions[:1] and kept.rejected == given.rejected


def test_the_next_action_keeps_twice_the_width_of_other_texts(cut: Cut) -> None:
    given = a_handoff(next_action="word " * 120, story_status="word " * 60)
    kept, _ = cut(given, lambda one: len(one.story_status) <= 90)
    assert 80 <= len(kept.story_status) <= 90 and 200 < len(kept.next_action) <= 240


@pytest.mark.parametrize(("width", "least", "most"), [(30, 120, 160), (15, 60, 90)])
def test_the_smallest_form_keeps_more_of_the_next_action_than_of_a_decision(
    cut: Cut, width: int, least: int, most: int
) -> None:
    given = a_handoff(decisions=("word " * 60,), next_action="word " * 120)
    kept, _ = cut(given, lambda one: len(one.decisions[0]) <= width)
    assert width // 2 < len(kept.decisions[0]) <= width and least < len(kept.next_action) <= most


@each("most", [*range(16, 30), *range(62, 120)])
def test_a_text_is_cut_to_the_last_character_that_there_is_room_for(cut: Cut, most: int) -> None:
    given = a_handoff(story_status="x" * 300, decisions=("x" * 300,))
    kept, _ = cut(given, lambda one: max(map(len, (one.story_status, *one.decisions))) <= most)
    assert (len(kept.story_status), len(kept.decisions[0])) == (most, most)


@pytest.mark.parametrize("char", ["a", "漢"])
def test_every_text_that_was_cut_is_named(cut: Cut, char: str) -> None:
    texts = ("story_status", "next_action", "last_command")
    given = a_handoff(decisions=(char * 300, "b"), **dict.fromkeys(texts, char * 300))
    kept, said = cut(given, lambda one: len(one.next_action) <= 160)
    lengths = [f"{name}: shortened to {len(getattr(kept, name))} characters" for name in texts]
    assert said[:-1] == ("decisions: 1 shortened", *lengths)


@each("number", [5, 6, 7, 8, 9])
def test_files_that_were_left_out_are_counted_in_the_last_entry(cut: Cut, number: int) -> None:
    given = a_handoff(**TYPICAL | full(160))
    kept, said = cut(given, lambda one: lengths(one)[1] <= number)
    assert kept.files_modified[number:] == (f"(+{10 - number} more)",)
    assert f"files_modified: 10 given, {number} kept, {10 - number} dropped" in said


def test_a_count_in_the_last_entry_stays_true_when_more_files_go() -> None:
    for more in (1, 2, 12, 21):
        files = (*(f"src/{'module' * 20}{n}.py (modified)" for n in range(8)), f"(+{more} more)")
        kept, _ = fitting.clipped(
            a_handoff(**TYPICAL | full(160) | {"files_modified": files}), LIMITS
        )
        number = len(kept.files_modified) - 1
        assert 0 < number < 8 and kept.files_modified[-1] == f"(+{8 + more - number} more)"


def test_a_file_whose_name_is_a_number_is_no_count() -> None:
    for name in ("7", "7 more)", "(+7"):
        files = (*(f"src/{'module' * 20}{n}.py (modified)" for n in range(8)), name)
        kept, _ = fitting.clipped(
            a_handoff(**TYPICAL | full(160) | {"files_modified": files}), LIMITS
        )
        number = len(kept.files_modified) - 1
        assert 0 < number < 8 and kept.files_modified[-1] == f"(+{9 - number} more)"


def test_a_long_text_takes_the_room_that_there_is() -> None:
    for name in ("next_action", "story_status", "last_command"):
        kept, _ = fitting.clipped(a_handoff(**TYPICAL | {name: "word " * 600}), LIMITS)
        assert len(getattr(kept, name)) > 500  # more than the width it was cut to at first


def test_a_full_stop_at_the_start_ends_a_sentence() -> None:
    assert handoffs.sentences(". And more. And more") == ". And more."


def test_an_answer_outlasts_what_is_only_closed_and_rejected_approaches() -> None:
    answer = "What VAT rate? → 19 % since July"
    dropped = ("The key is missing", "CI is red")
    for count in range(1, 40):
        kept, _ = fitting.clipped(
            a_handoff(
                decisions=[f"decision {n} " + "word " * count for n in range(5)],
                files_modified=[f"src/part{n}/{'x' * count}.py" for n in range(10)],
                rejected=["We tried TOML " + "word " * count] * 3,
                resolved=(*dropped, answer),
            ),
            LIMITS,
        )
        there = set(kept.resolved)
        assert answer in there or not there
        assert answer in there or (len(kept.rejected) <= 1 and len(kept.decisions) <= 3)
        assert there >= set(dropped) or len(kept.rejected) < 3 or count < 3


LAST = {"story_id": "2", "decisions": ("a",), "blockers": ("b",), "rejected": ("c",)}


def carried(fields: dict[str, Any], by_hand: str = "", limits: Limits = LIMITS) -> dict[str, Any]:
    """The lists of the handoff after `LAST`, of the same story unless `fields` names another."""
    fields = {"story_id": "2"} | fields
    found, _ = fitting.carry(fields, a_handoff(**LAST), limits, (by_hand,), tuple(LAST["blockers"]))
    names = ("decisions", "blockers", "rejected", "resolved")
    return {name: found[name] for name in names if found.get(name)}


def test_a_list_that_is_declared_empty_closes_no_other() -> None:
    whole = {name: LAST[name] for name in ("decisions", "blockers", "rejected")}
    assert carried({}) == whole
    for name in ("decisions", "rejected"):
        assert carried({name: ()}, name) == {n: whole[n] for n in whole if n != name}
    assert carried({"blockers": ()}, "blockers") == {
        "decisions": ("a",), "rejected": ("c",), "resolved": ("b",)
    }  # fmt: skip


def test_another_story_has_no_decisions_yet() -> None:
    for story in ("1", "3"):
        assert carried({"story_id": story}) == {"blockers": ("b",)}


def test_a_combined_line_takes_one_place_of_any_limit() -> None:
    for most in (2, 3, 4, 5):
        new = tuple(f"new {number}" for number in range(6))
        found = carried({"decisions": new}, limits=Limits(handoff_decisions=most))["decisions"]
        assert found == (*new[: most - 1], "Earlier: " + " | ".join((*new[most - 1 :], "a")))


def test_combined_entries_that_do_not_fit_in_a_line_are_counted() -> None:
    old = tuple(f"decision {number} {'x' * 60}" for number in range(30))
    (line,) = fitting._together("decisions", old, 1)
    shown = [entry for entry in old if entry in line]
    assert shown == list(old[: len(shown)]) and 0 < len(shown) < 30
    assert line.endswith(f"(+{30 - len(shown)} more)") and 300 < len(line) < 420


@each("width", [40, 80, 160, 500])
def test_full_caps_fit_and_identity_stays(width: int) -> None:
    given = a_handoff(**TYPICAL | full(width))
    kept, said = fitting.clipped(given, LIMITS)
    assert tokens.within(handoffs.render(kept), LIMITS.handoff_max_tokens)
    assert [getattr(kept, n) for n in STORY] == [getattr(given, n) for n in STORY]
    assert kept.decisions and kept.files_modified and kept.blockers
    assert bool(said) == (kept != given) == (width > 80)


def test_what_cannot_fit_is_refused_by_the_name_of_what_is_too_long() -> None:
    said = r"cannot fit: ~\d+ tokens in its smallest form, and at most 500 are allowed; story_path"
    with pytest.raises(ContextError, match=said) as refusal:
        fitting.clipped(a_handoff(story_path="docs/" + "x7Qz9" * 599), LIMITS)
    assert refusal.value.status == 1


# Eleven files, of which ten are listed: there is no room for a line that counts the other one.
ONE_TOO_MANY = {
    "from_agent": "sm", "to_agent": "dev", "story_status": "\U0006667a", "last_command": "0",
    "branch": "\x08\x08\x08\ue040\x1f0\x0f0:0\U00010000\U00010000\U0001e301",
    "files_modified": ("0", "¢", "¢", "0:", "0@", "0@", "0:0", "A:0", "0:0:", "00000", "0"),
    "decisions": ("0:O", "0:O", "0:0\U00016f00", "000000", "0:0:0:0:0:0:;"),
    "blockers": ("0:O", "0:0\U00016f00", "0:0:0:0:0:0:0"),
}  # fmt: skip


@example(ONE_TOO_MANY, "\U00010000", 4)
@given(documents, actions, st.integers(1, 12))
def test_every_artifact_fits_loads_and_keeps_its_identity(
    fields: dict[str, Any], action: str, times: int
) -> None:
    long = {name: tuple(text * times for text in fields.get(name, ()))
            for name in handoffs.LISTS}  # fmt: skip
    given = handoffs.make({**fields, **long, "next_action": action * times})
    try:
        kept, said = fitting.clipped(given, LIMITS)
    except ContextError as refusal:
        assert refusal.status == 1 and "cannot fit" in str(refusal)
        return
    assert tokens.within(handoffs.render(kept), LIMITS.handoff_max_tokens)
    assert handoffs.parse(handoffs.render(kept)) == kept
    for name in handoffs.IDENTITY:
        assert getattr(kept, name) == getattr(given, name)
    for name in handoffs.LISTS:
        assert bool(getattr(kept, name)) == bool(getattr(given, name))
    assert bool(said) == (kept != given)
    assert fitting.clipped(kept, LIMITS) == (kept, ())


HARD = {
    "decisions": (
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b is the base, not 60303ae22b998861bce3b28f33ee",
        "登录令牌由网关验证，会话存储在第二阶段迁移，旧接口保留到下一个版本",
        "Решено: токены проверяет шлюз, хранилище сессий переедет позже ✅ 🚀",
        "Retry at 00:15, 00:30, 01:45; limits 1_024/2_048/65_536; see RFC 6750 §3.1",
    )
    * 2,
    "files_modified": tuple(f"src/Ünïcode/Größe{n}/模块_{n:04}.py (modified)" for n in range(12)),
    "blockers": ("ECONNREFUSED 10.0.0.17:6379 (redis://cache-01) 🔥", "ждём доступа", "未获授权"),
}


@pytest.mark.golden
@pytest.mark.parametrize("kind", ["160", "500", "hard"])
def test_exact_counts_of_what_was_cut_are_within_the_limit(
    kind: str, golden: Callable[[str, str], None]
) -> None:
    given = HARD if kind == "hard" else full(int(kind))
    kept, _ = fitting.clipped(a_handoff(**TYPICAL | given), LIMITS)
    golden(f"agent_handoff_{kind}.yaml", handoffs.render(kept))
    most = LIMITS.handoff_max_tokens
    assert 0.85 * most <= tokens.count(handoffs.render(kept)) <= most


# The documented template


def test_template_validator_and_writer_agree(layout: Layout) -> None:
    text = stores.sealed_copy(handoffs.template_document(layout), "# ")
    assert stores.is_our_copy(text)
    found = yaml.safe_load(text)["handoff"]
    assert list(found) == KEYS and list(found["story_context"]) == STORY
    assert found["sequence"] == 0 and found["consumed"] is False
    assert handoffs.complaints(text, LIMITS)[0][0] == "error"
    values = {
        word: "sm" if "current_agent" in word else "dev" if "new_agent" in word else "filled in"
        for said in handoffs.PLACEHOLDERS.values()
        for word in (said if isinstance(said, tuple) else (str(said),))
        if word.startswith("{")
    }
    for number, (word, value) in enumerate(values.items()):
        assert word in text
        text = text.replace(word, value)
        left = handoffs.complaints(text, LIMITS)
        done = number == len(values) - 1
        errors = [said for kind, said in left if kind == "error"]
        assert bool(errors) != done or word == "{ISO 8601, UTC}", word
    assert handoffs.complaints(text, LIMITS) == []
    handoff = handoffs.parse(text)
    assert handoff.decisions == ("filled in",) * 2
    assert tokens.estimate(handoffs.render(handoff)) < tokens.estimate(text)  # without comments
    assert "#" not in handoffs.render(handoff)


def test_lists_at_their_limits_are_no_complaint_and_one_entry_more_is() -> None:
    lists = {"decisions": 5, "files_modified": 10, "blockers": 3, "rejected": 3}
    for more in (None, *lists):
        entries = {name: tuple(f"e{n}" for n in range(most + (name == more)))
                   for name, most in lists.items()}  # fmt: skip
        said = handoffs.complaints(handoffs.render(a_handoff(**TYPICAL | entries)), LIMITS)
        assert [one[0] for one in said] == ([] if more is None else ["error"])


def test_what_cannot_be_read_is_a_complaint_and_more_than_two_sentences_a_warning() -> None:
    assert handoffs.complaints("a: [", LIMITS)[0][0] == "error"
    for action, warned in (("Go. Then rest.", False), ("Go. Then rest. Then sleep.", True)):
        text = handoffs.render(a_handoff(**TYPICAL | {"next_action": action}))
        said = [("warning", "next_action: has more than two sentences")] if warned else []
        assert handoffs.complaints(text, LIMITS) == said


def test_a_template_that_is_not_filled_in_leaves_no_placeholder_in_a_list() -> None:
    handoff = a_handoff(decisions=("{key decision 1}", "kept"), files_modified=("{file 1}",))
    assert handoff.decisions == ("kept",) and handoff.files_modified == ()


# The store


def test_a_name_is_told_from_other_files() -> None:
    good = ["handoff-sm-to-dev-20251023T180500Z.yaml", "handoff-a-b-to-c-20251023T180500Z-12.yaml"]
    bad = ["2026-03-18-qa-to-devops-x.yaml", "handoff.yaml", "notes.txt", "handoff-sm-to-dev.yaml",
           "handoff-sm-to-dev-20251023T180500Z.yml", "handoff-sm-dev-20251023T180500Z.yaml",
           ".handoff-sm-to-dev-20251023T180500Z.yaml.0123456789ab.tmp",
           "handoff-sm-to-dev-20251023T1805Z.yaml",
           "handoff-to-dev-20251023T180500Z.yaml",
           "handoff-sm-to-dev-20251023T180500.yaml",
           "backup--sm-to-dev-20251023T180500Z.yaml"]  # fmt: skip
    assert all(map(handoffs.is_name, good)) and not any(map(handoffs.is_name, bad))


def bomb() -> bytes:
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    return f"a0: &a0 x\n{levels}".encode()


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe\x00", b"handoff: [", b"x" * (5 << 20), bomb(), b"a: " * 5_000, b"[" * 16_000],
    ids=["empty", "binary", "cut", "5 MB", "aliases", "nested maps", "nested lists"],
)
def test_an_artifact_that_cannot_be_read_is_refused(data: bytes, layout: Layout) -> None:
    store = Path(layout.handoffs)
    store.mkdir(parents=True)
    good = handoffs.make(TYPICAL)
    handoffs.save(layout, good)
    (store / "handoff-a-to-b-20251023T180500Z.yaml").write_bytes(data)
    loaded = handoffs.load_all(layout)
    assert loaded.documents == [good] and "handoff-a-to-b" in loaded.broken[0].path


def test_artifacts_of_elsewhere_are_read() -> None:
    text = """\
handoff:
  from_agent: "@dev"
  to_agent: "@qa"
  last_command: "*develop story-16"
  story_context:
    story_id: S-16
    current_task: All tasks complete
    branch: feat/x
  decisions:
    - Added step 5.5 to all agents
  files_modified: []
  scratchpad_path: x.md
  next_action: Review story implementation
  consumed: true
  timestamp: "2026-02-24T12:00:00Z"
"""
    handoff = handoffs.parse(text)
    assert (handoff.from_agent, handoff.to_agent, handoff.consumed) == ("dev", "qa", True)
    assert handoff.last_command == "*develop story-16" and handoff.version == "1.0"
    assert handoffs.mark_consumed(text, "x") == text
    waiting = text.replace("consumed: true", "consumed: false  # soon")
    assert handoffs.parse(handoffs.mark_consumed(waiting, "x")).consumed
    without = text.replace("  consumed: true\n", "")
    marked = handoffs.mark_consumed(without, "x")
    assert marked == without + "  consumed: true\n" and "scratchpad_path: x.md" in marked


def test_of_several_documents_in_a_file_the_artifact_is_read() -> None:
    artifact = "from_agent: a\nto: b\nnext_action: x\nconsumed: false\n"
    for text in (
        f"title: notes\n---\n{artifact}",
        f"---\n- a list\n---\n{artifact}---\nfrom_agent: c\n",
        f"# a comment\n---\n{artifact}",
        f"{artifact}---\n",
        f"a: [\n---\n{artifact}",
    ):
        assert handoffs.parse(text).from_agent == "a"
    with pytest.raises(ContextError, match="another document"):
        handoffs.read_fields("title: notes\n---\ntitle: more\n", "x")
    second = f"consumed: false\n---\n{artifact}"
    assert handoffs.mark_consumed(second, "x") == second.removesuffix("false\n") + "true\n"


def test_numbers_and_switches_of_elsewhere_are_read_strictly() -> None:
    for said, sequence in (("7", 7), ("123456789", 123_456_789), ("1234567890", 0), ("x", 0)):
        assert handoffs.read_fields(f"sequence: {said}", "x")[0]["sequence"] == sequence
    for said, consumed in (("true", True), ("TRUE", True), ("yes", False), ("false", False)):
        assert handoffs.read_fields(f"consumed: {said}", "x")[0]["consumed"] is consumed


def test_only_files_may_be_grouped_and_only_the_story_may_be_nested() -> None:
    for key in ("decisions", "blockers", "rejected", "resolved"):
        fields, dropped = handoffs.read_fields(f"{key}:\n  created: [a]\n", "x")
        assert fields == {} and "is not a list" in dropped[0]
    fields, dropped = handoffs.read_fields("über: 1\ntask:\n  branch: b\nto: c\n", "x")
    assert fields == {"to_agent": "c"} and len(dropped) == 2
    assert len(handoffs.read_fields("k" * 300 + ": 1", "x")[1][0]) == 200
    beside = handoffs.read_fields("handoff:\n  to: c\nabout: 1\nversion: 2\n", "x")[1]
    assert beside == ("about: is not carried over", "version: is not carried over")


@each("text", ["a: [", "- a list", "from: a\nto: b\n", "from: a\nto: a\n"])
def test_what_is_wrong_begins_with_the_place_and_says_it_once(text: str) -> None:
    with pytest.raises(ContextError, match=r"^x\.yaml: (?!x\.yaml)"):
        handoffs.parse(text, "x.yaml")


def test_an_id_and_a_version_in_another_form_are_refused() -> None:
    for giver, to in (("Dev", "qa"), ("qa", "Dev"), ("@dev", "qa"), ("dev ", "qa")):
        with pytest.raises(ContextError, match="lowercase"):
            Handoff(from_agent=giver, to_agent=to, next_action="x")
    with pytest.raises(ContextError, match=f"'{'x' * 20}' is not supported"):
        Handoff(from_agent="a", to_agent="b", next_action="x", version="x" * 30)
    with pytest.raises(ContextError, match=r"'0\.9' is not supported"):
        Handoff(from_agent="a", to_agent="b", next_action="x", version="0.9")


def test_an_artifact_is_a_plain_file_of_few_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"#" * 8_192)
    assert handoffs.load_text(str(path), "x") == "#" * 8_192
    (tmp_path / "link.yaml").symlink_to(path)
    with pytest.raises(ContextError, match="not a regular file"):
        handoffs.load_text(str(tmp_path / "link.yaml"), "x")
    path.write_bytes(b"#" * 8_193)
    with pytest.raises(ContextError, match="too large"):
        handoffs.load_text(str(path), "x")


def test_consuming_what_has_an_unusual_form_is_left_to_people() -> None:
    artifact = "from_agent: sm\nto: dev\nnext_action: x\n"
    for text in (
        '{"from": "sm", "to": "dev", "next_action": "x"}',
        f"{artifact}---\nconsumed: false\n",
    ):
        with pytest.raises(ContextError, match="by hand"):
            handoffs.mark_consumed(text, "x")


@pytest.mark.skipif(not CORPUS, reason="CONTEXTKIT_CORPUS names no folder of real artifacts")
def test_the_corpus_is_loaded_or_refused_cleanly() -> None:
    for path in Path(CORPUS, "handoffs").iterdir():
        try:
            handoffs.parse(path.read_text(encoding="utf-8"), path.name)
        except ContextError as refusal:
            assert path.name in str(refusal)


def test_a_refusal_says_that_nothing_counts_exactly_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tokens._COUNTERS, "o200k_base", None)
    given = a_handoff(current_task="दिन " * 60)
    with pytest.raises(ContextError, match=r"nothing counts them exactly, .* and is never cut"):
        fitting.clipped(given, LIMITS)
