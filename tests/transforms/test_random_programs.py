"""Every pass on random kernels: the same results before and after, and no finding.

A failure shows the smallest program that hypothesis finds, and the module after the pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tests.support.random_programs import Program, programs
from tests.support.random_programs.checking import (
    WrongError,
    check,
    passes_named,
    stored_by,
)
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp, ExtractSliceOp

PASSES: Sequence[str] = (
    "canonicalize",
    "licm",
    "tileas-assign-load-store-layouts",
    "tileas-canonicalize",
    "tileas-cse",
    "tileas-layout",
    "tileas-materialize-convert-layout",
    "tileas-remove-buffer-alias",
    "tileas-remove-dead-args",
    "tileas-remove-layout-conversions",
    "tileas-resolve-agent-boundary",
    "tileas-slicing",
)
"""The passes that are checked, as `-p` strings; a pipeline is all of its passes."""

EXAMPLES = 8
SWEEP = 1000

COMMON: dict[str, Any] = {
    "suppress_health_check": list(HealthCheck),
    "print_blob": False,
}
FEW = settings(max_examples=EXAMPLES, derandomize=True, database=None, **COMMON)
MANY = settings(max_examples=SWEEP, **COMMON)


@pytest.mark.sample(4)
@pytest.mark.parametrize("spec", PASSES)
@FEW
@given(programs())
def test_passes_keep_what_programs_do(spec: str, program: Program) -> None:
    check(program, *passes_named(spec))


@pytest.mark.slow
@pytest.mark.parametrize("spec", PASSES)
@MANY
@given(programs())
def test_passes_keep_what_many_programs_do(spec: str, program: Program) -> None:
    check(program, *passes_named(spec))


# The generator


GENERATED = 200

FEATURES: Sequence[str] = (
    "TMA into a buffer",
    "agent_switch",
    "arms fill a new tile",
    "async copy into a buffer",
    "async load",
    "bound that is not known",
    "buffer written again",
    "buffer written between two reads",
    "buffers that change places",
    "carried buffer",
    "carried tile",
    "carried tile that is filled first",
    "constant tile",
    "consumer: consume_one",
    "consumer: steps",
    "conversion at the end of an arm",
    "conversion blocked to linear",
    "conversion chain",
    "conversion linear to smem",
    "conversion none to dot_operand",
    "conversion of a carried tile",
    "conversion of a stage",
    "convert out of a buffer",
    "dead argument: computed",
    "dead argument: mutually feeding",
    "dead argument: self-feeding",
    "dead argument: unused",
    "element-wise",
    "extract_slice",
    "for",
    "generate",
    "if with a buffer",
    "if with a result",
    "if without result",
    "insert_slice",
    "load out of a buffer",
    "loop with known rounds",
    "loop without rounds",
    "pipeline with 1 consumers",
    "pipeline with 2 consumers",
    "plain load",
    "plain store",
    "producer computes",
    "producer: produce_one",
    "producer: produce_one_async",
    "producer: steps",
    "product",
    "reduction",
    "select of buffers",
    "select of values",
    "selected buffer written",
    "slice at a place that is computed",
    "slice of a slice",
    "sliceCount",
    "slots of one allocation",
    "stage filled by TMA",
    "stage filled by async copy",
    "stage filled by copy",
    "stage filled by value",
    "store into a buffer",
    "store of a buffer",
    "strided slice",
    "tma load",
    "value across agent_switch",
    "while",
    "window by a slice",
    "window by a view",
)


@lru_cache
def some_programs(count: int) -> Sequence[Program]:
    """Programs that are always the same."""
    found: list[Program] = []

    @settings(
        max_examples=count, derandomize=True, database=None, phases=[Phase.generate], **COMMON
    )
    @given(programs())
    def collect(program: Program) -> None:
        found.append(program)

    collect()
    return found


def test_programs_contain_everything() -> None:
    """Hypothesis takes constants from what is imported, so rare features may need more programs."""
    for count in (GENERATED, 2 * GENERATED, 4 * GENERATED):
        found = some_programs(count)
        seen = Counter(feature for program in found for feature in program.features)
        if all(seen[feature] for feature in FEATURES):
            break
    assert [feature for feature in FEATURES if not seen[feature]] == []
    assert {len(program.arrays) for program in found} >= {2, 3, 4}
    assert {program.grid[0] for program in found} == {1, 2}


def test_programs_are_right_and_show_what_they_compute() -> None:
    for program in some_programs(GENERATED)[:20]:
        assert stored_by(program), program


class Wrong(ModulePass):
    """A pass that breaks the operations of a kind in one way."""

    name = "wrong"

    def __init__(self, kind: type[Operation], break_: Callable[[Any], None]) -> None:
        self._kind, self._break = kind, break_

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for found in [inner for inner in op.walk() if isinstance(inner, self._kind)]:
            self._break(found)


def forget_offset(view: ViewOp) -> None:
    if view.offset is not None:
        view.properties["offset"] = IntegerAttr(0, 64)


def swap_arms(select: arith.SelectOp) -> None:
    select.operands = (select.cond, select.rhs, select.lhs)


def swap_regions(branch: scf.IfOp) -> None:
    first, second = (branch.detach_region(branch.regions[0]) for _ in range(2))
    branch.add_region(second)
    branch.add_region(first)


def feed_back(loop: scf.ForOp) -> None:
    """Every round gets what the first one got."""
    last = loop.body.block.last_op
    assert last is not None
    last.operands = [
        arg if old.type == arg.type and "tensor" in str(arg.type) else old
        for arg, old in zip(loop.body.block.args[1:], last.operands, strict=True)
    ]


def drop(copy: CopyOp) -> None:
    copy.detach()
    copy.erase()


def skip_round(loop: scf.ForOp) -> None:
    """A loop that begins one round later."""
    block = loop.parent_block()
    assert block is not None
    one = arith.ConstantOp(IntegerAttr.from_index_int_value(1))
    later = arith.AddiOp(loop.lb, one.result)
    block.insert_ops_before([one, later], loop)
    loop.operands[0] = later.result


def double(move: ConvertLayoutOp) -> None:
    """A conversion whose source is added to itself, bit by bit the wrong value."""
    source = move.source
    if "f" in str(source.type.element_type) and not isinstance(source.owner, AllocTensorOp):
        block = move.parent_block()
        assert block is not None
        twice = arith.MulfOp(source, source)
        block.insert_ops_before([twice], move)
        move.operands[0] = twice.result


def other_row(part: ExtractSliceOp) -> None:
    offsets = part.static_offsets.get_values()
    if offsets[0] > 0:
        part.properties["static_offsets"] = DenseArrayBase.from_list(i64, [0, *offsets[1:]])


WRONG: Sequence[tuple[type[Operation], Callable[[Any], None], str]] = (
    (ViewOp, forget_offset, "{offset = "),
    (arith.SelectOp, swap_arms, "arith.select"),
    (scf.IfOp, swap_regions, "scf.if"),
    (scf.ForOp, feed_back, "iter_args"),
    (scf.ForOp, skip_round, "scf.for"),
    (CopyOp, drop, "nv_tileas.copy"),
    (ConvertLayoutOp, double, "convert_layout"),
    (ExtractSliceOp, other_row, "extract_slice"),
)
"""What is broken, how, and text without which a program is not worth a try."""


@pytest.mark.sample(4)
@pytest.mark.parametrize(("kind", "break_", "text"), WRONG)
def test_wrong_passes_are_found(
    kind: type[Operation], break_: Callable[[Any], None], text: str
) -> None:
    wrong = Wrong(kind, break_)
    for count in (GENERATED, 2 * GENERATED, 4 * GENERATED):
        for program in some_programs(count)[count // 2 if count > GENERATED else 0 :]:
            try:
                if text in program.text:
                    check(program, wrong)
            except WrongError:
                return
    pytest.fail("the pass is taken for a right one")


def test_failures_show_the_program() -> None:
    """What hypothesis reports of a failure is a program that can be run."""

    @settings(
        max_examples=100, derandomize=True, database=None, report_multiple_bugs=False, **COMMON
    )
    @given(programs())
    def fail(program: Program) -> None:
        assert "scf.for" not in program.text

    with pytest.raises(AssertionError) as caught:
        fail()
    notes = "\n".join(caught.value.__notes__)
    assert "\nfunc.func @k(" in notes
    assert "scf.for" in notes
    assert len(notes.splitlines()) < 100
