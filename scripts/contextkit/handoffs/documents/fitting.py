"""Fit a handoff into its limits: what carries over from the last one, and what is cut.

A blocker stays until it is resolved. A decision or rejected approach stays as long as the story
does. Saying `none` (`blockers=none`) closes whatever was open in a list; an empty one says nothing.
If a list has no room
for all entries, its last line combines the oldest: `Earlier: use TOML | keep the old API`.

Of too many entries, the first ones stay. If there are too many tokens, these go in order: what was
resolved, the oldest rejected approaches, the oldest decisions, files, long texts, blockers; the
last resort is the smallest form. The names of agents, story, task and branch are never cut, and a
list of decisions, files or blockers with any entry never becomes empty. This module does no I/O.
"""

from __future__ import annotations

from contextkit.base import names, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.type_names import Callable, Iterable, Iterator
from contextkit.handoffs.documents import artifacts
from contextkit.handoffs.documents.artifacts import IDENTITY, LISTS, Handoff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.base.settings import Limits

Fits = Callable[[Handoff], bool]

_FEW_DECISIONS, _FEW_FILES = 3, 5
_WIDTHS = (240, 160, 120, 90, 60)  # characters per entry, tried in turn
_SMALLEST = (60, 30, 15)  # characters per entry in the smallest form; fewer for costly scripts
_LEAST = 24  # fewest characters of an entry restored in part
_ACTION = 160  # next_action is not cut below this many characters before the smallest form


def clipped(
    handoff: Handoff, limits: Limits, strict: bool = False
) -> tuple[Handoff, tuple[str, ...]]:
    """Return the handoff within the limits, and a message for everything that was cut.

    With `strict`, anything that would be cut is refused (status 2); anything that cannot fit is
    always refused (status 1).
    """
    most = limits.handoff_max_tokens
    short = handoff.replace(
        decisions=handoff.decisions[: limits.handoff_decisions],
        files_modified=handoff.files_modified[: limits.handoff_files],
        blockers=handoff.blockers[: limits.handoff_blockers],
        rejected=handoff.rejected[: limits.handoff_rejected],
    )

    def fits(one: Handoff) -> bool:
        return tokens.within(artifacts.render(one), most, limits.tokenizer)

    if short == handoff and fits(short):
        return handoff, ()
    from contextkit.text import facts

    whole = facts.find(_cuttable(handoff))
    short = short.replace(facts_kept=f"{len(whole)}/{len(whole)}")
    if not fits(short):
        short = _fitting(short, _counted(handoff.files_modified), fits)
        if not fits(short):
            raise _too_long(short, most, artifacts.render(short), limits.tokenizer)
    said = _cuts(handoff, short)
    if strict:
        raise bad_input("strict: " + "; ".join(said))
    short = short.replace(facts_kept=f"{facts.kept(whole, _cuttable(short))}/{len(whole)}")
    size = tokens.estimate(artifacts.render(short), limits.tokenizer)
    kept = ", ".join(f"{len(getattr(short, n))} {n}" for n in LISTS if getattr(short, n))
    said.append(f"kept: {kept or 'no list'}, story, task and branch whole; ~{size} tokens")
    return short, tuple(said)


def _cuttable(handoff: Handoff) -> str:
    """All that may be cut, as text."""
    lists = [entry for name in (*LISTS, "resolved") for entry in getattr(handoff, name)]
    texts = (handoff.next_action, handoff.story_status, handoff.last_command)
    return "\n".join([*lists, *texts])


def _fitting(handoff: Handoff, given: int, fits: Fits) -> Handoff:
    """The first shorter form that fits, refilled with what its last step dropped as room allows.

    The smallest form if none fits.
    """
    longer = handoff
    for shorter in _shorter(handoff, given):
        if fits(shorter):
            return _filled(longer, shorter, fits)
        longer = shorter
    return longer


def _filled(longer: Handoff, shorter: Handoff, fits: Fits) -> Handoff:
    """Refill `shorter`, which fits, with what `longer` has more of, as far as there is room."""
    for name in ("next_action", "story_status", "last_command"):
        shorter = _text_filled(name, getattr(longer, name), shorter, fits)
    whole = shorter.replace(files_modified=longer.files_modified)  # all: the last may be a count
    shorter = whole if fits(whole) else shorter
    for name in ("blockers", "decisions", "rejected", "resolved"):
        for at, entry in enumerate(getattr(longer, name)):
            shorter = _entry_filled(name, at, entry, shorter, fits)
            if entry not in getattr(shorter, name):
                break
    return shorter


