"""Every operation of the dialect has a meaning, in the block or in an iteration."""

from __future__ import annotations

import pytest
from xdsl.ir import Operation

from tileas_xdsl.dialects.tl import Tl
from tileas_xdsl.dialects.tl.buffers import AllocLocalOp
from tileas_xdsl.dialects.tl.compute import AtomicAddOp
from tileas_xdsl.dialects.tl.loops import SerialOp
from tileas_xdsl.interpreters.tile.language import TILE_LANGUAGE
from tileas_xdsl.interpreters.tile.tl_kernels.parallel_loops import HANDLERS

IN_ITERATIONS = (AllocLocalOp, AtomicAddOp, SerialOp)


@pytest.mark.parametrize("kind", [*Tl.operations], ids=lambda kind: kind.name)
def test_every_operation_has_a_meaning(kind: type[Operation]):
    assert TILE_LANGUAGE.knows(kind) is (kind is not AtomicAddOp)
    assert (kind in HANDLERS) is (kind in IN_ITERATIONS)
