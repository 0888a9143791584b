"""The kinds of semantics that operations have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from tileas_xdsl.interpreters.cuda_tile.numerics.elements import Array

if TYPE_CHECKING:
    from tileas_xdsl.interpreters.cuda_tile.block import Block

Elementwise: TypeAlias = Callable[..., Array]
"""From an operation and arrays of one shape, any shape, to the array of the results.

So the bodies of reductions, which are of scalars, run on all elements at once.
"""

Pure: TypeAlias = Callable[..., Any]
"""From an operation and the values of its operands to that of its only result."""

Stateful: TypeAlias = "Callable[[Block, Any], Sequence[Any]]"
"""From a block and an operation to the values of its results; it asks for operands by name."""
