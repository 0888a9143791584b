"""Tensor maps: hand-computed bytes, round trips, every rule, invalid bytes, driver output."""

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tma.tensor_map import (
    ELEMENTS,
    INTERLEAVES,
    L2_PROMOTIONS,
    SWIZZLES,
    PixelBox,
    TensorMap,
)
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE, TAIL_OFFSET, decode, encode
from tileas_xdsl.target.tma.tensor_map_rules import (
    PADDED_SWIZZLES,
    box_bytes,
    problems,
    target_refusal,
)

RECORDING = Path(__file__).parents[1] / "data" / "tensor_maps_driver.json"

BASE = TensorMap(
    "bf16", 0x7F00_0000_0000, (1024, 512), (2048,), (64, 128), swizzle="128B", l2_promotion="128B"
)


def test_bytes_of_a_map():
    words = struct.unpack("<Q30I", encode(BASE))
    header = 1 << 4 | 10 << 7 | 3 << 13 | 2 << 17
    assert words[:7] == (0x7F00_0000_0000, header, 2048 >> 4, 0, 0, 0, 0)
    assert words[7:] == (1023, 511, 0, 0, 0, 63 << 24, 127, 0, 64 * 128 * 2, 0, 1024, *[0] * 13)


def test_bytes_of_a_map_of_five_dimensions():
    strides = (1 << 39 | 1 << 35, 48, (1 << 40) - 16, 0x12_3456_7890)
    m = TensorMap(
        "tf32.ftz", 16, (1 << 32, 1, 2, 3, 4), strides, (4, 1, 2, 3, 256), (1, 2, 3, 4, 8),
        swizzle="128B_BASE32B_FLIP8B", l2_promotion="256B", nan_fill=True,
    )  # fmt: skip
    words = struct.unpack("<Q30I", encode(m))
    header = 4 << 4 | 8 << 7 | 3 << 13 | 1 << 15 | 1 << 16 | 3 << 17 | 2 << 19
    assert words[1] == header
    assert words[2:6] == (0x8000_0000, 3, 0xFFFF_FFFF, 0x2345_6789)
    assert words[6] == 0x8 | 0xF << 8 | 0x1 << 12
    assert words[7:12] == (0xFFFF_FFFF, 0, 1, 2, 3)
    assert words[12] == 3 << 24 | 1 << 3 | 2 << 6 | 3 << 9 | 7 << 12
    assert words[13] == 0 | 1 << 8 | 2 << 16 | 255 << 24


def test_names_of_swizzles_are_those_of_layouts():
    assert set(BYTE_SWIZZLES) <= set(SWIZZLES)


