"""The published machine model of the scheduler: 24 issue slots, and what operations hold of them.

Source: `Tileiras Internals`, scheduler pages (machine model, footprints).  Slots are coarse (they
classify an operation) or fine (they carry pressure); `tp` is transport, `gnic` the path to global
memory.  The cycles are those of that model, a few per operation, and no measurement: they are here
so that its worked examples come out as described.  `reservations.py` has the calibrated times.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from tileas_xdsl.data_classes import dataclass


class SlotKind(StrEnum):
    """Whether a slot classifies operations or carries pressure."""

    COARSE = "coarse"
    FINE = "fine"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot; its bit in a row of the reservation table is `1 << (id - 1)`."""

    id: int
    name: str
    kind: SlotKind
    weight: int
    """The anchor by which published tables weigh its cycles."""


def _slots(kind: SlotKind, *rows: tuple[int, str, int]) -> tuple[Slot, ...]:
    return tuple(Slot(id_, name, kind, weight) for id_, name, weight in rows)


_ALL = (
    *_slots(
        SlotKind.COARSE,
        *((1, "issue", 100), (2, "xu", 100), (3, "xu64", 110), (5, "alu", 102)),
        *((8, "lsu", 103), (9, "tmem", 120), (10, "mma", 104), (12, "tma", 104)),
    ),
    *_slots(
        SlotKind.FINE,
        *((4, "fp32x2_fp16ultra", 101), (6, "alu_or_fmaheavy", 102), (7, "dual_alu", 103)),
        *((11, "tc_and_mma", 121), (13, "tp_gnic_rd", 200), (14, "tp_gnic_wr", 400)),
        *((15, "tp_smem_rd", 800), (16, "tp_smem_wr", 900), (17, "tp_tmem_rd", 1500)),
        *((18, "tp_tmem_wr", 2000), (19, "tp_mma", 2400), (20, "unknown", 3000)),
        *((21, "omitted_simt", 50), (22, "test_simt", 100), (23, "test_mma", 200)),
    ),
    *_slots(SlotKind.TEST, (24, "test_dma", 360)),
)

SLOTS: Mapping[str, Slot] = MappingProxyType(
    {slot.name: slot for slot in sorted(_ALL, key=lambda slot: slot.id)}
)
"""By name, in the order of their ids."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What an operation of a class holds, and when its result is there, in cycles."""

    slots: tuple[tuple[str, int], ...]
    latency: int


FOOTPRINTS: Mapping[str, Footprint] = MappingProxyType(
    {
        "tma_load": Footprint((("tma", 8), ("tp_smem_wr", 8)), 8),
        "tma_store": Footprint((("tma", 8), ("tp_smem_rd", 8)), 8),
        "mma": Footprint((("tc_and_mma", 8), ("tp_mma", 8)), 8),
        "shared_read": Footprint((("tp_smem_rd", 7),), 7),
        "shared_write": Footprint((("tp_smem_wr", 7),), 7),
        "tensor_read": Footprint((("tp_tmem_rd", 7),), 7),
        "tensor_write": Footprint((("tp_tmem_wr", 7),), 7),
        "global_read": Footprint((("tp_gnic_rd", 7),), 7),
        "global_write": Footprint((("tp_gnic_wr", 7),), 7),
        "arithmetic": Footprint((("alu_or_fmaheavy", 4),), 4),
        "packed": Footprint((("fp32x2_fp16ultra", 4),), 4),
        "dual": Footprint((("dual_alu", 2),), 2),
    }
)
"""By class of operation."""
