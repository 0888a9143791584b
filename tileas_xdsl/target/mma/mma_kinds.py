"""The kinds of tcgen05.mma: operand formats, shapes and legal descriptor fields.

Source: PTX ISA 9.7.16, tables "Various combinations of .kind and shapes" and "Instruction
descriptor format" of tcgen05.  CUTLASS 3.8 required N in steps of 16 (M = 128) and 32 (pairs of
CTAs); the PTX table has 8 and 16, and later releases of CUTLASS follow it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from itertools import pairwise

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.bits import whole
from tileas_xdsl.target.errors import TargetError


@dataclass(frozen=True, slots=True)
class Shapes:
    """The M and N that a group of CTAs may use."""

    m: tuple[int, ...]
    n: tuple[int, ...]


def _steps(step: int) -> tuple[int, ...]:
    return tuple(range(step, 257, step))


_FLOAT_SHAPES = {"1": Shapes((64, 128), _steps(8)), "2": Shapes((128, 256), _steps(16))}
_WS_SHAPES = {"ws": Shapes((32, 64, 128), (64, 128, 256))}
_INT_SHAPES = {
    "1": Shapes((64, 128), (8, 16, 24, *range(32, 257, 16))),
    "2": Shapes((128, 256), _steps(32)),
}
_SCALED_SHAPES = {"1": Shapes((128,), _steps(8)), "2": Shapes((128, 256), _steps(16))}

_F8F6F4 = {"f8e4m3": 0, "f8e5m2": 1, "f6e2m3": 3, "f6e3m2": 4, "f4e2m1": 5}
_BYTE_FORMATS = ("f8e4m3", "f8e5m2")


@dataclass(frozen=True, slots=True)
class MmaKind:
    """One `.kind`; formats map element names to codes."""

    name: str
    k: int
    """Elements of K that a dense instruction multiplies."""
    operands: Mapping[str, int]
    shapes: Mapping[str, Shapes]
    """By CTA group: "1", "2", or "ws" for the weight-stationary form."""
    accumulators: Mapping[str, int] = field(default_factory=dict[str, int])
    mn_major: tuple[str, ...] = ()
    """The operand formats that may be MN-major."""
    same_operands: bool = False
    negate: bool = True
    saturate: bool = False
    scales: Mapping[str, int] = field(default_factory=dict[str, int])
    """The scale formats of a block-scaled kind."""
    scale_ids: tuple[int, ...] = ()


KINDS: Mapping[str, MmaKind] = {
    kind.name: kind
    for kind in (
        MmaKind(
            "f16", 16, {"f16": 0, "bf16": 1}, _FLOAT_SHAPES | _WS_SHAPES, {"f16": 0, "f32": 1},
            mn_major=("f16", "bf16"), same_operands=True,
        ),
        MmaKind(
            "tf32", 8, {"tf32": 2}, _FLOAT_SHAPES | _WS_SHAPES, {"f32": 1}, mn_major=("tf32",)
        ),
        MmaKind(
            "f8f6f4", 32, _F8F6F4, _FLOAT_SHAPES | _WS_SHAPES, {"f16": 0, "f32": 1},
            mn_major=_BYTE_FORMATS,
        ),
        MmaKind(
            "i8", 32, {"u8": 0, "s8": 1}, _INT_SHAPES | _WS_SHAPES, {"s32": 2},
            mn_major=("u8", "s8"), negate=False, saturate=True,
        ),
        MmaKind(
            "mxf8f6f4", 32, _F8F6F4, _SCALED_SHAPES, mn_major=_BYTE_FORMATS,
            scales={"ue8m0": 1}, scale_ids=(0, 1, 2, 3),
        ),
        MmaKind("mxf4", 64, {"f4e2m1": 1}, _SCALED_SHAPES, scales={"ue8m0": 1}, scale_ids=(0, 2)),
        MmaKind(
            "mxf4nvf4", 64, {"f4e2m1": 1}, _SCALED_SHAPES,
            scales={"ue4m3": 0, "ue8m0": 1}, scale_ids=(0, 2),
        ),
    )
}  # fmt: skip
"""Every kind by its name."""


def get_kind(name: str) -> MmaKind:
    """The kind called `name`; `TargetError` lists the known ones."""
    if name not in KINDS:
        raise TargetError(f"unknown kind '{name}' of tcgen05.mma; known: {', '.join(KINDS)}")
    return KINDS[name]


def check_shape(kind: MmaKind, m: int, n: int, group: str) -> None:
    """Refuse an M or N that `kind` does not have for a group of CTAs ("1", "2" or "ws")."""
    m, n = whole(m, f"kind::{kind.name}: M"), whole(n, f"kind::{kind.name}: N")
    shapes = kind.shapes.get(group)
    if shapes is None:
        raise TargetError(f"kind::{kind.name} has no form for {group_text(group)}")
    if m not in shapes.m:
        allowed = " or ".join(map(str, shapes.m))
        raise TargetError(f"kind::{kind.name} with {group_text(group)} has M {allowed}, not {m}")
    if n not in shapes.n:
        allowed = _range_text(shapes.n)
        raise TargetError(f"kind::{kind.name} with {group_text(group)} has N {allowed}, not {n}")


def group_text(group: str) -> str:
    """How PTX writes a group of CTAs."""
    return ".ws" if group == "ws" else f"cta_group::{group}"


def _range_text(values: tuple[int, ...]) -> str:
    steps = {b - a for a, b in pairwise(values)}
    if len(steps) == 1:
        return f"{values[0]} to {values[-1]} in steps of {steps.pop()}"
    return ", ".join(map(str, values))
