"""How a tool ends when something went wrong that is nobody's input: one sentence, exit code 1."""

from __future__ import annotations

import sys


def end_of_failure(program: str, error: Exception) -> int:
    """Say what happened in one line and return the exit code.

    Running out of memory is the input's fault; any other exception that comes here is a bug.
    """
    text = _memory_text(error) if isinstance(error, MemoryError) else _internal_text(error)
    sys.stderr.write(f"{program}: error: {' '.join(text.split())}\n")
    return 1


def _memory_text(error: MemoryError) -> str:
    return f"this needs more memory than there is: {error}".removesuffix(": ")


def _internal_text(error: Exception) -> str:
    # It imports xDSL, which most commands can do without.
    from tileas_xdsl.diagnostics.pass_errors import internal_error_text

    return internal_error_text("this tool", error)
