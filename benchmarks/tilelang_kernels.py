"""Check kernels that TileLang compiles on the emulator: which run and are right, what is found.

    pip install tilelang torch
    python benchmarks/tilelang_kernels.py sm_90a sm_100a

It needs nvcc and no GPU.  TileLang gives CUDA C++, nvcc PTX; grids and tensor maps are read off the
calls in TileLang's host module.  The kernels are our own; `right` compares with numpy.
"""

import ast
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tilelang
import tilelang.language as tl

sys.path.insert(0, str(Path(__file__).parents[1]))

from tileas_xdsl import check
from tileas_xdsl.check import TensorMapArg
from tileas_xdsl.target.tma.tensor_map import ELEMENTS, INTERLEAVES, SWIZZLES, TensorMap

Target, PassContext = tilelang.tvm.target.Target, tilelang.tvm.transform.PassContext
ROOT = Path(tilelang.__file__).parent
INCLUDES = (ROOT / "src", ROOT / "3rdparty" / "cutlass" / "include")
PLAIN = {"tl.disable_tma_lower": True, "tl.disable_warp_specialized": True}
"""Options for copies by threads or `cp.async`."""


def elementwise(n: int) -> Any:
    @tl.prim_func
    def main(a: tl.Tensor((n,), "float32"), b: tl.Tensor((n,), "float32")):
        with tl.Kernel(tl.ceildiv(n, 256), threads=128) as bx:
            for i in tl.Parallel(256):
                b[bx * 256 + i] = tl.exp(a[bx * 256 + i]) + 1.0

    return main


def transpose(m: int, n: int) -> Any:
    @tl.prim_func
    def main(a: tl.Tensor((m, n), "float16"), b: tl.Tensor((n, m), "float16")):
        with tl.Kernel(tl.ceildiv(n, 32), tl.ceildiv(m, 32), threads=128) as (bx, by):
            tile = tl.alloc_shared((32, 32), "float16")
            tl.copy(a[by * 32, bx * 32], tile)
            for i, j in tl.Parallel(32, 32):
                b[bx * 32 + i, by * 32 + j] = tile[j, i]

    return main


def softmax(m: int, n: int) -> Any:
    @tl.prim_func
    def main(a: tl.Tensor((m, n), "float32"), b: tl.Tensor((m, n), "float32")):
        with tl.Kernel(tl.ceildiv(m, 16), threads=128) as bx:
            rows = tl.alloc_fragment((16, n), "float32")
            most = tl.alloc_fragment((16,), "float32")
            total = tl.alloc_fragment((16,), "float32")
            tl.copy(a[bx * 16, 0], rows)
            tl.reduce_max(rows, most, dim=1)
            for i, j in tl.Parallel(16, n):
                rows[i, j] = tl.exp(rows[i, j] - most[i])
            tl.reduce_sum(rows, total, dim=1)
            for i, j in tl.Parallel(16, n):
                rows[i, j] = rows[i, j] / total[i]
            tl.copy(rows, b[bx * 16, 0])

    return main


def running_sum(m: int, n: int) -> Any:
    @tl.prim_func
    def main(a: tl.Tensor((m, n), "float32"), b: tl.Tensor((m, n), "float32")):
        with tl.Kernel(tl.ceildiv(m, 16), threads=128) as bx:
            rows = tl.alloc_shared((16, n), "float32")
            tl.copy(a[bx * 16, 0], rows)
            tl.cumsum(src=rows, dim=1)
            tl.copy(rows, b[bx * 16, 0])

    return main


def column_sums(m: int, n: int) -> Any:
    @tl.prim_func
    def main(a: tl.Tensor((m, n), "float32"), b: tl.Tensor((n,), "float32")):
        with tl.Kernel(tl.ceildiv(m, 16), threads=128) as bx:
            rows = tl.alloc_fragment((16, n), "float32")
            total = tl.alloc_fragment((n,), "float32")
            tl.copy(a[bx * 16, 0], rows)
            tl.reduce_sum(rows, total, dim=0)
            for j in tl.Parallel(n):
                tl.atomic_add(b[j], total[j])

    return main


def matmul(m: int, n: int, k: int, element: str = "float16") -> Any:
    @tl.prim_func
    def main(
        a: tl.Tensor((m, k), element),
        b: tl.Tensor((k, n), element),
        c: tl.Tensor((m, n), "float32"),
    ):
        with tl.Kernel(tl.ceildiv(n, 64), tl.ceildiv(m, 64), threads=128) as (bx, by):
            left = tl.alloc_shared((64, 32), element)
            right = tl.alloc_shared((32, 64), element)
            total = tl.alloc_fragment((64, 64), "float32")
            tl.clear(total)
            for step in tl.Pipelined(tl.ceildiv(k, 32), num_stages=2):
                tl.copy(a[by * 64, step * 32], left)
                tl.copy(b[step * 32, bx * 64], right)
                tl.gemm(left, right, total)
            tl.copy(total, c[by * 64, bx * 64])

    return main


@dataclass(frozen=True)
class Subject:
    """A kernel, its arrays, what the last one has to be, and options of the compiler."""

    name: str
    function: Any
    arrays: Sequence[Any]
    wanted: Callable[..., Any]
    options: Mapping[str, Any]


def _softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def _product(a: Any, b: Any) -> Any:
    return a.astype(np.float32) @ b.astype(np.float32)


