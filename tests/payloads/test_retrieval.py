"""retrieval.py: whatever names a payload finds its file; words find lines; parts of a text."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import time
from pathlib import Path

import pytest
from conftest import Script, each
from contextkit.base import tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.payloads.documents import receipts
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retention, retrieval
from hypothesis import given
from hypothesis import strategies as st
from test_storing import DAY, NOW, TEXT, keep, store

PARTS = (
    "# T\n\nintro\n\n## One\n\na\n\n### Inner\n\nb needle\n\n"
    "## Two\n\nc\n```\n# code\n```\nneedle\n"
)


def test_whatever_names_a_payload_finds_it(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = store(layout)
    line, shown = stored.receipt.split("\n")[0], layout.shown(stored.path)
    identity = os.path.basename(shown)[:-3]
    Path("sub/dir").mkdir(parents=True)
    refs = [
        identity,
        f" {identity}\n",
        f"{identity}.md",
        "latest",
        shown,
        stored.path,
        line,
        stored.receipt,
    ]
    refs += [f'"@stored": {shown}', f"- {line}", f"```toon\n{stored.receipt}\n```", f"./{shown}"]
    for here in (".", "sub/dir"):
        monkeypatch.chdir(Path(layout.root) / here)
        for ref in refs:
            assert retrieval.find(Layout(), ref, "s", NOW) == stored.path
            assert retrieval.find(Layout(), ref, "", NOW) == stored.path
    assert retrieval.find(Layout(), f"../../{shown}", "s", NOW) == stored.path


def test_a_text_that_was_kept_is_found_by_its_path(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = keep(layout, "docs/x.md")
    root = keep(layout, "top.txt")
    assert retrieval.find(layout, "@stored: docs/x.md", "", NOW) == stored.path
    assert retrieval.find(layout, "top.txt", "s", NOW) == root.path
    monkeypatch.chdir("docs")
    assert retrieval.find(Layout(), "x.md", "s", NOW) == stored.path


def test_latest_is_the_last_one_stored_in_the_session_then_in_all(layout: Layout) -> None:
    with pytest.raises(ContextError, match="latest: no such payload; available: none"):
        retrieval.find(layout, "latest", "", NOW)
    old = store(layout, "z", topic="old")
    store(layout, "a", topic="zeta", now=NOW + 5)
    new = store(layout, "a", topic="alpha", now=NOW + 5)
    assert retrieval.find(layout, "latest", "a", NOW) == new.path
    assert retrieval.find(layout, "latest", "", NOW) == new.path
    assert retrieval.find(layout, "latest", "z", NOW) == old.path
    assert retrieval.find(layout, "latest", "nobody", NOW) == new.path
    newer = store(layout, "z", content=f"{TEXT}!", now=NOW + 9)
    assert retrieval.find(layout, "latest", "", NOW) == newer.path
    assert retrieval.find(layout, "latest", "a", NOW) == new.path
    with pytest.raises(ContextError, match="no such payload"):
        retrieval.find(layout, "latest", "nobody", NOW, only=True)


def test_a_session_that_is_named_is_the_only_one_looked_into(layout: Layout) -> None:
    stored = store(layout, "a")
    identity = os.path.basename(stored.path)[:-3]
    assert retrieval.find(layout, identity, "b", NOW) == stored.path
    with pytest.raises(ContextError, match="no such payload; available: none"):
        retrieval.find(layout, identity, "b", NOW, only=True)


def test_an_unknown_id_is_answered_with_the_known_ones(layout: Layout) -> None:
    for number in range(12):
        store(layout, topic=f"t{number:02}", content=f"{TEXT}\n{number}\n")
    with pytest.raises(ContextError) as caught:
        retrieval.find(layout, "nothing", "s", NOW)
    assert caught.value.status == 1
    assert "20251128-100500-t11 and 2 older" in str(caught.value)
    assert "t00" not in str(caught.value)


@each(
    "ref",
    ["", "..", "../../etc/passwd", "/etc/passwd", "a b", "x\0y", "shared/payloads/s/none.md",
     "shared/payloads/s/../../../../etc/passwd", "shared/payloads/none/none.md",
     "@stored: ../x.md", "manifest.json"],
)  # fmt: skip
def test_what_names_no_payload_is_refused(layout: Layout, ref: str) -> None:
    store(layout)
    with pytest.raises(ContextError):
        retrieval.find(layout, ref, "s", NOW)


def test_a_payload_that_is_a_link_leads_nowhere_outside(layout: Layout, tmp_path: Path) -> None:
    store(layout)
    (tmp_path / "secret.md").write_text("secret", "utf-8")
    Path(layout.payloads, "s", "20251128-100500-link.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(ContextError, match="outside"):
        retrieval.find(layout, "20251128-100500-link", "s", NOW)


def test_an_ended_payload_comes_back_by_id_path_and_latest_within_the_grace_period(
    layout: Layout,
) -> None:
    stored = store(layout)
    identity = os.path.basename(stored.path)[:-3]
    for ref, session in (
        (identity, ""),
        (layout.shown(stored.path), ""),
        ("latest", "s"),
        (identity, "s"),
    ):
        retention.end(layout, "s", NOW)
        assert not os.path.exists(stored.path)
        assert retrieval.find(layout, ref, session, NOW + DAY) == stored.path
        assert os.path.exists(stored.path)


def test_after_it_the_answer_says_when_it_went(layout: Layout) -> None:
    stored = store(layout)
    identity = os.path.basename(stored.path)[:-3]
    retention.end(layout, "s", NOW)
    for ref, session in ((layout.shown(stored.path), ""), (identity, "s"), ("latest", "s")):
        with pytest.raises(
            ContextError, match="session s has ended and its payloads are gone"
        ) as caught:
            retrieval.find(layout, ref, session, NOW + DAY + 1)
        assert "2025-11-28T10:05:00Z session s: 1 payload, 600 tokens" in str(caught.value)
        assert caught.value.status == 1
    store(layout, topic="new", now=NOW + DAY + 2)
    with pytest.raises(ContextError, match="no such payload; available: 20251129-100502-new"):
        retrieval.find(layout, identity, "s", NOW + DAY + 3)


def test_a_payload_without_a_manifest_can_be_read(layout: Layout) -> None:
    stored = store(layout)
    Path(layout.payloads, "s", "manifest.json").unlink()
    assert retrieval.find(layout, "latest", "s", NOW) == stored.path


def test_an_id_in_a_forged_manifest_leads_nowhere(layout: Layout) -> None:
    stored = store(layout)
    path = Path(layout.payloads, "s", "manifest.json")
    forged = json.loads(path.read_text("utf-8"))
    forged["payloads"][0] |= {"id": "../../../x", "path": "../../../x.md"}
    path.write_text(json.dumps(forged, indent=2), "utf-8")
    Path("x.md").write_text("secret", "utf-8")
    assert retrieval.find(layout, "latest", "s", NOW) == stored.path


def test_search_finds_every_line_in_any_case(layout: Layout) -> None:
    stored = store(layout, content="first\r\nThe CACHE line\nlast", summary="One. Two.")
    lines = Path(stored.path).read_text("utf-8").split("\n")
    paths = payloads.documents(layout, "s")
    (hit,) = retrieval.search(paths, "cache")
    assert hit == (stored.path, lines.index("The CACHE line") + 1, "The CACHE line", "")
    assert list(retrieval.search(paths, "nowhere")) == []


# Parts


def test_a_section_ends_where_the_next_of_its_order_begins() -> None:
    found = retrieval.section(PARTS, "one")
    assert found.text == "## One\n\na\n\n### Inner\n\nb needle\n"
    assert (found.first, found.last) == (5, 12)
    assert retrieval.section(PARTS, "## Inn").text.startswith("### Inner")


def test_an_unknown_section_is_answered_with_those_there_are() -> None:
    with pytest.raises(ContextError, match="available: T; One; Inner; Two"):
        retrieval.section(PARTS, "Three")


@each(
    ("lines", "said"),
    [("3", "intro"), ("15-15", "c"), ("7-9", "a\n\n### Inner"), ("19-", "needle\n")],
)
def test_lines_are_those_of_the_text(lines: str, said: str) -> None:
    assert retrieval.span(PARTS, lines).text == said


@each("lines", ["x", "0-3", "9-3", "-3", "1.5", "3-x"])
def test_what_are_no_lines_is_refused(lines: str) -> None:
    with pytest.raises(ContextError) as caught:
        retrieval.span(PARTS, lines)
    assert caught.value.status == 2


def test_lines_beyond_the_end_are_said_to_be_so() -> None:
    with pytest.raises(ContextError, match="the text has 20 lines"):
        retrieval.span(PARTS, "30-40")


def test_around_shows_the_first_place_and_names_the_others() -> None:
    found = retrieval.around(PARTS, "NEEDLE")
    assert "b needle" in found.text and found.first == 3
    assert found.note == "also in 1 other line: 19"
    with pytest.raises(ContextError, match="does not occur in the text"):
        retrieval.around(PARTS, "haystack")


@each("cap", [1, 6, 12, 40])
def test_around_within_a_few_tokens_keeps_the_line_itself(cap: int) -> None:
    text = "\n".join(f"line {n} says nothing" for n in range(40)).replace(
        "31 says", "31 is it, says"
    )
    found = retrieval.capped(retrieval.around(text, "31 is it"), cap, "o200k")
    assert tokens.within(found.text, cap)
    assert found.first <= 32 <= found.last
    assert found.text.split("\n")[32 - found.first].startswith("line"[: len(found.text)])
    assert cap < 12 or "line 31 is it, says nothing" in found.text


def whole(text: str) -> retrieval.Slice:
    return retrieval.Slice(text=text, first=1, last=text.count("\n") + 1)


@given(st.text(st.sampled_from("ab \n☃"), min_size=1, max_size=300), st.integers(1, 60))
def test_a_cap_is_kept_and_says_where_it_goes_on(text: str, cap: int) -> None:
    found = retrieval.capped(whole(text), cap, "o200k")
    assert tokens.within(found.text, cap)
    assert text.startswith(found.text)
    assert (found.more == 0) == (found.text == text)


@pytest.mark.usefixtures("repo")
def test_a_slice_of_a_payload_is_printed_with_what_comes_next_on_stderr(run: Script) -> None:
    body = "".join(f"line {n}\n" for n in range(1, 400))
    run("payload_store", "--topic=x", "--source=y", "--session=s", stdin=body)
    assert run("payload_store", "show", "latest", "--session=s", "--lines=120-122") == 0
    assert run.out == "line 120\nline 121\nline 122\n"
    assert run("payload_store", "show", "latest", "--session=s", "--max-tokens=50") == 0
    last = run.out.splitlines()[-1]
    assert last.startswith("line ") and tokens.within(run.out, 50)
    assert f"lines={int(last[5:]) + 1}-" in run.err
    assert run("payload_store", "show", "latest", "--session=s", "--lines=3", "--json") == 0
    found = json.loads(run.out)
    assert (found["first"], found["last"], found["text"]) == (3, 3, "line 3")
    assert run("payload_store", "show", "latest", "--session=s", "--lines=3", "--around=x") == 2


def test_a_heading_alone_is_not_all_that_fits() -> None:
    text = "## Summary\n\n" + "It is slow. " * 60 + "\nmore"
    found = retrieval.capped(whole(text), 40, "o200k")
    assert tokens.within(found.text, 40) and found.text.count("slow") > 5
    assert (found.first, found.last, found.more) == (1, 3, 3)


@pytest.mark.parametrize("way", ["--section=Part 7", "--around=takes 7 ms", "--lines=3-900"])
def test_the_rest_is_what_the_printed_command_opens(way: str, repo: Path, run: Script) -> None:
    body = "# T\n\n" + "".join(f"## Part {n}\n\n" + f"It takes {n} ms.\n" * 9 for n in range(99))
    run("payload_store", "--topic=x y", "--source=y", "--session=s", stdin=body)
    stored = Path(receipts.parse_path(run.out))
    receipt = run.out.splitlines()[0]
    run("payload_store", "--topic=z", "--source=y", "--session=s", "--path=a b.md", stdin=body)
    (repo / "sub").mkdir()
    os.chdir("sub")
    for ref, path in ((receipt, stored), ("latest", stored), ("../a b.md", Path("a b.md"))):
        assert run("payload_store", "show", ref, "--session=s", way, "--max-tokens=30") == 0
        where, *more = (line.partition(": ")[2] for line in run.err.splitlines())
        in_text, of_file = re.findall(r"(\d+)-(\d+)", where)
        shown = run.out.rstrip("\n").split("\n")
        whole = (repo / path).read_text("utf-8").splitlines()
        assert whole[int(of_file[0]) - 1 : int(of_file[1])] == shown
        assert body.splitlines()[int(in_text[0]) - 1 : int(in_text[1])] == shown
        words = shlex.split(next(line for line in more if "more lines" in line))
        script, *options = words[words.index("make") + 1 :]
        assert script == "payload_show"
        assert run("payload_store", "show", *(f"--{option}" for option in options)) == 0, run.err
        assert body.splitlines()[int(in_text[1])] == run.out.split("\n")[0]


@pytest.mark.usefixtures("repo")
def test_a_line_that_is_cut_counts_as_one_to_come(run: Script) -> None:
    run("payload_store", "--topic=x", "--source=y", "--session=s", stdin="one line " * 900)
    assert run("payload_store", "show", "latest", "--session=s", "--max-tokens=20") == 0
    assert "+1 more line: make payload_show" in run.err and " lines=1-1" in run.err
    assert run("payload_store", "show", "latest", "--session=s", "--max-tokens=20", "--json") == 0
    assert json.loads(run.out)["more"] == 1


@pytest.mark.usefixtures("repo")
def test_the_last_line_of_a_receipt_names_lines_of_the_stored_file(run: Script) -> None:
    body = "# T\n\n" + "".join(
        f"## Part {n}\n\nIt takes {n} ms in `src/p{n}.py`.\n\n" for n in range(200)
    )
    run("payload_store", "--topic=x", "--source=y", "--session=s", stdin=body)
    path = receipts.parse_path(run.out)
    left = run.out.splitlines()[-1].removeprefix("more: lines ").partition(" of ")
    first, _, last = left[2].partition("-")
    lines = Path(path).read_text("utf-8").splitlines()
    near = left[0].partition("-")
    assert int(first) <= int(near[0]) and int(near[2]) <= int(last) and int(near[2]) > int(near[0])
    assert "It takes 199 ms" in "\n".join(lines[int(first) - 1 : int(last)])
    assert lines[payloads.first_line(path) - 1] == "# T" and payloads.first_line("x.txt") == 1


@pytest.mark.usefixtures("repo")
def test_find_takes_words_that_stand_in_a_line_or_a_section(run: Script) -> None:
    body = "# T\n\n## Cache\n\nIt is slow.\nThe queue waits.\n\n## Other\n\nslow\n" + "x\n" * 900
    run("payload_store", "--topic=x", "--source=y", "--session=s", "--force", stdin=body)
    assert run("payload_store", "find", "slow is", "--json") == 0
    assert {hit["text"] for hit in json.loads(run.out)} >= {"It is slow."}
    assert run("payload_store", "find", "slow queue", "--json") == 0
    assert "Cache" in {hit["section"] for hit in json.loads(run.out)}
    assert run("payload_store", "find", "x", "--max-tokens=100") == 0
    *shown, last = run.out.splitlines()
    assert len(shown) + int(last.removeprefix("+").removesuffix(" more")) == 903
    assert tokens.within(run.out, 120)


@pytest.mark.usefixtures("repo")
def test_the_same_text_is_stored_once_and_both_receipts_point_to_it(run: Script) -> None:
    body = "It takes 52 ms. " * 200
    run("payload_store", "--topic=x", "--source=y", "--session=s", stdin=body)
    first = run.out.splitlines()[0]
    run("payload_store", "--topic=other", "--source=y", "--session=s", stdin=body)
    assert run.out.splitlines()[0] == first and "is stored already" in run.err
    run("payload_store", "--topic=other", "--source=z", "--session=s", stdin=body)
    assert run.out.splitlines()[0] != first
    run("payload_store", "list", "--session=s", "--json")
    listed = json.loads(run.out)["payloads"]
    assert [(one["topic"], one["source"]) for one in listed] == [("x", "y"), ("other", "z")]
    run("payload_store", "--topic=x", "--source=y", "--session=t", stdin=body)
    assert run.out.splitlines()[0] != first


@pytest.mark.usefixtures("repo")
def test_a_list_fits_eighty_columns_and_the_beginning_of_an_id_names_it(run: Script) -> None:
    topic = "a very long topic that says more than anybody wants to read in a table " * 2
    run(
        "payload_store",
        f"--topic={topic}",
        "--source=" + "s" * 40,
        "--session=s",
        "--force",
        stdin="x",
    )
    run("payload_store", "list", "--session=s")
    lines = run.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert run("payload_store", "show", lines[1].split()[0], "--part=content") == 0
    assert run.out == "x"


@pytest.mark.usefixtures("repo")
def test_a_hit_too_long_for_the_room_is_cut_and_the_others_are_counted(run: Script) -> None:
    body = "needle " + "long words " * 60 + "\nneedle again\n"
    run("payload_store", "--topic=x", "--source=y", "--session=s", "--force", stdin=body)
    assert run("payload_store", "find", "needle", "--max-tokens=40") == 0
    hit, rest = run.out.splitlines()
    assert (
        "needle long words" in hit and hit.endswith("…") and rest == "+2 more"
    )  # its summary says it, too
    assert tokens.within(run.out, 46)


@pytest.mark.usefixtures("repo")
def test_a_search_that_takes_seconds_says_how_far_it_is(
    run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        options = ["--topic=x", "--source=y", "--session=s", "--force"]
        run("payload_store", *options, stdin=f"needle {number}\n")
    clock = itertools.count(step=2)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    assert run("payload_store", "find", "needle") == 0
    assert "payload_store: 2 of 3 payloads searched ..." in run.err
    assert len(run.out.splitlines()) == 6


def test_around_a_text_in_a_long_line_shows_the_text_however_few_the_tokens() -> None:
    words = " ".join(f"word{n}" for n in range(300))
    content = "\n".join(["plain"] * 40 + [f"{words} NEEDLE {words}"] + ["plain"] * 40)
    for cap in (20, 60, 400):
        part = retrieval.capped(retrieval.around(content, "needle"), cap, "o200k")
        assert "NEEDLE" in part.text and (part.first, part.last) == (41, 41)
