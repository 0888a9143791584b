"""Constraints of properties that refuse a value with a sentence of their own.

    space: fields.String = fields.prop(keyword_among(SPACES, "fences {either}, not {given}"))
    lane = prop_def(number_among(i32, range(32), "names lane 0 to 31 of a warp, not {given}"))

They are checked with `verify_`, as the operation's own rules, and not by the parser of its format:
all faults of a module are reported.  `{given}` is the value; `{known}` lists the others
("a, b, c"), `{either}` offers them ("a or b").
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, base
from xdsl.irdl.constraints import VerificationContext
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.data_classes import dataclass

AT_LEAST_0 = range(sys.maxsize)
AT_LEAST_1 = range(1, sys.maxsize)
POWERS_OF_TWO = frozenset(1 << k for k in range(63))

_SEPARATORS = {"known": ", ", "either": " or "}


def multiples_of(step: int) -> range:
    """Numbers that `step` divides, negative ones too."""
    return range(-step << 32, step << 32, step)


@dataclass(frozen=True)
class Among(AttrConstraint[Any]):
    """A string or a number that is one of some values; `text` says so of another one."""

    plain: AttrConstraint[Any]
    """What the parser of a format checks."""
    values: Collection[object]
    text: str

    def problem(self, attr: Attribute) -> str | None:
        """The sentence, unless the value is one of those allowed."""
        given = _value(attr)
        if given in self.values:
            return None
        lists = {
            name: separator.join(str(value) for value in self.values if value != "")
            for name, separator in _SEPARATORS.items()
            if f"{{{name}}}" in self.text
        }
        return self.text.format(given=given, **lists)

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        """Raise `VerifyException` with the sentence."""
        self.plain.verify(attr, constraint_context)
        if (problem := self.problem(attr)) is not None:
            raise VerifyException(problem)

    def get_bases(self) -> set[type[Attribute]] | None:
        """Return the base classes of the plain constraint."""
        return self.plain.get_bases()

    def mapping_type_vars(self, type_var_mapping: object) -> Among:
        """There is none."""
        return self


def _value(attr: Attribute) -> object:
    match attr:
        case StringAttr():
            return attr.data
        case IntegerAttr():
            return attr.value.data
        case _:
            raise VerifyException(f"{attr} is no string and no number")


def keyword_among(known: Collection[str], text: str) -> AttrConstraint[StringAttr]:
    """A string that is one of those known."""
    return Among(base(StringAttr), known, text)


def number_among(type: Any, allowed: Collection[int], text: str) -> AttrConstraint[IntegerAttr]:
    """An integer of a type, or of any for `IntegerAttrTypeConstr`, that is one of those allowed."""
    return Among(IntegerAttr.constr(type), allowed, text)
