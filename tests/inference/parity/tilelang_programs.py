"""Programs of `data/tilelang_more.json`: buffers and operations as rows."""

from __future__ import annotations

from typing import Any

from tests.inference.parity.tilelang_kernels import POLICIES
from tests.support.tile_loops import Kernel
from tileas_xdsl.inference.program import Scope


def kernel_from(row: dict[str, Any]) -> Kernel:
    """The kernel of one row: `buffers` are scope, element and extents by name."""
    kernel = Kernel(row["threads"], row["arch"])
    for name, (scope, element, *shape) in row["buffers"].items():
        kernel.buffer(Scope(scope), element, **{name: tuple(shape)})
    for operation in row["ops"]:
        _add(kernel, operation)
    return kernel


def _add(kernel: Kernel, operation: list[Any]) -> None:
    match operation:
        case ["copy", source, target]:
            kernel.copy(source, target)
        case ["fill", target]:
            kernel.fill(target)
        case ["reduce", _, source, target, axis, *clear]:
            kernel.reduce(source, target, axis, clear=clear != [False])
        case ["par", extents, statements]:
            kernel.parallel(tuple(extents), *statements)
        case ["gemm", a, b, c, options]:
            policy = POLICIES[options.get("policy", "Square")]
            is_transposed = options.get("transpose_B", False)
            kernel.gemm(a, b, c, policy, transpose_b=is_transposed)
        case _:
            raise ValueError(f"unknown operation {operation}")
