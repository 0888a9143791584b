"""The dialect of PTX: one operation per family of instructions, registers and tuples as values.

A value is a per-thread register or a tuple of registers of one kind; an operation on tuples is one
operation that prints an instruction per register.  Tuples are cut and put together for free
(`UnpackOp`, `ExtractOp`, `PackOp`).  `ConstOp` is an operand's literal.

The operations of a module are the operation classes that it defines; all of them are names of this
package (`ptx.AddOp`).  Which instructions they may print is stated in `target/isa/`.
"""

from types import ModuleType

from xdsl.ir import Dialect, Operation

from tileas_xdsl.dialects.ptx import (
    arith,
    async_copy,
    atomics,
    barriers,
    bits,
    bulk,
    calls,
    compare,
    control,
    declarations,
    matrix,
    mbarrier,
    memory,
    special,
    tcgen05,
    tcgen05_mma,
    tensor,
    values,
    warp,
    wgmma,
)
from tileas_xdsl.dialects.ptx.arith import *  # noqa: F403
from tileas_xdsl.dialects.ptx.async_copy import *  # noqa: F403
from tileas_xdsl.dialects.ptx.atomics import *  # noqa: F403
from tileas_xdsl.dialects.ptx.barriers import *  # noqa: F403
from tileas_xdsl.dialects.ptx.bits import *  # noqa: F403
from tileas_xdsl.dialects.ptx.bulk import *  # noqa: F403
from tileas_xdsl.dialects.ptx.calls import *  # noqa: F403
from tileas_xdsl.dialects.ptx.compare import *  # noqa: F403
from tileas_xdsl.dialects.ptx.control import *  # noqa: F403
from tileas_xdsl.dialects.ptx.declarations import *  # noqa: F403
from tileas_xdsl.dialects.ptx.matrix import *  # noqa: F403
from tileas_xdsl.dialects.ptx.mbarrier import *  # noqa: F403
from tileas_xdsl.dialects.ptx.memory import *  # noqa: F403
from tileas_xdsl.dialects.ptx.special import *  # noqa: F403
from tileas_xdsl.dialects.ptx.tcgen05 import *  # noqa: F403
from tileas_xdsl.dialects.ptx.tcgen05_mma import *  # noqa: F403
from tileas_xdsl.dialects.ptx.tensor import *  # noqa: F403
from tileas_xdsl.dialects.ptx.types import ParamType, RegType
from tileas_xdsl.dialects.ptx.types import param as param
from tileas_xdsl.dialects.ptx.types import reg as reg
from tileas_xdsl.dialects.ptx.values import *  # noqa: F403
from tileas_xdsl.dialects.ptx.warp import *  # noqa: F403
from tileas_xdsl.dialects.ptx.wgmma import *  # noqa: F403

FAMILIES = (
    arith,
    async_copy,
    atomics,
    barriers,
    bits,
    bulk,
    calls,
    compare,
    control,
    declarations,
    matrix,
    mbarrier,
    memory,
    special,
    tcgen05,
    tcgen05_mma,
    tensor,
    values,
    warp,
    wgmma,
)


def operations_of(module: ModuleType) -> list[type[Operation]]:
    """Return the operations that a module defines; its abstract bases have no name."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Operation)
        and value.__module__ == module.__name__
        and "name" in vars(value)
    ]


Ptx = Dialect(
    "ptx", [op for family in FAMILIES for op in operations_of(family)], [ParamType, RegType]
)
