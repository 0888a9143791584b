"""Single-fragment operations and their numpy references."""

from tests.backend.ptx.lowering.meanings.arithmetic import (
    CHAINS,
    DIVISIONS,
    DIVISIONS_BY_CONSTANTS,
    FLOATS,
    INTEGERS,
    SHIFTS,
)
from tests.backend.ptx.lowering.meanings.comparisons import COMPARISONS
from tests.backend.ptx.lowering.meanings.conversions import CONVERSIONS
from tests.backend.ptx.lowering.meanings.fragments import FRAGMENTS
from tests.backend.ptx.lowering.meanings.functions import APPROXIMATIONS, FUNCTIONS
from tests.backend.ptx.lowering.meanings.meaning import DTYPES, Array, Meaning

__all__ = ["ALL", "DTYPES", "Array", "Meaning"]

ALL = (
    *INTEGERS,
    *CHAINS,
    *DIVISIONS,
    *DIVISIONS_BY_CONSTANTS,
    *SHIFTS,
    *FLOATS,
    *COMPARISONS,
    *FUNCTIONS,
    *APPROXIMATIONS,
    *CONVERSIONS,
    *FRAGMENTS,
)
