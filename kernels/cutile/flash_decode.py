# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false
"""Attention of one query a sequence (decoding): keys are split among blocks, parts combined."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.attention import LOG2_E
from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS, F32, Array, accumulated
from kernels.kernel import Reference, tiles_of
from kernels.softmax import EXP_ERROR

ConstInt = ct.Constant[int]
ZERO = ct.PaddingMode.ZERO


@ct.kernel
def flash_decode(
    q,
    k,
    v,
    parts,
    logarithms,
    few: ConstInt,
    scale: ct.Constant[float],
    tm: ConstInt,
    tn: ConstInt,
    per_part: ConstInt,
    d: ConstInt,
):
    """The heads that share keys and values, against `per_part` tiles of keys.

    `q` is `(batch, few, group, d)`, keys and values are `(batch, few, length, d)`.  Leaves f32
    parts of the result, `(batch * few, parts, group, d)`, and base-2 logarithms of their sums; of
    the `tm` rows of a tile those after the group are not stored.
    """
    batch, head, part = ct.bid(0) // few, ct.bid(0) % few, ct.bid(1)
    mine = ct.load(q, (batch, head, 0, 0), (1, 1, tm, d), padding_mode=ZERO).reshape((tm, d))
    most = ct.full((tm, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((tm, 1), dtype=ct.float32)
    acc = ct.zeros((tm, d), dtype=ct.float32)
    keys = k.shape[2]
    end = min((part + 1) * per_part, ct.cdiv(keys, tn))
    for j in range(part * per_part, end):
        turned = ct.load(
            k,
            index=(batch, head, 0, j),
            shape=(1, 1, d, tn),
            order=(0, 1, 3, 2),
            padding_mode=ZERO,
        ).reshape((d, tn))
        scores = ct.mma(mine, turned, ct.zeros((tm, tn), dtype=ct.float32))
        if j >= keys // tn:
            columns = j * tn + ct.arange(tn, dtype=ct.int32)[None, :]
            scores = ct.where(columns < keys, scores, -math.inf)
        largest = ct.maximum(most, ct.max(scores, axis=1, keepdims=True) * scale)
        powers = ct.exp2(scores * scale - largest, flush_to_zero=True)
        fading = ct.exp2(most - largest, flush_to_zero=True)
        total = total * fading + ct.sum(powers, axis=1, keepdims=True)
        values = ct.load(v, (batch, head, j, 0), (1, 1, tn, d), padding_mode=ZERO)
        acc = ct.mma(powers.astype(v.dtype), values.reshape((tn, d)), acc * fading)
        most = largest
    index = (ct.bid(0), part, 0, 0)
    ct.store(parts, index, ct.truediv(acc, total).reshape((1, 1, tm, d)))
    ct.store(logarithms, (ct.bid(0), part, 0), (most + ct.log2(total)).reshape((1, 1, tm)))


@ct.kernel
def combine_parts(
    parts, logarithms, out, few: ConstInt, count: ConstInt, tm: ConstInt, d: ConstInt
):
    """Add the parts of a result, each weighted by its sum; `count` is a power of two, or padded."""
    batch, head = ct.bid(0) // few, ct.bid(0) % few
    minus = ct.PaddingMode.NEG_INF
    logs = ct.load(logarithms, (ct.bid(0), 0, 0), (1, count, tm), padding_mode=minus)
    weights = ct.exp2(logs - ct.max(logs, axis=1, keepdims=True), flush_to_zero=True)
    weights = (weights / ct.sum(weights, axis=1, keepdims=True)).reshape((count, tm, 1))
    found = ct.load(parts, (ct.bid(0), 0, 0, 0), (1, count, tm, d), padding_mode=ZERO)
    result = ct.sum(found.reshape((count, tm, d)) * weights, axis=0)
    ct.store(out, (batch, head, 0, 0), result.astype(out.dtype).reshape((1, 1, tm, d)))


@dataclass(frozen=True)
class Decode:
    """The sizes of a launch."""

    batch: int
    heads: int
    length: int
    d: int
    group: int = 4
    element: str = "f16"
    tm: int = 16
    tn: int = 64
    per_part: int = 2

    def __str__(self) -> str:
        words = [f"flash_decode {self.batch}x{self.heads}x{self.length}x{self.d} {self.element}"]
        return " ".join([*words, f"group={self.group} {self.tm}x{self.tn}x{self.per_part}"])

    @property
    def parts(self) -> int:
        """The number of parts that keys are split into."""
        return tiles_of(tiles_of(self.length, self.tn), self.per_part)

    def make(self, rng: np.random.Generator) -> Sequence[Any]:
        """Normal numbers; outputs hold NaN."""
        kind, few = ELEMENTS[self.element], self.heads // self.group
        q = kind.random(rng, (self.batch, few, self.group, self.d))
        k, v = (kind.random(rng, (self.batch, few, self.length, self.d)) for _ in range(2))
        shape = (self.batch * few, self.parts, self.group, self.d)
        arrays = (q, k, v, F32.unset(rng, shape), F32.unset(rng, shape[:3]))
        scale = LOG2_E / math.sqrt(self.d)
        return (*arrays, few, scale, self.tm, self.tn, self.per_part, self.d)

    def reference(self, arguments: Sequence[Any]) -> Mapping[int, Reference]:
        """The exact parts, and how far rounding may lead from them."""
        q, k, v = (array.astype(np.float64) for array in arguments[:3])
        few = self.heads // self.group
        scale = 1 / math.sqrt(self.d)
        parts, errors = np.zeros((2, self.batch, few, self.parts, self.group, self.d))
        logs, wrong = np.zeros((2, self.batch, few, self.parts, self.group))
        for part in range(self.parts):
            here = slice(part * self.per_part * self.tn, (part + 1) * self.per_part * self.tn)
            found = self._part(q, k[:, :, here], v[:, :, here], scale)
            parts[:, :, part], errors[:, :, part], logs[:, :, part], wrong[:, :, part] = found
        shape = (self.batch * few, self.parts, self.group)
        return {
            3: Reference(parts.reshape(*shape, self.d), errors.reshape(*shape, self.d)),
            4: Reference(logs.reshape(shape), wrong.reshape(shape)),
        }

    def _part(
        self, rows: Array, k: Array, v: Array, scale: float
    ) -> tuple[Array, Array, Array, Array]:
        """The result, its error, the base-2 logarithm of the sum and its error, of some keys."""
        kind, turned, unit = ELEMENTS[self.element], k.swapaxes(-1, -2), F32.unit
        scores = rows @ turned * scale
        off = accumulated(self.d, np.abs(rows) @ np.abs(turned))
        off = scale * off + 8 * unit * np.abs(scores)
        most = scores.max(axis=-1, keepdims=True)
        powers = np.exp(scores - most)
        total = powers.sum(axis=-1, keepdims=True)
        weights = powers / total
        steps = (self.per_part + 1) * (EXP_ERROR + 4 * unit)
        relative = off + 2 * unit * (most - scores) + steps
        mean = (weights * relative).sum(axis=-1, keepdims=True)
        error = (weights * (relative + kind.unit)) @ np.abs(v) + mean * (weights @ np.abs(v))
        error += kind.least * np.abs(v).sum(axis=-2, keepdims=True) + 1e-6
        logarithm = (most[..., 0] + np.log(total[..., 0])) * LOG2_E
        wrong = 2 * mean[..., 0] + 8 * unit * (np.abs(logarithm) + 4)
        return weights @ v, 1.1 * error, logarithm, wrong

    def problem(self) -> Problem:
        """The launch of a block for each part of the keys of each head that has some."""
        grid = (self.batch * self.heads // self.group, self.parts, 1)
        return Problem(str(self), flash_decode, self.make, self.reference, grid)


PROBLEMS: Sequence[Problem] = [
    sizes.problem()
    for sizes in (Decode(2, 8, 300, 64), Decode(1, 4, 512, 128, element="bf16", tn=128))
]
