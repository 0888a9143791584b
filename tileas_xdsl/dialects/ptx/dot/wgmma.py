"""`wgmma`: asynchronous matrix products of a warpgroup, and `mma.sync` of a warp.

The result of `wgmma.mma_async` is not there before a wait: it may go to further products, to
branches and to `WgmmaWaitOp`, which gives it back to be read.  Accumulators, results and what the
wait gives back are the same registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from tileas_xdsl.dialects.constraints import number_among
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import (
    INTEGER,
    REG,
    PtxOp,
    Value,
    as_value,
    count_of,
    kind_of,
    vector,
)
from tileas_xdsl.dialects.ptx.checks import (
    check_count,
    check_keyword,
    check_kind,
    check_passed_on,
    check_registers,
)
from tileas_xdsl.dialects.ptx.dot.in_flight import check_in_flight
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.types import reg
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import (
    MMA,
    WGMMA_COLUMNS,
    WGMMA_INTEGER_COLUMNS,
    WGMMA_K,
    WGMMA_TYPES,
)


class WordOp(PtxOp):
    """Base: one instruction without operands."""


@irdl_op_definition
class WgmmaFenceOp(WordOp):
    """`wgmma.fence`: earlier writes of accumulators and A registers, before products use them."""

    name = "ptx.wgmma.fence"

    def emit(self, out: Writer) -> None:
        out.line("wgmma.fence.sync.aligned")


@irdl_op_definition
class WgmmaCommitOp(WordOp):
    """`wgmma.commit_group`: the products so far become a group."""

    name = "ptx.wgmma.commit_group"

    def emit(self, out: Writer) -> None:
        out.line("wgmma.commit_group.sync.aligned")


@irdl_op_definition
class WgmmaWaitOp(PtxOp):
    """`wgmma.wait_group n`: at most the `pending` newest groups stay in flight.

    Accumulators that are complete then are its operands; its results are what may be read.  A
    registers of A that are complete then may be operands too: they stay untouched until here.
    """

    name = "ptx.wgmma.wait_group"

    IN_PLACE: ClassVar[bool] = True
    values = var_operand_def(REG)
    pending = prop_def(
        number_among(INTEGER, range(8), "leaves 0 to 7 groups in flight, not {given}")
    )
    complete = var_result_def(REG)

    def __init__(self, pending: int = 0, values: Sequence[Value] = ()) -> None:
        """Results have the types of `values`, in order."""
        operands = [as_value(value) for value in values]
        self.fill((operands,), [v.type for v in operands], pending=pending)

    def in_place(self) -> Sequence[tuple[int, int]]:
        return tuple((index, index) for index in range(len(self.results)))

    def check(self) -> None:
        check_passed_on(self, self.values, self.complete)

    def emit(self, out: Writer) -> None:
        out.line(f"wgmma.wait_group.sync.aligned {self.number('pending')}")


@irdl_op_definition
class WgmmaOp(PtxOp):
    """`wgmma.mma_async`: D = A * B + D of m64nNkK; N follows from the accumulator.

    A is a descriptor of shared memory (b64) or 4 registers (b32), B a descriptor.  With a false
    `scale_d` D = A * B.
    """

    name = "ptx.wgmma"

    READS_FIRST: ClassVar[bool] = False
    IN_PLACE: ClassVar[bool] = True
    accumulator = operand_def(REG)
    a = operand_def(REG)
    b = operand_def(REG)
    scale_d = operand_def(REG)
    type = prop_def(StringAttr)
    a_type = prop_def(StringAttr)
    b_type = prop_def(StringAttr)
    negate_a = opt_prop_def(UnitAttr)
    negate_b = opt_prop_def(UnitAttr)
    trans_a = opt_prop_def(UnitAttr)
    trans_b = opt_prop_def(UnitAttr)
    saturate = opt_prop_def(UnitAttr)
    result = result_def(REG)

    def __init__(
        self,
        accumulator: Value,
        a: Value,
        b: Value,
        scale_d: Value,
        type: str,
        a_type: str,
        b_type: str | None = None,
        *,
        negate_a: bool = False,
        negate_b: bool = False,
        trans_a: bool = False,
        trans_b: bool = False,
        saturate: bool = False,
    ) -> None:
        """`type` f32, f16 or s32 of D; `a_type` f16, bf16, tf32, e4m3, e5m2, s8, u8.

        `trans_a` and `trans_b` are for operands whose M or N is contiguous (16-bit types only).
        """
        accumulator = as_value(accumulator)
        self.fill(
            (accumulator, a, b, scale_d),
            (accumulator.type,),
            type=type,
            a_type=a_type,
            b_type=b_type or a_type,
            negate_a=negate_a,
            negate_b=negate_b,
            trans_a=trans_a,
            trans_b=trans_b,
            saturate=saturate,
        )

    def in_place(self) -> Sequence[tuple[int, int]]:
        return ((0, 0),)

    @property
    def n(self) -> int:
        """Columns of the product."""
        registers = count_of(self._operands[0])
        return registers * (4 if self.text("type") == "f16" else 2)

    @property
    def a_in_registers(self) -> bool:
        """Whether A is registers rather than a descriptor."""
        return count_of(self._operands[1]) == 4

    def check(self) -> None:
        types = self.text("a_type"), self.text("b_type")
        if types not in WGMMA_TYPES:
            raise self.error(f"multiplies no {types[0]} by {types[1]}")
        type = self.text("type")
        check_keyword(self, "type of D", type, WGMMA_TYPES[types], f"for {' and '.join(types)}")
        kind = {"f32": "f32", "f16": "b32", "s32": "b32"}[type]
        check_kind(self, "the accumulator", self.accumulator, kind)
        if self.result.type != self.accumulator.type:
            raise self.error("gives what it accumulates in")
        columns = WGMMA_INTEGER_COLUMNS if type == "s32" else WGMMA_COLUMNS
        if self.n not in columns:
            raise self.error(f"has no form with {self.n} columns of {type}")
        self._check_operands()
        self._check_modifiers(type, halves=types[0] in ("f16", "bf16"))
        check_in_flight(self.result, self, _TAKERS, WgmmaWaitOp.name)

    def _check_operands(self) -> None:
        check_kind(self, "A", self.a, "b64", "b32")
        check_count(self, "A", self.a, 1 if kind_of(self.a) == "b64" else 4)
        check_registers(self, ("B", self.b, "b64"), ("scale_d", self.scale_d, "pred"))

    def _check_modifiers(self, type: str, *, halves: bool) -> None:
        if not halves and (self.flag("trans_a") or self.flag("trans_b")):
            raise self.error("transposes operands of 16 bits only")
        if self.a_in_registers and self.flag("trans_a"):
            raise self.error("does not transpose an A in registers")
        integers = type == "s32"
        if integers and (self.flag("negate_a") or self.flag("negate_b")):
            raise self.error("does not negate integers")
        if self.flag("saturate") and not integers:
            raise self.error("saturates integers only")

    def emit(self, out: Writer) -> None:
        a_type, flag = self.text("a_type"), self.flag
        integers, halves = self.text("type") == "s32", a_type in ("f16", "bf16")
        saturate = ".satfinite" * flag("saturate")
        head = (
            f"wgmma.mma_async.sync.aligned.m64n{self.n}k{WGMMA_K[a_type]}{saturate}"
            f".{self.text('type')}.{a_type}.{self.text('b_type')}"
        )
        a, b = out.registers(self._operands[1]), out.register(self._operands[2])
        operands = [vector(a), b, out.register(self._operands[3])]
        if not integers:
            operands += ["-1" if flag("negate_a") else "1", "-1" if flag("negate_b") else "1"]
        if halves:
            operands += [] if len(a) > 1 else [str(int(flag("trans_a")))]
            operands.append(str(int(flag("trans_b"))))
        d = ", ".join(out.names(self.results[0]))
        out.line(f"{head} {{{d}}}, {', '.join(operands)}")


_TAKERS = frozenset(((WgmmaOp.name, 0), (WgmmaWaitOp.name, None)))
"""Who may take an accumulator before a wait."""


@irdl_op_definition
class MmaOp(PtxOp):
    """`mma.sync`: D = A * B + C of one warp, A in rows and B in columns."""

    name = "ptx.mma"

    a = operand_def(REG)
    b = operand_def(REG)
    c = operand_def(REG)
    shape = prop_def(StringAttr)
    type = prop_def(StringAttr)
    a_type = prop_def(StringAttr)
    b_type = prop_def(StringAttr)
    saturate = opt_prop_def(UnitAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(
        self,
        a: Value,
        b: Value,
        c: Value,
        shape: str,
        type: str,
        a_type: str,
        b_type: str | None = None,
        *,
        saturate: bool = False,
    ) -> None:
        """`shape` as m16n8k16, `type` of C and D."""
        self.fill(
            (a, b, c),
            (reg(kind_of(c), count_of(c)),),
            shape=shape,
            type=type,
            a_type=a_type,
            b_type=b_type or a_type,
            saturate=saturate,
        )

    def check(self) -> None:
        types = self.text("type"), self.text("a_type"), self.text("b_type")
        fragments = MMA.get((self.text("shape"), *types))
        if fragments is None:
            raise self.error(f"has no form {self.text('shape')} with {', '.join(types)}")
        for what, value, kind, count in (
            ("A", self.a, fragments.kind, fragments.a),
            ("B", self.b, fragments.kind, fragments.b),
            ("C", self.c, fragments.c_kind, fragments.c),
            ("D", self.result, fragments.c_kind, fragments.c),
        ):
            check_kind(self, what, value, kind)
            check_count(self, what, value, count)
        if self.flag("saturate") and types[0] != "s32":
            raise self.error("saturates integers only")

    def emit(self, out: Writer) -> None:
        shape, type = self.text("shape"), self.text("type")
        a_type, b_type = self.text("a_type"), self.text("b_type")
        kind = MMA[shape, type, a_type, b_type].kind_suffix
        saturate = ".satfinite" * self.flag("saturate")
        head = f"mma.sync.aligned.{shape}.row.col{kind}{saturate}.{type}.{a_type}.{b_type}.{type}"
        values = (self.results[0], *self._operands)
        fragments = [f"{{{', '.join(out.names(value))}}}" for value in values]
        out.line(f"{head} {', '.join(fragments)}")
