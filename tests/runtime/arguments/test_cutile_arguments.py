"""Arguments of cuTile kernels: what their functions take, what they get back, what is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.frontend.signature import parse_signature
from tileas_xdsl.runtime.arguments.cutile_arguments import flattened, in_memory, restored

PARAMETERS = parse_signature("a: f16[?, ?%8], n: i32, tile=64, b: f32[128]")

A = np.ones((3, 16), np.float16)
B = np.ones(128, np.float32)


def test_arrays_are_a_pointer_extents_and_strides() -> None:
    flat = flattened(PARAMETERS, [A, 7, 64, B])
    assert flat[0] is A
    assert flat[6] is B
    assert [*flat[1:6], *flat[7:]] == [3, 16, 16, 1, 7, 128, 1]


def test_strides_count_elements() -> None:
    (parameter,) = parse_signature("a: f16[?, ?; ?, 1]")
    assert flattened([parameter], [np.ones((4, 32), np.float16)[:, :8]])[1:] == [4, 8, 32, 1]


@pytest.mark.parametrize(
    ("element", "dtype"),
    [("f16", np.float16), ("f8E5M2", ml_dtypes.float8_e5m2), ("f8E4M3FN", ml_dtypes.float8_e4m3fn)],
)
def test_the_memory_of_an_array_with_gaps_is_passed_and_seen_again(
    element: str, dtype: type
) -> None:
    (parameter,) = parse_signature(f"a: {element}[?, ?; ?, 1]")
    whole = np.random.default_rng(1).integers(0, 16, 128).astype(dtype).reshape(4, 32)
    part = whole[1:, 4:12]
    memory = in_memory(flattened([parameter], [part])[0])
    np.testing.assert_array_equal(memory, whole.ravel()[36:108])
    (found,) = restored([parameter], [part], [memory + 1, 3, 8, 32, 1])
    np.testing.assert_array_equal(found, part + 1)


def test_unsigned_elements_are_bits() -> None:
    (parameter,) = parse_signature("a: u32[?]")
    given = np.array([0, 2**32 - 1], np.uint32)
    flat = flattened([parameter], [given])
    memory = in_memory(flat[0])
    assert memory.tolist() == [0, -1]
    [after] = restored([parameter], [given], [memory, *flat[1:]])
    assert after.dtype == np.uint32
    assert after.tolist() == given.tolist()


def test_arrays_that_run_backwards_are_refused() -> None:
    (parameter,) = parse_signature("a: f16[?; ?]")
    with pytest.raises(ArgumentError, match="'a' runs backwards"):
        flattened([parameter], [np.ones(8, np.float16)[::-1]])


def test_one_row_of_a_wider_array_has_the_strides_of_its_own() -> None:
    """Those that DLPack says, of which a kernel was compiled for multiples."""
    row = np.zeros((1, 55), np.float16)[:, :54]
    assert row.strides == (110, 2)
    assert [*flattened(parse_signature("a: f16[?, ?%2; ?%2, 1]"), [row])][1:] == [1, 54, 54, 1]
    column = np.zeros((3, 1, 55), np.float16)[:, :, :54]
    assert [*flattened(parse_signature("a: f16[?, ?, ?; ?, ?, 1]"), [column])][4:] == [55, 55, 1]


def test_an_empty_array_has_any_strides() -> None:
    (parameter,) = parse_signature("a: f32[?; 1]")
    nothing = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (0,), (0,))
    assert flattened([parameter], [nothing])[1] == 0


def test_what_a_run_left_comes_back_by_parameter() -> None:
    left, right = A + 1, B + 2
    values = [A, 7, 64, B]
    found = restored(PARAMETERS, values, [left, 3, 16, 16, 1, 7, right, 128, 1])
    assert found[0] is left
    assert found[1:3] == [7, 64]
    assert found[3] is right


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([A, 7, 64], "3 arguments; the kernel's parameters are a, n, tile, b"),
        ([A, 7, 32, B], "'tile' is 32; the kernel was compiled for 64"),
        ([A, "7", 64, B], "'n' is a number, not '7'"),
        ([A, 7.5, 64, B], "'n' is a number of type int32, not 7.5"),
        ([A, 1 << 40, 64, B], "'n' is 1099511627776, which has more than the bits of int32"),
        ([[1, 2], 7, 64, B], "'a' is an array, not a value of type list"),
        ([B, 7, 64, B], "'a' has 2 dimensions, not 1"),
        ([A.astype(float), 7, 64, B], "'a' is an array of float16, not of float64"),
        (
            [A[:, :12].copy(), 7, 64, B],
            "extent 1 of 'a' is 12; the kernel was compiled for multiples of 8",
        ),
        ([A, 7, 64, B[:100]], "extent 0 of 'b' is 100; the kernel was compiled for 128"),
        ([A, 7, 64, np.ones(256, np.float32)[::2]], "stride 0 of 'b' is 2; .* compiled for 1"),
    ],
)
def test_what_the_kernel_was_not_compiled_for_is_refused(values: list[Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        flattened(PARAMETERS, values)