@st.composite
def tensor_maps(draw):
    element = ELEMENTS[draw(st.sampled_from(sorted(ELEMENTS)))]
    padded = element.name in PADDED_SWIZZLES
    names = PADDED_SWIZZLES.get(element.name, sorted(SWIZZLES))
    swizzle = draw(st.sampled_from(names))
    unit = 128 // element.bits if element.bits != 6 else 64
    widest = 256 if SWIZZLES[swizzle].span is None else SWIZZLES[swizzle].span * 8 // element.bits
    inner = 128 if padded else unit * draw(st.integers(1, min(256, widest) // unit))
    rank = draw(st.integers(1, 5))
    step = 32 if padded else 16
    dims = draw(st.lists(st.integers(1, 1 << 32), min_size=rank, max_size=rank))
    if element.shared_bytes:
        dims[0] = 128 * draw(st.integers(1, 1 << 25))
    box = [inner, *(draw(st.integers(1, 256)) for _ in dims[1:])]
    return TensorMap(
        element.name,
        step * draw(st.integers(0, (1 << 57) // step - 1)),
        tuple(dims),
        tuple(step * draw(st.integers(0, (1 << 40) // step - 1)) for _ in dims[1:]),
        tuple(box),
        tuple(draw(st.integers(1, 8)) for _ in dims),
        swizzle=swizzle,
        l2_promotion=draw(st.sampled_from(sorted(L2_PROMOTIONS))),
        nan_fill=element.is_float and draw(st.booleans()),
    )


@given(tensor_maps())
def test_round_trip(tensor_map):
    data = encode(tensor_map)
    assert len(data) == SIZE
    assert decode(data) == tensor_map


@pytest.mark.parametrize(
    ("interleave", "swizzle"), [("16B", "none"), ("16B", "64B"), ("32B", "32B")]
)
def test_round_trip_of_interleaved_maps(interleave, swizzle):
    m = TensorMap(
        "f16", 64, (8, 32, 64), (1024, 65536), (8, 16, 2), interleave=interleave, swizzle=swizzle
    )
    assert decode(encode(m)) == m


@given(tensor_maps(), st.integers(0, SIZE * 8 - 1))
def test_one_wrong_bit_is_another_map_or_refused(tensor_map, bit):
    data = bytearray(encode(tensor_map))
    data[bit // 8] ^= 1 << bit % 8
    try:
        found = decode(bytes(data))
    except TargetError:
        return
    if not any(data[TAIL_OFFSET:]):  # as if no driver had made it
        assert encode(found)[:TAIL_OFFSET] == bytes(data[:TAIL_OFFSET])
        return
    assert found != tensor_map
    assert encode(found) == bytes(data)


def test_a_map_that_no_driver_made_has_no_tail():
    data = encode(BASE)[:TAIL_OFFSET].ljust(SIZE, b"\0")
    assert decode(data) == BASE


@settings(deadline=None)
@given(st.binary(min_size=0, max_size=140))
def test_garbage_is_refused(data):
    with pytest.raises(TargetError):
        decode(data + b"\1" * (len(data) == SIZE))


RANK3 = TensorMap("f16", 64, (8, 32, 64), (1024, 65536), (8, 16, 2))

BROKEN = [
    (replace(BASE, dims=(), strides=(), box=()), "the rank is 0; it must be 1 to 5"),
    (TensorMap("u8", 0, (1,) * 6, (16,) * 5, (16,) * 6), "the rank is 6"),
    (replace(BASE, strides=(2048, 4096)), "strides has 2 entries; rank 2 needs 1"),
    (replace(BASE, box=(64,)), "box has 1 entries; rank 2 needs 2"),
    (replace(BASE, element_strides=(1,)), "element_strides has 1 entries"),
    (replace(BASE, element="f8"), "element type 'f8' is unknown; known: u8"),
    (replace(BASE, swizzle="96B"), "swizzle '96B' is unknown; known: none, 32B"),
    (replace(BASE, interleave="64B"), "interleave '64B' is unknown"),
    (replace(BASE, l2_promotion="512B"), "L2 promotion '512B' is unknown"),
    (replace(BASE, dims=(1024.0, 512)), r"dims\[0\] is 1024\.0; it must be an integer"),
    (replace(BASE, strides=(2048.0,)), r"strides\[0\] is 2048\.0; it must be an integer"),
    (replace(BASE, box=(64, "8")), r"box\[1\] is '8'; it must be an integer"),
    (replace(BASE, element_strides=(1, None)), r"element_strides\[1\] is None; it must be"),
    (replace(BASE, address=0.0), r"the address is 0\.0; it must be an integer"),
    (replace(BASE, address=8), "the address 0x8 is not a multiple of 16"),
    (replace(BASE, address=1 << 64), "does not fit 57 bits"),
    (replace(BASE, dims=(1024, 0)), r"dims\[1\] is 0; it must be 1 to 4294967296"),
    (replace(BASE, dims=((1 << 32) + 1, 512)), r"dims\[0\] is 4294967297"),
    (replace(BASE, strides=(24,)), r"strides\[0\] is 24 bytes, not a multiple of 16"),
    (replace(BASE, strides=(1 << 40,)), r"strides\[0\] is 1099511627776 bytes; it must be 0 to"),
    (replace(BASE, strides=(-16,)), r"strides\[0\] is -16 bytes"),
    (replace(BASE, box=(64, 257)), r"box\[1\] is 257; it must be 1 to 256"),
    (replace(BASE, box=(0, 1)), r"box\[0\] is 0"),
    (replace(BASE, box=(12, 1)), r"box\[0\] is 12 elements of 16 bits, not a multiple of 16 bytes"),
    (
        replace(BASE, box=(72, 1)),
        r"box\[0\] takes 144 bytes of shared memory; swizzle 128B spans 128",
    ),
    (replace(BASE, box=(24, 1), swizzle="32B"), "takes 48 bytes of shared memory; swizzle 32B"),
    (replace(BASE, element_strides=(1, 9)), r"element_strides\[1\] is 9; it must be 1 to 8"),
    (replace(BASE, element_strides=(1, 0)), r"element_strides\[1\] is 0"),
    (replace(BASE, interleave="16B"), "interleave 16B needs rank 3 to 5, not 2"),
    (replace(RANK3, interleave="32B"), "interleave 32B needs swizzle 32B, not none"),
    (
        replace(RANK3, interleave="32B", swizzle="32B", address=16),
        "the address 0x10 is not a multiple of 32",
    ),
    (
        replace(RANK3, interleave="32B", swizzle="32B", strides=(1040, 65536)),
        r"strides\[0\] is 1040 bytes, not a multiple of 32",
    ),
    (replace(BASE, element="u16", nan_fill=True), "filled with NaN, not u16"),
    (replace(BASE, element="b4x16", dims=(1023, 4)), r"dims\[0\] is 1023; .* an even number"),
    (replace(BASE, element="b4x16_p64", box=(64, 4)), r"box\[0\] is 64; .* needs 128"),
    (
        replace(BASE, element="b6x16_p32", box=(128, 4), dims=(1000, 4)),
        r"dims\[0\] is 1000; .* multiples of 128",
    ),
    (
        replace(BASE, element="b4x16_p64", box=(128, 4), swizzle="64B"),
        "takes 128 bytes of shared memory; swizzle 64B spans 64",
    ),
    (
        replace(BASE, element="b4x16_p64", box=(128, 4), swizzle="128B_BASE64B"),
        "has swizzles none, 128B, 128B_BASE32B, not 128B_BASE64B",
    ),
    (
        replace(RANK3, element="b6x16_p32", dims=(128, 8, 8), box=(128, 4, 4), interleave="16B"),
        "cannot be interleaved",
    ),
]


@pytest.mark.parametrize(("tensor_map", "words"), BROKEN)
def test_illegal_maps(tensor_map, words):
    with pytest.raises(TargetError, match=words):
        encode(tensor_map)


def test_all_problems_are_found():
    m = replace(BASE, address=8, strides=(24,), box=(300, 1))
    assert len([*problems(m)]) == 5
    assert len([*problems(replace(BASE, element_strides=(0, 0)))]) == 2


HOPPER, BLACKWELL = get_target("sm_90a"), get_target("sm_100a")


@pytest.mark.parametrize(
    ("tensor_map", "words"),
    [
        (BASE, None),
        (replace(BASE, swizzle="128B_BASE32B"), "swizzle 128B_BASE32B needs sm_100a"),
        (replace(BASE, element="b4x16"), "element type b4x16 needs sm_100a"),
    ],
)
def test_what_hopper_lacks(tensor_map, words):
    refusal = target_refusal(tensor_map, HOPPER)
    assert refusal is None if words is None else words in refusal
    assert target_refusal(tensor_map, BLACKWELL) is None


def test_bytes_of_the_box():
    assert box_bytes(BASE) == 64 * 128 * 2
    assert box_bytes(replace(BASE, element_strides=(1, 3))) == 64 * 43 * 2
    assert box_bytes(replace(BASE, element="b4x16", box=(128, 8))) == 512
    assert box_bytes(replace(BASE, element="b6x16_p32", box=(128, 8))) == 1024
    refusal = target_refusal(replace(RANK3, box=(128, 256, 4)), BLACKWELL)
    assert refusal == "the box takes 262144 bytes; a block of sm_100a has 232448 to share"


def changed(offset, word):
    data = bytearray(encode(BASE))
    struct.pack_into("<I", data, offset, word)
    return bytes(data)


HEADER = 1 << 4 | 10 << 7 | 3 << 13 | 2 << 17


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "128 bytes long, not 0"),
        (encode(BASE) + b"\0", "128 bytes long, not 129"),
        (changed(8, HEADER | 1), "byte 0x8: rank 2 is below 3, kind im2col"),
        (changed(8, HEADER | 7 << 4), "byte 0x8: rank 8 is not in 1..5"),
        (changed(8, HEADER | 15 << 7), "byte 0x8: element 15 is reserved; known: 0 u8"),
        (changed(8, HEADER | 1 << 16), "byte 0x8: tf32 element 10 is reserved; known: 7 tf32"),
        (changed(8, HEADER | 3 << 11), "byte 0x8: interleave 3 is reserved"),
        (changed(8, HEADER | 4 << 19), "byte 0x8: swizzle and atomicity 19 is reserved"),
        (changed(8, HEADER & ~(2 << 13) | 1 << 19), "swizzle and atomicity 5 is reserved"),
        (changed(8, HEADER | 1 << 22), "byte 0x8: reserved bit 22"),
        (changed(0x10, 1), r"byte 0x10: stride\[1\] is not 0 beyond the 2 dimensions"),
        (changed(0x1C, 1 << 4), "byte 0x1c: high strides is not 0"),
        (changed(0x28, 1), r"byte 0x28: dim\[2\] is not 0"),
        (changed(0x34, 63 << 24 | 1 << 6), "byte 0x34: element strides is not 0"),
        (changed(0x38, 127 | 1 << 8), "byte 0x38: box is not 0"),
        (changed(0x3C, 1), "byte 0x3c: padding is not 0"),
        (changed(0x7C, 1), "byte 0x50: rest is not 0"),
        (
            changed(0x40, 1),
            "byte 0x40: tail says a box of 1 bytes aligned to 1024, but the map has",
        ),
        (changed(0x34, 10 << 24), r"box\[0\] is 11 elements"),
        (changed(0x00, 8), "is not a multiple of 16"),
    ],
)
def test_decode_names_the_field(data, words):
    with pytest.raises(TargetError, match=words):
        decode(data)


DRIVER_ELEMENTS = {e.driver: name for name, e in ELEMENTS.items()}
DRIVER_SWIZZLES = {mode.driver: name for name, mode in SWIZZLES.items()}


def from_driver(row):
    """A recorded map; None where it has an enumerator that does not exist."""
    names = (
        DRIVER_ELEMENTS.get(row["type"]),
        dict(enumerate(INTERLEAVES)).get(row["interleave"]),
        DRIVER_SWIZZLES.get(row["swizzle"]),
        dict(enumerate(L2_PROMOTIONS)).get(row["l2"]),
        {0: False, 1: True}.get(row["oob"]),
    )
    if None in names:
        return None
    fields = (tuple(row[key]) for key in ("dims", "strides", "box", "element_strides"))
    return TensorMap(names[0], row["address"], *fields, *names[1:])


def is_documented_as_wrong(row, tensor_map):
    """What the driver takes against its manual.

    32-byte interleaving with any swizzle, where the manual wants that of 32 bytes; and boxes that
    fit shared memory only if element strides are divided out rounding down, not up.
    """
    if row["interleave"] == 2 and row["swizzle"] != 1:
        return True
    return tensor_map is not None and box_bytes(tensor_map) > HOPPER.shared_memory_per_block


def test_same_bytes_as_the_driver():
    recorded = json.loads(RECORDING.read_text())
    encoded = 0
    for row in recorded["maps"]:
        tensor_map = from_driver(row)
        legal = tensor_map is not None and not [*problems(tensor_map)]
        legal = legal and target_refusal(tensor_map, HOPPER) is None
        expected = row["bytes"] is not None and not is_documented_as_wrong(row, tensor_map)
        assert legal == expected, row
        if legal:
            encoded += 1
            assert encode(tensor_map).hex() == row["bytes"], row
            assert decode(bytes.fromhex(row["bytes"])) == tensor_map
    assert encoded > 100


def pixel_map(row):
    """A recorded map of the im2col kind: 64 channels of a pixel, 32 pixels of a column."""
    pixels = PixelBox(tuple(row["lower"]), tuple(row["upper"]))
    tiled = from_driver(row | {"box": [64, 32]})
    assert tiled is not None
    return replace(tiled, pixels=pixels)


def test_same_bytes_as_the_driver_for_columns_of_pixels():
    recorded = json.loads(RECORDING.read_text())["im2col"]
    assert len(recorded) == 3
    for row in recorded:
        assert encode(pixel_map(row)).hex() == row["bytes"]
        assert decode(bytes.fromhex(row["bytes"])) == pixel_map(row)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lower": (-129, 0)}, r"lower\[0\] is -129; rank 4 has -128 to 127"),
        ({"upper": (0, 128)}, r"upper\[1\] is 128; rank 4 has -128 to 127"),
        ({"upper": (0, -8)}, "the pixels of dimension 2 are 0; the upper corner is too low"),
        ({"lower": (0,)}, r"lower has 1 entries; rank 4 needs 2"),
        ({"box": (64, 1025)}, r"box\[1\] is 1025; it must be 1 to 1024"),
        ({"box": (64, 4, 4, 4)}, "box has 4 entries; rank 4 needs 2"),
        ({"box": (60, 4)}, "not a multiple of 16 bytes"),
    ],
)
def test_columns_of_pixels_that_the_driver_refuses(changes, words):
    corners = {"lower": (0, 0), "upper": (0, 0)}
    corners |= {k: v for k, v in changes.items() if k in corners}
    made = TensorMap(
        "bf16", 0, (64, 8, 8, 2), (128, 1024, 8192), changes.get("box", (64, 1024)),
        pixels=PixelBox(**corners),
    )  # fmt: skip
    with pytest.raises(TargetError, match=words):
        encode(made)


def test_columns_of_pixels_have_three_dimensions():
    made = TensorMap("f32", 0, (64, 8), (256,), (32, 8), pixels=PixelBox((), ()))
    with pytest.raises(TargetError, match="the rank is 2; kind im2col needs 3 to 5"):
        encode(made)
