"""Second names of a storage: `T.reshape` and `T.view`, defined beside the buffer that owns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import LocationAttr, MemRefType
from xdsl.ir import Attribute, Block, SSAValue

from tileas_xdsl.dialects.tl.base import Buffer, element_of
from tileas_xdsl.dialects.tl.buffers import ReshapeOp, ViewOp


def view_of(
    owner: SSAValue, shape: Sequence[int], element: Attribute, kernel: Block, line: LocationAttr
) -> SSAValue:
    """The storage of a buffer in another shape, or as other elements.

    It stands after the allocation, for views are none of a loop; those of arguments stand first in
    the kernel.
    """
    space = cast("Buffer", owner.type).memory_space
    type_ = MemRefType(element, shape, memory_space=space)
    made = (ReshapeOp if element == element_of(owner.type) else ViewOp)(owner, type_)
    made.location = line
    if not isinstance(owner.owner, Block):
        block = owner.owner.parent
        assert block is not None
        block.insert_op_after(made, owner.owner)
    elif kernel.first_op is not None:
        kernel.insert_op_before(made, kernel.first_op)
    else:
        kernel.add_op(made)
    return made.buffer
