"""What `gpu.py` measures: our kernels, what torch has for the same, and Triton's of the tutorials."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any

from xdsl.utils.arg_spec import ArgSpec, parse_pipeline

import tileas_xdsl as tileas
from benchmarks.gpu_timing import Launch
from tileas_xdsl.compiler import compile, passes_to_ptx
from tileas_xdsl.runtime.gpu.device_arrays import device_array

TORCH_TYPES = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "e4m3": "float8_e4m3fn",
    "i8": "int8",
    "i32": "int32",
}
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "e4m3": 1, "i8": 1, "i32": 4}

Data = Mapping[str, Any]
"""Tensors by name; `out` is the result."""


@dataclass(frozen=True)
class Case:
    """A computation, and its implementations."""

    group: str
    name: str
    work: float
    """Operations, or bytes that must be moved."""
    unit: str
    """TFLOP/s or GB/s."""
    data: Callable[[], Data]
    """Fresh random data."""
    ours: Mapping[str, Launch]
    """Variants by name: the fastest counts, of others too."""
    others: Mapping[str, Mapping[str, Launch]]
    tolerance: float = 1e-2
    """Of the norm of the difference from torch's result, relative to the norm of that."""
    size: int = field(kw_only=True)
    """Bytes of a set of data."""
    copied: str | None = None
    """A tensor as large as `out`: its copy is the bound of what memory bounds."""

    before: float = math.nan
    """What `out` is filled with before a launch that is checked."""

    def rate(self, milliseconds: float) -> float:
        """Work in a time, in the unit."""
        return self.work / milliseconds / {"TFLOP/s": 1e9, "GB/s": 1e6}[self.unit]


def has_triton() -> bool:
    """Whether Triton is installed."""
    return find_spec("triton") is not None


def random(element: str, *shape: int) -> Any:
    """Normal numbers on the GPU, or bytes of the whole range."""
    import torch

    if element == "i8":
        return torch.randint(-128, 128, shape, device="cuda", dtype=torch.int8)
    made = torch.randn(shape, device="cuda", dtype=torch.float32)
    return made.to(getattr(torch, TORCH_TYPES[element]))


def unset(element: str, *shape: int) -> Any:
    """NaN on the GPU, which a kernel that leaves something out does not hide; zeros of integers."""
    import torch

    kind = getattr(torch, TORCH_TYPES[element])
    nothing = float("nan") if kind.is_floating_point else 0
    return torch.full(shape, nothing, device="cuda", dtype=kind)


PASSES: list[ArgSpec] = []
"""The passes of our kernels, where they are not the default."""


def compile_with(changes: Sequence[str]) -> None:
    """Compile our kernels with other passes: of each change's name, what it says instead.

    A change is a pipeline, whose last pass it replaces (`a,b`: `a` comes to stand in front of `b`),
    or `without NAME`.
    """
    specs = list(passes_to_ptx())
    for change in changes:
        word, _, name = change.partition(" ")
        new = [] if word == "without" else list(parse_pipeline(change))
        name = name if word == "without" else new[-1].name
        specs = [one for old in specs for one in (new if old.name == name else [old])]
    PASSES[:] = specs if changes else []


def cutile(
    kernel: Any, arguments: Callable[[Data], Sequence[Any]], grid: Sequence[int], target: str
) -> Launch:
    """Launches a kernel of cuTile, which is compiled for the first data it gets."""
    made: list[Any] = []

    def launch(data: Data) -> None:
        args = arguments(data)
        if not PASSES:
            import torch

            tileas.launch(torch.cuda.current_stream(), tuple(grid), kernel, tuple(args))
            return
        if not made:
            found = [device_array(value, "data") for value in args]
            pairs = zip(args, found, strict=True)
            shadows = [value if array is None else array.shadow for value, array in pairs]
            made.append(compile(kernel, *shadows, target=target, passes=PASSES))
        made[0].launch(*args, grid=grid)

    return launch


def bound_by_memory(
    name: str,
    size: int,
    data: Callable[[], Data],
    ours: Mapping[str, Launch],
    torch_does: Launch,
    triton: Mapping[str, Launch],
    tolerance: float = 1e-2,
    copied: str | None = "x",
    before: float = math.nan,
) -> Case:
    """Bytes that must be moved, which are those of a set of data."""
    others = {"torch": {"": torch_does}, **({"Triton": triton} if triton and has_triton() else {})}
    return Case(
        *("bound by memory", name, float(size), "GB/s", data, ours, others, tolerance),
        size=size,
        copied=copied,
        before=before,
    )


