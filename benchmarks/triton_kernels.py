"""Kernels in Triton that do what its tutorials do, to compare ours with; needs Triton."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def vector_add(a, b, c, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    exists = at < n
    tl.store(c + at, tl.load(a + at, mask=exists) + tl.load(b + at, mask=exists), mask=exists)


@triton.jit
def softmax(x, y, rows, columns, block: tl.constexpr, stages: tl.constexpr):
    """As many programs as the GPU holds at once; each takes row after row."""
    at = tl.arange(0, block)
    exists = at < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=stages):
        first = row.to(tl.int64) * columns
        values = tl.load(x + first + at, mask=exists, other=-float("inf")).to(tl.float32)
        powers = tl.exp(values - tl.max(values, axis=0))
        shares = powers / tl.sum(powers, axis=0)
        tl.store(y + first + at, shares.to(y.dtype.element_ty), mask=exists)


@triton.jit
def layer_norm(x, w, b, y, means, scales, columns, epsilon, block: tl.constexpr):
    """A row that is one block."""
    row = tl.program_id(0)
    first = row.to(tl.int64) * columns
    at = tl.arange(0, block)
    exists = at < columns
    values = tl.load(x + first + at, mask=exists, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(exists, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    weight = tl.load(w + at, mask=exists).to(tl.float32)
    bias = tl.load(b + at, mask=exists).to(tl.float32)
    result = centred * scale * weight + bias
    tl.store(y + first + at, result.to(y.dtype.element_ty), mask=exists)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)


@triton.jit
def _tile(rows, columns, group: tl.constexpr):
    """The tile of a program: bands of `group` rows of tiles, walked column by column."""
    number = tl.program_id(0)
    band = group * columns
    first = number // band * group
    height = min(rows - first, group)
    return first + number % band % height, number % band // height


@triton.jit
def matmul(
    a, b, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, group: tl.constexpr
):
    """By pointers, row-major, K in steps that end with the matrix."""
    i, j = _tile(tl.cdiv(m, bm), tl.cdiv(n, bn), group)
    rows = (i * bm + tl.arange(0, bm)) % m
    columns = (j * bn + tl.arange(0, bn)) % n
    inner = tl.arange(0, bk)
    left = a + rows[:, None] * k + inner[None, :]
    right = b + inner[:, None] * n + columns[None, :]
    total = tl.zeros((bm, bn), tl.float32)
    for step in range(tl.cdiv(k, bk)):
        rest = k - step * bk
        x = tl.load(left, mask=inner[None, :] < rest, other=0.0)
        y = tl.load(right, mask=inner[:, None] < rest, other=0.0)
        total = tl.dot(x, y, total)
        left += bk
        right += bk * n
    out_rows, out_columns = i * bm + tl.arange(0, bm), j * bn + tl.arange(0, bn)
    exists = (out_rows[:, None] < m) & (out_columns[None, :] < n)
    places = c + out_rows[:, None] * n + out_columns[None, :]
    tl.store(places, total.to(c.dtype.element_ty), mask=exists)


@triton.jit
def matmul_by_descriptors(
    a, b, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, group: tl.constexpr,
    transposed: tl.constexpr = False,
):  # fmt: skip
    """By tensor descriptors, which are TMA on Hopper; `transposed` is a B that is stored N x K.

    Matrices of a batch, whose number is that of programs along y, stand below one another; a tile
    that crosses rows of two of them is wrong.
    """
    i, j = _tile(tl.cdiv(m, bm), tl.cdiv(n, bn), group)
    batch = tl.program_id(1)
    total = tl.zeros((bm, bn), tl.float32)
    for step in range(tl.cdiv(k, bk)):
        x = a.load([batch * m + i * bm, step * bk])
        if transposed:
            y = b.load([batch * n + j * bn, step * bk]).T
        else:
            y = b.load([batch * k + step * bk, j * bn])
        total = tl.dot(x, y, total)
    c.store([batch * m + i * bm, j * bn], total.to(c.dtype))


@triton.jit
def _attended(
    acc, most, sums, mine, k, v, base, start, stop, rows, scale,
    bn: tl.constexpr, masked: tl.constexpr,
):  # fmt: skip
    """A run of keys; `masked` hides those behind a row's own."""
    for first in tl.range(start, stop, bn):
        first = tl.multiple_of(first, bn)
        scores = tl.dot(mine, k.load([base + first, 0]).T) * scale
        if masked:
            columns = first + tl.arange(0, bn)
            scores = tl.where(columns[None, :] <= rows[:, None], scores, -float("inf"))
        largest = tl.maximum(most, tl.max(scores, 1))
        powers = tl.exp2(scores - largest[:, None])
        fading = tl.exp2(most - largest)
        sums = sums * fading + tl.sum(powers, 1)
        acc = acc * fading[:, None]
        acc = tl.dot(powers.to(v.dtype), v.load([base + first, 0]), acc)
        most = largest
    return acc, most, sums


