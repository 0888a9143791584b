"""Layouts as text: CuTe's notation and the `nv_tileas.layout` literal, both ways.

    layout   := shape ":" stride
    shape    := integer | "(" [shape {"," shape}] ")"
    stride   := sum | "(" [stride {"," stride}] ")"
    sum      := term {("+" | "-") term}
    term     := integer ["@" name {"@" name}]
    composed := (swizzle | layout) "o" integer "o" (layout | composed)
    swizzle  := ("S" | "Sw") "<" integer "," integer "," integer ">"
    literal  := "<" shape "," stride ["," "swizzle" "<" ... ">"] ["," "elem" "=" name] ">"

Blanks may stand between tokens, and integers may have CuTe's underscore (`_4`).  Printing is `str`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tileas_xdsl.layout.axes import ANONYMOUS, Offset, axis_sum, terms_of
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout
from tileas_xdsl.layout.errors import LayoutError, LayoutSyntaxError
from tileas_xdsl.layout.expr.expression import DEFAULT_WIDTH, Variable
from tileas_xdsl.layout.int_tuple import Stride
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.elements import ALIASES, ELEMENT_TYPES, unknown_element
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout, check_byte_swizzle
from tileas_xdsl.layout.swizzle import Swizzle

MAX_DEPTH = 32
"""How deep tuples may nest."""

MAX_DIGITS = 18
"""Maximum digits of an integer, also of sums of terms: it fits 64 bits."""

_INTEGER = re.compile(r"_?(\d+)", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_]+", re.ASCII)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_BLANKS = re.compile(r"[ \t\r\n]*")


def parse_layout(text: str) -> AnyLayout | MemoryLayout:
    """Parse a layout in any of the notations.

    Raises `LayoutSyntaxError`, with the position, for text that is no layout.
    """
    scanner = _Scanner(text)
    if scanner.peek() == "<":
        return scanner.whole(scanner.literal)
    return scanner.whole(scanner.any_layout)


def parse_memory_layout(text: str) -> MemoryLayout:
    """The layout of an `nv_tileas.layout` literal, `<shape,stride,...>`."""
    scanner = _Scanner(text)
    return scanner.whole(scanner.literal)


def parse_cute_layout(text: str) -> AnyLayout:
    """The plain or composed layout that `text` writes in CuTe's notation."""
    scanner = _Scanner(text)
    return scanner.whole(scanner.any_layout)


def parse_layout_type(text: str) -> AnyLayout:
    """As `parse_cute_layout`, where leaves may be unknown: `(?,4):(?{i64 div=8},1)`."""
    scanner = _TypeScanner(text)
    return scanner.whole(scanner.any_layout)


def parse_tuple_type(text: str, *, underscores: bool = False) -> Any:
    """The tree of a shape, stride, coordinate or integer tuple; `_` is None where it may be.

    Leaves are integers, unknown numbers and scaled bases (`2@0`, `1/2@0`, `?@1`).
    """
    scanner = _TypeScanner(text)
    return scanner.whole(lambda: scanner.any_tuple(underscores))


def parse_tile_type(text: str) -> tuple[Layout | None, ...]:
    """The modes of a tile, `[64:1;_;(2,2):(1,8)]`: a layout each, None for a mode left whole."""
    scanner = _TypeScanner(text)
    return scanner.whole(scanner.tile)


