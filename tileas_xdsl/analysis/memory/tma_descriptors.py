"""TMA descriptors of a kernel: created on the host or on the device, and their indices.

A descriptor that depends on nothing but kernel arguments, constants and integer arithmetic of them
is encoded by host code before the launch; any other is built or updated by the kernel:

    %d0 = make_tiled_tma_desc (view %a[%n, %c0])         %n an argument: host, index 0
    %p  = load %table[%i]; %v = make_memref %p, ...
    %d1 = make_tiled_tma_desc (view %v)                  an address from memory: device, index 0

`ArgumentView` (`window_of`) is what the host needs: the array argument and, per dimension, the
offsets that views add. One walk, in program order, so that all passes agree on the order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, MemRefType
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from tileas_xdsl.analysis.values.launches.pointer_base_arrays import (
    PointedArray,
    is_parameter,
    pointed_array,
    without_promises,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.ir_queries import ELEMENTWISE_DIALECTS
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileaa.base import as_array
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileas.attributes import LayoutAttr
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import MakeTiledTmaDescOp
from tileas_xdsl.dialects.nv_tileas.tma.index import check_tma_index, counts_of, has_descriptors
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaTransferOp
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.target.kernel_abi import Extents, Passed

ARITHMETIC = (
    arith.AddiOp,
    arith.AndIOp,
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
    arith.CmpiOp,
    arith.DivSIOp,
    arith.DivUIOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.FloorDivSIOp,
    arith.IndexCastOp,
    arith.MaxSIOp,
    arith.MaxUIOp,
    arith.MinSIOp,
    arith.MinUIOp,
    arith.MuliOp,
    arith.OrIOp,
    arith.RemSIOp,
    arith.RemUIOp,
    arith.SelectOp,
    arith.ShLIOp,
    arith.ShRSIOp,
    arith.ShRUIOp,
    arith.SubiOp,
    arith.TruncIOp,
    arith.XOrIOp,
)
"""Integer operations that host code can compute with equal results."""

_SEEN = (AssumeOp, MakeMemrefOp, ViewOp, memref.DimOp)
"""Operations on arrays whose results a host knows from the arguments."""


@dataclass
class DescriptorTables:
    """The descriptors that a kernel makes on the device and on the host, in program order."""

    device: list[MakeTiledTmaDescOp] = field(default_factory=list[MakeTiledTmaDescOp])
    host: list[MakeTiledTmaDescOp] = field(default_factory=list[MakeTiledTmaDescOp])

    @property
    def all(self) -> Sequence[MakeTiledTmaDescOp]:
        """All descriptors in the order of the kernel arguments for them."""
        return [*self.device, *self.host]


def descriptor_tables(kernel: func.FuncOp) -> DescriptorTables:
    """Collect the descriptors of a kernel in one walk."""
    found = DescriptorTables()
    for op in kernel.walk():
        if isinstance(op, MakeTiledTmaDescOp):
            table = found.host if is_born_on_host(op) else found.device
            table.append(op)
    return found


def is_born_on_host(op: MakeTiledTmaDescOp) -> bool:
    """Whether all that a descriptor depends on is known when its kernel is launched.

    Functions of `math`, and conversions from and to floats for them, count as known, so that the
    error is that of host code, which names the function.
    """
    unknown = [value for value in depended_on(op.view) if not _is_known(value)]
    return all(_is_computed_by_math(value) for value in unknown)


def _is_computed_by_math(value: SSAValue) -> bool:
    """Whether a value is computed by functions of `math` from otherwise known values."""
    pending, seen, has_math = [value], set[SSAValue](), False
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, OpResult) and value.op.name.startswith(ELEMENTWISE_DIALECTS):
            has_math |= value.op.name.startswith("math.")
            pending += value.op.operands
        elif not _is_known(value):
            return False
    return has_math


def constant_box(op: MakeTiledTmaDescOp) -> tuple[int, ...]:
    """Return the box of a descriptor; raise where an extent is not a constant."""
    box = op.box_extents
    known = tuple(extent for extent in box if extent is not None)
    if len(known) == len(box):
        return known
    if is_born_on_host(op):
        raise op_error(op, "has a box whose extents are not constants")
    reason = "a box is the same for all windows"
    raise op_error(op, message("cute_nvgpu.update_tma_desc.field", field="box_dim", reason=reason))


def depended_on(value: SSAValue) -> Iterator[SSAValue]:
    """Yield a value and all that it is computed from, up to values that no host can compute."""
    pending, seen = [value], set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        yield value
        if isinstance(value, OpResult) and _is_known(value):
            pending += value.op.operands


def _is_known(value: SSAValue) -> bool:
    if isinstance(value, BlockArgument):
        return is_parameter(value)
    assert isinstance(value, OpResult)
    op = value.op
    if isinstance(op, arith.ConstantOp):
        return isinstance(op.value, IntegerAttr)
    if op.name.startswith("math.") or isinstance(op, _SEEN):
        return True
    return isinstance(op, ARITHMETIC) and isinstance(value.type, IntegerType | IndexType)


def functions_with_descriptors(module: Operation) -> Sequence[func.FuncOp]:
    """The functions of a module that make a descriptor or have been given some."""
    functions = instances_in(module, func.FuncOp)
    return [f for f in functions if counts_of(f) is not None or _makes_descriptor(f)]


def _makes_descriptor(function: func.FuncOp) -> bool:
    return has_instance(function, MakeTiledTmaDescOp)


def check_lowered(function: func.FuncOp) -> None:
    """A function that has its descriptors makes none that a host could make."""
    for op in descriptor_tables(function).host:
        raise op_error(op, message("separate_host_tma.lower_descriptor_first"))


def check_indices(function: func.FuncOp) -> None:
    """Check that TMA operations of a function with descriptors name one that exists."""
    for op in function.walk():
        if isinstance(op, TmaTransferOp | MakeTiledTmaDescOp) and has_descriptors(op):
            check_tma_index(op, op.result if isinstance(op, MakeTiledTmaDescOp) else op.operands[0])


@dataclass(frozen=True)
class ArgumentView:
    """A part of an array argument: it begins at the sum of `starts` along each dimension."""

    argument: BlockArgument
    """The array, or the pointer to it."""
    type: MemRefType[Attribute]
    starts: Sequence[Sequence[SSAValue]]
    pointed: PointedArray | None = None
    """The array behind a pointer; None where the argument is the array."""

    @property
    def is_whole(self) -> bool:
        """Whether it is the argument as it is."""
        return not any(self.starts)

    @property
    def extents(self) -> Extents | None:
        """Return the extents of the array behind a pointer, as recipes have them."""
        if self.pointed is None:
            return None
        sizes, strides = (
            tuple(n if isinstance(n, int) else Passed(n.index) for n in counts)
            for counts in (self.pointed.sizes, self.pointed.strides)
        )
        return Extents(sizes, strides)


def window_of(view: SSAValue) -> ArgumentView | None:
    """Return the window of a kernel argument that a view shows; None for any other view."""
    views: list[ViewOp] = []
    while isinstance(view, OpResult) and isinstance(view.op, ViewOp):
        views.append(view.op)
        view = view.op.source
    pointed = pointed_array(view)
    argument = without_promises(view) if pointed is None else pointed.pointer
    if not isinstance(argument, BlockArgument) or not _is_known(argument):
        return None
    if not isinstance(view.type, MemRefType):
        return None
    type_ = as_array(view)
    rank = len(type_.get_shape())
    if not all(_keeps_dimensions(op, rank) for op in views):
        return None
    starts = [[op.indices[axis] for op in views if op.indices] for axis in range(rank)]
    return ArgumentView(argument, type_, starts, pointed)


def _keeps_dimensions(op: ViewOp, rank: int) -> bool:
    """Whether a view shows the dimensions of its source, only from another beginning on."""
    type_ = op.result.type
    if isinstance(type_, TiledViewType) and isinstance(type_.layout, LayoutAttr):
        return False
    begins = op.is_whole or (op.offset is None and len(op.indices) == rank)
    return begins and len(shape_of(type_) or ()) == rank
