"""Products of 8-bit floats: with sums in f32, and with `use_fast_acc`."""

import cuda.tile as ct


@ct.kernel
def exact(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Add up products of tiles along K; B is stored N x K."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((tm, tn), 0.0, dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        left = ct.load(a, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(b, (j, k), (tn, tk), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(left, ct.transpose(right), acc)
    ct.store(c, (i, j), acc)


@ct.kernel
def fast(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """The same, where the tensor core may add in fewer bits."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((tm, tn), 0.0, dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        left = ct.load(a, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(b, (j, k), (tn, tk), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(left, ct.transpose(right), acc, use_fast_acc=True)
    ct.store(c, (i, j), acc)
