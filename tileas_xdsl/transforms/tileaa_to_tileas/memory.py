"""Convert accesses: pointers to `load` and `store`, arrays to views of tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.compute.shapes import SplatOp
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp
from tileas_xdsl.dialects.nv_tileaa.memory import pointer_access as memory
from tileas_xdsl.dialects.nv_tileaa.memory import tiled_memory, tokens, views
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType
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

LOADS, STORES, UPDATES = (AtomAttr.of(word) for word in ("ldg", "stg", "unknown_copy"))
"""Element by element; which way tiles go is decided when they are laid out."""


def create_token(op: tokens.CreateMemTokenOp, insert: Insert) -> Sequence[SSAValue]:
    """A token that comes after nothing."""
    return [insert(CreateNoneOp(AAMemTokenType())).token]


def array_behind(op: Operation, value: SSAValue) -> views.MakeMemrefOp:
    """The operation that makes an array; located at `op` if it is not known."""
    while isinstance(value.owner, AssumeOp):
        value = value.owner.source
    if isinstance(value.owner, views.MakeMemrefOp):
        return value.owner
    raise op_error(op, "asks for an array whose extents come from elsewhere than make_memref")


def as_index(insert: Insert, number: SSAValue | int) -> SSAValue:
    """A number of elements as an index; integers are read as unsigned."""
    if isinstance(number, int):
        return insert.index(number)
    if number.type not in (INDEX, i64):
        number = insert(arith.ExtUIOp(number, i64)).result
    return insert.cast(number, INDEX)


def get_dim_size(op: views.GetDimSizeOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert a query of an extent to the operand that the array was made of."""
    return [as_index(insert, array_behind(op, op.source).extent(op.axis.value.data))]


def block_tile(op: views.BlockTileOp, insert: Insert) -> Sequence[SSAValue]:
    """A window of the array; its dimensions are put in the order of those of the tiles."""
    dims, source = op.dims, op.source
    if dims != tuple(range(len(dims))):
        source = permuted_array(array_behind(op, source), dims, insert)
    element, sizes = op.source.type.element_type, op.result.type
    assert isinstance(sizes, tiled_memory.AATiledViewType)
    view = TiledViewType(sizes.get_shape(), element, Space.GMEM)
    return [insert(ViewOp(source, view)).result]


def permuted_array(array: views.MakeMemrefOp, dims: Sequence[int], insert: Insert) -> SSAValue:
    """The same array whose dimension `k` is dimension `dims[k]` of another one."""
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


def _hinted(op: Operation, made: Operation) -> None:
    """Hints stay what they are."""
    for name in HINTS:
        if (hint := op.properties.get(name)) is None:
            continue
        place = made.properties if name in _PROPERTIES.get(type(made), ()) else made.attributes
        place[name] = hint


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
    """A tile."""
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
    _hinted(op, made)
    return insert(made).results


def _in_bounds(op: tiled_memory.TiledLoadOp | tiled_memory.TiledStoreOp) -> Sequence[bool] | None:
    """Said of all dimensions, or of none."""
    flags = op.in_bounds
    return None if flags is None else [bool(flag) for flag in flags.get_values()]


def tiled_store(op: tiled_memory.TiledStoreOp, insert: Insert) -> Sequence[SSAValue]:
    """Writes a tile; only one that is in bounds everywhere may be said to be."""
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
    _hinted(op, made)
    return insert(made).results


def tiled_atomic_rmw(op: tiled_memory.TiledAtomicRmwOp, insert: Insert) -> Sequence[SSAValue]:
    """Updates a tile."""
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
    _hinted(op, made)
    return insert(made).results


def load(op: memory.LoadOp, insert: Insert) -> Sequence[SSAValue]:
    """Through pointers; what else there may be is chosen afterwards, if it is no constant."""
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
    _hinted(op, made)
    loaded, *token = insert(made).results
    if op.other is not None and op.mask is not None and padding is None:
        loaded = selected(insert, op.mask, loaded, op.other)
    return [loaded, *token]


def _repeated(value: SSAValue) -> Attribute | None:
    """The constant that all elements of a tile are, None if there is none."""
    owner = value.owner
    if isinstance(owner, SplatOp | tensor.SplatOp):
        return _repeated(owner.operands[0])
    if not isinstance(owner, arith.ConstantOp):
        return None
    if not isinstance(literal := owner.value, DenseIntOrFPElementsAttr):
        return literal
    return next(iter(literal.iter_attrs())) if literal.is_splat() else None


def store(op: memory.StoreOp, insert: Insert) -> Sequence[SSAValue]:
    """Through pointers."""
    made = scattered.StoreOp(
        op.value, op.base, atom=STORES, mask=op.mask, token=op.token, **_semantics(op)
    )
    _hinted(op, made)
    return insert(made).results


def atomic_rmw(op: memory.AtomicRmwOp, insert: Insert) -> Sequence[SSAValue]:
    """Updates behind pointers."""
    made = memory_atomics.AtomicRmwOp(
        op.rmw_mode.data, op.value, op.base, mask=op.mask, token=op.token, **_semantics(op)
    )
    return insert(made).results


def atomic_cas(op: memory.AtomicCasOp, insert: Insert) -> Sequence[SSAValue]:
    """Exchanges behind pointers."""
    made = memory_atomics.AtomicCasOp(
        op.compare, op.value, op.base, mask=op.mask, token=op.token, **_semantics(op)
    )
    return insert(made).results


def gather_load(op: tiled_memory.GatherLoadOp, insert: Insert) -> Sequence[SSAValue]:
    """Scattered elements."""
    made = scattered.GatherLoadOp(
        op.source,
        op.coords,
        op.result.type,
        atom=LOADS,
        token=op.token,
        padding=op.padding_value,
        **_semantics(op),
    )
    _hinted(op, made)
    return insert(made).results


def scatter_store(op: tiled_memory.ScatterStoreOp, insert: Insert) -> Sequence[SSAValue]:
    """Writes scattered elements."""
    made = scattered.ScatterStoreOp(
        op.value,
        op.source,
        op.coords,
        atom=STORES,
        token=op.token,
        **_semantics(op),
    )
    _hinted(op, made)
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
