"""Register layouts of tiles that gain or lose a unit dimension."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute

from tileas_xdsl.dialects.nv_tileas.attributes import (
    BlockedEncoding,
    DotOperandEncoding,
    LinearEncoding,
    RegisterEncoding,
)
from tileas_xdsl.layout.layout import Layout

_ONE = Layout(1, 0)


def with_dimension(encoding: Attribute, axis: int) -> Attribute | None:
    """The encoding of the same tile with a dimension of extent one before `axis`.

    None where `encoding` is none of registers.
    """
    if not isinstance(encoding, BlockedEncoding | DotOperandEncoding | LinearEncoding):
        return None
    modes = list(encoding.data)
    return _of_modes(encoding, [*modes[:axis], _ONE, *modes[axis:]])


def without_dimension(encoding: Attribute, axis: int) -> Attribute | None:
    """The encoding of the same tile without its dimension `axis`, whose extent is one.

    None where `encoding` is none of registers, or has no such dimension.
    """
    if not isinstance(encoding, BlockedEncoding | DotOperandEncoding | LinearEncoding):
        return None
    modes = list(encoding.data)
    if axis >= len(modes) or modes[axis].size() != 1 or len(modes) == 1:
        return None
    return _of_modes(encoding, [*modes[:axis], *modes[axis + 1 :]])


def _of_modes(like: RegisterEncoding, modes: Sequence[Layout]) -> RegisterEncoding:
    shape = tuple(mode.shape for mode in modes)
    stride = tuple(mode.stride for mode in modes)
    return type(like)(Layout(shape, stride))
