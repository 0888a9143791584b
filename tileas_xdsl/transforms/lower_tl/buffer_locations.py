"""Where a buffer is: global array, shared-memory offset, or registers of threads."""

from __future__ import annotations

from dataclasses import replace
from math import gcd
from typing import TypeAlias

from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import GetDynSmemOp
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.composed import AnyLayout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import multiply
from tileas_xdsl.threads.codegen.lowered_values import GlobalView
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT


@dataclass(frozen=True)
class SharedLocation:
    """A buffer in shared memory; `layout` maps coordinates to bytes from where it begins."""

    offset: int
    """Bytes from where the shared memory of the block begins."""
    shape: tuple[int, ...]
    layout: AnyLayout
    element: Attribute
    stage_bytes: int = 0
    """From one stage of a buffer of a pipelined loop to the next."""
    stage: SSAValue | None = None
    """Which of the stages it is now."""

    def pointer(self, e: ThreadBuilder) -> SSAValue:
        """To its first byte."""
        alignment = gcd(self.offset, ALIGNMENT)
        start = e.insert(GetDynSmemOp(self.offset, i8, alignment)).result
        if self.stage is None:
            return start
        return advance(e, start, multiply(e, self.stage, self.stage_bytes), alignment)

    def at(self, stage: SSAValue) -> SharedLocation:
        """A stage of the buffer."""
        return replace(self, stage=stage)


@dataclass(frozen=True)
class FragmentLocation:
    """A buffer in registers: of `storage` each thread has a vector of `registers` elements."""

    storage: SSAValue
    layout: FragmentMap
    element: Attribute
    registers: int


@dataclass(frozen=True)
class LocalLocation:
    """A buffer that each thread has of its own, row-major in registers."""

    storage: SSAValue
    shape: tuple[int, ...]
    element: Attribute
    registers: int


BufferLocation: TypeAlias = GlobalView | SharedLocation | FragmentLocation | LocalLocation
"""Where a buffer is."""
