"""Loops: iterations that the threads of a block share, and iterations one after another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, IntegerType, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    opt_prop_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import AT_LEAST_1, number_among
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.ir_queries import ELEMENTWISE_DIALECTS, constant_integer
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.tl.attributes import FragmentAttr
from tileas_xdsl.dialects.tl.base import (
    extents_text,
    number,
    parse_clauses,
    print_clauses,
    split_properties,
)
from tileas_xdsl.dialects.tl.checks import (
    check_in_kernel,
    check_layout,
    check_not_in_loop,
    check_vector,
    parallel_around,
)

LOOP_PROPERTIES = ("layout", "vector", "runs_once", "is_padded")
"""Results of layout inference on a loop."""

MAX_ITERATIONS = 1 << 24
"""The iterations of a parallel loop, at most."""

_IN_ITERATIONS = (
    *("affine.apply", "memref.dim", "memref.load", "memref.store"),
    *("scf.for", "scf.if", "scf.yield", "tl.alloc_local", "tl.atomic_add", "tl.serial"),
)


_Extents: TypeAlias = "fields.Field[DenseArrayBase[IntegerType], Sequence[int]]"
_OptFragment: TypeAlias = fields.Field[FragmentAttr | None, FragmentAttr | None]


@irdl_op_definition
class ParallelOp(FieldsOp):
    """Run every iteration of the box `extents` once, on some thread; iterations are independent.

    `layout` maps an iteration to a thread and one of its per-thread iterations; `vector` adjacent
    ones access memory at once.  If `runs_once` is set, only replica 0 of an iteration has effects
    on memory that threads share; `is_padded` allows per-thread iterations outside of the box.
    `coalesced_width` fixes the vector width for inference.
    """

    name = "tl.parallel"

    box: _Extents = fields.prop(
        DenseArrayBase.constr(i64),
        prop_name="extents",
        convert=partial(DenseArrayBase.from_list, i64),
        alias="extents",
    )
    body: fields.Body = fields.body(single_block=True)
    layout: _OptFragment = fields.opt_prop(FragmentAttr, default=None)
    vector = opt_prop_def(IntegerAttr.constr(i64))
    runs_once = opt_prop_def(UnitAttr)
    is_padded = opt_prop_def(UnitAttr)
    coalesced_width: fields.OptInt = fields.opt_prop(
        IntegerAttr.constr(i64), default=None, kw_only=True, convert=number
    )

    traits = traits_def(NoTerminator())

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the variables."""
        return tuple(int(n) for n in self.box.get_values())

    @property
    def variables(self) -> Sequence[SSAValue]:
        """The variables, in order."""
        return self.body.block.args

    @classmethod
    def parse(cls, parser: Parser) -> ParallelOp:
        names = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_keyword("in")
        extents = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_integer(allow_boolean=False)
        )
        known = (*LOOP_PROPERTIES, "coalesced_width")
        properties, attributes = split_properties(parse_clauses(parser), known)
        body = parser.parse_region([name.resolve(IndexType()) for name in names])
        return cls.create(
            properties={**properties, "extents": DenseArrayBase.from_list(i64, extents)},
            attributes=attributes,
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.variables, printer.print_ssa_value)
        printer.print_string(" in ")
        with printer.in_parens():
            printer.print_list(self.extents, lambda n: printer.print_string(str(n)))
        print_clauses(printer, self, ("extents",))
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    def verify_(self) -> None:
        kernel = check_in_kernel(self)
        if parallel_around(self) is not None:
            raise op_error(self, "stands in another tl.parallel: give one loop all variables")
        if not self.extents or any(n < 1 for n in self.extents):
            raise op_error(self, f"has extents of 1 or more, not {list(self.extents)}")
        types: list[Attribute] = [variable.type for variable in self.variables]
        if types != [IndexType()] * len(self.extents):
            given = ", ".join(map(str, types)) or "none"
            text = f"has {len(self.extents)} variables of type index, not {given}"
            raise op_error(self, text)
        if prod(self.extents) > MAX_ITERATIONS:
            extents = extents_text(self.extents)
            raise op_error(self, f"has at most {MAX_ITERATIONS} iterations, not {extents}")
        check_vector(self, self.vector)
        check_vector(self, self.coalesced_width)
        check_layout(self, self.layout, self.extents, kernel.thread_count)
        for op in self.body.walk():
            _check_iteration(op)


