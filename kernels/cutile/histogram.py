# pyright: basic
"""How often values fall into bins: by atomic updates of memory, by counts that a block has of its
own, and with weights.

cuTile has no shared memory that several elements may update: a block's own counts are a tile, made
by comparing each value with each bin, and one update for each bin adds them to those of all blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import F32, accumulated
from kernels.kernel import Reference, tiles_of

RELAXED = ct.MemoryOrder.RELAXED


@ct.kernel
def count(values, counts, tile: ct.Constant[int]):
    """One update for each value; what is in no bin is not counted."""
    i = ct.bid(0)
    at = i * tile + ct.arange(tile, dtype=ct.int32)
    found = ct.gather(values, at, padding_value=-1)
    ct.atomic_add(counts, found, 1, memory_order=RELAXED)


@ct.kernel
def count_privately(values, counts, tile: ct.Constant[int], bins: ct.Constant[int]):
    """Blocks count all tiles of a stripe, then add up: one update for each bin and block."""
    bin_ = ct.arange(bins, dtype=ct.int32)
    mine = ct.zeros((bins,), dtype=ct.int32)
    tiles = ct.num_tiles(values, axis=0, shape=(tile,))
    for i in range(ct.bid(0), tiles, ct.num_blocks(0)):
        at = i * tile + ct.arange(tile, dtype=ct.int32)
        found = ct.gather(values, at, padding_value=-1)
        mine += ct.sum(ct.astype(found[:, None] == bin_[None, :], ct.int32), axis=0)
    ct.atomic_add(counts, bin_, mine, memory_order=RELAXED)


@ct.kernel
def add_weights(values, weights, sums, tile: ct.Constant[int]):
    """The weights of the values in each bin, in any order."""
    i = ct.bid(0)
    at = i * tile + ct.arange(tile, dtype=ct.int32)
    found = ct.gather(values, at, padding_value=-1)
    weight = ct.load(weights, index=(i,), shape=(tile,), padding_mode=ct.PaddingMode.ZERO)
    ct.atomic_add(sums, found, weight, memory_order=RELAXED)


def _values(rng: np.random.Generator, length: int, bins: int) -> np.ndarray[Any, Any]:
    """Numbers of bins, some of them twice as often; and some that are none."""
    found = rng.integers(-2, bins + 2, length)
    return np.where(rng.random(length) < 0.25, found // 3, found).astype(np.int32)


def _counts(values: np.ndarray[Any, Any], before: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    known = values[(values >= 0) & (values < len(before))]
    return before + np.bincount(known, minlength=len(before)).astype(before.dtype)


def _counting(
    kernel: Any, length: int, bins: int, blocks: int, constants: Sequence[int]
) -> Problem:
    def make(rng: np.random.Generator) -> Sequence[Any]:
        before = rng.integers(0, 1000, bins).astype(np.int32)
        return _values(rng, length, bins), before, *constants

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        return {1: Reference(_counts(arguments[0], arguments[1]))}

    name = f"histogram {kernel._pyfunc.__name__} {length} into {bins}"
    return Problem(name, kernel, make, reference, (blocks, 1, 1))


def _weighing(length: int, bins: int, tile: int) -> Problem:
    def make(rng: np.random.Generator) -> Sequence[Any]:
        weights = F32.random(rng, (length,))
        return _values(rng, length, bins), weights, F32.random(rng, (bins,)), tile

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        values, weights, before, _ = arguments
        known = (values >= 0) & (values < bins)
        where, what = values[known], weights[known].astype(np.float64)
        exact = before + np.bincount(where, what, bins)
        magnitudes = np.abs(before) + np.bincount(where, np.abs(what), bins)
        return {2: Reference(exact, accumulated(length, magnitudes))}

    grid = (tiles_of(length, tile), 1, 1)
    return Problem(f"histogram of weights {length} into {bins}", add_weights, make, reference, grid)


PROBLEMS: Sequence[Problem] = (
    _counting(count, 1000, 64, 4, (256,)),
    _counting(count, 129, 10, 2, (128,)),
    _counting(count_privately, 1000, 32, 3, (64, 32)),
    _counting(count_privately, 256, 16, 2, (128, 16)),
    _weighing(500, 24, 128),
)
