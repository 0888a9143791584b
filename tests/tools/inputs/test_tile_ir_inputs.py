"""Bytecode and cuTile kernels on the command line: accepted where text is, and written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.tile_programs import PROGRAM, parsed, printed, program_bytecode
from typer.testing import CliRunner, Result

from tileas_xdsl import compile as compile_kernel
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.frontend.bytecode.layout import V13_3, is_bytecode
from tileas_xdsl.frontend.bytecode.reading.reader import read_bytecode
from tileas_xdsl.tools.tileas import app
from tileas_xdsl.tools.tileas_opt import main

KERNEL = """import cuda.tile as ct

@ct.kernel
def add(a, b, tile: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(b, (i,), ct.load(a, (i,), (tile,)) + 1.0)
"""
SIGNATURE = "a: f32[?], b: f32[?], tile=64"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has a folder of its own with the program in both forms."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.mlir").write_text(PROGRAM)
    (tmp_path / "program.tileirbc").write_bytes(program_bytecode())
    (tmp_path / "add.py").write_text(KERNEL)
    return tmp_path


def run(*args: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["compile", *args])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "internal error" not in result.output
    assert result.exit_code == code, result.output
    return result


def opt(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    assert main(args) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def test_tileas_opt_prints_bytecode_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    text = opt(capsys, "program.tileirbc")
    assert text.strip() == printed(read_bytecode(program_bytecode())).strip()
    assert printed(parsed(text)) == printed(parsed(PROGRAM))


def test_bytecode_is_known_by_its_first_bytes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "other.mlir").write_bytes(program_bytecode())
    separator = b"\n// -----\n"
    assert separator not in program_bytecode()
    expected = opt(capsys, "program.tileirbc")
    assert opt(capsys, "other.mlir", "--split-input-file") == expected


def test_passes_run_on_bytecode(capsys: pytest.CaptureFixture[str]) -> None:
    text = opt(capsys, "program.tileirbc", "-p", "canonicalize,cse,dce")
    assert "get_global" in opt(capsys, "program.tileirbc")
    assert "get_global" not in text
    assert printed(parsed(text)) == text.strip() + "\n"


def test_what_has_no_place_is_in_the_file(folder: Path) -> None:
    module = read_bytecode(program_bytecode(), "program.tileirbc")
    table = next(op for op in module.walk() if op.name == "cuda_tile.global")
    assert location_of(table) == Location("program.tileirbc", 1, 1)


@pytest.mark.parametrize("name", ["bad.tileirbc", "bad.mlir"])
def test_wrong_bytecode_is_one_located_message(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).write_bytes(program_bytecode()[:100])
    said = opt(capsys, name, code=1)
    assert said.startswith(f"{name}:1:17: error: section Func of ")
    assert "(byte 16 of the bytecode, section table)" in said
    assert said.count("\n") == 1
    assert run(name, "--emit", "cuda_tile", code=1).stderr == said


def test_text_under_the_name_of_bytecode_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "text.tileirbc").write_text(PROGRAM)
    refused = "text.tileirbc:1:1: error: invalid magic number at position 0, got 10 expected 127"
    assert refused in opt(capsys, "text.tileirbc", code=1)


def test_text_is_written_as_bytecode_and_back(folder: Path) -> None:
    run("program.mlir", "--emit", "bytecode", "-o", "written.tileirbc")
    assert is_bytecode((folder / "written.tileirbc").read_bytes())
    text = run("written.tileirbc", "--emit", "cuda_tile").stdout
    assert printed(parsed(text)) == printed(parsed(PROGRAM))
    assert run("program.tileirbc", "--emit", "bytecode").stdout_bytes == program_bytecode()


def test_the_version_can_be_chosen() -> None:
    options = ("--emit", "bytecode", "--bytecode-version", "13.3")
    assert run("program.mlir", *options).stdout_bytes[8:10] == bytes(V13_3)


def test_a_kernel_of_cutile_becomes_text_and_bytecode() -> None:
    pytest.importorskip("cuda.tile")
    text = run("add.py:add", "--sig", SIGNATURE, "--emit", "cuda_tile").stdout
    assert "entry @add(" in text
    assert "tile<64xf32>" in text
    data = run("add.py", "--sig", SIGNATURE, "--emit", "bytecode").stdout_bytes
    assert printed(read_bytecode(data)) == printed(parsed(text))


@pytest.mark.parametrize("version", ["13.1", "13.2"])
def test_early_versions_are_for_the_target(version: str) -> None:
    pytest.importorskip("cuda.tile")
    options = ("--bytecode-version", version, "--target", "sm_90a", "--emit", "cuda_tile")
    assert "entry @add(" in run("add.py:add", "--sig", SIGNATURE, *options).stdout


WRONG = [
    (("add.py:add",), 2, "a kernel of cuTile needs --sig, the types of its parameters a, b, tile"),
    (("program.mlir", "--sig", "a: f32[?]"), 2, "--sig is for kernels of cuTile"),
    (("add.py:add", "--sig", "a: f32[?"), 2, "expected ']' at column 9 of the signature"),
    (("program.mlir", "--bytecode-version", "12"), 2, "no bytecode version '12'"),
    (("program.mlir", "-p", "cse"), 2, "--passes is of no use with --emit cuda_tile"),
    (("program.mlir", "--facts"), 2, "--facts is of no use with --emit cuda_tile"),
    (("none.py:f", "--sig", "a=1"), 1, "none.py:1:1: error: cannot read the file"),
    (("none.tileirbc",), 1, "none.tileirbc:1:1: error: cannot read the file"),
    (("add.txt",), 2, "'add.txt' is no .mlir file and no .tileirbc file"),
]


@pytest.mark.parametrize(("args", "code", "message"), WRONG)
def test_wrong_command_lines(args: tuple[str, ...], code: int, message: str) -> None:
    if args[0].endswith(("py:f", "py:add")):
        pytest.importorskip("cuda.tile")
    result = run(*args, "--emit", "cuda_tile", code=code)
    assert message in " ".join(result.output.replace("│", " ").split())
    assert result.stdout == ""


def test_an_error_of_a_kernel_is_at_its_line_of_python() -> None:
    pytest.importorskip("cuda.tile")
    said = run("add.py:add", "--sig", SIGNATURE.replace("64", "60"), "--emit", "ir", code=1).stderr
    assert ":6:23: error: " in said
    assert "ct.load(a, (i,), (tile,)) + 1.0" in said
    said = run("add.py", "--sig", SIGNATURE.replace("64", "2097152"), code=1).stderr
    assert "add.py:6:23: error: 'nv_tileas.tiled_load' op " in said
    assert "use a tile of 65536 elements" in said


def test_python_reads_bytecode_too() -> None:
    with pytest.raises(DiagnosticError, match="the module has @first, @second"):
        compile_kernel("program.tileirbc")


def test_a_kernel_of_cutile_becomes_ptx() -> None:
    run("add.py:add", "--sig", SIGNATURE, "--emit", "ptx", "-o", "add.ptx")
    assert ".visible .entry add(" in Path("add.ptx").read_text()


@pytest.mark.parametrize("level", ["tile", "ptx"])
def test_bytecode_is_simulated(folder: Path, level: str) -> None:
    run("add.py:add", "--sig", SIGNATURE, "--emit", "bytecode", "-o", "add.tileirbc")
    array = ["--arg", "i32:100", "--arg", "i32:1"]
    line = ["simulate", "add.tileirbc", "--level", level, "--grid", "2", "--out", "out"]
    specs = ["--arg", "f32:100:random", *array, "--arg", "f32:100:zeros", *array]
    result = CliRunner().invoke(app, [*line, *specs])
    assert result.exit_code == 0, result.output
    given, made = (np.load(folder / "out" / f"arg{k}.npy") for k in (0, 3))
    np.testing.assert_array_equal(made, given + np.float32(1))
