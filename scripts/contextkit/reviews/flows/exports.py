"""A run's findings for the places where reviews are read: code scanning, a pull request, a comment.

sarif       SARIF 2.1.0, for code scanning
github      workflow commands, which become annotations on a pull request
markdown    a comment of at most 65,000 characters
"""

from __future__ import annotations

from contextkit.base import formats, names
from contextkit.base.layout import Layout
from contextkit.reviews.documents import runs
from contextkit.reviews.flows import agent_files, history, reports, synthesis
from contextkit.reviews.flows.identity import file_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"P0": "error", "P1": "error", "P2": "warning"}  # SARIF levels; all others are notes
_MOST = 65_000  # characters in a comment; GitHub accepts 65,536
_RULES = {
    "P0": "It breaks something that matters",
    "P1": "It must be fixed before this goes on",
    "P2": "It should be fixed",
    "P3": "It could be better",
    "IMP": "An improvement",
    "?": "Of unknown severity",
}


def export(layout: Layout, identity: str, form: str) -> str:
    """Render the findings of a run, marking dismissed ones, in one of the forms above."""
    data = _data(layout, identity)
    make = {"sarif": _sarif, "github": _github, "markdown": _markdown}[form]
    return make(data)


def _data(layout: Layout, identity: str) -> dict[str, Any]:
    """Return the current findings.json of a run without writing it."""
    asked = agent_files.of_run(layout, identity)
    sources = [synthesis.source_of(one) for one in agent_files.read(layout, asked)]
    found = synthesis.combined(sources)
    data = synthesis.document(reports.about(layout, asked, ""), sources, found)
    history.annotate(layout, runs.load(layout, asked.run), data, found)
    return data


def _all(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [*data["findings"], *({**one, "severity": "IMP"} for one in data["improvements"])]


def _place(one: dict[str, Any]) -> tuple[str, int]:
    """Return the file, relative to the root, and line of a finding; ("", 0) if it names none."""
    places = [row["place"] for row in one.get("provenance", []) if row["place"]]
    place = str(places[0]) if places else ""
    file = file_of(place)
    inside = not file.startswith("/") and ".." not in file.split("/")
    return (file.removeprefix("./"), history.line_of(place)) if inside else ("", 0)


def _said(one: dict[str, Any]) -> str:
    """Return the title and the words of each agent that found it."""
    words = [str(text) for text in one.get("descriptions", {}).values()]
    return "\n".join([str(one["title"]), *dict.fromkeys(filter(None, words))])


def _sarif(data: dict[str, Any]) -> str:
    found = _all(data)
    used = [severity for severity in _RULES if any(one["severity"] == severity for one in found)]
    driver = {
        "name": "contextkit",
        "informationUri": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html",
        "rules": [{"id": one, "shortDescription": {"text": _RULES[one]}} for one in used],
    }
    run = {
        "tool": {"driver": driver},
        "results": [_result(one, used) for one in found],
        "properties": {"run": data.get("run", ""), "verdict": data["verdict"]},
    }
    return formats.to_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _result(one: dict[str, Any], rules: list[str]) -> dict[str, object]:
    file, line = _place(one)
    found: dict[str, object] = {
        "ruleId": one["severity"],
        "ruleIndex": rules.index(one["severity"]),
        "level": _LEVELS.get(one["severity"], "note"),
        "message": {"text": _said(one)},
        "partialFingerprints": {"contextkit/v1": one.get("identity", one["key"])},
        "properties": {"agents": one["agents"], "key": one["key"], "since": one.get("since", "")},
    }
    if file:
        place: dict[str, object] = {"artifactLocation": {"uri": _uri(file)}}
        place |= {"region": {"startLine": line}} if line else {}
        found["locations"] = [{"physicalLocation": place}]
    if one.get("dismissed"):
        found["suppressions"] = [{"kind": "external", "justification": one["dismissed"]}]
    return found


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path, errors="surrogateescape")


def _github(data: dict[str, Any]) -> str:
    """Return a workflow command for each finding that is not dismissed."""
    lines = []
    for one in _all(data):
        if one.get("dismissed"):
            continue
        file, line = _place(one)
        level = {"error": "error", "warning": "warning"}.get(_LEVELS.get(one["severity"], ""))
        title = f"{one['severity']} {', '.join(one['agents'])}"
        fields = {"file": file, "line": str(line) if line else "", "title": title}
        told = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in fields.items() if value)
        lines.append(f"::{level or 'notice'} {told}::{_escaped(_said(one))}")
    return "\n".join(lines)


def _escaped(text: str, more: str = "") -> str:
    """Escape a text for a GitHub workflow command: one line that nothing ends early."""
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return "".join(char if char.isprintable() else " " for char in text)


def _markdown(data: dict[str, Any]) -> str:
    """Return a comment: the verdict, one line per finding that fits, and the count of the rest."""
    found = _all(data)
    shown = [one for one in found if not one.get("dismissed")]
    launched, completed, failed = synthesis.numbers(data)
    many = "finding" if len(shown) == 1 else "findings"
    head = [
        f"## Review: {data['verdict']}",
        "",
        f"{completed} of {launched} agents, {failed} failed; {len(shown)} {many}"
        f" ({sum(one.get('since') == 'new' for one in shown)} new), {len(data['fixed'])} fixed,"
        f" {len(found) - len(shown)} dismissed.",
        "",
    ]
    text = "\n".join(head)
    for number, one in enumerate(shown):
        file, line = _place(one)
        place = f" `{_plain(file)}{f':{line}' if line else ''}`" if file else ""
        since = f", {one['since']}" if one.get("since") else ""
        words = [f"  {_plain(words)}" for words in _said(one).split("\n")[1:]]
        item = [f"- **{one['severity']}**{place} {_plain(one['title'])}"
                f" ({_plain(', '.join(one['agents']))}{since})", *words]  # fmt: skip
        more = "\n".join(item) + "\n"
        rest = f"\n… {len(shown) - number} more: make verdict_show run={data.get('run', '')}\n"
        if len(text) + len(more) + len(rest) > _MOST:
            return text + rest
        text += more
    return text


def _plain(text: object) -> str:
    """Return a text on one line that starts no mention, HTML or code."""
    line = names.one_line(str(text))
    for char in "\\`*_<>[]|#":
        line = line.replace(char, f"\\{char}") if char != "`" else line.replace(char, "'")
    return line.replace("@", "@\u200b")
