"""Allocations of shared memory: what alignment leaves free is given to what fits there."""

from xdsl.dialects import test

from tileas_xdsl.target.arch import get_target
from tileas_xdsl.threads.smem.smem_layout import SharedMap, allocations_in


def test_barriers_share_what_the_alignment_of_tiles_leaves() -> None:
    shared, op = SharedMap(get_target("sm_90a")), test.TestOp()

    def allocate(size: int, alignment: int = 1024) -> int:
        return shared.allocate(op, "%x", size, "anything", alignment)

    assert [allocate(8, 8), allocate(2048), allocate(24, 8), allocate(4096)] == [0, 1024, 8, 3072]
    assert allocate(992, 8) == 32
    assert allocate(8, 8) == 7168  # no gap is left
    assert shared.bytes == 7176
    parts = allocations_in(shared.table())
    assert [part.offset for part in parts] == [0, 8, 32, 1024, 3072, 7168]
