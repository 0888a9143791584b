"""What `gpu.py` measures of products that are no plain ones: stored otherwise, many, narrow, skinny."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.gpu_cases import (
    BYTES,
    Case,
    Data,
    blocks,
    cutile,
    has_triton,
    random,
    triton_matmuls,
    unset,
)
from benchmarks.gpu_timing import Launch
from tileas_xdsl.target.costs.latencies import latencies

GROUP = "other products"
TILES = ((128, 128, 64), (128, 256, 64), (256, 128, 64))
BYTE_TILES = ((128, 128, 128), (128, 256, 128), (256, 128, 128), (64, 256, 128))
"""Rows, columns and depth of a block."""

FEW_TILES = (
    *((64, 64, 128), (64, 128, 64), (128, 64, 64), (128, 128, 64)),
    *((64, 128, 128), (128, 64, 128)),
)
"""Of launches that have a multiprocessor, or several, for each tile."""

TRITON_FEW = (((64, 64, 128), 4, 4), ((64, 128, 64), 4, 4), ((128, 128, 64), 4, 8))
TRITON_BYTES = (((128, 128, 128), 4, 4), ((128, 256, 128), 3, 8), ((128, 256, 64), 4, 8))
TRITON_BATCHED = (((128, 128, 64), 2, 4), ((128, 128, 64), 3, 8), ((128, 256, 64), 2, 8))
TRITON_SKINNY = (((16, 64, 128), 4, 4), ((16, 128, 128), 4, 4), ((16, 64, 256), 3, 4))
"""Tiles, stages, warps."""

ROWS_OF_GROUPS = (2048, 1024, 512, 1536, 96, 1000, 928, 1048)


def _case(
    name: str,
    work: float,
    data: Callable[[], Data],
    ours: Mapping[str, Launch],
    torch_does: Launch,
    size: int,
    triton: Mapping[str, Launch] | None = None,
) -> Case:
    others = {"torch": {"": torch_does}}
    if triton and has_triton():
        others["Triton"] = triton
    return Case(GROUP, name, work, "TFLOP/s", data, ours, others, 2e-2, size=size)


def _tiled(
    kernel: Any,
    sizes: Sequence[int],
    tiles: Sequence[tuple[int, int, int]],
    target: str,
    more: tuple[int, ...] = (),
) -> Mapping[str, Launch]:
    """A kernel of A, B and C with some tiles; `more` are the further extents of its grid."""
    m, n = sizes
    return {
        "x".join(map(str, t)): cutile(
            kernel,
            lambda d, t=t: (d["a"], d["b"], d["out"], *t),
            (blocks(m, t[0]), blocks(n, t[1]), *more),
            target,
        )
        for t in tiles
    }


def transposed(target: str, n: int = 4096) -> Iterator[Case]:
    """Products of 16 bits whose A is stored K x M, or B as N x K."""
    import kernels.cutile.matmul as module

    def data() -> Data:
        return {"a": random("f16", n, n), "b": random("f16", n, n), "out": unset("f16", n, n)}

    for name, kernel in (("A^T", module.matmul_at), ("B^T", module.matmul_bt)):
        ours = _tiled(kernel, (n, n), TILES, target)
        peer = partial(_matmul, name)
        yield _case(f"{name} {n}^3 f16", 2.0 * n**3, data, ours, peer, 6 * n * n)


def _matmul(name: str, d: Data) -> None:
    import torch

    a, b = d["a"], d["b"]
    torch.matmul(a.t() if name == "A^T" else a, b.t() if name == "B^T" else b, out=d["out"])


def odd_rows(target: str) -> Iterator[Case]:
    """Rows of B and C that are odd multiples of 16 bytes: each row of a box is in two lines of L2.

    CTAs that share B by multicast (`num_ctas`) load half of it each.
    """
    import cuda.tile as ct

    from kernels.cutile.matmul import matmul

    pair = ct.kernel(matmul._pyfunc, num_ctas=2)
    for m, n, k in ((4000, 4104, 4096), (4096, 4104, 512)):

        def data(m: int = m, n: int = n, k: int = k) -> Data:
            return {"a": random("f16", m, k), "b": random("f16", k, n), "out": unset("f16", m, n)}

        shared = _tiled(pair, (m, n), ((256, 128, 64), (256, 256, 64), (512, 128, 64)), target)
        ours = {**_tiled(matmul, (m, n), TILES, target)}
        ours |= {f"{name} of 2 CTAs": launch for name, launch in shared.items()}
        size = 2 * (m * k + k * n + m * n)
        name = f"odd rows {m}x{n}x{k} f16"
        yield _case(name, 2.0 * m * n * k, data, ours, partial(_matmul, ""), size)


def of_bytes(target: str, n: int = 8192) -> Iterator[Case]:
    """Products of 8 bits: B stored N x K, which tensor cores read, and K x N."""
    import kernels.cutile.matmul as module

    for element, stored, kernel in (
        ("e4m3", "N x K", module.matmul_bt),
        ("e4m3", "K x N", module.matmul),
        ("i8", "K x N", module.matmul),
    ):
        out = "bf16" if element == "e4m3" else "f32"

        def data(element: str = element, out: str = out) -> Data:
            a, b = random(element, n, n), random(element, n, n)
            return {"a": a, "b": b, "out": unset(out, n, n)}

        ours = _tiled(kernel, (n, n), BYTE_TILES, target)
        peer = partial(_byte_product, element, stored)
        size = (2 + BYTES[out]) * n * n
        triton = triton_matmuls((n, n, n), TRITON_BYTES, transposed=True)
        kept = triton if stored == "N x K" else None
        yield _case(f"{element}, B {stored} {n}^3", 2.0 * n**3, data, ours, peer, size, kept)


def _byte_product(element: str, stored: str, d: Data) -> Any:
    """cuBLAS takes fp8 with B as N x K alone: the other one is copied into that order."""
    import torch

    if element == "i8":
        return torch._int_mm(d["a"], d["b"])
    one = torch.ones((), device="cuda")
    right = d["b"].t() if stored == "N x K" else d["b"].t().contiguous().t()
    return torch._scaled_mm(d["a"], right, one, one, out_dtype=d["out"].dtype, use_fast_accum=False)


SCALED_TILES = ((128, 128), (64, 128), (256, 128))
"""Rows and columns of products with block scales."""

SCALED_GROUP = 128
"""Numbers along K, and rows of B, that have a scale in common (DeepSeek's)."""


def block_scaled(target: str) -> Iterator[Case]:
    """Products of 8-bit floats whose rows of A and blocks of B have scales for parts of K."""
    from kernels.cutile.quantized_matmul import block_scaled_matmul

    m, n, k = 4096, 4096, 7168

    def data() -> Data:
        import torch

        groups = k // SCALED_GROUP
        found = {"a": random("e4m3", m, k), "b": random("e4m3", n, k), "out": unset("bf16", m, n)}
        shapes = {"rows": (m, groups), "blocks": (n // SCALED_GROUP, groups)}
        scales = {x: torch.rand(*shape, device="cuda") + 0.5 for x, shape in shapes.items()}
        by_columns = {f"{x} by columns": one.t().contiguous().t() for x, one in scales.items()}
        return {**found, **scales, **by_columns}

    ours = {
        "x".join(map(str, t)): cutile(
            block_scaled_matmul,
            lambda d, t=t: (d["a"], d["b"], d["rows"], d["blocks"], d["out"], *t, SCALED_GROUP),
            (blocks(m, t[0]), blocks(n, t[1])),
            target,
        )
        for t in SCALED_TILES
    }
    size, name = (m + n) * k + 2 * m * n, f"e4m3 with block scales {m}x{n}x{k}"
    yield _case(name, 2.0 * m * n * k, data, ours, _block_scaled, size)


def _block_scaled(d: Data) -> Any:
    import torch

    scales = d["rows by columns"], d["blocks"].t()
    return torch._scaled_mm(d["a"], d["b"].t(), *scales, out_dtype=d["out"].dtype)


PACKED_TILES = ((16, 64, 128), (64, 64, 128), (128, 256, 64), (256, 128, 64))
"""Of products by weights of 4 bits: of as many rows as there are, or more."""

GROUP_ROWS = 128
"""Rows of weights of 4 bits that have a scale and a zero in common."""


def packed(target: str) -> Iterator[Case]:
    """Products by weights of 4 bits, eight in a word, beside those of the weights as f16."""
    from kernels.cutile.quantized_matmul import packed_matmul

    for m, n, k in ((16, 4096, 4096), (16, 8192, 8192), (64, 8192, 8192), (4096, 4096, 4096)):

        def data(m: int = m, n: int = n, k: int = k) -> Data:
            return _packed_data(m, n, k)

        ours = {
            "x".join(map(str, t)): cutile(
                packed_matmul,
                lambda d, t=t: (
                    *(d["a"], d["words"], d["zeros"], d["scales"], d["out"]),
                    *(*t, GROUP_ROWS),
                ),
                (blocks(m, t[0]), blocks(n, t[1])),
                target,
            )
            for t in PACKED_TILES
            if t[0] == m or m > t[0] > 64
        }
        name, size = f"4-bit weights {m}x{n}x{k} f16", k * n // 2 + 2 * m * (k + n)
        yield _case(name, 2.0 * m * n * k, data, ours, partial(_matmul, ""), size)


def _packed_data(m: int, n: int, k: int) -> Data:
    import torch

    words, zeros = (
        torch.randint(-(1 << 31), 1 << 31, (rows, n // 8), device="cuda", dtype=torch.int32)
        for rows in (k, k // GROUP_ROWS)
    )
    scales = (torch.rand(k // GROUP_ROWS, n, device="cuda") / 64).half()
    q, z = (_weights(one) for one in (words, zeros))
    whole = (q - z.repeat_interleave(GROUP_ROWS, 0)).half()
    found = {"a": random("f16", m, k), "b": whole * scales.repeat_interleave(GROUP_ROWS, 0)}
    return {**found, "words": words, "zeros": zeros, "scales": scales, "out": unset("f16", m, n)}


def _weights(words: Any) -> Any:
    """The weights of rows of words, as `packed_matmul` has them."""
    import torch

    shifts = torch.tensor([4 * (w // 2 + w % 2 * 4) for w in range(8)], device="cuda")
    return (words[:, :, None] >> shifts & 15).reshape(words.shape[0], -1)


def of_tf32(target: str, n: int = 4096) -> Iterator[Case]:
    """Products of f32 whose operands are rounded to tf32, to the nearest even as Tile IR wants."""
    from kernels.cutile.matmul import matmul_tf32

    def data() -> Data:
        return {"a": random("f32", n, n), "b": random("f32", n, n), "out": unset("f32", n, n)}

    tiles = ((128, 128, 32), (128, 256, 32), (256, 128, 32))
    ours = _tiled(matmul_tf32, (n, n), tiles, target)
    yield _case(f"tf32 {n}^3", 2.0 * n**3, data, ours, _tf32, 12 * n * n)


def _tf32(d: Data) -> None:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    torch.matmul(d["a"], d["b"], out=d["out"])


def of_f64(target: str) -> Iterator[Case]:
    """Products of f64, whose operands go from shared memory to registers."""
    from kernels.cutile.matmul import matmul

    for n in (2048, 4096):

        def data(n: int = n) -> Data:
            return {"a": random("f64", n, n), "b": random("f64", n, n), "out": unset("f64", n, n)}

        tiles = ((64, 64, 16), (128, 64, 16), (64, 128, 16), (128, 128, 16))
        ours = _tiled(matmul, (n, n), tiles, target)
        yield _case(f"f64 {n}^3", 2.0 * n**3, data, ours, partial(_matmul, ""), 24 * n * n)


def batched(target: str) -> Iterator[Case]:
    """Many products of one size."""
    from kernels.cutile.batched_matmul import batched_matmul

    for batch, m, n, k in ((64, 1024, 1024, 128), (16, 2048, 2048, 2048)):

        def data(batch: int = batch, m: int = m, n: int = n, k: int = k) -> Data:
            a, b = random("f16", batch, m, k), random("f16", batch, k, n)
            return {"a": a, "b": b, "out": unset("f16", batch, m, n)}

        ours = _tiled(batched_matmul, (m, n), TILES, target, (batch,))
        size = 2 * batch * (m * k + k * n + m * n)
        name = f"batched {batch}x{m}x{n}x{k} f16"
        triton = triton_matmuls((m, n, k), TRITON_BATCHED, batch)
        yield _case(name, 2.0 * batch * m * n * k, data, ours, _batched, size, triton)


def _batched(d: Data) -> None:
    import torch

    torch.bmm(d["a"], d["b"], out=d["out"])


def persistent(target: str) -> Iterator[Case]:
    """A product whose blocks, one on each multiprocessor, take tile after tile."""
    from kernels.cutile.persistent import persistent_matmul

    for n in (4096, 8192):

        def data(n: int = n) -> Data:
            return {"a": random("f16", n, n), "b": random("f16", n, n), "out": unset("f16", n, n)}

        ours = {
            "x".join(map(str, tiles)): _persistent(persistent_matmul, tiles, target)
            for tiles in TILES
        }
        peer = partial(_matmul, "")
        yield _case(f"persistent {n}^3 f16", 2.0 * n**3, data, ours, peer, 6 * n * n)


def _persistent(kernel: Any, tiles: tuple[int, int, int], target: str) -> Launch:
    count = latencies(target).multiprocessors
    return cutile(kernel, lambda d: (d["a"], d["b"], d["out"], *tiles, 8), (count, 1, 1), target)


def grouped(target: str, n: int = 4096, k: int = 4096) -> Iterator[Case]:
    """Groups of rows, each with a B of its own."""
    from kernels.cutile.grouped_matmul import grouped_matmul

    m, ends = sum(ROWS_OF_GROUPS), np.cumsum(ROWS_OF_GROUPS, dtype=np.int32)
    count = len(ROWS_OF_GROUPS)

    def data() -> Data:
        import torch

        made = {"a": random("f16", m, k), "b": random("f16", count, k, n)}
        return {**made, "ends": torch.tensor(ends, device="cuda"), "out": unset("f16", m, n)}

    ours = {
        "x".join(map(str, t)): cutile(
            grouped_matmul,
            lambda d, t=t: (d["a"], d["b"], d["out"], d["ends"], *t),
            (latencies(target).multiprocessors, 1, 1),
            target,
        )
        for t in TILES
    }
    size = 2 * (m * k + count * k * n + m * n)
    yield _case(f"grouped {m}x{n}x{k} f16", 2.0 * m * n * k, data, ours, _grouped, size)


def _grouped(d: Data) -> None:
    import torch

    first = 0
    for group, rows in enumerate(ROWS_OF_GROUPS):
        mine = slice(first, first + rows)
        torch.matmul(d["a"][mine], d["b"][group], out=d["out"][mine])
        first += rows


def experts(target: str) -> Iterator[Case]:
    """Tokens times the weights of the experts that they are routed to."""
    from kernels.cutile.moe import Experts, moe_gemm

    sizes = {tm: Experts(4096, 8, 4096, 4096, is_weighted=False, tm=tm, tn=128) for tm in (64, 128)}
    first = sizes[64]
    slots, n, k = first.slots, first.n, first.k

    def data() -> Data:
        import torch

        found: dict[str, Any] = {"tokens": random("f16", first.tokens, k)}
        found |= {"weights": random("f16", first.experts, n, k), "out": unset("f16", slots, n)}
        found["shares"] = random("f32", slots)
        for tm, size in sizes.items():
            lists = size.lists(np.random.default_rng(0))
            found[f"lists {tm}"] = [torch.tensor(one, device="cuda") for one in lists]
        slots_of_tiles, owners = found["lists 64"]
        tiles = slots_of_tiles.view(len(owners), -1)
        mine = [tiles[owners == expert].flatten().long() for expert in range(first.experts)]
        found["slots"] = [one[one < slots] for one in mine]
        return found

    def arguments(d: Data, tm: int, tn: int) -> Sequence[Any]:
        lists = d[f"lists {tm}"]
        rest = (first.choices, False, tm, tn, 64)
        return (d["tokens"], d["weights"], d["out"], d["shares"], *lists, *rest)

    ours = {
        f"{tm}x{tn}x64": cutile(
            moe_gemm,
            lambda d, tm=tm, tn=tn: arguments(d, tm, tn),
            (sizes[tm].tiles, blocks(n, tn)),
            target,
        )
        for tm, tn in ((64, 128), (128, 128), (128, 256))
    }
    size = 2 * (first.tokens * k + first.experts * n * k + slots * n)
    name = f"moe {first.tokens} tokens {first.experts} experts {n}x{k} f16"
    yield _case(name, 2.0 * slots * n * k, data, ours, partial(_experts, first.choices), size)


def _experts(choices: int, d: Data) -> None:
    """A product for each expert, of the tokens whose slots it owns."""
    for mine, weights in zip(d["slots"], d["weights"], strict=True):
        d["out"][mine] = d["tokens"][mine // choices] @ weights.t()


def few_tiles(target: str) -> Iterator[Case]:
    """Products of so few tiles that each has a multiprocessor to itself, or several."""
    import kernels.cutile.matmul as module

    sizes = ((512, 512, 512), (1024, 1024, 1024), (512, 512, 4096))
    for m, n, k in (*sizes, (128, 4096, 4096), (512, 4096, 4096)):

        def data(m: int = m, n: int = n, k: int = k) -> Data:
            return {"a": random("f16", m, k), "b": random("f16", k, n), "out": unset("f16", m, n)}

        ours = _tiled(module.matmul, (m, n), FEW_TILES, target)
        size = 2 * (m * k + k * n + m * n)
        triton = triton_matmuls((m, n, k), TRITON_FEW)
        name = f"few tiles {m}x{n}x{k} f16"
        yield _case(name, 2.0 * m * n * k, data, ours, partial(_matmul, ""), size, triton)


def skinny(target: str, n: int = 8192, k: int = 8192) -> Iterator[Case]:
    """Products of few rows, which read B once: bound by memory."""
    import kernels.cutile.matmul as module

    for m in (1, 8, 16, 32, 64):

        def data(m: int = m) -> Data:
            return {
                "a": random("bf16", m, k),
                "b": random("bf16", k, n),
                "out": unset("bf16", m, n),
            }

        tall = max(m, 16)
        tiles = ((tall, 64, 128), (tall, 64, 256), (tall, 128, 64), (tall, 128, 128))
        ours = _tiled(module.matmul, (m, n), tiles, target)
        size = 2 * (m * k + k * n + m * n)
        peer = partial(_matmul, "")
        triton = triton_matmuls((m, n, k), TRITON_SKINNY) if m == tall else None
        yield _case(f"skinny {m}x{n}x{k} bf16", 2.0 * m * n * k, data, ours, peer, size, triton)


def products(target: str) -> Iterator[Case]:
    """All of these."""
    plain, many = (
        (transposed, odd_rows, of_bytes, block_scaled, packed, of_tf32, of_f64),
        (batched, persistent, grouped, experts, few_tiles),
    )
    for maker in (*plain, *many, skinny):
        yield from maker(target)
