"""Operations as lists, and operands without a view."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, ModuleOp, i1
from xdsl.ir import Block, Region

from tileas_xdsl.diagnostics.walking import (
    next_of,
    operands_of,
    operations_in,
    operations_inside_out,
    operations_of,
)
from tileas_xdsl.dialects.kinds import has_instance, instances_in


def _branch() -> ModuleOp:
    """A sum behind a branch that adds as well."""
    flag = arith.ConstantOp.from_int_and_width(1, i1)
    number = arith.ConstantOp.from_int_and_width(3, IndexType())
    inner = arith.AddiOp(number, number)
    branch = scf.IfOp(flag, (), Region(Block([inner, scf.YieldOp()])))
    return ModuleOp([flag, number, branch, arith.AddiOp(number, number)])


def test_operations_come_in_the_order_of_the_text() -> None:
    module = _branch()
    assert operations_in(module) == list(module.walk())
    assert operations_in(module.body) == list(module.walk())[1:]
    assert operations_in(module.body.block) == list(module.walk())[1:]
    assert operations_inside_out(module) == list(module.walk(region_first=True))
    assert operations_of(module.body.block) == list(module.body.block.ops)


def test_operations_of_classes() -> None:
    module = _branch()
    sums = [op for op in module.walk() if isinstance(op, arith.AddiOp)]
    assert instances_in(module, arith.AddiOp) == sums
    assert len(instances_in(module, arith.AddiOp, scf.IfOp)) == 3
    assert has_instance(module, scf.IfOp)
    assert not has_instance(module, scf.ForOp, scf.WhileOp)


def test_operands_are_those_of_now() -> None:
    flag, number, _, total = _branch().body.block.ops
    assert operands_of(total) == (number.results[0],) * 2
    total.operands[1] = flag.results[0]
    assert operands_of(total) == (number.results[0], flag.results[0])
    assert next_of(flag) is number
    assert next_of(total) is None
