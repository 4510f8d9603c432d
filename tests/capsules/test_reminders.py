"""reminders.py: what is typed comes back, what a person wrote stays, what branches add merges."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import each, git
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.capsules.documents import reminders
from contextkit.capsules.documents.reminders import Reminder
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

GIT = tuple(map(int, git("--version").split()[2].split(".")[:2]))
STYLES = ["merge", "diff3", *(["zdiff3"] if GIT >= (2, 35) else [])]
T0 = 1_761_242_700  # 2025-10-23 18:05:00 UTC

LEGACY = """\
# Remember Later

Reminders for the next capsule.

## 2025-10-20 09:00:00 UTC
- **Topic:** ux
- **Note:** Outline onboarding UX spike
- **Next step:** Review mockups
- **Tags:** design, later

## 2025-10-21 10:30:00 UTC
- **Note:** Ask Ada about the cache
second line, raw
"""


def inbox(layout: Layout) -> str:
    return os.path.realpath(layout.reminders)


def put(layout: Layout, text: str) -> None:
    """An inbox that says `text`, line ends as they are; none if that is empty."""
    path = Path(inbox(layout))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    if not text:
        path.unlink()


def said(layout: Layout) -> str:
    path = Path(inbox(layout))
    return path.read_bytes().decode("utf-8") if path.exists() else ""


def add(
    layout: Layout,
    note: str = "spike",
    topic: str = "",
    next_step: str = "",
    tags: tuple[str, ...] = (),
    at: int = 0,
) -> Reminder:
    made = reminders.make(note, topic, next_step, tags, T0 + at)
    return reminders.save(layout, inbox(layout), made)


def finish(layout: Layout, identity: str, into: str = "", at: int = 0) -> list[str]:
    return reminders.finish(layout, inbox(layout), [identity], into, T0 + at)


def listed(layout: Layout) -> tuple[Reminder, ...]:
    return tuple(reminders.load_all(layout, inbox(layout)).whole().documents)


# Texts that try to be something else

FORGED = [
    "## 2025-10-23 18:05:00 UTC",
    "## 2025-10-23 18:05:00 UTC <!-- r-1a2b3c -->",
    "<!-- end r-1a2b3c -->",
    "<!-- r-1a2b3c -->",
    "  <!-- r-1a2b3c -->",
    "- **Done:** 2025-10-23 18:05:00 UTC → dropped",
    "- **Note:** another",
    "- **Tags:** x, y",
    "# Remember later",
    "```",
    "<!--",
    "  two blanks  ",
    "",
]
any_char = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
a_line = st.one_of(st.sampled_from(FORGED), st.text(any_char, max_size=12))
a_break = st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\u2028", "\x0b", "\x85"])
a_text = st.lists(st.tuples(a_line, a_break), max_size=8).map(
    lambda p: "".join(a + b for a, b in p)
)
an_add = st.tuples(
    a_text.filter(str.strip), a_text, a_text, st.lists(a_line, max_size=3).map(tuple)
)


def one_line(text: str) -> str:
    """What a topic and a next step become; said here once more, as the law that they follow."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


@given(adds=st.lists(an_add, min_size=1, max_size=3), into=a_line)
@example(adds=[("a  \nb", "", "", (", x", "a ,", " ,"))], into="")
@example(adds=[("x\n\n\n  y\r\rz", "## t", "<!-- end r-1a2b3c -->", ())], into="a")
def test_what_was_typed_comes_back_whatever_it_says(
    adds: list[tuple[str, str, str, tuple[str, ...]]], into: str
) -> None:
    layout = Layout()
    put(layout, "")
    saved = [add(layout, *given) for given in adds]
    assert listed(layout) == tuple(saved)
    assert len({reminder.id for reminder in saved}) == len(adds)
    for reminder, (note, topic, step, tags) in zip(saved, adds, strict=True):
        assert reminder.note == note.replace("\r\n", "\n").replace("\r", "\n").strip()
        assert (reminder.topic, reminder.next_step) == (one_line(topic), one_line(step))
        words = (one_line(tag.replace(",", " ")) for tag in tags)
        assert reminder.tags == tuple(word for word in words if word)
    headings = [line for line in said(layout).split("\n") if line.startswith("## ")]
    assert headings == [f"## 2025-10-23 18:05:00 UTC <!-- {r.id} -->" for r in saved]

    assert finish(layout, saved[0].id, one_line(into), at=60)
    done, *others = listed(layout)
    assert others == saved[1:]
    target = f" → {one_line(into)}" if one_line(into) else ""
    assert done == saved[0].replace(done=f"2025-10-23 18:06:00 UTC{target}")


