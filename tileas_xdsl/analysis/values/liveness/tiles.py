"""Registers of the tiles that are live at once, by backward liveness over structured control flow.

    %x = load            live: x
    %m = reduce %x       live: x m
    %y = subf %x, %m     live: y          (x dies here, and y takes its registers)
    store %y             live: -

An operation computes element by element as far as this count goes: what dies at it makes room for
what it gives.  A body of a loop keeps alive what it uses from outside, for it runs again; a body
that runs once does not.

What is computed for one elementwise operation of smaller tiles, or read for it in shared memory,
takes no registers: ptxas widens, or loads, an element where it is used, and the smaller tiles live
until then.

    %b = convert_layout %stage     live: s
    %w = extf %b : f16 to f32      live: s
    %r = addf %s, %w               live: r          (never s and w, nor s and b)

Around products (`peak_around_products`) nor does what is computed of one tile for an operation
that reads this tile as well: with nothing in between but element-wise operations, ptxas computes it
element by element.  Exact quotients are tested together (`expand-division`), and hold both tiles.
Where more warps share a multiprocessor it computes more at once: `threads/pipeline/occupancy.py`
is calibrated without this rule.

    %e = exp2 %s                   live: s
    %f = addf %e, 1.0              live: s
    %r = mulf %s, %f               live: r          (never s and f)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from math import prod

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import IndexType, IntegerType, TensorType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import is_side_effect_free

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.layouts.tile_groups import FREE_TILES
from tileas_xdsl.analysis.memory.kept_tiles import is_kept
from tileas_xdsl.analysis.values.coordinate_tiles import is_from_coordinates
from tileas_xdsl.analysis.values.liveness.captured import captured_values
from tileas_xdsl.diagnostics.walking import operands_of, operations_in, operations_of
from tileas_xdsl.dialects.kinds import Kinds, instances_in
from tileas_xdsl.dialects.memoized_walks import one_walk
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import float_mode
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.integers import ceil_div

_RUNS_ONCE = (scf.IfOp, StageOp, AgentSwitchOp)
"""Operations whose bodies run once at most: a value that is read there last dies there."""

_TENSORS, _FREE, _UNCOUNTED = Kinds(TensorType), Kinds(*FREE_TILES), Kinds(*FREE_TILES, AddPtrOp)

Words = Callable[[SSAValue], int]
"""The 32-bit registers of a value, those of all threads together."""


def tile_registers(value: SSAValue) -> int:
    """The 32-bit registers of a tile in all threads; none of one in memory, or of one number.

    Nor of one that a load keeps in shared memory: it is read where it is used.

    Addresses take none, and what they are computed from where that is no tile from memory: each
    is computed where it is accessed.
    """
    if not _TENSORS[type(value.type)] or _UNCOUNTED[type(value.owner)]:
        return 0
    shape, element = shape_of(value.type), element_of(value.type)
    if shape is None or space_of(value.type) not in (None, Space.RMEM) or is_kept(value):
        return 0
    if is_from_coordinates(value, _integer_sources):
        return 0
    return ceil_div(prod(shape) * bits_of(element), 32)


def _integer_sources(value: SSAValue) -> Sequence[SSAValue] | None:
    """The tiles that a tile of integers or pointers is computed from by pure operations."""
    made = value.owner
    if _FREE[type(made)]:
        return ()
    if not isinstance(element_of(value.type), IntegerType | IndexType | PtrType):
        return None
    if isinstance(made, GenerateOp):
        reads = (op.tensor for op in instances_in(made, tensor.ExtractOp))
        return list(reads)
    if isinstance(made, Block) or made.regions or not is_side_effect_free(made):
        return None
    return [operand for operand in made.operands if isinstance(operand.type, TensorType)]


def _is_by_element(op: Operation) -> bool:
    """Whether each element is computed of one element of each operand."""
    return type(op) is ViewOp or layout_role(op) is LayoutRole.ELEMENTWISE


def _is_run(first: Operation, last: Operation) -> bool:
    """Whether elements of one operation can be computed where another reads them."""
    if isinstance(last, arith.DivfOp) and not float_mode(last).approximate:
        return False
    op = first.next_op
    while op is not None and op is not last and (_is_by_element(op) or _FREE[type(op)]):
        op = op.next_op
    return op is last


def _reads_shared(op: Operation) -> bool:
    """Whether threads read a tile of shared memory."""
    if not isinstance(op, ConvertLayoutOp) or space_of(op.source.type) is not Space.SMEM:
        return False
    return space_of(op.result.type) is not Space.SMEM


def peak_registers(region: Region, words: Words, within: Operation | None = None) -> int:
    """Return the most registers that values of a region, and of those inside, take at once.

    With `within` only points inside this operation count.
    """
    return _liveness(region, words, within).peak


def peak_around_products(region: Region, words: Words, within: Operation | None = None) -> int:
    """Return the same for threads that multiply: a tile and what gates it are one."""
    return _liveness(region, words, within, is_gated=True).peak


def peak_values(region: Region, words: Words) -> frozenset[SSAValue]:
    """Return the values that are live where those of a region take most registers."""
    return frozenset(_liveness(region, words).values.values())


def _liveness(
    region: Region, words: Words, within: Operation | None = None, *, is_gated: bool = False
) -> _Liveness:
    found = _Liveness(words, within, is_gated=is_gated)
    with one_walk():
        found.of_region(region)
    return found


class _LiveValues:
    """Values that are live at a point, and the registers of all of them."""

    def __init__(self, words: Words, values: Iterable[SSAValue] = (), count: int = 0) -> None:
        self.words = words
        self.values = {id(value): value for value in values}
        self.count = count

    def copy(self) -> _LiveValues:
        """Return the same values, to be changed on their own."""
        return _LiveValues(self.words, self.values.values(), self.count)

    def add(self, values: Iterable[SSAValue]) -> None:
        """Make values live, of those that take registers."""
        for value in values:
            if (words := self.words(value)) and id(value) not in self.values:
                self.values[id(value)] = value
                self.count += words

    def remove(self, values: Iterable[SSAValue]) -> None:
        """Make values dead."""
        for value in values:
            if self.values.pop(id(value), None) is not None:
                self.count -= self.words(value)


class _Liveness:
    """The peak register count, and the values live there.

    Registers are counted as values come and go: a sum over all live values at each operation
    would take the square of the length of a kernel.
    """

    def __init__(self, words: Words, within: Operation | None, *, is_gated: bool) -> None:
        self.words, self.is_gated = cache(words), is_gated
        self.within, self.is_within = within, within is None
        self.peak = 0
        self.values: dict[int, SSAValue] = {}
        self.captured: Mapping[Operation, Collection[SSAValue]] = {}
        self.read: dict[Operation, list[SSAValue]] = {}

    def of_region(self, region: Region) -> None:
        """See all points of a region, after which nothing is live."""
        self.captured = captured_values(region)
        for op in operations_in(region):
            self.read[op] = self._read(op)
        for block in region.blocks:
            self._of_block(block, _LiveValues(self.words))

    def _of_block(self, block: Block, live: _LiveValues) -> None:
        """See all points of a block after which `live` is read; update that to before it."""
        self._see(live)
        for op in reversed(operations_of(block)):
            if op.regions:
                self._of_regions(op, live)
            live.remove(op.results)
            live.add(self.read[op])
            self._see(live)
        live.remove(block.args)

    def _read(self, op: Operation) -> list[SSAValue]:
        """The tiles that an operation reads: of one that is streamed, what it is computed of.

        That is known: operations are asked in program order.
        """
        found: list[SSAValue] = []
        for value in operands_of(op):
            found += self._sources(value)
        return found

    def _sources(self, value: SSAValue) -> Collection[SSAValue]:
        """A tile, or what its elements are computed of, one by one, where they are read."""
        if not self.words(value):
            return (value,)
        made, user = value.owner, value.get_user_of_unique_use()
        if user is None or isinstance(made, Block) or user.parent is not made.parent:
            return (value,)
        if not _is_by_element(user):
            return (value,)
        if _reads_shared(made):
            return ()
        if not _is_by_element(made):
            return (value,)
        sources = {*self.read[made]}
        taken, whole = sum(map(self.words, sources)), self.words(value)
        is_gate = self.is_gated and taken == whole and _is_run(made, user)
        is_streamed = not sources or 0 < taken < whole or is_gate
        return sources if is_streamed else (value,)

    def _of_regions(self, op: Operation, live: _LiveValues) -> None:
        """See the inside of an operation; what a loop uses from outside is live all along."""
        live.remove(op.results)
        captured = self.captured[op]
        inside, around = live.copy(), self.is_within
        self.is_within = around or op is self.within
        if not isinstance(op, _RUNS_ONCE):
            inside.add(captured)
        for region in op.regions:
            for block in region.blocks:
                self._of_block(block, inside.copy())
        self.is_within = around
        live.add(captured)

    def _see(self, live: _LiveValues) -> None:
        if self.is_within and live.count > self.peak:
            self.peak, self.values = live.count, live.values.copy()
