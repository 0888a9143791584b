"""What all operations of the dialect have in common: how they are defined and checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar, cast

from xdsl.irdl import (
    IRDLOperation,
    OperandDef,
    OptOperandDef,
    OptResultDef,
    ResultDef,
    VarOperandDef,
    VarResultDef,
)
from xdsl.irdl.constraints import RangeLengthConstraint
from xdsl.irdl.operations import OptPropertyDef
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.diagnostics.parsing.mlir_wording import is_of_the_parser
from tileas_xdsl.diagnostics.verification.remembered import FactsFoundRight
from tileas_xdsl.dialects.cuda_tile.constraints import TypeRule
from tileas_xdsl.dialects.cuda_tile.matches import Match, types_of
from tileas_xdsl.dialects.op_definition import defined_on_use, family_member


class CudaTileOp(IRDLOperation):
    """Base of the operations of the dialect.

    Checks come in the order of MLIR: attributes, types, `MATCHES`, `check`.
    """

    MATCHES: ClassVar[tuple[Match, ...]] = ()

    def check(self) -> None:
        """What else must hold; raises `OpError`, or `VerifyException` with a bare message."""

    def refuse(self, key: str, **values: object) -> OpError:
        """Return the error to raise: the message of the catalogue with its placeholders filled."""
        return op_error(self, message(key, **values))


OpT = TypeVar("OpT", bound=CudaTileOp)


def cuda_tile_op(cls: type[OpT]) -> type[OpT]:
    """Define an operation of the dialect whose parser and verifier speak as MLIR do."""
    defined = defined_on_use(cls, _verify_like_mlir)
    _name_in_parse_errors(defined)
    return defined


def _verify_like_mlir(defined: Any) -> None:
    verify: Callable[[Any], None] = defined.verify_
    right = FactsFoundRight()

    def verify_like_mlir(op: CudaTileOp) -> None:
        right.check(op, _check_types_and_attributes)
        verify(op)
        op.check()

    defined.verify_ = verify_like_mlir


def tile_function(family: type[OpT], class_name: str, mnemonic: str, summary: str) -> type[OpT]:
    """Define `cuda_tile.MNEMONIC`, which differs from its family in name and meaning alone."""
    return cuda_tile_op(family_member(family, class_name, f"cuda_tile.{mnemonic}", summary))


def _name_in_parse_errors(defined: Any) -> None:
    """Let what the format of an operation refuses begin with `custom op 'NAME'`.

    Not what MLIR's parser itself says, and not what an operation inside has said.
    """
    parse: Callable[[type[CudaTileOp], Parser], CudaTileOp] = defined.parse.__func__

    def parse_like_mlir(cls: type[CudaTileOp], parser: Parser) -> CudaTileOp:
        try:
            return parse(cls, parser)
        except ParseError as error:
            if not (getattr(error, _NAMED, False) or is_of_the_parser(error.msg)):
                error.msg = f"custom op '{cls.name}' {error.msg}"
            setattr(error, _NAMED, True)
            raise

    defined.parse = classmethod(parse_like_mlir)


_NAMED = "names_an_operation"


def _check_types_and_attributes(op: CudaTileOp) -> None:
    _check_properties(op)
    if _sizes_are_right(op):
        _check_types(op)
        _check_matches(op)


def _check_properties(op: CudaTileOp) -> None:
    for name in _shape(type(op)).required:
        if name not in op.properties:
            raise op.refuse("cuda_tile.requires.attribute", name=name)


def _sizes_are_right(op: CudaTileOp) -> bool:
    """Whether each name has its required number of values; if not, xDSL reports it."""
    shape = _shape(type(op))
    try:
        for name, _, _ in (*shape.operands, *shape.results):
            getattr(op, name)
    except (AttributeError, IndexError, ValueError, VerifyException):
        return False
    return not shape.is_fixed or len(op.operands) == len(shape.operands)


def _check_types(op: CudaTileOp) -> None:
    shape = _shape(type(op))
    for kind, values in (("operand", shape.operands), ("result", shape.results)):
        index = 0
        for name, rule, many in values:
            for type_ in types_of(op, name):
                if not rule.holds(type_):
                    summary = f"variadic of {rule.summary}" if many else rule.summary
                    raise op.refuse(
                        "cuda_tile.type_constraint",
                        kind=kind,
                        index=index,
                        expected=summary,
                        given=type_,
                    )
                index += 1


_Value: TypeAlias = tuple[str, TypeRule, bool]
"""A name of the definition, the rule for its types, and whether it stands for many values."""


class _Shape(NamedTuple):
    """What the verifier asks the definition of a class for."""

    required: Sequence[str]
    """Properties that have to be there."""
    operands: Sequence[_Value]
    results: Sequence[_Value]
    is_fixed: bool
    """Whether the number of operands is."""


@cache
def _shape(kind: type[CudaTileOp]) -> _Shape:
    found = kind.get_irdl_definition()
    variable = (VarOperandDef, OptOperandDef)
    return _Shape(
        [name for name, d in found.properties.items() if not isinstance(d, OptPropertyDef)],
        [_value(name, each) for name, each in found.operands],
        [_value(name, each) for name, each in found.results],
        not any(isinstance(each, variable) for _, each in found.operands),
    )


def _value(name: str, definition: OperandDef | ResultDef) -> _Value:
    many = isinstance(definition, (VarOperandDef, VarResultDef))
    many &= not isinstance(definition, (OptOperandDef, OptResultDef))
    return name, _rule_of(definition), many


def _rule_of(definition: OperandDef | ResultDef) -> TypeRule:
    """The constraint on one value, without its variadic or optional wrapper."""
    rule: object = definition.constr
    while not isinstance(rule, TypeRule):
        name = "constraint" if isinstance(rule, RangeLengthConstraint) else "constr"
        rule = cast(object, getattr(rule, name))
    return rule


def _check_matches(op: CudaTileOp) -> None:
    for match in op.MATCHES:
        if not match.holds(op):
            raise op_error(op, match.text)
