"""Control and metadata: ends of tile bodies, optimiser directives, the next block and grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr, i1, i32
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    opt_prop_def,
    opt_region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsTerminator, MemoryReadEffect, MemoryWriteEffect, Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import AT_LEAST_1, keyword_among, number_among
from tileas_xdsl.dialects.field_init import init_of_groups
from tileas_xdsl.dialects.nv_tileas.enums import (
    MemScopeAttr,
    MemSemantic,
    MemSemanticAttr,
)
from tileas_xdsl.dialects.nv_tileas.interfaces import MemoryConsistency
from tileas_xdsl.dialects.nv_tileas.memory.arguments import (
    OptScope,
    Semantic,
    scope_attribute,
    semantic_attribute,
)
from tileas_xdsl.dialects.nv_tileas.memory.checks import check_tokens
from tileas_xdsl.dialects.nv_tileas.pipelines.base import Operand, types_text
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import delivered_types, expect_async_token
from tileas_xdsl.dialects.nv_tileas.syntax.directives import Ordering
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType

YIELDING = frozenset(
    {"nv_tileas.reduce", "nv_tileas.scan", "nv_tileas.generate", "nv_tileas.pragma"}
)
"""The operations whose bodies end with `nv_tileas.yield`."""

MAX_AXES = 3
"""The axes of a grid, at most."""


@tileas_op
class YieldOp(TileasOp):
    """The end of the body of `reduce`, `scan`, `generate` or `pragma`, and what it gives."""

    name = "nv_tileas.yield"

    arguments = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"

    def __init__(self, *arguments: Operand) -> None:
        init_of_groups(self, operands=[arguments])

    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is not None and parent.name not in YIELDING:
            text = "ends the body of a reduce, scan, generate or pragma"
            raise op_error(self, f"{text}, not of '{name_of(parent)}'")


_DIRECTIVES = ("ocgEnterDirectives", "ocgLeaveDirectives")


@tileas_op
class PragmaOp(TileasOp):
    """Directives for the compiler of the machine code.

    With a body they hold for its operations: those of `ocgEnterDirectives` from its entry, those of
    `ocgLeaveDirectives` from its end; results are what the body yields.  Without one they hold from
    here on, and another pragma ends them.
    """

    name = "nv_tileas.pragma"

    values = var_result_def()
    body = opt_region_def()
    enter_directives = opt_prop_def(prop_name="ocgEnterDirectives")
    leave_directives = opt_prop_def(prop_name="ocgLeaveDirectives")

    assembly_format = "attr-dict (`->` type($values)^)? ($body^)?"

    def __init__(
        self,
        enter: str | Sequence[str] | None = None,
        leave: str | Sequence[str] | None = None,
        *,
        body: Region | None = None,
    ) -> None:
        last = None if body is None or body.blocks.last is None else body.blocks.last.last_op
        init_of_groups(
            self,
            result_types=[[value.type for value in last.operands] if last else []],
            properties={
                "ocgEnterDirectives": _directives(enter),
                "ocgLeaveDirectives": _directives(leave),
            },
            regions=[body],
        )

    def check_structure(self) -> None:
        given = [name for name in _DIRECTIVES if name in self.properties]
        if not given:
            raise op_error(self, f"needs {' or '.join(_DIRECTIVES)}")
        for name in given:
            if not _are_directives(value := self.properties[name]):
                raise op_error(self, f"{name} is a string or a list of strings, not {value}")
        if len(self.regions) > 1:
            raise op_error(self, f"has at most one body, but got {len(self.regions)}")
        for region in self.regions:
            if (blocks := len(region.blocks)) != 1:
                raise op_error(self, f"has a body of one block, but got {blocks}")

    def verify_(self) -> None:
        results = [result.type for result in self.values]
        if self.body is None:
            if results:
                raise op_error(self, "has results, but no body that yields them")
            return
        block = self.body.block
        if block.args:
            raise op_error(self, f"gives its body no arguments, but it takes {len(block.args)}")
        last = block.last_op
        if not isinstance(last, YieldOp):
            raise op_error(self, f"has a body that ends with '{YieldOp.name}'")
        if (yielded := [value.type for value in last.operands]) != results:
            text = f"gives [{types_text(results)}], but its body yields"
            raise op_error(self, f"{text} [{types_text(yielded)}]")


def _are_directives(value: Attribute) -> bool:
    if not isinstance(value, ArrayAttr):
        return isinstance(value, StringAttr)
    return all(isinstance(item, StringAttr) for item in cast("ArrayAttr[Attribute]", value))


def _directives(given: str | Sequence[str] | None) -> Attribute | None:
    if given is None:
        return None
    if isinstance(given, str):
        return StringAttr(given)
    return ArrayAttr([StringAttr(directive) for directive in given])


@tileas_op
class CancelNextProgramIdOp(TileasOp):
    """Cancel the launch of a pending block and take over its program ids, if there is one.

    `%x, %y, %found = nv_tileas.cancel_next_program_id : i32, i32, i1`; one id for each axis that
    the kernel uses.  Without the last result, the first id is queried for validity.
    """

    name = "nv_tileas.cancel_next_program_id"

    taken = var_result_def()

    assembly_format = "attr-dict `:` type($taken)"

    def __init__(self, axes: int = 1, *, with_validity: bool = True) -> None:
        init_of_groups(self, result_types=[claim_types(axes, with_validity=with_validity)])

    @property
    def program_ids(self) -> Sequence[SSAValue]:
        """The ids, one for each axis."""
        return [value for value in self.taken if value.type == i32]

    @property
    def valid(self) -> SSAValue | None:
        """The flag that a block was cancelled; None if it is not requested."""
        return next((value for value in self.taken if value.type == i1), None)

    def verify_(self) -> None:
        _check_claim(self, [value.type for value in self.taken])


@tileas_op
class AsyncCancelNextProgramIdOp(TileasOp):
    """Request to cancel a pending block; the token delivers the answer, if typed.

    The payload is that of `cancel_next_program_id`: `!nv_tileas.token<tuple<i32, i1>>`.
    """

    name = "nv_tileas.async.cancel_next_program_id"

    token: fields.ComputedResult[AsyncTokenType] = fields.typed_result(
        AsyncTokenType, type=AsyncTokenType(), default=None, alias="token_type"
    )

    assembly_format = "attr-dict `:` type($token)"

    def check_structure(self) -> None:
        expect_async_token(self)

    def verify_(self) -> None:
        if types := delivered_types(self.token.type):
            _check_claim(self, types)


@tileas_op
class AsyncNextTileBlockOp(TileasOp):
    """Take a tile block that no CTA of the launch has taken; the token delivers its ids, from x on.

    The first id is -1 where all are taken.  CTA `c` of `n` has `c`, `c + n`, ... of the first
    `rounds` rounds by its number.  It asks once in each round, and in front of the first one as
    often as it knows a round ahead: so many requests leave the counter of a launch as they found
    it.
    """

    name = "nv_tileas.async.next_tile_block"

    rounds: fields.Int = fields.prop(
        number_among(i32, AT_LEAST_1, "is behind 1 round or more, not {given}")
    )
    token: fields.ComputedResult[AsyncTokenType] = fields.typed_result(AsyncTokenType)

    assembly_format = "attr-dict `:` type($token)"

    def verify_(self) -> None:
        types = delivered_types(self.token.type)
        if not 1 <= len(types) <= MAX_AXES or any(type_ != i32 for type_ in types):
            text = f"delivers one to {MAX_AXES} ids of type i32"
            raise op_error(self, f"{text}, but got ({types_text(types)})")


def claim_types(axes: int, *, with_validity: bool) -> Sequence[Attribute]:
    """Result types of a cancellation: program ids, then a flag."""
    return [i32] * axes + [i1] * with_validity


def _check_claim(op: TileasOp, types: Sequence[Attribute]) -> None:
    ids = types[:-1] if types and types[-1] == i1 else types
    if not 1 <= len(ids) <= MAX_AXES or any(type_ != i32 for type_ in ids):
        text = f"gives one to {MAX_AXES} program ids of type i32, then perhaps an i1"
        raise op_error(op, f"{text}, but got ({types_text(types)})")


GRID_ACTIONS = ("wait", "launch_dependents")


@tileas_op
class GridDependencyOp(TileasOp):
    """Order the grids of a stream where a launch lets the next one start early.

    `wait` ends when the grids that this one depends on have completed and all that they wrote is
    visible.  After `launch_dependents` in all of its blocks, grids that depend on this one may
    start; what this one wrote is not visible to them yet.
    """

    name = "nv_tileas.grid_dependency"

    action: fields.String = fields.prop(
        keyword_among(GRID_ACTIONS, "has no action '{given}'; there are {known}")
    )
    token: fields.OptOperand = fields.opt_operand(default=None)
    out_token: fields.OptResult = fields.opt_typed_result(type=fields.type_of("token"))

    traits = traits_def(MemoryConsistency(), MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$action (`after` $token^ `:` type($token))? attr-dict (`->` type($out_token)^)?"
    )

    def verify_(self) -> None:
        check_tokens(self, self.token, self.out_token)


@tileas_op
class FenceAliasOp(TileasOp):
    """Order accesses to memory that is mapped at several addresses: those before have completed."""

    name = "nv_tileas.fence_alias"

    token: fields.OptOperand = fields.opt_operand(default=None)
    out_token: fields.OptResult = fields.opt_typed_result(type=fields.type_of("token"))

    traits = traits_def(MemoryConsistency(), MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "(`after` $token^ `:` type($token))? attr-dict (`->` type($out_token)^)?"

    def verify_(self) -> None:
        check_tokens(self, self.token, self.out_token)


FENCES = (MemSemantic.ACQUIRE, MemSemantic.RELEASE, MemSemantic.ACQ_REL)


@tileas_op
class FenceOp(TileasOp):
    """Order relaxed accesses to tiles against others of the block: PTX's fence patterns.

    Relaxed stores after a fence that releases publish what is before it; a fence that acquires
    has after it what the relaxed loads before it saw published:

        nv_tileas.fence release gpu             %x = nv_tileas.tiled_load %flags[%i] relaxed gpu
        nv_tileas.tiled_store ... relaxed gpu   nv_tileas.fence acquire gpu
    """

    name = "nv_tileas.fence"

    mem_semantic: Semantic = fields.prop(
        MemSemanticAttr, convert=semantic_attribute, alias="semantic"
    )
    mem_scope: OptScope = fields.opt_prop(MemScopeAttr, convert=scope_attribute, alias="scope")
    token: fields.OptOperand = fields.opt_operand(default=None)
    out_token: fields.OptResult = fields.opt_typed_result(type=fields.type_of("token"))

    traits = traits_def(MemoryConsistency(), MemoryReadEffect(), MemoryWriteEffect())
    custom_directives = (Ordering,)
    assembly_format = (
        "custom<Ordering>($mem_semantic, $mem_scope) (`after` $token^ `:` type($token))?"
        " attr-dict (`->` type($out_token)^)?"
    )

    def verify_(self) -> None:
        if self.mem_semantic.data not in FENCES:
            listed = ", ".join(semantic.value for semantic in FENCES)
            text = f"orders nothing as {self.mem_semantic.data.value}; there are {listed}"
            raise op_error(self, text)
        if self.mem_scope is None:
            raise op_error(self, message("nv_tileas.mem_scope.missing"))
        check_tokens(self, self.token, self.out_token)
