# pyright: basic
"""Tiles of a loop that have the memory of those of a loop before it."""

from __future__ import annotations

import pytest

pytest.importorskip("cuda.tile")

import tileas_xdsl as tileas
from kernels.cutile import emulated
from kernels.cutile.attention_backward import Gradients
from tests.support.orders import in_turns
from tileas_xdsl.pipelines import PIPELINES, with_persistence

CAUSAL = Gradients(1, 1, 320, 128, tm=64, tn=128, causal=True, of="all").problem()
TILE_BLOCKS_IN_A_LOOP = Gradients(1, 2, 192, 128, tm=64, tn=64, causal=True).problem()


def passes(mode: str):
    return (
        *PIPELINES["cudatile-to-tileas"].passes,
        *with_persistence(PIPELINES["tileas-to-ptx"].passes, mode),
    )


@pytest.mark.parametrize(
    ("problem", "mode", "stages", "order"),
    in_turns([(CAUSAL, "off", (3, 3)), (TILE_BLOCKS_IN_A_LOOP, "on", (4, 4))], ("lazy", "random")),
    ids=str,
)
def test_what_products_have_read_is_overwritten_by_the_next_loop(
    problem, mode, stages, order
) -> None:
    """Of asynchronous products as well: they have read their operands when they are waited for.

    No stage is given up for the second loop, whose tiles took 16 KB more.
    """
    code = tileas.compile(
        problem.kernel, *problem.arguments(), target="sm_90a", passes=passes(mode)
    )
    rings = [line for line in code.abi.shared_map.splitlines() if "stages of 16384" in line]
    assert tuple(int(line.split()[4]) for line in rings[:2]) == stages
    assert emulated(problem, code, order=order).is_right
