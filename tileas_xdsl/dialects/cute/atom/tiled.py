"""Partitions of views by tiled copies and tiled MMAs: what one thread has of them.

Source: CUTLASS include/cute/atom/copy_atom.hpp (TiledCopy) and mma_atom.hpp (TiledMMA).
"""

from __future__ import annotations

from abc import ABC
from typing import Any, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import MemoryAllocEffect, Pure

from tileas_xdsl import layout as algebra
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.atom.calls import atom_of
from tileas_xdsl.dialects.cute.atom.interfaces import CopyAtomType, MmaAtomType, MmaOperand
from tileas_xdsl.dialects.cute.base.operands import has_bases, is_static_layout, layout_of, tree_of
from tileas_xdsl.dialects.cute.base.operation import AlgebraOp
from tileas_xdsl.dialects.cute.base.symbolic_values import Opaque, Pointer, Tree, View, type_of
from tileas_xdsl.dialects.cute.layout_algebra.modes import sliced
from tileas_xdsl.dialects.cute.memory.partitions import registers
from tileas_xdsl.dialects.cute.memory.views import bit_width
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.tiled_atoms import TiledCopyType, TiledMmaType
from tileas_xdsl.dialects.cute.types.tuples import ShapeType
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import Layout, coalesce, composition, int_tuple, zipped_divide
from tileas_xdsl.layout.composed import innermost, lift_domain
from tileas_xdsl.layout.errors import LayoutError


def element_of_view(value: Any) -> Attribute:
    """The element of a view of memory; `LayoutError` for any other value."""
    if not isinstance(value, View) or not isinstance(value.iterator, Pointer):
        raise LayoutError(f"expected a view of memory, not {type_of(value)}")
    return value.iterator.element


def whole_modes(layout: Any) -> Layout:
    """The layout with its top-level modes wrapped, if it has but one of them."""
    return layout if isinstance(layout.shape, tuple) else algebra.make_layout(layout)


# Copies


def _in_elements(layout: Layout | None, bits: int) -> Layout | None:
    """A layout of an atom, (thread, bit) to bit, counted in elements."""
    return None if layout is None else algebra.recast_layout(layout, 1, bits)


def thread_values(tiled: TiledCopyType, side: Layout | None, bits: int) -> Layout:
    """((thread, values), rest of both) to the index in the tile, as one side of the copy has it.

    `side` is (thread, element) to the number of the element in the atom; None as the reference.
    """
    atom = tiled.atom
    assert isinstance(atom, CopyAtomType)
    values = (atom.copy_bits or bits) // bits
    split: Any = zipped_divide(tiled.thread_values, (atom.threads, values))
    reference = _in_elements(atom.reference_layout, bits)
    if side is not None and reference is not None and side != reference:
        to_side = composition(algebra.right_inverse(reference), side)
        split = algebra.make_layout(composition(split[0], to_side), split[1])
    zipped: Layout = algebra.zip_modes(split[0], split[1])
    return coalesce(zipped, (1, (1, 1)))


def partition(tiled: TiledCopyType, layout: Any, tv: Layout, thread: Any) -> Any:
    """(thread's values, rests...) of a layout, and the coordinate that is sliced off."""
    tiler = tiled.tiler_mn.data
    divide: Any = zipped_divide
    divided = divide(layout, tiler)

    def in_threads(plain: Layout) -> Layout:
        tile = composition(whole_modes(plain[0]), tv)
        return algebra.make_layout(*tile, *plain[1])

    unfolded = lift_domain(in_threads, divided)
    return unfolded, (thread, *(None,) * (unfolded.rank - 1))


class TiledCopyPart(AlgebraOp, ABC):
    """A partition by a tiled copy for the thread `coord`: (values, rests...)."""

    tiled_copy = operand_def()
    input = operand_def()
    coord = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def side(self, atom: CopyAtomType) -> Layout | None:
        """Return the atom's thread-value layout of this side of the copy: source or destination."""
        raise LayoutError(f"{atom} has no such side")

    def compute(self, *operands: Any) -> Any:
        tiled, value, coord = operands
        if not isinstance(tiled, Opaque) or not isinstance(tiled.type, TiledCopyType):
            raise LayoutError(f"expected a tiled copy, not {type_of(tiled)}")
        layout = layout_of(value)
        if layout is None:
            raise LayoutError(f"expected a view or a layout, not {type_of(value)}")
        atom = atom_of(self, self.tiled_copy, CopyAtomType, "a tiled copy")
        bits = _bits_of(value)
        tv = thread_values(tiled.type, _in_elements(self.side(atom), bits), bits)
        thread = tree_of(coord, "the thread")
        unfolded, crd = partition(tiled.type, layout, tv, thread)
        rebuilt = View(value.iterator, unfolded) if isinstance(value, View) else unfolded
        return sliced(rebuilt, crd)


