"""The descriptor of a shared-memory layout: its mode and byte offsets, or the reason for none.

The test is CUTLASS's: count in 16-byte units, divide by the core matrix of the mode, require one
stride for each part of what an instruction reads (include/cute/atom/mma_traits_sm100.hpp,
make_umma_desc).  From one instruction to the next along K the start address may walk in any way.
"""

from __future__ import annotations

from typing import Literal

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.axes import AxisSum
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import flat, product_each
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.operations.simplify import coalesce
from tileas_xdsl.layout.operations.tiling import logical_divide
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES, NO_SWIZZLE, Swizzle
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.mma.canonical import (
    INSTRUCTION_K_BITS,
    MN_MAJOR_ONLY,
    MODES,
    UNIT_BITS,
    CanonicalLayout,
    Major,
    check_major,
    units_of,
)

Fault = Literal["swizzle", "mn-size", "k-size", "profile", "stride", "range"]

OFFSET_LIMIT = 1 << 18
"""The first byte offset that does not fit a descriptor."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why a layout is not canonical: the kind of fault and a sentence with the numbers."""

    fault: Fault
    reason: str


class _RefusedError(Exception):
    def __init__(self, fault: Fault, reason: str) -> None:
        super().__init__(reason)
        self.mismatch = Mismatch(fault, reason)


def match_canonical(
    memory: Layout, swizzle: Swizzle, elem_bits: int, major: Major, target: Target
) -> CanonicalLayout | Mismatch:
    """Return the mode and the byte offsets that describe `memory`, or why none do.

    `memory` maps `(MN, K)` to element offsets under the byte swizzle `swizzle`.  It may hold the K
    of several instructions.  Only geometry is checked here: `operand_refusal` decides whether an
    instruction takes such an operand.  Raises `TargetError` for an element width or a major that no
    operand has.
    """
    units = units_of(elem_bits)
    check_major(major)
    try:
        mode = _mode(swizzle, major, target)
        plain = _plain(memory)
        _check_sizes(plain, mode, elem_bits, major)
        if major == "k":
            return _k_major(mode, plain[0], plain[1], units, elem_bits)
        return _mn_major(mode, plain[0], plain[1], units, elem_bits)
    except _RefusedError as refused:
        return refused.mismatch


def _mode(swizzle: Swizzle, major: Major, target: Target) -> str:
    wanted = swizzle if swizzle.bits else NO_SWIZZLE
    for name in target.matrix_unit.layout_types:
        if BYTE_SWIZZLES[name] == wanted:
            break
    else:
        modes = ", ".join(
            f"{BYTE_SWIZZLES[name]} {name}" for name in target.matrix_unit.layout_types
        )
        raise _RefusedError(
            "swizzle", f"{target.name} has no mode with swizzle {swizzle}; it has {modes}"
        )
    if major == "k" and name in MN_MAJOR_ONLY:
        raise _RefusedError("swizzle", f"mode {name} exists for MN-major operands only")
    return name


def _plain(memory: Layout) -> Layout:
    if memory.rank != 2:
        raise _RefusedError(
            "profile", f"{memory} has {memory.rank} modes; an operand has two, MN and K"
        )
    if any(isinstance(d, AxisSum) for d in flat(memory.stride)):
        raise _RefusedError("profile", f"{memory} does not map to elements of one memory")
    return memory


def _check_sizes(memory: Layout, mode: str, elem_bits: int, major: Major) -> None:
    mn, k = product_each(memory.shape)
    mn_step = 8 if major == "k" else MODES[mode].width * UNIT_BITS // elem_bits
    k_step = INSTRUCTION_K_BITS // elem_bits
    if mn % mn_step:
        raise _RefusedError(
            "mn-size",
            f"{major.upper()}-major mode {mode} wants MN a multiple of {mn_step}, not {mn}",
        )
    if k % k_step:
        raise _RefusedError(
            "k-size", f"K is {k}; an instruction reads {k_step} {elem_bits}-bit elements"
        )


def _k_major(mode: str, mn: Layout, k: Layout, units: int, bits: int) -> CanonicalLayout:
    width = MODES[mode].width
    row, groups = _split(_whole_units(mn, units, mode), 8, mode, "each 8 units (16 bytes) along MN")
    stride = _stride(groups, mode, "the groups of 8 units (16 bytes) along MN")
    unit, starts = _split(_grouped(k, units, mode), 2, mode, "each 2 units (16 bytes) along K")
    _expect(row, width, mode, "rows of a core matrix")
    if mode != "none":
        _expect(unit, 1, mode, "the two 16-byte halves of an instruction's K")
    lead = 16 * unit
    return CanonicalLayout(mode, "k", bits, _offset(lead), _offset(16 * stride), _starts(starts))


