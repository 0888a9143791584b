"""Numbers that only run time knows, as expressions: the algebra computes with them as with ints.

A layout may have `Expression`s among its extents and strides.  Operations then give expressions in
turn, and refuse with a `LayoutError` where they would have to know a number to decide.  `Unknown`
prints as CuTe IR writes a dynamic leaf: `?`, `?{div=4}`, `?{i64 div=8}`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any, NoReturn, TypeAlias, final

from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.integers import Symbolic

DEFAULT_WIDTH = 32
"""Bits of a dynamic leaf that does not say how wide it is."""


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


EVALUATE: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "floormod": lambda a, b: a % b,
    "ceildiv": lambda a, b: -(-a // b),
    "quotient": _truncated,
    "remainder": lambda a, b: a - _truncated(a, b) * b,
    "xor": lambda a, b: a ^ b,
    "and": lambda a, b: a & b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "eq": lambda a, b: int(a == b),
    "lt": lambda a, b: int(a < b),
}
"""The operations of expressions on integers; `eq` and `lt` give 0 or 1."""

TRUTHS = ("eq", "lt")
DIVISIONS = ("floordiv", "floormod", "ceildiv", "quotient", "remainder")
_KEEP_SIGN = ("add", "mul", "floordiv", "floormod", "ceildiv", "quotient", "remainder", "and")


class Expression(Symbolic):
    """A number of `width` bits that is a multiple of `divisor`, and perhaps known to be >= 0."""

    __slots__ = ()

    @property
    def width(self) -> int:
        """The bits of the number."""
        raise TypeError("an expression is an Unknown or a Computed")

    @property
    def divisor(self) -> int:
        """What the number is known to be a multiple of."""
        return 1

    @property
    def is_natural(self) -> bool:
        """Whether the number is known not to be negative."""
        return False

    def __bool__(self) -> NoReturn:
        raise LayoutError(f"{self} is known at run time only, and this must be decided before")

    def _undecided(self, other: object) -> NoReturn:
        raise LayoutError(f"{self} is known at run time only: it cannot be compared with {other}")

    __lt__ = __le__ = __gt__ = __ge__ = _undecided

    def __add__(self, other: Any) -> Any:
        return compute("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return compute("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return compute("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return compute("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return compute("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return compute("mul", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return compute("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return compute("floordiv", other, self)

    def __mod__(self, other: Any) -> Any:
        return compute("floormod", self, other)

    def __rmod__(self, other: Any) -> Any:
        return compute("floormod", other, self)

    def __divmod__(self, other: Any) -> Any:
        return compute("floordiv", self, other), compute("floormod", self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return compute("floordiv", other, self), compute("floormod", other, self)

    def __xor__(self, other: Any) -> Any:
        return compute("xor", self, other)

    def __and__(self, other: Any) -> Any:
        return compute("and", self, other)

    def __lshift__(self, other: Any) -> Any:
        return compute("shl", self, other)

    def __rshift__(self, other: Any) -> Any:
        return compute("shr", self, other)

    def __neg__(self) -> Any:
        if isinstance(self, Computed) and self.operation == "floordiv":
            return compute("ceildiv", -self.lhs, self.rhs)
        return compute("mul", self, -1)

    def __abs__(self) -> Any:
        """Itself: strides that only run time knows are taken not to be negative."""
        return self


@final
@dataclass(frozen=True, slots=True)
class Unknown(Expression):
    """A number that comes from outside; `key` tells numbers apart, None is any number."""

    bits: int = DEFAULT_WIDTH
    multiple: int = 1
    key: Any = None
    natural: bool = False

    @property
    def width(self) -> int:
        """The bits of the number."""
        return self.bits

    @property
    def divisor(self) -> int:
        """What the number is known to be a multiple of."""
        return self.multiple

    @property
    def is_natural(self) -> bool:
        """Whether the number is known not to be negative."""
        return self.natural

    def __str__(self) -> str:
        facts = [f"i{self.bits}"] if self.bits != DEFAULT_WIDTH else []
        facts += [f"div={self.multiple}"] if self.multiple != 1 else []
        return f"?{{{' '.join(facts)}}}" if facts else "?"


@final
@dataclass(frozen=True, slots=True)
class Computed(Expression):
    """An operation of `EVALUATE` on two numbers."""

    operation: str
    lhs: Number
    rhs: Number
    bits: int
    multiple: int
    natural: bool

    @property
    def width(self) -> int:
        """The bits of the number."""
        return self.bits

    @property
    def divisor(self) -> int:
        """What the number is known to be a multiple of."""
        return self.multiple

    @property
    def is_natural(self) -> bool:
        """Whether the number is known not to be negative."""
        return self.natural

    def __str__(self) -> str:
        return str(anonymous(self))


Number: TypeAlias = int | Expression
"""A leaf of a tuple: a number known now, or one that run time knows."""


def anonymous(number: Any) -> Any:
    """The number as a type says it: an `Unknown` without a key; anything else as it is."""
    if isinstance(number, Expression):
        return Unknown(number.width, number.divisor)
    return number


def compute(operation: str, lhs: Any, rhs: Any) -> Any:
    """The number that an operation of `EVALUATE` gives, simplified where that is certain.

    Sums with scaled bases are left to those.
    """
    if not _is_number(lhs) or not _is_number(rhs):
        return NotImplemented
    if isinstance(lhs, int) and isinstance(rhs, int):
        return _evaluated(operation, lhs, rhs)
    if operation in DIVISIONS and rhs == 0:
        raise LayoutError(f"{lhs} is divided by zero")
    simple = _simplified(operation, lhs, rhs)
    if simple is not None:
        return simple
    return Computed(
        operation,
        lhs,
        rhs,
        1 if operation in TRUTHS else max(width_of(lhs), width_of(rhs)),
        _divisor(operation, lhs, rhs),
        operation in _KEEP_SIGN and _natural(lhs) and _natural(rhs),
    )


def _evaluated(operation: str, lhs: int, rhs: int) -> int:
    if operation in DIVISIONS and rhs == 0:
        raise LayoutError(f"{lhs} is divided by zero")
    return EVALUATE[operation](lhs, rhs)


def _is_number(x: object) -> bool:
    return isinstance(x, (int, Expression)) and not isinstance(x, bool)


def _simplified(operation: str, lhs: Number, rhs: Number) -> Number | None:
    match operation, lhs, rhs:
        case ("add" | "sub" | "xor" | "shl" | "shr", _, 0) | (
            "mul" | "floordiv" | "ceildiv" | "quotient",
            _,
            1,
        ):
            return lhs
        case ("add", 0, _) | ("mul", 1, _):
            return rhs
        case ("mul" | "and", 0, _) | ("mul" | "and", _, 0):
            return 0
        case ("floordiv" | "ceildiv" | "quotient", Computed(operation="mul", rhs=int(k)), int(c)):
            return compute("mul", lhs.lhs, k // c) if k % c == 0 else None
        case ("mul", Computed(operation="mul", rhs=int(k)), int(c)):
            return compute("mul", lhs.lhs, k * c)
        case ("mul", int(), Expression()):
            return compute("mul", rhs, lhs)
        case ("floormod" | "remainder", Expression(), int(c)) if lhs.divisor % c == 0:
            return 0
        case _:
            return None


def width_of(number: Number) -> int:
    """The bits that a number needs: 0 for one that is known and fits in 32."""
    if isinstance(number, int):
        return 0 if -(1 << 31) <= number < 1 << 31 else 64
    return number.width


def _natural(number: Number) -> bool:
    return number >= 0 if isinstance(number, int) else number.is_natural


def divisor_of(number: Number) -> int:
    """What a number is a multiple of: itself, or what is known of it; 0 for zero."""
    return abs(number) if isinstance(number, int) else number.divisor


def _divisor(operation: str, lhs: Number, rhs: Number) -> int:
    a, b = divisor_of(lhs), divisor_of(rhs)
    if operation in ("add", "sub", "floormod", "remainder"):
        return gcd(a, b)
    if operation == "mul":
        return a * b
    if operation in ("floordiv", "ceildiv", "quotient") and isinstance(rhs, int) and a % b == 0:
        return a // b
    return 1


def quotient(a: Any, b: Any) -> Any:
    """`a / b` rounded towards zero, as C++ divides."""
    return compute("quotient", a, b)


def remainder(a: Any, b: Any) -> Any:
    """What `quotient` leaves; it has the sign of `a`."""
    return compute("remainder", a, b)


def evaluate(number: Any, values: Callable[[Unknown], int]) -> int:
    """The value of an expression, given those of what comes from outside."""
    if isinstance(number, Unknown):
        return values(number)
    if isinstance(number, Computed):
        lhs, rhs = evaluate(number.lhs, values), evaluate(number.rhs, values)
        return _evaluated(number.operation, lhs, rhs)
    return number
