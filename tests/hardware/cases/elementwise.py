"""Single-thread instructions in every form of the instruction tables.

Instructions with the same inputs share a kernel, which writes a row of 64-bit words for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from hardware.cases.case import Array, Case, Near, kernel_text, pointers
from hardware.cases.inputs import COUNT, inputs_of

from tileas_xdsl.target.arch import get_target
from tileas_xdsl.target.isa.kinds import BITS
from tileas_xdsl.target.isa.table import TABLE
from tileas_xdsl.target.isa.views import (
    ARITHMETIC,
    COMPARISONS,
    CONVERSIONS,
    COUNT_OPERANDS,
    PACKINGS,
    Conversion,
    Form,
)

APPROXIMATE = ("approx", "full")
ERRORS: Mapping[tuple[str, str], tuple[float, float, float]] = {
    ("div", "f32"): (2.0**-22, 0, 0),
    ("rcp", "f32"): (2.0**-22, 0, 0),
    ("sqrt", "f32"): (2.0**-22, 0, 0),
    ("rsqrt", "f32"): (2.0**-21.9, 0, 0),
    ("rsqrt", "f64"): (2.0**-19, 0, 0),
    ("ex2", "f32"): (2.0**-21.5, 0, 0),
    ("lg2", "f32"): (2.0**-22, 2.0**-21.6, 0),
    ("sin", "f32"): (0, 2.0**-20, 2.0**-21),
    ("cos", "f32"): (0, 2.0**-20, 2.0**-21),
    ("tanh", "f32"): (2.0**-10.9, 0, 0),
    ("ex2", "f16"): (2.0**-9, 2.0**-24, 0),
    ("tanh", "f16"): (2.0**-9, 2.0**-10, 0),
    ("ex2", "bf16"): (2.0**-6, 0, 0),
    ("tanh", "bf16"): (2.0**-7, 0, 0),
}
"""Error bounds of approximate instructions by operation and type.

