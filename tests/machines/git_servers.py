"""Real git servers on the loopback interface: `git http-backend` behind a small server, and
`git daemon`. Each serves the bare repositories of a folder."""

from __future__ import annotations

import http.server
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit


def bare(path: Path) -> Path:
    """A bare repository that takes pushes from anyone."""
    subprocess.run(["git", "init", "-q", "--bare", str(path)], check=True)
    subprocess.run(["git", "-C", str(path), "config", "http.receivepack", "true"], check=True)
    return path


class _Backend(http.server.BaseHTTPRequestHandler):
    """What a web server does for `git http-backend`: the variables of CGI, and the streams."""

    folder = ""

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            pieces = []
            while size := int(self.rfile.readline(), 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            self._answer(b"".join(pieces))
        else:
            self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _answer(self, body: bytes) -> None:
        url = urlsplit(self.path)
        variables = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": self.folder,
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": unquote(url.path),
            "QUERY_STRING": url.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "ada",
            "REMOTE_ADDR": "127.0.0.1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=variables, capture_output=True, check=True
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200 OK").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test says what matters."""


@contextmanager
def over_http(folder: Path) -> Iterator[str]:
    """The URL below which the repositories of `folder` are served."""
    handler = type("Backend", (_Backend,), {"folder": str(folder)})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def by_daemon(folder: Path) -> Iterator[str]:
    """The same by `git daemon`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        ["git", "daemon", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}", "--export-all",
         "--enable=receive-pack", f"--base-path={folder}", str(folder)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        while process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.01)
        yield f"git://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, 15)
        process.wait()
