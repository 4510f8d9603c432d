"""Storing and reading payloads, in small sessions and in one of 10,000."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from measure import Case
from places import SCRIPTS, script


def payload_cases(folder: Path) -> list[Case]:
    """Storing 5,000 tokens and 1 MB; adding, listing and searching at 10, 1,000 and 10,000."""
    os.environ["SESSION_ID"] = "bench"
    report = folder / "report.md"
    paragraph = (
        "The parser in `src/app.py:42` takes 52 ms for 4,500 lines. It must not be slower.\n"
    )
    sections = "".join(f"\n## Part {n}\n\n{paragraph * 20}" for n in range(11))
    report.write_text(f"# Report\n{sections}", encoding="utf-8")
    large = folder / "large.md"
    large.write_text(f"# Report\n{sections * 60}"[: 1 << 20], encoding="utf-8")
    store = script("payload_store.py", "--topic=bench", "--source=bench")
    found = [
        Case("payload_store (5k tokens)", [*store, "--session=new"], 6, stdin=str(report)),
        Case("payload_store (1 MB)", [*store, "--session=large"], 8, stdin=str(large)),
        Case("payload_store passes through", store, 2.5, stdin="contextkit.txt"),
    ]
    Path("contextkit.txt").write_text("short", encoding="utf-8")
    for count in (10, 1_000, 10_000):
        session = f"s{count}"
        fill(folder, session, count)
        at = f"at {count:,}"
        found += [
            Case(f"payload_store {at}", [*store, f"--session={session}"], stdin=str(report)),
            Case(f"payload_list {at}", script("payload_store.py", "list", f"--session={session}")),
            Case(f"payload_find {at}",
                 script("payload_store.py", "find", "--query=app.py", f"--session={session}")),
        ]  # fmt: skip
    return found


def fill(folder: Path, session: str, count: int) -> None:
    """A session with `count` payloads, written by the library itself."""
    sys.path.insert(0, str(SCRIPTS))
    from contextkit.base.layout import Layout
    from contextkit.payloads.documents import manifest
    from contextkit.payloads.documents import store as payloads

    layout = Layout(str(folder))
    payloads.prepare_store(layout)
    into = Path(payloads.folder(layout, session))
    into.mkdir()
    entries = []
    for number in range(count):
        payload = payloads.Payload(
            topic=f"topic {number}", source="bench", created_at="2025-10-23T18:05:00Z", tokens=9,
            summary="One sentence. Another one.", content=f"See src/app.py:{number} for more.\n",
        )  # fmt: skip
        path = into / f"20251023-180500-topic-{number}.md"
        path.write_text(payloads.render(payload), encoding="utf-8")
        entries.append(payloads.entry(str(path), payload))
    head = {"sessionId": session, "createdAt": "2025-10-23T18:05:00Z"}
    text = manifest.render(head, "payloads", entries, "totalTokensStored")
    (into / payloads.MANIFEST).write_text(text, encoding="utf-8")
