"""The pass `cute-desugar`: expand convenience forms of `cute` to its primitives.

Three walks over the module, one after the other, since each reads what the ones before it have
left: shapes first, which all later steps read, then strides, then what is constructed from both.
No instruction is chosen: an atom's type says what its construction is made of.  At the end equal
static tuples of a function are one value, as are other equal computations where one dominates the
other.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.transforms.common_subexpression_elimination import cse

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute.layout_algebra.composed_layouts import MakeSwizzleOp
from tileas_xdsl.dialects.cute.layout_algebra.tuples import MakeIntTupleOp, StaticOp
from tileas_xdsl.transforms.cute_lowering.layout_sugar import CONSTRUCTIONS
from tileas_xdsl.transforms.cute_lowering.tuple_sugar import SHAPE_SUGAR, STRIDE_SUGAR, Rewrite
from tileas_xdsl.transforms.extension import apply_added, sweep

PHASES: tuple[Mapping[type[Operation], Rewrite], ...] = (SHAPE_SUGAR, STRIDE_SUGAR, CONSTRUCTIONS)
"""The walks, in order."""

MADE = ("arith.andi", "arith.constant", "scf.for", "cute.make_int_tuple")
"""Operations that the phases make of other dialects, or of this one."""


@dataclass(frozen=True)
class Desugar(RewritePattern):
    """Replace an operation whose class is in the table of a phase by primitives."""

    phase: Mapping[type[Operation], Rewrite]

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        rewrite = self.phase.get(type(op))
        values = None if rewrite is None else rewrite(op, rewriter)
        if values is not None:
            rewriter.replace(op, [], values)


@dataclass(frozen=True)
class CuteDesugar(ModulePass):
    """Expand the sugar of `cute`, and merge equal static tuples.

    A pattern set, applied in three sweeps: shapes, strides, then what is constructed from both.
    """

    name = "cute-desugar"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_registered(ctx, op, MADE)
        apply_added(CuteDesugar.name, op)
        for phase in PHASES:
            sweep(op, [Desugar(phase)])
        for found in operations_in(op):
            if isinstance(found, func.FuncOp) and found.body.blocks:
                _hoist_static(found)
        cse(op)


def check_registered(ctx: Context, module: ModuleOp, names: tuple[str, ...]) -> None:
    """A tool without the dialects that a pass makes is set up wrongly: no program can help it."""
    for name in names:
        if ctx.get_optional_op(name) is None:
            raise op_error(
                module,
                f"the compiler is set up without '{name}', which cute-desugar makes: register "
                f"the dialect '{name.split('.')[0]}'",
                prefix=False,
            )


def _hoist_static(function: func.FuncOp) -> None:
    """Static values to the beginning of the function, where they dominate all of it."""
    entry = function.body.blocks[0]
    first = entry.first_op
    for op in operations_in(function):
        if isinstance(op, (MakeIntTupleOp, StaticOp, MakeSwizzleOp)) and not op.operands:
            if op is first:
                first = op.next_op
                continue
            op.detach()
            if first is None:
                entry.add_op(op)
            else:
                entry.insert_op_before(op, first)
