# pyright: basic
"""Loops around, beside and inside of one another, in cuTile; the module needs cuda-tile."""

import math

import cuda.tile as ct

ZERO = ct.PaddingMode.ZERO
LEAST = ct.PaddingMode.NEG_INF
Int = ct.Constant[int]


@ct.kernel
def guarded(x, y, flags, out, tm: Int, tn: Int, tk: Int):
    """Products of those steps alone that a list asks for: loads under `if`."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(x.shape[1], tk)):
        if ct.load(flags, (k,), ()).item() > 0:
            a = ct.load(x, (i, k), (tm, tk), padding_mode=ZERO)
            b = ct.load(y, (k, j), (tk, tn), padding_mode=ZERO)
            acc = ct.mma(a, b, acc)
    ct.store(out, (i, j), acc)


@ct.kernel
def two_depths(x, y, u, v, out, tm: Int, tn: Int, tk: Int, tl: Int):
    """Two products of a round with depths of their own, added up in one accumulator."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(x.shape[1], tk)):
        acc = ct.mma(
            ct.load(x, (i, k), (tm, tk), padding_mode=ZERO),
            ct.load(y, (k, j), (tk, tn), padding_mode=ZERO),
            acc,
        )
        acc = ct.mma(
            ct.load(u, (i, k), (tm, tl), padding_mode=ZERO),
            ct.load(v, (k, j), (tl, tn), padding_mode=ZERO),
            acc,
        )
    ct.store(out, (i, j), acc)


@ct.kernel
def scan_product(x, y, out, tm: Int, tn: Int, tk: Int):
    """Sums along each row, that go on from tile to tile, times a matrix."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    before = ct.zeros((tm, 1), dtype=ct.float32)
    for k in range(ct.cdiv(x.shape[1], tk)):
        a = ct.load(x, (i, k), (tm, tk), padding_mode=ZERO).astype(ct.float32)
        sums = ct.cumsum(a, axis=1) + before
        before = before + ct.sum(a, axis=1, keepdims=True)
        b = ct.load(y, (k, j), (tk, tn), padding_mode=ZERO)
        acc = ct.mma(sums.astype(ct.float16), b, acc)
    ct.store(out, (i, j), acc)


@ct.kernel
def chain3(x, w, v, u, out, tm: Int, th: Int, d: Int):
    """Three products, each of what the one before has made."""
    i = ct.bid(0)
    mine = ct.load(x, (i, 0), (tm, d), padding_mode=ZERO)
    acc = ct.zeros((tm, d), dtype=ct.float32)
    for k in range(ct.cdiv(w.shape[1], th)):
        a = ct.mma(
            mine,
            ct.load(w, (0, k), (d, th), padding_mode=ZERO),
            ct.zeros((tm, th), dtype=ct.float32),
        )
        b = ct.mma(
            a.astype(ct.float16),
            ct.load(v, (k, 0), (th, d), padding_mode=ZERO),
            ct.zeros((tm, d), dtype=ct.float32),
        )
        acc = ct.mma(b.astype(ct.float16), ct.load(u, (k, 0), (d, d), padding_mode=ZERO), acc)
    ct.store(out, (i, 0), acc)


@ct.kernel
def fading(x, y, out, tm: Int, tn: Int, tk: Int, inner: Int):
    """A loop in a loop: what the inner one adds up fades in what the outer one carries."""
    i, j = ct.bid(0), ct.bid(1)
    total = ct.zeros((tm, tn), dtype=ct.float32)
    for o in range(ct.cdiv(x.shape[1], tk * inner)):
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(inner):
            acc = ct.mma(
                ct.load(x, (i, o * inner + k), (tm, tk), padding_mode=ZERO),
                ct.load(y, (o * inner + k, j), (tk, tn), padding_mode=ZERO),
                acc,
            )
        total = total * 0.5 + acc
    ct.store(out, (i, j), total)


@ct.kernel
def either(x, y, bias, out, tm: Int, tn: Int, tk: Int):
    """Both branches load, one multiplies."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(x.shape[1], tk)):
        if k % 2 == 0:
            acc = ct.mma(
                ct.load(x, (i, k), (tm, tk), padding_mode=ZERO),
                ct.load(y, (k, j), (tk, tn), padding_mode=ZERO),
                acc,
            )
        else:
            acc = acc + ct.load(bias, (i, j), (tm, tn), padding_mode=ZERO).astype(ct.float32)
    ct.store(out, (i, j), acc)


