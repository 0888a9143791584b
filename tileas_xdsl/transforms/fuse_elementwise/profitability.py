"""Decide which tiles are recomputed where their elements are read, instead of kept in registers.

Index arithmetic is cheap, registers and exchanges between threads are not: a tile of positions is
recomputed by every consumer, up to `CHEAP` integer operations per element. A tile of loaded or
computed data is fused only if that duplicates no work (one use, at the same loop depth) and reads
each element where its owner has it:

    %i = generate { ^(%r, %c): yield %c }             positional: always fused
    %m = generate { cmpi slt (extract %i), %n }       cost 1, integers: fused into each `select`
    %y = generate { mulf (extract %x[%r, %c]), ... }  fused if its only reader reads %y[%r, %c]
    %w = generate { extsi %y[%r] : i32 to i64 }       fused: threads exchange y, not w
    %z = generate { extract %y[%c, %r] }              a transpose: %y is kept, or computed once
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntegerType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.layouts.layout_flow import loop_depth, may_be_storage
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.ir_queries import ELEMENTWISE_DIALECTS
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of

CHEAP = 8
"""Integer operations per element up to which recomputing beats a register or an exchange."""

SHORT = 32
"""Numbers of a tile that are its readers' constants if coordinates alone decide them: at most."""

MAX_OPERATIONS = 64
"""Operations of one such number that are followed at most."""

_WIDENING = (arith.ExtSIOp, arith.ExtUIOp)
"""What is done where a tile is read: owners exchange fewer bytes."""


def is_elementwise(op: Operation) -> bool:
    """Whether an operation is elementwise on tiles of one shape."""
    return (
        op.name.startswith(ELEMENTWISE_DIALECTS)
        and not op.regions
        and len(op.results) == 1
        and shape_of(op.results[0].type) is not None
        and not isinstance(op, arith.ConstantOp)
        and all(shape_of(v.type) == shape_of(op.results[0].type) for v in op.operands)
    )


def is_profitable(op: GenerateOp, taken: tensor.ExtractOp) -> bool:
    """Whether to inline a generated tile at an `extract` of one of its elements.

    Always for cheap functions of the position; else only where no work is duplicated and elements
    are read at the coordinates at which they were computed.
    """
    if not _is_plain(op):
        return False
    if is_positional(op.result):
        return True
    consumer = taken.parent_op()
    assert isinstance(consumer, GenerateOp)
    extracts, work = _extracts(op), _work(op)
    if any(may_be_storage(inner.tensor) for inner in extracts):
        return False
    is_single = _live_uses(op.result) == 1
    if not work:
        return is_single and len(extracts) == 1
    if is_single and len(work) == len(extracts) == 1 and isinstance(work[0], _WIDENING):
        return loop_depth(op) == loop_depth(consumer)
    stays = tuple(taken.indices) == tuple(consumer.body.block.args)
    # Of what comes from other places there would be another exchange, but all threads have the
    # only element of a tile.
    is_own = all(
        tuple(inner.indices) == tuple(op.body.block.args) or _numbers(inner.tensor) == 1
        for inner in extracts
    )
    is_cheap = is_single or (len(work) == 1 and is_own and _is_integer(op.result))
    return stays and is_cheap and loop_depth(op) == loop_depth(consumer)


def is_positional(tile: SSAValue) -> bool:
    """Whether an integer tile is a cheap function of positions and scalars of the kernel.

    A short tile of coordinates alone costs nothing: the shifts of eight nibbles of a word are
    constants to a thread that unpacks all of them, whatever order they are in.
    """
    if space_of(tile.type) is not None:
        return False
    if _cost(tile, CHEAP) <= CHEAP:
        return True
    return (
        _numbers(tile) <= SHORT
        and _cost(tile, MAX_OPERATIONS) <= MAX_OPERATIONS
        and _is_of_coordinates(tile)
    )


def _numbers(tile: SSAValue) -> int:
    """Return how many different numbers a tile has at most: a `generate` may repeat a line."""
    shape, owner = shape_of(tile.type) or (), tile.owner
    if not isinstance(owner, GenerateOp):
        return prod(shape)
    arguments = owner.body.block.args
    return prod(n for n, index in zip(shape, arguments, strict=True) if index.uses)


def is_unpacked(tile: SSAValue) -> bool:
    """Whether an integer tile is cheaply made of tiles of fewer elements: of words, its parts.

    Of such a tile threads exchange the words, and take the parts of those that they get.
    """
    if space_of(tile.type) is not None or not _is_integer(tile):
        return False
    words = list[SSAValue]()
    limit = prod(shape_of(tile.type) or ()) // 2
    return _parts_cost(tile, limit, CHEAP, words) <= CHEAP and bool(words)


def _parts_cost(tile: SSAValue, limit: int, budget: int, words: list[SSAValue]) -> int:
    """Return the operations per element from `words`, of up to `limit` elements, and positions."""
    if budget < 0 or is_positional(tile):
        return 0
    if not _is_integer(tile) or may_be_storage(tile):
        return budget + 1
    if prod(shape_of(tile.type) or ()) <= limit:
        words.append(tile)
        return 0
    match tile.owner:
        case ViewOp() as owner if dropped(owner) is not None or is_reshape(owner):
            return _parts_cost(owner.source, limit, budget, words)
        case GenerateOp() as owner if _is_plain(owner) and not _work(owner):
            tiles = [inner.tensor for inner in _extracts(owner)]
            return sum(_parts_cost(value, limit, budget, words) for value in tiles)
        case Operation() as owner if is_elementwise(owner):
            costs = (_parts_cost(value, limit, budget - 1, words) for value in owner.operands)
            return 1 + sum(costs)
        case _:
            return budget + 1


