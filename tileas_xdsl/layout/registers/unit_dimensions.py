"""Register layouts of the same tile with other dimensions of extent 1."""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.operations.modes import TRIVIAL
from tileas_xdsl.layout.registers.register_layout import RegisterLayout


def with_units(layout: Layout, shape: Sequence[int], wanted: Sequence[int]) -> Layout | None:
    """Return the layout of a tile of `shape` seen as one of extents `wanted`.

    A mode that counts replicas stays last.  None where more than dimensions of extent 1 differ.

    >>> str(with_units(Layout((4, 8), (1, 4)), (4, 8), (1, 4, 1, 8)))
    '(1,4,1,8):(0,1,0,4)'
    """
    modes = [layout[k] for k, extent in enumerate(shape) if extent != 1]
    if [extent for extent in shape if extent != 1] != [extent for extent in wanted if extent != 1]:
        return None
    rest = iter(modes)
    seen = [TRIVIAL if extent == 1 else next(rest) for extent in wanted]
    return make_layout(*seen, *tuple(layout)[len(shape) :])


def as_matrix(layout: RegisterLayout) -> RegisterLayout:
    """Return the layout of a tile without its leading dimensions of extent 1, down to a matrix."""
    shape = layout.shape
    while len(shape) > 2 and shape[0] == 1:
        shape = shape[1:]
    if shape == layout.shape:
        return layout
    found = with_units(layout.layout, layout.shape, shape)
    assert found is not None
    return RegisterLayout(found, shape, layout.threads)
