"""Conversions of every kind and rounding, against exact numbers."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from interpreters.ptx.exact import bits_of, value
from interpreters.ptx.harness import apply

from tests.interpreters.ptx.instructions.elementwise.test_floats import RNG, compare, words
from tests.interpreters.ptx.instructions.elementwise.test_integers import signed, values
from tileas_xdsl.interpreters.ptx import PtxError

ROUNDINGS = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}


def whole(number: Fraction, mode: str) -> int:
    low = math.floor(number)
    if mode == "rmi":
        return low
    if mode == "rpi":
        return math.ceil(number)
    if mode == "rzi":
        return math.trunc(number)
    rest = number - low
    return low + int(rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 1))


def limits(type_: str) -> tuple[int, int]:
    """The smallest and the largest integer of a type."""
    bits = int(type_[1:])
    if type_[0] == "s":
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1


@pytest.mark.parametrize("mode", ROUNDINGS)
@pytest.mark.parametrize("result", ["s32", "u32", "s64", "u64", "s16", "u8"])
@pytest.mark.parametrize("source", ["f32", "f64", "f16"])
def test_floats_to_integers_saturate(source: str, result: str, mode: str) -> None:
    bits = int(result[1:])
    low, high = limits(result)
    a = words(source)
    a[:8] = [bits_of(Fraction(n, 2), source) for n in (-5, -3, -1, 1, 3, 5, 255, 513)]
    register = max(bits, 16)
    (found,) = apply(f"cvt.{mode}.{result}.{source} {{x}}, {{a}};", [a], [f"u{register // 8}"])
    for word, x in zip(found.tolist(), (value(int(v), source) for v in a), strict=True):
        if isinstance(x, float) and math.isnan(x):
            continue
        if isinstance(x, float) and math.isinf(x):
            wanted = high if x > 0 else low
        else:
            wanted = min(max(whole(Fraction(x), mode), low), high)
        assert word == wanted & ((1 << register) - 1)


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("source", ["s32", "u32", "s64", "u64", "s16", "u16"])
@pytest.mark.parametrize("result", ["f32", "f64", "f16"])
def test_integers_to_floats(source: str, result: str, mode: str) -> None:
    bits = int(source[1:])
    a = values(bits)
    size = {"f16": 2, "f32": 4, "f64": 8}[result]
    (found,) = apply(f"cvt.{mode}.{result}.{source} {{x}}, {{a}};", [a], [f"u{size}"])
    numbers = [signed(int(v), bits) if source[0] == "s" else int(v) for v in a]
    assert found.tolist() == [bits_of(Fraction(n), result, mode) for n in numbers]


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize(
    ("source", "result"), [("f64", "f32"), ("f32", "f16"), ("f64", "f16"), ("f32", "bf16")]
)
def test_narrower_floats(source: str, result: str, mode: str) -> None:
    if result == "bf16" and mode in ("rm", "rp"):
        pytest.skip("PTX has no such rounding")
    a = words(source, 128)
    size = {"f16": 2, "bf16": 2, "f32": 4}[result]
    (found,) = apply(f"cvt.{mode}.{result}.{source} {{x}}, {{a}};", [a], [f"u{size}"])
    compare(found, [bits_of(value(int(v), source), result, mode) for v in a], result)


@pytest.mark.parametrize(
    ("source", "result"), [("f16", "f32"), ("f32", "f64"), ("f16", "f64"), ("bf16", "f32")]
)
def test_wider_floats_are_exact(source: str, result: str) -> None:
    a = words(source, 128)
    size = {"f32": 4, "f64": 8}[result]
    (found,) = apply(f"cvt.{result}.{source} {{x}}, {{a}};", [a], [f"u{size}"])
    compare(found, [bits_of(value(int(v), source), result) for v in a], result)


def test_tf32_rounds_halves_away() -> None:
    a = words("f32", 128)
    a[0], a[1] = 0x3F801000, 0xBF801000
    (found,) = apply("cvt.rna.tf32.f32 {x}, {a};", [a], ["u4"])
    assert found[:2].tolist() == [0x3F802000, 0xBF802000]
    finite = np.isfinite(a.view(np.float32))
    assert not (found[finite] & 0x1FFF).any()
    x, y = a.view(np.float32)[finite], found.view(np.float32)[finite]
    unit = np.abs(x.astype(np.float64)) * 2.0**-11 + 2.0**-137
    assert (np.abs(x.astype(np.float64) - y)[np.isfinite(y)] <= unit[np.isfinite(y)]).all()


@pytest.mark.parametrize("mode", ROUNDINGS)
def test_rounding_to_whole_floats(mode: str) -> None:
    a = words("f32")
    (found,) = apply(f"cvt.{mode}.f32.f32 {{x}}, {{a}};", [a], ["u4"])
    function = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[mode]
    compare(found, function(a.view(np.float32)).view(np.uint32).tolist(), "f32")


@pytest.mark.parametrize("source", ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("result", ["s16", "u16", "s32", "u32", "s64", "u64"])
def test_integers_wrap_extend_and_saturate(source: str, result: str) -> None:
    bits, width = int(source[1:]), int(result[1:])
    register = max(bits, 16)
    a = values(register)
    numbers = [int(v) & ((1 << bits) - 1) for v in a]
    numbers = [signed(n, bits) if source[0] == "s" else n for n in numbers]
    (found,) = apply(f"cvt.{result}.{source} {{x}}, {{a}};", [a], [f"u{width // 8}"])
    assert found.tolist() == [n & ((1 << width) - 1) for n in numbers]
    low, high = limits(result)
    source_low, source_high = limits(source)
    if low <= source_low and source_high <= high:
        return  # nothing to saturate: PTX has no such form
    (found,) = apply(f"cvt.sat.{result}.{source} {{x}}, {{a}};", [a], [f"u{width // 8}"])
    assert found.tolist() == [min(max(n, low), high) & ((1 << width) - 1) for n in numbers]


@pytest.mark.parametrize(
    ("result", "name", "bits"),
    [("f16x2", "f16", 16), ("bf16x2", "bf16", 16), ("e4m3x2", "e4m3", 8), ("e5m2x2", "e5m2", 8)],
)
def test_two_singles_are_packed(result: str, name: str, bits: int) -> None:
    a, b = words("f32", 128), words("f32", 128)
    a[:64] = RNG.standard_normal(64).astype(np.float32).view(np.uint32)
    finite = bits == 8
    text = f"cvt.rn{'.satfinite' * finite}.{result}.f32 {{x}}, {{a}}, {{b}};"
    (found,) = apply(text, [a, b], [f"u{bits // 4}"])
    for shift, source in ((bits, a), (0, b)):
        wanted = [bits_of(value(int(v), "f32"), name, finite=finite) for v in source]
        compare(found >> found.dtype.type(shift) & ((1 << bits) - 1), wanted, name)


def test_pairs_that_are_alike_in_all_lanes_are_packed_and_stored() -> None:
    """A value of all lanes stays one: numpy makes a vector of a single bf16 that is rounded."""
    a, b = (np.full(32, number, np.float32).view(np.uint32) for number in (1.5, -2.25))
    (found,) = apply("cvt.rn.bf16x2.f32 {x}, {a}, {b};", [a, b], ["u4"], uniform=True)
    compare(found, [0x3FC0C010] * 32, "f32")


@pytest.mark.parametrize(("name", "dtype"), [("e4m3", ml_dtypes.float8_e4m3fn),
                                             ("e5m2", ml_dtypes.float8_e5m2)])  # fmt: skip
def test_bytes_are_unpacked(name: str, dtype) -> None:
    a = np.arange(0, 1 << 16, 331, dtype=np.uint16)
    (found,) = apply(f"cvt.rn.f16x2.{name}x2 {{x}}, {{a}};", [a], ["u4"])
    for shift in (0, 8):
        byte = (a >> np.uint16(shift) & 255).astype(np.uint8)
        half = (found >> np.uint32(2 * shift) & 0xFFFF).astype(np.uint16).view(np.float16)
        np.testing.assert_array_equal(half, byte.view(dtype).astype(np.float16))


def test_relu_and_small_formats() -> None:
    a = np.array([-2, -0.25, 0.25, 1.6, 100, np.nan], np.float32)
    (found,) = apply("cvt.rn.relu.bf16x2.f32 {x}, {a}, {b};", [a, a], ["u4"])
    wanted = [bits_of(Fraction(float(v)) if v > 0 else Fraction(0), "bf16") if v == v else 0x7FFF
              for v in a]  # fmt: skip
    assert (found & 0xFFFF).tolist() == wanted
    assert (found >> 16).tolist() == wanted
    (small,) = apply(
        "{ .reg .b8 %n; cvt.rn.satfinite.e2m1x2.f32 %n, {a}, {b}; cvt.u32.u8 {x}, %n; }",
        [a[:5], a[:5][::-1].copy()],
        ["u4"],
        target="sm_100a",
    )
    codes = [bits_of(Fraction(float(v)), "e2m1") for v in a[:5]]
    assert small.tolist() == [h << 4 | m for h, m in zip(codes, codes[::-1], strict=True)]


def test_words_are_packed_with_saturation() -> None:
    a, b, c = values(32), values(32), values(32)
    (found,) = apply("cvt.pack.sat.s16.s32 {x}, {a}, {b};", [a, b], ["u4"])

    def clip(v: int, low: int, high: int, bits: int) -> int:
        return min(max(signed(v, 32), low), high) & ((1 << bits) - 1)

    assert found.tolist() == [
        clip(int(x), -32768, 32767, 16) << 16 | clip(int(y), -32768, 32767, 16)
        for x, y in zip(a, b, strict=True)
    ]
    (found,) = apply("cvt.pack.sat.u8.s32.b32 {x}, {a}, {b}, {c};", [a, b, c], ["u4"])
    assert found.tolist() == [
        (int(z) << 16 | clip(int(x), 0, 255, 8) << 8 | clip(int(y), 0, 255, 8)) & 0xFFFFFFFF
        for x, y, z in zip(a, b, c, strict=True)
    ]


def stochastic(bits: int, random: int, cut: int, dtype: type) -> int:
    """A single rounded by the carry of random bits and its `cut` last ones, in integers."""
    up = ((bits & (1 << cut) - 1) + random >> cut) << cut
    whole = np.uint32((bits >> cut << cut) + up).view(np.float32)
    with np.errstate(over="ignore"):
        return int(whole.astype(dtype).view(np.uint16))


@pytest.mark.parametrize(
    ("name", "cut", "dtype"), [("f16", 13, np.float16), ("bf16", 16, ml_dtypes.bfloat16)]
)
def test_random_bits_that_carry_round_away_from_zero(name: str, cut: int, dtype: type) -> None:
    a, b = ((2 * RNG.standard_normal(128)).astype(np.float32) for _ in "ab")
    a[:3], b[:3] = (65519, -65504.5, 1.0), (3.4e38, -1.0, 0.0)
    random = RNG.integers(0, 1 << 32, 128, dtype=np.uint64).astype(np.uint32)
    random[:2] = 0xFFFFFFFF, 0
    given = [a.view(np.uint32), b.view(np.uint32), random]
    text = f"cvt.rs.{name}x2.f32 {{x}}, {{a}}, {{b}}, {{c}};"
    (found,) = apply(text, given, ["u4"], target="sm_100a", version="8.7")
    low = (1 << cut) - 1
    wanted = [
        stochastic(int(x), int(r) >> 16 & low, cut, dtype) << 16
        | stochastic(int(y), int(r) & low, cut, dtype)
        for x, y, r in zip(*given, strict=True)
    ]
    assert found.tolist() == wanted
    text = text.replace("rs.", "rs.relu.satfinite.")
    (found,) = apply(text, given, ["u4"], target="sm_100a", version="8.7")
    with np.errstate(over="ignore"):
        halves = np.array(wanted, np.uint32).view(np.uint16).view(dtype).astype(np.float32)
    largest = 65504 if name == "f16" else float(ml_dtypes.finfo(dtype).max)
    clipped = np.clip(halves, 0, largest).astype(dtype).view(np.uint16).view(np.uint32)
    assert found.tolist() == clipped.tolist()


def test_random_bits_of_four_elements_are_refused() -> None:
    a = words("f32", 32)
    text = "cvt.rs.satfinite.e4m3x4.f32 {x}, {{a}, {b}, {a}, {b}}, {c};"
    with pytest.raises(PtxError, match=r"cvt.rs to .e4m3x4 is not emulated: PTX ISA 9.7.9.21"):
        apply(text, [a, a, a], ["u4"], target="sm_100a", version="8.7")
