"""Fit a handoff into its limits: what carries over from the last one, and what is cut.

manuals/handoffs.md says what stays how long, and what is cut in which order. A list of decisions,
files or blockers with any entry never becomes empty.
"""

from __future__ import annotations

from contextkit.base import names, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.settings import Limits
from contextkit.base.type_names import Callable, Iterable, Sequence
from contextkit.handoffs.documents import artifacts
from contextkit.handoffs.documents.artifacts import IDENTITY, LISTS, Handoff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.text.fitting import Part

_FEW_DECISIONS, _FEW_FILES = 3, 5  # entries that are shortened before any more are dropped
_WIDTHS = (240, 160, 120, 90, 60)  # characters per entry, tried in turn
_SMALLEST = (60, 30, 15)  # characters per entry in the smallest form; fewer for costly scripts
_LEAST = 24  # fewest characters of an entry worth keeping
_ACTION = 160  # next_action is not cut below this many characters before the smallest form
_CUT_TEXTS = ("next_action", "story_status", "last_command")
_PLACES = ("resolved", "rejected", "decisions", "files_modified", "blockers", *_CUT_TEXTS)


def clipped(
    handoff: Handoff, limits: Limits, strict: bool = False
) -> tuple[Handoff, tuple[str, ...]]:
    """The handoff within the limits, and a message for everything that was cut.

    What cannot fit is refused (status 1), and with `strict` anything that must be cut (status 2).
    """
    most = limits.handoff_max_tokens
    lists = artifacts.LIMITED.items()
    short = handoff.replace(
        **{n: getattr(handoff, n)[: getattr(limits, limit)] for n, limit in lists}
    )

    def fits(attempt: Handoff) -> bool:
        return tokens.within(artifacts.render(attempt), most, limits.tokenizer)

    if short == handoff and fits(short):
        return handoff, ()
    from contextkit.text import facts

    whole = facts.find(_cuttable(handoff))
    short = short.replace(facts_kept=f"{len(whole)}/{len(whole)}")
    if not fits(short):
        more = _more(handoff.files_modified)
        files = len(handoff.files_modified) - (more > 0) + more
        short = _fitted(short, files, limits.handoff_files, fits)
        if not fits(short):
            raise _too_long(short, most, limits.tokenizer)
    messages = _cuts(handoff, short)
    if strict:
        raise bad_input("strict: " + "; ".join(messages))
    short = short.replace(facts_kept=f"{facts.kept(whole, _cuttable(short))}/{len(whole)}")
    size = tokens.estimate(artifacts.render(short), limits.tokenizer)
    kept = ", ".join(f"{len(getattr(short, n))} {n}" for n in LISTS if getattr(short, n))
    messages.append(f"kept: {kept or 'no list'}, story, task and branch whole; ~{size} tokens")
    return short, tuple(messages)


def _cuttable(handoff: Handoff) -> str:
    """Everything that may be cut, as text."""
    lists = [entry for name in (*LISTS, "resolved") for entry in getattr(handoff, name)]
    return "\n".join([*lists, *(getattr(handoff, name) for name in _CUT_TEXTS)])


def _fitted(handoff: Handoff, files: int, most: int, fits: Callable[[Handoff], bool]) -> Handoff:
    """The handoff after as few cuts as fit.

    files: the original number of files; most: the most lines about files, the last of which may
    count others
    """
    from contextkit.text import fitting

    places, parts = _parts(handoff)

    def made(texts: Sequence[str]) -> Handoff:
        values: artifacts.Fields = {name: () for name in _PLACES[:-3]}
        for name, text in zip(places, texts, strict=True):
            if name in _CUT_TEXTS:
                values[name] = text
            elif text:
                values[name] += (text,)
        left = files - len(values["files_modified"])
        if left and files > 0 and len(values["files_modified"]) < most:
            values["files_modified"] += (f"(+{left} more)",)
        return handoff.replace(**values)

    return made(fitting.fit(parts, lambda texts: fits(made(texts))))


