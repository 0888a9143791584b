"""Run small kernels under several schedules: valid ones agree, faults are reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.support.ir import parse
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.launch import Schedule, Simulation, simulate

SCHEDULES = (
    Schedule(),
    Schedule("adversarial"),
    *[Schedule("random", seed) for seed in (1, 2, 3)],
)

COMMON = """
#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>
#any = #nv_tileas<atom unknown_copy>
!token = !nv_tileas.token
!mem = !nv_tileas.mem_token
!desc = !nv_tileas.tma_desc
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
"""
"""Attribute aliases common to all kernels."""

CONSTANTS = "\n".join(
    f"  %{name} = arith.constant {number} : index"
    for name, number in (
        ("zero", 0),
        ("one", 1),
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("eight", 8),
        ("sixteen", 16),
        ("minus", -1),
    )
)


def kernel(
    parameters: str, body: str, attributes: str = "", types: Mapping[str, str] | None = None
) -> str:
    """Return a kernel with predefined constants and type aliases."""
    names = "\n".join(f"!{name} = {meant}" for name, meant in (types or {}).items())
    head = f"attributes {{{attributes}}}" if attributes else ""
    begin = f"{COMMON}\n{names}\nfunc.func @k({parameters}) {head} {{\n{CONSTANTS}"
    return f"{begin}\n{body}\n  func.return\n}}\n"


def agents(*bodies: str, warps: Sequence[int] | None = None) -> str:
    """Return an agent switch whose agents use the values before it."""
    registers = ", ".join("40" if k == 0 else "232" for k in range(len(bodies)))
    share = "" if warps is None else f", num_warps = array<i32: {', '.join(map(str, warps))}>"
    listed = "}, {".join(bodies)
    return (
        "nv_tileas.async.pipeline.agent_switch {num_agents_per_group = "
        f"{max(len(bodies) - 1, 1)} : i32, max_regs = array<i32: {registers}>, "
        f"isolated = false{share}}} {{\n{listed}\n}}\n"
    )


@lru_cache(maxsize=512)
def module_of(text: str) -> ModuleOp:
    """Return the parsed module; equal texts are parsed once."""
    return parse(text)


def run(text: str, *args: Any, **options: Any) -> Sequence[Any]:
    """Return the arguments after a run, equal under every schedule."""
    return simulated(text, *args, **options).arrays


def simulated(text: str, *args: Any, schedules: Any = SCHEDULES, **options: Any) -> Simulation:
    """Return the first of several runs, all of which leave equal arguments."""
    before = [np.array(arg) for arg in args]
    runs = [simulate(module_of(text), args, schedule=schedule, **options) for schedule in schedules]
    for arg, copy in zip(args, before, strict=True):
        assert np.asarray(arg).tobytes() == copy.tobytes()
    for other in runs[1:]:
        for one, same in zip(runs[0].arrays, other.arrays, strict=True):
            assert np.asarray(one).tobytes() == np.asarray(same).tobytes()
    return runs[0]


def refuses(text: str, match: str, *args: Any, schedules: Any = SCHEDULES, **options: Any) -> None:
    """Assert that every schedule reports the fault at an operation of the kernel."""
    for schedule in schedules:
        with pytest.raises(SimulationError, match=match) as caught:
            simulate(module_of(text), args, schedule=schedule, **options)
        assert caught.value.diagnostics[0].location is not None, caught.value


def numbers(rng: np.random.Generator, shape: int | tuple[int, ...], dtype: Any) -> Any:
    """Return random non-zero elements: floats exact in the type, integers of all bits."""
    wanted = np.dtype(dtype)
    if wanted == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if wanted.kind == "i":
        return rng.integers(np.iinfo(wanted).min, np.iinfo(wanted).max, shape, wanted) | 1
    values = (rng.standard_normal(shape) * 4).astype(wanted)
    return np.where(values == 0, wanted.type(1), values).astype(wanted)
