"""How an operation is made of its fields: parameters in, operands, properties and results out.

`fields.py` says which fields there are; `_parameters` and `_order` read them off a class once.

    TiledStoreOp(tile, view, [i], atom="stg")     parameters: value, view, coords, atom
    operands = [view, tile, [i], [], None]        the order of the IR; what is absent is None
    properties = {"atom": #nv_tileas<atom stg>}   converted, without those that are absent
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, UnitAttr, i32
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    InferenceContext,
    IRDLOperation,
    OptAttributeDef,
    OptPropertyDef,
    ResultDef,
)

Convert: TypeAlias = Callable[..., object]
ResultType: TypeAlias = Callable[[Mapping[str, Any]], Attribute | Sequence[Attribute] | None]
"""Computes the type of a result from the fields that are given; None where it is absent."""


class Parameter(NamedTuple):
    """A parameter of a constructor, named after its field."""

    default: object
    kw_only: bool
    convert: Convert | None = None
    """Makes the attribute, or what becomes one, of a value that is not None."""
    alias: str | None = None
    """The name of the parameter, if it is not that of the field."""
    of: str | None = None
    """The operand whose type `convert` takes too."""
    type: Attribute | ResultType | None = None
    """The type of a result that is not given."""


REQUIRED = object()
"""The default of a parameter that has none."""


PARAMETERS = "__parameters__"
"""Parameters that a class adds to those of its bases."""


def place_operands(cls: type[IRDLOperation]) -> None:
    """Put operands with a position there: xDSL takes them in the order of the class."""
    operands: dict[str, Any] = {
        name: definition
        for name, definition in vars(cls).items()
        if hasattr(definition, "position")
    }
    placed = {name: d.position for name, d in operands.items() if d.position is not None}
    if not placed:
        return
    order = [name for name in operands if name not in placed]
    for name, position in placed.items():
        order.insert(position, name)
    for name in order:
        delattr(cls, name)
        setattr(cls, name, operands[name])


def init_from_parameters(op: IRDLOperation, *given: object, **named: object) -> None:
    """Initialise an operation by its parameters; raises `TypeError` as a function would."""
    names, defaults, aliases = _parameters(type(op))
    class_name = type(op).__name__
    if len(given) > len(names):
        raise TypeError(f"{class_name} takes {len(names)} values in order, not {len(given)}")
    first = dict(zip(names, given, strict=False))
    if twice := first.keys() & named.keys():
        raise TypeError(f"{class_name} is given {', '.join(sorted(twice))} twice")
    values = {**defaults, **first, **named}
    if len(values) > len(defaults):
        wrong = [name for name in values if name not in defaults]
        raise TypeError(f"{class_name} does not take {', '.join(wrong)}")
    if missing := [name for name, value in values.items() if value is REQUIRED]:
        raise TypeError(f"{class_name} needs {', '.join(missing)}")
    for alias, name in aliases:
        values[name] = values.pop(alias)
    _init(op, values)


def init_fields(op: IRDLOperation, **fields: Any) -> None:
    """Initialise an operation by the names of its fields; a result is given as its type.

    An operand that is None is absent, as is an optional property that is None or False.
    """
    _init(op, fields)


def _init(op: IRDLOperation, fields: Mapping[str, Any]) -> None:
    order = _order(type(op))
    operands = [fields.get(name) for name in order.operands]
    properties = _attributes(order.properties, fields)
    results = [_result_type(*result, fields) for result in order.results]
    fill: Callable[..., None] | None = getattr(type(op), "fill", None)
    if fill is not None:
        fill(op, operands, [type_ for type_ in results if type_ is not None], **properties)
        return
    IRDLOperation.__init__(
        op,
        operands=operands,
        result_types=results,
        properties={name: attribute_of(value) for name, value in properties.items()},
        attributes=_attributes(order.attributes, fields),
        regions=[_region(fields[name]) for name in order.regions],
    )


def _attributes(kept: Sequence[_Kept], fields: Mapping[str, Any]) -> dict[str, Any]:
    found = dict[str, Any]()
    for name, ir_name, false_is_absent, parameter in kept:
        given = fields.get(name)
        if given is None or (false_is_absent and isinstance(given, int) and not given):
            continue
        if parameter is not None:
            given = _converted(given, parameter, fields)
        if given is not None:
            found[ir_name] = given
    return found


def _converted(given: object, parameter: Parameter | None, fields: Mapping[str, Any]) -> object:
    if parameter is None or parameter.convert is None:
        return given
    if parameter.of is None:
        return parameter.convert(given)
    return parameter.convert(given, SSAValue.get(fields[parameter.of]).type)


def _result_type(
    name: str,
    type_: Attribute | ResultType | None,
    parameter: Parameter | None,
    fields: Mapping[str, Any],
) -> Any:
    found = fields.get(name)
    if found is None:
        found = type_(fields) if callable(type_) else type_
    return _converted(found, parameter, fields)


def _region(given: Region | Block | Sequence[Region]) -> Region | Sequence[Region]:
    return Region(given) if isinstance(given, Block) else given


def attribute_of(value: object) -> Attribute:
    """Return a Python value as an attribute: a string, an `i32`, a flag or an array of `i32`."""
    match value:
        case Attribute():
            return value
        case str():
            return StringAttr(value)
        case bool():
            return UnitAttr()
        case int():
            return IntegerAttr(value, i32)
        case _:
            return DenseArrayBase.from_list(i32, cast("Sequence[int]", value))


_Kept: TypeAlias = "tuple[str, str, bool, Parameter | None]"
"""A property or attribute: its name, that in the IR, whether it is absent for False and 0 as for
None, and the parameter that converts it."""


class _Order(NamedTuple):
    """The fields of an operation in the order of its definition."""

    operands: Sequence[str]
    properties: Sequence[_Kept]
    attributes: Sequence[_Kept]
    regions: Sequence[str]
    results: Sequence[tuple[str, Attribute | ResultType | None, Parameter | None]]
    """Name, the type where none is given, and the parameter that converts both."""


_Field: TypeAlias = Parameter | Attribute | ResultType


def _fields(cls: type[IRDLOperation]) -> Mapping[str, _Field]:
    """Parameters, and fixed types of results, of a class and its bases; those of bases first."""
    found: dict[str, _Field] = {}
    for base in reversed(cls.__mro__):
        found.update(vars(base).get(PARAMETERS, {}))
    return found


@cache
def _parameters(
    cls: type[IRDLOperation],
) -> tuple[Sequence[str], Mapping[str, object], Sequence[tuple[str, str]]]:
    """The names of positional parameters; defaults; parameters with other names than fields."""
    fields = _fields(cls).items()
    parameters = {
        field.alias or name: (name, field) for name, field in fields if isinstance(field, Parameter)
    }
    positional = [name for name, (_, parameter) in parameters.items() if not parameter.kw_only]
    defaults = {name: parameter.default for name, (_, parameter) in parameters.items()}
    aliases = [(name, field) for name, (field, _) in parameters.items() if name != field]
    return positional, defaults, aliases


@cache
def _order(cls: type[IRDLOperation]) -> _Order:
    definition, fields = cls.get_irdl_definition(), _fields(cls)
    names = {ir_name: name for name, (ir_name, _) in definition.accessor_names.items()}
    ranks = {name: rank for rank, name in enumerate(fields)}

    def kept(definitions: Mapping[str, object]) -> Sequence[_Kept]:
        found = {names.get(ir_name, ir_name): ir_name for ir_name in definitions}
        return [
            (
                name,
                found[name],
                _false_is_absent(field := fields.get(name), definitions[found[name]]),
                field if isinstance(field, Parameter) and field.convert else None,
            )
            for name in sorted(found, key=lambda name: ranks.get(name, len(ranks)))
        ]

    return _Order(
        [name for name, _ in definition.operands],
        kept(definition.properties),
        kept(definition.attributes),
        [name for name, _ in definition.regions],
        [_result(name, fields.get(name), each) for name, each in definition.results],
    )


def _false_is_absent(field: _Field | None, definition: object) -> bool:
    """Whether a property is left out for False, and for 0 if that is its default."""
    if not isinstance(definition, OptPropertyDef | OptAttributeDef):
        return False
    return not isinstance(field, Parameter) or isinstance(field.default, int)


def _result(
    name: str, field: _Field | None, definition: ResultDef
) -> tuple[str, Attribute | ResultType | None, Parameter | None]:
    parameter = field if isinstance(field, Parameter) else None
    return name, _fixed_type(field, definition), parameter


def _fixed_type(field: _Field | None, definition: ResultDef) -> Attribute | ResultType | None:
    """The type of a result that is not given."""
    if field is not None and not isinstance(field, Parameter):
        return field
    if field is not None and field.type is not None:
        return field.type
    if not definition.constr.can_infer(set(), length_known=True):
        return None
    return definition.constr.infer(InferenceContext(), length=1)[0]
