"""What all operations of `ptx` share: how they are made, read, printed and checked.

They read `ptx.name %a, %b guard(%p) {type = "u32"} : types -> types`: operands that every form has
come first, optional ones follow by their name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import (
    IntegerAttr,
    IntegerAttrTypeConstr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrConstraint, OptOperandDef, VarOperandDef, base
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.dialects.constraints import AT_LEAST_0, keyword_among, multiples_of, number_among
from tileas_xdsl.dialects.field_init import SINGLE, as_value, initialise, is_segmented
from tileas_xdsl.dialects.field_plans import SEGMENTS
from tileas_xdsl.dialects.fields import FieldsOp, Value
from tileas_xdsl.dialects.interned import KEPT, UNIT, int_array, text_attr
from tileas_xdsl.dialects.ptx.emission import OpcodeRecorder, Writer
from tileas_xdsl.dialects.ptx.types import RegType
from tileas_xdsl.target.isa.legality import unknown
from tileas_xdsl.target.isa.table import TABLE

REG = base(RegType)
INTEGER = IntegerAttrTypeConstr
CTA_GROUP = number_among(INTEGER, (1, 2), "has cta_group 1 or 2, not {given}")
"""Instructions of Blackwell are for one block, or for a pair of them."""
PENDING = number_among(INTEGER, AT_LEAST_0, "leaves 0 or more groups in flight")


def keyword(what: str, known: Collection[str]) -> AttrConstraint[StringAttr]:
    """A keyword of an instruction, whatever else it has."""
    return keyword_among(known, f"has no {what} '{{given}}'; there are {{known}}")


def offset_by(step: int) -> AttrConstraint[IntegerAttr]:
    """An offset in bytes that `step` divides."""
    text = f"needs an offset that is a multiple of {step}, not {{given}}"
    return number_among(INTEGER, multiples_of(step), text)


Property: TypeAlias = str | int | bool | Attribute | None
CONSTANT = "ptx.const"


@lru_cache(maxsize=KEPT)
def int_attr(number: int) -> IntegerAttr:
    """An `i64` attribute; equal ones are one object."""
    return IntegerAttr(number, i64)


def as_attr(value: str | int | bool | Attribute) -> Attribute:
    """A property given as Python value."""
    if isinstance(value, str):
        return text_attr(value)
    if value is True:
        return UNIT
    return int_attr(value) if isinstance(value, int) else value


def type_of(value: Value) -> RegType:
    """The type of a value that is registers."""
    single: Any = value if value.__class__ in SINGLE else as_value(value)
    return single.type


def kind_of(value: Value) -> str:
    """The kind of the registers of a value."""
    return type_of(value).kind.data


def count_of(value: Value) -> int:
    """How many registers a value is."""
    return type_of(value).count.data


class PtxOp(FieldsOp):
    """Base of the operations of the dialect.

    Constructors take values or operations, and Python strings, integers and booleans; a property
    that is None or False is left out.
    """

    READS_FIRST: ClassVar[bool] = True
    """Whether one instruction reads every operand before any result is written."""

    ELEMENTWISE: ClassVar[bool] = False
    """Whether register i of the results needs no other register than i of tuples."""

    IN_PLACE: ClassVar[bool] = False
    """Whether some operands and results are the same registers."""

    ATTRIBUTE_OF: ClassVar[Callable[[Any], Attribute]] = staticmethod(as_attr)
    """Integers are `i64`."""

    def fill(
        self,
        operands: Sequence[Value | Sequence[Value] | None] = (),
        results: Sequence[Attribute] = (),
        **properties: Property,
    ) -> None:
        """`operands` follow the definition: None for an optional one that is missing."""
        attributes = {
            name: as_attr(value)
            for name, value in properties.items()
            if value is not None and value is not False
        }
        initialise(self, operands, results, attributes)

    def text(self, name: str) -> str:
        """A string property, empty if it is missing."""
        attribute = self.properties.get(name)
        return "" if attribute is None else cast(StringAttr, attribute).data

    def number(self, name: str, default: int = 0) -> int:
        """An integer property, `default` if it is missing."""
        attribute = self.properties.get(name)
        return default if attribute is None else cast(IntegerAttr, attribute).value.data

    def flag(self, name: str) -> bool:
        """Whether a unit property is there."""
        return name in self.properties

    def in_place(self) -> Sequence[tuple[int, int]]:
        """Operands and results that are the same registers, by their indices."""
        return ()

    def emit(self, out: Writer) -> None:
        """Write the instructions of this operation."""
        raise op_error(self, "has no text in PTX")

    def check(self) -> None:
        """What the definition cannot say; raises `OpError`."""

    def verify_(self) -> None:
        """Check the operation against the tables of the instruction set."""
        self.check()
        self._check_opcodes()

    def opcodes(self) -> Sequence[str]:
        """Return the opcodes of the instructions that `emit` writes."""
        if type(self).emit is PtxOp.emit:
            return ()
        recorder = OpcodeRecorder(count_of)
        self.emit(recorder)
        return recorder.opcodes

    def _check_opcodes(self) -> None:
        """Every instruction that is printed is one of the table (`target/isa/`)."""
        for opcode in self.opcodes():
            if not TABLE.find(opcode):
                raise self.error(f"is no instruction: {unknown(opcode)}")

    def error(self, message: str) -> OpError:
        """A located error about this operation."""
        return op_error(self, message)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the uniform form of the dialect."""
        return _parse(cls, parser)

    def print(self, printer: Printer) -> None:
        """Print the uniform form of the dialect."""
        _print(self, printer)