def test_an_entry_as_it_is_written(layout: Layout) -> None:
    add(layout, "first\n\nthird\nfourth", "ux", "look", ("a", "b"))
    (found,) = listed(layout)
    finish(layout, found.id, "PLAN.md", at=3600)
    head, _, entry = said(layout).partition("\n## ")
    assert head.startswith("# Remember later\n")
    assert entry.replace(found.id, "ID") == (
        "2025-10-23 18:05:00 UTC <!-- ID -->\n"
        "- **Topic:** ux\n"
        "- **Note:** first\n"
        "\n"
        "  <!-- ID -->\n"
        "  third\n"
        "  fourth\n"
        "- **Next step:** look\n"
        "  <!-- ID -->\n"
        "- **Tags:** a, b\n"
        "- **Done:** 2025-10-23 19:05:00 UTC → PLAN.md\n"
        "<!-- end ID -->\n"
    )


# What stands in the file

written = st.lists(
    st.one_of(a_line, st.sampled_from(LEGACY.splitlines()), st.sampled_from(FORGED)), max_size=15
)


@given(lines=written, newline=st.sampled_from(["\n", "\r\n"]), ended=st.booleans())
@example(lines=["  "], newline="\n", ended=False)
@example(lines=["## a", "b", "## c"], newline="\r\n", ended=False)
@example(  # an entry whose end stands below the heading of the next
    lines=[
        "## 2025-10-23 18:05:00 UTC <!-- r-1a2b3c -->",
        *["<!-- r-1a2b3c -->"] * 3,
        "## 2025-10-23 18:05:00 UTC",
        "<!-- end r-1a2b3c -->",
    ],
    newline="\n",
    ended=False,
)
def test_what_a_person_wrote_stays_byte_for_byte(
    lines: list[str], newline: str, ended: bool
) -> None:
    layout = Layout()
    old = newline.join(lines) + (newline if ended and lines else "")
    put(layout, old)
    before = listed(layout)

    added = add(layout, "new\nlines", at=5)
    text = said(layout)
    assert text.startswith(old)
    assert Counter(r.id for r in listed(layout)) == Counter(r.id for r in (*before, added))
    end = "\r\n" if old.partition("\n")[0].endswith("\r") else "\n"
    entry = reminders.render(added).replace("\n", end)
    if old:
        assert text.removeprefix(old).removesuffix(entry).strip("\r\n") == ""

    for reminder in listed(layout):
        same = [r for r in listed(layout) if r.id == reminder.id]
        if len(same) > 1 or reminder.done:
            continue
        old = said(layout)
        assert finish(layout, reminder.id, "PLAN.md", at=9)
        new = said(layout)
        at = next(n for n in range(len(new)) if old[n : n + 1] != new[n])
        assert new.endswith(old[at:]) and len(new) > len(old)
        more = Counter(map(str.strip, new.split("\n"))) - Counter(map(str.strip, old.split("\n")))
        assert set(more) <= {
            "- **Done:** 2025-10-23 18:05:09 UTC → PLAN.md",
            f"<!-- end {reminder.id} -->",
            f"<!-- {reminder.id} -->",
            "",
        }
        assert [r.done for r in listed(layout) if r.id == reminder.id] == [
            "2025-10-23 18:05:09 UTC → PLAN.md"
        ]


