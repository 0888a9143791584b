"""`irdl_op_definition` that reads fields and formats on first use, and takes options from fields.

Most operations of a dialect are never made in a process that compiles one kernel, and to read the
fields of all takes as long as to compile it; so do the formats.  Whoever makes an operation asks
for its definition first (`get_irdl_definition`); `assembly_program` reads the format.

    a = operand_def()                     two operands that may be absent: the operation stores
    mask = opt_operand_def()              operandSegmentSizes (AttrSizedOperandSegments)
    token = opt_operand_def()
    order = opt_prop_def(OrderAttr)       the format does not name it: it is in the dictionary
    assembly_format = "$a (`,` $mask^)? (`after` $token^)? attr-dict"       (ParsePropInAttrDict)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from threading import RLock
from typing import Any, ClassVar, TypeVar, cast

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation
from xdsl.irdl import (
    AttrSizedOperandSegments,
    BaseAttr,
    IRDLOperation,
    OpDef,
    ParsePropInAttrDict,
    PropertyDef,
    PyRDLOpDefinitionError,
    VarOperandDef,
)
from xdsl.irdl.declarative_assembly_format import FormatProgram
from xdsl.irdl.operations import get_accessors_from_op_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.accessors import faster_accessor
from tileas_xdsl.dialects.constraints import Among
from tileas_xdsl.dialects.field_plans import SEGMENTS
from tileas_xdsl.dialects.key_sharing import share_keys

OpT = TypeVar("OpT", bound=IRDLOperation)


class AssemblyFormat:
    """The text of a format, and the program that it is on first use."""

    def __init__(self, text: str, operation: type[IRDLOperation]) -> None:
        self._text = text
        self._operation = operation

    @cached_property
    def program(self) -> FormatProgram:
        """Parse the format; raises `PyRDLOpDefinitionError`."""
        try:
            return FormatProgram.from_str(self._text, self._operation.get_irdl_definition())
        except ParseError as error:
            name = self._operation.name
            raise PyRDLOpDefinitionError(f"The assembly format of {name}: ", error.args) from error


def irdl_op_definition(cls: type[OpT]) -> type[OpT]:
    """Define an operation, as xDSL's decorator does, when its definition is first asked for."""
    return defined_on_use(cls)


def defined_on_use(cls: type[OpT], then: Callable[[type[OpT]], None] | None = None) -> type[OpT]:
    """Define an operation when its definition is first asked for, and `then` do something more."""

    @classmethod
    def get_irdl_definition(_: type[IRDLOperation]) -> OpDef:
        with _lock:
            if vars(cls)[_GET_DEFINITION] is get_irdl_definition:
                _define(cls, then)
        return cls.get_irdl_definition()

    @classmethod
    def create(kind: type[IRDLOperation], **parts: Any) -> IRDLOperation:
        """Define an operation that is made of its parts: its fields are not asked for then."""
        cls.get_irdl_definition()
        return kind.create(**parts)

    setattr(cls, _GET_DEFINITION, get_irdl_definition)
    setattr(cls, _CREATE, create)
    if cls.assembly_format is not None:
        _set_syntax(cls, AssemblyFormat(cls.assembly_format, cls))
    if sum("traits" in vars(base) for base in cls.__mro__ if base not in _BASES) != 1:
        cls.get_irdl_definition()  # Its traits are none, or of all bases; classes are asked too.
    return cls


_GET_DEFINITION, _CREATE = "get_irdl_definition", "create"
_BASES = frozenset(IRDLOperation.__mro__)
_lock = RLock()
"""Threads may compile at once; fields are read once, for accessors take their places."""


def _define(cls: type[OpT], then: Callable[[type[OpT]], None] | None) -> None:
    """Read the fields of a class, and put accessors into their places."""
    text, cls.assembly_format = cls.assembly_format, None  # It is another one's to read.
    definition = OpDef.from_pyrdl(cls)
    cls.assembly_format = text
    _add_options(definition, text)
    verify = _with_checks(definition, getattr(cls, "verify_", None))
    members = get_accessors_from_op_def(definition, verify)
    asked = members.pop(_GET_DEFINITION)
    for name, accessor in members.items():
        setattr(cls, name, faster_accessor(accessor))
    definition.assembly_format = text
    if then is not None:
        then(cls)
    share_keys(cls)
    delattr(cls, _CREATE)
    setattr(cls, _GET_DEFINITION, asked)  # The last one: other threads wait until it is there.


def _with_checks(definition: OpDef, verify: Any) -> Any:
    """Move sentences of properties (`constraints.py`) from the definition to the verifier."""
    checks: list[tuple[str, Among]] = []
    for name, each in definition.properties.items():
        if isinstance(each.constr, Among):
            checks.append((name, each.constr))
            definition.properties[name] = replace(each, constr=each.constr.plain)
    if not checks:
        return verify

    def verify_all(self: IRDLOperation) -> None:
        for name, among in checks:
            attribute = self.properties.get(name)
            if attribute is not None and (problem := among.problem(attribute)) is not None:
                raise op_error(self, problem)
        if verify is not None:
            verify(self)

    return verify_all


def family_member(
    base: type[OpT], class_name: str, name: str, summary: str, **constants: object
) -> type[OpT]:
    """Return an operation that adds name, docstring and constants to its family, not defined yet.

    AddOp = irdl_op_definition(family_member(BinaryOp, "AddOp", "ptx.add", "`add`: a + b."))
    """
    members = {"name": name, "__doc__": summary, "__module__": base.__module__, **constants}
    members["__annotations__"] = dict.fromkeys(constants, ClassVar[Any])
    return cast("type[OpT]", type(class_name, (base,), members))


def member_op(
    base: type[OpT], class_name: str, name: str, summary: str, **constants: object
) -> type[OpT]:
    """Define an operation that is its family but for name, meaning and constants."""
    return irdl_op_definition(family_member(base, class_name, name, summary, **constants))


def _add_options(definition: OpDef, text: str | None) -> None:
    if text is not None and definition.properties.keys() - {SEGMENTS, *_VARIABLE.findall(text)}:
        definition.options.append(ParsePropInAttrDict())
    variadic = [name for name, each in definition.operands if isinstance(each, VarOperandDef)]
    if len(variadic) > 1 and SEGMENTS not in definition.properties:
        definition.options.append(AttrSizedOperandSegments(as_property=True))
        definition.properties[SEGMENTS] = PropertyDef(BaseAttr(DenseArrayBase))


_VARIABLE = re.compile(r"\$(\w+)")


def _set_syntax(cls: Any, syntax: AssemblyFormat) -> None:
    def parse_with_format(operation: type[IRDLOperation], parser: Parser) -> IRDLOperation:
        return syntax.program.parse(parser, operation)

    def print_with_format(self: IRDLOperation, printer: Printer) -> None:
        syntax.program.print(printer, self)

    cls.parse = classmethod(parse_with_format)
    cls.print = print_with_format
    _formats[cls] = syntax


_formats: dict[type[Operation], AssemblyFormat] = {}


def assembly_program(operation: type[Operation]) -> FormatProgram | None:
    """Return the parsed format of an operation; None where it has none."""
    syntax = _formats.get(operation)
    return None if syntax is None else syntax.program
