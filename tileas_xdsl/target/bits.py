"""Named bit fields of integers: descriptors are tables of `BitField`s."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.errors import TargetError


@dataclass(frozen=True, slots=True)
class BitField:
    """`width` bits from bit `low` on, which hold a value without its `dropped` low bits."""

    name: str
    low: int
    width: int
    dropped: int = 0

    @property
    def limit(self) -> int:
        """The first value that is too large."""
        return 1 << (self.width + self.dropped)

    def insert(self, value: int, what: str) -> int:
        """Return `value` shifted into its field; raise `TargetError` if it does not fit."""
        value = whole(value, f"{what}: {self.name}")
        if not 0 <= value < self.limit:
            raise TargetError(f"{what}: {self.name} {value} is not in 0..{self.limit - 1}")
        if value % (1 << self.dropped):
            raise TargetError(f"{what}: {self.name} {value} is no multiple of {1 << self.dropped}")
        return value >> self.dropped << self.low

    def extract(self, word: int) -> int:
        """Return the value of the field in `word`."""
        return (word >> self.low & (1 << self.width) - 1) << self.dropped


def whole(value: object, what: str) -> int:
    """`value` as an integer; `TargetError` for a number of another kind, whole or not."""
    try:
        return index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        raise TargetError(f"{what} is {value!r}, not an integer") from None


def pack(fields: Iterable[BitField], values: Mapping[str, int], what: str) -> int:
    """Pack values into an integer by their fields; a field without a value is 0."""
    word = 0
    for field in fields:
        word |= field.insert(values.get(field.name, 0), what)
    return word


def unpack(fields: Iterable[BitField], word: int, width: int, what: str) -> dict[str, int]:
    """Return the values of all fields of an integer of `width` bits.

    Raises `TargetError` if it is too wide or has a bit outside of all fields.
    """
    if not 0 <= word < 1 << width:
        raise TargetError(f"{what}: {word:#x} is no {width}-bit word")
    values = {field.name: field.extract(word) for field in fields}
    reserved = word ^ pack(fields, values, what)
    if reserved:
        bit = (reserved & -reserved).bit_length() - 1
        raise TargetError(f"{what}: reserved bit {bit} of {word:#x} is set")
    return values


def named(codes: Mapping[str, int], code: int, what: str) -> str:
    """The name of a code in a table; `TargetError` for one that the table does not have."""
    for name, value in codes.items():
        if value == code:
            return name
    raise TargetError(f"{what} {code} is reserved; known: {_listed(codes)}")


def code_of(codes: Mapping[str, int], name: str, what: str) -> int:
    """The code of a name in a table; `TargetError` lists the names that the table has."""
    if name not in codes:
        raise TargetError(f"{what} '{name}' is unknown; known: {', '.join(codes)}")
    return codes[name]


def _listed(codes: Mapping[str, int]) -> str:
    return ", ".join(f"{value} {name}" for name, value in codes.items())
