"""compaction.py: the same in less, and nothing that tells one entry from another is lost."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from conftest import each
from contextkit.text import compaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LOG = """\
commit 8c1f0e2b7a6d5c4b3a29181706f5e4d3c2b1a098 (HEAD -> main)
Author: Ada <ada@example.com>
Date:   Mon Nov 23 02:00:00 2026 +0000

    parser: read once

    It was read twice.

commit 1c1f0e2b7a6d5c4b3a29181706f5e4d3c2b1a098
Author: {author} <bob@example.com>
Date:   Sun Nov 22 02:00:00 2026 +0000

    first
"""
DIFF = """\
diff --git a/src/a b.py b/src/a b.py
index 1111111..2222222 100644
--- a/src/a b.py
+++ b/src/a b.py
@@ -10,7 +12,7 @@ def limit():
 one
 two
-    return 40
+    return 52
--- not a head
 three
diff --git a/old.py b/new.py
similarity index 90%
rename from old.py
rename to new.py
"""
STATUS = """\
On branch main
Your branch is ahead of 'origin/main' by 2 commits.
  (use "git push" to publish your local commits)

Changes not staged for commit:
  (use "git add <file>..." to update what will be committed)
	modified:   src/a.py
	deleted:    src/b.py

Untracked files:
  (use "git add <file>..." to include in what will be committed)
	notes.md

