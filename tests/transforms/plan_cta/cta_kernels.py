# pyright: basic
"""Kernels of cuTile whose tile blocks ask for several CTAs."""

from __future__ import annotations

from typing import Any

import cuda.tile as ct


@ct.kernel(num_ctas=4)
def numbers(x: Any) -> None:
    """Write the number of the tile block, and how many there are."""
    rows = ct.full((64,), ct.bid(0) * 100 + ct.num_blocks(0), dtype=ct.int32)
    ct.store(x, index=(ct.bid(0),), tile=rows + ct.arange(64, dtype=ct.int32))


@ct.kernel(num_ctas=2)
def counted(x: Any, total: Any) -> None:
    """Count the tile blocks, each once."""
    ct.atomic_add(total, (0,), 1)
    ct.store(x, index=(ct.bid(0),), tile=ct.full((64,), 1, dtype=ct.int32))