@ct.kernel
def triangle(x, y, out, tm: Int, tn: Int, tk: Int):
    """The bounds of the inner loop are the outer index: a lower triangle of blocks."""
    j = ct.bid(0)
    for i in range(ct.cdiv(out.shape[0], tm)):
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(i + 1):
            acc = ct.mma(
                ct.load(x, (i, k), (tm, tk), padding_mode=ZERO),
                ct.load(y, (k, j), (tk, tn), padding_mode=ZERO),
                acc,
            )
        ct.store(out, (i, j), acc)


@ct.kernel
def linear_attention(q, k, v, out, t: Int, d: Int):
    """What the loop carries is an operand of its products: a state that keys and values update."""
    state = ct.zeros((d, d), dtype=ct.float32)
    for i in range(ct.cdiv(q.shape[0], t)):
        queries = ct.load(q, (i, 0), (t, d), padding_mode=ZERO)
        keys = ct.load(k, (i, 0), (t, d), padding_mode=ZERO)
        values = ct.load(v, (i, 0), (t, d), padding_mode=ZERO)
        before = ct.mma(queries, state.astype(ct.float16), ct.zeros((t, d), dtype=ct.float32))
        scores = ct.mma(queries, keys.transpose(), ct.zeros((t, t), dtype=ct.float32))
        rows = ct.arange(t, dtype=ct.int32)[:, None]
        columns = ct.arange(t, dtype=ct.int32)[None, :]
        scores = ct.where(columns <= rows, scores, 0.0).astype(ct.float16)
        ct.store(out, (i, 0), ct.mma(scores, values, before))
        state = ct.mma(keys.transpose(), values, state)


@ct.kernel
def until(x, y, limits, out, tm: Int, tn: Int, tk: Int):
    """A loop that runs while what it reads says so."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    k = 0
    while ct.load(limits, (k,), ()).item() > 0:
        acc = ct.mma(
            ct.load(x, (i, k), (tm, tk), padding_mode=ZERO),
            ct.load(y, (k, j), (tk, tn), padding_mode=ZERO),
            acc,
        )
        k = k + 1
    ct.store(out, (i, j), acc)


@ct.kernel
def two_passes(x, y, out, tm: Int, tn: Int, tk: Int):
    """Largest elements of rows first, then powers times a matrix, divided by their sums."""
    i, j = ct.bid(0), ct.bid(1)
    most = ct.full((tm, 1), -math.inf, dtype=ct.float32)
    for k in range(ct.cdiv(x.shape[1], tk)):
        a = ct.load(x, (i, k), (tm, tk), padding_mode=LEAST).astype(ct.float32)
        most = ct.maximum(most, ct.max(a, axis=1, keepdims=True))
    total = ct.zeros((tm, 1), dtype=ct.float32)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(x.shape[1], tk)):
        a = ct.load(x, (i, k), (tm, tk), padding_mode=LEAST).astype(ct.float32)
        p = ct.exp2(a - most)
        total = total + ct.sum(p, axis=1, keepdims=True)
        acc = ct.mma(p.astype(ct.float16), ct.load(y, (k, j), (tk, tn), padding_mode=ZERO), acc)
    ct.store(out, (i, j), acc / total)


@ct.kernel
def added(x, y, places, out, tm: Int, tn: Int, tk: Int):
    """Each round's product is added to the row of tiles that a list names."""
    j = ct.bid(0)
    for k in range(ct.cdiv(x.shape[0], tm)):
        row = ct.load(places, (k,), ()).item()
        p = ct.mma(
            ct.load(x, (k, 0), (tm, tk), padding_mode=ZERO),
            ct.load(y, (0, j), (tk, tn), padding_mode=ZERO),
            ct.zeros((tm, tn), dtype=ct.float32),
        )
        rows = (row * tm + ct.arange(tm, dtype=ct.int32))[:, None]
        columns = (j * tn + ct.arange(tn, dtype=ct.int32))[None, :]
        ct.atomic_add(out, (rows, columns), p)
