"""Printers that are told where in the text an operation begins."""

from __future__ import annotations

from abc import ABC, abstractmethod

from xdsl.ir import Operation


class NotesOperations(ABC):
    """A printer that wants to know of each operation when its text begins.

    `Printer.print_op` is where most begin.  Whatever prints operations without it tells such a
    printer itself.
    """

    @abstractmethod
    def note_operation(self, op: Operation) -> None:
        """Note that what is printed next is the text of `op`."""
