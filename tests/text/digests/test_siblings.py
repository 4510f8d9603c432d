"""Rows, entries and elements of one shape: their ends, and the ones that differ, by name."""

from __future__ import annotations

import json
import string

import pytest
from conftest import each
from contextkit.text.digests import engine


def said(text: str, cap: int = 220) -> str:
    return engine.digest(text, cap).summary


WORDS = "building the parts\nall of them are new\n"
STATES = "".join(
    f"Route        # calls   # lost\n------------|--------|--------\n"
    f"GET /a      {n * 20:8}  {n * 3:7}\nGET /b      {n * 10:8}  {n:7}\n"
    f"GET /c      {n * 9:8}  {0:7}\n"
    f"GET /d      {n * 8:8}  {0:7}\nGET /e      {n * 7:8}  {0:7}\n\nstill at work\n\n"
    for n in (1, 2, 3)
)


def test_of_a_table_that_is_printed_again_the_last_one_is_told() -> None:
    assert "(GET /a); next 20" not in said(STATES) and "40 (GET /a)" not in said(STATES)


@each(
    "text",
    [
        "".join(f"{n}) first {n}\n" for n in range(9)),  # numbers of lines
        "".join(f"a.py:{n}:{n * 7}: error: no {n} in {n * 3}\n" for n in range(9)),
        "".join(
            f"step {n} was {n} of the {n * 7} that we all had to take here now\n" for n in range(9)
        ),
        "".join(f"10:0{n}:01 INFO served {n * 7} in {n * 5 % 9} ms\n" for n in range(9)),
    ],
)
def test_lines_with_numbers_that_say_something_else_are_no_table(text: str) -> None:
    assert "rows by" not in said(f"{WORDS}{text}")


ORDERS = "no,buyer,day,sum,coin\n" + "".join(
    f"A-{n},B{n % 9},2026-01-{n % 28 + 1:02},{n * 3 % 50 + 7}.5,EUR\n" for n in range(60)
)


def test_of_rows_the_one_with_a_rare_value_and_a_name_that_stands_twice_are_told() -> None:
    rare = said(ORDERS + "A-77,B4,2026-02-11,9100.5,YEN\n")
    assert "A-77 - buyer: B4, day: 2026-02-11, sum: 9100.5, coin: YEN" in rare
    twice = said(ORDERS + "A-31,B8,2026-01-09,12.5,EUR\n")
    assert "A-31 - buyer: B4, day: 2026-01-04" in twice and "B8, day: 2026-01-09" in twice


SERVICES = {
    name: {
        "image": f"images.example/{name}:2.{at}",
        "wait": 30,
        "env": {"STORE": f"pg://store-one:5432/{name}", "LOG": "info"},
    }
    for at, name in enumerate("ant bee cat dog eel fox gnu hen ibis jay kit lark".split())
}


@each(
    ("key", "value", "told"),
    [
        ("wait", 4000, "4000 x1"),
        ("env", {"STORE": "pg://try-two:5432/fox", "LOG": "info"}, "pg://try-two:5432/fox"),
        ("patch", "https://x.example/p.tgz", "fox - patch: https://x.example/p.tgz"),
    ],
)
def test_of_objects_by_name_the_one_that_leaves_the_pattern_is_told(
    key: str, value: object, told: str
) -> None:
    text = json.dumps({"all": SERVICES | {"fox": SERVICES["fox"] | {key: value}}}, indent=1)
    assert told in said(text) and "fox" in said(text), said(text)


JOBS = [
    {"kind": "Job", "metadata": {"name": f"nightly-{n}"}, "spec": {"limit": 6},
     "status": {"failed": 7, "conditions": [{"type": "Failed", "reason": "Backoff"}]}
     if n == 23 else {"succeeded": 1}}
    for n in range(40)
]  # fmt: skip


