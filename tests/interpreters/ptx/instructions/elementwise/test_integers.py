"""Integer instructions against Python's integers, on random and special values."""

from collections.abc import Callable

import numpy as np
import pytest
from interpreters.ptx.harness import apply

from tileas_xdsl.interpreters.ptx import PtxError

RNG = np.random.default_rng(0)


def values(bits: int, count: int = 96) -> np.ndarray:
    """Return random words, including values at which arithmetic wraps around."""
    special = [0, 1, 2, 3, 31, 32, 33, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1]
    words = RNG.integers(0, 1 << bits, count, dtype=np.uint64)
    small = RNG.integers(0, 40, count // 4, dtype=np.uint64)
    found = np.concatenate([np.array(special, np.uint64), small, words])
    return RNG.permutation(found)[:count].astype(f"u{bits // 8}")


def signed(word: int, bits: int) -> int:
    return word - (1 << bits) if word >> (bits - 1) else word


def check(
    instruction: str,
    bits: tuple[int, ...],
    result: int,
    oracle: Callable[..., int],
) -> None:
    """The instruction equals the oracle, for divergent and for uniform lanes."""
    inputs = [values(b) for b in bits]
    wanted = [oracle(*map(int, row)) & ((1 << result) - 1) for row in zip(*inputs, strict=True)]
    (found,) = apply(instruction, inputs, [f"u{result // 8}"])
    assert found.tolist() == wanted
    for i in range(3):
        (alike,) = apply(instruction, [a[i : i + 1] for a in inputs], [found.dtype], uniform=True)
        assert alike.tolist() == [wanted[i]] * 32


def towards_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


SIMPLE = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "min": min,
    "max": max,
    "div": lambda a, b: towards_zero(a, b) if b else -1,
    "rem": lambda a, b: a - b * towards_zero(a, b) if b else -1,
}


@pytest.mark.parametrize("name", SIMPLE)
@pytest.mark.parametrize("type_", ["u16", "u32", "u64", "s16", "s32", "s64"])
def test_arithmetic_of_two(name: str, type_: str) -> None:
    bits, is_signed = int(type_[1:]), type_[0] == "s"

    def oracle(a: int, b: int) -> int:
        if is_signed:
            a, b = signed(a, bits), signed(b, bits)
        return SIMPLE[name](a, b)

    check(f"{name}.{type_} {{x}}, {{a}}, {{b}};", (bits, bits), bits, oracle)


@pytest.mark.parametrize("type_", ["u16", "u32", "u64", "s16", "s32", "s64"])
def test_high_and_wide_products(type_: str) -> None:
    bits = int(type_[1:])
    read = (lambda v: signed(v, bits)) if type_[0] == "s" else (lambda v: v)
    check(
        f"mul.hi.{type_} {{x}}, {{a}}, {{b}};",
        (bits, bits),
        bits,
        lambda a, b: read(a) * read(b) >> bits,
    )
    check(
        f"mad.hi.{type_} {{x}}, {{a}}, {{b}}, {{c}};",
        (bits, bits, bits),
        bits,
        lambda a, b, c: (read(a) * read(b) >> bits) + c,
    )
    if bits < 64:
        check(
            f"mul.wide.{type_} {{x}}, {{a}}, {{b}};",
            (bits, bits),
            2 * bits,
            lambda a, b: read(a) * read(b),
        )
        check(
            f"mad.wide.{type_} {{x}}, {{a}}, {{b}}, {{c}};",
            (bits, bits, 2 * bits),
            2 * bits,
            lambda a, b, c: read(a) * read(b) + c,
        )


def test_saturating_sums() -> None:
    def clamp(x: int) -> int:
        return min(max(x, -(1 << 31)), (1 << 31) - 1)

    for name, sign in (("add", 1), ("sub", -1)):
        check(
            f"{name}.sat.s32 {{x}}, {{a}}, {{b}};",
            (32, 32),
            32,
            lambda a, b, s=sign: clamp(signed(a, 32) + s * signed(b, 32)),
        )