def test_an_inbox_of_the_original_tool_is_listed_and_marked(layout: Layout) -> None:
    put(layout, LEGACY)
    first, second = listed(layout)
    assert (first.taken, first.topic, first.note, first.next_step, first.tags) == (
        "2025-10-20 09:00:00 UTC", "ux", "Outline onboarding UX spike", "Review mockups",
        ("design", "later"),
    )  # fmt: skip
    assert second.note == "Ask Ada about the cache\nsecond line, raw"
    assert finish(layout, second.id, "PLAN.md") and finish(layout, first.id)
    mark = "- **Done:** 2025-10-23 18:05:00 UTC"
    assert (
        said(layout)
        == LEGACY.replace("design, later\n", f"design, later\n{mark}\n<!-- end {first.id} -->\n")
        + f"{mark} → PLAN.md\n<!-- end {second.id} -->\n"
    )
    assert [(r.id, bool(r.done)) for r in listed(layout)] == [(first.id, True), (second.id, True)]


@each("newline", ["\n", "\r\n"])
@each("ending", ["", "\n", "\n\n", "\n\n\n"])
def test_one_blank_line_stands_before_a_new_entry_and_line_ends_stay_of_one_kind(
    newline: str, ending: str, layout: Layout
) -> None:
    old = (LEGACY.rstrip("\n") + ending).replace("\n", newline)
    put(layout, old)
    marked = finish(layout, listed(layout)[1].id)
    finish(layout, add(layout).id)
    text = said(layout)
    assert marked and text.count("\n") == text.count(newline)
    assert f"-->{newline * max(2, len(ending))}## 2025-10-23" in text


def test_line_ends_of_both_kinds_in_one_file_do_not_shift_a_mark(layout: Layout) -> None:
    put(layout, "# Inbox\n\r\n## one\r\ntext\r\n\n## two\ntext\n")
    one, _ = listed(layout)
    assert finish(layout, one.id)
    assert said(layout) == (
        f"# Inbox\n\r\n## one\r\ntext\r\n- **Done:** 2025-10-23 18:05:00 UTC\n<!-- end {one.id} -->"
        "\n\n## two\ntext\n"
    )


@pytest.mark.parametrize(
    ("heading", "note"),
    [
        ("## Ask Ada", "Ask Ada\nabout it"),
        ("## <!-- not an id", "<!-- not an id\nabout it"),
        ("## use <!-- r-x --> here", "use <!-- r-x --> here\nabout it"),
    ],
)
def test_a_heading_written_by_hand_is_part_of_the_note(
    heading: str, note: str, layout: Layout
) -> None:
    put(layout, f"{heading}\nabout it\n")
    (found,) = listed(layout)
    assert found.note == note
    assert finish(layout, found.id) and listed(layout)[0].done


def test_a_done_mark_put_below_the_closing_line_by_hand_counts_and_other_text_does_not(
    layout: Layout,
) -> None:
    first, second = add(layout, "one"), add(layout, "two")
    closing = f"<!-- end {first.id} -->\n"
    put(layout, said(layout).replace(closing, f"{closing}- **Done:** dropped\n\nA thought.\n"))
    assert listed(layout) == (first.replace(done="dropped"), second)


def test_an_entry_that_lost_its_closing_line_is_marked_all_the_same(layout: Layout) -> None:
    first, second = add(layout, "one"), add(layout, "two")
    put(layout, said(layout).replace(f"<!-- end {first.id} -->\n", ""))
    assert finish(layout, first.id)
    assert [bool(r.done) for r in listed(layout)] == [True, False]
    assert listed(layout)[1] == second


# Ids


def test_ids_are_unique_in_an_inbox_and_stay_what_they_were(layout: Layout) -> None:
    put(layout, LEGACY)
    old = [r.id for r in listed(layout)]
    new = [add(layout, "same").id for _ in range(5)]
    finish(layout, old[0])
    finish(layout, new[2])
    add(layout, "same", at=1)
    ids = [r.id for r in listed(layout)]
    assert ids[:7] == old + new
    assert len(set(ids)) == 8
    assert all(len(i) == 8 and i.startswith("r-") and int(i[2:], 16) >= 0 for i in ids)


