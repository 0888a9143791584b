"""The two modes of layout inference, by name."""

from __future__ import annotations

from dataclasses import replace

from tileas_xdsl.inference import improved, parity
from tileas_xdsl.inference.checking import check
from tileas_xdsl.inference.decisions import Decisions, InferenceError, RegistersError
from tileas_xdsl.inference.improved.costs.cost_model import registers_of
from tileas_xdsl.inference.improved.costs.register_pressure import limit_of
from tileas_xdsl.inference.program import Program

MODES = ("improved", "parity")
MODELS = ("register-count", "io-aware")
"""What mode `parity` compares programs by."""


def infer(
    program: Program, mode: str = "improved", cost_model: str = "register-count"
) -> Decisions:
    """The layouts of a program; raises `InferenceError` where there are none.

    Where no mode finds fragments that fit into registers, but little is missing, decisions say
    that the rest is spilled, as ptxas does it, and why.
    """
    if mode == "parity":
        return parity.infer(program, cost_model)
    try:
        return improved.infer(program)
    except RegistersError as error:
        found = _smaller(program)
        if found is None and error.found is not None:
            return replace(error.found, spilled=error)
        if found is None:
            raise
        return found


def _smaller(program: Program) -> Decisions | None:
    """The answer of mode `parity`, where its fragments fit into registers and all rules hold.

    It converts nothing, so that no fragment is in registers twice.
    """
    try:
        found = parity.infer(program, "register-count")
    except InferenceError:
        return None
    sizes = [registers_of(m, program.buffers[n].bits) for n, m in found.fragments.items()]
    is_small = sum(sizes) <= limit_of(program.threads)
    return found if is_small and not check(program, found) else None
