"""remember_later.py as its users call it, in this process."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import Script, each, git

INBOX = Path("parallelus/manuals/capsules/remember-later.md")


def entries(path: Path = INBOX) -> list[str]:
    """What follows each heading's time, with the ids made alike."""
    found = []
    for entry in path.read_text(encoding="utf-8").split("\n## ")[1:]:
        heading, _, rest = entry.partition("\n")
        identity = heading.partition("<!-- ")[2].removesuffix(" -->")
        found.append(rest.replace(identity, "ID"))
    return found


def ids(run: Script, *options: str) -> list[str]:
    run("remember_later", "list", "--json", *options)
    return [reminder["id"] for reminder in json.loads(run.out)]


# Adding


def test_an_entry_has_heading_and_bullets_in_order(repo: Path, run: Script) -> None:
    assert run("remember_later", "--message=spike", "--topic=ux", "--next-step=look") == 0
    answer = run.out
    (identity,) = ids(run)
    assert answer == f"Reminder {identity} saved to {INBOX} at 2025-10-23 18:05:00 UTC\n"
    entry = INBOX.read_text(encoding="utf-8").partition("## ")[2].splitlines()
    assert entry[0].startswith("2025-10-23 18:05:00 UTC <!-- r-")
    assert entry[1:4] == ["- **Topic:** ux", "- **Note:** spike", "- **Next step:** look"]


@each("option", ["-m=", "--message=  ", "--message=\n\t ", "--message=\u2003", "--topic=ux"])
def test_a_message_that_is_blank_or_left_out_writes_nothing(
    option: str, repo: Path, run: Script
) -> None:
    assert run("remember_later", option) == 2
    assert run.out == "" and "m= is missing or blank" in run.err
    assert "--message=… [--topic=…] [--next-step=…] [--tags=…] [--file=…]" in run.err
    assert os.listdir() == [".git"]


@pytest.mark.parametrize(
    "blank", [[], ["--topic=  ", "--next-step=\t", "--tags= , ", "--tag= "], ["--topic="]]
)
def test_what_was_not_given_or_is_blank_has_no_bullet(
    blank: list[str], repo: Path, run: Script
) -> None:
    assert run("remember_later", "--message=x", *blank) == 0
    assert entries() == ["- **Note:** x\n<!-- end ID -->\n"]


def test_tags_are_the_last_bullet_separated_by_comma_and_blank(repo: Path, run: Script) -> None:
    run("remember_later", "--message=x", "--tags=a b")
    run("remember_later", "--message=x", "--tags=a,b, c", "--tag=two words", "--tag=", "--tag=x,y")
    assert [entry.splitlines()[-2] for entry in entries()] == [
        "- **Tags:** a, b",
        "- **Tags:** a, b, c, two words, x y",
    ]


def test_another_file_is_made_with_its_folders_title_and_nothing_beside_it(
    repo: Path, run: Script
) -> None:
    assert run("remember_later", "--message=x", "--file=new/dir/inbox.md") == 0
    assert "saved to new/dir/inbox.md at" in run.out
    assert Path("new/dir/inbox.md").read_text(encoding="utf-8").startswith("# Remember later\n")
    assert os.listdir("new/dir") == ["inbox.md"] and not INBOX.exists()
    assert ids(run) == [] and len(ids(run, "--file=new/dir/inbox.md")) == 1
    assert ids(run, "--capsule-file=new/dir/inbox.md") == ids(run, "--file=new/dir/inbox.md")


def test_no_note_is_written_into_source(repo: Path, run: Script) -> None:
    (repo / "app.py").write_text("print(1)\n", encoding="utf-8")
    assert run("remember_later", "--message=look at it", "--file=app.py") == 2
    assert "file: app.py is no inbox, such as notes.md: name it in m= instead" in run.err
    assert (repo / "app.py").read_text(encoding="utf-8") == "print(1)\n"


@pytest.mark.parametrize("form", [["--message=-x"], ["-m=-x"]])
def test_a_message_may_begin_with_a_dash(form: list[str], repo: Path, run: Script) -> None:
    assert run("remember_later", *form, "--topic=--help", "--next-step=-1") == 0
    assert entries() == [
        "- **Topic:** --help\n- **Note:** -x\n- **Next step:** -1\n<!-- end ID -->\n"
    ]


