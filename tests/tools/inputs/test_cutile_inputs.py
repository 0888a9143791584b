"""`tileas simulate` and `validate` on kernels of cuTile: arrays are given whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from tileas_xdsl.tools.running.level_validation import TARGETS
from tileas_xdsl.tools.tileas import app

pytest.importorskip("cuda.tile")

KERNEL = """
import cuda.tile as ct

@ct.kernel
def scale(x, y, factor, rows: ct.Constant[int]):
    i = ct.bid(0)
    tile = ct.load(x, (i, 0), (rows, 16)) * factor
    ct.print("block", i)
    ct.assert_(factor != 0, "nothing would be left")
    ct.store(y, (i, 0), ct.astype(tile, y.dtype))
"""
SIGNATURE = "x: f32[?, 12], y: f16[?, 12], factor: f32, rows=4"
ARGS = ("--arg", "f32:10x12:random", "--arg", "f16:10x12:zeros")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.py").write_text(KERNEL)
    return tmp_path


def run(command: str, *args: str) -> Result:
    result = CliRunner().invoke(app, [command, "k.py:scale", "--grid", "3", *args])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    return result


@pytest.mark.parametrize("level", ["tileir", "tile", "ptx"])
def test_arrays_are_given_whole(level: str, folder: Path) -> None:
    scalar = ("--arg", "f32:2.5")
    result = run("simulate", "--sig", SIGNATURE, *ARGS, *scalar, "--level", level, "--out", "out")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("block 0\nblock 1\nblock 2\n")
    x, y = (np.load(folder / "out" / f"arg{n}.npy") for n in (0, 1))
    assert y.tolist() == (x * np.float32(2.5)).astype(np.float16).tolist()
    assert "arg1   y     memref<?x12xf16>" in result.stdout


def test_what_tile_ir_means_is_asserted_in_the_source() -> None:
    scalar = ("--arg", "f32:0", "--level", "tileir")
    result = run("simulate", "--sig", SIGNATURE, *ARGS, *scalar)
    assert result.exit_code == 1
    assert result.stdout == "block 0\nassertion failed: nothing would be left\n"
    assert (
        "k.py:9:5: error: 'cuda_tile.assert' op does not hold in block (0, 0, 0)" in result.stderr
    )


@pytest.mark.parametrize("option", ["--schedules=2", "--target=sm_90a", "--trace=t.json"])
def test_options_of_other_levels_are_refused(option: str) -> None:
    result = run("simulate", "--sig", SIGNATURE, *ARGS, "--arg", "f32:1", "--level=tileir", option)
    assert result.exit_code == 2
    assert f"{option.partition('=')[0]} has no meaning with --level tileir" in result.stderr


@pytest.mark.parametrize("level", ["tile", "ptx"])
def test_an_assertion_is_shown_in_the_source(level: str) -> None:
    result = run("simulate", "--sig", SIGNATURE, *ARGS, "--arg", "f32:0", "--level", level)
    assert result.exit_code == 1
    assert result.stdout.startswith("block 0\n")
    assert "k.py:9:5: error: " in result.stderr
    assert "assertion failed: nothing would be left" in result.stderr
    assert 'ct.assert_(factor != 0, "nothing would be left")' in result.stderr


def test_passes_are_validated() -> None:
    passes = ("-p", "tileas-to-ptx")
    result = run("validate", "--sig", SIGNATURE, *ARGS, "--arg", "f32:3", *passes)
    assert result.exit_code == 0, result.output
    assert "(Tile IR)                          yes" in result.stdout
    assert "(input)                            yes" in result.stdout


def test_levels_are_validated_for_both_targets() -> None:
    result = run("validate", "--sig", SIGNATURE, *ARGS, "--arg", "f32:3")
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("sm_")]
    levels = ("tileir", "tile", "ptx")
    assert rows == [[target, level, "yes"] for target in TARGETS for level in levels]


@pytest.mark.parametrize(
    ("args", "code", "why"),
    [
        (ARGS, 2, "a kernel of cuTile needs --sig"),
        (("--sig", SIGNATURE, *ARGS), 1, "the kernel takes 3 arguments (%x: memref<?x12xf32>"),
        (("--sig", SIGNATURE, *ARGS[2:], *ARGS), 1, "argument 0, 'f16:10x12:zeros', has elements"),
        (("--sig", "x: f32[?"), 2, "at column 9 of the signature"),
        (("--sig", "x: f32[?, ?]", *ARGS), 1, "the signature lacks y, factor, rows"),
    ],
)
def test_wrong_command_lines_are_told(args: tuple[str, ...], code: int, why: str) -> None:
    result = run("simulate", *args)
    assert result.exit_code == code, result.output
    assert why in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize(
    "command",
    [
        ["compile"],
        ["simulate", "--grid", "1"],
        ["check"],
        ["validate", "--grid", "1"],
        ["explain"],
        ["tune", "--grid", "1", "--space", "tm=64"],
        ["report"],
        ["schedule"],
    ],
    ids=lambda command: command[0],
)
def test_without_the_package_each_command_says_how_to_get_it(
    command: list[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("tileas_xdsl.frontend.needed_packages.import_module", missing)
    name, *options = command
    result = CliRunner().invoke(app, [name, "k.py:scale", "--sig", SIGNATURE, *options])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("tileas: error: cuTile kernels need the package cuda-tile")
    assert [path.name for path in folder.iterdir()] == ["k.py"]
