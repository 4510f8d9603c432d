"""documents/store.py: the pure half first, then where capsules lie on the disk."""

from __future__ import annotations

import functools
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import frontmatter
import pytest
import yaml
from conftest import each
from contextkit.base import tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.documents.store import SECTIONS, Capsule
from contextkit.capsules.flows import upkeep
from hypothesis import given
from hypothesis import strategies as st

TIME = "2025-10-23T18:05:00Z"
STAMP = "20251023T180500Z"
KEYS = "branch source_session created_at primary_objective token_budget version".split()
HEADINGS = [*SECTIONS, "Exploratory Threads & User Preferences", "Consistency Checklist"]

# Everything but what YAML has no form for, lines and control characters included.
any_text = st.text(st.characters(codec="utf-8", exclude_characters="\ufffe\uffff"), min_size=1)
names = any_text.filter(str.strip)


def a_blank(branch: str = "feature/demo", session: str = "S1", mini: bool = False) -> Capsule:
    """The front matter of a capsule at TIME; a test names only what it is about."""
    return capsules.blank(branch, session, 1761242700, 1200, mini=mini)


@functools.cache
def an_outline(branch: str = "feature/demo", session: str = "S1", mini: bool = False) -> str:
    return capsules.outline(a_blank(branch, session, mini), "PLAN.md", "PROGRESS.md")


@functools.cache
def finished(branch: str = "feature/demo", said: str = "done", mini: bool = False) -> str:
    """A capsule with every placeholder filled in."""
    return re.sub(r"<[^<>\n]+>", said, an_outline(branch, mini=mini))


def headings(text: str) -> list[str]:
    return [line[2:] for line in text.splitlines() if line.startswith("# ")]


@given(branch=names, session=names)
def test_front_matter_reads_back_whatever_branch_and_session_are_called(
    branch: str, session: str
) -> None:
    text = an_outline(branch, session)
    head = text.split("\n---\n")[0]
    expected = {
        "branch": branch,
        "source_session": session,
        "created_at": TIME,
        "primary_objective": "<the objective in one sentence>",
        "token_budget": 1200,
        "version": "0.1",
    }
    unsaid = {"mini": False, "workstream": "", "replaces": ""}
    assert vars(capsules.parse(text)[0]) == {**expected, **unsaid}
    assert yaml.safe_load(head) == expected
    assert frontmatter.loads(text).metadata == expected
    assert [line.partition(":")[0] for line in head.split("\n")] == ["---", *KEYS]
    assert text.split("\n")[7] == "---"


def test_the_outline_has_the_nine_sections_and_nothing_else_as_headings() -> None:
    assert headings(an_outline()) == HEADINGS
    assert len(SECTIONS) == 7


def test_the_miniature_outline_has_three_sections_and_says_so() -> None:
    text = an_outline(mini=True)
    assert headings(text) == ["Mission Snapshot", "Pending Actions", "Risks & Watchpoints"]
    assert capsules.parse(text)[0].mini
    assert frontmatter.loads(text)["mini"] is True
    assert tokens.estimate(text) < tokens.estimate(an_outline()) / 2


def test_what_stands_in_a_reminder_starts_no_section_of_the_outline() -> None:
    from contextkit.capsules.documents.reminders import Reminder

    nasty = "one\n# Mission Snapshot\n---\n```\n## two"
    reminder = Reminder(
        id="r-1", taken="t", note=nasty, topic=nasty, next_step=nasty, tags=(nasty,)
    )
    text = capsules.outline(a_blank(), "p", "q", (reminder,))
    assert headings(text) == HEADINGS
    assert text.count("r-1") == 1
    assert capsules.parse(text)[0] == a_blank()


def test_every_phrase_to_fill_in_is_a_placeholder() -> None:
    marks = capsules.placeholders()
    assert "<fill in the latest session marker>" in marks
    assert "<the objective in one sentence>" in marks
    assert set(re.findall(r"<[^<>\n]+>", an_outline(session=""))) == set(marks)


def test_parse_gives_the_body_and_passes_over_unknown_keys() -> None:
    text = finished().replace("version:", "written_by: ada\nversion:")
    capsule, body = capsules.parse(text)
    assert capsule.branch == "feature/demo"
    assert body == finished().partition("\n---\n")[2]


