"""The payload store as real processes: many at once, killed at any moment, without room."""

from __future__ import annotations

import ctypes
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import pytest
import toon_format
from conftest import SCRIPTS, Script, rounds
from contextkit.base import files, names
from contextkit.base.layout import Layout
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retention, storing
from contextkit.text.digests import engine
from test_payloads import manifest

STORE = Path("shared/payloads")
SCRIPT = str(SCRIPTS / "payload_store.py")
CALL = ("--source=research", "--session=s", "--force")
TEXT = "## Finding\n\nThe cache takes 52 ms in `src/a.py`.\n"


def start(*options: str, text: str = TEXT, **changes: Any) -> subprocess.Popen[bytes]:
    """`payload_store.py` with these options, its standard input already written."""
    read_end, write_end = os.pipe()
    os.write(write_end, text.encode())
    os.close(write_end)
    process = subprocess.Popen(
        [sys.executable, SCRIPT, *options], stdin=read_end, stdout=-1, stderr=-1, **changes
    )
    os.close(read_end)
    return process


def end_of(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    assert b"Traceback" not in err, err.decode()
    return process.returncode, out.decode(), err.decode()


def in_order(found: dict[str, Any]) -> list[str]:
    return [entry["id"] for entry in found["payloads"]]


def test_stores_at_once_make_an_entry_each(layout: Layout) -> None:
    many = rounds(8, 64)
    processes = [
        start("store", f"--topic=topic {n % 8}", *CALL, text=f"{TEXT}{n}") for n in range(many)
    ]
    seen = [0]
    path = STORE / "s" / "manifest.json"
    while any(process.poll() is None for process in processes):
        if path.exists():
            seen.append(len(json.loads(path.read_bytes())["payloads"]))  # never half a manifest
    assert seen == sorted(seen) and len(set(seen)) > 1
    paths = set()
    for process in processes:
        status, out, _ = end_of(process)
        assert status == 0
        paths.add(toon_format.decode(out)["@stored"])
    found = manifest(layout)
    assert len(paths) == len(set(in_order(found))) == many
    assert {Path(shown).stem for shown in paths} == set(in_order(found))
    assert {path.name for path in STORE.joinpath("s").iterdir()} == {
        "manifest.json",
        *(Path(shown).name for shown in paths),
    }


def test_stores_that_race_with_ends_lose_nothing(layout: Layout) -> None:
    processes = []
    many = rounds(4, 16)
    for number in range(3 * many):
        if number % 3 == 2:
            processes.append(start("end", "--session=s"))
        else:
            processes.append(
                start("store", f"--topic=topic {number}", *CALL, text=f"{TEXT}{number}")
            )
    stored = []
    for process in processes:
        status, out, err = end_of(process)
        assert status == 0, err
        if out.startswith("@stored"):
            stored.append(Path(toon_format.decode(out)["@stored"]).stem)
    assert len(stored) == 2 * many
    with retention.session_lock(layout, "s"):
        retention.resume(layout, "s", names.now())
    assert sorted(in_order(manifest(layout))) == sorted(stored)
    assert not os.path.isdir(layout.ended) or os.listdir(layout.ended) == []


def writer(layout: Layout, number: int, told: int) -> int:
    """A process that stores one payload after the other and then tells where; its id."""
    child = os.fork()
    if child:
        return child
    try:
        for turn in range(10**9):
            output = storing.Output(
                topic=f"t {number} {turn}",
                source="x",
                content=f"The text of {number} {turn}. " * 9,
                tokens=25,
            )
            stored = storing.store(layout, "s", output, 1_761_242_700)
            os.write(told, f"{layout.shown(stored.path)}\n".encode())
    except BaseException:
        traceback.print_exc()  # why it ended before it was killed
        sys.stderr.flush()
    finally:
        os._exit(1)


def test_kills_lose_no_file_and_list_none_twice(layout: Layout) -> None:
    chance = random.Random(3)
    kills = rounds(16, 200)
    path = STORE / "s" / "manifest.json"
    engine.digest("What a writer imports, it has.", 20)
    stored = bytearray()
    reading, told = os.pipe()
    with open(reading, "rb", 0) as stored_now:
        writers = [writer(layout, number, told) for number in range(2)]
        while not path.exists():
            time.sleep(0.01)
        for number in range(2, kills + 2):
            if number % 4:
                time.sleep(chance.random() * 0.008)
            else:
                stored += stored_now.read(1 << 16)  # so slow no machine is that nothing is stored
            victim = writers.pop(0)
            os.kill(victim, signal.SIGKILL)
            assert os.waitstatus_to_exitcode(os.waitpid(victim, 0)[1]) == -signal.SIGKILL
            json.loads(path.read_bytes())
            writers.append(writer(layout, number, told))
        for victim in writers:
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)
        os.close(told)
        stored += stored_now.read()
    there = {Path(found).stem for found in payloads.documents(layout, "s")}
    listed = [entry["id"] for entry in payloads.entries(layout, "s")]
    assert len(there) >= kills // 4 and len(set(listed)) == len(listed)
    assert set(listed) <= there and len(there) - len(listed) <= kills + 2
    assert run_to_end("repair", "--session=s")[0] == 0
    found = manifest(layout)
    assert sorted(in_order(found)) == sorted(there)
    assert {Path(line).stem for line in stored.decode().splitlines()} <= there
    for name in payloads.documents(layout, "s"):
        payload = payloads.load(name, name)
        assert payload.content == f"The text of {payload.topic[2:]}. " * 9
    assert run_to_end("repair", "--session=s")[1] == "nothing to fix\n"


