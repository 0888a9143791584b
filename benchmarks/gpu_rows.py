"""What `gpu.py` measures of kernels that are bound by memory: rows, vectors, transposition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks.gpu_cases import BYTES, Case, Data, blocks, cutile, has_triton, random, unset
from benchmarks.gpu_timing import Launch

EPSILON = 1e-5
ROWS = 8192
TILE_ROWS = (1, 2, 4)
"""Rows that a block of ours may hold."""

SOFTMAXES = (
    *(("f32", 1024), ("f32", 4096), ("f32", 6144), ("f16", 1000)),
    *(("f16", 4096), ("bf16", 16384)),
)
"""Elements and widths of rows."""

GROUP = "bound by memory"


def _case(
    name: str,
    size: int,
    data: Callable[[], Data],
    ours: Mapping[str, Launch],
    torch_does: Launch,
    triton: Mapping[str, Launch],
    tolerance: float = 1e-2,
) -> Case:
    others = {"torch": {"": torch_does}, **({"Triton": triton} if triton and has_triton() else {})}
    return Case(GROUP, name, float(size), "GB/s", data, ours, others, tolerance, size=size)


def _matrix(element: str, rows: int, columns: int, *vectors: str) -> Data:
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
    }


def softmaxes(target: str, rows: int = ROWS) -> Iterator[Case]:
    """Softmax of rows that are one tile."""
    from kernels.cutile.softmax import softmax

    for element, columns in SOFTMAXES:
        yield _case(
            f"softmax {rows}x{columns} {element}",
            2 * rows * columns * BYTES[element],
            partial(_matrix, element, rows, columns),
            _of_rows(softmax, lambda d: (d["x"], d["out"]), rows, columns, target),
            _torch_softmax,
            {
                f"{programs} programs an SM, {warps} warps": partial(
                    _triton_softmax, programs, warps
                )
                for programs in (2, 4, 8)
                for warps in (4, 8)
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


def norms(target: str, rows: int = ROWS) -> Iterator[Case]:
    """Normalised rows."""
    from kernels.cutile.layer_norm import layer_norm
    from kernels.cutile.rms_norm import rms_norm

    for element, columns in (("f16", 1024), ("f16", 4096), ("bf16", 4096)):
        size = 2 * rows * columns * BYTES[element]
        yield _case(
            f"layer_norm {rows}x{columns} {element}",
            size,
            partial(_with_means, element, rows, columns),
            _of_rows(layer_norm, _of_layer_norm, rows, columns, target),
            _torch_layer_norm,
            {f"{warps} warps": partial(_triton_layer_norm, warps) for warps in (4, 8, 16)},
        )
        yield _case(
            f"rms_norm {rows}x{columns} {element}",
            size,
            partial(_matrix, element, rows, columns, "w"),
            _of_rows(rms_norm, lambda d: (d["x"], d["w"], d["out"]), rows, columns, target),
            _torch_rms_norm,
            {},
        )


def _torch_layer_norm(d: Data) -> Any:
    from torch.nn.functional import layer_norm

    return layer_norm(d["x"], d["x"].shape[-1:], d["w"], d["b"], EPSILON)


def _torch_rms_norm(d: Data) -> Any:
    from torch.nn.functional import rms_norm

    return rms_norm(d["x"], d["x"].shape[-1:], d["w"], EPSILON)


def _with_means(element: str, rows: int, columns: int) -> Data:
    means = {name: unset("f32", rows) for name in ("means", "scales")}
    return {**_matrix(element, rows, columns, "w", "b"), **means}


def _of_layer_norm(d: Data) -> Sequence[Any]:
    return tuple(d[name] for name in ("x", "w", "b", "out", "means", "scales"))


def _triton_layer_norm(warps: int, d: Data) -> None:
    import triton

    from benchmarks.triton_kernels import layer_norm

    rows, columns = d["x"].shape
    block = triton.next_power_of_2(columns)
    layer_norm[(rows,)](*_of_layer_norm(d), columns, EPSILON, block, num_warps=warps)


def activations(target: str, length: int = 1 << 26) -> Iterator[Case]:
    """GELU by a hyperbolic tangent, element by element."""
    from kernels.cutile.activations import gelu_tanh

    yield _case(
        f"gelu_tanh {length} bf16",
        4 * length,
        lambda: {"x": random("bf16", length), "out": unset("bf16", length)},
        {
            str(tile): cutile(
                gelu_tanh,
                lambda d, tile=tile: (d["x"], d["out"], tile),
                (blocks(length, tile),),
                target,
            )
            for tile in (1024, 2048, 4096)
        },
        _torch_gelu,
        {},
    )


def _torch_gelu(d: Data) -> Any:
    from torch.nn.functional import gelu

    return gelu(d["x"], approximate="tanh")


def others(target: str, length: int = 1 << 26, side: int = 8192) -> Iterator[Case]:
    """Sums of vectors, and transposed matrices."""
    from kernels.cutile.transpose import transpose
    from kernels.cutile.vector_add import vector_add

    yield _case(
        f"vector_add {length} f32",
        12 * length,
        lambda: {
            "a": random("f32", length),
            "b": random("f32", length),
            "out": unset("f32", length),
        },
        {
            str(tile): cutile(
                vector_add,
                lambda d, tile=tile: (d["a"], d["b"], d["out"], tile),
                (blocks(length, tile),),
                target,
            )
            for tile in (1024, 2048, 4096)
        },
        _torch_add,
        {str(block): partial(_triton_add, block) for block in (1024, 2048, 4096)},
        0.0,
    )
    for element in ("f16", "f32"):
        yield _case(
            f"transpose {side}x{side} {element}",
            2 * side * side * BYTES[element],
            partial(_matrix, element, side, side),
            {
                f"{a}x{b}": cutile(
                    transpose,
                    lambda d, a=a, b=b: (d["x"], d["out"], a, b),
                    (blocks(side, a), blocks(side, b)),
                    target,
                )
                for a, b in ((64, 64), (128, 64), (128, 128))
            },
            lambda d: d["out"].copy_(d["x"].t()),
            {},
            0.0,
        )


def _torch_add(d: Data) -> None:
    import torch

    torch.add(d["a"], d["b"], out=d["out"])


def _triton_add(block: int, d: Data) -> None:
    from benchmarks.triton_kernels import vector_add

    length = d["a"].shape[0]
    vector_add[(blocks(length, block),)](d["a"], d["b"], d["out"], length, block)
