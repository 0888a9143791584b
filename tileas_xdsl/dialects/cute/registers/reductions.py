"""Reductions of what one thread holds, along modes of its shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import AnyFloat, StringAttr, VectorType
from xdsl.ir import Attribute
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.base.checks import fragment
from tileas_xdsl.dialects.cute.base.operands import is_static
from tileas_xdsl.dialects.cute.base.operation import InferredOp
from tileas_xdsl.dialects.cute.types.tuples import CoordAttr, ShapeType
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import int_tuple
from tileas_xdsl.layout.int_tuple import product, show

REDUCTIONS = ("ADD", "MUL", "MAX", "MIN")
"""What elements are combined by; a NaN among them is the maximum and the minimum."""

WHOLE = 1
"""The profile of a reduction that says none: one integer, which stands for all modes."""


@irdl_op_definition
class ReduceOp(InferredOp):
    """Elements combined with `init` along the modes where the profile has an integer; `_` keeps.

    `input` is a vector of the elements of `shape`, colexicographically.  The result is a vector of
    those that are kept, with their shape as a second result if it is asked for; or one number if
    nothing is kept.  The profile `_` gives the input, without `init`.

    Source: CUTLASS, CuTe DSL, `TensorSSA.reduce`.
    """

    name = "cute.reduce"
    input = operand_def()
    shape = operand_def()
    init = operand_def()
    predication = opt_operand_def()
    reduction_op = prop_def(StringAttr)
    reduction_profile = opt_prop_def(CoordAttr)
    output = result_def()
    reduced_shape = opt_result_def()
    traits = traits_def(Pure())

    @property
    def profile(self) -> Any:
        """An integer for each mode that is reduced, None for one that is kept."""
        return WHOLE if self.reduction_profile is None else self.reduction_profile.data

    @property
    def extents(self) -> Any:
        """The shape of the input, all of it known."""
        type_ = self.shape.type
        if not isinstance(type_, ShapeType) or not is_static(type_.data):
            raise op_error(self, f"expects a shape that is known before run time, not {type_}")
        return type_.data

    @property
    def kept(self) -> Any:
        """The shape of what is not reduced; `()` if all is."""
        extents = self.extents
        return extents if self.profile is None else int_tuple.slice_(self.profile, extents)

    def infer(self) -> Sequence[Attribute]:
        input_ = fragment(self, self.input.type, "input")
        self._check_elements(input_.element_type)
        extents, profile = self.extents, self.profile
        if product(extents) != input_.get_shape()[0]:
            raise op_error(self, f"has elements of the shape {show(extents)}, not {input_}")
        if not int_tuple.weakly_congruent(profile, extents):
            text = f"has a profile weakly congruent to {show(extents)}, not {show(profile)}"
            raise op_error(self, text)
        return self._types(input_.element_type)

    def _types(self, element: Attribute) -> Sequence[Attribute]:
        kept = self.kept
        if kept != ():
            types = (VectorType(element, [product(kept)]), ShapeType(kept))
            return types[: len(self.results)]
        if len(self.results) > 1:
            raise op_error(self, "keeps no mode, and one number has no shape")
        return (element,)

    def _check_elements(self, element: Attribute) -> None:
        kind = self.reduction_op.data
        if kind not in REDUCTIONS:
            raise op_error(self, f"combines by {', '.join(REDUCTIONS)}, not {kind}")
        if self.init.type != element:
            raise op_error(self, f"begins with a value of {element}, not {self.init.type}")
        if kind in ("MAX", "MIN") and not isinstance(element, AnyFloat):
            raise op_error(self, f"has {kind} of floats: {element} does not say if it has a sign")
        if self.predication is not None:
            raise op_error(self, "is not supported with a predication")
