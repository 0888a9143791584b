"""`tileas serve`: the page is served here alone, and follows its file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread

import pytest
from typer.testing import CliRunner

from tileas_xdsl.report import page as pages
from tileas_xdsl.tools.pages.page_server import HOST, LivePage, server_of
from tileas_xdsl.tools.tileas import app


class Scripted(LivePage):
    """A page that says what its file has, without a compiler."""

    def _made(self) -> tuple[str, list[Path]]:
        return pages.failure_page("kernel", self.source.read_text()), [self.source]


@pytest.fixture
def page(tmp_path: Path) -> LivePage:
    (tmp_path / "kernel.py").write_text("first <>")
    return Scripted([f"{tmp_path}/kernel.py:add"])


@pytest.fixture
def port(page: LivePage) -> Iterator[int]:
    server = server_of(page, 0)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


def get(port: int, path: str, host: str = "localhost") -> tuple[int, str]:
    connection = HTTPConnection(HOST, port, timeout=10)
    connection.request("GET", path, headers={"Host": f"{host}:{port}"})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def test_a_saved_file_makes_a_new_page(page: LivePage, port: int) -> None:
    assert page.refresh()
    assert not page.refresh()
    status, text = get(port, "/")
    assert status == 200
    assert "first &lt;&gt;" in text
    assert "setInterval" in text
    assert get(port, "/version") == (200, "1")
    page.source.write_text("second")
    os.utime(page.source, (1, 1))
    assert page.refresh()
    assert "second" in get(port, "/")[1]
    assert get(port, "/version") == (200, "2")


def test_only_this_machine_is_served(page: LivePage, port: int) -> None:
    page.refresh()
    assert get(port, "/", host="attacker.example")[0] == 403
    assert get(port, "/etc/passwd")[0] == 404


def test_a_kernel_that_cannot_be_read_has_a_page_that_says_so(tmp_path: Path) -> None:
    page = LivePage([str(tmp_path / "nothing.mlir")])
    page.refresh()
    assert "nothing.mlir" in page.text
    assert "No such file" in page.text


def test_a_port_that_is_taken_is_an_error(port: int, page: LivePage) -> None:
    result = CliRunner().invoke(app, ["serve", str(page.source) + ":add", "--port", str(port)])
    assert result.exit_code == 1
    assert f"cannot serve on port {port}" in result.stderr


def test_a_file_that_is_missing_is_not_served(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["serve", str(tmp_path / "kernel.py:add")])
    assert result.exit_code == 1
    assert "there is no such file" in result.stderr
