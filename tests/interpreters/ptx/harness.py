"""Kernels of one instruction: inputs from global memory, one thread an element, results back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tileas_xdsl.interpreters.ptx import Report, load, run

HEADER = ".version {version}\n.target {target}\n.address_size 64\n"

LETTERS = "abcdefgh"


def module(body: str, parameters: str = "", target: str = "sm_90a", version: str = "8.6") -> str:
    """A module of one kernel `k`; `body` stands between its braces."""
    header = HEADER.format(version=version, target=target)
    return f"{header}.visible .entry k({parameters})\n{{\n{body}\n}}\n"


def execute(
    body: str,
    parameters: str,
    arguments: Sequence[Any],
    *,
    block: Any = 32,
    grid: Any = 1,
    target: str = "sm_90a",
    version: str = "8.6",
    clean: bool = True,
    **options: Any,
) -> Report:
    """Run a kernel and check that nothing is wrong with it (unless not `clean`)."""
    text = module(body, parameters, target, version)
    report = run(load(text, "test.ptx"), "k", arguments, grid, block, **options)
    if clean:
        assert not report.findings, "\n".join(map(str, report.findings))
        assert report.finished
    return report


def pointers(names: Sequence[str]) -> str:
    """The declarations of so many pointers."""
    return ", ".join(f".param .u64 {name}" for name in names)


def apply(
    instruction: str,
    inputs: Sequence[np.ndarray],
    results: Sequence[Any],
    *,
    uniform: bool = False,
    **options: Any,
) -> list[np.ndarray]:
    """An instruction on each element of `inputs`, run; see `element_kernel`."""
    body, parameters, arguments = element_kernel(instruction, inputs, results, uniform=uniform)
    count = 32 if uniform else len(inputs[0])
    report = execute(body, parameters, arguments, block=count, **options)
    found = report.arrays[-len(results) :]
    return [
        f.astype(bool) if dtype is bool else f.view(dtype)
        for f, dtype in zip(found, results, strict=True)
        if f is not None
    ]


def element_kernel(
    instruction: str, inputs: Sequence[np.ndarray], results: Sequence[Any], *, uniform: bool = False
) -> tuple[str, str, list[Any]]:
    """A kernel that does an instruction on each element: its body, parameters and arguments.

    In the text `{d}`, `{e}` are the results (numpy types in `results`, bool for predicates) and
    `{a}`, `{b}`, ... the inputs.  `uniform` passes the first elements as parameters, so that all
    lanes agree.
    """
    count = 32 if uniform else len(inputs[0])
    lines = [".reg .b64 %p<20>; .reg .b32 %t; .reg .b64 %o;", "mov.u32 %t, %tid.x;"]
    names: dict[str, str] = {}
    parameters: list[str] = []
    arguments: list[Any] = []
    for letter, array in zip(LETTERS, inputs, strict=False):
        bits = array.dtype.itemsize * 8
        register = f"%in_{letter}"
        names[letter] = register
        lines.append(f".reg .b{max(bits, 16)} {register};")
        if uniform:
            word = int(array.reshape(-1).view(f"u{bits // 8}")[0])
            parameters.append(f".param .u{bits} p{letter}")
            arguments.append(word)
            lines.append(f"ld.param.u{bits} {register}, [p{letter}];")
        else:
            parameters.append(f".param .u64 p{letter}")
            arguments.append(array)
            lines += [
                f"ld.param.u64 %p0, [p{letter}]; cvta.to.global.u64 %p0, %p0;",
                f"mul.wide.u32 %o, %t, {bits // 8}; add.u64 %p0, %p0, %o;",
                f"ld.global.u{bits} {register}, [%p0];",
            ]
    tail: list[str] = []
    for i, (letter, dtype) in enumerate(zip("de"[: len(results)], results, strict=True)):
        bits = 1 if dtype is bool else np.dtype(dtype).itemsize * 8
        register = f"%out_{letter}"
        names["xy"[i]] = register
        lines.append(f".reg .{'pred' if bits == 1 else f'b{max(bits, 16)}'} {register};")
        parameters.append(f".param .u64 o{letter}")
        size = 4 if bits == 1 else bits // 8
        arguments.append(np.zeros(count, f"u{size}"))
        tail += [
            f"ld.param.u64 %p1, [o{letter}]; cvta.to.global.u64 %p1, %p1;",
            f"mul.wide.u32 %o, %t, {size}; add.u64 %p1, %p1, %o;",
        ]
        if bits == 1:
            tail += [f".reg .b32 %s{letter}; selp.b32 %s{letter}, 1, 0, {register};"]
            register = f"%s{letter}"
        tail.append(f"st.global.b{size * 8} [%p1], {register};")
    text = instruction
    for letter in names:
        text = text.replace(f"{{{letter}}}", names[letter])
    lines += [text, *tail, "ret;"]
    return "\n".join(lines), ", ".join(parameters), arguments
