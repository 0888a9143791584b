# pyright: basic
"""Matrix products in user-level cuTile; the module needs the package cuda-tile."""

import cuda.tile as ct

ZERO = ct.PaddingMode.ZERO


@ct.kernel
def relu(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C = max(A B / 2 + 1, 0)."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(i, j), tile=ct.maximum(acc * 0.5 + 1.0, 0.0))


@ct.kernel
def in_place(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C += A B, with the accumulation in place, so that loads follow stores to the same array."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.load(c, index=(i, j), shape=(tm, tn))
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        ct.store(a, index=(i, k), tile=x + x)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
        acc = ct.mma(ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO), y, acc)
    ct.store(c, index=(i, j), tile=acc)


@ct.kernel
def batched(a, b, c, tm: ct.Constant[int]):
    """One of several matrices: accumulators are reshaped as they are, for a store of four axes."""
    acc = ct.zeros((tm, 64), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, 32))):
        acc = ct.mma(ct.load(a, (0, k), (tm, 32)), ct.load(b, (k, 0), (32, 64)), acc)
    ct.store(c, index=(0, 0, 0, 0), tile=ct.reshape(acc, (1, 1, tm, 64)).astype(c.dtype))


@ct.kernel
def biased(a, b, bias, rest, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """The sums of a product, a bias of columns, ReLU and a residual."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        acc = ct.mma(ct.load(a, (i, k), (tm, tk)), ct.load(b, (k, j), (tk, tn)), acc)
    acc = acc + ct.load(bias, (j,), (tn,)).astype(ct.float32)[None, :]
    acc = ct.maximum(acc, 0.0) + ct.load(rest, (i, j), (tm, tn)).astype(ct.float32)
    ct.store(c, (i, j), acc.astype(c.dtype))


@ct.kernel
def scaled(a, b, scale, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """The sums of a product times a scale of each column."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        acc = ct.mma(ct.load(a, (i, k), (tm, tk)), ct.load(b, (k, j), (tk, tn)), acc)
    ct.store(c, (i, j), (acc * ct.load(scale, (j,), (tn,))[None, :]).astype(c.dtype))


@ct.kernel
def of_bytes(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C = A B of 8-bit integers, exact in 32 bits; B is stored as (N, K)."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.int32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, (i, k), (tm, tk), padding_mode=ZERO)
        y = ct.load(b, (j, k), (tn, tk), padding_mode=ZERO)
        acc = ct.mma(x, ct.transpose(y), acc)
    ct.store(c, (i, j), acc)


@ct.kernel
def routed(x, w, shares, counts, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """The shares of all columns of each row, and how often each is the largest."""
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(x, 1, (tm, tk))):
        columns = ct.transpose(ct.load(w, (0, k), (tn, tk), padding_mode=ZERO))
        acc = ct.mma(ct.load(x, (ct.bid(0), k), (tm, tk), padding_mode=ZERO), columns, acc)
    powers = ct.exp(acc - ct.max(acc, axis=1, keepdims=True))
    share = powers / ct.sum(powers, axis=1, keepdims=True)
    ct.store(shares, (ct.bid(0), 0), share)
    column = ct.arange(tn, dtype=ct.int32)
    ones = ct.where(column[None, :] == ct.argmax(share, axis=1)[:, None], 1, 0)
    ct.atomic_add(counts, column, ct.sum(ones, axis=0))
