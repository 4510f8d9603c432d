"""What sharing costs: pushes and pulls of 1 to 1,000 simulated machines against real servers (`git
daemon`, SeaweedFS as S3) and a folder, and a push of 1,000 new documents to each.

    make bench_machines

Prints seconds, requests as the engine counts them, and bytes, and fits how they grow.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in ("../../scripts", "../machines", "..", "."):
    sys.path.insert(0, str(HERE / folder))

import measure  # noqa: E402
from contextkit.base import files, names  # noqa: E402
from contextkit.machines.documents import manifests  # noqa: E402
from contextkit.machines.flows import remotes  # noqa: E402
from contextkit.machines.flows.engines import Engine, Sending  # noqa: E402
from git_servers import bare, by_daemon  # noqa: E402
from simulated_machines import Machine  # noqa: E402

COUNTS = (1, 10, 100, 1000)
DOCUMENTS = 1000
TEXT = (
    "# Finding {n}\n\n" + "The cache is read before the lock is taken, in src/cache.py:{n}.\n" * 30
)


def seconds(action: str, machine: Machine) -> float:
    start = time.perf_counter()
    getattr(machine, action)()
    return time.perf_counter() - start


def busy() -> float:
    """Seconds of the processor that this process and those it waited for have taken."""
    return sum(os.times()[:4])


def populate(engine: Engine, count: int) -> None:
    """As many machines as `count` on a remote, with a document each, as each would push it."""
    for number in range(count):
        machine = manifests.new_id()
        data = TEXT.format(n=number).encode()
        digest = names.sha256(data)
        entry = manifests.Entry(
            name=f"finding/m{number}_20261122T100000.md", sha256=digest, bytes=len(data),
            at="2026-11-22T10:00:00Z", count=1,
        )  # fmt: skip
        manifest = manifests.render(machine, 1, [entry])
        packed = manifests.pack(manifest)
        head = manifests.render_head(
            manifests.Head(machine=machine, name=f"m{number}", number=1,
                           digest=names.sha256(packed), at="2026-11-22T10:00:00Z", documents=1,
                           bytes=len(data), chain=(names.sha256(packed),))
        )  # fmt: skip
        key = manifests.manifest_key(machine, 1)
        objects = {manifests.object_key(digest): manifests.pack(data)}
        keep = frozenset([*objects, key])
        engine.put(Sending(machine, objects, (key, packed), head, keep, ""))


def growth(points: list[tuple[int, float]]) -> float:
    """The exponent b of time = a * n^b, by least squares over the logarithms."""
    pairs = [(math.log(n), math.log(max(value, 1e-6))) for n, value in points]
    x, y = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    over = sum((one - x) * (other - y) for one, other in pairs)
    exponent: float = over / sum((one - x) ** 2 for one, _ in pairs)
    return exponent


@contextlib.contextmanager
def remote(folder: Path, kind: str) -> Iterator[str]:
    if kind == "folder":
        yield f"file://{folder}/share"
    elif kind == "git":
        bare(folder / "hub.git")
        with by_daemon(folder) as url:
            yield f"{url}/hub.git"
    else:
        import seaweed

        server = seaweed.Seaweed(folder / "seaweed")
        os.environ.update(AWS_ENDPOINT_URL=server.url, AWS_REGION="us-east-1",
                          AWS_ACCESS_KEY_ID="any", AWS_SECRET_ACCESS_KEY="any")  # fmt: skip
        try:
            yield "s3://team/bench"
        finally:
            server.kill()


def many_documents(kind: str, bare_start: float) -> None:
    with tempfile.TemporaryDirectory() as folder, remote(Path(folder), kind) as url:
        one, other = Machine(Path(folder) / "one", url), Machine(Path(folder) / "other", url)
        for number in range(DOCUMENTS):
            path = one.root / ".temp/memory/findings" / f"m{number}_20261122T100000.md"
            files.write(str(path), TEXT.format(n=number), derived=True)
        before = busy()
        push = seconds("push", one)
        pushed = busy() - before
        nothing = seconds("push", one)
        before = busy()
        pull = seconds("pull", other)
        pulled = busy() - before
        again = seconds("pull", other)
        print(f"{kind:8} push {push:6.2f} s ({pushed:.2f} of processor)"
              f"   push of none {nothing:6.3f} s ({nothing / bare_start:4.1f} starts)"
              f"   pull {pull:6.2f} s ({pulled:.2f})   again {again:6.3f} s",
              flush=True)  # fmt: skip


def many_machines(kind: str) -> None:
    points: dict[str, list[tuple[int, float]]] = {"pull": [], "again": [], "push": []}
    for count in COUNTS:
        with tempfile.TemporaryDirectory() as folder, remote(Path(folder), kind) as url:
            one = Machine(Path(folder) / "one", url)
            populate(remotes.engine(one.layout, url)[0], count)
            other = Machine(Path(folder) / "other", url)
            points["pull"].append((count, seconds("pull", other)))
            points["again"].append((count, seconds("pull", other)))
            other.find_out("ui", "# one more\n")
            points["push"].append((count, seconds("push", other)))
            row = "   ".join(f"{name} {values[-1][1]:7.3f} s" for name, values in points.items())
            print(f"{kind:8} {count:5} machines   {row}", flush=True)
    fits = ", ".join(f"{name} ~ n^{growth(values):.2f}" for name, values in points.items())
    print(f"{kind:8} growth: {fits}")


def main() -> None:
    start = measure.Case(name="a bare start", command=measure.BARE)
    for _ in range(20):
        start.once()
    bare_start = start.median / 1000
    print(f"{DOCUMENTS} new documents of {len(TEXT)} bytes")
    kinds = ["folder", "git"]
    with contextlib.suppress(ImportError):
        import importlib

        import seaweed

        importlib.import_module("obstore")
        kinds += ["s3"] if seaweed.binary() else []
    for kind in kinds:
        many_documents(kind, bare_start)
    for kind in kinds:
        many_machines(kind)


if __name__ == "__main__":
    main()
