"""Constructors of operations that follow from the fields of the definition.

    @irdl_op_definition
    class MbarrierArriveExpectTxOp(FieldsOp):
        ptr: fields.Operand = fields.operand()
        bytes: fields.Int = fields.prop(IntegerAttr.constr(i32))
        pred: fields.OptOperand = fields.opt_operand(i1, default=None)

is constructed by `MbarrierArriveExpectTxOp(barrier, 4096, pred=elected)`.  Parameters are the
fields in the order of the class, those of its bases first; type checkers know them through
`dataclass_transform`.  Strings, integers and booleans become attributes; what becomes another
attribute names the function that makes it (`convert=atom_attribute`), and a default may follow from
other fields (`default=Computed(_stage_types)`).  A result whose definition is a single type needs
no parameter, nor does one whose type follows from what is given (`type=type_of("c")`); with
`default=None` its type is a parameter that may be left out.  A parameter has another name than its
field where callers say it shorter (`alias="scope"`).  What results follow from but no operation
stores is an `InitVar`, as in a data class:

    count: InitVar[int] = fields.init_var(default=1, kw_only=True)
    result: fields.Result[RegType] = fields.typed_result(REG, type=_loaded, init=False)

An operation whose constructor computes more writes `__init__`, with `init_fields` or, by groups as
in other dialects of xDSL, `init_of_groups`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    dataclass_transform,
    overload,
)

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    opt_attr_def,
    opt_operand_def,
    opt_prop_def,
    opt_region_def,
    opt_result_def,
    prop_def,
    region_def,
    result_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)

from tileas_xdsl.dialects.field_init import (
    as_value,
    init_from_parameters,
    init_of_groups,
    place_operands,
)
from tileas_xdsl.dialects.field_plans import PARAMETERS, REQUIRED, Convert, Parameter, ResultType

if TYPE_CHECKING:
    from xdsl.ir import OpResult, SSAValues, Use

ReadT = TypeVar("ReadT", covariant=True)
GivenT = TypeVar("GivenT", contravariant=True)
AttributeT = TypeVar("AttributeT", bound=Attribute)


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
OptBool: TypeAlias = Field[IntegerAttr | None, bool | None]
Types: TypeAlias = "Field[ArrayAttr[Attribute], Sequence[Attribute]]"
OptTypes: TypeAlias = "Field[ArrayAttr[Attribute] | None, Sequence[Attribute]]"
Body: TypeAlias = Field[Region, Region | Block]
OptBody: TypeAlias = Field[Region | None, Region | Block | None]
Bodies: TypeAlias = Field[Sequence[Region], Sequence[Region]]
Result: TypeAlias = "Field[OpResult[AttributeT], AttributeT]"
ComputedResult: TypeAlias = "Field[OpResult[AttributeT], Attribute | None]"
"""A result whose type may be left out."""
OptResult: TypeAlias = "Field[OpResult | None, Attribute | None]"
Results: TypeAlias = "Field[Sequence[OpResult], Sequence[Attribute]]"


def _field(
    definition: Any,
    default: object,
    kw_only: bool,
    convert: Convert | None = None,
    alias: str | None = None,
    of: str | None = None,
) -> Any:
    definition.parameter = Parameter(default, kw_only, convert, alias, of)
    return definition


def operand(
    constraint: Any = Attribute, *, kw_only: bool = False, position: int | None = None
) -> Any:
    """An operand; in the IR at `position` of those of its class, if its parameter stands elsewhere.

    MLIR names what is stored first, and `operandSegmentSizes` of a store begins with the view.
    """
    return _operand(operand_def(constraint), REQUIRED, kw_only, position)


def _operand(definition: Any, default: object, kw_only: bool, position: int | None = None) -> Any:
    definition.position = position
    return _field(definition, default, kw_only)


def opt_operand(
    constraint: Any = Attribute,
    *,
    default: Any = REQUIRED,
    kw_only: bool = False,
    position: int | None = None,
) -> Any:
    """An operand that may be absent; `position` as that of `operand`."""
    return _operand(opt_operand_def(constraint), default, kw_only, position)


def operands(constraint: Any = Attribute, *, default: Any = REQUIRED, kw_only: bool = False) -> Any:
    """Any number of operands."""
    return _operand(var_operand_def(constraint), default, kw_only)


def prop(
    constraint: Any,
    *,
    default: Any = REQUIRED,
    kw_only: bool = False,
    prop_name: str | None = None,
    convert: Convert | None = None,
    alias: str | None = None,
    default_value: Attribute | None = None,
) -> Any:
    """A property, given as a Python value; the text leaves `default_value` out."""
    definition = prop_def(constraint, prop_name=prop_name, default_value=default_value)
    return _field(definition, default, kw_only, convert, alias)


def opt_prop(
    constraint: Any = Attribute,
    *,
    default: Any = REQUIRED,
    kw_only: bool = False,
    prop_name: str | None = None,
    convert: Convert | None = None,
    alias: str | None = None,
    of: str | None = None,
) -> Any:
    """A property that is absent if it is given as None, False or a default of zero.

    With `of`, `convert` takes the value and the type of that operand.
    """
    definition = opt_prop_def(constraint, prop_name=prop_name)
    return _field(definition, default, kw_only, convert, alias, of)


def opt_attr(constraint: Any, *, default: None, attr_name: str, kw_only: bool = False) -> Any:
    """An attribute that may be absent."""
    return _field(opt_attr_def(constraint, attr_name=attr_name), default, kw_only)


def init_var(*, default: Any = REQUIRED, kw_only: bool = False) -> Any:
    """A parameter that is no field: types of results are computed from it."""
    return Parameter(default, kw_only)


def body(*, single_block: bool = False, default: Any = REQUIRED, kw_only: bool = False) -> Any:
    """A region, given as such or as its block."""
    return _field(region_def("single_block" if single_block else None), default, kw_only)


def opt_body(*, default: Any = REQUIRED, kw_only: bool = False) -> Any:
    """A region that may be absent."""
    return _field(opt_region_def(), default, kw_only)


def bodies() -> Any:
    """Any number of regions."""
    return _field(var_region_def(), REQUIRED, False)


@overload
def typed_result(
    constraint: Any = Attribute,
    *,
    kw_only: bool = False,
    convert: Convert | None = None,
    alias: str | None = None,
    of: str | None = None,
) -> Any: ...
@overload
def typed_result(
    constraint: Any = Attribute,
    *,
    type: Attribute | ResultType,
    default: None,
    kw_only: bool = False,
    convert: Convert | None = None,
    alias: str | None = None,
) -> Any: ...
@overload
def typed_result(
    constraint: Any = Attribute, *, type: Attribute | ResultType, init: Literal[False] = False
) -> Any: ...
def typed_result(
    constraint: Any = Attribute,
    *,
    type: Attribute | ResultType | None = None,
    default: object = REQUIRED,
    kw_only: bool = False,
    convert: Convert | None = None,
    alias: str | None = None,
    of: str | None = None,
    init: bool = True,
) -> Any:
    """A result whose type is a parameter, is always `type`, or is what `type` computes.

    With `default=None` it is a parameter, and `type` where that is None; `convert` applies to both,
    and takes the type of the operand `of` too.
    """
    definition: Any = result_def(constraint)
    is_parameter = type is None or default is None
    parameter = Parameter(default, kw_only, convert, alias, of, type)
    definition.parameter = parameter if is_parameter else type
    return definition


def opt_typed_result(
    constraint: Any = Attribute, *, type: ResultType, init: Literal[False] = False
) -> Any:
    """A result that is absent where `type` computes None."""
    definition: Any = opt_result_def(constraint)
    definition.parameter = type
    return definition


@overload
def typed_results(
    constraint: Any = Attribute, *, default: Any = REQUIRED, kw_only: bool = False
) -> Any: ...
@overload
def typed_results(
    constraint: Any = Attribute, *, type: ResultType, init: Literal[False] = False
) -> Any: ...
def typed_results(
    constraint: Any = Attribute,
    *,
    type: ResultType | None = None,
    default: Any = REQUIRED,
    kw_only: bool = False,
    init: bool = True,
) -> Any:
    """Results whose types are a parameter, or what `type` computes."""
    definition: Any = var_result_def(constraint)
    definition.parameter = Parameter(default, kw_only) if type is None else type
    return definition


def type_of(field: str) -> ResultType:
    """The type of an operand, for a result that has the same one; None if it is absent."""
    return lambda given: None if given[field] is None else as_value(given[field]).type


def types_of(field: str) -> ResultType:
    """The types of operands, for results that have the same ones."""
    return lambda given: [as_value(value).type for value in given[field]]


def _inherited(*, init: Literal[False] = False) -> Any:
    """A field of xDSL's `Operation`, which is no parameter."""


