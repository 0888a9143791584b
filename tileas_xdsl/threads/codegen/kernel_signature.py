"""The signature of the thread-level kernel: parameters, and the attributes that a launch reads.

A memref is passed as its pointer, dynamic extents and dynamic strides; `tileas.parameters` says for
each parameter what it is, in order, so that the runtime packs arguments without knowing the IR:

    func.func @k(%a: memref<?x64xf16, strided<[?, 1]>>, %n: i32)

    func.func @k(%ptr: !cute.ptr<f16, gmem, align<16>>, %size: index, %stride: index, %scalar: i32)
        attributes {tileas.parameters = ["ptr 0", "size 0 0", "stride 0 0", "scalar 1"],
                    tileas.smem_bytes = ..., nvvm.reqntid = array<i32: 128, 1, 1>, ...}

Tensor maps come last, as 128-byte grid constants (`tensor map K`), each with a recipe by which the
host encodes it; hidden arguments (workspace, printf buffers) follow those of the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    StridedLayoutAttr,
    StringAttr,
    UnitAttr,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tileas_xdsl.analysis.values.cluster_values import axis_of_clusters
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute import PtrToIntOp
from tileas_xdsl.dialects.cute import PtrType as MemoryPointer
from tileas_xdsl.dialects.cute_nvgpu import TmaDescriptorTiledType
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import attribute_of, recipe_from
from tileas_xdsl.dialects.nv_tileas.types import TmaDescType
from tileas_xdsl.target.kernel_abi import (
    CLUSTERED,
    DIVIDED,
    FILLS_TILES,
    LAUNCH_PREDICATES,
    PERSISTENT,
    ROW_LENGTHS,
    RUNS_AT_ONCE,
    TILE_BLOCK_CTAS,
    TILE_BLOCKS,
    TRANSFER,
    TRANSFER_BYTES,
    TRANSFER_FLAGS,
)
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import as_int64, multiply
from tileas_xdsl.threads.codegen.lowered_values import (
    Descriptor,
    GlobalView,
    Lowered,
    Scalar,
)
from tileas_xdsl.threads.gmem.bounds_and_vector_width import is_packed
from tileas_xdsl.threads.gmem.pointers.pointer_tiles import memory_pointer
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.threads.pipeline.occupancy import blocks_that_fit
from tileas_xdsl.threads.pipeline.streams import blocks_of_streams

TENSOR_MAPS = "tileas.tensor_maps"
"""The recipes of the hidden descriptors, in the order of the arguments."""

PARAMETERS = "tileas.parameters"
"""What each argument is: `ptr N`, `size N AXIS`, `stride N AXIS`, `scalar N`, `tensor map K`."""


def add_arguments(e: ThreadBuilder, kernel: func.FuncOp, block: Block) -> list[str]:
    """Add the arguments: a memref as pointer, dynamic sizes and strides; scalars unchanged."""
    names: list[str] = []
    for position, argument in enumerate(kernel.body.block.args):
        type_ = argument.type
        if isinstance(type_, MemRefType):
            array = cast("MemRefType[Attribute]", type_)
            e.values[argument] = _array(e, block, position, array, names)
        elif isinstance(type_, PtrType):
            pointer = _add(block, memory_pointer(kernel, type_), names, f"ptr {position}")
            e.values[argument] = Scalar(e.insert(PtrToIntOp(pointer)).result)
        elif isinstance(type_, TmaDescType):
            e.values[argument] = _descriptor(e, kernel, position, names)
        elif element_of(type_) is None and shape_of(type_) is None:
            e.values[argument] = Scalar(_add(block, type_, names, f"scalar {position}"))
        else:
            raise op_error(kernel, f"takes {type_}, which is not lowered to threads yet")
    return names


def _descriptor(
    e: ThreadBuilder, kernel: func.FuncOp, position: int, names: list[str]
) -> Descriptor:
    """A tensor map that was attached, with its recipe."""
    attributes = kernel.arg_attrs
    recipe = None if attributes is None else recipe_from(attributes.data[position].data)
    if recipe is None or e.arguments is None:
        raise op_error(
            kernel, f"takes a descriptor as argument {position}, and does not say of what"
        )
    name = f"tensor map {len(e.plan.recipes)}"
    e.plan.recipes.append(recipe)
    return Descriptor(_add(e.arguments, TmaDescriptorTiledType(), names, name), recipe)


def _add(block: Block, type_: Attribute, names: list[str], name: str) -> SSAValue:
    names.append(name)
    argument = block.insert_arg(type_, len(block.args))
    argument.name_hint = name.rstrip(" 0123456789").replace(" ", "_")
    return argument


def add_hidden_argument(e: ThreadBuilder, name: str, type_: Attribute) -> SSAValue:
    """Add an argument that a launch passes after those of the program."""
    assert e.arguments is not None
    e.plan.hidden.append(name)
    return e.arguments.insert_arg(type_, len(e.arguments.args))


def transfer_memory(e: ThreadBuilder) -> SSAValue:
    """Return the pointer argument of global memory that all CTAs of a launch share."""
    if e.plan.transfer is None:
        pointer = MemoryPointer(i8, "gmem", TRANSFER_FLAGS)
        e.plan.transfer = add_hidden_argument(e, TRANSFER, pointer)
    return e.plan.transfer


def tile_blocks(e: ThreadBuilder, axis: int) -> SSAValue:
    """Return the argument that says how many tile blocks a launch has along an axis."""
    known = e.plan.tile_blocks
    if axis not in known:
        known[axis] = add_hidden_argument(e, f"{TILE_BLOCKS} {axis}", i32)
    return known[axis]


def _array(
    e: ThreadBuilder,
    block: Block,
    position: int,
    type_: MemRefType[Attribute],
    names: list[str],
) -> Lowered:
    shape = type_.get_shape()
    element = i8 if is_packed(type_.element_type) else type_.element_type
    pointer = _add(block, MemoryPointer(element, "gmem", 16), names, f"ptr {position}")
    extents: list[SSAValue | int] = [
        _add(block, IndexType(), names, f"size {position} {axis}") if n == DYNAMIC_INDEX else n
        for axis, n in enumerate(shape)
    ]
    strides = _strides(e, block, position, type_, extents, names)
    zeros = (0,) * len(shape)
    return GlobalView(pointer, type_.element_type, tuple(extents), strides, zeros)


def _strides(
    e: ThreadBuilder,
    block: Block,
    position: int,
    type_: MemRefType[Attribute],
    extents: Sequence[SSAValue | int],
    names: list[str],
) -> tuple[SSAValue | int, ...]:
    """Return the strides that the layout states, or those of a row-major array."""
    if isinstance(type_.layout, StridedLayoutAttr):
        return tuple(
            _add(block, IndexType(), names, f"stride {position} {axis}") if n is None else n
            for axis, n in enumerate(type_.layout.get_strides())
        )
    strides: list[SSAValue | int] = [1] * len(extents)
    for axis in reversed(range(len(extents) - 1)):
        strides[axis] = _product(e, strides[axis + 1], extents[axis + 1])
    return tuple(strides)


def _product(e: ThreadBuilder, stride: SSAValue | int, extent: SSAValue | int) -> SSAValue | int:
    """Return a stride times the extent along it, in 64 bits unless it is an extent itself."""
    if isinstance(stride, int) and isinstance(extent, int):
        return stride * extent
    if stride == 1 or extent == 1:
        return extent if stride == 1 else stride
    a, b = (n if isinstance(n, int) else as_int64(e, n) for n in (stride, extent))
    if isinstance(a, int):
        a, b = b, a
    assert isinstance(a, SSAValue)
    return multiply(e, a, b)


def kernel_function(plan: KernelPlan, block: Block, parameters: Sequence[str]) -> func.FuncOp:
    """Return the function that every thread runs, of a complete entry block."""
    types = [argument.type for argument in block.args]
    made = func.FuncOp(plan.kernel.sym_name.data, FunctionType.from_lists(types, []), Region(block))
    made.location = plan.kernel.location
    made.attributes.update(attributes_of(plan, [*parameters, *plan.hidden]))
    return made


def _has_wide_extents(op: Operation) -> bool:
    """Return whether an operation makes an array whose extents have 64 bits."""
    if type(op) is not MakeMemrefOp:
        return False
    extents = map(op.extent, range(op.array.get_num_dims()))
    return any(isinstance(extent, SSAValue) and extent.type == i64 for extent in extents)


def attributes_of(plan: KernelPlan, parameters: Sequence[str]) -> dict[str, Attribute]:
    """Return the launch attributes of a kernel."""
    block, cluster = plan.block, plan.facts.cluster
    fit = blocks_that_fit(plan.kernel, block.warps, plan.shared.bytes, plan.target)
    resident = max(fit, blocks_of_streams(plan.kernel, block.threads, plan.target))
    found: dict[str, Attribute] = {
        "cute.kernel": UnitAttr(),
        "nvvm.reqntid": DenseArrayBase.from_list(i32, [block.threads, 1, 1]),
        "nvvm.minctasm": IntegerAttr(max(plan.blocks_together, resident), 32),
        "tileas.smem_bytes": IntegerAttr(plan.shared.bytes, 32),
        PARAMETERS: ArrayAttr([StringAttr(name) for name in parameters]),
        TENSOR_MAPS: ArrayAttr([attribute_of(recipe) for recipe in plan.recipes]),
        "tileas.smem_map": StringAttr(plan.shared.table()),
    }
    if any(map(_has_wide_extents, operations_in(plan.kernel))):
        found["tileas.index_bits"] = IntegerAttr(64, 32)
    if plan.arena_slots:
        found["tileas.arena_slots"] = IntegerAttr(plan.arena_slots, 32)
    if plan.transfer_bytes:
        found[TRANSFER_BYTES] = IntegerAttr(plan.transfer_bytes, 32)
    if (ctas := plan.facts.spec.tile_block_ctas) > 1:
        found[TILE_BLOCK_CTAS] = IntegerAttr(ctas, 32)
    forms = (PERSISTENT, plan.facts.spec.persistent), (DIVIDED, plan.facts.spec.divided)
    found |= {name: UnitAttr() for name, is_so in forms if is_so}
    for name in (*LAUNCH_PREDICATES, RUNS_AT_ONCE, ROW_LENGTHS, FILLS_TILES):
        if (predicate := plan.kernel.attributes.get(name)) is not None:
            found[name] = predicate
    if axis_of_clusters(plan.kernel) is not None:
        found[CLUSTERED] = UnitAttr()
    if any(extent > 1 for extent in cluster):
        found["nvvm.cluster_dim"] = DenseArrayBase.from_list(i32, list(cluster))
    return found
