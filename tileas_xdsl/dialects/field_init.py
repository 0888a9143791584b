"""How an operation is made of its fields: parameters in, operands, properties and results out.

`fields.py` says which fields there are; `constructor_plan` reads them off a class once.

    TiledStoreOp(tile, view, [i], atom="stg")     parameters: value, view, coords, atom
    operands = [view, tile, [i], [], None]        the order of the IR; what is absent is None
    properties = {"atom": #nv_tileas<atom stg>}   converted, without those that are absent
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, cast

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
    IRDLOperation,
    OptPropertyDef,
)
from xdsl.irdl.operations import irdl_build_regions_arg

from tileas_xdsl.dialects.cloning import added_uses
from tileas_xdsl.dialects.field_plans import (
    SEGMENTS,
    Computed,
    ConstructorPlan,
    KeptAttribute,
    Parameter,
    PlannedResult,
    constructor_call,
    constructor_plan,
)
from tileas_xdsl.dialects.interned import int_array


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
    plan = constructor_plan(type(op))
    signature = (len(given), *named)
    call = plan.calls.get(signature)
    if call is None:
        call = plan.calls[signature] = constructor_call(type(op).__name__, plan, *signature)
    values = plan.defaults.copy()
    values.update(zip(call.names, given, strict=True))
    values.update(named)
    for alias, name in call.aliases:
        values[name] = values.pop(alias)
    _init(op, plan, values, call.properties)


def init_fields(op: IRDLOperation, **fields: Any) -> None:
    """Initialise an operation by the names of its fields; a result is given as its type.

    An operand that is None is absent, as is an optional property that is None or False.
    """
    plan = constructor_plan(type(op))
    _init(op, plan, fields, plan.properties)


def _init(
    op: IRDLOperation,
    plan: ConstructorPlan,
    fields: Mapping[str, Any],
    given: Sequence[KeptAttribute],
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
    parameters = constructor_plan(kind).parameters.items()
    return next((name for name, (its_field, _) in parameters if its_field == field), field)


def as_value(value: SSAValue | Operation) -> SSAValue:
    """The value, or the first result of the operation."""
    single: Any = value
    if value.__class__ in SINGLE:
        return single
    return value.results[0] if isinstance(value, Operation) else value


def _attributes(
    kept: Sequence[KeptAttribute],
    fields: Mapping[str, Any],
    attribute_of: Callable[[Any], Attribute],
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


def _result_type(result: PlannedResult, fields: Mapping[str, Any]) -> Any:
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
