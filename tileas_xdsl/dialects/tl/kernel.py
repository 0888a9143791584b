"""`tl.kernel`: a grid of blocks, and what one of them does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, IntegerAttr, i64
from xdsl.dialects.utils.dynamic_index_list import (
    parse_dynamic_index_list_without_types,
    print_dynamic_index_list,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, prop_def, region_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.tl.base import (
    number,
    parse_clauses,
    print_clauses,
    scope_of,
    split_properties,
)
from tileas_xdsl.inference.program import Scope

MAX_THREADS = 1024
"""The threads of a block, at most (PTX ISA, .maxntid)."""

MAX_AXES = 3
"""The axes of a grid, at most."""

_SCALAR_DIALECTS = ("arith.", "math.", "tl.")
_STRUCTURE = ("affine.apply", "memref.dim", "memref.load", "memref.store")
_CONTROL = (scf.IfOp, scf.ForOp, scf.YieldOp)


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A grid of blocks of `threads` threads; the arguments of the body are the block's numbers.

    The text of the body is about one block: its operations run one after another, each of them on
    all threads.  An extent of the grid is a value or a number.
    """

    name = "tl.kernel"

    grid = var_operand_def(IndexType())
    static_grid = prop_def(DenseArrayBase.constr(i64))
    threads = prop_def(IntegerAttr.constr(i64))
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    def __init__(
        self, threads: int, body: Region | Block, grid: Sequence[SSAValue | Operation | int] = ()
    ) -> None:
        """`grid` has up to three extents, values or numbers; without any there is one block."""
        extents = [g if isinstance(g, int) else DYNAMIC_INDEX for g in grid]
        super().__init__(
            operands=[[g for g in grid if not isinstance(g, int)]],
            properties={
                "static_grid": DenseArrayBase.from_list(i64, extents),
                "threads": number(threads),
            },
            regions=[Region(body) if isinstance(body, Block) else body],
        )

    @property
    def extents(self) -> Sequence[SSAValue | int]:
        """The extents of the grid."""
        values = iter(self.grid)
        return [
            next(values) if n == DYNAMIC_INDEX else int(n) for n in self.static_grid.get_values()
        ]

    @property
    def thread_count(self) -> int:
        """The threads of a block."""
        return self.threads.value.data

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        names: list[Parser.UnresolvedArgument] = []
        values: Sequence[SSAValue] = ()
        extents: Sequence[int] = ()
        given = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        if given is not None:
            names = given
            parser.parse_keyword("in")
            start = parser.pos
            unresolved, extents = parse_dynamic_index_list_without_types(
                parser, DYNAMIC_INDEX, delimiter=parser.Delimiter.PAREN
            )
            values = parser.resolve_operands(unresolved, [IndexType()] * len(unresolved), start)
        parser.parse_keyword("threads")
        with parser.in_parens():
            threads = parser.parse_integer(allow_boolean=False)
        clauses = parse_clauses(parser)
        body = parser.parse_region([name.resolve(IndexType()) for name in names])
        properties, attributes = split_properties(clauses, ())
        return cls.create(
            operands=values,
            properties={
                **properties,
                "static_grid": DenseArrayBase.from_list(i64, extents),
                "threads": IntegerAttr(threads, i64),
            },
            attributes=attributes,
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        if self.body.block.args:
            printer.print_string(" ")
            with printer.in_parens():
                printer.print_list(self.body.block.args, printer.print_ssa_value)
            printer.print_string(" in ")
            print_dynamic_index_list(
                printer,
                DYNAMIC_INDEX,
                self.grid,
                [int(n) for n in self.static_grid.get_values()],
                delimiter=Parser.Delimiter.PAREN,
            )
        printer.print_string(f" threads({self.thread_count})")
        print_clauses(printer, self, ("static_grid", "threads"))
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    def verify_(self) -> None:
        if not 1 <= self.thread_count <= MAX_THREADS:
            raise op_error(self, f"has 1 to {MAX_THREADS} threads, not {self.thread_count}")
        self._check_grid()
        self._check_enclosing_function()
        for op in _block_level(self.body.block):
            _check_block_operation(op)

    def _check_grid(self) -> None:
        static = self.static_grid.get_values()
        if len(static) > MAX_AXES:
            raise op_error(self, f"has a grid of at most {MAX_AXES} extents, not {len(static)}")
        if len(self.grid) != sum(n == DYNAMIC_INDEX for n in static):
            raise op_error(self, f"has {len(self.grid)} values for the grid {list(static)}")
        if any(n < 1 and n != DYNAMIC_INDEX for n in static):
            raise op_error(self, f"has extents of 1 or more, not {list(static)}")
        types: list[Attribute] = [argument.type for argument in self.body.block.args]
        if types != [IndexType()] * len(static):
            raise op_error(self, f"names {len(types)} numbers of a grid of {len(static)} extents")

    def _check_enclosing_function(self) -> None:
        function = self.parent_op()
        if not isinstance(function, func.FuncOp):
            raise op_error(self, "stands in the body of a function")
        first = next(op for op in function.body.walk() if isinstance(op, KernelOp))
        if first is not self:
            raise op_error(self, "is the second kernel of its function")


def _block_level(block: Block) -> Iterator[Operation]:
    """The operations that the block runs, but not those inside of parallel loops."""
    for op in block.ops:
        yield op
        if op.name != "tl.parallel":
            for region in op.regions:
                for inner in region.blocks:
                    yield from _block_level(inner)


def _check_block_operation(op: Operation) -> None:
    name = name_of(op)
    if isinstance(op, memref.StoreOp) and scope_of(op.memref.type) is not Scope.LOCAL:
        raise op_error(op, "stores for all threads at once: put it into a tl.parallel")
    if isinstance(op, _CONTROL) or name.startswith(_SCALAR_DIALECTS) or name in _STRUCTURE:
        return
    raise op_error(op, "has no place in the block of a tl.kernel")