@pytest.mark.parametrize("type_", ["u32", "s32"])
def test_products_of_24_bits(type_: str) -> None:
    def cut(v: int) -> int:
        low = v & 0xFFFFFF
        return signed(low, 24) if type_ == "s32" else low

    check(f"mul24.lo.{type_} {{x}}, {{a}}, {{b}};", (32, 32), 32, lambda a, b: cut(a) * cut(b))
    check(
        f"mad24.hi.{type_} {{x}}, {{a}}, {{b}}, {{c}};",
        (32, 32, 32),
        32,
        lambda a, b, c: (cut(a) * cut(b) >> 16) + c,
    )


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_signs_and_differences(bits: int) -> None:
    check(f"neg.s{bits} {{x}}, {{a}};", (bits,), bits, lambda a: -a)
    check(f"abs.s{bits} {{x}}, {{a}};", (bits,), bits, lambda a: abs(signed(a, bits)))
    check(
        f"sad.s{bits} {{x}}, {{a}}, {{b}}, {{c}};",
        (bits,) * 3,
        bits,
        lambda a, b, c: abs(signed(a, bits) - signed(b, bits)) + c,
    )
    check(
        f"sad.u{bits} {{x}}, {{a}}, {{b}}, {{c}};",
        (bits,) * 3,
        bits,
        lambda a, b, c: abs(a - b) + c,
    )


def parts(word: int, bits: int, read: str) -> list[int]:
    found = [word >> i & ((1 << bits) - 1) for i in range(0, 32, bits)]
    return [signed(p, bits) for p in found] if read == "s32" else found


@pytest.mark.parametrize("a_type", ["u32", "s32"])
@pytest.mark.parametrize("b_type", ["u32", "s32"])
def test_dot_products_of_bytes(a_type: str, b_type: str) -> None:
    check(
        f"dp4a.{a_type}.{b_type} {{x}}, {{a}}, {{b}}, {{c}};",
        (32, 32, 32),
        32,
        lambda a, b, c: (
            c + sum(x * y for x, y in zip(parts(a, 8, a_type), parts(b, 8, b_type), strict=True))
        ),
    )
    for half, first in (("lo", 0), ("hi", 2)):
        check(
            f"dp2a.{half}.{a_type}.{b_type} {{x}}, {{a}}, {{b}}, {{c}};",
            (32, 32, 32),
            32,
            lambda a, b, c, k=first: (
                c
                + sum(
                    x * y
                    for x, y in zip(
                        parts(a, 16, a_type), parts(b, 8, b_type)[k : k + 2], strict=True
                    )
                )
            ),
        )


def test_halves_of_words() -> None:
    def of_halves(function: Callable[[int, int], int], read: Callable[[int], int]):
        def whole(a: int, b: int) -> int:
            low = function(read(a & 0xFFFF), read(b & 0xFFFF)) & 0xFFFF
            return low | (function(read(a >> 16), read(b >> 16)) & 0xFFFF) << 16

        return whole

    def as_signed(v: int) -> int:
        return signed(v, 16)

    check("add.u16x2 {x}, {a}, {b};", (32, 32), 32, of_halves(lambda a, b: a + b, int))
    check("min.s16x2 {x}, {a}, {b};", (32, 32), 32, of_halves(min, as_signed))
    check("max.u16x2 {x}, {a}, {b};", (32, 32), 32, of_halves(max, int))


@pytest.mark.parametrize("opcode", ["add.s16x2", "max.u16x2", "add.f16x2"])
def test_pairs_have_no_literals(opcode: str) -> None:
    with pytest.raises(PtxError, match="is a register, not a literal"):
        apply(f"{opcode} {{x}}, {{a}}, 5;", [np.arange(4, dtype=np.uint32)], [np.uint32])


def test_carries_run_through_words() -> None:
    text = """
    .reg .b32 %l<6>;
    mov.b64 {%l0, %l1}, {a}; mov.b64 {%l2, %l3}, {b};
    OP1 %l4, %l0, %l2; OP2 %l5, %l1, %l3;
    mov.b64 {x}, {%l4, %l5};
    """
    for first, second, sign in (("add.cc.u32", "addc.u32", 1), ("sub.cc.u32", "subc.u32", -1)):
        check(
            text.replace("OP1", first).replace("OP2", second),
            (64, 64),
            64,
            lambda a, b, s=sign: a + s * b,
        )
    product = """
    .reg .b32 %l<4>;
    mul.lo.u32 %l0, {a}, {b};
    mad.lo.cc.u32 %l1, {a}, {b}, {c};
    madc.hi.u32 %l2, {a}, {b}, 0;
    mov.b64 {x}, {%l1, %l2};
    """
    check(product, (32, 32, 32), 64, lambda a, b, c: a * b + c)
