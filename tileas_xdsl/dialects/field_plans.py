"""How operations of a class are made: parameters, and fields in the order of the definition.

A plan is read off a class once, from its definition and the fields that its bases and it declare
(`fields.py`); `field_init` makes operations by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias, cast

from xdsl.ir import (
    Attribute,
)
from xdsl.irdl import (
    InferenceContext,
    IRDLOperation,
    OptAttributeDef,
    OptPropertyDef,
    OptResultDef,
    ResultDef,
    VarResultDef,
)

from tileas_xdsl.dialects.interned import UNIT, i32_attr, int_array, text_attr

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


class Computed(NamedTuple):
    """The default of a parameter that follows from other fields, by their names."""

    value: Callable[[Mapping[str, Any]], object]


PARAMETERS = "__parameters__"
"""Parameters that a class adds to those of its bases."""


def constructor_call(
    class_name: str, plan: ConstructorPlan, count: int, *named: str
) -> ConstructorCall:
    """What follows from how many values are given in order and which by name; `TypeError`."""
    positional = [name for name, (_, parameter) in plan.parameters.items() if not parameter.kw_only]
    if count > len(positional):
        raise TypeError(f"{class_name} takes {len(positional)} values in order, not {count}")
    given = [*positional[:count], *named]
    if twice := {name for name in named if name in positional[:count]}:
        raise TypeError(f"{class_name} is given {', '.join(sorted(twice))} twice")
    if wrong := [name for name in named if name not in plan.parameters]:
        raise TypeError(f"{class_name} does not take {', '.join(wrong)}")
    required = [name for name, (_, each) in plan.parameters.items() if each.default is REQUIRED]
    if missing := [name for name in required if name not in given]:
        raise TypeError(f"{class_name} needs {', '.join(missing)}")
    names = {plan.parameters[name][0] for name in given}
    return ConstructorCall(
        [plan.parameters[name][0] for name in positional[:count]],
        [(name, plan.parameters[name][0]) for name in named if plan.parameters[name][0] != name],
        [
            kept
            for kept in plan.properties
            if kept[0] in names or plan.defaults.get(kept[0]) is not None
        ],
    )


SEGMENTS = "operandSegmentSizes"


def attribute_of(value: object) -> Attribute:
    """Return a Python value as an attribute: a string, an `i32`, a flag or an array of `i32`."""
    if isinstance(value, str):
        return text_attr(value)
    if isinstance(value, int):
        return UNIT if isinstance(value, bool) else i32_attr(value)
    return value if isinstance(value, Attribute) else int_array(tuple(cast("Sequence[int]", value)))


KeptAttribute: TypeAlias = "tuple[str, str, bool, Parameter | None]"
"""A property or attribute: its name, that in the IR, whether it is absent for False and 0 as for
None, and the parameter that converts it."""


class PlannedResult(NamedTuple):
    """A result."""

    name: str
    type: Attribute | ResultType | None
    """The type where none is given."""
    parameter: Parameter | None
    """Converts both."""
    is_variadic: bool


class ConstructorCall(NamedTuple):
    """What is the same for all calls with as many values in order, and with the same names."""

    names: Sequence[str]
    """The fields that are given in order."""
    aliases: Sequence[tuple[str, str]]
    """Names that are not that of the field, and it."""
    properties: Sequence[KeptAttribute]
    """Those that are given or have a default."""


class ConstructorPlan(NamedTuple):
    """How operations of a class are made: parameters, and fields in the order of the definition."""

    parameters: Mapping[str, tuple[str, Parameter]]
    """By name, with their fields."""
    defaults: dict[str, object]
    """By field."""
    operands: Sequence[str]
    properties: Sequence[KeptAttribute]
    attributes: Sequence[KeptAttribute]
    regions: Sequence[str]
    results: Sequence[PlannedResult]
    attribute_of: Callable[[Any], Attribute]
    calls: dict[tuple[Any, ...], ConstructorCall]


DeclaredField: TypeAlias = Parameter | Attribute | ResultType


def declared_fields(cls: type[IRDLOperation]) -> Mapping[str, DeclaredField]:
    """Parameters, and fixed types of results, of a class and its bases; those of bases first."""
    found: dict[str, DeclaredField] = {}
    for base in reversed(cls.__mro__):
        found.update(vars(base).get(PARAMETERS, {}))
    return found


@cache
def constructor_plan(cls: type[IRDLOperation]) -> ConstructorPlan:
    """Return how operations of a class are made, read off its definition once."""
    definition, fields = cls.get_irdl_definition(), declared_fields(cls)
    parameters = {
        field.alias or name: (name, field)
        for name, field in fields.items()
        if isinstance(field, Parameter)
    }
    names = {ir_name: name for name, (ir_name, _) in definition.accessor_names.items()}
    ranks = {name: rank for rank, name in enumerate(fields)}

    def kept(definitions: Mapping[str, object]) -> Sequence[KeptAttribute]:
        found = {
            names.get(ir_name, ir_name): ir_name for ir_name in definitions if ir_name != SEGMENTS
        }
        return [
            (
                name,
                found[name],
                _zero_is_absent(field := fields.get(name), definitions[found[name]]),
                field if isinstance(field, Parameter) and field.convert else None,
            )
            for name in sorted(found, key=lambda name: ranks.get(name, len(ranks)))
        ]

    return ConstructorPlan(
        parameters,
        {name: parameter.default for name, parameter in parameters.values()},
        [name for name, _ in definition.operands],
        kept(definition.properties),
        kept(definition.attributes),
        [name for name, _ in definition.regions],
        [_planned_result(name, fields.get(name), each) for name, each in definition.results],
        getattr(cls, "ATTRIBUTE_OF", attribute_of),
        {},
    )


def _zero_is_absent(field: DeclaredField | None, definition: object) -> bool:
    """Whether a property is left out for False, and for 0 if that is its default."""
    if not isinstance(definition, OptPropertyDef | OptAttributeDef):
        return False
    return not isinstance(field, Parameter) or isinstance(field.default, int)


def _planned_result(name: str, field: DeclaredField | None, definition: ResultDef) -> PlannedResult:
    parameter = field if isinstance(field, Parameter) and field.convert else None
    is_variadic = isinstance(definition, VarResultDef) and not isinstance(definition, OptResultDef)
    return PlannedResult(name, _fixed_type(field, definition), parameter, is_variadic)


def _fixed_type(
    field: DeclaredField | None, definition: ResultDef
) -> Attribute | ResultType | None:
    """The type of a result that is not given."""
    if field is not None and not isinstance(field, Parameter):
        return field
    if field is not None and field.type is not None:
        return field.type
    if not definition.constr.can_infer(set(), length_known=True):
        return None
    return definition.constr.infer(InferenceContext(), length=1)[0]
