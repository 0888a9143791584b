"""Recognise `scf.while` as a counted loop, and clone it over a part of its range.

    scf.while (%i = %first, %x = %init) {
      %more = arith.cmpi slt, %i, %end           the comparison: `end`
      scf.condition(%more) %i, %x
    } do { ...; %j = arith.addi %i, %c2          the step
           scf.yield %j, %y }

counts from `%first` to `%end` by 2; a part of it has another `%first` and another `%end`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.dialects.ir_queries import constant_integer, is_side_effect_free
from tileas_xdsl.transforms.slicing.counted_loop import CountedLoop, Number, known

_LESS, _GREATER = 2, 4
"""Signed predicates of `arith.cmpi`."""

FORM = "to be sliced, an `scf.while` counts: "


@dataclass(frozen=True)
class CountedWhile(CountedLoop):
    """`scf.while` whose condition compares a carried counter, which the body adds a constant to.

    The counter is the carried value at `position`, the end the operand `end_at` of the comparison.
    """

    loop: scf.WhileOp
    position: int
    end_at: int
    by: int

    @property
    def op(self) -> scf.WhileOp:
        return self.loop

    @property
    def type(self) -> Attribute:
        return self.first.type

    @property
    def first(self) -> SSAValue:
        return self.loop.arguments[self.position]

    @property
    def end(self) -> Number:
        value = _comparison(self.loop).operands[self.end_at]
        number = constant_integer(value)
        return value if number is None else number

    @property
    def step(self) -> Number:
        return self.by

    @property
    def initial(self) -> Sequence[SSAValue]:
        return self.loop.arguments

    def part(self, first: SSAValue, end: SSAValue, initial: Sequence[SSAValue]) -> Operation:
        """The loop hands out all that it carries, behind its results where it is not one of them.

        `first` is among `initial`.
        """
        made = self.loop.clone()
        _comparison(made).operands[self.end_at] = end
        condition = _condition(made)
        missing = [arg for arg in made.before_region.block.args if arg not in condition.args]
        condition.operands = [*condition.operands, *missing]
        after = made.after_region.block
        for value in missing:
            after.insert_arg(value.type, len(after.args), made.location)
        types = [value.type for value in missing]
        return _with_results(made, initial, [*made.result_types, *types])

    def last(self, first: SSAValue, initial: Sequence[SSAValue]) -> Operation:
        made = self.loop.clone()
        made.operands = initial
        return made

    def carried(self, part: Operation) -> Sequence[SSAValue]:
        assert isinstance(part, scf.WhileOp)
        handed = list(_condition(part).args)
        return [part.res[handed.index(arg)] for arg in part.before_region.block.args]


def _with_results(
    old: scf.WhileOp, initial: Sequence[SSAValue], types: Sequence[Attribute]
) -> scf.WhileOp:
    """The regions of `old`, which goes away, in a loop with more results."""
    before, after = (old.detach_region(region) for region in list(old.regions))
    new = scf.WhileOp(initial, types, before, after)
    new.attributes, new.location = old.attributes, old.location
    for result, named in zip(new.res, old.res, strict=False):
        result.name_hint = named.name_hint
    old.erase()
    return new


def _condition(op: scf.WhileOp) -> scf.ConditionOp:
    last = op.before_region.block.last_op
    if not isinstance(last, scf.ConditionOp):
        raise op_error(op, FORM + "its first region ends with `scf.condition`")
    return last


def _comparison(op: scf.WhileOp) -> arith.CmpiOp:
    compare = _condition(op).condition.owner
    if not isinstance(compare, arith.CmpiOp) or compare.parent is not op.before_region.block:
        raise op_error(op, FORM + "its condition is an `arith.cmpi` of its first region")
    return compare


def counted_while(op: scf.WhileOp) -> CountedWhile:
    """The loop as one that counts; raises `OpError` that says why it is none."""
    compare = _comparison(op)
    predicate = compare.predicate.value.data
    if predicate not in (_LESS, _GREATER):
        raise op_error(op, FORM + "its condition is a signed `slt` or `sgt`")
    counter, end_at = (compare.lhs, 1) if predicate == _LESS else (compare.rhs, 0)
    before = op.before_region.block
    if counter not in before.args:
        raise op_error(op, FORM + "the lesser operand of its condition is a value it carries")
    _check_before(op, compare.operands[end_at])
    position = before.args.index(counter)
    return CountedWhile(op, position, end_at, _step(op, position))


def _check_before(op: scf.WhileOp, end: SSAValue) -> None:
    """The first region only looks, and looks at the same end every time."""
    if op.is_ancestor(end.owner) and constant_integer(end) is None:
        raise op_error(op, FORM + "the end that its condition compares with does not change")
    for inner in op.before_region.block.ops:
        if not isinstance(inner, scf.ConditionOp) and not is_side_effect_free(inner):
            raise op_error(op, FORM + f"'{name_of(inner)}' in its first region has effects")


def _step(op: scf.WhileOp, position: int) -> int:
    """What the body adds to the counter, checked to be a constant."""
    before, after = op.before_region.block, op.after_region.block
    handed, end = _condition(op).args, after.last_op
    if not (
        isinstance(end, scf.YieldOp)
        and len(before.args) == len(op.arguments) == len(end.arguments)
        and len(after.args) == len(op.res) == len(handed)
    ):
        raise op_error(op, FORM + "its regions take and give as many values as it carries")
    added = end.arguments[position].owner
    mine = {
        arg for arg, value in zip(after.args, handed, strict=True) if value is before.args[position]
    }
    if isinstance(added, arith.AddiOp):
        for counter, step in ((added.lhs, added.rhs), (added.rhs, added.lhs)):
            if counter in mine and (number := known(step)) is not None:
                return number
    raise op_error(op, FORM + "its body yields the counter plus a constant")
