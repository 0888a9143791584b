"""Tensor maps that each CTA builds itself, where a launch passes the program's parameters alone.

A launcher of another frontend knows no hidden parameters, so that the host cannot encode maps.
What is constant of them (element, box, swizzle, rank) is a template in global memory.  The CTA
acquires memory for its maps; for each a warp copies the template to shared memory, puts in address,
extents and strides from the parameters, and publishes it (`tensormap.replace`,
`tensormap.cp_fenceproxy`).  All threads acquire the maps:

    func.func @k(%a: !cute.ptr<f16>, %rows: i32, ..., %map: !cute_nvgpu.tma_descriptor_tiled)
        ... tma_load %map[...]

    func.func @k(%a: !cute.ptr<f16>, %rows: i32, ...)
        %slot = ...                                 acquire memory (`resident_memory.py`)
        if warp == 0:  copy_tma_desc, update_tma_desc ..., publish_tma_desc
        barrier
        %map = acquire_tma_desc %slot
        ... tma_load %map[...]
        release the memory

Source: PTX ISA 9.7.9.28, 9.7.13.19; CUTLASS, the grouped GEMM of sm_90, builds its maps so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i8
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import AddressOfOp, PtrType
from tileas_xdsl.dialects.cute_nvgpu import (
    AcquireTmaDescOp,
    CopyTmaDescOp,
    FenceProxyAsyncOp,
    GetDynSmemOp,
    PrefetchTmaDescOp,
    PublishTmaDescOp,
    UpdateTmaDescOp,
)
from tileas_xdsl.dialects.nv_tileaa.memory.globals import GlobalOp
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import attribute_of, launch_recipe
from tileas_xdsl.layout.units import BYTE_BITS
from tileas_xdsl.target.kernel_abi import ARENA, Extents, Passed, TensorMapRecipe
from tileas_xdsl.target.tma.array_slices import WRAP
from tileas_xdsl.target.tma.tensor_map import L2_FETCHES, TensorMap
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE, encode
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    as_int64,
    divide,
    i32_constant,
    i64_constant,
    is_equal,
    multiply,
    subtract,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance, recast
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.codegen.thread_ids import lane_id, warp_id
from tileas_xdsl.threads.gmem.bounds_and_vector_width import as_int32
from tileas_xdsl.threads.gmem.launch_memory.resident_memory import acquire_slot, release_slot

UNKNOWN_STRIDE = 16
"""Bytes, in a template, of a stride that a parameter passes: maps have multiples of 16."""


def embed_hidden_arguments(e: ThreadBuilder, parameters: Sequence[str], start: Operation) -> None:
    """Replace the hidden arguments of a complete body by what the CTA builds after `start`.

    `parameters` say what the arguments are (`kernel_signature`).  Raises `OpError` for a map that
    only a host makes.
    """
    plan, entry = e.plan, e.arguments
    if not plan.hidden or entry is None:
        return
    shown = len(parameters)
    named = dict(zip(parameters, entry.args[:shown], strict=True))
    recipes = [launch_recipe(attribute_of(recipe).data) for recipe in plan.recipes]
    prologue, maps = Block(), len(recipes) * SIZE
    plan.shared.reserve(max(maps, SIZE))
    with e.within(prologue):
        slot = acquire_slot(e, maps + (plan.arena_slots + 1) * SIZE)
        arena = advance(e, slot.pointer, maps, SIZE)
        unused = advance(e, arena, plan.arena_slots * SIZE, SIZE)
        made = iter(_maps(e, recipes, named, slot.pointer, unused))
        for name, argument in zip(plan.hidden, entry.args[shown:], strict=True):
            _replace(argument, arena if name == ARENA else next(made))
    for op in tuple(prologue.ops):
        op.detach()
        entry.insert_op_after(op, start)
        start = op
    for argument in tuple(entry.args[shown:]):
        entry.erase_arg(argument)
    release_slot(e, slot)
    plan.hidden.clear()
    plan.recipes.clear()
    plan.arena_slots = 0


def _replace(argument: SSAValue, value: SSAValue) -> None:
    """Replace a hidden argument; the map is in a cache already, where it was to be prefetched."""
    for use in tuple(argument.uses):
        if isinstance(use.operation, PrefetchTmaDescOp):
            use.operation.detach()
            use.operation.erase()
    argument.replace_all_uses_with(value)


def _maps(
    e: ThreadBuilder,
    recipes: Sequence[TensorMapRecipe],
    named: Mapping[str, SSAValue],
    memory: SSAValue,
    unused: SSAValue,
) -> Sequence[SSAValue]:
    """Return the maps that the CTA builds side by side in its memory.

    Maps of empty arrays describe an element of `unused` memory.
    """
    if not recipes:
        return ()
    templates = _templates(e, recipes)
    shared = e.insert(GetDynSmemOp(0, i8, SIZE)).result
    for index, recipe in enumerate(recipes):
        at = index * SIZE
        is_ours = is_equal(e, warp_id(e), index % e.plan.block.warps)
        with predicated(e, is_ours):
            smem = advance(e, shared, at, SIZE)
            e.insert(CopyTmaDescOp(advance(e, templates, at, SIZE), smem))
            with predicated(e, is_equal(e, lane_id(e), 0)):
                _update(e, recipe, named, smem, unused)
            e.insert(PublishTmaDescOp(smem, advance(e, memory, at, SIZE)))
    e.insert(FenceProxyAsyncOp("shared::cta"))  # TMA writes what threads wrote
    synchronize_agent(e)
    pointers = [advance(e, memory, index * SIZE, SIZE) for index in range(len(recipes))]
    return [e.insert(AcquireTmaDescOp(pointer)).result for pointer in pointers]


def _templates(e: ThreadBuilder, recipes: Sequence[TensorMapRecipe]) -> SSAValue:
    """Return a pointer to what is constant of the maps, in the module's memory."""
    name = f"{e.plan.kernel.sym_name.data}_tensor_maps"
    data = [byte for recipe in recipes for byte in encode(_template(e, recipe))]
    signed = [byte - 256 if byte > 127 else byte for byte in data]
    bytes_ = DenseIntOrFPElementsAttr.from_list(TensorType(i8, [len(data)]), signed)
    e.plan.globals.append(GlobalOp(name, bytes_, SIZE))
    return e.insert(AddressOfOp(name, PtrType(i8, "gmem", SIZE))).result