def parse_swizzle(text: str) -> Swizzle:
    """The swizzle that `text` writes, `S<3,4,3>`."""
    scanner = _Scanner(text)
    return scanner.whole(scanner.swizzle)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0

    # Tokens

    def fail(self, reason: str, position: int | None = None) -> LayoutSyntaxError:
        at = self.position if position is None else position
        return LayoutSyntaxError(reason, self.text, at)

    def peek(self) -> str:
        """The next character that is no blank; empty at the end."""
        blanks = _BLANKS.match(self.text, self.position)
        assert blanks is not None
        self.position = blanks.end()
        return self.text[self.position : self.position + 1]

    def found(self) -> str:
        char = self.peek()
        return f"'{char}'" if char else "the end"

    def accept(self, token: str) -> bool:
        self.peek()
        if not self.text.startswith(token, self.position):
            return False
        self.position += len(token)
        return True

    def expect(self, token: str, where: str) -> None:
        if not self.accept(token):
            raise self.fail(f"expected '{token}' {where}, found {self.found()}")

    def integer(self, what: str, signed: bool = False) -> int:
        sign = -1 if signed and self.accept("-") else 1
        self.peek()
        match = _INTEGER.match(self.text, self.position)
        if match is None:
            raise self.fail(f"expected {what}, found {self.found()}")
        if len(match[1]) > MAX_DIGITS:
            raise self.fail(f"an integer of {len(match[1])} digits is too large")
        self.position = match.end()
        return sign * int(match[1])

    def whole(self, parse: Callable[[], Any]) -> Any:
        result = parse()
        if self.peek():
            raise self.fail(f"unexpected {self.found()} after the layout")
        return result

    # Tuples

    def tuple_of(self, leaf: Callable[[], Any], what: str) -> Any:
        if not self.accept("("):
            return leaf()
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"tuples nest deeper than {MAX_DEPTH}")
        items: list[Any] = []
        if not self.accept(")"):
            items.append(self.tuple_of(leaf, what))
            while self.accept(","):
                items.append(self.tuple_of(leaf, what))
            self.expect(")", f"or ',' in {what}")
        self.depth -= 1
        return tuple(items)

    def shape(self) -> Any:
        return self.tuple_of(lambda: self.integer("an extent"), "a shape")

    def stride(self) -> Stride:
        return self.tuple_of(self.sum, "a stride")

    def sum(self) -> Offset:
        self.peek()
        start = self.position
        terms = [self.term()]
        while self.peek() in ("+", "-") and self.peek():
            self.accept("+")
            terms.append(self.term())
        total = axis_sum(terms)
        for _, coefficient in terms_of(total):
            if len(str(abs(coefficient))) > MAX_DIGITS:
                digits = len(str(abs(coefficient)))
                raise self.fail(f"a sum of {digits} digits is too large", start)
        return total

    def term(self) -> tuple[str, int]:
        coefficient = self.integer("a stride", signed=True)
        names: list[str] = []
        while self.accept("@"):
            names.append(self.name())
        return "@".join(names) or ANONYMOUS, coefficient

    def name(self) -> str:
        self.peek()
        match = _NAME.match(self.text, self.position)
        if match is None:
            raise self.fail(f"expected the name of an axis after '@', found {self.found()}")
        self.position = match.end()
        return match[0]

    # CuTe's notation

    def plain(self) -> Layout:
        start = self.position
        shape = self.shape()
        self.expect(":", "between shape and stride")
        stride = self.stride()
        return self.checked(lambda: Layout(shape, stride), start)

    def any_layout(self) -> AnyLayout:
        """Parse `outer o offset o inner`, where `inner` may be a composition in turn."""
        outside: list[tuple[Swizzle | Layout, int]] = []
        part = self.part()
        while isinstance(part, Swizzle) or self.peek() == "o":
            self.expect("o", "and an offset after the outer layout")
            outside.append((part, self.integer("an offset", signed=True)))
            self.expect("o", "between the offset and the inner layout")
            if len(outside) > MAX_DEPTH:
                raise self.fail(f"more than {MAX_DEPTH} layouts are composed")
            part = self.part()
        layout: AnyLayout = part
        for outer, offset in reversed(outside):
            layout = ComposedLayout(outer, offset, layout)
        return layout

    def part(self) -> Swizzle | Layout:
        return self.swizzle() if self.peek() == "S" else self.plain()

    def swizzle(self) -> Swizzle:
        start = self.position
        if not (self.accept("Sw<") or self.accept("S<")):
            raise self.fail("expected a swizzle 'S<B,M,S>'")
        triple = self.triple(signed_shift=True)
        return self.checked(lambda: Swizzle(*triple), start)

    def triple(self, signed_shift: bool = False) -> tuple[int, int, int]:
        bits = self.integer("the number of bits of a swizzle")
        self.expect(",", "in a swizzle")
        base = self.integer("the base of a swizzle")
        self.expect(",", "in a swizzle")
        shift = self.integer("the shift of a swizzle", signed=signed_shift)
        self.expect(">", "after a swizzle")
        return bits, base, shift

    # The nv_tileas.layout literal

    def literal(self) -> MemoryLayout:
        self.expect("<", "before a layout literal")
        start = self.position
        shape = self.shape()
        self.expect(",", "between shape and stride")
        stride = self.tuple_of(lambda: self.integer("a stride"), "a stride")
        swizzle, elem = self.clauses()
        self.expect(">", "after a layout literal")
        layout = self.checked(lambda: Layout(shape, stride), start)
        return MemoryLayout(layout, swizzle, elem)

    def clauses(self) -> tuple[Swizzle | None, str | None]:
        triple: tuple[int, int, int] | None = None
        elem: str | None = None
        start = self.position
        while self.accept(","):
            self.peek()
            clause = self.position
            word = self.word("a clause 'swizzle<...>' or 'elem=...'")
            if word == "swizzle" and triple is None and elem is None:
                start = clause
                self.expect("<", "after 'swizzle'")
                triple = self.triple()
            elif word == "elem" and elem is None:
                self.expect("=", "after 'elem'")
                elem = self.element()
            else:
                raise self.fail(f"unexpected clause '{word}' in a layout literal", clause)
        if triple is None:
            return None, elem
        return self.checked(lambda: _byte_swizzle(triple), start), elem

    def element(self) -> str:
        self.peek()
        start = self.position
        name = self.word("the name of an element type")
        key = name.lower()
        if ALIASES.get(key, key) not in ELEMENT_TYPES:
            raise self.fail(unknown_element(name), start)
        return name

    def word(self, what: str) -> str:
        self.peek()
        match = _WORD.match(self.text, self.position)
        if match is None:
            raise self.fail(f"expected {what}, found {self.found()}")
        self.position = match.end()
        return match[0]

    def checked(self, build: Callable[[], Any], position: int) -> Any:
        """`build()`, its `LayoutError` placed at `position`."""
        try:
            return build()
        except LayoutError as error:
            raise self.fail(str(error), position) from error