def _bits_of(value: Any) -> int:
    """The bits of an element; views of coordinates are counted in elements of one bit."""
    if isinstance(value, View) and isinstance(value.iterator, Pointer):
        return bit_width(value.iterator.element) or 1
    return 1


@irdl_op_definition
class PartitionSOp(TiledCopyPart):
    """A thread's part of the source."""

    name = "cute.tiled.copy.partition_S"

    def side(self, atom: CopyAtomType) -> Layout | None:
        return atom.source_layout


@irdl_op_definition
class PartitionDOp(TiledCopyPart):
    """A thread's part of the destination."""

    name = "cute.tiled.copy.partition_D"

    def side(self, atom: CopyAtomType) -> Layout | None:
        return atom.destination_layout


@irdl_op_definition
class RetileOp(AlgebraOp):
    """A thread's registers, (values, rests...), with modes as a tiled copy partitions them.

    Mode 0 is split in what the atom copies at once and how often it does.
    """

    name = "cute.tiled.copy.retile"
    tiled_copy = operand_def()
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        tiled, value = operands
        if not isinstance(tiled, Opaque) or not isinstance(tiled.type, TiledCopyType):
            raise LayoutError(f"expected a tiled copy, not {type_of(tiled)}")
        atom = atom_of(self, self.tiled_copy, CopyAtomType, "a tiled copy")
        bits = bit_width(element_of_view(value))
        values = (atom.copy_bits or bits) // bits
        layout = value.layout
        if not isinstance(layout, Layout) or not is_static_layout(layout):
            raise LayoutError(f"{layout} is no layout of registers")
        first = zipped_divide(layout[0], values)
        return View(value.iterator, algebra.make_layout(first, *tuple(layout)[1:]))


SIDES = ("S", "D")
"""Source and destination of a copy."""


@irdl_op_definition
class CopyMakeFragmentOp(AlgebraOp):
    """Registers for one side of a copy: those of a thread's part, (values, rests...), of a view."""

    name = "cute.copy.make_fragment"
    atom = operand_def()
    input = operand_def()
    operand_id = prop_def(StringAttr)
    result = result_def()
    traits = traits_def(MemoryAllocEffect())

    def compute(self, *operands: Any) -> Any:
        atom = atom_of(self, self.atom, CopyAtomType, "a copy atom")
        side = self.operand_id.data
        if side not in SIDES:
            raise LayoutError(f"a copy has the sides {' and '.join(SIDES)}, not {side}")
        spaces = atom.SOURCE_SPACES if side == "S" else atom.DESTINATION_SPACES
        if spaces and AddressSpace.RMEM not in spaces:
            raise LayoutError(f"{side} of {atom} is in {', '.join(spaces)}, not in registers")
        element = element_of_view(operands[1])
        layout = innermost(operands[1].layout)
        if not is_static_layout(layout) or has_bases(layout.stride):
            raise LayoutError("registers have a layout with integers that are known")
        return View(registers(element, self), algebra.make_fragment_like(layout))


# Products

OPERANDS = {operand.value: operand for operand in MmaOperand}
_AXES = {"A": (0, 2), "B": (1, 2), "C": (0, 1), "D": (0, 1)}
"""Of M, N, K, those along which an operand lies."""


class TiledMmaPart(AlgebraOp, ABC):
    """An operation on a tiled MMA and one of its operands."""

    tiled_mma = operand_def()
    input = operand_def()
    operand_id = prop_def(StringAttr)
    traits = traits_def(Pure())

    @property
    def operand(self) -> MmaOperand:
        """The operand that is partitioned."""
        found = OPERANDS.get(self.operand_id.data)
        if found is None or found.value not in _AXES:
            names = ", ".join(_AXES)
            raise op_error(self, f"partitions {names}, not {self.operand_id.data}")
        return found

    @property
    def axes(self) -> tuple[int, int]:
        """The places of its modes among M, N, K."""
        return _AXES[self.operand.value]

    def tiled_type(self) -> TiledMmaType:
        """The type of the tiled MMA."""
        if not isinstance(self.tiled_mma.type, TiledMmaType):
            raise op_error(self, f"expects a tiled MMA, but got {self.tiled_mma.type}")
        return self.tiled_mma.type

    def atom(self) -> MmaAtomType:
        """The atom that is tiled."""
        return atom_of(self, self.tiled_mma, MmaAtomType, "a tiled MMA")

    def divided(self, layout: Any) -> Any:
        """((atom's modes), (rests...)) of an operand, permuted before."""
        tiled, (one, other) = self.tiled_type(), self.axes
        permutation = tiled.permutation_mnk.data
        shape = self.atom().shape_mnk
        divide: Any = algebra.logical_divide
        permuted = divide(layout, (permutation[one], permutation[other]))
        divide = zipped_divide
        return divide(permuted, (shape[one], shape[other]))


