"""Every pass on random kernels: the same results before and after, and no finding.

A failure shows the smallest program that hypothesis finds, and the module after the pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tests.support.random_programs import Program, programs
from tests.support.random_programs.checking import (
    WrongError,
    check,
    passes_named,
    stored_by,
)
from tileas_xdsl.dialects.nv_tileas.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.memory_copy import CopyOp

PASSES: Sequence[str] = (
    "canonicalize",
    "cse",
    "licm",
    "tileas-canonicalize",
)
"""The passes that are checked, as `-p` strings."""

EXAMPLES = 25
SWEEP = 1000

COMMON: dict[str, Any] = {
    "suppress_health_check": list(HealthCheck),
    "print_blob": False,
}
FEW = settings(max_examples=EXAMPLES, derandomize=True, database=None, **COMMON)
MANY = settings(max_examples=SWEEP, **COMMON)


@pytest.mark.parametrize("spec", PASSES)
@FEW
@given(programs())
def test_passes_keep_what_programs_do(spec: str, program: Program) -> None:
    check(program, *passes_named(spec))


@pytest.mark.slow
@pytest.mark.parametrize("spec", PASSES)
@MANY
@given(programs())
def test_passes_keep_what_many_programs_do(spec: str, program: Program) -> None:
    check(program, *passes_named(spec))
