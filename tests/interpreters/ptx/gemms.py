"""The sample kernels with their arguments and numpy's results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tileas_xdsl.interpreters.ptx import Report, TensorMapArg, load, run
from tileas_xdsl.target.tma.tensor_map import TensorMap

DATA = Path(__file__).parent / "data"


def bf16(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.standard_normal(shape).astype(ml_dtypes.bfloat16)


def tiles(array: np.ndarray, box: tuple[int, int]) -> TensorMapArg:
    """A row-major matrix in boxes, with the 128-byte swizzle."""
    rows, columns = array.shape
    return TensorMapArg(
        TensorMap("bf16", 0, (columns, rows), (2 * columns,), box, swizzle="128B"),
        array.view(np.uint16),
    )


@dataclass(frozen=True)
class Sample:
    """A kernel: its file, boxes of A, B and C (None: C is f32 through a pointer), and launch."""

    name: str
    boxes: tuple[tuple[int, int], tuple[int, int], tuple[int, int] | None]
    shape: tuple[int, int, int]
    shared: int
    grid: int

    @property
    def text(self) -> str:
        return (DATA / f"{self.name}.ptx").read_text()

    def run(self, text: str | None = None, **options: Any) -> tuple[Report, float]:
        """The report and the relative error of the result."""
        m, n, k = self.shape
        rng = np.random.default_rng(7)
        a, b = bf16(rng, (m, k)), bf16(rng, (n, k))
        exact = a.astype(np.float64) @ b.astype(np.float64).T
        first = [tiles(a, self.boxes[0]), tiles(b, self.boxes[1])]
        if self.boxes[2] is None:
            arguments = [*first, np.full((m, n), np.nan, np.float32), n, k]
        else:
            c = np.full((m, n), np.nan, ml_dtypes.bfloat16)
            arguments = [*first, tiles(c, self.boxes[2]), m, n, k]
        module = load(text or self.text, f"{self.name}.ptx")
        report = run(module, None, arguments, self.grid, dynamic_shared=self.shared, **options)
        found = report.arrays[2]
        assert found is not None
        if self.boxes[2] is not None:
            found = found.view(ml_dtypes.bfloat16)
        difference = found.astype(np.float64) - exact
        return report, float(np.linalg.norm(difference) / np.linalg.norm(exact))

    @property
    def tolerance(self) -> float:
        return 1e-6 if self.boxes[2] is None else 3e-3


_WIDE = (64, 128)

SAMPLES = {
    s.name: s
    for s in (
        Sample("sm90_gemm_1tile", ((64, 64), (64, 64), None), (64, 64, 192), 16400, 1),
        Sample("sm90_gemm_ws", (_WIDE, _WIDE, (64, 64)), (256, 512, 320), 229440, 2),
        Sample("sm100_gemm_1tile", (_WIDE, _WIDE, None), (128, 128, 192), 32800, 1),
        Sample("sm100_gemm_2cta", (_WIDE, _WIDE, _WIDE), (256, 512, 448), 229520, 2),
    )
}
