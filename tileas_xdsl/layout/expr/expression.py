"""Integer expressions over variables: sums, multiples, divisions, remainders and bit operations.

This is the one expression type of the project.  The variables are the coordinates of a tile, the
replica of a register layout, the thread, or a value that only run time knows, such as the extent of
a dynamic layout.  A known number is an `int`: a `Number` is either, and operators work on both.

>>> i, j = dimension(0), dimension(1)
>>> print((i * 16 + j) // 32 + 0)
(d0 * 16 + d1) // 32
>>> evaluate((i * 16 + j) // 32, lambda variable: 5)
2

Construction folds what is certain without ranges (`fold`); `simplification` knows ranges too.
A variable without a name prints as CuTe IR writes a dynamic leaf: `?`, `?{div=4}`, `?{i64 div=8}`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from math import gcd
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias, final

from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.expr.text import DEFAULT_WIDTH, SUM, binary_text, dynamic_leaf
from tileas_xdsl.layout.integers import Symbolic, ceil_div


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


EVALUATE: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "floormod": lambda a, b: a % b,
    "ceildiv": ceil_div,
    "quotient": _truncated,
    "remainder": lambda a, b: a - _truncated(a, b) * b,
    "xor": lambda a, b: a ^ b,
    "and": lambda a, b: a & b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "eq": lambda a, b: int(a == b),
    "lt": lambda a, b: int(a < b),
}
"""The operations of expressions on integers; all but the truncating divisions and the comparisons
work on numpy tables too.  `eq` and `lt` give 0 or 1."""

COMPARISONS = ("eq", "lt")
DIVISIONS = ("floordiv", "floormod", "ceildiv", "quotient", "remainder")
_NON_NEGATIVE = ("add", "mul", "floordiv", "floormod", "ceildiv", "quotient", "remainder", "and")
"""The operations that give no negative number of numbers that are not negative."""


class Facts(NamedTuple):
    """What is known of a number without ranges."""

    width: int
    divisor: int
    is_natural: bool
    variables: frozenset[Variable]


class Expression(Symbolic):
    """A number of `width` bits that is a multiple of `divisor`, and perhaps known to be >= 0.

    Equality is structural: `simplified` maps many expressions of equal value to one form, tables
    decide about the others.
    """

    @property
    def facts(self) -> Facts:
        """What is known of the number."""
        raise TypeError("an expression is a Variable or a BinaryExpression")

    @property
    def width(self) -> int:
        """The bits of the number."""
        return self.facts.width

    @property
    def divisor(self) -> int:
        """What the number is known to be a multiple of."""
        return self.facts.divisor

    @property
    def is_natural(self) -> bool:
        """Whether the number is known not to be negative."""
        return self.facts.is_natural

    @property
    def variables(self) -> frozenset[Variable]:
        """The variables that occur in the expression."""
        return self.facts.variables

    def written(self, at_least: int) -> str:
        """The text, in parentheses where its operation binds less than `at_least`."""
        raise TypeError("an expression is a Variable or a BinaryExpression")

    def __str__(self) -> str:
        """`d0 * 16 + d1 // 4`; a dynamic leaf of CuTe IR where a variable has no name."""
        if all(isinstance(variable.key, Position) for variable in self.variables):
            return self.written(SUM)
        return dynamic_leaf(self.width, self.divisor)

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
        """The negated number; `-(-x // y)` is what Python writes for `x ceildiv y`."""
        if isinstance(self, BinaryExpression) and self.kind == "floordiv":
            return compute("ceildiv", -self.lhs, self.rhs)
        return compute("mul", self, -1)

    def __abs__(self) -> Any:
        """Itself: strides that only run time knows are taken not to be negative."""
        return self


class Position(NamedTuple):
    """The key of a numbered variable: `d0` is a coordinate, `s0` a symbol."""

    letter: str
    number: int


@final
class Variable(Expression):
    """A number from outside; `key` distinguishes variables, None is any number."""

    def __init__(
        self,
        width: int = DEFAULT_WIDTH,
        divisor: int = 1,
        key: Hashable = None,
        is_natural: bool = False,
    ) -> None:
        self.key: Final[Any] = key
        self._identity: Final = width, divisor, key, is_natural
        self._hash: Final = hash(self._identity)

    @property
    def facts(self) -> Facts:
        """What is known of the number."""
        width, divisor, _, natural = self._identity
        return Facts(width, divisor, natural, frozenset((self,)))

    @property
    def divisor(self) -> int:
        """What the number is known to be a multiple of."""
        return self._identity[1]

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Variable) and self._identity == other._identity)

    def written(self, at_least: int) -> str:
        """The name: a letter and a number."""
        return f"{self.key.letter}{self.key.number}"

    def __repr__(self) -> str:
        return f"Variable{self._identity}"


@final
class BinaryExpression(Expression):
    """An operation of `EVALUATE` on two numbers; `compute` makes them."""

    def __init__(self, kind: str, lhs: Number, rhs: Number) -> None:
        self.kind: Final = kind
        self.lhs: Final = lhs
        self.rhs: Final = rhs
        self._hash: Final = hash((kind, lhs, rhs))
        self._facts: Facts | None = None

    @property
    def facts(self) -> Facts:
        """What is known of the number, computed once."""
        if self._facts is None:
            self._facts = _facts_of(self.kind, self.lhs, self.rhs)
        return self._facts

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, BinaryExpression)
            and self._hash == other._hash
            and self.kind == other.kind
            and self.lhs == other.lhs
            and self.rhs == other.rhs
        )

    def written(self, at_least: int) -> str:
        """The text, in parentheses where its operation binds less than `at_least`."""

        def operand(is_right: bool, needs: int) -> str:
            number = self.rhs if is_right else self.lhs
            return str(number) if isinstance(number, int) else number.written(needs)

        return binary_text(self.kind, operand, at_least)

    def __repr__(self) -> str:
        return f"BinaryExpression({self.kind!r}, {self.lhs!r}, {self.rhs!r})"


Number: TypeAlias = int | Expression
"""A number known now, or an expression."""


# Variables


@lru_cache(maxsize=1 << 10)
def dimension(number: int) -> Variable:
    """`d<number>`: a coordinate, or the variable of a loop."""
    return Variable(key=Position("d", number), is_natural=True)


@lru_cache(maxsize=1 << 10)
def symbol(number: int) -> Variable:
    """`s<number>`: a value that all points of a box share, or the replica of a layout."""
    return Variable(key=Position("s", number))


def variables_of(number: Number) -> frozenset[Variable]:
    """The variables that occur in a number."""
    return frozenset() if isinstance(number, int) else number.variables


def dimensions_of(number: Number) -> frozenset[int]:
    """The indices of the dimensions that occur in a number."""
    return _indices(number, "d")


def symbols_of(number: Number) -> frozenset[int]:
    """The indices of the symbols that occur in a number."""
    return _indices(number, "s")


def _indices(number: Number, letter: str) -> frozenset[int]:
    keys = (variable.key for variable in variables_of(number))
    return frozenset(k.number for k in keys if isinstance(k, Position) and k.letter == letter)


# Construction


def compute(kind: str, lhs: Any, rhs: Any) -> Any:
    """Return the result of an operation of `EVALUATE`, constant-folded where possible.

    Returns `NotImplemented` for operands that are no numbers, such as scaled bases.
    """
    if not _is_number(lhs) or not _is_number(rhs):
        return NotImplemented
    if isinstance(lhs, int) and isinstance(rhs, int):
        return _evaluated(kind, lhs, rhs)
    if kind in DIVISIONS and rhs == 0:
        raise LayoutError(f"{lhs} is divided by zero")
    folded = fold(kind, lhs, rhs)
    return BinaryExpression(kind, lhs, rhs) if folded is None else folded


def fold(kind: str, lhs: Number, rhs: Number) -> Number | None:
    """A shorter form that needs no ranges, constants on the right; None where there is none.

    `(x * k) / c` is `x * (k / c)` for every way to round, since `c` divides `k`.
    `x mod c` is 0 where every value of `x` is a multiple of `c`.
    """
    match kind, lhs, rhs:
        case ("add" | "sub" | "xor" | "shl" | "shr", _, 0) | (
            "mul" | "floordiv" | "ceildiv" | "quotient",
            _,
            1,
        ):
            return lhs
        case ("mul" | "and", 0, _) | ("mul" | "and", _, 0):
            return 0
        case ("add" | "mul", int(), Expression()):
            return compute(kind, rhs, lhs)
        case ("add" | "mul", BinaryExpression(rhs=int(k)), int(c)) if lhs.kind == kind:
            return compute(kind, lhs.lhs, _evaluated(kind, k, c))
        case (
            "floordiv" | "ceildiv" | "quotient",
            BinaryExpression(kind="mul", rhs=int(k)),
            int(c),
        ):
            return compute("mul", lhs.lhs, k // c) if k % c == 0 else None
        case ("floormod" | "remainder", Expression(), int(c)) if lhs.divisor % c == 0:
            return 0
        case _:
            return None


def quotient(a: Any, b: Any) -> Any:
    """`a / b` rounded towards zero, as C++ divides."""
    return compute("quotient", a, b)


def remainder(a: Any, b: Any) -> Any:
    """What `quotient` leaves; it has the sign of `a`."""
    return compute("remainder", a, b)


def ceildiv(a: Any, b: Any) -> Any:
    """`a / b` rounded up."""
    return compute("ceildiv", a, b)


def _evaluated(kind: str, lhs: int, rhs: int) -> int:
    if kind in DIVISIONS and rhs == 0:
        raise LayoutError(f"{lhs} is divided by zero")
    return EVALUATE[kind](lhs, rhs)


def _is_number(x: object) -> bool:
    return isinstance(x, (int, Expression)) and not isinstance(x, bool)


# Facts


def width_of(number: Number) -> int:
    """The bits that a number needs: 0 for one that is known and fits in 32."""
    if isinstance(number, int):
        return 0 if -(1 << 31) <= number < 1 << 31 else 64
    return number.width


def is_natural(number: Number) -> bool:
    """Whether a number is known not to be negative."""
    return number >= 0 if isinstance(number, int) else number.is_natural


def divisor_of(number: Number) -> int:
    """What a number is a multiple of: itself, or what is known of it; 0 for zero."""
    return abs(number) if isinstance(number, int) else number.divisor


def _facts_of(kind: str, lhs: Number, rhs: Number) -> Facts:
    """A comparison has one bit, any other operation the bits of its wider operand."""
    return Facts(
        1 if kind in COMPARISONS else max(width_of(lhs), width_of(rhs)),
        _divisor(kind, lhs, rhs),
        kind in _NON_NEGATIVE and is_natural(lhs) and is_natural(rhs),
        variables_of(lhs) | variables_of(rhs),
    )


def _divisor(kind: str, lhs: Number, rhs: Number) -> int:
    a, b = divisor_of(lhs), divisor_of(rhs)
    if kind in ("add", "sub", "floormod", "remainder"):
        return gcd(a, b)
    if kind == "mul":
        return a * b
    if kind in ("floordiv", "ceildiv", "quotient") and isinstance(rhs, int) and a % b == 0:
        return a // b
    return 1


def anonymous(number: Any) -> Any:
    """Return the number as a type prints it: a variable without a name; constants as they are."""
    if isinstance(number, Expression):
        return Variable(number.width, number.divisor)
    return number


# Evaluation and substitution


def evaluate(number: Any, values: Callable[[Variable], Any]) -> Any:
    """The value of a number, given those of its variables: integers, or tables that broadcast."""
    if isinstance(number, Variable):
        return values(number)
    if isinstance(number, BinaryExpression):
        return EVALUATE[number.kind](evaluate(number.lhs, values), evaluate(number.rhs, values))
    return number


def rewritten(number: Number, replace: Callable[[Variable], Number]) -> Number:
    """The number with each variable replaced."""
    if isinstance(number, Variable):
        return replace(number)
    if isinstance(number, BinaryExpression):
        lhs, rhs = rewritten(number.lhs, replace), rewritten(number.rhs, replace)
        return compute(number.kind, lhs, rhs)
    return number


def substituted(
    number: Number, dimensions: Sequence[Number], symbols: Sequence[Number] = ()
) -> Number:
    """The number with `d<k>` replaced by `dimensions[k]` and `s<k>` by `symbols[k]`.

    Variables beyond the end of these stay.
    """

    def replace(variable: Variable) -> Number:
        match variable.key:
            case Position("d", k) if k < len(dimensions):
                return dimensions[k]
            case Position("s", k) if k < len(symbols):
                return symbols[k]
            case _:
                return variable

    return rewritten(number, replace)
