"""The pass `tileas-bound-rows`: code for rows of a length that a launch knows.

func.func @k(%p, %n)                                      for rows of 4,097 to 5,104 elements:
  %v = make_memref %p sizes[%n]
  %x = tiled_load %v[0] : 8192                              %m = assume %n, bounded<4096, 5104>
                                                            %v = make_memref %p sizes[%m]
  tileas.bounded_rows = {width = 8192, arguments = [1]}     %x = tiled_load %v[0] : 8192

Tiles are powers of two.  Where a row is known to end before three eighths of its tile, no thread
has anything there: those registers are one number, what is computed of it is computed once, and
nothing of it is loaded or stored.  Where the length itself is known, no access has a mask.  Where
products read rows, they end with them (`tileas-end-products`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.liveness.tiles import peak_registers, tile_registers
from tileas_xdsl.analysis.values.padded_products import ProductEnds, end_along
from tileas_xdsl.analysis.values.rows.row_extents import array_of, row_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import defined_functions
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, WARPS_HINT, KernelSpecAttr
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp, BoundedAttr
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.plain_attributes import plain_attribute
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.kernel_abi import BOUNDED_ROWS, ROW_LENGTHS
from tileas_xdsl.target.launches.bounded_rows import MIN_PART, ROOM, part_of

STEP = 16
"""Elements of two bytes that an instruction multiplies along a row."""

MAX_REGISTERS = 128
"""Registers of a thread that tiles may take, as far as their rows reach."""


@dataclass(frozen=True)
class Rows:
    """The rows of a kernel that begin with its widest tiles."""

    width: int
    """Columns of the tiles."""
    extents: Mapping[SSAValue, int]
    """Their lengths, and the arguments that these are."""
    vector: int
    """Elements of the narrowest type in 16 bytes."""
    is_alone: bool
    """Whether each tile has one row."""
    step: int = 0
    """Elements that an instruction multiplies, of rows that products read."""


@dataclass(frozen=True)
class TileasBoundRows(ModulePass):
    """Write down for which lengths of rows a launch may have code of its own.

    A launch is asked for the length of its rows (`tileas.bounded_rows`), and compiles the form for
    it: with `least` and `most` the pass states their range (`nv_tileaa.assume`), or the number
    itself, and a tile of one row has as many threads as make its registers end where rows do.  What
    a hint says about warps is kept.

    Rewrites locally.  Kernels with products are asked for the lengths of rows that these read.
    """

    name = "tileas-bound-rows"

    least: int = 0
    most: int = 0

    def __post_init__(self) -> None:
        """Refuse bounds that no length is between; raises `ValueError`."""
        if not (0 < self.least <= self.most or self.least == self.most == 0):
            raise ValueError(
                f"options least and most are given together, and least is 1 to most: "
                f"not {self.least} and {self.most}"
            )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in defined_functions(op):
            if (rows := _rows(kernel)) is None:
                continue
            if self.most:
                _state(rows, self.least, self.most)
                _set_warps(kernel, rows, self.most)
                kernel.attributes[ROW_LENGTHS] = plain_attribute([self.least, self.most])
            else:
                asked = {"width": rows.width, "arguments": sorted(set(rows.extents.values()))}
                asked |= {"step": rows.step} if rows.step else {}
                kernel.attributes[BOUNDED_ROWS] = plain_attribute(asked)


def _rows(kernel: func.FuncOp) -> Rows | None:
    """Return the rows of a kernel; None where the widest tiles do not begin with rows."""
    if has_instance(kernel, DotOp):
        return _rows_of_products(kernel)
    accesses = [op for op in operations_in(kernel) if isinstance(op, TiledLoadBase | TiledStoreOp)]
    width = max((_shape(op)[-1] for op in accesses), default=0)
    widest = [op for op in accesses if _shape(op)[-1] == width]
    rows = [row_of(op) for op in widest]
    if width < 2 * MIN_PART or None in rows:
        return None
    extents = {row[1]: _argument(row[1]) for row in rows if row is not None}
    known = {extent: number for extent, number in extents.items() if number is not None}
    if len(known) < len(extents):
        return None
    bits = min(bits_of(array.array.element_type) for op in widest if (array := array_of(op)))
    is_alone = all(extent == 1 for op in widest for extent in _shape(op)[:-1])
    return Rows(width, known, 8 * ACCESS_BYTES // bits, is_alone)


def _rows_of_products(kernel: func.FuncOp) -> Rows | None:
    """Return the widest rows that tiles begin with which products read, or add up to."""
    found = [end for op in instances_in(kernel, DotOp) for end in _ends(op)]
    width = max((columns for columns, _ in found), default=0)
    extents = {end: _argument(end) for columns, end in found if columns == width}
    known = {end: number for end, number in extents.items() if number is not None}
    if width < 2 * STEP or len(known) < len(extents):
        return None
    for op in instances_in(kernel, TiledStoreOp):
        for axis, columns in enumerate(_shape(op)):
            end = end_along(op, axis) if columns == width else None
            if isinstance(end, SSAValue) and (number := _argument(end)) is not None:
                known[end] = number
    return Rows(width, known, 1, False, STEP)


def _ends(op: DotOp) -> Iterator[tuple[int, SSAValue]]:
    """Yield the extents of the tiles of a product, and of the arrays that they begin with."""
    ends, (*_, depth, columns) = ProductEnds.of(op), shape_of(op.b.type) or (0, 0)
    for end in ends.depth or ():
        if isinstance(end, SSAValue):
            yield depth, end
    if isinstance(ends.columns, SSAValue):
        yield columns, ends.columns


def _shape(op: TiledLoadBase | TiledStoreOp) -> tuple[int, ...]:
    value = op.value.type if isinstance(op, TiledStoreOp) else op.loaded_type()
    return tuple(shape_of(value) or (1,))


def _argument(extent: SSAValue) -> int | None:
    """Return the argument of the kernel that an extent is."""
    while isinstance(made := extent.owner, AssumeOp):
        extent = made.source
    if not isinstance(extent, BlockArgument):
        return None
    return extent.index if isinstance(extent.block.parent_op(), func.FuncOp) else None


def _state(rows: Rows, least: int, most: int) -> None:
    """State how long rows are, for all that reads their lengths.

    Bounds are multiples of vectors, so that the lengths that are taken from them are, too.
    """
    bounds = BoundedAttr(least // ROOM * ROOM, ceil_div(most, ROOM) * ROOM)
    for extent in rows.extents:
        uses, made = list(extent.uses), extent.owner
        known = _number(most, extent) if least == most else AssumeOp(extent, bounds)
        is_made = isinstance(made, Operation)
        place = InsertPoint.after(made) if is_made else InsertPoint.at_start(made)
        Rewriter.insert_op(known, place)
        for use in uses:
            use.operation.operands[use.index] = known.result


def _number(number: int, like: SSAValue) -> arith.ConstantOp:
    """A constant of the type of another value."""
    return arith.ConstantOp(IntegerAttr(number, cast("IntegerType", like.type)))


def _set_warps(kernel: func.FuncOp, rows: Rows, most: int) -> None:
    """Let a vector of each thread be a part of a row, if registers suffice for all parts."""
    spec = kernel.attributes.get(KERNEL_SPEC)
    if not isinstance(spec, KernelSpecAttr) or WARPS_HINT in kernel.attributes:
        return
    if not rows.is_alone or most > rows.width - part_of(rows.width):
        return
    warps = max(part_of(rows.width) // (rows.vector * WARP), 1)
    registers = peak_registers(kernel.body, tile_registers) * most // rows.width
    while warps < spec.data.num_warps and registers > MAX_REGISTERS * WARP * warps:
        warps *= 2
    if warps < spec.data.num_warps:
        kernel.attributes[KERNEL_SPEC] = KernelSpecAttr(replace(spec.data, num_warps=warps))
