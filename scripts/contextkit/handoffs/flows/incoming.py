"""What an agent gets when it starts: the retained artifacts as information, and its own profile."""

from __future__ import annotations

import os

from contextkit.base import addresses, agents, ledger, names, redaction, templates, tokens
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents import profiles
from contextkit.handoffs.documents import state as handoff_state
from contextkit.handoffs.documents.artifacts import Handoff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.handoffs.documents.state import State

_HEADING = "# Your profile: "
_FRAME, _FRAME_EACH = 80, 30  # tokens around all artifacts, and around each


class Context(Record):
    """The text for the incoming agent, and what to say on stderr."""

    text: str = ""
    said: tuple[str, ...] = ()


class Profile(Record):
    """An agent's profile, word for word but for secrets, and its path; empty if there is none."""

    text: str = ""
    path: str = ""


def of(layout: Layout, agent: str, given: str = "") -> Context:
    """The context of `agent` as things stand; `given` is the path of a profile that was typed."""
    to = agents.identify(agent, "to")
    state, said = handoff_state.current(layout)
    found, unread = retained(layout, state)
    made = compose(layout, to, profile(layout, to, given), found)
    return made.replace(said=(*said, *unread, *made.said))


def profile(layout: Layout, agent: str, given: str = "") -> Profile:
    """The profile at the path `given`, else where the settings say that this agent's is."""
    path = profiles.find(layout, agent, given)
    return Profile(
        text=_without_secrets(layout, profiles.load(layout, path)),
        path=layout.shown(path) if path else "",
    )


def retained(layout: Layout, state: State) -> tuple[dict[str, Handoff], tuple[str, ...]]:
    """The artifacts that are kept, newest first, and what cannot be read."""
    return handoffs.read(layout, list(reversed(handoff_state.retained(layout, state))))


def compose(layout: Layout, agent: str, own: Profile, found: dict[str, Handoff]) -> Context:
    """The artifacts `found`, newest first and as many as are kept, and the profile below them."""
    parts = [
        {
            "path": layout.shown(os.path.join(layout.handoffs, name)),
            "text": _without_secrets(layout, handoffs.render(handoff)),
            "consumed": handoff.consumed,
        }
        for name, handoff in list(found.items())[: layout.limits.handoff_retained]
    ]
    for part in parts:
        ref = addresses.of(layout, layout.join(str(part["path"])), "handoff")
        size = tokens.estimate(str(part["text"]))
        ledger.note(layout, ledger.RENDERED, ref, tokens=size, to=f"agent:{agent}")
    text = templates.render("handoff_context.md", agent=agent, artifacts=parts) if parts else ""
    if own.path:
        text += f"{_HEADING}{names.one_line(own.path)}, from here to the end\n\n{own.text}"
        return Context(text=text)
    asked = ", ".join(map(layout.shown, layout.profiles(agent)))
    return Context(text=text, said=(f"no profile of {agent} was found ({asked}): artifacts only",))


def weight(layout: Layout, newest_first: list[Handoff]) -> int:
    """The tokens of the artifacts that an incoming agent gets, with what stands around them."""
    kept = newest_first[: layout.limits.handoff_retained]
    return frame(len(kept), 0) + sum(tokens.estimate(handoffs.render(one)) for one in kept)


def frame(count: int, each: int) -> int:
    """The tokens of a context with `count` artifacts of `each` tokens, without the profile."""
    return _FRAME + (_FRAME_EACH + each) * count if count else 0


def _without_secrets(layout: Layout, text: str) -> str:
    return redaction.redacted(text, layout.limits.secrets_allow)[0]


def shortened(layout: Layout, agent: str, text: str) -> str:
    """A context of `agent` with its profile named instead of quoted."""
    own = profile(layout, agent)
    head = text.removesuffix(own.text).rpartition(_HEADING)[0]
    return f"{head}{_HEADING}read {own.path}\n"
