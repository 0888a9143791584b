"""Tests of classes in hot loops: one look-up a class, where `isinstance` asks an ABC each time.

`isinstance(x, TensorType)` runs Python code wherever the answer is no, for classes of operations
and attributes are abstract base classes.  In analyses that look at every value it is a tenth of a
compilation.

    SHAPED = Kinds(TensorType, MemRefType)
    if SHAPED[type(x)]: ...
"""

from __future__ import annotations


class Kinds(dict[type, bool]):
    """Whether a class is one of some, or derived from one; remembered by class."""

    def __init__(self, *classes: type) -> None:
        super().__init__()
        self.classes = classes

    def __missing__(self, kind: type) -> bool:
        found = self[kind] = issubclass(kind, self.classes)
        return found
