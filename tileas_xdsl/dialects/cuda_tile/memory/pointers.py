"""Memory through tiles of pointers: addresses, gathers, scatters, and the tokens between them."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
from tileas_xdsl.dialects.cuda_tile.constraints import (
    I1_TILE,
    INT_TILE,
    NUMBER_TILE,
    POINTER_TILE,
    SCALAR_POINTER,
    TILE,
    TOKEN,
)
from tileas_xdsl.dialects.cuda_tile.enums import MemoryOrderingSemanticsAttr, MemoryScopeAttr
from tileas_xdsl.dialects.cuda_tile.hints import OF_POINTER_ACCESS, OptimizationHintsAttr
from tileas_xdsl.dialects.cuda_tile.matches import (
    SAME_SHAPES,
    points_to,
    same_shape_if_there,
    same_type,
    same_type_if_there,
)
from tileas_xdsl.dialects.cuda_tile.memory.access_checks import (
    check_alignment,
    check_hints,
    check_load_order,
    check_store_order,
)
from tileas_xdsl.dialects.cuda_tile.memory.access_directives import (
    Access,
    Hints,
    ImplicitTokens,
    JoinedTokens,
    SpacedTokenIn,
    TokenIn,
)
from tileas_xdsl.dialects.cuda_tile.syntax.directives import OptionalType, Type


@cuda_tile_op
class OffsetOp(CudaTileOp):
    """Each address moved by a number of elements, which is read as signed."""

    name = "cuda_tile.offset"

    ptr = operand_def(POINTER_TILE)
    offset = operand_def(INT_TILE)
    result = result_def(POINTER_TILE)

    traits = traits_def(Pure())
    custom_directives = (Type,)
    MATCHES: ClassVar = (same_type("result", "ptr"), SAME_SHAPES)
    assembly_format = (
        "$ptr `,` $offset attr-dict `:` custom<Type>(type($ptr)) `,` custom<Type>(type($offset))"
        " `->` custom<Type>(type($result))"
    )


@cuda_tile_op
class LoadPtrTkoOp(CudaTileOp):
    """A tile gathered from addresses; where `mask` does not hold it is `paddingValue`."""

    name = "cuda_tile.load_ptr_tko"

    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = opt_prop_def(MemoryScopeAttr)
    source = operand_def(POINTER_TILE)
    mask = opt_operand_def(I1_TILE)
    padding_value = opt_operand_def(NUMBER_TILE)
    token = opt_operand_def(TOKEN)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    result = result_def(TILE)
    result_token = result_def(TOKEN)

    custom_directives = (Access, Hints, OptionalType, TokenIn, Type)
    MATCHES: ClassVar = (
        points_to("source", "result", "cuda_tile.load.pointer_type"),
        same_shape_if_there("mask", "source", "cuda_tile.load.mask_shape"),
        same_type_if_there("padding_value", "result", "cuda_tile.load.padding_type"),
    )
    assembly_format = (
        "custom<Access>($memory_ordering_semantics, $memory_scope) $source (`,` $mask^)?"
        " (`,` $padding_value^)? custom<TokenIn>($token, type($token))"
        " custom<Hints>($optimization_hints) attr-dict `:` custom<Type>(type($source))"
        " custom<OptionalType>(type($mask)) custom<OptionalType>(type($padding_value))"
        " `->` custom<Type>(type($result)) `,` custom<Type>(type($result_token))"
    )

    def check(self) -> None:
        check_hints(self, OF_POINTER_ACCESS)
        check_load_order(self)


@cuda_tile_op
class StorePtrTkoOp(CudaTileOp):
    """A tile scattered to addresses where `mask` holds."""

    name = "cuda_tile.store_ptr_tko"

    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = opt_prop_def(MemoryScopeAttr)
    destination = operand_def(POINTER_TILE)
    value = operand_def(TILE)
    mask = opt_operand_def(I1_TILE)
    token = opt_operand_def(TOKEN)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    result_token = result_def(TOKEN)

    custom_directives = (Access, Hints, OptionalType, TokenIn, Type)
    MATCHES: ClassVar = (
        points_to("destination", "value", "cuda_tile.store.pointer_type"),
        same_shape_if_there("mask", "destination", "cuda_tile.store.mask_shape"),
    )
    assembly_format = (
        "custom<Access>($memory_ordering_semantics, $memory_scope) $destination `,` $value"
        " (`,` $mask^)? custom<TokenIn>($token, type($token)) custom<Hints>($optimization_hints)"
        " attr-dict `:` custom<Type>(type($destination)) `,` custom<Type>(type($value))"
        " custom<OptionalType>(type($mask)) `->` custom<Type>(type($result_token))"
    )

    def check(self) -> None:
        check_hints(self, OF_POINTER_ACCESS)
        check_store_order(self)


@cuda_tile_op
class AllocaOp(CudaTileOp):
    """Memory that lives as long as the block; others may use it too if it is `global`."""

    name = "cuda_tile.alloca"

    num_elem = prop_def(IntegerAttr.constr(i64))
    alignment = prop_def(IntegerAttr.constr(i64))
    is_global = opt_prop_def(UnitAttr, prop_name="global")
    result = result_def(SCALAR_POINTER)

    custom_directives = (Type,)
    assembly_format = (
        "`num_elem` `=` $num_elem `,` `alignment` `=` $alignment (`global` $global^)?"
        " attr-dict `:` custom<Type>(type($result))"
    )

    def check(self) -> None:
        check_alignment(self)


@cuda_tile_op
class MakeTokenOp(CudaTileOp):
    """A token that depends on nothing."""

    name = "cuda_tile.make_token"

    result = result_def(TOKEN)

    traits = traits_def(Pure())
    custom_directives = (Type,)
    assembly_format = "attr-dict `:` custom<Type>(type($result))"


@cuda_tile_op
class JoinTokensOp(CudaTileOp):
    """A token that depends on all of several."""

    name = "cuda_tile.join_tokens"

    tokens = var_operand_def(TOKEN)
    result = result_def(TOKEN)

    traits = traits_def(Pure())
    custom_directives = (JoinedTokens,)
    assembly_format = "$tokens attr-dict `:` custom<JoinedTokens>(type($tokens), type($result))"

    def check(self) -> None:
        if len(self.tokens) < 2:
            raise self.refuse("cuda_tile.join.tokens_count")


@cuda_tile_op
class MemoryFenceAliasTkoOp(CudaTileOp):
    """What came before has completed, also where it used the memory by another address."""

    name = "cuda_tile.memory_fence_alias_tko"

    token = operand_def(TOKEN)
    result_token = result_def(TOKEN)

    custom_directives = (ImplicitTokens,)
    assembly_format = "$token attr-dict custom<ImplicitTokens>(type($token), type($result_token))"


class GridDependencyOp(CudaTileOp):
    """The order of this kernel and another one of the same stream."""

    token = opt_operand_def(TOKEN)
    result_token = result_def(TOKEN)

    custom_directives = (SpacedTokenIn, Type)


_DEPENDENCY = (
    "custom<SpacedTokenIn>($token, type($token)) attr-dict `->` custom<Type>(type($result_token))"
)


@cuda_tile_op
class GdcLaunchDependentsTkoOp(GridDependencyOp):
    """Kernels that depend on this one may be launched once all blocks came here."""

    name = "cuda_tile.gdc_launch_dependents_tko"
    assembly_format = _DEPENDENCY


@cuda_tile_op
class GdcWaitTkoOp(GridDependencyOp):
    """Wait until the previous kernel in the stream has completed and its stores are visible."""

    name = "cuda_tile.gdc_wait_tko"
    assembly_format = _DEPENDENCY