def _text_filled(name: str, text: str, shorter: Handoff, fits: Fits) -> Handoff:
    """`shorter` with as much of `text` as fits."""

    def cut(width: int) -> Handoff:
        return shorter.replace(**{name: names.clipped_at_space(text, width)})

    return _widest(shorter, cut, len(getattr(shorter, name)), len(text), fits)


def _entry_filled(name: str, at: int, entry: str, shorter: Handoff, fits: Fits) -> Handoff:
    """`shorter` with as much of a list's entry as fits."""
    kept = getattr(shorter, name)

    def cut(width: int) -> Handoff:
        return shorter.replace(
            **{name: (*kept[:at], names.clipped_at_space(entry, width), *kept[at + 1 :])}
        )

    least = len(kept[at]) if at < len(kept) else _LEAST
    return _widest(shorter, cut, least, len(entry), fits)


def _widest(
    found: Handoff, cut: Callable[[int], Handoff], low: int, high: int, fits: Fits
) -> Handoff:
    """The whole text of `high` characters if it fits, else its widest cut from `low` characters on.

    `found` if none fits.
    """
    if fits(whole := cut(high)):
        return whole
    while low < high:
        middle = (low + high) // 2
        if fits(one := cut(middle)):
            found, low = one, middle + 1
        else:
            high = middle
    return found


def _shorter(handoff: Handoff, given: int) -> Iterator[Handoff]:
    """Yield ever shorter forms, each based on the last; `given` is the original number of files."""
    if handoff.resolved:
        handoff = handoff.replace(resolved=())
        yield handoff
    for most in reversed(range(1, len(handoff.rejected))):
        handoff = handoff.replace(rejected=handoff.rejected[:most])
        yield handoff
    for most in reversed(range(_FEW_DECISIONS, len(handoff.decisions))):
        handoff = handoff.replace(decisions=handoff.decisions[:most])
        yield handoff
    paths = handoff.files_modified
    for most in reversed(range(_FEW_FILES, len(paths))):
        handoff = handoff.replace(files_modified=(*paths[:most], f"(+{given - most} more)"))
        yield handoff
    for width in _WIDTHS:
        handoff = _narrowed(handoff, width)
        yield handoff
    for most in reversed(range(1, len(handoff.blockers))):
        handoff = handoff.replace(blockers=handoff.blockers[:most])
        yield handoff
    for width in _SMALLEST:
        handoff = _narrowed(handoff, width)
        handoff = handoff.replace(
            decisions=handoff.decisions[:1],
            files_modified=handoff.files_modified[:1],
            rejected=(),
            next_action=names.clipped_at_space(
                artifacts.sentences(handoff.next_action, 1), min(_ACTION, 3 * width)
            ),
        )
        yield handoff


def _more(paths: tuple[str, ...]) -> int:
    """The number in a last entry `(+3 more)`; 0 if there is none."""
    last = paths[-1] if paths else ""
    number = last.removeprefix("(+").removesuffix(" more)")
    return int(number) if last == f"(+{number} more)" and names.is_whole(number) else 0


def _counted(paths: tuple[str, ...]) -> int:
    """How many files a list stands for."""
    return len(paths) - (_more(paths) > 0) + _more(paths)


def _narrowed(handoff: Handoff, width: int) -> Handoff:
    """Cut every text that may be cut to `width` characters; paths keep their end."""
    return handoff.replace(
        decisions=tuple(names.clipped_at_space(text, width) for text in handoff.decisions),
        files_modified=tuple(names.clipped_start(path, width) for path in handoff.files_modified),
        blockers=tuple(names.clipped_at_space(text, width) for text in handoff.blockers),
        rejected=tuple(names.clipped_at_space(text, width) for text in handoff.rejected),
        resolved=tuple(names.clipped_at_space(text, width) for text in handoff.resolved),
        story_status=names.clipped_at_space(handoff.story_status, width),
        last_command=names.clipped_at_space(handoff.last_command, width),
        next_action=names.clipped_at_space(handoff.next_action, max(2 * width, _ACTION)),
    )


