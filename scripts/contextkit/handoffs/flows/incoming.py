"""The context of an incoming agent: the kept artifacts, then its own profile, word for word."""

from __future__ import annotations

import os

from contextkit.base import addresses, agents, files, ledger, names, redaction, templates, tokens
from contextkit.base.errors import ContextError, bad_input, remark
from contextkit.base.filters import quoted
from contextkit.base.layout import Layout
from contextkit.base.outgoing import called
from contextkit.base.stores import names_in
from contextkit.base.type_names import Mapping
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents import state as handoff_state
from contextkit.handoffs.documents.artifacts import Handoff
from contextkit.handoffs.flows import fitting

_HEADING = "# Your profile: "
_MOST_BYTES = 1 << 20  # limit for a profile: 20 times the largest in public collections
_LONG = 24  # characters from which identical lines are not a coincidence
_FRAME, _FRAME_EACH = 80, 32  # tokens around all artifacts and around each one


Row = dict[str, object]


def of(layout: Layout, agent: str, typed: str = "") -> tuple[str, bool]:
    """The context for `agent` now, and whether it has any artifact; `typed` is a profile's path."""
    to = agents.identify(agent, "to")
    state = handoff_state.current(layout)
    kept = state.order[: -layout.limits.handoff_retained - 1 : -1]
    chain = {name: state.artifacts[name] for name in kept}
    who, asked = ("", "") if chain else state.elsewhere(to)
    if who:
        remark(f"{who} left one for {to} in another session: `{asked}`")
    elif not chain and state.artifacts:
        remark("no artifact is of this session: `make handoff_show` prints the newest of another")
    receiver = next(iter(chain.values())).to_agent if chain else to
    if receiver != to:
        command = names.call("handoff_switch", **{"to": to, "from": receiver})
        remark(f"the newest artifact is for {receiver}, not {to}: `{command} next_action=…`")
    return compose(layout, to, profile(layout, to, typed), chain), bool(chain)


def compose(layout: Layout, agent: str, own: tuple[str, str], chain: dict[str, Handoff]) -> str:
    """Combine the kept artifacts of `chain`, newest first, and the agent's `own` profile."""
    kept = dict(list(chain.items())[: layout.limits.handoff_retained])
    parts: list[dict[str, object]] = []
    for (name, handoff), own_text in zip(kept.items(), _texts(list(kept.values())), strict=True):
        if own_text:
            path = os.path.join(layout.handoffs, name)
            text = redaction.cleaned(own_text, layout.limits.secrets_allow)
            parts.append({"path": layout.shown(path), "text": text, "consumed": handoff.consumed})
            ref, size = addresses.of(layout, path, "handoff"), tokens.estimate(text)
            ledger.note(layout, ledger.RENDERED, ref, tokens=size, to=f"agent:{agent}")
    text = ""
    if parts:
        newest = next(iter(kept.values()))
        values = {"agent": agent, "to": newest.to_agent, "artifacts": parts}
        text = templates.render("handoff_context.md", **values, more=_more(layout, newest))
    path, whole = own
    if path:
        return f"{text}{_HEADING}{names.one_line(path)}, from here to the end\n\n{whole}"
    asked = ", ".join(map(layout.shown, layout.profiles(agent)))
    remark(f"no profile for {agent} was found ({asked}): artifacts only")
    return text


def _more(layout: Layout, newest: Handoff) -> list[str]:
    """Lines about anything else to read, with the commands that print it."""
    lines = []
    if newest.blockers:
        lines.append("start with the blockers, and read the files that they name")
    if os.path.isdir(layout.memory):
        from contextkit.memory.documents import store

        if task := store.current_task(layout):
            lines.append(f"the plan and its current state: `make memory_recover task={task}`")
    if os.path.exists(layout.reminders):
        from contextkit.capsules.documents import reminders

        if notes := reminders.newest_open(reminders.load_all(layout).documents):
            kept = names.counted(len(notes), "note")
            lines.append(f"{kept} kept for later: `make context_reminders`")
    return list(map(called, lines))


def weight(layout: Layout, newest_first: list[Handoff]) -> int:
    """The tokens of the artifacts that an incoming agent gets, including the text around them."""
    texts = list(filter(None, _texts(newest_first[: layout.limits.handoff_retained])))
    return frame(len(texts), 0) + sum(map(tokens.estimate, texts))


def _texts(newest_first: list[Handoff]) -> list[str]:
    """The newest artifact, then from each earlier one only what the newer ones lack, as YAML."""
    texts = [handoffs.render(newest_first[0])] if newest_first else []
    for at, earlier in enumerate(newest_first[1:], start=1):
        newer, lines = newest_first[:at], list[str]()
        for name in handoffs.TEXTS:
            value = getattr(earlier, name)
            if value and all(value != getattr(other, name) for other in newer):
                lines.append(f"{name}: {quoted(value, always=True)}")
        for name in handoffs.LISTS:
            repeated = {entry for other in newer for entry in getattr(other, name)}
            entries = [entry for entry in getattr(earlier, name) if entry not in repeated]
            if name == "blockers":
                entries = fitting.still_open(entries, newer)
            lines += [f"{name}:"] if entries else []
            lines += [f"  - {quoted(entry, always=True)}" for entry in entries]
        texts.append("\n".join(lines) + "\n" if lines else "")
    return texts


def frame(count: int, each: int) -> int:
    """The tokens of a context with `count` artifacts of `each` tokens, without the profile."""
    return _FRAME + (_FRAME_EACH + each) * count if count else 0


def shortened(layout: Layout, agent: str, text: str) -> str:
    """Replace the profile in a context of `agent` by a reference to its path."""
    path, whole = profile(layout, agent)
    head = text.removesuffix(whole).rpartition(_HEADING)[0]
    return f"{head}{_HEADING}read {path}\n"


