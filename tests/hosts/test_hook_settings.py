"""Our part in somebody else's files: put in, replaced, and taken out to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import each
from contextkit.base.errors import ContextError
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents import settings as hook_settings
from contextkit.hosts.flows import changes
from hypothesis import given
from hypothesis import strategies as st

HOOKS: dict[str, Any] = hook_settings.wanted(hosts.find("claude"), "tools/contextkit")
NEWER = {event: {"hooks": [{**group["hooks"][0], "timeout": 99}]} for event, group in HOOKS.items()}
EVENTS = [*hosts.find("claude").events, "PreToolUse"]

# Settings as people have them: any order, any indentation, hooks of their own, empty places.

theirs = st.fixed_dictionaries({"type": st.just("command"), "command": st.sampled_from(
    ["lint.sh", "x/scripts/hook.sh", "${CLAUDE_PROJECT_DIR}/a b.sh"])})  # fmt: skip
groups = st.lists(
    st.fixed_dictionaries(
        {"hooks": st.lists(theirs, max_size=2)}, optional={"matcher": st.just("Bash")}
    ),
    max_size=2,
)
values: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.integers(), st.text(), st.just({}), st.lists(st.booleans())
)
settings = st.fixed_dictionaries(
    {},
    optional={
        "model": values,
        "hooks": st.dictionaries(st.sampled_from(EVENTS), groups, max_size=3),
        "permissions": st.fixed_dictionaries({"allow": st.lists(st.text(), max_size=2)}),
        "z\u00fc\n": values,
    },
)
indents = st.sampled_from([None, 0, 2, 4, "\t"])
ends = st.sampled_from(["", "\n", "\r\n", "\n\n"])


@st.composite
def settings_files(draw: st.DrawFn) -> str:
    """A settings file: what it says, and how it is written."""
    found = json.dumps(draw(settings), indent=draw(indents), ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        found = found.replace("\n", "\r\n")
    return draw(st.sampled_from(["", "\n", "  "])) + found + draw(ends)


files = st.one_of(settings_files(), st.sampled_from(["", "\n", "{ }", "{\n}", '{"hooks":{ }}']))


def merged(text: str, wanted: Any = HOOKS, before: str | None = None) -> tuple[str, str | None]:
    return hook_settings.merged(text, wanted, before, "settings.json")


def handlers(wanted: dict[str, Any]) -> dict[str, Any]:
    return {event: group["hooks"][0] for event, group in wanted.items()}


def without_ours(found: dict[str, Any]) -> dict[str, Any]:
    """The settings without our hooks and without what is empty then."""
    hooks = {}
    for event, groups in found.get("hooks", {}).items():
        kept = [group for group in groups if "--host=claude" not in json.dumps(group)]
        if kept:
            hooks[event] = kept
    return {
        **{k: v for k, v in found.items() if k != "hooks"},
        **({"hooks": hooks} if hooks else {}),
    }


@given(text=files)
def test_taking_out_what_was_merged_gives_the_file_back_to_the_byte(text: str) -> None:
    new, before = merged(text)
    assert hook_settings.removed(new, before, "s") == text


@given(text=files)
def test_nothing_of_the_users_is_lost_and_nothing_is_there_twice(text: str) -> None:
    there = json.loads(text or "{}") if text.strip() else {}
    new, before = merged(text)
    after = json.loads(new)
    assert dict(hook_settings.read(new, "s")) == handlers(HOOKS)
    assert len(hook_settings.read(new, "s")) == len(HOOKS)
    assert without_ours(after) == without_ours(there)
    assert [key for key in after if key in there] == list(there)
    assert merged(new, before=before) == (new, before)


@given(text=files)
def test_an_upgrade_replaces_ours_and_can_be_taken_out_as_well(text: str) -> None:
    new, before = merged(text)
    newer, before = merged(new, NEWER, before)
    assert dict(hook_settings.read(newer, "s")) == handlers(NEWER)
    assert hook_settings.removed(newer, before, "s") == text


def test_the_indentation_is_that_of_the_file() -> None:
    text = '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": []}\n\t\t]\n\t},\n\t"z": 1e5\n}\n'
    new, _ = merged(text)
    assert '\n\t\t\t{"hooks": []},\n\t\t\t{"hooks": [{"type": "command", ' in new
    assert new.endswith('\n\t},\n\t"z": 1e5\n}\n')
    assert " " * 2 not in new


def test_a_text_from_a_record_that_says_something_else_is_not_taken() -> None:
    new, _ = merged('{"a": 1}')
    assert hook_settings.removed(new, '{"a": 2}', "s") == '{"a": 1}'
    assert hook_settings.removed(new, '{"a": 1,\n"hooks": {"Stop": []}}', "s").endswith("[]}}")


def test_a_handler_of_the_users_in_our_group_stays() -> None:
    new, before = merged("{}")
    found = json.loads(new)
    found["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "mine.sh"})
    left = json.loads(hook_settings.removed(json.dumps(found), before, "s"))
    assert left == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine.sh"}]}]}}


def test_what_the_user_added_after_ours_stays() -> None:
    new, before = merged('{"hooks": {"Stop": []}}')
    found = json.loads(new)
    found["hooks"]["Stop"].append({"hooks": []})
    found["later"] = True
    left = json.loads(hook_settings.removed(json.dumps(found, indent=1), before, "s"))
    assert left == {"hooks": {"Stop": [{"hooks": []}]}, "later": True}


@each(
    ("text", "said"),
    [
        ('{\n  // mine\n  "a": 1\n}', "settings.json:2: .*comments are not valid JSON"),
        ('{"a": 1, /* mine */ "b": 2}', "comment"),
        ('{"a": 1,\n}', "settings.json:[12]: not valid JSON"),
        ("[]", "must be a JSON object"),
        ('{"hooks": []}', "must be an object of lists"),
        ('{"hooks": {"Stop": {}}}', "must be an object of lists"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_settings_that_no_host_could_read_are_refused(text: str, said: str) -> None:
    with pytest.raises(ContextError, match=said) as raised:
        merged(text)
    assert raised.value.status == 2


documents = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3),
                            st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=10,
)  # fmt: skip


@given(document=st.dictionaries(st.text(max_size=3), documents), indent=indents)
def test_every_value_is_found_where_it_stands(document: dict[str, Any], indent: Any) -> None:
    text = json.dumps(document, indent=indent)

    def look(path: tuple[str | int, ...], value: Any) -> None:
        start, end = hook_settings._span(text, path)
        assert json.loads(text[start:end]) == value
        if isinstance(value, dict):
            for key, one in value.items():
                look((*path, key), one)
        for index, one in enumerate(value if isinstance(value, list) else []):
            look((*path, index), one)

    look((), document)


lines = st.lists(
    st.sampled_from(["", "all:", "\techo hi", "x = \\", "\u00e4 # caf\udce9", "<!-- a -->"])
)


@given(parts=lines, end=st.sampled_from(["\n", "\r\n"]), last=st.booleans(),
       style=st.sampled_from([changes.HASH, changes.COMMENT]))  # fmt: skip
def test_a_block_is_put_in_once_and_taken_out_to_the_byte(
    parts: list[str], end: str, last: bool, style: str
) -> None:
    text = end.join(parts) + (end if last and parts else "")
    once = changes.with_block(text, "include a\ninclude b", style)
    assert "include a" in once and "include a" not in text
    assert changes.with_block(once, "include a\ninclude b", style) == once
    assert changes.without_block(once, style) == text
    assert changes.without_block(once + "mine\n", style) == text + "mine\n"
    newer = changes.with_block(once, "include c", style)
    assert "include a" not in newer and changes.without_block(newer, style) == text


def test_a_block_that_lost_its_last_line_takes_nothing_of_the_users_with_it() -> None:
    once = changes.with_block("all:\n", "include a", changes.HASH)
    damaged = once.replace("# <<< contextkit\n", "mine:\n")
    assert changes.without_block(damaged, changes.HASH) == "all:\ninclude a\nmine:\n"


def test_codex_finds_the_launcher_from_any_folder_below() -> None:
    command = hook_settings.handler(hosts.find("codex"), "Stop", "tools/contextkit")["command"]
    assert "tools/contextkit/scripts/hook.sh" in str(command) and "git" not in str(command)
