"""Check kernels of CUDA C++ on the emulator: which run and are right, and what is found.

    python benchmarks/nvcc_kernels.py [--target sm_90a] [KERNEL...]

It needs nvcc with the headers of a toolkit, and no GPU.  The kernels, in `nvcc_kernels.cu`, use CUB,
cooperative groups, libcu++ and the math library; `right` compares with numpy.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tileas_xdsl import check

SOURCE = Path(__file__).with_suffix(".cu")
RNG = np.random.default_rng(0)
THREADS = 128
LANES = np.arange(THREADS)
MASK = (1 << 64) - 1

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Launch:
    """Arguments of a kernel, and what some of them hold afterwards."""

    args: list[Any]
    wanted: Mapping[int, Array] = field(default_factory=dict[int, Array])
    grid: Any = 1
    block: int = THREADS
    shared: int = 0


def floats(count: int) -> Array:
    return RNG.standard_normal(count).astype(np.float32)


def integers(count: int, low: int = 0, high: int = 50) -> Array:
    return RNG.integers(low, high, count).astype(np.int32)


def zeros(count: int, dtype: Any = np.int32) -> Array:
    return np.zeros(count, dtype)


A, B, C, D, G, W = floats(512), integers(512), floats(1024), floats(512), floats(128), integers(128)
E = floats(640)


def elementwise(function: Callable[[float], float], values: Array) -> Launch:
    """A function of each of 128 elements."""
    wanted = np.array([function(float(x)) for x in values])
    return Launch([values, zeros(THREADS, values.dtype)], {1: wanted})


def of_singles(x: float) -> float:
    found = math.sin(x) + math.cos(x * 100) + math.exp(x) + math.log(abs(x) + 1) + abs(x) ** 1.5
    found += math.tanh(x) + math.erf(x) + 1 / math.sqrt(abs(x) + 1) + math.fmod(x * 10, 3)
    return found + math.atan2(x, 2) + float(np.cbrt(x)) + math.lgamma(abs(x) + 1)


def of_doubles(x: float) -> float:
    found = math.sin(x) + math.exp(x) + math.log(abs(x) + 1) + abs(x) ** 1.5 + math.tanh(x)
    return found + x / 3.7 + math.sqrt(abs(x)) + math.erf(x) + float(np.cbrt(x))


def long_products() -> Launch:
    values = RNG.integers(0, 1 << 62, THREADS)
    wanted = list[int]()
    for x in map(int, values):
        product = 3 * x * x
        wanted += [((product >> 64) + x // 7 + x % 13) & MASK, product & MASK]
    return Launch(
        [values, zeros(2 * THREADS, np.int64)], {1: np.array(wanted, np.uint64).view("i8")}
    )


def long_sums() -> Launch:
    values = RNG.integers(0, 1 << 31, 4 * THREADS).astype(np.int32)
    values[:3] = -1
    wanted = list[int]()
    for low, high in values.view(np.uint64).reshape(THREADS, 2).tolist():
        total = (high << 64 | low) + 1
        wanted += [total & MASK, total >> 64 & MASK]
    return Launch([values, zeros(4 * THREADS)], {1: np.array(wanted, np.uint64).view(np.int32)})


def reversed_parts(values: Array, size: int) -> Array:
    return values.reshape(-1, size)[:, ::-1].ravel()


def copied_in_bulk() -> Launch:
    wanted = D.reshape(2, 256).copy()
    wanted[:, :128] *= 2
    wanted[:, 128:] += 1
    return Launch([D, zeros(512, np.float32)], {1: wanted.ravel()}, 2)


def local_array() -> Launch:
    found = [sum((int(x) + 7 * k & 63) * int(W[int(x) + 7 * k & 63]) for k in range(5)) for x in W]
    return Launch([W, zeros(THREADS), 5], {1: np.array(found)})


def product_of_fragments() -> Launch:
    m, n, k = 48, 32, 64
    a, b = (floats(rows * k).astype(np.float16).reshape(rows, k) for rows in (m, n))
    wanted = 2 * a.astype(np.float64) @ b.T.astype(np.float64)
    return Launch(
        [a, b, zeros(m * n, np.float32), n, k], {2: wanted.ravel()}, (n // 16, m // 16), 32
    )


def of_cub() -> dict[str, Launch]:
    """Primitives of blocks and warps."""
    keys = RNG.integers(0, 1 << 32, 512).astype(np.uint32)
    data = RNG.integers(0, 256, 512).astype(np.uint8)
    warps = W.reshape(4, 32)
    loaded = C * 2 + np.tile(np.arange(4), 256).astype(np.float32)
    return {
        "block_reduce": Launch([A, zeros(4, np.float32)], {1: A.reshape(4, 128).sum(1)}, 4),
        "block_scan": Launch([B, zeros(512)], {1: B.reshape(4, 128).cumsum(1).ravel()}, 4),
        "block_sort": Launch([keys, zeros(512, np.uint32)], {1: np.sort(keys)}),
        "merge_sort": Launch([B, zeros(512)], {1: np.sort(B)}),
        "block_load": Launch([C, zeros(1024, np.float32)], {1: loaded}, 2),
        "histogram": Launch([data, zeros(256, np.uint32)], {1: np.bincount(data, minlength=256)}),
        "warp_scan": Launch([W, zeros(128)], {1: (warps.cumsum(1) - warps).ravel()}),
        "lookback": Launch([B, zeros(4), zeros(4), zeros(512)], {3: B.cumsum()}, 4),
        "lastblock": Launch(
            [A, zeros(4, np.float32), zeros(1, np.uint32), zeros(1, np.float32)], {3: A.sum()}, 4
        ),
    }


def of_libraries() -> dict[str, Launch]:
    """Cooperative groups, barriers, pipelines, bulk copies and atomics."""
    mirrored = reversed_parts(D, 256)
    counts = {2: np.array([192.0]), 3: np.array([32.0])}
    pairs = integers(256)
    crossed = pairs.reshape(2, 128)[::-1, ::-1].ravel()
    return {
        "cg_reduce": Launch([W, zeros(512)]),
        "cg_coalesced": Launch([zeros(44)]),
        "cg_memcpy": Launch([D, zeros(512, np.float32)], {1: mirrored}, 2),
        "barrier_copy": Launch([D, zeros(512, np.float32)], {1: mirrored}, 2),
        "pipelined": Launch([E, zeros(128, np.float32), 5], {1: E.reshape(5, 128)[:, ::-1].sum(0)}),
        "bulk": copied_in_bulk(),
        "atomics": Launch([W, zeros(8), zeros(1, np.float32), zeros(1, np.float64)], counts),
        "clus": Launch([pairs, zeros(256)], {1: crossed}, 2),
        "wmma_gemm": product_of_fragments(),
        "spin": Launch([zeros(1), zeros(1)], {1: np.array([4])}, 4),
    }


def of_language() -> dict[str, Launch]:
    """Calls, memory spaces, wide and narrow types, printing, time."""
    fibonacci = np.tile([0, 1, 1, 2, 3, 5, 8, 13], 16)
    constants = np.array([1, 2, 3, 4])[W & 3] + np.array([5, 6, 7, 8])[W & 3]
    halves = floats(256).astype(np.float16)
    outputs = [zeros(256, np.float16), zeros(256, np.uint16), zeros(128, np.uint8)]
    return {
        "virtuals": Launch([G, zeros(128, "f4")], {1: np.where(LANES % 2, G + 1, G * 3)}),
        "pointers": Launch([G, zeros(128, "f4")], {1: np.where(LANES % 2, G + G, G * G)}),
        "recursion": Launch([zeros(128)], {0: fibonacci}),
        "math32": elementwise(of_singles, G),
        "math64": elementwise(of_doubles, RNG.standard_normal(128)),
        "halves": Launch([halves, *outputs]),
        "int128": long_products(),
        "vec128": long_sums(),
        "dp": of_intrinsics(),
        "votes": Launch([integers(128, 0, 6), zeros(128)]),
        "dynshared": Launch([G, zeros(128, np.float32)], {1: G[::-1]}, shared=512),
        "locals": local_array(),
        "heap": Launch([zeros(128)], {0: LANES}),
        "stack": Launch([zeros(128), 5], {0: LANES + 384}),
        "constants": Launch([W, zeros(128)], {1: constants}),
        "devclock": Launch([zeros(128, np.int64)], {0: np.ones(128)}),
    }


def of_intrinsics() -> Launch:
    """Products and differences of bytes, shifts and permutations, by their definitions."""
    given = integers(128, -1000, 100000)
    return Launch([given, zeros(128)], {1: np.array([_intrinsics(int(x)) for x in given])})


def _intrinsics(x: int) -> int:
    word = x & 0xFFFF_FFFF
    parts = word.to_bytes(4, "little")
    signed = [b - 256 * (b > 127) for b in parts]
    halves = [h - 65536 * (h > 32767) for h in (word & 0xFFFF, word >> 16)]
    maxima = [max(h, other) & 0xFFFF for h, other in zip(halves, (3, 0), strict=True)]
    total = (
        sum(b * b for b in signed) + 5
        + int.from_bytes(bytes(2 * b & 255 for b in parts), "little")
        + int.from_bytes(bytes([abs(parts[0] - 77), *parts[1:]]), "little")
        + maxima[0] + (maxima[1] << 16)
        + (7 << 3 | word >> 29)
        + word.bit_count() + 32 - word.bit_length()
        + (word & -word).bit_length()
        + int(f"{word:032b}"[::-1], 2)
        + (parts[1] << 16 | parts[3] << 24)
        + (x * x >> 32)
        + abs(word - 5) + 1
        + max(x + 4, 2)
    )  # fmt: skip
    return (total + (1 << 31)) % (1 << 32) - (1 << 31)


def row(text: str, name: str, launch: Launch) -> str:
    """Run a kernel; a refusal is shown, and no end of the table."""
    try:
        report = check.ptx(
            text, launch.grid, launch.args, launch.block, kernel=name, shared=launch.shared
        )
    except Exception as error:
        return f"| {name} | no | | {' '.join(str(error).split())[:150]} |"
    right = all(
        np.allclose(report.arrays[at].astype(float).ravel(), values, rtol=2e-5, atol=1e-5)
        for at, values in launch.wanted.items()
    )
    shown = "" if not launch.wanted else "yes" if right else "NO"
    kinds = Counter(f"{f.severity} {f.kind}" for f in report.findings)
    return (
        f"| {name} | yes | {shown} | {', '.join(f'{n} {k}' for k, n in kinds.items()) or 'none'} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("kernels", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.ptx"
        flags = ("-std=c++17", "-lineinfo", "-ptx", f"-arch={options.target}")
        subprocess.run(["nvcc", *flags, str(SOURCE), "-o", str(path)], check=True)
        text = path.read_text(encoding="utf-8")
    print("| kernel | run | right | findings |\n|---|---|---|---|")
    for name, launch in {**of_cub(), **of_libraries(), **of_language()}.items():
        if not options.kernels or name in options.kernels:
            print(row(text, name, launch), flush=True)


if __name__ == "__main__":
    main()
