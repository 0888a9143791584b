"""The dialect of PTX: one operation per family of instructions, registers and tuples as values.

A value is a per-thread register or a tuple of registers of one kind; an operation on tuples is one
operation that prints an instruction per register.  Tuples are cut and put together for free
(`UnpackOp`, `ExtractOp`, `PackOp`).  `ConstOp` is an operand's literal.

The operations of a module are the operation classes that it defines; all of them are names of this
package (`ptx.AddOp`).  Which instructions they may print is stated in `target/isa/`.
"""

from tileas_xdsl.dialects.ptx.dot.mma_scaled import *
from tileas_xdsl.dialects.ptx.dot.mma_sparse import *
from tileas_xdsl.dialects.ptx.dot.tcgen05 import *
from tileas_xdsl.dialects.ptx.dot.tcgen05_mma import *
from tileas_xdsl.dialects.ptx.dot.warp_matrix import *
from tileas_xdsl.dialects.ptx.dot.wgmma import *
from tileas_xdsl.dialects.ptx.elementwise.arith import *
from tileas_xdsl.dialects.ptx.elementwise.bits import *
from tileas_xdsl.dialects.ptx.elementwise.compare import *
from tileas_xdsl.dialects.ptx.elementwise.values import *
from tileas_xdsl.dialects.ptx.memory.accesses import *
from tileas_xdsl.dialects.ptx.memory.async_copy import *
from tileas_xdsl.dialects.ptx.memory.atomics import *
from tileas_xdsl.dialects.ptx.memory.bulk import *
from tileas_xdsl.dialects.ptx.memory.tensor import *
from tileas_xdsl.dialects.ptx.special import *
from tileas_xdsl.dialects.ptx.structure.calls import *
from tileas_xdsl.dialects.ptx.structure.control import *
from tileas_xdsl.dialects.ptx.structure.declarations import *
from tileas_xdsl.dialects.ptx.synchronisation.barriers import *
from tileas_xdsl.dialects.ptx.synchronisation.launch_control import *
from tileas_xdsl.dialects.ptx.synchronisation.mbarrier import *
from tileas_xdsl.dialects.ptx.synchronisation.warp import *
from tileas_xdsl.dialects.ptx.types import ParamType as ParamType
from tileas_xdsl.dialects.ptx.types import RegType as RegType
from tileas_xdsl.dialects.ptx.types import param as param
from tileas_xdsl.dialects.ptx.types import reg as reg
from tileas_xdsl.dialects.registry import dialect_of

Ptx = dialect_of(__name__, "ptx")
