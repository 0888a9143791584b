"""Constructors: what they infer, and what stays the same object."""

import pytest
from xdsl.irdl import VarOperandDef

from tileas_xdsl.dialects.ptx import (
    AddOp,
    ConstOp,
    CvtPackOp,
    ElectSyncOp,
    FmaOp,
    JoinOp,
    LdmatrixOp,
    LdOp,
    MovOp,
    MulOp,
    PackOp,
    PopcOp,
    Ptx,
    SetpOp,
    SplitOp,
    StOp,
    Tcgen05LdOp,
    UndefOp,
    UnpackOp,
    WgmmaOp,
    reg,
)
from tileas_xdsl.target.isa.kinds import KINDS, accepts


@pytest.mark.parametrize(
    ("op", "types"),
    [
        (AddOp(UndefOp("f32", 4), UndefOp("f32"), "f32"), [reg("f32", 4)]),
        (MulOp(UndefOp("b32"), ConstOp(4), "u32", mode="wide"), [reg("b64")]),
        (FmaOp(*(UndefOp("b32", 3) for _ in range(3)), "bf16x2", rounding="rn"), [reg("b32", 3)]),
        (PopcOp(UndefOp("b64"), "b64"), [reg("b32")]),
        (SetpOp(UndefOp("b32", 2), ConstOp(0), "eq", "u32"), [reg("pred", 2)]),
        (CvtPackOp(UndefOp("f32", 8), "bf16x2"), [reg("b32", 4)]),
        (CvtPackOp(UndefOp("f32", 8), "e4m3x2"), [reg("b16", 4)]),
        (PackOp([UndefOp("b32", 3), UndefOp("b32")]), [reg("b32", 4)]),
        (UnpackOp(UndefOp("f32", 6), 3), [reg("f32", 3)] * 2),
        (MovOp(UndefOp("f32", 2), "b32", kind="b32"), [reg("b32", 2)]),
        (JoinOp(UndefOp("b16", 8), "b64"), [reg("b64", 2)]),
        (SplitOp(UndefOp("b64", 2), "f32"), [reg("f32", 4)]),
        (LdOp(UndefOp("b64"), "u8", "global", count=2), [reg("b16", 2)]),
        (LdmatrixOp(UndefOp("b32"), 4), [reg("b32", 4)]),
        (ElectSyncOp(ConstOp(-1)), [reg("b32"), reg("pred")]),
        (Tcgen05LdOp(UndefOp("b32"), "16x256b", 8), [reg("b32", 32)]),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_results_follow_from_operands(op, types):
    op.verify()
    assert list(op.result_types) == types


def test_columns_follow_from_the_accumulator():
    wide, predicate = UndefOp("b64"), UndefOp("pred")
    assert WgmmaOp(UndefOp("f32", 128), wide, wide, predicate, "f32", "bf16").n == 256
    assert WgmmaOp(UndefOp("b32", 32), wide, wide, predicate, "f16", "f16").n == 128


def test_missing_operands_have_no_place():
    place, value, guard = UndefOp("b64"), UndefOp("b32"), UndefOp("pred")
    op = StOp(place, value, "b32", "global", guard=guard, negate=True)
    assert (op.guard, op.policy) == (guard.result, None)
    assert "semantics" not in op.properties
    plain = StOp(place, value, "b32", "global")
    assert (plain.guard, len(plain.operands), plain.flag("negate")) == (None, 2, False)


def test_equal_properties_are_one_object():
    first, second = (AddOp(ConstOp(1), ConstOp(2), "u32") for _ in range(2))
    assert first.properties["type"] is second.properties["type"]


@pytest.mark.parametrize("op", list(Ptx.operations), ids=lambda op: op.name)
def test_optional_operands_are_last(op):
    """The text has them last."""
    optional = [isinstance(d, VarOperandDef) for _, d in op.get_irdl_definition().operands]
    assert optional == sorted(optional)


def test_kinds():
    """PTX ISA's table of operands: bits take all of their width, floats take bits."""
    taken = {t: {k for k in KINDS if accepts(t, k)} for t in ("b32", "u32", "f32", "f16", "pred")}
    assert taken == {
        "b32": {"b32", "f32"},
        "u32": {"b32"},
        "f32": {"f32", "b32"},
        "f16": {"b16"},
        "pred": {"pred"},
    }