def test_a_reminder_that_differs_in_any_field_has_another_id() -> None:
    made = [
        reminders.make(note, topic, step, tags, T0 + at)
        for note in ("a", "b") for topic in ("", "t") for step in ("", "t")
        for tags in ((), ("t",), ("t", "u")) for at in (0, 1)
    ]  # fmt: skip
    assert len({reminder.id for reminder in made}) == 48


def test_a_note_that_names_its_own_id_gets_another(layout: Layout) -> None:
    tempting = reminders.make("spike", "", "", (), T0).id
    note = f"spike\na\nb\n<!-- {tempting} -->"
    forged = reminders.make(note, "", "", (), T0).replace(id=tempting)
    saved = reminders.save(layout, inbox(layout), forged)
    assert saved.id != tempting
    assert listed(layout) == (saved,)


def test_an_unknown_id_names_the_open_ones(layout: Layout) -> None:
    with pytest.raises(ContextError, match=r"no such reminder .*; none is open there"):
        finish(layout, "r-000000")
    done, first, second = add(layout, "a"), add(layout, "b"), add(layout, "c")
    finish(layout, done.id)
    old = said(layout)
    with pytest.raises(ContextError, match=f"r-000000: .*open there: {first.id}, {second.id}$"):
        finish(layout, "r-000000")
    assert said(layout) == old


def test_two_entries_with_one_id_and_different_texts_are_left_to_a_person(layout: Layout) -> None:
    made = add(layout, "one")
    entry = reminders.render(made)
    put(layout, f"{entry}\n{entry.replace('one', 'two')}")
    with pytest.raises(ContextError, match=r"2 entries of .* share this id: edit one"):
        finish(layout, made.id)


# Beside the inbox


def test_the_rule_for_merging_is_written_once_and_other_rules_stay(layout: Layout) -> None:
    attributes = Path(inbox(layout)).with_name(".gitattributes")
    attributes.parent.mkdir(parents=True)
    rules = "remember-later.md text\nx-remember-later.md merge=union"
    attributes.write_text(rules, encoding="utf-8")
    add(layout, "one")
    add(layout, "two")
    text = attributes.read_text(encoding="utf-8")
    assert text == f"{rules}\nremember-later.md merge=union\n"


@pytest.mark.parametrize("rule", ["remember-later.md -merge", "remember-later.md text merge=ours"])
def test_a_choice_that_the_repository_made_about_merging_stays(rule: str, layout: Layout) -> None:
    attributes = Path(inbox(layout)).with_name(".gitattributes")
    attributes.parent.mkdir(parents=True)
    attributes.write_text(rule, encoding="utf-8")
    add(layout)
    assert attributes.read_text(encoding="utf-8") == rule


@pytest.mark.parametrize("place", ["notes/inbox.md", "my notes/later on.md", "notes/später.md"])
def test_an_inbox_at_a_place_of_ones_own_merges_too_and_another_file_is_left_alone(
    place: str, repo: Path
) -> None:
    Path("contextkit.yaml").write_text(f"reminders: {place}\n", encoding="utf-8")
    layout = Layout()
    add(layout)
    git("add", "-A")
    assert git("check-attr", "merge", "--", place).endswith(": merge: union\n")
    made = reminders.make("x", "", "", (), T0)
    reminders.save(layout, os.path.realpath("other/inbox.md"), made)
    assert os.listdir("other") == ["inbox.md"]


def test_an_inbox_that_cannot_be_read_is_named_and_left_alone(layout: Layout) -> None:
    path = Path(inbox(layout))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"caf\xe9\n")
    for attempt in (lambda: listed(layout), lambda: add(layout), lambda: finish(layout, "r-1")):
        with pytest.raises(ContextError, match=r"remember-later\.md: not UTF-8"):
            attempt()
    assert path.read_bytes() == b"caf\xe9\n"


