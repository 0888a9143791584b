"""A stream of tokens with one position, and the errors of the parser."""

from __future__ import annotations

from typing import NoReturn

from tileas_xdsl.interpreters.ptx.errors import PtxError, SourceLocation
from tileas_xdsl.interpreters.ptx.parsing.lexer import Source, Token


class Cursor:
    """A position in the tokens of a source."""

    source: Source
    token: Token
    """The next token."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._tokens = source.tokens()
        self.reset(0)

    @property
    def location(self) -> SourceLocation:
        """The source location of the next token."""
        return self.source.location(self.token.start)

    def peek(self, ahead: int = 1) -> Token:
        """A later token; the end token past the end."""
        return self._tokens[min(self._next + ahead, len(self._tokens) - 1)]

    def take(self) -> Token:
        """Consume and return the next token; the end token stays."""
        token = self.token
        if token.kind != "end":
            self.reset(self._next + 1)
        return token

    def accept(self, text: str) -> bool:
        """Consume the next token if it is `text`; return whether it was."""
        token = self.token
        if token.text != text or token.kind == "string":
            return False
        self.reset(self._next + 1)
        return True

    def mark(self) -> int:
        """Return the position, for `reset`."""
        return self._next

    def reset(self, mark: int) -> None:
        """Go back, or forward, to a position."""
        self._next = mark
        self.token = self._tokens[mark]

    def expect(self, text: str, where: str) -> None:
        """Consume `text`, or raise an error with what is there instead."""
        if not self.accept(text):
            self.fail(f"expected '{text}' {where}, found {self.shown()}")

    def word(self, what: str) -> str:
        """Consume and return a name."""
        if self.token.kind != "word":
            self.fail(f"expected {what}, found {self.shown()}")
        return self.take().text

    def integer(self, what: str) -> int:
        """Consume and return an integer literal, maybe negative."""
        negative = self.accept("-")
        if self.token.kind != "int":
            self.fail(f"expected {what}, found {self.shown()}")
        value = self.number()
        return -value if negative else value

    def number(self) -> int:
        """Consume and return an integer literal, which has 64 bits at most."""
        value = integer_value(self.token.text)
        if value >> 64:
            self.fail(f"{self.shown()} has more than 64 bits")
        self.take()
        return value

    def integers(self, what: str) -> tuple[int, ...]:
        """Consume and return one or more integers separated by commas."""
        found = [self.integer(what)]
        while self.accept(","):
            found.append(self.integer(what))
        return tuple(found)

    def skip_braces(self) -> None:
        """Consume a nested `{ }` group."""
        opened = self.location
        self.expect("{", "here")
        depth = 1
        while depth:
            token = self.take()
            if token.kind == "end":
                raise PtxError("this brace is never closed", opened)
            depth += (token.text == "{") - (token.text == "}")

    def shown(self) -> str:
        """Return the next token as errors quote it."""
        return "the end of the text" if self.token.kind == "end" else f"'{self.token.text}'"

    def fail(self, message: str) -> NoReturn:
        """Raise an error at the next token."""
        raise PtxError(message, self.location)


def integer_value(text: str) -> int:
    """Return the value of an integer literal; a leading 0 means octal."""
    digits = text.rstrip("U")
    if len(digits) > 1 and digits[0] == "0" and digits.isdigit():
        return int(digits, 8) if not set(digits) & set("89") else int(digits)
    return int(digits, 0)
