"""The errors of the layout package: each one is a sentence a user can act on."""


class LayoutError(ValueError):
    """Raised where an operation on layouts is undefined; the message names the numbers."""


class CompositionError(LayoutError):
    """A composition that is no layout.

    `condition` is the one that fails: "stride" or "shape" divisibility, or "carry" where digits of
    the right layout add up past a mode of the left one.  `mode` is the index of the mode at fault
    in the coalesced left layout and `numbers` are the two that do not fit.
    """

    def __init__(self, message: str, condition: str, mode: int, numbers: tuple[int, int]) -> None:
        super().__init__(message)
        self.condition = condition
        self.mode = mode
        self.numbers = numbers


class CongruenceError(LayoutError):
    """A stride that is nested otherwise than its shape."""


class LayoutSyntaxError(LayoutError):
    """Text that is no layout; `position` is the offset of the character at fault in `text`."""

    def __init__(self, reason: str, text: str, position: int) -> None:
        super().__init__(f"{reason} at column {position + 1} of '{text}'")
        self.reason = reason
        self.text = text
        self.position = position
