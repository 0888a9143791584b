"""Logic, shifts, fields and counts against Python's integers."""

import numpy as np
import pytest
from interpreters.ptx.harness import apply

from tests.interpreters.ptx.instructions.elementwise.test_integers import RNG, check, signed


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_logic(bits: int) -> None:
    both = (bits, bits)
    check(f"and.b{bits} {{x}}, {{a}}, {{b}};", both, bits, lambda a, b: a & b)
    check(f"or.b{bits} {{x}}, {{a}}, {{b}};", both, bits, lambda a, b: a | b)
    check(f"xor.b{bits} {{x}}, {{a}}, {{b}};", both, bits, lambda a, b: a ^ b)
    check(f"not.b{bits} {{x}}, {{a}};", (bits,), bits, lambda a: ~a)
    check(f"cnot.b{bits} {{x}}, {{a}};", (bits,), bits, lambda a: int(a == 0))


@pytest.mark.parametrize("table", [0x00, 0xFF, 0x80, 0xE8, 0x96, 0x1B, 0xCA])
def test_any_function_of_three_bits(table: int) -> None:
    def oracle(a: int, b: int, c: int) -> int:
        return sum(
            (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i
            for i in range(32)
        )

    check(f"lop3.b32 {{x}}, {{a}}, {{b}}, {{c}}, {table};", (32, 32, 32), 32, oracle)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_shifts_past_the_end(bits: int) -> None:
    check(f"shl.b{bits} {{x}}, {{a}}, {{b}};", (bits, 32), bits, lambda a, b: a << min(b, bits))
    check(f"shr.u{bits} {{x}}, {{a}}, {{b}};", (bits, 32), bits, lambda a, b: a >> min(b, bits))
    check(
        f"shr.s{bits} {{x}}, {{a}}, {{b}};",
        (bits, 32),
        bits,
        lambda a, b: signed(a, bits) >> min(b, bits),
    )


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_funnels(mode: str) -> None:
    def amount(c: int) -> int:
        return min(c, 32) if mode == "clamp" else c & 31

    check(
        f"shf.l.{mode}.b32 {{x}}, {{a}}, {{b}}, {{c}};",
        (32, 32, 32),
        32,
        lambda a, b, c: (b << 32 | a) << amount(c) >> 32,
    )
    check(
        f"shf.r.{mode}.b32 {{x}}, {{a}}, {{b}}, {{c}};",
        (32, 32, 32),
        32,
        lambda a, b, c: (b << 32 | a) >> amount(c),
    )


def field(a: int, position: int, length: int, bits: int, is_signed: bool) -> int:
    """The PTX ISA's own loop."""
    msb = bits - 1
    position, length = position & 255, length & 255
    top = a >> min(position + length - 1, msb) & 1
    sign = top if is_signed and length else 0
    found = 0
    for i in range(msb + 1):
        bit = a >> (position + i) & 1 if i < length and position + i <= msb else sign
        found |= bit << i
    return found


@pytest.mark.parametrize("type_", ["u32", "s32", "u64", "s64"])
def test_fields_are_extracted(type_: str) -> None:
    bits = int(type_[1:])
    check(
        f"bfe.{type_} {{x}}, {{a}}, {{b}}, {{c}};",
        (bits, 32, 32),
        bits,
        lambda a, b, c: field(a, b, c, bits, type_[0] == "s"),
    )


@pytest.mark.parametrize("bits", [32, 64])
def test_fields_are_inserted(bits: int) -> None:
    def oracle(a: int, b: int, c: int, d: int) -> int:
        position, length, found = c & 255, d & 255, b
        for i in range(length):
            if position + i < bits:
                place = position + i
                found = found & ~(1 << place) | (a >> i & 1) << place
        return found

    check(f"bfi.b{bits} {{x}}, {{a}}, {{b}}, {{c}}, {{d}};", (bits, bits, 32, 32), bits, oracle)


def test_masks_and_extensions() -> None:
    def ones(n: int) -> int:
        return (1 << n) - 1

    check(
        "bmsk.clamp.b32 {x}, {a}, {b};",
        (32, 32),
        32,
        lambda a, b: ones(min(b, 32)) << a if a < 32 else 0,
    )
    check("bmsk.wrap.b32 {x}, {a}, {b};", (32, 32), 32, lambda a, b: ones(b & 31) << (a & 31))
    check("szext.clamp.u32 {x}, {a}, {b};", (32, 32), 32, lambda a, b: a & ones(min(b, 32)))

    def extend(a: int, b: int) -> int:
        n = b & 31
        low = a & ones(n)
        return signed(low, n) if n else 0

    check("szext.wrap.s32 {x}, {a}, {b};", (32, 32), 32, extend)


@pytest.mark.parametrize("bits", [32, 64])
def test_counts(bits: int) -> None:
    check(f"popc.b{bits} {{x}}, {{a}};", (bits,), 32, lambda a: a.bit_count())
    check(f"clz.b{bits} {{x}}, {{a}};", (bits,), 32, lambda a: bits - a.bit_length())
    check(f"brev.b{bits} {{x}}, {{a}};", (bits,), bits, lambda a: int(f"{a:0{bits}b}"[::-1], 2))
    check(f"bfind.u{bits} {{x}}, {{a}};", (bits,), 32, lambda a: a.bit_length() - 1)
    check(
        f"bfind.shiftamt.s{bits} {{x}}, {{a}};",
        (bits,),
        32,
        lambda a: _shift_amount(signed(a, bits), bits),
    )


def _shift_amount(a: int, bits: int) -> int:
    place = (~a if a < 0 else a).bit_length() - 1
    return bits - 1 - place if place >= 0 else -1


def test_the_nth_bit() -> None:
    def oracle(mask: int, base: int, offset: int) -> int:
        base &= 31
        offset = offset % 9 - 4
        places = range(base, 32) if offset >= 0 else range(base, -1, -1)
        found = [p for p in places if mask >> p & 1]
        if offset == 0:
            return base if mask >> base & 1 else -1
        return found[abs(offset) - 1] if len(found) >= abs(offset) else -1

    text = """
    .reg .b32 %u<3>;
    and.b32 %u0, {b}, 31; rem.u32 %u1, {c}, 9; sub.s32 %u1, %u1, 4;
    fns.b32 {x}, {a}, %u0, %u1;
    """
    check(text, (32, 32, 32), 32, oracle)


def test_bytes_are_permuted() -> None:
    def oracle(a: int, b: int, c: int) -> int:
        both, found = a | b << 32, 0
        for i in range(4):
            selector = c >> 4 * i & 15
            byte = both >> 8 * (selector & 7) & 255
            if selector & 8:
                byte = 255 if byte & 128 else 0
            found |= byte << 8 * i
        return found

    check("prmt.b32 {x}, {a}, {b}, {c};", (32, 32, 32), 32, oracle)


@pytest.mark.parametrize("mode", ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"])
def test_modes_of_permutation(mode: str) -> None:
    """Each mode is one selector of the plain form, by the table of the PTX ISA."""
    selectors = {
        "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
        "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
        "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
        "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
        "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
        "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
    }[mode]
    a, b = RNG.integers(0, 1 << 32, (2, 32), dtype=np.uint32)
    c = RNG.integers(0, 4, 32, dtype=np.uint32)
    (found,) = apply(f"prmt.b32.{mode} {{x}}, {{a}}, {{b}}, {{c}};", [a, b, c], ["u4"])
    plain = np.array([selectors[i] for i in c], np.uint32)
    (wanted,) = apply("prmt.b32 {x}, {a}, {b}, {c};", [a, b, plain], ["u4"])
    assert found.tolist() == wanted.tolist()
