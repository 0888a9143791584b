"""What laying tiles out does for the kernels: wavefronts, conversions, the time it takes.

    python benchmarks/assignment.py [--repeat 9] [--programs 100]

For each kernel: wavefronts of the threads' accesses to shared memory, for each row of a tile and
beyond the fewest there can be, without a swizzle and as chosen; conversions after assignment and
after their removal; the median time of the pipeline `tileas-layout`.  Then random programs are
laid out and run before and after.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from kernels import make
from kernels.kernel import Kernel
from kernels.simulating import parse
from tileas_xdsl.compiler import compile_module
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.installed import registered_context
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.tools.failures import ends_with_its_reader
from tileas_xdsl.transforms.assign_layouts.driver import assign_layouts
from tileas_xdsl.transforms.assign_layouts.request import Decision, Preferences

KERNELS: Sequence[tuple[str, Mapping[str, str | int]]] = (
    ("vector_add", {}),
    ("copy", {}),
    ("softmax", {"rows": 4, "columns": 256}),
    ("gemm", {"bm": 128, "bn": 128, "bk": 64}),
    ("gemm", {"bm": 128, "bn": 128, "bk": 64, "epilogue": "tma"}),
    ("gemm", {"bm": 128, "bn": 256, "bk": 64, "epilogue": "tma", "output": "f16"}),
    ("gemm", {"bm": 128, "bn": 128, "bk": 64, "epilogue": "tma", "element": "e4m3", "b": "nk"}),
)


def transactions(decisions: Sequence[Decision]) -> Iterator[tuple[float, float, float]]:
    """For each access of threads to shared memory: without a swizzle, as chosen, the fewest."""
    for decision in decisions:
        if decision.choice is None or not isinstance(decision.choice.layout, MemoryLayout):
            continue
        for op, chosen in decision.choice.atoms.items():
            if chosen.atom[:3] not in ("lds", "sts"):
                continue
            mine = [c for c in decision.candidates if c.op is op and not c.dropped]
            plain = [c for c in mine if "swizzle" not in str(c.layout)]
            costs = [candidate.cost.smem for candidate in mine]
            before = min((c.cost.smem for c in plain), default=max(costs))
            yield before, chosen.cost.smem, min(costs)


def conversions(module: ModuleOp) -> int:
    """How many conversions a module has."""
    return sum(isinstance(op, ConvertLayoutOp) for op in module.walk())


def row(kernel: Kernel, ctx: Context, repeat: int) -> str:
    """A line about a kernel."""
    module = parse(kernel.text())
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    found = list(transactions(assign_layouts(function, get_target(kernel.target), Preferences())))
    sums = [sum(column) for column in zip(*found, strict=True)] or [0, 0, 0]
    counts: dict[str, int] = {}
    passes = PIPELINES["tileas-layout"].passes
    seconds: list[float] = []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        compile_module(
            parse(kernel.text()),
            ctx,
            kernel.target,
            passes=passes,
            after_pass=lambda stage, after: counts.update({stage.name: conversions(after)}),
        )
        seconds.append(time.perf_counter() - start)
    before, after = (
        counts["tileas-assign-load-store-layouts"],
        counts["tileas-remove-layout-conversions"],
    )
    wavefronts = " / ".join(f"{number:g}" for number in sums)
    return f"{wavefronts:>16} {before:>4} -> {after:<4} {1000 * statistics.median(seconds[1:]):6.1f} ms"


def programs(count: int) -> str:
    """Random programs through the pipeline, each run before and after."""
    from hypothesis import HealthCheck, Phase, given, settings

    from tests.support.random_programs import Program
    from tests.support.random_programs import programs as random_programs
    from tests.support.random_programs.checking import check, passes_named

    passes, accepted = passes_named("tileas-layout"), list[bool]()

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(random_programs())
    def run(program: Program) -> None:
        accepted.append(check(program, *passes))

    start = time.perf_counter()
    run()
    spent = time.perf_counter() - start
    return f"{len(accepted)} random programs, {sum(accepted)} laid out, all right: {spent:.1f} s"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--programs", type=int, default=100)
    options = parser.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}")
    ctx = registered_context()
    print("transactions of threads in shared memory without a swizzle / as chosen / the fewest,")
    print("conversions after assignment -> after their removal, time of tileas-layout")
    for name, parameters in KERNELS:
        kernel = make(name, **parameters)
        print(f"{kernel!s:60} {row(kernel, ctx, options.repeat)}")
    print(programs(options.programs))


if __name__ == "__main__":
    with ends_with_its_reader():
        main()
