"""Desired resident blocks per multiprocessor: 32 warps hide the latency of loads.

ptxas takes registers as if a block were alone: 79 for a thread of softmax over 32 elements, where
64 suffice and let 8 blocks of 4 warps run instead of 6.  Its bound is set from the tiles that are
live at once and a margin, in which code without products was not seen to spill.
"""

from __future__ import annotations

from xdsl.dialects import arith, func, gpu, tensor
from xdsl.dialects.builtin import TensorType, UnitAttr, i64
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.analysis.memory.kept_tiles import is_kept
from tileas_xdsl.analysis.values.liveness.tiles import peak_registers, tile_registers
from tileas_xdsl.analysis.values.rows.row_extents import within_reach
from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import ELEMENTWISE_DIALECTS
from tileas_xdsl.dialects.kinds import Kinds, has_instance
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpecAttr
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import KEPT, TiledLoadBase
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.units import WARP, WORD_BITS, WORD_BYTES
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.math_functions import MATH_FUNCTIONS

ENOUGH_WARPS = 32
"""Warps of a multiprocessor from which on more of them hide no more latency."""
REGISTER_HEADROOM = 32
"""Registers of a thread beside its tiles: addresses, conditions, what is computed at once."""
FEW_WARPS, HEADROOM_OF_FEW = 28, 30
"""Resident warps below which a CTA more is worth two registers less: it hides a wait for loads.

Norms along 256 channels f16, in tiles of 64 and 32 positions, in 16 and 32 warps 34.1, 23.5, and in
24 and 32 warps 23.0, 21.4 us (H200).
"""
WARPS_THAT_WAIT = 16
"""Resident warps below which a CTA more is asked for where ptxas may just have room: with fewer all
warps wait at once, and where registers spill, `backend/ptxas.py` asks for one CTA less.

JSD of 4,096 rows of 32,000 bf16, in chunks of 4,096 in 8 warps, takes 138 registers, 128 for two
CTAs and 80 for three: 728, 460 and 476 us (H200).
"""
EXPECTED_HEADROOM = 18
"""Registers beside tiles that ptxas takes of 80 kernels of rows, in the middle of them."""
REDUCTION_HEADROOM = 28
"""Those where threads reduce: of 24 such kernels 28 to 42, with their exchanges and predicates."""
TYPICAL_HEADROOM, TYPICAL_REDUCTION_HEADROOM = 16, 32
"""Both in the middle of 68 kernels of rows, whose registers ptxas 13.5 rounds up as below."""
REGISTER_UNIT = 8
"""A multiple of which a thread has registers: a warp gets 256 at a time."""
HEADROOM_OF_ROTATED_WORDS = 4
"""More of them where vectors of words are rotated: all that is loaded is live, and its places."""
MIN_HEADROOM = 8
"""Those without which it spills."""
FUNCTION_HEADROOM = 16
"""Registers beside them where a function is a sequence of instructions (`powf`, `sin`, `erf`)."""
SHORT = frozenset(("cosh", "exp", "sinh", "tanh"))
"""Functions that take a few instructions around `ex2`."""
HEADROOM_OF_CHUNKS = 24
"""Registers beside chunks of rows that are kept in shared memory: loops and reduced values."""
RESERVED_SHARED_MEMORY = 1024
"""Bytes of shared memory that the system takes for each block (CUDA C++ Programming Guide)."""


MASKS_OF_ROUNDS = "nv_tileas.masks_of_rounds"
"""Attribute of a kernel whose rounds were written out, each with masks of its own."""

HEADROOM_OF_MASKS = 48
"""Registers of a thread for masks of other rounds: ptxas computes them once, where they are alike.

Inverses of 32x32 take 96 registers beside 64 of tiles, triangular solves 71 beside 32.
"""


def blocks_that_fit(kernel: func.FuncOp, warps: int, shared_bytes: int, target: Target) -> int:
    """The blocks that registers and shared memory suffice for, up to 32 warps; 1 if unknown.

    Products and agents have budgets of their own, and programs over buffers have no tiles to count.
    """
    if has_instance(kernel, DotOp, AgentSwitchOp):
        return 1
    tiles = peak_registers(kernel.body, within_reach(kernel, resident_registers))
    return _blocks_that_fit(kernel, tiles, warps, shared_bytes, target)


