"""What regions use from outside of them, also through regions inside."""

from xdsl.builder import Builder, InsertPoint
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Region, SSAValue

from tileas_xdsl.analysis.values.liveness.captured import captured_values


def _loop(build: Builder, bound: SSAValue, used: SSAValue) -> tuple[scf.ForOp, Builder]:
    body = Block(arg_types=[IndexType()])
    inside = Builder(InsertPoint.at_end(body))
    inside.insert(arith.AddiOp(body.args[0], used))
    return build.insert(scf.ForOp(bound, bound, bound, [], body)), inside


def test_an_outer_loop_captures_what_an_inner_one_does_but_not_its_own_values() -> None:
    block = Block()
    build = Builder(InsertPoint.at_end(block))
    numbers = [arith.ConstantOp(IntegerAttr(n, IndexType())) for n in (1, 2, 3)]
    one, two, far = (build.insert(number).result for number in numbers)
    outer, inside = _loop(build, one, two)
    own = inside.insert(arith.MuliOp(two, two)).result
    inner, _ = _loop(inside, own, far)
    found = captured_values(Region(block))
    assert list(found[inner]) == [far]
    assert {*found[outer]} == {two, far}
