"""The pass `join-neighbouring-loads`: elements beside one another are loaded at once.

    %a = cute.ptr.load %p if %x < %n            %whole = %x < %n & %x + 5 < %n & %p + 1 is aligned
    %b = cute.ptr.load %p offset 1 if ...       %a, %word, %f = scf.if %whole {
    ...                                     ->    ld.b8 [%p]; ld.b32 [%p + 1]; ld.b8 [%p + 5]
    %f = cute.ptr.load %p offset 5 if ...       } else { six loads, each under its condition }
                                                %b, %c, %d, %e = bytes of %word

A thread of a stencil loads the same elements for several of its taps, and those of a row lie side
by side.  All loads of a block that nothing orders share one condition: every element is within the
bounds, which are those of the first and of the last one, and vectors are aligned.  Where it fails,
as at the edges of an array, elements are loaded one by one, each once.

Bytes that are put together to words again are permuted out of the words that were loaded.
Source: LLVM's load-store vectoriser, which proves what is tested here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from math import gcd

from xdsl.context import Context
from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import (
    IntegerAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute import IntToPtrOp, LoadOp, MakeFragmentOp
from tileas_xdsl.dialects.cute import PtrType as MemoryPointer
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.cute_nvgpu import PrmtOp
from tileas_xdsl.dialects.ir_queries import constant_integer, is_side_effect_free
from tileas_xdsl.dialects.xdsl_ops import comparison, constant_op, extraction
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.transforms.arithmetic.separate_constant_offsets import Index, Sum, Sums

WORD = 4
"""Bytes of a register."""

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
    others: Sequence[SSAValue]
    """Conditions that all loads share."""

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
        return Window(offset, count if count * self.size >= WORD else 1)

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
        return sum(max(each.count * self.size // WORD, 1) for each in self.windows())


def offset_of(load: LoadOp) -> int:
    """The constant that an access adds to its address, in elements."""
    return 0 if load.offset is None else load.offset.value.data


def _divisor(value: SSAValue) -> int:
    """A power of two that divides an integer, as its constant factors say."""
    if (known := constant_integer(value)) is not None:
        return known & -known if known else ACCESS_BYTES
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        is_counter = isinstance(loop, scf.ForOp) and value.index == 0
        return min(_divisor(loop.lb), _divisor(loop.step)) if is_counter else 1
    match value.owner:
        case arith.MuliOp() as op:
            return _divisor(op.lhs) * _divisor(op.rhs)
        case arith.AddiOp() as op:
            return min(_divisor(op.lhs), _divisor(op.rhs))
        case arith.ShLIOp() as op if (bits := constant_integer(op.rhs)) is not None:
            return _divisor(op.lhs) << bits
        case arith.IndexCastOp() | arith.ExtSIOp() as op:
            return _divisor(op.input)
        case _:
            return 1


@dataclass(frozen=True)
class JoinNeighbouringLoads(ModulePass):
    """Load elements beside one another by vectors, where all of them are in bounds.

    Of accesses that `separate-constant-offsets` gave one address; idempotent.
    """

    name = "join-neighbouring-loads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loads = (load for load in operations_in(op) if isinstance(load, LoadOp))
        blocks = dict.fromkeys(load.parent for load in loads)
        joined = [_join(block) for block in blocks if block is not None]
        if any(joined):
            for region in op.regions:
                region_dce(region)


def _join(block: Block) -> bool:
    """Join the loads of a block; return whether there were any."""
    found = False
    for loads in _unordered(block):
        for runs in _batches(_runs(loads)):
            _Branch(runs).write()
            found = True
    return found


def _unordered(block: Block) -> Sequence[Sequence[LoadOp]]:
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


def _runs(loads: Sequence[LoadOp]) -> Sequence[Run]:
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
    return Run(address, loads, bounds, list(common or ()))


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
    if not isinstance(made, arith.CmpiOp) or block is None or not is_below(made):
        return None
    left, extent = made.lhs, made.rhs
    if isinstance(left.owner, arith.ExtSIOp) and isinstance(extent.owner, arith.ExtSIOp):
        left, extent = left.owner.input, extent.owner.input
    if left.type != i32 or (constant_integer(extent) or 0) < 0:
        return None
    terms, distance = sums.index(left, block)
    return Bound(sums.ordered(terms), sums.first(extent)), distance


def _batches(runs: Sequence[Run]) -> Iterator[Sequence[Run]]:
    """Runs that one branch can load: none is computed of what another one loads."""
    batch: list[Run] = []
    for run in runs:
        is_full = sum(each.words for each in (*batch, run)) > MAX_WORDS
        if batch and (is_full or not _are_before([*batch, run])):
            yield batch
            batch = []
        if not batch and not _are_before([run]):
            continue
        batch.append(run)
    if batch:
        yield batch


def _first(runs: Sequence[Run]) -> LoadOp:
    loads = [load for run in runs for load in run.loads]
    first = loads[0]
    for load in loads[1:]:
        if load.is_before_in_block(first):
            first = load
    return first


def _needed(runs: Sequence[Run]) -> Sequence[SSAValue]:
    loads = (load for run in runs for load in run.loads)
    return [value for load in loads for value in load.operands]


def _are_before(runs: Sequence[Run]) -> bool:
    """Whether addresses and conditions can be computed in front of the first load."""
    return _behind(_needed(runs), _first(runs)) is not None


def _behind(values: Sequence[SSAValue], first: Operation) -> Sequence[Operation] | None:
    """The operations behind `first` that values are computed of; None if one has effects."""
    found, left = dict[Operation, None](), list(values)
    while left:
        made = left.pop().owner
        if isinstance(made, Block) or made.parent is not first.parent or made in found:
            continue
        if made.is_before_in_block(first):
            continue
        if made is first or not is_side_effect_free(made) or made.regions:
            return None
        found[made] = None
        left += made.operands
    assert first.parent is not None
    return [op for op in first.parent.ops if op in found]


def is_below(op: arith.CmpiOp) -> bool:
    """Whether a comparison is `<` of unsigned numbers."""
    return arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data] == "ult"


@dataclass(frozen=True)
class Byte:
    """A byte of a register."""

    word: SSAValue
    number: int


@dataclass
class _Branch:
    """Writes the loads of some runs as one branch: by vectors, or by elements."""

    runs: Sequence[Run]
    point: InsertPoint = field(init=False)

    def write(self) -> None:
        first = _first(self.runs)
        for op in _behind(_needed(self.runs), first) or ():
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(first))
        self.point = InsertPoint.before(first)
        condition = self._condition()
        whole, apart = Block(), Block()
        types: list[Attribute] = []
        for block, load in ((whole, self._by_windows), (apart, self._by_elements)):
            self.point = InsertPoint.at_end(block)
            values = [value for run in self.runs for value in load(run)]
            types = [value.type for value in values]
            self.insert(scf.YieldOp(*values))
        self.point = InsertPoint.before(first)
        made = scf.IfOp(condition, types, Region(whole), Region(apart))
        made.location = first.location
        Rewriter.insert_op(made, self.point)
        self._replace(list(made.results))
        _sink(made, apart)

    def insert(self, op: Operation) -> Operation:
        """Insert an operation."""
        op.location = self.runs[0].loads[0].location
        Rewriter.insert_op(op, self.point)
        return op

    def value(self, op: Operation) -> SSAValue:
        """What an operation gives."""
        return self.insert(op).results[0]

    def number(self, value: int, type_: IntegerType) -> SSAValue:
        """A constant."""
        return self.value(constant_op(IntegerAttr(value, type_)))

    def _condition(self) -> SSAValue:
        """Whether all elements are in bounds, and all vectors are aligned."""
        holds = dict[tuple[object, ...], SSAValue]()
        for run in self.runs:
            for other in run.others:
                holds[(other,)] = other
            for bound, constants in run.bounds.items():
                for constant in dict.fromkeys((min(constants), max(constants))):
                    holds[bound, constant] = self._below(run, bound, constant)
            holds[(run.pointer, "aligned")] = self._is_aligned(run)
        found, *others = holds.values()
        for other in others:
            found = self.value(arith.AndIOp(found, other))
        return found

    def _below(self, run: Run, bound: Bound, constant: int) -> SSAValue:
        terms = [term for term, times in bound.index for _ in range(times)]
        if constant or not terms:
            terms.append(self.number(constant, i32))
        total, *others = terms
        for term in others:
            total = self.value(arith.AddiOp(total, term))
        return self.value(comparison(total, bound.extent, "ult"))

    def _is_aligned(self, run: Run) -> SSAValue:
        widest = max(run.windows(), key=lambda window: window.count)
        size = widest.count * run.size
        address = self._address(run, widest)
        rest = self.value(arith.AndIOp(address, self.number(size - 1, i64)))
        return self.value(comparison(rest, self.number(0, i64), "eq"))

    def _address(self, run: Run, window: Window) -> SSAValue:
        made = run.pointer.owner
        assert isinstance(made, IntToPtrOp)
        if not window.offset:
            return made.address
        distance = self.number(window.offset * run.size, i64)
        return self.value(arith.AddiOp(made.address, distance))

    def _by_windows(self, run: Run) -> Iterator[SSAValue]:
        for window in run.windows():
            if window.count == 1:
                load = LoadOp(run.pointer, run.element, offset=window.offset)
                yield self.value(load)
                continue
            bytes_ = window.count * run.size
            kind = run.element if run.size >= WORD else i32
            count = bytes_ // max(run.size, WORD)
            type_ = MemoryPointer(kind, "gmem", bytes_)
            pointer = self.value(IntToPtrOp(self._address(run, window), type_))
            loaded = self.value(LoadOp(pointer, VectorType(kind, [count])))
            yield from (self.value(extraction(loaded, k, kind)) for k in range(count))

    def _by_elements(self, run: Run) -> Iterator[SSAValue]:
        firsts = {offset_of(load): load for load in reversed(run.loads)}
        for window in run.windows():
            elements: list[SSAValue] = []
            for k in range(window.count):
                load = firsts[window.offset + k].clone()
                elements.append(self.value(load))
            yield from elements if run.size >= WORD or window.count == 1 else self._words(elements)

    def _words(self, elements: Sequence[SSAValue]) -> Iterator[SSAValue]:
        """Elements of less than a word, put together."""
        bits = element_bits(elements[0].type) or 8
        for first in range(0, len(elements), 32 // bits):
            some = elements[first : first + 32 // bits]
            word: SSAValue | None = None
            for k, element in enumerate(some):
                part = self._extended(element, bits)
                if k:
                    part = self.value(arith.ShLIOp(part, self.number(k * bits, i32)))
                word = part if word is None else self.value(arith.OrIOp(word, part))
            assert word is not None
            yield word

    def _extended(self, element: SSAValue, bits: int) -> SSAValue:
        kind = IntegerType(bits)
        if element.type != kind:
            element = self.value(arith.BitcastOp(element, kind))
        return self.value(arith.ExtUIOp(element, i32))

    def _replace(self, results: list[SSAValue]) -> None:
        """Give users their elements, and words that they are put together to."""
        places, elements = dict[SSAValue, Byte](), list[tuple[LoadOp, SSAValue]]()
        for run in self.runs:
            found = dict[int, SSAValue]()
            for window in run.windows():
                if window.count == 1 or run.size >= WORD:
                    for k in range(window.count):
                        found[window.offset + k] = results.pop(0)
                    continue
                for k in range(0, window.count, WORD // run.size):
                    found |= self._elements(run, window.offset + k, results.pop(0), places)
            elements += [(load, found[offset_of(load)]) for load in run.loads]
        for load, element in elements:
            Rewriter.replace_op(load, [], [element])
        _permute(places)

    def _elements(
        self, run: Run, offset: int, word: SSAValue, places: dict[SSAValue, Byte]
    ) -> Mapping[int, SSAValue]:
        """The elements of a word."""
        count = WORD // run.size
        made = self.value(MakeFragmentOp([word]))
        whole = self.value(vector.BitcastOp(made, VectorType(run.element, [count])))
        found = {offset + k: self.value(extraction(whole, k, run.element)) for k in range(count)}
        if run.size == 1:
            places |= {value: Byte(word, k) for k, value in enumerate(found.values())}
        return found


def _sink(branch: scf.IfOp, arm: Block) -> None:
    """Compute what one arm alone reads in that arm."""
    op = branch.prev_op
    while op is not None:
        before = op.prev_op
        if op.results and is_side_effect_free(op) and not op.regions:
            users = [use.operation for result in op.results for use in result.uses]
            if users and all(user.parent is arm for user in users):
                first = arm.first_op
                assert first is not None
                op.detach()
                Rewriter.insert_op(op, InsertPoint.before(first))
        op = before


def _permute(places: Mapping[SSAValue, Byte]) -> None:
    """Put bytes together to words by permutations of the words that have them."""
    roots = dict[Operation, None]()
    for value in places:
        for use in value.uses:
            if (root := _root(use.operation)) is not None:
                roots[root] = None
    for root in roots:
        found = _bytes_of(root.results[0], places)
        words = None if found is None else dict.fromkeys(byte.word for byte in found)
        if found is None or words is None or len(words) > 2:
            continue
        order = list(words)
        digits = (4 * order.index(byte.word) + byte.number for byte in found)
        selector = sum(digit << 4 * k for k, digit in enumerate(digits))
        point = InsertPoint.before(root)
        mask = constant_op(IntegerAttr(selector, i32))
        made = PrmtOp(order[0], order[-1], mask.result)
        for op in (mask, made):
            op.location = root.location
            Rewriter.insert_op(op, point)
        Rewriter.replace_op(root, [], [made.result])


def _root(op: Operation) -> Operation | None:
    """The word that a byte is put into last."""
    while True:
        if not isinstance(op, arith.ExtUIOp | arith.ShLIOp | arith.OrIOp):
            return None
        users = [use.operation for use in op.results[0].uses]
        if len(users) != 1 or not isinstance(users[0], arith.OrIOp | arith.ShLIOp):
            return op if isinstance(op, arith.OrIOp) and op.result.type == i32 else None
        op = users[0]


def _bytes_of(word: SSAValue, places: Mapping[SSAValue, Byte]) -> Sequence[Byte] | None:
    """The four bytes that a word is put together of; None if it is something else."""
    found, left = dict[int, Byte](), [word]
    while left:
        value, shift = left.pop(), 0
        if isinstance(value.owner, arith.OrIOp):
            left += value.owner.operands
            continue
        if isinstance(value.owner, arith.ShLIOp):
            shift = constant_integer(value.owner.rhs) or 0
            value = value.owner.lhs
        byte = value.owner.input if isinstance(value.owner, arith.ExtUIOp) else None
        if byte is None or byte.type != i8 or shift % 8 or shift // 8 in found:
            return None
        found[shift // 8] = places.get(byte) or Byte(value, 0)
    return [found[k] for k in range(WORD)] if sorted(found) == list(range(WORD)) else None
