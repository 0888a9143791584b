"""The kernels of the recorded TileLang 0.1.15 layouts, by name."""

from __future__ import annotations

from tests.support.tile_loops import Kernel
from tileas_xdsl.inference.program import WarpPolicy

ELEMENTS = {"float32": "f32", "float16": "f16"}
POLICIES = {
    "Square": WarpPolicy.SQUARE,
    "FullRow": WarpPolicy.FULL_ROW,
    "FullCol": WarpPolicy.FULL_COL,
}


def kernel_of(name: str) -> Kernel:
    """Return the kernel described by the name of a test vector."""
    if name == "seed_sparse_2x2":
        return seed_sparse()
    words = name.split("_")
    sizes = next(word for word in words if "x" in word and word[0].isdigit())
    extents = tuple(int(size) for size in sizes.split("x"))
    threads = int(next(word for word in words if word[0] == "t" and word[1:].isdigit())[1:])
    element = next((ELEMENTS[word] for word in words if word in ELEMENTS), "f32")
    family = name[: name.index(f"_{sizes}")]
    if family == "gemm":
        policy, sides = words[words.index(f"t{threads}") + 1 :][:2]
        return gemm(extents, threads, POLICIES[policy], sides, element)
    return FAMILIES[family](extents, threads, element)


def copy_frag(shape: tuple[int, ...], threads: int, element: str) -> Kernel:
    kernel = Kernel(threads)
    kernel.arrays(element, A=shape, B=shape)
    kernel.fragments(element, x=shape)
    kernel.copy("A", "x")
    kernel.copy("x", "B")
    return kernel


def ew_add(shape: tuple[int, ...], threads: int, element: str) -> Kernel:
    kernel = Kernel(threads)
    kernel.arrays(element, A=shape, B=shape, C=shape)
    kernel.fragments(element, a=shape, b=shape)
    kernel.copy("A", "a")
    kernel.copy("B", "b")
    kernel.parallel(shape, "a[i, j] = a[i, j] + b[i, j]")
    kernel.copy("a", "C")
    return kernel


def softmax(shape: tuple[int, ...], threads: int, element: str) -> Kernel:
    kernel = Kernel(threads)
    kernel.arrays(element, A=shape, B=shape)
    kernel.fragments("f32", x=shape, mx=shape[:1], sm=shape[:1])
    kernel.fragments(element, y=shape)
    kernel.copy("A", "x")
    kernel.reduce("x", "mx", 1)
    kernel.parallel(shape, "x[i, j] = exp(x[i, j] - mx[i])")
    kernel.reduce("x", "sm", 1)
    kernel.parallel(shape, "x[i, j] = x[i, j] / sm[i]")
    kernel.copy("x", "y")
    kernel.copy("y", "B")
    return kernel


def rmsnorm(shape: tuple[int, ...], threads: int, element: str) -> Kernel:
    kernel = Kernel(threads)
    kernel.arrays("f16", A=shape, B=shape)
    kernel.arrays("f32", W=shape[1:])
    kernel.fragments("f32", x=shape, p=shape, s=shape[:1], w=shape[1:])
    kernel.copy("A", "x")
    kernel.copy("W", "w")
    kernel.parallel(shape, "p[i, j] = x[i, j] * x[i, j]")
    kernel.reduce("p", "s", 1)
    kernel.parallel(shape[:1], "s[i] = rsqrt(s[i])")
    kernel.parallel(shape, "x[i, j] = x[i, j] * s[i] * w[j]")
    kernel.copy("x", "B")
    return kernel


def reduce_dim0(shape: tuple[int, ...], threads: int, element: str) -> Kernel:
    kernel = Kernel(threads)
    kernel.arrays("f32", A=shape, B=shape[1:])
    kernel.fragments("f32", x=shape, s=shape[1:])
    kernel.copy("A", "x")
    kernel.reduce("x", "s", 0)
    kernel.copy("s", "B")
    return kernel


def transpose(shape: tuple[int, ...], threads: int, element: str) -> Kernel:
    kernel = Kernel(threads)
    kernel.arrays(element, A=shape, B=shape[::-1])
    kernel.fragments(element, x=shape)
    kernel.copy("A", "x")
    kernel.parallel(shape, "B[j, i] = x[i, j]")
    return kernel


