"""PTX that needs nothing of its launcher but the parameters of the program.

The launcher of a compiled kernel passes the size of shared memory, and tensor maps as hidden
parameters.  Launchers that know only the parameters of the Tile IR entry pass neither: CTAs build
the maps (`threads/tma/embedded_maps.py`), and shared memory is declared.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tileas_xdsl.dialects.ptx import FunctionOp, GlobalOp, SharedOp


def merged(modules: Sequence[ModuleOp], shared_bytes: int) -> ModuleOp:
    """Return one PTX module of several, which declares shared memory for the largest kernel.

    The launch sizes shared memory that is `extern`; ptxas takes more than 48 KiB of a declared
    variable too, up to what a CTA has.  The operations move.
    """
    declared: dict[str, Operation] = {}
    others: list[Operation] = []
    for op in [op for module in modules for op in module.ops]:
        op.detach()
        match op:
            case SharedOp() if op.flag("extern"):
                name = op.sym_name.data
                declared[name] = SharedOp(name, max(shared_bytes, 1), align=op.number("align"))
            case GlobalOp() | FunctionOp():
                declared.setdefault(op.sym_name.data, op)
            case _:
                others.append(op)
    return ModuleOp([*declared.values(), *others])
