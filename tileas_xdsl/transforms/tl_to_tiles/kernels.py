"""A `tl` kernel as a function on tiles: blocks, arguments, scalars; buffers become values.

    func.func @add(%a: memref<?x64xf32>, ...) {       func.func @add(%a: memref<?x64xf32>, ...)
      tl.kernel (%b) in (%n) threads(128) {               attributes {kernel_spec = num_warps 4} {
        %s = tl.alloc_shared : memref<64x64xf32>        %b = nv_tileaa.get_program_id x
        tl.copy %a[...], %s                     ->      %t = nv_tileaa.tiled_load ... : 64x64xf32
        tl.parallel (%i, %j) { ... %s[%i, %j] }         %u = arith.addf %t, ...
      }                                                 nv_tileaa.tiled_store %u, ...
    }                                                 }

A buffer of a block has no counterpart: the tile that was written to it last takes its place.
Whoever wants the kernel on tiles catches `NotTilesError`, which says what has no counterpart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import affine, arith, func, math, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineBinaryOpKind
from xdsl.rewriter import InsertPoint

from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpec, KernelSpecAttr
from tileas_xdsl.dialects.nv_tileaa.base import as_array
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp, DivByAttr
from tileas_xdsl.dialects.nv_tileaa.grid import GetProgramIdOp
from tileas_xdsl.dialects.nv_tileaa.memory.tokens import CreateMemTokenOp
from tileas_xdsl.dialects.nv_tileaa.memory.views import array_type, strides_of
from tileas_xdsl.dialects.tl.base import scope_of, shape_of
from tileas_xdsl.dialects.tl.buffers import (
    AllocFragmentOp,
    AllocSharedOp,
    ReshapeOp,
)
from tileas_xdsl.dialects.tl.checks import kernel_of
from tileas_xdsl.dialects.tl.compute import GemmOp
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.dialects.tl.loops import ParallelOp
from tileas_xdsl.inference.program import AccessKind, Scope
from tileas_xdsl.layout.integers import is_power_of_two
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.kernel_abi import ANY_ROWS
from tileas_xdsl.transforms.cudatile_to_tileaa.structure.warp_count import warps_of_product
from tileas_xdsl.transforms.lower_tl.memory_effects import touches
from tileas_xdsl.transforms.tl_parts.buffers import CutError
from tileas_xdsl.transforms.tl_parts.cutting import in_powers_of_two
from tileas_xdsl.transforms.tl_to_tiles.block_elements import ELEMENTS
from tileas_xdsl.transforms.tl_to_tiles.block_order import in_panels
from tileas_xdsl.transforms.tl_to_tiles.control_flow import CONTROL
from tileas_xdsl.transforms.tl_to_tiles.iterations.parallel_loops import parallel
from tileas_xdsl.transforms.tl_to_tiles.raising import Handler, NotTilesError, Raising
from tileas_xdsl.transforms.tl_to_tiles.scalars.affine_maps import ON_SCALARS, applied
from tileas_xdsl.transforms.tl_to_tiles.whole_buffers import WHOLE

ALIGNMENT = 16
"""Bytes that arrays, and rows of extents that run time knows, begin at multiples of, for TMA."""

PANEL_AXES = 2
"""Axes of a grid whose blocks go over the tiles of one product."""


def raised(function: func.FuncOp, kernel: KernelOp) -> func.FuncOp:
    """Return the kernel on tiles; raises `NotTilesError`."""
    whole = kernel
    function, kernel = _in_parts(function, kernel)
    types = list(function.function_type.inputs)
    block = Block(arg_types=types)
    state = Raising(Builder(InsertPoint.at_end(block)), HANDLERS, function)
    arguments = function.body.block.args
    for argument, made in zip(arguments, block.args, strict=True):
        made.name_hint, made.location = argument.name_hint, argument.location
        _take_argument(state, kernel, argument, made)
    for op in function.body.block.ops:
        if isinstance(op, KernelOp):
            _block_numbers(state, op, is_product=len(_products(whole)) == 1)
            state.run(op.body.block)
        elif not isinstance(op, func.ReturnOp):
            state.lower(op)
    state.source = function
    state.insert(func.ReturnOp())
    made = func.FuncOp(function.sym_name.data, (types, []), Region(block))
    made.location = function.location
    made.attributes.update(function.attributes)
    made.attributes[KERNEL_SPEC] = KernelSpecAttr(KernelSpec(num_warps=_warps(whole)))
    return made


def _in_parts(function: func.FuncOp, kernel: KernelOp) -> tuple[func.FuncOp, KernelOp]:
    """Return the kernel with buffers whose extents are powers of two."""
    try:
        function = in_powers_of_two(function)
    except CutError as error:
        raise NotTilesError(error.op, error.reason) from error
    return function, kernel_of(function) or kernel


def _take_argument(state: Raising, kernel: KernelOp, argument: SSAValue, made: SSAValue) -> None:
    if not isinstance(argument.type, MemRefType):
        state.scalars[argument] = made
        return
    state.arrays[argument] = _promised(state, made, rows_of_run_time(argument))
    if _is_written(kernel, argument):
        state.held[argument] = state.insert(CreateMemTokenOp()).results[0]


def _promised(state: Raising, array: SSAValue, rows: Sequence[int]) -> SSAValue:
    """The array with what a launch promises: where it begins, and its rows that run time knows."""
    made = state.insert(AssumeOp(array, DivByAttr(ALIGNMENT))).result
    for axis in rows:
        made = state.insert(AssumeOp(made, DivByAttr(ALIGNMENT, 1, axis))).result
    return made


def rows_of_run_time(array: SSAValue) -> Sequence[int]:
    """The dimensions of an argument along which only run time knows how far apart rows are.

    None of a kernel that is for any rows (`ANY_ROWS`).
    """
    function = array.owner.parent_op() if isinstance(array.owner, Block) else None
    if not isinstance(array.type, MemRefType) or (function and ANY_ROWS in function.attributes):
        return ()
    strides = strides_of(as_array(array))
    return [axis for axis, stride in enumerate(strides) if stride == DYNAMIC_INDEX]


def _is_written(kernel: KernelOp, array: SSAValue) -> bool:
    return any(
        storage is array and kind is not AccessKind.READ
        for op in kernel.walk()
        for storage, kind in touches(op)
    )


def _block_numbers(state: Raising, op: KernelOp, *, is_product: bool) -> None:
    """The numbers of a block; of a kernel with one product, those of its tile in panels."""
    numbers: list[SSAValue] = []
    for axis, (argument, extent) in enumerate(zip(op.body.block.args, op.extents, strict=True)):
        number = state.insert(GetProgramIdOp(axis)).results[0]
        numbers.append(state.insert(arith.IndexCastOp(number, IndexType())).result)
        if isinstance(extent, int):
            state.indices.intervals[argument] = (0, extent - 1)
    if is_product and len(numbers) == PANEL_AXES:
        extents = [n if isinstance(n, int) else state.scalar(n) for n in op.extents]
        numbers = [*in_panels(state, numbers[0], numbers[1], *extents)]
    state.scalars.update(zip(op.body.block.args, numbers, strict=True))


def _products(kernel: KernelOp) -> list[GemmOp]:
    return [op for op in kernel.walk() if isinstance(op, GemmOp)]


def _warps(kernel: KernelOp) -> int:
    """The warps that products want, or else those of the program."""
    products = [shape_of(op.c.type) for op in _products(kernel)]
    own = kernel.thread_count // WARP
    if not products and not is_power_of_two(own):
        raise NotTilesError(kernel, f"has {own} warps, which is no power of two")
    return max(map(warps_of_product, products), default=own)


def _scalar(state: Raising, op: Operation) -> None:
    """An operation on scalars of the block, as it is."""
    operands = [state.scalar(operand) for operand in op.operands]
    made = op.clone(value_mapper=dict(zip(op.operands, operands, strict=True)))
    state.insert(made)
    state.scalars.update(zip(op.results, made.results, strict=True))


def _dimension(state: Raising, op: memref.DimOp) -> None:
    if op.source not in state.arrays:
        raise state.refuse("asks for an extent of no argument")
    made = memref.DimOp(state.arrays[op.source], state.scalar(op.index))
    state.scalars[op.result] = state.insert(made).results[0]


def _apply(state: Raising, op: affine.ApplyOp) -> None:
    """An affine map of scalars, as arithmetic."""
    operands = [state.scalar(value) for value in op.mapOperands]

    def combine(kind: AffineBinaryOpKind, left: SSAValue, right: SSAValue) -> SSAValue:
        if kind is not AffineBinaryOpKind.Mod:
            return state.insert(ON_SCALARS[kind](left, right)).result
        whole = state.insert(arith.FloorDivSIOp(left, right)).result
        whole = state.insert(arith.MuliOp(whole, right)).result
        return state.insert(arith.SubiOp(left, whole)).result

    state.scalars[op.result] = applied(op.map.data, operands, state.constant, combine)


def _allocate(state: Raising, op: AllocSharedOp | AllocFragmentOp) -> None:
    """A buffer has no tile before it is written."""
    if op.layout is not None:
        raise state.refuse("has a layout that the program states")


def _same_storage(state: Raising, op: ReshapeOp) -> None:
    """Another shape of the same elements: of a tile when it is read, of an array at once."""
    if scope_of(op.buffer.type) is not Scope.GLOBAL:
        return
    type_ = as_array(op.buffer)
    shape, strides = type_.get_shape(), strides_of(type_)
    result = array_type(type_.element_type, shape, strides)
    source = state.arrays[op.source]
    made = memref.ReinterpretCastOp(source, [], [], [], [0], shape, strides, result)
    state.arrays[op.buffer] = state.insert(made).result


_TABLE: Mapping[type[Operation], Handler] = {
    **dict.fromkeys((*arith.Arith.operations, *math.Math.operations), _scalar),
    memref.DimOp: _dimension,
    affine.ApplyOp: _apply,
    AllocSharedOp: _allocate,
    AllocFragmentOp: _allocate,
    ReshapeOp: _same_storage,
    ParallelOp: parallel,
}

HANDLERS: Mapping[type[Operation], Handler] = {**_TABLE, **CONTROL, **ELEMENTS, **WHOLE}
"""Every operation of the block that has a counterpart on tiles."""