def _blocks_that_fit(
    kernel: func.FuncOp, tiles: int, warps: int, shared_bytes: int, target: Target
) -> int:
    """Return the same for tiles that take so many registers of all threads."""
    if not tiles:
        return 1
    threads = warps * WARP
    is_of_chunks = keeps_rows(kernel)
    live = tiles // threads + (HEADROOM_OF_CHUNKS if is_of_chunks else REGISTER_HEADROOM)
    if any(_is_sequence(op) for op in operations_in(kernel)):
        live += FUNCTION_HEADROOM
    if any(_rotates_words(op) for op in operations_in(kernel)):
        live += HEADROOM_OF_ROTATED_WORDS
    if MASKS_OF_ROUNDS in kernel.attributes:
        live += HEADROOM_OF_MASKS
    by_registers = target.registers_per_multiprocessor // (threads * live)
    if by_registers * warps < FEW_WARPS and not is_of_chunks:
        live -= REGISTER_HEADROOM - HEADROOM_OF_FEW
        by_registers = target.registers_per_multiprocessor // (threads * live)
    if by_registers * warps < WARPS_THAT_WAIT and not is_of_chunks:
        live = tiles // threads + MIN_HEADROOM
        by_registers = target.registers_per_multiprocessor // (threads * live)
    by_memory = target.shared_memory_per_block // (shared_bytes + RESERVED_SHARED_MEMORY)
    enough = target.warps_per_multiprocessor if is_of_chunks else ENOUGH_WARPS
    most = min(enough // warps, target.blocks_per_multiprocessor)
    return max(1, min(most, by_registers, by_memory))


def blocks_of_kept_rows(row_bytes: int, warps: int, target: Target) -> int:
    """The blocks that have memory for rows that they keep, and threads.

    Threads wait for one another in reductions, and load between these: more than 32 warps hide it.
    """
    by_memory = target.shared_memory_per_block // (row_bytes + RESERVED_SHARED_MEMORY)
    by_threads = target.warps_per_multiprocessor // warps
    return min(by_memory, by_threads, target.blocks_per_multiprocessor)


def has_room_for_rotated_words(elements: int, warps: int, target: Target) -> bool:
    """Whether a row of so many words that is rotated leaves most warps resident.

    Softmax of 4,095 f32 gains 3 % with 28 warps, of 5,003 it loses 9 % with 24.
    """
    threads = warps * WARP
    registers = elements // threads + REGISTER_HEADROOM + HEADROOM_OF_ROTATED_WORDS
    resident = target.registers_per_multiprocessor // (threads * registers) * warps
    return resident >= ENOUGH_WARPS * 7 // 8


def keeps_rows(kernel: func.FuncOp) -> bool:
    """Whether a kernel computes rows of chunks, which are in shared memory."""
    return any(map(_is_of_kept_row, operations_in(kernel)))


def _is_of_kept_row(op: Operation) -> bool:
    is_part = isinstance(op, TiledLoadBase) and op.row_width is not None and KEPT in op.attributes
    return is_part or isinstance(op.attributes.get(KEPT), UnitAttr)


def expected_blocks(
    kernel: func.FuncOp,
    warps: int,
    hint: int,
    target: Target,
    *,
    typical: bool = False,
) -> int:
    """The blocks that share a multiprocessor by the registers that ptxas is expected to take.

    A `hint` is a wish: where tiles alone take the registers that it leaves, it is not followed.
    What a launch is predicted by is `typical`; code is chosen by what few kernels take less than.
    """
    if has_instance(kernel, DotOp, AgentSwitchOp):
        return max(hint, 1)
    threads, registers = warps * WARP, target.registers_per_multiprocessor
    counted = _registers_but_of_addresses if typical else resident_registers
    tiles = peak_registers(kernel.body, within_reach(kernel, counted))
    fit, live = _blocks_that_fit(kernel, tiles, warps, 0, target), tiles // threads
    if not live:
        return max(hint, fit)
    most = min(ENOUGH_WARPS // warps, target.blocks_per_multiprocessor)
    reduces = has_instance(kernel, ReduceOp)
    headroom = REDUCTION_HEADROOM if reduces else EXPECTED_HEADROOM
    each = live + headroom
    if typical:
        headroom = TYPICAL_REDUCTION_HEADROOM if reduces else TYPICAL_HEADROOM
        each = align_up(live + headroom, REGISTER_UNIT)
        most = min(target.warps_per_multiprocessor // warps, target.blocks_per_multiprocessor)
    expected = min(registers // (threads * each), most)
    is_planned = typical and keeps_rows(kernel)  # By `tileas-chunk-tiles`, of chunks.
    has_room = is_planned or threads * hint * (live + MIN_HEADROOM) <= registers
    wished = hint if has_room else 1
    return max(fit, expected, wished)


def _is_sequence(op: Operation) -> bool:
    """Whether `expand-math` writes out a function in more than a few instructions."""
    name = op.name.removeprefix("math.")
    function = MATH_FUNCTIONS.get(name)
    return function is not None and not function.instructions and name not in SHORT


def _rotates_words(op: Operation) -> bool:
    if not isinstance(op, TiledLoadBase) or op.rotated is None:
        return False
    return bits_of(element_of(op.view.type)) >= WORD_BITS


def resident_registers(value: SSAValue) -> int:
    """Return `tile_registers`; none of a streamed line, or of a broadcast beside its source.

    Nor of what is computed for a reduction alone, which takes each element as it is made.
    """
    if not _TENSORS[type(value.type)]:
        return 0
    owner = value.owner
    if type(owner) is GenerateOp and all(
        isinstance(op, BROADCAST) for op in operations_in(owner.body)
    ):
        return 0
    user = value.get_user_of_unique_use()
    if type(user) is ReduceOp and isinstance(owner, Operation) and _is_by_element(owner):
        return 0
    if _is_streamed(value):
        return _registers_of_line(value)
    registers = tile_registers(value)
    return min(registers, _registers_of_access(value)) if _is_line_of_all(value) else registers


def _registers_but_of_addresses(value: SSAValue) -> int:
    """Return `resident_registers`; none of addresses, of which an access of a thread has one.

    What is computed in 64 bits is one, where tiles do not hold such numbers: %p = addptr %q, %i64.
    """
    element = element_of(value.type)
    is_index = element == i64 and not _is_loaded(value)
    return 0 if is_index or isinstance(element, PtrType) else resident_registers(value)


def _is_loaded(value: SSAValue) -> bool:
    return isinstance(value.owner, TiledLoadBase | LoadOp | WaitOp)


def _registers_of_line(value: SSAValue) -> int:
    """Return the registers of a line that has to be there before any of it is used; 0 of others.

    A load that makes vectors of two each has branches, out of which none is moved to where it is
    used.  A line that meets rows alone takes the registers that each row leaves over, and one that
    is kept in shared memory none.
    """
    load = _loaded(value)
    if not isinstance(load, TiledLoadBase) or load.rotated is None or KEPT in load.attributes:
        return 0
    is_aligned = load.rotated.value.data >= ACCESS_BYTES
    return 0 if is_aligned or not _meets_another(value) else tile_registers(load.result)


def _meets_another(line: SSAValue) -> bool:
    """Whether what reads a line reads another one with it, as weights and biases of `x * w + b`."""
    user = line.get_user_of_unique_use()
    while isinstance(user, ExpandDimsOp | arith.ExtFOp):
        user = user.results[0].get_user_of_unique_use()
    if user is None:
        return False
    return sum(isinstance(_loaded(operand), TiledLoadBase) for operand in user.operands) > 1


def _loaded(value: SSAValue) -> Operation | Block:
    """What makes a value, or the line that it is the extended elements of."""
    while isinstance(owner := value.owner, ExpandDimsOp | arith.ExtFOp):
        value = owner.operands[0]
    return owner


def _is_by_element(op: Operation) -> bool:
    """Whether each element of a tile is computed on its own."""
    return isinstance(op, GenerateOp) or op.name.startswith(ELEMENTWISE_DIALECTS)


_TENSORS = Kinds(TensorType)
_WIDENS = Kinds(ExpandDimsOp, arith.ExtFOp)
"""Operations that only repeat or extend the elements of a line."""


def _is_streamed(value: SSAValue) -> bool:
    """Whether a value is a line from memory, on its way to the rows that it is combined with.

        %w = tiled_load     // the weights of a norm: all blocks read them, and caches have them
        %x = extf %w
        %y = expand_dims %x

    One that is waited for is in shared memory.  Each access of it may follow the use of the one
    before, where registers are short.
    """
    while type(owner := value.owner) is not ExpandDimsOp:
        user = value.get_user_of_unique_use()
        if user is None or not _WIDENS[type(user)]:
            return False
        value = user.results[0]
    source: SSAValue = owner.source
    while isinstance(source.owner, arith.ExtFOp):
        source = source.owner.input
    is_loaded = isinstance(source.owner, TiledLoadBase | WaitOp) or is_kept(source)
    return is_loaded and value.has_one_use()


def _is_line_of_all(value: SSAValue) -> bool:
    """Whether a value is such a line without a dimension more: of rows that are lines, too.

    No tile block's number decides where it is, and no loop reads it.
    """
    load, user = value.owner, value.get_user_of_unique_use()
    while isinstance(load, arith.ExtFOp):
        load = load.input.owner
    if not isinstance(load, TiledLoadBase | LoadOp) or user is None or not _is_by_element(user):
        return False
    shape = shape_of(value.type)
    if shape is None or len(shape) != 1 or not isinstance(load.parent_op(), func.FuncOp):
        return False
    return not any(isinstance(op, gpu.BlockIdOp) for op in operations_behind(load.operands))


def _registers_of_access(value: SSAValue) -> int:
    """Return the registers of all threads that one access of each takes; none without threads."""
    parent = value.owner.parent_op()
    while parent is not None and not isinstance(parent, func.FuncOp):
        parent = parent.parent_op()
    spec = None if parent is None else parent.attributes.get(KERNEL_SPEC)
    warps = spec.data.num_warps if isinstance(spec, KernelSpecAttr) else 0
    return ACCESS_BYTES // WORD_BYTES * WARP * warps


BROADCAST = (arith.ConstantOp, tensor.ExtractOp, YieldOp)
"""The body of a `generate` that copies elements of another tile."""
