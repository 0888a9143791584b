"""The instructions that assemble 32-bit registers from parts of others."""

from __future__ import annotations

import numpy as np

from tileas_xdsl.layout.convert.plan import per_word, words_of
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.registers.access import Ints, distinct


def assembly_cost(sources: Ints, elem_bits: int) -> int:
    """Return the selects and byte permutes per thread that fill registers from a register file.

    `sources` is `(threads, n)`: the index in the file of the source of register `n`, -1 for none;
    elements of one 32-bit register are adjacent, in the file as in the result.  A register that is
    the same whole register in every thread costs nothing (a renaming).  Where threads differ, `d`
    alternatives cost `d - 1` selects; packing `k` registers costs `max(1, k - 1)` byte permutes,
    elements below 8 bits two instructions (shift, insert) each.
    """
    by_word = as_words(sources, elem_bits)
    per = by_word.shape[2]
    empty = by_word < 0
    word = np.where(empty, -1, by_word // per)
    first = word.max(axis=2, keepdims=True)
    in_place = (word == first) & (by_word % per == np.arange(per, dtype=np.int64))
    whole = (empty | in_place).all(axis=(0, 2))
    moved = _alternatives(first[:, :, 0]) - 1
    parts = np.maximum(_alternatives(by_word) - 1, 0).sum(axis=1) + _packing(by_word, elem_bits)
    return int(np.where(whole, np.maximum(moved, 0), parts).sum()) * words_of(elem_bits)


def as_words(sources: Ints, elem_bits: int) -> Ints:
    """Reshape to `(threads, words, elements per word)`, the last word padded with -1."""
    per = per_word(elem_bits)
    threads, values = sources.shape
    padded = np.full((threads, align_up(values, per)), -1, dtype=np.int64)
    padded[:, :values] = sources
    return padded.reshape(threads, -1, per)


def _alternatives(positions: Ints) -> Ints:
    """Return the number of distinct sources among the threads (axis 0)."""
    return distinct(np.sort(np.moveaxis(positions, 0, -1), axis=-1)).sum(axis=-1)


def _packing(by_word: Ints, elem_bits: int) -> Ints:
    """Return the instructions that pack each word once selects have made its sources uniform."""
    position = by_word.max(axis=0)
    if elem_bits < 8:
        return 2 * (position >= 0).sum(axis=1)
    words = np.where(position < 0, -1, position // by_word.shape[2])
    return np.maximum(distinct(np.sort(words, axis=1)).sum(axis=1) - 1, 1)
