"""Instructions of PTX by the unit that they are for, and the loops that they form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.parsing.syntax import Instruction, Kernel

SPECIAL_FUNCTIONS, SYNCHRONISATION, BRANCHES = "special functions", "synchronisation", "branches"
OTHERS = "arithmetic and moves"

_UNITS = (
    ("tensor core", ("wgmma.mma_async", "mma", "wmma", "tcgen05.mma")),
    ("TMA", ("cp.async.bulk", "cp.reduce.async.bulk")),
    ("tensor memory", ("tcgen05.ld", "tcgen05.st", "tcgen05.cp")),
    (SYNCHRONISATION, ("bar", "barrier", "mbarrier", "fence", "membar", "wgmma", "tcgen05")),
    (SPECIAL_FUNCTIONS, ("ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh")),
    ("shared memory", ("ldmatrix", "stmatrix")),
    ("global memory", ("cp.async", "prefetch")),
    (BRANCHES, ("bra", "brx", "ret", "exit", "call", "trap")),
)
"""By unit the begins of opcodes; the first that fits counts."""

_MEMORY = ("ld", "st", "atom", "red")
_SPACES = {"shared": "shared memory", "global": "global memory", "local": "local memory"}


@dataclass(frozen=True)
class PtxRange:
    """Instructions from a label to the last branch back to it, by index."""

    label: str
    first: int
    last: int


def by_unit(code: Sequence[Instruction]) -> dict[str, int]:
    """Count instructions by the unit that they are for, the most first."""
    return dict(Counter(map(unit_of, code)).most_common())


def unit_of(instruction: Instruction) -> str:
    """Return the unit that an instruction is for."""
    parts = instruction.parts
    if parts[0] in _MEMORY:
        spaces = (part.partition("::")[0] for part in parts)
        return next((_SPACES[space] for space in spaces if space in _SPACES), "other memory")
    opcode = f"{instruction.opcode}."
    for unit, begins in _UNITS:
        if any(opcode.startswith(f"{begin}.") for begin in begins):
            return unit
    return OTHERS


def loops_of(kernel: Kernel) -> Sequence[PtxRange]:
    """Return the ranges that a branch goes back over, one for each label."""
    found: dict[str, int] = {}
    for at, instruction in enumerate(kernel.code):
        if instruction.parts[0] != "bra":
            continue
        for word in re.findall(r"[$\w]+", instruction.text):
            if word in kernel.labels and kernel.labels[word] <= at:
                found[word] = max(at, found.get(word, 0))
    return [PtxRange(label, kernel.labels[label], last) for label, last in found.items()]
