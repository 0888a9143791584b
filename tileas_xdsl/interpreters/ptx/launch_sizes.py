"""The grid, block and cluster of a launch."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tileas_xdsl.interpreters.ptx.errors import LaunchError
from tileas_xdsl.interpreters.ptx.parsing.syntax import Kernel
from tileas_xdsl.layout.integers import three_extents
from tileas_xdsl.target.arch import Target

Shape = int | Sequence[int]
Three = tuple[int, int, int]

MAX_THREADS, MAX_GRID = Target.threads_per_block, Target.grid_extents
MAX_CLUSTER = 16


def _three(value: Shape, what: str) -> Three:
    if (extents := three_extents(value)) is None:
        raise LaunchError(f"{what} {value!r} is not one to three positive sizes")
    return extents


def launch_sizes(
    kernel: Kernel, grid: Shape, block: Shape | None, cluster: Shape | None
) -> tuple[Three, Three, Three]:
    """Return grid, block and cluster; those not given are what the kernel requires.

    Raises `LaunchError` for what does not fit the kernel or any GPU.
    """
    blocks = _three(grid, "grid")
    limit = kernel.required_threads or kernel.max_threads
    if block is None and limit is None:
        raise LaunchError(f"say the block size: kernel '{kernel.name}' does not")
    threads = _three(block if block is not None else limit or 1, "block")
    _check_block(kernel, threads)
    required = kernel.required_cluster
    together = _three(cluster if cluster is not None else required or 1, "cluster")
    if required is not None and together != _three(required, "cluster"):
        raise LaunchError(f"cluster {together} is not the {required} that the kernel requires")
    if prod(together) > MAX_CLUSTER:
        raise LaunchError(f"a cluster of {prod(together)} CTAs has more than {MAX_CLUSTER}")
    check_grid(blocks, together)
    return blocks, threads, together


def check_grid(grid: Three, cluster: Three) -> None:
    """Raise `LaunchError` for more CTAs than any GPU starts, and for parts of clusters."""
    for extent, most, together, axis in zip(grid, MAX_GRID, cluster, "xyz", strict=True):
        if extent > most:
            raise LaunchError(f"the grid has {extent} CTAs along {axis}, more than {most}")
        if extent % together:
            raise LaunchError(
                f"the grid has {extent} CTAs along {axis}; clusters of the kernel have {together}"
            )


def _check_block(kernel: Kernel, threads: Three) -> None:
    count = prod(threads)
    if count > MAX_THREADS:
        raise LaunchError(f"a block of {count} threads has more than {MAX_THREADS}")
    required = kernel.required_threads
    if required is not None and threads != _three(required, "block"):
        raise LaunchError(f"block {threads} is not the {required} that the kernel requires")
    if kernel.max_threads is not None and count > prod(kernel.max_threads):
        raise LaunchError(
            f"a block of {count} threads has more than the {prod(kernel.max_threads)} that kernel "
            f"'{kernel.name}' allows"
        )
