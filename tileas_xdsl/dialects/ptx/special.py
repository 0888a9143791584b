"""Special registers, addresses of variables and parameters, and address spaces."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.irdl import base, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure, SymbolTable

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.ir_queries import enclosing_ops
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import (
    REG,
    ElementwiseOp,
    PtxOp,
    Value,
    count_of,
    elementwise,
    kind_of,
    vector,
    vector_suffix,
)
from tileas_xdsl.dialects.ptx.checks import (
    check_count,
    check_keyword,
    check_kind,
    check_registers,
    check_tuples,
    check_type,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.structure.declarations import GlobalOp
from tileas_xdsl.dialects.ptx.structure.entries import SharedOp
from tileas_xdsl.dialects.ptx.types import ParamType, RegType, reg
from tileas_xdsl.target.isa.kinds import BITS, MEMORY_KINDS
from tileas_xdsl.target.isa.tables.memory.keywords import ACCESS_TYPES
from tileas_xdsl.target.isa.tables.special_registers import SPECIAL_REGISTERS

PARAM = base(ParamType)
_CVTA_SPACES = ("global", "shared", "shared::cta", "shared::cluster", "local", "const", "param")


@irdl_op_definition
class SregOp(PtxOp):
    """`mov d, %name`: a special register, `SregOp("tid.x")`."""

    name = "ptx.sreg"

    register = prop_def(StringAttr)
    result = result_def(REG)

    def __init__(self, register: str) -> None:
        """A name of `SPECIAL_REGISTERS`, without the percent sign."""
        kind = MEMORY_KINDS[SPECIAL_REGISTERS.get(register, "u32")]
        self.fill((), (reg(kind),), register=register)

    def emit(self, out: Writer) -> None:
        name = self.text("register")
        out.line(f"mov.{SPECIAL_REGISTERS[name]} {out.name(self.results[0])}, %{name}")

    def check(self) -> None:
        name = self.text("register")
        if name not in SPECIAL_REGISTERS:
            raise self.error(f"unknown special register '{name}'")
        check_registers(self, ("its result", self.result, MEMORY_KINDS[SPECIAL_REGISTERS[name]]))


@irdl_op_definition
class AddressOp(PtxOp):
    """`mov d, variable`: where a `ptx.shared` or `ptx.global` variable lies in its own space."""

    name = "ptx.address"

    variable = prop_def(SymbolRefAttr)
    offset = opt_prop_def(IntegerAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, variable: str, *, offset: int = 0, kind: str = "b32") -> None:
        self.fill((), (reg(kind),), variable=SymbolRefAttr(variable), offset=offset or None)

    def check(self) -> None:
        check_kind(self, "its result", self.result, "b32", "b64")
        check_count(self, "its result", self.result, 1)
        if not has_symbols(self):
            return
        variable = SymbolTable.lookup_symbol(self, self.variable)
        if isinstance(variable, GlobalOp):
            check_kind(self, "an address in global memory", self.result, "b64")
        elif not isinstance(variable, SharedOp):
            named = f"@{self.variable.string_value()}"
            raise self.error(f"names no ptx.shared or ptx.global variable: {named}")

    def emit(self, out: Writer) -> None:
        offset = self.number("offset")
        tail = f"+{offset}" if offset else ""
        result = self.results[0]
        symbol = self.variable.string_value()
        out.line(f"mov.{kind_of(result)} {out.name(result)}, {symbol}{tail}")


def has_symbols(op: Operation) -> bool:
    """Whether an operation is in a module yet."""
    return any(parent.has_trait(SymbolTable) for parent in enclosing_ops(op))


@irdl_op_definition
class LdParamOp(PtxOp):
    """`ld.param`: a parameter, or `count` elements of one from byte `offset` on."""

    name = "ptx.ld_param"

    parameter = operand_def(PARAM)
    type = prop_def(StringAttr)
    offset = opt_prop_def(IntegerAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, parameter: Value, type: str, *, offset: int = 0, count: int = 1) -> None:
        self.fill((parameter,), (reg(MEMORY_KINDS[type], count),), type=type, offset=offset or None)

    def check(self) -> None:
        type = self.text("type")
        check_keyword(self, "type", type, ACCESS_TYPES)
        check_type(self, "its result", self.result, type)
        parameter = self.parameter.type
        assert isinstance(parameter, ParamType)
        start, step = self.number("offset"), BITS[type] // 8
        end = start + step * count_of(self.result)
        if start < 0 or start % step or end > parameter.size:
            raise self.error(f"reads bytes {start} to {end} of a parameter of {parameter.size}")

    def emit(self, out: Writer) -> None:
        type = self.text("type")
        names = out.names(self.results[0])
        width = min(len(names), 128 // BITS[type])
        head = f"ld.param{vector_suffix(width)}.{type}"
        parameter, start = out.name(self._operands[0]), self.number("offset")
        for index in range(0, len(names), width):
            offset = start + index * BITS[type] // 8
            location = f"[{parameter}+{offset}]" if offset else f"[{parameter}]"
            out.line(f"{head} {vector(names[index : index + width])}, {location}")


@irdl_op_definition
class ParamAddressOp(PtxOp):
    """The generic address of a parameter, as TMA takes that of a tensor map passed by value."""

    name = "ptx.param_address"

    parameter: fields.Operand = fields.operand(PARAM)
    result: fields.Result[RegType] = fields.typed_result(REG, type=reg("b64"))

    traits = traits_def(Pure())

    def emit(self, out: Writer) -> None:
        result = out.name(self.results[0])
        out.line(f"mov.b64 {result}, {out.name(self._operands[0])}")
        out.line(f"cvta.param.u64 {result}, {result}")


@irdl_op_definition
class CvtaOp(ElementwiseOp):
    """`cvta`: an address of a space as generic one, or back with `to`."""

    name = "ptx.cvta"

    a = operand_def(REG)
    space = prop_def(StringAttr)
    direction = opt_prop_def(StringAttr)
    type = prop_def(StringAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, a: Value, space: str, *, to: bool = False, type: str = "u64") -> None:
        """`space` is global, shared, shared::cluster, local, const or param."""
        self.fill(
            (a,), (reg(MEMORY_KINDS[type]),), space=space, direction="to" if to else None, type=type
        )

    def check(self) -> None:
        check_keyword(self, "space", self.text("space"), _CVTA_SPACES)
        check_keyword(self, "direction", self.text("direction"), ("", "to"))
        check_keyword(self, "type", self.text("type"), ("u32", "u64"))
        for what, value in (("its operand", self.a), ("its result", self.result)):
            check_type(self, what, value, self.text("type"))
        check_tuples(self, self.operands, self.result)

    def emit(self, out: Writer) -> None:
        to = ".to" if self.text("direction") else ""
        head = f"cvta{to}.{self.text('space')}.{self.text('type')}"
        elementwise(out, head, self.results[0], self._operands[0])
