"""The pass `tileas-assume-whole-tiles`: code for extents that a launch fills whole tiles with.

func.func @k(..., %n)                                     for keys that are a multiple of 128:
  %end = ceildivsi %n, 128                                  %m = assume %n, div_by<128>
  scf.for %j = %0 to %end {                                 %end = ceildivsi %m, 128
    %s = dot ...                                            ... %m for %n
    %t = select (128 * %j + column < %n), %s, -inf }
  tileas.whole_tiles = {arguments = [1], tiles = [128]}     tileas.fills_tiles

A loop over keys has masks for the last tile, or, where they are under a branch, another loop for
it, whatever a launch has.  Where tiles divide the extent, `tileas-peel-masks` proves that masks
hold in all rounds, and that the loop behind whole tiles has none.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects import arith, func, scf, tensor
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.rows.divisors import row_divisor
from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer, defined_functions
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp, DivByAttr
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.plain_attributes import plain_attribute
from tileas_xdsl.layout.integers import is_power_of_two
from tileas_xdsl.target.kernel_abi import FILLS_TILES, WHOLE_TILES
from tileas_xdsl.transforms.pass_options import check_keyword
from tileas_xdsl.transforms.peel_masks.exact_quotients import without_constants

MODES = ("auto", "on")


@dataclass(frozen=True)
class TileasAssumeWholeTiles(ModulePass):
    """Suppose that tiles divide the extents that loops mask, for the launches of which it is true.

    A launch is asked (`tileas.whole_tiles`) about each argument that loops with products end with,
    in tiles of a power of two, and compare with (`mode = auto`); `on` states the divisors
    (`nv_tileaa.assume`), and `tileas.fills_tiles` says whom the code is for.

    Rewrites locally; nothing changes where divisors are known.
    """

    name = "tileas-assume-whole-tiles"

    mode: str = "auto"

    def __post_init__(self) -> None:
        """Refuse words that are no modes; raises `ValueError`."""
        check_keyword("mode", self.mode, MODES)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in defined_functions(op):
            tiles = _masked_extents(kernel)
            if not tiles:
                continue
            if self.mode == "on":
                _state(tiles)
                kernel.attributes[FILLS_TILES] = UnitAttr()
            else:
                asked = {
                    "arguments": [extent.index for extent in tiles],
                    "tiles": list(tiles.values()),
                }
                kernel.attributes[WHOLE_TILES] = plain_attribute(asked)


def _masked_extents(kernel: func.FuncOp) -> dict[BlockArgument, int]:
    """Return the arguments that loops with products mask, with the widest tile that divides them.

    Those of which it is known that the tile divides them are left out.
    """
    loops = [loop for loop in instances_in(kernel, scf.ForOp) if _multiplies(loop)]
    compared = {extent for loop in loops for extent in _compared(loop)}
    tiles: dict[BlockArgument, int] = {}
    for loop in loops:
        for extent, tile in _divided(loop):
            if extent in compared:
                tiles[extent] = max(tile, tiles.get(extent, 1))
    return dict(sorted(tiles.items(), key=lambda item: item[0].index))


def _multiplies(loop: scf.ForOp) -> bool:
    return any(isinstance(op, DotOp) for op in loop.body.block.ops)


def _compared(loop: scf.ForOp) -> Iterator[BlockArgument]:
    """Yield the arguments of the kernel that comparisons of a loop read."""
    for op in instances_in(loop.body, arith.CmpiOp):
        for operand in op.operands:
            if (extent := _argument(operand)) is not None:
                yield extent


def _divided(loop: scf.ForOp) -> Iterator[tuple[BlockArgument, int]]:
    """Yield the arguments whose tiles are counted for the bounds of a loop, and these tiles."""
    for op in operations_behind([loop.lb, loop.ub]):
        if not isinstance(op, arith.CeilDivSIOp | arith.FloorDivSIOp | arith.DivSIOp):
            continue
        dividend, _ = without_constants(op.lhs)
        extent, tile = _argument(dividend), constant_integer(op.rhs)
        if extent is None or tile is None or tile < 2 or not is_power_of_two(tile):
            continue
        if row_divisor(dividend) % tile:
            yield extent, tile


def _argument(value: SSAValue) -> BlockArgument | None:
    """Return the argument of the kernel that a number is, or each element of a tile."""
    while isinstance(made := value.owner, AssumeOp | tensor.SplatOp | tensor.ExtractOp):
        value = made.operands[0]
    if not isinstance(value, BlockArgument):
        return None
    return value if isinstance(value.block.parent_op(), func.FuncOp) else None


def _state(tiles: dict[BlockArgument, int]) -> None:
    """State what divides each extent, for all that reads it."""
    for extent, tile in tiles.items():
        uses = list(extent.uses)
        known = AssumeOp(extent, DivByAttr(tile))
        Rewriter.insert_op(known, InsertPoint.at_start(extent.block))
        for use in uses:
            use.operation.operands[use.index] = known.result
