"""Constraints that refuse a value with a sentence: in an operation, and alone as xDSL uses them."""

import pytest
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i32, i64
from xdsl.irdl.constraints import VerificationContext
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.constraints import keyword_among, multiples_of, number_among
from tileas_xdsl.dialects.cute_nvgpu import FenceProxyAsyncOp

SPACE = keyword_among(("", "shared", "global"), "{given} is none of {known}: {either}")
OFFSET = number_among(i32, multiples_of(8), "is a multiple of 8, not {given}")


def test_the_sentence_lists_what_there_is() -> None:
    SPACE.verify(StringAttr(""), VerificationContext())
    said = r"^rmem is none of shared, global: shared or global$"
    with pytest.raises(VerifyException, match=said):
        SPACE.verify(StringAttr("rmem"), VerificationContext())


@pytest.mark.parametrize("number", [0, 8, -16, 1 << 30])
def test_multiples(number: int) -> None:
    assert OFFSET.verifies(IntegerAttr(number, i32))
    assert not OFFSET.verifies(IntegerAttr(number + 4, i32))


def test_the_kind_of_attribute_is_checked_first() -> None:
    with pytest.raises(VerifyException, match="should be of base attribute string"):
        SPACE.verify(IntegerAttr(1, i64), VerificationContext())
    assert not OFFSET.verifies(IntegerAttr(8, i64))


def test_an_operation_says_it_about_itself() -> None:
    fence = FenceProxyAsyncOp("tensor")
    with pytest.raises(VerifyException, match="fences shared::cta or generic, not tensor"):
        fence.verify()
