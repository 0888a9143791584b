"""The shared memory through which warps exchange lines that the rounds of a loop compute.

    %line = mulf %slope, (sitofp %columns) : tensor<1x128xf32>
    %bias = generate { extract %line[0, %column] } : tensor<128x128xf32>

Every warp computes the line, four elements in each lane, and reads those of its accumulators, which
other lanes have.  In a copy of its own it waits for no other warp; in one that all share two
barriers of each round keep warpgroups from multiplying in turn.
"""

from __future__ import annotations

from xdsl.dialects import scf, tensor
from xdsl.ir import Operation

from tileas_xdsl.analysis.memory.shared_memory import aligned_bytes
from tileas_xdsl.analysis.values.computed_lines import is_computed_line
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.layout.convert.shared import MAX_COPIED_BYTES
from tileas_xdsl.layout.units import WARPGROUP_WARPS

MOST_WARPS = 2 * WARPGROUP_WARPS
"""Of an agent that multiplies."""


def exchanged_bytes(loop: scf.ForOp) -> int:
    """Return the bytes of copies of all lines that a loop computes and tiles read."""
    generated = instances_in(loop, GenerateOp)
    read = (op.tensor for one in generated for op in instances_in(one, tensor.ExtractOp))
    lines = 0
    for line in dict.fromkeys(read):
        is_inside = isinstance(made := line.owner, Operation) and loop.is_ancestor(made)
        if is_inside and is_computed_line(line):
            lines += aligned_bytes(line.type)
    return min(MOST_WARPS * lines, MAX_COPIED_BYTES)
