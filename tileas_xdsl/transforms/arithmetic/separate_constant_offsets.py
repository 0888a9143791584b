"""The pass `separate-constant-offsets`: elements at constant distances share an address.

    %i = arith.addi %x, %one : i32                   %i = arith.addi %x, %one : i32
    %ok = arith.cmpi ult, %i, %n : i32               %ok = arith.cmpi ult, %i, %n : i32
    %w = arith.extsi %i : i32 to i64                 // %p is that of element %x, made once
    %a = arith.muli %w, %size : i64           ->     %v = cute.ptr.load %p offset 1 if %ok
    %b = arith.addi %base, %a : i64
    %p = cute.inttoptr %b
    %v = cute.ptr.load %p if %ok

A stencil over tiles of pointers has nine such addresses of 64 bits for each element, of four
instructions each; an instruction that accesses memory adds a constant for nothing.

`extsi(x + c) = extsi(x) + c` unless the sum wraps.  The shared address is that of the least
constant, so that sums grow from it, and one that wraps is negative.  The access is under the
condition that it is below an extent as an unsigned number, which a negative one is not: where
nothing is accessed the address does not matter.
Source: LLVM's SeparateConstOffsetFromGEP, which asks for `nsw`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, VectorType, i32, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import IntToPtrOp, LoadOp, StoreOp
from tileas_xdsl.dialects.cute import PtrType as MemoryPointer
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.ir_queries import constant_integer, is_side_effect_free
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.memoized_walks import memoized_walk

MAX_OFFSET = 1 << 23
"""Bytes that machine code adds to an address in an access (24 bits with a sign)."""

ULT = 6
"""`ult` among the predicates of `arith.cmpi`."""

Access: TypeAlias = LoadOp | StoreOp

Terms: TypeAlias = Counter[SSAValue]
"""How often each value is in a sum."""

Index: TypeAlias = tuple[tuple[SSAValue, int], ...]
"""The terms of a sum of 32 bits, which is extended, in the order in which they were found."""


@dataclass
class Sum:
    """A number of 64 bits: values and extended sums of 32 bits, times constants, and a constant."""

    terms: Terms = field(default_factory=Counter[SSAValue])
    indices: Counter[Index] = field(default_factory=Counter[Index])
    constant: int = 0
    distances: dict[Index, int] = field(default_factory=dict[Index, int])
    """What is added to each extended sum before it is."""

    def plus(self, other: Sum, factor: int = 1) -> Sum | None:
        """Return the sum with another one so often; None where two constants fit one index."""
        for index, distance in other.distances.items():
            if self.distances.get(index, distance) != distance:
                return None
        result = Sum(self.terms.copy(), self.indices.copy(), self.constant, dict(self.distances))
        for value, count in other.terms.items():
            result.terms[value] += factor * count
        for index, count in other.indices.items():
            result.indices[index] += factor * count
        result.constant += factor * other.constant
        result.distances |= other.distances
        return result

    @property
    def key(self) -> tuple[frozenset[tuple[SSAValue, int]], frozenset[tuple[Index, int]]]:
        """What addresses at constant distances have in common."""
        return frozenset(self.terms.items()), frozenset(self.indices.items())


@dataclass(frozen=True)
class SeparateConstantOffsets(ModulePass):
    """Let accesses of single elements at constant distances share an address.

    Of accesses through computed addresses (`cute.inttoptr`) in one block, whose distance fits the
    instruction.  Expects common subexpressions to be merged (`tileas-cse`); idempotent.
    """

    name = "separate-constant-offsets"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        groups: dict[object, list[tuple[Access, Sum]]] = defaultdict(list)
        sums = Sums()
        for access in instances_in(op, LoadOp, StoreOp):
            if (found := sums.address(access)) is not None:
                groups[access.parent, access.ptr.type, found.key].append((access, found))
        for group in groups.values():
            _share(sums, group)
        if groups:
            for region in op.regions:
                region_dce(region)


@dataclass(eq=False)
class Sums:
    """Numbers as sums of values; of values that are computed alike the first one stands for all."""

    known: dict[object, SSAValue] = field(default_factory=dict[object, SSAValue])
    firsts: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    positions: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """When each of the first values was found: the order of terms, which must not be of hashes."""

    def address(self, access: Access) -> Sum | None:
        """Return the address of a single element as a sum; None of others."""
        made, block = access.ptr.owner, access.parent
        moved = access.result if isinstance(access, LoadOp) else access.value
        if not isinstance(made, IntToPtrOp) or isinstance(moved.type, VectorType) or block is None:
            return None
        return self.sum(made.address, block) if made.address.type == i64 else None

    @memoized_walk
    def sum(self, value: SSAValue, block: Block) -> Sum | None:
        """Return a number of 64 bits as a sum of what the block, or one around it, gives."""
        if (known := constant_integer(value)) is not None:
            return Sum(constant=known)
        match value.owner:
            case Operation() as made if made.parent is not block:
                pass
            case arith.AddiOp() as made:
                left, right = self.sum(made.lhs, block), self.sum(made.rhs, block)
                return None if left is None or right is None else left.plus(right)
            case arith.SubiOp() as made:
                left, right = self.sum(made.lhs, block), self.sum(made.rhs, block)
                return None if left is None or right is None else left.plus(right, -1)
            case arith.MuliOp() as made if (factor := constant_integer(made.rhs)) is not None:
                inner = self.sum(made.lhs, block)
                return None if inner is None else Sum().plus(inner, factor)
            case arith.ExtSIOp() as made if made.input.type == i32:
                terms, distance = self.index(made.input, block)
                index = self.ordered(terms)
                return Sum(indices=Counter({index: 1}), distances={index: distance})
            case _:
                pass
        return Sum(Counter({self.first(value): 1}))

    @memoized_walk
    def index(self, value: SSAValue, block: Block) -> tuple[Terms, int]:
        """Return a number of 32 bits as a sum, and its constant."""
        if (known := constant_integer(value)) is not None:
            return Counter(), known
        made = value.owner
        if not isinstance(made, arith.AddiOp | arith.SubiOp) or made.parent is not block:
            return Counter({self.first(value): 1}), 0
        (left, a), (right, b) = self.index(made.lhs, block), self.index(made.rhs, block)
        if isinstance(made, arith.AddiOp):
            return left + right, a + b
        return (Counter({self.first(value): 1}), 0) if right else (left, a - b)

    def ordered(self, terms: Terms) -> Index:
        """Return the terms of a sum in the order in which their values were found."""
        return tuple(sorted(terms.items(), key=lambda term: self.positions[term[0]]))

    def bounded(self, condition: SSAValue | None, block: Block) -> Iterator[tuple[Index, int]]:
        """Return the sums that a condition bounds by an extent of 32 bits, unsigned."""
        match None if condition is None else condition.owner:
            case arith.AndIOp() as made:
                yield from self.bounded(made.lhs, block)
                yield from self.bounded(made.rhs, block)
            case arith.CmpiOp() as made if made.predicate.value.data == ULT:
                left, extent = made.lhs, made.rhs
                both = left.owner, extent.owner
                if isinstance(both[0], arith.ExtSIOp) and isinstance(both[1], arith.ExtSIOp):
                    left, extent = both[0].input, both[1].input
                if left.type == i32 and (constant_integer(extent) or 0) >= 0:
                    terms, distance = self.index(left, block)
                    yield self.ordered(terms), distance
            case _:
                pass

    def may_move(self, access: Access, found: Sum, least: Mapping[Index, int]) -> bool:
        """Whether an access is at the least constants, or at greater ones that do not wrap."""
        moved = [(index, n) for index, n in found.distances.items() if n != least[index]]
        if not moved or access.parent is None:
            return True
        bounded = list(self.bounded(access.pred, access.parent))
        return all(each in bounded for each in moved)

    def first(self, value: SSAValue) -> SSAValue:
        """Return the first value of the block that is computed like this one."""
        if (found := self.firsts.get(value)) is not None:
            return found
        made = value.owner
        if isinstance(made, arith.AddiOp) and constant_integer(made.rhs) == 0:
            value = self.first(made.lhs)
        elif isinstance(made, Operation) and not made.regions and is_side_effect_free(made):
            operands = tuple(map(self.first, made.operands))
            described = frozenset(made.properties.items()), frozenset(made.attributes.items())
            key = made.parent, made.name, operands, described, value.type
            value = self.known.setdefault(key, value)
        self.firsts[value] = value
        self.positions.setdefault(value, len(self.positions))
        return value


def _share(sums: Sums, group: list[tuple[Access, Sum]]) -> None:
    """Let accesses have the address of the first element among them, and their distances."""
    least = {
        index: min(found.distances[index] for _, found in group) for index in group[0][1].distances
    }
    group = [(access, found) for access, found in group if sums.may_move(access, found, least)]
    if len(group) < 2:
        return
    first, model = group[0]
    start = min(_bytes(found, least) for _, found in group)
    size = (element_bits(_pointer(first).element_type) or 0) // 8
    moves = [(access, _bytes(found, least) - start) for access, found in group]
    if not size or any(distance % size or distance > MAX_OFFSET for _, distance in moves):
        return
    shared = _shared(first, model, least, start)
    for access, distance in moves:
        own = 0 if access.offset is None else access.offset.value.data
        total = own + distance // size
        if total:
            access.properties["offset"] = IntegerAttr(total, i64)
        access.operands[1 if isinstance(access, StoreOp) else 0] = shared


def _bytes(found: Sum, least: Mapping[Index, int]) -> int:
    """Return how far an address is behind the one with the least constants, and no other."""
    moved = (n * (found.distances[index] - least[index]) for index, n in found.indices.items())
    return found.constant + sum(moved)


def _shared(first: Access, model: Sum, least: Mapping[Index, int], start: int) -> SSAValue:
    """Compute an address in front of the first access."""
    write = _Writer(first)
    by_factor: dict[int, list[SSAValue]] = defaultdict(list)
    for value, count in model.terms.items():
        by_factor[count].append(value)
    for index, count in model.indices.items():
        terms = [write.scaled(value, times) for value, times in index]
        if not terms:
            start += count * least[index]
            continue
        if least[index]:
            terms.append(write.number(least[index], i32))
        by_factor[count].append(write.insert(arith.ExtSIOp(write.total(terms), i64)))
    parts = [write.scaled(write.total(terms), count) for count, terms in by_factor.items()]
    if start:
        parts.append(write.number(start, i64))
    return write.insert(IntToPtrOp(write.total(parts), _pointer(first)))


def _pointer(access: Access) -> MemoryPointer:
    type_ = access.ptr.type
    assert isinstance(type_, MemoryPointer)
    return type_


@dataclass(frozen=True)
class _Writer:
    """Operations in front of an access."""

    access: Access

    def insert(self, op: Operation) -> SSAValue:
        """Return what an operation gives there."""
        op.location = self.access.location
        Rewriter.insert_op(op, InsertPoint.before(self.access))
        return op.results[0]

    def number(self, value: int, type_: IntegerType) -> SSAValue:
        """Return a constant, modulo what its type holds."""
        return self.insert(arith.ConstantOp(IntegerAttr(value, type_, truncate_bits=True)))

    def total(self, terms: Sequence[SSAValue]) -> SSAValue:
        """Return the sum of at least one term."""
        result, *others = terms
        for term in others:
            result = self.insert(arith.AddiOp(result, term))
        return result

    def scaled(self, value: SSAValue, factor: int) -> SSAValue:
        """Return a number times a constant, which wraps around as the number does."""
        if factor == 1:
            return value
        return self.insert(
            arith.MuliOp(value, self.number(factor, i32 if value.type == i32 else i64))
        )
