# pyright: basic
"""Kernels of cuTile whose loops read what they load in registers."""

from __future__ import annotations

import math

import cuda.tile as ct

ZERO = ct.PaddingMode.ZERO


@ct.kernel
def every_third(x, y, low: int, high: int):
    """Sums of tiles, those beside the array are zeros."""
    total = ct.zeros((256,), dtype=ct.float32)
    for i in range(low, high, 3):
        total += ct.load(x, (i,), (256,), padding_mode=ZERO)
    ct.store(y, (0,), total)


@ct.kernel
def rows_in_turn(x, y):
    """Each block takes every third row, whose sum all of its threads wait for."""
    for i in range(ct.bid(0), ct.num_tiles(x, 0, (1, 512)), ct.num_blocks(0)):
        row = ct.load(x, (i, 0), (1, 512), padding_mode=ZERO)
        ct.store(y, (i, 0), row - ct.sum(row, axis=1, keepdims=True))


@ct.kernel
def delta_rule(k, v, q, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """A state of rows and columns that each step reads twice, and changes."""
    state = ct.zeros((rows, columns), ct.float32)
    for t in range(k.shape[0]):
        key = ct.reshape(ct.load(k, (t, 0), (1, rows)), (rows, 1))
        value = ct.load(v, (t, 0), (1, columns))
        query = ct.reshape(ct.load(q, (t, 0), (1, rows)), (rows, 1))
        state = state + key * (value - ct.sum(state * key, axis=0, keepdims=True)) * 0.01
        ct.store(y, (t, 0), ct.sum(state * query, axis=0, keepdims=True))


@ct.kernel
def picked(x, places, y, count: int):
    """Sums of elements whose places are loaded, too; those beside the array are zeros."""
    total = ct.zeros((256,), dtype=ct.float32)
    for i in range(count):
        at = ct.gather(places, i * 256 + ct.arange(256, dtype=ct.int32), padding_value=-1)
        total += ct.gather(x, at)
    ct.store(y, (0,), total)


@ct.kernel
def followed(x, y, count: int):
    """Each place is the one before it in a chain: nothing can be loaded before that."""
    at = ct.arange(256, dtype=ct.int32)
    for _ in range(count):
        at = ct.gather(x, at)
    ct.store(y, (0,), at)


@ct.kernel
def taps(x, w, y, count: ct.Constant[int]):
    """A causal filter of so many taps along each row, zeros in front of it."""
    row, first = ct.bid(0), ct.bid(1) * 1024
    at = first + ct.arange(1024, dtype=ct.int32)
    total = ct.zeros((1024,), dtype=ct.float32)
    for k in range(count):
        weight = ct.load(w, (row, k), (1, 1)).item()
        total = total + ct.gather(x, (row, at + (k - count + 1)), padding_value=0) * weight
    ct.scatter(y, (row, at), total)


@ct.kernel
def shares_of_rows(x, y, sums, first: int, last: int, step: int):
    """Rows less their means, through pointers; sums of all rows, by columns, in the end."""
    at = ct.arange(512, dtype=ct.int32)
    total = ct.zeros((512,), dtype=ct.float32)
    for i in range(first, last, step):
        row = ct.gather(x, (i, at), padding_value=0)
        ct.scatter(y, (i, at), row - ct.sum(row) / 512)
        total = total + row
    ct.store(sums, (0,), total)


@ct.kernel
def rows_by_blocks(x, w, y):
    """The same of tiles of two rows in turn, times a line that all have, and a number for each."""
    for i in range(ct.bid(0), ct.num_tiles(x, 0, (2, 512)), ct.num_blocks(0)):
        rows = ct.load(x, (i, 0), (2, 512), padding_mode=ZERO)
        scale = ct.load(w, (i,), (2,), padding_mode=ZERO)
        ct.store(y, (i, 0), (rows - ct.sum(rows, axis=1, keepdims=True) / 512) * scale[:, None])


@ct.kernel
def wandering(x, y, sums, count: int, by: int):
    """Rows whose place each round computes from that of the one before, less their means."""
    total, at = ct.zeros((512,), dtype=ct.float32), 1
    for i in range(count):
        row = ct.load(x, (at, 0), (1, 512), padding_mode=ZERO)
        ct.store(y, (i, 0), row - ct.sum(row, axis=1, keepdims=True) / 512)
        total = total + ct.reshape(row, (512,)) * at
        at = (at * 3 + by) % 9
    ct.store(sums, (0,), total)


@ct.kernel
def found_places(x, y, places, count: int):
    """Each round loads where the next one loads: no place is known before it."""
    at = 0
    for i in range(count):
        row = ct.load(x, (at, 0), (1, 512), padding_mode=ZERO)
        ct.store(y, (i, 0), row)
        at = ct.load(places, (at,), (1,)).item()


@ct.kernel
def summed_in_turn(x, y, total):
    """Rows less their sum, by a grid that takes several turns; an update behind all of them."""
    part = ct.zeros((1, 512), ct.float32)
    for r in range(ct.bid(0), ct.num_tiles(x, 0, (1, 512)), ct.num_blocks(0)):
        row = ct.load(x, (r, 0), (1, 512))
        ct.store(y, (r, 0), row - ct.sum(row, axis=1, keepdims=True))
        part = part + row
    ct.atomic_add(total, (0, ct.arange(512, dtype=ct.int32)[None, :]), part)


@ct.kernel
def divergences(x, y, loss, gradient, columns: ct.Constant[int]):
    """Jensen and Shannon's divergence of rows of logarithms, and its gradient, chunk by chunk."""
    row = ct.bid(0)
    for i in range(ct.num_tiles(x, 1, (1, columns))):
        at = (row, i * columns + ct.arange(columns, dtype=ct.int32))
        q = ct.astype(ct.gather(x, at, padding_value=-math.inf), ct.float32)
        p = ct.astype(ct.gather(y, at, padding_value=-math.inf), ct.float32)
        most = ct.maximum(ct.max(q, 0, keepdims=True), ct.max(p, 0, keepdims=True))
        scale = ct.exp(most)
        half_q, half_p = 0.5 * (ct.exp(q - most) * scale), 0.5 * (ct.exp(p - most) * scale)
        mean = ct.log(half_p + half_q)
        ct.scatter(loss, at, half_p * p + half_q * q - (half_p + half_q) * mean)
        ct.scatter(gradient, at, ct.astype(half_q * (q - mean), gradient.dtype))


@ct.kernel
def returns_from_the_end(r, v, ends, y, gamma: float, steps: int):
    """Discounted returns: each step reads lines and what the one behind it has given."""
    column = ct.bid(0)
    total = ct.zeros((1, 256), dtype=ct.float32)
    following = ct.load(v, (steps, column), (1, 256))
    for k in range(steps):
        t = steps - 1 - k
        value, left = ct.load(v, (t, column), (1, 256)), 1.0 - ct.load(ends, (t, column), (1, 256))
        change = ct.load(r, (t, column), (1, 256)) + gamma * following * left - value
        total = change + gamma * left * total
        ct.store(y, (t, column), total)
        following = value
