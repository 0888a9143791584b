"""Products by rows that one thread of BLAS computes."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.interpreters.matmul import LARGEST, matmul


@pytest.mark.parametrize(
    ("left", "right"),
    [((64, 64), (64, 128)), ((2, 100, 64), (64, 129)), ((12, 4096), (4096, 256)), ((5, 0), (0, 3))],
    ids=["parts", "batch", "too long", "empty"],
)
def test_the_product_is_numpys(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-8, 9, left).astype("f4"), rng.integers(-8, 9, right).astype("f4")
    np.testing.assert_array_equal(matmul(a, b), a @ b)


def test_no_part_is_large_enough_for_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    plain = np.matmul

    def counted(*given: np.ndarray, **out: np.ndarray) -> np.ndarray:
        counts.append(given[0].size * given[1].shape[-1])
        return plain(*given, **out)

    monkeypatch.setattr(np, "matmul", counted)
    matmul(np.ones((256, 64), "f4"), np.ones((64, 256), "f4"))
    assert len(counts) > 1
    assert max(counts) <= LARGEST
