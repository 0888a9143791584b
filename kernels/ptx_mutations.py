"""Compiled kernels with a small edit: of the PTX text, or of how the host calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kernels import Gemm, ScaledGemm, Sizes
from kernels.mutations import Edit, EditError
from tileas_xdsl.target.kernel_abi import KernelAbi

Call: TypeAlias = Callable[[KernelAbi], KernelAbi]
"""A change of how the host calls a kernel."""

NUMBERS = "result differs"
"""The kind of a fault that breaks no rule, but computes a different result."""
REFUSED = "launch refused"
"""The kind of a call that the launch refuses."""

STORED = Gemm(bm=128, bn=64, bk=64, epilogue="tma")
PLAIN = Gemm(bm=128, bn=64, bk=64)
STEPS = Gemm(bm=128, bn=64, bk=64, epilogue="tma", form="scalar")
CLUSTER = Gemm(bm=128, bn=64, bk=64, epilogue="tma", cluster=2)
WIDE = Gemm(bm=128, bn=128, bk=64, epilogue="tma")
HALVES = Gemm(bm=128, bn=64, bk=64, epilogue="tma", output="f16")
"""The right kernels that the faults are planted in."""

RAGGED: Sizes = {"m": 100, "n": 40, "k": 200}
"""One block whose tiles are not full."""


AnyGemm: TypeAlias = Gemm | ScaledGemm


@dataclass(frozen=True)
class PtxFault:
    """A compiled GEMM with an edit that breaks a rule."""

    name: str
    kernel: AnyGemm
    edit: Edit
    kinds: Sequence[str]
    """Kinds of findings; each order of asynchronous operations that finds it reports one."""
    says: str
    """A part of a message or its notes, in every order."""
    call: Call | None = None
    """Changes the call instead of the text."""
    ragged: bool = False
    """Whether it needs tiles that are not full."""

    @property
    def problem(self) -> Sizes:
        """One block (one cluster) and four steps, so that a stage is filled twice."""
        return RAGGED if self.ragged else small_problem(self.kernel)


def small_problem(kernel: AnyGemm) -> Sizes:
    """The problem of one cluster with full tiles, and one step more than there are stages."""
    return {
        "m": kernel.bm,
        "n": kernel.bn * kernel.cluster,
        "k": kernel.bk * (kernel.stages + 1),
    }


FULL, EMPTY, STAGED = 73728, 73752, 74752
"""Where tiles of 128x64x64 in three stages have their mbarriers, and staged results."""

SOME_LINES = r"(?:.*\n)*?"
"""Part of a pattern: as few lines as it takes."""

EVERYWHERE = 0
"""For `times`: all matches."""


def changing(pattern: str, replacement: str, *, times: int = 1) -> Edit:
    """The first `times` matches of a pattern become `replacement`; so many must be there."""
    compiled = re.compile(pattern, re.MULTILINE)

    def edit(text: str) -> str:
        changed, found = compiled.subn(replacement, text, count=times)
        if found < max(times, 1):
            raise EditError(f"the text has {found} times {pattern!r}, not {max(times, 1)}")
        if changed == text:
            raise EditError(f"{pattern!r} becomes what it was")
        return changed

    return edit


def dropping(pattern: str, *, times: int = 1) -> Edit:
    """The first `times` lines that contain a match go away."""
    return changing(rf"^.*{pattern}.*\n", "", times=times)


def nothing(text: str) -> str:
    """The text as it is, where the call is wrong."""
    return text


def with_swizzle(position: int, swizzle: str) -> Call:
    """The tensor map at a position gets another swizzle mode."""

    def change(abi: KernelAbi) -> KernelAbi:
        maps = list(abi.tensor_maps)
        if maps[position].swizzle == swizzle:
            raise EditError(f"tensor map {position} has swizzle {swizzle!r} already")
        maps[position] = replace(maps[position], swizzle=swizzle)
        return replace(abi, tensor_maps=tuple(maps))

    return change


def with_less_shared_memory(missing: int) -> Call:
    """Launch with `missing` bytes of shared memory less than the kernel uses."""
    return lambda abi: replace(abi, shared_bytes=abi.shared_bytes - missing)
