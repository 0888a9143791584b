"""The SSA value that holds the current contents of each register allocation.

Registers have no addresses, so that a view of them is a list of elements that are known before run
time, and a write gives a new fragment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import MakeFragmentOp, SliceFragmentOp
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.dialects.cute_nvgpu.operands import Value
from tileas_xdsl.threads.index.expression_codegen import Insert
from tileas_xdsl.transforms.arithmetic.expand_division import length_of

Places = Sequence[int]
"""Elements of an allocation, by their offsets."""


@dataclass(frozen=True)
class RegisterView:
    """A place in the registers that the SSA value `base` allocates."""

    base: SSAValue
    offset: int


@dataclass
class RegisterFile:
    """What the registers of each allocation hold, at the place where code is written."""

    insert: Insert
    held: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def read(self, base: SSAValue, offsets: Places) -> SSAValue:
        """The fragment of some elements, in the order of `places`."""
        return self.picked(self.held[base], offsets)

    def picked(self, whole: SSAValue, offsets: Places) -> SSAValue:
        """Some elements of a fragment, in the order of `places`."""
        if list(offsets) == list(range(length_of(whole))):
            return whole
        return self._joined([self._cut(whole, run) for run in runs(offsets)])

    def write(self, base: SSAValue, offsets: Places, value: SSAValue) -> None:
        """Let elements hold those of a fragment; no place is named twice."""
        whole = self.held[base]
        source = {offset: n for n, offset in enumerate(offsets)}
        parts: list[SSAValue] = []
        for start, stop in _segments(source, length_of(whole)):
            if start in source:
                first = source[start]
                parts.append(self._cut(value, range(first, first + stop - start)))
            else:
                parts.append(self._cut(whole, range(start, stop)))
        self.held[base] = self._joined(parts)

    def _cut(self, whole: SSAValue, run: range) -> SSAValue:
        if len(run) == length_of(whole):
            return whole
        return self.insert(SliceFragmentOp(whole, run.start, len(run)))

    def _joined(self, parts: Sequence[Value]) -> SSAValue:
        if len(parts) == 1:
            return SSAValue.get(parts[0])
        return self.insert(MakeFragmentOp(parts))


def runs(offsets: Places) -> Iterator[range]:
    """Consecutive places, as long as they are."""
    start = 0
    for n in range(1, len(offsets) + 1):
        if n == len(offsets) or offsets[n] != offsets[n - 1] + 1:
            yield range(offsets[start], offsets[n - 1] + 1)
            start = n


def _segments(source: dict[int, int], size: int) -> Iterator[tuple[int, int]]:
    """Runs of places that stay, and of such that are written by consecutive elements."""
    start = 0
    for boundary in range(1, size + 1):
        before = source.get(boundary - 1)
        after = None if before is None else before + 1
        if boundary < size and source.get(boundary) == after:
            continue
        yield start, boundary
        start = boundary


def fragment_type(type_: MemRefType) -> VectorType[Attribute]:
    """The fragment of all registers that a view has."""
    return VectorType(type_.element_type, [int(type_.layout.cosize())])
