"""A tile is loaded by rows and stored by columns."""

import cuda.tile as ct

C = ct.Constant[int]


@ct.kernel
def flipped(a, b, tm: C, tn: C):
    x = ct.load(a, (ct.bid(0), ct.bid(1)), (tm, tn))
    ct.store(b, (ct.bid(1), ct.bid(0)), ct.transpose(x))
