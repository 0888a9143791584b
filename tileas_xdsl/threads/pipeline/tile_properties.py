"""Properties of all tiles of a kernel that decide their register layouts.

Tiles without an encoding get a default layout, and tiles of one shape must get the same one, or
every elementwise operation would convert. So layouts are a function of shape and of facts about
the whole kernel: the widest element that is loaded or stored (chunks of 16 bytes of it), and which
shapes are rows of a reduced matrix:

    %s = nv_tileas.reduce %m {axis = 1} : tensor<64x128xf32> -> tensor<64xf32>
    every tensor<64xf32>: the layout of the row values of 64x128, not 64 elements over the lanes

Also which arrays are both read and written, for the fences and the order of accesses, and which of
them tokens order with another array, so that both may be the same memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import enclosing_ops
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.blocked import blocked_layout, row_values_layout, rows_layout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.gmem.pointers.base_arrays import ArrayAccess, origins, touches, views_of
from tileas_xdsl.threads.gmem.token_order import aliased_arrays
from tileas_xdsl.threads.pipeline.warp_allocation import Agent

LOOPS = Kinds(scf.ForOp, scf.WhileOp, "tl.pipelined", "tl.serial")
"""Operations that run their body repeatedly."""

DEFAULT_ELEMENT_BYTES = 4
"""Widest element assumed for a kernel without plain loads and stores, in bytes."""


@dataclass(frozen=True)
class TileFacts:
    """Properties of all tiles of a kernel that decide register layouts."""

    reduced: Mapping[tuple[int, ...], tuple[int, ...]]
    """By the shapes that reductions along the last axis of a matrix give, that of a matrix."""
    widest: int
    """Bytes of the widest element that is loaded or stored."""
    rewritten: frozenset[SSAValue]
    """Memory that is stored to, and also accessed by another operation: one array for all that
    may be the same."""
    aliases: Mapping[SSAValue, SSAValue]
    """By arrays that may be the same memory as others, one of these."""
    written: frozenset[SSAValue]
    """Arrays that threads store to, visible to TMA only after a proxy fence."""

    @staticmethod
    def of(kernel: func.FuncOp) -> TileFacts:
        """Collect the facts about a kernel."""
        operations = operations_in(kernel)
        sizes = [max(bits_of(element_of(op.view.type)) // 8, 1) for op in _accesses(operations)]
        accesses = [*touches(operations)]
        aliases = aliased_arrays(accesses)
        return TileFacts(
            {shape[:-1]: shape for shape in _reduced(operations)},
            max(sizes, default=DEFAULT_ELEMENT_BYTES),
            frozenset(_rewritten(accesses, aliases)),
            aliases,
            frozenset(array for t in accesses if t.writes for array in t.arrays),
        )

    def rewritten_by(self, place: SSAValue) -> set[SSAValue]:
        """Return the rewritten memory that a view or pointers may lead to."""
        return _memory(origins(place), self.aliases) & self.rewritten

    def layout(self, op: Operation, shape: tuple[int, ...], agent: Agent) -> RegisterLayout:
        """Return the register layout of tiles of a shape; raise at `op` where there is none."""
        if any(extent == DYNAMIC_INDEX or extent & (extent - 1) for extent in shape):
            listed = "x".join(map(str, shape))
            raise op_error(
                op, f"registers hold tiles whose extents are powers of two, not {listed}"
            )
        if shape in self.reduced:
            return row_values_layout(rows_layout(self.reduced[shape], agent.warps, self.widest))
        return blocked_layout(shape, agent.warps, self.widest)

    def rows(self, shape: tuple[int, ...], agent: Agent) -> RegisterLayout:
        """Return the register layout of a tile whose rows are loaded or stored."""
        return blocked_layout(shape, agent.warps, self.widest)


def _reduced(operations: Sequence[Operation]) -> list[tuple[int, ...]]:
    """Return the shapes of matrices that are reduced along their last axis."""
    reductions = [op for op in operations if type(op) is ReduceOp and len(op.sources) == 1]
    shapes = [(tuple(op.source.type.get_shape()), op.axis.value.data) for op in reductions]
    return [shape for shape, axis in shapes if axis == len(shape) - 1 and axis > 0]


def _accesses(operations: Sequence[Operation]) -> list[TiledLoadBase | TiledStoreOp]:
    return [op for op in operations if isinstance(op, TiledLoadBase | TiledStoreOp)]


def _rewritten(
    accesses: Sequence[ArrayAccess], aliases: Mapping[SSAValue, SSAValue]
) -> set[SSAValue]:
    """Return the memory that is stored to, and accessed by another operation or iteration."""
    found = [(access, _memory(access.arrays, aliases)) for access in accesses]
    touched = Counter(array for _, arrays in found for array in arrays)
    touched.update(a for access, arrays in found if _may_overlap_itself(access) for a in arrays)
    stored = {array for access, arrays in found if access.writes for array in arrays}
    return {array for array in stored if touched[array] > 1}


def _memory(arrays: Iterable[SSAValue], aliases: Mapping[SSAValue, SSAValue]) -> set[SSAValue]:
    """Return arrays, one for all that may be the same memory."""
    return {aliases.get(array, array) for array in arrays}


def _may_overlap_itself(touch: ArrayAccess) -> bool:
    """Whether iterations of a loop may access views that overlap without being equal."""
    if isinstance(touch.op, TiledLoadBase | TiledStoreOp):
        somewhere = any(view.indices for view in views_of(touch.place))
        moves = touch.op.offsets and touch.op.rotated is None
        return bool(moves or somewhere) and runs_again(touch.op)
    return runs_again(touch.op)


def runs_again(op: Operation) -> bool:
    """Whether an operation is in a loop."""
    return any(LOOPS[type(parent)] for parent in enclosing_ops(op))


def origin(view: SSAValue) -> SSAValue:
    """Return the array that a view, or a view of views, is of."""
    views = [*views_of(view)]
    return views[-1].source if views else view
