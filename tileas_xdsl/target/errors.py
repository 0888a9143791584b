"""The error of the target package."""


class TargetError(ValueError):
    """Something that the hardware cannot do; the message names the number and the limit."""
