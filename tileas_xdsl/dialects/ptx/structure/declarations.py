"""What a module declares beside its entries: bytes in global memory, functions of the driver.

Source: PTX ISA 5.4, variables; 7.1, function declarations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i8,
)
from xdsl.irdl import opt_prop_def, prop_def

from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.structure.entries import SymbolOp, check_name
from tileas_xdsl.layout.integers import is_power_of_two

PASSED = ("b32", "b64", "f32", "f64")
"""The kinds of registers that functions take and give."""

MIN_ZEROS = 64
"""As many zeros at the end are counted; fewer are said one by one."""


class DeclarationOp(SymbolOp):
    """Base of what a module declares: `ptx.name @symbol {properties}`."""

    def declaration(self) -> str:
        """The line of PTX."""
        raise self.error("has no text in PTX")


@irdl_op_definition
class GlobalOp(DeclarationOp):
    """Bytes in global memory, as every launch of the module finds them at first.

    Behind `data` come as many zeros as `zeros` says.
    """

    name = "ptx.global"

    data = prop_def(DenseArrayBase)
    zeros = opt_prop_def(IntegerAttr)
    align = prop_def(IntegerAttr)
    visible = opt_prop_def(UnitAttr)

    def __init__(self, name: str, data: bytes, *, align: int = 1, visible: bool = False) -> None:
        """With `visible`, the host finds it by its name."""
        said = data.rstrip(b"\0") or data[:1]
        zeros = len(data) - len(said)
        if zeros < MIN_ZEROS:
            said, zeros = data, 0
        signed = [byte - 256 if byte > 127 else byte for byte in said]
        self.fill(
            sym_name=name,
            data=DenseArrayBase.from_list(i8, signed),
            zeros=zeros or None,
            align=align,
            visible=visible,
        )

    def check(self) -> None:
        """Name, bytes and alignment."""
        check_name(self, self.sym_name.data)
        align = self.number("align")
        if not is_power_of_two(align):
            raise self.error(f"has an alignment that is a power of two, not {align}")
        if self.data.elt_type != i8 or not len(self.data):
            raise self.error("has bytes, one at least")
        if self.zeros is not None and self.number("zeros") < 1:
            raise self.error(f"has one zero or more behind them, not {self.number('zeros')}")

    def declaration(self) -> str:
        visible = ".visible " * self.flag("visible")
        bytes_ = cast("DenseArrayBase[IntegerType]", self.data)
        values = [byte & 255 for byte in bytes_.get_values()]
        head = f"{visible}.global .align {self.number('align')} .b8 {self.sym_name.data}"
        size = len(values) + (0 if self.zeros is None else self.number("zeros"))
        first = f" = {{{', '.join(map(str, values))}}}" if any(values) else ""
        return f"{head}[{size}]{first};"


@irdl_op_definition
class FunctionOp(DeclarationOp):
    """An external device function: the register kinds of its parameters and of its result."""

    name = "ptx.function"

    parameters = prop_def(ArrayAttr[StringAttr])
    result = opt_prop_def(StringAttr)

    def __init__(self, name: str, parameters: Sequence[str], result: str | None = None) -> None:
        """Kinds are those of registers of bits or floats."""
        kinds = ArrayAttr(StringAttr(kind) for kind in parameters)
        self.fill(sym_name=name, parameters=kinds, result=result)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the parameters."""
        return tuple(kind.data for kind in self.parameters)

    def check(self) -> None:
        """Name and kinds."""
        check_name(self, self.sym_name.data)
        for kind in (*self.kinds, *([self.text("result")] if self.result else [])):
            if kind not in PASSED:
                raise self.error(f"takes and gives {', '.join(PASSED)}, not '{kind}'")

    def declaration(self) -> str:
        name = self.sym_name.data
        kinds = (f".param .{kind} {name}_param_{n}" for n, kind in enumerate(self.kinds))
        result = f"(.param .{self.text('result')} {name}_result) " if self.result else ""
        return f".extern .func {result}{name} ({', '.join(kinds)});"
