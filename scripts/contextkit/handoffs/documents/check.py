"""Check an artifact or draft for mistakes."""

from __future__ import annotations

from contextkit.base import tokens
from contextkit.base.errors import ContextError
from contextkit.base.settings import Limits
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents import fields as handoff_fields
from contextkit.handoffs.documents import fitting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from contextkit.handoffs.documents.fields import Fields

_LISTS = (
    ("decisions", "handoff_decisions"),
    ("files_modified", "handoff_files"),
    ("blockers", "handoff_blockers"),
    ("rejected", "handoff_rejected"),
)


def complaints(text: str, limits: Limits, name: str = "") -> list[tuple[str, str]]:
    """Return (`error` or `warning`, message) pairs; `name` is the file name if in the store."""
    try:
        fields, dropped = handoff_fields.read(text, "handoff")
    except ContextError as error:
        return [("error", str(error))]
    found = [("warning", line) for line in dropped]
    try:
        handoff = handoffs.make(fields)
    except ContextError as error:
        return [("error", str(error)), *found]
    found += [("error", said) for said in (*_over(fields, text, limits), *_unfilled(fields))]
    if not handoff.story_id:
        found.append(("warning", "story_id: is empty"))
    if fitting.sentences(handoff.next_action, 2) != handoff.next_action:
        found.append(("warning", "next_action: has more than two sentences"))
    if name and not name.startswith(f"handoff-{handoff.from_agent}-to-{handoff.to_agent}-"):
        found.append(
            ("error", f"its name does not fit {handoff.from_agent} and {handoff.to_agent}")
        )
    return found


def _over(fields: Fields, text: str, limits: Limits) -> Iterator[str]:
    """Yield a message for each limit exceeded."""
    for field, limit in _LISTS:
        count, most = len(fields.get(field, ())), getattr(limits, limit)
        if count > most:
            yield f"{field}: {count} entries, {most} are the most"
    most = limits.handoff_max_tokens
    if not tokens.within(text, most, limits.tokenizer):
        count = tokens.size(text, limits.tokenizer)
        yield f"has ~{count} tokens, {most} are the most"


def _unfilled(fields: Fields) -> Iterator[str]:
    """Yield a message for each placeholder of the documented template that is still there."""
    for field, placeholder in handoffs.PLACEHOLDERS.items():
        for word in map(str, _words(placeholder)):
            if word[:1] == "{" and word in _words(fields.get(field)):
                yield f"{field}: still says {word}"


def _words(said: object) -> tuple[object, ...]:
    return said if isinstance(said, tuple) else (str(said),)
