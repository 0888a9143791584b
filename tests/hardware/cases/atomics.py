"""Atomics of every operation and type, on one address per lane and on a shared address."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from hardware.cases.case import Array, Case, kernel_text, pointers
from hardware.cases.inputs import inputs_of

from tileas_xdsl.target.isa.kinds import BITS

OPERATIONS = {
    **dict.fromkeys(("min", "max"), ("u32", "s32", "u64", "s64")),
    "add": ("u32", "s32", "u64", "f32", "f64"),
    **dict.fromkeys(("and", "or", "xor"), ("b32", "b64")),
    "exch": ("b32", "b64"),
    "cas": ("b16", "b32", "b64"),
    **dict.fromkeys(("inc", "dec"), ("u32",)),
}
HALVES = ("f16", "f16x2", "bf16", "bf16x2")
THREADS = 128


def atomic_cases() -> Iterator[Case]:
    """Yield a case per operation, type and state space; returned old values are compared too."""
    forms = [(name, type_) for name, types in OPERATIONS.items() for type_ in types]
    halves = [("add.noftz", type_) for type_ in HALVES]
    for (name, type_), space in product([*forms, *halves], ("global", "shared")):
        yield _atomic(name, type_, space)


def _atomic(name: str, type_: str, space: str) -> Case:
    bits = BITS[type_]
    size = bits // 8
    title = f"atom.{space}.{name}.{type_}"
    values = inputs_of(type_, f"{title} values", THREADS)
    places = inputs_of(type_, f"{title} places", THREADS)
    places[::3] = values[::3]
    place = "%b" if space == "global" else "%w"
    operands = "%v, %n" if name == "cas" else "%v"
    body = f"""
    .reg .b32 %t, %s; .reg .b64 %a, %b, %c, %o, %w; .reg .b{max(bits, 16)} %v, %d, %n;
    .shared .align 8 .b8 box[{8 * THREADS}];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, {size}; mov.u32 %s, box; cvt.u64.u32 %w, %s;
    add.u64 %w, %w, %o; ld.param.u64 %a, [A]; ld.param.u64 %b, [B]; ld.param.u64 %c, [C];
    add.u64 %a, %a, %o; add.u64 %b, %b, %o; add.u64 %c, %c, %o;
    ld.global.b{bits} %v, [%a]; ld.global.b{bits} %n, [%b]; st.shared.b{bits} [%w], %n;
    xor.b{bits} %n, %n, 1; bar.sync 0;
    atom.{space}.{name}.{type_} %d, [{place}], {operands};
    st.global.b{bits} [%c], %d;
    """
    if space == "shared":
        body += f"bar.sync 0; ld.shared.b{bits} %v, [%w]; st.global.b{bits} [%b], %v;"
    arguments: list[Array] = [values, places, np.zeros_like(values)]
    text = kernel_text(f"{body} ret;", pointers("ABC"))
    return Case("atomics", title, text, arguments, block=THREADS)