def _parts(handoff: Handoff) -> tuple[list[str], list[Part]]:
    """The field of each text that may be cut, and the text with its cuts, in order."""
    from contextkit.text.fitting import Part

    counted = _more(handoff.files_modified) > 0
    paths = handoff.files_modified[: len(handoff.files_modified) - counted]
    narrow = tuple((100 + at, width) for at, width in enumerate(_WIDTHS))
    smallest = tuple((200 + at, width) for at, width in enumerate(_SMALLEST))
    action = (*((at, max(2 * width, _ACTION)) for at, width in narrow),
              *((at, min(_ACTION, 3 * width)) for at, width in smallest))  # fmt: skip
    answered = tuple(filter(_is_answered, handoff.resolved))
    closed = tuple(entry for entry in handoff.resolved if entry not in answered)
    parts = [("next_action", Part(handoff.next_action, action, 1))]
    parts += [
        (name, Part(getattr(handoff, name), (*narrow, *smallest), 1)) for name in _CUT_TEXTS[1:]
    ]
    for name, entries, few, step in (
        ("files_modified", paths, _FEW_FILES, 60),
        ("blockers", handoff.blockers, 1, 120),
        ("decisions", handoff.decisions, _FEW_DECISIONS, 40),
        ("rejected", handoff.rejected, 1, 20),
        ("resolved", (*answered, *closed), len(answered), 30 if answered else 0),
    ):
        for at, text in enumerate(entries):
            dropped = (step + len(entries) - at if few else step, 0)
            if at >= few:
                cuts = (*narrow, dropped) if name == "blockers" else (dropped,)
            else:
                cuts = (*narrow, *(smallest if at == 0 and name != "rejected" else ((200, 0),)))
            clip = names.clipped_start if name == "files_modified" else names.clipped_at_space
            parts.append((name, Part(text, cuts, _LEAST, clip)))
    return [name for name, _ in parts], [part for _, part in parts]


def _more(paths: tuple[str, ...]) -> int:
    """The number in a last entry `(+3 more)`; 0 if there is none."""
    last = paths[-1] if paths else ""
    number = last.removeprefix("(+").removesuffix(" more)")
    return int(number) if last == f"(+{number} more)" and names.is_whole(number) else 0


def _cuts(whole: Handoff, kept: Handoff) -> list[str]:
    messages = []
    for name in LISTS:
        before, after = len(getattr(whole, name)), getattr(kept, name)
        left = len(after) - (_more(after) > 0 and after[-1] not in getattr(whole, name))
        if left < before:
            lost = _BETWEEN.join(getattr(whole, name)[left:])[:_WIDEST] * (name == "blockers")
            counted = f"{before} given, {left} kept, {before - left} dropped"
            messages.append(f"{name}: {counted}{lost and f': {lost}'}")
        texts = zip(getattr(whole, name), after[:left], strict=False)
        if short := sum(original != cut for original, cut in texts):
            messages.append(f"{name}: {short} shortened")
    for name in ("story_status", "next_action", "last_command"):
        if getattr(whole, name) != getattr(kept, name):
            messages.append(f"{name}: shortened to {len(getattr(kept, name))} characters")
    return messages


def _too_long(handoff: Handoff, most: int, tokenizer: str) -> ContextError:
    longest = max(IDENTITY, key=lambda name: len(getattr(handoff, name)))
    text = artifacts.render(handoff)
    size = tokens.size(text, tokenizer)
    measured = f"~{size} tokens in its smallest form"
    if tokens.count(text, tokenizer) < 0:
        measured = f"up to {size} tokens in its smallest form, where nothing counts them exactly"
    return ContextError(
        f"the artifact cannot fit: {measured}, and at most {most} are allowed;"
        f" {longest} has {len(getattr(handoff, longest))} characters and is never cut: shorten it"
    )


EARLIER = {"decisions": "Earlier: ", "blockers": "Also open: ", "rejected": "Earlier: "}
_BETWEEN = " | "
_WIDEST = 400  # characters of a line that combines entries
_ALL = "all"
_ANSWER = " → "  # between a blocker and its answer
_MARKS = (_ANSWER, " -> ", " => ", ": ", " = ", " – ", " — ", " - ")  # as people write it


def carry(
    fields: artifacts.Fields, last: Handoff | None, limits: Limits,
    said_by_hand: Iterable[str] = (), blockers: tuple[str, ...] = (),
    verdicts: tuple[str, ...] = (),
) -> tuple[artifacts.Fields, tuple[str, ...]]:  # fmt: skip
    """Add what is still open to `fields`, each list within its limit; also return messages.

    A field `said_by_hand` that is () is closed. `blockers` are those of `last` that are still open.
    `verdicts` need attention, the P0 first; they cannot be closed by hand. Raises ContextError for
    a resolved item with which no blocker begins.
    """
    filled = dict(fields)
    closes_all = fields.get("blockers") == () and "blockers" in said_by_hand
    named = (_ALL,) if closes_all and last else fields.get("resolved", ())
    new = tuple(b for b in fields.get("blockers", ()) if b not in verdicts)
    numbered = apart("blockers", last.blockers) if last else ()
    resolved = _resolved(named, blockers, (*new, *verdicts), numbered)
    waiting = tuple(entry for entry in blockers if entry not in resolved)
    kept = (entry[:80] for entry in resolved if entry in verdicts)
    messages = [f"resolved: only a clean re-review closes {cut!r}: it stays" for cut in kept]
    closed = {entry: answer for entry, answer in resolved.items() if entry not in verdicts}
    filled["resolved"] = tuple(entry + (answer and _ANSWER + answer)
                               for entry, answer in closed.items())  # fmt: skip
    done = frozenset(map(_bare, closed))
    worst = [line for line in verdicts if " P0" in line][:1]  # more would push out what was typed
    filled["blockers"] = (*worst, *(entry for entry in new if _bare(entry) not in done))
    old = {"blockers": (*waiting, *verdicts)}
    if last and last.story_id == fields.get("story_id", ""):
        old |= {name: apart(name, getattr(last, name)) for name in ("decisions", "rejected")}
        old["decisions"] += tuple(filter(_is_answered, last.resolved))
    for name, entries in old.items():
        own = filled.get(name, ())
        if own == () and name in said_by_hand and name != "blockers":
            continue
        there = frozenset(map(_bare, own))
        carried = [entry for entry in dict.fromkeys(entries) if _bare(entry) not in there]
        if carried:
            most = getattr(limits, artifacts.LIMITED[name])
            every = (*own, *carried)
            filled[name] = fitted = _together(name, every, most, verdicts)
            lost = [e for e in every if e not in verdicts and e not in "\n".join(fitted)]
            if lost and name == "blockers":
                messages.append(f"{name}: no room for {_BETWEEN.join(lost)[:_WIDEST]}")
        if count := sum(entry not in verdicts for entry in carried):
            messages.append(f"{name}: {count} carried over from the last handoff")
    return filled, tuple(messages)


