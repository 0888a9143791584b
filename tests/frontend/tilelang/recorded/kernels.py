# pyright: basic
# ruff: noqa: N812
"""Kernels of TileLang, recorded as traced beside this file: run it to record them again."""

import json
from pathlib import Path

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def gemm(M=128, N=128, K=64):
    @T.prim_func
    def scaled_gemm(
        A: T.Tensor((M, K), "float16"),
        B: T.Tensor((K, N), "float16"),
        bias: T.Tensor((N,), "float32"),
        C: T.Tensor((M, N), "float16"),
    ):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=128) as (bx, by):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.use_swizzle(4)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, 32), num_stages=2):
                T.copy(A[by * 64, k * 32], a)
                T.copy(B[k * 32, bx * 64], b)
                T.gemm(a, b, c, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(64, 64):
                c[i, j] = T.max(c[i, j] + bias[bx * 64 + j], 0.0)
            T.copy(c, C[by * 64, bx * 64])

    return scaled_gemm


@tilelang.jit
def rows(n=96):
    rows = T.dynamic("rows")

    @T.prim_func
    def softmax_rows(
        X: T.Tensor((rows, n), "float32"),
        lengths: T.Tensor((rows,), "int32"),
        scale: T.float32,
        O: T.Tensor((rows, n), "bfloat16"),
        count: T.Tensor((1,), "int32"),
    ):
        with T.Kernel(T.ceildiv(rows, 4), threads=16) as b:
            x = T.alloc_fragment((4, n), "float32")
            top = T.alloc_fragment((4,), "float32")
            total = T.alloc_fragment((4,), "float32")
            T.copy(X[b * 4, 0], x)
            for i, j in T.Parallel(4, n):
                x[i, j] = T.if_then_else(
                    j < lengths[b * 4 + i], x[i, j] * scale, -T.infinity("float32")
                )
            T.reduce_max(x, top, dim=1)
            for i, j in T.Parallel(4, n):
                x[i, j] = T.exp2((x[i, j] - top[i]) * 1.44269504)
            T.reduce_sum(x, total, dim=1)
            for i, j in T.Parallel(4, n):
                x[i, j] /= total[i]
            T.copy(x, O[b * 4, 0])
            for i in T.Parallel(4):
                if b * 4 + i < rows:
                    T.atomic_add(count[0], 1)

    return softmax_rows


@tilelang.jit
def bits(n=64):
    @T.prim_func
    def unpack(
        P: T.Tensor((n // 2,), "uint8"),
        mask: T.Tensor((n,), "bool"),
        O: T.Tensor((n,), "float32"),
        Q: T.Tensor((n,), "int32"),
    ):
        with T.Kernel(1, threads=32):
            step = T.alloc_var("int32")
            both = T.alloc_fragment((n // 2,), "int32")
            step = 3
            T.copy(P, both)
            for i in T.Parallel(n):
                value = T.alloc_local((1,), "uint8")
                value[0] = (P[i // 2] >> T.cast(4 * (i % 2), "uint8")) & T.uint8(15)
                O[i] = T.if_then_else(mask[i], T.cast(value[0], "float32"), -1.0)
                Q[i] = T.reinterpret(O[i], "int32") + step * i
            for i in T.Parallel(n // 2):
                Q[2 * i] = T.clamp(both[i], 16, 100)

    return unpack


@tilelang.jit
def split():
    @T.prim_func
    def split_sum(X: T.Tensor((2, 64), "float32"), S: T.Tensor((1,), "float32")):
        partial = T.alloc_global((2,), "float32")
        with T.Kernel(2, threads=32) as part:
            x = T.alloc_fragment((64,), "float32")
            s = T.alloc_fragment((1,), "float32")
            T.copy(X[part, 0], x)
            T.reduce_sum(x, s)
            T.copy(s, partial[part])
        with T.Kernel(1, threads=32):
            S[0] = partial[0] + partial[1]

    return split_sum


@tilelang.jit
def pairs():
    @T.prim_func
    def ordered_pairs(X: T.Tensor((2, 64), "float32"), P: T.Tensor((64,), "float32")):
        with T.Kernel(2, threads=32) as row:
            first = row // 2 * 64
            last = first + 64
            x = T.alloc_shared((64,), "float32")
            pairs = T.reshape(x, [32, 2])
            low = T.alloc_fragment((32,), "float32")
            T.copy(X[row, first:last], x)
            for i in T.Parallel(64):
                j = i ^ 1
                if i < j and x[i] > x[j]:
                    value = x[i]
                    x[i] = x[j]
                    x[j] = value
            T.copy(x, X[row, 0])
            for i in T.Parallel(32):
                low[i] = pairs[i, 0]
            T.copy(low, P[row * 32])

    return ordered_pairs


@tilelang.jit
def columns():
    @T.prim_func
    def image_columns(X: T.Tensor((2, 5, 4, 8), "float16"), Y: T.Tensor((4, 3, 72), "float16")):
        with T.Kernel(3, threads=32) as tile:
            x = T.alloc_shared((12, 24), "float16")
            rows = T.Tensor((12, 72), "float16", Y.data)
            T.im2col(X, x, 0, tile, 3, 2, 1, 1)
            T.copy(x, rows[0, tile * 24])

    return image_columns


@tilelang.jit
def threads():
    @T.prim_func
    def turned_sums(
        X: T.Tensor((2, 4, 16), "float32"),
        Y: T.Tensor((4, 16), "float32"),
        Z: T.Tensor((4,), "float32"),
    ):
        with T.Kernel(1, threads=(16, 4)):
            tx = T.get_thread_binding(0)
            ty = T.get_thread_binding(1)
            s = T.alloc_shared((4, 16), "float32")
            acc = T.alloc_local((1,), "float32")
            T.clear(acc)
            for k in T.serial(2):
                s[ty, tx] = X[k, ty, tx]
                T.sync_threads()
                turned = s[3 - ty, 15 - tx]
                T.sync_threads()
                s[ty, tx] = 0
                acc[0] += turned
            Y[ty, tx] = acc[0]
            s[ty, tx] = acc[0]
            if ty < 3:
                Z[ty] = s[ty + 1, 5]

    return turned_sums


@tilelang.jit
def combined():
    @T.prim_func
    def combined_sums(
        X: T.Tensor((16, 32), "float32"),
        S: T.Tensor((16,), "float32"),
        Z: T.Tensor((4,), "float32"),
    ):
        with T.Kernel(1, threads=(8, 4)):
            tx = T.get_thread_binding(0)
            ty = T.get_thread_binding(1)
            s = T.alloc_reducer((16,), "float32", op="sum", replication="all")
            one = T.alloc_local((1,), "float32")
            whole = T.alloc_local((1,), "float32")
            T.clear(s)
            for i, j in T.Parallel(16, 32):
                s[i] += X[i, j]
            T.finalize_reducer(s)
            T.copy(s, S)
            one[0] = X[ty, tx]
            with T.attr(
                T.comm_reducer(lambda x, y: x * y, [T.float32(1)]),
                "reduce_scope",
                T.reinterpret(T.uint64(0), dtype="handle"),
            ):
                T.evaluate(
                    T.tvm_thread_allreduce(T.uint32(1), one[0], True, whole[0], tx, dtype="handle")
                )
            Z[ty] = whole[0]

    return combined_sums


@tilelang.jit
def by_hand():
    @T.prim_func
    def threads_by_hand(X: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            x = T.alloc_fragment((64,), "float32")
            if tx % 2 < 1:
                T.copy(x, X)

    return threads_by_hand


@tilelang.jit
def roles():
    @T.prim_func
    def roles_of_warps(
        X: T.Tensor((64,), "float32"),
        Y: T.Tensor((64,), "float32"),
        Z: T.Tensor((4,), "float32"),
    ):
        with T.Kernel(1, threads=96):
            tx = T.get_thread_binding()
            x = T.alloc_shared((64,), "float32")
            y = T.alloc_fragment((4, 16), "float32")
            z = T.alloc_fragment((4,), "float32")
            T.copy(X, x)
            warp = tx // 32
            if warp == 0:
                for i, j in T.Parallel(4, 16):
                    y[i, j] = x[i * 16 + j] + 1
                T.reduce_sum(y, z, dim=1)
                T.copy(z, Z)
            else:
                for i in T.Parallel(64):
                    Y[i] = x[63 - i] * 2

    return roles_of_warps


@tilelang.jit
def added_by_threads():
    @T.prim_func
    def counted_by_threads(X: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            x = T.alloc_fragment((64,), "float32")
            if tx < 32:
                T.copy(x, X)
                T.atomic_add(X[0], 1.0)

    return counted_by_threads


@tilelang.jit
def bounded():
    @T.prim_func
    def halves(X: T.Tensor((32, 64), "float32"), Y: T.Tensor((2, 16, 64), "float32")):
        with T.Kernel(1, threads=64):
            x = T.alloc_fragment((32, 64), "float32")
            half = T.alloc_shared((16, 64), "float32")
            T.copy(X, x)
            for s in range(2):
                for i, j in T.Parallel(32, 64):
                    if i < 16:
                        half[i, j] = x[i + s * 16, j]
                T.copy(half, Y[s, :, :])

    return halves


@tilelang.jit
def total():
    @T.prim_func
    def sum_of_threads(X: T.Tensor((8,), "float32"), Y: T.Tensor((1,), "float32")):
        with T.Kernel(1, threads=8):
            tx = T.get_thread_binding()
            own = T.alloc_local((1,), "float32")
            sums = T.alloc_local((1,), "float32")
            own[0] = X[tx]
            with T.attr(
                T.comm_reducer(lambda x, y: x + y, [T.cast(0, "float32")]),
                "reduce_scope",
                T.reinterpret(T.uint64(0), dtype="handle"),
            ):
                T.evaluate(
                    T.tvm_thread_allreduce(T.uint32(1), own[0], True, sums[0], tx, dtype="handle")
                )
            Y[0] = sums[0]

    return sum_of_threads


@tilelang.jit
def extremes():
    @T.prim_func
    def extremes_among_nan(X: T.Tensor((64,), "float16"), Y: T.Tensor((2,), "float16")):
        with T.Kernel(1, threads=32):
            x = T.alloc_fragment((64,), "float16")
            most = T.alloc_fragment((1,), "float16")
            T.copy(X, x)
            T.reduce_max(x, most)
            T.copy(most, Y[0:1])
            T.reduce_max(x, most, nan_propagate=True)
            T.copy(most, Y[1:2])

    return extremes_among_nan


KERNELS = {
    "gemm": gemm,
    "rows": rows,
    "bits": bits,
    "split": split,
    "pairs": pairs,
    "columns": columns,
    "threads": threads,
    "combined": combined,
    "by_hand": by_hand,
    "roles": roles,
    "added_by_threads": added_by_threads,
    "bounded": bounded,
    "total": total,
    "extremes": extremes,
}


def recorded(name: str) -> str:
    """The traced form of a kernel, with the name of this file alone in its lines."""
    import tvm

    content = json.loads(tvm.ir.save_json(KERNELS[name].get_tir()))
    for row in content["nodes"]:
        if row["type"] == "ir.SourceName":
            row["data"] = Path(__file__).name
    return json.dumps(content, separators=(",", ":"))


if __name__ == "__main__":
    for kernel in KERNELS:
        Path(__file__).with_name(f"{kernel}.json").write_text(recorded(kernel) + "\n")