@each(
    ("old", "new", "complaint"),
    [
        ("---\nbranch", "branch", "first line must be `---`"),
        ("\n---\n", "\n", "no closing `---`"),
        ("branch: feature/demo\n", "", "branch is missing"),
        ("feature/demo", '""', "branch is blank"),
        ("feature/demo", "[a, b]", "branch must be str"),
        ("feature/demo", "[", "not valid YAML"),
        ("branch: feature/demo", "branch: a\nbranch: b", "twice"),
        ("source_session: S1", "source_session: ' '", "source_session is blank"),
        (TIME, "yesterday", "created_at must be like 2025-10-23T18:05:00Z"),
        (TIME, "2025-10-23T18:05:00+00:00", "created_at must be like"),
        ("1200", "many", "token_budget must be int"),
        ('version: "0.1"', 'version: "2.0"', "written by a newer contextkit"),
        ('version: "0.1"', "mini: perhaps", "mini must be bool"),
    ],
)
def test_parse_says_what_is_wrong(old: str, new: str, complaint: str) -> None:
    assert old in finished()
    with pytest.raises(ContextError, match=complaint):
        capsules.parse(finished().replace(old, new, 1))


@given(st.text(st.sampled_from("---:\n\"'#[]{}&*!|>%@ \tabranch01"), max_size=80) | st.text())
def test_parse_never_raises_anything_but_a_context_error(text: str) -> None:
    for candidate in (text, f"---\n{text}\n---\n", finished().replace("feature/demo", text)):
        try:
            capsules.parse(candidate)
        except ContextError as error:
            assert "front matter" in str(error)


def problems(text: str) -> list[str]:
    return upkeep.problems(Layout(), text)


@each("mini", [False, True])
def test_a_finished_capsule_has_no_problems(mini: bool) -> None:
    assert problems(finished(mini=mini)) == []


@each("section", SECTIONS)
def test_each_section_of_the_seed_is_needed(section: str) -> None:
    text = finished().replace(f"# {section}\n", "# Something else\n")
    assert problems(text) == [f"capsule: the section `# {section}` is missing"]


def test_the_sections_that_the_outline_adds_may_be_left_out(sealed: Path) -> None:
    for name in ("PLAN.md", "PROGRESS.md"):  # which the checklist names
        (sealed / name).touch()
    text = finished().replace(f"# {HEADINGS[7]}", "").replace(f"# {HEADINGS[8]}", "")
    assert problems(text) == []


def test_a_section_inside_a_code_fence_does_not_count() -> None:
    text = finished().replace("# Knowledge Base\n", "````text\n```\n# Knowledge Base\n````\n")
    assert problems(text) == ["capsule: the section `# Knowledge Base` is missing"]


@each(
    "quoted",
    ["````markdown\n```\n````", "~~~\n```\n~~~", "```py\n# a\n```", "```not a fence``` but code"],
)
def test_a_code_fence_hides_no_section_that_follows_it(quoted: str) -> None:
    text = finished().replace("# Mission Snapshot\n", f"# Mission Snapshot\n{quoted}\n")
    assert problems(text) == []


def test_a_placeholder_left_is_named_with_its_line() -> None:
    lines = an_outline().split("\n")
    number = lines.index("# Mission Snapshot") + 2
    mark = "<what the user wants, in at most two sentences>"
    assert mark in lines[number - 1]
    text = finished().replace("**User intent:** done", f"**User intent:** {mark}")
    assert problems(text) == [f"capsule:{number}: the placeholder {mark} is still there"]


def test_the_budget_is_held_with_fifteen_percent_of_grace() -> None:
    size = tokens.estimate(finished())
    within = finished().replace("1200", str(round(size / 1.1)))
    above = finished().replace("1200", str(round(size / 1.2)))
    assert problems(within) == []
    (problem,) = problems(above)
    assert f"more than its budget of {round(size / 1.2)}" in problem


@each(
    "wrap",
    [
        "{}",
        "\ufeff{}",
        "\n\n {}\n\n",
        "```\n{}```",
        "```markdown\n{}```\n",
        "\ufeff````md\r\n{}\r\n````\r\n",
        "~~~\n{}~~~",
    ],
)
def test_a_reply_is_taken_out_of_one_outer_fence(wrap: str) -> None:
    text = finished().replace("# Knowledge Base\n", "# Knowledge Base\n```py\nx = 1\n```\n")
    for body in (text, text.replace("\n", "\r\n")):
        assert capsules.unwrapped(wrap.format(body)) == text


@each("reply", ["", "\n", "```\n```", "\ufeff  \r\n"])
def test_a_reply_of_nothing_is_nothing(reply: str) -> None:
    assert not capsules.unwrapped(reply).strip()


@given(st.text())
def test_unwrapping_what_is_unwrapped_changes_nothing(text: str) -> None:
    once = capsules.unwrapped("---\n" + text)
    assert capsules.unwrapped(once) == once


def test_the_documented_template_holds_the_outline() -> None:
    text = capsules.template_document(800)
    assert headings(text)[1:] == HEADINGS
    assert "token_budget: 800" in text and "branch: " in text
    assert "docs/branches/<slug>/PROGRESS.md" in text


