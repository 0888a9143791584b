"""xDSL's core classes with methods that do less; their answers are the same.

A warm compilation of attention asks 45,000 times whether an operation, a type or a value is of a
class, and hashes 40,000 values and operations.

    asked                       xDSL's method                         here
    isinstance(op, scf.ForOp)   ABCMeta.__instancecheck__, in Python  type.__instancecheck__
    {value: ...}                def __hash__: return id(self)         object.__hash__
    op.operands                 def operands: return OpOperands(op)   the class is the getter
    IntegerAttr(1, i32)         isinstance(self, Data | Parametrized  not asked: Attribute has no
                                Attribute), a new union each time     other derived classes
    op.clone()                  constructors, nested generators       `cloning.clone`
    @irdl_attr_definition       compiles up to six methods            `data_classes.dataclass`
    @irdl_op_definition         reads fields and formats              when one is made, in dialects
                                                                      of xDSL
    isa(x, TensorType[F])       makes the constraint, 30 objects,     remembers it, and asks for
                                and a message if it is none           the class first
    IntegerAttr(1, i32)         asks the constraint of each           looks at the classes of
                                parameter                             parameters
    arith.AddiOp(a, b)          asks which part is a group            fills parts in, if none is
    for_op.step                 asks which kind of part, makes a      operands or results are at
                                view of operands, asks the view       hand
    block.add_op(op)            walks from the block to the module:   one without regions has
                                is it inside of the operation?        nothing inside; it is noted
    for op in block.ops         an iterator written in Python         a generator
    tile_type.get_shape()       a generator                           a list
    op.erase()                  makes a replacement of each result    nothing, where it has no use

`accelerate` runs when the first dialect of ours is imported.  It changes xDSL for the process, in
time alone: nothing registers classes of IR as virtual subclasses (`ABCMeta.register`), and values
and operations are equal by identity.  Classes that are defined later inherit all of it; none can be
a `typing.Protocol` too, whose metaclass is another one.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from xdsl import irdl
from xdsl.dialects import builtin
from xdsl.dialects.builtin import TensorType, VectorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue, Use
from xdsl.ir.core import BlockOps, OpOperands, OpSuccessors
from xdsl.irdl import AttrConstraint, IRDLOperation, attributes, operations
from xdsl.irdl.attributes import ParamAttrDef
from xdsl.irdl.operations import BeforeVariadicSingleAccessor, VariadicDef
from xdsl.utils import hints

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import note_insertion
from tileas_xdsl.dialects.accessors import single_part
from tileas_xdsl.dialects.cloning import clone
from tileas_xdsl.dialects.field_init import SINGLE, init_of_groups
from tileas_xdsl.dialects.key_sharing import share_keys
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.parameter_checks import verify_parameters

OpT = TypeVar("OpT", bound=IRDLOperation)

ROOTS: Sequence[type] = (Attribute, SSAValue, Operation, Block, Region)
"""What IR consists of: these, their bases and all that derive from them are tested plainly."""

HASHED_BY_IDENTITY: Sequence[type] = (*Region.__bases__, SSAValue, IRDLOperation)
"""Classes of IR that define `__hash__` as `id(self)`."""


class PlainTests(ABCMeta):
    """Abstract classes whose instances are those of the class and of what derives from it."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


def accelerate() -> None:
    """Give xDSL's core classes these methods; once more it does nothing."""
    for kind in _abstract_kinds():
        kind.__class__ = PlainTests
    for kind in HASHED_BY_IDENTITY:
        type.__setattr__(kind, "__hash__", object.__hash__)
    _set_getter("operands", OpOperands)
    _set_getter("successors", OpSuccessors)
    type.__setattr__(Operation, "clone", clone)
    type.__setattr__(Attribute, "__post_init__", _verify)
    type.__setattr__(Block, "_attach_op", _attach)
    type.__setattr__(Block, "insert_arg", _insert_arg)
    type.__setattr__(BlockOps, "__iter__", _operations_of)
    type.__setattr__(SSAValue, "erase", _erase)
    type.__setattr__(TensorType, "get_shape", _shape)
    type.__setattr__(VectorType, "get_shape", _shape)
    type.__setattr__(BeforeVariadicSingleAccessor, "__get__", single_part)
    type.__setattr__(ParamAttrDef, "verify", verify_parameters)
    type.__setattr__(IRDLOperation, "__init__", _init)
    hints.__dict__["isa"] = builtin.__dict__["isa"] = _isa
    attributes.__dict__["dataclass"] = dataclass
    irdl.__dict__["irdl_to_attr_constraint"] = _constraint_of
    irdl.__dict__["irdl_op_definition"] = _defined
    for kind in (Use, OpResult, BlockArgument, Block, Region):
        share_keys(kind)


