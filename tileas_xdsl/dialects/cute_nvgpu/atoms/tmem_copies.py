"""Copies of tensor memory: to and from registers, and from shared memory (PTX ISA 9.7.16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.clauses import TYPE, WORD, Clause, ClausedType
from tileas_xdsl.dialects.cute.atom.interfaces import CopyAtomType
from tileas_xdsl.dialects.cute.base.symbolic_values import map_tree
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import TIMES, integer, text, unit
from tileas_xdsl.dialects.cute_nvgpu.atoms.tcgen05 import TARGETS
from tileas_xdsl.layout import Layout, make_layout
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.target.tensor_memory import LANE_STEP, MOVE_SHAPES, counted, move_registers

LANES, WIDTH, BLOCKS = unit("DP"), unit("bit"), unit("cta")

WIDEST = "16x256b"
LONG = (64, 128)
"""Repetitions that the widest shape does not have."""

MULTICASTS: Mapping[str, Sequence[str]] = {
    "128x256b": ("none",),
    "4x256b": ("none",),
    "128x128b": ("none",),
    "64x128b": ("lw_0213", "lw_0123"),
    "32x128b": ("x4",),
}
"""By shape of `tcgen05.cp`: which warps get the data, as `s2t` broadcasts call it."""

_MULTICAST_MESSAGES: Mapping[str, str] = {
    "64x128b": "tcgen05.cp.multicast_64x128b",
    "32x128b": "tcgen05.cp.multicast_32x128b",
}


class TmemMoveType(ClausedType, CopyAtomType):
    """A load or store of the lanes that a warp reaches."""

    if TYPE_CHECKING:
        value_type: Attribute
        lanes: IntAttr
        width: IntAttr
        repeat: IntAttr

    CLAUSES = (
        Clause(TYPE), Clause(LANES), Clause(WIDTH), Clause(TIMES),
    )  # fmt: skip

    @property
    def minimum_targets(self) -> Sequence[str]:
        return TARGETS

    @property
    def shape(self) -> str:
        """As PTX calls it."""
        return f"{integer(self.lanes)}x{integer(self.width)}b"

    @property
    def threads(self) -> int:
        return 32

    @property
    def registers(self) -> Layout:
        """(thread, register) to the address of the cell, from the first."""
        return counted(move_registers(self.shape, integer(self.repeat)), LANE_STEP)

    @property
    def copy_bits(self) -> int | None:
        return self.registers[1].size() * WORD_BITS

    @property
    def columns(self) -> int:
        """Of tensor memory, what one move takes of each lane."""
        return MOVE_SHAPES[self.shape].columns * integer(self.repeat)

    @property
    def cells(self) -> Layout:
        """The cells that a warp moves, each of its threads all of them, to their addresses."""
        return Layout((self.columns, integer(self.lanes)), (1, LANE_STEP))

    @property
    def in_registers(self) -> Layout:
        """`(thread, bit) -> bit` of what is moved, counted along columns first."""
        moved = counted(move_registers(self.shape, integer(self.repeat)), self.columns)
        threads, registers = (
            Layout(mode.shape, map_tree(lambda step: step * WORD_BITS, mode.stride))
            for mode in moved
        )
        return make_layout(threads, make_layout(Layout(WORD_BITS), registers))

    @property
    def in_tensor_memory(self) -> Layout:
        """As `in_registers`; all threads of a warp give one address."""
        return Layout((self.threads, self.cells.size() * WORD_BITS), (0, 1))

    def verify(self) -> None:
        repeat, facts = integer(self.repeat), MOVE_SHAPES.get(self.shape)
        if facts is None or self.shape.endswith("x2"):
            known = ", ".join(name for name in MOVE_SHAPES if not name.endswith("x2"))
            raise VerifyException(f"tensor memory is moved {known}, not {self.shape}")
        if self.shape == WIDEST and repeat in LONG:
            key = "cute_nvgpu.tmem_load.repetition"
            raise VerifyException(message(key))
        if repeat < 1 or repeat > facts.max_repetitions or repeat & (repeat - 1):
            raise VerifyException(
                f"{self.shape} repeats a power of two up to {facts.max_repetitions} times, "
                f"not {repeat}"
            )


@irdl_attr_definition
class TmemLoadType(TmemMoveType, TypeAttribute):
    """`!cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x128>`: `tcgen05.ld`."""

    name = "cute_nvgpu.atom.tmem_load"
    value_type: Attribute
    lanes: IntAttr
    width: IntAttr
    repeat: IntAttr

    SOURCE_SPACES = (AddressSpace.TMEM,)
    DESTINATION_SPACES = (AddressSpace.RMEM,)

    @property
    def source_layout(self) -> Layout | None:
        return self.in_tensor_memory

    @property
    def destination_layout(self) -> Layout | None:
        return self.in_registers


@irdl_attr_definition
class TmemStoreType(TmemMoveType, TypeAttribute):
    """`!cute_nvgpu.atom.tmem_store<f32, 32 DP, 32 bit, x128>`: `tcgen05.st`."""

    name = "cute_nvgpu.atom.tmem_store"
    value_type: Attribute
    lanes: IntAttr
    width: IntAttr
    repeat: IntAttr

    SOURCE_SPACES = (AddressSpace.RMEM,)
    DESTINATION_SPACES = (AddressSpace.TMEM,)

    @property
    def source_layout(self) -> Layout | None:
        return self.in_registers

    @property
    def destination_layout(self) -> Layout | None:
        return self.in_tensor_memory

    @property
    def reference_layout(self) -> Layout | None:
        """The source: registers say what a thread has."""
        return self.source_layout


@irdl_attr_definition
class S2tCopyType(ClausedType, CopyAtomType, TypeAttribute):
    """`!cute_nvgpu.atom.s2t_copy<f8E8M0FNU, 32 DP, 128 bit, 1 cta, x4>`: `tcgen05.cp`."""

    name = "cute_nvgpu.atom.s2t_copy"
    value_type: Attribute
    lanes: IntAttr
    width: IntAttr
    blocks: IntAttr
    broadcast: StringAttr

    CLAUSES = (
        Clause(TYPE), Clause(LANES), Clause(WIDTH), Clause(BLOCKS), Clause(WORD),
    )  # fmt: skip
    SOURCE_SPACES = (AddressSpace.SMEM,)
    DESTINATION_SPACES = (AddressSpace.TMEM,)

    @property
    def minimum_targets(self) -> Sequence[str]:
        return TARGETS

    @property
    def shape(self) -> str:
        """As PTX calls it."""
        return f"{integer(self.lanes)}x{integer(self.width)}b"

    @property
    def copy_bits(self) -> int | None:
        return integer(self.lanes) * integer(self.width)

    def verify(self) -> None:
        known = MULTICASTS.get(self.shape)
        if known is None:
            listed = ", ".join(MULTICASTS)
            raise VerifyException(f"tcgen05.cp copies {listed}, not {self.shape}")
        if text(self.broadcast) not in known:
            key = _MULTICAST_MESSAGES.get(self.shape, "tcgen05.cp.multicast")
            raise VerifyException(message(key))
        if integer(self.blocks) not in (1, 2):
            raise VerifyException(f"tcgen05.cp is of 1 or 2 blocks, not {integer(self.blocks)}")
