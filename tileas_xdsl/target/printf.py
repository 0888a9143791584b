"""Format strings of a kernel that prints, and the text that they become.

Source: CUDA C++ Programming Guide, Formatted Output: the host formats with its C library what
`vprintf` was given.  Formats are those of integers and floats, as cuTile has them; CUDA C++ also
has characters, strings and pointers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import copysign, isfinite, isnan
from typing import Any, TypeAlias

import numpy as np

from tileas_xdsl.data_classes import dataclass

MAX_VALUES = 32
"""So many values `vprintf` takes beside the format; it leaves out what is more."""

_FLOATS, _TEXTS = "eEfFgGaA", "csp"


def _conversions(kinds: str) -> re.Pattern[str]:
    return re.compile(
        r"%(?P<flags>[-+ #0]*)(?P<width>\d{0,4})(\.(?P<precision>\d{0,4}))?(?P<length>hh|h|ll|l)?"
        rf"(?P<kind>[{kinds}])",
        re.ASCII,
    )


_CONVERSION = _conversions(f"diouxX{_FLOATS}")
_CONVERSION_OF_DEVICE = _conversions(f"diouxX{_FLOATS}{_TEXTS}")

_BITS = {"hh": 8, "h": 16, "": 32, "l": 64, "ll": 64}
_BASES = {"o": "o", "x": "x", "X": "X"}


class FormatError(ValueError):
    """A format string that nothing prints; the text is the rest of a sentence about it."""


@dataclass(frozen=True)
class Conversion:
    """A format of one value: `%-8.3f`."""

    flags: str
    width: int
    precision: int | None
    length: str
    kind: str

    @property
    def text(self) -> str:
        """As C writes it."""
        width = str(self.width or "")
        precision = "" if self.precision is None else f".{self.precision}"
        return f"%{self.flags}{width}{precision}{self.length}{self.kind}"

    @property
    def is_float(self) -> bool:
        """Whether it is of a float; all are passed as f64."""
        return self.kind in _FLOATS

    @property
    def is_string(self) -> bool:
        """Whether the value is the address of a text."""
        return self.kind == "s"

    @property
    def is_signed(self) -> bool:
        """Whether integers are signed."""
        return self.kind in "di"

    @property
    def bits(self) -> int:
        """Bits of the value that is passed."""
        is_wide = self.is_float or self.kind in "sp"
        return 64 if is_wide else max(_BITS[self.length], 32)

    def of_bits(self, bits: int) -> Conversion:
        """The format of integers of 64 bits, if it is one of shorter ones; else itself."""
        if self.is_float or bits < 64 or self.length:
            return self
        return Conversion(self.flags, self.width, self.precision, "ll", self.kind)

    def shown(self, value: float | str) -> str:
        """A value as text; of a string, the string itself."""
        if isinstance(value, str) or self.kind in _TEXTS:
            text = self._text(value)
            return text.ljust(self.width) if "-" in self.flags else text.rjust(self.width)
        sign, digits, zeros = self._real(value) if self.is_float else self._integer(int(value))
        missing = self.width - len(sign) - len(digits)
        if "-" in self.flags:
            return f"{sign}{digits}{' ' * missing}"
        if zeros and "0" in self.flags:
            return f"{sign}{'0' * missing}{digits}"
        return f"{' ' * missing}{sign}{digits}"

    def _text(self, value: float | str) -> str:
        if isinstance(value, str):
            return value[: self.precision]
        return f"{int(value):#x}" if self.kind == "p" else chr(int(value) & 0xFF)

    def _integer(self, value: int) -> tuple[str, str, bool]:
        """Sign or prefix, digits, and whether zeros may fill the width."""
        bits = _BITS[self.length]
        value &= (1 << bits) - 1
        if self.is_signed and value >> (bits - 1):
            value -= 1 << bits
        digits = format(abs(value), _BASES.get(self.kind, "d"))
        if self.precision is not None:
            # C: the value 0 with a precision of 0 prints no digits at all.
            digits = digits.zfill(self.precision) if value or self.precision else ""
        prefix = self._sign(value < 0) if self.is_signed else ""
        if "#" in self.flags and self.kind in "xX" and value:
            prefix = f"0{self.kind}"
        if "#" in self.flags and self.kind == "o" and not digits.startswith("0"):
            digits = f"0{digits}"
        return prefix, digits, self.precision is None

    def _real(self, value: float) -> tuple[str, str, bool]:
        sign, size = self._sign(copysign(1.0, value) < 0), abs(value)
        if not isfinite(size):
            word = "nan" if isnan(size) else "inf"
            return sign, word if self.kind.islower() else word.upper(), False
        if self.kind in "aA":
            digits = _hexadecimal(size, self.precision, alternate="#" in self.flags)
            digits = digits if self.kind == "a" else digits.upper()
            return f"{sign}{digits[:2]}", digits[2:], True
        alternate = "#" if "#" in self.flags else ""
        precision = 6 if self.precision is None else self.precision
        return sign, f"%{alternate}.{precision}{self.kind}" % size, True

    def _sign(self, negative: bool) -> str:
        if negative:
            return "-"
        return "+" if "+" in self.flags else " " if " " in self.flags else ""


def _hexadecimal(size: float, precision: int | None, *, alternate: bool) -> str:
    """`0x1.8p+3` of a number that is not negative; rounded to even."""
    mantissa, exponent = size.hex()[2:].split("p")
    whole, _, digits = mantissa.partition(".")
    digits = digits.ljust(13, "0")
    if precision is None:
        digits = digits.rstrip("0")
    elif precision >= len(digits):
        digits = digits.ljust(precision, "0")
    else:
        drop = 4 * (len(digits) - precision)
        number = int(whole + digits, 16)
        low, half = number & ((1 << drop) - 1), 1 << (drop - 1)
        number >>= drop
        number += low > half or (low == half and number & 1)
        text = format(number, "x").zfill(precision + 1)
        whole, digits = text[: len(text) - precision], text[len(text) - precision :]
    point = "." if digits or alternate else ""
    return f"0x{whole}{point}{digits}p{int(exponent):+d}"


Part: TypeAlias = str | Conversion
"""Text, or the format of a value."""


def parse_format(text: str, *, of_device: bool = False) -> Sequence[Part]:
    """The parts of a format string, `%%` as the character; raises `FormatError`.

    `of_device` takes what CUDA C++ prints, not only what cuTile does.
    """
    if "\0" in text:
        raise FormatError("has a zero byte in its text, which would end it")
    conversion = _CONVERSION_OF_DEVICE if of_device else _CONVERSION
    return list(_joined(_parts(text, conversion)))


def _parts(text: str, conversion: re.Pattern[str]) -> Iterator[Part]:
    at = 0
    while (found := text.find("%", at)) >= 0:
        yield text[at:found]
        if text.startswith("%%", found):
            yield "%"
            at = found + 2
            continue
        match = conversion.match(text, found)
        if match is None:
            shown = text[found : found + 8].split(" ")[0]
            raise FormatError(
                f"prints by '{shown}'; formats are %[flags][width][.precision][hh|h|l|ll] and one "
                "of diouxX for integers, eEfFgGaA for floats"
            )
        yield _conversion(match)
        at = match.end()
    yield text[at:]


def _conversion(match: re.Match[str]) -> Conversion:
    precision, length = match["precision"], match["length"] or ""
    made = Conversion(
        match["flags"],
        int(match["width"] or 0),
        None if precision is None else int(precision or 0),
        length,
        match["kind"],
    )
    if made.is_float and length not in ("", "l"):
        raise FormatError(f"prints by '{match[0]}', and floats have no length but l")
    return made


def _joined(parts: Iterator[Part]) -> Iterator[Part]:
    """Neighbouring texts as one; none that is empty."""
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        if text:
            yield text
        yield part
        text = ""
    if text:
        yield text


def format_text(parts: Sequence[Part]) -> str:
    """The format string of parts."""
    return "".join(p.replace("%", "%%") if isinstance(p, str) else p.text for p in parts)


def formatted(parts: Sequence[Part], values: Sequence[Any]) -> str:
    """What is printed: a tile is its elements in brackets, `[[1, 2], [3, 4]]`."""
    given = iter(values)
    shown = (part if isinstance(part, str) else _nested(part, next(given)) for part in parts)
    return "".join(shown)


def assertion_text(message: str) -> str:
    """Return the line that is printed for an assertion that does not hold."""
    return f"assertion failed: {message}\n" if message else "assertion failed\n"


def _nested(conversion: Conversion, value: Any) -> str:
    if np.ndim(value) == 0:
        return conversion.shown(value)
    return f"[{', '.join(_nested(conversion, element) for element in value)}]"
