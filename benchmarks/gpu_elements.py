"""What `gpu.py` measures of single elements: functions, sums, permutations, gathers, updates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks.gpu_cases import BYTES, Case, Data, blocks, bound_by_memory, cutile, random, unset
from benchmarks.gpu_timing import Launch

LENGTH = 1 << 26
SIDE = 8192
VECTOR_TILES = (1024, 2048, 4096)
FLOATS = ("f16", "bf16", "f32")


def _of_vectors(
    kernel: Any, arguments: Callable[[Data], Sequence[Any]], length: int, target: str
) -> Mapping[str, Launch]:
    """Ours, with some lengths of a tile."""
    return {
        str(tile): cutile(
            kernel,
            lambda d, tile=tile: (*arguments(d), tile),
            (blocks(length, tile),),
            target,
        )
        for tile in VECTOR_TILES
    }


# Functions of an element.


def activations(target: str, length: int = LENGTH) -> Iterator[Case]:
    """GELU by a hyperbolic tangent and by the error function, and SiLU."""
    import kernels.cutile.activations as module

    for name, kernel in (
        ("gelu_tanh", module.gelu_tanh),
        ("gelu_erf", module.gelu_erf),
        ("silu", module.silu),
    ):
        for element in FLOATS:
            yield bound_by_memory(
                f"{name} {length} {element}",
                2 * BYTES[element] * length,
                lambda element=element: {
                    "x": random(element, length),
                    "out": unset(element, length),
                },
                _of_vectors(kernel, lambda d: (d["x"], d["out"]), length, target),
                partial(_torch_activation, name),
                {str(block): partial(_triton_activation, name, block) for block in VECTOR_TILES},
            )


def _torch_activation(name: str, d: Data) -> Any:
    from torch.nn.functional import gelu, silu

    return (
        silu(d["x"])
        if name == "silu"
        else gelu(d["x"], approximate=name[5:].replace("erf", "none"))
    )


def _triton_activation(name: str, block: int, d: Data) -> None:
    from benchmarks.triton_kernels import activation

    length = d["x"].shape[0]
    activation[(blocks(length, block),)](d["x"], d["out"], length, name, block)


def sums(target: str, length: int = LENGTH) -> Iterator[Case]:
    """Sums of two vectors, one of odd length."""
    from kernels.cutile.vector_add import vector_add

    for element, n in (("f32", length), ("f16", length), ("bf16", length), ("bf16", length - 1)):
        yield bound_by_memory(
            f"vector_add {n} {element}",
            3 * BYTES[element] * n,
            lambda element=element, n=n: {
                "a": random(element, n),
                "b": random(element, n),
                "out": unset(element, n),
            },
            _of_vectors(vector_add, lambda d: (d["a"], d["b"], d["out"]), n, target),
            _torch_add,
            {str(block): partial(_triton_add, block) for block in VECTOR_TILES},
            0.0,
            copied="a",
        )


def _torch_add(d: Data) -> None:
    import torch

    torch.add(d["a"], d["b"], out=d["out"])


def _triton_add(block: int, d: Data) -> None:
    from benchmarks.triton_kernels import vector_add

    length = d["a"].shape[0]
    vector_add[(blocks(length, block),)](d["a"], d["b"], d["out"], length, block)


# Elements moved elsewhere.

PERMUTATIONS: Sequence[tuple[str, Sequence[int], Sequence[int], Sequence[Sequence[int]]]] = (
    ("f16", (64, 1024, 1024), (0, 2, 1), ((1, 64, 64), (1, 128, 128))),
    ("f16", (512, 256, 512), (2, 1, 0), ((64, 1, 64), (128, 1, 128))),
    ("f32", (512, 256, 512), (1, 2, 0), ((64, 1, 64), (32, 1, 64))),
    ("f16", (16, 2048, 16, 128), (0, 2, 1, 3), ((1, 16, 2, 128), (1, 64, 1, 128))),
    ("bf16", (32, 64, 64, 512), (0, 3, 1, 2), ((1, 2, 64, 64), (1, 4, 64, 64), (1, 2, 64, 128))),
    ("f32", (16, 256, 64, 128), (3, 1, 2, 0), ((16, 1, 4, 32), (16, 1, 4, 64))),
)
"""Elements, shapes, the axes of the result, and tiles."""


def moves(target: str, side: int = SIDE) -> Iterator[Case]:
    """Transposed matrices, permutations of three and four axes, rows that are looked up."""
    yield from _transposes(target, side)
    yield from _permutations(target)
    yield from _embeddings(target)


def _transposes(target: str, side: int) -> Iterator[Case]:
    from kernels.cutile.transpose import transpose

    for element, m, n in (
        *(("f16", side, side), ("f32", side, side), ("i8", side, side)),
        *(("f16", side - 1, side + 1), ("f32", side - 2, 1000)),
    ):

        def data(element: str = element, m: int = m, n: int = n) -> Data:
            return {"x": random(element, m, n), "out": unset(element, n, m)}

        yield bound_by_memory(
            f"transpose {m}x{n} {element}",
            2 * m * n * BYTES[element],
            data,
            {
                f"{a}x{b}": cutile(
                    transpose,
                    lambda d, a=a, b=b: (d["x"], d["out"], a, b),
                    (blocks(m, a), blocks(n, b)),
                    target,
                )
                for a, b in ((64, 64), (128, 64), (128, 128))
            },
            lambda d: d["out"].copy_(d["x"].t()),
            {f"{a}x{b}": partial(_triton_transpose, a, b) for a, b in ((64, 64), (128, 64))},
            0.0,
            before=0.0 if element == "i8" else math.nan,
        )


def _triton_transpose(rows: int, columns: int, d: Data) -> None:
    from benchmarks.triton_kernels import transpose

    m, n = d["x"].shape
    transpose[(blocks(m, rows), blocks(n, columns))](d["x"], d["out"], m, n, rows, columns)


def _permutations(target: str) -> Iterator[Case]:
    from kernels.cutile.transpose import permute3, permute4, permuted_grid

    for element, shape, axes, tiles in PERMUTATIONS:

        def data(element: str = element, shape: Any = shape, axes: Any = axes) -> Data:
            made = unset(element, *(shape[axis] for axis in axes))
            return {"x": random(element, *shape), "out": made}

        kernel = permute3 if len(shape) == 3 else permute4
        yield bound_by_memory(
            f"permute {'x'.join(map(str, shape))} by {''.join(map(str, axes))} {element}",
            2 * math.prod(shape) * BYTES[element],
            data,
            {
                "x".join(map(str, tile)): cutile(
                    kernel,
                    lambda d, axes=axes, tile=tile: (d["x"], d["out"], *axes, *tile),
                    permuted_grid(shape, tile),
                    target,
                )
                for tile in tiles
            },
            lambda d, axes=axes: d["out"].copy_(d["x"].permute(axes)),
            {},
            0.0,
        )


def _embeddings(target: str, words: int = 65536, rows: int = 32768) -> Iterator[Case]:
    from kernels.cutile.gather_scatter import embedding

    for element, width in (("f16", 1024), ("f16", 1023), ("f32", 768)):

        def data(element: str = element, width: int = width) -> Data:
            import torch

            found = torch.randint(0, rows, (words,), device="cuda", dtype=torch.int32)
            table, out = random(element, rows, width), unset(element, words, width)
            return {"table": table, "words": found, "out": out}

        wide = 1 << (width - 1).bit_length()
        yield bound_by_memory(
            f"embedding {words}x{width} {element}",
            2 * words * width * BYTES[element],
            data,
            {
                f"{tall}x{columns}": cutile(
                    embedding,
                    lambda d, tall=tall, columns=columns: (
                        *(d["table"], d["words"], d["out"]),
                        *(tall, columns),
                    ),
                    (blocks(words, tall), blocks(width, columns)),
                    target,
                )
                for tall, columns in ((4, wide), (8, wide), (16, 256))
            },
            _torch_embedding,
            {f"{warps} warps": partial(_triton_embedding, warps) for warps in (1, 2, 4)},
            0.0,
            copied=None,
        )


def _torch_embedding(d: Data) -> None:
    import torch

    torch.index_select(d["table"], 0, d["words"], out=d["out"])


def _triton_embedding(warps: int, d: Data) -> None:
    import triton

    from benchmarks.triton_kernels import embedding

    words, width = d["out"].shape
    block = triton.next_power_of_2(width)
    embedding[(words,)](d["table"], d["words"], d["out"], width, block, num_warps=warps)


# Many elements that become one.


def reductions(target: str) -> Iterator[Case]:
    """Sums of the columns and of the rows of a matrix."""
    from kernels.cutile.reductions import sum_of_columns, sum_of_rows

    for axis, element, m, n, tiles in (
        (0, "f32", SIDE, SIDE, ((64, 32), (32, 64), (128, 32))),
        (0, "f16", SIDE, SIDE, ((64, 64), (128, 64), (32, 64))),
        (0, "f32", 65536, 1024, ((256, 8), (128, 16), (512, 8))),
        (0, "bf16", 65000, 1000, ((256, 8), (128, 16), (256, 16))),
        (1, "f32", SIDE, SIDE, ((1, 1024), (1, 4096), (4, 1024))),
        (1, "f16", 4096, 32768, ((1, 2048), (1, 4096), (1, 8192))),
    ):

        def data(element: str = element, m: int = m, n: int = n, axis: int = axis) -> Data:
            return {"x": random(element, m, n), "out": unset(element, (n, m)[axis])}

        kernel = (sum_of_columns, sum_of_rows)[axis]
        yield bound_by_memory(
            f"sum of {('columns', 'rows')[axis]} {m}x{n} {element}",
            m * n * BYTES[element],
            data,
            {
                f"{a}x{b}": cutile(
                    kernel,
                    lambda d, a=a, b=b: (d["x"], d["out"], a, b),
                    (blocks(n, b) if axis == 0 else blocks(m, a),),
                    target,
                )
                for a, b in tiles
            },
            partial(_torch_sum, axis),
            {f"{a}x{b}": partial(_triton_sum, axis, a, b) for a, b in tiles},
            copied=None,
        )


def _torch_sum(axis: int, d: Data) -> None:
    import torch

    torch.sum(d["x"], axis, out=d["out"])


def _triton_sum(axis: int, rows: int, columns: int, d: Data) -> None:
    from benchmarks.triton_kernels import sum_of_columns, sum_of_rows

    m, n = d["x"].shape
    kernel, count = (
        (sum_of_columns, blocks(n, columns)) if axis == 0 else (sum_of_rows, blocks(m, rows))
    )
    kernel[(count,)](d["x"], d["out"], m, n, rows, columns)


# Elements added to where data say.


def updates(target: str, length: int = 1 << 25) -> Iterator[Case]:
    """Histograms, and weights added to the elements that indices name; results begin as zeros."""
    from kernels.cutile.histogram import add_weights, count

    for bins in (256, 4096, 65536):
        yield bound_by_memory(
            f"histogram {length} into {bins}",
            4 * length,
            partial(_indices, length, bins, "i32"),
            _updating(count, lambda d: (d["x"], d["out"]), length, target),
            partial(_torch_histogram, bins),
            {str(block): partial(_triton_histogram, block) for block in VECTOR_TILES},
            0.0,
            copied=None,
            before=0.0,
        )
    for bins in (1024, 1 << 20):
        yield bound_by_memory(
            f"scatter-add {length} into {bins} f32",
            8 * length,
            partial(_indices, length, bins, "f32"),
            _updating(add_weights, lambda d: (d["x"], d["w"], d["out"]), length, target),
            _torch_scatter_add,
            {},
            copied=None,
        )


def _updating(
    kernel: Any, arguments: Callable[[Data], Sequence[Any]], length: int, target: str
) -> Mapping[str, Launch]:
    """Ours, after zeros."""

    def zeroed(launch: Launch, d: Data) -> None:
        d["out"].zero_()
        launch(d)

    ours = {
        str(tile): cutile(
            kernel,
            lambda d, tile=tile: (*arguments(d), tile),
            (blocks(length, tile),),
            target,
        )
        for tile in (1024, 4096, 8192)
    }
    return {name: partial(zeroed, launch) for name, launch in ours.items()}


def _indices(length: int, bins: int, element: str) -> Data:
    import torch

    x = torch.randint(0, bins, (length,), device="cuda", dtype=torch.int32)
    weights = {"w": random(element, length), "wide": x.long()} if element == "f32" else {}
    return {"x": x, "out": unset(element, bins), **weights}


def _torch_histogram(bins: int, d: Data) -> Any:
    import torch

    return torch.histc(d["x"], bins, 0, bins - 1)


def _torch_scatter_add(d: Data) -> None:
    d["out"].zero_().scatter_add_(0, d["wide"], d["w"])


def _triton_histogram(block: int, d: Data) -> None:
    from benchmarks.triton_kernels import histogram

    length = d["x"].shape[0]
    d["out"].zero_()
    histogram[(blocks(length, block),)](d["x"], d["out"], length, block)
