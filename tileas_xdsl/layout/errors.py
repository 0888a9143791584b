"""The errors of the layout package: each one is a sentence a user can act on."""


class LayoutError(ValueError):
    """An operation on layouts that has no answer; the message says which numbers are at fault."""


class DivisibilityError(LayoutError):
    """A composition or division whose extents and strides do not divide.

    `mode` is the index of the mode at fault in the coalesced left layout; `numbers` are the two
    integers of which neither (or the second not the first) divides the other.
    """

    def __init__(self, message: str, mode: int, numbers: tuple[int, int]) -> None:
        super().__init__(message)
        self.mode = mode
        self.numbers = numbers


class LayoutSyntaxError(LayoutError):
    """Text that is no layout; `position` is the offset of the character at fault in `text`."""

    def __init__(self, reason: str, text: str, position: int) -> None:
        super().__init__(f"{reason} at column {position + 1} of '{text}'")
        self.reason = reason
        self.text = text
        self.position = position
