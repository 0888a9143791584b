"""Parameters of attributes are right, or xDSL says why not, whatever is asked of them."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    DenseArrayBase,
    FunctionType,
    IndexType,
    IntAttr,
    IntegerAttr,
    NoneAttr,
    StringAttr,
    TensorType,
    UnknownLoc,
    VectorType,
    f32,
    i32,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import BaseAttr, irdl_attr_definition, param_def
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.parameter_checks import verify_parameters

RIGHT: list[ParametrizedAttribute] = [
    IntegerAttr(1, i32),
    IntegerAttr(1, IndexType()),
    TensorType(f32, [2, 3]),
    TensorType(f32, []),
    VectorType(f32, [2]),
    FunctionType.from_lists([i32], [f32]),
    DenseArrayBase.from_list(i32, [1, 2]),
    CallSiteLoc(UnknownLoc(), UnknownLoc()),
]
"""A class, one of several, arrays of a class, of any and of more than one, and none of these."""

WRONG: list[tuple[type[ParametrizedAttribute], list[Attribute], str]] = [
    (IntegerAttr, [StringAttr("one"), i32], "parameter 'value' does not verify"),
    (IntegerAttr, [IntAttr(1), f32], "parameter 'type' does not verify"),
    (TensorType, [IntAttr(2), f32, NoneAttr()], "expected ArrayAttr"),
    (TensorType, [ArrayAttr([IntAttr(2), i32]), f32, NoneAttr()], "base attribute"),
    (FunctionType, [i32, ArrayAttr([])], "expected ArrayAttr"),
    (CallSiteLoc, [i32, UnknownLoc()], "not a location"),
]


@pytest.mark.parametrize("attribute", RIGHT, ids=str)
def test_what_is_right_stays_right(attribute: ParametrizedAttribute) -> None:
    made = type(attribute).new(attribute.parameters)
    assert made == attribute
    verify_parameters(type(attribute).get_irdl_definition(), made)


@pytest.mark.parametrize(("kind", "parameters", "message"), WRONG)
def test_what_is_wrong_is_told(
    kind: type[ParametrizedAttribute], parameters: list[Attribute], message: str
) -> None:
    with pytest.raises(VerifyException, match=message):
        kind.new(parameters)


def test_a_class_that_is_derived_is_right_too() -> None:
    class Base(ParametrizedAttribute):
        """What parameters are to be."""

    @irdl_attr_definition
    class Derived(Base):
        name = "test.derived"

    @irdl_attr_definition
    class Holder(ParametrizedAttribute):
        name = "test.holder"
        held: Attribute = param_def(BaseAttr(Base))

    assert Holder(Derived()).held == Derived()
    with pytest.raises(VerifyException, match="subclassing `Base`"):
        Holder(i32)