@each(
    ("own", "body"),
    [
        ("# Ours\n- <x>", "# Ours\n- <x>"),
        ("Read me.\n\n---\nbranch: <b>\nversion: 9\n---\n\n# Ours\n", "# Ours"),
        ("---\nbranch: <b>\n---\n# Ours\n\n---\n{{ x }}", "# Ours\n\n---\n{{ x }}"),
        ("# Ours\n---\na rule\n---\nmore", "# Ours\n---\na rule\n---\nmore"),
    ],
)
def test_a_stub_of_a_hosts_outline_has_our_front_matter(own: str, body: str) -> None:
    text = capsules.adapted(an_outline(), own)
    assert text == an_outline().partition("# ")[0] + body + "\n"
    assert capsules.parse(text) == (a_blank(), body + "\n")


# On the disk


@pytest.fixture
def layout(sealed: Path) -> Layout:
    """None of this needs git."""
    return Layout()


def stored(layout: Layout, branch: str) -> str:
    """Put a capsule where it belongs and return its folder."""
    path = Path(capsules.free_path(layout, branch, 1761242700))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(an_outline(branch), encoding="utf-8")
    return str(path.parent)


@each(
    ("branch", "folder"),
    [
        ("plain", "plain"),
        ("feature/demo", "feature/demo"),
        ("feature/a/b/c", "feature/a/b/c"),
        ("feature/a+b@x#1", "feature/a-b-x-1"),
        ("feature/über", "feature/-ber"),
        (" feature / a  b //", "feature/a-b"),
        ("..", "-."),
        ("../../etc", "-./-./etc"),
        ("a/./.hidden", "a/-/-hidden"),
        ("/", "unnamed-branch"),
    ],
)
def test_a_branch_has_its_parts_as_folders(layout: Layout, branch: str, folder: str) -> None:
    assert capsules.folder(layout, branch) == f"{layout.capsules}/{folder}"


def test_the_file_has_the_time_of_the_capsule(layout: Layout) -> None:
    assert capsules.path_at(layout, "a", TIME) == f"{layout.capsules}/a/{STAMP}.md"


pieces = st.sampled_from(
    ["a", "A", "b", "+", "-", "@", "/", "/", ".", "ü", " ", "'", '"', ": ", "remember-later.md",
     "Remember-Later.MD", f"{STAMP}.md"]
)  # fmt: skip
branch_names = st.lists(pieces, min_size=1, max_size=5).map("".join).filter(str.strip)


@given(st.lists(branch_names, min_size=2, max_size=6, unique=True))
def test_no_two_branches_share_a_folder_and_each_gets_its_own_back(found: list[str]) -> None:
    with TemporaryDirectory() as root:
        layout = Layout(root)
        homes = [stored(layout, branch) for branch in found]
        assert len({home.lower() for home in homes}) == len(homes)
        assert [capsules.folder(layout, branch) for branch in found] == homes
        inbox = layout.reminders.lower() + "/"
        for home in homes:
            assert home.startswith(layout.capsules + "/")
            assert not f"{home}/".lower().startswith(inbox)


@each(
    ("first", "second"),
    [("feature/x", "Feature/X"), ("a+b", "a-b"), ("a-b", "a@b"), ("ä", "ö"), ('"a"', "'a'")],
)
def test_the_second_of_two_alike_branches_gets_a_digest(
    layout: Layout, first: str, second: str
) -> None:
    stored(layout, first)
    home = stored(layout, second)
    assert re.fullmatch(r".*-[0-9a-f]{6}", home)
    assert capsules.folder(layout, second) == home


def test_a_branch_keeps_its_folder_when_the_other_one_is_gone(layout: Layout) -> None:
    first, second = stored(layout, "a-b"), stored(layout, "a+b")
    shutil.rmtree(first)
    assert capsules.folder(layout, "a+b") == second != first
    assert capsules.folder(layout, "a@b") == first


def test_a_digest_that_another_branch_is_called_by_is_passed_over(layout: Layout) -> None:
    stored(layout, "a+b")
    wanted = capsules.folder(layout, "a-b")
    assert stored(layout, Path(wanted).name) == wanted
    assert capsules.folder(layout, "a-b") not in (wanted, f"{layout.capsules}/a-b")


@pytest.mark.parametrize(
    "branch", ["remember-later.md", "Remember-Later.md", "remember-later.md/x"]
)
@pytest.mark.parametrize("there", [True, False])
def test_no_branch_is_in_the_way_of_the_inbox(layout: Layout, branch: str, there: bool) -> None:
    if there:
        Path(layout.reminders).parent.mkdir(parents=True)
        Path(layout.reminders).write_text("# Remember later\n", encoding="utf-8")
    home = stored(layout, branch)
    assert not f"{home}/".lower().startswith(layout.reminders.lower() + "/")
    assert capsules.folder(layout, branch) == home


