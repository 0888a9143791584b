"""What `gpu.py` measures: our kernels, what torch has for the same, and Triton's of the tutorials."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

from xdsl.utils.arg_spec import ArgSpec, parse_pipeline

import tileas_xdsl as tileas
from benchmarks.gpu_timing import Launch
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import (
    compile_module,
    passes_to_ptx,
    registered_context,
    tile_ir_module,
)
from tileas_xdsl.frontend.cutile.kernels import parameters_of
from tileas_xdsl.frontend.cutile.tile_ir import export_bytecode
from tileas_xdsl.runtime.arguments.cutile_arguments import flattened
from tileas_xdsl.runtime.gpu.device_arrays import device_array
from tileas_xdsl.tuning.candidates import Task
from tileas_xdsl.tuning.prediction.scalar_values import numbers_of

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
"""The passes of kernels of ours that are made from now on, where they are not the default."""


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
    made, passes = list[Any](), list(PASSES)

    def launch(data: Data) -> None:
        args = arguments(data)
        if not passes:
            import torch

            tileas.launch(torch.cuda.current_stream(), tuple(grid), kernel, tuple(args))
            return
        if not made:
            made.append(compiled_by(passes, kernel, args, grid, target))
        made[0].launch(*args, grid=grid)

    return launch


def compiled_by(
    passes: Sequence[ArgSpec], kernel: Any, args: Sequence[Any], grid: Sequence[int], target: str
) -> CompiledKernel:
    """Compile a kernel of cuTile by other passes, in the form that this launch of it wants."""
    found = [device_array(value, "data") for value in args]
    pairs = zip(args, found, strict=True)
    values = [value if array is None else array.shadow for value, array in pairs]
    parameters = parameters_of(kernel, values, is_dispatched=True)
    x, y, z = (*grid, 1, 1)[:3]
    numbers = tuple(numbers_of(flattened(parameters, values)))
    task = Task(export_bytecode(kernel, parameters), target, numbers, (x, y, z))
    module = tile_ir_module(task.content, "<benchmark>")
    context = registered_context()
    made = compile_module(module, context, target, passes=passes, choose=task.wants)
    return replace(made, parameters=parameters)


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
    """Matrix products with f32 accumulation, all but one of them square."""
    for element in ("f16", "bf16"):
        for n in sizes:
            yield product_case(element, (n, n, n), target)
    if max(sizes) > 4096:
        yield product_case("bf16", (4096, 14336, 4096), target)


def product_case(element: str, sizes: tuple[int, int, int], target: str) -> Case:
    """A plain product of M x K and K x N."""
    m, n, k = sizes
    name = f"{m}^3" if m == n == k else f"{m}x{n}x{k}"
    triton = {"Triton": triton_matmuls(sizes)} if has_triton() else {}
    return Case(
        "matrix product",
        f"{name} {element}",
        2.0 * m * n * k,
        "TFLOP/s",
        partial(_factors, element, sizes),
        {_tiles(t): _our_matmul((m, n), t, target) for t in MATMUL_TILES},
        {"cuBLAS": {"": _cublas}, **triton},
        size=2 * (m * k + k * n + m * n),
    )


def _factors(element: str, sizes: tuple[int, int, int]) -> Data:
    m, n, k = sizes
    a, b = random(element, m, k), random(element, k, n)
    return {"a": a, "b": b, "out": unset(element, m, n)}


def _cublas(d: Data) -> None:
    import torch

    torch.matmul(d["a"], d["b"], out=d["out"])


def _tiles(tiles: Sequence[int]) -> str:
    return "x".join(map(str, tiles))


def _our_matmul(sizes: tuple[int, int], tiles: tuple[int, int, int], target: str) -> Launch:
    from kernels.cutile.matmul import matmul

    grid = (blocks(sizes[0], tiles[0]), blocks(sizes[1], tiles[1]))
    return cutile(matmul, lambda d: (d["a"], d["b"], d["out"], *tiles), grid, target)


def triton_matmuls(
    sizes: tuple[int, int, int],
    tiles: Sequence[tuple[tuple[int, int, int], int, int]] = TRITON_MATMUL,
    batch: int = 0,
    transposed: bool = False,
) -> Mapping[str, Launch]:
    """Triton's product, by descriptors and, where it is one and B is K x N, by pointers too.

    With `batch` there are so many; then tiles divide.
    """
    found: dict[str, Launch] = {}
    for how in ("TMA",) if batch or transposed else ("pointers", "TMA"):
        for tile, stages, warps in tiles:
            found[f"{how} {_tiles(tile)}, {stages} stages, {warps} warps"] = partial(
                _triton_matmul, sizes, tile, stages, warps, how == "TMA", max(batch, 1), transposed
            )
    return found


def _triton_matmul(
    sizes: tuple[int, int, int],
    tiles: tuple[int, int, int],
    stages: int,
    warps: int,
    described: bool,
    batch: int,
    transposed: bool,
    d: Data,
) -> None:
    from benchmarks.triton_kernels import matmul, matmul_by_descriptors

    (m, n, k), (bm, bn, bk) = sizes, tiles
    kernel, arrays, more = matmul, [d["a"], d["b"], d["out"]], {}
    if described:
        boxes = ([bm, bk], [bn, bk] if transposed else [bk, bn], [bm, bn])
        flat = [x.view(-1, x.shape[-1]) for x in arrays]
        arrays = [described_array(x, box) for x, box in zip(flat, boxes, strict=True)]
        kernel, more = matmul_by_descriptors, {"transposed": transposed}
    grid = (blocks(m, bm) * blocks(n, bn), batch)
    kernel[grid](*arrays, m, n, k, bm, bn, bk, 8, **more, num_stages=stages, num_warps=warps)


def described_array(tensor: Any, box: Sequence[int]) -> Any:
    """A tensor descriptor of Triton."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor.from_tensor(tensor, list(box))


