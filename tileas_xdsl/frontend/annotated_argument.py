"""An argument of a launch with its annotation, and the errors of arguments that cannot be taken."""

from __future__ import annotations

from dataclasses import replace
from math import gcd
from typing import Any, NoReturn, TypeAlias

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Location, Severity, diagnostic


class ArgumentTypeError(DiagnosticError, TypeError):
    """An argument of a type that the kernel does not take."""


class ArgumentValueError(DiagnosticError, ValueError):
    """An argument that contradicts an annotation or another argument."""


class ArgumentOverflowError(DiagnosticError, OverflowError):
    """A number that does not fit the width which the kernel computes it in."""


Faults: TypeAlias = type[ArgumentTypeError] | type[ArgumentValueError] | type[ArgumentOverflowError]


@dataclass(frozen=True)
class Argument:
    """An argument, where it is in those of the launch, and the annotation of its parameter."""

    name: str
    title: str
    """As cuTile names it: `item #1 of kernel argument #0`."""
    annotation: Any
    location: Location
    is_dispatched: bool
    """Whether the rules are those of cuTile's dispatcher."""

    def divisor(self, number: int, most: int, least: int | None = None) -> int:
        """Return what is known to divide a number, at most `most`, a power of two.

        The dispatcher asks for all of it, or for `least` at the least.
        """
        found = gcd(number, most)
        return found if not self.is_dispatched or found >= (least or most) else 1

    def fail(self, error: Faults, message: str) -> NoReturn:
        """Raise an error that is located at the parameter."""
        raise error(diagnostic(Severity.ERROR, message, self.location))

    def reject(self, message: str) -> NoReturn:
        """Raise for an argument of a wrong type."""
        self.fail(ArgumentTypeError, f"Invalid {self.title}: {message} (parameter '{self.name}')")

    def item(self, index: int, annotation: Any) -> Argument:
        """Return the argument that an item of a tuple is."""
        title = f"item #{index} of {self.title}"
        name = f"{self.name}[{index}]"
        return replace(self, name=name, title=title, annotation=annotation)
