"""The explanation of a compiled kernel, put together from its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tileas_xdsl.backend.nvidia_tools import MissingToolError
from tileas_xdsl.backend.ptxas import EntryFacts
from tileas_xdsl.compilation.levels import level_of
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.explanation.bounds.accesses import counted_run, merged
from tileas_xdsl.explanation.bounds.executed_loops import ExecutedCode, executed_code
from tileas_xdsl.explanation.bounds.loops import loop_facts, outside_of_loops
from tileas_xdsl.explanation.compilation.layouts import conversions, tile_layouts
from tileas_xdsl.explanation.compilation.reasons import reasons_in
from tileas_xdsl.explanation.compilation.register_holders import register_holders
from tileas_xdsl.explanation.compilation.snapshots import LAID_OUT, PLANNED, UNLAID, Snapshots
from tileas_xdsl.explanation.facts import KernelFacts, LoopFacts, Occupancy, SharedBuffer, Waves
from tileas_xdsl.explanation.resources import least_time, occupancy, shared_buffers, waves
from tileas_xdsl.target.arch import get_target


def kernel_facts(
    compiled: CompiledKernel,
    *,
    snapshots: Snapshots | None = None,
    grid: tuple[int, int, int] | None = None,
    arguments: Sequence[Any] | None = None,
) -> KernelFacts:
    """Return all that is known of a compiled kernel.

    `snapshots` of its compilation save a second run of the passes.  A `grid` gives the waves of a
    launch; `arguments` are those of a launch of that grid, of which accesses are counted: by
    default one block runs on arrays made for the signature.  Raises as `CompiledKernel.assemble`.
    """
    target = get_target(compiled.target)
    modules = (snapshots or Snapshots.of(compiled)).modules
    planned, unlaid, tiles = (modules.get(name) for name in (PLANNED, UNLAID, LAID_OUT))
    reasons = reasons_in(modules.values())
    used = _assembled(compiled)
    interface = compiled.interface
    resources = None if interface is None else occupancy(interface, used, tiles, target)
    warps = 0 if resources is None else resources.warps
    run = counted_run(compiled, arguments, grid)
    counted = None if isinstance(run, str) else run.counter
    accesses = () if counted is None else merged(counted.counts.values())
    above = compiled.above if compiled.above is not None else compiled.source
    buffers = () if resources is None else shared_buffers(compiled.abi, tiles)
    code = ran = ExecutedCode((), None)
    if counted is not None:
        code = ran = executed_code(counted, compiled.target)
    if planned is not None:
        predicted = loop_facts(planned, target, reasons)
        code = ExecutedCode(_with_counts(predicted, ran.loops), outside_of_loops(planned, target))
    many = None if grid is None or resources is None else _waves(compiled, grid, resources)
    return KernelFacts(
        compiled.name,
        compiled.target,
        level_of(above.ops).value,
        tuple(_with_stages(loop, buffers) for loop in code.loops),
        code.outside,
        tuple(reasons),
        resources,
        () if tiles is None or not warps else register_holders(tiles, warps, target),
        buffers,
        () if unlaid is None else tile_layouts(unlaid, target),
        () if tiles is None or not warps else conversions(tiles),
        accesses,
        run if isinstance(run, str) else "",
        many,
        None if isinstance(run, str) or not run.finished else least_time(ran.busiest, many, target),
    )


def _waves(compiled: CompiledKernel, grid: tuple[int, int, int], resources: Occupancy) -> Waves:
    """Count waves; CTAs of a persistent kernel take as many tile blocks each as there would be."""
    ctas = grid if compiled.abi.counts_tile_blocks else compiled.abi.ctas(grid)
    return waves(ctas, resources.blocks, get_target(compiled.target))


def _with_counts(
    predicted: Sequence[LoopFacts], counted: Sequence[LoopFacts]
) -> tuple[LoopFacts, ...]:
    """Take what was counted of loops that the timing model does not schedule, of the same line."""
    known = {one.location: one for one in counted if one.cycles is not None}
    return tuple(
        replace(known[one.location], reasons=one.reasons)
        if one.cycles is None and one.location in known
        else one
        for one in predicted
    )


def _with_stages(loop: LoopFacts, buffers: Sequence[SharedBuffer]) -> LoopFacts:
    """Say how many stages the ring has that a load of a loop fills."""
    lines = {operation.location for operation in loop.operations}
    stages = [one.stages for one in buffers if one.stages > 1 and one.location in lines]
    return replace(loop, stages=max(stages, default=0))


def _assembled(compiled: CompiledKernel) -> EntryFacts | None:
    """What ptxas says of the kernel; None where it is not installed, or nothing is lowered."""
    if compiled.interface is None:
        return None
    try:
        return compiled.assemble(strict=False).entries.get(compiled.name)
    except MissingToolError:
        return None