def bcast_row(shape: tuple[int, ...], threads: int, element: str) -> Kernel:
    kernel = Kernel(threads)
    kernel.arrays("f32", S=shape[:1], O=shape)
    kernel.fragments("f32", s=shape[:1])
    kernel.parallel(shape[:1], "s[i] = S[i]")
    kernel.parallel(shape, "O[i, j] = s[i] * 2")
    return kernel


def bcast_col(shape: tuple[int, ...], threads: int, element: str) -> Kernel:
    kernel = Kernel(threads)
    kernel.arrays("f32", S=shape[1:], O=shape)
    kernel.fragments("f32", s=shape[1:], x=shape)
    kernel.copy("S", "s")
    kernel.parallel(shape, "x[i, j] = s[j] * 2")
    kernel.copy("x", "O")
    return kernel


def gemm(
    sizes: tuple[int, ...],
    threads: int,
    policy: WarpPolicy,
    sides: str,
    element: str,
    arch: str = "sm_90a",
) -> Kernel:
    """Return a GEMM; `sides` has T for each of A and B that is stored transposed."""
    m, n, k = sizes
    shape_a = (k, m) if sides[0] == "T" else (m, k)
    shape_b = (n, k) if sides[1] == "T" else (k, n)
    kernel = Kernel(threads, arch)
    kernel.arrays(element, A=shape_a, B=shape_b)
    kernel.arrays("f32", C=(m, n))
    kernel.shared(element, a=shape_a, b=shape_b)
    kernel.fragments("f32", c=(m, n))
    kernel.fill("c")
    kernel.copy("A", "a")
    kernel.copy("B", "b")
    kernel.gemm("a", "b", "c", policy, transpose_a=sides[0] == "T", transpose_b=sides[1] == "T")
    kernel.copy("c", "C")
    return kernel


def flash_attn(sizes: tuple[int, ...], threads: int, element: str) -> Kernel:
    """Return attention of one query block and one key block, with running maxima and sums."""
    m, n, d = sizes
    kernel = Kernel(threads)
    kernel.arrays("f16", Q=(m, d), K=(n, d), V=(n, d), O=(m, d))
    kernel.shared("f16", Qs=(m, d), Ks=(n, d), Vs=(n, d))
    kernel.fragments("f32", s=(m, n), o=(m, d), mx=(m,), mp=(m,), ss=(m,), sl=(m,), ls=(m,))
    kernel.fragments("f16", sc=(m, n))
    kernel.copy("Q", "Qs")
    kernel.fill("o")
    kernel.fill("ls")
    kernel.fill("mx")
    kernel.copy("K", "Ks")
    kernel.fill("s")
    kernel.gemm("Qs", "Ks", "s", WarpPolicy.FULL_ROW, transpose_b=True)
    kernel.copy("mx", "mp")
    kernel.reduce("s", "mx", 1, clear=False)
    kernel.parallel((m,), "sl[i] = exp2(mp[i] - mx[i])")
    kernel.parallel((m, n), "s[i, j] = exp2(s[i, j] - mx[i])")
    kernel.reduce("s", "ss", 1)
    kernel.parallel((m,), "ls[i] = ls[i] * sl[i] + ss[i]")
    kernel.copy("s", "sc")
    kernel.parallel((m, d), "o[i, j] = o[i, j] * sl[i]")
    kernel.copy("V", "Vs")
    kernel.gemm("sc", "Vs", "o", WarpPolicy.FULL_ROW)
    kernel.parallel((m, d), "o[i, j] = o[i, j] / ls[i]")
    kernel.copy("o", "O")
    return kernel


def seed_sparse() -> Kernel:
    """Return the worked example of seed 004."""
    kernel = Kernel(64)
    kernel.arrays("f32", A=(4, 16), B=(4,))
    kernel.fragments("f32", f=(4, 16))
    kernel.parallel((4, 16), "f[i, j] = A[i, j]")
    kernel.parallel((2, 2), "B[i * 2 + j] = f[i * 2 + j, 0]")
    return kernel


FAMILIES = {
    "copy_frag": copy_frag,
    "ew_add": ew_add,
    "softmax": softmax,
    "rmsnorm": rmsnorm,
    "reduce_dim0": reduce_dim0,
    "transpose": transpose,
    "bcast_row": bcast_row,
    "bcast_col": bcast_col,
    "flash_attn": flash_attn,
}
