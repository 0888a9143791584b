"""Parameters from the arguments of a launch, by the rules of cuTile's dispatcher."""

import enum
from typing import Annotated, Any

import numpy as np
import pytest

from tileas_xdsl.frontend.cutile.kernels import parameters_of
from tileas_xdsl.frontend.signature import (
    ArrayParameter,
    ConstantParameter,
    Extent,
    ListParameter,
    ScalarParameter,
    TupleParameter,
)

ct: Any = pytest.importorskip("cuda.tile")

ANY, ONE, BY_16 = Extent(), Extent(1), Extent(None, 16)
BY_16_BYTES = Extent(None, 4)
"""Of f32: what rows that TMA moves are multiples of."""


class Color(enum.Enum):
    """A constant that is no number."""

    RED = 1


@ct.kernel
def plain(x: Any) -> None:
    """Takes anything."""


@ct.kernel
def constant(x: ct.Constant) -> None:
    """Takes a constant."""


@ct.kernel
def wide_scalar(x: ct.ScalarInt64) -> None:
    """Takes an integer of 64 bits."""


@ct.kernel
def wide_array(x: ct.IndexedWithInt64) -> None:
    """Takes an array with indices of 64 bits."""


@ct.kernel
def pair(x: tuple[ct.Constant[int], int]) -> None:
    """Takes a tuple of two."""


def known(**options: Any) -> Any:
    """A kernel whose array is annotated."""

    @ct.kernel
    def kernel(x: Annotated[ct.Array, ct.ArrayAnnotation(**options)]) -> None: ...

    return kernel


def known_list(**options: Any) -> Any:
    """A kernel whose list has annotated arrays."""
    element = ct.ArrayAnnotation(**options)

    @ct.kernel
    def kernel(x: Annotated[list, ct.ListAnnotation(element=element)]) -> None: ...

    return kernel


def of(kernel: Any, value: Any) -> Any:
    [found] = parameters_of(kernel, (value,), is_dispatched=True)
    return found


class Elsewhere:
    """An array that is in no memory of ours: what it says of itself is all that is known."""

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...] | None = None) -> None:
        self.__cuda_array_interface__ = {
            "shape": shape,
            "strides": strides,
            "typestr": "<f4",
            "data": (1 << 20, False),
            "version": 3,
        }


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((32, 20), None, ((BY_16, BY_16_BYTES), (BY_16_BYTES, ONE))),
        ((1, 17), None, ((ONE, ANY), (ANY, ONE))),
        ((8, 8), (4, 32), ((BY_16_BYTES, ANY), (ONE, BY_16_BYTES))),
        ((16,) * 6, None, ((ANY,) * 6, (ANY,) * 6)),
    ],
)
def test_what_becomes_part_of_an_array_parameter(
    shape: tuple[int, ...], strides: tuple[int, ...] | None, expected: Any
) -> None:
    found = of(plain, Elsewhere(shape, strides))
    assert (found.shape, found.strides) == expected


def test_addresses_are_multiples_of_16_bytes_or_of_an_element() -> None:
    array = np.zeros(65, np.int16)
    assert of(plain, array).alignment == 16
    assert of(plain, array[1:]).alignment == of(plain, array[4:]).alignment == 2


def test_a_kernel_for_given_arguments_knows_smaller_divisors() -> None:
    [found] = parameters_of(plain, (Elsewhere((24, 18)),))
    assert isinstance(found, ArrayParameter)
    assert found.shape == (Extent(None, 8), Extent(None, 2))
    assert found.strides == (Extent(None, 2), ONE)


def test_elements_that_several_indices_name_are_told() -> None:
    assert not of(plain, np.zeros((4, 4))).may_overlap
    assert of(plain, np.broadcast_to(np.zeros(4), (4, 4))).may_overlap


def test_integers_have_32_bits_unless_annotated() -> None:
    assert of(plain, -5) == ScalarParameter("x", "int32")
    assert of(wide_scalar, 1 << 40) == ScalarParameter("x", "int64")
    with pytest.raises(OverflowError, match=r"'x' is 2147483648; .* ct\.ScalarInt64"):
        of(plain, 1 << 31)
    with pytest.raises(OverflowError, match="'x' is 9223372036854775808"):
        of(wide_scalar, 1 << 63)


@pytest.mark.parametrize("what", ["shape", "stride"])
def test_arrays_past_32_bits_need_an_annotation(what: str) -> None:
    large = 1 << 31
    array = Elsewhere((large,)) if what == "shape" else Elsewhere((2, 4), (4 * large, 4))
    with pytest.raises(OverflowError, match=f"{what} is too big: 'x' has 2147483648; .*Int64"):
        of(plain, array)
    assert of(wide_array, array).index_bits == 64
    assert of(known(index_dtype=ct.int64), array).index_bits == 64


def test_annotated_extents_and_strides_are_constants() -> None:
    array = Elsewhere((32, 1, 64))
    found = of(known(static_shape_dims=(0, -1)), array)
    assert found.shape == (Extent(32), ANY, Extent(64))
    found = of(known(static_stride_dims=(0,)), array)
    assert found.strides == (Extent(64), Extent(None, 4), ANY)
    assert found.shape == (BY_16, ONE, BY_16)


