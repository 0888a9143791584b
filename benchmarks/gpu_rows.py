"""What `gpu.py` measures of rows: softmax, layer_norm and rms_norm, of widths that divide and do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks.gpu_cases import BYTES, Case, Data, blocks, bound_by_memory, cutile, random, unset
from benchmarks.gpu_timing import Launch

EPSILON = 1e-5
ROWS = 8192
MANY_COLUMNS = 16384
"""Wider rows are half as many."""

TILE_ROWS = (1, 2, 4)
"""Rows that a block of ours may hold."""

WIDEST_TALL = 2048
"""The widest rows of which a block of ours may hold several."""

TRITON_PROGRAMS = (2, 4, 8)
"""Programs a multiprocessor of its softmax."""

WIDTHS: Mapping[str, Sequence[int]] = {
    "f16": (1000, 1023, 1024, 4095, 4096, 8192, 16384, 32768),
    "bf16": (1024, 4095, 4096, 16384, 32768),
    "f32": (1000, 1023, 1024, 4096, 6144, 16384, 32768),
}
"""Of rows, by their elements."""


def _widths() -> Iterator[tuple[str, int, int]]:
    """Elements, rows and widths."""
    for element, widths in WIDTHS.items():
        for columns in widths:
            yield element, ROWS if columns <= MANY_COLUMNS else ROWS // 2, columns
    yield "bf16", 2 * ROWS, 7168


def _triton_warps(columns: int) -> Sequence[int]:
    """Warps for 8 to 64 elements of a row in a thread."""
    return [warps for warps in (2, 4, 8, 16, 32) if 8 <= columns / (32 * warps) <= 64]


def matrix(element: str, rows: int, columns: int, *vectors: str) -> Data:
    found = {"x": random(element, rows, columns), "out": unset(element, rows, columns)}
    return found | {name: random(element, columns) for name in vectors}


def _of_rows(
    kernel: Any,
    arguments: Callable[[Data], Sequence[Any]],
    rows: int,
    columns: int,
    target: str,
) -> Mapping[str, Launch]:
    """Ours, with some rows in a tile, which is as wide as the next power of two."""
    wide = 1 << (columns - 1).bit_length()
    return {
        f"{tall}x{wide}": cutile(
            kernel,
            lambda d, tall=tall: (*arguments(d), tall, wide),
            (blocks(rows, tall),),
            target,
        )
        for tall in TILE_ROWS
        if tall == 1 or wide <= WIDEST_TALL
    }


def softmaxes(target: str) -> Iterator[Case]:
    """Softmax of rows that are one tile."""
    from kernels.cutile.softmax import softmax_online

    for element, rows, columns in _widths():
        yield softmax_of(element, rows, columns, target)
    rows, columns = ROWS // 2, 32768
    ours = {
        f"1x{wide}": cutile(
            softmax_online, lambda d, wide=wide: (d["x"], d["out"], 1, wide), (rows,), target
        )
        for wide in (2048, 4096, 8192)
    }
    yield _softmax_case("softmax online", "f16", rows, columns, ours)


def softmax_of(element: str, rows: int, columns: int, target: str) -> Case:
    """Softmax of rows of this width."""
    from kernels.cutile.softmax import softmax

    ours = _of_rows(softmax, lambda d: (d["x"], d["out"]), rows, columns, target)
    return _softmax_case("softmax", element, rows, columns, ours)


def _softmax_case(
    name: str, element: str, rows: int, columns: int, ours: Mapping[str, Launch]
) -> Case:
    return bound_by_memory(
        f"{name} {rows}x{columns} {element}",
        2 * rows * columns * BYTES[element],
        partial(matrix, element, rows, columns),
        ours,
        _torch_softmax,
        {
            f"{programs} programs an SM, {warps} warps": partial(_triton_softmax, programs, warps)
            for programs in TRITON_PROGRAMS
            for warps in _triton_warps(columns)[-2:]
            if programs * warps <= 64
        },
    )


def _torch_softmax(d: Data) -> None:
    import torch

    torch.softmax(d["x"], -1, out=d["out"])


def _triton_softmax(programs: int, warps: int, d: Data) -> None:
    import torch
    import triton

    from benchmarks.triton_kernels import softmax

    rows, columns = d["x"].shape
    grid = (programs * torch.cuda.get_device_properties(0).multi_processor_count,)
    block = triton.next_power_of_2(columns)
    softmax[grid](d["x"], d["out"], rows, columns, block, 2, num_warps=warps)


def norms(target: str) -> Iterator[Case]:
    """Normalised rows."""
    from kernels.cutile.layer_norm import layer_norm
    from kernels.cutile.rms_norm import rms_norm

    for element, rows, columns in _widths():
        size = 2 * rows * columns * BYTES[element]
        yield bound_by_memory(
            f"layer_norm {rows}x{columns} {element}",
            size,
            partial(_with_means, element, rows, columns),
            _of_rows(layer_norm, _of_layer_norm, rows, columns, target),
            _torch_layer_norm,
            {
                f"{warps} warps": partial(_triton_layer_norm, warps)
                for warps in _triton_warps(columns)
            },
        )
        yield bound_by_memory(
            f"rms_norm {rows}x{columns} {element}",
            size,
            partial(matrix, element, rows, columns, "w"),
            _of_rows(rms_norm, lambda d: (d["x"], d["w"], d["out"]), rows, columns, target),
            _torch_rms_norm,
            {
                f"{warps} warps": partial(_triton_rms_norm, warps)
                for warps in _triton_warps(columns)
            },
        )


def _torch_layer_norm(d: Data) -> Any:
    from torch.nn.functional import layer_norm

    return layer_norm(d["x"], d["x"].shape[-1:], d["w"], d["b"], EPSILON)


def _torch_rms_norm(d: Data) -> Any:
    from torch.nn.functional import rms_norm

    return rms_norm(d["x"], d["x"].shape[-1:], d["w"], EPSILON)


def _with_means(element: str, rows: int, columns: int) -> Data:
    means = {name: unset("f32", rows) for name in ("means", "scales")}
    return {**matrix(element, rows, columns, "w", "b"), **means}


def _of_layer_norm(d: Data) -> Sequence[Any]:
    return tuple(d[name] for name in ("x", "w", "b", "out", "means", "scales"))


def _triton_layer_norm(warps: int, d: Data) -> None:
    import triton

    from benchmarks.triton_kernels import layer_norm

    rows, columns = d["x"].shape
    block = triton.next_power_of_2(columns)
    layer_norm[(rows,)](*_of_layer_norm(d), columns, EPSILON, block, num_warps=warps)


def _triton_rms_norm(warps: int, d: Data) -> None:
    import triton

    from benchmarks.triton_kernels import rms_norm

    rows, columns = d["x"].shape
    block = triton.next_power_of_2(columns)
    rms_norm[(rows,)](d["x"], d["w"], d["out"], columns, EPSILON, block, num_warps=warps)