# Merges: what two branches did, put together by git itself

Do = Callable[[Layout], object]


def note(text: str = "spike", at: int = 0, topic: str = "", step: str = "", tags: str = "") -> Do:
    return lambda layout: add(layout, text, topic, step, tuple(tags.split()), at)


def full(text: str = "spike", at: int = 0) -> Do:
    return note(text, at, "ux", "look", "a b")


def mark(text: str, at: int = 0, into: str = "") -> Do:
    """Mark the first reminder whose note begins with `text`."""

    def marked(layout: Layout) -> None:
        finish(layout, next(r.id for r in listed(layout) if r.note.startswith(text)), into, at)

    return marked


def mark_if_any(text: str, at: int) -> Do:
    def marked(layout: Layout) -> None:
        if any(r.note.startswith(text) for r in listed(layout)):
            mark(text, at, "x")(layout)

    return marked


def by_hand(text: str) -> Do:
    return lambda layout: put(layout, said(layout) + text)


def lines(*words: str) -> str:
    return "\n".join(words)


SAME = lines(*(f"line {number}" for number in range(9)))
HEADER = "# Inbox\n\nText.\n"

MERGES: dict[str, tuple[str, list[Do], list[Do], list[Do]]] = {
    # name: (inbox at first, done on both, on one branch, on the other)
    "one note each": (HEADER, [], [note("a")], [note("b", 60)]),
    "no inbox before": ("", [], [note("a")], [note("b", 60)]),
    "all the same but the note": (HEADER, [], [full("a")], [full("b")]),
    "the very same reminder": (HEADER, [], [full("a")], [full("a")]),
    "many of the same": (HEADER, [], [full("a", n) for n in range(5)],
                         [full("a", n) for n in range(5, 9)]),
    "long notes with one middle": (HEADER, [], [full(lines("x", SAME, "x"))],
                                   [full(lines("y", SAME, "z", SAME))]),
    "texts that look like entries": (HEADER, [], [note(lines(*FORGED, "a"))],
                                     [note(lines("b", *FORGED))]),
    "CRLF": (LEGACY.replace("\n", "\r\n"), [], [note("a"), mark("Outline")], [full("b")]),
    "old last entry marked | note": (LEGACY, [], [mark("Ask")], [note("b")]),
    "old last entry marked | twice": (LEGACY, [], [mark("Ask")], [mark("Ask", 9, "x")]),
    "old last entry marked | note, marked": (LEGACY, [], [mark("Ask")], [full("b"), mark("b", 2)]),
    "old last entry marked | one of the original tool": (
        LEGACY, [], [mark("Ask")], [by_hand("\n## 2025-10-23 18:06:00 UTC\n- **Note:** new\n")]),
    "last entry marked on both, notes": (HEADER, [note("a")], [mark("a"), full("b", 2)],
                                         [mark("a", 9, "x"), full("c", 3)]),
    "marked | marked and note": (HEADER, [full("a"), full("b")], [mark("b")],
                                 [mark("a"), note("c")]),
    "alike and marked alike": (HEADER, [], [full("a"), mark("a", 9, "x")],
                               [full("a", 1), mark("a", 9, "x")]),
    "a person's line | note": (HEADER, [note("a")], [by_hand("\nA thought.\n")], [note("b")]),
}  # fmt: skip


