"""The errors of the expansions of `math` on many arguments.

    python benchmarks/math_accuracy.py [NAME ...] [--size 100000] [--seed 1] [--torch]

Prints, for each function of f32, the largest distance from the correctly rounded result, in units
of the last place, and an argument that has it.  With `--torch` the functions that torch has run on
a GPU beside torch's: printed is the share of results that are equal, bit for bit, the largest
distance, and an argument that has it.  Of six kinds of arguments there are `--size` each.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.math_expansions import EXPANSIONS, arguments, distance, evaluated, reference
from tests.support.plain_kernels import kernel, load, store
from tileas_xdsl.compiler import compile
from tileas_xdsl.target.math_functions import MATH_FUNCTIONS

TILE = 1024

TORCH: Mapping[str, str] = {
    **{name: name for name in MATH_FUNCTIONS if name not in ("cbrt", "fpowi", "powf")},
    "powf": "pow",
}
"""The function of torch by ours."""


def main() -> int:
    """Measure the functions that are named, or all; 1 if one is past its bound."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", default=sorted(EXPANSIONS))
    parser.add_argument("--size", type=int, default=100_000, help="of each kind of argument")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--torch", action="store_true", help="compare bits with torch on a GPU")
    options = parser.parse_args()
    if options.torch:
        return compare_with_torch(options)
    failed = False
    for name in options.names:
        rng = np.random.default_rng(options.seed)
        arrays = arguments(name, rng, options.size)
        apart = distance(evaluated(name, *arrays), reference(name, *arrays))
        worst, bound = int(np.argmax(apart)), MATH_FUNCTIONS[name].bound
        failed |= int(apart[worst]) > bound
        at = _said(arrays, worst)
        print(f"{name:6} {apart[worst]:3} of {bound} at {at}  ({arrays[0].size} arguments)")
    return int(failed)


def compare_with_torch(options: argparse.Namespace) -> int:
    """Print how many results on the GPU are torch's; 1 if NaN or signs of zeros differ."""
    failed = False
    for name in (name for name in options.names if name in TORCH):
        arrays = arguments(name, np.random.default_rng(options.seed), options.size)
        whole = arrays[0].size // TILE * TILE
        arrays = [array[-whole:] for array in arrays]
        ours, others = _on_gpu(name, arrays), _of_torch(name, arrays)
        apart = distance(ours, others)
        worst = int(np.argmax(apart))
        failed |= int(apart[worst]) >= 1 << 40
        share, at = np.mean(apart == 0), _said(arrays, worst)
        print(f"{name:6} {share:9.4%} equal of {whole}, {apart[worst]} apart at {at}", flush=True)
    return int(failed)


def _said(arrays: list[NDArray[Any]], index: int) -> str:
    return ", ".join(repr(array[index].item()) for array in arrays)


def applied(name: str, count: int) -> str:
    """Return a kernel of tiles that applies a function of f32 to `count` arrays."""
    memref, line = "memref<?xf32, strided<[1]>>", f"{TILE}xf32"
    body = "".join(load(f"t{k}", f"a{k}", memref, line, "%x") for k in range(count))
    operands = ", ".join(f"%t{k}" for k in range(count))
    body += f"%r = math.{name} {operands} : tensor<{line}>\n  "
    body += store("r", "o", memref, line, "%x")
    arrays = "".join(f"%a{k}: {memref}, " for k in range(count))
    return kernel(f"{arrays}%o: {memref}", body)


def _on_gpu(name: str, arrays: list[NDArray[Any]]) -> NDArray[np.float32]:
    result = np.zeros(arrays[0].size, np.float32)
    compile(applied(name, len(arrays))).launch(*arrays, result, grid=result.size // TILE)
    return result


def _of_torch(name: str, arrays: list[NDArray[Any]]) -> NDArray[np.float32]:
    import torch

    function: Callable[..., Any] = getattr(torch, TORCH[name])
    tensors = [torch.from_numpy(array).cuda() for array in arrays]
    return np.asarray(function(*tensors).cpu().numpy(), np.float32)


if __name__ == "__main__":
    sys.exit(main())