def _bare(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")


def apart(name: str, lines: Iterable[str]) -> tuple[str, ...]:
    """The entries of a list, with a combined line split up."""
    entries: list[str] = []
    for line in lines:
        combined = line.startswith(EARLIER[name])
        entries += line.removeprefix(EARLIER[name]).split(_BETWEEN) if combined else [line]
    return tuple(entry for entry in entries if name != "blockers" or not entry.startswith("(+"))


def _together(
    name: str, entries: tuple[str, ...], most: int, verdicts: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The entries; those beyond `most` are combined into a last line, or counted there.

    Where only `verdicts` are counted, so is the command that lists them.
    """
    if len(entries) <= most:
        return entries
    first, *rest = entries[most - 1 :]
    line = EARLIER[name] + first
    for at, entry in enumerate(rest):
        if len(line) + len(entry) > _WIDEST:
            asked = f": {names.call('verdict_table', view='attention')}"
            are_stored = set(rest[at:]).issubset(verdicts)
            line += f"{_BETWEEN}(+{len(rest) - at} more{asked if are_stored else ''})"
            break
        line += _BETWEEN + entry
    return (*entries[: most - 1], line)


def _resolved(
    named: tuple[str, ...], blockers: tuple[str, ...], new: tuple[str, ...],
    numbered: tuple[str, ...],
) -> dict[str, str]:  # fmt: skip
    """The blockers closed by `named`, each with its answer or ''; `numbered` are those by number.

    An item names a blocker by its beginning or its number, and may go on with the answer.
    """
    if [_bare(beginning) for beginning in named] == [_ALL]:
        return dict.fromkeys(blockers, "")
    there = (*blockers, *new)
    closed: dict[str, str] = {}
    for item in named:
        matching, answer = _closed_by(item, there, numbered)
        if not matching:
            numbers = {blocker: f"{at}. " for at, blocker in enumerate(numbered, start=1)}
            rank = {blocker: at for at, blocker in enumerate(numbered)}
            ranked = sorted(there, key=lambda b: rank.get(b, len(rank)))
            listed = "; ".join(f"{numbers.get(b, '')}{b}" for b in ranked) or "none"
            raise bad_input(
                f"resolved: no blocker begins with {item[:80]!r}; open are: {listed[:400]}"
            )
        closed |= dict.fromkeys(matching, answer)
    return closed


def _closed_by(
    item: str, there: tuple[str, ...], numbered: tuple[str, ...]
) -> tuple[list[str], str]:
    """The blockers that an item of `resolved` closes, and the answer that it gives."""
    parted = (item.partition(mark) for mark in _MARKS)
    readings = [(item, ""), *((head, answer) for head, _, answer in parted if answer)]
    for beginning, answer in readings:
        matching = [blocker for blocker in there if _bare(blocker).startswith(_bare(beginning))]
        if not matching and names.is_whole(beginning.strip(), 3):
            at = int(beginning)
            matching = [blocker for blocker in numbered[at - 1 : at] if blocker in there]
        if matching and beginning.strip():
            return matching, answer.strip()
    begun = [blocker for blocker in there if item.lower().startswith(blocker.lower())]
    longest = max(begun, key=len, default="")
    return [longest] * bool(begun), item[len(longest) :].strip(" →->=:–—")


def still_open(blockers: Iterable[str], newer: Iterable[Handoff]) -> list[str]:
    """Those of the blockers that no newer handoff resolved."""
    closed = {_bare(entry.partition(_ANSWER)[0]) for each in newer for entry in each.resolved}
    every = apart("blockers", blockers)
    return [blocker for blocker in every if _bare(blocker) not in closed]


def _is_answered(entry: str) -> bool:
    """Whether an entry of `resolved` has an answer, which lasts as long as a decision."""
    return _ANSWER in entry
