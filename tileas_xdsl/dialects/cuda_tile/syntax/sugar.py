"""Earlier names of operations, which are still read."""

from tileas_xdsl.dialects.cuda_tile.tiles.functions import FPowFOp
from tileas_xdsl.dialects.cuda_tile.tiles.misc import PrintTkoOp
from tileas_xdsl.dialects.operation_sugar import OperationSugar


class PowOp(OperationSugar):
    """`pow` became `fpowf` when `fpowi` came, in 13.4."""

    name = "cuda_tile.pow"
    MEANS = FPowFOp


class PrintOp(OperationSugar):
    """`print` became `print_tko` in 13.2."""

    name = "cuda_tile.print"
    MEANS = PrintTkoOp


SUGAR = (PowOp, PrintOp)