def _cuts(given: Handoff, kept: Handoff) -> list[str]:
    said = []
    for name in LISTS:
        before, after = len(getattr(given, name)), getattr(kept, name)
        left = len(after) - (_more(after) > 0 and after[-1] not in getattr(given, name))
        if left < before:
            said.append(f"{name}: {before} given, {left} kept, {before - left} dropped")
        texts = zip(getattr(given, name), after[:left], strict=False)
        short = sum(one != other for one, other in texts)
        if short:
            said.append(f"{name}: {short} shortened")
    for name in ("story_status", "next_action", "last_command"):
        if getattr(given, name) != getattr(kept, name):
            said.append(f"{name}: shortened to {len(getattr(kept, name))} characters")
    return said


def _too_long(handoff: Handoff, most: int, text: str, tokenizer: str) -> ContextError:
    longest = max(IDENTITY, key=lambda name: len(getattr(handoff, name)))
    size = tokens.size(text, tokenizer)
    said = f"~{size} tokens in its smallest form"
    if tokens.count(text, tokenizer) < 0:
        said = f"up to {size} tokens in its smallest form, where nothing counts them exactly"
    return ContextError(
        f"the artifact cannot fit: {said}, {most} are the most;"
        f" {longest} has {len(getattr(handoff, longest))} characters and is never cut: shorten it"
    )


# Carrying over


EARLIER = {"decisions": "Earlier: ", "blockers": "Also open: ", "rejected": "Earlier: "}
_BETWEEN = " | "
_WIDEST = 400  # characters of a line that combines entries
_ALL = "all"


def carry(
    fields: artifacts.Fields,
    last: Handoff | None,
    limits: Limits,
    said_by_hand: Iterable[str] = (),
    blockers: tuple[str, ...] = (),
    verdicts: tuple[str, ...] = (),
) -> tuple[artifacts.Fields, tuple[str, ...]]:
    """Add what is still open to `fields`, each list within its limit; also return messages.

    `said_by_hand` are the fields that somebody typed; one that is () there is closed. `blockers`
    are those of `last` that are still open. `verdicts` need attention: no one closes them by hand.
    Raises ContextError for a resolved item that no blocker begins with.
    """
    said: list[str] = []
    given = dict(fields)
    closes_all = fields.get("blockers") == () and "blockers" in said_by_hand
    named = (_ALL,) if closes_all and last else fields.get("resolved", ())
    new = tuple(b for b in fields.get("blockers", ()) if b not in verdicts)
    resolved, waiting = _resolved(named, blockers, (*new, *verdicts))
    kept = tuple(one for one in resolved if one in verdicts)
    said += [f"resolved: only a clean re-review closes {one[:80]!r}: it stays" for one in kept]
    given["resolved"] = tuple(one for one in resolved if one not in kept)
    done = frozenset(map(_bare, given["resolved"]))
    given["blockers"] = tuple(one for one in new if _bare(one) not in done)
    old = {"blockers": (*verdicts, *waiting)}
    if last and last.story_id == fields.get("story_id", ""):
        old |= {name: apart(name, getattr(last, name)) for name in ("decisions", "rejected")}
    for name, most in (
        ("decisions", limits.handoff_decisions),
        ("blockers", limits.handoff_blockers),
        ("rejected", limits.handoff_rejected),
    ):
        typed = given.get(name, ())
        if typed == () and name in said_by_hand and name != "blockers":
            continue
        there = frozenset(map(_bare, typed))
        carried = tuple(dict.fromkeys(one for one in old.get(name, ()) if _bare(one) not in there))
        if carried:
            given[name] = _together(name, typed, carried, most)
        count = sum(one not in verdicts for one in carried)
        said += [f"{name}: {count} carried over from the last handoff"] if count else []
    return given, tuple(said)


def _bare(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")


def apart(name: str, lines: Iterable[str]) -> tuple[str, ...]:
    """The entries of a list, with a combined line split up."""
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
    """`new`, then `carried`; beyond `most` entries, the oldest are combined into one line."""
    if len(new) + len(carried) <= most:
        return (*new, *carried)
    own = (*new, *carried)[: most - 1]
    rest = (*new, *carried)[len(own) :]
    return (*own, _line(name, rest))


def _line(name: str, entries: tuple[str, ...]) -> str:
    """Combine entries into one line, counting those that do not fit."""
    line = EARLIER[name] + entries[0]
    for at, entry in enumerate(entries[1:], start=1):
        if len(line) + len(entry) > _WIDEST:
            return f"{line}{_BETWEEN}(+{len(entries) - at} more)"
        line += _BETWEEN + entry
    return line


def _resolved(
    named: tuple[str, ...], blockers: tuple[str, ...], new: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The blockers closed by `named`, each matched by its beginning, and those still open."""
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
