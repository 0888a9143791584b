"""What a launch has to know to decide whether several CTAs should compute each tile block.

%n = ceildivsi %k, 64                     counts = [8, 4, 2]
scf.for %i = 0 to %n {                    steps = ["0", "scalar 5", "64", "ceildivsi 1 2", "1"]
  %x = tiled_load %a[%b, %i] : 128x64 ->  loops = [{bytes = 49152, bounds = [0, 3, 4]}]
  %y = tiled_load %b[%i, %j] : 64x256
}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Operation

from tileas_xdsl.analysis.memory.shared_memory import tile_bytes
from tileas_xdsl.analysis.values.launch_steps import LaunchSteps
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.target.few_tile_blocks import COUNTS
from tileas_xdsl.transforms.pipeline_loads.producer_slice import enclosing_control
from tileas_xdsl.transforms.plan_cta.division import possible_counts


def few_tile_blocks(kernel: func.FuncOp) -> DictionaryAttr | None:
    """Return the attribute that `FewTileBlocks` are read of; None where nothing is to be asked."""
    writer = LaunchSteps()
    loops = _loading_loops(kernel, writer)
    if not loops:
        return None
    counts = possible_counts(kernel, COUNTS)
    if not counts:
        return None
    return DictionaryAttr(
        {
            "counts": DenseArrayBase.from_list(i64, counts),
            "steps": ArrayAttr([StringAttr(step) for step in writer.steps]),
            "loops": ArrayAttr([_attribute(bounds, size) for bounds, size in loops.items()]),
        }
    )


def _loading_loops(kernel: func.FuncOp, writer: LaunchSteps) -> Mapping[Sequence[int], int]:
    """Return what iterations load, by the steps with the bounds of the loops around the loads.

    Loops whose bounds a launch does not know count once.
    """
    found: dict[Sequence[int], int] = {}
    for op in instances_in(kernel, LoadOp, TiledLoadOp):
        if loops := enclosing_control(op):
            bounds = [step for loop in loops for step in _bounds(loop, writer)]
            found[tuple(bounds)] = found.get(tuple(bounds), 0) + tile_bytes(op.results[0].type)
    return {bounds: size for bounds, size in found.items() if bounds}


def _bounds(loop: Operation, writer: LaunchSteps) -> Sequence[int]:
    if not isinstance(loop, scf.ForOp):
        return ()
    steps = [writer.of(bound) for bound in (loop.lb, loop.ub, loop.step)]
    known = [step for step in steps if step is not None]
    return known if len(known) == len(steps) else ()


def _attribute(bounds: Sequence[int], size: int) -> DictionaryAttr:
    values = DenseArrayBase.from_list(i64, bounds)
    return DictionaryAttr({"bytes": IntegerAttr(size, 64), "bounds": values})
