"""How fast kernels compile and are emulated, and what ptxas makes of them.

    python benchmarks/compiler.py [--repeat 9]

Medians of several runs in one process, after one that warms up.  Bars: 150 ms from the IR of a GEMM
of 128x256x64 to PTX text, 2 s for emulating 1024^3 with all checks.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from xdsl.context import Context
from xdsl.universe import Universe

from kernels import make
from kernels.kernel import Kernel
from kernels.simulating import parse
from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.backend.sass import disassemble
from tileas_xdsl.compiler import CompiledKernel, compile_module
from tileas_xdsl.tools.failures import ends_with_its_reader

COMPILE_BAR, EMULATE_BAR = 0.150, 2.0
"""Seconds."""

GEMMS: Sequence[Mapping[str, str | int]] = (
    {"bm": 128, "bn": 128, "bk": 64, "stages": 4},
    {"bm": 128, "bn": 128, "bk": 64, "stages": 4, "element": "bf16", "cluster": 2},
    {"bm": 128, "bn": 256, "bk": 64, "stages": 4, "element": "bf16"},
    {"bm": 128, "bn": 256, "bk": 64, "stages": 3, "element": "bf16", "epilogue": "tma"},
)
OTHERS = ("vector_add", "copy", "softmax")


def median(repeat: int, run: Callable[[], object]) -> float:
    """Seconds of the median of some runs, after one more."""
    run()
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def compile_time(kernel: Kernel, repeat: int) -> tuple[CompiledKernel, str]:
    """The compiled kernel and how long it took, by pass."""
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    module = parse(kernel.text())
    made: list[CompiledKernel] = []

    def once() -> None:
        made.append(compile_module(module, ctx, kernel.target))
        assert made[-1].ptx

    seconds = median(repeat, once)
    passes = [statistics.median(times) for times in zip(*(_times(k) for k in made), strict=True)]
    names = [spec.name for spec in made[-1].passes]
    parts = ", ".join(f"{name} {1000 * t:.0f}" for name, t in zip(names, passes, strict=True))
    return made[-1], f"{1000 * seconds:6.1f} ms ({parts})"


def _times(kernel: CompiledKernel) -> Sequence[float]:
    return [stage.seconds for stage in kernel.stages]


def facts(kernel: CompiledKernel) -> str:
    """Registers, shared memory, spills and the loops with products."""
    if find_tool("ptxas") is None:
        return "ptxas is not installed"
    assembled = kernel.assemble()
    text = (
        f"{assembled.registers} registers, {kernel.abi.shared_bytes} bytes of shared memory, "
        f"{assembled.spills} spilled"
    )
    if find_tool("nvdisasm") is None:
        return text
    for loop in disassemble(assembled.cubin)[kernel.name].loops_with("HGMMA"):
        text += f"; loop of {len(loop.instructions)} with {loop.count('HGMMA')} HGMMA"
    return text


def emulation(kernel: Kernel, made: CompiledKernel, size: int, repeat: int) -> str:
    """How long the PTX of a GEMM takes on the emulator."""
    sizes = dict.fromkeys(kernel.sizes, size)
    inputs = list(kernel.make_inputs(np.random.default_rng(0), sizes))
    grid = kernel.grid(sizes)
    found = made.emulate(*inputs, grid=grid)
    assert not found.findings
    worst = kernel.check(inputs, found.arrays)
    lines: list[str] = []
    for jobs in (1, 2):
        seconds = median(repeat, lambda jobs=jobs: made.emulate(*inputs, grid=grid, jobs=jobs))
        lines.append(f"{seconds:.3f} s with {jobs} job{'s' if jobs > 1 else ''}")
    return f"{', '.join(lines)}; error {worst.error:.2e}, {worst.share:.1%} of its bound"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=9)
    options = parser.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}")
    print(f"IR to PTX, bar {1000 * COMPILE_BAR:.0f} ms for 128x256x64:")
    kernels = [make("gemm", **parameters) for parameters in GEMMS]
    for kernel in (*kernels, *map(make, OTHERS)):
        made, times = compile_time(kernel, options.repeat)
        print(f"{kernel!s:60} {times}\n{'':60} {facts(made)}")
    print(f"emulation of 1024^3 with all checks, bar {EMULATE_BAR} s:")
    made, _ = compile_time(kernels[0], 1)
    print(f"{kernels[0]!s:60} {emulation(kernels[0], made, 1024, max(1, options.repeat // 3))}")


if __name__ == "__main__":
    with ends_with_its_reader():
        main()
