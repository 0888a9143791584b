"""Tile compute: matrix products."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i32
from xdsl.ir import SSAValue
from xdsl.irdl import base, traits_def
from xdsl.traits import AlwaysSpeculatable

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.canonicalized import Canonicalized
from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, atom_of
from tileas_xdsl.dialects.nv_tileas.compute.block_scaled import (
    BlockScaledConfiguration,
    BlockScaledTypes,
    BlockScaleError,
    block_scaled_configuration,
)
from tileas_xdsl.dialects.nv_tileas.compute.dot_checks import (
    DotTypes,
    check_atom_shape,
    check_dot,
    check_element_of_atom,
    check_mma_atom,
    check_result,
    check_shapes,
    check_spaces,
)
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.enums import Signedness, SignednessAttr
from tileas_xdsl.dialects.nv_tileas.interfaces import MemoryConsistency
from tileas_xdsl.dialects.nv_tileas.memory.arguments import Atom, atom_attribute
from tileas_xdsl.dialects.nv_tileas.memory.effects import TileReadEffect
from tileas_xdsl.dialects.nv_tileas.shapes.slices import delivered_tile, tile_of
from tileas_xdsl.dialects.nv_tileas.spaces import TILE, Tile
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.dialects.nv_tileas.tile_operands import OptTileOperand, TileOperand
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType

_OptAtom: TypeAlias = fields.Field[AtomAttr | None, AtomAttr | str | None]
_OptSignedness: TypeAlias = fields.Field[
    SignednessAttr | None, SignednessAttr | Signedness | str | None
]


def as_signedness(signedness: SignednessAttr | Signedness | str) -> SignednessAttr:
    """Return a signedness given as attribute, enum or keyword."""
    if isinstance(signedness, SignednessAttr):
        return signedness
    return SignednessAttr(Signedness(signedness))


def _signedness(attribute: SignednessAttr | None) -> Signedness | None:
    return None if attribute is None else attribute.data


@tileas_op
class DotOp(TileasOp):
    """D = A * B + C on tiles, A of [LxM]xK, B of [LxK]xN; the atom is the instruction.

    Without an atom the instruction is not chosen yet.  `signedness_a` and `signedness_b` (or the
    atom) tell signed integers from unsigned ones.  With `promote`, the sums along K are added to C
    by f32 instructions: matrix units accumulate 8-bit floats in fewer bits (promotion, CUTLASS).
    """

    name = "nv_tileas.dot"

    a: TileOperand = fields.operand(TILE)
    b: TileOperand = fields.operand(TILE)
    c: TileOperand = fields.operand(TILE)
    atom: _OptAtom = fields.opt_prop(AtomAttr, default=None, convert=atom_attribute)
    signedness_a: _OptSignedness = fields.opt_prop(
        SignednessAttr, default=None, kw_only=True, convert=as_signedness
    )
    signedness_b: _OptSignedness = fields.opt_prop(
        SignednessAttr, default=None, kw_only=True, convert=as_signedness
    )
    promote: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    result: fields.ComputedResult[Tile] = fields.typed_result(
        TILE, type=fields.type_of("c"), default=None, kw_only=True, alias="result_type"
    )

    traits = traits_def(
        AlwaysSpeculatable(), TileReadEffect(), Canonicalized("nv_tileas.DOT_PATTERNS")
    )

    assembly_format = (
        "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c) `->` type($result)"
    )

    def verify_(self) -> None:
        types = DotTypes(
            self.a.type,
            self.b.type,
            self.c.type,
            self.result.type,
            _signedness(self.signedness_a),
            _signedness(self.signedness_b),
        )
        check_dot(self, atom_of(self.atom), types)


def _token_of_c(given: Mapping[str, Any]) -> AsyncTokenType:
    return AsyncTokenType(tile_of(SSAValue.get(given["c"]).type))


@tileas_op
class AsyncDotOp(TileasOp):
    """A matrix product in the background: the token delivers D.

    C may be the token of an earlier product: the products of a chain run in order.  A, B and C must
    not change before the token was waited for.
    """

    name = "nv_tileas.async.dot"

    a: TileOperand = fields.operand(TILE)
    b: TileOperand = fields.operand(TILE)
    c: fields.Operand = fields.operand(TILE | base(AsyncTokenType))
    atom: _OptAtom = fields.opt_prop(AtomAttr, default=None, convert=atom_attribute)
    signedness_a: _OptSignedness = fields.opt_prop(
        SignednessAttr, default=None, kw_only=True, convert=as_signedness
    )
    signedness_b: _OptSignedness = fields.opt_prop(
        SignednessAttr, default=None, kw_only=True, convert=as_signedness
    )
    result: fields.Result[AsyncTokenType] = fields.typed_result(AsyncTokenType, type=_token_of_c)

    traits = traits_def(MemoryConsistency())

    assembly_format = (
        "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c) `->` type($result)"
    )

    def verify_(self) -> None:
        c, d = tile_of(self.c.type), delivered_tile(self.result.type)
        if c is None:
            raise op_error(self, "accumulates onto a tile or onto a token that carries one")
        if d is None:
            raise op_error(self, "the token carries the product, a tile")
        types = DotTypes(
            self.a.type,
            self.b.type,
            c,
            d,
            _signedness(self.signedness_a),
            _signedness(self.signedness_b),
        )
        check_dot(self, atom_of(self.atom), types)


@tileas_op
class BlockScaledMmaOp(TileasOp):
    """D = (A * sfa) * (B * sfb) + C, where every `vecSize` elements along K share a scale.

    A is MxK, B is KxN, sfa is Mx(K/vecSize), sfb is (K/vecSize)xN; `cta_group` CTAs work together.
    """

    name = "nv_tileas.block_scaled_mma"

    a: TileOperand = fields.operand(TILE)
    b: TileOperand = fields.operand(TILE)
    c: TileOperand = fields.operand(TILE)
    sfa: OptTileOperand = fields.opt_operand(TILE)
    sfb: OptTileOperand = fields.opt_operand(TILE)
    atom: Atom = fields.prop(AtomAttr, convert=atom_attribute)
    cta_group: fields.OptInt = fields.opt_prop(IntegerAttr.constr(i32), default=None, kw_only=True)
    result: fields.ComputedResult[Tile] = fields.typed_result(
        TILE, type=fields.type_of("c"), default=None, kw_only=True, alias="result_type"
    )

    traits = traits_def(AlwaysSpeculatable(), TileReadEffect())

    assembly_format = (
        "$a `,` $b `,` $c (`scales` `(` $sfa^ `:` type($sfa) `,` $sfb `:` type($sfb) `)`)? "
        "attr-dict `:` type($a) `,` type($b) `,` type($c) `->` type($result)"
    )

    @property
    def ctas(self) -> int:
        """Return the CTA count of the product: that of the operation, else of its atom, else 1."""
        if self.cta_group is not None:
            return self.cta_group.value.data
        return self._atom_ctas or 1

    @property
    def _atom_ctas(self) -> int:
        """Return the CTA count that the atom specifies, 0 if it specifies none."""
        atom = self.atom.data
        return atom.cta_group if isinstance(atom, MmaAtom) else 0

    @property
    def configuration(self) -> BlockScaledConfiguration:
        """The instruction of this product; raises `BlockScaleError` where there is none."""
        atom = self.atom.data
        shape = atom.shape if isinstance(atom, MmaAtom) else ()
        types = BlockScaledTypes(
            self.a.type, self.b.type, self.c.type, _type(self.sfa), _type(self.sfb)
        )
        return block_scaled_configuration(
            types, cta_group=self.ctas, atom_k=shape[2] if shape else None
        )

    def verify_(self) -> None:
        try:
            configuration = self.configuration
        except BlockScaleError as error:
            raise op_error(self, str(error)) from error
        a, b, c = self.a.type, self.b.type, self.c.type
        check_shapes(self, a, b, c)
        check_result(self, c, self.result.type)
        self._check_scale_shapes(a, b, configuration.vector_size)
        self._check_atom(configuration)

    def _check_scale_shapes(self, a: Tile, b: Tile, vector_size: int) -> None:
        *rows, k = a.get_shape()
        *batch, _, columns = b.get_shape()
        wanted = {
            "sfa": (*rows, k // vector_size),
            "sfb": (*batch, k // vector_size, columns),
        }
        for name, scale in (("sfa", _type(self.sfa)), ("sfb", _type(self.sfb))):
            if scale is not None and scale.get_shape() != wanted[name]:
                shape = "x".join(map(str, wanted[name]))
                raise op_error(self, f"{name} is {shape} for scales of {vector_size}, not {scale}")

    def _check_atom(self, configuration: BlockScaledConfiguration) -> None:
        atom, vector_size = check_mma_atom(self, self.atom.data), configuration.vector_size
        if atom.instruction != "tcgen05":
            raise op_error(
                self, f"block scaling is of tcgen05; '{atom.keyword}' is of another family"
            )
        for name, tile, wanted in (
            ("A", self.a.type, atom.a),
            ("B", self.b.type, atom.b),
            ("C", self.c.type, atom.d),
        ):
            check_element_of_atom(self, atom, name, element_name(tile.element_type), wanted)
        if atom.scale_vector not in (0, vector_size):
            raise op_error(
                self, f"the atom scales {atom.scale_vector} elements, the operands {vector_size}"
            )
        if self._atom_ctas not in (0, self.ctas):
            raise op_error(self, f"cta_group is {self.ctas}, but {self._atom_ctas} in the atom")
        check_atom_shape(self, atom, self.a.type, self.b.type)
        k, step = self.a.type.get_shape()[-1], configuration.atom_k
        if k % step:
            raise op_error(self, f"K is {k}, no multiple of the {step} of {configuration.kind}")
        check_spaces(self, atom, self.a.type, self.b.type, self.c.type)


MatrixProduct: TypeAlias = AsyncDotOp | BlockScaledMmaOp | DotOp
"""Products of matrices: operands 0, 1, 2 are A, B and C."""


def _type(value: SSAValue[Tile] | None) -> Tile | None:
    return None if value is None else value.type
