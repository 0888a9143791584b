"""Calls of functions that the driver has, and memory of a thread's own that they are told of.

Source: PTX ISA 7.1, calls; 5.1.5, local memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, SymbolRefAttr
from xdsl.irdl import opt_result_def, prop_def, traits_def, var_operand_def
from xdsl.traits import Pure, SymbolTable

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import REG, PtxOp, Value, count_of, kind_of
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.special import has_symbols
from tileas_xdsl.dialects.ptx.structure.declarations import PASSED, FunctionOp
from tileas_xdsl.dialects.ptx.types import RegType, reg
from tileas_xdsl.layout.integers import is_power_of_two

LARGEST_LOCAL = 1 << 20
"""More bytes a thread does not have of its own."""


@irdl_op_definition
class CallOp(PtxOp):
    """`call`: a function with what it takes, through `.param` memory of the call's own."""

    name = "ptx.call"

    callee = prop_def(SymbolRefAttr)
    arguments = var_operand_def(REG)
    result = opt_result_def(REG)

    def __init__(self, callee: str, arguments: Sequence[Value], result: str | None = None) -> None:
        """`result` is the kind of what the function gives."""
        results = () if result is None else (reg(result),)
        self.fill((arguments,), results, callee=SymbolRefAttr(callee))

    def check(self) -> None:
        """Arguments are single registers, as the function declares them."""
        for value in (*self.operands, *self.results):
            if count_of(value) != 1 or kind_of(value) not in PASSED:
                raise self.error(f"passes single registers of {', '.join(PASSED)}")
        if not has_symbols(self):
            return
        function = SymbolTable.lookup_symbol(self, self.callee)
        if not isinstance(function, FunctionOp):
            raise self.error(f"calls no ptx.function: @{self.callee.string_value()}")
        given = tuple(kind_of(value) for value in self.operands)
        gives = tuple(kind_of(value) for value in self.results)
        wanted = (function.text("result"),) if function.result else ()
        if given != function.kinds or gives != wanted:
            listed = ", ".join(function.kinds)
            result = function.text("result") or "nothing"
            raise self.error(f"calls a function that takes ({listed}) and gives {result}")

    def emit(self, out: Writer) -> None:
        # Declared outside of braces, so that each call has names of its own.
        prefix = f"call_{out.label().lstrip('$')}"
        names: list[str] = []
        for index, value in enumerate(self.operands):
            kind, name = kind_of(value), f"{prefix}_{index}"
            out.line(f".param .{kind} {name}")
            out.line(f"st.param.{kind} [{name}], {out.register(value)}")
            names.append(name)
        callee = self.callee.string_value()
        listed = f", ({', '.join(names)})" if names else ""
        if self.result is None:
            out.line(f"call.uni {callee}{listed}")
            return
        kind, given = kind_of(self.result), f"{prefix}_result"
        out.line(f".param .{kind} {given}")
        out.line(f"call.uni ({given}), {callee}{listed}")
        out.line(f"ld.param.{kind} {out.name(self.result)}, [{given}]")


@irdl_op_definition
class LocalOp(PtxOp):
    """Memory of each thread's own: its address there, which `ptx.cvta` makes generic."""

    name = "ptx.local"

    size: fields.Int = fields.prop(IntegerAttr)
    align: fields.Int = fields.prop(IntegerAttr, default=8, kw_only=True)
    result: fields.Result[RegType] = fields.typed_result(REG, type=reg("b64"))

    traits = traits_def(Pure())

    def check(self) -> None:
        """Size, alignment and the address."""
        size, align = self.number("size"), self.number("align")
        if not 0 < size <= LARGEST_LOCAL:
            raise self.error(f"has 1 to {LARGEST_LOCAL} bytes, not {size}")
        if not is_power_of_two(align):
            raise self.error(f"has an alignment that is a power of two, not {align}")
        if self.result.type != reg("b64"):
            raise self.error(f"gives an address in b64, not {self.result.type}")

    def emit(self, out: Writer) -> None:
        name = f"local_{out.label().lstrip('$')}"
        out.line(f".local .align {self.number('align')} .b8 {name}[{self.number('size')}]")
        out.line(f"mov.b64 {out.name(self.result)}, {name}")
