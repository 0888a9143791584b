"""Outcome of a tl program: layouts checked, PTX compared with the tile interpreter."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tests.support.ir import parse
from tests.support.tl_programs.program import TlProgram
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.inference.checking import check
from tileas_xdsl.inference.decisions import Decisions, InferenceError
from tileas_xdsl.inference.modes import infer
from tileas_xdsl.inference.program import Program
from tileas_xdsl.transforms.tl_inference.extraction import Extraction

NO_INSTRUCTION = re.compile(r"^\s*([.{}/]|$|//|\$\w+:|\w+:)")
"""Lines of PTX that are directives, labels or braces."""

ELEMENT = re.compile(r"\[\d+(, \d+)*\]|(element|thread|iteration|slot|threads|rows|columns) \S*\d")
"""Pattern of a concrete detail in an error: element coordinates or an index."""


class Verdict(StrEnum):
    """The verdict on a program; all but the first three are bugs of the compiler."""

    RIGHT = "right"
    NO_LAYOUT = "no layout"
    NOT_LOWERED = "not lowered"
    VAGUE = "vague error"
    WRONG_LAYOUT = "wrong layout"
    WRONG_RESULT = "wrong result"
    CRASH = "crash"


FINE = (Verdict.RIGHT, Verdict.NO_LAYOUT, Verdict.NOT_LOWERED)
"""Accepted, or refused with a stated reason."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a program: `seconds` of inference, `instructions` of PTX."""

    verdict: Verdict
    detail: str = ""
    seconds: float = 0.0
    instructions: int = 0


def asked(module: ModuleOp) -> Program:
    """Return the inference input of the module's kernel."""
    kernel = next(op for op in module.walk() if isinstance(op, KernelOp))
    return Extraction(kernel, "sm_90a").program()


def layouts(text: str, mode: str = "improved") -> tuple[Outcome, Decisions | None]:
    """Infer the layouts of a program and check them."""
    question = asked(parse(text))
    start = time.perf_counter()
    try:
        decisions = infer(question, mode)
    except InferenceError as error:
        seconds = time.perf_counter() - start
        is_located = bool(error.location) and bool(ELEMENT.search(error.text))
        verdict = Verdict.NO_LAYOUT if is_located else Verdict.VAGUE
        return Outcome(verdict, f"{error.location}: {error.text}", seconds), None
    except Exception as error:
        return Outcome(Verdict.CRASH, f"inference: {type(error).__name__}: {error}"), None
    seconds = time.perf_counter() - start
    findings = check(question, decisions)
    if findings:
        text = "\n".join(map(str, findings))
        return Outcome(Verdict.WRONG_LAYOUT, text, seconds), decisions
    return Outcome(Verdict.RIGHT, "", seconds), decisions


def outcome(program: TlProgram, target: str = "sm_90a") -> Outcome:
    """Infer a program's layouts; compare its emulated PTX with the tile interpreter."""
    found, _ = layouts(program.text)
    if found.verdict is not Verdict.RIGHT:
        return found
    try:
        kernel = compile(program.text, target=target)
        instructions = instruction_count(kernel.ptx)
    except OpError as error:
        return replace(found, verdict=Verdict.NOT_LOWERED, detail=str(error))
    except Exception as error:
        detail = f"compiler: {type(error).__name__}: {error}"
        return replace(found, verdict=Verdict.CRASH, detail=detail)
    return replace(_run(program, kernel), seconds=found.seconds, instructions=instructions)


def _run(program: TlProgram, kernel: CompiledKernel) -> Outcome:
    try:
        wanted = kernel.simulate(*program.arrays(), grid=program.blocks)
        got = kernel.emulate(*program.arrays(), grid=program.blocks, order="drift")
    except Exception as error:
        return Outcome(Verdict.CRASH, f"run: {type(error).__name__}: {error}")
    if got.findings:
        return Outcome(Verdict.WRONG_RESULT, f"emulator: {got.findings[0]}")
    text = difference(program, wanted.arrays, got.arrays)
    return Outcome(Verdict.WRONG_RESULT, text) if text else Outcome(Verdict.RIGHT)


def difference(
    program: TlProgram,
    wanted: Sequence[NDArray[np.generic]],
    got: Sequence[NDArray[np.generic]],
) -> str:
    """Return the first element on which two runs disagree."""
    for argument, a, b in zip(program.arguments, wanted, got, strict=True):
        for at in np.argwhere(~((a == b) | ((a != a) & (b != b))))[:1]:
            place = f"{argument.buffer.name}{at.tolist()}"
            return f"{place} is {b[tuple(at)]}, the program says {a[tuple(at)]}"
    return ""


def instruction_count(ptx: str) -> int:
    """Return the number of instruction lines of the PTX."""
    return sum(not NO_INSTRUCTION.match(line) for line in ptx.splitlines())
