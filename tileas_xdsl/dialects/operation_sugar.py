"""Names of operations that are read and mean another operation.

A subclass of `OperationSugar` is there for the parser only: reading its name, in custom or generic
form, builds the operation that is meant, so that none of it is ever in a module.
"""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.ir import Operation
from xdsl.parser import Parser


class OperationSugar(Operation):
    """A name that is read as `MEANS`."""

    MEANS: ClassVar[type[Operation]]

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """Return the operation that is meant, from the text after the name."""
        return cls.MEANS.parse(parser)

    @classmethod
    def create(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the operation that is meant, from the parts of its generic form."""
        return cls.MEANS.create(*args, **kwargs)
