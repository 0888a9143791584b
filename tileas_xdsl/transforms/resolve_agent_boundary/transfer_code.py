"""Write a transfer: a buffer in shared memory, a copy into it, a conversion out of it.

%t_shared = nv_tileas.alloc_tensor : tensor<64xf32, #smem>
nv_tileas.copy %t, %t_shared                       in the agent that defines %t
gpu.barrier                                        or a pipeline stage, between two agents
%u = nv_tileas.convert_layout %t_shared            in the agent that uses it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from xdsl.dialects import func, gpu, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.atoms import UNKNOWN_COPY
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.memory.atoms import LEGAL_PAIRS
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumeOneOp,
    CreateIteratorOp,
    IncIterOp,
    PipelineYieldOp,
    ProduceOneOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.types import IteratorType, TiledViewType
from tileas_xdsl.transforms.resolve_agent_boundary.crossings import memory_space
from tileas_xdsl.transforms.resolve_agent_boundary.paired_loops import carry, hand_back
from tileas_xdsl.transforms.resolve_agent_boundary.transfer_plans import (
    Delivery,
    Site,
    Source,
    Transfer,
)

HANDOFF = "nv_tileas.handoff"
"""On the buffer of a transfer: its number, who gives, who takes, and what orders them."""

PIPE, BLOCK = "pipe", "block"
"""What orders a transfer: the barriers of a pipeline, or one of the whole block."""

T = TypeVar("T", bound=Operation)


def next_transfer_id(root: Operation) -> int:
    """A number that no transfer inside `root` has."""
    taken = [record.data["id"] for op in operations_in(root) if (record := _record(op)) is not None]
    return max([n.value.data for n in taken if isinstance(n, IntegerAttr)], default=-1) + 1


def _record(op: Operation) -> DictionaryAttr | None:
    found = op.attributes.get(HANDOFF)
    return found if isinstance(found, DictionaryAttr) and "id" in found.data else None


class _Writer:
    """Inserts operations before another one, located where the transfer is from."""

    def __init__(self, anchor: Operation, origin: Operation) -> None:
        assert anchor.parent is not None
        self.block, self.anchor, self.origin = anchor.parent, anchor, origin

    def insert(self, op: T) -> T:
        op.location = self.origin.location
        self.block.insert_op_before(op, self.anchor)
        return op


def transfer_in_block(transfers: Sequence[Transfer], number: int) -> None:
    """All threads put tiles down before the switch and meet; agents pick them up."""
    if not transfers:
        return
    switch = transfers[0].crossing.switch
    before = _Writer(switch, switch)
    if _may_run_again(switch):
        before.insert(gpu.BarrierOp())
    buffers = [_buffer(before, transfer, number + k, BLOCK) for k, transfer in enumerate(transfers)]
    for transfer, buffer in zip(transfers, buffers, strict=True):
        here = _Writer(switch, transfer.source.origin)
        here.insert(CopyOp(_copied(here, transfer.value), buffer, atom=UNKNOWN_COPY))
    before.insert(gpu.BarrierOp())
    for transfer, buffer in zip(transfers, buffers, strict=True):
        for delivery in transfer.deliveries:
            here = _Writer(delivery.site.anchor, delivery.site.anchor)
            tile = here.insert(ConvertLayoutOp(buffer, delivery.type)).result
            _deliver(transfer, delivery, tile)


def _may_run_again(switch: AgentSwitchOp) -> bool:
    """Whether the switch is anywhere but in the only block of a function."""
    function = switch.parent_op()
    return not isinstance(function, func.FuncOp) or len(function.body.blocks) > 1


def _buffer(writer: _Writer, transfer: Transfer, number: int, barrier: str) -> SSAValue:
    """A tile in shared memory for each stage, with its record."""
    tile = _tile(transfer.value)
    shape = tile.get_shape() if transfer.stages == 1 else (transfer.stages, *tile.get_shape())
    buffer = writer.insert(AllocTensorOp(_shared(tile.element_type, shape)))
    defining = transfer.crossing.definer
    takers = [delivery.site.agent for delivery in transfer.deliveries]
    buffer.attributes[HANDOFF] = DictionaryAttr(
        {
            "id": IntegerAttr(number, 32),
            "from": IntegerAttr(-1 if defining is None else defining, 32),
            "to": DenseArrayBase.from_list(i32, takers),
            "barrier": StringAttr(barrier),
        }
    )
    if transfer.value.name_hint is not None:
        buffer.result.name_hint = f"{transfer.value.name_hint}_shared"
    return buffer.result


def _tile(value: SSAValue) -> Tile:
    type_ = as_tile(value.type)
    assert type_ is not None
    return type_


def _shared(element: Attribute, shape: Sequence[int]) -> Tile:
    return TensorType(element, shape, SpaceAttr(Space.SMEM))


def _copied(writer: _Writer, value: SSAValue) -> SSAValue:
    """What a copy to shared memory takes: the tile, or its elements in registers."""
    space, tile = memory_space(value), _tile(value)
    if space is None or (space, Space.SMEM) in LEGAL_PAIRS:
        return value
    plain = TensorType(tile.element_type, tile.get_shape())
    return writer.insert(ConvertLayoutOp(value, plain)).result


def _deliver(transfer: Transfer, delivery: Delivery, tile: SSAValue) -> None:
    """Let an agent use what it got, and drop its conversions to the layout that it got."""
    body = transfer.crossing.switch.agent_bodies[delivery.site.agent]
    value = transfer.value
    if tile.name_hint is None:
        tile.name_hint = value.name_hint
    inside = [use for use in list(value.uses) if body.is_ancestor(use.operation)]
    for use in inside:
        user = use.operation
        if tile.type == value.type:
            user.operands[use.index] = tile
            continue
        assert isinstance(user, ConvertLayoutOp)
        user.result.replace_all_uses_with(tile)
        user.detach()
        user.erase()


def transfer_by_pipeline(transfer: Transfer, number: int) -> int:
    """An agent puts a tile into the stages of pipelines; the next free number.

    A pipeline has as many consumers as the switch has agents in a group.
    """
    switch = transfer.crossing.switch
    for deliveries in _batches(transfer.deliveries, switch.num_agents_per_group.value.data):
        _pipe(replace(transfer, deliveries=deliveries), number)
        number += 1
    return number


def _batches(deliveries: Sequence[Delivery], size: int) -> Iterator[Sequence[Delivery]]:
    return (deliveries[k : k + size] for k in range(0, len(deliveries), size))


def _pipe(transfer: Transfer, number: int) -> None:
    switch, tile = transfer.crossing.switch, _tile(transfer.value)
    before = _Writer(switch, switch)
    buffer = _buffer(before, transfer, number, PIPE)
    element, shape = tile.element_type, _tile(buffer).get_shape()
    view = before.insert(ViewOp(buffer, TiledViewType(shape, element, Space.SMEM)))
    pipeline = before.insert(CreatePipelineOp(view, transfer.stages, shared_mem=True))
    if (name := transfer.value.name_hint) is not None:
        pipeline.producer.name_hint, pipeline.consumer.name_hint = f"{name}_give", f"{name}_take"
    stage = _shared(element, tile.get_shape())
    iterator = IteratorType(stage, transfer.stages, Space.SMEM)
    _produce(transfer, pipeline.producer, iterator)
    for index, delivery in enumerate(transfer.deliveries):
        _consume(transfer, delivery, index, pipeline.consumer, iterator)


def _begin(site: Site | Source, token: SSAValue, type_: IteratorType) -> tuple[SSAValue, SSAValue]:
    """The token and the iterator at a place, through the loops around it."""
    outside = _Writer(site.loops[0] if site.loops else site.anchor, site.origin)
    iterator = outside.insert(CreateIteratorOp(token, type_)).iterator
    if not site.loops:
        return token, iterator
    inner_token, inner_iterator = carry(site.loops, [token, iterator])
    return inner_token, inner_iterator


def _end(
    anchor: Operation,
    origin: Operation,
    loops: Sequence[scf.ForOp],
    token: SSAValue,
    iterator: SSAValue,
) -> None:
    """The token and the next iterator for the next round of the loops."""
    if loops:
        here = _Writer(anchor, origin)
        hand_back(loops, [token, here.insert(IncIterOp(iterator)).next])


def _produce(transfer: Transfer, token: SSAValue, type_: IteratorType) -> None:
    """Put the tile into the next stage."""
    site = transfer.source
    anchor, origin = site.anchor, site.origin
    token, iterator = _begin(site, token, type_)
    block = Block(arg_types=[type_.payload])
    end = PipelineYieldOp(block.args[0])
    block.add_op(end)
    inside, here = _Writer(end, origin), _Writer(anchor, origin)
    end.location = block.args[0].location = origin.location
    inside.insert(CopyOp(_copied(inside, transfer.value), block.args[0], atom=UNKNOWN_COPY))
    made = here.insert(ProduceOneOp(token, iterator, body=Region(block)))
    _end(anchor, origin, site.loops, made.result_token, iterator)


def _consume(
    transfer: Transfer, delivery: Delivery, index: int, token: SSAValue, type_: IteratorType
) -> None:
    """Take the tile out of the next stage."""
    site = delivery.site
    token, iterator = _begin(site, token, type_)
    block = Block(arg_types=[type_.payload])
    taken = ConvertLayoutOp(block.args[0], delivery.type)
    block.add_ops([taken, PipelineYieldOp(taken.result)])
    for op in block.ops:
        op.location = site.anchor.location
    block.args[0].location = site.anchor.location
    here = _Writer(site.anchor, site.anchor)
    got = here.insert(
        ConsumeOneOp(token, iterator, index, payload=[delivery.type], body=Region(block))
    )
    _end(site.anchor, site.anchor, site.loops, got.result_token, iterator)
    _deliver(transfer, delivery, got.payload[0])
