"""Launches of our cuTile kernels in which constants and hints are searched.

CASES["matmul f16"].request(Arrays())              arrays of zeros, for predictions
CASES["matmul f16"].request(Arrays(random=True))   random data, for measurements
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from math import log2, sqrt
from typing import Any

import numpy as np

from kernels.elements import ELEMENTS
from kernels.kernel import tiles_of
from tileas_xdsl.tuning.prediction.launch_time import Predicted
from tileas_xdsl.tuning.space import Config, Space, configs_of
from tileas_xdsl.tuning.tuner import Request

PATTERN = 1 << 16
"""Random numbers that are repeated through an array."""

PERSISTENT_BLOCKS = 132
"""One on each multiprocessor of an H100 or H200."""


@dataclass
class Arrays:
    """Arrays of a launch: zeros, whose pages nothing touches, or random numbers."""

    random: bool = False
    generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def of(self, element: str, *shape: int) -> Any:
        """Return numbers of a normal distribution."""
        kind = ELEMENTS[element].dtype
        if not self.random:
            return np.zeros(shape, kind)
        return np.resize(self.generator.standard_normal(PATTERN).astype(kind), shape)

    def below(self, limit: int, *shape: int) -> Any:
        """Return whole numbers in i32, at least 0."""
        return self.generator.integers(0, limit, shape).astype(np.int32)


@dataclass(frozen=True)
class Case:
    """A kernel of `kernels/cutile`, the arguments of a launch, and what is searched."""

    kernel: str
    """Module and name."""
    arguments: Callable[[Arrays], Mapping[str, Any]]
    """By parameter; constants have their defaults."""
    space: Space
    grid: Callable[[Config], Sequence[int]]

    def request(self, arrays: Arrays, target: str) -> Request:
        """Return what is tuned."""
        module, _, name = self.kernel.partition(".")
        kernel = getattr(import_module(f"kernels.cutile.{module}"), name)
        return Request(kernel, self.arguments(arrays), self.space, self.grid, target)


def all_configs(request: Request, seed: int = 0) -> Sequence[Config]:
    """Return the default, and all others in a random order, which is that of the seed."""
    first, *others = configs_of(request.space, {**request.constants, **request.hints})
    random.Random(seed).shuffle(others)
    return [first, *others]


def distinct(
    found: Sequence[tuple[Config, Predicted | str]], count: int
) -> Sequence[tuple[Config, Predicted]]:
    """Return so many that are not refused, each of other code than all before."""
    by_code: dict[str, tuple[Config, Predicted]] = {}
    for config, answer in found:
        if isinstance(answer, Predicted) and answer.code not in by_code:
            by_code[answer.code] = config, answer
    return [*by_code.values()][:count]


# The launches.

HINTS_OF_ROWS: Space = {"num_worker_warps": (0, 4, 8), "occupancy": (0, 2, 4)}


def _product(
    kernel: str, element: str, out: str, sizes: tuple[int, int, int], *, order: str = "ab"
) -> Case:
    m, n, k = sizes

    def arguments(arrays: Arrays) -> Mapping[str, Any]:
        a = arrays.of(element, *((k, m) if order == "Tb" else (m, k)))
        b = arrays.of(element, *((n, k) if order == "aT" else (k, n)))
        return {"a": a, "b": b, "c": arrays.of(out, m, n), "tm": 128, "tn": 128, "tk": 64}

    return Case(
        kernel,
        arguments,
        {"tm": (64, 128, 256), "tn": (64, 128, 256), "tk": (32, 64, 128), "occupancy": (0, 2)},
        lambda c: (tiles_of(m, c["tm"]), tiles_of(n, c["tn"]), 1),
    )


def _without(found: Mapping[str, Any], names: str) -> Mapping[str, Any]:
    return {name: value for name, value in found.items() if name not in names}


def _batched(element: str, sizes: tuple[int, int, int, int]) -> Case:
    batch, m, n, k = sizes
    one = _product("batched_matmul.batched_matmul", element, element, (m, n, k))

    def arguments(arrays: Arrays) -> Mapping[str, Any]:
        shapes = {"a": (batch, m, k), "b": (batch, k, n), "c": (batch, m, n)}
        found = {name: arrays.of(element, *shape) for name, shape in shapes.items()}
        return {**found, "tm": 128, "tn": 128, "tk": 64}

    return Case(one.kernel, arguments, one.space, lambda c: (*one.grid(c)[:2], batch))


def _persistent(element: str, sizes: tuple[int, int, int]) -> Case:
    one = _product("persistent.persistent_matmul", element, element, sizes)
    return Case(
        one.kernel,
        lambda arrays: {**one.arguments(arrays), "rows_of_group": 8},
        {**one.space, "rows_of_group": (4, 8)},
        lambda c: (PERSISTENT_BLOCKS, 1, 1),
    )


def _split(element: str, sizes: tuple[int, int, int], parts: int) -> Case:
    one = _product("split_k.split_k_atomic", element, "f32", sizes)
    return Case(one.kernel, one.arguments, one.space, lambda c: (*one.grid(c)[:2], parts))


def _attention(batch: int, heads: int, length: int, d: int, *, causal: bool) -> Case:
    def arguments(arrays: Arrays) -> Mapping[str, Any]:
        names = ("q", "k", "v", "out")
        constants = {"heads": heads, "group": 1, "scale": log2(np.e) / sqrt(d), "causal": causal}
        found = {name: arrays.of("f16", batch, heads, length, d) for name in names}
        return {**found, **constants, "tm": 128, "tn": 64, "d": d}

    space = {"tm": (64, 128, 256), "tn": (32, 64, 128), "num_worker_warps": (0, 8)}
    return Case(
        "attention.attention",
        arguments,
        {**space, "occupancy": (0, 2)},
        lambda c: (tiles_of(length, c["tm"]), batch * heads, 1),
    )


def _rows(
    kernel: str,
    names: Mapping[str, Callable[[Arrays], Any]],
    m: int,
    n: int,
    *,
    rows: int = 4,
    more: Space | None = None,
) -> Case:
    """A kernel whose blocks take some whole rows of a matrix."""
    return Case(
        kernel,
        lambda arrays: {
            **{k: make(arrays) for k, make in names.items()},
            "rows": rows,
            "columns": n,
        },
        {"rows": (1, 2, 4, 8, 16, 32), **(more or HINTS_OF_ROWS)},
        lambda c: (tiles_of(m, c["rows"]), 1, 1),
    )


def _vector(
    kernel: str, names: Sequence[str], count: int, element: str = "f32", **scalars: float
) -> Case:
    return Case(
        kernel,
        lambda arrays: {
            **scalars,
            **{name: arrays.of(element, count) for name in names},
            "tile": 1024,
        },
        {"tile": (256, 512, 1024, 2048, 4096, 8192, 16384), "num_worker_warps": (0, 4, 8)},
        lambda c: (tiles_of(count, c["tile"]), 1, 1),
    )


def _transpose(m: int, n: int) -> Case:
    return Case(
        "transpose.transpose",
        lambda a: {"x": a.of("f16", m, n), "y": a.of("f16", n, m), "rows": 64, "columns": 64},
        {"rows": (16, 32, 64, 128), "columns": (16, 32, 64, 128), "num_worker_warps": (0, 8)},
        lambda c: (tiles_of(m, c["rows"]), tiles_of(n, c["columns"]), 1),
    )


def _gradients(batch: int, heads: int, length: int, d: int) -> Case:
    def arguments(arrays: Arrays) -> Mapping[str, Any]:
        shape = (batch, heads, length, d)
        return {
            **{name: arrays.of("f16", *shape) for name in ("q", "k", "v", "dout")},
            **{name: arrays.of("f32", *shape[:3]) for name in ("logarithms", "sums")},
            "dq": arrays.of("f32", *shape),
            **{name: arrays.of("f16", *shape) for name in ("dk", "dv")},
            "heads": heads,
            "scale": 1 / sqrt(d),
            "causal": False,
            "tm": 64,
            "tn": 128,
            "d": d,
        }

    return Case(
        "attention_backward.gradients",
        arguments,
        {"tm": (32, 64, 128), "tn": (64, 128), "num_worker_warps": (0, 8)},
        lambda c: (tiles_of(length, c["tn"]), batch * heads, 1),
    )


def _flash_decode(batch: int, few: int, length: int, d: int) -> Case:
    tm, most_parts = 16, tiles_of(length, 32)

    def arguments(arrays: Arrays) -> Mapping[str, Any]:
        keys = {name: arrays.of("f16", batch, few, length, d) for name in ("k", "v")}
        return {
            "q": arrays.of("f16", batch, few, 8, d),
            **keys,
            "parts": arrays.of("f32", batch * few, most_parts, tm, d),
            "logarithms": arrays.of("f32", batch * few, most_parts, tm),
            "few": few,
            "scale": log2(np.e) / sqrt(d),
            "tm": tm,
            "tn": 64,
            "per_part": 16,
            "d": d,
        }

    return Case(
        "flash_decode.flash_decode",
        arguments,
        {"tm": (16, 64), "tn": (32, 64, 128), "per_part": (4, 8, 16, 32)},
        lambda c: (batch * few, tiles_of(length, c["tn"] * c["per_part"]), 1),
    )


def _quantized(m: int, n: int, k: int) -> Case:
    one = _product("quantized_matmul.quantized_matmul", "f16", "f16", (m, n, k))

    def arguments(arrays: Arrays) -> Mapping[str, Any]:
        found = one.arguments(arrays)
        b = arrays.below(100, k, n).astype(np.int8)
        return {"a": found["a"], "b": b, "scales": arrays.of("f16", 1, n), **_without(found, "ab")}

    return Case(one.kernel, arguments, one.space, one.grid)


def _embedding(rows: int, words: int, width: int) -> Case:
    return Case(
        "gather_scatter.embedding",
        lambda arrays: {
            "table": arrays.of("f16", rows, width),
            "words": arrays.below(rows, words),
            "y": arrays.of("f16", words, width),
            "rows": 8,
            "columns": 512,
        },
        {"rows": (1, 4, 8, 16), "columns": (256, 512, 1024), "num_worker_warps": (0, 8)},
        lambda c: (tiles_of(words, c["rows"]), tiles_of(width, c["columns"]), 1),
    )


def _by_columns(kernel: str, m: int, n: int, width: int) -> Case:
    """A kernel whose blocks take tiles of a matrix of `m` rows and `n` columns, of `width` read."""
    return Case(
        kernel,
        lambda a: {"x": a.of("f16", m, width), "y": a.of("f16", m, n), "rows": 4, "columns": 512},
        {"rows": (1, 2, 4, 8, 16), "columns": (128, 256, 512, 1024), "num_worker_warps": (0, 8)},
        lambda c: (tiles_of(m, c["rows"]), tiles_of(n, c["columns"]), 1),
    )


def _sum_of_columns(m: int, n: int) -> Case:
    return Case(
        "reductions.sum_of_columns",
        lambda a: {"x": a.of("f16", m, n), "y": a.of("f32", n), "rows": 64, "columns": 64},
        {"rows": (16, 32, 64, 128), "columns": (32, 64, 128), "num_worker_warps": (0, 8)},
        lambda c: (tiles_of(n, c["columns"]), 1, 1),
    )


def _rope(heads: int, positions: int, half: int) -> Case:
    def arguments(arrays: Arrays) -> Mapping[str, Any]:
        table = (positions, half)
        whole = (heads, positions, 2 * half)
        return {
            "x": arrays.of("f16", *whole),
            "cosines": arrays.of("f32", *table),
            "sines": arrays.of("f32", *table),
            "y": arrays.of("f16", *whole),
            "rows": 16,
            "half": half,
        }

    return Case(
        "rope.rope",
        arguments,
        {"rows": (4, 8, 16, 32, 64, 128), "num_worker_warps": (0, 4, 8), "occupancy": (0, 4)},
        lambda c: (heads, tiles_of(positions, c["rows"]), 1),
    )


M, N = 16384, 4096
"""Of matrices that are taken by rows."""


def _matrix(arrays: Arrays) -> Any:
    return arrays.of("f16", M, N)


def _line(arrays: Arrays) -> Any:
    return arrays.of("f16", N)


def _column(arrays: Arrays) -> Any:
    return arrays.of("f32", M)


def _labels(arrays: Arrays) -> Any:
    return arrays.below(N, M)


_BY_COLUMNS: Space = {"columns": (256, 512, 1024, 2048), "num_worker_warps": (0, 8)}
_SQUARE = (4096, 4096, 4096)


def square(count: int) -> Case:
    """A product of square matrices of f16."""
    return _product("matmul.matmul", "f16", "f16", (count, count, count))


CASES: Mapping[str, Case] = {
    "matmul f16": _product("matmul.matmul", "f16", "f16", _SQUARE),
    "matmul f16 4000x512x8192": _product("matmul.matmul", "f16", "f16", (4000, 512, 8192)),
    "matmul e4m3": _product("matmul.matmul", "e4m3", "f16", _SQUARE),
    "matmul_at bf16": _product("matmul.matmul_at", "bf16", "bf16", _SQUARE, order="Tb"),
    "matmul_bt bf16": _product("matmul.matmul_bt", "bf16", "bf16", _SQUARE, order="aT"),
    "matmul_tf32": _product("matmul.matmul_tf32", "f32", "f32", (2048, 2048, 2048)),
    "batched_matmul f16": _batched("f16", (16, 1024, 1024, 1024)),
    "persistent_matmul f16": _persistent("f16", _SQUARE),
    "split_k_atomic f16": _split("f16", (512, 512, 16384), 8),
    "attention": _attention(4, 16, 2048, 64, causal=False),
    "attention causal": _attention(2, 16, 2048, 128, causal=True),
    "softmax": _rows("softmax.softmax", {"x": _matrix, "y": _matrix}, M, N),
    "softmax_online": _rows(
        "softmax.softmax_online", {"x": _matrix, "y": _matrix}, M, N, more=_BY_COLUMNS
    ),
    "layer_norm": _rows(
        "layer_norm.layer_norm",
        {
            "x": _matrix,
            "w": _line,
            "b": _line,
            "y": _matrix,
            "means": _column,
            "scales": _column,
        },
        M,
        N,
    ),
    "rms_norm": _rows("rms_norm.rms_norm", {"x": _matrix, "weight": _line, "y": _matrix}, M, N),
    "cross_entropy": _rows(
        "cross_entropy.cross_entropy",
        {"x": _matrix, "labels": _labels, "losses": _column, "gradients": _matrix},
        M,
        N,
    ),
    "sum_of_rows": _rows(
        "reductions.sum_of_rows", {"x": _matrix, "y": _column}, M, N, more=_BY_COLUMNS
    ),
    "gelu_erf": _vector("activations.gelu_erf", ("x", "y"), 1 << 25),
    "transpose": _transpose(8192, 8192),
    "rope": _rope(64, 8192, 64),
    "attention d128": _attention(4, 16, 4096, 128, causal=False),
    "attention gradients": _gradients(2, 16, 4096, 128),
    "flash_decode": _flash_decode(8, 8, 8192, 128),
    "quantized_matmul": _quantized(*_SQUARE),
    "layer_norm_dx": _rows(
        "layer_norm.layer_norm_dx",
        {
            "x": _matrix,
            "w": _line,
            "dy": _matrix,
            "means": _column,
            "scales": _column,
            "dx": _matrix,
        },
        M,
        N,
    ),
    "geglu": _by_columns("activations.geglu", M, N, 2 * N),
    "silu f16": _vector("activations.silu", ("x", "y"), 1 << 26, "f16"),
    "vector_add": _vector("vector_add.vector_add", ("a", "b", "c"), 1 << 26),
    "embedding": _embedding(50000, M, N),
    "sum_of_columns": _sum_of_columns(M, 2 * N),
}