class ElementwiseOp(PtxOp):
    """Base of operations that are one instruction for each register of their tuples."""

    READS_FIRST: ClassVar[bool] = False
    ELEMENTWISE: ClassVar[bool] = True


PtxOpT = TypeVar("PtxOpT", bound=PtxOp)


def _groups(op: PtxOp) -> Mapping[str, Sequence[SSAValue]]:
    """The optional groups of operands that are present, by name."""
    groups: dict[str, Sequence[SSAValue]] = {}
    for name, definition in op.get_irdl_definition().operands:
        value = getattr(op, name)
        if isinstance(definition, OptOperandDef):
            groups[name] = () if value is None else (value,)
        elif isinstance(definition, VarOperandDef):
            groups[name] = tuple(value)
    return {name: values for name, values in groups.items() if values}


def _print(op: PtxOp, printer: Printer) -> None:
    groups = _groups(op)
    required = [
        getattr(op, name)
        for name, definition in op.get_irdl_definition().operands
        if not isinstance(definition, VarOperandDef)
    ]
    if required:
        printer.print_string(" ")
        printer.print_list(required, printer.print_ssa_value)
    for name, values in groups.items():
        printer.print_string(f" {name}(")
        printer.print_list(values, printer.print_ssa_value)
        printer.print_string(")")
    shown = {k: v for k, v in op.properties.items() if k != SEGMENTS}
    printer.print_op_attributes({**shown, **op.attributes})
    types = [v.type for v in (*required, *(v for vs in groups.values() for v in vs))]
    if types:
        printer.print_string(" : ")
        printer.print_list(types, printer.print_attribute)
    if op.results:
        printer.print_string(" -> ")
        printer.print_list([r.type for r in op.results], printer.print_attribute)


def _parse(cls: type[PtxOpT], parser: Parser) -> PtxOpT:
    definitions = cls.get_irdl_definition().operands
    optional = [name for name, d in definitions if isinstance(d, VarOperandDef)]
    required = len(definitions) - len(optional)
    groups: dict[str, list[UnresolvedOperand]] = {}
    flat = [_operand(parser, index) for index in range(required)]
    for name in optional:
        groups[name] = _group(parser, name)
        flat += groups[name]
    attributes = parser.parse_optional_attr_dict()
    types = _types(parser, ":") if flat else []
    results = _types(parser, "->") if len(cls.get_irdl_definition().results) else []
    names = cls.get_irdl_definition().properties
    properties = {k: v for k, v in attributes.items() if k in names}
    if is_segmented(cls):
        properties[SEGMENTS] = int_array((1,) * required + tuple(len(groups[n]) for n in optional))
    return cls.create(
        operands=parser.resolve_operands(flat, types, parser.pos),
        result_types=results,
        properties=properties,
        attributes={k: v for k, v in attributes.items() if k not in names},
    )


def _operand(parser: Parser, index: int) -> UnresolvedOperand:
    if index:
        parser.parse_punctuation(",")
    return parser.parse_unresolved_operand()


def _group(parser: Parser, name: str) -> list[UnresolvedOperand]:
    """An optional group of operands: its name and its values, if it is there."""
    if not parser.parse_optional_keyword(name):
        return []
    return parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )


def _types(parser: Parser, mark: Literal[":", "->"]) -> list[Attribute]:
    if not parser.parse_optional_punctuation(mark):
        return []
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)


def elementwise(
    out: Writer, head: str, result: SSAValue, *operands: SSAValue, tail: str = ""
) -> None:
    """One instruction for every register of the result; single operands serve all of them."""
    results = out.names(result)
    if len(results) == 1:
        shared = ", ".join([out.name(operand) for operand in operands])
        out.line(f"{head} {results[0]}, {shared}{tail}")
        return
    columns = [out.names(operand) for operand in operands]
    spread = [c if len(c) > 1 else list(c) * len(results) for c in columns]
    for row in zip(results, *spread, strict=True):
        out.line(f"{head} {', '.join(row)}{tail}")


def address(out: Writer, base_value: SSAValue, offset: int) -> str:
    """`[base+offset]`."""
    base_name = out.register(base_value)
    return f"[{base_name}+{offset}]" if offset else f"[{base_name}]"


def vector(names: Sequence[str]) -> str:
    """`{a, b}`, or the register alone."""
    return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"


def vector_suffix(count: int) -> str:
    """`.v4`, or nothing for one register."""
    return "" if count == 1 else f".v{count}"
