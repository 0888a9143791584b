"""What an exception that ended a test says: a refusal, a wrong result, a missing package..."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.conformance.outcomes import Outcome

LONGEST = 600
"""Characters of a reason that are kept."""

DETAIL = 3000
"""Characters of a traceback that are kept."""

_OURS = "tileas_xdsl"
_CUTILE = "cuda/tile"
_ERRORS = "cuda.tile._exception"
"""Where cuTile's exceptions are; those that its own front end raises are no refusals of ours."""


class TimeLimitError(BaseException):
    """The test ran longer than a test may; no `except Exception` of a test catches it."""


class NoAssemblerError(Exception):
    """The test calls an executable of the original, which is not there."""


@dataclass(frozen=True)
class Exceptions:
    """The exceptions that mean something special."""

    refusals: tuple[type[BaseException], ...] = ()
    """The compiler, or a check of arguments, says what it does not support."""
    findings: tuple[type[BaseException], ...] = ()
    """The checker of PTX found a race, a wrong byte count, ..."""
    absent: re.Pattern[str] | None = None
    """Messages of what the test itself needs and is not there, such as a GPU's functions."""


@dataclass(frozen=True)
class Verdict:
    """What a test counts as, and why."""

    outcome: Outcome
    kind: str = ""
    reason: str = ""
    detail: str = ""


def judged(error: BaseException, special: Exceptions) -> Verdict:
    """Return what the exception means; those behind it (`raise ... from`) count too.

    >>> judged(AssertionError("5 is not 6"), Exceptions()).kind
    'wrong result'
    """
    chain = list(_chain(error))
    is_originals = any(type(one).__module__ == _ERRORS and _origin(one) == _CUTILE for one in chain)
    for one in chain:
        if isinstance(one, special.refusals) and not is_originals:
            headline = first_lines(one).partition("\n")[0]
            return Verdict(Outcome.REFUSED, type(one).__name__, headline)
    if any(isinstance(one, NoAssemblerError) for one in chain):
        return Verdict(Outcome.PRIVATE, "needs tileiras", first_lines(error))
    for one in chain:
        if isinstance(one, special.findings):
            return Verdict(Outcome.FAILED, "finding of the checker", first_lines(one))
    if isinstance(error, TimeLimitError):
        return Verdict(Outcome.FAILED, "time limit", str(error))
    if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith(_OURS):
        return Verdict(Outcome.SKIPPED, "not importable", first_lines(error))
    kind = _kind(error)
    if special.absent and kind.startswith("exception") and special.absent.search(str(error)):
        return Verdict(Outcome.SKIPPED, "not there", first_lines(error))
    return Verdict(Outcome.FAILED, kind, first_lines(error))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and those that it was raised from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _kind(error: BaseException) -> str:
    """Return what sort of failure it is; an exception inside our package is a bug of ours."""
    if isinstance(error, AssertionError) or type(error).__name__ == "Failed":
        return "wrong result"
    where = "internal error" if _origin(error) == _OURS else "exception"
    return f"{where}: {type(error).__name__}"


def _origin(error: BaseException) -> str:
    """Return the innermost of our package and cuTile's that the exception comes out of, or ""."""
    found, trace = "", error.__traceback__
    while trace is not None:
        parts = Path(trace.tb_frame.f_code.co_filename).parts
        found = next(
            (name for name in (_OURS, _CUTILE) if set(name.split("/")) <= set(parts)), found
        )
        trace = trace.tb_next
    return found


def first_lines(error: BaseException) -> str:
    """Return the beginning of the message: its first paragraph."""
    text = str(error).strip().partition("\n\n")[0]
    return text[:LONGEST] or type(error).__name__