def _check_iteration(op: Operation) -> None:
    name = name_of(op)
    if name in _IN_ITERATIONS or name.startswith(ELEMENTWISE_DIALECTS):
        return
    raise op_error(op, "has no place in an iteration of a tl.parallel")


class _CountedOp(FieldsOp):
    """Base: a variable from `lower` up to, without, `upper`, by `step` (default: 1)."""

    lower: fields.Operand = fields.operand(IndexType())
    upper: fields.Operand = fields.operand(IndexType())
    step: fields.OptOperand = fields.opt_operand(IndexType(), default=None, kw_only=True)
    body: fields.Body = fields.body(single_block=True)

    @property
    def variable(self) -> SSAValue:
        """The variable of the loop."""
        return self.body.block.args[0]

    @property
    def static_bounds(self) -> range | None:
        """The values of the variable; None where they are not constants."""
        values = [constant_integer(v) for v in (self.lower, self.upper)]
        step = 1 if self.step is None else constant_integer(self.step)
        if values[0] is None or values[1] is None or step is None or step < 1:
            return None
        return range(values[0], values[1], step)

    def check_counted(self) -> None:
        """One variable, and a positive step."""
        types: list[Attribute] = [argument.type for argument in self.body.block.args]
        if types != [IndexType()]:
            given = ", ".join(map(str, types)) or "none"
            raise op_error(self, f"has one variable of type index, not {given}")
        step = None if self.step is None else constant_integer(self.step)
        if step is not None and step < 1:
            raise op_error(self, f"has a step of 1 or more, not {step}")


@irdl_op_definition
class SerialOp(_CountedOp):
    """Iterations one after another, of the whole block or, with constant bounds, of one iteration.

    `tl.serial %k = %lo to %hi step %s { ... }`.
    """

    name = "tl.serial"

    traits = traits_def(NoTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> SerialOp:
        operands, name = _parse_counted(parser)
        attributes = parse_clauses(parser)
        body = parser.parse_region([name])
        return cls.create(operands=operands, attributes=attributes, regions=[body])

    def print(self, printer: Printer) -> None:
        _print_counted(printer, self)
        print_clauses(printer, self)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    def verify_(self) -> None:
        check_in_kernel(self)
        self.check_counted()
        if parallel_around(self) is not None and self.static_bounds is None:
            raise op_error(self, "has constant bounds where it stands in a tl.parallel")


@irdl_op_definition
class PipelinedOp(_CountedOp):
    """Iterations one after another; copies into shared memory may run `stages` - 1 of them ahead.

    `tl.pipelined %k = %lo to %hi stages(3) { ... }`.  It means what `tl.serial` means.
    """

    name = "tl.pipelined"

    stages: fields.Int = fields.prop(
        number_among(i64, AT_LEAST_1, "has 1 stage or more, not {given}"),
        convert=number,
        kw_only=True,
    )

    traits = traits_def(NoTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> PipelinedOp:
        operands, name = _parse_counted(parser)
        parser.parse_keyword("stages")
        with parser.in_parens():
            stages = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        attributes = parse_clauses(parser)
        body = parser.parse_region([name])
        return cls.create(
            operands=operands,
            properties={"stages": stages},
            attributes=attributes,
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        _print_counted(printer, self)
        printer.print_string(f" stages({self.stages.value.data})")
        print_clauses(printer, self, ("stages",))
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    def verify_(self) -> None:
        check_in_kernel(self)
        check_not_in_loop(self)
        self.check_counted()


def _parse_counted(parser: Parser) -> tuple[list[SSAValue], Parser.Argument]:
    """`%k = %lo to %hi [step %s]`: the operands, and the variable."""
    variable = parser.parse_argument(expect_type=False).resolve(IndexType())
    parser.parse_punctuation("=")
    start = parser.pos
    operands = [parser.parse_unresolved_operand()]
    parser.parse_keyword("to")
    operands.append(parser.parse_unresolved_operand())
    if parser.parse_optional_keyword("step"):
        operands.append(parser.parse_unresolved_operand())
    types = [IndexType()] * len(operands)
    return list(parser.resolve_operands(operands, types, start)), variable


def _print_counted(printer: Printer, op: _CountedOp) -> None:
    printer.print_string(" ")
    printer.print_ssa_value(op.variable)
    printer.print_string(" = ")
    printer.print_ssa_value(op.lower)
    printer.print_string(" to ")
    printer.print_ssa_value(op.upper)
    if op.step is not None:
        printer.print_string(" step ")
        printer.print_ssa_value(op.step)
