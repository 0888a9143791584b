"""Writing numbers, tables and sections: what `cursor`, `tables` and `sections` read."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, TypeVar

from tileas_xdsl.frontend.bytecode.layout import ALIGNED, ALIGNMENT, PADDING, Section

_K = TypeVar("_K", bound=Hashable)


class Output(bytearray):
    """Bytes under construction; offsets count from their beginning."""

    def varint(self, value: int) -> None:
        """An unsigned number: seven bits a byte, the lowest first."""
        while value > 0x7F:
            self.append(value & 0x7F | 0x80)
            value >>= 7
        self.append(value)

    def signed(self, value: int) -> None:
        """A signed number whose sign is the lowest bit."""
        self.varint(value << 1 if value >= 0 else ~(value << 1))

    def varints(self, values: Sequence[int]) -> None:
        """Unsigned numbers after their count."""
        self.varint(len(values))
        for value in values:
            self.varint(value)

    def fixed(self, value: int, width: int) -> None:
        """An unsigned little-endian number of so many bytes."""
        self += value.to_bytes(width, "little")

    def integers(self, values: Sequence[int], width: int) -> None:
        """Signed little-endian numbers of so many bytes each, after their count."""
        self.varint(len(values))
        for value in values:
            self += value.to_bytes(width, "little", signed=True)

    def pad(self, alignment: int) -> None:
        """Fill up to a multiple of so many bytes."""
        self += bytes([PADDING]) * (-len(self) % alignment)

    def table(self, entries: Sequence[bytes], width: int) -> None:
        """A table whose offsets are of `width` bytes."""
        self.varint(len(entries))
        self.pad(width)
        offset = 0
        for entry in entries:
            self.fixed(offset, width)
            offset += len(entry)
        for entry in entries:
            self += entry

    def section(self, section: Section, payload: bytes | bytearray) -> None:
        """A whole section, aligned as it must be."""
        alignment = ALIGNMENT.get(section, 1)
        self.append(section | (ALIGNED if alignment > 1 else 0))
        self.varint(len(payload))
        if alignment > 1:
            self.varint(alignment)
            self.pad(alignment)
        self += payload


class Numbering(Generic[_K]):
    """Assign ids to objects in the order of their first use."""

    def __init__(self, first: int = 0, known: Iterable[_K] = ()) -> None:
        self._first = first
        self._numbers = {key: first + index for index, key in enumerate(known)}

    def __getitem__(self, key: _K) -> int:
        return self._numbers.setdefault(key, self._first + len(self._numbers))

    def __len__(self) -> int:
        return len(self._numbers)

    def in_order(self) -> Sequence[_K]:
        """The things in the order of their numbers."""
        return tuple(self._numbers)
