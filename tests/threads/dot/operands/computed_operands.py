# pyright: basic
"""Products whose operands are computed in registers, in cuTile; needs the package cuda-tile."""

import cuda.tile as ct

ZERO = ct.PaddingMode.ZERO
Size = ct.Constant[int]


@ct.kernel
def dequantized_b(a, w, scales, c, tm: Size, tn: Size, tk: Size):
    """C = A (W * scales): weights of 8 bits, one scale for each column."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, (i, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(w, (k, j), (tk, tn), padding_mode=ZERO)
        scale = ct.load(scales, (0, j), (1, tn), padding_mode=ZERO)
        acc = ct.mma(x, ct.astype(y, ct.float16) * scale, acc)
    ct.store(c, (i, j), acc)


@ct.kernel
def shifted_a(w, b, c, tm: Size, tn: Size, tk: Size):
    """C = (W - 8) B: weights of 8 bits with a zero point."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), ct.float32)
    for k in range(ct.num_tiles(w, axis=1, shape=(tm, tk))):
        x = ct.load(w, (i, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (k, j), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(ct.astype(x, ct.float16) - 8, y, acc)
    ct.store(c, (i, j), acc.astype(c.dtype))


@ct.kernel
def transposed_b(a, w, c, tm: Size, tn: Size, tk: Size):
    """C = A (W - 8)^T."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, (i, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(w, (j, k), (tn, tk), padding_mode=ZERO)
        acc = ct.mma(x, ct.transpose(ct.astype(y, ct.float16) - 8), acc)
    ct.store(c, (i, j), acc.astype(c.dtype))


@ct.kernel
def scaled_blocks_of_fours(a, w, scales, c, t: Size, tk: Size):
    """C = A W^T: two weights of 4 bits in each byte, one scale for 32 of them."""
    acc = ct.zeros((t, t), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(t, tk))):
        both = ct.load(w, (0, k), (t, tk // 2)).astype(ct.int16).reshape((t, tk // 2, 1))
        fours = ct.cat((both & 15, (both >> 4) & 15), 2).reshape((t, tk)).astype(a.dtype)
        scale = ct.load(scales, (0, k), (t, tk // 32)).reshape((t, tk // 32, 1))
        y = (fours.reshape((t, tk // 32, 32)) * scale).reshape((t, tk))
        acc = ct.mma(ct.load(a, (0, k), (t, tk)), ct.transpose(y), acc)
    ct.store(c, (0, 0), acc)


@ct.kernel
def masked_in_a_branch(a, b, c, t: Size):
    """C = M B with the blocks M of A A^T, of the last one without what is above the diagonal."""
    count = ct.num_tiles(a, axis=0, shape=(t, t))
    below = ct.arange(t, dtype=ct.int32)[:, None] >= ct.arange(t, dtype=ct.int32)[None, :]
    acc = ct.zeros((t, t), ct.float32)
    for k in range(count):
        x = ct.load(a, (k, 0), (t, t))
        y = ct.mma(x, ct.transpose(x), ct.zeros((t, t), ct.float32))
        if k == count - 1:
            y = ct.where(below, y, 0.0)
        acc = ct.mma(y.astype(a.dtype), ct.load(b, (k, 0), (t, t)), acc)
    ct.store(c, (0, 0), acc)


@ct.kernel
def scaled_gram(a, scales, c, t: Size):
    """C = (D A A^T)^2 by blocks of rows; the diagonal D is loaded as a row, read as a column."""
    for k in range(ct.num_tiles(a, axis=0, shape=(t, t))):
        x = ct.load(a, (k, 0), (t, t))
        scale = ct.load(scales, (0, k), (1, t)).reshape((t, 1))
        nothing = ct.zeros((t, t), ct.float32)
        y = (ct.mma(x, ct.transpose(x), nothing) * scale).astype(a.dtype)
        ct.store(c, (k, 0), ct.mma(y, y, nothing))


@ct.kernel
def one_hot_b(a, chosen, c, tm: Size, tn: Size, tk: Size):
    """C = the chosen columns of A."""
    columns = ct.expand_dims(ct.load(chosen, (0,), (tn,)), 0)
    picks = ct.expand_dims(ct.arange(tk, dtype=ct.int32), 1) == columns
    x = ct.load(a, (0, 0), (tm, tk))
    ct.store(c, (0, 0), ct.mma(x, ct.astype(picks, ct.float16), ct.zeros((tm, tn), ct.float32)))


@ct.kernel
def triangle_a(b, c, tm: Size, tn: Size):
    """C = the running sums of the rows of B."""
    rows = ct.expand_dims(ct.arange(tm, dtype=ct.int32), 1)
    columns = ct.expand_dims(ct.arange(tm, dtype=ct.int32), 0)
    triangle = ct.astype(ct.where(rows >= columns, 1.0, 0.0), ct.float16)
    y = ct.load(b, (0, 0), (tm, tn))
    ct.store(c, (0, 0), ct.mma(triangle, y, ct.zeros((tm, tn), ct.float32)))


@ct.kernel
def chained_a(a, b, c, t: Size, n: Size):
    """C = exp(A B / 8) B: an accumulator becomes A."""
    x, y = ct.load(a, (0, 0), (t, n)), ct.load(b, (0, 0), (n, n))
    p = ct.exp(ct.mma(x, y, ct.zeros((t, n), ct.float32)) * 0.125)
    ct.store(c, (0, 0), ct.mma(ct.astype(p, ct.float16), y, ct.zeros((t, n), ct.float32)))


@ct.kernel
def chained_b(a, b, c, t: Size, n: Size):
    """C = A^T (A B): an accumulator becomes B."""
    x, y = ct.load(a, (0, 0), (t, n)), ct.load(b, (0, 0), (n, n))
    p = ct.mma(x, y, ct.zeros((t, n), ct.float32))
    q = ct.mma(ct.transpose(x), ct.astype(p, ct.float16), ct.zeros((n, n), ct.float32))
    ct.store(c, (0, 0), q)


@ct.kernel
def chained_transposed(a, b, c, t: Size, n: Size):
    """C = (A B)^T A: an accumulator becomes A, transposed."""
    x, y = ct.load(a, (0, 0), (t, n)), ct.load(b, (0, 0), (n, n))
    p = ct.mma(x, y, ct.zeros((t, n), ct.float32))
    q = ct.mma(ct.transpose(ct.astype(p, ct.float16)), x, ct.zeros((n, n), ct.float32))
    ct.store(c, (0, 0), q)


@ct.kernel
def chained_reshaped(a, b, c, t: Size, n: Size):
    """C = reshape(A B) B: an accumulator becomes A of twice the rows."""
    x, y = ct.load(a, (0, 0), (t, n)), ct.load(b, (0, 0), (n, n))
    p = ct.astype(ct.mma(x, y, ct.zeros((t, n), ct.float32)), ct.float16)
    half = ct.load(b, (0, 0), (n // 2, n))
    q = ct.mma(ct.reshape(p, (2 * t, n // 2)), half, ct.zeros((2 * t, n), ct.float32))
    ct.store(c, (0, 0), q)


@ct.kernel
def chained_tf32(a, b, c, t: Size, n: Size):
    """C = exp(A B / 8) B in tf32, whose A is in shared memory."""
    x = ct.astype(ct.load(a, (0, 0), (t, n)), ct.tfloat32)
    y = ct.astype(ct.load(b, (0, 0), (n, n)), ct.tfloat32)
    p = ct.exp(ct.mma(x, y, ct.zeros((t, n), ct.float32)) * 0.125)
    ct.store(c, (0, 0), ct.mma(ct.astype(p, ct.tfloat32), y, ct.zeros((t, n), ct.float32)))


@ct.kernel
def block_scaled(a, sa, b, sb, c, tm: Size, tn: Size, tk: Size, block: Size):
    """C += (A * scales) (B * scales): row-major scales of blocks along K."""
    acc = ct.load(c, (0, 0), (tm, tn))
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x, of_x = ct.load(a, (0, k), (tm, tk)), ct.load(sa, (0, k), (tm, tk // block))
        y, of_y = ct.load(b, (k, 0), (tk, tn)), ct.load(sb, (k, 0), (tk // block, tn))
        acc = ct.mma_scaled(x, of_x, y, of_y, acc)
    ct.store(c, (0, 0), acc)


@ct.kernel
def taking_turns(a, b, c, count: Size, tm: Size, tn: Size, tk: Size):
    """C = the sum of max(k A B, 0): accumulators that are never alive together."""
    x, y = ct.load(a, (0, 0), (tm, tk)), ct.load(b, (0, 0), (tk, tn))
    total = ct.zeros((tm, tn), ct.float32)
    for k in ct.static_iter(range(count)):
        product = ct.mma(x, y * (k / 8), ct.zeros((tm, tn), ct.float32))
        total = total + ct.maximum(product, 0.0)
    ct.store(c, (0, 0), total)


@ct.kernel
def alive_together(a, b, c, tm: Size, tn: Size, tk: Size):
    """C = 3 A B: three accumulators that one loop carries."""
    zeros = ct.zeros((tm, tn), ct.float32)
    p, q, r = zeros, zeros, zeros
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x, y = ct.load(a, (0, k), (tm, tk)), ct.load(b, (k, 0), (tk, tn))
        p, q, r = ct.mma(x, y, p), ct.mma(x, y, q), ct.mma(x, y, r)
    ct.store(c, (0, 0), p + q + r)


@ct.kernel
def added(a, b, out, m: ct.Constant[int], n: ct.Constant[int]):
    """The operands of the second product are loaded while the first one multiplies."""
    sums = ct.zeros((m, m), ct.float32)
    sums = ct.mma(ct.load(a, (0, 0), (m, n)), ct.load(b, (0, 0), (n, m)), sums)
    sums = ct.mma(ct.load(b, (0, 0), (m, n)), ct.load(a, (0, 0), (n, m)), sums)
    ct.store(out, (0, 0), sums)


@ct.kernel
def two_heights(a, b, out, rows):
    """The second product has rows for one warpgroup, and the first one for two."""
    large, small = ct.load(out, (0, 0), (128, 64)), ct.load(out, (2, 8), (64, 8))
    kept = ct.load(out, (0, 1), (128, 64))
    for k in range(rows // 128):
        large = ct.mma(ct.load(a, (0, k), (128, 32)), ct.load(b, (k, 0), (32, 64)), large)
    for k in range(rows // 128):
        small = ct.mma(ct.load(a, (1, k), (64, 32)), ct.load(b, (k, 1), (32, 8)), small)
    ct.store(out, (0, 0), large * kept)
    ct.store(out, (2, 0), small)
