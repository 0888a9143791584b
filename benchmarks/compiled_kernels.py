"""What `compile.py` and `sass.py` compile: kernels of ours, and Triton's that do the same.

Our compiler is imported when a kernel of ours is compiled: Triton's are measured in new processes
too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernels.kernel import Kernel
    from tileas_xdsl.compiler import CompiledKernel

TARGET = "sm_90a"


@dataclass(frozen=True)
class TritonKernel:
    """A kernel of `triton_kernels` for given types and constants."""

    name: str
    types: Mapping[str, str]
    constants: Mapping[str, Any]
    options: Mapping[str, int] = field(default_factory=dict[str, int])

    def compile(self) -> Any:
        """Machine code, without a look into the cache."""
        os.environ["TRITON_ALWAYS_COMPILE"] = "1"
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource

        from benchmarks import triton_kernels

        types = {**self.types, **dict.fromkeys(self.constants, "constexpr")}
        kernel: Any = getattr(triton_kernels, self.name)
        ordered = {name: types[name] for name in kernel.arg_names}
        aligned = [n for n, kind in enumerate(ordered.values()) if kind[0] == "*" or kind == "i32"]
        source = ASTSource(
            fn=kernel,
            signature=ordered,
            constexprs=dict(self.constants),
            attrs={(number,): [["tt.divisibility", 16]] for number in aligned},
        )
        return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=dict(self.options))


@dataclass(frozen=True)
class Subject:
    """Something to compile, in cuTile and, where it has it, in Triton."""

    name: str
    module: str
    """The module in `kernels.cutile`; also the kernel's name, unless `kernel` gives another."""
    signature: str
    triton: TritonKernel | None = None
    kernel: str = ""

    def compile(self) -> CompiledKernel:
        """The kernel in PTX."""
        from tileas_xdsl.compiler import compile

        found = import_module(f"kernels.cutile.{self.module}")
        function = getattr(found, self.kernel or self.module)
        made = compile(function, target=TARGET, signature=self.signature)
        assert made.ptx
        return made


_MATRIX = "a: f16[?, ?%8], b: f16[?, ?%8], c: f16[?, ?%8], tm=128, tn={n}, tk=64"
_HEADS = "q: f16[?, ?, ?, 128], k: {keys}, v: {keys}, out: f16[?, ?, ?, 128]"
_SCALE = "scale=0.1275174"
_FACTORS = {**dict.fromkeys("abc", "*fp16"), **dict.fromkeys("mnk", "i32")}


def _triton_matmul(n: int, warps: int, stages: int) -> TritonKernel:
    constants = {"bm": 128, "bn": n, "bk": 64, "group": 8}
    return TritonKernel("matmul", _FACTORS, constants, {"num_warps": warps, "num_stages": stages})


def _triton_attention(causal: bool) -> TritonKernel:
    rows = {"q": 128, "k": 64, "v": 64, "out": 128}
    types = {name: f"tensordesc<fp16[{count}, 128]>" for name, count in rows.items()}
    constants = {"causal": causal, "bm": 128, "bn": 64, "d": 128, "group": 1}
    options = {"num_warps": 8, "num_stages": 3}
    return TritonKernel(
        "attention", {**types, "length": "i32", "scale": "fp32"}, constants, options
    )


def _attention(name: str, causal: bool = False, keys: str = "?") -> Subject:
    heads = _HEADS.format(keys=f"f16[?, ?, {keys}, 128]")
    rest = f"heads=16, group=1, {_SCALE}, causal={causal}, tm=128, tn=64, d=128"
    return Subject(name, "attention", f"{heads}, {rest}", _triton_attention(causal))


