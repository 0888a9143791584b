"""Uniformity across a cluster: values and control flow that all its CTAs share."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects import arith, func, gpu, memref, scf
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileaa.grid import GetNumProgramsOp
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import inflows

CLUSTER_OF_TILE_BLOCKS = "nv_tileas.cluster_of_tile_blocks"
"""Attribute of a kernel: tile blocks along x, y, z that may be a cluster, each of one CTA."""


Extents: TypeAlias = tuple[int, int, int]
"""CTAs of a cluster along x, y and z."""


def tile_blocks_of_cluster(kernel: func.FuncOp) -> Extents:
    """Return how many tile blocks along x, y and z may be a cluster; 1 where they are none."""
    found = kernel.attributes.get(CLUSTER_OF_TILE_BLOCKS)
    if not isinstance(found, DenseArrayBase):
        return 1, 1, 1
    x, y, z = (int(extent) for extent in found.get_values())
    return x, y, z


def axis_of_clusters(kernel: func.FuncOp) -> int | None:
    """Return the axis along which tile blocks may be clusters; None if they are not."""
    extents = tile_blocks_of_cluster(kernel)
    return next((axis for axis, extent in enumerate(extents) if extent > 1), None)


_AXES = {"x": 0, "y": 1, "z": 2}

_SAME = (gpu.GridDimOp, gpu.BlockDimOp, GetNumProgramsOp, memref.DimOp, arith.ConstantOp)
"""What is the same for all blocks of a launch."""

_COMPUTED = ("arith.", "nv_tileaa.assume")
"""What computes a result of its operands alone, by the beginning of the name."""


@memoized_walk
def is_same_in_cluster(
    value: SSAValue, extents: Extents, carried: frozenset[SSAValue] = frozenset()
) -> bool:
    """Return whether a scalar is uniform across a cluster of these extents (x, y, z).

    Proven only for arguments of the kernel, their sizes, CTA ids along axes of extent 1, CTA ids
    divided by multiples of the extent, induction variables of uniform loops and what these carry,
    what uniform branches yield, and arithmetic of such; of `carried` it is assumed, for the rounds
    before.
    """
    if value in carried:
        return True
    if isinstance(value, BlockArgument):
        return _is_same_argument(value, extents, carried)
    op = value.owner
    if isinstance(op, _SAME):
        return True
    if isinstance(op, gpu.BlockIdOp):
        return extents[_AXES[str(op.dimension.data)]] == 1
    if isinstance(op, arith.DivUIOp) and _is_of_cluster(op, extents):
        return True
    if isinstance(op, scf.IfOp) and (yielded := inflows(value)) is not None:
        chosen = (op.cond, *yielded)
        return all(is_same_in_cluster(one, extents, carried) for one in chosen)
    if not isinstance(op, Operation) or not op.name.startswith(_COMPUTED):
        return False
    return all(is_same_in_cluster(operand, extents, carried) for operand in op.operands)


def _is_same_argument(value: BlockArgument, extents: Extents, carried: frozenset[SSAValue]) -> bool:
    parent = value.owner.parent_op()
    if isinstance(parent, func.FuncOp):
        return value.owner.prev_block is None
    if not isinstance(parent, scf.ForOp) or not _has_same_trip_count(parent, extents):
        return False
    return all(is_same_in_cluster(one, extents, carried | {value}) for one in inflows(value) or ())


def _has_same_trip_count(op: scf.ForOp, extents: Extents) -> bool:
    return all(is_same_in_cluster(value, extents) for value in (op.lb, op.ub, op.step))


def _is_of_cluster(op: arith.DivUIOp, extents: Extents) -> bool:
    """Whether an id is divided by a multiple of the blocks of a cluster along its axis."""
    dividend, divisor = op.lhs.owner, op.rhs.owner
    if not isinstance(dividend, gpu.BlockIdOp) or not isinstance(divisor, arith.ConstantOp):
        return False
    number = divisor.value
    extent = extents[_AXES[str(dividend.dimension.data)]]
    return isa(number, IntegerAttr) and number.value.data % extent == 0


def runs_uniformly(op: Operation, extents: Extents) -> bool:
    """Return whether control flow around an operation is uniform across the CTAs of a cluster."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, func.FuncOp):
        if isinstance(parent, scf.ForOp) and not _has_same_trip_count(parent, extents):
            return False
        if isinstance(parent, scf.IfOp) and not is_same_in_cluster(parent.cond, extents):
            return False
        if not isinstance(parent, scf.ForOp | scf.IfOp | StageOp | AgentSwitchOp):
            return False
        parent = parent.parent_op()
    return True
