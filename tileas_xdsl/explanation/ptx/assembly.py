"""What ptxas makes of a PTX text: registers, spills and occupancy, or the directives to change.

A text that is refused for its `.version` or `.target` is assembled with others, one change first:

    .version 7.8    .target sm_90        ptxas: 'setmaxnreg' requires PTX ISA .version 8.0 or later
    .version 8.0    .target sm_90        ptxas: not supported on .target 'sm_90'
    .version 8.0    .target sm_90a       assembles
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from tileas_xdsl.backend.nvidia_tools import MissingToolError
from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.explanation.facts import Occupancy
from tileas_xdsl.explanation.resources import block_occupancy
from tileas_xdsl.interpreters.ptx.parsing.syntax import Kernel
from tileas_xdsl.target.arch import DEFAULT_TARGET, TARGETS, get_target

_VERSION = re.compile(r"^(\s*\.version\s+)(\d+)\.(\d+)", re.M)
_TARGET = re.compile(r"^(\s*\.target\s+)(sm_\d+)([af]?)", re.M)


@dataclass(frozen=True)
class PtxAssembly:
    """What ptxas says of a kernel."""

    occupancy: Occupancy | None = None
    """None where it is refused, or the text does not say how many threads a block has."""
    registers: int | None = None
    spills: int | None = None
    shared_bytes: int = 0
    """Without what a launch gives."""
    problems: tuple[str, ...] = ()
    """Why it is refused, or not asked."""
    is_refused: bool = False
    works: tuple[str, ...] = ()
    """Changes of directives with which it assembles; the fewest."""


def ptx_assembly(text: str, kernel: Kernel, name: str) -> PtxAssembly:
    """Return what ptxas says of a kernel of a text."""
    target = target_of(text)
    try:
        used = assemble(text, target, name=name, strict=False).entries.get(kernel.name)
    except MissingToolError as error:
        return PtxAssembly(problems=(str(error),))
    except DiagnosticError as error:
        problems = tuple(dict.fromkeys(str(one) for one in error.diagnostics))
        works = tuple(_works(text, target))
        return PtxAssembly(problems=problems, is_refused=True, works=works)
    if used is None:
        return PtxAssembly(problems=(f"ptxas says nothing of '{kernel.name}'",))
    threads = prod(kernel.required_threads or kernel.max_threads or (0,))
    occupancy = block_occupancy(threads, 0, used, get_target(target)) if threads else None
    return PtxAssembly(occupancy, used.registers, used.spills, used.shared)


def target_of(text: str) -> str:
    """Return the target of ours that code for the text's `.target` runs on."""
    found = _TARGET.search(text)
    wanted = "" if found is None else f"{found[2]}a"
    return wanted if wanted in TARGETS else DEFAULT_TARGET


def _works(text: str, target: str) -> Iterator[str]:
    """Yield the fewest changes of `.version` and `.target` that assemble."""
    version = ".".join(map(str, get_target(target).ptx_version))
    newer = _VERSION.sub(rf"\g<1>{version}", text, count=1)
    for changed, what in (
        (newer, f".version {version}"),
        (_TARGET.sub(rf"\g<1>{target}", text, count=1), f".target {target}"),
        (
            _TARGET.sub(rf"\g<1>{target}", newer, count=1),
            f".version {version} and .target {target}",
        ),
    ):
        if changed != text and _assembles(changed, target):
            yield what
            return


def _assembles(text: str, target: str) -> bool:
    try:
        assemble(text, target, strict=False)
    except DiagnosticError:
        return False
    return True
