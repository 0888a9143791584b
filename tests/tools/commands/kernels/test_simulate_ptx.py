"""`tileas simulate` at the level of PTX: compiled kernels and texts, right and wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import kernels
from kernels.atom_gemm import AtomGemm
from tests.tools.kernels_to_run import ADD, TYPES
from tileas_xdsl.tools.tileas import app

GEMM = kernels.make("gemm", epilogue="tma", bm=128, bn=64, bk=64)
ARRAYS = ("f16:130x72:random", "f16:72x64:random", "f32:130x64:zeros")
SCALE = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry scale(.param .u64 scale_x, .param .f32 scale_by)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<4>;
    ld.param.u64 %rd0, [scale_x];
    ld.param.f32 %f0, [scale_by];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 4;
    add.s64 %rd2, %rd0, %rd1;
    ld.global.f32 %f1, [%rd2];
    mul.rn.f32 %f2, %f1, %f0;
    st.global.f32 [%rd2], %f2;
    ret;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has a folder of its own with the kernels."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "add.mlir").write_text(TYPES + ADD)
    (tmp_path / "gemm.mlir").write_text(GEMM.text())
    (tmp_path / "scale.ptx").write_text(SCALE)
    return tmp_path


def run(*args: str, command: str = "simulate", code: int = 0) -> Result:
    result = CliRunner().invoke(app, [command, *args])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "internal error" not in result.output
    assert result.exit_code == code, result.output
    return result


def args_of(*specs: str) -> Sequence[str]:
    return [word for spec in specs for word in ("--arg", spec)]


def test_a_kernel_of_layouts_and_atoms_runs(folder: Path) -> None:
    (folder / "atoms.mlir").write_text(AtomGemm().text())
    given = args_of("f16:64x32:random", "f16:32x32:random", "f32:64x32:zeros")
    run("atoms.mlir", "--level", "ptx", "--grid", "1", "--out", "out", *given)
    a, b, c = (np.load(f"out/arg{number}.npy") for number in range(3))
    assert np.allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, atol=1e-4)
    wrong = args_of("f16:64x20:random", "f16:32x20:random", "f32:64x32:zeros")
    said = run("atoms.mlir", "--level", "ptx", "--grid", "1", *wrong, code=1).stderr
    assert "'a' has stride ?{div=8} along 0, but got 20" in said


def test_tiles_and_their_ptx_give_the_same_arrays() -> None:
    common = ("add.mlir", "--grid", "3", *args_of(*3 * ["f32:150:random"]))
    run(*common, "--out", "tile")
    shown = run(*common, "--level", "ptx", "--out", "ptx").stdout
    assert re.search(r"^arg2 +c +memref<\?xf32> +150 of 150", shown, re.MULTILINE)
    for number in range(3):
        one, other = (np.load(f"{level}/arg{number}.npy") for level in ("tile", "ptx"))
        np.testing.assert_array_equal(one, other)


def test_a_gemm_is_the_same_in_every_order() -> None:
    out = run("gemm.mlir", "--level", "ptx", "--grid", "1,2", "--schedules", "4", *args_of(*ARRAYS))
    assert re.search(r"^orders +4, all with the same results$", out.stdout, re.MULTILINE)


def test_compiled_text_runs_with_tensor_maps(folder: Path) -> None:
    """The text alone says nothing of the arrays: parameters and maps are given one by one."""
    run("gemm.mlir", "-o", "gemm.ptx", command="compile")
    a, b, c = ARRAYS
    sizes = [("i32:130", "i32:72"), ("i32:72", "i32:64"), ("i32:130", "i32:64")]
    maps = ("map:0:128x64:128B", "map:3:64x64:128B", "map:6:64x8:32B")
    specs = args_of(a, *sizes[0], f"{b}:1", *sizes[1], c, *sizes[2], *maps)
    run("gemm.ptx", "--grid", "1,2", "--shared", "214016", "--out", "text", *specs)
    run("gemm.mlir", "--level", "ptx", "--grid", "1,2", "--out", "tiles", *args_of(*ARRAYS))
    np.testing.assert_array_equal(np.load("text/arg6.npy"), np.load("tiles/arg2.npy"))


def test_a_text_needs_the_block_if_it_does_not_say() -> None:
    rest = ("--grid", "1", "--out", "out", *args_of("f32:64:iota", "f32:0.5"))
    run("scale.ptx", "--block", "64", *rest)
    np.testing.assert_array_equal(np.load("out/arg0.npy"), np.arange(64, dtype=np.float32) / 2)
    assert "say the block size" in run("scale.ptx", *rest, code=1).stderr


def test_findings_are_told_with_their_place_and_the_order(folder: Path) -> None:
    """Threads 64 to 95 write beyond the array."""
    before = sorted(folder.iterdir())
    rest = ("--grid", "1", "--block", "96", "--out", "out")
    result = run("scale.ptx", *rest, *args_of("f32:64:iota", "f32:0.5"), code=1)
    assert re.search(r"^scale\.ptx:15:5: error: .*\[illegal-address\]$", result.stderr, re.M)
    assert "found with --order eager" in result.stderr
    assert sorted(folder.iterdir()) == before


def test_what_depends_on_the_order_of_copies_is_told(folder: Path) -> None:
    text = run("gemm.mlir", command="compile").stdout
    broken = re.sub(r"wgmma\.wait_group[^;]*;", "", text)
    assert broken != text
    (folder / "gemm.ptx").write_text(broken)
    a, b, c = ARRAYS
    maps = ("map:0:128x64:128B", "map:3:64x64:128B", "map:6:64x8:32B")
    specs = args_of(
        a, "i32:130", "i32:72", b, "i32:72", "i32:64", c, "i32:130", "i32:64", *maps
    )  # fmt: skip
    result = run("gemm.ptx", "--grid", "1,2", "--shared", "214016", *specs, code=1)
    assert "[wgmma-wait]" in result.stderr


ONE = ("--grid", "1", "--block", "64")
SCALED = args_of("f32:64:iota", "f32:0.5")
WRONG: Sequence[tuple[Sequence[str], int, str]] = [
    (("none.ptx", "--grid", "1"), 1, "none.ptx:1:1: error: cannot read the file"),
    (("garbage.ptx", "--grid", "1"), 1, "garbage.ptx:1:1: error: expected '.version'"),
    (("bytes.ptx", "--grid", "1"), 1, "bytes.ptx:1:1: error: the file is no text"),
    (("unknown.ptx", *ONE, *SCALED), 1, "instruction 'mull.rn.f32' is not supported"),
    (("scale.ptx", *ONE), 1, "kernel 'scale' takes 2 arguments, not 0"),
    (("scale.ptx", "--grid", "1", "--kernel", "x", *SCALED), 1, "there is no kernel 'x'"),
    (("scale.ptx", "--grid", "1", *args_of("map:0:64", "f32:1.0")), 1, "is no array before it"),
    (("scale.ptx", "--grid", "1", *args_of("map:0:axb", "f32:1.0")), 2, "is no tensor map"),
    (("scale.ptx", "--grid", "1", *args_of("map:0:8:9B", "f32:1.0")), 2, "unknown swizzle"),
    (("scale.ptx", "--grid", "1", *args_of("@no.npy", "f32:1.0")), 1, "cannot read 'no.npy'"),
    (("scale.ptx", "--grid", "1", "--level", "tile"), 2, "--level tile has no meaning"),
    (("scale.ptx", "--grid", "1", "--trace", "t.json"), 2, "--trace has no meaning"),
    (("scale.ptx", "--grid", "1", "--policy", "random"), 2, "--policy has no meaning"),
    (("scale.ptx", "--grid", "1", "--order", "late"), 2, "'late' is not one of"),
    (("add.mlir", "--grid", "1", "--level", "ptx", "--shared", "8"), 2, "--shared has no meaning"),
    (("add.mlir", "--grid", "1", "--level", "ptx", "--order", "lazy", "--seed", "1"), 2, "--seed"),
    (("add.mlir", "--grid", "1", *args_of("map:0:8")), 2, "--arg map: has no meaning"),
]


@pytest.mark.parametrize(("args", "code", "message"), WRONG)
def test_wrong_input_is_told(args: Sequence[str], code: int, message: str, folder: Path) -> None:
    (folder / "garbage.ptx").write_text("garbage")
    (folder / "bytes.ptx").write_bytes(b"\xff\xfe\x00")
    (folder / "unknown.ptx").write_text(SCALE.replace("mul.rn", "mull.rn"))
    result = run(*args, code=code)
    assert message in " ".join(result.stderr.replace("│", " ").split())


def test_host_code_encodes_the_maps() -> None:
    pytest.importorskip("llvmlite")
    options = ("--level", "ptx", "--grid", "1,2", *args_of(*ARRAYS))
    run("gemm.mlir", "--host-code", "--out", "host", *options)
    run("gemm.mlir", "--out", "plain", *options)
    np.testing.assert_array_equal(np.load("host/arg2.npy"), np.load("plain/arg2.npy"))


def test_host_code_is_for_kernels_of_tiles_as_ptx() -> None:
    for rest, level in ((("gemm.mlir",), "tile"), (("scale.ptx",), "ptx")):
        result = run(*rest, "--host-code", "--grid", "1", *args_of("f32:64:iota"), code=2)
        assert f"--host-code has no meaning with --level {level}" in result.stderr
