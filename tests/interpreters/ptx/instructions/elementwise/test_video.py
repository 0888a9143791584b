"""Video instructions against what an H200 left, and the pseudo-code of the PTX ISA.

`video_h200.json` has a CRC of the 512 results of each of the 1,760 instructions of
`tests/hardware/cases/video.py`, which ptxas 13.5 compiled.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hardware.cases.case import Case
from hardware.cases.video import video_cases
from hardware.on_emulator import emulate
from interpreters.ptx.harness import apply

from tileas_xdsl.interpreters.ptx import PtxError

RECORDED = json.loads((Path(__file__).parents[2] / "data" / "video_h200.json").read_text())
CASES = [*video_cases()]

RNG = np.random.default_rng(47)
EDGES = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF]
WORDS = [np.array([*EDGES, *RNG.integers(0, 1 << 32, 117)], np.uint32) for _ in range(3)]
for words in WORDS[1:]:
    RNG.shuffle(words)


def part(word: int, selector: str, type_: str) -> int:
    """partSelectSignExtend."""
    bits = {"": 32, "b": 8, "h": 16}[selector[:1]]
    word = word >> bits * int(selector[1:] or 0) & ((1 << bits) - 1)
    return word - (1 << bits) if type_ == "s32" and word >> (bits - 1) else word


def clamp(value: int, bits: int, type_: str) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if type_ == "s32" else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def average(a: int, b: int) -> int:
    return (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1


OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
    "vavrg": average,
}


def run(opcode: str, d: str = "", a: str = "", b: str = "", *, third: bool = True) -> list[int]:
    """The results of an instruction whose operands have these selectors."""
    d, a, b = (f".{selector}" if selector else "" for selector in (d, a, b))
    text = f"{opcode} {{x}}{d}, {{a}}{a}, {{b}}{b}{', {c}' * third};"
    (found,) = apply(text, WORDS[: 2 + third], [np.uint32])
    return found.tolist()


def rows() -> list[tuple[int, int, int]]:
    return [(int(a), int(b), int(c)) for a, b, c in zip(*WORDS, strict=True)]


def check_recorded(case: Case) -> None:
    found = emulate(case)
    assert not isinstance(found, str), found
    rows = found[-1]
    assert rows is not None
    recorded = RECORDED[case.name]
    for number, (instruction, row) in enumerate(zip(case.rows, rows, strict=True)):
        crc = f"{zlib.crc32(row.astype('<u4').tobytes()):08x}"
        assert crc == recorded[8 * number : 8 * number + 8], instruction


@pytest.mark.parametrize("case", CASES[::5], ids=str)
def test_results_are_those_of_an_h200(case: Case) -> None:
    check_recorded(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_results_are_those_of_an_h200(case: Case) -> None:
    check_recorded(case)


@pytest.mark.parametrize(
    ("name", "types", "a", "b"),
    [
        ("vadd", ("u32", "u32", "u32"), "", ""),
        ("vsub", ("s32", "u32", "s32"), "b2", "h1"),
        ("vabsdiff", ("u32", "s32", "s32"), "", "b3"),
        ("vmin", ("s32", "s32", "u32"), "h0", ""),
        ("vmax", ("u32", "s32", "s32"), "b0", "b1"),
    ],
)
@pytest.mark.parametrize("saturates", [False, True])
def test_one_result(name: str, types: tuple[str, ...], a: str, b: str, saturates: bool) -> None:
    opcode = f"{name}.{'.'.join(types)}{'.sat' * saturates}"
    results = [OPERATIONS[name](part(x, a, types[1]), part(y, b, types[2])) for x, y, _ in rows()]
    if saturates:
        top = clamp(1 << 40, 32, types[0])
        results = [max(r, 0) if types[0] == "u32" else max(min(r, top), ~top) for r in results]
    assert run(opcode, "", a, b, third=False) == [r & 0xFFFF_FFFF for r in results]


@pytest.mark.parametrize("second", ["add", "min", "max"])
def test_a_second_operation(second: str) -> None:
    combinations: dict[str, Callable[[int, int], int]] = {
        "add": lambda t, c: t + c,
        "min": min,
        "max": max,
    }
    combine = combinations[second]
    wanted = [
        combine(clamp(part(a, "b1", "s32") - part(b, "h0", "u32"), 32, "s32"), part(c, "", "s32"))
        for a, b, c in rows()
    ]
    found = run(f"vsub.s32.s32.u32.sat.{second}", "", "b1", "h0")
    assert found == [w & 0xFFFF_FFFF for w in wanted]


@pytest.mark.parametrize(("target", "bits"), [("b2", 8), ("h1", 16)])
def test_a_part_of_the_result(target: str, bits: int) -> None:
    start, mask = bits * int(target[1]), (1 << bits) - 1
    wanted: list[int] = []
    for a, b, c in rows():
        result = part(a, "h1", "u32") - part(b, "h0", "s32")
        result = mask >> 1 if result < 0 else clamp(result, bits, "s32")
        wanted.append(c & ~(mask << start) | (result & mask) << start)
    assert run("vsub.s32.u32.s32.sat", target, "h1", "h0") == wanted


def test_products() -> None:
    wanted: list[int] = []
    for a, b, c in rows():
        product = part(a, "h1", "u32") * part(b, "b2", "s32")
        wanted.append(clamp((part(c, "", "s32") - product) >> 7, 32, "s32") & 0xFFFF_FFFF)
    text = "vmad.s32.u32.s32.sat.shr7 {x}, -{a}.h1, {b}.b2, {c};"
    (found,) = apply(text, WORDS, [np.uint32])
    assert found.tolist() == wanted


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
@pytest.mark.parametrize("left", [True, False])
def test_shifts(mode: str, left: bool) -> None:
    wanted: list[int] = []
    for a, b, _ in rows():
        value, by = part(a, "", "s32"), part(b, "b0", "u32")
        by = min(by, 32) if mode == "clamp" else by & 31
        wanted.append((value << by if left else value >> by) & 0xFFFF_FFFF)
    assert run(f"vsh{'lr'[not left]}.s32.s32.u32.{mode}", "", "", "b0", third=False) == wanted


def test_comparisons() -> None:
    compared = [int(part(a, "h1", "s32") < part(b, "b3", "u32")) for a, b, _ in rows()]
    assert run("vset.s32.u32.lt", "", "h1", "b3", third=False) == compared
    added = [(t + c) & 0xFFFF_FFFF for t, (_, _, c) in zip(compared, rows(), strict=True)]
    assert run("vset.s32.u32.lt.add", "", "h1", "b3") == added
    merged = [c & 0xFFFF_00FF | t << 8 for t, (_, _, c) in zip(compared, rows(), strict=True)]
    assert run("vset.s32.u32.lt", "b1", "h1", "b3") == merged


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("types", [("u32", "u32", "u32"), ("s32", "s32", "u32")])
@pytest.mark.parametrize(
    ("count", "mask", "a_part", "b_part"),
    [(2, "", "", ""), (2, "h1", "h12", "h30"), (4, "", "", ""), (4, "b20", "b7531", "b0462")],
)
@pytest.mark.parametrize("last", ["", "sat", "add"])
def test_vectors(
    name: str, types: tuple[str, ...], count: int, mask: str, a_part: str, b_part: str, last: str
) -> None:
    bits, letter = 32 // count, "hb"[count == 4]
    order_a = [int(d) for d in reversed(a_part[1:])] or list(range(count))
    order_b = [int(d) for d in reversed(b_part[1:])] or list(range(count, 2 * count))
    written = [int(d) for d in mask[1:]] or list(range(count))
    wanted: list[int] = []
    for a, b, c in rows():
        both = a | b << 32
        result = c
        for i in written:
            left, right = (
                part(both >> bits * order[i] & 0xFFFF_FFFF, f"{letter}0", type_)
                for order, type_ in ((order_a, types[1]), (order_b, types[2]))
            )
            one = OPERATIONS[name](left, right)
            one = clamp(one, bits, types[0]) if last == "sat" else one
            ones = (1 << bits) - 1
            result = result + one if last == "add" else (
                result & ~(ones << bits * i) | (one & ones) << bits * i)  # fmt: skip
        wanted.append(result & 0xFFFF_FFFF)
    opcode = f"{name}{count}.{'.'.join(types)}{f'.{last}' if last else ''}"
    assert run(opcode, mask, a_part, b_part) == wanted


def test_vectors_are_compared() -> None:
    wanted = [
        c + sum((a >> 8 * i & 255) >= (b >> 8 * i & 255) for i in range(4)) & 0xFFFF_FFFF
        for a, b, c in rows()
    ]
    assert run("vset4.u32.u32.ge.add") == wanted


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("vadd.u32.u32.u32 {x}, {a}.b4, {b};", r"vadd: .b4 is no byte or half of a word"),
        ("vadd.u32.u32.u32 {x}, {a}, {b}, {c};", "a third operand goes with a second operation"),
        ("vadd4.u32.u32.u32 {x}, {a}.h10, {b}, {c};", ".h10 does not select elements of two"),
        ("vadd2.u32.u32.u32 {x}, {a}.h4, {b}, {c};", ".h4 does not select elements of two"),
        ("vmad.u32.u32.u32 {x}, {a}, {b}, {c}.h1;", "only the factors are parts of words"),
        ("vmad.u32.u32.u32 {x}, -{a}, {b}, -{c};", "either the product or c is negated"),
        ("add.u32 {x}, {a}.h0, {b};", "an operand of type .u32 is expected"),
    ],
)
def test_what_is_refused(text: str, says: str) -> None:
    with pytest.raises(PtxError, match=says):
        apply(text, WORDS, [np.uint32])
