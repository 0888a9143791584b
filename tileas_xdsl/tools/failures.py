"""How a tool ends after an internal error: one sentence, exit code 1.

If the reader of its output has exited (`tool | head -1`), it ends silently.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

from tileas_xdsl.diagnostics.colours import painter


def end_of_failure(program: str, error: Exception) -> int:
    """Report an exception in one line and return the exit code.

    Running out of memory is due to the input, and a full disk that stdout goes to is nobody's
    fault; any other exception that arrives here is a bug.
    """
    text = _text_of_system(error) or _internal_text(error)
    error_word = painter(sys.stderr)("error:", "error")
    sys.stderr.write(f"{program}: {error_word} {' '.join(text.split())}\n")
    return 1


@contextmanager
def ends_with_its_reader() -> Generator[None]:
    """End a script that prints: exit code 1, silently, if the reader of its output has exited."""
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


def _text_of_system(error: Exception) -> str | None:
    """What the machine refuses; None for any other exception."""
    if isinstance(error, MemoryError):
        return f"this needs more memory than there is: {error}".removesuffix(": ")
    if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
        return f"cannot write the output: {error.strerror}"
    return None


_FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
"""A disk or a quota is full."""


def _internal_text(error: Exception) -> str:
    # It imports xDSL, which most commands can do without.
    from tileas_xdsl.diagnostics.pass_errors import internal_error_text

    return internal_error_text("this tool", error)
