"""CPU time of a cached launch: ours beside Triton, torch.add and cuTile's own launcher.

    python benchmarks/launch.py [--json FILE]

With a GPU, launches of small kernels are enqueued back to back, and the time until `launch` returns
is measured.  Without one the driver's function is replaced by one that does nothing, and
arrays by objects with the interface of torch's tensors (by torch's own on the CPU, if it is
installed); what is left is our own work.  All take turns; the least of several rounds is reported.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import cuda.tile as ct

sys.path.insert(0, str(Path(__file__).parents[1]))
import tileas_xdsl as tileas
from tileas_xdsl.runtime.cutile import dispatch, settings
from tileas_xdsl.runtime.cutile.gpu import backend
from tileas_xdsl.runtime.cutile.gpu.chosen_plan import ChosenPlan
from tileas_xdsl.runtime.cutile.kernel_table import never
from tileas_xdsl.runtime.cutile.native.build import requested
from tileas_xdsl.runtime.cutile.native.relaunch import COUNTED
from tileas_xdsl.runtime.cutile.settings import Settings, has_gpu
from tileas_xdsl.runtime.gpu.driver import TensorMapMemory
from tileas_xdsl.runtime.gpu.launch_api import typed

ROUNDS, LAUNCHES = 75, 400
"""Fewer launches in a round than the queue of a stream takes, so that none waits for the GPU."""

ELEMENTS, TILE = 1 << 12, 256
MATRIX, BLOCK, STEP = 256, 64, 32
MANY = 2048
"""Extents of a product of few columns of A, whose CTAs take one tile block after another."""


@ct.kernel
def add(a, b, c, tile: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (tile,)) + ct.load(b, (i,), (tile,)))


@ct.kernel
def matmul(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    sums = ct.zeros((tm, tn), ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (ct.bid(0), k), (tm, tk))
        y = ct.load(b, (k, ct.bid(1)), (tk, tn))
        sums = ct.mma(x, y, sums)
    ct.store(c, (ct.bid(0), ct.bid(1)), sums.astype(ct.float16))


class NoGpu:
    """A GPU whose launches are a C function that does nothing: it compares two numbers."""

    launch = typed(ctypes.PyDLL(None).pthread_equal)
    multiprocessors = 132

    def multiprocessors_of_clusters(self, count: int) -> int:
        return self.multiprocessors

    def resident(self, executable: Any) -> int:
        return self.multiprocessors

    def transfer_memory(self, size: int, stream: int) -> int:
        return size

    def function(self, executable: Any) -> tuple[int, list[int]]:
        sizes = [128 if "[" in kind else int(kind[1:]) // 8 for kind in executable.parameter_types]
        return 1, [sum(sizes[:index]) for index in range(len(sizes))]

    def encode(self, tensor_map: Any) -> TensorMapMemory:
        return TensorMapMemory()


class Tensor:
    """The interface of torch's tensors, where there is no torch."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: str) -> None:
        self.address, self.shape, self.dtype = address, shape, f"torch.{dtype}"
        self._strides = (*shape[1:], 1)

    def data_ptr(self) -> int:
        return self.address

    def stride(self) -> tuple[int, ...]:
        return self._strides

    def get_device(self) -> int:
        return 0

    def element_size(self) -> int:
        return 4 if self.dtype == "torch.float32" else 2

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


Shape = tuple[int, ...]

SHAPES: Sequence[tuple[str, Sequence[Shape]]] = (
    ("float32", [(ELEMENTS,)] * 3),
    ("float16", [(MATRIX, MATRIX)] * 3),
    ("float16", [(MANY, BLOCK), (BLOCK, MANY), (MANY, MANY)]),
)


def tensors(on_gpu: bool) -> Sequence[Sequence[Any]]:
    """Three vectors of f32, three small matrices of f16, and those of a product of many tiles."""
    try:
        import torch
    except ImportError:
        return [
            [Tensor(0x1000000 * n, shape, kind) for n, shape in enumerate(shapes, 1)]
            for kind, shapes in SHAPES
        ]
    device = "cuda" if on_gpu else "cpu"
    return [
        [torch.zeros(shape, dtype=getattr(torch, kind), device=device) for shape in shapes]
        for kind, shapes in SHAPES
    ]


def microseconds(
    runs: Mapping[str, Callable[[], object]], settle: Callable[[], object]
) -> dict[str, float]:
    """The least time of a call of each, in rounds in which they take turns.

    Each begins with an empty queue.
    """
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(ROUNDS):
        for name, run in runs.items():
            settle()
            start = time.perf_counter()
            for _ in range(LAUNCHES):
                run()
            best[name] = min(best[name], (time.perf_counter() - start) / LAUNCHES)
    settle()
    return {name: seconds * 1e6 for name, seconds in best.items()}


