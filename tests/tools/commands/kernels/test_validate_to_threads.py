"""`tileas validate` down to where tiles end: descriptors are arguments, threads are not run."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.windows import BY_BLOCK, window_kernel
from typer.testing import CliRunner, Result

from kernels import Copy, Gemm, Kernel, Windows
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.tools.tileas import app

PIPELINE = "tileas-to-ptx-with-host-code"
PASSES = [spec.name for spec in PIPELINES[PIPELINE].passes]
THREADS = PASSES[PASSES.index("convert-tileas-to-cute-nvgpu") :]
"""What makes threads, and all that runs on them."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def validate(text: str, passes: str, grid: str, *arrays: str) -> Result:
    Path("k.mlir").write_text(text)
    args = [word for array in arrays for word in ("--arg", array)]
    result = CliRunner().invoke(app, ["validate", "k.mlir", "-p", passes, "--grid", grid, *args])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def verdicts(result: Result) -> dict[str, str]:
    """By pass: whether it was right."""
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["pass", "ok", "cycles"]
    return {name: " ".join(words).rstrip("0123456789 ") for name, *words in rows[1:]}


def expected(pipeline: str) -> dict[str, str]:
    names = ["(input)", *(spec.name for spec in PIPELINES[pipeline].passes)]
    return {name: "not run" if name in THREADS else "yes" for name in names}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kernel", "grid", "arrays"),
    [
        (Copy("f16"), "3", ("f16:20x144:random", "f16:20x144:zeros")),
        (Windows("f16"), "5", ("f16:14x96:random", "f16:40x32:zeros")),
        (
            Gemm(bm=64, bn=64, bk=64, consumers=1, stages=2, epilogue="tma"),
            "2,2",
            ("f16:100x128:random", "f16:128x72:random:1", "f32:100x72:zeros"),
        ),
        (
            Gemm(bm=128, bn=64, bk=64, consumers=1, stages=2, instruction="tcgen05"),
            "2,1",
            ("f16:100x128:random", "f16:128x72:random:1", "f32:100x72:zeros"),
        ),
    ],
    ids=["copy", "windows", "gemm", "gemm of sm_100a"],
)
def test_a_pipeline_is_run_as_far_as_there_are_tiles(
    kernel: Kernel, grid: str, arrays: tuple[str, ...]
) -> None:
    result = validate(kernel.text(), PIPELINE, grid, *arrays)
    assert result.exit_code == 0, result.stderr
    assert verdicts(result) == expected(PIPELINE)
    assert (
        "tileas: note: pass 'convert-tileas-to-cute-nvgpu' leaves a kernel of threads: from there "
        "on the IR was verified, not run" in result.stderr
    )


def test_an_option_for_another_target_is_refused() -> None:
    kernel = Gemm(bm=64, bn=64, bk=64, consumers=1, stages=2)
    arrays = ("f16:100x128:random", "f16:128x72:random:1", "f32:100x72:zeros")
    named = PIPELINES[PIPELINE].spec.replace(THREADS[0], f"{THREADS[0]}{{target=sm_100a}}")
    result = validate(kernel.text(), named, "2,2", *arrays)
    assert result.exit_code == 1
    assert "an option asks for sm_100a, but the module is for sm_90a" in result.stderr


WINDOW = f"""{BY_BLOCK}
%first = arith.addi %n, %one : index
%wa = nv_tileas.view %a[%first, %zero] : !matrix -> !window
"""
ARGUMENTS = "%n: index, %a: !matrix, %b: !matrix"
ARRAYS = ("index:3", "f16:20x64:random", "f16:20x64:zeros")
HOST_TMA = "tileas-separate-host-tma,tileas-attach-tma-descriptor-args"


def test_host_code_says_where_windows_begin() -> None:
    """The window begins at row n + 1, which a launch alone knows."""
    text = window_kernel(WINDOW, arguments=ARGUMENTS)
    result = validate(text, HOST_TMA, "2", *ARRAYS)
    assert result.exit_code == 0, result.stderr
    assert set(verdicts(result).values()) == {"yes"}


def test_without_host_code_a_window_is_refused_where_it_is_used() -> None:
    text = window_kernel(WINDOW, arguments=ARGUMENTS)
    result = validate(text, "tileas-attach-tma-descriptor-args", "2", *ARRAYS)
    assert result.exit_code == 1
    line = next(n for n, t in enumerate(text.splitlines(), 1) if "async.tiled_tma_load" in t)
    assert f"k.mlir:{line}:" in result.stderr
    assert "describes a part of %a; only host code knows where it begins" in result.stderr
    assert "after pass 'tileas-attach-tma-descriptor-args' the simulation fails" in result.stderr


def test_each_of_several_kernels_has_maps_of_its_own() -> None:
    head, body = window_kernel(WINDOW, arguments=ARGUMENTS).split("func.func", 1)
    first = body.replace("@windows", "@one")
    second = body.replace("@windows", "@two").replace("addi %n, %one", "muli %n, %n")
    Path("k.mlir").write_text(f"{head}func.func{first}\nfunc.func{second}")
    for name in ("one", "two"):
        command = ["validate", "k.mlir", "-p", HOST_TMA, "--grid", "1", "--kernel", name]
        args = [word for array in ARRAYS for word in ("--arg", array)]
        result = CliRunner().invoke(app, [*command, *args])
        assert result.exit_code == 0, result.stderr
