"""Video instructions: every operation, type, saturation, second operation and part of the result.

Operands are whole words, halves and bytes in turn, so that every form meets several selectors.
Source of the forms: PTX ISA 9.7.17 and 9.7.18.

The instructions are what a compiler makes of them: ptxas 13.5 compiles these, since the compiler of
the driver that was there writes the upper half of results to `%d.h1` in 135 of 1,760.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, product

from hardware.cases.case import Case
from hardware.cases.elementwise import Row, rows_case
from hardware.cases.inputs import inputs_of

WORDS = ("u32", "s32")
TYPES = tuple(product(WORDS, WORDS))
LAST = ("", ".add", ".min", ".max", "b0", "b3", "h0", "h1")
"""A second operation, or the part of the result that is written."""

PARTS = (("", ""), ("", ""), ("b0", "h1"), ("h0", ""), ("", "b3"), ("h1", "b2"), ("b1", "b1"))
"""Selectors of both operands, in turn."""

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
BRACES = str.maketrans("", "", "{};")
MAX_ROWS = 64
"""Instructions in one kernel."""


def video_cases() -> Iterator[Case]:
    """Yield kernels of every form."""
    families = {
        "sums": _sums(), "shifts": _shifts(), "vset": _comparisons(), "vmad": _products(),
        "vectors": _vectors(),
    }  # fmt: skip
    inputs = [inputs_of("b32", f"video {letter}") for letter in "abc"]
    for name, made_texts in families.items():
        texts = [*made_texts]
        rows = [Row(text, 32) for text in texts]
        for first in range(0, len(rows), MAX_ROWS):
            some = rows[first : first + MAX_ROWS]
            made = rows_case("video", f"{name} {first // MAX_ROWS}", some, inputs)
            described = [text.translate(BRACES) for text in texts[first : first + MAX_ROWS]]
            yield replace(made, by_ptxas=True, rows=described)


def _scalar(heads: Sequence[str]) -> Iterator[str]:
    parts = cycle(PARTS)
    for head, last in product(heads, LAST):
        a, b = (f".{part}" if part else "" for part in next(parts))
        second, selected = (last, "") if last[:1] == "." else ("", last and f".{last}")
        third = ", {c}" if last else ""
        yield f"{head}{second} {{x}}{selected}, {{a}}{a}, {{b}}{b}{third};"


def _sums() -> Iterator[str]:
    names = ("vadd", "vsub", "vabsdiff", "vmin", "vmax")
    return _scalar(
        [
            f"{name}.{to}.{a}.{b}{sat}"
            for name, to, (a, b), sat in product(names, WORDS, TYPES, ("", ".sat"))
        ]
    )


def _shifts() -> Iterator[str]:
    return _scalar(
        [
            f"{name}.{to}.{a}.u32{sat}.{mode}"
            for name, (to, a), sat, mode in product(
                ("vshl", "vshr"), TYPES, ("", ".sat"), ("clamp", "wrap")
            )
        ]
    )


def _comparisons() -> Iterator[str]:
    return _scalar([f"vset.{a}.{b}.{word}" for (a, b), word in product(TYPES, COMPARISONS)])


def _products() -> Iterator[str]:
    parts = cycle(PARTS)
    signs = (("", "", ""), ("-", "", ""), ("", "-", ""), ("", "", "-"), ("-", "-", ""))
    for to, (a, b), sat, scale in product(WORDS, TYPES, ("", ".sat"), ("", ".shr7", ".shr15")):
        for number, (x, y, z) in enumerate((("", "", ""), *signs)):
            po = ".po" if number == 0 else ""
            first, second = (f".{part}" if part else "" for part in next(parts))
            yield (
                f"vmad.{to}.{a}.{b}{po}{sat}{scale} {{x}}, {x}{{a}}{first}, {y}{{b}}{second}, "
                f"{z}{{c}};"
            )


def _vectors() -> Iterator[str]:
    parts = {2: cycle(("", ".h32", ".h01")), 4: cycle(("", ".b7654", ".b0246", ".b3333"))}
    masks = {2: cycle(("", ".h0", ".h1")), 4: cycle(("", ".b0", ".b31", ".b210"))}
    names = ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax")
    heads = [
        *product((f"{name}{{}}.{to}" for name, to in product(names, WORDS)), ("", ".sat", ".add")),
        *product(
            ("vset{}",), tuple(f".{word}{add}" for word in COMPARISONS for add in ("", ".add"))
        ),
    ]
    for count, (head, last), (a, b) in product((2, 4), heads, TYPES):
        mask, first, second = next(masks[count]), next(parts[count]), next(parts[count])
        yield f"{head.format(count)}.{a}.{b}{last} {{x}}{mask}, {{a}}{first}, {{b}}{second}, {{c}};"