@triton.jit
def attention(
    q, k, v, out, length, scale,
    causal: tl.constexpr, bm: tl.constexpr, bn: tl.constexpr, d: tl.constexpr,
    group: tl.constexpr = 1,
):  # fmt: skip
    """Rows of all heads below one another, of which `group` share keys and values.

    `scale` is that of powers of two; bn divides bm.
    """
    tile, first = tl.program_id(0), tl.program_id(1) * length
    base = tl.program_id(1) // group * length
    mine = q.load([first + tile * bm, 0])
    rows = tile * bm + tl.arange(0, bm)
    most = tl.full((bm,), -float("inf"), tl.float32)
    sums = tl.zeros((bm,), tl.float32)
    acc = tl.zeros((bm, d), tl.float32)
    stop = tile * bm if causal else length
    acc, most, sums = _attended(acc, most, sums, mine, k, v, base, 0, stop, rows, scale, bn, False)
    if causal:
        acc, most, sums = _attended(
            acc, most, sums, mine, k, v, base, stop, stop + bm, rows, scale, bn, True
        )
    out.store([first + tile * bm, 0], (acc / sums[:, None]).to(out.dtype))


@triton.jit
def rms_norm(x, w, y, columns, epsilon, block: tl.constexpr):
    """A row that is one block."""
    first = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, block)
    exists = at < columns
    values = tl.load(x + first + at, mask=exists, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / columns + epsilon)
    weight = tl.load(w + at, mask=exists).to(tl.float32)
    tl.store(y + first + at, (values * scale * weight).to(y.dtype.element_ty), mask=exists)


@triton.jit
def activation(x, y, n, name: tl.constexpr, block: tl.constexpr):
    """GELU by a sigmoid or the error function, or SiLU."""
    at = tl.program_id(0) * block + tl.arange(0, block)
    exists = at < n
    t = tl.load(x + at, mask=exists).to(tl.float32)
    if name == "silu":
        found = t * tl.sigmoid(t)
    elif name == "gelu_tanh":
        found = t * tl.sigmoid(1.5957691216057308 * (t + 0.044715 * t * t * t))
    else:
        found = 0.5 * t * (1.0 + tl.erf(t * 0.7071067811865476))
    tl.store(y + at, found.to(y.dtype.element_ty), mask=exists)


@triton.jit
def transpose(x, y, m, n, rows: tl.constexpr, columns: tl.constexpr):
    """A tile, by pointers."""
    i = tl.program_id(0) * rows + tl.arange(0, rows)
    j = tl.program_id(1) * columns + tl.arange(0, columns)
    exists = (i[:, None] < m) & (j[None, :] < n)
    tile = tl.load(x + i[:, None] * n + j[None, :], mask=exists)
    tl.store(y + j[:, None] * m + i[None, :], tile.T, mask=(j[:, None] < n) & (i[None, :] < m))


@triton.jit
def embedding(table, words, y, width, block: tl.constexpr):
    """A word's row."""
    word = tl.program_id(0)
    at = tl.arange(0, block)
    exists = at < width
    row = tl.load(words + word).to(tl.int64)
    tl.store(
        y + word.to(tl.int64) * width + at,
        tl.load(table + row * width + at, mask=exists),
        mask=exists,
    )


@triton.jit
def sum_of_columns(x, y, m, n, rows: tl.constexpr, columns: tl.constexpr):
    j = tl.program_id(0) * columns + tl.arange(0, columns)
    total = tl.zeros((rows, columns), tl.float32)
    for first in range(0, m, rows):
        i = first + tl.arange(0, rows)
        exists = (i[:, None] < m) & (j[None, :] < n)
        total += tl.load(x + i[:, None].to(tl.int64) * n + j[None, :], mask=exists, other=0.0).to(
            tl.float32
        )
    tl.store(y + j, tl.sum(total, axis=0).to(y.dtype.element_ty), mask=j < n)


@triton.jit
def sum_of_rows(x, y, m, n, rows: tl.constexpr, columns: tl.constexpr):
    i = tl.program_id(0) * rows + tl.arange(0, rows)
    total = tl.zeros((rows, columns), tl.float32)
    for first in range(0, n, columns):
        j = first + tl.arange(0, columns)
        exists = (i[:, None] < m) & (j[None, :] < n)
        total += tl.load(x + i[:, None].to(tl.int64) * n + j[None, :], mask=exists, other=0.0).to(
            tl.float32
        )
    tl.store(y + i, tl.sum(total, axis=1).to(y.dtype.element_ty), mask=i < m)


@triton.jit
def histogram(x, counts, n, block: tl.constexpr):
    """An update of memory for each element."""
    at = tl.program_id(0) * block + tl.arange(0, block)
    exists = at < n
    tl.atomic_add(counts + tl.load(x + at, mask=exists, other=0), 1, mask=exists, sem="relaxed")
