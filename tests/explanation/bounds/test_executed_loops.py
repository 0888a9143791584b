"""What bounds loops of code that has no tiles: counted on a run, and by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import tileas_xdsl as tileas
from tileas_xdsl.compilation.levels import BUFFERS
from tileas_xdsl.explanation.facts import KernelFacts
from tileas_xdsl.explanation.kernel import kernel_facts
from tileas_xdsl.explanation.text import explanation
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.tools.tileas import app

TL = Path(__file__).parents[3] / "kernels" / "tl"


@pytest.fixture(scope="module")
def gemm() -> KernelFacts:
    """Tiles of 64x64, steps of 32, without tiles; arrays that nothing names are 1024x1024."""
    kernel = tileas.compile(TL / "gemm.mlir", passes=PIPELINES[BUFFERS].passes)
    return kernel_facts(kernel, grid=(16, 16, 1))


def test_iterations_flops_and_bytes_are_those_of_the_loop(gemm: KernelFacts) -> None:
    (loop,) = gemm.loops
    assert loop.location is not None
    assert "tl.pipelined" in (TL / "gemm.mlir").read_text().splitlines()[loop.location.line - 1]
    assert loop.counted_iterations == 1024 // 32
    assert loop.roofline is not None
    assert loop.roofline.flops == loop.roofline.product_flops == 2 * 64 * 64 * 32
    # Two of 32 iterations are loaded ahead of the loop.
    assert loop.roofline.bytes_read == 2 * 64 * 32 * 2 * 30 // 32


def test_units_are_busy_for_what_they_do(gemm: KernelFacts) -> None:
    """Products take 64 x 64 x 32 at 2048 a cycle; copies 46 bytes a cycle.

    Of shared memory 128 bytes a cycle are written by copies, and read by two warps each.
    """
    (loop,) = gemm.loops
    cycles = {one.unit: one.cycles for one in loop.units}
    assert cycles["tensor_core"] == 64 * 64 * 32 / 2048
    assert cycles["global_memory"] == pytest.approx(7680 / 46)
    assert cycles["shared_memory"] == (7680 + 2 * 2 * 64 * 32 * 2) / 128
    assert loop.bound == "shared_memory"
    assert loop.cycles == cycles["shared_memory"]


def test_a_launch_takes_what_the_busiest_unit_of_its_blocks_takes(gemm: KernelFacts) -> None:
    """256 blocks on 132 multiprocessors: one has two of them."""
    assert gemm.least is not None
    (loop,) = gemm.loops
    assert loop.cycles is not None
    assert gemm.least.blocks == 2
    assert gemm.least.cycles > 32 * loop.cycles
    assert gemm.least.microseconds == pytest.approx(2 * gemm.least.cycles / 1830)


def test_the_text_says_that_waits_are_not_counted(gemm: KernelFacts) -> None:
    text = explanation(gemm, ["loops", "waves"])
    assert "at least 188 cycles an iteration, bound by shared_memory: what units do in 32" in text
    assert "us: the first block keeps global_memory busy for" in text


def test_a_kernel_that_repeats_nothing_says_so() -> None:
    facts = kernel_facts(tileas.compile(TL / "transpose.mlir"))
    assert facts.loops == ()
    assert facts.outside is not None
    assert facts.outside.bytes == 2 * facts.outside.bytes_written


def test_numbers_that_only_a_launch_knows_are_asked_for(tmp_path: Path) -> None:
    source = (TL / "column_sums.mlir").read_text()
    changed = source.replace("%S: !vector)", "%S: !vector, %more: index)")
    assert changed != source
    path = tmp_path / "sums.mlir"
    path.write_text(changed)
    told = CliRunner().invoke(app, ["explain", str(path), "--show", "loops"]).stdout
    assert "no loop is known: say --grid and --arg for each argument: nothing tells %more" in told
