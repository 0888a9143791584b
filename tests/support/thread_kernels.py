"""Kernels that apply some operations to one fragment per thread, for semantics tests.

`elementwise` writes the kernel around the operations: each of 32 threads loads a fragment of every
input, and stores the fragment `%r`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.backend.ptx.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtx
from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.installed import registered_context

THREADS = 32
BYTES = {
    "i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8,
    "f8E4M3FN": 1, "f8E5M2": 1, "f8E8M0FNU": 1, "index": 4,
}  # fmt: skip


def parse(text: str) -> ModuleOp:
    """Return the verified module."""
    ctx = registered_context()
    module = parse_module(ctx, text, "<test>")
    module.verify()
    return module


def compiled(text: str, arch: str = "sm_90a") -> str:
    """Return the PTX of a module's kernels."""
    module = parse(text)
    ConvertCuteNvgpuToPtx(arch=arch).apply(Context(), module)
    module.verify()
    return ptx_text(module, arch)


def value_type(element: str, count: int) -> str:
    """Return the type of one thread's fragment."""
    return element if count == 1 else f"vector<{count}x{element}>"


def elementwise(
    inputs: Sequence[str], output: str, body: str, count: int = 4, out_count: int | None = None
) -> str:
    """Return a kernel; `body` computes `%r` from `%x0`, `%x1` ..., each of `count` elements."""
    out_count = count if out_count is None else out_count
    arguments = [
        f"%p{index}: !cute.ptr<{element}, gmem, align<16>>" for index, element in enumerate(inputs)
    ]
    arguments.append(f"%out: !cute.ptr<{output}, gmem, align<16>>")
    lines = ['%t = cute_nvgpu.arch.thread_idx "x"']
    for index, element in enumerate(inputs):
        lines += _pointer(f"x{index}", f"p{index}", element, count)
        pointer = _type(element, count)
        lines.append(
            f"%x{index} = cute.ptr.load %x{index}_at : {pointer} -> {value_type(element, count)}"
        )
    lines += _pointer("r", "out", output, out_count)
    lines += body.strip().splitlines()
    lines.append(
        f"cute.ptr.store %r, %r_at : {value_type(output, out_count)}, {_type(output, out_count)}"
    )
    return kernel(", ".join(arguments), lines)


def kernel(arguments: str, lines: Sequence[str], attributes: str = "") -> str:
    """A kernel of one warp."""
    body = "\n".join(f"    {line.strip()}" for line in lines)
    launch = f"{{cute.kernel, nvvm.reqntid = array<i32: {THREADS}, 1, 1>{attributes}}}"
    return f"func.func @k({arguments}) attributes {launch} {{\n{body}\n    func.return\n}}\n"


def _type(element: str, count: int) -> str:
    bytes_ = BYTES[element] * count
    align = min(16, bytes_ & -bytes_)
    return f"!cute.ptr<{element}, gmem, align<{max(align, BYTES[element])}>>"


def _pointer(name: str, base: str, element: str, count: int) -> list[str]:
    return [
        f"%{name}_n = arith.constant {count} : i32",
        f"%{name}_offset = arith.muli %t, %{name}_n : i32",
        f"%{name}_at = cute.add_offset %{base}, %{name}_offset : "
        f"!cute.ptr<{element}, gmem, align<16>>, i32 -> {_type(element, count)}",
    ]
