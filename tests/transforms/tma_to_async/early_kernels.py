# pyright: basic
"""A kernel of cuTile whose tiles fit shared memory only one after another."""

from __future__ import annotations

import cuda.tile as ct

Extent = ct.Constant[int]


@ct.kernel
def decoded(q, short_q, k, short_k, v, y, rounds: Extent, keys: Extent, heads: Extent):
    """Weighs rows of `v` by products of queries with rows of `k`, wide ones and short ones."""
    sums = ct.zeros((512, heads), dtype=ct.float32)
    queries = ct.load(q, index=(0, 0), shape=(512, heads), order=(1, 0))
    short_queries = ct.load(short_q, index=(0, 0), shape=(64, heads), order=(1, 0))
    for i in range(rounds):
        scores = ct.zeros((keys, heads), dtype=ct.float32)
        scores = ct.mma(ct.load(k, index=(i, 0), shape=(keys, 512)), queries, scores)
        scores = ct.mma(ct.load(short_k, index=(i, 0), shape=(keys, 64)), short_queries, scores)
        weights = ct.astype(ct.exp(scores - ct.max(scores, axis=0, keepdims=True)), ct.float16)
        values = ct.load(v, index=(0, i), shape=(512, keys), order=(1, 0))
        sums = ct.mma(values, weights, sums)
    ct.store(y, index=(0, 0), tile=sums)
