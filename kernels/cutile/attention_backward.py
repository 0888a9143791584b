# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false
"""Gradients of attention: of queries, keys and values, from the logarithms of the row sums.

`gradients` computes all of them with five products for each tile of scores, and adds up those of
queries atomically, in f32, which `rounded` then scales and rounds.  `key_gradients` and
`query_gradients` compute the scores twice, seven products, and always give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.attention import LOG2_E
from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS, Array
from kernels.kernel import Reference, tiles_of

ConstInt = ct.Constant[int]
ConstBool = ct.Constant[bool]
ZERO = ct.PaddingMode.ZERO


@ct.kernel
def gradient_sums(out, dout, sums, heads: ConstInt, tm: ConstInt, d: ConstInt):
    """For each row the sum of products of the result and its gradient."""
    tile, batch, head = ct.bid(0), ct.bid(1) // heads, ct.bid(1) % heads
    index = (batch, head, tile, 0)
    x = ct.load(out, index, (1, 1, tm, d), padding_mode=ZERO).reshape((tm, d))
    y = ct.load(dout, index, (1, 1, tm, d), padding_mode=ZERO).reshape((tm, d))
    total = ct.sum(x.astype(ct.float32) * y.astype(ct.float32), axis=1)
    ct.store(sums, index=(batch, head, tile), tile=total.reshape((1, 1, tm)))


@ct.kernel
def gradients(
    q,
    k,
    v,
    dout,
    logarithms,
    sums,
    dq,
    dk,
    dv,
    heads: ConstInt,
    scale: ct.Constant[float],
    causal: ConstBool,
    tm: ConstInt,
    tn: ConstInt,
    d: ConstInt,
):
    """Gradients of a tile of keys and values, and what the tile adds to those of queries.

    Scores are computed transposed, so that products of keys and values take them from registers.
    What is loaded of a row of queries is loaded where it is used: registers are scarce.
    """
    tile, batch, head = ct.bid(0), ct.bid(1) // heads, ct.bid(1) % heads
    keys = ct.load(k, (batch, head, tile, 0), (1, 1, tn, d), padding_mode=ZERO).reshape((tn, d))
    values = ct.load(v, (batch, head, tile, 0), (1, 1, tn, d), padding_mode=ZERO).reshape((tn, d))
    columns = tile * tn + ct.arange(tn, dtype=ct.int32)[:, None]
    to_keys = ct.zeros((tn, d), dtype=ct.float32)
    to_values = ct.zeros((tn, d), dtype=ct.float32)
    to_queries = dq.tiled_view((1, 1, tm, d))
    first = tile * tn // tm if causal else 0
    whole = ct.cdiv((tile + 1) * tn, tm) if causal else 0
    for i in range(first, ct.cdiv(q.shape[2], tm)):
        index = (batch, head, i, 0)
        mine = ct.load(q, index, (1, 1, tm, d), padding_mode=ZERO).reshape((tm, d))
        grads = ct.load(dout, index, (1, 1, tm, d), padding_mode=ZERO).reshape((tm, d))
        scores = ct.mma(keys, mine.transpose(), ct.zeros((tn, tm), dtype=ct.float32))
        products = ct.mma(values, grads.transpose(), ct.zeros((tn, tm), dtype=ct.float32))
        logs = ct.load(logarithms, index[:3], (1, 1, tm), padding_mode=ZERO).reshape((1, tm))
        powers = ct.exp2((scores * scale - logs) * LOG2_E, flush_to_zero=True)
        if causal and i < whole:
            rows = i * tm + ct.arange(tm, dtype=ct.int32)[None, :]
            powers = ct.where(columns <= rows, powers, 0.0)
        deltas = ct.load(sums, index[:3], (1, 1, tm), padding_mode=ZERO).reshape((1, tm))
        changes = (powers * (products - deltas)).astype(q.dtype)
        to_values = ct.mma(powers.astype(q.dtype), grads, to_values)
        part = ct.mma(changes.transpose(), keys, ct.zeros((tm, d), dtype=ct.float32))
        to_keys = ct.mma(changes, mine, to_keys)
        to_queries.atomic_store_add(index, part.reshape((1, 1, tm, d)))
    index = (batch, head, tile, 0)
    ct.store(dk, index, (to_keys * scale).astype(dk.dtype).reshape((1, 1, tn, d)))
    ct.store(dv, index, to_values.astype(dv.dtype).reshape((1, 1, tn, d)))


@ct.kernel
def rounded(parts, out, heads: ConstInt, scale: ct.Constant[float], tm: ConstInt, d: ConstInt):
    """Gradients of queries of their sums in f32."""
    tile, batch, head = ct.bid(0), ct.bid(1) // heads, ct.bid(1) % heads
    index = (batch, head, tile, 0)
    x = ct.load(parts, index, (1, 1, tm, d), padding_mode=ZERO)
    ct.store(out, index, (x * scale).astype(out.dtype))


@ct.kernel
def key_gradients(
    q,
    k,
    v,
    dout,
    logarithms,
    sums,
    dk,
    dv,
    heads: ConstInt,
    scale: ct.Constant[float],
    causal: ConstBool,
    tm: ConstInt,
    tn: ConstInt,
    d: ConstInt,
):
    """Gradients of a tile of keys and values.

    Scores are computed transposed, so that products of them take them from registers.
    """
    tile, batch, head = ct.bid(0), ct.bid(1) // heads, ct.bid(1) % heads
    keys = ct.load(k, (batch, head, tile, 0), (1, 1, tn, d), padding_mode=ZERO).reshape((tn, d))
    values = ct.load(v, (batch, head, tile, 0), (1, 1, tn, d), padding_mode=ZERO).reshape((tn, d))
    columns = tile * tn + ct.arange(tn, dtype=ct.int32)[:, None]
    to_keys = ct.zeros((tn, d), dtype=ct.float32)
    to_values = ct.zeros((tn, d), dtype=ct.float32)
    first = tile * tn // tm if causal else 0
    whole = ct.cdiv((tile + 1) * tn, tm) if causal else 0
    for i in range(first, ct.cdiv(q.shape[2], tm)):
        index = (batch, head, i, 0)
        mine = ct.load(q, index, (1, 1, tm, d), padding_mode=ZERO).reshape((tm, d))
        grads = ct.load(dout, index, (1, 1, tm, d), padding_mode=ZERO).reshape((tm, d))
        logs = ct.load(logarithms, index[:3], (1, 1, tm), padding_mode=ZERO).reshape((1, tm))
        deltas = ct.load(sums, index[:3], (1, 1, tm), padding_mode=ZERO).reshape((1, tm))
        scores = ct.mma(keys, mine.transpose(), ct.zeros((tn, tm), dtype=ct.float32))
        powers = ct.exp2(scores * (scale * LOG2_E) - logs * LOG2_E, flush_to_zero=True)
        if i < whole:
            rows = i * tm + ct.arange(tm, dtype=ct.int32)[None, :]
            powers = ct.where(columns <= rows, powers, 0.0)
        to_values = ct.mma(powers.astype(q.dtype), grads, to_values)
        products = ct.mma(values, grads.transpose(), ct.zeros((tn, tm), dtype=ct.float32))
        changes = powers * (products - deltas)
        to_keys = ct.mma(changes.astype(q.dtype), mine, to_keys)
    index = (batch, head, tile, 0)
    ct.store(dk, index, (to_keys * scale).astype(dk.dtype).reshape((1, 1, tn, d)))
    ct.store(dv, index, to_values.astype(dv.dtype).reshape((1, 1, tn, d)))


@ct.kernel
def query_gradients(
    q,
    k,
    v,
    dout,
    logarithms,
    sums,
    dq,
    heads: ConstInt,
    scale: ct.Constant[float],
    causal: ConstBool,
    tm: ConstInt,
    tn: ConstInt,
    d: ConstInt,
):
    """Gradients of a tile of queries."""
    tile, batch, head = ct.bid(0), ct.bid(1) // heads, ct.bid(1) % heads
    index = (batch, head, tile, 0)
    mine = ct.load(q, index, (1, 1, tm, d), padding_mode=ZERO).reshape((tm, d))
    grads = ct.load(dout, index, (1, 1, tm, d), padding_mode=ZERO).reshape((tm, d))
    logs = ct.load(logarithms, index[:3], (1, 1, tm), padding_mode=ZERO).reshape((tm, 1)) * LOG2_E
    deltas = ct.load(sums, index[:3], (1, 1, tm), padding_mode=ZERO).reshape((tm, 1))
    rows = tile * tm + ct.arange(tm, dtype=ct.int32)[:, None]
    acc = ct.zeros((tm, d), dtype=ct.float32)
    length = k.shape[2]
    end, whole = ct.cdiv(length, tn), length // tn
    if causal:
        end = min(end, ct.cdiv((tile + 1) * tm, tn))
        whole = min(whole, tile * tm // tn)
    for j in range(end):
        where = (batch, head, j, 0)
        keys = ct.load(k, where, (1, 1, tn, d), padding_mode=ZERO).reshape((tn, d))
        values = ct.load(v, where, (1, 1, tn, d), padding_mode=ZERO).reshape((tn, d))
        scores = ct.mma(mine, keys.transpose(), ct.zeros((tm, tn), dtype=ct.float32))
        products = ct.mma(grads, values.transpose(), ct.zeros((tm, tn), dtype=ct.float32))
        powers = ct.exp2(scores * (scale * LOG2_E) - logs, flush_to_zero=True)
        if j >= whole:
            columns = j * tn + ct.arange(tn, dtype=ct.int32)[None, :]
            seen = columns < length
            if causal:
                seen = seen & (columns <= rows)
            powers = ct.where(seen, powers, 0.0)
        changes = powers * (products - deltas)
        acc = ct.mma(changes.astype(q.dtype), keys, acc)
    ct.store(dq, index, (acc * scale).astype(dq.dtype).reshape((1, 1, tm, d)))


@dataclass(frozen=True)
class Gradients:
    """The sizes of a launch, and which gradients it computes."""

    batch: int
    heads: int
    length: int
    d: int
    element: str = "f16"
    causal: bool = False
    tm: int = 64
    tn: int = 64
    of: str = "keys"

    def __str__(self) -> str:
        words = [f"gradients of {self.of} {self.batch}x{self.heads}x{self.length}x{self.d}"]
        return " ".join([*words, self.element, *["causal"] * self.causal, f"{self.tm}x{self.tn}"])

    def make(self, rng: np.random.Generator) -> Sequence[Any]:
        """Normal numbers; outputs hold NaN."""
        kind = ELEMENTS[self.element]
        shape = (self.batch, self.heads, self.length, self.d)
        q, k, v, dout = (kind.random(rng, shape) for _ in range(4))
        found = _Exact(self, (q, k, v, dout))
        logs, sums = found.logarithms.astype(np.float32), found.sums.astype(np.float32)
        outputs = [kind.unset(rng, shape) for _ in range(1 if self.of == "queries" else 2)]
        if self.of == "all":
            outputs.insert(0, np.zeros(shape, np.float32))
        sizes = (self.heads, 1 / math.sqrt(self.d), self.causal, self.tm, self.tn, self.d)
        return (q, k, v, dout, logs, sums, *outputs, *sizes)

    def reference(self, arguments: Sequence[Any]) -> Mapping[int, Reference]:
        """The exact gradients, and how far rounding may lead from them."""
        found = _Exact(self, arguments[:4])
        rounding = ELEMENTS[self.element].rounding
        of_queries, of_others = found.of_queries(), [found.of_keys(), found.of_values()]
        exact = {"queries": [of_queries], "keys": of_others}.get(self.of)
        if exact is None:  # Those of queries are summed in f32, and not scaled yet.
            exact = [tuple(part / found.scale for part in of_queries), *of_others]
        return {
            6 + n: Reference(value, error + rounding(np.abs(value) + error))
            for n, (value, error) in enumerate(exact)
        }

    def problem(self) -> Problem:
        """The launch of a block for each tile of keys or queries of each head."""
        kernel = {"all": gradients, "keys": key_gradients, "queries": query_gradients}[self.of]
        tile = self.tm if self.of == "queries" else self.tn
        grid = (tiles_of(self.length, tile), self.batch * self.heads, 1)
        return Problem(str(self), kernel, self.make, self.reference, grid)


class _Exact:
    """Gradients in f64: P = softmax(Q K^T scale), dS = P (dO V^T - sums)."""

    def __init__(self, sizes: Gradients, arrays: Sequence[Array]) -> None:
        self.q, self.k, self.v, self.dout = (array.astype(np.float64) for array in arrays)
        self.scale, self.unit = 1 / math.sqrt(sizes.d), ELEMENTS[sizes.element].unit
        scores = self.q @ self.k.swapaxes(-1, -2) * self.scale
        if sizes.causal:
            scores = np.where(np.tril(np.ones(scores.shape[2:], bool)), scores, -np.inf)
        most = scores.max(axis=-1, keepdims=True)
        powers = np.exp(scores - most)
        total = powers.sum(axis=-1, keepdims=True)
        self.logarithms = (most + np.log(total))[..., 0]
        self.weights = powers / total
        products = self.dout @ self.v.swapaxes(-1, -2)
        self.sums = (self.dout * (self.weights @ self.v)).sum(axis=-1)
        self.changes = self.weights * (products - self.sums[..., None])
        sizes_of = (
            np.abs(self.dout) @ np.abs(self.v).swapaxes(-1, -2) + np.abs(self.sums)[..., None]
        )
        self.off = 2 * self.unit * np.abs(self.changes) + 2.0**-14 * self.weights * sizes_of

    def of_queries(self) -> tuple[Array, Array]:
        """Those of queries, and their error."""
        return self.changes @ self.k * self.scale, self.off @ np.abs(self.k) * self.scale + 1e-6

    def of_keys(self) -> tuple[Array, Array]:
        """Those of keys, and their error."""
        changes, off = self.changes.swapaxes(-1, -2), self.off.swapaxes(-1, -2)
        return changes @ self.q * self.scale, off @ np.abs(self.q) * self.scale + 1e-6

    def of_values(self) -> tuple[Array, Array]:
        """Those of values, and their error."""
        weights = self.weights.swapaxes(-1, -2)
        error = (2 * self.unit + 2.0**-14) * weights @ np.abs(self.dout)
        return weights @ self.dout, error + 1e-6


PROBLEMS: Sequence[Problem] = [
    sizes.problem()
    for sizes in (
        Gradients(1, 2, 128, 64),
        Gradients(2, 1, 130, 64, "bf16", causal=True, tn=128),
        Gradients(1, 1, 256, 128, causal=True, tm=32, tn=128),
        Gradients(1, 1, 130, 64, "bf16", causal=True, tn=128, of="all"),
        Gradients(1, 2, 130, 64, tm=128, of="queries"),
        Gradients(1, 1, 256, 64, "bf16", causal=True, of="queries"),
    )
]
