"""cuTile Python kernels that together cover every operation its front end emits.

The module needs the package cuda-tile; `SIGNATURES` has the types of the parameters.
"""

import cuda.tile as ct

SIGNATURES: dict[str, str] = {
    "vector_add": "a: f32[?], b: f32[?], c: f32[?]",
    "matmul": "a: f16[?, ?], b: f16[?, ?%8], c: f32[?, 128], tm=128, tn=64, tk=32",
    "softmax": "x: f32[?, ?], y: f32[?, ?], width=256",
    "math_functions": "x: f32[?], y: f32[?]",
    "integers": "x: i32[?], y: u32[?], z: i64[?]",
    "shapes": "x: f16[?, ?], y: f16[?, ?]",
    "conversions": "x: f32[?, ?], h: bf16[?, ?], i: i8[?, ?], q: f8E4M3FN[?, ?]",
    "pointers": "x: f32[?, ?], indices: i32[?], counts: i32[?]",
    "control": "x: i32[?], limit: i32",
    "reductions": "x: f32[?, ?], y: f32[?], where: i32[?]",
    "user_functions": "x: f32[?, ?], y: f32[?, ?]",
    "products": "a: i8[?, ?], b: i8[?, ?], c: i32[?, ?]",
    "wide": "x: f64[?], y: f64[?]",
    "debugging": "x: f32[?]",
}
"""Parameter types by kernel name; supported from version 13.1 on."""

NEWER: dict[str, tuple[str, str]] = {
    "views": ("13.3", "x: f32[?, ?], y: f32[?, ?], rows: i32[?]"),
    "scaled": (
        "13.3",
        "a: e4m3[?, ?], sa: ue8m0[?, ?], b: e4m3[?, ?], sb: ue8m0[?, ?], c: f32[?, ?]",
    ),
    "bytes_of": ("13.3", "x: f32[?], y: u8[?]"),
    "newest": ("13.4", "x: f32[?, ?], y: f32[?, ?]"),
}
"""Kernels that need a newer version, with that version."""


@ct.kernel
def vector_add(a, b, c):
    i = ct.bid(0)
    ct.store(c, index=(i,), tile=ct.load(a, index=(i,), shape=(64,)) + ct.load(b, (i,), (64,)))


@ct.kernel(num_ctas=2, occupancy=2)
def matmul(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), (tk, tn), padding_mode=ct.PaddingMode.ZERO, latency=3)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(i, j), tile=ct.astype(acc, c.dtype), allow_tma=False)


def exponentials(row):
    return ct.exp(row - ct.max(row, axis=1, keepdims=True))


@ct.kernel
def softmax(x, y, width: ct.Constant[int]):
    i = ct.bid(0)
    row = ct.load(x, (i, 0), (1, width), padding_mode=ct.PaddingMode.NEG_INF)
    e = exponentials(row)
    ct.store(y, (i, 0), e / ct.sum(e, axis=1, keepdims=True))


@ct.kernel
def math_functions(x, y):
    i = ct.bid(0)
    t = ct.load(x, (i,), (128,))
    t = ct.sin(t) + ct.cos(t) - ct.tan(t) * ct.sinh(t) / (ct.cosh(t) + 1.0)
    t = ct.log(t) + ct.log2(ct.abs(t)) + ct.sqrt(t) + ct.rsqrt(t, flush_to_zero=True)
    t = ct.exp2(t) + ct.tanh(t) + ct.floor(t) + ct.ceil(-t) + ct.pow(t, t) + ct.exp(t)
    t = ct.maximum(ct.minimum(t, 3.0), -3.0, propagate_nan=True) % 2.0
    t = ct.where(ct.isnan(t) | (t > 1.0) & (t != 2.0), t, 0.5)
    t = ct.add(t, t, rounding_mode=ct.RoundingMode.RZ, flush_to_zero=True)
    ct.store(y, (i,), t)


