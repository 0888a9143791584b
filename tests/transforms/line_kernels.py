# pyright: basic
"""Kernels of cuTile whose rows are tiles of one dimension, with numbers for their statistics."""

from __future__ import annotations

import cuda.tile as ct

NONE = float("-inf")


@ct.kernel
def softmax_of_line(x, y, logs):
    """A row of 1,000 elements in a tile of 1,024: shares of the sum, and its logarithm."""
    i = ct.bid(0)
    at = ct.arange(1024, dtype=ct.int32)
    row = ct.astype(ct.gather(x, (i, at), padding_value=0), ct.float32)
    row = ct.where(at < 1000, row, NONE)
    most = ct.max(row, 0)
    powers = ct.exp(row - most)
    total = ct.sum(powers, 0)
    ct.scatter(y, (i, at), ct.astype(powers / total, y.dtype))
    ct.scatter(logs, (i,), most + ct.log(total))


@ct.kernel
def logs_of_lines(x, logs):
    """Chunks of a row: the maximum and the sum are tiles of one element that a loop carries."""
    i = ct.bid(0)
    most = ct.full((1,), NONE, dtype=ct.float32)
    total = ct.zeros((1,), dtype=ct.float32)
    for j in range(ct.cdiv(x.shape[1], 256)):
        at = j * 256 + ct.arange(256, dtype=ct.int32)
        row = ct.astype(ct.gather(x, (i, at), padding_value=0), ct.float32)
        row = ct.where(at < x.shape[1], row, NONE)
        new = ct.maximum(most, ct.max(row, 0))
        total = total * ct.exp(most - new) + ct.sum(ct.exp(row - new), 0)
        most = new
    ct.scatter(logs, (i,), (most + ct.log(total)).item())


@ct.kernel
def logs_of_late_sums(x, logs):
    """The same, with sums of each column of chunks that are added up behind the loop."""
    i = ct.bid(0)
    most = ct.full((1,), NONE, dtype=ct.float32)
    total = ct.zeros((256,), dtype=ct.float32)
    for j in range(ct.cdiv(x.shape[1], 256)):
        at = j * 256 + ct.arange(256, dtype=ct.int32)
        row = ct.astype(ct.gather(x, (i, at), padding_value=0), ct.float32)
        row = ct.where(at < x.shape[1], row, NONE)
        new = ct.maximum(most, ct.max(row, 0))
        total = total * ct.exp(most - new) + ct.exp(row - new)
        most = new
    ct.scatter(logs, (i,), (most + ct.log(ct.sum(total, 0))).item())
