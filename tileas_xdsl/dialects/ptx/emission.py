"""What an operation needs in order to write its instructions: names, lines and labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xdsl.ir import SSAValue


class Writer(Protocol):
    """Where the instructions of an entry go."""

    def names(self, value: SSAValue) -> Sequence[str]:
        """The registers of a value; those of a constant are its literal."""
        ...

    def name(self, value: SSAValue) -> str:
        """The only register of a value, or a literal."""
        ...

    def registers(self, value: SSAValue) -> Sequence[str]:
        """As `names`, where the instruction takes no literal: a constant is moved first."""
        ...

    def register(self, value: SSAValue) -> str:
        """As `name`, where the instruction takes no literal."""
        ...

    def line(self, text: str) -> None:
        """One instruction, without its semicolon."""
        ...

    def fresh(self, kind: str) -> str:
        """A register of `kind` that nothing else uses."""
        ...

    def label(self) -> str:
        """A name for a place in the entry that no other place has."""
        ...

    def place(self, label: str) -> None:
        """Put a label here."""
        ...
