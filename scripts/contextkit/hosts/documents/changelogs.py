"""Parse a changelog: its sections, and the entries that an older one lacks."""

from __future__ import annotations


def between(old: str, new: str) -> list[str]:
    """Return the entries of `new` that `old` lacks, as lines under their headings."""
    known = {_plain(entry) for _, entries in sections(old) for entry in entries}
    lines: list[str] = []
    for title, entries in sections(new):
        fresh = [entry for entry in entries if _plain(entry) not in known]
        if fresh:
            lines += [title, *(line for entry in fresh for line in entry.split("\n"))]
    return lines


def section(text: str, version: str) -> str:
    """Return the entries of one version, without its heading; empty if it has none."""
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        if line.startswith("## "):
            inside = line[3:].split()[:1] == [version]
        elif inside:
            lines.append(line)
    return "\n".join(lines).strip("\n")


def sections(text: str) -> list[tuple[str, list[str]]]:
    """Return (title, entries) of each version; an entry is a list item with its lines."""
    found: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if line.startswith("## "):
            found.append((line[3:].strip(), []))
        elif found and line.startswith("- "):
            found[-1][1].append(line.rstrip())
        elif found and found[-1][1] and line.startswith("  ") and line.strip():
            found[-1][1][-1] += "\n" + line.rstrip()
    return found


def _plain(entry: str) -> str:
    """Join an entry's lines, so that rewrapping does not make it a new entry."""
    return " ".join(entry.split())
