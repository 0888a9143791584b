"""Reading inputs and writing outputs."""

import io
import os
import stat
import sys

import pytest

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.outputs import write_output
from tileas_xdsl.diagnostics.parsing.inputs import input_name, read_input


def test_files_are_read_as_bytes(tmp_path):
    (tmp_path / "a.mlir").write_bytes(b"\xff\r\n")
    assert read_input(str(tmp_path / "a.mlir")) == b"\xff\r\n"


@pytest.mark.parametrize("path", [None, "-"])
def test_standard_input(path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"text")))
    assert read_input(path) == b"text"
    assert input_name(path) == "<stdin>"


def test_what_cannot_be_read_is_named(tmp_path):
    for path, reason in (
        (tmp_path / "no.mlir", "No such file or directory"),
        (tmp_path, "Is a directory"),
        ("a\0b", "embedded null byte"),
    ):
        with pytest.raises(DiagnosticError) as caught:
            read_input(str(path))
        assert str(caught.value) == f"{path}:1:1: error: cannot read the file: {reason}"


def test_an_output_is_replaced_and_keeps_its_mode(tmp_path):
    path = tmp_path / "out.mlir"
    path.write_text("old")
    path.chmod(0o640)
    write_output(str(path), "new é")
    assert path.read_text(encoding="utf-8") == "new é"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["out.mlir"]


def test_links_are_followed(tmp_path):
    target, link = tmp_path / "out.mlir", tmp_path / "link.mlir"
    target.write_text("old")
    link.symlink_to(target)
    write_output(str(link), "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_devices_are_written_to(tmp_path):
    write_output(os.devnull, "gone")
    assert not os.path.isfile(os.devnull)


def test_a_failing_write_leaves_nothing(tmp_path):
    path = tmp_path / "out.mlir"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_output(str(path), "\ud800")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.mlir"]
    with pytest.raises(FileNotFoundError):
        write_output(str(tmp_path / "no/out.mlir"), "new")
