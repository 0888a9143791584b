"""Constructors of operations that follow from the fields of the definition.

    @irdl_op_definition
    @derived_init
    class MbarrierArriveExpectTxOp(FieldsOp):
        ptr: fields.Operand = fields.operand()
        bytes: fields.Int = fields.prop(IntegerAttr.constr(i32))
        pred: fields.OptOperand = fields.opt_operand(i1, default=None)

is constructed by `MbarrierArriveExpectTxOp(barrier, 4096, pred=elected)`.  Parameters are the
fields in the order of the class, those of its bases first; type checkers know them through
`dataclass_transform`.  Strings, integers and booleans become attributes; what becomes another
attribute names the function that makes it (`convert=atom_attribute`).  A result whose definition
is a single type needs no parameter, nor does one whose type follows from what is given
(`type=type_of("c")`).  An operation whose constructor computes more writes `__init__` as in any
dialect of xDSL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    cast,
    dataclass_transform,
    overload,
)

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    InferenceContext,
    IRDLOperation,
    OptPropertyDef,
    PropertyDef,
    ResultDef,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)

if TYPE_CHECKING:
    from xdsl.ir import Block, OpResult, Region, SSAValues, Use

ReadT = TypeVar("ReadT", covariant=True)
GivenT = TypeVar("GivenT", contravariant=True)
AttributeT = TypeVar("AttributeT", bound=Attribute)
OpT = TypeVar("OpT", bound=IRDLOperation)


class Field(Generic[ReadT, GivenT]):
    """The type of a field: what an operation returns, and what its constructor takes."""

    if TYPE_CHECKING:

        def __get__(self, op: object, owner: object = None) -> ReadT: ...
        def __set__(self, op: object, value: GivenT) -> None: ...


Value: TypeAlias = SSAValue | Operation
"""An operand: a value, or the operation whose only result it is."""

Operand: TypeAlias = Field[SSAValue, Value]
OptOperand: TypeAlias = Field[SSAValue | None, Value | None]
Operands: TypeAlias = Field[Sequence[SSAValue], Sequence[Value]]
String: TypeAlias = Field[StringAttr, str]
OptString: TypeAlias = Field[StringAttr | None, str | None]
Int: TypeAlias = Field[IntegerAttr, int]
OptInt: TypeAlias = Field[IntegerAttr | None, int | None]
Array: TypeAlias = Field[DenseArrayBase[IntegerType], Sequence[int]]
Flag: TypeAlias = Field[UnitAttr | None, bool]
Result: TypeAlias = "Field[OpResult[AttributeT], AttributeT]"


Convert: TypeAlias = Callable[[Any], object]
ResultType: TypeAlias = Callable[[Mapping[str, Any]], Attribute | Sequence[Attribute]]
"""Computes the type of a result from the fields that are given."""


class Parameter(NamedTuple):
    """A parameter of a constructor, named after its field."""

    default: object
    kw_only: bool
    convert: Convert | None = None
    """Makes the attribute, or what becomes one, of a value that is not None."""


_REQUIRED = object()
"""The default of a parameter that has none."""


def _field(definition: Any, default: object, kw_only: bool, convert: Convert | None = None) -> Any:
    definition.parameter = Parameter(default, kw_only, convert)
    return definition


def operand(constraint: Any = Attribute, *, kw_only: bool = False) -> Any:
    """An operand."""
    return _field(operand_def(constraint), _REQUIRED, kw_only)


def opt_operand(constraint: Any = Attribute, *, default: None, kw_only: bool = False) -> Any:
    """An operand that may be absent."""
    return _field(opt_operand_def(constraint), default, kw_only)


def operands(
    constraint: Any = Attribute, *, default: Any = _REQUIRED, kw_only: bool = False
) -> Any:
    """Any number of operands."""
    return _field(var_operand_def(constraint), default, kw_only)


def prop(
    constraint: Any,
    *,
    default: Any = _REQUIRED,
    kw_only: bool = False,
    prop_name: str | None = None,
    convert: Convert | None = None,
) -> Any:
    """A property, given as a Python value."""
    return _field(prop_def(constraint, prop_name=prop_name), default, kw_only, convert)


def opt_prop(
    constraint: Any,
    *,
    default: Any = _REQUIRED,
    kw_only: bool = False,
    prop_name: str | None = None,
    convert: Convert | None = None,
) -> Any:
    """A property that is absent if it is given as None, False or a default of zero."""
    return _field(opt_prop_def(constraint, prop_name=prop_name), default, kw_only, convert)


@overload
def typed_result(constraint: Any = Attribute, *, kw_only: bool = False) -> Any: ...
@overload
def typed_result(
    constraint: Any = Attribute, *, type: Attribute | ResultType, init: Literal[False] = False
) -> Any: ...
def typed_result(
    constraint: Any = Attribute,
    *,
    type: Attribute | ResultType | None = None,
    kw_only: bool = False,
    init: bool = True,
) -> Any:
    """A result whose type is a parameter, is always `type`, or is what `type` computes."""
    definition: Any = result_def(constraint)
    definition.parameter = type or Parameter(_REQUIRED, kw_only)
    return definition


def type_of(field: str) -> ResultType:
    """The type of an operand, for a result that has the same one."""
    return lambda given: SSAValue.get(given[field]).type


def _inherited(*, init: Literal[False] = False) -> Any:
    """A field of xDSL's `Operation`, which is no parameter."""