def _derive_init(cls: type[IRDLOperation]) -> None:
    """Give a class the constructor of its fields, unless it writes or inherits another one."""
    parameters = dict[str, Any]()
    for name, value in list(vars(cls).items()):
        if isinstance(value, Parameter):
            parameters[name] = value
            delattr(cls, name)
            del cls.__annotations__[name]
        elif parameter := getattr(value, "parameter", None):
            parameters[name] = parameter
    added: dict[str, Any] = {PARAMETERS: parameters}
    if "__init__" not in vars(cls) and (parameters or cls.__init__ is init_of_groups):
        added["__init__"] = init_from_parameters
    for name, value in added.items():
        setattr(cls, name, value)
    place_operands(cls)


if TYPE_CHECKING:

    @dataclass_transform(
        eq_default=False,
        field_specifiers=(
            operand,
            opt_operand,
            operands,
            prop,
            opt_prop,
            opt_attr,
            init_var,
            body,
            opt_body,
            bodies,
            typed_result,
            opt_typed_result,
            typed_results,
            _inherited,
        ),
    )
    class _DataClassOp(IRDLOperation):
        pass

    class FieldsOp(_DataClassOp):
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

        # Of subclasses that write their own constructor.
        __init__ = IRDLOperation.__init__

else:

    class FieldsOp(IRDLOperation):
        """Base of operations with derived constructors."""

        __init__ = init_of_groups

        def __init_subclass__(cls, **options: object) -> None:
            super().__init_subclass__(**options)
            _derive_init(cls)