def test_the_owner_is_read_from_a_capsule_whatever_lies_before_it(layout: Layout) -> None:
    home = Path(stored(layout, "a-b"))
    (home / "README.md").write_text("about\n", encoding="utf-8")
    (home / "20200101T000000Z.md").write_bytes(b"\xff")
    (home / "20210101T000000Z.md").mkdir()
    assert capsules.folder(layout, "a-b") == str(home)
    assert capsules.folder(layout, "a+b") != str(home)


@each("spelled", ["'a-b'", '"a-b"', '"a\\x2db"', "a-b"])
def test_the_owner_is_read_however_the_name_is_quoted(layout: Layout, spelled: str) -> None:
    home = Path(stored(layout, "a-b"))
    path = home / f"{STAMP}.md"
    path.write_text(
        path.read_text(encoding="utf-8").replace("branch: a-b", f"branch: {spelled}"),
        encoding="utf-8",
    )
    assert capsules.folder(layout, "a-b") == str(home)
    assert capsules.folder(layout, "a+b") != str(home)


def test_capsules_are_listed_by_time_and_within_a_second_by_number(tmp_path: Path) -> None:
    order = ["README.md", f"{STAMP}.md", f"{STAMP}-2.md", f"{STAMP}-10.md", "20251023T180501Z.md"]
    for name in [*reversed(order), ".draft.md", "notes.txt"]:
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "20991231T000000Z.md").mkdir()
    assert [Path(path).name for path in capsules.paths(str(tmp_path))] == order
    assert capsules.paths(str(tmp_path / "none")) == []


def test_a_taken_name_gets_a_number(layout: Layout) -> None:
    home = stored(layout, "a")
    assert capsules.free_path(layout, "a", 1761242700) == f"{home}/{STAMP}-2.md"
    Path(home, f"{STAMP}-2.md").symlink_to("nowhere")
    assert capsules.free_path(layout, "a", 1761242700) == f"{home}/{STAMP}-3.md"


@pytest.mark.parametrize("linked", ["parallelus", "parallelus/manuals/capsules/feature"])
def test_a_linked_store_outside_the_root_is_refused(layout: Layout, linked: str) -> None:
    outside = Path(layout.root).parent / "outside"
    outside.mkdir()
    Path(linked).parent.mkdir(parents=True, exist_ok=True)
    Path(linked).symlink_to(outside)
    with pytest.raises(ContextError, match="lies outside"):
        capsules.path_at(layout, "feature/demo", TIME)


def test_saving_fills_a_stub_and_the_same_text_again_changes_nothing(layout: Layout) -> None:
    path = Path(stored(layout, "feature/demo"), f"{STAMP}.md")
    assert capsules.save(layout, finished(), str(path)) == str(path)
    before = path.stat()
    assert capsules.save(layout, finished(), str(path)) == str(path)
    assert path.read_text(encoding="utf-8") == finished()
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_another_finished_capsule_is_left_and_the_new_one_numbered_once(layout: Layout) -> None:
    path = capsules.path_at(layout, "feature/demo", TIME)
    capsules.save(layout, finished(said="first"), path)
    for _ in range(2):
        assert capsules.save(layout, finished(said="second"), path).endswith(f"{STAMP}-2.md")
    assert capsules.save(layout, finished(said="third"), path).endswith(f"{STAMP}-3.md")
    assert len(capsules.paths(capsules.folder(layout, "feature/demo"))) == 3
    assert capsules.save(layout, finished(said="fourth"), path, replace=True) == path
    assert Path(path).read_text(encoding="utf-8") == finished(said="fourth")


def test_a_stub_of_the_same_second_is_filled_before_another_file_is_made(layout: Layout) -> None:
    home = stored(layout, "feature/demo")
    stored(layout, "feature/demo")
    path = f"{home}/{STAMP}.md"
    for said, name in (("first", ""), ("second", "-2"), ("third", "-3")):
        saved = capsules.save(layout, finished(said=said), path)
        assert saved == f"{home}/{STAMP}{name}.md"


def test_a_file_that_is_no_capsule_is_no_stub_whatever_it_says(layout: Layout) -> None:
    notes = Path(layout.root, "notes.md")
    notes.write_text("# Notes\nask <who> about <topic>\n", encoding="utf-8")
    saved = capsules.save(layout, finished(), str(notes))
    assert saved == str(notes.with_name("notes-2.md"))
    assert "<who>" in notes.read_text(encoding="utf-8")