# Attention.

ATTENTION_TILES = ((64, 64), (64, 128), (128, 64), (128, 128))
TRITON_ATTENTION = (
    *(((128, 128), 2, 8), ((128, 128), 3, 8), ((128, 64), 3, 8), ((128, 64), 3, 4)),
    *(((64, 64), 3, 4),),
)
"""Tiles of queries and keys, stages, warps."""


@dataclass(frozen=True)
class Heads:
    """Sizes of an attention: `group` heads share keys and values."""

    batch: int
    heads: int
    length: int
    d: int
    element: str = "f16"
    causal: bool = False
    group: int = 1

    def __str__(self) -> str:
        heads = f"{self.heads}/{self.heads // self.group}" if self.group > 1 else f"{self.heads}"
        sizes = f"{self.batch}x{heads}x{self.length}x{self.d}"
        return f"{sizes} {self.element}{' causal' * self.causal}"

    @property
    def work(self) -> float:
        """Operations."""
        both = 4.0 * self.batch * self.heads * self.length**2 * self.d
        return both / (1 + self.causal)

    @property
    def shapes(self) -> Mapping[str, Sequence[int]]:
        """Of all arrays, by name."""
        many = (self.batch, self.heads, self.length, self.d)
        few = (self.batch, self.heads // self.group, self.length, self.d)
        return {"q": many, "k": few, "v": few, "out": many}

    def data(self) -> Data:
        """Random queries, keys and values."""
        made = {name: random(self.element, *self.shapes[name]) for name in "qkv"}
        return {**made, "out": unset(self.element, *self.shapes["out"])}


ATTENTIONS = (
    *(Heads(4, 16, 4096, d, causal=causal) for d in (64, 128) for causal in (False, True)),
    *(Heads(4, 16, 4096, 128, "bf16", causal) for causal in (False, True)),
    Heads(1, 32, 16384, 128, "bf16", causal=True, group=4),
    Heads(16, 16, 512, 64),
    Heads(16, 16, 512, 128, causal=True),
    Heads(4, 16, 4096, 256),
)


def attentions(
    target: str,
    sizes: Sequence[Heads] = ATTENTIONS,
    tiles: Sequence[tuple[int, int]] = ATTENTION_TILES,
) -> Iterator[Case]:
    """Softmax of products of queries and keys, times values."""
    for one in sizes:
        others = {"SDPA": {name: partial(_sdpa, name, one) for name in ("cuDNN", "flash")}}
        yield Case(
            "attention",
            str(one),
            one.work,
            "TFLOP/s",
            one.data,
            {_tiles(t): _our_attention(one, t, target) for t in tiles},
            {**others, **({"Triton": _triton_attentions(one)} if has_triton() else {})},
            size=sum(BYTES[one.element] * math.prod(shape) for shape in one.shapes.values()),
        )


def _our_attention(one: Heads, tiles: tuple[int, int], target: str) -> Launch:
    from kernels.cutile.attention import LOG2_E, attention

    rest = (one.heads, one.group, LOG2_E / math.sqrt(one.d), one.causal, *tiles, one.d)
    grid = (blocks(one.length, tiles[0]), one.batch * one.heads)
    return cutile(attention, lambda x: (x["q"], x["k"], x["v"], x["out"], *rest), grid, target)


def _sdpa(which: str, one: Heads, d: Data) -> Any:
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    backends = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}
    grouped = {"enable_gqa": True} if one.group > 1 else {}
    with sdpa_kernel(backends[which]):
        return scaled_dot_product_attention(d["q"], d["k"], d["v"], is_causal=one.causal, **grouped)


def _triton_attentions(one: Heads) -> Mapping[str, Launch]:
    return {
        f"{_tiles(tiles)}, {stages} stages, {warps} warps": partial(
            _triton_attention, one, tiles, stages, warps
        )
        for tiles, stages, warps in TRITON_ATTENTION
    }


def _triton_attention(one: Heads, tiles: tuple[int, int], stages: int, warps: int, x: Data) -> None:
    from benchmarks.triton_kernels import attention

    d, (bm, bn) = one.d, tiles
    flat = [x[name].view(-1, d) for name in ("q", "k", "v", "out")]
    arrays = [
        described_array(array, (rows, d))
        for array, rows in zip(flat, (bm, bn, bn, bm), strict=True)
    ]
    constants = (one.causal, bm, bn, d, one.group)
    scale = math.log2(math.e) / math.sqrt(d)
    grid = (blocks(one.length, bm), one.batch * one.heads)
    attention[grid](*arrays, one.length, scale, *constants, num_stages=stages, num_warps=warps)
