"""Types of `ptx`: registers, tuples of registers of one kind, and parameters of an entry."""

from __future__ import annotations

from functools import lru_cache

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.clauses import INTEGER, WORD, Clause, ClausedType
from tileas_xdsl.target.isa.kinds import KINDS, PARAMETER_BYTES

MAX_REGISTERS = 256
"""The longest tuple: the accumulators of the widest instruction are 128 or 256 registers."""


@irdl_attr_definition
class RegType(ClausedType, TypeAttribute):
    """`!ptx.reg<f32, 128>`: a tuple of 128 per-thread registers of one kind; one by default."""

    name = "ptx.reg"

    kind: StringAttr
    count: IntAttr

    CLAUSES = (Clause(WORD), Clause(INTEGER, default=IntAttr(1)))

    def verify(self) -> None:
        """Kinds are those of PTX; a tuple has at least one register."""
        if self.kind.data not in KINDS:
            raise VerifyException(
                f"unknown kind of register '{self.kind.data}'; kinds are {', '.join(KINDS)}"
            )
        if not 1 <= self.count.data <= MAX_REGISTERS:
            raise VerifyException(
                f"a tuple has 1 to {MAX_REGISTERS} registers, not {self.count.data}"
            )


@lru_cache(maxsize=1024)
def reg(kind: str, count: int = 1) -> RegType:
    """The type of `count` registers of `kind`: pred, b16, b32, b64, f32 or f64."""
    return RegType(StringAttr(kind), IntAttr(count))


@irdl_attr_definition
class ParamType(ClausedType, TypeAttribute):
    """`!ptx.param<u64>` or `!ptx.param<b8, 128, align 64>`: a parameter in `.param` space."""

    name = "ptx.param"

    element: StringAttr
    count: IntAttr
    align: IntAttr
    """Bytes; 0 is the natural alignment of the element."""

    CLAUSES = (
        Clause(WORD), Clause(INTEGER, default=IntAttr(1)),
        Clause(INTEGER, "align", " ", default=IntAttr(0)),
    )  # fmt: skip

    @property
    def size(self) -> int:
        """Bytes."""
        return PARAMETER_BYTES[self.element.data] * self.count.data

    def verify(self) -> None:
        """Elements are PTX's fundamental types; alignments are powers of two up to 128."""
        if self.element.data not in PARAMETER_BYTES:
            known = ", ".join(PARAMETER_BYTES)
            raise VerifyException(
                f"unknown type '{self.element.data}' of a parameter; known: {known}"
            )
        if self.count.data < 1:
            raise VerifyException("a parameter has at least one element")
        align = self.align.data
        if align and (align & (align - 1) or align > 128):
            raise VerifyException(f"an alignment is a power of two up to 128, not {align}")


@lru_cache(maxsize=1024)
def param(element: str, count: int = 1, align: int = 0) -> ParamType:
    """The type of a parameter: `param("u64")`, `param("b8", 128, 64)` for a tensor map."""
    return ParamType(StringAttr(element), IntAttr(count), IntAttr(align))
