"""Tensors as TMA takes them apart: what each copy moves.

Source: CUTLASS include/cute/atom/copy_traits_sm90_tma.hpp, tma_partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl import layout as algebra
from tileas_xdsl.dialects.cute.base.inference_errors import inference_error
from tileas_xdsl.dialects.cute.base.operands import is_static_layout, tree_of
from tileas_xdsl.dialects.cute.base.operation import InferredOp
from tileas_xdsl.dialects.cute.base.symbolic_values import Pointer, View, symbol, type_of
from tileas_xdsl.dialects.cute.layout_algebra.modes import moved
from tileas_xdsl.dialects.cute.memory.views import bit_width
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import integer
from tileas_xdsl.dialects.cute_nvgpu.atoms.tma_copies import TmaCopyType, first_elements
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import Layout, coalesce, composition, logical_divide, right_inverse
from tileas_xdsl.layout.composed import innermost
from tileas_xdsl.layout.errors import LayoutError

__all__ = ["TmaPartitionOp"]


@irdl_op_definition
class TmaPartitionOp(InferredOp):
    """Shared and global tensors, ((copy, copies), rests...), for the block at `cta_coord`.

    Mode 0 of both tensors is what the blocks of `cta_layout` load together, in shares by multicast.
    """

    name = "cute_nvgpu.atom.tma_partition"
    atom = operand_def()
    cta_coord = operand_def()
    cta_layout = operand_def()
    smem = operand_def()
    gmem = operand_def()
    smem_part = result_def()
    gmem_part = result_def()
    traits = traits_def(Pure())

    def values(self) -> list[Any]:
        """The parts, in the algebra."""
        try:
            return self._parts()
        except LayoutError as error:
            raise inference_error(self, str(error)) from error

    def infer(self) -> Sequence[Attribute]:
        return [type_of(value) for value in self.values()]

    def _parts(self) -> list[Any]:
        smem, gmem = symbol(self.smem), symbol(self.gmem)
        if not isinstance(smem, View) or not isinstance(smem.iterator, Pointer):
            raise LayoutError(f"partitions a view of memory, not {self.smem.type}")
        if not isinstance(gmem, View):
            raise LayoutError(f"partitions a view of coordinates, not {self.gmem.type}")
        once, blocks = self._elements(smem.iterator), self._blocks()
        first = innermost(smem.layout)[0]
        order, together = right_inverse(first), once * blocks.size()
        if order.size() != first.size() or order.size() % together:
            raise LayoutError(f"{first} is no whole number of copies of {together} elements")
        order = cast("Layout", logical_divide(order, Layout(together)))
        block: Any = blocks.index(tree_of(symbol(self.cta_coord), "the block"))
        return [_part(view, order, once, block * once) for view in (smem, gmem)]

    def _elements(self, pointer: Pointer) -> int:
        atom = self.atom.type
        if not isinstance(atom, TmaCopyType):
            raise LayoutError(f"partitions for an atom of TMA, not {atom}")
        return integer(atom.bits) // max(bit_width(pointer.element), 1)

    def _blocks(self) -> Layout:
        """The blocks that load together."""
        blocks = symbol(self.cta_layout)
        if not isinstance(blocks, Layout) or not is_static_layout(blocks):
            raise LayoutError(f"blocks have a layout that is known, not {self.cta_layout.type}")
        atom = self.atom.type
        assert isinstance(atom, TmaCopyType)
        if blocks.size() != 1 and not atom.is_multicast:
            raise LayoutError(f"{blocks.size()} blocks share what they load by multicast: {atom}")
        return blocks


def _part(view: View, order: Layout, once: int, offset: Any) -> View:
    """Mode 0 in the order of shared memory, of it the share at `offset`; other modes stay."""
    first, *rests = tuple(innermost(view.layout))
    ordered = cast("Layout", coalesce(composition(first, order), (1, 1)))
    mine = first_elements(ordered[0], once)
    layout = algebra.make_layout(algebra.make_layout(mine, ordered[1]), *rests)
    together: Any = ordered[0]
    start: Any = together.index(offset)
    return View(moved(view.iterator, start), layout)
