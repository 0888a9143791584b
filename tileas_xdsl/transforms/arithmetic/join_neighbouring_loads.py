"""The pass `join-neighbouring-loads`: elements beside one another are loaded at once.

    %a = cute.ptr.load %p if %x < %n           %whole = (%x + 1 < %n) == (%x + 4 < %n)
    %b = cute.ptr.load %p offset 1 if ...               & 3 <= %n & %p + 1 is aligned
    ...                                    ->  %a, %word, %f = scf.if %whole {
    %f = cute.ptr.load %p offset 5 if ...        ld.b8 [%p] if %x < %n
                                                 ld.b32 [%p + 1] if %x + 1 < %n
                                                 ld.b8 [%p + 5] if %x + 5 < %n
                                               } else { six loads, each under its condition }
                                               %b, %c, %d, %e = bytes of %word

A thread of a stencil loads the same elements for several of its taps, and those of a row lie side
by side.  All loads of a block that nothing orders share one condition: vectors are aligned, and of
each all elements are within the bounds or none: the first and the last one agree, and the array is
no shorter than what lies between them.  So it is at the edges of an array whose rows are a multiple
of a vector: no warp takes both ways.  Elsewhere elements are loaded one by one, each once.

Bytes that are put together to words again are permuted out of the words that were loaded.
Source: LLVM's load-store vectoriser, which proves what is tested here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from xdsl.context import Context
from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.float_bits import bits_of_float
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute import IntToPtrOp, LoadOp, MakeFragmentOp
from tileas_xdsl.dialects.cute import PtrType as MemoryPointer
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.xdsl_ops import comparison, constant_op, extraction
from tileas_xdsl.layout.units import WORD_BYTES
from tileas_xdsl.transforms.join_neighbouring_loads.permuted_bytes import Byte, permute
from tileas_xdsl.transforms.join_neighbouring_loads.runs import (
    Bound,
    Front,
    Run,
    Window,
    batches,
    offset_of,
    runs_of,
    unordered,
)


@dataclass(frozen=True)
class JoinNeighbouringLoads(ModulePass):
    """Load elements beside one another by vectors, where all of them are in bounds, or none.

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
    for loads in unordered(block):
        for runs in batches(runs_of(loads)):
            _Branch(runs).write()
            found = True
    return found


@dataclass
class _Branch:
    """Writes the loads of some runs as one branch: by vectors, or by elements."""

    runs: Sequence[Run]
    point: InsertPoint = field(init=False)

    def write(self) -> None:
        front = Front.of(self.runs)
        first = front.first(self.runs)
        for op in front.operations(self.runs) or ():
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
        """Whether all vectors are aligned, and none is in bounds in part."""
        holds = dict[tuple[object, ...], SSAValue]()
        for run in self.runs:
            for bound, low, high in run.vector_bounds():
                first, last = (self._below(run, bound, constant) for constant in (low, high))
                differ = self.value(arith.XOrIOp(first, last))
                holds[bound, low, high] = self.value(arith.XOrIOp(differ, self.number(1, i1)))
                distance = self.number(high - low, i32)
                holds[bound.extent, high - low] = self.value(
                    comparison(distance, bound.extent, "ule")
                )
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
        """Accesses under the conditions of their first elements."""
        firsts = run.firsts
        for window in run.windows():
            first = firsts[window.offset]
            if window.count == 1:
                yield self.value(first.clone())
                continue
            bytes_ = window.count * run.size
            kind = run.element if run.size >= WORD_BYTES else i32
            count = bytes_ // max(run.size, WORD_BYTES)
            type_ = MemoryPointer(kind, "gmem", bytes_)
            pointer = self.value(IntToPtrOp(self._address(run, window), type_))
            fill = first.fill if run.size >= WORD_BYTES else _word_of(first.fill, run.element)
            load = LoadOp(pointer, VectorType(kind, [count]), first.pred, fill=fill)
            loaded = self.value(load)
            yield from (self.value(extraction(loaded, k, kind)) for k in range(count))

    def _by_elements(self, run: Run) -> Iterator[SSAValue]:
        firsts = run.firsts
        for window in run.windows():
            elements: list[SSAValue] = []
            for k in range(window.count):
                load = firsts[window.offset + k].clone()
                elements.append(self.value(load))
            yield from (
                elements if run.size >= WORD_BYTES or window.count == 1 else self._words(elements)
            )

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
                if window.count == 1 or run.size >= WORD_BYTES:
                    for k in range(window.count):
                        found[window.offset + k] = results.pop(0)
                    continue
                for k in range(0, window.count, WORD_BYTES // run.size):
                    found |= self._elements(run, window.offset + k, results.pop(0), places)
            elements += [(load, found[offset_of(load)]) for load in run.loads]
        for load, element in elements:
            Rewriter.replace_op(load, [], [element])
        permute(places)

    def _elements(
        self, run: Run, offset: int, word: SSAValue, places: dict[SSAValue, Byte]
    ) -> Mapping[int, SSAValue]:
        """The elements of a word."""
        count = WORD_BYTES // run.size
        made = self.value(MakeFragmentOp([word]))
        whole = self.value(vector.BitcastOp(made, VectorType(run.element, [count])))
        found = {offset + k: self.value(extraction(whole, k, run.element)) for k in range(count)}
        if run.size == 1:
            places |= {value: Byte(word, k) for k, value in enumerate(found.values())}
        return found


def _word_of(fill: FloatAttr | IntegerAttr | None, element: Attribute) -> IntegerAttr | None:
    """A word whose elements are all what is loaded out of bounds."""
    if fill is None:
        return None
    bits = element_bits(element) or 8
    is_float = isinstance(fill, FloatAttr)
    own = bits_of_float(fill.value.data, fill.type) if is_float else fill.value.data
    word = sum((own & ((1 << bits) - 1)) << first for first in range(0, 32, bits))
    return IntegerAttr(word - (word >> 31 << 32), i32)


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
