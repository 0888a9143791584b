"""Counted loops: lower bound, upper bound and step, and clones over a part of the range."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer

INDEX_BITS = 64

Number: TypeAlias = SSAValue | int
"""A number that is known, or the value that holds it."""


def bits_of_counter(type_: Attribute) -> int:
    """The width of a counter; `index` is taken to be as wide as it gets."""
    return type_.bitwidth if isinstance(type_, FixedBitwidthType) else INDEX_BITS


def known(number: Number) -> int | None:
    """The number, signed, None if it is not known."""
    if isinstance(number, int):
        return number
    if (found := constant_integer(number)) is None:
        return None
    half = 1 << (bits_of_counter(number.type) - 1)
    return (found + half) % (2 * half) - half


class CountedLoop(ABC):
    """A loop that counts up from `first` by `step` and goes on below `end`, all signed."""

    @property
    @abstractmethod
    def op(self) -> scf.ForOp | scf.WhileOp:
        """The loop."""

    @property
    @abstractmethod
    def type(self) -> Attribute:
        """The type of the counter."""

    @property
    @abstractmethod
    def first(self) -> SSAValue:
        """What the counter begins with."""

    @property
    @abstractmethod
    def end(self) -> Number:
        """What the counter stays below."""

    @property
    @abstractmethod
    def step(self) -> Number:
        """By what the counter grows."""

    @property
    @abstractmethod
    def initial(self) -> Sequence[SSAValue]:
        """What the first iteration is given."""

    @abstractmethod
    def part(self, first: SSAValue, end: SSAValue, initial: Sequence[SSAValue]) -> Operation:
        """A copy of the loop, not inserted yet, from `first` to `end`; it gives what `carried`
        finds."""

    @abstractmethod
    def last(self, first: SSAValue, initial: Sequence[SSAValue]) -> Operation:
        """A copy of the loop from `first` to its end, with the results of the loop."""

    @abstractmethod
    def carried(self, part: Operation) -> Sequence[SSAValue]:
        """What the loop behind `part` is given."""


@dataclass(frozen=True)
class CountedFor(CountedLoop):
    """`scf.for`, whose operands are its first, end and step, then what it carries."""

    loop: scf.ForOp

    @property
    def op(self) -> scf.ForOp:
        return self.loop

    @property
    def type(self) -> Attribute:
        return self.loop.lb.type

    @property
    def first(self) -> SSAValue:
        return self.loop.lb

    @property
    def end(self) -> Number:
        return self.loop.ub

    @property
    def step(self) -> Number:
        return self.loop.step

    @property
    def initial(self) -> Sequence[SSAValue]:
        return self.loop.iter_args

    def part(self, first: SSAValue, end: SSAValue, initial: Sequence[SSAValue]) -> Operation:
        made = self.loop.clone()
        made.operands = [first, end, made.step, *initial]
        return made

    def last(self, first: SSAValue, initial: Sequence[SSAValue]) -> Operation:
        return self.part(first, self.loop.ub, initial)

    def carried(self, part: Operation) -> Sequence[SSAValue]:
        return part.results