def test_of_objects_in_a_list_the_one_that_failed_comes_first_with_its_name() -> None:
    digest = engine.digest(json.dumps({"items": JOBS}, indent=1), 200)
    assert digest.key.startswith("nightly-23 - ")
    assert all(one in digest.key for one in ("status.failed: 7", "reason: Backoff"))
    line = json.dumps({"items": JOBS}, indent=1).split("\n")[digest.at - 1]
    assert "nightly-23" in line


def test_yaml_is_told_as_json_is() -> None:
    yaml = pytest.importorskip("yaml")
    whole = yaml.safe_dump({"items": JOBS})
    several = "---\n".join(map(yaml.safe_dump, JOBS))
    for text in (whole, several, f"# made by hand\n{whole}"):
        digest = engine.digest(text, 200)
        assert (digest.kind, digest.key.partition(" - ")[0]) == ("json", "nightly-23")
    for text in (f"{whole}: [\n", "Open:\n- who? (Mara)\nOpen:\n- why?\n" * 9):
        assert engine.digest(text, 200).kind != "json"  # what cannot be read, or only looks like it


def test_what_stands_behind_the_mark_of_a_document_is_not_lost() -> None:
    pytest.importorskip("yaml")
    page = "at:\n  name: one\n  size: 1\n  when: now\n"
    assert "list of 2" in engine.digest(f"{page}--- # the second\n{page}", 200).summary
    assert "name: two" in engine.digest(f"{page}--- {{name: two}}\n---\n{page}", 200).summary


def test_documents_of_yaml_are_read_as_long_as_they_take_a_second() -> None:
    pytest.importorskip("yaml")
    page = "at:\n" + "".join(f"  key{n}: {n}\n" for n in range(900)) + "---\n"
    assert engine.digest(page * 20, 200).kind == "json"
    assert engine.digest(page * 40, 200).kind != "json"


def test_a_report_whose_lists_look_like_yaml_is_a_report() -> None:
    risks = "".join(f"- risk: {what}\n  owner: ann\n  mend: wait\n" for what in ("loss", "delay"))
    text = f"# Notes\n\n## Risks\n{risks}\n## Decision\nWe migrate on Friday. It takes an hour.\n"
    assert engine.digest(text, 200).kind == "report"


UNIT = "[Unit]\nDescription=Shop\nOnFailure=notify@x.service\n\n[Service]\nRestart=on-failure\n"
TOML = (
    '# Of the shop.\n[tool.shop]\nretries = 3\non-error = "critical"\n'
    "[[tool.shop.till]]\nat = 1979-05-27\n"
)


def test_sentences_that_begin_with_a_number_are_no_counts_of_words() -> None:
    text = "52 of them are late.\n\n3 of them are lost.\n\n3 of them are here.\n"
    assert engine.digest(text, 60).kind != "table"


def test_settings_are_told_by_section_and_nothing_in_them_has_failed() -> None:
    for text in (UNIT, f"; made by hand\ncolor = no\n{UNIT}"):
        digest = engine.digest(text, 200)
        assert digest.kind == "json" and "OnFailure: notify@x.service" in digest.summary
        assert "failed" not in digest.summary
    said = engine.digest(TOML, 200)
    assert said.kind == "json" and "retries: 3, on-error: critical" in said.summary
    assert engine.digest("[1/3] build\na = b failed\n" * 9, 200).kind != "json"
    log = "[compile]\ncc -O2 -c a.c\na.c:1: error: x undeclared\nopt = 1\n[link]\nld = lld\n"
    assert engine.digest(log, 200).kind == "log"  # some lines of it are no setting


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[Service]\nExecStart=/bin/web\nExecStart=/bin/mail\nA=1\n", "/bin/web, /bin/mail"),
        ("[Peer]\nEndpoint = one:1\n\n[Peer]\nEndpoint = two:2\n", "two:2"),
        ("[a]\ncolor = #fff\nneeds =\n    x >= 2 ; python_version < '3.8'\n", "'3.8'"),
        ("[a]\ncolor = #fff\nneeds =\n    x >= 2 ; python_version < '3.8'\n", "color: #fff"),
        ("[user]\n\tname = Ann\n\temail = a@b.c\n[core]\n\tbare\n", "name: Ann, email: a@b.c"),
        ("at = 1\non = 2\n[x]\nnames = [\n  \"one\",  # two\n\"three\",\n]\nn = 2\n", '"three",'),
        ('[x]\ntext = """\n[y]\nb = 1\n"""\nn = 2\n', "object of 1 keys: x"),
        ("[[bin]]\nname = \"a\"\n[[bin]]\nname = \"b\"\n[z]\nn = 1\n", "name: b"),
        ("n = 1\n  [x.y]\n  m = 2\n[z]\nn = 1\n", "object of 3 keys: n, x.y, z"),
        ("[Desktop Entry]\nName[de]=Laden\nserver string = x of y\n", "Name[de]: Laden"),
        ("format = %(asctime)s\n[z]\nn = 50%\n", "%(asctime)s"),
    ],
)  # fmt: skip
def test_of_settings_every_value_is_told_whole(text: str, said: str) -> None:
    digest = engine.digest(text, 200)
    assert digest.kind == "json" and said in digest.summary


