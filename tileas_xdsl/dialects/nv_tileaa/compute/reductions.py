"""Products, reductions and scans, whose instructions are not chosen yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import (
    ArrayAttr,
    FixedBitwidthType,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileaa.base import element_of, listed, shape_of, tile_of
from tileas_xdsl.dialects.nv_tileaa.compute.bodies import check_body
from tileas_xdsl.dialects.nv_tileas.element_names import NARROW_FLOATS, element_name
from tileas_xdsl.dialects.nv_tileas.enums import Signedness, SignednessAttr
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op

_OptSignedness: TypeAlias = fields.Field[SignednessAttr | None, Signedness | None]
_Identities: TypeAlias = fields.Field[ArrayAttr[Attribute], Sequence[Attribute]]

_HALF_ACCUMULATORS = ("f16", *NARROW_FLOATS)
"""Operand element types whose products may be accumulated in f16 (PTX ISA: mma, wgmma, tcgen05)."""


@tileas_op
class DotOp(TileasOp):
    """D = A * B + C, A of [L x] M x K, B of [L x] K x N; with scales, of blocks along K.

    `fast_acc` allows accumulation in fewer bits than the accumulator has.
    """

    name = "nv_tileaa.dot"

    a: fields.Operand = fields.operand(TensorType)
    b: fields.Operand = fields.operand(TensorType)
    c: fields.Operand = fields.operand(TensorType)
    sfa: fields.OptOperand = fields.opt_operand(TensorType, default=None, kw_only=True)
    sfb: fields.OptOperand = fields.opt_operand(TensorType, default=None, kw_only=True)
    signedness_a: _OptSignedness = fields.opt_prop(
        SignednessAttr, default=None, kw_only=True, convert=SignednessAttr
    )
    signedness_b: _OptSignedness = fields.opt_prop(
        SignednessAttr, default=None, kw_only=True, convert=SignednessAttr
    )
    fast_acc: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    result: fields.Result[Attribute] = fields.typed_result(
        TensorType, type=fields.type_of("c"), init=False
    )

    traits = traits_def(Pure())
    assembly_format = (
        "$a `,` $b `,` $c (`scales` `(` $sfa^ `:` type($sfa) `,` $sfb `:` type($sfb) `)`)?"
        " attr-dict `:` type($a) `,` type($b) `,` type($c) `->` type($result)"
    )

    def verify_(self) -> None:
        elements = [element_of(v.type) for v in (self.a, self.b, self.c, self.result)]
        self._check_kinds(elements)
        self._check_shapes()
        if (self.sfa is None) != (self.sfb is None):
            raise op_error(self, message("nv_tileaa.dot.scales"))

    def _check_kinds(self, elements: Sequence[Attribute]) -> None:
        whole = [isinstance(element, IntegerType) for element in elements]
        if len(set(whole)) != 1:
            text = "nv_tileaa.dot.element_kinds"
            raise op_error(self, message(text))
        if whole[0]:
            self._check_integers(elements)
        else:
            self._check_accumulator(elements)

    def _check_integers(self, elements: Sequence[Attribute]) -> None:
        a, b = (e.bitwidth for e in elements[:2] if isinstance(e, FixedBitwidthType))
        if a != b:
            raise op_error(self, message("nv_tileaa.dot.bit_widths", a=a, b=b))
        if self.signedness_a is None:
            raise op_error(self, message("nv_tileaa.dot.signedness_a"))
        if self.signedness_b is None:
            raise op_error(self, "expect signedness attribute for operand B")

    def _check_accumulator(self, elements: Sequence[Attribute]) -> None:
        factor, accumulator = element_name(elements[0]), element_name(elements[2])
        if accumulator == "f32" or factor == accumulator == "f64":
            return
        if factor not in _HALF_ACCUMULATORS:
            raise op_error(self, message("nv_tileaa.dot.accumulator_f32", element=elements[2]))
        if accumulator != "f16":
            raise op_error(self, message("nv_tileaa.dot.accumulator_f16", element=elements[2]))

    def _check_shapes(self) -> None:
        a, b, c, d = (shape_of(v.type) for v in (self.a, self.b, self.c, self.result))
        if len(d) not in (2, 3):
            raise op_error(self, message("nv_tileaa.dot.result_rank", rank=len(d)))
        if not len(a) == len(b) == len(d) or (*a[:-2], a[-1]) != b[:-1]:
            raise op_error(self, message("nv_tileaa.dot.shapes_ab"))
        if c != (*a[:-1], b[-1]) or d != c:
            text = "nv_tileaa.dot.shape_c"
            raise op_error(self, message(text))


def _types(given: Mapping[str, Any]) -> Sequence[Attribute]:
    return [SSAValue.get(source).type for source in given["sources"]]


class CombiningOp(TileasOp):
    """Elements along an axis combined by a body: accumulators first, then the next elements.

    `identities` are what the body leaves everything as it is with, one for each operand.
    """

    sources: fields.Operands = fields.operands(TensorType)
    axis: fields.Int = fields.prop(IntegerAttr.constr(i32))
    identities: _Identities = fields.prop(ArrayAttr, convert=ArrayAttr)
    body: fields.Body = fields.body(single_block=True)
    values: fields.Results = fields.typed_results(type=_types, init=False)

    traits = traits_def(Pure())
    assembly_format = "$sources attr-dict `:` type($sources) `->` type($values) $body"

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The extents of the results, by those of the operands."""
        raise TypeError("is of a reduction or a scan")

    def verify_(self) -> None:
        shapes = {shape_of(source.type) for source in self.sources}
        if len(shapes) != 1:
            raise op_error(self, "combines tiles of one shape, and one of them at least")
        shape, axis = shapes.pop(), self.axis.value.data
        if not 0 <= axis < len(shape):
            raise op_error(self, f"a tile of rank {len(shape)} has no axis {axis}")
        elements = [element_of(source.type) for source in self.sources]
        wanted = [tile_of(element, self.result_shape(shape)) for element in elements]
        if (given := [value.type for value in self.values]) != wanted:
            raise op_error(self, f"gives ({listed(wanted)}), not ({listed(given)})")
        if len(self.identities) != len(elements):
            raise op_error(self, f"has {len(self.identities)} identities for {len(elements)} tiles")
        check_body(self, self.body, (*elements, *elements), elements)


def _reduced(given: Mapping[str, Any]) -> Sequence[Attribute]:
    axis: int = given["axis"]
    return [tile_of(element_of(type_), _without(shape_of(type_), axis)) for type_ in _types(given)]


def _without(shape: Sequence[int], axis: int) -> Sequence[int]:
    return (*shape[:axis], *shape[axis + 1 :])


@tileas_op
class ReduceOp(CombiningOp):
    """Tiles without dimension `axis`; a scalar where nothing is left."""

    name = "nv_tileaa.reduce"

    values: fields.Results = fields.typed_results(type=_reduced, init=False)

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return _without(shape, self.axis.value.data)


@tileas_op
class ScanOp(CombiningOp):
    """Running combinations along `axis`; with `reverse`, from the last element to the first."""

    name = "nv_tileaa.scan"

    reverse: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return shape