def _mn_major(mode: str, mn: Layout, k: Layout, units: int, bits: int) -> CanonicalLayout:
    width, rows = MODES[mode].width, MODES[mode].mn_major_rows
    along = f"{width} units (16 bytes) along MN"
    unit, panels = _split(_grouped(mn, units, mode), width, mode, f"each {along}")
    panel = _stride(panels, mode, f"the groups of {along}")
    along = f"{rows} units (16 bytes) along K"
    row, groups = _split(_whole_units(k, units, mode), rows, mode, f"each {along}")
    group, starts = _groups_of_one_instruction(
        groups, INSTRUCTION_K_BITS // bits // rows, mode, along
    )
    if width > 1:
        _expect(unit, 1, mode, "16-byte units of a row")
    _expect(row, width, mode, "rows of one K each")
    lead, stride = (group, panel) if mode == "none" else (panel, group)
    return CanonicalLayout(
        mode, "mn", bits, _offset(16 * lead), _offset(16 * stride), _starts(starts)
    )


def _groups_of_one_instruction(
    groups: Layout, count: int, mode: str, along: str
) -> tuple[int, Layout]:
    """The stride of the `count` groups of rows that an instruction reads, and the starts."""
    if count > 1:
        return _split(groups, count, mode, f"the groups of {along}")
    # A stride between groups is not used then; the descriptor says that of the first two starts.
    first = groups.leaves()[0][1]
    return first if isinstance(first, int) else 0, groups


def _starts(units: Layout) -> Layout:
    """The starts of instructions in bytes."""
    leaves = [(s, _offset(16 * d)) for s, d in units.leaves() if isinstance(d, int)]
    return coalesce(Layout(tuple(s for s, _ in leaves), tuple(d for _, d in leaves)))


def _grouped(mode: Layout, units: int, name: str) -> Layout:
    """Return the contiguous mode in 16-byte units; raise where a unit is not contiguous."""
    if units == 1:
        return coalesce(mode)
    try:
        inner, outer = logical_divide(mode, Layout(units))
    except LayoutError as error:
        raise _RefusedError("stride", f"mode {name}: {error}") from None
    if coalesce(inner) != Layout(units, 1):
        raise _RefusedError(
            "stride", f"mode {name}: {units} elements should fill 16 bytes, found {coalesce(inner)}"
        )
    return _whole_units(outer, units, name)


def _whole_units(mode: Layout, units: int, name: str) -> Layout:
    """A mode with its strides in 16-byte units."""
    leaves = [(s, d) for s, d in coalesce(mode).leaves() if isinstance(d, int)]
    for _, d in leaves:
        if d % units:
            raise _RefusedError(
                "stride",
                f"mode {name}: a stride of {d} elements is not a multiple of 16 bytes ({units})",
            )
    return Layout(tuple(s for s, _ in leaves), tuple(d // units for _, d in leaves))


def _split(mode: Layout, extent: int, name: str, what: str) -> tuple[int, Layout]:
    """The stride of the `extent` first positions, which are `what`, and the layout of the rest."""
    try:
        first, rest = (coalesce(part) for part in logical_divide(mode, Layout(extent)))
    except LayoutError as error:
        raise _RefusedError("profile", f"mode {name}: {error}") from None
    return _stride(first, name, what), rest


def _stride(part: Layout, name: str, what: str) -> int:
    leaves = part.leaves()
    if len(leaves) != 1:
        raise _RefusedError("profile", f"mode {name}: {what} are not evenly spaced, found {part}")
    stride = leaves[0][1]
    return stride if isinstance(stride, int) else 0


def _expect(found: int, expected: int, mode: str, what: str) -> None:
    if found != expected:
        raise _RefusedError(
            "stride", f"mode {mode} wants {what} {16 * expected} bytes apart, found {16 * found}"
        )


def _offset(value: int) -> int:
    if not 0 <= value < OFFSET_LIMIT:
        raise _RefusedError("range", f"a byte offset of {value} is not in 0..{OFFSET_LIMIT - 16}")
    return value