# Profiles: texts of the host repository that turn a model into an agent, with its persona, commands
# and dependencies; only ever read


def profile(layout: Layout, agent: str, typed: str = "") -> tuple[str, str]:
    """The path and text (without secrets) of the profile at `typed`, else at this agent's place."""
    path = find_profile(layout, agent, typed)
    text = redaction.cleaned(load_profile(layout, path), layout.limits.secrets_allow)
    return layout.shown(path) if path else "", text


def find_profile(layout: Layout, agent: str, typed: str = "") -> str:
    """The path of an agent's profile, or ''; a `typed` one that does not exist is refused."""
    if typed:
        path = layout.typed(typed, "profile")
        if not os.path.isfile(path):
            raise bad_input(f"profile: there is no file {typed!r}")
        return path
    there = next((path for path in layout.profiles(agent) if os.path.isfile(path)), "")
    return files.inside(layout.root, there, "handoff_profiles") if there else ""


def has_profiles(layout: Layout) -> bool:
    """Whether this repository has any profiles."""
    return any(os.path.isdir(os.path.dirname(path)) for path in layout.profiles("any"))


def known_profiles(layout: Layout) -> list[str]:
    """The ids of all agents with a profile here."""
    ids = set[str]()
    for folder, name in map(os.path.split, layout.profiles("*")):
        head, star, tail = name.partition("*")
        there = [f for f in names_in(folder) if star and f.startswith(head) and f.endswith(tail)]
        ids |= {file[len(head) : len(file) - len(tail)] for file in there}
    return sorted(ids)


def load_profile(layout: Layout, path: str) -> str:
    """The text of a profile, byte for byte; '' without a path."""
    if not path:
        return ""
    if os.stat(path).st_size > _MOST_BYTES:
        most = f"at most {_MOST_BYTES} bytes"
        raise ContextError(f"{layout.shown(path)}: too large for a profile: {most}")
    return files.read(path)


def lines_of_its_own(text: str, others: str) -> frozenset[str]:
    """The longer lines that a profile has and `others` does not, without list markers."""
    own, theirs = (frozenset(line.strip(" \t\r-*#>") for line in each.split("\n"))
                   for each in (text, others))  # fmt: skip
    return frozenset(line for line in own - theirs if len(line) >= _LONG)


def of_profiles(layout: Layout, profiles: tuple[str, ...], artifact: int | None) -> list[Row]:
    """The savings of switching between agents with these profiles in turn.

    `artifact` is the size of each artifact, by default the mean of those here, else the usual size.
    """
    if len(profiles) < 2:
        raise bad_input("profiles: give at least two, in the order of the agents")
    loaded: dict[str, tuple[str, int]] = {}  # each one's name and size; a file or an agent's id
    for typed in profiles:
        there = os.path.isfile(os.path.join(layout.here, typed))
        path = layout.typed(typed, "profiles") if there else ""
        if not path and agents.is_id(typed.lower()):
            path = find_profile(layout, typed.lower())
        if not path:
            raise bad_input(f"profiles: there is no file {typed!r} in the repository")
        shown = names.one_line(os.path.splitext(os.path.basename(typed))[0])
        loaded[typed] = shown, tokens.estimate(load_profile(layout, path))
    stored = handoff_state.current(layout).artifacts.values()
    sizes = [tokens.estimate(handoffs.render(handoff)) for handoff in stored]
    usual = round(sum(sizes) / len(sizes)) if sizes else layout.limits.handoff_typical_tokens
    each, kept = artifact or usual, layout.limits.handoff_retained
    switches = [(profiles[at - 1], profiles[at], frame(min(at, kept), each))
                for at in range(1, len(profiles))]  # fmt: skip
    rows = _savings(switches, {typed: size for typed, (_, size) in loaded.items()})
    pairs = (f"{loaded[giver][0]} → {loaded[to][0]}" for giver, to, _ in switches)
    return [{**row, "switch": pair} for row, pair in zip(rows, pairs, strict=True)]


def _savings(switches: list[tuple[str, str, int]], sizes: Mapping[str, int | None]) -> list[Row]:
    """A row for each switch (from, to, tokens of the artifacts); `-` is nobody.

    It compares all profiles so far with the new one and the artifacts.
    """
    rows: list[Row] = []
    so_far: list[str] = []  # the agents of the session, once for each time they were loaded
    for giver, to, carried in switches:
        if giver not in so_far[-1:]:  # a new session
            so_far = [giver] if giver != "-" else []
        so_far.append(to)
        if giver == "-":
            continue
        without = sum(sizes[agent] or 0 for agent in so_far)
        with_handoff = (sizes[to] or 0) + carried
        measured = all(sizes[agent] is not None for agent in so_far)
        percent = round(100 * (1 - with_handoff / without)) if measured and without else None
        rows.append({"id": len(rows) + 1, "switch": f"{giver} → {to}", "without": without,
                     "with_handoff": with_handoff, "known": measured,
                     "saved_percent": percent})  # fmt: skip
    return rows


def recorded(layout: Layout) -> list[Row]:
    """The saving of each recorded switch, by today's profiles."""
    log = handoff_state.current(layout).log()
    switches = [(switch.from_agent, switch.to_agent, switch.carried) for switch in log]
    named = dict.fromkeys(agent for giver, to, _ in switches for agent in (giver, to))
    paths = {agent: find_profile(layout, agent) for agent in named if agent != "-"}
    without = [agent for agent, path in paths.items() if not path]
    remark(*(f"{agent} has no profile: nothing is claimed for its switches" for agent in without))
    texts = {agent: load_profile(layout, path) for agent, path in paths.items()}
    return _savings(switches, {a: tokens.estimate(t) if t else None for a, t in texts.items()})