def run_to_end(*options: str, **changes: Any) -> tuple[int, str, str]:
    return end_of(start(*options, **changes))


LONG = "A sentence that is stored. " * 800


def no_file_above_four_kib() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def no_right_of_root() -> None:
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # drop CAP_DAC_OVERRIDE for good


def stock() -> dict[str, bytes]:
    found = [path for path in Path().rglob("*") if ".git" not in path.parts and path.is_file()]
    return {str(path): path.read_bytes() for path in found}


def test_without_room_on_the_disk_the_text_comes_back_and_nothing_is_left(layout: Layout) -> None:
    assert run_to_end("store", "--topic=first", *CALL)[0] == 0
    before = stock()
    status, out, err = run_to_end(
        "store", "--topic=second", *CALL, text=LONG, preexec_fn=no_file_above_four_kib
    )
    assert (status, out) == (1, LONG)
    assert "storing failed (File too large): the whole text follows on stdout" in err
    assert stock() == before
    assert len(manifest(layout)["payloads"]) == 1


FULL = """\
mount -t tmpfs -o size=60k none "$PWD" && cd "$PWD" || exit 77
head -c 45000 /dev/zero > filler
"$@"
status=$?
find . -name "*full*" -o -name "*.tmp" >&2
exit $status
"""


def test_on_a_full_disk_the_text_comes_back_and_nothing_is_left(sealed: Path) -> None:
    command = ["unshare", "-rm", "sh", "-c", FULL, "-", sys.executable, SCRIPT, "--topic=full"]
    try:
        done = subprocess.run([*command, *CALL], input=LONG, capture_output=True, encoding="utf-8")
    except FileNotFoundError:
        pytest.skip("no unshare here")
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("no file system of its own may be made here")
    assert (done.returncode, done.stdout) == (1, LONG)
    said = (
        "payload_store: storing failed (No space left on device): the whole text follows on stdout"
    )
    assert done.stderr == said + "\n"


def test_without_room_for_the_manifest_the_payload_goes_too(layout: Layout, run: Script) -> None:
    for number in range(40):  # the manifest grows to nearly four KiB; the same text is kept once
        assert (
            run("payload_store", "store", f"--topic=t{number}", *CALL, stdin=f"{number} {TEXT}")
            == 0
        )
        if (STORE / "s" / "manifest.json").stat().st_size >= 3900:
            break
    before = stock()
    status, out, _ = run_to_end("store", "--topic=last", *CALL, preexec_fn=no_file_above_four_kib)
    assert (status, out) == (1, TEXT)
    assert stock() == before


@pytest.mark.parametrize("folder", [".", "shared/payloads", "shared/payloads/s"])
def test_in_a_folder_that_may_not_be_written_the_text_comes_back(
    layout: Layout, folder: str, request: pytest.FixtureRequest
) -> None:
    if folder != ".":
        assert run_to_end("store", "--topic=first", *CALL)[0] == 0
    request.addfinalizer(lambda: os.chmod(folder, 0o755))
    os.chmod(folder, 0o555)
    before = stock()
    session = "s" if folder.endswith("/s") else "other"
    options = ("store", "--topic=second", *CALL, f"--session={session}")
    status, out, err = run_to_end(*options, text=LONG, preexec_fn=no_right_of_root)
    if status == 0 and os.geteuid() == 0:
        pytest.skip("root that keeps its rights can write anywhere")
    assert (status, out) == (1, LONG)
    assert "storing failed (Permission denied)" in err
    assert {name: data for name, data in stock().items() if ".lock" not in name} == {
        name: data for name, data in before.items() if ".lock" not in name
    }


