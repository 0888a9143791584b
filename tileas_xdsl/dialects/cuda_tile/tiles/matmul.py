"""Products of matrices, plus an accumulator: floats, block-scaled floats, integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects.cuda_tile import constraints
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
from tileas_xdsl.dialects.cuda_tile.enums import SignednessAttr
from tileas_xdsl.dialects.cuda_tile.matches import same_element, same_rank, same_type, shape_of
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.syntax.directives import SameType2, Signed, Type
from tileas_xdsl.dialects.cuda_tile.types.scalars import ELEMENTS, name_of_scalar
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of, listed

_ACCUMULATORS: dict[str, tuple[str, ...]] = {
    "f4E2M1FN": ("f16", "f32"),
    "f8E4M3FN": ("f16", "f32"),
    "f8E5M2": ("f16", "f32"),
    "f16": ("f16", "f32"),
    "bf16": ("f32",),
    "tf32": ("f32",),
    "f32": ("f32",),
    "f64": ("f64",),
}
"""Accumulator element types by operand element type."""

_SCALED: dict[str, tuple[str, ...]] = {
    "f8E5M3FNU": ("f4E2M1FN",),
    "f8E4M3FN": ("f4E2M1FN",),
    "f8E8M0FNU": ("f8E4M3FN", "f8E5M2", "f4E2M1FN"),
}
"""Operand element types by scale element type."""

_BLOCKS: dict[tuple[str, str], tuple[tuple[int, ...], str]] = {
    ("f4E2M1FN", "f8E4M3FN"): ((16,), "cuda_tile.mmaf_scaled.block_f4_e4m3"),
    ("f4E2M1FN", "f8E8M0FNU"): ((16, 32), "cuda_tile.mmaf_scaled.block_f4_e8m0"),
    ("f4E2M1FN", "f8E5M3FNU"): ((16, 32), "cuda_tile.mmaf_scaled.block_f4_e5m3"),
    ("f8E4M3FN", "f8E8M0FNU"): ((32,), "cuda_tile.mmaf_scaled.block_f8"),
    ("f8E5M2", "f8E8M0FNU"): ((32,), "cuda_tile.mmaf_scaled.block_f8"),
}
"""Block size (operand elements per scale) by operand and scale types, and the message."""


class _ProductOp(CudaTileOp):
    """`lhs @ rhs + acc`, of matrices or of batches of matrices."""

    traits = traits_def(Pure())
    custom_directives = (SameType2, Signed, Type)

    def shape(self, name: str) -> tuple[int, ...]:
        """The extents of an operand."""
        return shape_of(getattr(self, name).type)

    def check_shapes(self) -> None:
        """Rows, columns and batches fit."""
        rank = len(self.shape("lhs"))
        if rank not in (2, 3):
            raise self.refuse("cuda_tile.mma.rank")
        batched = rank - 2
        if batched:
            self.check_extents("lhs", 0, "rhs", 0)
            self.check_extents("lhs", 0, "acc", 0)
        row, column = batched, batched + 1
        self.check_extents("lhs", column, "rhs", row, blank=" ")
        self.check_extents("lhs", row, "acc", row, blank=" ")
        self.check_extents("rhs", column, "acc", column, blank=" ")

    def check_extents(self, a: str, dim_a: int, b: str, dim_b: int, blank: str = "") -> None:
        """Two extents are equal; the open dialect begins some of these messages with a blank."""
        shape_a, shape_b = self.shape(a), self.shape(b)
        if shape_a[dim_a] == shape_b[dim_b]:
            return
        extents = (dim_a, a, shape_a[dim_a], dim_b, b, shape_b[dim_b])
        raise self.refuse(
            "cuda_tile.mma.shape",
            prefix=blank,
            dim=extents[0],
            operand=extents[1],
            extent=extents[2],
            other_dim=extents[3],
            other_operand=extents[4],
            other_extent=extents[5],
            shape=listed(shape_a),
            other_shape=listed(shape_b),
        )

    def element(self, name: str) -> str:
        """The name of the elements of an operand."""
        return name_of_scalar(element_of(getattr(self, name).type))


def _quoted_words(words: Sequence[str]) -> str:
    return ", ".join(quoted(ELEMENTS[word]) for word in words)


_THREE = (
    "custom<Type>(type($lhs)) `,` custom<Type>(type($rhs))"
    " `,` custom<SameType2>(type($acc), type($result))"
)


@cuda_tile_op
class MmaFOp(_ProductOp):
    """Multiply float matrices; `fast_acc` accumulates products of 8-bit floats in fewer bits."""

    name = "cuda_tile.mmaf"

    lhs = operand_def(constraints.MMAF_OPERAND)
    rhs = operand_def(constraints.MMAF_OPERAND)
    acc = operand_def(constraints.MMAF_RESULT)
    fast_acc = opt_prop_def(UnitAttr)
    result = result_def(constraints.MMAF_RESULT)

    MATCHES: ClassVar = (
        same_type("acc", "result"),
        same_element("lhs", "rhs"),
        same_rank("lhs", "rhs", "acc"),
    )
    assembly_format = f"$lhs `,` $rhs `,` $acc (`fast_acc` $fast_acc^)? attr-dict `:` {_THREE}"

    def check(self) -> None:
        self.check_shapes()
        factors, acc = self.element("lhs"), self.element("acc")
        allowed = _ACCUMULATORS[factors]
        if acc not in allowed:
            words = quoted(ELEMENTS[factors]), _quoted_words(allowed), quoted(ELEMENTS[acc])
            raise self.refuse(
                "cuda_tile.mmaf.types", element=words[0], accumulators=words[1], given=words[2]
            )


@cuda_tile_op
class MmaFScaledOp(_ProductOp):
    """Multiply block-scaled matrices: adjacent elements along K share a scale."""

    name = "cuda_tile.mmaf_scaled"

    lhs = operand_def(constraints.SCALED_OPERAND)
    rhs = operand_def(constraints.SCALED_OPERAND)
    acc = operand_def(constraints.SCALED_RESULT)
    lhs_scale = operand_def(constraints.SCALED_SCALE)
    rhs_scale = operand_def(constraints.SCALED_SCALE)
    result = result_def(constraints.SCALED_RESULT)

    MATCHES: ClassVar = (
        same_type("acc", "result"),
        same_element("lhs", "rhs"),
        same_element("lhs_scale", "rhs_scale"),
        same_rank("lhs", "rhs", "acc", "lhs_scale", "rhs_scale"),
    )
    assembly_format = (
        f"$lhs `,` $rhs `,` $acc `,` $lhs_scale `,` $rhs_scale attr-dict `:` {_THREE}"
        " `,` custom<Type>(type($lhs_scale)) `,` custom<Type>(type($rhs_scale))"
    )

    def check(self) -> None:
        self.check_shapes()
        batched = len(self.shape("lhs")) - 2
        row, column = batched, batched + 1
        if batched:
            self.check_extents("lhs", 0, "lhs_scale", 0)
            self.check_extents("rhs", 0, "rhs_scale", 0)
        self.check_extents("lhs", row, "lhs_scale", row)
        self.check_extents("rhs", column, "rhs_scale", column)
        self.check_extents("lhs_scale", column, "rhs_scale", row)
        self._check_elements()
        self._check_blocks(column)

    def _check_elements(self) -> None:
        factors, scales = self.element("lhs"), self.element("lhs_scale")
        allowed = _SCALED[scales]
        if factors in allowed:
            return
        words = quoted(ELEMENTS[scales]), _quoted_words(allowed), quoted(ELEMENTS[factors])
        raise self.refuse(
            "cuda_tile.mmaf_scaled.type", scale=words[0], expected=words[1], given=words[2]
        )

    def _check_blocks(self, column: int) -> None:
        factors, scales = self.shape("lhs"), self.shape("lhs_scale")
        if factors[column] % scales[column]:
            extents = (column, scales[column], column, factors[column])
            raise self.refuse(
                "cuda_tile.mmaf_scaled.divisor",
                scale_dim=extents[0],
                scale_extent=extents[1],
                dim=extents[2],
                extent=extents[3],
                scale_shape=listed(scales),
                shape=listed(factors),
            )
        block = factors[column] // scales[column]
        sizes, key = _BLOCKS[self.element("lhs"), self.element("lhs_scale")]
        if block not in sizes:
            raise self.refuse(key, size=block)


@cuda_tile_op
class MmaIOp(_ProductOp):
    """A product of bytes, summed in 32 bits."""

    name = "cuda_tile.mmai"

    lhs = operand_def(constraints.MMAI_OPERAND)
    rhs = operand_def(constraints.MMAI_OPERAND)
    acc = operand_def(constraints.MMAI_ACC)
    signedness_lhs = prop_def(SignednessAttr)
    signedness_rhs = prop_def(SignednessAttr)
    result = result_def(constraints.MMAI_RESULT)

    MATCHES: ClassVar = (
        same_type("acc", "result"),
        same_element("lhs", "rhs"),
        same_rank("lhs", "rhs", "acc"),
    )
    assembly_format = (
        "$lhs `,` $rhs `,` $acc custom<Signed>($signedness_lhs) custom<Signed>($signedness_rhs)"
        f" attr-dict `:` {_THREE}"
    )

    def check(self) -> None:
        self.check_shapes()
