"""The error for IR that a bytecode version cannot represent."""


class UnwritableError(Exception):
    """Part of an operation cannot be written; the caller adds the operation's location."""