def test_on_a_disk_that_may_only_be_read_payloads_are_listed_and_shown(
    layout: Layout, request: pytest.FixtureRequest
) -> None:
    assert run_to_end("store", "--topic=first", *CALL)[0] == 0
    Path(".contextkit/swept").unlink()
    modes = {path: path.stat().st_mode for path in (Path(), *Path().rglob("*"))}

    def give_back() -> None:
        for path, mode in modes.items():
            path.chmod(mode)

    request.addfinalizer(give_back)
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    before = stock()
    for command, said in ((("list", "--session=s"), "-first "), (("show", "latest"), TEXT),
                          (("find", "cache"), "-first:")):  # fmt: skip
        status, out, err = run_to_end(*command, preexec_fn=no_right_of_root)
        if stock() != before and os.geteuid() == 0:
            pytest.skip("root that keeps its rights can write anywhere")
        assert (status, err) == (0, "") and said in out
    assert stock() == before


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"caf\xe9 au lait " * 300, b"Latin-1"),
        ("Der Cache hält 30 Minuten. ".encode("utf-16") * 100, b"UTF-16"),
        ("It takes 52 ms in src/a.py. ".encode("utf-16-le") * 100, b"UTF-16"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, b"PNG image, 5128 bytes"),
    ],
)
def test_what_is_no_utf8_is_stored_byte_for_byte_and_told_as_what_it_is(
    repo: Path, data: bytes, said: bytes
) -> None:
    command = [sys.executable, SCRIPT, "--topic=x", *CALL]
    done = subprocess.run(command, input=data, capture_output=True)
    assert done.returncode == 0 and said in done.stdout
    show = [sys.executable, SCRIPT, "show", "latest", "--part=content"]
    assert subprocess.run(show, capture_output=True, check=True).stdout == data


def test_without_standard_input_the_command_says_what_it_needs(repo: Path) -> None:
    command = ["sh", "-c", 'exec "$@" <&-', "-", sys.executable, SCRIPT, "--topic=x", *CALL]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout) == (2, "")
    assert "give file=FILE or pipe the text in" in done.stderr


DEAR = "argparse contextlib dataclasses datetime enum hashlib inspect jinja2 json pathlib re typing"


@pytest.mark.parametrize(
    "command",
    [("list", "--session=s"), ("show", "latest"), ("find", "cache"),
     ("end", "--session=s"), ("sweep",), ("repair", "--session=s")],
)  # fmt: skip
def test_no_command_imports_what_costs_a_third_of_a_start(
    layout: Layout, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_to_end("store", "--topic=x", *CALL)[0] == 0
    monkeypatch.delenv("CONTEXT_NOW")  # reading it takes datetime, the clock does not
    call = [sys.executable, "-X", "importtime", SCRIPT, *command]
    done = subprocess.run(call, input=TEXT, capture_output=True, encoding="utf-8", check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "contextkit.payloads.documents.store" in imported
    if command[0] not in ("list", "show"):  # the manifest; a text that passes the door
        assert not imported & set(DEAR.split())


def test_the_same_text_gives_the_same_receipt_in_any_process(repo: Path) -> None:
    text = "".join(f"## Part {n}\n\nIt takes {n} ms in `src/a{n}.py`.\n" for n in range(40))
    receipts = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        status, out, _ = run_to_end(
            "store", "--topic=x", *CALL, "--path=x.md", "--overwrite", text=text, env=environment
        )
        assert status == 0
        receipts.add(out)
    assert len(receipts) == 1


def test_a_disk_error_at_the_end_keeps_the_payload_that_the_manifest_lists(
    run: Script, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, whole = "It takes 52 ms. " * 200, files.settle

    def broken() -> None:
        monkeypatch.setattr(files, "settle", whole)  # it fails once
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(files, "settle", broken)
    options = ["--topic=x", "--source=y", "--session=s"]
    assert run("payload_store", *options, stdin=text) == 1
    assert run.out.startswith(text) and "storing failed" in run.err
    listed = json.loads((repo / STORE / "s" / "manifest.json").read_bytes())["payloads"]
    assert [(repo / STORE / "s" / one["path"]).is_file() for one in listed] == [True]
    assert run("payload_store", "repair", "--session=s") == 0 and run.out == "nothing to fix\n"
