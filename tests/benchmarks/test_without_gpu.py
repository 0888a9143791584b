"""One quick case of each benchmark that needs no GPU; nothing here is timed."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.assembling import needs_nvdisasm

from benchmarks import sass
from benchmarks.compile import main as compile_main
from benchmarks.compile import tile_row, times_of
from benchmarks.compiled_kernels import CLASSES, SUBJECTS, Subject, compilers
from benchmarks.emulator import (
    WrongResultError,
    _facts,
    cutile_emulated,
    emulated_row,
    simulated_row,
)
from benchmarks.ir_steps import ir_rows
from benchmarks.results import Results
from kernels import make
from kernels.compiled import compiled
from kernels.kernel import Deviation
from tileas_xdsl.backend.nvidia_tools import MissingToolError
from tileas_xdsl.interpreters.tile.launch import Schedule


def test_passes_of_a_kernel_are_named() -> None:
    kernel = make("vector_add")
    row, times = tile_row(kernel, 1)
    assert (row.unit, row.bar) == ("ms", None)
    assert set(times) == {spec.name for spec in compiled(kernel).passes}
    assert set(times_of([compiled(kernel)])) == set(times)
    assert all(name in times for name in str(row.facts["slowest passes"]).split()[::2])


def test_compiling_cutile_is_written(tmp_path: Path) -> None:
    pytest.importorskip("cuda.tile")
    path = tmp_path / "found.json"
    words = ["--only", "cuTile vector_add", "--repeat", "1", "--passes", "--json", str(path)]
    assert compile_main(words) == 0
    rows = Results.read(path).rows
    assert {"cuTile to PTX, warm", "passes of all kernels"} <= {row.group for row in rows}
    assert {row.name for row in rows if row.group.startswith("cuTile to")} == {"vector_add"}


ELSEWHERE = ("softmax online", "sum of columns")
"""Classes that `test_sass_rows.py` always compiles."""


@pytest.mark.parametrize(
    "subject", [one for one in CLASSES if one.name not in ELSEWHERE], ids=lambda one: one.name
)
def test_a_class_of_kernels_compiles(subject: Subject) -> None:
    """At sizes that no other test always has: gates of machine code are sampled."""
    pytest.importorskip("cuda.tile")
    made = subject.compile()
    assert ("wgmma.mma_async" in made.ptx) == ("matmul" in subject.module)


def test_operations_of_the_ir_are_counted() -> None:
    rows = [*ir_rows(1, 40)]
    assert [row.name.partition(",")[0] for row in rows] == ["parse", "verify", "print", "clone"]
    assert all(row.name.endswith(" 43 operations") and row.value > 0 for row in rows)


def test_runs_without_a_gpu_are_checked() -> None:
    kernel = make("gemm", bm=128, bn=64, bk=64, stages=2)
    row = emulated_row(kernel, 128, 1, 1)
    assert row.bar is None
    assert float(row.facts["instructions"]) > 100
    wrong = Deviation(2.0, 3.0)
    assert not wrong.is_right
    with pytest.raises(WrongResultError, match="gemm: "):
        _facts("gemm", 1.0, 1, wrong)


def test_the_interpreter_is_measured() -> None:
    row = simulated_row("f16", "region", Schedule("random", 1), 1, 128, 1)
    assert row.name == "f16 region 128^3, random, 1 process"
    assert float(row.facts["cycles"]) > 0


def test_cutile_is_emulated() -> None:
    pytest.importorskip("cuda.tile")
    assert cutile_emulated("vector_add", 1).name == "vector_add 1000 f32"


@needs_nvdisasm
def test_machine_code_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert sass.main(["--only", "gemm stages=4 bm=128 bn=128 bk=64"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if "loop " in line]
    assert all(line[line.index("instructions") + 1] == "4" for line in lines)
    assert len(lines) == 2


def test_missing_tools_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> None:
        raise MissingToolError(f"{name} is not here")

    monkeypatch.setattr(sass, "need_tool", missing)
    assert sass.main([]) == 2
    assert capsys.readouterr().err == "benchmarks/sass.py: ptxas is not here\n"


def test_kernels_are_named_once() -> None:
    pytest.importorskip("cuda.tile")
    names = [*compilers()]
    assert len(names) == len(set(names)) > len(SUBJECTS)
