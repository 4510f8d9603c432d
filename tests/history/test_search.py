"""Search: what the index answers is what a scan of every document answers."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import SCRIPTS, Script
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.history.flows import search
from hypothesis import given
from hypothesis import strategies as st
from test_ledger import TOKEN

WORDS = st.sampled_from(
    ["race", "Race", "refresh", "re", "über", "uber", "naïve", "日本", "本", "x_y", "x", "y", "𝔘",
     "a-b", "ab", "٣", "½", "ﬁx", "fix", "Straße", "AND", "OR", "NOT", "NEAR", '"', "*",
     "token", "(", "²"]
)  # fmt: skip
TEXTS = st.lists(WORDS | st.text(max_size=6), max_size=12).map(" ".join)
PHRASES = st.tuples(WORDS, WORDS).map(lambda pair: f'"{pair[0]} {pair[1]}"')
TERMS = WORDS | WORDS.map(lambda word: f"{word}*") | PHRASES
QUERIES = st.lists(TERMS, min_size=1, max_size=3).map(" ".join)


def put(path: str, text: str) -> None:
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def finding(name: str, text: str) -> None:
    put(f".temp/memory/findings/{name}.md", text)


def scan(layout: Layout, q: str, **narrow: str) -> list[str]:
    """The matching addresses, sorted: every document is read, without an index."""
    catalog = search.Catalog(layout)
    since = search.moment(narrow.pop("since", ""))
    return sorted(
        one["ref"]
        for path, _, _ in catalog.files()
        for one in catalog.read(path)
        if matches(search.folded(one["text"]), search.terms_of(q))
        if all(one[name] == value for name, value in narrow.items()) and one["at"] >= since
    )


def matches(body: str, terms: tuple[search.Term, ...]) -> bool:
    """Whether a folded text has all the terms: words in a row, the last perhaps only begun."""
    return all(f" {' '.join(t.words)}{'' if t.prefix else ' '}" in f" {body} " for t in terms)


def found(q: str, **narrow: str) -> list[str]:
    layout = Layout()
    hits, count = search.search(layout, q, **narrow)
    refs = sorted(one.ref for one in hits)
    assert count == len(refs)
    assert refs == scan(layout, q, **narrow)
    return refs


@given(st.lists(TEXTS, min_size=1, max_size=6), QUERIES)
def test_the_index_finds_what_a_scan_finds(texts: list[str], q: str) -> None:
    bodies = [search.folded(text) for text in texts]
    try:
        terms = search.terms_of(q)
    except ContextError:
        return
    every = dict.fromkeys(("kind", "at", "session", "branch", "since"), "")

    class Texts(search.Catalog):
        def files(self) -> set[search.State]:
            return {(str(number), 0, 0) for number in range(len(texts))}

        def read(self, path: str) -> Iterator[search.Document]:
            yield {**every, "path": path, "ref": f"plan:{path}", "text": texts[int(path)]}

    wanted = {**every, "words": search._in_fts(terms)}
    hits = search._ask(":memory:", Texts(Layout()), wanted)
    by_scan = {f"plan:{n}" for n, body in enumerate(bodies) if matches(body, terms)}
    assert {hit["ref"] for hit in hits} == by_scan


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert search.folded(search.folded(text)) == search.folded(text)


def test_words_phrases_and_beginnings_are_found(repo: Path) -> None:
    finding("a_20251001T000000", "# The race\n\nA token refresh race.\n")
    finding("b_20251001T000001", "# Other\n\nRefresh the token: a race?\n")
    a, b = "finding:a_20251001T000000", "finding:b_20251001T000001"
    assert found("race token") == [a, b]
    assert found('"token refresh"') == [a]
    assert found("refr* ÓTHER") == [b]
    assert found("nowhere") == []


def test_what_is_new_changed_or_gone_is_seen_at_once(repo: Path) -> None:
    finding("a_20251001T000000", "one")
    assert found("one") == ["finding:a_20251001T000000"]
    finding("b_20251001T000001", "one too")
    finding("a_20251001T000000", "three words now")
    assert found("one") == ["finding:b_20251001T000001"]
    Path(".temp/memory/findings/b_20251001T000001.md").unlink()
    assert found("one") == []
    assert found("three") == ["finding:a_20251001T000000"]


def test_a_broken_index_is_made_again(repo: Path) -> None:
    finding("a_20251001T000000", "one")
    assert found("one")
    place = Path(Layout().index)
    for broken in (b"", b"no database", place.read_bytes()[:5000], b"\0" * 9000):
        place.write_bytes(broken)
        assert found("one") == ["finding:a_20251001T000000"]
    place.unlink(missing_ok=True)
    assert found("one") == ["finding:a_20251001T000000"]


def test_an_index_of_another_format_is_made_again(repo: Path) -> None:
    finding("a_20251001T000000", "one")
    assert found("one")
    base = sqlite3.connect(Layout().index)
    base.execute("PRAGMA user_version=99")
    base.execute("DROP TABLE documents")
    base.commit()
    base.close()
    assert found("one") == ["finding:a_20251001T000000"]


def test_where_no_index_can_be_kept_it_answers_all_the_same(repo: Path) -> None:
    finding("a_20251001T000000", "one")
    put(".contextkit", "a file in the way")
    assert found("one") == ["finding:a_20251001T000000"]


def test_two_at_once_are_fine(repo: Path) -> None:
    for number in range(60):
        finding(f"a_20251001T0000{number:02}", f"one number{number}")
    asking = [sys.executable, str(SCRIPTS / "context.py"), "search", "--query=one", "--json"]
    both = [subprocess.Popen(asking, stdout=subprocess.PIPE) for _ in range(4)]
    answers = {one.communicate()[0] for one in both}
    assert len(answers) == 1
    assert answers.pop().count(b'"ref"') == search.MOST


def test_it_is_narrowed_down(repo: Path) -> None:
    put("shared/payloads/s-1/20251001-000000-a.md", "one")
    put("shared/payloads/s-2/20251020-000000-b.md", "one")
    put("parallelus/manuals/capsules/feature/demo/20251010T000000Z.md", "one")
    old, new = "payload:s-1/20251001-000000-a", "payload:s-2/20251020-000000-b"
    assert found("one", kind="payload") == [old, new]
    assert found("one", session="s-1") == [old]
    assert found("one", branch="feature/demo") == ["capsule:feature/demo/20251010T000000Z"]
    assert found("one", since="2025-10-15") == [new]
    assert found("one", since="7d", kind="payload") == [new]
    for narrow in ({"kind": "nothing"}, {"since": "yesterday"}):
        with pytest.raises(ContextError):
            found("one", **narrow)


def test_what_ended_or_was_archived_is_found_too(repo: Path) -> None:
    put(".contextkit/ended/s-1@20251001T000000Z/20251001-000000-a.md", "one")
    put(".temp/memory/archive/t/findings/a_20251001T000000.md", "one")
    assert found("one") == ["finding:a_20251001T000000", "payload:s-1/20251001-000000-a"]


def test_an_answer_says_where(repo: Path, run: Script) -> None:
    finding("a_20251001T000000", "# Report\n\n## Auth\n\nfine\n\nThe token Race is here.\n")
    assert run("context", "search", "--query=race tok*") == 0
    assert run.out == (
        "finding:a_20251001T000000  .temp/memory/findings/a_20251001T000000.md:7 § Auth\n"
        "  The token Race is here.\n"
    )


def test_nothing_found_is_a_negative_answer(repo: Path, run: Script) -> None:
    assert run("context", "search", "--query=race") == 1
    assert run.out == ""
    assert run("context", "search", "--query=!!!") == 2


@pytest.mark.parametrize("q", ["key", "the", TOKEN[:9] + "*"])
def test_a_snippet_has_no_secret(repo: Path, run: Script, q: str) -> None:
    finding("a_20251001T000000", f"the key is {TOKEN} here\n")
    run("context", "search", f"--query={q}")
    assert TOKEN[6:20] not in run.out


def test_the_new_comes_before_the_old(repo: Path) -> None:
    for name in ("a_20241001T000000", "b_20251001T000000"):
        finding(name, "one word\n")
    hits = [*search.search(Layout(), "word")[0]]
    assert [one.ref for one in hits] == ["finding:b_20251001T000000", "finding:a_20241001T000000"]
    assert hits[0].score > hits[1].score


def test_the_line_below_a_secret_of_many_lines_is_that_of_the_file(repo: Path) -> None:
    key = "\n".join(f"MIIEpAIBAAKCAQEA7bq{n}xyzABCDEFGHIJKLMNOPQRSTUVWXYZab" for n in range(9))
    name = "RSA PRIVATE " + "KEY"
    finding("key", f"# Key\n-----BEGIN {name}-----\n{key}\n-----END {name}-----\na needle\n")
    (hit,) = search.search(Layout(), "needle")[0]
    assert hit.line == 13 and "MII" not in hit.snippet
