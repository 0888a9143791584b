"""Loops, branches, and the operations that end their blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import FunctionType, StringAttr, UnitAttr, i1
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure, RecursiveMemoryEffect

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.dialects.canonicalized import Canonicalized
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
from tileas_xdsl.dialects.cuda_tile.constraints import ANY, I1_TILE, SCALAR_I1, SCALAR_INT
from tileas_xdsl.dialects.cuda_tile.matches import same_type, same_types_one_by_one
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.structure.regions import (
    TerminatorOp,
    check_blocks,
    check_no_views,
    quoted_types,
    types_of_values,
)
from tileas_xdsl.dialects.cuda_tile.syntax.directives import Type
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import (
    parse_body,
    parse_type,
    parse_types,
    print_body,
    print_type,
    print_types,
)
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TileType

IF, FOR, LOOP = "cuda_tile.if", "cuda_tile.for", "cuda_tile.loop"
ENTRY, REDUCE, SCAN = "cuda_tile.entry", "cuda_tile.reduce", "cuda_tile.scan"
CONTINUE, YIELD = "cuda_tile.continue", "cuda_tile.yield"
CONDITION = TileType((), i1)
"""The type of a condition."""

_CARRIED = ("cuda_tile.loop_carried.tensor_view", "cuda_tile.loop_carried.tile_view")
_RESULT = ("cuda_tile.result.tensor_view", "cuda_tile.result.tile_view")


def _early_exit_loop(op: CudaTileOp, loops: Sequence[str]) -> Operation:
    """The loop that `op` leaves or goes on with; only branches stand in between."""
    parent = op.parent_op()
    while parent is not None and parent.name not in loops:
        if parent.name != IF:
            names = "', '".join((*loops, IF))
            text = message("cuda_tile.early_exit.chain", ops=names)
            raise op_error(op, text, [note(parent, message("cuda_tile.early_exit.ancestor"))])
        parent = parent.parent_op()
    if parent is None:
        raise op.refuse("cuda_tile.early_exit.chain", ops="', '".join((*loops, IF)))
    return parent


@cuda_tile_op
class BreakOp(TerminatorOp):
    """The loop around it ends; its results are these values."""

    name = "cuda_tile.break"
    PARENTS: ClassVar = (IF, LOOP)

    def check_values(self, parent: Operation) -> None:
        loop = _early_exit_loop(self, (LOOP,))
        given, wanted = types_of_values(self.values), types_of_values(loop.results)
        if given != wanted:
            raise self.refuse(
                "cuda_tile.break.types", given=quoted_types(given), expected=quoted_types(wanted)
            )


@cuda_tile_op
class ContinueOp(TerminatorOp):
    """The loop around it goes on with these values."""

    name = CONTINUE
    PARENTS: ClassVar = (FOR, IF, LOOP)

    def check_values(self, parent: Operation) -> None:
        loop = _early_exit_loop(self, (FOR, LOOP))
        is_loop = loop.name == LOOP
        wanted = types_of_values(loop.operands if is_loop else loop.results)
        given = types_of_values(self.values)
        if given != wanted:
            key = "cuda_tile.continue.loop_types" if is_loop else "cuda_tile.continue.for_types"
            text = message(key, expected=quoted_types(wanted), given=quoted_types(given))
            raise op_error(self, text, prefix=False)


@cuda_tile_op
class YieldOp(TerminatorOp):
    """The values that a branch, a reduction or a scan makes."""

    name = YIELD
    PARENTS: ClassVar = (IF, REDUCE, SCAN)
    traits = traits_def(Pure())


@cuda_tile_op
class ReturnOp(TerminatorOp):
    """The kernel ends."""

    name = "cuda_tile.return"
    PARENTS: ClassVar = (ENTRY, IF, LOOP)

    def check_values(self, parent: Operation) -> None:
        around: Operation | None = parent
        while around is not None and around.name in (IF, LOOP):
            around = around.parent_op()
        type_ = None if around is None else around.properties.get("function_type")
        if around is None or not isinstance(type_, FunctionType):
            raise self.refuse("cuda_tile.return.outside")
        if around.name == ENTRY and type_.outputs.data:
            return  # the kernel refuses its results
        name = around.properties["sym_name"]
        assert isinstance(name, StringAttr)
        if len(self.values) != len(type_.outputs.data):
            raise self.refuse(
                "cuda_tile.return.values",
                given=len(self.values),
                function=name.data,
                expected=len(type_.outputs.data),
            )


@cuda_tile_op
class AssertOp(CudaTileOp):
    """The kernel stops with a message unless the condition holds everywhere."""

    name = "cuda_tile.assert"

    condition = operand_def(I1_TILE)
    message = prop_def(StringAttr)

    custom_directives = (Type,)
    assembly_format = "$condition `,` $message attr-dict `:` custom<Type>(type($condition))"


def _parse_carried(
    parser: Parser,
) -> tuple[list[Parser.UnresolvedArgument], list[UnresolvedOperand]]:
    """`(%inner = %outer, ...)`."""

    def parse_pair() -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
        inner = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        return inner, parser.parse_unresolved_operand()

    pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_pair)
    return [inner for inner, _ in pairs], [outer for _, outer in pairs]


def _print_carried(printer: Printer, inner: Sequence[SSAValue], outer: Sequence[SSAValue]) -> None:
    printer.print_string("iter_values")
    with printer.in_parens():
        for index, (argument, value) in enumerate(zip(inner, outer, strict=True)):
            if index:
                printer.print_string(", ")
            printer.print_ssa_value(argument)
            printer.print_string(" = ")
            printer.print_ssa_value(value)


class _LoopOp(CudaTileOp):
    """Base of `for` and `loop`."""

    def check_carried(self, inits: Sequence[SSAValue], inner: Sequence[SSAValue]) -> None:
        """The loop begins with values of the right types."""
        if len(inner) != len(inits):
            raise self.refuse("cuda_tile.loop_carried.count", values=len(inner), inits=len(inits))
        for index, (init, argument) in enumerate(zip(inits, inner, strict=True)):
            check_no_views(self, types_of_values(inner)[: index + 1], *_CARRIED)
            if init.type != argument.type:
                types = (quoted(init.type), quoted(argument.type))
                raise self.refuse(
                    "cuda_tile.loop_carried.type", index=index, init=types[0], value=types[1]
                )
        check_no_views(self, types_of_values(self.results), *_RESULT)


@cuda_tile_op
class ForOp(_LoopOp):
    """The body for each number from `lower_bound` to before `upper_bound`, `step` apart."""

    name = FOR

    lower_bound = operand_def(SCALAR_INT)
    upper_bound = operand_def(SCALAR_INT)
    step = operand_def(SCALAR_INT)
    init_values = var_operand_def(ANY)
    unsigned_cmp = opt_prop_def(UnitAttr, prop_name="unsignedCmp")
    result_values = var_result_def(ANY)
    body = region_def()

    traits = traits_def(RecursiveMemoryEffect())
    MATCHES: ClassVar = (
        same_type("lower_bound", "upper_bound", "step"),
        same_types_one_by_one("init_values", "result_values"),
    )

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        unsigned = parser.parse_optional_keyword("unsigned") is not None
        number = parser.parse_argument(expect_type=False)
        bounds = _parse_bounds(parser)
        parser.parse_punctuation(":")
        type_ = parse_type(parser)
        arguments, outer = [number.resolve(type_)], list[UnresolvedOperand]()
        types: Sequence[Attribute] = ()
        position = parser.pos
        if parser.parse_optional_keyword("iter_values") is not None:
            inner, outer = _parse_carried(parser)
            parser.parse_punctuation("->")
            types = _parse_types_in_parens(parser)
            if len(types) != len(outer):
                parser.raise_error(message("cuda_tile.for.carried_count"), at_position=position)
            arguments += [a.resolve(t) for a, t in zip(inner, types, strict=True)]
        body = parse_body(parser, arguments, ContinueOp)
        operands = [parser.resolve_operand(bound, type_) for bound in bounds]
        inits = parser.resolve_operands(outer, types, position)
        return cls.create(
            operands=[*operands, *inits],
            result_types=types_of_values(inits),
            properties={"unsignedCmp": UnitAttr()} if unsigned else {},
            attributes=parser.parse_optional_attr_dict(),
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        number, *inner = self.body.block.args
        printer.print_string(" unsigned " if self.unsigned_cmp is not None else " ")
        printer.print_ssa_value(number)
        printer.print_string(" in (")
        printer.print_ssa_value(self.lower_bound)
        printer.print_string(" to ")
        printer.print_ssa_value(self.upper_bound)
        printer.print_string(", step ")
        printer.print_ssa_value(self.step)
        printer.print_string(") : ")
        print_type(printer, number.type)
        printer.print_string(" ")
        if inner:
            _print_carried(printer, inner, self.init_values)
            printer.print_string(" -> (")
            print_types(printer, types_of_values(self.init_values))
            printer.print_string(") ")
        print_body(printer, self.body, CONTINUE)
        printer.print_op_attributes(self.attributes)

    def check(self) -> None:
        check_blocks(self, self.body, 0, "region")
        block = self.body.block
        if not block.args:
            raise self.refuse("cuda_tile.for.without_argument")
        number, *inner = block.args
        if number.type != self.lower_bound.type:
            types = (quoted(number.type), quoted(self.lower_bound.type))
            raise self.refuse("cuda_tile.for.argument_type", given=types[0], expected=types[1])
        self.check_carried(self.init_values, inner)


def _parse_bounds(parser: Parser) -> list[UnresolvedOperand]:
    """`in (%lower to %upper, step %step)`."""
    parser.parse_keyword("in")
    with parser.in_parens():
        lower = parser.parse_unresolved_operand()
        parser.parse_keyword("to")
        upper = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_keyword("step")
        return [lower, upper, parser.parse_unresolved_operand()]


def _parse_types_in_parens(parser: Parser) -> list[Attribute]:
    with parser.in_parens():
        return [*parse_types(parser)]


@cuda_tile_op
class LoopOp(_LoopOp):
    """The body again and again until it is left."""

    name = LOOP

    init_values = var_operand_def(ANY)
    result_values = var_result_def(ANY)
    body = region_def()

    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> LoopOp:
        inner, outer = list[Parser.UnresolvedArgument](), list[UnresolvedOperand]()
        carried, results = list[Attribute](), list[Attribute]()
        position = parser.pos
        if parser.parse_optional_keyword("iter_values") is not None:
            inner, outer = _parse_carried(parser)
            parser.parse_punctuation(":")
            carried += parse_types(parser)
            if len(carried) != len(inner):
                parser.raise_error(message("cuda_tile.loop_carried.types"))
            if parser.parse_optional_punctuation("->") is not None:
                results += parse_types(parser)
        elif parser.parse_optional_punctuation(":") is not None:
            results += parse_types(parser)
        arguments = [a.resolve(t) for a, t in zip(inner, carried, strict=True)]
        body = parse_body(parser, arguments, ContinueOp)
        inits = parser.resolve_operands(outer, carried, position)
        return cls.create(
            operands=inits,
            result_types=results,
            attributes=parser.parse_optional_attr_dict(),
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        carried, results = types_of_values(self.init_values), types_of_values(self.results)
        if carried:
            _print_carried(printer, self.body.block.args, self.init_values)
            printer.print_string(" : ")
            print_types(printer, carried)
            printer.print_string(" -> " if results else " ")
        elif results:
            printer.print_string(": ")
        if results:
            print_types(printer, results)
            printer.print_string(" ")
        print_body(printer, self.body, CONTINUE)
        printer.print_op_attributes(self.attributes)

    def check(self) -> None:
        check_blocks(self, self.body, 0, "region")
        self.check_carried(self.init_values, self.body.block.args)


@cuda_tile_op
class IfOp(CudaTileOp):
    """One of two regions; without results the second may be empty."""

    name = IF

    condition = operand_def(SCALAR_I1)
    results_ = var_result_def(ANY)
    then_region = region_def()
    else_region = region_def()

    traits = traits_def(RecursiveMemoryEffect(), Canonicalized("cuda_tile.BRANCH_PATTERNS"))

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        condition = parser.parse_unresolved_operand()
        types = list[Attribute]()
        if parser.parse_optional_punctuation("->") is not None:
            types = _parse_types_in_parens(parser)
        then = parse_body(parser, [], YieldOp)
        otherwise = Region()
        if parser.parse_optional_keyword("else") is not None:
            otherwise = parse_body(parser, [], YieldOp)
        resolved = parser.resolve_operand(condition, CONDITION)
        return cls.create(
            operands=[resolved],
            result_types=types,
            attributes=parser.parse_optional_attr_dict(),
            regions=[then, otherwise],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        printer.print_string(" ")
        if self.results:
            printer.print_string("-> (")
            print_types(printer, types_of_values(self.results))
            printer.print_string(") ")
        print_body(printer, self.then_region, YIELD)
        if self.else_region.blocks:
            printer.print_string(" else ")
            print_body(printer, self.else_region, YIELD)
        printer.print_op_attributes(self.attributes)

    def check(self) -> None:
        check_no_views(self, types_of_values(self.results), *_RESULT)
        if not self.then_region.blocks:
            raise self.refuse("cuda_tile.if.without_then")
        check_blocks(self, self.then_region, 0, "thenRegion")
        self._check_yield(self.then_region, "then")
        if self.else_region.blocks:
            check_blocks(self, self.else_region, 1, "elseRegion")
            self._check_yield(self.else_region, "else")
        elif self.results:
            raise self.refuse("cuda_tile.if.without_else")

    def _check_yield(self, region: Region, branch: str) -> None:
        terminator = region.block.last_op
        if not isinstance(terminator, YieldOp):
            return
        yielded, wanted = types_of_values(terminator.values), types_of_values(self.results)
        if wanted and not yielded:
            raise self.refuse(
                "cuda_tile.if_yields.nothing", results=quoted_types(wanted), branch=branch
            )
        if yielded and not wanted:
            raise self.refuse(
                "cuda_tile.if_yields.something", branch=branch, yielded=quoted_types(yielded)
            )
        if yielded != wanted:
            types = (quoted_types(yielded), quoted_types(wanted))
            raise self.refuse(
                "cuda_tile.if_yields.other", branch=branch, yielded=types[0], result=types[1]
            )
