"""A product of matrices whose tiles are constants, and a transposition."""

import cuda.tile as ct

Extent = ct.Constant[int]


@ct.kernel
def matmul(a, b, c, tm: Extent, tn: Extent, tk: Extent):
    acc = ct.zeros((tm, tn), ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (ct.bid(0), k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, ct.bid(1)), (tk, tn), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (ct.bid(0), ct.bid(1)), ct.astype(acc, ct.float16))


@ct.kernel
def flipped(a, b, rows: Extent, columns: Extent):
    x = ct.load(a, (ct.bid(0), ct.bid(1)), (rows, columns))
    ct.store(b, (ct.bid(1), ct.bid(0)), ct.transpose(x))