def _abstract_kinds() -> list[type]:
    """Return the classes of IR that are there already and ask `ABCMeta`."""
    bases = {base for root in ROOTS for base in root.__mro__ if type(base) is ABCMeta}
    own = [base for base in bases if base.__module__ == Operation.__module__]
    return [kind for base in own for kind in _with_derived(base) if type(kind) is ABCMeta]


def _with_derived(kind: type) -> Iterator[type]:
    yield kind
    for derived in type.__subclasses__(kind):
        yield from _with_derived(derived)


def _set_getter(name: str, view: type) -> None:
    """Have a property of operations make its view without a function around it."""
    found: property = vars(Operation)[name]
    type.__setattr__(Operation, name, property(view, found.fset, found.fdel, found.__doc__))


def _defined(cls: type[OpT]) -> type[OpT]:
    """Define an operation: one of xDSL's dialects on first use, one of other packages at once."""
    is_of_xdsl = cls.__module__.startswith("xdsl.dialects.")
    return (irdl_op_definition if is_of_xdsl else operations.irdl_op_definition)(cls)


def _constraint_of(hint: Any, *, allow_type_var: bool = False) -> AttrConstraint:
    """Return the constraint that a type hint is; what cannot be hashed is not remembered."""
    if not isinstance(hint, Hashable):
        return attributes.irdl_to_attr_constraint(hint, allow_type_var=allow_type_var)
    return _remembered_constraint(hint, allow_type_var)


@lru_cache(1 << 10)
def _remembered_constraint(hint: Any, allow_type_var: bool) -> AttrConstraint:
    return attributes.irdl_to_attr_constraint(hint, allow_type_var=allow_type_var)


_isa_any = hints.isa


def _isa(arg: Any, hint: Any) -> bool:
    """Return whether something is of a type: of IR, the class is asked first.

    Whatever an attribute was made of, `Attribute` asks for no more of its parameters.
    """
    kind: Any = getattr(hint, "__origin__", None)
    if type(kind) is not PlainTests:
        return _isa_any(arg, hint)
    return isinstance(arg, kind) and (hint.__args__ == _ATTRIBUTE or _isa_any(arg, hint))


_ATTRIBUTE = (Attribute,)


_init_any: Any = vars(IRDLOperation)["__init__"]


def _init(self: IRDLOperation, **parts: Any) -> None:
    """Initialise an operation; one of single operands and results without a look at each."""
    operands, types = parts.get("operands") or (), parts.get("result_types") or ()
    is_plain = (len(operands), len(types)) == _counts(type(self))
    if is_plain and SINGLE.issuperset(map(type, operands)) and all(map(_is_type, types)):
        init_of_groups(self, **{name: part for name, part in parts.items() if part is not None})
    else:
        _init_any(self, **parts)


@lru_cache(None)
def _counts(kind: type[IRDLOperation]) -> tuple[int, int] | None:
    """Return how many operands and results operations have, all of which are single."""
    definition = kind.get_irdl_definition()
    if definition.options or definition.regions or definition.successors:
        return None
    parts = [each for _, each in (*definition.operands, *definition.results)]
    if any(isinstance(part, VariadicDef) for part in parts):
        return None
    return len(definition.operands), len(definition.results)


def _is_type(given: object) -> bool:
    return isinstance(given, Attribute)


def _verify(self: Attribute) -> None:
    self._verify()  # pyright: ignore[reportPrivateUsage]


_attach_any = vars(Block)["_attach_op"]


def _attach(self: Block, operation: Operation) -> None:
    """Make an operation, which is in no block, one of this block; raises `ValueError`."""
    if operation.parent is not None or operation.regions:
        _attach_any(self, operation)
    operation.parent = self
    note_insertion()


_insert_any_arg: Any = vars(Block)["insert_arg"]


def _insert_arg(self: Block, *parts: Any, **named: Any) -> BlockArgument:
    note_insertion()
    return _insert_any_arg(self, *parts, **named)


def _operations_of(self: BlockOps) -> Iterator[Operation]:
    return _from(self.block.first_op)


def _from(op: Operation | None) -> Iterator[Operation]:
    """Yield an operation and those behind it; one may be erased while it is looked at."""
    while op is not None:
        following = op._next_op  # pyright: ignore[reportPrivateUsage]
        yield op
        op = following


def _shape(self: TensorType | VectorType) -> tuple[int, ...]:
    return tuple([extent.data for extent in self.shape.data])


_erase_any = vars(SSAValue)["erase"]


def _erase(self: SSAValue, safe_erase: bool = True) -> None:
    """Erase a value; raises `ValueError` if it is read, without `safe_erase` replaces it."""
    if self.first_use is not None:
        _erase_any(self, safe_erase)