def test_short_rows_and_strides_are_constants() -> None:
    pairs = of(plain, Elsewhere((32, 64, 2)))
    assert pairs.shape == (BY_16, BY_16, Extent(2))
    assert pairs.strides == (BY_16_BYTES, Extent(2), ONE)
    rows = of(plain, Elsewhere((2, 4)))
    assert rows.shape == (ANY, BY_16_BYTES), "16 bytes are a vector"
    assert of(plain, Elsewhere((2,))).shape == (ANY,), "an array of few elements has no rows"


def test_short_strides_without_rows_are_any_numbers() -> None:
    """Elements that are apart are accessed one by one, so that code for one stride is for all."""
    assert of(plain, Elsewhere((32,), (8,))) == of(plain, Elsewhere((32,), (12,)))
    column = of(plain, Elsewhere((32, 1), (8, 4)))
    assert column.strides == (ANY, ONE), "a row of one element is none"
    assert of(plain, Elsewhere((32,), (16,))).strides == (BY_16_BYTES,), "as cuTile tells it"


def test_annotated_strides_are_all_that_is_known_of_contiguity() -> None:
    annotated = known(static_stride_dims=(0,))
    packed, *apart = (of(annotated, Elsewhere((4, 4), (80, 4 * n))) for n in (1, 2, 3))
    assert apart == [packed, packed]


@pytest.mark.parametrize(
    ("dims", "message"), [((3,), "contains axis 3 but array rank is 3"), ((1, -2), "duplicate")]
)
def test_annotations_that_no_array_has(dims: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"static_shape_dims contains .*{message.split()[-1]}"):
        of(known(static_shape_dims=dims), Elsewhere((4, 4, 4)))


@pytest.mark.parametrize(
    "value", [3, 2.5, True, "text", None, Color.RED, pytest.param(ct.float16, id="dtype")]
)
def test_constants_are_values_of_any_immutable_type(value: Any) -> None:
    assert of(constant, value) == ConstantParameter("x", value)


def test_element_types_of_other_libraries_are_constants_too() -> None:
    for value in (np.float16, np.dtype("float16")):
        assert of(constant, value) == ConstantParameter("x", ct.float16)
    assert of(constant, np.int32(7)) == ConstantParameter("x", 7)


def test_tuples_have_parameters_of_their_own() -> None:
    assert of(plain, (2, (1.5,))) == TupleParameter(
        "x",
        (
            ScalarParameter("x[0]", "int32"),
            TupleParameter("x[1]", (ScalarParameter("x[1][0]", "float32"),)),
        ),
    )
    items = (ConstantParameter("x[0]", 3), ScalarParameter("x[1]", "int32"))
    assert of(pair, (3, 4)) == TupleParameter("x", items)


def test_lists_have_what_their_arrays_have_in_common() -> None:
    found = of(plain, [Elsewhere((32, 20)), Elsewhere((16, 16)), Elsewhere((1, 48))])
    assert isinstance(found, ListParameter)
    assert found.item.shape == (ANY, BY_16_BYTES)
    assert found.item.strides == (BY_16_BYTES, ONE)
    found = of(plain, [Elsewhere((16, 2)), Elsewhere((16, 3))])
    assert found.item.shape == (BY_16, ANY), "short rows of several lengths"


@pytest.mark.parametrize(
    ("kernel", "value", "message"),
    [
        (plain, object(), "Invalid kernel argument #0: Objects of type 'object' are not supported"),
        (plain, "text", "'str' are only accepted for parameters annotated as Constant"),
        (plain, (1, "text"), "Invalid item #1 of kernel argument #0: Objects of type 'str'"),
        (constant, [1], "Could not interpret object of type 'list' as a constant"),
        (pair, 3, "Received a non-tuple argument for a parameter annotated as a tuple"),
        (pair, (1, 2, 3), "Received a tuple of length 3 .* of length 2"),
        (plain, [], "Empty lists are not supported as kernel arguments"),
        (plain, [1], "Expected list items to be arrays, got int"),
        (plain, [np.zeros(4), np.zeros(4, np.int8)], "Arrays in list vary in data type"),
        (plain, [np.zeros(4), np.zeros((2, 2))], "Arrays in list vary in rank"),
        (plain, np.zeros(4, np.complex64), "'x' has elements of complex64"),
    ],
)
def test_arguments_of_wrong_types(kernel: Any, value: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        of(kernel, value)


def test_items_of_a_list_agree_where_they_are_constants() -> None:
    arrays = [Elsewhere((16, 16)), Elsewhere((32, 16))]
    with pytest.raises(ValueError, match=r"vary in static shape at axis 0 \(16 vs 32\)"):
        of(known_list(static_shape_dims=(0,)), arrays)
    found = of(known_list(static_stride_dims=(0,)), arrays)
    assert found.item.strides[0] == Extent(16)


def test_arrays_of_dlpack_alone() -> None:
    class Exported:
        """An array that only DLPack exports."""

        def __init__(self, array: Any) -> None:
            self.array = array

        def __dlpack__(self) -> Any:
            return self.array.__dlpack__()

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

    array = np.zeros((16, 40), np.uint8)[:, ::2]
    assert of(plain, Exported(array)) == of(plain, array)
    assert of(plain, array) == ArrayParameter("x", "uint8", (BY_16, ANY), (ANY, ANY), 16)
    rows = np.zeros((16, 40), np.uint8)[:, :20]
    assert of(plain, rows).strides == (Extent(None, 8), ONE), "a multiple of 8 bytes, not of 16"
