"""Tile operations: copies, fills, products, reductions, scans and atomic updates of regions.

TileLang's operations take regions of buffers, those of `tl` mostly whole buffers: a part of an
operand is copied to a buffer of its own first. `T.copy(A[by * 64, k * 32], a)` becomes

    tl.copy %A[%8, %10] to %a[%11, %12] extents(64, 32)
        : memref<128x64xf16> to memref<64x32xf16, #tl<space shared>>

and a copy that `tl.copy` cannot state (buffers of a thread, elements without a conversion, or
inside T.Parallel) becomes a loop over its elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Block, Region, SSAValue

from tileas_xdsl.dialects.tl.base import element_of
from tileas_xdsl.dialects.tl.buffers import AllocFragmentOp, AllocSharedOp
from tileas_xdsl.dialects.tl.compute import AtomicAddOp, CumSumOp, GemmOp, ReduceOp
from tileas_xdsl.dialects.tl.elements import is_convertible
from tileas_xdsl.dialects.tl.enums import Space
from tileas_xdsl.dialects.tl.moves import CopyOp, FillOp
from tileas_xdsl.frontend.tilelang.memory.element_access import load_at, store_at
from tileas_xdsl.frontend.tilelang.memory.regions import BufferRegion, for_each, region_of
from tileas_xdsl.frontend.tilelang.operations.im2col import im2col
from tileas_xdsl.frontend.tilelang.scalars.conversions import converted
from tileas_xdsl.frontend.tilelang.scalars.element_types import scalar_type
from tileas_xdsl.frontend.tilelang.scope import Scope
from tileas_xdsl.frontend.tilelang.traced.graph import Node

TileHandler: TypeAlias = Callable[[Scope, Node], None]

_REDUCTIONS = {"bitand": "and", "bitor": "or", "bitxor": "xor"}
"""What `tl` calls differently."""

_POLICIES = ("square", "full_row", "full_col")
"""By `T.GemmWarpPolicy`."""


def _copy(scope: Scope, node: Node) -> None:
    source, target = (region_of(scope, argument) for argument in node.children("args")[:2])
    copy(scope, source, target)


def copy(scope: Scope, source: BufferRegion, target: BufferRegion) -> None:
    """Copy a region: as `tl.copy` where that has its form, else element by element."""
    extents = _copied_extents(source, target)
    is_tile = (
        extents is not None
        and Space.LOCAL not in (source.space, target.space)
        and is_convertible(element_of(source.value.type), element_of(target.value.type))
        and not scope.is_iteration
    )
    if not is_tile or extents is None:
        _copy_elements(scope, source, target)
        return
    there, here = ([scope.index(o) for o in side.offsets] for side in (source, target))
    scope.insert(CopyOp(source.value, target.value, there, here, extents))


def _copied_extents(source: BufferRegion, target: BufferRegion) -> tuple[int, ...] | None:
    """The extents that `tl.copy` states: those of the side with more dimensions.

    The other side has the same without the first ones of extent 1; None where it has others.
    """
    longer, shorter = sorted((source.extents, target.extents), key=len, reverse=True)
    surplus = len(longer) - len(shorter)
    dropped = [k for k, extent in enumerate(longer) if extent == 1][:surplus]
    kept = tuple(n for k, n in enumerate(longer) if k not in dropped)
    return longer if kept == shorter and kept else None


def _copy_elements(scope: Scope, source: BufferRegion, target: BufferRegion) -> None:
    if source.box != target.box:
        text = f"a copy of {list(source.extents)} to {list(target.extents)}"
        raise scope.refusal(text, "has regions of different extents")

    def body(variables: Sequence[SSAValue]) -> None:
        value = load_at(scope, source.buffer, source.places(scope, variables))
        wanted = scalar_type(target.buffer.dtype)
        assert wanted is not None
        value = converted(scope, value, source.buffer.dtype, wanted, target.buffer.dtype)
        store_at(scope, target.buffer, target.places(scope, variables), value)

    of_thread = Space.LOCAL in (source.space, target.space)
    for_each(scope, source.box, body, of_thread=of_thread)


def _fill(scope: Scope, node: Node) -> None:
    region, value = node.children("args")
    target = region_of(scope, region)
    type_ = scope.element_type(target.buffer.dtype)

    def one() -> SSAValue:
        found = scope.scalar(value, type_)
        return converted(scope, found, value.dtype, type_, target.buffer.dtype)

    if target.is_whole and not scope.is_iteration:
        scope.insert(FillOp(target.value, one()))
        return
    for_each(
        scope,
        target.box,
        lambda variables: store_at(scope, target.buffer, target.places(scope, variables), one()),
        of_thread=target.space is Space.LOCAL,
    )


def _whole(scope: Scope, region: BufferRegion, what: str) -> SSAValue:
    """The buffer of a region that is all of it, but for leading extents of 1."""
    if region.is_whole:
        return region.value
    raise scope.refusal(f"{what} '{region.buffer.text('name')}'", "is a part of its buffer")


def _moved(scope: Scope, region: BufferRegion, *, is_fragment: bool) -> SSAValue:
    """The elements of a region that is a part of its buffer, in a buffer of their own."""
    if region.is_whole:
        return region.value
    element = scope.element_type(region.buffer.dtype)
    rows = region.extents[-2:]
    made = AllocFragmentOp(rows, element) if is_fragment else AllocSharedOp(rows, element)
    own = scope.insert(made).buffer
    offsets = [scope.index(offset) for offset in region.offsets]
    scope.insert(CopyOp(region.value, own, offsets, (), region.extents))
    return own


def _gemm(scope: Scope, node: Node) -> None:
    arguments = node.children("args")
    a, b, c = (region_of(scope, argument) for argument in arguments[:3])
    transposes = [bool(argument.constant) for argument in arguments[3:5]]
    policy, clear = arguments[8].constant, arguments[9]
    if c.space is not Space.FRAGMENT:
        raise scope.refusal("an accumulator outside of fragments", "is none of tl.gemm")
    accumulator = _whole(scope, c, "the accumulator")
    left, right = (_moved(scope, side, is_fragment=side.space is Space.FRAGMENT) for side in (a, b))
    if clear.constant is None:
        _clear_if(scope, clear, accumulator)
    scope.insert(
        GemmOp(
            left,
            right,
            accumulator,
            transpose_a=transposes[0],
            transpose_b=transposes[1],
            policy=_POLICIES[policy or 0],
            clear=bool(clear.constant),
        )
    )


def _clear_if(scope: Scope, condition: Node, buffer: SSAValue) -> None:
    """Clear an accumulator where a condition that run time knows holds."""
    chosen = scope.condition(condition)
    block = Block()
    with scope.within(block):
        scope.insert(FillOp(buffer, scope.constant(0, element_of(buffer.type))))
        scope.insert(scf.YieldOp())
    scope.insert(scf.IfOp(chosen, [], Region(block)))


def _reduce(scope: Scope, node: Node) -> None:
    source, target, kind, axis, clear = node.children("args")[:5]
    regions = [region_of(scope, side) for side in (source, target)]
    if any(region.space is not Space.FRAGMENT for region in regions):
        raise scope.refusal("a reduction outside of fragments", "has no counterpart in tl")
    name = kind.text("value")
    read, written = (_whole(scope, region, "a reduced part of") for region in regions)
    dimension, nan = axis.constant or 0, node.named("annotations").get("nan_propagate")
    kept = len(regions[0].extents) == len(regions[1].extents)
    if element_of(read.type) != element_of(written.type):
        read = _as_fragment_of(scope, regions[0], regions[1].buffer.dtype)
    scope.insert(
        ReduceOp(
            _REDUCTIONS.get(name, name),
            read,
            written,
            dimension,
            keep_dims=kept,
            clear=bool(clear.constant),
            nan_propagate=nan is not None and bool(nan.constant),
        )
    )


def _as_fragment_of(scope: Scope, region: BufferRegion, dtype: str) -> SSAValue:
    """The elements of a fragment, converted, in another one."""
    element = scope.element_type(dtype)
    own = scope.insert(AllocFragmentOp(region.extents, element)).buffer
    if not isinstance(element, AnyFloat):
        raise scope.refusal(f"a reduction of {region.buffer.dtype} to {dtype}", "is none of tl")
    scope.insert(CopyOp(region.value, own))
    return own


def _cumsum(scope: Scope, node: Node) -> None:
    source, target, axis, reverse = node.children("args")[:4]
    read, written = (
        _whole(scope, region_of(scope, side), "a summed part of") for side in (source, target)
    )
    made = CumSumOp(read, written, axis.constant or 0, reverse=bool(reverse.constant))
    scope.insert(made)


def _atomic_add(scope: Scope, node: Node) -> None:
    value, destination = node.children("args")[:2]
    target = region_of(scope, destination)
    type_ = scope.element_type(target.buffer.dtype)
    source = region_of(scope, value) if _is_region(value) else None
    if source is not None and source.box != target.box:
        raise scope.refusal("an atomic addition", "has regions of different extents")

    def body(variables: Sequence[SSAValue]) -> None:
        if source is None:
            found, dtype = scope.scalar(value, type_), value.dtype
        else:
            found = load_at(scope, source.buffer, source.places(scope, variables))
            dtype = source.buffer.dtype
        added = converted(scope, found, dtype, type_, target.buffer.dtype)
        scope.insert(AtomicAddOp(target.value, target.places(scope, variables), added))

    for_each(scope, target.box, body)


def _is_region(node: Node) -> bool:
    return node.kind == "tirx.Call" and node.child("op").data == "tl.region"


def _add_element(scope: Scope, node: Node) -> None:
    """An atomic addition of one iteration to one element."""
    if not scope.is_iteration:
        why = "adds once for each thread of the block: put it into T.Parallel"
        raise scope.refusal("T.atomic_add outside of T.Parallel", why)
    pointer, value = node.children("args")[:2]
    access = pointer.children("args")[0] if pointer.kind == "tirx.Call" else pointer
    if access.kind != "tirx.BufferLoad":
        raise scope.refusal("T.atomic_add", "adds to an element of a buffer")
    buffer = access.child("buffer")
    type_ = scope.element_type(buffer.dtype)
    added = converted(scope, scope.scalar(value, type_), value.dtype, type_, buffer.dtype)
    indices = [scope.index(i) for i in access.children("indices")]
    scope.insert(AtomicAddOp(scope.buffer(buffer), indices, added))


def _nothing(scope: Scope, node: Node) -> None:
    """What orders threads or hints at resources: here it follows from the operations."""


_IMPLIED = (
    *("tirx.tvm_storage_sync", "tl.sync_warp", "tl.wait_wgmma", "tl.warpgroup_wait"),
    *("tl.warpgroup_arrive", "tl.warpgroup_commit_batch", "tl.fence_proxy_async"),
    "tl.tileop.finalize_reducer",
    *("tl.no_set_max_nreg", "tl.set_max_nreg", "tl.annotate_producer_reg_dealloc"),
)

HANDLERS: Mapping[str, TileHandler] = {
    "tl.tileop.copy": _copy,
    "tl.tileop.async_copy": _copy,
    "tl.tileop.tma_copy": _copy,
    "tl.tileop.fill": _fill,
    "tl.tileop.gemm": _gemm,
    "tl.tileop.wgmma_gemm": _gemm,
    "tl.tileop.reduce": _reduce,
    "tl.tileop.cumsum": _cumsum,
    "tl.tileop.im2col": im2col,
    "tl.tileop.atomicadd": _atomic_add,
    "tl.atomic_add_elem_op": _add_element,
    **dict.fromkeys(_IMPLIED, _nothing),
}
"""Calls that are statements."""
