"""Elements in memory: tf32 takes a word there, although 19 of its bits count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import FloatTF32Type, IndexType, f16

import tileas_xdsl as tileas
from tileas_xdsl.dialects.element_bits import bits_of

COPY = Path(__file__).parents[2] / "kernels/tl/copy.mlir"


def test_tf32_takes_a_word() -> None:
    assert [bits_of(element) for element in (f16, FloatTF32Type(), IndexType())] == [16, 32, 64]


def test_tiles_of_tf32_are_copied_through_shared_memory() -> None:
    kernel = tileas.compile(COPY.read_text().replace("xf32", "xtf32"))
    a = np.arange(48 * 40, dtype=np.float32).reshape(48, 40) - 1000
    found = kernel.emulate(a, np.zeros_like(a), grid=(2, 3))
    assert [str(finding) for finding in found.findings] == []
    np.testing.assert_array_equal(found.arrays[1], a)
