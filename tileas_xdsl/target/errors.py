"""The error of the target package."""


class TargetError(ValueError):
    """Something that the hardware cannot do; the message names the number and the limit."""


class UnknownTargetError(TargetError):
    """There is no such target; the message lists those that there are."""

    is_for_users = True
    """Whether the message is meant for users: raising it is no internal error."""
