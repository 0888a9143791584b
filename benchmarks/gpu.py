"""How fast kernels run on the GPU that is there, beside what its libraries do.

    python benchmarks/gpu.py [--size 8192] [--launches 30] [--json FILE]

Random data, single launches timed by events with the cache cold, medians, and ratios within one
run.  Needs a GPU of Hopper or Blackwell and torch (for cuBLAS); each result is checked against it.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from kernels import Gemm
from kernels.compiled import compiled
from tileas_xdsl.compiler import compile
from tileas_xdsl.runtime.device import Device, gpu
from tileas_xdsl.runtime.launching import target_of
from tileas_xdsl.runtime.timing import timed
from tileas_xdsl.tools.failures import ends_with_its_reader


@dataclass(frozen=True)
class Result:
    """A kernel and what it is compared with; milliseconds."""

    name: str
    ours: float
    theirs: float
    rate: float
    """TFLOP/s of ours."""
    error: float
    """The largest difference from theirs, as a part of the largest number."""

    @property
    def ratio(self) -> float:
        """How many times as fast ours is."""
        return self.theirs / self.ours


GEMMS: Mapping[str, Mapping[str, Gemm]] = {
    "sm_90a": {
        "bf16, f32 out, TMA": Gemm(bm=128, bn=256, bk=64, element="bf16", epilogue="tma"),
        "bf16, bf16 out, TMA": Gemm(
            bm=128, bn=256, bk=64, element="bf16", output="bf16", epilogue="tma"
        ),
        "bf16, bf16 out, TMA, persistent": Gemm(
            bm=128, bn=256, bk=64, element="bf16", output="bf16", epilogue="tma", persistent=132,
            group=8, cluster=2,
        ),
        "f16, f16 out, TMA": Gemm(bm=128, bn=256, bk=64, output="f16", epilogue="tma"),
    },
    "sm_100a": {
        "bf16, bf16 out, TMA": Gemm(
            bm=128, bn=256, bk=64, element="bf16", output="bf16", epilogue="tma", consumers=1,
            instruction="tcgen05",
        ),
    },
}  # fmt: skip


def gemms(device: Device, size: int, launches: int) -> Iterator[Result]:
    """Square products beside those of cuBLAS."""
    import torch

    dtypes = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
    for name, gemm in GEMMS[target_of(device)].items():
        element, output = dtypes[gemm.element], dtypes[gemm.output or "f32"]
        a, b = (torch.randn(size, size, device="cuda").to(element) for _ in range(2))
        c = torch.full((size, size), float("nan"), device="cuda", dtype=output)
        grid = gemm.grid({"m": size, "n": size, "k": size})
        kernel = compiled(gemm)
        kernel.launch(a, b, c, grid=grid)
        exact = a @ b
        error = float((c.float() - exact.float()).abs().max() / exact.float().abs().max())
        ours = _median(partial(kernel.launch, a, b, c, grid=grid), device, launches)
        theirs = _median(partial(torch.matmul, a, b, out=exact), device, launches)
        yield Result(f"GEMM {size}^3 {name}", ours, theirs, 2e-9 * size**3 / ours, error)


SIGNATURE = "a: bf16[?, ?%8], b: bf16[?, ?%8], c: bf16[?, ?%8], tm=128, tn={columns}, tk=64"


def cutile_products(device: Device, size: int, launches: int) -> Iterator[Result]:
    """A product of cuTile Python, beside that of cuBLAS."""
    import torch

    from kernels.cutile.matmul import matmul

    for columns in (128, 256):
        text = SIGNATURE.format(columns=columns)
        kernel = compile(matmul, signature=text, target=target_of(device))
        a, b = (torch.randn(size, size, device="cuda").to(torch.bfloat16) for _ in range(2))
        c = torch.full((size, size), float("nan"), device="cuda", dtype=torch.bfloat16)
        grid = (size // 128, size // columns)
        args = (a, b, c, 128, columns, 64)
        kernel.launch(*args, grid=grid)
        exact = a @ b
        error = float((c.float() - exact.float()).abs().max() / exact.float().abs().max())
        ours = _median(partial(kernel.launch, *args, grid=grid), device, launches)
        theirs = _median(partial(torch.matmul, a, b, out=exact), device, launches)
        name = f"cuTile {size}^3 bf16, tiles 128x{columns}x64"
        yield Result(name, ours, theirs, 2e-9 * size**3 / ours, error)


def _median(launch: Callable[[], Any], device: Device, launches: int) -> float:
    return timed(launch, device, launches=launches).median


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--launches", type=int, default=30)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    device = gpu()
    print(f"{device.name}, {target_of(device)}, Python {platform.python_version()}")
    results = [
        *gemms(device, options.size, options.launches),
        *cutile_products(device, options.size, options.launches),
    ]
    width = max(len(result.name) for result in results)
    for result in results:
        print(
            f"{result.name:{width}}  {result.ours:8.3f} ms  {result.rate:6.0f} TFLOP/s  "
            f"cuBLAS {result.theirs:8.3f} ms  ratio {result.ratio:.3f}  error {result.error:.1e}"
        )
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=2))
    return 0 if all(result.error < 1e-2 for result in results) else 1


if __name__ == "__main__":
    with ends_with_its_reader():
        code = main()
    sys.exit(code)
