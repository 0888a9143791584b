"""Register layouts of the same tile with its dimensions in another order."""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.layout.layout import make_layout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout


def permuted_dimensions(layout: RegisterLayout, order: Sequence[int]) -> RegisterLayout:
    """Return the layout of a tile whose dimension `k` becomes the dimension `order[k]`.

    Every element stays in its thread and register; a mode that counts replicas stays last.

    >>> from tileas_xdsl.layout.axes import E
    >>> from tileas_xdsl.layout.layout import Layout
    >>> rows = RegisterLayout(Layout((4, 2), (E("thread"), E("value"))), (4, 2), 4)
    >>> str(permuted_dimensions(rows, (1, 0)).layout)
    '(2,4):(1@value,1@thread)'
    """
    dimensions = [order.index(k) for k in range(len(order))]
    modes = [layout.layout[k] for k in dimensions]
    replicas = tuple(layout.layout)[len(order) :]
    shape = tuple(layout.shape[k] for k in dimensions)
    return RegisterLayout(make_layout(*modes, *replicas), shape, layout.threads)
