"""Rules of `convert-tileaa-to-tileas` for memory: pointer accesses, views of arrays, atomics,
tokens.

    %v = nv_tileaa.block_tile %a {tileSizes = array<i64: 8, 4>, dimGroups = array<i64: 1, 0>}
    %t = nv_tileaa.tiled_load %v[%i, %j] : !nv_tileaa.tiled_view<8x4xf16> -> tensor<8x4xf16>

    %b = nv_tileaa.make_memref ... : memref<?x?xf16, strided<[1, ?]>>           extents exchanged
    %v = nv_tileas.view %b : ... -> !nv_tileas.tiled_view<8x4xf16, gmem>
    %t = nv_tileas.tiled_load %v[%i, %j] {atom = #nv_tileas<atom ldg>} : ... -> tensor<8x4xf16>

Every access gets the atom of element-wise accesses (`ldg`, `stg`); layout assignment and the TMA
passes choose better ones. A view whose dimensions are permuted becomes a view of the array with
permuted extents and strides, so that no later pass knows of `dims`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.nv_tileaa.compute.shapes import SplatOp
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp
from tileas_xdsl.dialects.nv_tileaa.memory import pointer_access as memory
from tileas_xdsl.dialects.nv_tileaa.memory import tiled_memory, tokens, views
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType
from tileas_xdsl.dialects.nv_tileas.atoms import UNKNOWN_COPY
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import MemScope, MemSemantic, Space
from tileas_xdsl.dialects.nv_tileas.memory import atomics as memory_atomics
from tileas_xdsl.dialects.nv_tileas.memory import element_access as scattered
from tileas_xdsl.dialects.nv_tileas.memory import tiled
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.transforms.tileaa_to_tileas.rules import INDEX, Insert, Rule
from tileas_xdsl.transforms.tileaa_to_tileas.shapes import selected

LOADS, STORES, UPDATES = (AtomAttr.of(word) for word in ("ldg", "stg", UNKNOWN_COPY))
"""The atoms before layout assignment, which chooses how tiles are accessed."""


def create_token(op: tokens.CreateMemTokenOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert to a token that depends on nothing."""
    return [insert(CreateNoneOp(AAMemTokenType())).token]


def array_behind(op: Operation, value: SSAValue) -> views.MakeMemrefOp:
    """Return the operation that makes an array; raise at `op` if it is not known."""
    while isinstance(value.owner, AssumeOp):
        value = value.owner.source
    if isinstance(value.owner, views.MakeMemrefOp):
        return value.owner
    raise op_error(op, "asks for an array whose extents come from elsewhere than make_memref")


def as_index(insert: Insert, value: SSAValue | int) -> SSAValue:
    """Cast a size to `index`; sizes are unsigned."""
    if isinstance(value, int):
        return insert.index(value)
    if value.type not in (INDEX, i64):
        value = insert(arith.ExtUIOp(value, i64)).result
    return insert.cast(value, INDEX)


