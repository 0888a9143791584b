"""What a program must not do, as errors at the operation that does it."""

from __future__ import annotations

from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import OpError, op_error


class UndefinedError(OpError):
    """A program does what the specification of Tile IR leaves undefined, or an assertion fails."""

    printed: str = ""
    """The text that blocks printed before."""


class Undefined(Exception):  # noqa: N818
    """The same where the operation is not known; the text is the end of a sentence about it."""


def located(op: Operation, error: Undefined) -> UndefinedError:
    """The error at an operation."""
    return undefined(op, str(error))


def undefined(op: Operation, text: str) -> UndefinedError:
    """An error at an operation; `text` goes on after its name."""
    return UndefinedError(*op_error(op, text).diagnostics)
