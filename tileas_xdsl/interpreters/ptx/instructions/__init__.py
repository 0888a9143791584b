"""The semantics of every PTX instruction, by family and opcode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileas_xdsl.interpreters.ptx.instructions import calls, control
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics
from tileas_xdsl.interpreters.ptx.instructions.dot import (
    tcgen05,
    tcgen05_mma,
    tcgen05_moves,
    warp_matrix_scaled,
    wgmma,
    wgmma_groups,
    wmma,
)
from tileas_xdsl.interpreters.ptx.instructions.dot import warp_matrix as matrix
from tileas_xdsl.interpreters.ptx.instructions.elementwise import (
    bit_counts,
    bit_fields,
    bits,
    compare,
    convert,
    floating,
    integer,
    integer_products,
    move,
    packed_conversions,
    video,
)
from tileas_xdsl.interpreters.ptx.instructions.memory import (
    async_copies,
    atomics,
    bulk_copies,
    multimem,
    stack,
    tensor_copies,
    tensor_maps,
)
from tileas_xdsl.interpreters.ptx.instructions.memory import load_store as memory
from tileas_xdsl.interpreters.ptx.instructions.synchronisation import (
    barrier,
    launch_control,
    mbarrier,
    mbarrier_waits,
    warp,
)

FAMILIES = (
    integer,
    integer_products,
    bit_counts,
    bit_fields,
    bits,
    floating,
    compare,
    convert,
    packed_conversions,
    move,
    video,
    memory,
    stack,
    atomics,
    multimem,
    control,
    calls,
    warp,
    barrier,
    mbarrier,
    mbarrier_waits,
    launch_control,
    async_copies,
    bulk_copies,
    tensor_copies,
    tensor_maps,
    matrix,
    warp_matrix_scaled,
    wmma,
    wgmma,
    wgmma_groups,
    tcgen05,
    tcgen05_mma,
    tcgen05_moves,
)


def _by_name() -> dict[str, list[Semantics]]:
    found: dict[str, list[Semantics]] = {}
    for family in FAMILIES:
        for entry in family.TABLE:
            found.setdefault(entry.name, []).append(entry)
    return found


SEMANTICS: Mapping[str, Sequence[Semantics]] = _by_name()
"""Instruction semantics by opcode prefix; several of one prefix differ by the final type."""


def find_semantics(parts: tuple[str, ...]) -> Semantics | None:
    """Return the semantics whose name is the longest prefix of an opcode."""
    for length in range(len(parts), 0, -1):
        for entry in SEMANTICS.get(".".join(parts[:length]), ()):
            if not entry.types or parts[-1] in entry.types:
                return entry
    return None