They are relative, absolute, and relative to the input. Source: PTX ISA 9.7.3 and 9.7.4, with
headroom for the rounding of the emulator's result.
"""


def _near(text: str, type_: str) -> Near:
    return Near(type_, *ERRORS[text.split(".")[0], type_.removesuffix("x2")])


THREADS = 128


@dataclass(frozen=True)
class Row:
    """One instruction: `{x}` is its result, `{a}`, `{b}`, `{c}`, `{d}` its inputs."""

    text: str
    bits: int
    """Width of the result in bits; 1 for a predicate."""


def rows_case(family: str, name: str, rows: Sequence[Row], inputs: Sequence[Array]) -> Case:
    """Return a kernel that runs many instructions on the same inputs (of one length)."""
    count = len(inputs[0])
    lines = [
        ".reg .b32 %t, %n; .reg .b64 %o, %p, %out; .reg .pred %xp;",
        ".reg .b16 %x16, %x8; .reg .b32 %x32, %s; .reg .b64 %x64;",
        f"mov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x; mad.lo.u32 %t, %n, {THREADS}, %t;",
        "ld.param.u64 %out, [OUT]; mul.wide.u32 %o, %t, 8; add.u64 %out, %out, %o;",
    ]
    for letter, array in zip("abcd", inputs, strict=False):
        bits = 8 * array.dtype.itemsize
        lines += [
            f".reg .b{max(bits, 16)} %{letter}; ld.param.u64 %p, [P{letter}];",
            f"mul.wide.u32 %o, %t, {bits // 8}; add.u64 %p, %p, %o;",
            f"ld.global.{'u8' if bits == 8 else f'b{bits}'} %{letter}, [%p];",
        ]
    for number, row in enumerate(rows):
        register = {1: "%xp", 8: "%x16"}.get(row.bits, f"%x{row.bits}")
        words = dict(zip("abcd", ("%a", "%b", "%c", "%d"), strict=True), x=register)
        lines += [row.text.format(**words), *_widened(row.bits)]
        lines.append(f"st.global.b64 [%out+{number * count * 8}], %x64;")
    names = [f"P{letter}" for letter, _ in zip("abcd", inputs, strict=False)]
    text = kernel_text("\n".join([*lines, "ret;"]), pointers([*names, "OUT"]))
    out = np.zeros((len(rows), count), np.uint64)
    described = [row.text.split()[0] for row in rows]
    arguments = (*inputs, out)
    return Case(family, name, text, arguments, count // THREADS, THREADS, rows=described)


def _widened(bits: int) -> Sequence[str]:
    """Return code that extends the result to 64 bits."""
    if bits == 1:
        return ("selp.b64 %x64, 1, 0, %xp;",)
    if bits == 64:
        return ()
    register = "%x16" if bits == 8 else f"%x{bits}"
    return (f"cvt.u64.u{max(bits, 16)} %x64, {register};",)


# Arithmetic.


def arithmetic_cases() -> Iterator[Case]:
    """Yield every operation with every type, rounding and flag; approximations separately."""
    by_type: dict[str, list[Row]] = {}
    for name, forms in ARITHMETIC.items():
        for type_, form in forms.items():
            if form.requirement.capability > 90 or type_ == "pred":
                continue
            rows = by_type.setdefault(_inputs_key(name, type_), [])
            rows += [Row(*made) for made in _arithmetic(name, type_, form)]
    for key, rows in by_type.items():
        kinds = key.split()
        inputs = [_arithmetic_input(kind, f"{key} {n}") for n, kind in enumerate(kinds)]
        exact = [row for row in rows if not any(word in row.text for word in APPROXIMATE)]
        if exact:
            yield rows_case("arithmetic", key, exact, inputs)
        approximate = [row for row in rows if row not in exact]
        if approximate:
            made = rows_case("approximations", key, approximate, inputs)
            yield replace(made, near=[_near(row.text, kinds[0]) for row in approximate])


HOPPER = get_target("sm_90a")

OPERANDS: Mapping[str, int] = {
    **dict.fromkeys(("mad", "fma", "bfe", "prmt"), 3),
    "bfi": 4,
    **dict.fromkeys(("abs", "neg", "not", "popc", "clz", "brev", "sqrt", "rcp", "rsqrt"), 1),
    **dict.fromkeys(("ex2", "lg2", "sin", "cos", "tanh"), 1),
}
"""Operand count of each operation that does not take two."""


FIELDS = "u8"
"""Operand type of bfe and bfi for positions and lengths: PTX defines only values below 256."""


def _arithmetic_input(kind: str, name: str) -> Array:
    if kind == FIELDS:
        return inputs_of("b8", name).astype(np.uint32)
    return inputs_of(kind, name)


def _inputs_key(name: str, type_: str) -> str:
    """Return the input types; operations with fewer operands use a prefix of the list."""
    if name == "bfi":
        return f"{type_} {type_} {FIELDS} {FIELDS}"
    if name == "bfe":
        return f"{type_} {FIELDS} {FIELDS}"
    if name in COUNT_OPERANDS:
        return f"{type_} b32 b32"
    return f"{type_} {type_} {type_}"


NOT_MEASURED = re.compile(
    r"rcp\.approx\.ftz\.f64|cvt\.\S*(bf16\.(bf16|f16|f64)|(f16|f64)\.bf16)$"
    r"|cvt\.r[mp]\.\S*f16\.f32|cvt\.\S*(rn|rz|rm|rp|ftz)\.f32\.bf16|cvt\.\S*bf16x2$"
)
"""Valid forms for which no recorded results exist."""


def _is_measured(opcode: str) -> bool:
    is_legal = any(form.requirement.met_by(HOPPER) for form in TABLE.find(opcode))
    return is_legal and not NOT_MEASURED.search(opcode)


def _arithmetic(name: str, type_: str, form: Form) -> Iterator[tuple[str, int]]:
    operands = OPERANDS.get(name, 2)
    flags = [("",), *((flag,) for flag in form.flags), tuple(form.flags)]
    flags = [choice for choice in dict.fromkeys(flags) if not {"sat", "relu"} <= set(choice)]
    for mode, rounding, flag in product(form.modes, form.roundings, flags):
        if not set(form.needed) <= set(flag):
            continue
        words = [name, mode, rounding, *(w for w in ("ftz", "nan", "sat", "relu") if w in flag)]
        head = ".".join(word.replace("nan", "NaN") for word in [*words, type_] if word)
        if (mode == "wide" and operands == 3) or not _is_measured(head):
            continue
        bits = 32 if name in ("popc", "clz") else BITS[type_] * (2 if mode == "wide" else 1)
        letters = ", ".join(f"{{{letter}}}" for letter in "abcd"[:operands])
        yield f"{head} {{x}}, {letters};", bits


# Conversions.


def conversion_cases() -> Iterator[Case]:
    """Yield every pair of types with every rounding, saturation and flag."""
    by_source: dict[str, list[Row]] = {}
    for (to, source), form in CONVERSIONS.items():
        for head in _heads(to, form):
            if not _is_measured(f"{head}.{source}"):
                continue
            row = Row(f"{head}.{source} {{x}}, {{a}};", _register(to))
            by_source.setdefault(source, []).append(row)
    for source, rows in by_source.items():
        yield rows_case("conversions", f"from {source}", rows, [inputs_of(source, "cvt")])
    pairs = [
        Row(f"{head}.f32 {{x}}, {{a}}, {{b}};", _register(to))
        for to, form in PACKINGS.items()
        for head in _heads(to, form)
        if _is_measured(f"{head}.f32")
    ]
    inputs = [inputs_of("f32", "first"), inputs_of("f32", "second")]
    yield rows_case("conversions", "of two f32", pairs, inputs)


def _register(to: str) -> int:
    return {"tf32": 32, "u8": 16, "s8": 16}.get(to, BITS.get(to, 16))


def _heads(to: str, form: Conversion) -> Iterator[str]:
    flags = [("",), *(("ftz",),) * form.ftz, *(("relu",),) * form.relu]
    for rounding, saturation, (flag,) in product(form.roundings, form.saturations, flags):
        if (flag, saturation) in (("relu", "sat"), ("ftz", "satfinite")):
            continue
        if (flag, rounding) == ("relu", "rna") or (
            to == "tf32" and saturation and rounding != "rna"
        ):
            continue
        last = (saturation, flag) if to.startswith("e") else (flag, saturation)
        words = ("cvt", rounding, *((flag, saturation) if flag == "ftz" else last), to)
        yield ".".join(word for word in words if word)


# Comparisons.


def comparison_cases() -> Iterator[Case]:
    """Yield every comparison of every type."""
    for type_, words in COMPARISONS.items():
        flushes = ("", ".ftz") if type_ in ("f16", "f32") else ("",)
        rows = [
            Row(f"setp.{word}{ftz}.{type_} {{x}}, {{a}}, {{b}};", 1)
            for word, ftz in product(words, flushes)
        ]
        first, other = (inputs_of(type_, f"setp {n}") for n in range(2))
        second = np.where(np.arange(COUNT) % 4 == 0, first, other)
        yield rows_case("comparisons", type_, rows, [first, second])
