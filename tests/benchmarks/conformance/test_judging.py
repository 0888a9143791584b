"""What an exception that ends a test counts as."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.conformance.judging import (
    Exceptions,
    NoAssemblerError,
    TimeLimitError,
    Verdict,
    first_lines,
    judged,
)
from benchmarks.conformance.outcomes import Outcome


class RefusalError(Exception):
    """Of a compiler."""


class FindingError(Exception):
    """Of a checker."""


SPECIAL = Exceptions((RefusalError,), (FindingError,), re.compile("for 'CPU'"))


def _caused_by(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (AssertionError("not close"), (Outcome.FAILED, "wrong result", "not close")),
        (pytest.fail.Exception("not raised"), (Outcome.FAILED, "wrong result", "not raised")),
        (RefusalError("a\nb"), (Outcome.REFUSED, "RefusalError", "a")),
        (FindingError("race"), (Outcome.FAILED, "finding of the checker", "race")),
        (TimeLimitError("slow"), (Outcome.FAILED, "time limit", "slow")),
        (NoAssemblerError("tileiras"), (Outcome.PRIVATE, "needs tileiras", "tileiras")),
        (TypeError("no mm for 'CPU'"), (Outcome.SKIPPED, "not there", "no mm for 'CPU'")),
        (AssertionError("for 'CPU'"), (Outcome.FAILED, "wrong result", "for 'CPU'")),
        (KeyError("k"), (Outcome.FAILED, "exception: KeyError", "'k'")),
        (ModuleNotFoundError("no m", name="m"), (Outcome.SKIPPED, "not importable", "no m")),
        (
            ModuleNotFoundError("no t", name="tileas_xdsl.t"),
            (Outcome.FAILED, "exception: ModuleNotFoundError", "no t"),
        ),
        (
            _caused_by(RuntimeError("cannot compile"), RefusalError("too large")),
            (Outcome.REFUSED, "RefusalError", "too large"),
        ),
    ],
)
def test_exceptions_are_judged(error: BaseException, expected: tuple[str, str, str]) -> None:
    found = judged(error, SPECIAL)
    assert (found.outcome, found.kind, found.reason) == expected


def _raised_in(path: Path, source: str) -> Verdict:
    path.parent.mkdir(parents=True)
    path.write_text(source)
    run: Callable[[str], object] = runpy.run_path
    with pytest.raises(ZeroDivisionError) as caught:
        run(str(path))
    return judged(caught.value, SPECIAL)


def test_an_exception_out_of_our_package_is_an_internal_error(tmp_path: Path) -> None:
    ours = tmp_path / "tileas_xdsl" / "module.py"
    assert _raised_in(ours, "1 / 0").kind == "internal error: ZeroDivisionError"


def test_an_exception_of_cutile_is_none(tmp_path: Path) -> None:
    theirs = tmp_path / "cuda" / "tile" / "module.py"
    assert _raised_in(theirs, "1 / 0").kind == "exception: ZeroDivisionError"


def test_errors_of_cutiles_front_end_are_no_refusals(tmp_path: Path) -> None:
    path = tmp_path / "cuda" / "tile" / "module.py"
    path.parent.mkdir(parents=True)
    path.write_text("class TileTypeError(Exception): pass\ndef refuse(): raise TileTypeError('x')")
    found = runpy.run_path(str(path), run_name="cuda.tile._exception")
    with pytest.raises(found["TileTypeError"]) as caught:
        found["refuse"]()
    refusal = _caused_by(RefusalError("not a tile"), caught.value)
    assert judged(refusal, SPECIAL).outcome == Outcome.FAILED
    assert judged(_caused_by(refusal, found["TileTypeError"]()), SPECIAL).outcome == Outcome.REFUSED


def test_reasons_are_the_first_paragraph() -> None:
    assert first_lines(ValueError("\na\nb\n\nmore")) == "a\nb"
    assert first_lines(ValueError()) == "ValueError"
    assert len(first_lines(ValueError("x" * 9999))) == 600
