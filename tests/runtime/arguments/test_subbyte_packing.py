"""Arrays of 4-bit floats as global memory has them."""

import ml_dtypes
import numpy as np
import pytest

from tileas_xdsl.interpreters.ptx import LaunchError
from tileas_xdsl.runtime.arguments.subbyte_packing import PACKED, packed, unpacked


def test_the_first_element_is_low() -> None:
    array = np.array([[0.5, -6.0], [1.0, 2.0]], PACKED)
    np.testing.assert_array_equal(packed(array, "it"), [[0xF1], [0x42]])


def test_unpacking_gives_back_all_codes() -> None:
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.arange(16, dtype=np.uint8)).reshape(2, 8)
    array = codes.view(ml_dtypes.float4_e2m1fn)
    found = unpacked(packed(array, "it"))
    assert (found.dtype, found.shape) == (PACKED, array.shape)
    np.testing.assert_array_equal(found.view(np.uint8), codes)


def test_parts_of_arrays_are_packed_too() -> None:
    array = np.arange(16, dtype=np.float32).reshape(2, 8).astype(PACKED)
    part = array[:, 2:6]
    np.testing.assert_array_equal(packed(part, "it"), packed(np.ascontiguousarray(part), "it"))


@pytest.mark.parametrize("value", [3, np.float32(1), np.arange(3), None])
def test_what_has_whole_bytes_stays(value: object) -> None:
    assert packed(value, "it") is value


@pytest.mark.parametrize("shape", [(4, 3), ()])
def test_rows_end_with_a_byte(shape: tuple[int, ...]) -> None:
    with pytest.raises(LaunchError, match=r"argument 2 has shape .* end within a byte"):
        packed(np.zeros(shape, PACKED), "argument 2")
