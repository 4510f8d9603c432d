"""What a handoff carries on from the one before: open blockers, decisions, rejected approaches.

A blocker stays until it is resolved. A decision or a rejected approach stays as long as the
story does. Whoever says that a list is empty (`blockers=none`) closes what was open in it.
Where a list has no room for all, its last line holds the oldest ones together:
`Earlier: use TOML | keep the old API`. Pure.
"""

from __future__ import annotations

from contextkit.base.errors import bad_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from contextkit.base.limits import Limits
    from contextkit.handoffs.documents.artifacts import Handoff
    from contextkit.handoffs.documents.fields import Fields

EARLIER = {"decisions": "Earlier: ", "blockers": "Also open: ", "rejected": "Earlier: "}
_BETWEEN = " | "
_WIDEST = 400  # characters of a line that holds several
_ALL = "all"


def carry(
    fields: Fields,
    last: Handoff | None,
    limits: Limits,
    is_known: Callable[[str], bool],
    said_by_hand: Iterable[str] = (),
) -> tuple[Fields, tuple[str, ...]]:
    """`fields` with what `last` left open, each list within its limit; and what to say of it.

    `said_by_hand`: the fields that somebody typed. `is_known` tells the blockers that are found
    anew each time (open verdicts): they are not carried. Raises ContextError for
    something resolved that no blocker begins with.
    """
    said: list[str] = []
    blockers = _apart("blockers", last.blockers if last else ())
    none_left = fields.get("blockers") == () and last is not None and "blockers" in said_by_hand
    named = (_ALL,) if none_left else fields.get("resolved", ())
    resolved, waiting = _resolved(named, blockers, fields.get("blockers", ()))
    given = {**fields, "resolved": resolved}
    old = {"blockers": tuple(one for one in waiting if not is_known(one))}
    if last and last.story_id == fields.get("story_id", ""):
        old |= {name: _apart(name, getattr(last, name)) for name in ("decisions", "rejected")}
    done = frozenset(map(_bare, resolved))
    given["blockers"] = tuple(b for b in fields.get("blockers", ()) if _bare(b) not in done)
    for name, most in (
        ("decisions", limits.handoff_decisions),
        ("blockers", limits.handoff_blockers),
        ("rejected", limits.handoff_rejected),
    ):
        new = given.get(name, ())
        if new == () and name in said_by_hand:
            continue
        there = frozenset(map(_bare, new))
        carried = tuple(one for one in old.get(name, ()) if _bare(one) not in there)
        if carried:
            given[name] = _together(name, new, carried, most)
            said.append(f"{name}: {len(carried)} carried on from the last handoff")
    return given, tuple(said)


def _bare(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")


def _apart(name: str, lines: Iterable[str]) -> tuple[str, ...]:
    """The entries of a list, one that holds several taken apart."""
    found: list[str] = []
    for line in lines:
        if line.startswith(EARLIER[name]):
            found += line.removeprefix(EARLIER[name]).split(_BETWEEN)
        else:
            found.append(line)
    return tuple(found)


def _together(
    name: str, new: tuple[str, ...], carried: tuple[str, ...], most: int
) -> tuple[str, ...]:
    """`new`, then `carried`; the oldest in one line where there are more than `most`."""
    if len(new) + len(carried) <= most:
        return (*new, *carried)
    own = (*new, *carried)[: max(most - 1, len(new[: most - 1]))]
    rest = (*new, *carried)[len(own) :]
    return (*own, _line(name, rest))


def _line(name: str, entries: tuple[str, ...]) -> str:
    """Several entries in one line; what has no room is counted."""
    line = EARLIER[name] + entries[0]
    for at, entry in enumerate(entries[1:], start=1):
        if len(line) + len(entry) > _WIDEST:
            return f"{line}{_BETWEEN}(+{len(entries) - at} more)"
        line += _BETWEEN + entry
    return line


def _resolved(
    named: tuple[str, ...], blockers: tuple[str, ...], new: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The blockers that `named` closes, each by the beginning of its text, and those still open."""
    if [_bare(one) for one in named] == [_ALL]:
        return blockers, ()
    closed: list[str] = []
    for one in named:
        found = [b for b in (*blockers, *new) if _bare(b).startswith(_bare(one))]
        if not found:
            there = "; ".join((*blockers, *new)) or "none"
            raise bad_input(
                f"resolved: no blocker begins with {one[:80]!r}; open are: {there[:400]}"
            )
        closed += [b for b in found if b not in closed]
    return tuple(closed), tuple(b for b in blockers if b not in closed)
