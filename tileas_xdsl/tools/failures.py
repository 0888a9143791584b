"""How a tool ends when something went wrong that is nobody's input: one sentence, exit code 1.

When whoever reads its output has left (`tool | head -1`), there is nobody to say a sentence to.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress


def end_of_failure(program: str, error: Exception) -> int:
    """Say what happened in one line and return the exit code.

    Running out of memory is the input's fault; any other exception that comes here is a bug.
    """
    text = _memory_text(error) if isinstance(error, MemoryError) else _internal_text(error)
    sys.stderr.write(f"{program}: error: {' '.join(text.split())}\n")
    return 1


@contextmanager
def ends_with_its_reader() -> Generator[None]:
    """A script that prints: it leaves with 1, silently, when nobody reads on."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()
        raise SystemExit(1) from None


def discard_stdout() -> None:
    """The reader of stdout left; without this, Python complains once more when it exits."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _memory_text(error: MemoryError) -> str:
    return f"this needs more memory than there is: {error}".removesuffix(": ")


def _internal_text(error: Exception) -> str:
    # It imports xDSL, which most commands can do without.
    from tileas_xdsl.diagnostics.pass_errors import internal_error_text

    return internal_error_text("this tool", error)