no changes added to commit (use "git add" and/or "git commit -a")
"""


def test_a_log_is_a_line_a_commit_and_what_all_share_is_said_once() -> None:
    told = compaction.compacted(LOG.format(author="Ada")).split("\n")
    assert told == [
        "2 commits, all Ada (left out: times of day, 1 line of messages):",
        "8c1f0e2b7 (HEAD -> main) Nov 23 2026 parser: read once",
        "1c1f0e2b7 Nov 22 2026 first",
    ]
    assert "Nov 22 2026 Bob first" in compaction.compacted(LOG.format(author="Bob"))


def test_what_each_commit_changed_stands_below_it() -> None:
    commit = "commit {0}c1f0e2b7\nAuthor: Ada <a@b>\nDate:   Mon Nov 23 10:00:00 2026 +0000\n"
    changed = (
        "\n    said {0}\n\n src/a.py | 3 ++-\n 1 file changed, 2 insertions(+), 1 deletion(-)\n"
    )
    log = "\n".join((commit + changed).format(n) for n in "123")
    told = compaction.compacted(log).split("\n")
    assert told[0] == "3 commits, all Ada, Nov 23 2026 (left out: times of day):"
    assert told[1:4] == [
        *("1c1f0e2b7 said 1", "  src/a.py +2 -1", "2c1f0e2b7 said 2"),
    ]
    assert len(told) == 7


def test_what_a_commit_changed_is_counted_where_its_files_are_left_out() -> None:
    log = (
        "commit 8c1f0e2b7d\nAuthor: Ada <a@b>\n\n    one\n\n"
        " a, b.py        | 300 ++++++---\n {old => new}/c |   4 +---\n long.txt       | 900 +++\n"
        " x.png          | Bin 0 -> 9 bytes\n mode.sh        |   0\n"
        " 5 files changed, 1150 insertions(+), 54 deletions(-)\n"
    )
    assert compaction.compacted(log).split("\n")[1] == (
        '  5 files +1150 -54: "a, b.py" 300 ++++++---, {old => new}/c +1 -3, long.txt +900,'
        " x.png Bin 0 -> 9 bytes, mode.sh 0"
    )
    assert compaction.compacted(log, lean=True).split("\n") == [
        "1 commit, all Ada (left out: names of files):",
        *("8c1f0e2b7 one", "  5 files +1150 -54"),
    ]


@each(
    ("lines", "told"),
    [
        (("3\t1\ta.py", "-\t-\tx.png"), "  2 files: a.py +3 -1, x.png binary"),
        (("M\ta.py", "R097\tb.py\tc, d.py"), '  2 files: M a.py, R097 b.py "c, d.py"'),
    ],
)
def test_files_of_a_commit_are_told_however_they_are_asked_for(
    lines: tuple[str, str], told: str
) -> None:
    log = "commit 8c1f0e2b7d\nAuthor: Ada <a@b>\n\n    one\n\n" + "\n".join(lines)
    assert compaction.compacted(log).split("\n")[1:] == [told]
    assert compaction.compacted(log, lean=True).split("\n")[2:] == ["  2 files"]


def test_a_graph_is_left_out_and_says_so() -> None:
    log = LOG.format(author="Ada").split("\n")
    change = " src/a.py | 3 +--\n 1 file changed, 1 insertion(+), 2 deletions(-)"
    drawn = "\n".join(
        line if line.startswith("commit") else f"{sides}{line}"
        for line, sides in zip([*log, *change.split("\n")], ["| "] * 9 + ["|   "] * 9, strict=False)
    )
    drawn = drawn.replace("commit 8c", "* commit 8c").replace("commit 1c", "|\\  \n| * commit 1c")
    plain = compaction.compacted("\n".join([*log, change]))
    assert compaction.compacted(drawn) == f"the graph is left out\n{plain}"
    assert plain.endswith(" first\n  src/a.py +1 -2")


def test_what_follows_a_log_is_no_message() -> None:
    text = LOG.format(author="Ada") + "Traceback:\n    File x\nKeyError: 'y'\n"
    told = compaction.compacted(text)
    assert told.endswith(" first\n  Traceback:\n  File x\n  KeyError: 'y'")
    assert "1 line of messages):" in told


def test_the_message_of_a_single_commit_is_told() -> None:
    told = compaction.compacted(
        "commit 8c1f0e2b7d\nAuthor: Ada <a@b>\nDate:   Mon Nov 23 02:00:00 2026 +0000\n"
        "\n    one\n\n    two\n    three\n"
    )
    assert told == "8c1f0e2b7 Mon Nov 23 02:00:00 2026 +0000 Ada one\ntwo\nthree"


def test_a_log_says_that_it_leaves_out_the_parents_of_merges() -> None:
    log = LOG.format(author="Ada").replace("Author", "Merge: 8c1f0e2 1c1f0e2\nAuthor", 1)
    assert " (left out: times of day, parents of merges, 1 line" in compaction.compacted(log)


def test_an_archive_is_a_line_a_folder() -> None:
    entry = "-rw-r--r-- ada/dev {0} 2026-11-23 20:56 pkg/{0}.py"
    told = compaction.compacted("\n".join(map(entry.format, range(1, 9)))).split("\n")
    assert told == [
        "8 entries, size after the name;"
        " unless said otherwise ada:dev, -rw-r--r--, 2026-11-23 20:56",
        "pkg: " + ", ".join(f"{n}.py {n}" for n in range(1, 9)),
    ]


def test_a_status_is_a_line_a_state() -> None:
    assert compaction.compacted(STATUS).split("\n") == [
        "On branch main",
        "Your branch is ahead of 'origin/main' by 2 commits.",
        "Changes not staged for commit: modified: src/a.py, deleted: src/b.py",
        "Untracked files: notes.md",
    ]


def test_many_files_are_told_by_state_and_folder() -> None:
    status = "On branch main\nUnmerged paths:\n  (use it)\n\tboth modified:   a b/c.py\n"
    status += (
        "\tdeleted by us:   d.py\n\nUntracked files:\n"
        + "\tnew/x y.md\n"
        + "".join(f"\tnew/{n}.md\n" for n in range(12))
    )
    assert compaction.compacted(status).split("\n") == [
        "On branch main",
        "Unmerged paths: both modified: a b/c.py, deleted by us: d.py",
        "Untracked files: 13",
        '  new/: "x y.md" 0.md 1.md 2.md 3.md 4.md 5.md 6.md 7.md 8.md 9.md 10.md 11.md',
    ]
    assert compaction.compacted(status, lean=True).endswith("Untracked files: 13\n  new/: 13")


def test_a_short_status_is_told_in_the_same_form() -> None:
    status = "## main...origin/main\n M a.py\nM  b.py\nR  c.py -> d/c.py\n?? e/\n"
    assert compaction.compacted(status).split("\n") == [
        "## main...origin/main",
        "Short status: .M: a.py, M.: b.py, R.: c.py -> d/c.py, ??: e/",
    ]


STATES = {"A": ("Changes to be committed:", "new file"), "??": ("Untracked files:", "")}
STATES |= {"M": ("Changes not staged for commit:", "modified")}
STATES |= {"D": ("Changes not staged for commit:", "deleted")}


def states_of(told: list[str]) -> set[tuple[str, str, str]]:
    """The titles, states and paths that a form tells of."""
    found, title, state = set(), "", ""
    for line in told:
        if head := re.fullmatch(r"(.*?:) ?(\D*?) ?\d+", line) if line[:1] != " " else None:
            title, state = head[1], head[2]
        elif line.startswith("  "):
            folder, _, names = line[2:].rpartition("/: ") if "/: " in line else ("", "", line[2:])
            for name in re.findall(r'"[^"]*"|\S+', names):
                path = name.strip('"')
                found.add((title, state, f"{folder}/{path}" if folder else path))
        elif inside := re.fullmatch(r"([A-Z].*?:) (.+\..)", line):
            state = ""
            for one in inside[2].split(", "):
                before, colon, path = one.rpartition(": ")
                state = before if colon else state
                found.add((inside[1], state, path))
    return found


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(["", "a/", "a/b c/", "d/"]), st.sampled_from(["", " "]),
                  st.sampled_from([*STATES])), min_size=20, max_size=60,
    )
)  # fmt: skip
def test_the_states_of_all_files_follow_from_a_status(
    repo: Path, some: list[tuple[str, str, str]]
) -> None:
    files = {f"{folder}n{blank}{n}.x": state for n, (folder, blank, state) in enumerate(some)}

    def git(*words: str) -> str:
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
                              cwd=repo, check=True, encoding="utf-8",
                              stdout=subprocess.PIPE).stdout  # fmt: skip

    git("rm", "-rqf", "--ignore-unmatch", ".")
    git("clean", "-fdxq")
    for path in files:
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text("1\n", encoding="utf-8")
    known = [path for path, state in files.items() if state in ("M", "D")]
    if known:
        git("add", "--", *known)
    git("commit", "-qm", "x", "--allow-empty")
    for path, state in files.items():
        if state == "D":
            (repo / path).unlink()
        elif state == "M":
            (repo / path).write_text("2\n", encoding="utf-8")
        elif state == "A":
            git("add", "--", path)
    told = compaction.compacted(git("status", "-uall")).split("\n")
    assert states_of(told) == {(*STATES[state], path) for path, state in files.items()}


def test_a_diff_has_its_changed_lines_and_where_they_are() -> None:
    assert compaction.compacted(DIFF).split("\n") == [
        "=== src/a b.py",
        "@14 def limit():",
        "-    return 40",
        "+    return 52",
        "--- not a head",
        "=== a/old.py b/new.py (rename from old.py) (rename to new.py)",
    ]


def test_each_run_of_changed_lines_has_its_own_place() -> None:
    hunk = "@@ -47,9 +50,9 @@ def f():\n a\n b\n c\n-d\n+D\n e\n f\n-g\n+G\n h\n"
    assert compaction.compacted(f"diff --git a/x b/x\n--- a/x\n+++ b/x\n{hunk}") == (
        "=== x\n@53 def f():\n-d\n+D\n@56\n-g\n+G"
    )


def test_a_mode_is_told_before_and_after_and_whether_a_line_ends() -> None:
    text = (
        "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n--- a/x\n+++ b/x\n"
        "@@ -1 +1 @@\n-y\n+y\n\\ No newline at end of file\n"
    )
    assert compaction.compacted(text).split("\n") == [
        "=== x (old mode 100644) (new mode 100755)",
        *("@1", "-y", "+y", "\\ No newline at end of file"),
    ]


def test_marked_words_are_no_lines_around_a_change() -> None:
    text = "diff --git a/x b/x\n@@ -1,3 +1,3 @@\n    a\n    b = [-1-]{+2+}\n    c\n"
    assert compaction.compacted(text) == "=== x\n@2\n    b = [-1-]{+2+}"


def applied(old: str, told: list[str]) -> str:
    """The new text, from the old one and the form of a diff below the name of its file."""
    before, after = old.splitlines(keepends=True), list[str]()
    at, last = 0, ""
    for line in told:
        if line.startswith("@"):
            between = int(line[1:].split()[0]) - 1 - len(after)
            assert between >= 0
            after += before[at : at + between]
            at += between
        elif line.startswith("-"):
            assert before[at].removesuffix("\n") == line[1:]
            at += 1
        elif line.startswith("+"):
            after.append(f"{line[1:]}\n")
        elif line.startswith(" "):
            after.append(before[at])
            at += 1
        elif last.startswith("+"):
            after[-1] = after[-1].removesuffix("\n")
        last = line
    return "".join(after + before[at:])


file_of_lines = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(
        st.sampled_from(
            [
                "",
                "a",
                "b",
                " c",
                "-d",
                "+e",
                "@1",
                "@@ -1 +1 @@",
                "a/b",
                "rw-r--r-- 1 a a 12 Nov 23 02:00 x",
                "12 2026-11-23 02:00 x",
            ]
        ),
        max_size=25,
    ),
    st.sampled_from(["", "\n"]),
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(file_of_lines, file_of_lines), min_size=3), st.integers(0, 4))
def test_the_new_files_follow_from_the_old_ones_and_a_folded_diff(
    repo: Path, files: list[tuple[str, str]], context: int
) -> None:
    for side in ("old", "new"):
        shutil.rmtree(repo / side, ignore_errors=True)
        (repo / side).mkdir()
    for number, (old, new) in enumerate(files):
        (repo / "old" / f"f{number}").write_text(old, encoding="utf-8")
        (repo / "new" / f"f{number}").write_text(new, encoding="utf-8")
    printed = subprocess.run(["git", "diff", "--no-index", f"-U{context}", "old", "new"], cwd=repo,
                             encoding="utf-8", stdout=subprocess.PIPE).stdout  # fmt: skip
    told = compaction.compacted(printed).split("\n=== ")
    forms = {name.rpartition("/f")[2]: lines
             for name, *lines in (part.split("\n") for part in told)}  # fmt: skip
    for number, (old, new) in enumerate(files):
        assert applied(old, forms.get(str(number), [])) == new


def test_paths_below_a_diff_are_told() -> None:
    assert compaction.compacted(f"{DIFF}src/a.py\nsrc/b.py\n").endswith("\nsrc/a.py\nsrc/b.py")


def test_each_part_of_a_mixed_text_has_its_own_form() -> None:
    text = f"$ some prompt\n{STATUS}{DIFF}{LOG.format(author='Ada')}"
    told = compaction.compacted(text)
    for part in (STATUS, DIFF, LOG.format(author="Ada")):
        assert compaction.compacted(part) in told
    assert told.startswith("$ some prompt\n")


def listed(*rows: tuple[str, str, str, str]) -> str:
    lines = ["top:", "total 8", "drwxr-xr-x 2 ada ada 4096 Nov 23 02:00 ."]
    for kind, owner, size_and_day, name in rows:
        size, day = size_and_day.split("@")
        mode = "lrwxrwxrwx" if kind == "l" else f"{kind}rw-r--r--"
        lines.append(f"{mode} 1 {owner} ada {size:>6} Nov {day:>2} 02:00 {name}")
    return "\n".join([*lines, "", "top/sub:", "total 0", ""])


def test_a_listing_is_a_line_a_folder_without_what_is_all_alike() -> None:
    text = listed(("-", "ada", "12@23", "a b.py"), ("d", "ada", "40@23", "sub"),
                  ("l", "ada", "7@23", "x -> ../a b.py -> c"))  # fmt: skip
    assert compaction.compacted(text).split("\n") == [
        "3 entries, size after the name; unless said otherwise ada, Nov 23 02:00",
        "top: a b.py 12 -rw-r--r--, sub/ drw-r--r--, x -> ../a b.py -> c",
        "top/sub: (empty)",
    ]
    assert compaction.compacted(text.replace("total 8", "total 1.2M")) == compaction.compacted(text)
    text = listed(("-", "ada", "12@23", "a"), ("-", "root", "12@22", "b"))
    assert "a 12 ada Nov 23 02:00, b 12 root:ada Nov 22 02:00" in compaction.compacted(text)


def test_an_entry_says_what_is_not_as_usual_with_it_or_in_its_folder() -> None:
    rows = [("-", "ada", f"{n}@23", f"f{n}.py") for n in range(9)]
    rows += [("-", "root", "7@23", "su, do")]
    text = listed(*rows).replace("-rw-r--r-- 1 root", "-rwsr-xr-x 1 root")
    other = (
        text.replace("top", "low")
        .replace("Nov 23", "Oct 1")
        .replace("Oct 1 02:00 f3", "Oct 2 02:00 f3")
    )
    null = "crw-rw-rw- 1 ada ada 1,   3 Oct  1 02:00 null"
    assert compaction.compacted(f"{text}\n{other}\nlow/dev:\ntotal 0\n{null}\n").split("\n") == [
        "21 entries, size after the name; unless said otherwise ada, -rw-r--r--",
        "top (Nov 23 02:00): f0.py 0, f1.py 1, f2.py 2, f3.py 3, f4.py 4, f5.py 5, f6.py 6,"
        ' f7.py 7, f8.py 8, "su, do" 7 root:ada -rwsr-xr-x',
        "top/sub: (empty)",
        "low (Oct 1 02:00): f0.py 0, f1.py 1, f2.py 2, f3.py 3 Oct 2 02:00, f4.py 4, f5.py 5,"
        ' f6.py 6, f7.py 7, f8.py 8, "su, do" 7 root:ada -rwsr-xr-x',
        "low/sub: (empty)",
        "low/dev: null 1,3 crw-rw-rw- Oct 1 02:00",
    ]


def test_if_they_are_too_many_the_dates_of_a_listing_are_left_out() -> None:
    days = (("-", "ada", f"{n}@{n + 10}", f"f{n}") for n in range(6))
    told = compaction.compacted(listed(*days), lean=True).split("\n")
    assert told[:2] == [
        "6 entries, size after the name, their dates left out;"
        " unless said otherwise ada, -rw-r--r--",
        "top: f0 0, f1 1, f2 2, f3 3, f4 4, f5 5",
    ]
    alike = listed(*(("-", "ada", f"{n}@23", f"f{n}") for n in range(6)))
    assert compaction.compacted(alike, lean=True) == compaction.compacted(alike)


SHOWN = re.compile(
    r"(?P<name>\"(?:[^\"\\]|\\.)*\"|.+?)(?:(?P<folder>/)| -> (?P<target>\S+)| (?P<size>\d+))"
    r"(?: (?P<mode>[-dl][-rwxsStT]{9}))?(?: (?P<date>\w{3} \d+ [\d:]+))?(?:, |$)"
)


def entries_of(told: list[str]) -> dict[str, dict[str, str]]:
    """The entries that a form tells of, by path: mode, date, and size or target."""
    usual = modes_and_date(told[0].partition("; unless said otherwise ")[2])
    found = {}
    for line in told[1:]:
        head, _, inside = line.partition(": ")
        folder, _, own = head.partition(" (")
        known = usual | modes_and_date(own.rstrip(")"))
        for one in SHOWN.finditer(inside) if inside != "(empty)" else ():
            kind = "d" if one["folder"] else "l" if one["target"] else "-"
            name = json.loads(one["name"]) if one["name"].startswith('"') else one["name"]
            found[f"{folder}/{name}"] = {
                "mode": one["mode"] or known.get(kind, "lrwxrwxrwx"),
                "date": one["date"] or known["date"],
                "what": one["size"] or one["target"] or "",
            }
    return found


def modes_and_date(said: str) -> dict[str, str]:
    return {("date" if " " in value else value[0]): value for value in said.split(", ")
            if " " in value or len(value) == 10}  # fmt: skip


one_name = st.text(st.sampled_from('ab1 ,"'), min_size=1, max_size=6).map(lambda text: f"n{text}.x")
one_file = st.tuples(
    st.sampled_from("-d/l"), one_name, st.sampled_from([0o644, 0o4755, 0o600]), st.integers(0, 3),
)  # fmt: skip


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(one_file, min_size=2, unique_by=lambda one: one[1]))
def test_the_entries_follow_from_a_listing(
    repo: Path, files: list[tuple[str, str, int, int]]
) -> None:
    top = repo / "top"
    shutil.rmtree(top, ignore_errors=True)
    (top / "sub").mkdir(parents=True)
    for kind, name, mode, size in files:
        path = (top / "sub" if kind == "/" else top) / name
        if kind == "l":
            path.symlink_to("../else/where")
        elif kind == "d":
            path.mkdir()
        else:
            path.write_text("x" * size, encoding="utf-8")
            path.chmod(mode)
    wanted = {}
    for path in sorted(top.rglob("*")):
        day = 1 + len(path.name) // 2
        at = datetime(2020, 1, day, tzinfo=UTC).timestamp()
        os.utime(path, (at, at), follow_symlinks=False)
        state = path.lstat()
        what = "../else/where" if path.is_symlink() else "" if path.is_dir() else str(state.st_size)
        wanted[str(path.relative_to(repo))] = {
            "mode": stat.filemode(state.st_mode), "date": f"Jan {day} 2020", "what": what,
        }  # fmt: skip
    env = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    printed = subprocess.run(["ls", "-laR", "top"], cwd=repo, encoding="utf-8", env=env,
                             stdout=subprocess.PIPE).stdout  # fmt: skip
    assert entries_of(compaction.compacted(printed).split("\n")) == wanted


def test_paths_are_grouped_by_folder() -> None:
    paths = [f"./src/part_{n % 3}/file_{n}.py" for n in range(30)]
    told = compaction.compacted("\n".join(paths)).split("\n")
    assert told[0] == "30 paths in 3 folders"
    assert told[1].startswith("./src/part_0/: file_0.py file_3.py ")
    assert sorted(name for line in told[1:] for name in line.split()[1:]) == sorted(
        path.rpartition("/")[2] for path in paths
    )


def test_the_folder_itself_may_come_first() -> None:
    paths = [".", *(f"./src/file_{n}.py" for n in range(30))]
    told = compaction.compacted("\n".join(paths)).split("\n")
    assert told == [".", "30 paths in 1 folders", "./src/: " + " ".join(
        f"file_{n}.py" for n in range(30))]  # fmt: skip


def test_the_root_is_no_folder_of_names() -> None:
    paths = ["/usr/", "/etc/", "src/", *(f"src/{n}.py" for n in range(12))]
    assert compaction.compacted("\n".join(paths)).split("\n") == [
        *("15 paths in 3 folders", "/: usr/ etc/", "src/"),
        "src/: " + " ".join(f"{n}.py" for n in range(12)),
    ]


def test_if_they_are_too_many_paths_are_counted() -> None:
    paths = [f"./src/part_{n % 3}/file_{n}.py" for n in range(30)]
    assert compaction.compacted("\n".join(paths), lean=True).split("\n") == [
        "30 paths in 3 folders", *(f"./src/part_{n}/: 10" for n in range(3)),
    ]  # fmt: skip


def test_a_name_with_blanks_stays_among_the_paths() -> None:
    paths = [f"/usr/doc/{n}.md" for n in range(20)]
    paths[7] = "/usr/doc/before the release.md"
    assert compaction.compacted("\n".join(paths)).split("\n")[0] == "20 paths in 1 folders"


def test_a_text_that_is_mostly_something_else_has_no_shorter_form() -> None:
    text = DIFF + "".join(f"step {n}: compiling\n" for n in range(40))
    assert compaction.compacted(f"make: *** [all] Error 1\n{text}") == ""


def test_steps_of_a_build_are_no_states_of_files() -> None:
    steps = [f"{step} obj/part_{n}.o" for n in range(9) for step in ("CC", "AR", "RM")]
    assert compaction.compacted("\n".join(steps)) == ""


def test_of_rows_in_columns_what_most_share_is_said_once_and_those_that_differ_come_first() -> None:
    rows = [f"web-{n:<6}   1/1     Running            {n}h" for n in range(10, 30)]
    rows[12] = "web-22       0/1     CrashLoopBackOff   2h"
    told = compaction.compacted("\n".join(["NAME         READY   STATUS             AGE", *rows]))
    assert told.split("\n")[:5] == [
        "20 rows",
        "unless said otherwise: READY=1/1, STATUS=Running; rows that differ come first",
        *("NAME,AGE", "web-22,2h,READY=0/1,STATUS=CrashLoopBackOff", "web-10,10h"),
    ]


def test_a_head_that_comes_again_is_no_row() -> None:
    head, rows = "NAME   READY   AGE", [f"web-{n}   {n}   {n}h" for n in range(10, 22)]
    told = compaction.compacted("\n".join([head, *rows[:6], head, *rows[6:]]))
    assert told.split("\n")[0] == "12 rows"


def test_rows_among_other_lines_have_no_shorter_form() -> None:
    rows = [f"web-{n:<6}   1/1     Running            {n}h" for n in range(10, 30)]
    rows.insert(9, "error: the server could not be reached")
    text = "\n".join(["NAME         READY   STATUS             AGE", *rows])
    assert compaction.compacted(text) == ""


def test_objects_are_a_table_and_what_most_share_is_said_once() -> None:
    rows: list[dict[str, Any]] = [{"id": n, "state": "done", "note": f"n, {n}"} for n in range(10)]
    rows[3] |= {"state": "failed", "code": None}
    assert compaction.compacted(json.dumps(rows, indent=2)).split("\n")[:7] == [
        "10 objects, a cell is empty where a field is absent",
        "unless said otherwise: state=done",
        "id,note,code",
        '0,"n, 0",',
        '1,"n, 1",',
        '2,"n, 2",',
        '3,"n, 3",null,state=failed',
    ]
    inside = compaction.compacted(json.dumps({"total": 10, "items": rows}))
    assert inside.startswith("total: 10\nitems: 10 objects, ")
    lines = "\n".join(map(json.dumps, rows))
    assert compaction.compacted(lines) == compaction.compacted(json.dumps(rows))


def test_lists_are_a_table_as_well() -> None:
    rows = [[n, n * n, "x"] for n in range(10)]
    assert compaction.compacted(json.dumps(rows)).split("\n")[:4] == [
        *("10 lists", "unless said otherwise: [2]=x", "[0],[1]", "0,0"),
    ]


def test_an_empty_text_is_not_a_field_that_is_absent() -> None:
    rows = [{"id": 1}, {"id": 2, "name": ""}, {"id": 3, "name": None}]
    assert compaction.compacted(json.dumps(rows)).split("\n") == [
        *("3 objects, a cell is empty where a field is absent", "id,name", "1,", '2,""', "3,null"),
    ]


def cell(line: str, stop: str, quotes: str = '"[{') -> tuple[str, str]:
    """The first cell of a line as it is written, and what comes after its stop."""
    end = json.JSONDecoder().raw_decode(line)[1] if line and line[0] in quotes else 0
    end = end or (line.find(stop) if stop in line else len(line))
    return line[:end], line[end + 1 :]


def name_of(written: str) -> str:
    return str(json.loads(written)) if written.startswith('"') else written


def rows_of(told: list[str]) -> list[dict[str, Any]]:
    """The objects that a table tells of."""
    usual: dict[str, str] = {}
    if told[1].startswith("unless said otherwise: "):
        line = told.pop(1).partition(": ")[2]
        while line:
            name, line = cell(line, "=", '"')
            value, line = cell(line, ",")
            usual[name_of(name)] = value
            line = line.removeprefix(" ")
    columns, line = list[str](), told[1]
    while line:
        name, line = cell(line, ",", '"')
        columns.append(name_of(name))
    rows = []
    for line in told[2 : 2 + int(told[0].split()[0])]:
        row = dict(usual)
        for column in columns:
            row[column], line = cell(line, ",")
        while line:
            name, line = cell(line, "=", '"')
            row[name_of(name)], line = cell(line, ",")
        rows.append({name: value_of(text) for name, text in row.items() if text not in ABSENT})
    return rows


ABSENT = ("", "absent")


def value_of(written: str) -> Any:
    try:
        return json.loads(written) if written == written.strip() else written
    except ValueError:
        return written


some_text = st.text(st.sampled_from('ab,=: "[{\n1-.e'), max_size=6) | st.text(max_size=4)
some_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | some_text | st.sampled_from(["null", "absent", "NaN", "-Infinity", "1e5", " 1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(some_text, inner, max_size=3),
    max_leaves=4,
)  # fmt: skip


@given(st.lists(st.dictionaries(st.sampled_from("ab") | some_text, some_value | st.just("x")),
                min_size=3))  # fmt: skip
def test_the_objects_follow_from_their_table(rows: list[dict[str, Any]]) -> None:
    told = compaction.compacted(json.dumps(rows)).split("\n")
    assert rows_of(told) == rows


@given(st.lists(st.lists(some_value, max_size=4), min_size=3).filter(any))
def test_the_lists_follow_from_their_table(rows: list[list[Any]]) -> None:
    told = compaction.compacted(json.dumps(rows)).split("\n")
    assert [[row[at] for at in sorted(row)] for row in rows_of(told)] == rows


@each(
    "text", ["", "plain text\nof two lines", "{", "[1, 2, 3]", '"x"', "[{}]", "total", "a/b: c",
             "[" * 100_000],
)  # fmt: skip
def test_what_has_no_shorter_form_is_left_to_others(text: str) -> None:
    assert compaction.compacted(text) == ""


@given(st.text(alphabet=st.sampled_from('c omitdf-+@:\t/\n019abrwx.{}[]",')))
def test_whatever_comes_it_ends(text: str) -> None:
    compaction.compacted(text)
    several = f"commit 8c1f0e2b7\n{text}\ndiff --git a/x b/x\n{text}\ntotal 3\n{text}"
    compaction.compacted(several)
    compaction.compacted(f"On branch a\n{several}", lean=True)


def test_what_git_prints_today_is_understood(repo: Path) -> None:
    def git(*words: str) -> str:
        given_by = ["-c", "user.name=Ada", "-c", "user.email=a@b"]
        return subprocess.run(["git", *given_by, *words], cwd=repo, check=True, encoding="utf-8",
                              stdout=subprocess.PIPE).stdout  # fmt: skip

    (repo / "a.py").write_text("1\n2\n3\n4\n5\n6\n7\n8\n", encoding="utf-8")
    git("add", "a.py")
    git("commit", "-qm", "one")
    (repo / "a.py").write_text("1\n2\n3\n4\n5\n6\n7\nx\n", encoding="utf-8")
    told = compaction.compacted(git("status") + git("diff") + git("log"))
    assert "modified: a.py" in told and "=== a.py\n@8\n-8\n+x" in told
    assert any(line.endswith(" one") for line in told.split("\n"))
    listing = subprocess.run(["ls", "-laR"], cwd=repo, encoding="utf-8", stdout=subprocess.PIPE)
    assert re.search(r"\n\./\.git/refs.*: heads/", compaction.compacted(listing.stdout))
    assert "a.py 16" in compaction.compacted(listing.stdout)
