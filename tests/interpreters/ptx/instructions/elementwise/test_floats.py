"""Floating-point arithmetic against exact fractions, rounded in every mode."""

import math
from fractions import Fraction

import numpy as np
import pytest
from interpreters.ptx.exact import FORMATS, bits_of, is_negative, value
from interpreters.ptx.harness import apply

RNG = np.random.default_rng(1)


def words(name: str, count: int = 64) -> np.ndarray:
    """Bits of a format: specials, numbers of like size, and anything."""
    f = FORMATS[name]
    top = 1 << (f.width - 1)
    special = [0, top, 1, top | 1, f.largest, top | f.largest, 1 << f.mantissa]
    special += [x | s for x in (f.infinity, f.nan) if x is not None for s in (0, top)]
    anything = RNG.integers(0, 1 << f.width, count // 2, dtype=np.uint64)
    plain = [bits_of(Fraction(float(x)), name) for x in RNG.standard_normal(count)]
    found = np.concatenate([np.array(special + plain, np.uint64), anything])
    size = max(f.width, 8) // 8
    return RNG.permutation(found)[:count].astype(f"u{size}")


def same(found: int, wanted: int, name: str) -> bool:
    """Equal bits, or NaN whatever its payload."""
    a, b = value(found, name), value(wanted, name)
    if isinstance(b, float) and math.isnan(b):
        return isinstance(a, float) and math.isnan(a)
    return found == wanted


def special(*numbers: Fraction | float) -> bool:
    return any(isinstance(n, float) and not math.isfinite(n) for n in numbers)


def zero_sum(a: Fraction | float, b: Fraction | float, mode: str) -> Fraction | float:
    """The sign of a sum of zeros, or of opposites."""
    both = is_negative(a) and is_negative(b)
    one = mode == "rm" and (is_negative(a) or is_negative(b) or (a != 0 and b != 0))
    return -0.0 if both or one else Fraction(0)


def exact_sum(a: Fraction | float, b: Fraction | float, mode: str) -> Fraction | float:
    if special(a, b):
        return float(a) + float(b) if special(a) and special(b) else (a if special(a) else b)
    total = Fraction(a) + Fraction(b)
    return total if total else zero_sum(a, b, mode)


def exact_product(a: Fraction | float, b: Fraction | float) -> Fraction | float:
    sign = -1 if is_negative(a) != is_negative(b) else 1
    if special(a, b):
        if any(isinstance(x, float) and math.isnan(x) for x in (a, b)) or a == 0 or b == 0:
            return math.nan
        return sign * math.inf
    found = Fraction(a) * Fraction(b)
    return found if found else (-0.0 if sign < 0 else Fraction(0))


def exact_quotient(a: Fraction | float, b: Fraction | float) -> Fraction | float:
    sign = -1 if is_negative(a) != is_negative(b) else 1
    if any(isinstance(x, float) and math.isnan(x) for x in (a, b)):
        return math.nan
    if special(a):
        return math.nan if special(b) else sign * math.inf
    if special(b) or a == 0:
        return math.nan if b == 0 else (-0.0 if sign < 0 else Fraction(0))
    return Fraction(a) / Fraction(b) if b != 0 else sign * math.inf


def negate(a: Fraction | float) -> Fraction | float:
    if isinstance(a, float):
        return -a
    return -a if a else -0.0


def compare(found: np.ndarray, wanted: list[int], name: str) -> None:
    wrong = [
        (i, hex(f), hex(w))
        for i, (f, w) in enumerate(zip(found.tolist(), wanted, strict=True))
        if not same(f, w, name)
    ]
    assert not wrong


MODES = {"f16": ("rn",), "bf16": ("rn",), "f32": ("rn", "rz", "rm", "rp"),
         "f64": ("rn", "rz", "rm", "rp")}  # fmt: skip

CASES = [(name, mode) for name, modes in MODES.items() for mode in modes]


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_sums_and_products(name: str, mode: str) -> None:
    a, b = words(name), words(name)
    pairs = [(value(int(x), name), value(int(y), name)) for x, y in zip(a, b, strict=True)]
    exact = {
        "add": [exact_sum(x, y, mode) for x, y in pairs],
        "sub": [exact_sum(x, negate(y), mode) for x, y in pairs],
        "mul": [exact_product(x, y) for x, y in pairs],
    }
    for operation, numbers in exact.items():
        (found,) = apply(f"{operation}.{mode}.{name} {{x}}, {{a}}, {{b}};", [a, b], [a.dtype])
        compare(found, [bits_of(n, name, mode) for n in numbers], name)
        (alike,) = apply(
            f"{operation}.{mode}.{name} {{x}}, {{a}}, {{b}};", [a, b], [a.dtype], uniform=True
        )
        assert same(int(alike[0]), int(found[0]), name)


def test_sums_with_an_immediate_cancel_to_negative_zero_if_rounded_down() -> None:
    a = np.float32([1.0, 2.0]).view(np.uint32)
    (found,) = apply("add.rm.f32 {x}, {a}, 0fBF800000;", [a], [a.dtype])
    assert found.tolist() == [0x80000000, 0x3F800000]


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_halves_added_to_singles(name: str, mode: str) -> None:
    a, c = words(name), words("f32")
    pairs = [(value(int(x), name), value(int(y), "f32")) for x, y in zip(a, c, strict=True)]
    text = f"add.{mode}.f32.{name} {{x}}, {{a}}, {{b}};"
    (found,) = apply(text, [a, c], [c.dtype], target="sm_100a")
    compare(found, [bits_of(exact_sum(x, y, mode), "f32", mode) for x, y in pairs], "f32")


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_fused_products(name: str, mode: str) -> None:
    a, b, c = words(name), words(name), words(name)
    # Products that almost cancel show a second rounding
    c[:16] = [
        bits_of(negate(exact_product(value(int(x), name), value(int(y), name))), name)
        for x, y in zip(a[:16], b[:16], strict=True)
    ]
    wanted = []
    for x, y, z in zip(a, b, c, strict=True):
        product = exact_product(value(int(x), name), value(int(y), name))
        wanted.append(bits_of(exact_sum(product, value(int(z), name), mode), name, mode))
    text = f"fma.{mode}.{name} {{x}}, {{a}}, {{b}}, {{c}};"
    (found,) = apply(text, [a, b, c], [a.dtype])
    compare(found, wanted, name)


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_quotients_and_roots(name: str, mode: str) -> None:
    a, b = words(name, 48), words(name, 48)
    pairs = [(value(int(x), name), value(int(y), name)) for x, y in zip(a, b, strict=True)]
    (found,) = apply(f"div.{mode}.{name} {{x}}, {{a}}, {{b}};", [a, b], [a.dtype])
    compare(found, [bits_of(exact_quotient(x, y), name, mode) for x, y in pairs], name)
    (found,) = apply(f"rcp.{mode}.{name} {{x}}, {{a}};", [a], [a.dtype])
    one = Fraction(1)
    compare(found, [bits_of(exact_quotient(one, x), name, mode) for x, _ in pairs], name)
    (found,) = apply(f"sqrt.{mode}.{name} {{x}}, {{a}};", [a], [a.dtype])
    for bits, (x, _) in zip(found.tolist(), pairs, strict=True):
        _check_root(bits, x, name, mode)


def _check_root(bits: int, x: Fraction | float, name: str, mode: str) -> None:
    root = value(bits, name)
    if x == 0 or (isinstance(x, float) and not math.isfinite(x) and x > 0):
        assert root == x
        return
    if is_negative(x) or (isinstance(x, float) and math.isnan(x)):
        assert isinstance(root, float)
        assert math.isnan(root)
        return
    below, above = value(bits - 1, name), value(bits + 1, name)
    square = Fraction(x)
    exact = Fraction(root) ** 2 == square
    if mode == "rp":
        assert exact or Fraction(below) ** 2 < square < Fraction(root) ** 2
    elif mode in ("rz", "rm"):
        assert exact or Fraction(root) ** 2 < square < Fraction(above) ** 2
    else:
        low, high = (Fraction(root) + Fraction(below)) / 2, (Fraction(root) + Fraction(above)) / 2
        assert low**2 <= square <= high**2


@pytest.mark.parametrize(("packed", "name"), [("f16x2", "f16"), ("bf16x2", "bf16")])
def test_packed_operations_work_on_each_half(packed: str, name: str) -> None:
    low, high = [words(name) for _ in range(3)], [words(name) for _ in range(3)]
    both = [
        h.astype(np.uint32) << np.uint32(16) | m.astype(np.uint32)
        for m, h in zip(low, high, strict=True)
    ]
    for operation, count in (("add.rn", 2), ("mul.rn", 2), ("fma.rn", 3), ("min", 2), ("neg", 1)):
        names = ", ".join("{" + letter + "}" for letter in "abc"[:count])
        (found,) = apply(f"{operation}.{packed} {{x}}, {names};", both[:count], ["u4"])
        for half, parts in ((0, low), (16, high)):
            (wanted,) = apply(f"{operation}.{name} {{x}}, {names};", parts[:count], ["u2"])
            compare(found >> np.uint32(half) & 0xFFFF, wanted.tolist(), name)


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("least", [True, False])
def test_the_smaller_and_the_larger(name: str, least: bool) -> None:
    a, b = words(name), words(name)
    operation = "min" if least else "max"
    for nan in ("", ".NaN") if name != "f64" else ("",):
        text = f"{operation}{nan}.{name} {{x}}, {{a}}, {{b}};"
        (found,) = apply(text, [a, b], [a.dtype])
        wanted = [
            _extreme(int(x), int(y), name, least, bool(nan)) for x, y in zip(a, b, strict=True)
        ]
        compare(found, wanted, name)


def _extreme(a: int, b: int, name: str, least: bool, nan: bool) -> int:
    x, y = value(a, name), value(b, name)
    bad = [isinstance(v, float) and math.isnan(v) for v in (x, y)]
    canonical = FORMATS[name].nan
    assert canonical is not None
    if all(bad) or (nan and any(bad)):
        return canonical
    if any(bad):
        return b if bad[0] else a
    key = [(v, not is_negative(v)) for v in (x, y)]
    return a if (key[0] <= key[1]) == least else b


def test_modes_of_single_arithmetic() -> None:
    a, b = words("f32"), words("f32")
    x, y = a.view(np.float32).astype(np.float64), b.view(np.float32).astype(np.float64)
    with np.errstate(all="ignore"):
        (found,) = apply("add.rn.sat.f32 {x}, {a}, {b};", [a, b], ["f4"])
        total = (x + y).astype(np.float32)
        assert found.tolist() == np.where(np.isnan(total), 0, np.clip(total, 0, 1)).tolist()
        tiny = np.array([1, 0x80000001, 0x3F800000, 0x00400000], np.uint32)
        (flushed,) = apply("mul.rn.ftz.f32 {x}, {a}, {b};", [tiny, tiny[::-1].copy()], ["u4"])
    assert flushed.tolist() == [0, 0x80000000, 0x80000000, 0]
    (signs,) = apply("copysign.f32 {x}, {a}, {b};", [a, b], ["u4"])
    assert signs.tolist() == ((a & 0x80000000) | (b & 0x7FFFFFFF)).tolist()


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("sin.approx.f32", np.sin),
        ("cos.approx.f32", np.cos),
        ("tanh.approx.f32", np.tanh),
    ],
)
def test_approximations_that_were_not_recorded_are_the_nearest_numbers(text: str, function) -> None:
    x = RNG.uniform(0.1, 8, 64).astype(np.float32)
    (found,) = apply(f"{text} {{x}}, {{a}};", [x], ["f4"])
    np.testing.assert_array_equal(found, function(x.astype(np.float64)).astype(np.float32))