@memoized_walk
def _is_of_coordinates(tile: SSAValue) -> bool:
    """Whether a tile is made of coordinates and constants, and of nothing that a launch decides."""
    match tile.owner:
        case arith.ConstantOp():
            return True
        case ExpandDimsOp() | ViewOp() as owner:
            return _is_of_coordinates(owner.source)
        case GenerateOp() as owner:
            block, tiles = owner.body.block, [inner.tensor for inner in _extracts(owner)]
            known: set[SSAValue] = {*tiles, *block.args}
            known.update(*(inner.results for inner in block.ops))
            used = {value for inner in block.ops for value in inner.operands}
            return used <= known and all(map(_is_of_coordinates, tiles))
        case Operation() as owner if is_elementwise(owner):
            return all(map(_is_of_coordinates, owner.operands))
        case _:
            return False


def _cost(tile: SSAValue, budget: int) -> int:
    """Return the integer operations per element; more than `budget` if there are others.

    The walk ends where the budget does: shared operands of a sorting network count once for each
    path to them, and there are exponentially many.
    """
    owner, too_much = tile.owner, budget + 1
    if not _is_integer(tile):
        return too_much
    match owner:
        case tensor.SplatOp():
            return 0
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as value):
            return 0 if is_splat(value) else too_much
        case ExpandDimsOp() | ViewOp():
            is_same = dropped(owner) is not None or is_reshape(owner)
            return _cost(owner.source, budget) if is_same else too_much
        case GenerateOp():
            if not _is_plain(owner):
                return too_much
            own = len([op for op in owner.body.block.ops if not isinstance(op, _FREE)])
            return _total(own, [inner.tensor for inner in _extracts(owner)], budget)
        case Operation() if is_elementwise(owner):
            return _total(1, owner.operands, budget)
        case _:
            return too_much


def _total(own: int, tiles: Sequence[SSAValue], budget: int) -> int:
    """Return the cost of an operation with that of its tiles, as far as the budget lasts."""
    for tile in tiles:
        if own > budget:
            break
        own += _cost(tile, budget - own)
    return own


_FREE = (arith.ConstantOp, arith.IndexCastOp, tensor.ExtractOp, YieldOp)
"""Operations that count nothing."""


def dropped(op: ExpandDimsOp | ViewOp) -> Sequence[int | None] | None:
    """Map each dimension of the source to one of the result, or to None if its extent is 1.

    None for a view that changes the coordinates of elements otherwise.
    """
    there, here = shape_of(op.source.type), shape_of(op.result.type)
    if there is None or here is None or (isinstance(op, ViewOp) and not op.is_whole):
        return None
    if element_of(op.source.type) != element_of(op.result.type):
        return None
    # `8x1x4 -> 1x8x4` gives [1, None, 2]: extents other than 1 keep their order.
    kept = [axis for axis, extent in enumerate(here) if extent != 1]
    if [here[axis] for axis in kept] != [extent for extent in there if extent != 1]:
        return None
    axes: Iterator[int] = iter(kept)
    return [None if extent == 1 else next(axes) for extent in there]


def is_reshape(op: ExpandDimsOp | ViewOp) -> bool:
    """Whether a view has all elements of a tile, in row-major order."""
    there, here = shape_of(op.source.type), shape_of(op.result.type)
    return (
        isinstance(op, ViewOp)
        and op.is_whole
        and there is not None
        and here is not None
        and prod(there) == prod(here)
        and bool(here)
        and element_of(op.source.type) == element_of(op.result.type)
    )


def _is_integer(value: SSAValue) -> bool:
    return isinstance(element_of(value.type), IntegerType | IndexType)


def _is_plain(op: GenerateOp) -> bool:
    """Whether a body has scalar operations without regions, and its tile no memory space."""
    return space_of(op.result.type) is None and all(
        not inner.regions
        and (
            inner.name.startswith(ELEMENTWISE_DIALECTS)
            or isinstance(inner, tensor.ExtractOp | YieldOp)
        )
        for inner in op.body.block.ops
    )


def _extracts(op: GenerateOp) -> list[tensor.ExtractOp]:
    return [inner for inner in op.body.block.ops if isinstance(inner, tensor.ExtractOp)]


def _work(op: GenerateOp) -> list[Operation]:
    """Return the operations of a body that depend on extracted elements."""
    moved = set[SSAValue]()
    found = list[Operation]()
    for inner in op.body.block.ops:
        if isinstance(inner, tensor.ExtractOp):
            moved.add(inner.result)
        elif not isinstance(inner, YieldOp) and moved & set(inner.operands):
            moved.update(inner.results)
            found.append(inner)
    return found


def _live_uses(value: SSAValue) -> int:
    """Count the uses of a value, without reshapes that are unused themselves."""
    dead = (ExpandDimsOp, ViewOp)
    return sum(
        not (isinstance(use.operation, dead) and not any(use.operation.results[0].uses))
        for use in value.uses
    )