class Branches:
    """The contents of the inbox's folder on each branch, committed in one go."""

    def __init__(self, layout: Layout, inbox_at_first: str, first: list[Do]) -> None:
        self._layout = layout
        self._folder = Path(inbox(layout)).parent
        self._clear()
        put(layout, inbox_at_first)
        if inbox_at_first:
            reminders.keep_mergeable(layout, inbox(layout))
        self._run(first)
        self._base = self._files()
        self._stream = self._commit("base", 1)
        self.texts: list[str] = []
        self.found: list[tuple[Reminder, ...]] = []

    def branch(self, name: str, actions: list[Do]) -> None:
        self._clear()
        for path, data in self._base.items():
            (self._folder / path).write_bytes(data)
        self._run(actions)
        self._stream += self._commit(name, 0)
        self.texts.append(said(self._layout))
        self.found.append(listed(self._layout))

    def commit(self) -> None:
        subprocess.run(["git", "fast-import", "--quiet", "--force"], input=self._stream, check=True)

    def _clear(self) -> None:
        for path in self._folder.glob("*"):
            path.unlink()

    def _run(self, actions: list[Do]) -> None:
        for action in actions:
            action(self._layout)

    def _files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self._folder.glob("*")}

    def _commit(self, name: str, number: int) -> bytes:
        head = f"commit refs/heads/{name}\n" + (f"mark :{number}\n" if number else "")
        who = "committer Ada <ada@example.org> 0 +0000\ndata 0\n"
        stream = (head + who + ("" if number else "from :1\n")).encode()
        where = os.path.relpath(self._folder)
        for path, data in self._files().items():
            stream += f"M 100644 inline {where}/{path}\ndata {len(data)}\n".encode() + data + b"\n"
        return stream

    def check_merge(self, one: str, *others: str, style: str = "merge") -> None:
        """Merge `others` into `one`: nothing conflicts, nothing is lost, nothing is mixed up."""
        self._clear()
        git("checkout", "-q", "-f", "-B", "merged", one)
        for other in others:
            git("-c", f"merge.conflictStyle={style}", "merge", "-q", "-m", "merge", other)
        text, got = said(self._layout), listed(self._layout)
        ours = {reminder.id: reminder for found in self.found for reminder in found}
        assert Counter(r.id for r in got) == Counter(ours.keys())
        for reminder in got:
            assert reminder.replace(done="") == ours[reminder.id].replace(done="")
            marks = {r.done for found in self.found for r in found if r.id == reminder.id} - {""}
            assert set(reminder.done.split("\n")) == (marks or {""})
        for side in self.texts:
            assert not set(side.split("\n")) - set(text.split("\n"))
        for reminder in got:
            assert finish(self._layout, reminder.id, at=99) == [reminder.id] * (not reminder.done)
        assert [r.replace(done="") for r in listed(self._layout)] == [
            r.replace(done="") for r in got
        ]
        assert all(reminder.done for reminder in listed(self._layout))


@each("name", MERGES)
def test_two_branches_merge_without_a_conflict_or_a_loss(name: str, layout: Layout) -> None:
    at_first, first, one, other = MERGES[name]
    branches = Branches(layout, at_first, first)
    branches.branch("one", one)
    branches.branch("other", other)
    branches.commit()
    branches.check_merge("one", "other")
    branches.check_merge("other", "one")


some_lines = st.lists(st.sampled_from(["same", "x", "", "y", FORGED[0], FORGED[5]]), max_size=9)
an_action = st.one_of(
    st.builds(
        note,
        some_lines.map(lambda words: lines("n", *words)),
        st.integers(0, 3),
        st.sampled_from(["", "ux"]),
        st.sampled_from(["", "look"]),
        st.sampled_from(["", "a b"]),
    ),
    st.builds(mark_if_any, st.sampled_from(["", "n", "Ask"]), st.integers(0, 2)),
)


@given(
    at_first=st.sampled_from(["", HEADER, LEGACY, LEGACY[:-1], LEGACY.replace("\n", "\r\n")]),
    first=st.lists(an_action, max_size=2),
    sides=st.lists(st.lists(an_action, min_size=1, max_size=4), min_size=2, max_size=3),
    style=st.sampled_from(STYLES),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_branches_did_merges(
    at_first: str, first: list[Do], sides: list[list[Do]], style: str, layout: Layout
) -> None:
    branches = Branches(layout, at_first, first)
    names = [f"side{number}" for number in range(len(sides))]
    for name, actions in zip(names, sides, strict=True):
        branches.branch(name, actions)
    branches.commit()
    branches.check_merge(*names, style=style)
