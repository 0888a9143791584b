"""A program on every level: what it means, as tiles, and as PTX for each target."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import numpy as np

from tests.support.random_tile_ir.program import Program
from tests.support.random_tile_ir.sensitivity import perturbed
from tests.support.random_tile_ir.writing import written
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.errors import ArgumentError, DiagnosticError
from tileas_xdsl.interpreters.cuda_tile.faults import UndefinedError
from tileas_xdsl.interpreters.cuda_tile.launch import evaluate
from tileas_xdsl.interpreters.ptx import LaunchError, PtxError

TARGETS = ("sm_90a", "sm_100a")


class Kind(StrEnum):
    """What became of a program."""

    RIGHT = "right"
    UNDEFINED = "undefined"
    REFUSED = "refused"
    WRONG = "wrong"
    BROKEN = "broken"
    """No Tile IR: a mistake of the generator."""


@dataclass(frozen=True)
class Verdict:
    """What became of a program, where, and why."""

    kind: Kind
    level: str = ""
    detail: str = ""

    @property
    def reason(self) -> str:
        """The detail without the numbers and names of one program."""
        line = self.detail.splitlines()[0] if self.detail else ""
        line = re.sub(r"^\S*:\d+:\d+: (error: )?", "", line)
        return re.sub(r"\d+", "N", re.sub(r"[%@][\w]+", "%_", line))[:140]


_COARSE = {"float16": 2e-2, "bfloat16": 1e-1, "float8_e4m3fn": 0.3, "float8_e5m2": 0.5}


def difference(expected: Any, found: Any, *, exact: bool, moved: Any = None) -> str:
    """How two arrays differ; nothing if they do not.

    `moved` is the expected array where sums are off by their error bounds.
    """
    x, y = (np.asarray(array) for array in (expected, found))
    if x.dtype.kind in "iub":
        wrong = x != y
    else:
        with np.errstate(all="ignore"):  # also where a signalling NaN is converted
            a, b = x.astype(np.float64), y.astype(np.float64)
            if exact:
                wrong = (a != b) | (np.signbit(a) != np.signbit(b))
            else:
                limit = _COARSE.get(x.dtype.name, 2e-4) * np.maximum(1, np.abs(a))
                if moved is not None:
                    limit += np.abs(np.nan_to_num(np.asarray(moved).astype(np.float64) - a))
                wrong = ~((np.abs(a - b) <= limit) | (a == b))
        wrong &= ~(np.isnan(a) & np.isnan(b))
    if not wrong.any():
        return ""
    first = tuple(int(n) for n in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    count = f"{int(wrong.sum())} of {wrong.size}"
    return f"{count} elements, at {list(first)} {x[first]!r} became {y[first]!r}"


def judge(program: Program, targets: Sequence[str] = TARGETS, *, emulate: bool = True) -> Verdict:
    """Run a program on every level; return the first that differs, else the first that refuses."""
    return judge_text(written(program), program.blocks, targets, emulate=emulate)


class Kernel(Protocol):
    """A kernel as text, with its arguments."""

    @property
    def text(self) -> str:
        """The module."""
        ...

    @property
    def arguments(self) -> Sequence[Any]:
        """What it is called with."""
        ...

    @property
    def inexact(self) -> Sequence[int]:
        """The arguments that levels compute with different rounding."""
        ...


def judge_text(
    text: Kernel, blocks: int = 1, targets: Sequence[str] = TARGETS, *, emulate: bool = True
) -> Verdict:
    """Run a kernel on every level; return the first that differs, else the first that refuses."""
    try:
        made = {target: compile(text.text, target) for target in targets[:1]}
    except UndefinedError:
        raise
    except DiagnosticError as error:
        if _is_invalid(text):
            return Verdict(Kind.BROKEN, "", str(error))
        made, refused = {}, Verdict(Kind.REFUSED, targets[0], str(error))
    else:
        refused = None
    try:
        wanted = evaluate(_module(text), text.arguments, grid=blocks).arrays
    except UndefinedError as error:
        return Verdict(Kind.UNDEFINED, "", str(error))
    for target in targets:
        if refused is not None and target == refused.level:
            continue
        found = _judge_target(blocks, text, wanted, made.get(target), target, emulate=emulate)
        if found is not None and found.kind is not Kind.REFUSED:
            return found
        refused = refused or found
    return refused or Verdict(Kind.RIGHT)


def _module(text: Kernel) -> Any:
    from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
    from tileas_xdsl.installed import registered_context

    return parse_module(registered_context(), text.text)


def _is_invalid(text: Kernel) -> bool:
    from tileas_xdsl.diagnostics.verification.verify import verify_module

    try:
        verify_module(_module(text))
    except DiagnosticError:
        return True
    return False


def _judge_target(
    blocks: int, text: Kernel, wanted: Sequence[Any], made: Any, target: str, *, emulate: bool
) -> Verdict | None:
    """What is wrong on a target, if anything is."""
    try:
        kernel = made or compile(text.text, target)
        _ = kernel.ptx
    except DiagnosticError as error:
        return Verdict(Kind.REFUSED, target, str(error))
    runs = [("tile", lambda: kernel.simulate(*text.arguments, grid=blocks))]
    if emulate:
        runs.append(("ptx", lambda: kernel.emulate(*text.arguments, grid=blocks, order="drift")))
    for name, run in runs:
        level = f"{name} {target}"
        try:
            found = run()
        except (DiagnosticError, PtxError, LaunchError, ArgumentError) as error:
            return Verdict(Kind.WRONG, level, f"fails: {error}")
        except Exception as error:
            return Verdict(Kind.WRONG, level, f"crashes: {type(error).__name__}: {error}")
        if findings := getattr(found, "findings", ()):
            return Verdict(Kind.WRONG, level, f"finding: {findings[0]}")
        for number, (old, new) in enumerate(zip(wanted, found.arrays, strict=True)):
            exact = number not in text.inexact
            said = difference(old, new, exact=exact)
            if said and not exact:
                moved = perturbed(_module(text), text.arguments, blocks)
                said = difference(old, new, exact=exact, moved=moved[number])
            if said:
                return Verdict(Kind.WRONG, level, said)
    return None
