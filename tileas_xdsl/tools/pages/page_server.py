"""A page that is made anew when a file that it came from changes, on an address of this machine.

Each page is made by a process of its own: Python kernels are then read afresh with all that they
import, and whatever goes wrong ends that process alone.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Lock

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.report.page import data_of, failure_page, reloading

POLLED_EVERY = 0.5
"""Seconds between two looks at the files."""

HOST = "127.0.0.1"
"""Nobody else is served: a page shows the user's source."""

VERSION = "/version"
"""The address of the number of the page, by which a browser learns of a new one."""


@dataclass
class LivePage:
    """The newest page of a kernel, and the files that it came from."""

    arguments: Sequence[str]
    """Those of `tileas report`, without the name of the page."""
    text: str = ""
    version: int = 0
    _seen: Mapping[Path, float] = field(default_factory=dict[Path, float])
    _lock: Lock = field(default_factory=Lock)

    @property
    def source(self) -> Path:
        """The file of the kernel."""
        name = self.arguments[0]
        return Path(name if Path(name).exists() else name.rpartition(":")[0])

    def refresh(self) -> bool:
        """Make the page anew if a file of the last one has changed; return whether."""
        if self.version and self._seen == _times(self._seen):
            return False
        self._seen = _times([self.source, *self._seen])
        text, files = self._made()
        with self._lock:
            self._seen = {**_times(files), **self._seen}
            self.text, self.version = reloading(text, VERSION), self.version + 1
        return True

    def _made(self) -> tuple[str, Sequence[Path]]:
        with tempfile.TemporaryDirectory(prefix="tileas-") as folder:
            out = Path(folder, "report.html")
            command = [sys.executable, "-m", "tileas_xdsl.tools.tileas", "report", *self.arguments]
            run = subprocess.run(
                [*command, "--out", str(out)], capture_output=True, text=True, check=False
            )
            if not out.exists():
                return failure_page(self.arguments[0], run.stderr or run.stdout), ()
            text = out.read_text(encoding="utf-8")
        return text, [Path(file["name"]) for file in data_of(text)["files"]]

    def now(self) -> tuple[str, int]:
        """Return the page and its number."""
        with self._lock:
            return self.text, self.version


def _times(paths: Sequence[Path] | Mapping[Path, float]) -> Mapping[Path, float]:
    """When the files were written last; 0 for those that are gone."""
    return {path: path.stat().st_mtime if path.exists() else 0 for path in paths}


def server_of(page: LivePage, port: int) -> ThreadingHTTPServer:
    """Return a server of a page on this machine alone; raises `OSError` if the port is taken."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = self.headers.get("Host", "").rpartition(":")[0]
            text, version = page.now()
            if host not in (HOST, "localhost"):
                self._send(403, "text/plain", "this page is for this machine alone")
            elif self.path == "/":
                self._send(200, "text/html", text)
            elif self.path == VERSION:
                self._send(200, "text/plain", str(version))
            else:
                self._send(404, "text/plain", "there is the page / alone")

        def _send(self, status: int, kind: str, text: str) -> None:
            content = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing of requests: a page asks twice a second."""

    return ThreadingHTTPServer((HOST, port), Handler)


def watch(page: LivePage, ended: Event) -> None:
    """Refresh a page until the end."""
    while not ended.wait(POLLED_EVERY):
        page.refresh()
