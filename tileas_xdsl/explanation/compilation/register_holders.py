"""Which tiles registers hold where most registers are live: by liveness on laid out tiles."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from tileas_xdsl.analysis.values.liveness.tiles import peak_values, tile_registers
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.dialects.nv_tileas.attributes import (
    BlockedEncoding,
    DotOperandEncoding,
    LinearEncoding,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.explanation.facts import RegisterHolder
from tileas_xdsl.explanation.resources import agents_in, role_of
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE
from tileas_xdsl.layout.units import WARP, WORD_BITS
from tileas_xdsl.target.arch import Target


def register_holders(tiles: ModuleOp, warps: int, target: Target) -> tuple[RegisterHolder, ...]:
    """Return what holds most registers of a thread, the largest first; of each agent its own."""
    found: list[RegisterHolder] = []
    for function in [op for op in tiles.ops if isinstance(op, func.FuncOp)]:
        for region, role, threads in _programs(function, tiles, warps, target):
            live = peak_values(region, lambda value, n=threads: registers_of(value, n))
            holders = (_register_holder(value, role, threads) for value in live)
            found += [one for one in holders if one.registers]
    order = sorted(found, key=lambda one: (-one.registers, str(one.location), one.value))
    return tuple(order)


def _programs(
    function: func.FuncOp, tiles: ModuleOp, warps: int, target: Target
) -> Iterator[tuple[Region, str, int]]:
    """Yield the code of each agent, or of the kernel without agents, with its threads."""
    agents = list(agents_in(tiles, warps, target))
    for switch, agent in agents:
        assert isinstance(switch, AgentSwitchOp)
        body = switch.agent_bodies[agent.number - 1]
        yield body, role_of(switch, agent), agent.threads
    if not agents:
        yield function.body, "", warps * WARP


def registers_of(value: SSAValue, threads: int) -> int:
    """Return the registers of a thread that a tile takes, elements narrower than 32 bits packed.

    A layout that repeats elements in several threads takes as many as it says; a tile without one
    counts as spread over the threads.
    """
    words = tile_registers(value)
    if not words:
        return 0
    layout = register_layout_of(value.type)
    if layout is None:
        return ceil_div(words, threads)
    values = layout.extents().get(VALUE, 1)
    return ceil_div(values * bits_of(element_of(value.type)), WORD_BITS)


def register_layout_of(type_: Attribute) -> Layout | None:
    """Return the thread-value layout that a type states; None without one."""
    if not isinstance(type_, TensorType):
        return None
    encoding = type_.encoding
    if not isinstance(encoding, BlockedEncoding | DotOperandEncoding | LinearEncoding):
        return None
    return encoding.data if {*encoding.data.axes()} <= {THREAD, VALUE} else None


def _register_holder(value: SSAValue, role: str, threads: int) -> RegisterHolder:
    place = owner_of(value)
    return RegisterHolder(
        name_of_value(value),
        type_text(value.type),
        registers_of(value, threads),
        role,
        None if place is None else location_of(place),
    )


def owner_of(value: SSAValue) -> Operation | None:
    """Return what makes a value; of one that a loop carries, what makes it for the next round."""
    if not isinstance(value, BlockArgument):
        return value.owner if isinstance(value.owner, Operation) else None
    end, parent = value.block.last_op, value.block.parent_op()
    if not isinstance(end, scf.YieldOp) or not isinstance(parent, scf.ForOp) or not value.index:
        return parent
    carried = end.operands[value.index - 1].owner
    return carried if isinstance(carried, Operation) else parent


def name_of_value(value: SSAValue) -> str:
    """Return the name of a value in the IR, or the operation that makes it."""
    if value.name_hint:
        return f"%{value.name_hint}"
    made = owner_of(value)
    what = "argument" if made is None else made.name.rpartition(".")[2]
    return f"{what} (carried)" if isinstance(value.owner, Block) else what


def type_text(type_: Attribute) -> str:
    """Return `128x64xf16` of a tile."""
    shape = shape_of(type_)
    return str(type_) if shape is None else "x".join([*map(str, shape), str(element_of(type_))])
