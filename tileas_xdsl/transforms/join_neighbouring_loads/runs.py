"""Runs of loads: elements at constant distances from one address, under conditions that differ so.

%a = cute.ptr.load %p if %x < %n             Run(loads, bounds: {x < n: [0, ..., 5]})
...                                          windows: element 0, elements 1 to 4, element 5
%f = cute.ptr.load %p offset 5 if %x + 5 < %n
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import gcd

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    VectorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import IntToPtrOp, LoadOp
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.ir_queries import constant_integer, is_side_effect_free
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.units import WORD_BYTES
from tileas_xdsl.transforms.arithmetic.separate_constant_offsets import Index, Sum, Sums

MAX_WORDS = 64
"""Registers that the loads under one condition fill at most."""

MAX_DISTANCE = 1 << 20
"""Between the first and the last index under one bound, so that none between wraps around."""


@dataclass(frozen=True)
class Bound:
    """A condition `sum < extent`, unsigned, but for the constant of the sum."""

    index: Index
    extent: SSAValue


@dataclass(frozen=True)
class Window:
    """Elements of a run that one access loads: so many from an offset on."""

    offset: int
    count: int


@dataclass
class Run:
    """Loads at constant distances from one address, under conditions that differ by constants."""

    sum: Sum
    """The address, in bytes."""
    loads: list[LoadOp]
    bounds: Mapping[Bound, list[int]]
    """The constants that are added to each bounded sum."""

    @property
    def pointer(self) -> SSAValue:
        """The shared address."""
        return self.loads[0].ptr

    @property
    def element(self) -> Attribute:
        """The type of an element."""
        return self.loads[0].result.type

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return (element_bits(self.element) or 8) // 8

    @property
    def offsets(self) -> Sequence[int]:
        """Of the elements, each once."""
        return sorted({offset_of(load) for load in self.loads})

    @property
    def firsts(self) -> Mapping[int, LoadOp]:
        """The first load of each element, by offset."""
        return {offset_of(load): load for load in reversed(self.loads)}

    def vector_bounds(self) -> Iterator[tuple[Bound, int, int]]:
        """The constants of the ends of vectors under each bound, where they are not one."""
        for bound, constants in self.bounds.items():
            places = {offset_of(load): k for load, k in zip(self.loads, constants, strict=True)}
            for window in self.windows():
                inside = [places[window.offset + k] for k in range(window.count)]
                if (low := min(inside)) < (high := max(inside)):
                    yield bound, low, high

    def windows(self) -> Sequence[Window]:
        """The widest aligned accesses that load elements of the run, and no others."""
        found: list[Window] = []
        there, end = set(self.offsets), min(self.offsets)
        for offset in self.offsets:
            if offset >= end:
                found.append(self._window_at(offset, there))
                end = offset + found[-1].count
        return found

    def _window_at(self, offset: int, there: set[int]) -> Window:
        at = self.first + offset * self.size
        count = gcd(at, ACCESS_BYTES) // self.size if at % self.size == 0 else 1
        while count > 1 and not all(offset + k in there for k in range(count)):
            count //= 2
        return Window(offset, count if count * self.size >= WORD_BYTES else 1)

    @property
    def first(self) -> int:
        """The constant bytes of the address."""
        moved = (count * self.sum.distances[index] for index, count in self.sum.indices.items())
        return self.sum.constant + sum(moved)

    def pays(self) -> bool:
        """Whether vectors save half of the accesses, and nothing is known that unaligns them."""
        windows = self.windows()
        widest = max(window.count for window in windows) * self.size
        apart = [
            count * gcd(*(_divisor(value) for value, _ in index))
            for index, count in self.sum.indices.items()
            if index
        ]
        is_aligned = gcd(ACCESS_BYTES, *apart) >= widest
        return widest > self.size and 2 * len(windows) <= len(self.loads) and is_aligned

    @property
    def words(self) -> int:
        """Registers that the elements fill."""
        return sum(max(each.count * self.size // WORD_BYTES, 1) for each in self.windows())


def offset_of(load: LoadOp) -> int:
    """The constant that an access adds to its address, in elements."""
    return 0 if load.offset is None else load.offset.value.data


@memoized_walk
def _divisor(value: SSAValue) -> int:
    """A power of two that divides an integer, as its constant factors say."""
    if (known := constant_integer(value)) is not None:
        return known & -known if known else ACCESS_BYTES
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        if not isinstance(loop, scf.ForOp) or value.index:
            return 1
        return min(_divisor(loop.lb), _divisor(loop.step))
    match value.owner:
        case arith.MuliOp() as op:
            return min(_divisor(op.lhs) * _divisor(op.rhs), ACCESS_BYTES)
        case arith.AddiOp() | arith.SubiOp() as op:
            return min(_divisor(op.lhs), _divisor(op.rhs))
        case arith.ShLIOp() as op if (bits := constant_integer(op.rhs)) is not None:
            return min(_divisor(op.lhs) << bits, ACCESS_BYTES)
        case arith.IndexCastOp() | arith.ExtSIOp() as op:
            return _divisor(op.input)
        case _:
            return 1


def unordered(block: Block) -> Sequence[Sequence[LoadOp]]:
    """The single elements that are loaded between two operations that have effects."""
    found: list[list[LoadOp]] = [[]]
    for op in block.ops:
        if isinstance(op, LoadOp) and op.order is None and op.scope is None and op.cache is None:
            if not isinstance(op.result.type, VectorType) and _is_through_address(op):
                found[-1].append(op)
        elif not is_side_effect_free(op):
            found.append([])
    return found


def _is_through_address(op: LoadOp) -> bool:
    return isinstance(op.ptr.owner, IntToPtrOp) and op.ptr.owner.address.type == i64


def runs_of(loads: Sequence[LoadOp]) -> Sequence[Run]:
    """The loads that share an address and their conditions, but for constants."""
    sums, groups = Sums(), defaultdict[object, list[LoadOp]](list)
    for load in loads:
        groups[load.ptr, load.result.type, load.fill].append(load)
    made = (_run(sums, group) for group in groups.values() if len(group) > 2)
    return [run for run in made if run is not None and run.pays()]


def _run(sums: Sums, loads: list[LoadOp]) -> Run | None:
    address = sums.address(loads[0])
    if address is None:
        return None
    bounds, common = defaultdict[Bound, list[int]](list), None
    for load in loads:
        others = dict[SSAValue, None]()
        for each in _conditions(load.pred):
            bound = _bound(sums, each, load)
            if bound is None:
                others[sums.first(each)] = None
            else:
                bounds[bound[0]].append(bound[1])
        if common is not None and common.keys() != others.keys():
            return None
        common = others
    for constants in bounds.values():
        if len(constants) != len(loads) or max(constants) - min(constants) > MAX_DISTANCE:
            return None
    return Run(address, loads, bounds)


def _conditions(condition: SSAValue | None) -> Iterator[SSAValue]:
    """What is true if a condition is."""
    if condition is None:
        return
    if isinstance(condition.owner, arith.AndIOp):
        for each in condition.owner.operands:
            yield from _conditions(each)
    else:
        yield condition


def _bound(sums: Sums, condition: SSAValue, load: LoadOp) -> tuple[Bound, int] | None:
    """The bound that a condition is, and the constant of its sum."""
    made, block = condition.owner, load.parent
    if not isinstance(made, arith.CmpiOp) or block is None or not _is_below(made):
        return None
    left, extent = made.lhs, made.rhs
    if isinstance(left.owner, arith.ExtSIOp) and isinstance(extent.owner, arith.ExtSIOp):
        left, extent = left.owner.input, extent.owner.input
    if left.type != i32 or (constant_integer(extent) or 0) < 0:
        return None
    terms, distance = sums.index(left, block)
    return Bound(sums.ordered(terms), sums.first(extent)), distance


def batches(runs: Sequence[Run]) -> Iterator[Sequence[Run]]:
    """Runs that one branch can load: none is computed of what another one loads.

    A branch is written before the next runs are asked for.
    """
    left = list(runs)
    while left:
        front, batch = Front.of(left), list[Run]()
        for run in left:
            is_full = batch and sum(each.words for each in (*batch, run)) > MAX_WORDS
            if is_full or front.operations([*batch, run]) is None:
                break
            batch.append(run)
        if batch:
            yield batch
        left = left[max(len(batch), 1) :]


@dataclass(frozen=True)
class Front:
    """What has to come in front of the first of some loads: the places of operations in a block."""

    places: Mapping[Operation, int]

    @staticmethod
    def of(runs: Sequence[Run]) -> Front:
        """Number the operations of the block of runs."""
        block = runs[0].loads[0].parent
        assert block is not None
        return Front({op: place for place, op in enumerate(block.ops)})

    def first(self, runs: Sequence[Run]) -> LoadOp:
        """The first load; those of a run are in the order of the block."""
        return min((run.loads[0] for run in runs), key=self.places.__getitem__)

    def operations(self, runs: Sequence[Run]) -> Sequence[Operation] | None:
        """The operations past the first load that addresses and conditions are computed of.

        None if one has effects, as another load has.
        """
        first = self.places[self.first(runs)]
        found = dict[Operation, None]()
        left = [value for run in runs for load in run.loads for value in load.operands]
        while left:
            made = left.pop().owner
            if isinstance(made, Block) or made in found or self.places.get(made, -1) < first:
                continue
            if not is_side_effect_free(made) or made.regions:
                return None
            found[made] = None
            left += made.operands
        return sorted(found, key=self.places.__getitem__)


def _is_below(op: arith.CmpiOp) -> bool:
    """Whether a comparison is `<` of unsigned numbers."""
    return arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data] == "ult"
