"""Checks, seals, staleness and pruning of capsules, in a real repository."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import planted
import pytest
from conftest import each, git
from contextkit.base import names
from contextkit.base.layout import Layout
from contextkit.capsules.documents import reminders
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.documents.store import Seal
from contextkit.capsules.flows import given as given_capsules
from contextkit.capsules.flows import upkeep
from hypothesis import given
from hypothesis import strategies as st
from test_capsules import finished

STORE = Path("parallelus/manuals/capsules/feature/demo")
TIME = 1761242700  # of the capsule; commits and notebook entries are made around it


def a_capsule(knows: str = "nothing", stamp: str = "20251023T180500Z", extra: str = "") -> Path:
    """A finished capsule on disk that says `knows` under Knowledge Base."""
    path = STORE / f"{stamp}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = finished().replace("Files and documents: done", f"Files and documents: {knows}")
    at = f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}T{stamp[9:11]}:{stamp[11:13]}:{stamp[13:15]}Z"
    text = re.sub(r'created_at: "?[^\n"]+"?', f'created_at: "{at}"', text)
    path.write_text(text.replace("\n---\n", f"\n{extra}---\n", 1), encoding="utf-8")
    return path


def said(layout: Layout, path: Path) -> list[tuple[str, str]]:
    return [(f.severity, f.what) for f in upkeep.check(layout, layout.join(str(path)))]


def commit(name: str, text: str = "x", when: str = "2025-10-23T19:00:00Z") -> str:
    """Write a file and commit it at a time."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    git("add", "-A", "-f", name)
    os.environ["GIT_COMMITTER_DATE"] = when
    git("commit", "-q", "-m", f"change {name}")
    return git("rev-parse", "HEAD").strip()


def stale(layout: Layout, path: Path, *ignored: str) -> list[str]:
    return given_capsules.staleness(layout, layout.join(str(path)), ignored)


# References


def test_what_is_there_is_no_finding(layout: Layout) -> None:
    sha = commit("src/app.py", "x = 1\n", "2025-10-23T17:00:00Z")
    commit("docs/branches/feature-demo/PLAN.md", "## 2025-10-20 10:00:00 UTC\n\n## Next Actions\n",
           "2025-10-23T17:00:00Z")  # fmt: skip
    plan = "docs/branches/feature-demo/PLAN.md"
    knows = (
        f"`src/app.py:1`, app.py, src/, commit {sha[:9]}, {plan}#next-actions, "
        f"{plan} 2025-10-20 10:00, {plan} (2025-10-20T10:00:00Z), https://example.org/a?b=c, "
        "feature/some-branch/x, lib/later.py (new), `lib/old.py` (gone), /etc/hosts, src/*.py, "
        "a defaced page, https://localhost:8080/x, 12 ms"
    )
    assert said(layout, a_capsule(knows)) == []


