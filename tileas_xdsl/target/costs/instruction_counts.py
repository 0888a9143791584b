"""Instructions per element of a tile, by operation: what schedules and rooflines count.

One instruction here is one of a thread on one element of 32 bits; elements of 16 bits go by two.
`issue` counts all instructions, `mufu` those of the special function unit among them.

Sources: CUDA C++ Programming Guide, arithmetic instructions, for what is one instruction; counts
of SASS by ptxas 13 for sm_90a of the sequences that this compiler emits (`expand-math`) for the
rest: `exp2` is FSETP, two FMUL and MUFU.EX2, and MUFU.EX2 alone where it may flush subnormals to
zero; exact division by a divisor of its own is nine with MUFU.RCP.  Floats are rounded at half of
the rate of fma (measured on an H200, `tests/hardware/measure_latencies.py`: 60 lanes a cycle).  An
operation that is missing here counts as `OTHER`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tileas_xdsl.data_classes import dataclass


@dataclass(frozen=True, slots=True)
class InstructionCount:
    """Instructions on one element, and those of the special function unit among them."""

    issue: float
    mufu: float = 0


OF_ACCESS, OF_START = 10, 60
"""Instructions of a warp around each access to global memory that stands in no loop, which compute
its address, and those before the first: counted in SASS of rope, softmax and cross entropy (416,
808 and 1,216 in all, by ptxas 13.5 for sm_90a)."""

OF_BYTES = InstructionCount(2)
"""A conversion of a byte to a float: counted in SASS of products of int8 weights (`PRMT`, `LOP3`,
`HADD2`: 127 for 64 elements, by ptxas 13.5 for sm_90a)."""

FREE = InstructionCount(0)
"""No instruction of its own: a name, a constant, an operand modifier."""

ONE = InstructionCount(1)

OTHER = InstructionCount(16)
"""A function whose sequence is not listed."""

_FREE = (
    *("arith.constant", "arith.bitcast", "arith.index_cast", "arith.negf", "tensor.extract"),
    *("nv_tileas.view", "nv_tileas.expand_dims"),
)
_ONE = (
    *("arith.addf", "arith.subf", "arith.mulf", "arith.maxnumf", "arith.minnumf", "math.fma"),
    *("arith.maximumf", "arith.minimumf", "arith.select", "arith.cmpf", "arith.cmpi"),
    *("arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori"),
    *("arith.shli", "arith.shrsi", "arith.shrui", "arith.maxsi", "arith.minsi", "arith.maxui"),
    *("arith.minui", "arith.extsi", "arith.extui", "arith.trunci", "arith.extf", "math.absf"),
    *("arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui"),
)

COUNTS: Mapping[str, InstructionCount] = MappingProxyType(
    {
        **dict.fromkeys(_FREE, FREE),
        **dict.fromkeys(_ONE, ONE),
        "arith.truncf": InstructionCount(2),
        "arith.divf": InstructionCount(9, 1),
        "arith.divsi": InstructionCount(20, 1),
        "arith.remsi": InstructionCount(20, 1),
        "arith.floordivsi": InstructionCount(22, 1),
        "math.exp": InstructionCount(8, 1),
        "math.exp2": InstructionCount(4, 1),
        "math.log": InstructionCount(14, 0),
        "math.log2": InstructionCount(4, 1),
        "math.rsqrt": InstructionCount(4, 1),
        "math.sqrt": InstructionCount(10, 1),
        "math.tanh": InstructionCount(20, 2),
        "math.erf": InstructionCount(24, 1),
    }
)
"""By name of the operation, as it is compiled without approximation."""

APPROXIMATE: Mapping[str, InstructionCount] = MappingProxyType(
    {
        "arith.divf": InstructionCount(2, 1),
        "math.exp": InstructionCount(2, 1),
        "math.exp2": InstructionCount(1, 1),
        "math.log": InstructionCount(2, 1),
        "math.log2": InstructionCount(1, 1),
        "math.rsqrt": InstructionCount(1, 1),
        "math.sqrt": InstructionCount(1, 1),
        "math.tanh": InstructionCount(1, 1),
    }
)
"""By name of the operation, where it may be approximate or flush subnormals to zero."""


def instruction_count(name: str, *, approximate: bool = False) -> InstructionCount:
    """Return the instructions of an operation on one element."""
    if approximate and name in APPROXIMATE:
        return APPROXIMATE[name]
    return COUNTS.get(name, OTHER)
