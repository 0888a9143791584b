"""A thread's registers as an array: elements selected from vectors, by thread, and reassembled.

Layout conversions name, for each register of the target, the source register of each thread
(`sources`, a table `(threads, registers)`). Registers cannot be indexed at run time, so a source
that differs between threads becomes a chain of selects on a rank computed from the thread index:

    sources[:, 0] = [0, 2, 0, 2, ...]        %rank = thread mod 2
                                             %x = select %rank == 1, %r2, %r0

A register has 32 bits. Elements of 16 bits are selected by pairs where both halves come from one
source word in their places; only else a word is assembled from halves.  One of bytes that two words
have is a permutation of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

import numpy as np
from xdsl.dialects import vector
from xdsl.dialects.builtin import IndexType, VectorType, i32
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import PrmtOp
from tileas_xdsl.dialects.interned import vector_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import selection
from tileas_xdsl.layout.convert.assembly import as_words
from tileas_xdsl.layout.convert.plan import per_word
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i32_constant, is_equal
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.index.per_thread_tables import Table, number_of
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import (
    element,
    joined,
    length,
    strip,
    zero,
)

BYTES = 4
"""Of a word."""

WORD = VectorType(i32, [1])

VectorElement: TypeAlias = tuple[SSAValue, int]
"""A vector and a position in it."""


@dataclass
class RegisterFile:
    """A thread's registers by index, each a component of some vector; unset ones are undefined."""

    e: ThreadBuilder
    element: Attribute
    elements: dict[int, VectorElement] = field(default_factory=dict[int, VectorElement])

    @staticmethod
    def of(e: ThreadBuilder, fragment: RegisterTile) -> RegisterFile:
        """Return the registers of a tile, its vectors one after another."""
        file, count = RegisterFile(e, fragment.element), vectors_of(fragment.layout).length
        for block, part in enumerate(fragment.parts):
            file.add(block * count, part)
        return file

    @property
    def per_word(self) -> int:
        """Elements in a register of 32 bits."""
        return per_word(width_of(self.element))

    def add(self, first: int, vector: SSAValue) -> None:
        """Assign the components of a vector to entries from `first` on."""
        self.elements.update({first + k: (vector, k) for k in range(length(vector))})

    def vector_element(self, register: int) -> VectorElement | None:
        """Return the vector and component of a register; None if it is unset."""
        return self.elements.get(register)

    def joined(self, elements: Sequence[VectorElement | None]) -> SSAValue:
        """Join elements into one vector; unset ones are 0."""
        return joined(self.e, [*self._strips(elements)])

    def _strips(self, elements: Sequence[VectorElement | None]) -> Iterator[SSAValue]:
        """Yield slices for runs of adjacent elements in whole words, and single words otherwise."""
        per = self.per_word
        first = 0
        while first < len(elements):
            run = self._neighbours(elements[first:])
            count = run if first + run == len(elements) else run // per * per
            location = elements[first]
            if location is not None and count and location[1] % per == 0:
                yield strip(self.e, location[0], location[1], count)
            else:
                count = min(per, len(elements) - first)
                yield self._register(elements[first : first + count])
            first += count

    def _neighbours(self, elements: Sequence[VectorElement | None]) -> int:
        """Return how many leading entries are adjacent components of one vector."""
        if elements[0] is None:
            return 0
        vector, at = elements[0]
        count = 1
        while count < len(elements) and elements[count] == (vector, at + count):
            count += 1
        return count

    def _register(self, elements: Sequence[VectorElement | None]) -> SSAValue:
        """Join the elements of one 32-bit word."""
        known = [location for location in elements if location is not None]
        if len(known) == BYTES and self.per_word == BYTES:
            words = list(dict.fromkeys((vector, at // BYTES) for vector, at in known))
            if len(words) <= 2 and all(length(v) % BYTES == 0 for v, _ in words):
                return self._permuted(known, words)
        found = [
            zero(self.e, self.element) if location is None else element(self.e, *location)
            for location in elements
        ]
        return joined(self.e, found)

    def _permuted(
        self, elements: Sequence[VectorElement], words: Sequence[tuple[SSAValue, int]]
    ) -> SSAValue:
        """Take the bytes of a word from one or two others."""
        digits = [BYTES * words.index((v, at // BYTES)) + at % BYTES for v, at in elements]
        selector = i32_constant(self.e, sum(digit << 4 * k for k, digit in enumerate(digits)))
        whole = [self._four_bytes(*word) for word in words]
        made = joined(self.e, [self.e.insert(PrmtOp(whole[0], whole[-1], selector)).result])
        return self.e.insert(vector.BitcastOp(made, vector_of(self.element, BYTES))).result

    def _four_bytes(self, bytes_: SSAValue, number: int) -> SSAValue:
        """Return four bytes of a vector as an `i32`."""
        part = strip(self.e, bytes_, BYTES * number, BYTES)
        return element(self.e, self.e.insert(vector.BitcastOp(part, WORD)).result, 0)

    def fragment(
        self, layout: RegisterLayout, elements: Sequence[VectorElement | None]
    ) -> RegisterTile:
        """Return the register tile of a layout with these elements, in order."""
        vectors = vectors_of(layout)
        count = vectors.length
        wanted = [*elements, *[None] * (vectors.elements - len(elements))]
        parts = [
            self.joined(wanted[block * count : (block + 1) * count])
            for block in range(vectors.count)
        ]
        return RegisterTile(layout, self.element, tuple(parts))

    def assembled(self, sources: Table) -> list[VectorElement | None]:
        """Select for each thread the elements that `sources`, `(threads, n)`, names; -1 is any.

        Whole words are selected where all their elements keep their places.
        """
        words = as_words(sources, width_of(self.element))
        found: list[VectorElement | None] = []
        for position in range(words.shape[1]):
            word = self._word(words[:, position])
            found += [None if word is None else (word, k) for k in range(self.per_word)]
        return found[: sources.shape[1]]

    def _word(self, sources: Table) -> SSAValue | None:
        """Emit one 32-bit register, from the source entries of its elements by thread."""
        per = self.per_word
        empty = sources < 0
        if empty.all():
            return None
        word = np.where(empty, -1, sources // per)
        first = word.max(axis=1, keepdims=True)
        in_place = (word == first) & (sources % per == np.arange(per, dtype=np.int64))
        if (empty | in_place).all():
            words = {int(w): self._whole_word(int(w)) for w in np.unique(first[first >= 0])}
            return chosen(self.e, words, first[:, 0])
        elements = [self._chosen_element(sources[:, k]) for k in range(per)]
        return joined(self.e, elements)

    def _whole_word(self, number: int) -> SSAValue:
        per = self.per_word
        return self.joined([self.vector_element(number * per + k) for k in range(per)])

    def _chosen_element(self, sources: Table) -> SSAValue:
        registers = [int(r) for r in np.unique(sources[sources >= 0])]
        if not registers:
            return zero(self.e, self.element)
        found = {register: self._single(register) for register in registers}
        return chosen(self.e, found, sources)

    def _single(self, register: int) -> SSAValue:
        location = self.vector_element(register)
        return zero(self.e, self.element) if location is None else element(self.e, *location)


def chosen(e: ThreadBuilder, values: Mapping[int, SSAValue], table: Table) -> SSAValue:
    """Select the value whose key the table, `(threads,)`, has for this thread; -1 is any."""
    keys = sorted(values)
    result = values[keys[0]]
    if len(keys) == 1:
        return result
    ranks = np.where(table < 0, -1, np.searchsorted(keys, table))
    rank = number_of(e, ranks)
    for k, key in enumerate(keys[1:], 1):
        here = is_equal(e, rank, k)
        result = e.insert(selection(here, values[key], result)).result
    return result


def width_of(type_: Attribute) -> int:
    """Return the bits of an element in a register."""
    return 32 if isinstance(type_, IndexType) else bits_of(type_)