@irdl_op_definition
class MmaPartitionOp(TiledMmaPart):
    """An operand's part for the thread `coord`: (values, rests...)."""

    name = "cute.tiled.mma.partition"
    tiled_mma = operand_def()
    input = operand_def()
    coord = operand_def()
    result = result_def()

    def compute(self, *operands: Any) -> Any:
        _, value, coord = operands
        layout = layout_of(value)
        if layout is None:
            raise LayoutError(f"expected a view or a layout, not {type_of(value)}")
        tv = self.atom().operand_layout(self.operand)
        if tv is None:
            raise LayoutError(f"{self.atom()} has no operand {self.operand.value}")
        threads = self._threads()

        def in_threads(plain: Layout) -> Layout:
            values = composition(whole_modes(plain[0]), tv)
            rests = zipped_divide(plain[1], threads)
            return algebra.make_layout(values[0], *whole_modes(rests[0]), values[1], *rests[1])

        unfolded = lift_domain(in_threads, self.divided(layout))
        coordinates = self._atom_coordinates(tree_of(coord, "the thread"))
        crd = (*coordinates, *(None,) * (unfolded.rank - len(coordinates)))
        rebuilt = View(value.iterator, unfolded) if isinstance(value, View) else unfolded
        return sliced(rebuilt, crd)

    def _threads(self) -> tuple[int, int]:
        """How many atoms lie along the modes of the operand."""
        shape = self.tiled_type().atom_layout.shape
        one, other = self.axes
        assert isinstance(shape, tuple)
        return int_tuple.product(shape[one]), int_tuple.product(shape[other])

    def _atom_coordinates(self, thread: Any) -> tuple[Any, Any, Any]:
        """The thread in its atom, and the atom's place along the two modes."""
        numbers = self.tiled_type().atom_layout
        inside = algebra.make_layout(Layout(self.atom().threads))
        one, other = self.axes
        vmnk = algebra.tiled_product(inside, numbers)
        digits = [
            int_tuple.crd2idx(int_tuple.idx2crd(thread, mode.shape, mode.stride), mode.shape)
            for mode in vmnk
        ]
        return digits[0], digits[1 + one], digits[1 + other]


@irdl_op_definition
class MmaPartitionShapeOp(TiledMmaPart):
    """The shape of a thread's part of an operand of a given shape: (values, rests...)."""

    name = "cute.tiled.mma.partition_shape"
    tiled_mma = operand_def()
    input = operand_def()
    result = result_def()

    def compute(self, *operands: Any) -> Any:
        shape = tree_of(operands[1], "a shape")
        one, other = self.axes
        atoms, mnk = self.tiled_type().atom_layout.shape, self.atom().shape_mnk
        tv = self.atom().operand_layout(self.operand)
        if tv is None or not isinstance(atoms, tuple) or not isinstance(shape, tuple):
            raise LayoutError(f"{self.operand.value} has a shape of two modes")
        steps = [mnk[axis] * int_tuple.product(atoms[axis]) for axis in (one, other)]
        modes = cast(tuple[Any, ...], shape)
        rests = [
            int_tuple.ceil_div(extent, step) for extent, step in zip(modes, steps, strict=False)
        ]
        return Tree(ShapeType, (tv[1].shape, *rests, *modes[2:]))


@irdl_op_definition
class MmaMakeFragmentOp(AlgebraOp):
    """What a thread holds of a partitioned operand, (values, rests...): registers, mostly."""

    name = "cute.mma.make_fragment"
    atom = operand_def()
    input = operand_def()
    operand_id = prop_def(StringAttr)
    result = result_def()
    traits = traits_def(MemoryAllocEffect())

    def compute(self, *operands: Any) -> Any:
        atom = atom_of(self, self.atom, MmaAtomType, "an MMA atom")
        operand = OPERANDS.get(self.operand_id.data)
        if operand is None or atom.element_type(operand) is None:
            raise LayoutError(f"{atom} has no operand {self.operand_id.data}")
        declared = atom.fragment_type(self, operand, self.input.type)
        if declared is not None:
            return Opaque(declared, self)
        value = operands[1]
        layout = self._laid_out(value)
        if layout.rank < 3:
            raise LayoutError(f"a partitioned operand has three modes at least, not {layout}")
        element: Any = atom.element_type(operand)
        return View(registers(element, self), algebra.make_fragment_like(layout))

    def _laid_out(self, value: Any) -> Layout:
        layout: Any = layout_of(value)
        if layout is None and isinstance(value, Tree):
            layout = Layout(value.tree)
        if layout is None:
            raise LayoutError(f"expected a view or a shape, not {type_of(value)}")
        layout = innermost(layout)
        if not is_static_layout(layout):
            raise LayoutError("registers have extents that are known")
        return Layout(layout.shape) if has_bases(layout.stride) else layout
