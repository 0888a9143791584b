"""The one table of PTX instruction forms.

Read by the `ptx` dialect's verifiers and its printer, by the emulator's decoder, and by the
documentation (`docs/ptx_isa.md`).  A test sweeps all of it against ptxas (`make isa-sweep`).
"""

from __future__ import annotations

from tileas_xdsl.target.isa.forms import Table
from tileas_xdsl.target.isa.tables import movement, synchronization
from tileas_xdsl.target.isa.tables.arithmetic import (
    comparisons,
    conversions,
    floating,
    integer,
    video,
)
from tileas_xdsl.target.isa.tables.matrix import matrices, tensor_memory
from tileas_xdsl.target.isa.tables.memory import accesses, copies, multimem

FAMILIES = (
    integer,
    floating,
    comparisons,
    conversions,
    movement,
    accesses,
    multimem,
    synchronization,
    copies,
    matrices,
    tensor_memory,
    video,
)

TABLE = Table([row for family in FAMILIES for row in family.FORMS])
