"""Copies of tensor memory by the four warps of a warpgroup, each of its own lanes.

Source: CUTLASS include/cute/atom/copy_traits_sm100.hpp, make_tmem_copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects.cute.base.inference_errors import inference_error
from tileas_xdsl.dialects.cute.base.operation import InferredOp
from tileas_xdsl.dialects.cute.base.symbolic_values import map_tree
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.layouts import LayoutAttr
from tileas_xdsl.dialects.cute.types.tiled_atoms import TiledCopyType
from tileas_xdsl.dialects.cute.types.tuples import TileAttr
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import integer
from tileas_xdsl.dialects.cute_nvgpu.atoms.tmem_copies import TmemMoveType
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import Layout, coalesce
from tileas_xdsl.target.tensor_memory import LANE_STEP, LANES, counted, move_registers

__all__ = ["MakeTmemCopyOp"]

WARPS = 4
WARP_LANES = LANES // WARPS

ROWS: Mapping[int, Layout] = {
    32: Layout(LANES, LANE_STEP),
    16: Layout((16, WARPS), (LANE_STEP, WARP_LANES * LANE_STEP)),
}
"""By the lanes that a warp moves at once, the rows of a view (`target.tensor_memory`)."""


@irdl_op_definition
class MakeTmemCopyOp(InferredOp):
    """The tiled copy that moves rows of a view of tensor memory, a lane each, by 128 threads.

    The view is (rows, columns): 128 lanes, or the first 16 of each 32, by columns beside.
    """

    name = "cute_nvgpu.atom.make_tmem_copy"
    atom = operand_def()
    view = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        atom, rows = self.atom.type, self._rows()
        if not isinstance(atom, TmemMoveType):
            raise inference_error(self, f"tiles a move of tensor memory, not {atom}")
        lanes = integer(atom.lanes)
        if coalesce(rows) != ROWS[lanes]:
            raise inference_error(
                self, f"moves {lanes} lanes of each {WARP_LANES}, not those of {self.view.type}"
            )
        tile = TileAttr((Layout(lanes * WARPS), Layout(atom.columns)))
        return (TiledCopyType(atom, LayoutAttr(_threads(atom, lanes)), tile),)

    def _rows(self) -> Layout:
        type_ = self.view.type
        layout = type_.layout if isinstance(type_, MemRefType) else None
        in_tensor = isinstance(type_, MemRefType) and type_.space is AddressSpace.TMEM
        if not in_tensor or not isinstance(layout, Layout) or layout.rank != 2:
            raise inference_error(self, f"moves rows by columns of tensor memory, not {type_}")
        rows: Layout = layout[0]
        return rows


def _threads(atom: TmemMoveType, lanes: int) -> Layout:
    """(thread, register) of four warps to the number in a tile of their rows by columns."""
    number = partial(_number, lanes * WARPS)
    moved = move_registers(atom.shape, integer(atom.repeat))
    thread, register = counted(moved, LANE_STEP)
    warp = Layout(WARPS, lanes)
    return Layout(
        ((thread.shape, warp.shape), register.shape),
        ((map_tree(number, thread.stride), warp.stride), map_tree(number, register.stride)),
    )


def _number(rows: int, step: int) -> int:
    """A step of an address as one of the number in a tile."""
    lanes, columns = divmod(step, LANE_STEP)
    return lanes + columns * rows
