"""Launch the cute, cutlass and tl kernels on the local GPU and compare with numpy.

    python tests/hardware/launch_kernels.py

Needs a GPU; the exit code is 1 if a result is further from numpy's than rounding explains.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from kernels.atom_gemm import AtomGemm
from kernels.compiled import compiled
from kernels.cute_gemm import CuteGemm
from kernels.kernel import Kernel, Sizes
from kernels.streamk_gemm import StreamkGemm
from kernels.tiled_gemm import TiledGemm
from kernels.tl import KERNELS as BLOCK_PROGRAMS
from kernels.tl import Attention, Gemm, Softmax
from tileas_xdsl.runtime.gpu.device import gpu
from tileas_xdsl.runtime.kernel_launcher import CopiedArrayWarning, target_of

LARGE: Sizes = {"m": 1024, "n": 1024, "k": 1024}
PRODUCTS: tuple[Kernel, ...] = (
    AtomGemm(),
    AtomGemm(element="bf16"),
    CuteGemm(),
    CuteGemm(element="bf16", produce="region", scheduler="static_persistent", groups=1, stages=2),
    CuteGemm(bn=128, stages=4),
    CuteGemm(bn=256, element="e4m3"),
    CuteGemm(scheduler="static_persistent", blocks=2),
    CuteGemm(instruction="tcgen05"),
    CuteGemm(instruction="tcgen05", element="bf16", produce="region"),
    TiledGemm(),
    TiledGemm(element="bf16"),
    TiledGemm(instruction="tcgen05"),
    StreamkGemm(),
    Gemm(b="nk", activation="relu", bm=128, bn=128, bk=64),
)
CASES: tuple[tuple[Kernel, Sizes], ...] = (
    *((kernel, sizes) for kernel in PRODUCTS for sizes in (kernel.sizes, LARGE)),
    *((kind(), kind.sizes) for kind in BLOCK_PROGRAMS.values()),
    *(
        (kind(), {name: 16 * extent for name, extent in kind.sizes.items()})
        for kind in BLOCK_PROGRAMS.values()
        if kind.sizes and kind is not Softmax
    ),
    (Softmax(columns=1024), {"m": 500, "n": 1000}),
    (Attention("bf16", d=128), {"queries": 1000, "keys": 1500}),
)


def main() -> int:
    """Launch the kernels of the GPU's target at small and large sizes."""
    warnings.simplefilter("ignore", CopiedArrayWarning)
    target, failures = target_of(gpu()), 0
    for kernel, sizes in CASES:
        if kernel.target != target:
            continue
        try:
            inputs = list(kernel.make_inputs(np.random.default_rng(0), sizes))
            after = [array.copy() for array in inputs]
            compiled(kernel).launch(*after, grid=kernel.grid(sizes))
            found = kernel.check(inputs, after)
            said = "right" if found.is_right else "WRONG"
            said += f", {100 * found.share:.1f} % of its bound"
            failures += not found.is_right
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            failures += 1
        print(f"{kernel} {dict(sizes)}: {said}", flush=True)
    print(f"{gpu().name}: {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