@ct.kernel
def integers(x, y, z):
    i = ct.bid(0)
    a, b = ct.load(x, (i,), (64,)), ct.load(y, (i,), (64,))
    a = ct.abs(a) + (a // 3) * (a % 5) - ct.minimum(a, 7)
    a = (a & 0xFF | 3) ^ (a << 2) ^ (a >> 1) ^ ~a
    b = ct.maximum(b & 3, b % 7) + (b >> 2)
    ct.store(x, (i,), -a + ct.astype(ct.astype(a, ct.int16), ct.int32))
    ct.store(y, (i,), b)
    wide = ct.astype(a, ct.int64) * ct.arange(64, dtype=ct.int64)
    ct.store(z, (i,), wide + ct.cdiv(ct.num_blocks(0), 4))


@ct.kernel
def unsigned_floor(x):
    t = ct.load(x, (0,), (16,))
    ct.store(x, (0,), t // 3)


@ct.kernel
def shapes(x, y):
    t = ct.load(x, (ct.bid(0), ct.bid(1)), (16, 32))
    t = ct.transpose(t)
    t = ct.reshape(t, (8, 64))
    t = ct.permute(ct.reshape(t, (2, 4, 64)), (1, 0, 2))
    t = ct.cat((t, ct.broadcast_to(ct.extract(t, (0, 0, 0), (1, 1, 64)), (4, 2, 64))), 1)
    ct.store(y, (0, 0), ct.reshape(t, (32, 32)))


@ct.kernel
def conversions(x, h, i, q):
    t = ct.load(x, (0, 0), (16, 32))
    ct.store(h, (0, 0), ct.astype(t, ct.bfloat16))
    ct.store(i, (0, 0), ct.astype(t, ct.int8))
    ct.store(q, (0, 0), ct.astype(t, ct.float8_e4m3fn))
    bits = ct.bitcast(t, ct.int32)
    ct.store(
        x, (0, 0), ct.astype(bits, ct.float32) + ct.astype(ct.load(i, (0, 0), (16, 32)), t.dtype)
    )


@ct.kernel
def pointers(x, indices, counts):
    rows = ct.load(indices, (ct.bid(0),), (32,))
    columns = ct.arange(16, dtype=ct.int32)
    tile = ct.gather(x, (ct.expand_dims(rows, 1), columns), padding_value=1.0)
    ct.scatter(x, (ct.expand_dims(rows, 1), columns), tile * 2, check_bounds=False)
    ct.atomic_add(counts, rows, 1)
    ct.atomic_xchg(counts, rows, 2, memory_order=ct.MemoryOrder.RELAXED)
    ct.atomic_cas(counts, rows, 2, 3, memory_scope=ct.MemoryScope.SYS)
    ct.atomic_max(counts, rows, 2)
    ct.atomic_min(counts, rows, 2)
    ct.atomic_and(counts, rows, 2)
    ct.atomic_or(counts, rows, 2)
    ct.atomic_xor(counts, rows, 2)


@ct.kernel
def control(x, limit):
    n = 0
    total = ct.load(x, (0,), (16,))
    while n < limit:
        n += 1
        if n == 7:
            continue
        if n > 100:
            break
        for k in range(n, limit, 2):
            if k % 3 == 0:
                total = total + k
                n += 0
            else:
                total = total - 1
    ct.store(x, (0,), total)


@ct.kernel
def reductions(x, y, where):
    t = ct.load(x, (0, 0), (8, 64))
    ct.store(y, (0,), ct.sum(t, axis=0))
    ct.store(y, (1,), ct.max(t, axis=0) + ct.min(t, axis=0) + ct.prod(t, axis=0))
    ct.store(where, (0,), ct.argmax(t, axis=0) + ct.argmin(t, axis=0))
    ct.store(x, (0, 0), ct.cumsum(t, axis=1) + ct.cumprod(t, axis=0, reverse=True))


@ct.kernel
def user_functions(x, y):
    t = ct.load(x, (0, 0), (8, 64))
    largest = ct.reduce(t, 1, lambda a, b: ct.where(ct.abs(a) > ct.abs(b), a, b), 0.0)
    running = ct.scan(t, 1, lambda a, b: a * b + 0.0, 1.0)
    ct.store(y, (0, 0), running + ct.expand_dims(largest, 1))


@ct.kernel
def products(a, b, c):
    x, y = ct.load(a, (0, 0), (64, 64)), ct.load(b, (0, 0), (64, 64))
    ct.store(c, (0, 0), ct.mma(x, y, ct.load(c, (0, 0), (64, 64))))


@ct.kernel
def wide(x, y):
    t = ct.load(x, (ct.bid(0),), (64,))
    total = ct.astile(ct.max(t), dtype=ct.float64)
    ct.store(y, (ct.bid(0),), t * -0.1 + total + ct.sum(t))


@ct.kernel
def debugging(x):
    t = ct.load(x, (0,), (16,))
    ct.printf("%f of %d\n", t, ct.bid(0))
    ct.assert_(t > 0.0, "negative")  # noqa: PT009
    ct.store(x, (0,), t)


@ct.kernel
def views(x, y, rows):
    view = x.tiled_view((16, 16), padding_mode=ct.PaddingMode.NAN)
    t = view.load((ct.bid(0), 0)) + x.tiled_view((16, 16), traversal_steps=(8, 8)).load((1, 2))
    view.atomic_store_add((0, 0), t)
    picked = ct.load_advanced_indexing(x, (ct.load(rows, (0,), (16,)), ct.Slice(0, 16)))
    ct.store(y, (0, 0), t + picked)


@ct.kernel
def scaled(a, sa, b, sb, c):
    x, y = ct.load(a, (0, 0), (128, 128)), ct.load(b, (0, 0), (128, 128))
    p, q = ct.load(sa, (0, 0), (128, 4)), ct.load(sb, (0, 0), (4, 128))
    ct.store(c, (0, 0), ct.mma_scaled(x, p, y, q, ct.load(c, (0, 0), (128, 128))))


@ct.kernel
def bytes_of(x, y):
    packed = ct.pack_to_bytes(ct.load(x, (0,), (16,)))
    ct.store(y, (0,), packed)
    ct.store(x, (0,), ct.unpack_from_bytes(packed, ct.float32))


@ct.kernel
def newest(x, y):
    ct.grid_dependency_control_wait()
    t = ct.load(x, (0, 0), (16, 16), check_bounds=False)
    corner = ct.extract(t, (0, 0), (8, 8))
    t = ct.insert(t, (1, 1), ct.atan2(corner, ct.pow(corner, 3)))
    ct.store(y, (0, 0), t)
    ct.grid_dependency_control_launch_dependents()


@ct.kernel
def scaled_by(x, number):
    tile = ct.load(x, (0,), (16,)).reshape((4, 4))
    ct.store(x, (0,), (tile * ct.astype(number, ct.float32)).reshape((16,)))


@ct.kernel
def remainders(x, y, z):
    ct.store(z, (0,), ct.load(x, (0,), (256,)) % ct.load(y, (0,), (256,)))


@ct.kernel
def magnitudes(x, y):
    ct.store(y, (0,), ct.abs(ct.load(x, (0,), (16,))))


@ct.kernel
def chosen(mask, x, y, positive):
    here = ct.load(mask, (0,), (64,))
    tile = ct.where(here, ct.load(x, (0,), (64,)), ct.load(y, (0,), (64,)))
    ct.store(positive, (0,), tile > 0.0)
