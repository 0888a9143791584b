"""Tests of classes in hot loops: one look-up a class, where `isinstance` asks an ABC each time.

`isinstance(x, TensorType)` runs Python code wherever the answer is no, for classes of operations
and attributes are abstract base classes.  In analyses that look at every value it is a tenth of a
compilation.

    SHAPED = Kinds(TensorType, MemRefType)
    if SHAPED[type(x)]: ...
    for loop in instances_in(function, scf.ForOp, scf.WhileOp): ...

Operations of a dialect that few kernels load are given by name, so that none loads it for this.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar, cast

from xdsl.ir import Block, Operation, Region

from tileas_xdsl.diagnostics.walking import operations_in

OpT = TypeVar("OpT")


class Kinds(dict[type, bool]):
    """Whether a class is one of some, or derived from one; remembered by class."""

    def __init__(self, *kinds: type | str) -> None:
        super().__init__()
        self.classes = tuple(kind for kind in kinds if not isinstance(kind, str))
        self.names = frozenset(kind for kind in kinds if isinstance(kind, str))

    def __missing__(self, kind: type) -> bool:
        is_one = issubclass(kind, self.classes) or getattr(kind, "name", None) in self.names
        found = self[kind] = is_one
        return found


def instances_in(root: Operation | Region | Block, *classes: type[OpT]) -> list[OpT]:
    """Return the operations in `root` that are of one of the classes, in the order of the text."""
    kinds = _kinds(classes)
    return cast("list[OpT]", [op for op in operations_in(root) if kinds[type(op)]])


def has_instance(root: Operation | Region | Block, *classes: type) -> bool:
    """Return whether an operation in `root` is of one of the classes."""
    kinds = _kinds(classes)
    if isinstance(root, Operation) and not root.regions:
        return kinds[type(root)]
    return any(map(kinds.__getitem__, map(type, operations_in(root))))


@cache
def _kinds(classes: tuple[type, ...]) -> Kinds:
    return Kinds(*classes)
