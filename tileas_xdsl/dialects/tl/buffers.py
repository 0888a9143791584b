"""Buffers of a block: in shared memory, spread over threads, or private to each; and views."""

from __future__ import annotations

from dataclasses import InitVar
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import NoMemoryEffect

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.field_plans import ResultType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.tl.attributes import FragmentAttr, SharedAttr
from tileas_xdsl.dialects.tl.base import (
    BUFFER,
    check_static,
    element_of,
    scope_of,
    shape_of,
)
from tileas_xdsl.dialects.tl.checks import (
    check_block_buffer,
    check_in_kernel,
    check_layout,
    check_not_in_loop,
    check_row_major,
    check_shared_layout,
)
from tileas_xdsl.dialects.tl.enums import Space, SpaceAttr
from tileas_xdsl.inference.program import Scope

Buffer: TypeAlias = MemRefType[Attribute]
OptFragment: TypeAlias = fields.Field[FragmentAttr | None, FragmentAttr | None]


def _allocated(space: Space) -> ResultType:
    """The type of a buffer in a memory space, of the shape and elements that are given."""
    return lambda given: MemRefType(given["element"], given["shape"], memory_space=SpaceAttr(space))


class _AllocOp(FieldsOp):
    """Base: a new buffer."""

    shape: InitVar[tuple[int, ...]] = fields.init_var()
    element: InitVar[Attribute] = fields.init_var()

    assembly_format = "attr-dict `:` type($buffer)"


@irdl_op_definition
class AllocSharedOp(_AllocOp):
    """Allocate a buffer in shared memory; `layout` maps its elements to byte offsets."""

    name = "tl.alloc_shared"

    layout: fields.Field[SharedAttr | None, SharedAttr | None] = fields.opt_prop(
        SharedAttr, default=None
    )
    buffer: fields.Result[Buffer] = fields.typed_result(
        BUFFER, type=_allocated(Space.SHARED), init=False
    )

    def verify_(self) -> None:
        check_block_buffer(self, self.buffer.type, Scope.SHARED)
        check_not_in_loop(self)
        check_in_kernel(self)
        if self.layout is not None:
            check_shared_layout(self, self.layout.data, self.buffer.type)


@irdl_op_definition
class AllocFragmentOp(_AllocOp):
    """Allocate a buffer in registers; `layout` maps elements to threads and slots."""

    name = "tl.alloc_fragment"

    layout: OptFragment = fields.opt_prop(FragmentAttr, default=None)
    buffer: fields.Result[Buffer] = fields.typed_result(
        BUFFER, type=_allocated(Space.FRAGMENT), init=False
    )

    def verify_(self) -> None:
        check_block_buffer(self, self.buffer.type, Scope.FRAGMENT)
        check_not_in_loop(self)
        kernel = check_in_kernel(self)
        check_layout(self, self.layout, shape_of(self.buffer.type), kernel.thread_count)


@irdl_op_definition
class AllocLocalOp(_AllocOp):
    """Allocate a buffer private to each thread; in a parallel loop, to each iteration.

    Writes of an iteration are visible neither to other iterations nor after the loop.
    """

    name = "tl.alloc_local"

    buffer: fields.Result[Buffer] = fields.typed_result(
        BUFFER, type=_allocated(Space.LOCAL), init=False
    )

    def verify_(self) -> None:
        check_block_buffer(self, self.buffer.type, Scope.LOCAL)
        check_in_kernel(self)


class _AliasOp(FieldsOp):
    """Base: another buffer of the same storage, the row-major bits of `source`."""

    source: fields.Operand = fields.operand(BUFFER)
    buffer: fields.Result[Buffer] = fields.typed_result(BUFFER, alias="result_type")
    layout: OptFragment = fields.opt_prop(FragmentAttr, default=None)

    traits = traits_def(NoMemoryEffect())
    assembly_format = "$source attr-dict `:` type($source) `to` type($buffer)"

    def check_alias(self) -> None:
        """Check an alias: the same memory, of known extents, and as many bits."""
        source, result = self.source.type, self.buffer.type
        for what, type_ in (("a source", source), ("a result", result)):
            check_static(self, what, type_)
            check_row_major(self, type_)
        check_not_in_loop(self)
        kernel = check_in_kernel(self)
        if (scope := scope_of(source)) is None or scope is not scope_of(result):
            raise op_error(self, f"shows the same memory, not {result} for {source}")
        if scope is not Scope.GLOBAL:
            check_block_buffer(self, result, scope)
        sizes = [prod(shape_of(t)) * bits_of(element_of(t)) for t in (source, result)]
        if sizes[0] != sizes[1]:
            raise op_error(self, f"has {sizes[0]} bits in {source}, but {sizes[1]} in {result}")
        if self.layout is not None and scope is not Scope.FRAGMENT:
            raise op_error(self, f"has a layout of its own for a fragment only, not for {result}")
        check_layout(self, self.layout, shape_of(result), kernel.thread_count)


@irdl_op_definition
class ReshapeOp(_AliasOp):
    """The same elements, row-major, in another shape: a second name of one storage."""

    name = "tl.reshape"

    def verify_(self) -> None:
        source, result = element_of(self.source.type), element_of(self.buffer.type)
        if source != result:
            raise op_error(self, f"keeps elements of {source}, not {result}: tl.view reads others")
        self.check_alias()


@irdl_op_definition
class ViewOp(_AliasOp):
    """The same bits, row-major, as elements of another type: a second name of one storage."""

    name = "tl.view"

    def verify_(self) -> None:
        self.check_alias()


def storage_of(buffer: SSAValue) -> SSAValue:
    """The buffer that owns the memory: the source of views, or the buffer itself."""
    while isinstance(op := buffer.owner, _AliasOp):
        buffer = op.source
    return buffer
