"""Every operation of Tile IR with every element type and mode, as kernels of one operation each."""

from tests.support.tile_ir_forms.form import Form, Operand, kernel_of
from tests.support.tile_ir_forms.table import FAMILIES

__all__ = ["FAMILIES", "Form", "Operand", "kernel_of"]
