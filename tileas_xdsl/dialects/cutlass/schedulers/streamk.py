"""Tiles that several blocks share: which part along K each has, and how their sums meet.

The workspace has a tile of sums for each tile that may be split, then a counter for each.  A
counter says up to where along K the sums of its tile are there; it is 0 before and after a kernel.
Source: CUTLASS include/cutlass/gemm/kernel/sm90_tile_scheduler_stream_k.hpp, fixup with
ReductionMode::Deterministic.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i1, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import result_def, traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.base.checks import pointer_to
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.dialects.cutlass.barriers.generic_barriers import COUNTER_BYTES, check_group
from tileas_xdsl.dialects.cutlass.schedulers.block_striped import check_pieces, registers_of
from tileas_xdsl.dialects.cutlass.schedulers.scheduler_params import (
    TILE_BYTES,
    OfParamsOp,
    params_type,
)
from tileas_xdsl.dialects.cutlass.schedulers.tile_scheduler import OfWorkOp
from tileas_xdsl.dialects.cutlass.types import STREAMK
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = [
    "ComputeEpilogueOp",
    "FixupIncrementOp",
    "FixupOp",
    "FixupWaitOp",
    "GetWorkKTileCountOp",
    "GetWorkKTileStartOp",
    "InitializeWorkspaceOp",
]

_NUMBER = IntegerAttr.constr(i32)


def check_splits(op: Operation, params: SSAValue) -> None:
    """Refuse a scheduler that gives each tile to one block."""
    if not params_type(params).splits:
        raise op_error(op, f"is of {STREAMK}, which splits tiles: {params.type} does not")


class _KTilesOp(OfWorkOp):
    """A number of tiles along K."""

    result = result_def(i32)

    assembly_format = "$params `,` $work attr-dict `:` type($params)"


@irdl_op_definition
class GetWorkKTileStartOp(_KTilesOp):
    """The first tile along K of a part; 0 where no tile is split."""

    name = "cutlass.tile_scheduler.get_work_k_tile_start"
    traits = traits_def(Pure())


@irdl_op_definition
class GetWorkKTileCountOp(_KTilesOp):
    """The tiles along K of a part; other schedulers do not know how many there are."""

    name = "cutlass.tile_scheduler.get_work_k_tile_count"
    traits = traits_def(Pure())

    def verify_(self) -> None:
        super().verify_()
        check_splits(self, self.params)


@irdl_op_definition
class ComputeEpilogueOp(OfWorkOp):
    """Return whether this block ends with the complete accumulator: its K range is the last one."""

    name = "cutlass.tile_scheduler.compute_epilogue"

    result = result_def(i1)

    traits = traits_def(Pure())
    assembly_format = "$params `,` $work attr-dict `:` type($params)"


def _check_workspace(op: Operation, workspace: SSAValue) -> None:
    pointer_to(op, workspace, "workspace", AddressSpace.GMEM, COUNTER_BYTES)


@irdl_op_definition
class InitializeWorkspaceOp(OfParamsOp):
    """Sets the counters to 0: `of` threads share them, in a kernel before the one that counts."""

    name = "cutlass.tile_scheduler.initialize_workspace"

    workspace: fields.Operand = fields.operand()
    thread: fields.Operand = fields.operand(i32)
    of: fields.Operand = fields.operand(i32)
    tile_bytes: fields.Int = fields.prop(TILE_BYTES)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$params `,` $workspace `thread` $thread `of` $of `tile_bytes` $tile_bytes attr-dict"
        " `:` type($params) `,` type($workspace)"
    )

    def verify_(self) -> None:
        check_splits(self, self.params)
        _check_workspace(self, self.workspace)


class _FixupOp(OfWorkOp):
    """What a group of threads does where several blocks share a tile; all of them execute it."""

    workspace: fields.Operand = fields.operand()
    thread: fields.Operand = fields.operand(i32)
    id: fields.Int = fields.prop(_NUMBER, kw_only=True)
    threads: fields.Int = fields.prop(_NUMBER, kw_only=True)

    def verify_(self) -> None:
        super().verify_()
        check_splits(self, self.params)
        _check_workspace(self, self.workspace)
        check_group(self, self.id, self.threads)


class _CountedFixupOp(_FixupOp):
    """Base of the single steps of the fixup, for kernels that move accumulators themselves."""

    tile_bytes: fields.Int = fields.prop(TILE_BYTES, kw_only=True)

    assembly_format = (
        "$params `,` $work `,` $workspace `thread` $thread `at` $id `threads` $threads"
        " `tile_bytes` $tile_bytes attr-dict `:` type($params) `,` type($workspace)"
    )


@irdl_op_definition
class FixupWaitOp(_CountedFixupOp):
    """Wait for the partial accumulators of earlier K ranges; the first range has none."""

    name = "cutlass.tile_scheduler.fixup_wait"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@irdl_op_definition
class FixupIncrementOp(_CountedFixupOp):
    """Signal that this K range is accumulated; the last range resets the counter."""

    name = "cutlass.tile_scheduler.fixup_increment"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@irdl_op_definition
class FixupOp(_FixupOp):
    """Adds the sums of the parts before this one to `data`, and hands on what is not the last part.

    `data` is what a thread of the group has of the tile, in registers; where `compute_epilogue` is
    true it is the whole sum afterwards.  Sums are added in the order of K, so that they are always
    the same.
    """

    name = "cutlass.tile_scheduler.fixup"

    data: fields.Operand = fields.operand()
    width: fields.Int = fields.prop(_NUMBER, default=1, kw_only=True)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$params `,` $work `,` $data `,` $workspace `thread` $thread `at` $id `threads` $threads"
        " `width` $width attr-dict `:` type($params) `,` type($data) `,` type($workspace)"
    )

    @property
    def tile_elements(self) -> int:
        """The elements of a tile: those of all threads of the group."""
        return value_of(self.threads) * int(self._type.layout.size())

    @property
    def tile_bytes(self) -> int:
        """The bytes of one partial accumulator in the workspace."""
        return self.tile_elements * self._element_bytes

    @property
    def piece_bytes(self) -> int:
        """The bytes that one access moves."""
        return value_of(self.width) * self._element_bytes

    @property
    def _type(self) -> MemRefType:
        type_ = self.data.type
        assert isinstance(type_, MemRefType)
        return type_

    @property
    def _element_bytes(self) -> int:
        bits = element_bits(self._type.element_type)
        assert bits is not None
        return bits // 8

    def verify_(self) -> None:
        super().verify_()
        check_pieces(self, registers_of(self, self.data), self.workspace, value_of(self.width))
