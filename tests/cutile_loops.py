# pyright: basic
"""Loops of kinds that `kernels/cutile` has none of, in cuTile; the module needs cuda-tile."""

import math

import cuda.tile as ct

ZERO = ct.PaddingMode.ZERO
Int = ct.Constant[int]


@ct.kernel
def gated(x, gate, up, y, tm: Int, tn: Int, tk: Int):
    """Y = silu(X G) * (X U): two accumulators in one loop."""
    i, j = ct.bid(0), ct.bid(1)
    left = ct.zeros((tm, tn), dtype=ct.float32)
    right = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(tm, tk))):
        rows = ct.load(x, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        g = ct.load(gate, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
        left = ct.mma(rows, g, left)
        u = ct.load(up, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
        right = ct.mma(rows, u, right)
    ct.store(y, index=(i, j), tile=(left / (1.0 + ct.exp(-left)) * right).astype(y.dtype))


@ct.kernel
def windowed(q, k, v, out, scale: ct.Constant[float], window: Int, tm: Int, tn: Int, d: Int):
    """Attention of each query to itself and `window - 1` keys before it, of one head."""
    tile = ct.bid(0)
    mine = ct.load(q, (tile, 0), (tm, d), padding_mode=ZERO)
    rows = tile * tm + ct.arange(tm, dtype=ct.int32)[:, None]
    most = ct.full((tm, 1), -1e30, dtype=ct.float32)
    total = ct.zeros((tm, 1), dtype=ct.float32)
    acc = ct.zeros((tm, d), dtype=ct.float32)
    first = max(tile * tm - window + 1, 0) // tn
    for j in range(first, ct.cdiv(min((tile + 1) * tm, k.shape[0]), tn)):
        keys = ct.load(k, (j, 0), (tn, d), padding_mode=ZERO)
        scores = ct.mma(mine, keys.transpose(), ct.zeros((tm, tn), dtype=ct.float32))
        columns = j * tn + ct.arange(tn, dtype=ct.int32)[None, :]
        seen = (columns <= rows) & (columns > rows - window)
        scores = ct.where(seen, scores * scale, -math.inf)
        largest = ct.maximum(most, ct.max(scores, axis=1, keepdims=True))
        powers, fading = ct.exp2(scores - largest), ct.exp2(most - largest)
        total = total * fading + ct.sum(powers, axis=1, keepdims=True)
        values = ct.load(v, (j, 0), (tn, d), padding_mode=ZERO)
        acc = ct.mma(powers.astype(v.dtype), values, acc * fading)
        most = largest
    ct.store(out, (tile, 0), (acc / total).astype(out.dtype))


@ct.kernel
def paged(q, k, v, table, out, scale: ct.Constant[float], tm: Int, page: Int, d: Int):
    """Attention to keys in pages, whose numbers a table has; the last page is full."""
    mine = ct.load(q, (ct.bid(0), 0), (tm, d), padding_mode=ZERO)
    most = ct.full((tm, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((tm, 1), dtype=ct.float32)
    acc = ct.zeros((tm, d), dtype=ct.float32)
    for j in range(table.shape[0]):
        number = ct.load(table, index=(j,), shape=()).item()
        keys = ct.load(k, (number, 0, 0), (1, page, d)).reshape((page, d))
        scores = ct.mma(mine, keys.transpose(), ct.zeros((tm, page), dtype=ct.float32)) * scale
        largest = ct.maximum(most, ct.max(scores, axis=1, keepdims=True))
        powers, fading = ct.exp2(scores - largest), ct.exp2(most - largest)
        total = total * fading + ct.sum(powers, axis=1, keepdims=True)
        values = ct.load(v, (number, 0, 0), (1, page, d)).reshape((page, d))
        acc = ct.mma(powers.astype(v.dtype), values, acc * fading)
        most = largest
    ct.store(out, (ct.bid(0), 0), (acc / total).astype(out.dtype))


@ct.kernel
def sparse(q, k, v, bias, blocks, out, scale: ct.Constant[float], t: Int, d: Int):
    """Attention with a bias, to blocks of keys that a list names; negative ones are none."""
    i = ct.bid(0)
    mine = ct.load(q, (i, 0), (t, d), padding_mode=ZERO)
    most = ct.full((t, 1), -1e30, dtype=ct.float32)
    total = ct.zeros((t, 1), dtype=ct.float32)
    acc = ct.zeros((t, d), dtype=ct.float32)
    for z in range(blocks.shape[1]):
        j = ct.load(blocks, (i, z), (1, 1)).item()
        if j >= 0:
            keys = ct.load(k, (j, 0), (t, d), padding_mode=ZERO)
            scores = ct.mma(mine, keys.transpose(), ct.zeros((t, t), dtype=ct.float32)) * scale
            scores = scores + ct.load(bias, (i, j), (t, t)).astype(ct.float32)
            largest = ct.maximum(most, ct.max(scores, axis=1, keepdims=True))
            powers, fading = ct.exp2(scores - largest), ct.exp2(most - largest)
            total = total * fading + ct.sum(powers, axis=1, keepdims=True)
            values = ct.load(v, (j, 0), (t, d), padding_mode=ZERO)
            acc = ct.mma(powers.astype(v.dtype), values, acc * fading)
            most = largest
    ct.store(out, (i, 0), (acc / total).astype(out.dtype))


@ct.kernel
def latent(q, turned, kv, rope, out, scale: ct.Constant[float], tm: Int, tn: Int, d: Int, r: Int):
    """Decoding by multi-head latent attention: heads are rows, values are the keys' latent part."""
    mine = ct.load(q, (0, 0), (tm, d), padding_mode=ZERO)
    angles = ct.load(turned, (0, 0), (tm, r), padding_mode=ZERO)
    most = ct.full((tm, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((tm, 1), dtype=ct.float32)
    acc = ct.zeros((tm, d), dtype=ct.float32)
    length = kv.shape[0]
    for j in range(ct.cdiv(length, tn)):
        keys = ct.load(kv, (j, 0), (tn, d), padding_mode=ZERO)
        scores = ct.mma(mine, keys.transpose(), ct.zeros((tm, tn), dtype=ct.float32))
        far = ct.load(rope, (j, 0), (tn, r), padding_mode=ZERO)
        scores = ct.mma(angles, far.transpose(), scores) * scale
        columns = j * tn + ct.arange(tn, dtype=ct.int32)[None, :]
        scores = ct.where(columns < length, scores, -math.inf)
        largest = ct.maximum(most, ct.max(scores, axis=1, keepdims=True))
        powers, fading = ct.exp2(scores - largest), ct.exp2(most - largest)
        total = total * fading + ct.sum(powers, axis=1, keepdims=True)
        acc = ct.mma(powers.astype(kv.dtype), keys, acc * fading)
        most = largest
    ct.store(out, (0, 0), (acc / total).astype(out.dtype))


@ct.kernel
def convolution(x, w, y, height: Int, width: Int, tm: Int, tn: Int, tk: Int):
    """3x3, as an implicit product of (height * width, channels) and (9, channels, features)."""
    i, j = ct.bid(0), ct.bid(1)
    pixel = i * tm + ct.arange(tm, dtype=ct.int32)
    row, column = pixel // width, pixel % width
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    steps = x.shape[1] // tk
    for step in range(9 * steps):
        tap, k = step // steps, step % steps
        r, c = row + tap // 3 - 1, column + tap % 3 - 1
        inside = (r >= 0) & (r < height) & (c >= 0) & (c < width)
        places = ct.where(inside, r * width + c, -1)[:, None]
        channels = (k * tk + ct.arange(tk, dtype=ct.int32))[None, :]
        pixels = ct.gather(x, (places, channels))
        weights = ct.load(w, (tap, k, j), (1, tk, tn)).reshape((tk, tn))
        acc = ct.mma(pixels, weights, acc)
    ct.store(y, (i, j), acc.astype(y.dtype))


@ct.kernel
def queue(counter, x, y, out, tm: Int, tn: Int, tk: Int):
    """Blocks take tiles of the result from a counter, until there are no more."""
    columns = ct.num_tiles(out, axis=1, shape=(tm, tn))
    tiles = ct.num_tiles(out, axis=0, shape=(tm, tn)) * columns
    tile = ct.atomic_add(counter, (0,), 1, memory_order=ct.MemoryOrder.RELAXED)
    while tile < tiles:
        i, j = tile // columns, tile % columns
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.num_tiles(x, axis=1, shape=(tm, tk))):
            acc = ct.mma(ct.load(x, (i, k), (tm, tk)), ct.load(y, (k, j), (tk, tn)), acc)
        ct.store(out, (i, j), acc.astype(out.dtype))
        tile = ct.atomic_add(counter, (0,), 1, memory_order=ct.MemoryOrder.RELAXED)


@ct.kernel
def claimed(counter, x, y, out, tm: Int, tn: Int, tk: Int):
    """The same in cuTile's default order: a block claims a tile behind what it has stored."""
    columns = ct.num_tiles(out, axis=1, shape=(tm, tn))
    tiles = ct.num_tiles(out, axis=0, shape=(tm, tn)) * columns
    tile = ct.atomic_add(counter, (0,), 1)
    while tile < tiles:
        i, j = tile // columns, tile % columns
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.num_tiles(x, axis=1, shape=(tm, tk))):
            acc = ct.mma(ct.load(x, (i, k), (tm, tk)), ct.load(y, (k, j), (tk, tn)), acc)
        ct.store(out, (i, j), acc.astype(out.dtype))
        tile = ct.atomic_add(counter, (0,), 1)


@ct.kernel
def counted(counter, x, y, out, tm: Int, tn: Int, tk: Int):
    """A product whose iterations are counted, in cuTile's default order."""
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(tm, tk))):
        acc = ct.mma(ct.load(x, (0, k), (tm, tk)), ct.load(y, (k, 0), (tk, tn)), acc)
        ct.atomic_add(counter, (0,), 1)
    ct.store(out, (0, 0), acc.astype(out.dtype))
