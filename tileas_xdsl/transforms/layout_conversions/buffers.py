"""Backwards from conversions of buffers: the producer makes its tile in the layout asked for.

Shared memory and tensor memory carry their layout in the type of what is made there, so that this
is a change of one result.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, Operation, SSAValue, Use

from tileas_xdsl.analysis.layouts.layout_flow import (
    encoding_of,
    is_pinned_between,
    is_retypable,
    may_be_storage,
)
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.attributes import SharedEncoding
from tileas_xdsl.dialects.nv_tileas.enums import SpaceAttr
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import ON_CHIP, Tile, space_of
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.transforms.layout_conversions.failures import Failures
from tileas_xdsl.transforms.layout_conversions.retype import RefusedRetypeError, Retyping
from tileas_xdsl.transforms.layout_conversions.web import as_conversion


def propagate_buffer_layouts(root: Operation, failures: Failures) -> bool:
    """Retype the producers of what is converted inside a buffer; True if the IR changed."""
    changed = False
    for op in operations_in(root):
        conversion = as_conversion(op)
        if conversion is None or op in failures or not _is_absorbed(conversion):
            continue
        try:
            _absorb(conversion)
            changed = True
        except RefusedRetypeError as refused:
            text = message("remove_layout_conversions.buffers")
            failures.add(conversion, text, refused.errors)
            failures.leave(use.operation for use in conversion.source.uses)
    return changed


def _is_absorbed(conversion: ConvertLayoutOp) -> bool:
    """Whether the producer can make its tile as the conversion gives it, at no harm for others."""
    source, space = conversion.source, space_of(conversion.source.type)
    producer = source.owner
    if space not in ON_CHIP or space is not space_of(conversion.result.type):
        return False
    if source.type == conversion.result.type or not isinstance(producer, Operation):
        return False
    if not is_retypable(producer, space) or is_pinned_between(producer, conversion):
        return False
    if may_be_storage(source) and _is_read_later(conversion):
        return False
    return not _others(conversion) or _is_shown_by_view(source.type, conversion.result.type)


def _is_read_later(conversion: ConvertLayoutOp) -> bool:
    """Whether what the conversion gives is used where the buffer may have been written again."""
    uses = conversion.result.uses
    return any(is_pinned_between(conversion, use.operation) for use in uses)


def _others(conversion: ConvertLayoutOp) -> list[Use]:
    """The other uses of the source that need it as it was laid out; conversions do not."""
    return [use for use in conversion.source.uses if as_conversion(use.operation) is None]


def _is_shown_by_view(old: Tile, new: Tile) -> bool:
    """Whether a view of the buffer as it is laid out now can show it as it was.

    A view moves nothing: elements must be at the same addresses, or the old type leaves them open.
    """
    before, after = old.encoding, new.encoding
    if isinstance(before, SpaceAttr):
        return True
    element = old.element_type
    if not isinstance(before, SharedEncoding) or not isinstance(after, SharedEncoding):
        return False
    if not isinstance(element, FixedBitwidthType) or before.data.elem != after.data.elem:
        return False
    bits = element.bitwidth
    try:
        one, other = before.data.bit_addresses(bits), after.data.bit_addresses(bits)
    except LayoutError:
        return False
    return bool(np.array_equal(one.reshape(-1, order="F"), other.reshape(-1, order="F")))


def _absorb(conversion: ConvertLayoutOp) -> None:
    """Retype the producer, show the tile to others through a view, and drop the conversion."""
    source, retyping = conversion.source, Retyping()
    old, others = source.type, _others(conversion)
    encoding = encoding_of(conversion.result.type)
    assert encoding is not None
    retyping.retype(source, encoding)
    if others:
        retyping.redirect(others, _view_after(source, old, retyping))
    retyping.redirect(list(conversion.result.uses), source)
    retyping.abandon(conversion)
    retyping.commit()


def _view_after(source: SSAValue, type_: Attribute, retyping: Retyping) -> SSAValue:
    producer = source.owner
    assert isinstance(producer, Operation)
    view = ViewOp(source, type_)
    retyping.insert_after(source, view, producer)
    return view.result
