"""Views: made of iterators and layouts, moved, and followed to their elements."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import FixedBitwidthType, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect, Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.base.inference_errors import inference_error
from tileas_xdsl.dialects.cute.base.operands import has_static_shape, layout_of, numbers_of, tree_of
from tileas_xdsl.dialects.cute.base.operation import AlgebraOp, CuteOp, InferredOp
from tileas_xdsl.dialects.cute.base.symbolic_values import (
    Descriptor,
    Pointer,
    Tree,
    View,
    symbol,
    type_of,
)
from tileas_xdsl.dialects.cute.layout_algebra.modes import moved
from tileas_xdsl.dialects.cute.layout_algebra.queries import Projection
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.elements import integer_bits
from tileas_xdsl.dialects.cute.types.pointers import PtrType, SwizzleType
from tileas_xdsl.dialects.cute.types.tuples import IntTupleType
from tileas_xdsl.dialects.cute.types.views import ArithTupleIterType, MemRefType
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import NO_SWIZZLE, int_tuple
from tileas_xdsl.layout.axes import axis_sum
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import flat, is_tuple
from tileas_xdsl.layout.integers import is_power_of_two


@irdl_op_definition
class MakeViewOp(AlgebraOp):
    """The view of an iterator, a pointer or a coordinate, with a layout."""

    name = "cute.make_view"
    iterator = operand_def()
    layout = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        iterator, layout = operands
        if layout_of(layout) is None or isinstance(layout, View):
            raise LayoutError(f"expected a layout, not {type_of(layout)}")
        if isinstance(iterator, Tree) and iterator.kind in (IntTupleType, ArithTupleIterType):
            return View(Tree(ArithTupleIterType, iterator.tree), layout)
        if not isinstance(iterator, Pointer):
            raise LayoutError(f"expected a pointer or a coordinate, not {type_of(iterator)}")
        return View(iterator, layout)


class TensorSugar(Projection, ABC):
    """A view taken apart and put together: what `get_iter`, `get_layout`, `make_view` give."""

    def compute(self, *operands: Any) -> Any:
        if not isinstance(operands[0], View):
            raise LayoutError(f"expected a view, not {type_of(operands[0])}")
        return operands[0]


@irdl_op_definition
class MakeTensorOp(TensorSugar):
    """The view itself; `cute-desugar` rebuilds it."""

    name = "cute.make_tensor"


@irdl_op_definition
class TensorOp(TensorSugar):
    """The view itself; `cute-desugar` rebuilds it."""

    name = "cute.tensor"


# Iterators


@irdl_op_definition
class AdvanceOp(AlgebraOp):
    """A coordinate or a descriptor further on; pointers move by `cute.add_offset`."""

    name = "cute.advance"
    iterator = operand_def()
    offset = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        iterator, offset = operands[0], numbers_of(operands[1], "the offset")
        if isinstance(iterator, Tree) and iterator.kind is ArithTupleIterType:
            return moved(iterator, _as_bases(offset))
        if is_tuple(offset):
            raise LayoutError(f"an offset in memory is one number, not {type_of(operands[1])}")
        if isinstance(iterator, Descriptor):
            return Descriptor(iterator.iterator.moved(offset), iterator.layout)
        if isinstance(iterator, Pointer):
            return iterator.moved(offset)
        raise LayoutError(f"expected an iterator, not {type_of(iterator)}")


def _as_bases(tree: Any, path: str = "") -> Any:
    """A tuple as the sum of multiples of basis vectors."""
    if not is_tuple(tree):
        return axis_sum(((path, tree),)) if path else tree
    total: Any = 0
    for i, part in enumerate(tree):
        total = total + _as_bases(part, f"{i}@{path}" if path else str(i))
    return total


@irdl_op_definition
class ApplySwizzleOp(AlgebraOp):
    """The plain pointer to where a pointer leads that has a swizzle, or is given one."""

    name = "cute.apply_swizzle"
    ptr = operand_def()
    swizzle = opt_prop_def(SwizzleType)
    result = result_def(PtrType)
    traits = traits_def(Pure())

    @property
    def applied(self) -> Any:
        """The swizzle that is applied to the address in bytes."""
        if self.swizzle is not None:
            return self.swizzle.data
        type_ = self.ptr.type
        return type_.swizzle if isinstance(type_, PtrType) else NO_SWIZZLE

    def compute(self, *operands: Any) -> Any:
        pointer = operands[0]
        if not isinstance(pointer, Pointer):
            raise LayoutError(f"expected a pointer, not {type_of(pointer)}")
        if self.swizzle is not None and pointer.swizzle.bits:
            raise LayoutError(f"{type_of(pointer)} has a swizzle already")
        swizzle = self.applied
        align = min(pointer.align, 1 << swizzle.base) if swizzle.bits else pointer.align
        return Pointer(pointer.element, pointer.space, align, NO_SWIZZLE, self)


@irdl_op_definition
class MakeArithTupleIterOp(Projection):
    """The iterator at a coordinate."""

    name = "cute.make_arith_tuple_iter"

    def compute(self, *operands: Any) -> Any:
        return Tree(ArithTupleIterType, tree_of(operands[0], "a coordinate"))


@irdl_op_definition
class DerefArithTupleIterOp(Projection):
    """The coordinate that an iterator is at."""

    name = "cute.deref_arith_tuple_iter"

    def compute(self, *operands: Any) -> Any:
        value = operands[0]
        if not isinstance(value, Tree) or value.kind is not ArithTupleIterType:
            raise LayoutError(f"expected an iterator over coordinates, not {type_of(value)}")
        return Tree(IntTupleType, value.tree)


@irdl_op_definition
class MakeDescIterOp(AlgebraOp):
    """The descriptor of a view of memory: pointer, shape, stride, swizzle and rank as one value."""

    name = "cute.make_desc_iter"
    view = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        view = operands[0]
        if not isinstance(view, View) or not isinstance(view.iterator, Pointer):
            raise LayoutError(f"expected a view of memory, not {type_of(view)}")
        return Descriptor(view.iterator, view.layout)


@irdl_op_definition
class DerefDescIterOp(AlgebraOp):
    """The view that a descriptor describes."""

    name = "cute.deref_desc_iter"
    iterator = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        descriptor = operands[0]
        if not isinstance(descriptor, Descriptor):
            raise LayoutError(f"expected a descriptor, not {type_of(descriptor)}")
        return View(descriptor.iterator, descriptor.layout)


# Memory


class AllocationOp(CuteOp, ABC):
    """Fresh memory with the layout that the result type says; all of it is known."""

    result = result_def(MemRefType)
    traits = traits_def(MemoryAllocEffect())

    def __init__(self, result_type: MemRefType) -> None:
        super().__init__(result_types=[result_type])

    def _check_space(self, space: AddressSpace) -> None:
        type_ = self.result.type
        if type_.space is not space:
            raise op_error(self, f"allocates {space}, not {type_.space}")
        if not has_static_shape(type_.layout):
            raise op_error(self, f"allocates what is known before run time, not {type_}")


@irdl_op_definition
class AllocaOp(AllocationOp):
    """Registers."""

    name = "cute.memref.alloca"

    def verify_(self) -> None:
        self._check_space(AddressSpace.RMEM)


@irdl_op_definition
class AllocSmemOp(AllocationOp):
    """Shared memory."""

    name = "cute.memref.alloc_smem"

    def verify_(self) -> None:
        self._check_space(AddressSpace.SMEM)


LOADABLE = (
    AddressSpace.GENERIC,
    AddressSpace.GMEM,
    AddressSpace.SMEM,
    AddressSpace.RMEM,
    AddressSpace.CMEM,
    AddressSpace.DSMEM,
)


def bit_width(type_: Attribute) -> int:
    """The bits of an element, 0 of what has none."""
    return type_.bitwidth if isinstance(type_, FixedBitwidthType) else integer_bits(type_)


def check_element(op: CuteOp, view: SSAValue) -> MemRefType:
    """The type of a view whose elements are loaded and stored; `inference_error` if they cannot."""
    type_ = view.type
    if not isinstance(type_, MemRefType):
        raise inference_error(op, f"expected a view of memory, not {type_}")
    width = bit_width(type_.element_type)
    if not is_power_of_two(width):
        raise inference_error(
            op, message("cute.memref_access.element", type=type_.element_type, bits=width)
        )
    if type_.space not in LOADABLE:
        raise inference_error(op, message("cute.memref_access.space", type=type_))
    if width == 1 and type_.space is not AddressSpace.RMEM:
        raise inference_error(op, message("cute.memref_access.i1_space", type=type_))
    return type_


def check_coordinate(op: CuteOp, type_: MemRefType, coord: SSAValue) -> None:
    """The coordinate names one element of a view of `type_`."""
    crd = tree_of(symbol(coord), "a coordinate")
    if not int_tuple.weakly_congruent(crd, type_.layout.shape) or None in flat(crd):
        raise inference_error(op, message("cute.memref_access.coordinate", coord=coord.type))


@irdl_op_definition
class MemRefLoadOp(InferredOp):
    """The element of a view at a coordinate."""

    name = "cute.memref.load"
    source = operand_def()
    coord = operand_def()
    result = result_def()
    traits = traits_def(MemoryReadEffect())

    def infer(self) -> Sequence[Attribute]:
        type_ = check_element(self, self.source)
        check_coordinate(self, type_, self.coord)
        return (type_.element_type,)


@irdl_op_definition
class MemRefStoreOp(CuteOp):
    """Puts an element at a coordinate of a view."""

    name = "cute.memref.store"
    destination = operand_def()
    coord = operand_def()
    value = operand_def()
    traits = traits_def(MemoryWriteEffect())

    def verify_(self) -> None:
        type_ = check_element(self, self.destination)
        check_coordinate(self, type_, self.coord)
        if self.value.type != type_.element_type:
            raise op_error(self, f"stores {type_.element_type}, not {self.value.type}")


def whole_vector(op: CuteOp, view: SSAValue) -> VectorType:
    """The vector of all elements of a view, colexicographically."""
    type_ = check_element(op, view)
    if not has_static_shape(type_.layout):
        raise inference_error(op, f"the number of elements of {type_} is not known")
    return VectorType(type_.element_type, [int_tuple.product(type_.layout.shape)])


@irdl_op_definition
class MemRefLoadVecOp(InferredOp):
    """All elements of a view as one vector, colexicographically."""

    name = "cute.memref.load_vec"
    source = operand_def()
    result = result_def()
    traits = traits_def(MemoryReadEffect())

    def infer(self) -> Sequence[Attribute]:
        return (whole_vector(self, self.source),)


@irdl_op_definition
class MemRefStoreVecOp(CuteOp):
    """Puts a vector into all places of a view, colexicographically."""

    name = "cute.memref.store_vec"
    value = operand_def()
    destination = operand_def()
    mask = opt_operand_def()
    traits = traits_def(MemoryWriteEffect())

    def verify_(self) -> None:
        wanted = whole_vector(self, self.destination)
        if self.value.type != wanted:
            raise op_error(self, f"stores {wanted}, not {self.value.type}")
        if self.mask is not None:
            raise op_error(self, "stores the whole vector: masks are not supported")
