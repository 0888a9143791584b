"""What bytecode of a version cannot say."""


class UnwritableError(Exception):
    """Part of an operation cannot be written; whoever knows the operation says where it is."""
