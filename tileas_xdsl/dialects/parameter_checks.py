"""Parameters of a new attribute, verified by their classes where these are all that is asked.

    IntegerAttr(value, type)     BaseAttr(IntAttr)                        {IntAttr}
                                 AnyOf(IntegerType, IndexType)            {IntegerType, IndexType}
    TensorType(shape, ...)       ArrayOf(BaseAttr(IntAttr))               {ArrayAttr} of {IntAttr}

A kernel makes some hundred attributes, each of up to six parameters, and xDSL asks constraint after
constraint in a new context.  Parameters of exactly these classes are right; of others xDSL finds
out what they are, and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ArrayAttr, ArrayOfConstraint
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import AnyAttr, AnyOf, BaseAttr, RangeOf, TypeVarConstraint
from xdsl.irdl.attributes import ParamAttrDef

Classes = frozenset[type[Attribute]]

_ARRAY: Classes = frozenset((ArrayAttr,))


class _Expected(NamedTuple):
    """A parameter, the classes that are right, and those of the elements of an array."""

    name: str
    classes: Classes
    elements: Classes | None


_verify_any = ParamAttrDef.verify


def verify_parameters(self: ParamAttrDef, attr: ParametrizedAttribute) -> None:
    """Verify the parameters of an attribute, as `ParamAttrDef.verify`."""
    expected: Sequence[_Expected] | None = vars(self).get("expected")
    if expected is None:
        expected = vars(self)["expected"] = _expected(self)
    for name, classes, elements in expected:
        value = getattr(attr, name)
        if type(value) not in classes:
            return _verify_any(self, attr)
        if elements is not None and not elements.issuperset(map(type, value.data)):
            return _verify_any(self, attr)
    return None


def _expected(definition: ParamAttrDef) -> Sequence[_Expected]:
    constraints = [(name, each.constr) for name, each in definition.parameters]
    return [_of(name, each) for name, each in constraints if not _is_any(each)]


def _of(name: str, constraint: Any) -> _Expected:
    """What is not only about classes expects none, so that xDSL is asked."""
    kind = constraint.__class__
    if kind is not ArrayOfConstraint:
        return _Expected(name, _classes(constraint), None)
    elements = constraint.elem_range_constraint
    if type(elements) is not RangeOf:
        return _Expected(name, frozenset(), None)
    inner = None if _is_any(elements.constr) else _classes(elements.constr)
    return _Expected(name, _ARRAY, inner)


def _is_any(constraint: Any) -> bool:
    if type(constraint) is TypeVarConstraint:
        return _is_any(constraint.base_constraint)
    return type(constraint) is AnyAttr


def _classes(constraint: Any) -> Classes:
    """The classes of which all attributes are right."""
    kind = constraint.__class__
    if kind is TypeVarConstraint:
        return _classes(constraint.base_constraint)
    if kind is AnyOf:
        return frozenset[type[Attribute]]().union(*map(_classes, constraint.attr_constrs))
    return frozenset((constraint.attr,)) if kind is BaseAttr else frozenset()