def test_a_dash_that_could_be_an_option_is_a_usage_error(repo: Path, run: Script) -> None:
    for form in (["-m", "-x"], ["--message", "-x"]):
        assert run("remember_later", *form) == 2
        assert run.out == "" and " lacks its value: write " in run.err
    assert run("remember_later", "x") == 2 and "'x' is not an option" in run.err
    assert os.listdir() == [".git"]


# Where


def test_from_a_subfolder_the_inbox_is_the_repositorys_and_a_typed_file_the_folders(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("src/deep").mkdir(parents=True)
    monkeypatch.chdir("src/deep")
    assert run("remember_later", "--message=x") == 0
    assert f"saved to {INBOX} at" in run.out
    assert len(ids(run)) == 1
    assert run("remember_later", "--message=y", "--file=../inbox.md") == 0
    assert "saved to src/inbox.md at" in run.out
    (other,) = ids(run, "--file=../inbox.md")
    assert run("remember_later", "done", other, "--file=../inbox.md") == 0
    assert ids(run, "--file=../inbox.md") == []
    assert sorted(os.listdir(repo)) == [".contextkit", ".git", "parallelus", "src"]


def test_a_worktree_has_an_inbox_of_its_own_and_context_root_one_for_all(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("worktree", "add", "-q", "../tree")
    monkeypatch.chdir("../tree")
    run("remember_later", "--message=x")
    assert INBOX.exists() and not (repo / INBOX).exists()
    monkeypatch.setenv("CONTEXT_ROOT", str(repo))
    run("remember_later", "--message=y")
    assert "- **Note:** y" in (repo / INBOX).read_text(encoding="utf-8")


def test_outside_of_git_the_current_folder_is_the_root(sealed: Path, run: Script) -> None:
    assert run("remember_later", "--message=x") == 0
    assert INBOX.exists()


@pytest.mark.parametrize("file", ["../inbox.md", "/etc/inbox.md", "-", "link.md", "out/inbox.md"])
def test_an_inbox_outside_of_the_repository_is_refused(file: str, repo: Path, run: Script) -> None:
    away = Path("../away")
    away.mkdir()
    (away / "inbox.md").write_text("## a\n", encoding="utf-8")
    os.symlink("../away/inbox.md", "link.md")
    os.symlink("../away", "out")
    for command in (["--message=x"], ["list"], ["done", "r-1a2b3c"]):
        assert run("remember_later", *command, f"--file={file}") == 2
        assert run.out == "" and run.err.startswith("remember_later: file: ")
        assert run.err.count("\n") == 1
    assert os.listdir(away) == ["inbox.md"]
    assert (away / "inbox.md").read_text(encoding="utf-8") == "## a\n"


def test_the_documented_inbox_may_not_be_a_link_that_leads_away(repo: Path, run: Script) -> None:
    INBOX.parent.mkdir(parents=True)
    INBOX.symlink_to(repo.parent / "away.md")
    assert run("remember_later", "--message=x") == 2
    assert run.out == "" and run.err.startswith("remember_later: reminders: ")
    assert not (repo.parent / "away.md").exists()


@pytest.mark.parametrize("command", [["--message=x"], ["list"], ["done", "r-1a2b3c"]])
def test_an_inbox_that_is_no_text_is_an_error_of_one_line(
    command: list[str], repo: Path, run: Script
) -> None:
    Path("latin.md").write_bytes(b"caf\xe9\n")
    Path("folder.md").mkdir()
    for file, reason in (("latin.md", "not UTF-8"), ("folder.md", "Is a directory")):
        assert run("remember_later", *command, f"--file={file}") == 1
        assert run.out == "" and run.err.count("\n") == 1
        assert f"{file}: " in run.err and reason in run.err
    assert Path("latin.md").read_bytes() == b"caf\xe9\n" and os.listdir("folder.md") == []


# Listing


def three(run: Script) -> list[str]:
    run("remember_later", "--message=spike", "--topic=ux", "--next-step=look", "--tags=a b")
    run("remember_later", "--message=two\n\x1b[31mlines", "--topic=ci", "--tags=b")
    run("remember_later", "--message=third", "--topic=user  experience")
    return ids(run)


def test_the_list_has_a_row_for_each_open_one(repo: Path, run: Script) -> None:
    one, two, three_ = three(run)
    run("remember_later", "done", three_)
    assert run("remember_later", "list") == 0
    assert run.out == (
        "id        taken                    state  topic  note\n"
        f"{one}  2025-10-23 18:05:00 UTC  open   ux     spike → look [a, b]\n"
        f"{two}  2025-10-23 18:05:00 UTC  open   ci     two [31mlines [b]\n"
    )


def test_the_list_is_narrowed_by_tag_and_topic_and_widened_by_all(repo: Path, run: Script) -> None:
    one, two, three_ = three(run)
    assert ids(run, "--tag=b") == [one, two]
    assert ids(run, "--tag=a") == ids(run, "--topic=ux") == [one]
    assert ids(run, "--topic=user experience") == ids(run, "--topic=user  experience") == [three_]
    assert ids(run, "--tag=b", "--topic=ci") == [two]
    assert ids(run, "--tag=ab") == ids(run, "--topic=u") == []
    run("remember_later", "done", two)
    assert ids(run, "--tag=b") == [one]
    assert ids(run, "--tag=b", "--all") == [one, two]
    assert ids(run, "--tag=b", "--all=0") == [one]
    run("remember_later", "list", "--all")
    assert [line.split()[4] for line in run.out.splitlines()[1:]] == ["open", "done", "open"]


def test_list_as_json_has_every_field(repo: Path, run: Script) -> None:
    run("remember_later", "--message=spike", "--tags=a,b c", "--topic=ux", "--next-step=look")
    (identity,) = ids(run)
    run("remember_later", "done", identity, "--into=PLAN.md")
    assert run("remember_later", "list", "--json", "--all") == 0
    rows = json.loads(run.out)
    assert all(row.pop("ref").startswith("reminder:") for row in rows)
    assert rows == [
        {
            "id": identity,
            "taken": "2025-10-23 18:05:00 UTC",
            "note": "spike",
            "topic": "ux",
            "next_step": "look",
            "tags": ["a", "b", "c"],
            "done": "2025-10-23 18:05:00 UTC → PLAN.md",
            "state": "done",
        }
    ]


def test_where_there_is_nothing_the_list_says_so_and_makes_nothing(repo: Path, run: Script) -> None:
    for options, answer in (([], "No open reminders.\n"), (["--all"], "No reminders.\n")):
        assert run("remember_later", "list", *options) == 0
        assert run.out == answer
    assert ids(run) == [] and os.listdir() == [".git"]


# Marking


@pytest.mark.parametrize("form", [["{}"], ["--id={}"], ["--id", "{}"]])
def test_done_prints_the_id_and_adds_one_line(form: list[str], repo: Path, run: Script) -> None:
    one, two, _ = three(run)
    before = INBOX.read_text(encoding="utf-8")
    assert run("remember_later", "done", *(f.format(two) for f in form), "--into=a\nb  c") == 0
    assert (run.out, run.err) == (f"{two}\n", "")
    after = INBOX.read_text(encoding="utf-8")
    assert after.replace("- **Done:** 2025-10-23 18:05:00 UTC → a b c\n", "", 1) == before != after
    assert two not in ids(run) and one in ids(run)


def test_done_twice_says_so_and_changes_nothing(repo: Path, run: Script) -> None:
    one, *_ = three(run)
    run("remember_later", "done", one, "--into=PLAN.md")
    before = INBOX.read_bytes()
    assert run("remember_later", "done", one, "--into=dropped") == 0
    assert run.out == f"{one}\n" and "was already done; nothing changed" in run.err
    assert INBOX.read_bytes() == before


def test_an_unknown_id_is_a_negative_answer_that_names_the_open_ones(
    repo: Path, run: Script
) -> None:
    one, two, three_ = three(run)
    run("remember_later", "done", two)
    assert run("remember_later", "done", "--into=x") == 2 and "id= is missing" in run.err
    assert run("remember_later", "done", "r-000000") == 1
    assert run.out == "" and run.err == (
        f"remember_later: r-000000: no such reminder in {INBOX}; open there: {one}, {three_}\n"
    )
