"""Check what bulk copies cannot do; each problem is an error at its operation."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileaa.memory.tokens import JoinMemTokenOp
from tileas_xdsl.dialects.nv_tileas.control import GridDependencyOp
from tileas_xdsl.dialects.nv_tileas.enums import MemScope, MemSemantic
from tileas_xdsl.dialects.nv_tileas.memory.atomics import PointedAtomicOp
from tileas_xdsl.dialects.nv_tileas.memory.atoms import is_zero
from tileas_xdsl.dialects.nv_tileas.memory.element_access import GatherLoadOp, LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.memory.ordering_checks import check_tma_reduction
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledAtomicRmwOp, TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import origins
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import check_shared_box
from tileas_xdsl.dialects.nv_tileas.tma.layout import check_shared_layout
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType
from tileas_xdsl.transforms.tma_to_async.candidates import Request, TiledOp
from tileas_xdsl.transforms.tma_to_async.descriptors import Binding
from tileas_xdsl.transforms.tma_to_async.global_arrays import offset_problem

_IN_ORDER = (
    *(CreateNoneOp, GridDependencyOp),
    *(LoadOp, StoreOp, PointedAtomicOp, *TiledOp.__args__),
)
"""Operations that are complete when the next one begins, so that their tokens are."""


def check_transfer(request: Request, binding: Binding) -> None:
    """TMA can do what the operation asks for, with the descriptor that it gets."""
    _check_padding(request)
    _check_semantics(request)
    _check_offsets(request)
    _check_order(request)
    op = request.op
    if isinstance(op, TiledLoadOp | GatherLoadOp) and op.mask is not None:
        raise op_error(op, "is masked, and TMA moves whole boxes")
    check_shared_box(op, request.tile, request.atom)
    check_shared_layout(op, request.tile, binding.description.swizzle)
    if isinstance(op, TiledAtomicRmwOp):
        _check_reduction(op)


def _check_padding(request: Request) -> None:
    op = request.op
    if isinstance(op, TiledLoadOp) and not is_zero(op.padding_value):
        raise op_error(op, message("tma_to_async.load_padding"))
    if isinstance(op, GatherLoadOp) and not is_zero(op.padding_value):
        raise op_error(op, message("tma_to_async.gather_padding"))


def _check_semantics(request: Request) -> None:
    """Bulk copies are weak; reductions are relaxed, seen by the whole GPU.

    Source: PTX ISA, cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
    """
    op = request.op
    semantic = MemSemantic.WEAK if op.mem_semantic is None else op.mem_semantic.data
    scope = None if op.mem_scope is None else op.mem_scope.data
    if semantic is MemSemantic.WEAK:
        return
    if not isinstance(op, TiledAtomicRmwOp):
        raise op_error(op, f"is {semantic.value}, but bulk copies are weak")
    if semantic is not MemSemantic.RELAXED or scope is MemScope.SYS:
        asked = semantic.value if scope is None else f"{semantic.value}, {scope.value}"
        raise op_error(op, f"is {asked}, but bulk reductions are relaxed, at most gpu")


def offset_of(request: Request, axis: int) -> int | None:
    """The tiles that an offset of elements comes to; None where that is not known."""
    op = request.op
    assert isinstance(op, TiledLoadOp | TiledStoreOp | TiledAtomicRmwOp)
    number, extent = constant_integer(op.offsets[axis]), request.tile.get_shape()[axis]
    return None if number is None or number % extent else number // extent


def _check_offsets(request: Request) -> None:
    op = request.op
    if isinstance(op, TiledLoadOp | TiledStoreOp | TiledAtomicRmwOp):
        problem = offset_problem(op.offsets, element_of(request.tile))
        if problem is not None:
            raise op_error(op, problem)


def _check_order(request: Request) -> None:
    """Who comes after a memory token comes after what is done when the next operation begins."""
    token = request.op.token
    if token is None or isinstance(token.type, AsyncTokenType):
        return
    if not all(map(_is_done, _joined(token))):
        raise op_error(
            request.op,
            "comes after a memory token of asynchronous work, which nothing can wait for",
        )


def _joined(token: SSAValue) -> Iterator[SSAValue]:
    """What a token may be behind control flow, and all that it joins."""
    pending, seen = [token], set[SSAValue]()
    while pending:
        for origin in origins(pending.pop()):
            if isinstance(origin.owner, JoinMemTokenOp):
                pending += set(origin.owner.operands) - seen
                seen.update(origin.owner.operands)
            else:
                yield origin


def _is_done(token: SSAValue) -> bool:
    return isinstance(token.owner, _IN_ORDER)


def _check_reduction(op: TiledAtomicRmwOp) -> None:
    check_tma_reduction(op, op.rmw_mode.data, element_of(op.value.type))
    if any(op.result.uses):
        assert isinstance(op.result.type, TensorType)
        raise op_error(op, "gives the tile before, which nobody knows of a bulk reduction")
