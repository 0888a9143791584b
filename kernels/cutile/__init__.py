"""Kernels in cuTile Python (package cuda-tile), each with arguments and a numpy reference.

`problems()` are all of them; `python -m kernels.cutile` compiles and runs each for both targets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module

from kernels.cutile.problem import Judged, Problem, emulated, evaluated, simulated

__all__ = ["MODULES", "Judged", "Problem", "emulated", "evaluated", "problems", "simulated"]

MODULES: Sequence[str] = (
    *("vector_add", "saxpy", "activations", "softmax", "rms_norm", "layer_norm", "transpose"),
    *("reductions", "cumulative_sum", "dropout", "cross_entropy", "rope"),
    *("gather_scatter", "histogram", "stencils"),
    *("matmul", "quantized_matmul", "batched_matmul", "split_k", "persistent", "grouped_matmul"),
    *("fft", "attention", "attention_backward", "flash_decode", "moe"),
)
"""Those that have kernels, simplest first."""


def problems(*modules: str) -> Iterator[Problem]:
    """The problems of some modules, of all without names; raises `KeyError` for other names."""
    for name in modules or MODULES:
        if name not in MODULES:
            raise KeyError(f"there is no {name!r}; there are {', '.join(MODULES)}")
        yield from import_module(f"{__name__}.{name}").PROBLEMS