SUBJECTS: Sequence[Subject] = (
    Subject(
        "vector_add",
        "vector_add",
        "a: f32[?%16], b: f32[?%16], c: f32[?%16], tile=1024",
        TritonKernel("vector_add", {**dict.fromkeys("abc", "*fp32"), "n": "i32"}, {"block": 1024}),
    ),
    Subject(
        "softmax 1024",
        "softmax",
        "x: f32[?, ?%16], y: f32[?, ?%16], rows=1, columns=1024",
        TritonKernel(
            "softmax",
            {**dict.fromkeys("xy", "*fp32"), "rows": "i32", "columns": "i32"},
            {"block": 1024, "stages": 2},
        ),
    ),
    Subject(
        "layer_norm 1024",
        "layer_norm",
        "x: f16[?, ?%16], w: f16[?%16], b: f16[?%16], y: f16[?, ?%16], "
        "means: f32[?], scales: f32[?], "
        "rows=1, columns=1024",
        TritonKernel(
            "layer_norm",
            {
                **dict.fromkeys("xwby", "*fp16"),
                **dict.fromkeys(("means", "scales"), "*fp32"),
                "columns": "i32",
                "epsilon": "fp32",
            },
            {"block": 1024},
        ),
    ),
    Subject("transpose 64x64", "transpose", "x: f32[?, ?%4], y: f32[?, ?%4], rows=64, columns=64"),
    Subject("matmul 128x128x64", "matmul", _MATRIX.format(n=128), _triton_matmul(128, 4, 4)),
    Subject("matmul 128x256x64", "matmul", _MATRIX.format(n=256), _triton_matmul(256, 8, 3)),
    _attention("attention d128"),
    _attention("attention d128, whole tiles", keys="?%64"),
    _attention("attention d128 causal", causal=True),
)
"""Of cuTile, smallest first.

Triton's attention takes whole tiles of keys alone, and has one loop over them: what corresponds is
`whole tiles`, with a number of keys that is promised; the others take any number of keys.

Both sides are told the same of extents: Triton's integers are divisible by 16 (`tt.divisibility`).
"""

_ROWS = "x: bf16[?, ?%8], y: bf16[?, ?%8], rows=1, columns"
_STACK = ", ".join(f"{name}: f16[?, ?, ?%8]" for name in "abc")

CLASSES: Sequence[Subject] = (
    Subject("batched product", "batched_matmul", f"{_STACK}, tm=128, tn=256, tk=64"),
    Subject(
        "skinny product",
        "matmul",
        "a: bf16[?, ?%8], b: bf16[?, ?%8], c: bf16[?, ?%8], tm=16, tn=128, tk=128",
    ),
    Subject(
        "e4m3, B N x K",
        "matmul",
        "a: e4m3[?, ?%16], b: e4m3[?, ?%16], c: bf16[?, ?%8], tm=128, tn=256, tk=128",
        kernel="matmul_bt",
    ),
    Subject("softmax online", "softmax", f"{_ROWS}=4096", kernel="softmax_online"),
    Subject(
        "rms_norm 4096",
        "rms_norm",
        "x: bf16[?, ?%8], weight: bf16[?%8], y: bf16[?, ?%8], rows=1, columns=4096",
    ),
    Subject(
        "gelu_tanh", "activations", "x: bf16[?%8], y: bf16[?%8], tile=2048", kernel="gelu_tanh"
    ),
    Subject(
        "sum of columns",
        "reductions",
        "x: f32[?, ?%4], y: f32[?%4], rows=64, columns=32",
        kernel="sum_of_columns",
    ),
)
"""The classes of kernels that a table of machine code has besides."""

GEMMS: Sequence[Mapping[str, str | int]] = (
    {"bm": 128, "bn": 128, "bk": 64, "stages": 4},
    {"bm": 128, "bn": 128, "bk": 64, "stages": 4, "element": "bf16", "cluster": 2},
    {"bm": 128, "bn": 256, "bk": 64, "stages": 4, "element": "bf16"},
    {"bm": 128, "bn": 256, "bk": 64, "stages": 3, "element": "bf16", "epilogue": "tma"},
)
"""Written as tiles of `nv_tileas`."""

OTHERS = ("vector_add", "copy", "softmax")


def tile_kernels() -> Sequence[Kernel]:
    """Kernels that are text of tiles, whose own passes start there."""
    from kernels import make

    return [*(make("gemm", **parameters) for parameters in GEMMS), *map(make, OTHERS)]


def compilers() -> Mapping[str, Callable[[], CompiledKernel]]:
    """By name, what compiles each kernel: tiles first, then cuTile where it is installed."""
    from kernels.compiled import compiled

    found: dict[str, Callable[[], CompiledKernel]] = {
        str(kernel): lambda kernel=kernel: compiled(kernel) for kernel in tile_kernels()
    }
    if find_spec("cuda.tile") is not None:
        found |= {f"cuTile {subject.name}": subject.compile for subject in (*SUBJECTS, *CLASSES)}
    return found
