"""Global memory of each resident CTA, for launches that allocate none.

A launch that knows the program's parameters alone passes no arena (`arena.py`).  The module then
has slots for more CTAs than are resident on a GPU.  A CTA acquires a free one and releases it:

    one thread:  slot = linear index of the CTA mod N
                 while (atom.acquire.gpu.cas(taken[slot], 0, 1) != 0)  slot = (slot + 1) mod N
    all:         address = memory + slot * bytes
                 ...
    all:         cp.async.bulk.wait_group 0; bar.sync         TMA reads no map of it any more
    one thread:  atom.release.gpu.exch(taken[slot], 0)

With N at least the CTAs that are resident on the largest GPU nobody waits for a CTA that is not
running.  Source: PTX ISA 8, memory consistency model (release and acquire patterns).
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, TensorType, i8, i32
from xdsl.ir import Block, Region, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import AddressOfOp, LoadOp, PtrType, StoreOp
from tileas_xdsl.dialects.cute_nvgpu import (
    AtomicCasOp,
    AtomicRmwOp,
    BulkWaitOp,
    FenceProxyAsyncOp,
    GetDynSmemOp,
)
from tileas_xdsl.dialects.nv_tileaa.memory.globals import GlobalOp
from tileas_xdsl.dialects.xdsl_ops import comparison
from tileas_xdsl.layout.integers import power_of_two_below
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    extend_to_i64,
    i32_constant,
    is_equal,
    multiply,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.codegen.thread_ids import thread_id
from tileas_xdsl.threads.gmem.launch_memory.arena import cta_number
from tileas_xdsl.threads.pipeline.occupancy import RESERVED_SHARED_MEMORY

MULTIPROCESSORS = 256
"""More than any GPU of the targets has."""


@dataclass(frozen=True)
class ResidentSlot:
    """The memory that a CTA has acquired."""

    pointer: SSAValue
    """To its first byte, aligned to a tensor map."""
    taken: SSAValue
    """To the word that is 1 while the slot is in use."""


def acquire_slot(e: ThreadBuilder, bytes_: int) -> ResidentSlot:
    """Acquire memory for the CTA; run by all its threads, before shared memory is used."""
    slots = power_of_two_below(2 * MULTIPROCESSORS * resident_ctas(e) - 1)
    words = _global(e, "taken", slots, i32, 4)
    memory = _global(e, "memory", slots * bytes_, i8, SIZE)
    shared = e.insert(GetDynSmemOp(0, i32, 4)).result
    with predicated(e, is_equal(e, thread_id(e), 0)):
        e.insert(StoreOp(_free_slot(e, words, slots), shared))
    synchronize_agent(e)
    slot = extend_to_i64(e, e.insert(LoadOp(shared, i32)).result)
    e.insert(FenceProxyAsyncOp("shared::cta"))  # TMA may be the next to write there
    synchronize_agent(e)
    return ResidentSlot(
        advance(e, memory, multiply(e, slot, bytes_), SIZE), advance(e, words, slot)
    )


def release_slot(e: ThreadBuilder, slot: ResidentSlot) -> None:
    """Release the memory; run by all threads, at the end of the kernel."""
    e.insert(BulkWaitOp(0, read=False))
    synchronize_agent(e)
    with predicated(e, is_equal(e, thread_id(e), 0)):
        zero = i32_constant(e, 0)
        e.insert(AtomicRmwOp("exch", zero, slot.taken, order="release", scope="gpu"))


def resident_ctas(e: ThreadBuilder) -> int:
    """Return how many CTAs of the kernel a multiprocessor runs at most."""
    target, plan = e.plan.target, e.plan
    by_warps = target.warps_per_multiprocessor // plan.block.warps
    by_memory = target.shared_memory_per_block // (plan.shared.bytes + RESERVED_SHARED_MEMORY)
    return max(1, min(by_warps, by_memory, target.blocks_per_multiprocessor))


def _global(
    e: ThreadBuilder, name: str, count: int, element: IntegerType, alignment: int
) -> SSAValue:
    """Return a pointer to zeros that the module has of its own."""
    symbol = f"{e.plan.kernel.sym_name.data}_{name}"
    zeros = DenseIntOrFPElementsAttr.from_list(TensorType(element, [count]), [0])
    e.plan.globals.append(GlobalOp(symbol, zeros, alignment))
    return e.insert(AddressOfOp(symbol, PtrType(element, "gmem", alignment))).result


def _free_slot(e: ThreadBuilder, words: SSAValue, slots: int) -> SSAValue:
    """Return the index of a slot that this thread has acquired."""
    last, one = i32_constant(e, slots - 1), i32_constant(e, 1)
    first = e.insert(arith.AndIOp(cta_number(e), last)).result
    before, after = Block(arg_types=[i32]), Block(arg_types=[i32])
    with e.within(before):
        slot = before.args[0]
        word = advance(e, words, slot)
        update = AtomicCasOp(i32_constant(e, 0), one, word, order="acquire", scope="gpu")
        is_taken = e.insert(comparison(e.insert(update).result, i32_constant(e, 0), "ne")).result
        e.insert(scf.ConditionOp(is_taken, slot))
    with e.within(after):
        e.insert(scf.YieldOp(e.insert(arith.AndIOp(add(e, after.args[0], one), last)).result))
    return e.insert(scf.WhileOp([first], [i32], Region(before), Region(after))).results[0]