def subjects() -> Iterator[Subject]:
    """All kernels with random arrays."""
    rng = np.random.default_rng(0)

    def floats(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    def halves(*shape: int) -> Any:
        return floats(*shape).astype(np.float16)

    def zeros(*shape: int) -> Any:
        return np.zeros(shape, np.float32)

    x = [floats(64, 128), zeros(64, 128)]
    yield Subject(
        "exp", elementwise(1024), [floats(1024), zeros(1024)], lambda a: np.exp(a) + 1, {}
    )
    for text, options in (("by TMA", {}), ("by threads", PLAIN)):
        yield Subject(f"transpose {text}", transpose(64, 128), [halves(64, 128), halves(128, 64)],
                      lambda a: a.T, options)  # fmt: skip
        yield Subject(f"softmax {text}", softmax(64, 128), x, _softmax, options)
        yield Subject(f"running sum {text}", running_sum(64, 128), x,
                      lambda a: a.cumsum(1), options)  # fmt: skip
        yield Subject(f"matmul {text}", matmul(128, 128, 128),
                      [halves(128, 128), halves(128, 128), zeros(128, 128)],
                      _product, options)  # fmt: skip
    yield Subject("column sums", column_sums(64, 128), [x[0], zeros(128)], lambda a: a.sum(0), {})


@dataclass(frozen=True)
class Compiled:
    """PTX and how the host module launches it."""

    text: str
    kernel: str
    args: Sequence[Any]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int


def _calls(text: str) -> Iterator[list[str]]:
    for found in re.finditer(r"^\s*T\.call_packed\((.*)\)$", text, re.MULTILINE):
        yield [part.strip() for part in found[1].split(",")]


def _tensor_map(words: Sequence[str], arrays: Mapping[str, Any]) -> TensorMapArg:
    """The map that `cuTensorMapEncodeTiled` makes of the numbers behind the name of its array."""
    element, rank, name, *numbers = words
    count = int(rank)
    values = [int(word) for word in numbers]
    dims, rest = values[:count], values[count:]
    strides, rest = rest[1:count], rest[count:]
    box, steps, (interleave, swizzle, *_) = rest[:count], rest[count : 2 * count], rest[2 * count :]
    made = TensorMap(
        next(e.name for e in ELEMENTS.values() if e.driver == int(element)),
        0,
        tuple(dims),
        tuple(strides),
        tuple(box),
        tuple(steps),
        next(n for n, code in INTERLEAVES.items() if code == interleave),
        next(n for n, mode in SWIZZLES.items() if mode.driver == swizzle),
    )
    return TensorMapArg(made, arrays[name])


def compiled(subject: Subject, target: str) -> Compiled:
    """Compile a kernel by TileLang and nvcc."""
    chip = Target({"kind": "cuda", "arch": target})
    with PassContext(config=dict(subject.options)), chip:
        made = tilelang.lower(subject.function, target=chip)
    arrays = dict(zip("abc", subject.arrays, strict=False))
    maps: dict[str, Any] = {}
    device = str(made.device_mod)
    sizes = ast.literal_eval(re.search(r'"tirx?\.kernel_launch_params": (\[.*?\])', device)[1])  # pyright: ignore
    for name, *words in _calls(str(made.host_mod)):
        if "tensormap" in name:
            maps[words[0]] = _tensor_map(words[1:], arrays)
        if "kernel" not in name:
            continue
        count = len(words) - len(sizes)
        extents = dict(zip(sizes, map(int, words[count:]), strict=True))
        args = [maps.get(word, arrays.get(word)) for word in words[:count]]
        shared = next((n for key, n in extents.items() if "dyn_shared" in key), 0)
        shapes = [tuple(extents.get(f"{of}Idx.{axis}", 1) for axis in "xyz")
                  for of in ("block", "thread")]  # fmt: skip
        return Compiled(_ptx(made.kernel_source, target), name.strip("\"'"), args, *shapes, shared)
    raise ValueError("the host module launches nothing")


def _ptx(source: str, target: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cu"
        path.write_text(source)
        words = ["nvcc", "-ptx", "-w", "-lineinfo", "-std=c++17", f"-arch={target}", str(path)]
        words += [word for include in INCLUDES for word in ("-I", str(include))]
        subprocess.run([*words, "-o", f"{folder}/kernel.ptx"], check=True)
        return Path(folder, "kernel.ptx").read_text()


def row(subject: Subject, target: str) -> str:
    """Run a kernel; a refusal is shown, and no end of the table."""
    try:
        made = compiled(subject, target)
        report = check.ptx(made.text, made.grid, made.args, made.block, kernel=made.kernel,
                           shared=made.shared, name=f"{subject.name}.ptx")  # fmt: skip
    except Exception as error:
        return f"| {subject.name} | {target} | no | | {' '.join(str(error).split())[:120]} |"
    found = report.arrays[-1]
    wanted = subject.wanted(*subject.arrays[:-1])
    right = "yes" if np.allclose(found, wanted, rtol=1e-3, atol=1e-3) else "NO"
    kinds = Counter(f"{f.severity} {f.kind}" for f in report.findings)
    shown = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "none"
    return f"| {subject.name} | {target} | yes | {right} | {shown} |"


def main() -> None:
    print(f"TileLang {tilelang.__version__}\n\n| kernel | target | run | right | findings |")
    print("|---|---|---|---|---|")
    for target in sys.argv[1:] or ["sm_90a", "sm_100a"]:
        for subject in subjects():
            print(row(subject, target), flush=True)


if __name__ == "__main__":
    main()
