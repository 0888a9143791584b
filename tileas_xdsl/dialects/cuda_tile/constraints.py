"""Type constraints of operands and results, each with MLIR's description."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TypeAlias

from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint
from xdsl.irdl.constraints import VerificationContext

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cuda_tile.types.scalars import (
    ARITHMETIC_FLOATS,
    ELEMENTS,
    FLOATS,
    INTEGERS,
    NUMBERS,
)
from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, TileType, TokenType
from tileas_xdsl.dialects.cuda_tile.types.view_types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
    TileView,
)


@dataclass(frozen=True)
class TypeRule(AttrConstraint[Attribute]):
    """A set of types; `summary` is MLIR's description of them.

    Operations check it themselves, so that the error names the operand: `verify` does nothing.
    """

    summary: str
    holds: Callable[[Attribute], bool] = field(compare=False)

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        """Left to the operation."""

    def mapping_type_vars(self, type_var_mapping: object) -> TypeRule:
        """There is none."""
        return self


Words: TypeAlias = Sequence[str]


def tile_of(words: Words, container: str = "tile", *, scalar: bool = False) -> TypeRule:
    """Tiles of the scalars with these names, `ptr` among them; only of rank 0 if `scalar`."""
    elements = frozenset(ELEMENTS[word] for word in words if word != "ptr")
    pointers = "ptr" in words

    def holds(type_: Attribute) -> bool:
        if not isinstance(type_, TileType) or (scalar and type_.rank):
            return False
        return type_.element_type in elements or (pointers and _is_pointer(type_.element_type))

    names = " or ".join("Pointer type" if word == "ptr" else word for word in words)
    return TypeRule(f"{'0D ' if scalar else ''}{container} of {names} values", holds)


def _is_pointer(type_: Attribute) -> bool:
    return isinstance(type_, PtrType)


def _instance(definition: type[Attribute], summary: str) -> TypeRule:
    return TypeRule(summary, lambda type_: isinstance(type_, definition))


ANY = TypeRule("any type", lambda _: True)
TILE = _instance(TileType, "Tile type")
TOKEN = _instance(TokenType, "cuda tile token type")
TENSOR_VIEW = _instance(TensorViewType, "tensor view type")
TILE_VIEW = _instance(TileView, "TileView instance")
PARTITION_VIEW = _instance(PartitionViewType, "partition view type")
STRIDED_VIEW = _instance(StridedViewType, "strided view type")
GATHER_SCATTER_VIEW = _instance(GatherScatterViewType, "gather/scatter view type")

INT_TILE = tile_of(INTEGERS)
INT_OR_I4_TILE = tile_of((*INTEGERS, "i4"))
I64_TILE = tile_of(("i64",))
I8_TILE = tile_of(("i8",))
I1_TILE = tile_of(("i1",))
EXPONENT_TILE = tile_of(("i1", "i8", "i16", "i32"))
BASE_FLOAT_TILE = tile_of(ARITHMETIC_FLOATS)
FLOAT_TILE = tile_of(FLOATS)
NUMBER_TILE = tile_of(NUMBERS)
NUMBER_OR_I4_TILE = tile_of((*NUMBERS, "i4"))
POINTER_TILE = tile_of(("ptr",))
SCALAR_INT = tile_of(INTEGERS, scalar=True)
SCALAR_I32 = tile_of(("i32",), scalar=True)
SCALAR_I1 = tile_of(("i1",), scalar=True)
SCALAR_POINTER = tile_of(("ptr",), scalar=True)

MMA_FLOATS = ("f16", "bf16", "f32", "f64", "tf32", "f8E4M3FN", "f8E5M2")
MMAF_OPERAND = tile_of(MMA_FLOATS, "mmaf operand tile type")
MMAF_RESULT = tile_of(("f16", "f32", "f64"), "mmaf acc/result tile type")
MMAI_OPERAND = tile_of(("i8",), "mmai operand tile type")
MMAI_ACC = tile_of(("i32",), "mmai acc tile type")
MMAI_RESULT = tile_of(("i32",), "mmai result tile type")
SCALED_OPERAND = tile_of(("f8E4M3FN", "f8E5M2", "f4E2M1FN"), "mmaf_scaled operand tile type")
SCALED_SCALE = tile_of(("f8E4M3FN", "f8E8M0FNU", "f8E5M3FNU"), "mmaf_scaled scale tile type")
SCALED_RESULT = tile_of(("f32",), "mmaf_scaled result tile type")
