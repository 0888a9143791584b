"""Registers of a thread that are live in each loop, in thread-level IR.

    %b = vector.broadcast %x     no register of its own: PTX names %x again
    scf.for {                    live: what is used inside, for every iteration needs it,
      ...                              what is used after the loop, and what the body has at once
    }

The count is an estimate.  ptxas orders instructions anew, and many fragments are never whole.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import IndexType, TensorType
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from tileas_xdsl.analysis.values.liveness.captured import captured_values
from tileas_xdsl.diagnostics.walking import operands_of, operations_of
from tileas_xdsl.dialects.cute import MakeFragmentOp, PtrType, SliceFragmentOp, UndefFragmentOp
from tileas_xdsl.dialects.cute.types.address_spaces import ADDRESS_BITS
from tileas_xdsl.dialects.cute.types.elements import as_vector, element_bits, element_of
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.units import WORD_BITS

RENAMED = (MakeFragmentOp, SliceFragmentOp, vector.BroadcastOp, vector.ExtractOp)
"""Operations whose results are registers of their operands."""

FREE = (arith.ConstantOp, UndefFragmentOp)
"""Operations whose results are immediate operands or anything."""

_RENAMED, _WITHOUT_REGISTERS = Kinds(*RENAMED), Kinds(*RENAMED, *FREE)
_TENSORS, _INDICES = Kinds(TensorType), Kinds(IndexType)


def registers_of(type_: Attribute) -> int:
    """Return the 32-bit registers of a value of a thread; a predicate counts as one."""
    fragment, element = as_vector(type_), element_of(type_)
    if _TENSORS[type(type_)]:
        return 0
    if type(element) is PtrType:
        return ADDRESS_BITS[element.space] // WORD_BITS
    bits = WORD_BITS if _INDICES[type(element)] else element_bits(element) or WORD_BITS
    count = 1 if fragment is None else prod(fragment.get_shape())
    return ceil_div(count * bits, WORD_BITS)


def own_registers(value: SSAValue) -> int:
    """Return the registers of a value beside those of the operands that it is made of."""
    return 0 if _WITHOUT_REGISTERS[type(value.owner)] else registers_of(value.type)


def registers_in_loops(region: Region, counted: dict[SSAValue, int]) -> Mapping[Operation, int]:
    """Return the most registers that are live at once in each operation that has regions.

    `counted` keeps the own registers of values from one call to the next.
    """
    liveness = _Liveness(captured_values(region), counted)
    for block in region.blocks:
        liveness.walk(block)
    return liveness.peaks


class _Liveness:
    """Backward liveness over structured control flow, with a running count."""

    def __init__(
        self,
        captured: Mapping[Operation, Collection[SSAValue]],
        counted: dict[SSAValue, int],
    ) -> None:
        self.captured, self.counted = captured, counted
        self.live: dict[int, int] = {}
        """The own registers of live values, by identity."""
        self.count = 0
        self.peaks: dict[Operation, int] = {}

    def walk(self, block: Block) -> int:
        """Return the peak of a block; what is live after it becomes what is live before it."""
        peak, live = self.count, self.live
        for op in reversed(operations_of(block)):
            if op.regions:
                peak, live = max(peak, self._regions(op)), self.live
            for value in op.results:
                self.count -= live.pop(id(value), 0)
            for value in operands_of(op):
                if id(value) not in live:
                    self._add(value)
            if self.count > peak:
                peak = self.count
        self._kill(block.args)
        return peak

    def _regions(self, op: Operation) -> int:
        """Walk the regions; what they use from outside is live all along."""
        self._kill(op.results)
        for value in self.captured[op]:
            if id(value) not in self.live:
                self._add(value)
        before, count = self.live, self.count
        self.live = before.copy()
        peak = count
        for region in op.regions:
            for block in region.blocks:
                peak = max(peak, self.walk(block))
                self.live, self.count = before.copy(), count
        self.peaks[op] = peak
        return peak

    def _add(self, value: SSAValue) -> None:
        """Make a value live that is not: if it is no registers itself, what it is made of."""
        if (own := self.counted.get(value)) is None:
            own = self.counted[value] = own_registers(value)
        self.live[id(value)] = own  # 0 of what is renamed: it is seen
        self.count += own
        if type(value) is OpResult and _RENAMED[type(value.op)]:
            for part in operands_of(value.op):
                if id(part) not in self.live:
                    self._add(part)

    def _kill(self, values: tuple[SSAValue, ...]) -> None:
        for value in values:
            self.count -= self.live.pop(id(value), 0)
