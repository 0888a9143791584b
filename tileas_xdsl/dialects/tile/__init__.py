"""The prefix under which listings write operations on tiles that other dialects have."""

from xdsl.dialects.arith import SelectOp
from xdsl.ir import Dialect

from tileas_xdsl.dialects.operation_sugar import OperationSugar


class TileSelectOp(OperationSugar):
    """`tile.select` is read as `arith.select`."""

    name = "tile.select"
    MEANS = SelectOp


Tile = Dialect("tile", [TileSelectOp], [])