def test_a_file_that_is_not_tracked_is_there_whatever_its_name_begins_with(layout: Layout) -> None:
    for name in ("+page.ts", "-x.md", "_a.md", "%a.md", ".github/ci.yml"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()
        assert [mention.path for mention in upkeep.mentions(layout, f"`{name}`")] == [name]


def test_lines_of_a_file_are_there_up_to_its_last(layout: Layout) -> None:
    commit("a.md", "one\ntwo\nthree\n", "2025-10-23T17:00:00Z")
    commit("a.py", "one\ntwo\nthree\n", "2025-10-23T17:00:00Z")
    knows = (
        "a.md#L1, a.md#L3, a.md#L2-L3, a.py:3, a.py:1-3, a.py#L2, but a.md#L2-L9, a.py:4 and a.py:9"
    )
    assert said(layout, a_capsule(knows)) == [
        ("error", "a.py has 3 lines, not 4"),
        ("error", "a.py has 3 lines, not 9"),
        ("error", "a.md has no entry 'L2-L9'"),
    ]


def test_a_hash_alone_in_parentheses_is_a_commit_as_in_the_design(layout: Layout) -> None:
    head = git("rev-parse", "--short", "HEAD").strip()
    knows = f"It is cached ({head}), a page was (defaced), and it was reverted (0a1b2c3)."
    assert said(layout, a_capsule(knows)) == [("error", "there is no commit 0a1b2c3 here")]


def test_only_of_a_path_may_be_said_that_it_is_new_or_gone(layout: Layout) -> None:
    path = a_capsule("see src/none.py, which was reverted (0a1b2c3)")
    assert [found.mend for found in upkeep.check(layout, layout.join(str(path)))] == [
        "correct it, or add (new) or (gone) after it",
        "correct it",
    ]


def test_a_hash_is_a_commit_if_git_knows_it_or_one_of_the_two_words_before_it_says_so(
    layout: Layout,
) -> None:
    sha = commit("a.py", when="2025-10-23T17:00:00Z")[:9]
    body = (
        f"{sha}\ncommit deadbee1\nreverted by deadbee2\ncommit and not deadbee3\n"
        "version v2.0.1 of it\nhttps://example.org?q=1:2\n"
    )
    found = upkeep.mentions(layout, body)
    assert [(mention.line, mention.text, mention.problem) for mention in found] == [
        (1, sha, ""),
        (2, "deadbee1", "there is no commit deadbee1 here"),
        (3, "deadbee2", "there is no commit deadbee2 here"),
        (6, "https://example.org?q=1:2", ""),
    ]
    whole = git("rev-parse", "HEAD").strip()
    found = upkeep.mentions(layout, f"commit {whole}\ncommit {'ab12' * 16}\n")
    assert [mention.text for mention in found] == [whole]  # 64 digits are a digest


def test_git_is_asked_about_a_hundred_commits_at_most(layout: Layout) -> None:
    body = "\n".join(f"commit deadbe{number:03}" for number in range(102))
    assert [mention.line for mention in upkeep.mentions(layout, body)] == list(range(1, 101))


def test_what_stands_in_backticks_is_one_path_even_with_blanks(layout: Layout) -> None:
    place = "docs/mit leer ü/notiz.md"
    commit(place, "# One\n", "2025-10-23T17:00:00Z")
    found = upkeep.mentions(layout, f"`{place}:1`")
    assert [(mention.text, mention.path) for mention in found] == [(f"{place}:1", place)]
    assert said(layout, a_capsule(f"see `{place}:1`, `{place}` and `{place}#one`")) == []
    assert said(layout, a_capsule(f"`{place}:2` and `docs/mit leer ü/weg.md:3`")) == [
        ("error", "notiz.md has 1 lines, not 2"),
        ("error", "there is no docs/mit leer ü/weg.md here"),
    ]
    assert said(layout, a_capsule("`docs/mit leer ü/weg.md:3` (gone)")) == []
    assert said(layout, a_capsule("`cat docs/gone.md`")) == [
        ("error", "there is no docs/gone.md here")
    ]


def test_a_mention_of_an_entry_is_quoted_as_it_was_written(layout: Layout) -> None:
    commit("a.md", "# Title\n## 2025-10-20 10:00\n", "2025-10-23T17:00:00Z")
    found = upkeep.mentions(layout, "a.md#title\na.md 2025-10-20 10:00\n")
    entries = [mention.text for mention in found if mention.kind == "entry"]
    assert entries == ["a.md#title", "a.md 2025-10-20 10:00"]


def test_what_only_looks_like_a_file_or_an_entry_is_no_mention(layout: Layout) -> None:
    commit("a.py", "x\n", "2025-10-23T17:00:00Z")
    assert upkeep.mentions(layout, "feature/my-x/.wip and feature/my-x/y") == []
    found = upkeep.mentions(layout, "https://example.org/a.md#intro, a.py#main")
    assert "entry" not in [mention.kind for mention in found]


def test_of_two_entries_in_a_line_the_second_is_looked_up_too(layout: Layout) -> None:
    commit("a.md", "# Later\n", "2025-10-23T17:00:00Z")
    found = upkeep.mentions(layout, "b/gone.md 2025-10-20 10:00, a.md#Later and a.md#nope")
    entries = [(mention.text, mention.problem) for mention in found if mention.kind == "entry"]
    assert entries == [("a.md#Later", ""), ("a.md#nope", "a.md has no entry 'nope'")]


@pytest.mark.parametrize(
    ("knows", "what"),
    [
        ("src/gone.py", "there is no src/gone.py here"),
        ("b/x.md", "there is no b/x.md here"),
        ("`gone.py`", "there is no gone.py here"),
        ("docs/b-c/d", "there is no docs/b-c/d here"),
        ("a/../../a.md", "there is no a/../../a.md here"),
        ("https://.example.org/x", "the URL https://.example.org/x has no host"),
        ("a.md 2025-10-20T10:00", "a.md has no entry '2025-10-20 10:00'"),
        ("odd.md#title", "odd.md has no entry 'title'"),
        ("`lib/x/gone.py:12`", "there is no lib/x/gone.py here"),
        ("commit deadbee1", "there is no commit deadbee1 here"),
        ("https:///nothing", "the URL https:///nothing has no host"),
        ("a.md#no-such", "a.md has no entry 'no-such'"),
        ("a.md#zzz", "a.md has no entry 'zzz'"),
        ("a.md#1", "a.md has no entry '1'"),
        ("a.md#Lines", "a.md has no entry 'Lines'"),
        ("https://example./x", "the URL https://example./x has no host"),
        ("a.md 2025-10-20 10:00", "a.md has no entry '2025-10-20 10:00'"),
        ("b/gone.md#anchor", "there is no b/gone.md here"),
    ],
)
def test_what_does_not_exist_is_an_error_in_its_line(layout: Layout, knows: str, what: str) -> None:
    commit("a.md", "# Title\n", "2025-10-23T17:00:00Z")
    Path("../a.md").write_text("outside", encoding="utf-8")
    Path("odd.md").write_bytes(b"# \xff\n# Title\n")
    Path("docs").mkdir()
    path = a_capsule(f"first\n- then {knows}")
    (found,) = upkeep.check(layout, layout.join(str(path)))
    assert (found.severity, found.what) == ("error", what)
    assert knows in path.read_text(encoding="utf-8").split("\n")[found.line - 1]


def test_the_checklist_may_name_notebooks_that_are_not_there(layout: Layout) -> None:
    assert "PLAN.md" in finished() and said(layout, a_capsule()) == []
    checklist = "# Consistency Checklist\n- [ ] src/gone.py is read\n- [ ] docs/gone.md is too"
    assert upkeep.mentions(layout, checklist) == []
    (found,) = upkeep.mentions(layout, f"{checklist}\n# Pending Actions\n- [ ] docs/gone.md#x")
    assert found.line == 5


@given(st.text(alphabet="ab/.#:~@-_ `()[]\n0123456789md", max_size=80))
def test_whatever_a_body_says_looking_for_references_ends(text: str) -> None:
    layout = Layout()
    for mention in upkeep.mentions(layout, text):
        assert 1 <= mention.line <= text.count("\n") + 1


# The other findings


def test_every_rule_has_its_finding_with_a_severity(layout: Layout) -> None:
    token = planted.secrets()["github-classic"][".env"]
    path = a_capsule(token)
    text = path.read_text(encoding="utf-8")
    highlights = "# Transcript Highlights\n" + "- one\n" * 6
    text = text.replace("# Transcript Highlights\n", highlights).replace("# Pending", "# No")
    text = text.partition("# Consistency Checklist")[0]
    text = text.replace("- **Preference:**", "- a topic alone\n- **Preference:**")
    path.write_text(text.replace("done → scope", "<workstream> → scope"), encoding="utf-8")
    reminders.save(layout, layout.reminders, reminders.make("try it", "ux", "", (), TIME))
    (reminder,) = reminders.load_all(layout).documents
    assert sorted(said(layout, path)) == [
        ("error", "looks like a secret (github-token)"),
        ("error", "the placeholder <workstream> is still there"),
        ("error", "the section `# Pending Actions` is missing"),
        ("warning", "7 transcript highlights, more than 5"),
        ("warning", "an exploratory thread has no next discovery step"),
        ("warning", f"the reminder {reminder.id} (ux) is not in it"),
        ("warning", "the section `# Consistency Checklist` is missing"),
    ]
    lines = path.read_text(encoding="utf-8").split("\n")
    placed = {f.what.split()[-1]: lines[f.line - 1] for f in upkeep.check(layout, str(path))}
    assert placed["5"] == "# Transcript Highlights" and placed["step"] == "- a topic alone"


def test_a_reminder_taken_in_is_to_be_marked_and_then_is_quiet(layout: Layout) -> None:
    made = reminders.save(layout, layout.reminders, reminders.make("try", "", "", (), TIME))
    path = a_capsule(made.id)
    assert said(layout, path) == [("warning", f"the reminder {made.id} (try) is still open")]
    reminders.finish(layout, layout.reminders, [made.id], str(path), TIME)
    assert said(layout, path) == []


def test_of_many_open_reminders_the_newest_are_named_and_the_rest_counted(
    layout: Layout,
) -> None:
    for number in range(12):
        made = reminders.make(f"n{number}", "", "", (), TIME + number)
        reminders.save(layout, layout.reminders, made)
    found = [what for _, what in said(layout, a_capsule())]
    assert len(found) == 11 and "(n11)" in found[0] and "(n2)" in found[9]
    assert found[10] == "2 older reminders are open too"


def test_size_warns_above_the_budget_and_above_the_ceiling(layout: Layout) -> None:
    path = a_capsule("word " * 12_000)
    text = path.read_text(encoding="utf-8")
    for budget, expected in ((3000, ["error", "warning"]), (90_000, ["warning"])):
        path.write_text(text.replace("1200", str(budget)), encoding="utf-8")
        assert [severity for severity, _ in said(layout, path)] == expected


def test_without_front_matter_that_is_all_but_a_secret_is_still_said(layout: Layout) -> None:
    path = a_capsule()
    token = planted.secrets()["jwt"]["prose"]
    path.write_text(f"# Mission Snapshot\n{token}\n", encoding="utf-8")
    assert said(layout, path) == [
        ("error", "no front matter: the first line must be `---`"),
        ("error", "looks like a secret (jwt)"),
    ]


# Seals

paths = st.text(min_size=1, max_size=20).filter(lambda text: text.strip() == text)


@given(st.dictionaries(paths, st.text("0123456789abcdef", min_size=16, max_size=16), max_size=4))
def test_a_seal_reads_back_and_taking_it_off_leaves_the_file_byte_for_byte(
    digests: dict[str, str],
) -> None:
    plain, mini = finished(), finished(mini=True)
    for text in (plain, plain.replace("\n", "\r\n"), mini):
        seal = Seal(head="1" * 40, digests=digests)
        once = capsules.sealed(text, seal)
        assert capsules.seal_of(once) == seal
        assert capsules.sealed(once, seal) == once
        assert capsules.unsealed(once) == text
        body = text.replace("\r\n", "\n")
        assert capsules.parse(once.replace("\r\n", "\n")) == capsules.parse(body)
    assert capsules.seal_of(plain) is None


@each("head", ["[a, b]", "{a: b}", "not hexadecimal", ""])
def test_a_seal_that_somebody_edited_names_no_commit(head: str) -> None:
    pytest.importorskip("yaml")
    text = f"---\nbranch: x\nhead: {head}\nreferences:\n  - a.py 12\n---\nbody\n"
    assert capsules.seal_of(text) == Seal(head="", digests={"a.py": "12"})


def test_sealing_names_commit_and_files_and_twice_is_once(layout: Layout) -> None:
    commit("src/app.py", "x = 1\n", "2025-10-23T17:00:00Z")
    head = commit("README.md", "hi\n", "2025-10-23T17:30:00Z")
    path = a_capsule("src/app.py, README.md, src/app.py:1")
    before = path.read_bytes()
    assert upkeep.seal(layout, layout.join(str(path)))
    once = path.read_bytes()
    sealed = capsules.seal_of(once.decode("utf-8"))
    assert sealed and sealed.head == head
    assert list(sealed.digests) == ["src/app.py", "README.md"]
    assert capsules.unsealed(once.decode("utf-8")).encode() == before
    assert not upkeep.seal(layout, layout.join(str(path)))
    commit(str(path), once.decode("utf-8"))  # what the capsule itself adds changes no seal
    assert not upkeep.seal(layout, layout.join(str(path)))
    assert path.read_bytes() == once and said(layout, path) == []


def test_a_seal_that_somebody_wrote_gives_git_no_option(layout: Layout) -> None:
    for head in ("--output=stolen", "-x", "f" * 40):
        path = a_capsule(extra=f"head: {head}\n")
        stale(layout, path)
        upkeep.seal(layout, layout.join(str(path)))
        sealed = capsules.seal_of(path.read_text(encoding="utf-8"))
        assert sealed and sealed.head == git("rev-parse", "HEAD").strip()
    assert not list(Path().glob("stolen*"))


def test_a_sealed_file_is_fresh_changed_or_missing(layout: Layout) -> None:
    for name in ("a.md", "b.md", "c.md"):
        commit(name, name, "2025-10-23T17:00:00Z")
    path = a_capsule("a.md, b.md, c.md")
    upkeep.seal(layout, layout.join(str(path)))
    Path("b.md").write_text("other", encoding="utf-8")
    Path("c.md").unlink()
    marks = given_capsules.marks(layout, path.read_text(encoding="utf-8"))
    assert marks == [("a.md", "fresh"), ("b.md", "changed"), ("c.md", "missing")]
    assert stale(layout, path) == [
        "Changed since it was sealed: b.md (changed), c.md (missing)",
    ]


# Staleness


def test_a_capsule_is_fresh_until_something_else_is_committed(layout: Layout) -> None:
    commit("a.py", when="2025-10-23T18:05:00Z")  # the second in which it was written
    path = a_capsule()
    assert stale(layout, path) == []
    commit(str(path), path.read_text(encoding="utf-8"))
    commit("parallelus/manuals/subagent-registry.json", "[]")
    commit("parallelus/manuals/capsules/remember-later.md", "# x")
    assert stale(layout, path) == []
    commit("scope.md")
    git("commit", "-q", "--allow-empty", "-m", "nothing")
    assert stale(layout, path, "scope.md") == []
    short = git("rev-parse", "--short", "HEAD^").strip()
    assert stale(layout, path) == [f"1 commit with changes: {short} change scope.md, in scope.md"]
    for name in ("b.py", "c.py"):
        commit(name)
    three = git("log", "-3", "--format=%h", "--", "*.py", "scope.md").split()
    (said,) = stale(layout, path)
    assert said.startswith("3 commits with changes: ") and all(one in said for one in three)
    assert said.endswith(", in c.py, b.py, scope.md")
    commit("d.py")
    newest = git("log", "-3", "--format=%h").split()
    (said,) = stale(layout, path)
    assert all(one in said for one in newest) and "and 1 more" in said


def test_of_more_commits_than_are_read_it_says_so(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(given_capsules, "_MOST_COMMITS", 2)
    path = a_capsule()
    for name in ("a.py", "b.py", "c.py"):
        commit(name)
    assert stale(layout, path)[0].startswith("2 or more commits with changes: ")


def test_a_capsule_is_measured_by_its_own_branch_as_long_as_that_is_there(layout: Layout) -> None:
    path = a_capsule()
    git("checkout", "-q", "-b", "elsewhere")
    commit("a.py")
    assert stale(layout, path) == []
    git("branch", "-q", "-D", "feature/demo")
    assert len(stale(layout, path)) == 1


def test_a_commit_in_the_second_of_the_capsule_does_not_make_it_stale(layout: Layout) -> None:
    for second in ("04", "05"):
        commit(f"a{second}.py", when=f"2025-10-23T18:05:{second}Z")
        path = a_capsule(stamp=f"20251023T1805{second}Z")
        assert stale(layout, path) == []
        path.unlink()
    commit("later.py", when="2025-10-23T18:05:06Z")
    assert len(stale(layout, a_capsule(stamp="20251023T180505Z"))) == 1


def test_a_sealed_capsule_is_measured_from_its_commit(layout: Layout) -> None:
    path = a_capsule()
    commit("a.py")
    assert len(stale(layout, path)) == 1
    upkeep.seal(layout, layout.join(str(path)))  # looked at again, as things are now
    assert stale(layout, path) == []
    commit("b.py", when="2025-10-23T17:00:00Z")  # whatever the clock of the other machine said
    assert len(stale(layout, path)) == 1
    text = path.read_text(encoding="utf-8")
    head = capsules.seal_of(text)
    assert head is not None
    path.write_text(text.replace(head.head, "1" * 40), encoding="utf-8")
    assert stale(layout, path) == [
        "The commit it was sealed at, 111111111111, is gone: history was rewritten",
    ]


def test_a_newer_notebook_entry_makes_it_stale(layout: Layout) -> None:
    path = a_capsule()
    notebook = Path("docs/branches/feature-demo/PROGRESS.md")
    notebook.parent.mkdir(parents=True)
    for time, expected in (("18:05:00", []), ("18:05:01", ["2025-10-23 18:05:01"])):
        notebook.write_text(f"## 2025-10-23 {time} UTC\n- did\n", encoding="utf-8")
        assert stale(layout, path) == [f"{notebook}, {t}: did" for t in expected]
    entries = "".join(f"## 2025-10-23 19:0{n}:00 UTC\n- did\n\n" for n in (2, 1))
    notebook.write_text(entries, encoding="utf-8")
    assert stale(layout, path) == [f"{notebook}, 2025-10-23 19:0{n}:00: did" for n in (2, 1)]


def test_outside_git_only_notebooks_and_seals_tell(
    sealed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stale(Layout(), a_capsule()) == []
    assert upkeep.mentions(Layout(), "commit deadbee1") == []


# Pruning


def pruned(layout: Layout, days: int = 60, **wish: Any) -> list[tuple[str, str]]:
    going = upkeep.prune(layout, TIME + days * 86_400, **wish)
    assert not any(Path(path).exists() for path in going)
    return [(Path(path).stem, why) for path, why in going.items()]


OLD, MIDDLE, NEW = "20250901T100000Z", "20251001T100000Z", "20251022T100000Z"


def test_superseded_capsules_go_when_they_are_old_and_the_newest_stays(layout: Layout) -> None:
    for stamp in (OLD, MIDDLE, NEW):
        a_capsule(stamp=stamp)
    assert pruned(layout, days=0) == [(OLD, "superseded")]
    assert pruned(layout) == [(MIDDLE, "superseded")]
    assert pruned(layout) == [] and (STORE / f"{NEW}.md").exists()


def test_keep_and_age_can_be_said_and_each_workstream_has_its_newest(layout: Layout) -> None:
    for stamp, stream in ((OLD, "ui"), (MIDDLE, ""), (NEW, "")):
        a_capsule(stamp=stamp, extra=f"workstream: {stream}\n" if stream else "")
    assert pruned(layout, keep=2) == []
    assert pruned(layout, older_than="300d") == []
    assert pruned(layout, keep=1) == [(MIDDLE, "superseded")]


def test_a_stub_or_a_broken_file_is_never_removed(layout: Layout) -> None:
    for stamp in (OLD, MIDDLE):
        a_capsule(stamp=stamp)
    (STORE / f"{OLD}.md").write_text("broken", encoding="utf-8")
    (STORE / "20250801T100000Z.md").write_text("---\n<decision>\n", encoding="utf-8")
    assert pruned(layout, keep=1) == []


def test_a_dry_run_removes_nothing(layout: Layout) -> None:
    for stamp in (OLD, MIDDLE):
        a_capsule(stamp=stamp)
    going = upkeep.prune(layout, TIME, keep=1, dry_run=True)
    assert len(going) == 1 and all(Path(path).exists() for path in going)


def merge_state(how: str) -> None:
    """Bring `feature/demo` with its capsules to main, in the way named."""
    git("add", "-A")
    git("commit", "-q", "-m", "capsule")
    git("branch", "main", "HEAD~1")
    if how == "checked out":
        return
    git("checkout", "-q", "main")
    git("commit", "-q", "--allow-empty", "-m", "main goes on")
    if how in ("merged", "merged and deleted"):
        git("merge", "-q", "--no-ff", "-m", "merge", "feature/demo")
    elif how.startswith("squashed"):
        git("merge", "-q", "--squash", "feature/demo")
        git("commit", "-q", "-m", "squash")
    elif how == "forwarded":
        git("reset", "-q", "--hard", "feature/demo")
    elif how == "open, elsewhere too":
        git("update-ref", "refs/remotes/origin/feature/demo", "feature/demo")
        git("checkout", "-q", "feature/demo", "--", ".")
        git("commit", "-q", "-m", "copied")
    if how.endswith("deleted") or how.startswith("open, elsewhere"):
        git("branch", "-q", "-D", "feature/demo")


@pytest.mark.parametrize(
    ("how", "goes"),
    [
        ("checked out", False),
        ("merged", True),
        ("merged and deleted", True),
        ("squashed", False),  # the branch is there and says nothing of it
        ("squashed and deleted", True),  # its capsules arrived, and it is gone
        ("forwarded", False),  # cannot be told from a branch that was just made
        ("open, elsewhere too", False),
    ],
)
def test_merged_is_what_git_is_certain_of(layout: Layout, how: str, goes: bool) -> None:
    a_capsule(stamp=NEW)
    merge_state(how)
    there = (STORE / f"{NEW}.md").exists()
    expected = [(NEW, "feature/demo is merged")] if goes else []
    assert pruned(Layout(), merged=True) == expected and (there or not goes)


# The newest


def test_latest_is_the_newest_finished_one_of_branch_and_workstream(layout: Layout) -> None:
    assert capsules.latest(layout, "feature/demo") == ""
    a_capsule(stamp=OLD)
    a_capsule(stamp=MIDDLE, extra="workstream: ui\n")
    (STORE / f"{NEW}.md").write_text("---\n<decision>\n", encoding="utf-8")
    found = capsules.latest(layout, "feature/demo")
    assert layout.shown(found) == f"{STORE}/{MIDDLE}.md"
    assert [Path(path).stem for path, _ in capsules.load_all(layout)] == [OLD, MIDDLE]
    assert found == capsules.latest(layout, "feature/demo", "ui")
    assert capsules.load(layout, found).sha256 == names.sha256(Path(found).read_bytes())
    assert capsules.latest(layout, "feature/demo", "db") == ""


def test_what_is_no_capsule_is_never_the_latest(layout: Layout, tmp_path: Path) -> None:
    path = a_capsule(stamp=OLD)
    outside = tmp_path / "outside.md"
    outside.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    (STORE / f"{NEW}.md").symlink_to(outside)
    (STORE / "20251024T100000Z.md").write_bytes(b"\xff")
    (STORE / "20251025T100000Z.md").write_text("", encoding="utf-8")
    (STORE / "20251026T100000Z.md").mkdir()
    assert layout.shown(capsules.latest(layout, "feature/demo")) == str(path)
    assert [Path(readable) for readable, _ in capsules.load_all(layout)] == [path.absolute()]
