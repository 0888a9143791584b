"""The two ways to infer layouts, by name."""

from __future__ import annotations

from tileas_xdsl.inference import improved, parity
from tileas_xdsl.inference.decisions import Decisions
from tileas_xdsl.inference.program import Program

MODES = ("improved", "parity")
MODELS = ("register-count", "io-aware")
"""What mode `parity` compares programs by."""


def infer(
    program: Program, mode: str = "improved", cost_model: str = "register-count"
) -> Decisions:
    """The layouts of a program; raises `InferenceError` where there are none."""
    if mode == "parity":
        return parity.infer(program, cost_model)
    return improved.infer(program)
