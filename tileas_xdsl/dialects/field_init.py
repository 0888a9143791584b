"""How an operation is made of its fields: parameters in, operands, properties and results out.

`fields.py` says which fields there are; `_plan` reads them off a class once.

    TiledStoreOp(tile, view, [i], atom="stg")     parameters: value, view, coords, atom
    operands = [view, tile, [i], [], None]        the order of the IR; what is absent is None
    properties = {"atom": #nv_tileas<atom stg>}   converted, without those that are absent
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Operation,
    OpResult,
    Region,
    SSAValue,
    SSAValues,
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
from xdsl.irdl.operations import irdl_build_regions_arg

from tileas_xdsl.dialects.cloning import added_uses
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
    plan = _plan(type(op))
    signature = (len(given), *named)
    call = plan.calls.get(signature)
    if call is None:
        call = plan.calls[signature] = _call(type(op).__name__, plan, *signature)
    values = plan.defaults.copy()
    values.update(zip(call.names, given, strict=True))
    values.update(named)
    for alias, name in call.aliases:
        values[name] = values.pop(alias)
    _init(op, plan, values, call.properties)


def _call(class_name: str, plan: _Plan, count: int, *named: str) -> _Call:
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
    return _Call(
        [plan.parameters[name][0] for name in positional[:count]],
        [(name, plan.parameters[name][0]) for name in named if plan.parameters[name][0] != name],
        [
            kept
            for kept in plan.properties
            if kept[0] in names or plan.defaults.get(kept[0]) is not None
        ],
    )


def init_fields(op: IRDLOperation, **fields: Any) -> None:
    """Initialise an operation by the names of its fields; a result is given as its type.

    An operand that is None is absent, as is an optional property that is None or False.
    """
    plan = _plan(type(op))
    _init(op, plan, fields, plan.properties)


def _init(
    op: IRDLOperation, plan: _Plan, fields: Mapping[str, Any], given: Sequence[_Kept]
) -> None:
    types: list[Attribute] = []
    for result in plan.results:
        found = _result_type(result, fields)
        if found is None:
            continue
        if result.is_variadic:
            types += found
        else:
            types.append(found)
    properties = _attributes(given, fields, plan.attribute_of)
    initialise(op, [fields.get(name) for name in plan.operands], types, properties)
    if plan.attributes:
        op.attributes = _attributes(plan.attributes, fields, plan.attribute_of)
    for name in plan.regions:
        for region in _regions(fields[name], fields):
            op.add_region(region)


SINGLE = frozenset((OpResult, BlockArgument))
"""Checked first: `isinstance` of an abstract class is slow."""

SEGMENTS = "operandSegmentSizes"

_NOTHING: Mapping[str, Attribute | None] = {}


@cache
def is_segmented(cls: type[IRDLOperation]) -> bool:
    """Whether an operation has two or more groups of operands."""
    return SEGMENTS in cls.get_irdl_definition().properties


def initialise(
    op: IRDLOperation,
    operands: Sequence[Any],
    results: Sequence[Attribute],
    properties: dict[str, Attribute],
) -> None:
    """As `IRDLOperation.__init__`, several times as fast: counts are checked by the verifier.

    Operands are values, operations, sequences of both, or None; they follow the definition.
    """
    flat: list[SSAValue] = []
    sizes: list[int] = []
    for operand in operands:
        if operand.__class__ in SINGLE:
            flat.append(operand)
            sizes.append(1)
        elif operand is None:
            sizes.append(0)
        elif isinstance(operand, Operation):
            flat.append(as_value(operand))
            sizes.append(1)
        else:
            flat += map(as_value, operand)
            sizes.append(len(operand))
    if is_segmented(type(op)):
        properties[SEGMENTS] = int_array(tuple(sizes))
    op._operands = SSAValues(flat)  # pyright: ignore[reportPrivateUsage]
    op._operand_uses = added_uses(op, flat)  # pyright: ignore[reportPrivateUsage]
    op.results = SSAValues([OpResult(type_, op, index) for index, type_ in enumerate(results)])
    op.properties = properties
    op.attributes = {}
    op.location = UNKNOWN_LOC
    op.regions = ()


def init_of_groups(
    op: IRDLOperation,
    *,
    operands: Sequence[Any] = (),
    result_types: Sequence[Attribute | Sequence[Attribute] | None] = (),
    properties: Mapping[str, Attribute | None] = _NOTHING,
    attributes: Mapping[str, Attribute | None] = _NOTHING,
    successors: Sequence[Block] = (),
    regions: Sequence[Any] = (),
) -> None:
    """Initialise as `IRDLOperation.__init__` does, several times as fast (`initialise`)."""
    types: list[Attribute] = []
    for given in result_types:
        if isinstance(given, Sequence):
            types += given
        elif given is not None:
            types.append(given)
    kept = {name: value for name, value in properties.items() if value is not None}
    initialise(op, operands, types, kept)
    if attributes:
        op.attributes = {name: value for name, value in attributes.items() if value is not None}
    if successors:
        op.successors = successors
    for given in regions:
        made = irdl_build_regions_arg(given)
        for region in (made,) if isinstance(made, Region) else made:
            op.add_region(region)
    op.__post_init__()  # defaults of properties, and the implicit builder of xDSL


@cache
def default_properties(kind: type[IRDLOperation]) -> Sequence[tuple[str, Attribute]]:
    """Return the properties that operations have where none are given."""
    definitions = kind.get_irdl_definition().properties.items()
    return [
        (name, each.default_value)
        for name, each in definitions
        if each.default_value is not None and not isinstance(each, OptPropertyDef)
    ]


def parameter_of(kind: type[IRDLOperation], ir_name: str) -> str:
    """Return the parameter of the constructor that gives a property of an operation."""
    accessors = kind.get_irdl_definition().accessor_names.items()
    field = next((name for name, (its_name, _) in accessors if its_name == ir_name), ir_name)
    parameters = _plan(kind).parameters.items()
    return next((name for name, (its_field, _) in parameters if its_field == field), field)


def as_value(value: SSAValue | Operation) -> SSAValue:
    """The value, or the first result of the operation."""
    single: Any = value
    if value.__class__ in SINGLE:
        return single
    return value.results[0] if isinstance(value, Operation) else value


def _attributes(
    kept: Sequence[_Kept], fields: Mapping[str, Any], attribute_of: Callable[[Any], Attribute]
) -> dict[str, Attribute]:
    found = dict[str, Attribute]()
    for name, ir_name, zero_is_absent, parameter in kept:
        given = fields.get(name)
        if given is None or (zero_is_absent and not given and isinstance(given, int)):
            continue
        if given.__class__ is Computed:
            given = given.value(fields)
        if parameter is not None:
            given = _converted(given, parameter, fields)
        if given is not None and given is not False:
            found[ir_name] = attribute_of(given)
    return found


def _converted(given: object, parameter: Parameter, fields: Mapping[str, Any]) -> object:
    if parameter.convert is None:
        return given
    if parameter.of is None:
        return parameter.convert(given)
    return parameter.convert(given, SSAValue.get(fields[parameter.of]).type)


def _result_type(result: _Result, fields: Mapping[str, Any]) -> Any:
    found = fields.get(result.name)
    if found is None:
        found = result.type(fields) if callable(result.type) else result.type
    return found if result.parameter is None else _converted(found, result.parameter, fields)


def _regions(
    given: Region | Block | Sequence[Region] | Computed | None, fields: Mapping[str, Any]
) -> Sequence[Region]:
    match given:
        case None:
            return ()
        case Computed(value):
            return (cast("Region", value(fields)),)
        case Block():
            return (Region(given),)
        case Region():
            return (given,)
        case _:
            return given


def attribute_of(value: object) -> Attribute:
    """Return a Python value as an attribute: a string, an `i32`, a flag or an array of `i32`."""
    if isinstance(value, str):
        return text_attr(value)
    if isinstance(value, int):
        return UNIT if isinstance(value, bool) else i32_attr(value)
    return value if isinstance(value, Attribute) else int_array(tuple(cast("Sequence[int]", value)))


_Kept: TypeAlias = "tuple[str, str, bool, Parameter | None]"
"""A property or attribute: its name, that in the IR, whether it is absent for False and 0 as for
None, and the parameter that converts it."""


class _Result(NamedTuple):
    """A result."""

    name: str
    type: Attribute | ResultType | None
    """The type where none is given."""
    parameter: Parameter | None
    """Converts both."""
    is_variadic: bool


class _Call(NamedTuple):
    """What is the same for all calls with as many values in order, and with the same names."""

    names: Sequence[str]
    """The fields that are given in order."""
    aliases: Sequence[tuple[str, str]]
    """Names that are not that of the field, and it."""
    properties: Sequence[_Kept]
    """Those that are given or have a default."""


class _Plan(NamedTuple):
    """How operations of a class are made: parameters, and fields in the order of the definition."""

    parameters: Mapping[str, tuple[str, Parameter]]
    """By name, with their fields."""
    defaults: dict[str, object]
    """By field."""
    operands: Sequence[str]
    properties: Sequence[_Kept]
    attributes: Sequence[_Kept]
    regions: Sequence[str]
    results: Sequence[_Result]
    attribute_of: Callable[[Any], Attribute]
    calls: dict[tuple[Any, ...], _Call]


_Field: TypeAlias = Parameter | Attribute | ResultType


def _fields(cls: type[IRDLOperation]) -> Mapping[str, _Field]:
    """Parameters, and fixed types of results, of a class and its bases; those of bases first."""
    found: dict[str, _Field] = {}
    for base in reversed(cls.__mro__):
        found.update(vars(base).get(PARAMETERS, {}))
    return found


@cache
def _plan(cls: type[IRDLOperation]) -> _Plan:
    definition, fields = cls.get_irdl_definition(), _fields(cls)
    parameters = {
        field.alias or name: (name, field)
        for name, field in fields.items()
        if isinstance(field, Parameter)
    }
    names = {ir_name: name for name, (ir_name, _) in definition.accessor_names.items()}
    ranks = {name: rank for rank, name in enumerate(fields)}

    def kept(definitions: Mapping[str, object]) -> Sequence[_Kept]:
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

    return _Plan(
        parameters,
        {name: parameter.default for name, parameter in parameters.values()},
        [name for name, _ in definition.operands],
        kept(definition.properties),
        kept(definition.attributes),
        [name for name, _ in definition.regions],
        [_result(name, fields.get(name), each) for name, each in definition.results],
        getattr(cls, "ATTRIBUTE_OF", attribute_of),
        {},
    )


def _zero_is_absent(field: _Field | None, definition: object) -> bool:
    """Whether a property is left out for False, and for 0 if that is its default."""
    if not isinstance(definition, OptPropertyDef | OptAttributeDef):
        return False
    return not isinstance(field, Parameter) or isinstance(field.default, int)


def _result(name: str, field: _Field | None, definition: ResultDef) -> _Result:
    parameter = field if isinstance(field, Parameter) and field.convert else None
    is_variadic = isinstance(definition, VarResultDef) and not isinstance(definition, OptResultDef)
    return _Result(name, _fixed_type(field, definition), parameter, is_variadic)


def _fixed_type(field: _Field | None, definition: ResultDef) -> Attribute | ResultType | None:
    """The type of a result that is not given."""
    if field is not None and not isinstance(field, Parameter):
        return field
    if field is not None and field.type is not None:
        return field.type
    if not definition.constr.can_infer(set(), length_known=True):
        return None
    return definition.constr.infer(InferenceContext(), length=1)[0]
