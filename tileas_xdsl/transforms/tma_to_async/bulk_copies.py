"""Write a tiled memory operation as an asynchronous bulk copy: buffer, barrier, copy, wait.

    %t = tiled_load %v[%i, %j] : -> tensor<64x64xf16>

    %d = make_tiled_tma_desc %a box[%c64, %c64]               (descriptors.py)
    %b = alloc_tensor : tensor<64x64xf16, smem>               (absent if the tile is of a stage)
    %r = create_none                                          mbarrier, allocated later
    %l = async.tiled_tma_load %d, %b[%i, %j] barrier %r
    async.wait %l
    %t = convert_layout %b : -> tensor<64x64xf16>             (only if a user needs registers)

    tiled_store %t, %v[%i, %j]

    copy %t, %b                                               (absent if %t came from memory)
    %s = async.tiled_tma_store %d, %b[%i, %j]
    async.wait %s

A load inside a `produce_one` writes the stage's own buffer and is not waited for there: the
pipeline's full barrier counts its bytes (`tx_count`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, TensorType
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.memory.load_traffic import SAME_IN_CLUSTER
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.atoms import UNKNOWN_COPY, MmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import atom_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import MatrixProduct
from tileas_xdsl.dialects.nv_tileas.compute.dot_checks import OPERAND_SPACES
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledAtomicRmwOp, TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ReinterpretOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile, space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.ops import (
    AsyncGatherTmaLoadOp,
    AsyncScatterTmaStoreOp,
    AsyncTiledAtomicRmwOp,
    AsyncTiledTmaLoadOp,
    AsyncTiledTmaStoreOp,
    TmaLoadBase,
    TmaTransferOp,
)
from tileas_xdsl.dialects.nv_tileas.tma.store_order import ordering
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType, MemTokenType
from tileas_xdsl.transforms.tma_to_async.candidates import Request, as_yielded, stage_tile
from tileas_xdsl.transforms.tma_to_async.descriptors import Binding
from tileas_xdsl.transforms.tma_to_async.gather_rows import Rows
from tileas_xdsl.transforms.tma_to_async.legality import offset_of

T = TypeVar("T", bound=Operation)


@dataclass(frozen=True)
class Transfer:
    """A request with all decisions made: writing it cannot fail."""

    request: Request
    binding: Binding
    rows: Rows | None

    @property
    def is_early(self) -> bool:
        """Whether it is a load into a new buffer that no operation of its block comes before."""
        token = self.request.op.token
        is_after = token is not None and token.owner.parent is self.request.op.parent
        return self.request.is_load and stage_tile(self.request) is None and not is_after

    def rewrite(self) -> WaitOp | TmaTransferOp | None:
        """Replace the operation by its bulk copy; return the wait of a store, or an early load."""
        op = self.request.op
        if op.token is not None and isinstance(op.token.type, AsyncTokenType):
            self._insert(WaitOp(op.token))
        descriptor = self.binding.value(self.request)
        is_early = self.is_early
        if self.request.is_load:
            loading = self._load(descriptor)
            made = loading if is_early else None
        else:
            made = self._insert(WaitOp(self._store(descriptor).result))
        if op.out_token is not None and op.token is not None:
            op.out_token.replace_all_uses_with(op.token)
        value = self.request.value.owner
        Rewriter.erase_op(op)
        if isinstance(value, ConvertLayoutOp) and not any(value.result.uses):
            Rewriter.erase_op(value)
        return made

    def _insert(self, made: T) -> T:
        made.location = self.request.op.location
        Rewriter.insert_op(made, InsertPoint.before(self.request.op))
        return made

    # loads

    def _load(self, descriptor: SSAValue) -> TmaTransferOp:
        """Fill the stage that the tile belongs to, or a new buffer that is waited for."""
        result, stage = self.request.value, stage_tile(self.request)
        if stage is not None:
            loading = self._issue_load(descriptor, stage)
            yielded = as_yielded(result)
            yielded.replace_all_uses_with(stage)
            if isinstance(yielded.owner, ConvertLayoutOp):
                Rewriter.erase_op(yielded.owner)
            return loading
        buffer = self._buffer()
        loading = self._issue_load(descriptor, buffer)
        self._insert(WaitOp(loading.result))
        self._replace_uses(result, self._as_elements(buffer, self.request.tile))
        return loading

    def _issue_load(self, descriptor: SSAValue, buffer: SSAValue) -> TmaTransferOp:
        barrier = self._insert(CreateNoneOp(MemTokenType())).token
        barrier.name_hint = _named(self.request.value, "barrier")
        atom, index, count = self.request.op.atom, self.binding.index, self.request.bits // 8
        if self.rows is not None:
            column = self.rows.coordinate(self.request)
            made: TmaTransferOp = AsyncGatherTmaLoadOp(
                descriptor,
                buffer,
                [column],
                self.rows.numbers,
                barrier,
                atom=atom,
                tx_count=count,
                tma_index=index,
                internal_type=self.binding.description.internal_type,
            )
        else:
            made = AsyncTiledTmaLoadOp(
                descriptor,
                buffer,
                self._coordinates(),
                barrier,
                atom=atom,
                offsets=self._offsets(),
                tx_count=count,
                tma_index=index,
                internal_type=self.binding.description.internal_type,
            )
            if (count := self.request.op.attributes.get(SAME_IN_CLUSTER)) is not None:
                made.attributes[SAME_IN_CLUSTER] = count
        made.result.name_hint = _named(self.request.value, "loading")
        return self._insert(made)

    def _replace_uses(self, result: SSAValue, buffer: SSAValue) -> None:
        """Let matrix products read the buffer, and all other users registers."""
        if space_of(result.type) is Space.SMEM:
            result.replace_all_uses_with(buffer)
            return
        for use in [use for use in result.uses if _reads_memory(use.operation, use.index)]:
            use.operation.operands[use.index] = buffer
        if any(result.uses):
            type_ = as_tile(result.type)
            assert type_ is not None
            converted = self._insert(ConvertLayoutOp(buffer, type_)).result
            converted.name_hint = _named(result, "registers")
            result.replace_all_uses_with(converted)

    # stores

    def _store(self, descriptor: SSAValue) -> TmaTransferOp:
        op, atom, index = self.request.op, self.request.op.atom, self.binding.index
        internal = self.binding.description.internal_type
        source = self._source()
        if isinstance(op, TiledAtomicRmwOp):
            update = AsyncTiledAtomicRmwOp(
                op.rmw_mode.data,
                descriptor,
                source,
                self._coordinates(),
                atom=atom,
                offsets=self._offsets(),
                internal_type=internal,
                tma_index=index,
            )
            update.attributes |= ordering(op)
            return self._insert(update)
        if self.rows is not None:
            column = self.rows.coordinate(self.request)
            return self._insert(
                AsyncScatterTmaStoreOp(
                    descriptor,
                    source,
                    [column],
                    self.rows.numbers,
                    atom=atom,
                    internal_type=internal,
                    tma_index=index,
                )
            )
        made = AsyncTiledTmaStoreOp(
            descriptor,
            source,
            self._coordinates(),
            atom=atom,
            offsets=self._offsets(),
            internal_type=internal,
            tma_index=index,
        )
        made.attributes |= ordering(op)
        return self._insert(made)

    def _source(self) -> SSAValue:
        """Return the tile in shared memory, copied there if it is in registers."""
        value = _in_memory(self.request.value)
        if space_of(value.type) is Space.SMEM:
            return self._as_elements(value, self._buffer_type())
        buffer = self._buffer()
        self._insert(
            CopyOp(self._as_elements(value, self._buffer_type()), buffer, atom=UNKNOWN_COPY)
        )
        return buffer

    # tiles

    def _buffer(self) -> SSAValue:
        buffer = self._insert(AllocTensorOp(self._buffer_type())).result
        buffer.name_hint = _named(self.request.value, "tile")
        return buffer

    def _buffer_type(self) -> Tile:
        """Return the type of the buffer, with the element type that TMA transfers."""
        tile = self.request.tile
        internal = self.binding.description.internal_type
        encoding = tile.encoding if space_of(tile) is Space.SMEM else SpaceAttr(Space.SMEM)
        return TensorType(internal or tile.element_type, tile.get_shape(), encoding)

    def _as_elements(self, value: SSAValue, like: Tile) -> SSAValue:
        """Reinterpret a tile as one of another element type, if they differ."""
        tile = as_tile(value.type)
        assert tile is not None
        if tile.element_type == like.element_type:
            return value
        type_ = TensorType(like.element_type, tile.get_shape(), tile.encoding)
        return self._insert(ReinterpretOp(value, type_)).result

    def _coordinates(self) -> Sequence[SSAValue]:
        """Return the tile coordinates, with static offsets of whole tiles added."""
        op = self.request.op
        coords = list(op.coords)
        if not isinstance(op, TiledLoadOp | TiledStoreOp | TiledAtomicRmwOp):
            return coords
        for axis in range(len(op.offsets)):
            if tiles := offset_of(self.request, axis):
                offset = self._insert(arith.ConstantOp(IntegerAttr(tiles, IndexType())))
                coords[axis] = self._insert(arith.AddiOp(coords[axis], offset.result)).result
        return coords

    def _offsets(self) -> Sequence[SSAValue]:
        """Return the offsets that are not known to be of whole tiles; none if all are."""
        op = self.request.op
        if not isinstance(op, TiledLoadOp | TiledStoreOp | TiledAtomicRmwOp):
            return ()
        known = [offset_of(self.request, axis) is not None for axis in range(len(op.offsets))]
        if all(known):
            return ()
        zero = self._insert(arith.ConstantOp(IntegerAttr(0, IndexType()))).result
        return [zero if k else offset for k, offset in zip(known, op.offsets, strict=True)]


def _reads_memory(op: Operation, index: int) -> bool:
    """Whether an operation reads an operand in shared memory."""
    if not isinstance(op, MatrixProduct) or index > 1:
        return False
    atom = atom_of(op.atom)
    return not isinstance(atom, MmaAtom) or Space.SMEM in OPERAND_SPACES[atom.instruction][index]


def _in_memory(value: SSAValue) -> SSAValue:
    """Return the buffer that a tile was read from, if a single bulk load filled it.

    A store can then go from that buffer, without a copy through registers.
    """
    read = value.owner
    if not isinstance(read, ConvertLayoutOp) or not isinstance(read.source.owner, AllocTensorOp):
        return value
    users = {use.operation for use in read.source.uses} - {read}
    stays = all(isinstance(user, TmaTransferOp | MatrixProduct) for user in users)
    loads = sum(isinstance(user, TmaLoadBase) for user in users)
    return read.source if stays and loads == 1 else value


def _named(value: SSAValue, what: str) -> str:
    """Return a name derived from that of the tile."""
    hint = value.name_hint if isinstance(value, OpResult) else None
    return what if hint is None else f"{hint}_{what}"