@dataclass_transform(
    eq_default=False,
    field_specifiers=(operand, opt_operand, operands, prop, opt_prop, typed_result, _inherited),
)
def derived_init(cls: type[OpT]) -> type[OpT]:
    """Give a class of operations, or a base of such classes, the constructor of its fields."""
    fields = {name: getattr(value, "parameter", None) for name, value in vars(cls).items()}
    parameters = {name: value for name, value in fields.items() if value}
    for name, value in ((_PARAMETERS, parameters), ("__init__", _init)):
        setattr(cls, name, value)
    return cls


_PARAMETERS = "__parameters__"
"""Parameters that a class adds to those of its bases."""

if TYPE_CHECKING:

    @derived_init
    class FieldsOp(IRDLOperation):
        """Base of operations with derived constructors."""

        # Operation is a dataclass: without these its own fields would be parameters.
        _operands: SSAValues = _inherited()
        _operand_uses: tuple[Use, ...] = _inherited()
        results: SSAValues[OpResult] = _inherited()
        _successors: tuple[Block, ...] = _inherited()
        _successor_uses: tuple[Use, ...] = _inherited()
        properties: dict[str, Attribute] = _inherited()
        attributes: dict[str, Attribute] = _inherited()
        location: Any = _inherited()
        regions: tuple[Region, ...] = _inherited()
        parent: Block | None = _inherited()
        _next_op: Operation | None = _inherited()
        _prev_op: Operation | None = _inherited()

else:

    class FieldsOp(IRDLOperation):
        """Base of operations with derived constructors."""


def _init(op: IRDLOperation, *given: object, **named: object) -> None:
    names, defaults = _parameters(type(op))
    class_name = type(op).__name__
    if len(given) > len(names):
        raise TypeError(f"{class_name} takes {len(names)} values in order, not {len(given)}")
    first = dict(zip(names, given, strict=False))
    if twice := first.keys() & named.keys():
        raise TypeError(f"{class_name} is given {', '.join(sorted(twice))} twice")
    fields = {**defaults, **first, **named}
    if wrong := [name for name in fields if name not in defaults]:
        raise TypeError(f"{class_name} does not take {', '.join(wrong)}")
    if missing := [name for name, value in fields.items() if value is _REQUIRED]:
        raise TypeError(f"{class_name} needs {', '.join(missing)}")
    init_fields(op, **fields)


def init_fields(op: IRDLOperation, **fields: Any) -> None:
    """Initialise an operation by the names of its fields; a result is given as its type.

    An operand that is None is absent, as is an optional property that is None or False.
    """
    order = _order(type(op))
    properties = {
        ir_name: value
        for name, ir_name, absent, convert in order.properties
        if (given := fields.get(name)) not in absent
        and (value := given if convert is None else convert(given)) is not None
    }
    results = [
        fields[name] if name in fields else type_(fields) if callable(type_) else type_
        for name, type_ in order.results
    ]
    fill: Callable[..., None] = getattr(type(op), "fill", _fill)
    fill(op, [fields.get(name) for name in order.operands], results, **properties)


def _fill(
    op: IRDLOperation, operands: Sequence[Any], results: Sequence[Attribute], **properties: object
) -> None:
    """Initialise an operation; a class with a method `fill` does it by that."""
    attributes = {name: attribute_of(value) for name, value in properties.items()}
    IRDLOperation.__init__(op, operands=operands, result_types=results, properties=attributes)


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


class _Order(NamedTuple):
    """The fields of an operation in the order of its definition."""

    operands: Sequence[str]
    properties: Sequence[tuple[str, str, Sequence[object], Convert | None]]
    """Name, name in the IR, the values for which the property is absent, and its conversion."""
    results: Sequence[tuple[str, Attribute | ResultType | None]]
    """Name, and the type if it needs no parameter."""


_Field: TypeAlias = Parameter | Attribute | ResultType


def _fields(cls: type[IRDLOperation]) -> Mapping[str, _Field]:
    """Parameters, and fixed types of results, of a class and its bases; those of bases first."""
    found: dict[str, _Field] = {}
    for base in reversed(cls.__mro__):
        found.update(vars(base).get(_PARAMETERS, {}))
    return found


@cache
def _parameters(cls: type[IRDLOperation]) -> tuple[Sequence[str], Mapping[str, object]]:
    """The names of positional parameters, and the default of every parameter."""
    fields = _fields(cls).items()
    parameters = {name: field for name, field in fields if isinstance(field, Parameter)}
    positional = [name for name, parameter in parameters.items() if not parameter.kw_only]
    return positional, {name: parameter.default for name, parameter in parameters.items()}


@cache
def _order(cls: type[IRDLOperation]) -> _Order:
    definition, fields = cls.get_irdl_definition(), _fields(cls)
    names = {ir_name: name for name, (ir_name, _) in definition.accessor_names.items()}
    return _Order(
        [name for name, _ in definition.operands],
        [
            (
                name := names.get(ir_name, ir_name),
                ir_name,
                _absent(field := fields.get(name), each),
                field.convert if isinstance(field, Parameter) else None,
            )
            for ir_name, each in definition.properties.items()
        ],
        [(name, _fixed_type(fields.get(name), each)) for name, each in definition.results],
    )


def _absent(field: _Field | None, definition: PropertyDef) -> Sequence[object]:
    """The values for which a property is left out; 0 (which equals False) only by default."""
    if not isinstance(definition, OptPropertyDef):
        return (None,)
    integer = isinstance(field, Parameter) and not isinstance(field.default, int)
    return (None,) if integer else (None, False)


def _fixed_type(field: _Field | None, definition: ResultDef) -> Attribute | ResultType | None:
    """The type of a result that needs no parameter."""
    if field is not None and not isinstance(field, Parameter):
        return field
    if not definition.constr.can_infer(set(), length_known=True):
        return None
    return definition.constr.infer(InferenceContext(), length=1)[0]