def ours(on_gpu: bool, stream: Any) -> dict[str, Callable[[], object]]:
    """Launches by `tileas.launch`, and the parts of one."""
    vectors, matrices, many = tensors(on_gpu)
    few, blocks = (*vectors, TILE), (BLOCK, BLOCK, STEP)
    grid, grid_2d = (ELEMENTS // TILE,), (MATRIX // BLOCK, MATRIX // BLOCK)
    kinds: dict[str, tuple[Any, tuple[int, ...], tuple[Any, ...]]] = {
        "3 vectors": (add, grid, few),
        "3 matrices by TMA": (matmul, grid_2d, (*matrices, *blocks)),
        "CTAs that take many tiles": (
            *(matmul, (MANY // BLOCK, MANY // BLOCK)),
            (*many, *blocks),
        ),
    }
    launch = tileas.launch
    for kernel, extents, args in kinds.values():
        for _ in range(COUNTED + 1):
            launch(stream, extents, kernel, args)
            requested().wait()
    found: dict[str, Callable[[], object]] = {
        f"tileas.launch, {name}": partial(launch, stream, extents, kernel, args)
        for name, (kernel, extents, args) in kinds.items()
    }
    found[f"    whose C launcher {requested().failure or 'is used'}"] = list
    for name, (kernel, extents, args) in kinds.items():
        slow = ct.kernel(kernel._pyfunc)
        launch(stream, extents, slow, args)
        dispatch.table_of(slow).relaunch = never
        found[f"in Python alone, {name}"] = partial(launch, stream, extents, slow, args)
    in_python = ct.kernel(add._pyfunc)
    launch(stream, grid, in_python, few)
    find = dispatch.table_of(in_python).find
    plan, values = find(few)
    handle = 0 if isinstance(stream, int) else stream.cuda_stream
    plan.start(grid, handle, values, few)
    plan = plan._last if isinstance(plan, ChosenPlan) else plan
    prepared = (plan._config_address, plan._function, 0, plan._block.address)
    enqueue = plan._launch
    return found | {
        "  reading the arguments, finding the plan": lambda: find(few),
        "  starting it": lambda: plan.start(grid, handle, values, few),
        "    the driver's function alone": lambda: enqueue(*prepared),
    }


def others(stream: Any) -> dict[str, Callable[[], object]]:
    """Launches of other packages, those that are installed."""
    import torch

    a, b, c = tensors(True)[0]
    found: dict[str, Callable[[], object]] = {"torch.add": lambda: torch.add(a, b, out=c)}
    with suppress(ImportError):
        found["Triton"] = _triton(a, b, c)
    try:
        own = _own_launcher()
        own(stream, (ELEMENTS // TILE,), add, (a, b, c, TILE))
    except Exception as error:
        print(f"cuTile's own launcher: {type(error).__name__}: {str(error).splitlines()[0]}")
        return found
    found["cuTile"] = lambda: own(stream, (ELEMENTS // TILE,), add, (a, b, c, TILE))
    return found


def _own_launcher() -> Callable[..., object]:
    """Return cuTile's launcher; where its assembler is not installed, `tileas-as` stands in."""
    from cuda.tile import _compile as compilation
    from cuda.tile._cext import launch

    from benchmarks.conformance.assembler_on_path import use_assembler

    use_assembler(compilation)
    return launch


def _triton(a: Any, b: Any, c: Any) -> Callable[[], object]:
    from benchmarks.triton_kernels import vector_add

    grid = (ELEMENTS // TILE,)
    return lambda: vector_add[grid](a, b, c, ELEMENTS, TILE)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there")
    options = parser.parse_args()
    on_gpu = has_gpu()
    stream: Any = 0
    settle: Callable[[], object] = list
    settings.current = Settings("gpu")
    if on_gpu:
        import torch

        stream, settle = torch.cuda.current_stream(), torch.cuda.synchronize
    else:
        stub = NoGpu()
        backend.gpu_device = lambda number: stub
        backend.capability_of = lambda number: (9, 0)
        backend.device_of = lambda array: 0
    runs = ours(on_gpu, stream)
    if on_gpu:
        runs |= others(stream)
    found = microseconds(runs, settle)
    print(f"CPU time of a launch in us, {'GPU' if on_gpu else 'no GPU: the driver is a stub'}")
    for name, value in found.items():
        print(f"{name:44}{value:8.2f}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
