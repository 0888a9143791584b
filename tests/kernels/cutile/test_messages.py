"""Kernels of cuTile that print and assert: the same text at both levels, as cuTile formats it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas
from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.diagnostics.errors import DiagnosticError

pytest.importorskip("cuda.tile")

from tests.kernels.cutile import message_kernels as kernels

TARGETS = ("sm_90a", "sm_100a")
NEEDS_PTXAS = pytest.mark.skipif(find_tool("ptxas") is None, reason="ptxas is not installed")


def printed(kernel: Any, args: Sequence[Any], grid: int = 1, target: str = "sm_90a") -> str:
    """The text of a run, the same in tiles and in threads, where no check fires."""
    made = tileas.compile(kernel, *args, target=target)
    found = made.emulate(*args, grid=grid)
    assert [str(finding) for finding in found.findings] == []
    assert made.simulate(*args, grid=grid).printed == found.printed
    return found.printed


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u4", "u8"])
def test_tiles_are_printed_as_lists(dtype: str) -> None:
    rng = np.random.default_rng(4)
    x = (rng.standard_normal(16) * 50).astype(np.int8).astype(dtype)
    line = "tile[{}]:[{}]\n"
    shown = [f"{value:.6f}" if dtype[0] == "f" else str(value) for value in x]
    expected = "".join(line.format(n, ", ".join(shown[8 * n : 8 * n + 8])) for n in range(2))
    assert printed(kernels.prints, (x,), grid=2) == expected


@pytest.mark.parametrize("target", TARGETS)
def test_tiles_of_several_dimensions_are_nested(target: str) -> None:
    x = np.arange(8, dtype=np.int32)
    assert printed(kernels.nested, (x,), target=target) == (
        "original: [[0, 1, 2, 3], [4, 5, 6, 7]]\n"
        "sum: 28, of rows: [6, 22] [[6], [22]], 100% of it: [[0, 0, 0, 0], [1, 1, 1, 1]]\n"
    )


@pytest.mark.parametrize("shape", [(64, 16), (2, 64), (128, 1), (4, 4)])
def test_long_tiles_are_printed_whole(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(7).integers(-99, 99, shape).astype(np.int32)
    assert printed(kernels.long, (x, *shape)) == f"all: {x.tolist()} ends {x.sum(0).tolist()}\n"


def test_an_assertion_ends_the_kernel_where_it_stands() -> None:
    x = np.arange(16, dtype=np.float32)
    kernel = tileas.compile(kernels.asserts, x)
    assert kernel.emulate(x).findings == []
    x[9] = -1
    lines = kernels.__file__, kernels.ASSERTION_LINE
    place = f"{lines[0]}:{lines[1]}:5: error:"
    found = kernel.emulate(x, grid=2)
    [finding] = found.findings
    assert found.printed == "assertion failed: a root of a negative number\n"
    assert str(finding).startswith(f"{place} assertion failed: a root of a negative number")
    with pytest.raises(DiagnosticError, match="assertion failed: a root of a negative") as raised:
        kernel.simulate(x, grid=2)
    assert raised.value.printed == found.printed
    with pytest.raises(DiagnosticError, match="a root of a negative") as undefined:
        kernel.evaluate(x, grid=2)
    assert undefined.value.printed == found.printed
    assert str(raised.value).startswith(place)


@NEEDS_PTXAS
@pytest.mark.parametrize("target", TARGETS)
def test_ptxas_takes_kernels_that_print(target: str) -> None:
    """Products wait for a call; who prints in the loop has asked for it."""
    a, b = np.zeros((64, 64), np.float16), np.zeros((64, 64), np.float16)
    found = tileas.compile(kernels.prints_products, a, b, target=target).assemble()
    assert found.spills == 0
    assert all("function call" in report.message for report in found.messages)


@pytest.mark.parametrize("kernel", [kernels.prints_products])
def test_products_are_printed(kernel: Any) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-3, 4, (64, 64)).astype(np.float16) for _ in range(2))
    total = (a.astype(np.float32) @ b.astype(np.float32)).sum()
    assert printed(kernel, (a, b)) == f"step 0\nstep 1\nsum {total:.1f}\n"