class _TypeScanner(_Scanner):
    """The notation of the types of CuTe IR: numbers may be unknown, multiples may be fractions."""

    def integer(self, what: str, signed: bool = False) -> Any:
        return self.unknown() if self.accept("?") else super().integer(what, signed)

    def unknown(self) -> Variable:
        width, multiple = DEFAULT_WIDTH, 1
        if self.accept("{"):
            if self.accept("i64"):
                width = 64
            if self.peek() != "}":
                self.expect("div", "or '}' after '?{'")
                self.expect("=", "after 'div'")
                multiple = super().integer("a divisor")
            self.expect("}", "after '?{'")
        return Variable(width, max(multiple, 1))

    def sum(self) -> Any:
        start = self.position
        coefficient: Any = self.integer("a stride", signed=True)
        if isinstance(coefficient, int) and self.accept("/"):
            coefficient = Fraction(coefficient, self.denominator())
        names: list[str] = []
        while self.accept("@"):
            names.append(self.name())
        if names:
            return axis_sum((("@".join(names), coefficient),))
        if isinstance(coefficient, Fraction):
            raise self.fail(f"the fraction {coefficient} is no multiple of an axis", start)
        return coefficient

    def denominator(self) -> int:
        start = self.position
        found = super().integer("a denominator")
        if found == 0:
            raise self.fail("a denominator is not 0", start)
        return found

    def any_tuple(self, underscores: bool) -> Any:
        def leaf() -> Any:
            return None if underscores and self.accept("_") else self.sum()

        return self.tuple_of(leaf, "a tuple")

    def tile(self) -> tuple[Layout | None, ...]:
        self.expect("[", "before a tile")
        modes: list[Layout | None] = []
        while not self.accept("]"):
            if modes:
                self.expect(";", "or ']' in a tile")
            modes.append(None if self.accept("_") else self.plain())
        return tuple(modes)


def _byte_swizzle(triple: tuple[int, int, int]) -> Swizzle:
    swizzle = Swizzle(*triple)
    check_byte_swizzle(swizzle)
    return swizzle
