# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false
"""Attention: softmax(Q K^T / sqrt(d)) V, a tile of keys after another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS, F32, Array, Reals, accumulated
from kernels.kernel import Reference, tiles_of
from kernels.softmax import EXP_ERROR

ConstInt = ct.Constant[int]
ConstBool = ct.Constant[bool]

LOG2_E, LN_2 = math.log2(math.e), math.log(2)


@ct.kernel
def attention(
    q,
    k,
    v,
    out,
    heads: ConstInt,
    group: ConstInt,
    scale: ct.Constant[float],
    causal: ConstBool,
    tm: ConstInt,
    tn: ConstInt,
    d: ConstInt,
):
    """One tile of queries of one head; `group` heads share keys and values.

    Arrays are `(batch, heads, length, d)`.  `scale` is log2(e) / sqrt(d), for powers are those of
    two.  A causal row sees the keys up to its own; the tiles that see the most start first.
    """
    tile, batch, head = ct.num_blocks(0) - 1 - ct.bid(0), ct.bid(1) // heads, ct.bid(1) % heads
    acc, _, total = _attended(q, k, v, tile, batch, head, group, scale, causal, tm, tn, d)
    result = ct.astype(_divided(acc, total), out.dtype).reshape((1, 1, tm, d))
    ct.store(out, index=(batch, head, tile, 0), tile=result)


@ct.kernel
def attention_with_sums(
    q,
    k,
    v,
    out,
    sums,
    heads: ConstInt,
    group: ConstInt,
    scale: ct.Constant[float],
    causal: ConstBool,
    tm: ConstInt,
    tn: ConstInt,
    d: ConstInt,
):
    """The same, and for each row the logarithm of the sum of its exponentials."""
    tile, batch, head = ct.num_blocks(0) - 1 - ct.bid(0), ct.bid(1) // heads, ct.bid(1) % heads
    acc, most, total = _attended(q, k, v, tile, batch, head, group, scale, causal, tm, tn, d)
    result = ct.astype(_divided(acc, total), out.dtype).reshape((1, 1, tm, d))
    ct.store(out, index=(batch, head, tile, 0), tile=result)
    logarithm = (most + ct.log2(total)) * LN_2
    ct.store(sums, index=(batch, head, tile), tile=logarithm.reshape((1, 1, tm)))


def _divided(acc, total):
    """Return weighted values over the sums of weights, near enough for a result of 16 bits."""
    return ct.truediv(acc, total, rounding_mode=ct.RoundingMode.APPROX, flush_to_zero=True)


def _attended(q, k, v, tile, batch, head, group, scale, causal, tm, tn, d):
    """Return the weighted values, the row maximum and the row sum of exponentials of a tile."""
    zero = ct.PaddingMode.ZERO
    mine = ct.load(q, (batch, head, tile, 0), (1, 1, tm, d), padding_mode=zero).reshape((tm, d))
    rows = tile * tm + ct.arange(tm, dtype=ct.int32)[:, None]
    most = ct.full((tm, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((tm, 1), dtype=ct.float32)
    acc = ct.zeros((tm, d), dtype=ct.float32)
    keys = k.shape[2]
    end, whole = ct.cdiv(keys, tn), keys // tn
    if causal:
        end = min(end, ct.cdiv((tile + 1) * tm, tn))
        whole = min(whole, tile * tm // tn)
    for j in range(end):
        turned = ct.load(
            k,
            index=(batch, head // group, 0, j),
            shape=(1, 1, d, tn),
            order=(0, 1, 3, 2),
            padding_mode=zero,
        ).reshape((d, tn))
        scores = ct.mma(mine, turned, ct.zeros((tm, tn), dtype=ct.float32))
        if j >= whole:
            columns = j * tn + ct.arange(tn, dtype=ct.int32)[None, :]
            seen = columns < keys
            if causal:
                seen = seen & (columns <= rows)
            scores = ct.where(seen, scores, -math.inf)
        largest = ct.maximum(most, ct.max(scores, axis=1, keepdims=True) * scale)
        powers = ct.exp2(scores * scale - largest, flush_to_zero=True)
        fading = ct.exp2(most - largest, flush_to_zero=True)
        total = total * fading + ct.sum(powers, axis=1, keepdims=True)
        values = ct.load(v, (batch, head // group, j, 0), (1, 1, tn, d), padding_mode=zero)
        acc = ct.mma(powers.astype(v.dtype), values.reshape((tn, d)), acc * fading)
        most = largest
    return acc, most, total


@dataclass(frozen=True)
class Attention:
    """The sizes of a launch."""

    batch: int
    heads: int
    queries: int
    keys: int
    d: int
    element: str = "f16"
    causal: bool = False
    group: int = 1
    sums: bool = False
    tm: int = 64
    tn: int = 64

    def __str__(self) -> str:
        words = [f"attention {self.batch}x{self.heads}x{self.queries}x{self.keys}x{self.d}"]
        words += [self.element, *["causal"] * self.causal]
        words += [f"group={self.group}"] * (self.group > 1) + ["sums"] * self.sums
        return " ".join([*words, f"{self.tm}x{self.tn}"])

    def make(self, rng: np.random.Generator) -> Sequence[Any]:
        """Normal numbers; outputs hold NaN."""
        kind, few = ELEMENTS[self.element], self.heads // self.group
        q, out = ((self.batch, self.heads, self.queries, self.d) for _ in range(2))
        k = v = (self.batch, few, self.keys, self.d)
        arrays: list[Array] = [kind.random(rng, shape) for shape in (q, k, v)]
        arrays.append(kind.unset(rng, out))
        if self.sums:
            arrays.append(F32.unset(rng, out[:3]))
        sizes = (self.heads, self.group, LOG2_E / math.sqrt(self.d), self.causal)
        return (*arrays, *sizes, self.tm, self.tn, self.d)

    def reference(self, arguments: Sequence[Any]) -> Mapping[int, Reference]:
        """The exact result, and how far rounding may lead from it."""
        q, k, v = (array.astype(np.float64) for array in arguments[:3])
        k, v = (np.repeat(array, self.group, axis=1) for array in (k, v))
        found = _Rows(self, q @ _turned(k), np.abs(q) @ _turned(np.abs(k)))
        rounding = ELEMENTS[self.element].rounding
        out, error = found.weights @ v, found.error_of_products(v)
        references = {3: Reference(out, error + rounding(np.abs(out) + error))}
        if self.sums:
            references[4] = Reference(found.logarithm, found.error_of_logarithm())
        return references

    def problem(self) -> Problem:
        """The launch of a block for each tile of queries of each head."""
        grid = (tiles_of(self.queries, self.tm), self.batch * self.heads, 1)
        kernel = attention_with_sums if self.sums else attention
        return Problem(str(self), kernel, self.make, self.reference, grid)


class _Rows:
    """Softmax of rows of scores in f32, with error bounds.

    A weight has the error of its score, of the exponentials, and of the rescaling of earlier tiles;
    differences of scores are rounded.
    """

    def __init__(self, sizes: Attention, dots: Reals, magnitudes: Reals) -> None:
        self.sizes = sizes
        self.tiles = tiles_of(sizes.keys, sizes.tn)
        scale = 1 / math.sqrt(sizes.d)
        seen = np.ones(dots.shape[2:], bool)
        scores = np.where(np.tril(seen) if sizes.causal else seen, dots * scale, -np.inf)
        most = scores.max(axis=-1, keepdims=True)
        powers = np.exp(scores - most)
        self.total = powers.sum(axis=-1, keepdims=True)
        self.weights = powers / self.total
        self.logarithm = (most + np.log(self.total))[..., 0]
        below = np.where(powers > 0, most - scores, 0.0)
        of_scores = scale * (accumulated(sizes.d, magnitudes) + 4 * F32.unit * np.abs(dots))
        steps = (self.tiles + 1) * (EXP_ERROR + 2 * F32.unit)
        self.error = of_scores + 2 * F32.unit * (below + np.abs(scale * dots)) + steps
        self.summed = accumulated(sizes.keys + self.tiles, np.ones_like(most))

    def error_of_products(self, v: Reals) -> Reals:
        """Return the error bound of the weighted sums before they are rounded."""
        kind = ELEMENTS[self.sizes.element]
        sizes = np.abs(v)
        off = (self.weights * (self.error + kind.unit)) @ sizes
        tiny = kind.least / self.total * sizes.sum(axis=-2, keepdims=True)
        all_off = (self.weights * self.error).sum(axis=-1, keepdims=True)
        rest = (all_off + 2 * self.summed + 2 * F32.unit) * (self.weights @ sizes)
        return (off + tiny + rest) * (1 + 2.0**-6)

    def error_of_logarithm(self) -> Reals:
        """Return the error bound of the logarithm of a row sum."""
        relative = (self.weights * self.error).sum(axis=-1) + self.summed[..., 0]
        parts = np.abs(self.logarithm) + 2 * np.abs(np.log(self.total[..., 0])) + 1
        return (relative + 4 * F32.unit * parts) * (1 + 2.0**-6)


def _turned(k: Reals) -> Reals:
    return np.swapaxes(k, -1, -2)


PROBLEMS: Sequence[Problem] = [
    sizes.problem()
    for sizes in (
        Attention(1, 2, 100, 150, 64),
        Attention(2, 1, 128, 128, 64, causal=True),
        Attention(1, 1, 130, 130, 64, "bf16", causal=True, tm=128),
        Attention(1, 2, 70, 200, 128, group=2, sums=True),
        Attention(1, 1, 128, 192, 128, "bf16", tm=128),
        Attention(1, 1, 200, 200, 128, causal=True, sums=True, tm=128),
        Attention(1, 1, 300, 300, 128, causal=True, tm=256, tn=32),
    )
]