def blocks(extent: int, tile: int) -> int:
    """Tiles that cover an extent."""
    return -(-extent // tile)


# Matrix products.

MATMUL_TILES = ((128, 128, 64), (128, 256, 64), (256, 128, 64), (256, 256, 64))
TRITON_MATMUL = (
    *(((128, 128, 64), 4, 4), ((128, 256, 64), 3, 8), ((256, 128, 64), 3, 8)),
    *(((128, 128, 64), 3, 8), ((128, 256, 32), 4, 8)),
)
"""Tiles, stages, warps."""


def matmuls(target: str, sizes: Sequence[int] = (2048, 3000, 4000, 4096, 8192)) -> Iterator[Case]:
    """Square matrix products with f32 accumulation."""
    for element in ("f16", "bf16"):
        for n in sizes:
            yield Case(
                "matrix product",
                f"{n}^3 {element}",
                2.0 * n**3,
                "TFLOP/s",
                partial(_factors, element, n),
                {_tiles(t): _our_matmul(n, t, target) for t in MATMUL_TILES},
                {
                    "cuBLAS": {"": _cublas},
                    **({"Triton": _triton_matmuls(n)} if has_triton() else {}),
                },
                size=3 * n * n * 2,
            )


def _factors(element: str, n: int) -> Data:
    return {"a": random(element, n, n), "b": random(element, n, n), "out": unset(element, n, n)}


def _cublas(d: Data) -> None:
    import torch

    torch.matmul(d["a"], d["b"], out=d["out"])


def _tiles(tiles: Sequence[int]) -> str:
    return "x".join(map(str, tiles))


def _our_matmul(n: int, tiles: tuple[int, int, int], target: str) -> Launch:
    from kernels.cutile.matmul import matmul

    grid = (blocks(n, tiles[0]), blocks(n, tiles[1]))
    return cutile(matmul, lambda d: (d["a"], d["b"], d["out"], *tiles), grid, target)


def _triton_matmuls(n: int) -> Mapping[str, Launch]:
    found: dict[str, Launch] = {}
    for tiles, stages, warps in TRITON_MATMUL:
        for described in (False, True):
            how = "TMA" if described else "pointers"
            found[f"{how} {_tiles(tiles)}, {stages} stages, {warps} warps"] = partial(
                _triton_matmul, n, tiles, stages, warps, described
            )
    return found


def _triton_matmul(
    n: int, tiles: tuple[int, int, int], stages: int, warps: int, described: bool, d: Data
) -> None:
    from benchmarks.triton_kernels import matmul, matmul_by_descriptors

    bm, bn, bk = tiles
    arrays = [d["a"], d["b"], d["out"]]
    if described:
        boxes = ([bm, bk], [bk, bn], [bm, bn])
        arrays = [described_array(x, box) for x, box in zip(arrays, boxes, strict=True)]
    kernel = matmul_by_descriptors if described else matmul
    grid = (blocks(n, bm) * blocks(n, bn),)
    kernel[grid](*arrays, n, n, n, bm, bn, bk, 8, num_stages=stages, num_warps=warps)


def described_array(tensor: Any, box: Sequence[int]) -> Any:
    """A tensor descriptor of Triton."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor.from_tensor(tensor, list(box))


# Attention.

ATTENTION_TILES = ((64, 64), (128, 64), (128, 128))
TRITON_ATTENTION = (
    *(((128, 128), 2, 8), ((128, 128), 3, 8), ((128, 64), 3, 8), ((128, 64), 3, 4)),
    *(((64, 64), 3, 4),),
)
"""Tiles of queries and keys, stages, warps."""

BATCH, HEADS, LENGTH = 4, 16, 4096


def attentions(
    target: str, batch: int = BATCH, heads: int = HEADS, length: int = LENGTH
) -> Iterator[Case]:
    """Softmax of products of queries and keys, times values; batches and heads of equal length."""
    for d in (64, 128):
        for causal in (False, True):
            shape = (batch, heads, length, d)
            yield Case(
                "attention",
                f"{batch}x{heads}x{length}x{d} f16{' causal' * causal}",
                4.0 * batch * heads * length**2 * d / (1 + causal),
                "TFLOP/s",
                partial(_queries, shape),
                {_tiles(t): _our_attention(shape, causal, t, target) for t in ATTENTION_TILES},
                {
                    "SDPA": {name: partial(_sdpa, name, causal) for name in ("cuDNN", "flash")},
                    **({"Triton": _triton_attentions(shape, causal)} if has_triton() else {}),
                },
                size=8 * math.prod(shape),
            )


def _queries(shape: Sequence[int]) -> Data:
    return {**{name: random("f16", *shape) for name in "qkv"}, "out": unset("f16", *shape)}


def _our_attention(
    shape: Sequence[int], causal: bool, tiles: tuple[int, int], target: str
) -> Launch:
    from kernels.cutile.attention import LOG2_E, attention

    batch, heads, length, d = shape
    rest = (heads, 1, LOG2_E / math.sqrt(d), causal, *tiles, d)
    grid = (blocks(length, tiles[0]), batch * heads)
    return cutile(attention, lambda x: (x["q"], x["k"], x["v"], x["out"], *rest), grid, target)


def _sdpa(which: str, causal: bool, d: Data) -> Any:
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    backends = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}
    with sdpa_kernel(backends[which]):
        return scaled_dot_product_attention(d["q"], d["k"], d["v"], is_causal=causal)


def _triton_attentions(shape: Sequence[int], causal: bool) -> Mapping[str, Launch]:
    return {
        f"{_tiles(tiles)}, {stages} stages, {warps} warps": partial(
            _triton_attention, shape, causal, tiles, stages, warps
        )
        for tiles, stages, warps in TRITON_ATTENTION
    }


def _triton_attention(
    shape: Sequence[int],
    causal: bool,
    tiles: tuple[int, int],
    stages: int,
    warps: int,
    x: Data,
) -> None:
    from benchmarks.triton_kernels import attention

    batch, heads, length, d = shape
    bm, bn = tiles
    flat = [x[name].view(-1, d) for name in ("q", "k", "v", "out")]
    arrays = [
        described_array(array, (rows, d))
        for array, rows in zip(flat, (bm, bn, bn, bm), strict=True)
    ]
    scale = math.log2(math.e) / math.sqrt(d)
    grid = (blocks(length, bm), batch * heads)
    attention[grid](*arrays, length, scale, causal, bm, bn, d, num_stages=stages, num_warps=warps)
