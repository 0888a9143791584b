"""Single-fragment operations and their numpy references."""

from support.meanings.arithmetic import DIVISIONS, DIVISIONS_BY_CONSTANTS, FLOATS, INTEGERS, SHIFTS
from support.meanings.comparisons import COMPARISONS
from support.meanings.conversions import CONVERSIONS
from support.meanings.fragments import FRAGMENTS
from support.meanings.functions import APPROXIMATIONS, FUNCTIONS
from support.meanings.meaning import DTYPES, Array, Meaning

__all__ = ["ALL", "DTYPES", "Array", "Meaning"]

ALL = (
    *INTEGERS,
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
