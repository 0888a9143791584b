"""Shared memory of a block for the stages of a loop: how many fit, and what is beside them."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr

from tileas_xdsl.analysis.memory.accumulators import is_divided_b
from tileas_xdsl.analysis.memory.shared_memory import aligned_bytes, allocated_tiles, is_staging
from tileas_xdsl.analysis.values.liveness.tiles import tile_registers
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.mma.matrix_units import PAIR
from tileas_xdsl.threads.pipeline import late_products
from tileas_xdsl.transforms.pipeline_loads.agent_registers import LEAST_HEADROOM
from tileas_xdsl.transforms.pipeline_loads.agents.handed_values import handed_bytes
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import StageLoad
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop
from tileas_xdsl.transforms.pipeline_loads.exchanged_lines import exchanged_bytes
from tileas_xdsl.transforms.pipeline_loads.launched_blocks import runs_at_once
from tileas_xdsl.transforms.pipeline_loads.streamed_loads import streamed_bytes

RESERVED = 1024
"""Bytes of shared memory for barriers."""

MOST_STREAMED = 2
"""Stages of a tile that a loop around loads: that of this round, and that of the next one."""

USUAL_STAGES, MOST_STAGES = 4, 8
"""Stages where no `latency` is given, and at most."""


def slot_bytes(found: LoadLoop) -> int:
    """The bytes of a stage; of B of products of two CTAs each has half."""
    results = [load.result for load in found.loads]
    return sum(aligned_bytes(v.type) // (PAIR if is_divided_b(v) else 1) for v in results)


def shared_memory_left(found: LoadLoop, blocks: int, target: Target) -> int:
    """The shared memory that a block has for stages, if some share a multiprocessor."""
    return target.shared_memory_per_block // blocks - RESERVED - bytes_beside_stages(found)


def stages_of(found: LoadLoop, room: int, slot: int, threads: int, most: int) -> tuple[int, bool]:
    """Return as many as are wanted and fit, and whether the product of the loop may run on.

    A further place of its operand leaves enough of them then (`late_products`), or in registers,
    of which each of the `threads` that multiply has `most`.
    """
    stages, products = wanted_stages(found), instances_in(found.loop, DotOp)
    operand = late_products.written_operand(products[0]) if len(products) == 1 else None
    if operand is not None:
        further = (late_products.PLACES - 1) * aligned_bytes(operand.type)
        beside = min(stages, (room - further) // slot)
        if beside >= late_products.MIN_STAGES:
            return beside, True
    stages = min(stages, room // slot)
    # Other CTAs of the multiprocessor would multiply meanwhile.
    is_single = operand is None and len(products) == 1 and runs_at_once(found)
    if not is_single or not late_products.computes_a(products[0]):
        return stages, False
    (product,) = products
    read = [load.result for load in late_products.loads_of_a(product)]
    held = sum(map(tile_registers, (*read, product.a, product.a, product.c))) // threads
    return stages, stages >= late_products.MIN_STAGES and held <= most - LEAST_HEADROOM


def stages_ahead(found: LoadLoop, held: int, blocks: int, target: Target) -> int:
    """Return the stages of a tile that a loop around loads, beside `held` bytes of other stages.

    One stage takes what the tile takes without a ring; the second one is what room is left for.
    """
    left = shared_memory_left(found, blocks, target) - held
    tile = streamed_bytes(found.needed)
    return 1 + min(left // tile, MOST_STREAMED - 1) if tile and left > 0 else 1


def wanted_stages(found: LoadLoop) -> int:
    """As many as the largest `latency` of the loads, with the one that is read."""
    hints = [_latency(load) for load in found.loads]
    known = [hint for hint in hints if hint is not None]
    if known:
        return min(max(known) + 1, MOST_STAGES)
    return MOST_STAGES if runs_at_once(found) else USUAL_STAGES


def _latency(load: StageLoad) -> int | None:
    hint = load.attributes.get("latency")
    return hint.value.data if isinstance(hint, IntegerAttr) else None


def bytes_beside_stages(found: LoadLoop) -> int:
    """The shared memory that the kernel's tiles take beside the stages.

    What is staged for a store behind all loops lies in the stages, which nobody reads any more;
    loops that follow one another use the same memory.
    """
    held = {*found.all_loads, *(op for op in found.behind() if is_staging(op))}
    loops = [one.loop for one in (found, *found.following)]
    inside = dict.fromkeys(loops, 0)
    others = 0
    for op, type_ in allocated_tiles(found.function):
        around = next((loop for loop in loops if loop.is_ancestor(op)), None)
        if op in held:
            continue
        if around is None:
            others += aligned_bytes(type_)
        else:
            inside[around] += aligned_bytes(type_)
    lines = max(map(exchanged_bytes, loops))
    return others + max(inside.values()) + handed_bytes(found.needed) + lines
