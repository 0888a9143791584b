"""Say for each operation in which memory spaces its tiles may be: registers, shared or tensor
memory.

This is the table behind `memory_spaces.py`, which gives each tile one space, and
`required_conversions.py`, which inserts `convert_layout` where no space satisfies all users:

    operation                       requires
    wgmma dot                       A in smem (or rmem), B in smem, C and D in rmem
    tcgen05 dot                     A in smem or tmem, B in smem, C and D in tmem
    mma.sync dot, elementwise       rmem
    tiled_load by threads           result in rmem; smem too, if TMA could load it instead
    TMA load or store               smem
    pipeline stage                  what its iterator says, smem by default

An operand that a type already places is fixed to that space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.layouts.tile_groups import (
    is_placed,
    payload_results,
    placed_tile,
)
from tileas_xdsl.diagnostics.walking import operands_of
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.atoms import UNKNOWN_COPY, MmaAtom, TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, atom_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import (
    AsyncDotOp,
    BlockScaledMmaOp,
    DotOp,
    MatrixProduct,
)
from tileas_xdsl.dialects.nv_tileas.compute.dot_checks import OPERAND_SPACES
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.memory.atomics import PointedAtomicOp
from tileas_xdsl.dialects.nv_tileas.memory.atoms import LEGAL_PAIRS, is_zero
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyBase
from tileas_xdsl.dialects.nv_tileas.memory.element_access import (
    GatherLoadOp,
    LoadBase,
    ScatterStoreOp,
    StoreBase,
)
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    TiledAtomicRmwOp,
    TiledLoadBase,
    TiledStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ExpandDimsOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import InsertSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaTransferOp
from tileas_xdsl.dialects.nv_tileas.types import IteratorType
from tileas_xdsl.threads.dot.operands.wgmma_operand_a import takes_registers

SpaceRequirement = tuple[SSAValue, frozenset[Space]]
"""A tile, and the spaces in which an operation can use it."""

_REGISTERS = frozenset({Space.RMEM})
_SHARED = frozenset({Space.SMEM})
_LOADED = frozenset({Space.RMEM, Space.SMEM})
"""A loaded tile goes to registers, or stays in shared memory for users that read it there."""

UNDECIDED = AtomAttr.of(UNKNOWN_COPY)
"""The atom of an access whose instruction is not chosen yet."""

MEMORY_ACCESSES = (
    LoadBase,
    StoreBase,
    GatherLoadOp,
    ScatterStoreOp,
    TiledAtomicRmwOp,
    TiledStoreOp,
)
"""Accesses of threads to memory; `tiled_load` is apart, for its tile may stay in memory."""

_REGISTER_OPS = (PointedAtomicOp, ReduceOp, ScanOp, ExpandDimsOp, GenerateOp, tensor.ExtractOp)
"""Operations that work on tiles in registers, beside elementwise ones."""


_DECIDED = Kinds(*MEMORY_ACCESSES, *_REGISTER_OPS, CopyBase, InsertSliceOp, arith.SelectOp)
"""Operations of which more decides than their role."""

_ACCESSES, _ON_REGISTERS = Kinds(*MEMORY_ACCESSES), Kinds(*_REGISTER_OPS)


def reads_registers(op: Operation) -> bool:
    """Whether an operation works on tiles in registers."""
    if not _DECIDED[type(op)]:
        return layout_role(op) is LayoutRole.ELEMENTWISE
    if _ON_REGISTERS[type(op)]:
        return True
    if isinstance(op, MEMORY_ACCESSES):
        return not isinstance(op.atom.data, TmaAtom)
    if isinstance(op, CopyBase):
        return space_of(op.source.type) is None and space_of(op.destination.type) is Space.SMEM
    if isinstance(op, InsertSliceOp):
        return space_of(op.source.type) is None and space_of(op.destination.type) is None
    if isinstance(op, arith.SelectOp) and not isinstance(op.cond.type, TensorType):
        return False
    return layout_role(op) is LayoutRole.ELEMENTWISE


def space_requirements(op: Operation) -> Iterator[SpaceRequirement]:
    """Yield the requirements of an operation; tiles that it does not name are unconstrained."""
    for value in (*operands_of(op), *op.results):
        if (space := space_of(value.type)) is not None and is_placed(value.type):
            yield value, frozenset({space})
    for kinds, of_type in _BY_KIND:
        if kinds[type(op)]:
            yield from of_type(op)
            return
    if reads_registers(op):
        yield from ((tile, _REGISTERS) for tile in values_of(op))


def values_of(op: Operation) -> Iterator[SSAValue]:
    """Return the tiles that an operation reads or makes as values.

    The first operand of a memory access is its address and no value, unless it is a tile of
    pointers.
    """
    if isinstance(op, CopyBase):
        return iter((op.source,))
    address = op.operands[0] if _ACCESSES[type(op)] else None
    if address is not None and isinstance(element_of(address.type), PtrType):
        address = None
    tiles = (*op.operands, *op.results)
    return (v for v in tiles if v is not address and placed_tile(v.type) is not None)


def _may_stay_in_memory(op: TiledLoadBase) -> bool:
    """Whether a load may leave its tile in shared memory: by TMA, or where nothing reads it."""
    if op.atom != UNDECIDED:
        return False
    if space_of(op.view.type) is not Space.SMEM:
        # TMA moves whole boxes, and fills them up with zeros.
        return op.mask is None and is_zero(op.padding_value)
    return all(isinstance(use.operation, ConvertLayoutOp) for use in op.result.uses)


def _dot_spaces(op: MatrixProduct) -> Iterator[SpaceRequirement]:
    atom = atom_of(op.atom)
    if not isinstance(atom, MmaAtom):
        return
    a, b, c = (frozenset(spaces) for spaces in OPERAND_SPACES[atom.instruction])
    if atom.instruction == "wgmma" and not takes_registers(op):
        a -= _REGISTERS
    yield from ((op.a, a), (op.b, b), (op.c, c), (op.result, c))
    if isinstance(op, BlockScaledMmaOp):
        yield from ((scales, _SHARED) for scales in (op.sfa, op.sfb) if scales is not None)


def _copy_spaces(op: CopyBase) -> Iterator[SpaceRequirement]:
    """Return where a tile can be copied from or to, if the other side is known."""
    source, destination = space_of(op.source.type), space_of(op.destination.type)
    if source is None and destination is not None:
        yield op.source, frozenset(a for a, b in LEGAL_PAIRS if b is destination)
    if destination is None and source is not None:
        yield op.destination, frozenset(b for a, b in LEGAL_PAIRS if a is source)


def _stage_spaces(op: StageOp) -> Iterator[SpaceRequirement]:
    """Return the space of the tiles of a stage: that of its iterator, else shared memory."""
    stated = {t.space for v in op.operands if isinstance(t := v.type, IteratorType)}
    spaces = frozenset(space.data for space in stated if isinstance(space, SpaceAttr))
    tiles = op.regions[0].block.args if op.regions else payload_results(op)
    yield from ((v, spaces or _SHARED) for v in tiles if placed_tile(v.type) is not None)


def _slice_spaces(op: InsertSliceOp) -> Iterator[SpaceRequirement]:
    """A slice and its destination share a space, registers by default."""
    known = (space_of(tile.type) for tile in (op.source, op.destination))
    space_of_slice = next((space for space in known if space is not None), Space.RMEM)
    yield from ((tile, frozenset({space_of_slice})) for tile in (op.source, op.destination))


def _tma_spaces(op: TmaTransferOp) -> Iterator[SpaceRequirement]:
    yield op.operands[1], _SHARED


def _load_spaces(op: TiledLoadBase) -> Iterator[SpaceRequirement]:
    if isinstance(op.atom.data, TmaAtom):
        if space_of(op.loaded_type()) is None:
            yield op.result, _SHARED
    else:
        yield op.result, _LOADED if _may_stay_in_memory(op) else _REGISTERS


def _store_spaces(op: TiledStoreOp | TiledAtomicRmwOp) -> Iterator[SpaceRequirement]:
    """TMA stores from shared memory (a copy there may be inserted), threads from registers."""
    if isinstance(op.atom.data, TmaAtom):
        yield op.value, _LOADED
    else:
        yield from ((tile, _REGISTERS) for tile in values_of(op))


_Table: TypeAlias = Sequence[tuple[Kinds, Callable[[Any], Iterator[SpaceRequirement]]]]

_BY_KIND: _Table = (
    (Kinds(DotOp, AsyncDotOp, BlockScaledMmaOp), _dot_spaces),
    (Kinds(TmaTransferOp), _tma_spaces),
    (Kinds(TiledLoadBase), _load_spaces),
    (Kinds(TiledStoreOp, TiledAtomicRmwOp), _store_spaces),
    (Kinds(InsertSliceOp), _slice_spaces),
    (Kinds(CopyBase), _copy_spaces),
    (Kinds(StageOp), _stage_spaces),
)
