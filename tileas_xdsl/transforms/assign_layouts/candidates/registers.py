"""Propose register layouts for a group of tiles, and cost each for every operation on the group.

A group (`analysis/layouts/tile_groups.py`) is a set of tiles that must share one thread-value
layout. `register_options` lists the layouts worth comparing; the first rule that applies decides:

1. A layout that a type or a `convert_layout` of the group states is the only option.
2. The accumulator of an MMA: the fragment layout of wgmma or mma.sync (PTX ISA, "Matrix
   Fragments"), or a column slice of one.
   A permutation of such accumulators has them in the same registers.
3. Tiles that are read from tensor memory: one layout for each shape of `tcgen05.ld`.
4. Operand A that wgmma reads from registers: the fragment, which ldmatrix loads from a stage.
5. Operand A that is loaded for a dot: the fragment that ldmatrix writes.
6. Row vectors reduced from an accumulator: the layout of its rows.
7. Tiles that are read from shared memory and written there transposed: blocks that conflict least.
8. Tiles on the chip that are made of elements of others, or others of them: where registers are
   renamed, and nothing is exchanged.
9. Everything else: blocked layouts, each thread with contiguous chunks of 16 bytes and less.

Example: a `tensor<64x64xf16>` that four warps load from global memory and nothing else
constrains gets, first, chunks of eight elements (16 bytes, `ld.global.v4.b32`). Whether rows are
aligned to that is checked per candidate, not here: a candidate that cannot be encoded is kept
with the reason in `refused`, so that `explain=true` can print why a narrower access was chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.ir import Operation

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup, placed_tile
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.attributes import (
    atom_of,
)
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import (
    Candidate,
    Cost,
    SubAxis,
)
from tileas_xdsl.transforms.assign_layouts.candidates.group_operations import (
    operations_on,
    tile_of_group,
)
from tileas_xdsl.transforms.assign_layouts.candidates.memory.buffers import (
    SubTile,
    accesses,
    memory_layout,
    shared_layouts,
)
from tileas_xdsl.transforms.assign_layouts.candidates.memory.other_side import (
    memory_of,
    row_alignment,
    stated_alignment,
    stores_tile,
)
from tileas_xdsl.transforms.assign_layouts.candidates.memory.tensor_memory import (
    loads_tensor_memory,
)
from tileas_xdsl.transforms.assign_layouts.candidates.memory.thread_access import (
    registers_of,
    row_steps,
    store_steps,
)
from tileas_xdsl.transforms.assign_layouts.candidates.register_options import (
    Option,
    register_options,
)
from tileas_xdsl.transforms.assign_layouts.request import Assignment


def register_candidates(a: Assignment, group: TileGroup) -> Sequence[Candidate]:
    """Cost every layout that an operation of the group proposes for all operations on it."""
    operations = operations_on(a, group)
    agent = a.agent(group.first_op)
    options = register_options(a, group, agent)
    return [
        found
        for op, axis in operations
        for option in options
        for found in _candidates(_register_access(a, op, axis, group), option)
    ]


@dataclass(frozen=True)
class RegisterAccess:
    """An operation on a tile in registers, and the threads that run it."""

    op: Operation
    axis: SubAxis
    group: TileGroup
    agent: Agent
    memory: Space | None
    """The memory on its other side; None if there are registers."""
    loads_tensor_memory: bool
    neighbours: int | None
    """Bytes that divide where its rows begin but for a constant, if it has neighbours."""

    @property
    def bits(self) -> int:
        """Of the elements that the operation has; tiles of a group may have several types."""
        tile = placed_tile(tile_of_group(self.op, self.group).type)
        assert tile is not None
        return bits_of(tile.element_type)


def _register_access(
    a: Assignment, op: Operation, axis: SubAxis, group: TileGroup
) -> RegisterAccess:
    """Return how an operation accesses a group of tiles in registers along an axis."""
    loads = op in {value.owner for value in group.values} and loads_tensor_memory(a, op)
    memory = memory_of(a, op, group)
    agent, neighbours = a.agent(group.first_op), a.neighbours.alignment(op)
    return RegisterAccess(op, axis, group, agent, memory, loads, neighbours)


def _candidates(access: RegisterAccess, option: Option) -> Iterator[Candidate]:
    bits, memory, stores = access.bits, access.memory, stores_tile(access.op, access.group)
    move = option.move if access.loads_tensor_memory else None

    def made(
        atom: str, alignment: int, transactions: float, registers: float, refused: str = ""
    ) -> Candidate:
        cycles = None if move is None else move.cycles(access.group.shape[1])
        cost = Cost(transactions, cycles, registers)
        rest = (access.axis, option.family, max(alignment, 1), option.layout, cost, refused)
        return Candidate(access.op, atom, Space.RMEM, *rest)

    try:
        fragment = RegisterLayout(option.layout, access.group.shape, access.agent.threads)
        # Evaluated for its check: a layout that does not tile the shape raises here.
        _ = fragment.held
    except LayoutError as error:
        yield made("-", 1, 0, 0, str(error))
        return
    if move is not None:
        yield made(f"tcgen05_ld_{move.shape}", 1, 0, registers_of(fragment, bits))
    elif memory is None:
        yield made(_instruction_of_value(access.op), 1, 0, registers_of(fragment, bits))
    elif memory is Space.SMEM:
        shape = access.group.shape
        window = SubTile(memory_layout(shared_layouts(shape, bits)[0]), shape, bits, ())
        for found in accesses(fragment, window, stores):
            facts = (found.alignment, found.transactions, found.registers, found.refused)
            yield made(found.atom, *facts)
    else:
        width = _width(option, fragment, bits)
        alignment, known = width * bits // 8, row_alignment(access.op, bits)
        refused = f"rows begin at multiples of {known} bytes, not of {alignment}"
        stated = access.neighbours or stated_alignment(access.op, bits)
        if stated % max(alignment, 1):
            steps = store_steps(fragment, 1, bits)
        else:
            steps = store_steps(fragment, width, bits) if stores else row_steps(fragment, width)
        yield made(
            "stg" if stores else "ldg",
            alignment,
            steps,
            registers_of(fragment, bits),
            refused if known % max(alignment, 1) else "",
        )


def _instruction_of_value(op: Operation) -> str:
    if isinstance(op, DotOp | AsyncDotOp):
        atom = atom_of(op.atom)
        return "-" if atom is None else atom.keyword
    return "registers"


def _width(option: Option, fragment: RegisterLayout, bits: int) -> int:
    """Elements of an access: whole pieces as far as an access goes."""
    vector = option.vector or _adjacent(fragment)
    return max(1, min(vector, ACCESS_BYTES * 8 // bits))


def _adjacent(fragment: RegisterLayout) -> int:
    """How many registers of a thread, a power of two, are side by side in rows."""
    held = fragment.held[0]
    step = prod(fragment.shape[:-1])
    count = 1
    while 2 * count <= len(held) and len(held) % (2 * count) == 0:
        first = held[: 2 * count]
        if (first[0] < 0) or any(first[k] != first[0] + k * step for k in range(2 * count)):
            break
        count *= 2
    return count