@each(
    "text",
    [
        "[build]\nstatus = done\nname = a\n\n[test]\nstatus = failed\nname = b\n",
        "build:\n  status: done\n  name: a\n\nship:\n  status: failed\n  name: b\n",
        '{\n"build": {"status": "done", "name": "a"},\n"x": 1,\n"y": 2, "ship":\n'
        '{"status": "failed", "name": "b"}}\n',
        '{\n"\\u00e4": {"status": "done",\n "name": "a"},\n\n"ship": {\n"status": "failed"}}\n',
        "- status: done\n  name: a\n  at:\n    n: 1\n\n- status: failed\n  name: b\n",
        "[step one]\nstatus = done\n\n[step two]\n\nstatus = failed\nname = b\n",
    ],
)
def test_a_value_is_told_with_its_own_line_though_others_have_its_name(text: str) -> None:
    digest = engine.digest(text, 200)
    rows = [(row.line, row.finding) for row in digest.rows] + [(digest.at, digest.key)]
    assert [line for line, said in rows if "failed" in said] == [5 if '"x"' in text else 6]


def test_the_last_entry_of_a_list_is_told_with_its_line() -> None:
    rows = "".join(f'[[till]]\nname = "t{n}"\nat = {n}\n' for n in range(30))
    (line,) = [row.line for row in engine.digest(rows, 200).rows if row.aspect == "till[29]"]
    assert line == 89
    keys = json.dumps([{"Name[de]": "Laden", "Name[fr]": [{"a[x]": 1}]}])
    assert "Name[de]: Laden" in engine.digest(keys, 200).summary  # they look like places in lists


def test_a_page_of_documentation_tells_of_no_failure() -> None:
    page = "Help on module store:\n\nNAME\n    store\n\nDESCRIPTION\n    Keeps orders.\n\n"
    names = "".join(f"    get-{n}      Raises KeyError if the read failed.\n" for n in "abcde")
    digest = engine.digest(f"{page}FUNCTIONS\n{names}", 200)
    assert digest.kind == "help" and "failing" not in digest.summary
    assert not any(row.aspect == "failed" for row in digest.rows)


def test_of_elements_of_xml_only_what_stands_in_them_is_told() -> None:
    rows = "".join(f'<item id="{n}"><a>{n}</a></item>\n' for n in range(20))
    assert "<lines>" not in engine.digest(f'<run tool="x">\n{rows}</run>\n', 300).summary


def test_of_elements_of_xml_the_one_that_leaves_the_pattern_is_told() -> None:
    rows = [f'<pump id="P{n}"><seen>2026-05-04T0{n % 9}:00</seen><oil>{70 + n % 9}</oil></pump>'
            for n in range(40)]  # fmt: skip
    rows[23] = '<pump id="P23"><seen>2026-04-30T01:00</seen><oil>3</oil></pump>'
    text = said("<pumps>\n" + "\n".join(rows) + "\n</pumps>")
    assert "2026-04-30T01:00" in text and "3 (P23) to 78" in text and "<>" not in text