def _template(e: ThreadBuilder, recipe: TensorMapRecipe) -> TensorMap:
    """Return a map with numbers in place of those that parameters bring."""
    if recipe.extents is None:
        raise op_error(e.plan.kernel, "takes an array, whose tensor map the launch makes")
    said = recipe.extents
    unit = UNKNOWN_STRIDE * BYTE_BITS // recipe.bits
    sizes = tuple(n if isinstance(n, int) else 1 for n in said.sizes)
    strides = tuple(n if isinstance(n, int) else unit for n in said.strides)
    found = replace(recipe, extents=Extents(sizes, strides)).described([0] * (recipe.argument + 1))
    return replace(found, l2_promotion=L2_FETCHES)


def _update(
    e: ThreadBuilder,
    recipe: TensorMapRecipe,
    named: Mapping[str, SSAValue],
    smem: SSAValue,
    unused: SSAValue,
) -> None:
    """Put the values of parameters in a map, by one thread of the warp."""
    assert recipe.extents is not None
    sizes = tuple(reversed(recipe.extents.sizes))
    pointer = recast(e, named[f"ptr {recipe.argument}"], i8)
    e.insert(UpdateTmaDescOp("global_address", smem, pointer))
    passed = [as_int32(e, named[str(size)]) for size in sizes if isinstance(size, Passed)]
    values = iter(passed)
    for ordinal, size in enumerate(sizes):
        if isinstance(size, Passed):
            e.insert(UpdateTmaDescOp("global_dim", smem, next(values), ordinal))
    last = len(sizes) - 1
    for axis, stride in enumerate(recipe.extents.strides[:-1]):
        if isinstance(stride, Passed):
            elements = as_int64(e, named[str(stride)])
            value = divide(e, multiply(e, elements, recipe.bits), BYTE_BITS)
            e.insert(UpdateTmaDescOp("global_stride", smem, value, last - 1 - axis))
            if axis == recipe.slices:
                back = subtract(e, i64_constant(e, WRAP), value)
                e.insert(UpdateTmaDescOp("global_stride", smem, value, last))
                e.insert(UpdateTmaDescOp("global_stride", smem, back, last + 1))
    if passed:
        with predicated(e, _is_any_zero(e, passed)):
            _describe_one_element(e, smem, unused, len(sizes))


def _is_any_zero(e: ThreadBuilder, values: Sequence[SSAValue]) -> SSAValue:
    least = values[0]
    for value in values[1:]:
        least = e.insert(arith.MinUIOp(least, value)).result
    return is_equal(e, least, 0)


def _describe_one_element(e: ThreadBuilder, smem: SSAValue, unused: SSAValue, rank: int) -> None:
    """Describe unused memory in place of an empty array: no map has an extent of 0."""
    e.insert(UpdateTmaDescOp("global_address", smem, unused))
    for ordinal in range(rank):
        e.insert(UpdateTmaDescOp("global_dim", smem, i32_constant(e, 1), ordinal))