def test_recorded_approximations_scale_and_flush() -> None:
    """Subnormal numbers are zeros with `.ftz`, and are scaled by ptxas without it."""
    x = np.array([-127.5, 1e-40, -1e-40, 3e38, 2.0, np.inf, np.nan], np.float32)
    (plain,) = apply("ex2.approx.f32 {x}, {a};", [x], ["f4"])
    (flushed,) = apply("ex2.approx.ftz.f32 {x}, {a};", [x], ["f4"])
    assert plain[0] == np.float32(2.0**-127.5)
    assert flushed[0] == 0
    assert plain[1:5].tolist() == flushed[1:5].tolist() == [1, 1, np.inf, 4]
    (plain,) = apply("rcp.approx.f32 {x}, {a};", [x], ["f4"])
    (flushed,) = apply("rcp.approx.ftz.f32 {x}, {a};", [x], ["f4"])
    assert plain[3] == np.float32(1 / 3e38)
    assert flushed[[1, 2, 3]].tolist() == [np.inf, -np.inf, 0]
    (bits,) = apply("rcp.approx.f32 {x}, {a};", [x], ["u4"])
    assert bits[6] == 0x7FFFFFFF


def test_approximate_quotients() -> None:
    a, b = RNG.uniform(-8, 8, (2, 256)).astype(np.float32)
    (reciprocal,) = apply("rcp.approx.ftz.f32 {x}, {a};", [b], ["f4"])
    for text in ("div.approx.f32", "div.approx.ftz.f32", "div.full.f32"):
        (found,) = apply(f"{text} {{x}}, {{a}}, {{b}};", [a, b], ["f4"])
        assert found.tolist() == (a * reciprocal).tolist()
    large = np.full(1, 2.0**127, np.float32)
    (full,) = apply("div.full.f32 {x}, {a}, {b};", [large, large], ["f4"])
    assert full.tolist() == [1]


def test_quotients_by_subnormal_numbers_are_what_an_h200_gives() -> None:
    a, b = (np.array([bits], np.uint32).view(np.float32) for bits in (0xB3AC9001, 0x00000001))
    for text, wanted in (("div.approx.f32", 0xFE2C9001), ("div.approx.ftz.f32", 0xFF800000)):
        (found,) = apply(f"{text} {{x}}, {{a}}, {{b}};", [a, b], ["u4"])
        assert found.tolist() == [wanted]
