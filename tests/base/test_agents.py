"""agents.py: who is called by the beginning of a prompt, and who is not."""

from __future__ import annotations

import pytest
from conftest import each
from contextkit.base import agents
from contextkit.base.errors import ContextError
from contextkit.base.settings import Limits
from hypothesis import given
from hypothesis import strategies as st

PREFIXES = Limits().handoff_prefixes
ids = st.from_regex(r"[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,5}){0,2}", fullmatch=True).filter(
    lambda text: "-to-" not in text
)


@each(
    ("prompt", "found"),
    [
        ("@qa review this", ("qa", "review this")),
        ("@qa", ("qa", "")),
        ("  @QA\n\nreview\nthis\n", ("qa", "review\nthis")),
        ("@qa, review this", ("qa", "review this")),
        ("@qa: review", ("qa", "review")),
        ("/AIOS:agents:qa", ("qa", "")),
        ("/AIOS:agents:ux-expert *draft", ("ux-expert", "*draft")),
        ("/aios:agents:qa go", ("qa", "go")),
        ("mail a@dev.com", None),
        ("ask @qa later", None),
        ("`@dev`", None),
        ("```\n@dev\n```", None),
        ('"@dev" said', None),
        ("> @dev wrote", None),
        ("@", None),
        ("@ dev", None),
        ("@dev.com is a domain", None),
        ("@types/node is broken", None),
        ("@src/app.py fix it", None),
        ("@README.md", None),
        ("@dev@example.org", None),
        ("@notes-to-self do", None),
        ("@-qa", None),
        ("@qa- now", None),
        ("@1st", None),
        ("@qä", None),
        ("/AIOS:tasks:qa", None),
        ("/AIOS:agents:", None),
        ("/AIOX:agents:qa", None),
        ("", None),
    ],
)
def test_only_the_beginning_of_a_prompt_calls_an_agent(
    prompt: str, found: tuple[str, str] | None
) -> None:
    assert agents.recognized(prompt, PREFIXES) == found


def test_prefixes_are_a_setting() -> None:
    for prefix in ("/AIOX:agents:", "/SINAPSE:agents:", "!"):
        assert agents.recognized(f"{prefix}qa go", (prefix,)) == ("qa", "go")
        assert agents.recognized("@qa go", (prefix,)) is None
    assert agents.recognized("qa go", ("",)) is None


@given(ids, st.text(st.characters(codec="utf-8")))
def test_whatever_follows_a_blank_is_the_rest(agent: str, rest: str) -> None:
    assert agents.recognized(f"@{agent} {rest}", PREFIXES) == (agent, rest.strip())


@given(st.text(st.characters(codec="utf-8")))
def test_nobody_is_called_who_could_not_be_named(prompt: str) -> None:
    found = agents.recognized(prompt, PREFIXES)
    assert found is None or agents.identify(found[0], "to") == found[0]


@each("text", ["qa", "@qa", "QA", " @Qa "])
def test_one_agent_has_one_id(text: str) -> None:
    assert agents.identify(text, "to") == "qa"


@each(
    "text",
    ["", "@", "a b", "a/b", "..", "-a", "a-", "a--b", "x-to-y", "ä", "a\nb", "a" * 65, "@@a"],
)
def test_what_is_no_id_is_refused_by_the_name_of_its_field(text: str) -> None:
    with pytest.raises(ContextError, match=r"^to: ") as refusal:
        agents.identify(text, "to")
    assert refusal.value.status == 2