def test_of_fields_in_blocks_the_states_are_told_with_the_block() -> None:
    block = (
        "  {name}:\n    Image:  r.example/{name}\n    State:  Busy\n      Reason:  {why}\n"
        "    Fit:  True\n"
    )
    text = "Name:  shop\nParts:\n" + "".join(
        block.format(name=name, why="RanDry" if name == "tap" else "none")
        for name in ("a", "tap", "c", "d")
    )
    assert "Parts › tap › State Busy › Reason RanDry" in said(text)


def test_a_test_that_compares_two_values_changes_no_file() -> None:
    pair = "--- wanted\n+++ got\n@@ -1 +1 @@\n-a b c\n+a b d\n"
    assert "file changed" not in said(
        f"1 run, 1 failure\n\n  1) Failure:\nT#test_x [t.rb:4]:\n{pair}"
    )
    assert "1 file changed" in said(pair.replace("wanted", "a.txt").replace("got", "a.txt"))


def test_tap_is_told_with_its_own_counts_and_what_stands_below_a_failure() -> None:
    oks = "".join(f"ok {n} pump {n}\n" for n in range(1, 30))
    text = f"TAP version 13\n{oks}not ok 30 valve\n# (in file v.t, line 8)\n# valve: STUCK at 7\n"
    assert "valve: valve: STUCK at 7 (v.t:8)" in said(text)
    assert "1 failed, 29 passed of 30" in said(text)
    own = "# tests 31\n# pass 29\n# fail 1\n# cancelled 1\n# skipped 0\n"
    assert "1 failed, 1 cancelled, 29 passed of 31" in said(text + own)


@each(
    ("value", "said"),
    [
        ({"names": ["alpha", "beta"]}, "names: list of 2: 2 texts; alpha, beta"),
        ({"names": [f"w{n}" for n in range(9)]}, "w6, w7 …"),
        ({**{f"key{n}": n for n in range(9)}, "status": "failed"}, "values: status: failed, key0"),
        ({"zeta": 1, "status": "failed", "beta": 2}, "zeta: 1, status: failed, beta: 2"),
        (
            [{"name": f"n{n}", **({"why": f"because {n}"} if n in (3, 9) else {})}
             for n in range(40)],
            "entries: n3 - why: because 3; n9 - why: because 9",
        ),
    ],
)  # fmt: skip
def test_what_decides_and_what_differs_is_told_first(value: object, said: str) -> None:
    assert said in engine.digest(json.dumps(value), 300).summary


def test_of_entries_that_all_differ_none_is_told_as_odd() -> None:
    rows = [{"name": f"n{n}", f"k{n}": f"odd value {n}"} for n in range(40)]
    assert "n7 - k7" not in engine.digest(json.dumps(rows), 900).summary


@each("reason", ["", "no disk"])
def test_entries_that_failed_alike_are_named_once_and_counted(reason: str) -> None:
    jobs = [{"name": name, "state": "ok", "reason": ""} for name in string.ascii_lowercase]
    for job in jobs[3:9]:
        job |= {"state": "failed", "reason": reason}
    because = f", reason: {reason}" if reason else ""
    assert f"d, e, f, g, h, i - state: failed{because} (x6)" in said(json.dumps(jobs))
    for job, name in zip(jobs[3:], ("api eu-1", "web eu-2", "db us-1"), strict=False):
        job["name"] = name
    assert "api eu-1, web eu-2, db us-1, g, h, i - state: failed" in said(json.dumps(jobs))


def test_of_many_entries_that_failed_the_first_are_named() -> None:
    jobs = [{"name": f"job-{n:03}", "state": "failed" if n < 90 else "ok"} for n in range(300)]
    key = engine.digest(json.dumps(jobs), 220).key
    assert key.startswith("job-000, job-001, ") and key.endswith("… - state: failed (x90)")
