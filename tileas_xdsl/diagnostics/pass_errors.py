"""Whatever a pass raises becomes a located diagnostic; a traceback is for those who ask for one."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager

from xdsl.ir import Operation
from xdsl.utils.exceptions import (
    ArgSpecParseError,
    DiagnosticException,
    ParseError,
    ShrinkException,
)

from tileas_xdsl.deep_stack import is_deep
from tileas_xdsl.diagnostics.emission import BrokenPassError, OpError, op_error
from tileas_xdsl.diagnostics.environment import is_set
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.locations import location_of

TRACEBACK_VARIABLE = "TILEAS_TRACEBACK"
"""Set this environment variable to 1 to see the Python traceback of an internal error."""


@contextmanager
def located_failures(where: str, module: Operation) -> Generator[None]:
    """Run a pass or a target inside `with`: what it raises leaves as a `DiagnosticError`.

    The place is that of the operation the pass was working on, else that of the module.  An
    exception that is not meant for users (`is_for_users` of its class says so) is a bug: an
    internal error in `where` ("pass 'x'").
    """
    try:
        yield
    except (DiagnosticError, ShrinkException):
        raise
    except RecursionError as error:
        if not is_deep():  # Who compiles does so again where there is more room.
            raise
        raise internal_error(where, operation_in_flight(error, module), error) from error
    except (DiagnosticException, ParseError) as error:
        op = operation_in_flight(error, module)
        message = error.msg if isinstance(error, ParseError) else str(error)
        raise op_error(op, message, prefix=op is not module) from error
    except (Exception, ArgSpecParseError) as error:
        op = operation_in_flight(error, module)
        if getattr(error, "is_for_users", False):
            raise op_error(op, str(error), prefix=op is not module) from error
        raise internal_error(where, op, error) from error


INTERNAL = "internal error in"
"""How the sentence for a bug begins."""


def internal_error(where: str, op: Operation, error: BaseException) -> OpError:
    """The error to raise for a bug in `where` that showed at `op`, or in a module without a place.

    Such a module's error is at the first operation in it that has one: its kernel, if it has one.
    """
    place = location_of(op) or next(filter(None, map(location_of, op.walk())), None)
    found = op_error(place, internal_error_text(where, error), prefix=False)
    return BrokenPassError(*found.diagnostics)


def internal_error_text(where: str, error: BaseException) -> str:
    """The sentence for a bug in `where`; prints the traceback if `TILEAS_TRACEBACK` asks for it."""
    text = f"{INTERNAL} {where}: {type(error).__name__}: {error}"
    if not is_set(TRACEBACK_VARIABLE):
        return f"{text} (set {TRACEBACK_VARIABLE}=1 for the traceback)"
    traceback.print_exception(error, file=sys.stderr)
    return text


def operation_in_flight(error: BaseException, module: Operation) -> Operation:
    """The operation named `op` in the innermost frame that has one, else `module`.

    Patterns, verifiers and passes call it `op` throughout xDSL, and the exception does not say.
    """
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        op = frame.f_locals.get("op")
        if isinstance(op, Operation) and op is not module and location_of(op) is not None:
            return op
    return module
