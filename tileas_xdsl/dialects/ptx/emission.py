"""What an operation needs in order to write its instructions: names, lines and labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    def put_label(self, label: str) -> None:
        """Put a label here."""
        ...


def opcode_of(line: str) -> str:
    """Return the opcode of an instruction, `add.u32` of `@%p1 add.u32 %r1, %r2, %r3`."""
    words = line.split(" ", 2)
    return words[1] if words[0][0] == "@" else words[0]


class OpcodeRecorder:
    """A writer that keeps the opcodes of what is written; registers have no names of their own."""

    def __init__(self, count_of: Callable[[SSAValue], int]) -> None:
        self.opcodes: list[str] = []
        self._count_of = count_of

    def names(self, value: SSAValue) -> Sequence[str]:
        """Return a name for each register."""
        return ("%r",) * self._count_of(value)

    registers = names

    def name(self, value: SSAValue) -> str:
        """Return the name of every register."""
        return "%r"

    register = name

    def line(self, text: str) -> None:
        """Keep the opcode; directives have none."""
        if text[0] not in ".{}":
            self.opcodes.append(opcode_of(text))

    def fresh(self, kind: str) -> str:
        """Return the name of every register."""
        return "%r"

    def label(self) -> str:
        """Return a label."""
        return "$L"

    def put_label(self, label: str) -> None:
        """Labels are no instructions."""