def get_dim_size(op: views.GetDimSizeOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert a query of an extent to the operand that the array was made of."""
    return [as_index(insert, array_behind(op, op.source).extent(op.axis.value.data))]


def block_tile(op: views.BlockTileOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert to a `view`, of the array with permuted dimensions where `dims` says so."""
    dims, source = op.dims, op.source
    if dims != tuple(range(len(dims))):
        source = permuted_array(array_behind(op, source), dims, insert)
    element, sizes = op.source.type.element_type, op.result.type
    assert isinstance(sizes, tiled_memory.AATiledViewType)
    view = TiledViewType(sizes.get_shape(), element, Space.GMEM)
    return [insert(ViewOp(source, view)).result]


def permuted_array(array: views.MakeMemrefOp, dims: Sequence[int], insert: Insert) -> SSAValue:
    """Return the array whose dimension `k` is dimension `dims[k]` of another one."""
    extents, strides = ([get(dim) for dim in dims] for get in (array.extent, array.stride))
    type_ = views.array_type(
        array.array.element_type,
        [n if isinstance(n, int) else DYNAMIC_INDEX for n in extents],
        [n if isinstance(n, int) else DYNAMIC_INDEX for n in strides],
    )
    sizes, steps = ([n for n in some if not isinstance(n, int)] for some in (extents, strides))
    made = views.MakeMemrefOp(array.pointer, sizes, steps, type_, offset=array.offset)
    return insert(made).result


class _Semantics(TypedDict):
    semantic: MemSemantic | None
    scope: MemScope | None


def _semantics(op: memory.AccessOp) -> _Semantics:
    semantic, scope = op.mem_semantic, op.mem_scope
    return {
        "semantic": None if semantic is None else semantic.data,
        "scope": None if scope is None else scope.data,
    }


HINTS = ("latency", "allow_tma")


def _copy_hints(op: Operation, made: Operation) -> None:
    """Copy performance hints to the converted operation."""
    for name in HINTS:
        if (hint := op.properties.get(name)) is None:
            continue
        target = made.properties if name in _PROPERTIES.get(type(made), ()) else made.attributes
        target[name] = hint


_PROPERTIES: Mapping[type[Operation], Sequence[str]] = dict.fromkeys(
    (
        tiled.TiledLoadOp,
        tiled.TiledStoreOp,
        tiled.TiledAtomicRmwOp,
        scattered.GatherLoadOp,
        scattered.ScatterStoreOp,
    ),
    ("allow_tma",),
)
"""The hints that operations know themselves."""


def tiled_load(op: tiled_memory.TiledLoadOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert a load of a tile."""
    made = tiled.TiledLoadOp(
        op.view,
        op.coords,
        atom=LOADS,
        result_type=op.result.type,
        offsets=op.offsets,
        token=op.token,
        in_bounds=_in_bounds(op),
        padding=op.padding_value,
        **_semantics(op),
    )
    _copy_hints(op, made)
    return insert(made).results


def _in_bounds(op: tiled_memory.TiledLoadOp | tiled_memory.TiledStoreOp) -> Sequence[bool] | None:
    """Return the flag of each dimension, or None if there are none."""
    flags = op.in_bounds
    return None if flags is None else [bool(flag) for flag in flags.get_values()]


def tiled_store(op: tiled_memory.TiledStoreOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert a store; the flag `in_bounds` survives only if it holds for all dimensions."""
    flags = _in_bounds(op)
    made = tiled.TiledStoreOp(
        op.value,
        op.view,
        op.coords,
        atom=STORES,
        offsets=op.offsets,
        token=op.token,
        in_bounds=flags if flags is not None and all(flags) else None,
        **_semantics(op),
    )
    _copy_hints(op, made)
    return insert(made).results


def tiled_atomic_rmw(op: tiled_memory.TiledAtomicRmwOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert an atomic update of a tile."""
    made = tiled.TiledAtomicRmwOp(
        op.rmw_mode.data,
        op.value,
        op.view,
        op.coords,
        atom=UPDATES,
        offsets=op.offsets,
        token=op.token,
        **_semantics(op),
    )
    _copy_hints(op, made)
    return insert(made).results


def load(op: memory.LoadOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert a load through pointers.

    A constant `other` becomes the padding of the load; any other is selected behind it.
    """
    padding = None if op.other is None else _repeated(op.other)
    made = scattered.LoadOp(
        op.base,
        atom=LOADS,
        result_type=op.result.type,
        mask=op.mask,
        token=op.token,
        padding=padding,
        **_semantics(op),
    )
    _copy_hints(op, made)
    loaded, *token = insert(made).results
    if op.other is not None and op.mask is not None and padding is None:
        loaded = selected(insert, op.mask, loaded, op.other)
    return [loaded, *token]


def _repeated(value: SSAValue) -> Attribute | None:
    """Return the constant that a tile is a splat of, else None."""
    owner = value.owner
    return _repeated(owner.source) if isinstance(owner, SplatOp) else uniform_constant(value)


def store(op: memory.StoreOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert a store through pointers."""
    made = scattered.StoreOp(
        op.value, op.base, atom=STORES, mask=op.mask, token=op.token, **_semantics(op)
    )
    _copy_hints(op, made)
    return insert(made).results


def atomic_rmw(op: memory.AtomicRmwOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert an atomic update through pointers."""
    made = memory_atomics.AtomicRmwOp(
        op.value, op.base, op.rmw_mode.data, mask=op.mask, token=op.token, **_semantics(op)
    )
    return insert(made).results


def atomic_cas(op: memory.AtomicCasOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert a compare-and-swap through pointers."""
    made = memory_atomics.AtomicCasOp(
        op.value, op.base, op.compare, mask=op.mask, token=op.token, **_semantics(op)
    )
    return insert(made).results


def gather_load(op: tiled_memory.GatherLoadOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert a gather of elements of an array."""
    made = scattered.GatherLoadOp(
        op.source,
        op.coords,
        op.result.type,
        atom=LOADS,
        token=op.token,
        padding=op.padding_value,
        **_semantics(op),
    )
    _copy_hints(op, made)
    return insert(made).results


def scatter_store(op: tiled_memory.ScatterStoreOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert a scatter to elements of an array."""
    made = scattered.ScatterStoreOp(
        op.value,
        op.source,
        op.coords,
        atom=STORES,
        token=op.token,
        **_semantics(op),
    )
    _copy_hints(op, made)
    return insert(made).results


MEMORY: Mapping[type[Operation], Rule] = {
    memory.AtomicCasOp: atomic_cas,
    memory.AtomicRmwOp: atomic_rmw,
    memory.LoadOp: load,
    memory.StoreOp: store,
    tiled_memory.GatherLoadOp: gather_load,
    tiled_memory.ScatterStoreOp: scatter_store,
    tiled_memory.TiledAtomicRmwOp: tiled_atomic_rmw,
    tiled_memory.TiledLoadOp: tiled_load,
    tiled_memory.TiledStoreOp: tiled_store,
    tokens.CreateMemTokenOp: create_token,
    views.BlockTileOp: block_tile,
    views.GetDimSizeOp: get_dim_size,
}
